# SPDX-License-Identifier: Apache-2.0
"""Run the apogee detector on seeded random flights, and print its mistakes."""
from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from propulsion_ros.flight.apogee.estimate import ApogeeEstimate
from propulsion_ros.flight.apogee.params import ApogeeParams
from propulsion_ros.flight.detectors import make_detector
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.study.apogee_fault_table import fault_table
from propulsion_ros.study.simulated_flights import SimulatedFlight, simulate_flight
from propulsion_ros.tools.apogee_table import error_table

EXAMPLE = '--flights 100 --seed 1'
PREMATURE = -0.5
"""A detection earlier than this against the true apogee is premature [s]."""


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
        '--jobs', type=int, default=1, help='processes that fly faults (default: %(default)d)'
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
        print('propulsion_ros apogee-trials: expected --flights of at least 1 and --seed of at '
              f'least 0, got {args.flights} and {args.seed}', file=sys.stderr)
        return 1
    delays = []
    failures = 0
    for seed in range(args.seed, args.seed + args.flights):
        flight = simulate_flight(seed)
        delay = detection_delay(flight)
        if delay is not None:
            delays.append(delay)
        if delay is None or delay < PREMATURE:
            failures += 1
            outcome = 'missed' if delay is None else f'{delay:+.2f} s'
            print(f'seed {seed}: {outcome}, fault: {flight.fault or "none"}')
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
        print(f'propulsion_ros apogee-trials: {error}', file=sys.stderr)
        return 1
    return 0


def detection_delay(flight: SimulatedFlight) -> float | None:
    """Return detection less true apogee [s], None for a miss."""
    estimate = watch(flight)
    if estimate is None or estimate.detected_ns is None:
        return None
    return estimate.detected_ns / 1e9 - flight.apogee_time


def watch(flight: SimulatedFlight) -> ApogeeEstimate | None:
    """Return the estimate that decides the apogee of a flight, None for a miss."""
    detector = make_detector(ApogeeParams())
    for sample in zip(
        flight.stamp_ns, flight.altitude.tolist(), flight.velocity.tolist(),
        flight.acceleration.tolist(), strict=True,
    ):
        estimate = detector.update(*sample)
        if estimate.detected:
            return estimate
    return None
