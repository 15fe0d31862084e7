# SPDX-License-Identifier: Apache-2.0
"""Thrust and torque of a propeller that turns either way in a stream from either side.

Both are coefficients over the advance angle, Fourier series as the towing tanks publish them:

    beta = atan2(va, 0.35 D w)
    T, Q / D = rho/2 pi/4 D^2 (va^2 + (0.35 D w)^2) C_T(beta), C_Q(beta)

The series are by default those of the Wageningen propeller B4-70 with a pitch of its diameter (van
Lammeren, van Manen and Oosterveld, The Wageningen B-screw series, 1969; also in Smogeli, Control
of Marine Propellers, 2006).
"""
from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

from propulsion_ros.models.common.lag import PiecewiseQuadratic
from propulsion_ros.models.common.points import numbers_of
from propulsion_ros.models.thrusters.dynamics import WEIGHTS, RotorDynamics, within_reach
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.quantity import ComplexArray, FloatArray, IntArray, per_row

_B4_70 = {
    'thrust_cosines': '0.02535 0.1782 0.014674 0.028054 -0.016328 -0.053041 0.00060605 0.036823 '
    '-0.0025429 -0.01768 0.0027331 0.021436 -0.0024782 0.0012317 0.005098 0.0078076 -0.0037816 '
    '0.0035353 0.0053014 0.002194 -0.0028306',
    'thrust_sines': '0 -0.74777 -0.013822 0.10077 -0.011318 0.047186 0.010666 -0.0090239 '
    '-0.0078452 0.023941 0.0080787 -0.00014942 -0.0031925 0.009262 0.0015527 -0.0065683 '
    '-0.00061655 0.0051033 -0.00060263 -0.0082244 -0.00063789',
    'torque_cosines': '0.0024645 0.026718 0.0016056 0.0065822 -0.0022497 -0.0078062 0.00024126 '
    '0.0061475 -0.0016065 -0.0033291 0.0012311 0.0031123 -0.0012559 0.0013948 0.00088397 '
    '5.0358e-05 -0.0007999 0.0013345 0.0011928 -0.00013556 -0.00070825',
    'torque_sines': '0 -0.11081 0.00015909 0.016455 -0.0020601 0.0085343 0.00087856 -0.0031327 '
    '-0.0009665 0.004319 0.0012453 9.5986e-05 -0.00079986 0.0015073 0.00024595 -0.0016918 '
    '0.00051603 0.0011504 -0.00047976 -0.0014566 0.0002328',
}
_CELLS = 8192
"""Cells of a table over the whole circle; linear between its points it is right to 1e-6."""
_MOST = 100
_LEAST = 1e-6
_BLADE = 0.35
"""Radius over diameter at which the blade stands for all of it."""


