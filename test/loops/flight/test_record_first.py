# SPDX-License-Identifier: Apache-2.0
"""The record is written before anything is fired, and a disk that hangs delays nothing for long."""
import math
import os
import threading
import time
from dataclasses import replace

import pytest
from flight_computer import APOGEE, MAIN, MS, Computer, Disk, interrupted

from fake_host import FakeHost
from propulsion_ros.flight.phases.phases import Phase
from propulsion_ros.flight.resumption import Snapshot
from propulsion_ros.loops.flight.flight_loop import make_flight_loop
from propulsion_ros.loops.flight.params import FlightLoopParams
from propulsion_ros.loops.flight.record_file import (
    FlightRecord,
    OwedPulse,
    RecordLock,
    RecordWriter,
    encode,
    read_state,
)
from propulsion_ros.loops.flight.recorder import Boot
from propulsion_ros.settings.files import replace_durably
from propulsion_ros.settings.flat import build


class Clock:
    """A clock since boot that tests set."""

    def __init__(self, boot_id='boot', now=100.0):
        self.now = now
        self.boot = Boot(boot_id, lambda: round(self.now * 1e9))


def fly(disk, **settings):
    """Return a computer that flies to the ground, and what was on the disk as events fired."""
    computer = Computer(disk=disk, state_file='/nowhere/f.json', **settings)
    known = []
    publish = computer.host.publish

    def look(outlet, stamp_ns, payload):
        if outlet.topic == '~/events':
            known.append((disk.written, disk.records[disk.written - 1]))
        publish(outlet, stamp_ns, payload)

    computer.host.publish = look
    computer.feed(0.0, 2.0)
    computer.command('launch')
    return computer, known


@pytest.fixture(autouse=True)
def any_folder(monkeypatch):
    monkeypatch.setattr('propulsion_ros.loops.flight.params._has_folder', lambda path: True)


def test_record_says_spent_and_owed_before_the_event_is_published_and_the_pulse_begins():
    computer, known = fly(Disk())
    computer.feed(2.0, MAIN + 2.0)
    assert [name for name, _ in computer.fired] == ['drogue parachute', 'main parachute']
    for i, (_, record) in enumerate(known):
        assert [event.id for event in record.snapshot.events] == list(range(i + 1))
        assert [(p.event, p.deployer, p.attempts) for p in record.pulses] == [(i, i, 1)]
        assert record.pulses[0].on_time_ns == 1000 * MS
    assert computer.disk.records[-1].pulses == (), 'both are complete'


def test_heartbeat_each_second_while_armed_and_none_before():
    disk = Disk()
    computer, _ = fly(disk)
    armed = len(disk.records)
    computer.feed(2.0, 3.9)
    assert len(disk.records) in (armed + 1, armed + 2), 'nothing but heartbeats on the pad'
    stamps = [record.snapshot.stamp_ns * 1e-9 for record in disk.records[armed:]]
    assert stamps[0] == pytest.approx(2.5, abs=0.6)
    idle = Computer(disk=Disk(), state_file='/nowhere/f.json')
    idle.feed(0.0, 5.0)
    assert len(idle.disk.records) == 1


def test_launch_is_refused_while_the_record_cannot_be_written(tmp_path):
    disk = Disk()
    computer = Computer(
        disk=disk, state_file='/nowhere/f.json', required_checks=('altitude', 'record')
    )
    computer.feed(0.0, 2.0)
    disk.error = 'state_file f: cannot be written: No space left on device'
    assert computer.call('launch') == (False, f"'launch' is refused: {disk.error}")
    assert 'record' in computer.flags['not_ready'].split()
    disk.error = ''
    disk.hangs = True
    success, text = computer.call('launch')
    assert not success
    assert 'a write has not returned' in text
    disk.hangs = False
    disk.written = len(disk.records)
    computer.feed(2.0, 3.1)
    computer.command('launch')


def test_age_of_a_record_counts_from_the_heartbeat(tmp_path):
    """A brown-out in boost after minutes on the pad."""
    path, clock = tmp_path / 'flight.json', Clock()
    first = Computer(state_file=str(path), boot=clock.boot).fly()
    first.host.wait(90.0)
    assert read_state(path).snapshot.stamp_ns > 85 * 1_000_000_000


@pytest.mark.parametrize(('boot', 'of', 'age', 'least'), [
    (Clock(now=50.0).boot, 'boot', 2.0, math.nan),
    (Clock(now=47.0).boot, 'boot', math.inf, math.nan),
    (Clock(now=50.0).boot, 'other', math.inf, 50.0),
    (Clock(now=50.0).boot, '', math.inf, math.nan),
    (Boot(), '', math.inf, math.nan), (Boot(), 'other', math.inf, math.nan),
])
def test_boot_tells_the_age_of_a_record_whatever_the_clock_says(boot, of, age, least):
    assert boot.age(of, 48_000_000_000) == pytest.approx(age)
    assert boot.least_age(of) == pytest.approx(least, nan_ok=True)


# The pulse that is owed.


def cut(tmp_path, boot=None):
    """Return the path of a record of a flight that lost its power as the drogue fired."""
    path = tmp_path / 'flight.json'
    first = Computer(state_file=str(path), boot=boot).fly(APOGEE)
    t = APOGEE
    while not first.fired:
        first.feed(t, t + 0.1)
        t += 0.1
    assert read_state(path).pulses
    return path, t


