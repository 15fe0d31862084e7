# SPDX-License-Identifier: Apache-2.0
"""Fit parameters of the models to a recording of the real robot."""
from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from propulsion_ros.graph.robot_layout import aligned
from propulsion_ros.graph.share import robot_files
from propulsion_ros.identify.advice import held_by_bounds, sizes_of
from propulsion_ros.identify.page import page_of_fit
from propulsion_ros.identify.problem import MEASURED
from propulsion_ros.identify.reading import Span
from propulsion_ros.identify.robot import read_robot
from propulsion_ros.identify.session import Request, Result, Session
from propulsion_ros.replay.ulog_reader import add_map, map_of
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.files import printable, require_target
from propulsion_ros.tools.lines import note

EXAMPLE = 'flight.csv --model rocket.urdf --measured odometry --fit body.drag_area'
_WEAK = 0.3  # relative standard deviation above which a value is weakly known
_LONG = 10.0  # least time between two lines about stages, where there is no terminal [s]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument(
        'input', type=Path, metavar='INPUT',
        help='a bag, a log of PX4 (.ulg), or a table (.csv, .csv.gz): stamp, commands, and what '
        'was measured',
    )
    add_map(parser)
    parser.add_argument(
        '--model', type=Path, required=True, metavar='ROBOT',
        help='URDF or xacro with the plugin block of the actuators, or the name of a vehicle',
    )
    parser.add_argument(
        '--params-file', type=Path, action='append', default=[], metavar='ROBOT.yaml',
        help='parameters to begin with; below identify: columns, what columns of a table are; may '
        'be repeated, the later one wins',
    )
    parser.add_argument(
        '--fit', required=True, metavar='NAMES',
        help='what is fitted, apart by commas: <group>.<parameter>, body.mass, body.ixx, body.iyy, '
        'body.izz, body.drag_area',
    )
    parser.add_argument(
        '--measured', choices=MEASURED, default='imu',
        help='what was measured: specific force and rates of an IMU, odometry, states of the '
        'actuators, or the wrench of a test stand (default: %(default)s)',
    )
    parser.add_argument('--from', type=float, dest='begin', metavar='S', help='first stamp [s]')
    parser.add_argument('--to', type=float, dest='end', metavar='S', help='last stamp [s]')
    parser.add_argument(
        '--fit-delay', action='store_true',
        help='also fit a delay from a command until the actuator takes it',
    )
    parser.add_argument(
        '--delay', type=float, default=0.0, metavar='S', help='a known one [s] (default: 0)'
    )
    parser.add_argument(
        '--choose', action='store_true',
        help='also compare one lag with two, and forms of the thrust curve, by cross-validation',
    )
    parser.add_argument(
        '--check', action='append', default=[], metavar='OTHER[:FROM:TO]',
        help='predict another recording with the result (repeat for several)',
    )
    parser.add_argument(
        '--output', type=Path, metavar='FITTED.yaml',
        help='parameter file with the result, or with the model that --choose recommends',
    )
    parser.add_argument(
        '--picture', type=Path, metavar='FIT.png',
        help='measured beside before and after, and residuals; needs matplotlib',
    )


def run(args: argparse.Namespace) -> int:
    """Print the report as one JSON object; return the exit code."""
    show, known = _Progress(), list[str]()

    def warn(line: str) -> None:
        show('')
        note('identify', line)
        known.append(line)

    try:
        for path in (args.output, args.picture):
            if path is not None:
                require_target(path, args.input, args.model)
        fit = [name.strip() for name in args.fit.split(',') if name.strip()]
        request = Request(
            args.input, fit, args.measured, (args.begin, args.end),
            [_check(text) for text in args.check], args.fit_delay, args.delay, args.choose,
            map_of(args),
        )
        robot = read_robot(robot_files(str(args.model))[0], args.params_file, fit)
        session = Session(robot, request, show, warn)
        result = session.run()
        is_found = any(each['value'] is not None for each in result.report['estimates'].values())
        if args.output is not None and is_found:
            session.write(args.output, result)
        if args.picture is not None:
            # It needs matplotlib, which a fit does not.
            from propulsion_ros.pictures.picture import draw

            draw(page_of_fit(result), args.picture)
    finally:
        show('')
    for line in (*_table(result), *result.report['warnings']):
        if line not in known:
            note('identify', line)
    if not is_found:
        unwritten = f'; {printable(args.output)} is not written' if args.output else ''
        note('identify', f'nothing was identified{unwritten}')
    print(json.dumps(result.report, allow_nan=False, indent=1))
    return 0 if is_found else 1


def _table(result: Result) -> Iterator[str]:
    """Yield the lines of a table of the estimates."""
    problem, held = result.problem, held_by_bounds(result.fit)
    sizes = sizes_of(result.fit)
    rows = [('parameter', 'before', 'after', 'sd', 'unit', 'verdict')]
    for (name, each), before in zip(
        result.report['estimates'].items(), problem.estimates(problem.start).tolist(), strict=True
    ):
        value, sd = each['value'], each['sd']
        verdict = 'not identified' if value is None else 'known'
        # Parts of a recording that contradict each other know it as little as noise.
        least = max(sd or 0.0, each['sd_of_parts'] or 0.0)
        if value is not None and (sd is None or least > _WEAK * sizes[name]):
            verdict = 'weakly known'
        if name in held and value is not None:
            verdict = 'at its bound'
        cells = ('-' if number is None else f'{number:.4g}' for number in (before, value, sd))
        rows.append((name, *cells, each['unit'] or '-', verdict))
    yield from aligned(rows)
    models = result.report.get('models')
    if models:
        best = models['variants'][models['recommended']]
        error = f'{best["cross_validation_rms"]:.3g} {result.report["unit"]}'
        names = ','.join(dict.fromkeys(name.partition('[')[0] for name in best['estimates']))
        yield (f'recommended model: {models["recommended"]}; {error} off on parts that were left '
               f'out; --fit {names}; table, estimates and --output are of it')


def _check(text: str) -> tuple[Path, Span]:
    """Return file and span of an option: OTHER or OTHER:FROM:TO."""
    parts = text.rsplit(':', 2)
    if len(parts) == 1:
        return Path(text), (None, None)
    try:
        begin, end = (float(part) if part else None for part in parts[1:])
    except ValueError:
        raise SourceError('--check', f'expected OTHER or OTHER:FROM:TO, got {printable(text)}') \
            from None
    return Path(parts[0]), (begin, end)


class _Progress:
    """Shows the current stage: in one line of a terminal, elsewhere in lines some time apart."""

    def __init__(self) -> None:
        self._next = time.monotonic() + _LONG

    def __call__(self, what: str) -> None:
        if sys.stderr.isatty():
            print(f'\r\033[K{what}', end='', file=sys.stderr, flush=True)
        elif what and (now := time.monotonic()) > self._next:
            self._next = now + _LONG
            note('identify', f'{what} ...')
