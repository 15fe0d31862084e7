# SPDX-License-Identifier: Apache-2.0
"""Readers of parameter files, flight configurations, motors and the record of a flight."""
from __future__ import annotations

import functools
import hashlib
import json
import math
from typing import Any

from fuzz import rcl
from fuzz.descriptions import take_step
from fuzz.target import Target, UnsoundError, require, shipped, text_of, written
from fuzz.text_formats import JSON, WORDS, YAML
from propulsion_ros.flight.apogee.detector import ApogeeDetector
from propulsion_ros.flight.apogee.params import ApogeeParams
from propulsion_ros.flight.events.events import Action, EventRecord
from propulsion_ros.flight.events.variables import Sample
from propulsion_ros.flight.flight_state import FlightState
from propulsion_ros.flight.phases.params import FlightParams
from propulsion_ros.flight.phases.phases import Phase
from propulsion_ros.flight.pyros.actuators import Actuators
from propulsion_ros.flight.resumption import Snapshot
from propulsion_ros.graph.node_config import build_family, family_of
from propulsion_ros.loops.flight.record_file import FlightRecord, OwedPulse, decode, encode
from propulsion_ros.models.common.thrust_curve import parse_curve
from propulsion_ros.models.supply.motors import parse_rasp
from propulsion_ros.rml.config import BLOCKS, FlightConfig, read_flight_config
from propulsion_ros.settings.errors import CommandError, SourceError
from propulsion_ros.settings.yaml_file import ParameterFile
from propulsion_ros.study.study import MOST_CASES, read_study
from propulsion_ros.tools.check import check_file


def _parameters(data: bytes) -> None:
    """Read a file for `check`; what that takes, ROS must take, and read the same in it."""
    path = written('parameters.yaml', data)
    file = ParameterFile(path)
    for node in file.nodes:
        file.of(node, '/fleet')
    ours: dict[str, dict[str, Any]] = {}
    for pattern, values in file.entries:
        ours.setdefault(pattern, {}).update(values)
    try:
        theirs = rcl.read(path)
    except ValueError as error:
        if file.places.unquoted:
            # Other releases of the parser take that.
            return
        raise UnsoundError(f'ROS refuses what is read here: {error}') from error
    for name, given in theirs.items():
        pattern = f'/{name.strip("/")}'
        require(_same(ours.pop(pattern, {}), given), f'{pattern}: ROS reads {given}')
    require(not any(ours.values()), f'ROS does not read {ours}')
    for fault in check_file(path).faults:
        raise SourceError('fault', fault)
    for name, space in file.nodes_and_namespaces:
        values = file.of(name, space)
        family = family_of(values, None, name)
        if family:
            take_step(build_family(family, values, None)[0])


def _same(ours: dict[str, Any], theirs: dict[str, Any]) -> bool:
    # An array without elements is no value in ROS; a NaN is no other NaN, but its text is.
    return repr({k: ours[k] for k in sorted(ours)}) == repr({
        k: [] if theirs[k] is None else theirs[k] for k in sorted(theirs)
    })


def _study(data: bytes) -> None:
    """Read a study, and draw its first and last case."""
    study = read_study(written('study.yaml', data))
    require(0 < study.size <= MOST_CASES, f'{study.size} cases')
    for number in (0, study.size - 1):
        drawn = [x for x in study.case(number).values.values() if isinstance(x, float)]
        require(all(map(math.isfinite, drawn)), f'{study.case(number)}')


def _flight_config(semantics: str, data: bytes) -> None:
    fly(read_flight_config(text_of(data), semantics))


