# SPDX-License-Identifier: Apache-2.0
"""Opens all files that a user names, or checks them for a library that opens them itself.

Only regular files are read and written, opening never blocks, and a limit of size holds before and
during a read.
"""
from __future__ import annotations

import difflib
import errno
import gzip
import io
import itertools
import os
import stat
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from propulsion_ros.settings.errors import SourceError, one_line

FILE, FOLDER, ABSENT, UNKNOWN = 'a file', 'a folder', 'absent', 'unknown'
TEXT_LIMIT = 1024 * 1024
"""Most bytes of a file that is read as a whole, for a reader without a limit of its own."""
DEEPEST = 64
"""Deepest nesting of a document in any language."""
LONGEST_LINE = 1024 * 1024
"""Most characters of one line, or one row, of a table."""
TABLE_LIMIT = 4 * 1024**3
"""Most bytes of a table: it is read line by line, so only time is limited."""

_SMALL, _RATIO = 1024 * 1024, 100
"""An archive may unpack to so many bytes, plus so many times its size; real tables reach 30."""
_FEW = 1000  # most names in a folder that are compared with a missing one
_ALIKE = 0.8  # least similarity of a name to a missing one, at most 1
_LONGEST_NAME = 240  # characters of a path in an error
_TAIL = 160  # characters of its end, if its middle is cut
_KINDS = {
    stat.S_IFREG: FILE, stat.S_IFDIR: FOLDER, stat.S_IFIFO: 'a FIFO', stat.S_IFSOCK: 'a socket',
    stat.S_IFCHR: 'a device', stat.S_IFBLK: 'a device',
}
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_LOCK = os.O_RDWR | os.O_CREAT | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_FORMATS = {
    b'\x1f\x8b': 'gzip', b'\x28\xb5\x2f\xfd': 'zstd', b'PK\x03\x04': 'a ZIP archive',
    b'\xff\xfe': 'UTF-16', b'\xfe\xff': 'UTF-16', b'\x89PNG': 'a PNG', b'\x89MCAP': 'MCAP',
}
"""First bytes of files that are often given in place of a text."""


def printable(path: str | Path) -> str:
    """Return a path as errors show it: escaped, on one line, its middle cut if it is long."""
    text = str(path)
    if len(text) > _LONGEST_NAME:
        text = f'{text[:_LONGEST_NAME - _TAIL]} ... {text[-_TAIL:]}'
    return one_line(text)


def kind_of(path: str | Path) -> str:
    """Return the kind of a path: `FILE`, `FOLDER`, `ABSENT`, `UNKNOWN`, or another in words."""
    try:
        return _kind(os.stat(path))
    except FileNotFoundError:
        return ABSENT
    except (OSError, ValueError):
        return UNKNOWN


def expand_user(path: str | Path) -> Path:
    """Return a path with its ``~`` replaced; raise `SourceError` if there is no such user."""
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        raise SourceError(printable(path), f'cannot be read: {error}') from error


@contextmanager
def opened(path: str | Path, limit: int) -> Iterator[io.BufferedReader]:
    """Open a regular file for reading, of at most ``limit`` bytes, whatever size it states.

    Raises `SourceError` that names the file if it is not regular, is too large, or cannot be read;
    also during the read.
    """
    name = printable(path)
    with _descriptor(path, name) as raw:
        status = os.fstat(raw.fileno())
        if _kind(status) != FILE:
            raise SourceError(name, 'cannot be read: Is no longer a regular file')
        if status.st_size > limit:
            raise _too_large(name, limit)
        yield io.BufferedReader(_Limited(raw, limit, name))


@contextmanager
def unpacked(path: str | Path, limit: int) -> Iterator[io.BufferedReader]:
    """Open a file as `opened` does, and unpack it if its name ends in .gz.

    The limit, and a largest ratio, hold for the unpacked bytes; an archive beyond one of them, or a
    damaged one, raises `SourceError` during the read.
    """
    with opened(path, limit) as file:
        if Path(path).suffix != '.gz':
            yield file
            return
        most = _SMALL + _RATIO * file.seek(0, os.SEEK_END)
        file.seek(0)
        with gzip.GzipFile(fileobj=file) as archive:
            why = f'unpacks to over {_RATIO} times its size; unpack it first' * (most < limit)
            yield io.BufferedReader(_Limited(archive, min(limit, most), printable(path), why))


def read_bytes(path: str | Path, limit: int = TEXT_LIMIT) -> bytes:
    """Return the bytes of a file; limit and errors are those of `opened`."""
    with opened(path, limit) as file:
        return file.read()


