# SPDX-License-Identifier: Apache-2.0
"""Each sensor cut, frozen, biased, spiked or NaN in each phase: bounds, apogee, recovery."""
import math

import numpy as np
import pytest
from rocket_truth import FIELD, NORTH, PAD_TIME, SITE, fly, pressure_of, turn

from parts import few_of
from propulsion_ros.flight.apogee.params import ApogeeParams
from propulsion_ros.flight.detectors import make_detector
from propulsion_ros.flight.estimation.estimator import Estimator
from propulsion_ros.flight.estimation.mounting import Mounting
from propulsion_ros.flight.estimation.params import EstimatorParams
from propulsion_ros.flight.estimation.state import Mode, Stage, sample_of

PARAMS = EstimatorParams()
BURN = 2.0
NAN = math.nan
# When the sensor fails, in seconds after liftoff; the apogee is at 10.6 s.
WINDOWS = {'pad': (-1.0, -0.3), 'boost': (0.4, 1.8), 'coast': (4.0, 8.0), 'descent': (13.0, 16.0)}
AFTER = 5.0  # time to recover [s]
END = 21.5


@pytest.fixture(scope='module')
def flight():
    """Return one flight as good sensors measure it."""
    truth = fly(3, 1, 100.0, BURN, 60.0, END)
    rng = np.random.default_rng(4)
    shape = truth.rate[:, 0].shape
    gyro = truth.rate[:, 0] + rng.normal(0.0, 0.005, shape) + rng.normal(0.0, 0.01, 3)
    force = truth.force[:, 0] + rng.normal(0.0, 0.3, shape) + rng.normal(0.0, 0.1, 3)
    up = truth.position[:, 0, 2]
    metre = math.degrees(1.0 / 6_379_000.0)
    place = truth.position[:, 0] + rng.normal(0.0, 2.0, shape)
    fix = np.array(SITE) + place[:, [1, 0, 2]] * [metre, metre / math.cos(math.radians(47.0)), 1.0]
    north = turn(truth.attitude[:, 0] * [-1, -1, -1, 1], NORTH / np.linalg.norm(NORTH))
    return {
        'stamp': truth.stamp_ns, 'up': up, 'climb': truth.velocity[:, 0, 2],
        'apogee': float(np.argmax(up)) / 100.0 - PAD_TIME,
        'imu': np.hstack([gyro, force]),
        'pressure': (pressure_of(up) + rng.normal(0.0, 6.0, len(up)))[:, None],
        'field': FIELD * (north + rng.normal(0.0, 0.02, shape)), 'fix': fix,
    }


def _spoil(values, kind, bias, first, last):
    """Return values of which a stretch is spoiled, None where there are none."""
    rows = [row.copy() for row in values]
    for i in range(first, last):
        if kind == 'cut':
            rows[i] = None
        elif kind == 'frozen':
            rows[i] = values[first]
        elif kind == 'biased':
            rows[i] = values[i] + bias
        elif kind == 'spiked' and i % 10 == 0:
            rows[i] = values[i] + 30.0 * bias
        elif kind == 'pulse':
            rows[i] = values[i] + bias * math.exp((first - i) / 50.0)
        elif kind == 'nan':
            rows[i] = values[i] * NAN
    return rows


BIASES = {
    # 60 m of altitude; 3 g upward; half a turn in two seconds.
    'pressure': ('pressure', np.array([-700.0])),
    'accelerometer': ('imu', np.array([0.0, 0.0, 0.0, 0.0, 0.0, 30.0])),
    'gyroscope': ('imu', np.array([1.0, 1.0, 0.0, 0.0, 0.0, 0.0])),
    'magnetometer': ('field', np.array([30e-6, 0.0, 0.0])),
    # 220 m north, 150 m east, 200 m up.
    'receiver': ('fix', np.array([0.002, 0.002, 200.0])),
}


def _follow(flight, sensor, kind, window):
    """Fly with a fault; return times, height errors, states and the time of detection."""
    topic, bias = BIASES[sensor]
    first, last = (round((t + PAD_TIME) * 100.0) for t in window)
    feeds = {name: list(flight[name]) for name in ('imu', 'pressure')}
    if topic not in feeds:
        # The optional sensors are heard where their fault is tried.
        feeds |= {name: list(flight[name]) for name in ('field', 'fix')}
    feeds[topic] = _spoil(feeds[topic], kind, bias, first, last)
    estimator = Estimator(PARAMS, Mounting())
    detector = make_detector(ApogeeParams())
    rows, states, detected = [], [], None
    for i, stamp in enumerate(flight['stamp']):
        since = i / 100.0 - PAD_TIME
        if detected is not None:
            stage = Stage.DESCENT
        elif since < 0.1:
            stage = Stage.PAD
        else:
            stage = Stage.BOOST if since < BURN + 0.3 else Stage.COAST
        estimator.set_stage(stage)
        inertial, pascal = feeds['imu'][i], feeds['pressure'][i]
        if inertial is not None:
            estimator.imu(stamp, inertial[:3].tolist(), inertial[3:].tolist())
        if pascal is not None:
            estimator.pressure(stamp, float(pascal[0]))
        if 'fix' in feeds and i % 5 == 0:
            field, fix = feeds['field'][i], feeds['fix'][i]
            if field is not None:
                estimator.magnetic_field(stamp, field.tolist())
            if fix is not None:
                estimator.fix(stamp, *fix.tolist(), [4.0, 0, 0, 0, 4.0, 0, 0, 0, 4.0])
        state = estimator.state(stamp)
        sample = sample_of(state, PARAMS)
        estimate = detector.update(
            stamp, sample.altitude, sample.velocity, sample.acceleration
        )
        if estimate.detected and detected is None:
            detected = since
        rows.append((since, state.position[2] - flight['up'][i]))
        states.append(state)
    return np.array(rows), states, detected


