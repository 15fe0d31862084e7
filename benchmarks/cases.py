# SPDX-License-Identifier: Apache-2.0
"""What is measured: a step of each family, and the same step of its original where there is one."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from itertools import cycle
from typing import Any

import numpy as np

from benchmarks.rows import Row, not_measured
from propulsion_ros.flight.estimation.estimator import Estimator
from propulsion_ros.flight.estimation.mounting import Mounting
from propulsion_ros.flight.estimation.params import EstimatorParams
from propulsion_ros.flight.estimation.state import Stage
from propulsion_ros.models.boosters.boosters import Boosters, BoostersParams
from propulsion_ros.models.boosters.params import GimbalsParams
from propulsion_ros.models.common.family import BodyState, Command, Family
from propulsion_ros.models.fins.fins import Fins, FinsParams
from propulsion_ros.models.fins.lifting_surface import LiftingSurfaceParams
from propulsion_ros.models.rotors.rotors import Rotors, RotorsParams
from propulsion_ros.models.supply.tanks import TanksParams
from propulsion_ros.models.thrusters.thrusters import Thrusters, ThrustersParams
from propulsion_ros.settings.quantity import FloatArray

_DT = 0.004
_THROTTLES = (0.3, 1.0, 0.6)
_ROCKET = {
    'max_thrust': 7607.0, 'min_thrust': 2966.7, 'max_fuel_rate': 1.451, 'time_constant': 0.01,
    'noise_ratio': 0.01, 'capacity': 410.9, 'inertia': (1678.0, 1678.0, 7.01),
}
# A tank that lasts for the whole measurement.
_ENDLESS = {**_ROCKET, 'capacity': 1e9}
_FINLET = {
    'chord': 0.3, 'span': 0.8, 'lift_slope': 6.28, 'flap_to_chord': 1.0, 'flap_efficiency': 0.65,
    'stall_angle': 0.3, 'zero_lift_drag': 0.01, 'deflection': 0.5, 'time_constant': 0.05,
}

_END = {'step_value': 'end'}
_AS_ORIGINAL = 'step, end value'
"""A step that stands for its end, as in the originals, and not for the mean over it."""

Call = Callable[[], object]


@dataclass(frozen=True)
class Case:
    """One line of work.

    Attributes
    ----------
    name : str
        Family and size.
    ours, peers : dict of str to callable
        Steps of this package and of originals, by what they are.
    difference : float or None
        Largest relative difference from the peer, with the peer's settings, over some steps.
    per_step : int
        How many samples one call works on; times are given for one of them.
    limits : dict of str to float
        What one of ours may take at most [s].
    """

    name: str
    ours: dict[str, Call]
    peers: dict[str, Call] = field(default_factory=dict)
    difference: float | None = None
    per_step: int = 1
    limits: dict[str, float] = field(default_factory=dict)


def optional(module: str) -> Any:
    """Return a module of this package, or None where what it measures is not installed."""
    try:
        return import_module(f'benchmarks.{module}')
    except ImportError:
        return None


_PEERS = {
    'pyflyt': ('PyFlyt', 'PyFlyt pybullet'),
    'isaaclab': ("Isaac Lab's arithmetic in torch", 'torch==2.13.0'),
    'rotorpy': ('RotorPy', "'rotorpy[batched]'"),
}
"""What each module compares with, and how to get it."""


def missing(*modules: str) -> Iterator[Row]:
    """Yield a row for each original that is not installed."""
    for module in modules:
        if optional(module) is None:
            yield not_measured(*_PEERS[module])


def boosters(n: int) -> Case:
    """Return n boosters, each with its tank, beside n originals of one booster."""
    peer = optional('pyflyt')
    throttles = np.array([[value] * n for value in _THROTTLES])
    case = Case(f'boosters n={n}', {
        'step': _booster_step(n, throttles), _AS_ORIGINAL: _booster_step(n, throttles, **_END),
    })
    if peer is None:
        return case
    worlds = {'PyFlyt': False, 'PyFlyt without pybullet': True}
    for name, stubbed in worlds.items():
        made = peer.boosters(n, peer.World(2 * n, stubbed=stubbed), _ENDLESS, _DT)
        case.peers[name] = peer.boosters_step(made, throttles)
    return Case(case.name, case.ours, case.peers, _booster_difference(peer))


def gimballed_booster() -> Case:
    """Return one booster on a gimbal, as PyFlyt's rocket has it."""
    peer = optional('pyflyt')
    gimbals = GimbalsParams(booster=('b0',), time_constant=_ROCKET['time_constant'])
    half = np.array([[0.5]])
    case = Case('gimballed booster n=1', {
        'step': _booster_step(1, half, gimbals=gimbals),
        _AS_ORIGINAL: _booster_step(1, half, gimbals=gimbals, **_END),
    })
    if peer is not None:
        world = peer.World(2, stubbed=False)
        made = peer.boosters(1, world, _ENDLESS, _DT)
        case.peers['PyFlyt'] = peer.gimballed_step(made[0], world, _ROCKET, _DT)
    return case


