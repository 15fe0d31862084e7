# SPDX-License-Identifier: Apache-2.0
"""A family for programs: plain numbers are its commands, its ticks are counted."""
from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from propulsion_ros.models.common.family import (
    BodyState,
    Command,
    Family,
    Output,
    numbers_of,
    read_only,
    shown,
)
from propulsion_ros.models.common.start import State
from propulsion_ros.settings.errors import CommandError, ConfigError
from propulsion_ros.settings.flat import known_hint, refuse_fixed
from propulsion_ros.settings.quantity import FloatArray

AnyCommand = Command | Mapping[str, ArrayLike] | ArrayLike
"""A command, values by names, or one value for each name."""

_REST = BodyState()
_UNIT = 1e-3
"""What the square of a unit vector is off by at most."""


class Sealed:
    """Base of what programs hold, of which nothing can be set once it ``_is_made``."""

    _is_made = False

    def __setattr__(self, name: str, value: Any) -> None:
        if self._is_made and name[0] != '_':
            raise AttributeError(
                f'{type(self).__name__}: {name} cannot be set; states are given to reset(), '
                'parameters in files, or where this was made'
            )
        object.__setattr__(self, name, value)


class Model(Sealed):
    """The actuators of a group, which a program steps.

    What else the `Family` has, such as ``command_names`` and ``safe_command``, the model has too;
    arrays are read-only.

    Parameters
    ----------
    batch : tuple of int
        Leading shape, such as ``(64,)``; by default the one that the family was made with.
    name : str
        What begins the errors: the name of the group, by default that of the family.

    Attributes
    ----------
    family : Family
        The family.
    """

    def __init__(self, family: Family, batch: tuple[int, ...] = (), name: str = '') -> None:
        family = family.family if isinstance(family, Model) else family
        if not hasattr(family, 'step') or isinstance(family, type):
            got = type(family).__name__
            raise TypeError(f'Model: expected a family made of its parameters, got {got}')
        self.family: Family = family
        self._tick, self._name = 0, name or type(family).__name__
        self._batch = getattr(family, 'batch', batch)
        if batch not in ((), self._batch):
            raise ConfigError('batch', f'{self._name} is made for {self._batch}, got {batch!r}')
        self._is_made = True

    def __getattr__(self, name: str) -> Any:
        # A copy looks for names before it has a family.
        if name.startswith('_') or name == 'family':
            raise AttributeError(f'{type(self).__name__!r} has no attribute {name!r}')
        value = getattr(self.family, name)
        return read_only(value.view()) if isinstance(value, np.ndarray) else value

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *dir(self.family)]

    def __repr__(self) -> str:
        made = f'{type(self.family).__name__} {self._name!r}: {", ".join(self.command_names)}'
        return f'<{made}; batch {self._batch}>' if self._batch else f'<{made}>'

    @property
    def tick(self) -> int:
        """Number of the next step, which keys the noise."""
        return self._tick

    def step(
        self, command: AnyCommand | None = None, body: BodyState | None = None,
        dt: float | None = None, tick: int | None = None,
    ) -> Output:
        """Advance by one step and return what the actuators did.

        Parameters
        ----------
        command : array_like, mapping or Command, optional
            One value for each of ``command_names``, (..., m), in the field that ``command_fields``
            has for it; or some values by their names; or a `Command`. NaN, and what is left out,
            is not commanded. One row is for the whole batch.
        body : BodyState, optional
            Motion of the body; at rest by default.
        dt : float
            Length of the step [s]; required.
        tick : int, optional
            Number of the step; by default they are counted.

        Raises
        ------
        CommandError
            For another type, length or batch, naming what was expected.
        """
        wanted = command_of(self.family, command, self._batch, self._name)
        moves = _REST if body is None else _checked(body, self._batch)
        number = self._tick if tick is None else tick
        # Of what is usual the type is known fastest.
        if (type(number) is not int and not isinstance(number, np.integer)) or number < 0:
            raise CommandError(f'tick: expected a whole number of at least 0, got {tick!r}')
        return advance(self, wanted, moves, seconds_of(dt), number)

    def reset(self, indices: Any = None, state: State | None = None) -> None:
        """Return to the start, all or some environments of a batch; see `Restartable.reset`."""
        # A family of another package need not take states.
        if indices is None and state is None:
            self.family.reset()
        else:
            self.family.reset(indices, state)  # type: ignore[call-arg]
        if indices is None:
            self._tick = 0

    def retune(self, params: Any) -> None:
        """Take the live values of a configuration, such as ``efficiency``; see `Retunable`.

        Raises `ConfigError` where others differ from ``params``, which the family was made of.
        """
        refuse_fixed(getattr(self.family, 'params', params), params)
        self.family.retune(params)  # type: ignore[attr-defined]


