# SPDX-License-Identifier: Apache-2.0
"""Efficiencies: what a degraded actuator gives, and what it leaves as it is."""
from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from propulsion_ros.models.boosters.boosters import Boosters, BoostersParams
from propulsion_ros.models.boosters.params import GimbalsParams
from propulsion_ros.models.common.family import BodyState, Command
from propulsion_ros.models.fam.constants import NOZZLE_WIDTHS
from propulsion_ros.models.fam.propulsion_module import (
    BlockableNozzlesParams,
    PropulsionModules,
    PropulsionModulesParams,
)
from propulsion_ros.models.fins.fins import Fins, FinsParams
from propulsion_ros.models.fins.lift_drag import QuadraticParams, TwoLinesParams
from propulsion_ros.models.fins.lifting_surface import LiftingSurfaceParams
from propulsion_ros.models.rotors.rotors import Rotors, RotorsParams
from propulsion_ros.models.supply.tanks import TanksParams
from propulsion_ros.models.thrusters.thrusters import Thrusters, ThrustersParams

NAMES = ['a', 'b', 'c']
POINTS, AXES = np.random.default_rng(5).uniform(-1.0, 1.0, (2, 3, 3))
PLACED = {'names': NAMES, 'position': POINTS}
MOVING = BodyState(
    velocity=np.array([3.0, 0.4, -0.2]), angular_velocity=np.array([0.1, -0.3, 0.2])
)
DT = 0.01


def boosters(efficiency=1.0, **changed):
    return BoostersParams(**{
        **PLACED, 'axis': AXES, 'max_thrust': 100.0, 'max_fuel_rate': 0.5, 'time_constant': 0.05,
        'noise_ratio': 0.1, 'tank': 't', 'tanks': TanksParams(names=['t'], capacity=0.3),
        'gimbals': GimbalsParams(booster=['b'], range=0.2), 'efficiency': efficiency, **changed,
    })


def rotors(efficiency=1.0, **changed):
    return RotorsParams(**{
        **PLACED, 'axis': AXES, 'max_thrust': 9.0, 'motor_constant': 1e-5,
        'moment_constant': 0.02, 'direction': [1, -1, 1], 'time_constant_up': 0.05,
        'time_constant_down': 0.03, 'efficiency': efficiency, **changed,
    })


def fins(efficiency=1.0):
    return FinsParams(
        **PLACED, chord=AXES, span=np.roll(AXES, 1, axis=0), time_constant=0.02,
        efficiency=efficiency,
        quadratic=QuadraticParams(fin=['a'], lift_constant=3.0, drag_constant=2.0),
        two_lines=TwoLinesParams(
            fin=['b'], area=0.01, stall_angle=0.4, lift_slope=4.0, stalled_lift_slope=-1.0,
            drag_slope=0.5, stalled_drag_slope=0.6,
        ),
        lifting_surface=LiftingSurfaceParams(fin=['c'], chord_length=0.2, span_length=0.3),
    )


def thrusters(efficiency=1.0, **changed):
    return ThrustersParams(**{
        **PLACED, 'axis': AXES, 'rotor_constant': 2e-4, 'moment_constant': 0.05,
        'thrust_efficiency': efficiency, **changed,
    })


def modules(efficiency=1.0, **nozzles):
    return PropulsionModulesParams(
        nozzles=BlockableNozzlesParams(efficiency=efficiency, **nozzles)
    )


BOOSTERS = Boosters, boosters, {
    'effort': [50.0, 80.0, 100.0, np.nan, np.nan], 'position': [np.nan] * 3 + [0.1, -0.05],
}
ROTORS = Rotors, rotors, {'effort': [5.0, 3.0, 8.0]}
FINS = Fins, fins, {'position': [0.2, -0.3, 0.1]}
THRUSTERS = Thrusters, thrusters, {'velocity': [100.0, -50.0, 70.0]}
MODULES = PropulsionModules, modules, {
    'position': [*np.linspace(0.4, 1.3, 12), np.nan, np.nan],
    'velocity': [np.nan] * 12 + [200.0] * 2,
}
LINEAR = [
    pytest.param(*BOOSTERS, id='boosters'),
    pytest.param(*ROTORS, id='rotors'),
    pytest.param(*FINS, id='fins'),
    pytest.param(*THRUSTERS, id='thrusters'),
]
ALL = [*LINEAR, pytest.param(*MODULES, id='propulsion_modules')]
FACTORS = st.lists(st.floats(0.0, 1.0), min_size=3, max_size=3)


def flown(family, command, steps=5, first=0):
    """Return the output of the last of some steps with one command."""
    asked = Command(**{field: np.array(values) for field, values in command.items()})
    for tick in range(first, first + steps):
        output = family.step(asked, MOVING, DT, tick)
    return output


@pytest.mark.parametrize(('kind', 'params', 'command'), LINEAR)
@given(factors=FACTORS)
def test_forces_links_and_state_agree(kind, params, command, factors):
    whole_family, family = kind(params()), kind(params(factors))
    whole, output = flown(whole_family, command), flown(family, command)
    row = np.array(factors)[:, None]
    np.testing.assert_allclose(output.forces, row * whole.forces, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(output.effort[:3], factors * whole.effort[:3])
    np.testing.assert_allclose(
        family.link_wrenches(output), row * whole_family.link_wrenches(whole),
        rtol=1e-12, atol=1e-12,
    )
    for field in ('position', 'velocity'):
        np.testing.assert_array_equal(getattr(output, field), getattr(whole, field), field)


@pytest.mark.parametrize(('kind', 'params', 'command'), ALL)
def test_fault_outlasts_a_reset_and_leaves_no_trace_when_it_is_mended(kind, params, command):
    family, whole = kind(params()), kind(params())
    family.retune(params(0.5))
    family.reset()
    degraded, expected = flown(family, command), flown(whole, command)
    assert family.degraded.all()
    assert 0.0 < np.linalg.norm(degraded.forces) < np.linalg.norm(expected.forces)
    family.retune(params())
    # The modules hear of it with the next step of their control.
    after, expected = (flown(each, command, first=5) for each in (family, whole))
    assert not family.degraded.any()
    for field in ('wrench', 'thrusts', 'axes', 'position', 'velocity', 'effort'):
        np.testing.assert_array_equal(getattr(after, field), getattr(expected, field), field)


def test_blocked_nozzle_is_a_narrower_one():
    """What the others of its plenum gain follows from the same equations."""
    free = np.random.default_rng(7).uniform(0.01, 1.0, 12)
    blocked, narrow = (flown(PropulsionModules(params), MODULES[2], 400) for params in (
        modules(free), modules(width=free * NOZZLE_WIDTHS)
    ))
    assert narrow.thrusts.min() > 1e-6
    np.testing.assert_allclose(blocked.thrusts, narrow.thrusts, rtol=1e-9)
    np.testing.assert_allclose(blocked.wrench, narrow.wrench, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(blocked.position, narrow.position)
