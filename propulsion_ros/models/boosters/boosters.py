# SPDX-License-Identifier: Apache-2.0
"""Fuelled boosters on propellant tanks, after PyFlyt's Boosters, for any number of either.

A lit booster follows its throttle demand with a first-order lag, makes thrust = throttle *
max_thrust and burns thrust / max_thrust * max_fuel_rate. What is burnt, published and applied in
a step is one value, so impulse and propellant always agree; a booster of lower efficiency gives
less thrust for the same propellant. A solid motor takes its thrust from a curve of the time since
ignition instead.
"""
from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from propulsion_ros.models.boosters.params import BoostersParams, gimbals_of
from propulsion_ros.models.common.allocation import allocation_matrix
from propulsion_ros.models.common.atmosphere import temperature_and_pressure
from propulsion_ros.models.common.efficiency import Degrading
from propulsion_ros.models.common.esc import FIELDS, beyond, esc_of
from propulsion_ros.models.common.facts import FamilyFacts
from propulsion_ros.models.common.family import (
    BodyState,
    Command,
    Output,
    given_or_safe,
    refuse_negative,
    restart,
)
from propulsion_ros.models.common.lag import Lag
from propulsion_ros.models.common.layout import ThrustLayout, placed_rows
from propulsion_ros.models.common.noise import TickNoise
from propulsion_ros.models.common.placed import PlacedActuators
from propulsion_ros.models.common.start import Start, State
from propulsion_ros.models.common.thrust_curve import BurnCurves
from propulsion_ros.models.common.wrench import cross, in_link_axes, product, unit_rows
from propulsion_ros.models.steering.steering import Steering, turned_layout
from propulsion_ros.models.supply.tanks import FuelledFamily, Tanks, draws_of
from propulsion_ros.settings.quantity import BoolArray, FloatArray, IntArray

__all__ = ['Boosters', 'BoostersParams']


