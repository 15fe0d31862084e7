# SPDX-License-Identifier: Apache-2.0
"""What the detectors make of faulty copies of flown logs."""
from __future__ import annotations

import json
import math
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from propulsion_ros.flight.apogee.params import ApogeeParams
from propulsion_ros.flight.events.variables import Sample, bounded
from propulsion_ros.replay.flight_log import read_flight_log
from propulsion_ros.replay.logged_flight import fly_live
from propulsion_ros.settings.errors import ConfigError, SourceError
from propulsion_ros.settings.files import read_text
from propulsion_ros.settings.json_node import JsonNode
from propulsion_ros.study.apogee.faults import FAULTS
from propulsion_ros.study.apogee.log import Log
from propulsion_ros.study.run import rows_in_order

PREMATURE = 1.0
"""A decision so much before the true apogee is premature [s]."""
LATE = 2.0
"""A decision so much after apogee, and after the data is good again, is late [s]."""
METHODS = ('robust', 'legacy')
_HEADER = (
    '| fault | logs | missed | premature | late | legacy missed | premature | late |\n'
    '| --- | --- | --- | --- | --- | --- | --- | --- |'
)


class Outcome(NamedTuple):
    """What a detector made of one faulty log; ``delay`` is NaN where it decided nothing [s]."""

    fault: str
    log: str
    kind: str
    delay: float


def fault_table(
    folder: Path, seeds: Sequence[int] = (0,), part: str = '', jobs: int = 1
) -> Iterator[str]:
    """Yield the lines of a Markdown table of missed, premature and late decisions by fault.

    Parameters
    ----------
    folder : Path
        With ``real/*.csv`` and ``reference.json``.
    seeds : sequence of int
        Of the faults: each is drawn once a seed for each log.
    part : str
        Only the faults whose names have this in them.
    jobs : int
        How many processes fly.

    Raises
    ------
    ConfigError
        Where a file is missing or malformed, or no fault has such a name.
    """
    logs = read_logs(folder)
    faults = [fault for fault in FAULTS if part in fault]
    if not faults:
        raise ConfigError('--fault', f'no fault has {part!r} in its name')
    yield _HEADER
    total: dict[str, list[Outcome]] = {method: [] for method in METHODS}
    work = _FaultWork(tuple(logs), tuple(seeds), tuple(faults))
    for fault, found in zip(faults, rows_in_order(work, len(faults), jobs), strict=True):
        yield _row(fault, found)
        for method in METHODS:
            total[method] += found[method]
    yield _row('all', total)


@dataclass(frozen=True, eq=False)
class _FaultWork:
    """Faulty copies of logs: a case is a fault, on all logs by both methods."""

    logs: Sequence[Log]
    seeds: Sequence[int]
    faults: Sequence[str]
    key: str = 'faults'

    def ready(self) -> _FaultWork:
        """Return it as it is: all of it has been read."""
        return self

    def row(self, number: int) -> dict[str, Any]:
        """Return the outcomes of a fault by method."""
        fault = self.faults[number]
        return {
            method: list(outcomes(self.logs, (fault,), self.seeds, method)) for method in METHODS
        }


def read_logs(folder: Path) -> list[Log]:
    """Return the flown logs of a folder that has references."""
    return [
        _log_of(name, read_flight_log(folder / 'real' / f'{name}.csv'), reference)
        for kind, name, reference in read_references(folder) if kind == 'real'
    ]


def outcomes(
    logs: Iterable[Log], faults: Iterable[str], seeds: Iterable[int], method: str = 'robust'
) -> Iterator[Outcome]:
    """Yield what a detector makes of every log with every fault and seed."""
    copies = tuple(logs)
    for fault in faults:
        for seed in seeds:
            for log in copies:
                spoilt = spoil(log, fault, seed)
                yield judge(fault, spoilt, decision(spoilt, method))


def spoil(log: Log, fault: str, seed: int) -> Log:
    """Return a log with a fault; the same for the same seed, whatever else is drawn."""
    keys = (zlib.crc32(fault.encode()), zlib.crc32(log.name.encode()), seed)
    return FAULTS[fault](np.random.default_rng(keys), log)


def decision(log: Log, method: str = 'robust') -> float:
    """Return when the flight logic decides apogee, by the clock of arrival [s]; NaN for never.

    Legacy receives what the original did: nothing where no sample comes, or one without altitude.
    """
    apogee = ApogeeParams(method=method)
    is_legacy = method == 'legacy'
    samples = _samples(log.kept(np.isfinite(log.altitude)) if is_legacy else log)
    arrivals = fly_live(samples, apogee, may_light=log.is_staged, lets_time_pass=not is_legacy)
    for arrival_ns, report in arrivals:
        if report.apogee is not None:
            return arrival_ns * 1e-9
    return math.nan


def judge(fault: str, log: Log, decided: float) -> Outcome:
    """Return what a decision is: '', 'missed', 'premature', 'late', or 'none' where none is due."""
    delay = decided - log.apogee
    if math.isnan(log.apogee):
        return Outcome(fault, log.name, 'none' if math.isnan(decided) else 'premature', delay)
    if math.isnan(decided):
        return Outcome(fault, log.name, 'missed', delay)
    if delay < -PREMATURE - log.uncertainty:
        return Outcome(fault, log.name, 'premature', delay)
    is_late = decided > max(log.apogee, log.back) + LATE
    return Outcome(fault, log.name, 'late' if is_late else '', delay)


def _log_of(name: str, samples: Sequence[Sample], reference: Reference) -> Log:
    time = np.array([sample.stamp_ns for sample in samples]) * 1e-9
    return Log(
        name, time, time, np.array([sample.altitude for sample in samples]),
        np.array([sample.velocity for sample in samples]),
        np.array([sample.acceleration for sample in samples]),
        math.nan if reference.time is None else reference.time,
        0.0 if reference.time is None else reference.uncertainty,
    )


def _samples(log: Log) -> Iterator[tuple[int, Sample]]:
    """Yield arrival [ns] and sample of every row."""
    for arrival, stamp, altitude, velocity, acceleration in zip(
        log.arrival.tolist(), log.stamp.tolist(), log.altitude.tolist(), log.velocity.tolist(),
        log.acceleration.tolist(), strict=True,
    ):
        sample = Sample(round(stamp * 1e9), altitude, velocity, acceleration)
        yield round(arrival * 1e9), bounded(sample)


def _row(fault: str, found: Mapping[str, list[Outcome]]) -> str:
    cells = [
        str(sum(outcome.kind == kind for outcome in found[method]) or '')
        for method in METHODS for kind in ('missed', 'premature', 'late')
    ]
    return f'| {fault} | {len(found[METHODS[0]])} | {" | ".join(cells)} |'


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
