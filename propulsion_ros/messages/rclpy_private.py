# SPDX-License-Identifier: Apache-2.0
"""Names of rclpy that are not public, all in one place: a new release may rename any of them.

Each has no public substitute. The test of this file names the one that a release has broken.
"""
from __future__ import annotations

from collections.abc import Collection
from typing import Any

from rclpy._rclpy_pybind11 import RCLError, UnknownROSArgsError
from rclpy.lifecycle import LifecycleNode
from rclpy.node import Node

__all__ = ['RCLError', 'UnknownROSArgsError']  # of rclpy, beside what is defined here


def reason_of(error: Exception) -> str:
    """Return the reason that an error of rclpy gives, on one line."""
    # The text behind the first source location is rcl's own stack.
    return ' '.join(str(error).split(', at ')[0].split())


def overrides_of(node: Node) -> dict[str, Any]:
    """Return the parameters that files, launch and command line give to a node."""
    # Without them a misspelt key would go unnoticed.
    return {key: value.value for key, value in node._parameter_overrides.items()}


def declared_names(node: Node) -> Collection[str]:
    """Return the names of the parameters that a node has."""
    return node._parameters


def take_message(subscription: Any) -> bool:
    """Take the next message of a subscription, if there is one, and return whether there was.

    An executor takes a hundred times as long for that.
    """
    with subscription.handle:
        taken = subscription.handle.take_message(subscription.msg_type, subscription.raw)
    if taken is None:
        return False
    subscription.callback(taken[0])
    return True


def end_life_cycle(node: LifecycleNode) -> None:
    """Remove the services of a node's life cycle from the graph.

    rclpy removes them when the node is collected.
    """
    node._state_machine.destroy_when_not_in_use()


class LenientLifecycleNode(LifecycleNode):
    """A lifecycle node that survives a request for a transition that does not apply."""

    def _LifecycleNodeMixin__on_change_state(self, request: Any, response: Any) -> Any:  # noqa: N802
        """Refuse such a request; rclpy of Jazzy ends the process there."""
        try:
            inherited = super()._LifecycleNodeMixin__on_change_state  # type: ignore[misc]
            return inherited(request, response)
        except RCLError as error:
            self.get_logger().warning(reason_of(error))
            response.success = False
            return response
