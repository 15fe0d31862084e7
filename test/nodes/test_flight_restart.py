# SPDX-License-Identifier: Apache-2.0
"""A flight computer that is killed in flight, and started again as a new process."""
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml
from diagnostic_msgs.msg import DiagnosticArray
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import Trigger

from flight_flags import flags_of
from propulsion_ros.flight.phases.phases import Phase
from propulsion_ros.graph.share import share_directory
from propulsion_ros.loops.decoders import stamp_to_ns
from propulsion_ros.loops.flight.record_file import read_state
from propulsion_ros.messages import qos
from propulsion_ros.messages.fields import ns_to_stamp
from propulsion_ros.settings.errors import SourceError

CONFIG = share_directory() / 'config' / 'rocket_flight.jsonc'
pytestmark = pytest.mark.part('kills')
PERIOD_NS = 20_000_000
LIFTOFF, BURNOUT, SPEED, ACCELERATION, GRAVITY = 4.0, 7.0, 90.0, 30.0, 9.80665
APOGEE = BURNOUT + SPEED / GRAVITY
TOP = 0.5 * ACCELERATION * 9.0 + 0.5 * SPEED**2 / GRAVITY
DROGUE, DESCENT = APOGEE + 2.0, 20.0
DWELL = 0.3  # of what deploys by the altitude, by default [s]
MAIN = DROGUE + (TOP - 0.5 * GRAVITY * 4.0 - 450.0) / DESCENT + DWELL
DOWN = 1.0  # for how long the computer is off [s]
BLOCK = 25  # samples on their way at a time


def altitude(t):
    """Return the altitude [m] and the vertical speed [m/s] of a boost, a fall, a descent."""
    if t < LIFTOFF:
        return 0.0, 0.0
    if t < BURNOUT:
        return 0.5 * ACCELERATION * (t - LIFTOFF) ** 2, ACCELERATION * (t - LIFTOFF)
    if t < DROGUE:
        return TOP - 0.5 * GRAVITY * (t - APOGEE) ** 2, -GRAVITY * (t - APOGEE)
    return TOP - 0.5 * GRAVITY * 4.0 - DESCENT * (t - DROGUE), -DESCENT


