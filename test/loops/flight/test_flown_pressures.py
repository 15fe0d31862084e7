# SPDX-License-Identifier: Apache-2.0
"""Flown logs through a flight computer on a robot: a stall at the apogee, and the main."""
import pytest
from flown_sensors import flown_logs, fly_pressure

from parts import few_of

pytestmark = pytest.mark.part('flights')
STALL = 0.8
COARSE = 'astra_upv_2022'  # one sample a second
LOGS = (
    'bella_lui_2020', 'ndrt_2020', 'lince_2023', 'andromeda_2022', 'camoes_2023', 'cavour_2023',
    'genesis_2023', 'erebus11_2022', 'halcyon_2023', 'hedy_2025_baro', 'hedy_2025_ekf',
    'prometheus_2022_telemega', 'prometheus_2022_telemetrum', COARSE,
)


@pytest.fixture(scope='module')
def logs(flights):
    return {flown.name: flown for flown in flown_logs(flights)}


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
