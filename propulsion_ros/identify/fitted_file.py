# SPDX-License-Identifier: Apache-2.0
"""A parameter file with what was fitted, as the nodes take it."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from propulsion_ros.settings.files import opened_to_write, writing
from propulsion_ros.settings.ros_yaml import dump
from propulsion_ros.settings.yaml_file import ParameterFile

_VEHICLE = 'vehicle'


def write_fitted(
    path: Path, file: ParameterFile | None, group: str, changed: Mapping[str, Any],
    vehicle: Mapping[str, Any], lines: Sequence[str],
) -> None:
    """Write a parameter file: an old one with other values.

    Parameters
    ----------
    path : Path
        The new file.
    file : ParameterFile or None
        The old one, whose other values stay.
    group : str
        Node of the actuators.
    changed, vehicle : mapping
        Flat parameters of that node, and of the simulated body.
    lines : sequence of str
        Comments.

    Raises
    ------
    SourceError
        Where it cannot be written.
    """
    nodes: dict[str, dict[str, Any]] = {}
    for pattern, values in file.entries if file else ():
        nodes.setdefault(pattern, {}).update(values)
    for node, new in ((group, changed), (_VEHICLE, vehicle)):
        if not new:
            continue
        # The last entry of a node wins.
        own = [pattern for pattern in nodes if pattern.rpartition('/')[2] == node]
        nodes.setdefault(own[-1] if own else f'/**/{node}', {}).update(new)
    text = ''.join(f'# {line}\n' for line in lines) + dump(
        {name: _plain(values) for name, values in nodes.items()}, width=100,
    )
    with writing(path), opened_to_write(path) as out:
        out.write(text.encode())


def _plain(value: Any) -> Any:
    """Return what YAML has a form for."""
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    if isinstance(value, np.generic):
        value = value.item()
    # No fit is surer than seven digits.
    return float(f'{value:.7g}') if isinstance(value, float) else value
