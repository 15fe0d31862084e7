# SPDX-License-Identifier: Apache-2.0
"""What drives on/off valves: from a duty cycle to the times at which a valve is to open and close.

Between two of its own events a modulator moves in closed form, so that the times of its pulses
do not depend on the step. Both keep an order for at least min_on_time or min_off_time, and a
demand of 0 ends a pulse as soon as that allows.

`PulseWidth` gives one pulse in each period, with the demand at its beginning; a period begins when
there is a demand. `Trigger` is the pulse-width pulse-frequency modulator of Sidi ("Spacecraft
Dynamics and Control", 1997, section 9.4) and Wie ("Space Vehicle Dynamics and Control", 1998,
section 7.5): a first-order filter of gain (demand - order) in front of a Schmitt trigger. Without
the filter it is the trigger alone.
"""
from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from propulsion_ros.models.common.family import restart
from propulsion_ros.models.jets.params import JetsParams
from propulsion_ros.settings.quantity import BoolArray, FloatArray


class Modulator(Protocol):
    """Orders of n drivers to their valves, each (..., n)."""

    order: BoolArray
    """Whether each valve is to be open."""

    def wait(self, duty: FloatArray) -> FloatArray:
        """Return the time until each next event [s], infinite for none."""

    def run(self, duty: FloatArray, span: FloatArray) -> None:
        """Move on by spans [s] that have no event within them."""

    def fire(self, duty: FloatArray, due: BoolArray) -> BoolArray:
        """Do the events that are due; return which orders changed."""

    def reset(self, indices: Any = None) -> None:
        """Close all valves and forget; see `restart`."""


def modulator_of(params: JetsParams, batch: tuple[int, ...]) -> Modulator:
    """Return the modulator that a configuration asks for."""
    kind = PulseWidth if params.modulation == 'pulse_width' else Trigger
    return kind(params, batch)


class _Orders:
    """Orders that stand for a shortest time."""

    order: BoolArray
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

    def _change(self, order: BoolArray) -> BoolArray:
        """Take new orders; return which ones are other than before."""
        changed = order != self.order
        least = np.where(order, self._params.min_on_time, self._params.min_off_time)
        self._hold = np.where(changed, least, self._hold)
        self.order = order
        return np.asarray(changed)


class PulseWidth(_Orders):
    """One pulse in each period."""

    _pulse: FloatArray
    _period: FloatArray
    _rest: FloatArray

    def reset(self, indices: Any = None) -> None:
        """Close all valves and forget; see `restart`."""
        super().reset(indices)
        none = np.zeros(self._shape)
        restart(self, indices, self._batch, _pulse=none, _period=none, _rest=none)

    def wait(self, duty: FloatArray) -> FloatArray:
        """Return the time until each next event; see `Modulator`."""
        wanted = duty > 0.0
        end = np.where(wanted, self._pulse, np.minimum(self._pulse, self._hold))
        ends = np.where(self.order, end, np.inf)
        begins = np.where(self.order, self._period, np.maximum(self._period, self._hold))
        return np.minimum(ends, np.where(wanted, begins, np.inf))

    def run(self, duty: FloatArray, span: FloatArray) -> None:
        """Move on by spans; see `Modulator`."""
        self._hold = np.maximum(self._hold - span, 0.0)
        self._pulse = np.maximum(self._pulse - span, 0.0)
        self._period = np.maximum(self._period - span, 0.0)
        self._rest = np.where(duty > 0.0, self._rest, 0.0)

    def fire(self, duty: FloatArray, due: BoolArray) -> BoolArray:
        """Do the events that are due; see `Modulator`."""
        params, wanted = self._params, duty > 0.0
        begins = due & wanted & (self._period <= 0.0)
        asked = duty * params.pulse_period + self._rest
        pulse = np.where(asked < params.min_on_time, 0.0, asked)
        full = params.pulse_period - asked < params.min_off_time
        pulse = np.where(full, params.pulse_period, pulse)
        left = np.clip(asked - pulse, -params.pulse_period, params.pulse_period)
        self._rest = np.where(begins & params.keep_remainder, left, self._rest)
        # A pulse that fills its period ends where the next period does not go on with it.
        length = np.where(pulse < params.pulse_period, pulse, np.inf)
        self._pulse = np.where(begins, length, self._pulse)
        self._period = np.where(begins, params.pulse_period, self._period)
        order = np.where(begins, pulse > 0.0, self.order & ~due)
        return self._change(np.asarray(order))


class Trigger(_Orders):
    """A Schmitt trigger behind a first-order filter, or behind the demand itself."""

    _filtered: FloatArray

    def __init__(self, params: JetsParams, batch: tuple[int, ...]) -> None:
        self._filters = params.modulation == 'pulse_frequency'
        super().__init__(params, batch)

    def reset(self, indices: Any = None) -> None:
        """Close all valves and forget; see `restart`."""
        super().reset(indices)
        restart(self, indices, self._batch, _filtered=np.zeros(self._shape))

    def wait(self, duty: FloatArray) -> FloatArray:
        """Return the time until each next event; see `Modulator`."""
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
        """Move on by spans; see `Modulator`."""
        self._hold = np.maximum(self._hold - span, 0.0)
        if self._filters:
            goal, tau = self._goal(duty), self._params.filter_time_constant
            self._filtered = goal + (self._filtered - goal) * np.exp(-span / tau)

    def fire(self, duty: FloatArray, due: BoolArray) -> BoolArray:
        """Do the events that are due; see `Modulator`."""
        return self._change(np.asarray(self.order ^ due))
