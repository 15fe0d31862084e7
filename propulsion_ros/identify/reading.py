# SPDX-License-Identifier: Apache-2.0
"""Reads commands and measurements from bags, PX4 logs and tables (also .csv.gz)."""
from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from propulsion_ros.models.common.family import FIELDS, WRENCH_NAMES
from propulsion_ros.models.common.rotation import rows_of
from propulsion_ros.pictures.signals import Pairs
from propulsion_ros.replay.bags import BagReader, Recorded, is_bag
from propulsion_ros.replay.command_table import (
    KEPT_LIMIT,
    LATEST,
    STAMP,
    check_columns,
    read_number,
    read_rows,
)
from propulsion_ros.replay.ulog_reader import UNMAPPED, UlogMap
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.files import printable
from propulsion_ros.settings.flat import suggestion
from propulsion_ros.settings.hints import header_hint
from propulsion_ros.settings.quantity import BoolArray, FloatArray

IMU = tuple(f'{what}_{axis}' for what in ('accel', 'gyro') for axis in 'xyz')
"""Specific force [m/s^2] and rate of turn [rad/s] of an IMU, in its axes."""
STATE = 'state.'
"""Prefix of the state of an actuator, such as ``state.rotor_1.velocity``."""
PRESSURE = 'pressure.'
"""Prefix of a pressure, such as ``pressure.main`` of a tank, ``pressure.motor`` of a chamber."""
VOLTAGE = '.voltage'
"""Suffix of the voltage of a battery, such as ``pack.voltage``."""
WRENCH = 'wrench.'
"""Prefix of a measured wrench, such as ``wrench.force.z``."""
ALTITUDE, CLIMB = 'altitude_m', 'vz_mps'
"""Height above the start [m] and vertical speed [m/s], as flight logs have them."""
FLOW = tuple(f'body.{what}.{axis}' for what in ('velocity', 'angular_velocity') for axis in 'xyz')
"""Motion of base_link through the fluid in its axes [m/s], [rad/s]."""
ATTITUDE = tuple(f'attitude.{axis}' for axis in 'xyzw')
"""Quaternion from base_link to the world."""
_CURRENT = tuple(f'current.{axis}' for axis in 'xyz')
"""Velocity of the fluid in the world [m/s]."""
_TIMES = (STAMP, 'time_s')  # names of the first column
_MOST_ROWS = 2_000_000  # of a table
_LARGEST = 1e12  # largest measurement that counts, in SI units
_OF_TANK = '/pressure'  # suffix of the state of a tank
_SHOWN = 6  # most columns in a list of those that are not read
_LISTED = 3  # most states in a list of known names
_WITHOUT_BATTERY = '; <battery>.voltage of a battery that the actuators draw from'
_SAME_CLOCK = 1.0  # largest time between a stamp and its arrival on the same clock [s]


Span = tuple[float | None, float | None]
"""First and last stamp that count [s], None for no limit."""


@dataclass(frozen=True)
class Series:
    """One quantity over time; NaN is a missing value."""

    time: FloatArray
    value: FloatArray
    """Times [s], which increase, and values, (k,) each."""

    def at(self, time: FloatArray | float) -> Any:
        """Return the values at another time or several, interpolated."""
        return np.interp(time, self.time, self.value)


@dataclass(frozen=True)
class Column:
    """Column of a table that a series was read from."""

    name: str
    zero: float
    factor: float | None
    """(value - zero) times factor is in SI units; None if no factor is given."""

    def raw(self, value: float) -> float:
        """Return the number in the column for a value in SI units."""
        return value / (self.factor or 1.0) + self.zero

    @property
    def hint(self) -> str:
        """What to write for times that are not in seconds."""
        if self.factor is None:
            return f'of ms give identify: factors.{self.name}: 0.001, of us 1.0e-6, of ns 1.0e-9'
        return f'factors.{self.name} is {self.factor:g}, where ms have 0.001, us 1.0e-6, ns 1.0e-9'


