# SPDX-License-Identifier: Apache-2.0
"""Runs the actuator nodes of one simulated model in the simulator's process, by its time."""
from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast
from xml.etree.ElementTree import Element

import numpy as np
import rclpy
from rclpy.signals import SignalHandlerOptions

from propulsion_ros.graph.family_params import loop_params_of
from propulsion_ros.graph.simulation import NodeSpec
from propulsion_ros.graph.wiring import Graph, actuator_nodes, check_settings
from propulsion_ros.gz.command_topics import CommandTopic, Listener, command_topics
from propulsion_ros.gz.joint_drives import held_joints, read_groups
from propulsion_ros.gz.link_forces import LinkForces, Mount, group_seats, shifts
from propulsion_ros.gz.simulated_model import SimulatedModel, carrier_of, placed_description
from propulsion_ros.loops.actuator_loop import LoopParams
from propulsion_ros.loops.ports import Outlet, Port
from propulsion_ros.messages.rclpy_private import reason_of, take_message
from propulsion_ros.models.common.family import Family, Output
from propulsion_ros.models.common.motion import MatrixMotion
from propulsion_ros.models.steering.steered import SteeredFamily
from propulsion_ros.nodes.actuator_node import ActuatorNode
from propulsion_ros.nodes.spin import ROS_REFUSALS, make_executor
from propulsion_ros.nodes.stack import make_node
from propulsion_ros.settings.errors import CommandError, SourceError
from propulsion_ros.settings.quantity import FloatArray
from propulsion_ros.urdf.link_tree import Pose, tree_of
from propulsion_ros.urdf.reader import actuators_from_urdf
from propulsion_ros.urdf.xml import parse_urdf

_CHECKS_PER_SECOND = 200
"""Rate at which nodes take messages, in simulated time [Hz]."""
_CHECKS_PER_REQUEST = 10
"""Factor by which requests are served less often: a check for one takes longer than a step."""
_MOST_AT_ONCE = 20
"""Most messages taken at once from a topic, so that a flood cannot block the simulator."""


@dataclass(frozen=True)
class _Group:
    """One plugin block: its node, the links on which its forces act, and its timing."""

    spec: NodeSpec
    forces: LinkForces
    params: LoopParams


