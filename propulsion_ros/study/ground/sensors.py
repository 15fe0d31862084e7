# SPDX-License-Identifier: Apache-2.0
"""Measures a motion: streams of sensor readings, an odometry, and the faults of each."""
from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY as G
from propulsion_ros.models.common.atmosphere import temperature_and_pressure
from propulsion_ros.settings.quantity import FloatArray
from propulsion_ros.study.draws import LOG, Range, Rng
from propulsion_ros.study.ground.motion import STEP, Motion, wandering

SITE = (47.0, 11.0, 120.0)
"""Latitude and longitude [deg], and altitude [m] of the pad."""
PRESSURE, IMU, FIX, ODOMETRY = 'pressure', 'imu', 'fix', 'odometry'

SENSORS: Mapping[str, Range] = {
    # Rates of drivers [Hz].
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
    # u-blox M8 and M9: 2.5 m horizontally, about twice that upward, correlated over a minute.
    'fix_error': (2.0, 6.0),
    # Time constant of the filter in a receiver, which lags only while the speed changes [s].
    'fix_time': (0.05, 1.0, LOG),
    # Latency of a message [s].
    'delay': (0.0005, 0.02, LOG),
    # Time constant with which the odometry's filter follows the barometer [s].
    'filter_time': (0.5, 2.0),
}
"""Ranges of the drawn properties of sensors."""
IMU_RANGE = 16.0 * G  # [m/s^2]
_OFFSET = np.array([0.5, 0.5, 0.7])  # direction of the offset of the accelerometer
_GYRO_RANGE = math.radians(2000.0)  # [rad/s]
_FIX_ALIKE = 60.0  # correlation time of the altitude of a fix [s]
Drawn = Mapping[str, Any]
_HEIGHTS = (PRESSURE, FIX, ODOMETRY)
_ALL = (PRESSURE, IMU, FIX, ODOMETRY)


@dataclass(frozen=True)
class Stream:
    """Readings of a source, in the order in which they come.

    Attributes
    ----------
    stamp, arrival : array (n,)
        Time of measurement by the sensor's clock, and time of arrival [s].
    values : array (n, k)
        pressure: altitude above the pad [m]; imu: force and rate [m/s^2], [rad/s]; fix: altitude
        [m]; odometry: height and speed [m], [m/s].
    """

    stamp: FloatArray
    arrival: FloatArray
    values: FloatArray

    def kept(self, rows: Any) -> Stream:
        """Return the stream with some of its rows."""
        return Stream(self.stamp[rows], self.arrival[rows], self.values[rows])

    def with_values(self, places: Any, values: FloatArray | float) -> Stream:
        """Return the stream with other values at some places."""
        changed = self.values.copy()
        changed[places] = values
        return replace(self, values=changed)

    @property
    def pascal(self) -> FloatArray:
        """Pressures of a barometer (n,) [Pa]."""
        return np.asarray(temperature_and_pressure(self.values[:, 0] + SITE[2])[1])


Streams = Mapping[str, Stream]


def measure(motion: Motion, rng: Rng, kit: Mapping[str, Any]) -> dict[str, Stream]:
    """Return the readings of barometer, inertial sensor and GNSS for a motion."""
    def times(rate: float) -> FloatArray:
        return np.arange(rng.uniform(0.0, 1.0 / rate), motion.end, 1.0 / rate)

    def at(time: FloatArray, column: FloatArray) -> FloatArray:
        # Rows are evenly spaced, so that no search is needed.
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
    # The resolution is the 32768th part of the range.
    found[IMU] = stream(time, np.concatenate([
        _quantised(force, IMU_RANGE), _quantised(rate, _GYRO_RANGE),
    ], axis=1))
    time = times(kit['fix_rate'])
    slow = wandering(rng, kit['fix_error'], 1.0 / (kit['fix_rate'] * _FIX_ALIKE), len(time))
    height = at(time, _followed(motion.height, kit['fix_time']))
    height = height + slow + rng.normal(0.0, 0.2, len(time))
    found[FIX] = stream(time, height[:, None])
    return found


