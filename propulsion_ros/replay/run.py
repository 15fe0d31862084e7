# SPDX-License-Identifier: Apache-2.0
"""A replay from bag or table to bag or table."""
from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from pathlib import Path

from propulsion_ros.replay.bags import BagWriter, Recorded, is_bag
from propulsion_ros.replay.blocks import Block, Played, block_loops
from propulsion_ros.replay.cdr import Wire
from propulsion_ros.replay.progress import progress
from propulsion_ros.replay.robot import Choice, Robot, print_warning
from propulsion_ros.replay.sources import BagSource, TableSource
from propulsion_ros.replay.table_writer import TableWriter, columns_of
from propulsion_ros.replay.ulog_reader import UNMAPPED, UlogMap
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.files import printable

_Write = Callable[[Played], None]


def replay(
    choice: Choice, source: Path, target: Path, keeps_inputs: bool = False,
    motors: UlogMap = UNMAPPED,
) -> Counter[str]:
    """Replay a file into another one, and return what became of what was in it.

    Parameters
    ----------
    choice : Choice
        Which nodes.
    source, target : Path
        A bag or a table each.
    keeps_inputs : bool
        Whether the inputs are written into the new bag too.
    motors : UlogMap
        What the motors of a log of PX4 are.

    Raises
    ------
    ConfigError
        For everything that is wrong.
    """
    if keeps_inputs and not (is_bag(source) and is_bag(target)):
        raise SourceError('--keep-inputs', 'expected to read a bag and to write one')
    _require_other(target, (choice.config, choice.model))
    with ExitStack() as stack:
        is_bare = not (choice.vehicle or is_bag(source) or is_bag(target))
        given = (
            stack.enter_context(BagSource(source, motors)) if is_bag(source)
            else TableSource(source, is_bare)
        )
        robot = Robot(choice, given.inputs)
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
        # Between the outputs of a block there is no place for the inputs, or for another node in
        # a row of a table.
        are_apart = isinstance(given, BagSource) and is_bag(target) and not keeps_inputs
        is_alone = len(robot.hosts) == 1 and not is_bag(target)
        loops = block_loops(robot, is_timed=is_bare) if are_apart or is_alone else {}
        for played in given.play(robot, loops):
            write(played)
            at(played.place)
            count += played.inputs
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


def _require_other(target: Path, read: Iterable[Path | None]) -> None:
    """Raise where a table would be written over settings; a result may replace its input."""
    if is_bag(target) or not target.is_file():
        return
    for path in read:
        if path and path.is_file() and target.samefile(path):
            raise SourceError(printable(target), 'is read too, expected another name for OUTPUT')


def _into_bag(
    path: Path, source: BagSource | TableSource, keeps_inputs: bool
) -> tuple[BagWriter, _Write]:
    """Write what loops publish into a new bag, at the times of what caused it."""
    offered = source.offered if isinstance(source, BagSource) else {}
    writer, wire = BagWriter(path, offered=offered), Wire()

    def write(moment: Played) -> None:
        if isinstance(moment, Block):
            writer.write_rows(moment.stamps, [
                (each.topic, each.outlet.kind, each.encode(wire)) for each in moment.rows
            ])
            return
        if keeps_inputs and moment.recorded is not None:
            writer.write(moment.recorded)
        for topic, kind, message in moment.published:
            writer.write(Recorded(topic, kind, moment.stamp_ns, wire.serialise(message, kind)))

    return writer, write


def _into_table(path: Path, robot: Robot, is_bare: bool) -> tuple[TableWriter, _Write]:
    """Write what loops publish into a table; of actuators alone the columns are known before."""
    columns = {host.name: columns_of(host.loop) for host in robot.hosts} if is_bare else {}
    writer = TableWriter(path, is_prefixed=len(robot.hosts) > 1, columns=columns)

    def write(moment: Played) -> None:
        if isinstance(moment, Block):
            writer.write_rows(moment.rows)
            return
        for published in moment.published:
            writer.write(published)

    return writer, write
