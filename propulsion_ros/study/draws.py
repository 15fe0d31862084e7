# SPDX-License-Identifier: Apache-2.0
"""Variables of a study: their distributions, and a random generator for each case and name."""
from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.flat import suggestion

GRID = 'grid'
MODES = ('value', 'factor', 'offset')
"""Effect of a drawn number on a parameter: its value, a factor on it, or an offset to it."""

Rng = np.random.Generator


def generator(seed: int, case: int, name: str = '') -> Rng:
    """Return the generator of one case and name, which does not depend on other variables.

    Its seed sequence is child number ``case`` of ``SeedSequence(seed)``, or a child of it by name.
    """
    key = (case, zlib.crc32(name.encode())) if name else (case,)
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))


def seed_of(seed: int, case: int) -> int:
    """Return the seed of a case as an integer."""
    return int(np.random.SeedSequence(seed, spawn_key=(case,)).generate_state(1)[0])


@dataclass(frozen=True)
class Variable:
    """A variable of a study."""

    name: str
    """Name of the parameter, ``<node>.<parameter>``, or another name that the kind of study has."""
    kind: str
    """Name of the distribution."""
    given: Any
    """Numbers of the distribution as the file has them."""
    mode: str = MODES[0]
    """One of `MODES`."""

    @property
    def levels(self) -> Sequence[Any]:
        """Values of a grid, () for a distribution."""
        return self.given if self.kind == GRID else ()

    def draw(self, seed: int, case: int) -> Any:
        """Draw the value of a case from the distribution, which must be no grid."""
        if self.kind == 'counter':
            return self.given + case
        rng = generator(seed, case, self.name)
        if self.kind == 'choice':
            return self.given[int(rng.integers(len(self.given)))]
        if self.kind in _PAIRS:
            value = _PAIRS[self.kind][1](rng, *self.given)
        else:
            from scipy import stats

            value = getattr(stats, self.kind)(**self.given).rvs(random_state=rng)
        return value.item() if isinstance(value, np.generic) else value


LOG = 'log'
Range = Sequence[Any]
"""Two bounds; these and `LOG` for an even distribution of the logarithm; or a list of choices."""


def variable_of(name: str, given: Range) -> Variable:
    """Return the variable of a range."""
    if isinstance(given, list):
        return Variable(name, 'choice', given)
    return Variable(name, 'loguniform' if given[2:] == (LOG,) else 'uniform', list(given[:2]))


def read_variable(place: str, name: str, given: Any) -> Variable:
    """Return the variable of an entry in a file; raise `SourceError` if it is invalid.

    Parameters
    ----------
    given : object
        ``{normal: [1.0, 0.02], is: factor}`` or the like.
    """
    if not isinstance(given, Mapping):
        raise SourceError(
            place, f'expected one distribution such as normal: [1.0, 0.1], got {given!r}'
        )
    kinds = [key for key in given if key != 'is']
    if len(kinds) != 1:
        raise SourceError(
            place, f'expected one distribution, got {", ".join(map(str, kinds)) or "none"}'
        )
    mode = given.get('is', MODES[0])
    if mode not in MODES:
        raise SourceError(place, f'is: expected one of {", ".join(MODES)}, got {mode!r}')
    variable = Variable(name, str(kinds[0]), given[kinds[0]], mode)
    _check(f'{place}: {variable.kind}', variable)
    return variable


def _check(place: str, variable: Variable) -> None:
    kind, given = variable.kind, variable.given
    if kind in _PAIRS:
        words, _ = _PAIRS[kind]
        numbers = given if isinstance(given, list) and len(given) == 2 else [None]
        if not all(map(is_number, numbers)) or not _is_pair(kind, *numbers):
            raise SourceError(place, f'expected {words}, got {given!r}')
    elif kind in (GRID, 'choice'):
        if not isinstance(given, list) or not given:
            raise SourceError(place, f'expected a list of values, got {given!r}')
    elif kind == 'counter':
        if not isinstance(given, int) or isinstance(given, bool):
            raise SourceError(place, f'expected the integer of case 0, got {given!r}')
    else:
        _check_scipy(place, kind, given)


def is_number(value: Any) -> bool:
    """Return whether a value is a finite number."""
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)


def _is_pair(kind: str, first: float, second: float) -> bool:
    if kind == 'normal':
        return second >= 0.0
    if kind == 'integers' and not (isinstance(first, int) and isinstance(second, int)):
        return False
    return first <= second and (kind != 'loguniform' or first > 0.0)


def _check_scipy(place: str, kind: str, given: Any) -> None:
    from scipy import stats

    found = getattr(stats, kind, None)
    if not isinstance(found, (stats.rv_continuous, stats.rv_discrete)):
        known = [*_PAIRS, GRID, 'choice', 'counter']
        raise SourceError(
            place, f'unknown distribution{suggestion(kind, known)}; expected one of '
            f'{", ".join(known)}, or a name of scipy.stats'
        )
    arguments = 'loc, scale and the shapes of scipy.stats by name'
    if not isinstance(given, Mapping) or not all(map(is_number, given.values())):
        raise SourceError(place, f'expected {arguments}, got {given!r}')
    try:
        middle = float(found(**given).ppf(0.5))
    except TypeError as error:
        raise SourceError(place, f'expected {arguments}: {error}') from None
    if not math.isfinite(middle):
        raise SourceError(
            place, f'expected {arguments} that make a distribution, got {dict(given)!r}'
        )


_PAIRS: Mapping[str, tuple[str, Callable[[Rng, Any, Any], Any]]] = {
    'normal': ('mean and standard deviation', lambda rng, mean, sd: rng.normal(mean, sd)),
    'uniform': ('lower and upper bound', lambda rng, low, high: rng.uniform(low, high)),
    'loguniform': (
        'lower and upper bound, above 0',
        lambda rng, low, high: math.exp(rng.uniform(math.log(low), math.log(high))),
    ),
    'integers': (
        'the first and the last integer', lambda rng, low, high: rng.integers(low, high + 1)
    ),
}
"""Distributions of two numbers: their meaning, and a function that draws from them."""
