# SPDX-License-Identifier: Apache-2.0
"""How boosters are drawn: flames, turned by gimbals."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from propulsion_ros.models.boosters.gimbals import Gimbals
from propulsion_ros.models.boosters.params import BoostersParams
from propulsion_ros.models.common.layout import ThrustLayout, placed_rows
from propulsion_ros.settings.quantity import FloatArray


@dataclass(frozen=True, kw_only=True, eq=False)
class GimballedLayout(ThrustLayout):
    """Boosters, some of which gimbals turn."""

    gimbals: Gimbals | None = None
    """g of them, with two joint angles each."""
    turned: tuple[int, ...] = ()
    """The booster that each of them turns."""

    def in_base(self, angles: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return positions and axes in base_link; see `ThrustLayout.in_base`."""
        if self.gimbals is None:
            return self.position, self.axis
        position, axis, at = self.position.copy(), self.axis.copy(), list(self.turned)
        self.gimbals.angles = angles.reshape(-1, 2)
        position[at], axis[at] = self.gimbals.carry(position[at], axis[at])
        return position, axis


def layout_of_boosters(params: BoostersParams) -> GimballedLayout:
    """Return how boosters are drawn."""
    gimbals = params.gimbals
    return GimballedLayout(
        **placed_rows(params), lowest=np.zeros(len(params.names)), highest=params.max_thrust,
        angle_names=gimbals.joints, plume='flame',
        gimbals=Gimbals(gimbals) if gimbals.booster else None,
        turned=tuple(params.names.index(booster) for booster in gimbals.booster),
    )
