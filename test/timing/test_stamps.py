# SPDX-License-Identifier: Apache-2.0
"""The judge of stamps: its rules, its properties, and the limits that its users set."""
import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from propulsion_ros.flight.estimation.estimator import _STAMPS as ESTIMATOR
from propulsion_ros.loops.visualizer_loop import _STAMPS as PACE
from propulsion_ros.timing.stamps import Arrival, StampJudge, StampLimits

MS = 1_000_000
S = 1000 * MS
FLIGHT = StampLimits(behind_ns=499_999_999, ahead_ns=2 * S, agreeing=2, agree_ns=2 * S)
DETECTOR = StampLimits(agreeing=3, gap_ns=1500 * MS)
INPUTS = StampLimits(behind_ns=1 * S, ahead_ns=10 * S, agreeing=2, agree_ns=10 * S)
CLOCK = dataclasses.replace(INPUTS, agreeing=1)
USERS = {
    'flight clock': FLIGHT, 'detector': DETECTOR, 'inputs': INPUTS, 'clock': CLOCK,
    'estimator': ESTIMATOR, 'pace': PACE,
}
SENSOR = StampLimits(
    behind_ns=200 * MS, ahead_ns=100 * MS, agreeing=None, agree_ns=2 * S, drifts=True,
    reanchor_ns=500 * MS,
)
"""As a sensor is judged against a clock."""
_WORDS = {
    'f': Arrival.FIRST, 'n': Arrival.NEXT, 'g': Arrival.GAP, 'd': Arrival.DUPLICATE,
    'l': Arrival.LATE, 's': Arrival.STRAY, 'b': Arrival.JUMP_BACK, 'a': Arrival.JUMP_AHEAD,
    'r': Arrival.REANCHORED,
}
_LETTERS = {arrival: letter for letter, arrival in _WORDS.items()}


def word(limits, *seconds):
    """Return the verdicts on stamps [s], one letter each."""
    judge = StampJudge(limits)
    return ''.join(_LETTERS[judge.take(round(t * S))] for t in seconds)


@pytest.mark.parametrize(('limits', 'seconds', 'expected'), [
    pytest.param(FLIGHT, (5, 6, 5.5), 'fns', id='half a second is another time'),
    pytest.param(FLIGHT, (5, 0, 5.5, 0.1), 'fsns', id='the present time goes on in between'),
    pytest.param(FLIGHT, (5, 6, 0, 5.9, 0.1), 'fnsls', id='late is of the present time too'),
    pytest.param(FLIGHT, (5, 6, 0, 4, 4.1), 'fnssb', id='two strays that do not agree'),
    pytest.param(FLIGHT, (5, 6, 0.1, 0, 0.2), 'fnssb', id='strays in falling order'),
    pytest.param(DETECTOR, (0, 0.1, 0.2, 0.3), 'fnnn', id='regular'),
    pytest.param(DETECTOR, (0, 1, 2, 3), 'fnnn', id='slow sensor has no gaps'),
    pytest.param(DETECTOR, (0, 2, 4, 6), 'fnnn', id='nor has one slower than the limit'),
    pytest.param(DETECTOR, (0, 0.1, 0.2, 3.0, 3.1), 'fnngn', id='gap'),
    pytest.param(DETECTOR, (0, 0.1, 0.2, 1.2, 1.3), 'fnnnn', id='short gap'),
    pytest.param(DETECTOR, (0, 0.1, 3.1, 6.1), 'fngn', id='rate change is one gap'),
    pytest.param(DETECTOR, (0, 0.1, 0.1, 0.1, 0.1, 0.2), 'fndddn', id='repeated'),
    pytest.param(DETECTOR, (0, 0.1, 0.2, 0.15, 0.3), 'fnnsn', id='single older'),
    pytest.param(
        DETECTOR, (0, 0.1, 0.2, 0.15, 0.12, 0.11, 0.3), 'fnnsssn', id='older in falling order'
    ),
    pytest.param(DETECTOR, (10, 10.1, 7.2, 7.3, 7.4, 7.5), 'fnssbn', id='clock set back'),
    pytest.param(
        DETECTOR, (0, 0.1, 900, 0.2, 0.3, 0.4, 0.5), 'fngssbn', id='a future that is undone'
    ),
    pytest.param(FLIGHT, (0, -5, 0, -4.9), 'fsdb', id='a repeated stamp between two strays'),
    pytest.param(DETECTOR, (0, -5, -5, -5), 'fssb', id='a stray that is repeated'),
    pytest.param(ESTIMATOR, (5, 4), 'fl', id='another sensor is a second behind'),
    pytest.param(ESTIMATOR, (5, 3.9), 'fs', id='and more'),
    pytest.param(ESTIMATOR, (5, 35), 'fn', id='half a minute ahead'),
    pytest.param(ESTIMATOR, (5, 100, 5.1, 100), 'fsns', id='estimator: goes on'),
    pytest.param(ESTIMATOR, (5, 100, 100.5, 101), 'fsan', id='estimator: ahead'),
    pytest.param(ESTIMATOR, (5, 1, 2.1), 'fss', id='estimator: strays too far apart'),
    pytest.param(CLOCK, (5, 0, 0.1), 'fbn', id='a clock is believed at once'),
    pytest.param(PACE, (5, 4, 3.999, 1e9), 'flbn', id='pictures'),
])
def test_verdicts(limits, seconds, expected):
    assert word(limits, *seconds) == expected


