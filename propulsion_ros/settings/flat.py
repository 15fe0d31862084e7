# SPDX-License-Identifier: Apache-2.0
"""Configuration dataclasses as flat, named parameters and back."""
from __future__ import annotations

import dataclasses
import difflib
import operator
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.files import read_named
from propulsion_ros.settings.hints import ELSEWHERE
from propulsion_ros.settings.quantity import (
    Group,
    Quantity,
    name_faults,
    names_field,
    spec_of,
    value_faults,
)

T = TypeVar('T')
_CLEAR, _SHOWN = 0.85, 4
"""Similarity from which a word alone is suggested, and most words suggested otherwise."""
_OF_RCLPY, _QOS_OVERRIDES = ('use_sim_time', 'start_type_description_service'), 'qos_overrides.'
_OF_BODY = ('body.', 'parachutes.')


@dataclass(frozen=True)
class Parameter:
    """One flat parameter of a configuration class, or one key of a JSON document."""

    key: str
    """'max_thrust', or 'tanks.capacity' inside a group."""
    spec: Quantity
    """Type, unit, bounds and meaning."""
    default: Any
    """`dataclasses.MISSING` if it is required."""

    @property
    def required(self) -> bool:
        """Whether there is no default."""
        return self.default is dataclasses.MISSING

    @property
    def description(self) -> str:
        """The documentation with the unit, as `ros2 param describe` shows it."""
        return f'{self.spec.doc} [{self.spec.unit}]' if self.spec.unit else self.spec.doc

    @property
    def constraints(self) -> str:
        """Bounds, choices and count of elements in words."""
        spec = self.spec
        bounds = spec.bounds
        if spec.choices:
            bounds.append('one of ' + ', '.join(spec.choices))
        if spec.per_row:
            row = [str(size) for size in spec.shape[1:]]
            bounds.append('one value per name' if not row else f'{" x ".join(row)} per name')
        return ', '.join(bounds)


def parameters_of(cls: type, prefix: str = '') -> Iterator[Parameter]:
    """Yield every parameter of a configuration class, groups flattened with a dot."""
    for field in dataclasses.fields(cls):
        spec = spec_of(field)
        if isinstance(spec, Group):
            yield from parameters_of(spec.cls, f'{prefix}{field.name}.')
        else:
            yield Parameter(prefix + field.name, spec, field.default)


def build(cls: type[T], values: Mapping[str, Any], prefix: str = '') -> T:
    """Return a configuration from flat values; a value that is absent or None is the default.

    Keys that the class does not have are ignored: see `unknown_keys`. Raises `ConfigError` with the
    full flat key of a missing or wrong value.
    """
    kwargs: dict[str, Any] = {}
    values = with_files(cls, values)
    for field in dataclasses.fields(cls):  # type: ignore[arg-type]
        spec = spec_of(field)
        key = prefix + field.name
        if isinstance(spec, Group):
            kwargs[field.name] = build(spec.cls, values, f'{key}.')
        elif values.get(key) is not None:
            kwargs[field.name] = values[key]
        elif field.default is dataclasses.MISSING:
            raise _required(key, spec)
    try:
        return cls(**kwargs)
    except ConfigError as error:
        raise error.under(prefix[:-1]) if prefix else error from None


