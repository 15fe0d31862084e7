# SPDX-License-Identifier: Apache-2.0
"""Broken robot descriptions and parameter files end in one line, or in actuators that work."""
from __future__ import annotations

import copy
import math
import random
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import yaml

from parts import amount
from propulsion_ros.loops.actuator_loop import LoopParams
from propulsion_ros.models.common.family import BodyState, Command
from propulsion_ros.models.registry import FAMILIES
from propulsion_ros.settings.errors import ConfigError, SourceError
from propulsion_ros.settings.flat import build, parameters_of, unknown_keys
from propulsion_ros.urdf.reader import actuators_from_urdf, mass_from_urdf

SEEDS = range(amount('fuzz', 200, 4000))
pytestmark = pytest.mark.part('fuzz')
WORDS = (
    'nan', 'inf', '-inf', '1e308', '-1e308', '1e400', '1e30', '1e9', '1e-320', '0', '-0', '-1',
    '1_0', '0x10', '', 'fast', 'true', '1 2', '1 2 3 4', '1,5', '1' * 400, 'é',
    '(a+)+', '..', '<b/>', '\n',
)


def assert_it_works(family, values):
    """Build a family, as its node would, and step it once."""
    build(LoopParams, values)
    params = build(FAMILIES[family].Params, values)
    output = FAMILIES[family](params).step(
        Command(), BodyState(velocity=np.ones(3), angular_velocity=np.ones(3)), 0.01, 0,
    )
    assert np.all(np.isfinite(output.wrench))


def assert_one_line(error):
    assert '\n' not in str(error)
    assert str(error).strip()


# Robot descriptions.


def joint(name, kind='fixed', parent='rov/base_link', rest=''):
    return (
        f'<link name="rov/{name}"/><joint name="rov/{name}_joint" type="{kind}">'
        f'<parent link="{parent}"/><child link="rov/{name}"/>'
        f'<origin xyz="0.1 -0.2 0.3" rpy="0 0.5 1"/>{rest}</joint>'
    )


TURNING = '<axis xyz="0 0 1"/><limit lower="-0.5" upper="0.5" effort="1" velocity="1"/>'
URDF = f"""
<robot name="all">
  <link name="rov/base_link"><inertial><origin xyz="0 0 0.1"/><mass value="9"/>
    <inertia ixx="1" ixy="0" ixz="0" iyy="2" iyz="0" izz="3"/></inertial></link>
  {joint('tank')}{joint('ring', 'revolute', rest=TURNING)}
  {joint('plate', 'revolute', 'rov/ring', TURNING)}{joint('engine', 'fixed', 'rov/plate')}
  {joint('rotor', 'continuous')}{joint('thruster_0', 'continuous')}
  {joint('thruster_1', 'continuous')}{joint('bow', 'continuous')}
  {joint('fin', 'revolute', rest=TURNING)}{joint('fin0', 'revolute', rest=TURNING)}
  {joint('nozzle')}
  <gazebo><plugin filename="propulsion_ros" name="boosters">
    <update_rate>100</update_rate><publish_rate>50</publish_rate><integrator>exact</integrator>
    <tank name="main"><link>tank</link><capacity>4</capacity><inertia>1 1 0.5</inertia></tank>
    <booster name="one"><joint>engine_joint</joint><tank>main</tank><axis>0 0 1</axis>
      <min_thrust>10</min_thrust><max_thrust>90</max_thrust><max_fuel_rate>0.2</max_fuel_rate>
      <time_constant>0.1</time_constant><noise_seed>7</noise_seed>
      <reignitable>true</reignitable>
      <gimbal><joint>ring_joint</joint><joint>plate_joint</joint><range>0.1 0.1</range></gimbal>
    </booster></plugin></gazebo>
  <gazebo><plugin filename="propulsion_ros" name="rotors"><base_link>base_link</base_link>
    <rotor name="top"><link>rotor</link><max_thrust>9</max_thrust>
      <motor_constant>1e-5</motor_constant><moment_constant>0.01</moment_constant>
      <direction>-1</direction></rotor></plugin></gazebo>
  <gazebo><plugin filename="propulsion_ros" name="bow"><family>thrusters</family>
    <thruster><names_expr>b[ow]+_joint</names_expr><conversion>linear_interp</conversion>
      <input_values>-9 0 9</input_values><output_values>-3 0 4</output_values></thruster>
  </plugin></gazebo>
  <gazebo><plugin filename="libuuv_thruster_ros_plugin.so" name="uuv_0">
    <linkName>rov/thruster_0</linkName><jointName>rov/thruster_0_joint</jointName>
    <thrusterID>0</thrusterID><gain>1</gain><clampMin>-9</clampMin><clampMax>9</clampMax>
    <dynamics><type>FirstOrder</type><timeConstant>0.1</timeConstant></dynamics>
    <conversion><type>Basic</type><rotorConstant>0.01</rotorConstant></conversion>
  </plugin></gazebo>
  <gazebo><plugin filename="libuuv_thruster_ros_plugin.so" name="uuv_1">
    <linkName>rov/thruster_1</linkName><jointName>rov/thruster_1_joint</jointName>
    <thrusterID>1</thrusterID>
    <dynamics><type>Bessa</type><Jmsp>0.1</Jmsp><Kv1>0.2</Kv1><Kv2>0.3</Kv2><Kt>0.4</Kt>
      <Rm>0.5</Rm></dynamics>
    <conversion><type>Bessa</type><rotorConstantL>1</rotorConstantL>
      <rotorConstantR>2</rotorConstantR><deltaL>-3</deltaL><deltaR>4</deltaR></conversion>
  </plugin></gazebo>
  <gazebo><plugin filename="libuuv_fin_ros_plugin.so" name="uuv_fin0">
    <dynamics><type>Yoerger</type><alpha>0.5</alpha><beta>0.8</beta></dynamics>
    <liftdrag><type>TwoLines</type><area>0.01</area><fluid_density>1028</fluid_density><a0>0</a0>
      <alpha_stall>0.5</alpha_stall><cla>4</cla><cla_stall>-1</cla_stall><cda>0.8</cda>
      <cda_stall>0.9</cda_stall></liftdrag>
    <current_velocity_topic>current</current_velocity_topic><fin_id>0</fin_id>
    <link_name>rov/fin0</link_name><joint_name>rov/fin0_joint</joint_name>
  </plugin></gazebo>
  <gazebo><plugin filename="propulsion_ros" name="rudder"><family>fins</family>
    <fin name="rudder"><joint>fin_joint</joint><rate_limit>1</rate_limit>
      <lifting_surface><chord_length>0.2</chord_length><span_length>0.3</span_length>
      </lifting_surface></fin></plugin></gazebo>
  <gazebo><plugin filename="propulsion_ros" name="propulsion_modules">
    <curve>polynomial</curve><nozzle name="jet"><link>nozzle</link><axis>0 0 -1</axis>
      <impeller>impeller_1</impeller><width>0.1</width>
      <discharge_coefficient>0.9</discharge_coefficient></nozzle></plugin></gazebo>
  <gazebo><plugin filename="propulsion_ros" name="inverse_fam"><com>0 0 0.1</com></plugin></gazebo>
</robot>
"""


