# SPDX-License-Identifier: Apache-2.0
"""A pressure is held against the height at its own time, not at the filter's."""
import numpy as np
import pytest
from rocket_truth import PAD_TIME, SITE, fly, pressure_of

from propulsion_ros.flight.estimation.estimator import Estimator
from propulsion_ros.flight.estimation.mounting import Mounting
from propulsion_ros.flight.estimation.params import EstimatorParams
from propulsion_ros.flight.estimation.state import Stage


@pytest.mark.parametrize('age', [0.045, -0.045])
def test_pressure_between_two_inertial_samples_is_of_its_own_time(age):
    truth = fly(5, 1, 20.0, duration=10.0)
    up, climb = truth.position[:, 0, 2], truth.velocity[:, 0, 2]
    # 4 m in one interval: by the height at the filter's time the error would grow to metres.
    assert climb.max() * abs(age) > 4.0
    estimator = Estimator(EstimatorParams(pressure_noise=1.0), Mounting())
    for i, stamp in enumerate(truth.stamp_ns):
        since = i / 20.0 - PAD_TIME
        estimator.set_stage(
            Stage.PAD if since < 0.05 else Stage.BOOST if since < 2.2 else Stage.COAST
        )
        estimator.imu(stamp, truth.rate[i, 0], truth.force[i, 0])
        estimator.pressure(max(stamp + round(age * 1e9), 0), pressure_of(up[i] + age * climb[i]))
        assert abs(estimator.state(stamp).position[2] - up[i]) < 1.0


@pytest.mark.parametrize(('speed', 'is_armed', 'least', 'most'), [
    pytest.param(0.005, True, 0.25, 0.35, id='the weather moves an armed pad'),
    pytest.param(1.0, True, 0.0, 2.0, id='a hand carries it'),
    pytest.param(4.0, True, 0.0, 1.0, id='a drone lifts it'),
    pytest.param(4.0, False, 220.0, 240.0, id='nothing is armed yet'),
])
def test_armed_vehicle_leaves_its_pad_where_it_was(speed, is_armed, least, most):
    estimator = Estimator(EstimatorParams(pressure_noise=1.0), Mounting())
    for i in range(3200):
        now = i / 50.0
        estimator.set_stage(Stage.PAD, is_armed=is_armed and now > 2.0)
        stamp_ns = round(now * 1e9)
        estimator.imu(stamp_ns, (0.0, 0.0, 0.0), (0.0, 0.0, 9.80665 + 1e-3 * (-1) ** i))
        estimator.pressure(stamp_ns, pressure_of(speed * max(now - 4.0, 0.0)))
    assert least < estimator.pad_altitude - SITE[2] < most


@pytest.mark.parametrize(('lie', 'begin', 'end', 'most'), [
    pytest.param(-57.0, 4.55, 7.56, 20.0, id='its learnt bias was kept for good'),
    pytest.param(30.0, 4.0, 8.0, 100.0, id='the ports explained it for 3.7 s'),
])
def test_an_accelerometer_that_lies_for_a_while_in_the_coast_is_overruled(lie, begin, end, most):
    truth = fly(3, 1, 100.0, 2.0, 60.0, 13.0)
    up, climb = truth.position[:, 0, 2], truth.velocity[:, 0, 2]
    rng = np.random.default_rng(4)
    force = truth.force[:, 0] + rng.normal(0.0, 0.3, (len(up), 3))
    pascal = pressure_of(up) + rng.normal(0.0, 6.0, len(up))
    estimator, errors = Estimator(EstimatorParams(), Mounting()), []
    for i, stamp in enumerate(truth.stamp_ns):
        since = i / 100.0 - PAD_TIME
        estimator.set_stage(
            Stage.PAD if since < 0.1 else Stage.BOOST if since < 2.3 else Stage.COAST
        )
        false = np.array([0.0, 0.0, lie * (begin < since < end)])
        estimator.imu(stamp, truth.rate[i, 0], force[i] + false)
        estimator.pressure(stamp, pascal[i])
        state = estimator.state(stamp)
        errors.append((state.position[2] - up[i], state.velocity[2] - climb[i]))
    height, speed = np.abs(errors).T
    assert height.max() < most
    assert speed[-300:].max() < 10.0


