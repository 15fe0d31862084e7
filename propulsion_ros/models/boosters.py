"""Fuelled boosters on propellant tanks, after PyFlyt's Boosters, for any number of either.

A lit booster follows its throttle demand with a first-order lag, makes thrust = throttle *
max_thrust and burns thrust / max_thrust * max_fuel_rate. What is burnt, published and applied in
a step is one value, so impulse and propellant always agree.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from propulsion_ros.errors import CommandError, ConfigError
from propulsion_ros.models.family import BodyState, Command, Output
from propulsion_ros.models.gimbals import Gimbals, GimbalsParams
from propulsion_ros.models.lag import Lag
from propulsion_ros.models.noise import TickNoise
from propulsion_ros.models.tanks import Tanks, TanksParams
from propulsion_ros.models.wrench import net_wrench, unit_rows
from propulsion_ros.quantity import (
    BoolArray,
    FloatArray,
    IntArray,
    group,
    names,
    quantity,
    validate,
)


@dataclass(frozen=True, kw_only=True, eq=False)
class BoostersParams:
    """Configuration of n boosters, their tanks and gimbals."""

    names: tuple[str, ...] = names('booster names, the order of all arrays')
    max_thrust: FloatArray = quantity(
        unit='N', doc='thrust at throttle 1', above=0.0, shape=('n',)
    )
    min_thrust: FloatArray = quantity(
        0.0, 'N', doc='lowest thrust of a lit booster', lo=0.0, shape=('n',)
    )
    max_fuel_rate: FloatArray = quantity(
        unit='kg/s', doc='propellant burnt at throttle 1', lo=0.0, shape=('n',)
    )
    time_constant: FloatArray = quantity(
        0.0, 's', doc='first-order lag of the throttle', lo=0.0, shape=('n',)
    )
    reignitable: BoolArray = quantity(
        True, doc='false: once lit it burns until its tank is empty', kind=bool, shape=('n',)
    )
    noise_ratio: FloatArray = quantity(
        0.0, '', doc='standard deviation of the thrust over the thrust', lo=0.0, hi=1.0,
        shape=('n',),
    )
    noise_seed: IntArray = quantity(
        0, doc='seed of the noise; equal seeds give equal noise', kind=int, lo=0, shape=('n',)
    )
    tank: tuple[str, ...] = quantity(
        '', doc='tank that each booster burns from; empty: propellant without end',
        kind=str, shape=('n',),
    )
    position: FloatArray = quantity(
        (0.0, 0.0, 0.0), 'm', doc='where the thrust acts, in base_link', shape=('n', 3),
        geometry='origin',
    )
    axis: FloatArray = quantity(
        (0.0, 0.0, 1.0), '', doc='direction of the thrust, in the link of the booster',
        shape=('n', 3), geometry='direction',
    )
    link: tuple[str, ...] = quantity(
        '', doc='link that the thrust acts on', kind=str, shape=('n',), geometry='link'
    )
    integrator: str = quantity(
        'exact', doc='exact, or the explicit step of the original', kind=str,
        choices=('exact', 'euler'),
    )
    exact_final_step: bool = quantity(
        True, kind=bool,
        doc='scale the thrust of the step that empties a tank to the propellant left',
    )
    tanks: TanksParams = group(TanksParams, element='tank')
    gimbals: GimbalsParams = group(GimbalsParams, element='gimbal')

    def __post_init__(self) -> None:
        validate(self)
        for i in np.flatnonzero(self.min_thrust > self.max_thrust).tolist():
            raise ConfigError(
                'min_thrust',
                f'{self.min_thrust[i]:g} is above max_thrust {self.max_thrust[i]:g} N', i,
            )
        for i, tank in enumerate(self.tank):
            if tank and tank not in self.tanks.names:
                known = ', '.join(self.tanks.names) or 'none'
                raise ConfigError('tank', f'unknown tank {tank!r}, known: {known}', i)
        for i, booster in enumerate(self.gimbals.booster):
            if booster not in self.names:
                raise ConfigError(
                    'gimbals.booster',
                    f'unknown booster {booster!r}, known: {", ".join(self.names)}', i,
                )
        commanded = (*self.names, *self.gimbals.joints)
        for i, joint in enumerate(self.gimbals.joints):
            if joint in commanded[: len(self.names) + i]:
                raise ConfigError('gimbals.joints', f'{joint!r} is named twice', i)


class Boosters:
    """n boosters that share or own m tanks, some of them gimballed.

    Commands are a thrust [N] per booster (effort; 0 or NaN shuts down, above 0 lights and is
    clamped to [min_thrust, max_thrust]) and an angle [rad] per gimbal joint (position).

    Parameters
    ----------
    params : BoostersParams
        Validated configuration.
    batch : tuple of int
        Leading batch shape of the state.

    Attributes
    ----------
    ignition : BoolArray
        Whether each booster is lit, (..., n).
    throttle : FloatArray
        Thrust over max_thrust before noise, (..., n).
    """

    Params: ClassVar[type] = BoostersParams

    def __init__(self, params: BoostersParams, batch: tuple[int, ...] = ()) -> None:
        n, g = len(params.names), len(params.gimbals.booster)
        self._n, self._batch = n, batch
        self._max_thrust = params.max_thrust
        self._min_thrust = params.min_thrust
        self._min_throttle = params.min_thrust / params.max_thrust
        self._fuel_rate = params.max_fuel_rate
        self._keeps_burning = ~params.reignitable
        self._noise_ratio = params.noise_ratio
        self._noise = TickNoise(params.noise_seed, batch)
        self._noisy = bool(np.any(params.noise_ratio > 0.0))
        self._lag = Lag(params.time_constant, integrator=params.integrator)
        self._exact_final_step = params.exact_final_step

        self._axis = unit_rows('axis', params.axis)
        self._position = params.position
        self._gimbals = Gimbals(params.gimbals, batch) if g else None
        self._gimballed = np.array([params.names.index(b) for b in params.gimbals.booster], int)

        m = len(params.tanks.names)
        self._tanks = Tanks(params.tanks, batch) if m else None
        # A booster without a tank draws from an endless one behind the last.
        self._tank_of = np.array(
            [params.tanks.names.index(tank) if tank else m for tank in params.tank], int
        )
        self._draws = np.eye(m + 1)[self._tank_of][:, :m]
        self._endless = np.ones((*batch, 1))

        joints = params.gimbals.joints
        self.command_names = (*params.names, *joints)
        self.command_fields = ('effort',) * n + ('position',) * len(joints)
        self.safe_command = np.zeros(len(self.command_names))
        self.nan_is_safe = (True,) * n + (False,) * len(joints)
        self.uses_body = False
        self.actuator_names = params.names
        self.actuator_frames = params.link
        self.tank_names = params.tanks.names
        self.state_names = (
            *self.command_names,
            *(f'{name}/{value}' for value in ('ignition', 'throttle') for name in params.names),
            *(f'{name}/fuel_ratio' for name in params.tanks.names),
        )
        self._no_state = np.full((*batch, len(self.state_names)), np.nan)
        self.reset()

    def reset(self) -> None:
        """Shut down, fill the tanks to `starting_fuel_ratio`, centre the gimbals."""
        self.ignition: BoolArray = np.zeros((*self._batch, self._n), bool)
        self.throttle: FloatArray = np.zeros((*self._batch, self._n))
        if self._tanks:
            self._tanks.reset()
        if self._gimbals:
            self._gimbals.reset()

    def check_command(self, command: Command) -> None:
        """Raise `CommandError` for a negative thrust."""
        if command.effort is None:
            return
        effort = command.effort[..., : self._n]
        negative = effort < 0.0
        if negative.any():
            i = int(np.argwhere(negative)[0, -1])
            raise CommandError(
                f'{self.command_names[i]}: effort {effort[negative][0]:g} N is negative, '
                'a booster only pushes'
            )

    def step(self, command: Command, body: BodyState, dt: float, tick: int) -> Output:
        """Advance by ``dt`` [s]; see `Family.step`."""
        thrust_demand = (
            np.zeros(self._n) if command.effort is None else command.effort[..., : self._n]
        )
        gimbal_command = None
        if self._gimbals and command.position is not None:
            gimbal_command = np.nan_to_num(command.position[..., self._n:]).reshape(
                *command.position.shape[:-1], -1, 2
            )
        lit = thrust_demand > 0.0
        demand = np.minimum(np.maximum(thrust_demand, self._min_thrust), self._max_thrust)
        saturated = lit & (demand != thrust_demand)
        return self.advance(
            lit, np.where(lit, demand / self._max_thrust, 0.0), gimbal_command, dt, tick, saturated
        )

    def advance(
        self,
        ignition: BoolArray,
        throttle_demand: FloatArray,
        gimbal_command: FloatArray | None,
        dt: float,
        tick: int,
        saturated: BoolArray | None = None,
    ) -> Output:
        """Advance by ``dt`` with ignition and throttle given apart.

        Parameters
        ----------
        ignition : BoolArray
            Whether each booster should burn, (..., n).
        throttle_demand : FloatArray
            Thrust over max_thrust while lit, (..., n); raised to min_thrust / max_thrust.
        gimbal_command : FloatArray or None
            [rad], (..., g, 2); None holds the angles as they are.
        dt : float
            [s].
        tick : int
            Number of the step; keys the noise.
        saturated : BoolArray, optional
            Boosters whose demand was clamped before, (..., n).
        """
        self.ignition = ignition | (self._keeps_burning & self.ignition)
        target = np.where(
            self.ignition, np.minimum(np.maximum(throttle_demand, self._min_throttle), 1.0), 0.0
        )
        self.throttle = self._lag.step(self.throttle, target, dt)
        if self._tanks:
            self.throttle = self.throttle * self._per_booster(~self._tanks.is_dry)
        ratio = self.throttle
        if self._noisy:
            ratio = np.maximum(ratio * (1.0 + self._noise_ratio * self._noise.at(tick)), 0.0)
        ratio = self._burn(ratio, dt)
        thrust = ratio * self._max_thrust

        position, axis = self._position, self._axis
        clipped = np.zeros((), bool)
        if self._gimbals:
            if gimbal_command is not None:
                clipped = self._gimbals.step(gimbal_command, dt)
            position, axis = self._carried(self._gimbals)
        forces = axis * thrust[..., None]
        flags = {
            'saturated': np.zeros_like(self.ignition) if saturated is None else saturated,
            'gimbal_limit': np.asarray(clipped),
        }
        if self._tanks:
            flags['dry'] = self._tanks.is_dry
        return Output(
            wrench=net_wrench(forces, position),
            thrusts=thrust,
            axes=axis,
            computed=self.throttle * self._max_thrust,
            applied=thrust,
            flags=flags,
            tanks=self._tanks.state() if self._tanks else None,
            **self._state(thrust),
        )

    @property
    def propellant(self) -> FloatArray:
        """Propellant left in each tank [kg], (..., m)."""
        return self._tanks.propellant if self._tanks else np.empty((*self._batch, 0))

    def _per_booster(self, per_tank: NDArray[Any]) -> NDArray[Any]:
        """Return a value of each tank, (..., m), for each booster, 1 where it has none."""
        return np.concatenate((per_tank, self._endless), axis=-1)[..., self._tank_of]

    def _burn(self, ratio: FloatArray, dt: float) -> FloatArray:
        """Take the propellant of one step and return the ratio of max_thrust it gave."""
        if not self._tanks:
            return ratio
        share = self._tanks.draw((ratio * self._fuel_rate) @ self._draws * dt)
        return ratio * self._per_booster(share) if self._exact_final_step else ratio

    def _carried(self, gimbals: Gimbals) -> tuple[FloatArray, FloatArray]:
        """Return the positions and axes of all boosters as the gimbals move them."""
        at = self._gimballed
        points, turned = gimbals.carry(self._position[at], self._axis[at])
        shape = (*points.shape[:-2], self._n, 3)
        position = np.broadcast_to(self._position, shape).copy()
        axis = np.broadcast_to(self._axis, shape).copy()
        position[..., at, :] = points
        axis[..., at, :] = turned
        return position, axis

    def _state(self, thrust: FloatArray) -> dict[str, FloatArray]:
        n, joints = self._n, len(self.command_names)
        effort, position = self._no_state.copy(), self._no_state.copy()
        effort[..., :n] = thrust
        if self._gimbals:
            angles = self._gimbals.angles
            position[..., n:joints] = angles.reshape(*angles.shape[:-2], -1)
        position[..., joints : joints + n] = self.ignition
        position[..., joints + n : joints + 2 * n] = self.throttle
        if self._tanks:
            position[..., joints + 2 * n :] = self._tanks.fuel_ratio
        return {'position': position, 'effort': effort}
