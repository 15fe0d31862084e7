# SPDX-License-Identifier: Apache-2.0
"""A state that is not finite, or of which nothing is known any more, is reported."""
import math

import numpy as np
import pytest

from propulsion_ros.flight.estimation.error_state import ErrorStateFilter
from propulsion_ros.flight.estimation.params import EstimatorParams


def state():
    return ErrorStateFilter(EstimatorParams())


def test_tidy_makes_the_covariance_symmetric():
    tidied = state()
    tidied.covariance[0, 3] = 0.2
    assert tidied.tidy()
    assert tidied.covariance[0, 3] == tidied.covariance[3, 0] == pytest.approx(0.1)


@pytest.mark.parametrize('value', [math.nan, math.inf])
@pytest.mark.parametrize('name', ['altitude_bias', 'port', 'scale'])
def test_state_that_is_not_finite_is_not_sound(name, value):
    spoilt = state()
    setattr(spoilt, name, value)
    assert not spoilt.tidy()


@pytest.mark.parametrize('variance', [1e12, -1e12, math.nan, math.inf])
def test_state_of_which_nothing_is_known_is_not_sound(variance):
    lost = state()
    np.fill_diagonal(lost.covariance, variance)
    assert not lost.tidy()
