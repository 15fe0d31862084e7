# SPDX-License-Identifier: Apache-2.0
"""Rows of a plugin block as columns of a configuration class, and what one cell may be."""
from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass, field
from typing import Any

from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.quantity import Group, Quantity, names_field, spec_of
from propulsion_ros.urdf.tags import Tag
from propulsion_ros.urdf.xml import numbers, quoted

_BOOLEANS = {'true': True, '1': True, 'false': False, '0': False}


@dataclass
class Rows:
    """What the rows of one configuration class gave so far.

    Attributes
    ----------
    fields : dict
        Fields that have a value for each row, by key.
    roles : dict
        Those of them that have a part in geometry.
    naming : str
        Key of the field that names the rows.
    """

    cls: type
    """The class."""
    prefix: str
    """What stands before its keys, such as ``tanks.``; '' for the family's own."""
    count: int = 0
    """Rows so far."""
    columns: dict[str, list[Any]] = field(default_factory=dict)
    paths: dict[str, list[str]] = field(default_factory=dict)
    """A cell for each row and its XML path, by key; a cell is None where nothing is given."""

    def __post_init__(self) -> None:
        specs = {f.name: spec_of(f) for f in dataclasses.fields(self.cls)}
        self.fields = {
            key: spec for key, spec in specs.items()
            if isinstance(spec, Quantity) and spec.per_row
        }
        self.roles = {key: spec for key, spec in self.fields.items() if spec.geometry}
        naming = names_field(self.cls)
        self.naming = naming.name if naming else ''

    def append(self, key: str, value: Any, path: str) -> None:
        """Add the cell of one row, None where nothing is given."""
        self.columns.setdefault(key, []).append(value)
        self.paths.setdefault(key, []).append(path)


def _row_size(spec: Quantity) -> int:
    return math.prod(int(size) for size in spec.shape[1:])


def _field(cls: type, key: str) -> tuple[Quantity, Any]:
    found = next(f for f in dataclasses.fields(cls) if f.name == key)
    spec = spec_of(found)
    if isinstance(spec, Group):
        raise TypeError(f'{key} is a group')
    return spec, found.default


def serves_no_row(cls: type, key: str) -> bool:
    """Whether the default is that of a whole robot, of no use to rows that are given."""
    spec, default = _field(cls, key)
    return isinstance(default, tuple) and bool(default) and len(default) != _row_size(spec)


def default_of_row(cls: type, key: str) -> Any:
    """Return the default of one row, MISSING where a row must have it."""
    spec, default = _field(cls, key)
    if isinstance(default, tuple):
        return list(default) if len(default) == _row_size(spec) else dataclasses.MISSING
    if default is not dataclasses.MISSING and len(spec.shape) > 1:
        return [default] * _row_size(spec)
    return default


def parse_value(spec: Quantity, tag: Tag) -> Any:
    """Return the text of a tag as the field's type; a row of several numbers is a list."""
    text, path = tag.text, tag.path
    if tag.children:
        raise SourceError(path, f'expected a value, got <{tag.children[0].key}>')
    if spec.kind is str:
        return text.split() if spec.shape == ('*',) else text
    if spec.kind is bool:
        if text.lower() not in _BOOLEANS:
            raise SourceError(path, f'expected true or false, got {quoted(text)}')
        return _BOOLEANS[text.lower()]
    row = [int(size) for size in spec.shape if size not in ('n', '*')]
    values = numbers(text, path, meaning=spec.doc, unit=spec.unit)
    if spec.shape == ('*',):
        return values
    count = math.prod(row)
    if len(values) == 1 < count and not spec.geometry:
        values = values * count
    if len(values) != count:
        plural = 'a number' if count == 1 else f'{count} numbers'
        hint = '' if text else f'; write <{tag.key}>NUMBER</{tag.key}>'
        raise SourceError(path, f'expected {plural}, got {quoted(text)}{hint}')
    return values if row else values[0]
