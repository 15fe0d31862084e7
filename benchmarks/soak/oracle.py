# SPDX-License-Identifier: Apache-2.0
"""Which command a wrench is of: the pure models run on all commands of a member beforehand."""
from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from geometry_msgs.msg import WrenchStamped

from benchmarks.node_peer import PERIOD_NS
from benchmarks.soak.members import TIMEOUT, Member, make_odometry
from propulsion_ros.loops.actuator_loop import CLOCK, COMMAND, ODOMETRY, ActuatorLoop
from propulsion_ros.loops.command_reader import CommandReader
from propulsion_ros.loops.decoders import demand_of, msg_to_motion
from propulsion_ros.loops.estimate_loop import EstimateLoop
from propulsion_ros.models.fam.inverse_fam import InverseFam

Wrench = tuple[float, ...]
ZERO: Wrench = (0.0,) * 6


@dataclass
class KnownWrenches:
    """What each command makes, to the last bit.

    Attributes
    ----------
    numbers : dict
        Commands by the wrench that they make; several where it is rounded to counts.
    safe : set
        Wrenches without a command.
    """

    numbers: dict[Wrench, list[int]] = field(default_factory=dict)
    safe: set[Wrench] = field(default_factory=lambda: {ZERO})


def know(member: Member, commands: Sequence[Any]) -> KnownWrenches:
    """Return what the commands of a member make."""
    said: list[Wrench] = []
    family, params = member.build()

    def emit(report: Any) -> None:
        said.append(tuple(report.wrench.tolist()))

    loop: Any = (
        EstimateLoop(family, params, emit) if isinstance(family, InverseFam)
        else ActuatorLoop(family, params, emit)
    )
    is_wrench = isinstance(commands[0], WrenchStamped)
    reader = CommandReader(family)
    read = functools.partial(demand_of, frame='base_link') if is_wrench else reader.read
    known = KnownWrenches()
    if family.uses_body:
        loop.inputs.push(ODOMETRY, PERIOD_NS, msg_to_motion(make_odometry(), 'base_link'))
    for number, command in enumerate(commands):
        stamp_ns = (number + 2) * PERIOD_NS
        loop.inputs.push(COMMAND, stamp_ns, read(command))
        loop.inputs.push(CLOCK, stamp_ns)
        known.numbers.setdefault(said[-1], []).append(number)
    loop.inputs.push(CLOCK, stamp_ns + round(TIMEOUT * 1e9) + PERIOD_NS)
    known.safe.add(said[-1])
    return known


def wrench_of(message: WrenchStamped) -> Wrench:
    """Return the wrench of a message."""
    force, torque = message.wrench.force, message.wrench.torque
    return force.x, force.y, force.z, torque.x, torque.y, torque.z
