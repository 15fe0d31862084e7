# SPDX-License-Identifier: Apache-2.0
"""Samples of a flight from messages of one sensor."""
from __future__ import annotations

from typing import Any

from propulsion_ros.flight.events.variables import NAN, UNKNOWN_ROTATION, Sample
from propulsion_ros.loops.decoders import msg_to_motion
from propulsion_ros.models.common.atmosphere import altitude_of_pressure
from propulsion_ros.settings.errors import CommandError


def read_odometry(message: Any) -> tuple[float, ...]:
    """Return what an Odometry measures of the motion along and aside."""
    position, velocity = message.pose.pose.position, message.twist.twist.linear
    return position.x, position.y, position.z, velocity.x, velocity.y, velocity.z


def read_pressure(message: Any) -> float:
    """Return what a FluidPressure measures."""
    return float(message.fluid_pressure)


def sample_of_odometry(stamp_ns: int, message: Any) -> tuple[Sample, str]:
    """Return the sample in an Odometry, and why it has no velocity, '' where it has one."""
    position, q = message.pose.pose.position, message.pose.pose.orientation
    rotation, problem = (q.x, q.y, q.z, q.w), ''
    try:
        motion = msg_to_motion(message, message.child_frame_id)
        east, north, up = (motion.rotation @ motion.velocity).tolist()
    except CommandError as error:
        east = north = up = NAN
        rotation, problem = UNKNOWN_ROTATION, str(error)
    return Sample(
        stamp_ns, position.z, up,
        horizontal_position=(position.x, position.y), horizontal_velocity=(east, north),
        rotation=rotation,
    ), problem


def sample_of_pressure(stamp_ns: int, message: Any) -> Sample:
    """Return the sample in a FluidPressure."""
    return Sample(stamp_ns, float(altitude_of_pressure(message.fluid_pressure)))
