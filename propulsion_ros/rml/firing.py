# SPDX-License-Identifier: Apache-2.0
"""Finds events that can never fire, or never in the climb, as nothing meets their conditions.

Only certain cases count: each variable may have any value within its bounds, independently of the
others.
"""
from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any as Anything
from typing import NamedTuple

from propulsion_ros.flight.events.conditions import (
    All,
    Any,
    Between,
    Condition,
    Continuity,
    LessThan,
    MoreThan,
    Not,
)
from propulsion_ros.flight.events.events import EventSpec
from propulsion_ros.flight.events.variables import VARIABLES
from propulsion_ros.flight.phases.phases import ON_THE_WAY_DOWN

LONGEST_MS = 24 * 3_600_000.0
"""Longest flight [ms]."""
_PAD = 1.0  # height up to which a vehicle may be on the pad [m]
_FARTHEST = 2e6  # largest value, of norms too; see `flight.events.variables.sane`
_MOST_STEPS = 2000  # steps of a search after which an event is not judged
_MOST_ROUNDS = 50  # rounds over all events after which none is judged
_MEANT_MS = 1000.0  # wait above which an event in the climb has a timer, and is intended [ms]
_VERTICAL = {('Position', 2), ('Velocity', 2)}
_MEASURED: dict[str, set[tuple[str, int]]] = {
    'pressure': _VERTICAL,
    'odometry': {
        (name, component) for name, variable in VARIABLES.items() for component in variable.labels
        if name != 'Acceleration'
    },
}
"""Variables and components in samples of an altitude source; 'sensors' has all of them."""


class _Range(NamedTuple):
    """Values from ``low`` to ``high``, without ``high`` if ``is_open``."""

    low: float
    high: float
    is_open: bool = False

    def cut(self, other: _Range) -> _Range:
        """Return the intersection with another range."""
        high, is_closed = min((self.high, not self.is_open), (other.high, not other.is_open))
        return _Range(max(self.low, other.low), high, not is_closed)

    @property
    def is_empty(self) -> bool:
        return self.low > self.high or (self.low == self.high and self.is_open)


class _Leaf(NamedTuple):
    """One comparison: the variable, its component, and the values that meet it."""

    variable: str
    component: int
    values: _Range


def never_fires(
    events: Sequence[EventSpec], source: str, deepest: float = _FARTHEST, *,
    is_climb: bool = False, is_pad: bool = False,
) -> Iterator[tuple[EventSpec, str]]:
    """Yield each event that deploys or lights an engine and can never fire, and why.

    Parameters
    ----------
    events : sequence of EventSpec
        All events of a configuration.
    source : str
        The ``altitude_source``.
    deepest : float
        Largest depth below the pad that the vehicle may reach [m].
    is_climb : bool
        True to consider only the climb above the pad, without events that wait for a long timer.
    is_pad : bool
        True to consider only the pad, before liftoff.
    """
    fire: set[int] = set()
    waiting: dict[int, str] = {}
    for _ in range(_MOST_ROUNDS):
        before = len(fire)
        waiting = {}
        for event in events:
            if event.id not in fire:
                search = _Search(event, source, deepest, fire, is_climb, is_pad)
                reason = search.why_never()
                if reason:
                    waiting[event.id] = reason
                else:
                    fire.add(event.id)
        if len(fire) == before:
            break
    else:
        return
    yield from (
        (event, waiting[event.id]) for event in events
        if (event.deploys or event.ignites) and event.id in waiting
    )


