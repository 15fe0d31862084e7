# SPDX-License-Identifier: Apache-2.0
"""How fins are drawn: by their lift."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from propulsion_ros.models.common.layout import ThrustLayout
from propulsion_ros.models.common.wrench import cross, unit_rows
from propulsion_ros.models.fins.params import FinsParams
from propulsion_ros.settings.quantity import FloatArray


@dataclass(frozen=True, kw_only=True, eq=False)
class FinLayout(ThrustLayout):
    """Fins, whose lift is across their chord; the deflection is what has limits."""

    span: FloatArray
    """Unit axes of the deflection in base_link, (n, 3)."""
    all_moving: FloatArray
    """1 where the whole fin turns with its deflection, 0 where only a flap does, (n,)."""
    min_deflection: FloatArray
    max_deflection: FloatArray
    """[rad], (n,)."""

    def in_base(self, angles: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return positions and axes in base_link; see `ThrustLayout.in_base`."""
        return self.position, self._turned(self.all_moving * angles)

    def in_links(self, angles: FloatArray) -> FloatArray:
        """Return the axes in each fin's link; see `ThrustLayout.in_links`."""
        # The link turns with the deflection, whatever of the fin does.
        seen = self._turned((self.all_moving - 1.0) * angles)
        return np.asarray(np.einsum('ni,nij->nj', seen, self.rotation))

    def load(self, thrust: FloatArray, angles: FloatArray) -> FloatArray:
        """Return how near each deflection is to its stop; see `ThrustLayout.load`."""
        stop = np.where(angles < 0.0, -self.min_deflection, self.max_deflection)
        at_once = np.where(angles == 0.0, 0.0, 1.0)
        share = np.abs(angles) / np.where(stop <= 0.0, 1.0, stop)
        return np.asarray(np.where(stop <= 0.0, at_once, share))

    def _turned(self, angles: FloatArray) -> FloatArray:
        """Return the axes turned right-handed about the spans, which are perpendicular to them."""
        cos, sin = np.cos(angles)[:, None], np.sin(angles)[:, None]
        return np.asarray(cos * self.axis + sin * cross(self.span, self.axis))


def layout_of_fins(params: FinsParams) -> FinLayout:
    """Return how fins are drawn."""
    unknown = np.full(len(params.names), np.nan)
    span = unit_rows('span', params.span)
    return FinLayout(
        names=params.names, links=params.link, position=params.position,
        axis=unit_rows('chord', cross(span, params.chord)), rotation=params.rotation,
        lowest=unknown, highest=unknown, angle_names=params.names, span=span,
        all_moving=np.array(
            [float(name not in params.lifting_surface.fin) for name in params.names]
        ),
        min_deflection=params.min_deflection, max_deflection=params.max_deflection,
    )
