# SPDX-License-Identifier: Apache-2.0
"""The estimator of Pickle Rick, as flown: which filter is fed by what, and the state it reports."""
from __future__ import annotations

import math
from dataclasses import dataclass
from enum import IntEnum

from propulsion_ros.flight.legacy.localization import LegacyLocalization
from propulsion_ros.flight.legacy.madgwick import Madgwick

_SHORTEST_STEP_US = 2000
_GRAVITY = 9.81
_PI = 3.1415  # of the flown tilt
_DEGREE = 0.0174533

Vector = tuple[float, float, float]


class LegacyState(IntEnum):
    """States of the flown estimator, by their numbers."""

    NOMINAL = 0
    PARTIAL_NO_IMU = 1  # never entered
    PARTIAL_NO_IMU_NO_GPS = 2
    PARTIAL_NO_IMU_NO_BARO = 3
    PARTIAL_NO_MAG = 4
    PARTIAL_NO_GPS = 5
    PARTIAL_NO_GPS_NO_BARO = 6
    PARTIAL_NO_BARO = 7
    NO_HOME = 8
    NOSOLUTION = 9


@dataclass(frozen=True)
class LegacyInput:
    """What the flown sensors read in one cycle.

    Attributes
    ----------
    rate : tuple of float
        [deg/s].
    force, field : tuple of float
        [g], any unit.
    altitude : float
        Of the barometer [m].
    place : tuple of float
        Latitude [deg], longitude [deg], altitude [mm].
    speed : tuple of float
        North, east, down [mm/s].
    has_fix : bool
        Whether the receiver has a new fix.
    """

    rate: Vector
    force: Vector
    field: Vector
    altitude: float
    place: Vector = (0.0, 0.0, 0.0)
    speed: Vector = (0.0, 0.0, 0.0)
    has_fix: bool = False


