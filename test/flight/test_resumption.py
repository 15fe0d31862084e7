# SPDX-License-Identifier: Apache-2.0
import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flown_vehicle import wiggle
from parts import amount
from propulsion_ros.flight.apogee.detector import ApogeeDetector
from propulsion_ros.flight.apogee.params import ApogeeParams
from propulsion_ros.flight.belief.departure import Departure
from propulsion_ros.flight.belief.feed import Readings
from propulsion_ros.flight.belief.motion_watch import Kept, MotionWatch
from propulsion_ros.flight.events.conditions import MoreThan
from propulsion_ros.flight.events.events import Action, EventRecord, EventSpec
from propulsion_ros.flight.events.variables import Sample
from propulsion_ros.flight.flight_state import FlightState
from propulsion_ros.flight.phases.params import FlightParams
from propulsion_ros.flight.phases.phases import Phase, Subphase
from propulsion_ros.flight.phases.progress import Doubt, Mark, Vertex
from propulsion_ros.flight.pyros.deployers import DeployerSpec
from propulsion_ros.flight.resumption import Outcome, Resumption, Snapshot

NAN = math.nan
G = 9.80665
S = 1_000_000_000
NOW = 1000 * S
DT = 0.02
LIFTOFF = Mark(995 * S, 30 * S, 'acceleration')
FLYING = Snapshot(NOW, 35 * S, Phase.FLIGHT, False, None, LIFTOFF)
DESCENDING = replace(
    FLYING, phase=Phase.RECOVERY, apogee=Mark(999 * S, 34 * S, 'detected'),
    events=(EventRecord(1, S, 1),),
)
ARMED = Snapshot(NOW, 10 * S, Phase.LAUNCH)
YESTERDAY = -86_400.0
SOON, LATER = 2.28, 3.88
"""When a climb by altitude alone is resumed after a boot [s]: certain for 0.4 s; for 2 s."""
AT_ONCE = 0.4
"""When what was away for a second is resumed by its record alone [s]."""
WILD = (
    (900.0, 300.0, -50.0), (-700.0, -200.0, 90.0), (1200.0, 80.0, -9.0), (400.0, -90.0, -30.0),
)
SETTLING = (
    (800.0, -90.0, -12.0), (600.0, -60.0, -11.0), (300.0, -30.0, -10.0), (120.0, -10.0, -9.0),
)
PYROS = (DeployerSpec(0, 'drogue'), DeployerSpec(1, 'main'))
EVENTS = (
    EventSpec(0, 'late', MoreThan('TimeSinceLiftoff', 0, 8e3), (Action('deployment', 0, 1.0),)),
    EventSpec(1, 'drogue', MoreThan('TimeSinceApogee', 0, 0.0)),
    EventSpec(2, 'main', MoreThan('TimeSinceApogee', 0, 0.0), (Action('deployment', 1, 1.0),)),
)


def rest(height=0.0, seconds=10.0):
    return [(height + wiggle(i), wiggle(i), wiggle(i)) for i in range(round(seconds / DT))]


def climb(height=300.0, speed=50.0, seconds=4.5):
    """Return altitude alone of a coast upward, or of a steady descent."""
    slows = 0.5 * G if speed > 0.0 else 0.0
    times = np.arange(round(seconds / DT)) * DT
    return [(height + speed * t - slows * t * t, NAN, NAN) for t in times]


def fall(height=400.0, speed=0.0, seconds=3.0):
    """Return all that is measured of a free fall."""
    return [
        (height + speed * t - 0.5 * G * t * t, speed - G * t, -G + wiggle(i))
        for i, t in enumerate(np.arange(round(seconds / DT)) * DT)
    ]


def only(rows, *indices):
    """Keep the values of these places, the others are unknown."""
    return [tuple(row[i] if i in indices else NAN for i in range(3)) for row in rows]


def judged(record, rows, start=1.0, dt=DT):
    """Yield the verdict at each sample, by what is believed since the restart."""
    motion = MotionWatch(5.0)
    record.begin(motion)
    for i, (altitude, velocity, acceleration) in enumerate(rows):
        now_ns = round(i * dt * S)
        force = 0.0, 0.0, acceleration + G
        motion.update(
            now_ns, Readings(altitude, velocity, force), learns=False,
            has_flown=record.may_be_blocked,
        )
        yield record.judge(now_ns, NOW + round((start + i * dt) * S), motion, altitude)


def first(
    rows, snapshot=FLYING, start=1.0, heartbeat=math.inf, dt=DT, trusts_stamps=False,
    booted=math.nan, **params,
):
    """Return time [s] and verdict of the first decision, fed from start after the record."""
    record = Resumption(FlightParams(**params), snapshot, heartbeat, trusts_stamps, booted)
    for i, verdict in enumerate(judged(record, rows, start, dt)):
        if verdict.outcome is not Outcome.WAIT:
            return pytest.approx(i * dt, abs=2.1 * dt), verdict.outcome, verdict.reason
    return None


