# SPDX-License-Identifier: Apache-2.0
"""Find the apogee in a flight log, and what a flight configuration would have fired."""
from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from propulsion_ros.flight.apogee.estimate import ApogeeEstimate
from propulsion_ros.flight.apogee.params import ApogeeParams
from propulsion_ros.flight.belief.departure import DROP
from propulsion_ros.flight.events.variables import Sample
from propulsion_ros.flight.flight_report import FlightReport
from propulsion_ros.flight.flight_state import FlightState
from propulsion_ros.flight.phases.progress import Mark
from propulsion_ros.loops.flight.params import (
    FlightLoopParams,
    make_flight_state,
    read_config,
    read_params,
)
from propulsion_ros.loops.ports import GivenParameters
from propulsion_ros.replay.flight_log import (
    fly,
    ignored_columns,
    read_flight_log,
    samples_of_log,
)
from propulsion_ros.replay.log_units import LogUnits
from propulsion_ros.rml.config import FlightConfig, doubtful_events
from propulsion_ros.settings.errors import ConfigError, SourceError
from propulsion_ros.settings.files import printable, require_target
from propulsion_ros.settings.hints import fall_doubt, pressure_doubt
from propulsion_ros.settings.yaml_file import ParameterFile
from propulsion_ros.tools.lines import known, note

EXAMPLE = 'flight.csv --config my_flight.jsonc --picture apogee.png'
_NODE = 'flight_state'
_DEFAULTS = ApogeeParams()
_NO_EVENTS = FlightConfig((), ())
_PAD = 100.0  # first altitude above which a log is not relative to the pad [m]
_NOTHING: Mapping[str, Any] = dict.fromkeys(
    ('detected_time', 'apogee_time', 'apogee_altitude', 'sigma', 'reason')
)
_NOTICES = 10  # most lines that tell what an operator would be told
_SLOW = 1.0  # time between samples above which stamps are in another unit [s]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument(
        'log', type=Path, metavar='LOG',
        help='CSV with time_s, altitude_m and optional vz_mps, az_mps2; altitude 0 is the pad; or '
        'a bag or a log of PX4 (.ulg), of which the odometry is taken',
    )
    parser.add_argument(
        '--config', default='', metavar='FLIGHT.jsonc',
        help='flight configuration: also print when each of its events fires in this flight, and '
        'what charges that never fired need',
    )
    parser.add_argument(
        '--params-file', type=Path, action='append', default=[], metavar='YAML',
        help=f'parameters of the node {_NODE}, such as its backup timer; altitudes are those of '
        'the log; may be repeated',
    )
    parser.add_argument(
        '--minimum-height', type=float, metavar='M',
        help='height above the pad below which no apogee is detected [m] (default: '
        f'{_DEFAULTS.minimum_height:g})',
    )
    parser.add_argument(
        '--method', metavar='NAME',
        help='detector: robust, or legacy as flown on Pickle Rick (default: '
        f'{_DEFAULTS.method})',
    )
    parser.add_argument(
        '--picture', type=Path, metavar='FILE.png',
        help='draw altitude, fitted parabolas, lockout and decision; needs matplotlib',
    )


def run(args: argparse.Namespace) -> int:
    """Print the apogee of a log as one JSON object; return the exit code."""
    params = params_of(args.params_file, {
        'config_file': args.config or None, 'apogee.minimum_height': args.minimum_height,
        'apogee.method': args.method,
    })
    if args.picture is not None:
        require_target(args.picture, args.log, *args.params_file, params.config_file or None)
    config = read_config(params)
    for doubt in doubtful_events(config, params.altitude_source):
        note('apogee', f'{params.config_file}: {doubt}')
    result, doubts = apogee_of_log(args.log, params, config)
    if args.picture is not None:
        _draw(args.log, params, config, args.picture)
    for doubt in (*ignored_columns(args.log), *doubts):
        note('apogee', f'{printable(args.log)}: {doubt}')
    print(json.dumps(dict(result), allow_nan=False))
    return 0


