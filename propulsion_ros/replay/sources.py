# SPDX-License-Identifier: Apache-2.0
"""What a replay reads: a bag, or the rows of a table as messages; both give them to a robot."""
from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from propulsion_ros.loops.actuator_loop import CURRENT, JOINTS, ODOMETRY
from propulsion_ros.loops.command_reader import CommandRows
from propulsion_ros.loops.decoders import stamp_to_ns
from propulsion_ros.loops.payloads import JointRow, Kind, MassRow, OdometryRow
from propulsion_ros.loops.ports import Outlet
from propulsion_ros.models.common.family import WRENCH_NAMES
from propulsion_ros.models.steering.steered import measured_joints
from propulsion_ros.replay.bags import BagReader, Recorded
from propulsion_ros.replay.blocks import BlockLoop, Moment, Played, played
from propulsion_ros.replay.command_table import Columns, Row, read_header
from propulsion_ros.replay.host import CLOCK_TOPIC, LoopHost
from propulsion_ros.replay.plain import clock_message, maker_of
from propulsion_ros.replay.robot import Inputs, Published, Robot
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.files import TABLE_LIMIT, opened, printable

KINDS = {
    'command': Kind.JOINTS,
    'wrench_command': Kind.WRENCH,
    'inertia': Kind.INERTIA,
    'odometry': Kind.ODOMETRY,
}
"""Type of each topic of a node that a table can give."""
_Key = tuple[str, str]
_STILL, _LEVEL = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0)


class RowMessages:
    """Makes messages for one loop out of rows.

    Parameters
    ----------
    host : LoopHost
        Of the loop, which has commands.

    Attributes
    ----------
    names : collection of str
        What can be commanded, and joints that are measured.
    """

    def __init__(self, host: LoopHost) -> None:
        loop: Any = host.loop
        self._commanded = frozenset(loop.family.command_names)
        self._measured = measured_joints(loop.family)
        self.names = self._commanded | self._measured
        # A frame without a name is taken for that of the loop.
        self._outlets = {
            name: Outlet(host.resolve_topic_name(f'~/{name}'), kind, 'command')
            for name, kind in KINDS.items()
        }
        self._outlets[JOINTS] = Outlet(host.resolve_topic_name(JOINTS), Kind.JOINTS, 'sensor')
        self._velocity: Sequence[float] = _STILL
        self._angular_velocity: Sequence[float] = _STILL

    def of(self, stamp_ns: int, row: Row) -> Iterator[tuple[str, Any]]:
        """Yield the topics and messages of a row."""
        if row.com is not None:
            yield self._message('inertia', stamp_ns, MassRow(1.0, row.com, np.zeros((3, 3))))
        if row.velocity is not None or row.angular_velocity is not None:
            yield self._message('odometry', stamp_ns, self._motion(row))
        if row.wrench:
            # A part without a number is not commanded.
            parts = [row.wrench.get(name) for name in WRENCH_NAMES]
            yield self._message('wrench_command', stamp_ns, parts)
        for topic, names in ((JOINTS, self._measured), ('command', self._commanded)):
            joints = self._joints(row.commands, names)
            if joints is not None:
                yield self._message(topic, stamp_ns, joints)

    @staticmethod
    def _joints(commands: dict[_Key, float], known: Collection[str]) -> JointRow | None:
        """Return the values of some names, NaN where one has another field; None for none."""
        keys = [key for key in commands if key[0] in known]
        names = list(dict.fromkeys(name for name, _ in keys))
        return JointRow(names=names, **{
            field: [commands.get((name, field), np.nan) for name in names]
            for field in {field for _, field in keys}
        }) if keys else None

    def _motion(self, row: Row) -> OdometryRow:
        if row.velocity is not None:
            self._velocity = row.velocity.tolist()
        if row.angular_velocity is not None:
            self._angular_velocity = row.angular_velocity.tolist()
        return OdometryRow('', _STILL, _LEVEL, self._velocity, self._angular_velocity)

    def _message(self, name: str, stamp_ns: int, payload: Any) -> tuple[str, Any]:
        outlet = self._outlets[name]
        return outlet.topic, maker_of(outlet)(outlet, stamp_ns, payload)


_CLOCK_STEP_NS = 1_000_000_000
_PART = 1024 * 1024
_LATE_NS = 50_000_000
"""What begins so much later than the rest of a bag is reported [ns]."""
_NONE: Mapping[str, BlockLoop] = MappingProxyType({})


