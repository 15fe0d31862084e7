# SPDX-License-Identifier: Apache-2.0
"""Reads the signals of a table: of a flight log, or of `propulsion_ros replay`."""
from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from propulsion_ros.drawing.figure import COMMAND, PUBLISHED, RESIDUAL, Mark
from propulsion_ros.flight.apogee.estimate import ApogeeEstimate
from propulsion_ros.flight.events.variables import Sample
from propulsion_ros.flight.flight_report import FlightReport
from propulsion_ros.loops.flight.params import FlightLoopParams, make_flight_state, read_config
from propulsion_ros.models.common.family import FIELDS, WRENCH_NAMES
from propulsion_ros.pictures.signals import OF_TANKS, Channel, Fit, FlightSignals, Signals
from propulsion_ros.replay.command_table import (
    KEPT_LIMIT,
    LATEST,
    STAMP,
    check_columns,
    read_number,
    read_rows,
)
from propulsion_ros.replay.flight_log import fly, read_flight_log
from propulsion_ros.replay.table_writer import BATTERY_PARTS
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.files import printable


def signals_of_log(path: Path) -> Signals:
    """Return the columns of a log, and the flight as the default detector reports it.

    The CSV has the format of `propulsion_ros apogee`.

    Raises
    ------
    SourceError
        For a malformed file, or one without rows.
    """
    params = FlightLoopParams(replay=True)
    flight = make_flight_state(params, read_config(params), in_simulation=False)
    return signals_of_flight(printable(path), fly(read_flight_log(path), flight))


def signals_of_flight(name: str, flown: Iterable[tuple[Sample, FlightReport]]) -> Signals:
    """Return the samples of a flight, and the reports of the flight logic on them.

    Raises `SourceError` with the name of the log if there are no samples.
    """
    signals, accepted = Signals(name), []
    sample = None
    for sample, report in flown:
        if not report.stamp.is_accepted:
            continue
        accepted.append(report)
        for quantity, value in (
            ('altitude', sample.altitude), ('climb', sample.velocity), ('lift', sample.acceleration)
        ):
            signals.add(Channel('', quantity, 'log'), report.stamp_ns * 1e-9, value)
    if sample is None:
        raise SourceError(name, 'expected samples, got none')
    signals.flight = _flight(accepted)
    return signals


def _flight(reports: Sequence[FlightReport]) -> FlightSignals:
    """Return estimates of the flight logic up to its decision, and all of its phases."""
    decided = next((report for report in reports if report.apogee is not None), None)
    last_ns = reports[-1].stamp_ns if decided is None else decided.stamp_ns
    estimates = [
        report.estimate for report in reports
        if report.estimate is not None and report.stamp_ns <= last_ns
    ]
    believed = [estimate for estimate in estimates if estimate.health != 'filling']
    flight = FlightSignals(
        phases=[Mark(report.stamp_ns * 1e-9, report.phase.value) for report in reports],
        health=[Mark(estimate.stamp_ns * 1e-9, estimate.health) for estimate in estimates],
        fits=[
            Fit(known.stamp_ns * 1e-9, known.altitude, known.velocity, known.acceleration)
            for known in believed
        ],
        predictions=[(known.stamp_ns * 1e-9, *_vertex(known)) for known in believed],
    )
    lifted = next((report.liftoff for report in reports if report.liftoff is not None), None)
    if lifted is not None:
        flight.marks.append(Mark(lifted.stamp_ns * 1e-9, 'liftoff'))
    flight.marks += [
        Mark(event.stamp_ns * 1e-9, event.name)
        for report in reports for event in report.events if event.count == 1
    ]
    if decided is not None and decided.apogee is not None:
        flight.detections.append(Mark(decided.apogee.stamp_ns * 1e-9, decided.apogee.source))
        if decided.estimate is not None and decided.estimate.apogee_ns is not None:
            flight.vertices.append(_vertex(decided.estimate))
    return flight


def _vertex(estimate: ApogeeEstimate) -> tuple[float, float]:
    """Return time [s] and altitude [m] of the vertex."""
    time = math.nan if estimate.apogee_ns is None else estimate.apogee_ns * 1e-9
    return time, estimate.apogee_altitude


_WRENCHES = {'wrench': PUBLISHED, 'residual': RESIDUAL}
_UNSEEN = ('ignition', 'throttle', 'apogee_sigma')
_FIT = ('altitude', 'velocity', 'acceleration', 'apogee_time', 'apogee_altitude')
"""Names in the fit of flight logic: the parabola and its vertex."""