# Largest height error while the fault lasts and half a second after [m]. Without barometer the
# inertial sensor carries the height, without inertial sensor the barometer does; what costs most
# is an accelerometer that lies, since the barometer's own errors could explain it for a while.
DURING = {
    ('pressure', 'cut'): 4.0, ('pressure', 'frozen'): 4.0, ('pressure', 'biased'): 4.0,
    ('pressure', 'spiked'): 2.0, ('pressure', 'nan'): 4.0,
    ('accelerometer', 'cut'): 6.0, ('accelerometer', 'frozen'): 6.0,
    ('accelerometer', 'biased'): 100.0,
    ('accelerometer', 'spiked'): 2.0, ('accelerometer', 'nan'): 6.0,
    ('gyroscope', 'cut'): 6.0, ('gyroscope', 'frozen'): 6.0, ('gyroscope', 'biased'): 14.0,
    ('gyroscope', 'spiked'): 2.0, ('gyroscope', 'nan'): 6.0,
    **{(sensor, kind): 4.0 for sensor in ('magnetometer', 'receiver')
       for kind in ('cut', 'frozen', 'biased', 'spiked', 'nan')},
}
# Under a parachute, by the inertial sensors of real flights, a step of the barometer looks like
# motion, so that the barometer is followed.
IN_DESCENT = {('pressure', 'biased'): 70.0}
pytestmark = pytest.mark.part('flights')
AFTERWARDS = 4.0  # height error once the sensor has been well again for AFTER [m]
TIMELY = (-0.1, 0.3)  # apogee against that without any fault [s]
# After which a sensor is said to be lost; a frozen fix shows only once the vehicle has moved [s].
TIMEOUTS = {
    'pressure': PARAMS.pressure_timeout, 'accelerometer': PARAMS.imu_timeout,
    'gyroscope': PARAMS.imu_timeout, 'magnetometer': PARAMS.magnetic_field_timeout,
    'receiver': PARAMS.fix_timeout + 1.0,
}
LOST = {
    'pressure': Mode.INERTIAL_ONLY, 'accelerometer': Mode.BARO_ONLY, 'gyroscope': Mode.BARO_ONLY,
}
FLAGS = {
    ('pressure', 'cut'): 'pressure_stale', ('pressure', 'nan'): 'pressure_invalid',
    ('pressure', 'frozen'): 'pressure_frozen',
    ('accelerometer', 'cut'): 'imu_stale', ('accelerometer', 'nan'): 'imu_invalid',
    ('accelerometer', 'frozen'): 'imu_frozen',
    ('gyroscope', 'cut'): 'imu_stale', ('gyroscope', 'nan'): 'imu_invalid',
    ('gyroscope', 'frozen'): 'imu_frozen',
    ('magnetometer', 'cut'): 'magnetic_field_stale',
    ('magnetometer', 'nan'): 'magnetic_field_invalid',
    ('receiver', 'cut'): 'fix_stale', ('receiver', 'nan'): 'fix_invalid',
    ('receiver', 'biased'): 'fix_innovation', ('receiver', 'frozen'): 'fix_frozen',
}


@pytest.fixture(scope='module')
def healthy(flight):
    """Return the delay of the detection without fault [s]."""
    _, states, detected = _follow(flight, 'pressure', 'none', (0.0, 0.0))
    assert states[-1].mode is Mode.FULL
    assert not states[-1].flags
    return detected - flight['apogee']


@pytest.mark.parametrize('pascal', [-700.0, 3000.0, 7000.0])
@pytest.mark.parametrize('window', [(8.0, 11.5), (9.5, 12.5), (10.0, 11.0)], ids=str)
def test_barometer_that_is_off_over_the_apogee_is_believed_again_after_it(
    flight, monkeypatch, pascal, window
):
    """Its step in the coast was its bias for good, so that a main never fired."""
    monkeypatch.setitem(BIASES, 'pressure', ('pressure', np.array([pascal])))
    rows, _, _ = _follow(flight, 'pressure', 'biased', window)
    after = rows[rows[:, 0] > window[1] + AFTER]
    assert np.abs(after[:, 1]).max() < 2.0 * AFTERWARDS