def _followed(height: FloatArray, seconds: float) -> FloatArray:
    """Return a height (n,) as a critically damped filter of height and speed follows it."""
    from scipy.signal import bilinear, lfilter, lfilter_zi

    filter_ = bilinear([2.0 * seconds, 1.0], [seconds * seconds, 2.0 * seconds, 1.0], 1.0 / STEP)
    found, _ = lfilter(*filter_, height, zi=lfilter_zi(*filter_) * height[0])
    return np.asarray(found)


def _stepped(values: FloatArray, step: float) -> FloatArray:
    return np.round(values / step) * step if step else values


def _quantised(values: FloatArray, limit: float) -> FloatArray:
    return np.clip(_stepped(values, limit / 32768.0), -limit, limit)


def odometry_of(streams: Streams, motion: Motion, kit: Mapping[str, Any]) -> Stream:
    """Return the odometry of a simple filter of barometer and inertial sensor.

    It has two states, height and speed, with constant gains (those of a critically damped filter of
    ``filter_time``). The attitude is known, and no reading is rejected.
    """
    imu, baro = streams[IMU], streams[PRESSURE]
    if not len(imu.arrival):
        return Stream(imu.stamp, imu.arrival, np.zeros((0, 2)))
    rows = np.minimum((imu.stamp / STEP).astype(int), len(motion.time) - 1)
    # The vertical in body axes is the direction of the true specific force.
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


@dataclass(frozen=True)
class Fault:
    """One kind of fault.

    Attributes
    ----------
    spoil : callable
        ``spoil(rng, stream, at, drawn)`` returns the stream with the fault, which begins at ``at``.
    """

    sources: tuple[str, ...]
    spoil: Callable[[Rng, Stream, float, Drawn], Stream]
    vary: Mapping[str, Range]


def _since(stream: Stream, at: float, length: float = math.inf) -> FloatArray:
    """Return the time since the begin of a fault (n,) [s], NaN before it and after its end."""
    since = stream.arrival - at
    return np.where((since >= 0.0) & (since < length), since, np.nan)


def _moved(stream: Stream, by: FloatArray) -> Stream:
    """Return the stream with its height moved, (n,) [m]; NaN moves nothing."""
    return stream.with_values(np.s_[:, 0], stream.values[:, 0] + np.nan_to_num(by))


def _step(rng: Rng, stream: Stream, at: float, drawn: Drawn) -> Stream:
    return _moved(stream, np.where(np.isfinite(_since(stream, at)), drawn['size'], 0.0))


def _ramp(rng: Rng, stream: Stream, at: float, drawn: Drawn) -> Stream:
    since = stream.arrival - at
    return _moved(stream, drawn['slope'] * np.clip(since, 0.0, drawn['length']))


def _pulse(rng: Rng, stream: Stream, at: float, drawn: Drawn) -> Stream:
    return _moved(stream, drawn['size'] + 0.0 * _since(stream, at, drawn['length']))


def _oscillation(rng: Rng, stream: Stream, at: float, drawn: Drawn) -> Stream:
    return _moved(stream, drawn['size'] * np.sin(
        math.tau * _since(stream, at) / drawn['period']
    ))


def _settling(rng: Rng, stream: Stream, at: float, drawn: Drawn) -> Stream:
    return _moved(stream, drawn['size'] * np.exp(-stream.arrival / drawn['period']))


def _held(stream: Stream, rows: FloatArray, noise: FloatArray | float = 0.0) -> Stream:
    """Return the stream with some rows held at the value before the first of them."""
    at = np.flatnonzero(rows)
    if not len(at):
        return stream
    return stream.with_values(rows, stream.values[max(at[0] - 1, 0)] + noise)


def _stuck(rng: Rng, stream: Stream, at: float, drawn: Drawn) -> Stream:
    return _held(stream, np.isfinite(_since(stream, at, drawn['length'])))


