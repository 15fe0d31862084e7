# SPDX-License-Identifier: Apache-2.0
"""The ``ros2`` commands of a page, put to the graph, launch file or executable they speak of."""
from __future__ import annotations

import argparse
import contextlib
import io

import rclpy

from markdown_pages import REPOSITORY
from page_graphs import PageError, message_class
from page_launch import launch_arguments
from page_shell import PLACEHOLDER, files_exist, inside
from propulsion_ros.graph import wiring
from propulsion_ros.nodes import stack
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.tools import cli
from propulsion_ros.tools.demo import reserved_domain
from ros_graph import close

ROS2_ELSEWHERE = {
    'bag': 'rosbag2 is not a wheel; test/tools reads and writes its bags with rosbags',
    'security': 'SROS2 is not a wheel; test/nodes/test_policies.py checks the policies',
    'pkg': 'asks an installation; test/test_packaging.py looks at what is installed',
}
"""Verbs of ros2 that are not run, and why."""

OTHER_PACKAGES = {
    'plotjuggler': 'opens a window', 'rviz2': 'opens a window', 'rqt_plot': 'opens a window',
    'ros_gz_bridge': 'needs Gazebo', 'ros_gz_sim': 'needs Gazebo',
    'rqt_robot_monitor': 'opens a window',
}
"""Packages of others that `ros2 run` may start, and why they are not started."""

_LIFECYCLE = ('configure', 'activate', 'deactivate', 'cleanup', 'shutdown')


