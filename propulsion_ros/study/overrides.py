# SPDX-License-Identifier: Apache-2.0
"""Applies the variables of a case to a robot: to its parameter file and its description."""
from __future__ import annotations

import copy
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from operator import attrgetter
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import tostring

import numpy as np

from propulsion_ros.graph.doubts import Doubt, merged, robot_doubts, value_doubts
from propulsion_ros.graph.family_params import ActuatorNodeParams, loop_params_of
from propulsion_ros.graph.node_config import read_setting
from propulsion_ros.graph.read_layout import sources_of
from propulsion_ros.graph.simulation import BODY
from propulsion_ros.loops.ports import GivenParameters
from propulsion_ros.loops.vehicle_params import VehicleParams
from propulsion_ros.settings.errors import ConfigError, SourceError
from propulsion_ros.settings.files import write_text
from propulsion_ros.settings.flat import Parameter, build, known_hint, parameters_of, unknown_keys
from propulsion_ros.settings.yaml_file import ParameterFile, settings_of, write_parameters
from propulsion_ros.study.draws import Variable, is_number
from propulsion_ros.study.kinds import ROBOT, Cases
from propulsion_ros.study.study import Case, Study
from propulsion_ros.urdf.reader import actuators_from_urdf
from propulsion_ros.urdf.xml import parse_urdf

MASS = 'robot.mass'
"""Variable that scales the mass and inertia of all links."""
_MOST_FACTOR = 4.0  # no mass is so uncertain
_INDEXED = re.compile(r'(.+)\[(\d+)\]')


def changed(base: Any, variable: Variable, number: Any) -> Any:
    """Return a value changed by a drawn number; raise `SourceError` if it cannot be."""
    if variable.mode == 'value':
        return number
    try:
        values = np.asarray(base, dtype=float)
        new = values * number if variable.mode == 'factor' else values + number
    except (TypeError, ValueError):
        raise SourceError(
            variable.name, f'expected numbers for a {variable.mode}, got {base!r} and {number!r}'
        ) from None
    return new.tolist()


def parameters_of_case(
    drawn: Iterable[tuple[Variable, Any]], nodes: Sequence[str],
    base_of: Callable[[str, str], Any],
) -> dict[str, dict[str, Any]]:
    """Return the parameters of a case by node and key.

    Raises `SourceError` naming the variable.

    Parameters
    ----------
    drawn : iterable of (Variable, value)
        ``<node>.<parameter>``, with an index for one number of several.
    nodes : sequence of str
        Names of all nodes.
    base_of : callable
        ``base_of(node, key)`` returns the unchanged value.
    """
    found: dict[str, dict[str, Any]] = {}
    for variable, number in drawn:
        node, _, key = variable.name.partition('.')
        if node not in nodes:
            hint = known_hint(node, nodes, 'found')
            raise SourceError(variable.name, f'no node {node!r}{hint}')
        values = found.setdefault(node, {})
        indexed = _INDEXED.fullmatch(key)
        if indexed is None and variable.mode == 'value':
            values[key] = number
            continue
        key = indexed[1] if indexed else key
        base = values[key] if key in values else base_of(node, key)
        if indexed is None:
            values[key] = changed(base, variable, number)
            continue
        index = int(indexed[2])
        try:
            rows = np.array(base, dtype=float)
        except (TypeError, ValueError):
            raise SourceError(variable.name, f'expected one of several numbers, got {base!r}') \
                from None
        if index >= rows.size:
            raise SourceError(variable.name, f'expected an index below {rows.size}')
        require_number(variable.name, number)
        rows.flat[index] = changed(float(rows.flat[index]), variable, number)
        values[key] = rows.tolist()
    return found


def require_number(name: str, number: Any, least: float = -math.inf) -> None:
    """Raise `SourceError` if a drawn value is no number, or below the least one."""
    if not is_number(number) or number < least:
        above = f' of at least {least:g}' * math.isfinite(least)
        raise SourceError(name, f'expected a number{above}, got {number!r}')


def with_mass(description: str, factor: float) -> str:
    """Return a robot description in which mass and inertia of all links have a factor."""
    require_number(MASS, factor)
    if factor <= 0.0:
        raise ConfigError(MASS, f'expected a factor above 0, got {factor:g}')
    root = copy.deepcopy(parse_urdf(description))
    for element in root.iterfind('.//inertial/*'):
        if element.tag in ('mass', 'inertia'):
            for name in ('value',) if element.tag == 'mass' else element.attrib:
                element.set(name, repr(float(element.attrib[name]) * factor))
    return tostring(root, encoding='unicode')


