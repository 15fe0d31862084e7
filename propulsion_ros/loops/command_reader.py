# SPDX-License-Identifier: Apache-2.0
"""Checks named commands and converts them to updates for one family."""
from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from propulsion_ros.loops.command_hold import CommandUpdate, FieldSplit
from propulsion_ros.models.common.esc import FIELDS as INTERFACE_FIELDS
from propulsion_ros.models.common.family import FIELDS, Blockwise, Command, Family
from propulsion_ros.settings.errors import CommandError
from propulsion_ros.settings.quantity import (
    BoolArray,
    FloatArray,
    IntArray,
    Quantity,
    spec_of,
)


class CommandRows(NamedTuple):
    """Named commands of many messages, or rows of a table."""

    stamps: IntArray
    """Stamps [ns], (t,)."""
    names: Sequence[str]
    fields: Mapping[str, FloatArray]
    """Values (t, k) of each of `FIELDS` that is not empty, in that order."""


class NamedCommand(Protocol):
    """Names with a value each in some fields, as in a JointState; an unused field is []."""

    name: Any
    position: Any
    velocity: Any
    effort: Any


@dataclass(frozen=True)
class _Layout:
    """Assignment of a message's values to columns of the family, for some names."""

    columns: IntArray
    """Column of each name in the family's commands."""
    own: dict[str, BoolArray]
    """Names that take each field."""
    counts: list[int]
    """Number of values of each of `FIELDS` in a usual message."""
    taken: list[str]
    """Fields that have values."""
    numbers: bytes
    nans: bytes
    """Masks of the finite values of a usual message, and of its NaNs, one field after the other."""
    places: IntArray
    """Index of the value of each name in these masks."""
    is_whole: bool
    """Whether the names are all those of the family, in order."""


