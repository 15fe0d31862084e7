# SPDX-License-Identifier: Apache-2.0
"""Where the elements of an expanded xacro stand in its files, which xacro itself does not keep.

Before the expansion each element gets an attribute with its file and line; copies that macros make
have it too. It is taken away before xacro looks at the attributes of its own elements, and from the
result.
"""
from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from typing import Any

from propulsion_ros.settings.files import printable
from propulsion_ros.urdf.description import Place, lines_of

_MARK = 'propulsion_ros_place'
_TAKING = ('check_attrs', 'reqd_attrs', 'handle_macro_call')
"""Functions of the library that look at all attributes of the element that they take first."""
_FAILING = ('eval_all', 'process_include', 'handle_macro_call')
"""Functions of the library that take the element that fails first."""


class XacroPlaces:
    """Follows elements through one expansion.

    Parameters
    ----------
    xacro : module
        The library; inside of the context its functions are replaced.
    read : callable
        Returns the text of a file.

    Attributes
    ----------
    failed : str
        File and line at which the expansion failed, '' where it did not or that is not known.
    """

    def __init__(self, xacro: Any, read: Callable[[str], str]) -> None:
        self._xacro, self._read, self.failed = xacro, read, ''
        self._files: list[str] = []
        self._seen: dict[int, str] = {}
        self._originals = {
            name: getattr(xacro, name) for name in ('parse', *_TAKING, *_FAILING)
        }

    def __enter__(self) -> XacroPlaces:
        self._xacro.parse = self._parsed
        for names, wrapped in ((_TAKING, self._without_mark), (_FAILING, self._following)):
            for name in names:
                setattr(self._xacro, name, wrapped(getattr(self._xacro, name)))
        return self

    def __exit__(self, *failure: object) -> None:
        for name, function in self._originals.items():
            setattr(self._xacro, name, function)

    def taken_from(self, document: Any) -> str:
        """Return the places of all elements as one line, and take the marks away."""
        marks = [_take(element) for element in _elements(document.documentElement)]
        return json.dumps([self._files, [_pair(mark) for mark in marks]])

    def _parsed(self, text: Any, filename: str) -> Any:
        document = self._originals['parse'](text, filename)
        number = len(self._files)
        self._files.append(printable(os.path.normpath(filename)))
        lines = lines_of(self._read(filename))
        for element, line in zip(_elements(document.documentElement), lines, strict=False):
            element.setAttribute(_MARK, f'{number}:{line}')
        return document

    def _without_mark(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(element: Any, *args: Any) -> Any:
            if element.tagName.startswith('xacro:'):
                mark = _take(element)
                self._seen[id(element)] = mark or self._seen.get(id(element), '')
            return function(element, *args)

        return call

    def _following(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Keep where the innermost call fails."""
        def call(element: Any, *args: Any) -> Any:
            try:
                return function(element, *args)
            except Exception:
                mark = element.getAttribute(_MARK) or self._seen.get(id(element), '')
                if mark and not self.failed:
                    number, line = _pair(mark) or (0, 0)
                    self.failed = f'{self._files[number]}:{line}'
                raise

        return call


def places_from(line: str) -> list[Place | None]:
    """Return the places that `XacroPlaces.taken_from` wrote."""
    files, pairs = json.loads(line)
    return [None if pair is None else (files[pair[0]], pair[1]) for pair in pairs]


def _elements(root: Any) -> Iterator[Any]:
    waiting = [root]
    while waiting:
        element = waiting.pop()
        yield element
        children = [node for node in element.childNodes if node.nodeType == node.ELEMENT_NODE]
        waiting.extend(reversed(children))


def _take(element: Any) -> str:
    mark: str = element.getAttribute(_MARK)
    if mark:
        element.removeAttribute(_MARK)
    return mark


def _pair(mark: str) -> tuple[int, int] | None:
    """Return number of the file and line of a mark, None for none."""
    number, _, line = mark.partition(':')
    return (int(number), int(line)) if number.isdigit() and line.isdigit() else None
