# SPDX-License-Identifier: Apache-2.0
"""Names of a package that are imported when they are used: a program loads what it needs."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def late(package: str, places: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a package.

    Parameters
    ----------
    package : str
        Its name.
    places : mapping of str to str
        Names, separated by blanks, by the module in the package that has them.
    """
    place_of = {name: place for place, names in places.items() for name in names.split()}

    def look_up(name: str) -> Any:
        if name not in place_of:
            raise AttributeError(f'module {package!r} has no attribute {name!r}')
        return getattr(import_module(f'{package}.{place_of[name]}'), name)

    return look_up
