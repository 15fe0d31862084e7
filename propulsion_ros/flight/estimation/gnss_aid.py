# SPDX-License-Identifier: Apache-2.0
"""Fuses positions of a satellite receiver, on WGS 84 and in a plane that touches it at the pad."""
from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from propulsion_ros.flight.estimation.error_state import (
    POSITION,
    SCALE,
    SIZE,
    VELOCITY,
    ErrorStateFilter,
)
from propulsion_ros.flight.estimation.params import EstimatorParams
from propulsion_ros.flight.estimation.sensor_health import SensorMonitor, Status
from propulsion_ros.models.common.rotation import Vector
from propulsion_ros.settings.quantity import FloatArray
from propulsion_ros.timing.dwell import Dwell, Held

_LARGEST_ALTITUDE = 1e6  # [m]
_LOST_NS = 2_000_000_000  # refusals this long mean that the estimate is wrong
_LARGEST_MEAN = 100
_FEW = 3  # fixes that make no mean yet
_PATIENCE = 100  # fixes elsewhere after which the pad is there
SEMI_MAJOR_AXIS = 6_378_137.0
"""Of WGS 84 [m]."""
FLATTENING = 1.0 / 298.257223563
_E2 = FLATTENING * (2.0 - FLATTENING)


class GnssAid:
    """Turns fixes into corrections of a filter, relative to the mean fix on the pad.

    East and north are believed or refused together, the height apart; a fix without altitude
    (NaN) has none. A covariance with correlations is whitened by its Cholesky factor.

    Parameters
    ----------
    params : EstimatorParams
        Noise, gates and times.
    filter_ : ErrorStateFilter
        That is corrected.

    Attributes
    ----------
    monitor : SensorMonitor
        Health of the receiver.
    """

    def __init__(self, params: EstimatorParams, filter_: ErrorStateFilter) -> None:
        self._params = params
        self._filter = filter_
        self.monitor = SensorMonitor(params.fix_timeout)
        self._held = Held()
        self._refused = Dwell(_LOST_NS * 1e-9, counts_gaps=True)
        self.reset()

    def reset(self) -> None:
        """Forget the pad."""
        self.monitor.reset()
        self._forget()
        self._offset = (0.0, 0.0, 0.0)
        self._refused.reset()
        self._held.reset()

    def _forget(self) -> None:
        """Forget where the pad is."""
        self._off_pad = 0
        self._plane: TangentPlane | None = None
        self._origin: list[float] = []
        self._altitudes = 0
        self._fixes = 0

    def check(self, stamp_ns: int, latitude: float, longitude: float, altitude: float) -> Status:
        """Return whether a fix may be fused."""
        values = (latitude, longitude, 0.0 if math.isnan(altitude) else altitude)
        status = self.monitor.arrive(stamp_ns, values)
        if status is not Status.OK:
            return status
        beyond = abs(latitude) > 90.0 or abs(longitude) > 180.0
        if beyond or abs(values[2]) > _LARGEST_ALTITUDE:
            self.monitor.refuse(Status.RANGE)
            return Status.RANGE
        return status

    def fuse(
        self, stamp_ns: int, age: float, fix: tuple[float, float, float],
        covariance: Sequence[float], *, has_height: bool, may_move: bool,
    ) -> None:
        """Fuse a fix that `check` found good.

        Parameters
        ----------
        stamp_ns : int
            Of the fix [ns].
        age : float
            Its stamp less the time of the filter [s].
        fix : tuple of float
            Latitude [deg], longitude [deg], altitude above the ellipsoid [m].
        covariance : sequence of float
            East, north, up, row by row [m^2]; anything but nine numbers of a covariance is
            unknown.
        has_height : bool
            Whether another sensor measures the height.
        may_move : bool
            Whether the pad is where the fixes are.
        """
        now = self._place(age)
        known = 2 if math.isnan(fix[2]) else 3
        if may_move:
            if self._is_off_pad(fix):
                self._off_pad += 1
                self.monitor.refuse(Status.INNOVATION)
                if self._off_pad > _PATIENCE:
                    self._forget()
                return
            self._off_pad = 0
            self._follow_pad(fix)
        elif self._plane is None or (known == 3 and not self._altitudes):
            self._anchor(fix, now)
        plane = self._plane
        if plane is None:
            return
        altitude = self._origin[2] + float(now[2]) if known == 2 else fix[2]
        measured = (np.array(plane.enu(fix[0], fix[1], altitude)) + self._offset)[:known]
        noise = self._noise(covariance, known)
        if self._is_held(stamp_ns, fix[:known], now, noise):
            self.monitor.refuse(Status.FROZEN)
            return
        level = self._correct(age, measured[:2], noise[:2, :2], slice(0, 2))
        height = known == 2 or self._correct(age, measured[2:], noise[2:, 2:], slice(2, 3))
        if level and height:
            self._refused.reset()
            self.monitor.use(stamp_ns)
        else:
            # Where a barometer tells the height, a fix may be wrong in it for good.
            self._refuse(stamp_ns, measured - now[:known], 2 if has_height else known)

    def _correct(
        self, age: float, measured: FloatArray, noise: FloatArray, part: slice
    ) -> bool:
        """Fuse the level or the height of a fix; return whether it was believed."""
        state = self._filter
        now = self._place(age)
        rows = self._rows(float(now[2]))[part]
        residual = measured - now[part]
        total = rows @ state.covariance @ rows.T + noise
        if not residual @ np.linalg.solve(total, residual) <= self._params.gate**2:
            return False
        whitener = np.linalg.inv(np.linalg.cholesky(noise))
        for weights in whitener:
            residual = measured - self._place(age)[part]
            state.correct(weights @ rows, float(weights @ residual), 1.0)
        return True

    def _place(self, age: float) -> FloatArray:
        """Return where the receiver should be: metres of height, not of pressure altitude."""
        state = self._filter
        now = np.array(state.position) + age * np.array(state.velocity)
        now[2] /= 1.0 + state.scale
        return now

    def _rows(self, up: float) -> FloatArray:
        """Return the derivative of that place by the error, shape (3, 18)."""
        rows = np.zeros((3, SIZE))
        rows[range(3), range(POSITION, POSITION + 3)] = 1.0
        stretch = 1.0 + self._filter.scale
        rows[2, POSITION + 2], rows[2, SCALE] = 1.0 / stretch, -up / stretch
        return rows

    def _is_off_pad(self, fix: tuple[float, float, float]) -> bool:
        """Return whether a fix on the pad lies far from the mean of those before."""
        if self._plane is None or self._fixes < _FEW:
            return False
        altitude = self._origin[2] if math.isnan(fix[2]) or not self._altitudes else fix[2]
        place = np.abs(self._plane.enu(fix[0], fix[1], altitude))
        return bool(np.any(place > 2.0 * self._params.gate * np.asarray(self._params.gnss_noise)))

    def _follow_pad(self, fix: tuple[float, float, float]) -> None:
        """Let the origin of the plane be the mean of the fixes on the pad."""
        latitude, longitude, altitude = fix
        if not self._origin:
            self._origin = [latitude, longitude, 0.0]
        self._fixes = min(self._fixes + 1, _LARGEST_MEAN)
        self._origin[0] += (latitude - self._origin[0]) / self._fixes
        # Across the date line the mean must not run round the Earth.
        turn = (longitude - self._origin[1] + 180.0) % 360.0 - 180.0
        self._origin[1] += turn / self._fixes
        if not math.isnan(altitude):
            self._altitudes = min(self._altitudes + 1, _LARGEST_MEAN)
            self._origin[2] += (altitude - self._origin[2]) / self._altitudes
        self._plane = TangentPlane(*self._origin)

    def _anchor(self, fix: tuple[float, float, float], now: FloatArray) -> None:
        """Take the estimate as the place of the first fix, where none came on the pad."""
        latitude, longitude, altitude = fix
        has_altitude = not math.isnan(altitude)
        self._altitudes = int(has_altitude)
        self._origin = [latitude, longitude, altitude if has_altitude else 0.0]
        self._plane = TangentPlane(*self._origin)
        east, north, up = now.tolist()
        self._offset = (east, north, up)
        if not has_altitude:
            self._origin[2] -= up

    def _noise(self, covariance: Sequence[float], known: int) -> FloatArray:
        assumed: FloatArray = np.diag(np.asarray(self._params.gnss_noise)[:known] ** 2)
        if len(covariance) != 9:
            return assumed
        given: FloatArray = np.array(covariance, dtype=float).reshape(3, 3)[:known, :known]
        given = 0.5 * given + 0.5 * given.T
        if not np.all(np.isfinite(given)) or not np.min(np.linalg.eigvalsh(given)) > 1e-6:
            return assumed
        return given

    def _is_held(
        self, stamp_ns: int, fix: tuple[float, ...], now: FloatArray, noise: FloatArray
    ) -> bool:
        """Return whether a fix repeats itself although the vehicle has moved."""
        if not self._held.repeats(stamp_ns, fix, now):
            return False
        moved = np.abs(now - self._held.then)[:len(fix)]
        return bool(np.any(moved > self._params.gate * np.sqrt(np.diagonal(noise))))

    def _refuse(self, stamp_ns: int, residual: FloatArray, believed: int) -> None:
        self.monitor.refuse(Status.INNOVATION)
        if self._refused.update(stamp_ns, True):
            for i, value in enumerate(residual[:believed].tolist()):
                self._filter.inflate(POSITION + i, value**2)
                self._filter.inflate(VELOCITY + i, (value * 1e9 / _LOST_NS) ** 2)
            self._refused.reset()


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
