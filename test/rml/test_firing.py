# SPDX-License-Identifier: Apache-2.0
"""Events that can never fire, and events that only look so."""
from __future__ import annotations

import itertools
import json
import math
import random

import pytest

from propulsion_ros.flight.events.conditions import All, Any, Between, LessThan, MoreThan, Not
from propulsion_ros.flight.events.events import Action, EventSpec
from propulsion_ros.flight.events.variables import Variables
from propulsion_ros.rml.config import (
    doubtful_events,
    load_flight_config,
    read_flight_config,
    why_unlit,
)
from propulsion_ros.rml.firing import never_fires
from refusals import refusal

MS, HOUR = 1_000_000, 3_600_000.0
FIRE = {'type': 'deployment', 'id': 0, 'param': 1000}


def more(variable, threshold, **component):
    return {'operator': 'MORETHAN', 'flightVar': variable, 'threshold': threshold, **component}


def less(variable, threshold, **component):
    return {**more(variable, threshold, **component), 'operator': 'LESSTHAN'}


def all_of(*conditions):
    return {'operator': 'AND', 'condition': list(conditions)}


def any_of(*conditions):
    return {'operator': 'OR', 'condition': list(conditions)}


def negated(condition):
    return {'operator': 'NOT', 'condition': condition}


def text_of(condition, *others, **event):
    events = [{'action': FIRE, 'condition': condition, **event}, *others]
    deployers = [{'id': 0, 'type': 'local_pyro', 'channel': 0}] * (events[0]['action'] == FIRE)
    return json.dumps({
        'Deployers': deployers, 'Events': [{'id': i, **event} for i, event in enumerate(events)]
    })


def reasons(text, source='pressure', **options):
    return [reason for _, reason in never_fires(read_flight_config(text).events, source, **options)]


APOGEE = more('TimeSinceApogee', 0)
DOWN = {'component': 2}
LOW = more('Position', -450, **DOWN)
TILTED = more('Tilt', 1.5)
AFTER_0 = more('TimeSinceEvent', 100, component=0)
AFTER_1 = more('TimeSinceEvent', 100, component=1)


@pytest.mark.parametrize(('text', 'source', 'reason'), [
    pytest.param(text_of(TILTED), 'pressure', 'tilt is unknown with altitude_source pressure',
                 id='tilt of a barometer'),
    pytest.param(text_of(more('Position', -1e5, component=1)), 'pressure',
                 'distance east is unknown with altitude_source pressure',
                 id='position of a barometer'),
    pytest.param(text_of(more('Velocity', 5, component=-1)), 'pressure',
                 'speed is unknown with altitude_source pressure', id='speed of a barometer'),
    pytest.param(text_of(all_of(APOGEE, more('Acceleration', -100, **DOWN))), 'odometry',
                 'upward acceleration is unknown with altitude_source odometry',
                 id='acceleration of an odometry'),
    pytest.param(text_of(any_of(TILTED, all_of(LOW, negated(TILTED)))), 'pressure',
                 'tilt is unknown with altitude_source pressure', id='tilt in every alternative'),
    pytest.param(text_of(APOGEE, phases=['boost']), 'pressure',
                 'time since apogee is unknown before recovery', id='after apogee, in boost'),
    pytest.param(text_of(APOGEE, for_ms=1e8), 'pressure',
                 'no flight lasts for 100000 s, its for_ms', id='for longer than a flight'),
    pytest.param(text_of(more('TimeSinceLiftoff', 25 * HOUR)), 'pressure',
                 'never time since liftoff >= 90000 s', id='later than any flight'),
    pytest.param(text_of(less('TimeSinceApogee', 0)), 'pressure',
                 'never time since apogee < 0 s', id='before it is known'),
    pytest.param(text_of(more('Tilt', 3.2)), 'odometry', 'never tilt >= 183.3464944 deg',
                 id='tilt of more than half a turn'),
    pytest.param(text_of(all_of(more('Position', -400, **DOWN), less('Position', -500, **DOWN))),
                 'odometry', 'never altitude <= 400 m together with its other limits',
                 id='low and high at once'),
    pytest.param(text_of(all_of(LOW, negated(LOW))), 'odometry',
                 'never altitude <= 450 m together with its other limits', id='and not'),
    pytest.param(text_of({'operator': 'BETWEEN', 'flightVar': 'TimeSinceApogee', 'lower': 0,
                          'upper': 100}, for_ms=300), 'odometry',
                 'time since apogee is in its limits for less than for_ms, 300 ms',
                 id='window shorter than the dwell'),
    pytest.param(text_of(AFTER_0), 'odometry',
                 'time since event 0 is unknown, since that event does not fire before',
                 id='after itself'),
    pytest.param(text_of(AFTER_1, {'action': None, 'condition': AFTER_0}), 'odometry',
                 'time since event 1 is unknown, since that event does not fire before',
                 id='after each other'),
    pytest.param(text_of(AFTER_1, {'action': None, 'condition': TILTED}), 'pressure',
                 'time since event 1 is unknown, since that event does not fire before',
                 id='after one that never fires'),
])
def test_event_that_can_never_fire(text, source, reason):
    assert reasons(text, source) == [reason]