class _Search:
    """Searches for values with which an event fires."""

    def __init__(
        self, event: EventSpec, source: str, deepest: float, fire: set[int], is_climb: bool,
        is_pad: bool,
    ) -> None:
        self._event = event
        self._source = source
        self._deepest = deepest
        self._fire = fire
        self._is_climb = is_climb
        self._is_pad = is_pad
        self._span_ms = _MEANT_MS if is_climb else LONGEST_MS
        self._reasons: dict[str, None] = {}

    def why_never(self) -> str:
        """Return why no values exist, '' if some do, or if that is not certain."""
        event = self._event
        if event.dwell_ns * 1e-6 >= LONGEST_MS:
            return f'no flight lasts for {event.dwell_ns * 1e-9:g} s, its for_ms'
        words = set(event.phases)
        moments = [
            is_over
            for is_over, at in ((False, words - ON_THE_WAY_DOWN), (True, words & ON_THE_WAY_DOWN))
            if (at or not words) and not (is_over and self._is_climb)
        ]
        if not moments:
            return 'it is evaluated only after apogee'
        if any(self._may_hold(is_over) for is_over in moments):
            return ''
        return '; '.join(self._reasons)

    def _may_hold(self, is_over: bool) -> bool:
        """Return whether the condition may hold before apogee, or once it is over."""
        # More variables are known in recovery, so only the reasons of the last moment count.
        self._reasons.clear()
        start: Anything = ((self._event.condition, False), None)
        stack: list[tuple[Anything, dict[tuple[str, int], _Range]]] = [(start, {})]
        for _ in range(_MOST_STEPS):
            if not stack:
                return False
            todo, box = stack.pop()
            if todo is None:
                if self._is_long_enough(box):
                    return True
                continue
            (condition, is_negated), rest = todo
            for also in _parts(condition, is_negated):
                if isinstance(also, _Leaf):
                    narrowed = self._narrowed(condition, is_negated, also, box, is_over)
                    if narrowed is not None:
                        stack.append((rest, narrowed))
                else:
                    following = rest
                    for part in also:
                        following = part, following
                    stack.append((following, box))
        return True

    def _narrowed(
        self, condition: Condition, is_negated: bool, leaf: _Leaf,
        box: dict[tuple[str, int], _Range], is_over: bool,
    ) -> dict[tuple[str, int], _Range] | None:
        """Return a box in which one more comparison is met, None if that is impossible."""
        where, sentence = leaf[:2], f'not ({condition})' if is_negated else str(condition)
        problem = self._unknown(*where, is_over)
        if problem:
            self._reasons[problem] = None
            return None
        limits = self._limits(*where)
        values = box.get(where, limits).cut(leaf.values)
        if not values.is_empty:
            return {**box, where: values}
        is_alone = limits.cut(leaf.values).is_empty
        self._reasons[
            f'never {sentence}' if is_alone else f'never {sentence} together with its other limits'
        ] = None
        return None

    def _unknown(self, variable: str, component: int, is_over: bool) -> str:
        """Return why a variable is never known, '' if it may be."""
        if variable not in VARIABLES:
            return ''
        name = VARIABLES[variable].label(component).name
        if variable == 'TimeSinceEvent':
            return '' if component in self._fire else (
                f'{name} is unknown, since that event does not fire before'
            )
        if variable == 'TimeSinceApogee':
            return '' if is_over else f'{name} is unknown before recovery'
        if variable == 'TimeSinceLiftoff' and self._is_pad:
            return f'{name} is unknown on the pad'
        measured = _MEASURED.get(self._source)
        is_time = variable.startswith('TimeSince')
        if is_time or measured is None or (variable, component) in measured:
            return ''
        return f'{name} is unknown with altitude_source {self._source}'

    def _limits(self, variable: str, component: int) -> _Range:
        """Return the range of values that a variable can have."""
        if variable.startswith('TimeSince'):
            return _Range(0.0, self._span_ms)
        if variable == 'Tilt':
            return _Range(0.0, math.pi)
        if variable.endswith('Orientation'):
            return _Range(-math.pi, math.pi)
        if self._is_climb and (variable, component) == ('Velocity', 2):
            return _Range(-_FARTHEST, 0.0, True)
        if self._is_pad and (variable, component) == ('Position', 2):
            return _Range(-_PAD, _PAD)
        deepest = self._deepest if (variable, component) == ('Position', 2) else _FARTHEST
        return _Range(0.0 if component == -1 else -_FARTHEST, deepest)

    def _is_long_enough(self, box: dict[tuple[str, int], _Range]) -> bool:
        """Return whether all spans of times are as long as the condition must hold."""
        dwell_ms = self._event.dwell_ns * 1e-6
        for (variable, component), values in box.items():
            is_time = variable.startswith('TimeSince') and variable != 'TimeSinceEvent'
            if is_time and values.high - values.low < dwell_ms:
                name = VARIABLES[variable].label(component).name
                self._reasons[
                    f'{name} is in its limits for less than for_ms, {dwell_ms:g} ms'
                ] = None
                return False
        return True


def _parts(
    condition: Condition, is_negated: bool
) -> Iterator[_Leaf | list[tuple[Condition, bool]]]:
    """Yield the alternatives of a condition: a comparison, or conditions that must all hold."""
    inf = math.inf
    if isinstance(condition, Not):
        yield [(condition.operand, not is_negated)]
    elif isinstance(condition, (All, Any)):
        parts = [(operand, is_negated) for operand in condition.operands]
        if isinstance(condition, All) is not is_negated:
            yield parts
        else:
            yield from ([part] for part in parts)
    elif isinstance(condition, Continuity):
        value = float(condition.is_closed is not is_negated)
        yield _Leaf('circuit', condition.channel, _Range(value, value))
    elif isinstance(condition, Between):
        values = [_Range(condition.lower, condition.upper)]
        if is_negated:
            values = [_Range(-inf, condition.lower, True), _Range(condition.upper, inf)]
        yield from (_Leaf(condition.variable, condition.component, item) for item in values)
    elif isinstance(condition, (MoreThan, LessThan)):
        is_above = isinstance(condition, MoreThan) is not is_negated
        limit = condition.threshold
        yield _Leaf(
            condition.variable, condition.component,
            _Range(limit, inf) if is_above else _Range(-inf, limit, True),
        )