@pytest.mark.parametrize('pascal', [-8000.0, -3000.0, 3000.0, 8000.0])
def test_a_pulse_of_pressure_moves_no_speed_under_a_parachute(flight, monkeypatch, pascal):
    """The speed became the slope of the pulse, so that the altitude fell through the main's."""
    monkeypatch.setitem(BIASES, 'pressure', ('pressure', np.array([pascal])))
    rows, states, _ = _follow(flight, 'pressure', 'pulse', (13.0, 16.0))
    climb = np.array([state.velocity[2] for state in states]) - flight['climb']
    assert np.abs(climb[rows[:, 0] > 13.0]).max() < 40.0
    assert np.abs(rows[rows[:, 0] > 16.0, 1]).max() < 10.0


def test_without_fault_apogee_is_found_at_once(healthy):
    assert abs(healthy) < 0.2


@pytest.mark.parametrize(('sensor', 'kind', 'phase'), few_of(
    ((*fault, phase) for fault in DURING for phase in WINDOWS), 13,
))
def test_fault(flight, healthy, sensor, kind, phase):
    window = WINDOWS[phase]
    rows, states, detected = _follow(flight, sensor, kind, window)
    time, error = rows.T
    lasts = (time > window[0]) & (time < window[1] + 0.5)
    bound = DURING[sensor, kind]
    if phase == 'descent':
        bound = IN_DESCENT.get((sensor, kind), bound)
    assert np.abs(error[lasts]).max() < bound
    assert np.abs(error[time > window[1] + AFTER]).max() < AFTERWARDS
    assert TIMELY[0] < detected - flight['apogee'] - healthy < TIMELY[1]
    late = states[int(np.searchsorted(time, window[1] - 0.05))]
    # A value that stays is no fault of a vehicle that stays.
    lasted = window[1] - window[0] > TIMEOUTS[sensor] and (kind, phase) != ('frozen', 'pad')
    if (sensor, kind) in FLAGS and lasted:
        assert late.mode is LOST.get(sensor, Mode.FULL)
        assert FLAGS[sensor, kind] in late.flags
    assert states[-1].mode is Mode.FULL
    assert not states[-1].flags


def test_spikes_through_a_long_wait_do_not_move_the_pad():
    """One pressure in ten is 2 km off, for longer than the mean of the pad is long."""
    estimator = Estimator(PARAMS, Mounting())
    pressure = float(pressure_of(0.0))
    for i in range(600):
        stamp = i * 10_000_000
        wave = math.sin(0.7 * i)
        estimator.imu(stamp, (0.001 * wave, 0.0, 0.0), (0.01 * wave, 0.0, 9.80665))
        estimator.pressure(stamp, pressure + wave - 21_000.0 * (i % 10 == 9))
        assert abs(estimator.state(stamp).position[2]) < 0.5
    assert estimator.counts['pressure']['innovation'] >= 50


def test_all_lost_is_said_and_gives_no_apogee(flight):
    """Every sensor falls silent in coast: the estimate becomes unusable, not wrong."""
    estimator = Estimator(PARAMS, Mounting())
    detector = make_detector(ApogeeParams())
    for i, stamp in enumerate(flight['stamp']):
        since = i / 100.0 - PAD_TIME
        estimator.set_stage(
            Stage.PAD if since < 0.1 else Stage.BOOST if since < 2.3 else Stage.COAST
        )
        if since < 4.0:
            values = flight['imu'][i].tolist()
            estimator.imu(stamp, values[:3], values[3:])
            estimator.pressure(stamp, float(flight['pressure'][i, 0]))
        state = estimator.state(stamp)
        sample = sample_of(state, PARAMS)
        found = detector.update(stamp, sample.altitude, sample.velocity, sample.acceleration)
        if since < flight['apogee'] - 1.0:
            assert not found.detected
    assert state.mode is Mode.NO_SENSOR
    assert math.isnan(sample.velocity)
    later = sample_of(estimator.state(stamp + 8_000_000_000), PARAMS)
    assert math.isnan(later.altitude)


def _report() -> None:
    """Print the table of the documentation."""
    flight = globals()['flight'].__wrapped__()
    for sensor, kind in DURING:
        for phase, window in WINDOWS.items():
            rows, states, detected = _follow(flight, sensor, kind, window)
            time, error = rows.T
            lasts = np.abs(error[(time > window[0]) & (time < window[1] + 0.5)]).max()
            after = np.abs(error[time > window[1] + AFTER]).max()
            mode = states[int(np.searchsorted(time, window[1] - 0.05))].mode.value
            delay = NAN if detected is None else detected - flight['apogee']
            numbers = f'{lasts:.1f} | {after:.1f} | {delay:+.2f} | {mode} |'
            print(f'| {sensor} {kind} | {phase} | {numbers}')


if __name__ == '__main__':
    _report()
