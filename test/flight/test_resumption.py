from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from propulsion_ros.flight.apogee.detector import ApogeeDetector
from propulsion_ros.flight.apogee.params import ApogeeParams
from propulsion_ros.flight.events.conditions import MoreThan
from propulsion_ros.flight.events.events import Action, EventRecord, EventSpec
from propulsion_ros.flight.events.variables import Sample
from propulsion_ros.flight.flight_state import FlightState
from propulsion_ros.flight.phases.mark import Mark
from propulsion_ros.flight.phases.params import FlightParams
from propulsion_ros.flight.phases.phases import Phase, Subphase
from propulsion_ros.flight.pyros.deployers import DeployerSpec
from propulsion_ros.flight.resumption import Resumption
from propulsion_ros.flight.snapshot import Snapshot

NAN = math.nan
S = 1_000_000_000
NOW = 1000 * S
LIFTOFF = Mark(995 * S, 30 * S, 'acceleration')
FLYING = Snapshot(NOW, 35 * S, Phase.FLIGHT, False, False, None, LIFTOFF)
PYROS = (DeployerSpec(0, 'drogue'),)
EVENTS = (
    EventSpec(0, 'late', MoreThan('TimeSinceLiftoff', 0, 8e3), (Action('deployment', 0, 1.0),)),
    EventSpec(1, 'drogue', MoreThan('TimeSinceApogee', 0, 0.0)),
)


def verdicts(rows, snapshot=FLYING, step=0.02, start=1.0, **params):
    """Return the verdict of every (altitude, velocity), fed from start [s] after the record."""
    judge = Resumption(FlightParams(**params), snapshot).judge
    return [
        judge(round(i * step * S), NOW + round((start + i * step) * S), altitude, velocity)
        for i, (altitude, velocity) in enumerate(rows)
    ]


@pytest.mark.parametrize(
    ('altitude', 'velocity'),
    [
        pytest.param(31.0, NAN, id='high, speed unknown'),
        pytest.param(5.0, 11.0, id='climbing'),
        pytest.param(NAN, -50.0, id='falling, altitude unknown'),
        pytest.param(5.0, -11.0, id='falling'),
        pytest.param(3000.0, 0.0, id='at apogee'),
    ],
)
def test_three_samples_in_the_air_resume(altitude, velocity):
    assert verdicts([(altitude, velocity)] * 3) == ['', '', 'resume']


def test_one_spike_on_the_pad_does_not():
    rows = [(0.0, 0.0), (500.0, 0.0), (500.0, 0.0), (0.0, 0.0)] * 5
    assert set(verdicts(rows)) == {''}


def test_rest_for_its_time_ends_it():
    found = verdicts([(0.0, 0.0)] * 102)
    assert found[99] == ''
    assert found[100] == 'the vehicle rests near the pad'


def test_what_is_unknown_decides_nothing():
    assert set(verdicts([(NAN, NAN)] * 1000)) == {''}
    assert set(verdicts([(NAN, 0.0)] * 1000)) == {''}


@pytest.mark.parametrize(
    ('start', 'reason'),
    [
        pytest.param(599.0, 'resume', id='in time'),
        pytest.param(601.0, 'it is 601 s old', id='too old'),
        pytest.param(-0.4, 'resume', id='samples on their way while it was written'),
        pytest.param(-5.0, 'it is stamped 5.0 s ahead of the samples', id='clock set back'),
    ],
)
def test_age(start, reason):
    assert verdicts([(100.0, 0.0)] * 3, start=start)[-1] == reason


@given(st.lists(st.tuples(st.floats(-29.9, 29.9), st.floats(-9.9, 9.9)), max_size=300))
def test_nothing_near_the_pad_and_slow_ever_resumes(rows):
    assert 'resume' not in verdicts(rows)


@pytest.mark.parametrize(
    ('snapshot', 'problem'),
    [
        pytest.param(FLYING, '', id='sound'),
        pytest.param(replace(FLYING, liftoff=None), 'in flight without a liftoff', id='liftoff'),
        pytest.param(replace(FLYING, phase=Phase.RECOVERY), 'in recovery without an apogee',
                     id='apogee'),
        pytest.param(replace(FLYING, events=(EventRecord(2, 0, 1),)), 'events [2] of 2',
                     id='event'),
        pytest.param(replace(FLYING, events=(EventRecord(0, 0, 1),) * 2), 'events [0, 0] of 2',
                     id='event twice'),
        pytest.param(replace(FLYING, phase=Phase.PREFLIGHT), 'it is of no armed phase', id='safe'),
        pytest.param(replace(FLYING, phase=Phase.DEBUG), 'it is of no armed phase', id='debug'),
    ],
)
def test_only_a_sound_record_is_considered(snapshot, problem):
    assert state().offer(snapshot) == problem


def state():
    return FlightState(FlightParams(), ApogeeDetector(ApogeeParams()), EVENTS, PYROS)


