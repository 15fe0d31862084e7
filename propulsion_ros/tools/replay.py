"""The command ``replay``: run nodes over a bag or a table of commands, exactly and without DDS."""
from __future__ import annotations

import argparse
import csv
import math
import sys
from collections import Counter
from pathlib import Path
from typing import TextIO

from propulsion_ros.graph.share import load_robot_description
from propulsion_ros.graph.wiring import VEHICLES
from propulsion_ros.replay.bags import is_bag
from propulsion_ros.replay.command_table import STAMP, Columns, read_header
from propulsion_ros.replay.csv_rows import number_text, stamp_text
from propulsion_ros.replay.offline import OfflineRun, Stage, Values
from propulsion_ros.replay.progress import Progress, count_lines
from propulsion_ros.replay.stages import make_stages
from propulsion_ros.settings.errors import ConfigError, SourceError
from propulsion_ros.settings.files import printable, replacing


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument(
        'config', type=Path, metavar='CONFIG', help='parameter file of the nodes (YAML)'
    )
    parser.add_argument(
        'input', type=Path, metavar='INPUT',
        help='a bag, or commands as CSV: stamp, <name>.<field>, wrench.force.x ... '
        'wrench.torque.z, com.x, body.velocity.x, body.angular_velocity.x; an empty cell is no '
        'new command',
    )
    parser.add_argument(
        'output', type=Path, metavar='OUTPUT', help='what the nodes say: a new bag, or CSV'
    )
    parser.add_argument(
        '--vehicle', choices=VEHICLES, default='', help='a vehicle of the package: all its nodes'
    )
    parser.add_argument('--model', type=Path, help='URDF or xacro with their plugin blocks')
    parser.add_argument(
        '--node', action='append', metavar='NAME',
        help='run only this node of the file (repeat for several)',
    )
    parser.add_argument('--namespace', default='', help='namespace of the nodes in a bag')
    parser.add_argument(
        '--keep-inputs', action='store_true', help='write what was read into the new bag too'
    )


def run(args: argparse.Namespace) -> int:
    """Replay a file; return the exit code."""
    try:
        counts = _replay_bag(args) if _has_bag(args) else _replay(args)
    except ConfigError as error:
        print(f'propulsion_ros replay: {error}', file=sys.stderr)
        return 1
    except OSError as error:
        reason = error.strerror or error
        print(f'propulsion_ros replay: {printable(args.output)}: {reason}', file=sys.stderr)
        return 1
    said = ', '.join(f'{count} {what}' for what, count in counts.items() if count)
    print(f'propulsion_ros replay: {printable(args.output)}: {said}', file=sys.stderr)
    return 0


def _has_bag(args: argparse.Namespace) -> bool:
    return is_bag(args.input) or is_bag(args.output) or bool(args.vehicle)


def _replay_bag(args: argparse.Namespace) -> Counter[str]:
    try:
        # Tables need no ROS at all.
        from propulsion_ros.replay.bag_run import replay
    except ImportError as error:
        raise SourceError(str(args.input), f'bags need the Python packages of ROS 2: {error}') \
            from error
    return replay(args)


def _replay(args: argparse.Namespace) -> Counter[str]:
    """Run all rows of a file and return what became of them."""
    path: Path = args.input
    description = load_robot_description(args.model) if args.model else ''
    place, header, rows = read_header(path)
    has_motion = any(name.strip().startswith('body.') for name in header)
    counts: Counter[str] = Counter(rows=0)
    said: set[str] = set()
    # What was there stays until all rows are run, and may be what is read.
    with replacing(args.output) as file:
        table = Table(file)
        stages = make_stages(args.config, description, args.node or (), table.sink, has_motion)
        columns = Columns(place, header, stages)
        table.begin(stages)
        offline = OfflineRun(list(stages.values()), table.complete)
        with Progress('replay', count_lines(path)) as progress:
            for place, row in rows:
                stamp_ns, inputs = columns.read(place, row)
                for error in offline.row(stamp_ns, inputs):
                    counts['refused'] += 1
                    if str(error) not in said:
                        said.add(str(error))
                        print(f'{place}: refused: {error}', file=sys.stderr)
                counts['rows'] += 1
                progress.at(int(place.rpartition(':')[2]))
        table.end()
    counts['ticks'] = table.count
    for stage in stages.values():
        counts += stage.counts
    return counts


class Table:
    """A CSV file with one row for each stamp at which any node says something.

    Parameters
    ----------
    file : TextIO
        Open for writing.
    """

    def __init__(self, file: TextIO) -> None:
        self._writer = csv.writer(file)
        self._rows: dict[int, Values] = {}
        self.count = 0

    def begin(self, stages: dict[str, Stage]) -> None:
        """Write the header."""
        self._prefix = {name: f'{name}/' if len(stages) > 1 else '' for name in stages}
        self._columns = [
            self._prefix[name] + column for name, stage in stages.items()
            for column in stage.columns
        ]
        self._writer.writerow([STAMP, *self._columns])

    def sink(self, node: str, stamp_ns: int, values: Values) -> None:
        """Take what a node says at a stamp."""
        row = self._rows.setdefault(stamp_ns, {})
        prefix = self._prefix[node]
        row.update({prefix + column: value for column, value in values.items()})

    def complete(self, stamp_ns: int) -> None:
        """Write the rows that nothing can be added to any more: those before a stamp."""
        if not any(stamp < stamp_ns for stamp in self._rows):
            return
        for due_ns in sorted(stamp for stamp in self._rows if stamp < stamp_ns):
            self._write(due_ns, self._rows.pop(due_ns))

    def end(self) -> None:
        """Write what is left."""
        for due_ns in sorted(self._rows):
            self._write(due_ns, self._rows.pop(due_ns))

    def _write(self, stamp_ns: int, row: Values) -> None:
        cells = (row.get(column, math.nan) for column in self._columns)
        self._writer.writerow([stamp_text(stamp_ns), *map(number_text, cells)])
        self.count += 1
