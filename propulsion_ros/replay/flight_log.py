# SPDX-License-Identifier: Apache-2.0
"""Flight logs as samples in order of arrival: CSV, bags, PX4; and the flight logic run on them."""
from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from pathlib import Path

from propulsion_ros.flight.apogee.params import ApogeeParams
from propulsion_ros.flight.events.conditions import NoValue
from propulsion_ros.flight.events.events import Action, EventSpec
from propulsion_ros.flight.events.variables import Sample, bounded
from propulsion_ros.flight.flight_report import FlightReport
from propulsion_ros.flight.flight_state import FlightState
from propulsion_ros.loops.decoders import stamp_to_ns
from propulsion_ros.loops.flight.params import FlightLoopParams, make_flight_state, read_config
from propulsion_ros.loops.payloads import Kind
from propulsion_ros.models.common.rotation import rotate
from propulsion_ros.replay.bags import BagReader, is_bag
from propulsion_ros.replay.command_table import KEPT_LIMIT, LATEST, read_number, read_rows
from propulsion_ros.rml.config import FlightConfig
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.files import TABLE_LIMIT, printable
from propulsion_ros.settings.hints import header_hint
from propulsion_ros.timing.flight_clock import SampleTime

_REQUIRED = ('time_s', 'altitude_m')
_OPTIONAL = ('vz_mps', 'az_mps2')
_MOST_AT_ONCE = 10_000  # rows with the same time


def read_flight_log(path: Path) -> list[Sample]:
    """Return the rows of ``time_s,altitude_m[,vz_mps][,az_mps2]`` in file order.

    Other columns are ignored. An empty cell, ``nan`` or a number that no vehicle reaches is a
    missing value.

    Raises `SourceError` naming the file, the line, what was expected and what came.
    """
    return list(samples_of_log(path, KEPT_LIMIT))


def samples_of_log(path: Path, limit: int = TABLE_LIMIT) -> Iterator[Sample]:
    """Yield the samples of `read_flight_log` in constant memory, of a file up to a limit [bytes].

    Samples of a bag or a PX4 log are those of its first odometry.
    """
    if is_bag(path):
        yield from _samples_of_bag(path)
        return
    columns: dict[str, int] | None = None
    latest_ns, count, width = None, 0, 0
    for place, row in read_rows(path, limit):
        if columns is None:
            columns, width = _columns(place, row), len(row)
            continue
        if any(cell.strip() for cell in row[width:]):
            raise SourceError(
                place, f'got {len(row)} cells, the header has {width}; decimals need a point'
            )
        sample = _sample(place, columns, row)
        latest_ns, count = sample.stamp_ns, count + 1 if sample.stamp_ns == latest_ns else 1
        if count > _MOST_AT_ONCE:
            # A small packed file may hold any number of them.
            raise SourceError(place, f'time_s: is the same in more than {_MOST_AT_ONCE} rows')
        yield sample
    if columns is None:
        raise SourceError(
            f'{printable(path)}:1', f'expected a header {",".join(_REQUIRED)}, got no lines'
        )


def ignored_columns(path: Path) -> list[str]:
    """Return a line for each column of a log that is ignored, for the one that is likely meant."""
    header = [] if is_bag(path) else next(read_rows(path), ('', []))[1]
    names = [name.strip() for name in header]
    return [
        f'column {each} is ignored; {name} is taken' for name in _OPTIONAL for each in names
        if name not in names and each.lower().startswith(name[:3])
    ]


def _samples_of_bag(path: Path) -> Iterator[Sample]:
    with BagReader(path) as bag:
        topics = [topic for topic, kind in bag.topics.items() if kind == Kind.ODOMETRY]
        if not topics:
            raise SourceError(printable(path), 'has no odometry, whose altitude is taken')
        for message in bag.messages(topics[:1]):
            content = bag.decode(message)
            pose, velocity = content.pose.pose, content.twist.twist.linear
            q, v = pose.orientation, (velocity.x, velocity.y, velocity.z)
            _, _, climb = rotate((q.x, q.y, q.z, q.w), v)
            stamp_ns = stamp_to_ns(content.header.stamp) or message.stamp_ns
            yield bounded(Sample(stamp_ns, float(pose.position.z), float(climb)))


def _columns(place: str, header: list[str]) -> dict[str, int]:
    """Return the index of each known column."""
    names = [name.strip() for name in header]
    for name in _REQUIRED:
        if name not in names:
            near = [f'write {name} for {each}' for each in names if each.lower() == name]
            hint = header_hint(names[0]) or ''.join(near) or (
                f'the first line must name the columns, {" and ".join(_REQUIRED)} among them'
            )
            raise SourceError(
                place, f'expected a column {name}, got the header {",".join(names)}; {hint}'
            )
    for name in (*_REQUIRED, *_OPTIONAL):
        if names.count(name) > 1:
            raise SourceError(place, f'expected one column {name}, got {names.count(name)}')
    return {name: names.index(name) for name in (*_REQUIRED, *_OPTIONAL) if name in names}


