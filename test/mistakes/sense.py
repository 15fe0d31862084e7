# SPDX-License-Identifier: Apache-2.0
"""Mistakes that leave a description well-formed: units, masses, places, and what cannot fly."""

from __future__ import annotations

from mistakes import Mistake, replaced

_ARM = """
  <link name="{0}"/>
  <joint name="{0}_joint" type="fixed">
    <parent link="base_link"/> <child link="{0}"/> <origin xyz="{1}"/>
  </joint>"""
_ROTOR = """
      <rotor name="{0}"> <link>{0}</link> <direction>{1}</direction> <max_thrust>8</max_thrust>
        <motor_constant>1e-5</motor_constant> <moment_constant>0.016</moment_constant>
        <time_constant_up>0.05</time_constant_up> <battery>pack</battery> </rotor>"""
_ROTORS = (
    ('front', '0.2 0 0', 1), ('left', '0 0.2 0', -1), ('rear', '-0.2 0 0', 1),
    ('right', '0 -0.2 0', -1),
)
ROBOT = (
    '<robot name="drone">\n  <link name="base_link"> <inertial> <mass value="1.5"/>\n'
    '    <inertia ixx="0.02" iyy="0.02" izz="0.03" ixy="0" ixz="0" iyz="0"/> </inertial> </link>'
    + ''.join(_ARM.format(name, place) for name, place, _ in _ROTORS)
    + '\n  <gazebo>\n    <plugin filename="propulsion_ros" name="rotors">\n'
    '      <update_rate>100</update_rate>\n      <battery name="pack"> <capacity>5</capacity>'
    ' <open_circuit_voltage>15</open_circuit_voltage> </battery>'
    + ''.join(_ROTOR.format(name, turn) for name, _, turn in _ROTORS)
    + '\n    </plugin>\n  </gazebo>\n</robot>\n'
)
ROCKET = """<robot name="rocket">
  <link name="base_link"> <inertial> <mass value="30"/>
    <inertia ixx="20" iyy="20" izz="0.5" ixy="0" ixz="0" iyz="0"/> </inertial> </link>
  <link name="ring"/> <link name="nozzle"/>
  <joint name="gimbal_x" type="revolute"> <parent link="base_link"/> <child link="ring"/>
    <origin xyz="0 0 -1"/> <axis xyz="1 0 0"/> <limit lower="-0.1" upper="0.1"/> </joint>
  <joint name="gimbal_y" type="revolute"> <parent link="ring"/> <child link="nozzle"/>
    <axis xyz="0 1 0"/> <limit lower="-0.1" upper="0.1"/> </joint>
  <gazebo>
    <plugin filename="propulsion_ros" name="boosters">
      <update_rate>100</update_rate>
      <tank name="main"> <link>base_link</link> <capacity>12.5</capacity> </tank>
      <booster name="engine"> <link>nozzle</link> <tank>main</tank>
        <max_thrust>700</max_thrust>
        <max_fuel_rate>0.3</max_fuel_rate>
        <gimbal> <joint>gimbal_x</joint> <joint>gimbal_y</joint> </gimbal>
      </booster>
    </plugin>
  </gazebo>
</robot>
"""
BOAT = """<robot name="boat">
  <link name="base_link"> <inertial> <mass value="20"/>
    <inertia ixx="1" iyy="3" izz="3" ixy="0" ixz="0" iyz="0"/> </inertial> </link>
  <link name="screw"/> <link name="fin"/> <link name="nozzle"/>
  <joint name="screw_joint" type="continuous"> <parent link="base_link"/> <child link="screw"/>
    <origin xyz="-0.6 0 0"/> </joint>
  <joint name="fin_joint" type="revolute"> <parent link="base_link"/> <child link="fin"/>
    <origin xyz="-0.7 0 0"/> <axis xyz="0 0 1"/> <limit lower="-0.5" upper="0.5"/> </joint>
  <joint name="nozzle_joint" type="fixed"> <parent link="base_link"/> <child link="nozzle"/>
    <origin xyz="0.5 0 0"/> </joint>
  <gazebo>
    <plugin filename="propulsion_ros" name="thrusters">
      <update_rate>50</update_rate>
      <thruster name="screw"> <joint>screw_joint</joint> <conversion>propeller</conversion>
        <thrust_coefficient>0.0045</thrust_coefficient>
        <propeller_diameter>0.2</propeller_diameter> <fluid_density>1000</fluid_density>
        <min_command>-100</min_command> <max_command>100</max_command> </thruster>
    </plugin>
    <plugin filename="propulsion_ros" name="fins">
      <update_rate>50</update_rate>
      <fin name="rudder"> <joint>fin_joint</joint> <lifting_surface>
        <chord_length>0.1</chord_length> <span_length>0.3</span_length>
        <lift_slope>4</lift_slope> </lifting_surface> </fin>
    </plugin>
    <plugin filename="propulsion_ros" name="jets">
      <update_rate>50</update_rate>
      <tank name="gas"> <link>base_link</link> <capacity>1</capacity>
        <propellant>gas</propellant> <temperature>293</temperature> </tank>
      <jet name="bow"> <link>nozzle</link> <tank>gas</tank> <max_thrust>1</max_thrust>
        <open_delay>0.01</open_delay> </jet>
    </plugin>
  </gazebo>
</robot>
"""
_TWO_LINES = (
    ('<lifting_surface>', '<two_lines> <area>0.03</area> <stall_angle>0.4</stall_angle> '
     '<stalled_lift_slope>-1</stalled_lift_slope> <drag_slope>0.4</drag_slope> '
     '<stalled_drag_slope>0.9</stalled_drag_slope> <zero_lift_drag>0.01</zero_lift_drag>'),
    ('<chord_length>0.1</chord_length> <span_length>0.3</span_length>', ''),
    ('</lifting_surface>', '</two_lines>'),
)
VEHICLE = 'vehicle:\n  ros__parameters:\n    {}: {}\n'
GROUP = 'rotors:\n  ros__parameters:\n    {}\n    {}\n'
WITH_MODEL = 'check robot.yaml --model robot.urdf'


