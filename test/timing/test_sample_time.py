# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from propulsion_ros.timing.flight_clock import SampleTime

S = 1_000_000_000


def test_silence_is_counted_on_the_steady_clock_since_the_last_sample():
    time = SampleTime(100 * S)
    time.take(7 * S, 103 * S)
    assert (time.stamp_ns, time.silence_ns(104 * S), time.now_ns(104 * S)) == (7 * S, S, 8 * S)
    time.go_on(8 * S)
    # What passed without a sample ends no silence.
    assert (time.stamp_ns, time.silence_ns(105 * S), time.now_ns(105 * S)) == (8 * S, 2 * S, 9 * S)
    time.take(9 * S, 105 * S)
    assert time.silence_ns(105 * S) == 0


def test_reset_begins_at_stamp_0():
    time = SampleTime()
    time.take(7 * S, 3 * S)
    time.reset(5 * S)
    assert (time.stamp_ns, time.silence_ns(6 * S)) == (0, S)
