"""Publishers of wrenches and states that use one message again and again.

A message is serialised before `publish` returns, and to build one anew costs more than to fill it.
"""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from geometry_msgs.msg import WrenchStamped
from sensor_msgs.msg import JointState

from propulsion_ros.nodes.conversions import doubles, set_stamp, set_wrench
from propulsion_ros.quantity import FloatArray


class WrenchOutput:
    """Publishes wrenches in one frame, about its origin.

    Parameters
    ----------
    publisher : rclpy publisher
        Of WrenchStamped.
    frame : str
        Frame of all of them.
    """

    def __init__(self, publisher: Any, frame: str) -> None:
        self.publisher = publisher
        self._message = WrenchStamped()
        self._message.header.frame_id = frame

    def publish(self, stamp_ns: int, wrench: FloatArray) -> None:
        """Publish a wrench (6,), force first."""
        set_stamp(self._message.header.stamp, stamp_ns)
        set_wrench(self._message.wrench, wrench)
        self.publisher.publish(self._message)


class StateOutput:
    """Publishes states with the same names, NaN where a name has no such field.

    Parameters
    ----------
    publisher : rclpy publisher
        Of JointState.
    frame : str
        Frame of all of them.
    names : sequence of str
        Columns of what is published.
    """

    def __init__(self, publisher: Any, frame: str, names: Sequence[str]) -> None:
        self.publisher = publisher
        self._message = JointState(name=list(names))
        self._message.header.frame_id = frame

    def publish(
        self,
        stamp_ns: int,
        position: FloatArray | None = None,
        velocity: FloatArray | None = None,
        effort: FloatArray | None = None,
    ) -> None:
        """Publish the fields that a state has; they are the same at each call."""
        message = self._message
        set_stamp(message.header.stamp, stamp_ns)
        if position is not None:
            message.position = doubles(position)
        if velocity is not None:
            message.velocity = doubles(velocity)
        if effort is not None:
            message.effort = doubles(effort)
        self.publisher.publish(message)
