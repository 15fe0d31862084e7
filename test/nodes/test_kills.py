# SPDX-License-Identifier: Apache-2.0
"""A flight computer as a process that is killed in flight, again and again, at real speed.

How often is read from the environment, so that the same tests run for longer::

    KILLS="random=40 firing=40 published=40 many=20 key=10" pytest test/nodes/test_kills.py
"""
from __future__ import annotations

import json
import operator
import os
import random
import re
import subprocess
import sys
import time

import pytest
import yaml
from diagnostic_msgs.msg import DiagnosticArray
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import Trigger

from parts import amount, few_of
from propulsion_ros.messages import qos
from ros_graph import stamped

COUNTS = {
    'random': amount('kills', 1, 60), 'firing': amount('kills', 1, 60),
    'published': amount('kills', 1, 40), 'many': amount('kills', 1, 40),
    'key': amount('kills', 1, 20),
}
COUNTS.update(
    (name, int(count))
    for name, count in (pair.split('=') for pair in os.environ.get('KILLS', '').split())
)
pytestmark = pytest.mark.part('kills')
PERIOD = 0.02
LIFTOFF, BURNOUT, ACCELERATION, GRAVITY = 2.5, 3.5, 65.0, 9.80665
SPEED = ACCELERATION * (BURNOUT - LIFTOFF)
APOGEE = BURNOUT + SPEED / GRAVITY
TOP = 0.5 * ACCELERATION * (BURNOUT - LIFTOFF) ** 2 + 0.5 * SPEED**2 / GRAVITY
OPEN = APOGEE + 1.2
DESCENT, TUMBLING = 4.5, 15.0
"""Speed under the drogue, and without one [m/s]."""
MAIN_ALTITUDE = TOP - 36.0
MAIN = OPEN + (TOP - 0.5 * GRAVITY * 1.2**2 - MAIN_ALTITUDE) / DESCENT
"""When that altitude is reached under the drogue [s]; without one it is sooner."""
END = MAIN + 3.0
PULSE = 0.8
LATEST_RESUME = 9.0
"""How long after its start a flight is resumed [s].

Topics are connected 4 s late after a kill, and one whose ascent went unseen must climb for 1.5 s or
sink for 4.5 s.
"""
LATEST = 3.5
"""How long after a flight was resumed what was due has fired [s]: a slow fall must last for 3 s."""
LATEST_UNSEEN = 4.5
"""The same where the ascent went unseen [s]: it must also lose 25 m."""
DELIVERY = 0.3
"""How late a message of a killed process may come [s]; a new one needs longer to start."""
SAID = re.compile(r'\[(\d+\.\d+)\] \[flight_state\]: (.*)')
STARTS = 1.5
"""After this long the flight stands still for a process that is not there yet [s].

It cannot observe that: a machine that is busy with other tests then only takes longer.
"""


NODE = """
import os, sys, time
sync, seconds = os.fsync, float(sys.argv.pop(1))
os.fsync = lambda descriptor: time.sleep(seconds) or sync(descriptor)
from propulsion_ros.nodes.flight_state_node import main
main()
"""
"""A flight computer on whose disk each sync takes longer by some seconds."""


def ascent(t):
    """Return altitude [m] and vertical speed [m/s] of a boost and a fall."""
    if t < LIFTOFF:
        return 0.0, 0.0
    if t < BURNOUT:
        return 0.5 * ACCELERATION * (t - LIFTOFF) ** 2, ACCELERATION * (t - LIFTOFF)
    return TOP - 0.5 * GRAVITY * (t - APOGEE) ** 2, -GRAVITY * (t - APOGEE)


