# SPDX-License-Identifier: Apache-2.0
"""Rotors of a multirotor, after Isaac Lab's Thruster, for any number and any batch.

The rotor speed w (or the thrust) follows its demand with a first-order lag that rises and falls
with different time constants, thrust = motor_constant * w^2, and the air pushes back on the body
with -direction * moment_constant * thrust about the axis.
"""
from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from propulsion_ros.models.common.allocation import allocation_matrix
from propulsion_ros.models.common.efficiency import Degrading
from propulsion_ros.models.common.esc import FIELDS, Esc, beyond, esc_of
from propulsion_ros.models.common.facts import THRUST_AND_TORQUE, FamilyFacts
from propulsion_ros.models.common.family import BodyState, Command, Output, refuse_negative
from propulsion_ros.models.common.placed import PlacedActuators
from propulsion_ros.models.common.start import Start, State
from propulsion_ros.models.common.wrench import unit_rows
from propulsion_ros.models.rotors.air import RotorAir, Turning
from propulsion_ros.models.rotors.integrators import RotorLag, is_original, spread
from propulsion_ros.models.rotors.params import DRAWN, RotorConstants, RotorsParams
from propulsion_ros.models.rotors.speed_curve import curve_of, without_curve
from propulsion_ros.models.supply.batteries import Batteries, PoweredFamily
from propulsion_ros.settings.quantity import BoolArray, FloatArray

__all__ = ['Rotors', 'RotorsParams']

# Rotors advanced together: what a step reads and writes then stays in the processor's cache.
_BANK = 32768


def work_arrays(rows: int, n: int) -> list[FloatArray]:
    """Return the arrays that a bank works with, each (rows, n)."""
    # Whole pages apart, they would drive each other out of the cache.
    size, apart = rows * n, 72
    room = np.empty((6, size + apart))
    return [array[:size].reshape(rows, n) for array in room]


