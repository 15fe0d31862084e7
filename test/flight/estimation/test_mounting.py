# SPDX-License-Identifier: Apache-2.0
"""Axes and flips of a mounted sensor."""
import itertools

import numpy as np
import pytest

from propulsion_ros.flight.estimation.mounting import Mounting, MountingParams
from propulsion_ros.settings.errors import ConfigError

VECTOR = (1.0, 2.0, 3.0)


@pytest.mark.parametrize(('axes', 'flips', 'body'), [
    ((0, 1, 2), (0, 0, 0), (1.0, 2.0, 3.0)),
    # Those of the flown computer's inertial sensor and of its high-range accelerometer.
    ((1, 0, 2), (0, 0, 1), (2.0, 1.0, -3.0)),
    ((1, 0, 2), (1, 1, 1), (-2.0, -1.0, -3.0)),
    ((2, 0, 1), (0, 1, 1), (3.0, -1.0, -2.0)),
])
def test_body_takes_axes_of_the_sensor(axes, flips, body):
    mounting = Mounting(MountingParams(axes=axes, flips=flips))
    assert mounting.to_body(VECTOR) == body
    np.testing.assert_array_equal(mounting.matrix @ VECTOR, body)


def test_the_default_changes_nothing():
    assert Mounting().to_body(VECTOR) == VECTOR


@pytest.mark.parametrize('axes', itertools.permutations(range(3)))
@pytest.mark.parametrize('flips', itertools.product((0, 1), repeat=3))
def test_only_rotations_pass(axes, flips):
    params = MountingParams(axes=axes, flips=flips)
    is_even = (axes in ((0, 1, 2), (1, 2, 0), (2, 0, 1))) == (sum(flips) % 2 == 0)
    if is_even:
        matrix = Mounting(params).matrix
        np.testing.assert_array_equal(matrix @ matrix.T, np.eye(3))
    else:
        with pytest.raises(ConfigError, match='mirror: turn one flip over'):
            Mounting(params)


@pytest.mark.parametrize(('settings', 'message'), [
    ({'axes': (0, 0, 2)}, r"'axes': expected each of 0, 1, 2 once, got \[0, 0, 2\]"),
    ({'axes': (0, 1, 3)}, r"'axes\[2\]': 3 is above 2"),
    ({'flips': (0, 2, 0)}, r"'flips\[1\]': 2 is above 1"),
    ({'axes': (0, 1)}, r"'axes': expected 3 values, got 2"),
])
def test_wrong_settings_are_named(settings, message):
    with pytest.raises(ConfigError, match=message):
        MountingParams(**settings)