@dataclass(frozen=True)
class Recording:
    """Series of one flight or bench run, with times from its first stamp [s]."""

    name: str
    begin: float
    """First stamp [s], from which times of series count."""
    commands: Mapping[str, Series]
    """Commands by actuator, each in the field that its family takes."""
    measured: Mapping[str, Series]
    notes: tuple[str, ...] = ()
    """Faults of the input, one line each."""
    skipped: tuple[tuple[float, float, str], ...] = ()
    """Spans that are left out: from, to [s], and why."""
    is_settled: bool = False
    """True if each sample was taken after the response to its command had settled."""
    columns: Mapping[str, Column] = field(default_factory=dict)
    """Columns of a table by series, with that of the time."""

    @property
    def end(self) -> float:
        """Time of the last sample [s]."""
        return max(
            (float(each.time[-1]) for each in (*self.commands.values(), *self.measured.values())
             if len(each.time)), default=0.0,
        )

    def is_kept(self, time: FloatArray) -> BoolArray:
        """Return which times [s] are not left out."""
        kept = np.ones(time.shape, bool)
        for begin, end, _ in self.skipped:
            kept &= (time < begin) | (time > end)
        return kept


@dataclass(frozen=True)
class Columns:
    """Meaning of columns of a table, by their names there."""

    targets: dict[str, str]
    """What a column holds: an actuator, a name of this module, or ``stamp``."""
    factors: dict[str, float]
    """Factors from their values to SI units."""
    zeros: dict[str, float]
    """Values of columns that mean 0, in their own unit."""

    def of(self, columns: Sequence[str]) -> list[Column]:
        """Return the columns of a table; raise `SourceError` for a unit of another one."""
        for kind, given in (('factors', self.factors), ('zeros', self.zeros)):
            for column in given:
                if column not in columns:
                    raise SourceError(
                        f'{kind}.{column}',
                        f'is no column of the table{suggestion(column, columns)}',
                    )
        return [Column(each, self.zeros.get(each, 0.0), self.factors.get(each)) for each in columns]


@dataclass(frozen=True)
class Names:
    """Names of quantities that a recording may hold."""

    commands: Mapping[str, str]
    """The field that each actuator takes as its command, by name."""
    states: Sequence[str] = ()
    """Names in the state of the actuators."""
    columns: Columns = Columns({}, {}, {})
    """Columns that the user has named."""
    group: str = ''
    """Name of the actuator node, whose topics in a bag are preferred."""
    burners: Sequence[str] = ()
    """Actuators that burn propellant, in a chamber."""
    thrust_area: float = 0.0
    """Thrust over the pressure in such a chamber [m^2]; 0: not known."""
    batteries: Sequence[str] = ()
    """Batteries whose voltage the model takes."""

    def factor_of(self, name: str) -> float:
        """Return the factor from the values of a column to those of its series."""
        is_chamber = name in [PRESSURE + burner for burner in self.burners]
        return self.thrust_area if is_chamber else 1.0

    @property
    def listed(self) -> list[str]:
        """Short list of the names that a column may have."""
        states = [each for each in self.known if each.startswith((STATE, PRESSURE))]
        return [
            STAMP, *self.commands, *IMU, *(WRENCH + name for name in WRENCH_NAMES), ALTITUDE, CLIMB,
            *states[:_LISTED], *['...'] * (len(states) > _LISTED), *FLOW, *ATTITUDE,
        ]

    @property
    def known(self) -> dict[str, str]:
        """Every name that a column may have, with the key of its series."""
        own = {f'{name}.{field}': name for name, field in self.commands.items()}
        states = {f'{name}.{field}' for name in self.states for field in FIELDS}
        measured = {
            *IMU, ALTITUDE, CLIMB, *FLOW, *ATTITUDE, *(WRENCH + name for name in WRENCH_NAMES),
            *(name + VOLTAGE for name in self.batteries), *(STATE + name for name in states),
        }
        tanks = [name.removesuffix(_OF_TANK) for name in self.states if name.endswith(_OF_TANK)]
        return {
            **{f'{PRESSURE}{name}': f'{STATE}{name}{_OF_TANK}.position' for name in tanks},
            **{f'{PRESSURE}{name}': f'{STATE}{name}.effort' for name in self.burners},
            **{name: STATE + name for name in states}, **{name: name for name in measured},
            **{name: name for name in self.commands}, **own,
        }


def read_recording(path: Path, names: Names, motors: UlogMap = UNMAPPED) -> Recording:
    """Return a bag, a log of PX4 or a table as a recording.

    Raises `SourceError` if it cannot be read as one.
    """
    return _of_bag(path, names, motors) if is_bag(path) else _of_table(path, names)


# Tables.


