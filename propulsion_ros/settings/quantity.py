# SPDX-License-Identifier: Apache-2.0
"""Typed, bounded fields of frozen dataclasses: the one schema of every parameter.

A configuration is a frozen, keyword-only dataclass whose fields are made by `quantity`,
`per_row`, `names` or `group`. `validate`, called from ``__post_init__``, turns what was given into
read-only arrays of the right shape and checks every element, so that a configuration that exists is
right.
ROS parameters, plugin tags and the documentation are all derived from the same fields.
"""
from __future__ import annotations

import dataclasses
import difflib
import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.hints import accepted, conversions, number_hint

FloatArray: TypeAlias = NDArray[np.float64]
ComplexArray: TypeAlias = NDArray[np.complex128]
BoolArray: TypeAlias = NDArray[np.bool_]
IntArray: TypeAlias = NDArray[np.int64]

_META = 'propulsion_ros'
_USERS = re.compile(r'([a-z]\w*(?:(?:, | and )[a-z]\w*)*): ')
_KIND_WORDS = {float: 'a number', int: 'an integer', bool: 'true or false', str: 'a string'}

_FAR = 20.0
"""Least factor between two limits that are in different units."""
_TRUTHS = {'yes': 'true', 'on': 'true', 'no': 'false', 'off': 'false'}
_LARGEST: dict[type, float] = {float: 1e30, int: 2**63 - 1}
"""Largest size of a number: for integers that of arrays, for floats one with finite products."""


@dataclass(frozen=True)
class Quantity:
    """Type, unit, bounds and meaning of one field."""

    kind: type
    """float, int, bool or str; `propulsion_ros.settings.json_node` has more for JSON documents."""
    unit: str
    """SI unit, empty if there is none."""
    doc: str
    """Meaning in one sentence."""
    lo: float = -math.inf
    hi: float = math.inf
    """Inclusive bounds of every element; `above` is an exclusive lower bound."""
    above: float = -math.inf
    shape: tuple[str | int, ...] = ()
    """() for a scalar; ('n', ...) for one row per name of the same dataclass; ('*',) for a list
    of any length."""
    choices: Sequence[Any] = ()
    """Allowed strings, or integers of a JSON document; empty for any."""
    geometry: str = ''
    """Role in the robot's link tree: 'origin', 'rotation', 'direction', 'link', 'joints',
    'joint_axes', 'joint_origins'; empty if the value is not geometry."""
    live: bool = False
    """Whether it may change while running."""
    usual: tuple[float, ...] = ()
    """Usual sizes: low and high ends of ranges in turn; () for those of the unit."""
    file: str = ''
    """Key of the file that gives the value of a row if it is 0; empty for none."""

    @property
    def per_row(self) -> bool:
        """Whether the field has one row per name."""
        return bool(self.shape) and self.shape[0] == 'n'

    @property
    def users(self) -> Sequence[str]:
        """Choices or parameters that alone use the value: its documentation begins with them."""
        found = _USERS.match(self.doc)
        return re.split(', | and ', found[1]) if found else ()

    @property
    def bounds(self) -> list[str]:
        """The bounds in words."""
        limits = (('above', self.above), ('at least', self.lo), ('at most', self.hi))
        return [f'{words} {limit:g}' for words, limit in limits if math.isfinite(limit)]


@dataclass(frozen=True)
class Group:
    """A nested dataclass: parameters ``<field>.<key>``, plugin children ``<element>``."""

    cls: type
    element: str


def quantity(
    default: Any = dataclasses.MISSING,
    unit: str = '',
    *,
    doc: str,
    kind: type = float,
    lo: float = -np.inf,
    hi: float = np.inf,
    above: float = -np.inf,
    shape: tuple[str | int, ...] = (),
    choices: tuple[str, ...] = (),
    geometry: str = '',
    live: bool = False,
    usual: tuple[float, ...] = (),
    file: str = '',
) -> Any:
    """Return a dataclass field with the meaning of `Quantity`; no default means required."""
    spec = Quantity(kind, unit, doc, lo, hi, above, shape, choices, geometry, live, usual, file)
    return dataclasses.field(default=default, metadata={_META: spec})


def per_row(default: Any = dataclasses.MISSING, unit: str = '', **meaning: Any) -> Any:
    """Return a `quantity` that has one value for each name of its dataclass, (n,)."""
    return quantity(default, unit, shape=('n',), **meaning)


def names(doc: str, default: Any = dataclasses.MISSING) -> Any:
    """Return the field that names the rows of its dataclass, and so sets n."""
    return quantity(default, doc=doc, kind=str, shape=('names',))


def group(cls: type, *, element: str) -> Any:
    """Return a field that holds another configuration dataclass."""
    return dataclasses.field(default_factory=cls, metadata={_META: Group(cls, element)})