class Computer:
    """The flight computer as a process, and a feed of odometry to it."""

    def __init__(self, graph, folder):
        self.graph = graph
        self.state_file = folder / 'flight.json'
        self.params = folder / 'params.yaml'
        self.params.write_text(yaml.safe_dump({'/**/flight_state': {'ros__parameters': {
            'config_file': str(CONFIG), 'state_file': str(self.state_file),
            'reliable_inputs': True, 'silence_timeout': 0.0, 'on_time_clock': 'stamps',
            # Faster than a robot: there no stamps make time run faster than it does.
            'use_sim_time': True, 'flight.max_ascent_time': 60.0,
        }}}))
        self.phases = graph.listen(String, 'flight_state/phase', qos.LATCHED)
        self.flags = graph.listen(DiagnosticArray, 'flight_state/flags', qos.LATCHED)
        self.events = graph.listen(DiagnosticArray, 'flight_state/events', qos.LATCHED_HISTORY)
        self.fits = graph.listen(JointState, 'flight_state/fit', qos.COMMAND)
        self.deployers = graph.listen(JointState, 'flight_state/deployers', qos.COMMAND)
        self.sensor = graph.probe.create_publisher(Odometry, 'flight_state/odometry', qos.LOCKSTEP)
        self.processes = []
        self.motion = altitude
        self.sent_ns = -1

    def start(self):
        """Start the process and wait until it is there."""
        self.phases.clear()
        self.flags.clear()
        self.processes.append(subprocess.Popen(
            [sys.executable, '-m', 'propulsion_ros.nodes.flight_state_node', '--ros-args',
             '--params-file', str(self.params)],
            stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, env=os.environ,
        ))
        self.graph.until(lambda: self.phases, 'the phase of a new process')

    def kill(self):
        """End it as a loss of power would, and return what it had said."""
        process = self.processes[-1]
        process.kill()
        return process.communicate(timeout=100.0)[1]

    def flag(self, key):
        return flags_of(self.flags).get(key, '')

    def send(self, stamp_ns):
        message = Odometry()
        message.header.stamp = ns_to_stamp(stamp_ns)
        height, speed = self.motion(stamp_ns * 1e-9)
        message.pose.pose.position.z = 100.0 + height
        message.pose.pose.orientation.w = 1.0
        message.twist.twist.linear.z = speed
        self.sensor.publish(message)
        self.sent_ns = stamp_ns

    def meet(self, t):
        """Repeat one sample until the new process has heard it; it ignores repetitions."""
        stamp_ns = round(t * 1e9)

        def heard():
            self.send(stamp_ns)
            # What the old process said may still be on its way.
            return self.flag('health') and stamp_to_ns(self.flags[-1].header.stamp) >= stamp_ns

        self.graph.until(heard, 'an answer to the first sample')

    def feed(self, end):
        """Send samples to a time [s], and wait until the last one is answered."""
        is_first = True
        while self.sent_ns < round(end * 1e9):
            self.send(self.sent_ns + PERIOD_NS)
            if is_first and self._hears():
                is_first = False
            elif not is_first and self.sent_ns // PERIOD_NS % BLOCK == 0:
                self.wait()
        self.wait()

    def _hears(self):
        """Whether the fit of the last sample comes; the first ones may go unheard."""
        for _ in range(3):
            self.graph.executor.spin_once(timeout_sec=0.02)
        return bool(self.fits) and stamp_to_ns(self.fits[-1].header.stamp) >= self.sent_ns

    def wait(self):
        self.graph.until(
            lambda: self.fits and stamp_to_ns(self.fits[-1].header.stamp) >= self.sent_ns,
            f'the fit at {self.sent_ns * 1e-9:.2f} s',
        )

    def wait_for_record(self, is_it):
        def there():
            try:
                record = read_state(self.state_file)
            except SourceError:
                return False
            return record is not None and is_it(record)

        self.graph.until(there, 'the record')

    def arm(self):
        """Rest on the pad and arm."""
        self.start()
        self.meet(0.0)
        for i in range(1, 100):
            self.send(i * PERIOD_NS)
        self.graph.until(
            lambda: self.graph.call(Trigger, 'flight_state/launch').success, 'the launch'
        )

    @property
    def fired(self):
        return [
            (status.name, stamp_to_ns(array.header.stamp) * 1e-9)
            for array in self.events for status in array.status
        ]

    @property
    def drogue_on(self):
        """Stamps [s] at which the drogue's effort was 1."""
        return [
            stamp_to_ns(message.header.stamp) * 1e-9 for message in self.deployers
            if message.effort[message.name.index('drogue')] == 1.0
        ]


@pytest.fixture
def computer(graph, tmp_path):
    """Return a flight computer of which no process stays."""
    computer = Computer(graph, tmp_path)
    yield computer
    for process in computer.processes:
        if process.poll() is None:
            process.kill()
            process.communicate()


