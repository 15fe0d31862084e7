"""What nodes have in common that run a family: its configuration, from parameters and URDF."""
from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from std_msgs.msg import String

from propulsion_ros.description import ActuatorSpec, actuators_from_urdf
from propulsion_ros.errors import ConfigError
from propulsion_ros.families import REGISTRY
from propulsion_ros.hosting import loop_params_of
from propulsion_ros.models.family import Family
from propulsion_ros.nodes import qos
from propulsion_ros.nodes.base import PropulsionNode
from propulsion_ros.nodes.declare import overrides_of
from propulsion_ros.quantity import quantity, validate
from propulsion_ros.schema import build, parameters_of, suggestion


@dataclass(frozen=True, kw_only=True, eq=False)
class FamilyNodeParams:
    """Where a node finds its family."""

    robot_description: str = quantity(
        '', doc='URDF with a plugin block for this node', kind=str
    )
    description_topic: str = quantity(
        '', doc='latched topic to take the URDF from, where robot_description is empty', kind=str
    )
    description_timeout: float = quantity(
        10.0, 's', doc='wall time to wait for it', above=0.0, hi=1e4
    )
    plugin: str = quantity('', doc='name of the plugin block; empty: the node name', kind=str)
    family: str = quantity(
        '', doc='actuator family; empty: as the plugin block says, else the node name', kind=str
    )
    base_link: str = quantity(
        '', doc="frame of wrench and geometry; empty: the robot description's", kind=str
    )
    reliable_inputs: bool = quantity(
        False, doc='lose nothing, heard or said: for simulation in lockstep, and replay', kind=bool
    )

    def __post_init__(self) -> None:
        validate(self)


@dataclass(frozen=True)
class Setting:
    """The configuration of a family as a node found it.

    Attributes
    ----------
    family : str
        Its name.
    family_type : type
        The family.
    spec : ActuatorSpec or None
        Its plugin block.
    values : dict
        Flat parameters: of the node, the plugin block, or the default.
    frame : str
        Frame of wrench and geometry.
    given : frozenset of str
        Keys that parameters gave.
    """

    family: str
    family_type: type[Family]
    spec: ActuatorSpec | None
    values: dict[str, Any]
    frame: str
    given: frozenset[str]

    def build(self, cls: type[Any]) -> Any:
        """Return the configuration of a class from these values.

        Raises
        ------
        ConfigError
            Naming the parameter or the XML path of what is wrong.
        """
        try:
            return build(cls, self.values)
        except ConfigError as error:
            raise self.locate(error) from None

    def build_family(self) -> Family:
        """Return the family, built from these values; raise `ConfigError` as `build` does."""
        params = self.build(self.family_type.Params)
        try:
            return self.family_type(params)
        except ConfigError as error:
            raise self.locate(error) from None

    def locate(self, error: ConfigError) -> ConfigError:
        """Return the error with the XML path of what is wrong, where it came from there."""
        return self.spec.locate(error, self.given) if self.spec else error


class FamilyNode(PropulsionNode):
    """A node for one plugin block of a robot description, or for parameters alone.

    ROS Parameters
    --------------
    Those of `FamilyNodeParams` and the family's own configuration.
    """

    takes_live = True
    """Whether the node follows live parameters of its family."""

    def read_setting(self, own: type[Any], only: str = '') -> tuple[Any, Setting]:
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
        family_name = self._family_name(mine, spec, only)
        family_type = REGISTRY[family_name]
        block = spec.values if spec else {}
        loop_params = loop_params_of(family_name)
        schema = [*parameters_of(loop_params), *parameters_of(family_type.Params)]
        values = self.declare_rest(schema, block, self.takes_live)
        self._say_who_won(block, spec.geometry if spec else frozenset())
        for note in spec.notes if spec else ():
            self.get_logger().info(note)
        frame = spec.base_link if spec else mine.base_link or 'base_link'
        given = frozenset(overrides_of(self))
        return mine, Setting(family_name, family_type, spec, values, frame, given)

    def _family_name(self, own: Any, spec: ActuatorSpec | None, only: str) -> str:
        name: str = own.family or (spec.family if spec else only or self.get_name())
        if name not in REGISTRY:
            got = f"is required, the node's name {name!r} is none"
            if own.family:
                got = f'unknown family {name!r}'
            known = ', '.join(sorted(REGISTRY))
            raise ConfigError('family', f'{got}{suggestion(name, REGISTRY)}; known: {known}')
        if spec and spec.family != name:
            raise ConfigError(
                'family', f'{name!r}, but the robot description says {spec.family!r}'
            )
        if only and name != only:
            raise ConfigError('family', f'this node runs {only!r}, got {name!r}')
        return name

    def _find_block(self, own: Any) -> ActuatorSpec | None:
        """Return this node's plugin block, None without a robot description."""
        description = own.robot_description
        if not description and own.description_topic:
            description = self._hear_description(own.description_topic, own.description_timeout)
        if not description:
            return None
        specs = actuators_from_urdf(description, loop_params_of, own.base_link)
        wanted = own.plugin or self.get_name()
        for spec in specs:
            if spec.name == wanted:
                return spec
        names = [spec.name for spec in specs]
        known = ', '.join(names) or 'none'
        raise ConfigError(
            'plugin', f'no plugin block {wanted!r}{suggestion(wanted, names)}; found: {known}'
        )

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

    def _say_who_won(self, block: Mapping[str, Any], geometry: frozenset[str]) -> None:
        given = overrides_of(self)
        for key in sorted(set(given) & set(block)):
            if key in geometry or key == 'names':
                raise ConfigError(key, 'comes from the robot description, not from a parameter')
            self.get_logger().info(
                f"parameter '{key}': {given[key]} wins over the robot description's {block[key]}"
            )
