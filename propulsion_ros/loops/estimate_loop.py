# SPDX-License-Identifier: Apache-2.0
"""Estimates the wrench that propulsion modules apply, from stamped commands; without ROS.

The node and the offline tools both run this, so that their results are the same to the byte.
"""
from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from propulsion_ros.loops.actuator_loop import CLOCK, COM, COMMAND
from propulsion_ros.loops.command_hold import CommandHold, CommandUpdate
from propulsion_ros.loops.command_reader import CommandReader
from propulsion_ros.loops.decoders import demand_of
from propulsion_ros.loops.measured import CentreOfMass
from propulsion_ros.loops.payloads import JointRow, Kind
from propulsion_ros.loops.ports import ERROR, WARN, Health, Host, Outlet
from propulsion_ros.loops.stamped_ports import StampedPorts
from propulsion_ros.loops.step_record import END, StepRequest
from propulsion_ros.models.common.family import WRENCH_NAMES, Estimator
from propulsion_ros.settings.errors import CommandError
from propulsion_ros.settings.flat import build
from propulsion_ros.settings.quantity import FloatArray, quantity, validate
from propulsion_ros.timing.stamped_inputs import Ordering, StampedInputs
from propulsion_ros.timing.stepping import NEVER, Agenda, Place

SPEED, DEMAND = 'speed', 'demand'
_LEAD_NS = 100_000_000
"""A command up to this far ahead of the clock is estimated at once: a clock of 10 Hz is as old."""
_WATCH_RATE = 50.0
"""Rate of checks for silent modules by the system's clock [Hz]."""
COVARIANCE_NAMES = tuple(f'{row}*{column}' for row in WRENCH_NAMES for column in WRENCH_NAMES)
"""Names of the covariance's elements, row by row."""


@dataclass(frozen=True, kw_only=True, eq=False)
class EstimateParams:
    """When a wrench is estimated."""

    command_timeout: float = quantity(
        0.32, 's', lo=0.0, hi=1e6, usual=(0.0, 10.0),
        doc='stamp time after which a silent module counts as without thrust; 0 never',
    )
    wait_for: tuple[str, ...] = quantity(
        (), kind=str, shape=('*',), choices=(COMMAND, SPEED, DEMAND),
        doc='inputs that must have passed the stamp of a command before its estimate; empty: any',
    )

    def __post_init__(self) -> None:
        validate(self)


@dataclass(frozen=True)
class Applied:
    """Wrench of the modules from one stamp on; torques are about the origin of base_link."""

    stamp_ns: int
    """Stamp of the command, or of the timeout of a silent module."""
    wrench: FloatArray
    """Force [N] and torque [N m], (6,)."""
    residual: FloatArray | None
    """Demanded minus applied wrench, (6,); None before a demand."""
    covariance: FloatArray
    """Covariance of the wrench, (6, 6); NaN where no standard deviation is configured."""
    angle: FloatArray
    thrust: FloatArray
    """Flap angle [rad], NaN where none was commanded, and thrust [N] of each nozzle, (n,)."""
    speed: FloatArray
    """Speed of each impeller [rad/s], (m,)."""


