# SPDX-License-Identifier: Apache-2.0
"""One node to start, as a graph describes it."""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class NodeSpec:
    """One node to start."""

    executable: str
    """Name of the executable."""
    name: str
    """Name of the node."""
    parameters: dict[str, Any]
    """What joins it to the others; settings of a user's file go beside them."""
    remappings: dict[str, str] = field(default_factory=dict)
    """Topic names, from and to, relative to the namespace."""
    respawn_delay: float | None = None
    """After which it is started anew when it has died [s]; None where it is not: an actuator's
    tank would be full again."""