@pytest.mark.parametrize(('text', 'source'), [
    pytest.param(text_of(APOGEE), 'pressure', id='after apogee'),
    pytest.param(text_of(APOGEE, for_ms=HOUR), 'pressure', id='a balloon that falls for hours'),
    pytest.param(text_of(all_of(APOGEE, LOW)), 'pressure', id='altitude'),
    pytest.param(text_of(more('Velocity', 5, **DOWN)), 'pressure', id='fitted velocity'),
    pytest.param(text_of(any_of(TILTED, LOW)), 'pressure', id='one alternative is known'),
    pytest.param(text_of(negated(all_of(TILTED, LOW))), 'pressure', id='not both'),
    pytest.param(text_of(all_of(APOGEE, TILTED)), 'odometry', id='tilt of an odometry'),
    pytest.param(text_of(more('Acceleration', -100, **DOWN)), 'sensors', id='all sensors'),
    pytest.param(text_of(more('TimeSinceIgnition', 9000), phases=['boost']), 'pressure',
                 id='timed from ignition'),
    pytest.param(text_of(any_of(APOGEE, AFTER_0)), 'pressure', id='itself, or apogee'),
    pytest.param(text_of(AFTER_1, {'action': None, 'condition': LOW}), 'pressure',
                 id='after a later one of the list'),
    pytest.param(text_of(all_of({'localPyroChannel': 0, 'continuity': True}, APOGEE)), 'pressure',
                 id='circuit'),
    pytest.param(text_of(APOGEE, {'action': None, 'condition': TILTED}), 'pressure',
                 id='what deploys nothing may never happen'),
    pytest.param(text_of(more('Position', 450, **DOWN)), 'pressure', id='below the pad'),
])
def test_event_that_may_fire(text, source):
    assert reasons(text, source) == []


def test_event_that_would_take_too_long_to_judge_may_fire():
    either = any_of(*[less('Position', -500 - i, **DOWN) for i in range(8)])
    text = text_of(all_of(LOW, *[either] * 40))
    assert reasons(text) == []


def test_it_is_refused_where_it_is_loaded_for_a_source_of_the_altitude(tmp_path):
    path = tmp_path / 'flight.jsonc'
    path.write_text(text_of(TILTED, name='drogue'))
    for source in ('', 'odometry', 'sensors'):
        load_flight_config(path, 'safe', source)
    assert refusal(load_flight_config, path, 'safe', 'pressure') == (
        f"{path}:1: Events[0].condition: 'drogue' can never fire: tilt is unknown with "
        'altitude_source pressure'
    )


@pytest.mark.parametrize(('condition', 'limit'), [
    pytest.param(less('Position', 300, **DOWN), 300, id='sign and operator'),
    pytest.param(all_of(APOGEE, less('Position', 450, **DOWN)), 450, id='after apogee'),
    pytest.param(all_of(APOGEE, LOW), None, id='right'),
    pytest.param(less('Position', -100, **DOWN), None, id='above 100 m'),
])
def test_limit_that_holds_at_any_altitude_is_doubtful(condition, limit):
    """A main for below 300 m fired at the apogee."""
    doubts = doubtful_events(read_flight_config(text_of(condition, name='main')), 'pressure')
    found = [line for line in doubts if 'holds from the pad on up' in line]
    assert len(found) == (limit is not None)
    assert limit is None or f'write MORETHAN -{limit} for below {limit} m' in found[0]