def params_of(files: Sequence[Path], options: Mapping[str, Any]) -> FlightLoopParams:
    """Return the parameters of a flight computer whose flight is over: it keeps no record.

    Parameters
    ----------
    files : sequence of Path
        Parameter files of the node, in any namespace; later ones win.
    options : mapping
        Parameters that win over the files; None for those that are not given.

    Raises
    ------
    ConfigError
        For a fault in a file or a parameter.
    """
    file = ParameterFile(*files)
    spaces = [space for name, space in file.nodes_and_namespaces if name == _NODE]
    own = file.of(_NODE, next(filter(None, spaces), '/'))
    if files and not own:
        raise SourceError(printable(files[-1]), (
            f"expected a section '{_NODE}', got {', '.join(file.nodes) or 'none'}"
        ))
    given = {key: value for key, value in options.items() if value is not None}
    try:
        return read_params(GivenParameters(_NODE, {
            **own, **given, 'replay': True, 'state_file': '',
        }))
    except ConfigError as error:
        if error.key in given:
            raise
        raise file.placed(_NODE, error) from None


def apogee_of_log(
    path: Path, params: FlightLoopParams, config: FlightConfig = _NO_EVENTS
) -> tuple[Mapping[str, Any], list[str]]:
    """Return what the flight logic does in the flight of a log, and lines on what is doubtful.

    It is armed from the first row on; rows are fed in the order of the file, as a node would
    receive them, and with events time passes where rows are missing. The result has
    ``detected_time``, ``apogee_time``, ``sigma`` [s, in the time of the log], ``apogee_altitude``
    [m] and ``reason``, None if not detected or not known. With events it has ``liftoff_time`` [s]
    and ``events``: ``time`` of the first firing [s], ``name``, ``altitude`` of that row [m],
    ``why``, and ``count`` of the firings; what an operator would be told, and charges that never
    fired, are lines.

    Raises `ConfigError` for a malformed file.
    """
    log = LogUnits()
    flight, flown = _flown(log.taken(samples_of_log(path)), params, config)
    report, decided, has_events = None, None, bool(config.events)
    doubts: list[str] = []
    notices: dict[str, None] = {}
    events: dict[int, dict[str, Any]] = {}
    for sample, report in flown:
        if report.notice:
            notices[f'at {report.stamp_ns / 1e9:g} s: {report.notice}'] = None
        for event in report.events:
            events.setdefault(event.id, {
                'time': event.stamp_ns / 1e9, 'name': event.name,
                'altitude': known(sample.altitude), 'why': event.why,
            })['count'] = event.count
        if decided is None and report.apogee is not None and report.estimate is not None:
            decided = _result(report.apogee, report.estimate)
            doubts = log.doubts() or _of_the_place(log, min(params.apogee.minimum_height, DROP))
            doubts = doubts or [fall_doubt(-report.estimate.acceleration)]
            if not has_events:
                break
    if decided is None:
        doubts = [_why_none(report, log, params.apogee.minimum_height)]
    result, lines = decided or _NOTHING, ['; '.join(doubts)]
    if has_events:
        liftoff = None if report is None or report.liftoff is None else report.liftoff.stamp_ns
        result = {
            **result, 'liftoff_time': _seconds(liftoff), 'events': list(events.values())
        }
        more = [f'and {len(notices) - _NOTICES} more such lines'] * (len(notices) > _NOTICES)
        lines += [*[*notices][:_NOTICES], *more, *flight.unfired]
    return result, list(filter(None, lines))


def _flown(
    samples: Iterable[Sample], params: FlightLoopParams, config: FlightConfig
) -> tuple[FlightState, Iterator[tuple[Sample, FlightReport]]]:
    """Return the flight logic, and what it reports; with events time passes in gaps."""
    flight = make_flight_state(params, config, in_simulation=False)
    return flight, fly(samples, flight, params.silence_timeout if config.events else 0.0)


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
    if math.isnan(log.first):
        return 'no apogee: altitude_m has no number in any row'
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


def _draw(log: Path, params: FlightLoopParams, config: FlightConfig, picture: Path) -> None:
    from propulsion_ros.pictures.panels import flight_page
    from propulsion_ros.pictures.picture import draw
    from propulsion_ros.pictures.table import signals_of_flight

    _, flown = _flown(read_flight_log(log), params, config)
    draw(flight_page(signals_of_flight(log.stem, flown)), picture)


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
