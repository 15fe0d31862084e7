# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from golden import vectors_of

from propulsion_ros.models.boosters.params import GimbalsParams, gimbals_of
from propulsion_ros.models.steering.steering import Steering

RECORDED = vectors_of('pyflyt_gimbals')
MEMBERS = RECORDED['multi']['members']
ALONE = [
    pytest.param(recorded, id=recorded['name']) for recorded in RECORDED['scenarios'] + MEMBERS
]
QUARTER = 0.5 * np.pi


def gimbals(**kwargs) -> Steering:
    return gimbals_of(GimbalsParams(**{'booster': ['a'], 'range': np.pi, **kwargs}))


def original(*recorded) -> Steering:
    """Return the recorded gimbals as one array, stepped as the original steps."""
    params = [each['params'] for each in recorded]

    def joined(key: str) -> np.ndarray:
        return np.concatenate([each[key] for each in params])

    axes = np.stack((joined('gimbal_unit_1'), joined('gimbal_unit_2')), axis=1)
    return gimbals(
        booster=[f'booster_{i}' for i in range(len(axes))], axes=axes,
        range=np.deg2rad(joined('gimbal_range_degrees')), time_constant=joined('gimbal_tau'),
        integrator='euler',
    )


def replay(recorded) -> None:
    """Check that our array of gimbals does what was recorded of each original."""
    model = original(*recorded)
    limits = np.deg2rad(np.concatenate([r['params']['gimbal_range_degrees'] for r in recorded]))

    def joined(part: str, key: str) -> np.ndarray:
        return np.concatenate([r[part][key] for r in recorded], axis=1)

    commands, states = joined('inputs', 'command'), joined('outputs', 'gimbal_state')
    expected, rotations = joined('outputs', 'angles_rad'), joined('outputs', 'rotation')
    for k, command in enumerate(commands):
        model.step(command * limits, recorded[0]['dt'])
        np.testing.assert_allclose(model.angles, expected[k], rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(model.angles, states[k] * limits, rtol=1e-12, atol=1e-12)
        turn = model.displacements(model.angles)[..., :3, :3]
        np.testing.assert_allclose(turn, rotations[k], rtol=0, atol=1e-12)


@pytest.mark.parametrize('recorded', ALONE)
def test_recorded_angles_and_rotations(recorded):
    replay([recorded])


def test_members_that_the_original_cannot_run_together_run_as_one_array():
    assert 'ValueError' in RECORDED['n_gt_1_probe']['n3']
    replay(MEMBERS)


def test_the_range_clips_the_command_axis_by_axis_and_says_so():
    model = gimbals(range=[0.1, 0.3])
    clipped = model.step(np.array([[-0.2, 0.2]]), 0.01)
    np.testing.assert_array_equal(model.angles, [[-0.1, 0.2]])
    np.testing.assert_array_equal(clipped, [[True, False]])


def test_the_rate_limit_bounds_the_angle_per_second():
    model = gimbals(rate_limit=0.5)
    model.step(np.array([[1.0, -1.0]]), 0.1)
    np.testing.assert_allclose(model.angles, [[0.05, -0.05]], rtol=1e-14)


@pytest.mark.parametrize(
    ('command', 'pivots', 'point', 'axis'),
    [
        pytest.param([0, 0], [[0, 0, -1], [0, 0, -1]], [0, 0, -2], [0, 0, 1], id='centred'),
        # About x the nozzle 1 m below its pivot swings to +y, and its thrust points to -y.
        pytest.param([QUARTER, 0], [[0, 0, -1], [0, 0, -1]], [0, 1, -1], [0, -1, 0], id='outer'),
        pytest.param([0, QUARTER], [[0, 0, -1], [0, 0, -1]], [-1, 0, -1], [1, 0, 0], id='inner'),
        # The outer axis carries the inner pivot from (0, 0, -1) to (0, 1, 0).
        pytest.param(
            [QUARTER, QUARTER], [[0, 0, 0], [0, 0, -1]], [-1, 1, 0], [1, 0, 0], id='both, apart'
        ),
    ],
)
def test_points_turn_about_the_pivots_by_hand(command, pivots, point, axis):
    model = gimbals(pivots=pivots)
    model.step(np.array([command], float), 0.01)
    points, turned = model.carry(
        np.array([[0.0, 0.0, -2.0]]), np.array([[0.0, 0.0, 1.0]]), model.angles, np.array([0])
    )
    np.testing.assert_allclose(points, [point], atol=1e-15)
    np.testing.assert_allclose(turned, [axis], atol=1e-15)


def test_joints_without_a_name_are_named_after_their_booster():
    params = GimbalsParams(booster=['a', 'b'], joints=['tilt', '', '', 'pan'])
    assert params.joints == ('tilt', 'a_gimbal_2', 'b_gimbal_1', 'pan')