def _blocked(rng: Rng, stream: Stream, at: float, drawn: Drawn) -> Stream:
    rows = np.isfinite(_since(stream, at, drawn['length']))
    return _held(stream, rows, rng.normal(0.0, 0.1, (int(rows.sum()), 1)))


def _silent(rng: Rng, stream: Stream, at: float, drawn: Drawn) -> Stream:
    return stream.kept(~np.isfinite(_since(stream, at, drawn['length'])))


def _patchy(rng: Rng, stream: Stream, at: float, drawn: Drawn) -> Stream:
    since = stream.arrival - at - drawn['first']
    lost = (stream.arrival >= at) & ((since < 0.0) | (
        np.mod(since, drawn['on'] + drawn['off']) >= drawn['on']
    ))
    return stream.kept(~lost)


def _noisy(rng: Rng, stream: Stream, at: float, drawn: Drawn) -> Stream:
    rows = np.isfinite(_since(stream, at, drawn['length']))
    values = stream.values[rows]
    return stream.with_values(rows, values + rng.normal(0.0, drawn['size'], values.shape))


def _spikes(rng: Rng, stream: Stream, at: float, drawn: Drawn) -> Stream:
    rows = np.isfinite(_since(stream, at)) & (rng.random(len(stream.stamp)) < drawn['share'])
    size = rng.choice([-1.0, 1.0], int(rows.sum())) * drawn['size']
    return stream.with_values((rows, 0), stream.values[rows, 0] + size)


def _shows(rng: Rng, stream: Stream, at: float, drawn: Drawn) -> Stream:
    """Return an inertial sensor that measures a given force along body z, with noise."""
    rows = np.isfinite(_since(stream, at, drawn['length']))
    force = drawn['force'] + rng.normal(0.0, 0.05, int(rows.sum()))
    return stream.with_values((rows, 2), force)


def _zeros_after(rng: Rng, stream: Stream, at: float, drawn: Drawn) -> Stream:
    stream = _shows(rng, stream, at, drawn)
    rows = stream.arrival >= at + drawn['length']
    return stream.with_values(rows, rng.normal(0.0, 0.02, stream.values[rows].shape))


def _swapped(rng: Rng, stream: Stream, at: float, drawn: Drawn) -> Stream:
    places = stream.arrival >= at, slice(3)
    turned = np.roll(stream.values[places], int(drawn['turns']), axis=1)
    return stream.with_values(places, turned * drawn['sign'])


def _late(rng: Rng, stream: Stream, at: float, drawn: Drawn) -> Stream:
    """Return a stream that queues for a while, and then arrives all at once."""
    end = at + drawn['length']
    waits = (stream.arrival >= at) & (stream.arrival < end)
    return Stream(stream.stamp, np.where(waits, end, stream.arrival), stream.values)


def _clock(rng: Rng, stream: Stream, at: float, drawn: Drawn) -> Stream:
    moved = np.where(stream.arrival >= at, drawn['size'], 0.0)
    return Stream(stream.stamp + moved, stream.arrival, stream.values)


def _brownout(rng: Rng, stream: Stream, at: float, drawn: Drawn) -> Stream:
    """Return a sensor that is off for a while, and settles when it is on again."""
    back = at + drawn['length']
    stream = stream.kept((stream.arrival < at) | (stream.arrival >= back))
    since = stream.arrival - back
    rows = since >= 0.0
    settling = drawn['size'] * np.exp(-since[rows] / 0.5)
    return stream.with_values((rows, 0), stream.values[rows, 0] + settling)


def _interleaved(rng: Rng, stream: Stream, at: float, drawn: Drawn) -> Stream:
    """Return the stream interleaved with that of a second sensor, which is stuck at the pad."""
    step = float(np.median(np.diff(stream.stamp)))
    other = Stream(
        stream.stamp + 0.5 * step, stream.arrival + 0.5 * step,
        np.tile(stream.values[:1], (len(stream.stamp), 1)),
    )
    rows = np.argsort(np.concatenate([stream.arrival, other.arrival]), kind='stable')
    return Stream(*(
        np.concatenate([getattr(stream, name), getattr(other, name)])[rows]
        for name in ('stamp', 'arrival', 'values')
    ))


