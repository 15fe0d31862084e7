# SPDX-License-Identifier: Apache-2.0
"""The estimator's interface: frames, stamps, modes, and that no data makes it raise."""
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rocket_truth import FIELD, NORTH, PAD_TIME, SITE, fly, pressure_of, turn

from propulsion_ros.flight.estimation.estimator import Estimator
from propulsion_ros.flight.estimation.mounting import Mounting, MountingParams
from propulsion_ros.flight.estimation.params import EstimatorParams
from propulsion_ros.flight.estimation.state import EstimatorState, Mode, Stage, sample_of, stage_of
from propulsion_ros.flight.legacy.estimator import LegacyFeed
from propulsion_ros.flight.phases.phases import Phase, Subphase
from propulsion_ros.models.common.rotation import rotate
from propulsion_ros.settings.errors import ConfigError

MS = 1_000_000
G = 9.80665
NAN = math.nan
REST = ((0.0, 0.0, 0.0), (0.0, 0.0, G))


def _stand(estimator, seconds=2.0, begin=0, rate=(0.0, 0.0, 0.0), force=(0.0, 0.0, G)):
    """Stand on the pad at 100 Hz with pressure; return the last stamp."""
    for i in range(round(seconds * 100.0)):
        stamp = begin + i * 10 * MS
        estimator.imu(stamp, rate, force)
        estimator.pressure(stamp, 101_325.0)
    return stamp


def _angle(state, attitude):
    return 2.0 * math.acos(min(1.0, abs(float(np.dot(state.attitude, attitude)))))


def test_perfect_sensors_give_the_flight():
    truth = fly(5, 1, 100.0, duration=10.0)
    estimator = Estimator(EstimatorParams(), Mounting())
    field = FIELD * turn(truth.attitude[:, 0] * [-1, -1, -1, 1], NORTH / np.linalg.norm(NORTH))
    pascal = pressure_of(truth.position[:, 0, 2])
    for i, stamp in enumerate(truth.stamp_ns):
        since = i / 100.0 - PAD_TIME
        estimator.set_stage(
            Stage.PAD if since < 0.05 else Stage.BOOST if since < 2.2 else Stage.COAST
        )
        estimator.magnetic_field(stamp, field[i])
        estimator.imu(stamp, truth.rate[i, 0], truth.force[i, 0])
        estimator.pressure(stamp, pascal[i])
    state = estimator.state(stamp)
    assert state.mode is Mode.FULL
    assert not state.flags
    np.testing.assert_allclose(state.position, truth.position[-1, 0], atol=3.0)
    np.testing.assert_allclose(state.velocity, truth.velocity[-1, 0], atol=0.5)
    assert _angle(state, truth.attitude[-1, 0]) < math.radians(0.5)
    for covariance in (state.pose_covariance, state.twist_covariance):
        np.testing.assert_array_equal(covariance, covariance.T)
        assert np.linalg.eigvalsh(covariance).min() > 0.0


def test_fixes_bound_the_place():
    truth = fly(6, 1, 50.0, duration=10.0)
    estimator = Estimator(EstimatorParams(), Mounting())
    rng = np.random.default_rng(1)
    bias = np.array([0.2, -0.2, 0.1])
    for i, stamp in enumerate(truth.stamp_ns):
        since = i / 50.0 - PAD_TIME
        estimator.set_stage(
            Stage.PAD if since < 0.05 else Stage.BOOST if since < 2.2 else Stage.COAST
        )
        field = turn(truth.attitude[i, 0] * [-1, -1, -1, 1], NORTH)
        estimator.magnetic_field(stamp, 1e-5 * field)
        estimator.imu(stamp, truth.rate[i, 0], truth.force[i, 0] + bias)
        if i % 5 == 0:
            east, north, up = truth.position[i, 0] + rng.normal(0.0, 1.0, 3)
            metre = math.degrees(1.0 / 6_379_000.0)
            latitude = SITE[0] + north * metre
            longitude = SITE[1] + east * metre / math.cos(math.radians(SITE[0]))
            estimator.fix(stamp, latitude, longitude, SITE[2] + up, np.eye(3).ravel())
    state = estimator.state(stamp)
    assert state.mode is Mode.GNSS_INERTIAL
    assert state.flags == {'pressure_absent'}
    # The Earth's radii of curvature at this place differ from the one above by 0.2 %.
    np.testing.assert_allclose(state.position, truth.position[-1, 0], atol=4.0)
    np.testing.assert_allclose(state.velocity, truth.velocity[-1, 0], atol=3.0)


