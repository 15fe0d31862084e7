# SPDX-License-Identifier: Apache-2.0
"""Flown logs with what is known of their apogees, and what a detector makes of a faulty copy."""
from __future__ import annotations

import json
import math
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from propulsion_ros.flight.apogee.estimate import ApogeeEstimate
from propulsion_ros.flight.apogee.params import ApogeeParams
from propulsion_ros.flight.events.variables import Sample, bounded
from propulsion_ros.replay.flight_log import fly_live, read_flight_log
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.files import ABSENT, kind_of, read_text
from propulsion_ros.settings.json_node import JsonNode
from propulsion_ros.study.apogee.faults import FAULTS
from propulsion_ros.study.apogee.log import Log

LISTS = ('reference.json', 'truth.json')
"""What a folder of logs has of them, the first that is there."""
LARGEST = 1024 * 1024
"""Bytes of such a list."""
PREMATURE = 1.0
"""A decision so much before the true apogee is premature [s]."""
LATE = 2.0
"""A decision so much after apogee, and after the data is good again, is late [s]."""


class Reference(NamedTuple):
    """What is known of a flight."""

    path: Path
    """File of its log."""
    time: float
    """Time of the apogee [s]; NaN where the log ends before it."""
    uncertainty: float
    """[s], NaN where the list has none."""
    grade: str
    should_trigger: bool


def references_of(folder: Path) -> dict[str, Reference]:
    """Return what is known of each flight of a folder, by name.

    Its logs are ``real/NAME.csv``, or ``NAME.csv`` where there is no such folder.

    Raises
    ------
    SourceError
        Where the list is missing or malformed.
    """
    path = next((folder / name for name in LISTS if kind_of(folder / name) != ABSENT),
                folder / LISTS[0])
    try:
        references = json.loads(read_text(path, LARGEST))
    except (ValueError, RecursionError) as error:
        raise SourceError(str(path), f'expected JSON: {error}') from error
    if not isinstance(references, dict) or not references:
        raise SourceError(str(path), 'expected an object with a reference for each log')
    logs = folder / 'real' if kind_of(folder / 'real') != ABSENT else folder
    try:
        return {
            name: _reference(JsonNode(reference, name), logs / f'{name}.csv')
            for name, reference in sorted(references.items())
        }
    except SourceError as error:
        raise SourceError(f'{path}: {error.key}', error.problem) from error


def _reference(node: JsonNode, path: Path) -> Reference:
    time = math.nan if node['apogee_t'].value is None else node['apogee_t'].number()
    should_trigger = node.get('should_trigger', not math.isnan(time)).flag()
    if should_trigger and math.isnan(time):
        raise node.error('should_trigger without an apogee_t')
    return Reference(
        path, time, node['t_uncert'].number() if node.has('t_uncert') else math.nan,
        node.get('grade', 'true').text(), should_trigger,
    )


def read_logs(folder: Path) -> list[Log]:
    """Return the flown logs of a folder that has references."""
    return [
        _log_of(name, read_flight_log(reference.path), reference)
        for name, reference in references_of(folder).items()
    ]


def spoil(log: Log, fault: str, seed: int) -> Log:
    """Return a log with a fault; the same for the same seed, whatever else is drawn."""
    keys = (zlib.crc32(fault.encode()), zlib.crc32(log.name.encode()), seed)
    return FAULTS[fault](np.random.default_rng(keys), log)


class Decision(NamedTuple):
    """When the flight logic decided apogee, by the clock of arrival [s], NaN for never, and why."""

    time: float
    estimate: ApogeeEstimate | None = None


def decision(log: Log, apogee: ApogeeParams) -> Decision:
    """Return what the flight logic decides.

    Legacy receives what the original did: nothing where no sample comes, or one without altitude.
    """
    is_legacy = apogee.method == 'legacy'
    samples = _samples(log.kept(np.isfinite(log.altitude)) if is_legacy else log)
    arrivals = fly_live(samples, apogee, may_light=log.is_staged, lets_time_pass=not is_legacy)
    for arrival_ns, report in arrivals:
        if report.apogee is not None:
            return Decision(arrival_ns * 1e-9, report.estimate)
    return Decision(math.nan)


def verdict(log: Log, decided: float) -> str:
    """Return what a decision [s] is: 'missed', 'premature', 'late' or ''; 'none' if none is due."""
    if math.isnan(log.apogee):
        return 'none' if math.isnan(decided) else 'premature'
    if math.isnan(decided):
        return 'missed'
    if decided - log.apogee < -PREMATURE - log.uncertainty:
        return 'premature'
    return 'late' if decided > max(log.apogee, log.back) + LATE else ''


def _log_of(name: str, samples: Sequence[Sample], reference: Reference) -> Log:
    time = np.array([sample.stamp_ns for sample in samples]) * 1e-9
    return Log(
        name, time, time, np.array([sample.altitude for sample in samples]),
        np.array([sample.velocity for sample in samples]),
        np.array([sample.acceleration for sample in samples]),
        reference.time, 0.0 if math.isnan(reference.uncertainty) else reference.uncertainty,
    )


def _samples(log: Log) -> Iterator[tuple[int, Sample]]:
    """Yield arrival [ns] and sample of every row."""
    for arrival, stamp, altitude, velocity, acceleration in zip(
        log.arrival.tolist(), log.stamp.tolist(), log.altitude.tolist(), log.velocity.tolist(),
        log.acceleration.tolist(), strict=True,
    ):
        sample = Sample(round(stamp * 1e9), altitude, velocity, acceleration)
        yield round(arrival * 1e9), bounded(sample)