def read_text(path: str | Path, limit: int = TEXT_LIMIT, errors: str = 'strict') -> str:
    r"""Return the UTF-8 text of a file, without a byte order mark, with ``\n`` for line ends.

    Raises `SourceError` as `opened` does, and for a file that is no text. Of other encodings
    ``errors`` 'strict' refuses all, 'replace' keeps what is UTF-8.
    """
    name, content = printable(path), read_bytes(path, limit)
    try:
        text = content.decode('utf-8', errors)
    except UnicodeDecodeError as error:
        raise _no_text(name, error, error.start, content[:4]) from error
    if '\0' in text:
        raise SourceError(name, f'expected text, got a NUL at offset {content.index(0)}')
    return text.removeprefix('\ufeff').replace('\r\n', '\n').replace('\r', '\n')


def read_named(path: str | Path, limit: int = TEXT_LIMIT, errors: str = 'strict') -> str:
    """Return the text of a file that a setting names; see `read_text`.

    An error names the folder in which a relative name was looked for, not that of the setting.
    """
    try:
        return read_text(path, limit, errors)
    except SourceError as error:
        if Path(path).is_absolute() or kind_of(path) != ABSENT:
            raise
        raise SourceError(error.key, (
            f'{error.problem}; looked for from where the command was started, '
            f'{printable(Path.cwd())}: write a path from there, or a whole one'
        )) from error


def read_lines(path: str | Path, limit: int = TABLE_LIMIT) -> Iterator[str]:
    """Yield the lines of a text with their ends, in constant memory; unpack one that ends in .gz.

    Raises `SourceError` as `read_text` does, and for a line longer than `LONGEST_LINE`.
    """
    name, number = printable(path), 0
    with unpacked(path, limit) as file:
        first = file.peek(4)[:4]
        lines = io.TextIOWrapper(file, encoding='utf-8', newline='')
        while True:
            try:
                line = lines.readline(LONGEST_LINE + 1)
            except UnicodeDecodeError as error:
                begin = file.tell() - len(error.object)
                raise _no_text(name, error, begin + error.start, first) from error
            number += 1
            if not line:
                return
            if '\0' in line:
                raise SourceError(f'{name}:{number}', 'expected text, got a NUL')
            if len(line) > LONGEST_LINE:
                raise SourceError(
                    f'{name}:{number}', f'is a line of more than {LONGEST_LINE} characters'
                )
            yield line if number > 1 else line.removeprefix('\ufeff')


def check_file(path: str | Path) -> None:
    """Refuse a file that a library must not open: it would block, or read without an end.

    Raises `SourceError` that names the file if it is not regular or cannot be read.
    """
    with opened(path, 2**63):
        pass


@contextmanager
def opened_to_write(path: str | Path) -> Iterator[BinaryIO]:
    """Open a regular file for writing, new or emptied; raise OSError if that is impossible."""
    check_target(path)
    with os.fdopen(os.open(path, _WRITE, 0o666), 'wb') as file:
        _check_kind(os.fstat(file.fileno()), path)
        file.truncate()
        yield file


def descriptor_to_lock(path: str | Path) -> int:
    """Return a descriptor of a regular file, created if absent; its content stays."""
    check_target(path)
    return os.open(path, _LOCK, 0o644)


def check_target(path: str | Path) -> None:
    """Raise OSError if no file can have this path: it is no regular file, or has no folder."""
    try:
        _check_kind(os.stat(path), path)
    except FileNotFoundError as error:
        folder = Path(path).parent
        if kind_of(folder) == ABSENT:
            raise FileNotFoundError(
                errno.ENOENT, f'there is no folder {printable(folder)!r}, make it first', str(path)
            ) from error
    except ValueError as error:
        raise OSError(errno.EINVAL, str(error), str(path)) from error


@contextmanager
def writing(path: str | Path) -> Iterator[None]:
    """Name the file in an error of writing: raise `SourceError` in place of an OSError."""
    try:
        yield
    except OSError as error:
        raise SourceError(printable(path), f'cannot be written: {_reason(error)}') from error


