# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from propulsion_ros.timing.flight_clock import FlightTime, Stamp

S = 1_000_000_000
MS = 1_000_000


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


def test_without_steady_time_stamps_alone_count():
    time = FlightTime(2.0)
    for i in range(100):
        time.advance(i * S, None, may_restart=True)
    assert time.now_ns == 99 * S


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


@given(
    st.lists(st.tuples(st.floats(-200.0, 200.0), st.floats(0.0, 5.0), st.booleans()), max_size=60)
)
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


def test_random_stamps_and_steady_time():
    rng = np.random.default_rng(3)
    fed = Fed().feed(2, 0.02, 0.02)
    fed.time.anchor()
    anchor = fed.rows[-1]
    for _ in range(5000):
        fed.feed(1, rng.choice([0.0, 0.02, 0.5, 1.9, -0.3, 50.0, -50.0]), rng.exponential(0.02))
    flight, steady = gained([anchor, fed.rows[-1]])
    assert flight <= steady + 0.1
