# SPDX-License-Identifier: Apache-2.0
"""The record of a flight: a small file that survives a restart, its lock, and who writes it."""
from __future__ import annotations

import dataclasses
import errno
import fcntl
import hashlib
import itertools
import json
import math
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from propulsion_ros.flight.belief.motion_watch import UNKNOWN, Kept
from propulsion_ros.flight.events.events import EventRecord
from propulsion_ros.flight.events.permits import Speed
from propulsion_ros.flight.phases.phases import Phase
from propulsion_ros.flight.phases.progress import Mark, Vertex
from propulsion_ros.flight.resumption import Snapshot
from propulsion_ros.settings.errors import ConfigError, SourceError
from propulsion_ros.settings.files import (
    ABSENT,
    descriptor_to_lock,
    kind_of,
    printable,
    read_bytes,
    replace_durably,
)
from propulsion_ros.settings.json_node import JsonNode

_FORMAT = 'propulsion_ros flight record 4'
_OLDER = tuple(f'propulsion_ros flight record {number}' for number in (1, 2, 3))
_LARGEST = 1_000_000  # size of a file [bytes]
_NS = range(-(2**63), 2**63)  # of times [ns]
_RETRY = 0.5  # time between two attempts to write a record [s]
_LONGEST_END = 1.0  # longest wait for the last write at the end, as a disk may hang [s]
_NUMBERS = itertools.count()  # of the writers of this process


@dataclass(frozen=True)
class OwedPulse:
    """A pulse that an event has begun, and that is owed until it is complete.

    Attributes
    ----------
    event, deployer : int
        Which event, and what it fires.
    on_time_ns : int
        Length of the whole pulse [ns].
    attempts : int
        How often it was begun.
    """

    event: int
    deployer: int
    on_time_ns: int
    attempts: int = 1


@dataclass(frozen=True)
class FlightRecord:
    """What the file holds.

    Attributes
    ----------
    config : str
        Fingerprint of the configuration that flew.
    snapshot : Snapshot
        The flight.
    pad_altitude : float
        Of the pad above the sensor's datum [m]; NaN where unknown.
    home : tuple of float
        (east, north) of the pad in the sensor's axes [m].
    pulses : tuple of OwedPulse
        Pulses that were not complete.
    boot_id : str
        Boot of the computer that wrote it, '' where it is unknown.
    boot_ns : int
        When it was written, since that boot [ns].
    clocks : tuple of (str, int)
        How far each sensor that was followed was ahead of the computer's clock [ns].
    """

    config: str
    snapshot: Snapshot
    pad_altitude: float = math.nan
    home: tuple[float, float] = (0.0, 0.0)
    pulses: tuple[OwedPulse, ...] = ()
    boot_id: str = ''
    boot_ns: int = 0
    clocks: tuple[tuple[str, int], ...] = ()


def encode(record: FlightRecord) -> bytes:
    """Return the file's content."""
    snapshot = dataclasses.asdict(record.snapshot)
    snapshot['phase'] = record.snapshot.phase.value
    flight = {
        'config': record.config,
        'snapshot': snapshot,
        # JSON has no NaN.
        'pad_altitude': record.pad_altitude if math.isfinite(record.pad_altitude) else None,
        'home': list(record.home),
        'pulses': [dataclasses.asdict(pulse) for pulse in record.pulses],
        'boot_id': record.boot_id,
        'boot_ns': record.boot_ns,
        'clocks': [list(clock) for clock in record.clocks],
    }
    document = {'format': _FORMAT, 'sha256': _digest(flight), 'flight': flight}
    return json.dumps(document, indent=1, allow_nan=False).encode() + b'\n'


def decode(content: bytes) -> FlightRecord:
    """Return the record in a file's content; raise `SourceError` if it is none, or damaged."""
    try:
        value = json.loads(content)
    except (ValueError, RecursionError) as e:
        raise SourceError('record', f'is not JSON: {" ".join(str(e).split())[:80]}') from e
    document = JsonNode(value)
    document.check_keys(('format', 'sha256', 'flight'))
    written = document['format'].value
    if written in _OLDER:
        # Their liftoffs were found by other rules.
        raise document['format'].error(f'{written!r} is of an older version and is not resumed')
    document['format'].text((_FORMAT,))
    flight = document['flight']
    if document['sha256'].text() != _digest(flight.value):
        raise SourceError('sha256', 'is not that of the flight: the file is damaged')
    pad = flight.get('pad_altitude', None)
    east, north = (item.number() for item in _several(flight['home'], 2))
    return FlightRecord(
        flight['config'].text(),
        _snapshot(flight['snapshot']),
        math.nan if pad.value is None else pad.number(),
        (east, north),
        tuple(_pulse(item) for item in flight['pulses'].items()),
        flight['boot_id'].text(),
        _int64(flight['boot_ns']),
        tuple(_clock(item) for item in flight.get('clocks', []).items()),
    )


def read_state(path: Path) -> FlightRecord | None:
    """Return the record in a file, None where there is no file.

    Raises `SourceError` with its name for a file that cannot be used.
    """
    if kind_of(path) == ABSENT:
        return None
    content = read_bytes(path, _LARGEST)
    try:
        return decode(content)
    except SourceError as e:
        raise SourceError(f'{printable(path)}: {e.key}', e.problem) from e


def _digest(flight: Any) -> str:
    return hashlib.sha256(json.dumps(flight, sort_keys=True).encode()).hexdigest()


