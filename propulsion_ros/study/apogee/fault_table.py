# SPDX-License-Identifier: Apache-2.0
"""What the detectors make of faulty copies of flown logs."""
from __future__ import annotations

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
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.study.apogee.faults import FAULTS, Log
from propulsion_ros.study.apogee.references import Reference, read_references
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
