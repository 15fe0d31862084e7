# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from propulsion_ros.models.supply.tanks import Tanks, TanksParams

TURN = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
"""A quarter turn about z."""


def tanks(**kwargs) -> Tanks:
    return Tanks(TanksParams(**{'names': ['a'], 'capacity': [10.0], **kwargs}))


def test_mass_and_inertia_fall_with_the_propellant_and_the_centre_stays():
    model = tanks(inertia=[4.0, 6.0, 2.0], com=[0.0, 0.0, 1.5])
    model.draw(np.array([2.5]))
    state = model.state()
    np.testing.assert_array_equal(state.mass, [7.5])
    np.testing.assert_array_equal(state.com, [[0.0, 0.0, 1.5]])
    np.testing.assert_allclose(state.inertia, [np.diag([3.0, 4.5, 1.5])], rtol=1e-15)
    np.testing.assert_array_equal(model.fuel_ratio, [0.75])


def test_inertia_is_turned_into_the_axes_of_the_vehicle():
    model = tanks(names=['a', 'b'], inertia=[1.0, 2.0, 3.0], rotation=[np.eye(3), TURN])
    inertia = model.state().inertia
    np.testing.assert_array_equal(inertia[0], np.diag([1.0, 2.0, 3.0]))
    np.testing.assert_array_equal(inertia[1], np.diag([2.0, 1.0, 3.0]))


@pytest.mark.parametrize(
    ('wanted', 'share', 'left'),
    [
        pytest.param(0.0, None, 10.0, id='nothing'),
        pytest.param(4.0, None, 6.0, id='some'),
        pytest.param(10.0, None, 0.0, id='all'),
        pytest.param(40.0, [0.25], 0.0, id='more than there is'),
        pytest.param(-1.0, None, 10.0, id='an overshoot back into a full tank'),
    ],
)
def test_draw_by_hand(wanted, share, left):
    model = tanks()
    assert model.draw(np.array([wanted])) == share
    np.testing.assert_array_equal(model.propellant, [left])
    np.testing.assert_array_equal(model.is_dry, [left == 0.0])


def test_a_tank_without_capacity_is_dry_and_weighs_nothing():
    model = tanks(capacity=0.0, inertia=[1.0, 1.0, 1.0])
    assert model.is_dry.all()
    assert model.fuel_ratio == 0.0
    np.testing.assert_array_equal(model.draw(np.array([1.0])), [0.0])
    assert model.draw(np.array([0.0])) is None
    np.testing.assert_array_equal(model.state().inertia, np.zeros((1, 3, 3)))


@pytest.mark.parametrize('drawn', [0.0, 3.0, 10.0])
def test_com_is_linear_in_what_is_left(drawn):
    model = tanks(com=[0.0, 0.0, 1.5], com_empty=[0.2, 0.0, -0.5], rotation=[TURN])
    model.draw(np.array([drawn]))
    gone = drawn / 10.0
    expected = [[0.0, 0.2 * gone, 1.5 - 0.5 * gone]]
    np.testing.assert_allclose(model.state().com, expected, rtol=0, atol=1e-15)
