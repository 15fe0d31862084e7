# SPDX-License-Identifier: Apache-2.0
"""Reads the signals of a bag that can be plotted, by the names and types of its topics."""
from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from propulsion_ros.drawing.figure import COMMAND, PUBLISHED, RESIDUAL, Mark
from propulsion_ros.loops.decoders import fired_by, msg_to_inertia, msg_to_wrench
from propulsion_ros.loops.payloads import Kind
from propulsion_ros.models.common.family import FIELDS
from propulsion_ros.models.common.rotation import Vector, rotate, rows_of, rpy_of, unit
from propulsion_ros.models.common.wrench import move_wrench
from propulsion_ros.pictures.signals import DETECTED, OF_TANKS, Channel, Fit, Placed, Signals
from propulsion_ros.replay.bags import BagReader
from propulsion_ros.replay.table_writer import BATTERY_PARTS
from propulsion_ros.replay.ulog_reader import UNMAPPED, UlogMap
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.files import printable

_Reading = Callable[[Signals, str, float, Any], None]
"""``reading(signals, topic, time, message)`` adds the values of a ``<source>/<leaf>``."""
_SMALLEST, _LARGEST = 1e-6, 1e6  # norms of quaternions that are an attitude


def signals_of_bag(path: Path, namespace: str = '', motors: UlogMap = UNMAPPED) -> Signals:
    """Return the contents of a bag's topics of this package's nodes.

    Times are the stamps of the messages. A message without a stamp, or a command with stamp 0, gets
    that of the latest stamped message recorded before it, except latched ones, which may be much
    older.

    ``path`` is a folder, .mcap, .db3 or .ulg file. Only topics below ``namespace`` are taken, and
    named without it. ``motors`` has the motors of a log of PX4.

    Raises
    ------
    SourceError
        If the bag cannot be read, has no such topic, or the flights of several vehicles.
    """
    prefix = f'/{namespace.strip("/")}/'.replace('//', '/')
    with BagReader(path, motors) as bag:
        readings = readings_of(path, bag.topics, prefix)
        sorter = Sorter(printable(path), prefix, readings)
        for message in bag.messages(readings):
            sorter.take(message.topic, message.stamp_ns * 1e-9, bag.decode(message))
    return sorter.finish()


def readings_of(path: Path, topics: Mapping[str, str], prefix: str) -> dict[str, _Reading]:
    """Return the reading of each topic that is read."""
    found: dict[str, _Reading] = {}
    for topic, kind in topics.items():
        parent, _, leaf = topic.rpartition('/')
        above = parent.rpartition('/')[2]
        key = above if above in ('tanks', 'battery_state') else leaf
        reading = _READINGS.get((key, kind))
        if reading is _read_demand and f'{parent}/wrench' not in topics:
            reading = _read_allocated
        if reading is not None and topic.startswith(prefix):
            found[topic] = reading
    if not found:
        raise SourceError(
            str(path), f'expected a topic such as {prefix}<group>/state or '
            f'{prefix}flight_state/fit, got {", ".join(sorted(topics)) or "none"}'
        )
    flights = {topic.rpartition('/')[0] for topic, reading in found.items() if reading in _FLIGHT}
    if len(flights) > 1:
        raise SourceError(
            str(path), f'expected one flight_state, got {", ".join(sorted(flights))}; '
            'choose one vehicle by its namespace'
        )
    # In a picture of the newest messages, the centre of mass is read before the wrenches about it.
    found = dict(sorted(found.items(), key=lambda item: item[1] is not _read_mass))
    if any(reading is _read_flags for reading in found.values()):
        # Flags have the phase too, with a stamp.
        return {topic: reading for topic, reading in found.items() if reading is not _read_phase}
    return found


