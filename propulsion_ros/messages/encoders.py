# SPDX-License-Identifier: Apache-2.0
"""Encodes what loops publish as messages, or as the bytes of a message with new numbers."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from geometry_msgs.msg import Point, PointStamped, TransformStamped, TwistStamped
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import BatteryState, JointState
from std_msgs.msg import Bool, Float64, Int32MultiArray, String
from visualization_msgs.msg import Marker, MarkerArray

from propulsion_ros.drawing.shapes import Shape
from propulsion_ros.loops.payloads import BatteryRow, JointRow, OdometryRow, StatusRow
from propulsion_ros.loops.ports import ERROR, OK, WARN, Outlet
from propulsion_ros.messages.fields import (
    IMU,
    INERTIA,
    ODOMETRY,
    ODOMETRY_NUMBERS,
    PRESSURE,
    WRENCH,
    Form,
    Slots,
    doubles,
    inertia_numbers,
    joint_state_slots,
    ns_to_stamp,
    set_stamp,
)
from propulsion_ros.models.common.family import FIELDS
from propulsion_ros.settings.quantity import FloatArray

Encoder = Callable[[int, Any], Any]
"""``encode(stamp_ns, payload)`` returns a message or its bytes; publishers take both."""

LEVELS = {OK: DiagnosticStatus.OK, WARN: DiagnosticStatus.WARN, ERROR: DiagnosticStatus.ERROR}
"""Levels of a diagnostic status in messages."""


def make_encoder(outlet: Outlet) -> Encoder:
    """Return the encoder of an outlet; the payloads are in `loops.payloads`."""
    return _MAKERS[outlet.kind](outlet)


# An encoder that keeps state between messages is a class, any other is a function.


def _in_slots(
    form: Form, numbers: Callable[[Any], Sequence[Any]]
) -> Callable[[Outlet], Encoder]:
    """Return a maker of encoders of messages in which only stamp and numbers change."""
    def make(outlet: Outlet) -> Encoder:
        slots = form.slots(outlet.frame)

        def encode(stamp_ns: int, payload: Any) -> bytes:
            return slots.fill(stamp_ns, numbers(payload))

        return encode

    return make


class _JointStates:
    """Fills the same message again if the outlet has the names, else makes each anew."""

    def __init__(self, outlet: Outlet) -> None:
        self._frame, self._names = outlet.frame, outlet.names
        self._lacks: tuple[bool, bool, bool] | None = None
        self._slots: Slots

    def __call__(self, stamp_ns: int, row: JointRow) -> Any:
        position, velocity, effort, names = row
        if names or not self._names:
            return self._message(stamp_ns, row)
        lacks = (position is None, velocity is None, effort is None)
        if lacks != self._lacks:
            self._lacks = lacks
            n = len(self._names)
            counts = tuple(0 if is_absent else n for is_absent in lacks)
            self._slots = joint_state_slots(self._frame, self._names, counts)
        given = [values for values in (position, velocity, effort) if values is not None]
        return self._slots.fill(stamp_ns, given)

    def _message(self, stamp_ns: int, row: JointRow) -> JointState:
        message = JointState(name=list(row.names))
        _head(message, stamp_ns, self._frame)
        for field in FIELDS:
            values = getattr(row, field)
            if values is not None:
                setattr(message, field, doubles(values))
        return message


class _Odometry:
    """Fills the same message again, as most of its numbers stay zero."""

    def __init__(self, outlet: Outlet) -> None:
        self._frame = outlet.frame
        self._child_frame: str | None = None
        self._slots: Slots
        self._numbers = np.zeros(ODOMETRY_NUMBERS)

    def __call__(self, stamp_ns: int, row: OdometryRow) -> bytes:
        if row.child_frame != self._child_frame:
            self._child_frame = row.child_frame
            self._slots = ODOMETRY.slots(self._frame, row.child_frame)
        numbers = self._numbers
        numbers[:3], numbers[3:7] = row.position, row.quaternion
        numbers[43:46], numbers[46:49] = row.velocity, row.angular_velocity
        numbers[7:43] = 0.0 if row.pose_covariance is None else row.pose_covariance
        numbers[49:] = 0.0 if row.twist_covariance is None else row.twist_covariance
        return self._slots.fill(stamp_ns, (numbers,))


def _set_vector(vector: Any, values: Sequence[float] | FloatArray) -> None:
    vector.x, vector.y, vector.z = map(float, values)


def _stamped(kind: Any, write: Callable[[Any, Any], None]) -> Callable[[Outlet], Encoder]:
    """Return a maker of encoders of stamped messages, which ``write(message, payload)`` fills."""
    def make(outlet: Outlet) -> Encoder:
        def encode(stamp_ns: int, payload: Any) -> Any:
            message = kind()
            _head(message, stamp_ns, outlet.frame)
            write(message, payload)
            return message

        return encode

    return make


def _write_battery(message: BatteryState, row: BatteryRow) -> None:
    for field, value in row.fields.items():
        setattr(message, field, value)


def _write_statuses(message: DiagnosticArray, rows: Sequence[StatusRow]) -> None:
    message.status = [
        DiagnosticStatus(
            level=LEVELS[row.level], name=row.name, message=row.message,
            hardware_id=row.hardware_id,
            values=[KeyValue(key=key, value=value) for key, value in row.values],
        )
        for row in rows
    ]


def _transforms(outlet: Outlet) -> Encoder:
    # Not every installation has this package.
    from tf2_msgs.msg import TFMessage

    def encode(stamp_ns: int, row: OdometryRow) -> Any:
        transform = TransformStamped(child_frame_id=row.child_frame)
        _head(transform, stamp_ns, outlet.frame)
        _set_vector(transform.transform.translation, row.position)
        turn = transform.transform.rotation
        turn.x, turn.y, turn.z, turn.w = map(float, row.quaternion)
        return TFMessage(transforms=[transform])

    return encode


def _plain(kind: Any, cast: Callable[[Any], Any]) -> Callable[[Outlet], Encoder]:
    """Return a maker of encoders of messages that have one field, ``data``, and no stamp."""
    return lambda outlet: lambda stamp_ns, value: kind(data=cast(value))


def _head(message: Any, stamp_ns: int, frame: str) -> None:
    message.header.stamp, message.header.frame_id = ns_to_stamp(stamp_ns), frame


_MAKERS: Mapping[str, Callable[[Outlet], Encoder]] = {
    'diagnostic_msgs/msg/DiagnosticArray': _stamped(DiagnosticArray, _write_statuses),
    'geometry_msgs/msg/InertiaStamped': _in_slots(INERTIA, lambda row: (inertia_numbers(*row),)),
    'geometry_msgs/msg/PointStamped': _stamped(
        PointStamped, lambda message, point: _set_vector(message.point, point)
    ),
    'geometry_msgs/msg/TwistStamped': _stamped(
        TwistStamped, lambda message, velocity: _set_vector(message.twist.linear, velocity)
    ),
    'geometry_msgs/msg/WrenchStamped': _in_slots(WRENCH, lambda wrench: (wrench,)),
    'nav_msgs/msg/Odometry': _Odometry,
    'rosgraph_msgs/msg/Clock': (
        lambda outlet: lambda stamp_ns, _: Clock(clock=ns_to_stamp(stamp_ns))
    ),
    'sensor_msgs/msg/BatteryState': _stamped(BatteryState, _write_battery),
    'sensor_msgs/msg/FluidPressure': _in_slots(PRESSURE, lambda row: (row,)),
    'sensor_msgs/msg/Imu': _in_slots(
        IMU, lambda row: (row.angular_velocity, row.specific_force)
    ),
    'sensor_msgs/msg/JointState': _JointStates,
    'std_msgs/msg/Bool': _plain(Bool, bool),
    'std_msgs/msg/Float64': _plain(Float64, float),
    'std_msgs/msg/Int32MultiArray': _plain(Int32MultiArray, list),
    'std_msgs/msg/String': _plain(String, str),
    'tf2_msgs/msg/TFMessage': _transforms,
    'visualization_msgs/msg/MarkerArray': lambda outlet: MarkerEncoder(),
}
"""Makers of the encoders of each kind."""


_SHORTEST = 1e-3  # shortest arrow, as RViz complains of markers without size [m]
_TYPES = {'arrow': Marker.ARROW, 'plume': Marker.ARROW, 'text': Marker.TEXT_VIEW_FACING}


class MarkerEncoder:
    """Makes messages of complete pictures, so that a later subscriber sees all of a picture.

    A picture is a sequence of pairs of a stamp [ns] and a `Shape`; an empty one removes all.
    """

    def __init__(self) -> None:
        # Markers are filled again for each message.
        self._markers: dict[tuple[str, int], Marker] = {}

    def __call__(self, stamp_ns: int, picture: Sequence[tuple[int, Shape]]) -> MarkerArray:
        """Return the message of a picture; every shape has a stamp of its own."""
        if not picture:
            return MarkerArray(markers=[Marker(action=Marker.DELETEALL)])
        return MarkerArray(markers=[self._marker(each_ns, shape) for each_ns, shape in picture])

    def _marker(self, stamp_ns: int, shape: Shape) -> Marker:
        """Return the marker of a shape; it is the same object for each of its stamps."""
        key = shape.group, shape.number
        marker = self._markers.get(key)
        if marker is None:
            marker = self._markers[key] = _blank(shape)
        set_stamp(marker.header.stamp, stamp_ns)
        marker.header.frame_id = shape.frame
        is_seen = shape.length >= _SHORTEST
        marker.action = Marker.ADD if is_seen else Marker.DELETE
        if is_seen:
            self._fill(marker, shape)
        return marker

    @staticmethod
    def _fill(marker: Marker, shape: Shape) -> None:
        color, scale = marker.color, marker.scale
        color.r, color.g, color.b, color.a = shape.colour
        if shape.kind == 'text':
            at = marker.pose.position
            at.x, at.y, at.z = shape.origin
            scale.z = shape.length
            marker.text = shape.text
            return
        x, y, z = (
            a + shape.length * b for a, b in zip(shape.origin, shape.direction, strict=True)
        )
        ends = (shape.origin, (x, y, z))
        if shape.kind == 'plume':
            # A cone with its tip at the origin: an arrow towards it that is nearly all head.
            ends = ends[::-1]
            width, length = max(0.3 * shape.length, shape.width), 0.95 * shape.length
        else:
            width, length = 2.0 * shape.width, 0.25 * shape.length
        for point, end in zip(marker.points, ends, strict=True):
            point.x, point.y, point.z = end
        scale.x, scale.y, scale.z = shape.width, width, length


def _blank(shape: Shape) -> Marker:
    """Return a marker with the fields that never change."""
    marker = Marker(ns=shape.group, id=shape.number, type=_TYPES[shape.kind])
    marker.pose.orientation.w = 1.0
    # It moves with its frame, instead of staying where that was at the stamp.
    marker.frame_locked = True
    if shape.kind != 'text':
        marker.points = [Point(), Point()]
    return marker
