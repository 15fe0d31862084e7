# SPDX-License-Identifier: Apache-2.0
"""The launch file for Gazebo, with stand-ins for ros_gz that write down how they are called."""
import itertools
import os

import numpy as np
import pytest
import yaml

pytest.importorskip('launch_ros', reason='launch_ros is not installed')

from ament_index_python.packages import PackageNotFoundError, get_package_prefix
from launched import Launched
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64

from propulsion_ros.graph.share import share_directory
from propulsion_ros.gz.model import gazebo_robot
from propulsion_ros.messages import qos
from propulsion_ros.messages.fields import ns_to_stamp

GZ_SIM = """from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction

def write(context):
    with open({path!r}, 'w') as file:
        file.write(context.launch_configurations['gz_args'])

def generate_launch_description():
    return LaunchDescription([
        DeclareLaunchArgument('gz_args'), DeclareLaunchArgument('on_exit_shutdown'),
        OpaqueFunction(function=write)])
"""
STAND_IN = '#!/bin/sh\nprintf "%s\\n" "$@" > {path}.part$$ && mv {path}.part$$ {path}.$$\n'


def is_installed(package):
    try:
        get_package_prefix(package)
    except PackageNotFoundError:
        return False
    return True


@pytest.fixture
def stand_ins(tmp_path, monkeypatch):
    """Return the folder where stand-ins for ros_gz_sim and ros_gz_bridge say how they ran."""
    prefix, said = tmp_path / 'prefix', tmp_path / 'said'
    index = prefix / 'share' / 'ament_index' / 'resource_index' / 'packages'
    for folder in (index, said, prefix / 'share' / 'ros_gz_sim' / 'launch'):
        folder.mkdir(parents=True)
    for package, executable in (('ros_gz_sim', 'create'), ('ros_gz_bridge', 'parameter_bridge')):
        (index / package).touch()
        program = prefix / 'lib' / package / executable
        program.parent.mkdir(parents=True)
        program.write_text(STAND_IN.format(path=f'{said}/{executable}'))
        program.chmod(0o755)
    (prefix / 'share' / 'ros_gz_sim' / 'launch' / 'gz_sim.launch.py').write_text(
        GZ_SIM.format(path=str(said / 'gz_args'))
    )
    monkeypatch.setenv('AMENT_PREFIX_PATH', f'{prefix}:{os.environ["AMENT_PREFIX_PATH"]}')
    # The launch appends to it.
    monkeypatch.setenv('PYTHONPATH', os.environ.get('PYTHONPATH', ''))
    return said


def calls_of(folder, executable, graph, count=1):
    """Return the arguments of each call of a stand-in, once there are so many."""
    def found():
        return [p for p in folder.glob(f'{executable}.*') if '.part' not in p.name]
    graph.until(lambda: len(found()) == count, f'{count} x {executable}')
    return [path.read_text().splitlines() for path in found()]


def value_of(option, arguments):
    return arguments[arguments.index(option) + 1]


def bridged(arguments):
    """Return the ROS topics of the bridge that was called so."""
    with open(value_of('--params-file', arguments), encoding='utf-8') as file:
        [parameters] = [entry['ros__parameters'] for entry in yaml.safe_load(file).values()]
    with open(parameters['config_file'], encoding='utf-8') as file:
        return {row['ros_topic_name'] for row in yaml.safe_load(file)}


def test_vehicle_is_put_into_its_world(stand_ins, graph):
    nodes = {'fam', 'inverse_fam'}
    with Launched('gazebo', vehicle='freeflyer', gui='false'):
        [arguments] = calls_of(stand_ins, 'create', graph)
        # Those of the package that run beside Gazebo; its actuators run inside.
        graph.until(lambda: nodes <= set(graph.probe.get_node_names()), 'the other nodes')
        names = {name for name in graph.probe.get_node_names() if '_ros' not in name}
        assert names == {graph.probe.get_name(), *nodes}
    run, server, path = (stand_ins / 'gz_args').read_text().split()
    assert (run, server) == ('-r', '-s')
    assert path == str(share_directory() / 'worlds' / 'free_flight.sdf')
    assert value_of('-name', arguments) == 'freeflyer'
    for axis in ('-x', '-y', '-z', '-R', '-P', '-Y'):
        # Its z points down.
        expected = np.pi if axis == '-R' else 0.0
        assert float(value_of(axis, arguments)) == expected
    with open(value_of('-file', arguments), encoding='utf-8') as file:
        assert 'propulsion_ros.gz.system' in file.read()


def test_second_vehicle_joins_the_world_of_the_first(stand_ins, graph):
    """It stands on its lowest shape, half a box of 60 mm below its origin."""
    with Launched('gazebo', vehicle='quadrotor', namespace='b', join='true', x='2'):
        [arguments] = calls_of(stand_ins, 'create', graph)
        [bridge] = calls_of(stand_ins, 'parameter_bridge', graph)
    assert value_of('-name', arguments) == 'b_quadrotor'
    place = [float(value_of(axis, arguments)) for axis in ('-x', '-y', '-z')]
    assert place == pytest.approx([2.0, 0.0, 0.03])
    # Neither a second server nor a second clock.
    assert not (stand_ins / 'gz_args').exists()
    assert '/clock' not in bridged(bridge)


def test_bridged_rotors_say_their_thrust_as_plain_numbers(stand_ins, graph):
    with Launched('gazebo', vehicle='quadrotor', route='bridge'):
        bridges = [bridged(call) for call in calls_of(stand_ins, 'parameter_bridge', graph, 2)]
        thrust = graph.listen(Float64, 'rotors/thrusts/front_left', qos.STATE)
        command = graph.talk(JointState, 'rotors/command', qos.COMMAND)
        clock = graph.talk(Clock, '/clock', qos.CLOCK)
        ticks = itertools.count(1)

        def pushed():
            clock.publish(Clock(clock=ns_to_stamp(next(ticks) * 4_000_000)))
            command.publish(JointState(name=['front_left'], effort=[4.5]))
            return thrust and thrust[-1].data > 4.0
        graph.until(pushed, 'a thrust')
    # The clock has a bridge of its own.
    clock_bridge, bridge = sorted(bridges, key=len)
    share = share_directory()
    robot = gazebo_robot(
        share / 'urdf' / 'quadrotor.urdf.xacro', 'bridge', [share / 'config' / 'quadrotor.yaml']
    )
    assert bridge == {topic.ros_topic for topic in robot.topics}
    assert clock_bridge == {'/clock'}
    assert {f'rotors/thrusts/{name}' for name in ('front_left', 'rear_right')} < bridge


@pytest.mark.skipif(is_installed('ros_gz_sim'), reason='ros_gz_sim is installed here')
def test_absent_gazebo_is_said_in_one_line():
    code, said = Launched('gazebo').end()
    assert code == 1
    [line] = [line for line in said.splitlines() if 'ros_gz_sim' in line]
    assert line.endswith('ros_gz_sim: is not installed; docs/gazebo.md names the packages')
