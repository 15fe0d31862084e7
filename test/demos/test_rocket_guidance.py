# SPDX-License-Identifier: Apache-2.0
"""The rocket's guidance: what it asks, until when, and which way it turns."""
from __future__ import annotations

import numpy as np
import pytest

from propulsion_ros.demos.rocket import RocketGuidance
from propulsion_ros.models.common.motion import Motion

GUIDANCE = RocketGuidance()
LEANING = Motion(
    np.zeros(3), np.array([np.sin(0.1), 0.0, 0.0, np.cos(0.1)]), np.zeros(3),
    np.array([0.3, -0.2, 0.1]),
)
"""Turned by 0.2 rad about x, the nose towards south."""


@pytest.mark.parametrize(('time', 'propellant', 'phase', 'expected'), [
    pytest.param(1.99, 3.6, 'launch', 0.0, id='before ignition'),
    pytest.param(2.0, 3.6, 'launch', 2600.0, id='ignition'),
    pytest.param(2.0, np.inf, '', 2600.0, id='nothing is known'),
    pytest.param(3.49, 2.0, 'flight', 2600.0, id='full'),
    pytest.param(3.5, 1.9, 'flight', 1700.0, id='throttled'),
    pytest.param(5.84, 1e-4, 'flight', 1700.0, id='the last drop'),
    pytest.param(5.85, 0.0, 'flight', 0.0, id='dry'),
    pytest.param(3.0, 0.0, 'flight', 0.0, id='dry early'),
    pytest.param(3.0, 2.4, 'recovery', 0.0, id='recovery with propellant left'),
    pytest.param(60.0, 0.0, 'recovery', 0.0, id='under the parachute'),
])
def test_nothing_is_asked_without_propellant_nor_in_recovery(time, propellant, phase, expected):
    thrust = GUIDANCE.thrust(time, propellant, phase)
    assert thrust == expected
    gimbals = GUIDANCE.gimbals(time, LEANING, thrust)
    assert gimbals.shape == (2, 2)
    assert gimbals.any() == bool(expected)


@pytest.mark.parametrize(('time', 'expected'), [
    (0.0, 0.0), (2.0, 0.0), (2.3, 0.05), (2.6, 0.1), (60.0, 0.1),
])
def test_lean_follows_its_programme(time, expected):
    assert GUIDANCE.lean(time) == pytest.approx(expected)
