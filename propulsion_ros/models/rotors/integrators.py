# SPDX-License-Identifier: Apache-2.0
"""First-order lag of n rotors with rise and fall apart, slew limits and a choice of schemes.

A scheme advances y' = (target - y) / time_constant by dt. While no limit is met every scheme is
``y += gain * (target - y)`` with a gain per rotor, so a step costs the same for all of them.
The schemes named after Isaac Lab repeat its Thruster, sign error of its RK4 included.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from propulsion_ros.models.common.lag import lag_ratio, ramp_moments
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.quantity import BoolArray, FloatArray

INTEGRATORS = ('exact', 'euler', 'rk4', 'isaaclab_euler', 'isaaclab_rk4')


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

    The root r is the rotor speed times a constant. On its way it is always under the tightest of
    three bounds: the lag itself, |r'| <= root_rate, which limits the rotor's acceleration, and
    |(r^2)'| <= thrust_rate. Each bound alone has a closed form, and they take turns in a known
    order, so the whole motion, which is exact, is a short list of phases.

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


def is_original(integrator: str) -> bool:
    """Return whether a scheme repeats Isaac Lab's, errors included."""
    return integrator.startswith('isaaclab')


def spread(values: FloatArray, shape: tuple[int, ...]) -> FloatArray:
    """Return values as one number where all are equal, else in full shape.

    Either keeps numpy's inner loop as long as the array; rows of four would cost five times more.
    """
    if values.size and np.all(values == values.flat[0]):
        return np.array(values.flat[0], float)
    return np.array(np.broadcast_to(values, shape), float, order='C')


def scheme_ratio(integrator: str, mixing: str, time_constant: FloatArray, dt: float) -> FloatArray:
    """Return dt over the time constant as a scheme sees it, 0 for dt = 0.

    Isaac Lab's discrete mixing takes dt / (dt + time_constant), which no exact step does.
    """
    if dt == 0.0:
        return np.zeros_like(time_constant)
    discrete = integrator != 'exact' and (
        mixing == 'discrete' or (not mixing and is_original(integrator))
    )
    with np.errstate(divide='ignore', over='ignore'):
        return np.asarray(dt / (time_constant + dt if discrete else time_constant))


def scheme_gain(integrator: str, ratio: FloatArray) -> FloatArray:
    """Return the part of the error that one step of a scheme removes."""
    if integrator == 'exact':
        return np.asarray(-np.expm1(-ratio))
    if integrator.endswith('euler'):
        return ratio
    z = _stage_sign(integrator) * ratio
    with np.errstate(invalid='ignore'):
        return ratio * (1.0 + z / 2.0 * (1.0 + z / 3.0 * (1.0 + z / 4.0)))


def _stage_sign(integrator: str) -> float:
    # The error shrinks on the way through the stages; Isaac Lab lets it grow.
    return 1.0 if integrator == 'isaaclab_rk4' else -1.0


