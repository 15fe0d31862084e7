# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from propulsion_ros.models.body.mass import MassProperties
from propulsion_ros.models.body.rigid_body import BodyParams, RigidBody
from propulsion_ros.models.body.simulated_body import Parachutes, ParachutesParams

SECOND = 10**9
START = 1_700_000_000 * SECOND
"""A stamp of a real clock: near it a float holds no nanoseconds."""


def parachutes(**kwargs) -> Parachutes:
    return Parachutes(ParachutesParams(**{
        'names': ['drogue', 'main'], 'drag_area': [1.0, 10.0],
        'deployment_delay': [0.5, 1.0], 'inflation_time': [2.0, 4.0], **kwargs,
    }))


@pytest.mark.parametrize(
    ('after', 'area'),
    [
        pytest.param(-1.0, 0.0, id='before the firing'),
        pytest.param(0.0, 0.0, id='at the firing'),
        pytest.param(0.499999999, 0.0, id='just before the line stretches'),
        pytest.param(0.5, 0.0, id='stretched'),
        pytest.param(1.0, 0.25, id='a quarter'),
        pytest.param(1.5, 0.5, id='half'),
        pytest.param(2.5, 1.0, id='open'),
        pytest.param(1e6, 1.0, id='long after'),
    ],
)
def test_area_grows_linearly_after_the_delay(after, area):
    model = parachutes()
    model.fire('drogue', START)
    assert model.drag_area(START + round(after * SECOND)) == pytest.approx(area, abs=1e-9)


def test_open_areas_add_up():
    model = parachutes()
    model.fire('drogue', START)
    model.fire('main', START + SECOND)
    assert model.drag_area(START + 4 * SECOND) == pytest.approx(1.0 + 10.0 * 0.5, rel=1e-12)


@given(st.lists(st.integers(0, 10 * SECOND), min_size=1, max_size=5), st.integers(0, 20 * SECOND))
def test_later_firings_change_nothing(later, after):
    once, often = parachutes(), parachutes()
    for model in (once, often):
        model.fire('main', START)
    for each in later:
        often.fire('main', START + each)
    assert often.drag_area(START + after) == once.drag_area(START + after)


@given(st.integers(0, 10 * SECOND), st.integers(0, 10 * SECOND))
def test_an_area_never_shrinks(first, second):
    model = parachutes()
    model.fire('drogue', START)
    model.fire('main', START)
    early, late = sorted((first, second))
    assert model.drag_area(START + early) <= model.drag_area(START + late) <= 11.0


def test_without_inflation_time_it_opens_at_once():
    model = parachutes(inflation_time=0.0)
    model.fire('drogue', START)
    assert model.drag_area(START + SECOND // 2) == 0.0
    assert model.drag_area(START + SECOND // 2 + 1) == 1.0


def test_shortest_delay_and_reset():
    model = parachutes()
    assert model.delay_ns == SECOND // 2
    model.fire('main', START)
    model.reset()
    assert model.drag_area(START + 100 * SECOND) == 0.0


def test_terminal_speed_under_the_open_canopy():
    model = parachutes(attachment=[0.0, 0.0, 1.0])
    model.fire('main', 0)
    body = RigidBody(BodyParams(fluid_density=1.2, start_position=[0.0, 0.0, 1000.0]))
    mass = MassProperties(20.0, np.zeros(3), np.eye(3))
    for k in range(1200):
        area = model.drag_area(k * SECOND // 100)
        body.step(np.zeros(6), mass, mass, 0.01, (area, model.attachment))
    speed = np.sqrt(2.0 * 20.0 * 9.80665 / (1.2 * 10.0))
    np.testing.assert_allclose(body.velocity, [0, 0, -speed], rtol=1e-6)