def _series(of: str) -> Any:
    return per_row(
        '', kind=str,
        doc=f'four_quadrant: Fourier series of the {of} coefficient over the advance angle, from '
        'harmonic 0; all four empty: the Wageningen propeller B4-70 with a pitch ratio of 1',
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class FourQuadrantParams:
    """Four-quadrant coefficients of n propellers; see `FourQuadrant`."""

    thrust_cosines: tuple[str, ...] = _series('thrust')
    thrust_sines: tuple[str, ...] = _series('thrust')
    torque_cosines: tuple[str, ...] = _series('torque')
    torque_sines: tuple[str, ...] = _series('torque')

    def coefficients(self, i: int) -> ComplexArray:
        """Return C_T + i C_Q of propeller ``i`` over a circle of advance angles, from -pi.

        Raises `ConfigError` for what no propeller can do.
        """
        texts = {key: getattr(self, key)[i] for key in _B4_70}
        missing = [key for key, text in texts.items() if not text.strip()]
        if len(missing) == len(texts):
            texts = _B4_70
        elif missing:
            raise ConfigError(missing[0], 'is required where another series is given', i)
        series = [tuple(numbers_of(key, text, i)) for key, text in texts.items()]
        for key, row in zip(texts, series, strict=True):
            if not 1 < len(row) <= _MOST or len(row) != len(series[0]):
                raise ConfigError(
                    key, f'expected 2 to {_MOST} numbers, as many in each series, got {len(row)}',
                    i,
                )
        values = _circle(*series)
        _check(values, i)
        return values


@functools.lru_cache(maxsize=8)
def _circle(*series: tuple[float, ...]) -> ComplexArray:
    """Return C_T + i C_Q at the points of the table from four series."""
    angles = np.outer(np.linspace(-np.pi, np.pi, _CELLS + 1), np.arange(len(series[0])))
    rows = np.array(series)
    thrust, torque = (
        np.cos(angles) @ cosines + np.sin(angles) @ sines for cosines, sines in (rows[:2], rows[2:])
    )
    return np.asarray(thrust + 1j * torque)


def _check(values: ComplexArray, i: int) -> None:
    """Raise for a propeller that does not drive, or gives more power than it takes."""
    for index, sign, way in ((_CELLS // 2, 1.0, 'ahead'), (0, -1.0, 'astern')):
        for key, value in (
            ('thrust_cosines', values[index].real), ('torque_cosines', values[index].imag)
        ):
            if not sign * value >= _LEAST:
                raise ConfigError(
                    key, f'the coefficient of turning {way} at rest in the water is {value:g}, '
                    f'expected {"at least" if sign > 0.0 else "at most"} {sign * _LEAST:g}', i,
                )
    angles = np.linspace(-np.pi, np.pi, _CELLS + 1)
    lost = values.imag * np.cos(angles) / _BLADE - values.real * np.sin(angles)
    worst = int(np.argmin(lost))
    if lost[worst] < 0.0:
        raise ConfigError(
            'torque_cosines', f'at an advance angle of {np.degrees(angles[worst]):.0f} degrees '
            'the water would give more power than it takes; expected torque times rotor speed of '
            'at least thrust times speed of advance', i,
        )


class FourQuadrant:
    """Propellers by their coefficients over the advance angle.

    An inverse reckons with water at rest: no command makes up for the stream.
    """

    def __init__(self, params: Any, columns: IntArray | slice) -> None:
        rows = np.arange(len(params.names))[columns].tolist()
        tables = [params.coefficients(i) for i in rows]
        distinct = {id(table): table for table in tables}
        order = list(distinct)
        starts = np.array([order.index(id(table)) * (_CELLS + 1) for table in tables])
        self._start: IntArray | None = starts if len(order) > 1 else None
        # The last point is the first one, and has no cell behind it.
        self._value = np.concatenate(list(distinct.values()))
        self._rise = np.append(np.diff(self._value), 0.0)
        self.diameter: FloatArray = params.propeller_diameter[columns]
        self._blade = _BLADE * self.diameter
        self._stream: FloatArray = 1.0 - params.wake_fraction[columns]
        self._scale: FloatArray = np.pi / 8.0 * params.fluid_density[columns] * self.diameter**2
        per_square = self._scale * self._blade**2
        self._ahead = per_square * self._value[starts + _CELLS // 2]
        self._astern = -per_square * self._value[starts]
        self.max_speed = self.max_thrust = np.full(len(rows), np.inf)
        self.min_speed = self.min_thrust = -self.max_speed

    @property
    def moment_constant(self) -> FloatArray:
        """Torque over thrust of turning ahead at rest in the water [m], (m,)."""
        return np.asarray(self.diameter * self._ahead.imag / self._ahead.real)

    def loads(self, speed: FloatArray, advance: FloatArray | None) -> ComplexArray:
        """Return T + i Q / D [N] at rotor speeds and speeds through the water, (..., m).

        Q is the torque that turns it, positive where it turns ahead at rest in the water.
        """
        if advance is None:
            per_square = np.where(speed < 0.0, self._astern, self._ahead)
            return np.asarray(per_square * (np.abs(speed) * speed))
        blade, stream = self._blade * within_reach(speed), self._stream * advance
        place = np.arctan2(stream, blade) * (_CELLS / (2.0 * np.pi)) + _CELLS / 2
        cell = place.astype(np.int64)
        part = place - cell
        if self._start is not None:
            cell += self._start
        coefficient = self._value.take(cell) + part * self._rise.take(cell)
        return np.asarray(self._scale * (blade * blade + stream * stream) * coefficient)

    def thrust(self, speed: FloatArray, advance: FloatArray | None = None) -> FloatArray:
        """Return the thrust [N] at a speed through the water [m/s], None for none."""
        return np.asarray(self.loads(speed, advance).real)

    def speed(self, thrust: FloatArray, advance: FloatArray | None = None) -> FloatArray:
        """Return the rotor speed [rad/s] that makes a thrust in water at rest."""
        constant = np.where(thrust < 0.0, self._astern.real, self._ahead.real)
        return np.asarray(np.copysign(np.sqrt(np.abs(thrust) / constant), thrust))

    def pieces(self, advance: FloatArray | None = None) -> PiecewiseQuadratic:
        """Return the curve in water at rest as quadratic pieces; in a stream it has none."""
        none = np.zeros((len(self._blade), 2))
        square = np.stack((-self._astern.real, self._ahead.real), axis=-1)
        return PiecewiseQuadratic(none[:, :1], none, none, square)


class PropellerLoads:
    """What those of n thrusters do that are four-quadrant propellers, m of them.

    The loads of a step are the mean of Gauss' rule with four points of the way of the speed.

    Parameters
    ----------
    columns : IntArray or slice
        Which thrusters they are.
    takes_mean : bool
        Whether the mean stands for a step, or its end.
    """

    def __init__(
        self, params: Any, columns: IntArray | slice, curve: FourQuadrant,
        dynamics: RotorDynamics, takes_mean: bool,
    ) -> None:
        self.columns, self._curve, self._dynamics = columns, curve, dynamics
        self.is_all = curve.diameter.size == len(params.names)
        self._drags = takes_mean and bool(dynamics.drags[columns].any())
        self._lags = takes_mean and bool(dynamics.lags[columns].any())
        self._weights = WEIGHTS + 0j
        self._per_thrust: FloatArray = params.moment_constant[columns]

    def of(
        self, way: tuple[FloatArray, FloatArray, FloatArray], efficiency: FloatArray,
        advance: FloatArray | None, dt: float,
    ) -> ComplexArray:
        """Return T + i Q / D [N] of a step, (..., m); see `MeanThrust.of`."""
        at = self.columns
        if advance is not None:
            advance = advance[..., at]
        if dt == 0.0 or not (self._lags or self._drags):
            return self._curve.loads((efficiency * way[2])[..., at], advance)
        speeds = (efficiency * self._dynamics.on_the_way(way[0], way[1], dt))[..., at]
        loads = self._curve.loads(speeds, advance)
        mean = self._weights.dot(loads.reshape(len(loads), -1))
        return np.asarray(mean.reshape(loads.shape[1:]))

    def torque_beyond(
        self, loads: ComplexArray, thrust: FloatArray, computed: FloatArray
    ) -> FloatArray:
        """Return the torques [N m] beyond `moment_constant` times thrust, (..., m).

        What a limit takes from a ``computed`` thrust, it takes from the torque as well.
        """
        torque, here = loads.imag * self._curve.diameter, thrust[..., self.columns]
        made = computed[..., self.columns]
        cut = here != made
        if np.count_nonzero(cut):
            torque = torque * np.where(cut, here / np.where(cut, made, 1.0), 1.0)
        return np.asarray(torque - self._per_thrust * here)

    def braking(self, loads: ComplexArray, speed: FloatArray) -> FloatArray:
        """Return torques that a motor must give, over `moment_constant` [N], (..., m)."""
        torque = loads.imag * self._curve.diameter * np.sign(speed[..., self.columns])
        return np.asarray(np.maximum(torque, 0.0) / self._per_thrust)