# Sources that follow a leading one.


def follow(limits, *pairs):
    """Return the verdicts on (stamp, newest of the leader) [s], one letter each."""
    judge = StampJudge(limits)
    return ''.join(_LETTERS[judge.follow(round(t * S), round(lead * S))] for t, lead in pairs)


@pytest.mark.parametrize(('pairs', 'expected'), [
    pytest.param([(5, 5), (6, 6), (6, 6.5), (5.8, 6.6)], 'fndl', id='in order'),
    pytest.param([(16, 5)], 's', id='first'),
    pytest.param([(5, 5), (16, 5.1), (16.1, 5.2), (16.2, 5.3)], 'fsss', id='makes no jump'),
    pytest.param([(5, 5), (5.2, 100)], 'fs', id='its own past counts for nothing'),
    pytest.param([(5, 5), (100, 100), (101, 101)], 'fnn', id='silent for long'),
    pytest.param([(50, 50), (5, 5), (6, 6)], 'fbn', id='goes back with the leader at once'),
    pytest.param([(5, 5), (-1, 5), (5.1, 5.1)], 'fsn', id='one stray'),
])
def test_a_leader_decides_what_the_present_time_is(pairs, expected):
    assert follow(INPUTS, *pairs) == expected


@pytest.mark.parametrize(('present', 'expected'), [(None, 'f'), (4, 'f'), (16, 's'), (-6, 's')])
def test_the_first_stamp_is_held_against_the_present_time_where_there_is_one(present, expected):
    judge = StampJudge(INPUTS)
    present_ns = None if present is None else present * S
    assert _LETTERS[judge.take(5 * S, present_ns)] == expected


def test_first_stamps_that_agree_make_a_jump_from_the_present_time():
    judge = StampJudge(INPUTS)
    assert [judge.take(t * S, 100 * S) for t in (5, 6)] == [Arrival.STRAY, Arrival.JUMP_BACK]
    assert (judge.from_ns, judge.to_ns, judge.newest_ns) == (100 * S, 5 * S, 6 * S)


# What a judge knows beside its verdicts.


def test_shift_moves_old_stamps_to_the_new_clock():
    judge = StampJudge(DETECTOR)
    for seconds in (10.0, 10.1, 10.2, 7.3, 7.4, 7.5):
        arrival = judge.take(round(seconds * 1e9))
    assert arrival is Arrival.JUMP_BACK
    assert judge.shift_ns == pytest.approx(-3e9, abs=1)
    assert (judge.from_ns, judge.to_ns) == (10_200 * MS, 7_300 * MS)


def test_silence():
    judge = StampJudge(StampLimits(silent_ns=1 * S))
    assert not judge.is_silent(100 * S)
    judge.take(5 * S)
    assert [judge.is_silent(t * S) for t in (4, 6)] == [False, False]
    assert judge.is_silent(6 * S + 1)


def test_after_a_reset_comes_a_first_stamp_and_after_a_begin_the_next_one():
    judge = StampJudge(FLIGHT)
    for t in (5, 6, 0):
        judge.take(t * S)
    judge.reset()
    assert judge.take(1 * S) is Arrival.FIRST
    judge.begin(5 * S)
    assert judge.take(6 * S) is Arrival.NEXT


