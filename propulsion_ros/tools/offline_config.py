"""Which nodes a parameter file and a robot description make, offline."""
from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from propulsion_ros.actuator_loop import CURRENT, ODOMETRY
from propulsion_ros.description import ActuatorSpec, actuators_from_urdf
from propulsion_ros.errors import ConfigError, SourceError
from propulsion_ros.families import REGISTRY
from propulsion_ros.hosting import loop_params_of
from propulsion_ros.models.family import Family
from propulsion_ros.models.inverse_fam import InverseFam
from propulsion_ros.parameter_file import ParameterFile
from propulsion_ros.schema import build, parameters_of, suggestion, unknown_keys
from propulsion_ros.tools.offline import (
    ActuatorStage,
    EstimateStage,
    NamedValues,
    Stage,
    Values,
)

_OF_NODES = (
    'family', 'plugin', 'base_link', 'robot_description', 'description_topic',
    'description_timeout', 'reliable_inputs', 'publish_each', 'publish_numbers', 'adapters',
    'autostart',
)
"""Parameters that a node has and an offline run does not need."""
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
    specs = {spec.name: spec for spec in blocks}
    file.check_names(specs)
    names = list(dict.fromkeys((*specs, *file.nodes)))
    for name in only:
        if name not in names:
            known = ', '.join(names) or 'none'
            raise SourceError(
                str(config), f'no node {name!r}{suggestion(name, names)}; found: {known}'
            )
    families = {name: family_of(file.of(name), specs.get(name), name) for name in names}
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
        try:
            stages[name] = _stage(
                families[name], file.of(name), specs.get(name), functools.partial(sink, name),
                passes_on, has_motion,
            )
        except SourceError:
            raise
        except ConfigError as error:
            raise SourceError(f'{config}: {name}', str(error)) from error
    return stages


def _pass_on(
    stages: Mapping[str, Stage], families: Mapping[str, str], stamp_ns: int, state: NamedValues
) -> None:
    """Command every stage that takes the state of another."""
    for name, stage in stages.items():
        if families[name] in _COMMANDED_BY:
            stage.pass_time(stamp_ns - 1)
            stage.command(stamp_ns, state)
            stage.pass_time(stamp_ns)


def family_of(values: Mapping[str, Any], spec: ActuatorSpec | None, name: str) -> str:
    """Return the family of a node, '' where it runs none."""
    family = str(values.get('family') or (spec.family if spec else name))
    if 'family' in values and family not in REGISTRY:
        known = ', '.join(sorted(REGISTRY))
        raise ConfigError(
            f'{name}.family', f'unknown family {family!r}{suggestion(family, REGISTRY)}; '
            f'known: {known}'
        )
    return family if family in REGISTRY else ''


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
    family_type = REGISTRY[name]
    common = loop_params_of(name)
    known = [
        *_OF_NODES, *(p.key for cls in (common, family_type.Params) for p in parameters_of(cls))
    ]
    for error in unknown_keys(given, known):
        raise error
    values = {**(spec.values if spec else {}), **given}
    try:
        return family_type(build(family_type.Params, values)), build(common, values)
    except ConfigError as error:
        raise (spec.locate(error, given.keys()) if spec else error) from None