def resumed(rows, *args, **options):
    found = first(rows, *args, **options)
    return found is not None and found[1] is Outcome.RESUME


@pytest.mark.parametrize('clock', [
    pytest.param(1.0, id='clock right'), pytest.param(-100.0, id='clock 100 s back'),
    pytest.param(-1000.0 + 3.0, id='clock at 1970'),
])
@pytest.mark.parametrize('rows', [
    pytest.param(climb(), id='climbing, by altitude alone'),
    pytest.param(climb(speed=-5.0, seconds=11.0), id='under the main, by altitude alone'),
    pytest.param(climb(speed=-25.0, seconds=6.0), id='under the drogue, by altitude alone'),
    pytest.param(fall(), id='at apogee, all sensors'),
    pytest.param(only(fall(), 0, 2), id='at apogee, altitude and acceleration'),
    pytest.param(only(fall(speed=80.0), 2), id='in coast, acceleration alone'),
    pytest.param(only(fall(speed=80.0), 1), id='in coast, velocity alone'),
    pytest.param(only(fall(speed=-16.0), 1), id='in a fall, velocity alone'),
])
def test_what_is_high_and_moving_is_resumed_whatever_the_clock_says(rows, clock):
    assert resumed(rows, start=clock)


@pytest.mark.parametrize('heartbeat', [0.5, math.inf], ids=['killed', 'booted'])
def test_descent_below_the_level_of_the_pad_is_resumed(heartbeat):
    rows = climb(-102.0, speed=-40.0)
    assert resumed(rows, DESCENDING, heartbeat=heartbeat)


@pytest.mark.parametrize(('snapshot', 'heartbeat', 'height', 'goes_on'), [
    pytest.param(FLYING, 1.0, 135.0, True, id='high, shortly'),
    pytest.param(FLYING, 55.0, 135.0, True, id='high, for less than a minute'),
    pytest.param(FLYING, 65.0, 135.0, False, id='high, for longer than a minute'),
    pytest.param(FLYING, math.inf, 135.0, False, id='high, after a boot'),
    pytest.param(FLYING, 1.0, 5.0, False, id='on its pad'),
    pytest.param(DESCENDING, 1.0, 135.0, False, id='after its apogee, as on a hill'),
])
def test_level_altitude_far_from_the_pad_ends_no_ascent_after_a_restart(
    snapshot, heartbeat, height, goes_on
):
    """A blocked port shows no motion either, and the backup timer must fire."""
    rows = only(rest(height), 0)
    assert resumed(rows, snapshot, heartbeat=heartbeat) == goes_on


@pytest.mark.parametrize(('start', 'time'), [
    pytest.param(1.0, SOON, id='age known'), pytest.param(-100.0, LATER, id='age unknown'),
])
def test_certain_flight_lasts_five_times_as_long_where_the_age_is_unknown(start, time):
    assert first(climb(), start=start) == (time, Outcome.RESUME, '')


def test_noisy_altitude_of_a_drogue_takes_longer_but_not_for_ever():
    rng = np.random.default_rng(4)
    for _ in range(20):
        noise = rng.normal(0.0, 1.0, 400)
        rows = [(800.0 - 18.0 * DT * i + noise[i], NAN, NAN) for i in range(400)]
        assert resumed(rows)


@pytest.mark.parametrize('snapshot', [FLYING, DESCENDING], ids=['flight', 'recovery'])
@pytest.mark.parametrize('start', [1.0, YESTERDAY, 300.0], ids=['just', 'ahead', 'minutes'])
@pytest.mark.parametrize('rows', [
    pytest.param(rest(), id='on the pad'),
    pytest.param(rest(50.0), id='barometer 50 m off'),
    pytest.param(rest(3000.0), id='barometer 3 km off'),
    pytest.param(only(rest(50.0), 0), id='barometer 50 m off, alone'),
    pytest.param([*WILD, *rest(50.0)], id='four wild readings'),
    pytest.param([*SETTLING, *rest(50.0)], id='four wild readings that settle'),
])
def test_sensors_present_and_at_rest_never_resume(rows, start, snapshot):
    found = first(rows, snapshot, start=start)
    assert found[1:] == (Outcome.DROP, 'the vehicle rests')


@pytest.mark.parametrize('noise', [0.0, 0.3, 1.0, 3.0])
def test_noise_at_rest_never_resumes(noise):
    rng = np.random.default_rng(5)
    for _ in range(amount('rest', 5, 20)):
        rows = [(50.0 + h, NAN, NAN) for h in rng.normal(0.0, noise + 1e-6, 500)]
        assert not resumed(rows)


@given(st.lists(st.tuples(st.floats(-29.9, 29.9), st.floats(-300.0, 300.0)), max_size=300))
def test_nothing_near_the_pad_ever_resumes(rows):
    assert not resumed([(*row, NAN) for row in rows])


