"""Blocks that are checked and then left alone: what they set has no part in a ROS graph."""
from __future__ import annotations

from propulsion_ros.rml.keys import BYTE, Key, read_keys
from propulsion_ros.settings.json_node import JsonNode

GENERAL = (
    Key('LaunchAccelerationThreshold', 'never read by the flown software either', default=None),
    Key('NetworkLogDestination', 'as above', 'integer', None, choices=BYTE),
    Key('AutoSethome', 'as above', 'flag', None),
    Key('AutoLaunch', 'as above', 'flag', None),
    Key('PrimaryStorage', 'as above', 'text', None),
)
NETWORKING = (Key('RoutingTable', 'never read by the flown software either', 'node', None),)
ROUTE = (
    Key('Destination', 'node', 'integer', choices=BYTE),
    Key('Interface', 'number', 'integer', choices=BYTE),
    Key('Metric', 'cost', 'integer', choices=BYTE),
    Key('Address', 'next node', 'text', None),
)
RADIO = (
    Key('Override', 'whether the values below count', 'flag', None),
    Key('Frequency', 'carrier', unit='Hz', above=0.0, default=None),
    Key('SyncByte', 'network', 'integer', None, choices=BYTE),
    Key('Bandwidth', 'of the modulation', unit='Hz', above=0.0, default=None),
    Key('SpreadingFactor', 'of the modulation', 'integer', None, choices=range(6, 13)),
    Key('TxPower', 'sent', unit='dBm', default=None),
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
