# SPDX-License-Identifier: Apache-2.0
"""How fast a thruster's rotor turns after a command: the four models of the UUV simulator.

With zero order the speed is the command, with first order it lags behind the command. The models
of Yoerger et al. (1990) and Bessa et al. (2006) have a motor, and a drag that grows with the
square of the speed:

    yoerger  w' = beta u - alpha w |w|
    bessa    Jmsp w' = u Kt / Rm - Kv1 w - Kv2 w |w|
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from propulsion_ros.models.common.lag import Lag
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.quantity import (
    BoolArray,
    FloatArray,
    IntArray,
    names,
    per_row,
    quantity,
    validate,
)

SMALLEST, LARGEST = 1e-12, 1e12
"""Range of every constant that is used as a divisor, so that no finite input overflows."""
FASTEST = 1e100
"""No speed that a tiny constant makes is larger [rad/s]: its square is finite in every curve."""

_NODES, _DOUBLED = np.polynomial.legendre.leggauss(4)
WEIGHTS = 0.5 * _DOUBLED
"""Of the points of Gauss' rule in a step; see `RotorDynamics.on_the_way`."""

DYNAMICS: dict[str, tuple[str, ...]] = {
    'zero_order': (),
    'first_order': (),
    'yoerger': ('alpha', 'beta'),
    'bessa': ('rotor_inertia', 'torque_constant', 'winding_resistance'),
}
"""Every model of the rotor, with the constants that it divides by."""


@dataclass(frozen=True, kw_only=True, eq=False)
class DynamicsParams:
    """Rotor dynamics of n thrusters; each reads only the constants of its own model."""

    names: tuple[str, ...] = names('thruster names, the order of all arrays')
    dynamics: tuple[str, ...] = per_row(
        'zero_order', doc='model of the rotor', kind=str,
        choices=tuple(DYNAMICS),
    )
    time_constant: FloatArray = per_row(
        0.0, 's', doc='first_order: lag of the rotor speed; 0 follows at once', lo=0.0, hi=LARGEST
    )
    alpha: FloatArray = per_row(0.0, '1/rad', doc='yoerger: drag over inertia', lo=0.0, hi=LARGEST)
    beta: FloatArray = per_row(
        0.0, 'rad/s^2', doc='yoerger: acceleration for each unit of the command', lo=0.0, hi=LARGEST
    )
    rotor_inertia: FloatArray = per_row(
        0.0, 'kg m^2', doc='bessa: of motor, shaft and propeller (Jmsp)', lo=0.0, hi=LARGEST
    )
    linear_damping: FloatArray = per_row(
        0.0, 'N m s', doc='bessa: drag torque for each rad/s (Kv1)', lo=0.0, hi=LARGEST
    )
    quadratic_damping: FloatArray = per_row(
        0.0, 'N m s^2', doc='bessa: drag torque for each (rad/s)^2 (Kv2)', lo=0.0, hi=LARGEST
    )
    torque_constant: FloatArray = per_row(
        0.0, 'N m/A', doc='bessa: of the motor (Kt)', lo=0.0, hi=LARGEST
    )
    winding_resistance: FloatArray = per_row(
        0.0, 'ohm', doc='bessa: of the motor (Rm)', lo=0.0, hi=LARGEST
    )
    integrator: str = quantity(
        'exact', kind=str, choices=('exact', 'euler'),
        doc='yoerger and bessa: exact, or the explicit step of the original',
    )

    def __post_init__(self) -> None:
        validate(self)
        require_constants(self, self.dynamics, DYNAMICS)
        damping = np.maximum(self.linear_damping, self.quadratic_damping)
        for i, kind in enumerate(self.dynamics):
            if kind == 'bessa' and damping[i] < SMALLEST:
                raise ConfigError(
                    'quadratic_damping',
                    'bessa needs this or linear_damping above 0, the speed has no bound without',
                    i,
                )