@pytest.mark.parametrize('rows', [
    pytest.param([(0.5 * t, 0.5, wiggle(i)) for i, t in enumerate(np.arange(0.0, 6.0, DT))],
                 id='carried'),
    pytest.param([(2.5 * min(t, 0.6), 2.5 * (t < 0.6) + wiggle(i), wiggle(i))
                  for i, t in enumerate(np.arange(0.0, 6.0, DT))], id='lifted at 2.5 m/s'),
])
def test_vehicle_that_people_handle_is_not_resumed(rows):
    assert not resumed(rows)


@pytest.mark.parametrize(('sensors', 'latest'), [
    pytest.param((0,), 120.0, id='barometer'), pytest.param((0, 2), 40.0, id='both'),
])
@pytest.mark.parametrize('heartbeat', [1.0, 30.0, math.inf])
@pytest.mark.parametrize('snapshot', [FLYING, DESCENDING], ids=['in flight', 'under a parachute'])
def test_rest_at_one_reading_a_second_is_known(snapshot, heartbeat, sensors, latest):
    """A height that healed was as uncertain as that of a rocket, and stayed a broken one."""
    rng = np.random.default_rng(1)
    rows = only([(*rng.normal(0.0, 0.3, 2), rng.normal(0.0, 0.05)) for _ in range(120)], *sensors)
    time, outcome, _ = first(rows, snapshot=snapshot, heartbeat=heartbeat, dt=1.0)
    assert outcome is Outcome.DROP
    assert time.expected < latest


def test_blocked_port_counts_for_a_minute_from_the_record_on():
    """It counted for as long as the record waited."""
    record = Resumption(FlightParams(), FLYING, 50.0)
    watch = MotionWatch(5.0)
    record.begin(watch)
    assert record.may_be_blocked
    for seconds, blocked in ((0.0, True), (9.0, True), (11.0, False)):
        record.judge(round(seconds * S), NOW + round(seconds * S), watch)
        assert record.may_be_blocked == blocked


def test_what_is_unknown_decides_nothing_until_the_record_is_old():
    rows = [(NAN, NAN, NAN)] * 1000
    assert first(rows) is None
    found = first(rows, dt=1.0, resume_age=300.0)
    assert found[1:] == (Outcome.DROP, 'it is 301 s old')


@pytest.mark.parametrize(('start', 'drops'), [
    pytest.param(595.0, False, id='in time'), pytest.param(601.0, True, id='too old'),
    pytest.param(-0.4, False, id='samples on their way while it was written'),
    pytest.param(-0.6, True, id='of an earlier simulation'),
])
def test_age_by_stamps_that_are_trusted(start, drops):
    found = first(climb(), start=start, trusts_stamps=True)
    assert (found[1] is Outcome.DROP) == drops


@pytest.mark.parametrize('start', [601.0, 3601.0, 1e8])
def test_clock_that_is_ahead_after_a_boot_drops_nothing_but_takes_longer(start):
    assert first(climb(), start=start) == (LATER, Outcome.RESUME, '')
    assert first(rest(50.0), start=start)[1:] == (Outcome.DROP, 'the vehicle rests')


@pytest.mark.parametrize(('start', 'seconds'), [
    pytest.param(12.0, SOON, id='stamps agree with the boot'),
    pytest.param(14.9, SOON, id='off for a while before it'),
    pytest.param(9.6, SOON, id='sample on its way'),
    pytest.param(9.4, LATER, id='stamps of before the boot'),
    pytest.param(15.1, LATER, id='clock ahead by seconds'),
    pytest.param(310.0, LATER, id='clock ahead by minutes'),
])
def test_stamps_count_only_close_to_the_time_since_another_boot(start, seconds):
    assert first(climb(), start=start, booted=10.0) == (seconds, Outcome.RESUME, '')


def test_record_of_before_a_boot_that_was_long_ago_is_too_old():
    found = first(climb(), start=1.0, booted=601.0)
    assert found[1:] == (Outcome.DROP, 'it is 601 s old')


def test_clock_since_boot_wins_over_stamps_of_another_time():
    assert first(climb(), start=1e9, heartbeat=1.0) == (AT_ONCE, Outcome.RESUME, '')
    assert first(climb(), start=1.0, heartbeat=700.0)[1] is Outcome.DROP


@pytest.mark.parametrize(('heartbeat', 'expected'), [
    pytest.param(1.0, (AT_ONCE, Outcome.RESUME, ''), id='away for a second'),
    pytest.param(4.9, (2.0, Outcome.RESUME, ''), id='away for 4.9 s'),
    pytest.param(5.1, None, id='away for 5.1 s'),
    pytest.param(math.inf, None, id='booted since'),
])
@pytest.mark.parametrize('snapshot', [FLYING, DESCENDING], ids=lambda s: s.phase.value)
def test_no_sensor_goes_on_if_the_process_was_away_shortly(
    heartbeat, expected, snapshot
):
    assert first([(NAN, NAN, NAN)] * 1000, snapshot, heartbeat=heartbeat) == expected


