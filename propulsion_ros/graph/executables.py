# SPDX-License-Identifier: Apache-2.0
"""Makes the loop of each executable of a graph, for every host alike.

Loops that few robots have are imported where they are made: together they take as long to import
as everything else.
"""
from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

from propulsion_ros.drawing.drawn_blocks import drawn_blocks
from propulsion_ros.graph.family_params import (
    ActuatorNodeParams,
    AllocatorNodeParams,
    FamilyNodeParams,
    OwnT,
    SteppedNodeParams,
    loop_params_of,
)
from propulsion_ros.graph.node_config import (
    Setting,
    allocator_of,
    block_named,
    read_setting,
    won_over,
)
from propulsion_ros.loops.actuator_loop import LoopParams
from propulsion_ros.loops.actuator_ports import ADAPTERS, ActuatorPorts
from propulsion_ros.loops.allocator_loop import AllocatorLoop
from propulsion_ros.loops.estimate_loop import EstimateParams, EstimatePorts
from propulsion_ros.loops.ports import Host, Loop, Parameters
from propulsion_ros.models.common.facts import ESTIMATES
from propulsion_ros.models.common.family import Estimator
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.flat import build, parameters_of
from propulsion_ros.settings.imports import how_to_get
from propulsion_ros.settings.yaml_file import settings_of
from propulsion_ros.urdf.reader import ActuatorSpec, actuators_from_urdf


def make_actuators(parameters: Parameters, host: Host) -> ActuatorPorts:
    """Return the actuator group that parameters describe; raise `ConfigError` if wrong."""
    own, setting = _configure(parameters, host, ActuatorNodeParams)
    loop_params = setting.build(LoopParams)
    loop = ActuatorPorts(
        setting.build_family(), loop_params, setting.frame, host,
        publish_each=own.publish_each, publish_numbers=own.publish_numbers,
        publish_joint_states=own.publish_joint_states, adapters=own.adapters,
        autopilot=own.autopilot, lossless=own.reliable_inputs, replay=own.replay,
    )
    for name in own.adapters:
        package = ADAPTERS[name].partition('/')[0]
        if not parameters.has_type(ADAPTERS[name]):
            raise ConfigError(
                'adapters', f'{name}: {package} is not installed; {how_to_get(package)}'
            )
    _follow(parameters, setting, loop, LoopParams)
    return loop


def make_estimates(parameters: Parameters, host: Host) -> EstimatePorts:
    """Return the estimator that parameters describe; raise `ConfigError` if wrong."""
    own, setting = _configure(parameters, host, SteppedNodeParams, ESTIMATES)
    loop_params = setting.build(EstimateParams)
    inverse = setting.build_family()
    if not isinstance(inverse, Estimator):
        raise TypeError(f'expected an Estimator, got {type(inverse).__name__}')
    loop = EstimatePorts(
        inverse, loop_params, setting.frame, host, lossless=own.reliable_inputs,
        replay=own.replay,
    )
    _follow(parameters, setting, loop, EstimateParams)
    return loop


def make_allocator(parameters: Parameters, host: Host) -> AllocatorLoop:
    """Return the allocator of a group that parameters describe; raise `ConfigError` if wrong."""
    own, setting = _configure(parameters, host, AllocatorNodeParams)
    family, allocator = allocator_of(own, setting)
    loop = AllocatorLoop(
        family, allocator, setting.frame, host,
        params=setting.build(LoopParams), lossless=own.reliable_inputs,
    )
    parameters.follow_live((LoopParams, setting.family_type.Params), setting.values, loop)
    return loop


def _follow(
    parameters: Parameters, setting: Setting, loop: ActuatorPorts | EstimatePorts,
    params: type[Any],
) -> None:
    """Let a loop follow changes of live parameters, of now and of a recording."""
    classes = params, setting.family_type.Params
    parameters.follow_live(classes, setting.values, loop)
    loop.tune = lambda keys, changed: loop.retune(
        keys, *(build(cls, {**setting.values, **changed}) for cls in classes)
    )


def _configure(
    parameters: Parameters,
    host: Host,
    own: type[OwnT],
    loop: str = '',
) -> tuple[OwnT, Setting]:
    """Return the configurations of a node and of its family, and log where values come from."""
    mine, setting = read_setting(
        parameters, own, functools.partial(_find_block, parameters), loop
    )
    if setting.spec:
        _log_sources(host, parameters.given, setting.spec)
    return mine, setting


def _find_block(parameters: Parameters, own: FamilyNodeParams) -> ActuatorSpec | None:
    """Return the plugin block of a node, None without a robot description."""
    description = own.robot_description
    if not description and own.description_topic:
        description = parameters.latched_text(own.description_topic, own.description_timeout)
    if not description:
        return None
    specs = actuators_from_urdf(description, loop_params_of, own.base_link)
    return block_named(specs, own.plugin or parameters.node_name)


def _log_sources(host: Host, given: Mapping[str, Any], block: ActuatorSpec) -> None:
    """Log which parameters win over the robot description, and what its reader noted."""
    for error, is_one_for_several in won_over(given, block):
        host.log('warn' if is_one_for_several else 'info', str(error))
    for note in block.notes:
        if not (host.follows_links and note in block.stays):
            host.log('info', note)


LoopMaker = Callable[[Parameters, Host], Loop]
"""``make(parameters, host)`` returns a loop, or raises `ConfigError`."""


def make_flight(parameters: Parameters, host: Host) -> Loop:
    """Return the flight computer that parameters describe; raise `ConfigError` if wrong."""
    from propulsion_ros.loops.flight.flight_loop import make_flight_loop
    from propulsion_ros.loops.flight.params import read_params

    return make_flight_loop(read_params(parameters), host)


def make_vehicle(parameters: Parameters, host: Host) -> Loop:
    """Return the simulated body that parameters describe; raise `ConfigError` if wrong."""
    from propulsion_ros.loops.payloads import Kind
    from propulsion_ros.loops.vehicle_loop import VehicleLoop
    from propulsion_ros.loops.vehicle_params import VehicleParams

    params = build(VehicleParams, parameters.declare(parameters_of(VehicleParams)))
    return VehicleLoop(params, host, with_tf=parameters.has_type(Kind.TF))


def make_visualizer(parameters: Parameters, host: Host) -> Loop:
    """Return the visualizer of a description and its files; raise `ConfigError` if wrong."""
    from propulsion_ros.loops.visualizer_loop import VisualizerLoop, VisualizerParams

    params = build(VisualizerParams, parameters.declare(parameters_of(VisualizerParams)))
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
"""Maker of the loop of each executable."""