class BagSource(BagReader):
    """The messages of a bag, for a robot.

    Attributes
    ----------
    unit : str
        What is counted.
    """

    unit = 'messages'

    @property
    def inputs(self) -> Inputs:
        """What a robot is given."""
        return Inputs(set(self.topics))

    def inputs_of(self, robot: Robot) -> list[str]:
        """Return the topics that are to be played into a robot: without those that it publishes.

        The clock is one of them where it made a node step.
        """
        own = {topic for host in robot.hosts for topic in host.published_topics}
        return sorted(robot.wanted & set(self.topics) - own)

    def begin(self, robot: Robot) -> None:
        """Give a robot what determined the steps of its nodes, wherever a recorder wrote it."""
        for recorded in self.messages(robot.step_requests):
            robot.bus.feed(recorded.topic, self._read(robot, recorded), 0)

    def gaps(self, robot: Robot) -> Iterator[str]:
        """Yield what a robot lacks at the beginning of the bag, in one line each."""
        topics = [each for each in self.inputs_of(robot) if each not in robot.step_requests]
        begun = self._first_stamps(robot, {*topics, CLOCK_TOPIC} & set(self.topics))
        absent = [topic for topic in topics if topic not in begun]
        absent += [topic for topic in robot.requests if topic not in self.topics]
        if absent:
            yield f'nothing is in it of {", ".join(absent)}'
        is_simulated = CLOCK_TOPIC in begun
        stamps = {
            topic: stamp_ns for topic, stamp_ns in begun.items()
            if stamp_ns is not None and (stamp_ns or is_simulated)
        }
        first_ns = min(stamps.values(), default=0)
        if is_simulated and first_ns > _LATE_NS:
            yield (
                f'it begins at {first_ns * 1e-9:.3f} s of simulated time, in mid-stream: what the '
                'nodes received before is missing'
            )
        stamps.pop(CLOCK_TOPIC, None)
        late = {topic: ns - first_ns for topic, ns in stamps.items() if ns - first_ns > _LATE_NS}
        if late:
            later = ', '.join(f'{topic} by {ns * 1e-9:.3f} s' for topic, ns in late.items())
            yield f'begins later than the first message: {later}'

    def _first_stamps(self, robot: Robot, topics: Collection[str]) -> dict[str, int | None]:
        """Return the stamp of the first message of each topic that has one [ns].

        It is None where the type has no stamp.
        """
        missing: set[str] = set(topics)
        stamps: dict[str, int | None] = {}
        for recorded in self.messages(topics):
            if recorded.topic in missing:
                missing.discard(recorded.topic)
                stamps[recorded.topic] = _stamp_of(self._read(robot, recorded))
                if not missing:
                    break
        return stamps

    def total(self, robot: Robot) -> int:
        """Return how many messages are for a robot.

        Raises `SourceError` where there is none.
        """
        count = self.count_of(robot.wanted)
        if not count:
            expected = ', '.join(sorted(robot.wanted))
            raise SourceError(
                printable(self._path), f'has none of the topics that are wanted: {expected}'
            )
        return count

    def play(self, robot: Robot, loops: Mapping[str, BlockLoop] = _NONE) -> Iterator[Played]:
        """Yield what a robot makes of each message; raise `SourceError` for what is none.

        Loops that take blocks are given by the topics of their commands.
        """
        known = frozenset(robot.step_requests)
        stamp_ns, place = 0, 0

        def one(recorded: Recorded) -> Iterator[Moment]:
            nonlocal stamp_ns, place
            stamp_ns, place = recorded.stamp_ns, place + 1
            published: list[Published] = []
            if recorded.topic not in known:
                message = self._read(robot, recorded)
                published = robot.feed(recorded.topic, message, stamp_ns)
            yield Moment(stamp_ns, published, place, 1, recorded)

        def many(messages: list[Recorded]) -> tuple[int, Iterable[Played]]:
            nonlocal stamp_ns, place
            loop = loops.get(messages[0].topic)
            rows = self._commands_of(messages) if loop else None
            run = loop.take(rows) if loop and rows else None
            if not (loop and rows and run):
                return 0, ()
            stamps = np.array([each.stamp_ns for each in messages[1:run.count + 1]])
            stamp_ns, place = int(stamps[-1]), place + run.count
            robot.bus.pass_time(stamp_ns, False)
            causes = stamps[np.searchsorted(rows.stamps[1:run.count + 1], run.stamps)]
            return run.count, loop.results(run, causes, place)

        yield from played(self.for_nodes(robot.wanted), one, many, lambda each: len(each.data))
        yield Moment(stamp_ns, robot.flush(), place, 0)

    def _commands_of(self, messages: Sequence[Recorded]) -> CommandRows | None:
        """Return the commands of the first messages, as many as are alike; None for no two."""
        topic, kind = messages[0].topic, messages[0].type
        alike = [
            each.data
            for each in takewhile(lambda m: m.topic == topic and m.type == kind, messages)
        ]
        is_readable = len(alike) > 1 and kind == Kind.JOINTS
        return self._wire.read_commands(alike) if is_readable else None

    def _read(self, robot: Robot, recorded: Recorded) -> Any:
        robot.bus.check(recorded.topic, recorded.type)
        return self._wire.read(recorded.data, recorded.type)


