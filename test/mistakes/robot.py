# SPDX-License-Identifier: Apache-2.0
"""Mistakes in robot descriptions."""

from __future__ import annotations

from mistakes import Mistake, replaced

ROBOT = """<?xml version="1.0"?>
<robot name="drone">
  <link name="base_link"/>
  <link name="arm_link"/>
  <joint name="arm_joint" type="continuous">
    <parent link="base_link"/> <child link="arm_link"/>
    <origin xyz="0.2 0 0"/>
    <axis xyz="0 0 1"/>
  </joint>
  <link name="tank_link"/>
  <joint name="tank_joint" type="fixed">
    <parent link="base_link"/> <child link="tank_link"/>
  </joint>
  <gazebo>
    <plugin filename="propulsion_ros" name="rotors">
      <update_rate>100</update_rate>
      <rotor name="front">
        <joint>arm_joint</joint>
        <max_thrust>9</max_thrust>
        <motor_constant>1e-5</motor_constant>
      </rotor>
    </plugin>
  </gazebo>
</robot>
"""

BOOSTER = """<gazebo><plugin filename="propulsion_ros" name="boosters">
      <tank name="main">
        <link>tank_link</link>
        <capacity>2</capacity>
      </tank>
      <booster name="engine">
        <link>arm_link</link>
        <max_thrust>9</max_thrust>
        <max_fuel_rate>0.1</max_fuel_rate>
        <tank>main</tank>
      </booster>
    </plugin></gazebo>
</robot>"""

THRUSTER = """<gazebo><plugin name="left_model" filename="libuuv_thruster_ros_plugin.so">
      <linkName>arm_link</linkName>
      <jointName>arm_joint</jointName>
      <thrusterID>0</thrusterID>
      <dynamics><type>FirstOrder</type><timeConstant>0.05</timeConstant></dynamics>
      <conversion><type>Basic</type><rotorConstant>0.0003</rotorConstant></conversion>
    </plugin></gazebo>
</robot>"""

ONE_SIDED = """<gazebo><plugin filename="propulsion_ros" name="thrusters">
      <thruster name="left">
        <joint>arm_joint</joint>
        <rotor_constant>3e-4</rotor_constant>
        <max_thrust>40</max_thrust>
      </thruster>
    </plugin></gazebo>
</robot>"""

FIN = """<gazebo><plugin filename="propulsion_ros" name="fins">
      <fin name="rudder"><joint>arm_joint</joint></fin>
    </plugin></gazebo>
</robot>"""

THRUST = '<max_thrust>9</max_thrust>'
JOINT = '<joint>arm_joint</joint>'
ROW = '      <rotor name="front">'


def of(*changes, base=ROBOT, name='robot.urdf'):
    return {name: replaced(base, changes)}


def with_end(end, *changes):
    return {'robot.urdf': replaced(ROBOT.replace('</robot>', end), changes)}


def with_xacro(*changes, **others):
    text = ROBOT.replace('<robot name', '<robot xmlns:xacro="http://wiki.ros.org/xacro" name')
    return {'robot.urdf.xacro': replaced(text, changes), **others}


XACRO = 'check robot.urdf.xacro'
MACRO = """<xacro:macro name="arm" params="thrust">
      <rotor name="front">
        <joint>arm_joint</joint>
        <max_thrust>${thrust}</max_thrust>
        <motor_constant>1e-5</motor_constant>
      </rotor>
  </xacro:macro>
  <link name="base_link"/>"""
CALLED = (
    """      <rotor name="front">
        <joint>arm_joint</joint>
        <max_thrust>9</max_thrust>
        <motor_constant>1e-5</motor_constant>
      </rotor>""",
    '      <xacro:arm thrust="-9"/>',
)
PART = """<robot xmlns:xacro="http://wiki.ros.org/xacro">
  <joint name="mast_joint" type="hinge">
    <parent link="base_link"/> <child link="mast"/>
  </joint>
  <link name="mast"/>
</robot>
"""

