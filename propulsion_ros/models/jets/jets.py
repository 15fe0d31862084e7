# SPDX-License-Identifier: Apache-2.0
"""Reaction control jets: cold gas and monopropellant thrusters with on/off valves.

A modulator turns a mean thrust into pulses, a valve follows them with its delays, and while it is
open the jet pushes in proportion to the pressure at it. The edges of the pulses are computed
inside a step, and its thrust is the mean over it: the impulse does not depend on dt.

Between two of its own events a modulator moves in closed form, so that the times of its pulses
do not depend on the step. Both kinds keep an order for at least min_on_time or min_off_time, and a
demand of 0 ends a pulse as soon as that allows.

``pulse_width`` gives one pulse in each period, with the demand at its beginning; a period begins
when there is a demand. ``pulse_frequency`` is the pulse-width pulse-frequency modulator of Sidi
("Spacecraft Dynamics and Control", 1997, section 9.4) and Wie ("Space Vehicle Dynamics and
Control", 1998, section 7.5): a first-order filter of gain (demand - order) in front of a Schmitt
trigger. ``on_off`` is the trigger alone.
"""
from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from propulsion_ros.models.common import placement
from propulsion_ros.models.common.allocation import allocation_matrix
from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY
from propulsion_ros.models.common.efficiency import Degrading, live_factor
from propulsion_ros.models.common.esc import FIELDS
from propulsion_ros.models.common.facts import FamilyFacts
from propulsion_ros.models.common.family import BodyState, Command, Output, given_or_safe, restart
from propulsion_ros.models.common.layout import ThrustLayout, placed_rows
from propulsion_ros.models.common.placed import PlacedActuators
from propulsion_ros.models.common.start import Start, State
from propulsion_ros.models.common.wrench import product, unit_rows
from propulsion_ros.models.jets.supply import Supply, SupplyParams
from propulsion_ros.models.supply.tanks import FuelledFamily, draws_of
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.hints import accepted
from propulsion_ros.settings.quantity import (
    BoolArray,
    FloatArray,
    check_known,
    group,
    names,
    per_row,
    quantity,
    validate,
)

_SHORTEST = 1e-3
"""Shortest time from one pulse to the next [s]."""


@dataclass(frozen=True, kw_only=True, eq=False)
class JetsParams:
    """Configuration of n jets and their tanks."""

    names: tuple[str, ...] = names('jet names, the order of all arrays')
    command_interface: str = quantity(
        'effort', kind=str, choices=('effort', 'throttle'),
        doc='what is commanded: the mean thrust as effort [N], or throttle, the duty cycle from 0 '
        'to 1 in position',
    )
    modulation: str = quantity(
        'pulse_width', kind=str, choices=('pulse_width', 'pulse_frequency', 'on_off'),
        doc='how a valve that is open or closed makes a mean thrust: pulse_width: one pulse in '
        'each pulse_period; pulse_frequency: a filter and a Schmitt trigger (PWPF); on_off: it '
        'is open from on_level on',
    )
    max_thrust: FloatArray = per_row(
        unit='N', doc='thrust of the open jet at the reference pressure of its tank', above=0.0
    )
    specific_impulse: FloatArray = per_row(
        70.0, 's', doc='impulse per weight of propellant', lo=1.0, hi=1e6,
        usual=(25.0, 545.0, 1000.0, 1e4),  # Of gas and what burns, or electric.
    )
    open_delay: FloatArray = per_row(
        0.0, 's', lo=0.0, hi=10.0,
        doc='how long a valve must be powered until it opens; a shorter pulse does not open it',
    )
    close_delay: FloatArray = per_row(
        0.0, 's', lo=0.0, hi=10.0,
        doc='how long a valve must be without power until it closes',
    )
    min_on_time: FloatArray = per_row(
        0.0, 's', doc='shortest pulse that is commanded: the impulse bit', lo=0.0, hi=10.0
    )
    min_off_time: FloatArray = per_row(
        0.0, 's', doc='shortest time between two pulses', lo=0.0, hi=10.0
    )
    pulse_period: FloatArray = per_row(
        0.1, 's', doc='pulse_width: from one pulse to the next', lo=_SHORTEST, hi=100.0
    )
    keep_remainder: BoolArray = per_row(
        True, kind=bool,
        doc='pulse_width: time that was too short for a pulse, or for a pause, goes to the next '
        'period, so that the mean thrust is right; false: it is lost',
    )
    on_level: FloatArray = per_row(
        0.45, doc='pulse_frequency, on_off: where the trigger opens', lo=1e-6, hi=1.0
    )
    off_level: FloatArray = per_row(
        0.15, doc='pulse_frequency, on_off: where the trigger closes', lo=0.0, hi=1.0
    )
    filter_gain: FloatArray = per_row(4.5, doc='pulse_frequency: of the filter', lo=1e-3, hi=1e6)
    filter_time_constant: FloatArray = per_row(
        0.15, 's', doc='pulse_frequency: of the filter', lo=1e-6, hi=100.0
    )
    efficiency: FloatArray = live_factor('factor on the thrust for the same propellant')
    valve: tuple[str, ...] = per_row(
        'works', kind=str, choices=('works', 'stuck_open', 'stuck_closed'), live=True,
        doc='whether the valve follows its orders',
    )
    tank: tuple[str, ...] = per_row(
        '', doc='tank that feeds each jet; empty: propellant without end', kind=str
    )
    position: FloatArray = placement.position('where the thrust acts')
    axis: FloatArray = placement.direction(
        'direction of the thrust, in the link of the jet', (0.0, 0.0, 1.0)
    )
    link: tuple[str, ...] = placement.link()
    rotation: FloatArray = placement.rotation()
    tanks: SupplyParams = group(SupplyParams, element='tank')

    def __post_init__(self) -> None:
        validate(self)
        check_known('tank', self.tank, 'tank', self.tanks.names)
        if self.modulation == 'pulse_width':
            _check_periods(self)
        else:
            _check_levels(self)

    @property
    def shortest_cycle(self) -> FloatArray:
        """Shortest time from one pulse to the next [s], (n,); 0 where a command decides it."""
        if self.modulation == 'pulse_width':
            return self.pulse_period
        if self.modulation == 'on_off':
            return np.zeros(len(self.names))
        band, gain = self.on_level - self.off_level, self.filter_gain
        # The filter falls fastest at no demand, and rises fastest at the largest one.
        on = np.log1p(band / (gain + self.off_level))
        off = -np.log1p(-np.minimum(band / np.maximum(gain - self.off_level, band), 1.0))
        tau = self.filter_time_constant
        return np.asarray(
            np.maximum(tau * on, self.min_on_time) + np.maximum(tau * off, self.min_off_time)
        )