@pytest.mark.parametrize(
    ('killed', 'phase', 'subphase'),
    [
        pytest.param(6.0, Phase.FLIGHT, 'boost', id='boost', marks=pytest.mark.slow),
        pytest.param(11.0, Phase.FLIGHT, 'coast', id='coast'),
        pytest.param(DROGUE + 1.0, Phase.RECOVERY, 'descent', id='descent',
                     marks=pytest.mark.slow),
    ],
)
def test_killed_in_flight_it_fires_each_event_once(computer, killed, phase, subphase):
    computer.arm()
    computer.feed(killed)
    is_descent = phase is Phase.RECOVERY
    computer.wait_for_record(lambda record: (
        record.snapshot.phase is phase and len(record.snapshot.events) == is_descent
        and record.snapshot.is_burning == (subphase == 'boost') and not record.pulses
    ))
    computer.kill()
    computer.start()
    computer.graph.becomes(lambda: computer.phases[-1].data, 'preflight')
    computer.meet(killed + DOWN)
    computer.feed(MAIN + 5.0)
    assert phase.value in [message.data for message in computer.phases]
    names = [name for name, _ in computer.fired]
    assert names == ['drogue parachute', 'main parachute']
    (_, drogue), (_, main) = computer.fired
    assert APOGEE < drogue < APOGEE + 1.0
    assert main == pytest.approx(MAIN, abs=0.1)
    on = computer.drogue_on
    assert max(on) - min(on) <= 1.0, 'one pulse of a second'
    heard_late = []
    computer.graph.probe.create_subscription(
        JointState, 'flight_state/deployers', heard_late.append, qos.COMMAND
    )
    computer.graph.until(
        lambda: computer.send(computer.sent_ns + PERIOD_NS) or len(heard_late) > 3,
        'deployers for the late joiner',
    )
    assert not any(effort for message in heard_late for effort in message.effort)


def test_killed_while_a_pyro_is_on_it_completes_the_pulse_without_a_second_event(computer):
    computer.arm()
    t = 16.0
    computer.feed(t)
    while not computer.fired:
        t += 0.1
        computer.feed(t)
    computer.wait_for_record(lambda record: len(record.pulses) == 1)
    computer.kill()
    cut = computer.sent_ns * 1e-9
    computer.start()
    computer.meet(t + DOWN)
    computer.feed(MAIN + 2.0)
    assert [name for name, _ in computer.fired] == ['drogue parachute', 'main parachute']
    resumed = [stamp for stamp in computer.drogue_on if stamp > cut]
    assert resumed
    assert 0.8 < max(resumed) - min(resumed) <= 1.0
    assert np.all(np.diff(resumed) < 0.1 + 1e-9)


@pytest.mark.parametrize(
    ('spoil', 'word'),
    [
        pytest.param(lambda text: text[: len(text) // 2], 'is not JSON', id='cut off'),
        pytest.param(lambda text: '{"a": 1}', 'unknown key', id='of another program',
                     marks=pytest.mark.slow),
    ],
)
def test_damaged_record_is_refused_in_one_line_and_ignored(computer, spoil, word):
    computer.arm()
    computer.feed(8.0)
    computer.wait_for_record(lambda record: record.snapshot.phase is Phase.FLIGHT)
    computer.kill()
    path = Path(computer.state_file)
    path.write_text(spoil(path.read_text()))
    computer.start()
    computer.meet(8.0 + DOWN)
    assert computer.flag('phase') == 'preflight'
    assert 'resuming' not in computer.flag('flags')
    err = computer.kill()
    (line,) = [line for line in err.splitlines() if 'state_file' in line]
    assert word in line
    assert line.endswith('; ignored')
    assert 'Traceback' not in err


def test_restart_on_the_pad_needs_a_new_launch_command(computer):
    computer.arm()
    computer.feed(3.0)
    computer.wait_for_record(lambda record: record.snapshot.phase is Phase.LAUNCH)
    computer.kill()
    computer.motion = lambda t: (0.01 * (round(t * 50.0) % 2), 0.0)
    computer.start()
    computer.meet(3.0 + DOWN)
    computer.graph.becomes(lambda: computer.flag('flags'), 'resuming')
    for _ in range(220):
        computer.send(computer.sent_ns + PERIOD_NS)
    computer.graph.until(lambda: 'resuming' not in computer.flag('flags'), 'the decision')
    computer.graph.becomes(lambda: computer.flag('phase'), 'preflight')
    # Stamps say nothing of how long a process was away: it is not armed, and says so.
    assert 'it was armed before the restart and is not armed now' in computer.kill()
