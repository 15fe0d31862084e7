# SPDX-License-Identifier: Apache-2.0
"""What each executable of a graph runs, for every host alike.

Loops that few robots have are imported where they are made: together they take as long to import
as all the rest.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping

from propulsion_ros.drawing.drawn_blocks import drawn_blocks
from propulsion_ros.graph.family_loops import make_actuators, make_allocator, make_estimates
from propulsion_ros.graph.family_params import loop_params_of
from propulsion_ros.loops.ports import Host, Loop, Parameters
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.flat import build, parameters_of
from propulsion_ros.settings.yaml_file import settings_of
from propulsion_ros.urdf.reader import actuators_from_urdf

LoopMaker = Callable[[Parameters, Host], Loop]
"""``make(parameters, host)`` returns a loop, or raises `ConfigError`."""


def make_flight(parameters: Parameters, host: Host) -> Loop:
    """Return a flight computer as its parameters describe it; raise `ConfigError` if wrong."""
    from propulsion_ros.loops.flight.flight_loop import make_flight_loop
    from propulsion_ros.loops.flight.params import read_params

    return make_flight_loop(read_params(parameters), host)


def make_vehicle(parameters: Parameters, host: Host) -> Loop:
    """Return the body that its parameters describe; raise `ConfigError` if wrong."""
    from propulsion_ros.loops.payloads import Kind
    from propulsion_ros.loops.vehicle_loop import VehicleLoop
    from propulsion_ros.loops.vehicle_params import VehicleParams

    params = build(VehicleParams, parameters.declare_rest(parameters_of(VehicleParams)))
    return VehicleLoop(params, host, with_tf=parameters.has_type(Kind.TF))


def make_visualizer(parameters: Parameters, host: Host) -> Loop:
    """Return what draws a description with its parameter files; raise `ConfigError` if wrong."""
    from propulsion_ros.loops.visualizer_loop import VisualizerLoop
    from propulsion_ros.loops.visualizer_params import VisualizerParams

    params = build(VisualizerParams, parameters.declare_rest(parameters_of(VisualizerParams)))
    if not params.robot_description:
        raise ConfigError('robot_description', 'is required: it places the actuators')
    specs = actuators_from_urdf(params.robot_description, loop_params_of, params.base_link)
    blocks = drawn_blocks(specs, lambda block: settings_of(
        params.params_files, block, parameters.node_namespace
    ))
    return VisualizerLoop(params, blocks, host)


LOOPS: Mapping[str, LoopMaker] = {
    'actuator_node': make_actuators,
    'allocator_node': make_allocator,
    'flight_state_node': make_flight,
    'inverse_fam_node': make_estimates,
    'vehicle_node': make_vehicle,
    'visualizer_node': make_visualizer,
}
"""What makes the loop of each executable."""