class RotorLag:
    """n lags of rotor speed or of thrust, advanced by one scheme.

    Parameters
    ----------
    integrator : str
        One of `INTEGRATORS`.
    mixing : {'', 'discrete', 'continuous'}
        Of the explicit schemes, see `scheme_ratio`.
    lag_on : {'rotor_speed', 'thrust'}
        What y is: the root of the thrust [sqrt N], which goes with the rotor speed, or the
        thrust [N].
    shape : tuple of int
        Of the state, (..., n).
    time_constant_up, time_constant_down : FloatArray
        [s], (n,) or (..., n); held by reference, see `refresh`.
    root_rate : FloatArray
        Limit of the rate of the thrust's root [sqrt N/s], (n,) or (..., n), infinite for none;
        held by reference.
    thrust_rate : FloatArray
        Limit of the rate of the thrust [N/s], (n,), infinite for none.
    work : sequence of FloatArray
        Three arrays of the state's shape to work with, free between steps.
    step_value : {'end', 'mean'}
        Whether `mean_thrust` is wanted, which only the exact integrator knows.

    Attributes
    ----------
    takes_mean : bool
        Whether `mean_thrust` is there.

    Raises
    ------
    ConfigError
        Where a scheme other than exact has a limit on what does not lag.
    """

    def __init__(
        self,
        integrator: str,
        mixing: str,
        lag_on: str,
        shape: tuple[int, ...],
        time_constant_up: FloatArray,
        time_constant_down: FloatArray,
        root_rate: FloatArray,
        thrust_rate: FloatArray,
        work: Sequence[FloatArray],
        step_value: str = 'end',
    ) -> None:
        self._integrator, self._mixing, self._lag_on = integrator, mixing, lag_on
        self._shape = shape
        self._up, self._down = time_constant_up, time_constant_down
        self._root_rate, self._thrust_rate = root_rate, thrust_rate
        on_thrust = lag_on == 'thrust'
        self._rate, other = (thrust_rate, root_rate) if on_thrust else (root_rate, thrust_rate)
        self._crossed = bool(np.any(np.isfinite(other)))
        self._limited = self._crossed or bool(np.any(np.isfinite(self._rate)))
        if self._crossed and integrator != 'exact':
            key = 'max_rotor_acceleration' if on_thrust else 'max_thrust_rate'
            raise ConfigError(
                key, f'{integrator} limits only the rate of what lags, the '
                f'{lag_on.replace("_", " ")}; expected 0, or the exact integrator',
            )
        self._reflects = is_original(integrator) and not on_thrust
        self._error, self._move, self._fall = work
        self._met: tuple[BoolArray, FloatArray, FloatArray] | None = None
        self.takes_mean = step_value == 'mean' and integrator == 'exact'
        self._dt = -1.0

    def step(self, y: FloatArray, target: FloatArray, dt: float) -> None:
        """Advance y in place by dt [s] under a constant target.

        Parameters
        ----------
        y, target : FloatArray
            Shape (..., n), at least 0.
        dt : float
            [s], at least 0.

        Raises
        ------
        ConfigError, ValueError
            See `prepare`.
        """
        self.prepare(dt)
        error = np.subtract(target, y, out=self._error)
        move = self._free_move(error)
        self._met = slewed = self._slewed(y, target) if self._limited and dt > 0.0 else None
        np.add(y, move, out=y)
        if slewed is not None:
            y[slewed[0]] = slewed[1]
        if self._overshoots:
            # Isaac Lab squares a negative speed away; otherwise a rotor stops at 0.
            if self._reflects:
                np.abs(y, out=y)
            else:
                np.maximum(y, 0.0, out=y)

    def mean_thrust(self, target: FloatArray, out: FloatArray) -> None:
        """Write the mean thrust over the last `step` [N], which had this target and dt above 0."""
        error, work = self._error, self._move
        first, second = self._decay_up
        if self._decay_down is not None:
            first, second = (
                np.where(error < 0.0, down, up)
                for up, down in zip(self._decay_up, self._decay_down, strict=True)
            )
        if self._lag_on == 'thrust':
            np.multiply(error, first, out=work)
            np.subtract(target, work, out=out)
        else:
            # With y = target - error decay its square has the mean of each part.
            np.multiply(target, first, out=work)
            np.multiply(work, 2.0, out=work)
            np.subtract(work, np.multiply(error, second, out=self._fall), out=work)
            np.multiply(work, error, out=work)
            np.square(target, out=out)
            np.subtract(out, work, out=out)
        np.maximum(out, 0.0, out=out)
        if self._met is not None:
            out[self._met[0]] = self._met[2]

    def _free_move(self, error: FloatArray) -> FloatArray:
        """Return the move of a step that meets no limit."""
        move: FloatArray = np.multiply(error, self._gain_up, out=self._move)
        if self._asymmetric:
            fall = np.multiply(error, self._gain_down, out=self._fall)
            if self._nearer is None:
                np.copyto(move, fall, where=error < 0.0)
            else:
                # One ufunc picks rise or fall by sign, much cheaper than a masked copy.
                self._nearer(move, fall, out=move)
        return move

    def refresh(self, rows: Any) -> None:
        """Recompute what depends on time constants that changed in place.

        Parameters
        ----------
        rows : index
            Of the leading axes of the time constants, which have the shape of the state.
        """
        if self._dt < 0.0:
            return
        for gain, tau in ((self._gain_up, self._up), (self._gain_down, self._down)):
            if tau.shape == self._shape:
                gain[rows] = self._gain(tau[rows], self._dt)
        self._compare()

    def prepare(self, dt: float) -> None:
        """Make ready for steps of ``dt`` [s].

        Raises `ConfigError` where the scheme diverges for this dt, ValueError for a negative one.
        """
        if dt == self._dt:
            return
        if not dt >= 0.0:
            raise ValueError(f'dt: expected at least 0 s, got {dt:g}')
        self._gain_up, self._gain_down = (
            # Drawn values change in place, so they keep their full shape.
            self._gain(tau, dt) if tau.shape == self._shape
            else spread(self._gain(tau, dt), self._shape)
            for tau in (self._up, self._down)
        )
        self._dt = dt
        self._compare()

    def _gain(self, tau: FloatArray, dt: float) -> FloatArray:
        gain = scheme_gain(self._integrator, scheme_ratio(self._integrator, self._mixing, tau, dt))
        if not np.all((gain >= 0.0) & (gain <= 2.0)):
            raise ConfigError(
                'integrator',
                f'{self._integrator} diverges for a step of {dt:g} s with a time constant of '
                f'{np.min(tau):g} s; expected a smaller step, or the exact integrator',
            )
        return gain

    def _compare(self) -> None:
        """Find out how rise and fall differ, and whether a step can pass its target."""
        up, down = self._gain_up, self._gain_down
        self._asymmetric = bool(np.any(up != down))
        # For a rise both moves are positive, for a fall both are negative.
        self._nearer: np.ufunc | None = None
        if np.all(up <= down):
            self._nearer = np.minimum
        elif np.all(up >= down):
            self._nearer = np.maximum
        self._overshoots = bool(np.any(up > 1.0) or np.any(down > 1.0))
        if self.takes_mean:
            self._decay_up = self._mean_decay(self._up)
            self._decay_down = self._mean_decay(self._down) if self._asymmetric else None
        if self._limited and self._dt > 0.0:
            self._reach_up = spread(self._reach(self._up), self._shape)
            self._reach_down = spread(-self._reach(self._down), self._shape)
            self._least_reach = self._reach_up.min(initial=np.inf), self._reach_down.max(
                initial=-np.inf
            )

    def _mean_decay(self, tau: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the means of the error and of its square over a step, of one that starts at 1."""
        first, second = ramp_moments(lag_ratio(tau, self._dt))
        return spread(1.0 - first, self._shape), spread(1.0 - 2.0 * first + second, self._shape)

    def _reach(self, tau: FloatArray) -> FloatArray:
        """Return the largest error that meets no limit within a step, inf where there is none."""
        if self._crossed:
            return np.zeros(1)
        with np.errstate(invalid='ignore'):
            if self._integrator == 'exact':
                return np.nan_to_num(self._rate * tau, nan=np.inf, posinf=np.inf)
            ratio = scheme_ratio(self._integrator, self._mixing, tau, self._dt)
            reach = self._rate * self._dt / ratio
            if self._integrator.endswith('rk4'):
                # No stage is larger than the first by more than this.
                reach = reach / (1.0 + ratio * (1.0 + ratio * (0.5 + 0.25 * ratio)))
            return np.asarray(reach)

    def _slewed(
        self, y: FloatArray, target: FloatArray
    ) -> tuple[BoolArray, FloatArray, FloatArray] | None:
        """Return which rotors may meet a limit within the step, their y after it and mean thrust.

        The mean is that of the exact integrator alone.
        """
        error = self._error
        up, down = self._least_reach
        if error.max(initial=0.0) <= up and error.min(initial=0.0) >= down:
            return None
        some = (error > self._reach_up) | (error < self._reach_down)
        if not some.any():
            return None
        start, goal, rise, fall, root_rate, thrust_rate = (
            np.broadcast_to(values, self._shape)[some]
            for values in (y, target, self._up, self._down, self._root_rate, self._thrust_rate)
        )
        tau = np.where(goal < start, fall, rise)
        on_thrust = self._lag_on == 'thrust'
        if self._integrator != 'exact':
            rate = thrust_rate if on_thrust else root_rate
            values = start + self._limited_move(goal - start, tau, rate)
            return some, values, values
        if on_thrust:
            start, goal = np.sqrt(start), np.sqrt(goal)
        values, mean = slewed_root(
            start, goal, self._dt, tau, root_rate, thrust_rate, self._lag_on
        )
        return some, np.square(values) if on_thrust else values, mean

    def _limited_move(self, error: FloatArray, tau: FloatArray, rate: FloatArray) -> FloatArray:
        """Return the move of an explicit scheme whose stages have a limited rate."""
        ratio = scheme_ratio(self._integrator, self._mixing, tau, self._dt)
        travel = rate * self._dt

        def stage(left: FloatArray) -> FloatArray:
            return np.clip(ratio * left, -travel, travel)

        first = stage(error)
        if self._integrator.endswith('euler'):
            return first
        sign = _stage_sign(self._integrator)
        second = stage(error + sign * 0.5 * first)
        third = stage(error + sign * 0.5 * second)
        fourth = stage(error + sign * third)
        return (first + 2.0 * second + 2.0 * third + fourth) / 6.0
