# SPDX-License-Identifier: Apache-2.0
"""Configuration dataclasses as ROS parameters.

rclpy neither turns an integer into a double nor checks the elements of an array, and it ignores
a misspelt key. So parameters are declared with a dynamic type, and
`propulsion_ros.settings.quantity` checks them.
"""
from __future__ import annotations

from collections.abc import Iterable, Mapping, Sized
from typing import Any

from rcl_interfaces.msg import ParameterDescriptor
from rclpy.node import Node
from rclpy.parameter import Parameter as RosParameter

from propulsion_ros.settings.flat import Parameter

_LISTS = {
    float: RosParameter.Type.DOUBLE_ARRAY, int: RosParameter.Type.INTEGER_ARRAY,
    bool: RosParameter.Type.BOOL_ARRAY, str: RosParameter.Type.STRING_ARRAY,
}
_NULLS = ('null', '~')


def declare(
    node: Node,
    parameters: Iterable[Parameter],
    defaults: Mapping[str, Any],
) -> dict[str, Any]:
    """Declare parameters and return their values, None where one is not set.

    Those that are not live are read-only.

    Parameters
    ----------
    node : Node
        Gets the parameters.
    parameters : iterable of Parameter
        What to declare; what the node already has is only read.
    defaults : mapping
        Values that stand in front of the schema's defaults, by key.
    """
    values: dict[str, Any] = {}
    for parameter in parameters:
        key = parameter.key
        if not node.has_parameter(key):
            default = defaults.get(key, None if parameter.required else parameter.default)
            _declare(node, parameter, default)
        value = node.get_parameter(key).value
        # An empty list means that nothing was given.
        values[key] = defaults.get(key) if is_empty(value) else value
    return values


def is_empty(value: Any) -> bool:
    """Return whether a value is that of a parameter which is not set, or a list of nothing.

    ROS reads the null of a parameter file, which `ros2 param dump` writes, as a text.
    """
    if value is None or (isinstance(value, str) and value in _NULLS):
        return True
    return isinstance(value, Sized) and not isinstance(value, str) and not len(value)


def _declare(node: Node, parameter: Parameter, default: Any) -> None:
    key, value = parameter.key, _plain(default)
    if not parameter.spec.shape:
        node.declare_parameter(key, value, _descriptor(parameter))
        return
    given = node.declare_parameter(key, value, ParameterDescriptor(dynamic_typing=True)).value
    if is_empty(given):
        # rclpy gives an empty list no type, and `ros2 param dump` would write null.
        node.set_parameters([RosParameter(key, _LISTS[parameter.spec.kind], [])])
    node.set_descriptor(key, _descriptor(parameter))


def _descriptor(parameter: Parameter) -> ParameterDescriptor:
    # One for each parameter: rclpy changes the descriptor that it is given.
    return ParameterDescriptor(
        description=parameter.description,
        additional_constraints=parameter.constraints,
        read_only=not parameter.spec.live,
        dynamic_typing=True,
    )


def _plain(value: Any) -> Any:
    """Return a default in a type that rclpy takes."""
    if isinstance(value, (tuple, list)):
        return list(value) if value else None
    return value