@pytest.mark.parametrize(('names', 'words', 'heights', 'doubts'), [
    pytest.param(['drogue', 'drogue_backup', 'main'], ['drogue', 'drogue backup', 'main'],
                 [2000, 1900, 300], [], id='backup of the drogue'),
    pytest.param(['drogue', 'main', 'main_backup'], ['drogue', 'main', 'backup of main'],
                 [2000, 300, 250], [], id='backup of the main, in other words'),
    pytest.param(['drogue', 'drogue_backup', 'main'], ['a', 'b', 'c'],
                 [2000, 200, 300], [], id='backup below the main'),
    pytest.param(['drogue', 'main'], ['main', 'low'], [2000, 300],
                 ["event 'main' deploys 'drogue', not 'main'"], id='another one'),
    pytest.param(['drogue', 'drogue_backup', 'main'], ['a', 'b', 'c'], [200, 100, 300],
                 ["opens 'main' where"], id='main first'),
])
def test_deployers_of_one_purpose_are_not_taken_for_each_other(names, words, heights, doubts):
    """A second deployer of the drogue was named a wrong one, and a drogue that opens too late."""
    events = [
        {'id': i, 'name': word, 'action': {**FIRE, 'id': i},
         'condition': all_of(APOGEE, more('Position', -height, **DOWN))}
        for i, (word, height) in enumerate(zip(words, heights, strict=True))
    ]
    deployers = [{'id': i, 'name': name, 'type': 'local_pyro', 'channel': i}
                 for i, name in enumerate(names)]
    config = read_flight_config(json.dumps({'Deployers': deployers, 'Events': events}))
    found = doubtful_events(config, 'pressure')
    assert len(found) == len(doubts)
    assert all(part in line for part, line in zip(doubts, found, strict=True))


UP = more('Position', 0, **DOWN)
FALLING = more('Velocity', 0, **DOWN)


@pytest.mark.parametrize(('condition', 'others', 'changes', 'is_doubtful'), [
    pytest.param(LOW, [], {}, True, id='altitude alone'),
    pytest.param(LOW, [], {'for_ms': 2000}, True, id='for longer'),
    pytest.param(LOW, [], {'phases': ['flight']}, True, id='in flight alone'),
    pytest.param(LOW, [], {'phases': ['recovery']}, False, id='in recovery'),
    pytest.param(LOW, [], {'phases': ['coast']}, False, id='meant in the coast'),
    pytest.param(LOW, [], {'action': {'type': 'command', 'destination': 1, 'command_id': 1,
                           'destination_service': 1, 'command_arg': 0}}, False, id='no charge'),
    pytest.param(all_of(LOW, APOGEE), [], {}, False, id='after apogee'),
    pytest.param(any_of(LOW, APOGEE), [], {}, True, id='or after apogee'),
    pytest.param(negated(less('Position', -450, **DOWN)), [], {}, True, id='not above'),
    pytest.param(all_of(LOW, FALLING), [], {}, False, id='it falls'),
    pytest.param(all_of(LOW, negated(less('Velocity', 0, **DOWN))), [], {}, False,
                 id='it does not climb'),
    pytest.param(all_of(LOW, more('Velocity', -5, **DOWN)), [], {}, True, id='it climbs slowly'),
    pytest.param(more('TimeSinceLiftoff', 24000), [], {}, False, id='timer'),
    pytest.param(more('TimeSinceLiftoff', 0), [], {}, True, id='at liftoff'),
    pytest.param(all_of(LOW, more('TimeSinceEvent', 0, component=1)),
                 [{'action': None, 'condition': APOGEE}], {}, False, id='after one after apogee'),
    pytest.param(all_of(LOW, more('TimeSinceEvent', 0, component=1)),
                 [{'action': None, 'condition': UP, 'phases': ['descent']}], {}, False,
                 id='after one of the descent'),
    pytest.param(all_of(LOW, more('TimeSinceEvent', 0, component=1)),
                 [{'action': None, 'condition': UP}], {}, True, id='after one in the climb'),
])
def test_charge_that_can_fire_in_the_climb_is_doubtful(condition, others, changes, is_doubtful):
    """A main for below 250 m fired 0.3 s after liftoff, and nothing warned of it."""
    config = read_flight_config(text_of(condition, *others, name='dome out', **changes))
    doubt = (
        f"event 'dome out' can fire in the climb: '{config.events[0].condition}' holds there too; "
        'add TimeSinceApogee, or "phases": ["recovery"]'
    )
    assert doubtful_events(config, 'odometry') == [doubt] * is_doubtful


