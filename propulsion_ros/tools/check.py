# SPDX-License-Identifier: Apache-2.0
"""Check parameter files, robot descriptions and flight configurations."""
from __future__ import annotations

import argparse
import functools
import itertools
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from propulsion_ros.graph.actuator_numbers import LEAST, actuators, of_rows
from propulsion_ros.graph.doubts import NAMES, merged, value_doubts
from propulsion_ros.graph.family_params import group_of, is_allocator, loop_params_of
from propulsion_ros.graph.node_config import (
    block_named,
    block_of,
    check_allocator,
    check_family,
    family_of,
    refuse_unknown_node,
    schema_of,
    taken_from_group,
    unread_sections,
    won_over,
)
from propulsion_ros.graph.physical_numbers import flight_rows
from propulsion_ros.graph.read_layout import Sources, sources_of
from propulsion_ros.graph.remedies import doubts_of
from propulsion_ros.graph.robot_layout import RobotLayout, lines_of
from propulsion_ros.graph.share import read_description, robot_files
from propulsion_ros.graph.simulation import BODY
from propulsion_ros.graph.vehicles import ENGINE_TAG
from propulsion_ros.graph.wiring import FLIGHT
from propulsion_ros.models.registry import REGISTRY
from propulsion_ros.settings.errors import ConfigError, FaultList, SourceError
from propulsion_ros.settings.files import check_file as require_file
from propulsion_ros.settings.files import expand_user, printable, require_target
from propulsion_ros.settings.flat import (
    Parameter,
    all_faults,
    build,
    nearest_key,
    parameters_of,
    unknown_keys,
    unknown_names,
)
from propulsion_ros.settings.hints import by_opening
from propulsion_ros.settings.quantity import flatten
from propulsion_ros.settings.yaml_file import ParameterFile
from propulsion_ros.urdf.block import ActuatorSpec
from propulsion_ros.urdf.reader import actuators_from_urdf, mass_from_urdf
from propulsion_ros.urdf.xml import Description

