# SPDX-License-Identifier: Apache-2.0
"""Cases of a study of the apogee detector: random flights, or flown logs with faults."""
from __future__ import annotations

import math
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from propulsion_ros.flight.apogee.estimate import ApogeeEstimate
from propulsion_ros.flight.apogee.params import ApogeeParams
from propulsion_ros.flight.detectors import make_detector
from propulsion_ros.flight.events.variables import Sample, bounded
from propulsion_ros.replay.flight_log import fly_live
from propulsion_ros.replay.log_units import LogUnits
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.flat import build, parameters_of, suggestion
from propulsion_ros.settings.yaml_file import write_parameters
from propulsion_ros.study.apogee_faults import FAULTS
from propulsion_ros.study.apogee_flights import Log, SimulatedFlight, read_logs, simulate_flight
from propulsion_ros.study.draws import is_number
from propulsion_ros.study.kinds import Cases
from propulsion_ros.study.study import Case, Study

PREMATURE = 1.0
"""Time before the true apogee from which on a decision is premature [s]."""
LATE = 2.0
"""Time after apogee, and after the data is good again, beyond which a decision is late [s]."""
_FLIGHT, _DETECTOR = 'flight.seed', 'apogee'
"""Variables: the seed of a flight, and ``apogee.<parameter>`` of the detector."""
_LOG, _FAULT = 'flight.log', 'flight.fault'
"""Further variables if there are flown logs; `_FLIGHT` is then the seed of the fault."""
_SLOW = 5.0  # mean time between rows above which they are in another unit [s]
_UNITS = {
    'delay': 's', 'speed': 'm/s', 'time_error': 's', 'apogee_time': 's', 'altitude_error': 'm',
    'apogee_altitude': 'm',
}
"""Units of the results."""


def spoil(log: Log, fault: str, seed: int) -> Log:
    """Return a log with a fault, which depends on fault, log and seed only."""
    keys = (zlib.crc32(fault.encode()), zlib.crc32(log.name.encode()), seed)
    return FAULTS[fault](np.random.default_rng(keys), log)


class Decision(NamedTuple):
    """Time of arrival at which the flight logic decided apogee [s], NaN for never, and why."""

    time: float
    estimate: ApogeeEstimate | None = None


def decision(log: Log, apogee: ApogeeParams) -> Decision:
    """Return the decision of the flight logic.

    Legacy receives what the original did: no samples without altitude, and no time between samples.
    """
    is_legacy = apogee.method == 'legacy'
    samples = _samples(log.kept(np.isfinite(log.altitude)) if is_legacy else log)
    arrivals = fly_live(samples, apogee, may_light=log.is_staged, lets_time_pass=not is_legacy)
    for arrival_ns, report in arrivals:
        if report.apogee is not None:
            return Decision(arrival_ns * 1e-9, report.estimate)
    return Decision(math.nan)


def verdict(log: Log, decided: float) -> str:
    """Judge a decision [s]: 'missed', 'premature', 'late' or ''; 'none' if none is due."""
    if math.isnan(log.apogee):
        return 'none' if math.isnan(decided) else 'premature'
    if math.isnan(decided):
        return 'missed'
    if decided - log.apogee < -PREMATURE - log.uncertainty:
        return 'premature'
    return 'late' if decided > max(log.apogee, log.back) + LATE else ''


def _samples(log: Log) -> Iterator[tuple[int, Sample]]:
    """Yield arrival [ns] and sample of every row."""
    for arrival, stamp, altitude, velocity, acceleration in zip(
        log.arrival.tolist(), log.stamp.tolist(), log.altitude.tolist(), log.velocity.tolist(),
        log.acceleration.tolist(), strict=True,
    ):
        sample = Sample(round(stamp * 1e9), altitude, velocity, acceleration)
        yield round(arrival * 1e9), bounded(sample)


def _doubts(log: Log, apogee: ApogeeParams) -> list[str]:
    """Return what `apogee` prints of the columns of a log, of its rows until the decision."""
    step = float(np.ptp(log.stamp)) / len(log.stamp) if len(log.stamp) else 0.0
    if step > _SLOW:
        return [f'its rows are {step:.3g} s apart; if time_s is in ms, divide by 1000']
    units, rows = LogUnits(), log.kept(~(log.arrival > decision(log, apogee).time))
    for _ in units.taken(sample for _, sample in _samples(rows)):
        pass
    return units.doubts()


