# SPDX-License-Identifier: Apache-2.0
"""Run nodes over a bag or a table of commands, exactly and without ROS."""
from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from propulsion_ros.graph.vehicles import VEHICLES
from propulsion_ros.replay.bags import BagWriter, Recorded, is_bag
from propulsion_ros.replay.plain import Wire
from propulsion_ros.replay.robot import Choice, Robot, print_warning
from propulsion_ros.replay.sources import BagSource, Block, Played, TableSource, block_loops
from propulsion_ros.replay.table_writer import TableWriter, columns_of
from propulsion_ros.replay.ulog_reader import UNMAPPED, UlogMap, add_map, map_of
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.files import printable, require_target
from propulsion_ros.tools.lines import fail, note, progress

_Write = Callable[[Played], None]
_FEWEST, _DENSE = 10, 500  # from so many rows on, steps for each row that another unit makes
EXAMPLE = 'robot.yaml in.csv out.csv --model robot.urdf'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument(
        'config', type=Path, metavar='CONFIG', help='parameter file of the nodes (YAML)'
    )
    parser.add_argument(
        'input', type=Path, metavar='INPUT',
        help='a bag, a log of PX4 (.ulg), or commands as CSV: stamp, <name>.<field>, '
        'wrench.force.x ... wrench.torque.z, com.x, body.velocity.x, body.angular_velocity.x; an '
        'empty cell is no new command',
    )
    add_map(parser)
    parser.add_argument(
        'output', type=Path, metavar='OUTPUT', nargs='?',
        help='what the nodes publish: a new bag, or CSV'
    )
    parser.add_argument(
        '--inputs', action='store_true',
        help='print the topics to play into running nodes, for `ros2 bag play --topics`; no OUTPUT',
    )
    parser.add_argument(
        '--vehicle', choices=VEHICLES, default='', help='run all nodes of this vehicle'
    )
    parser.add_argument(
        '--model', type=Path, help='URDF or xacro with the plugin blocks of the nodes'
    )
    parser.add_argument(
        '--node', action='append', metavar='NAME',
        help='run only this node of the file (repeat for several)',
    )
    parser.add_argument(
        '--params-file', type=Path, action='append', default=[], metavar='YAML',
        help='parameter file whose values win over those of CONFIG; may be repeated',
    )
    parser.add_argument('--namespace', default='', help='namespace of the nodes in a bag')
    parser.add_argument(
        '--keep-inputs', action='store_true', help='also write the input messages into the new bag'
    )


def run(args: argparse.Namespace) -> int:
    """Replay a file; return the exit code."""
    choice = Choice(
        args.config, args.vehicle, args.model, args.node or (), args.namespace, args.params_file
    )
    if args.inputs == bool(args.output):
        return fail('replay', 'expected either OUTPUT or --inputs')
    try:
        if args.inputs:
            print(*inputs_of(choice, args.input, map_of(args)))
            return 0
        counts = replay(choice, args.input, args.output, args.keep_inputs, map_of(args))
    except OSError as error:
        reason = error.strerror or error
        return fail('replay', f'{printable(args.output)}: cannot be written: {reason}')
    result = ', '.join(f'{count} {what}' for what, count in counts.items() if count)
    if not result:
        return fail('replay', f'{printable(args.input)}: expected rows, got a header alone')
    is_sparse = _FEWEST < counts.get('rows', 0) < counts.get('written', 0) / _DENSE
    doubt = '; are stamps in seconds?' * is_sparse
    note('replay', f'{printable(args.output)}: {result}{doubt}')
    return 0


def replay(
    choice: Choice, source: Path, target: Path, keeps_inputs: bool = False,
    motors: UlogMap = UNMAPPED,
) -> Counter[str]:
    """Replay a file into another one, and return counts of its inputs, the outputs and faults.

    Raises `ConfigError` for everything that is wrong.

    Parameters
    ----------
    keeps_inputs : bool
        True to write the inputs into the new bag too.
    """
    if keeps_inputs and not (is_bag(source) and is_bag(target)):
        raise SourceError('--keep-inputs', 'expected to read a bag and to write one')
    if not is_bag(target):
        # A result may replace its input.
        require_target(target, choice.config, choice.model, *choice.more)
    with ExitStack() as stack:
        is_bare = not (choice.vehicle or is_bag(source) or is_bag(target))
        given = (
            stack.enter_context(BagSource(source, motors)) if is_bag(source)
            else TableSource(source, is_bare)
        )
        robot = Robot(choice, given.inputs, note=print_warning)
        if isinstance(given, BagSource):
            given.begin(robot)
        total = given.total(robot)
        if isinstance(given, BagSource):
            for gap in given.gaps(robot):
                print_warning(f'{printable(source)}: {gap}')
        writer, write = (
            _into_bag(target, given, keeps_inputs) if is_bag(target)
            else _into_table(target, robot, is_bare)
        )
        stack.enter_context(writer)
        at = stack.enter_context(progress('replay', total))
        count = 0
        # Blocks of outputs cannot be mixed with inputs in a bag, or with another node's outputs in
        # the rows of a table.
        are_apart = isinstance(given, BagSource) and is_bag(target) and not keeps_inputs
        is_alone = len(robot.hosts) == 1 and not is_bag(target)
        loops = block_loops(robot, is_timed=is_bare) if are_apart or is_alone else {}
        for played in given.play(robot, loops):
            write(played)
            at(played.place)
            count += played.inputs
        robot.conclude()
    return Counter({given.unit: count, 'written': writer.count}) + robot.counts()


def inputs_of(choice: Choice, source: Path, motors: UlogMap = UNMAPPED) -> list[str]:
    """Return the topics of a bag that are to be played into the running nodes of a robot.

    Raises `ConfigError` for everything that is wrong.
    """
    if not is_bag(source):
        raise SourceError('--inputs', f'expected a bag, got {printable(source)}')
    with BagSource(source, motors) as bag:
        robot = Robot(choice, bag.inputs)
        bag.begin(robot)
        return bag.inputs_of(robot)


def _into_bag(
    path: Path, source: BagSource | TableSource, keeps_inputs: bool
) -> tuple[BagWriter, _Write]:
    """Write what loops publish into a new bag, at the times of the inputs that caused it."""
    offered = source.offered if isinstance(source, BagSource) else {}
    writer, wire = BagWriter(path, offered=offered), Wire()

    def write(moment: Played) -> None:
        if isinstance(moment, Block):
            topics = [(each.topic, each.outlet.kind, each.encode(wire)) for each in moment.rows]
            for i, stamp_ns in enumerate(moment.stamps.tolist()):
                for topic, kind, rows in topics:
                    writer.write(Recorded(topic, kind, stamp_ns, rows[i].tobytes()))
            return
        if keeps_inputs and moment.recorded is not None:
            writer.write(moment.recorded)
        for topic, kind, message in moment.published:
            writer.write(Recorded(topic, kind, moment.stamp_ns, wire.serialise(message, kind)))

    return writer, write


def _into_table(path: Path, robot: Robot, is_bare: bool) -> tuple[TableWriter, _Write]:
    """Write messages of loops into a table, whose columns are known if it has only actuators."""
    if path.suffix == '.gz':
        raise SourceError(printable(path), 'a table is written unpacked, expected another name')
    columns = {host.name: columns_of(host.loop) for host in robot.hosts} if is_bare else {}
    writer = TableWriter(path, is_prefixed=len(robot.hosts) > 1, columns=columns)

    def write(moment: Played) -> None:
        if isinstance(moment, Block):
            writer.write_rows(moment.rows)
            return
        for published in moment.published:
            writer.write(published)

    return writer, write