def _sample(place: str, columns: dict[str, int], row: list[str]) -> Sample:
    time = _number(place, columns, row, 'time_s')
    if not abs(time) < LATEST:
        raise SourceError(place, f'time_s: expected a finite time in seconds, got {time:g}')
    return bounded(Sample(
        round(time * 1e9),
        _number(place, columns, row, 'altitude_m'),
        _number(place, columns, row, 'vz_mps'),
        _number(place, columns, row, 'az_mps2'),
    ))


def _number(place: str, columns: dict[str, int], row: list[str], name: str) -> float:
    if name not in columns:
        return math.nan
    if columns[name] >= len(row):
        raise SourceError(
            place, f'{name}: expected column {columns[name] + 1}, got a row of {len(row)}'
        )
    return read_number(place, name, row[columns[name]])


_CHECK_NS = 100_000_000  # time between two checks for silence [ns]
_LONGEST_SILENCE_NS = 600_000_000_000  # time that passes in a gap; in a longer one a clock was set
_LATER_STAGE = EventSpec(0, 'later stage', NoValue('never'), (Action('engine', 0, 1.0),))


def fly(
    samples: Iterable[Sample], flight: FlightState, silence_timeout: float = 0.0
) -> Iterator[tuple[Sample, FlightReport]]:
    """Yield each sample with the report of the flight logic; it is armed at the first one.

    Parameters
    ----------
    samples : iterable of Sample
        In the order in which a flight computer would receive them.
    flight : FlightState
        The flight logic, as of `make_flight_state`.
    silence_timeout : float
        Silence after which time goes on in samples without values [s]; 0 for never.
    """
    # A stamp that is older than one before has not come before it.
    arrivals = itertools.accumulate(
        ((sample.stamp_ns, sample) for sample in samples),
        lambda last, new: (max(last[0], new[0]), new[1]),
    )
    for _, sample, report in _flown(
        arrivals, flight, round(silence_timeout * 1e9), has_clock=silence_timeout > 0.0
    ):
        yield sample, report


def fly_live(
    samples: Iterable[tuple[int, Sample]], apogee: ApogeeParams, *, may_light: bool = False,
    lets_time_pass: bool = True,
) -> Iterator[tuple[int, FlightReport]]:
    """Yield times and reports of the flight logic on samples that arrive as on a robot.

    While none arrives, time passes without samples, as in a flight computer.

    Parameters
    ----------
    samples : iterable of (int, Sample)
        Time of arrival on a steady clock [ns], and the sample.
    may_light : bool
        True if the configuration has a stage that may still be lit.
    lets_time_pass : bool
        True if time passes while no sample arrives.
    """
    params = FlightLoopParams(apogee=apogee, replay=True)
    config = FlightConfig((_LATER_STAGE,), ()) if may_light else read_config(params)
    limit_ns = round(params.silence_timeout * 1e9) if lets_time_pass else 0
    flight = make_flight_state(params, config, in_simulation=False)
    for arrival_ns, _, report in _flown(samples, flight, limit_ns):
        yield arrival_ns, report


def _flown(
    samples: Iterable[tuple[int, Sample]], flight: FlightState, silence_ns: int,
    has_clock: bool = True,
) -> Iterator[tuple[int, Sample, FlightReport]]:
    """Yield arrival, sample and report; where `silence_ns` is not 0 time passes in silences."""
    time = SampleTime()
    checked_ns: int | None = None
    for arrival_ns, sample in samples:
        if silence_ns and checked_ns is not None:
            checked_ns = max(checked_ns, arrival_ns - _LONGEST_SILENCE_NS)
            while checked_ns + _CHECK_NS < arrival_ns:
                checked_ns += _CHECK_NS
                if time.silence_ns(checked_ns) >= silence_ns:
                    silent = Sample(time.now_ns(checked_ns), math.nan)
                    yield checked_ns, silent, flight.update(silent, checked_ns, is_silence=True)
                    time.go_on(silent.stamp_ns)
        report = flight.update(sample, arrival_ns if has_clock else None)
        if checked_ns is None:
            # By force, since a log may begin with an unknown altitude.
            flight.command('launch', sample.stamp_ns, force=True)
            checked_ns = arrival_ns
        if report.stamp.is_accepted:
            time.take(sample.stamp_ns, arrival_ns)
        yield arrival_ns, sample, report
