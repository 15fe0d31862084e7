# SPDX-License-Identifier: Apache-2.0
"""What was recorded live is played into fresh nodes, over real DDS, and gives the same bytes."""
from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
import rclpy
import yaml
from geometry_msgs.msg import WrenchStamped
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool, String

from benchmarks.wire import Wire
from parts import few_of
from propulsion_ros.messages import qos
from propulsion_ros.messages.fields import doubles, ns_to_stamp
from propulsion_ros.nodes.actuator_node import ActuatorNode
from propulsion_ros.replay.bags import BagReader, BagWriter, Recorded
from propulsion_ros.replay.player import Player
from propulsion_ros.replay.recorder import Recorder
from propulsion_ros.settings.names import class_of, full_name, type_name
from propulsion_ros.tools import cli
from ros_graph import LIMIT, close

pytest.importorskip('rosbags')

ROTORS = {
    'family': 'rotors', 'names': ['a', 'b'], 'max_thrust': [5.0, 5.0],
    'motor_constant': [1e-5, 1e-5], 'time_constant_up': 0.05,
    'step_on': 'stamp', 'command_timeout': 0.1, 'reliable_inputs': True,
}
OUTPUTS = ('/rotors/wrench', '/rotors/state')
INPUT = '/rotors/command'
LISTEN = """
import rclpy
from std_msgs.msg import String

rclpy.init(args=[])
node = rclpy.create_node('listener')
node.create_subscription(String, 'said', print, 10)
rclpy.spin(node)
"""
COUNT = 200  # two seconds: what goes back by less than one is late, not a jump


def fly(graph, write):
    """Command a live node, at stamps that lie where they like, with a recorder beside it."""
    graph.add(ActuatorNode, 'rotors', ROTORS)
    publisher = graph.talk(JointState, INPUT, qos.COMMAND)
    recorder = record(graph, write)
    rng = np.random.default_rng(1)
    stamp = 10**18
    graph.until(lambda: {INPUT, *OUTPUTS} <= recorder.topics, 'the recorder')
    graph.until(lambda: publisher.get_subscription_count() >= 2, 'both listeners')
    for k in range(COUNT):
        stamp += int(rng.integers(1_000_000, 20_000_000))
        message = JointState(name=['a', 'b'], effort=doubles(rng.uniform(0.0, 5.0, 2)))
        message.header.stamp = ns_to_stamp(stamp)
        publisher.publish(message)
        graph.until(lambda k=k: recorder.counts[INPUT] > k, 'the command')
    ticks = stamp // 10_000_000 - 10**18 // 10_000_000
    graph.until(lambda: min(recorder.counts[t] for t in OUTPUTS) >= ticks, 'the last tick')
    graph.executor.remove_node(recorder)
    recorder.destroy_node()
    graph.probe.destroy_publisher(publisher)
    graph.until(lambda: not graph.probe.count_publishers(INPUT), 'nobody who commands')


def record(graph, write):
    recorder = Recorder(lambda message, offered: write(message), context=graph.context)
    graph.executor.add_node(recorder)
    return recorder


@pytest.fixture(params=few_of(['bag.mcap', 'bag.db3'], 2))
def bag(request, graph, tmp_path):
    """Return a bag of a live run; its node is gone."""
    path = tmp_path / request.param
    with BagWriter(path) as writer:
        fly(graph, writer.write)
    for node in graph.nodes:
        graph.executor.remove_node(node)
        node.close()
    graph.nodes.clear()
    return path


def contents(messages):
    """Return the bytes of each topic, without what padding happens to hold."""
    wire, topics = Wire(), {}
    for message in messages:
        topics.setdefault(message.topic, []).append(wire.canonical(message.data, message.type))
    return topics


def play(graph, bag, rate, clock, times=1):
    """Play a bag into a fresh node and return what it said."""
    node = graph.add(ActuatorNode, 'rotors', ROTORS)
    said = []
    recorder = record(graph, said.append)
    graph.until(lambda: set(OUTPUTS) <= recorder.topics, 'the recorder')
    player = Player(rate, clock, graph.context)
    graph.executor.add_node(player)
    with BagReader(bag) as reader:
        topics = {topic: reader.topics[topic] for topic in (INPUT, *OUTPUTS)}
        player.choose(topics, graph.executor, 20.0)
        assert player.played == {INPUT: 'sensor_msgs/msg/JointState'}
        for _ in range(times):
            player.play(reader.messages(player.played), graph.executor)
        expected = contents(reader.messages())
    graph.until(
        lambda: all(recorder.counts[t] >= times * len(expected[t]) for t in OUTPUTS), 'all of it'
    )
    # Nor may more come.
    for _ in range(10):
        graph.executor.spin_once(timeout_sec=0.05)
    return node, expected, contents(said)


