# SPDX-License-Identifier: Apache-2.0
"""The lockout of a barometer near Mach 1 ends by physics."""
import math
from functools import cache

import pytest
from rocket_truth import PAD_TIME, fly, pressure_of

from propulsion_ros.flight.estimation.baro_aid import MachLock
from propulsion_ros.flight.estimation.estimator import Estimator
from propulsion_ros.flight.estimation.mounting import Mounting
from propulsion_ros.flight.estimation.params import EstimatorParams
from propulsion_ros.flight.estimation.state import Stage

SOUND = 340.0


def ns(seconds):
    return round(seconds * 1e9)


@pytest.fixture
def lock():
    return MachLock(EstimatorParams())


def take(lock, time, climb, is_boost=False, across=0.0):
    speed2 = climb * climb + across * across
    lock.take_speed(ns(time), speed2 / SOUND**2, speed2, climb, is_boost=is_boost)


def test_outlasts_the_speed_by_the_hold_time(lock):
    take(lock, 1.0, 260.0, is_boost=True)
    take(lock, 1.1, 250.0)
    assert lock.is_locked(ns(1.9))
    assert not lock.is_locked(ns(2.01))


@pytest.mark.parametrize(('across', 'slow'), [(0.0, 255.0), (150.0, math.sqrt(255.0**2 - 150**2))])
def test_ends_with_the_longest_coast_from_the_last_speed_under_thrust(lock, across, slow):
    take(lock, 1.0, 400.0, is_boost=True, across=across)
    end = 1.0 + (400.0 - slow) / 9.80665
    for k in range(10, 400):
        # An inertial speed that does not fall, as that of a wrong attitude.
        take(lock, 0.1 * k, 400.0, across=across)
    assert lock.is_locked(ns(end + 0.8))
    assert not lock.is_locked(ns(end + 1.01))


def test_begins_anew_with_a_second_stage(lock):
    take(lock, 1.0, 260.0, is_boost=True)
    take(lock, 10.0, 400.0)
    assert not lock.is_locked(ns(10.0))
    take(lock, 10.1, 400.0, is_boost=True)
    assert lock.is_locked(ns(10.2))


def test_is_refuted_by_what_lasts_longer_than_any_dip(lock):
    times = [0.1 * k for k in range(32)]
    refuted = [lock.is_refuted(ns(t), True) for t in times]
    assert refuted.index(True) == 30
    assert not lock.is_refuted(ns(3.2), False)
    assert not lock.is_refuted(ns(3.3), True)


@pytest.mark.parametrize('known', [Stage.COAST, Stage.BOOST], ids=['coast', 'no end of thrust'])
def test_accelerometer_that_is_off_for_good_locks_the_barometer_out_for_seconds_only(known):
    """3 g too much from 3 s on: the speed is never below Mach 0.75 again, and was believed so."""
    truth = fly(1, 1, burn=3.5, push=120.0, duration=24.0)
    estimator = Estimator(EstimatorParams(), Mounting())
    pressures = pressure_of(truth.position[:, 0, 2])
    apogee = float(truth.position[:, 0, 2].argmax()) / 100.0 - PAD_TIME
    locked = []
    for k, stamp in enumerate(truth.stamp_ns):
        since = k / 100.0 - PAD_TIME
        estimator.set_stage(
            Stage.PAD if since < 0.1 else Stage.BOOST if since < 3.8 else known
        )
        force = truth.force[k, 0] + [0.0, 0.0, 30.0 * (since > 3.0)]
        estimator.imu(stamp, truth.rate[k, 0].tolist(), force.tolist())
        estimator.pressure(stamp, float(pressures[k]))
        if 'pressure_lockout' in estimator.state(stamp).flags:
            locked.append(since)
        if since > apogee - 2.0:
            up = estimator.state(stamp).position[2]
            assert up == pytest.approx(truth.position[k, 0, 2], abs=15.0)
    assert locked
    assert locked[-1] < apogee - 3.0


@cache
def locks(at=math.inf, shift=0.0):
    """Return when pressures are refused [s] where a clock is set at a time, and the last height."""
    truth = fly(1, 1, burn=3.5, push=120.0, duration=24.0)
    pressures = pressure_of(truth.position[:, 0, 2])
    estimator, locked = Estimator(EstimatorParams(), Mounting()), []
    for k, stamp in enumerate(truth.stamp_ns):
        time = k / 100.0 - PAD_TIME
        estimator.set_stage(
            Stage.PAD if time < 0.1 else Stage.BOOST if time < 3.8 else Stage.COAST
        )
        stamped = stamp + ns(shift * (time > at))
        estimator.imu(stamped, truth.rate[k, 0].tolist(), truth.force[k, 0].tolist())
        estimator.pressure(stamped, float(pressures[k]))
        if 'pressure_lockout' in estimator.state(stamped).flags:
            locked.append(time)
    return locked, estimator.state(stamped).position[2]


@pytest.mark.parametrize('since', [2.0, 4.0, 9.0], ids=['boost', 'locked', 'later'])
@pytest.mark.parametrize('shift', [-3600.0, -1.5, 3600.0])
def test_a_clock_that_is_set_neither_ends_nor_lengthens_a_lock(since, shift):
    """Set back by an hour, what was locked for a second stayed locked for that hour."""
    plain, height = locks()
    locked, leapt = locks(since, shift)
    assert plain[-1] == pytest.approx(locked[-1], abs=2.0)
    assert leapt == pytest.approx(height, abs=3.0)