def _of_table(path: Path, names: Names) -> Recording:
    rows = read_rows(path, KEPT_LIMIT)
    place, header = next(rows, (f'{printable(path)}:1', []))
    columns = [cell.strip() for cell in header]
    check_columns(place, columns)
    if not columns or names.columns.targets.get(columns[0], columns[0]) not in _TIMES:
        raise SourceError(
            place, f'expected {" or ".join(_TIMES)} as the first column, got '
            f'{columns[0] if columns else "no lines"!r}; ' + (
                header_hint(columns[0] if columns else 'no lines')
                or 'another name is given in the parameter file, below identify: columns'
            )
        )
    keys, factors = _keys(place, columns, names)
    own = names.columns.of(columns)
    values = _numbers(place, own, rows)
    values[:, 1:] *= factors
    stamp = values[:, 0]
    forward, notes = stamp > _newest_before(stamp), []
    if not forward.all():
        notes.append(
            f'{np.count_nonzero(~forward)} rows are no later than the row before, the first at '
            f'{stamp[~forward][0]:.6f} s: left out'
        )
    unread = [name for name, key in names.known.items() if key not in keys]
    left = [f'{column!r}{suggestion(column, unread)}'
            for column, key in zip(columns[1:], keys, strict=True) if not key]
    more = f' and {len(left) - _SHOWN} more' * (len(left) > _SHOWN)
    notes += [f'columns that are not read: {", ".join(left[:_SHOWN])}{more}'] * bool(left)
    values = values[forward]
    begin = float(values[0, 0])
    time = values[:, 0] - begin
    series = {key: Series(time, values[:, i]) for i, key in enumerate(keys, start=1) if key}
    return replace(_sorted(printable(path), begin, series, names, notes), columns={
        key: column for key, column in zip([STAMP, *keys], own, strict=True) if key
    })


def _numbers(place: str, columns: Sequence[Column], rows: Any) -> FloatArray:
    """Return all cells in SI units, (rows, columns)."""
    table: list[list[float]] = []
    zeros, factors = np.array([
        (each.zero, 1.0 if each.factor is None else each.factor) for each in columns
    ]).T
    first, zero, factor = columns[0], float(zeros[0]), float(factors[0])
    for place, cells in rows:
        if len(cells) != len(columns):
            raise SourceError(place, f'expected {len(columns)} cells, got {len(cells)}')
        try:
            numbers = [float(cell) for cell in cells]
        except ValueError:
            numbers = [
                read_number(place, column.name, cell)
                for column, cell in zip(columns, cells, strict=True)
            ]
        if not abs((numbers[0] - zero) * factor) < LATEST:
            raise SourceError(place, (
                f'{first.name}: expected a finite time in seconds, got {cells[0]}; {first.hint}'
            ))
        table.append(numbers)
        if len(table) > _MOST_ROWS:
            raise SourceError(place, f'expected at most {_MOST_ROWS} rows; cut the recording')
    if len(table) < 2:
        raise SourceError(place, f'expected rows, got {len(table)}')
    return np.asarray((np.array(table) - zeros) * factors)


def _keys(
    place: str, columns: Sequence[str], names: Names
) -> tuple[list[str], list[float]]:
    """Return key and factor of each column but the first; the key is '' if it is not used."""
    known, columns = names.known, columns[1:]
    given = {
        column: target for column, target in names.columns.targets.items() if target not in _TIMES
    }
    for name in (*columns, *given.values()):
        if name.startswith(PRESSURE):
            _check_pressure(place, name, names)
    for column, target in given.items():
        if target not in known:
            raise SourceError(
                f'columns.{column}', f'{target!r} is nothing that is fitted'
                f'{suggestion(target, known)}; known: {", ".join(names.listed)}'
                + _WITHOUT_BATTERY * target.endswith(VOLTAGE)
            )
        if column not in columns:
            raise SourceError(
                place, f'expected a column {column!r}, as columns has it, got '
                f'{", ".join(columns)}'
            )
    targets = [given.get(column, column) for column in columns]
    keys = [known.get(target, '') for target in targets]
    if not any(keys):
        raise SourceError(
            place, f'no column is known: {", ".join(columns)}; name them in the parameter file, '
            'below identify: columns'
        )
    for key, count in Counter(key for key in keys if key).items():
        if count > 1:
            twice = [column for column, own in zip(columns, keys, strict=True) if own == key]
            raise SourceError(place, f'{", ".join(twice)}: expected one column of {key}')
    return keys, [names.factor_of(target) for target in targets]