def _check_periods(params: JetsParams) -> None:
    needed = params.min_on_time + params.min_off_time
    for i in np.flatnonzero(needed > params.pulse_period).tolist():
        key = max(('min_on_time', 'min_off_time'), key=lambda key: getattr(params, key)[i])
        longest, period = float(getattr(params, key)[i]), float(params.pulse_period[i])
        raise ConfigError(key, (
            f'min_on_time and min_off_time, {needed[i]:g} s, have no room in pulse_period '
            f'{period:g} s{accepted(longest, "s", 0.0, period, 0.0)}'
        ), i)


def _check_levels(params: JetsParams) -> None:
    for i in np.flatnonzero(params.off_level >= params.on_level).tolist():
        raise ConfigError(
            'off_level', f'{params.off_level[i]:g} must be below on_level, {params.on_level[i]:g}',
            i,
        )
    if params.modulation == 'on_off':
        return
    for i in np.flatnonzero(params.filter_gain <= params.on_level).tolist():
        raise ConfigError(
            'filter_gain', f'{params.filter_gain[i]:g} must be above on_level, '
            f'{params.on_level[i]:g}: no demand opens the valve', i,
        )
    cycle = params.shortest_cycle
    for i in np.flatnonzero(cycle < _SHORTEST).tolist():
        raise ConfigError(
            'filter_time_constant', f'gives pulses every {cycle[i]:g} s, expected at least '
            f'{_SHORTEST:g} s; raise it, on_level - off_level, min_on_time or min_off_time', i,
        )


_NO_PAUSE = 1e-6
"""Of a period: an allocator comes so near to the largest thrust, and no valve pauses so briefly."""


class _Modulator(ABC):
    """Orders of n drivers to their valves, each (..., n), which stand for a shortest time."""

    order: BoolArray
    """Whether each valve is to be open."""
    _hold: FloatArray
    """Time for which each order stands in any case [s], (..., n)."""

    def __init__(self, params: JetsParams, batch: tuple[int, ...]) -> None:
        self._params, self._batch = params, batch
        self._shape = (*batch, len(params.names))
        self.reset()

    def reset(self, indices: Any = None) -> None:
        """Close all valves and forget; see `restart`."""
        none = np.zeros(self._shape)
        restart(self, indices, self._batch, order=none > 0.0, _hold=none)

    @abstractmethod
    def wait(self, duty: FloatArray) -> FloatArray:
        """Return the time until each next event [s], infinite for none."""

    @abstractmethod
    def run(self, duty: FloatArray, span: FloatArray) -> None:
        """Move on by spans [s] that have no event within them."""

    @abstractmethod
    def fire(self, duty: FloatArray, due: BoolArray) -> BoolArray:
        """Do the events that are due; return which orders changed."""

    def _change(self, order: BoolArray) -> BoolArray:
        """Take new orders; return which ones are other than before."""
        changed = order != self.order
        least = np.where(order, self._params.min_on_time, self._params.min_off_time)
        self._hold = np.where(changed, least, self._hold)
        self.order = order
        return np.asarray(changed)