class ActuatorHost:
    """Runs each pushing group of actuators of a model in the same node as on a robot.

    Raises `ConfigError` for any fault of description and settings.

    Parameters
    ----------
    model : SimulatedModel
        The model.
    description : str
        URDF of the model, '' for none; places are those of the model.
    params_files : sequence of str or Path
        Parameter files of the nodes; later ones win.
    plugin : Element, optional
        Has <actuators>, which are blocks beside those of the description, and <command_topic>, see
        `command_topics`.

    Attributes
    ----------
    base : Mount
        Place of base_link in the model.
    uses_body : bool
        Whether any group depends on the motion of base_link.
    links, joints : tuple of str
        Links of the model whose poses, and joints whose positions, `step` needs.
    drives : dict of str to float
        Commanded rates of the joints of servos in this step [rad/s].
    nodes : list of SimulatedNode
        One for each group, after `start`.
    warnings : list of str
        Likely mistakes, a line each.
    """

    def __init__(
        self,
        model: SimulatedModel,
        description: str = '',
        params_files: Sequence[str | Path] = (),
        namespace: str = '',
        plugin: Element | None = None,
    ) -> None:
        self._files, self._namespace = tuple(params_files), namespace
        plugin = Element('plugin') if plugin is None else plugin
        robot = parse_urdf(description) if description else None
        text = placed_description(model, robot, plugin.findall('actuators'))
        tree = tree_of(text)
        specs = actuators_from_urdf(text, loop_params_of)
        nodes = {spec.name: spec for spec in actuator_nodes(text, specs, use_sim_time=False)}
        check_settings(Graph(text, None, tuple(nodes.values())), self._files, namespace)
        groups = list(read_groups(specs, self._files, namespace))
        if not groups:
            raise SourceError(
                'robot' if description else 'plugin/actuators',
                'expected a block whose actuators push, got none; an allocator pushes nothing'
            )
        bases = {group.spec.base_link for group in groups}
        if len(bases) > 1:
            raise SourceError('base_link', f'expected one for all blocks, got {sorted(bases)}')
        base_link = bases.pop()
        held = held_joints(robot, tree, groups)
        self.base = Mount(*carrier_of(model, tree, base_link, held))
        self._groups = [
            _Group(nodes[group.spec.name], LinkForces(
                self.base, group_seats(model, tree, group, held), bool(group.turned(tree))
            ), group.params)
            for group in groups
        ]
        self.uses_body = any(group.family.uses_body for group in groups)
        self.joints = _turning(model, dict.fromkeys(
            joint for group in groups for joint in group.steering
        ))
        self.warnings = [] if robot is None else [*shifts(tree_of(description), tree, groups)]
        self.links = tuple(dict.fromkeys(
            link for group in self._groups for link in group.forces.links
        ))
        families = {group.spec.name: group.family for group in groups}
        self._listener = Listener(list(command_topics(plugin, model.name, families)))
        self.drives: dict[str, float] = {}
        self.nodes: list[SimulatedNode] = []
        self._context: rclpy.Context | None = None
        self._every, self._passed, self._checked = 1, 0, 0

    @property
    def names(self) -> list[str]:
        """Names of the nodes."""
        return [group.spec.name for group in self._groups]

    def start(self, period_ns: int) -> None:
        """Start the nodes, which step with a period [ns].

        Raises `ConfigError` if a node does not start; then all nodes are closed.
        """
        self._every = _serve_every(period_ns)
        self._context = rclpy.Context()
        # No signal handlers of rclpy, as the simulator has its own.
        rclpy.init(
            args=[], context=self._context, signal_handler_options=SignalHandlerOptions.NO
        )
        self._executor = make_executor('events', self._context)
        try:
            for group in self._groups:
                self._start_node(group, period_ns)
        except BaseException:
            self.close()
            raise

    def _start_node(self, group: _Group, period_ns: int) -> None:
        parameters = {**group.spec.parameters, **_timing(group.params, period_ns)}
        try:
            node = cast(SimulatedNode, make_node(
                replace(group.spec, parameters=parameters), self._namespace, SimulatedNode,
                self._files, context=self._context, forces=group.forces,
            ))
        except ROS_REFUSALS as error:
            raise SourceError(group.spec.name, reason_of(error)) from error
        self.nodes.append(node)
        self._executor.add_node(node)
        node.start()
        if node.has_failed:
            raise SourceError(group.spec.name, 'the node did not start, see its own error')

    def serve(self) -> None:
        """Have nodes take messages, and a request to a service, without waiting."""
        for node in self.nodes:
            node.take_messages()
        if self.nodes:
            self._executor.spin_once(timeout_sec=0.0)

    def pass_step(self) -> None:
        """Count a step, and take messages or serve requests after every so many steps."""
        for topic, message in self._listener.taken():
            self.nodes[self.names.index(topic.node)].take(topic, message)
        self._passed += 1
        if self._passed < self._every:
            return
        self._passed = 0
        self._checked += 1
        if self._checked % _CHECKS_PER_REQUEST:
            for node in self.nodes:
                node.take_messages()
        else:
            self.serve()
        if self._checked % _CHECKS_PER_SECOND == 0:
            for node in self.nodes:
                if node.loop is not None:
                    node.loop.look_for_publishers(self._listener.publishers_of(node.get_name()))

    def step(
        self, stamp_ns: int, motion: MatrixMotion | None, poses: Mapping[str, Pose],
        joints: Mapping[str, tuple[float, float]] = MappingProxyType({}),
    ) -> dict[str, FloatArray]:
        """Run one step of every group.

        Parameters
        ----------
        stamp_ns : int
            Begin of the step, during which the result acts.
        motion : MatrixMotion or None
            Motion of base_link; None only if no group depends on it.
        poses : mapping of str to Pose
            Pose of each of `links` in the world.
        joints : mapping of str to tuple
            Position and velocity of each of `joints` [rad], [rad/s].

        Returns
        -------
        dict of str to FloatArray
            Force and torque on links that a group acts on, in world axes, about the link's
            origin, (6,).
        """
        total: dict[str, FloatArray] = {}
        whole: FloatArray | None = None
        self.drives = {}
        for node in self.nodes:
            output = node.step(stamp_ns, motion, poses, joints)
            if output is None:
                continue
            self.drives.update(node.drives())
            # The node has complained of a wrench that is not finite.
            if not math.isfinite(sum(output.wrench.tolist())):
                continue
            if node.forces.is_rigid:
                whole = output.wrench if whole is None else whole + output.wrench
                continue
            for link, wrench in node.wrenches.items():
                total[link] = total[link] + wrench if link in total else wrench
        if whole is not None:
            # The wrenches of all groups on one rigid link add up to one.
            link, wrench = self.base.link, self.base.carried(whole, poses[self.base.link])
            total[link] = total[link] + wrench if link in total else wrench
        return total

    def jump(self, from_ns: int, to_ns: int, period_ns: int) -> None:
        """Continue at another time, or with another period; see `ActuatorPorts.jump`."""
        self._every = _serve_every(period_ns)
        for group, node in zip(self._groups, self.nodes, strict=True):
            timing = _timing(group.params, period_ns)
            node.jump(from_ns, to_ns, {key: timing[key] for key in ('update_rate', 'publish_rate')})

    def reset(self) -> None:
        """Return all actuators to the start, as the world does."""
        for node in self.nodes:
            node.restart()

    def close(self) -> None:
        """End the nodes after a last zero wrench."""
        if self._context is None:
            return
        self._executor.shutdown()
        for node in self.nodes:
            node.close()
        self.nodes.clear()
        rclpy.try_shutdown(context=self._context)
        self._context = None


