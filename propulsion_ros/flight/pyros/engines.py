# SPDX-License-Identifier: Apache-2.0
"""Engines: igniter, valves, and the sequence between ignition and shutdown."""
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from propulsion_ros.flight.events.conditions import Condition
from propulsion_ros.settings.errors import CommandError
from propulsion_ros.timing.dwell import OnTimes

VENT_DELAY_NS = 1_000_000_000
"""Time from shutdown to the opening of the vents, as in the flown software [ns]."""


@dataclass(frozen=True)
class IgniterSpec:
    """What lights an engine: its on-time [ns], and the channel of a local pyro."""

    on_time_ns: int
    channel: int | None = None


@dataclass(frozen=True)
class ValveSpec:
    """One servo valve: its name, and its two positions [rad].

    ``is_safe_open`` is whether a stop of the bank leaves it open.
    """

    name: str
    closed: float
    open: float
    is_safe_open: bool = True


@dataclass(frozen=True)
class EngineSpec:
    """One configured engine.

    Attributes
    ----------
    id : int
        Its place in the list.
    name : str
        Its name in the JointState; the igniter is ``<name>/igniter``, a valve ``<name>/<valve>``.
    igniter : IgniterSpec
        Fired at ignition.
    valves : tuple of ValveSpec
        Closed from arming to one second after shutdown, then open.
    booster : str
        Name of the booster that simulates it, '' for none.
    thrust : float
        Effort of that booster while the engine runs [N].
    landing : bool
        Whether it may be lit on the way down.
    limits : tuple of Condition
        What must hold when events light it, beside their own conditions.
    """

    id: int
    name: str
    igniter: IgniterSpec
    valves: tuple[ValveSpec, ...] = ()
    booster: str = ''
    thrust: float = 0.0
    landing: bool = False
    limits: tuple[Condition, ...] = ()


class EngineRow(NamedTuple):
    """One row of the JointState of engines; `math.nan` itself where a row has no such field."""

    name: str
    position: float = math.nan
    effort: float = math.nan


@dataclass
class _State:
    is_running: bool = False
    was_run: bool = False
    is_unknown: bool = False
    demand: float = math.nan


