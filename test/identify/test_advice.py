# SPDX-License-Identifier: Apache-2.0
"""Which actuators seem swapped: those that explain the turning better, not those that are alike."""
from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from propulsion_ros.identify.advice import geometry_doubts, refuse_degrees
from propulsion_ros.settings.errors import SourceError

ARMS = np.deg2rad([45.0, 135.0, 225.0, 315.0])
CROSS = np.stack((np.sin(ARMS), -np.cos(ARMS)))
COAXIAL = np.repeat(CROSS, 2, axis=1)
SIX = np.deg2rad(30.0 + 60.0 * np.arange(6))
HEXA = np.stack((np.sin(SIX), -np.cos(SIX)))


def fit_of(geometry, made_by, noise=0.3, pairs_alike=False, quiet=1.0):
    """Return a fit of which only the turning is known: rates by one geometry, named by another."""
    rng = np.random.default_rng(8)
    count = geometry.shape[1]
    columns = np.cumsum(rng.normal(size=(60 * count, count)), axis=0)
    columns[:, :2] *= quiet
    if pairs_alike:
        columns = np.repeat(columns[:, ::2], 2, axis=1) + 0.01 * rng.normal(size=columns.shape)
    rates = columns @ made_by.T
    rates = rates + noise * rates.std() * rng.normal(size=rates.shape)
    names = [f'm{i}' for i in range(count)]
    turning = rates, columns, geometry, names
    return SimpleNamespace(problem=SimpleNamespace(turning=lambda place: turning), place=None)


@pytest.mark.parametrize('pairs_alike', [False, True])
@pytest.mark.parametrize('noise', [0.0, 0.3, 1.0])
def test_a_right_coaxial_octocopter_has_no_swapped_motors(noise, pairs_alike):
    assert list(geometry_doubts(fit_of(COAXIAL, COAXIAL, noise, pairs_alike))) == []


@pytest.mark.parametrize('geometry', [CROSS, COAXIAL])
def test_swapped_arms_are_named(geometry):
    last = geometry.shape[1] - 1
    order = np.arange(last + 1)
    order[[0, last]] = last, 0
    (line,) = geometry_doubts(fit_of(geometry, geometry[:, order]))
    assert f'm0 as m{last}' in line or geometry is COAXIAL
    assert line.startswith('swapped? the body turns as if')


def test_swapped_arms_that_do_little_beside_other_torques_are_named():
    """What a swap adds is little of all turning, and much of what thrusts explain."""
    (line,) = geometry_doubts(fit_of(CROSS, CROSS[:, [1, 0, 2, 3]], noise=1.0, quiet=0.3))
    assert line.startswith('swapped? the body turns as if m0 as m1, m1 as m0')


def test_two_neighbours_of_six_are_named():
    """Their directions are so near that most of the turning is right."""
    (line,) = geometry_doubts(fit_of(HEXA, HEXA[:, [1, 0, 2, 3, 4, 5]]))
    assert 'm0 as m1, m1 as m0: ' in line
    assert list(geometry_doubts(fit_of(HEXA, HEXA))) == []


@pytest.mark.parametrize(('unit', 'is_refused'), [
    (1.0, False), (0.6, False), (180.0 / np.pi, True), (300.0, False),
])
def test_rates_in_degrees_are_refused_by_what_thrusts_can_turn(unit, is_refused):
    problem = fit_of(HEXA, HEXA * unit / 0.02).problem
    problem.start = None
    problem.setup = SimpleNamespace(
        body=SimpleNamespace(inertia=0.02 * np.eye(3)),
        recording=SimpleNamespace(name='log', columns={}),
    )
    if is_refused:
        with pytest.raises(SourceError, match='looks like degrees/s: multiply by 0'):
            refuse_degrees(problem)
    else:
        refuse_degrees(problem)