@pytest.mark.parametrize(('axes', 'flips', 'force', 'up'), [
    ((0, 1, 2), (0, 0, 0), (0.0, 0.0, G), (0.0, 0.0, 1.0)),
    ((0, 2, 1), (0, 0, 1), (0.0, -G, 0.0), (0.0, 0.0, 1.0)),
    ((0, 1, 2), (0, 0, 0), (0.0, 0.0, -G), (0.0, 0.0, -1.0)),
    ((0, 1, 2), (0, 0, 0), (G, 0.0, 0.0), (1.0, 0.0, 0.0)),
])
def test_gravity_tells_the_level_whatever_the_mounting(axes, flips, force, up):
    mounting = Mounting(MountingParams(axes=axes, flips=flips))
    estimator = Estimator(EstimatorParams(), mounting)
    state = estimator.state(_stand(estimator, force=force))
    assert rotate(state.attitude, up)[2] == pytest.approx(1.0, abs=1e-12)
    assert state.velocity == pytest.approx((0.0, 0.0, 0.0), abs=1e-6)


@pytest.mark.parametrize('heading', [-2.0, 0.0, 1.0])
@pytest.mark.parametrize('declination', [0.0, 0.2])
def test_field_tells_the_heading(heading, declination):
    params = EstimatorParams(magnetic_declination=declination)
    estimator = Estimator(params, Mounting())
    north = np.array([math.sin(declination), math.cos(declination), -2.0])
    truth = (0.0, 0.0, math.sin(0.5 * heading), math.cos(0.5 * heading))
    field = 2e-5 * turn(np.array(truth) * [-1, -1, -1, 1], north)
    for i in range(200):
        estimator.magnetic_field(i * 10 * MS, field)
        estimator.imu(i * 10 * MS, *REST)
    assert _angle(estimator.state(1990 * MS), truth) < 1e-3


def test_bias_of_the_gyroscope_is_learnt_on_the_pad():
    estimator = Estimator(EstimatorParams(), Mounting())
    state = estimator.state(_stand(estimator, rate=(0.02, -0.03, 0.01)))
    assert state.angular_velocity == pytest.approx((0.0, 0.0, 0.0), abs=1e-6)


def test_a_long_stand_does_not_invent_a_heading():
    params = EstimatorParams()
    estimator = Estimator(params, Mounting())
    rng = np.random.default_rng(3)
    for i in range(3000):
        force = rng.normal((0.3, -0.2, G), 1.0)
        estimator.imu(i * 10 * MS, rng.normal(0.0, 0.01, 3), force)
    covariance = estimator.state(29_990 * MS).pose_covariance
    assert math.sqrt(covariance[5, 5]) > 0.9 * params.heading_sigma


def test_late_double_and_wild_stamps_change_nothing():
    estimator, plain = (Estimator(EstimatorParams(), Mounting()) for _ in range(2))
    last = _stand(estimator)
    _stand(plain)
    estimator.imu(last, (5.0, 5.0, 5.0), (0.0, 50.0, 0.0))
    estimator.imu(last - 10 * MS, (5.0, 5.0, 5.0), (0.0, 50.0, 0.0))
    estimator.imu(last + 10**15, (5.0, 5.0, 5.0), (0.0, 50.0, 0.0))
    estimator.pressure(last, 50_000.0)
    estimator.pressure(last - 1500 * MS, 50_000.0)
    assert estimator.state(last).position == plain.state(last).position
    assert estimator.state(last).attitude == plain.state(last).attitude
    assert estimator.counts['imu'] == {'ok': 200, 'late': 1, 'duplicate': 1}
    assert estimator.counts['pressure'] == {'ok': 200, 'duplicate': 1}


@pytest.mark.parametrize('shift', [-1000 * 10**9, 10**12])
def test_a_clock_that_was_set_is_followed(shift):
    estimator = Estimator(EstimatorParams(), Mounting())
    last = _stand(estimator)
    last = _stand(estimator, begin=last + shift)
    state = estimator.state(last)
    assert state.mode is Mode.FULL
    assert not state.flags
    assert state.position == pytest.approx((0.0, 0.0, 0.0), abs=0.1)


