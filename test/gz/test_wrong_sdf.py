# SPDX-License-Identifier: Apache-2.0
"""Wrong plugins of an SDF: each is one line with model, file, place and remedy, none is silent."""
from __future__ import annotations

import pytest
from defusedxml import ElementTree
from sensor_msgs.msg import JointState

from fake_gz import Element, Hinge, World, worlds
from propulsion_ros.gz.system import get_system

LINKS = {'frame': (0, 0, 0), 'arm': (1, 0, 0), 'prop': (1, 0, 0.1), 'nested::foot': (0, 0, -1)}
HINGES = [
    Hinge('elbow', 'REVOLUTE', 'frame', 'arm', (0, 1, 0)),
    Hinge('shaft', 'CONTINUOUS', 'arm', 'prop', (0, 0, 1)),
]
GOOD = ('<max_thrust>9</max_thrust><motor_constant>1e-5</motor_constant>'
        '<moment_constant>0.02</moment_constant>')
MODULE = '<module_name>propulsion_ros.gz.system</module_name>'
ROBOT = """<robot name="r"><link name="frame"/><link name="arm"/>
  <link name="prop"><inertial><mass value="1"/></inertial></link>
  <joint name="elbow" type="{kind}"><parent link="frame"/><child link="arm"/>
    <origin xyz="{x} 0 0"/><axis xyz="0 1 0"/></joint>
  <joint name="shaft" type="continuous"><parent link="arm"/><child link="prop"/>
    <origin xyz="0 0 0.1"/><axis xyz="0 0 1"/></joint>
  <gazebo><plugin filename="propulsion_ros" name="rotors"><rotor name="a"><joint>shaft</joint>{good}
  </rotor></plugin></gazebo></robot>"""


def block(inside, name='rotors'):
    """Return a block."""
    return f'<actuators name="{name}">{inside}</actuators>'


def rotor(inside, name='a', good=GOOD):
    """Return a block of one rotor."""
    return block(f'<rotor name="{name}">{inside}{good}</rotor>')


WRONG = [
    ('nothing', '', 'plugin: expected <actuators name="FAMILY">'),
    ('unknown tag', '<actuator name="rotors"/>', "plugin/actuator: unknown tag, did you mean "
     "'actuators'?"),
    ('urdf of another', '<urdf>r.urdf</urdf>', 'plugin/urdf: unknown tag'),
    ('two urdf files', '<urdf_file>r.urdf</urdf_file><urdf_file>b.urdf</urdf_file>',
     'plugin/urdf_file: is given twice, remove one'),
    ('two namespaces', '<namespace>a</namespace><namespace>b</namespace>',
     'plugin/namespace: is given twice, remove one'),
    ('two modules', MODULE, 'plugin/module_name: is given twice, remove one'),
    ('no urdf', '<urdf_file>nowhere.urdf</urdf_file>', 'nowhere.urdf: cannot be read'),
    ('no model', '<urdf_file>model://nowhere/a.urdf</urdf_file>',
     'model://nowhere/a.urdf: is in no folder of GZ_SIM_RESOURCE_PATH'),
    ('no package', '<urdf_file>package://nowhere/a.urdf</urdf_file>',
     "package 'nowhere' is not installed"),
    ('an sdf', '<urdf_file>an.sdf</urdf_file>', 'an.sdf: sdf: expected <robot> as the root'),
    ('block of the urdf', '<urdf_file>wrong.urdf</urdf_file>',
     'wrong.urdf: gazebo/plugin[name=rotors]/rotor[name=a]/motor_konstant: unknown tag'),
    ('no settings', rotor('<link>prop</link>') + '<params_file>nowhere.yaml</params_file>',
     'nowhere.yaml: cannot be read'),
    ('settings that are none', rotor('<link>prop</link>') + '<params_file>r.urdf</params_file>',
     'expected a parameter file, got XML'),
    ('settings of no node', rotor('<link>prop</link>') + '<params_file>other.yaml</params_file>',
     "other.yaml: '/**/rotor' is no node here, did you mean '/rotors'?"),
    ('two blocks of a name', rotor('<link>prop</link>') + rotor('<link>arm</link>'),
     'plugin/actuators[name=rotors]: is named twice, rename one'),
    ('a block of the description', '<urdf_file>r.urdf</urdf_file>' + rotor('<link>prop</link>'),
     'the robot description has a block of this name too, remove one'),
    ('link without a joint', rotor('<link>nested::foot</link>'),
     "floating joint 'nested::foot is free' lies between 'nested::foot' and base_link 'frame'"),
    ('two base_links', rotor('<link>prop</link>') + block(
        '<base_link>arm</base_link><fin name="f"><link>prop</link></fin>', 'fins'), 'fin[name=f]'),
    ('link behind a hinge', '<urdf_file>moved.urdf</urdf_file>',
     "moved.urdf: link 'hand': the model has no such link, which revolute joint 'wrist' moves; it "
     'has: frame, arm, prop, nested::foot'),
    ('allocators alone', block('', 'inverse_fam'),
     'plugin/actuators: expected a block whose actuators push'),
]