@pytest.mark.parametrize('silent', [3.0, 6.0])
def test_no_sensor_takes_nothing_up_on_the_pad_and_what_comes_then_decides(silent):
    """Armed again by silence, it waited for a liftoff that had passed, and fired nothing."""
    silence = [(NAN, NAN, NAN)] * round(silent / DT)
    assert first(silence, ARMED, heartbeat=1.0) is None
    assert first(silence + rest(), ARMED, heartbeat=1.0)[1] is Outcome.RESUME
    flight = state()
    flight.offer(ARMED, heartbeat_age=1.0)
    reports = feed(flight, silence + climb(600.0, -25.0 if silent > 4.0 else 50.0, 15.0))
    assert flight.liftoff is not None
    assert {'drogue', 'main'} <= set(fired(reports))


AT_LAST = pytest.approx(1.75, abs=1.25)
"""When what is stuck is resumed [s]: its first half a second counts as readings."""
STUCK = [(400.0, NAN, NAN)] * 1000


@pytest.mark.parametrize('rows', [
    pytest.param(STUCK, id='stuck from the start'),
    pytest.param([(400.0, 7.0, -9.0)] * 1000, id='all stuck'),
    pytest.param([(400.0 + wiggle(i), NAN, NAN) for i in range(4)] + STUCK, id='stuck soon'),
])
@pytest.mark.parametrize('snapshot', [FLYING, DESCENDING], ids=lambda s: s.phase.value)
def test_stuck_sensor_in_the_air_is_a_silent_one(rows, snapshot):
    assert first(rows[2:], snapshot, heartbeat=4.0) == (AT_LAST, Outcome.RESUME, '')


@pytest.mark.parametrize(('snapshot', 'heartbeat'), [
    pytest.param(ARMED, 1.0, id='on the pad'),
    pytest.param(FLYING, 5.1, id='away for long'),
    pytest.param(FLYING, math.inf, id='booted since'),
])
def test_stuck_sensor_resumes_nothing_that_may_be_on_the_bench(snapshot, heartbeat):
    assert first(STUCK, snapshot, heartbeat=heartbeat) is None


@pytest.mark.parametrize('step', [0.1, 1.0, 8.0])
def test_coarse_barometer_at_rest_is_not_a_silent_one(step):
    rng = np.random.default_rng(6)
    rows = [(step * round(h / step), NAN, NAN) for h in rng.normal(0.2 * step, 0.3 * step, 500)]
    assert not resumed(rows, heartbeat=1.0)


@pytest.mark.parametrize(('heartbeat', 'outcome'), [
    pytest.param(1.0, Outcome.RESUME, id='away for a second: armed again'),
    pytest.param(60.0, Outcome.SET_ASIDE, id='away for a minute: set aside'),
    pytest.param(math.inf, Outcome.SET_ASIDE, id='booted since: set aside'),
])
def test_armed_vehicle_at_rest_on_its_pad(heartbeat, outcome):
    assert first(rest(), ARMED, heartbeat=heartbeat)[1] is outcome


@pytest.mark.parametrize(('source', 'altitude', 'outcome'), [
    pytest.param('climb', 50.0, None, id='a barometer rises by 50 m'),
    pytest.param('fall', 90.0, None, id='a barometer falls'),
    pytest.param('climb', 120.0, Outcome.RESUME, id='it rises by 120 m'),
    pytest.param('acceleration', 20.0, Outcome.RESUME, id='a motor pushes'),
])
def test_what_was_set_aside_at_rest_is_resumed_by_a_certain_ascent_alone(
    source, altitude, outcome
):
    """It fired its charges a day later, switched on and never armed."""
    record = Resumption(FlightParams(), ARMED, 60.0)
    record.is_aside = True
    motion = SimpleNamespace(
        unsettled=0.0, departure=Departure(round(8.0 * S), source), held=0.0, likely=0.0,
        height=0.0, is_seen=True, is_believed=True, is_certain=False,
    )
    found = record.judge(round(9.0 * S), NOW + round(69.0 * S), motion, altitude)
    assert found.outcome is (outcome or Outcome.WAIT)


