# SPDX-License-Identifier: Apache-2.0
"""Logs of PX4 as messages, in the place of a bag: what rosbags' reader has, for `BagReader`.

PX4's axes are forward, right, down, and north, east, down; messages have forward, left, up, and
east, north, up (REP 103).
"""
from __future__ import annotations

import heapq
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace as Plain
from typing import Any, NamedTuple

import numpy as np

from propulsion_ros.loops.payloads import BatteryRow, JointRow, Kind, OdometryRow, PressureRow
from propulsion_ros.loops.ports import Outlet
from propulsion_ros.models.common.rotation import matrix_of, product
from propulsion_ros.replay.cdr import Wire
from propulsion_ros.replay.plain import encoded_rows, maker_of
from propulsion_ros.replay.ulog import Dataset, Log, read_log
from propulsion_ros.replay.ulog_actuators import Channel, channels_of
from propulsion_ros.replay.ulog_map import TOPICS, UNMAPPED, UlogMap
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.files import printable
from propulsion_ros.settings.quantity import FloatArray, IntArray

READ = (
    'actuator_motors', 'actuator_outputs', 'actuator_servos', 'battery_status', 'esc_status',
    'sensor_baro', 'sensor_combined', 'vehicle_air_data', 'vehicle_angular_velocity',
    'vehicle_attitude', 'vehicle_local_position',
)
"""Messages of PX4 that are read."""
_BLOCK = 4096
_FLU, _ENU = np.array([1.0, -1.0, -1.0]), [1, 0, 2]
_TO_ENU, _TO_FLU = (0.5**0.5, 0.5**0.5, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)
"""Half turns that take one frame to the other."""
_RPM = np.pi / 30.0
_HECTO = 2000.0
"""Pressures below are in hPa, as PX4's barometers had them before 1.14."""
_AMPERE_HOURS = 1e-3


class _Stream(NamedTuple):
    """Messages of one topic, which differ in their stamps and some of their numbers alone."""

    topic: str
    kind: str
    first: Any
    stamps: IntArray
    numbers: FloatArray
    """(t, k)."""
    columns: Sequence[int] | slice = slice(None)
    """Which numbers of a message these are, as `encoded_rows` has them."""

    @property
    def connection(self) -> Plain:
        """What rosbags has of it."""
        return Plain(
            topic=self.topic, msgtype=self.kind, msgcount=len(self.stamps), digest='',
            ext=Plain(offered_qos_profiles=[]), stream=self,
        )


class UlogReader:
    """A log of PX4 in the place of a reader of rosbags.

    Parameters
    ----------
    path : Path
        The log.
    names : UlogMap
        What its motors are.

    Attributes
    ----------
    notes : list of str
        What it has, and what is not read, one line each.
    """

    compression_mode, storage = '', None

    def __init__(self, path: Path, names: UlogMap = UNMAPPED) -> None:
        self._path, self._names = path, names
        self.connections: list[Plain] = []
        self.notes: list[str] = []

    def __enter__(self) -> UlogReader:
        log = read_log(self._path, READ)
        channels = channels_of(log)
        self._check_names(channels)
        self._wire = Wire()
        streams = [*_commands(channels, self._names), *_speeds(log, channels, self._names)]
        given = _imu(log), _odometry(log), _pressure(log), _battery(log)
        for name, made in zip(TOPICS, given, strict=True):
            streams += [each._replace(topic=self._names.topic(name)) for each in made]
        if not streams:
            raise SourceError(printable(self._path), 'has nothing that is read of a log of PX4: '
                              f'{", ".join(log.names[:20]) or "no messages"}')
        self.connections = [each.connection for each in streams]
        self.notes = list(_about(log, channels, self._names))
        return self

    def __exit__(self, *error: object) -> None:
        self.connections = []

    @property
    def message_count(self) -> int:
        """Number of messages."""
        return sum(each.msgcount for each in self.connections)

    def messages(self, connections: Collection[Any]) -> Iterator[tuple[Any, int, Any]]:
        """Yield connection, stamp [ns] and bytes of the messages, by stamp."""
        return heapq.merge(*map(self._one, connections), key=lambda each: each[1])

    def _one(self, connection: Any) -> Iterator[tuple[Any, int, Any]]:
        stream = connection.stream
        for i in range(0, len(stream.stamps), _BLOCK):
            stamps = stream.stamps[i:i + _BLOCK]
            rows = encoded_rows(
                self._wire, stream.first, stream.kind, stamps, stream.numbers[i:i + _BLOCK],
                stream.columns,
            )
            for stamp_ns, row in zip(stamps.tolist(), rows, strict=True):
                yield connection, stamp_ns, row.tobytes()

    def _check_names(self, channels: Sequence[Channel]) -> None:
        known = [each.name for each in channels]
        for name in self._names.actuators:
            if name not in known:
                raise SourceError(
                    printable(self._path), f'--map {name}: is not in it; it has '
                    f'{", ".join(known) or "no motors whose outputs are known"}'
                )


