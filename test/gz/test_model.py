# SPDX-License-Identifier: Apache-2.0
"""The model that Gazebo gets: nothing of the robot is lost, as its own parser reads it."""
from __future__ import annotations

import re
import subprocess

import numpy as np
import pytest
import yaml
from defusedxml import ElementTree
from gazebo_tool import as_sdf, needs_sdformat
from scipy.spatial.transform import Rotation

from propulsion_ros.graph.share import read_description, share_directory
from propulsion_ros.graph.vehicles import VEHICLES
from propulsion_ros.gz.bridge import CLOCK, FORTRESS, bridge_yaml
from propulsion_ros.gz.model import gazebo_robot
from propulsion_ros.gz.sdf_elements import drag_coefficients
from propulsion_ros.loops.payloads import Kind
from propulsion_ros.models.body.mass import MassProperties
from propulsion_ros.models.body.rigid_body import BodyParams, RigidBody
from propulsion_ros.models.common.atmosphere import density
from propulsion_ros.nodes.actuator_node import ActuatorNode
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.tools import cli
from propulsion_ros.urdf.reader import mass_from_urdf
from topic_tables import topics_of

SHARE = share_directory()
PROPELLANTS = {
    # 0.3 of 12 kg, which settles in its tank.
    'rocket': MassProperties(
        3.6, np.array([0, 0, 1.15]), 0.3 * np.diag([0.85, 0.85, 0.048])
    ),
    # Gas, which fills its tank.
    'cubesat': MassProperties(0.06, np.zeros(3), 3.84e-5 * np.eye(3)),
}
BRIDGED = ['quadrotor', 'rov']
TANK = 'boosters_main_tank_propellant'
MASS = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
LINK = ('<link name="{0}"/><joint name="{1}" type="fixed"><parent link="base_link"/>'
        '<child link="{0}"/></joint>')


def source(vehicle):
    return SHARE / 'urdf' / f'{vehicle}.urdf.xacro'


def robot(vehicle, route='system', **kwargs):
    return gazebo_robot(source(vehicle), route, [SHARE / 'config' / f'{vehicle}.yaml'], **kwargs)


@pytest.mark.parametrize('route', ['system', 'bridge'])
@pytest.mark.parametrize(('options', 'name'), [
    pytest.param({}, 'rov', id='of the description'),
    pytest.param({'name': 'left'}, 'left', id='given'),
    pytest.param({'namespace': '/fleet/a'}, 'fleet_a_rov', id='behind a namespace'),
    pytest.param({'namespace': 'a', 'name': 'left'}, 'left', id='given, and a namespace'),
])
def test_topics_of_two_vehicles_differ_by_their_names(route, options, name):
    """Two of one description took each other's sensors for their own."""
    made = robot('rov', route, **options)
    tree = ElementTree.fromstring(made.description)
    assert made.name == tree.get('name') == name
    assert all(topic.gz_topic.startswith(f'/model/{name}/') for topic in made.topics)
    sensors = [tag.text for tag in tree.findall('.//sensor/topic')]
    assert sensors == [f'/model/{name}/imu', f'/model/{name}/air_pressure']


def mass_of(link):
    """Return mass, centre of mass and inertia of a link of SDF, in its axes."""
    inertial = link.find('inertial')
    pose = [float(x) for x in inertial.findtext('pose', '0 0 0 0 0 0').split()]
    turn = Rotation.from_euler('xyz', pose[3:]).as_matrix()
    value = {child.tag: float(child.text) for child in inertial.find('inertia')}
    tensor = np.array([[value[f'i{min(a, b)}{max(a, b)}'] for b in 'xyz'] for a in 'xyz'])
    return MassProperties(
        float(inertial.findtext('mass')), np.array(pose[:3]), turn @ tensor @ turn.T
    )


@needs_sdformat
@pytest.mark.parametrize('vehicle', VEHICLES)
def test_gazebo_gets_one_link_with_the_mass_at_the_start(vehicle, tmp_path):
    """Boosters on massless gimbals included, which Gazebo drops from the plain description."""
    text = read_description(source(vehicle)).text
    base_link, dry = mass_from_urdf(text)
    model = as_sdf(robot(vehicle).description, tmp_path)
    links = model.findall('link')
    assert [link.get('name') for link in links] == [base_link]
    assert not model.findall('joint')
    propellant = [PROPELLANTS[vehicle]] if vehicle in PROPELLANTS else []
    expected, found = MassProperties.total([dry, *propellant]), mass_of(links[0])
    assert found.mass == pytest.approx(expected.mass, rel=1e-12)
    np.testing.assert_allclose(found.com, expected.com, atol=1e-6)
    np.testing.assert_allclose(found.inertia, expected.inertia, rtol=1e-5, atol=1e-7)