def with_files(cls: type, values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return flat values, together with those of the files that they name.

    A class whose parameters name files has ``from_files(values, read)``, which returns these
    values; it gets `read_named`, since no model opens a file itself. Raises `ConfigError` as it
    does.
    """
    filled = getattr(cls, 'from_files', None)
    return values if filled is None else filled(values, read_named)


def refuse_fixed(made: Any, given: Any) -> None:
    """Raise `ConfigError` where a configuration differs from another in what is not live."""
    if type(given) is not type(made):
        raise ConfigError('params', f'expected {type(made).__name__}, got {type(given).__name__}')
    for each in parameters_of(type(made)):
        old, new = (np.asarray(operator.attrgetter(each.key)(one)) for one in (made, given))
        # By their bytes, as NaN may stand for a default.
        if not each.spec.live and old.tobytes() != new.tobytes():
            raise ConfigError(each.key, 'cannot change while running; make another model')


def _required(key: str, spec: Quantity) -> ConfigError:
    unit = f' [{spec.unit}]' if spec.unit else ''
    return ConfigError(key, f'is required: {spec.doc}{unit}')


def all_faults(
    cls: type, values: Mapping[str, Any], known: Collection[str] = ()
) -> Iterator[ConfigError]:
    """Yield the faults of all flat values, of which `build` raises the first.

    Contradictions between values are looked for only if each value is right. The values of
    ``known`` keys have a fault that is reported already.
    """
    try:
        values = with_files(cls, values)
    except ConfigError as error:
        yield error
        return
    found = list(_value_faults(cls, values, known, ''))
    yield from found
    if not found and not known:
        try:
            build(cls, values)
        except ConfigError as error:
            yield error


def _value_faults(
    cls: type, values: Mapping[str, Any], known: Collection[str], prefix: str
) -> Iterator[ConfigError]:
    rows = _row_count(cls, values, known, prefix)
    for field in dataclasses.fields(cls):
        spec, key = spec_of(field), prefix + field.name
        if isinstance(spec, Group):
            yield from _value_faults(spec.cls, values, known, f'{key}.')
        elif key in known or (rows is None and spec.per_row):
            continue
        elif values.get(key) is None:
            if field.default is dataclasses.MISSING:
                yield _required(key, spec)
        elif spec.shape == ('names',):
            yield from name_faults(key, values[key])
        else:
            yield from value_faults(key, spec, values[key], rows or 0)


def _row_count(
    cls: type, values: Mapping[str, Any], known: Collection[str], prefix: str
) -> int | None:
    """Return the number of rows of a class, None if its names are missing or have a fault."""
    naming = names_field(cls)
    if naming is None:
        return 0
    key = prefix + naming.name
    given = values.get(key, naming.default)
    is_given = given is not None and given is not dataclasses.MISSING
    if key in known or not is_given or any(name_faults('', given)):
        return None
    return len(given)


def unknown_keys(keys: Iterable[str], known: Iterable[str]) -> list[ConfigError]:
    """Return an error, with a suggestion, for each key that is not known.

    Parameters of every rclpy node, such as quality of service, are known.
    """
    allowed = sorted({*known, *_OF_RCLPY})
    return [
        ConfigError(key, f'unknown{_instead(key, allowed)}')
        for key in sorted(set(keys) - set(allowed)) if not key.startswith(_QOS_OVERRIDES)
    ]


def _instead(key: str, known: Collection[str]) -> str:
    """Return the end of the error of an unknown parameter: the one meant, or its place."""
    if key.startswith(_OF_BODY) and not any(each.startswith(_OF_BODY) for each in known):
        return ": the simulated body has it, so give it to the node 'vehicle'"
    near, begin = nearest_key(key, known), f'{key.rpartition("_")[0]}_'
    alike = [each for each in known if each.startswith(begin)]
    if near in alike and difflib.SequenceMatcher(None, key, near).ratio() < _CLEAR:
        return f', did you mean {" or ".join(map(repr, alike[:_SHOWN]))}?'
    return meant(near) or ELSEWHERE.get(key.rpartition('.')[2], '')


def refuse_unknown(keys: Iterable[str], known: Iterable[str]) -> None:
    """Raise `ConfigError` for the first key that is not known, with the number of the others."""
    errors = unknown_keys(keys, known)
    if errors:
        more = (
            f' (and {len(errors) - 1} more, which `propulsion_ros check` lists)'
        ) * (len(errors) > 1)
        raise ConfigError(errors[0].key, errors[0].problem + more)


def suggestion(word: str, known: Iterable[str]) -> str:
    """Return ", did you mean 'x'?" for the nearest known word, '' if none is near."""
    return meant(nearest(str(word), known))


def known_hint(word: str, known: Iterable[str], title: str = 'known') -> str:
    """Return the end of the error of an unknown word: the word meant, and all known ones."""
    words = list(known)
    return f'{suggestion(word, words)}; {title}: {", ".join(words) or "none"}'


def unknown_names(
    names: Collection[str], known: Collection[str], source: str
) -> Iterator[tuple[str, str]]:
    """Yield each name that is not known, and the names that ``source`` has instead."""
    left = [each for each in known if each not in names]
    for name in names:
        if name not in known:
            yield name, f'{source} has {", ".join(known)}{suggestion(name, left)}'


def meant(near: str = '') -> str:
    """Return ", did you mean 'x'?" for a word, '' for none."""
    return f", did you mean '{near}'?" if near else ''


def nearest(word: str, known: Iterable[str]) -> str:
    """Return the nearest known word, '' if none is near.

    The only known word that begins with it, or one in another case, is near too.
    """
    words = list(known)
    lower, low = {each.lower(): each for each in words}, word.lower()
    longer = [each for each in words if word and each.startswith(f'{word}_')]
    near = difflib.get_close_matches(word, words, n=1) or (longer if len(longer) == 1 else [])
    return near[0] if near else lower.get(low, '')


def nearest_key(key: str, known: Iterable[str]) -> str:
    """Return the nearest known key, '' if none is near; the same group alone makes none near."""
    group, dot, last = key.rpartition('.')
    keys = list(known)
    inside = [each.rpartition('.')[2] for each in keys if each.rpartition('.')[0] == group]
    near = nearest(last, inside) if dot and inside else ''
    return f'{group}.{near}' if near else '' if dot and inside else nearest(key, keys)