def require_constants(
    params: object, kinds: Sequence[str], needed: dict[str, tuple[str, ...]]
) -> None:
    """Raise `ConfigError` for a constant that a row's kind divides by and that is 0."""
    for i, kind in enumerate(kinds):
        for key in needed.get(kind, ()):
            value = float(getattr(params, key)[i])
            if abs(value) < SMALLEST:
                raise ConfigError(
                    key, f'{kind} needs a size of at least {SMALLEST:g}, got {value:g}', i
                )


def columns_by_kind(kinds: Sequence[str]) -> dict[str, IntArray | slice]:
    """Return the columns of each kind, a slice where they are one behind the other."""
    row, found = np.array(kinds), {}
    for kind in dict.fromkeys(kinds):
        at = np.flatnonzero(row == kind)
        is_run = at[-1] - at[0] + 1 == len(at)
        found[kind] = slice(int(at[0]), int(at[-1]) + 1) if is_run else at
    return found


def within_reach(speed: FloatArray) -> FloatArray:
    """Return speeds of at most `FASTEST`."""
    return np.minimum(np.maximum(speed, -FASTEST), FASTEST)


class RotorDynamics:
    """Advances the rotor speeds of n thrusters, each by its own model.

    Parameters
    ----------
    input_limit : FloatArray, optional
        Largest size of each input, (n,), by default 1e12; the euler integrator needs it to stay
        stable.

    Attributes
    ----------
    lags, drags : BoolArray
        Thrusters whose speed follows with a first-order lag, and against drag, (n,).
    time_constant : FloatArray
        Of those that lag [s], (n,); 1 for the others.
    """

    def __init__(self, params: DynamicsParams, input_limit: FloatArray | None = None) -> None:
        limit = np.full(len(params.names), LARGEST) if input_limit is None else input_limit
        self._drags = [
            (columns, _drag(kind, params, columns, limit))
            for kind, columns in columns_by_kind(params.dynamics).items()
            if kind in ('yoerger', 'bessa')
        ]
        # If all thrusters have the same drag, no columns are selected.
        is_alone = len(set(params.dynamics)) == len(self._drags) == 1
        self._for_all = self._drags[0][1] if is_alone else None
        kinds = np.array(params.dynamics)
        self.lags: BoolArray = (kinds == 'first_order') & (params.time_constant > 0.0)
        self.time_constant: FloatArray = np.where(self.lags, params.time_constant, 1.0)
        is_lag = kinds == 'first_order'
        self._lag = Lag(np.where(is_lag, params.time_constant, 0.0)) if is_lag.any() else None
        self._is_lag = None if is_lag.all() else is_lag
        self.drags: BoolArray = (kinds == 'yoerger') | (kinds == 'bessa')
        self._dt = self._way_dt = -1.0
        self._left = np.zeros(0)

    def on_the_way(self, speed: FloatArray, demand: FloatArray, dt: float) -> FloatArray:
        """Return the speeds at the points of Gauss' rule in a step of dt [s], (k, ..., n)."""
        times = (0.5 * dt * (1.0 + _NODES)).reshape(-1, *(1,) * speed.ndim)
        if dt != self._way_dt or self._left.ndim != times.ndim:
            with np.errstate(over='ignore'):
                left = np.exp(-times / self.time_constant)
            self._way_dt, self._left = dt, np.where(self.lags, left, 0.0)
        result: FloatArray = demand + self._left * (speed - demand)
        for columns, drag in self._drags:
            result[..., columns] = drag.step(speed[..., columns], demand[..., columns], times)
        return result

    def check_step(self, dt: float) -> None:
        """Raise `ConfigError` for an euler step [s] that could overshoot."""
        for _, drag in self._drags:
            drag.check_step(dt)

    def step(self, speed: FloatArray, demand: FloatArray, dt: float) -> FloatArray:
        """Return the speeds after ``dt`` [s] under a constant input; all (..., n).

        Raises ValueError for a negative dt, `ConfigError` for an euler step that could overshoot.
        """
        if dt != self._dt:
            if not dt >= 0.0:
                raise ValueError(f'expected a step of at least 0 s, got {dt:g}')
            self.check_step(dt)
            self._dt = dt
        if speed.shape != demand.shape:
            speed, demand = np.broadcast_arrays(speed, demand)
        if self._for_all is not None:
            return self._for_all.step(speed, demand, dt)
        result = self._lag.step(speed, demand, dt) if self._lag else demand.copy()
        if self._lag and self._is_lag is not None:
            # What has no dynamics follows at once, in a step without time too.
            result = np.where(self._is_lag, result, demand)
        for columns, drag in self._drags:
            result[..., columns] = drag.step(speed[..., columns], demand[..., columns], dt)
        return result

    def run(self, speed: FloatArray, demands: FloatArray, dt: float) -> FloatArray:
        """Return the speeds before and after each of t steps of ``dt`` [s], (t + 1, n).

        The inputs are (t, n); see `step`.
        """
        speeds = np.empty((len(demands) + 1, *speed.shape))
        speeds[0] = speed
        for i, demand in enumerate(demands):
            speeds[i + 1] = speed = self.step(speed, demand, dt)
        return speeds

    def steady_input(self, speed: FloatArray) -> FloatArray:
        """Return the inputs that hold these speeds, (..., n)."""
        result: FloatArray = speed.copy()
        for columns, drag in self._drags:
            result[..., columns] = drag.steady_input(speed[..., columns])
        return result

    def steady_speed(self, demand: FloatArray) -> FloatArray:
        """Return the speeds that these inputs settle at, (..., n)."""
        result: FloatArray = demand.copy()
        for columns, drag in self._drags:
            result[..., columns] = drag.steady_speed(demand[..., columns])
        return within_reach(result)