def _check_pressure(place: str, name: str, names: Names) -> None:
    """Raise `SourceError` for a pressure that no model has."""
    owner = name.removeprefix(PRESSURE)
    if owner in names.burners and not names.thrust_area:
        raise SourceError(
            place, f'{name}: expected identify: thrust_area, the thrust over the pressure in the '
            'chamber (throat area times thrust coefficient); models have no chamber'
        )
    if name not in names.known:
        own = [each for each in names.known if each.startswith(PRESSURE)]
        raise SourceError(
            place, f'{name}: no model of this group has this pressure; found: '
            f'{", ".join(own) or "none"}'
        )


def _newest_before(stamps: FloatArray) -> FloatArray:
    """Return the newest stamp before each, -infinity before the first."""
    return np.asarray(np.maximum.accumulate(np.concatenate(([-np.inf], stamps[:-1]))))


def _sorted(
    name: str, begin: float, series: Mapping[str, Series], names: Names, notes: Sequence[str]
) -> Recording:
    found = list(notes)
    clean: dict[str, Series] = {}
    for key, each in series.items():
        is_command = key in names.commands
        good = np.abs(each.value) <= (np.finfo(float).max if is_command else _LARGEST)
        if good.all():
            clean[key] = each
            continue
        if good.any():
            clean[key] = Series(each.time[good], each.value[good])
        if not is_command:
            found.append(
                f'{key}: {np.count_nonzero(~good)} of {len(good)} values are NaN, missing or '
                f'beyond {_LARGEST:g}, the first at {begin + each.time[~good][0]:.6f} s: left out'
            )
        elif np.count_nonzero(~good) < 0.5 * len(good):
            found.append(
                f'command of {key}: {np.count_nonzero(~good)} of {len(good)} values are NaN or '
                'missing: the value before holds'
            )
    return Recording(
        name, begin,
        {key: clean[key] for key in names.commands if key in clean},
        {key: each for key, each in clean.items() if key not in names.commands}, tuple(found),
    )


# Bags.


def _of_bag(path: Path, names: Names, motors: UlogMap) -> Recording:
    found: dict[str, dict[str, Pairs]] = {}
    with BagReader(path, motors) as bag:
        wanted = {
            topic for topic, kind in bag.topics.items()
            if kind.rpartition('/')[2] in _READERS
        }
        for time, message, content in _timed(
            (message, bag.decode(message)) for message in bag.messages(wanted)
        ):
            for key, value in _READERS[message.type.rpartition('/')[2]](
                message.topic, content, names
            ):
                found.setdefault(key, {}).setdefault(message.topic, Pairs()).add(time, value)
    if not found:
        raise SourceError(
            printable(path), 'has no command, state, wrench, IMU or odometry of the robot; '
            f'topics: {", ".join(sorted(wanted)) or "none"}'
        )
    series, late = {}, Counter[str]()
    points, notes = _of_one_topic(found, names.group)
    begin = min(rows[0][0] for rows in points.values())
    for key, rows in points.items():
        table = np.array(rows)
        newest = _newest_before(table[:, 0])
        # An actuator that stops publishes its last stamp again.
        keep, late[key] = table[:, 0] > newest, int(np.count_nonzero(table[:, 0] < newest))
        series[key] = Series(table[keep, 0] - begin, table[keep, 1])
    notes += [f'{key}: {count} messages out of order: left out' for key, count in (+late).items()]
    return _through_fluid(_sorted(printable(path), begin, series, names, notes))


def _timed(
    messages: Iterable[tuple[Recorded, Any]]
) -> Iterator[tuple[float, Recorded, Any]]:
    """Yield each message behind its time [s]: its stamp or, if that is 0, its arrival.

    The clock of a recorder may differ from that of the stamps, as with a simulation. Then a message
    without a stamp has the last stamp before it or, if there is none, the time of the first one.
    """
    latest, early = 0.0, []

    def arrival_of(message: Recorded, otherwise: float) -> float:
        arrival = message.stamp_ns * 1e-9
        return arrival if not latest or abs(latest - arrival) < _SAME_CLOCK else otherwise

    for message, content in messages:
        stamp = content.header.stamp
        time = stamp.sec + stamp.nanosec * 1e-9
        if not time and not latest:
            early.append((message, content))
            continue
        latest = time or latest
        for one, its in early:
            yield arrival_of(one, latest if latest >= 1.0 else 0.0), one, its
        early.clear()
        yield time or arrival_of(message, latest), message, content
    for one, its in early:
        yield arrival_of(one, 0.0), one, its


