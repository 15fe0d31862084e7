# SPDX-License-Identifier: Apache-2.0
"""The lockout of a barometer near Mach 1 ends by physics."""
import math
from functools import cache

import numpy as np
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


@cache
def locks(at=math.inf, shift=0.0, off=0.0, last=Stage.COAST):
    """Return when pressures are refused [s], and time, height and true height of each sample.

    A clock is set at a time; an accelerometer is off from 3 s on.
    """
    truth = fly(1, 1, burn=3.5, push=120.0, duration=24.0)
    true = truth.position[:, 0, 2]
    pressures = pressure_of(true)
    estimator, locked, rows = Estimator(EstimatorParams(), Mounting()), [], []
    for k, stamp in enumerate(truth.stamp_ns):
        time = k / 100.0 - PAD_TIME
        estimator.set_stage(Stage.PAD if time < 0.1 else Stage.BOOST if time < 3.8 else last)
        stamped = stamp + ns(shift * (time > at))
        force = truth.force[k, 0] + [0.0, 0.0, off * (time > 3.0)]
        estimator.imu(stamped, truth.rate[k, 0].tolist(), force.tolist())
        estimator.pressure(stamped, float(pressures[k]))
        state = estimator.state(stamped)
        rows.append((time, state.position[2], true[k]))
        if 'pressure_lockout' in state.flags:
            locked.append(time)
    return locked, np.array(rows).T


@pytest.mark.parametrize('last', [Stage.COAST, Stage.BOOST], ids=['coast', 'no end of thrust'])
def test_accelerometer_that_is_off_for_good_locks_the_barometer_out_for_seconds_only(last):
    """3 g too much from 3 s on: the speed is never below Mach 0.75 again, and was believed so."""
    locked, (time, height, true) = locks(off=30.0, last=last)
    apogee = time[true.argmax()]
    assert locked
    assert locked[-1] < apogee - 3.0
    late = time > apogee - 2.0
    np.testing.assert_allclose(height[late], true[late], atol=15.0)


@pytest.mark.parametrize('since', [2.0, 4.0, 9.0], ids=['boost', 'locked', 'later'])
@pytest.mark.parametrize('shift', [-3600.0, -1.5, 3600.0])
def test_a_clock_that_is_set_neither_ends_nor_lengthens_a_lock(since, shift):
    """Set back by an hour, what was locked for a second stayed locked for that hour."""
    (plain, (_, height, _)), (locked, (_, leapt, _)) = locks(), locks(since, shift)
    if since > plain[0]:
        assert locked[-1] == pytest.approx(plain[-1], abs=2.0)
    else:  # A speed that the clock made uncertain need not lock.
        assert max(locked, default=0.0) < plain[-1] + 2.0
    assert leapt[-1] == pytest.approx(height[-1], abs=3.0)
