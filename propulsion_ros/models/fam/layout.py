# SPDX-License-Identifier: Apache-2.0
"""How nozzles on plenums are drawn: jets of air."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from propulsion_ros.models.common.layout import ThrustLayout, placed_rows
from propulsion_ros.models.fam import constants as astrobee
from propulsion_ros.models.fam.curve import PolynomialCurve
from propulsion_ros.models.fam.params import ModulesParams
from propulsion_ros.models.fam.plenum import Plenums
from propulsion_ros.settings.quantity import FloatArray

_TOP_SPEED = astrobee.COUNTS * astrobee.MEASURED_SPEED_PER_COUNT
"""Of an impeller [rad/s]."""


@dataclass(frozen=True, kw_only=True, eq=False)
class NozzleLayout(ThrustLayout):
    """Nozzles on plenums; the flap is what has limits."""

    plenums: Plenums
    """What turns a flap angle into an open area."""

    def load(self, thrust: FloatArray, angles: FloatArray) -> FloatArray:
        """Return how far each nozzle is open; see `ThrustLayout.load`."""
        return np.asarray(self.plenums.area(angles) / self.plenums.largest_area)


def layout_of_nozzles(params: ModulesParams) -> NozzleLayout:
    """Return how nozzles are drawn."""
    nozzles, impellers = params.nozzles, params.impellers
    plenums = Plenums(params, PolynomialCurve(impellers.zero_thrust_area))
    # A nozzle pushes hardest when it alone is open.
    area = np.diag(plenums.largest_area)
    speed = np.full(len(impellers.names), _TOP_SPEED)
    highest = np.diag(plenums.thrust(area, plenums.pressure(area, speed)))
    return NozzleLayout(
        **placed_rows(nozzles), lowest=np.zeros(len(nozzles.names)), highest=highest,
        angle_names=nozzles.names, unknown_angle=0.0, plume='air', plenums=plenums,
    )
