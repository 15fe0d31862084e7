"""What nodes have in common that run a family: its configuration, from parameters and URDF."""
from __future__ import annotations

import time

from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from std_msgs.msg import String

from propulsion_ros.graph.family_params import FamilyNodeParams, OwnT
from propulsion_ros.graph.hosting import loop_params_of
from propulsion_ros.graph.node_config import Setting, block_named, family_named, schema_of
from propulsion_ros.nodes import qos
from propulsion_ros.nodes.base import PropulsionNode
from propulsion_ros.nodes.rclpy_private import overrides_of
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.flat import build, parameters_of
from propulsion_ros.urdf.reader import ActuatorSpec, actuators_from_urdf


class FamilyNode(PropulsionNode):
    """A node for one plugin block of a robot description, or for parameters alone.

    ROS Parameters
    --------------
    Those of `FamilyNodeParams` and the family's own configuration.
    """

    takes_live = True
    """Whether the node follows live parameters of its family."""

    def read_setting(self, own: type[OwnT], only: str = '') -> tuple[OwnT, Setting]:
        """Return the node's own configuration and that of its family.

        Parameters
        ----------
        own : type
            Configuration of the node, a subclass of `FamilyNodeParams`.
        only : str
            The one family that the node can run; '' for any.

        Raises
        ------
        ConfigError
            For everything that is wrong.
        """
        mine = build(own, self.declare_some(parameters_of(own)))
        spec = self._find_block(mine)
        family = family_named(mine.family, spec, self.get_name(), only)
        block = spec.values if spec else {}
        values = self.declare_rest(schema_of(family), block, self.takes_live)
        given = overrides_of(self)
        setting = Setting.make(mine, family, spec, values, frozenset(given))
        for key in sorted(set(given) & set(block)):
            self.get_logger().info(
                f"parameter '{key}': {given[key]} wins over the robot description's {block[key]}"
            )
        for note in spec.notes if spec else ():
            self.get_logger().info(note)
        return mine, setting

    def _find_block(self, own: FamilyNodeParams) -> ActuatorSpec | None:
        """Return this node's plugin block, None without a robot description."""
        description = own.robot_description
        if not description and own.description_topic:
            description = self._hear_description(own.description_topic, own.description_timeout)
        if not description:
            return None
        specs = actuators_from_urdf(description, loop_params_of, own.base_link)
        return block_named(specs, own.plugin or self.get_name())

    def _hear_description(self, topic: str, timeout: float) -> str:
        """Wait for a robot description, with a node of its own: this one is being configured."""
        heard: list[str] = []
        name = f'{self.get_name()}_description'
        listener = Node(
            name, namespace=self.get_namespace(), context=self.context,
            use_global_arguments=False, start_parameter_services=False,
        )
        executor = SingleThreadedExecutor(context=self.context)
        executor.add_node(listener)
        try:
            listener.create_subscription(
                String, topic, lambda message: heard.append(message.data), qos.LATCHED
            )
            self.get_logger().info(f'waits for the robot description on {topic}')
            end = time.monotonic() + timeout
            while not heard and time.monotonic() < end:
                executor.spin_once(timeout_sec=0.1)
        finally:
            executor.shutdown()
            listener.destroy_node()
        if not heard:
            raise ConfigError('description_topic', f'nothing on {topic} within {timeout:g} s')
        return heard[0]
