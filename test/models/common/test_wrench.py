# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from propulsion_ros.models.common.wrench import move_wrench, unit_rows
from propulsion_ros.settings.errors import ConfigError


def test_a_wrench_moves_to_another_point_by_hand():
    # 10 N upwards at the tail: about the nose, 4 m ahead of it, they push the nose down.
    moved = move_wrench(np.array([0.0, 0.0, 10.0, 1.0, 2.0, 3.0]), np.array([-4.0, 0.0, 0.0]))
    np.testing.assert_array_equal(moved, [0, 0, 10, 1, 42, 3])


def test_each_row_becomes_a_unit_vector_and_the_input_stays():
    given_rows = np.array([[0.0, 3.0, 4.0], [0.0, 0.0, -7.0]])
    kept = given_rows.copy()
    np.testing.assert_allclose(unit_rows('axis', given_rows), [[0, 0.6, 0.8], [0, 0, -1]])
    np.testing.assert_array_equal(given_rows, kept)


def test_a_row_without_direction_is_refused():
    with pytest.raises(ConfigError) as error:
        unit_rows('axis', np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]))
    assert str(error.value) == (
        "parameter 'axis[1]': expected a direction, got a vector of length 0"
    )
