# SPDX-License-Identifier: Apache-2.0
"""The text of a robot description, and where each of its elements stands in which file."""
from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from xml.etree.ElementTree import Element, ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser

from propulsion_ros.settings.errors import ConfigError, SourceError
from propulsion_ros.urdf.xml import parse_urdf, path_step

Place = tuple[str, int]
"""Name of a file, and a line, from 1 on."""

_STEP = re.compile(r'/?([\w.:-]+)(?:\[(\w+)=([^\]]*)\])?(?:\[(\d+)\])?')
_ROOTS = ('robot', 'gazebo', 'plugin')
_LINE = re.compile(r'line (\d+), column')


def lines_of(text: str) -> list[int]:
    """Return the line of each element's start tag, in their order; [] for what is no XML."""
    counter = _LineCounter()
    parser = DefusedXMLParser(target=counter)
    counter.parser = parser
    try:
        parser.feed(text)
        parser.close()
    except (ParseError, DefusedXmlException, ValueError, LookupError, RecursionError):
        return []
    return counter.lines


@dataclass(frozen=True)
class Description:
    """A robot description."""

    name: str
    """Name of the file, as errors show it."""
    text: str
    """URDF, xacro already expanded."""
    expanded: Sequence[Place | None] = ()
    """Place of each element of an expanded xacro, in their order; None for one that an expression
    made."""

    def place_of(self, error: ConfigError | str) -> str:
        """Return file and line that an error, or a text that begins with an XML path, is about.

        The line of the nearest element around it, where it has none; the file alone, where nothing
        is known.
        """
        key = error if isinstance(error, str) else error.key
        found = self._found(key)
        if found is None and not isinstance(error, str):
            line = _LINE.search(error.problem)
            return f'{self.name}:{line[1]}' if line and not self.expanded else self.name
        return self.name if found is None else f'{found[0]}:{found[1]}'

    @cached_property
    def _root(self) -> Element | None:
        try:
            return parse_urdf(self.text)
        except SourceError:
            return None

    @cached_property
    def _place_by_id(self) -> dict[int, Place]:
        """Return the place of each element, of the one around it where it has none."""
        found: dict[int, Place] = {}
        if self._root is None:
            return found
        given = iter(self.expanded or [(self.name, line) for line in lines_of(self.text)])
        level: list[tuple[Element, Place | None]] = [(self._root, None)]
        while level:
            element, around = level.pop()
            place = next(given, None) or around
            if place:
                found[id(element)] = place
            level.extend((child, place) for child in reversed(element))
        return found

    def _found(self, path: str) -> Place | None:
        """Return the place of the deepest element that fits the beginning of a path."""
        if self._root is None or not path.startswith(_ROOTS):
            return None
        place, around = self._place_by_id.get(id(self._root)), [self._root]
        for tag, _, value, number in _steps(path.removeprefix('robot')):
            fitting = _fitting([child for parent in around for child in parent], tag, value)
            # Of several alike the last is the one too many.
            around = fitting[-1:] if tag != 'gazebo' else fitting
            if number and int(number) <= len(fitting):
                around = [fitting[int(number) - 1]]
            if not around:
                break
            place = self._place_by_id.get(id(around[-1]), place)
        return place


class _LineCounter:
    """Receives the events of a parser, and keeps the line of each start tag."""

    parser: DefusedXMLParser

    def __init__(self) -> None:
        self.lines: list[int] = []

    def start(self, tag: str, attributes: object) -> None:
        self.lines.append(self.parser.parser.CurrentLineNumber)

    def end(self, tag: str) -> None:
        """Do nothing: only start tags count."""

    def data(self, text: str) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""


def _steps(path: str) -> Iterator[tuple[str, ...]]:
    at = 0
    while found := _STEP.match(path, at):
        yield tuple(group or '' for group in found.groups())
        at = found.end()


def _fitting(elements: Iterable[Element], tag: str, name: str) -> list[Element]:
    """Return the elements that a step of an XML path may mean, without a name those without."""
    alike = [element for element in elements if element.tag == tag]
    if name:
        named = [each for each in alike if name in each.attrib.values()]
        return named or [each for each in alike if name in map(_shown, each.attrib.values())]
    return [each for each in alike if not each.get('name')] or alike


def _shown(name: str) -> str:
    """Return a name as steps of XML paths have it."""
    return path_step('', name)[len('[name='):-1]