@pytest.mark.parametrize('clock', few_of([
    pytest.param(0.0, id='no clock'), pytest.param(40.0, id='40 Hz'),
], 2))
@pytest.mark.parametrize('rate', few_of([10.0, 1.0, 0.5], 3))
def test_replay_is_the_live_run_byte_by_byte(graph, bag, rate, clock):
    node, expected, said = play(graph, bag, rate, clock)
    assert node.loop.inputs.counts['late'] == 0
    for topic in OUTPUTS:
        assert said[topic] == expected[topic]
        assert len(set(said[topic])) == len(said[topic])


@pytest.mark.parametrize('bag', ['bag.mcap'], indirect=True)
def test_loop_begins_anew(graph, bag):
    node, expected, said = play(graph, bag, 10.0, 0.0, times=2)
    assert node.loop.inputs.counts['jump'] == 1
    for topic in OUTPUTS:
        assert said[topic] == expected[topic] * 2


def test_recorder_waits_until_who_publishes_knows_it(graph, monkeypatch, capfd):
    graph.add(ActuatorNode, 'rotors', ROTORS)
    other = rclpy.Context()
    rclpy.init(args=[], context=other)
    idle = ActuatorNode('idle', context=other, parameter_overrides=[
        Parameter(key, value=value) for key, value in ROTORS.items()
    ])
    idle.start()
    executor = SingleThreadedExecutor(context=other)
    executor.add_node(idle)
    try:
        recorder = record(graph, lambda message: None)
        said = {end.topic_name for end in idle.publishers}
        graph.until(lambda: said <= recorder.topics, 'what the idle node publishes')
        graph.until(lambda: knows(graph.probe, '/idle/wrench', '/idle'), 'the idle node')
        with pytest.raises(TimeoutError, match='/idle/get_parameters: expected a response'):
            recorder.settle(graph.executor, (*OUTPUTS, '/idle/wrench'), 3.0)
        monkeypatch.setattr('propulsion_ros.replay.recorder._PATIENCE', 1.0)
        recorder.settle(graph.executor, OUTPUTS, LIMIT)
        assert 'its first messages may be missing' in capfd.readouterr().err
        answers = threading.Thread(target=spin_until, args=(executor, stop := threading.Event()))
        answers.start()
        try:
            recorder.settle(graph.executor, (*OUTPUTS, '/idle/wrench'), LIMIT)
        finally:
            stop.set()
            answers.join()
        publishers = [end for end in idle.publishers if end.topic_name == '/idle/wrench']
        assert [end.get_subscription_count() for end in publishers] == [1]
    finally:
        executor.shutdown()
        close(other, [idle])


def knows(node, topic, name):
    """Whether a node knows by name who publishes a topic, and that it can be asked something."""
    publishers = map(full_name, node.get_publishers_info_by_topic(topic))
    services = dict(node.get_service_names_and_types())
    return name in publishers and f'{name}/get_parameters' in services


def spin_until(executor, stop):
    """Let nodes answer in a thread of their own."""
    while not stop.is_set():
        executor.spin_once(timeout_sec=0.05)


def test_what_somebody_has_not_received_is_named(graph, monkeypatch):
    topic, kind = '/said', type_name(String)
    player = Player(context=graph.context)
    graph.executor.add_node(player)
    message = Recorded(topic, kind, 0, bytes(serialize_message(String())))
    process = subprocess.Popen([sys.executable, '-c', LISTEN])
    try:
        player.choose({topic: kind}, graph.executor, LIMIT)
        assert player.unmatched() == []
        process.send_signal(signal.SIGSTOP)
        os.waitpid(process.pid, os.WUNTRACED)
        monkeypatch.setattr('propulsion_ros.replay.player._FLUSH', 0.5)
        assert player.play([message], graph.executor) == [topic]
        process.send_signal(signal.SIGCONT)
        monkeypatch.setattr('propulsion_ros.replay.player._FLUSH', LIMIT)
        assert player.play([message], graph.executor) == []
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize(('option', 'value'), [
    *(('--rate', value) for value in ('0', '-1', 'nan', 'inf')),
    *(('--clock', value) for value in ('-1', 'nan', 'inf')),
    ('--loop', '0'),
])
def test_number_that_plays_nothing_is_one_line(capsys, option, value):
    assert cli.main(['play', 'none.mcap', option, value]) == 1
    err = capsys.readouterr().err
    assert err.count('\n') == 1
    assert 'expected finite numbers, --rate above 0' in err
    assert value in err


