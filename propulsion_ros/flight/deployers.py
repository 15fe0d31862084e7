"""Deployers: what they are, and for how long each one is on."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from propulsion_ros.errors import CommandError
from propulsion_ros.quantity import FloatArray

_PERIOD_NS = 100_000_000


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
        'net_actuator' or 'local_pyro'; '' where events name it but nothing describes it.
    address, destination_service, channel : int or None
        Where the flown hardware has it.
    """

    id: int
    name: str
    type: str = ''
    address: int | None = None
    destination_service: int | None = None
    channel: int | None = None


@dataclass(frozen=True)
class DeployerCommand:
    """A deployer is to be on from a stamp for a while [ns]."""

    id: int
    name: str
    stamp_ns: int
    on_time_ns: int

    @property
    def until_ns(self) -> int:
        """Stamp at which it goes off."""
        return self.stamp_ns + self.on_time_ns


class DeployerBank:
    """Keeps the on-times of all deployers and says what to publish.

    Time is any one count of nanoseconds: message stamps in simulation, a steady clock on a
    robot. Where it jumps back, what is left of each on-time stays. A bank begins disarmed, and
    a disarmed bank is off.

    Parameters
    ----------
    names : sequence of str
        One deployer each; its place is its id.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self._until_ns = [0] * len(self.names)
        self._now_ns = 0
        self._is_armed = False
        self._published_ns: int | None = None
        self._was_on = False

    def arm(self, is_armed: bool) -> None:
        """Follow the phase: armed in launch, flight and recovery; disarming turns all off."""
        self._is_armed = is_armed
        if not is_armed:
            self._until_ns = [0] * len(self.names)

    def fire(self, deployer_id: int, stamp_ns: int, on_time_ns: int) -> None:
        """Turn a deployer on, or prolong it if it is on.

        Raises
        ------
        CommandError
            Where the bank is disarmed, the id is unknown, or the on-time is not above 0.
        """
        if not 0 <= deployer_id < len(self.names):
            raise CommandError(
                f'deployer {deployer_id} is unknown, there are {len(self.names)}'
            )
        name = self.names[deployer_id]
        if not self._is_armed:
            raise CommandError(f"deployer '{name}' is refused: the phase is not an armed one")
        if on_time_ns <= 0:
            raise CommandError(f"deployer '{name}': an on-time of {on_time_ns} ns is not above 0")
        self._follow(stamp_ns)
        until_ns = stamp_ns + on_time_ns
        self._until_ns[deployer_id] = max(self._until_ns[deployer_id], until_ns)
        self._published_ns = None

    def efforts(self, stamp_ns: int) -> FloatArray:
        """Return 1 for each deployer that is on and 0 for the others, shape (n,)."""
        self._follow(stamp_ns)
        return np.array([float(stamp_ns < until_ns) for until_ns in self._until_ns])

    def due(self, stamp_ns: int) -> FloatArray | None:
        """Return the efforts where they are to be published now, else None.

        They are at once after `fire`, at 10 Hz while any deployer is on, and once at its end.
        """
        efforts = self.efforts(stamp_ns)
        is_on = bool(efforts.any())
        if not (is_on or self._was_on):
            return None
        last_ns = self._published_ns
        if is_on and last_ns is not None and 0 <= stamp_ns - last_ns < _PERIOD_NS:
            return None
        self._published_ns = stamp_ns
        self._was_on = is_on
        return efforts

    def _follow(self, stamp_ns: int) -> None:
        if stamp_ns < self._now_ns:
            back_ns = self._now_ns - stamp_ns
            self._until_ns = [until_ns - back_ns for until_ns in self._until_ns]
        self._now_ns = stamp_ns
