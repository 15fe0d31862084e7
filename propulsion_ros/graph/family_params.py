"""What nodes that run a family take beside the configuration of their family and its timing."""
from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from propulsion_ros.models.common.allocation import METHODS
from propulsion_ros.settings.quantity import FloatArray, quantity, validate

_ADAPTERS = ('float64_multi_array', 'actuators')


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


@dataclass(frozen=True, kw_only=True, eq=False)
class ActuatorNodeParams(FamilyNodeParams):
    """What an actuator node is made from."""

    publish_each: bool = quantity(
        False, doc='also publish the wrench of each actuator in its link', kind=bool
    )
    publish_numbers: bool = quantity(
        False, doc='also publish thrusts and positions as plain numbers, a topic each', kind=bool
    )
    adapters: tuple[str, ...] = quantity(
        (), kind=str, shape=('*',), choices=_ADAPTERS,
        doc='further command topics: ~/command_array for float64_multi_array, in the order of '
        'the names, and ~/command_actuators for actuators',
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class AllocatorNodeParams(FamilyNodeParams):
    """How a wrench is shared."""

    method: str = quantity(
        'bounded', kind=str, choices=METHODS,
        doc='what gives way where a demand is too large: bounded: as little of the wrench as '
        'possible; scaled: its size; clipped: each thrust alone',
    )
    weights: FloatArray = quantity(
        (1.0,) * 6, doc='cost of a missing part of the wrench, force first', above=0.0, hi=1e9,
        shape=(6,),
    )


OwnT = TypeVar('OwnT', bound=FamilyNodeParams)
"""What one kind of node takes."""
