# SPDX-License-Identifier: Apache-2.0
"""What a restart of the flight computer must not lose, and what it must not do."""
import copy
import errno
import functools
import itertools
import math
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from flight_computer import APOGEE, CONFIG, ELSEWHERE, MAIN, MS, Computer, Disk, altitude, odometry

from parts import few_of
from propulsion_ros.loops.flight.actuation import ATTEMPTS
from propulsion_ros.loops.flight.record_file import (
    OwedPulse,
    RecordLock,
    RecordWriter,
    decode,
    encode,
    read_state,
)
from propulsion_ros.loops.flight.recorder import Boot
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.files import replace_durably

THANOS = str(Path(CONFIG).with_name('thanos_flight.jsonc'))
VALVES = ('ox_vent_valve', 'fuel_vent_valve', 'fuel_press_valve')


class Clock:
    """A clock since boot that goes on with one computer after another."""

    def __init__(self):
        self._begun_ns, self._host = 100 * 10**9, None
        self.boot = Boot('boot', self._now_ns)

    def _now_ns(self):
        if self._host is None:
            return self._begun_ns
        return self._begun_ns + self._host.steady - self._steady_ns

    def start(self, path, after=0.0, **settings):
        """Return a computer that begins some seconds after the one before ended."""
        self.stop(after)
        computer = Computer(state_file=str(path), boot=self.boot, **settings)
        self._host, self._steady_ns = computer.host, computer.host.steady
        return computer

    def stop(self, after=0.0):
        """Stand still some seconds later."""
        self._begun_ns, self._host = self._now_ns() + round(after * 1e9), None


# Engines.


def lit(path, until):
    """Return a computer with an engine that was lit 0.1 s before liftoff, up to a time."""
    computer = Computer(config_file=THANOS, state_file=str(path)).fly(3.9)
    computer.command('ignition')
    computer.feed(3.9, until)
    return computer


def rows(computer, name, field):
    """Return the values of one row of the engines."""
    return [
        getattr(row, field)[row.names.index(name)] for row in computer.values('~/engines')
    ]


@pytest.mark.parametrize('killed', [
    pytest.param(8.0, id='while it burns'), pytest.param(10.59, id='just before its shutdown'),
])
def test_engine_that_burns_over_a_restart_is_shut_down_at_its_time_and_never_lit_again(
    tmp_path, killed
):
    path = tmp_path / 'flight.json'
    first = lit(path, killed)
    assert rows(first, 'engine', 'effort')[-1] == 1.0
    second = Computer(config_file=THANOS, state_file=str(path))
    second.feed(killed + 1.0, 18.0)
    assert 'shutdown' in [name for name, _ in second.fired]
    efforts = rows(second, 'engine', 'effort')
    assert 1.0 not in efforts
    assert rows(second, 'engine/igniter', 'effort').count(1.0) == 0
    if killed < 10.0:
        assert math.isnan(efforts[0]), 'what another process has lit is left alone'
    assert efforts[-1] == 0.0
    for valve in VALVES:
        assert rows(second, f'engine/{valve}', 'position')[-1] == pytest.approx(math.pi)


def test_shutdown_that_a_kill_may_have_lost_is_commanded_again_after_the_restart(tmp_path):
    """It was spent, so no event would ever have shut the engine down."""
    path = tmp_path / 'flight.json'
    first = lit(path, 10.0)
    known = []
    publish = first.host.publish

    def look(outlet, stamp_ns, payload):
        if outlet.topic == '~/events' and any(row.name == 'shutdown' for row in payload):
            known.append(encode(first.disk.records[-1]))
        publish(outlet, stamp_ns, payload)

    first.host.publish = look
    first.feed(10.0, 11.5)
    (as_it_was_published,) = known
    replace_durably(path, as_it_was_published)
    second = Computer(config_file=THANOS, state_file=str(path))
    second.feed(12.0, 17.5)
    assert 'shutdown' not in [name for name, _ in second.fired]
    efforts = rows(second, 'engine', 'effort')
    assert 1.0 not in efforts
    assert efforts[-1] == 0.0
    assert rows(second, 'engine/ox_vent_valve', 'position')[-1] == pytest.approx(math.pi)


