# SPDX-License-Identifier: Apache-2.0
"""Deployers: what they are, for how long each pyro is on, and where each servo stands."""
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from propulsion_ros.settings.errors import CommandError
from propulsion_ros.settings.quantity import FloatArray
from propulsion_ros.timing.dwell import OnTimes

PERIOD_NS = 100_000_000
"""Time between two publications of an unchanged effort [ns]."""


@dataclass(frozen=True)
class DeployerSpec:
    """One configured deployer.

    Attributes
    ----------
    id : int
        Its place in the list.
    name : str
        Its name in the JointState.
    type : str
        'net_actuator', 'local_pyro' or 'local_servo'; '' where events name it but nothing
        describes it.
    channel : int or None
        Where the flown hardware has it, if it is local.
    actuator : str
        'pyro', on for a while, or 'servo', at an angle.
    max_climb : float
        Upward speed above which it waits after an abort or an override of apogee [m/s].
    """

    id: int
    name: str
    type: str = ''
    channel: int | None = None
    actuator: str = 'pyro'
    max_climb: float = math.inf


def on_time_of(param: float) -> int:
    """Return the on-time [ns] of a pyro by the parameter of an action [ms]."""
    # As in the flown software, an on-time of 0 is one short pulse.
    return max(round(param * 1e6), 1)


class DeployerBank:
    """Keeps the on-times of all deployers, and what is to be published.

    Time is any one count of nanoseconds: message stamps in simulation, a steady clock on a
    robot. Where it jumps back, what is left of each on-time stays. A bank begins disarmed, and
    a disarmed bank is off; servos stay where they are.

    Parameters
    ----------
    specs : sequence of DeployerSpec
        The place of each is its id.
    """

    def __init__(self, specs: Sequence[DeployerSpec]) -> None:
        self.names = tuple(spec.name for spec in specs)
        self._servos = np.array([spec.actuator == 'servo' for spec in specs], bool)
        self._angles = np.full(len(self.names), math.nan)
        self._on = OnTimes(len(self.names))
        self._is_armed = False
        self._published_ns: int | None = None
        self._was_on = False

    def arm(self, is_armed: bool) -> None:
        """Allow deployers to act, or not; disarming turns all off."""
        self._is_armed = is_armed
        if not is_armed:
            self._on.clear()

    def execute(self, deployer_id: int, param: float, now_ns: int) -> None:
        """Fire a pyro for an on-time [ms], or turn a servo to an angle [deg].

        Raises
        ------
        CommandError
            Where the bank is disarmed, or the id is unknown.
        """
        self._check(deployer_id)
        if not self._servos[deployer_id]:
            self.fire(deployer_id, now_ns, on_time_of(param))
            return
        self._angles[deployer_id] = math.radians(param)
        self._published_ns = None
        self._was_on = True

    def fire(self, deployer_id: int, now_ns: int, on_time_ns: int) -> None:
        """Turn a pyro on, or prolong it if it is on.

        Raises
        ------
        CommandError
            As of `execute`, and where the on-time is not above 0.
        """
        self._check(deployer_id)
        if on_time_ns <= 0:
            name = self.names[deployer_id]
            raise CommandError(f"deployer '{name}': an on-time of {on_time_ns} ns is not above 0")
        self._on.start(deployer_id, now_ns, on_time_ns)
        self._published_ns = None

    def efforts(self, stamp_ns: int) -> FloatArray:
        """Return 1 for each pyro that is on, 0 for the others, NaN for servos, shape (n,)."""
        on = np.array([float(self._on.is_on(i, stamp_ns)) for i in range(len(self.names))])
        return np.where(self._servos, math.nan, on)

    def positions(self) -> FloatArray:
        """Return the commanded angles [rad], NaN where there is none; empty without servos."""
        return self._angles.copy() if self._servos.any() else np.empty(0)

    def pending(self, stamp_ns: int) -> tuple[tuple[int, int], ...]:
        """Return (id, rest of the on-time [ns]) of every deployer that is on."""
        left = [(i, self._on.left_ns(i, stamp_ns)) for i in range(len(self.names))]
        return tuple((i, rest_ns) for i, rest_ns in left if rest_ns > 0)

    def due(self, stamp_ns: int) -> FloatArray | None:
        """Return the efforts if they are to be published now, else None.

        That is at once after `execute` and `fire`, at 10 Hz while any deployer is on, and once at
        the end of that.
        """
        if self._on.is_idle and not self._was_on:
            return None
        efforts = self.efforts(stamp_ns)
        is_on = bool((efforts > 0.0).any())
        if not (is_on or self._was_on):
            return None
        last_ns = self._published_ns
        if is_on and last_ns is not None and 0 <= stamp_ns - last_ns < PERIOD_NS:
            return None
        self._published_ns = stamp_ns
        self._was_on = is_on
        return efforts

    def _check(self, deployer_id: int) -> None:
        if not 0 <= deployer_id < len(self.names):
            raise CommandError(
                f'deployer {deployer_id} is unknown, there are {len(self.names)}'
            )
        if not self._is_armed:
            raise CommandError(
                f"deployer '{self.names[deployer_id]}' is refused: not in flight or recovery after "
                'a liftoff'
            )