@needs_sdformat
def test_gazebo_drops_the_boosters_of_the_plain_description(tmp_path):
    """What the fixed joints are for: 33 kg of airframe and the fins are left, or nothing at all."""
    try:
        model = as_sdf(read_description(source('rocket')).text, tmp_path)
    except subprocess.CalledProcessError:
        # sdformat 14 refuses the description where 12 leaves the boosters out.
        return
    assert sum(mass_of(link).mass for link in model.findall('link')) == pytest.approx(34.0)


@needs_sdformat
@pytest.mark.parametrize('vehicle', BRIDGED)
def test_bridge_keeps_every_joint_that_gazebo_drives(vehicle, tmp_path):
    made = robot(vehicle, 'bridge')
    model = as_sdf(made.description, tmp_path)
    joints = {joint.get('name') for joint in model.findall('joint')}
    driven = {plugin.findtext('joint_name') for plugin in model.findall('plugin')} - {None}
    assert driven == joints
    _, dry = mass_from_urdf(read_description(source(vehicle)).text)
    total = sum(mass_of(link).mass for link in model.findall('link'))
    assert total == pytest.approx(dry.mass, rel=1e-9)


def plugins(made):
    """Return the systems of a model by class, each with its tags."""
    found = {}
    for plugin in ElementTree.fromstring(made.description).iterfind('gazebo/plugin'):
        name = plugin.get('name').rpartition('::')[2]
        found.setdefault(name, []).append({child.tag: child.text for child in plugin})
    return found


@pytest.mark.parametrize('vehicle', VEHICLES)
def test_plugin_blocks_give_way_to_one_system(vehicle):
    made = robot(vehicle, namespace='two')
    assert 'filename="propulsion_ros"' not in made.description
    [system] = plugins(made)['PythonSystemLoader']
    assert system == {
        'module_name': 'propulsion_ros.gz.system', 'urdf_file': str(source(vehicle)),
        'params_file': str(SHARE / 'config' / f'{vehicle}.yaml'), 'namespace': 'two',
    }
    [odometry] = plugins(made)['OdometryPublisher']
    # Nodes refuse the twist of another frame than their own.
    assert odometry['robot_base_frame'] == ('body' if vehicle == 'freeflyer' else 'base_link')
    assert odometry['dimensions'] == '3'


@pytest.mark.parametrize('route', ['system', 'bridge'])
@pytest.mark.parametrize('vehicle', BRIDGED)
def test_bridge_file_has_topics_of_gazebo_and_of_the_vehicle(vehicle, route, graph):
    made = robot(vehicle, route)
    rows = yaml.safe_load(bridge_yaml(made.topics))
    listed = topics_of(vehicle)
    known = dict.fromkeys(
        (f'/model/{vehicle}/{topic}' for topic in ('odometry', 'imu', 'air_pressure')), 'vehicle'
    )
    known.update({p['topic']: 'vehicle' for p in plugins(made).get('JointStatePublisher', [])})
    for plugin in plugins(made).get('Thruster', []):
        known[f'/model/{plugin["namespace"]}/joint/{plugin["joint_name"]}/cmd_thrust'] = 'Double'
    for plugin in plugins(made).get('JointPositionController', []):
        known[plugin['topic']] = 'Double'
    assert {row['gz_topic_name'] for row in rows} == set(known)
    spoken = set()
    if route == 'bridge':
        for block in {row['ros_topic_name'].split('/')[0] for row in rows} - {'vehicle'}:
            node = graph.add(ActuatorNode, block, {
                'robot_description': read_description(source(vehicle)).text,
                'publish_numbers': True,
            })
            spoken |= {
                node.resolve_topic_name(outlet.topic) for outlet in node.loop.outlets
                if outlet.kind == Kind.FLOAT
            }
    for row in rows:
        topic = f'/{row["ros_topic_name"]}'
        if row['direction'] == 'GZ_TO_ROS':
            assert listed[topic] == row['ros_type_name'].replace('/msg/', '/')
        else:
            assert (row['ros_type_name'], row['gz_type_name']) == (
                'std_msgs/msg/Float64', 'gz.msgs.Double'
            )
            assert topic in spoken
            spoken.discard(topic)
    # A fin has no thrust along its joint.
    assert all(re.match(r'/fins/thrusts/', topic) for topic in spoken)


