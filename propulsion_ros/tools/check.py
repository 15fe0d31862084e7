# SPDX-License-Identifier: Apache-2.0
"""Check parameter files, robot descriptions and flight configurations."""
from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from propulsion_ros.graph.family_params import group_of, is_allocator, loop_params_of
from propulsion_ros.graph.node_config import (
    block_named,
    block_of,
    build_allocator,
    build_family,
    family_of,
    in_file,
)
from propulsion_ros.graph.share import load_robot_description
from propulsion_ros.models.registry import REGISTRY
from propulsion_ros.rml.config import load_flight_config
from propulsion_ros.settings.errors import ConfigError, SourceError
from propulsion_ros.settings.files import printable
from propulsion_ros.settings.flat import build, parameters_of, suggestion, unknown_keys
from propulsion_ros.settings.yaml_file import ParameterFile
from propulsion_ros.urdf.reader import ActuatorSpec, actuators_from_urdf

_FROM_LAUNCH: dict[str, dict[str, Any]] = {
    'vehicle': {'wrench_topics': ['any'], 'deployer_topic': 'any'},
    'visualizer': {'state_topics': ['any']},
}
"""Parameters that launch files give, so that a file need not have them."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument(
        'files', type=Path, nargs='+', metavar='FILE',
        help='parameters (.yaml), robot (.urdf, .xacro) or flight (.json, .jsonc, .json5)',
    )
    parser.add_argument(
        '--model', type=Path, help='URDF or xacro with the plugin blocks of the parameter files'
    )


def run(args: argparse.Namespace) -> int:
    """Print one line for each fault; return 1 where there is any."""
    faults = 0
    for path in args.files:
        for fault in faults_of(path, args.model):
            print(fault)
            faults += 1
    if not faults:
        plural = '' if len(args.files) == 1 else 's'
        print(f'no faults in {len(args.files)} file{plural}', file=sys.stderr)
    return 1 if faults else 0


def faults_of(path: Path, model: Path | None = None) -> Iterator[str]:
    """Yield what is wrong with a file, one line each.

    Parameters
    ----------
    path : Path
        The file; its suffix gives its kind.
    model : Path, optional
        Robot description whose plugin blocks stand behind a parameter file.
    """
    checks: dict[str, Callable[[Path, Path | None], Iterator[ConfigError]]] = {
        '.yaml': _parameters, '.yml': _parameters, '.urdf': _robot, '.xacro': _robot,
        '.json': _flight, '.jsonc': _flight, '.json5': _flight,
    }
    name = printable(path)
    if path.suffix not in checks:
        yield f'{name}: expected a name that ends in one of {", ".join(checks)}'
        return
    try:
        for error in checks[path.suffix](path, model):
            yield str(error) if name in str(error) else f'{name}: {error}'
    except ConfigError as error:
        yield str(error) if name in str(error) else f'{name}: {error}'


def _flight(path: Path, model: Path | None) -> Iterator[ConfigError]:
    load_flight_config(path)
    yield from ()


def _robot(path: Path, model: Path | None) -> Iterator[ConfigError]:
    REGISTRY.check()
    blocks = actuators_from_urdf(load_robot_description(path), loop_params_of)
    if not blocks:
        yield SourceError(str(path), 'no plugin block of actuators')
    for block in blocks:
        try:
            build_family(block.family, {}, block)
        except ConfigError as error:
            yield error


def _parameters(path: Path, model: Path | None) -> Iterator[ConfigError]:
    REGISTRY.check()
    file = ParameterFile(path)
    blocks = [] if model is None else actuators_from_urdf(
        load_robot_description(model), loop_params_of
    )
    for name in file.nodes:
        try:
            with in_file(path, name):
                yield from _of_node(name, file.of(name), blocks)
        except ConfigError as error:
            yield error


def _of_node(
    name: str, values: dict[str, Any], blocks: list[ActuatorSpec]
) -> Iterator[ConfigError]:
    """Yield the faults of a node, or raise the one at which it would not start."""
    spec = block_of(values, blocks, name)
    family = family_of(values, spec, name)
    if family:
        build_family(family, values, spec)
    elif is_allocator(name):
        if blocks and not (spec or 'family' in values):
            # Launch files call it after its group.
            spec = block_named(blocks, group_of(name))
        build_allocator(name, values, spec)
    elif name in _other_nodes():
        yield from _of_schema(name, values)
    else:
        near = suggestion(name, [*(block.name for block in blocks), *_other_nodes()])
        yield SourceError(name, f'not a node that this knows{near}; give its family')


def _of_schema(name: str, values: dict[str, Any]) -> Iterator[ConfigError]:
    """Yield the faults of a node that runs no family."""
    cls = _other_nodes()[name]
    for error in unknown_keys(values, [*(p.key for p in parameters_of(cls)), 'autostart']):
        yield SourceError(name, str(error))
    try:
        params = build(cls, {**_FROM_LAUNCH.get(name, {}), **values})
        if getattr(params, 'config_file', ''):
            load_flight_config(params.config_file, params.semantics)
    except ConfigError as error:
        yield SourceError(name, str(error))


def _other_nodes() -> dict[str, type[Any]]:
    # The flight logic takes long to import, and few files name it.
    from propulsion_ros.loops.flight.params import FlightLoopParams
    from propulsion_ros.loops.vehicle_params import VehicleParams
    from propulsion_ros.loops.visualizer_params import VisualizerParams

    return {
        'flight_state': FlightLoopParams, 'vehicle': VehicleParams,
        'visualizer': VisualizerParams,
    }
