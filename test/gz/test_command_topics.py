# SPDX-License-Identifier: Apache-2.0
"""Commands of autopilots, as they come over gz-transport, with a fake of its Python."""
from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from defusedxml import ElementTree
from sensor_msgs.msg import JointState

from fake_gz import Element, Hinge, worlds
from propulsion_ros.gz import command_topics
from propulsion_ros.gz.system import ActuatorSystem
from propulsion_ros.messages import qos
from propulsion_ros.settings.errors import ConfigError

ROTOR = ('<rotor name="{0}"><link>{0}</link><max_thrust>9</max_thrust>'
         '<motor_constant>1e-5</motor_constant></rotor>')
ROTORS = ('<actuators name="rotors"><command_interface>velocity</command_interface>'
          f'{ROTOR.format("left")}{ROTOR.format("right")}</actuators>')
POD = ('<actuators name="thrusters"><command_interface>effort</command_interface><thruster '
       'name="pod"><link>pod</link><dynamics>zero_order</dynamics><rotor_constant>0.01'
       '</rotor_constant></thruster></actuators>')
LINKS = {'frame': (0, 0, 0), 'left': (0, 1, 0), 'right': (0, -1, 0), 'pod': (0, 0, -1)}
HINGES = [Hinge(f'{name}_joint', 'FIXED', 'frame', name) for name in list(LINKS)[1:]]


class Transport:
    """gz.transport13 and gz.msgs10: a message is what its bytes are here."""

    def __init__(self, monkeypatch):
        self.callbacks, self.publishers = {}, 1
        gz, transport, msgs = (ModuleType(f'gz{rest}') for rest in ('', '.transport13', '.msgs10'))
        transport.Node, transport.SubscribeOptions = lambda: self, lambda: None
        for kind in ('Actuators', 'Double'):
            module = ModuleType(f'gz.msgs10.{kind.lower()}_pb2')
            setattr(module, kind, SimpleNamespace(FromString=lambda data: data))
            monkeypatch.setitem(sys.modules, module.__name__, module)
        gz.__path__ = []
        for module in (gz, transport, msgs):
            monkeypatch.setitem(sys.modules, module.__name__, module)
        parts = [SimpleNamespace(name=name) for name in ('sim8', 'transport13', 'msgs10')]
        monkeypatch.setattr(
            command_topics, 'pkgutil', SimpleNamespace(iter_modules=lambda path: parts)
        )

    def subscribe_raw(self, topic, callback, kind, options):
        self.callbacks[topic] = callback, kind
        return '//' not in topic

    def topic_info(self, topic):
        return [None] * self.publishers, []

    def send(self, topic, **fields):
        self.callbacks[topic][0](SimpleNamespace(**fields), None)


@pytest.fixture
def make_world(monkeypatch):
    """Return what makes worlds with a model that has rotors and a thruster."""
    with worlds(monkeypatch, ActuatorSystem) as make:
        yield lambda inside: make(LINKS, Element([
            ElementTree.fromstring(f'<plugin>{ROTORS}{POD}{inside}</plugin>')
        ], 0), hinges=HINGES)


def test_speeds_act_in_the_next_step(make_world, monkeypatch):
    """As the bridge of PX4 sends them, which has outputs for more motors than there are."""
    transport = Transport(monkeypatch)
    world = make_world('<command_topic of="rotors"/>')
    assert transport.callbacks['/lander/command/motor_speed'][1] == 'gz.msgs.Actuators'
    world.step(10)
    for speeds in ([100.0, 200.0, 0.0, 0.0], [300.0, 500.0]):
        transport.send('/lander/command/motor_speed', velocity=speeds, position=[])
        world.step()
        expected = 1e-5 * np.square(speeds[:2])
        wrench = world['frame'].wrenches[-1]
        np.testing.assert_allclose(wrench[[2, 3]], [expected.sum(), expected @ [1, -1]], atol=1e-9)


def test_number_commands_one_actuator(make_world, monkeypatch):
    transport = Transport(monkeypatch)
    topic = '/model/vessel/joint/pod_joint/cmd_thrust'
    world = make_world(f'<command_topic of="pod">{topic}</command_topic>')
    assert transport.callbacks[topic][1] == 'gz.msgs.Double'
    world.step()
    transport.send(topic, data=7.0)
    world.step()
    np.testing.assert_allclose(world['frame'].wrenches[-1][:3], [7.0, 0, 0], atol=1e-9)


def test_too_few_speeds_are_refused(make_world, monkeypatch, capfd):
    transport = Transport(monkeypatch)
    world = make_world('<command_topic of="rotors">/speeds</command_topic>')
    world.step()
    transport.send('/speeds', velocity=[100.0])
    world.step()
    assert not world['frame'].wrenches[-1].any()
    assert '/speeds refused: expected 2 of velocity, got 1' in capfd.readouterr().err


def test_two_publishers_of_a_command_are_one_line(graph, make_world, monkeypatch, capfd):
    Transport(monkeypatch)
    world = make_world('<command_topic of="rotors">/speeds</command_topic>')
    world.step()
    graph.talk(JointState, 'rotors/command', qos.COMMAND)
    world.step(3000)
    lines = [line for line in capfd.readouterr().err.splitlines() if 'publishers of' in line]
    assert len(lines) == 1
    assert '2 publishers of /rotors/command: each command holds until' in lines[0]


@pytest.mark.parametrize(('tag', 'message'), [
    pytest.param('<command_topic>/a</command_topic>', 'expected of="..." with a group or an '
                 "actuator, got '', known: rotors, thrusters, left, right, pod", id='of nothing'),
    pytest.param('<command_topic of="rotor">/a</command_topic>', "did you mean 'rotors'?",
                 id='misspelt'),
    pytest.param('<command_topic of="pod"/>', 'plugin/command_topic[of=pod]: expected a topic',
                 id='no topic'),
    pytest.param('<command_topic of="left">/a</command_topic>' * 2,
                 'plugin/command_topic[of=left]: this name or this topic is given twice',
                 id='twice'),
    pytest.param('<command_topic of="left">/a</command_topic><command_topic of="right">/a'
                 '</command_topic>', 'this name or this topic is given twice', id='one topic'),
    pytest.param('<command_topic of="thrusters"/>', "gz.msgs.Actuators has velocity or position, "
                 "and 'thrusters' takes effort; set <command_interface>velocity", id='effort'),
    pytest.param('<command_topic of="pod">/a//b</command_topic>',
                 "topic '/a//b': gz-transport refuses this name", id='topic'),
])
def test_wrong_topic_is_refused(make_world, monkeypatch, tag, message):
    Transport(monkeypatch)
    with pytest.raises(ConfigError) as caught:
        make_world(tag)
    assert message in str(caught.value)


@pytest.mark.parametrize(('module', 'reason'), [
    ('gz', 'import of gz halted'), ('gz.msgs10.actuators_pb2', 'import of gz.msgs10.act'),
])
def test_missing_python_is_named(make_world, monkeypatch, module, reason):
    Transport(monkeypatch)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ConfigError, match=rf'plugin/command_topic: needs gz\.\w+, .*{reason}'):
        make_world('<command_topic of="rotors"/>')
