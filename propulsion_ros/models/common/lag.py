# SPDX-License-Identifier: Apache-2.0
"""First-order lag, exact for any step, with an optional rate limit; and what a step stands for.

A lag that starts at y and has the goal u runs through y + (u - y) (1 - exp(-t / time_constant)).
The means of that and of its square over a step are its moments; with the mean the impulse of a
step is exact, so that it does not depend on the step.
"""
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.quantity import BoolArray, FloatArray, quantity

_SERIES = 0.1
"""Below this ratio the closed form loses digits, and nine terms of the series do not."""


def lag_gain(time_constant: FloatArray, dt: float, integrator: str = 'exact') -> FloatArray:
    """Return g so that ``y += g * (u - y)`` advances y' = (u - y) / time_constant by dt.

    Parameters
    ----------
    time_constant : FloatArray
        Any shape [s]; 0 follows at once.
    dt : float
        Step [s], at least 0.
    integrator : {'exact', 'euler'}
        'exact' is the closed form 1 - exp(-dt / time_constant), stable for any dt; 'euler' is
        dt / time_constant, as PyFlyt has it.

    Raises
    ------
    ConfigError
        For 'euler' with a step that diverges (dt above two time constants).
    """
    tau = np.asarray(time_constant, dtype=float)
    ratio = lag_ratio(tau, dt)
    if integrator == 'exact':
        return np.asarray(-np.expm1(-ratio))
    if np.any(ratio > 2.0):
        raise ConfigError(
            'integrator',
            f'euler diverges for a step of {dt:g} s with a time constant of {np.min(tau):g} s; '
            f'expected at least {dt / 2:g} s, or the exact integrator',
        )
    return ratio


def lag_ratio(time_constant: FloatArray, dt: float) -> FloatArray:
    """Return dt over time constants, infinite for a time constant of 0 unless dt is 0 too."""
    with np.errstate(divide='ignore', invalid='ignore', over='ignore'):
        return np.where(time_constant > 0.0, dt / time_constant, np.inf if dt > 0.0 else 0.0)


