# SPDX-License-Identifier: Apache-2.0
"""What situations do to the truth."""
from __future__ import annotations

import numpy as np
import pytest

from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY as G
from propulsion_ros.study.ground.case import Case, draw
from propulsion_ros.study.ground.situations import FLIGHTS, GROUND


def motion_of(situation, **pins):
    return draw(Case(situation, 'pressure', 2, pins={'length': 60.0, **pins})).scene.motion


@pytest.mark.parametrize('name', [name for name in GROUND if 'land' not in name])
def test_nothing_flies_but_before_a_landing(name):
    scene = draw(Case(name, 'pressure', 2, pins={'length': 30.0})).scene
    flown = np.flatnonzero(scene.motion.is_aloft)
    if scene.apogee == scene.apogee:
        assert scene.motion.time[flown[-1]] == pytest.approx(scene.touchdown, abs=0.1)
    else:
        assert not len(flown)


@pytest.mark.parametrize(('name', 'pins', 'column', 'expected'), [
    ('wind of an rms', {'rms': 4.0}, lambda m: m.port.std(), 4.0),
    ('lift', {'speed': 2.5, 'rise': 50.0}, lambda m: m.height.max(), 50.0),
    ('raised', {'speed': 12.0, 'ride': 30.0}, lambda m: m.speed.max(), 12.0),
    ('syringe', {'size': 80.0, 'hold': 5.0}, lambda m: m.port.max(), 80.0),
    ('low flight', {'top': 78.0}, lambda m: m.height.max(), 78.0),
    ('kick', {'size': 16.0}, lambda m: m.force.max(), 17.0 * 9.80665),
    ('ship', {'heave': 2.0}, lambda m: m.height.max() - m.height.min(), 4.0),
])
def test_its_numbers_are_those_of_the_truth(name, pins, column, expected):
    assert column(motion_of(name, **pins)) == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize('name', FLIGHTS)
def test_it_rises_falls_and_lands(name):
    scene = draw(Case(name, 'pressure', 4)).scene
    motion = scene.motion
    top = motion.time[np.where(motion.is_aloft, motion.height, -np.inf).argmax()]
    assert scene.apogee == pytest.approx(top, abs=1.0) or name == 'hopper'
    assert scene.begin <= scene.end < scene.touchdown < motion.end
    assert motion.rested(scene.touchdown + 3.0) == pytest.approx(3.0, abs=0.1)
    assert motion.height[-1] == pytest.approx(min(motion.height.min(), 0.0), abs=1.0)


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
