# SPDX-License-Identifier: Apache-2.0
"""RotorPy's batched multirotor in torch, and the same Hummingbirds here."""
from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import roma  # noqa: F401  RotorPy imports both only where they are there
import torch
import torchdiffeq  # noqa: F401
from rotorpy.vehicles.hummingbird_params import quad_params
from rotorpy.vehicles.multirotor import BatchedMultirotor, BatchedMultirotorParams

from propulsion_ros.models.body.mass import MassProperties
from propulsion_ros.models.body.rigid_body import BodyParams
from propulsion_ros.models.body.vehicles import Vehicles
from propulsion_ros.models.common.family import Command
from propulsion_ros.models.rotors.rotors import Rotors, RotorsParams

_CPU = torch.device('cpu')
_DENSITY = 1.225
SPEEDS = np.array([470.0, 468.0, 471.0, 469.0])
"""Commanded speeds of the rotors, about those of hover [rad/s]."""


def ours(count: int) -> Vehicles:
    """Return the Hummingbird of RotorPy, many times, with rotor speeds as commands."""
    p = quad_params
    rotors = Rotors(RotorsParams(
        names=('r1', 'r2', 'r3', 'r4'), command_interface='velocity',
        position=np.array(list(p['rotor_pos'].values())), direction=-p['rotor_directions'],
        motor_constant=p['k_eta'], moment_constant=p['k_m'] / p['k_eta'],
        max_thrust=p['k_eta'] * p['rotor_speed_max'] ** 2,
        time_constant_up=p['tau_m'], time_constant_down=p['tau_m'],
        rotor_drag_coefficient=p['k_d'], inflow_coefficient=p['k_z'],
        translational_lift_coefficient=p['k_h'],
    ), (count,))
    body = BodyParams(
        gravity=9.81, ground=False, fluid_density=_DENSITY,
        drag_area=2.0 / _DENSITY * np.array([p[f'c_D{axis}'] for axis in 'xyz']),
    )
    inertia = np.diag([p['Ixx'], p['Iyy'], p['Izz']])
    vehicles = Vehicles(
        {'rotors': rotors}, body, MassProperties(p['mass'], np.zeros(3), inertia), count
    )
    vehicles.reset(None, None, {'rotors': {'rotor_speed': SPEEDS}})
    return vehicles


def ours_step(vehicles: Vehicles, dt: float) -> Callable[[], object]:
    """Return what advances our vehicles by a step."""
    command = {'rotors': Command(velocity=np.tile(SPEEDS, (vehicles.count, 1)))}
    return lambda: vehicles.step(command, dt)


def theirs(count: int, integrator: str) -> SimpleNamespace:
    """Return RotorPy's vehicles and their state."""
    one = BatchedMultirotorParams([quad_params], 1, _CPU)
    # Made one by one they take longer than all that is measured.
    for name, value in vars(one).items():
        if isinstance(value, torch.Tensor):
            setattr(one, name, value.repeat(count, *[1] * (value.ndim - 1)))
    one.num_drones = count
    zeros = torch.zeros(count, 3, dtype=torch.double)
    state = {
        'x': zeros, 'v': zeros.clone(), 'w': zeros.clone(), 'wind': zeros.clone(),
        'q': torch.tensor([0.0, 0.0, 0.0, 1.0], dtype=torch.double).repeat(count, 1),
        'rotor_speeds': torch.tensor(SPEEDS).repeat(count, 1),
    }
    return SimpleNamespace(state=state, all=torch.arange(count), model=BatchedMultirotor(
        one, count, state, _CPU, control_abstraction='cmd_motor_speeds', integrator=integrator
    ))


def their_step(vehicles: SimpleNamespace, dt: float) -> Callable[[], object]:
    """Return what advances RotorPy's vehicles by a step."""
    count = len(vehicles.all)
    control = {'cmd_motor_speeds': torch.tensor(SPEEDS).repeat(count, 1)}

    def step() -> object:
        vehicles.state = vehicles.model.step(vehicles.state, control, dt, vehicles.all)
        return vehicles.state

    return step


def difference(dt: float) -> float:
    """Return how far both are apart after 50 steps, over the way that they went."""
    many, other = ours(2), theirs(2, 'rk4')
    mine, step = ours_step(many, dt), their_step(other, dt)
    for _ in range(50):
        mine()
        step()
    way: Any = other.state['x'].numpy()
    return float(np.abs(many.bodies.position - way).max() / np.abs(way).max())