@pytest.mark.parametrize(('altitude', 'level', 'is_on'), [
    (0.0, 0.0, False), (-14.0, 0.0, False), (16.0, 0.0, True), (-16.0, 0.0, True),
    (NAN, 0.0, True), (-90.0, -100.0, False), (0.0, -100.0, True),
])
def test_what_was_armed_flies_unseen_only_away_from_its_pad(altitude, level, is_on):
    """A speed that died away at the pad was the end of a coast, and charges fired."""
    armed = replace(ARMED, motion=Kept(level=level))
    record, found = Resumption(FlightParams(), armed, 1.0), set()
    motion = SimpleNamespace(
        unsettled=0.0, departure=None, held=0.001, likely=0.001, height=0.0, is_seen=True,
        is_believed=True, is_certain=False,
    )
    for i in range(200):
        now_ns = round(i * DT * S)
        found.add(record.judge(now_ns, NOW + now_ns, motion, altitude).outcome)
    assert (Outcome.RESUME in found) is is_on


def test_nothing_lasts_while_a_height_settles():
    record = Resumption(FlightParams(), FLYING, 1.0)
    found = []
    for i in range(200):
        motion = SimpleNamespace(
            unsettled=0.1 * (i % 25 >= 10), departure=None, held=0.001, likely=0.001, height=0.0,
            is_seen=True, is_believed=True, is_certain=False,
        )
        now_ns = round(i * DT * S)
        found.append(record.judge(now_ns, NOW + now_ns, motion, 400.0).outcome)
    assert set(found) == {Outcome.WAIT}


@pytest.mark.parametrize('tau', [0.5, 1.0])
@pytest.mark.parametrize('offset', [-60.0, -300.0, -1000.0])
@pytest.mark.parametrize('level', [40.0, 80.0])
@pytest.mark.parametrize('snapshot', [FLYING, DESCENDING], ids=['in flight', 'in recovery'])
def test_barometer_that_settles_from_below_resumes_no_flight_on_the_bench(
    snapshot, level, offset, tau
):
    """The level is that above yesterday's pad; main fired 2 s after the start."""
    rows = [
        (level + offset * math.exp(-DT * i / tau) + wiggle(i), NAN, wiggle(i)) for i in range(500)
    ]
    for sensed in (rows, only(rows, 0)):
        assert not resumed(sensed, snapshot, start=86400.0)


@pytest.mark.parametrize('speed', [1.0, 3.0, 10.0])
def test_lift_upward_resumes_no_recovery(speed):
    rows = [(60.0 + speed * DT * i, speed + wiggle(i), wiggle(i)) for i in range(500)]
    for sensed in (rows, only(rows, 0), only(rows, 0, 1)):
        assert not resumed(sensed, DESCENDING, start=2.0)


@pytest.mark.parametrize(
    ('snapshot', 'problem'),
    [
        pytest.param(FLYING, '', id='sound'),
        pytest.param(replace(FLYING, liftoff=None), 'in flight without a liftoff', id='liftoff'),
        pytest.param(replace(FLYING, phase=Phase.RECOVERY), 'in recovery without an apogee',
                     id='apogee'),
        pytest.param(replace(FLYING, events=(EventRecord(3, 0, 1),)), 'events [3] of 3',
                     id='event'),
        pytest.param(replace(FLYING, events=(EventRecord(0, 0, 1),) * 2), 'events [0, 0] of 3',
                     id='event twice'),
        pytest.param(replace(FLYING, phase=Phase.PREFLIGHT), 'it is of no armed phase', id='safe'),
        pytest.param(replace(FLYING, phase=Phase.DEBUG), 'it is of no armed phase', id='debug'),
    ],
)
def test_only_a_sound_record_is_considered(snapshot, problem):
    assert state().offer(snapshot) == problem


def state(events=EVENTS, **params):
    return FlightState(
        FlightParams(**params), ApogeeDetector(ApogeeParams()), events, PYROS, keeps_flight=True
    )


def feed(flight, rows, start=1.0):
    """Feed samples from start [s] after the record; return all reports."""
    return [
        flight.update(Sample(NOW + round((start + DT * i) * S), *row)) for i, row in enumerate(rows)
    ]


def fired(reports):
    return [event.name for report in reports for event in report.events]


def test_flight_goes_on_with_its_times():
    flight = state()
    assert flight.offer(FLYING, heartbeat_age=2.0) == ''
    reports = feed(flight, [
        (900.0 + 10.0 * t - 4.9 * t * t, 10.0 - 9.8 * t, -9.8 + wiggle(i))
        for i, t in enumerate(np.arange(0.0, 2.5, DT))
    ], start=2.0)
    at = next(i for i, report in enumerate(reports) if report.phase is Phase.FLIGHT)
    assert at == pytest.approx(AT_ONCE / DT, abs=2)
    assert 'resuming' in reports[at - 1].flags
    assert 'resuming' not in reports[at].flags
    assert reports[at].notice == f'resumed in flight, {2.0 + at * DT:.2f} s after the record'
    (change,) = reports[at].phase_changes
    assert (change.source, change.target, change.trigger) == (
        Phase.PREFLIGHT, Phase.FLIGHT, 'resumed in flight'
    )
    assert reports[at].subphase is Subphase.COAST
    assert flight.liftoff == LIFTOFF
    # 8 s after liftoff is 3 s after the record.
    (late,) = [event for report in reports for event in report.events if event.name == 'late']
    assert late.stamp_ns == NOW + 3 * S