class Boosters(PlacedActuators, FuelledFamily, Degrading):
    """n boosters that share or own m tanks, some of them gimballed.

    Commands are a thrust [N] per booster (effort; 0 or NaN shuts down, above 0 lights and is
    clamped to [min_thrust, max_thrust]), or a throttle alike (position), and an angle [rad] per
    gimbal joint (position). A booster with a thrust curve is lit by any thrust above 0 and burns
    out.

    They are allocated with their gimbals at 0. A solid motor is not: no command chooses its thrust.

    Attributes
    ----------
    ignition : BoolArray
        Whether each booster is lit, (..., n).
    throttle : FloatArray
        Thrust over max_thrust before noise, (..., n).
    allocation_matrix : FloatArray
        Wrench about the origin of base_link per thrust with the gimbals at 0, (6, n).
    """

    Params: ClassVar[type] = BoostersParams
    params: BoostersParams
    facts: ClassVar[FamilyFacts] = FamilyFacts(tag='booster', meets_each=True)
    ignition: BoolArray
    throttle: FloatArray

    def __init__(self, params: BoostersParams, batch: tuple[int, ...] = ()) -> None:
        n, g = len(params.names), len(params.gimbals.booster)
        super().__init__(params, FIELDS[params.command_interface])
        self._n = n
        self._max_thrust, self._too_much = params.max_thrust, 2.0 * params.max_thrust
        self._min_throttle = params.min_thrust / params.max_thrust
        self._solid = np.flatnonzero([bool(text) for text in params.thrust_curve])
        curves = [params.thrust_curve[i] for i in self._solid]
        self._curves = BurnCurves(curves, batch) if curves else None
        self._keeps_burning = ~params.reignitable
        self._keeps_burning[self._solid] = True
        self._noise_ratio = params.noise_ratio
        self._noise = TickNoise(params.noise_seed, batch)
        self._noisy = bool(np.any(params.noise_ratio > 0.0))
        self._lag = Lag(
            params.time_constant, integrator=params.integrator, step_value=params.step_value
        )
        self._exact_final_step = params.exact_final_step

        aimed = unit_rows('axis', params.axis)
        self._axis = aimed
        # Wrench per thrust; gimbals turn the rows of theirs.
        self.allocation_matrix = allocation_matrix(params.position, aimed)
        self._rows = self.allocation_matrix.T.copy()
        if params.misalignment.any():
            self._axis = _turned(aimed, params.rotation, params.misalignment)
            self._rows = allocation_matrix(params.position, self._axis).T.copy()
        self._nozzles = Nozzles(params) if params.exit_area.any() else None
        waits = params.ignition_delay.any()
        self._igniters = IgnitionDelay(params.ignition_delay, batch) if waits else None
        self._gimbals = gimbals_of(params.gimbals, batch, params.step_value) if g else None
        if self._gimbals:
            at = np.array([params.names.index(b) for b in params.gimbals.booster], int)
            self._gimballed: IntArray | None = None if np.array_equal(at, np.arange(n)) else at
            self._turned = self._gimbals.wrench_table(params.position[at], self._axis[at])

        m = len(params.tanks.names)
        self._tanks = Tanks(params.tanks, batch) if m else None
        self._draws, self._endless = draws_of(params.tank, params.tanks.names)
        self._burns = params.max_fuel_rate[:, None] * self._draws

        joints = params.gimbals.joints
        self.command_names = (*params.names, *joints)
        self._esc = esc_of(params, lowest=0.0)
        self.command_fields = (*self.command_fields, *('position',) * len(joints))
        self.safe_command = np.zeros(len(self.command_names))
        self.nan_is_safe = (True,) * n + (False,) * len(joints)
        self.uses_body = self._nozzles is not None
        self.tank_names = params.tanks.names
        self.state_names = (
            *self.command_names,
            *(f'{name}/{value}' for value in ('ignition', 'throttle') for name in params.names),
            *(f'{name}/fuel_ratio' for name in params.tanks.names),
        )
        self._longest_burn = np.zeros(n)
        self._longest_burn[self._solid] = np.finfo(float).max
        self.start_states = (
            'ignition', 'throttle',
            *(('burn_time',) if curves else ()), *(('gimbal_angle',) if g else ()),
            *(('fuel_ratio',) if m else ()),
        )
        self._no_effort, self._centred = np.zeros(n), np.zeros(len(joints))
        self._no_state = np.full((*batch, len(self.state_names)), np.nan)
        self.retune(params)
        self.reset()

    def link_wrenches(self, output: Output) -> FloatArray:
        """Return the wrench of each booster in its link; see `Family.link_wrenches`."""
        # The gimbals carry the links, in whose axes a thrust keeps its direction.
        return in_link_axes(self._rotation, output.thrusts[..., None] * self._axis)

    def retune(self, params: BoostersParams) -> None:
        """Take the `efficiency`, and for the next `reset` the tanks' `starting_fuel_ratio`."""
        super().retune(params)
        if self._tanks:
            self._tanks.retune(params.tanks)

    def rest(self) -> None:
        """Shut down and centre the gimbals; tanks and burnt grains stay as they are."""
        shape = (*self.batch, self._n)
        restart(
            self, None, self.batch, ignition=np.zeros(shape, bool), throttle=np.zeros(shape)
        )
        if self._igniters:
            self._igniters.reset()
        if self._gimbals:
            self._gimbals.reset()

    def reset(self, indices: Any = None, state: State | None = None) -> None:
        """Shut down, fill the tanks to `starting_fuel_ratio`, centre the gimbals.

        A state may have other beginnings, see `Restartable.reset`: ``ignition``, 0 or 1, and
        ``throttle`` of each booster; ``burn_time`` since ignition [s], 0 but for solid motors;
        ``gimbal_angle`` [rad], (..., g, 2); ``fuel_ratio`` of each tank.
        """
        start = Start(indices, self.batch, state, self.start_states)
        none = np.zeros((*self.batch, self._n))
        burn_time = start.of('burn_time', none, 0.0, self._longest_burn)
        ignition = start.of('ignition', burn_time > 0.0, 0.0, 1.0)
        throttle = start.of('throttle', none, 0.0, 1.0)
        angles = start.of('gimbal_angle', *self._gimbals.range) if self._gimbals else None
        ratio = (
            start.of('fuel_ratio', self._tanks.starting_fuel_ratio, 0.0, 1.0)
            if self._tanks else None
        )
        restart(self, indices, self.batch, ignition=ignition, throttle=throttle)
        if self._igniters:
            self._igniters.reset(indices, (burn_time > 0.0) | (throttle > 0.0))
        if self._gimbals:
            self._gimbals.reset(indices, angles)
        if self._curves:
            self._curves.reset(indices, burn_time[..., self._solid])
        if self._tanks:
            self._tanks.reset(indices, ratio)

    def thrust_layout(self) -> ThrustLayout:
        """Return where and which way the boosters push; see `Drawable`."""
        params, gimbals = self.params, self.params.gimbals
        own = ThrustLayout(
            **placed_rows(params), lowest=np.zeros(self._n), highest=params.max_thrust,
            plume='flame',
        )
        if not gimbals.booster:
            return own
        rows = np.array([params.names.index(booster) for booster in gimbals.booster])
        chains = np.arange(len(rows))
        return turned_layout(own, gimbals.joints, gimbals_of(gimbals), rows, chains)

    def check_command(self, command: Command) -> None:
        """Raise `CommandError` for a negative thrust."""
        field = self.command_fields[0]
        given: FloatArray | None = getattr(command, field)
        refuse_negative(
            None if given is None else given[..., : self._n], self.command_names, field,
            '' if self._esc else 'N', 'a booster only pushes',
        )

    def step(self, command: Command, body: BodyState, dt: float, tick: int) -> Output:
        """Advance by ``dt`` [s]; see `Family.step`."""
        given: FloatArray | None = getattr(command, self.command_fields[0])
        effort = self._no_effort if given is None else given[..., : self._n]
        lit: BoolArray = effort > 0.0
        self.ignition = lit | (self._keeps_burning & self.ignition)
        asked = self._esc.demand(effort) if self._esc else effort
        # What is far beyond the largest thrust could be no number over it.
        asked = np.minimum(asked, self._too_much) / self._max_thrust
        # fmax takes the other where one is NaN.
        demand = np.minimum(np.fmax(asked, self._min_throttle), 1.0)
        flags = {'saturated': lit & (demand != asked)}
        part = self._igniters.step(self.ignition, dt) if self._igniters else None
        self.throttle, ratio = self._throttle(demand, part, dt)
        if self._curves:
            at = self._solid
            flags['saturated'][..., at] = False
            burns = 1.0 if part is None else part[..., at]
            mean = self._curves.step(self.ignition[..., at], dt, burns) / self._max_thrust[at]
            self.throttle[..., at] = ratio[..., at] = mean
        if self._esc:
            flags['saturated'] = flags['saturated'] | beyond(effort)
        if self._tanks and np.count_nonzero(self._tanks.is_dry):
            fed = self._per_booster(~self._tanks.is_dry)
            self.throttle, ratio = self.throttle * fed, ratio * fed
        steady = ratio
        if self._noisy:
            # Cut alike on both sides, so that a thrust that cannot pull keeps its mean.
            noise = np.clip(self._noise_ratio * self._noise.at(tick), -1.0, 1.0)
            ratio = ratio * (1.0 + noise)
        ratio = self._burn(ratio, dt)
        made = ratio * self._max_thrust
        thrust = self._degrade(self._nozzles.thrust(made, body) if self._nozzles else made)

        rows, axis = self._rows, self._axis
        if self._gimbals:
            if command.position is None:
                self._gimbals.hold()
            else:
                angles = given_or_safe(command.position[..., self._n:], self._centred)
                pairs = angles.reshape(*angles.shape[:-1], -1, 2)
                flags['gimbal_limit'] = self._gimbals.step(pairs, dt)
            rows = self._carried(self._gimbals)
            axis = rows[..., :3]
        wrench = (
            product(thrust, rows) if rows.ndim == 2 else (thrust[..., None, :] @ rows)[..., 0, :]
        )
        if self._tanks:
            flags['dry'] = self._tanks.is_dry
        position, effort = self._state(thrust)
        return Output(
            wrench=wrench,
            thrusts=thrust,
            axes=axis,
            position=position,
            effort=effort,
            computed=steady * self._max_thrust,
            applied=thrust,
            flags=flags,
            tanks=self.tank_state,
        )

    def _throttle(
        self, demand: FloatArray, part: FloatArray | None, dt: float
    ) -> tuple[FloatArray, FloatArray]:
        """Return throttles at the end of a step and what stands for it, (..., n).

        ``part`` is for which part of the step each booster burns, None for all of it.
        """
        burns = self.ignition if part is None else part > 0.0
        end, ratio = self._lag.advance(self.throttle, burns * demand, dt)
        if part is None:
            return end, ratio
        # What begins to burn within a step moves for a part of it.
        late = burns & (part < 1.0)
        end = np.where(late & (self.params.time_constant > 0.0),
                       self.throttle + part * (end - self.throttle), end)
        return end, np.where(late, part * ratio, ratio)

    @property
    def thrust_limits(self) -> tuple[FloatArray, FloatArray]:
        """Lowest and highest thrust of each booster [N], (n,) each; none of a solid motor."""
        return np.zeros(self._n), self._throttled(self._max_thrust)

    @property
    def least_thrust(self) -> FloatArray:
        """Lowest thrust of each booster while it is lit [N], (n,)."""
        return self._throttled(self.params.min_thrust)

    def command_for(self, thrust: FloatArray) -> FloatArray:
        """Return the commands of the boosters that settle at thrusts [N], (..., n)."""
        return self._esc.throttle(thrust) if self._esc else thrust

    def _throttled(self, thrust: FloatArray) -> FloatArray:
        """Return thrusts [N], (n,), with 0 for solid motors."""
        thrust = thrust.copy()
        thrust[self._solid] = 0.0
        return thrust

    @property
    def gimbal_angle(self) -> FloatArray:
        """Angles of the two axes of each gimbal [rad], (..., g, 2)."""
        return self._gimbals.angles if self._gimbals else np.empty((*self.batch, 0, 2))

    def _per_booster(self, per_tank: NDArray[Any]) -> NDArray[Any]:
        """Return a value of each tank, (..., m), for each booster, 1 where it has none."""
        return np.asarray(per_tank @ self._draws.T + self._endless)

    def _burn(self, ratio: FloatArray, dt: float) -> FloatArray:
        """Take the propellant of one step and return the ratio of max_thrust it gave."""
        if not self._tanks:
            return ratio
        share = self._tanks.draw(product(ratio, self._burns) * dt)
        if share is None or not self._exact_final_step:
            return ratio
        return np.asarray(ratio * self._per_booster(share))

    def _carried(self, gimbals: Steering) -> FloatArray:
        """Return the wrench per thrust of all boosters as the gimbals turn them, (..., n, 6)."""
        turned = gimbals.wrenches(self._turned)
        if self._gimballed is None:
            return turned
        rows: FloatArray = np.empty((*turned.shape[:-2], self._n, 6))
        rows[...] = self._rows
        rows[..., self._gimballed, :] = turned
        return rows

    def _state(self, thrust: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return position and effort of all names, NaN where a name has none."""
        n = self._n
        effort = self._no_state.copy()
        effort[..., :n] = thrust
        parts = [self._no_state[..., :n], self.ignition, self.throttle]
        if self._gimbals:
            angles = self._gimbals.angles
            parts.insert(1, angles.reshape(*angles.shape[:-2], -1))
        if self._tanks:
            parts.append(self._tanks.fuel_ratio)
        return np.concatenate(parts, axis=-1), effort


def _turned(axes: FloatArray, rotations: FloatArray, turns: FloatArray) -> FloatArray:
    """Return axes in base_link turned by rotation vectors in the axes of links, (n, 3) each."""
    size = np.linalg.norm(turns, axis=-1, keepdims=True)
    about = (rotations @ turns[..., None])[..., 0] / np.maximum(size, np.finfo(float).tiny)
    once = cross(about, axes)
    return np.asarray(axes + np.sin(size) * once + (1.0 - np.cos(size)) * cross(about, once))


class IgnitionDelay:
    """n igniters, each of which must be on for a time before its booster burns.

    Attributes
    ----------
    left : FloatArray
        Time until each burns once it is on [s], (..., n).
    """

    left: FloatArray

    def __init__(self, delay: FloatArray, batch: tuple[int, ...]) -> None:
        self._batch, self._delay = batch, np.broadcast_to(delay, (*batch, len(delay)))

    def reset(self, indices: Any = None, burns: BoolArray | None = None) -> None:
        """Wait anew, but for what burns already, (..., n); see `restart`."""
        left = self._delay if burns is None else np.where(burns, 0.0, self._delay)
        restart(self, indices, self._batch, left=left)

    def step(self, on: BoolArray, dt: float) -> FloatArray:
        """Return for which part of a step of ``dt`` [s] each booster burns, (..., n)."""
        burns = np.where(on, np.maximum(dt - self.left, 0.0), 0.0)
        waits = on & (self.left <= dt) if dt == 0.0 else burns
        self.left = np.where(on, np.maximum(self.left - dt, 0.0), self._delay)
        return np.asarray(burns / dt if dt > 0.0 else waits, dtype=float)


_HIGHEST, _SPACING = 86_000.0, 10.0
"""Heights of the table above sea level [m]; linear between its points it is right to 3e-8."""


class Nozzles:
    """What the pressure around n nozzles adds to their thrust.

    The outside presses on the area of the exit, so that thrust rises with altitude by (p_ref - p) A
    (Sutton and Biblarz, Rocket Propulsion Elements), while the flow of propellant stays.
    """

    def __init__(self, params: BoostersParams) -> None:
        self._area, self._pressure = params.exit_area, params.reference_pressure
        self._site = params.site_altitude
        self._heights = np.arange(-1000.0, _HIGHEST + _SPACING, _SPACING)
        self._logarithms = np.log(temperature_and_pressure(self._heights)[1])

    def thrust(self, thrust: FloatArray, body: BodyState) -> FloatArray:
        """Return thrusts at the height of the body [N], from those at the reference pressure.

        Below the height of sea level by 1 km, and above 86 km, the pressure stays. A thrust at
        most doubles, so that what is shut down does not push.
        """
        if body.heights is None:
            return thrust
        height = body.heights + self._site
        pressure = np.exp(np.interp(height, self._heights, self._logarithms))
        added = (self._pressure - pressure) * self._area
        return np.asarray(thrust + np.minimum(np.maximum(added, -thrust), thrust))
