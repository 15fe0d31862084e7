# SPDX-License-Identifier: Apache-2.0
"""What sensors make of a motion: streams of readings, and an odometry as a filter makes it."""
from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY as G
from propulsion_ros.models.common.atmosphere import temperature_and_pressure
from propulsion_ros.settings.quantity import FloatArray
from propulsion_ros.study.draws import LOG, Range, Rng
from propulsion_ros.study.ground.motion import STEP, Motion

SITE = (47.0, 11.0, 120.0)
"""Latitude and longitude [deg], and altitude [m] of the pad."""
PRESSURE, IMU, FIX, ODOMETRY = 'pressure', 'imu', 'fix', 'odometry'

SENSORS: Mapping[str, Range] = {
    # With which drivers publish [Hz].
    'baro_rate': [10.0, 20.0, 25.0, 50.0, 100.0],
    'imu_rate': [50.0, 100.0, 200.0],
    'fix_rate': [1.0, 5.0, 10.0],
    # MS5607: 2.4 Pa at an oversampling of 4096, 13 Pa at 256; BMP388: 0.3 to 3 Pa. 12 Pa a metre.
    'baro_noise': (0.03, 1.1, LOG),
    # Drivers that publish hPa with one decimal have 10 Pa; a BMP388 0.016 to 2.6 Pa [m].
    'baro_step': [0.0, 0.01, 0.2, 0.85],
    # ICM-20948: 230 ug/sqrt(Hz), so 0.02 m/s^2 at 100 Hz; 50 mg of offset, 1 % of scale.
    'imu_noise': (0.02, 0.15, LOG),
    'imu_offset': (-0.5, 0.5),
    'imu_scale': (0.99, 1.01),
    # ICM-20948: 0.015 deg/s/sqrt(Hz); 5 deg/s of offset before it is calibrated.
    'gyro_noise': (0.002, 0.02, LOG),
    'gyro_offset': (-0.05, 0.05),
    # u-blox M8 and M9: 2.5 m horizontally, about twice that upward, alike for a minute.
    'fix_error': (2.0, 6.0),
    # How long a message is under way [s].
    'delay': (0.0005, 0.02, LOG),
    # Of the odometry's filter: how long it takes to follow the barometer [s].
    'filter_time': (0.5, 2.0),
}
"""Ranges of what is drawn of the sensors."""
IMU_RANGE = 16.0 * G
_OFFSET = np.array([0.5, 0.5, 0.7])  # a direction
_GYRO_RANGE = math.radians(2000.0)
_FIX_ALIKE = 60.0  # [s]


@dataclass(frozen=True)
class Stream:
    """Readings of a source, in the order in which they come.

    Attributes
    ----------
    stamp, arrival : array (n,)
        When it was measured, by the sensor's clock, and when it comes [s].
    values : array (n, k)
        pressure: altitude above the pad [m]; imu: force and rate [m/s^2], [rad/s]; fix: altitude
        [m]; odometry: height and speed [m], [m/s].
    """

    stamp: FloatArray
    arrival: FloatArray
    values: FloatArray

    def kept(self, rows: Any) -> Stream:
        """Return some of its rows."""
        return Stream(self.stamp[rows], self.arrival[rows], self.values[rows])

    def with_values(self, values: FloatArray) -> Stream:
        """Return it with other values."""
        return replace(self, values=values)

    @property
    def pascal(self) -> FloatArray:
        """Pressures of a barometer (n,) [Pa]."""
        return np.asarray(temperature_and_pressure(self.values[:, 0] + SITE[2])[1])


Streams = Mapping[str, Stream]


