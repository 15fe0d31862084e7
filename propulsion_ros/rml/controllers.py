# SPDX-License-Identifier: Apache-2.0
"""The block ``Controllers``."""
from __future__ import annotations

from propulsion_ros.flight.events.controllers import PidSpec
from propulsion_ros.flight.events.variables import VARIABLES
from propulsion_ros.rml.keys import check_names, identity, read_place
from propulsion_ros.settings.json_node import JsonNode
from propulsion_ros.settings.keys import key, read_keys

VECTORS = tuple(name for name, variable in VARIABLES.items() if not variable.is_event_id)
COMMON = (
    *identity('controller'),
    key('type', 'what it is', str, choices=('pid',)),
    key('Kp', 'proportional gain, output per unit of the input'),
    key('Ki', 'integral gain, per unit and second'),
    key('Kd', 'derivative gain, per unit a second'),
    key('setpoint', 'what the input should be'),
    key('updateInterval', 'least time between two steps', unit='ms', lo=0.0),
    key('doohickeyType', 'what gets the output', str, 'Engine', choices=('Engine',)),
    key('doohickeyID', 'id of that engine', JsonNode),
    key('flightVar', 'the input', str, 'Position', choices=VECTORS),
    key('component', 'which component of the input', JsonNode, 1),
)


def read_controllers(nodes: list[JsonNode], engines: int) -> tuple[PidSpec, ...]:
    """Return the controllers of a list, for so many engines."""
    controllers = tuple(_controller(node, i, engines) for i, node in enumerate(nodes))
    check_names(nodes, [controller.name for controller in controllers])
    return controllers


def _controller(node: JsonNode, place: int, engines: int) -> PidSpec:
    values = read_keys(node, COMMON)
    variable = VARIABLES[values['flightVar']]
    component = (
        values['component'].integer(tuple(variable.labels)) if variable.has_component else 0
    )
    return PidSpec(
        read_place(node, place),
        values['name'] if values['name'] is not None else f'controller_{place}',
        values['Kp'], values['Ki'], values['Kd'], values['setpoint'],
        round(values['updateInterval'] * 1e6),
        values['doohickeyID'].integer(range(engines)),
        values['flightVar'], component,
    )
