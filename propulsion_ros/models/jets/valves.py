# SPDX-License-Identifier: Apache-2.0
"""On/off valves with delays: for how long each is open in a step, to the last edge."""
from __future__ import annotations

from typing import Any

import numpy as np

from propulsion_ros.models.common.family import restart
from propulsion_ros.models.jets.modulators import modulator_of
from propulsion_ros.models.jets.params import JetsParams
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.quantity import BoolArray, FloatArray

_SAME_TIME = 1e-11
"""An event this near to the end of a step [s] belongs to the next one, with its command."""
_MOST_PULSES = 200
"""In one step."""


class Valves:
    """n valves and what drives them.

    A valve opens when it has been powered for its delay, and closes likewise.

    Parameters
    ----------
    params : JetsParams
        Validated configuration.
    batch : tuple of int
        Leading batch shape of the state.

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
        self._drivers = modulator_of(params, batch)
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

    def step(self, duty: FloatArray, dt: float) -> FloatArray:
        """Advance by ``dt`` [s] with duty cycles, (..., n); return how long each is open [s].

        Raises `ConfigError` for a step with more pulses than can be wanted.
        """
        if dt > self._longest_step:
            raise ConfigError(
                'pulse_period', f'a step of {dt:g} s has more than {_MOST_PULSES} pulses; '
                f'expected at most {self._longest_step:g} s',
            )
        opened = self._powered(np.broadcast_to(duty, self._shape), dt)
        return np.where(self._stuck_open, dt, np.where(self._stuck_closed, 0.0, opened))

    def _powered(self, duty: FloatArray, dt: float) -> FloatArray:
        opened, left = np.zeros(self._shape), np.full(self._shape, dt)
        near = min(_SAME_TIME, 0.5 * dt)
        while True:
            order, valve = self._drivers.wait(duty), self._wait()
            due = np.minimum(order, valve)
            within = due < left - near
            span = np.where(within, due, left)
            opened += np.where(self.opens, span, 0.0)
            left = left - span
            self._drivers.run(duty, span)
            self._left = np.maximum(self._left - span, 0.0)
            if not np.count_nonzero(within):
                return opened
            self._move(within & (valve <= due))
            self._order(duty, within & (order <= due))

    def _wait(self) -> FloatArray:
        """Return the time until each valve moves [s]."""
        return np.where(self.opens != self._drivers.order, self._left, np.inf)

    def _move(self, due: BoolArray) -> None:
        """Open or close the valves that are due."""
        self.opens = np.where(due, self._drivers.order, self.opens)

    def _order(self, duty: FloatArray, due: BoolArray) -> None:
        """Let the drivers that are due change their orders."""
        if np.count_nonzero(due):
            changed = self._drivers.fire(duty, due)
            delay = np.where(
                self._drivers.order, self._params.open_delay, self._params.close_delay
            )
            self._left = np.where(changed, delay, self._left)
