# SPDX-License-Identifier: Apache-2.0
"""Flights that must not be lost."""
from __future__ import annotations

import numpy as np
import pytest

from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY as G
from propulsion_ros.study.ground.case import Case, draw
from propulsion_ros.study.ground.flights import FLIGHTS


@pytest.mark.parametrize('name', FLIGHTS)
def test_it_rises_falls_and_lands(name):
    scene = draw(Case(name, 'pressure', 4)).scene
    motion = scene.motion
    top = motion.time[motion.height.argmax()]
    assert scene.apogee == pytest.approx(top, abs=1.0) or name == 'hopper'
    assert scene.begin <= scene.end < scene.touchdown < motion.end
    assert motion.rested(scene.touchdown + 3.0) == pytest.approx(3.0, abs=0.1)
    assert motion.height[-1] == pytest.approx(0.0, abs=1.0)


@pytest.mark.parametrize('name', ['hopper', 'glide'])
def test_it_shows_a_g_without_support(name):
    motion = draw(Case(name, 'pressure', 4, pins={'hover': 10.0})).scene.motion
    force = np.linalg.norm(motion.force, axis=1)
    shows = motion.is_aloft & (np.abs(force - G) < 0.3)
    assert shows.sum() > 800


def test_spin_shows_a_g_in_the_coast():
    scene = draw(Case('spin', 'pressure', 4, pins={'spin': 5.0, 'offset': 0.01})).scene
    row = scene.motion.at(scene.apogee - 0.5)
    assert np.linalg.norm(scene.motion.force[row]) == pytest.approx(9.87, abs=0.5)
