# SPDX-License-Identifier: Apache-2.0
"""The value that a step stands for: the mean over it, in closed form, or its end.

A lag that starts at y and has the goal u runs through y + (u - y) (1 - exp(-t / time_constant)).
The means of that and of its square over a step are its moments; with the mean the impulse of a
step is exact, so that it does not depend on the step.
"""
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from propulsion_ros.settings.quantity import FloatArray, quantity

_SERIES = 0.1
"""Below this ratio the closed form loses digits, and nine terms of the series do not."""


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