class _PulseWidth(_Modulator):
    """One pulse in each period."""

    _pulse: FloatArray
    _period: FloatArray
    _rest: FloatArray

    def reset(self, indices: Any = None) -> None:
        super().reset(indices)
        none = np.zeros(self._shape)
        restart(self, indices, self._batch, _pulse=none, _period=none, _rest=none)

    def wait(self, duty: FloatArray) -> FloatArray:
        wanted = duty > 0.0
        end = np.where(wanted, self._pulse, np.minimum(self._pulse, self._hold))
        ends = np.where(self.order, end, np.inf)
        begins = np.where(self.order, self._period, np.maximum(self._period, self._hold))
        return np.minimum(ends, np.where(wanted, begins, np.inf))

    def run(self, duty: FloatArray, span: FloatArray) -> None:
        self._hold = np.maximum(self._hold - span, 0.0)
        self._pulse = np.maximum(self._pulse - span, 0.0)
        self._period = np.maximum(self._period - span, 0.0)
        self._rest = np.where(duty > 0.0, self._rest, 0.0)

    def fire(self, duty: FloatArray, due: BoolArray) -> BoolArray:
        params, wanted = self._params, duty > 0.0
        begins = due & wanted & (self._period <= 0.0)
        asked = duty * params.pulse_period + self._rest
        pulse = np.where(asked < params.min_on_time, 0.0, asked)
        pause = np.maximum(params.min_off_time, _NO_PAUSE * params.pulse_period)
        full = params.pulse_period - asked < pause
        pulse = np.where(full, params.pulse_period, pulse)
        left = np.clip(asked - pulse, -params.pulse_period, params.pulse_period)
        self._rest = np.where(begins & params.keep_remainder, left, self._rest)
        # A pulse that fills its period ends where the next period does not go on with it.
        length = np.where(pulse < params.pulse_period, pulse, np.inf)
        self._pulse = np.where(begins, length, self._pulse)
        self._period = np.where(begins, params.pulse_period, self._period)
        order = np.where(begins, pulse > 0.0, self.order & ~due)
        return self._change(np.asarray(order))


class _Trigger(_Modulator):
    """A Schmitt trigger behind a first-order filter, or behind the demand itself."""

    _filtered: FloatArray

    def __init__(self, params: JetsParams, batch: tuple[int, ...]) -> None:
        self._filters = params.modulation == 'pulse_frequency'
        super().__init__(params, batch)

    def reset(self, indices: Any = None) -> None:
        super().reset(indices)
        restart(self, indices, self._batch, _filtered=np.zeros(self._shape))

    def wait(self, duty: FloatArray) -> FloatArray:
        params, goal = self._params, self._goal(duty)
        level = np.where(self.order, params.off_level, params.on_level)
        value = self._filtered if self._filters else duty
        crossed = np.where(self.order, value <= level, value >= level)
        crossed |= self.order & (duty <= 0.0)
        until = np.where(crossed, 0.0, self._until(level, goal))
        return np.maximum(until, self._hold)

    def _goal(self, duty: FloatArray) -> FloatArray:
        return np.asarray(self._params.filter_gain * (duty - self.order))

    def _until(self, level: FloatArray, goal: FloatArray) -> FloatArray | float:
        """Return when the filter reaches a level, infinite where it does not."""
        if not self._filters:
            return np.inf
        reaches = np.where(self.order, goal < level, goal > level)
        with np.errstate(over='ignore'):
            ratio = (self._filtered - goal) / np.where(reaches, level - goal, 1.0)
        way = np.log(np.where(reaches, np.maximum(ratio, 1.0), 1.0))
        return np.where(reaches, self._params.filter_time_constant * way, np.inf)

    def run(self, duty: FloatArray, span: FloatArray) -> None:
        self._hold = np.maximum(self._hold - span, 0.0)
        if self._filters:
            goal, tau = self._goal(duty), self._params.filter_time_constant
            self._filtered = goal + (self._filtered - goal) * np.exp(-span / tau)

    def fire(self, duty: FloatArray, due: BoolArray) -> BoolArray:
        return self._change(np.asarray(self.order ^ due))


