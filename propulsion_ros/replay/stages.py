"""Which nodes a parameter file and a robot description make, offline."""
from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from propulsion_ros.graph.allocator_names import group_of, is_allocator
from propulsion_ros.graph.family_params import AllocatorNodeParams, OwnT
from propulsion_ros.graph.hosting import host_of, loop_params_of
from propulsion_ros.graph.node_config import (
    Setting,
    allocator_of,
    block_named,
    family_named,
    schema_of,
)
from propulsion_ros.loops.actuator_loop import CURRENT, ODOMETRY
from propulsion_ros.models.common.allocation import Allocator
from propulsion_ros.models.common.family import Allocatable, Family
from propulsion_ros.models.fam.inverse_fam import InverseFam
from propulsion_ros.models.registry import REGISTRY
from propulsion_ros.replay.offline import (
    ActuatorStage,
    EstimateStage,
    NamedValues,
    Stage,
    Values,
)
from propulsion_ros.settings.errors import ConfigError, SourceError
from propulsion_ros.settings.files import printable
from propulsion_ros.settings.flat import build, parameters_of, refuse_unknown, suggestion
from propulsion_ros.settings.yaml_file import ParameterFile
from propulsion_ros.urdf.reader import ActuatorSpec, actuators_from_urdf

_COMMANDED_BY = {'propulsion_modules': 'fam', 'inverse_fam': 'fam'}
"""Families that take their commands from another's state, where that is there."""


def make_stages(
    config: Path,
    description: str,
    only: Collection[str],
    sink: Callable[[str, int, Values], None],
    has_motion: bool = False,
) -> dict[str, Stage]:
    """Return the nodes of a parameter file, those that command others first.

    Parameters
    ----------
    config : Path
        Parameter file.
    description : str
        URDF with plugin blocks, '' for none.
    only : collection of str
        Node names; empty for every node that runs actuators.
    sink : callable
        ``sink(node, stamp_ns, values)`` gets every row.
    has_motion : bool
        Whether the motion of the body will be given, so that nodes may wait for it.

    Raises
    ------
    ConfigError
        For everything that is wrong.
    """
    file = ParameterFile(config)
    blocks = actuators_from_urdf(description, loop_params_of) if description else []
    described = [spec.name for spec in blocks]
    file.check_names(described)
    names = list(dict.fromkeys((*described, *file.nodes)))
    for name in only:
        if name not in names:
            known = ', '.join(names) or 'none'
            raise SourceError(
                str(config), f'no node {name!r}{suggestion(name, names)}; found: {known}'
            )
    specs, families = {}, {}
    for name in names:
        with in_file(config, name):
            specs[name] = block_of(file.of(name), blocks, name)
            families[name] = family_of(file.of(name), specs[name], name)
    chosen = [name for name in names if name in (only or names) and families[name]]
    if not chosen:
        hint = '' if description else '; a vehicle has its actuators in its description: --model'
        found = ', '.join(names) or 'none'
        raise SourceError(str(config), f'no actuator node; found: {found}{hint}')
    chosen.sort(key=lambda name: families[name] in _COMMANDED_BY)
    stages: dict[str, Stage] = {}
    for name in chosen:
        is_master = families[name] in _COMMANDED_BY.values()
        passes_on = functools.partial(_pass_on, stages, families) if is_master else None
        with in_file(config, name):
            stages[name] = _stage(
                families[name], file.of(name), specs[name], functools.partial(sink, name),
                passes_on, has_motion,
            )
    return stages


@contextmanager
def in_file(config: Path, node: str) -> Iterator[None]:
    """Let an error of a node name the file and the node."""
    try:
        yield
    except SourceError:
        raise
    except ConfigError as error:
        raise SourceError(f'{printable(config)}: {node}', str(error)) from error


def _pass_on(
    stages: Mapping[str, Stage], families: Mapping[str, str], stamp_ns: int, state: NamedValues
) -> None:
    """Command every stage that takes the state of another."""
    for name, stage in stages.items():
        if families[name] in _COMMANDED_BY:
            stage.pass_time(stamp_ns - 1)
            stage.command(stamp_ns, state)
            stage.pass_time(stamp_ns)


def block_of(
    values: Mapping[str, Any], specs: Sequence[ActuatorSpec], node: str
) -> ActuatorSpec | None:
    """Return the plugin block of a node, None where it has none among these.

    Raises
    ------
    ConfigError
        For a block that the node names and that is not there.
    """
    if values.get('plugin') and specs:
        return block_named(specs, str(values['plugin']))
    found = {spec.name: spec for spec in specs}
    return found.get(node) or found.get(group_of(node))


def family_of(values: Mapping[str, Any], spec: ActuatorSpec | None, node: str) -> str:
    """Return the family that a node runs, '' where it runs none.

    Raises
    ------
    ConfigError
        Where there is no such family, or the plugin block says another.
    """
    given = str(values.get('family', ''))
    if is_allocator(node) and not (spec and spec.name == node):
        return ''
    if not (given or spec or node in REGISTRY):
        return ''
    return family_named(given, spec, node)


def _stage(
    name: str,
    given: Mapping[str, Any],
    spec: ActuatorSpec | None,
    sink: Callable[[int, Values], None],
    passes_on: Callable[[int, NamedValues], None] | None,
    has_motion: bool,
) -> Stage:
    family, loop_params = build_family(name, given, spec)
    if isinstance(family, InverseFam):
        return EstimateStage(family, loop_params, sink)
    if not has_motion:
        # What nobody will say is not waited for.
        awaited = tuple(s for s in loop_params.wait_for if s not in (ODOMETRY, CURRENT))
        loop_params = dataclasses.replace(loop_params, wait_for=awaited)
    return ActuatorStage(family, loop_params, sink, *([passes_on] if passes_on else []))


def build_family(
    name: str, given: Mapping[str, Any], spec: ActuatorSpec | None
) -> tuple[Family, Any]:
    """Return a family and the configuration of its timing, as its node would make them.

    Parameters
    ----------
    name : str
        Of the family.
    given : mapping
        Flat parameters of the node.
    spec : ActuatorSpec or None
        Its plugin block.

    Raises
    ------
    ConfigError
        Naming the parameter or the XML path of what is wrong.
    """
    host = host_of(name)
    _, setting = _read_setting(host.node_params, name, given, spec)
    loop_params = setting.build(host.loop_params)
    return setting.build_family(), loop_params


def build_allocator(
    node: str, given: Mapping[str, Any], spec: ActuatorSpec | None
) -> tuple[Allocatable, Allocator]:
    """Return the group of an allocator, and what shares a wrench among it, as its node would.

    Parameters
    ----------
    node : str
        Name of the allocator.
    given : mapping
        Its flat parameters.
    spec : ActuatorSpec or None
        Plugin block of the group.

    Raises
    ------
    ConfigError
        Naming the parameter or the XML path of what is wrong.
    """
    return allocator_of(*_read_setting(AllocatorNodeParams, node, given, spec))


def _read_setting(
    node_params: type[OwnT], node: str, given: Mapping[str, Any], spec: ActuatorSpec | None
) -> tuple[OwnT, Setting]:
    """Return the configuration of a node and that of its family, as `FamilyNode` reads them."""
    own = build(node_params, given)
    family = family_named(own.family, spec, node)
    schema = [*parameters_of(node_params), *schema_of(family)]
    refuse_unknown(given, ['autostart', *(parameter.key for parameter in schema)])
    values = {**(spec.values if spec else {}), **given}
    return own, Setting.make(own, family, spec, values, given)