MAIN = {'id': 0, 'name': 'main', 'type': 'local_pyro', 'channel': 0}
HIGH = all_of(APOGEE, less('Position', -450, **DOWN))


@pytest.mark.parametrize(('conditions', 'changes', 'doubt'), [
    pytest.param([HIGH], {}, "opens 'main' where '(time since apogee >= 0 s and altitude > 450 m) "
                 "for 0.3 s', and never below; are MORETHAN and LESSTHAN swapped?", id='swapped'),
    pytest.param([HIGH, all_of(APOGEE, LOW)], {}, '', id='another event opens it low'),
    pytest.param([all_of(APOGEE, negated(less('Position', -450, **DOWN)))], {}, '', id='negated'),
    pytest.param([all_of(APOGEE, {'operator': 'BETWEEN', 'flightVar': 'Position', 'lower': -450,
                                  'upper': -20, **DOWN})], {}, '', id='between'),
    pytest.param([all_of(APOGEE, less('TimeSinceApogee', 5000))], {}, '', id='soon'),
    pytest.param([APOGEE], {'max_climb': 30000}, "'main' has max_climb 30000 m/s, at which no",
                 id='climb in mm/s'),
    pytest.param([APOGEE], {'max_climb': 100}, '', id='fast climb'),
])
def test_a_main_that_never_opens_low_or_at_any_speed_is_doubtful(conditions, changes, doubt):
    events = [{'id': i, 'name': 'it', 'action': FIRE, 'condition': condition}
              for i, condition in enumerate(conditions)]
    text = json.dumps({'Deployers': [{**MAIN, **changes}], 'Events': events})
    found = doubtful_events(read_flight_config(text), 'pressure')
    assert len(found) == bool(doubt)
    assert doubt in ''.join(found)


NOTHING = {'action': None, 'name': 'drogue out'}


@pytest.mark.parametrize(('changes', 'has_block', 'doubts'), [
    pytest.param({}, True, [], id='right'),
    pytest.param({'action': {**FIRE, 'id': 1}}, True, ["no event fires 'drogue'"], id='another'),
    pytest.param(NOTHING, True, [
        f"no event fires '{name}'; event 'drogue out' has no action" for name in ('drogue', 'main')
    ], id='no action'),
    pytest.param({'action': {**FIRE, 'id': 7}}, False, [
        'Deployers: is missing, and events deploy deployer_7; describe each of them'
    ], id='not described'),
    pytest.param(NOTHING, False, [], id='nothing to deploy'),
])
def test_deployer_that_no_event_fires_is_doubtful(changes, has_block, doubts):
    """Its parachute stayed packed, and the log had the event at apogee as fired."""
    both = {'Deployers': [{'id': i, 'name': name, 'type': 'local_pyro', 'channel': i}
                          for i, name in enumerate(('drogue', 'main'))]}
    first = {'id': 0, 'action': FIRE, 'condition': APOGEE, **changes}
    second = {'id': 1, 'action': {**FIRE, 'id': 1}, 'condition': all_of(APOGEE, LOW)}
    events = [first, second][:2 if has_block and not changes else 1]
    text = json.dumps({**(both if has_block else {}), 'Events': events})
    assert doubtful_events(read_flight_config(text), 'pressure') == doubts


def test_engine_that_only_the_network_knows_may_be_lit_on_the_pad():
    """The flown files need no block Engines."""
    config = read_flight_config(json.dumps({'Events': [{
        'id': 0, 'single_fire': True, 'cooldown': 0,
        'action': {'type': 'engine', 'id': 3, 'param': 1},
        'condition': more('TimeSinceIgnition', 0, component=0),
    }]}), 'legacy')
    assert why_unlit(config) is None


ASIDE = more('Position', -300, component=0)


