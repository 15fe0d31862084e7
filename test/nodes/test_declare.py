# SPDX-License-Identifier: Apache-2.0
"""What `ros2 param dump` writes of a node is a file that starts the same node."""
from __future__ import annotations

import json

import pytest
import yaml
from rclpy.parameter import parameter_value_to_python

from propulsion_ros.graph.vehicles import VEHICLES
from propulsion_ros.graph.wiring import vehicle_graph
from propulsion_ros.nodes.actuator_node import ActuatorNode
from propulsion_ros.nodes.stack import make_node
from propulsion_ros.settings.yaml_file import ParameterFile


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
    robot = vehicle_graph(vehicle)
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
