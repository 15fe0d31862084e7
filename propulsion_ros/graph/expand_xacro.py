# SPDX-License-Identifier: Apache-2.0
"""Expands one xacro file, in a process of its own: its expressions may take any time and memory."""
from __future__ import annotations

import io
import resource
import signal
import sys

from propulsion_ros.settings.errors import SourceError, one_line
from propulsion_ros.settings.files import printable, read_text

SECONDS = 3
"""CPU time of the process."""
MEMORY = 256 * 1024**2
"""Address space of the process [bytes]."""

_DEEPEST = 32
_CONTROL = dict.fromkeys((i for i in range(32) if chr(i) not in '\t\n\r'), '?')
"""What no XML may hold; names of files may."""


def expand(path: str, limit: int) -> str:
    """Return the text of a xacro file, expanded in this process.

    Parameters
    ----------
    path : str
        The file.
    limit : int
        Bytes of each file that it includes, and characters of the result.

    Raises
    ------
    SourceError
        Naming the file and what is wrong with it or with what it includes.
    """
    try:
        # Only the command line and launch need xacro, nodes get the finished text.
        import xacro

        def opened(name: str) -> io.StringIO:
            if len(xacro.filestack) > _DEEPEST:
                raise SourceError(printable(name), f'lies more than {_DEEPEST} includes deep')
            return _source(name, limit)

        # The library's functions find it in place of the builtin one.
        xacro.open = opened
        text = str(xacro.process_file(path).toxml()).translate(_CONTROL)
    except Exception as error:
        # Expressions raise whatever they like.
        raise SourceError(printable(path), _reason(error)) from error
    if len(text) > limit:
        raise SourceError(printable(path), f'expands to more than {limit} characters')
    return text


def main(path: str, limit: int) -> None:
    """Print an expanded file, or what is wrong with it and exit with code 1."""
    # Ctrl-C reaches this process too; the one that waits for it reports that.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # Nor is it an error that the one that waits has ended.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        text, code = expand(path, limit), 0
    except SourceError as error:
        text, code = one_line(error.problem), 1
    sys.stdout.buffer.write(text.encode('utf-8', 'replace'))
    sys.stdout.buffer.flush()
    sys.exit(code)


def _reason(error: BaseException) -> str:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, MemoryError):
            return f'takes more than {MEMORY} bytes to expand'
        # The library keeps what it caught in an attribute of this name.
        cause = getattr(cause, 'exc', None)
    return ' '.join(str(error).split()) or type(error).__name__


def _source(name: str, limit: int) -> io.StringIO:
    """Return a file for the library, which skips an optional one where that raises OSError."""
    try:
        return io.StringIO(read_text(name, limit))
    except SourceError as error:
        cause = error.__cause__
        if isinstance(cause, OSError):
            raise OSError(cause.errno, cause.strerror, name) from error
        raise