def test_a_late_pressure_is_carried_to_the_present():
    """One that comes 50 ms after the inertial sample of its time corrects what then was."""
    truth = fly(7, 1, 100.0, duration=4.0)
    estimator = Estimator(EstimatorParams(), Mounting())
    pascal = pressure_of(truth.position[:, 0, 2])
    for i, stamp in enumerate(truth.stamp_ns):
        estimator.set_stage(Stage.PAD if i < 205 else Stage.BOOST if i < 420 else Stage.COAST)
        estimator.imu(stamp, truth.rate[i, 0], truth.force[i, 0])
        if i >= 5:
            estimator.pressure(truth.stamp_ns[i - 5], pascal[i - 5])
    state = estimator.state(stamp)
    assert state.position[2] == pytest.approx(truth.position[-1, 0, 2], abs=3.0)
    assert 'innovation' not in estimator.counts['pressure']


def test_asking_changes_nothing():
    estimator, plain = (Estimator(EstimatorParams(), Mounting()) for _ in range(2))
    last = _stand(estimator)
    _stand(plain)
    estimator.set_stage(Stage.COAST)
    plain.set_stage(Stage.COAST)
    ahead = estimator.state(last + 5000 * MS)
    assert ahead.mode is Mode.NO_SENSOR
    # Without any sensor a coasting body is guessed to fall freely, ever less certainly.
    assert ahead.position[2] == pytest.approx(-0.5 * G * 25.0, rel=0.01)
    assert ahead.pose_covariance[2, 2] > 100.0 * plain.state(last).pose_covariance[2, 2]
    for stamp in (last, last + 50 * MS):
        first, second = estimator.state(stamp), plain.state(stamp)
        assert first.position == second.position
        np.testing.assert_array_equal(first.pose_covariance, second.pose_covariance)


def test_without_inertial_sensor_the_barometer_alone_works():
    estimator = Estimator(EstimatorParams(), Mounting())
    params = EstimatorParams()
    rng = np.random.default_rng(2)
    for i in range(500):
        since = max(0.0, 0.02 * i - 2.0)
        estimator.set_stage(Stage.PAD if since < 0.3 else Stage.COAST)
        height = 60.0 * since - 0.5 * G * since**2
        estimator.pressure(i * 20 * MS, float(pressure_of(height)) + rng.normal(0.0, 5.0))
    state = estimator.state(499 * 20 * MS)
    assert state.mode is Mode.BARO_ONLY
    assert state.flags == {'imu_absent', 'attitude_unknown'}
    assert state.position[2] == pytest.approx(height, abs=2.0)
    assert state.velocity[2] == pytest.approx(60.0 - G * since, abs=5.0)
    sample = sample_of(state, params)
    assert sample.altitude == state.position[2]
    assert math.isnan(sample.acceleration)
    assert all(math.isnan(value) for value in sample.rotation)


def test_before_any_message_nothing_is_known():
    state = Estimator(EstimatorParams(), Mounting()).state(5)
    assert state.mode is Mode.NO_SENSOR
    sample = sample_of(state, EstimatorParams())
    assert math.isnan(sample.altitude)
    assert math.isnan(sample.velocity)


def test_a_new_flight_begins_on_the_pad():
    estimator = Estimator(EstimatorParams(), Mounting())
    last = _stand(estimator)
    estimator.set_stage(Stage.BOOST)
    estimator.imu(last + 10 * MS, (0.0, 0.0, 0.0), (0.0, 0.0, 90.0))
    estimator.set_stage(Stage.PAD)
    assert estimator.state(last).mode is Mode.NO_SENSOR
    assert estimator.counts['imu']['ok'] == 201


def test_noise_free_rest_is_not_frozen():
    estimator = Estimator(EstimatorParams(), Mounting())
    state = estimator.state(_stand(estimator, 10.0))
    assert state.mode is Mode.FULL
    assert not state.flags


def test_frozen_inertial_sensor_cannot_hide_a_liftoff():
    """On the pad a constant reading is right, until the barometer climbs away."""
    estimator = Estimator(EstimatorParams(), Mounting())
    last = _stand(estimator)
    rng = np.random.default_rng(8)
    for i in range(1, 300):
        stamp = last + i * 10 * MS
        since = 0.01 * i
        estimator.imu(stamp, *REST)
        fall = float(pressure_of(25.0 * since**2) - pressure_of(0.0))
        estimator.pressure(stamp, 101_325.0 + fall + rng.normal(0.0, 3.0))
        if estimator.state(stamp).velocity[2] > 10.0:
            estimator.set_stage(Stage.BOOST)
    state = estimator.state(stamp)
    assert 'imu_frozen' in state.flags
    assert state.mode is Mode.BARO_ONLY
    assert state.velocity[2] > 100.0


