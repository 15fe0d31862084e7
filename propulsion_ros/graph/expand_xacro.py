# SPDX-License-Identifier: Apache-2.0
"""Expands one xacro file, in a process of its own: its expressions may take any time and memory."""
from __future__ import annotations

import io
import os
import resource
import signal
import sys

from propulsion_ros.graph.xacro_places import XacroPlaces
from propulsion_ros.settings.errors import SourceError, one_line
from propulsion_ros.settings.files import printable, read_text
from propulsion_ros.settings.optional_packages import how_to_get

SECONDS = 3
"""CPU time of the process."""
MEMORY = 256 * 1024**2
"""Address space of the process [bytes]."""

_DEEPEST = 32
_HINTS = {
    'is not defined when evaluating': '; define it by <xacro:property> or <xacro:arg>',
    'Undefined parameters': '; give them as attributes of the call',
    'unbound prefix': '; declare it: <robot ... xmlns:xacro="http://www.ros.org/wiki/xacro">',
    'unknown macro name': '; define it by <xacro:macro>, or include its file',
}
"""What to do, by the library's words."""
_CONTROL = dict.fromkeys((i for i in range(32) if chr(i) not in '\t\n\r'), '?')
"""What no XML may hold; names of files may."""


def expand(path: str, limit: int) -> tuple[str, str]:
    """Return the text of a xacro file, expanded in this process, after the places of its elements.

    Parameters
    ----------
    path : str
        The file.
    limit : int
        Bytes of each file that it includes, and characters of the result.

    Raises
    ------
    SourceError
        Naming the file, the line where it is known, and what is wrong there.
    """
    places: XacroPlaces | None = None
    try:
        # Only the command line and launch need xacro, nodes get the finished text.
        import xacro

        def opened(name: str) -> io.StringIO:
            if len(xacro.filestack) > _DEEPEST:
                raise SourceError(printable(name), f'lies more than {_DEEPEST} includes deep')
            return _source(name, limit)

        # The library's functions find it in place of the builtin one.
        xacro.open = opened
        with XacroPlaces(xacro, lambda name: read_text(name, limit)) as places:
            document = xacro.process_file(path)
        head = places.taken_from(document)
        text = str(document.toxml()).translate(_CONTROL)
    except ImportError as error:
        raise SourceError(printable(path), f'{error}; {how_to_get("xacro")}') from error
    except Exception as error:
        # Expressions raise whatever they like.
        where = places.failed if places else ''
        raise SourceError(where or printable(path), _reason(error)) from error
    if len(text) > limit:
        raise SourceError(printable(path), f'expands to more than {limit} characters')
    return head, text


def main(path: str, limit: int) -> None:
    """Print places and text of an expanded file, or place and reason of a fault and exit with 1."""
    # Ctrl-C reaches this process too; the one that waits for it reports that.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # Nor is it an error that the one that waits has ended.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        (head, text), code = expand(path, limit), 0
    except SourceError as error:
        head, text, code = one_line(error.key), one_line(error.problem), 1
    sys.stdout.buffer.write(f'{head}\n{text}'.encode('utf-8', 'replace'))
    sys.stdout.buffer.flush()
    sys.exit(code)


def _reason(error: BaseException) -> str:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and cause.filename:
            return (
                f'cannot include {printable(os.path.normpath(cause.filename))}: {cause.strerror}; '
                'names are relative to the file that includes'
            )
        if isinstance(cause, MemoryError):
            return f'takes more than {MEMORY} bytes to expand'
        # The library keeps what it caught in an attribute of this name.
        cause = getattr(cause, 'exc', None)
    text = ' '.join(str(error).split()) or type(error).__name__
    return text + next((hint for words, hint in _HINTS.items() if words in text), '')


def _source(name: str, limit: int) -> io.StringIO:
    """Return a file for the library, which skips an optional one where that raises OSError."""
    try:
        return io.StringIO(read_text(name, limit))
    except SourceError as error:
        cause = error.__cause__
        if isinstance(cause, OSError):
            raise OSError(cause.errno, cause.strerror, name) from error
        raise
