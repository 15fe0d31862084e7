# SPDX-License-Identifier: Apache-2.0
import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from propulsion_ros.flight.events.conditions import Any, MoreThan
from propulsion_ros.flight.events.events import Action, EventEngine, EventSpec
from propulsion_ros.flight.events.variables import Variables
from propulsion_ros.rml.config import read_flight_config
from propulsion_ros.settings.errors import SourceError

MS = 1_000_000
GOLDEN = Path(__file__).parents[2] / 'data' / 'golden' / 'events.json'
FIRE = (Action('deployment', 0, 100.0),)
FALLS = MoreThan('Velocity', 2, 5.0)

CASES = {case['name']: case for case in json.loads(GOLDEN.read_text())['cases']}

SAME_AS_FLOWN = (
    'doc_main_parachute', 'doc_1g_for_2s', 'boundaries', 'same_tick_order', 'cooldown', 'reset',
    'and_or_nested', 'depth_2', 'deepjson_depth_5', 'deepjson_depth_6',
    'nan_all',
)
REFUSED = {
    'norm_component': 'Events[1].condition.component: expected 0 or 1 or 2 or -1, got 3',
    'deepjson_depth_7': 'conditions are nested more than 6 deep',
    'bad_operator': "Events[0].condition.operator: unknown 'EQUAL'",
    'bad_combination': "Events[0].condition.operator: unknown 'XOR', did you mean 'OR'?",
    'condition_is_array': 'Events[0].condition: expected an object',
    'missing_condition': 'Events[0].condition: is missing',
    'id_mismatch': 'Events[0].id: expected 0, its place in the list, got 1',
    'id_missing': 'Events[0].id: is missing',
    'timesince_event_bad_id': 'Events[0].condition.component: expected 0 to 2, got 77',
}


def velocity(clock_ms, down, engine):
    return Variables(
        clock_ms * MS, velocity=(0.0, 0.0, down), time_since_event=engine.time_since
    )


def fired_at(engine, downs, step_ms=100):
    """Return (time [ms], event id) of every firing for downward speeds at a fixed step."""
    return [
        (i * step_ms, event.id)
        for i, down in enumerate(downs)
        for event in engine.update(velocity(i * step_ms, down, engine), i * step_ms * MS)
    ]


def replay(case):
    """Return (time [ms], actions) of every update of a recorded case, time 0 = not yet."""
    # The flown software waits for no second sample.
    events = [{'for_ms': 0, **event} for event in case['config']['Events']]
    config = {**case['config'], 'Events': events}
    engine = EventEngine(read_flight_config(json.dumps(config)).events)
    out = []
    for row in case['script']:
        if row == 'RESET':
            engine.reset()
            continue
        known = {key: math.nan if value is None else value for key, value in row.items()}
        variables = Variables(
            known['t'] * MS,
            position=(known['pn'], known['pe'], known['pd']),
            velocity=(known['vn'], known['ve'], known['vd']),
            acceleration=(known['an'], known['ae'], known['ad']),
            ignition_ns=known['ignition'] * MS or None,
            liftoff_ns=known['liftoff'] * MS or None,
            apogee_ns=known['apogee'] * MS or None,
            time_since_event=engine.time_since,
            words=frozenset({'flight', 'boost'}),
        )
        fired = engine.update(variables, known['t'] * MS)
        actions = [
            f'{action.kind}:{action.target}:{action.param:g}'
            for event in fired
            for action in event.actions
        ]
        out.append((known['t'], actions))
    return out


@pytest.mark.parametrize('name', SAME_AS_FLOWN)
def test_flown_software_is_reproduced_where_it_is_sound(name):
    case = CASES[name]
    expected = [(row['t'], row['actions']) for row in case['expected'] if row != 'RESET']
    assert replay(case) == expected


@pytest.mark.parametrize('name', REFUSED)
def test_configurations_that_are_refused(name):
    with pytest.raises(SourceError) as caught:
        read_flight_config(json.dumps(CASES[name]['config']))
    assert REFUSED[name] in str(caught.value)


def test_events_that_deploy_are_not_evaluated_on_the_pad():
    (event,) = read_flight_config(json.dumps(CASES['reset']['config'])).events
    assert event.phases == ('flight', 'recovery')
    for word, count in (('launch', 0), ('flight', 1), ('recovery', 1)):
        engine = EventEngine([event])
        variables = replace(velocity(0, 6.0, engine), words=frozenset({word}))
        assert len(engine.update(variables, 0)) == count


def test_silence_of_a_sensor_is_no_boost_although_it_was_in_flight_software():
    case = CASES['doc_1g_for_2s_nan']
    assert any(row['actions'] for row in case['expected'])
    assert not any(actions for _, actions in replay(case))


def test_event_at_time_zero_acts_although_it_never_did_in_flight_software():
    case = CASES['at_millis_0']
    assert not any(row['actions'] for row in case['expected'])
    assert replay(case)[0] == (0, ['deployment:0:100'])


