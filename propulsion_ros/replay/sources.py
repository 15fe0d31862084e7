# SPDX-License-Identifier: Apache-2.0
"""What a replay reads: a bag, or the rows of a table; both give their messages to a robot."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from propulsion_ros.loops.actuator_loop import CURRENT, ODOMETRY
from propulsion_ros.replay.bags import BagReader, Recorded
from propulsion_ros.replay.command_table import Columns, read_header
from propulsion_ros.replay.host import CLOCK_TOPIC
from propulsion_ros.replay.plain import clock_message
from propulsion_ros.replay.robot import Inputs, Published, Robot
from propulsion_ros.replay.row_messages import RowMessages
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.files import TABLE_LIMIT, opened, printable

_CLOCK_STEP_NS = 1_000_000_000
_PART = 1024 * 1024


class Moment(NamedTuple):
    """What a robot made of one input."""

    stamp_ns: int
    """When the input came."""
    published: list[Published]
    """What followed of it."""
    place: int
    """How much of the file was read: messages, or lines."""
    is_input: bool = True
    """Whether something came; else time passed."""
    recorded: Recorded | None = None
    """The message that came, of a bag."""


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

    def total(self, robot: Robot) -> int:
        """Return how many messages are for a robot.

        Raises `SourceError` where there is none.
        """
        count = self.count_of(robot.bus.wanted)
        if not count:
            expected = ', '.join(sorted(robot.bus.wanted))
            raise SourceError(
                printable(self._path), f'has none of the topics that are wanted: {expected}'
            )
        return count

    def play(self, robot: Robot) -> Iterator[Moment]:
        """Yield what a robot makes of each message; raise `SourceError` for what is none."""
        for i, recorded in enumerate(self.messages(robot.bus.wanted)):
            topic, stamp_ns = recorded.topic, recorded.stamp_ns
            robot.bus.check(topic, recorded.type)
            message = self._wire.read(recorded.data, recorded.type)
            yield Moment(stamp_ns, robot.feed(topic, message, stamp_ns), i + 1, True, recorded)


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

    def play(self, robot: Robot) -> Iterator[Moment]:
        """Yield what a robot makes of each row, and of the time that passes before it."""
        makers = [RowMessages(host) for host in robot.commanded]
        columns = Columns(
            self._place, self._header, {name for maker in makers for name in maker.names}
        )
        if not self._is_bare:
            _check_wanted(self._place, self._header, robot)
        last_ns: int | None = None
        for place, cells in self._rows:
            line = int(place.rpartition(':')[2])
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


def _between(robot: Robot, last_ns: int, stamp_ns: int, line: int) -> Iterator[Moment]:
    """Yield what a robot does between two rows."""
    # A clock that ticks on through a silence makes no jump of it.
    for tick_ns in (
        *range(last_ns + _CLOCK_STEP_NS, stamp_ns - 1, _CLOCK_STEP_NS), stamp_ns - 1
    ):
        if published := _tick(robot, tick_ns):
            yield Moment(tick_ns, published, line, False)


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
