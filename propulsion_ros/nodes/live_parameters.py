# SPDX-License-Identifier: Apache-2.0
"""Parameters that may change while a node runs: checked as a whole before any of them holds."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rcl_interfaces.msg import SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter

from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.flat import build, parameters_of


class LiveParameters:
    """Follows the live parameters of some configuration classes.

    Parameters
    ----------
    node : Node
        Has the parameters; those that are not live are read-only there.
    classes : sequence of type
        Configuration classes.
    values : mapping
        Flat values that they were built from.
    check : callable
        ``check(*configurations)`` raises `ConfigError` where they do not go together.
    apply : callable
        ``apply(changed, *configurations)`` after a change: its values by key, and one for each
        class.
    """

    def __init__(
        self,
        node: Node,
        classes: Sequence[type[Any]],
        values: Mapping[str, Any],
        check: Callable[..., None],
        apply: Callable[..., None],
    ) -> None:
        self._node, self._classes, self._values = node, tuple(classes), dict(values)
        self._check, self._apply = check, apply
        self._live = {
            parameter.key for cls in classes for parameter in parameters_of(cls)
            if parameter.spec.live
        }
        node.add_on_set_parameters_callback(self._on_set)
        node.add_post_set_parameters_callback(self._on_done)

    def close(self) -> None:
        """Follow them no more."""
        self._node.remove_on_set_parameters_callback(self._on_set)
        self._node.remove_post_set_parameters_callback(self._on_done)

    def _changed(self, parameters: Sequence[Parameter[Any]]) -> dict[str, Any]:
        return {p.name: p.value for p in parameters if p.name in self._live}

    def _build(self, changed: Mapping[str, Any]) -> list[Any]:
        values = {**self._values, **changed}
        return [build(cls, values) for cls in self._classes]

    def _on_set(self, parameters: list[Parameter[Any]]) -> SetParametersResult:
        changed = self._changed(parameters)
        for parameter in parameters:
            if parameter.name in self._live and parameter.type_ == Parameter.Type.NOT_SET:
                # To remove it would bring back what it holds off.
                reason = f"parameter '{parameter.name}': cannot be removed, expected a value"
                return SetParametersResult(successful=False, reason=reason)
        try:
            if changed:
                self._check(*self._build(changed))
        except ConfigError as error:
            return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)

    def _on_done(self, parameters: list[Parameter[Any]]) -> None:
        changed = self._changed(parameters)
        if changed:
            self._values.update(changed)
            self._apply(changed, *self._build({}))
