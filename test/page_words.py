# SPDX-License-Identifier: Apache-2.0
"""Words of this package that pages may use: parameters, topics, arguments, nodes."""
from __future__ import annotations

import re

from page_launch import launch_arguments
from propulsion_ros.graph.family_params import ActuatorNodeParams
from propulsion_ros.graph.vehicles import VEHICLES
from propulsion_ros.loops.actuator_loop import LoopParams
from propulsion_ros.loops.estimate_loop import EstimateParams
from propulsion_ros.loops.flight.params import FlightLoopParams
from propulsion_ros.loops.vehicle_params import VehicleParams
from propulsion_ros.models.registry import FAMILIES
from propulsion_ros.nodes.stack import EXECUTABLES
from propulsion_ros.settings.flat import parameters_of

_CLASSES = (
    LoopParams, EstimateParams, ActuatorNodeParams, FlightLoopParams, VehicleParams,
    *(family.Params for family in FAMILIES.values()),
)

CHOICES = {}
"""Every parameter of every node, by its key, with what families let it be; () for anything."""
for _parameter in (each for cls in _CLASSES for each in parameters_of(cls)):
    CHOICES[_parameter.key] = CHOICES.get(_parameter.key, ()) + _parameter.spec.choices

TAGS = {
    *(key.rpartition('.')[2] for key in CHOICES), 'joint', 'link', 'names_expr', 'base_link',
    *('booster', 'fin', 'gimbal', 'impeller', 'jet', 'nozzle', 'rotor', 'tank', 'thruster'),
    *('quadratic', 'two_lines', 'lifting_surface'),
}
"""Every tag of a plugin block."""

FLAGS = ('saturated', 'dry', 'stalled', 'off_curve')
"""Limits that models report."""

TOPICS = {
    topic for cls in EXECUTABLES.values()
    for topic in re.findall(r'~/[\w/<>]+', '\n'.join(each.__doc__ or '' for each in cls.__mro__))
}
"""Topics and services that the nodes describe, relative to them."""

WORDS = {
    *CHOICES, *launch_arguments('bringup.launch.py'), *launch_arguments('rov.launch.py'),
    *(choice for choices in CHOICES.values() for choice in choices),
    *FAMILIES, *VEHICLES, *EXECUTABLES, *FLAGS, 'flight_state', 'allocator', 'visualizer',
}
"""Everything that may be called by one word."""
