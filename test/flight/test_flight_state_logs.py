# SPDX-License-Identifier: Apache-2.0
"""Whole flights from logs; they lie beside the repository and are not part of it."""
import csv
import itertools
import json
import math
from pathlib import Path

import pytest

from deployments import deployments
from parts import few_of
from propulsion_ros.flight.apogee.detector import ApogeeDetector, ApogeeParams
from propulsion_ros.flight.events.variables import Sample
from propulsion_ros.flight.flight_state import FlightState
from propulsion_ros.flight.phases.params import FlightParams
from propulsion_ros.flight.phases.phases import Phase
from propulsion_ros.rml.config import load_flight_config

ROOT = Path(__file__).parents[2]
FLIGHTS = ROOT.parent / 'shared' / 'flights'
CONFIG = load_flight_config(ROOT / 'config' / 'rocket_flight.jsonc')


def number(text):
    return float(text) if text else math.nan


def read(name):
    """Return the samples of a log and its reference."""
    if not FLIGHTS.is_dir():
        pytest.skip(f'no flight logs in {FLIGHTS}')
    (path,) = FLIGHTS.glob(f'*/{name}.csv')
    references = [
        json.loads((FLIGHTS / file).read_text())
        for file in ('reference.json', 'synthetic/truth.json')
    ]
    reference = (references[0] | references[1])[name]
    with path.open() as file:
        return [
            Sample(
                round(float(row['time_s']) * 1e9),
                number(row['altitude_m']),
                number(row.get('vz_mps')),
                number(row.get('az_mps2')),
            )
            for row in csv.DictReader(file)
        ], reference


def fly(samples, minimum_height=100.0):
    """Arm at the first sample; return the last report and what was deployed."""
    detector = ApogeeDetector(ApogeeParams(minimum_height=minimum_height))
    state = FlightState(FlightParams(), detector, CONFIG.events, CONFIG.deployers)
    report = state.update(samples[0])
    assert state.command('launch', samples[0].stamp_ns) == ''
    deployed = []
    for sample in samples[1:]:
        report = state.update(sample)
        deployed += [command.name for command in deployments(report, CONFIG.deployers)]
    return report, deployed


@pytest.mark.parametrize(('name', 'only_altitude'), few_of(itertools.product([
    'bella_lui_2020', 'ndrt_2020', 'cavour_2023', 'syn_subsonic_1km_timejump_back',
    'prometheus_2022_telemega', 'syn_low_thrust_long_burn', 'syn_two_stage', 'astra_upv_2022',
    'syn_low_hop',
], [False, True]), 7))
def test_a_flight_lifts_off_once_and_the_drogue_comes_at_apogee(name, only_altitude):
    samples, reference = read(name)
    if only_altitude:
        samples = [Sample(sample.stamp_ns, sample.altitude) for sample in samples]
    report, deployed = fly(samples, 30.0 if name == 'syn_low_hop' else 100.0)
    assert report.phase is Phase.RECOVERY
    assert report.apogee.source == 'detected'
    # Once a second no decision can be nearer than about a second.
    allowed = 1.4 if name == 'astra_upv_2022' else 0.6
    if name == 'cavour_2023' and only_altitude:
        # Five samples a second, in whole metres, which its own charge moves by 8 m.
        allowed = 0.7
    assert report.apogee.stamp_ns * 1e-9 == pytest.approx(reference['apogee_t'], abs=allowed)
    assert deployed.count('drogue') == 1
    assert deployed.count('main') <= 1


def test_the_drogue_comes_at_apogee_where_only_the_force_lives():
    """Nothing is foreseen of it: an event of this configuration may light an engine."""
    report, deployed = fly(read('syn_estimator_frozen')[0])
    assert report.apogee.stamp_ns * 1e-9 == pytest.approx(18.312, abs=0.8)  # its true apogee [s]
    assert deployed.count('drogue') == 1
