# SPDX-License-Identifier: Apache-2.0
"""Readers of messages: their bytes, and what nodes make of their contents."""
from __future__ import annotations

import functools
import math
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
from rclpy.serialization import deserialize_message

from benchmarks.wire import Wire
from fuzz.robots import fresh_robot, require_wrenches
from fuzz.target import Target, require
from propulsion_ros.flight.estimation.estimator import Estimator
from propulsion_ros.flight.estimation.mounting import Mounting
from propulsion_ros.flight.estimation.params import EstimatorParams
from propulsion_ros.flight.estimation.state import Stage
from propulsion_ros.loops.decoders import checked_wrench, msg_to_com, msg_to_current, msg_to_motion
from propulsion_ros.messages.fields import SHORTEST, MessageReader
from propulsion_ros.models.common.family import WRENCH_NAMES
from propulsion_ros.models.common.motion import Motion
from propulsion_ros.replay.host import CLOCK_TOPIC
from propulsion_ros.replay.plain import clock_message
from propulsion_ros.settings.errors import CommandError, SourceError
from propulsion_ros.settings.names import class_of
from propulsion_ros.settings.quantity import FloatArray

_S = 1_000_000_000
_LITTLE, _BIG = b'\x00\x01\x00\x00', b'\x00\x00\x00\x00'
_KINDS = (
    'sensor_msgs/msg/JointState', 'geometry_msgs/msg/WrenchStamped', 'nav_msgs/msg/Odometry',
    'geometry_msgs/msg/TwistStamped', 'geometry_msgs/msg/InertiaStamped', 'sensor_msgs/msg/Imu',
    'sensor_msgs/msg/NavSatFix', 'sensor_msgs/msg/MagneticField', 'sensor_msgs/msg/FluidPressure',
    'diagnostic_msgs/msg/DiagnosticArray', 'std_msgs/msg/Float64MultiArray',
    'std_msgs/msg/String', 'rosgraph_msgs/msg/Clock', 'visualization_msgs/msg/MarkerArray',
)
_READ = _KINDS[:3]
"""Those with a reader in `KINDS`."""
_FILES = ('rotors.yaml', 'thrusters.yaml', 'fins.yaml', 'fam.yaml', 'jets.yaml')


@functools.cache
def _wire() -> Wire:
    return Wire()


def _cdr(data: bytes) -> None:
    """Read a message of a type that the first byte picks; what is read can be written."""
    kind = _KINDS[data[0] % len(_KINDS)] if data else _KINDS[0]
    plain = _wire().canonical(data[1:], kind)
    require(_wire().canonical(plain, kind) == plain, f'{kind}: its own bytes read otherwise')


def _message(kind: str, body: bytes) -> Any:
    return _wire().read(_LITTLE + body, kind)


def _command(data: bytes) -> None:
    """Give a JointState to a node that the first byte picks, and run some steps after it."""
    nodes = _nodes()
    file, topic, _ = nodes[data[0] % len(nodes) if data else 0]
    robot = fresh_robot(file)
    message = _message('sensor_msgs/msg/JointState', data[1:])
    require_wrenches(robot.feed([(topic, message)], _S))
    for i in range(1, 6):
        stamp_ns = _S + i * 20_000_000
        require_wrenches(robot.feed([(CLOCK_TOPIC, clock_message(stamp_ns))], stamp_ns))


@functools.cache
def _nodes() -> list[tuple[str, str, Any]]:
    """Return file, topic and family of the nodes that take a JointState."""
    loops: list[tuple[str, str, Any]] = [
        (file, host.resolve_topic_name('~/command'), loop)
        for file in _FILES for host, loop in fresh_robot(file).stepped
    ]
    return [
        (file, topic, loop.family) for file, topic, loop in loops
        if loop.family.command_names != WRENCH_NAMES
    ]


def _commands() -> list[bytes]:
    return [
        bytes([i]) + _body(_joint_state(family)) for i, (_, _, family) in enumerate(_nodes())
    ]


def _joint_state(family: Any) -> Any:
    """Return a command of 1 for each name in the field that it takes."""
    fields = np.array(family.command_fields)
    types = _wire().types.types
    header = types['std_msgs/msg/Header'](
        stamp=types['builtin_interfaces/msg/Time'](sec=1, nanosec=0), frame_id=''
    )
    return types['sensor_msgs/msg/JointState'](header=header, name=list(family.command_names), **{
        field: np.where(fields == field, 1.0, np.nan) if (fields == field).any() else np.array([])
        for field in ('position', 'velocity', 'effort')
    })


def _body(message: Any) -> bytes:
    return _wire().write(message, message.__msgtype__)[len(_LITTLE):]


def _bytes(data: bytes) -> None:
    """Read two messages in turn, of a kind and divided as the first two bytes say.

    The one before may not matter.
    """
    which, share = data[:2] if len(data) > 1 else (0, 0)
    kind, body = _READ[which % len(_READ)], data[2:]
    middle = share * len(body) // 256
    reader = MessageReader(class_of(kind))
    for part in (body[:middle], body[middle:], body[:middle]):
        said = [_read_anew(part, kind), _read_by(reader, part, kind)]
        require(said[0] == said[1], f'{part!r}: read as {said[1]!r}, not as {said[0]!r}')