@pytest.mark.parametrize('ratio', [0.88, 1.0, 1.15, 1.24], ids=['hot', 'standard', 'cold', 'polar'])
def test_an_accelerometer_is_not_blamed_for_air_far_from_the_standard(ratio):
    """Below -16 degrees it was overruled again and again, and the drogue came 3 s late."""
    truth = fly(3, 1, 100.0, 2.5, 70.0, 15.0)
    up, climb = truth.position[:, 0, 2], truth.velocity[:, 0, 2]
    pascal = pressure_of(up * ratio) + np.random.default_rng(4).normal(0.0, 6.0, len(up))
    estimator, speed = Estimator(EstimatorParams(), Mounting()), []
    for i, stamp in enumerate(truth.stamp_ns):
        since = i / 100.0 - PAD_TIME
        estimator.set_stage(
            Stage.PAD if since < 0.1 else Stage.BOOST if since < 2.8 else Stage.COAST
        )
        estimator.imu(stamp, truth.rate[i, 0], truth.force[i, 0])
        estimator.pressure(stamp, pascal[i])
        state = estimator.state(stamp)
        assert 'imu_innovation' not in state.flags, since
        speed.append(state.velocity[2] - climb[i])
    assert np.abs(speed).max() < 8.0


def test_a_coarse_pressure_that_is_stated_to_be_exact_does_not_step_at_liftoff():
    truth = fly(3, 1, 50.0, 2.0, 60.0, 13.0)
    up, estimator = truth.position[:, 0, 2], Estimator(EstimatorParams(), Mounting())
    pascal = 10.0 * np.round(0.1 * pressure_of(up))
    for i, stamp in enumerate(truth.stamp_ns):
        since = i / 50.0 - PAD_TIME
        estimator.set_stage(
            Stage.PAD if since < 0.05 else Stage.BOOST if since < 2.0 else Stage.COAST
        )
        # One sample misses the begin of the push: the speed is wrong by 1 m/s.
        missed = np.array([0.0, 0.0, 50.0 * (0.0 < since < 0.021)])
        estimator.imu(stamp, truth.rate[i, 0], truth.force[i, 0] - missed)
        estimator.pressure(stamp, pascal[i], variance=0.01)
        assert abs(estimator.state(stamp).position[2] - up[i]) < 5.0


@pytest.mark.parametrize('speed', [0.3, 1.0, -1.0])
def test_pad_that_is_measured_anew_is_at_zero_after_an_armed_vehicle_was_carried(speed):
    """The bias had taken the way, and for ever the vehicle stood as far below its new pad."""
    estimator = Estimator(EstimatorParams(pressure_noise=1.0), Mounting())
    for i in range(4500):
        now, stamp_ns = i / 50.0, i * 20_000_000
        estimator.set_stage(Stage.PAD, is_armed=2.0 < now < 80.0)
        estimator.imu(stamp_ns, (0.0, 0.0, 0.0), (0.0, 0.0, 9.80665 + 1e-3 * (-1) ** i))
        estimator.pressure(stamp_ns, pressure_of(speed * min(max(now - 4.0, 0.0), 60.0)))
    assert estimator.pad_altitude - SITE[2] == pytest.approx(60.0 * speed, abs=0.5)
    assert abs(estimator.state(stamp_ns).position[2]) < 0.5


def test_pad_of_a_record_is_not_measured_anew():
    estimator = Estimator(EstimatorParams(pressure_noise=1.0), Mounting())
    estimator.begin_in_air(Stage.PAD, SITE[2])
    for i in range(200):
        estimator.pressure(i * 20_000_000, pressure_of(50.0 + 2.0 * i))
    assert estimator.pad_altitude == pytest.approx(SITE[2])


@pytest.mark.parametrize(('may_repeat', 'least', 'most'), [
    (True, 590.0, 600.0), (False, -1e4, 450.0),
])
def test_a_coarse_pressure_repeats_itself_after_a_landing_on_a_hill(may_repeat, least, most):
    """It was frozen there, and a height that ran on fell below that of the main, which fired."""
    estimator = Estimator(EstimatorParams(), Mounting())
    estimator.begin_in_air(Stage.DESCENT, SITE[2])
    for i in range(1000):
        now, stamp_ns = i / 50.0, i * 20_000_000
        estimator.set_stage(Stage.DESCENT, may_repeat=may_repeat and now > 10.5)
        # The impact is shorter than the time between two samples.
        noise = 1e-3 * (-1) ** i
        estimator.imu(stamp_ns, (0.1 * noise, 0.0, 0.0), (0.0, 0.0, 9.80665 + noise))
        estimator.pressure(stamp_ns, pressure_of(max(835.0 - 24.0 * now, 595.0)))
    assert least < estimator.state(stamp_ns).position[2] < most
