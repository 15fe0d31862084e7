# SPDX-License-Identifier: Apache-2.0
"""What `ros2 param dump` writes of a node is a file that starts the same node."""
from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pytest
import yaml
from geometry_msgs.msg import WrenchStamped
from rcl_interfaces.srv import SetParameters
from rclpy.parameter import Parameter, parameter_value_to_python
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64
from std_srvs.srv import Trigger

from propulsion_ros.graph.vehicles import VEHICLES
from propulsion_ros.graph.wiring import robot_graph
from propulsion_ros.loops.decoders import msg_to_wrench
from propulsion_ros.loops.ports import WARN
from propulsion_ros.messages import qos
from propulsion_ros.messages.fields import ns_to_stamp
from propulsion_ros.models.registry import FAMILIES
from propulsion_ros.nodes.actuator_node import ActuatorNode
from propulsion_ros.nodes.stack import make_node
from propulsion_ros.settings.flat import parameters_of
from propulsion_ros.settings.yaml_file import ParameterFile
from ros_graph import stamped


def dumped(node):
    """Return the parameters of a node as `ros2 param dump` writes them."""
    parameters = node.get_parameters_by_prefix('').items()
    values = {
        key: parameter_value_to_python(parameter.get_parameter_value())
        for key, parameter in parameters
    }
    # As they come over the wire, without numpy's types.
    return json.loads(json.dumps(values, default=list))


def started(graph, spec, files):
    node = make_node(spec, params_files=files, context=graph.context)
    graph.nodes.append(node)
    node.start()
    assert node.is_active
    return node


@pytest.mark.parametrize('vehicle', VEHICLES)
def test_dump_has_no_null_and_starts_the_node_again(graph, tmp_path, vehicle):
    robot = robot_graph(vehicle)
    shipped = [robot.params_file] if robot.params_file else []
    for spec in robot.nodes:
        values = dumped(started(graph, spec, shipped))
        # What is not set has no type; a list always has one.
        unset = [key for key, value in values.items() if value is None]
        assert not any(key in unset for key in ('wait_for', 'names', 'switched_off', 'position'))
        path = tmp_path / f'{spec.name}.yaml'
        path.write_text(yaml.safe_dump({f'/{spec.name}': {'ros__parameters': values}}))
        assert ParameterFile(path).of(spec.name) == values
        again = started(graph, spec, [path])
        assert dumped(again) == values


@pytest.mark.parametrize('nothing', ['[]', 'null', '~'])
def test_list_of_nothing_has_a_type_however_it_is_written(graph, tmp_path, nothing):
    path = tmp_path / 'rotors.yaml'
    path.write_text(
        '/**:\n  ros__parameters:\n    family: rotors\n    names: [a]\n    max_thrust: [9.0]\n'
        '    motor_constant: [1.0e-4]\n    moment_constant: [0.5]\n'
        f'    position: [0.0, 0.0, 0.0]\n    wait_for: {nothing}\n    step_on: stamp\n'
    )
    node = graph.add(ActuatorNode, 'rotors', cli_args=['--ros-args', '--params-file', str(path)])
    assert node.is_active
    parameter = node.get_parameter('wait_for')
    assert parameter.type_ == parameter.Type.STRING_ARRAY
    assert list(parameter.value) == []


MS = 1_000_000
THRUSTERS = {
    'family': 'thrusters', 'names': ['a', 'b'], 'rotor_constant': [1e-4],
    'axis': [0.0, 0.0, 1.0], 'step_on': 'stamp',
}
ROTORS = {
    'family': 'rotors', 'names': ['a', 'b'], 'max_thrust': [9.0], 'motor_constant': [1e-4],
    'moment_constant': [0.5], 'position': [0.0, 1.0, 0.0, 0.0, -1.0, 0.0], 'step_on': 'stamp',
}
BOOSTERS = {
    'family': 'boosters', 'names': ['b'], 'max_thrust': [1000.0], 'max_fuel_rate': [1.0],
    'tank': ['t'], 'tanks.names': ['t'], 'tanks.capacity': [10.0], 'step_on': 'stamp',
}
FINS = {
    'family': 'fins', 'names': ['a', 'b'], 'quadratic.fin': ['a', 'b'],
    'quadratic.lift_constant': [1.0], 'quadratic.drag_constant': [1.0],
}

