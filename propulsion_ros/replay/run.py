# SPDX-License-Identifier: Apache-2.0
"""A replay from bag or table to bag or table."""
from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path

from propulsion_ros.replay.bags import BagWriter, Recorded, is_bag
from propulsion_ros.replay.cdr import Wire
from propulsion_ros.replay.progress import Progress
from propulsion_ros.replay.robot import Choice, Robot
from propulsion_ros.replay.sources import BagSource, Moment, TableSource
from propulsion_ros.replay.table_columns import columns_of
from propulsion_ros.replay.table_writer import TableWriter
from propulsion_ros.settings.errors import SourceError


def replay(
    choice: Choice, source: Path, target: Path, keeps_inputs: bool = False
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

    Raises
    ------
    ConfigError
        For everything that is wrong.
    """
    if keeps_inputs and not (is_bag(source) and is_bag(target)):
        raise SourceError('--keep-inputs', 'expected to read a bag and to write one')
    with ExitStack() as stack:
        is_bare = not (choice.vehicle or is_bag(source) or is_bag(target))
        given = (
            stack.enter_context(BagSource(source)) if is_bag(source)
            else TableSource(source, is_bare)
        )
        robot = Robot(choice, given.inputs)
        total = given.total(robot)
        sink: BagSink | TableSink = (
            BagSink(target, keeps_inputs) if is_bag(target) else TableSink(target, robot, is_bare)
        )
        stack.enter_context(sink.writer)
        with Progress('replay', total) as progress:
            count = _run(given.play(robot), sink, progress)
    return Counter({given.unit: count, 'written': sink.writer.count}) + robot.counts()


def _run(moments: Iterable[Moment], sink: BagSink | TableSink, progress: Progress) -> int:
    """Write what follows of each input, and return how many there were."""
    count = 0
    for moment in moments:
        sink.write(moment)
        progress.at(moment.place)
        count += moment.is_input
    return count


def recordings(moment: Moment, wire: Wire) -> Iterator[Recorded]:
    """Yield what loops have published as messages of a bag."""
    for topic, kind, message in moment.published:
        yield Recorded(topic, kind, moment.stamp_ns, wire.serialise(message, kind))


class BagSink:
    """Writes what loops publish into a new bag, at the times of what caused it.

    Parameters
    ----------
    path : Path
        The bag.
    keeps_inputs : bool
        Whether what caused it is written too.

    Attributes
    ----------
    writer : BagWriter
        Of the bag.
    """

    def __init__(self, path: Path, keeps_inputs: bool) -> None:
        self.writer = BagWriter(path)
        self._wire, self._keeps_inputs = Wire(), keeps_inputs

    def write(self, moment: Moment) -> None:
        """Write what followed of an input."""
        if self._keeps_inputs and moment.recorded is not None:
            self.writer.write(moment.recorded)
        for recorded in recordings(moment, self._wire):
            self.writer.write(recorded)


class TableSink:
    """Writes what loops publish into a table.

    Parameters
    ----------
    path : Path
        The table.
    robot : Robot
        The loops.
    is_bare : bool
        Whether there are only actuators, so that the columns are known before the first row.

    Attributes
    ----------
    writer : TableWriter
        Of the table.
    """

    def __init__(self, path: Path, robot: Robot, is_bare: bool) -> None:
        columns = {host.name: columns_of(host.loop) for host in robot.hosts} if is_bare else {}
        self.writer = TableWriter(path, is_prefixed=len(robot.hosts) > 1, columns=columns)

    def write(self, moment: Moment) -> None:
        """Write what followed of an input."""
        for published in moment.published:
            self.writer.write(published)
