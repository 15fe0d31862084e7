"""The command ``apogee``: find the apogee in a flight log."""
from __future__ import annotations

import argparse
import json
import math
import sys
from pathlib import Path
from typing import Any

from propulsion_ros.errors import ConfigError
from propulsion_ros.flight.apogee import ApogeeDetector, ApogeeEstimate, ApogeeParams
from propulsion_ros.flight.flight_params import FlightParams
from propulsion_ros.flight.flight_state import FlightState
from propulsion_ros.tools.flight_log import read_flight_log

_DEFAULTS = ApogeeParams()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument(
        'log', type=Path, metavar='LOG.csv',
        help='columns time_s, altitude_m and perhaps vz_mps, az_mps2; altitude 0 is the pad',
    )
    parser.add_argument(
        '--minimum-height', type=float, default=_DEFAULTS.minimum_height, metavar='M',
        help='rise above the pad before which nothing is detected [m] (default: %(default)g)',
    )


def run(args: argparse.Namespace) -> int:
    """Print the apogee of a log as one JSON object; return the exit code."""
    try:
        result = apogee_of_log(args.log, ApogeeParams(minimum_height=args.minimum_height))
    except ConfigError as error:
        print(f'propulsion_ros apogee: {error}', file=sys.stderr)
        return 1
    print(json.dumps(result, allow_nan=False))
    return 0


def apogee_of_log(path: Path, params: ApogeeParams) -> dict[str, Any]:
    """Return what the flight logic finds in a log, armed from its first row on.

    Parameters
    ----------
    path : Path
        CSV log; its rows are fed in file order, as a node would receive them.
    params : ApogeeParams
        Parameters of the detector.

    Returns
    -------
    dict
        ``detected_time``, ``apogee_time``, ``sigma`` [s, in the time of the log],
        ``apogee_altitude`` [m], ``reason``; None where nothing was detected or known.

    Raises
    ------
    SourceError
        For a malformed file.
    """
    state = FlightState(FlightParams(), ApogeeDetector(params))
    for i, sample in enumerate(read_flight_log(path)):
        report = state.update(sample)
        if i == 0:
            state.command('launch', sample.stamp_ns, force=True)
        if report.apogee is not None and report.estimate is not None:
            return _result(report.apogee.stamp_ns, report.estimate)
    return dict.fromkeys(
        ('detected_time', 'apogee_time', 'apogee_altitude', 'sigma', 'reason')
    )


def _result(detected_ns: int, estimate: ApogeeEstimate) -> dict[str, Any]:
    return {
        'detected_time': _seconds(detected_ns),
        'apogee_time': _seconds(estimate.apogee_ns),
        'apogee_altitude': _known(estimate.apogee_altitude),
        'sigma': _known(estimate.sigma),
        'reason': estimate.reason,
    }


def _seconds(stamp_ns: int | None) -> float | None:
    return None if stamp_ns is None else stamp_ns / 1e9


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None
