# SPDX-License-Identifier: Apache-2.0
"""Exact motion of a lagging rotor whose acceleration and thrust rate are limited.

The root r of the thrust is the rotor speed times a constant. On its way to the goal it is always
under the tightest of three bounds: the lag itself, |r'| <= root_rate, which limits the rotor's
acceleration, and |(r^2)'| <= thrust_rate. Each bound alone has a closed form, and they take turns
in a known order, so the whole motion is a short list of phases.
"""
from __future__ import annotations

from collections.abc import Callable

import numpy as np

from propulsion_ros.settings.quantity import BoolArray, FloatArray


def slewed_root(
    root: FloatArray,
    goal: FloatArray,
    dt: float,
    time_constant: FloatArray,
    root_rate: FloatArray,
    thrust_rate: FloatArray,
    lag_on: str,
) -> tuple[FloatArray, FloatArray]:
    """Return the root of the thrust after dt [s] on the way to a goal, and the mean thrust.

    Parameters
    ----------
    root, goal : FloatArray
        [sqrt N], shape (m,), at least 0.
    dt : float
        [s], above 0.
    time_constant : FloatArray
        Of each rotor in the direction it moves [s], shape (m,); 0 follows at once.
    root_rate : FloatArray
        [sqrt N/s], shape (m,); infinite where there is no limit.
    thrust_rate : FloatArray
        [N/s], shape (m,); infinite where there is no limit.
    lag_on : {'rotor_speed', 'thrust'}
        Whether r or r^2 follows its goal with the first-order lag.
    """
    result: FloatArray = root.copy()
    mean: FloatArray = np.square(root)
    for sign, some in ((1.0, goal > root), (-1.0, goal < root)):
        if some.any():
            run = _Run(
                sign, root[some], goal[some], dt, time_constant[some], root_rate[some],
                thrust_rate[some],
            )
            result[some] = run.on_thrust() if lag_on == 'thrust' else run.on_speed()
            mean[some] = run.mean_thrust(dt, result[some])
    return result, mean