def _speed_stuck(rng: Rng, stream: Stream, at: float, drawn: Drawn) -> Stream:
    return stream.with_values((stream.arrival >= at, 1), drawn['size'])


def _drift(rng: Rng, stream: Stream, at: float, drawn: Drawn) -> Stream:
    """Return an odometry whose height drifts while its speed does not."""
    since = np.clip((stream.arrival - at) / drawn['length'], 0.0, 1.0)
    return _moved(stream, drawn['size'] * since)


def _fault(
    sources: tuple[str, ...], spoil: Callable[[Rng, Stream, float, Drawn], Stream], **vary: Range
) -> Fault:
    return Fault(sources, spoil, vary)


_INF = math.inf
FAULTS: Mapping[str, Fault] = {
    # A bit of a bus that flips, a cover that is taken off, a port that a hand covers.
    'glitch': _fault(
        _HEIGHTS, _pulse, size=[-3000.0, -300.0, -30.0, 30.0, 300.0, 3000.0],
        length=(0.01, 0.5, LOG),
    ),
    'spikes': _fault(_HEIGHTS, _spikes, size=(20.0, 5000.0, LOG), share=(0.001, 0.1, LOG)),
    'step': _fault(_HEIGHTS, _step, size=[-100.0, -30.0, 15.0, 30.0, 60.0, 200.0]),
    'ramp': _fault(_HEIGHTS, _ramp, slope=(-20.0, 20.0), length=(3.0, 30.0)),
    'oscillation': _fault(
        _HEIGHTS, _oscillation, size=(2.0, 100.0, LOG), period=(0.5, 20.0, LOG)
    ),
    'settling': _fault(_HEIGHTS, _settling, size=(-50.0, 50.0), period=(2.0, 15.0, LOG)),
    'pulse': _fault(_HEIGHTS, _pulse, size=(-200.0, 200.0), length=(0.5, 20.0, LOG)),
    'noisy': _fault(_ALL, _noisy, size=(1.0, 20.0, LOG), length=(1.0, 300.0, LOG)),
    'stuck': _fault(_ALL, _stuck, length=[1.0, 5.0, 30.0, _INF]),
    'blocked': _fault((PRESSURE,), _blocked, length=[5.0, 30.0, _INF]),
    'silent': _fault(_ALL, _silent, length=[0.3, 2.0, 10.0, _INF]),
    'patchy': _fault(_ALL, _patchy, first=(0.0, 15.0), on=(0.2, 3.0), off=(0.5, 6.0)),
    'late': _fault(_ALL, _late, length=(0.1, 3.0, LOG)),
    'clock': _fault(_ALL, _clock, size=[-3600.0, -5.0, -0.3, 0.3, 1.0, 3600.0]),
    'brown-out': _fault(_ALL, _brownout, length=(0.3, 3.0), size=(-30.0, 30.0)),
    'interleaved': _fault((PRESSURE,), _interleaved),
    'shows a force': _fault((IMU,), _shows, force=(-160.0, 157.0), length=(0.02, 2.0, LOG)),
    'zeros after a force': _fault((IMU,), _zeros_after, force=(20.0, 157.0), length=(0.1, 1.0)),
    'zeros': _fault((IMU,), _zeros_after, force=[9.81], length=[0.0]),
    'swapped axes': _fault((IMU,), _swapped, turns=[0, 1, 2], sign=[-1.0, 1.0]),
    'drift': _fault((ODOMETRY,), _drift, size=(-60.0, 60.0), length=(5.0, 300.0, LOG)),
    'speed stuck': _fault((ODOMETRY,), _speed_stuck, size=[0.0, 5.0, 15.0, 40.0]),
}
"""Every kind of fault by name."""
