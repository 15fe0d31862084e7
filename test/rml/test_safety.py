# SPDX-License-Identifier: Apache-2.0
"""Where devices may act by their configuration, and how they are left."""
from __future__ import annotations

import json
import math

import pytest

from flown_vehicle import S
from parts import amount
from propulsion_ros.flight.apogee.detector import ApogeeDetector, ApogeeParams
from propulsion_ros.flight.events.conditions import All, LessThan, MoreThan
from propulsion_ros.flight.events.events import EventEngine
from propulsion_ros.flight.events.variables import Sample, Variables
from propulsion_ros.flight.flight_state import FlightState
from propulsion_ros.flight.phases.params import FlightParams
from propulsion_ros.flight.phases.phases import Phase
from propulsion_ros.flight.pyros.actuators import Actuators
from propulsion_ros.graph.share import share_directory
from propulsion_ros.rml.config import load_flight_config, read_flight_config
from propulsion_ros.settings.errors import SourceError
from refusals import refusal

CONFIG = share_directory() / 'config'
PYRO = {'id': 0, 'name': 'drogue', 'type': 'local_pyro', 'channel': 0}
FAST = {'id': 1, 'name': 'main', 'type': 'local_pyro', 'channel': 2, 'max_climb': 20}
ENGINE = {'id': 0, 'name': 'e', 'type': 'SimpleEngine',
          'igniter': {'type': 'local_pyro', 'channel': 1}}
WHEN = {'operator': 'MORETHAN', 'flightVar': 'TimeSinceLiftoff', 'threshold': 0}
LIGHT = {'type': 'engine', 'id': 0, 'param': 1}
SHUT_DOWN = {'type': 'engine', 'id': 0, 'param': 0}
DEPLOY = {'type': 'deployment', 'id': 0, 'param': 500}
COMMAND = {'type': 'command', 'destination': 1, 'destination_service': 1, 'command_id': 1,
           'command_arg': 0}


def read(action, semantics='safe', engine=None, **event):
    """Return the event that an action makes, and the configuration."""
    config = read_flight_config(json.dumps({
        'Deployers': [PYRO, FAST], 'Engines': [{**ENGINE, **(engine or {})}],
        'Events': [{'id': 0, 'single_fire': True, 'cooldown': 0, 'action': action,
                    'condition': WHEN, **event}],
    }), semantics)
    return config.events[0], config


@pytest.mark.parametrize(('action', 'phases'), [
    pytest.param(LIGHT, ('launch', 'flight'), id='lights'),
    pytest.param(SHUT_DOWN, ('launch', 'flight'), id='shuts down'),
    pytest.param([LIGHT, COMMAND], ('launch', 'flight'), id='lights, and commands'),
    pytest.param(DEPLOY, ('flight', 'recovery'), id='deploys'),
    pytest.param([DEPLOY, SHUT_DOWN], ('flight', 'recovery'), id='deploys, and shuts down'),
    pytest.param([COMMAND, DEPLOY], ('flight', 'recovery'), id='commands, and deploys'),
    pytest.param(COMMAND, (), id='commands'),
    pytest.param(None, (), id='does nothing'),
])
def test_default_phases(action, phases):
    assert read(action)[0].phases == phases
    assert read(action, 'legacy')[0].phases == ()


