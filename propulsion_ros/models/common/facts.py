# SPDX-License-Identifier: Apache-2.0
"""What the rest of the package must know of a family beside its step, declared by the family.

No other module knows a family by its name: families of other packages declare the same.
"""
from __future__ import annotations

from dataclasses import dataclass

STEPS, ESTIMATES = 'steps', 'estimates'
"""Loops: a step on each tick of a grid, or an estimate at the stamp of each command."""

THRUST, THRUST_AND_TORQUE, LIFT = 'thrust', 'thrust_and_torque', 'lift'
"""Forces: along an axis of the actuator, with a reaction torque about it too, or across a joint."""


@dataclass(frozen=True, kw_only=True)
class FamilyFacts:
    """What the rest of the package must know of a family."""

    tag: str = ''
    """Element of one actuator in a plugin block; '' where all actuators are in groups."""
    loop: str = STEPS
    """`STEPS` or `ESTIMATES`; an `Estimator` runs in the latter."""
    pushes: bool = True
    """Whether its wrench acts on the robot; else it states what other nodes do."""
    force: str = THRUST
    """`THRUST`, `THRUST_AND_TORQUE` or `LIFT`: decides what gz-sim's own systems can do."""
    commanded_by: str = ''
    """Family whose state is its command, where a robot has one node of that family."""
    shared_inputs: tuple[str, ...] = ()
    """Topics of that node, without ``~/``, that it subscribes to as well."""
    meets_each: bool = False
    """Whether its step takes a `BodyState` with a row for each actuator, where it uses the body."""
    joint_axis: str = ''
    """Parameter that the axis of a turning joint gives; '' for none."""
    joint_limits: tuple[str, str] | tuple[()] = ()
    """Parameters that the limits of a turning joint give, lower and upper; () for none."""
    stands_for: tuple[tuple[str, str], ...] = ()
    """Parameters that are used in place of others, such as thrust_curve of motor_constant."""

    def __post_init__(self) -> None:
        for key, choices in (
            ('loop', (STEPS, ESTIMATES)), ('force', (THRUST, THRUST_AND_TORQUE, LIFT))
        ):
            if getattr(self, key) not in choices:
                raise ValueError(f'{key}: expected one of {choices}, got {getattr(self, key)!r}')
