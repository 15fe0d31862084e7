"""The record of a flight: read once at the start, and written beside the flight."""
from __future__ import annotations

from pathlib import Path

from propulsion_ros.flight.flight_state import FlightState
from propulsion_ros.flight.home import Home
from propulsion_ros.flight.phases.phases import Phase
from propulsion_ros.loops.flight.actuation import FlightActuation
from propulsion_ros.loops.flight.record_file import FlightRecord, read_state
from propulsion_ros.loops.flight.record_writer import RecordWriter
from propulsion_ros.loops.ports import Host
from propulsion_ros.settings.errors import SourceError


class FlightRecorder:
    """Offers the record of a flight before a restart, and keeps that of this one.

    Parameters
    ----------
    host : Host
        Logs and complains.
    path : str
        The file, '' for none.
    config : str
        Fingerprint of what flies; the record of another one is refused.
    state, actuation, home : FlightState, FlightActuation, Home
        What is recorded and resumed.
    """

    def __init__(
        self,
        host: Host,
        path: str,
        config: str,
        state: FlightState,
        actuation: FlightActuation,
        home: Home,
    ) -> None:
        self._host, self._config = host, config
        self._path = Path(path).expanduser() if path else None
        self._state, self._actuation, self._home = state, actuation, home
        self._offered: FlightRecord | None = None
        self._writer: RecordWriter | None = None
        self._written: object = None

    def open(self) -> None:
        """Begin, and offer the flight before the restart where it was in the air."""
        self._offered = self._written = None
        if self._path is None:
            return
        self._writer = RecordWriter(self._path)
        record = self._read(self._path)
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
        problem = self._state.offer(record.snapshot)
        if problem:
            self._host.log('warn', f'state_file: {problem}; ignored')
            return
        self._offered = record
        self._actuation.is_waiting = True
        self._home.restore(record.pad_altitude, record.home)
        phase = record.snapshot.phase.value
        self._host.log('warn', f'a flight was recorded in {phase}, waiting for samples')

    def settle(self, phase: Phase) -> None:
        """Take up the offered record, or drop it, as the flight state decided by a sample."""
        record = self._offered
        if record is None or self._state.is_resuming:
            return
        self._offered = None
        self._actuation.is_waiting = False
        if phase.is_armed:
            self._actuation.resume(record.pulses)
        else:
            self._home.forget()

    def keep(self) -> None:
        """Have the flight written where something of it changed that must outlive a restart."""
        if self._writer is None or self._state.is_resuming:
            return
        snapshot, pulses = self._state.snapshot(), self._actuation.pulses
        home = self._home
        essence = snapshot.essence, tuple(deployer for deployer, _ in pulses), home.position
        if essence != self._written:
            self._written = essence
            self._writer.put(FlightRecord(
                self._config, snapshot, home.altitude, home.position, pulses
            ))
        if self._writer.error:
            self._host.complain('record', self._writer.error)

    def close(self) -> None:
        """Write what waits."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None
