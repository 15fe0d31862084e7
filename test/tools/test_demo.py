"""The demo as a visitor runs it, twice."""
from __future__ import annotations

import json
import subprocess
import sys

import pytest

EXHAUST_VELOCITY = 2600.0 / 1.205


def fly(folder):
    """Run the demo and return its results and what it printed."""
    command = [sys.executable, '-m', 'propulsion_ros.tools.cli', 'demo', '--output', str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=110, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return (folder / 'flight.json').read_text(), done.stdout


@pytest.fixture(scope='module')
def flights(tmp_path_factory):
    """Return folder, results and output of two runs."""
    folders = [tmp_path_factory.mktemp(name) for name in ('first', 'second')]
    return folders, [fly(folder) for folder in folders]


@pytest.fixture(scope='module')
def flight(flights):
    """Return the results of the first run."""
    return json.loads(flights[1][0][0])


@pytest.mark.timeout(240)
def test_two_runs_give_the_same_numbers_to_the_last_bit(flights):
    _, (first, second) = flights
    assert first[0] == second[0]


def test_impulse_is_that_of_the_propellant_burnt(flight):
    burnt = flight['propellant_start'] - flight['propellant_left']
    assert flight['propellant_start'] == pytest.approx(3.6)
    assert burnt > 3.5
    assert flight['impulse'] == pytest.approx(burnt * EXHAUST_VELOCITY, rel=1e-9)


def test_vehicle_loses_the_mass_that_was_burnt(flight):
    burnt = flight['propellant_start'] - flight['propellant_left']
    assert flight['mass_lost'] == pytest.approx(burnt, rel=1e-14)


def test_apogee_is_found_where_it_is(flight):
    assert flight['apogee'] == pytest.approx(flight['true_apogee'], abs=0.3)
    assert flight['detected'] == pytest.approx(flight['true_apogee'], abs=0.3)
    assert flight['altitude'] == pytest.approx(flight['true_altitude'], abs=5.0)
    assert flight['predicted'] == pytest.approx(flight['true_apogee'], abs=1.5)


def test_flight_takes_its_course(flight):
    assert 2.0 < flight['liftoff'] < flight['burnout'] < flight['true_apogee']
    assert flight['max_speed_time'] == pytest.approx(flight['burnout'], abs=0.1)


def test_table_and_picture_are_there(flights):
    folders, ((_, printed), _) = flights
    for word in ('liftoff', 'burnout', 'apogee, found', 'drogue parachute', 'main parachute',
                 'propellant left'):
        assert word in printed
    picture = (folders[0] / 'flight.png').read_bytes()
    assert picture.startswith(b'\x89PNG')
    assert len(picture) > 30_000
