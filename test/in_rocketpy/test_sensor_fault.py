# SPDX-License-Identifier: Apache-2.0
"""Faults by name on readings that come in pieces: the same as on all of them at once."""
from __future__ import annotations

import numpy as np
import pytest

from propulsion_ros.rocketpy import SensorFault
from propulsion_ros.rocketpy.sensors import KINDS, Spoiler
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.study.draws import generator
from propulsion_ros.study.ground.sensors import FAULTS, IMU, PRESSURE, Stream

TIME = np.arange(0.0, 20.0, 0.05)
RANDOM = ('spikes', 'noisy', 'blocked', 'shows a force', 'zeros after a force', 'zeros')
"""Faults with noise of their own, of which another part is drawn in pieces."""


def values(source):
    columns = 6 if source == IMU else 1
    return np.stack([np.sin(TIME + k) * 10.0 + k for k in range(columns)], axis=1)


def in_pieces(fault, source, sizes):
    spoiler, found, begin = Spoiler(fault), [], 0
    for size in sizes:
        rows = slice(begin, min(begin + size, len(TIME)))
        begin = rows.stop
        if rows.start < rows.stop:
            found += spoiler.pass_on(TIME[rows], values(source)[rows])
    return found


def source_of(kind):
    return PRESSURE if PRESSURE in FAULTS[kind].sources else FAULTS[kind].sources[0]


@pytest.mark.parametrize('kind', [each for each in KINDS if each not in RANDOM])
@pytest.mark.parametrize('seed', [0, 1, 2])
def test_pieces_are_spoilt_as_the_whole(kind, seed):
    source, fault = source_of(kind), SensorFault(kind, 7.03, seed=seed)
    drawn = Spoiler(fault)._drawn
    whole = FAULTS[kind].spoil(
        generator(seed, 0, kind), Stream(TIME, TIME, values(source)), 7.03, drawn
    )
    sizes = np.random.default_rng(seed).integers(1, 9, 400).tolist()
    found = in_pieces(fault, source, sizes)
    come = whole.kept(whole.arrival <= TIME[-1])
    assert len(found) == len(come.arrival)
    np.testing.assert_allclose([each.stamp for each in found], come.stamp, atol=1e-9)
    np.testing.assert_allclose([each.arrival for each in found], come.arrival, atol=1e-9)
    np.testing.assert_allclose([each.values for each in found], come.values, atol=1e-9)


@pytest.mark.parametrize('kind', RANDOM)
def test_noise_of_a_fault_begins_with_it_and_is_that_of_its_seed(kind):
    source = source_of(kind)
    found = in_pieces(SensorFault(kind, 7.0, seed=3), source, [5] * 80)
    rows = np.array([each.values for each in found])
    before = TIME < 7.0
    np.testing.assert_allclose(rows[before], values(source)[before], atol=1e-12)
    assert (rows[~before] != values(source)[~before]).any()
    again = in_pieces(SensorFault(kind, 7.0, seed=3), source, [5] * 80)
    assert again == found
    other = in_pieces(SensorFault(kind, 7.0, seed=4), source, [5] * 80)
    assert other != found


def test_what_is_given_is_not_drawn():
    found = in_pieces(SensorFault('step', 10.0, {'size': 123.0}), PRESSURE, [1] * 400)
    moved = np.array([each.values[0] for each in found]) - values(PRESSURE)[:, 0]
    np.testing.assert_allclose(moved, np.where(TIME >= 10.0, 123.0, 0.0), atol=1e-9)


@pytest.mark.parametrize(('kind', 'given', 'problem'), [
    ('stuk', {}, "fault: unknown 'stuk', did you mean 'stuck'"),
    ('interleaved', {}, "fault: unknown 'interleaved'"),
    ('stuck', {'lenght': 1.0}, "fault 'stuck': no value 'lenght', did you mean 'length'"),
    ('interleave', {'x': 1.0}, 'fault: unknown'),
    (3, {}, 'fault: unknown 3; known: '),
    ('stuck', {'length': 'x'}, "fault 'stuck': length: expected a number, got 'x'"),
    ('stuck', {'length': np.nan}, "fault 'stuck': length: expected a number, got nan"),
    ('stuck', [1.0], "fault 'stuck': values: expected numbers by name, got [1.0]"),
])
def test_an_unknown_fault_is_refused(kind, given, problem):
    with pytest.raises(SourceError) as error:
        SensorFault(kind, 1.0, given)
    assert problem in str(error.value)
    assert '\n' not in str(error.value)
