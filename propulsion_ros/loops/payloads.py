# SPDX-License-Identifier: Apache-2.0
"""Payloads of loops: numbers and text, which an encoder for each kind converts to a message.

Kinds with a simpler payload: a wrench is an array (6,), force first; a number a float; a text a
str; a flag a bool; numbers of int32 a sequence of int; a point (x, y, z); a twist its linear
velocity (3,); a clock None, since the stamp is all that it has. A TFMessage has the payload of an
Odometry; a MarkerArray a sequence of pairs of a stamp and a `Shape`, () to remove all. The rows are
tuples, since frozen dataclasses take three times as long to make.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from propulsion_ros.settings.quantity import FloatArray

_NAN = float('nan')


class Kind:
    """Types of messages, by their content."""

    ACTUATORS = 'actuator_msgs/msg/Actuators'
    ARRAY = 'std_msgs/msg/Float64MultiArray'
    BATTERY = 'sensor_msgs/msg/BatteryState'
    BOOL = 'std_msgs/msg/Bool'
    CLOCK = 'rosgraph_msgs/msg/Clock'
    FLOAT = 'std_msgs/msg/Float64'
    IMU = 'sensor_msgs/msg/Imu'
    INERTIA = 'geometry_msgs/msg/InertiaStamped'
    INTEGERS = 'std_msgs/msg/Int32MultiArray'
    JOINTS = 'sensor_msgs/msg/JointState'
    MARKERS = 'visualization_msgs/msg/MarkerArray'
    ODOMETRY = 'nav_msgs/msg/Odometry'
    PX4_MOTORS = 'px4_msgs/msg/ActuatorMotors'
    PX4_SERVOS = 'px4_msgs/msg/ActuatorServos'
    POINT = 'geometry_msgs/msg/PointStamped'
    PRESSURE = 'sensor_msgs/msg/FluidPressure'
    RC_OUT = 'mavros_msgs/msg/RCOut'
    STATUSES = 'diagnostic_msgs/msg/DiagnosticArray'
    STRING = 'std_msgs/msg/String'
    TF = 'tf2_msgs/msg/TFMessage'
    TWIST = 'geometry_msgs/msg/TwistStamped'
    WRENCH = 'geometry_msgs/msg/WrenchStamped'


class JointRow(NamedTuple):
    """A sensor_msgs/JointState."""

    position: FloatArray | Sequence[float] | None = None
    velocity: FloatArray | Sequence[float] | None = None
    effort: FloatArray | Sequence[float] | None = None
    """One value for each name; None if no name has that field."""
    names: Sequence[str] = ()
    """Names of this message; () if the outlet has them."""


class MassRow(NamedTuple):
    """A geometry_msgs/InertiaStamped."""

    mass: float
    """Mass [kg]."""
    com: FloatArray
    """Centre of mass [m], (3,)."""
    inertia: FloatArray
    """Inertia about the centre of mass [kg m^2], (3, 3)."""


class BatteryRow(NamedTuple):
    """A sensor_msgs/BatteryState of a battery that discharges."""

    name: str
    """Published as its location."""
    capacity: float
    """Charge when full [A h]."""
    voltage: float
    current: float
    """Voltage [V], and current [A], which is above 0 while the battery discharges."""
    charge: float
    """Remaining charge over the capacity, 0 to 1."""

    @property
    def fields(self) -> Mapping[str, Any]:
        """Fields of the message with a number or a text; a quantity that is not measured is NaN."""
        discharging, not_charging, full = 2, 3, 4
        at_rest = full if self.charge == 1.0 else not_charging
        return {
            'voltage': float(self.voltage), 'temperature': _NAN,
            'current': -float(self.current),
            'charge': float(self.charge * self.capacity), 'capacity': float(self.capacity),
            'design_capacity': float(self.capacity), 'percentage': float(self.charge),
            'power_supply_status': discharging if self.current > 0.0 else at_rest,
            'power_supply_health': 0, 'power_supply_technology': 0, 'present': True,
            'location': self.name, 'serial_number': '',
        }


class OdometryRow(NamedTuple):
    """A nav_msgs/Odometry; the outlet's frame is the world's."""

    child_frame: str
    """Frame of the body, whose axes the twist is in."""
    position: Sequence[float]
    quaternion: Sequence[float]
    """Position [m], and rotation from the body to the world as x, y, z, w."""
    velocity: Sequence[float]
    angular_velocity: Sequence[float]
    """Velocities of the body's origin in its own axes [m/s], [rad/s]."""
    pose_covariance: FloatArray | None = None
    twist_covariance: FloatArray | None = None
    """Covariances (36,), row by row; None for zeros."""


class ImuRow(NamedTuple):
    """A sensor_msgs/Imu without an orientation."""

    specific_force: Sequence[float]
    angular_velocity: Sequence[float]
    """Force [m/s^2] and rate [rad/s] in the axes of the frame."""


class PressureRow(NamedTuple):
    """A sensor_msgs/FluidPressure."""

    pressure: float
    variance: float = 0.0
    """Pressure [Pa], and its variance [Pa^2]."""


class StatusRow(NamedTuple):
    """One status of a diagnostic_msgs/DiagnosticArray, whose payload is a sequence of these."""

    name: str
    message: str = ''
    """As of a DiagnosticStatus."""
    values: Sequence[tuple[str, str]] = ()
    """Keys, which may repeat, with their values."""
    level: str = 'ok'
    """'ok', 'warn' or 'error'."""
    hardware_id: str = ''
    """As of a DiagnosticStatus."""