JETS = {
    'family': 'jets', 'names': ['a', 'b'], 'max_thrust': [2.0], 'step_on': 'stamp',
}


class Group:

    def __init__(self, graph, parameters, field):
        self.graph, self.field = graph, field
        self.node = graph.add(ActuatorNode, 'group', parameters)
        self.states = graph.listen(JointState, 'group/state', qos.COMMAND)
        self.command = graph.talk(JointState, 'group/command', qos.COMMAND)
        graph.connected(self.node, '~/state')

    def set(self, **values):
        request = SetParameters.Request(parameters=[
            Parameter(name.replace('__', '.'), value=value).to_parameter_msg()
            for name, value in values.items()
        ])
        (result,) = self.graph.call(SetParameters, 'group/set_parameters', request).results
        return result

    def at(self, ms, value):
        names = list(self.node.loop.family.actuator_names)
        values = {self.field: [value] * len(names)}
        self.command.publish(stamped(JointState, ms * MS, name=names, **values))
        return self.graph.at('group/state', ms * MS)


DEGRADABLE = [
    pytest.param(BOOSTERS, 'efficiency', id='boosters'),
    pytest.param(ROTORS, 'efficiency', id='rotors'),
    pytest.param(FINS, 'efficiency', id='fins'),
    pytest.param(JETS, 'efficiency', id='jets'),
    pytest.param({'family': 'propulsion_modules'}, 'nozzles.efficiency', id='propulsion_modules'),
    pytest.param(THRUSTERS, 'thrust_efficiency', id='thrusters'),
    pytest.param(THRUSTERS, 'propeller_efficiency', id='speed of thrusters'),
]


def test_valve_of_a_jet_can_stick_while_running(graph):
    group = Group(graph, JETS, 'effort')
    assert list(group.at(10, 0.0).effort) == [0.0, 0.0]
    assert group.set(valve=['works', 'stuck_open']).successful
    assert list(group.at(20, 0.0).effort) == [0.0, 2.0]
    assert not group.set(valve=['works', 'half']).successful
    group.graph.call(Trigger, 'group/reset')
    assert list(group.at(30, 2.0).effort) == [2.0, 2.0]


def test_nothing_is_switched_off_by_an_empty_list(graph):
    group = Group(graph, {**THRUSTERS, 'switched_off': ['a', 'b']}, 'velocity')
    assert list(group.at(10, 100.0).effort) == [0.0, 0.0]
    group.node.set_parameters([Parameter('switched_off', Parameter.Type.STRING_ARRAY, [])])
    assert list(group.at(20, 100.0).effort) == [1.0, 1.0]


@pytest.mark.parametrize(('value', 'said'), [
    pytest.param({'thrust_efficiency': [1.0, 2.0]}, "parameter 'thrust_efficiency[1]': 2 is above",
                 id='range'),
    pytest.param({'thrust_efficiency': [0.1, 0.2, 0.3]}, 'expected 2 values, got 3', id='count'),
    pytest.param({'switched_off': ['c']}, "unknown name 'c', known: a, b", id='name'),
    pytest.param({'rotor_constant': [1.0]}, 'read-only', id='not live'),
])
def test_wrong_value_is_refused_with_the_reason_and_nothing_changes(graph, value, said):
    group = Group(graph, THRUSTERS, 'velocity')
    result = group.set(**value)
    assert not result.successful
    assert said in result.reason
    assert list(group.at(10, 100.0).effort) == [1.0, 1.0]