def signals_of_table(path: Path) -> Signals:
    """Return the contents of the columns of a table.

    A table without a wrench, or with nothing but a wrench, is taken for commands.

    Parameters
    ----------
    path : Path
        CSV: ``stamp``, ``<name>.<field>``, ``wrench.force.x`` ..., ``<tank>.mass``,
        ``<battery>.voltage``, the fit of a flight; with several nodes after ``<node>/``. An empty
        cell is a missing value.

    Raises
    ------
    SourceError
        If the table is malformed; it names the line and what was expected.
    """
    rows = read_rows(path, KEPT_LIMIT)
    place, header = next(rows, (f'{printable(path)}:1', []))
    names = [name.strip() for name in header]
    channels = _channels(place, names)
    fit = _fit_columns(names)
    signals = Signals(printable(path))
    signals.unread = [
        name for i, (name, channel) in enumerate(zip(names, channels, strict=True))
        if channel is None and i not in (0, *fit)
    ]
    for time, cells in _values(rows, names):
        if fit:
            altitude, velocity, acceleration, vertex_time, vertex = (cells[i] for i in fit)
            signals.flight.fits.append(Fit(time, altitude, velocity, acceleration))
            signals.flight.predictions.append((time, vertex_time, vertex))
        for channel, value in zip(channels, cells, strict=True):
            if channel is not None:
                signals.add(channel, time, value)
    return signals


def join_commands(signals: Signals, commands: Signals) -> None:
    """Add the commands of another table, each beside the first state of the same name."""
    sources: dict[tuple[str, str], str] = {}
    for known in signals.rows:
        sources.setdefault((known.quantity, known.name), known.source)
    for channel, rows in commands.rows.items():
        source = sources.get((channel.quantity, channel.name), channel.source)
        signals.rows[channel._replace(source=source, role=COMMAND)] = rows
    signals.unread += commands.unread


def _channels(place: str, names: Sequence[str]) -> list[Channel | None]:
    """Return the channel of each column, None if it is not plotted."""
    if names[:1] != [STAMP]:
        raise SourceError(
            place, f'expected {STAMP!r} or time_s and altitude_m as columns, got '
            f'{",".join(names)[:100] or "no lines"}'
        )
    check_columns(place, names)
    # The prefix of a wrench is the name of a node; nearly every node has one.
    sources = [
        name.removesuffix(f'{vector}.force.x') for vector in _WRENCHES for name in names
        if name.endswith(f'/{vector}.force.x')
    ]
    fit = _fit_columns(names)
    found = [None if i in fit else _channel(name, sources) for i, name in enumerate(names)]
    is_wrench = [c is not None and c.quantity in ('force', 'torque') for c in found]
    known = [c is not None for c in found]
    if not any(known) and not fit:
        raise SourceError(
            place, f'expected a column such as booster_1.effort, wrench.force.x or tank.mass, '
            f'got {",".join(names)[:100]}'
        )
    if not fit and (not any(is_wrench) or is_wrench == known):
        return [None if c is None else c._replace(role=COMMAND) for c in found]
    return found


def _fit_columns(names: Sequence[str]) -> list[int]:
    """Return the columns of the fitted motion and its vertex, [] if there are none."""
    known = set(names)
    for name in names:
        prefix = name.removesuffix('apogee_time.position')
        wanted = [f'{prefix}{part}.position' for part in _FIT]
        if prefix != name and known.issuperset(wanted):
            return [names.index(column) for column in wanted]
    return []


def _channel(column: str, sources: Sequence[str]) -> Channel | None:
    prefix = next((prefix for prefix in sources if column.startswith(prefix)), '')
    source, rest = prefix.rstrip('/'), column.removeprefix(prefix)
    vector, _, part = rest.partition('.')
    if vector in _WRENCHES and part in WRENCH_NAMES:
        quantity, _, axis = part.partition('.')
        return Channel(source, quantity, axis, _WRENCHES[vector])
    name, _, field = rest.rpartition('.')
    owner, _, kind = name.rpartition('/')
    if field in FIELDS and kind in OF_TANKS:
        return Channel(source, kind, owner)
    if name and field in (*FIELDS, 'mass', *BATTERY_PARTS) and kind not in _UNSEEN:
        return Channel(source, field, name)
    return None


def _values(
    rows: Iterator[tuple[str, list[str]]], names: Sequence[str]
) -> Iterator[tuple[float, list[float]]]:
    """Yield the stamp and the numbers of each row."""
    for place, row in rows:
        if len(row) != len(names):
            raise SourceError(place, f'expected {len(names)} cells, got {len(row)}')
        cells = [read_number(place, name, cell) for name, cell in zip(names, row, strict=True)]
        if not 0.0 <= cells[0] < LATEST:
            raise SourceError(place, f'{STAMP}: expected seconds, got {row[0]!r}')
        yield cells[0], cells
