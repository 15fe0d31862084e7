# SPDX-License-Identifier: Apache-2.0
"""Families of another package, known by what they declare: placed, joined, drawn and simulated."""
import csv
import re

import numpy as np
import pytest
from fake_packages import FakePackages

from propulsion_ros.drawing.drawn_blocks import drawn_blocks
from propulsion_ros.graph.family_params import AllocatorNodeParams, loop_params_of
from propulsion_ros.graph.node_config import allocator_of, build_family, read_setting
from propulsion_ros.graph.wiring import gazebo_graph, robot_graph
from propulsion_ros.gz.model import gazebo_robot
from propulsion_ros.loops.ports import GivenParameters
from propulsion_ros.models.registry import REGISTRY
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.tools import cli
from propulsion_ros.urdf.reader import actuators_from_urdf

PACKAGE = """
from propulsion_ros.models.common.facts import LIFT, THRUST_AND_TORQUE, FamilyFacts
from propulsion_ros.models.fam.fam import Fam
from propulsion_ros.models.fam.inverse_fam import InverseFam
from propulsion_ros.models.fam.propulsion_module import PropulsionModules
from propulsion_ros.models.fins.fins import Fins
from propulsion_ros.models.rotors.rotors import Rotors


class Props(Rotors):
    facts = FamilyFacts(tag='prop', force=THRUST_AND_TORQUE)


class Vanes(Fins):
    facts = FamilyFacts(
        tag='vane', force=LIFT, joint_axis='span',
        joint_limits=('min_deflection', 'max_deflection'),
    )


class Mixer(Fam):
    facts = FamilyFacts(pushes=False)


class Ducts(PropulsionModules):
    facts = FamilyFacts(commanded_by='mixer')


class Judge(InverseFam):
    facts = FamilyFacts(
        loop='estimates', pushes=False, commanded_by='mixer', shared_inputs=('wrench_command',)
    )
"""
ENTRIES = {name: f'others:{name.title()}' for name in ('props', 'vanes', 'mixer', 'ducts', 'judge')}
MASS = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>' \
       '</inertial>'
ROBOT = f"""<robot name="r">
  <link name="base_link">{MASS}</link>
  <link name="hub">{MASS}</link>
  <joint name="shaft" type="continuous">
    <parent link="base_link"/><child link="hub"/><axis xyz="0 0 1"/></joint>
  <link name="blade">{MASS}</link>
  <joint name="hinge" type="revolute">
    <parent link="base_link"/><child link="blade"/><axis xyz="0 1 0"/>
    <limit lower="-0.3" upper="0.4" effort="1" velocity="1"/></joint>
  <gazebo><plugin filename="propulsion_ros" name="props">
    <prop name="up"><joint>shaft</joint><max_thrust>9</max_thrust>
      <motor_constant>1e-5</motor_constant></prop></plugin></gazebo>
  <gazebo><plugin filename="propulsion_ros" name="vanes">
    <vane name="hinge"><joint>hinge</joint>
      <quadratic><lift_constant>2</lift_constant><drag_constant>0</drag_constant></quadratic>
    </vane></plugin></gazebo>
  <gazebo><plugin filename="propulsion_ros" name="mixer"/></gazebo>
  <gazebo><plugin filename="propulsion_ros" name="ducts"/></gazebo>
  <gazebo><plugin filename="propulsion_ros" name="judge"/></gazebo>
</robot>"""


@pytest.fixture(autouse=True)
def others(tmp_path, monkeypatch):
    """Install a package with five families, whatever of ours they share."""
    packages = FakePackages(tmp_path, monkeypatch)
    packages('others', ENTRIES, PACKAGE)
    yield
    packages.close()


@pytest.fixture
def model(tmp_path):
    """Return the file of a robot that has them all."""
    path = tmp_path / 'robot.urdf'
    path.write_text(ROBOT)
    return path


def blocks():
    return {spec.name: spec for spec in actuators_from_urdf(ROBOT, loop_params_of)}


