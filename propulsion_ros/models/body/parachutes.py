# SPDX-License-Identifier: Apache-2.0
"""Parachutes that open when a deployer fires, as drag on the body."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from propulsion_ros.settings.quantity import FloatArray, names, per_row, quantity, validate


@dataclass(frozen=True, kw_only=True, eq=False)
class ParachutesParams:
    """Configuration of parachutes, each named after the deployer that frees it."""

    names: tuple[str, ...] = names('deployers that free a parachute', ())
    drag_area: FloatArray = per_row(
        0.0, 'm^2', doc='drag coefficient times area of the open canopy', lo=0.0
    )
    deployment_delay: FloatArray = per_row(
        0.5, 's', doc='from the firing to the stretched line', lo=0.1
    )
    inflation_time: FloatArray = per_row(
        0.5, 's', doc='from the stretched line to the open canopy', lo=0.0
    )
    attachment: FloatArray = quantity(
        0.0, 'm', doc='where the lines are tied, in base_link', shape=(3,)
    )

    def __post_init__(self) -> None:
        validate(self)


class Parachutes:
    """Drag areas that grow linearly from the stretched line to the open canopy.

    Parameters
    ----------
    params : ParachutesParams
        Validated configuration.
    """

    def __init__(self, params: ParachutesParams) -> None:
        self.names = params.names
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

    def fire(self, name: str, stamp_ns: int) -> None:
        """Free a parachute; a second firing changes nothing."""
        i = self.names.index(name)
        if self._fired_ns[i] is None:
            self._fired_ns[i] = stamp_ns

    def drag_area(self, stamp_ns: int) -> float:
        """Return the open drag area [m^2] at a stamp."""
        area = 0.0
        for i, fired_ns in enumerate(self._fired_ns):
            if fired_ns is not None:
                open_ns = stamp_ns - fired_ns - int(self._delay_ns[i])
                area += float(self._area[i] * np.clip(open_ns / self._inflation_ns[i], 0.0, 1.0))
        return area
