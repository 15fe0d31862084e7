# SPDX-License-Identifier: Apache-2.0
"""The registry: actuator families of this package, and those that installed packages add."""
from __future__ import annotations

import functools
import importlib
import sys
from collections import UserDict
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from propulsion_ros.models.common.facts import FamilyFacts
from propulsion_ros.models.common.family import Family
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.flat import known_hint, parameters_of
from propulsion_ros.settings.quantity import names_field

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


class _Families(UserDict[str, Any]):
    """Classes by name, from the places where they stand: one is imported when it is looked up.

    A node or a file of parameters has one of them, and all take a third of a second to import.
    """

    def __getitem__(self, name: str) -> type[Family]:
        found: str | type[Family] = super().__getitem__(name)
        if isinstance(found, str):
            module, _, cls = found.partition(':')
            family: type[Family] = getattr(importlib.import_module(module, __package__), cls)
            self[name] = family
            return family
        return found


FAMILIES: Mapping[str, type[Family]] = _Families({
    'boosters': '.boosters.boosters:Boosters',
    'rotors': '.rotors.rotors:Rotors',
    'thrusters': '.thrusters.thrusters:Thrusters',
    'fins': '.fins.fins:Fins',
    'jets': '.jets.jets:Jets',
    'fam': '.fam.fam:Fam',
    'inverse_fam': '.fam.inverse_fam:InverseFam',
    'propulsion_modules': '.fam.propulsion_module:PropulsionModules',
})
"""The actuator families of this package; `REGISTRY` knows those of others too."""

GROUP = 'propulsion_ros.families'
"""Entry points of a Python package that are families by their names."""

_METHODS = ('check_command', 'step', 'reset', 'rest', 'link_wrenches')


class Registry(Mapping[str, type[Family]]):
    """Every actuator family by the name that parameters and plugin blocks have for it.

    A name that this package does not have is looked up in the installed packages, and only the
    family with that name is imported. Raises `ConfigError` where two families have one name, or a
    family cannot be imported or is none.
    """

    def __getitem__(self, name: str) -> type[Family]:
        return FAMILIES[name] if name in FAMILIES else _load(_installed()[name])

    def __contains__(self, name: object) -> bool:
        return name in FAMILIES or name in _installed()

    def __iter__(self) -> Iterator[str]:
        yield from FAMILIES
        yield from _installed()

    def __len__(self) -> int:
        return len(FAMILIES) + len(_installed())

    def check(self) -> None:
        """Look through the installed packages; raise `ConfigError` where a name is taken.

        A look-up of this package's own families does not do so.
        """
        _installed()

    def require(self, name: str) -> type[Family]:
        """Return a family; raise `ConfigError` where there is none of that name."""
        if name not in self:
            raise ConfigError('family', f'unknown family {name!r}{self.hint(name)}')
        return self[name]

    def hint(self, name: str) -> str:
        """Return the end of an error about a name that is no family: those that are."""
        return known_hint(name, sorted(self))


REGISTRY = Registry()
"""The one registry; `FAMILIES` is the part of it that this package brings."""


def _installed() -> Mapping[str, EntryPoint]:
    """Return the entry points of installed packages by the names of their families."""
    return _found_on(tuple(sys.path))


@functools.lru_cache(maxsize=1)
def _found_on(path: tuple[str, ...]) -> Mapping[str, EntryPoint]:
    """Look through what is installed on Python's path, once as long as that does not change."""
    # Not needed for a family of this package, as most are.
    from importlib.metadata import entry_points

    try:
        entries = entry_points(group=GROUP)
    except Exception as error:
        # Metadata that somebody wrote by hand may make it raise anything.
        raise ConfigError(
            'family', f'installed packages cannot be read: {type(error).__name__}: {error}'
        ) from error
    found: dict[str, EntryPoint] = {}
    for entry in entries:
        if entry.name in FAMILIES or entry.name in found:
            first = _origin(found[entry.name]) if entry.name in found else 'propulsion_ros itself'
            raise ConfigError(
                'family', f'{entry.name!r} is one of {first} and one of {_origin(entry)}'
            )
        found[entry.name] = entry
    return found


def _origin(entry: EntryPoint) -> str:
    package = entry.dist.name if entry.dist else 'unknown'
    return f'package {package} ({entry.value})'


def _load(entry: EntryPoint) -> type[Family]:
    try:
        family: type[Family] = entry.load()
        list(parameters_of(family.Params))
    except Exception as error:
        # A module of others may raise anything.
        reason = f'{type(error).__name__}: {error}'
        raise ConfigError(
            'family', f'{entry.name!r} of {_origin(entry)} cannot be used: {reason}'
        ) from error
    _check(family, f'{entry.name!r} of {_origin(entry)}')
    return family


def _check(family: type[Family], who: str) -> None:
    """Raise `ConfigError` where a class of another package lacks what a family must have."""
    lacking = [name for name in _METHODS if not callable(getattr(family, name, None))]
    if not isinstance(getattr(family, 'facts', None), FamilyFacts):
        lacking.append('facts')
    if lacking:
        raise ConfigError('family', f'{who} is no family: lacks {", ".join(lacking)}')
    if names_field(family.Params) and not family.facts.tag:
        raise ConfigError('family', f'{who} is no family: its facts have no tag for its names')
