# SPDX-License-Identifier: Apache-2.0
"""The block ``Events``: actions, guards and conditions."""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from propulsion_ros.flight.events.conditions import All, Condition
from propulsion_ros.flight.events.events import IN_THE_AIR, ON_THE_WAY_UP, Action, EventSpec
from propulsion_ros.flight.phases.phases import ON_THE_WAY_DOWN, Phase, Subphase
from propulsion_ros.flight.pyros.deployers import DeployerSpec
from propulsion_ros.flight.pyros.engines import EngineSpec
from propulsion_ros.rml.conditions import ConditionReader, reads_altitude
from propulsion_ros.rml.devices import BYTE, MOST_DEPLOYERS, read_place
from propulsion_ros.settings.json_node import JsonNode, key, read_key, read_keys

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
        self, values: dict[str, Any], condition: Condition, actions: tuple[Action, ...]
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
