# SPDX-License-Identifier: Apache-2.0
"""Reads PX4 logs as messages of a bag, with the interface of rosbags' reader, for `BagReader`.

PX4's axes are forward, right, down, and north, east, down; messages have forward, left, up, and
east, north, up (REP 103). The package pyulog reads the file; limits of it are set here:
https://docs.px4.io/main/en/dev_log/ulog_file_format
"""
from __future__ import annotations

import argparse
import contextlib
import heapq
import io
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace as Plain
from typing import Any, NamedTuple

import numpy as np

from propulsion_ros.loops.autopilot import signal_of_thrust
from propulsion_ros.loops.decoders import LATEST_NS
from propulsion_ros.loops.payloads import (
    BatteryRow,
    ImuRow,
    JointRow,
    Kind,
    OdometryRow,
    PressureRow,
)
from propulsion_ros.loops.ports import Outlet
from propulsion_ros.models.common.rotation import matrix_of, product
from propulsion_ros.replay.plain import Wire, plain_message
from propulsion_ros.settings.errors import SourceError, one_line
from propulsion_ros.settings.files import opened, printable
from propulsion_ros.settings.imports import how_to_get
from propulsion_ros.settings.names import is_name
from propulsion_ros.settings.quantity import FloatArray, IntArray

SUFFIX = '.ulg'
_LARGEST = 1024**3  # size of a log [bytes]
_MOST_FIELDS = 200_000  # of all subscriptions, nested ones included; real logs have 10,000
_DEEPEST = 8  # levels of nested fields
_READ_AGAIN = 4  # how often a file may be read, as the library searches behind damage
_SMALL = 1024**2  # size that may be read in addition [bytes]
TOPICS = ('imu', 'odometry', 'pressure', 'battery_state')
"""Topics of a log besides motors and servos."""
_NAME = re.compile(r'(motor|servo)_[1-9]\d?')
_TARGET = re.compile(
    r'/?(?P<group>[A-Za-z_]\w*(/[A-Za-z_]\w*)*)/(?P<name>\w+)(\.(?P<field>velocity|effort))?'
    r'(:(?P<low>-?\d{1,9}(\.\d*)?):(?P<high>-?\d{1,9}(\.\d*)?))?', re.ASCII
)
_FUNCTION = re.compile(r'(\w+)_FUNC(\d+)')
_FIRST = {'motor': 101, 'servo': 201}  # first of PX4's functions of outputs
_MOST = 16  # motors, and servos
_NEAR = 0.02  # largest median difference of an output from its command
_READ = (
    'actuator_motors', 'actuator_outputs', 'actuator_servos', 'battery_status', 'esc_status',
    'sensor_baro', 'sensor_combined', 'vehicle_air_data', 'vehicle_angular_velocity',
    'vehicle_attitude', 'vehicle_local_position',
)
_FLU = np.array([1.0, -1.0, -1.0])  # signs of forward, left, up in PX4's axes
_TO_ENU, _TO_FLU = (0.5**0.5, 0.5**0.5, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)
"""Half turns from PX4's frames to those of messages."""
_RPM = np.pi / 30.0  # one turn a minute [rad/s]
_HECTOPASCAL = 2000.0  # a smaller pressure is in hPa, as of PX4 before 1.14


class _DamageError(Exception):
    """Raised for damage after which the library must not go on to the next message."""


@dataclass(frozen=True)
class Dataset:
    """The messages of one name and instance."""

    name: str
    stamps: IntArray
    """Times since the boot of the autopilot, in order [ns], (t,)."""
    _fields: Mapping[str, Any]
    _order: IntArray

    def column(self, field: str) -> FloatArray:
        """Return the values of a field, (t,), NaN for one that this firmware did not have."""
        given = self._fields.get(field)
        if given is None:
            return np.full(len(self.stamps), np.nan)
        return np.asarray(given[self._order], float)

    def columns(self, *fields: str) -> FloatArray:
        """Return the values of some fields, (t, k)."""
        return np.column_stack([self.column(field) for field in fields])


@dataclass(frozen=True)
class Log:
    """Content of a log as far as it was requested."""

    datasets: list[Dataset]
    parameters: Mapping[str, float]
    """Parameters at its beginning."""
    names: list[str]
    """Names of all its messages."""
    notes: list[str]
    """Its firmware, and its faults, one line each."""

    def of(self, *names: str) -> list[Dataset]:
        """Return the datasets of some messages, in this order, by instance."""
        return [each for name in names for each in self.datasets if each.name == name]


