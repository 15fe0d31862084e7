# SPDX-License-Identifier: Apache-2.0
"""Errors of detected apogees against reference apogees, for a folder of flight logs."""
from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from propulsion_ros.flight.apogee.params import ApogeeParams
from propulsion_ros.study.apogee.fault_table import Reference, read_references
from propulsion_ros.tools.apogee import apogee_of_log

_HEADER = (
    '| log | grade | reference [s] | error [s] | sigma [s] | reason | legacy error [s] |\n'
    '| --- | --- | --- | --- | --- | --- | --- |'
)
_LOW = 'syn_low_hop'  # below the default minimum height
_SLOW = 'astra_upv_2022'  # one sample a second: no detector of samples can be nearer


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
    flights = list(read_references(folder))
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