def test_clock_has_a_bridge_of_its_own():
    assert yaml.safe_load(bridge_yaml([CLOCK])) == [{
        'ros_topic_name': '/clock', 'gz_topic_name': '/clock',
        'ros_type_name': 'rosgraph_msgs/msg/Clock', 'gz_type_name': 'gz.msgs.Clock',
        'direction': 'GZ_TO_ROS',
    }]


def test_fortress_has_its_own_names():
    made = robot('quadrotor', 'bridge', release=FORTRESS)
    assert '<ignition_frame_id>base_link</ignition_frame_id>' in made.description
    types = {row['gz_type_name'] for row in yaml.safe_load(bridge_yaml(made.topics, FORTRESS))}
    assert all(name.startswith('ignition.msgs.') for name in types)


def test_system_fixes_the_joints_of_actuators_and_no_other(tmp_path):
    """A rotor has the name of a joint that is not its own; two joints follow its own."""
    joint = (f'<link name="{{0}}_link">{MASS}</link>'
             '<joint name="{0}" type="continuous"><parent link="body"/>'
             '<child link="{0}_link"/><axis xyz="0 0 1"/>{1}</joint>')
    path = tmp_path / 'robot.urdf'
    path.write_text(
        f'<robot name="r"><link name="body">{MASS}</link>'
        + joint.format('arm', '') + joint.format('shaft', '')
        + joint.format('last', '<mimic joint="next"/>')
        + joint.format('next', '<mimic joint="shaft"/>')
        + '<gazebo><plugin filename="propulsion_ros" name="rotors"><rotor name="arm">'
        '<joint>shaft</joint><max_thrust>5</max_thrust><motor_constant>1e-5</motor_constant>'
        '</rotor></plugin></gazebo></robot>'
    )
    made = ElementTree.fromstring(gazebo_robot(path).description)
    assert {j.get('name'): j.get('type') for j in made.findall('joint')} == {
        'arm': 'continuous', 'shaft': 'fixed', 'next': 'fixed', 'last': 'fixed',
    }


def test_link_without_mass_stays_on_a_fixed_joint():
    """Such as the impellers of the free-flyer, which Gazebo would drop with a warning."""
    made = ElementTree.fromstring(robot('freeflyer').description)
    kinds = {joint.get('name'): joint.get('type') for joint in made.findall('joint')}
    assert kinds['impeller_1'] == kinds['impeller_2'] == 'fixed'


def test_propellers_turn_against_their_reaction_torques():
    """All one way they would turn the body as they start."""
    [*thrusters] = plugins(robot('quadrotor', 'bridge'))['Thruster']
    turns = {each['joint_name']: int(each['thrust_coefficient']) for each in thrusters}
    text = read_description(source('quadrotor')).text
    given = {
        rotor.get('name'): int(rotor.findtext('direction'))
        for rotor in ElementTree.fromstring(text).iter('rotor')
    }
    assert {name.removesuffix('_joint'): turn for name, turn in turns.items()} == given
    assert sum(turns.values()) == 0


@pytest.mark.parametrize(('vehicle', 'height'), [
    pytest.param('quadrotor', 0.03, id='half a box'),
    pytest.param('freeflyer', 0.1524, id='nozzles'),
])
def test_vehicle_stands_on_its_lowest_shape(vehicle, height):
    assert robot(vehicle).clearance == pytest.approx(height, abs=1e-9)


def test_bridge_refuses_actuators_without_links(tmp_path):
    """Such as those of Astrobee, which are there without a tag."""
    path = tmp_path / 'robot.urdf'
    path.write_text(f'<robot name="r"><link name="body">{MASS}</link>'
                    '<gazebo><plugin filename="propulsion_ros" '
                    'name="propulsion_modules"/></gazebo></robot>')
    assert gazebo_robot(path, 'system').topics
    with pytest.raises(ConfigError, match="actuator 'nozzle_1': is carried by no joint"):
        gazebo_robot(path, 'bridge')


