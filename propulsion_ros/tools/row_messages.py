"""Rows of commands as the messages that nodes would get."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from geometry_msgs.msg import InertiaStamped, WrenchStamped
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState

from propulsion_ros.models.family import WRENCH_NAMES
from propulsion_ros.nodes.conversions import doubles, ns_to_stamp
from propulsion_ros.tools.bags import Recorded
from propulsion_ros.tools.offline import Inputs, NamedValues
from propulsion_ros.tools.wire import Wire

_KINDS = {
    'command': 'sensor_msgs/msg/JointState',
    'wrench_command': 'geometry_msgs/msg/WrenchStamped',
    'inertia': 'geometry_msgs/msg/InertiaStamped',
    'odometry': 'nav_msgs/msg/Odometry',
}


class RowMessages:
    """Makes messages for one actuator node out of rows.

    Parameters
    ----------
    topic : str
        Full name of the node.
    names : sequence of str
        What can be commanded.
    frame : str
        Its base_link.
    wire : Wire
        Writes messages.
    """

    def __init__(self, topic: str, names: Sequence[str], frame: str, wire: Wire) -> None:
        self._topic, self.names, self._frame, self._wire = topic, names, frame, wire
        self._motion = np.zeros(6)
        self._demand: dict[tuple[str, str], float] = {}

    @property
    def topics(self) -> list[str]:
        """Topics of what it makes."""
        return [f'{self._topic}/{name}' for name in _KINDS]

    def of(self, stamp_ns: int, inputs: Inputs) -> Iterator[Recorded]:
        """Yield what a row says to the node."""
        if inputs.com is not None:
            inertia = InertiaStamped()
            inertia.inertia.m = 1.0
            com = inertia.inertia.com
            com.x, com.y, com.z = inputs.com.tolist()
            yield self._recorded('inertia', stamp_ns, inertia)
        if inputs.velocity is not None or inputs.angular_velocity is not None:
            yield self._recorded('odometry', stamp_ns, self._odometry(inputs))
        is_wrench = tuple(self.names) == WRENCH_NAMES
        values = inputs.wrench if is_wrench else inputs.commands
        own = {key: value for key, value in values.items() if key[0] in self.names}
        if own and is_wrench:
            self._demand.update(own)
            yield self._recorded('wrench_command', stamp_ns, _wrench(self._demand))
        elif own:
            named = NamedValues.of(own)
            yield self._recorded('command', stamp_ns, JointState(
                name=named.name, position=doubles(named.position),
                velocity=doubles(named.velocity), effort=doubles(named.effort),
            ))

    def _odometry(self, inputs: Inputs) -> Odometry:
        if inputs.velocity is not None:
            self._motion[:3] = inputs.velocity
        if inputs.angular_velocity is not None:
            self._motion[3:] = inputs.angular_velocity
        message = Odometry(child_frame_id=self._frame)
        message.pose.pose.orientation.w = 1.0
        linear, angular = message.twist.twist.linear, message.twist.twist.angular
        linear.x, linear.y, linear.z, angular.x, angular.y, angular.z = self._motion.tolist()
        return message

    def _recorded(self, name: str, stamp_ns: int, message: Any) -> Recorded:
        message.header.stamp = ns_to_stamp(stamp_ns)
        message.header.frame_id = self._frame
        kind = _KINDS[name]
        return Recorded(f'{self._topic}/{name}', kind, stamp_ns, self._wire.write(message, kind))


def _wrench(parts: dict[tuple[str, str], float]) -> WrenchStamped:
    message = WrenchStamped()
    for (name, _), value in parts.items():
        vector, _, axis = name.partition('.')
        setattr(getattr(message.wrench, vector), axis, value)
    return message
