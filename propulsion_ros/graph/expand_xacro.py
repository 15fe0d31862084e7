# SPDX-License-Identifier: Apache-2.0
"""Expands one xacro file, in a process of its own: its expressions may take any time and memory.

Xacro does not keep the places of elements. So before the expansion each element gets an attribute
with its file and line, which copies by macros keep. It is removed before xacro reads the attributes
of its own elements, and from the result.
"""
from __future__ import annotations

import difflib
import glob
import io
import json
import os
import re
import resource
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from propulsion_ros.settings.errors import SourceError, one_line
from propulsion_ros.settings.files import printable, read_text
from propulsion_ros.settings.imports import how_to_get
from propulsion_ros.urdf.xml import Place, lines_of

_MARK = 'propulsion_ros_place'
_TAKING = ('check_attrs', 'reqd_attrs', 'handle_macro_call')
"""Functions of xacro that read all attributes of their first argument, an element."""
_FAILING = ('eval_all', 'process_include', 'handle_macro_call')
"""Functions of xacro whose first argument is the element at which they fail."""


class XacroPlaces:
    """Follows the places of elements through one expansion.

    Parameters
    ----------
    xacro : module
        The library; within the context its functions are replaced.
    read : callable
        Returns the text of a file.

    Attributes
    ----------
    failed : str
        File and line at which the expansion failed; '' if it did not, or they are unknown.
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
        self._xacro.handle_macro_call = self._with_caller(self._xacro.handle_macro_call)
        return self

    def __exit__(self, *failure: object) -> None:
        for name, function in self._originals.items():
            setattr(self._xacro, name, function)

    def taken_from(self, document: Any) -> str:
        """Return the places of all elements as one line, and remove the marks."""
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

    def _with_caller(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Add the place of the outermost macro call to the marks of elements that it makes."""
        def call(element: Any, *args: Any) -> Any:
            around, place = element.parentNode, _pair(element.getAttribute(_MARK))
            if not (place and element.tagName.startswith('xacro:')):
                return function(element, *args)
            before = {id(node) for node in around.childNodes}
            result = function(element, *args)
            made = [node for node in around.childNodes
                    if id(node) not in before and node.nodeType == node.ELEMENT_NODE]
            for each in (each for node in made for each in _elements(node)):
                own = (_pair(each.getAttribute(_MARK)) or place)[:2]
                # An element after the call, in the same file, is its argument.
                if own[0] != place[0] or own[1] < place[1]:
                    each.setAttribute(_MARK, ':'.join(map(str, (*own, *place[:2]))))
            return result

        return call

    def _following(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Note the place at which the innermost call fails."""
        def call(element: Any, *args: Any) -> Any:
            try:
                return function(element, *args)
            except Exception:
                mark = element.getAttribute(_MARK) or self._seen.get(id(element), '')
                if mark and not self.failed:
                    number, line, *_ = _pair(mark) or (0, 0)
                    self.failed = f'{self._files[number]}:{line}'
                raise

        return call


def places_from(line: str) -> list[Place | None]:
    """Return the places that `XacroPlaces.taken_from` wrote."""
    files, pairs = json.loads(line)
    return [pair and tuple(f'{files[pair[i]]}:{pair[i + 1]}' for i in range(0, len(pair), 2))
            for pair in pairs]


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


def _pair(mark: str) -> list[int] | None:
    """Return file number and line of a mark, and those of its call; None for no mark."""
    numbers = mark.split(':')
    return [*map(int, numbers)] if mark and all(map(str.isdigit, numbers)) else None


SECONDS = 3
"""Limit of the CPU time of the process [s]."""
MEMORY = 256 * 1024**2
"""Limit of the address space of the process [bytes]."""

_OWN = 'propulsion_ros'
_DEEPEST = 32
_HINTS = {
    'is not defined when evaluating':
        '; is it misspelt, or in no <xacro:property> or <xacro:arg>?',
    'Undefined parameters': '; give them as attributes of the call',
    'unbound prefix': '; declare it: <robot ... xmlns:xacro="http://www.ros.org/wiki/xacro">',
    'multiply sequence': '; a <xacro:property> or parameter is a text, not a number without unit',
    'unknown macro name': '; define it by <xacro:macro>, or include its file',
}
"""Advice by words in xacro's errors."""
_DEFINED = re.compile(r'xacro:(?:property|arg)\s+name="(\w+)"')
"""Names of properties and arguments."""
_CONTROL = dict.fromkeys((i for i in range(32) if chr(i) not in '\t\n\r'), '?')
"""Characters that no XML may have, but names of files may."""


def expand(path: str, limit: int, share: str = '') -> tuple[str, str]:
    """Return the places of the elements and the text of a xacro file, expanded in this process.

    Raises `SourceError` with the file, the line if it is known, and the fault.

    Parameters
    ----------
    limit : int
        Most bytes of each file that it includes, and most characters of the result.
    share : str
        Value of ``$(find propulsion_ros)``, which need not be installed; '' if it is unknown.
    """
    places: XacroPlaces | None = None
    texts: list[str] = []
    try:
        # Only the command line and launch need xacro, nodes get the finished text.
        import xacro
        from xacro import substitution_args as words

        find = words._eval_find

        def found(package: str) -> str:
            if share and package == _OWN:
                return share
            try:
                return str(find(package))
            except (ImportError, LookupError, OSError) as error:
                problem = (
                    f'package {package!r} is not installed; expand the file where it is, by xacro '
                    'FILE > robot.urdf, or add its prefix to AMENT_PREFIX_PATH'
                )
                raise SourceError(f'$(find {package})', problem) from error

        words._eval_find = words._eval_dict['find'] = found

        def opened(name: str) -> io.StringIO:
            if len(xacro.filestack) > _DEEPEST:
                raise SourceError(printable(name), f'lies more than {_DEEPEST} includes deep')
            source = _source(name, limit)
            texts.append(source.getvalue())
            return source

        # Xacro's functions use this one in place of the builtin ``open``.
        xacro.open = opened
        with XacroPlaces(xacro, lambda name: read_text(name, limit)) as places:
            document = xacro.process_file(path)
        head = places.taken_from(document)
        text = str(document.toxml()).translate(_CONTROL)
    except ImportError as error:
        raise SourceError(printable(path), f'{error}; {how_to_get("xacro")}') from error
    except Exception as error:
        # Expressions may raise anything.
        where = places.failed if places else ''
        raise SourceError(where or printable(path), _reason(error, texts)) from error
    if len(text) > limit:
        raise SourceError(printable(path), f'expands to more than {limit} characters')
    return head, text


def main(path: str, limit: int, share: str = '') -> None:
    """Print places and text of an expanded file, or place and reason of a fault and exit with 1."""
    # Ctrl-C reaches this process too, but the waiting process reports it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # The waiting process may end first, which is no error either.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        (head, text), code = expand(path, limit, share), 0
    except SourceError as error:
        head, text, code = one_line(error.key), one_line(error.problem), 1
    sys.stdout.buffer.write(f'{head}\n{text}'.encode('utf-8', 'replace'))
    sys.stdout.buffer.flush()
    sys.exit(code)


def _reason(error: BaseException, texts: Sequence[str]) -> str:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, SourceError):
            return str(cause)
        if isinstance(cause, OSError) and cause.filename:
            folder, name = os.path.split(os.path.normpath(cause.filename))
            near = _nearest(name, glob.glob('*', root_dir=folder), 0.8)
            return f'cannot include {printable(os.path.join(folder, name))}: {cause.strerror}' + (
                near or '; names are relative to the file that includes'
            )
        if isinstance(cause, MemoryError):
            return f'takes more than {MEMORY} bytes to expand'
        # Xacro keeps the exception that it caught in an attribute of this name.
        cause = getattr(cause, 'exc', None)
    text = ' '.join(str(error).split()) or type(error).__name__
    unknown = re.match("name '(.*?)'", text)
    near = _nearest(unknown[1], _DEFINED.findall(' '.join(texts))) if unknown else ''
    return text + (near or next((hint for words, hint in _HINTS.items() if words in text), ''))


def _nearest(word: str, known: Sequence[str], cutoff: float = 0.6) -> str:
    """Return the same as `flat.suggestion`, which takes long to import."""
    near = difflib.get_close_matches(word, sorted(known), 1, cutoff)
    return f", did you mean '{near[0]}'?" if near else ''


def _source(name: str, limit: int) -> io.StringIO:
    """Return a file for xacro, which skips an optional one if this raises OSError."""
    try:
        return io.StringIO(read_text(name, limit))
    except SourceError as error:
        cause = error.__cause__
        if isinstance(cause, OSError):
            raise OSError(cause.errno, cause.strerror, name) from error
        raise