class Base:
    """Unchanged values of a robot's parameters."""

    def __init__(self, description: str, files: Sequence[Path]) -> None:
        blocks = actuators_from_urdf(description, loop_params_of) if description else []
        self._blocks = {block.name: block for block in blocks}
        self._description, self._files = description, files
        self._built: dict[str, list[Any]] = {}

    def value(self, node: str, key: str) -> Any:
        """Return a value; raise `SourceError` if none is known."""
        given = settings_of(self._files, node)
        if key in given:
            return given[key]
        for setting in self._settings_of(node):
            with suppress(AttributeError):
                return np.asarray(attrgetter(key)(setting)).tolist()
        name, known = f'{node}.{key}', [each.key for each in self.schema(node)]
        for error in unknown_keys([key], known) if known else ():
            raise SourceError(name, error.problem)
        raise SourceError(name, 'has no value in the files that a factor could change')

    def unit(self, node: str, key: str) -> str:
        """Return the unit of a parameter, '' if it has none."""
        return next((each.spec.unit for each in self.schema(node) if each.key == key), '')

    def schema(self, node: str) -> list[Parameter]:
        """Return the schema of a node, empty if it is not known."""
        return [each for own in self._settings_of(node) for each in parameters_of(type(own))]

    def doubts(self, changes: Mapping[str, Mapping[str, Any]]) -> Iterator[Doubt]:
        """Yield the doubts about the robot that changes of its parameters make, by node."""
        if not (changes and self._blocks):
            return
        before, after = ({each.place: each for each in robot_doubts(sources_of(
            self._description, [*self._blocks.values()],
            lambda node, own=own: {**settings_of(self._files, node), **own.get(node, {})},  # type: ignore[misc]
        ).layout)} for own in ({}, changes))
        yield from merged(each for place, each in after.items() if place not in before)

    def _settings_of(self, node: str) -> list[Any]:
        """Return the configurations of a node, which are built once."""
        if node in self._built:
            return self._built[node]
        given, found = settings_of(self._files, node), []
        if node == BODY:
            # Topics are required, but have no effect here.
            fixed = {'wrench_topics': [BODY], 'deployer_topic': BODY}
            found = [build(VehicleParams, {**given, **fixed})]
        elif (block := self._blocks.get(node)) or given:
            parameters = GivenParameters(node, given)
            _, setting = read_setting(parameters, ActuatorNodeParams, lambda own: block)
            of_node = loop_params_of(setting.family)
            found = [setting.build(each) for each in (setting.family_type.Params, of_node)]
        self._built[node] = found
        return found


class RobotCases(Cases):
    """Cases of a robot: its description and the parameters of its nodes vary.

    Parameters
    ----------
    folder : Path
        Contains the files of the study; those of the case are written into it.
    nodes : sequence of str
        Nodes whose parameters can vary.
    file : ParameterFile or None
        Parameters that the file of a case has besides those that vary.
    """

    other = ''
    """Prefix, before the dot, of variables of neither description nor parameters."""

    def __init__(
        self, study: Study, folder: Path, description: str, files: Sequence[Path],
        nodes: Sequence[str], file: ParameterFile | None = None,
    ) -> None:
        self._study, self._params, self._folder = study, study.params, folder
        self._description, self._nodes, self._file = description, nodes, file
        self._base = Base(description, files)
        factor = study.case(0).values.get(MASS, 1.0)
        if is_number(factor) and not 1.0 / _MOST_FACTOR <= factor <= _MOST_FACTOR:
            self.warnings = [
                f'vary: {MASS} is a factor on all masses, {factor:.4g} in case 0; is that in kg?'
            ]
        # A value that is wrong is refused with its case.
        with suppress(ConfigError):
            changes = self._varied(study.case(0))[1]
            self.warnings = [*self.warnings, *(
                f'vary: {node}.{doubt.number.key}: {doubt.text}' for node, values in changes.items()
                for doubt in merged(value_doubts(self._base.schema(node), values, ['unread']))
            )] or [f'vary: {each.number.key}: {each.text}' for each in self._base.doubts(changes)]

    def write(self, path: Path, case: Case) -> None:
        """Write the parameter file of a case, and its robot description if that varies."""
        model, changes, _ = self._varied(case)
        comment = f'Case {case.number} of {self._study.path.name}.'
        write_parameters(path, self._file, changes, [comment])
        if model != self._folder / ROBOT:
            write_text(path.with_suffix('.urdf'), with_mass(
                self._description, case.values[MASS]
            ))

    def unit(self, name: str) -> str:
        """Return the unit of a column, '' if none is known."""
        if name == MASS:
            return 'factor'
        for result in self._study.results:
            if result.name == name:
                return result.unit
        node, _, key = name.partition(' ')[0].partition('.')
        # Only the parameters of actuators and of the body have a schema with units.
        with suppress(ConfigError):
            return self._base.unit(node, key.partition('[')[0]) if node in self._nodes else ''
        return ''

    def _varied(self, case: Case) -> tuple[Path, dict[str, dict[str, Any]], dict[str, Any]]:
        """Return the description, the parameters of nodes, and the values of `other` variables."""
        model, drawn, rest = self._folder / ROBOT, [], {}
        for variable in self._study.vary:
            number = case.values[variable.name]
            owner, _, key = variable.name.partition('.')
            if owner == self.other:
                rest[key] = number
            elif variable.name == MASS:
                model = self._folder / f'case_{ROBOT}'
                write_text(model, with_mass(self._description, number))
            else:
                drawn.append((variable, number))
        return model, parameters_of_case(drawn, self._nodes, self._base.value), rest
