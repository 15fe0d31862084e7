# SPDX-License-Identifier: Apache-2.0
"""The models of a robot, for programs without nodes."""
from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from propulsion_ros.graph.family_params import loop_params_of
from propulsion_ros.graph.node_config import build_family
from propulsion_ros.graph.share import read_description
from propulsion_ros.models.common.family import Family
from propulsion_ros.settings.errors import ConfigError, SourceError
from propulsion_ros.settings.yaml_file import ParameterFile
from propulsion_ros.urdf.reader import actuators_from_urdf


def models_of(robot: str | Path, parameters: str | Path | None = None) -> Mapping[str, Family]:
    """Return the families of a robot by their blocks; see `propulsion_ros.load`."""
    description = read_description(robot)
    file = None if parameters is None else ParameterFile(parameters)
    models: dict[str, Family] = {}
    try:
        for spec in actuators_from_urdf(description.text, loop_params_of):
            given = file.of(spec.name) if file else {}
            models[spec.name], _ = build_family(spec.family, given, spec)
    except ConfigError as error:
        raise SourceError(description.place_of(error), str(error)) from error
    if not models:
        raise SourceError(description.name, 'has no plugin block of actuators')
    return models