class Sorter:
    """Gives each message its time and its reading.

    Attributes
    ----------
    signals : Signals
        Signals so far; see `finish`.
    """

    def __init__(self, name: str, prefix: str, readings: Mapping[str, _Reading]) -> None:
        self._prefix, self._readings = prefix, readings
        self.signals = Signals(name)
        self._latest: float | None = None
        self._early: list[tuple[str, float, Any]] = []

    def take(self, topic: str, arrival: float, content: Any) -> None:
        """Take one message with its time of arrival [s]."""
        time = _stamp_of(content)
        if time is None or (time == 0.0 and topic.endswith('command')):
            time = self._latest
        elif self._readings[topic] not in _LATCHED:
            self._latest = time
        if time is None:
            self._early.append((topic, arrival, content))
            return
        if self._latest is not None:
            for early, _, message in self._early:
                self._sort(early, self._latest, message)
            self._early.clear()
        self._sort(topic, time, content)

    def finish(self) -> Signals:
        """Return all signals; in a bag without any stamp, at the times of recording."""
        for early in self._early:
            self._sort(*early)
        return self.signals

    def _sort(self, topic: str, time: float, content: Any) -> None:
        self._readings[topic](self.signals, topic.removeprefix(self._prefix), time, content)


def _stamp_of(content: Any) -> float | None:
    header = getattr(content, 'header', None)
    return None if header is None else float(header.stamp.sec + header.stamp.nanosec * 1e-9)


def _read_joints(role: str) -> _Reading:
    def read(signals: Signals, topic: str, time: float, message: Any) -> None:
        source = _source(topic)
        for field in FIELDS:
            values = getattr(message, field)
            # A node refuses other lengths too.
            if len(values) != len(message.name):
                continue
            for name, value in zip(message.name, values.tolist(), strict=True):
                owner, _, part = name.rpartition('/')
                if part in OF_TANKS:
                    signals.add(Channel(source, part, owner, role), time, value)
                elif part not in ('ignition', 'throttle'):
                    signals.add(Channel(source, field, name, role), time, value)
    return read


def _read_wrench(role: str, is_about_mass: bool = False) -> _Reading:
    def read(signals: Signals, topic: str, time: float, message: Any) -> None:
        wrench = msg_to_wrench(message)
        if is_about_mass:
            wrench = move_wrench(wrench, signals.com.get(_robot(topic), np.zeros(3)))
        source = _source(topic)
        _add_parts(signals, source, 'force', 'xyz', time, wrench[:3].tolist(), role)
        _add_parts(signals, source, 'torque', 'xyz', time, wrench[3:].tolist(), role)
    return read


_read_allocated = _read_wrench(COMMAND)
# What takes a wrench and applies one itself, as fam, takes its torque about the centre of mass;
# all published torques are about the origin.
_read_demand = _read_wrench(COMMAND, is_about_mass=True)


def _read_mass(signals: Signals, topic: str, time: float, message: Any) -> None:
    _, signals.com[_robot(topic)], _ = msg_to_inertia(message)


def _robot(topic: str) -> str:
    """Return the namespace of the robot of a topic of its body or of a group."""
    return topic.rpartition('/')[0].rpartition('/')[0]


def _read_tank(signals: Signals, topic: str, time: float, message: Any) -> None:
    group, _, tank = topic.rpartition('/')
    signals.add(Channel(_source(group), 'mass', tank), time, message.inertia.m)


def _read_battery(signals: Signals, topic: str, time: float, message: Any) -> None:
    source = _source(topic) if topic.endswith('/battery_state') else _source(_source(topic))
    for part in BATTERY_PARTS:
        signals.add(Channel(source, part, message.location), time, float(getattr(message, part)))


def _read_odometry(signals: Signals, topic: str, time: float, message: Any) -> None:
    at, q, twist = message.pose.pose.position, message.pose.pose.orientation, message.twist.twist
    v, w = twist.linear, twist.angular
    placed = Placed(time, at.x, at.y, at.z, q.x, q.y, q.z, q.w)
    add_motion(signals, _source(topic), placed, (v.x, v.y, v.z), (w.x, w.y, w.z))


def add_motion(
    signals: Signals, source: str, placed: Placed, velocity: Vector, turn_rate: Vector
) -> None:
    """Append the pose of a body, and its velocity and rate of turn in its axes [m/s], [rad/s]."""
    signals.places.setdefault(source, []).append(placed)
    time, *position = placed[:4]
    _add_parts(signals, source, 'place', 'xyz', time, position)
    _add_parts(signals, source, 'turn_rate', 'xyz', time, map(math.degrees, turn_rate))
    # A publisher that does not know the attitude may leave all of it at 0.
    if _SMALLEST < math.hypot(*placed[4:]) < _LARGEST:
        turned = unit(placed[4:])
        angles = map(math.degrees, rpy_of(rows_of(turned)))
        _add_parts(signals, source, 'attitude', ('roll', 'pitch', 'yaw'), time, angles)
        _add_parts(signals, source, 'world_velocity', 'xyz', time, rotate(turned, velocity))


