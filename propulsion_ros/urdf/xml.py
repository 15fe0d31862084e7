# SPDX-License-Identifier: Apache-2.0
"""Robot descriptions: safe XML, lines of its elements, blocks as trees of tags, XML paths."""
from __future__ import annotations

import functools
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from types import SimpleNamespace
from xml.etree.ElementTree import Element, ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser, fromstring

from propulsion_ros.settings.errors import ConfigError, SourceError
from propulsion_ros.settings.files import DEEPEST
from propulsion_ros.settings.hints import number_hint

SIZE_LIMIT = 4 * 1024 * 1024
"""Most characters, and bytes of a file; the largest descriptions in use have a tenth of it."""

ELEMENT_LIMIT = 250_000
"""Most elements: each takes half a kilobyte of memory, but as few as four characters."""

_HINTS = {'mismatched': '; is each tag above closed?',
          'invalid token': '; does a quote or > lack there or in the line above?'}
_SHOWN = 80
"""Most characters of a text in an error."""
Place = tuple[str, ...]
"""File and line, from 1 on, of an element, and those of the call of the macro that made it."""

_STEP = re.compile(r'/?([\w.:-]+)(?:\[(\w+)=([^\]]*)\])?(?:\[(\d+)\])?')
_ROOTS = ('robot', 'gazebo', 'plugin')
_LINE = re.compile(r'line (\d+), column')
_NAMES = re.compile(r"\[[^\]]*\]|'[^']*'")


@functools.lru_cache(maxsize=2)
def parse_urdf(xml: str) -> Element:
    """Return the root element of a robot description, which is shared: copy it to change it.

    All nodes and readers of a process have the same text, which is parsed only once.
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
    """Return the root element of an untrusted XML, with at most so many elements.

    Raises `SourceError` with a name for text that is no XML, has a DTD or entities, or is too deep.
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
        hint = next((hint for word, hint in _HINTS.items() if word in str(error)), '')
        raise SourceError(name, f'not well-formed XML: {error}{hint}') from error
    level, depth = [root], 0
    while level:
        depth += 1
        if depth > DEEPEST:
            raise SourceError(name, f'elements are nested deeper than {DEEPEST}')
        level = [child for element in level for child in element]
    return root


def quoted(text: str) -> str:
    """Return a text as errors show it: quoted, on one line, shortened."""
    return repr(text if len(text) <= _SHOWN else f'{text[:_SHOWN]}...')


def path_step(tag: str, name: str | None) -> str:
    """Return one step of an XML path, on one line whatever the name."""
    return f'{tag}[name={_shown(name)}]' if name else tag


def _shown(name: str) -> str:
    """Return a name as it is in the steps of XML paths."""
    return ' '.join(name[:_SHOWN].split())


def name_of(element: Element, path: str) -> str:
    """Return the name attribute, or raise `SourceError` with ``path`` if there is none."""
    name = element.get('name')
    if not name:
        raise SourceError(path, 'expected a name attribute')
    return name


def alike(notes: Iterable[str]) -> tuple[str, ...]:
    """Return the first of the notes that differ only in names, with the number of the others."""
    found: dict[str, list[str]] = {}
    for note in notes:
        found.setdefault(_NAMES.sub('', note), []).append(note)
    return tuple(f'{own[0]}; {len(own) - 1} more like it' if own[1:] else own[0]
                 for own in found.values())


def numbers(
    text: str | None,
    path: str,
    count: int | None = None,
    largest: float = math.inf,
    meaning: str = '',
    unit: str | None = None,
) -> list[float]:
    """Return the finite numbers of a whitespace-separated text.

    Raises `SourceError` with ``path`` for text that is no number, is too large, or a wrong count.

    Parameters
    ----------
    text : str or None
        The text; None for none.
    count : int, optional
        Expected count of numbers.
    largest : float
        Bound of their sizes.
    meaning : str
        Meaning of the numbers, for the error of a text that gives no other hint.
    """
    values = []
    for word in (text or '').split():
        try:
            # Python also reads 1_4 and digits of other scripts.
            value = float(word if word.isascii() and '_' not in word else 'no number')
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
        hint = '; write x, y and z' if count == 3 else ''
        raise SourceError(path, f'expected {count} {plural}, got {len(values)}{hint}')
    return values


def digits(tag: Tag | None, path: str, what: str) -> int:
    """Return the number in a tag; raise `SourceError` for another text, with ``path`` for none."""
    text = tag.text if tag else ''
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise SourceError(
            tag.path if tag else path, f'expected {what} of digits, got {quoted(text)}'
        )
    return int(text)


_READ = ('name', 'filename')
"""Attributes that are read; all other values are in tags."""

_UNITS = ('unit', 'units')