@pytest.mark.parametrize('step', [0.0, 5.0, 20.0, 300.0, 599.0, -100.0])
@pytest.mark.parametrize('rows', [
    pytest.param(fall(3000.0, -20.0, 10.0), id='falling'),
    pytest.param(climb(300.0, 50.0, 10.0), id='climbing'),
    pytest.param(only(fall(seconds=10.0), 2), id='by acceleration alone'),
])
def test_clock_that_another_boot_has_set_adds_no_flight_time(rows, step):
    """A clock set ahead by less than `resume_age` counted, and fired what waits for a time."""
    flight = state(max_ascent_time=12.0)
    # Off for 0.4 s, then booted for 0.6 s.
    flight.offer(FLYING, least_age=0.6)
    reports = feed(flight, rows, start=1.0 + step)
    elapsed = {
        event.name: 1.0 + DT * i
        for i, report in enumerate(reports) for event in report.events
    }
    # 8 s after a liftoff of 5 s before the record. How long it was off is unknown in a wrong time.
    changes = {change.trigger: i for i, r in enumerate(reports) for change in r.phase_changes}
    resumed_at = 1.0 + DT * changes['resumed in flight']
    assert 3.0 - DT <= elapsed['late'] <= max(3.0, resumed_at) + 0.4 + 2 * DT
    if 'timer' in changes:
        assert 1.0 + DT * changes['timer'] >= 7.0 - DT


def test_clock_that_is_a_little_ahead_after_a_boot_adds_that_and_nothing_in_a_climb():
    early = state()
    early.offer(FLYING, least_age=0.6)
    reports = feed(early, fall(3000.0, -20.0, 5.0), start=1.0 + 0.7)
    late = next(
        i for i, report in enumerate(reports) for event in report.events if event.name == 'late'
    )
    assert 1.0 + DT * late == pytest.approx(3.0 - 0.7, abs=2 * DT)
    climbing = state()
    climbing.offer(FLYING, least_age=0.6)
    reports = feed(climbing, climb(300.0, 50.0, 10.0), start=1.0 + 0.7)
    late = next(i for i, report in enumerate(reports) if report.events)
    assert 1.0 + DT * late >= 3.0


@pytest.mark.parametrize(('when', 'due'), [
    pytest.param(MoreThan('TimeSinceLiftoff', 0, 20e3), 15.0, id='liftoff'),
    pytest.param(MoreThan('TimeSinceEvent', 1, 10e3), 9.0, id='event'),
])
def test_a_charge_that_falls_due_in_a_climb_after_a_boot_counts_no_doubtful_time(when, due):
    """It acted early by all that the clock may have been set ahead, once that had passed."""
    timed = EventSpec(0, 'timed', when, (Action('deployment', 0, 1.0),))
    flight = state(events=(timed, EventSpec(1, 'burnout', MoreThan('TimeSinceLiftoff', 0, 0.0))))
    flight.offer(replace(FLYING, events=(EventRecord(1, S, 1),)), least_age=0.6)
    reports = feed(flight, climb(1000.0, 200.0, 20.0), start=1.0 + 3.0)
    acted = next(i for i, report in enumerate(reports) if report.events)
    # Off for 0.4 s, which is not known, then booted for 0.6 s.
    assert due <= 1.0 + DT * acted <= due + 0.4 + 2 * DT


def test_what_came_after_a_restart_is_in_no_doubt():
    doubt = Doubt(35 * S, 3 * S)
    assert [doubt.latest(at * S) for at in (30, 35, 36)] == [33 * S, 38 * S, 36 * S]


def test_an_engine_counts_by_the_clock_as_it_is():
    """Else it would act late by all that the power was off, where the clock is right."""
    due = MoreThan('TimeSinceLiftoff', 0, 17e3)
    flight = state(events=(EventSpec(0, 'stage', due, (Action('engine', 0, 1.0),)),))
    flight.offer(FLYING, least_age=0.6)
    reports = feed(flight, climb(1000.0, 200.0, 20.0), start=1.0 + 3.0)
    acted = next(i for i, report in enumerate(reports) if report.events)
    assert 1.0 + DT * acted == pytest.approx(12.0 - 3.0, abs=2 * DT)


@pytest.mark.parametrize('rows', [
    pytest.param(rest(50.0), id='barometer 50 m off'),
    pytest.param([*SETTLING, *rest()], id='four wild start-up readings'),
])
@pytest.mark.parametrize('start', [1.0, YESTERDAY], ids=['clock right', 'clock of the day before'])
def test_record_on_the_bench_fires_nothing(rows, start):
    flight = state()
    flight.offer(DESCENDING)
    reports = feed(flight, rows, start)
    assert fired(reports) == []
    assert flight.phase is Phase.PREFLIGHT
    assert 'is not resumed: the vehicle rests' in ''.join(report.notice for report in reports)