class RotorBank:
    """Some or all of the rotors of a batch, so few that their arrays fit into a processor's cache.

    What lags (`RotorsParams.lag_on`) is the state: the root of the thrust, or the thrust. The root
    is rotor speed times a constant, so it follows with the same lag, and it is what a step
    advances: the motor constant is needed at the borders only.

    Parameters
    ----------
    constants : mapping of str to FloatArray
        Those that can be drawn, each (n,) or of the bank's shape; held by reference.
    work : sequence of FloatArray
        As made by `work_arrays`, of the bank's shape; shared by all banks of the same rotors.
    """

    def __init__(
        self,
        params: RotorsParams,
        constants: Mapping[str, FloatArray],
        work: Sequence[FloatArray],
    ) -> None:
        shape = work[0].shape
        self._params, self._constants, self._shape = params, constants, shape
        self._on_thrust = params.lag_on == 'thrust'
        self._by_speed = params.by_speed
        # Isaac Lab's rotors push with at least min_thrust while they still stand.
        self._clamps_up = is_original(params.integrator)
        # Limits in full shape: to clamp to one number takes numpy twice as long, to a row longer.
        self._min_thrust, self._max_thrust, self._demand = work[:3]
        self._min_thrust[...], self._max_thrust[...] = params.min_thrust, params.max_thrust
        self._convert()
        # Held by the lag, which sees what a later draw changes in it.
        self._root_rate = self._root_rates()
        self._lag = RotorLag(
            params.integrator, params.mixing, params.lag_on, shape,
            constants['time_constant_up'], constants['time_constant_down'],
            self._root_rate, _limit(params.max_thrust_rate), work[3:],
            params.step_value if params.lags else 'end',
        )

    def prepare(self, dt: float) -> None:
        """Make ready for steps of ``dt`` [s]; see `RotorLag.prepare`."""
        self._lag.prepare(dt)

    def start(
        self, speed: FloatArray, state: FloatArray, thrust: FloatArray, rows: Any = ...
    ) -> None:
        """Write the state and the thrust [N] at rotor speeds [rad/s] to some rows."""
        root = np.broadcast_to(speed * self._root_constant, self._shape)[rows]
        thrust[rows] = np.square(root)
        state[rows] = thrust[rows] if self._on_thrust else root

    def refresh(self, rows: Any) -> None:
        """Take up constants that changed in place in some rows of the bank."""
        self._convert()
        self._root_rate[...] = self._root_rates()
        self._lag.refresh(rows)

    def limit(self, ratio: FloatArray) -> None:
        """Lower the largest rotor speeds to a ratio of the configured ones, at most to 0."""
        factor = np.minimum(ratio, 1.0)
        self._high = self._highest * (factor if self._by_speed else np.square(factor))

    def advance(
        self,
        wanted: FloatArray,
        state: FloatArray,
        dt: float,
        thrust: FloatArray,
        applied: FloatArray,
    ) -> None:
        """Advance the state in place by ``dt`` [s].

        The wanted value is a thrust [N] or a rotor speed [rad/s] by `command_interface`; NaN is the
        smallest. Writes the thrust of the step, its mean or its end, and ``applied``, what of it
        acts [N].
        """
        # fmax takes the other where one is NaN.
        demand = np.fmax(wanted, self._low, out=self._demand)
        np.minimum(demand, self._high, out=demand)
        if self._by_speed:
            np.multiply(demand, self._root_constant, out=demand)
        if self._on_thrust:
            if self._by_speed:
                np.square(demand, out=demand)
            self._lag.step(state, demand, dt)
            np.copyto(thrust, state)
        else:
            if not self._by_speed:
                np.sqrt(demand, out=demand)
            self._lag.step(state, demand, dt)
            np.square(state, out=thrust)
        if self._lag.takes_mean and dt > 0.0:
            self._lag.mean_thrust(demand, out=thrust)
        if self._clamps_up:
            np.maximum(thrust, self._min_thrust, out=applied)
            thrust = applied
        np.minimum(thrust, self._max_thrust, out=applied)

    def rotor_speed(self, state: FloatArray, out: FloatArray) -> None:
        """Write the rotor speeds of a state [rad/s]."""
        root = np.sqrt(state, out=out) if self._on_thrust else state
        np.multiply(root, self._per_root_constant, out=out)

    def saturated(self, wanted: FloatArray, out: BoolArray) -> None:
        """Write which commands are beyond the limits."""
        np.less(wanted, self._low, out=out)
        np.logical_or(out, wanted > self._high, out=out)

    def _convert(self) -> None:
        """Prepare the roots of the motor constants, and the limits in units of the command."""
        self._root_constant = spread(np.sqrt(self._constants['motor_constant']), self._shape)
        self._per_root_constant = 1.0 / self._root_constant
        low, high = self._min_thrust, self._max_thrust
        if self._by_speed:
            low, high = (np.sqrt(thrust) * self._per_root_constant for thrust in (low, high))
        self._low, self._high = low, high
        self._highest: FloatArray = high

    def _root_rates(self) -> FloatArray:
        """Return max_rotor_acceleration as a limit of the root's rate, inf for none."""
        return _limit(self._params.max_rotor_acceleration) * np.sqrt(
            self._constants['motor_constant']
        )


def _limit(rate: FloatArray) -> FloatArray:
    return np.asarray(np.where(rate > 0.0, rate, np.inf))


