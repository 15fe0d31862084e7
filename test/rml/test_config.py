# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from propulsion_ros.flight.events.conditions import All, MoreThan
from propulsion_ros.flight.events.events import Action
from propulsion_ros.flight.pyros.deployers import DeployerSpec
from propulsion_ros.rml.config import load_flight_config, read_flight_config
from propulsion_ros.settings.errors import SourceError

DEMO = Path(__file__).parents[2] / 'config' / 'rocket_flight.jsonc'
# Both examples of the flown software's page, but for braces around each event, which it lost.
MAIN_PARACHUTE = """{"Events":[{
"id": 0,
"name" : "main parachute", // this is an optional parameter
"single_fire": true, "cooldown": 0,
"action": [{"type": "deployment", "id": 1, "param": 10000}],
"condition": {"operator": "AND", "condition": [
{"operator": "MORETHAN", "flightVar": "Position", "component": 2,
"threshold": -500 //500m AGL in NED
},
{"operator": "MORETHAN", "flightVar": "TimeSinceApogee", "threshold": 0}
]}
}]}"""
ONE_G_FOR_TWO_SECONDS = """{"Events":[{
"id": 0,
"single_fire": false,
"cooldown": 50, // realistic sampling?
"action": [],
"condition": {"operator": "MORETHAN", "flightVar": "Acceleration", "component": 2,
"threshold": -9.81 // 1g of upward acceleration
}
},
{
"id": 1, "single_fire": true, "cooldown": 0,
"action": [{"type": "deployment", "id": 1, "param": 10000}],
"condition": {"operator": "MORETHAN", "flightVar": "TimeSinceEvent",
"component":0, // aD > -1g
"threshold": 2000}
}]}"""


def test_first_example_of_the_flown_software():
    config = read_flight_config(MAIN_PARACHUTE)
    (event,) = config.events
    assert event.condition == All(
        (MoreThan('Position', 2, -500.0), MoreThan('TimeSinceApogee', 0, 0.0))
    )
    assert event.actions == (Action('deployment', 1, 10000.0),)
    assert (event.name, event.single_fire, event.cooldown_ns) == ('main parachute', True, 0)
    assert [deployer.name for deployer in config.deployers] == ['deployer_0', 'deployer_1']


def test_second_example_of_the_flown_software():
    events = read_flight_config(ONE_G_FOR_TWO_SECONDS).events
    assert [str(event.condition) for event in events] == [
        'upward acceleration <= 9.81 m/s^2', 'time since event 0 >= 2 s',
    ]
    assert events[0].cooldown_ns == 50_000_000
    assert events[0].actions == ()


def test_demo():
    config = load_flight_config(DEMO)
    assert config.deployers == (
        DeployerSpec(0, 'drogue', 'local_pyro', channel=0, max_climb=30.0),
        DeployerSpec(1, 'main', 'local_pyro', channel=1, max_climb=30.0),
    )
    assert [event.max_climb for event in config.events] == [30.0, 30.0, math.inf]
    assert [(event.name, str(event.condition)) for event in config.events] == [
        ('drogue parachute', 'time since apogee >= 0 s'),
        ('main parachute', 'altitude <= 450 m and time since apogee >= 0 s'),
        ('ignition', 'time since ignition >= 0 s'),
    ]
    assert [(engine.booster, engine.thrust) for engine in config.engines] == [
        ('booster_1', 1300.0), ('booster_2', 1300.0),
    ]
    assert config.unread == ()


def test_blocks_that_set_nothing_are_checked_and_named():
    text = MAIN_PARACHUTE.replace(
        '"Events":', '"Radio": {"SyncByte": 1}, "General": {"AutoLaunch": false}, "Events":'
    )
    assert read_flight_config(text).unread == ('General', 'Radio')
    with pytest.raises(SourceError, match=r"Radio\.SyncBite: unknown key, did you mean 'SyncByte'"):
        read_flight_config(text.replace('SyncByte', 'SyncBite'))


def test_deployers_of_both_kinds():
    text = MAIN_PARACHUTE.replace(
        '"Events":',
        '"Deployers": [{"id": 0, //drogue\n"type": "net_actuator", "address": 17,'
        ' "destination_service": 10}, {"id": 1, "type": "local_pyro", "channel": 3}], "Events":',
    )
    assert read_flight_config(text).deployers == (
        DeployerSpec(0, 'deployer_0', 'net_actuator', 17, 10),
        DeployerSpec(1, 'deployer_1', 'local_pyro', channel=3),
    )


