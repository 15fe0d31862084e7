"""Which nodes a parameter file and a robot description make, offline."""
from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from propulsion_ros.graph.family_params import loop_params_of
from propulsion_ros.graph.node_config import block_of, build_family, family_of, in_file
from propulsion_ros.loops.actuator_loop import CURRENT, ODOMETRY
from propulsion_ros.models.common.estimator import Estimator
from propulsion_ros.models.registry import REGISTRY
from propulsion_ros.replay.offline import (
    ActuatorStage,
    EstimateStage,
    NamedValues,
    Stage,
    Values,
)
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.flat import suggestion
from propulsion_ros.settings.yaml_file import ParameterFile
from propulsion_ros.urdf.reader import ActuatorSpec, actuators_from_urdf


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
    chosen.sort(key=lambda name: bool(_commander_of(families[name])))
    stages: dict[str, Stage] = {}
    for name in chosen:
        followers = [each for each in chosen if _commander_of(families[each]) == families[name]]
        passes_on = functools.partial(_pass_on, stages, followers) if followers else None
        with in_file(config, name):
            stages[name] = _stage(
                families[name], file.of(name), specs[name], functools.partial(sink, name),
                passes_on, has_motion,
            )
    return stages


def _commander_of(family: str) -> str:
    """Return the family whose state commands a family, '' for none."""
    return REGISTRY[family].facts.commanded_by


def _pass_on(
    stages: Mapping[str, Stage], followers: Sequence[str], stamp_ns: int, state: NamedValues
) -> None:
    """Command the stages that take the state of another."""
    for name in followers:
        stage = stages[name]
        stage.pass_time(stamp_ns - 1)
        stage.command(stamp_ns, state)
        stage.pass_time(stamp_ns)


def _stage(
    name: str,
    given: Mapping[str, Any],
    spec: ActuatorSpec | None,
    sink: Callable[[int, Values], None],
    passes_on: Callable[[int, NamedValues], None] | None,
    has_motion: bool,
) -> Stage:
    family, loop_params = build_family(name, given, spec)
    if isinstance(family, Estimator):
        return EstimateStage(family, loop_params, sink)
    if not has_motion:
        # What nobody will say is not waited for.
        awaited = tuple(s for s in loop_params.wait_for if s not in (ODOMETRY, CURRENT))
        loop_params = dataclasses.replace(loop_params, wait_for=awaited)
    return ActuatorStage(family, loop_params, sink, *([passes_on] if passes_on else []))
