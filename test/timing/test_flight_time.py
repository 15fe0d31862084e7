# SPDX-License-Identifier: Apache-2.0
import pytest
from hypothesis import given
from hypothesis import strategies as st

from propulsion_ros.timing.flight_clock import FlightTime, SampleTime, Stamp

S = 1_000_000_000
MS = 1_000_000


def taken(time, *stamps, may_restart=False):
    """Return the first letter of the verdict on each stamp [s] of a sample, by stamps alone."""
    return ''.join(
        time.advance(round(t * S), None, may_restart=may_restart).value[0] for t in stamps
    )


def silent(time, *stamps):
    for t in stamps:
        verdict = time.advance(round(t * S), None, may_restart=False, is_silence=True)
        assert verdict is Stamp.ACCEPTED


@pytest.mark.parametrize(('stamps', 'verdicts', 'times'), [
    pytest.param((5, 6, 6), 'aad', (0, 1, 1), id='twice'),
    pytest.param((5, 6, 5.6), 'aal', (0, 1, 1), id='late'),
    pytest.param((5, 6, 900, 7), 'aasa', (0, 1, 1, 2), id='one stamp from the far future'),
    pytest.param((5, 6, 20, 21, 22), 'aasja', (0, 1, 1, 3, 4),
                 id='forward jump counts for the longest step'),
    pytest.param((5, 9, 9.5, 10), 'asja', (0, 0, 2, 2.5), id='gap of 4 s'),
    pytest.param((1, 2, 0, 0.1, 0.2), 'aasra', (0, 1, 1, 0, 0.1), id='time starts again'),
])
def test_stamps(stamps, verdicts, times):
    time = FlightTime(2.0)
    got = [(taken(time, t, may_restart=True), time.now_ns / S) for t in stamps]
    assert ''.join(verdict for verdict, _ in got) == verdicts
    assert [now for _, now in got] == pytest.approx(times)


@pytest.mark.parametrize(('stamps', 'verdicts', 'now'), [
    pytest.param((6.5, 6.6, 6.7), 'sja', 3.2, id='within the flight'),
    pytest.param((5.5, 5.6), 'sr', 0.0, id='before it'),
])
def test_backward_jump_goes_on_in_the_flight_and_before_it_is_a_new_beginning(
    stamps, verdicts, now
):
    time = FlightTime(2.0)
    taken(time, 5, 6)
    time.begin_flight()
    taken(time, 7, 8)
    assert taken(time, *stamps, may_restart=True) == verdicts
    assert time.now_ns / S == pytest.approx(now)


@given(st.lists(st.integers(-(10**10), 10**12), max_size=60))
def test_without_steady_time_it_never_runs_backward_nor_leaps(stamps):
    time = FlightTime(2.0)
    for stamp in stamps:
        before = time.now_ns
        if time.advance(stamp, None, may_restart=True) is not Stamp.RESTARTED:
            assert 0 <= time.now_ns - before <= 2 * S
    assert sum(time.counts.values()) == len(stamps)


@pytest.mark.parametrize(('back', 'verdicts'), [
    pytest.param((10.7, 10.8), 'aa', id='a little behind the silence'),
    pytest.param((11.2, 11.3), 'aa', id='ahead of it'),
    pytest.param((10.0, 10.0), 'dd', id='stuck'),
    pytest.param((5.0, 5.1), 'sj', id='set back'),
])
def test_sample_is_judged_by_the_one_before_the_silence(back, verdicts):
    time = FlightTime(2.0, reanchors=True)
    taken(time, 9.9, 10.0)
    silent(time, 10.5, 10.8, 11.0)
    assert time.now_ns == pytest.approx(1.1 * S)
    before = time.now_ns
    assert taken(time, *back) == verdicts
    assert 0 <= time.now_ns - before <= 0.3 * S


def test_sample_after_a_long_silence_is_the_next_and_time_does_not_count_twice():
    time = FlightTime(2.0, reanchors=True)
    taken(time, 9.0, 10.0)
    silent(time, *(10.0 + 0.5 * i for i in range(1, 21)))
    assert time.now_ns == pytest.approx(11.0 * S)
    assert taken(time, 19.9, 20.1) == 'aa'
    assert time.now_ns == pytest.approx(11.1 * S, abs=0.11 * S)


