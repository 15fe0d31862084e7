"""Conditions of flight events: small trees that evaluate to true, false or unknown.

A condition is called with `Variables` and returns True, False, or None where a value that it
needs is unknown. The three values combine as in Kleene's logic; an event fires on True alone.
``str(condition)`` is the condition as a sentence, with altitudes up and times in seconds.
"""
from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from propulsion_ros.flight.variables import VARIABLES, Variables

MAX_DEPTH = 6
"""Deepest nesting of AND and OR, as in the flown software."""

_MIRRORED = {'>=': '<=', '<': '>'}


class Condition(Protocol):
    """A node of a condition tree."""

    def __call__(self, variables: Variables) -> bool | None:
        """Return whether the condition holds, None where that is unknown."""
        ...


@dataclass(frozen=True)
class _Threshold:
    """A flight variable against a threshold, in the configuration's units (NED, ms)."""

    variable: str
    component: int
    threshold: float

    def _value(self, variables: Variables) -> float | None:
        value = VARIABLES[self.variable].read(variables, self.component)
        return value if math.isfinite(value) else None

    def _sentence(self, relation: str) -> str:
        name, unit, scale = VARIABLES[self.variable].label(self.component)
        # Down becomes up, so the relation turns round; adding 0 turns -0 into 0.
        relation = relation if scale > 0.0 else _MIRRORED[relation]
        return f'{name} {relation} {self.threshold * scale + 0.0:.10g} {unit}'


@dataclass(frozen=True)
class MoreThan(_Threshold):
    """MORETHAN: the variable is at or above the threshold, as the flown software has it."""

    def __call__(self, variables: Variables) -> bool | None:
        """Return whether the condition holds, None where the variable is unknown."""
        value = self._value(variables)
        return None if value is None else value >= self.threshold

    def __str__(self) -> str:
        return self._sentence('>=')


@dataclass(frozen=True)
class LessThan(_Threshold):
    """LESSTHAN: the variable is below the threshold."""

    def __call__(self, variables: Variables) -> bool | None:
        """Return whether the condition holds, None where the variable is unknown."""
        value = self._value(variables)
        return None if value is None else value < self.threshold

    def __str__(self) -> str:
        return self._sentence('<')


@dataclass(frozen=True)
class All:
    """AND: false where any operand is false, else unknown where any is unknown, else true."""

    operands: tuple[Condition, ...]

    def __call__(self, variables: Variables) -> bool | None:
        """Return whether all operands hold, None where that is unknown."""
        return _fold((operand(variables) for operand in self.operands), decisive=False)

    def __str__(self) -> str:
        return _joined(' and ', self.operands)


@dataclass(frozen=True)
class Any:
    """OR: true where any operand is true, else unknown where any is unknown, else false."""

    operands: tuple[Condition, ...]

    def __call__(self, variables: Variables) -> bool | None:
        """Return whether any operand holds, None where that is unknown."""
        return _fold((operand(variables) for operand in self.operands), decisive=True)

    def __str__(self) -> str:
        return _joined(' or ', self.operands)


def _fold(values: Iterator[bool | None], *, decisive: bool) -> bool | None:
    result: bool | None = not decisive
    for value in values:
        if value is decisive:
            return decisive
        if value is None:
            result = None
    return result


def _joined(word: str, operands: tuple[Condition, ...]) -> str:
    return word.join(
        f'({operand})' if isinstance(operand, (All, Any)) else str(operand)
        for operand in operands
    )
