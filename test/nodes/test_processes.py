# SPDX-License-Identifier: Apache-2.0
"""Nodes as processes: signals, exit codes, parameter files."""
from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys

import pytest
import yaml
from geometry_msgs.msg import WrenchStamped
from lifecycle_msgs.msg import Transition
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState

from parts import few_of
from propulsion_ros.graph.share import read_description, share_directory
from propulsion_ros.loops.decoders import stamp_to_ns
from propulsion_ros.messages import qos
from ros_graph import stamped

GOOD = """
/**/boosters:
  ros__parameters:
    family: boosters
    names: [b]
    max_thrust: [1000]
    max_fuel_rate: [1.0]
    command_timeout: 1
    step_on: stamp
"""


class Process:
    """A node started as its executable would start it."""

    def __init__(self, module, *ros_args, options=()):
        command = [sys.executable, '-m', f'propulsion_ros.nodes.{module}', *options]
        command += ['--ros-args', *ros_args] if ros_args else []
        self.popen = subprocess.Popen(
            command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, env=os.environ
        )

    def end(self, number=None, times=1):
        """Signal it, wait, and return exit code and standard error."""
        for _ in range(times if number else 0):
            self.popen.send_signal(number)
        _, err = self.popen.communicate(timeout=100.0)
        return self.popen.returncode, err


class Thrust:
    """A booster that is commanded, with growing stamps, until it pushes."""

    def __init__(self, graph):
        self.graph, self.stamp_ns = graph, 0
        self.wrenches = graph.listen(WrenchStamped, 'boosters/wrench', qos.COMMAND)
        self.publisher = graph.talk_later(JointState, 'boosters/command', qos.COMMAND)

    def await_push(self):
        """Wait for a thrust that was commanded from now on."""
        begun_ns = self.stamp_ns

        def pushed():
            self.stamp_ns += 10_000_000
            self.publisher.publish(
                stamped(JointState, self.stamp_ns, name=['b'], effort=[700.0])
            )
            return (
                self.wrenches and self.wrenches[-1].wrench.force.z > 0.0
                and stamp_to_ns(self.wrenches[-1].header.stamp) > begun_ns
            )

        self.graph.until(pushed, 'thrust')


def complaints(err):
    """Return the lines of standard error that are not plain information.

    The middleware warns, in two lines, of a reply to a client of a test that was discovered late.
    """
    lines = [line for line in err.splitlines() if not line.startswith('[INFO]')]
    late = [i for i, line in enumerate(lines) if 'failed to send response (timeout)' in line]
    return [line for i, line in enumerate(lines) if i not in late and i - 1 not in late]


@pytest.fixture
def start():
    """Start processes and make sure that none stays."""
    processes = []

    def _start(*args, **kwargs):
        processes.append(Process(*args, **kwargs))
        return processes[-1]

    yield _start
    for process in processes:
        if process.popen.poll() is None:
            process.popen.kill()
            process.popen.communicate()


@pytest.fixture
def params_file(tmp_path):
    """Return a writer of parameter files."""
    def write(text):
        path = tmp_path / 'params.yaml'
        path.write_text(text)
        return str(path)
    return write


@pytest.mark.parametrize(('times', 'number'), few_of(
    itertools.product((2, 1), (signal.SIGTERM, signal.SIGINT)), 4,
))
def test_node_killed_with_9_joins_again_and_ends_by_a_signal_with_a_zero_wrench_and_code_0(
    graph, start, params_file, number, times
):
    thrust = Thrust(graph)
    path = params_file(GOOD)
    killed = start('actuator_node', '-r', '__node:=boosters', '--params-file', path)
    thrust.await_push()
    assert killed.end(signal.SIGKILL)[0] == -signal.SIGKILL
    process = start('actuator_node', '-r', '__node:=boosters', '--params-file', path)
    thrust.await_push()
    code, err = process.end(number, times)
    assert code == 0
    assert complaints(err) == []
    graph.until(lambda: thrust.wrenches[-1].wrench.force.z == 0.0, 'the last word')


@pytest.mark.parametrize(('text', 'problem'), few_of([
    pytest.param(GOOD.replace('max_thrust', 'max_trust'),
                 "parameter 'max_trust': unknown, did you mean 'max_thrust'?",
                 id='misspelt required key'),
    pytest.param(GOOD.replace('[1000]', '[1000, 0.5]'),
                 'Sequence should be of same type', id='integers and numbers in one list'),
    pytest.param('a: [', "Couldn't parse params file", id='not YAML'),
], 3))
def test_wrong_file_ends_it_with_code_1_and_one_line(start, params_file, text, problem):
    process = start('actuator_node', '-r', '__node:=boosters', '--params-file', params_file(text))
    code, err = process.end()
    assert code == 1
    assert err.count('\n') == 1
    assert problem in err


