# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest

from bodies import DT, part
from propulsion_ros.models.body.parachutes import ParachutesParams
from propulsion_ros.models.body.rigid_body import BodyParams
from propulsion_ros.models.body.simulated_body import SimulatedBody

UP = np.array([0.0, 0.0, 8.0, 0.0, 0.0, 0.0])


def floating(**parachutes):
    params = BodyParams(gravity=0.0, fluid_density=1.0, start_position=[0.0, 0.0, 100.0])
    return SimulatedBody(params, ParachutesParams(**parachutes), part(mass=2.0), ('a', 'b'))


def test_wrenches_of_all_sources_act_and_hold():
    body = floating()
    body.push('a', UP)
    body.step(0, DT)
    body.push('b', UP)
    body.step(10_000_000, DT)
    assert body.motion.velocity[2] == pytest.approx((4.0 + 8.0) * DT)
    assert body.specific_force[2] == pytest.approx(8.0)


def test_tank_weighs_and_its_first_step_burns_nothing():
    body = floating()
    body.weigh('t', part(mass=2.0))
    body.push('a', UP)
    body.step(0, DT)
    assert body.mass.mass == 4.0
    assert body.motion.velocity[2] == pytest.approx(2.0 * DT)


def test_open_parachute_brakes():
    body = floating(names=('main',), drag_area=[5.0], deployment_delay=[0.1], inflation_time=[0.0])
    body.push('a', UP)
    for tick in range(100):
        body.step(tick * 10_000_000, DT)
    body.push('a', np.zeros(6))
    body.parachutes.fire('main', 1_000_000_000)
    for tick in range(100, 150):
        body.step(tick * 10_000_000, DT)
    assert 0.0 < body.motion.velocity[2] < 2.0


def test_reset_forgets_wrenches_tanks_and_parachutes():
    body = floating(names=('main',), drag_area=[5.0])
    body.push('a', UP)
    body.weigh('t', part(mass=2.0))
    body.parachutes.fire('main', 0)
    body.step(0, DT)
    body.reset()
    body.step(0, DT)
    np.testing.assert_array_equal(body.motion.velocity, np.zeros(3))
    assert body.mass.mass == 2.0
    assert body.parachutes.drag_area(10**12) == 0.0