def spec_of(field: dataclasses.Field[Any]) -> Quantity | Group:
    """Return the `Quantity` or `Group` of a field made by this module; else raise `TypeError`."""
    spec: Quantity | Group | None = field.metadata.get(_META)
    if spec is None:
        raise TypeError(f'field {field.name!r} is not made by quantity, names or group')
    return spec


def names_field(cls: type) -> dataclasses.Field[Any] | None:
    """Return the field that names the rows of a configuration class, or None."""
    for field in dataclasses.fields(cls):
        spec = spec_of(field)
        if isinstance(spec, Quantity) and spec.shape == ('names',):
            return field
    return None


def validate(config: Any) -> None:
    """Coerce and check every field of a frozen configuration in place.

    Integers become floats where a number is meant; one value or one row serves all rows.

    Raises `ConfigError` with the field and element, the expected and the given value.
    """
    naming = names_field(type(config))
    n = 0
    if naming is not None:
        given = getattr(config, naming.name)
        for error in name_faults(naming.name, given):
            raise error
        rows = tuple(flatten(given))
        object.__setattr__(config, naming.name, rows)
        n = len(rows)
    for field in dataclasses.fields(config):
        spec, given = spec_of(field), getattr(config, field.name)
        if isinstance(spec, Group) and not isinstance(given, spec.cls):
            raise ConfigError(field.name, f'expected {spec.cls.__name__}, got {given!r}')
        if isinstance(spec, Quantity) and field is not naming:
            object.__setattr__(config, field.name, coerce(field.name, spec, given, n))


def check_order(config: Any, low: str, high: str, unit: str) -> None:
    """Raise `ConfigError` if a row of the field ``low`` is above that of ``high``."""
    least, most = getattr(config, low), getattr(config, high)
    for i in np.flatnonzero(least > most).tolist():
        far = [f'if {high} is in {word}, write {meant:g}' for word, meant in conversions(
            float(most[i]), unit) if least[i] > _FAR * most[i] and _FAR * meant > least[i] < meant]
        raise ConfigError(low, (
            f'{least[i]:g} is above {high} {most[i]:g} {unit}; {(*far, "are they swapped?")[0]}'
        ), i)


def check_known(key: str, given: Sequence[str], kind: str, known: Sequence[str]) -> None:
    """Raise `ConfigError` if a given name is not a known one; '' stands for no name."""
    for i, name in enumerate(given):
        if name and name not in known:
            raise ConfigError(
                key, f'unknown {kind} {name!r}, known: {", ".join(known) or "none"}', i
            )


def coerce(key: str, spec: Quantity, value: Any, n: int = 0) -> Any:
    """Return a scalar, a flat or a nested sequence as the field's type and shape, for n rows.

    Raises `ConfigError` if an element has the wrong type or is out of range, or the count is
    wrong.
    """
    for error in value_faults(key, spec, value, n):
        raise error
    flat = flatten(value)
    if spec.shape == ():
        return spec.kind(flat[0])
    if spec.kind is str:
        return tuple(_broadcast(key, spec, flat, n))
    array: NDArray[Any] = np.array(_broadcast(key, spec, flat, n), dtype=spec.kind)
    array = array.reshape([{'n': n, '*': -1}.get(str(size), size) for size in spec.shape])
    array.flags.writeable = False
    return array


def value_faults(key: str, spec: Quantity, value: Any, n: int = 0) -> Iterator[ConfigError]:
    """Yield the faults of all elements of a value; see `coerce`."""
    flat = flatten(value)
    if spec.shape == () and (len(flat) != 1 or not _is_scalar(value)):
        hint = '; write it without brackets' if len(flat) == 1 else ''
        yield ConfigError(key, f'expected {_KIND_WORDS[spec.kind]}, got {value!r}{hint}')
        return
    for i, element in enumerate(flat):
        problem = _problem(spec, element)
        if problem:
            yield ConfigError(key, problem, None if _is_scalar(value) else i)
    if spec.shape:
        try:
            _check_rows(key, spec, value)
            _broadcast(key, spec, flat, n)
        except ConfigError as error:
            yield error


def name_faults(key: str, value: Any) -> Iterator[ConfigError]:
    """Yield the faults of the names of rows."""
    flat = flatten(value)
    for i, name in enumerate(flat):
        if not isinstance(name, str):
            yield ConfigError(key, f'expected a string, got {name!r}', i)
        elif not name:
            yield ConfigError(key, 'a name is empty', i)
        elif name in flat[:i]:
            yield ConfigError(key, f'{name!r} is named twice, rename one', i)