class _Run:
    """Rotors that all speed up (sign 1) or all slow down (sign -1), and their time left."""

    def __init__(
        self,
        sign: float,
        root: FloatArray,
        goal: FloatArray,
        dt: float,
        time_constant: FloatArray,
        root_rate: FloatArray,
        thrust_rate: FloatArray,
    ) -> None:
        self._sign = sign
        self._root = root
        self._goal = goal
        self._left = np.full_like(root, dt)
        self._first, self._impulse = root, np.zeros_like(root)
        self._tau = time_constant
        self._root_rate = root_rate
        self._thrust_rate = thrust_rate
        # Without a lag an infinite limit leaves no error behind: 0 where inf * 0 is undefined.
        lagging = time_constant > 0.0
        with np.errstate(all='ignore'):
            self._lead = np.where(lagging, root_rate * time_constant, 0.0)
            self._thrust_lead = np.where(lagging, thrust_rate * time_constant, 0.0)
            # Above this root the thrust rate is the tighter limit.
            self._crossover = np.where(
                np.isinf(thrust_rate), np.inf, thrust_rate / (2.0 * root_rate)
            )

    def on_speed(self) -> FloatArray:
        """Return the roots at the end where r follows with the lag."""
        goal, lead, thrust_lead = self._goal, self._lead, self._thrust_lead
        with np.errstate(all='ignore'):
            if self._sign > 0.0:
                # The lag is faster than the thrust rate allows between first and last, the
                # solutions of r (goal - r) = thrust_lead / 2, if there are any.
                inside = np.sqrt(goal**2 - 2.0 * thrust_lead)
                last = np.where(np.isnan(inside), -np.inf, 0.5 * (goal + inside))
                first = np.where(last > 0.0, 0.5 * thrust_lead / last, -np.inf)
                self._accelerate(np.minimum(goal - lead, self._crossover))
                self._lag_to(first)
                self._ramp(last)
            else:
                last = 0.5 * (goal + np.sqrt(goal**2 + 2.0 * thrust_lead))
                self._ramp(np.maximum(self._crossover, last))
                self._accelerate(goal + lead)
            error = goal - self._root
            rest = error * np.exp(-self._left / self._tau)
            self._add(self._lag_impulse(error, rest, self._left))
            return np.asarray(np.where(self._left > 0.0, goal - rest, self._root))

    def on_thrust(self) -> FloatArray:
        """Return the roots at the end where r^2 follows with the lag."""
        goal, lead, thrust_lead = self._goal, self._lead, self._thrust_lead
        with np.errstate(all='ignore'):
            # Where lag and acceleration are equally tight; divided, as the lead may be infinite.
            reach = lead + np.sqrt(lead**2 + goal**2)
            if self._sign > 0.0:
                self._accelerate(np.minimum(self._crossover, goal**2 / reach))
                self._ramp(np.sqrt(np.maximum(goal**2 - thrust_lead, 0.0)))
            else:
                self._ramp(np.maximum(self._crossover, np.sqrt(goal**2 + thrust_lead)))
                self._accelerate(reach)
            error = goal**2 - self._root**2
            rest = error * np.exp(-self._left / self._tau)
            decayed = np.where(self._tau > 0.0, self._tau * (error - rest), 0.0)
            self._add(goal**2 * self._left - decayed)
            square = np.maximum(goal**2 - rest, 0.0)
            return np.asarray(np.where(self._left > 0.0, np.sqrt(square), self._root))

    def mean_thrust(self, dt: float, end: FloatArray) -> FloatArray:
        """Return the mean thrust of the whole way [N]; thrust only rises or only falls on it."""
        one, other = np.square(self._first), np.square(end)
        mean = self._impulse / dt
        return np.minimum(np.maximum(mean, np.minimum(one, other)), np.maximum(one, other))

    def _add(self, impulse: FloatArray) -> None:
        """Add the impulse of a phase where there is time for it [N s]."""
        self._impulse = self._impulse + np.where(self._left > 0.0, impulse, 0.0)

    def _lag_impulse(self, error: FloatArray, rest: FloatArray, time: FloatArray) -> FloatArray:
        """Return the impulse of a lag of the root whose error falls to a rest."""
        gone = np.where(self._tau > 0.0, self._tau * (error - rest), 0.0)
        return np.asarray(
            self._goal**2 * time - 2.0 * self._goal * gone + 0.5 * gone * (error + rest)
        )

    def _accelerate(self, end: FloatArray) -> None:
        """Change r at the limit of the rotor's acceleration until ``end``."""
        needed = np.abs(end - self._root) / self._root_rate
        partial = self._root + self._sign * self._root_rate * self._left
        self._advance(end, needed, partial, lambda start, stop, time: (
            time * (start * start + start * stop + stop * stop) / 3.0
        ))

    def _ramp(self, end: FloatArray) -> None:
        """Change r^2 at the limit of the thrust rate until ``end``."""
        needed = np.abs(end**2 - self._root**2) / self._thrust_rate
        square = self._root**2 + self._sign * self._thrust_rate * self._left
        self._advance(end, needed, np.sqrt(np.maximum(square, 0.0)), lambda start, stop, time: (
            0.5 * time * (start * start + stop * stop)
        ))

    def _lag_to(self, end: FloatArray) -> None:
        """Follow the goal with the lag until ``end``."""
        error = self._goal - self._root
        needed = self._tau * np.log(error / (self._goal - end))
        self._advance(
            end, needed, self._goal - error * np.exp(-self._left / self._tau),
            lambda start, stop, time: self._lag_impulse(
                self._goal - start, self._goal - stop, time
            ),
        )

    def _advance(
        self, end: FloatArray, needed: FloatArray, partial: FloatArray,
        impulse: Callable[[FloatArray, FloatArray, FloatArray], FloatArray],
    ) -> None:
        """Move to ``end`` where the time lasts, else to ``partial``; nowhere if past the end.

        ``impulse`` is that of a move from one root to another in a time.
        """
        going: BoolArray = (self._sign * (end - self._root) > 0.0) & (self._left > 0.0)
        there = going & (needed <= self._left)
        start, time = self._root, np.where(there, needed, self._left)
        self._root = np.where(there, end, np.where(going, partial, self._root))
        made = np.where(going, impulse(start, self._root, time), 0.0)
        self._impulse = self._impulse + made
        self._left = np.where(there, self._left - needed, np.where(going, 0.0, self._left))