def test_default_cooldown_is_reachable():
    (event,) = read_flight_config(json.dumps(CASES['default_cooldown_missing']['config'])).events
    assert event.cooldown_ns == 1000 * MS


def test_single_fire_fires_once_and_says_why():
    engine = EventEngine([EventSpec(0, 'drogue', FALLS, FIRE)])
    (fired,) = engine.update(velocity(0, 6.0, engine), 42)
    assert (fired.name, fired.stamp_ns, fired.why, fired.count, fired.actions) == (
        'drogue', 42, 'upward velocity <= -5 m/s', 1, FIRE,
    )
    assert engine.update(velocity(100, 6.0, engine), 43) == []
    engine.reset()
    assert len(engine.update(velocity(200, 6.0, engine), 44)) == 1


def test_single_fire_with_a_long_cooldown_still_acts():
    engine = EventEngine([EventSpec(0, 'drogue', FALLS, FIRE, True, 60_000 * MS)])
    assert fired_at(engine, [0.0, 6.0, 6.0]) == [(100, 0)]


@pytest.mark.parametrize(
    ('cooldown_ms', 'times'),
    [
        pytest.param(0, [0, 100, 200, 300, 400], id='none: every update'),
        pytest.param(100, [0, 200, 400], id='more than, not at least'),
        pytest.param(250, [0, 300], id='between updates'),
    ],
)
def test_cooldown_spaces_the_actions(cooldown_ms, times):
    engine = EventEngine([EventSpec(0, 'beep', FALLS, FIRE, False, cooldown_ms * MS)])
    assert fired_at(engine, [6.0] * 5) == [(time, 0) for time in times]


def test_event_without_actions_is_reported_when_it_begins_to_hold():
    engine = EventEngine([EventSpec(0, 'mark', FALLS, (), False)])
    assert fired_at(engine, [0.0, 6.0, 6.0, 0.0, 6.0]) == [(100, 0), (400, 0)]


def quiet_engine():
    """Event 1 fires when event 0 has not held for 2 s."""
    return EventEngine(
        [
            EventSpec(0, 'low', FALLS, (), False),
            EventSpec(1, 'quiet', MoreThan('TimeSinceEvent', 0, 2000.0), FIRE),
        ]
    )


def test_time_since_a_repeating_event_counts_from_when_it_last_held():
    assert (2500, 1) in fired_at(quiet_engine(), [6.0] * 6 + [0.0] * 30)


def test_time_since_a_repeating_event_stands_still_while_it_is_unknown():
    downs = [6.0] * 6 + [0.0] * 10 + [math.nan] * 50 + [0.0] * 30
    fired = fired_at(quiet_engine(), downs)
    # 1 s of known quiet before the silence, of 5 s, so 1 s and one step more after it.
    assert [time for time, event in fired if event == 1] == [7500]


def test_time_since_a_repeating_event_is_unknown_while_its_variable_is():
    engine = quiet_engine()
    fired_at(engine, [6.0] + [0.0] * 5)
    assert engine.time_since(0) == 500 * MS
    engine.update(velocity(600, math.nan, engine), 0)
    assert engine.time_since(0) is None


def test_an_event_that_never_held_has_no_time_since():
    assert fired_at(quiet_engine(), [0.0] * 50) == []


def test_time_since_a_single_event_counts_although_its_variable_is_lost():
    engine = EventEngine(
        [
            EventSpec(0, 'drogue', FALLS, FIRE),
            EventSpec(1, 'main', MoreThan('TimeSinceEvent', 0, 1000.0), FIRE),
        ]
    )
    assert fired_at(engine, [6.0] + [math.nan] * 20) == [(0, 0), (1000, 1)]


@pytest.mark.parametrize(
    ('condition', 'expected'),
    [
        pytest.param(MoreThan('TimeSinceEvent', 0, 0.0), [], id='alone never'),
        pytest.param(
            Any((FALLS, MoreThan('TimeSinceEvent', 0, 0.0))),
            [(100, 0), (200, 0), (300, 0)],
            id='with OR it latches',
        ),
    ],
)
def test_event_that_refers_to_itself(condition, expected):
    engine = EventEngine([EventSpec(0, 'self', condition, FIRE, False)])
    assert fired_at(engine, [0.0, 6.0, 0.0, 0.0]) == expected


@pytest.mark.parametrize('event_id', [-1, 1, 257])
def test_unknown_event_has_no_time_since(event_id):
    engine = EventEngine([EventSpec(0, 'only', FALLS, FIRE)])
    engine.update(velocity(0, 6.0, engine), 0)
    assert engine.time_since(event_id) is None


KNOWN, OTHER, UNKNOWN = 6.0, 0.0, math.nan