def nested(depth, leaf):
    for _ in range(depth):
        leaf = {'operator': 'AND', 'condition': [leaf, leaf_of()]}
    return leaf


def leaf_of(**changes):
    leaf = {'operator': 'LESSTHAN', 'flightVar': 'Position', 'component': 2, 'threshold': 0}
    return leaf | changes


def document(condition=None, **event):
    deployers = [{'id': 0, 'type': 'local_pyro', 'channel': 0}]
    action = [{'type': 'deployment', 'id': 0, 'param': 100}]
    entry = {'id': 0, 'action': action, 'condition': condition or leaf_of()} | event
    return {'Deployers': deployers, 'Events': [entry]}


def test_defaults_of_an_event():
    (event,) = read_flight_config(json.dumps(document())).events
    assert (event.name, event.single_fire, event.cooldown_ns) == ('event 0', True, 1_000_000_000)


def test_times_of_an_event_are_milliseconds():
    text = json.dumps(document(cooldown=20, for_ms=30, max_age_ms=40))
    (event,) = read_flight_config(text).events
    times = event.cooldown_ns, event.dwell_ns, event.max_age_ns
    assert times == (20_000_000, 30_000_000, 40_000_000)


@pytest.mark.parametrize(
    ('action', 'count'),
    [
        pytest.param({'type': 'deployment', 'id': 0, 'param': 5}, 1, id='object'),
        pytest.param(None, 0, id='null'),
        pytest.param([], 0, id='none'),
        pytest.param([{'type': 'deployment', 'id': 0, 'param': 5}] * 3, 3, id='three'),
    ],
)
def test_forms_of_the_action(action, count):
    (event,) = read_flight_config(json.dumps(document(action=action))).events
    assert len(event.actions) == count


def test_a_list_of_one_is_its_only_condition_at_any_depth():
    condition = leaf_of()
    for i in range(10):
        condition = {'condition': [condition]} | ({'operator': 'OR'} if i % 2 else {})
    (event,) = read_flight_config(json.dumps(document(condition))).events
    assert str(event.condition) == 'altitude > 0 m'


def test_six_levels_are_the_limit():
    assert read_flight_config(json.dumps(document(nested(6, leaf_of()))))
    with pytest.raises(SourceError, match='nested more than 6 deep'):
        read_flight_config(json.dumps(document(nested(7, leaf_of()))))


PAIR = {'operator': 'AND', 'condition': [leaf_of(), leaf_of(flightVar='Positon')]}
SECOND = 'Events[0].condition.condition[1].flightVar'
LEAF = 'Events[0].condition'


