# SPDX-License-Identifier: Apache-2.0
"""What a launch file gives a recorder, rosbag2's or that of this package, and the body it holds."""
from pathlib import Path

import pytest
import yaml

pytest.importorskip('launch_ros', reason='launch_ros is not installed')

from launch import LaunchContext
from launched import Launched

from propulsion_ros.graph import launch_actions
from propulsion_ros.graph.launch_actions import Crashes, recorder
from propulsion_ros.graph.share import share_directory
from propulsion_ros.graph.wiring import robot_graph
from propulsion_ros.replay.bags import BagReader

SHIPPED = share_directory() / 'qos' / 'record.yaml'


@pytest.fixture(params=[True, False], ids=['rosbag2', 'own'])
def has_rosbag(request, monkeypatch):
    monkeypatch.setattr(launch_actions, '_has_rosbag', lambda: request.param)
    return request.param


def command(namespace='', topics=()):
    """Return the words that start a recorder."""
    context = LaunchContext()
    action = recorder({'namespace': namespace}, 'bag', topics, Crashes())
    return [part.perform(context) for [part] in action.cmd]


def test_a_recording_of_nothing_has_code_1(tmp_path):
    """It had code 0 after Ctrl-C, and a code of 1 without a launch."""
    launched = Launched('record', output=tmp_path / 'bag', topics='/nothing')
    launched.line_with('until Ctrl-C')
    with launched:
        pass
    assert launched.process.returncode == 1


def test_recorder_takes_all_topics_by_wall_time(has_rosbag):
    words = command()
    assert '--use-sim-time' not in words
    if has_rosbag:
        assert words[3:7] == ['bag', 'record', '--output', 'bag']
        assert words[words.index('--qos-profile-overrides-path') + 1] == str(SHIPPED)
        assert words[-2:] == ['--all-topics', '--include-unpublished-topics']
    else:
        assert words[-2:] == ['record', 'bag']


def test_relative_topics_are_those_of_the_namespace(has_rosbag):
    words = command('fleet/one', ['boosters/wrench', '/clock'])
    option = ['--topics'] if has_rosbag else ['--topic']
    assert option[0] in words
    assert {'/fleet/one/boosters/wrench', '/clock'} <= set(words)


def test_quality_of_service_follows_the_namespace(monkeypatch):
    monkeypatch.setattr(launch_actions, '_has_rosbag', lambda: True)
    words = command('/fleet/one/')
    path = Path(words[words.index('--qos-profile-overrides-path') + 1])
    shipped, own = (yaml.safe_load(each.read_text()) for each in (SHIPPED, path))
    assert own == {
        topic if topic == '/clock' else f'/fleet/one{topic}': profile
        for topic, profile in shipped.items()
    }


def test_simulation_is_recorded_from_its_first_step(tmp_path):
    bag = tmp_path / 'flight'
    code, printed = Launched(
        'quadrotor', record=bag, duration='0.3', real_time_factor='0'
    ).end()
    assert code == 0, printed
    firsts = {}
    with BagReader(bag) as reader:
        for message in reader.messages(
            ['/clock', '/rotors/wrench', '/rotors/state', '/vehicle/odometry', '/vehicle/imu']
        ):
            if message.topic not in firsts:
                content = reader.decode(message)
                stamp = content.clock if message.topic == '/clock' else content.header.stamp
                firsts[message.topic] = (stamp.sec, stamp.nanosec)
    assert len(firsts) == 5
    assert set(firsts.values()) == {(0, 0)}


@pytest.mark.parametrize('record', ['', 'bag'])
def test_recorded_body_waits_for_the_recorder_and_its_flight_computer_loses_nothing(
    has_rosbag, record
):
    graph, given = robot_graph('rocket'), {'record': record}
    name = 'rosbag2_recorder' if has_rosbag else 'recorder'
    assert {spec.name: launch_actions._held(spec, given, graph) for spec in graph.nodes} == {
        'boosters': {}, 'fins': {},
        'flight_state': {'reliable_inputs': True} if record else {},
        'vehicle': {'recorder': name, 'start_timeout': 60.0} if record else {},
    }


def test_sensors_of_a_robot_need_not_be_reliable_where_it_is_recorded(has_rosbag):
    graph = robot_graph('rocket', use_sim_time=False)
    assert not any(launch_actions._held(each, {'record': 'bag'}, graph) for each in graph.nodes)