def _is_scalar(value: Any) -> bool:
    # Common types first: checks of abstract classes are slow, and a text is a collection too.
    if isinstance(value, (float, int, str)):
        return True
    if isinstance(value, (tuple, list)):
        return False
    if isinstance(value, np.ndarray):
        return value.ndim == 0
    # np.ndim would fail for rows of different lengths.
    return isinstance(value, (bytes, Mapping)) or not isinstance(value, Collection)


def flatten(value: Any) -> list[Any]:
    """Return the elements of a scalar, a sequence or nested ones; [] for None."""
    if value is None:
        return []
    if _is_scalar(value):
        return [value.item() if isinstance(value, np.generic) else value]
    if isinstance(value, np.ndarray):
        return list(value.ravel().tolist())
    return [leaf for element in value for leaf in flatten(element)]


def _problem(spec: Quantity, value: Any) -> str:
    """Return the fault of one element, '' if it is right."""
    if spec.kind is str:
        if not isinstance(value, str):
            # YAML reads some words as true or false.
            word = next((w for w in spec.choices if _TRUTHS.get(w) == str(value).lower()), value)
            return f"expected a string, got {value!r}; write '{word}'"
        if spec.choices and value not in spec.choices:
            near = difflib.get_close_matches(value.lower(), spec.choices, n=1)
            hint = f", did you mean '{near[0]}'?" if near else ''
            return f'expected one of {", ".join(filter(None, spec.choices))}, got {value!r}{hint}'
        return ''
    if spec.kind is bool:
        of_number = 'false' if value == 0 else 'true' if value == 1 else ''
        truth = _TRUTHS.get(str(value).lower(), of_number)
        hint = f'; write {truth}' * bool(truth)
        return '' if isinstance(value, bool) else f'expected true or false, got {value!r}{hint}'
    # Most numbers are right, and the remaining checks take ten times as long.
    kind = type(value)
    if kind is spec.kind and abs(value) <= _LARGEST[kind] and (
        spec.above < value and spec.lo <= value <= spec.hi
    ):
        return ''
    numeric = isinstance(value, (int, float)) and not isinstance(value, bool)
    too_large = f'is too large, expected a size of at most {_LARGEST[spec.kind]:g}'
    if isinstance(value, int) and abs(value) > _LARGEST[int]:
        return too_large
    if spec.kind is int:
        numeric = numeric and float(value).is_integer()
    if not numeric:
        return f'expected {_KIND_WORDS[spec.kind]}, got {value!r}{number_hint(value, spec.unit)}'
    if not math.isfinite(value):
        return f'{value} is not finite'
    if abs(value) > _LARGEST[spec.kind] and spec.lo <= value <= spec.hi:
        return too_large
    return out_of_bounds(value, spec.lo, spec.hi, spec.above, spec.unit)


def out_of_bounds(value: float, lo: float, hi: float, above: float, unit: str) -> str:
    """Return which bound a number violates, '' for none; see `Quantity`."""
    if above < value and lo <= value <= hi:
        return ''
    words = f' {unit}' if unit else ''
    hint = accepted(value, unit, lo, hi, above)
    if value < lo:
        return f'{value:g} is below {lo:g}{words}{hint}'
    if value > hi:
        return f'{value:g} is above {hi:g}{words}{hint}'
    return f'{value:g} must be above {above:g}{words}{hint}' if value <= above else ''


def _check_rows(key: str, spec: Quantity, value: Any) -> None:
    """Raise `ConfigError` where rows have another length, as of an array that is transposed."""
    first = 0.0 if _is_scalar(value) else next(iter(value), 0.0)
    if len(spec.shape) == 2 and not _is_scalar(first) and len(flatten(first)) != spec.shape[1]:
        row, got = spec.shape[1], len(flatten(first))
        raise ConfigError(key, f'expected rows of {row} values, got one of {got}')


def _broadcast(key: str, spec: Quantity, flat: list[Any], n: int) -> list[Any]:
    """Repeat one value or one row for all rows, and check the count."""
    if spec.shape == ('*',):
        return flat
    row = math.prod(int(size) for size in spec.shape if size != 'n')
    want = row * n if spec.per_row else row
    if len(flat) == want:
        return flat
    # One number for x, y and z is a mistake if each component may have a sign.
    has_signs = max(spec.lo, spec.above) < 0.0 and flat != [0.0]
    is_vector = row > 1 and spec.kind is float and (spec.geometry or (row == 3 and has_signs))
    if len(flat) == 1 and not is_vector:
        return flat * want
    if spec.per_row and len(flat) == row:
        return flat * n
    rows = f' ({row} for each of {n} names)' if spec.per_row and row > 1 else ''
    hint = '; write x, y and z, also those that are 0' if row == 3 and is_vector else ''
    if not flat:
        raise ConfigError(key, f'is missing, expected {want} values{rows}')
    raise ConfigError(key, f'expected {want} values{rows}, got {len(flat)}{hint}')