@pytest.fixture
def load(monkeypatch, tmp_path, capfd):
    """Return what loads a plugin, and what it has printed."""
    (tmp_path / 'r.urdf').write_text(ROBOT.format(kind='revolute', x=1, good=GOOD))
    (tmp_path / 'wrong.urdf').write_text(
        (tmp_path / 'r.urdf').read_text().replace('motor_constant', 'motor_konstant')
    )
    (tmp_path / 'far.urdf').write_text(ROBOT.format(kind='revolute', x=1.1, good=GOOD))
    moved = ROBOT.replace('"prop"', '"hand"').replace('"shaft" type="continuous"',
                                                      '"wrist" type="revolute"')
    moved = moved.replace('<axis xyz="0 0 1"/>', '<axis xyz="1 0 0"/>').replace('shaft', 'wrist')
    (tmp_path / 'moved.urdf').write_text(moved.format(
        kind='revolute', x=1, good=f'<axis>0 0 1</axis>{GOOD}'
    ))
    (tmp_path / 'an.sdf').write_text('<sdf version="1.9"/>')
    (tmp_path / 'other.yaml').write_text('/**/rotor: {ros__parameters: {update_rate: 100.0}}')

    def load(inside, **options):
        plugin = ElementTree.fromstring(f'<plugin>{MODULE}{inside}</plugin>')
        for child in plugin:
            child.set('in_file', str(tmp_path / 'model.sdf'))
        return make(LINKS, Element([plugin], 0), hinges=HINGES, **options)

    def printed():
        return [line for line in capfd.readouterr().err.splitlines()
                if '[ERROR]' in line or '[WARN]' in line]
    with worlds(monkeypatch, get_system) as make:
        yield load, printed


@pytest.mark.parametrize(('inside', 'message'), [
    pytest.param(inside, message, id=name) for name, inside, message in WRONG
])
def test_wrong_plugin_is_one_line_with_model_and_file(load, tmp_path, inside, message):
    make, printed = load
    world = make(inside)
    world.step(2)
    world.reset()
    world.system.shutdown()
    (line,) = printed()
    assert f"model 'lander' in {tmp_path}/model.sdf: the actuators do not act: " in line
    assert message in line.replace(f'{tmp_path}/', '')
    assert not line.endswith('a share')


def test_static_model_is_refused(load):
    make, printed = load
    make(rotor('<link>prop</link>'), is_static=True)
    (line,) = printed()
    assert 'model: is static, so that no force moves it; remove <static>' in line


def test_another_place_than_the_described_one_is_a_warning(load, tmp_path):
    make, printed = load
    make('<urdf_file>far.urdf</urdf_file>')
    (line,) = printed()
    assert f"model 'lander' in {tmp_path}/model.sdf: " in line
    assert (
        "'a' is at (1, 0, 0.1) m in the world and at (1.1, 0, 0.1) m in the robot description, "
        'turned by 0 degrees; the place in the world is used'
    ) in line


def test_second_plugin_and_second_node_are_refused(load):
    """Of one model, and of two models of a world that have one namespace."""
    make, printed = load
    world = make(rotor('<link>prop</link>'))
    second = get_system()
    second.configure(World.MODEL, Element.plugin(
        actuators=ElementTree.fromstring(rotor('<link>arm</link>'))
    ), world, None)
    (line,) = printed()
    assert "plugin: the model has a second one, remove one: model 'lander' in" in line
    make(rotor('<link>arm</link>'))
    (line,) = printed()
    assert 'node /rotors: another model has one of this name; give each a <namespace>' in line


def test_model_that_is_pushed_and_never_moves_is_reported_once(load):
    make, printed = load
    world = make(block(
        f'<command_timeout>0</command_timeout><rotor name="a"><link>prop</link>{GOOD}</rotor>'
    ))
    world.step()
    (node,) = world.system._system.host.nodes
    node.loop.ports[0].take(JointState(name=['a'], effort=[5.0]))
    world.step(900)
    assert not printed()
    world.step(1200)
    (line,) = printed()
    assert 'has not moved in the first second in which it was pushed' in line
    assert 'add it' in line


def test_sensor_without_its_system_is_reported_once(load):
    make, printed = load
    world = make(rotor('<link>prop</link>'))
    world.sensors = [('imu_sensor', None), ('navsat', '/fix'), ('camera', None)]
    world.step(20)
    (line,) = printed()
    assert line.endswith(
        "sensor 'imu_sensor' of link 'frame' publishes nothing, because the world has no <plugin "
        'filename="gz-sim-imu-system" name="gz::sim::systems::Imu"/>, add it'
    )