def measure(motion: Motion, rng: Rng, kit: Mapping[str, Any]) -> dict[str, Stream]:
    """Return what barometer, inertial sensor and GNSS measure of a motion.

    Parameters
    ----------
    motion : Motion
        The truth.
    rng : numpy.random.Generator
        Of the noise.
    kit : mapping
        Values of `SENSORS`.
    """
    def times(rate: float) -> FloatArray:
        return np.arange(rng.uniform(0.0, 1.0 / rate), motion.end, 1.0 / rate)

    def at(time: FloatArray, column: FloatArray) -> FloatArray:
        # Rows are even, so that the nearest one is found at once.
        rows: FloatArray = column[np.minimum((time / STEP).astype(int), len(column) - 1)]
        return rows

    def stream(time: FloatArray, values: FloatArray) -> Stream:
        return Stream(time, time + kit['delay'], values)

    time = times(kit['baro_rate'])
    altitude = np.interp(time, motion.time, motion.height + motion.port)
    altitude = _stepped(altitude + rng.normal(0.0, kit['baro_noise'], len(time)), kit['baro_step'])
    found = {PRESSURE: stream(time, altitude[:, None])}
    time = times(kit['imu_rate'])
    force = kit['imu_scale'] * at(time, motion.force) + kit['imu_offset'] * _OFFSET
    force = force + rng.normal(0.0, kit['imu_noise'], force.shape)
    rate = at(time, motion.rate) + kit['gyro_offset']
    rate = rate + rng.normal(0.0, kit['gyro_noise'], rate.shape)
    # A digit is the 32768th part of the range.
    found[IMU] = stream(time, np.concatenate([
        _digits(force, IMU_RANGE), _digits(rate, _GYRO_RANGE),
    ], axis=1))
    time = times(kit['fix_rate'])
    stay = math.exp(-1.0 / (kit['fix_rate'] * _FIX_ALIKE))
    from scipy.signal import lfilter

    noise = rng.normal(0.0, kit['fix_error'] * math.sqrt(1.0 - stay * stay), len(time))
    noise[:1] = rng.normal(0.0, kit['fix_error'])
    slow = np.asarray(lfilter([1.0], [1.0, -stay], noise))
    height = np.interp(time, motion.time, motion.height) + slow + rng.normal(0.0, 0.2, len(time))
    found[FIX] = stream(time, height[:, None])
    return found


def _stepped(values: FloatArray, step: float) -> FloatArray:
    return np.round(values / step) * step if step else values


def _digits(values: FloatArray, limit: float) -> FloatArray:
    return np.clip(_stepped(values, limit / 32768.0), -limit, limit)


def odometry_of(streams: Streams, motion: Motion, kit: Mapping[str, Any]) -> Stream:
    """Return an odometry as a simple filter makes it of barometer and inertial sensor.

    Two states, height and speed, with constant gains (those of a critically damped filter of
    ``filter_time``); the attitude is known. It trusts whatever comes.
    """
    imu, baro = streams[IMU], streams[PRESSURE]
    if not len(imu.arrival):
        return Stream(imu.stamp, imu.arrival, np.zeros((0, 2)))
    rows = np.minimum((imu.stamp / STEP).astype(int), len(motion.time) - 1)
    # The vertical in body axes is where a sensor without errors would feel the motion's force.
    true, up = motion.force[rows], np.gradient(motion.speed, motion.time)[rows] + G
    size = np.maximum(np.linalg.norm(true, axis=1), 0.1)
    axis = true / size[:, None]
    lift = ((imu.values[:, :3] * axis).sum(axis=1) - size) + up - G
    gain = 1.0 / kit['filter_time']
    first, second = 2.0 * gain, gain * gain
    height, speed, before = float(baro.values[0, 0]) if len(baro.stamp) else 0.0, 0.0, math.nan
    measured, seen, k = height, -math.inf, 0
    arrivals, altitudes = baro.arrival.tolist(), baro.values[:, 0].tolist()
    found = []
    for now, push in zip(imu.arrival.tolist(), lift.tolist(), strict=True):
        while k < len(arrivals) and arrivals[k] <= now:
            measured, seen = altitudes[k], arrivals[k]
            k += 1
        step = min(now - before, 0.1) if before == before else 0.0
        before = now
        error = measured - height if now - seen < 0.3 else 0.0
        height += (speed + first * error) * step
        speed += (push + second * error) * step
        found.append((height, speed))
    every = max(round(kit['imu_rate'] / 50.0), 1)
    return Stream(imu.stamp, imu.arrival, np.array(found)).kept(slice(None, None, every))
