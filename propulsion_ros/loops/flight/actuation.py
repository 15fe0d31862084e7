# SPDX-License-Identifier: Apache-2.0
"""Outputs of a flight computer: deployers, engines, and boosters that simulate engines."""
from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from propulsion_ros.flight.events.controllers import ControlOutput
from propulsion_ros.flight.events.events import Action, EventFired, EventRecord
from propulsion_ros.flight.flight_report import FlightReport
from propulsion_ros.flight.phases.phases import Phase
from propulsion_ros.flight.pyros.actuators import Actuators
from propulsion_ros.flight.pyros.deployers import PERIOD_NS, on_time_of
from propulsion_ros.flight.pyros.engines import EngineRow
from propulsion_ros.loops.flight.outputs import is_due
from propulsion_ros.loops.flight.record_file import OwedPulse
from propulsion_ros.loops.payloads import JointRow, Kind
from propulsion_ros.loops.ports import Host, Outlet
from propulsion_ros.rml.config import FlightConfig
from propulsion_ros.settings.errors import CommandError

ATTEMPTS = 3
"""How often the pulse of an event is begun, the first time included."""
APART_NS = 1_000_000_000
"""Time between the starts of two attempts [ns], in which the supply voltage can recover."""
RECORDERS = ('rosbag2_recorder', 'recorder', 'live_view', '_ros2cli')
"""Names of nodes that move nothing, also with `_` and more behind them: those of ``ros2 bag
record``, of this package's ``record`` and ``view --live``, and of ``ros2 topic echo``."""
_OLDEST_NS = 3_000_000_000
"""Largest age of what is known of the graph [ns]: three times the time between two checks."""


class OwedPulses:
    """Stores the pulses that were begun and are not complete.

    Such a pulse is planned until the record has it, and then on. A pulse that a restart
    interrupted waits for its next attempt.
    """

    def __init__(self) -> None:
        self._planned: dict[tuple[int, int], OwedPulse] = {}
        self._on: dict[tuple[int, int], tuple[OwedPulse, int]] = {}
        self._waiting: dict[tuple[int, int], OwedPulse] = {}
        self._next_ns = 0

    @property
    def is_waiting(self) -> bool:
        """Whether a pulse waits."""
        return bool(self._waiting)

    @property
    def on(self) -> tuple[OwedPulse, ...]:
        """Pulses that were begun, and may be complete since `finish` was called."""
        return tuple(pulse for pulse, _ in self._on.values())

    @property
    def owed(self) -> tuple[OwedPulse, ...]:
        """All pulses that are not complete."""
        return (*self._planned.values(), *self.on, *self._waiting.values())

    def plan(self, pulse: OwedPulse) -> None:
        """Take a pulse that begins once the record has it."""
        key = pulse.event, pulse.deployer
        self._waiting.pop(key, None)
        self._planned[key] = pulse

    def begun_after(self, time_ns: int) -> list[OwedPulse]:
        """Return the pulses that are on and were begun after a time [ns]."""
        return [pulse for pulse, begun_ns in self._on.values() if begun_ns > time_ns]

    def begin(self, event: int, deployer: int, now_ns: int) -> None:
        """Begin a planned pulse."""
        pulse = self._planned.pop((event, deployer), None)
        if pulse is not None:
            self._on[event, deployer] = pulse, now_ns

    def owe(self, pulses: Iterable[OwedPulse], next_ns: int) -> None:
        """Add pulses that a restart interrupted, to be attempted from a time on [ns]."""
        self._waiting.update({(pulse.event, pulse.deployer): pulse for pulse in pulses})
        self._next_ns = next_ns

    def take_spent(self) -> list[OwedPulse]:
        """Remove and return the waiting pulses that have no attempt left."""
        spent = [pulse for pulse in self._waiting.values() if pulse.attempts >= ATTEMPTS]
        for pulse in spent:
            del self._waiting[pulse.event, pulse.deployer]
        return spent

    def take_waiting(self) -> list[OwedPulse]:
        """Remove and return every pulse that waits."""
        waiting, self._waiting = list(self._waiting.values()), {}
        return waiting

    def plan_due(self, now_ns: int) -> list[OwedPulse]:
        """Plan the next attempt of all pulses that wait, if it is due, and return them."""
        # A time that is farther ahead than that means that the clock was set back.
        if 0 < self._next_ns - now_ns <= APART_NS:
            return []
        due = [replace(pulse, attempts=pulse.attempts + 1) for pulse in self.take_waiting()]
        for pulse in due:
            self.plan(pulse)
        return due

    def finish(self, on: Collection[int]) -> None:
        """Remove every pulse whose deployer is no longer on, because the pulse is complete."""
        self._on = {key: begun for key, begun in self._on.items() if begun[0].deployer in on}

    def drop(self, event: int, deployer: int) -> None:
        """Remove a planned pulse that was refused."""
        self._planned.pop((event, deployer), None)

    def take_all(self) -> list[OwedPulse]:
        """Remove and return every pulse."""
        pulses = list(self.owed)
        self._planned, self._on, self._waiting = {}, {}, {}
        return pulses