def _first(topic: str, kind: str, payload: Any, **fields: Any) -> Any:
    outlet = Outlet(topic, kind, 'result', frame=fields.pop('frame', 'base_link'))
    message = maker_of(outlet)(outlet, 0, payload)
    return Plain(**{**vars(message), **fields})


# Actuators.


def _commands(channels: Sequence[Channel], names: UlogMap) -> Iterator[_Stream]:
    """Yield the commands of each group, those of one source in one message."""
    together: dict[tuple[str, str, int], list[Channel]] = {}
    for each in channels:
        target = names.target(each.name)
        together.setdefault((target.group, target.field, id(each.dataset)), []).append(each)
    for (group, field, _), own in together.items():
        targets = [names.target(each.name) for each in own]
        values = []
        for each, target in zip(own, targets, strict=True):
            part = (each.values + 1.0) / 2.0 if each.name.startswith('servo') else each.values
            values.append(target.low + (target.high - target.low) * part)
        yield _joints(
            f'/{group}/command', [target.name for target in targets], field,
            own[0].dataset.stamps, np.column_stack(values),
        )


def _speeds(log: Log, channels: Sequence[Channel], names: UlogMap) -> Iterator[_Stream]:
    """Yield the speeds that ESCs measured [rad/s], those of each group in one message."""
    status = log.first('esc_status')
    if status is None:
        return
    together: dict[str, list[tuple[str, FloatArray]]] = {}
    for i in range(8):
        speed = status.column(f'esc[{i}].esc_rpm') * _RPM
        function = np.nan_to_num(status.column(f'esc[{i}].actuator_function'))
        number = int(function.max()) - 100 if function.any() else i + 1
        name = f'motor_{number}'
        if speed.any() and any(each.name == name for each in channels):
            target = names.target(name)
            together.setdefault(target.group, []).append((target.name, speed))
    for group, given in together.items():
        yield _joints(
            f'/{group}/state', [name for name, _ in given], 'velocity', status.stamps,
            np.column_stack([speed for _, speed in given]),
        )


def _joints(
    topic: str, names: list[str], field: str, stamps: IntArray, numbers: FloatArray
) -> _Stream:
    row = JointRow(names=names, **{field: np.zeros(len(names))})
    return _Stream(topic, Kind.JOINTS, _first(topic, Kind.JOINTS, row), stamps, numbers)


# Sensors and estimates.


def _imu(log: Log) -> Iterator[_Stream]:
    """Yield specific force and rate of turn; a mean over a time is of its middle."""
    data = log.first('sensor_combined')
    if data is None:
        return
    gyro = data.columns(*(f'gyro_rad[{i}]' for i in range(3))) * _FLU
    force = data.columns(*(f'accelerometer_m_s2[{i}]' for i in range(3))) * _FLU
    width = np.clip(np.nan_to_num(data.column('gyro_integral_dt')), 0.0, 1e5)
    zero = Plain(x=0.0, y=0.0, z=0.0)
    first = Plain(
        header=Plain(stamp=Plain(sec=0, nanosec=0), frame_id='base_link'),
        # Without an orientation, as the type has it.
        orientation=Plain(x=0.0, y=0.0, z=0.0, w=1.0),
        orientation_covariance=np.array([-1.0, *[0.0] * 8]),
        angular_velocity=zero, angular_velocity_covariance=np.zeros(9),
        linear_acceleration=zero, linear_acceleration_covariance=np.zeros(9),
    )
    yield _Stream(
        '', Kind.IMU, first, data.stamps - (width * 500.0).astype(np.int64),
        np.hstack((gyro, force)), [13, 14, 15, 25, 26, 27],
    )


