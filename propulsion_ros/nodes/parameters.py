# SPDX-License-Identifier: Apache-2.0
"""Configuration dataclasses as ROS parameters, some of which may change while a node runs.

rclpy neither turns an integer into a double nor checks the elements of an array, and it ignores
a misspelt key. So parameters are declared with a dynamic type, and
`propulsion_ros.settings.quantity` checks them.
"""
from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Sized
from typing import Any

from rcl_interfaces.msg import ParameterDescriptor, SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter as RosParameter

from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.flat import Parameter, build, parameters_of

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
    """Declare parameters and return their values, None for one that is not set.

    Parameters that are not live are read-only.

    Parameters
    ----------
    parameters : iterable of Parameter
        Parameters to declare; one that the node already has is only read.
    defaults : mapping
        Values, by key, that win over the schema's defaults.
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
    """Return whether a value is that of a parameter that is not set, or an empty list.

    ROS reads the null of a parameter file, which `ros2 param dump` writes, as a text.
    """
    if value is None or (isinstance(value, str) and value in _NULLS):
        return True
    return isinstance(value, Sized) and not isinstance(value, str) and not len(value)


def _declare(node: Node, parameter: Parameter, default: Any) -> None:
    key = parameter.key
    # A type that rclpy takes.
    value = (list(default) or None) if isinstance(default, (tuple, list)) else default
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


class LiveParameters:
    """Follows the live parameters of some configuration classes.

    Parameters
    ----------
    node : Node
        Has the parameters; those that are not live are read-only there.
    classes : sequence of type
        Configuration classes.
    values : mapping
        Flat values from which they were built.
    loop : object
        Has ``check`` and ``retune``, see `Parameters.follow_live`.
    """

    def __init__(
        self, node: Node, classes: Sequence[type[Any]], values: Mapping[str, Any], loop: Any
    ) -> None:
        self._node, self._classes, self._values = node, tuple(classes), dict(values)
        self._loop = loop
        self._live = {
            parameter.key for cls in classes for parameter in parameters_of(cls)
            if parameter.spec.live
        }
        node.add_on_set_parameters_callback(self._on_set)
        node.add_post_set_parameters_callback(self._on_done)

    def close(self) -> None:
        """Stop following the parameters."""
        self._node.remove_on_set_parameters_callback(self._on_set)
        self._node.remove_post_set_parameters_callback(self._on_done)

    def _changed(self, parameters: Sequence[RosParameter[Any]]) -> dict[str, Any]:
        return {p.name: p.value for p in parameters if p.name in self._live}

    def _build(self, changed: Mapping[str, Any]) -> list[Any]:
        values = {**self._values, **changed}
        return [build(cls, values) for cls in self._classes]

    def _on_set(self, parameters: list[RosParameter[Any]]) -> SetParametersResult:
        changed = self._changed(parameters)
        for parameter in parameters:
            if parameter.name in self._live and parameter.type_ == RosParameter.Type.NOT_SET:
                # Without the parameter, the value that it replaced would return.
                reason = f"parameter '{parameter.name}': cannot be removed, expected a value"
                return SetParametersResult(successful=False, reason=reason)
        try:
            if changed:
                self._loop.check(*self._build(changed))
        except ConfigError as error:
            return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)

    def _on_done(self, parameters: list[RosParameter[Any]]) -> None:
        changed = self._changed(parameters)
        if changed:
            self._values.update(changed)
            self._loop.retune(changed, *self._build({}))
