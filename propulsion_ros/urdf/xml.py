# SPDX-License-Identifier: Apache-2.0
"""Robot descriptions as safe XML, blocks as trees of tags, and the paths that errors name."""
from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from xml.etree.ElementTree import Element, ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import fromstring

from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.files import DEEPEST
from propulsion_ros.settings.hints import number_hint

SIZE_LIMIT = 4 * 1024 * 1024
"""Characters, and bytes of a file; the largest descriptions in use have a tenth of it."""

ELEMENT_LIMIT = 250_000
"""Each takes half a kilobyte of memory, and as few as four characters."""

_SHOWN = 80
"""Characters of a text that errors show."""


@functools.lru_cache(maxsize=2)
def parse_urdf(xml: str) -> Element:
    """Return the root element of a robot description, for all who read it: copy it to change it.

    Each node of a process and each reader of a case has the same text, which is parsed once.
    Raises `SourceError` for text that is not XML, that has a DTD or entities, or that is too large
    or too deep.
    """
    if len(xml) > SIZE_LIMIT:
        raise SourceError('robot', f'{len(xml)} characters, expected at most {SIZE_LIMIT}')
    if '<' not in xml:
        raise SourceError(
            'robot', f'expected the text of a URDF, got {quoted(xml)}; does it begin with <robot>?'
        )
    root = parse_xml('robot', xml, ELEMENT_LIMIT)
    if root.tag != 'robot':
        kind = '; an SDF is no URDF, and goes to Gazebo: see docs/gazebo.md'
        raise SourceError(
            root.tag, f'expected <robot> as the root element{kind * (root.tag == "sdf")}'
        )
    return root


def parse_xml(name: str, content: str | bytes, most: int) -> Element:
    """Return the root element of an XML of anyone, with at most so many elements.

    Raises `SourceError` with a name, for what is not XML, has a DTD or entities, or is too deep.
    """
    begin, end = ('<', '</') if isinstance(content, str) else (b'<', b'</')
    count = content.count(begin) - content.count(end)  # type: ignore[arg-type]
    if count > most:
        raise SourceError(name, f'{count} elements, expected at most {most}')
    try:
        root: Element = fromstring(content, forbid_dtd=True)
    except DefusedXmlException as error:
        kind = type(error).__name__
        raise SourceError(
            name, f'DTDs and entities are refused, remove <!DOCTYPE> ({kind})'
        ) from error
    except (ParseError, ValueError, LookupError, RecursionError) as error:
        hint = '; is each tag above closed?' if 'mismatched' in str(error) else ''
        raise SourceError(name, f'not well-formed XML: {error}{hint}') from error
    level, depth = [root], 0
    while level:
        depth += 1
        if depth > DEEPEST:
            raise SourceError(name, f'elements are nested deeper than {DEEPEST}')
        level = [child for element in level for child in element]
    return root


def quoted(text: str) -> str:
    """Return a text as errors show it: quoted, on one line, not for ever."""
    return repr(text if len(text) <= _SHOWN else f'{text[:_SHOWN]}...')


def path_step(tag: str, name: str | None) -> str:
    """Return one step of an XML path, on one line whatever the name."""
    return f'{tag}[name={" ".join(name[:_SHOWN].split())}]' if name else tag


def name_of(element: Element, path: str) -> str:
    """Return the name attribute, or raise `SourceError` naming ``path`` where there is none."""
    name = element.get('name')
    if not name:
        raise SourceError(path, 'expected a name attribute')
    return name


def numbers(
    text: str | None,
    path: str,
    count: int | None = None,
    largest: float = math.inf,
    meaning: str = '',
    unit: str | None = None,
) -> list[float]:
    """Return the finite numbers of a whitespace-separated text.

    Parameters
    ----------
    text : str or None
        The text; None for none.
    path : str
        Where it stands, for the error.
    count : int, optional
        How many numbers there must be.
    largest : float
        Bound of their sizes.
    meaning : str
        What they are, for the error of a text that gives no other hint.
    unit : str, optional
        What they are in.

    Raises
    ------
    SourceError
        Naming ``path``, for what is not a number, too large, or the wrong count.
    """
    values = []
    for word in (text or '').split():
        try:
            value = float(word)
        except ValueError:
            given = text or ''
            hint = number_hint(given, unit) or (meaning and f'; {meaning}')
            raise SourceError(path, f'expected a number, got {quoted(given)}{hint}') from None
        if not math.isfinite(value):
            raise SourceError(path, f'{word[:_SHOWN]} is not finite')
        if abs(value) > largest:
            raise SourceError(path, f'expected at most {largest:g}, got {word[:_SHOWN]}')
        values.append(value)
    if count is not None and len(values) != count:
        plural = 'number' if count == 1 else 'numbers'
        raise SourceError(path, f'expected {count} {plural}, got {len(values)}')
    return values


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
