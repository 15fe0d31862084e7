# SPDX-License-Identifier: Apache-2.0
"""Rotors whose arrays fit into the cache of a processor together, advanced one after the other.

The root of the thrust is rotor speed times a constant, so it follows with the same lag, and it is
what a step advances: the motor constant is needed at the borders only.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from propulsion_ros.models.rotors.integrators import RotorLag, is_original, spread
from propulsion_ros.models.rotors.params import RotorsParams
from propulsion_ros.settings.quantity import BoolArray, FloatArray


def work_arrays(rows: int, n: int) -> list[FloatArray]:
    """Return the arrays that a bank works with, each (rows, n)."""
    # Whole pages apart, they would drive each other out of the cache.
    size, apart = rows * n, 72
    room = np.empty((6, size + apart))
    return [array[:size].reshape(rows, n) for array in room]


class RotorBank:
    """Some or all of the rotors of a batch.

    What lags (`RotorsParams.lag_on`) is the state: the root of the thrust, or the thrust.

    Parameters
    ----------
    params : RotorsParams
        Validated configuration of n rotors.
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