def rotors(batch: int) -> Case:
    """Return batch x 4 rotors with drawn constants beside Isaac Lab's arithmetic in torch."""
    shape = (batch, 4)
    ours, limited = _rotors(batch, **_END), _rotors(batch, max_rotor_acceleration=1e5, **_END)
    efforts = np.random.default_rng(1).uniform(0.0, 12.0, (3, *shape))
    asked, limited_asked = cycle(efforts), cycle(efforts)
    commands, still = cycle([Command(effort=effort) for effort in efforts]), BodyState()
    whole, at_end = _rotors(batch), _rotors(batch, **_END)
    case = Case(f'rotors ({batch}, 4)', {
        'thrust': lambda: ours.advance(next(asked), _DT),
        'thrust, acceleration limited': lambda: limited.advance(next(limited_asked), _DT),
        'step': lambda: whole.step(next(commands), still, _DT, 0),
        _AS_ORIGINAL: lambda: at_end.step(next(commands), still, _DT, 0),
    })
    torch = torch_of_one_thread()
    if torch is None:
        return case
    tensors = [torch.tensor(effort, dtype=torch.float32) for effort in efforts]
    for scheme in ('rk4', 'euler'):
        thruster = _isaac_thruster(torch, ours, scheme)
        case.peers[f'torch float32 {scheme}'] = _compute(thruster, tensors)
    return Case(case.name, case.ours, case.peers, _rotor_difference(torch, efforts))


def thrusters() -> Case:
    """Return eight thrusters, first order and quadratic thrust."""
    model = Thrusters(ThrustersParams(
        names=_names(8), dynamics='first_order', time_constant=0.1, rotor_constant=3.1e-4,
        min_command=-350.0, max_command=350.0,
    ))
    return Case('thrusters n=8', {'step': _stepper(model, [
        Command(velocity=np.full(8, speed)) for speed in (100.0, 300.0, -50.0)
    ])})


def fins(n: int) -> Case:
    """Return n lifting surfaces in a steady flow."""
    surface = LiftingSurfaceParams(
        fin=_names(n), chord_length=_FINLET['chord'], span_length=_FINLET['span'],
        lift_slope=_FINLET['lift_slope'], flap_to_chord=_FINLET['flap_to_chord'],
        flap_effectiveness=_FINLET['flap_efficiency'], max_stall_angle=_FINLET['stall_angle'],
        min_stall_angle=-_FINLET['stall_angle'], zero_lift_drag=_FINLET['zero_lift_drag'],
    )
    limit = _FINLET['deflection']
    models = {name: Fins(FinsParams(
        names=_names(n), min_deflection=-limit, max_deflection=limit,
        time_constant=_FINLET['time_constant'], lifting_surface=surface, **settings,
    )) for name, settings in {'step': {}, _AS_ORIGINAL: _END}.items()}
    body = BodyState(velocity=np.array([30.0, -1.0, 0.0]), angular_velocity=np.zeros(3))
    commands = [Command(position=np.full(n, ratio * limit)) for ratio in (0.3, 0.5, -0.2)]
    case = Case(f'fins n={n}, lifting surface', {
        name: _stepper(model, commands, body) for name, model in models.items()
    })
    peer = optional('pyflyt')
    if peer is not None:
        for name, stubbed in {'PyFlyt': False, 'PyFlyt without pybullet': True}.items():
            world = peer.World(n, stubbed=stubbed)
            case.peers[name] = peer.surfaces_step(n, world, _FINLET, _DT)
    return case


def estimator(stage: Stage) -> Case:
    """Return one step of the estimator: an inertial sample and a pressure of the same stamp."""
    rng = np.random.default_rng(1)
    rates = rng.normal(0.0, 0.01, (997, 3)).tolist()
    forces = rng.normal((0.0, 0.0, 9.80665), 0.1, (997, 3)).tolist()
    pressures = (101_325.0 + rng.normal(0.0, 5.0, 997)).tolist()
    filter_ = Estimator(EstimatorParams(), Mounting())
    turn = cycle(zip(rates, forces, pressures, strict=True))
    stamp = 0

    def step() -> object:
        nonlocal stamp
        stamp += 10_000_000
        rate, force, pressure = next(turn)
        filter_.imu(stamp, rate, force)
        filter_.pressure(stamp, pressure)
        return filter_

    for _ in range(200):
        step()
    filter_.set_stage(stage)
    return Case(f'estimator, {stage.value}', {
        'imu and pressure': step, 'state': lambda: filter_.state(stamp),
    }, limits={'imu and pressure': 60e-6})


