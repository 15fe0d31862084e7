# SPDX-License-Identifier: Apache-2.0
"""The block ``Deployers``."""
from __future__ import annotations

import math

from propulsion_ros.flight.pyros.deployers import DeployerSpec
from propulsion_ros.rml.keys import ADDRESS, CHANNEL, check_names, identity, read_place
from propulsion_ros.settings.json_node import JsonNode
from propulsion_ros.settings.keys import key, read_key, read_keys

MOST = 32
"""Deployers in one file."""

_TYPE = key('type', 'what it is', str, choices=('net_actuator', 'local_pyro', 'local_servo'))
_ACTUATOR = key(
    'actuator', 'what is at that node: a pyro, on for a while, or a servo, at an angle', str,
    'pyro', choices=('pyro', 'servo'),
)
COMMON = (
    *identity('deployer'), _TYPE,
    key('max_climb', 'after an abort or an override of apogee it waits above this upward speed',
        unit='m/s', lo=0.0, default=None),
)
TYPES = {
    'net_actuator': (*ADDRESS, _ACTUATOR),
    'local_pyro': CHANNEL,
    'local_servo': CHANNEL,
}


def read_deployers(nodes: list[JsonNode]) -> tuple[DeployerSpec, ...]:
    """Return the deployers of a list."""
    if len(nodes) > MOST:
        raise nodes[MOST].error(f'there are at most {MOST} deployers')
    deployers = tuple(_deployer(node, i) for i, node in enumerate(nodes))
    check_names(nodes, [deployer.name for deployer in deployers])
    return deployers


def _deployer(node: JsonNode, place: int) -> DeployerSpec:
    kind = read_key(node, _TYPE)
    values = read_keys(node, COMMON, TYPES[kind])
    return DeployerSpec(
        read_place(node, place),
        values['name'] if values['name'] is not None else f'deployer_{place}',
        kind,
        values.get('address'),
        values.get('destination_service'),
        values.get('channel'),
        'servo' if kind == 'local_servo' else values.get('actuator', 'pyro'),
        math.inf if values['max_climb'] is None else values['max_climb'],
    )
