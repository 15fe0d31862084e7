# SPDX-License-Identifier: Apache-2.0
"""Conditions of flight events: small trees that evaluate to true, false or unknown.

A condition is called with `Variables` and returns True, False, or None where a value that it
needs is unknown. The three values combine as in Kleene's logic; an event fires on True alone.
``str(condition)`` is the condition as a sentence, with altitudes up and times in seconds.
"""
from __future__ import annotations

import math
import operator
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Protocol

from propulsion_ros.flight.events.variables import VARIABLES, Variables

MAX_DEPTH = 6
"""Deepest nesting of AND, OR and NOT, as in the flown software."""

_RELATIONS = {'>=': operator.ge, '<': operator.lt}
_MIRRORED = {'>=': '<=', '<': '>'}


class Condition(Protocol):
    """A node of a condition tree."""

    def __call__(self, variables: Variables) -> bool | None:
        """Return whether the condition holds, None where that is unknown."""
        ...

    def measured(self, variables: Variables) -> Iterator[tuple[str, str]]:
        """Yield the name and the value, with its unit, of every leaf."""
        ...


@dataclass(frozen=True)
class _Leaf:
    """A flight variable, in the configuration's units (NED, ms)."""

    variable: str
    component: int

    def _value(self, variables: Variables) -> float | None:
        value = VARIABLES[self.variable].read(variables, self.component)
        return value if math.isfinite(value) else None

    def measured(self, variables: Variables) -> Iterator[tuple[str, str]]:
        """Yield the variable's name and value."""
        name, unit, scale = VARIABLES[self.variable].label(self.component)
        value = self._value(variables)
        yield name, 'unknown' if value is None else f'{value * scale + 0.0:.6g} {unit}'


@dataclass(frozen=True)
class _Threshold(_Leaf):
    """A flight variable against a threshold."""

    threshold: float
    _relation: ClassVar[str]

    def __call__(self, variables: Variables) -> bool | None:
        """Return whether the condition holds, None where the variable is unknown."""
        value = self._value(variables)
        return None if value is None else _RELATIONS[self._relation](value, self.threshold)

    def __str__(self) -> str:
        name, unit, scale = VARIABLES[self.variable].label(self.component)
        # Down becomes up, so the relation turns round; adding 0 turns -0 into 0.
        relation = self._relation if scale > 0.0 else _MIRRORED[self._relation]
        return f'{name} {relation} {self.threshold * scale + 0.0:.10g} {unit}'


@dataclass(frozen=True)
class MoreThan(_Threshold):
    """MORETHAN: the variable is at or above the threshold, as the flown software has it."""

    _relation = '>='


@dataclass(frozen=True)
class LessThan(_Threshold):
    """LESSTHAN: the variable is below the threshold."""

    _relation = '<'


@dataclass(frozen=True)
class Between(_Leaf):
    """BETWEEN: the variable lies between two bounds, both included."""

    lower: float
    upper: float

    def __call__(self, variables: Variables) -> bool | None:
        """Return whether the condition holds, None where the variable is unknown."""
        value = self._value(variables)
        return None if value is None else self.lower <= value <= self.upper

    def __str__(self) -> str:
        name, unit, scale = VARIABLES[self.variable].label(self.component)
        low, high = sorted((self.lower * scale + 0.0, self.upper * scale + 0.0))
        return f'{name} from {low:.10g} to {high:.10g} {unit}'


@dataclass(frozen=True)
class Continuity:
    """A local pyro's circuit is closed, or open."""

    channel: int
    is_closed: bool = True

    def __call__(self, variables: Variables) -> bool | None:
        """Return whether the condition holds, None where the circuit was not measured."""
        closed = variables.continuity(self.channel)
        return None if closed is None else closed is self.is_closed

    def measured(self, variables: Variables) -> Iterator[tuple[str, str]]:
        """Yield the channel and its circuit."""
        closed = variables.continuity(self.channel)
        word = {None: 'unknown', True: 'closed', False: 'open'}[closed]
        yield f'circuit of pyro {self.channel}', word

    def __str__(self) -> str:
        return f'circuit of pyro {self.channel} is {"closed" if self.is_closed else "open"}'


@dataclass(frozen=True)
class NoValue:
    """A leaf that the flown software accepts though there is nothing behind it: never true."""

    sentence: str

    def __call__(self, variables: Variables) -> bool | None:
        """Return None, for unknown."""
        return None

    def measured(self, variables: Variables) -> Iterator[tuple[str, str]]:
        """Yield that there is no value."""
        yield self.sentence, 'unknown'

    def __str__(self) -> str:
        return self.sentence


@dataclass(frozen=True)
class Not:
    """NOT: true where its operand is false; what is unknown stays so."""

    operand: Condition

    def __call__(self, variables: Variables) -> bool | None:
        """Return whether the operand does not hold, None where that is unknown."""
        value = self.operand(variables)
        return None if value is None else not value

    def measured(self, variables: Variables) -> Iterator[tuple[str, str]]:
        """Yield the operand's leaves."""
        return self.operand.measured(variables)

    def __str__(self) -> str:
        return f'not ({self.operand})'


@dataclass(frozen=True)
class _Combination:
    """Operands, a value that decides as soon as one has it, and the word between them."""

    operands: tuple[Condition, ...]
    _decisive: ClassVar[bool]
    _word: ClassVar[str]

    def __call__(self, variables: Variables) -> bool | None:
        """Return whether the condition holds, None where that is unknown."""
        result: bool | None = not self._decisive
        for operand in self.operands:
            value = operand(variables)
            if value is self._decisive:
                return value
            if value is None:
                result = None
        return result

    def measured(self, variables: Variables) -> Iterator[tuple[str, str]]:
        """Yield the leaves of all operands."""
        for operand in self.operands:
            yield from operand.measured(variables)

    def __str__(self) -> str:
        return self._word.join(
            f'({operand})' if isinstance(operand, _Combination) else str(operand)
            for operand in self.operands
        )


@dataclass(frozen=True)
class All(_Combination):
    """AND: false where any operand is false, else unknown where any is unknown, else true."""

    _decisive, _word = False, ' and '


@dataclass(frozen=True)
class Any(_Combination):
    """OR: true where any operand is true, else unknown where any is unknown, else false."""

    _decisive, _word = True, ' or '


def comparisons(condition: Condition) -> Iterator[_Leaf]:
    """Yield each comparison in a condition."""
    parts = (*getattr(condition, 'operands', ()), getattr(condition, 'operand', None))
    for part in parts:
        if part is not None:
            yield from comparisons(part)
    if isinstance(condition, _Leaf):
        yield condition


def leaves(condition: Condition) -> Iterator[tuple[str, int]]:
    """Yield the flight variable and component of each comparison in a condition."""
    for leaf in comparisons(condition):
        yield leaf.variable, leaf.component
