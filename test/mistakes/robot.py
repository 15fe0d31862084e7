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
CALLED = ('''      <rotor name="front">
        <joint>arm_joint</joint>
        <max_thrust>9</max_thrust>
        <motor_constant>1e-5</motor_constant>
      </rotor>''', '      <xacro:arm thrust="-9"/>')
PART = '''<robot xmlns:xacro="http://wiki.ros.org/xacro">
  <joint name="mast_joint" type="hinge">
    <parent link="base_link"/> <child link="mast"/>
  </joint>
  <link name="mast"/>
</robot>
'''

MISTAKES = [
    Mistake('tag misspelt', '', '', '', of((THRUST, '<max_thurst>9</max_thurst>'))),
    Mistake('tag missing', '', '', '', of((THRUST, ''))),
    Mistake('number with its unit', '', '', '', of((THRUST, '<max_thrust>9 N</max_thrust>'))),
    Mistake('decimal comma', '', '', '', of((THRUST, '<max_thrust>9,5</max_thrust>'))),
    Mistake('negative thrust', '', '', '', of((THRUST, '<max_thrust>-9</max_thrust>'))),
    Mistake('minimum above maximum', '', '', '', of(
        (THRUST, THRUST + '<min_thrust>12</min_thrust>'))),
    Mistake('unknown joint', '', '', '', of((JOINT, '<joint>am_joint</joint>'))),
    Mistake('unknown link', '', '', '', of((JOINT, '<link>arm_lnk</link>'))),
    Mistake('link in place of a joint', '', '', '', of((JOINT, '<joint>arm_link</joint>'))),
    Mistake('no place', '', '', '', of((JOINT, ''))),
    Mistake('actuator without a name', '', '', '', of((ROW, '<rotor>'))),
    Mistake('actuator named twice', '', '', '', of(
        ('      </rotor>', '</rotor><rotor name="front"><joint>arm_joint</joint>' + THRUST
         + '<motor_constant>1e-5</motor_constant></rotor>'))),
    Mistake('block without a name', '', '', '', of((' name="rotors"', ''))),
    Mistake('block of an unknown family', '', '', '', of((' name="rotors"', ' name="rotor"'))),
    Mistake('two blocks of one name', '', '', '', of(
        ('</plugin>', '</plugin><plugin filename="propulsion_ros" name="rotors"><rotor name="b">'
         '<link>arm_link</link><max_thrust>9</max_thrust><motor_constant>1e-5</motor_constant>'
         '</rotor></plugin>'))),
    Mistake('file name of a library', '', '', '', of(
        ('filename="propulsion_ros"', 'filename="libpropulsion_ros.so"'))),
    Mistake('file name with a hyphen', '', '', '', of(
        ('filename="propulsion_ros"', 'filename="propulsion-ros"'))),
    Mistake('no file name', '', '', '', of(('filename="propulsion_ros" ', ''))),
    Mistake('plugin outside of gazebo', '', '', '', of(('<gazebo>', ''), ('</gazebo>', ''))),
    Mistake('unit as an attribute', '', '', '', of(
        (THRUST, '<max_thrust unit="kN">9</max_thrust>'))),
    Mistake('value as an attribute', '', '', '', of((THRUST, '<max_thrust value="9"/>'))),
    Mistake('tag as an attribute', '', '', '', of(
        (ROW, '<rotor name="front" max_thrust="9">'), (THRUST, ''))),
    Mistake('camel case', '', '', '', of((THRUST, '<maxThrust>9</maxThrust>'))),
    Mistake('tag given twice', '', '', '', of((THRUST, THRUST * 2))),
    Mistake('empty tag', '', '', '', of((THRUST, '<max_thrust/>'))),
    Mistake('prismatic joint', '', '', '', with_end(
        THRUSTER, ('type="continuous"', 'type="prismatic"'))),
    Mistake('floating joint', '', '', '', of(('type="continuous"', 'type="floating"'))),
    Mistake('joint that mimics', '', '', '', of(
        ('<axis xyz="0 0 1"/>', '<axis xyz="0 0 1"/><mimic joint="tank_joint"/>'))),
    Mistake('link without a joint', '', '', '', of(
        ('<link name="tank_link"/>', '<link name="tank_link"/><link name="mast_link"/>'))),
    Mistake('joint to an unknown link', '', '', '', of(
        ('<parent link="base_link"/>', '<parent link="base_lnk"/>'))),
    Mistake('joint type misspelt', '', '', '', of(('type="continuous"', 'type="continous"'))),
    Mistake('axis without a direction', '', '', '', of(('xyz="0 0 1"', 'xyz="0 0 0"'))),
    Mistake('commas between numbers', '', '', '', of(('xyz="0.2 0 0"', 'xyz="0.2, 0, 0"'))),
    Mistake('two numbers of three', '', '', '', of(('xyz="0.2 0 0"', 'xyz="0.2 0"'))),
    Mistake('tag not closed', '', '', '', of((THRUST, '<max_thrust>9'))),
    Mistake('DTD', '', '', '', of(('<robot', '<!DOCTYPE robot SYSTEM "a.dtd">\n<robot'))),
    Mistake('an SDF', '', '', '', of(('<robot', '<sdf'), ('</robot', '</sdf'))),
    Mistake('block without actuators', '', '', '', of(
        (CALLED[0], ''))),
    Mistake('direction in words', '', '', '', of((THRUST, THRUST + '<direction>cw</direction>'))),
    Mistake('unknown interface', '', '', '', of(
        ('<update_rate>100</update_rate>', '<command_interface>rpm</command_interface>'))),
    Mistake('no rate', '', '', '', of(('<update_rate>100', '<update_rate>0'))),
    Mistake('unknown base link', '', '', '', of(
        ('<update_rate>100</update_rate>', '<base_link>base</base_link>'))),
    Mistake('not a number', '', '', '', of((THRUST, '<max_thrust>nan</max_thrust>'))),
    Mistake('motor constant per rpm', '', '', '', of(
        ('<motor_constant>1e-5', '<motor_constant>1.3e-7'))),
    Mistake('lag in milliseconds', '', '', '', of(
        (THRUST, THRUST + '<time_constant_up>50</time_constant_up>'))),
    Mistake('expression fits no joint', '', '', '', of(
        (ROW, '<rotor>'), (JOINT, r'<names_expr>leg_\d+</names_expr>'))),
    Mistake('no expression', '', '', '', of(
        (ROW, '<rotor>'), (JOINT, '<names_expr>arm_(</names_expr>'))),
    Mistake('unknown tank', '', '', '', with_end(BOOSTER, ('<tank>main', '<tank>mian'))),
    Mistake('two blocks share a tank', '', '', '', with_end(
        BOOSTER.replace('</plugin>', '</plugin>' + BOOSTER[8:BOOSTER.index('</gazebo>')].replace(
            'name="boosters"', 'name="upper"><family>boosters</family'), 1)
    )),
    Mistake('boolean in words', '', '', '', with_end(
        BOOSTER, ('<tank>main', '<reignitable>yes</reignitable><tank>main'))),
    Mistake('UUV thruster without ID', '', '', '', with_end(
        THRUSTER, ('<thrusterID>0</thrusterID>', ''))),
    Mistake('UUV type misspelt', '', '', '', with_end(THRUSTER, ('FirstOrder', 'Firstorder'))),
    Mistake('UUV constant missing', '', '', '', with_end(
        THRUSTER, ('<timeConstant>0.05</timeConstant>', ''))),
    Mistake('no block', '', '', '', of(('propulsion_ros', 'other'))),
    Mistake('no such file', '', '', '', command='check robt.urdf'),
    Mistake('a folder', '', '', '', command='check ./..urdf/../.'),
    Mistake('unknown suffix', '', '', '', {'robot.xml': ROBOT}, 'check robot.xml'),
    Mistake('xacro: unknown property', '', '', '', with_xacro((THRUST, '<max_thrust>${t}</max_thrust>')), XACRO),
    Mistake('xacro: parameter missing', '', '', '', with_xacro(
        ('<link name="base_link"/>', MACRO), (CALLED[0], '<xacro:arm/>')), XACRO),
    Mistake('xacro: unknown macro', '', '', '', with_xacro((CALLED[0], '<xacro:am/>')), XACRO),
    Mistake('xacro: value in a macro', '', '', '', with_xacro(
        ('<link name="base_link"/>', MACRO), CALLED), XACRO),
    Mistake('xacro: include missing', '', '', '', with_xacro(
        ('<link name="base_link"/>', '<xacro:include filename="part.xacro"/><link name="base_link"/>')), XACRO),
    Mistake('xacro: in an included file', '', '', '', with_xacro(
        ('<link name="base_link"/>', '<xacro:include filename="part.xacro"/><link name="base_link"/>'),
        **{'part.xacro': PART}), XACRO),
    Mistake('xacro in a URDF', '', '', '', of((THRUST, '<max_thrust>${9 * 2}</max_thrust>'))),
]
