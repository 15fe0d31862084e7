# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from bodies import part
from propulsion_ros.models.body.mass import MassProperties


@pytest.mark.parametrize(('mass', 'is_possible', 'is_solid'), [
    pytest.param(part(), True, True, id='body'),
    pytest.param(part(inertia=(0.0, 0.0, 0.0)), True, False, id='point'),
    pytest.param(part(mass=0.0), True, False, id='nothing'),
    pytest.param(part(mass=-1.0), False, False, id='negative'),
    pytest.param(part(inertia=(1.0, -1.0, 1.0)), False, False, id='negative moment'),
    pytest.param(part(com=(np.nan, 0.0, 0.0)), False, False, id='NaN'),
    pytest.param(part(mass=1e13), False, False, id='a planet'),
])
def test_what_can_be_a_mass(mass, is_possible, is_solid):
    assert (mass.is_possible, mass.is_solid) == (is_possible, is_solid)


@pytest.mark.parametrize('seed', range(5))
def test_no_principal_moment_is_below_the_least(seed):
    turned = np.random.default_rng(seed).normal(size=(3, 3))
    inertia = turned @ turned.T + seed * np.eye(3)
    mass = MassProperties(1.0, np.zeros(3), inertia)
    assert mass.least_moment <= np.linalg.eigvalsh(inertia)[0]
    assert mass.moments == tuple(np.diag(inertia))
    np.testing.assert_allclose(mass.inverse @ inertia, np.eye(3), atol=1e-9)
