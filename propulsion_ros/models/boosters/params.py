# SPDX-License-Identifier: Apache-2.0
"""Configuration of boosters and of their gimbals: two joints each, with servos; see `Steering`.

The lag of a gimbal is that of PyFlyt's Gimbals, and the thrust axis u points along R1 R2 u.
"""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from propulsion_ros.models.common import placement
from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY
from propulsion_ros.models.common.efficiency import live_factor
from propulsion_ros.models.common.esc import EscParams, esc_of
from propulsion_ros.models.common.lag import step_value
from propulsion_ros.models.common.servo import ServoParams, check_servos
from propulsion_ros.models.common.thrust_curve import parse_curve
from propulsion_ros.models.common.wrench import unit_rows
from propulsion_ros.models.steering.steering import Steering
from propulsion_ros.models.supply.motors import with_motors
from propulsion_ros.models.supply.tanks import TanksParams
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.quantity import (
    BoolArray,
    FloatArray,
    IntArray,
    check_known,
    check_order,
    group,
    names,
    per_row,
    quantity,
    validate,
)

_AS_RANGE = -1.0


@dataclass(frozen=True, kw_only=True, eq=False)
class GimbalsParams(ServoParams):
    """Configuration of g gimbals, each with two axes."""

    booster: tuple[str, ...] = names('booster that each gimbal turns', ())
    joints: tuple[str, ...] = quantity(
        '', doc='joints of the outer and the inner axis', kind=str, shape=('n', 2),
        geometry='joints',
    )
    range: FloatArray = quantity(
        0.0873, 'rad', doc='largest angle to either side, per axis', lo=0.0, hi=np.pi,
        shape=('n', 2),
    )
    negative_range: FloatArray = quantity(
        _AS_RANGE, 'rad', doc='largest angle to the negative side, per axis; -1: that of range',
        lo=_AS_RANGE, hi=np.pi, shape=('n', 2),
    )
    time_constant: FloatArray = per_row(0.0, 's', doc='first-order lag of the angle', lo=0.0)
    rate_limit: FloatArray = per_row(
        0.0, 'rad/s', doc='largest rate of the angle; 0 means no limit', lo=0.0
    )
    axes: FloatArray = quantity(
        (1.0, 0.0, 0.0, 0.0, 1.0, 0.0), doc='unit axes of rotation in base_link',
        shape=('n', 2, 3), geometry='joint_axes',
    )
    pivots: FloatArray = quantity(
        (0.0,) * 6, 'm', doc='points in base_link that the axes pass through',
        shape=('n', 2, 3), geometry='joint_origins',
    )
    integrator: str = quantity(
        'exact', doc='exact, or the explicit step of the original', kind=str,
        choices=('exact', 'euler'),
    )

    def __post_init__(self) -> None:
        validate(self)
        check_servos(self)
        for i, angle in enumerate(self.negative_range.ravel().tolist()):
            if _AS_RANGE < angle < 0.0:
                raise ConfigError(
                    'negative_range', f'expected a size, or -1 for that of range, got {angle:g}', i
                )
        owners = [booster for booster in self.booster for _ in range(2)]
        joints = tuple(
            joint or f'{owner}_gimbal_{i % 2 + 1}'
            for i, (owner, joint) in enumerate(zip(owners, self.joints, strict=True))
        )
        object.__setattr__(self, 'joints', joints)


def gimbals_of(
    params: GimbalsParams, batch: tuple[int, ...] = (), step_value: str = 'end'
) -> Steering:
    """Return gimbals, whose angles are (..., g, 2); see `Steering`."""
    negative = params.negative_range
    lower = -np.where(negative == _AS_RANGE, params.range, negative)
    axes = unit_rows('gimbals.axes', params.axes)
    return Steering(params, axes, params.pivots, (lower, params.range), batch, step_value)


_BY_IMPULSE = -1.0
_LEAST_IMPULSE = 1e-3


