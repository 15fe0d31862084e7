# SPDX-License-Identifier: Apache-2.0
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from propulsion_ros.models.common import rotation

NUMBER = st.floats(-10.0, 10.0)
VECTOR = st.tuples(NUMBER, NUMBER, NUMBER)
QUATERNION = st.tuples(*[st.floats(-1.0, 1.0)] * 4).filter(lambda q: np.linalg.norm(q) > 0.1).map(
    rotation.unit
)


def same(turned, expected, atol=1e-12):
    np.testing.assert_allclose(turned, expected, rtol=0.0, atol=atol)


@given(QUATERNION, QUATERNION, VECTOR)
def test_plain_floats_turn_as_scipy_does(first, second, vector):
    expected = Rotation.from_quat(first)
    same(rotation.rotate(first, vector), expected.apply(vector))
    same(rotation.rows_of(first), expected.as_matrix())
    same(rotation.matrix_of(first), expected.as_matrix())
    both = expected * Rotation.from_quat(second)
    same(rotation.matrix_of(rotation.product(first, second)), both.as_matrix())


@pytest.mark.parametrize('size', [1.0, 1e-2, 1.001e-3, 0.999e-3, 1e-6, 0.0])
def test_rotation_vector_is_right_at_every_size(size):
    a, b, c = size * np.array([0.6, 0.0, -0.8])
    expected = Rotation.from_rotvec([a, b, c]).as_quat()
    same(rotation.of_vector(a, b, c), expected, 3e-15)


@given(VECTOR)
def test_angles_turn_as_those_of_scipy(rpy):
    expected = Rotation.from_euler('xyz', rpy)
    same(rotation.matrix_of_rpy(rpy), expected.as_matrix(), 1e-14)
    same(np.abs(rotation.quaternion_of_rpy(rpy) @ expected.as_quat()), 1.0, 1e-14)


@pytest.mark.parametrize('batch', [(), (1,), (7,), (3, 2)], ids=str)
def test_quaternions_of_any_length_and_batch_give_the_matrices_of_scipy(batch):
    rng = np.random.default_rng(5)
    given = rng.normal(size=(*batch, 4)) * 10.0 ** rng.uniform(-150.0, 150.0, (*batch, 1))
    expected = Rotation.from_quat((given / np.abs(given).max(-1, keepdims=True)).reshape(-1, 4))
    same(rotation.matrix_of(given), expected.as_matrix().reshape(*batch, 3, 3), 1e-14)


@given(st.tuples(st.floats(-3.1, 3.1), st.floats(-1.5, 1.5), st.floats(-3.1, 3.1)))
def test_angles_come_back(rpy):
    matrix = rotation.matrix_of_rpy(rpy)
    same(rotation.rpy_of(matrix.tolist()), rpy, 1e-9)
    same(rotation.matrix_of(rotation.quaternion_of_rpy(rpy)), matrix)
    same(rotation.matrix_of(rotation.quaternion_of(matrix)), matrix)


@pytest.mark.parametrize('sign', [1.0, -1.0])
def test_pitch_of_a_matrix_that_rounding_made_too_large_is_a_quarter_turn(sign):
    rows = ((0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (-sign * (1.0 + 1e-12), 0.0, 0.0))
    assert rotation.rpy_of(rows)[1] == sign * math.pi / 2.0


@given(VECTOR.filter(lambda v: np.linalg.norm(v) > 1e-3))
def test_shortest_turns_reach_their_direction(vector):
    direction = np.array(vector) / np.linalg.norm(vector)
    upright = rotation.upright(vector)
    same(rotation.rotate(upright, tuple(direction)), [0.0, 0.0, 1.0], 1e-4)
    # The smallest angle has no part about the direction that it ends in.
    assert upright[2] == 0.0
    same(rotation.shortest_turn(direction) @ [1.0, 0.0, 0.0], direction, 1e-4)


def test_opposite_directions_have_a_turn_too():
    same(rotation.rotate(rotation.upright((0.0, 0.0, -2.0)), (0.0, 0.0, -1.0)), [0.0, 0.0, 1.0])
    same(rotation.shortest_turn(np.array([-1.0, 0.0, 0.0])) @ [1.0, 0.0, 0.0], [-1.0, 0.0, 0.0])
