# SPDX-License-Identifier: Apache-2.0
"""Underwater thrusters: rotor dynamics, thrust curve and limits, after the UUV simulator.

For each thruster, in the order of the original's plugin:

    u = gain * clip(command, min_command, max_command)
    w = propeller_efficiency * dynamics(u)
    T = clip(thrust_efficiency * curve(w), min_thrust, max_thrust)

Models of the rotor and curves of the thrust mix freely within one array.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np

from propulsion_ros.models.common import placement
from propulsion_ros.models.common.efficiency import live_factor
from propulsion_ros.models.common.esc import FIELDS, EscParams, beyond, esc_of
from propulsion_ros.models.common.facts import THRUST_AND_TORQUE, FamilyFacts
from propulsion_ros.models.common.family import (
    BodyState,
    Command,
    Output,
    Steps,
    given_or_safe,
    restart,
)
from propulsion_ros.models.common.lag import step_value
from propulsion_ros.models.common.placed import PlacedActuators
from propulsion_ros.models.common.start import Start, State
from propulsion_ros.models.common.wrench import cross, in_link_axes, product, unit_rows
from propulsion_ros.models.supply.batteries import (
    Batteries,
    PoweredFamily,
    PoweredParams,
    check_supply,
)
from propulsion_ros.models.thrusters.curves import CurvesParams, MeanThrust, ThrustCurves
from propulsion_ros.models.thrusters.dynamics import (
    LARGEST,
    SMALLEST,
    DynamicsParams,
    RotorDynamics,
    require_constants,
    within_reach,
)
from propulsion_ros.models.thrusters.four_quadrant import FourQuadrant, PropellerLoads
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.quantity import (
    BoolArray,
    ComplexArray,
    FloatArray,
    IntArray,
    per_row,
    quantity,
)

_FACTOR, _SLOPE, _POWER = 0.675, 0.769, 1.258


@dataclass(frozen=True, kw_only=True, eq=False)
class SurfaceParams:
    """Where the surface is, and which of n thrusters feel it."""

    surface_loss: BoolArray = per_row(
        False, kind=bool,
        doc='whether thrust is lost near and above the surface, by propeller_diameter',
    )
    surface_height: float = quantity(
        0.0, 'm', doc='surface_loss: height of the surface in the world', lo=-1e6, hi=1e6
    )


class SurfaceLoss:
    """What is left of the loads of n thrusters near and above the surface of the water.

    The loss is over the depth h of the hub and the radius R of the propeller, as Minsaas, Faltinsen
    and Persson have it (On the importance of added resistance, propeller immersion and propeller
    ventilation for large ships in a seaway, 1983), by the formula of Smogeli (Control of Marine
    Propellers, 2006): 1 - 0.675 (1 - 0.769 h / R)^1.258, between none and all.
    """

    def __init__(self, params: Any) -> None:
        feels: BoolArray = params.surface_loss
        per_radius = np.where(feels, 2.0 / np.where(feels, params.propeller_diameter, 1.0), 0.0)
        # What is raised to the power is linear in the height of the body and in its tilt.
        root = _FACTOR ** (1.0 / _POWER)
        self._per_height = root * _SLOPE * per_radius
        self._sunk = np.where(feels, root, 0.0) - self._per_height * params.surface_height
        self._per_tilt = (self._per_height[:, None] * params.position).T.copy()
        self._none = np.zeros(len(feels))

    def left(self, body: BodyState) -> FloatArray | None:
        """Return factors from 0 to 1, (..., n); None while the height is not known."""
        height, up = body.heights, body.up
        if height is None or up is None:
            return None
        lost: FloatArray = body.met(up, self._per_tilt) + height * self._per_height
        lost += self._sunk
        np.maximum(lost, self._none, out=lost)
        np.power(lost, _POWER, out=lost)
        left = np.subtract(1.0, lost, out=lost)
        return np.maximum(left, self._none, out=left)


@dataclass(frozen=True, kw_only=True, eq=False)
class ThrustersParams(CurvesParams, DynamicsParams, EscParams, PoweredParams, SurfaceParams):
    """Configuration of n thrusters."""

    command_interface: str = quantity(
        'velocity', kind=str, choices=('velocity', 'effort', 'throttle'),
        doc='velocity: the input of the dynamics (rad/s; bessa: V); effort: the thrust [N]; '
        'throttle: 0 to 1 in position, through esc_curve to either of these',
    )
    min_command: FloatArray = per_row(
        -LARGEST, 'rad/s', doc='lowest input, before the gain (bessa: V); the default is no limit',
        lo=-LARGEST, hi=0.0,
    )
    max_command: FloatArray = per_row(
        LARGEST, 'rad/s', doc='highest input, before the gain (bessa: V); the default is no limit',
        lo=0.0, hi=LARGEST,
    )
    min_thrust: FloatArray = per_row(
        -LARGEST, 'N', doc='lowest thrust; the default is no limit', lo=-LARGEST, hi=0.0
    )
    max_thrust: FloatArray = per_row(
        LARGEST, 'N', doc='highest thrust; the default is no limit', lo=0.0, hi=LARGEST
    )
    gain: FloatArray = per_row(
        1.0, doc='factor on the limited input; below 0 turns the other way', lo=-1e6, hi=1e6
    )
    propeller_efficiency: FloatArray = live_factor('factor on the speed that the dynamics give')
    thrust_efficiency: FloatArray = live_factor('factor on the thrust that the curve gives')
    thrust_deadband: FloatArray = per_row(
        0.0, 'N', doc='commands whose steady thrust is smaller are 0', lo=0.0, hi=LARGEST,
        live=True,
    )
    moment_constant: FloatArray = per_row(
        0.0, 'm', lo=0.0, hi=LARGEST, usual=(2e-4, 1.0),
        doc='reaction torque over thrust; 0, as in the original, makes none, and is that of the '
        'series for four_quadrant',
    )
    direction: IntArray = per_row(
        1, kind=int, lo=-1, hi=1,
        doc='1: turns right-handed about its axis to push along it; -1: left-handed',
    )
    step_value: str = step_value()
    position: FloatArray = placement.position('where the thrust acts')
    axis: FloatArray = placement.direction(
        'direction of positive thrust, in the link of the thruster', (1.0, 0.0, 0.0)
    )
    link: tuple[str, ...] = placement.link()
    rotation: FloatArray = placement.rotation()

    def __post_init__(self) -> None:
        DynamicsParams.__post_init__(self)
        CurvesParams.__post_init__(self)
        for low, high in (('min_command', 'max_command'), ('min_thrust', 'max_thrust')):
            least, most = getattr(self, low), getattr(self, high)
            for i in np.flatnonzero(least >= most).tolist():
                raise ConfigError(
                    low, f'expected less than {high}, got {least[i]:g} and {most[i]:g}', i
                )
        for i in np.flatnonzero(self.direction == 0).tolist():
            raise ConfigError('direction', 'expected 1 or -1, got 0', i)
        self._check_hands()
        self._take_moments()
        require_constants(
            self, ['surface_loss' if feels else '' for feels in self.surface_loss],
            {'surface_loss': ('propeller_diameter',)},
        )
        esc_of(self)
        for i, kind in enumerate(self.conversion):
            if kind == 'linear_interp':
                self._check_table(i)
        check_supply(self)
        self._check_limits()

    @property
    def by_thrust(self) -> bool:
        """Whether thrusts are commanded, by themselves or by a throttle."""
        if self.command_interface == 'throttle':
            return self.esc_gives == 'thrust'
        return self.command_interface == 'effort'

    def _check_limits(self) -> None:
        """Raise where a battery cannot limit a thruster, whose largest speed is unknown."""
        if self.command_interface == 'throttle':
            return
        key = 'max_thrust' if self.by_thrust else 'max_command'
        for i, battery in enumerate(self.battery):
            if battery and min(getattr(self, key)[i], self.max_command[i]) >= LARGEST:
                raise ConfigError(
                    key, f'expected a limit, that at the nominal voltage of battery {battery!r}', i
                )

    def _check_hands(self) -> None:
        """Raise where the propeller turns against `direction`, and it matters."""
        turns = (np.array(self.conversion) == 'propeller') & (self.moment_constant > 0.0)
        against = turns & (self.thrust_coefficient < 0.0) & (self.direction > 0)
        for i in np.flatnonzero(against).tolist():
            raise ConfigError(
                'direction', f'expected -1, as thrust_coefficient {self.thrust_coefficient[i]:g} '
                'is that of a left-handed propeller, got 1: the reaction torque of '
                'moment_constant would turn the body the wrong way', i,
            )

    def _take_moments(self) -> None:
        """Set the moment constants of four-quadrant propellers, which their series have."""
        rows = np.flatnonzero(np.array(self.conversion) == 'four_quadrant')
        if not len(rows):
            return
        moments, found = self.moment_constant.copy(), FourQuadrant(self, rows).moment_constant
        for i, moment in zip(rows.tolist(), found.tolist(), strict=True):
            if moments[i] not in (0.0, moment):
                raise ConfigError(
                    'moment_constant', f'expected 0, as the series of the torque have it, '
                    f'{moment:g} m, got {moments[i]:g} m', i,
                )
            if self.power_constant[i] > 0.0:
                raise ConfigError(
                    'power_constant', 'expected 0, as the series of the torque give the power of '
                    f'a four_quadrant propeller, got {self.power_constant[i]:g}', i,
                )
            moments[i] = moment
        moments.flags.writeable = False
        object.__setattr__(self, 'moment_constant', moments)

    def _check_table(self, i: int) -> None:
        table = self.table(i)
        at_rest = float(np.interp(0.0, table.speeds, table.thrusts))
        if abs(at_rest) > 1e-9 * float(np.max(np.abs(table.thrusts))):
            raise ConfigError(
                'output_values', f'a thruster at rest would push {at_rest:g} N, expected 0; '
                'input_values are speeds, 0 at rest, and no pulse widths', i
            )
        if self.by_thrust and not table.rises:
            raise ConfigError(
                'output_values',
                'falls as input_values rise; command_interface effort needs one speed per thrust',
                i,
            )


_Water: TypeAlias = tuple[FloatArray | None, FloatArray]
"""Speeds of advance [m/s], None where no curve needs them; factors on the thrusts of curves."""


class Thrusters(PlacedActuators, PoweredFamily):
    """n thrusters, each with its own rotor dynamics and thrust curve.

    Commands are the input of the dynamics (velocity: rad/s, bessa V) or, by `command_interface`,
    a thrust [N] (effort). A thrust goes through the inverse of all that is configured, so that a
    healthy thruster settles at it; efficiencies set later are not made up for.

    Attributes
    ----------
    rotor_speed : FloatArray
        State of the dynamics, before the propeller's efficiency [rad/s], (..., n).
    """

    Params: ClassVar[type] = ThrustersParams
    params: ThrustersParams
    facts: ClassVar[FamilyFacts] = FamilyFacts(
        tag='thruster', force=THRUST_AND_TORQUE, meets_each=True, joint_axis='axis'
    )
    rotor_speed: FloatArray

    def __init__(self, params: ThrustersParams, batch: tuple[int, ...] = ()) -> None:
        n = len(params.names)
        super().__init__(params, FIELDS[params.command_interface])
        self._shape = (*batch, n)
        input_limit = np.abs(params.gain) * np.maximum(-params.min_command, params.max_command)
        self._dynamics = RotorDynamics(params, input_limit)
        self._curves = ThrustCurves(params)
        mean = MeanThrust(self._dynamics, self._curves)
        takes_mean = params.step_value == 'mean' and params.integrator == 'exact'
        self._mean = mean if takes_mean and not mean.is_end else None
        self._by_thrust = params.by_thrust
        self._esc = esc_of(params)
        if self._esc:
            self.safe_command = self._esc.throttle(np.zeros(n))
        efficiency = params.thrust_efficiency
        # 0 where there is nothing to divide by: such a thruster pushes by no command.
        self._per_thrust_efficiency = _reciprocal(efficiency)
        self._per_propeller_efficiency = _reciprocal(params.propeller_efficiency)
        self._per_gain = _reciprocal(params.gain)
        reach = np.where(efficiency > 0.0, efficiency, 1.0)
        self._lowest_order = np.maximum(params.min_thrust, self._curves.min_thrust * reach)
        self._highest_order = np.minimum(params.max_thrust, self._curves.max_thrust * reach)

        self._none: BoolArray = np.zeros((), bool)

        self._axis = unit_rows('axis', params.axis)
        arm = cross(params.position, self._axis)
        # The water turns the body against the propeller.
        self._reaction: FloatArray = -params.direction * params.moment_constant
        reaction = self._reaction[:, None] * self._axis
        self._advance_from = np.concatenate((self._axis, arm), axis=-1).T.copy()
        self._allocation = np.concatenate((self._axis, arm + reaction), axis=-1)

        self._surface = SurfaceLoss(params) if params.surface_loss.any() else None
        quadrants = self._curves.four_quadrant
        self._quadrants = PropellerLoads(
            params, *quadrants, self._dynamics, takes_mean
        ) if quadrants else None
        self._beyond = np.zeros(0)
        twist = -params.direction[:, None] * self._axis
        self._twist = np.concatenate((np.zeros_like(twist), twist), axis=-1)
        if self._quadrants:
            self._twist = self._twist[self._quadrants.columns]
        self.uses_body = self._curves.takes_advance or self._surface is not None
        self._take_supply(params, batch)
        self.start_states = ('rotor_speed', *self._supply_states)
        if self._batteries:
            self._slowest, self._fastest = self._nominal_speeds()
        self.retune(params)
        self.reset()

    def check_step(self, dt: float) -> None:
        """Raise `ConfigError` for an euler step that could overshoot; see `StepLimited`."""
        self._dynamics.check_step(dt)

    def reset(self, indices: Any = None, state: State | None = None) -> None:
        """Stop the rotors, or let them turn, and charge; see `Restartable.reset`."""
        start = Start(indices, self._shape[:-1], state, self.start_states)
        speed = start.of('rotor_speed', np.zeros(self._shape), -LARGEST, LARGEST)
        self._charge(indices, start)
        restart(self, indices, self._shape[:-1], rotor_speed=speed)

    def rest(self) -> None:
        """Stop all rotors; the batteries stay as they are."""
        restart(self, None, self._shape[:-1], rotor_speed=np.zeros(self._shape))
        self._rest_supply()

    def retune(self, params: ThrustersParams) -> None:
        """Take the efficiencies of a configuration, as faults: no command makes up for them.

        The dead band is taken too; the batteries' `starting_charge` is for the next `reset`.
        """
        self._retune_supply(params)
        deadband: FloatArray = params.thrust_deadband
        self._deadband = deadband if deadband.any() else None
        self._propeller_efficiency: FloatArray = params.propeller_efficiency
        self._thrust_efficiency: FloatArray = params.thrust_efficiency

    @property
    def degraded(self) -> BoolArray:
        """Thrusters below an efficiency that they were configured with, (n,)."""
        return np.asarray(
            (self._thrust_efficiency < self.params.thrust_efficiency)
            | (self._propeller_efficiency < self.params.propeller_efficiency)
        )

    @property
    def effectiveness(self) -> FloatArray:
        """Thrust of each thruster over what it was configured for, at rest in the water, (n,).

        It is that at the largest thrust, and the same at any where the thrust is a power of speed.
        """
        params, (lowest, highest) = self.params, self.thrust_limits
        largest = np.where(-lowest > highest, lowest, highest)
        speed = self._curves.speed(largest * self._per_thrust_efficiency, None)
        left = self._propeller_efficiency * self._per_propeller_efficiency
        healthy = params.thrust_efficiency * self._curves.thrust(speed, None)
        now = self._thrust_efficiency * self._curves.thrust(left * speed, None)
        # What never pushes has lost nothing.
        loss = 1.0 - np.where(healthy == 0.0, 1.0, now * _reciprocal(healthy))
        return np.asarray(np.clip(1.0 - loss * self.degraded, 0.0, 1.0))

    def step(self, command: Command, body: BodyState, dt: float, tick: int) -> Output:
        """Advance by ``dt`` [s]; see `Family.step`."""
        params = self.params
        water = self._water(body)
        demand, saturated = self._demand(command, water[0])
        batteries = self._batteries
        if batteries:
            demand, limited = self._supplied(batteries, demand, water, dt)
            saturated = saturated | limited
        self.rotor_speed, speed, computed, loads = self._advance(demand, water, dt)
        thrust = np.minimum(np.maximum(computed, params.min_thrust), params.max_thrust)
        saturated = saturated | (thrust != computed)
        wrench = product(thrust, self._allocation)
        if self._quadrants and loads is not None:
            self._beyond = self._quadrants.torque_beyond(loads, thrust, computed)
            wrench = wrench + product(self._beyond, self._twist)
        flags = {'saturated': saturated, 'off_curve': self._curves.are_left(speed)}
        if batteries:
            flags.update(batteries.flags)
        return Output(
            wrench=wrench,
            thrusts=thrust,
            axes=self._axis,
            velocity=speed,
            effort=thrust,
            computed=computed,
            applied=thrust,
            flags=flags,
            batteries=batteries.state() if batteries else None,
        )

    def steps(self, commands: Command, body: BodyState, dt: float) -> Steps | None:
        """Advance by many steps; see `Blockwise`."""
        if self._batteries or self._quadrants or self._dynamics.drags.any():
            return None
        advance, efficiency = self._water(body)
        # Of rows of their own products have the last digit of single steps.
        demand = self._demand(commands, advance)[0][:, None]
        speeds = self._dynamics.run(self.rotor_speed, demand[:, 0], dt)[:, None]
        way, self.rotor_speed = (speeds[:-1], demand, speeds[1:]), speeds[-1, 0]
        speed = self._propeller_efficiency * speeds[1:]
        made = np.empty_like(speed)
        # What stands still has the thrust of its end, which may differ from the mean in digits.
        moves = (way[0] != way[2]).any(axis=(1, 2))
        for rows in (moves, ~moves):
            if rows.any():
                start, goal, end = (part[rows] for part in way)
                made[rows] = self._made((start, goal, end), speed[rows], advance, dt)
        thrust = np.minimum(
            np.maximum(efficiency * made, self.params.min_thrust), self.params.max_thrust
        )
        wrench = product(thrust, self._allocation)
        return Steps(wrench[:, 0], velocity=speed[:, 0], effort=thrust[:, 0])

    def link_wrenches(self, output: Output) -> FloatArray:
        """Return the wrench of each thruster in its link; see `Family.link_wrenches`."""
        wrenches = super().link_wrenches(output)
        if self._quadrants:
            torques = self._beyond[..., None] * self._twist[:, 3:]
            at = self._quadrants.columns
            wrenches[..., at, :] += in_link_axes(
                self._rotation[at], np.zeros_like(torques), torques
            )
        return wrenches

    @property
    def allocation_matrix(self) -> FloatArray:
        """Wrench about the origin of base_link per thrust, (6, n)."""
        return np.asarray(self._allocation.T)

    @property
    def thrust_limits(self) -> tuple[FloatArray, FloatArray]:
        """Lowest and highest steady thrust of each thruster at rest in the water [N], (n,)."""
        params = self.params
        inputs, n = [params.min_command, params.max_command], self._shape[-1]
        asked = [self._esc.demand(np.full(n, end)) for end in (0.0, 1.0)] if self._esc else []
        if asked and not self._by_thrust:
            inputs = [np.clip(each, *inputs) for each in asked]
        ends = [self._steady_thrust(params.gain * limit, None) for limit in inputs]
        lowest = np.maximum(np.minimum(*ends), self._lowest_order)
        highest = np.minimum(np.maximum(*ends), self._highest_order)
        if asked and self._by_thrust:
            lowest, highest = (np.clip(each, lowest, highest) for each in asked)
        return lowest, highest

    def command_for(self, thrust: FloatArray) -> FloatArray:
        """Return the commands that settle at thrusts [N], (..., n), at rest in the water."""
        demand = thrust if self._by_thrust else self._input_for(np.asarray(thrust), None)
        return self._esc.throttle(np.asarray(demand)) if self._esc else demand

    def _demand(
        self, command: Command, advance: FloatArray | None
    ) -> tuple[FloatArray, BoolArray]:
        """Return the inputs of the dynamics and which commands were limited, (..., n)."""
        params = self.params
        given: FloatArray | None = getattr(command, self.command_fields[0])
        wanted = self.safe_command
        if given is not None:
            wanted = given_or_safe(given, self.safe_command)
        limited = self._none
        if self._esc:
            limited = beyond(wanted)
            wanted = self._esc.demand(wanted)
        order = wanted
        if self._by_thrust:
            wanted = np.minimum(np.maximum(wanted, self._lowest_order), self._highest_order)
            limited = limited | (wanted != order)
            order = self._input_for(wanted, advance)
        held = np.minimum(np.maximum(order, params.min_command), params.max_command)
        demand = params.gain * held
        if self._deadband is not None:
            # A four-quadrant propeller turns on where the stream takes its thrust.
            here = None if self._quadrants else advance
            effect = wanted if self._by_thrust else self._steady_thrust(demand, here)
            demand = np.where(np.abs(effect) < self._deadband, 0.0, demand)
        beyond_input = held != order
        return demand, beyond_input if limited is self._none else limited | beyond_input

    def _advance(
        self, demand: FloatArray, water: _Water, dt: float
    ) -> tuple[FloatArray, FloatArray, FloatArray, ComplexArray | None]:
        """Return the state after a step, the speeds then, and its thrusts before limits.

        Last come the loads of four-quadrant propellers; see `PropellerLoads.of`.
        """
        start, (advance, efficiency) = self.rotor_speed, water
        end = self._dynamics.step(start, demand, dt)
        speed, quadrants = self._propeller_efficiency * end, self._quadrants
        way = start, demand, end
        if quadrants is None:
            return end, speed, efficiency * self._made(way, speed, advance, dt), None
        at = quadrants.columns
        loads = quadrants.of(way, self._propeller_efficiency, advance, dt) * efficiency[..., at]
        if quadrants.is_all:
            return end, speed, loads.real, loads
        computed = efficiency * self._made(way, speed, advance, dt)
        computed[..., at] = loads.real
        return end, speed, computed, loads

    def _made(
        self, way: tuple[FloatArray, FloatArray, FloatArray], speed: FloatArray,
        advance: FloatArray | None, dt: float,
    ) -> FloatArray:
        """Return the thrusts of the curves in a step, (..., n)."""
        made = self._curves.thrust(speed, advance)
        if self._mean is not None and dt > 0.0:
            return self._mean.of(way, self._propeller_efficiency, dt, advance, made)
        return made

    def _supplied(
        self, batteries: Batteries, demand: FloatArray, water: _Water, dt: float
    ) -> tuple[FloatArray, BoolArray]:
        """Return inputs of the dynamics that the batteries can feed, and which they limit."""
        params = self.params

        def trial(ratio: FloatArray) -> tuple[FloatArray, FloatArray]:
            _, speed, thrust, loads = self._advance(self._limited(demand, ratio)[0], water, dt)
            thrust = np.minimum(np.maximum(thrust, params.min_thrust), params.max_thrust)
            if self._quadrants and loads is not None:
                thrust[..., self._quadrants.columns] = self._quadrants.braking(loads, speed)
            return thrust, speed

        return self._limited(demand, batteries.supply(trial, dt))

    def _limited(self, demand: FloatArray, ratio: FloatArray) -> tuple[FloatArray, BoolArray]:
        """Return inputs whose steady speeds are within a ratio of the nominal ones.

        A throttle is a part of what the voltage allows. Also returns which inputs are cut.
        """
        wanted = self._dynamics.steady_speed(demand)
        least = np.minimum(ratio, 1.0)
        speed = wanted * ratio if self._esc else wanted
        held = np.minimum(np.maximum(speed, least * self._slowest), least * self._fastest)
        feeds = self._dynamics.steady_input(held)
        # An input that stays is the same to the last digit.
        return np.where(held == wanted, demand, feeds), held != speed

    def _nominal_speeds(self) -> tuple[FloatArray, FloatArray]:
        """Return the lowest and highest steady speeds at nominal voltage [rad/s], (n,) each."""
        params = self.params
        ends = [params.gain * params.min_command, params.gain * params.max_command]
        lowest, highest = np.minimum(*ends), np.maximum(*ends)
        if self._by_thrust:
            ends = [
                params.gain * self._input_for(order, None)
                for order in (self._lowest_order, self._highest_order)
            ]
            lowest = np.maximum(lowest, np.minimum(*ends))
            highest = np.minimum(highest, np.maximum(*ends))
        return self._dynamics.steady_speed(lowest), self._dynamics.steady_speed(highest)

    def _input_for(self, thrust: FloatArray, advance: FloatArray | None) -> FloatArray:
        """Return the command that settles at a thrust with everything as configured."""
        speed = self._curves.speed(thrust * self._per_thrust_efficiency, advance)
        speed = within_reach(speed)
        speed = np.minimum(np.maximum(speed * self._per_propeller_efficiency, -LARGEST), LARGEST)
        return self._dynamics.steady_input(speed) * self._per_gain

    def _steady_thrust(self, demand: FloatArray, advance: FloatArray | None) -> FloatArray:
        """Return the thrust that an input settles at with everything as configured."""
        speed = self.params.propeller_efficiency * self._dynamics.steady_speed(demand)
        return self.params.thrust_efficiency * self._curves.thrust(speed, advance)

    def _water(self, body: BodyState) -> _Water:
        """Return the water as the thrusters meet it; see `_Water`."""
        twist = body.twist if self._curves.takes_advance else None
        advance = None if twist is None else body.met(twist, self._advance_from)
        left = self._surface.left(body) if self._surface else None
        efficiency = self._thrust_efficiency
        return advance, efficiency if left is None else left * efficiency


def _reciprocal(values: FloatArray) -> FloatArray:
    """Return 1 / value, 0 where that has no finite meaning."""
    usable = np.abs(values) >= SMALLEST
    return np.where(usable, 1.0 / np.where(usable, values, 1.0), 0.0)
