# SPDX-License-Identifier: Apache-2.0
"""The time of each sensor, what is wrong with its clock, and a second sensor that is stuck."""
from __future__ import annotations

import math
from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from propulsion_ros.loops.decoders import stamp_of, stamp_to_ns
from propulsion_ros.loops.flight.inputs import read_pressure
from propulsion_ros.loops.ports import Host
from propulsion_ros.timing.stamps import REANCHOR_NS
from propulsion_ros.timing.time_lines import TimeLines

_FEWEST = 3
"""Changes of the values at one stamp, at least, that show a sensor alive."""


class StuckStamps:
    """Takes messages of one topic, and gives those of a hung clock the time of their arrival.

    Messages that follow one another with one stamp are duplicates. Where that lasts for
    `REANCHOR_NS` while their values change, the sensor is alive and its clock is not: its time goes
    on from that stamp as the steady clock does, until the stamps go on. A message whose values are
    those of the one before stays a duplicate.

    Attributes
    ----------
    is_stuck : bool
        Whether the stamps stand still now.
    """

    def __init__(self) -> None:
        self._stamp_ns: int | None = None
        self._begin(0)

    def _begin(self, steady_ns: int) -> None:
        self._since_ns = steady_ns
        self._values = ''
        self._changes = 0
        self.is_stuck = False

    def time_of(self, stamp_ns: int, steady_ns: int, values: Callable[[], Any]) -> int:
        """Return the stamp that a message counts by [ns].

        Parameters
        ----------
        stamp_ns : int
            That it has [ns].
        steady_ns : int
            When it came, on a steady clock [ns].
        values : callable
            Returns what it measures; only called where the stamp is that of the message before.
        """
        if stamp_ns != self._stamp_ns:
            self._stamp_ns = stamp_ns
            self._begin(steady_ns)
            return stamp_ns
        # As text, in which NaN is the same as NaN.
        known, self._values = self._values, repr(values())
        if self._values == known:
            return stamp_ns
        self._changes += 1
        stood_ns = steady_ns - self._since_ns
        self.is_stuck = stood_ns >= REANCHOR_NS and self._changes >= _FEWEST
        return stamp_ns + stood_ns if self.is_stuck else stamp_ns


OLDEST_NS, NEWEST_NS = -200_000_000, 100_000_000
"""How far behind and ahead of this computer's time a live stamp may be [ns]."""
_WINDOW_NS = 1_000_000_000


class ClockOffsets:
    """Measures by the messages that came fastest: travel makes a stamp older, never newer."""

    def __init__(self) -> None:
        self._best: dict[str, tuple[int, int]] = {}

    def note(self, source: str, stamp_ns: int, now_ns: int, steady_ns: int) -> None:
        """Take the stamp of a message that comes now."""
        offset_ns = stamp_ns - now_ns
        begun_ns, best_ns = self._best.get(source, (steady_ns, offset_ns))
        if steady_ns - begun_ns > _WINDOW_NS:
            begun_ns, best_ns = steady_ns, offset_ns
        self._best[source] = begun_ns, max(best_ns, offset_ns)

    @property
    def problem(self) -> str:
        """Which clocks are off, '' for none."""
        return '; '.join(
            f"the clock of {source} is {offset_words(offset_ns)} this computer's"
            for source, (_, offset_ns) in self._best.items()
            if not OLDEST_NS <= offset_ns <= NEWEST_NS
        )


def offset_words(offset_ns: int) -> str:
    """Return how far ahead or behind something is, in words."""
    return f'{abs(offset_ns) * 1e-9:.3f} s {"ahead of" if offset_ns > 0 else "behind"}'


_NEAR = 0.1  # within that share of a move it is the same value
_LONGEST, _RETURNS = 8, 5  # readings between two returns, and returns that show a second sensor
_TWINS = {'pressure': (read_pressure, 36.0)}
"""What a sensor measures of which there may be two, and a change of it by 3 m [Pa]."""

Offsets = tuple[tuple[str, int], ...]
"""How far sensors are ahead of the clock of a computer [ns], each with its name."""


@dataclass
class _Level:
    """A value that a sensor leapt to, the one before it, and how regularly it came back since."""

    value: float
    before: float
    age: int = 0
    gap: int = 0
    returns: int = 0


class StuckTwin:
    """Knows a second sensor of the same topic that is stuck between readings of one that moves.

    It comes back to the same value in regular turns, which what moves does not.

    Parameters
    ----------
    moves : float
        What moves changes by more from one reading to the next, in its own unit; what is stuck
        stays within a tenth of that.
    """

    def __init__(self, moves: float) -> None:
        self._moves, self._near = moves, _NEAR * moves
        self._last = math.nan
        self._levels: deque[_Level] = deque(maxlen=_LONGEST)

    def shows(self, value: float) -> bool:
        """Take a reading; return whether it is of the one that is stuck."""
        last, self._last = self._last, value
        has_leapt = abs(value - last) > self._moves
        for each in self._levels:
            each.age += 1
        while self._levels and self._levels[0].age > _LONGEST:
            self._levels.popleft()
        level = next((each for each in self._levels if abs(value - each.value) <= self._near), None)
        if level is None:
            if has_leapt:
                self._levels.append(_Level(value, last))
            return False
        self._levels.remove(level)
        if not has_leapt:
            # What follows itself is no second sensor.
            return False
        # Of two that both stay none is the stuck one.
        is_turn = abs(level.age - level.gap) <= 1 and abs(last - level.before) > self._near
        if level.returns < _RETURNS:
            level.returns = level.returns + 1 if is_turn else 0
        level.value, level.before, level.gap, level.age = value, last, level.age, 0
        self._levels.append(level)
        return level.returns >= _RETURNS