class EngineBank:
    """Carries out ignition and shutdown of all engines.

    Ignition closes the valves, fires the igniter for its on-time and runs the engine. Shutdown
    ends both and opens the valves after one second. Valves are commanded from the first arming
    on: before it their position is unknown. Ignition is refused while disarmed, and
    once the ascent is over of all engines but those of the landing; disarming shuts every engine
    down. A stop leaves every valve where it is safe.

    Parameters
    ----------
    specs : sequence of EngineSpec
        The place of each is its id.
    """

    def __init__(self, specs: Sequence[EngineSpec]) -> None:
        self._specs = tuple(specs)
        self._states = [_State() for _ in self._specs]
        self._igniters = OnTimes(len(self._specs))
        self._vent_delays = OnTimes(len(self._specs))
        self._is_armed = False
        self._was_armed = False
        self._is_down = False
        self._is_stopped = False

    def arm(self, is_armed: bool, now_ns: int, *, is_down: bool = False) -> None:
        """Follow the phase; disarming shuts all engines down, arming anew closes the valves.

        Parameters
        ----------
        is_armed : bool
            Whether engines may be on.
        now_ns : int
            Now [ns].
        is_down : bool
            Whether the ascent is over, so that only engines of the landing may be lit.
        """
        self._is_down = is_down
        self._is_stopped = False
        if self._is_armed and not is_armed:
            self.shut_all_down(now_ns)
        elif is_armed and not self._is_armed:
            for state in self._states:
                state.was_run = False
        self._is_armed = is_armed
        self._was_armed |= is_armed

    def stop(self, now_ns: int) -> None:
        """Shut all engines down and leave the valves where they are safe, for good."""
        self.arm(False, now_ns)
        self.shut_all_down(now_ns)
        self._is_stopped = True

    def resume(self) -> None:
        """Continue a flight whose engines another process has lit, so that their state is unknown.

        Until they are commanded, or shut down by the phase, that state is not published.
        """
        for i, state in enumerate(self._states):
            self._states[i] = _State(True, True, is_unknown=True, demand=state.demand)

    def execute(self, engine_id: int, param: float, now_ns: int) -> None:
        """Ignite (1) or shut down (0) an engine.

        Raises
        ------
        CommandError
            Where the id or the parameter is unknown, or ignition is not allowed.
        """
        if not 0 <= engine_id < len(self._specs):
            raise CommandError(f'engine {engine_id} is unknown, there are {len(self._specs)}')
        name = self._specs[engine_id].name
        if param == 0:
            self._shut_down(engine_id, now_ns)
        elif param != 1:
            raise CommandError(f"engine '{name}': expected 0 or 1, got {param:g}")
        elif not self._is_armed:
            raise CommandError(f"engine '{name}' is refused: the phase is not an armed one")
        elif self._is_down and not self._specs[engine_id].landing:
            raise CommandError(
                f"engine '{name}' is refused: the ascent is over, and it is not declared for the "
                'landing'
            )
        else:
            self._ignite(engine_id, now_ns)

    def shut_all_down(self, now_ns: int) -> None:
        """Shut every engine down."""
        for i in range(len(self._specs)):
            self._shut_down(i, now_ns)

    def control(self, engine_id: int, demand: float) -> None:
        """Take a controller's demand on an engine's thrust [N]; NaN ends that."""
        if 0 <= engine_id < len(self._states):
            self._states[engine_id].demand = demand

    def rows(self, now_ns: int) -> list[EngineRow]:
        """Return what to publish of all engines, igniters and valves now."""
        rows = []
        for i, (spec, state) in enumerate(zip(self._specs, self._states, strict=True)):
            effort = math.nan if state.is_unknown else float(state.is_running)
            rows.append(EngineRow(spec.name, effort=effort))
            rows.append(EngineRow(
                f'{spec.name}/igniter', effort=float(self._igniters.is_on(i, now_ns))
            ))
            rows += [
                EngineRow(f'{spec.name}/{valve.name}', self._position(i, valve, now_ns))
                for valve in spec.valves
            ]
        return rows

    def _position(self, i: int, valve: ValveSpec, now_ns: int) -> float:
        """Return where a valve is commanded to stand [rad], NaN where it is left alone."""
        state = self._states[i]
        if state.is_unknown or not (self._is_stopped or self._was_armed):
            return math.nan
        if self._is_stopped:
            is_open = valve.is_safe_open
        else:
            has_burnt = state.was_run and not state.is_running
            is_open = has_burnt and not self._vent_delays.is_on(i, now_ns)
        return valve.open if is_open else valve.closed

    def thrusts(self) -> dict[str, float]:
        """Return the effort of each booster [N] that an engine drives; 0 shuts it down."""
        return {
            spec.booster: self._thrust(spec, state)
            for spec, state in zip(self._specs, self._states, strict=True)
            if spec.booster and not state.is_unknown
        }

    @staticmethod
    def _thrust(spec: EngineSpec, state: _State) -> float:
        if not state.is_running:
            return 0.0
        return spec.thrust if math.isnan(state.demand) else min(max(state.demand, 0.0), spec.thrust)

    def _ignite(self, i: int, now_ns: int) -> None:
        if self._states[i].is_running and not self._states[i].is_unknown:
            return
        self._states[i] = _State(is_running=True, was_run=True, demand=self._states[i].demand)
        self._vent_delays.stop(i)
        self._igniters.start(i, now_ns, self._specs[i].igniter.on_time_ns)

    def _shut_down(self, i: int, now_ns: int) -> None:
        self._igniters.stop(i)
        # The demand of a controller ends with the burn.
        self._states[i].demand = math.nan
        self._states[i].is_unknown = False
        if self._states[i].is_running:
            self._states[i].is_running = False
            self._vent_delays.start(i, now_ns, VENT_DELAY_NS)
