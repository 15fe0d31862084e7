# SPDX-License-Identifier: Apache-2.0
"""Random configurations that are legal, with the ends of every range among them."""
from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.quantity import Group, names_field, spec_of

_LARGEST, _TINY = 1e30, 5e-324
_USUAL, _EDGE = 0.6, 0.15


class Draw:
    """Draws the fields of configurations from their schema.

    Parameters
    ----------
    rng : numpy.random.Generator
        Source of all that is drawn.
    edges : bool
        Whether the ends of the ranges and numbers of any size are drawn too.
    """

    def __init__(self, rng: np.random.Generator, edges: bool = True) -> None:
        self._rng, self._edges = rng, edges

    def fields(self, cls: type, names: list[str], **fixed: Any) -> dict[str, Any]:
        """Return keyword arguments for a configuration of some names."""
        naming = names_field(cls)
        given = {} if naming is None else {naming.name: names}
        for field in dataclasses.fields(cls):
            spec = spec_of(field)
            if field.name in fixed or field is naming or isinstance(spec, Group):
                continue
            if spec.geometry or spec.kind is bool:
                continue
            if spec.kind is str:
                if spec.choices:
                    given[field.name] = self._rows(spec, names, self._choice)
            else:
                given[field.name] = self._rows(spec, names, self._number)
        return {**given, **fixed}

    def _rows(self, spec: Any, names: list[str], draw: Any) -> Any:
        if not spec.shape:
            return draw(spec)
        if spec.shape[0] != 'n':
            return draw(spec)
        rest = int(np.prod([int(size) for size in spec.shape[1:]], dtype=int))
        return [draw(spec) for _ in range(len(names) * rest)]

    def _choice(self, spec: Any) -> str:
        return str(self._rng.choice(list(spec.choices)))

    def _number(self, spec: Any) -> float | int:
        low = spec.above if np.isfinite(spec.above) else spec.lo
        low, high = max(low, -_LARGEST), min(spec.hi, _LARGEST)
        if spec.kind is int:
            return int(self._rng.integers(max(low, -5), min(high, 100) + 1))
        kind = self._rng.random()
        if kind < _USUAL or not self._edges:
            value = 10.0 ** self._rng.uniform(-3.0, 3.0) * self._rng.choice([-1.0, 1.0])
        elif kind < _USUAL + _EDGE:
            value = self._rng.choice([low, high, 0.0, _TINY, -_TINY, 1e-300, 1e-12])
        else:
            value = 10.0 ** self._rng.uniform(-300.0, 30.0) * self._rng.choice([-1.0, 1.0])
        if low >= 0.0:
            value = abs(value)
        value = float(min(max(value, low), high))
        return value if value > spec.above else float(np.nextafter(spec.above, np.inf))


def in_order(given: dict[str, Any], low: str, high: str) -> None:
    """Exchange the ends of ranges that are the wrong way round."""
    pairs = [sorted(pair) for pair in zip(given[low], given[high], strict=True)]
    given[low], given[high] = (list(row) for row in zip(*pairs, strict=True))


def legal(make: Any) -> Any:
    """Return what a function makes once that is legal."""
    for _ in range(10000):
        try:
            return make()
        except ConfigError:
            continue
    raise AssertionError('no legal configuration found')
