# SPDX-License-Identifier: Apache-2.0
"""Efficiencies: what a degraded actuator gives, and what it leaves as it is."""
from dataclasses import replace

import numpy as np
import pytest
from actuators import (
    boosters,
    command,
    fins,
    jets,
    powered_rotors,
    propulsion_modules,
    rotors,
    thrusters,
)
from hypothesis import given
from hypothesis import strategies as st

from propulsion_ros.models.common.family import BodyState
from propulsion_ros.models.common.model import Model
from propulsion_ros.models.fam.constants import NOZZLE_WIDTHS
from propulsion_ros.settings.errors import ConfigError

MOVING = BodyState(
    velocity=np.array([3.0, 0.4, -0.2]), angular_velocity=np.array([0.1, -0.3, 0.2])
)
DT = 0.01


LINEAR = (boosters, rotors, thrusters, fins, jets)
FACTORS = st.lists(st.floats(0.0, 1.0), min_size=3, max_size=3)


def built(make, **efficiency):
    """Return a family; the noise of boosters is in what efficiency acts on."""
    return make(**efficiency, **({'noise_ratio': 0.1} if make is boosters else {}))


def flown(family, make, steps=5, first=0):
    """Return the output of the last of some steps with one command."""
    for tick in range(first, first + steps):
        output = family.step(command(make), MOVING, DT, tick)
    return output


@pytest.mark.parametrize('make', LINEAR)
@given(factors=FACTORS)
def test_forces_links_and_state_agree(make, factors):
    whole_family = built(make)
    n = len(whole_family.actuator_names)
    factors = np.array(factors[:n])
    family = built(make, efficiency=factors)
    whole, output = flown(whole_family, make), flown(family, make)
    row = factors[:, None]
    np.testing.assert_allclose(output.forces, row * whole.forces, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(output.effort[:n], factors * whole.effort[:n])
    np.testing.assert_allclose(
        family.link_wrenches(output), row * whole_family.link_wrenches(whole),
        rtol=1e-12, atol=1e-12,
    )
    for field in ('position', 'velocity'):
        np.testing.assert_array_equal(getattr(output, field), getattr(whole, field), field)


@pytest.mark.parametrize('make', [*LINEAR, propulsion_modules])
def test_fault_outlasts_a_reset_and_leaves_no_trace_when_it_is_mended(make):
    family, whole = built(make), built(make)
    family.retune(built(make, efficiency=0.5).params)
    family.reset()
    degraded, expected = flown(family, make), flown(whole, make)
    assert family.degraded.all()
    assert 0.0 < np.linalg.norm(degraded.forces) < np.linalg.norm(expected.forces)
    family.retune(built(make).params)
    # The modules hear of it with the next step of their control.
    after, expected = (flown(each, make, first=5) for each in (family, whole))
    assert not family.degraded.any()
    for field in ('wrench', 'thrusts', 'axes', 'position', 'velocity', 'effort'):
        np.testing.assert_array_equal(getattr(after, field), getattr(expected, field), field)


@pytest.mark.parametrize(('make', 'other', 'text'), [
    (rotors, {'max_thrust': 3.0}, "'max_thrust': cannot change while running"),
    (powered_rotors, {'batteries': lambda own: replace(own, capacity=9.0)}, "'batteries.capacity'"),
    (fins, {'chord': [0.0, 1.0, 0.0]}, "'chord': cannot change while running"),
])
def test_only_what_is_live_is_retuned(make, other, text):
    """Other values were ignored."""
    model = Model(make())
    params = model.params
    model.retune(replace(params, efficiency=0.5))
    assert np.all(model.effectiveness == 0.5)
    with pytest.raises(ConfigError, match=text):
        model.retune(replace(params, **{
            key: given(getattr(params, key)) if callable(given) else given
            for key, given in other.items()
        }))
    with pytest.raises(ConfigError, match=r"'params': expected .*Params, got JetsParams"):
        model.retune(jets().params)
    assert np.all(model.effectiveness == 0.5)


def test_blocked_nozzle_is_a_narrower_one():
    """What the others of its plenum gain follows from the same equations."""
    free = np.random.default_rng(7).uniform(0.01, 1.0, 12)
    blocked, narrow = (
        flown(propulsion_modules(**nozzles), propulsion_modules, 400)
        for nozzles in ({'efficiency': free}, {'width': free * NOZZLE_WIDTHS})
    )
    assert narrow.thrusts.min() > 1e-6
    np.testing.assert_allclose(blocked.thrusts, narrow.thrusts, rtol=1e-9)
    np.testing.assert_allclose(blocked.wrench, narrow.wrench, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(blocked.position, narrow.position)