@pytest.mark.parametrize(('downs', 'step_ms', 'expected'), [
    pytest.param([KNOWN] * 5, 100, 300, id='each sample'),
    pytest.param([KNOWN, KNOWN, OTHER] + [KNOWN] * 4, 100, 600, id='another value begins anew'),
    pytest.param([KNOWN, KNOWN, UNKNOWN, KNOWN, KNOWN], 100, 400, id='one sample is unknown'),
    pytest.param([KNOWN, *[UNKNOWN] * 9] * 3, 100, 2000, id='1 Hz, with ticks of silence'),
    pytest.param([KNOWN] * 3, 1000, 2000, id='1 Hz'),
    pytest.param([KNOWN, *[UNKNOWN] * 4] * 3, 1000, 10_000, id='as slow as may be'),
    pytest.param([KNOWN, *[UNKNOWN] * 5] * 9, 1000, None, id='too slow to agree'),
    pytest.param([KNOWN, KNOWN] + [UNKNOWN] * 600 + [KNOWN, KNOWN], 100, None, id='a minute'),
    pytest.param([KNOWN, UNKNOWN, KNOWN, OTHER] * 9, 100, None, id='contradicted in time'),
    pytest.param([KNOWN, KNOWN] + [UNKNOWN] * 30, 100, None, id='unknown never counts'),
])
def test_condition_must_hold_for_its_time_on_samples_that_know_it(downs, step_ms, expected):
    engine = EventEngine([EventSpec(0, 'falls', FALLS, FIRE, dwell_ns=300 * MS)])
    fired = [time for time, _ in fired_at(engine, downs, step_ms)]
    assert fired == ([] if expected is None else [expected])


def test_guarded_event_is_unknown_outside_its_phases():
    spec = EventSpec(0, 'low', FALLS, (), False, phases=('descent',))
    engine = EventEngine([spec])
    inside = replace(velocity(0, 6.0, engine), words=frozenset({'recovery', 'descent'}))
    assert len(engine.update(inside, 0)) == 1
    assert engine.time_since(0) == 0
    outside = replace(velocity(100, 0.0, engine), words=frozenset({'recovery', 'landed'}))
    assert engine.update(outside, 0) == []
    assert engine.time_since(0) is None


@pytest.mark.parametrize(
    ('changes', 'sentence'),
    [
        pytest.param({}, 'upward velocity <= -5 m/s', id='plain'),
        pytest.param({'dwell_ns': 500 * MS}, 'upward velocity <= -5 m/s for 0.5 s', id='dwell'),
        pytest.param(
            {'condition': Any((FALLS, FALLS)), 'dwell_ns': MS},
            '(upward velocity <= -5 m/s or upward velocity <= -5 m/s) for 0.001 s',
            id='dwell of a combination',
        ),
        pytest.param(
            {'phases': ('coast', 'descent')}, 'upward velocity <= -5 m/s, in coast or descent',
            id='phases',
        ),
        pytest.param(
            {'phases': ('flight', 'recovery')}, 'upward velocity <= -5 m/s', id='default phases'
        ),
    ],
)
def test_event_says_itself(changes, sentence):
    assert str(replace(EventSpec(0, 'e', FALLS), **changes)) == sentence


def test_event_says_what_was_measured():
    engine = EventEngine([EventSpec(0, 'drogue', FALLS, FIRE)])
    (fired,) = engine.update(velocity(0, 6.25, engine), 0)
    assert fired.measured == (('upward velocity', '-6.25 m/s'),)


def test_spent_events_stay_spent_after_a_restart():
    specs = [
        EventSpec(0, 'drogue', FALLS, FIRE),
        EventSpec(1, 'main', MoreThan('TimeSinceEvent', 0, 1000.0), FIRE),
        EventSpec(2, 'beep', FALLS, FIRE, single_fire=False),
    ]
    engine = EventEngine(specs)
    assert fired_at(engine, [6.0, 6.0, 6.0]) == [(0, 0), (0, 2), (100, 2), (200, 2)]
    records = engine.records()
    assert [(record.id, record.since_ns) for record in records] == [(0, 200 * MS)]
    again = EventEngine(specs)
    again.restore(records, 700 * MS, 500 * MS)
    assert again.time_since(0) == 700 * MS
    # Two steps later the main parachute's second is over.
    fired = [
        (t, event.id) for t in (800, 900, 1000, 1100)
        for event in again.update(velocity(t, 0.0, again), 0)
    ]
    assert fired == [(1000, 1)]


def test_dwell_begins_anew_in_the_next_phase_that_counts():
    engine = EventEngine([EventSpec(0, 'e', FALLS, FIRE, dwell_ns=200 * MS, phases=('descent',))])
    words = ['descent'] * 2 + ['landed'] + ['descent'] * 4
    fired = [
        i * 100
        for i, word in enumerate(words)
        if engine.update(
            replace(velocity(i * 100, 6.0, engine), words=frozenset({word})), 0
        )
    ]
    assert fired == [500]
