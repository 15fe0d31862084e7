# SPDX-License-Identifier: Apache-2.0
"""What loops publish, as numbers and text; an encoder for each kind makes a message of it.

Kinds with a simpler payload: a wrench is an array (6,), force first; a number a float; a text a
str; a flag a bool; numbers of int32 a sequence of int; a point (x, y, z); a clock None, since the
stamp is all that it has. A TFMessage has the payload of an Odometry; a MarkerArray a sequence of
pairs of a stamp and a `Shape`, () to remove all. The rows are tuples, since frozen dataclasses take
three times as long to make.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from propulsion_ros.settings.quantity import FloatArray


class JointRow(NamedTuple):
    """A sensor_msgs/JointState.

    Attributes
    ----------
    position, velocity, effort : sequence of float or None
        One value for each name; None where no name has that field.
    names : sequence of str
        Names of this message; () where the outlet has them.
    """

    position: FloatArray | Sequence[float] | None = None
    velocity: FloatArray | Sequence[float] | None = None
    effort: FloatArray | Sequence[float] | None = None
    names: Sequence[str] = ()


class MassRow(NamedTuple):
    """A geometry_msgs/InertiaStamped.

    Attributes
    ----------
    mass : float
        [kg].
    com : FloatArray
        Centre of mass [m], (3,).
    inertia : FloatArray
        About the centre of mass [kg m^2], (3, 3).
    """

    mass: float
    com: FloatArray
    inertia: FloatArray


class OdometryRow(NamedTuple):
    """A nav_msgs/Odometry; the outlet's frame is the world's.

    Attributes
    ----------
    child_frame : str
        Frame of the body, whose axes the twist is in.
    position, quaternion : sequence of float
        [m], and x, y, z, w from the body to the world.
    velocity, angular_velocity : sequence of float
        Of the body's origin in its own axes [m/s], [rad/s].
    pose_covariance, twist_covariance : FloatArray or None
        (36,) row by row; None for zeros.
    """

    child_frame: str
    position: Sequence[float]
    quaternion: Sequence[float]
    velocity: Sequence[float]
    angular_velocity: Sequence[float]
    pose_covariance: FloatArray | None = None
    twist_covariance: FloatArray | None = None


class ImuRow(NamedTuple):
    """A sensor_msgs/Imu without an orientation.

    Attributes
    ----------
    specific_force, angular_velocity : sequence of float
        In the axes of the frame [m/s^2], [rad/s].
    """

    specific_force: Sequence[float]
    angular_velocity: Sequence[float]


class PressureRow(NamedTuple):
    """A sensor_msgs/FluidPressure.

    Attributes
    ----------
    pressure, variance : float
        [Pa], [Pa^2].
    """

    pressure: float
    variance: float = 0.0


class StatusRow(NamedTuple):
    """One status of a diagnostic_msgs/DiagnosticArray, whose payload is a sequence of these.

    Attributes
    ----------
    name, message : str
        As of a DiagnosticStatus.
    values : sequence of (str, str)
        Keys, which may repeat, with their values.
    level : str
        'ok', 'warn' or 'error'.
    hardware_id : str
        As of a DiagnosticStatus.
    """

    name: str
    message: str = ''
    values: Sequence[tuple[str, str]] = ()
    level: str = 'ok'
    hardware_id: str = ''
