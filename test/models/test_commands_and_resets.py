# SPDX-License-Identifier: Apache-2.0
"""What every family does with lists, commands in a wrong field, and resets of some of a batch."""
from __future__ import annotations

import numpy as np
import pytest

from propulsion_ros.models.boosters.boosters import Boosters, BoostersParams
from propulsion_ros.models.boosters.gimbals import GimbalsParams
from propulsion_ros.models.boosters.tanks import TanksParams
from propulsion_ros.models.common.family import BodyState, Command
from propulsion_ros.models.fam.fam import Fam
from propulsion_ros.models.fam.inverse_fam import InverseFam
from propulsion_ros.models.fam.propulsion_module import PropulsionModules
from propulsion_ros.models.fins.fins import Fins, FinsParams
from propulsion_ros.models.fins.lift_drag import QuadraticParams
from propulsion_ros.models.jets.jets import Jets, JetsParams
from propulsion_ros.models.jets.supply import SupplyParams
from propulsion_ros.models.rotors.rotors import Rotors, RotorsParams
from propulsion_ros.models.thrusters.thrusters import Thrusters, ThrustersParams
from propulsion_ros.settings.errors import CommandError

FLOW = BodyState(velocity=[3.0, 0.0, 0.1])


def boosters(batch=()):
    return Boosters(BoostersParams(
        names=['a', 'b'], max_thrust=100.0, max_fuel_rate=0.5, time_constant=0.2, tank=['t', ''],
        thrust_curve=['', '0 0 0.3 100 2 0'], tanks=TanksParams(names=['t'], capacity=10.0),
        gimbals=GimbalsParams(booster=['a'], time_constant=0.1),
    ), batch)


def rotors(batch=()):
    return Rotors(RotorsParams(
        names=['a', 'b'], max_thrust=10.0, motor_constant=1.5e-5, time_constant_up=0.1,
    ), batch)


def thrusters(batch=()):
    return Thrusters(ThrustersParams(
        names=['a', 'b'], dynamics=['first_order', 'bessa'], time_constant=0.2, rotor_inertia=0.1,
        linear_damping=0.05, quadratic_damping=0.01, torque_constant=0.3, winding_resistance=0.6,
        rotor_constant=0.002,
    ), batch)


def fins(batch=()):
    return Fins(FinsParams(
        names=['a', 'b'], time_constant=0.2,
        quadratic=QuadraticParams(fin=['a', 'b'], lift_constant=9.0, drag_constant=4.0),
    ), batch)


def jets(batch=()):
    return Jets(JetsParams(
        names=['a', 'b'], max_thrust=2.0, open_delay=0.02, close_delay=0.03, pulse_period=0.3,
        tank='t', tanks=SupplyParams(names=['t'], capacity=0.01, propellant='gas'),
    ), batch)


def modules(batch=()):
    return PropulsionModules(PropulsionModules.Params(), batch)


NAN = float('nan')
CASES = [
    pytest.param(boosters, {'effort': [80.0, 1.0, NAN, NAN], 'position': [NAN, NAN, 0.05, 0.02]},
                 {'velocity': [1.0, NAN, NAN, NAN]}, 'expected effort and position, got velocity 1',
                 id='boosters'),
    pytest.param(rotors, {'effort': [8.0, 3.0]}, {'velocity': [500.0, 0.0]},
                 'expected effort, got velocity 500', id='rotors'),
    pytest.param(thrusters, {'velocity': [60.0, 3.0]}, {'effort': [5.0, 5.0]},
                 'expected velocity, got effort 5', id='thrusters'),
    pytest.param(fins, {'position': [0.3, -0.2]}, {'effort': [0.1, 0.1]},
                 'expected position, got effort 0.1', id='fins'),
    pytest.param(jets, {'effort': [1.5, 0.6]}, {'position': [0.5, 0.5]},
                 'expected effort, got position 0.5', id='jets'),
    pytest.param(modules,
                 {'position': [0.9] * 12 + [NAN] * 2, 'velocity': [NAN] * 12 + [200.0] * 2},
                 {'effort': [1.0] * 14}, 'expected position and velocity, got effort 1',
                 id='propulsion_modules'),
]


@pytest.mark.parametrize(('make', 'given', 'wrong', 'text'), CASES)
def test_lists_are_commands(make, given, wrong, text):
    by_list, by_array = make(), make()
    arrays = Command(**{field: np.array(values) for field, values in given.items()})
    for tick in range(5):
        one = by_list.step(Command(**given), FLOW, 0.05, tick)
        other = by_array.step(arrays, BodyState(velocity=np.array([3.0, 0.0, 0.1])), 0.05, tick)
        np.testing.assert_array_equal(one.wrench, other.wrench)
    assert np.any(one.wrench)


@pytest.mark.parametrize(('make', 'given', 'wrong', 'text'), CASES)
def test_a_command_in_the_wrong_field_is_refused(make, given, wrong, text):
    model = make()
    with pytest.raises(CommandError, match=text):
        model.step(Command(**wrong), FLOW, 0.05, 0)
    blank = {field: np.full(len(values), np.nan) for field, values in wrong.items()}
    model.step(Command(**given, **blank), FLOW, 0.05, 0)


def test_fam_and_its_inverse_refuse_too():
    with pytest.raises(CommandError, match='expected effort, got position 1'):
        Fam(Fam.Params()).step(Command(position=[1.0] * 6), BodyState(), 0.01, 0)
    with pytest.raises(CommandError, match='got effort 1'):
        InverseFam(InverseFam.Params()).step(Command(effort=[1.0] * 14), BodyState(), 0.01, 0)


def assert_same(one, other, rows):
    for field in ('wrench', 'position', 'velocity', 'effort', 'applied'):
        a, b = getattr(one, field), getattr(other, field)
        if a is not None and a.ndim:
            shape = (4, a.shape[-1])
            np.testing.assert_array_equal(
                np.broadcast_to(a, shape)[rows], np.broadcast_to(b, shape)[rows]
            )


@pytest.mark.parametrize('rows', [[1], [0, 2], slice(1, 3)])
@pytest.mark.parametrize(('make', 'given', 'wrong', 'text'), CASES)
def test_a_reset_of_some_environments_leaves_the_others(make, given, wrong, text, rows):
    others = np.ones(4, bool)
    others[rows] = False
    command, dt = Command(**given), 1.0 / 62.5
    model, whole, fresh = make((4,)), make((4,)), make((4,))
    for tick in range(6):
        last = model.step(command, FLOW, dt, tick)
        whole.step(command, FLOW, dt, tick)
    kept = last.wrench.copy()
    model.reset(rows)
    np.testing.assert_array_equal(last.wrench, kept)
    for tick in range(6, 12):
        output = model.step(command, FLOW, dt, tick)
        assert_same(output, whole.step(command, FLOW, dt, tick), others)
        assert_same(output, fresh.step(command, FLOW, dt, tick - 6), ~others)


@pytest.mark.parametrize(('make', 'given', 'wrong', 'text'), CASES)
def test_indices_need_a_batch(make, given, wrong, text):
    with pytest.raises(IndexError, match='reset: expected no indices, there is no batch axis'):
        make().reset([0])