def doubted(name, rule, reason, *changes, remedy='', text=ROBOT, place='robot.urdf'):
    """Return a mistake that a rule of sense warns of."""
    files = {'robot.urdf': replaced(text, changes)}
    return Mistake(name, place, reason, remedy or f'({rule})', files, code=0)


def rocket(name, rule, reason, *changes, remedy=''):
    return doubted(name, rule, reason, *changes, remedy=remedy, text=ROCKET)


def boat(name, rule, reason, *changes, remedy=''):
    return doubted(name, rule, reason, *changes, remedy=remedy, text=BOAT)


def refused(name, reason, remedy, *changes, text=ROBOT, code=1):
    return Mistake(name, 'robot.urdf:', reason, remedy, {'robot.urdf': replaced(text, changes)},
                   code=code)


def body(name, key, value, reason, remedy, code=1):
    """Return a mistake in a parameter of the simulated body."""
    files = {'robot.urdf': ROBOT, 'robot.yaml': VEHICLE.format(key, value)}
    return Mistake(name, 'robot.yaml:3', reason, remedy, files, WITH_MODEL, code)


def group(name, lines, reason, remedy, code=1):
    """Return a mistake in the parameters of the rotors."""
    given = ''.join(f'    {line}\n' for line in lines)
    files = {'robot.urdf': ROBOT, 'robot.yaml': f'rotors:\n  ros__parameters:\n{given}'}
    return Mistake(name, 'robot.yaml:', reason, remedy, files, WITH_MODEL, code)


