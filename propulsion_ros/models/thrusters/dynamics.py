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
from typing import Protocol

import numpy as np

from propulsion_ros.models.common.lag import Lag
from propulsion_ros.models.thrusters.quadratic_drag import EulerDrag, QuadraticDrag
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

_NEEDED = {
    'yoerger': ('alpha', 'beta'),
    'bessa': ('rotor_inertia', 'torque_constant', 'winding_resistance'),
}


@dataclass(frozen=True, kw_only=True, eq=False)
class DynamicsParams:
    """Rotor dynamics of n thrusters; each reads only the constants of its own model."""

    names: tuple[str, ...] = names('thruster names, the order of all arrays')
    dynamics: tuple[str, ...] = per_row(
        'zero_order', doc='model of the rotor', kind=str,
        choices=('zero_order', 'first_order', 'yoerger', 'bessa'),
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
        require_constants(self, self.dynamics, _NEEDED)
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
    """Return the columns of each kind, a slice where there is but one kind."""
    if len(set(kinds)) == 1:
        return {kinds[0]: slice(None)}
    row = np.array(kinds)
    return {kind: np.flatnonzero(row == kind) for kind in dict.fromkeys(kinds)}


def within_reach(speed: FloatArray) -> FloatArray:
    """Return speeds of at most `FASTEST`."""
    return np.minimum(np.maximum(speed, -FASTEST), FASTEST)


class _Stepper(Protocol):
    """One model for the columns of its kind."""

    def set_step(self, dt: float) -> None: ...

    def step(self, speed: FloatArray, demand: FloatArray, dt: float) -> FloatArray: ...

    def steady_input(self, speed: FloatArray) -> FloatArray: ...

    def steady_speed(self, demand: FloatArray) -> FloatArray: ...


class RotorDynamics:
    """Advances the rotor speeds of n thrusters, each by its own model.

    Parameters
    ----------
    params : DynamicsParams
        Validated configuration.
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
        self._steppers = [
            (columns, _stepper(kind, params, columns, limit))
            for kind, columns in columns_by_kind(params.dynamics).items()
            if kind != 'zero_order'
        ]
        # If all thrusters have the same dynamics, no columns are selected.
        is_alone = len(set(params.dynamics)) == len(self._steppers) == 1
        self._for_all = self._steppers[0][1] if is_alone else None
        kinds = np.array(params.dynamics)
        self.lags: BoolArray = (kinds == 'first_order') & (params.time_constant > 0.0)
        self.time_constant: FloatArray = np.where(self.lags, params.time_constant, 1.0)
        self.drags: BoolArray = (kinds == 'yoerger') | (kinds == 'bessa')
        self._dt = -1.0

    def drag_at(self, speed: FloatArray, demand: FloatArray, times: FloatArray) -> FloatArray:
        """Return the speeds of those with drag after times [s], (k, ..., 1), within a step.

        The result is (k, ..., n); the others get their input.
        """
        result: FloatArray = np.broadcast_to(demand, (len(times), *speed.shape)).copy()
        for columns, stepper in self._steppers:
            if isinstance(stepper, QuadraticDrag):
                own = demand[..., columns]
                result[..., columns] = stepper.step(speed[..., columns], own, times)
        return result

    def step(self, speed: FloatArray, demand: FloatArray, dt: float) -> FloatArray:
        """Return the speeds after ``dt`` [s] under a constant input; all (..., n).

        Raises ValueError for a negative dt, `ConfigError` for an euler step that could overshoot.
        """
        if dt != self._dt:
            if not dt >= 0.0:
                raise ValueError(f'expected a step of at least 0 s, got {dt:g}')
            for _, stepper in self._steppers:
                stepper.set_step(dt)
            self._dt = dt
        if speed.shape != demand.shape:
            speed, demand = np.broadcast_arrays(speed, demand)
        if self._for_all is not None:
            return self._for_all.step(speed, demand, dt)
        result: FloatArray = demand.copy()
        for columns, stepper in self._steppers:
            result[..., columns] = stepper.step(speed[..., columns], demand[..., columns], dt)
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
        for columns, stepper in self._steppers:
            result[..., columns] = stepper.steady_input(speed[..., columns])
        return result

    def steady_speed(self, demand: FloatArray) -> FloatArray:
        """Return the speeds that these inputs settle at, (..., n)."""
        result: FloatArray = demand.copy()
        for columns, stepper in self._steppers:
            result[..., columns] = stepper.steady_speed(demand[..., columns])
        return within_reach(result)


def _stepper(
    kind: str, params: DynamicsParams, at: IntArray | slice, input_limit: FloatArray
) -> _Stepper:
    if kind == 'first_order':
        return FirstOrder(params.time_constant[at])
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


class FirstOrder:
    """w' = (u - w) / time_constant, solved exactly, as in the original.

    Parameters
    ----------
    time_constant : FloatArray
        [s], (n,).
    """

    def __init__(self, time_constant: FloatArray) -> None:
        self._lag = Lag(time_constant)

    def set_step(self, dt: float) -> None:
        """Do nothing, because the lag stores its own step."""

    def step(self, speed: FloatArray, demand: FloatArray, dt: float) -> FloatArray:
        """Return the speed after one step, (..., n)."""
        return self._lag.step(speed, demand, dt)

    def steady_input(self, speed: FloatArray) -> FloatArray:
        """Return the speed itself."""
        return speed

    def steady_speed(self, demand: FloatArray) -> FloatArray:
        """Return the demand itself."""
        return demand