def _of_one_topic(
    found: Mapping[str, Mapping[str, Pairs]], group: str
) -> tuple[dict[str, Pairs], list[str]]:
    """Return the points of each channel from one topic, the group's own if any, and notes.

    Other nodes may publish the same channels, as desired wrenches and joined states.
    """
    points, notes = {}, []
    for key, topics in found.items():
        own = [topic for topic in topics if f'/{group}/' in topic]
        first = next(iter(own or topics))
        points[key] = topics[first]
        if not own and len(topics) > 1:
            others = ', '.join(topic for topic in topics if topic != first)
            notes.append(f'{first} is read, not {others}')
    return points, list(dict.fromkeys(notes))


def _joints(topic: str, message: Any, names: Names) -> Any:
    """Yield the commands or states of a JointState."""
    is_command = topic.endswith('/command')
    for each in FIELDS:
        for name, value in zip(message.name, getattr(message, each), strict=False):
            if is_command and names.commands.get(name) == each:
                yield name, value
            elif not is_command and name in names.states:
                yield f'{STATE}{name}.{each}', value


def _wrench(topic: str, message: Any, names: Names) -> Any:
    prefix = '' if topic.endswith('wrench_command') else WRENCH
    for what in ('force', 'torque'):
        for axis in 'xyz':
            key = f'{prefix}{what}.{axis}'
            if prefix or key in names.commands:
                yield key, getattr(getattr(message.wrench, what), axis)


def _imu(topic: str, message: Any, names: Names) -> Any:
    for axis in 'xyz':
        yield f'accel_{axis}', getattr(message.linear_acceleration, axis)
        yield f'gyro_{axis}', getattr(message.angular_velocity, axis)


def _odometry(topic: str, message: Any, names: Names) -> Any:
    twist = message.twist.twist
    for axis in 'xyz':
        yield f'body.velocity.{axis}', getattr(twist.linear, axis)
        yield f'body.angular_velocity.{axis}', getattr(twist.angular, axis)
    for axis, name in zip('xyzw', ATTITUDE, strict=True):
        yield name, getattr(message.pose.pose.orientation, axis)
    yield ALTITUDE, message.pose.pose.position.z


def _twist(topic: str, message: Any, names: Names) -> Any:
    if topic.endswith('/current'):
        for axis, name in zip('xyz', _CURRENT, strict=True):
            yield name, getattr(message.twist.linear, axis)


def _through_fluid(recording: Recording) -> Recording:
    """Return a recording with motion relative to the fluid, if a current is recorded."""
    measured = dict(recording.measured)
    current = [measured.pop(name) for name in _CURRENT if name in measured]
    known = [measured[name] for name in (*ATTITUDE, *FLOW[:3]) if name in measured]
    if len(current) == len(_CURRENT) and len({len(each.time) for each in known}) == 1:
        time, count = known[0].time, len(ATTITUDE)
        attitude, flow = (np.stack([each.value for each in part]) for part in (
            known[:count], known[count:]
        ))
        drift = np.stack([each.at(time) for each in current], axis=-1)
        along = np.einsum('jik,kj->ik', np.array(rows_of(tuple(attitude))), drift)
        for name, row in zip(FLOW[:3], flow - along, strict=True):
            measured[name] = Series(time, row)
    return replace(recording, measured=measured)


def _pressure(topic: str, message: Any, names: Names) -> Any:
    """Yield the pressure of a tank or chamber, on `<name>/pressure`; others may be barometers."""
    name = PRESSURE + topic.rpartition('/')[0].rpartition('/')[2]
    if name in names.known:
        _check_pressure(topic, name, names)
        yield names.known[name], message.fluid_pressure * names.factor_of(name)


_READERS = {
    'JointState': _joints, 'WrenchStamped': _wrench, 'Imu': _imu, 'Odometry': _odometry,
    'FluidPressure': _pressure, 'TwistStamped': _twist,
}
"""Reader of each type of message."""
