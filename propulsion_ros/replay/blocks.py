# SPDX-License-Identifier: Apache-2.0
"""Inputs of a loop in blocks: what follows of them is the same to the last bit as one by one."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import NamedTuple, TypeAlias, TypeVar

from propulsion_ros.loops.actuator_loop import Run
from propulsion_ros.loops.actuator_ports import ActuatorPorts
from propulsion_ros.loops.command_reader import CommandRows
from propulsion_ros.replay.bags import Recorded
from propulsion_ros.replay.host import LoopHost
from propulsion_ros.replay.plain import TickRows
from propulsion_ros.replay.robot import Published, Robot
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.quantity import IntArray

LONGEST = 1024
"""Inputs of a block at most; the arrays of one are small enough for the cache of a processor."""
_SHORTEST, _HEAVIEST = 16, 4 * 1024**2
InputT = TypeVar('InputT')
ResultT = TypeVar('ResultT')


class Moment(NamedTuple):
    """What a robot made of one input."""

    stamp_ns: int
    """When the input came."""
    published: list[Published]
    """What followed of it."""
    place: int
    """How much of the file was read: messages, or lines."""
    inputs: int = 1
    """How many inputs came; at 0 only time passed."""
    recorded: Recorded | None = None
    """The message that came, of a bag."""


class Block(NamedTuple):
    """What a robot made of many inputs."""

    stamps: IntArray
    """When the input came that caused each tick, (t,)."""
    rows: list[TickRows]
    """What each tick published, in this order."""
    place: int
    inputs: int
    """As of a `Moment`."""


Played: TypeAlias = Moment | Block


def played(
    inputs: Iterable[InputT],
    one: Callable[[InputT], Iterable[ResultT]],
    many: Callable[[list[InputT]], tuple[int, Iterable[ResultT]]],
    size_of: Callable[[InputT], int],
) -> Iterator[ResultT]:
    """Yield what follows of inputs: of many at once where that can be, else of each.

    Parameters
    ----------
    one : callable
        Takes one input.
    many : callable
        Takes some, of which the first one was taken already; returns how many others it took, and
        what followed.
    size_of : callable
        Returns the bytes of an input, of which few are read ahead where they are large.
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
            # What came before is still played, and may warn of something.
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
            # It would be in vain, or too dear, to try again at once.
            for each in ahead[1:size]:
                yield from one(each)
            count = size - 1
        del ahead[:count + 1]
    if failure:
        raise failure


class BlockLoop:
    """A loop of a robot that takes runs of commands, with nothing else in between.

    Parameters
    ----------
    robot : Robot
        Whose loop it is.
    host, loop : LoopHost, ActuatorPorts
        The loop and its host.
    is_timed : bool
        Whether a clock passes the stamp of each input.
    """

    def __init__(
        self, robot: Robot, host: LoopHost, loop: ActuatorPorts, is_timed: bool
    ) -> None:
        self._robot, self._host, self._loop, self._is_timed = robot, host, loop, is_timed

    def take(self, rows: CommandRows) -> Run | None:
        """Take a run of commands; see `ActuatorPorts.take_run`."""
        return self._loop.take_run(rows, self._is_timed)

    def results(self, run: Run, stamps: IntArray, place: int) -> Iterator[Played]:
        """Yield what a run published, in one block, or each tick where they are not alike.

        Parameters
        ----------
        stamps : IntArray
            When the inputs came that caused the ticks, (t,).
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
            yield Moment(stamp_ns, self._robot.feed_together((), 0), place, count)


def block_loops(robot: Robot, is_timed: bool) -> dict[str, BlockLoop]:
    """Return the loops of a robot that can take blocks, by the topics of their commands."""
    loops, bus = {}, robot.bus
    for host in robot.hosts:
        loop = host.loop
        port = loop.run_port if isinstance(loop, ActuatorPorts) else None
        if isinstance(loop, ActuatorPorts) and port and bus.ends_with(host.published_topics):
            topic = host.resolve_topic_name(port.topic)
            loops[topic] = BlockLoop(robot, host, loop, is_timed)
    return {topic: loop for topic, loop in loops.items() if bus.takers(topic) == 1}
