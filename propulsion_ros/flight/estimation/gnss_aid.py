# SPDX-License-Identifier: Apache-2.0
"""Corrects the filter by positions of a satellite receiver, in the plane tangent at the pad."""
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
from propulsion_ros.flight.estimation.pad_aid import READINGS
from propulsion_ros.flight.estimation.params import EstimatorParams
from propulsion_ros.flight.estimation.sensor_health import SensorMonitor, Status
from propulsion_ros.flight.events.variables import sane
from propulsion_ros.models.common.rotation import Vector
from propulsion_ros.settings.quantity import FloatArray
from propulsion_ros.timing.dwell import Dwell, Held

_LOST_NS = 2_000_000_000  # if fixes are refused for so long, the estimate is wrong [ns]
_FEW = 3  # the mean of fewer fixes is too uncertain to refuse another
SEMI_MAJOR_AXIS = 6_378_137.0  # of the ellipsoid WGS 84 [m]
FLATTENING = 1.0 / 298.257223563  # of that ellipsoid
_E2 = FLATTENING * (2.0 - FLATTENING)  # squared eccentricity of that ellipsoid


class GnssAid:
    """Corrects a filter by fixes of a receiver, relative to the mean fix on the pad.

    East and north are fused or refused together, and the height separately; a fix with altitude
    NaN has no height. Correlations in a covariance are removed by its Cholesky factor.

    Parameters
    ----------
    params : EstimatorParams
        Noise, gates and times.
    filter_ : ErrorStateFilter
        The filter that is corrected.

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
        """Forget the pad and all fixes."""
        self.monitor.reset()
        self._forget()
        self._refused.reset()
        self._held.reset()

    def _forget(self) -> None:
        """Forget where the pad is."""
        self._off_pad_count = 0  # fixes off the pad in a row
        self._plane: TangentPlane | None = None
        self._origin: list[float] = []  # of the plane: latitude, longitude [deg], altitude [m]
        self._altitudes = 0  # number of altitudes in the mean of the origin
        self._fixes = 0  # number of fixes in that mean
        self._offset = (0.0, 0.0, 0.0)  # of the plane's origin from the pad: east, north, up [m]

    def check(self, stamp_ns: int, latitude: float, longitude: float, altitude: float) -> Status:
        """Return OK if a fix [deg], [deg], [m] may be fused, else the reason of its refusal."""
        values = (latitude, longitude, 0.0 if math.isnan(altitude) else altitude)
        status = self.monitor.arrive(stamp_ns, values)
        if status is not Status.OK:
            return status
        beyond = abs(latitude) > 90.0 or abs(longitude) > 180.0
        if beyond or math.isnan(sane(values[2])):
            self.monitor.refuse(Status.RANGE)
            return Status.RANGE
        return status

    def fuse(
        self, stamp_ns: int, age: float, fix: tuple[float, float, float],
        covariance: Sequence[float], *, has_height: bool, may_move: bool,
    ) -> None:
        """Correct the filter by a fix for which `check` returned OK.

        Parameters
        ----------
        stamp_ns : int
            Stamp of the fix [ns].
        age : float
            That stamp less the time of the filter [s].
        fix : tuple of float
            Latitude [deg], longitude [deg], altitude above the ellipsoid [m].
        covariance : sequence of float
            Of east, north, up, row by row [m^2]; if it is no covariance of nine numbers, the
            parameter's noise is assumed.
        has_height : bool
            Whether another sensor measures the height.
        may_move : bool
            Whether the fixes measure the pad, as the vehicle is on it and not armed.
        """
        estimated = self._estimated_place(age)
        known = 2 if math.isnan(fix[2]) else 3
        if may_move:
            if self._is_off_pad(fix):
                self._off_pad_count += 1
                self.monitor.refuse(Status.INNOVATION)
                if self._off_pad_count > READINGS:
                    self._forget()
                return
            self._off_pad_count = 0
            self._follow_pad(fix)
        elif self._plane is None or (known == 3 and not self._altitudes):
            self._anchor(fix, estimated)
        plane = self._plane
        if plane is None:
            return
        altitude = self._origin[2] + float(estimated[2]) if known == 2 else fix[2]
        measured = (np.array(plane.enu(fix[0], fix[1], altitude)) + self._offset)[:known]
        noise = self._noise_covariance(covariance, known)
        if self._is_held(stamp_ns, fix[:known], estimated, noise):
            self.monitor.refuse(Status.FROZEN)
            return
        is_level_fused = self._correct(age, measured[:2], noise[:2, :2], slice(0, 2))
        is_height_fused = known == 2 or self._correct(age, measured[2:], noise[2:, 2:], slice(2, 3))
        if is_level_fused and is_height_fused:
            self._refused.reset()
            self.monitor.use(stamp_ns)
        else:
            # The height of a fix may always be wrong: beside a barometer it is not believed.
            self._refuse(stamp_ns, measured - estimated[:known], 2 if has_height else known)

    def _correct(self, age: float, measured: FloatArray, noise: FloatArray, part: slice) -> bool:
        """Fuse east and north, or the height, within the gate; return whether they were fused."""
        state = self._filter
        now = self._estimated_place(age)
        rows = self._place_derivative(float(now[2]))[part]
        residual = measured - now[part]
        total = rows @ state.covariance @ rows.T + noise
        if not residual @ np.linalg.solve(total, residual) <= self._params.gate**2:
            return False
        whitener = np.linalg.inv(np.linalg.cholesky(noise))
        for weights in whitener:
            residual = measured - self._estimated_place(age)[part]
            state.correct(weights @ rows, float(weights @ residual), 1.0)
        return True

    def _estimated_place(self, age: float) -> FloatArray:
        """Return the estimated east, north, up of the receiver, in true height [m]."""
        state = self._filter
        now = np.array(state.position) + age * np.array(state.velocity)
        now[2] /= 1.0 + state.scale
        return now

    def _place_derivative(self, up: float) -> FloatArray:
        """Return the derivative of that place by the error of the filter, shape (3, 18)."""
        rows = np.zeros((3, SIZE))
        rows[range(3), range(POSITION, POSITION + 3)] = 1.0
        stretch = 1.0 + self._filter.scale
        rows[2, POSITION + 2], rows[2, SCALE] = 1.0 / stretch, -up / stretch
        return rows

    def _is_off_pad(self, fix: tuple[float, float, float]) -> bool:
        """Return whether a fix on the pad is far from the mean of those before."""
        if self._plane is None or self._fixes < _FEW:
            return False
        altitude = self._origin[2] if math.isnan(fix[2]) or not self._altitudes else fix[2]
        place = np.abs(self._plane.enu(fix[0], fix[1], altitude))
        return bool(np.any(place > 2.0 * self._params.gate * np.asarray(self._params.gnss_noise)))

    def _follow_pad(self, fix: tuple[float, float, float]) -> None:
        """Include a fix on the pad in the mean that is the origin of the plane."""
        latitude, longitude, altitude = fix
        if not self._fixes:
            # Where a fix in flight anchored the plane is not the pad.
            self._forget()
            self._origin = [latitude, longitude, 0.0]
        self._fixes = min(self._fixes + 1, READINGS)
        self._origin[0] += (latitude - self._origin[0]) / self._fixes
        # The shorter way round, also across the date line.
        turn = (longitude - self._origin[1] + 180.0) % 360.0 - 180.0
        self._origin[1] += turn / self._fixes
        if not math.isnan(altitude):
            self._altitudes = min(self._altitudes + 1, READINGS)
            self._origin[2] += (altitude - self._origin[2]) / self._altitudes
        self._plane = TangentPlane(*self._origin)

    def _anchor(self, fix: tuple[float, float, float], now: FloatArray) -> None:
        """Place the plane so that the first fix lies at the estimate, if none came on the pad."""
        latitude, longitude, altitude = fix
        has_altitude = not math.isnan(altitude)
        self._altitudes = int(has_altitude)
        self._origin = [latitude, longitude, altitude if has_altitude else 0.0]
        self._plane = TangentPlane(*self._origin)
        east, north, up = now.tolist()
        self._offset = (east, north, up)
        if not has_altitude:
            self._origin[2] -= up

    def _noise_covariance(self, covariance: Sequence[float], known: int) -> FloatArray:
        """Return the covariance of the known components: as stated, else as assumed [m^2]."""
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
        """Return whether a fix repeats itself although the estimate has moved."""
        if not self._held.repeats(stamp_ns, fix, now):
            return False
        moved = np.abs(now - self._held.then)[:len(fix)]
        return bool(np.any(moved > self._params.gate * np.sqrt(np.diagonal(noise))))

    def _refuse(self, stamp_ns: int, residual: FloatArray, believed: int) -> None:
        """Refuse a fix; after 2 s make the estimate uncertain in the believed components."""
        self.monitor.refuse(Status.INNOVATION)
        if self._refused.update(stamp_ns, True):
            for i, value in enumerate(residual[:believed].tolist()):
                self._filter.inflate(POSITION + i, value**2)
                self._filter.inflate(VELOCITY + i, (value * 1e9 / _LOST_NS) ** 2)
            self._refused.reset()


def ecef(latitude: float, longitude: float, altitude: float) -> Vector:
    """Return Earth-centred, Earth-fixed x, y, z [m] of a place (NIMA TR8350.2, 4.14).

    Parameters
    ----------
    latitude, longitude : float
        Geodetic latitude and longitude [deg].
    altitude : float
        Altitude above the ellipsoid [m].
    """
    phi, lam = math.radians(latitude), math.radians(longitude)
    sine = math.sin(phi)
    normal = SEMI_MAJOR_AXIS / math.sqrt(1.0 - _E2 * sine * sine)
    ring = (normal + altitude) * math.cos(phi)
    return ring * math.cos(lam), ring * math.sin(lam), (normal * (1.0 - _E2) + altitude) * sine


class TangentPlane:
    """Axes east, north, up with their origin at a reference point.

    Parameters
    ----------
    latitude, longitude : float
        Geodetic latitude and longitude of the reference [deg].
    altitude : float
        Its altitude above the ellipsoid [m].
    """

    def __init__(self, latitude: float, longitude: float, altitude: float) -> None:
        self._origin = ecef(latitude, longitude, altitude)
        phi, lam = math.radians(latitude), math.radians(longitude)
        self._latitude = math.sin(phi), math.cos(phi)
        self._longitude = math.sin(lam), math.cos(lam)

    def enu(self, latitude: float, longitude: float, altitude: float) -> Vector:
        """Return east, north, up [m] of a geodetic position [deg], [deg], [m]."""
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
