# SPDX-License-Identifier: Apache-2.0
"""Parameters of a loop without ROS: what a file gives for its node."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from propulsion_ros.settings.errors import FIRST, ConfigError, Faults
from propulsion_ros.settings.flat import Parameter, refuse_unknown, unknown_keys


class GivenParameters:
    """The `Parameters` of a loop that no node has; they stay as they are.

    Parameters
    ----------
    node_name : str
        Name of the node whose loop it is.
    given : mapping
        Flat parameters.
    node_namespace : str
        Namespace of the node.
    faults : Faults
        Takes unknown keys.
    """

    def __init__(
        self,
        node_name: str,
        given: Mapping[str, Any],
        node_namespace: str = '',
        faults: Faults = FIRST,
    ) -> None:
        self.node_name, self.given, self.node_namespace = node_name, given, node_namespace
        self._faults = faults
        self._known = ['autostart']

    def declare_some(
        self, parameters: Iterable[Parameter], defaults: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Return the values of some parameters, None for the defaults of the schema."""
        values: dict[str, Any] = {}
        for parameter in parameters:
            key = parameter.key
            self._known.append(key)
            value = self.given.get(key)
            # To a node an empty list is the same as none, so it is here.
            is_given = value is not None and value != []
            values[key] = value if is_given else (defaults or {}).get(key)
        return values

    def declare_rest(
        self,
        parameters: Iterable[Parameter],
        defaults: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Return the values of the last parameters; raise `ConfigError` for an unknown key."""
        values = self.declare_some(parameters, defaults)
        if self._faults is FIRST:
            refuse_unknown(self.given, self._known)
        for error in unknown_keys(self.given, self._known):
            self._faults.add(error)
        return values

    def follow_live(
        self,
        classes: Sequence[type[Any]],
        values: Mapping[str, Any],
        check: Callable[..., None],
        apply: Callable[..., None],
    ) -> None:
        """Do nothing, since nothing changes these parameters."""

    def latched_text(self, topic: str, timeout: float) -> str:
        """Raise `ConfigError`: there is no graph to receive a text from."""
        raise ConfigError('description_topic', f'{topic} needs a ROS graph; give the description')

    def has_type(self, kind: str) -> bool:
        """Return True: without ROS no type needs to be installed."""
        return True
