# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from bodies import DT, part
from propulsion_ros.models.body.rigid_body import BodyParams, RigidBody
from propulsion_ros.models.body.simulated_body import ParachutesParams, SimulatedBody
from propulsion_ros.models.common.start import Restartable
from propulsion_ros.settings.errors import ConfigError

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
    assert body.rigid.specific_force[2] == pytest.approx(8.0)


def test_tank_weighs_and_its_first_step_burns_nothing():
    body = floating()
    body.weigh('t', part(mass=2.0))
    body.push('a', UP)
    body.step(0, DT)
    assert body.mass.mass == 4.0
    assert body.motion.velocity[2] == pytest.approx(2.0 * DT)


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


def test_the_body_may_begin_in_motion_and_anywhere():
    body = floating()
    assert isinstance(body, Restartable)
    body.reset(state={
        'position': [1.0, 2.0, 3.0], 'rpy': [0.0, 0.0, np.pi / 2], 'velocity': [4.0, 0.0, 0.0],
        'angular_velocity': [0.0, 0.0, 0.5],
    })
    motion = body.motion
    np.testing.assert_array_equal(motion.position, [1.0, 2.0, 3.0])
    np.testing.assert_allclose(motion.velocity, [0.0, -4.0, 0.0], atol=1e-12)
    np.testing.assert_array_equal(motion.angular_velocity, [0.0, 0.0, 0.5])
    body.step(0, 0.1)
    np.testing.assert_allclose(body.motion.position, [1.4, 2.0, 3.0], atol=1e-9)
    body.reset()
    np.testing.assert_array_equal(body.motion.velocity, 0.0)


@pytest.mark.parametrize(('state', 'indices', 'error', 'text'), [
    ({'position': [0.0, 0.0, -1.0]}, None, ConfigError, 'state.position.*expected 0 to 1e.07'),
    ({'velocity': [1e9, 0.0, 0.0]}, None, ConfigError, 'state.velocity.*expected'),
    ({'speed': 1.0}, None, ConfigError, "unknown 'speed'"),
    ({}, [0], IndexError, 'there is no batch axis'),
])
def test_a_start_that_cannot_be_is_refused(state, indices, error, text):
    body = RigidBody(BodyParams())
    with pytest.raises(error, match=text):
        body.reset(indices, state)