class Flight:
    """One flight in real time, and the computer that follows it."""

    def __init__(self, graph, folder):
        self.graph, self.folder = graph, folder
        self.rng = random.Random(0)
        config = folder / 'flight.jsonc'
        deployment = {'type': 'deployment', 'param': round(PULSE * 1000)}
        config.write_text(json.dumps({
            'Deployers': [
                {'id': i, 'name': name, 'type': 'local_pyro', 'channel': i}
                for i, name in enumerate(('drogue', 'main'))
            ],
            'Events': [
                {'id': 0, 'name': 'drogue', 'action': {**deployment, 'id': 0}, 'condition': {
                    'flightVar': 'TimeSinceApogee', 'operator': 'MORETHAN', 'threshold': 0,
                }},
                {'id': 1, 'name': 'main', 'action': {**deployment, 'id': 1}, 'condition': {
                    'flightVar': 'Position', 'component': 2, 'operator': 'MORETHAN',
                    'threshold': -MAIN_ALTITUDE,
                }, 'phases': ['recovery']},
            ],
        }))
        self.params = folder / 'params.yaml'
        self.params.write_text(yaml.safe_dump({'/**/flight_state': {'ros__parameters': {
            'config_file': str(config), 'state_file': str(folder / 'flight.json'),
            'flight.max_ascent_time': 10.0,
        }}}))
        self.events, self.on, self.phases = [], [], []
        graph.probe.create_subscription(
            DiagnosticArray, 'flight_state/events', self._take_events, qos.LATCHED_HISTORY
        )
        graph.probe.create_subscription(
            JointState, 'flight_state/deployers', self._take_deployers, qos.COMMAND
        )
        graph.probe.create_subscription(
            String, 'flight_state/phase', self._take_phase, qos.LATCHED
        )
        self.sensor = graph.probe.create_publisher(Odometry, 'flight_state/odometry', qos.SENSOR)
        self.process, self.sync_time = None, 0.0
        self.kill_at_event = set()
        self.down = []
        self.wall = None
        self.pauses = []
        self.fallen = OPEN, ascent(OPEN)[0]
        self.main_due = None
        self.log_path, self.logged = folder / 'log', 0

    def _take_events(self, message):
        for status in message.status:
            self.events.append((self.now, status.name))
            if status.name in self.kill_at_event:
                self.kill_at_event.discard(status.name)
                self.restart()

    def _take_phase(self, message):
        self.phases.append(message.data)

    def _take_deployers(self, message):
        self.on.append((self.now, message.name, tuple(message.effort)))

    @property
    def now(self):
        return self._flight_time(time.time()) if self.wall is not None else -1.0

    def _flight_time(self, wall):
        """Return the time of flight at a wall time [s]; it stands still in pauses."""
        return wall - self.wall - sum(max(min(wall, end) - begin, 0) for begin, end in self.pauses)

    def _pause_for_start(self):
        """Let the flight stand still while a process takes long to start."""
        if '2 events, safe semantics' not in self.log_path.read_text()[self.logged:]:
            self.pauses[-1][1] = max(self.pauses[-1][0], time.time())

    def start(self):
        self.log = self.log_path.open('a')
        self.process = subprocess.Popen(
            [sys.executable, '-c', NODE, str(self.sync_time), '--ros-args',
             '--params-file', str(self.params)],
            stderr=self.log, stdout=subprocess.DEVNULL, text=True, env=os.environ,
        )

    def restart(self):
        """Kill it as a loss of power would, and start it as a launch file does."""
        self.process.kill()
        self.process.wait()
        self.down.append(self.now)
        self.pauses.append([time.time() + STARTS] * 2)
        self.logged = len(self.log_path.read_text())
        self.start()

    def motion(self):
        """Return altitude [m] and vertical speed [m/s]; it tumbles until its drogue is fired."""
        t = max(self.now, 0.0)
        if t < OPEN:
            return ascent(t)
        has_drogue = any(
            effort == 1.0 for _, names, efforts in self.on
            for name, effort in zip(names, efforts, strict=True) if name == 'drogue'
        )
        speed = -(DESCENT if has_drogue else TUMBLING)
        then, height = self.fallen
        height += speed * (t - then)
        self.fallen = t, height
        if self.main_due is None and height <= MAIN_ALTITUDE:
            self.main_due = t
        return height, speed

    def send(self):
        message = stamped(Odometry, time.time_ns())
        height, speed = self.motion()
        height += self.rng.gauss(0.0, 0.05)
        message.pose.pose.position.z = 100.0 + height
        message.pose.pose.orientation.w = 1.0
        message.twist.twist.linear.z = speed + self.rng.gauss(0.0, 0.02)
        self.sensor.publish(message)

    def fly(self, kills=(), kill_at_event=()):
        """Rest, arm, and fly; kill the process at some times [s]."""
        self.kill_at_event = set(kill_at_event)
        self.start()
        self.graph.until(lambda: self.send() or self.phases, 'the computer')
        self.graph.until(lambda: (
            self.send() or self.graph.call(Trigger, 'flight_state/launch').success
        ), 'the launch')
        self.wall = time.time()
        kills, following = sorted(kills), 0.0
        while self.now < END + LATEST_RESUME + PULSE:
            if self.down:
                self._pause_for_start()
            if kills and self.now >= kills[0]:
                kills.pop(0)
                self.restart()
            if self.now >= following:
                self.send()
                following = max(following + PERIOD, self.now - PERIOD)
            self.graph.executor.spin_once(min(max(following - self.now, 0.001), PERIOD))
            if self.now > END and self._is_complete() and self._goes_on():
                break

    def pulses(self, name):
        """Return begin and end of each pulse of a deployer; a killed process ends its own.

        The topic may be connected in the middle of a pulse, whose begin is in the log then.
        """
        begun = self.said(f'event {name}') + self.said(f"the pulse of '{name}'")
        found, begin = [], None
        kills = [(t, None, None) for t in self.down]
        on = [row for row in self.on if not any(0 <= row[0] - t < DELIVERY for t in self.down)]
        for t, names, efforts in sorted(on + kills, key=operator.itemgetter(0)):
            is_on = names is not None and efforts[names.index(name)] == 1.0
            if begin is not None and not is_on:
                found.append((begin, t))
                begin = None
            elif begin is None and is_on:
                begin = max((b for b in begun if t - PULSE < b <= t), default=t)
        return found

    def _goes_on(self):
        """Return whether the flight was resumed since the last kill."""
        return not self.down or any(t > self.down[-1] for t in self.said('resumed'))

    def _is_complete(self):
        return all(
            any(end - begin >= PULSE - 0.15 for begin, end in self.pulses(name))
            for name in ('drogue', 'main')
        )

    def said(self, beginning):
        """Return when the processes logged lines that begin so [s]."""
        lines = SAID.findall(self.log_path.read_text())
        return [self._flight_time(float(t)) for t, line in lines if line.startswith(beginning)]

    def check(self):
        """Require each event once, each pulse complete, nothing later than the resumption."""
        log = self.log_path.read_text()
        pulses = [self.pulses(name) for name in ('drogue', 'main')]
        about = f'{self.events} {self.down} {pulses}\n{log}'
        assert [name for _, name in self.events] == ['drogue', 'main'], about
        assert self._is_complete(), about
        resumed = self.said('resumed')
        assert len(resumed) >= 1 or not self.down, about
        for t in resumed:
            started = max(up for up in self.said('a flight was recorded') if up < t)
            assert t < started + LATEST_RESUME, about
        latest = LATEST_UNSEEN if self.said('resumed in launch') else LATEST
        for (received, name), due in zip(self.events, (APOGEE, self.main_due), strict=True):
            t = max((t for t in self.said(f'event {name}') if t < received + 0.1), default=received)
            assert t > due - 0.5, (name, about)
            assert t < max([due, *(up for up in resumed if up < t)]) + latest, (name, about)
        for name in ('drogue', 'main'):
            assert len(self.pulses(name)) <= 4, about
        assert 'Traceback' not in log, about

    def end(self):
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()