def advance(
    model: Model, command: Command, body: BodyState, dt: float, tick: int | None = None
) -> Output:
    """Step a model by what is known to be right."""
    number = model._tick if tick is None else tick
    output = model.family.step(command, body, dt, number)
    model._tick = number + 1
    return read_only(output)


def command_of(
    family: Family, given: AnyCommand | None, batch: tuple[int, ...], who: str
) -> Command:
    """Return a command that a program gave a family; ``who`` begins errors.

    Raises `CommandError` for another type, length or batch.
    """
    if given is None:
        return Command()
    names = family.command_names
    if isinstance(given, Command):
        for values in (given.position, given.velocity, given.effort):
            if values is not None:
                _check(values.shape, batch, names, who)
        given.refuse_other(names, family.command_fields)
        return given
    table: Any = given
    labels = table.keys() if hasattr(table, 'keys') else [0]
    # A row or table of pandas too has names, in any order, or numbers where it has none.
    if all(isinstance(label, str) for label in labels):
        given = dict(table)
    if isinstance(given, Mapping):
        row = np.full((*batch, len(names)), np.nan)
        for name, value in given.items():
            if name not in names:
                raise CommandError(f'{who}: unknown {name!r}{known_hint(str(name), names)}')
            numbers = _numbers(value, f'{who}: {name}')
            if not _fits(numbers.shape, batch):
                raise CommandError(
                    f'{who}: {name}: expected {_shapes((), batch)}, got shape {numbers.shape}'
                )
            row[..., list(names).index(name)] = numbers
    else:
        row = _numbers(given, who)
        _check(row.shape, batch, names, who)
    kinds = dict.fromkeys(family.command_fields)
    if len(kinds) == 1:
        return Command(**dict.fromkeys(kinds, row))
    fields = np.array(family.command_fields)
    return Command(**{field: np.where(fields == field, row, np.nan) for field in kinds})


def _numbers(given: Any, who: str) -> FloatArray:
    """Return an array of numbers."""
    return numbers_of(given, lambda _: CommandError(
        f'{who}: expected numbers, a mapping of names to numbers or a Command, got {shown(given)}'
    ))


def _fits(shape: tuple[int, ...], whole: tuple[int, ...]) -> bool:
    """Return whether an array of a shape can be spread over a whole one."""
    ends = zip(reversed(shape), reversed(whole), strict=False)
    return len(shape) <= len(whole) and all(n in (1, m) for n, m in ends)


def _shapes(row: tuple[int, ...], batch: tuple[int, ...]) -> str:
    return ' or '.join(f'shape {shape}' for shape in dict.fromkeys((row, (*batch, *row))))


def _count(names: Any, batch: tuple[int, ...]) -> str:
    text = f'{len(names)} number{"s" * (len(names) != 1)} ({", ".join(names)})'
    return f'{text} or shape {(*batch, len(names))}' if batch else text


def _check(shape: tuple[int, ...], batch: tuple[int, ...], names: Any, who: str) -> None:
    """Raise `CommandError` where a command of a shape has not one column for each name."""
    if shape[-1:] != (len(names),) or not _fits(shape[:-1], batch):
        raise CommandError(
            f'{who}: expected {_count(names, batch)}, '
            f'got {shape[0] if len(shape) == 1 else f"shape {shape}"}'
            + '; it has no batch' * (len(shape) > 1 and not batch)
        )


def _checked(body: Any, batch: tuple[int, ...]) -> BodyState:
    if not isinstance(body, BodyState):
        raise CommandError(
            f'body: expected a BodyState, got {type(body).__name__}; a step is dt=0.01, by name'
        )
    for key, value in vars(body).items():
        if value is None:
            continue
        row, shape = () if key == 'height' else (3,), value.shape
        own = len(shape) - len(row)
        if shape != row and (shape[own:] != row or not _fits(shape[:own], batch)):
            raise CommandError(f'body: {key}: expected {_shapes(row, batch)}, got shape {shape}')
        # One product takes half as long as the test of each number.
        if not math.isfinite(np.vdot(value, value)) and not np.isfinite(value).all():
            raise CommandError(f'body: {key}: expected finite numbers, got {shown(value.tolist())}')
    up = body.up
    if up is not None:
        square = np.vdot(up, up) if up.ndim == 1 else np.einsum('...i,...i', up, up)
        if np.count_nonzero(abs(square - 1.0) > _UNIT):
            raise CommandError(f'body: up: expected unit vectors, got {shown(up.tolist())}')
    return body


def seconds_of(dt: Any) -> float:
    """Return the length of a step [s], or raise `CommandError`."""
    if type(dt) is float and 0.0 <= dt < np.inf:
        return dt
    try:
        seconds = np.nan if isinstance(dt, str | bytes | bool | np.bool_) else float(dt)
    except (TypeError, ValueError):
        seconds = np.nan
    if not 0.0 <= seconds < np.inf:
        raise CommandError(f'dt: expected the seconds of a step, as in dt=0.01, got {dt!r}')
    return seconds