def test_type_that_is_not_installed_is_named():
    with pytest.raises(LookupError, match='message type nowhere/msg/Nothing is not installed'):
        class_of('nowhere/msg/Nothing')
    with pytest.raises(LookupError, match='std_msgs/msg/Nothing'):
        class_of('std_msgs/msg/Nothing')
    assert class_of('geometry_msgs/msg/WrenchStamped') is WrenchStamped


@pytest.mark.parametrize('name', [
    '', '/msg/Nothing', 'msg/Nothing', 'antigravity/msg/Nothing', 'sys/msg/Nothing',
    'std_msgs/msg/__name__', 'os.path/msg/Nothing', 'a\x00b/msg/Nothing', '__main__/msg/Nothing',
])
def test_only_packages_of_messages_are_imported(name):
    with pytest.raises(LookupError, match='message type'):
        class_of(name)
    assert 'antigravity' not in sys.modules


def test_how_a_topic_was_offered_is_kept_for_who_plays_it(graph, tmp_path):
    path = tmp_path / 'bag'
    with BagWriter(path) as writer:
        recorder = Recorder(writer.write, ['/latched', '/plain'], context=graph.context)
        graph.executor.add_node(recorder)
        for topic, profile in (('latched', qos.LATCHED), ('plain', qos.SENSOR)):
            graph.talk_later(WrenchStamped, topic, profile).publish(WrenchStamped())
        graph.until(lambda: recorder.counts['/latched'], 'the latched one')
        plain = next(p for p in graph.probe.publishers if p.topic_name == '/plain')

        def heard():
            plain.publish(WrenchStamped())
            return recorder.counts['/plain']
        graph.until(heard, 'the other')
        graph.executor.remove_node(recorder)
        recorder.destroy_node()
    (metadata,) = path.glob('metadata.yaml')
    topics = {
        entry['topic_metadata']['name']: entry['topic_metadata']['offered_qos_profiles']
        for entry in yaml.safe_load(metadata.read_text())['rosbag2_bagfile_information'][
            'topics_with_message_count']
    }
    assert [(q['reliability'], q['durability']) for q in topics['/latched']] == [
        ('reliable', 'transient_local')
    ]
    assert [(q['reliability'], q['durability']) for q in topics['/plain']] == [
        ('best_effort', 'volatile')
    ]


def test_topic_that_cannot_be_heard_is_named_and_the_others_are_recorded(graph, capfd):
    """DDS has one type for a topic in a process; access control refuses in the same way."""
    context = rclpy.Context()
    rclpy.init(args=[], context=context)
    other = rclpy.create_node('other', context=context)
    graph.talk_later(Bool, '/both')
    other.create_publisher(JointState, '/plain', 10)
    other.create_publisher(WrenchStamped, '/both', 10)
    try:
        graph.becomes(
            lambda: dict(graph.probe.get_topic_names_and_types()).get('/both'),
            ['geometry_msgs/msg/WrenchStamped', 'std_msgs/msg/Bool'],
        )
        recorder = record(graph, lambda message: None)
        graph.until(lambda: {'/both', '/plain'} <= recorder.topics, 'both topics')
    finally:
        other.destroy_node()
        close(context, [])
    said = capfd.readouterr().err
    assert said.count('[WARN]') == 1
    assert '/both is not recorded: Failed to create subscription: ' in said


def test_topic_that_cannot_be_played_is_one_line(capfd, tmp_path):
    with BagWriter(tmp_path / 'bag') as writer:
        writer.write(Recorded('/rosout', 'std_msgs/msg/Bool', 0, bytes((0, 1, 0, 0, 1))))
    assert cli.main(['play', str(tmp_path / 'bag'), '--topic', '/rosout', '--wait', '0']) == 1
    err = capfd.readouterr().err
    assert err.startswith('propulsion_ros play: Failed to create publisher')
    assert err.count('\n') == 1
