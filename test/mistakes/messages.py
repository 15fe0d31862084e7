# SPDX-License-Identifier: Apache-2.0
"""Mistakes in messages, put to a loop without ROS."""

from __future__ import annotations

from fake_host import MS, FakeHost, message
from propulsion_ros.loops.actuator_loop import LoopParams
from propulsion_ros.loops.actuator_ports import ActuatorPorts
from propulsion_ros.models.boosters.boosters import Boosters
from propulsion_ros.models.fins.fins import Fins
from propulsion_ros.models.rotors.rotors import Rotors
from propulsion_ros.models.steering.steered import made_family
from propulsion_ros.models.thrusters.thrusters import Thrusters
from propulsion_ros.settings.flat import build

FAMILIES = {
    'rotors': (Rotors, {'names': ['a', 'b'], 'max_thrust': 9.0, 'motor_constant': 1e-5}),
    'thrusters': (Thrusters, {'names': ['a', 'b'], 'rotor_constant': [3e-4]}),
    'boosters': (Boosters, {
        'names': ['a', 'b'], 'max_thrust': 9.0, 'max_fuel_rate': 0.1, 'gimbals.booster': ['a'],
        'gimbals.joints': ['x', 'y'], 'gimbals.range': [0.1, 0.1],
    }),
    'fins': (Fins, {
        'names': ['a', 'b'], 'quadratic.fin': ['a', 'b'], 'quadratic.lift_constant': 3.0,
        'quadratic.drag_constant': 2.0,
    }),
    'tilted': (Rotors, {
        'names': ['a', 'b'], 'max_thrust': 9.0, 'motor_constant': 1e-5,
        'steering.joints': ['tilt'], 'steering.mode': 'joint_states', 'steering.lower': -1.0,
        'steering.upper': 2.0, 'steering.actuators': ['tilt', ''],
    }),
}


def lines_of(mistake):
    """Return the lines of a loop that gets a message at 1 s."""
    host = FakeHost()
    host.is_simulated, host.now = mistake.is_simulated, 1000 * MS
    family, values = FAMILIES[mistake.family]
    loop = ActuatorPorts(
        made_family(family, build(family.Params, values), values), LoopParams(step_on='clock'),
        'base_link', host,
    )
    host.publishers[mistake.topic] = mistake.publishers
    host.run(loop)
    if mistake.is_simulated:
        host.deliver('/clock', message(0, clock={'sec': 1, 'nanosec': 0}))
    given = {'name': ['a', 'b'], 'position': [], 'velocity': [], 'effort': [], **mistake.fields}
    host.deliver(mistake.topic, message(mistake.stamp_ms * MS, '', **given))
    for ms in range(0, mistake.wait_ms, 100):
        clock = {'sec': 1 + ms // 1000, 'nanosec': ms % 1000 * MS}
        host.deliver('/clock', message(0, clock=clock))
    list(loop.health())
    return [line for level, line in host.lines if level == 'warn']
