# SPDX-License-Identifier: Apache-2.0
"""Configuration of rotors: constants, fixed or drawn for each, and what air and ground do."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from propulsion_ros.models.common import placement
from propulsion_ros.models.common.efficiency import live_factor
from propulsion_ros.models.common.esc import EscParams, esc_of
from propulsion_ros.models.common.lag import step_value
from propulsion_ros.models.rotors.integrators import INTEGRATORS, is_original
from propulsion_ros.models.rotors.speed_curve import SpeedCurveParams, check_curve, curve_of
from propulsion_ros.models.supply.batteries import PoweredParams, check_supply
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.quantity import (
    FloatArray,
    IntArray,
    check_order,
    names,
    per_row,
    quantity,
    validate,
)


def drawn_range(name: str, unit: str) -> Any:
    """Return the quantity of the ends of the ranges of a constant, (n, 2)."""
    doc = f'low and high end to draw {name} from, absolute; 0 0 keeps the fixed value'
    return quantity((0.0, 0.0), unit, lo=0.0, shape=('n', 2), doc=doc)


class RotorConstants:
    """Named constants of n rotors, some of them drawn evenly from ranges.

    Parameters
    ----------
    fixed : dict of str to FloatArray
        Values without a range, each (n,).
    ranges : dict of str to FloatArray
        Low and high ends, each (n, 2), under the same names; 0 0 keeps the fixed value.
    shape : tuple of int
        Of what is drawn, (..., n).
    seed : tuple of int
        Equal seeds give equal draws.
    """

    def __init__(
        self,
        fixed: dict[str, FloatArray],
        ranges: dict[str, FloatArray],
        shape: tuple[int, ...],
        seed: tuple[int, ...],
    ) -> None:
        self._generator = np.random.default_rng(seed)
        self._values: dict[str, FloatArray] = dict(fixed)
        self._ends: dict[str, tuple[FloatArray, FloatArray]] = {}
        for name, ends in ranges.items():
            drawn = ends[:, 1] > 0.0
            if drawn.any():
                low, high = (np.where(drawn, end, fixed[name]) for end in ends.T)
                self._ends[name] = low, high
                self._values[name] = np.empty(shape)
        self.draw(...)

    def __getitem__(self, name: str) -> FloatArray:
        """Return the present values, (n,), or (..., n) where they are drawn."""
        return self._values[name]

    def draw(self, indices: Any) -> None:
        """Draw new values in place for some of the leading axes."""
        for name, (low, high) in self._ends.items():
            values = self._values[name]
            values[indices] = self._generator.uniform(low, high, values[indices].shape)


_LARGEST = 1e6


@dataclass(frozen=True, kw_only=True, eq=False)
class RotorAirParams:
    """What acts on n rotors beside their thrust at rest in the air; 0 everywhere: nothing."""

    rotor_drag_coefficient: FloatArray = per_row(
        0.0, 'N s^2/(m rad)', lo=0.0, hi=_LARGEST,
        doc='drag (H-force) over rotor speed and speed through the air across the axis',
    )
    rolling_moment_coefficient: FloatArray = per_row(
        0.0, 'N s^2/rad', lo=0.0, hi=_LARGEST,
        doc='moment against the speed through the air across the axis, over it and rotor speed',
    )
    flapping_moment_coefficient: FloatArray = per_row(
        0.0, 'N s^2/rad', lo=-_LARGEST, hi=_LARGEST,
        doc='moment about axis x velocity through the air, over that and rotor speed; below 0 '
        'raises the side that meets the stream, as blades do that flap back',
    )
    inflow_coefficient: FloatArray = per_row(
        0.0, 'N s^2/(m rad)', lo=0.0, hi=_LARGEST,
        doc='thrust lost over rotor speed and speed through the air along the axis',
    )
    translational_lift_coefficient: FloatArray = per_row(
        0.0, 'N s^2/m^2', lo=0.0, hi=_LARGEST,
        doc='thrust gained over the square of the speed through the air across the axis, at most '
        'the thrust at rest',
    )
    rotor_radius: FloatArray = per_row(
        0.0, 'm', doc='for the effect of the ground; 0: none', lo=0.0, hi=_LARGEST
    )
    ground_height: float = quantity(
        0.0, 'm', doc='rotor_radius: height of the ground in the world', lo=-_LARGEST, hi=_LARGEST
    )
    rotor_inertia: FloatArray = per_row(
        0.0, 'kg m^2', lo=0.0, hi=_LARGEST,
        doc='about the axis of the rotor, for the torques of speeding up and of turning the axis',
    )


DRAWN = ('motor_constant', 'time_constant_up', 'time_constant_down')
"""Constants that can be drawn from a range."""
_NEAR = 0.1
"""A range around 1 that is farther from its constant was meant as a factor."""


@dataclass(frozen=True, kw_only=True, eq=False)
class RotorsParams(EscParams, PoweredParams, RotorAirParams, SpeedCurveParams):
    """Configuration of n rotors."""

    names: tuple[str, ...] = names('rotor names, the order of all arrays')
    max_thrust: FloatArray = per_row(unit='N', doc='largest thrust', lo=0.0)
    min_thrust: FloatArray = per_row(
        0.0, 'N', doc='smallest thrust to settle at, also without a command', lo=0.0
    )
    motor_constant: FloatArray = per_row(
        unit='N s^2/rad^2', doc='thrust over the square of the rotor speed', lo=1e-12
    )
    moment_constant: FloatArray = per_row(
        0.0, 'm', doc='reaction torque over thrust', lo=0.0, usual=(2e-4, 1.0)
    )
    direction: IntArray = per_row(
        1, kind=int, lo=-1, hi=1,
        doc='1: the rotor turns counterclockwise seen from the tip of its axis, -1: clockwise',
    )
    time_constant_up: FloatArray = per_row(0.0, 's', doc='first-order lag while rising', lo=0.0)
    time_constant_down: FloatArray = per_row(0.0, 's', doc='first-order lag while falling', lo=0.0)
    max_rotor_acceleration: FloatArray = per_row(
        0.0, 'rad/s^2', doc='largest rate of the rotor speed; 0 means no limit', lo=0.0
    )
    max_thrust_rate: FloatArray = per_row(
        0.0, 'N/s', doc='largest rate of the thrust; 0 means no limit', lo=0.0
    )
    efficiency: FloatArray = live_factor(
        'factor on thrust and reaction torque at the same rotor speed'
    )
    initial_rotor_speed: FloatArray = per_row(0.0, 'rad/s', doc='rotor speed at the start', lo=0.0)
    motor_constant_range: FloatArray = drawn_range('motor_constant', 'N s^2/rad^2')
    time_constant_up_range: FloatArray = drawn_range('time_constant_up', 's')
    time_constant_down_range: FloatArray = drawn_range('time_constant_down', 's')
    seed: int = quantity(
        -1, doc='seed of what is drawn from ranges, at least 0; -1 where nothing is',
        kind=int, lo=-1,
    )
    position: FloatArray = placement.position('hub of the rotor')
    axis: FloatArray = placement.direction(
        'direction of the thrust, in the link of the rotor', (0.0, 0.0, 1.0)
    )
    link: tuple[str, ...] = placement.link()
    rotation: FloatArray = placement.rotation()
    command_interface: str = quantity(
        'effort', kind=str, choices=('effort', 'velocity', 'throttle'),
        doc='what is commanded: effort [N], velocity, the rotor speed [rad/s], or throttle, 0 to 1 '
        'in position, through esc_curve',
    )
    lag_on: str = quantity(
        'rotor_speed', doc='what follows its demand with the lag', kind=str,
        choices=('rotor_speed', 'thrust'),
    )
    integrator: str = quantity(
        'exact', doc='exact, a right-signed explicit scheme, or one as Isaac Lab has it',
        kind=str, choices=INTEGRATORS,
    )
    step_value: str = step_value()
    mixing: str = quantity(
        '', kind=str, choices=('', 'discrete', 'continuous'),
        doc='step ratio of the explicit schemes: discrete, dt / (dt + time_constant), or '
        'continuous, their quotient; empty: discrete for the isaaclab schemes alone',
    )

    def __post_init__(self) -> None:
        validate(self)
        check_order(self, 'min_thrust', 'max_thrust', 'N')
        for i in np.flatnonzero(self.direction == 0).tolist():
            raise ConfigError(
                'direction', 'expected 1 (counterclockwise) or -1 (clockwise), got 0', i
            )
        for name in DRAWN:
            self._check_range(name)
        check_curve(self, is_original(self.integrator))
        if not is_original(self.integrator):
            self._check_start()
        esc_of(self, lowest=0.0)
        check_supply(self)
        if any(self.battery) and is_original(self.integrator):
            raise ConfigError(
                'integrator', f'{self.integrator} lets a rotor push that stands, so that no '
                'battery feeds it; expected exact, euler or rk4',
            )

    def _check_start(self) -> None:
        """Raise where a rotor would start with more than its largest thrust."""
        start = self.thrust_at(self.initial_rotor_speed)
        for i in np.flatnonzero(start > self.max_thrust * (1.0 + 1e-9)).tolist():
            raise ConfigError(
                'initial_rotor_speed', f'{self.initial_rotor_speed[i]:g} rad/s gives {start[i]:g} '
                f'N, expected at most max_thrust, {self.max_thrust[i]:g} N; rad/s, not rpm?', i,
            )

    def thrust_at(self, speed: FloatArray) -> FloatArray:
        """Return the largest thrusts [N] at rotor speeds [rad/s], (n,)."""
        curve = curve_of(self)
        return curve.thrust(speed) if curve else self._largest_constant * np.square(speed)

    @property
    def _largest_constant(self) -> FloatArray:
        return np.maximum(self.motor_constant, self.motor_constant_range[:, 1])

    @property
    def fastest_start(self) -> FloatArray:
        """Largest rotor speed that a rotor may begin with [rad/s], (n,)."""
        if is_original(self.integrator):
            return np.full(len(self.names), np.finfo(float).max)
        return np.sqrt(self.max_thrust * (1.0 + 1e-9) / self._largest_constant)

    @property
    def by_speed(self) -> bool:
        """Whether rotor speeds are commanded, by themselves or by a throttle."""
        if self.command_interface == 'throttle':
            return self.esc_gives == 'speed'
        return self.command_interface == 'velocity'

    @property
    def lags(self) -> bool:
        """Whether any rotor can be between its start and its demand at the end of a step."""
        slow = ('time_constant_up', 'time_constant_down', 'max_rotor_acceleration',
                'max_thrust_rate', 'time_constant_up_range', 'time_constant_down_range')
        return any(bool(np.any(getattr(self, name) > 0.0)) for name in slow)

    def _check_range(self, name: str) -> None:
        key = f'{name}_range'
        low, high = getattr(self, key).T
        for i in np.flatnonzero(low > high).tolist():
            raise ConfigError(key, f'{low[i]:g} is above its high end {high[i]:g}', 2 * i)
        fixed = getattr(self, name)
        is_far = (fixed > 0.0) & ((fixed < _NEAR * low) | (high < _NEAR * fixed))
        for i in np.flatnonzero(is_far & (low <= 1.0) & (high >= 1.0)).tolist():
            raise ConfigError(key, (
                f'{low[i]:g} to {high[i]:g} is far from {name}, {fixed[i]:g}: a range is absolute, '
                'no factor'
            ), 2 * i)
        if name == 'motor_constant':
            for i in np.flatnonzero((low < 1e-12) & (high > 0.0)).tolist():
                raise ConfigError(key, f'{low[i]:g} is below 1e-12 N s^2/rad^2', 2 * i)
        if np.any(high > 0.0) and self.seed < 0:
            raise ConfigError('seed', f'expected at least 0 to draw from {key}, got {self.seed}')