@pytest.mark.parametrize('is_restarted', [False, True], ids=['no restart', 'record set aside'])
def test_launch_closes_the_valves_also_after_a_record_was_set_aside(tmp_path, is_restarted):
    """It was taken for the resumption of the record, and nothing was commanded to the valves."""
    path = str(tmp_path / 'flight.json')
    computer = Computer(config_file=THANOS, state_file=path)
    computer.feed(0.0, 2.0, motion=rest)
    computer.command('launch')
    computer.feed(2.0, 3.0, motion=rest)
    if is_restarted:
        computer = Computer(config_file=THANOS, state_file=path, at=14.0)
        computer.feed(14.0, 19.0, motion=rest)
        assert 'was_armed' in computer.flags['flags']
        computer.command('launch')
        computer.feed(19.0, 20.0, motion=rest)
    assert computer.flags['phase'] == 'launch'
    assert rows(computer, 'engine', 'effort')[-1] == 0.0
    for valve in VALVES:
        assert rows(computer, f'engine/{valve}', 'position')[-1] == 0.0


# Armed again on its pad, it lights nothing that waited for that.


def pad(t):
    return 0.05 * math.sin(37.0 * t)


def test_rearmed_it_refuses_ignition_and_an_override_lights_no_engine(tmp_path):
    path, clock = tmp_path / 'flight.json', Clock()
    first = clock.start(path, source='pressure')
    first.feed(0.0, 2.0, motion=pad)
    first.command('launch')
    first.feed(2.0, 4.0, motion=pad)
    second = clock.start(path, 0.5, source='pressure', at=4.5)
    second.feed(4.5, 12.0, motion=pad)
    assert second.flags['phase'] == 'launch'
    success, text = second.call('ignition')
    assert not success
    assert 'abort and launch again' in text
    second.feed(12.0, 13.0, motion=pad)
    second.command('liftoff_override')
    second.feed(13.0, 15.0, motion=pad)
    assert second.flags['phase'] == 'flight'
    rows = [row for _, row in second.host.of('~/engines')]
    assert all(np.nanmax(np.asarray(row.effort, float), initial=0.0) == 0.0 for row in rows)
    assert not second.fired


def climb(t):
    return 15.0 * t**2


@pytest.mark.parametrize(('motion', 'commands', 'restarts'), [
    pytest.param(pad, ['liftoff_override'], 1, id='an override on the pad'),
    pytest.param(climb, [], 1, id='a climb'),
    pytest.param(climb, [], 2, id='a climb after two restarts'),
])
@pytest.mark.parametrize('is_single', few_of([True, False], 2), ids=['single', 'repeating'])
def test_event_that_waited_for_ignition_is_spent(tmp_path, motion, commands, restarts, is_single):
    """Killed between the command and the event that it triggers, it lit the engine later."""
    path, clock = tmp_path / 'flight.json', Clock()
    config = tmp_path / 'rocket.jsonc'
    text = Path(CONFIG).read_text()
    single = '"single_fire": true' if is_single else '"single_fire": false'
    assert text.count('"single_fire": true') > 2
    config.write_text(text.replace('"single_fire": true', single))
    settings = {'source': 'pressure', 'config_file': str(config)}
    computer = clock.start(path, **settings)
    computer.feed(0.0, 2.0, motion=pad)
    computer.command('launch')
    computer.feed(2.0, 4.0, motion=pad)
    computer.command('ignition')
    t = 4.0
    for _ in range(restarts):
        computer = clock.start(path, 0.5, at=t + 0.5, **settings)
        computer.feed(t + 0.5, t + 8.0, motion=pad)
        t += 8.0
        assert computer.flags['phase'] == 'launch'
    computer.command(*commands)
    begun = computer.loop.stamp_ns * 1e-9
    computer.feed(begun + 0.02, begun + 8.0, motion=lambda t: motion(t - begun))
    assert computer.flags['phase'] == 'flight'
    assert 'ignition' not in [name for name, _ in computer.fired]
    assert not any(1.0 in list(row.effort) for row in computer.values('~/engines'))


# After the landing.


def rest(t):
    return 0.02 * (round(50.0 * t) % 2)


