# SPDX-License-Identifier: Apache-2.0
"""What sensors make of a motion."""
from __future__ import annotations

import numpy as np
import pytest

from propulsion_ros.study.ground.motion import Rocket, fly, rest
from propulsion_ros.study.ground.sensors import FIX, IMU, PRESSURE, measure, odometry_of

KIT = {
    'baro_rate': 20.0, 'imu_rate': 100.0, 'fix_rate': 5.0, 'baro_noise': 0.3, 'baro_step': 0.0,
    'imu_noise': 0.05, 'imu_offset': 0.0, 'imu_scale': 1.0, 'gyro_noise': 0.01,
    'gyro_offset': 0.02, 'fix_error': 3.0, 'fix_time': 0.1, 'delay': 0.005,
    'filter_time': 1.0,
}


def measured(motion, **changes):
    return measure(motion, np.random.default_rng(3), {**KIT, **changes})


def test_noise_and_offsets_are_those_of_the_kit():
    streams = measured(rest(100.0))
    baro, imu = streams[PRESSURE], streams[IMU]
    assert [len(streams[name].stamp) for name in (PRESSURE, IMU, FIX)] == pytest.approx(
        [2000, 10000, 500], abs=1
    )
    assert baro.values.std() == pytest.approx(0.3, rel=0.1)
    assert imu.values[:, 2].std() == pytest.approx(0.05, rel=0.1)
    assert imu.values[:, 3:].mean() == pytest.approx(0.02, abs=0.001)
    np.testing.assert_allclose(baro.arrival - baro.stamp, 0.005)
    # 12 Pa are a metre.
    assert np.ptp(baro.pascal) == pytest.approx(12.0 * np.ptp(baro.values), rel=0.02)


def test_steps_of_a_digit_repeat():
    values = measured(rest(20.0), baro_step=0.85)[PRESSURE].values
    assert (np.diff(values[:, 0]) == 0.0).mean() > 0.5


def test_a_sensor_without_noise_repeats():
    streams = measured(rest(20.0), baro_noise=0.0, imu_noise=0.0, gyro_noise=0.0)
    assert np.ptp(streams[PRESSURE].values) == 0.0
    assert np.ptp(streams[IMU].values, axis=0).max() == 0.0


def test_an_odometry_follows_a_flight():
    motion = rest(8.0).then(fly(Rocket(((0.0, 1.5, 80.0),)), np.random.default_rng(1)).motion)
    odometry = odometry_of(measured(motion), motion, KIT)
    height = np.interp(odometry.stamp, motion.time, motion.height)
    speed = np.interp(odometry.stamp, motion.time, motion.speed)
    assert np.abs(odometry.values[:, 0] - height).max() < 5.0
    assert np.sqrt(np.mean((odometry.values[:, 1] - speed) ** 2)) < 1.0
    assert len(odometry.stamp) == pytest.approx(50.0 * motion.end, rel=0.02)


@pytest.mark.parametrize('seconds', [0.1, 0.8])
def test_a_receiver_is_late_where_the_speed_changes(seconds):
    """A filter of height and speed lags by acceleration x time^2 in a burn, and not after it."""
    motion = rest(8.0).then(fly(
        Rocket(((0.0, 3.0, 40.0),), drag=0.0), np.random.default_rng(1)
    ).motion)
    fix = measured(motion, fix_error=1e-6, fix_time=seconds)[FIX]
    off = np.interp(fix.stamp, motion.time, motion.height) - fix.values[:, 0]
    burns = (fix.stamp > 8.0 + 6.0 * seconds) & (fix.stamp < 11.0)
    assert np.abs(off[fix.stamp < 8.0]).max() < 1.0
    if burns.any():
        net = np.gradient(motion.speed, motion.time)[round(10.0 / 0.01)]
        assert off[burns].mean() == pytest.approx(net * seconds**2, abs=0.4)
