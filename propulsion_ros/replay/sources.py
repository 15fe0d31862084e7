# SPDX-License-Identifier: Apache-2.0
"""Sources of a replay: a bag, or the rows of a table as messages, played into a robot.

A loop may take inputs in blocks, with the same results to the last bit as one by one.
"""
from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice, takewhile
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

from propulsion_ros.loops.actuator_loop import CURRENT, JOINTS, ODOMETRY, Run
from propulsion_ros.loops.actuator_ports import ActuatorPorts
from propulsion_ros.loops.command_reader import CommandRows
from propulsion_ros.loops.decoders import stamp_to_ns
from propulsion_ros.loops.payloads import JointRow, Kind, MassRow, OdometryRow
from propulsion_ros.loops.ports import Outlet
from propulsion_ros.models.common.family import WRENCH_NAMES
from propulsion_ros.models.steering.steered import measured_joints
from propulsion_ros.replay.bags import BagReader, Recorded
from propulsion_ros.replay.command_table import STAMP, Columns, Row, read_rows
from propulsion_ros.replay.host import CLOCK_TOPIC, LoopHost
from propulsion_ros.replay.plain import TickRows, clock_message, plain_message
from propulsion_ros.replay.robot import Inputs, Published, Robot
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.files import TABLE_LIMIT, opened, printable
from propulsion_ros.settings.quantity import IntArray

KINDS = {
    'command': Kind.JOINTS,
    'wrench_command': Kind.WRENCH,
    'inertia': Kind.INERTIA,
    'odometry': Kind.ODOMETRY,
}
"""Type of each topic of a node that a table can give."""
_Key = tuple[str, str]
_STILL, _LEVEL = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0)
LONGEST = 1024
"""Most inputs of a block, whose arrays must fit the cache of a processor."""
_SHORTEST = 16  # fewest inputs of a block
_HEAVIEST = 4 * 1024**2  # size of inputs that are read ahead [bytes]
InputT = TypeVar('InputT')
ResultT = TypeVar('ResultT')


class RowMessages:
    """Makes messages for one loop out of rows.

    Attributes
    ----------
    names : collection of str
        Names that can be commanded, and measured joints.
    """

    def __init__(self, host: LoopHost) -> None:
        loop: Any = host.loop
        self._commanded = frozenset(loop.family.command_names)
        self._measured = measured_joints(loop.family)
        self.names = self._commanded | self._measured
        # An empty frame counts as that of the loop.
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
        """Return the values of known names, NaN for a field that one lacks; None for no values."""
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
        return outlet.topic, plain_message(outlet, stamp_ns, payload)


_CLOCK_STEP_NS = 1_000_000_000  # longest step of the clock between rows [ns]
_PART = 1024 * 1024  # size that is read at once [bytes]
_LATE_NS = 50_000_000  # delay of the first message of a topic above which it is reported [ns]
_NONE: Mapping[str, BlockLoop] = MappingProxyType({})