def test_a_forgotten_stray_agrees_with_none():
    judge = StampJudge(FLIGHT)
    for t in (50, 0):
        judge.take(t * S)
    judge.forget_strays()
    assert [judge.take(t * S) for t in (1, 2)] == [Arrival.STRAY, Arrival.JUMP_BACK]


# Re-anchoring.


def steady(judge, offset_ms, count=80, start_ms=100_000, period_ms=20):
    """Return the verdicts on a sensor whose clock is off by a steady amount."""
    return ''.join(
        _LETTERS[judge.follow((t + offset_ms) * MS, t * MS)]
        for t in range(start_ms, start_ms + count * period_ms, period_ms)
    )


@pytest.mark.parametrize('offset_ms', [150, -250, 10_000, -10_000, 10**9])
def test_a_sensor_at_a_steady_distance_is_anchored_anew_after_half_a_second(offset_ms):
    judge = StampJudge(SENSOR)
    assert steady(judge, offset_ms) == 's' * 25 + 'r' + 'n' * 54
    assert judge.offset_ns == offset_ms * MS


def test_a_sensor_whose_clock_is_set_right_is_believed_at_once():
    judge = StampJudge(SENSOR)
    steady(judge, 10_000)
    assert steady(judge, 0, 20, start_ms=102_000) == 'r' + 'n' * 19
    assert judge.offset_ns == 0


@pytest.mark.parametrize(('stamp', 'leader', 'expected'), [
    pytest.param(lambda t: 10.0 + 3.0 * t, lambda t: t, 's' * 300, id='another rate'),
    pytest.param(lambda t: t + 5.0, lambda t: (t + 0.7) // 1.0, 's' * 50 + 'r' + 'n' * 249,
                 id='a slow leader takes longer'),
    pytest.param(lambda t: t + 5.0, lambda t: 0.0, 's' * 25 + 'r' + 'n' * 274,
                 id='a silent leader counts for nothing'),
])
def test_when_a_sensor_is_steady_beside_its_leader(stamp, leader, expected):
    assert follow(SENSOR, *((stamp(0.02 * i), leader(0.02 * i)) for i in range(300))) == expected


def test_a_source_may_drift_away_from_its_leader_where_it_may():
    stays = dataclasses.replace(SENSOR, drifts=False, reanchor_ns=None)
    drifts = dataclasses.replace(SENSOR, reanchor_ns=None)
    pairs = [(0.055 * i, 0.05 * i) for i in range(41)]
    assert follow(stays, *pairs) == 'f' + 'n' * 20 + 's' * 20
    assert follow(drifts, *pairs) == 'f' + 'n' * 40


def test_a_sensor_that_stays_late_by_its_own_stamps_is_anchored_anew():
    limits = StampLimits(behind_ns=1 * S, ahead_ns=2 * S, agree_ns=2 * S, reanchor_ns=500 * MS)
    judge = StampJudge(limits)
    judge.take(10 * S)
    verdicts = [judge.take(round((9.1 + 0.1 * i) * S)) for i in range(8)]
    assert verdicts == [Arrival.LATE] * 5 + [Arrival.REANCHORED] + [Arrival.NEXT] * 2