@pytest.mark.parametrize(('phase', 'subphase', 'stage'), [
    (Phase.SETUP, Subphase.NONE, Stage.PAD), (Phase.LAUNCH, Subphase.NONE, Stage.PAD),
    (Phase.FLIGHT, Subphase.BOOST, Stage.BOOST), (Phase.FLIGHT, Subphase.COAST, Stage.COAST),
    (Phase.RECOVERY, Subphase.DESCENT, Stage.DESCENT),
    (Phase.RECOVERY, Subphase.LANDED, Stage.LANDED), (Phase.DEBUG, Subphase.NONE, Stage.PAD),
])
def test_stage_of_a_phase(phase, subphase, stage):
    assert stage_of(phase, subphase) is stage


@pytest.mark.parametrize(('settings_', 'message'), [
    ({'gate': 0.0}, "'gate': 0 must be above 0"),
    ({'gnss_noise': (1.0, 2.0)}, "'gnss_noise': expected 3 values, got 2"),
    ({'method': 'ekf'}, "'method': expected one of default, legacy, external, got 'ekf'"),
])
def test_wrong_parameters_are_named(settings_, message):
    with pytest.raises(ConfigError, match=message):
        EstimatorParams(**settings_)


WILD = st.one_of(
    st.sampled_from([NAN, math.inf, -math.inf, 0.0, 1e-300, 1e300, -1e300]), st.floats(-1e4, 2e5)
)
STAMP = st.one_of(
    st.integers(0, 5_000), st.sampled_from([-(2**62), 2**62, 10**9, -10**9])
).map(lambda ms: ms * MS if abs(ms) < 10**10 else ms)
MESSAGE = st.one_of(
    st.tuples(st.just('imu'), STAMP, st.lists(WILD, min_size=6, max_size=6)),
    st.tuples(st.just('pressure'), STAMP, st.lists(WILD, min_size=2, max_size=2)),
    st.tuples(st.just('field'), STAMP, st.lists(WILD, min_size=3, max_size=3)),
    st.tuples(st.just('fix'), STAMP, st.lists(WILD, min_size=12, max_size=12)),
    st.tuples(st.just('stage'), STAMP, st.sampled_from(list(Stage))),
)


@given(st.sampled_from([Estimator, LegacyFeed]), st.lists(MESSAGE, max_size=40))
def test_no_data_raises_and_the_estimate_stays_finite(kind_of, messages):
    estimator = kind_of(EstimatorParams(), Mounting())
    last = _stand(estimator, 0.6)
    for kind, stamp, values in messages:
        if kind == 'imu':
            estimator.imu(stamp, values[:3], values[3:])
        elif kind == 'pressure':
            estimator.pressure(stamp, *values)
        elif kind == 'field':
            estimator.magnetic_field(stamp, values)
        elif kind == 'fix':
            estimator.fix(stamp, *values[:3], values[3:])
        else:
            estimator.set_stage(values)
        state = estimator.state(stamp)
        assert isinstance(state, EstimatorState)
        if kind_of is Estimator and state.mode is not Mode.NO_SENSOR:
            assert np.all(np.isfinite(state.position))
            assert np.all(np.isfinite(state.pose_covariance))
    estimator.reset()
    state = estimator.state(_stand(estimator, 0.6, last + 10 * MS))
    assert state.mode is Mode.FULL


def test_a_filter_that_begins_anew_in_flight_knows_no_place():
    """It stood on the pad, within 0.1 m, 5 km from where it was."""
    estimator = Estimator(EstimatorParams(), Mounting())
    _stand(estimator)
    estimator.stage = Stage.COAST
    estimator._filter.covariance[0, 0] = math.inf
    for i in range(200, 300):
        estimator.imu(i * 10 * MS, (0.0, 0.0, 0.0), (0.0, 0.0, 1.0))
    state = estimator.state(2_990 * MS)
    assert np.all(np.diag(state.pose_covariance)[:3] > 1e7)
    assert np.all(np.diag(state.twist_covariance)[:3] > 1e5)