def fly(config: FlightConfig) -> None:
    """Let a configuration see every phase; it must stand that."""
    require(bool(config.events), 'a configuration without events')
    require(all(str(event) for event in config.events), 'an event says nothing')
    state = FlightState(
        FlightParams(), ApogeeDetector(ApogeeParams()), config.events, config.deployers,
        config.controllers, config.semantics,
    )
    actuators = Actuators(config.deployers, config.engines)
    commands = {2: 'launch', 3: 'ignition', 5: 'liftoff_override', 8: 'apogee_override'}
    for i in range(12):
        stamp_ns = i * 500_000_000
        # At rest until the ascent is commanded.
        moved = max(i - 5.0, 0.0)
        report = state.update(Sample(
            stamp_ns, 0.01 * i + 10.0 * moved, 20.0 * moved, 0.01 * i + moved,
            (1.0, i), (1.0, i), (1.0, i),
            rotation=(0.0, 0.1 * i, 0.0, 1.0), circuits=((0, True),),
        ))
        actuators.enter(report.phase, stamp_ns, arms_deployers=state.arms_deployers)
        for control in report.controls:
            actuators.engines.control(control.engine, control.output)
        for event in report.events:
            require(bool(event.why), f'{event} has no reason')
            for action in event.actions:
                _act(actuators, action, stamp_ns)
        if i in commands:
            if commands[i] == 'liftoff_override':
                require(state.command(commands[i], stamp_ns) != '', 'overridden at once')
            refusal = state.command(commands[i], stamp_ns, is_second=True)
            require(refusal == '', f'{commands[i]}: {refusal}')


def _act(actuators: Actuators, action: Action, stamp_ns: int) -> None:
    try:
        actuators.act(action, stamp_ns)
    except CommandError:
        # An event that deploys too may try to light an engine on the way down.
        require(action.ignites, f'{action} was refused')


def _motors(data: bytes) -> None:
    for motor in parse_rasp(text_of(data)):
        values = (motor.total_impulse, motor.max_thrust, motor.max_fuel_rate)
        require(all(math.isfinite(value) for value in values), f'{motor.name}: {values}')
        parse_curve(motor.text)


def _state_file(data: bytes) -> None:
    """Read a flight whose checksum is right, as chance would not make it."""
    try:
        flight = json.loads(data)
    except (ValueError, RecursionError):
        decode(data)
        raise UnsoundError('a record that is no JSON was read') from None
    if isinstance(flight, dict) and 'sha256' in flight:
        decode(data)
        return
    digest = hashlib.sha256(json.dumps(flight, sort_keys=True).encode()).hexdigest()
    document = {'format': 'propulsion_ros flight record 4', 'sha256': digest, 'flight': flight}
    record = decode(json.dumps(document).encode())
    require(repr(decode(encode(record))) == repr(record), 'a record changes when it is written')


def _flights() -> list[bytes]:
    snapshot = Snapshot(
        5_000_000_000, 4_000_000_000, Phase.FLIGHT, True, None, None, None,
        (EventRecord(0, 1_000, 2),),
    )
    record = FlightRecord('config', snapshot, 12.5, (1.0, 2.0), (OwedPulse(0, 0, 1_000_000),))
    return [json.dumps(json.loads(encode(record))['flight']).encode(), encode(record)]


_FLIGHT_WORDS = (
    *(f'"{block}"' for block in BLOCKS), '"operator"', '"condition"', '"NOT"', '"AND"',
    '"BETWEEN"', '1e999', '-Infinity', 'NaN', '\\ud800', '/*', '//', '0x',
)

TARGETS = (
    Target(
        'parameter_file', _parameters, lambda: shipped('config/*.yaml', 'test/data/*.yaml'),
        words=('ros__parameters:', '/**:', '!!python/object/apply:os.system', '!!binary', '&a',
               '*a', '<<:', '.inf', '.nan', '1e400', '0x', '2001-12-14', '- - - -', 'family:'),
        form=YAML,
    ),
    Target(
        'flight_config', functools.partial(_flight_config, 'safe'),
        lambda: shipped('config/*.jsonc'), words=_FLIGHT_WORDS, form=JSON,
    ),
    Target(
        'flight_config_as_flown', functools.partial(_flight_config, 'legacy'),
        lambda: shipped('config/rocket_flight.jsonc'), words=_FLIGHT_WORDS, form=JSON,
    ),
    Target(
        'motor_file', _motors, lambda: shipped('test/data/motors.eng'),
        words=(';', '1e308', 'nan', '-0', '\n0 0\n'), form=WORDS,
    ),
    Target(
        'study', _study, lambda: shipped('studies/*.yaml'), form=YAML,
        words=('vary:', 'grid', 'uniform', 'normal', 'results:', 'limits:', 'null', 'kind',
               'flight', 'replay', 'apogee', 'identify', '1000000', '[0, 1]', '[1, 0]'),
    ),
    Target('state_file', _state_file, _flights, words=('1e400', 'null', 'NaN', '-1', '"flight"'),
           form=JSON),
)
