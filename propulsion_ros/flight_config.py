"""Reader of the flight configuration, the Ricardo Markup Language of Pickle Rick (JSONC).

Lengths are metres in north-east-down axes, times milliseconds, as flown; conditions keep those
units and say themselves in metres of altitude and seconds. This first cut reads the blocks
``Events`` and ``Deployers``; the other blocks of the language are named in `FlightConfig.unread`.
"""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import json5

from propulsion_ros.errors import SourceError
from propulsion_ros.flight.conditions import MAX_DEPTH, All, Any, Condition, LessThan, MoreThan
from propulsion_ros.flight.deployers import DeployerSpec
from propulsion_ros.flight.events import Action, EventSpec
from propulsion_ros.flight.variables import VARIABLES
from propulsion_ros.json_node import JsonNode

_UNREAD = ('General', 'Networking', 'Radio', 'Estimator', 'Sensors', 'Engines', 'Controllers')
_COMPARISONS: Mapping[str, type[MoreThan | LessThan]] = {
    'MORETHAN': MoreThan,
    'LESSTHAN': LessThan,
}
_COMBINATIONS: Mapping[str, type[All | Any]] = {'AND': All, 'OR': Any}
_DEPLOYER_KEYS = {
    'net_actuator': {'address': range(256), 'destination_service': range(256)},
    'local_pyro': {'channel': range(4)},
}
_DEFAULT_COOLDOWN_MS = 1000.0
_MAX_DEPLOYERS = 32


@dataclass(frozen=True)
class FlightConfig:
    """What a configuration file says.

    Attributes
    ----------
    events : tuple of EventSpec
        In order of evaluation, at least one.
    deployers : tuple of DeployerSpec
        By id. A file without the block gets one for each id up to the highest that is used.
    unread : tuple of str
        Blocks of the language that the file has and this reader passes over.
    """

    events: tuple[EventSpec, ...]
    deployers: tuple[DeployerSpec, ...]
    unread: tuple[str, ...] = ()


def load_flight_config(path: str | Path) -> FlightConfig:
    """Read a configuration file.

    Raises
    ------
    SourceError
        With the file's name and the path inside it, for everything that is wrong.
    """
    try:
        text = Path(path).read_text(encoding='utf-8')
    except (OSError, UnicodeDecodeError) as e:
        raise SourceError(str(path), f'cannot be read: {e}') from e
    try:
        return read_flight_config(text)
    except SourceError as e:
        raise SourceError(f'{path}: {e.key}', e.problem) from e


def read_flight_config(text: str) -> FlightConfig:
    """Return what a JSONC text configures; see `load_flight_config`."""
    try:
        document = JsonNode(json5.loads(text, allow_duplicate_keys=False))
    except ValueError as e:
        raise SourceError('document', f'is not JSON: {" ".join(str(e).split())}') from e
    except RecursionError as e:
        raise SourceError('document', 'is nested too deeply') from e
    document.check_keys(('Events', 'Deployers', *_UNREAD))
    nodes = document['Events'].items()
    if not nodes:
        raise document['Events'].error('expected at least one event')
    deployers = None
    if document.has('Deployers'):
        deployers = _deployers(document['Deployers'].items())
    limit = _MAX_DEPLOYERS if deployers is None else len(deployers)
    events = tuple(_event(node, i, len(nodes), limit) for i, node in enumerate(nodes))
    if deployers is None:
        used = [action.target for event in events for action in event.actions]
        ids = range(max(used, default=-1) + 1)
        deployers = tuple(DeployerSpec(i, f'deployer_{i}') for i in ids)
    return FlightConfig(events, deployers, tuple(key for key in _UNREAD if document.has(key)))


def _deployers(nodes: list[JsonNode]) -> tuple[DeployerSpec, ...]:
    if len(nodes) > _MAX_DEPLOYERS:
        raise nodes[_MAX_DEPLOYERS].error(f'there are at most {_MAX_DEPLOYERS} deployers')
    deployers: list[DeployerSpec] = []
    for i, node in enumerate(nodes):
        deployer = _deployer(node, i)
        if deployer.name in [other.name for other in deployers]:
            raise node.get('name', '').error(f"'{deployer.name}' is named twice")
        deployers.append(deployer)
    return tuple(deployers)


def _deployer(node: JsonNode, place: int) -> DeployerSpec:
    kind = node['type'].text(tuple(_DEPLOYER_KEYS))
    keys = _DEPLOYER_KEYS[kind]
    node.check_keys(('id', 'name', 'type', *keys))
    return DeployerSpec(
        _place(node, place),
        node.get('name', f'deployer_{place}').text(),
        kind,
        **{key: node[key].integer(allowed) for key, allowed in keys.items()},
    )


def _event(node: JsonNode, place: int, events: int, deployers: int) -> EventSpec:
    node.check_keys(('id', 'name', 'single_fire', 'cooldown', 'action', 'condition'))
    cooldown_ms = node.get('cooldown', _DEFAULT_COOLDOWN_MS).number(lo=0.0, unit='ms')
    return EventSpec(
        id=_place(node, place),
        name=node.get('name', f'event {place}').text(),
        condition=_condition(node['condition'], events),
        actions=_actions(node.get('action', []), deployers),
        single_fire=node.get('single_fire', True).flag(),
        cooldown_ns=round(cooldown_ms * 1e6),
    )


def _place(node: JsonNode, place: int) -> int:
    given = node['id']
    if given.value != place or isinstance(given.value, bool):
        raise given.error(f'expected {place}, its place in the list, got {given.value!r}')
    return place


def _actions(node: JsonNode, deployers: int) -> tuple[Action, ...]:
    nodes = [node] if isinstance(node.value, dict) else node.items()
    return tuple(_action(action, deployers) for action in nodes)


def _action(node: JsonNode, deployers: int) -> Action:
    kind = node['type'].text(('deployment',))
    node.check_keys(('type', 'id', 'param'))
    on_time_ms = node['param'].number(above=0.0, unit='ms')
    return Action(kind, node['id'].integer(range(deployers)), on_time_ms)


def _condition(node: JsonNode, events: int, depth: int = 1) -> Condition:
    if node.has('condition'):
        return _combination(node, events, depth)
    node.check_keys(('operator', 'flightVar', 'component', 'threshold'))
    comparison = _COMPARISONS[node['operator'].text(tuple(_COMPARISONS))]
    name = node['flightVar'].text(tuple(VARIABLES))
    return comparison(name, _component(node, name, events), node['threshold'].number())


def _combination(node: JsonNode, events: int, depth: int) -> Condition:
    node.check_keys(('operator', 'condition'))
    nodes = node['condition'].items()
    if len(nodes) == 1 and not node.has('operator'):
        # A list of one needs no operator and does not count as a level, as flown.
        return _condition(nodes[0], events, depth)
    if not nodes:
        raise node['condition'].error('expected at least one condition')
    combination = _COMBINATIONS[node['operator'].text(tuple(_COMBINATIONS))]
    if len(nodes) == 1:
        return _condition(nodes[0], events, depth)
    if depth > MAX_DEPTH:
        raise node.error(f'conditions are nested more than {MAX_DEPTH} deep')
    return combination(tuple(_condition(child, events, depth + 1) for child in nodes))


def _component(node: JsonNode, name: str, events: int) -> int:
    variable = VARIABLES[name]
    if variable.is_event_id:
        return node['component'].integer(range(events))
    if variable.has_component:
        return node['component'].integer(tuple(variable.labels))
    return node.get('component', 0).integer((0,))
