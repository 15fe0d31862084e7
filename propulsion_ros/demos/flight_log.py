# SPDX-License-Identifier: Apache-2.0
"""What the body and the actuators of any robot did, and one page that shows it."""
from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from nav_msgs.msg import Odometry
from rclpy.node import Node
from rclpy.subscription import Subscription
from sensor_msgs.msg import Imu, JointState

from propulsion_ros.demos.demo import page_of
from propulsion_ros.demos.pilot import LAST_TOPIC, ODOMETRY, Recording, roll_pitch_yaw
from propulsion_ros.drawing.figure import COMMAND, PUBLISHED, Page, Panel, Trace
from propulsion_ros.graph.family_params import group_of, is_allocator
from propulsion_ros.loops.decoders import stamp_to_ns, vector
from propulsion_ros.messages import qos
from propulsion_ros.models.common.rotation import matrix_of

_FIELDS = {'effort': 'thrust [N]', 'position': 'angle [rad]'}
"""Fields of an actuator's state that are shown."""
_UNITS = {'pressure': ' [Pa]', 'temperature': ' [K]'}
"""Of what a tank has beside its propellant."""
_STILL = 1e-6
"""Below it nothing turns [deg, deg/s]."""
_LINES = 12
"""A panel with more lines shows nothing."""


class FlightLog(Node):
    """Records the motion of a simulated body and the states of its actuators.

    Parameters
    ----------
    state_topics : sequence of str
        States of the groups of actuators, relative to ``namespace``.
    namespace : str
        Of the robot.
    """

    def __init__(self, state_topics: Sequence[str], namespace: str = '') -> None:
        super().__init__('flight_log', namespace=namespace)
        self.recording = Recording()
        self.received = 0
        self._newest_ns = -1
        self._commands: dict[str, Subscription[JointState]] = {}
        self.create_subscription(Odometry, ODOMETRY, self._on_odometry, qos.LOCKSTEP)
        for topic in state_topics:
            group = topic.rpartition('/')[0]
            self.create_subscription(
                JointState, topic, functools.partial(self._on_state, group, ''), qos.LOCKSTEP
            )
            self._commands[group] = self.create_subscription(
                JointState, f'{group}/command', functools.partial(self._on_state, group, COMMAND),
                qos.LOCKSTEP_COMMAND,
            )

    def lacks(self, commands: Sequence[str]) -> bool:
        """Whether a publisher that commands a group was not found yet.

        Parameters
        ----------
        commands : sequence of str
            Topics of a controller: of a group, or of its allocator, which then commands the group.
        """
        return any(self._lacks(topic.strip('/').rpartition('/')[0]) for topic in commands)

    def _lacks(self, node: str) -> bool:
        subscription = self._commands.get(group_of(node))
        if subscription is None:
            return False
        # The allocator of a vehicle publishes too, also where a controller commands its group.
        ends = self.get_publishers_info_by_topic(subscription.topic_name)
        is_found = any(is_allocator(end.node_name) == is_allocator(node) for end in ends)
        return not is_found or not subscription.get_publisher_count()

    def announce(self) -> None:
        """Let the body know that all topics are open; it waits for a subscription to this one."""
        self.create_subscription(Imu, LAST_TOPIC, lambda message: None, qos.LOCKSTEP)

    def _on_odometry(self, message: Odometry) -> None:
        self.received += 1
        stamp_ns = stamp_to_ns(message.header.stamp)
        # A step that waits is published again.
        if stamp_ns <= self._newest_ns:
            return
        self._newest_ns = stamp_ns
        q = message.pose.pose.orientation
        rotation = matrix_of(np.array([q.x, q.y, q.z, q.w]))
        self.recording.add(
            'motion', stamp_ns * 1e-9, *vector(message.pose.pose.position).tolist(),
            *(rotation @ vector(message.twist.twist.linear)).tolist(),
            *np.degrees(roll_pitch_yaw(rotation)).tolist(),
            *np.degrees(vector(message.twist.twist.angular)).tolist(),
        )

    def _on_state(self, group: str, role: str, message: Any) -> None:
        self.received += 1
        time = stamp_to_ns(message.header.stamp) * 1e-9
        for field in _FIELDS:
            for name, value in zip(message.name, getattr(message, field), strict=False):
                if math.isfinite(value):
                    self.recording.add(f'{role}{_series(group, field, name)}', time, value)


def _series(group: str, field: str, name: str) -> str:
    tank, _, quantity = name.partition('/')
    return f'{quantity}:{tank}' if quantity else f'{group} {_FIELDS[field]}:{name}'


def flight_page(title: str, recording: Recording) -> Page:
    """Return the page of a recording that has rows of motion."""
    line = recording.line
    turning = [
        Panel('attitude [deg]', tuple(
            line(name, 'motion', i) for i, name in enumerate(('roll', 'pitch', 'yaw'), 7)
        )),
        Panel('rate of turn [deg/s]', tuple(
            line(axis, 'motion', i) for i, axis in enumerate('xyz', 10)
        )),
    ]
    panels = [
        Panel('position [m]', tuple(line(axis, 'motion', i) for i, axis in enumerate('xyz', 1))),
        Panel('velocity in the world [m/s]', tuple(
            line(axis, 'motion', i) for i, axis in enumerate('xyz', 4)
        )),
        # What stays level shows nothing.
        *(panel for panel in turning if any(np.any(abs(each.y) > _STILL) for each in panel.traces)),
    ]
    return page_of(title, recording, [*panels, *_panels_of_actuators(recording)])


def _panels_of_actuators(recording: Recording) -> list[Panel]:
    shown: dict[str, tuple[list[Trace], list[Trace]]] = {}
    for series in recording.rows:
        role = COMMAND if series.startswith(COMMAND) else PUBLISHED
        head, is_actuator, name = series.removeprefix(COMMAND).partition(':')
        if is_actuator and head not in ('ignition', 'throttle'):
            line = recording.line(name.replace('_', ' '), series, role=role)
            title = head.replace('_', ' ') + _UNITS.get(head, '')
            shown.setdefault(title, ([], []))[role == COMMAND].append(line)
    return [
        # Where there is no room for both, the commands are left out.
        Panel(_title(title, lines), tuple(
            lines if len(lines) + len(commands) > _LINES else lines + commands
        ))
        for title, (lines, commands) in shown.items() if 0 < len(lines) <= _LINES
    ]


def _title(title: str, lines: Sequence[Trace]) -> str:
    """Return the title of a panel; the position of a valve is 0 or 1, and no angle."""
    values = np.unique(np.concatenate([line.y for line in lines])).tolist()
    return title.replace(_FIELDS['position'], 'valve open') if values == [0.0, 1.0] else title
