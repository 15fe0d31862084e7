# SPDX-License-Identifier: Apache-2.0
"""Conditions of the block ``Events``."""
from __future__ import annotations

from collections.abc import Mapping

from propulsion_ros.flight.events.conditions import (
    MAX_DEPTH,
    All,
    Any,
    Between,
    Condition,
    Continuity,
    LessThan,
    MoreThan,
    Not,
    NoValue,
    leaves,
)
from propulsion_ros.flight.events.variables import VARIABLES
from propulsion_ros.settings.json_node import JsonNode

COMPARISONS: Mapping[str, type[MoreThan | LessThan]] = {
    'MORETHAN': MoreThan,
    'LESSTHAN': LessThan,
}
COMBINATIONS: Mapping[str, type[All | Any]] = {'AND': All, 'OR': Any}
ALIASES = {'TimeSinceLaunch': 'TimeSinceLiftoff'}
CHANNELS = range(4)
_NORM, _DOWN = -1, 2  # components of a position that depend on the altitude
# In the flown software each of these has the value of the other one.
_SWAPPED = {
    'RocketOrientation': 'BoardOrientation', 'BoardOrientation': 'RocketOrientation',
}


class ConditionReader:
    """Reads condition trees.

    Parameters
    ----------
    events : int
        Number of events, for ``TimeSinceEvent``.
    is_legacy : bool
        True to accept what the flown software accepts: no NOT and no BETWEEN, component 0 if
        none is given, and a leaf that is never met if the component does not exist.
    """

    def __init__(self, events: int, is_legacy: bool = False) -> None:
        self._events = events
        self._is_legacy = is_legacy

    def read(self, node: JsonNode, depth: int = 1) -> Condition:
        """Return the condition of an object."""
        if node.has('condition'):
            return self._combination(node, depth)
        if node.has('localPyroChannel'):
            return self._continuity(node)
        operator = node['operator']
        if operator.value == 'BETWEEN' and not self._is_legacy:
            return self._between(node)
        node.check_keys(('operator', 'flightVar', 'component', 'threshold'))
        known = tuple(COMPARISONS) if self._is_legacy else (*COMPARISONS, 'BETWEEN')
        comparison = COMPARISONS[operator.text(known)]
        name = self._variable(node)
        component = self._component(node, name)
        threshold = node.get('threshold', 0) if self._is_legacy else node['threshold']
        if component is None:
            return NoValue(f'{name} {node["component"].value}')
        return comparison(name, component, threshold.number())

    def _between(self, node: JsonNode) -> Condition:
        node.check_keys(('operator', 'flightVar', 'component', 'lower', 'upper'))
        name = self._variable(node)
        component = self._component(node, name)
        lower, upper = node['lower'].number(), node['upper'].number()
        if lower > upper:
            raise node['upper'].error(f'{upper:g} is below lower, {lower:g}')
        return Between(name, component or 0, lower, upper)

    def _continuity(self, node: JsonNode) -> Condition:
        node.check_keys(('localPyroChannel', 'continuity'))
        is_closed = node['continuity'].flag()
        if self._is_legacy and not is_closed:
            raise node['continuity'].error('expected true, the flown software knows no other')
        return Continuity(node['localPyroChannel'].integer(CHANNELS), is_closed)

    def _combination(self, node: JsonNode, depth: int) -> Condition:
        node.check_keys(('operator', 'condition'))
        inner = node['condition']
        is_not = not self._is_legacy and node.get('operator', '').value == 'NOT'
        nodes = [inner] if is_not and isinstance(inner.value, dict) else inner.items()
        if not nodes:
            raise inner.error('expected at least one condition')
        if is_not:
            return self._negation(node, nodes, depth)
        if len(nodes) == 1 and (self._is_legacy or not node.has('operator')):
            # A list of one needs no operator and does not count as a level, as flown.
            return self.read(nodes[0], depth)
        known = tuple(COMBINATIONS) if self._is_legacy else (*COMBINATIONS, 'NOT')
        combination = COMBINATIONS[node['operator'].text(known)]
        if len(nodes) == 1:
            return self.read(nodes[0], depth)
        self._check_depth(node, depth)
        return combination(tuple(self.read(child, depth + 1) for child in nodes))

    def _negation(self, node: JsonNode, nodes: list[JsonNode], depth: int) -> Condition:
        if len(nodes) > 1:
            raise node['condition'].error(f'NOT takes one condition, got {len(nodes)}')
        self._check_depth(node, depth)
        return Not(self.read(nodes[0], depth + 1))

    @staticmethod
    def _check_depth(node: JsonNode, depth: int) -> None:
        if depth > MAX_DEPTH:
            raise node.error(f'conditions are nested more than {MAX_DEPTH} deep')

    def _variable(self, node: JsonNode) -> str:
        if self._is_legacy:
            name = node['flightVar'].text(tuple(VARIABLES))
            return _SWAPPED.get(name, name)
        given = node['flightVar']
        return ALIASES.get(str(given.value)) or given.text(tuple(VARIABLES))

    def _component(self, node: JsonNode, name: str) -> int | None:
        """Return the component, None if the flown software finds no value."""
        variable = VARIABLES[name]
        if self._is_legacy:
            component = node.get('component', 0).integer(range(-(2**31), 2**31))
            if variable.is_event_id:
                component %= 256
                return component if component < self._events else None
            if not variable.has_component:
                return 0
            return component if component in variable.labels else None
        if variable.is_event_id:
            return node['component'].integer(range(self._events))
        if variable.has_component:
            return node['component'].integer(tuple(variable.labels))
        return node.get('component', 0).integer((0,))


def reads_altitude(condition: Condition) -> bool:
    """Return whether any leaf of a condition reads the altitude."""
    return any(leaf in (('Position', _DOWN), ('Position', _NORM)) for leaf in leaves(condition))