@pytest.fixture
def rocket_file(params_file):
    """Return a writer of parameter files with the rocket's description."""
    description = read_description(share_directory() / 'urdf' / 'rocket.urdf.xacro').text

    def write(**parameters):
        parameters['robot_description'] = description
        return params_file(yaml.safe_dump({'/**/boosters': {'ros__parameters': parameters}}))
    return write


def test_parameter_wins_over_the_description_and_says_so(graph, start, rocket_file):
    path = rocket_file(command_timeout=2.0)
    process = start('actuator_node', '-r', '__node:=boosters', '--params-file', path)
    graph.talk(JointState, 'boosters/command', qos.COMMAND)
    code, err = process.end(signal.SIGINT)
    assert code == 0
    assert "parameter 'command_timeout': 2.0 wins over the robot description's 0.5" in err


def test_stack_ends_with_code_1_where_its_vehicle_gives_up(graph, start):
    # A vehicle waits for as long as another simulation has the clock.
    graph.talk_later(Clock, '/clock')
    code, err = start('stack', '-p', 'vehicle:lockstep_timeout:=1.0').end()
    assert code == 1
    first, last = complaints(err)
    assert 'stopped: /clock has another publisher' in first
    assert last.startswith('[ERROR]')
    assert last.endswith('[vehicle]: has failed, so every node stops')


def test_stack_runs_all_nodes_of_a_vehicle_and_ends_with_code_0_where_that_is_shut_down(
    graph, start
):
    process = start('stack')
    for name in ('boosters', 'flight_state'):
        assert graph.state_of(name) in ('inactive', 'active', 'unconfigured')
    assert graph.state_of('vehicle') == 'active'
    graph.listen(WrenchStamped, 'boosters/wrench')
    graph.heard('boosters/wrench', 3)
    assert graph.change('vehicle', Transition.TRANSITION_ACTIVE_SHUTDOWN)
    code, err = process.end()
    assert code == 0
    assert complaints(err) == []
    # The flight computer, which was never armed, may log that as it stops.
    (*_, last) = [line for line in err.splitlines() if 'was never armed' not in line]
    assert last.endswith('[vehicle]: has ended, so every node stops')


def test_vehicle_that_gives_up_alone_can_be_activated_again(graph, start, params_file):
    graph.talk_later(Clock, '/clock')
    description = read_description(share_directory() / 'urdf' / 'rocket.urdf.xacro').text
    path = params_file(yaml.safe_dump({'/**': {'ros__parameters': {
        'robot_description': description, 'wrench_topics': ['boosters/wrench'],
        'lockstep_timeout': 0.5,
    }}}))
    process = start('vehicle_node', '--params-file', path)
    graph.becomes(lambda: graph.state_of('vehicle'), 'inactive')
    assert graph.change('vehicle', Transition.TRANSITION_ACTIVATE)
    assert process.end(signal.SIGINT)[0] == 0


def test_stack_runs_a_robot_of_ones_own(graph, start, tmp_path):
    model = tmp_path / 'mine.urdf'
    model.write_text(read_description(share_directory() / 'urdf' / 'rocket.urdf.xacro').text)
    process = Process('stack', options=['--model', str(model)])
    graph.talk(JointState, 'boosters/command', qos.COMMAND)
    code, err = process.end(signal.SIGINT)
    assert code == 0
    assert complaints(err) == []
    assert 'active, takes commands for booster_1, booster_2, booster_1_gimbal_x' in err


@pytest.mark.parametrize(('text', 'problem'), few_of([
    pytest.param(None, 'cannot be read: No such file or directory', id='no file'),
    pytest.param('<robot name="r"><link name="base_link"/></robot>',
                 'no <plugin filename="propulsion_ros">, nor one of UUV\'s, in any <gazebo>',
                 id='no block'),
], 2))
def test_stack_refuses_a_robot_without_actuators(tmp_path, text, problem):
    model = tmp_path / 'mine.urdf'
    if text:
        model.write_text(text)
    code, err = Process('stack', options=['--model', str(model)]).end()
    assert code == 1
    assert err == f'{model}: {problem}\n'


def test_stack_refuses_a_namespace_that_is_none():
    options = ['--vehicle', 'quadrotor', '--namespace', 'a-b']
    code, err = Process('stack', options=options).end()
    assert code == 1
    assert err == "namespace: expected names separated by '/', got 'a-b'\n"