class SensorClocks:
    """Judges the stamps of sensors by when their messages come; in a simulation all are right.

    Parameters
    ----------
    is_robot : bool
        Whether the stamps are those of clocks, and not of a simulation or a recording.
    """

    def __init__(self, host: Host, is_robot: bool) -> None:
        self._host, self._is_robot = host, is_robot
        self.reset()

    def reset(self) -> None:
        """Forget every sensor."""
        self._lines: defaultdict[str, TimeLines] = defaultdict(TimeLines)
        self._stamps: defaultdict[str, StuckStamps] = defaultdict(StuckStamps)
        self._offsets = ClockOffsets()
        self._twins = {source: StuckTwin(moves) for source, (_, moves) in _TWINS.items()}

    def settle(self, *, is_resumed: bool) -> None:
        """Give the publishers that are followed now precedence, or those of a resumed flight."""
        for line in self._lines.values():
            line.settle(is_resumed=is_resumed)

    @property
    def offsets(self) -> Offsets:
        """How far the sensors that are followed are ahead of the computer's clock [ns], by name."""
        clock_ns = self._host.now_ns() - self._host.steady_ns()
        found = [(name, line.offset_ns(clock_ns)) for name, line in self._lines.items()]
        return tuple((name, offset_ns) for name, offset_ns in found if offset_ns is not None)

    def expect(self, offsets: Offsets, *, waits: bool) -> None:
        """Give those publishers precedence that were followed before a restart; see `TimeLines`."""
        for name, offset_ns in offsets:
            self._lines[name].expect(offset_ns, waits=waits)

    @property
    def rivals(self) -> str:
        """Which sensors have stamps of two times, and what of them is seen; '' for none."""
        steady_ns = self._host.steady_ns()
        found = {name: line.finding(steady_ns) for name, line in self._lines.items()}
        return ' and '.join(f'{name}: {finding}' for name, finding in found.items() if finding)

    @property
    def problem(self) -> str:
        """What is wrong with the clocks, '' for nothing."""
        stuck = ' and '.join(name for name, stamps in self._stamps.items() if stamps.is_stuck)
        return '; '.join(filter(None, (
            f'the stamps of {stuck} stand still' if stuck else '',
            self._offsets.problem,
        )))

    def time_of(self, source: str, message: Any, read: Callable[[Any], Any]) -> int | None:
        """Return the stamp that a message counts by [ns]; None where it is not taken.

        ``read(message)`` returns what the sensor measures.
        """
        stamp_ns = stamp_of(self._host, source, message)
        if stamp_ns is None:
            return None
        if not self._is_robot:
            return None if self._is_stuck_twin(source, message) else stamp_ns
        steady_ns = self._host.steady_ns()
        time_ns = self._unstuck(source, stamp_ns, steady_ns, lambda: read(message))
        # Of another time none is a twin, but a recording beside what rests.
        is_followed = self._is_followed(source, time_ns, steady_ns)
        if not is_followed or self._is_stuck_twin(source, message):
            return None
        self._offsets.note(source, stamp_ns, self._host.now_ns(), steady_ns)
        return time_ns

    def _is_stuck_twin(self, source: str, message: Any) -> bool:
        """Return whether a message is of a second sensor that is stuck."""
        if source not in self._twins:
            return False
        value = _TWINS[source][0](message)
        is_twin = self._twins[source].shows(value)
        if is_twin:
            self._host.complain('stuck_twin', (
                f'{source} not taken: of a second sensor, which stays at {value:g} while the '
                'other one moves'
            ))
        return is_twin

    def note(self, source: str, message: Any) -> None:
        """Measure the clock of what is no sensor."""
        if self._is_robot:
            stamp_ns = stamp_to_ns(message.header.stamp)
            self._offsets.note(source, stamp_ns, self._host.now_ns(), self._host.steady_ns())

    def _unstuck(
        self, source: str, stamp_ns: int, steady_ns: int, values: Callable[[], Any]
    ) -> int:
        """Return the stamp of a message, or when it came where the stamps stand still."""
        stamps = self._stamps[source]
        was_stuck = stamps.is_stuck
        time_ns = stamps.time_of(stamp_ns, steady_ns, values)
        if stamps.is_stuck and not was_stuck:
            self._host.complain('stuck_stamps', (
                f'the stamps of {source} stand still at {stamp_ns * 1e-9:.3f} s while its values '
                'change: it is taken as of its arrival'
            ))
        return time_ns

    def _is_followed(self, source: str, stamp_ns: int, steady_ns: int) -> bool:
        """Return whether a message is of the publisher that is followed."""
        line = self._lines[source]
        changes = line.changes
        is_taken = line.takes(stamp_ns, steady_ns, self._host.now_ns())
        if not is_taken:
            self._host.complain('other_publisher', (
                f'{source} not taken: of another publisher or clock, {line.offset:+.3f} s from the '
                'one that is followed'
            ))
        elif line.changes > changes:
            self._host.log('warn', (
                f'{source} goes on with another publisher or clock, {line.offset:+.3f} s from the '
                'one before'
            ))
        return is_taken
