# SPDX-License-Identifier: Apache-2.0
"""The plugin blocks of a robot description as they are drawn."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from propulsion_ros.models.common.family import Allocatable, Family
from propulsion_ros.models.common.layout import Drawable, ThrustLayout, placed_rows
from propulsion_ros.models.registry import REGISTRY
from propulsion_ros.models.steering.steered import SteeredFamily, made_family
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.flat import build
from propulsion_ros.urdf.block import ActuatorSpec

_UNLIMITED = 1e9  # limit from which on an actuator counts as unlimited [N]
_PLACED = ('names', 'position', 'axis', 'link', 'rotation')


@dataclass(frozen=True, eq=False)
class DrawnBlock:
    """One plugin block."""

    name: str
    """Name of the block and its node."""
    base_link: str
    """Frame of the layout."""
    layout: ThrustLayout | None
    """Its actuators; None if they are not drawn."""
    tanks: Mapping[str, float]
    """Capacity of each of its tanks [kg], in their order."""


def drawn_blocks(
    specs: Sequence[ActuatorSpec], parameters_of_node: Callable[[str], Mapping[str, Any]]
) -> list[DrawnBlock]:
    """Return every plugin block of a robot description, in its order.

    Parameters of a block's node win over its tags.

    Raises
    ------
    ConfigError
        For no blocks at all, or one that lacks or misstates something.
    """
    if not specs:
        raise ConfigError('robot_description', 'has no plugin block of actuators')
    return [_drawn(spec, parameters_of_node(spec.name)) for spec in specs]


def _drawn(spec: ActuatorSpec, given: Mapping[str, Any]) -> DrawnBlock:
    # Names and geometry come from the description alone, as for the block's own node.
    fixed = {'names', *spec.geometry}
    given = {key: value for key, value in given.items() if key not in fixed}
    family_type = REGISTRY[spec.family]
    try:
        values = {**spec.values, **given}
        params: Any = build(family_type.Params, values)
        layout = layout_of(params, made_family(family_type, params, values))
    except ConfigError as error:
        raise spec.locate(error, given) from None
    tanks = getattr(params, 'tanks', None)
    capacities = {} if tanks is None else dict(
        zip(tanks.names, tanks.capacity.tolist(), strict=True)
    )
    return DrawnBlock(spec.name, spec.base_link, layout, capacities)


def layout_of(params: Any, family: Family) -> ThrustLayout | None:
    """Return the layout of the actuators of a family, None if they have no positions."""
    if isinstance(family, Drawable):
        layout = family.thrust_layout()
    elif all(hasattr(params, key) for key in _PLACED):
        limits = family.thrust_limits if isinstance(family, Allocatable) else (np.nan, np.nan)
        lowest, highest = (
            np.where(np.abs(limit) < _UNLIMITED, np.broadcast_to(limit, len(params.names)), np.nan)
            for limit in limits
        )
        layout = ThrustLayout(**placed_rows(params), lowest=lowest, highest=highest)
    else:
        return None
    return family.layout_of(layout) if isinstance(family, SteeredFamily) else layout
