# SPDX-License-Identifier: Apache-2.0
"""Events and controllers of one configuration, run on what is known at each sample."""
from __future__ import annotations

from collections.abc import Iterator, Sequence

from propulsion_ros.flight.events.conditions import leaves
from propulsion_ros.flight.events.controllers import ControllerBank, ControlOutput, PidSpec
from propulsion_ros.flight.events.event_inputs import (
    OF_ATTITUDE,
    UNKNOWN_ATTITUDE,
    AttitudeReader,
    HeldValues,
)
from propulsion_ros.flight.events.events import (
    Action,
    EventEngine,
    EventFired,
    EventRecord,
    EventSpec,
)
from propulsion_ros.flight.events.permits import ClimbHold, Permits, Speed
from propulsion_ros.flight.events.variables import NAN, Sample, Variables, ned
from propulsion_ros.flight.legacy.events import LegacyEventEngine
from propulsion_ros.flight.phases.phases import Duty, Subphase
from propulsion_ros.flight.phases.progress import NO_DOUBT, Doubt, Progress
from propulsion_ros.settings.errors import ConfigError

_TOGETHER_NS = 3_000_000_000
"""Engines that are lit within so long after the first one belong to one ignition [ns]: people
are still away from the vehicle."""


class EventRunner:
    """Runs controllers, then events, in the phases that do; events start and stop controllers.

    Parameters
    ----------
    events : sequence of EventSpec
        In order of evaluation.
    controllers : sequence of PidSpec
        By id.
    deployers : int
        How many there are.
    semantics : str
        'safe' or 'legacy': how events are evaluated.
    nose : sequence of float
        Direction of the nose in base_link axes.
    max_ascent_time : float
        Time after liftoff at which apogee is assumed [s]; 0 for never.

    Attributes
    ----------
    engine : EventEngine or LegacyEventEngine
        Evaluates the events, and knows which are spent.
    controllers : ControllerBank
        Runs the controllers.
    lit_ns : int or None
        When an event lit the first engine, on the flight clock [ns].

    Raises
    ------
    ConfigError
        Where an action names a deployer or a controller that is not there.
    """

    def __init__(
        self,
        events: Sequence[EventSpec],
        controllers: Sequence[PidSpec],
        deployers: int,
        semantics: str,
        nose: Sequence[float],
        max_ascent_time: float,
    ) -> None:
        _check_targets(events, {'deployment': deployers, 'controller': len(controllers)})
        self.count = len(events)
        self._specs = tuple(events)
        self._ignites = any(event.ignites for event in events)
        self._stoppable = {
            action.target for event in events for action in event.actions
            if action.kind == 'engine' and not action.ignites
        }
        self.engine = LegacyEventEngine(events) if semantics == 'legacy' else EventEngine(events)
        self.controllers = ControllerBank(controllers)
        read = {variable for event in events for variable, _ in leaves(event.condition)}
        read.update(controller.variable for controller in controllers)
        self._attitude = None if read.isdisjoint(OF_ATTITUDE) else AttitudeReader(nose)
        self._holds = any(event.max_age_ns for event in events)
        self._climb = ClimbHold(max_ascent_time)

    def reset(self) -> None:
        """Forget the flight."""
        self.engine.reset()
        self._held = HeldValues()
        self._climb.reset()
        self.controllers.reset()
        self._burning: set[int] = set()
        self.lit_ns: int | None = None
        self._fired: set[int] = set()
        self._known: Variables | None = None

    def restore(
        self, records: Sequence[EventRecord], clock_ns: int, gap_ns: int, *,
        speed: Speed | None, burning: Sequence[int], lit_ns: int | None,
    ) -> None:
        """Continue a recorded flight, whose events were spent ``gap_ns`` before ``clock_ns``.

        It is called after `reset`.
        """
        self._climb.reset(speed)
        self.engine.restore(records, clock_ns, gap_ns)
        self._burning, self.lit_ns = set(burning), lit_ns
        acted = [self._specs[record.id] for record in records if record.count]
        self._fired = {
            action.target for event in acted for action in event.actions if action.deploys
        }

    def _follow(self, action: Action, clock_ns: int) -> None:
        """Run or stop a controller; note which deployers have acted, and which engines burn."""
        if action.kind == 'controller':
            self.controllers.execute(action.target, action.param)
        elif action.deploys:
            self._fired.add(action.target)
        elif action.ignites:
            self._burning.add(action.target)
            self.lit_ns = clock_ns if self.lit_ns is None else self.lit_ns
        elif action.kind == 'engine':
            self._burning.discard(action.target)

    @property
    def burning(self) -> tuple[int, ...]:
        """Engines that were lit, and not shut down since."""
        return tuple(sorted(self._burning))

    @property
    def speed(self) -> Speed | None:
        """Last known upward speed; see `ClimbHold`."""
        return self._climb.latest

    def update(
        self,
        clock_ns: int,
        sample: Sample,
        progress: Progress,
        subphase: Subphase,
        is_frozen: bool,
        permits: Permits,
        doubt: Doubt = NO_DOUBT,
    ) -> tuple[tuple[ControlOutput, ...], list[EventFired]]:
        """Return the steps that controllers took and the events that fired."""
        if not progress.does(Duty.RUN_EVENTS):
            return (), []
        if is_frozen:
            # What repeats itself counts for nothing.
            sample = Sample(sample.stamp_ns, NAN, circuits=sample.circuits)
        variables = self._known = self._variables(clock_ns, sample, progress, subphase, permits)
        if self._holds:
            self._held.update(variables)
        controls: tuple[ControlOutput, ...] = ()
        if progress.does(Duty.RUN_CONTROLLERS):
            controls = self.controllers.update(variables)
        fired = self.engine.update(variables, sample.stamp_ns, self._held.aged, doubt)
        for event in fired:
            for action in event.actions:
                self._follow(action, clock_ns)
        return controls, fired

    def _variables(
        self, clock_ns: int, sample: Sample, progress: Progress, subphase: Subphase,
        permits: Permits,
    ) -> Variables:
        """Return what is known now; angles only where an event or a controller reads one."""
        ignition_ns, liftoff_ns, apogee_ns = (
            None if mark is None else mark.clock_ns for mark in progress.marks
        )
        reader = self._attitude
        attitude = reader.read(sample.rotation) if reader else UNKNOWN_ATTITUDE
        climb = self._climb.update(
            clock_ns, sample.velocity, progress.apogee, sample.altitude, liftoff_ns
        )
        return Variables(
            clock_ns,
            ned(sample.horizontal_position, sample.altitude),
            ned(sample.horizontal_velocity, sample.velocity),
            ned(sample.horizontal_acceleration, sample.acceleration),
            ignition_ns, liftoff_ns, apogee_ns, self.engine.time_since,
            attitude.rocket, attitude.board, attitude.tilt, dict(sample.circuits).get,
            frozenset((progress.phase.value, subphase.value)), permits._replace(climb=climb),
        )

    def unfired(self) -> Iterator[tuple[EventSpec, Sequence[int], tuple[tuple[str, str], ...]]]:
        """Yield events, their deployers that never acted, and the last values they read."""
        for event in self._specs:
            left = {action.target for action in event.actions if action.deploys} - self._fired
            if left and self._known is not None:
                yield event, sorted(left), tuple(event.condition.measured(self._known))

    def pending(self) -> tuple[EventSpec, ...]:
        """Return the events that may still act."""
        spent = {record.id for record in self.engine.records()}
        return tuple(
            event for event in self._specs if event.id not in spent or not event.single_fire
        )

    @property
    def may_ignite(self) -> bool:
        """Whether an event that lights an engine may still act."""
        return self._ignites and any(event.ignites for event in self.pending())

    def is_first_ignition(self, clock_ns: int) -> bool:
        """Return whether no engine was lit yet, or the first of them only just, at a time [ns].

        An engine counts as lit even if its igniter was refused, or dropped by the record.
        """
        return self.lit_ns is None or clock_ns - self.lit_ns <= _TOGETHER_NS

    @property
    def burns(self) -> bool:
        """Whether an engine burns that another event is still to shut down."""
        return not self._burning.isdisjoint(self._stoppable)


def _check_targets(events: Sequence[EventSpec], counts: dict[str, int]) -> None:
    """Refuse a target that does not exist, which would fail only in flight."""
    for event in events:
        for action in event.actions:
            count = counts.get(action.kind)
            if count is not None and not 0 <= action.target < count:
                raise ConfigError(
                    f'events[{event.id}]', f'{action.kind} {action.target} of {count} is unknown'
                )