@pytest.mark.parametrize(
    ('value', 'error'),
    [
        pytest.param(
            document(PAIR), f"{SECOND}: unknown 'Positon', did you mean 'Position'?",
            id='flight variable',
        ),
        pytest.param(
            document(leaf_of(operator='MORTHAN')),
            f"{LEAF}.operator: unknown 'MORTHAN', did you mean 'MORETHAN'?", id='operator',
        ),
        pytest.param(
            document(leaf_of(component=3)),
            f'{LEAF}.component: expected 0 or 1 or 2 or -1, got 3', id='component',
        ),
        pytest.param(
            document(leaf_of(flightVar='TimeSinceEvent', component=1)),
            f'{LEAF}.component: expected 0, got 1', id='event that does not exist',
        ),
        pytest.param(
            document({'operator': 'LESSTHAN', 'flightVar': 'Velocity', 'threshold': 1}),
            f'{LEAF}.component: is missing', id='component is missing',
        ),
        pytest.param(
            document({'operator': 'LESSTHAN', 'flightVar': 'TimeSinceApogee'}),
            f'{LEAF}.threshold: is missing', id='threshold is missing',
        ),
        pytest.param(
            document(leaf_of(threshold='10')),
            f"{LEAF}.threshold: expected a number, got '10'; write it without quotes",
            id='text for a number',
        ),
        pytest.param(
            document(leaf_of(threshold=float('nan'))),
            f'{LEAF}.threshold: expected a finite number', id='NaN',
        ),
        pytest.param(
            document(leaf_of(threshold=10**400)),
            f'{LEAF}.threshold: expected a finite number', id='beyond all numbers',
        ),
        pytest.param(
            document(leaf_of(treshold=1)),
            f"{LEAF}.treshold: unknown key, did you mean 'threshold'?", id='key of a condition',
        ),
        pytest.param(
            document(singel_fire=True),
            "Events[0].singel_fire: unknown key, did you mean 'single_fire'?", id='key',
        ),
        pytest.param(
            document(single_fire=1),
            'Events[0].single_fire: expected true or false, got 1', id='number for a flag',
        ),
        pytest.param(
            document(cooldown=-1), 'Events[0].cooldown: -1 is below 0 ms', id='cooldown',
        ),
        pytest.param(
            document(id=1), 'Events[0].id: expected 0, its place in the list, got 1', id='id',
        ),
        pytest.param(
            document(action=[{'type': 'deployment', 'id': 1, 'param': 5}]),
            'Events[0].action[0].id: expected 0, got 1', id='deployer that does not exist',
        ),
        pytest.param(
            document(action=[{'type': 'deployment', 'id': 0, 'param': 0}]),
            'Events[0].action[0].param: 0 is below 1 ms', id='on-time',
        ),
        pytest.param(
            document(action=[{'type': 'deploy', 'id': 0, 'param': 1}]),
            "Events[0].action[0].type: unknown 'deploy', did you mean 'deployment'?",
            id='type of action',
        ),
        pytest.param(
            document({'operator': 'AND', 'condition': []}),
            f'{LEAF}.condition: expected at least one condition', id='empty combination',
        ),
        pytest.param({'Events': []}, 'Events: expected at least one event', id='no events'),
        pytest.param({'Deployers': []}, 'Events: is missing', id='no Events block'),
        pytest.param({'Evnts': []}, "Evnts: unknown key, did you mean 'Events'?", id='block'),
        pytest.param([], 'document: expected an object, got []', id='list'),
        pytest.param(
            {'Events': {'id': 0}}, "Events: expected a list, got {'id': 0}", id='object for a list',
        ),
        pytest.param(
            document() | {'Deployers': [{'id': 0, 'type': 'local_pyro', 'channel': 4}]},
            'Deployers[0].channel: expected 0 to 3, got 4', id='channel',
        ),
        pytest.param(
            document() | {'Deployers': [{'id': 0, 'type': 'local_piro', 'channel': 0}]},
            "Deployers[0].type: unknown 'local_piro', did you mean 'local_pyro'?", id='deployer',
        ),
    ],
)
def test_errors_name_the_place_and_the_remedy(value, error):
    with pytest.raises(SourceError) as caught:
        read_flight_config(json.dumps(value))
    assert str(caught.value) == error


@pytest.mark.parametrize(
    ('text', 'error'),
    [
        pytest.param('', 'document: is not JSON: ', id='empty'),
        pytest.param('{"Events": [', 'document: is not JSON: ', id='cut off'),
        pytest.param('{"Events": [], "Events": []}', 'document: is not JSON: ', id='key twice'),
        pytest.param('[' * 5000 + ']' * 5000, 'document: is nested too deeply', id='deep'),
    ],
)
def test_text_that_cannot_be_parsed(text, error):
    with pytest.raises(SourceError) as caught:
        read_flight_config(text)
    assert str(caught.value).startswith(error)
    assert '\n' not in str(caught.value)


def test_file_in_the_folder_of_the_user(tmp_path, monkeypatch):
    monkeypatch.setenv('HOME', str(tmp_path))
    event = {'id': 0, 'condition': {'flightVar': 'TimeSinceApogee', 'operator': 'MORETHAN',
                                    'threshold': 0}}
    (tmp_path / 'flight.jsonc').write_text(json.dumps({'Events': [event]}))
    assert len(load_flight_config('~/flight.jsonc').events) == 1


def test_errors_of_a_file_name_it(tmp_path):
    path = tmp_path / 'rml.jsonc'
    path.write_text('{"Events": []}')
    with pytest.raises(SourceError, match=r'rml\.jsonc:1: Events: expected at least one event'):
        load_flight_config(path)
    with pytest.raises(SourceError, match=r'absent\.jsonc: cannot be read'):
        load_flight_config(tmp_path / 'absent.jsonc')