def _odometry(log: Log) -> Iterator[_Stream]:
    """Yield place and motion, with the attitude at that time between its neighbours."""
    place, attitude = log.first('vehicle_local_position'), log.first('vehicle_attitude')
    if place is None or attitude is None:
        return
    stamps = place.sampled
    q = attitude.columns(*(f'q[{i}]' for i in (1, 2, 3, 0)))
    good = np.isfinite(q).all(axis=1) & (np.abs(np.linalg.norm(q, axis=1) - 1.0) < 0.1)
    if not good.any():
        return
    x, y, z, w = _between(stamps, attitude.sampled[good], _continuous(q[good])).T
    turned = np.column_stack(product(_TO_ENU, product((x, y, z, w), _TO_FLU)))
    rates = log.first('vehicle_angular_velocity')
    spin = np.zeros((len(stamps), 3)) if rates is None else _between(
        stamps, rates.sampled, rates.columns('xyz[0]', 'xyz[1]', 'xyz[2]') * _FLU
    )
    position = place.columns('x', 'y', 'z')[:, _ENU] * [1.0, 1.0, -1.0]
    velocity = place.columns('vx', 'vy', 'vz')[:, _ENU] * [1.0, 1.0, -1.0]
    turned /= np.linalg.norm(turned, axis=1, keepdims=True)
    in_body = np.einsum('tji,tj->ti', matrix_of(turned), velocity)
    numbers = np.hstack((position, turned, in_body, spin))
    known = np.isfinite(numbers).all(axis=1)
    still = [0.0] * 3
    first = _first('', Kind.ODOMETRY, OdometryRow(
        'base_link', still, [0.0, 0.0, 0.0, 1.0], still, still
    ), frame='odom')
    yield _Stream(
        '', Kind.ODOMETRY, first, stamps[known], numbers[known], [*range(7), *range(43, 49)]
    )


def _continuous(q: FloatArray) -> FloatArray:
    """Return quaternions of which each is on the side of the one before, (t, 4)."""
    flips = np.sum(q[1:] * q[:-1], axis=1) < 0.0
    signs = np.concatenate(([1.0], np.cumprod(np.where(flips, -1.0, 1.0))))
    return np.asarray(q * signs[:, None])


def _between(stamps: IntArray, given: IntArray, values: FloatArray) -> FloatArray:
    """Return values at other stamps, (t, k)."""
    begin = int(given[0])
    return np.column_stack([
        np.interp(stamps - begin, given - begin, column) for column in values.T
    ])


def _pressure(log: Log) -> Iterator[_Stream]:
    data = log.first('vehicle_air_data', 'sensor_baro')
    if data is not None:
        pressure = data.column('baro_pressure_pa' if 'baro_pressure_pa' in data else 'pressure')
        pressure = np.where(pressure < _HECTO, 100.0 * pressure, pressure)
        first = _first('', Kind.PRESSURE, PressureRow(0.0))
        yield _Stream('', Kind.PRESSURE, first, data.sampled, pressure[:, None], [0])


def _battery(log: Log) -> Iterator[_Stream]:
    for data in log.of('battery_status')[:1]:
        capacity = log.parameters.get('BAT1_CAPACITY', log.parameters.get('BAT_CAPACITY', -1.0))
        capacity = capacity * _AMPERE_HOURS if capacity > 0.0 else np.nan
        row = BatteryRow('battery', capacity, 0.0, 1.0, 0.5)
        left = data.column('remaining')
        numbers = np.column_stack((
            data.column('voltage_v'), -data.column('current_a'), left * capacity, left
        ))
        first = _first('', Kind.BATTERY, row, cell_voltage=np.zeros(0, np.float32),
                       cell_temperature=np.zeros(0, np.float32), frame='')
        yield _Stream('', Kind.BATTERY, first, data.stamps, numbers, [0, 2, 3, 6])


# For people.


def _about(log: Log, channels: Sequence[Channel], names: UlogMap) -> Iterator[str]:
    yield log.about or 'of an unknown firmware'
    for each in channels:
        target = names.target(each.name)
        yield (
            f'{each.name}: {_rate(each.dataset)} of {each.source}; /{target.group}/command '
            f'{target.name}.{target.field}, {target.low:g} to {target.high:g}'
        )
    yield from log.notes
    unread = [name for name in log.names if name not in READ]
    if unread:
        yield f'not read: {", ".join(unread)}'


def _rate(data: Dataset) -> str:
    span = int(data.stamps[-1] - data.stamps[0])
    return f'{(len(data.stamps) - 1) / (span * 1e-9) if span else 0.0:.1f} Hz'
