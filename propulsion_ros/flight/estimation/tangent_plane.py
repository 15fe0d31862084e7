# SPDX-License-Identifier: Apache-2.0
"""Positions on the WGS 84 ellipsoid as east, north, up of a plane that touches it at the pad."""
from __future__ import annotations

import math

from propulsion_ros.models.common.rotation import Vector

SEMI_MAJOR_AXIS = 6_378_137.0
"""Of WGS 84 [m]."""
FLATTENING = 1.0 / 298.257223563
_E2 = FLATTENING * (2.0 - FLATTENING)


def ecef(latitude: float, longitude: float, altitude: float) -> Vector:
    """Return Earth-centred, Earth-fixed coordinates [m] (NIMA TR8350.2, 4.14).

    Parameters
    ----------
    latitude, longitude : float
        Geodetic [deg].
    altitude : float
        Above the ellipsoid [m].
    """
    phi, lam = math.radians(latitude), math.radians(longitude)
    sine = math.sin(phi)
    normal = SEMI_MAJOR_AXIS / math.sqrt(1.0 - _E2 * sine * sine)
    ring = (normal + altitude) * math.cos(phi)
    return ring * math.cos(lam), ring * math.sin(lam), (normal * (1.0 - _E2) + altitude) * sine


class TangentPlane:
    """East, north, up about a reference point.

    Parameters
    ----------
    latitude, longitude : float
        Of the reference, geodetic [deg].
    altitude : float
        Of the reference above the ellipsoid [m].
    """

    def __init__(self, latitude: float, longitude: float, altitude: float) -> None:
        self._origin = ecef(latitude, longitude, altitude)
        phi, lam = math.radians(latitude), math.radians(longitude)
        self._latitude = math.sin(phi), math.cos(phi)
        self._longitude = math.sin(lam), math.cos(lam)

    def enu(self, latitude: float, longitude: float, altitude: float) -> Vector:
        """Return (east, north, up) [m] of a position [deg], [deg], [m]."""
        x, y, z = (a - b for a, b in zip(
            ecef(latitude, longitude, altitude), self._origin, strict=True
        ))
        sin_phi, cos_phi = self._latitude
        sin_lam, cos_lam = self._longitude
        outward = cos_lam * x + sin_lam * y
        return (
            cos_lam * y - sin_lam * x,
            cos_phi * z - sin_phi * outward,
            cos_phi * outward + sin_phi * z,
        )