def read_log(path: Path, wanted: Collection[str]) -> Log:
    """Return the messages of some names in a log.

    Raises `SourceError`, naming the file, for a missing package or a faulty log.
    """
    name, seen = printable(path), dict[str, None]()
    try:
        # Only users of such logs need this package.
        import pyulog
    except ImportError as error:
        raise SourceError(
            name, f'the Python package pyulog reads logs of PX4: {how_to_get("pyulog")}'
        ) from error
    try:
        # The library prints the damage that it finds.
        with opened(path, _LARGEST) as file, contextlib.redirect_stdout(io.StringIO()):
            return _log(_bounded(pyulog.ULog, seen)(_Limited(file), list(wanted)), list(seen))
    except SourceError:
        raise
    except Exception as error:
        # The library raises errors of any type for a damaged file.
        reason = one_line(str(error))[:300] or type(error).__name__
        raise SourceError(name, f'is not a readable ULog: {reason}') from error


def _log(read: Any, names: list[str]) -> Log:
    info, datasets = read.msg_info_dict, []
    release = info.get('ver_sw_release', 0)
    version = '.'.join(str(release >> shift & 255) for shift in (24, 16, 8))
    notes = [f'{info.get("sys_name", "unknown firmware")} {version} on {info.get("ver_hw", "")}']
    for each in read.data_list:
        time = np.asarray(each.data['timestamp'])
        good = np.flatnonzero((time > 0) & (time < LATEST_NS // 1000))
        if len(good) < len(time):
            notes.append(f'{each.name}: {len(time) - len(good)} without a time: left out')
        order = good[np.argsort(time[good], kind='stable')]
        if len(order):
            stamps = time[order].astype(np.int64) * 1000
            datasets.append(Dataset(each.name, stamps, each.data, order))
    if read.dropouts:
        lost = sum(int(each.duration) for each in read.dropouts)
        notes.append(f'{len(read.dropouts)} dropouts while logging, {lost} ms together')
    if read.file_corruption:
        notes.append('it is damaged: what could be read of it is used')
    return Log(datasets, {
        key: float(value) for key, value in read.initial_parameters.items()
        if isinstance(value, (int, float)) and np.isfinite(value)
    }, names, notes)


def _bounded(reader: Any, seen: dict[str, None]) -> Any:
    """Return the library's reader, with a record of message names and limits of formats."""
    left = _MOST_FIELDS

    class Subscription(reader._MessageAddLogged):  # type: ignore[misc]
        """Counts the fields of a format before the library creates them."""

        def _parse_nested_type(self, prefix: str, name: str, formats: Mapping[str, Any]) -> None:
            nonlocal left
            left -= 1 + sum(max(size, 1) for _, size, _ in formats[name].fields)
            if left < 0 or prefix.count('.') > _DEEPEST:
                raise _DamageError(
                    f'its messages have over {_MOST_FIELDS} fields, or over {_DEEPEST} levels'
                )
            if not prefix:
                seen[name] = None
            super()._parse_nested_type(prefix, name, formats)

    return type('Bounded', (reader,), {'_MessageAddLogged': Subscription})


class _Limited:
    """A file with a limit on reading, as the library goes back to search behind damage."""

    def __init__(self, file: io.BufferedReader) -> None:
        self._file, self._left = file, _READ_AGAIN * file.seek(0, io.SEEK_END) + _SMALL
        self.seek, self.tell = file.seek, file.tell
        file.seek(0)

    def read(self, size: int) -> bytes:
        """Return the next bytes."""
        data = self._file.read(size)
        self._left -= len(data) + 1
        if self._left < 0:
            raise _DamageError('most of it is damaged')
        return data

    def close(self) -> None:
        """Do nothing: the caller closes the file."""


class Target(NamedTuple):
    """An actuator of a robot, and its commands for PX4's smallest and largest signal."""

    group: str
    name: str
    field: str
    low: float
    high: float


class UlogMap(NamedTuple):
    """Actuators and topics of a robot, by their names in a log."""

    actuators: Mapping[str, Target] = {}
    topics: Mapping[str, str] = {}

    def target(self, name: str) -> Target:
        """Return the actuator of a motor or servo, by default one of its own name."""
        kind = name.partition('_')[0]
        own = Target(f'{kind}s', name, 'position', -1.0 if kind == 'servo' else 0.0, 1.0)
        return self.actuators.get(name, own)


UNMAPPED = UlogMap()


def read_map(texts: Iterable[str]) -> UlogMap:
    """Return the map of some options; raise `SourceError` if one is invalid.

    Each is ``NAME=TARGET``, or several apart by commas: ``motor_1=rotors/front_left``,
    ``servo_2=fins/rudder:-0.4:0.4``, ``motor_1=pods/bow.velocity:0:300``,
    ``pressure=/flight_state/pressure``.
    """
    actuators, topics = dict[str, Target](), dict[str, str]()
    for text in (part.strip() for given in texts for part in given.split(',')):
        name, _, target = text.partition('=')
        if name in TOPICS and is_name(target, before='/'):
            topics[name] = f'/{target.removeprefix("/")}'
        elif _NAME.fullmatch(name) and (match := _TARGET.fullmatch(target)):
            own = UNMAPPED.target(name)
            meant = Target(
                match['group'], match['name'], match['field'] or 'position',
                float(match['low'] or own.low), float(match['high'] or own.high),
            )
            for other, one in actuators.items():
                if other != name and one[:2] == meant[:2]:
                    raise SourceError('--map', f'{other} and {name} are both {meant.name}')
            actuators[name] = meant
        else:
            raise SourceError('--map', (
                'expected motor_<n>=GROUP/ACTUATOR, servo_<n>=GROUP/ACTUATOR:LOW:HIGH, or one of '
                f'{", ".join(TOPICS)}=TOPIC, got {text!r}'
            ))
    return UlogMap(actuators, topics)


class Channel(NamedTuple):
    """Signal that one motor or servo received."""

    name: str
    """Such as motor_1 or servo_1."""
    dataset: Dataset
    part: FloatArray
    """Signal from -1 to 1, (t,); below 0 only of servos and of reversible motors."""
    source: str
    """Source of the signal in the log, for messages to the user."""


def channels_of(log: Log) -> Iterator[Channel]:
    """Yield the motors and servos of a log.

    PX4 commands thrusts of motors, which the curve THR_MDL_FAC turns into signals, and positions of
    servos. If an output, scaled by the limits in its parameters, follows the command, then that is
    the signal, as it shows stops and tests too. Outputs of DShot have other limits.
    """
    factor = log.parameters.get('THR_MDL_FAC', 0.0)
    for data in log.of('actuator_motors', 'actuator_servos'):
        kind = data.name[9:14]
        for i in range(_MOST):
            part = data.column(f'control[{i}]')
            if np.isnan(part).all():
                continue
            part = signal_of_thrust(part, factor) if kind == 'motor' else part
            source = data.name + f', THR_MDL_FAC {factor:g}' * (kind == 'motor')
            wanted = Channel(f'{kind}_{i + 1}', data, np.nan_to_num(part), source)
            yield next(_outputs(log, wanted, _FIRST[kind] + i), wanted)


def _outputs(log: Log, wanted: Channel, function: int) -> Iterator[Channel]:
    """Yield the outputs of a function that follow its command with at least as many samples."""
    least = -1.0 if wanted.name.startswith('servo') else 0.0
    for match in filter(None, map(_FUNCTION.fullmatch, log.parameters)):
        driver, number, place = match[1], match[2], f'output[{int(match[2]) - 1}]'
        low, high = (
            log.parameters.get(f'{driver}_{end}{number}', 0.0) for end in ('MIN', 'MAX')
        )
        for data in log.of('actuator_outputs') if low < high else ():
            if log.parameters[match[0]] == function and len(data.stamps) >= len(wanted.part):
                part = np.clip((data.column(place) - low) / (high - low), 0.0, 1.0)
                part = least + (1.0 - least) * part
                there = np.interp(data.stamps, wanted.dataset.stamps, wanted.part)
                # On the ground, with commands of 0, all outputs agree.
                far = np.abs(part - there)[there != 0.0]
                if len(far) and float(np.median(far)) < _NEAR:
                    source = f'actuator_outputs.{place}, {driver} {low:g} to {high:g}'
                    yield Channel(wanted.name, data, part, source)


def add_map(parser: argparse.ArgumentParser) -> None:
    """Add the option that names the motors of a log to a command with an INPUT."""
    parser.add_argument(
        '--map', action='append', default=[], metavar='NAME=TARGET',
        help='what the motors of a log of PX4 (.ulg) are: motor_1=GROUP/ACTUATOR, or '
        'servo_1=GROUP/ACTUATOR:-0.4:0.4 with its angles at -1 and 1; or a topic, such as '
        'pressure=/flight_state/pressure (several apart by commas)',
    )


def map_of(args: argparse.Namespace) -> UlogMap:
    """Return the map of that option; raise `SourceError` if it is invalid, or INPUT no log."""
    if args.map and args.input.suffix != SUFFIX:
        raise SourceError('--map', f'is for logs of PX4 ({SUFFIX}), got {printable(args.input)}')
    return read_map(args.map)


class _Messages(NamedTuple):
    """The messages of one topic."""

    topic: str
    kind: str
    stamps: IntArray
    """Stamps, (t,) [ns]."""
    numbers: FloatArray
    """Numbers of each message, (t, k)."""
    payload: Callable[[list[float]], Any]
    """Returns the payload of a message for `plain_message` from its numbers."""


class UlogReader:
    """Reads a PX4 log through the interface of a reader of rosbags.

    Parameters
    ----------
    names : UlogMap
        Actuators and topics of the log.

    Attributes
    ----------
    notes : list of str
        Its content, and messages that are not read, one line each.
    """

    compression_mode, storage = '', None

    def __init__(self, path: Path, names: UlogMap = UNMAPPED) -> None:
        self._path, self._names = path, names
        self.connections: list[Plain] = []
        self.notes: list[str] = []

    def __enter__(self) -> UlogReader:
        log, names, self._wire = read_log(self._path, _READ), self._names, Wire()
        channels = [*channels_of(log)]
        absent = ', '.join(sorted(set(names.actuators).difference(each.name for each in channels)))
        if absent:
            known = ', '.join(each.name for each in channels)
            raise SourceError(printable(self._path), (
                f'--map: has no {absent}; has {known or "none, as logs of PX4 before 1.13"}'
            ))
        for each in (*_commands(channels, names), *_speeds(log, channels, names), *_sensors(log)):
            topic = f'/px4/{each.topic}' if each.topic in TOPICS else each.topic
            self.connections.append(Plain(
                topic=names.topics.get(each.topic, topic), msgtype=each.kind, messages=each,
                msgcount=len(each.stamps), digest='', ext=Plain(offered_qos_profiles=[]),
            ))
        self.notes = [*log.notes, *(f'{each.name}: {each.source}' for each in channels)]
        self.notes.append(f'not read: {", ".join(sorted({*log.names}.difference(_READ)))}')
        return self

    def __exit__(self, *error: object) -> None:
        self.connections = []

    @property
    def start_time(self) -> int:
        """Stamp of the first message [ns]."""
        return min((int(each.messages.stamps[0]) for each in self._filled), default=0)

    @property
    def end_time(self) -> int:
        """Stamp of the last message plus 1 [ns], as rosbags has it."""
        return max((int(each.messages.stamps[-1]) + 1 for each in self._filled), default=1)

    @property
    def _filled(self) -> Iterator[Plain]:
        return (each for each in self.connections if each.msgcount)

    @property
    def message_count(self) -> int:
        """Number of messages."""
        return sum(each.msgcount for each in self.connections)

    def messages(self, connections: Collection[Any]) -> Iterator[tuple[Any, int, bytes]]:
        """Yield connection, stamp [ns] and bytes of the messages, by stamp."""
        return heapq.merge(*map(self._one, connections), key=lambda each: each[1])

    def _one(self, connection: Any) -> Iterator[tuple[Any, int, bytes]]:
        given: _Messages = connection.messages
        frame = 'odom' if given.kind == Kind.ODOMETRY else 'base_link'
        outlet = Outlet(connection.topic, given.kind, 'result', frame=frame)
        for stamp_ns, row in zip(given.stamps, given.numbers, strict=True):
            message = plain_message(outlet, int(stamp_ns), given.payload(row.tolist()))
            yield connection, int(stamp_ns), self._wire.serialise(message, given.kind)


def _commands(channels: Sequence[Channel], names: UlogMap) -> Iterator[_Messages]:
    """Yield the commands of each group, those of one source in one message."""
    together: dict[tuple[str, str, int], dict[str, FloatArray]] = {}
    datasets = {id(each.dataset): each.dataset for each in channels}
    for each in channels:
        target = names.target(each.name)
        part = (each.part + 1.0) / 2.0 if each.name.startswith('servo') else each.part
        own = together.setdefault((target.group, target.field, id(each.dataset)), {})
        own[target.name] = target.low + (target.high - target.low) * part
    for (group, field, source), own in together.items():
        yield _joints(f'/{group}/command', field, datasets[source], own)


def _speeds(log: Log, channels: Sequence[Channel], names: UlogMap) -> Iterator[_Messages]:
    """Yield the speeds that ESCs measured [rad/s], those of each group in one message."""
    known, together = {each.name for each in channels}, dict[str, dict[str, FloatArray]]()
    for data in log.of('esc_status')[:1]:
        for i in range(8):
            function = int(np.nan_to_num(data.column(f'esc[{i}].actuator_function')).max())
            # Firmware before 1.14 has other numbers there.
            name = f'motor_{function - 100 if function > 100 else i + 1}'
            target, speed = names.target(name), _RPM * data.column(f'esc[{i}].esc_rpm')
            if name in known and speed.any():
                together.setdefault(target.group, {})[target.name] = speed
        for group, own in together.items():
            yield _joints(f'/{group}/state', 'velocity', data, own)


def _joints(topic: str, field: str, data: Dataset, columns: Mapping[str, FloatArray]) -> _Messages:
    names = [*columns]
    return _Messages(
        topic, Kind.JOINTS, data.stamps, np.column_stack([*columns.values()]),
        lambda row: JointRow(names=names, **{field: row}),
    )


def _sensors(log: Log) -> Iterator[_Messages]:
    """Yield the messages of sensors and of the estimator, by `TOPICS`."""
    for data in log.of('sensor_combined')[:1]:
        force = data.columns(*(f'accelerometer_m_s2[{i}]' for i in range(3))) * _FLU
        gyro = data.columns(*(f'gyro_rad[{i}]' for i in range(3))) * _FLU
        # The stamp of a mean over an interval [us] is moved to its middle.
        width = np.clip(np.nan_to_num(data.column('gyro_integral_dt')), 0.0, 1e5)
        yield _Messages(
            'imu', Kind.IMU, data.stamps - (500.0 * width).astype(np.int64),
            np.hstack((force, gyro)), lambda row: ImuRow(row[:3], row[3:]),
        )
    for place, attitude in zip(
        log.of('vehicle_local_position')[:1], log.of('vehicle_attitude'), strict=False
    ):
        yield _odometry(place, attitude, log.of('vehicle_angular_velocity'))
    for data in log.of('vehicle_air_data', 'sensor_baro')[:1]:
        field = 'baro_pressure_pa' if data.name == 'vehicle_air_data' else 'pressure'
        pressure = data.columns(field)
        pressure[pressure < _HECTOPASCAL] *= 100.0
        yield _Messages(
            'pressure', Kind.PRESSURE, data.stamps, pressure, lambda row: PressureRow(*row)
        )
    # Capacity [mA h], below 0 if not known.
    capacity = log.parameters.get('BAT1_CAPACITY', -1.0)
    for data in log.of('battery_status')[:1]:
        yield _Messages(
            'battery_state', Kind.BATTERY, data.stamps,
            data.columns('voltage_v', 'current_a', 'remaining'),
            lambda row: BatteryRow('battery', 1e-3 * capacity if capacity > 0.0 else np.nan, *row),
        )


def _odometry(place: Dataset, attitude: Dataset, rates: Sequence[Dataset]) -> _Messages:
    """Return position and motion, with the attitude interpolated to their stamps."""
    stamps, q = place.stamps, attitude.columns('q[1]', 'q[2]', 'q[3]', 'q[0]')
    # The sign of each quaternion is that of the one before, as interpolation requires.
    q[1:] *= np.cumprod(np.where(np.sum(q[1:] * q[:-1], axis=1) < 0.0, -1.0, 1.0))[:, None]
    x, y, z, w = _between(stamps, attitude, q).T
    turned = np.column_stack(product(_TO_ENU, product((x, y, z, w), _TO_FLU)))
    with np.errstate(invalid='ignore'):
        turned /= np.linalg.norm(turned, axis=1, keepdims=True)
    velocity = place.columns('vy', 'vx', 'vz') * [1.0, 1.0, -1.0]
    spin = np.zeros((len(stamps), 3))
    for rate in rates[:1]:
        spin = _between(stamps, rate, rate.columns('xyz[0]', 'xyz[1]', 'xyz[2]') * _FLU)
    numbers = np.hstack((
        place.columns('y', 'x', 'z') * [1.0, 1.0, -1.0], turned,
        np.einsum('tji,tj->ti', matrix_of(turned), velocity), spin,
    ))
    # Rows that PX4 flags as invalid are left out; logs of older firmware have no flags.
    flags = place.columns('xy_valid', 'z_valid', 'v_xy_valid', 'v_z_valid')
    known = np.isfinite(numbers).all(axis=1) & (flags != 0.0).all(axis=1)
    known &= (stamps >= attitude.stamps[0]) & (stamps <= attitude.stamps[-1])
    return _Messages(
        'odometry', Kind.ODOMETRY, stamps[known], numbers[known],
        lambda row: OdometryRow('base_link', row[:3], row[3:7], row[7:10], row[10:]),
    )


def _between(stamps: IntArray, data: Dataset, values: FloatArray) -> FloatArray:
    """Return values of a dataset interpolated at other stamps, (t, k)."""
    return np.column_stack([np.interp(stamps, data.stamps, column) for column in values.T])
