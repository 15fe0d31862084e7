# SPDX-License-Identifier: Apache-2.0
"""Find the apogee in a flight log."""
from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from propulsion_ros.flight.apogee.estimate import ApogeeEstimate
from propulsion_ros.flight.apogee.params import ApogeeParams
from propulsion_ros.flight.belief.departure import DROP
from propulsion_ros.flight.flight_report import FlightReport
from propulsion_ros.flight.phases.progress import Mark
from propulsion_ros.replay.flight_log import fly, read_flight_log, samples_of_log
from propulsion_ros.replay.log_units import LogUnits
from propulsion_ros.settings.files import printable, require_target
from propulsion_ros.settings.hints import fall_doubt, pressure_doubt
from propulsion_ros.tools.lines import known, note

EXAMPLE = 'flight.csv --picture apogee.png'
_DEFAULTS = ApogeeParams()
_PAD = 100.0  # first altitude above which a log is not relative to the pad [m]
_SLOW = 1.0  # time between samples above which stamps are in another unit [s]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument(
        'log', type=Path, metavar='LOG',
        help='CSV with time_s, altitude_m and optional vz_mps, az_mps2; altitude 0 is the pad; or '
        'a bag or a log of PX4 (.ulg), of which the odometry is taken',
    )
    parser.add_argument(
        '--minimum-height', type=float, default=_DEFAULTS.minimum_height, metavar='M',
        help='height above the pad below which no apogee is detected [m] (default: %(default)g)',
    )
    parser.add_argument(
        '--method', default=_DEFAULTS.method, metavar='NAME',
        help='detector: robust, or legacy as flown on Pickle Rick (default: %(default)s)',
    )
    parser.add_argument(
        '--picture', type=Path, metavar='FILE.png',
        help='draw altitude, fitted parabolas, lockout and decision; needs matplotlib',
    )


def run(args: argparse.Namespace) -> int:
    """Print the apogee of a log as one JSON object; return the exit code."""
    if args.picture is not None:
        require_target(args.picture, args.log)
    params = ApogeeParams(minimum_height=args.minimum_height, method=args.method)
    result, doubt = apogee_of_log(args.log, params)
    if args.picture is not None:
        _draw(args.log, params, args.picture)
    if doubt:
        note('apogee', f'{printable(args.log)}: {doubt}')
    print(json.dumps(result, allow_nan=False))
    return 0


def apogee_of_log(path: Path, params: ApogeeParams) -> tuple[dict[str, Any], str]:
    """Return the result of the flight logic for a log, and why it is doubtful or none, '' if not.

    It is armed from the first row on; rows are fed in the order of the file, as a node would
    receive them. The result has ``detected_time``, ``apogee_time``, ``sigma`` [s, in the time of
    the log], ``apogee_altitude`` [m] and ``reason``, None if not detected or not known.

    Raises `SourceError` for a malformed file.
    """
    report, log = None, LogUnits()
    for report in fly(log.taken(samples_of_log(path)), params):
        if report.apogee is not None and report.estimate is not None:
            doubts = log.doubts() or _of_the_place(log, min(params.minimum_height, DROP))
            doubts = doubts or [fall_doubt(-report.estimate.acceleration)]
            return _result(report.apogee, report.estimate), '; '.join(doubts)
    nothing = dict.fromkeys(
        ('detected_time', 'apogee_time', 'apogee_altitude', 'sigma', 'reason')
    )
    return nothing, _why_none(report, log, params.minimum_height)


def _of_the_place(log: LogUnits, least: float) -> list[str]:
    """Return why an altitude may be positive downward, or relative to the sea."""
    pressure = pressure_doubt(log.first, log.lowest, log.highest)
    if log.height < least <= log.depth:
        return [
            f'it goes {log.depth:.3g} m down alone; unless it begins in the fall, altitude_m is '
            f'positive upward{pressure}'
        ]
    return [
        f'it begins at {log.first:.4g} m; altitude 0 is the pad, or the log begins in the climb'
        f'{pressure}'
    ] if abs(log.first) > _PAD else []


def _why_none(report: FlightReport | None, log: LogUnits, least: float) -> str:
    """Return why a log has no apogee, by its last report."""
    if report is None:
        return 'no apogee: expected rows, got a header alone'
    doubts = log.doubts() or _of_the_place(log, least)
    if doubts and (log.height < least or report.liftoff is None):
        return f'no apogee: {"; ".join(doubts)}'
    if log.height < least:
        return (
            f'no apogee: it rises {log.height:.3g} m, and below {least:g} m none is looked for; '
            '--minimum-height M sets another height'
        )
    if report.liftoff is None:
        return (
            'no apogee: the log ends before a liftoff was seen, though it rises '
            f'{log.height:.3g} m; ' + (
                'if time_s is in ms, divide by 1000' if log.step > _SLOW
                else 'altitude_m is in metres above the pad, time_s in seconds'
            )
        )
    health = 'ok' if report.estimate is None else report.estimate.health
    at = '' if health == 'ok' else f', at health {health!r}'
    return '; '.join([f'no apogee: the log ends before one was seen{at}', *doubts])


def _draw(log: Path, params: ApogeeParams, picture: Path) -> None:
    from propulsion_ros.pictures.panels import flight_page
    from propulsion_ros.pictures.picture import draw
    from propulsion_ros.pictures.table import signals_of_flight

    samples = read_flight_log(log)
    draw(flight_page(signals_of_flight(log.stem, samples, fly(samples, params))), picture)


def _result(decided: Mark, estimate: ApogeeEstimate) -> dict[str, Any]:
    found = estimate.detected
    return {
        'detected_time': _seconds(decided.stamp_ns),
        'apogee_time': _seconds(estimate.apogee_ns) if found else None,
        'apogee_altitude': known(estimate.apogee_altitude) if found else None,
        'sigma': known(estimate.sigma) if found else None,
        'reason': estimate.reason if found else decided.source,
    }


def _seconds(stamp_ns: int | None) -> float | None:
    return None if stamp_ns is None else stamp_ns / 1e9
