# SPDX-License-Identifier: Apache-2.0
"""Firings of events, which wait until the record of the flight has them."""
from __future__ import annotations

from dataclasses import dataclass

from propulsion_ros.flight.events.events import Action, EventFired
from propulsion_ros.flight.flight_report import FlightReport
from propulsion_ros.loops.flight.actuation import FlightActuation
from propulsion_ros.loops.flight.outputs import FlightOutputs
from propulsion_ros.loops.flight.record_file import OwedPulse
from propulsion_ros.loops.flight.recorder import LONGEST_WAIT, FlightRecorder
from propulsion_ros.loops.ports import Host
from propulsion_ros.rml.config import FlightConfig


@dataclass
class _Firing:
    """What one sample fires, the number of its record, and since when it waits [ns]."""

    number: int
    steady_ns: int
    report: FlightReport
    resumed: tuple[OwedPulse, ...]
    ignitions: list[tuple[EventFired, Action]]
    has_acted: bool = False


class Firings:
    """Fires what events command once the record has it, without blocking on the disk.

    Deployers act at least once: if the record is not written within `LONGEST_WAIT`, or cannot be
    relied on, they act without it, and after a restart their event may be detected again.
    Engines are lit at most once: if the record is late they are not lit, because a restart could
    light them again. In a simulation, which gives the same outputs whatever the disk does,
    and in a replay they are lit in any case.

    Parameters
    ----------
    is_robot : bool
        Whether engines need a record.
    """

    def __init__(
        self,
        host: Host,
        config: FlightConfig,
        record: FlightRecorder,
        is_robot: bool,
        outputs: FlightOutputs,
        actuation: FlightActuation,
    ) -> None:
        self._host, self._config, self._record, self._is_robot = host, config, record, is_robot
        self._outputs, self._actuation = outputs, actuation
        self._lights = is_robot and any(event.ignites for event in config.events)
        self.reset()

    def reset(self) -> None:
        """Forget what waits."""
        self._waiting: list[_Firing] = []

    @property
    def problem(self) -> str:
        """Why what is fired cannot be recorded first, '' if it can."""
        if self._lights and not self._record.is_kept:
            return 'no state_file: on a robot engines are lit only where the record of it is kept'
        return self._record.problem

    def add(self, report: FlightReport, resumed: tuple[OwedPulse, ...]) -> None:
        """Take what a sample fires, and have it recorded."""
        if not (report.events or resumed):
            return
        # A controller needs no record: it begins anew after a restart.
        acts = any(a.kind != 'controller' for event in report.events for a in event.actions)
        number = self._record.keep_first() if acts or resumed else 0
        if not self._is_robot:
            self._record.wait(number)
        firing = _Firing(number, self._host.steady_ns(), report, resumed, [])
        self._waiting.append(firing)
        for event in report.events:
            for action in event.actions:
                if action.ignites:
                    firing.ignitions.append((event, action))
                elif action.kind == 'engine':
                    self.drop_ignitions('it was shut down', action.target)

    def release(self) -> bool:
        """Fire what is recorded or has waited for long enough; return whether anything fired."""
        has_fired = False
        for firing in self._waiting:
            if not firing.has_acted and not self._may_act(firing):
                break
            if not firing.has_acted:
                self._outputs.publish_events(firing.report)
                self._actuation.act(firing.report.events, firing.resumed)
                firing.has_acted = has_fired = True
            held = [(e, a) for e, a in firing.ignitions if not self._light_or_drop(firing, e, a)]
            has_fired |= len(held) < len(firing.ignitions)
            firing.ignitions = held
        self._waiting = [f for f in self._waiting if f.ignitions or not f.has_acted]
        return has_fired

    def _may_act(self, firing: _Firing) -> bool:
        """Return whether a firing, except its ignitions, waits no longer."""
        if not self._is_robot or self._is_recorded(firing) or self._record.problem:
            return True
        if self._is_late(firing):
            self._record.note_hang()
            return True
        return False

    def _is_recorded(self, firing: _Firing) -> bool:
        return self._record.written >= firing.number

    def _is_late(self, firing: _Firing) -> bool:
        return self._host.steady_ns() - firing.steady_ns >= round(LONGEST_WAIT * 1e9)

    def _light_or_drop(self, firing: _Firing, event: EventFired, action: Action) -> bool:
        """Light an engine whose ignition is recorded, or drop one that is late.

        Return whether either was done; else it waits.
        """
        is_kept = self._record.is_kept
        if not self._is_robot or (is_kept and self._is_recorded(firing)):
            self._actuation.light(action)
            return True
        if is_kept and not self._is_late(firing):
            return False
        self._report(event, action, (
            f'its record was not written within {LONGEST_WAIT:g} s, and a restart could light it '
            'again'
        ) if is_kept else self.problem)
        return True

    def drop_ignitions(self, why: str, target: int | None = None) -> None:
        """Drop ignitions that wait for their record: of one engine, or by default of all."""
        for firing in self._waiting:
            dropped = [(e, a) for e, a in firing.ignitions if target in (None, a.target)]
            firing.ignitions = [pair for pair in firing.ignitions if pair not in dropped]
            for event, action in dropped:
                self._report(event, action, f'{why} before its record was written')

    def cancel(self, why: str) -> None:
        """Drop everything that waits."""
        self.drop_ignitions(why)
        for firing in self._waiting:
            for event in () if firing.has_acted else firing.report.events:
                self._host.log('warn', f'event {event.name} does not act: {why}')
        self._waiting = []

    def _report(self, event: EventFired, action: Action, why: str) -> None:
        name = self._config.engines[action.target].name
        self._host.log('error', f"engine '{name}' is not lit by {event.name}: {why}")
