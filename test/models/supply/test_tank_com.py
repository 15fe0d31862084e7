# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from propulsion_ros.models.supply.tanks import Tanks, TanksParams

QUARTER = [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]  # the link's x is base_link's y


def tanks(batch=(), **changes):
    given_params = {
        'names': ['a'], 'capacity': 10.0, 'com': [0.0, 0.0, 1.5], 'com_empty': [0.2, 0.0, -0.5],
        'rotation': [QUARTER], **changes,
    }
    return Tanks(TanksParams(**given_params), batch)


@given(st.floats(0.0, 10.0))
def test_com_is_linear_in_what_is_left(drawn):
    model = tanks()
    model.draw(np.array([drawn]))
    gone = drawn / 10.0
    expected = [[0.0, 0.2 * gone, 1.5 - 0.5 * gone]]
    np.testing.assert_allclose(model.state().com, expected, rtol=0, atol=1e-15)


def test_without_a_way_it_stays():
    model = tanks(com_empty=[0.0, 0.0, 0.0])
    model.draw(np.array([7.0]))
    np.testing.assert_array_equal(model.state().com, [[0.0, 0.0, 1.5]])
