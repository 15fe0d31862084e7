# SPDX-License-Identifier: Apache-2.0
"""The record of a flight: read once at the start, and written before anything is fired."""
from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from propulsion_ros.flight.estimation.state import stage_of
from propulsion_ros.flight.flight_state import FlightState
from propulsion_ros.flight.home import Home
from propulsion_ros.flight.phases.phases import Subphase
from propulsion_ros.loops.flight.actuation import FlightActuation
from propulsion_ros.loops.flight.estimation import FlightEstimation
from propulsion_ros.loops.flight.record_file import FlightRecord, OpenWriter, Writer, read_state
from propulsion_ros.loops.flight.sensor_clocks import SensorClocks
from propulsion_ros.loops.ports import Host
from propulsion_ros.settings.errors import SourceError

LONGEST_WAIT = 0.25
"""Longest wait of a firing for its record [s]; most memory cards have written it by then."""
_PROBE_WAIT = 0.5
"""Longest wait of a launch for its record [s]; nothing is in the air yet."""
HEARTBEAT = 1.0
"""Time between two heartbeats [s]."""


@dataclass(frozen=True)
class Boot:
    """Which boot this is, and how long ago it was.

    Attributes
    ----------
    id : str
        Differs after each boot; '' where it is unknown.
    now_ns : callable
        Time since boot, sleep included [ns].
    """

    id: str = ''
    now_ns: Callable[[], int] = lambda: 0

    def age(self, boot_id: str, boot_ns: int) -> float:
        """Return the age of a time since a boot [s], infinity where it is unknown."""
        elapsed_ns = self.now_ns() - boot_ns
        is_known = bool(self.id) and boot_id == self.id and elapsed_ns >= 0
        return elapsed_ns * 1e-9 if is_known else math.inf

    def least_age(self, boot_id: str) -> float:
        """Return the least age of anything from another boot [s], NaN where that is unknown."""
        is_other = bool(self.id) and bool(boot_id) and boot_id != self.id
        return self.now_ns() * 1e-9 if is_other else math.nan