class EstimateLoop:
    """Estimates what is applied at the stamp of each command, and when a module falls silent.

    Parameters
    ----------
    on_jump : callable
        ``on_jump(from_ns, to_ns)`` when time has jumped, after commands were forgotten.
    heeds_clock : bool
        Whether estimates wait for a clock and do not run far ahead of it, as with a wrong stamp;
        if not, as in a replay, the stamps of the commands are the time.

    Attributes
    ----------
    inputs : StampedInputs
        Takes each input. Its payload is a `CommandUpdate` of the modules, of measured impeller
        speeds, or of the demanded wrench; a centre of mass [m]; or None for a clock.
    """

    def __init__(
        self,
        inverse: Estimator,
        params: EstimateParams,
        emit: Callable[[Applied], None],
        on_jump: Callable[[int, int], None] = lambda from_ns, to_ns: None,
        heeds_clock: bool = False,
        on_begin: Callable[[int], None] = lambda stamp_ns: None,
    ) -> None:
        self._inverse, self._emit, self._on_jump = inverse, emit, on_jump
        self._on_begin, self._is_first, self._begun_ns = on_begin, True, NEVER
        self._first: Mapping[str, int] = {}
        self.place: Place | None = None
        timeout_ns = round(params.command_timeout * 1e9)
        fields = inverse.command_fields
        self.hold = CommandHold(fields, inverse.safe_command, timeout_ns)
        m = fields.count('velocity')
        self._measured = CommandHold(('velocity',) * m, np.full(m, np.nan), timeout_ns)
        self._demanded = CommandHold(('effort',) * 6, np.zeros(6), timeout_ns)
        self.com = CentreOfMass(inverse.set_com)
        self._unknown, self._knows_errors = np.full((6, 6), np.nan), inverse.knows_errors
        # Of equal stamps, measurements and demands are applied before a command.
        sources = (COM, SPEED, DEMAND, COMMAND, CLOCK)
        self.agenda = Agenda(sources)
        self.inputs = StampedInputs(
            Ordering(wait_for=params.wait_for, lead_ns=_LEAD_NS if heeds_clock else None),
            sources, self._apply, self._jumped,
            trusted=(CLOCK,), lasting=COM, passed=self.watch,
        )
        self._forget()

    def retune(self, changed: Collection[str], params: Any) -> None:
        """Take the live values of a checked configuration; see `ActuatorLoop.retune`."""
        self.com.retune(changed, lambda: self._inverse.retune(params), self.place)

    def reset(self) -> None:
        """Forget commands, demand, measured speeds and the time."""
        self.inputs.restart()
        self._forget()
        self._is_first, self.place = True, None

    def begin(self, stamp_ns: int, first: Mapping[str, int], is_new: bool) -> None:
        """Begin as a recorded node did; see `ActuatorLoop.begin`."""
        self._forget()
        self._begun_ns = stamp_ns
        self._first = first if is_new else {**self._first, **first}

    def _jumped(self, from_ns: int, to_ns: int) -> None:
        self._forget()
        self._on_jump(from_ns, to_ns)

    def _forget(self) -> None:
        for hold in (self.hold, self._measured, self._demanded):
            hold.clear()
        self._has_demand = False
        self._estimated_ns = NEVER
        self.com.forget_time()
        self._inverse.reset()
        self.com.use_again()

    def _apply(self, source: str, stamp_ns: int, payload: Any) -> None:
        self.watch(stamp_ns)
        if self.agenda:
            self.agenda.pass_to(stamp_ns, source)
        if source == COM:
            self.com.receive(stamp_ns, payload)
            if self.place is None or self.place.stamp_ns < stamp_ns:
                self.place = Place(stamp_ns, COM)
            return
        if stamp_ns < self._first.get(source, self._begun_ns):
            return
        self.place = Place(stamp_ns, source)
        update: CommandUpdate = payload
        if source == SPEED:
            self._measured.apply(stamp_ns, update)
        elif source == DEMAND:
            self._demanded.apply(stamp_ns, update)
            self._has_demand = True
        elif self.hold.apply(stamp_ns, update):
            if self._is_first:
                self._is_first = False
                self._on_begin(stamp_ns)
            # A late command changes no estimate before the newest one.
            self._estimate(max(stamp_ns, self._estimated_ns))

    def watch(self, now_ns: int) -> None:
        """Estimate again at each stamp up to now at which a command became stale."""
        stale_ns = self.hold.next_stale_ns()
        while stale_ns is not None and stale_ns <= now_ns:
            if self.agenda:
                self.agenda.pass_to(stale_ns)
            self._estimate(stale_ns)
            self.inputs.note(stale_ns)
            self.place = Place(stale_ns)
            stale_ns = self.hold.next_stale_ns()

    def _estimate(self, stamp_ns: int) -> None:
        self._estimated_ns = stamp_ns
        inverse = self._inverse
        inverse.set_measured_speed(self._measured.at(stamp_ns).velocity)
        angle, speed = inverse.commanded(self.hold.at(stamp_ns))
        estimate = inverse.estimate(angle, speed)
        demand = self._demanded.at(stamp_ns).effort
        residual = None
        if self._has_demand and demand is not None:
            residual = inverse.to_origin @ (demand - estimate.wrench)
        covariance = self._unknown
        if self._knows_errors:
            covariance = inverse.covariance(angle, speed)
            covariance = inverse.to_origin @ covariance @ inverse.to_origin.T
        self._emit(Applied(
            stamp_ns,
            inverse.to_origin @ estimate.wrench,
            residual,
            covariance,
            angle,
            estimate.thrust,
            speed,
        ))