@functools.cache
def landed():
    """Return the record of a flight that has landed and owes a pulse, and its clock."""
    clock = Clock()
    first = clock.start(ELSEWHERE, disk=Disk()).fly()
    first.feed(2.0, 60.0, motion=lambda t: altitude(t) + 0.02 * (round(50.0 * t) % 2))
    assert first.flags['subphase'] == 'landed'
    clock.stop()
    record = first.disk.records[-1]
    assert record.snapshot.motion.is_supported
    assert record.pulses == ()
    return encode(replace(record, pulses=(OwedPulse(0, 0, 1000 * MS),))), clock


def landed_in(tmp_path, level=0.0):
    """Return the path of such a record, at a level [m], and its clock."""
    record, clock = landed()
    record = decode(record)
    motion = replace(record.snapshot.motion, level=level)
    path = tmp_path / 'flight.json'
    replace_durably(path, encode(replace(
        record, snapshot=replace(record.snapshot, motion=motion)
    )))
    return path, copy.deepcopy(clock)


def resumed_landed(tmp_path, level=0.0):
    """Return a computer that has resumed such a flight without any sensor."""
    path, clock = landed_in(tmp_path, level)
    second = clock.start(path, after=1.0)
    second.host.now = 62 * 10**9
    second.wait(3.0)
    return second


def test_flight_that_has_landed_is_resumed_as_such_and_gives_no_pulse_that_is_owed(tmp_path):
    second = resumed_landed(tmp_path)
    second.wait(20.0)
    assert (second.flags['phase'], second.flags['subphase']) == ('recovery', 'landed')
    assert second.values('~/beacon')[-1]
    assert not second.fired
    assert not second.on('drogue')


def test_pulse_that_is_owed_is_given_where_the_vehicle_falls_after_all(tmp_path):
    """As of a port that was blocked high up."""
    second = resumed_landed(tmp_path, level=300.0)
    for k in range(200):
        second.wait(0.02)
        t = 65.0 + 0.02 * k
        second.host.deliver('~/odometry', odometry(
            round(t * 1e9), 120.0 + 300.0 - 20.0 * 0.02 * k, -20.0 + 0.01 * (k % 2)
        ))
    assert second.flags['subphase'] == 'descent'
    on = second.on('drogue')
    assert 0.85 < on[-1] - on[0] <= 1.0


def test_flight_that_has_landed_and_is_seen_at_rest_is_over(tmp_path):
    path, clock = landed_in(tmp_path)
    second = clock.start(path, after=1.0)
    second.feed(61.0, 66.0, motion=lambda t: 0.02 * (round(50.0 * t) % 2))
    assert second.flags['phase'] == 'preflight'
    assert any('is void: its flight is not resumed' in line for line in second.warnings)
    assert not second.on('drogue')


# Attempts.


def test_three_attempts_in_all_begin_a_second_apart_over_restarts_however_fast(tmp_path):
    """The computer browns out as each pulse begins, and is back at once."""
    path, clock = tmp_path / 'flight.json', Clock()
    first = clock.start(path).fly()
    t, begun = 2.0, []
    computer = first
    for _ in range(6):
        while not computer.on('drogue') and t < 30.0:
            computer.feed(t, t + 0.02)
            t = round(t + 0.02, 2)
        if not computer.on('drogue'):
            break
        begun.append(computer.on('drogue')[0])
        computer = clock.start(path)
    assert len(begun) == ATTEMPTS == 3
    assert min(b - a for a, b in itertools.pairwise(begun)) >= 1.0 - 1e-6
    assert any('it was begun 3 times' in line for line in computer.host.said('error'))
    assert 'main parachute' in [name for name, _ in computer.fired], 'it waits for nothing'


# A disk that cannot be written, with the writer of a flight.


class Faulty:
    """Writes until it is broken, then fails as the operating system does."""

    def __init__(self):
        self.error = None

    def __call__(self, *arguments):
        if self.error is not None:
            raise OSError(self.error, os.strerror(self.error))
        replace_durably(*arguments)


class OnDisk(Computer):
    """A computer that writes with a thread."""

    def _open(self, path):
        return RecordWriter(path)

    def settle(self):
        """Wait until the disk has done what it can, on a machine that is busy."""
        record = self.loop._record
        assert record._writer.wait(record._number, 60.0)

    def until(self, is_it, name):
        """Call a service until its reply is as expected, and return that."""
        for _ in range(40):
            reply = self.call(name)
            if is_it(reply):
                break
            self.settle()
        return reply


