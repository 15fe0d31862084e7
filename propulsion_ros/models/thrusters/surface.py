# SPDX-License-Identifier: Apache-2.0
"""Thrust that propellers lose near and above the surface of the water.

The loss is over the depth h of the hub and the radius R of the propeller, as Minsaas, Faltinsen and
Persson have it (On the importance of added resistance, propeller immersion and propeller
ventilation for large ships in a seaway, 1983), by the formula of Smogeli (Control of Marine
Propellers, 2006): 1 - 0.675 (1 - 0.769 h / R)^1.258, between none and all.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from propulsion_ros.models.common.family import BodyState
from propulsion_ros.models.common.wrench import product
from propulsion_ros.settings.quantity import BoolArray, FloatArray, per_row, quantity

_FACTOR, _SLOPE, _POWER = 0.675, 0.769, 1.258


@dataclass(frozen=True, kw_only=True, eq=False)
class SurfaceParams:
    """Where the surface is, and which of n thrusters feel it."""

    surface_loss: BoolArray = per_row(
        False, kind=bool,
        doc='whether thrust is lost near and above the surface, by propeller_diameter',
    )
    surface_height: float = quantity(
        0.0, 'm', doc='surface_loss: height of the surface in the world', lo=-1e6, hi=1e6
    )


class SurfaceLoss:
    """What is left of the loads of n thrusters.

    Parameters
    ----------
    params : ThrustersParams
        Validated configuration.
    """

    def __init__(self, params: Any) -> None:
        feels: BoolArray = params.surface_loss
        per_radius = np.where(feels, 2.0 / np.where(feels, params.propeller_diameter, 1.0), 0.0)
        # What is raised to the power is linear in the height of the body and in its tilt.
        root = _FACTOR ** (1.0 / _POWER)
        self._per_height = root * _SLOPE * per_radius
        self._sunk = np.where(feels, root, 0.0) - self._per_height * params.surface_height
        self._per_tilt = (self._per_height[:, None] * params.position).T.copy()
        self._none = np.zeros(len(feels))

    def left(self, body: BodyState) -> FloatArray | None:
        """Return factors from 0 to 1, (..., n); None while the height is not known."""
        height, up = body.height, body.up
        if height is None or up is None:
            return None
        sunk: FloatArray = (height[..., None] if height.ndim else height) * self._per_height
        lost = product(up, self._per_tilt) + sunk
        lost += self._sunk
        np.maximum(lost, self._none, out=lost)
        np.power(lost, _POWER, out=lost)
        left = np.subtract(1.0, lost, out=lost)
        return np.maximum(left, self._none, out=left)
