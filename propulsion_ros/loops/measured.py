# SPDX-License-Identifier: Apache-2.0
"""Properties of the robot that are measured or received: joint angles, the centre of mass."""
from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any, NamedTuple

import numpy as np

from propulsion_ros.loops.ports import Host
from propulsion_ros.models.steering.steered import SteeredFamily
from propulsion_ros.settings.errors import CommandError
from propulsion_ros.settings.quantity import BoolArray, FloatArray, IntArray
from propulsion_ros.timing.stepping import FOREVER, NEVER, Place

_BEYOND = 0.1
"""Largest angle beyond its limits to which play or soft stops let a joint move [rad]."""


class JointUpdate(NamedTuple):
    """New angles of some joints."""

    columns: IntArray
    """Places of the joints in `SteeredFamily.joint_names`, (k,)."""
    angles: FloatArray
    rates: FloatArray
    """Angles [rad], and rates [rad/s], which are 0 where unknown, (k,)."""


class JointReader:
    """Reads angles of some joints from a JointState, which may have others too.

    Parameters
    ----------
    names : iterable of str
        Joints that are read.
    """

    def __init__(self, family: SteeredFamily, names: Iterable[str]) -> None:
        self._columns = {name: family.joint_names.index(name) for name in names}
        self._limits = family.joint_limits

    def names(self, message: Any) -> list[str]:
        """Return those names of a message that are read."""
        return [name for name in message.name if name in self._columns]

    def read(self, message: Any) -> JointUpdate:
        """Return the angles of a message; raise `CommandError` for a wrong one."""
        count = len(message.name)
        for field in ('position', 'velocity'):
            given = len(getattr(message, field))
            if given != count and (given or field == 'position'):
                raise CommandError(f'{field}: expected {count} values, one per name, got {given}')
        found: dict[str, tuple[float, float]] = {}
        has_rates = len(message.velocity) == count
        for i, name in enumerate(message.name):
            if name not in self._columns:
                continue
            angle, rate = message.position[i], message.velocity[i] if has_rates else 0.0
            low, high = (ends[self._columns[name]] for ends in self._limits)
            if name in found:
                raise CommandError(f'{name!r} is named twice')
            if not np.isfinite(angle):
                raise CommandError(f'{name}: position {angle} is not finite; the last angle holds')
            if not low - _BEYOND <= angle <= high + _BEYOND:
                raise CommandError(
                    f'{name}: position {angle:g} rad is outside of its limits, {low:g} to '
                    f'{high:g} rad; the last angle holds. Is it in degrees?'
                )
            found[name] = angle, rate if np.isfinite(rate) else 0.0
        values = np.array(list(found.values()), float).reshape(-1, 2)
        return JointUpdate(
            np.array([self._columns[name] for name in found], int), values[:, 0], values[:, 1]
        )


class JointAngles:
    """Holds measured angles, and reports once when those of a joint end, and when they return.

    Attributes
    ----------
    lost : BoolArray
        Measured joints whose angle is too old or was never received, (k,).
    """

    def __init__(self, family: SteeredFamily) -> None:
        self._family = family
        self._never: BoolArray = ~family.is_measured
        self._max_age_ns = np.where(
            family.joints.max_age > 0.0, np.round(family.joints.max_age * 1e9), np.inf
        )
        self.forget()

    def forget(self) -> None:
        """Accept an angle with any stamp next; the last angles hold until then."""
        self._stamps = np.full(len(self._never), NEVER, dtype=np.int64)
        self.lost: BoolArray = np.zeros(len(self._never), bool)
        self._first_ns: int | None = None
        self._due_ns = NEVER

    def receive(self, stamp_ns: int, update: JointUpdate) -> None:
        """Take angles from a stamp on; an angle that is older than the joint's is ignored."""
        newer = stamp_ns >= self._stamps[update.columns]
        columns = update.columns[newer]
        self._stamps[columns] = stamp_ns
        self._family.measure(columns, update.angles[newer], update.rates[newer])
        self._due_ns = NEVER if self.lost.any() else self._due_ns

    def follow(self, stamp_ns: int, host: Host) -> None:
        """Check the age of all angles at a tick."""
        if stamp_ns < self._due_ns:
            return
        if self._first_ns is None:
            self._first_ns = stamp_ns
        since = np.maximum(self._stamps, self._first_ns).astype(float) + self._max_age_ns
        lost = (stamp_ns > since) & ~self._never
        ended, back, time = lost & ~self.lost, ~lost & self.lost, f'{stamp_ns * 1e-9:.3f} s'
        self.lost = lost
        came: BoolArray = self._stamps != NEVER
        angles = self._family.angles
        for i in np.flatnonzero(ended).tolist():
            what = f'ended at {time}' if came[i] else f'did not come until {time}'
            host.complain('lost_joints', (
                f'joint states of {self._family.joint_names[i]} {what}; {angles[i]:.4g} rad holds'
            ))
        for i in np.flatnonzero(back).tolist():
            host.log('info', f'joint states of {self._family.joint_names[i]} are back at {time}')
        waiting = since[~lost & ~self._never & np.isfinite(since)]
        self._due_ns = NEVER if lost.any() else int(waiting.min()) if len(waiting) else FOREVER


class CentreOfMass:
    """Newest centre of mass [m], (3,), received or set: it holds until the next, also over resets.

    ``use`` passes it to a family that needs one; else it is None.
    """

    def __init__(self, use: Callable[[FloatArray], None] | None) -> None:
        self._use = use
        self.value: FloatArray | None = None
        self._newest_ns = NEVER

    def set(self, value: FloatArray) -> None:
        """Take a centre of mass at once."""
        self.value = value
        self.use_again()

    def receive(self, stamp_ns: int, value: FloatArray) -> None:
        """Take a centre of mass from a stamp on; one that is older than the known is ignored."""
        if stamp_ns >= self._newest_ns:
            self._newest_ns = stamp_ns
            self.set(value)

    def use_again(self) -> None:
        """Pass it to a family that has been reset or retuned."""
        if self.value is not None and self._use is not None:
            self._use(self.value)

    def forget_time(self) -> None:
        """Accept a centre of mass with any stamp next."""
        self._newest_ns = NEVER

    def retune(
        self, changed: Collection[str], apply: Callable[[], None], place: Place | None
    ) -> None:
        """Apply live settings; a centre of mass among the changed keys replaces the received one.

        A centre of mass that comes later replaces it only with a later stamp.
        """
        if 'com' in changed:
            self.value = None
            if place is not None:
                self._newest_ns = max(self._newest_ns, place.stamp_ns + 1)
        apply()
        self.use_again()