@pytest.fixture
def disk(monkeypatch):
    """Return the disk of computers, which may be broken."""
    disk = Faulty()
    monkeypatch.setattr('propulsion_ros.loops.flight.record_file.replace_durably', disk)
    return disk


@pytest.mark.parametrize(
    'error', few_of([errno.ENOSPC, errno.EROFS, errno.EIO], 3), ids=errno.errorcode.get
)
def test_disk_that_is_full_or_read_only_refuses_the_launch_and_delays_nothing_in_the_air(
    tmp_path, disk, error
):
    path = tmp_path / 'flight.json'
    computer = OnDisk(state_file=str(path), required_checks=('altitude', 'record'))
    computer.feed(0.0, 2.0)
    disk.error = error
    success, text = computer.until(lambda reply: 'cannot be written' in reply[1], 'launch')
    assert not success
    assert text == (
        f"'launch' is refused: state_file {path} cannot be written: {os.strerror(error)}"
    )
    disk.error = None
    assert computer.until(lambda reply: reply[0], 'launch')[0]
    computer.feed(2.0, 8.0)
    computer.settle()
    disk.error = error
    computer.feed(8.0, MAIN + 2.0)
    assert [name for name, _ in computer.fired] == ['drogue parachute', 'main parachute']
    assert [t for _, t in computer.fired] == pytest.approx([APOGEE, MAIN], abs=0.6)
    computer.settle()
    assert computer.host.counts['record'] > 1
    assert read_state(path).snapshot.phase.value == 'flight', 'what was written last'
    computer.host.deactivate()
    second = Computer(state_file=str(path))
    second.feed(MAIN + 2.0, MAIN + 4.0)
    assert second.flags['phase'] in ('flight', 'recovery'), 'resumed from what was written last'


HUNG = """
import sys, threading
sys.path[:0] = sys.argv[2:]
from flight_computer import APOGEE, MAIN
from propulsion_ros.loops.flight import record_file
from propulsion_ros.settings.files import replace_durably
from test_restarts import OnDisk

def write(*arguments):
    if computer and computer[0].loop.stamp_ns > 8e9:
        threading.Event().wait()
    replace_durably(*arguments)

record_file.replace_durably = write
computer = []
computer.append(OnDisk(state_file=sys.argv[1]))
computer[0].feed(0.0, 2.0)
computer[0].command('launch')
computer[0].feed(2.0, MAIN + 2.0)
print([name for name, _ in computer[0].fired], flush=True)
print(max(abs(t - due) for (_, t), due in zip(computer[0].fired, (APOGEE, MAIN))), flush=True)
computer[0].host.deactivate()
"""


def test_write_that_never_returns_lets_both_charges_fire_and_the_process_exit(tmp_path):
    here = Path(__file__).parent
    with subprocess.Popen(
        [sys.executable, '-c', HUNG, tmp_path / 'flight.json', here, here.parents[1]],
        stdout=subprocess.PIPE, text=True,
    ) as process:
        assert process.stdout.readline() == "['drogue parachute', 'main parachute']\n"
        assert float(process.stdout.readline()) < 0.6
        begun = time.monotonic()
        assert process.wait(60.0) == 0
        assert time.monotonic() - begun < 20.0, 'a second, on a machine that is not busy'


# The lock, from one process to the next.

HOLD = """
import sys, time
from propulsion_ros.loops.flight.record_file import RecordLock
lock = RecordLock(sys.argv[1])
print('held', flush=True)
time.sleep(100.0)
"""


@pytest.mark.parametrize('end', [signal.SIGKILL, signal.SIGTERM], ids=lambda end: end.name)
def test_lock_goes_from_one_process_to_the_next(tmp_path, end):
    path = str(tmp_path / 'flight.json')
    for _ in range(2):
        with subprocess.Popen(
            [sys.executable, '-c', HOLD, path], stdout=subprocess.PIPE, text=True
        ) as holder:
            assert holder.stdout.readline() == 'held\n'
            with pytest.raises(ConfigError, match='is held by another flight computer'):
                RecordLock(path)
            holder.send_signal(end)
    RecordLock(path).release()