@pytest.mark.parametrize(('vehicle', 'route', 'old', 'new', 'message'), [
    pytest.param('rocket', 'bridge', '', '', 'robot/link[name=booster_1_ring]: expected an <inert',
                 id='massless gimbal'),
    pytest.param('freeflyer', 'bridge', '', '',
                 "actuator 'nozzle_1': is carried by the fixed joint 'nozzle_1_joint'",
                 id='fixed joint'),
    pytest.param('quadrotor', 'bridge', '<axis xyz="0 0 1"/>', '<axis xyz="0 0 -1"/>',
                 "actuator 'front_left': pushes along [0.0, 0.0, 1.0] of its link, but its joint",
                 id='axis turned over'),
    pytest.param('rov', 'system', '<robot name="rov"', '<robot name="my rov"',
                 "topic '/model/my rov/odometry': Gazebo takes no space", id='robot'),
    pytest.param('quadrotor', 'bridge', '<rotor name="front_left"', '<rotor name="front-left"',
                 "topic 'rotors/thrusts/front-left': ROS takes letters", id='actuator'),
    pytest.param('rocket', 'system', '</robot>', f'{LINK.format(TANK, TANK)}</robot>',
                 f"robot/link[name={TANK}]: is the name that a tank's", id='propellant'),
    pytest.param('rocket', 'system', '</robot>', f'{LINK.format("l", f"{TANK}_joint")}</robot>',
                 f'robot/joint[name={TANK}_joint]: is the name', id='its joint'),
])
def test_what_gazebo_and_its_bridge_cannot_have_is_refused(
    vehicle, route, old, new, message, tmp_path
):
    text = read_description(source(vehicle)).text
    assert old in text
    path = tmp_path / 'robot.urdf'
    path.write_text(text.replace(old, new))
    with pytest.raises(ConfigError) as caught:
        gazebo_robot(path, route, [SHARE / 'config' / f'{vehicle}.yaml'])
    assert str(caught.value).startswith(message)
    assert '\n' not in str(caught.value)


def test_system_is_not_for_fortress():
    with pytest.raises(ConfigError, match="'system' needs Harmonic or later"):
        robot('quadrotor', release=FORTRESS)


def test_drag_is_that_of_the_simulated_body():
    """Along and about each axis, centre of pressure included."""
    params = BodyParams(
        drag_area=[0.2, 0.3, 0.4], centre_of_pressure=[0.1, -0.2, 1.6], angular_drag=0.01,
        angular_damping=[0.0, 0.5, 0.7], fluid_density=2.0, gravity=0.0, ground=False,
    )
    coefficients = drag_coefficients(params)
    body = RigidBody(params)
    for axis, letter in enumerate('UVW'):
        motion = np.zeros(3)
        motion[axis] = 5.0
        force, torque = body._fluid(2.0, np.eye(3), motion, np.zeros(3), np.zeros(3), None, 0.0)
        theirs = [coefficients.get(f'{row}{letter}abs{letter}', 0.0) * 25.0 for row in 'xyzkmn']
        np.testing.assert_allclose(theirs, [*force, *torque], atol=1e-12)
    for axis, (row, letter) in enumerate(zip('kmn', 'PQR', strict=True)):
        rate = np.zeros(3)
        rate[axis] = 3.0
        _, torque = body._fluid(2.0, np.eye(3), np.zeros(3), rate, np.zeros(3), None, 0.0)
        quadratic = coefficients[f'{row}{letter}abs{letter}'] * 9.0
        linear = coefficients.get(row + letter, 0.0) * 3.0
        assert quadratic + linear == pytest.approx(torque[axis])


def test_drag_is_that_of_the_day_and_at_rest():
    plain = {'drag_area': 0.2, 'site_altitude': 800.0, 'temperature_offset': 20.0}
    ours = drag_coefficients(BodyParams(**plain, drag_over_mach='0.1 0.5 1 2'))
    assert ours['xUabsU'] == pytest.approx(-0.5 * float(density(800.0, 20.0)) * 0.1)