def test_a_joint_gives_what_its_family_declares():
    values = blocks()['vanes'].values
    assert values['min_deflection'] == [-0.3]
    assert values['max_deflection'] == [0.4]
    np.testing.assert_allclose(values['span'], [0.0, 1.0, 0.0])


def test_nodes_are_joined_as_their_families_declare(model):
    nodes = {spec.name: spec for spec in robot_graph(model=model, allocated=['props']).nodes}
    assert nodes['judge'].executable == 'inverse_fam_node'
    assert {spec.executable for name, spec in nodes.items() if name in ENTRIES} == {
        'actuator_node', 'inverse_fam_node'
    }
    assert nodes['ducts'].remappings == {'~/command': 'mixer/state'}
    assert nodes['judge'].remappings == {
        '~/command': 'mixer/state', '~/wrench_command': 'mixer/wrench_command'
    }
    assert nodes['props_allocator'].executable == 'allocator_node'


def test_only_a_family_with_limits_is_allocated():
    def allocated(group):
        given = GivenParameters(group, {})
        own, setting = read_setting(given, AllocatorNodeParams, lambda own: blocks()[group])
        return allocator_of(own, setting)

    _, allocator = allocated('props')
    np.testing.assert_allclose(
        allocator.allocate(np.array([0.0, 0.0, 4.0, 0.0, 0.0, 0.0])).effort, [4.0]
    )
    known = 'boosters or rotors or thrusters or jets'
    with pytest.raises(ConfigError, match=f"expected {known}, got 'vanes'"):
        allocated('vanes')
    assert AllocatorNodeParams().method == 'bounded'


def test_pictures_are_those_that_the_families_give():
    found = drawn_blocks(list(blocks().values()), lambda name: {})
    drawn = {block.name: block.layout for block in found}
    assert drawn['mixer'] is None
    assert drawn['props'].largest == 9.0
    assert drawn['vanes'].angle_names == ('hinge',)
    assert {drawn['ducts'].plume, drawn['judge'].plume} == {'air'}


def test_gazebo_gets_joints_and_notes_by_declaration(model):
    text = re.sub(r'<gazebo><plugin[^>]*"(mixer|ducts|judge)"/></gazebo>', '', ROBOT)
    model.write_text(text)
    robot = gazebo_robot(model, 'bridge')
    assert re.findall(r'<joint_name>(\w+)</joint_name>', robot.description) == ['shaft', 'hinge']
    assert [note.partition(':')[0] for note in robot.notes[:2]] == ['props', 'vanes']
    assert 'reaction torques' in robot.notes[0]
    assert 'lift' in robot.notes[1]


def test_what_does_not_push_is_no_part_of_gazebo(model):
    outside = {spec.name for spec in gazebo_graph('rocket', True, model).nodes}
    assert outside >= {'mixer', 'judge'}
    assert not outside & {'props', 'vanes', 'ducts'}


def test_replay_passes_a_state_on_to_what_it_commands(tmp_path, model):
    config, table = tmp_path / 'nodes.yaml', tmp_path / 'wrench.csv'
    config.write_text(''.join(
        f'{name}:\n  ros__parameters: {{family: {name}, update_rate: 62.5}}\n'
        for name in ('ducts', 'mixer')
    ))
    table.write_text('stamp,wrench.force.x\n0.0,0.2\n0.16,0.2\n0.32,0.2\n')
    assert cli.main(['replay', str(config), str(table), str(tmp_path / 'out.csv')]) == 0
    with (tmp_path / 'out.csv').open(newline='') as file:
        rows = list(csv.DictReader(file))
    pushes = [float(row['ducts/wrench.force.x'] or 'nan') for row in rows]
    # The impellers have just begun to turn.
    assert pushes[-1] > 10.0 * pushes[0] > 0.0


def test_an_estimate_is_built_with_the_parameters_of_its_loop():
    family, params = build_family('judge', {'command_timeout': 0.2}, None)
    assert isinstance(family, REGISTRY['judge'])
    assert not hasattr(params, 'update_rate')
    assert params.command_timeout == 0.2