def _booster_step(n: int, throttles: FloatArray, **groups: Any) -> Call:
    efforts = _efforts(throttles)
    if 'gimbals' in groups:
        # As the loop sends it: a column for every name, NaN where a name takes another field.
        commands = [
            Command(
                effort=np.array([efforts[0, 0], np.nan, np.nan]),
                position=np.array([np.nan, value, -value]),
            )
            for value in (0.03, 0.05, -0.02)
        ]
    else:
        commands = [Command(effort=effort) for effort in efforts]
    return _stepper(Boosters(_booster_params(n, _ENDLESS, **groups)), commands)


def _booster_params(n: int, settings: dict[str, Any], **others: Any) -> BoostersParams:
    tanks = tuple(f't{i}' for i in range(n))
    return BoostersParams(
        names=tuple(f'b{i}' for i in range(n)), tank=tanks,
        tanks=TanksParams(
            names=tanks, capacity=settings['capacity'], inertia=settings['inertia']
        ),
        **{key: settings[key] for key in (
            'max_thrust', 'min_thrust', 'max_fuel_rate', 'time_constant', 'noise_ratio',
        )},
        **others,
    )


def _efforts(throttles: FloatArray) -> FloatArray:
    """Return the thrusts that the original's throttle between its lowest and 1 commands."""
    low, high = _ROCKET['min_thrust'], _ROCKET['max_thrust']
    return low + throttles * (high - low)


def _booster_difference(peer: Any) -> float:
    """Return how far both are apart in propellant, without noise, by the original's settings."""
    settings = {**_ROCKET, 'noise_ratio': 0.0}
    throttles = np.array([[value] for value in _THROTTLES])
    model = Boosters(_booster_params(1, settings, integrator='euler', exact_final_step=False))
    original = peer.boosters(1, peer.World(2, stubbed=True), settings, _DT)
    advance = peer.boosters_step(original, throttles)
    step = _stepper(model, [Command(effort=effort) for effort in _efforts(throttles)])
    for _ in range(300):
        advance()
        step()
    left = float(original[0].ratio_fuel_remaining[0]) * settings['capacity']
    return abs(float(model.propellant[0]) / left - 1.0)


def _rotors(batch: int, **settings: Any) -> Rotors:
    return Rotors(RotorsParams(
        names=_names(4), min_thrust=0.1, max_thrust=10.0, motor_constant=1.4e-5,
        motor_constant_range=(9.26e-6, 1.826e-5), time_constant_up=0.06,
        time_constant_up_range=(0.05, 0.08), time_constant_down=0.005, seed=0,
        moment_constant=0.01, direction=(1, 1, -1, -1),
        position=(0.2, 0.2, 0.0, -0.2, -0.2, 0.0, 0.2, -0.2, 0.0, -0.2, 0.2, 0.0), **settings,
    ), (batch,))


def torch_of_one_thread() -> Any:
    """Return torch, on one thread and without gradients, or None where it is not installed."""
    if optional('isaaclab') is None:
        return None
    torch = import_module('torch')
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    return torch


def _isaac_thruster(torch: Any, model: Rotors, scheme: str) -> Any:
    shape = model.thrust.shape
    constants = [
        torch.tensor(np.broadcast_to(model.constants[name], shape).copy(), dtype=torch.float32)
        for name in ('motor_constant', 'time_constant_up', 'time_constant_down')
    ]
    return optional('isaaclab').Thruster(*constants, (0.1, 10.0), 1e5, _DT, scheme)


def _compute(thruster: Any, tensors: list[Any]) -> Call:
    turn = cycle(tensors)
    return lambda: thruster.compute(next(turn))


def _rotor_difference(torch: Any, efforts: FloatArray) -> float:
    """Return how far both are apart in thrust with the original's scheme."""
    model = _rotors(
        efforts.shape[1], integrator='isaaclab_rk4', mixing='discrete', max_rotor_acceleration=1e5
    )
    thruster = _isaac_thruster(torch, model, 'rk4')
    worst = 0.0
    for effort in np.concatenate([efforts] * 5):
        theirs = thruster.compute(torch.tensor(effort, dtype=torch.float32)).numpy()
        worst = max(worst, float(np.max(np.abs(model.advance(effort, _DT) / theirs - 1.0))))
    return worst


def _stepper(model: Family, commands: list[Command], body: BodyState | None = None) -> Call:
    turn, state = cycle(enumerate(commands)), body or BodyState()

    def step() -> object:
        tick, command = next(turn)
        return model.step(command, state, _DT, tick)

    return step


def _names(n: int) -> tuple[str, ...]:
    return tuple(f'a{i}' for i in range(n))
