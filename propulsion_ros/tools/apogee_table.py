"""How far detections lie from the references of a folder of flight logs."""
from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from propulsion_ros.errors import SourceError
from propulsion_ros.flight.apogee_params import ApogeeParams
from propulsion_ros.tools.apogee import apogee_of_log

_HEADER = (
    '| log | grade | reference [s] | error [s] | sigma [s] | reason | legacy error [s] |\n'
    '| --- | --- | --- | --- | --- | --- | --- |'
)
_LISTS = {'real': 'reference.json', 'synthetic': 'synthetic/truth.json'}
_LOW = 'syn_low_hop'  # below the default minimum height
_SLOW = 'astra_upv_2022'  # one sample a second: no detector of samples can be nearer


def error_table(folder: Path) -> Iterator[str]:
    """Yield the lines of a Markdown table and of the figures below it.

    Parameters
    ----------
    folder : Path
        With ``real/*.csv`` and ``reference.json``, ``synthetic/*.csv`` and ``truth.json``.

    Raises
    ------
    SourceError
        Where a file is missing or malformed.
    """
    yield _HEADER
    errors: dict[str, list[float]] = {'robust': [], 'legacy': []}
    for kind, name, reference in _flights(folder):
        found = {method: _find(folder, kind, name, method) for method in errors}
        yield _row(name, reference, found)
        if reference.get('grade') == 'A' and name != _SLOW:
            for method, result in found.items():
                errors[method].append(_error(result, reference))
    yield ''
    for method, values in errors.items():
        size = np.abs(values)
        yield (
            f'{method}, {len(size)} logs of grade A beside {_SLOW}: median absolute error '
            f'{np.median(size):.2f} s, mean {np.mean(size):.2f} s, worst {np.max(size):.2f} s'
        )


def _flights(folder: Path) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for kind, name in _LISTS.items():
        path = folder / name
        try:
            references = json.loads(path.read_text(encoding='utf-8'))
        except OSError as error:
            raise SourceError(str(path), f'cannot be read: {error.strerror}') from error
        except ValueError as error:
            raise SourceError(str(path), f'expected JSON: {error}') from error
        for flight, reference in sorted(references.items()):
            yield kind, flight, reference


def _find(folder: Path, kind: str, name: str, method: str) -> dict[str, Any]:
    params = ApogeeParams(method=method, minimum_height=30.0 if name == _LOW else 100.0)
    return apogee_of_log(folder / kind / f'{name}.csv', params)


def _error(found: dict[str, Any], reference: dict[str, Any]) -> float:
    """Return detection less reference [s], NaN where there is no detection."""
    time = found['detected_time']
    return float('nan') if time is None else float(time - reference['apogee_t'])


def _row(name: str, reference: dict[str, Any], found: dict[str, dict[str, Any]]) -> str:
    time, robust = reference['apogee_t'], found['robust']
    if not reference.get('should_trigger', time is not None):
        words = {
            method: 'none, as it should' if result['detected_time'] is None else
            f'false at {result["detected_time"]:.2f} s'
            for method, result in found.items()
        }
        return f'| {name} | - | none | {words["robust"]} | | | {words["legacy"]} |'
    uncertainty = f' ± {reference["t_uncert"]:.2f}' if 't_uncert' in reference else ''
    error = {
        method: 'missed' if result['detected_time'] is None else f'{_error(result, reference):+.2f}'
        for method, result in found.items()
    }
    sigma = '' if robust['sigma'] is None else f'{robust["sigma"]:.2f}'
    return (
        f'| {name} | {reference.get("grade", "true")} | {time:.2f}{uncertainty} | '
        f'{error["robust"]} | {sigma} | {robust["reason"] or ""} | {error["legacy"]} |'
    )