def _turning(model: SimulatedModel, joints: Iterable[str]) -> tuple[str, ...]:
    """Return joints that must turn in a model."""
    known = [joint.name for joint in model.ends if joint.turns]
    for name in joints:
        if name not in known:
            raise SourceError(
                f'joint {name!r}', 'the model has none of this name that turns; it has: '
                f'{", ".join(known) or "none"}'
            )
    return tuple(joints)


def _serve_every(period_ns: int) -> int:
    """Return the number of steps after which nodes take messages."""
    return max(1, round(1e9 / (_CHECKS_PER_SECOND * period_ns)))


def _timing(params: LoopParams, period_ns: int) -> dict[str, object]:
    """Return the parameters with which a node steps with the simulator.

    It publishes at a whole multiple of the period that is nearest to its own settings.
    """
    rate = 1e9 / period_ns
    every = max(1, round(rate / (params.publish_rate or params.update_rate)))
    return {
        'update_rate': rate, 'publish_rate': rate / every, 'step_on': 'clock',
        'wait_for': ['clock'], 'max_lag': 0.0, 'hold_back': 0.0,
    }


_OF_SIMULATOR = ('/clock', '~/odometry')
"""Topics whose content the simulator passes itself."""
TIMING = ('update_rate', 'publish_rate', 'step_on', 'wait_for', 'max_lag', 'hold_back')
"""Parameters that the simulator sets."""
_LATCHED = 'latched'
_KEPT_NS = 1_000_000_000
"""Time between two messages on a latched topic without subscriptions [ns]."""


