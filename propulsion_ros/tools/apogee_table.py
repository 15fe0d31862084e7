# SPDX-License-Identifier: Apache-2.0
"""Errors of detected apogees against reference apogees, for a folder of flight logs."""
from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from propulsion_ros.flight.apogee.params import ApogeeParams
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.files import read_text
from propulsion_ros.settings.json_node import JsonNode
from propulsion_ros.tools.apogee import apogee_of_log

_HEADER = (
    '| log | grade | reference [s] | error [s] | sigma [s] | reason | legacy error [s] |\n'
    '| --- | --- | --- | --- | --- | --- | --- |'
)
_LISTS = {'real': 'reference.json', 'synthetic': 'synthetic/truth.json'}
_LOW = 'syn_low_hop'  # below the default minimum height
_LARGEST = 1024 * 1024  # bytes of a list
_SLOW = 'astra_upv_2022'  # one sample a second: no detector of samples can be nearer


class Reference(NamedTuple):
    """What is known of a flight; ``time`` is None where the log ends before its apogee [s]."""

    time: float | None
    uncertainty: float
    grade: str
    should_trigger: bool


def error_table(folder: Path) -> Iterator[str]:
    """Yield the lines of a Markdown table, and of the summary below it.

    Parameters
    ----------
    folder : Path
        With ``real/*.csv`` and ``reference.json``, ``synthetic/*.csv`` and ``truth.json``.

    Raises
    ------
    SourceError
        Where a file is missing or malformed.
    """
    flights = list(_flights(folder))
    yield _HEADER
    errors: dict[str, list[float]] = {'robust': [], 'legacy': []}
    for kind, name, reference in flights:
        found = {method: _find(folder, kind, name, method) for method in errors}
        yield _row(name, reference, found)
        if reference.grade == 'A' and name != _SLOW:
            for method, result in found.items():
                errors[method].append(_error(result, reference))
    yield ''
    for method, values in errors.items():
        if not values:
            continue
        size = np.abs(values)
        yield (
            f'{method}, {len(size)} logs of grade A beside {_SLOW}: median absolute error '
            f'{np.median(size):.2f} s, mean {np.mean(size):.2f} s, worst {np.max(size):.2f} s'
        )


def _flights(folder: Path) -> Iterator[tuple[str, str, Reference]]:
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


def _find(folder: Path, kind: str, name: str, method: str) -> dict[str, Any]:
    params = ApogeeParams(method=method, minimum_height=30.0 if name == _LOW else 100.0)
    return apogee_of_log(folder / kind / f'{name}.csv', params)


def _error(found: dict[str, Any], reference: Reference) -> float:
    """Return detection less reference [s], NaN where one of them is missing."""
    time = found['detected_time']
    return math.nan if time is None or reference.time is None else time - reference.time


def _row(name: str, reference: Reference, found: dict[str, dict[str, Any]]) -> str:
    robust = found['robust']
    if not reference.should_trigger:
        words = {
            method: 'none, as it should' if result['detected_time'] is None else
            f'false at {result["detected_time"]:.2f} s'
            for method, result in found.items()
        }
        return f'| {name} | - | none | {words["robust"]} | | | {words["legacy"]} |'
    uncertainty = '' if math.isnan(reference.uncertainty) else f' ± {reference.uncertainty:.2f}'
    error = {
        method: 'missed' if result['detected_time'] is None else f'{_error(result, reference):+.2f}'
        for method, result in found.items()
    }
    sigma = '' if robust['sigma'] is None else f'{robust["sigma"]:.2f}'
    return (
        f'| {name} | {reference.grade} | {reference.time:.2f}{uncertainty} | '
        f'{error["robust"]} | {sigma} | {robust["reason"] or ""} | {error["legacy"]} |'
    )
