"""The flight record of a node: written beside the flight, read once at its start."""
from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

from propulsion_ros.loops.record_file import FlightRecord, encode, read_state, write_state
from propulsion_ros.settings.errors import SourceError


class RecordWriter:
    """A thread that writes the newest record, so that no sample waits for the disk.

    Parameters
    ----------
    path : Path
        The file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._next: FlightRecord | None = None
        self._is_closing = False
        self._wake = threading.Condition()
        self.error = ''
        self._thread = threading.Thread(target=self._run, name='flight record', daemon=True)
        self._thread.start()

    def put(self, record: FlightRecord) -> None:
        """Have a record written; one that waits is replaced."""
        with self._wake:
            self._next = record
            self._wake.notify()

    def close(self) -> None:
        """Write what waits, and end the thread."""
        with self._wake:
            self._is_closing = True
            self._wake.notify()
        self._thread.join()

    def _run(self) -> None:
        while True:
            with self._wake:
                self._wake.wait_for(lambda: self._next is not None or self._is_closing)
                record, self._next = self._next, None
            if record is None:
                return
            try:
                write_state(self._path, encode(record))
                self.error = ''
            except OSError as error:
                self.error = f'state_file {self._path} cannot be written: {error.strerror}'


class FlightLog:
    """Offers the record of a flight before a restart, and keeps that of this one.

    Parameters
    ----------
    path : str
        The file, '' for none.
    config : str
        Fingerprint of what flies; the record of another one is refused.
    """

    def __init__(self, path: str, config: str) -> None:
        self._path = Path(path).expanduser() if path else None
        self.config = config
        self._writer: RecordWriter | None = None
        self._essence: object = None

    def open(self, warn: Callable[[str], object]) -> FlightRecord | None:
        """Begin, and return the record from before; what cannot be used is warned of in a line."""
        self._essence = None
        if self._path is None:
            return None
        self._writer = RecordWriter(self._path)
        try:
            record = read_state(self._path)
        except SourceError as error:
            warn(f'state_file {error}; ignored')
            return None
        if record is not None and record.config != self.config:
            warn(f'state_file {self._path}: is of another configuration; ignored')
            return None
        return record

    @property
    def is_open(self) -> bool:
        """Whether there is a file to write."""
        return self._writer is not None

    def keep(self, make: Callable[[], FlightRecord], essence: object) -> None:
        """Have the record written where its essence changed."""
        if self._writer is not None and essence != self._essence:
            self._essence = essence
            self._writer.put(make())

    @property
    def error(self) -> str:
        """What keeps the record from being written, '' for nothing."""
        return self._writer.error if self._writer else ''

    def close(self) -> None:
        """Write what waits."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None