class SimulatedNode(ActuatorNode):
    """An actuator node that gets time and motion from its simulator, not from topics.

    Commands, outputs, parameters and services are those of `ActuatorNode`. A topic without a
    subscription is not published, except a latched one, once a second, for later subscriptions.

    Parameters
    ----------
    forces : LinkForces
        Links on which its actuators act.

    Attributes
    ----------
    wrenches : dict of str to FloatArray
        Wrench on each link after a step, see `LinkForces.at`.
    """

    follows_links = True

    def __init__(self, name: str, forces: LinkForces, **kwargs: Any) -> None:
        self.forces = forces
        self.wrenches: dict[str, FloatArray] = {}
        self._poses: Mapping[str, Pose] = {}
        self._time_ns = 0
        self._read: list[Any] = []
        self._is_stepping = False
        self._kept_ns: dict[Outlet, int] = {}
        super().__init__(name, **kwargs)

    def connect(self, port: Port) -> None:
        """Subscribe, except to topics whose content the simulator passes itself."""
        if port.topic not in _OF_SIMULATOR:
            super().connect(port)
            self._read.append(self.entities[-1])

    @property
    def subscriptions(self) -> Iterator[Any]:
        """Subscriptions for the executor: not those of the ports, see `take_messages`."""
        return (each for each in super().subscriptions if each not in self._read)

    def take_messages(self) -> None:
        """Pass received messages to the ports."""
        for subscription in self._read:
            for _ in range(_MOST_AT_ONCE):
                if not take_message(subscription):
                    break

    def teardown(self) -> None:
        """Close the topics."""
        self._read.clear()
        super().teardown()

    def publish(self, outlet: Outlet, stamp_ns: int, payload: Any) -> None:
        """Publish a payload if there is a subscription, or the topic is latched."""
        if self.subscriptions_to(outlet) or self._is_kept(outlet, stamp_ns):
            super().publish(outlet, stamp_ns, payload)

    def _is_kept(self, outlet: Outlet, stamp_ns: int) -> bool:
        """Return whether a latched message is published for later subscriptions."""
        if outlet.qos != _LATCHED:
            return False
        if not self._is_stepping:
            # Only messages of steps are repeated, so publish this one.
            return True
        last_ns = self._kept_ns.get(outlet)
        is_due = last_ns is None or not 0 < stamp_ns - last_ns < _KEPT_NS
        if is_due:
            self._kept_ns[outlet] = stamp_ns
        return is_due

    @property
    def given(self) -> Mapping[str, Any]:
        """Values that files and launch give, except the timing, which the simulator sets."""
        return {key: value for key, value in super().given.items() if key not in TIMING}

    @property
    def is_simulated(self) -> bool:
        """Whether time is simulated: always True, without /clock."""
        return True

    def now_ns(self) -> int:
        """Return the simulator's time."""
        return self._time_ns

    def step(
        self, stamp_ns: int, motion: MatrixMotion | None, poses: Mapping[str, Pose],
        joints: Mapping[str, tuple[float, float]],
    ) -> Output | None:
        """Run the tick at a stamp; see `ActuatorHost.step`. Return None while not active.

        The wrench at the present poses is published.
        """
        self._time_ns, self._poses = stamp_ns, poses
        if self.loop is None:
            return None
        family = self.loop.family
        if isinstance(family, SteeredFamily):
            family.follow(*np.array([joints[name] for name in family.joint_names]).T)
        if not self.is_active:
            return None
        self.loop.core.placed = None if self.forces.is_rigid else partial(
            self._placed, family)
        self._is_stepping = True
        try:
            return self.loop.step(stamp_ns, motion)
        finally:
            self._is_stepping = False

    def _placed(self, family: Family, output: Output) -> Output:
        """Return the output of a tick with the wrench at the present poses of its links."""
        # The poses of the simulator already include the angles of joints.
        own = family.at_rest if isinstance(family, SteeredFamily) else (family, output)
        self.wrenches, wrench = self.forces.at(*own, self._poses)
        return output._replace(wrench=wrench)

    def drives(self) -> Iterator[tuple[str, float]]:
        """Yield the joints that servos move, with their rates [rad/s]."""
        family = self.loop.family if self.loop else None
        if isinstance(family, SteeredFamily):
            for name, rate in zip(family.joint_names, family.drives().tolist(), strict=True):
                if math.isfinite(rate):
                    yield name, rate

    def jump(self, from_ns: int, to_ns: int, timing: Mapping[str, Any]) -> None:
        """Continue at another time; see `ActuatorPorts.jump`."""
        self._time_ns = to_ns
        if self.loop is not None:
            self.loop.jump(from_ns, to_ns, timing)

    def take(self, topic: CommandTopic, message: Any) -> None:
        """Take a message of gz-transport as a command for the next step."""
        if not self.is_active or self.loop is None:
            return
        try:
            self.loop.ports[0].take(topic.read(message))
        except CommandError as error:
            self.complain('refused', str(error))

    def restart(self) -> None:
        """Return actuators and time to the start, as the world does."""
        if self.loop is not None:
            self.loop.reset()