def _reader(kind: Any, **readers: Callable[[JsonNode], Any]) -> Callable[[JsonNode], Any]:
    """Return what reads an object that has the fields of a class, in their order.

    A field whose default is None may be absent.
    """
    optional = {field.name for field in dataclasses.fields(kind) if field.default is None}

    def read(node: JsonNode) -> Any:
        node.check_keys(readers)
        return kind(**{
            name: None if name in optional and not node.has(name) else value_of(node[name])
            for name, value_of in readers.items()
        })

    return read


def _several(node: JsonNode, count: int) -> list[JsonNode]:
    items = node.items()
    if len(items) != count:
        raise node.error(f'expected {count} values, got {len(items)}')
    return items


def _int64(node: JsonNode) -> int:
    return node.integer(_NS)


def _index(node: JsonNode) -> int:
    return node.integer(range(2**16))


def _probability(node: JsonNode) -> float:
    return node.number(lo=0.0, hi=1.0)


def _speed(node: JsonNode) -> Speed:
    clock_ns, value = _several(node, 2)
    return Speed(_int64(clock_ns), value.number())


def _clock(node: JsonNode) -> tuple[str, int]:
    name, offset_ns = _several(node, 2)
    return name.text(), _int64(offset_ns)


_mark = _reader(Mark, stamp_ns=_int64, clock_ns=_int64, source=JsonNode.text)
_event = _reader(EventRecord, id=_int64, since_ns=_int64, count=_int64)
_pulse = _reader(
    OwedPulse, event=_index, deployer=_index,
    on_time_ns=lambda node: node.integer(range(1, 2**63)),
    attempts=lambda node: node.integer(range(1, 2**16)),
)
_snapshot = _reader(
    Snapshot, stamp_ns=_int64, clock_ns=_int64,
    phase=lambda node: Phase(node.text([phase.value for phase in Phase])),
    is_burning=JsonNode.flag, ignition=_mark, liftoff=_mark, apogee=_mark,
    events=lambda node: tuple(map(_event, node.items())),
    vertex=_reader(Vertex, stamp_ns=_int64, altitude=JsonNode.number),
    motion=_reader(
        Kept, is_supported=JsonNode.flag, has_rested=JsonNode.flag, held=_probability,
        level=JsonNode.number, wander=lambda node: node.number(lo=0.0),
        usual_ns=lambda node: tuple(map(_int64, _several(node, len(UNKNOWN.usual_ns)))),
        carried=_probability, drifted=JsonNode.number,
    ),
    pad=JsonNode.number, speed=_speed, doubt_ns=_int64, is_rearmed=JsonNode.flag,
    hover=JsonNode.number, burning=lambda node: tuple(map(_index, node.items())), lit_ns=_int64,
)


class RecordLock:
    """Locks the record of a flight for one process, until that process ends in any way.

    The lock lies beside the record, as ``<name>.lock``: the record is replaced at each write.
    Raises `ConfigError` where another flight computer holds it.

    Attributes
    ----------
    problem : str
        Why it could not be locked, '' if it is; then the record cannot be written either.
    """

    def __init__(self, path: str) -> None:
        self.problem = ''
        self._fd: int | None = None
        record = Path(path).expanduser().resolve()
        beside = record.with_name(f'{record.name}.lock')
        try:
            self._fd = descriptor_to_lock(beside)
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self.release()
            # A file that may not be written gives the same error as one that is locked.
            is_refused = error.errno in (errno.EWOULDBLOCK, errno.EACCES)
            if is_refused and os.access(beside, os.W_OK):
                raise ConfigError(
                    'state_file', f'{path} is held by another flight computer'
                ) from error
            self.problem = f'state_file {path}: {beside} cannot be locked: {error.strerror}'

    def release(self) -> None:
        """Release the lock."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


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
        """Wait until a record was written or failed; return False when the time is over."""

    def close(self) -> None:
        """Write what waits, and end."""

    def give_up(self) -> None:
        """Stop replacing the file: another writer has it."""

    def when_ended(self, call: Callable[[], None]) -> None:
        """Have something called once nothing is written any more, at once if that is so."""


OpenWriter = Callable[[Path], Writer]


class RecordWriter:
    """A `Writer` in a thread, so that no sample waits for the disk.

    A record that cannot be written is tried again until a newer one takes its place. A disk that
    hangs may hold the thread beyond the end: a file has a name of its own until it is complete,
    and then replaces the record only if no later writer has that.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        # Numbered within the process, which has the lock, so that few such files can remain.
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
        """Wait until a record was written or failed; return False when the time is over."""
        with self._changed:
            return self._changed.wait_for(lambda: self._tried >= number, seconds)

    def close(self) -> None:
        """Write what waits, and end the thread, unless the disk hangs."""
        with self._changed:
            self._is_closing = True
            self._changed.notify_all()
        self._thread.join(_LONGEST_END)

    def give_up(self) -> None:
        """Stop replacing the file, though the thread may hang: another writer has it."""
        self._is_wanted = False

    def when_ended(self, call: Callable[[], None]) -> None:
        """Have something called once the thread has ended, at once if it has."""
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
                self._changed.wait_for(self._has_work)
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
                    self._changed.wait_for(self._has_work, _RETRY)
                    self._next = self._next or record

    def _has_work(self) -> bool:
        return self._next is not None or self._is_closing

    def _attempt(self, record: FlightRecord) -> str:
        """Write a record and return why it could not be, '' where it was."""
        try:
            replace_durably(self._path, encode(record), self._suffix, lambda: self._is_wanted)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            return f'state_file {self._path} cannot be written: {reason}'
        return ''
