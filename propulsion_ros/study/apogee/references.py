# SPDX-License-Identifier: Apache-2.0
"""What is known of the flights of a folder of logs."""
from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.files import read_text
from propulsion_ros.settings.json_node import JsonNode

_LISTS = {'real': 'reference.json', 'synthetic': 'synthetic/truth.json'}
_LARGEST = 1024 * 1024  # bytes of a list


class Reference(NamedTuple):
    """What is known of a flight; ``time`` is None where the log ends before its apogee [s]."""

    time: float | None
    uncertainty: float
    grade: str
    should_trigger: bool


def read_references(folder: Path) -> Iterator[tuple[str, str, Reference]]:
    """Yield kind ('real' or 'synthetic'), name and reference of every flight of a folder.

    Raises
    ------
    SourceError
        Where a list is missing or malformed.
    """
    for kind, name in _LISTS.items():
        path = folder / name
        text = read_text(path, _LARGEST)
        try:
            references = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise SourceError(str(path), f'expected JSON: {error}') from error
        if not isinstance(references, dict):
            raise SourceError(str(path), 'expected an object with a reference for each log')
        for flight, reference in sorted(references.items()):
            try:
                yield kind, flight, _reference(JsonNode(reference, flight))
            except SourceError as error:
                raise SourceError(f'{path}: {error.key}', error.problem) from error


def _reference(node: JsonNode) -> Reference:
    time = None if node['apogee_t'].value is None else node['apogee_t'].number()
    should_trigger = node.get('should_trigger', time is not None).flag()
    if should_trigger and time is None:
        raise node.error('should_trigger without an apogee_t')
    return Reference(
        time, node['t_uncert'].number() if node.has('t_uncert') else math.nan,
        node.get('grade', 'true').text(), should_trigger,
    )