@pytest.fixture
def flight(graph, tmp_path):
    """Return a flight of whose computer no process stays."""
    flight = Flight(graph, tmp_path)
    yield flight
    flight.end()


def any_time(rng):
    return rng.uniform(LIFTOFF + 0.5, MAIN + 1.0)


PLANS = {
    'random': lambda rng: {'kills': [any_time(rng)]},
    'firing': lambda rng: {'kills': [
        rng.choice([APOGEE + 0.2, MAIN]) + rng.uniform(-0.6, 0.6)
    ]},
    'published': lambda rng: {'kill_at_event': [rng.choice(['drogue', 'main'])]},
    'many': lambda rng: {'kills': [any_time(rng) for _ in range(rng.choice([2, 3]))]},
    'key': lambda rng: {'kills': [
        rng.choice([APOGEE + rng.uniform(-1.0, 1.0), MAIN + rng.uniform(0.0, 1.5)])
    ]},
}
"""When a process is killed: at any time, near a firing, as an event is published, several times,
at apogee or under the main."""


@pytest.mark.slow
@pytest.mark.parametrize(('kind', 'i'), [
    (kind, i) for kind, count in COUNTS.items() for i in range(count)
])
def test_killed_in_the_air(flight, kind, i):
    flight.fly(**PLANS[kind](random.Random(f'{kind} {i}')))
    flight.check()


@pytest.mark.parametrize('name', few_of(['drogue', 'main'], 2))
def test_killed_as_an_event_is_published_while_each_write_takes_long(flight, name):
    """A write took longer than a firing waited for it: one event was detected twice."""
    flight.sync_time = 0.05
    flight.fly(kill_at_event=[name])
    flight.check()


def test_second_flight_computer_of_one_record_refuses_in_one_line(flight):
    flight.start()
    flight.graph.until(lambda: flight.phases, 'the first computer')
    second = subprocess.run(
        [sys.executable, '-m', 'propulsion_ros.nodes.flight_state_node', '--ros-args',
         '-r', '__node:=flight_state', '-r', '__ns:=/second', '--params-file', str(flight.params)],
        capture_output=True, text=True, timeout=100.0, check=False,
    )
    assert second.returncode == 1
    (line,) = [line for line in second.stderr.splitlines() if '[ERROR]' in line]
    assert 'flight.json is held by another flight computer' in line
    assert 'Traceback' not in second.stderr