TICK = 0.02
"""Resolution of on-times on the steady clock [s]."""

_CONNECTED_WITHIN_NS = 4_000_000_000
"""A pulse waits for a driver for so long after it began, as after a restart [ns]."""


def _outlet(topic: str, qos: str = 'command', names: tuple[str, ...] = ()) -> Outlet:
    return Outlet(topic, Kind.JOINTS, qos, names=names, overridable=False)


class FlightActuation:
    """Carries out actions and publishes them: at once, and at 10 Hz, also while all is off.

    On a robot on-times are counted on the steady clock and messages are stamped with the host's
    own time; in simulation and replay both are those of the samples.

    Parameters
    ----------
    on_stamps : bool
        Whether on-times are counted on stamps.
    is_received : callable
        ``is_received(topic)``: whether a driver receives what is published there.

    Attributes
    ----------
    commanded : tuple of Outlet
        Outlets on which events command something that a driver must receive.
    has_timer : bool
        Whether `on_timer` must be called each `TICK`.
    is_waiting : bool
        Whether a flight of before a restart may have to be resumed: engines are left alone.
    """

    def __init__(
        self,
        host: Host,
        config: FlightConfig,
        on_stamps: bool,
        is_received: Callable[[str], bool],
    ) -> None:
        self._host, self._config, self._on_stamps = host, config, on_stamps
        self._is_received = is_received
        names = tuple(deployer.name for deployer in config.deployers)
        self._deployers = _outlet('~/deployers', names=names)
        self._engines, self._boosters = _outlet('~/engines'), _outlet('~/booster_command')
        actions = [action for event in config.events for action in event.actions]
        self.commanded = tuple(
            outlet for kind, outlet in (('deployment', self._deployers), ('engine', self._engines))
            if any(action.kind == kind for action in actions)
        )
        self._controllers = _outlet('~/controllers', 'state')
        self.outlets = (self._deployers, self._engines, self._boosters, self._controllers)
        self.has_timer = not on_stamps and bool(config.deployers or config.engines)
        self.reset()

    def reset(self) -> None:
        """Begin disarmed."""
        self.is_waiting = False
        self.actuators = Actuators(self._config.deployers, self._config.engines)
        self._owed = OwedPulses()
        self._stamp_ns = 0
        self._published_ns = 0
        self._rows: list[EngineRow] = []
        self._thrusts: dict[str, float] = {}

    @property
    def now_ns(self) -> int:
        """Now, on the clock of the on-times."""
        return self._stamp_ns if self._on_stamps else self._host.steady_ns()

    @property
    def pulses(self) -> tuple[OwedPulse, ...]:
        """Pulses that are not complete."""
        return self._owed.owed

    def follow(self, phase: Phase, *, arms_deployers: bool) -> None:
        """Arm, disarm and shut down with the phase, and as the flight state permits."""
        now_ns = self.now_ns
        self._finish(now_ns)
        self.actuators.enter(phase, now_ns, arms_deployers=arms_deployers)
        if not phase.is_armed and phase is not Phase.SETUP and self._owed.owed:
            self._report_void(self._owed.take_all(), f'the phase is {phase.value}')

    def _finish(self, now_ns: int) -> None:
        if self._owed.on:
            self._owed.finish([i for i, _ in self.actuators.deployers.pending(now_ns)])

    def plan(self, report: FlightReport) -> tuple[OwedPulse, ...]:
        """Plan the pulses of a sample, which are recorded before `act` fires them.

        Returns
        -------
        tuple of OwedPulse
            Pulses that a restart cut off and that begin anew; only in the air.
        """
        now_ns = self.now_ns
        self._finish(now_ns)
        resumed = tuple(self._plan_resumed(now_ns, report))
        for event in report.events:
            for action in event.actions:
                if action.deploys:
                    self._plan_pulse(event.id, action.target, action.param)
        return resumed

    def _plan_pulse(self, event: int, target: int, param: float) -> None:
        if self._config.deployers[target].actuator != 'servo':
            self._owed.plan(OwedPulse(event, target, on_time_of(param)))

    def _plan_resumed(self, now_ns: int, report: FlightReport) -> list[OwedPulse]:
        if not self._owed.is_waiting:
            return []
        if report.phase not in (Phase.FLIGHT, Phase.RECOVERY):
            self._report_void(self._owed.take_waiting(), f'the vehicle is in {report.phase.value}')
            return []
        if not report.may_deploy:
            # Still owed: what holds the vehicle now may let it fall.
            return []
        for pulse in self._owed.take_spent():
            self._host.log('error', (
                f'{self._name(pulse)} is given up: it was begun {pulse.attempts} times'
            ))
        return self._owed.plan_due(now_ns)

    def take_time(self, stamp_ns: int) -> bool:
        """Take the stamp of a sample [ns], and return whether all outputs are to be published."""
        previous_ns, self._stamp_ns = self._stamp_ns, stamp_ns
        return self._on_stamps and is_due(stamp_ns, previous_ns)

    def act(self, events: Iterable[EventFired], resumed: Iterable[OwedPulse]) -> None:
        """Carry out the actions of events, except ignitions, and begin pulses anew."""
        for event in events:
            for action in event.actions:
                is_done = action.ignites or self._carry_out(action)
                if action.deploys and not is_done:
                    self._owed.drop(event.id, action.target)
                elif action.deploys:
                    self._owed.begin(event.id, action.target, self.now_ns)
                    self._check_received(self._deployers, self._deployers.names[action.target])
        for pulse in resumed:
            self._complete(pulse)

    def light(self, action: Action) -> None:
        """Carry out an ignition."""
        if self._carry_out(action):
            self._check_received(self._engines, self._config.engines[action.target].name)

    def _check_received(self, outlet: Outlet, name: str) -> None:
        if not self._is_received(outlet.topic):
            self._host.log('error', f"'{name}' is fired while no driver receives {outlet.topic}")

    def _carry_out(self, action: Action) -> bool:
        """Carry out an action and return whether it was not refused."""
        try:
            self.actuators.act(action, self.now_ns)
        except CommandError as error:
            self._host.complain('refused', str(error))
            return False
        return True

    def _complete(self, pulse: OwedPulse) -> None:
        """Begin a pulse anew that a restart cut off."""
        try:
            self.actuators.deployers.fire(pulse.deployer, self.now_ns, pulse.on_time_ns)
        except CommandError as error:
            self._owed.drop(pulse.event, pulse.deployer)
            self._host.complain('refused', str(error))
        else:
            self._owed.begin(pulse.event, pulse.deployer, self.now_ns)
            self._host.log('warn', f'{self._name(pulse)} is given, attempt {pulse.attempts}')
            self._check_received(self._deployers, self._deployers.names[pulse.deployer])

    def resume(
        self, pulses: Iterable[OwedPulse], age: float, spent: Iterable[EventRecord] = ()
    ) -> None:
        """Continue a flight, and owe the pulses that the restart cut off.

        Parameters
        ----------
        pulses : iterable of OwedPulse
            As recorded.
        age : float
            Of the record [s]; infinity where it is unknown.
        spent : iterable of EventRecord
            Events that have fired: servos and shutdowns are commanded again.
        """
        self.actuators.resume(self.now_ns)
        self._repeat(spent)
        known = [p for p in pulses if p.deployer < len(self._config.deployers)]
        left_ns = max(APART_NS - round(min(age, 10.0) * 1e9), 0)
        self._owed.owe(known, self.now_ns + left_ns)

    def _repeat(self, spent: Iterable[EventRecord]) -> None:
        """Command again what spent events left servos and engines at; no engine is lit."""
        specs = {event.id: event for event in self._config.events}
        latest: dict[tuple[str, int], Action] = {}
        acted = [record for record in spent if record.count]
        for record in sorted(acted, key=lambda record: -record.since_ns):
            for action in specs[record.id].actions:
                latest[action.kind, action.target] = action
        for (kind, target), action in latest.items():
            is_servo = kind == 'deployment' and self._config.deployers[target].actuator == 'servo'
            if not is_servo and (kind != 'engine' or action.ignites):
                continue
            self._carry_out(action)

    def void(self, pulses: Iterable[OwedPulse], why: str) -> None:
        """Report pulses of a flight that is over, which are never fired."""
        self._report_void([p for p in pulses if p.deployer < len(self._config.deployers)], why)

    def _report_void(self, pulses: Iterable[OwedPulse], why: str) -> None:
        for pulse in pulses:
            self._host.log('warn', f'{self._name(pulse)} is void: {why}')

    def _name(self, pulse: OwedPulse) -> str:
        name = self._config.deployers[pulse.deployer].name
        return f"the pulse of '{name}' that event {pulse.event} owes"

    def turn_off(self) -> None:
        """Turn everything off, leave the valves safe, and publish that."""
        self.follow(Phase.SETUP, arms_deployers=False)
        self.publish(is_beat=True)

    def publish(self, *, is_beat: bool) -> None:
        """Publish what changed, and everything on a beat."""
        now_ns = self.now_ns
        efforts = self.actuators.deployers.due(now_ns)
        if self._config.deployers and (is_beat or efforts is not None):
            self._publish_deployers(now_ns)
        if self._config.engines and not self.is_waiting:
            self._publish_engines(now_ns, is_beat=is_beat)

    def _prolong_unreceived(self, now_ns: int) -> None:
        """Begin recent on-times anew while no driver is connected that could follow them."""
        self._finish(now_ns)
        if self._owed.on and not self._is_received(self._deployers.topic):
            for pulse in self._owed.begun_after(now_ns - _CONNECTED_WITHIN_NS):
                self.actuators.deployers.fire(pulse.deployer, now_ns, pulse.on_time_ns)

    def on_timer(self) -> None:
        """Publish what is due on the steady clock."""
        now_ns = self.now_ns
        self._prolong_unreceived(now_ns)
        is_beat = now_ns - self._published_ns >= PERIOD_NS
        if is_beat:
            self._published_ns = now_ns
        self.publish(is_beat=is_beat)

    def _send(self, outlet: Outlet, row: JointRow) -> None:
        stamp_ns = self._stamp_ns if self._on_stamps else self._host.now_ns()
        self._host.publish(outlet, stamp_ns, row)

    def _publish_deployers(self, now_ns: int) -> None:
        bank = self.actuators.deployers
        angles = bank.positions()
        self._send(self._deployers, JointRow(
            position=angles if len(angles) else None, effort=bank.efforts(now_ns)
        ))

    def _publish_engines(self, now_ns: int, *, is_beat: bool) -> None:
        rows = self.actuators.engines.rows(now_ns)
        # One NaN object stands for all that is unknown, so that rows which have it are equal.
        if is_beat or rows != self._rows:
            self._rows = rows
            self._send(self._engines, JointRow(
                position=[row.position for row in rows], effort=[row.effort for row in rows],
                names=[row.name for row in rows],
            ))
        self._publish_thrusts(is_beat=is_beat)

    def _publish_thrusts(self, *, is_beat: bool) -> None:
        thrusts = self.actuators.engines.thrusts()
        is_lit = any(thrusts.values())
        if thrusts != self._thrusts or (is_beat and is_lit):
            was_lit, self._thrusts = any(self._thrusts.values()), thrusts
            # Not while unlit, so that others may command the same boosters.
            if is_lit or was_lit:
                self._send(self._boosters, JointRow(
                    effort=list(thrusts.values()), names=list(thrusts)
                ))

    def control(self, stamp_ns: int, controls: tuple[ControlOutput, ...]) -> None:
        """Hand the outputs of controllers to their engines, and publish them."""
        if not controls:
            return
        for control in controls:
            self.actuators.engines.control(control.engine, control.output)
        names = [controller.name for controller in self._config.controllers]
        self._host.publish(self._controllers, stamp_ns, JointRow(
            position=[control.measured for control in controls],
            effort=[control.output for control in controls],
            names=[names[control.id] for control in controls],
        ))


