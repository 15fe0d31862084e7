# SPDX-License-Identifier: Apache-2.0
"""The flown estimator behind the interface of `Estimator`."""
from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from propulsion_ros.flight.estimation.barometer import PRESSURE_RANGE
from propulsion_ros.flight.estimation.mounting import Mounting
from propulsion_ros.flight.estimation.params import EstimatorParams
from propulsion_ros.flight.estimation.state import UNKNOWN, EstimatorState, Mode, Stage
from propulsion_ros.flight.legacy.estimator_fsm import LegacyEstimator, LegacyInput, LegacyState
from propulsion_ros.models.common.atmosphere import altitude_of_pressure
from propulsion_ros.models.common.rotation import Quaternion
from propulsion_ros.settings.quantity import FloatArray

_GRAVITY = 9.81
_LARGEST = 1e4  # what no sensor reads would overflow the flown arithmetic
_HIGHEST = 1e6  # [m]
_MODES = {
    LegacyState.NOMINAL: Mode.FULL, LegacyState.PARTIAL_NO_MAG: Mode.FULL,
    LegacyState.PARTIAL_NO_GPS: Mode.FULL, LegacyState.PARTIAL_NO_BARO: Mode.GNSS_INERTIAL,
    LegacyState.PARTIAL_NO_GPS_NO_BARO: Mode.INERTIAL_ONLY,
    LegacyState.PARTIAL_NO_IMU_NO_GPS: Mode.BARO_ONLY,
    LegacyState.PARTIAL_NO_IMU_NO_BARO: Mode.GNSS_ONLY,
}


class LegacyFeed:
    """Feeds the flown estimator from messages; one inertial sample is one cycle.

    A sensor counts as failed until its first message. What came last is used in every cycle, as
    flown, whether it is new or not. The first pressure on the pad is home.

    Parameters
    ----------
    params : EstimatorParams
        Only the two betas are used.
    mounting : Mounting
        Of the inertial sensor and of the magnetometer.
    """

    def __init__(self, params: EstimatorParams, mounting: Mounting) -> None:
        self._params = params
        self._mounting = mounting
        self.reset()

    def reset(self) -> None:
        """Forget the flight."""
        self._estimator = LegacyEstimator(self._params.legacy_beta)
        self._estimator.failed = {'IMU', 'GPS', 'BARO', 'MAG'}
        self._first_ns: int | None = None
        self._newest_ns: int | None = None
        self._rate = UNKNOWN
        self._altitude = 0.0
        self._field = (0.0, 0.0, 0.0)
        self._place = (0.0, 0.0, 0.0)
        self._has_fix = False
        self._has_home = False
        self.stage = Stage.PAD

    def set_stage(
        self, stage: Stage, *, is_armed: bool = False, may_repeat: bool = False
    ) -> None:
        """Say what the vehicle does; back on the pad a new flight begins."""
        if stage is Stage.PAD and self.stage is not Stage.PAD:
            self.reset()
        self.stage = stage
        # Thrust and drag point along the body, whichever way gravity does.
        flies = stage in (Stage.BOOST, Stage.COAST)
        self._estimator.orientation.beta = (
            self._params.legacy_beta_flight if flies else self._params.legacy_beta
        )

    def imu(
        self, stamp_ns: int, angular_velocity: Sequence[float], specific_force: Sequence[float]
    ) -> None:
        """Take an inertial sample and run a cycle; see `Estimator.imu`."""
        if self._first_ns is None:
            self._first_ns = stamp_ns - 10_000_000
        if self._newest_ns is not None and stamp_ns <= self._newest_ns:
            return
        if not all(abs(value) < _LARGEST for value in (*angular_velocity, *specific_force)):
            return
        self._newest_ns = stamp_ns
        estimator = self._estimator
        estimator.failed.discard('IMU')
        self._rate = self._mounting.to_body(angular_velocity)
        p, q, r = (math.degrees(value) for value in self._rate)
        x, y, z = (value / _GRAVITY for value in self._mounting.to_body(specific_force))
        a, b, c = self._field
        # Forward left up to forward right down.
        sensors = LegacyInput(
            (p, -q, -r), (x, -y, -z), (a, -b, -c), self._altitude, self._place,
            has_fix=self._has_fix,
        )
        self._has_fix = False
        if not self._has_home and 'BARO' not in estimator.failed:
            estimator.set_home(sensors)
            self._has_home = True
        estimator.update((stamp_ns - self._first_ns) // 1000, sensors)

    def pressure(self, stamp_ns: int, pascal: float, variance: float = 0.0) -> None:
        """Take a static pressure [Pa]."""
        if PRESSURE_RANGE[0] < pascal < PRESSURE_RANGE[1]:
            self._altitude = float(altitude_of_pressure(pascal))
            self._estimator.failed.discard('BARO')

    def magnetic_field(self, stamp_ns: int, tesla: Sequence[float]) -> None:
        """Take a magnetic field [T]."""
        if all(abs(value) < 1.0 for value in tesla):
            self._field = self._mounting.to_body(tesla)
            self._estimator.failed.discard('MAG')

    def fix(
        self, stamp_ns: int, latitude: float, longitude: float, altitude: float,
        position_covariance: Sequence[float] = (),
    ) -> None:
        """Take a fix: degrees and metres. It has no velocity, and so is fused as standing still.

        One without altitude is not taken.
        """
        if abs(latitude) <= 90.0 and abs(longitude) <= 180.0 and abs(altitude) < _HIGHEST:
            self._place = (latitude, longitude, altitude * 1e3)
            self._has_fix = True
            self._estimator.failed.discard('GPS')

    def state(self, stamp_ns: int) -> EstimatorState:
        """Return the estimate of the latest cycle, whatever the stamp."""
        estimator = self._estimator
        north, east, down = estimator.position
        vn, ve, vd = estimator.velocity
        an, ae, ad = estimator.acceleration
        p, q, r = self._rate
        known = estimator.is_oriented
        return EstimatorState(
            stamp_ns=stamp_ns,
            position=(east, north, -down),
            velocity=(ve, vn, -vd),
            acceleration=(ae, an, -ad) if known else UNKNOWN,
            attitude=_to_enu(estimator.orientation.attitude) if known else (math.nan,) * 4,
            angular_velocity=(p, q, r),
            pose_covariance=self._covariance(0),
            twist_covariance=self._covariance(1),
            mode=_MODES.get(estimator.state, Mode.NO_SENSOR),
            flags=frozenset([f'legacy_{estimator.state.name.lower()}'] * estimator.has_error),
        )

    def _covariance(self, order: int) -> FloatArray:
        """Return the covariance of position or velocity; the flown attitude has none."""
        covariance = np.zeros((6, 6))
        rows = [3 + order, order, 6 + order]
        signs = np.array([1.0, 1.0, -1.0])
        block = self._estimator.localization.covariance[np.ix_(rows, rows)]
        covariance[:3, :3] = block * np.outer(signs, signs)
        return covariance


def _to_enu(attitude: Quaternion) -> Quaternion:
    """Return x, y, z, w, forward left up to east north up, of w, x, y, z in flown axes."""
    w, x, y, z = attitude
    size = math.sqrt(w * w + x * x + y * y + z * z) * math.sqrt(2.0)
    # Half a turn about (1, 1, 0) outside, half a turn about x inside.
    return (y + x) / size, (x - y) / size, (w - z) / size, (w + z) / size
