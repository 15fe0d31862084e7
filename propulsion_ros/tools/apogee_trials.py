# SPDX-License-Identifier: Apache-2.0
"""Run the apogee detector on seeded random flights, and print its mistakes."""
from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.study.apogee.cases import trials
from propulsion_ros.study.apogee.fault_table import fault_table
from propulsion_ros.study.kinds import StudyWork
from propulsion_ros.study.run import rows_in_order
from propulsion_ros.tools.apogee_table import error_table
from propulsion_ros.tools.lines import fail

EXAMPLE = '--flights 100 --seed 1'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument('--flights', type=int, default=1000, help='how many (default: %(default)d)')
    parser.add_argument('--seed', type=int, default=0, help='first seed (default: %(default)d)')
    parser.add_argument(
        '--table', type=Path, metavar='FOLDER',
        help='print the errors on the logs of this folder instead, which has reference apogees',
    )
    parser.add_argument(
        '--faults', type=Path, metavar='FOLDER',
        help='instead, print what faulty copies of these logs lead to, drawn by --seed, beside '
        'legacy: the table of docs/apogee.md',
    )
    parser.add_argument(
        '--fault', default='', metavar='TEXT', help='only faults whose names have this in them'
    )
    parser.add_argument(
        '--jobs', type=int, default=1, help='processes that fly (default: %(default)d)'
    )


def run(args: argparse.Namespace) -> int:
    """Fly and print one line per failure, then the figures; return 1 where one failed."""
    if args.table is not None:
        return _print_table(error_table(args.table))
    if args.faults is not None:
        return _print_table(fault_table(
            args.faults, (args.seed,), args.fault, max(args.jobs, 1)
        ))
    if args.flights < 1 or args.seed < 0:
        return fail(
            'apogee-trials', 'expected --flights of at least 1 and --seed of at least 0, got '
            f'{args.flights} and {args.seed}'
        )
    study = trials(args.flights, args.seed)
    rows = rows_in_order(StudyWork(study, {}), args.flights, args.jobs)
    delays, failures = [], 0
    for row in rows:
        if row['error']:
            return fail('apogee-trials', f'seed {row["flight.seed"]}: {row["error"]}')
        if not math.isnan(row['delay']):
            delays.append(row['delay'])
        if study.failed_limits(row):
            failures += 1
            decided = f'{row["delay"]:+.2f} s, at {row["speed"]:.1f} m/s upward'
            outcome = 'missed' if math.isnan(row['delay']) else decided
            print(f'seed {row["flight.seed"]}: {outcome}, fault: {row["fault"] or "none"}')
    print(f'{args.flights} flights, {failures} premature or missed')
    if delays:
        low, middle, high = np.percentile(delays, [1.0, 50.0, 99.0])
        print(f'delay [s]: median {middle:.3f}, 1 % {low:.3f}, 99 % {high:.3f}, '
              f'range {min(delays):.3f} to {max(delays):.3f}')
    return 1 if failures else 0


def _print_table(lines: Iterator[str]) -> int:
    try:
        for line in lines:
            print(line, flush=True)
    except ConfigError as error:
        return fail('apogee-trials', error)
    return 0
