# SPDX-License-Identifier: Apache-2.0
"""The models of a robot, and motors of RASP files (``.eng``), for programs without nodes."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from propulsion_ros.graph.family_params import is_allocator, loop_params_of
from propulsion_ros.graph.node_config import (
    OTHER_NODES,
    build_family,
    refuse_unknown_node,
    unread_sections,
    won_over,
)
from propulsion_ros.graph.share import read_description, robot_files
from propulsion_ros.graph.simulation import BODY, refuse_unknown_of_body
from propulsion_ros.models.body.rigid_body import BodyParams
from propulsion_ros.models.body.vehicles import Vehicles
from propulsion_ros.models.common.family import Family, require_counts
from propulsion_ros.models.common.model import Model
from propulsion_ros.models.registry import REGISTRY
from propulsion_ros.models.supply.motors import ThrustCurve, motor_of
from propulsion_ros.settings.errors import ConfigError, SourceError, warn
from propulsion_ros.settings.files import check_file, printable, read_text
from propulsion_ros.settings.flat import build, known_hint, suggestion
from propulsion_ros.settings.yaml_file import ParameterFile, placing, settings_of
from propulsion_ros.urdf.block import ActuatorSpec
from propulsion_ros.urdf.reader import actuators_from_urdf, mass_from_urdf
from propulsion_ros.urdf.xml import Description

Files = str | Path | Sequence[str | Path] | None
"""Parameter files; later ones win."""


class Models(dict[str, Model]):
    """Models by the names of their groups."""

    def __missing__(self, name: object) -> Model:
        raise KeyError(f'unknown group {name!r}{known_hint(str(name), self)}')

    def __getattr__(self, name: str) -> Any:
        group, rest = (name, '') if name in self else (next(iter(self), ''), f'.{name}')
        raise AttributeError(f'expected one of the models by group, as [{group!r}]{rest}')


def models_of(
    robot: str | Path, parameters: Files = None, batch: int | tuple[int, ...] = ()
) -> Models:
    """Return the models of a robot by plugin block; see `propulsion_ros.load`."""
    shape = batch if isinstance(batch, tuple) else (batch,)
    require_counts('batch', '64 or (8, 8)', batch, shape)
    description, files = _files_of(robot, parameters)
    families = _families_of(description, files, shape)
    return Models((name, Model(family, shape, name)) for name, family in families.items())


def vehicles_of(robot: str | Path, parameters: Files = None, count: int = 1) -> Vehicles:
    """Return many vehicles of a robot; see `propulsion_ros.load_vehicles`."""
    require_counts('count', '64', count, (count,))
    description, files = _files_of(robot, parameters)
    models = _families_of(description, files, (count,))
    pushing = {name: model for name, model in models.items() if model.facts.pushes}
    with description.located():
        _, dry = mass_from_urdf(description.text)
        dry.require_solid('mass')
    with placing(files, BODY, ', '.join(map(printable, files)) or description.name):
        body = build(BodyParams, settings_of(files, BODY), 'body.')
        try:
            return Vehicles(pushing, body, dry, count)
        except ConfigError as error:
            raise error.under('body') from None


def _files_of(robot: str | Path, parameters: Files) -> tuple[Description, list[str | Path]]:
    """Return a description, and parameter files, of which later ones win."""
    given: list[Any] = [] if parameters is None else [parameters]
    if isinstance(parameters, list | tuple):
        given = list(parameters)
    for key, each in (('robot', robot), *(('parameters', each) for each in given)):
        if not isinstance(each, (str, Path)) or str(each) in ('', '.'):
            raise ConfigError(key, f'expected the path of a file, got {each!r}')
    for each in given:
        check_file(each)
    path, files = robot_files(str(robot))
    return read_description(path), [*files, *map(Path, given)]


def _check_names(file: ParameterFile, specs: Sequence[ActuatorSpec]) -> None:
    """Raise `SourceError` for names that are nearly those of nodes, and keys that no body has.

    A section that nothing reads, and that is almost certainly for this robot, is a warning.
    """
    known = [*(spec.name for spec in specs), *OTHER_NODES, *REGISTRY]
    for node in file.nodes:
        try:
            # The same file may have sections for nodes of other packages.
            if node in REGISTRY or is_allocator(node) or suggestion(node, known):
                refuse_unknown_node(node, file.of(node), specs)
            if node == BODY:
                refuse_unknown_of_body(file.of(node))
        except ConfigError as error:
            raise file.placed(node, error) from error
    for node, text in unread_sections(file, specs):
        # Only a warning, as a file may be for several robots.
        warn(str(file.placed(node, SourceError(node, text))))


def _families_of(
    description: Description, files: Sequence[str | Path], batch: tuple[int, ...]
) -> Mapping[str, Family]:
    models: dict[str, Family] = {}
    with description.located():
        specs = actuators_from_urdf(description.text, loop_params_of)
    file = ParameterFile(*files)
    _check_names(file, specs)
    for spec in specs:
        given = file.of(spec.name)
        try:
            models[spec.name], _ = build_family(spec.family, given, spec, batch)
            for won, is_one_for_several in won_over(given, spec):
                if is_one_for_several:
                    warn(str(file.placed(spec.name, won)))
        except ConfigError as error:
            # An error in the block has an XML path instead.
            if error.key in given:
                raise file.placed(spec.name, error) from error
            raise SourceError(description.place_of(error), str(error)) from error
    if not models:
        raise SourceError(description.name, 'has no plugin block of actuators')
    return models


def read_motor(path: str | Path, name: str = '') -> ThrustCurve:
    """Return a motor of a file: the one of that name, or the only one.

    Comments may be in any encoding. Raises `SourceError` with file and line for text that is not
    RASP, for a name that is not there, or, without a name, for a file of several motors.
    """
    return motor_of(str(path), name, read_text)