def _add_parts(
    signals: Signals, source: str, quantity: str, names: Iterable[str], time: float,
    values: Iterable[float], role: str = PUBLISHED,
) -> None:
    for name, value in zip(names, values, strict=True):
        signals.add(Channel(source, quantity, name, role), time, value)


def _read_joint_states(signals: Signals, topic: str, time: float, message: Any) -> None:
    for name, value in zip(message.name, message.position.tolist(), strict=False):
        signals.joints.setdefault(name, []).append((time, value))


def _read_deployers(signals: Signals, topic: str, time: float, message: Any) -> None:
    for name in fired_by(message):
        signals.flight.fired.setdefault(name, time)


def _read_description(signals: Signals, topic: str, time: float, message: Any) -> None:
    signals.robot_description = message.data


def _read_fit(signals: Signals, topic: str, time: float, message: Any) -> None:
    fitted = dict(zip(message.name, message.position, strict=False))
    motion = (float(fitted.get(name, math.nan)) for name in _MOTION)
    signals.flight.fits.append(Fit(time, *motion))
    vertex = (fitted.get('apogee_time', math.nan), fitted.get('apogee_altitude', math.nan))
    signals.flight.predictions.append((time, float(vertex[0]), float(vertex[1])))


def _read_flags(signals: Signals, topic: str, time: float, message: Any) -> None:
    flight = signals.flight
    for status in message.status:
        flags = {pair.key: pair.value for pair in status.values}
        flight.phases.append(Mark(time, flags.get('phase', '')))
        flight.health.append(Mark(time, flags.get('health', '')))
        liftoff, apogee = (_seconds(flags.get(name, '')) for name in ('liftoff', 'apogee'))
        mark = Mark(liftoff, 'liftoff')
        if math.isfinite(liftoff) and mark not in flight.marks:
            flight.marks.append(mark)
        decision = Mark(apogee, flags.get('apogee_source') or DETECTED)
        if math.isfinite(apogee) and decision not in flight.detections:
            flight.detections.append(decision)


def _read_phase(signals: Signals, topic: str, time: float, message: Any) -> None:
    signals.flight.phases.append(Mark(time, message.data))


def _read_events(signals: Signals, topic: str, time: float, message: Any) -> None:
    signals.flight.marks += [Mark(time, status.name) for status in message.status]


def _read_apogee(signals: Signals, topic: str, time: float, message: Any) -> None:
    signals.flight.vertices.append((time, message.point.z))


def _source(topic: str) -> str:
    return topic.rpartition('/')[0]


def _seconds(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


_MOTION = ('altitude', 'velocity', 'acceleration')
_LATCHED = (_read_mass, _read_tank, _read_flags, _read_events, _read_apogee, _read_description)
_FLIGHT = (_read_fit, _read_flags, _read_phase, _read_events, _read_apogee)
_READINGS: dict[tuple[str, str], _Reading] = {
    ('state', Kind.JOINTS): _read_joints(PUBLISHED),
    ('command', Kind.JOINTS): _read_joints(COMMAND),
    ('wrench', Kind.WRENCH): _read_wrench(PUBLISHED),
    ('wrench_command', Kind.WRENCH): _read_demand,
    ('inertia', Kind.INERTIA): _read_mass,
    ('residual', Kind.WRENCH): _read_wrench(RESIDUAL),
    ('tanks', Kind.INERTIA): _read_tank,
    ('battery_state', Kind.BATTERY): _read_battery,
    ('odometry', Kind.ODOMETRY): _read_odometry,
    ('joint_states', Kind.JOINTS): _read_joint_states,
    ('deployers', Kind.JOINTS): _read_deployers,
    ('robot_description', Kind.STRING): _read_description,
    ('fit', Kind.JOINTS): _read_fit,
    ('flags', Kind.STATUSES): _read_flags,
    ('phase', Kind.STRING): _read_phase,
    ('events', Kind.STATUSES): _read_events,
    ('apogee', Kind.POINT): _read_apogee,
}
"""Readings by the last part of a topic and its type."""
