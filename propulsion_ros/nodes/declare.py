# SPDX-License-Identifier: Apache-2.0
"""Configuration dataclasses as ROS parameters.

rclpy neither turns an integer into a double nor checks the elements of an array, and it ignores
a misspelt key. So parameters are declared with a dynamic type, and
`propulsion_ros.settings.quantity` checks them.
"""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rcl_interfaces.msg import ParameterDescriptor
from rclpy.node import Node

from propulsion_ros.settings.flat import Parameter


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
        if not node.has_parameter(parameter.key):
            default = defaults.get(
                parameter.key, None if parameter.required else parameter.default
            )
            descriptor = _descriptor(parameter)
            node.declare_parameter(parameter.key, _plain(default), descriptor)
        value = node.get_parameter(parameter.key).value
        # rclpy turns an empty list into None; both mean that nothing was given.
        values[parameter.key] = defaults.get(parameter.key) if value is None else value
    return values


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
