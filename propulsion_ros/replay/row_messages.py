"""Rows of commands as the messages that nodes would get."""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from geometry_msgs.msg import InertiaStamped, WrenchStamped
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState

from propulsion_ros.messages.fields import doubles, ns_to_stamp
from propulsion_ros.models.common.family import WRENCH_NAMES
from propulsion_ros.replay.bags import Recorded
from propulsion_ros.replay.cdr import Wire
from propulsion_ros.replay.offline import Inputs, NamedValues
from propulsion_ros.settings.errors import SourceError

KINDS = {
    'command': 'sensor_msgs/msg/JointState',
    'wrench_command': 'geometry_msgs/msg/WrenchStamped',
    'inertia': 'geometry_msgs/msg/InertiaStamped',
    'odometry': 'nav_msgs/msg/Odometry',
}
"""Type of each topic of a node that a table can give."""


class RowMessages:
    """Makes messages for one node out of rows.

    Parameters
    ----------
    topics : mapping of str
        Full name of each of its topics, by the last part.
    names : sequence of str
        What can be commanded.
    frame : str
        Its base_link.
    wire : Wire
        Writes messages.
    """

    def __init__(
        self, topics: Mapping[str, str], names: Sequence[str], frame: str, wire: Wire
    ) -> None:
        self._topics, self.names, self._frame, self._wire = topics, names, frame, wire
        self._motion = np.zeros(6)

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
        if inputs.wrench:
            yield self._recorded('wrench_command', stamp_ns, _wrench(inputs.wrench))
        own = {key: value for key, value in inputs.commands.items() if key[0] in self.names}
        if own:
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
        kind = KINDS[name]
        return Recorded(self._topics[name], kind, stamp_ns, self._wire.write(message, kind))


def _wrench(parts: Mapping[tuple[str, str], float]) -> WrenchStamped:
    if len(parts) < len(WRENCH_NAMES):
        missing = next(name for name in WRENCH_NAMES if (name, 'effort') not in parts)
        raise SourceError(f'wrench.{missing}', 'is empty: a message has all parts of a wrench')
    message = WrenchStamped()
    for (name, _), value in parts.items():
        vector, _, axis = name.partition('.')
        setattr(getattr(message.wrench, vector), axis, value)
    return message