@pytest.mark.parametrize(('lag', 'until', 'offset'), [
    pytest.param(150, 5000, 0, id='of use'),
    pytest.param(300, 400, 0, id='for a moment'),
    pytest.param(300, 5000, -300, id='steadily'),
    pytest.param(900, 5000, -900, id='steadily and far'),
    pytest.param(900, 2000, 0, id='until its leader comes back'),
])
def test_a_source_that_goes_on_too_far_behind_its_leader_is_anchored_anew(lag, until, offset):
    """What its user took for too old was accepted, and used no more, for good."""
    limits = StampLimits(
        behind_ns=1 * S, ahead_ns=1 * S, agreeing=None, drifts=True, lag_ns=200 * MS,
        reanchor_ns=500 * MS,
    )
    judge = StampJudge(limits)
    used, anchored = [], 0
    for t in range(0, 4000, 20):
        ahead = lag if 1000 <= t < until else 0
        arrival = judge.follow(t * MS, (t + ahead) * MS)
        anchored += arrival is Arrival.REANCHORED
        assert arrival.advances
        used.append(abs(t - (t + ahead) - judge.offset_ns // MS) <= 200)
    assert judge.offset_ns == offset * MS
    assert sum(not each for each in used) * 20 <= 500 * anchored + 400


def test_a_source_beside_a_silent_leader_stays_where_it_is():
    limits = dataclasses.replace(SENSOR, lag_ns=200 * MS, behind_ns=1 * S, ahead_ns=1 * S)
    judge = StampJudge(limits)
    leaders = [*range(0, 1000, 20), *[2000] * 100]
    for t, leader in zip(range(0, 3000, 20), leaders, strict=True):
        judge.follow(t * MS, leader * MS)
    assert judge.offset_ns == 0


# Properties.

stamps = st.lists(st.one_of(
    st.integers(-40, 40).map(lambda t: t * S),
    st.integers(-4000, 4000).map(lambda t: t * MS),
    st.integers(-(2**62), 2**62),
), max_size=60)
bounds = st.none() | st.sampled_from([0, 1, 100 * MS, 500 * MS, 1 * S, 10 * S])
any_limits = st.builds(
    StampLimits, behind_ns=bounds, ahead_ns=bounds, agreeing=st.none() | st.integers(1, 5),
    agree_ns=bounds, gap_ns=bounds, lag_ns=bounds,
    reanchor_ns=st.none() | st.sampled_from([1, 500 * MS]),
)
some_limits = st.sampled_from([*USERS.values(), SENSOR]) | any_limits


def check_epochs(arrivals):
    """Check that (stamp, verdict) never go back within one time."""
    newest_ns = None
    for stamp_ns, arrival, after_ns in arrivals:
        if arrival.advances:
            starts = arrival.is_jump or arrival is Arrival.FIRST
            assert starts or stamp_ns > newest_ns
            assert (newest_ns is None) <= starts
            newest_ns = stamp_ns
        assert after_ns == newest_ns


@given(some_limits, stamps)
def test_accepted_stamps_never_go_back_within_one_time(limits, found):
    judge = StampJudge(limits)
    check_epochs([(t, judge.take(t), judge.newest_ns) for t in found])


@given(some_limits, st.lists(st.tuples(st.integers(-40, 40), st.integers(-40, 40)), max_size=60))
def test_so_it_is_with_a_leader(limits, found):
    judge = StampJudge(limits)
    check_epochs([
        (t * S // 4, judge.follow(t * S // 4, lead * S), judge.newest_ns) for t, lead in found
    ])


def refused(arrivals):
    """Return after how many verdicts all that follow advance."""
    return max((i + 1 for i, arrival in enumerate(arrivals) if not arrival.advances), default=0)


@given(
    st.sampled_from(list(USERS.values())), stamps, st.integers(-(2**62), 2**62),
    st.integers(1, 1000),
)
def test_after_any_disturbance_a_steady_source_is_accepted_again(limits, found, start_ns, ms):
    judge = StampJudge(limits)
    for stamp_ns in found:
        judge.take(stamp_ns)
    late = limits.behind_ns // (ms * MS) + 1
    count = limits.agreeing + late + 2
    assert refused(judge.take(start_ns + i * ms * MS) for i in range(count + 50)) <= count


@given(stamps, st.integers(-(2**60), 2**60), st.integers(-(2**60), 2**60), st.integers(1, 200))
def test_after_any_disturbance_a_steady_sensor_is_anchored_anew(found, start_ns, offset_ns, ms):
    judge = StampJudge(SENSOR)
    for stamp_ns in found:
        judge.follow(stamp_ns, 0)
    # Half a second; more where the disturbance looked like the beginning, or its time still fits.
    count = 3 * (500 // ms + 2)
    assert refused(
        judge.follow(start_ns + offset_ns + i * ms * MS, start_ns + i * ms * MS)
        for i in range(count + 50)
    ) <= count


@given(st.sampled_from([FLIGHT, INPUTS, ESTIMATOR]), st.data())
def test_one_stamp_of_another_time_changes_nothing(limits, data):
    regular = [i * 10 * MS for i in range(40)]
    place = data.draw(st.integers(1, 39))
    wild = data.draw(st.integers(-(2**62), 2**62))
    if limits.is_near(regular[place - 1], wild):
        return
    judge = StampJudge(limits)
    found = [judge.take(t) for t in (*regular[:place], wild, *regular[place:])]
    assert found.pop(place) is Arrival.STRAY
    assert found == [Arrival.FIRST, *[Arrival.NEXT] * 39]