class LegacyEstimator:
    """Madgwick filter and localisation filter behind the flown state machine.

    The faults are flags that set-up raises; no sensor that fails in flight is found. Kept as
    flown: without the inertial sensor alone the state is nominal and says nothing, without home
    there is no position, with the magnetometer and another sensor failed two changes of state
    are written to the log in every cycle.

    Parameters
    ----------
    beta : float
        Correction of the Madgwick filter [rad/s].

    Attributes
    ----------
    failed : set of str
        Of 'IMU', 'GPS', 'BARO', 'MAG'.
    state : LegacyState
        As reported.
    has_error : bool
        Flag of the estimator.
    orientation : Madgwick
        The attitude filter.
    localization : LegacyLocalization
        The filter of position and velocity.
    angles : tuple of float
        Roll, pitch, yaw [rad].
    tilt : float
        [rad], in the flown formula.
    rocket : tuple of float
        Quaternion w, x, y, z of the rocket, a quarter turn about y from the board; zero before.
    position, velocity, acceleration : tuple of float
        North, east, down, as reported.
    changes : int
        Changes of state in the latest cycle.
    """

    def __init__(self, beta: float = 0.5) -> None:
        self.orientation = Madgwick(beta, flown=True)
        self.localization = LegacyLocalization()
        self.failed: set[str] = set()
        self.state = LegacyState.NOMINAL
        self.has_error = False
        self.angles: Vector = (0.0, 0.0, 0.0)
        self.tilt = 0.0
        self.rocket = (0.0, 0.0, 0.0, 0.0)
        self.position: Vector = (0.0, 0.0, 0.0)
        self.velocity: Vector = (0.0, 0.0, 0.0)
        self.acceleration: Vector = (0.0, 0.0, 0.0)
        self.changes = 0
        self.is_oriented = False
        self._last_us = 0
        self._home_altitude: float | None = None

    def set_home(self, sensors: LegacyInput) -> None:
        """Take this place as the origin."""
        self._home_altitude = sensors.altitude
        self.localization.set_reference(*sensors.place)

    def update(self, time_us: int, sensors: LegacyInput) -> None:
        """Run one cycle; one sooner than 2 ms after the last does nothing."""
        self.changes = 0
        if time_us - self._last_us <= _SHORTEST_STEP_US:
            return
        dt = (time_us - self._last_us) * 1e-6
        self._last_us = time_us
        failed = self.failed
        if {'IMU', 'GPS', 'BARO'} <= failed:
            self._enter(LegacyState.NOSOLUTION)
            return
        linear = self._orient(dt, sensors)
        if self._home_altitude is None:
            self._enter(LegacyState.NO_HOME)
            return
        for state in self._visited():
            self._enter(state)
        if self.state is LegacyState.PARTIAL_NO_IMU_NO_BARO:
            self._take_fix(sensors)
            return
        self._localize(dt, sensors, linear, self._home_altitude)

    def _orient(self, dt: float, sensors: LegacyInput) -> Vector | None:
        """Advance the attitude; return the acceleration net of gravity, None without one."""
        if 'IMU' in self.failed:
            return None
        p, q, r = (value * _DEGREE for value in sensors.rate)
        field = (0.0, 0.0, 0.0) if 'MAG' in self.failed else sensors.field
        self.orientation.update(dt, (p, q, r), sensors.force, field)
        self.is_oriented = True
        w, x, y, z = self.orientation.attitude
        pitch = math.asin(max(-1.0, min(1.0, 2.0 * (w * y - x * z))))
        yaw = math.atan2(w * z + x * y, 0.5 - y * y - z * z)
        self.angles = (math.atan2(w * x + y * z, 0.5 - x * x - y * y), pitch, yaw)
        self.tilt = math.acos(math.cos(pitch - _PI / 2.0) * math.cos(yaw))
        size = math.sqrt(w * w + x * x + y * y + z * z)
        w, x, y, z = w / size, x / size, y / size, z / size
        root = math.sqrt(0.5)
        self.rocket = (root * (w - y), root * (x - z), root * (w + y), root * (x + z))
        a, b, c = sensors.force
        north = (1 - 2 * (y * y + z * z)) * a + 2 * (x * y - w * z) * b + 2 * (x * z + w * y) * c
        east = 2 * (x * y + w * z) * a + (1 - 2 * (x * x + z * z)) * b + 2 * (y * z - w * x) * c
        down = 2 * (x * z - w * y) * a + 2 * (y * z + w * x) * b + (1 - 2 * (x * x + y * y)) * c
        return north * _GRAVITY, east * _GRAVITY, (down + 1.0) * _GRAVITY

    def _visited(self) -> list[LegacyState]:
        """Return the states that one cycle passes through, in order."""
        failed = self.failed
        if 'IMU' in failed:
            if 'GPS' in failed:
                return [LegacyState.PARTIAL_NO_IMU_NO_GPS]
            if 'BARO' in failed:
                return [LegacyState.PARTIAL_NO_IMU_NO_BARO]
            return [LegacyState.NOMINAL]
        states = [LegacyState.PARTIAL_NO_MAG] if 'MAG' in failed else []
        if 'GPS' in failed and 'BARO' in failed:
            return [*states, LegacyState.PARTIAL_NO_GPS_NO_BARO]
        if 'GPS' in failed:
            return [*states, LegacyState.PARTIAL_NO_GPS]
        if 'BARO' in failed:
            return [*states, LegacyState.PARTIAL_NO_BARO]
        return states or [LegacyState.NOMINAL]

    def _localize(
        self, dt: float, sensors: LegacyInput, linear: Vector | None, home: float
    ) -> None:
        """Correct first and predict last, as flown."""
        filter_, failed = self.localization, self.failed
        if linear is not None:
            filter_.accelerometer(linear)
        if 'GPS' not in failed and sensors.has_fix:
            filter_.fix(*sensors.place, sensors.speed)
        if 'BARO' not in failed:
            filter_.barometer(sensors.altitude - home)
        filter_.predict(dt)
        self.position, self.velocity = filter_.position, filter_.velocity
        self.acceleration = filter_.acceleration

    def _take_fix(self, sensors: LegacyInput) -> None:
        """Report what the receiver says, unfiltered."""
        self.position = self.localization.to_ned(*sensors.place)
        north, east, down = (value * 1e-3 for value in sensors.speed)
        self.velocity = (north, east, down)

    def _enter(self, state: LegacyState) -> None:
        if state is not self.state:
            self.state = state
            self.changes += 1
        self.has_error = state is not LegacyState.NOMINAL
