# SPDX-License-Identifier: Apache-2.0
"""Faults are pure functions of a generator, a stream and a moment."""
from __future__ import annotations

import numpy as np
import pytest

from propulsion_ros.study.draws import variable_of
from propulsion_ros.study.ground.sensors import FAULTS, Stream

AT = 5.0
WIDTHS = {'pressure': 1, 'fix': 1, 'odometry': 2, 'imu': 6}
EVERY = [(name, source) for name, fault in FAULTS.items() for source in fault.sources]


def stream_of(source):
    time = np.arange(0.0, 20.0, 0.05)
    values = np.random.default_rng(2).normal(0.0, 0.1, (len(time), WIDTHS[source]))
    return Stream(time, time + 0.001, values)


def spoilt(name, source, **given):
    fault = FAULTS[name]
    drawn = {key: variable_of(key, each).draw(7, 0) for key, each in fault.vary.items()}
    return fault.spoil(np.random.default_rng(1), stream_of(source), AT, {**drawn, **given})


@pytest.mark.parametrize(('name', 'source'), EVERY)
def test_it_spoils_a_copy_and_nothing_before_its_moment(name, source):
    before = stream_of(source)
    first, again = spoilt(name, source), spoilt(name, source)
    for part in ('stamp', 'arrival', 'values'):
        np.testing.assert_array_equal(getattr(first, part), getattr(again, part))
    if name in ('interleaved', 'settling'):
        return
    rows = first.arrival < AT
    np.testing.assert_array_equal(first.values[rows], before.values[before.arrival < AT])
    np.testing.assert_array_equal(first.stamp[rows], before.stamp[before.arrival < AT])


@pytest.mark.parametrize(('name', 'given', 'at', 'expected'), [
    ('step', {'size': 30.0}, 15.0, 30.0),
    ('ramp', {'slope': 12.0, 'length': 8.0}, 7.0, 24.0),
    ('ramp', {'slope': 12.0, 'length': 8.0}, 15.0, 96.0),
    ('pulse', {'size': -400.0, 'length': 0.3}, 5.1, -400.0),
    ('pulse', {'size': -400.0, 'length': 0.3}, 6.0, 0.0),
    ('blocked', {'length': 30.0}, 15.0, 0.0),
])
def test_how_far_it_moves_the_height(name, given, at, expected):
    stream = spoilt(name, 'pressure', **given)
    row = np.searchsorted(stream.arrival, at)
    assert stream.values[row, 0] == pytest.approx(expected, abs=1.0)


def test_what_is_patchy_comes_and_goes():
    stream = spoilt('patchy', 'pressure', first=6.0, on=1.0, off=2.0)
    kept = [(float(a), float(b)) for a, b in ((4.0, 5.0), (5.1, 10.9), (11.1, 11.9), (12.1, 13.9))]
    counts = [((stream.arrival > a) & (stream.arrival < b)).sum() for a, b in kept]
    assert [count > 0 for count in counts] == [True, False, True, False]


def test_what_is_late_keeps_its_stamps():
    stream = spoilt('late', 'imu', length=2.0)
    assert (stream.arrival - stream.stamp).max() == pytest.approx(2.0, abs=0.1)
    assert (np.diff(stream.stamp) > 0.0).all()