class Lag:
    """y' = (u - y) / time_constant with |y'| <= rate_limit, advanced without step-size error.

    Parameters
    ----------
    time_constant : FloatArray
        Shape (n, ...) [s]; 0 follows at once.
    rate_limit : FloatArray, optional
        Same shape, units of y per second; 0 means no limit.
    integrator : {'exact', 'euler'}
        See `lag_gain`.
    step_value : {'end', 'mean'}
        What `advance` returns beside y at the end; an explicit step knows its end alone.
    """

    def __init__(
        self,
        time_constant: FloatArray,
        rate_limit: FloatArray | None = None,
        integrator: str = 'exact',
        step_value: str = 'end',
    ) -> None:
        self._tau = np.asarray(time_constant, dtype=float)
        rate = np.zeros_like(self._tau) if rate_limit is None else np.asarray(rate_limit, float)
        self._limited = bool(np.any(rate > 0.0))
        self._rate = np.where(rate > 0.0, rate, np.inf)
        # How far from its goal it is where the free lag is as fast as the limit.
        self._free = np.where(rate > 0.0, rate * self._tau, np.inf)
        self._integrator = integrator
        self._dt = -1.0
        self._gain = self._mean_gain = np.zeros_like(self._tau)
        self._takes_mean = step_value == 'mean' and integrator == 'exact'
        self._follows: BoolArray | None = None
        self._at_once: BoolArray = self._tau == 0.0

    def step(self, y: FloatArray, u: FloatArray, dt: float) -> FloatArray:
        """Return y after dt [s] under the constant input u; y and u are (..., n, ...)."""
        return self.advance(y, u, dt)[0]

    def advance(
        self, y: FloatArray, u: FloatArray, dt: float
    ) -> tuple[FloatArray, FloatArray]:
        """Return y after dt [s], see `step`, and the value that the step stands for."""
        self._use(dt)
        error = u - y
        slews = self._slews(error)
        end = self._end(y, u, error, dt, slews)
        if not self._takes_mean or dt == 0.0:
            return end, end
        if slews:
            return end, self._slewed_mean(u, error, dt)
        mean = y + self._mean_gain * error
        return end, mean if self._follows is None else np.where(self._at_once, end, mean)

    def _use(self, dt: float) -> None:
        """Prepare the gains of a step."""
        if dt == self._dt:
            return
        self._gain = lag_gain(self._tau, dt, self._integrator)
        follows = self._gain == 1.0
        self._follows = follows if follows.any() else None
        if self._takes_mean:
            self._mean_gain = ramp_moments(lag_ratio(self._tau, dt))[0]
        self._dt = dt

    def _slews(self, error: FloatArray) -> bool:
        """Return whether the limit holds for any; an explicit step does not ask how far it is."""
        if not self._limited or self._integrator != 'exact':
            return self._limited
        # Most steps are small, and what is free of the limit takes a tenth of the time.
        return bool(np.count_nonzero(np.abs(error) > self._free))

    def _end(
        self, y: FloatArray, u: FloatArray, error: FloatArray, dt: float, slews: bool
    ) -> FloatArray:
        if not slews:
            moved = y + self._gain * error
            # Rounding would leave what follows at once a bit beside its input.
            return moved if self._follows is None else np.where(self._follows, u, moved)
        if self._integrator == 'exact':
            return self._slewed(u, error, dt)
        travel = self._rate * dt
        return y + np.clip(self._gain * error, -travel, travel)

    def _slewing(self, size: FloatArray, dt: float) -> tuple[FloatArray, FloatArray]:
        """Return for how long the limit holds for errors of a size, and what it leaves of them."""
        with np.errstate(divide='ignore', invalid='ignore', over='ignore'):
            slewing = np.clip(size / self._rate - self._tau, 0.0, dt)
            return slewing, size - np.where(slewing > 0.0, self._rate * slewing, 0.0)

    def _slewed_mean(self, u: FloatArray, error: FloatArray, dt: float) -> FloatArray:
        size = np.abs(error)
        slewing, left = self._slewing(size, dt)
        with np.errstate(invalid='ignore'):
            remains = 1.0 - ramp_moments(lag_ratio(self._tau, 1.0) * (dt - slewing))[0]
        # A time constant of 0 and no time left are 0 times infinity.
        remains = np.where(slewing < dt, remains, 1.0)
        area = 0.5 * slewing * (size + left) + (dt - slewing) * left * remains
        return np.asarray(u - np.copysign(area / dt, error))

    def _slewed(self, u: FloatArray, error: FloatArray, dt: float) -> FloatArray:
        # The limit holds first, while the error is large; the free lag follows.
        size = np.abs(error)
        slewing, left = self._slewing(size, dt)
        with np.errstate(divide='ignore', invalid='ignore', over='ignore'):
            decay = np.where(self._tau > 0.0, np.exp(-(dt - slewing) / self._tau), 0.0)
        # Without a time constant the whole error is gone unless the limit lasted all the step.
        left = np.where((self._tau > 0.0) | (slewing < dt), left * decay, left)
        return np.asarray(u - np.copysign(left, error))


def step_value() -> Any:
    """Return the quantity that chooses what a step stands for."""
    return quantity(
        'mean', kind=str, choices=('mean', 'end'),
        doc='what a step with the exact integrator applies: the mean of the lag over it, or its '
        'end, as the originals do',
    )