class ApogeeCases(Cases):
    """Flies a random flight, or a flown log with a fault, and lets the detector watch it.

    Logs and faults that do not vary are taken in turn: every log with the first fault, then every
    log with the second one, and so on. Warnings are those of the logs, before the first case.
    """

    def __init__(self, study: Study, folder: Path) -> None:
        self._study = study
        self._logs = {log.name: log for log in read_logs(folder)} if study.params.input else {}
        known = {
            f'{_DETECTOR}.{each.key}': each.spec.unit for each in parameters_of(ApogeeParams)
        }
        # Of a log it is that of the time of the apogee, of a random flight that of its altitude.
        self.units = {**known, **_UNITS, 'sigma': 's' if self._logs else 'm'}
        for variable in study.vary:
            flights = (_FLIGHT, _LOG, _FAULT) if self._logs else (_FLIGHT,)
            if variable.name not in (*flights, *known):
                near = suggestion(variable.name, [*flights, *known])
                raise SourceError(
                    f'vary: {variable.name}',
                    f'expected {", ".join(flights)} or {_DETECTOR}.<parameter>{near}',
                )
            if variable.mode != 'value':
                raise SourceError(f'vary: {variable.name}', 'is: expected value')

    def check(self, case: Case) -> None:
        """Raise `ConfigError` if the detector would refuse the case's parameters."""
        params = self._params(case)
        self._seed(case)
        if self._logs:
            self._log(case)
        self.warnings = [
            f'{log.name}: {doubt}'
            for log in self._logs.values() for doubt in _doubts(log, params)
        ]

    def fly(self, case: Case) -> Mapping[str, Any]:
        """Return the results of the detector for a flight, with errors relative to the truth."""
        self.warnings = ()
        if self._logs:
            log, fault = self._log(case)
            return judge_log(spoil(log, fault, self._seed(case)), fault, self._params(case))
        flight = simulate_flight(self._seed(case))
        return {
            **judge(flight, self._params(case)),
            'apogee_time': flight.apogee_time, 'apogee_altitude': flight.apogee_altitude,
            'sigma': flight.sigma, 'fault': flight.fault,
        }

    def write(self, path: Path, case: Case) -> None:
        """Write the parameters of the detector."""
        write_parameters(path, None, {'flight_state': {
            key: value for key, value in case.values.items() if key.startswith(_DETECTOR)
        }})

    def _params(self, case: Case) -> ApogeeParams:
        return build(ApogeeParams, case.values, f'{_DETECTOR}.')

    def _seed(self, case: Case) -> int:
        """Return the seed of the flight, or of the fault."""
        seed = case.values.get(_FLIGHT, 0 if self._logs else case.seed)
        if not is_number(seed) or seed < 0 or seed != int(seed):
            raise SourceError(f'vary: {_FLIGHT}', f'expected an integer from 0 on, got {seed!r}')
        return int(seed)

    def _log(self, case: Case) -> tuple[Log, str]:
        """Return log and fault of a case."""
        logs, faults = list(self._logs), list(FAULTS)
        # Each point of the grid begins with the first log.
        turn = case.number % self._study.params.cases
        name = case.values.get(_LOG, logs[turn % len(logs)])
        fault = case.values.get(_FAULT, faults[turn // len(logs) % len(faults)])
        for key, given, known in ((_LOG, name, logs), (_FAULT, fault, faults)):
            if given not in known:
                raise SourceError(
                    f'vary: {key}', f'unknown {given!r}{suggestion(str(given), known)}'
                )
        return self._logs[name], fault


def watch(flight: SimulatedFlight, params: ApogeeParams) -> ApogeeEstimate | None:
    """Return the estimate that decides the apogee of a flight, None for a miss."""
    detector = make_detector(params)
    for sample in zip(
        flight.stamp_ns, flight.altitude.tolist(), flight.velocity.tolist(),
        flight.acceleration.tolist(), strict=True,
    ):
        detector.expect(flies=sample[0] > 0, may_light=False)
        estimate = detector.update(*sample)
        if estimate.detected:
            return estimate
    return None


def judge_log(log: Log, fault: str, params: ApogeeParams) -> dict[str, float | str]:
    """Return the results of the detector for a log with a fault; a verdict is 1 or 0."""
    decided = decision(log, params)
    found, kind = decided.estimate, verdict(log, decided.time)
    return {
        'log': log.name, 'fault': fault, 'delay': decided.time - log.apogee,
        **{name: int(kind == name) for name in ('missed', 'premature', 'late')},
        'sigma': math.nan if found is None else found.sigma,
        'reason': kind if found is None else found.reason,
    }


def judge(flight: SimulatedFlight, params: ApogeeParams) -> dict[str, float | str]:
    """Return the results for a flight: delay, errors, and the true speed at the decision."""
    found = watch(flight, params)
    delay, speed, error, height = math.nan, math.nan, math.nan, math.nan
    if found is not None and found.detected_ns is not None:
        decided = found.detected_ns / 1e9
        delay, speed = decided - flight.apogee_time, flight.speed(decided)
        if found.apogee_ns is not None:
            error = found.apogee_ns / 1e9 - flight.apogee_time
        height = found.apogee_altitude - flight.apogee_altitude
    return {
        'delay': delay, 'speed': speed, 'time_error': error, 'altitude_error': height,
        'reason': found.reason if found is not None else 'missed',
    }
