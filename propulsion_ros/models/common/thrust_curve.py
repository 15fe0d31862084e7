# SPDX-License-Identifier: Apache-2.0
"""Solid motors: once lit, thrust follows a measured curve of time and nothing stops it.

The curve is linear between its points, as in the RASP format. A step gives the mean thrust over
the step, from the exact integral, so that the total impulse does not depend on the step.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from propulsion_ros.models.common.family import restart
from propulsion_ros.models.common.points import check_cells, numbers_of, pairs_of
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.quantity import BoolArray, FloatArray


def parse_curve(text: str, index: int | None = None) -> tuple[FloatArray, FloatArray]:
    """Return times [s] and thrusts [N] of a text 't0 f0 t1 f1 ...', apart by blanks or commas.

    A curve that begins after 0 rises from no thrust at 0; after its last point there is none.

    Raises `ConfigError` for what is not a number, an odd count, times that do not rise from 0 on, a
    negative thrust, or no thrust at all.
    """
    def wrong(problem: str) -> ConfigError:
        return ConfigError('thrust_curve', problem, index)

    values = numbers_of('thrust_curve', text, index)
    times, thrusts = pairs_of('thrust_curve', values, 'time and thrust', index)
    if times[0] < 0.0:
        raise wrong(f'time {times[0]:g} s is before ignition')
    for i in np.flatnonzero(np.diff(times) <= 0.0).tolist():
        raise wrong(f'time {times[i + 1]:g} s does not come after {times[i]:g} s')
    for thrust in thrusts[thrusts < 0.0].tolist():
        raise wrong(f'thrust {thrust:g} N is negative')
    if not np.any(thrusts > 0.0):
        raise wrong('expected a thrust above 0 N')
    if times[0] > 0.0:
        times, thrusts = np.insert(times, 0, 0.0), np.insert(thrusts, 0, 0.0)
    return times, thrusts


class BurnCurves:
    """k solid motors, each with a clock that starts when it is lit.

    Parameters
    ----------
    curves : sequence of str
        One text for each motor, see `parse_curve`.

    Attributes
    ----------
    elapsed : FloatArray
        Time since ignition [s], (..., k); 0 before it.
    """

    elapsed: FloatArray
    _given: FloatArray

    def __init__(self, curves: Sequence[str], batch: tuple[int, ...] = ()) -> None:
        points = [parse_curve(text) for text in curves]
        check_cells('thrust_curve', [len(times) for times, _ in points])
        shape = len(points), max(len(times) for times, _ in points)
        # Each row holds the segments after its points; the last and the padding have no length.
        self._times = np.full(shape, np.inf)
        self._lengths, self._thrusts, self._slopes, self._impulses = np.zeros((4, *shape))
        for i, (times, thrusts) in enumerate(points):
            size, length = len(times), np.diff(times)
            self._times[i, :size] = times
            self._lengths[i, : size - 1] = length
            self._thrusts[i, :size] = thrusts
            self._slopes[i, : size - 1] = np.diff(thrusts) / length
            self._impulses[i, 1:size] = np.cumsum(0.5 * (thrusts[1:] + thrusts[:-1]) * length)
        self._motor = np.arange(len(points))
        self._shape = (*batch, len(points))
        self.reset()

    def reset(self, indices: Any = None, elapsed: FloatArray | None = None) -> None:
        """Return motors to a time since ignition [s], (..., k), or to before it; see `restart`."""
        start = np.zeros(self._shape) if elapsed is None else elapsed
        restart(self, indices, self._shape[:-1], elapsed=start, _given=self._at(start)[1])

    def step(
        self, lit: BoolArray, dt: float, part: FloatArray | float = 1.0
    ) -> FloatArray:
        """Burn in a step of ``dt`` [s] and return its mean thrusts [N], (..., k).

        Parameters
        ----------
        lit : BoolArray
            Motors that burn, (..., k); the caller keeps them lit.
        dt : float
            [s]; for 0 the thrusts are those of the moment.
        part : FloatArray or float
            For which part of the step they burn, (..., k).
        """
        if dt == 0.0:
            return np.where(lit, self._at(self.elapsed)[0], 0.0)
        self.elapsed = np.where(lit, self.elapsed + part * dt, self.elapsed)
        before, self._given = self._given, self._at(self.elapsed)[1]
        return (self._given - before) / dt

    def _at(self, elapsed: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return thrusts [N] and impulses since ignition [N s] at some times, (..., k)."""
        segment = np.sum(elapsed[..., None] >= self._times, axis=-1) - 1
        at = self._motor, segment
        into = elapsed - self._times[at]
        burns = np.minimum(into, self._lengths[at])
        slope, start = self._slopes[at], self._thrusts[at]
        thrust = np.where(into > burns, 0.0, start + slope * burns)
        return thrust, self._impulses[at] + burns * (start + 0.5 * slope * burns)