class TableSource:
    """The rows of a table of commands, between which a clock goes on.

    Parameters
    ----------
    path : Path
        The table.
    is_bare : bool
        Whether actuators run alone, without what a robot has beside them.
    """

    unit = 'rows'

    def __init__(self, path: Path, is_bare: bool) -> None:
        self._path, self._is_bare = path, is_bare
        self._place, self._header, self._rows = read_header(path)

    @property
    def inputs(self) -> Inputs:
        """What a robot is given."""
        has_motion = any(name.strip().startswith('body.') for name in self._header)
        return Inputs(
            is_table=True, is_bare=self._is_bare,
            absent=() if has_motion or not self._is_bare else (ODOMETRY, CURRENT),
        )

    def total(self, robot: Robot) -> int:
        """Return how many lines there are; 0 where that is not known."""
        with opened(self._path, TABLE_LIMIT) as file:
            return sum(part.count(b'\n') for part in iter(lambda: file.read(_PART), b''))

    def play(self, robot: Robot, loops: Mapping[str, BlockLoop] = _NONE) -> Iterator[Played]:
        """Yield what a robot makes of each row, and of the time that passes before it.

        A robot that has one node may have a loop that takes blocks.
        """
        makers = [RowMessages(host) for host in robot.commanded]
        columns = Columns(
            self._place, self._header, {name for maker in makers for name in maker.names}
        )
        if not self._is_bare:
            _check_wanted(self._place, self._header, robot)
        loop = next(iter(loops.values()), None)
        last_ns: int | None = None

        def one(given: tuple[str, list[str]]) -> Iterator[Moment]:
            nonlocal last_ns
            place, cells = given
            line = _line_of(place)
            stamp_ns, row = columns.read(place, cells)
            if last_ns is not None:
                yield from _between(robot, last_ns, stamp_ns, line)
            robot.place = place
            # Several loops may take one topic.
            messages = {
                topic: message for maker in reversed(makers)
                for topic, message in maker.of(stamp_ns, row)
            }
            published = robot.feed_together(messages.items(), stamp_ns)
            yield Moment(stamp_ns, published + _tick(robot, stamp_ns), line)
            last_ns = stamp_ns

        def many(given: list[tuple[str, list[str]]]) -> tuple[int, Iterable[Played]]:
            nonlocal last_ns
            rows = columns.read_commands([cells for _, cells in given]) if loop else None
            run = loop.take(rows) if loop and rows else None
            if not (loop and rows and run):
                return 0, ()
            last_ns = columns.last_ns = int(rows.stamps[run.count])
            robot.bus.pass_time(last_ns, True)
            return run.count, loop.results(run, run.stamps, _line_of(given[run.count][0]))

        yield from played(self._rows, one, many, lambda given: sum(map(len, given[1])))


def _stamp_of(message: Any) -> int | None:
    """Return the stamp of a message [ns], None where its type has none."""
    if hasattr(message, 'clock'):
        return stamp_to_ns(message.clock)
    return stamp_to_ns(message.header.stamp) if hasattr(message, 'header') else None


def _line_of(place: str) -> int:
    return int(place.rpartition(':')[2])


def _between(robot: Robot, last_ns: int, stamp_ns: int, line: int) -> Iterator[Moment]:
    """Yield what a robot does between two rows."""
    # A clock that ticks on through a silence makes no jump of it.
    for tick_ns in (
        *range(last_ns + _CLOCK_STEP_NS, stamp_ns - 1, _CLOCK_STEP_NS), stamp_ns - 1
    ):
        if published := _tick(robot, tick_ns):
            yield Moment(tick_ns, published, line, 0)


def _tick(robot: Robot, stamp_ns: int) -> list[Published]:
    return robot.feed(CLOCK_TOPIC, clock_message(stamp_ns), stamp_ns)


def _check_wanted(place: str, header: Sequence[str], robot: Robot) -> None:
    """Raise `SourceError` for a column that no loop takes."""
    wanted = {topic.rpartition('/')[2] for topic in robot.bus.wanted}
    for prefix, topic in (
        ('body.', 'odometry'), ('com.', 'inertia'), ('wrench.', 'wrench_command'),
    ):
        unused = [name for name in header if name.strip().startswith(prefix)]
        if unused and topic not in wanted:
            raise SourceError(place, f'no node takes column {unused[0].strip()!r}')