class CommandReader:
    """Turns named commands into updates for one family."""

    def __init__(self, family: Family) -> None:
        self._family = family
        self.names = tuple(family.command_names)
        self._columns = {name: i for i, name in enumerate(self.names)}
        self._fields = np.array(family.command_fields)
        self._split = FieldSplit(family.command_fields)
        self._nan_is_safe = np.array(family.nan_is_safe, bool)
        self._safe = np.asarray(family.safe_command, dtype=float)
        self._known = ', '.join(self.names)
        # Most messages have the same names, so their layout is kept.
        self._last: tuple[tuple[str, ...], _Layout | None] = ((), None)

    @property
    def is_whole(self) -> bool:
        """Whether the last message named all actuators of the family."""
        layout = self._last[1]
        return layout is not None and len(layout.columns) == len(self.names)

    def read(self, message: NamedCommand) -> CommandUpdate:
        """Return the update that a message commands.

        Raises `CommandError` for an unknown or repeated name, a field that a name does not take, an
        infinity, a NaN where it has no meaning, a wrong count, or a value that the family refuses.
        """
        layout = self._layout(message.name)
        update = self._read_usual(message, layout)
        return self._read_any(message, layout) if update is None else update

    def _read_usual(self, message: NamedCommand, layout: _Layout) -> CommandUpdate | None:
        """Return the update of a message that has a number for each name and NaN elsewhere.

        Return None for any other message.
        """
        fields = message.position, message.velocity, message.effort
        if [*map(len, fields)] != layout.counts:
            return None
        taken = [field for field in fields if len(field)]
        # One field alone is converted in half the time.
        given = np.array(taken if len(taken) > 1 else taken[0], dtype=float)
        # Bytes are compared faster than arrays.
        if np.isfinite(given).tobytes() != layout.numbers:
            return None
        rows, values = (given,), given
        if len(taken) > 1:
            if np.isnan(given).tobytes() != layout.nans:
                return None
            rows, values = tuple(given), given.take(layout.places)
        self._family.check_command(
            Command(**dict(zip(layout.taken, rows, strict=True)))
            if layout.is_whole else self._command(layout.columns, values)
        )
        return CommandUpdate(layout.columns, values)

    def read_rows(self, rows: CommandRows) -> FloatArray | None:
        """Return the values that many messages command, (t, m).

        Return None unless `read` would find nothing unusual in any of them, and a value for each
        name of the family.
        """
        try:
            layout, fields = self._layout(rows.names), rows.fields
            if len(layout.columns) < len(self.names) or list(fields) != layout.taken:
                return None
            values = np.empty((len(rows.stamps), len(self.names)))
            for field, given in fields.items():
                own = layout.own[field]
                if not (np.isfinite(given) == own).all() or np.isinf(given).any():
                    return None
                values[:, layout.columns[own]] = given[:, own]
            # Families of other packages may be able to check only one command at a time.
            for each in [values] if isinstance(self._family, Blockwise) else values:
                self._family.check_command(self._split.command(each))
        except CommandError:
            return None
        return values

    def _read_any(self, message: NamedCommand, layout: _Layout) -> CommandUpdate:
        """Return the update that a message commands, or raise what is wrong with it."""
        values = np.full(len(layout.columns), np.nan)
        for field in FIELDS:
            own = layout.own[field]
            given = np.asarray(getattr(message, field), dtype=float)
            if not len(given):
                if own.any():
                    raise self._without(message, first_marked(message.name, own))
                continue
            if len(given) != len(values):
                raise CommandError(
                    f'{field}: expected {len(values)} values, one per name, got {len(given)}'
                )
            infinite = np.isinf(given)
            if infinite.any():
                raise CommandError(f'{first_marked(message.name, infinite)}: {field} is infinite')
            strange = ~(own | np.isnan(given))
            if strange.any():
                name = first_marked(message.name, strange)
                raise CommandError(
                    f'{name}: takes {self._taken(name)}, '
                    f'got {field} {given[strange][0]:g}{self._interface(name, field)}; NaN means '
                    'that a field is not meant'
                )
            np.copyto(values, given, where=own)
        return self._checked(layout.columns, values)

    def _without(self, message: NamedCommand, name: str) -> CommandError:
        """Return the error of a name whose own field is empty, with the value of another field."""
        at = list(message.name).index(name)
        taken = self._taken(name)
        for field in FIELDS:
            given = getattr(message, field)
            if at < len(given) and not np.isnan(given[at]):
                hint = self._interface(name, field)
                return CommandError(f'{name}: takes {taken}, got {field} {given[at]:g}{hint}')
        return CommandError(f'{name}: takes {taken}, got none')

    def _taken(self, name: str) -> str:
        """Return the field that a name takes; of a throttle also its range."""
        field: str = self._fields[self._columns[name]]
        is_throttle = field == 'position' and self._interface(name, field) != ''
        return field + ' (throttle 0 to 1)' * is_throttle

    def _interface(self, name: str, field: str) -> str:
        """Return which setting lets a name take a field, '' if none does."""
        specs = {key.name: spec_of(key) for key in dataclasses.fields(self._family.Params)}
        spec = specs.get('command_interface')
        if name not in self._family.actuator_names or not isinstance(spec, Quantity):
            return ''
        able = next((each for each in spec.choices if INTERFACE_FIELDS.get(each) == field), '')
        return f'; for {field} set command_interface: {able}' if able else ''

    def read_array(self, data: Sequence[float]) -> CommandUpdate:
        """Return the update of an array with one value for each name, in order.

        Raises `CommandError` as `read` does.
        """
        values = np.array(data, dtype=float)
        if values.shape != (len(self.names),):
            raise CommandError(
                f'data: expected {len(self.names)} values ({self._known}), got {len(values)}'
            )
        infinite = np.isinf(values)
        if infinite.any():
            raise CommandError(f'{first_marked(self.names, infinite)} is infinite')
        return self._checked(np.arange(len(values)), values)

    def _checked(self, columns: IntArray, values: FloatArray) -> CommandUpdate:
        """Return the update if it is valid; a NaN is here one in the field that the name takes."""
        missing = np.isnan(values)
        if missing.any():
            wrong = missing & ~self._nan_is_safe[columns]
            if wrong.any():
                column = int(columns[wrong][0])
                raise CommandError(f'{self.names[column]}: {self._fields[column]} is NaN')
            values = np.where(missing, self._safe[columns], values)
        self._family.check_command(self._command(columns, values))
        return CommandUpdate(columns, values)

    def _command(self, columns: IntArray, values: FloatArray) -> Command:
        """Return a command of some names only, NaN for all others."""
        command = np.full(len(self.names), np.nan)
        command[columns] = values
        return self._split.command(command)

    def _layout(self, names: Sequence[str]) -> _Layout:
        key = tuple(names)
        known, layout = self._last
        if layout is not None and key == known:
            return layout
        if not key:
            raise CommandError(f'no names, expected some of: {self._known}')
        seen: set[str] = set()
        for name in key:
            if name not in self._columns:
                raise CommandError(f'unknown name {name!r}, known: {self._known}')
            if name in seen:
                raise CommandError(f'{name!r} is named twice')
            seen.add(name)
        columns = np.array([self._columns[name] for name in key], dtype=np.int64)
        own = {field: self._fields[columns] == field for field in FIELDS}
        counts = [len(key) * bool(own[field].any()) for field in FIELDS]
        taken = [field for field, count in zip(FIELDS, counts, strict=True) if count]
        numbers = np.array([own[field] for field in taken])
        layout = _Layout(
            columns, own, counts, taken, numbers.tobytes(), (~numbers).tobytes(),
            numbers.argmax(axis=0) * len(key) + np.arange(len(key)), key == self.names,
        )
        self._last = key, layout
        return layout


def first_marked(names: Sequence[str], mask: BoolArray) -> str:
    """Return the first of the names that a mask marks."""
    return names[int(np.flatnonzero(mask)[0])]
