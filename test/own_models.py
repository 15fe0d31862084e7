# SPDX-License-Identifier: Apache-2.0
"""Models as people have them in Gazebo, with their blocks in the SDF alone."""
from __future__ import annotations

from typing import NamedTuple

from fake_gz import Hinge


class OwnModel(NamedTuple):
    """Links with their places, hinges, and a block."""

    links: dict
    hinges: list
    block: str


LIMIT = (
    '<max_thrust>20</max_thrust><motor_constant>1e-5</motor_constant>'
    '<moment_constant>0.016</moment_constant>'
)
TRICOPTER = OwnModel({
    'frame': (0, 0, 0), 'left': (0.2, 0.3, 0.05), 'right': (0.2, -0.3, 0.05),
    'mount': (-0.4, 0, 0), 'propeller': (-0.4, 0, 0.05),
}, [
    Hinge('left_motor', 'FIXED', 'frame', 'left'), Hinge('right_motor', 'FIXED', 'frame', 'right'),
    # The other way round, as SDF allows.
    Hinge('tilt', 'REVOLUTE', 'mount', 'frame', (1, 0, 0), (-0.8, 0.8)),
    Hinge('tail_shaft', 'REVOLUTE', 'mount', 'propeller', (0, 0, 1)),
], f"""<actuators name="rotors"><command_interface>effort</command_interface>
  <rotor name="left"><link>left</link>{LIMIT}</rotor>
  <rotor name="right"><link>right</link>{LIMIT}</rotor>
  <rotor name="tail"><joint>tail_shaft</joint><direction>-1</direction>{LIMIT}</rotor>
</actuators>""")
ARM = OwnModel({'base': (0, 0, 1), 'arm::upper': (0, 0, 1), 'arm::tip': (0.5, 0, 1)}, [
    Hinge('shoulder', 'REVOLUTE', 'base', 'arm::upper', (0, 1, 0)),
    Hinge('elbow', 'REVOLUTE', 'arm::upper', 'arm::tip', (0, 0, 1)),
], f"""<actuators name="rotors"><command_interface>effort</command_interface>
  <rotor name="hand"><link>arm::tip</link><axis>1 0 0</axis>{LIMIT}</rotor></actuators>""")
POD = ('<thruster name="{0}"><joint>{0}_pod</joint><dynamics>zero_order</dynamics>'
       '<rotor_constant>0.01</rotor_constant></thruster>')
VESSEL = OwnModel({'hull': (0, 0, 0), 'port': (-2, 1, -0.3), 'starboard': (-2, -1, -0.3)}, [
    Hinge('port_pod', 'REVOLUTE', 'hull', 'port', (1, 0, 0)),
    Hinge('starboard_pod', 'REVOLUTE', 'hull', 'starboard', (1, 0, 0)),
], ('<actuators name="thrusters"><command_interface>effort</command_interface>'
    f'{POD.format("port")}{POD.format("starboard")}</actuators>'))
