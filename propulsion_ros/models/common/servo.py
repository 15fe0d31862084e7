# SPDX-License-Identifier: Apache-2.0
"""Servos that gimbals and fins are turned by: second order with limits, and play behind them.

    y'' = natural_frequency^2 (u - y) - 2 damping_ratio natural_frequency y'

with |y''| and |y'| below their limits. A joint with play stays until the servo has crossed it.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from propulsion_ros.models.common.family import restart
from propulsion_ros.models.common.lag import Lag
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.quantity import BoolArray, FloatArray, per_row

_SLOWEST, _FREE = 1e-3, 1e300
_FINE, _MOST = 0.5, 64
"""A step with limits is divided until the frequency times a part is so small, up to so many."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ServoParams:
    """What servos do beyond a first-order lag with a rate limit, n of them."""

    natural_frequency: FloatArray = per_row(
        0.0, 'rad/s', doc='second order in place of the lag; 0: first order by time_constant',
        lo=0.0, hi=1e4,
    )
    damping_ratio: FloatArray = per_row(0.7, '', doc='second order: damping', lo=0.0, hi=10.0)
    acceleration_limit: FloatArray = per_row(
        0.0, 'rad/s^2', doc='second order: largest angular acceleration; 0 means no limit', lo=0.0
    )
    backlash: FloatArray = per_row(
        0.0, 'rad', doc='play between the servo and what it turns, from one side to the other',
        lo=0.0, hi=np.pi, usual=(0.0, 0.1),
    )


def check_servos(params: Any) -> None:
    """Raise `ConfigError` for a limit that nothing has, and where a step would not be exact."""
    for i, frequency in enumerate(params.natural_frequency.tolist()):
        if 0.0 < frequency < _SLOWEST:
            raise ConfigError(
                'natural_frequency', f'expected 0 or at least {_SLOWEST:g} rad/s, '
                f'got {frequency:g} rad/s', i,
            )
        if frequency > 0.0 and params.integrator != 'exact':
            raise ConfigError(
                'natural_frequency', 'a second order needs the exact integrator, '
                f'got {params.integrator}', i,
            )
        if frequency == 0.0 and params.acceleration_limit[i] > 0.0:
            raise ConfigError(
                'acceleration_limit', 'expected 0 without natural_frequency, as a first order has '
                f'no acceleration, got {params.acceleration_limit[i]:g}', i,
            )


