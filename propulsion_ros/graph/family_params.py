# SPDX-License-Identifier: Apache-2.0
"""Nodes that run a family: their kinds, and parameters beside the family's configuration."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

from propulsion_ros.graph.doubts import NAMES
from propulsion_ros.graph.robot_numbers import EXPECTED
from propulsion_ros.loops.actuator_loop import LoopParams
from propulsion_ros.loops.actuator_ports import ADAPTERS
from propulsion_ros.loops.autopilot import AutopilotParams
from propulsion_ros.loops.estimate_loop import EstimateParams
from propulsion_ros.models.common.allocation import METHODS, VECTORED
from propulsion_ros.models.common.facts import ESTIMATES, STEPS
from propulsion_ros.models.registry import REGISTRY
from propulsion_ros.models.steering.steering import SteeringParams
from propulsion_ros.settings.quantity import FloatArray, group, quantity, validate


@dataclass(frozen=True, kw_only=True, eq=False)
class FamilyNodeParams:
    """Parameters by which a node finds its family."""

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
        '', doc='actuator family; empty: that of the plugin block, else the node name', kind=str
    )
    base_link: str = quantity(
        '', doc="frame of wrench and geometry; empty: the robot description's", kind=str
    )
    reliable_inputs: bool = quantity(
        False, kind=bool,
        doc='lose no message, received or sent: for simulation in lockstep, and replay',
    )

    def __post_init__(self) -> None:
        validate(self)


@dataclass(frozen=True, kw_only=True, eq=False)
class SteppedNodeParams(FamilyNodeParams):
    """Parameters by which a node finds its family, and steps."""

    replay: bool = quantity(
        False, kind=bool,
        doc='replay a recording: what determined the steps comes from the recorded ~/requests',
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class ActuatorNodeParams(SteppedNodeParams):
    """Parameters of an actuator node."""

    publish_each: bool = quantity(
        False, doc='also publish the wrench of each actuator in its link', kind=bool
    )
    publish_numbers: bool = quantity(
        False, doc='also publish thrusts and positions as plain numbers, a topic each', kind=bool
    )
    publish_joint_states: bool = quantity(
        False, kind=bool,
        doc='also publish the state with position, velocity and effort of each name, NaN where '
        'there is none, on ~/joint_states: for ros2_control',
    )
    adapters: tuple[str, ...] = quantity(
        (), kind=str, shape=('*',), choices=tuple(ADAPTERS),
        doc='further command topics: ~/command_array for float64_multi_array, in the order of '
        'the names, ~/command_actuators for actuators, and of autopilots ~/command_px4_motors, '
        '~/command_px4_servos and ~/command_mavros_rc_out',
    )
    autopilot: AutopilotParams = group(AutopilotParams, element='autopilot')


@dataclass(frozen=True, kw_only=True, eq=False)
class AllocatorNodeParams(FamilyNodeParams):
    """Parameters of an allocator node."""

    method: str = quantity(
        'bounded', kind=str, choices=(*METHODS, VECTORED),
        doc='what is cut where a demand is too large: bounded: as little of the wrench as '
        'possible; scaled: its size; clipped: each thrust alone. vectored: as bounded, with the '
        'angles of servos that turn actuators',
    )
    weights: FloatArray = quantity(
        (1.0,) * 6, doc='cost of a missing part of the wrench, force first; 0: it may be anything',
        lo=0.0, hi=1e9, shape=(6,),
    )


OwnT = TypeVar('OwnT', bound=FamilyNodeParams)
"""Parameters of one kind of node."""


@dataclass(frozen=True, kw_only=True, eq=False)
class GroupParams(LoopParams):
    """Timing of an actuator group, joints that turn it, and options of `check`."""

    expects: tuple[str, ...] = quantity(
        (), kind=str, shape=('*',), choices=EXPECTED,
        doc='what the robot must be able to do, for `check`: hover, or push or turn along an axis',
    )
    silenced: tuple[str, ...] = quantity(
        (), kind=str, shape=('*',), choices=NAMES,
        doc='rules of sense that `check` leaves out for this group',
    )
    steering: SteeringParams = group(SteeringParams, element='steering')


@dataclass(frozen=True)
class NodeKind:
    """A kind of node that runs a family."""

    executable: str
    """Name of the executable."""
    loop_params: type[Any]
    """Configuration class of its timing."""
    node_params: type[FamilyNodeParams]
    """Configuration class of the node itself."""


NODE_KINDS = {
    STEPS: NodeKind('actuator_node', GroupParams, ActuatorNodeParams),
    ESTIMATES: NodeKind('inverse_fam_node', EstimateParams, SteppedNodeParams),
}
"""Kind of node by the loop that families declare."""


def node_kind_of(family: str) -> NodeKind:
    """Return the kind of node that runs a family; raise `ConfigError` for an unknown family."""
    return NODE_KINDS[REGISTRY.require(family).facts.loop]


def loop_params_of(family: str) -> type[Any]:
    """Return the configuration class of a family's timing."""
    return node_kind_of(family).loop_params


_ALLOCATOR = '_allocator'
"""An allocator is named after the group that it commands, with this suffix."""


def allocator_named(group: str) -> str:
    """Return the name of the allocator of a group."""
    return group + _ALLOCATOR


def is_allocator(node: str) -> bool:
    """Whether a node is named after a group that it commands, or plainly ``allocator``."""
    return f'_{node}'.endswith(_ALLOCATOR)


def group_of(node: str) -> str:
    """Return the group that a node commands if it is an allocator, else its own name."""
    return node.removesuffix(_ALLOCATOR)
