# SPDX-License-Identifier: Apache-2.0
"""The nodes of the fleet, their settings, and the commands that they are given in turn.

No family has a lag here, so that a wrench is a function of the command in force alone.
"""
from __future__ import annotations

import json
import random
from collections.abc import Iterable
from dataclasses import dataclass
from math import nan
from pathlib import Path
from typing import Any

from geometry_msgs.msg import TwistStamped, WrenchStamped
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState

from benchmarks.node_peer import Work
from propulsion_ros.graph.family_params import node_kind_of
from propulsion_ros.graph.node_config import build_family
from propulsion_ros.models.common.family import WRENCH_NAMES, Family

TIMEOUT = 0.5
"""After which a command is stale [s]."""
COMMANDS = 500
"""Different commands of a node; they come again long after they are stale."""
ROBOT, SIMULATED, STAMPED = 'robot', 'simulated', 'stamped'

_WITHOUT_LAG: dict[str, dict[str, Any]] = {
    'rotors': {'time_constant_up': [0.0], 'time_constant_down': [0.0]},
    'thrusters': {'dynamics': ['zero_order']},
    'fins': {'dynamics': ['zero_order']},
}
_RANGES = {
    'boosters': {'effort': (100.0, 900.0)},
    'rotors': {'effort': (1.0, 9.0)},
    'thrusters': {'velocity': (50.0, 300.0)},
    'fins': {'position': (-0.3, 0.3)},
    'fam': {'effort': (-0.05, 0.05)},
    'inverse_fam': {'position': (0.3, 1.3), 'velocity': (150.0, 250.0)},
}


@dataclass(frozen=True)
class Member:
    """One node.

    Attributes
    ----------
    name : str
        Of the node.
    family : str
        What it runs.
    time : str
        ROBOT: the system's clock; SIMULATED: /clock; STAMPED: the stamps of its commands.
    is_spared : bool
        Whether it is never ended, so that its memory is seen over the whole run.
    is_far : bool
        Whether it runs on the second host.
    is_best_effort : bool
        Whether it hears commands and says wrenches without repair of what is lost.
    """

    name: str
    family: str
    time: str = ROBOT
    is_spared: bool = False
    is_far: bool = False
    is_best_effort: bool = False

    @property
    def executable(self) -> str:
        """Module of its node."""
        return node_kind_of(self.family).executable

    @property
    def has_grid(self) -> bool:
        """Whether it publishes a wrench at each step, and not at each command."""
        return self.executable == 'actuator_node'

    @property
    def settings(self) -> dict[str, Any]:
        """ROS parameters."""
        own = Work(self.family).parameters() | _WITHOUT_LAG.get(self.family, {})
        own |= {'command_timeout': TIMEOUT, 'use_sim_time': self.time == SIMULATED}
        if self.has_grid:
            own['step_on'] = 'stamp' if self.time == STAMPED else 'clock'
        if self.is_best_effort:
            ends = ('command.subscription', 'wrench.publisher')
            own |= {f'qos_overrides./{self.name}/{e}.reliability': 'best_effort' for e in ends}
        return own

    def build(self) -> tuple[Family, Any]:
        """Return the family and the configuration of its timing, as the node makes them."""
        return build_family(self.family, self.settings, None)


FLEET = (
    Member('boosters_1', 'boosters', ROBOT, is_spared=True),
    Member('boosters_2', 'boosters', SIMULATED),
    Member('boosters_3', 'boosters', STAMPED),
    Member('rotors_1', 'rotors', ROBOT),
    Member('rotors_2', 'rotors', SIMULATED, is_spared=True),
    Member('rotors_3', 'rotors', STAMPED),
    Member('thrusters_1', 'thrusters', ROBOT),
    Member('thrusters_2', 'thrusters', SIMULATED),
    Member('thrusters_3', 'thrusters', STAMPED, is_spared=True),
    Member('fins_1', 'fins', ROBOT),
    Member('fins_2', 'fins', SIMULATED),
    Member('fins_3', 'fins', STAMPED),
    Member('fam_1', 'fam', ROBOT),
    Member('fam_2', 'fam', SIMULATED),
    Member('inverse_fam_1', 'inverse_fam', ROBOT, is_spared=True),
    Member('inverse_fam_2', 'inverse_fam', SIMULATED),
)
FAR = (
    Member('rotors_far', 'rotors', is_far=True),
    Member('boosters_far', 'boosters', is_far=True, is_best_effort=True),
)
"""Those on the second host, beside the fleet."""


def write_settings(members: Iterable[Member], path: Path) -> None:
    """Write the parameter file of some members."""
    nodes = {f'/**/{m.name}': {'ros__parameters': m.settings} for m in members}
    # JSON is YAML, and without the aliases that ROS does not read.
    path.write_text(json.dumps(nodes, indent=1), encoding='utf-8')


def make_commands(member: Member, seed: int) -> list[Any]:
    """Return the commands of a member, without stamps."""
    rng = random.Random(f'{seed} {member.name}')  # noqa: S311  no secret
    family, _ = member.build()
    names, fields = family.command_names, family.command_fields
    return [_command(member, names, fields, rng) for _ in range(COMMANDS)]


def _command(member: Member, names: Any, fields: Any, rng: random.Random) -> Any:
    ranges = _RANGES[member.family]
    values = [rng.uniform(*ranges[field]) for field in fields]
    if names == WRENCH_NAMES:
        message = WrenchStamped()
        message.header.frame_id = 'base_link'
        parts = (message.wrench.force, message.wrench.torque)
        for (part, axis), value in zip(((p, a) for p in parts for a in 'xyz'), values, strict=True):
            # The arms of a force allocation are short.
            setattr(part, axis, value if part is parts[0] else 0.1 * value)
        return message
    return JointState(name=list(names), **{
        field: [v if own == field else nan for v, own in zip(values, fields, strict=True)]
        for field in set(fields)
    })


def make_odometry() -> Odometry:
    """Return how all bodies move through the fluid, always."""
    message = Odometry(child_frame_id='base_link')
    message.pose.pose.orientation.w = 1.0
    message.twist.twist.linear.x = 3.0
    return message


def make_current() -> TwistStamped:
    """Return a current, of which hostile ones are made."""
    return TwistStamped()