class FlightRecorder:
    """Offers the record of a flight before a restart, and keeps that of this one.

    Parameters
    ----------
    path : str
        The file, '' for none.
    config : str
        Fingerprint of what flies; the record of another one is refused.
    open_writer : callable
        ``open_writer(path)`` returns what writes.
    trusts_age : bool
        Whether the time since boot gives the age of a record; in a simulation stamps do.
    estimation : FlightEstimation or None
        Measures the pad in place of ``home``, and can begin in the air.
    """

    def __init__(
        self,
        host: Host,
        path: str,
        config: str,
        state: FlightState,
        actuation: FlightActuation,
        home: Home,
        boot: Boot,
        clocks: SensorClocks,
        open_writer: OpenWriter,
        trusts_age: bool,
        estimation: FlightEstimation | None,
    ) -> None:
        self._host, self._config = host, config
        self._path = Path(path).expanduser() if path else None
        self._state, self._actuation, self._home = state, actuation, home
        self._boot, self._open_writer, self._trusts_age = boot, open_writer, trusts_age
        self._estimation, self._clocks = estimation, clocks
        self._writer: Writer | None = None
        self._closed: Writer | None = None
        self._forget()

    def _forget(self) -> None:
        self._offered: FlightRecord | None = None
        self._written: object = None
        self._number = self._beaten = 0
        self._is_hung = False

    @property
    def is_kept(self) -> bool:
        """Whether there is a file."""
        return self._path is not None

    @property
    def problem(self) -> str:
        """Why the record cannot be relied on, '' where it can."""
        writer = self._writer
        if writer is None:
            return ''
        if self._is_hung:
            return f'state_file {self._path}: a write has not returned'
        return writer.error

    def open(self) -> None:
        """Begin, and offer the flight before the restart if it was armed."""
        self._forget()
        if self._path is None:
            return
        if self._closed is not None:
            # Its disk may still hang, and its record is older than those to come.
            self._closed.give_up()
        record = self._read(self._path)
        self._writer = self._open_writer(self._path)
        if record is not None and record.snapshot.phase.is_armed:
            self._offer(record)

    def _read(self, path: Path) -> FlightRecord | None:
        """Return the record in the file; one that cannot be used is reported in a line."""
        try:
            record = read_state(path)
        except SourceError as error:
            self._host.log('warn', f'state_file {error}; ignored')
            return None
        if record is not None and record.config != self._config:
            self._host.log('warn', f'state_file {path}: is of another configuration; ignored')
            return None
        return record

    def _offer(self, record: FlightRecord) -> None:
        least_age = self._boot.least_age(record.boot_id) if self._trusts_age else math.nan
        problem = self._state.offer(record.snapshot, self._age_of(record), least_age)
        if problem:
            self._host.log('warn', f'state_file: {problem}; ignored')
            return
        self._offered = record
        self._actuation.is_waiting = True
        # A recording played beside the sensor must not replace it on the pad: people may be near.
        self._clocks.expect(record.clocks, waits=record.snapshot.liftoff is None)
        if self._estimation is None:
            self._home.restore(record.pad_altitude, record.home)
        else:
            snapshot = record.snapshot
            is_burning = Subphase.BOOST if snapshot.is_burning else Subphase.COAST
            stage = stage_of(snapshot.phase, is_burning)
            self._home.restore(math.nan, record.home)
            self._estimation.begin_in_air(stage, record.pad_altitude)
        phase = record.snapshot.phase.value
        self._host.log('warn', f'a flight was recorded in {phase}, waiting for samples')

    def _age_of(self, record: FlightRecord) -> float:
        """Return the age of a record [s], infinity where it is unknown."""
        return self._boot.age(record.boot_id, record.boot_ns) if self._trusts_age else math.inf

    def settle(self, *, is_resumed: bool) -> None:
        """Take up the offered record, or drop it, as the flight state decided by a sample."""
        record = self._offered
        if record is None or self._state.is_resuming:
            return
        was_waiting, self._actuation.is_waiting = self._actuation.is_waiting, False
        if is_resumed:
            self._offered = None
            self._actuation.resume(
                record.pulses, self._age_of(record), record.snapshot.events
            )
            return
        if was_waiting:
            self._home.forget()
        if not self._state.holds_record:
            self._offered = None
            self._actuation.void(record.pulses, 'its flight is not resumed')

    def keep(self) -> None:
        """Have the flight written if something changed that must outlive a restart."""
        if self._writer is None or self._state.holds_record:
            return
        if self._essence() != self._written:
            self._put(self._writer)
        self._complain()

    def _essence(self) -> object:
        """Return the data whose change is worth a new record."""
        essence = self._state.snapshot().essence
        return essence, self._actuation.pulses, self._home.position

    def keep_first(self) -> int:
        """Have the flight written before something is fired.

        Return the number of the record, see `written`; 0 where none is kept.
        """
        if self._writer is None or self._state.holds_record:
            return 0
        number = self._put(self._writer)
        self._complain()
        return number

    @property
    def written(self) -> int:
        """Number of the newest record that is on the disk; 0 before the first."""
        return 0 if self._writer is None else self._writer.written

    def note_hang(self) -> None:
        """Note that the disk hangs, until a write returns."""
        self._is_hung = True
        self._complain()

    def wait(self, number: int, seconds: float = LONGEST_WAIT) -> None:
        """Wait for a record, unless the disk hangs."""
        if self._writer and not self._is_hung and not self._writer.wait(number, seconds):
            self.note_hang()

    def probe(self) -> None:
        """Check before a launch whether the record can be written."""
        self.wait(self.keep_first(), _PROBE_WAIT)
        self._complain()

    def beat(self) -> None:
        """Write a heartbeat while armed, and check whether writes return."""
        writer = self._writer
        if writer is None:
            return
        # The record of the last heartbeat has had a second to be written.
        self._is_hung = not writer.wait(self._beaten, 0.0)
        if self._state.phase.is_armed and not self._state.holds_record:
            self._beaten = self._put(writer)
        else:
            self._beaten = self._number
        self._complain()

    def _put(self, writer: Writer) -> int:
        if self._is_hung:
            self._is_hung = not writer.wait(self._number, 0.0)
        self._written = self._essence()
        self._number = writer.put(FlightRecord(
            self._config, self._state.snapshot(), self._pad_altitude, self._home.position,
            self._actuation.pulses, self._boot.id, self._boot.now_ns(), self._clocks.offsets,
        ))
        return self._number

    @property
    def _pad_altitude(self) -> float:
        estimation = self._estimation
        return self._home.altitude if estimation is None else estimation.pad_altitude

    def _complain(self) -> None:
        if self.problem:
            self._host.complain('record', self.problem)

    def close(self) -> None:
        """Write what waits; a disk that hangs is waited for, but not for long."""
        if self._writer is not None:
            self._writer.close()
            self._closed, self._writer = self._writer, None

    def when_ended(self, call: Callable[[], None]) -> None:
        """Have something called once nothing is written any more, at once if that is so."""
        writer = self._writer or self._closed
        if writer is None:
            call()
        else:
            writer.when_ended(call)
