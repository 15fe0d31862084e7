# SPDX-License-Identifier: Apache-2.0
"""Measure what the package costs beside its peers and limits: ``python -m benchmarks``."""
from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable
from datetime import date
from importlib import import_module
from pathlib import Path

from benchmarks.machine import describe
from benchmarks.page import BEGIN, END, as_list, rewrite
from benchmarks.rows import Row, as_columns, as_markdown, as_text
from propulsion_ros.tools.demo import own_network

SECTIONS = {
    'steps': 'A step of each family beside its original',
    'logic': 'One sample of flight logic, estimators and force allocation',
    'batches': 'Environments a second',
    'nodes': 'One message through a node beside a bare rclpy node',
    'replay': 'Offline replay',
    'start_up': 'Start and memory',
    'launches': 'A launch of each vehicle with its simulated body',
}
"""Each is a module with `measure() -> rows`."""
_WIDE = ('steps', 'batches', 'nodes', 'launches')
"""Sections with a column for each part of a work."""


def main() -> int:
    """Run the script."""
    parser = argparse.ArgumentParser(prog='python -m benchmarks', description=__doc__)
    parser.add_argument(
        'sections', nargs='*', metavar='SECTION',
        help=f'which of {", ".join(SECTIONS)}; all of them without any',
    )
    parser.add_argument(
        '--json', type=Path, metavar='FILE',
        help='write the numbers here; those of sections that are not measured stay',
    )
    parser.add_argument('--picture', type=Path, metavar='FILE', help='draw the ratios here')
    parser.add_argument(
        '--redraw', type=Path, metavar='JSON', help='measure nothing, and draw the numbers of a run'
    )
    parser.add_argument(
        '--page', type=Path, metavar='FILE', help=f'write tables between {BEGIN} and {END} here'
    )
    options = parser.parse_args()
    unknown = set(options.sections) - set(SECTIONS)
    if unknown:
        parser.error(f'unknown section {min(unknown)!r}, known: {", ".join(SECTIONS)}')
    if options.redraw:
        _draw(options.picture, _kept(options.redraw))
        return 0
    machine = {'date': date.today().isoformat(), **describe()}
    print('\n'.join(f'{key}: {value}' for key, value in machine.items()))
    kept = _kept(options.json) if options.json and options.sections else {}
    measured: dict[str, list[Row]] = {}
    for name, title in SECTIONS.items():
        if options.sections and name not in options.sections:
            if name in kept:
                measured[name] = kept[name]
            continue
        print(f'\n{title}', flush=True)
        with own_network():
            measured[name] = list(_said(import_module(f'benchmarks.{name}').measure()))
    if options.json:
        numbers = {name: [row.as_json() for row in rows] for name, rows in measured.items()}
        text = json.dumps({'machine': machine, **numbers}, indent=2)
        options.json.write_text(f'{text}\n', encoding='utf-8')
    if options.page:
        rewrite(options.page, _tables(machine, measured))
    if options.picture:
        _draw(options.picture, measured)
    return 0


def _kept(path: Path) -> dict[str, list[Row]]:
    """Return the rows of an earlier run, which stay where not all sections are measured."""
    if not path.is_file():
        return {}
    numbers = json.loads(path.read_text(encoding='utf-8'))
    return {
        name: [
            Row(**{key: value for key, value in row.items() if key != 'ratio'}) for row in rows
        ]
        for name, rows in numbers.items() if name in SECTIONS
    }


def _said(rows: Iterable[Row]) -> Iterable[Row]:
    """Yield rows, each printed as soon as it is measured."""
    for row in rows:
        print(as_text(row), flush=True)
        yield row


def _tables(machine: dict[str, str], measured: dict[str, list[Row]]) -> str:
    """Return what stands between the marks of a page."""
    parts = [f'## {SECTIONS[name]}\n\n{table_of(name, rows)}' for name, rows in measured.items()]
    return '\n\n'.join([as_list(machine), *parts])


def table_of(name: str, rows: list[Row]) -> str:
    """Return the table of a section."""
    return as_columns(rows) if name in _WIDE else as_markdown(rows)


def _draw(path: Path, measured: dict[str, list[Row]]) -> None:
    # Only who draws needs it.
    draw: Callable[..., None] = import_module('benchmarks.ratios').draw
    draw(path, measured)


if __name__ == '__main__':
    raise SystemExit(main())