def is_recorder(node: str) -> bool:
    """Return whether a node of this full name is a recorder, by `RECORDERS`."""
    name = node.rpartition('/')[2]
    return any(name == known or name.startswith(f'{known}_') for known in RECORDERS)


class Receivers:
    """Judges by the graph whether what is commanded reaches a driver; reads no graph itself.

    Parameters
    ----------
    required : sequence of str
        Nodes that must subscribe, by full name, or by name alone in any namespace; () for any
        node that is no recorder.
    topics : sequence of str
        On which something is commanded.
    """

    def __init__(self, required: Sequence[str], topics: Sequence[str]) -> None:
        self._required, self.topics = tuple(required), tuple(topics)
        self.reset()

    def reset(self) -> None:
        """Forget the graph."""
        self._seen: Mapping[str, Sequence[str]] = {}
        self._seen_ns: int | None = None

    def note(self, steady_ns: int, seen: Mapping[str, Sequence[str]]) -> None:
        """Take the full names of the nodes that receive each topic, and when that was so [ns]."""
        self._seen_ns, self._seen = steady_ns, seen

    def receives(self, topic: str) -> bool:
        """Return whether a node that counts receives a topic."""
        nodes = self._seen.get(topic, ())
        if not self._required:
            return any(not is_recorder(node) for node in nodes)
        return any(_is_named(node, name) for node in nodes for name in self._required)

    def problem(self, steady_ns: int) -> str:
        """Return which receivers are missing, '' for none."""
        if not self.topics:
            return ''
        if self._seen_ns is None or steady_ns - self._seen_ns > _OLDEST_NS:
            return 'which nodes receive what is commanded is unknown'
        found = [node for topic in self.topics for node in self._seen.get(topic, ())]
        absent = [n for n in self._required if not any(_is_named(node, n) for node in found)]
        silent = [topic for topic in self.topics if not self.receives(topic)]
        whom = 'of receivers' if self._required else 'but recorders'
        return '; '.join((
            *(f"node '{name}' receives none of {', '.join(self.topics)}" for name in absent),
            *(f'no node {whom} receives {topic}' for topic in silent),
        ))


def _is_named(node: str, name: str) -> bool:
    return node == name if name.startswith('/') else node.rpartition('/')[2] == name
