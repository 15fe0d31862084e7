# SPDX-License-Identifier: Apache-2.0
"""The block ``Events``: conditions, actions and guards."""
from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any as Anything

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
from propulsion_ros.flight.events.events import IN_THE_AIR, ON_THE_WAY_UP, Action, EventSpec
from propulsion_ros.flight.events.variables import VARIABLES
from propulsion_ros.flight.phases.phases import ON_THE_WAY_DOWN, Phase, Subphase
from propulsion_ros.flight.pyros.deployers import DeployerSpec
from propulsion_ros.flight.pyros.engines import EngineSpec
from propulsion_ros.rml.devices import BYTE, MOST_DEPLOYERS, read_place
from propulsion_ros.settings.json_node import JsonNode, key, read_key, read_keys

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


DEFAULT_COOLDOWN_MS = 1000.0
ALTITUDE_DWELL_MS = 300.0
"""Time for which the altitude must meet the condition of a deployment, so that one wrong sample
fires nothing [ms]."""
GUARDS = (
    *(phase.value for phase in Phase if phase.is_armed),
    *(subphase.value for subphase in Subphase if subphase.value),
)
_INT32 = range(-(2**31), 2**31)

EVENT = (
    key('id', 'its place in the list, which is the order of evaluation', JsonNode, None),
    key('name', 'for people; `event <id>` by default', str, None),
    key('single_fire', 'whether it is spent after the first time', bool, True),
    key('cooldown', 'actions are repeated only after more than this', unit='ms', lo=0.0,
        default=DEFAULT_COOLDOWN_MS),
    key('action', 'an action, a list of them, or null', JsonNode, None),
    key('condition', 'when it is triggered', JsonNode),
)
SAFE = (
    key('phases', 'phases or sub-phases in which it is evaluated; by default flight and recovery '
        'for events that deploy, launch and flight for others that move an engine, else every '
        'armed phase', JsonNode, None),
    key('for_ms', 'for how long the condition must hold; by default 300 ms for events that deploy '
        'by the altitude, else 0', float, None, unit='ms', lo=0.0),
    key('max_age_ms', 'how old the last known value may be where the sample has none',
        unit='ms', lo=0.0, default=0.0),
)
_TYPE = key(
    'type', 'what it is', str,
    choices=('deployment', 'engine', 'controller', 'command', 'null'),
)
ACTIONS = {
    'deployment': (
        key('id', 'of the deployer', JsonNode),
        key('param', 'on-time [ms] of a pyro, angle [deg] of a servo', JsonNode),
    ),
    'engine': (
        key('id', 'of the engine', JsonNode),
        key('param', '1 ignites, 0 shuts down', int, choices=(0, 1)),
    ),
    'controller': (
        key('id', 'of the controller', JsonNode),
        key('param', '1 runs it, 0 stops it', int, choices=(0, 1)),
    ),
    'command': (
        key('destination', 'node of the flown network', int, choices=BYTE),
        key('destination_service', 'service at that node', int, choices=BYTE),
        key('command_id', 'number of the command', int, choices=BYTE),
        key('command_arg', 'its argument', int, choices=_INT32),
    ),
    'null': (),
}


_ON_TIMES_MS = (1.0, 60_000.0)
"""Bounds of on-times of a pyro: less fires nothing, more drains the battery [ms]."""