class Jets(PlacedActuators, FuelledFamily, Degrading):
    """n jets that share or own m tanks.

    Commands are the mean thrust [N] of each jet (effort), or its duty cycle (position).
    """

    Params: ClassVar[type] = JetsParams
    params: JetsParams
    facts: ClassVar[FamilyFacts] = FamilyFacts(tag='jet')
    _tanks: Supply | None

    def __init__(self, params: JetsParams, batch: tuple[int, ...] = ()) -> None:
        super().__init__(params, FIELDS[params.command_interface])
        n, m = len(params.names), len(params.tanks.names)
        self._axis = unit_rows('axis', params.axis)
        self.allocation_matrix: FloatArray = allocation_matrix(params.position, self._axis)
        self.thrust_limits = np.zeros(n), params.max_thrust
        self._per_command = (
            np.ones(n) if params.command_interface == 'throttle' else params.max_thrust
        )
        self._valves = Valves(params, batch)
        self._tanks = Supply(params.tanks, batch) if m else None
        self._draws, self._endless = draws_of(params.tank, params.tanks.names)
        flow = params.max_thrust / (params.specific_impulse * STANDARD_GRAVITY)
        self._burns = flow[:, None] * self._draws
        self.tank_names = params.tanks.names
        self.start_states = ('fuel_ratio',) if m else ()
        self.state_names = (
            *params.names,
            *(f'{tank}/{value}' for value in ('pressure', 'temperature', 'fuel_ratio')
              for tank in params.tanks.names),
        )
        self._no_state = np.full((*batch, len(self.state_names)), np.nan)
        self.retune(params)

    def retune(self, params: JetsParams) -> None:
        """Take `efficiency`, `valve`, and for the next `reset` the `starting_fuel_ratio`."""
        super().retune(params)
        self._valves.retune(params)
        stuck = self._valves.stuck
        self.degraded: BoolArray = self.degraded | stuck
        # No command changes what a stuck valve gives.
        self.effectiveness = np.where(stuck, 0.0, self.effectiveness)
        if self._tanks:
            self._tanks.retune(params.tanks)

    def rest(self) -> None:
        """Close all valves; the tanks stay as they are."""
        self._valves.reset()

    def reset(self, indices: Any = None, state: State | None = None) -> None:
        """Close all valves and fill the tanks to `starting_fuel_ratio`.

        A state may have another ``fuel_ratio`` of each tank; see `Restartable.reset`.
        """
        start = Start(indices, self.batch, state, self.start_states)
        usual = self._tanks.starting_fuel_ratio if self._tanks else np.empty(0)
        ratio = start.of('fuel_ratio', usual, 0.0, 1.0)
        self._valves.reset(indices)
        if self._tanks:
            self._tanks.reset(indices, ratio)

    def thrust_layout(self) -> ThrustLayout:
        """Return where and which way the jets push; see `Drawable`."""
        return ThrustLayout(
            **placed_rows(self.params), lowest=self.thrust_limits[0],
            highest=self.thrust_limits[1], plume='air',
        )

    def command_for(self, thrust: FloatArray) -> FloatArray:
        """Return the commands for mean thrusts [N], (..., n), at the reference pressure."""
        return np.asarray(thrust / self.thrust_limits[1] * self._per_command)

    def check_step(self, dt: float) -> None:
        """Raise `ConfigError` for a step of too many pulses; see `StepLimited.check_step`."""
        self._valves.check_step(dt)

    def step(self, command: Command, body: BodyState, dt: float, tick: int) -> Output:
        """Advance by ``dt`` [s]; see `Family.step`."""
        given: FloatArray | None = getattr(command, self.command_fields[0])
        asked = given_or_safe(self.safe_command if given is None else given, self.safe_command)
        wanted = np.minimum(np.maximum(asked, 0.0), self._per_command)
        duty = wanted / self._per_command
        opened = self._valves.step(duty, dt)
        part = opened / dt if dt > 0.0 else np.where(self._valves.is_open, 1.0, 0.0)
        flags = {'saturated': np.broadcast_to(asked != wanted, part.shape)}
        if self._tanks:
            share = self._tanks.draw(product(opened, self._burns))
            part = part * (share @ self._draws.T + self._endless)
            flags['dry'] = self._tanks.is_dry
        thrust = self._degrade(part * self.params.max_thrust)
        position, effort = self._state(thrust)
        return Output(
            wrench=product(thrust, self.allocation_matrix.T),
            thrusts=thrust,
            axes=self._axis,
            position=position,
            effort=effort,
            computed=np.broadcast_to(duty * self.params.max_thrust, thrust.shape),
            applied=thrust,
            flags=flags,
            tanks=self.tank_state,
        )

    def _state(self, thrust: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return position and effort of each name of the state."""
        n, m = len(self.command_names), len(self.tank_names)
        effort, position = self._no_state.copy(), self._no_state.copy()
        effort[..., :n] = thrust
        position[..., :n] = self._valves.is_open
        if self._tanks:
            supply = self._tanks
            for i, values in enumerate((supply.pressure, supply.temperature, supply.fuel_ratio)):
                position[..., n + i * m:n + (i + 1) * m] = values
        return position, effort


_SAME_TIME = 1e-11
"""An event this near to the end of a step [s] belongs to the next one, with its command."""
_MOST_PULSES = 200
"""Largest number of pulses of a valve in one step."""


class Valves:
    """n valves and what drives them.

    A valve opens when it has been powered for its delay, and closes likewise.

    Attributes
    ----------
    opens : BoolArray
        Whether each valve would be open if it worked, (..., n).
    """

    opens: BoolArray
    _left: FloatArray

    def __init__(self, params: JetsParams, batch: tuple[int, ...] = ()) -> None:
        self._params, self._batch = params, batch
        self._shape = (*batch, len(params.names))
        kind = _PulseWidth if params.modulation == 'pulse_width' else _Trigger
        self._drivers: _Modulator = kind(params, batch)
        cycle = params.shortest_cycle
        self._longest_step = _MOST_PULSES * float(np.min(cycle[cycle > 0.0], initial=np.inf))
        self.retune(params)
        self.reset()

    def retune(self, params: JetsParams) -> None:
        """Take what is wrong with the valves."""
        valve = np.array(params.valve)
        self._stuck_open: BoolArray = np.asarray(valve == 'stuck_open')
        self._stuck_closed: BoolArray = np.asarray(valve == 'stuck_closed')

    def reset(self, indices: Any = None) -> None:
        """Close all valves; see `restart`."""
        self._drivers.reset(indices)
        none = np.zeros(self._shape)
        restart(self, indices, self._batch, opens=none > 0.0, _left=none)

    @property
    def stuck(self) -> BoolArray:
        """Which valves follow no orders, (n,)."""
        return np.asarray(self._stuck_open | self._stuck_closed)

    @property
    def is_open(self) -> BoolArray:
        """Which valves are open, (..., n)."""
        return np.asarray((self.opens | self._stuck_open) & ~self._stuck_closed)

    def check_step(self, dt: float) -> None:
        """Raise `ConfigError` for a step [s] with more pulses than can be wanted."""
        if dt > self._longest_step:
            raise ConfigError(
                'pulse_period', f'a step of {dt:g} s has more than {_MOST_PULSES} pulses; '
                f'expected at most {self._longest_step:g} s',
            )

    def step(self, duty: FloatArray, dt: float) -> FloatArray:
        """Advance by ``dt`` [s] with duty cycles, (..., n); return how long each is open [s].

        Raises what `check_step` does.
        """
        self.check_step(dt)
        opened = self._powered(np.broadcast_to(duty, self._shape), dt)
        return np.where(self._stuck_open, dt, np.where(self._stuck_closed, 0.0, opened))

    def _powered(self, duty: FloatArray, dt: float) -> FloatArray:
        opened, left = np.zeros(self._shape), np.full(self._shape, dt)
        near = min(_SAME_TIME, 0.5 * dt)
        while True:
            order = self._drivers.wait(duty)
            valve = np.where(self.opens != self._drivers.order, self._left, np.inf)
            due = np.minimum(order, valve)
            within = due < left - near
            span = np.where(within, due, left)
            opened += np.where(self.opens, span, 0.0)
            left = left - span
            self._drivers.run(duty, span)
            self._left = np.maximum(self._left - span, 0.0)
            if not np.count_nonzero(within):
                return opened
            self.opens = np.where(within & (valve <= due), self._drivers.order, self.opens)
            self._order(duty, within & (order <= due))

    def _order(self, duty: FloatArray, due: BoolArray) -> None:
        """Let the drivers that are due change their orders."""
        if np.count_nonzero(due):
            changed = self._drivers.fire(duty, due)
            delay = np.where(
                self._drivers.order, self._params.open_delay, self._params.close_delay
            )
            self._left = np.where(changed, delay, self._left)