@dataclass(frozen=True, kw_only=True, eq=False)
class BoostersParams(EscParams):
    """Configuration of n boosters, their tanks and gimbals."""

    names: tuple[str, ...] = names('booster names, the order of all arrays')
    command_interface: str = quantity(
        'effort', kind=str, choices=('effort', 'throttle'),
        doc='what is commanded: effort [N], or throttle, 0 to 1 in position, through esc_curve',
    )
    max_thrust: FloatArray = per_row(
        unit='N', doc='thrust at throttle 1', above=0.0, file='motor_file'
    )
    min_thrust: FloatArray = per_row(0.0, 'N', doc='lowest thrust of a lit booster', lo=0.0)
    max_fuel_rate: FloatArray = per_row(
        _BY_IMPULSE, 'kg/s', lo=_BY_IMPULSE,
        doc='propellant burnt at throttle 1, required without specific_impulse; -1: by that',
    )
    specific_impulse: FloatArray = per_row(
        0.0, 's', doc='impulse over the weight of the propellant; 0: by max_fuel_rate', lo=0.0,
        usual=(60.0, 545.0),
    )
    ignition_delay: FloatArray = per_row(
        0.0, 's', doc='time from the command that lights a booster until it burns', lo=0.0
    )
    exit_area: FloatArray = per_row(
        0.0, 'm^2', lo=0.0,
        doc='of the nozzle, for the thrust over the ambient pressure; 0: it does not depend on it',
    )
    reference_pressure: FloatArray = per_row(
        101325.0, 'Pa', doc='exit_area: ambient pressure at which max_thrust holds', lo=0.0
    )
    site_altitude: float = quantity(
        0.0, 'm', doc='exit_area: height of the world origin above sea level', lo=-1000.0,
        hi=86000.0,
    )
    misalignment: FloatArray = quantity(
        (0.0, 0.0, 0.0), 'rad', lo=-np.pi, hi=np.pi, shape=('n', 3), usual=(0.0, 0.1),
        doc='rotation of the thrust from its axis, a vector in the axes of the link; commands and '
        'allocation do not know it',
    )
    time_constant: FloatArray = per_row(0.0, 's', doc='first-order lag of the throttle', lo=0.0)
    reignitable: BoolArray = per_row(
        True, doc='false: once lit it burns until its tank is empty', kind=bool
    )
    noise_ratio: FloatArray = per_row(
        0.0, '', lo=0.0, hi=1.0, usual=(0.0, 0.5),
        doc='standard deviation of the thrust over the thrust; noise is cut at 0 and twice the '
        'thrust, so that its mean is 0',
    )
    noise_seed: IntArray = per_row(
        0, doc='seed of the noise; equal seeds give equal noise', kind=int, lo=0
    )
    efficiency: FloatArray = live_factor('factor on the thrust for the same propellant')
    thrust_curve: tuple[str, ...] = per_row(
        '', kind=str,
        doc="solid motor: time since ignition [s] and thrust [N], 't0 f0 t1 f1 ...', peaking at "
        'max_thrust; min_thrust, time_constant and reignitable have no meaning then; '
        'empty: throttled',
    )
    motor_file: tuple[str, ...] = per_row(
        '', kind=str,
        doc='solid motor: RASP file (.eng) that gives thrust_curve, max_thrust, max_fuel_rate, '
        'and the capacity of a tank that has none; empty: no file',
    )
    motor: tuple[str, ...] = per_row(
        '', kind=str, doc='motor_file: name of the motor; empty: the only one of the file'
    )
    tank: tuple[str, ...] = per_row(
        '', doc='tank that each booster burns from; empty: propellant without end', kind=str
    )
    position: FloatArray = placement.position('where the thrust acts')
    axis: FloatArray = placement.direction(
        'direction of the thrust, in the link of the booster', (0.0, 0.0, 1.0)
    )
    link: tuple[str, ...] = placement.link()
    rotation: FloatArray = placement.rotation()
    integrator: str = quantity(
        'exact', doc='exact, or the explicit step of the original', kind=str,
        choices=('exact', 'euler'),
    )
    step_value: str = step_value()
    exact_final_step: bool = quantity(
        True, kind=bool,
        doc='scale the thrust of the step that empties a tank to the propellant left',
    )
    tanks: TanksParams = group(TanksParams, element='tank')
    gimbals: GimbalsParams = group(GimbalsParams, element='gimbal')

    from_files = staticmethod(with_motors)

    def __post_init__(self) -> None:
        validate(self)
        for i, path in enumerate(self.motor_file):
            if path and not self.thrust_curve[i]:
                raise ConfigError(
                    'motor_file', 'is read where parameters are; in Python give the thrust_curve '
                    'of read_motor instead', i,
                )
        check_order(self, 'min_thrust', 'max_thrust', 'N')
        self._take_impulse()
        check_known('tank', self.tank, 'tank', self.tanks.names)
        check_known('gimbals.booster', self.gimbals.booster, 'booster', self.names)
        for i, text in enumerate(self.thrust_curve):
            if text:
                peak = float(np.max(parse_curve(text, i)[1]))
                if not np.isclose(peak, self.max_thrust[i], rtol=1e-6, atol=0.0):
                    raise ConfigError(
                        'thrust_curve',
                        f'peaks at {peak:g} N, expected max_thrust, {self.max_thrust[i]:g} N; '
                        f'write {peak:g} there, or scale the curve', i,
                    )
        if self.esc_gives == 'speed':
            raise ConfigError('esc_gives', 'expected thrust, a booster has no speed, got speed')
        esc_of(self, lowest=0.0)
        commanded = (*self.names, *self.gimbals.joints)
        for i, joint in enumerate(self.gimbals.joints):
            if joint in commanded[: len(self.names) + i]:
                raise ConfigError(
                    'gimbals.joints', f'{joint!r} is named twice; each axis turns by its own', i
                )

    def _take_impulse(self) -> None:
        """Set fuel rates that are given as a specific impulse."""
        rate, impulse = self.max_fuel_rate.copy(), self.specific_impulse
        for i in np.flatnonzero((impulse > 0.0) & (impulse < _LEAST_IMPULSE)).tolist():
            raise ConfigError(
                'specific_impulse', f'expected 0 or at least {_LEAST_IMPULSE:g} s, '
                f'got {impulse[i]:g} s', i,
            )
        with np.errstate(divide='ignore'):
            by_impulse = self.max_thrust / (impulse * STANDARD_GRAVITY)
        for i in range(len(self.names)):
            # A file has some of the digits.
            if impulse[i] > 0.0 and (
                rate[i] == _BY_IMPULSE or np.isclose(rate[i], by_impulse[i], rtol=1e-5, atol=0.0)
            ):
                rate[i] = by_impulse[i]
            elif impulse[i] > 0.0:
                raise ConfigError(
                    'max_fuel_rate', f'{rate[i]:g} kg/s and specific_impulse {impulse[i]:g} s: '
                    'expected one of them', i,
                )
            elif rate[i] < 0.0:
                raise ConfigError(
                    'max_fuel_rate', 'is required, or specific_impulse'
                    if rate[i] == _BY_IMPULSE else f'{rate[i]:g} is below 0 kg/s', i,
                )
        rate.flags.writeable = False
        object.__setattr__(self, 'max_fuel_rate', rate)
