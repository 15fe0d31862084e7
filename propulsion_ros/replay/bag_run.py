"""A replay from bag or table to bag or table."""
from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from rosgraph_msgs.msg import Clock

from propulsion_ros.messages.fields import ns_to_stamp
from propulsion_ros.replay.bag_replay import BagReplay
from propulsion_ros.replay.bag_rows import RowWriter
from propulsion_ros.replay.bags import BagReader, BagWriter, Recorded, is_bag
from propulsion_ros.replay.cdr import Wire
from propulsion_ros.replay.command_table import Columns, read_header
from propulsion_ros.replay.hosted import CLOCK_TOPIC
from propulsion_ros.replay.progress import Progress, count_lines
from propulsion_ros.replay.row_messages import KINDS, RowMessages
from propulsion_ros.settings.errors import SourceError

_CLOCK_STEP_NS = 1_000_000_000


def replay(args: argparse.Namespace) -> Counter[str]:
    """Replay as the command line says, and return what became of the messages.

    Raises
    ------
    ConfigError
        For everything that is wrong.
    """
    if args.keep_inputs and not (is_bag(args.input) and is_bag(args.output)):
        raise SourceError('--keep-inputs', 'expected to read a bag and to write one')
    wire = Wire()
    with ExitStack() as stack:
        topics, reader = {CLOCK_TOPIC}, None
        if is_bag(args.input):
            reader = stack.enter_context(BagReader(args.input))
            topics = set(reader.topics)
        robot = BagReplay(
            args.config, topics, wire, args.vehicle, args.model, args.node or (), args.namespace,
            # The rows of a table tell the time, as they do without ROS.
            'stamp' if reader else 'clock',
        )
        if reader and not reader.count_of(robot.inputs):
            expected = ', '.join(sorted(robot.inputs))
            raise SourceError(str(args.input), f'has none of the topics that are heard: {expected}')
        if reader:
            messages, total = reader.messages(robot.inputs), reader.count_of(robot.inputs)
        else:
            messages, total = _of_table(args.input, robot, wire), count_lines(args.input)
        writer: BagWriter | RowWriter = (
            BagWriter(args.output) if is_bag(args.output)
            else RowWriter(args.output, wire, is_prefixed=len(robot.nodes) > 1)
        )
        stack.enter_context(writer)
        with Progress('replay', total) as progress:
            for message in messages:
                if args.keep_inputs:
                    writer.write(message)
                for said in robot.feed(message):
                    writer.write(said)
                progress.step()
    return Counter({'messages': progress.done, 'written': writer.count}) + robot.counts()


def _of_table(path: Path, robot: BagReplay, wire: Wire) -> Iterator[Recorded]:
    """Yield the rows of a table as messages, and the time as a clock tells it."""
    place, header, rows = read_header(path)
    makers = {
        node.get_name(): RowMessages(
            {name: node.resolve_topic_name(f'~/{name}') for name in KINDS},
            node.loop.command_names, node.loop.frame, wire,
        )
        for node in robot.commanded if node.loop is not None
    }
    columns = Columns(place, header, makers)
    _check_heard(place, header, robot)
    last_ns: int | None = None
    for place, row in rows:
        stamp_ns, inputs = columns.read(place, row)
        if last_ns is not None:
            # A clock that ticks on through a silence makes no jump of it.
            for tick_ns in range(last_ns + _CLOCK_STEP_NS, stamp_ns - 1, _CLOCK_STEP_NS):
                yield _clock(tick_ns, wire)
            yield _clock(stamp_ns - 1, wire)
        said: set[str] = set()
        for maker in makers.values():
            for message in maker.of(stamp_ns, inputs):
                # Several nodes may hear one topic.
                if message.topic not in said:
                    said.add(message.topic)
                    yield message
        yield _clock(stamp_ns, wire)
        last_ns = stamp_ns


def _check_heard(place: str, header: Sequence[str], robot: BagReplay) -> None:
    """Raise `SourceError` for a column that is of no use to any node."""
    heard = {topic.rpartition('/')[2] for topic in robot.inputs}
    for prefix, topic in (
        ('body.', 'odometry'), ('com.', 'inertia'), ('wrench.', 'wrench_command'),
    ):
        unused = [name for name in header if name.strip().startswith(prefix)]
        if unused and topic not in heard:
            raise SourceError(place, f'no node hears what column {unused[0].strip()!r} says')


def _clock(stamp_ns: int, wire: Wire) -> Recorded:
    kind = 'rosgraph_msgs/msg/Clock'
    data = wire.write(Clock(clock=ns_to_stamp(stamp_ns)), kind)
    return Recorded(CLOCK_TOPIC, kind, stamp_ns, data)
