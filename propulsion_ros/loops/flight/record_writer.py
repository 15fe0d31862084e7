# SPDX-License-Identifier: Apache-2.0
"""The one thread that writes the record of a flight."""
from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from propulsion_ros.loops.flight.record_file import FlightRecord, encode
from propulsion_ros.settings.files import replace_durably

_RETRY = 0.5
"""Between two attempts to write what could not be written [s]."""
_LONGEST_END = 1.0
"""How long an end waits for the last write [s]; a disk that hangs holds no process."""
_NUMBERS = itertools.count()


class Writer(Protocol):
    """What writes records, the newest last.

    Attributes
    ----------
    error : str
        Why the last attempt has failed, '' where it has not.
    written : int
        Number of the newest record that is on the disk; 0 before the first.
    """

    error: str
    written: int

    def put(self, record: FlightRecord) -> int:
        """Have a record written, in place of one that waits; return its number, from 1."""

    def wait(self, number: int, seconds: float) -> bool:
        """Wait until a record was written or could not be; return False where neither is so."""

    def close(self) -> None:
        """Write what waits, and end."""

    def give_up(self) -> None:
        """Replace the file no more: another writer has it."""

    def when_ended(self, call: Callable[[], None]) -> None:
        """Have something called once nothing is written any more, at once where that is so."""


class RecordWriter:
    """Writes the newest record in a thread, so that no sample waits for the disk.

    What cannot be written is tried again until a newer record takes its place. A disk that hangs
    may hold the thread beyond the end: its file has a name of its own until it is whole, and it
    takes the place of the record only where no later writer has it.

    Parameters
    ----------
    path : Path
        The file.
    write : callable
        ``write(path, content)``, or raises `OSError`; by default the file is replaced durably.

    Attributes
    ----------
    error : str
        Why the last attempt has failed, '' where it has not.
    written : int
        Number of the newest record that is on the disk; 0 before the first.
    """

    def __init__(
        self, path: Path, write: Callable[[Path, bytes], None] | None = None
    ) -> None:
        self._path, self._write = path, write or self._replace
        # Counted in the process, which has the lock: no names are left over without end.
        self._suffix = f'.{next(_NUMBERS)}.new'
        self._is_wanted = True
        self._has_ended = False
        self._calls: list[Callable[[], None]] = []
        self._next: FlightRecord | None = None
        self._number = self._tried = 0
        self._is_closing = False
        self._changed = threading.Condition()
        self.error = ''
        self.written = 0
        # A daemon: a process whose disk hangs can still exit.
        self._thread = threading.Thread(target=self._run, name='flight record', daemon=True)
        self._thread.start()

    def put(self, record: FlightRecord) -> int:
        """Have a record written, in place of one that waits; return its number, from 1."""
        with self._changed:
            self._next = record
            self._number += 1
            self._changed.notify_all()
            return self._number

    def wait(self, number: int, seconds: float) -> bool:
        """Wait until a record was written or could not be; return False where neither is so."""
        with self._changed:
            return self._changed.wait_for(lambda: self._tried >= number, seconds)

    def close(self) -> None:
        """Write what waits, and end the thread, unless the disk hangs."""
        with self._changed:
            self._is_closing = True
            self._changed.notify_all()
        self._thread.join(_LONGEST_END)

    def give_up(self) -> None:
        """Replace the file no more, though the thread still hangs: another writer has it."""
        self._is_wanted = False

    def when_ended(self, call: Callable[[], None]) -> None:
        """Have something called once the thread has ended, at once where it has."""
        with self._changed:
            if not self._has_ended:
                self._calls.append(call)
                return
        call()

    def _run(self) -> None:
        try:
            self._write_all()
        finally:
            with self._changed:
                self._has_ended = True
            for call in self._calls:
                call()

    def _write_all(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._next is not None or self._is_closing)
                record, number, self._next = self._next, self._number, None
            if record is None:
                return
            error = self._attempt(record)
            with self._changed:
                self._tried, self.error = number, error
                if not error:
                    self.written = number
                self._changed.notify_all()
                if error and not self._is_closing:
                    self._changed.wait_for(lambda: self._is_urgent, _RETRY)
                    self._next = self._next or record

    @property
    def _is_urgent(self) -> bool:
        return self._next is not None or self._is_closing

    def _replace(self, path: Path, content: bytes) -> None:
        replace_durably(path, content, self._suffix, lambda: self._is_wanted)

    def _attempt(self, record: FlightRecord) -> str:
        """Write a record and return why it could not be, '' where it was."""
        try:
            self._write(self._path, encode(record))
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            return f'state_file {self._path} cannot be written: {reason}'
        return ''
