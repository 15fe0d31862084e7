# SPDX-License-Identifier: Apache-2.0
"""Mistakes in messages, put to a loop without ROS."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from fake_host import MS, FakeHost, message
from mistakes import Complaint
from propulsion_ros.loops.actuator_loop import LoopParams
from propulsion_ros.loops.actuator_ports import ActuatorPorts
from propulsion_ros.models.boosters.boosters import Boosters
from propulsion_ros.models.fins.fins import Fins
from propulsion_ros.models.rotors.rotors import Rotors
from propulsion_ros.models.thrusters.thrusters import Thrusters
from propulsion_ros.settings.flat import build

NAN, INF = float('nan'), float('inf')
FAMILIES = {
    'rotors': (Rotors, {'names': ['a', 'b'], 'max_thrust': 9.0, 'motor_constant': 1e-5}),
    'thrusters': (Thrusters, {'names': ['a', 'b'], 'rotor_constant': [3e-4]}),
    'boosters': (
        Boosters,
        {
            'names': ['a', 'b'],
            'max_thrust': 9.0,
            'max_fuel_rate': 0.1,
            'gimbals.booster': ['a'],
            'gimbals.joints': ['x', 'y'],
            'gimbals.range': [0.1, 0.1],
        },
    ),
    'fins': (
        Fins,
        {
            'names': ['a', 'b'],
            'quadratic.fin': ['a', 'b'],
            'quadratic.lift_constant': 3.0,
            'quadratic.drag_constant': 2.0,
        },
    ),
}


@dataclass(frozen=True)
class WrongMessage(Complaint):
    """A command that is refused."""

    fields: dict[str, Any] = field(default_factory=dict)
    family: str = 'rotors'
    stamp_ms: int = 1000
    is_simulated: bool = True


def lines_of(mistake):
    """Return the lines of a loop that gets a message at 1 s."""
    host = FakeHost()
    host.is_simulated, host.now = mistake.is_simulated, 1000 * MS
    family, values = FAMILIES[mistake.family]
    loop = ActuatorPorts(
        family(build(family.Params, values)), LoopParams(step_on='clock'), 'base_link', host
    )
    host.run(loop)
    if mistake.is_simulated:
        host.deliver('/clock', message(0, clock={'sec': 1, 'nanosec': 0}))
    given = {'name': ['a', 'b'], 'position': [], 'velocity': [], 'effort': [], **mistake.fields}
    host.deliver('~/command', message(mistake.stamp_ms * MS, '', **given))
    return [line for level, line in host.lines if level == 'warn']


MISTAKES = [
    WrongMessage(
        'speed for a thrust',
        'command refused: a',
        'takes effort, got velocity 100',
        'for velocity set command_interface: velocity; NaN means that a field is not meant',
        {'velocity': [100.0, 100.0]},
    ),
    WrongMessage(
        'thrust for a speed',
        'command refused: a',
        'takes velocity, got effort 5',
        'for effort set command_interface: effort',
        {'effort': [5.0, 5.0]},
        'thrusters',
    ),
    WrongMessage(
        'angle as a torque',
        'command refused: a',
        'got effort 0.01',
        'takes position',
        {'effort': [0.01, 0.01]},
        'fins',
    ),
    WrongMessage(
        'gimbal by effort',
        'command refused: x',
        'got effort 0.01',
        'takes position',
        {'name': ['x'], 'effort': [0.01]},
        'boosters',
    ),
    WrongMessage(
        'unknown name',
        'command refused',
        "unknown name 'c'",
        'known: a, b',
        {'name': ['a', 'c'], 'effort': [1.0, 1.0]},
    ),
    WrongMessage(
        'name twice',
        'command refused',
        "'a' is named twice",
        '',
        {'name': ['a', 'a'], 'effort': [1.0, 1.0]},
    ),
    WrongMessage(
        'no names',
        'command refused',
        'no names',
        'expected some of: a, b',
        {'name': [], 'effort': [1.0, 1.0]},
    ),
    WrongMessage(
        'too few values',
        'command refused: effort',
        'got 1',
        'expected 2 values, one per name',
        {'effort': [1.0]},
    ),
    WrongMessage('no values', 'command refused: a', 'got none', 'takes effort'),
    WrongMessage(
        'infinite', 'command refused: a', 'effort is infinite', '', {'effort': [INF, 1.0]}
    ),
    WrongMessage(
        'NaN for an angle',
        'command refused: x',
        'position is NaN',
        '',
        {'name': ['x'], 'position': [NAN]},
        'boosters',
    ),
    WrongMessage(
        'negative thrust of a booster',
        'command refused: a',
        'effort -1 N is negative, a booster only pushes',
        '',
        {'name': ['a'], 'effort': [-1.0]},
        'boosters',
    ),
    WrongMessage(
        'wall time in simulation',
        'command not taken',
        'stamped 1700000000.000 s, but the time is 1.000 s',
        'was it stamped by another clock? Set use_sim_time alike, or stamp 0 for now',
        {'effort': [1.0, 1.0]},
        stamp_ms=1_700_000_000_000,
    ),
    WrongMessage(
        'simulated time on a robot',
        'command refused',
        'stamped 8.000 s ahead of this clock',
        'expected at most 0.1 s; was it stamped by another clock? Set use_sim_time alike, '
        'or stamp 0 for now',
        {'effort': [1.0, 1.0]},
        stamp_ms=9000,
        is_simulated=False,
    ),
]
