# SPDX-License-Identifier: Apache-2.0
"""Flown logs through a flight computer: stalls of a pressure, and outages of raw sensors."""
import numpy as np
import pytest
from flown_sensors import flown_logs, fly_pressure, fly_sensors, hedy

from parts import amount, few_of

pytestmark = pytest.mark.part('flights')
ALWAYS = ((-1e9, 1e9),)
COARSE = 'astra_upv_2022'  # one sample a second
LOGS = (
    'bella_lui_2020', 'genesis_2023', 'andromeda_2022', COARSE, 'camoes_2023', 'cavour_2023',
    'erebus11_2022', 'halcyon_2023', 'hedy_2025_baro', 'lince_2023', 'prometheus_2022_telemega',
    'prometheus_2022_telemetrum', 'ndrt_2020', 'hedy_2025_ekf',
)
BAROMETERS = LOGS[:-1]
STALL = 0.8
# Begin and length of outages with which the inertial speed was believed for ever, or an apogee
# was found on the way up.
FOUND = ((4.3, 1.32), (5.36, 49.5), (4.7, 43.2), (4.85, 18.93))


@pytest.fixture(scope='module')
def logs(flights):
    return {flown.name: flown for flown in flown_logs(flights)}


@pytest.fixture(scope='module')
def flight(flights):
    return hedy(flights)


def check(flown, outcome, error=20.0):
    slack = 1.5 if flown.name == COARSE else 0.0
    delay = outcome.drogue - flown.apogee
    assert abs(delay) < 0.7 + flown.uncertainty + slack, delay
    assert abs(outcome.altitude_error) < error
    assert -0.1 < outcome.main_delay < 1.0 + 2.0 * slack, 'main at its altitude'


@pytest.mark.parametrize('name', few_of(BAROMETERS, 6))
def test_barometer_alone_has_apogee_and_main(logs, name):
    check(logs[name], fly_sensors(logs[name], ALWAYS))


@pytest.mark.parametrize('name', few_of([
    name for name in BAROMETERS if name[:3] in ('gen', 'lin', 'cam', 'hal', 'hed')
], 5))
def test_parachute_that_shakes_the_barometer_leaves_no_step_behind(logs, flight, name):
    flown = flight if name == 'hedy_2025_baro' else logs[name]
    check(flown, fly_sensors(flown))


@pytest.mark.slow
@pytest.mark.parametrize(('begin', 'length'), FOUND)
def test_outage_near_mach_1_has_apogee_and_main(flight, begin, length):
    check(flight, fly_sensors(flight, ((begin, begin + length),)), 60.0)


@pytest.mark.parametrize('seed', range(amount('flights', 1, 45)))
def test_outage_of_the_inertial_sensor_has_apogee_and_main(flight, seed):
    rng = np.random.default_rng((19, seed))
    begin = rng.uniform(-1.0, flight.apogee + 5.0)
    length = float(np.exp(rng.uniform(np.log(0.1), np.log(60.0))))
    check(flight, fly_sensors(flight, ((begin, begin + length),)), 60.0)


# A pressure alone, on a robot: a stall at the apogee, and the main.


def test_every_log_with_an_apogee_is_here(logs):
    assert set(logs) == set(LOGS)


@pytest.mark.parametrize('late', [0.15, 0.35])
@pytest.mark.parametrize('before', [0.2, 0.7])
@pytest.mark.parametrize('name', few_of(
    ['bella_lui_2020', 'ndrt_2020', 'prometheus_2022_telemega'], 3
))
def test_drogue_comes_within_a_second_of_the_return_of_late_samples(logs, name, before, late):
    flown = logs[name]
    back = flown.apogee - before + STALL
    outcome = fly_pressure(flown, (back - STALL, back), late, back + 4.0)
    assert outcome.drogue - back < 1.0
    assert outcome.drogue - flown.apogee > -1.0


@pytest.mark.parametrize('name', few_of(LOGS, 7))
def test_main_is_never_above_its_altitude(logs, name):
    outcome = fly_pressure(logs[name])
    slack = 3.0 if name == COARSE else 0.0
    assert -0.1 < outcome.main_delay < 1.0 + slack