@pytest.mark.parametrize(('parameters', 'key'), DEGRADABLE)
def test_efficiency_of_every_family_is_described_followed_and_told(graph, parameters, key):
    node = graph.add(ActuatorNode, 'group', parameters)
    descriptor = node.describe_parameter(key)
    assert not descriptor.read_only
    assert descriptor.additional_constraints == 'at least 0, at most 1, one value per name'
    ((_, _, _, values),) = node.health()
    assert values['degraded'] == 0
    n = len(node.loop.family.actuator_names)
    (result,) = node.set_parameters([Parameter(key, value=[0.5] + [1.0] * (n - 1))])
    assert result.successful, result.reason
    ((_, level, _, values),) = node.health()
    assert (level, values['degraded']) == (WARN, 1)
    for wrong in ([-0.1], [1.1], [math.nan], [0.5] * (n + 1), ['half']):
        (result,) = node.set_parameters([Parameter(key, value=wrong)])
        assert not result.successful
        assert result.reason.startswith(f"parameter '{key}")
        assert '\n' not in result.reason
    assert node.loop.family.degraded.tolist() == [True] + [False] * (n - 1)


def test_degraded_rotor_says_the_same_in_state_wrench_and_numbers(graph):
    group = Group(graph, {**ROTORS, 'publish_numbers': True}, 'effort')
    wrenches = graph.listen(WrenchStamped, 'group/wrench', qos.COMMAND)
    numbers = graph.listen(Float64, 'group/thrusts/b', qos.COMMAND)
    graph.connected(group.node, '~/wrench', '~/thrusts/b')
    assert list(group.at(10, 4.0).effort) == [4.0, 4.0]
    assert group.set(efficiency=[1.0, 0.25]).successful
    state = group.at(20, 4.0)
    assert list(state.effort) == [4.0, 1.0]
    assert list(state.velocity) == [200.0, 200.0]
    graph.until(lambda: len(wrenches) == len(numbers) == 2, 'the wrenches and numbers')
    # 1 m to either side: the torque about x is the difference; that of the air is half the sum.
    np.testing.assert_allclose(msg_to_wrench(wrenches[1]), [0, 0, 5, 3, 0, -2.5], atol=1e-12)
    assert [number.data for number in numbers] == [4.0, 1.0]
    ((_, _, text, _),) = group.node.health()
    assert text == 'actuators are degraded'


def test_fault_cannot_be_lifted_by_removing_its_parameter(graph):
    group = Group(graph, {**THRUSTERS, 'switched_off': ['b']}, 'velocity')
    request = SetParameters.Request(parameters=[
        Parameter('switched_off', Parameter.Type.NOT_SET).to_parameter_msg()
    ])
    (result,) = graph.call(SetParameters, 'group/set_parameters', request).results
    assert not result.successful
    assert 'cannot be removed' in result.reason
    assert list(group.at(10, 100.0).effort) == [1.0, 0.0]
    assert group.set(switched_off=['a']).successful


@pytest.mark.parametrize('is_simulated', [
    pytest.param(True, id='to the system'), pytest.param(False, id='to simulation'),
])
def test_running_node_keeps_its_source_of_time(graph, is_simulated):
    """Its timer or its subscription to /clock is not made anew."""
    parameters = {**THRUSTERS, 'step_on': 'clock', 'use_sim_time': is_simulated}
    group = Group(graph, parameters, 'velocity')
    result = group.set(use_sim_time=not is_simulated)
    assert not result.successful
    assert result.reason == 'Trying to set a read-only parameter: use_sim_time.'
    clock = graph.talk(Clock, '/clock', qos.CLOCK) if is_simulated else None
    ticks, said = itertools.count(1), len(group.states)

    def goes_on():
        if clock is not None:
            clock.publish(Clock(clock=ns_to_stamp(next(ticks) * 10 * MS)))
        return len(group.states) > said + 10
    graph.until(goes_on, 'the next steps')
    assert (group.states[-1].header.stamp.sec < 10**6) == is_simulated


@pytest.mark.parametrize('name', FAMILIES)
def test_family_with_live_parameters_takes_them(name):
    family = FAMILIES[name]
    live = [p.key for p in parameters_of(family.Params) if p.spec.live]
    assert bool(live) == hasattr(family, 'retune')