def test_home_is_not_set_while_a_flight_may_have_to_be_resumed():
    flight = state()
    flight.offer(FLYING)
    flight.update(Sample(NOW + S, 900.0, -10.0))
    reason = "'set_home' is refused: a recorded flight may have to be resumed"
    assert flight.command('set_home', NOW + S) == reason
    assert flight.is_resuming


@pytest.mark.parametrize('name', ['debug', 'launch'])
@pytest.mark.parametrize('later', [None, 0.0, 5.0], ids=['no sample', 'just now', 'none recently'])
def test_no_request_ends_a_flight_that_may_have_to_be_resumed(name, later):
    flight = state()
    flight.offer(FLYING)
    if later is not None:
        flight.update(Sample(NOW + S, 900.0, -10.0))
    reason = flight.command(name, NOW + round((1.0 + (later or 0.0)) * S))
    assert f"'{name}' is refused: " in reason
    assert (flight.phase, flight.is_resuming) == (Phase.PREFLIGHT, True)


def test_a_forced_command_comes_before_the_record():
    flight = state()
    flight.offer(FLYING)
    flight.update(Sample(NOW + S, 0.0, 0.0))
    assert flight.command('launch', NOW + S, force=True) == ''
    report = flight.update(Sample(NOW + S + 1, 0.1, 0.0))
    assert report.notice == 'the recorded flight, in flight, is not resumed: a command came first'
    assert flight.phase is Phase.LAUNCH
    assert flight.liftoff is None


def test_restart_on_the_pad_shortly_after_arming_is_armed_again():
    flight = state()
    flight.offer(ARMED, heartbeat_age=1.0)
    reports = feed(flight, rest(seconds=5.0))
    assert flight.phase is Phase.LAUNCH
    assert 'resumed in launch' in ''.join(report.notice for report in reports)
    # The clock went on while the process was away: 1 s, and 5 s since.
    assert flight.snapshot().clock_ns == pytest.approx(ARMED.clock_ns + 6 * S, abs=0.1 * S)


def test_restart_on_the_pad_later_refuses_loudly_until_something_is_requested():
    flight = state()
    flight.offer(ARMED)
    reports = feed(flight, rest(seconds=20.0))
    assert flight.phase is Phase.PREFLIGHT
    notices = [report.notice for report in reports if report.notice]
    assert notices == [
        'it was armed before the restart and is not armed now: the vehicle rests; request launch '
        'again'
    ]
    assert 'was_armed' in reports[-1].flags
    assert not flight.is_resuming
    assert flight.command('launch', reports[-1].stamp_ns) == ''
    assert 'was_armed' not in flight.update(Sample(NOW + 22 * S, 0.0)).flags


@pytest.mark.parametrize('start', [1.0, -100.0], ids=['clock right', 'clock set back'])
@pytest.mark.parametrize('pad_time', [0.0, 20.0], ids=['in the air', 'on the pad'])
def test_flight_after_a_restart_on_the_pad_is_not_ignored(pad_time, start):
    flight = state(max_ascent_time=30.0)
    flight.offer(ARMED)
    boost = [
        (15.0 * t * t + wiggle(i), 30.0 * t, 30.0 + wiggle(i))
        for i, t in enumerate(np.arange(0.0, 3.0, DT))
    ]
    coast = [
        (135.0 + 90.0 * t - 4.9 * t * t, 90.0 - 9.8 * t, -9.8 + wiggle(i))
        for i, t in enumerate(np.arange(0.0, 12.0, DT))
    ]
    reports = feed(flight, rest(seconds=pad_time) + boost + coast, start)
    words = [change.target for report in reports for change in report.phase_changes]
    assert words == [Phase.LAUNCH, Phase.FLIGHT, Phase.RECOVERY]
    assert 'main' in fired(reports)
    liftoff = (flight.liftoff.stamp_ns - reports[0].stamp_ns) / S - pad_time
    assert liftoff == pytest.approx(0.0, abs=1.5)


def test_backup_timer_goes_on_over_the_restart():
    flight = state(max_ascent_time=20.0)
    flight.offer(FLYING)
    reports = feed(flight, [(3000.0 + 100.0 * DT * i, NAN, NAN) for i in range(1000)])
    changes = [change for report in reports for change in report.phase_changes]
    assert [change.trigger for change in changes] == ['resumed in flight', 'timer']
    # It climbs, and how long it was off is by stamps alone: the timer waits for that long, and
    # three samples.
    assert (changes[1].stamp_ns - LIFTOFF.stamp_ns) / S == pytest.approx(21.06, abs=1e-6)