def test_stamps_that_stay_late_are_believed_on_a_robot():
    time = FlightTime(2.0, reanchors=True)
    taken(time, 9.9, 10.0)
    verdicts = taken(time, *(9.7 + 0.02 * i for i in range(40)))
    assert verdicts.count('j') + verdicts.count('a') >= 14
    assert verdicts[-1] == 'a'


# Beside a steady clock.


class Fed:
    """A flight time, and the steady time and flight time at each sample."""

    def __init__(self):
        self.time = FlightTime(2.0)
        self.steady_ns, self.stamp_ns = 0, 1000 * S
        self.rows = []

    def feed(self, count, stamp_step, steady_step):
        """Feed samples with steps in seconds."""
        for _ in range(count):
            self.steady_ns += round(steady_step * S)
            self.stamp_ns += round(stamp_step * S)
            self.time.advance(self.stamp_ns, self.steady_ns, may_restart=False)
            self.rows.append((self.steady_ns, self.time.now_ns))
        return self


def gained(rows):
    """Return how far flight time and steady time went [s]."""
    (steady_0, flight_0), (steady_1, flight_1) = rows[0], rows[-1]
    return (flight_1 - flight_0) / S, (steady_1 - steady_0) / S


def test_bursts_and_stalls_lose_nothing():
    fed = Fed()
    for _ in range(50):
        fed.feed(1, 0.02, 0.5).feed(24, 0.02, 0.0)
    flight, steady = gained(fed.rows)
    assert flight == pytest.approx(steady, abs=0.5)


def test_time_restarts_where_it_may():
    time = FlightTime(2.0)
    for i in range(10):
        time.advance(100 * S + i * S, i * S, may_restart=True)
    time.begin_flight()
    verdicts = [time.advance(k * 20 * MS, 10 * S + k, may_restart=True) for k in range(3)]
    assert verdicts == [Stamp.STRAY, Stamp.RESTARTED, Stamp.ACCEPTED]
    assert time.now_ns <= 20 * MS


def test_a_flight_goes_on_from_its_record():
    fed = Fed().feed(3, 0.02, 0.02)
    fed.time.resume(50 * S, 900 * S)
    assert fed.time.now_ns == 50 * S
    fed.feed(50, 0.02, 0.02)
    assert fed.time.now_ns == 51 * S


STEPS = st.floats(-200.0, 200.0) | st.sampled_from([0.0, 0.02, 0.5, 1.9, -0.3, 50.0, -50.0])


@given(st.lists(st.tuples(STEPS, st.floats(0.0, 5.0), st.booleans()), max_size=60))
def test_never_backward_and_never_faster_than_steady_time_since_an_anchor(rows):
    fed = Fed()
    fed.feed(1, 0.02, 0.02)
    fed.time.anchor()
    anchor = fed.rows[-1]
    for stamp_step, steady_step, anchors in rows:
        before = fed.time.now_ns
        fed.feed(2, stamp_step, steady_step)
        assert fed.time.now_ns >= before
        flight, steady = gained([anchor, fed.rows[-1]])
        assert flight <= steady + 0.1 + 1e-6
        if anchors:
            fed.time.anchor()
            anchor = fed.rows[-1]


# The time of samples, and of silence.


def test_silence_is_counted_on_the_steady_clock_since_the_last_sample():
    time = SampleTime()
    time.take(7 * S, 103 * S)
    assert (time.stamp_ns, time.silence_ns(104 * S), time.now_ns(104 * S)) == (7 * S, S, 8 * S)
    time.go_on(8 * S)
    # What passed without a sample ends no silence.
    assert (time.stamp_ns, time.silence_ns(105 * S), time.now_ns(105 * S)) == (8 * S, 2 * S, 9 * S)
    time.reset(105 * S)
    assert (time.stamp_ns, time.silence_ns(106 * S)) == (0, S)