def mutate_tree(robot, rng):
    """Change one element or attribute somewhere."""
    parents = {child: parent for parent in robot.iter() for child in parent}
    element = rng.choice(list(parents))
    parent = parents[element]
    action = rng.choice(('delete', 'repeat', 'swap', 'move', 'text', 'attribute', 'tag'))
    if action == 'delete':
        parent.remove(element)
    elif action == 'repeat':
        parent.insert(rng.randrange(len(parent) + 1), copy.deepcopy(element))
    elif action == 'swap':
        other = rng.choice(list(parents))
        element.text, other.text = other.text, element.text
        element.attrib, other.attrib = other.attrib, element.attrib
    elif action == 'move':
        inside = set(element.iter())
        parent.remove(element)
        rng.choice([e for e in robot.iter() if e not in inside]).append(element)
    elif action == 'text':
        element.text = rng.choice(WORDS)
    elif action == 'attribute' and element.attrib:
        key = rng.choice(sorted(element.attrib))
        del element.attrib[key]
        if rng.random() < 0.8:
            element.set(key, rng.choice(WORDS))
    else:
        element.tag = rng.choice(('nonsense', 'name', 'link', 'joint', f'{element.tag}s'))


def mutate_text(text, rng):
    """Cut, repeat or overwrite a few characters."""
    place = rng.randrange(len(text))
    action = rng.choice(('cut', 'truncate', 'copy', 'write'))
    if action == 'truncate':
        return text[:place]
    if action == 'cut':
        return text[:place] + text[place + rng.randint(1, 20):]
    if action == 'copy':
        return text[:place] + text[place - rng.randint(1, 60):]
    return text[:place] + rng.choice('<>/"&;x0-. \0é') + text[place + 1:]


def mutated_urdf(seed):
    rng = random.Random(seed)
    if seed % 4 == 0:
        return mutate_text(URDF, rng)
    robot = ElementTree.fromstring(URDF)  # noqa: S314  our own
    for _ in range(rng.randint(1, 3)):
        mutate_tree(robot, rng)
    return ElementTree.tostring(robot, encoding='unicode')


def outcome_of_urdf(text):
    """Return the error of a description, None where every group in it works."""
    try:
        mass_from_urdf(text)
        for spec in actuators_from_urdf(text, LoopParams):
            try:
                assert_it_works(spec.family, spec.values)
            except ConfigError as error:
                return spec.locate(error)
    except SourceError as error:
        return error
    return None