class EventReader:
    """Reads events.

    Parameters
    ----------
    deployers, engines : sequence or None
        Those that actions may name; None if the file does not describe them.
    controllers : int
        Number of controllers.
    is_legacy : bool
        True to accept what the flown software accepts, no more and no less.
    """

    def __init__(
        self,
        deployers: Sequence[DeployerSpec] | None,
        engines: Sequence[EngineSpec] | None,
        controllers: int,
        is_legacy: bool,
    ) -> None:
        self._deployers, self._engines, self._controllers = deployers, engines, controllers
        self._is_legacy = is_legacy

    def read(self, nodes: Sequence[JsonNode]) -> tuple[EventSpec, ...]:
        """Return the events of a list."""
        conditions = ConditionReader(len(nodes), self._is_legacy)
        return tuple(self._event(node, i, conditions) for i, node in enumerate(nodes))

    def _event(self, node: JsonNode, place: int, conditions: ConditionReader) -> EventSpec:
        read_place(node, place)
        if self._is_legacy:
            for name in ('single_fire', 'cooldown'):
                node[name]  # required: the flown software never used its default
            values = read_keys(node, EVENT)
        else:
            values = read_keys(node, EVENT, SAFE)
        condition = conditions.read(values['condition'])
        actions = self._actions(values['action'])
        if not self._is_legacy:
            condition = self._limited(condition, actions)
        return EventSpec(
            id=place,
            name=values['name'] if values['name'] is not None else f'event {place}',
            condition=condition,
            actions=actions,
            single_fire=values['single_fire'],
            cooldown_ns=round(values['cooldown'] * 1e6),
            phases=() if self._is_legacy else self._phases(values['phases'], actions),
            dwell_ns=round(self._dwell_ms(values, condition, actions) * 1e6),
            max_age_ns=round(values.get('max_age_ms', 0.0) * 1e6),
            max_climb=self._max_climb(actions),
            lands=self._lands(actions),
        )

    def _dwell_ms(
        self, values: dict[str, Anything], condition: Condition, actions: tuple[Action, ...]
    ) -> float:
        """Return the time for which a condition must hold [ms]."""
        if self._is_legacy:
            return 0.0
        given: float | None = values['for_ms']
        if given is not None:
            return given
        is_careful = reads_altitude(condition) and any(action.deploys for action in actions)
        return ALTITUDE_DWELL_MS if is_careful else 0.0

    def _max_climb(self, actions: tuple[Action, ...]) -> float:
        """Return the smallest max_climb of the deployers of an event [m/s]."""
        speeds = [
            self._deployers[action.target].max_climb for action in actions
            if action.deploys and self._deployers
        ]
        return min(speeds, default=math.inf)

    def _limited(self, condition: Condition, actions: tuple[Action, ...]) -> Condition:
        """Return a condition combined with the limits of the engines that the event lights."""
        lit = [self._engine(action) for action in actions if action.ignites]
        limits = dict.fromkeys(limit for engine in lit for limit in engine.limits)
        return All((condition, *limits)) if limits else condition

    def _lands(self, actions: tuple[Action, ...]) -> bool:
        """Return whether every engine that an event lights may be lit on the way down."""
        return self._engines is not None and all(
            self._engine(action).landing for action in actions if action.ignites
        )

    def _engine(self, action: Action) -> EngineSpec:
        return (self._engines or ())[action.target]

    def _phases(self, node: JsonNode | None, actions: tuple[Action, ...]) -> tuple[str, ...]:
        deploys = any(action.deploys for action in actions)
        if node is None:
            if deploys:
                return IN_THE_AIR
            return ON_THE_WAY_UP if any(action.kind == 'engine' for action in actions) else ()
        nodes = node.items()
        if not nodes:
            raise node.error('expected at least one phase')
        words = tuple(dict.fromkeys(item.text(GUARDS) for item in nodes))
        if deploys and Phase.LAUNCH.value in words:
            raise node.error('deployers act in flight and recovery alone, not in launch')
        self._check_landing(node, words, actions)
        return words

    def _check_landing(
        self, node: JsonNode, words: tuple[str, ...], actions: tuple[Action, ...]
    ) -> None:
        """Refuse an event for an engine that the engine bank would not light."""
        down = [word for word in words if word in ON_THE_WAY_DOWN]
        for action in actions:
            if down and action.ignites and not self._engine(action).landing:
                name = self._engine(action).name
                raise node.error(
                    f"engine '{name}' is not lit after apogee, declare landing: true or leave "
                    f'out {" and ".join(down)}'
                )

    def _actions(self, node: JsonNode | None) -> tuple[Action, ...]:
        if node is None:
            return ()
        if self._is_legacy and not isinstance(node.value, (dict, list)):
            return ()
        nodes = [node] if isinstance(node.value, dict) else node.items()
        return tuple(filter(None, (self._action(action) for action in nodes)))

    def _action(self, node: JsonNode) -> Action | None:
        known = node.get('type', '').value
        if self._is_legacy and known not in ('deployment', 'engine', 'command'):
            return None
        kind = read_key(node, _TYPE)
        if kind == 'null':
            node.check_keys(('type',))
            return None
        values = read_keys(node, (_TYPE,), ACTIONS[kind])
        if kind == 'command':
            return Action(
                kind, values['destination'], float(values['command_arg']),
                values['destination_service'], values['command_id'],
            )
        target = values['id'].integer(range(self._count(kind)))
        param = values['param']
        if kind == 'deployment':
            param = self._deployment(values['param'], target)
        return Action(kind, target, float(param))

    def _count(self, kind: str) -> int:
        if kind == 'controller':
            return self._controllers
        known = self._engines if kind == 'engine' else self._deployers
        return MOST_DEPLOYERS if known is None else len(known)

    def _deployment(self, node: JsonNode, target: int) -> float:
        if self._deployers is not None and self._deployers[target].actuator == 'servo':
            return node.number(lo=0.0, hi=180.0, unit='deg')
        if self._is_legacy:
            return node.number(lo=0.0, unit='ms')
        return node.number(lo=_ON_TIMES_MS[0], hi=_ON_TIMES_MS[1], unit='ms')
