# SPDX-License-Identifier: Apache-2.0
"""A few actuators of each family at random places, and what they are commanded."""
from __future__ import annotations

import numpy as np

from propulsion_ros.models.boosters.boosters import Boosters, BoostersParams
from propulsion_ros.models.boosters.params import GimbalsParams
from propulsion_ros.models.common.family import Command
from propulsion_ros.models.fam.propulsion_module import (
    BlockableNozzlesParams,
    PropulsionModules,
    PropulsionModulesParams,
)
from propulsion_ros.models.fins.fins import Fins, FinsParams
from propulsion_ros.models.fins.lift_drag import QuadraticParams, TwoLinesParams
from propulsion_ros.models.fins.lifting_surface import LiftingSurfaceParams
from propulsion_ros.models.jets.jets import Jets, JetsParams
from propulsion_ros.models.jets.supply import SupplyParams
from propulsion_ros.models.rotors.rotors import Rotors, RotorsParams
from propulsion_ros.models.supply.batteries import BatteriesParams
from propulsion_ros.models.supply.tanks import TanksParams
from propulsion_ros.models.thrusters.thrusters import Thrusters, ThrustersParams

NAN = float('nan')
_POINTS, _AXES = np.random.default_rng(5).uniform(-1.0, 1.0, (2, 3, 3))
_TWO = {'names': ['a', 'b'], 'position': _POINTS[:2], 'axis': _AXES[:2]}


def boosters(batch=(), **changed):
    return Boosters(BoostersParams(
        **_TWO, max_thrust=100.0, max_fuel_rate=0.5, time_constant=0.2, tank=['t', ''],
        thrust_curve=['', '0 0 0.3 100 2 0'], tanks=TanksParams(names=['t'], capacity=10.0),
        gimbals=GimbalsParams(booster=['a'], time_constant=0.1), **changed,
    ), batch)


def rotors(batch=(), **changed):
    return Rotors(RotorsParams(
        **_TWO, max_thrust=10.0, motor_constant=1.5e-5, time_constant_up=0.1, moment_constant=0.02,
        direction=[1, -1], **changed,
    ), batch)


def powered_rotors(batch=()):
    return rotors(batch, power_constant=3.0, battery='main', batteries=BatteriesParams(
        names=['main'], capacity=0.01, open_circuit_voltage='0 9 1 16.8', internal_resistance=0.05,
    ))


def thrusters(batch=(), efficiency=1.0):
    return Thrusters(ThrustersParams(
        **_TWO, dynamics=['first_order', 'bessa'], time_constant=0.2, rotor_inertia=0.1,
        linear_damping=0.05, quadratic_damping=0.01, torque_constant=0.3, winding_resistance=0.6,
        rotor_constant=0.002, moment_constant=0.05, thrust_efficiency=efficiency,
    ), batch)


def pods():
    """Return two thrusters that follow at once."""
    return Thrusters(ThrustersParams(
        names=['a', 'b'], rotor_constant=[1e-2], dynamics=['zero_order'], axis=[1.0, 0.0, 0.0],
    ))


def fin():
    return Fins(FinsParams(
        names=['f'], quadratic=QuadraticParams(fin=['f'], lift_constant=3.0, drag_constant=2.0),
    ))


def fins(batch=(), **changed):
    return Fins(FinsParams(
        names=['a', 'b', 'c'], time_constant=0.2, position=_POINTS, chord=_AXES,
        span=np.roll(_AXES, 1, axis=0),
        quadratic=QuadraticParams(fin=['a'], lift_constant=9.0, drag_constant=4.0),
        two_lines=TwoLinesParams(
            fin=['b'], area=0.01, stall_angle=0.4, lift_slope=4.0, stalled_lift_slope=-1.0,
            drag_slope=0.5, stalled_drag_slope=0.6,
        ),
        lifting_surface=LiftingSurfaceParams(fin=['c'], chord_length=0.2, span_length=0.3),
        **changed,
    ), batch)


def jets(batch=(), **changed):
    return Jets(JetsParams(
        **_TWO, max_thrust=2.0, open_delay=0.02, close_delay=0.03, pulse_period=0.3, tank='t',
        tanks=SupplyParams(names=['t'], capacity=0.01, propellant='gas'), **changed,
    ), batch)


def propulsion_modules(batch=(), **nozzles):
    return PropulsionModules(
        PropulsionModulesParams(nozzles=BlockableNozzlesParams(**nozzles)), batch
    )


OPEN = {'position': [0.9] * 12 + [NAN] * 2, 'velocity': [NAN] * 12 + [200.0] * 2}
"""What opens all nozzles of Astrobee."""
GIVEN = {
    boosters: {'effort': [80.0, 1.0, NAN, NAN], 'position': [NAN, NAN, 0.05, 0.02]},
    rotors: {'effort': [8.0, 3.0]},
    powered_rotors: {'effort': [8.0, 3.0]},
    thrusters: {'velocity': [60.0, 3.0]},
    fins: {'position': [0.3, -0.2, 0.1]},
    jets: {'effort': [1.5, 0.6]},
    propulsion_modules: OPEN,
}
"""What each family is commanded."""


def command(make, share=1.0):
    """Return what a family is commanded, or a share of it."""
    return Command(**{field: share * np.array(values) for field, values in GIVEN[make].items()})
