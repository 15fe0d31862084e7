# SPDX-License-Identifier: Apache-2.0
"""How the inertia of solid propellant falls as it burns.

A motor holds a stack of equal cylinders with a bore (BATES grains), which burn on the wall of the
bore and on both ends at one rate, and not on the outside.
"""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from propulsion_ros.settings.quantity import FloatArray, IntArray, per_row

THINNEST = 1e-6
"""Least wall and length of a grain over its radius."""
_POINTS = 400
_LARGEST = 1e6


@dataclass(frozen=True, kw_only=True, eq=False)
class GrainsParams:
    """Solid propellant in m tanks."""

    grain_outer_radius: FloatArray = per_row(
        0.0, 'm', lo=0.0, hi=_LARGEST,
        doc='solid propellant in cylinders along z of the link, whose bores and ends burn: its '
        'inertia is theirs; 0: the inertia is in proportion to the mass',
    )
    grain_inner_radius: FloatArray = per_row(
        0.0, 'm', doc='grains: radius of the bore at the start', lo=0.0, hi=_LARGEST
    )
    grain_length: FloatArray = per_row(
        0.0, 'm', doc='grains: length of one at the start', lo=0.0, hi=_LARGEST
    )
    grain_count: IntArray = per_row(1, doc='grains: how many in a stack', kind=int, lo=1, hi=1000)
    grain_separation: FloatArray = per_row(
        0.0, 'm', doc='grains: between two of them at the start', lo=0.0, hi=_LARGEST
    )


def burnt_shapes(
    outer: float, inner: float, length: float, count: int, gap: float
) -> tuple[FloatArray, FloatArray]:
    """Return what is left of the mass, rising from 0 to 1, and the inertia over mass then.

    Parameters
    ----------
    outer, inner : float
        Radii of the cylinder and of its bore at the start [m].
    length : float
        Of one grain at the start [m].
    count : int
        Grains in the stack.
    gap : float
        Between two grains at the start [m].

    Returns
    -------
    tuple of FloatArray
        Ratios (k,), and moments over mass across, across and along the axis [m^2], (k, 3).
    """
    depth = np.linspace(min(outer - inner, 0.5 * length), 0.0, _POINTS)
    bore, high = inner + depth, length - 2.0 * depth
    volume = (outer - bore) * (outer + bore) * high
    square = outer**2 + bore**2
    place = (np.arange(count) - 0.5 * (count - 1)) * (length + gap)
    across = square / 4.0 + high**2 / 12.0 + np.mean(place**2)
    return volume / volume[-1], np.stack((across, across, square / 2.0), axis=-1)
