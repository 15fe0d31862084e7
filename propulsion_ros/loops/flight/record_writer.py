"""A thread that writes the record of a flight."""
from __future__ import annotations

import threading
from pathlib import Path

from propulsion_ros.loops.flight.record_file import FlightRecord, encode, write_state


class RecordWriter:
    """Writes the newest record in a thread, so that no sample waits for the disk.

    Parameters
    ----------
    path : Path
        The file.

    Attributes
    ----------
    error : str
        Why the last record was not written, '' where it was.
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
