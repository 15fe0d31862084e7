"""Nodes of the shipped settings, run offline, for whatever is to command them."""
from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

from fuzz.target import REPOSITORY, require
from propulsion_ros.graph.node_config import build_family, family_of
from propulsion_ros.models.common.estimator import Estimator
from propulsion_ros.replay.offline import ActuatorStage, EstimateStage, Stage, Values
from propulsion_ros.settings.yaml_file import ParameterFile


@functools.cache
def families(name: str) -> dict[str, tuple[Any, Any]]:
    """Return what runs in each node of a shipped file, with its timing."""
    file = ParameterFile(REPOSITORY / 'config' / name)
    return {
        node: build_family(family, file.of(node), None) for node in file.nodes
        if (family := family_of(file.of(node), None, node))
    }


def stage_of(family: Any, params: Any, said: list[Values]) -> Stage:
    """Return a node that was just started, and says everything into a list."""
    kind = EstimateStage if isinstance(family, Estimator) else ActuatorStage
    return kind(family, params, lambda stamp_ns, values: said.append(values))


def require_wrenches(said: Sequence[Values]) -> None:
    """Raise `UnsoundError` for a wrench that is none."""
    for values in said:
        wrench = [value for name, value in values.items() if name.startswith('wrench.')]
        require(all(map(math.isfinite, wrench)), f'a wrench that is none: {wrench}')