@pytest.mark.parametrize(('action', 'phases', 'engine', 'error'), [
    pytest.param(DEPLOY, ['launch'], {},
                 'Events[0].phases: deployers act in flight and recovery alone, not in launch',
                 id='deploys on the pad'),
    pytest.param(LIGHT, ['flight', 'descent'], {},
                 "Events[0].phases: engine 'e' is not lit after apogee, declare landing: true or "
                 'leave out descent', id='lights on the way down'),
    pytest.param([COMMAND, LIGHT], ['recovery', 'landed'], {},
                 "Events[0].phases: engine 'e' is not lit after apogee, declare landing: true or "
                 'leave out recovery and landed', id='lights after the landing'),
    pytest.param([DEPLOY, LIGHT], ['launch', 'flight'], {},
                 'Events[0].phases: deployers act in flight and recovery alone, not in launch',
                 id='lights and deploys on the pad'),
    pytest.param(LIGHT, ['boost', 'coast'], {}, None, id='lights in the ascent'),
    pytest.param(LIGHT, ['recovery'], {'landing': True}, None, id='lights for the landing'),
    pytest.param(SHUT_DOWN, ['recovery'], {}, None, id='shuts down on the way down'),
    pytest.param(DEPLOY, ['coast', 'descent'], {}, None, id='deploys in the air'),
])
def test_phases_in_which_devices_never_act_are_refused(action, phases, engine, error):
    if error is None:
        assert read(action, engine=engine, phases=phases)[0].phases == tuple(phases)
        return
    assert refusal(read, action, engine=engine, phases=phases) == error


@pytest.mark.parametrize(('action', 'landing', 'lands'), [
    pytest.param(LIGHT, True, True, id='for the landing'),
    pytest.param([COMMAND, LIGHT], False, False, id='for the ascent'),
])
def test_events_know_whether_what_they_light_may_be_lit_on_the_way_down(action, landing, lands):
    assert read(action, engine={'landing': landing})[0].lands is lands


LIMITS = {'max_tilt': 0.35, 'min_height': 500, 'max_height': 4000, 'earliest': 3000, 'latest': 9000}


def test_limits_of_an_engine_join_the_condition_of_events_that_light_it():
    event, config = read(LIGHT, engine=LIMITS)
    assert event.condition == All((
        MoreThan('TimeSinceLiftoff', 0, 0.0), LessThan('Tilt', 0, 0.35),
        LessThan('Position', 2, -500.0), MoreThan('Position', 2, -4000.0),
        MoreThan('TimeSinceLiftoff', 0, 3000.0), LessThan('TimeSinceLiftoff', 0, 9000.0),
    ))
    assert str(event.condition).endswith(
        'tilt < 20.05352283 deg and altitude > 500 m and altitude <= 4000 m and time since liftoff '
        '>= 3 s and time since liftoff < 9 s'
    )
    assert len(config.engines[0].limits) == 5
    assert read(SHUT_DOWN, engine=LIMITS)[0].condition == MoreThan('TimeSinceLiftoff', 0, 0.0)
    assert read(LIGHT, 'legacy', LIMITS)[0].condition == MoreThan('TimeSinceLiftoff', 0, 0.0)


@pytest.mark.parametrize('height', [{'min_height': -100}, {'max_height': -100}])
def test_limit_of_a_height_is_one_above_the_pad(height):
    with pytest.raises(SourceError, match=f'{min(height)}: -100 .* 0 m: write 100'):
        read(LIGHT, engine=height)


@pytest.mark.parametrize(('tilt', 'height', 'time', 'lights'), [
    pytest.param(0.1, 1000.0, 5.0, True, id='within all'),
    pytest.param(0.4, 1000.0, 5.0, False, id='tilted'),
    pytest.param(math.nan, 1000.0, 5.0, False, id='tilt unknown'),
    pytest.param(0.1, 400.0, 5.0, False, id='too low'),
    pytest.param(0.1, 4100.0, 5.0, False, id='too high'),
    pytest.param(0.1, math.nan, 5.0, False, id='height unknown'),
    pytest.param(0.1, 1000.0, 2.9, False, id='too early'),
    pytest.param(0.1, 1000.0, 9.0, False, id='too late'),
])
def test_engine_is_lit_within_its_limits_alone(tilt, height, time, lights):
    engine = EventEngine([read(LIGHT, engine=LIMITS)[0]])
    variables = Variables(
        round(time * S), (0.0, 0.0, -height), liftoff_ns=0, tilt=tilt, words=frozenset(['flight'])
    )
    assert bool(engine.update(variables, 0)) == lights


def test_slowest_deployer_of_an_event_sets_its_limit_of_speed():
    both = [DEPLOY, {**DEPLOY, 'id': 1}]
    assert read(DEPLOY)[0].max_climb == math.inf
    assert read(both)[0].max_climb == 20.0
    assert read(both, 'legacy')[0].max_climb == 20.0