def _read_anew(data: bytes, kind: str) -> bytes | None:
    """Return what rclpy reads as CDR, since NaN does not equal itself."""
    if len(data) < SHORTEST:
        return None
    try:
        return _wire().write(deserialize_message(data, class_of(kind)), kind)
    except RuntimeError:
        return None


def _read_by(reader: MessageReader, data: bytes, kind: str) -> bytes | None:
    try:
        return _wire().write(reader.read(data), kind)
    except CommandError:
        return None


def _pairs() -> list[bytes]:
    """Return two messages of every kind that is read out of its bytes.

    They are alike, but that one of the pairs has the second message as if of another byte order.
    """
    commands = [_LITTLE + command[1:] for command in _commands()]
    others = [(i, _default(kind)) for i, kind in enumerate(_READ) if i]
    return [
        bytes([i, 128]) + message + encoding + message[len(encoding):]
        for i, message in (*((0, command) for command in commands), *others)
        for encoding in (_LITTLE, _BIG)
    ]


_CONTENTS: tuple[tuple[str, Callable[[Any], Any]], ...] = (
    ('geometry_msgs/msg/WrenchStamped', lambda message: checked_wrench(message, 'base_link')),
    ('nav_msgs/msg/Odometry', lambda message: _flat(msg_to_motion(message, 'base_link'))),
    ('geometry_msgs/msg/TwistStamped', lambda message: msg_to_current(message, 'odom')),
    ('geometry_msgs/msg/InertiaStamped', lambda message: msg_to_com(message, 'base_link')),
)
"""Messages whose contents are numbers, and what reads them."""


def _flat(motion: Motion) -> FloatArray:
    return np.concatenate((motion.velocity, motion.angular_velocity, motion.rotation.ravel()))


def _numbers(data: bytes) -> None:
    """Read a message of a type that the first byte picks: finite numbers, or a refusal."""
    kind, read = _CONTENTS[data[0] % len(_CONTENTS) if data else 0]
    values = read(_message(kind, data[1:]))
    require(bool(np.isfinite(values).all()), f'{kind}: {values}')


def _default(kind: str) -> bytes:
    """Return a message of a type as it is made: zeros, empty, turned by none."""
    return _wire().write(class_of(kind)(), kind)


def _contents() -> list[bytes]:
    return [
        bytes([i]) + _default(kind)[len(_LITTLE):] for i, (kind, _) in enumerate(_CONTENTS)
    ]


_SENSORS = struct.Struct('<Bqddd')
"""A reading of a sensor: which it is and the stage, its stamp, and three numbers."""


def _sensors(data: bytes) -> None:
    """Give an estimator what four sensors say; it may doubt, but not fail nor invent."""
    estimator = Estimator(EstimatorParams(), Mounting())
    stages = list(Stage)
    size = _SENSORS.size
    for begin in range(0, len(data) - size + 1, size):
        which, stamp_ns, x, y, z = _SENSORS.unpack_from(data, begin)
        estimator.set_stage(stages[(which >> 2) % len(stages)])
        if which & 3 == 0:
            estimator.imu(stamp_ns, (x, y, z), (z, x, y))
        elif which & 3 == 1:
            estimator.pressure(stamp_ns, x, y)
        elif which & 3 == 2:
            estimator.magnetic_field(stamp_ns, (x, y, z))
        else:
            estimator.fix(stamp_ns, x, y, z, (z, 0.0, 0.0, 0.0, y, 0.0, 0.0, 0.0, x))
        state = estimator.state(stamp_ns)
        sizes = np.abs((*state.position, *state.velocity, *state.attitude))
        require(not np.isinf(sizes).any(), f'an estimate without bounds: {state}')
        length = math.sqrt(sum(value * value for value in state.attitude))
        require(math.isnan(length) or abs(length - 1.0) < 1e-6, f'no attitude: {state.attitude}')
        known = np.diagonal(state.pose_covariance)
        require(not (known < 0.0).any(), f'a covariance below 0: {known}')


def _flights() -> list[bytes]:
    """Return a quiet pad and a short boost."""
    rows = []
    for i in range(20):
        stage = 0 if i < 12 else 4
        stamp_ns = _S + i * 20_000_000
        rows.append((stage, stamp_ns, 0.001 * (i % 3), 0.0, 9.8))
        rows.append((stage + 1, stamp_ns, 101325.0 - i, 25.0, 0.0))
        if i % 5 == 0:
            rows.append((stage + 2, stamp_ns, 2e-5, 0.0, -4e-5))
            rows.append((stage + 3, stamp_ns, 48.0, 11.0, 500.0))
    return [b''.join(_SENSORS.pack(*row) for row in rows)]


def _cdr_seeds() -> list[bytes]:
    seeds = [bytes([i]) + _default(kind) for i, kind in enumerate(_KINDS)]
    return seeds + [bytes([0]) + _LITTLE + command[1:] for command in _commands()]


_REFUSALS = (SourceError, CommandError)

TARGETS = (
    Target('cdr', _cdr, _cdr_seeds, (SourceError,)),
    Target('command_message', _command, _commands, _REFUSALS,
           words=('impeller_1', 'nozzle_7', 'rear_left', 'front_left', 'fin_top')),
    Target('message_bytes', _bytes, _pairs, ()),
    Target('number_message', _numbers, _contents, _REFUSALS, words=('base_link', 'odom')),
    Target('sensor_messages', _sensors, _flights, ()),
)