class EstimatePorts(StampedPorts):
    """Publishes the wrench that actuators apply, at the stamp of each command to them.

    Parameters
    ----------
    lossless : bool
        Whether no message may be lost; then no clock is waited for, as a replay may have none.
    """

    core: EstimateLoop

    def __init__(
        self,
        inverse: Estimator,
        params: EstimateParams,
        frame: str,
        host: Host,
        *,
        lossless: bool = False,
        replay: bool = False,
    ) -> None:
        self.family, self._params = inverse, params
        super().__init__(self._make_core(params, lossless), frame, host, lossless, replay)
        self._reader = CommandReader(inverse)
        self._rows = np.full((3, len(inverse.state_names)), np.nan)
        self._open_outlets()
        self._add('~/command', Kind.JOINTS, COMMAND, self._reader.read)
        self._add('~/wrench_command', Kind.WRENCH, DEMAND, lambda message: (
            demand_of(message, frame)
        ))
        self._add('~/measured', Kind.JOINTS, SPEED, self._read_measured)
        self._add_com()
        self._keep_time(_WATCH_RATE)
        self.ports += self.record.ports

    def _make_core(self, params: EstimateParams, lossless: bool) -> EstimateLoop:
        return EstimateLoop(
            self.family, params, self._publish, self._on_jump, heeds_clock=not lossless,
            on_begin=self._note_begin,
        )

    def _open_outlets(self) -> None:
        outlet = functools.partial(
            Outlet, qos='result', frame=self.frame, lossless=self._lossless
        )
        self._wrench = outlet('~/wrench', Kind.WRENCH)
        self._state = outlet('~/state', Kind.JOINTS, names=tuple(self.family.state_names))
        self._residual = outlet('~/residual', Kind.WRENCH, overridable=False)
        self._covariance = outlet(
            '~/covariance', Kind.JOINTS, names=COVARIANCE_NAMES, overridable=False
        )
        self.outlets = [
            self._wrench, self._state, self._residual, self._covariance, *self.record.outlets,
        ]

    # Inputs.

    def _read_measured(self, message: Any) -> CommandUpdate:
        update = self._reader.read(message)
        nozzles = len(self.family.actuator_names)
        if (update.columns < nozzles).any():
            raise CommandError('expected impellers only, got a nozzle')
        return CommandUpdate(update.columns - nozzles, update.values)

    def _timing(self) -> Mapping[str, Any]:
        return vars(self._params)

    def _wait_as(self, begin: StepRequest) -> Ordering:
        params = build(EstimateParams, begin.values)
        self.core = self._make_core(params, self._lossless)
        # Do not wait for a clock: the node that sends commands may be slower than its playback.
        self._has_clock = False
        return Ordering(wait_for=params.wait_for)

    def _follow(self, request: StepRequest) -> None:
        if request.name == END:
            self.core.watch(request.values['last'])
        super()._follow(request)

    def _on_jump(self, from_ns: int, to_ns: int) -> None:
        self._note_jump(from_ns, to_ns, 'commands are forgotten')

    def check(self, params: EstimateParams, inverse: Any) -> None:
        """Accept live settings, which all go together."""

    def retune(self, changed: Mapping[str, Any], params: EstimateParams, inverse: Any) -> None:
        """Take the live values of checked configurations."""
        self._note_set(changed)
        self.core.retune(changed, inverse)

    # Outputs.

    def start(self) -> None:
        """Begin without any earlier command."""
        self.core.reset()
        self._host.log('info', 'active')

    def _publish_zero(self, stamp_ns: int) -> None:
        """Publish a zero wrench, since nothing is estimated from now on."""
        self._host.publish(self._wrench, stamp_ns, np.zeros(6))

    def _publish(self, applied: Applied) -> None:
        publish, stamp_ns = self._host.publish, applied.stamp_ns
        n = len(applied.thrust)
        position, velocity, effort = self._rows
        position[:n], effort[:n], velocity[n:] = applied.angle, applied.thrust, applied.speed
        publish(self._state, stamp_ns, JointRow(position, velocity, effort))
        if self.family.knows_errors:
            publish(self._covariance, stamp_ns, JointRow(effort=applied.covariance.ravel()))
        if applied.residual is not None:
            publish(self._residual, stamp_ns, applied.residual)
        publish(self._wrench, stamp_ns, applied.wrench)

    def health(self) -> Iterator[Health]:
        """Yield the number of silent modules, and the counts of refused inputs."""
        values, level, text = self._judge_inputs()
        stale = int(np.count_nonzero(self.core.hold.stale))
        values['stale'] = stale
        if stale and level != ERROR:
            level, text = WARN, 'a module is silent and counts as without thrust'
        yield 'modules', level, text, values
