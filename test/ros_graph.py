# SPDX-License-Identifier: Apache-2.0
"""A small window on the ROS graph for tests: no sleeps, it waits for what it is told to."""
from __future__ import annotations

import gc
import time
import uuid
from collections import defaultdict

import numpy as np
import rclpy
from geometry_msgs.msg import WrenchStamped
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState, GetState
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter

from propulsion_ros.messages.fields import ns_to_stamp, set_wrench

LIMIT = 40.0


def stamped(kind, stamp_ns, frame='', **fields):
    """Return a message with a stamp, which may be no whole number [ns]."""
    message = kind(**fields)
    message.header.stamp, message.header.frame_id = ns_to_stamp(round(stamp_ns)), frame
    return message


def wrench_message(stamp_ns, wrench, frame='base_link'):
    """Return a WrenchStamped."""
    message = stamped(WrenchStamped, stamp_ns, frame)
    set_wrench(message, np.asarray(wrench, dtype=float))
    return message


def close(context, nodes):
    """Close nodes of the package and their context, so that nobody hears them any more."""
    while nodes:
        # Not in a variable, which would keep the last one.
        nodes.pop(0).close()
    rclpy.try_shutdown(context=context)
    # A participant lives on, and is heard, until the cycles that hold it are collected.
    gc.collect()


class Graph:
    """An own context with nodes under test and one node that listens and talks."""

    def __init__(self):
        self.context = rclpy.Context()
        rclpy.init(args=[], context=self.context)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.probe = Node(f'probe_{uuid.uuid4().hex[:8]}', context=self.context)
        self.executor.add_node(self.probe)
        self.received = defaultdict(list)
        self.nodes = []

    def add(self, cls, name, parameters=None, start=True, cli_args=None, **kwargs):
        """Make a node of the package, and start it."""
        node = cls(
            name, context=self.context, cli_args=cli_args,
            parameter_overrides=[
                Parameter(key, value=value) for key, value in (parameters or {}).items()
            ],
            **kwargs,
        )
        self.nodes.append(node)
        self.executor.add_node(node)
        if start:
            node.start()
        return node

    def listen(self, kind, topic, profile=10):
        """Collect the messages of a topic."""
        received = self.received[topic]
        self.probe.create_subscription(kind, topic, received.append, profile)
        return received

    def talk_later(self, kind, topic, profile=10):
        """Return a publisher that need not have found a subscription yet."""
        return self.probe.create_publisher(kind, topic, profile)

    def talk(self, kind, topic, profile=10):
        """Return a publisher that has found its subscription."""
        publisher = self.talk_later(kind, topic, profile)
        self.until(lambda: publisher.get_subscription_count() > 0, f'a subscription to {topic}')
        return publisher

    def connected(self, node, *topics):
        """Spin until a subscription has found each of these topics of a node."""
        outlets = [outlet for outlet in node.loop.outlets if outlet.topic in topics]
        assert len(outlets) == len(topics)
        self.until(lambda: all(map(node.subscriptions_to, outlets)), f'subscriptions to {topics}')

    def change(self, name, *transitions):
        """Request transitions of a node's life cycle; return whether the last one succeeded."""
        for transition in transitions:
            request = ChangeState.Request(transition=Transition(id=transition))
            is_changed = self.call(ChangeState, f'{name}/change_state', request).success
        return is_changed

    def call(self, kind, name, request=None):
        """Call a service of a lifecycle node once, and return the response.

        A node answers in vain a client that it has not discovered yet. It discovers clients in
        the order in which they were made, so one that has answered a younger client knows this.
        """
        client = self._client(kind, name)
        self.state_of(name.rsplit('/', 1)[0])
        future = client.call_async(request or kind.Request())
        self.until(future.done, f'an answer of {name}')
        return future.result()

    def _client(self, kind, name):
        """Return a client that has found its service; one that finds none is made anew."""
        end = time.monotonic() + LIMIT
        while True:
            client = self.probe.create_client(kind, name)
            retry = time.monotonic() + LIMIT / 4.0
            while time.monotonic() < retry:
                if client.service_is_ready():
                    return client
                self.executor.spin_once(timeout_sec=0.05)
            self.probe.destroy_client(client)
            assert time.monotonic() < end, f'waited {LIMIT:g} s for the service {name}'

    def state_of(self, name):
        """Return the lifecycle state of a node.

        The question changes nothing, so it is asked again where the answer is lost.
        """
        client = self._client(GetState, f'{name}/get_state')
        futures = []

        def answered():
            if not futures or time.monotonic() > asked[0] + 2.0:
                asked[0] = time.monotonic()
                futures.append(client.call_async(GetState.Request()))
            return any(future.done() for future in futures)

        asked = [time.monotonic()]
        self.until(answered, f'an answer of {name}/get_state')
        return next(f for f in futures if f.done()).result().current_state.label

    def until(self, condition, what, limit=LIMIT):
        """Spin until something is so."""
        end = time.monotonic() + limit
        while not condition():
            assert time.monotonic() < end, f'waited {limit:g} s for {what}'
            self.executor.spin_once(timeout_sec=0.05)

    def let_pass(self, seconds):
        """Spin for a while of real time."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0.0:
            self.executor.spin_once(timeout_sec=left)

    def becomes(self, read, expected):
        """Spin until what is read is as expected."""
        end = time.monotonic() + LIMIT
        while (got := read()) != expected:
            assert time.monotonic() < end, f'expected {expected!r}, got {got!r} for {LIMIT:g} s'
            self.executor.spin_once(timeout_sec=0.05)

    def heard(self, topic, count=1):
        """Spin until a topic gave so many messages, and return them."""
        self.until(lambda: len(self.received[topic]) >= count, f'{count} messages of {topic}')
        return self.received[topic]

    def at(self, topic, stamp_ns):
        """Spin until a topic gave a message of a stamp, and return the last one."""
        stamp, found = ns_to_stamp(round(stamp_ns)), []

        def is_found():
            found[:] = [m for m in self.received[topic] if m.header.stamp == stamp]
            return found
        self.until(is_found, f'{topic} stamped {stamp_ns * 1e-6:g} ms')
        return found[-1]

    def close(self):
        """Destroy everything, what waits for messages first."""
        self.executor.shutdown()
        self.probe.destroy_node()
        close(self.context, self.nodes)