def test_flight_goes_on_with_its_times():
    flight = state()
    assert flight.offer(FLYING) == ''
    reports = [
        flight.update(Sample(NOW + round(t * S), 900.0 + 10.0 * t, 10.0 - t, -9.8 + 1e-3 * t))
        for t in [2.0 + 0.02 * i for i in range(80)]
    ]
    assert [report.phase for report in reports[:3]] == [Phase.PREFLIGHT] * 2 + [Phase.FLIGHT]
    assert 'resuming' in reports[0].flags
    assert 'resuming' not in reports[2].flags
    assert reports[2].notice == 'resumed in flight, 2.04 s after the record'
    (change,) = reports[2].phase_changes
    assert (change.source, change.target, change.trigger) == (
        Phase.PREFLIGHT, Phase.FLIGHT, 'resumed in flight'
    )
    assert reports[2].subphase is Subphase.COAST
    assert flight.liftoff == LIFTOFF
    # 8 s after liftoff is 3 s after the record.
    (fired,) = [event for report in reports for event in report.events]
    assert (fired.name, fired.stamp_ns) == ('late', NOW + 3 * S)


def test_spent_events_stay_spent_and_recovery_keeps_its_apogee():
    apogee = Mark(999 * S, 34 * S, 'timer')
    record = replace(
        FLYING, phase=Phase.RECOVERY, apogee=apogee, has_landed=False,
        events=(EventRecord(1, S, 1),),
    )
    flight = state()
    flight.offer(record)
    names = [
        event.name
        for i in range(200)
        for event in flight.update(
            Sample(NOW + S + i * 20_000_000, 400.0 - 0.2 * i, -10.0 - 1e-3 * i)
        ).events
    ]
    assert names == ['late']
    assert (flight.phase, flight.apogee) == (Phase.RECOVERY, apogee)
    assert flight.snapshot().events[1].count == 1


def test_home_is_not_set_while_a_flight_may_have_to_be_resumed():
    flight = state()
    flight.offer(FLYING)
    flight.update(Sample(NOW + S, 900.0, -10.0))
    reason = "'set_home' is refused: a recorded flight may have to be resumed"
    assert flight.command('set_home', NOW + S) == reason
    assert flight.is_resuming


def test_a_command_comes_before_the_record():
    flight = state()
    flight.offer(FLYING)
    flight.update(Sample(NOW + S, 0.0, 0.0))
    assert flight.command('launch', NOW + S) == ''
    report = flight.update(Sample(NOW + S + 1, 0.1, 0.0))
    assert report.notice == 'the recorded flight, in flight, is not resumed: a command came first'
    assert flight.phase is Phase.LAUNCH
    assert flight.liftoff is None


def test_record_of_the_pad_resumes_only_in_the_air():
    record = Snapshot(NOW, 10 * S, Phase.LAUNCH)
    flight = state()
    flight.offer(record)
    for i in range(3):
        flight.update(Sample(NOW + S + i * 20_000_000, 50.0 + i, 60.0 + i, 20.0 + i))
    assert flight.phase is Phase.LAUNCH
    for i in range(3, 40):
        flight.update(Sample(NOW + S + i * 20_000_000, 50.0 + i, 60.0 + i, 20.0 + i))
    assert flight.phase is Phase.FLIGHT


def test_backup_timer_goes_on_over_the_restart():
    flight = FlightState(
        FlightParams(max_ascent_time=20.0), ApogeeDetector(ApogeeParams()), EVENTS, PYROS
    )
    flight.offer(FLYING)
    changes = []
    for i in range(1000):
        report = flight.update(
            Sample(NOW + S + i * 20_000_000, 3000.0 + 2.0 * i, 100.0 + 1e-3 * (i % 3))
        )
        changes += [(c.trigger, (c.stamp_ns - LIFTOFF.stamp_ns) / S) for c in report.phase_changes]
    assert [trigger for trigger, _ in changes] == ['resumed in flight', 'timer']
    assert changes[1][1] == pytest.approx(20.06, abs=1e-6)


def test_essence_is_what_must_be_written_again():
    later = replace(FLYING, stamp_ns=NOW + S, clock_ns=36 * S)
    assert later.essence == FLYING.essence
    spent = replace(FLYING, events=(EventRecord(1, 5, 1),))
    assert spent.essence == replace(spent, events=(EventRecord(1, 9, 1),)).essence
    for changed in (replace(FLYING, is_burning=True), replace(FLYING, phase=Phase.RECOVERY), spent):
        assert changed.essence != FLYING.essence


def test_clock_set_back_after_the_restart_is_still_the_same_flight():
    flight = state()
    flight.offer(FLYING)
    # Resumed 3 s after the record; then the clock steps back before the first sample since.
    stamps = [NOW + 3 * S + i * 20_000_000 for i in range(5)]
    stamps += [NOW + S + i * 20_000_000 for i in range(5)]
    reports = [
        flight.update(Sample(stamp_ns, 900.0 + i, 10.0 + i)) for i, stamp_ns in enumerate(stamps)
    ]
    assert reports[-1].phase is Phase.FLIGHT
    assert flight.liftoff == LIFTOFF
