# SPDX-License-Identifier: Apache-2.0
"""Clocks are judged by the fastest of the latest messages."""
import pytest

from propulsion_ros.loops.flight.sensor_clocks import ClockOffsets

S = 1_000_000_000


def noted(*offsets, every=0.1):
    """Return clocks after messages at a steady rate, each with an offset [s] of its stamp."""
    clocks = ClockOffsets()
    for i, offset in enumerate(offsets):
        now_ns = round(i * every * S)
        clocks.note('imu', 50 * S + now_ns + round(offset * S), 50 * S + now_ns, 5 * S + now_ns)
    return clocks


def test_the_message_that_came_fastest_counts():
    assert not noted(-0.9, -0.01, -0.9).problem


@pytest.mark.parametrize(('offset', 'words'), [
    (-0.3, "the clock of imu is 0.300 s behind this computer's"),
    (0.2, "the clock of imu is 0.200 s ahead of this computer's"),
])
def test_clock_that_is_off_is_named(offset, words):
    assert noted(offset, offset).problem == words


def test_what_was_fast_longer_than_a_second_ago_is_forgotten():
    assert not noted(-0.01, *[-0.5] * 9).problem
    assert '0.500 s behind' in noted(-0.01, *[-0.5] * 15).problem
