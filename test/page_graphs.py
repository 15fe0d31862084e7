# SPDX-License-Identifier: Apache-2.0
"""The graphs of robots, started but never spun: what a page says about topics is put to them."""
from __future__ import annotations

import importlib
from array import array
from contextlib import ExitStack

import numpy as np
import rclpy
import yaml
from rclpy.parameter import Parameter
from rclpy.serialization import serialize_message

from propulsion_ros.nodes.stack import make_node
from propulsion_ros.settings.names import type_name
from propulsion_ros.tools.demo import reserved_domain
from ros_graph import close


class PageError(Exception):
    """What a page says and is not so, in one line."""


class Robot:
    """The running nodes of one graph.

    Parameters
    ----------
    graph : Graph
        What to start.
    """

    def __init__(self, graph):
        self._context, self.nodes = rclpy.Context(), []
        self._network = ExitStack()
        domain = self._network.enter_context(reserved_domain())
        files = ['--ros-args', '--params-file', str(graph.params_file)] if graph.params_file else []
        rclpy.init(args=files, context=self._context, domain_id=domain)
        for spec in graph.nodes:
            self.nodes.append(make_node(spec, context=self._context, enable_rosout=False))
            self.nodes[-1].start()
            if not self.nodes[-1].is_active:
                raise PageError(f'the node {spec.name} does not start')

    def close(self):
        """Destroy the nodes."""
        close(self._context, self.nodes)
        self._network.close()

    def readers(self, topic):
        """Yield each node that reads a topic, with its subscription."""
        for node in self.nodes:
            for subscription in node.subscriptions:
                if subscription.topic_name == topic:
                    yield node, subscription

    def types(self, topic):
        """Return the types of a topic, as the command line writes them."""
        ends = (end for node in self.nodes for end in (*node.publishers, *node.subscriptions))
        return {type_name(end.msg_type) for end in ends if end.topic_name == topic}

    @property
    def topics(self):
        """Names of all topics."""
        return {
            end.topic_name for node in self.nodes for end in (*node.publishers, *node.subscriptions)
        }

    @property
    def services(self):
        """Types of all services by name."""
        return {
            service.service_name: type_name(service.srv_type)
            for node in self.nodes for service in node.services
        }

    def node(self, name):
        """Return a node by its name in the graph, None where there is none."""
        return next((n for n in self.nodes if n.get_fully_qualified_name() == name), None)


def message_class(name):
    """Return the class of ``std_msgs/msg/Bool`` or ``std_msgs/Bool``; raise `PageError`."""
    parts = name.split('/')
    try:
        module = importlib.import_module(f'{parts[0]}.{parts[1] if len(parts) == 3 else "msg"}')
        return getattr(module, parts[-1])
    except (ImportError, AttributeError, IndexError):
        raise PageError(f'no message type {name}') from None


def fill(message, values, path=''):
    """Fill a message from what YAML says, as ``ros2 topic pub`` does; raise `PageError`."""
    if not isinstance(values, dict):
        raise PageError(f'{path or type_name(type(message))}: expected keys, got {values!r}')
    kinds = message.get_fields_and_field_types()
    for key, value in values.items():
        if key not in kinds:
            raise PageError(f'{type_name(type(message))} has no field {key!r}')
        now = getattr(message, key)
        try:
            if hasattr(now, 'get_fields_and_field_types'):
                fill(now, value, f'{path}{key}.')
            elif isinstance(now, array):
                setattr(message, key, array(now.typecode, value))
            elif isinstance(now, np.ndarray):
                setattr(message, key, np.array(value, now.dtype))
            elif isinstance(now, list):
                setattr(message, key, value)
            elif isinstance(now, float) and isinstance(value, int):
                setattr(message, key, float(value))
            else:
                setattr(message, key, value)
        except (AssertionError, TypeError, ValueError) as error:
            reason = ' '.join(str(error).split()) or type(error).__name__
            raise PageError(f'{path}{key}: {value!r} is no {kinds[key]}: {reason}') from None


class Robots:
    """Several robots; a question is answered by the first that knows, as a reader runs one."""

    def __init__(self, robots):
        self._robots = robots

    def _ask(self, question, *arguments):
        wrong = PageError('there is no robot')
        for robot in self._robots:
            try:
                return question(robot, *arguments)
            except PageError as error:
                # A fault in what is there says more than that it is not there.
                if not isinstance(wrong, FoundError):
                    wrong = error
        raise wrong

    def publish(self, topic, kind, text):
        """Check a message to a topic, by giving it to whoever reads it."""
        self._ask(_publish, topic, kind, text)

    def has_topic(self, topic):
        """Check that there is a topic."""
        self._ask(_has_topic, topic)

    def call(self, service, kind, text):
        """Check a call of a service; it is not made."""
        self._ask(_call, service, kind, text)

    def set(self, node, key, text):
        """Check a change of a parameter by making it, and undo it."""
        self._ask(_set, node, key, text)

    def has_node(self, node, key=''):
        """Check that there is a node, and a parameter of it."""
        self._ask(_has_node, node, key)


class FoundError(PageError):
    """What is wrong with something that is there."""


def _has_topic(robot, topic):
    if topic not in robot.topics:
        raise PageError(f'no topic {topic}')


def _publish(robot, topic, kind, text):
    if kind:
        message = message_class(kind)()
    _has_topic(robot, topic)
    if kind and robot.types(topic) != {type_name(type(message))}:
        raise FoundError(f'{topic} is {", ".join(robot.types(topic))}, not {kind}')
    readers = list(robot.readers(topic))
    if not readers:
        raise FoundError(f'nobody reads {topic}')
    if not text:
        return
    fill(message, yaml.safe_load(text))
    for node, subscription in readers:
        before = node.counts['refused']
        subscription.callback(serialize_message(message) if subscription.raw else message)
        if node.counts['refused'] > before:
            raise FoundError(f'{topic}: {node.get_name()} refuses {text}')


def _call(robot, service, kind, text):
    if service not in robot.services:
        raise PageError(f'no service {service}')
    if kind and robot.services[service] != kind:
        raise FoundError(f'{service} is {robot.services[service]}, not {kind}')
    if text:
        fill(message_class(kind).Request(), yaml.safe_load(text))


def _has_node(robot, name, key):
    node = robot.node(name)
    if node is None:
        raise PageError(f'no node {name}')
    if key and not node.has_parameter(key):
        raise FoundError(f'{name} has no parameter {key}')
    return node


def _set(robot, name, key, text):
    node = _has_node(robot, name, key)
    before = node.get_parameter(key)
    (result,) = node.set_parameters([Parameter(key, value=yaml.safe_load(text))])
    if not result.successful:
        raise FoundError(f'{name} refuses {key}: {result.reason}')
    node.set_parameters([before])