def test_shipped_configurations_are_read_and_are_safe():
    paths = sorted(CONFIG.glob('*.jsonc'))
    assert [path.name for path in paths] == ['rocket_flight.jsonc', 'thanos_flight.jsonc']
    for path in paths:
        config = load_flight_config(path)
        assert not any(engine.landing for engine in config.engines), path
        assert all(event.max_climb == 30.0 for event in config.events if event.deploys), path
        for engine in config.engines:
            assert all(valve.is_safe_open for valve in engine.valves), path
        for event in config.events:
            where = set(event.phases)
            if event.deploys:
                assert where <= {'flight', 'recovery', 'boost', 'coast', 'descent'}, event.name
            if event.ignites:
                assert where == {'launch', 'flight'}, event.name


def test_stop_leaves_the_vents_of_the_shipped_engine_open_before_and_after_the_launch():
    config = load_flight_config(CONFIG / 'thanos_flight.jsonc')
    actuators = Actuators(config.deployers, config.engines)
    for phase in (Phase.PREFLIGHT, Phase.LAUNCH, Phase.FLIGHT):
        actuators.enter(phase, 0, arms_deployers=False)
        actuators.enter(Phase.SETUP, 0, arms_deployers=False)
        vents = {row.name: row.position for row in actuators.engines.rows(0) if 'valve' in row.name}
        assert len(vents) == 3
        assert all(angle == pytest.approx(math.pi) for angle in vents.values()), (phase, vents)


ALWAYS = [
    pytest.param({'operator': 'MORETHAN', 'flightVar': 'Position', 'component': 2,
                  'threshold': -1e6}, id='a sign that is wrong'),
    pytest.param({'operator': 'LESSTHAN', 'flightVar': 'Velocity', 'component': 2,
                  'threshold': 1e6}, id='a threshold that is wrong'),
    pytest.param({'operator': 'OR', 'condition': [
        {'operator': 'MORETHAN', 'flightVar': 'Position', 'component': -1, 'threshold': 0},
        {'operator': 'LESSTHAN', 'flightVar': 'Position', 'component': -1, 'threshold': 1},
    ]}, id='either'),
]


def on_the_pad(action, semantics, condition):
    """Return what an event does that is always true, from power-on through launch, at rest."""
    _, config = read(action, semantics, condition=condition)
    state = FlightState(
        FlightParams(max_ascent_time=2.0), ApogeeDetector(ApogeeParams()), config.events,
        config.deployers, semantics=semantics,
    )
    actuators, on = Actuators(config.deployers, config.engines), []
    for i in range(amount('rest', 200, 400)):
        report = state.update(Sample(i * S // 50, *[1e-3 * (i % 2)] * 3, (0.0, 0.0)))
        actuators.enter(state.phase, report.stamp_ns, arms_deployers=state.arms_deployers)
        for event in report.events:
            for done in event.actions:
                actuators.act(done, report.stamp_ns)
        efforts = actuators.deployers.efforts(report.stamp_ns)
        on += [name for name, effort in zip(('drogue', 'main'), efforts, strict=True) if effort]
        on += [row.name for row in actuators.engines.rows(report.stamp_ns) if row.effort == 1.0]
        if i == 100:
            assert state.command('launch', report.stamp_ns) == ''
    assert state.phase is Phase.LAUNCH
    return set(on)


@pytest.mark.parametrize('condition', ALWAYS)
@pytest.mark.parametrize(('action', 'flown'), [
    pytest.param(DEPLOY, {'drogue'}, id='deploys'),
    pytest.param(LIGHT, {'e', 'e/igniter'}, id='lights'),
    pytest.param([LIGHT, DEPLOY], {'drogue', 'e', 'e/igniter'}, id='both'),
])
def test_condition_that_is_always_true_does_nothing_on_the_pad_but_as_flown(
    action, flown, condition
):
    assert on_the_pad(action, 'safe', condition) == set()
    assert on_the_pad(action, 'legacy', condition) == flown
