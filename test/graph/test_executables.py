# SPDX-License-Identifier: Apache-2.0
"""Loops are made of parameters, whoever has them."""
import pytest

from fake_host import FakeHost
from propulsion_ros.graph.executables import make_actuators, make_allocator, make_estimates
from propulsion_ros.graph.share import read_description, share_directory
from propulsion_ros.loops.ports import GivenParameters
from propulsion_ros.settings.errors import ConfigError

THRUSTERS = {'family': 'thrusters', 'names': ['a', 'b'], 'rotor_constant': [1e-2]}


class NodeParameters(GivenParameters):
    """What a node has beside what is given: live parameters, and a graph with a latched text."""

    def __init__(self, node_name, given, text=''):
        super().__init__(node_name, given)
        self.followed, self.text = [], text

    def follow_live(self, classes, values, loop):
        self.followed.append((classes, values, loop.check))

    def latched_text(self, topic, timeout):
        return self.text

    def has_type(self, kind):
        return False


@pytest.fixture(scope='module')
def rov():
    return read_description(share_directory() / 'urdf' / 'rov.urdf.xacro').text


def test_parameters_alone_make_a_group():
    given = {**THRUSTERS, 'reliable_inputs': True, 'base_link': 'hull'}
    parameters = NodeParameters('group', given)
    loop = make_actuators(parameters, FakeHost())
    assert loop.family.command_names == ('a', 'b')
    outlets = [outlet for outlet in loop.outlets if outlet.topic != '~/requests']
    assert all(outlet.frame == 'hull' and outlet.lossless for outlet in outlets)
    assert loop.ports[0].lossless
    (classes, values, check), = parameters.followed
    assert values['names'] == ['a', 'b']
    with pytest.raises(ConfigError, match="unknown name 'c'"):
        check(classes[0](switched_off=('c',)), None)


@pytest.mark.parametrize('source', ['parameter', 'topic'])
def test_a_plugin_block_makes_a_group(rov, source):
    given = {'robot_description': rov} if source == 'parameter' else {'description_topic': 'text'}
    host = FakeHost()
    loop = make_actuators(
        NodeParameters('thrusters', {**given, 'command_timeout': 0.25}, rov), host
    )
    assert len(loop.family.command_names) == 8
    assert loop.frame == 'base_link'
    assert any('command_timeout' in line for line in host.said('info')) == (
        'command_timeout' in rov
    )


@pytest.mark.parametrize(('given', 'level'), [
    ([9.0], 'warn'), ([5.0, 9.0], 'info'), ([3.0, 3.0], 'info'),
])
def test_one_value_for_several_of_the_description_is_a_warning(given, level):
    rotors = ''.join(
        f'<rotor name="{name}"><link>{name}</link><max_thrust>{most}</max_thrust>'
        '<motor_constant>1e-5</motor_constant></rotor>' for name, most in (('a', 5), ('b', 7))
    )
    arms = ''.join(
        f'<link name="{name}"/><joint name="{name}_joint" type="fixed"><parent link="base_link"/>'
        f'<child link="{name}"/></joint>' for name in 'ab'
    )
    host = FakeHost()
    make_actuators(NodeParameters('rotors', {'max_thrust': given, 'robot_description': (
        f'<robot name="r"><link name="base_link"/>{arms}<gazebo><plugin name="rotors" '
        f'filename="propulsion_ros">{rotors}</plugin></gazebo></robot>'
    )}), host)
    (line,) = (line for line in host.said(level) if 'wins over' in line)
    assert line.endswith('[5.0, 7.0]' + '; to keep some, give a list' * (level == 'warn'))


def test_what_the_reader_of_a_block_noted_is_logged():
    description = (
        '<robot name="r"><link name="base_link"/><link name="hub"/>'
        '<joint name="arm" type="continuous"><parent link="base_link"/><child link="hub"/></joint>'
        '<gazebo><plugin filename="propulsion_ros" name="rotors"><rotor name="a"><link>hub</link>'
        '<max_thrust>9</max_thrust><motor_constant>1e-5</motor_constant></rotor></plugin></gazebo>'
        '</robot>'
    )
    host = FakeHost()
    make_actuators(NodeParameters('rotors', {'robot_description': description}), host)
    assert (
        "gazebo/plugin[name=rotors]/rotor[name=a]: joint 'arm' moves 'a', which stays where "
        'position 0 has it; <steering name="arm"> lets it move where that is meant, else write '
        '<joint>arm</joint> where it is its own'
    ) in host.said('info')


def test_the_allocator_of_a_group_has_its_names(rov):
    parameters = NodeParameters(
        'thrusters_allocator', {'robot_description': rov, 'plugin': 'thrusters'}
    )
    loop = make_allocator(parameters, FakeHost())
    assert len(loop.outlets[0].names) == 8
    assert len(parameters.followed) == 1


def test_estimates_are_made_of_an_estimator_alone():
    loop = make_estimates(NodeParameters('inverse_fam', {'reliable_inputs': True}), FakeHost())
    assert len(loop.family.command_names) == 14
    assert all(each.lossless for each in (*loop.ports[:3], *loop.outlets[:4]))
    with pytest.raises(ConfigError, match="this node runs 'inverse_fam', got 'thrusters'"):
        make_estimates(NodeParameters('estimates', THRUSTERS), FakeHost())


@pytest.mark.parametrize(('given', 'text'), [
    pytest.param({**THRUSTERS, 'rotor_constnt': 1.0}, "did you mean 'rotor_constant'", id='key'),
    pytest.param({'names': ['a']}, "'family': is required", id='family'),
    pytest.param({**THRUSTERS, 'adapters': ['actuators']}, 'actuator_msgs is not', id='type'),
])
def test_what_is_wrong_is_refused(given, text):
    with pytest.raises(ConfigError, match=text):
        make_actuators(NodeParameters('group', given), FakeHost())
