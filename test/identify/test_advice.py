# SPDX-License-Identifier: Apache-2.0
"""Which actuators seem swapped: those that explain the turning better, not those that are alike."""
from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from propulsion_ros.identify.advice import geometry_doubts

ARMS = np.deg2rad([45.0, 135.0, 225.0, 315.0])
CROSS = np.stack((np.sin(ARMS), -np.cos(ARMS)))
COAXIAL = np.repeat(CROSS, 2, axis=1)


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
