"""Rotors of a multirotor, after Isaac Lab's Thruster, for any number and any batch.

The rotor speed w (or the thrust) follows its demand with a first-order lag that rises and falls
with different time constants, thrust = motor_constant * w^2, and the air pushes back on the body
with -direction * moment_constant * thrust about the axis.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from propulsion_ros.errors import CommandError, ConfigError
from propulsion_ros.models.family import BodyState, Command, Output
from propulsion_ros.models.rotor_constants import RotorConstants
from propulsion_ros.models.rotor_integrators import INTEGRATORS, RotorLag, spread
from propulsion_ros.models.rotor_wrench import RotorWrench
from propulsion_ros.quantity import FloatArray, IntArray, names, quantity, validate

_DRAWN = ('motor_constant', 'time_constant_up', 'time_constant_down')


@dataclass(frozen=True, kw_only=True, eq=False)
class RotorsParams:
    """Configuration of n rotors."""

    names: tuple[str, ...] = names('rotor names, the order of all arrays')
    max_thrust: FloatArray = quantity(
        unit='N', doc='largest thrust', lo=0.0, shape=('n',)
    )
    min_thrust: FloatArray = quantity(
        0.0, 'N', doc='smallest thrust, also without a command', lo=0.0, shape=('n',)
    )
    motor_constant: FloatArray = quantity(
        unit='N s^2/rad^2', doc='thrust over the square of the rotor speed', lo=1e-12,
        shape=('n',),
    )
    moment_constant: FloatArray = quantity(
        0.0, 'm', doc='reaction torque over thrust', lo=0.0, shape=('n',)
    )
    direction: IntArray = quantity(
        1, kind=int, lo=-1, hi=1, shape=('n',),
        doc='1: the rotor turns counterclockwise seen from the tip of its axis, -1: clockwise',
    )
    time_constant_up: FloatArray = quantity(
        0.0, 's', doc='first-order lag while rising', lo=0.0, shape=('n',)
    )
    time_constant_down: FloatArray = quantity(
        0.0, 's', doc='first-order lag while falling', lo=0.0, shape=('n',)
    )
    max_rotor_acceleration: FloatArray = quantity(
        0.0, 'rad/s^2', doc='largest rate of the rotor speed; 0 means no limit', lo=0.0,
        shape=('n',),
    )
    max_thrust_rate: FloatArray = quantity(
        0.0, 'N/s', doc='largest rate of the thrust; 0 means no limit', lo=0.0, shape=('n',)
    )
    initial_rotor_speed: FloatArray = quantity(
        0.0, 'rad/s', doc='rotor speed at the start', lo=0.0, shape=('n',)
    )
    motor_constant_range: FloatArray = quantity(
        (0.0, 0.0), 'N s^2/rad^2', lo=0.0, shape=('n', 2),
        doc='low and high end to draw motor_constant from; 0 0 keeps the fixed value',
    )
    time_constant_up_range: FloatArray = quantity(
        (0.0, 0.0), 's', lo=0.0, shape=('n', 2),
        doc='low and high end to draw time_constant_up from; 0 0 keeps the fixed value',
    )
    time_constant_down_range: FloatArray = quantity(
        (0.0, 0.0), 's', lo=0.0, shape=('n', 2),
        doc='low and high end to draw time_constant_down from; 0 0 keeps the fixed value',
    )
    seed: int = quantity(
        -1, doc='seed of what is drawn from ranges, at least 0; -1 where nothing is',
        kind=int, lo=-1,
    )
    position: FloatArray = quantity(
        (0.0, 0.0, 0.0), 'm', doc='hub of the rotor, in base_link', shape=('n', 3),
        geometry='origin',
    )
    axis: FloatArray = quantity(
        (0.0, 0.0, 1.0), '', doc='direction of the thrust, in the link of the rotor',
        shape=('n', 3), geometry='direction',
    )
    link: tuple[str, ...] = quantity(
        '', doc='link that the thrust acts on', kind=str, shape=('n',), geometry='link'
    )
    command_interface: str = quantity(
        'effort', doc='what is commanded: effort [N], or velocity, the rotor speed [rad/s]',
        kind=str, choices=('effort', 'velocity'),
    )
    lag_on: str = quantity(
        'rotor_speed', doc='what follows its demand with the lag', kind=str,
        choices=('rotor_speed', 'thrust'),
    )
    integrator: str = quantity(
        'exact', doc='exact, a right-signed explicit scheme, or one as Isaac Lab has it',
        kind=str, choices=INTEGRATORS,
    )
    mixing: str = quantity(
        'discrete', kind=str, choices=('discrete', 'continuous'),
        doc='step ratio of the isaaclab integrators: dt / (dt + time_constant), or their quotient',
    )

    def __post_init__(self) -> None:
        validate(self)
        for i in np.flatnonzero(self.min_thrust > self.max_thrust).tolist():
            raise ConfigError(
                'min_thrust',
                f'{self.min_thrust[i]:g} is above max_thrust {self.max_thrust[i]:g} N', i,
            )
        for i in np.flatnonzero(self.direction == 0).tolist():
            raise ConfigError(
                'direction', 'expected 1 (counterclockwise) or -1 (clockwise), got 0', i
            )
        for name in _DRAWN:
            self._check_range(name)

    def _check_range(self, name: str) -> None:
        key = f'{name}_range'
        low, high = getattr(self, key).T
        for i in np.flatnonzero(low > high).tolist():
            raise ConfigError(key, f'{low[i]:g} is above its high end {high[i]:g}', 2 * i)
        if name == 'motor_constant':
            for i in np.flatnonzero((low < 1e-12) & (high > 0.0)).tolist():
                raise ConfigError(key, f'{low[i]:g} is below 1e-12 N s^2/rad^2', 2 * i)
        if np.any(high > 0.0) and self.seed < 0:
            raise ConfigError('seed', f'expected at least 0 to draw from {key}, got {self.seed}')


class Rotors:
    """n rotors, each with its own lag, limits, axis and sense of rotation.

    Commands are a thrust [N] per rotor (effort), or a rotor speed [rad/s] (velocity), clamped to
    what min_thrust and max_thrust allow; NaN is the smallest thrust. Rotor speeds have no sign,
    `direction` tells the sense.

    The root of the thrust is rotor speed times a constant, so it follows with the same lag, and
    it is what a step advances: the motor constant is needed at the borders only.

    Parameters
    ----------
    params : RotorsParams
        Validated configuration.
    batch : tuple of int
        Leading batch shape of the state.

    Attributes
    ----------
    thrust : FloatArray
        Thrust before the clamp to [min_thrust, max_thrust] [N], shape (..., n).
    constants : RotorConstants
        Motor and time constants in use, as fixed or drawn.
    """

    Params: ClassVar[type] = RotorsParams

    def __init__(self, params: RotorsParams, batch: tuple[int, ...] = ()) -> None:
        self._params = params
        self._batch = batch
        self._shape = (*batch, len(params.names))
        self._on_thrust = params.lag_on == 'thrust'
        self._by_speed = params.command_interface == 'velocity'
        # Limits in full shape: rows of n would cost numpy several times more.
        self._min_thrust = np.broadcast_to(params.min_thrust, self._shape).copy()
        self._max_thrust = np.broadcast_to(params.max_thrust, self._shape).copy()
        self._thrust_rate = _limit(params.max_thrust_rate)
        self._demand = np.empty(self._shape)
        self._never_commanded = np.full(len(params.names), np.nan)

        # The air turns the body against the rotor.
        self._body = RotorWrench(
            params.position, params.axis, -params.direction * params.moment_constant, batch
        )

        self.command_names = params.names
        self.command_fields = (params.command_interface,) * len(params.names)
        self.safe_command = params.min_thrust.copy()
        if self._by_speed:
            self.safe_command = np.sqrt(params.min_thrust) * (1.0 / np.sqrt(params.motor_constant))
        self.nan_is_safe = (False,) * len(params.names)
        self.uses_body = False
        self.state_names = params.names
        self.actuator_names = params.names
        self.actuator_frames = params.link
        self.tank_names: tuple[str, ...] = ()
        self.reset()

    def reset(self, indices: Any = None) -> None:
        """Return to the initial rotor speed.

        Parameters
        ----------
        indices : index, optional
            Of the leading batch axes: only these are reset, and draw new values from the ranges.
            Without it all return to the state at construction, what was drawn then included.

        Raises
        ------
        IndexError
            For indices where there is no batch axis.
        """
        if indices is not None:
            self._restart(indices)
            return
        params = self._params
        self.constants = RotorConstants(
            {name: getattr(params, name) for name in _DRAWN},
            {name: getattr(params, f'{name}_range') for name in _DRAWN},
            self._shape, max(params.seed, 0),
        )
        self._convert()
        # Held by the lag, which sees what a later draw changes in it.
        self._root_rate = self._root_rates()
        self._lag = RotorLag(
            params.integrator, params.mixing, params.lag_on, self._shape,
            self.constants['time_constant_up'], self.constants['time_constant_down'],
            self._root_rate, self._thrust_rate,
        )
        self._root: FloatArray = np.broadcast_to(
            params.initial_rotor_speed * self._root_constant, self._shape
        ).copy()
        self.thrust: FloatArray = np.square(self._root)

    def check_command(self, command: Command) -> None:
        """Raise `CommandError` for a negative rotor speed; a negative thrust is clamped."""
        if command.velocity is None or not self._by_speed:
            return
        for i in np.flatnonzero(command.velocity < 0.0):
            raise CommandError(
                f'{self.command_names[i]}: velocity {command.velocity[i]:g} rad/s is negative, '
                'a rotor turns the way of its direction'
            )

    def step(self, command: Command, body: BodyState, dt: float, tick: int) -> Output:
        """Advance by ``dt`` [s]; see `Family.step`."""
        asked = command.velocity if self._by_speed else command.effort
        if asked is None:
            asked = self._never_commanded
        applied = self.advance(asked, dt)
        return Output(
            wrench=self._body.wrench(applied),
            thrusts=applied,
            axes=self._body.axis,
            velocity=self.rotor_speed,
            effort=applied,
            computed=self.thrust,
            applied=applied,
            flags={'saturated': (asked < self._low) | (asked > self._high)},
        )

    def advance(self, asked: FloatArray, dt: float) -> FloatArray:
        """Advance by ``dt`` without the wrench.

        Parameters
        ----------
        asked : FloatArray
            Thrust [N] or rotor speed [rad/s] by `command_interface`, (..., n).
        dt : float
            [s], at least 0.

        Returns
        -------
        FloatArray
            Thrust after the clamp to [min_thrust, max_thrust] [N], (..., n).

        Raises
        ------
        ConfigError
            Where an explicit integrator diverges for this dt.
        """
        # fmax takes the other where one is NaN.
        demand = np.fmax(asked, self._low, out=self._demand)
        np.minimum(demand, self._high, out=demand)
        if self._by_speed:
            np.multiply(demand, self._root_constant, out=demand)
        if self._on_thrust:
            if self._by_speed:
                np.square(demand, out=demand)
            self.thrust = self._lag.step(self.thrust, demand, dt)
        else:
            if not self._by_speed:
                np.sqrt(demand, out=demand)
            self._root = self._lag.step(self._root, demand, dt)
            self.thrust = np.square(self._root)
        applied: FloatArray = np.maximum(self.thrust, self._min_thrust)
        np.minimum(applied, self._max_thrust, out=applied)
        return applied

    @property
    def rotor_speed(self) -> FloatArray:
        """Rotor speed [rad/s], shape (..., n)."""
        root = np.sqrt(self.thrust) if self._on_thrust else self._root
        return np.asarray(root * self._per_root_constant)

    def _restart(self, indices: Any) -> None:
        """Reset some of the batch, with constants drawn anew."""
        if not self._batch:
            raise IndexError('reset: expected no indices, there is no batch axis')
        self.constants.draw(indices)
        self._convert()
        self._root_rate[...] = self._root_rates()
        self._lag.refresh(indices)
        # Outputs share the arrays of the state, so these are replaced and not written to.
        self._root, self.thrust = self._root.copy(), self.thrust.copy()
        start = self._params.initial_rotor_speed * self._root_constant
        self._root[indices] = np.broadcast_to(start, self._shape)[indices]
        self.thrust[indices] = np.square(self._root[indices])

    def _convert(self) -> None:
        """Prepare the roots of the motor constants, and the limits in units of the command."""
        self._root_constant = spread(np.sqrt(self.constants['motor_constant']), self._shape)
        self._per_root_constant = 1.0 / self._root_constant
        self._low, self._high = self._min_thrust, self._max_thrust
        if self._by_speed:
            self._low, self._high = (
                np.sqrt(thrust) * self._per_root_constant for thrust in (self._low, self._high)
            )

    def _root_rates(self) -> FloatArray:
        """Return max_rotor_acceleration as a limit of the root's rate, inf for none."""
        return _limit(self._params.max_rotor_acceleration) * np.sqrt(
            self.constants['motor_constant']
        )


def _limit(rate: FloatArray) -> FloatArray:
    return np.asarray(np.where(rate > 0.0, rate, np.inf))
