# SPDX-License-Identifier: Apache-2.0
"""Plugin blocks as trees of tags, each with the XML path that errors name."""
from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from propulsion_ros.settings.errors import SourceError
from propulsion_ros.urdf.xml import path_step

_READ = ('name', 'filename')
"""Attributes that are read; all else is in tags."""

_UNITS = ('unit', 'units')


@dataclass(frozen=True)
class Tag:
    """One element of a plugin block."""

    key: str
    """What it gives: a parameter, ``joint``, ``link``, or the element of an actuator."""
    text: str
    """Its text, stripped."""
    path: str
    """Its XML path in the robot description."""
    name: str = ''
    """Its name attribute, '' for none."""
    children: tuple[Tag, ...] = ()
    """What is inside."""
    unread: tuple[str, ...] = ()
    """Attributes without effect."""
    notes: tuple[str, ...] = ()
    """What else of it has no effect, a line each."""

    def all(self, key: str) -> list[Tag]:
        """Return the children with this key."""
        return [child for child in self.children if child.key == key]

    def unread_notes(self) -> Iterator[str]:
        """Yield a line for each thing without effect, here and inside."""
        yield from self.notes
        for key in self.unread:
            hint = 'values are in SI units' if key in _UNITS else f'write a tag, <{key}>'
            yield f'{self.path}/@{key} has no effect: {hint}'
        for child in self.children:
            yield from child.unread_notes()

    def one(self, key: str) -> Tag | None:
        """Return the only child with this key, None for none; raise `SourceError` for several."""
        found = self.all(key)
        if len(found) > 1:
            raise SourceError(found[1].path, 'is given twice')
        return found[0] if found else None


def read_tag(element: Element, path: str) -> Tag:
    """Return an element with all that is inside; repeated ones are counted in their paths."""
    children = list(element)
    steps = list(_steps(children))
    return Tag(
        element.tag, (element.text or '').strip(), path, element.get('name', ''),
        tuple(
            read_tag(child, f'{path}/{step}') for child, step in zip(children, steps, strict=True)
        ),
        tuple(key for key in element.keys() if key not in _READ),  # noqa: SIM118  an Element
    )


def _steps(elements: list[Element]) -> Iterable[str]:
    """Yield the last step of the path of each element: by name, or else by number."""
    unnamed = Counter(element.tag for element in elements if not element.get('name'))
    seen: Counter[str] = Counter()
    for element in elements:
        name = element.get('name')
        if not name:
            seen[element.tag] += 1
        repeated = not name and unnamed[element.tag] > 1
        yield f'{element.tag}[{seen[element.tag]}]' if repeated else path_step(element.tag, name)