def make_folder(path: Path) -> None:
    """Create a folder, and those above it, if absent; raise `SourceError` if impossible."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        raise SourceError(printable(path), 'expected a folder, got a file') from error
    except OSError as error:
        raise SourceError(printable(path), f'cannot be made: {_reason(error)}') from error


def require_absent(path: str | Path) -> None:
    """Raise `SourceError` if the path of a new folder exists already."""
    if kind_of(path) not in (ABSENT, UNKNOWN):
        raise SourceError(printable(path), 'exists already; give another name, or remove it')


def require_target(path: str | Path, *read: str | Path | None) -> None:
    """Raise `SourceError` if a file cannot be written, see `check_target`, or is read too."""
    with writing(path):
        check_target(path)
    for each in read if kind_of(path) == FILE else ():
        if each is not None and kind_of(each) == FILE and os.path.samefile(each, path):
            raise SourceError(printable(path), 'is read too, expected another name')


def save_text(path: str | Path, text: str) -> None:
    """Write a file for a user; raise `SourceError` if it cannot be written."""
    with writing(path):
        write_text(path, text)


def write_text(path: str | Path, text: str) -> None:
    """Write a file in UTF-8; errors are those of `opened_to_write`."""
    with opened_to_write(path) as file:
        file.write(text.encode())


@contextmanager
def replacing(path: Path) -> Iterator[TextIO]:
    """Open a text that replaces a file at the end, unless an error ends the context."""
    check_target(path)
    unfinished = path.with_name(f'{path.name}.unfinished')
    with opened_to_write(unfinished) as file:
        try:
            with io.TextIOWrapper(file, encoding='utf-8', newline='') as text:
                yield text
            unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)


def replace_durably(
    path: Path,
    content: bytes,
    suffix: str = '.new',
    is_wanted: Callable[[], bool] = lambda: True,
) -> None:
    """Replace a file as a whole, on the disk before this returns.

    Raises `OSError` as `opened_to_write` does; the old file stays then.

    Parameters
    ----------
    suffix : str
        Suffix of the new file until it is renamed; each writer needs its own.
    is_wanted : callable
        Called just before the renaming: if it returns False the old file stays.
    """
    check_target(path)
    beside = path.with_name(path.name + suffix)
    with opened_to_write(beside) as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    if not is_wanted():
        beside.unlink(missing_ok=True)
        return
    beside.replace(path)
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        # The new name is on the disk only after its folder is.
        os.fsync(folder)
    finally:
        os.close(folder)


class _Limited(io.RawIOBase):
    """Reads a file up to a limit, since it may grow or state a wrong size."""

    def __init__(
        self, raw: io.FileIO | gzip.GzipFile, limit: int, name: str, problem: str = ''
    ) -> None:
        self._raw, self._left, self._limit, self._name = raw, limit, limit, name
        self._problem = problem

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return self._raw.seek(offset, whence)

    def tell(self) -> int:
        return self._raw.tell()

    def readinto(self, buffer: Any) -> int:
        try:
            count = self._raw.readinto(buffer)
        except (OSError, EOFError, zlib.error) as error:
            raise SourceError(self._name, f'cannot be read: {_reason(error)}') from error
        if count is None:
            raise SourceError(self._name, 'cannot be read: it has nothing to read yet')
        self._left -= count
        if self._left < 0 and self._problem:
            raise SourceError(self._name, self._problem)
        if self._left < 0:
            raise _too_large(self._name, self._limit)
        return count


@contextmanager
def _descriptor(path: str | Path, name: str) -> Iterator[io.FileIO]:
    try:
        # Check the kind first, since opening a device may have an effect.
        _check_kind(os.stat(path), path)
        descriptor = os.open(path, _READ)
    except (OSError, ValueError) as error:
        near = _near(Path(path)) if isinstance(error, FileNotFoundError) else ''
        raise SourceError(name, f'cannot be read: {_reason(error)}{near}') from error
    with io.FileIO(descriptor) as raw:
        yield raw


def _near(path: Path) -> str:
    """Return the name in the same folder that may be meant by a missing one, '' if none is near."""
    try:
        with os.scandir(path.parent) as entries:
            names = {entry.name for entry in itertools.islice(entries, _FEW)} - {path.name}
    except OSError:
        return ''
    near = difflib.get_close_matches(path.name, sorted(names), n=1, cutoff=_ALIKE)
    return f', did you mean {printable(near[0])!r}?' if near else ''


def _kind(status: os.stat_result) -> str:
    return _KINDS.get(stat.S_IFMT(status.st_mode), UNKNOWN)


def _check_kind(status: os.stat_result, path: str | Path) -> None:
    kind = _kind(status)
    if kind == FOLDER:
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if kind != FILE:
        raise OSError(errno.EINVAL, f'Is {kind}, expected a regular file', str(path))


def _too_large(name: str, limit: int) -> SourceError:
    return SourceError(name, f'is larger than {limit} bytes')


def _no_text(name: str, error: UnicodeDecodeError, offset: int, first: bytes) -> SourceError:
    guess = next((f' ({what}?)' for magic, what in _FORMATS.items() if first.startswith(magic)), '')
    return SourceError(
        name, f'expected UTF-8 text, got byte 0x{error.object[error.start]:02x} at offset '
        f'{offset}{guess}'
    )


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