def ramp_moments(ratio: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the means of 1 - exp(-t) and of its square, t from 0 to a ratio of at least 0."""
    large = np.maximum(ratio, _SERIES)
    first = 1.0 + np.expm1(-large) / large
    second = 2.0 * first - 1.0 - 0.5 * np.expm1(-2.0 * large) / large
    small = ratio < _SERIES
    if not np.any(small):
        return first, second
    x = -np.minimum(ratio, _SERIES)
    # Factors of (-ratio)^k are 1 / (k + 1)! and (2^k - 2) / (k + 1)!.
    term, series, square = np.ones_like(x), np.zeros_like(x), np.zeros_like(x)
    for k in range(1, 10):
        term = term * x / (k + 1)
        series = series - term
        square = square + (2.0**k - 2.0) * term
    return np.where(small, series, first), np.where(small, square, second)


class LagRun(NamedTuple):
    """Lags on their way through one step, each (..., n)."""

    start: FloatArray
    goal: FloatArray
    end: FloatArray
    time_constant: FloatArray
    """[s], above 0."""
    dt: float
    """[s], above 0."""
    moments: tuple[FloatArray, FloatArray]
    """`ramp_moments` of dt over the time constants, which a user keeps for each dt."""


class PiecewiseQuadratic(NamedTuple):
    """n functions of the state of a lag, quadratic between knots."""

    knots: FloatArray
    """Where they change, rising, (..., n, k); infinite where a row has fewer."""
    constant: FloatArray
    linear: FloatArray
    square: FloatArray
    """Factors of 1, y and y^2, (..., n, k + 1)."""

    def mean(self, run: LagRun) -> FloatArray:
        """Return the mean value on the way, (..., n)."""
        shape, pieces = run.start.shape, self.constant.shape[-1]
        at = np.add.reduce((0.5 * (run.start + run.end))[..., None] >= self.knots, axis=-1)
        # All rows one behind the other: numpy takes long to find out where several indices lead.
        first = np.arange(0, self.constant.size, pieces).reshape(self.constant.shape[:-1])
        piece = first + at
        here = [factor.take(piece) for factor in self[1:]]
        result = _mean_value(here, run.start, run.goal - run.start, run.moments)
        low = np.minimum(run.start, run.end)[..., None]
        high = np.maximum(run.start, run.end)[..., None]
        passed = (self.knots > low) & (self.knots < high)
        if np.count_nonzero(passed):
            crosses = passed.any(axis=-1)
            start, goal, tau = (
                np.broadcast_to(row, shape)[crosses][:, None]
                for row in (run.start, run.goal, run.time_constant)
            )
            knots, *factors = (
                np.broadcast_to(row, (*shape, row.shape[-1]))[crosses] for row in self
            )
            result[crosses] = _mean_across(
                knots, factors, LagRun(start, goal, goal, tau, run.dt, run.moments)
            )
        return result


def _mean_across(
    knots: FloatArray, factors: list[FloatArray], run: LagRun
) -> FloatArray:
    """Return the mean values of m functions whose lag, (m, 1), passes knots, (m,)."""
    start, goal, _, time_constant, dt, _ = run
    beyond = np.full((len(knots), 1), np.inf)
    low, high = np.hstack((-beyond, knots)), np.hstack((knots, beyond))
    rising = goal > start

    def time_at(place: FloatArray) -> FloatArray:
        with np.errstate(divide='ignore', over='ignore'):
            part = np.minimum(np.maximum((place - start) / (goal - start), 0.0), 1.0)
            return np.minimum(-time_constant * np.log1p(-part), dt)

    spent = time_at(np.where(rising, high, low)) - time_at(np.where(rising, low, high))
    entry = np.where(rising, np.maximum(start, low), np.minimum(start, high))
    entry = np.where(spent > 0.0, entry, start)
    # A time constant may be so small that it fits into a step more often than numbers count.
    with np.errstate(over='ignore'):
        ratio = spent / time_constant
    values = _mean_value(factors, entry, goal - entry, ramp_moments(ratio))
    return np.asarray(np.sum(spent * values, axis=-1) / dt)


def _mean_value(
    factors: list[FloatArray], start: FloatArray, error: FloatArray,
    moments: tuple[FloatArray, FloatArray],
) -> FloatArray:
    """Return the mean of a quadratic function over a lag that starts with an error."""
    constant, linear, square = factors
    bend = start * square
    value = constant + start * (linear + bend)
    slope = error * (linear + 2.0 * bend)
    return np.asarray(value + moments[0] * slope + moments[1] * square * error * error)
