# SPDX-License-Identifier: Apache-2.0
"""The node of a pilot: it replies to every odometry with commands of the same stamp."""
from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from nav_msgs.msg import Odometry
from rcl_interfaces.srv import SetParameters
from rclpy.node import Node
from rclpy.parameter import Parameter
from sensor_msgs.msg import Imu
from std_srvs.srv import Trigger

from propulsion_ros.demos.pilot import Pilot, payload_of
from propulsion_ros.graph.family_params import group_of, is_allocator
from propulsion_ros.loops.decoders import stamp_to_ns, vector
from propulsion_ros.loops.payloads import Kind
from propulsion_ros.loops.ports import Outlet
from propulsion_ros.messages import qos
from propulsion_ros.messages.encoders import make_encoder
from propulsion_ros.models.common.motion import Motion
from propulsion_ros.settings.names import class_of

ODOMETRY, LAST_TOPIC = 'vehicle/odometry', 'vehicle/imu'
"""Topic with the motion of a body, and the topic that is subscribed to last."""
PILOT = 'pilot'
"""Name of the node of a pilot."""


class PilotNode(Node):
    """Runs a pilot in lockstep with the simulated body.

    Commands for a step are sent once all that is recorded of the previous step has been received,
    so that a recording is the same in every run.

    Attributes
    ----------
    now : float
        Stamp of the newest odometry [s].
    steps : int
        Number of steps of the body that were received.
    received : int
        Number of messages that were received.
    until : float
        Stamp at which the flight ends in any case [s].
    failure : str
        Why the flight cannot go on, '' while it can.
    has_ended : bool
        True once steps get no reply any more.
    note_taken : callable
        ``note_taken(topic, stamp)`` is called with each new message, after it was taken [ns].
    """

    def __init__(
        self, pilot: Pilot, name: str = PILOT, frame: str = 'base_link', **kwargs: Any
    ) -> None:
        super().__init__(name, **kwargs)
        self._pilot = pilot
        self.now, self.steps, self.received = 0.0, 0, 0
        self.until = pilot.end
        self.failure = ''
        self.has_ended = False
        self.note_taken: Callable[[str, int], None] = lambda topic, stamp_ns: None
        self._step_ns = self._previous_ns = -1
        self._motion: Motion | None = None
        self._steered: Motion | None = None
        self._requests: Mapping[str, Mapping[str, Any]] = {}
        self._responses_due = 0
        self._sent: list[tuple[Any, Any]] = []
        self._outlets = {
            topic: (
                self.create_publisher(class_of(kind), topic, qos.COMMAND),
                make_encoder(Outlet(topic, kind, 'command', frame if kind == Kind.WRENCH else '')),
            ) for topic, kind in pilot.commands.items()
        }
        self._clients_by_service: dict[str, Any] = {
            service: self.create_client(
                SetParameters if service.endswith('/set_parameters') else Trigger, service
            ) for service in pilot.services
        }
        self._newest_ns = dict.fromkeys(pilot.topics, -1)
        self._open = {
            topic: self.create_subscription(
                class_of(received.kind), topic, functools.partial(self._on_message, topic),
                getattr(qos, received.quality),
            ) for topic, received in pilot.topics.items()
        }
        self.create_subscription(Odometry, ODOMETRY, self._on_odometry, qos.LOCKSTEP)

    @property
    def status(self) -> str:
        """Status of the flight in a few words; '' before the first reply."""
        return '' if self._steered is None else self._pilot.status(self.now, self._steered)

    def announce(self) -> None:
        """Subscribe to the topic that the body waits for, as all others are subscribed to."""
        self.create_subscription(Imu, LAST_TOPIC, lambda message: None, qos.LOCKSTEP)

    def lacks(self, commands: Sequence[str]) -> bool:
        """Return whether a publisher that commands a group has not been found yet.

        The topics are those of a controller: of a group, or of its allocator, which then commands
        the group.
        """
        return any(self._lacks(topic.strip('/').rpartition('/')[0]) for topic in commands)

    def _lacks(self, node: str) -> bool:
        subscription = self._open.get(f'{group_of(node)}/command')
        if subscription is None:
            return False
        # An allocator also publishes if a controller commands its group directly.
        ends = self.get_publishers_info_by_topic(subscription.topic_name)
        is_found = any(is_allocator(end.node_name) == is_allocator(node) for end in ends)
        return not is_found or not subscription.get_publisher_count()

    def _on_message(self, topic: str, message: Any) -> None:
        self.received += 1
        stamp_ns = stamp_to_ns(message.header.stamp)
        # The body repeats a step without a reply, and some nodes then repeat their messages.
        if self._pilot.topics[topic].each_step and stamp_ns <= self._newest_ns[topic]:
            return
        self._newest_ns[topic] = stamp_ns
        self._pilot.take(topic, message)
        self.note_taken(topic, stamp_ns)
        self._reply_if_ready()

    def _on_odometry(self, message: Odometry) -> None:
        self.received += 1
        stamp_ns = stamp_to_ns(message.header.stamp)
        if stamp_ns <= self._step_ns:
            for publisher, sent in self._sent:
                publisher.publish(sent)
            return
        self._previous_ns, self._step_ns = self._step_ns, stamp_ns
        self._sent = []
        pose, twist = message.pose.pose, message.twist.twist
        q = pose.orientation
        self._motion = Motion(
            vector(pose.position), np.array([q.x, q.y, q.z, q.w]),
            vector(twist.linear), vector(twist.angular),
        )
        self.now = stamp_ns * 1e-9
        self.steps += 1
        self._requests = self._pilot.requests(self.now)
        self._reply_if_ready()
        self.note_taken(ODOMETRY, stamp_ns)

    def _reply_if_ready(self) -> None:
        """Send the commands of the step once all that they depend on was received."""
        motion, topics = self._motion, self._pilot.topics
        if motion is None or self.failure or not self._has_called():
            return
        if any(
            newest_ns < self._previous_ns for topic, newest_ns in self._newest_ns.items()
            if topics[topic].each_step
        ):
            return
        self._motion = None
        commands = self._pilot.steer(self.now, motion) if self.now < self.until else None
        if commands is None:
            self.has_ended = True
            return
        self._steered = motion
        for topic, command in commands.items():
            publisher, encode = self._outlets[topic]
            message = encode(self._step_ns, payload_of(topic, command))
            self._sent.append((publisher, message))
            publisher.publish(message)

    def _has_called(self) -> bool:
        """Call the services of the step when it is time; return whether all have responded."""
        first = self._pilot.arrives_first
        if not first or self._newest_ns[first] >= self._step_ns:
            due, self._requests = self._requests, {}
            for service, parameters in due.items():
                self._call(service, parameters)
        return not self._requests and not self._responses_due

    def _call(self, service: str, parameters: Mapping[str, Any]) -> None:
        request = SetParameters.Request(parameters=[
            Parameter(key, value=value).to_parameter_msg() for key, value in parameters.items()
        ]) if parameters else Trigger.Request()
        client = self._clients_by_service[service]

        def responded(future: Any) -> None:
            self._responses_due -= 1
            reason = _refusal(future.result())
            if reason:
                self.failure = f'{client.srv_name} refused: {reason}'
            self._reply_if_ready()

        self._responses_due += 1
        client.call_async(request).add_done_callback(responded)


def _refusal(response: Any) -> str:
    """Return why a request was refused, '' if it was granted."""
    if isinstance(response, Trigger.Response):
        return '' if response.success else str(response.message)
    return next((str(each.reason) for each in response.results if not each.successful), '')