@pytest.mark.parametrize(('settings', 'left_out'), [
    ('body.rail_length: 3.0', 'no launch rail: body.rail_length'),
    ('body.drag_over_mach: 0.1 0.5 1 2, body.drag_area: [0.2]',
     'drag as at rest, at any speed: body.drag_over_mach'),
    ('body.fluid_density: 1000.0, body.ground: false, body.hulls.names: [a]',
     'no buoyancy of body.hulls, and drag as under water'),
])
def test_what_the_world_does_not_do_to_the_body_is_named(tmp_path, settings, left_out):
    path = tmp_path / 'body.yaml'
    path.write_text(f'vehicle:\n  ros__parameters: {{{settings}}}\n')
    assert left_out in gazebo_robot(source('quadrotor'), 'system', [path]).notes


def test_description_has_the_drag_of_the_settings():
    root = ElementTree.fromstring(robot('rov').description)
    [system] = [p for p in root.iter('plugin') if p.get('name', '').endswith('Hydrodynamics')]
    assert system.findtext('link_name') == 'base_link'
    assert float(system.findtext('xUabsU')) < 0.0


TILTED = """<robot name="r"><link name="base"><inertial><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="pod">{}</link>
  <joint name="azimuth" type="continuous"><parent link="base"/><child link="pod"/></joint>
  <gazebo><plugin filename="propulsion_ros" name="jets">
    <jet name="a"><link>pod</link><axis>1 0 0</axis><max_thrust>1</max_thrust></jet>
    <steering name="azimuth"><mode>servo</mode></steering></plugin></gazebo></robot>"""


def test_joint_that_turns_actuators_stays_movable(tmp_path):
    path = tmp_path / 'r.urdf'
    inertial = TILTED.partition('<link name="base">')[2].partition('</link>')[0]
    path.write_text(TILTED.format(inertial))
    root = ElementTree.fromstring(gazebo_robot(path, 'system').description)
    assert root.find('joint[@name="azimuth"]').get('type') == 'continuous'
    path.write_text(TILTED.format(''))
    with pytest.raises(ConfigError, match=r'link\[name=pod\]: expected an <inertial>: joint'):
        gazebo_robot(path, 'system')


def test_joint_turns_as_fast_as_its_description_allows(tmp_path):
    path, text = tmp_path / 'rov.urdf', read_description(source('rov')).text
    path.write_text(
        text.replace('velocity="5"', 'velocity="3"', 1).replace('velocity="5"', 'velocity="0"')
    )
    root = ElementTree.fromstring(gazebo_robot(path, 'bridge').description)
    limits = {each.findtext('joint_name'): each.findtext('cmd_max') for each in root.iter('plugin')}
    assert (limits['fin_port'], limits['fin_starboard']) == ('3.0', '10.0')


def test_robot_in_water_has_the_volume_that_it_displaces():
    root = ElementTree.fromstring(robot('rov').description)
    [collision] = root.findall('link/collision')
    edges = [float(x) for x in collision.find('geometry/box').get('size').split()]
    assert np.prod(edges) == pytest.approx(0.011284)
    assert collision.find('origin').get('xyz') == '0.0 0.0 0.01'


def test_command_writes_three_files(tmp_path, capsys):
    assert cli.main([
        'gazebo', str(source('rov')), '--output', str(tmp_path / 'new' / 'rov'),
        '--route', 'bridge',
    ]) == 0
    said = capsys.readouterr()
    names = ['gazebo.urdf', 'bridge.yaml', 'clock_bridge.yaml']
    assert said.out.splitlines() == [str(tmp_path / 'new' / 'rov' / name) for name in names]
    assert 'fins: without their lift' in said.err
    for name in names:
        assert (tmp_path / 'new' / 'rov' / name).stat().st_size


@pytest.mark.parametrize(('model', 'message'), [
    pytest.param('/nowhere.urdf', '/nowhere.urdf: cannot be read', id='no file'),
    pytest.param(None, 'booster_1_ring', id='cannot be bridged'),
])
def test_command_says_what_is_wrong_in_one_line(model, message, tmp_path, capsys):
    model = model or str(source('rocket'))
    assert cli.main(['gazebo', model, '--output', str(tmp_path), '--route', 'bridge']) == 1
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith('propulsion_ros gazebo: ')
    assert message in line
    assert not list(tmp_path.iterdir())
