# SPDX-License-Identifier: Apache-2.0
"""Deployers, engines, controllers, sensors and estimator of a configuration."""
from __future__ import annotations

import json
import math

import numpy as np
import pytest

from propulsion_ros.flight.estimation.mounting import Mounting
from propulsion_ros.flight.events.controllers import PidSpec
from propulsion_ros.flight.events.events import Action
from propulsion_ros.flight.pyros.deployers import DeployerSpec
from propulsion_ros.flight.pyros.engines import EngineSpec, IgniterSpec, ValveSpec
from propulsion_ros.graph.share import share_directory
from propulsion_ros.rml.config import load_flight_config, read_flight_config
from propulsion_ros.settings.errors import SourceError

# As the flown software's page has them; the braces and names of blocks are ours.
AXES = """
"X_AXIS": 0,
"Y_AXIS": 1,
"Z_AXIS": 2,
"X_FLIP": 0,
"Y_FLIP": 0,
"Z_FLIP": 0
"""
DROGUE = """
"id": 0, //drogue
"type": "net_actuator",
"address": 17,
"destination_service": 10
"""
THANOS = """
"id": 0,
"type": "Thanos",
"engine": {
"address": 12,
"destination_service": 10
},
"igniter": {
"address": 11,
"destination_service": 11
},
"fuelVentValve": {
"address": 7,
"destination_service": 10,
"closed_position": 0,
"open_position": 180
},
"oxVentValve": {
"address": 9,
"destination_service": 10,
"closed_position": 0,
"open_position": 180
},
"fuelPrssValve": {
"address": 7,
"destination_service": 11,
"closed_position": 0,
"open_position": 180
}
"""
EVENT = {
    'id': 0, 'single_fire': True, 'cooldown': 0,
    'condition': {'operator': 'MORETHAN', 'flightVar': 'TimeSinceApogee', 'threshold': 0},
}
VENT = {'address': 7, 'destination_service': 10}
ENGINE = {
    'id': 0, 'type': 'Thanos', 'engine': VENT, 'igniter': VENT, 'oxVentValve': VENT,
    'fuelVentValve': VENT, 'fuelPrssValve': VENT,
}
SIMPLE = {'id': 0, 'type': 'SimpleEngine', 'igniter': {'type': 'local_pyro', 'channel': 1}}
SERVO = {'id': 0, 'type': 'local_servo', 'channel': 3}


def read(semantics='safe', event=None, **blocks):
    document = {'Events': [EVENT | (event or {})], **blocks}
    return read_flight_config(json.dumps(document), semantics)


@pytest.mark.parametrize('semantics', ['safe', 'legacy'])
def test_fragments_of_the_flown_software_load_as_they_stand(semantics):
    text = (
        f'{{"Sensors": {{{AXES}}}, "Deployers": [{{{DROGUE}}}], "Engines": [{{{THANOS}}}],'
        f'"Events": [{json.dumps(EVENT)}]}}'
    )
    config = read_flight_config(text, semantics)
    assert Mounting(config.sensors).matrix.tolist() == np.eye(3).tolist()
    assert config.deployers == (DeployerSpec(0, 'deployer_0', 'net_actuator'),)
    assert config.engines == (
        EngineSpec(
            0, 'engine_0', IgniterSpec(1_000_000_000),
            (
                ValveSpec('ox_vent_valve', 0.0, math.pi),
                ValveSpec('fuel_vent_valve', 0.0, math.pi),
                ValveSpec('fuel_press_valve', 0.0, math.pi),
            ),
        ),
    )


def test_shipped_example_of_every_block():
    config = load_flight_config(share_directory() / 'config' / 'thanos_flight.jsonc')
    assert config.unread == ()
    # A quarter turn about y.
    np.testing.assert_allclose(
        config.orientation, [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]], atol=1e-5
    )
    assert config.controllers == (
        PidSpec(0, 'drift', 0.5, 0.01, 0.1, 0.0, 100_000_000, 0, 'Position', 1),
    )
    assert [(event.name, str(event)) for event in config.events] == [
        ('ignition', 'time since ignition >= 0 s'),
        ('shutdown', 'time since ignition >= 6.72 s or tilt >= 45.00010523 deg'),
        ('drogue parachute', 'time since apogee >= 0 s'),
        ('main parachute',
         '(altitude from -100 to 450 m and not (upward velocity > 0 m/s)) for 0.2 s, in descent'),
        ('call for the recovery crew', 'time since apogee >= 0 s, in landed'),
    ]
    assert config.events[4].actions == (Action('command', 1, 0.0, 2, 250),)


@pytest.mark.parametrize(('deployer', 'param', 'angle'), [
    pytest.param(SERVO, 90, True, id='local servo'),
    pytest.param(
        {'id': 0, 'type': 'net_actuator', 'actuator': 'servo', **VENT}, 0, True,
        id='servo elsewhere',
    ),
    pytest.param({'id': 0, 'type': 'net_actuator', **VENT}, 500, False, id='pyro elsewhere'),
])
def test_parameter_of_a_deployment_is_checked_by_what_it_moves(deployer, param, angle):
    action = {'type': 'deployment', 'id': 0, 'param': param}
    config = read(event={'action': action}, Deployers=[deployer])
    assert (config.deployers[0].actuator == 'servo') == angle
    with pytest.raises(SourceError) as caught:
        read(event={'action': action | {'param': 181 if angle else 0}}, Deployers=[deployer])
    problem = '181 is above 180 deg' if angle else '0 is below 1 ms'
    assert str(caught.value) == f'Events[0].action.param: {problem}'


def test_defaults_that_the_flown_software_never_reached():
    config = read(Engines=[ENGINE], Sensors={})
    assert [(v.closed, v.open) for v in config.engines[0].valves] == [(0.0, math.pi)] * 3


def test_fingerprint_tells_configurations_apart():
    prints = {
        read().fingerprint, read('legacy').fingerprint, read(Engines=[SIMPLE]).fingerprint,
    }
    assert len(prints) == 3
    assert read().fingerprint == read().fingerprint


def test_flips_and_inversions_are_0_and_1_or_false_and_true():
    config = read(
        Sensors={'X_FLIP': True, 'Y_FLIP': 0, 'Z_FLIP': 1},
        Estimator={'Orientation': {'type': 'axisAlign', 'x_inv': False, 'y_inv': True}},
    )
    assert config.sensors.flips.tolist() == [1, 0, 1]
    assert config.orientation.tolist() == np.diag([1.0, -1.0, 1.0]).tolist()