DOUBTED = [
    doubted('arm in mm', 'lever', 'is 200 m from base_link, expected below 50 m',
            ('xyz="0.2 0 0"', 'xyz="200 0 0"')),
    doubted('moments of no body', 'triangle', 'which no body has', ('izz="0.03"', 'izz="0.3"')),
    doubted('inertia in g cm^2', 'spread', 'kg with this inertia lie about',
            ('ixx="0.02" iyy="0.02" izz="0.03"', 'ixx="2e5" iyy="2e5" izz="3e5"')),
    doubted('mass in tonnes', 'acceleration', 'N push 0.0015 kg', ('value="1.5"', 'value="0.0015"'),
            ('ixx="0.02" iyy="0.02" izz="0.03"', 'ixx="2e-5" iyy="2e-5" izz="3e-5"')),
    doubted('rotors all turn one way', 'one_sided', 'the torque about z goes from',
            ('<direction>-1<', '<direction>1<'), ('<direction>-1<', '<direction>1<')),
    doubted('rotor upside down', 'upside_down', 'rear pushes against the 3 others',
            ('<rotor name="rear">', '<rotor name="rear"> <axis>0 0 -1</axis>')),
    doubted('two on one link', 'same_place', 'left pushes at the same point and the same way as',
            ('<link>left</link>', '<link>front</link>')),
    doubted('lag in ms', 'milliseconds', 'a lag of 50 s; expected seconds',
            ('<time_constant_up>0.05', '<time_constant_up>50')),
    doubted('lag within a step', 'short_lag', 'a lag of 5e-05 s within one step of 0.01 s',
            ('<time_constant_up>0.05', '<time_constant_up>0.00005')),
    doubted('constant of rpm', 'rotor_speed', 'front turns at', ('1e-5', '1e-8')),
    doubted('constant of grams', 'rotor_speed', 'front turns at 8.541 rpm', ('1e-5', '10')),
    doubted('torque in mm', 'moment_constant', 'a torque of 16 m times the thrust',
            ('>0.016<', '>16<')),
    doubted('battery in mA h', 'energy', '50000 A h hold', ('>5<', '>50000<')),
    doubted('battery that lasts seconds', 'battery', 'A h last', ('>5<', '>0.05<')),
    doubted('cannot hover', 'hover', 'thrust to weight of 0.', ('value="1.5"', 'value="15"'),
            ('<update_rate>', '<expects>hover</expects> <update_rate>')),
    doubted('cannot yaw', 'uncontrolled', 'yaw is expected, and nothing makes torque z',
            ('<update_rate>', '<expects>yaw</expects> <update_rate>'),
            *[('>0.016<', '>0<')] * 4, *[('<battery>pack</battery>', '')] * 4),
    doubted('cannot push sideways', 'uncontrolled', 'x is expected, and nothing makes force x',
            ('<update_rate>', '<expects>hover x</expects> <update_rate>')),
    doubted('origin in degrees', 'degrees', 'an angle of 90 rad', (
        '<origin xyz="0.2 0 0"', '<origin xyz="0.2 0 0" rpy="0 0 90"')),
    doubted('one arm ten times too long', 'odd_arm', 'rear is 2 m from the middle',
            ('xyz="-0.2 0 0"', 'xyz="-2.0 0 0"')),
    doubted('torque over speed squared', 'moment_constant', 'a torque of 1.6e-07 m', (
        '>0.016<', '>1.6e-7<')),
    doubted('battery in mA h of a small robot', 'energy', '5000 A h hold', ('>5<', '>5000<')),
    doubted('resistance in milliohm', 'weak_battery', "'pack' gives", (
        '<capacity>', '<internal_resistance>20</internal_resistance> <capacity>')),
    doubted('mass of 0', 'massless', '0 kg with an inertia', ('<link name="front"/>', (
        '<link name="front"> <inertial> <mass value="0"/> <inertia ixx="1e-4" iyy="1e-4" '
        'izz="1e-4"/> </inertial> </link>'))),
    doubted('period as a rate', 'period', '0.01 Hz, expected at least 1 Hz', (
        '>100<', '>0.01<')),
    rocket('tank that nothing burns', 'propellant', "nothing burns from tank 'spare'", (
        '<tank name="main">', '<tank name="spare"> <link>nozzle</link> <capacity>3</capacity> '
        '</tank> <tank name="main">')),
    rocket('tank without capacity', 'propellant', '0 kg last 0 s', (
        '<capacity>12.5</capacity>', '')),
    rocket('curve in ms', 'propellant', 'where tank', ('<max_thrust>', (
        '<thrust_curve>0 700 1000 700 1100 0</thrust_curve> <max_thrust>'))),
    rocket('gimbal with one axis', 'gimbal_axis', 'is parallel to the other', (
        '<axis xyz="0 1 0"/>', '<axis xyz="1 0 0"/>')),
    boat('water in g/cm^3', 'density', 'a density of 1 kg/m^3', ('>1000<', '>1<')),
    boat('propeller in mm', 'length', 'a length of 200 m', ('>0.2<', '>200<')),
    boat('speed in rpm', 'propellers', 'expected below 100 m/s^2', ('>100<', '>1000<')),
    boat('slope per degree', 'lift_slope', 'a slope of 0.07 per rad', ('>4<', '>0.07<')),
    boat('slope of no wing', 'lift_slope', 'a slope of 40 per rad', *_TWO_LINES, ('>4<', '>40<')),
    boat('degrees Celsius', 'celsius', 'a temperature of 20 K', ('>293<', '>20<')),
    boat('valve in ms', 'opening_time', 'a valve that opens after 5 s', ('>0.01<', '>5<')),
    boat('valve slower than its pulse', 'opening_time', 'a valve that opens after 0.2 s', (
        '>0.01<', '>0.2<')),
    rocket('rate of a servo in rpm', 'rpm', '9549 rad/s are 91,186 rpm',
           ('<gimbal>', '<gimbal> <rate_limit>9549</rate_limit>')),
    rocket('gimbal about its thrust', 'gimbal_axis', 'an axis of the gimbal of',
           ('<axis xyz="1 0 0"/>', '<axis xyz="0 0 1"/>')),
    rocket('fuel in g/s', 'impulse', 'a specific impulse of 0.', ('>0.3<', '>300<')),
    rocket('fuel in t/s', 'impulse', 'a specific impulse of', ('>0.3<', '>0.0003<')),
    rocket('impulse in m/s', 'impulse', 'a specific impulse of 2500 s',
           ('<max_fuel_rate>0.3</max_fuel_rate>', '<specific_impulse>2500</specific_impulse>')),
    rocket('delay in ms', 'milliseconds', 'a lag of 120 s', (
        '<gimbal>', '<ignition_delay>120</ignition_delay> <gimbal>')),
    rocket('exit area in cm^2', 'area', 'an area of 120 m^2', (
        '<gimbal>', '<exit_area>120</exit_area> <gimbal>')),
    rocket('noise in percent', 'noise', 'noise of 0.9', (
        '<gimbal>', '<noise_ratio>0.9</noise_ratio> <gimbal>')),
]
"""Each with the rule that warns of it."""