def test_description_is_whole():
    specs = actuators_from_urdf(URDF, LoopParams)
    assert [(spec.name, spec.family) for spec in specs] == [
        ('boosters', 'boosters'), ('rotors', 'rotors'), ('bow', 'thrusters'), ('rudder', 'fins'),
        ('propulsion_modules', 'propulsion_modules'), ('inverse_fam', 'inverse_fam'),
        ('thrusters', 'thrusters'), ('fins', 'fins'),
    ]
    assert outcome_of_urdf(URDF) is None


@pytest.mark.parametrize('seed', SEEDS)
def test_mutated_description(seed):
    error = outcome_of_urdf(mutated_urdf(seed))
    if error is not None:
        assert_one_line(error)
        assert isinstance(error, SourceError), f'{error} names no path'


def test_mutations_reach_both_ends():
    """Not every mutation may be fatal, nor harmless, nor of the same kind."""
    errors = [outcome_of_urdf(mutated_urdf(seed)) for seed in SEEDS]
    assert 0.1 * len(SEEDS) < errors.count(None) < 0.6 * len(SEEDS)
    assert len({error.key for error in errors if error}) > 50


# Parameter files.

CONFIG = Path(__file__).parent.parent / 'config'


def flat(tree, prefix=''):
    for key, value in tree.items():
        if isinstance(value, dict):
            yield from flat(value, f'{prefix}{key}.')
        else:
            yield f'{prefix}{key}', value


def shipped():
    """Return the family and flat parameters of each block of the shipped files."""
    found = {}
    for path in sorted(CONFIG.glob('*.yaml')):
        for node, block in yaml.safe_load(path.read_text()).items():
            values = dict(flat(block['ros__parameters']))
            family = values.pop('family', node.rpartition('/')[2])
            # Some files have only what differs from a description.
            if family in FAMILIES and len(values) > len(found.get(family, {})):
                found[family] = values
    # Boosters have their values in the robot description.
    (boosters, *_) = actuators_from_urdf(URDF, LoopParams)
    found['boosters'] = dict(boosters.values)
    return found


FILES = shipped()
VALUES = (
    math.nan, math.inf, -math.inf, 1e308, -1e308, 1e30, -1e30, 1e12, 5e-324, 10**400,
    -(10**400), 2**63, -1, 0, 1, '', 'fast', 'nan', None, True, [], [[]], [None], {}, {'a': 1},
    [1.0, 'x'], [math.nan], [1] * 37, b'x', [['a']], '1 2 3',
)


def mutate_values(values, schema, rng):
    """Change one parameter."""
    key = rng.choice(sorted(values))
    action = rng.choice(('replace', 'add', 'element', 'delete', 'length', 'swap', 'misspell'))
    if action == 'replace':
        values[key] = rng.choice(VALUES)
    elif action == 'add':
        values[rng.choice(schema)] = rng.choice(VALUES)
    elif action == 'element' and isinstance(values[key], list) and values[key]:
        values[key][rng.randrange(len(values[key]))] = rng.choice(VALUES)
    elif action == 'length' and isinstance(values[key], list):
        values[key] = rng.choice((values[key] * 2, values[key][1:], [values[key]]))
    elif action == 'swap':
        other = rng.choice(sorted(values))
        values[key], values[other] = values[other], values[key]
    elif action == 'misspell':
        values[f'{key}x'] = values.pop(key)
    else:
        del values[key]


def outcome_of_values(family, seed):
    """Return the error of mutated parameters, None where they work."""
    rng = random.Random(seed)
    values = copy.deepcopy(FILES[family])
    schema = [
        parameter.key for cls in (LoopParams, FAMILIES[family].Params)
        for parameter in parameters_of(cls)
    ]
    for _ in range(rng.randint(1, 3)):
        mutate_values(values, schema, rng)
    wrong = unknown_keys(values, schema)
    if wrong:
        return wrong[0]
    try:
        assert_it_works(family, values)
    except ConfigError as error:
        return error
    return None


@pytest.mark.parametrize('family', FAMILIES)
def test_shipped_parameters_work(family):
    assert_it_works(family, FILES[family])


@pytest.mark.parametrize('seed', SEEDS)
def test_mutated_parameters(seed):
    error = outcome_of_values(list(FILES)[seed % len(FILES)], seed)
    if error is not None:
        assert_one_line(error)


def test_mutations_of_parameters_reach_both_ends():
    names = list(FILES)
    errors = [outcome_of_values(names[seed % len(names)], seed) for seed in SEEDS]
    assert 0.1 * len(SEEDS) < errors.count(None) < 0.6 * len(SEEDS)
    assert len({error.key for error in errors if error}) > 50
