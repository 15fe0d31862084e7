# SPDX-License-Identifier: Apache-2.0
"""Thrust over rotor speed by a measured curve, where motor_constant times its square is too rough.

The lag, its limits and the mean over a step are those of a rotor whose thrust goes with the square
of its speed; the curve bends that thrust, at the root mean square of the speed over a step.
"""
from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np

from propulsion_ros.models.common.points import Curves, by_rows, numbers_of, pairs_of
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.quantity import FloatArray, per_row, quantity

_SAMPLES = 512
_DOUBLINGS = 40
_DIP = 0.02
"""How far a curve may fall below an earlier value, over its largest: a fit to data may dip."""


@dataclass(frozen=True, kw_only=True, eq=False)
class SpeedCurveParams:
    """Curves of n rotors."""

    thrust_curve: tuple[str, ...] = per_row(
        '', kind=str,
        doc='thrust [N] over rotor speed w [rad/s] in place of motor_constant w^2, as coefficients '
        "'c0 c1 c2 ...' of c0 + c1 w + c2 w^2 ..., or as points 'w0 f0 w1 f1 ...'; empty: none",
    )
    thrust_curve_kind: str = quantity(
        'polynomial', kind=str, choices=('polynomial', 'table'), doc='form of thrust_curve'
    )


class SpeedCurve:
    """Thrusts of n rotors at rotor speeds, and back.

    The parameters need be validated but for their curves; rotors without one keep
    motor_constant w^2.

    Attributes
    ----------
    square : FloatArray
        motor_constant, (n,).

    Raises
    ------
    ConfigError
        For a curve that is none, pulls or falls, or coefficients that never reach max_thrust.
    """

    def __init__(self, params: Any) -> None:
        self.square: FloatArray = params.motor_constant
        table = params.thrust_curve_kind == 'table'
        rows = [
            _points(text, i) if table else np.array(
                numbers_of('thrust_curve', text, i) or [0.0, 0.0, constant]
            ) for i, (text, constant) in enumerate(
                zip(params.thrust_curve, self.square.tolist(), strict=True)
            )
        ]
        self._curves = Curves(rows, table)
        # Beyond its last point a table has no more thrust.
        tops = np.array([row[0, -1] for row in rows]) if table else self._tops(params.max_thrust)
        self._prepare_inverse(tops)

    def thrust(self, speed: FloatArray) -> FloatArray:
        """Return thrusts [N] at rotor speeds [rad/s], (..., n)."""
        return self._curves.at(speed)

    def speed(self, thrust: FloatArray) -> FloatArray:
        """Return the least rotor speeds that give thrusts [N], (..., n), or the nearest."""
        return by_rows(thrust, self._inverse)

    def bend(self, thrust: FloatArray) -> FloatArray:
        """Return what the curve gives where motor_constant w^2 would give a thrust, (..., n)."""
        return self.thrust(np.sqrt(thrust / self.square))

    def unbend(self, thrust: FloatArray) -> FloatArray:
        """Return motor_constant w^2 at the rotor speeds that give thrusts, (..., n); NaN stays."""
        speed = self.speed(thrust)
        return np.where(np.isnan(thrust), np.nan, self.square * np.square(speed))

    def _tops(self, most: FloatArray) -> FloatArray:
        """Return rotor speeds at which polynomials reach their largest thrusts [N], (n,)."""
        tops = np.sqrt(most / self.square)
        for _ in range(_DOUBLINGS):
            short = self.thrust(tops) < most
            if not short.any():
                return tops
            tops = np.where(short, 1.5 * tops, tops)
        raise ConfigError(
            'thrust_curve', f'never reaches max_thrust, {most[short][0]:g} N',
            int(np.flatnonzero(short)[0]),
        )

    def _prepare_inverse(self, tops: FloatArray) -> None:
        """Prepare the way back from speeds up to the top ones, and refuse what has none."""
        speeds = np.linspace(0.0, 1.0, _SAMPLES)[:, None] * tops
        values = self.thrust(speeds)
        for i, column in enumerate(values.T):
            highest = np.maximum.accumulate(column)
            if column.min() < 0.0:
                raise ConfigError('thrust_curve', f'gives {column.min():g} N, below 0', i)
            if np.any(highest - column > _DIP * column.max()):
                raise ConfigError('thrust_curve', 'falls while the rotor speeds up', i)
        self._inverse = [
            (np.maximum.accumulate(column), speed)
            for column, speed in zip(values.T, speeds.T, strict=True)
        ]


def curve_of(params: Any) -> SpeedCurve | None:
    """Return the thrust curves of rotors, None where there is none; raise `ConfigError`."""
    return SpeedCurve(params) if any(params.thrust_curve) else None


def without_curve(params: Any, curve: SpeedCurve | None) -> Any:
    """Return a configuration whose limits are those of motor_constant w^2 at the same speeds."""
    if curve is None:
        return params
    return dataclasses.replace(
        params, thrust_curve='', max_thrust=curve.unbend(params.max_thrust),
        min_thrust=curve.unbend(params.min_thrust), command_interface=(
            'velocity' if params.by_speed else 'effort'
        ),
    )


def check_curve(params: Any, is_original: bool) -> None:
    """Raise `ConfigError` for what needs a thrust that goes with the square of the speed."""
    if not any(params.thrust_curve):
        return
    for key, met in (
        ('integrator', is_original),
        ('lag_on', params.lag_on == 'thrust'),
        ('max_thrust_rate', np.any(params.max_thrust_rate > 0.0)),
        ('motor_constant_range', np.any(params.motor_constant_range > 0.0)),
    ):
        if met:
            raise ConfigError(
                key, 'needs a thrust in proportion to the square of the rotor speed; remove it, '
                'or thrust_curve'
            )
    curve_of(params)


def _points(text: str, index: int) -> FloatArray:
    """Return speeds and thrusts of a table, (2, k)."""
    values = numbers_of('thrust_curve', text, index)
    if not values:
        raise ConfigError('thrust_curve', 'a table is required for every rotor', index)
    speeds, thrusts = pairs_of('thrust_curve', values, 'rotor speed and thrust', index)
    if speeds[0] != 0.0 or np.any(np.diff(speeds) <= 0.0):
        raise ConfigError('thrust_curve', 'expected rotor speeds that rise from 0', index)
    return np.stack([speeds, thrusts])