class BagSource(BagReader):
    """The messages of a bag, for a robot."""

    unit = 'messages'

    @property
    def inputs(self) -> Inputs:
        """Inputs of a robot."""
        return Inputs(set(self.topics))

    def inputs_of(self, robot: Robot) -> list[str]:
        """Return the topics to be played into a robot, without those that it publishes itself.

        The clock is one of them if a node steps on it.
        """
        own = {topic for host in robot.hosts for topic in host.published_topics}
        return sorted(robot.wanted & set(self.topics) - own)

    def begin(self, robot: Robot) -> None:
        """Give a robot the requests that determined its steps, wherever they were recorded."""
        for recorded in self.messages(robot.step_requests):
            robot.bus.feed([(recorded.topic, self._read(robot, recorded))], 0)

    def gaps(self, robot: Robot) -> Iterator[str]:
        """Yield a line for each input that a robot lacks at the beginning of the bag."""
        topics = [each for each in self.inputs_of(robot) if each not in robot.step_requests]
        begun = self._first_stamps(robot, {*topics, CLOCK_TOPIC} & set(self.topics))
        absent = [topic for topic in topics if topic not in begun]
        absent += [topic for topic in robot.requests if topic not in self.topics]
        if absent:
            yield f'nothing is in it of {", ".join(absent)}'
        if robot.unjoined:
            yield robot.unjoined
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
        # Requests begin when somebody calls.
        late = {topic: ns - first_ns for topic, ns in stamps.items()
                if ns - first_ns > _LATE_NS and topic not in robot.requests}
        if late:
            later = ', '.join(f'{topic} for {ns * 1e-9:.3f} s' for topic, ns in late.items())
            yield f'has at first nothing of {later}; anything sent then is missing'

    def _first_stamps(self, robot: Robot, topics: Collection[str]) -> dict[str, int | None]:
        """Return the stamp of the first message of each topic that has one [ns].

        It is None if the type has no stamp.
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
        """Return the number of messages for a robot.

        Raises `SourceError` if there is none.
        """
        count = self.count_of(robot.wanted)
        if not count:
            expected = ', '.join(sorted(robot.wanted))
            raise SourceError(printable(self._path), '; '.join(filter(None, (
                f'has none of the topics that are wanted: {expected}', robot.unjoined
            ))))
        return count

    def play(self, robot: Robot, loops: Mapping[str, BlockLoop] = _NONE) -> Iterator[Played]:
        """Yield the results of each message in a robot; raise `SourceError` for an invalid one.

        ``loops`` has the loops that take blocks, by the topics of their commands.
        """
        known = frozenset(robot.step_requests)
        stamp_ns, place = 0, 0

        def one(recorded: Recorded) -> Iterator[Moment]:
            nonlocal stamp_ns, place
            stamp_ns, place = recorded.stamp_ns, place + 1
            published: list[Published] = []
            if recorded.topic not in known:
                message = self._read(robot, recorded)
                published = robot.feed([(recorded.topic, message)], stamp_ns)
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
        """Return the commands of the first messages, as many as are alike; None if only one is."""
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
    """The rows of a table of commands, with a clock that runs between them.

    Parameters
    ----------
    is_bare : bool
        True if actuators run alone, without the other nodes of a robot.
    """

    unit = 'rows'

    def __init__(self, path: Path, is_bare: bool) -> None:
        self._path, self._is_bare = path, is_bare
        self._rows = read_rows(path)
        self._place, self._header = next(self._rows, (f'{printable(path)}:1', []))
        if not self._header:
            raise SourceError(self._place, f'expected a header {STAMP},..., got no lines')

    @property
    def inputs(self) -> Inputs:
        """Inputs of a robot."""
        has_motion = any(name.strip().startswith('body.') for name in self._header)
        return Inputs(
            is_table=True, is_bare=self._is_bare,
            absent=() if has_motion or not self._is_bare else (ODOMETRY, CURRENT),
        )

    def total(self, robot: Robot) -> int:
        """Return the number of lines; 0 if it is not known."""
        with opened(self._path, TABLE_LIMIT) as file:
            return sum(part.count(b'\n') for part in iter(lambda: file.read(_PART), b''))

    def play(self, robot: Robot, loops: Mapping[str, BlockLoop] = _NONE) -> Iterator[Played]:
        """Yield the results of each row in a robot, and of the time that passes before it.

        A robot with a single node may have a loop that takes blocks.
        """
        makers = [RowMessages(host) for host, _ in robot.stepped]
        columns = Columns(
            self._place, self._header, {name for maker in makers for name in maker.names}
        )
        _check_wanted(self._place, self._header, robot, self._is_bare)
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
            published = robot.feed(messages.items(), stamp_ns, together=True)
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
    """Return the stamp of a message [ns], None if its type has none."""
    if hasattr(message, 'clock'):
        return stamp_to_ns(message.clock)
    return stamp_to_ns(message.header.stamp) if hasattr(message, 'header') else None


def _line_of(place: str) -> int:
    return int(place.rpartition(':')[2])


def _between(robot: Robot, last_ns: int, stamp_ns: int, line: int) -> Iterator[Moment]:
    """Yield the results of a robot between two rows."""
    # The clock ticks through a silence, so that no loop takes it for a jump of time.
    for tick_ns in (
        *range(last_ns + _CLOCK_STEP_NS, stamp_ns - 1, _CLOCK_STEP_NS), stamp_ns - 1
    ):
        if published := _tick(robot, tick_ns):
            yield Moment(tick_ns, published, line, 0)


def _tick(robot: Robot, stamp_ns: int) -> list[Published]:
    return robot.feed([(CLOCK_TOPIC, clock_message(stamp_ns))], stamp_ns)


def _check_wanted(
    place: str, header: Sequence[str], robot: Robot, may_be_result: bool
) -> None:
    """Raise `SourceError` for a column that no loop takes, or warn where it may be a result."""
    wanted = {topic.rpartition('/')[2] for topic in robot.bus.kinds}
    for prefix, topic, why in (
        ('body.', 'odometry', ''), ('com.', 'inertia', ''),
        ('wrench.', 'wrench_command', ', and no allocator is replayed'),
    ):
        unused = [name for name in header if name.strip().startswith(prefix)]
        if unused and topic not in wanted:
            error = SourceError(place, f'no node takes column {unused[0].strip()!r}{why}')
            if not may_be_result:
                raise error
            robot.warn(str(error))


class Moment(NamedTuple):
    """Results of one input."""

    stamp_ns: int
    """Time of the input [ns]."""
    published: Iterable[Published]
    """Messages that were published in response."""
    place: int
    """Number of messages or lines of the file that have been read."""
    inputs: int = 1
    """Number of inputs; 0 if only time passed."""
    recorded: Recorded | None = None
    """The input, if it is a message of a bag."""


class Block(NamedTuple):
    """Results of many inputs."""

    stamps: IntArray
    """Times of the inputs that caused the ticks, (t,) [ns]."""
    rows: list[TickRows]
    """Messages of each tick, in the order of their topics."""
    place: int
    inputs: int
    """As of a `Moment`."""

    @property
    def published(self) -> Iterator[Published]:
        """Messages of all ticks, one by one."""
        for i in range(len(self.stamps)):
            for each in self.rows:
                yield Published(each.topic, each.outlet.kind, each.message(i))


Played: TypeAlias = Moment | Block


def played(
    inputs: Iterable[InputT],
    one: Callable[[InputT], Iterable[ResultT]],
    many: Callable[[list[InputT]], tuple[int, Iterable[ResultT]]],
    size_of: Callable[[InputT], int],
) -> Iterator[ResultT]:
    """Yield the results of inputs: of many at once if possible, else of each.

    Parameters
    ----------
    many : callable
        Takes inputs, of which the first one was taken already; returns how many others it took,
        and the results.
    size_of : callable
        Returns the size of an input [bytes]; fewer large inputs are read ahead.
    """
    ahead: list[InputT] = []
    rest, size = iter(inputs), LONGEST
    failure: SourceError | None = None
    while True:
        try:
            if len(ahead) < size:
                left = _HEAVIEST - sum(map(size_of, ahead))
                for each in islice(rest, size - len(ahead)):
                    ahead.append(each)
                    left -= size_of(each)
                    if left < 0:
                        break
        except SourceError as error:
            # Inputs before the failure are still played, and may cause warnings.
            failure = error
        if not ahead:
            break
        yield from one(ahead[0])
        count, results = many(ahead[:size]) if len(ahead) >= _SHORTEST else (0, ())
        yield from results
        if count:
            size = min(2 * size, LONGEST)
        elif size > _SHORTEST:
            size = max(size // 2, _SHORTEST)
        else:
            # Another attempt would most likely fail too, and cost more than it saves.
            for each in ahead[1:size]:
                yield from one(each)
            count = size - 1
        del ahead[:count + 1]
    if failure:
        raise failure


class BlockLoop:
    """A loop of a robot that takes runs of commands, with nothing else in between."""

    def __init__(
        self, robot: Robot, host: LoopHost, loop: ActuatorPorts, is_timed: bool
    ) -> None:
        self._robot, self._host, self._loop, self._is_timed = robot, host, loop, is_timed

    def take(self, rows: CommandRows) -> Run | None:
        """Take a run of commands; see `ActuatorPorts.take_run`."""
        return self._loop.take_run(rows, self._is_timed)

    def results(self, run: Run, stamps: IntArray, place: int) -> Iterator[Played]:
        """Yield the messages of a run in one block, or by tick if ticks are not alike.

        Parameters
        ----------
        stamps : IntArray
            Times of the inputs that caused the ticks, (t,) [ns].
        place : int
            As of a `Moment`.
        """
        payloads = self._loop.payloads(run)
        if payloads is not None:
            resolve = self._host.resolve_topic_name
            rows = [
                TickRows(resolve(outlet.topic), outlet, run.stamps, payload)
                for outlet, payload in payloads
            ]
            yield Block(stamps, rows, place, run.count)
            return
        for i, stamp_ns in enumerate(stamps.tolist()):
            self._robot.bus.pass_time(stamp_ns, self._is_timed)
            self._loop.publish_tick(run, i)
            count = run.count if i == 0 else 0
            yield Moment(stamp_ns, self._robot.feed((), 0, together=True), place, count)


def block_loops(robot: Robot, is_timed: bool) -> dict[str, BlockLoop]:
    """Return the loops of a robot that can take blocks, by the topics of their commands."""
    loops, bus = {}, robot.bus
    for host in robot.hosts:
        loop = host.loop
        port = loop.run_port if isinstance(loop, ActuatorPorts) else None
        # What it publishes reaches no loop.
        is_last = all(each in bus.given or not bus.takers(each) for each in host.published_topics)
        if isinstance(loop, ActuatorPorts) and port and is_last:
            topic = host.resolve_topic_name(port.topic)
            loops[topic] = BlockLoop(robot, host, loop, is_timed)
    return {topic: loop for topic, loop in loops.items() if bus.takers(topic) == 1}