MISTAKES = [
    Mistake(
        'tag misspelt',
        'robot.urdf:19: gazebo/plugin[name=rotors]/rotor[name=front]/max_thurst',
        'unknown tag',
        "did you mean 'max_thrust'?",
        of((THRUST, '<max_thurst>9</max_thurst>')),
    ),
    Mistake(
        'tag missing',
        'robot.urdf:17: gazebo/plugin[name=rotors]/rotor[name=front]/max_thrust',
        'is required',
        'largest thrust [N]',
        of((THRUST, '')),
    ),
    Mistake(
        'number with its unit',
        'robot.urdf:19: gazebo/plugin[name=rotors]/rotor[name=front]/max_thrust',
        "expected a number, got '9 N'",
        'write 9, in N',
        of((THRUST, '<max_thrust>9 N</max_thrust>')),
    ),
    Mistake(
        'decimal comma',
        'robot.urdf:19: gazebo/plugin[name=rotors]/rotor[name=front]/max_thrust',
        "expected a number, got '9,5'",
        'write a point in a number, and a space between two',
        of((THRUST, '<max_thrust>9,5</max_thrust>')),
    ),
    Mistake(
        'negative thrust',
        'robot.urdf:19: gazebo/plugin[name=rotors]/rotor[name=front]/max_thrust',
        '-9',
        'is below 0 N',
        of((THRUST, '<max_thrust>-9</max_thrust>')),
    ),
    Mistake(
        'minimum above maximum',
        'robot.urdf:19: gazebo/plugin[name=rotors]/rotor[name=front]/min_thrust',
        '12 is above max_thrust 9 N',
        'are they swapped?',
        of((THRUST, THRUST + '<min_thrust>12</min_thrust>')),
    ),
    Mistake(
        'unknown joint',
        'robot.urdf:18: gazebo/plugin[name=rotors]/rotor[name=front]/joint',
        "unknown joint 'am_joint'",
        "did you mean 'arm_joint'?",
        of((JOINT, '<joint>am_joint</joint>')),
    ),
    Mistake(
        'unknown link',
        'robot.urdf:18: gazebo/plugin[name=rotors]/rotor[name=front]/link',
        "unknown link 'arm_lnk'",
        "did you mean 'arm_link'?",
        of((JOINT, '<link>arm_lnk</link>')),
    ),
    Mistake(
        'link in place of a joint',
        'robot.urdf:18: gazebo/plugin[name=rotors]/rotor[name=front]/joint',
        "'arm_link' is a link",
        'expected a joint; write <link>',
        of((JOINT, '<joint>arm_link</joint>')),
    ),
    Mistake(
        'no place',
        'robot.urdf:17: gazebo/plugin[name=rotors]/rotor[name=front]',
        'got neither',
        'expected a <joint> or a <link>',
        of((JOINT, '')),
    ),
    Mistake(
        'actuator without a name',
        'robot.urdf:17: gazebo/plugin[name=rotors]/rotor',
        'got none',
        'expected a name attribute',
        of((ROW, '<rotor>')),
    ),
    Mistake(
        'actuator named twice',
        'robot.urdf:21: gazebo/plugin[name=rotors]/rotor[name=front]',
        "'front' is named twice",
        'rename one',
        of(
            (
                '      </rotor>',
                '</rotor><rotor name="front"><joint>arm_joint</joint>'
                + THRUST
                + '<motor_constant>1e-5</motor_constant></rotor>',
            )
        ),
    ),
    Mistake(
        'block without a name',
        'robot.urdf:15: gazebo/plugin',
        'got none: it names the node',
        'expected a name attribute',
        of((' name="rotors"', '')),
    ),
    Mistake(
        'block of an unknown family',
        'robot.urdf:15: gazebo/plugin[name=rotor]',
        "unknown family 'rotor'",
        "did you mean 'rotors'?; known: boosters, fam, fins, inverse_fam, "
        'jets, propulsion_modules, rotors, thrusters',
        of((' name="rotors"', ' name="rotor"')),
    ),
    Mistake(
        'two blocks of one name',
        'robot.urdf:22: gazebo/plugin[name=rotors]',
        "block 'rotors' is named twice",
        'rename one',
        of(
            (
                '</plugin>',
                '</plugin><plugin filename="propulsion_ros" name="rotors"><rotor name="b">'
                '<link>arm_link</link><max_thrust>9</max_thrust><motor_constant>1e-5</motor_constant>'
                '</rotor></plugin>',
            )
        ),
    ),
    Mistake(
        'file name of a library',
        'robot.urdf:15: warning: gazebo/plugin[name=rotors]/@filename',
        "'libpropulsion_ros.so' is no plugin of this package",
        "did you mean 'propulsion_ros'?",
        of(('filename="propulsion_ros"', 'filename="libpropulsion_ros.so"')),
    ),
    Mistake(
        'file name with a hyphen',
        'robot.urdf:15: warning: gazebo/plugin[name=rotors]/@filename',
        "'propulsion-ros' is no plugin of this package",
        "did you mean 'propulsion_ros'?",
        of(('filename="propulsion_ros"', 'filename="propulsion-ros"')),
    ),
    Mistake(
        'no file name',
        'robot.urdf:15: warning: gazebo/plugin[name=rotors]/@filename',
        "'' is no plugin of this package",
        "did you mean 'propulsion_ros'?",
        of(('filename="propulsion_ros" ', '')),
    ),
    Mistake(
        'plugin outside of gazebo',
        'robot.urdf:15: warning: plugin[name=rotors]',
        'has no effect',
        'expected inside of <gazebo>',
        of(('<gazebo>', ''), ('</gazebo>', '')),
    ),
    Mistake(
        'unit as an attribute',
        'robot.urdf:19: warning: gazebo/plugin[name=rotors]/rotor[name=front]/max_thrust/@unit',
        'has no effect',
        'values are in SI units',
        of((THRUST, '<max_thrust unit="kN">9</max_thrust>')),
        code=0,
    ),
    Mistake(
        'value as an attribute',
        'robot.urdf:19: gazebo/plugin[name=rotors]/rotor[name=front]/max_thrust',
        "expected a number, got ''",
        'write <max_thrust>NUMBER</max_thrust>',
        of((THRUST, '<max_thrust value="9"/>')),
    ),
    Mistake(
        'tag as an attribute',
        'robot.urdf:17: gazebo/plugin[name=rotors]/rotor[name=front]/max_thrust',
        'is required',
        'largest thrust [N]',
        of((ROW, '<rotor name="front" max_thrust="9">'), (THRUST, '')),
    ),
    Mistake(
        'camel case',
        'robot.urdf:19: gazebo/plugin[name=rotors]/rotor[name=front]/maxThrust',
        'unknown tag',
        "did you mean 'max_thrust'?",
        of((THRUST, '<maxThrust>9</maxThrust>')),
    ),
    Mistake(
        'tag given twice',
        'robot.urdf:19: gazebo/plugin[name=rotors]/rotor[name=front]/max_thrust[2]',
        'is given twice',
        'remove one',
        of((THRUST, THRUST * 2)),
    ),
    Mistake(
        'empty tag',
        'robot.urdf:19: gazebo/plugin[name=rotors]/rotor[name=front]/max_thrust',
        "expected a number, got ''",
        'write <max_thrust>NUMBER</max_thrust>',
        of((THRUST, '<max_thrust/>')),
    ),
    Mistake(
        'prismatic joint',
        'robot.urdf:17: warning: gazebo/plugin[name=rotors]/rotor[name=front]/joint',
        "prismatic joint 'arm_joint' gives no axis of thrust, and what it carries stays "
        'where position 0 has it',
        'expected a fixed, continuous or revolute joint',
        with_end(THRUSTER, ('type="continuous"', 'type="prismatic"')),
        code=0,
    ),
    Mistake(
        'floating joint',
        'robot.urdf:18: gazebo/plugin[name=rotors]/rotor[name=front]/joint',
        "floating joint 'arm_joint' lies between 'arm_link' and base_link 'base_link'",
        'expected another base_link',
        of(('type="continuous"', 'type="floating"')),
    ),
    Mistake(
        'joint that mimics',
        'robot.urdf:18: gazebo/plugin[name=rotors]/rotor[name=front]/joint',
        "joint 'arm_joint' takes no commands, it mimics 'tank_joint'",
        'name that one',
        of(('<axis xyz="0 0 1"/>', '<axis xyz="0 0 1"/><mimic joint="tank_joint"/>')),
    ),
    Mistake(
        'link without a joint',
        'robot.urdf:2: robot',
        "expected one root link, got 2: 'base_link', 'mast_link'",
        'join them by <joint>s',
        of(('<link name="tank_link"/>', '<link name="tank_link"/><link name="mast_link"/>')),
    ),
    Mistake(
        'joint to an unknown link',
        'robot.urdf:6: robot/joint[name=arm_joint]/parent',
        "unknown link 'base_lnk'",
        "did you mean 'base_link'?",
        of(('<parent link="base_link"/>', '<parent link="base_lnk"/>')),
    ),
    Mistake(
        'joint type misspelt',
        'robot.urdf:5: robot/joint[name=arm_joint]/@type',
        "expected one of fixed, revolute, continuous, prismatic, floating, planar, got 'continous'",
        "did you mean 'continuous'?",
        of(('type="continuous"', 'type="continous"')),
    ),
    Mistake(
        'axis without a direction',
        'robot.urdf:8: robot/joint[name=arm_joint]/axis/@xyz',
        'got length 0',
        'expected a direction',
        of(('xyz="0 0 1"', 'xyz="0 0 0"')),
    ),
    Mistake(
        'commas between numbers',
        'robot.urdf:7: robot/joint[name=arm_joint]/origin/@xyz',
        "expected a number, got '0.2, 0, 0'",
        'write a point in a number, and a space between two',
        of(('xyz="0.2 0 0"', 'xyz="0.2, 0, 0"')),
    ),
    Mistake(
        'two numbers of three',
        'robot.urdf:7: robot/joint[name=arm_joint]/origin/@xyz',
        'got 2',
        'expected 3 numbers',
        of(('xyz="0.2 0 0"', 'xyz="0.2 0"')),
    ),
    Mistake(
        'tag not closed',
        'robot.urdf:21: robot',
        'not well-formed XML: mismatched tag: line 21, column 8',
        'is each tag above closed?',
        of((THRUST, '<max_thrust>9')),
    ),
    Mistake(
        'DTD',
        'robot.urdf: robot',
        'DTDs and entities are refused',
        'remove <!DOCTYPE> (DTDForbidden)',
        of(('<robot', '<!DOCTYPE robot SYSTEM "a.dtd">\n<robot')),
    ),
    Mistake(
        'an SDF',
        'robot.urdf: sdf',
        'expected <robot> as the root element',
        'an SDF is no URDF',
        of(('<robot', '<sdf'), ('</robot', '</sdf')),
    ),
    Mistake(
        'block without actuators',
        'robot.urdf:15: gazebo/plugin[name=rotors]',
        'got none',
        'expected at least one <rotor>',
        of((CALLED[0], '')),
    ),
    Mistake(
        'direction in words',
        'robot.urdf:19: gazebo/plugin[name=rotors]/rotor[name=front]/direction',
        "expected a number, got 'cw'",
        '1: the rotor turns counterclockwise seen from the tip of its axis, -1: clockwise',
        of((THRUST, THRUST + '<direction>cw</direction>')),
    ),
    Mistake(
        'unknown interface',
        'robot.urdf:16: gazebo/plugin[name=rotors]/command_interface',
        "got 'rpm'",
        'expected one of effort, velocity, throttle',
        of(('<update_rate>100</update_rate>', '<command_interface>rpm</command_interface>')),
    ),
    Mistake(
        'no rate',
        'robot.urdf:16: gazebo/plugin[name=rotors]/update_rate',
        '0',
        'is below 0.001 Hz',
        of(('<update_rate>100', '<update_rate>0')),
    ),
    Mistake(
        'unknown base link',
        'robot.urdf:16: gazebo/plugin[name=rotors]/base_link',
        "unknown link 'base'",
        "did you mean 'base_link'?",
        of(('<update_rate>100</update_rate>', '<base_link>base</base_link>')),
    ),
    Mistake(
        'not a number',
        'robot.urdf:19: gazebo/plugin[name=rotors]/rotor[name=front]/max_thrust',
        'nan is not finite',
        '',
        of((THRUST, '<max_thrust>nan</max_thrust>')),
    ),
    Mistake(
        'motor constant per rpm',
        'robot.urdf:20: warning: gazebo/plugin[name=rotors]/rotor[name=front]/motor_constant',
        'rpm to reach max_thrust',
        'is the constant per (rad/s)^2, not per rpm^2, and the thrust in N?',
        of(('<motor_constant>1e-5', '<motor_constant>1.3e-7')),
        code=0,
    ),
    Mistake(
        'lag in milliseconds',
        'robot.urdf:19: warning: gazebo/plugin[name=rotors]/rotor[name=front]/time_constant_up',
        'a lag of 50 s',
        'expected seconds, not milliseconds',
        of((THRUST, THRUST + '<time_constant_up>50</time_constant_up>')),
        code=0,
    ),
    Mistake(
        'expression fits no joint',
        'robot.urdf:18: gazebo/plugin[name=rotors]/rotor/names_expr',
        "'leg_\\\\d+' fits no joint",
        'joints: arm_joint, tank_joint',
        of((ROW, '<rotor>'), (JOINT, r'<names_expr>leg_\d+</names_expr>')),
    ),
    Mistake(
        'no expression',
        'robot.urdf:18: gazebo/plugin[name=rotors]/rotor/names_expr',
        'expected a regular expression: missing ), unterminated subpattern at position 4',
        '',
        of((ROW, '<rotor>'), (JOINT, '<names_expr>arm_(</names_expr>')),
    ),
    Mistake(
        'unknown tank',
        'robot.urdf:33: gazebo/plugin[name=boosters]/booster[name=engine]/tank',
        "unknown tank 'mian'",
        'known: main',
        with_end(BOOSTER, ('<tank>main', '<tank>mian')),
    ),
    Mistake(
        'two blocks share a tank',
        'robot.urdf:36: warning: gazebo/plugin[name=upper]/tank[name=main]',
        "link 'tank_link' already has the mass of a part of block 'boosters'",
        'expected a link for each, or one block for both',
        with_end(
            BOOSTER.replace(
                '</plugin>',
                '</plugin>'
                + BOOSTER[8:BOOSTER.index('</gazebo>')].replace(
                    'name="boosters"', 'name="upper"><family>boosters</family'
                ),
                1,
            )
        ),
        code=0,
    ),
    Mistake(
        'boolean in words',
        'robot.urdf:33: gazebo/plugin[name=boosters]/booster[name=engine]/reignitable',
        "got 'yes'",
        'expected true or false',
        with_end(BOOSTER, ('<tank>main', '<reignitable>yes</reignitable><tank>main')),
    ),
    Mistake(
        'UUV thruster without ID',
        'robot.urdf:24: gazebo/plugin[name=left_model]/thrusterID',
        'is missing',
        'each of the thrusters needs it',
        with_end(THRUSTER, ('<thrusterID>0</thrusterID>', '')),
    ),
    Mistake(
        'UUV type misspelt',
        'robot.urdf:28: gazebo/plugin[name=left_model]/dynamics/type',
        "unknown type 'Firstorder'",
        "did you mean 'FirstOrder'?; known: ZeroOrder, FirstOrder, Yoerger, Bessa",
        with_end(THRUSTER, ('FirstOrder', 'Firstorder')),
    ),
    Mistake(
        'UUV constant missing',
        'robot.urdf:28: gazebo/plugin[name=left_model]/dynamics/timeConstant',
        'is missing',
        'FirstOrder needs it',
        with_end(THRUSTER, ('<timeConstant>0.05</timeConstant>', '')),
    ),
    Mistake(
        'no block',
        'robot.urdf:15: warning: gazebo/plugin[name=rotors]/@filename',
        "'other' is no plugin of this package",
        "did you mean 'propulsion_ros'?",
        of(('propulsion_ros', 'other')),
    ),
    Mistake(
        'no such file',
        'robt.urdf',
        'cannot be read: No such file or directory',
        "did you mean 'robot.urdf'?",
        of(),
        'check robt.urdf',
    ),
    Mistake(
        'a folder', 'robot.urdf', 'cannot be read: Is a directory', '', {'robot.urdf/a.txt': ''}
    ),
    Mistake(
        'unknown suffix',
        'robot.xml',
        'expected a name that ends',
        'in one of .yaml, .yml, .urdf, .xacro, .json, .jsonc, .json5',
        {'robot.xml': ROBOT},
        'check robot.xml',
    ),
    Mistake(
        'xacro: unknown property',
        'robot.urdf.xacro:19',
        "name 't' is not defined when evaluating expression 't'",
        'define it by <xacro:property> or <xacro:arg>',
        with_xacro((THRUST, '<max_thrust>${t}</max_thrust>')),
        XACRO,
    ),
    Mistake(
        'xacro: parameter missing',
        'robot.urdf.xacro:24',
        'Undefined parameters [thrust]',
        'give them as attributes of the call',
        with_xacro(('<link name="base_link"/>', MACRO), (CALLED[0], '<xacro:arm/>')),
        XACRO,
    ),
    Mistake(
        'xacro: unknown macro',
        'robot.urdf.xacro:17',
        'unknown macro name: xacro:am',
        'define it by <xacro:macro>, or include its file',
        with_xacro((CALLED[0], '<xacro:am/>')),
        XACRO,
    ),
    Mistake(
        'xacro: value in a macro',
        'robot.urdf.xacro:6: gazebo/plugin[name=rotors]/rotor[name=front]/max_thrust',
        '-9',
        'is below 0 N',
        with_xacro(('<link name="base_link"/>', MACRO), CALLED),
        XACRO,
    ),
    Mistake(
        'xacro: include missing',
        'robot.urdf.xacro:3',
        'cannot include part.xacro: No such file or directory',
        'names are relative to the file that includes',
        with_xacro(
            (
                '<link name="base_link"/>',
                '<xacro:include filename="part.xacro"/><link name="base_link"/>',
            )
        ),
        XACRO,
    ),
    Mistake(
        'xacro: in an included file',
        'part.xacro:2: robot/joint[name=mast_joint]/@type',
        "got 'hinge'",
        'expected one of fixed, revolute, continuous, prismatic, floating, planar',
        with_xacro(
            (
                '<link name="base_link"/>',
                '<xacro:include filename="part.xacro"/><link name="base_link"/>',
            ),
            **{'part.xacro': PART},
        ),
        XACRO,
    ),
    Mistake(
        'xacro in a URDF',
        'robot.urdf:19: gazebo/plugin[name=rotors]/rotor[name=front]/max_thrust',
        "expected a number, got '${9 * 2}'",
        'xacro expands expressions in files whose names end in .xacro',
        of((THRUST, '<max_thrust>${9 * 2}</max_thrust>')),
    ),
    Mistake(
        'no limit backwards',
        'robot.urdf:28: warning: gazebo/plugin[name=thrusters]/thruster[name=left]/max_thrust',
        'left pushes backwards without limit',
        'give min_thrust too, 0 for none',
        with_end(ONE_SIDED),
        code=0,
    ),
    Mistake(
        'fin without a lift model',
        'robot.urdf:25: gazebo/plugin[name=fins]/fin[name=rudder]',
        "'rudder' has no lift model",
        'in a URDF <quadratic>, <two_lines> or <lifting_surface>',
        with_end(FIN),
    ),
    Mistake(
        'folder of the picture missing',
        'propulsion_ros check: pictures/robot.png',
        "cannot be written: there is no folder 'pictures'",
        'make it first',
        of(),
        'check robot.urdf --picture pictures/robot.png',
    ),
]