class Ros2:
    """Checks ``ros2`` commands.

    Parameters
    ----------
    folder : Path
        Where they are run.
    robots : Robots
        Graphs that topics may belong to.
    own : callable
        ``own(words, whole)`` checks a command of propulsion_ros.
    """

    def __init__(self, folder, robots, own):
        self._folder, self._robots, self._own = folder, robots, own

    def check(self, words, whole=True):
        """Check the words behind ``ros2``; raise `PageError`."""
        verbs = {
            'run': self._ros2_run, 'launch': self._launch, 'topic': self._topic,
            'param': self._param, 'service': self._service, 'node': self._node,
            'lifecycle': self._lifecycle, 'interface': self._interface,
        }
        if not words and not whole:
            return
        verb, rest = words[0], words[1:]
        if verb in verbs:
            try:
                verbs[verb](rest, whole)
            except IndexError:
                if whole:
                    raise PageError(f'ros2 {" ".join(words)} is not complete') from None
        elif verb not in ROS2_ELSEWHERE:
            raise PageError(f'nobody knows ros2 {verb}')
        else:
            files_exist(rest)

    def _ros2_run(self, words, whole):
        if words[0] in OTHER_PACKAGES:
            return
        if words[0] != 'propulsion_ros':
            raise PageError(f'nobody knows the package {words[0]}')
        if not (REPOSITORY / 'scripts' / words[1]).is_file():
            raise PageError(f'no executable {words[1]}')
        if words[1] in cli.COMMANDS:
            self._own(words[1:], whole=False)
        else:
            self.start(words[1], words[2:])

    def start(self, name, words):
        """Start a node, or read the graph that `stack` would start."""
        split = words.index('--ros-args') if '--ros-args' in words else len(words)
        own, ros = words[:split], words[split:]
        if any(map(PLACEHOLDER.fullmatch, own)):
            return
        context, nodes = rclpy.Context(), []
        try:
            with inside(self._folder), reserved_domain() as domain:
                rclpy.init(args=[name, *ros], context=context, domain_id=domain)
                if name == 'stack':
                    _check_stack_options(own)
                    wiring.checked_graph(own, [])
                    return
                try:
                    nodes.append(stack.EXECUTABLES[name](context=context))
                    nodes[0].start()
                    active = nodes[0].is_active
                finally:
                    # Before another one gets the domain.
                    close(context, nodes)
                if ros and not active:
                    raise PageError(f'{name} does not start with {" ".join(ros)}')
        except (ConfigError, RuntimeError) as error:
            raise PageError(' '.join(str(error).split())) from None
        finally:
            rclpy.try_shutdown(context=context)

    def _launch(self, words, whole):
        if not words and not whole:
            return
        if words[0] != 'propulsion_ros':
            raise PageError(f'nobody knows the package {words[0]}')
        known = launch_arguments(words[1])
        for word in words[2:]:
            if word.startswith('--'):
                if word not in ('--show-args', '--print'):
                    raise PageError(f'ros2 launch has no {word}')
                continue
            key, _, value = word.partition(':=')
            if key not in known:
                raise PageError(f'{words[1]} has no argument {key}, it has {", ".join(known)}')
            if known[key] and value not in known[key] and not PLACEHOLDER.fullmatch(value):
                raise PageError(f'{key} is one of {", ".join(known[key])}, not {value}')
            if key in ('model', 'params_file') and not PLACEHOLDER.fullmatch(value) \
                    and not (self._folder / value).is_file():
                raise PageError(f'{key}: there is no file {value}')

    def _topic(self, words, whole):
        if words[0] in ('list',):
            return
        values = _positional(words[1:], ('-r', '--rate', '--qos-reliability', '--qos-durability',
                                         '--field', '-t', '--times', '-w'))
        if words[0] == 'pub':
            if whole and len(values) < 2:
                raise IndexError
            self._robots.publish(*(*values, '', '')[:3])
        elif words[0] in ('echo', 'hz', 'info', 'bw', 'delay'):
            if '--qos-durability' in words and '--qos-reliability' not in words:
                raise PageError('ros2 takes best effort then, which hears nothing of before')
            if not values and not whole:
                return
            self._robots.has_topic(values[0])
            if len(values) > 1:
                message_class(values[1])
        else:
            raise PageError(f'nobody knows ros2 topic {words[0]}')

    def _param(self, words, whole):
        verb, rest = words[0], words[1:]
        if verb == 'set':
            self._robots.set(rest[0], rest[1], rest[2])
        elif verb in ('get', 'describe'):
            if rest or whole:
                self._robots.has_node(rest[0], rest[1])
        elif verb in ('list', 'dump'):
            if rest:
                self._robots.has_node(rest[0])
        else:
            raise PageError(f'nobody knows ros2 param {verb}')

    def _service(self, words, whole):
        if words[0] == 'list':
            return
        if words[0] != 'call':
            raise PageError(f'nobody knows ros2 service {words[0]}')
        if whole and len(words) < 3:
            raise IndexError
        self._robots.call(*(*words[1:], '', '')[:3])

    def _node(self, words, whole):
        if words[0] == 'info':
            self._robots.has_node(words[1])
        elif words[0] != 'list':
            raise PageError(f'nobody knows ros2 node {words[0]}')

    def _lifecycle(self, words, whole):
        if words[0] == 'set':
            self._robots.has_node(words[1])
            if words[2] not in _LIFECYCLE:
                raise PageError(f'a node has no transition {words[2]}')
        elif words[0] in ('get', 'list'):
            self._robots.has_node(words[1])
        elif words[0] != 'nodes':
            raise PageError(f'nobody knows ros2 lifecycle {words[0]}')

    def _interface(self, words, whole):
        if words[0] != 'show':
            raise PageError(f'nobody knows ros2 interface {words[0]}')
        message_class(words[1])


def _positional(words, with_value):
    """Return the words that are no options."""
    values, rest = [], iter(words)
    for word in rest:
        if word in with_value:
            next(rest)
        elif not word.startswith('-'):
            values.append(word)
    return values


def _check_stack_options(words):
    parser = argparse.ArgumentParser(exit_on_error=False)
    parser.add_argument('--executor', choices=('events', 'single'))
    wiring.add_graph_options(parser)
    try:
        with contextlib.redirect_stderr(io.StringIO()):
            parser.parse_args(words)
    except (SystemExit, argparse.ArgumentError) as error:
        raise PageError(f'stack {" ".join(words)}: {error}') from None