def test_owed_pulse_is_given_after_the_flight_is_resumed_and_the_event_is_not_repeated(tmp_path):
    path, t = cut(tmp_path)
    second = Computer(state_file=str(path))
    second.feed(t + 1.0, t + 1.2)
    assert not second.on('drogue')
    second.feed(t + 1.2, t + 4.0)
    assert not second.fired
    on = second.on('drogue')
    assert 0.85 < on[-1] - on[0] <= 1.0
    assert read_state(path).pulses == ()


def test_owed_pulse_is_void_at_rest(tmp_path):
    path, t = cut(tmp_path)
    second = Computer(state_file=str(path))
    second.feed(t + 1.0, t + 8.0, motion=lambda t: 0.02 * (round(t * 50.0) % 2))
    assert not second.on('drogue')
    assert second.flags['phase'] == 'preflight'
    assert "the pulse of 'drogue' that event 0 owes is void: its flight is not resumed" in (
        second.warnings
    )


def test_attempts_are_a_second_apart_and_the_next_event_does_not_wait(tmp_path):
    clock = Clock()
    path, t = cut(tmp_path, clock.boot)
    record = read_state(path)
    # An instant restart: only the resumption itself takes time.
    replace_durably(path, encode(replace(record, boot_ns=round(clock.now * 1e9))))
    second = Computer(state_file=str(path), boot=clock.boot)
    second.feed(t, t + 3.0, motion=lambda s: 460.0 - 20.0 * (s - t))
    resumed = next(
        stamp for stamp, phase in second.host.of('~/phase') if phase == 'recovery'
    ) * 1e-9
    (name, main) = second.fired[0]
    assert name == 'main parachute'
    assert second.on('drogue')[0] >= resumed + 0.9
    assert main < second.on('drogue')[0]


def test_graceful_stop_in_mid_pulse_keeps_what_is_owed(tmp_path):
    path = tmp_path / 'flight.json'
    first = interrupted(path, APOGEE)
    t = APOGEE
    while not first.fired:
        first.feed(t, t + 0.1)
        t += 0.1
    first.host.deactivate()
    assert read_state(path).pulses == (OwedPulse(0, 0, 1000 * MS, 1),)
    second = Computer(state_file=str(path))
    second.feed(t + 1.0, t + 4.0)
    assert second.on('drogue')


# The thread and the lock.


def test_failed_write_is_tried_again_and_reported(tmp_path, monkeypatch):
    failures = [OSError(28, 'No space left on device')] * 2
    written = threading.Event()

    def write(*arguments):
        if failures:
            raise failures.pop()
        written.set()

    monkeypatch.setattr('propulsion_ros.loops.flight.record_file.replace_durably', write)
    writer = RecordWriter(tmp_path / 'f')
    number = writer.put(FlightRecord('abc', Snapshot(0, 0, Phase.LAUNCH)))
    assert writer.wait(number, 10.0)
    assert writer.error.endswith('cannot be written: No space left on device')
    assert written.wait(10.0)
    while writer.written < number:
        time.sleep(0.01)
    assert writer.error == ''
    writer.close()


def test_lock_of_a_folder_that_is_not_there_is_a_problem_and_no_refusal(tmp_path):
    lock = RecordLock(str(tmp_path / 'no' / 'f.json'))
    assert f"cannot be locked: there is no folder '{tmp_path / 'no'}'" in lock.problem


class Hung:
    """A disk whose first write hangs until it is released."""

    def __init__(self, monkeypatch):
        self.is_in, self.may_go, self._sync = threading.Event(), threading.Event(), os.fsync
        monkeypatch.setattr('os.fsync', self._wait)

    def _wait(self, descriptor):
        if not self.is_in.is_set():
            self.is_in.set()
            self.may_go.wait(60.0)
        return self._sync(descriptor)


@pytest.mark.parametrize('is_followed', [True, False], ids=['by another', 'by none'])
def test_writer_that_hung_over_an_end_spoils_nothing_of_the_next_one(
    tmp_path, monkeypatch, is_followed
):
    """Its name for the new file was that of the next writer, whose half file it renamed."""
    monkeypatch.setattr('propulsion_ros.loops.flight.record_file._LONGEST_END', 0.01)
    disk, path = Hung(monkeypatch), tmp_path / 'flight.json'
    old, new = (FlightRecord(name, Snapshot(1, 1, Phase.LAUNCH)) for name in ('old', 'new'))
    first = RecordWriter(path)
    first.put(old)
    assert disk.is_in.wait(10.0)
    first.close()
    if is_followed:
        first.give_up()
        second = RecordWriter(path)
        assert second.wait(second.put(new), 10.0)
        assert second.error == ''
        assert len(list(tmp_path.iterdir())) == 2, 'each writer has a file of its own'
        second.close()
    ended = threading.Event()
    first.when_ended(ended.set)
    assert not ended.wait(0.05)
    disk.may_go.set()
    assert ended.wait(10.0)
    assert read_state(path) == (new if is_followed else old)
    assert [file.name for file in tmp_path.iterdir()] == ['flight.json']


def test_computer_that_begins_again_gives_the_old_writer_up():
    disks = [Disk(), Disk()]
    disks[0].give_up = lambda: given_up.append(disks[0])
    given_up, opened = [], iter(disks)
    host = FakeHost()
    params = build(FlightLoopParams, {'state_file': '/nowhere/f.json'})
    loop = host.run(make_flight_loop(params, host, None, lambda path: next(opened)))
    host.deactivate()
    assert not given_up
    host.run(loop)
    assert given_up == [disks[0]]