EXAMPLE = 'robot.yaml --model robot.urdf'
_ROBOTS, _PARAMETERS = ('.urdf', '.xacro'), ('.yaml', '.yml')
_NO_BLOCK = (
    'no plugin block of actuators; expected <gazebo><plugin filename="propulsion_ros" '
    'name="FAMILY">'
)
_CHUTES, _AREAS = 'parachutes.names', 'parachutes.drag_area'
_TIMER, _LOCKOUT = 'flight.max_ascent_time', 'flight.min_ascent_time'
_NOSE, _UP = 'flight.nose', (0.0, 0.0, 1.0)  # direction in which engines push, and its default
_ALONG = 0.9  # least cosine between it and the thrust of engines
_SOON, _LATE = 0.85, 2.0  # of a climb: share of it, and time after it [s], in which an apogee is
_FAST = 40.0  # least upward speed at which no parachute is opened [m/s]
_HARD = 1.5  # least touchdown that is too fast, over that by open canopies
_SAME_PAD = 100.0  # largest difference in altitude of one pad [m]
_DEEPEST = 100.0  # least ratio of thrusts that is a fault; engines do not throttle to a tenth
_SIMULATED = '; silence it where the robot is never simulated: <silenced>body</silenced>'
_FROM_LAUNCH: dict[str, dict[str, Any]] = {
    'vehicle': {'wrench_topics': ['any'], 'deployer_topic': 'any'},
    'visualizer': {'state_topics': ['any']},
}
"""Parameters that launch files give, so that a file need not have them."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument(
        'files', type=Path, nargs='+', metavar='FILE',
        help='parameters (.yaml), robot (.urdf, .xacro, or the name of a vehicle) or flight '
        '(.json, .jsonc, .json5)',
    )
    parser.add_argument(
        '--model', type=Path,
        help='URDF or xacro, or vehicle, with the plugin blocks of the parameter files',
    )
    parser.add_argument(
        '--params-file', type=Path, action='append', default=[], metavar='YAML',
        help='parameters of the robot, which is --model or the only robot among FILE; may be '
        'repeated',
    )
    parser.add_argument(
        '--silence', action='append', default=[], choices=NAMES, metavar='RULE',
        help='leave out the warnings of a rule, whose name ends its line; may be repeated',
    )
    parser.add_argument(
        '--strict', action='store_true', help='exit with code 1 where there is a warning too'
    )
    parser.add_argument(
        '--gazebo', action='store_true', help='find what Gazebo refuses of a robot too'
    )
    parser.add_argument(
        '--show', action='store_true',
        help='print place, axis, thrust, speed and lag of each actuator, and what the robot can do',
    )
    parser.add_argument(
        '--picture', type=Path, metavar='FILE.png', help='draw the layout; needs matplotlib'
    )


def run(args: argparse.Namespace) -> int:
    """Print one line for each fault, then what options request; return 1 if there is a fault."""
    if args.picture:
        require_target(args.picture, *args.files, args.model, *args.params_file)
    model, shipped = robot_files(str(args.model)) if args.model else (None, [])
    files = [robot_files(str(each)) for each in args.files]
    given = [robot_files(str(each))[0] for each in args.params_file]
    robots = {path: own for path, own in files if path.suffix in _ROBOTS}
    judged = [(path, model, own or shipped) for path, own in files]
    parts = {path for path, _ in files if _is_part(path)}
    # Parameters belong to a robot among the files only if it is the only one.
    if (given or parts) and model is None and len(robots) == 1:
        ((model, shipped),) = robots.items()
        judged = [
            (path, model, own or shipped) if given or path in parts else (path, None, own)
            for path, own in files if path != model
        ]
    options = args.silence, args.gazebo
    reports = [check_file(path, robot, *options, behind) for path, robot, behind in judged]
    if given:
        reports.append(check_file(given[-1], model, *options, shipped, given[:-1]))
    # Faults of a description are found with each parameter file again.
    warnings = dict.fromkeys(line for report in reports for line in report.warnings)
    faults = dict.fromkeys(line for report in reports for line in report.faults)
    for warning in warnings:
        print(warning, file=sys.stderr)
    for fault in faults:
        print(fault)
    if faults:
        return 1
    also = f', {_counted(len(warnings), "warning")}' if warnings else ''
    named = {each.file.of(FLIGHT).get('config_file') for each in reports if each.given}
    read = [f'; config_file is {Path.cwd() / each}'
            for each in named if each and not expand_user(each).is_absolute()]
    print(f'no faults in {_counted(len(files) + len(given), "file")}{also}{"".join(read)}',
          file=sys.stderr)
    if args.show or args.picture:
        paths, owns = zip(*files, strict=True)
        robot = _layout([*shipped, *itertools.chain(*owns), *paths, *given], model)
        if args.show:
            print('\n'.join(lines_of(robot, flight_rows(robot))))
        if args.picture:
            from propulsion_ros.pictures.layout import draw_layout

            draw_layout(robot, f'actuators in {robot.base_link}', args.picture)
    return int(args.strict and bool(warnings))


def _is_part(path: Path) -> bool:
    """Return whether a file belongs to a robot: a file without a robot names its actuators."""
    if path.suffix not in _PARAMETERS:
        return False
    try:
        file = ParameterFile(path)
    except ConfigError:
        # It is refused with and without its robot.
        return True
    return not any('names' in file.of(node) for node in file.nodes)


def _layout(files: Sequence[Path], model: Path | None) -> RobotLayout:
    """Return the layout of the one robot among the files, with the parameters of the others."""
    robots = [*([model] if model else []), *(path for path in files if path.suffix in _ROBOTS)]
    if len(set(robots)) != 1:
        raise SourceError(
            '--show and --picture', f'expected one robot description, got {len(set(robots))}; '
            'give it as FILE or by --model'
        )
    text = read_description(robots[0]).text
    specs = actuators_from_urdf(text, loop_params_of)
    if not specs:
        raise SourceError(printable(robots[0]), _NO_BLOCK)
    settings = ParameterFile(*(path for path in files if path.suffix in _PARAMETERS))
    return sources_of(text, specs, settings.of).layout


@dataclass
class Report:
    """Findings in one file, a line each."""

    silenced: Sequence[str] = ()
    """Names of rules whose warnings are left out."""
    for_gazebo: bool = False
    """True if what Gazebo refuses is a fault."""
    shipped: Sequence[Path] = ()
    """Parameter files that come with the robot."""
    given: Sequence[Path] = ()
    """Parameter files that are checked; they win over shipped ones, later over earlier ones."""
    faults: list[str] = field(default_factory=list)
    """Errors that stop a node from starting."""
    warnings: list[str] = field(default_factory=list)
    """Likely mistakes that stop nothing."""

    @functools.cached_property
    def checked(self) -> ParameterFile:
        """The parameter files that are checked."""
        return ParameterFile(*self.given)

    @functools.cached_property
    def file(self) -> ParameterFile:
        """All parameter files of the robot."""
        return ParameterFile(*self.shipped, *self.given) if self.shipped else self.checked

    def add(self, place: str, error: ConfigError) -> None:
        """Take a fault; ``place`` is the file, with the line if it is known."""
        name = place.partition(':')[0]
        line = str(error) if str(error).startswith(name) else f'{place}: {error}'
        if line not in self.faults:
            self.faults.append(line)

    def warn(self, place: str, text: object) -> None:
        """Take a warning."""
        self.warnings.append(f'{place}: warning: {text}')


def check_file(
    path: Path, model: Path | None = None, silenced: Sequence[str] = (), for_gazebo: bool = False,
    shipped: Sequence[Path] = (), behind: Sequence[Path] = (),
) -> Report:
    """Return the report on a file.

    Parameters
    ----------
    model : Path, optional
        Robot description with plugin blocks, over which a parameter file wins.
    for_gazebo : bool
        True if what Gazebo refuses of a robot is a fault.
    shipped : sequence of Path
        Parameter files that come with the robot, over which all others win.
    behind : sequence of Path
        Parameter files of the same robot over which this one wins, checked with it.
    """
    checks: dict[str, Callable[[Path, Path | None, Report], None]] = {
        **dict.fromkeys(_PARAMETERS, _parameters), **dict.fromkeys(_ROBOTS, _robot),
        '.json': _flight, '.jsonc': _flight, '.json5': _flight,
    }
    given = [*behind, path] if behind or path.suffix in _PARAMETERS else []
    report = Report(silenced, for_gazebo, shipped, given)
    name = printable(path)
    try:
        if path.suffix not in checks:
            expected = ', '.join(checks)
            raise SourceError(name, f'expected a name that ends in one of {expected}')
        _require_model(model)
        (_parameters if given else checks[path.suffix])(path, model, report)
    except ConfigError as error:
        report.add(name, error)
    return report


def _require_model(model: Path | None) -> None:
    if model is not None:
        try:
            require_file(model)
        except ConfigError as error:
            raise SourceError('--model', str(error)) from error
        if model.suffix not in _ROBOTS:
            raise SourceError(
                '--model', f'{printable(model)}: expected a robot description, whose name ends in '
                f'{" or ".join(_ROBOTS)}; parameter files are FILEs'
            )


def _flight(path: Path, model: Path | None, report: Report) -> None:
    # The sensors are not known, so all of their values may be used.
    config, doubts = _read_flight(path, 'safe', 'sensors')
    blocks = _blocks_of(read_description(model))[0] if model else []
    for text in (*doubts, *_unlit(config, blocks)):
        report.warn(printable(path), text)


def _read_flight(path: str | Path, semantics: str, source: str) -> tuple[Any, list[str]]:
    """Return a flight configuration and doubts about it; raise `ConfigError` if it is wrong."""
    # Most files do not need it, and its import is a fifth of the time of `check`.
    from propulsion_ros.rml.config import doubtful_events, load_flight_config

    config = load_flight_config(path, semantics, source)
    return config, doubtful_events(config, source)


def _unlit(config: Any, blocks: Sequence[ActuatorSpec]) -> Iterator[str]:
    """Yield a line for each engine that no booster fits, or that no event lights."""
    from propulsion_ros.rml.config import why_unlit

    groups = [b for b in blocks if REGISTRY[b.family].facts.tag == ENGINE_TAG and not b.faulty]
    named = [engine.booster for engine in config.engines if engine.booster]
    for group in groups[:1]:
        names = group.values['names']
        most = np.broadcast_to(group.values.get('max_thrust', 0.0), len(names)).tolist()
        limits = dict(zip(names, most, strict=True))
        for name, why in unknown_names(named, names, group.name):
            yield f'Engines: no {ENGINE_TAG} {name!r} to light: {why}'
        for engine in config.engines:
            limit, who = limits.get(engine.booster, 0.0), f'Engines: {engine.name!r} has'
            if not engine.booster:
                yield f'{who} no {ENGINE_TAG}, and lights none of {", ".join(names)}'
            elif limit and not limit / _DEEPEST <= engine.thrust <= limit:
                yield f'{who} a thrust of {engine.thrust:g} N, and its {ENGINE_TAG} {limit:g} N'
        unlit = why_unlit(config)
        if {*named} == {*names} and unlit is not None:
            yield ('Events: none of TimeSinceIgnition lights an engine on the pad, so ~/ignition '
                   f'lights none{unlit and f": {unlit}"}')


def _swapped(config: Any, body: Mapping[str, Any]) -> Iterator[str]:
    """Yield a line for each parachute that is larger than one that opens after it.

    If the names show the order, another rule warns of it.
    """
    from propulsion_ros.rml.config import openings

    names, first = flatten(body.get(_CHUTES)), openings(config)[0]
    areas = dict(zip(names, flatten(body.get(_AREAS)), strict=False))
    opened = [name for name in first if name in areas] if len(by_opening(names)) < 2 else []
    for name, later in itertools.pairwise(opened):
        if areas[name] > areas[later] and first[name][0] > first[later][0]:
            yield (
                f'{name!r} opens first, with {areas[name]:g} m^2, and {later!r} after it, with '
                f'{areas[later]:g} m^2; are two swapped?'
            )


def _warn_of_devices(
    nodes: Iterable[tuple[str, str]], blocks: Sequence[ActuatorSpec], report: Report
) -> None:
    """Warn if the flight computer of a file and its robot use different names."""
    file = report.file
    for name, namespace in nodes if not report.faults else ():
        values, body = file.of(name, namespace), file.of(BODY, namespace)
        if name == FLIGHT and blocks and not (values.get('config_file') or report.shipped):
            report.warn(file.place_of(name, ''), f'{name}: no config_file: nothing will be fired')
        if name == FLIGHT and (config := _flight_config(values)):
            path = values['config_file']
            for line in _unlit(config, blocks):
                report.warn(file.place_of(name, 'config_file'), f'{path}: {line}')
            key, deployers = _CHUTES, [each.name for each in config.deployers]
            for each, why in unknown_names(flatten(body.get(key)), deployers, path):
                report.warn(file.place_of(BODY, key), f'{BODY}: {key}: {each!r} never opens: {why}')
            for line in _swapped(config, body):
                report.warn(file.place_of(BODY, _AREAS), f'{BODY}: {_AREAS}: by {path} {line}')


def _robot(path: Path, model: Path | None, report: Report) -> None:
    """Report the faults of a robot and its parameter files."""
    REGISTRY.check()
    description = read_description(path)
    blocks, faults = _blocks_of(description)
    named = report.checked.nodes_and_namespaces
    names = {name for name, _ in named}
    described = [(block.name, '') for block in blocks if block.name not in names]
    for name, namespace in (*named, *described):
        _node(name, namespace, blocks, report, faults)
    if report.for_gazebo and not faults.errors:
        from propulsion_ros.gz.model import gazebo_robot

        with faults.whole():
            gazebo_robot(path, faults=faults)
    _report(description, faults, report)
    for node, text in unread_sections(report.checked, blocks) if not report.faults else ():
        report.warn(report.checked.place_of(node, ''), f'{node}: {text}')
    _warn_of_devices(named, blocks, report)
    _rehearse(description, blocks, report)
    _warn_of_robot(description, blocks, report)
    if not (blocks or faults.errors):
        report.add(description.name, SourceError('robot', _NO_BLOCK))


def _blocks_of(description: Description) -> tuple[list[ActuatorSpec], FaultList]:
    """Return the plugin blocks of a description, and its faults."""
    faults = FaultList()
    blocks: list[ActuatorSpec] = []
    with faults.whole():
        blocks = actuators_from_urdf(description.text, loop_params_of, faults=faults)
    for block in blocks:
        for note in block.notes:
            if note not in block.stays:
                faults.warn(note, '')
    if not faults.errors:
        with faults.whole():
            mass_from_urdf(description.text, faults=faults)
    return blocks, faults


def _rehearse(description: Description, blocks: list[ActuatorSpec], report: Report) -> None:
    """Report the errors with which nodes would refuse to start.

    Only `fly` simulates a body: an error of the body is no fault if no link has a mass, or if it is
    silenced, unless a file has settings of the body.
    """
    if report.faults or not blocks or any(block.faulty for block in blocks):
        return
    from propulsion_ros.study.closed_loop import refusals

    file = report.file
    quiet = {*report.silenced, *(name for b in blocks for name in b.values.get('silenced', ()))}
    is_meant = 'body' not in quiet and mass_from_urdf(description.text)[1].mass > 0.0
    is_simulated = bool(file.of(BODY))
    files, deployers = [*report.shipped, *report.given], 'deployers' if report.shipped else ''
    for node, error in refusals(description.text, blocks, files, deployers):
        of_file = '' if isinstance(error, SourceError) else file.place_of(node, error.key)
        place = of_file or description.place_of(error)
        line = error if isinstance(error, SourceError) else SourceError(node, str(error))
        # A launch file of a vehicle starts a flight computer that the file does not name.
        is_launched = error.key == 'deployer_topic'
        if node != BODY or (is_simulated and not is_launched):
            report.add(place, line)
        elif is_meant and not is_launched:
            report.add(place, SourceError(line.key, line.problem + _SIMULATED))
        elif 'body' not in quiet:
            report.warn(place, f'`fly` refuses it: {line}{_SIMULATED}')


def _warn_of_robot(description: Description, blocks: list[ActuatorSpec], report: Report) -> None:
    """Warn of implausible combinations of values, unless there are faults."""
    if report.faults or not blocks:
        return
    for note in (note for block in blocks for note in block.stays):
        report.warn(description.place_of(note), note)
    file = report.file
    sources = sources_of(description.text, blocks, file.of)
    before = len(report.warnings)
    _warn_of_sources(sources, description.place_of, report)
    if file.of(BODY):
        # Numbers in doubt give no flight.
        _warn_of_flight(sources.layout, file, report, len(report.warnings) == before)


def _warn_of_flight(
    robot: RobotLayout, file: ParameterFile, report: Report, is_sure: bool
) -> None:
    """Warn if the flight computer or a nozzle of a file does not fit the flight of the body."""
    site, flight = robot.params.site_altitude, file.of(FLIGHT)
    config = _flight_config(flight)
    pads = [(group.name, group.params.site_altitude) for group in robot.groups
            if np.any(getattr(group.params, 'exit_area', 0.0))]
    for node, own in pads:
        if abs(own - site) > _SAME_PAD:
            report.warn(file.place_of(node, 'site_altitude'), (
                f'{node}: site_altitude is {own:g} m, where body.site_altitude is {site:g} m'
            ))
    pushes = {group.name: group.pushes.sum(axis=0) for group in robot.engines}
    nose, push = (way / max(np.linalg.norm(way), LEAST) for way in (
        np.array(flight.get(_NOSE, _UP), float), np.sum([np.zeros(3), *pushes.values()], axis=0)))
    if config and push.any() and nose @ push < _ALONG:
        ways = [' '.join(f'{each:.3g}' for each in way) for way in (nose, push)]
        report.warn(file.place_of(FLIGHT, _NOSE), (
            f'{FLIGHT}: {_NOSE} is along {ways[0]}, where its engines push along {ways[1]}'
        ))
    burns = of_rows(actuators, '', 'lasts', lambda a: np.nan_to_num(a.ignition_delay))
    stages = config.stages if config else {}
    ends = {each.who.strip(): each.value + (wait + each.of if wait else 0.0)
            for each in burns(robot) if each.block in pushes
            for wait in [stages.get(each.who.strip(), 0.0)]}
    for key, names, why in (
        (_TIMER, ends, 'it opens parachutes in the climb'),
        (_LOCKOUT, stages, 'an apogee before that may be believed'),
    ):
        timer = flight.get(key, 0.0)
        early = [name for name in names if ends.get(name, 0.0) > timer and (timer or key != _TIMER)]
        if early:
            report.warn(file.place_of(FLIGHT, key), f'{FLIGHT}: {key} is {timer:g} s, and '
                        f'{early[0]!r} burns until {ends[early[0]]:.3g} s after liftoff: {why}')
            return
    for node, key, text in _missed(robot, config, flight) if config and is_sure else ():
        report.warn(file.place_of(node, key), f'{node}: {text}')


def _missed(
    robot: RobotLayout, config: Any, flight: Mapping[str, Any]
) -> Iterator[tuple[str, str, str]]:
    """Yield node, key and line of what goes wrong in a flight straight up and down."""
    from propulsion_ros.flight.events.conditions import MoreThan, comparisons
    from propulsion_ros.graph.straight_flight import straight_flight
    from propulsion_ros.rml.config import HIGHEST

    timer, lockout = (flight.get(key, 0.0) for key in (_TIMER, _LOCKOUT))
    flown = straight_flight(robot, config, lockout)
    if flown is None:
        return
    for name, (event, climb) in flown.opened.items():
        if climb > _FAST and name in robot.parachutes.names:
            yield FLIGHT, 'config_file', (
                f"event '{event.name}' opens {name!r} in the climb, at {climb:.3g} m/s: '{event}'")
            return
    climbs = f'and straight up it climbs for {flown.climb_time:.3g} s, to {flown.apogee:.4g} m'
    for name in flown.unlit:
        yield FLIGHT, 'config_file', f'no event lights {name!r} in its flight, {climbs}'
        return
    if 0.0 < timer < _SOON * flown.climb_time:
        yield FLIGHT, _TIMER, f'{_TIMER} is {timer:g} s, {climbs}: it opens parachutes in the climb'
    elif lockout > flown.climb_time + _LATE:
        yield FLIGHT, _LOCKOUT, f'{_LOCKOUT} is {lockout:g} s, {climbs}: its apogee is not believed'
    for event in config.events:
        high = [leaf for leaf in comparisons(event.condition) if isinstance(leaf, MoreThan)
                and (leaf.variable, leaf.component) == ('Position', 2)
                and flown.apogee < -leaf.threshold <= HIGHEST]
        if event.deploys and high:
            yield FLIGHT, 'config_file', (
                f"event '{event.name}' has the limit '{high[0]}', {climbs}: write a height in m")
    packed = [(event, name) for event in config.events for each in event.actions if each.deploys
              for name in [config.deployers[each.target].name]
              if name in robot.parachutes.names and name not in flown.opened]
    if packed:
        event, name = packed[0]
        yield BODY, _CHUTES, (
            f"{name!r} stays packed: event '{event.name}' waits for '{event}', {climbs}")
    elif {*flown.opened} >= {*robot.parachutes.names} and flown.touchdown > _HARD * flown.slowest:
        yield BODY, _CHUTES, (
            f'it comes down at {flown.touchdown:.3g} m/s, and would at {flown.slowest:.3g} m/s by '
            'all its canopies; see heights of events, delays, and parachutes.canopy')


def _flight_config(flight: Mapping[str, Any]) -> Any:
    """Return the configuration that the parameters of a flight computer name, None for none."""
    if not flight.get('config_file'):
        return None
    from propulsion_ros.rml.config import load_flight_config

    return load_flight_config(flight['config_file'], flight.get('semantics', 'safe'))


def _warn_of_file(nodes: Sequence[str], report: Report) -> None:
    """Warn of implausible values of actuators that only a parameter file describes."""
    file = report.file
    specs: dict[str, ActuatorSpec] = {}
    for node in nodes if not report.faults else ():
        values = file.of(node)
        family = family_of(values, None, node)
        if family and 'names' in values and 'position' in values:
            named = {'names': values['names']}
            specs[node] = ActuatorSpec(node, family, '', named, {}, frozenset())
    if specs:
        given = {node: file.of(node) for node in (*specs, BODY)}
        sources = Sources(specs, {}, given)
        first = next(iter(specs))
        _warn_of_sources(sources, lambda error: file.place_of(first, error.key), report)


def _warn_of_sources(
    sources: Sources, place_of: Callable[[ConfigError], str], report: Report
) -> None:
    file = report.file
    for each in merged(doubts_of(sources, report.silenced)):
        number, block = each.number, sources.specs.get(each.number.block)
        given, node = sources.given.get(number.block or BODY, {}), number.block or BODY
        keys = number.key.split(' or ')
        key = next((k for k in keys if k in given or (block and k in block.values)), keys[0])
        located: ConfigError = SourceError(key, each.text)
        if not key.startswith('robot'):
            located = ConfigError(key, each.text, number.index)
            located = block.locate(located, given) if block else located
        of_file = file.place_of(node, key)
        if of_file and (key in given or key.startswith(('body.', 'parachutes.'))):
            report.warn(of_file, f'{node}: {located}')
        else:
            report.warn(place_of(located), located)


def _report(description: Description, faults: FaultList, report: Report) -> None:
    alike = dict[tuple[str, str], list[ConfigError]]()
    for error in faults.errors:
        place = description.place_of(error)
        # Faults of several calls of one macro are one line.
        line = place.partition(': called at')[0]
        key = (line, error.problem) if ':' in place else (place, str(error))
        alike.setdefault(key, []).append(error)
    for first, *others in alike.values():
        more = f'; {len(others)} more like it' if others else ''
        report.add(description.place_of(first), type(first)(
            first.key, first.problem + more, first.index
        ))
    for path, text in faults.warnings:
        report.warn(description.place_of(path), f'{path}: {text}' if text else path)


def _parameters(path: Path, model: Path | None, report: Report) -> None:
    REGISTRY.check()
    for place, text in report.checked.doubts():
        report.warn(place, text)
    if model is not None:
        _robot(model, None, report)
        return
    nodes = report.checked.nodes_and_namespaces
    for name, namespace in nodes:
        _node(name, namespace, [], report, FaultList())
    _warn_of_devices(nodes, [], report)
    _warn_of_file([name for name, _ in nodes], report)
    if not nodes:
        report.warn(printable(path), 'names no node, so nothing is checked; give --model ROBOT')


def _node(
    name: str, namespace: str, blocks: list[ActuatorSpec], report: Report, described: FaultList
) -> None:
    """Report the faults of one node; those of its block are added to ``described``."""
    file, paths = report.file, {path for block in blocks for path in block.paths.values()}
    found, values = FaultList(), file.of(name, namespace)
    taken: dict[str, Any] = {}
    for block in blocks:
        if is_allocator(name) and block.name == values.get('plugin', group_of(name)):
            taken = taken_from_group(file, name, block.name, block.family, namespace)
    with found.whole():
        _check_node(name, {**values, **taken}, blocks, found, report.silenced)
    for error in found.errors:
        if error.key in taken:
            # The node of the group has the same fault.
            continue
        is_given = error.key in values or file.names(name, namespace)
        if error.key in paths or not is_given:
            if str(error) not in map(str, described.errors):
                described.errors.append(error)
            continue
        hint = ''
        if error.key == 'names' and values.get('names') is None and not blocks:
            hint = '; where a robot description has them, give --model ROBOT'
        placed = file.placed(name, error)
        report.add(placed.key, SourceError(placed.key, placed.problem + hint))
    for key, text in found.warnings:
        report.warn(file.place_of(name, key), f'{name}: {text}')


def _check_node(
    name: str, values: dict[str, Any], blocks: list[ActuatorSpec], faults: FaultList,
    silenced: Sequence[str],
) -> None:
    """Find all faults with which a node would not start."""
    is_simulated = values.get('use_sim_time', False)
    if not isinstance(is_simulated, bool):
        faults.add(ConfigError('use_sim_time', f'expected true or false, got {is_simulated!r}'))
    refuse_unknown_node(name, values, blocks)
    spec = block_of(values, blocks, name)
    family = family_of(values, spec, name)
    if family:
        check_family(family, values, spec, faults)
        _warn(schema_of(family), values, faults, silenced, spec.values if spec else None)
        for error, is_one_for_several in won_over(values, spec) if spec else ():
            if is_one_for_several:
                faults.warn(error.key, str(error))
    elif is_allocator(name):
        if blocks and not (spec or 'family' in values):
            # Launch files name it after its group.
            spec = block_named(blocks, group_of(name))
        check_allocator(name, values, spec, faults)
    elif name == 'identify':
        from propulsion_ros.identify.robot import settings_of_fit

        # The settings of a fit belong to no node.
        with faults.kept():
            settings_of_fit(values)
    else:
        _check_schema(name, values, faults, silenced)


def _check_schema(
    name: str, values: dict[str, Any], faults: FaultList, silenced: Sequence[str]
) -> None:
    """Find the faults of a node that runs no family."""
    cls = _other_nodes()[name]
    known = [*(p.key for p in parameters_of(cls)), 'autostart']
    unknown = unknown_keys(values, known)
    meant = {nearest_key(error.key, known) for error in unknown}
    for error in (*unknown, *all_faults(cls, {**_FROM_LAUNCH.get(name, {}), **values}, meant)):
        faults.add(error)
    _warn(parameters_of(cls), values, faults, silenced)
    if not faults.errors and values.get('config_file'):
        from propulsion_ros.loops.flight.params import never_launches

        params = build(cls, values)
        source = '' if params.replay else params.altitude_source
        config, doubts = _read_flight(params.config_file, params.semantics, source)
        for doubt in doubts:
            faults.warn('config_file', doubt)
        for key, text in never_launches(params, config):
            faults.warn(key, text)


def _warn(
    parameters: Iterable[Parameter], values: dict[str, Any], faults: FaultList,
    silenced: Sequence[str], described: Mapping[str, Any] | None = None,
) -> None:
    quiet = {*silenced, *flatten(values.get('silenced'))}
    for doubt in merged(value_doubts(parameters, values, quiet, described)):
        number = doubt.number
        faults.warn(number.key, str(ConfigError(number.key, doubt.text, number.index)))


def _counted(count: int, noun: str) -> str:
    return f'{count} {noun}' if count == 1 else f'{count} {noun}s'


def _other_nodes() -> dict[str, type[Any]]:
    # The flight logic takes long to import, and few files name it.
    from propulsion_ros.loops.flight.params import FlightLoopParams
    from propulsion_ros.loops.vehicle_params import VehicleParams
    from propulsion_ros.loops.visualizer_loop import VisualizerParams

    return {
        'flight_state': FlightLoopParams, 'vehicle': VehicleParams,
        'visualizer': VisualizerParams,
    }
