# SPDX-License-Identifier: Apache-2.0
"""Fly many cases of one thing: Monte Carlo and grids, on cores or on a Dask cluster."""
from __future__ import annotations

import argparse
import json
import math
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.files import make_folder, printable
from propulsion_ros.settings.imports import how_to_get
from propulsion_ros.study.session import PICTURE, RESULTS, Session
from propulsion_ros.study.study import Column, Row, cell, find_study, numbers_of, read_study
from propulsion_ros.tools.lines import known, note, progress

EXAMPLE = 'apogee --cases 200 --jobs 2'
_NAMED = 5  # most failed cases that are named
_BATCH = 10  # cases that a worker of a scheduler gets at a time


class _StoppedError(Exception):
    """Raised if a signal ends the study; finished cases are kept."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument(
        'study', type=Path, metavar='STUDY.yaml',
        help='what is flown and what varies; or the name of a study of the package',
    )
    parser.add_argument(
        '--output', type=Path, metavar='FOLDER',
        help='for results, quantiles and picture (default: the name of the study and _study)',
    )
    parser.add_argument('--cases', type=int, metavar='N', help="how many, in place of the file's")
    parser.add_argument('--seed', type=int, metavar='N', help="in place of the file's")
    parser.add_argument(
        '--jobs', type=int, metavar='N', help='processes (default: one for each core)'
    )
    parser.add_argument(
        '--scheduler', default='', metavar='ADDRESS',
        help='fly on the workers of this Dask scheduler, tcp://HOST:PORT or tls://HOST:PORT; '
        'it can run any code here and there: see SECURITY.md',
    )
    parser.add_argument(
        '--batch', type=int, metavar='N',
        help=f'cases that a worker gets at a time (default: 1, on a scheduler {_BATCH})',
    )
    parser.add_argument(
        '--case', type=int, metavar='N',
        help='fly this one alone, here, print its row as JSON, and write its parameter file',
    )
    parser.add_argument('--again', action='store_true', help='forget the rows that are done')
    parser.add_argument('--no-picture', action='store_true', help='draw nothing')


def run(args: argparse.Namespace) -> int:
    """Fly a study; return 1 if a case failed or is beyond a limit."""
    try:
        _check(args)
        given = {key: getattr(args, key) for key in ('cases', 'seed')}
        study = read_study(
            find_study(args.study), **{key: n for key, n in given.items() if n is not None}
        )
        folder = args.output or Path(f'{study.name}_study')
        session = Session(study)
        if args.case is not None:
            return _fly_one(session, args.case, folder)
        rows = _fly_all(session, args, folder)
        if not args.no_picture:
            _draw(session, rows, folder / PICTURE)
    except _StoppedError as stopped:
        number, line = stopped.args
        note('study', line)
        return 128 + int(number)
    return _report(session, rows, folder)


def _check(args: argparse.Namespace) -> None:
    for name in ('jobs', 'batch'):
        number = getattr(args, name)
        if number is not None and number < 1:
            raise SourceError(f'--{name}', f'{number} is below 1')


def _note_first(session: Session) -> None:
    """Print the warnings of the study, and its limits with units and what is beyond half a turn."""
    for line in session.warnings:
        note('study', line)
    for name, (low, high) in session.study.limits.items():
        unit, most = session.unit(name), max(-low, high)
        meant = f'; if that is in degrees, write {math.radians(most):.4g}'
        is_far = unit == 'rad' and math.pi < most < math.inf
        note('study', f'limits: {name}: {low:g} to {high:g} {unit}'.rstrip() + meant * is_far)


def _fly_one(session: Session, number: int, folder: Path) -> int:
    """Fly one case, and write its parameter file, with which nodes can fly it."""
    size = session.study.size
    if not 0 <= number < size:
        raise SourceError('--case', f'expected 0 to {size - 1}, got {number}')
    _note_first(session)
    make_folder(folder)
    path = folder / f'case_{number}.yaml'
    session.write(path, number)
    row = session.row(number)
    session.study.check_limits([row])
    print(json.dumps(known(row)))
    for line in session.warnings:
        note('study', line)
    note('study', f'{printable(path)}: its parameters')
    return 1 if row['error'] or session.study.failed_limits(row) else 0


def _fly_all(session: Session, args: argparse.Namespace, folder: Path) -> list[Row]:
    """Fly the cases that are not done; raise `_StoppedError` at Ctrl-C or SIGTERM."""
    size, done = session.study.size, 0
    _note_first(session)

    def stopped(number: int) -> _StoppedError:
        return _StoppedError(
            number,
            f'stopped after {done} of {size} cases, which are kept: the same command goes on',
        )

    def at(count: int) -> None:
        nonlocal done
        done = count
        show(count)
        if came:
            raise stopped(signal.SIGTERM)

    try:
        with progress('study', size) as show, _awaited(signal.SIGTERM) as came:
            return session.fly(
                folder, at, jobs=args.jobs or os.cpu_count() or 1, scheduler=args.scheduler,
                batch=args.batch or (_BATCH if args.scheduler else 1), again=args.again,
            )
    except KeyboardInterrupt:
        print(file=sys.stderr)
        raise stopped(signal.SIGINT) from None


@contextmanager
def _awaited(number: int) -> Iterator[list[int]]:
    """Yield a list to which a signal is appended, in place of its usual handler."""
    came: list[int] = []
    before = signal.signal(number, lambda number, frame: came.append(number))
    try:
        yield came
    finally:
        signal.signal(number, before)


def _draw(session: Session, rows: Sequence[Row], path: Path) -> None:
    """Draw the results if matplotlib is installed."""
    from propulsion_ros.study.page import draw_study

    try:
        draw_study(session.study, rows, session.unit, path)
    except ImportError as error:
        note('study', f"no picture: it needs matplotlib, {how_to_get('matplotlib')}: {error}")


def _report(session: Session, rows: Sequence[Row], folder: Path) -> int:
    """Print a summary of the rows; return 1 if one failed or is beyond a limit."""
    study, failed = session.study, [row for row in rows if row['error']]
    beyond = [row for row in rows if not row['error'] and study.failed_limits(row)]
    variants = study.variants(rows)
    for text, own in variants.items():
        for column in numbers_of(study, own):
            if column.name != 'warnings' or column.values.any():
                print(f'{text}, ' * bool(text) + _summary(column, session.unit(column.name)))
    for row in failed[:_NAMED]:
        print(f'case {row["case"]}: {row["error"]} ({study.varied(row)})')
    for row in beyond[:_NAMED]:
        names = ', '.join(
            f'{name} {cell(row.get(name)) or "none"}' for name in study.failed_limits(row)
        )
        print(f'case {row["case"]}: beyond its limits: {names} ({study.varied(row)})')
    if more := len(failed[_NAMED:]) + len(beyond[_NAMED:]):
        print(f'and {more} more such cases')
    for text, own in variants.items() if len(variants) > 1 else ():
        out = sum(not row['error'] and bool(study.failed_limits(row)) for row in own)
        print(f'{text}: {out} of {len(own)} cases beyond their limits')
    print(f'{len(rows)} cases, {len(failed)} failed, {len(beyond)} beyond their limits: '
          f'{printable(folder / RESULTS)}')
    return 1 if failed or beyond else 0


def _summary(column: Column, unit: str) -> str:
    """Return the quantiles of a result in words, or how many cases share each of its values."""
    name = f'{column.name} [{unit}]' if unit else column.name
    if column.counts:
        return f'{name}: ' + ', '.join(
            f'{value:.6g} in {count} cases' for value, count in column.counts.items())
    found = column.summary
    return (
        f'{name}: median {found["50%"]:.6g}, 5 % {found["5%"]:.6g}, '
        f'95 % {found["95%"]:.6g}, lowest {found["min"]:.6g} in case {found["lowest case"]}, '
        f'highest {found["max"]:.6g} in case {found["highest case"]}'
    )