def _drag(
    kind: str, params: DynamicsParams, at: IntArray | slice, input_limit: FloatArray
) -> QuadraticDrag:
    if kind == 'yoerger':
        gain, linear, quadratic = params.beta[at], np.zeros_like(params.beta[at]), params.alpha[at]
    else:
        inertia = params.rotor_inertia[at]
        gain = params.torque_constant[at] / (params.winding_resistance[at] * inertia)
        linear = params.linear_damping[at] / inertia
        quadratic = params.quadratic_damping[at] / inertia
    if params.integrator == 'euler':
        return EulerDrag(gain, linear, quadratic, input_limit[at])
    return QuadraticDrag(gain, linear, quadratic)


class QuadraticDrag:
    """w' = gain * u - linear * w - quadratic * w |w|, exact for constant u.

    Mirrored so that the drive g = gain * u is not negative, the equation is Riccati's,
    x' = g - b x - a x^2 while x >= 0. It is a Moebius map of the start: with h = b / 2,
    q^2 = h^2 + a g and s = tanh(q t) / q,

        x(t) = (x (1 - h s) + g s) / (1 + h s + a x s).

    While x < 0 the sign of a is the other one, so q^2 may be negative and tanh become tan.

    Parameters
    ----------
    gain, linear, quadratic : FloatArray
        [rad/s^2 per unit of u], [1/s], [1/rad], (n,); none negative.
    """

    def __init__(self, gain: FloatArray, linear: FloatArray, quadratic: FloatArray) -> None:
        self._gain = gain
        self._half = 0.5 * linear
        self._linear = linear
        self._quadratic = quadratic

    def check_step(self, dt: float) -> None:
        """Accept steps of any length."""

    def step(
        self, speed: FloatArray, demand: FloatArray, dt: FloatArray | float
    ) -> FloatArray:
        """Return the speed after ``dt`` [s], (..., n)."""
        drive = self._gain * demand
        mirror = np.copysign(1.0, drive)
        drive = np.abs(drive)
        x = mirror * speed
        against = x < 0.0
        if against.any():
            return mirror * self._turned(x, against, drive, dt)
        return np.asarray(mirror * self._driven(x, drive, dt))

    def _driven(self, x: FloatArray, drive: FloatArray, time: FloatArray | float) -> FloatArray:
        """Return x >= 0 after ``time``, each its own."""
        # At rest without drive or linear drag q is 0; the floor keeps the limit s = time.
        q = np.maximum(np.sqrt(self._half * self._half + self._quadratic * drive), 1e-150)
        s = np.tanh(q * time) / q
        hs = self._half * s
        return np.asarray((x * (1.0 - hs) + drive * s) / (1.0 + hs + self._quadratic * x * s))

    def _turned(
        self, x: FloatArray, against: BoolArray, drive: FloatArray,
        dt: FloatArray | float,
    ) -> FloatArray:
        """Return x after dt where some turn against the drive, down to rest or through it."""
        x, drive = np.broadcast_arrays(x, drive)
        backward = np.where(against, -x, 0.0)
        square = self._half * self._half - self._quadratic * drive
        q = np.maximum(np.sqrt(np.abs(square)), 1e-150)
        circular = square < 0.0
        with np.errstate(divide='ignore', invalid='ignore'):
            # The tangent (or its hyperbolic twin) of q times the time to rest.
            at_rest = q * backward / (drive + self._half * backward)
            to_rest = np.where(
                circular, np.arctan(at_rest), np.arctanh(np.minimum(at_rest, 1.0))
            ) / q
        # Without drive and linear drag the rotor never comes to rest.
        to_rest = np.where(drive > 0.0, to_rest, np.where(against, np.inf, 0.0))
        still = against & (to_rest >= dt)
        ahead = self._driven(np.where(against, 0.0, x), drive, np.where(still, 0.0, dt - to_rest))
        s = np.where(circular, np.tan(q * dt), np.tanh(q * dt)) / q
        hs = self._half * s
        with np.errstate(divide='ignore', invalid='ignore'):
            back = (drive * s - backward * (1.0 - hs)) / (1.0 + hs + self._quadratic * backward * s)
        return np.where(still, back, ahead)

    def steady_input(self, speed: FloatArray) -> FloatArray:
        """Return the input that holds a speed, (..., n)."""
        return np.asarray(
            (self._linear * speed + self._quadratic * speed * np.abs(speed)) / self._gain
        )

    def steady_speed(self, demand: FloatArray) -> FloatArray:
        """Return the speed that an input settles at, (..., n)."""
        drive = self._gain * demand
        root = np.sqrt(self._half * self._half + self._quadratic * np.abs(drive))
        below = self._half + root
        return np.divide(drive, below, out=np.zeros_like(drive), where=below > 0.0)


class EulerDrag(QuadraticDrag):
    """The same equation by the explicit Euler step of the original, with the true elapsed time."""

    def __init__(
        self,
        gain: FloatArray,
        linear: FloatArray,
        quadratic: FloatArray,
        input_limit: FloatArray,
    ) -> None:
        super().__init__(gain, linear, quadratic)
        fastest = self.steady_speed(input_limit)
        self._rate = linear + 2.0 * quadratic * fastest

    def check_step(self, dt: float) -> None:
        """Raise `ConfigError` where a step could overshoot the speed of the largest input."""
        rate = float(np.max(self._rate))
        if not dt * rate <= 1.0:
            raise ConfigError(
                'integrator',
                f'euler may overshoot with a step of {dt:g} s where the drag acts at up to '
                f'{rate:g} 1/s; expected at most {1.0 / rate:g} s, tighter min_command and '
                'max_command, or the exact integrator',
            )

    def step(
        self, speed: FloatArray, demand: FloatArray, dt: FloatArray | float
    ) -> FloatArray:
        """Return the speed after ``dt`` [s], (..., n)."""
        drag = self._linear * speed + self._quadratic * speed * np.abs(speed)
        return np.asarray(speed + dt * (self._gain * demand - drag))