class Servo:
    """Servos in the place of a lag; the angles are those of what they turn.

    Parameters
    ----------
    params : ServoParams
        Validated configuration, with a ``rate_limit`` too.
    lag : Lag
        What servos of first order do.
    lower, upper : FloatArray
        Stops [rad], (n, ...); all values of a row have its parameters.

    Attributes
    ----------
    angle, rate : FloatArray
        Of the servos, before the play [rad], and [rad/s] over the natural frequency.
    """

    angle: FloatArray
    rate: FloatArray

    def __init__(
        self, params: Any, lag: Lag, lower: FloatArray, upper: FloatArray,
        batch: tuple[int, ...], step_value: str,
    ) -> None:
        self._takes_mean = step_value == 'mean'
        self._batch, self._shape, self._lag = batch, lower.shape, lag
        self._lower, self._upper = lower, upper
        frequency, damping, rate, acceleration, backlash = (
            self._spread(values) for values in (
                params.natural_frequency, params.damping_ratio, params.rate_limit,
                params.acceleration_limit, params.backlash,
            )
        )
        self._is_second: BoolArray = frequency > 0.0
        self._any, self._all = bool(self._is_second.any()), bool(self._is_second.all())
        self._frequency = np.where(self._is_second, frequency, 1.0)
        self._damping = damping
        self._half: FloatArray | None = 0.5 * backlash if backlash.any() else None
        self._rate_limit = np.where(rate > 0.0, rate, np.inf) / self._frequency
        self._back_limit = -self._rate_limit
        self._has_push = bool(acceleration.any())
        self._push = np.where(acceleration > 0.0, acceleration, np.inf) / self._frequency
        # The amplitude, which never grows, bounds rate and acceleration of what is ahead.
        most = self._push / (self._frequency * np.sqrt(1.0 + 4.0 * damping * damping))
        self._free = np.where(self._is_second, np.minimum(self._rate_limit, most), np.inf)
        self._free = np.minimum(self._free * self._free, _FREE)
        self._is_limited = bool((self._free < _FREE).any())
        self._dt, self._count, self._is_coarse = -1.0, 1, False
        self._whole = self._part = _Motion(*np.zeros((8, 1)))

    def reset(self, indices: Any, angles: FloatArray) -> None:
        """Stop at angles (..., n, ...), in the middle of the play; see `restart`."""
        restart(self, indices, self._batch, angle=angles, rate=np.zeros_like(angles))

    def advance(
        self, y: FloatArray, u: FloatArray, dt: float
    ) -> tuple[FloatArray, FloatArray]:
        """Return the angles of the joints after dt [s], and those that the step stands for."""
        angle = self.angle
        if self._all:
            end, mean = self._second(angle, u, dt)
        else:
            end, mean = self._lag.advance(angle, u, dt)
            if self._any:
                end, mean = (np.where(self._is_second, second, first) for second, first in zip(
                    self._second(angle, u, dt), (end, mean), strict=True
                ))
        self.angle = end
        last = self._behind(y, end)
        return last, self._behind(y, mean) if self._takes_mean else last

    def stop(self) -> None:
        """Stop where they are."""
        self.rate = np.zeros_like(self.rate)

    def _behind(self, joint: FloatArray, servo: FloatArray) -> FloatArray:
        """Return where joints are once their servos came to angles."""
        if self._half is None:
            return servo
        return np.minimum(np.maximum(joint, servo - self._half), servo + self._half)

    def _second(
        self, angle: FloatArray, goal: FloatArray, dt: float
    ) -> tuple[FloatArray, FloatArray]:
        """Return angles after dt [s] and their means; take the rates."""
        if dt == 0.0:
            return angle, angle
        if dt != self._dt:
            self._prepare(dt)
        error, rate = angle - goal, self.rate
        if not self._is_limited or not np.count_nonzero(
            error * error + rate * rate > self._free
        ):
            end, last, mean = self._whole.of(error, rate)
            end, self.rate = self._stopped(goal + end, last)
            return end, self._within(goal + mean)
        end, last = angle, rate
        for _ in range(self._count):
            end, last = self._stopped(*self._held(end, last, goal))
        self.rate = last
        # The mean of the cubic that has the ends and their rates.
        mean = 0.5 * (angle + end) + self._whole.angle / 12.0 * (rate - last)
        return end, self._within(mean)

    def _held(
        self, angle: FloatArray, rate: FloatArray, goal: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return angles and rates after a part of a step in which limits may count."""
        part = self._part
        end, last = part.end_of(angle - goal, rate)
        ramp = last
        if self._has_push:
            ramp = np.minimum(np.maximum(last, rate - part.push), rate + part.push)
        held = np.minimum(np.maximum(ramp, self._back_limit), self._rate_limit)
        cut = held != last
        end = goal + end
        if np.count_nonzero(cut):
            # The rate rises in a line, and stays once it is at its limit.
            over, rise = ramp - held, ramp - rate
            lost = over * over / (2.0 * np.where(over == 0.0, 1.0, rise))
            end = np.where(cut, angle + part.angle * (0.5 * (rate + ramp) - lost), end)
        if self._is_coarse:
            # A part that is much longer than the servo needs would hide how it got there.
            most = part.angle * np.minimum(self._rate_limit, np.abs(rate) + 0.5 * part.push)
            end = np.minimum(np.maximum(end, angle - most), angle + most)
        return end, held

    def _stopped(
        self, angle: FloatArray, rate: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return angles between the stops, and rates, of which there is none at a stop."""
        within = self._within(angle)
        beyond = within != angle
        return within, np.where(beyond, 0.0, rate) if np.count_nonzero(beyond) else rate

    def _within(self, angle: FloatArray) -> FloatArray:
        return np.minimum(np.maximum(angle, self._lower), self._upper)

    def _prepare(self, dt: float) -> None:
        """Make the motions of a step, and of the parts of one in which limits count."""
        limited = self._frequency[self._free < _FREE]
        fastest = float(limited.max()) if limited.size else 0.0
        count = max(np.ceil(fastest * dt / _FINE), 1)
        self._count, self._is_coarse = int(min(count, _MOST)), count > _MOST
        self._whole = _motion(self._frequency, self._damping, self._push, dt)
        self._part = self._whole if self._count == 1 else _motion(
            self._frequency, self._damping, self._push, dt / self._count
        )
        self._dt = dt

    def _spread(self, values: FloatArray) -> FloatArray:
        """Return a value of each row for all of the row."""
        return np.broadcast_to(values.reshape(-1, *(1,) * (len(self._shape) - 1)), self._shape)


class _Motion(NamedTuple):
    """Where a time brings servos without limits, linear in their errors and rates."""

    error_by_error: FloatArray
    error_by_rate: FloatArray
    rate_by_error: FloatArray
    rate_by_rate: FloatArray
    mean_by_error: FloatArray
    mean_by_rate: FloatArray
    angle: FloatArray
    """Angle over rate that passes [rad]."""
    push: FloatArray
    """Largest change of the rate over the natural frequency in a part of a step [rad]."""

    def end_of(self, error: FloatArray, rate: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the errors and rates at the end."""
        return (
            self.error_by_error * error + self.error_by_rate * rate,
            self.rate_by_error * error + self.rate_by_rate * rate,
        )

    def of(
        self, error: FloatArray, rate: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the same, and the mean errors."""
        mean = self.mean_by_error * error + self.mean_by_rate * rate
        return (*self.end_of(error, rate), mean)


def _motion(
    frequency: FloatArray, damping: FloatArray, push: FloatArray, dt: float
) -> _Motion:
    """Return the motion of a time, above 0."""
    from scipy.linalg import expm

    # Error and rate over frequency, and behind them their integrals.
    rates = np.zeros((*frequency.shape, 4, 4))
    rates[..., 0, 1], rates[..., 1, 0], rates[..., 1, 1] = 1.0, -1.0, -2.0 * damping
    rates[..., 2, 0] = rates[..., 3, 1] = 1.0
    span = frequency * dt
    after = expm(rates * span[..., None, None])
    return _Motion(
        after[..., 0, 0], after[..., 0, 1], after[..., 1, 0], after[..., 1, 1],
        after[..., 2, 0] / span, after[..., 2, 1] / span, span, push * dt,
    )