REFUSED = [
    refused('mass below 0', '-1.5 is below 0 kg', 'write 1.5', ('value="1.5"', 'value="-1.5"')),
    refused('indefinite inertia', 'its principal moments are -0.02', 'expected none below 0',
            ('ixx="0.02"', 'ixx="-0.02"')),
    refused('large product of inertia', 'its principal moments are', 'expected none below 0',
            ('ixy="0"', 'ixy="0.9"')),
    refused('loop with the base', "closes a loop: 'rear' on 'base_link' by joint",
            'remove one joint', ('<parent link="base_link"/> <child link="front"/>',
                                 '<parent link="rear"/> <child link="base_link"/>')),
    refused('loop apart', 'closes a loop', 'remove one joint',
            ('<parent link="base_link"/> <child link="front"/>',
             '<parent link="left"/> <child link="front"/>'),
            ('<parent link="base_link"/> <child link="left"/>',
             '<parent link="front"/> <child link="left"/>')),
    refused('two parents', "link 'front' already has a parent, 'base_link' by joint", 'remove one',
            ('<child link="left"/>', '<child link="front"/>')),
    refused('name with a space', "'main rotors' cannot be the name of a node",
            "write 'main_rotors', and the family in <family>",
            ('name="rotors"', 'name="main rotors"')),
    refused('tank with a space', "'main tank' cannot be part of a topic name", "write 'main_tank'",
            ('<tank name="main">', '<tank name="main tank">'),
            ('<tank>main<', '<tank>main tank<'), text=ROCKET),
    refused('thin inertia', '`fly` refuses it', 'must be above 0 about each axis',
            ('izz="0.03"', 'izz="0"'), ('ixx="0.02"', 'ixx="0"'), ('iyy="0.02"', 'iyy="0"'),
            code=0),
    refused('percent of thrust', '85 is above 1', 'write 0.85, a share',
            ('<battery>pack', '<efficiency>85</efficiency> <battery>pack')),
    refused('percent sign', "expected a number, got '85%'", 'write 0.85, a share',
            ('<battery>pack', '<efficiency>85%</efficiency> <battery>pack')),
    refused('newtons with unit', "expected a number, got '8 N'", 'write 8, in N', ('>8<', '>8 N<')),
    refused('grams of force', "got '800 gf'", 'write 7.84532, in N', ('>8<', '>800 gf<')),
    refused('ms with unit', "got '50 ms'", 'write 0.05, in s', ('>0.05<', '>50 ms<')),
    refused('capacity in mAh', "got '5000mAh'", 'write 5, in A h', ('>5<', '>5000mAh<')),
    refused('speed in rpm', "got '3000 rpm'", 'write 314.159, in rad/s',
            ('<battery>pack', '<initial_rotor_speed>3000 rpm</initial_rotor_speed> <battery>pack')),
    refused('wrong kind of unit', "got '8 kg'", 'write SI numbers without unit, in N',
            ('>8<', '>8 kg<')),
    refused('thrust below 0', '-8', 'write 8, its size', ('>8<', '>-8<')),
    refused('angle in degrees', '5 is above 3.14159 rad', 'write 0.0872665, in rad',
            ('<joint>gimbal_x', '<range>5</range> <joint>gimbal_x'), text=ROCKET),
    refused('degrees with unit', "got '5deg'", 'write 0.0872665, in rad',
            ('<joint>gimbal_x', '<range>5deg</range> <joint>gimbal_x'), text=ROCKET),
    refused('grams of propellant', "got '12500 g'", 'write 12.5, in kg', ('>12.5<', '>12500 g<'),
            text=ROCKET),
    refused('unknown rule', 'expected one of degrees, rpm', "did you mean 'lever'?",
            ('<update_rate>', '<silenced>levers</silenced> <update_rate>')),
    refused('unknown expectation', 'expected one of hover, x, y', "got 'fly'",
            ('<update_rate>', '<expects>fly</expects> <update_rate>')),
    body('mass of the body', 'body.mass', '3.0', "'body.mass': unknown", "the links' <inertial>"),
    body('mass misspelt', 'body.gravty', '9.8', 'unknown', "did you mean 'body.gravity'?"),
    body('drag area in cm^2', 'body.drag_area', '[200.0, 200.0, 500.0]', 'an area of 200 m^2',
         '(area)', code=0),
    body('volume in litres', 'body.displaced_volume', '20.0', '20 m^3 lift', '(buoyancy)', code=0),
    body('start in degrees', 'body.start_rpy', '[0.0, 0.0, 90.0]', 'an angle of 90 rad',
         '(degrees)', code=0),
    body('rate that does not divide', 'update_rate', '30.0', "'rotors' publishes at 100 Hz where",
         'give both the same'),
    body('number as a flag', 'body.ground', '1', 'expected true or false, got 1', 'write true'),
    body('word as a flag', 'body.ground', '"no"', "got 'no'", 'write false'),
    body('gravity downwards', 'body.gravity', '-9.81', '-9.81 is below 0 m/s^2',
         'write 9.81, its size'),
    group('percent in a file', ['efficiency: [85.0]'], '85 is above 1', 'write 0.85, a share'),
    group('charge in percent', ['batteries.starting_charge: [80.0]'], '80 is above 1',
          'write 0.8, a share'),
    group('text in a file', ['max_thrust: ["8 N"]'], "got '8 N'", 'write 8, in N'),
    group('number as a name', ['step_value: 1'], 'expected a string, got 1', "write '1'"),
    group('other case', ['step_value: Mean'], "got 'Mean'", "did you mean 'mean'?"),
    group('constant of rpm in a file', ['motor_constant: [1.0e-8]'], 'front turns at',
          '(rotor_speed)', code=0),
    Mistake('expected in a file', 'robot.urdf', 'a thrust to weight of 0.5', '(hover)', {
        'robot.urdf': ROBOT, 'robot.yaml': GROUP.format('expects: [hover]', 'max_thrust: [2.0]'),
    }, WITH_MODEL, 0),
]
"""Each with what would be accepted."""

MISTAKES = [*DOUBTED, *REFUSED]
