# SPDX-License-Identifier: Apache-2.0
"""The event engine as flown: every recorded case, its actions and its times of trigger."""
import json
import math
from pathlib import Path

import pytest

from propulsion_ros.flight.events.events import EventSpec
from propulsion_ros.flight.events.variables import Variables
from propulsion_ros.flight.legacy.events import LegacyEventEngine
from propulsion_ros.rml.config import read_flight_config
from propulsion_ros.settings.errors import SourceError

MS = 1_000_000
GOLDEN = Path(__file__).parents[2] / 'data' / 'golden' / 'events.json'
CASES = {case['name']: case for case in json.loads(GOLDEN.read_text())['cases']}
LOADED = [name for name, case in CASES.items() if case['setup'].startswith('SETUP_OK')]
REFUSED = {
    'default_cooldown_missing': 'Events[0].cooldown: is missing',
    'depth_4': 'document: is nested too deeply, more than 10 levels',
    'depth_7': 'document: is nested too deeply, more than 10 levels',
    'deepjson_depth_7': f'Events[0].condition{".condition[0]" * 6}: conditions are nested more'
                        ' than 6 deep',
    'bad_operator': "Events[0].condition.operator: unknown 'EQUAL', expected MORETHAN or LESSTHAN",
    'bad_combination': "Events[0].condition.operator: unknown 'XOR', did you mean 'OR'?",
    'condition_is_array': 'Events[0].condition: expected an object, got'
                          " [{'operator': 'MORETHAN', 'flightVar ...",
    'missing_condition': 'Events[0].condition: is missing',
    'id_mismatch': 'Events[0].id: expected 0, its place in the list, got 1',
    'id_missing': 'Events[0].id: is missing',
}


def read(case):
    """Read a case's configuration; some were recorded with the parser's limit raised."""
    with pytest.MonkeyPatch.context() as patch:
        if case['name'].startswith('deepjson'):
            patch.setattr('propulsion_ros.rml.config._LEGACY_NESTING', 200)
        return read_flight_config(json.dumps(case['config']), 'legacy')


def as_recorded(action):
    if action.kind == 'command':
        return f'command:{action.target}:{action.service}:{action.command}:{action.param:g}'
    return f'{action.kind}:{action.target}:{action.param:g}'


def replay(case):
    """Return the recording that this engine makes of a case."""
    engine = LegacyEventEngine(read(case).events)
    out = []
    for row in case['script']:
        if row == 'RESET':
            engine.reset()
            out.append(row)
            continue
        known = {key: math.nan if value is None else value for key, value in row.items()}
        variables = Variables(
            known['t'] * MS,
            position=(known['pn'], known['pe'], known['pd']),
            velocity=(known['vn'], known['ve'], known['vd']),
            acceleration=(known['an'], known['ae'], known['ad']),
            board_orientation=(known['roll'], known['pitch'], known['yaw']),
            rocket_orientation=(known['rroll'], known['rpitch'], known['ryaw']),
            tilt=known['tilt'],
            ignition_ns=known['ignition'] * MS or None,
            liftoff_ns=known['liftoff'] * MS or None,
            apogee_ns=known['apogee'] * MS or None,
            time_since_event=engine.time_since,
            # The recorder's stub: channel 1 is open.
            continuity=lambda channel: channel != 1,
        )
        fired = engine.update(variables, known['t'] * MS)
        out.append({
            't': known['t'],
            'actions': [as_recorded(action) for event in fired for action in event.actions],
            'time_triggered': [record.triggered_ms for record in engine._records],
            'exception': None,
        })
    return out


def test_no_recorded_case_is_left_out():
    assert sorted([*LOADED, *REFUSED]) == sorted(CASES)
    assert len(CASES) == 29


@pytest.mark.parametrize('name', LOADED)
def test_flown_software_is_reproduced(name):
    assert replay(CASES[name]) == CASES[name]['expected']


@pytest.mark.parametrize('name', REFUSED)
def test_what_the_flown_software_could_not_load_is_refused_with_its_path(name):
    with pytest.raises(SourceError) as caught:
        read(CASES[name])
    assert str(caught.value) == REFUSED[name]


def test_record_of_spent_events_survives():
    events = read(CASES['same_tick_order']).events
    engine = LegacyEventEngine(events)
    falling = Variables(
        120 * MS, velocity=(0.0, 0.0, 6.0), time_since_event=engine.time_since
    )
    assert [event.id for event in engine.update(falling, 0)] == [1, 2]
    records = engine.records()
    assert [(record.id, record.since_ns) for record in records] == [(1, 0), (2, 0)]
    again = LegacyEventEngine(events)
    again.restore(records, 1120 * MS, 1000 * MS)
    assert [record.triggered_ms for record in again._records] == [0, 120, 120]
    later = Variables(1140 * MS, velocity=(0.0, 0.0, 6.0), time_since_event=again.time_since)
    # Event 0 waits for event 1, and it alone is not spent.
    assert [event.id for event in again.update(later, 0)] == [0]
    assert again.time_since(1) == 1020 * MS


def test_event_without_actions_is_reported_when_it_begins_to_hold():
    (event,) = read(CASES['reset']).events
    engine = LegacyEventEngine([EventSpec(0, 'mark', event.condition, (), False, 0)])
    downs = [0.0, 6.0, 6.0, 0.0, 6.0]
    assert [
        len(engine.update(Variables((i + 1) * MS, velocity=(0.0, 0.0, down)), 0))
        for i, down in enumerate(downs)
    ] == [0, 1, 0, 0, 1]


@pytest.mark.parametrize('event_id', [-1, 1])
def test_unknown_event_has_no_time_since(event_id):
    (event,) = read(CASES['reset']).events
    assert LegacyEventEngine([event]).time_since(event_id) is None
