# SPDX-License-Identifier: Apache-2.0
"""A rigid body with the wrenches, tanks and parachutes that act on it."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from propulsion_ros.models.body.mass import MassProperties
from propulsion_ros.models.body.rigid_body import BodyParams, RigidBody
from propulsion_ros.models.common.motion import Motion
from propulsion_ros.models.common.start import State
from propulsion_ros.settings.quantity import FloatArray, names, per_row, quantity, validate


@dataclass(frozen=True, kw_only=True, eq=False)
class ParachutesParams:
    """Configuration of parachutes, each named after the deployer that frees it."""

    names: tuple[str, ...] = names('deployers that free a parachute', ())
    drag_area: FloatArray = per_row(
        0.0, 'm^2', doc='drag coefficient times area of the open canopy', lo=0.0,
        usual=(1e-3, 2000.0),
    )
    deployment_delay: FloatArray = per_row(
        0.5, 's', doc='from the firing to the stretched line', lo=0.1
    )
    inflation_time: FloatArray = per_row(
        0.5, 's', doc='from the stretched line to the open canopy', lo=0.0
    )
    canopy: tuple[str, ...] = quantity(
        '', doc='canopy that several deployers free, as backups do; by default one of its own',
        kind=str, shape=('n',),
    )
    attachment: FloatArray = quantity(
        0.0, 'm', doc='where the lines are tied, in base_link', shape=(3,)
    )

    def __post_init__(self) -> None:
        validate(self)


class Parachutes:
    """Drag areas that grow linearly from the stretched line to the open canopy."""

    def __init__(self, params: ParachutesParams) -> None:
        self.names = params.names
        # By name, or for a canopy of its own by place.
        self._canopy = [own or i for i, own in enumerate(params.canopy)]
        self._area = params.drag_area
        self._delay_ns = np.round(params.deployment_delay * 1e9).astype(np.int64)
        self._inflation_ns = np.maximum(np.round(params.inflation_time * 1e9), 1.0)
        self.attachment = params.attachment
        self.reset()

    @property
    def delay_ns(self) -> int:
        """Shortest time from a firing to any force [ns]."""
        return int(self._delay_ns.min(initial=2**62))

    def reset(self) -> None:
        """Pack every parachute."""
        self._fired_ns: list[int | None] = [None] * len(self.names)

    def fire(self, name: str, stamp_ns: int) -> bool:
        """Free a parachute; return whether it was packed, since a second firing changes nothing."""
        i = self.names.index(name)
        if any(at is not None and own == self._canopy[i]
               for own, at in zip(self._canopy, self._fired_ns, strict=True)):
            return False
        self._fired_ns[i] = stamp_ns
        return True

    def drag_area(self, stamp_ns: int) -> float:
        """Return the open drag area [m^2] at a stamp."""
        area = 0.0
        for i, fired_ns in enumerate(self._fired_ns):
            if fired_ns is not None:
                open_ns = stamp_ns - fired_ns - int(self._delay_ns[i])
                area += float(self._area[i] * np.clip(open_ns / self._inflation_ns[i], 0.0, 1.0))
        return area


_NO_WRENCH = np.zeros(6)


class SimulatedBody:
    """A rigid body that several sources push, and several tanks weigh down.

    What a source gave last holds until it gives anew.

    Attributes
    ----------
    rigid : RigidBody
        The body alone.
    """

    start_states: ClassVar[tuple[str, ...]] = RigidBody.start_states

    def __init__(
        self,
        body: BodyParams,
        parachutes: ParachutesParams,
        dry: MassProperties,
        sources: Sequence[str],
    ) -> None:
        self.rigid, self._dry, self._sources = RigidBody(body), dry, tuple(sources)
        self.parachutes = Parachutes(parachutes)
        # An impulse that changes speed and rate by about 1 m/s and 1 rad/s needs no second look.
        moment = float(np.linalg.eigvalsh(dry.inertia)[0])
        self._gentle = min(dry.mass, moment / (1.0 + float(np.linalg.norm(dry.com))))
        self.reset()

    def reset(self, indices: Any = None, state: State | None = None) -> None:
        """Return to the start without tanks, or to a state; see `RigidBody.reset`."""
        self.rigid.reset(indices, state)
        self.parachutes.reset()
        self._wrenches: dict[str, FloatArray] = {source: np.zeros(6) for source in self._sources}
        self._tanks: dict[str, MassProperties] = {}
        self._total: MassProperties | None = None
        self._mass: MassProperties | None = None

    @property
    def motion(self) -> Motion:
        """Where the body is now and how it moves."""
        return self.rigid.motion

    @property
    def mass(self) -> MassProperties:
        """Mass of the body with its tanks, as of the last step."""
        return self._mass or self._dry

    @property
    def loaded(self) -> MassProperties:
        """Mass of the body with what is in its tanks now."""
        if self._total is None:
            self._total = MassProperties.total([self._dry, *self._tanks.values()])
        return self._total

    def push(self, source: str, wrench: FloatArray) -> None:
        """Take the wrench of a source [N] and [N m], about the origin of base_link, (6,)."""
        self._wrenches[source] = wrench

    def can_follow(self, wrench: FloatArray, dt: float) -> bool:
        """Return whether steps of ``dt`` [s] can follow it under a wrench; see `RigidBody`."""
        if float(np.max(np.abs(wrench))) * dt <= self._gentle:
            return True
        return self.rigid.can_follow(wrench, self.loaded, dt)

    def weigh(self, source: str, tank: MassProperties) -> None:
        """Take what is in a tank."""
        self._tanks[source], self._total = tank, None

    def step(self, stamp_ns: int, dt: float) -> None:
        """Advance by ``dt`` [s] from a stamp; see `RigidBody.step` for what it raises."""
        after = self.loaded
        # Tanks are known only after their first message, so the first step burns nothing.
        before = self._mass or after
        wrench: FloatArray = sum(self._wrenches.values(), _NO_WRENCH)
        area = self.parachutes.drag_area(stamp_ns)
        drag = (area, self.parachutes.attachment) if area else None
        self.rigid.step(wrench, before, after, dt, drag)
        self._mass = after