def test_essence_is_what_must_be_written_again():
    later = replace(FLYING, stamp_ns=NOW + S, clock_ns=36 * S)
    assert later.essence == FLYING.essence
    spent = replace(FLYING, events=(EventRecord(1, 5, 1),))
    assert spent.essence == replace(spent, events=(EventRecord(1, 9, 1),)).essence
    for changed in (
        replace(FLYING, is_burning=True), replace(FLYING, phase=Phase.RECOVERY), spent,
        replace(FLYING, liftoff=None), replace(FLYING, vertex=Vertex(1, 2.0)),
    ):
        assert changed.essence != FLYING.essence


@pytest.mark.parametrize(('held', 'speed', 'fires'), [
    pytest.param(0.0, -30.0, True, id='it falls'),
    pytest.param(0.9, -30.0, True, id='it falls, whatever was likely before'),
    pytest.param(0.9, 0.0, False, id='it had likely landed, and rests'),
])
def test_what_was_likely_before_a_restart_counts_until_falling_is_shown(held, speed, fires):
    """An altitude that was lost before a restart may be that of the ground after it."""
    main = EventSpec(
        2, 'main', MoreThan('Position', 2, -450.0), (Action('deployment', 1, 1.0),),
        phases=('recovery',),
    )
    flight = FlightState(
        FlightParams(), ApogeeDetector(ApogeeParams()), (*EVENTS[:2], main), PYROS,
        keeps_flight=True,
    )
    flight.offer(replace(DESCENDING, motion=Kept(held=held)), 0.5)
    reports = feed(flight, [(NAN, NAN, NAN)] * 140, start=0.5)
    assert reports[-1].phase is Phase.RECOVERY
    rows = [(h + wiggle(i), *more) for i, (h, *more) in enumerate(climb(90.0, speed, 2.0))]
    reports = feed(flight, rows, start=3.3)
    assert any(event.name == 'main' for report in reports for event in report.events) == fires


def test_clock_set_back_after_the_restart_is_still_the_same_flight():
    flight = state()
    flight.offer(FLYING)
    feed(flight, climb(900.0, 50.0, 2.5), start=3.0)
    assert flight.phase is Phase.FLIGHT
    # Resumed 3 s after the record; then the clock steps back to before the first sample since.
    reports = feed(flight, climb(950.0, 50.0, 1.0), start=1.0)
    assert reports[-1].phase is Phase.FLIGHT
    assert flight.liftoff == LIFTOFF


@pytest.mark.parametrize(('interval', 'seconds'), [(0.3, 1.2), (1.0, 3.0)])
def test_few_readings_of_a_slow_sensor_are_enough(interval, seconds):
    rows = [(400.0 + 40.0 * interval * i, 40.0 + 0.1 * (i % 2), NAN) for i in range(12)]
    found = first(rows, heartbeat=4.0, dt=interval)
    assert found is not None
    assert found[1] is Outcome.RESUME
    assert found[0] == pytest.approx(seconds, abs=interval + 1e-6)


@pytest.mark.parametrize(('push', 'end'), [
    # Hands that push for long in one way throw.
    pytest.param(lambda t: 6.0, 1.0, id='pushed for a second'),
    pytest.param(lambda t: 12.0 * math.sin(9.0 * t), 9.0, id='shaken for long'),
    pytest.param(lambda t: 6.0 if t % 1.5 < 0.8 else -6.0, 9.0, id='moved to and fro'),
])
@pytest.mark.parametrize('seed', range(3))
def test_force_of_hands_shows_no_flight_while_a_height_settles(seed, push, end):
    """Any force off 1 g ended the wait, and a vehicle on a bench was resumed in flight."""
    rng = np.random.default_rng(seed)
    offset, tau = rng.uniform(100.0, 900.0), rng.uniform(1.0, 2.5)
    rows = [
        (offset * math.exp(-t / tau) + rng.normal(0.0, 0.3), NAN,
         (push(t) if 0.2 < t < end else 0.0) + rng.normal(0.0, 0.05))
        for t in np.arange(0.0, 9.0, DT)
    ]
    assert not resumed(rows, booted=20.0, start=21.0)


@pytest.mark.parametrize('sensors', [(0,), (0, 2)], ids=['barometer', 'both'])
def test_noise_of_a_height_that_settles_hardly_ever_shows_a_flight(sensors):
    """With a noise above 1 m a free motion explained it better in a third of such restarts."""
    rng, wrong = np.random.default_rng(2), 0
    for _ in range(20):
        offset, tau, sigma = rng.uniform(100.0, 900.0), rng.uniform(0.5, 2.5), rng.uniform(1.0, 4.0)
        wrong += resumed(only([
            (offset * math.exp(-t / tau) + rng.normal(0.0, sigma), NAN, rng.normal(0.0, 0.05))
            for t in np.arange(0.0, 6.0, 0.05)
        ], *sensors), booted=20.0, start=21.0, dt=0.05)
    assert wrong <= 1