class Rotors(PlacedActuators, PoweredFamily, Degrading):
    """n rotors, each with its own lag, limits, axis and sense of rotation.

    A `thrust_curve` bends the thrust over the rotor speed; see `SpeedCurve`.

    Commands are a thrust [N] per rotor (effort), or a rotor speed [rad/s] (velocity), clamped to
    what min_thrust and max_thrust allow; NaN is the smallest thrust. A rotor pushes by its speed
    alone: one that stands does not push. Rotor speeds have no sign, `direction` gives the sense.

    Attributes
    ----------
    thrust : FloatArray
        Thrust before its limits and `efficiency` [N], shape (..., n).
    constants : RotorConstants
        Motor and time constants in use, as fixed or drawn.
    """

    Params: ClassVar[type] = RotorsParams
    params: RotorsParams
    facts: ClassVar[FamilyFacts] = FamilyFacts(
        tag='rotor', force=THRUST_AND_TORQUE, meets_each=True,
        stands_for=(('thrust_curve', 'motor_constant'),),
    )

    def __init__(self, params: RotorsParams, batch: tuple[int, ...] = ()) -> None:
        super().__init__(params, FIELDS[params.command_interface])
        n = len(params.names)
        self._seed: tuple[int, ...] = (max(params.seed, 0),)
        self._curve = curve_of(params)
        # What the banks know: a thrust that goes with the square of the speed.
        self._square = without_curve(params, self._curve)
        self._shape, self._rows = (*batch, n), (math.prod(batch), n)
        self._by_speed = params.by_speed
        self._esc = esc_of(params, lowest=0.0)
        self._take_supply(params, batch)
        self.start_states = ('rotor_speed', *self._supply_states)
        self._never_commanded = np.full(n, np.nan)
        self._fastest = self._square.fastest_start
        self._axis = unit_rows('axis', params.axis)
        # The air turns the body against the rotor.
        self._reaction: FloatArray = -params.direction * params.moment_constant
        self._allocation = np.ascontiguousarray(
            allocation_matrix(params.position, self._axis, self._reaction).T
        )
        air = RotorAir(params, self._axis)
        self._air = air if air else None
        self.uses_body = bool(air)

        self.safe_command = params.min_thrust.copy()
        if self._by_speed:
            self.safe_command = np.sqrt(self._square.min_thrust) * (
                1.0 / np.sqrt(params.motor_constant)
            )
        if self._esc:
            self.safe_command = self._esc.throttle(self.safe_command)
        self.retune(params)
        self.reset()

    def reset(self, indices: Any = None, state: State | None = None) -> None:
        """Return to the initial rotor speed, or to a state; see `Restartable.reset`.

        The batteries are charged to ``starting_charge``, or to the ``charge`` of the state.

        With indices, new values are drawn from the ranges; without, those at construction return.
        """
        params = self.params
        start = Start(indices, self.batch, state, self.start_states)
        usual = np.broadcast_to(params.initial_rotor_speed, self._shape)
        speed = start.of('rotor_speed', usual, 0.0, self._fastest).reshape(self._rows)
        self._charge(indices, start)
        if indices is not None:
            self._restart(indices, speed)
            return
        self.constants = RotorConstants(
            {name: getattr(params, name) for name in DRAWN},
            {name: getattr(params, f'{name}_range') for name in DRAWN},
            self._shape, self._seed,
        )
        self._banks = list(self._made_banks())
        self._dt = -1.0
        self._state = np.empty(self._rows)
        self._turn(speed)

    def reseed(self, seed: tuple[int, ...]) -> None:
        """Draw from the ranges by another seed, from the next `reset` of all on."""
        self._seed = seed

    def rest(self) -> None:
        """Return to the initial rotor speed, with constants and charge as they are."""
        self._rest_supply()
        self._turn(np.broadcast_to(self.params.initial_rotor_speed, self._rows))

    def _turn(self, speed: FloatArray) -> None:
        """Let all rotors turn at a speed [rad/s], in rows."""
        thrust = np.empty(self._rows)
        for cut, bank in self._banks:
            bank.start(speed[cut], self._state[cut], thrust[cut])
        thrust = self._curve.bend(thrust) if self._curve else thrust
        self.thrust: FloatArray = thrust.reshape(self._shape)

    def retune(self, params: RotorsParams) -> None:
        """Take the `efficiency`, and for the next `reset` the batteries' `starting_charge`."""
        super().retune(params)
        self._retune_supply(params)

    def check_command(self, command: Command) -> None:
        """Raise `CommandError` for a negative rotor speed; a negative thrust is clamped."""
        if 'velocity' in self.command_fields:
            refuse_negative(
                command.velocity, self.command_names, 'velocity', 'rad/s',
                'a rotor turns the way of its direction',
            )

    def step(self, command: Command, body: BodyState, dt: float, tick: int) -> Output:
        """Advance by ``dt`` [s]; see `Family.step`."""
        given: FloatArray | None = getattr(command, self.command_fields[0])
        wanted = self._in_rows(given)
        self._prepare(dt)
        batteries = self._batteries
        if batteries:
            wanted = self._supplied(batteries, wanted, dt)
        start = self._state.copy() if self._air else self._state
        thrust, applied, speed = (np.empty(self._rows) for _ in range(3))
        saturated, wrench = np.empty(self._rows, bool), np.empty((self._rows[0], 6))
        for cut, bank in self._banks:
            bank.advance(wanted[cut], self._state[cut], dt, thrust[cut], applied[cut])
            if self._curve:
                thrust[cut], applied[cut] = map(self._curve.bend, (thrust[cut], applied[cut]))
            self._degrade(applied[cut])
            bank.rotor_speed(self._state[cut], out=speed[cut])
            bank.saturated(wanted[cut], out=saturated[cut])
            np.matmul(applied[cut], self._allocation, out=wrench[cut])
        self.thrust = thrust.reshape(self._shape)
        effort, net = applied.reshape(self._shape), wrench.reshape(*self.batch, 6)
        velocity = speed.reshape(self._shape)
        if self._air:
            effort, added = self._air.act(Turning(
                effort, lambda: self._speed_of(start), velocity, self._efficiency, body, dt,
                self.params.step_value == 'mean',
            ))
            net = net if added is None else net + added
        flag = saturated.reshape(self._shape)
        if self._esc and given is not None:
            flag = flag | beyond(given)
        flags = {'saturated': flag}
        if batteries:
            flags.update(batteries.flags)
        return Output(
            wrench=net,
            thrusts=effort,
            axes=self._axis,
            velocity=velocity,
            effort=effort,
            computed=self.thrust,
            applied=effort,
            flags=flags,
            batteries=batteries.state() if batteries else None,
        )

    def link_wrenches(self, output: Output) -> FloatArray:
        """Return the wrench of each rotor in its link; see `Family.link_wrenches`."""
        if not self._air:
            return super().link_wrenches(output)
        return self._air.link_wrenches(super().link_wrenches(self._air.at_rest(output)))

    @property
    def allocation_matrix(self) -> FloatArray:
        """Wrench about the origin of base_link per thrust, (6, n)."""
        return np.asarray(self._allocation.T)

    @property
    def thrust_limits(self) -> tuple[FloatArray, FloatArray]:
        """Lowest and highest thrust of each rotor [N], (n,) each."""
        low, high = self.params.min_thrust, self.params.max_thrust
        if self._esc is None:
            return low, high
        ends = (self._at_throttle(self._esc, throttle) for throttle in (0.0, 1.0))
        lowest, highest = (np.clip(end, low, high) for end in ends)
        return lowest, highest

    def _at_throttle(self, esc: Esc, throttle: float) -> FloatArray:
        """Return the thrusts that a throttle asks of the rotors [N], (n,)."""
        demand = esc.demand(np.full(self._shape[-1], throttle))
        if not self._by_speed:
            return demand
        square = self.params.motor_constant * demand**2
        return self._curve.bend(square) if self._curve else square

    def command_for(self, thrust: FloatArray) -> FloatArray:
        """Return the commands that settle at thrusts [N], (..., n)."""
        demand = thrust
        if self._by_speed:
            square = self._curve.unbend(thrust) if self._curve else np.maximum(thrust, 0.0)
            demand = np.sqrt(square / self.params.motor_constant)
        return np.asarray(self._esc.throttle(demand) if self._esc else demand)

    def advance(self, wanted: FloatArray, dt: float) -> FloatArray:
        """Advance by ``dt`` [s] without the wrench.

        Thrusts [N], rotor speeds [rad/s] or throttles by `command_interface` are wanted, (..., n).
        Returns the thrust that acts, with its limits and `efficiency` [N], (..., n). Raises
        `ConfigError` where an explicit integrator diverges for this dt.
        """
        wanted = self._in_rows(wanted)
        self._prepare(dt)
        if self._batteries:
            wanted = self._supplied(self._batteries, wanted, dt)
        thrust, applied = self._advance(wanted, self._state, dt)
        self.thrust = (self._curve.bend(thrust) if self._curve else thrust).reshape(self._shape)
        return applied.reshape(self._shape)

    @property
    def rotor_speed(self) -> FloatArray:
        """Rotor speed [rad/s], shape (..., n)."""
        return self._speed_of(self._state)

    def _speed_of(self, state: FloatArray) -> FloatArray:
        """Return the rotor speeds at a state of the banks [rad/s], (..., n)."""
        speed = np.empty(self._rows)
        for cut, bank in self._banks:
            bank.rotor_speed(state[cut], out=speed[cut])
        return speed.reshape(self._shape)

    def _advance(
        self, wanted: FloatArray, state: FloatArray, dt: float
    ) -> tuple[FloatArray, FloatArray]:
        """Advance a state in place, and return thrusts before and after limits and faults [N]."""
        thrust, applied = np.empty(self._rows), np.empty(self._rows)
        for cut, bank in self._banks:
            bank.advance(wanted[cut], state[cut], dt, thrust[cut], applied[cut])
            if self._curve:
                applied[cut] = self._curve.bend(applied[cut])
            self._degrade(applied[cut])
        return thrust, applied

    def _supplied(self, batteries: Batteries, wanted: FloatArray, dt: float) -> FloatArray:
        """Limit the banks to what the batteries give in a step; return what is wanted then."""
        root = np.sqrt(self.constants['motor_constant'])

        def trial(ratio: FloatArray) -> tuple[FloatArray, FloatArray]:
            thrust, applied = self._advance(self._limited(wanted, ratio), self._state.copy(), dt)
            # The speed of the mean thrust, which a rotor that changes its speed has at some time.
            speed = np.sqrt(thrust).reshape(self._shape) / root
            return applied.reshape(self._shape), speed

        return self._limited(wanted, batteries.supply(trial, dt))

    def _limited(self, wanted: FloatArray, ratio: FloatArray) -> FloatArray:
        """Limit the banks to a ratio of their speeds, of which a throttle is a part."""
        ratio = np.broadcast_to(ratio, self._shape).reshape(self._rows)
        for cut, bank in self._banks:
            bank.limit(ratio[cut])
        if not self._esc:
            return wanted
        return wanted * (ratio if self._by_speed else np.square(ratio))

    def _prepare(self, dt: float) -> None:
        # For all banks before the first one moves, so that a step refused changes nothing.
        if dt != self._dt:
            for _, bank in self._banks:
                bank.prepare(dt)
            self._dt = dt

    def _in_rows(self, wanted: FloatArray | None) -> FloatArray:
        """Return the wanted values of the rotors as one row for each place of the batch."""
        values = self._never_commanded if wanted is None else wanted
        if self._esc:
            values = self._esc.demand(values)
        if self._curve and not self._by_speed:
            values = self._curve.unbend(values)
        if values.shape != self._shape:
            values = np.broadcast_to(values, self._shape)
        return values.reshape(self._rows)

    def _made_banks(self) -> Iterator[tuple[slice, RotorBank]]:
        """Yield the banks and the rows of each."""
        rows, n = self._rows
        # Drawn constants are cut to views, so that a bank sees later draws.
        constants = {
            name: values.reshape(self._rows) if values.shape == self._shape else values
            for name, values in ((name, self.constants[name]) for name in DRAWN)
        }
        count = max(1, _BANK // max(1, n))
        work = work_arrays(min(count, rows), n)
        for start in range(0, rows, count):
            cut = slice(start, min(start + count, rows))
            yield cut, RotorBank(self._square, {
                name: values[cut] if values.ndim > 1 else values
                for name, values in constants.items()
            }, [array[: cut.stop - start] for array in work])

    def _restart(self, indices: Any, speed: FloatArray) -> None:
        """Let some of the batch turn at a speed, in rows, with constants drawn anew."""
        self.constants.draw(indices)
        chosen = np.zeros(self.batch, bool)
        chosen[indices] = True
        chosen = chosen.reshape(-1)
        # Outputs share the thrust, so it is replaced and not written to.
        thrust = self.thrust.reshape(self._rows).copy()
        for cut, bank in self._banks:
            if chosen[cut].any():
                bank.refresh(chosen[cut])
                bank.start(speed[cut], self._state[cut], thrust[cut], chosen[cut])
        if self._curve:
            thrust[chosen] = self._curve.bend(thrust[chosen])
        self.thrust = thrust.reshape(self._shape)
