# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from functools import reduce
from operator import getitem
from pathlib import Path

import pytest
import yaml

from propulsion_ros.flight.events.conditions import All, MoreThan
from propulsion_ros.flight.events.events import Action
from propulsion_ros.rml.config import load_flight_config, read_flight_config
from propulsion_ros.settings.errors import SourceError
from refusals import refusal

# The first example of the flown software's page, but for braces around each event, which it lost.
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


def test_first_example_of_the_flown_software():
    config = read_flight_config(MAIN_PARACHUTE)
    (event,) = config.events
    assert event.condition == All(
        (MoreThan('Position', 2, -500.0), MoreThan('TimeSinceApogee', 0, 0.0))
    )
    assert event.actions == (Action('deployment', 1, 10000.0),)
    assert (event.name, event.single_fire, event.cooldown_ns) == ('main parachute', True, 0)
    assert [deployer.name for deployer in config.deployers] == ['deployer_0', 'deployer_1']


def test_blocks_that_set_nothing_are_named():
    text = MAIN_PARACHUTE.replace(
        '"Events":', '"Radio": {"SyncByte": 1}, "General": {"AutoLaunch": false}, "Events":'
    )
    assert read_flight_config(text).unread == ('General', 'Radio')


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


@pytest.mark.parametrize(('action', 'count'), [
    pytest.param({'type': 'deployment', 'id': 0, 'param': 5}, 1, id='object'),
    pytest.param(None, 0, id='null'),
    pytest.param([], 0, id='none'),
    pytest.param([{'type': 'deployment', 'id': 0, 'param': 5}] * 3, 3, id='three'),
])
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


TABLE = yaml.safe_load((Path(__file__).parents[1] / 'mistakes/flight.yaml').read_text())


def changed(changes):
    """Return the right configuration with changes, each by its path."""
    whole = json.loads(json.dumps(TABLE['right']))
    for path, value in changes.items():
        *way, last = (int(part) if part.isdigit() else part for part in path.split('.'))
        reduce(getitem, way, whole)[last] = value
    return json.dumps(whole)


def test_without_the_changes_nothing_is_wrong():
    assert read_flight_config(changed({}))


@pytest.mark.parametrize(('changes', 'error'), [
    pytest.param(changes, error, id=name) for name, changes, error in TABLE['wrong']
])
def test_errors_name_the_place_and_the_remedy(changes, error):
    assert refusal(read_flight_config, changed(changes)).startswith(error)


@pytest.mark.parametrize(('text', 'error'), [
    pytest.param('', 'document: is not JSON: ', id='empty'),
    pytest.param('{"Events": [', 'document: is not JSON: ', id='cut off'),
    pytest.param('[]', 'document: expected an object, got []', id='list'),
    pytest.param('{"Deployers": []}', 'Events: is missing', id='no events'),
    pytest.param('{"Events": [], "Events": []}', 'document: is not JSON: ', id='key twice'),
    pytest.param('[' * 5000 + ']' * 5000, 'document: is nested too deeply', id='deep'),
])
def test_text_that_cannot_be_parsed(text, error):
    assert refusal(read_flight_config, text).startswith(error)


def test_file_in_the_folder_of_the_user(tmp_path, monkeypatch):
    monkeypatch.setenv('HOME', str(tmp_path))
    event = {'id': 0, 'condition': {'flightVar': 'TimeSinceApogee', 'operator': 'MORETHAN',
                                    'threshold': 0}}
    (tmp_path / 'flight.jsonc').write_text(json.dumps({'Events': [event]}))
    assert len(load_flight_config('~/flight.jsonc').events) == 1