@pytest.mark.parametrize(('condition', 'changes', 'doubt'), [
    pytest.param(all_of(ASIDE, APOGEE), {}, "event 'it' deploys by 'distance north >= -300 m', "
                 'whatever its altitude, which is component 2', id='north'),
    pytest.param(all_of(ASIDE, APOGEE, LOW), {}, '', id='north and low'),
    pytest.param(all_of(more('Velocity', 3, component=-1), APOGEE), {}, '', id='speed'),
    pytest.param(all_of(ASIDE, APOGEE), {'action': None}, '', id='no charge'),
    pytest.param(all_of(LOW, APOGEE), {'single_fire': False}, "event 'it' fires 'deployer_0' again "
                 'and again, since its single_fire is false; a charge burns once: leave it out',
                 id='again and again'),
])
def test_charge_that_is_aside_or_repeated_is_doubtful(condition, changes, doubt):
    config = read_flight_config(text_of(condition, name='it', **changes))
    assert doubtful_events(config, 'sensors') == [doubt] * bool(doubt)


FIRST = more('TimeSinceIgnition', 0)
HOW = "event 'it' lights its engine however {}: give that engine {}".format


@pytest.mark.parametrize(('limits', 'pulse', 'source', 'condition', 'doubt'), [
    pytest.param({}, 500, 'sensors', UP, HOW('late and tilted', 'latest and max_tilt'),
                 id='neither'),
    pytest.param({'latest': 9000}, 500, 'sensors', UP, HOW('tilted', 'max_tilt'), id='tilt'),
    pytest.param({'max_tilt': 0.3}, 500, 'sensors', UP, HOW('late', 'latest'), id='time'),
    pytest.param({'earliest': 4000}, 500, 'pressure', UP, HOW('late', 'latest'), id='by pressure'),
    pytest.param({'latest': 9000, 'max_tilt': 0.3}, 500, 'sensors', UP, '', id='both'),
    pytest.param({}, 500, 'sensors', all_of(less('TimeSinceLiftoff', 9000), less('Tilt', 0.3)), '',
                 id='both by its condition'),
    pytest.param({'landing': True}, 500, 'sensors', UP, '', id='landing'),
    pytest.param({}, 500, 'sensors', FIRST, '', id='first ignition'),
    pytest.param({'latest': 8, 'max_tilt': 0.3}, 500, 'sensors', UP,
                 "'upper' is lit only with 'time since liftoff < 0.008 s', times are in ms: write "
                 '8000 for 8 s', id='seconds'),
    pytest.param({}, 0.5, 'pressure', FIRST, "igniter of 'upper' has param 0.5, a pulse of 0.5 ms, "
                 'too short for a charge; write the on-time in ms, as 1000', id='short pulse'),
])
def test_engine_that_is_lit_however_late_or_tilted_or_for_too_short_is_doubtful(
    limits, pulse, source, condition, doubt
):
    engine = {'id': 0, 'name': 'upper', 'type': 'SimpleEngine', **limits,
              'igniter': {'type': 'local_pyro', 'channel': 0, 'param': pulse}}
    event = {'id': 0, 'name': 'it', 'action': {'type': 'engine', 'id': 0, 'param': 1},
             'condition': condition}
    config = read_flight_config(json.dumps({'Engines': [engine], 'Events': [event]}))
    assert doubtful_events(config, source) == [doubt] * bool(doubt)


VALUES = [i / 2.0 for i in range(9)]


def random_condition(rng, depth=0):
    kind = rng.randrange(6 if depth < 4 else 3)
    if kind < 3:
        variable, component = rng.choice([('Position', 2), ('Tilt', 0), ('TimeSinceApogee', 0)])
        limits = sorted(rng.choice(VALUES[:6]) for _ in range(2))
        return (
            MoreThan(variable, component, limits[0]), LessThan(variable, component, limits[0]),
            Between(variable, component, *limits),
        )[kind]
    parts = tuple(random_condition(rng, depth + 1) for _ in range(rng.randrange(1, 4)))
    return (All(parts), Any(parts), Not(parts[0]))[kind - 3]


def may_hold(condition):
    return any(
        condition(Variables(
            round(time * MS), position=(math.nan, math.nan, down), tilt=tilt, apogee_ns=0,
        ))
        for down, tilt, time in itertools.product(VALUES, VALUES[:7], VALUES)
    )


def test_no_event_that_can_fire_is_refused():
    rng, found = random.Random(1), 0
    for _ in range(150):
        condition = random_condition(rng)
        spec = EventSpec(0, 'e', condition, (Action('deployment', 0, 1.0),))
        is_never = bool(list(never_fires([spec], 'sensors')))
        found += is_never
        assert not (is_never and may_hold(condition)), condition
    assert found > 10