@dataclass(frozen=True)
class Tag:
    """One element of a plugin block."""

    key: str
    """Its meaning: a parameter, ``joint``, ``link``, or the element of an actuator."""
    text: str
    """Its text, stripped."""
    path: str
    """Its XML path in the robot description."""
    name: str = ''
    """Its name attribute, '' for none."""
    children: tuple[Tag, ...] = ()
    """Tags inside."""
    unread: tuple[str, ...] = ()
    """Attributes without effect."""
    notes: tuple[str, ...] = ()
    """Other parts without effect, a line each."""

    def all(self, key: str) -> list[Tag]:
        """Return the children with this key."""
        return [child for child in self.children if child.key == key]

    def unread_notes(self) -> Iterator[str]:
        """Yield a line for each part without effect, in this tag and inside."""
        yield from self.notes
        for key in self.unread:
            hint = 'values are in SI units' if key in _UNITS else f'write a tag, <{key}>'
            if key == 'value':
                hint = f'write it as the text of <{self.key}>'
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
    """Return an element with all tags inside; repeated ones are counted in their paths."""
    children = list(element)
    steps = list(steps_of(children))
    return Tag(
        element.tag, (element.text or '').strip(), path, element.get('name', ''),
        tuple(
            read_tag(child, f'{path}/{step}') for child, step in zip(children, steps, strict=True)
        ),
        tuple(key for key in element.keys() if key not in _READ),  # noqa: SIM118  an Element
    )


def steps_of(elements: list[Element]) -> Iterable[str]:
    """Yield the last step of the path of each element: by name, or else by number."""
    unnamed = Counter(element.tag for element in elements if not element.get('name'))
    seen: Counter[str] = Counter()
    for element in elements:
        name = element.get('name')
        if not name:
            seen[element.tag] += 1
        repeated = not name and unnamed[element.tag] > 1
        yield f'{element.tag}[{seen[element.tag]}]' if repeated else path_step(element.tag, name)


def lines_of(text: str) -> list[int]:
    """Return the line of each element's start tag, in order; [] for text that is no XML."""
    lines: list[int] = []
    parser: DefusedXMLParser = DefusedXMLParser(target=SimpleNamespace(
        start=lambda tag, attributes: lines.append(parser.parser.CurrentLineNumber)
    ))
    try:
        parser.feed(text)
        parser.close()
    except (ParseError, DefusedXmlException, ValueError, LookupError, RecursionError):
        return []
    return lines


@dataclass(frozen=True)
class Description:
    """A robot description."""

    name: str
    """Name of the file, as errors show it."""
    text: str
    """URDF, xacro already expanded."""
    expanded: Sequence[Place | None] = ()
    """Place of each element of an expanded xacro, in order; None for one that an expression
    made."""

    def place_of(self, error: ConfigError | str) -> str:
        """Return file and line of an error, or of a text that begins with an XML path.

        If its element has no line, that of the nearest element around it is returned; if no line is
        known, only the file.
        """
        key = error if isinstance(error, str) else error.key
        found = self._found(key)
        if found is None and not isinstance(error, str):
            line = _LINE.search(error.problem)
            return f'{self.name}:{line[1]}' if line and not self.expanded else self.name
        return self.name if found is None else ': called at '.join(found)

    @contextmanager
    def located(self) -> Iterator[None]:
        """Add file and line to an error; see `place_of`."""
        try:
            yield
        except ConfigError as error:
            raise SourceError(self.place_of(error), str(error)) from error

    @cached_property
    def _root(self) -> Element | None:
        try:
            return parse_urdf(self.text)
        except SourceError:
            return None

    @cached_property
    def _place_by_id(self) -> dict[int, Place]:
        """Return the place of each element, or of the element around it if it has none."""
        found: dict[int, Place] = {}
        if self._root is None:
            return found
        given = iter(self.expanded or [(f'{self.name}:{line}',) for line in lines_of(self.text)])
        level: list[tuple[Element, Place | None]] = [(self._root, None)]
        while level:
            element, around = level.pop()
            place = next(given, None) or around
            if place:
                found[id(element)] = place
            level.extend((child, place) for child in reversed(element))
        return found

    def _found(self, path: str) -> Place | None:
        """Return the place of the deepest element that matches the beginning of a path."""
        if self._root is None or not path.startswith(_ROOTS):
            return None
        place, around = self._place_by_id.get(id(self._root)), [self._root]
        for tag, _, value, number in _steps_in(path.removeprefix('robot')):
            fitting = _fitting([child for parent in around for child in parent], tag, value)
            # Of several equal elements, the last one is the one too many.
            around = fitting[-1:] if tag != 'gazebo' else fitting
            if number and int(number) <= len(fitting):
                around = [fitting[int(number) - 1]]
            if not around:
                break
            place = self._place_by_id.get(id(around[-1]), place)
        return place


def _steps_in(path: str) -> Iterator[tuple[str, ...]]:
    at = 0
    while found := _STEP.match(path, at):
        yield tuple(group or '' for group in found.groups())
        at = found.end()


def _fitting(elements: Iterable[Element], tag: str, name: str) -> list[Element]:
    """Return the elements that a step of an XML path may mean; without a name, unnamed ones."""
    alike = [element for element in elements if element.tag == tag]
    if name:
        named = [each for each in alike if name in each.attrib.values()]
        return named or [each for each in alike if name in map(_shown, each.attrib.values())]
    return [each for each in alike if not each.get('name')] or alike
