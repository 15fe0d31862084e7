# SPDX-License-Identifier: Apache-2.0
"""Blocks that are checked and then left alone: what they set has no part in a ROS graph."""
from __future__ import annotations

from propulsion_ros.rml.keys import BYTE
from propulsion_ros.settings.json_node import JsonNode
from propulsion_ros.settings.keys import key, read_keys

GENERAL = (
    key('LaunchAccelerationThreshold', 'never read by the flown software either', default=None),
    key('NetworkLogDestination', 'as above', int, None, choices=BYTE),
    key('AutoSethome', 'as above', bool, None),
    key('AutoLaunch', 'as above', bool, None),
    key('PrimaryStorage', 'as above', str, None),
)
NETWORKING = (key('RoutingTable', 'never read by the flown software either', JsonNode, None),)
ROUTE = (
    key('Destination', 'node', int, choices=BYTE),
    key('Interface', 'number', int, choices=BYTE),
    key('Metric', 'cost', int, choices=BYTE),
    key('Address', 'next node', str, None),
)
RADIO = (
    key('Override', 'whether the values below count', bool, None),
    key('Frequency', 'carrier', unit='Hz', above=0.0, default=None),
    key('SyncByte', 'identifies the network', int, None, choices=BYTE),
    key('Bandwidth', 'bandwidth of the modulation', unit='Hz', above=0.0, default=None),
    key('SpreadingFactor', 'spreading factor of the modulation', int, None,
        choices=range(6, 13)),
    key('TxPower', 'transmitted power', unit='dBm', default=None),
)
UNREAD = {'General': GENERAL, 'Networking': NETWORKING, 'Radio': RADIO}


def check_unread(document: JsonNode) -> tuple[str, ...]:
    """Return the names of the blocks that a file has and nothing here uses, keys checked."""
    found = tuple(name for name in UNREAD if document.has(name))
    for name in found:
        values = read_keys(document[name], UNREAD[name])
        table = values.get('RoutingTable')
        for route in table.items() if table is not None else ():
            read_keys(route, ROUTE)
    return found
