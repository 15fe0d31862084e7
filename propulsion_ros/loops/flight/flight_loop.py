# SPDX-License-Identifier: Apache-2.0
"""The flight computer without ROS: samples and requests in; phase, apogee, events, pyros out."""
from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from typing import Any

from propulsion_ros.flight.estimation.state import EstimatorState, sample_of, stage_of
from propulsion_ros.flight.events.variables import NAN, Sample, bounded
from propulsion_ros.flight.flight_report import FlightReport
from propulsion_ros.flight.home import Home
from propulsion_ros.flight.phases.phases import DUTIES, Duty, Phase
from propulsion_ros.flight.pyros.actuators import Circuits
from propulsion_ros.flight.readiness import CHECKS
from propulsion_ros.loops.flight.actuation import TICK, FlightActuation, Receivers
from propulsion_ros.loops.flight.estimation import FlightEstimation
from propulsion_ros.loops.flight.firings import Firings
from propulsion_ros.loops.flight.inputs import (
    CONTINUITY,
    REQUEST,
    SideInputs,
    read_odometry,
    read_pressure,
    sample_of_odometry,
    sample_of_pressure,
)
from propulsion_ros.loops.flight.outputs import FlightOutputs
from propulsion_ros.loops.flight.params import (
    FlightLoopParams,
    make_flight_estimator,
    make_flight_state,
    read_config,
)
from propulsion_ros.loops.flight.record_file import OpenWriter, RecordWriter
from propulsion_ros.loops.flight.recorder import HEARTBEAT, Boot, FlightRecorder
from propulsion_ros.loops.flight.requests import FlightRequests
from propulsion_ros.loops.flight.sensor_clocks import SensorClocks
from propulsion_ros.loops.payloads import Kind
from propulsion_ros.loops.ports import OK, WARN, Health, Host, Outlet, Port, Request, Timer
from propulsion_ros.rml.config import UNITS, FlightConfig, doubtful_events
from propulsion_ros.settings.errors import CommandError
from propulsion_ros.timing.flight_clock import SampleTime, Stamp

_GRAPH_LOOK = 1.0
"""Time between two checks whether nodes still receive what is commanded [s]."""
_LOOK = 0.1
"""Time between two checks whether samples still come [s]."""
_SHORTEST_LAP_NS = 1_000_000_000
"""Shortest recording of which it is detected that it is played again [ns]."""


def make_flight_loop(
    params: FlightLoopParams,
    host: Host,
    boot: Boot | None = None,
    open_writer: OpenWriter = RecordWriter,
) -> FlightLoop:
    """Return the flight computer that parameters and the configuration they name describe.

    Raises `ConfigError` for everything that is wrong.
    """
    config = read_config(params)
    if not params.config_file:
        host.log('info', 'no config_file: nothing will be fired')
    else:
        unread = f'; without effect: {", ".join(config.unread)}' if config.unread else ''
        host.log(
            'info', f'{len(config.events)} events, {config.semantics} semantics, {UNITS}{unread}'
        )
        for doubt in doubtful_events(config, params.altitude_source):
            host.log('warn', doubt)
    return FlightLoop(params, config, host, boot, open_writer)


class FlightLoop:
    """Follows a flight and fires its events.

    Parameters
    ----------
    params : FlightLoopParams
        Of the flight computer.
    config : FlightConfig
        Events and what they move.
    host : Host
        Has the clocks, publishes and logs.
    boot : Boot, optional
        Of the computer; unknown by default.
    open_writer : callable
        ``open_writer(path)`` returns what writes the record.

    Raises
    ------
    ConfigError
        Where the configuration names what is not there, or no estimate can be made.
    """

    def __init__(
        self,
        params: FlightLoopParams,
        config: FlightConfig,
        host: Host,
        boot: Boot | None = None,
        open_writer: OpenWriter = RecordWriter,
    ) -> None:
        self._params, self._host = params, host
        in_simulation = host.is_simulated
        self._acts = bool(config.events)
        self._lit_by_service = [
            event.name for event in config.events if event.ignites and event.follows_ignition
        ]
        # Only on a robot do stamps have the computer's time.
        self._is_robot = not (in_simulation or params.replay)
        self._state = make_flight_state(params, config, in_simulation=in_simulation)
        self._outputs = FlightOutputs(host, params.world_frame, params.reliable_inputs)
        self._clocks = SensorClocks(host, self._is_robot)
        self._actuation = FlightActuation(host, config, {
            'auto': in_simulation, 'stamps': True, 'steady': False,
        }[params.on_time_clock], self._is_received)
        self._receivers = Receivers(
            params.receivers, [outlet.topic for outlet in self._actuation.commanded]
        )
        estimator = make_flight_estimator(params, config)
        self._estimation = None if estimator is None else FlightEstimation(
            host, estimator, params.estimation, params.world_frame, params.reliable_inputs,
            self._take_estimate, self._clocks.time_of, self._is_robot,
        )
        # An estimated altitude is above the pad already.
        is_above_pad = params.pad_reference == 'zero' or self._estimation is not None
        self._home = Home(0.0 if is_above_pad else NAN)
        self._circuits = Circuits(config.deployers, config.engines)
        self._time = SampleTime()
        self._side_inputs = SideInputs(host, self._time, self._apply_side_input, self._is_robot)
        self._requests = FlightRequests(
            host, self._state, self._home, self._time, self._side_inputs,
            None if params.replay else self._request_time, self._steady_ns, self._prepare,
            self._follow_state, self._outputs.publish_request, params.flight.ask_again_time,
        )
        flown = f'{config.fingerprint} {params.altitude_source} {params.pad_reference}'
        self._record = FlightRecorder(
            host, '' if params.replay else params.state_file,
            hashlib.sha256(flown.encode()).hexdigest(), self._state, self._actuation, self._home,
            boot or Boot(), self._clocks, open_writer, trusts_age=self._is_robot,
            estimation=self._estimation,
        )
        self._firings = Firings(
            host, config, self._record, self._is_robot, self._outputs, self._actuation
        )
        self._report: FlightReport | None = None
        self._estimate: EstimatorState | None = None
        self._declare()

    def _declare(self) -> None:
        """Make the tables of ports, outlets, requests and timers."""
        def sensor(topic: str, kind: str, take: Any) -> Port:
            return Port(topic, kind, take, 'sensor', lossless=self._params.reliable_inputs)

        samples = {
            'odometry': (sensor('~/odometry', Kind.ODOMETRY, self._take_odometry),),
            'pressure': (sensor('~/pressure', Kind.PRESSURE, self._take_pressure),),
            'sensors': self._estimation.ports if self._estimation else (),
        }[self._params.altitude_source]
        self._awaited = self._estimation.awaited if self._estimation else samples
        self.ports: tuple[Port, ...] = (
            self._requests.port,
            sensor('~/continuity', Kind.JOINTS, self._take_continuity), *samples,
        )
        self.outlets: tuple[Outlet, ...] = (
            *self._outputs.outlets, *self._actuation.outlets,
            *([self._estimation.outlet] if self._estimation else ()),
        )
        self.requests: tuple[Request, ...] = self._requests.services
        self.timers: tuple[Timer, ...] = ()
        if self._actuation.has_timer:
            self.timers += (Timer(TICK, self._tick),)
        if self._is_robot:
            self.timers += (Timer(_LOOK, self._watch), Timer(_GRAPH_LOOK, self._look_at_graph))
        if self._record.is_kept:
            self.timers += (Timer(HEARTBEAT, self._beat),)

    @property
    def stamp_ns(self) -> int:
        """Stamp of the newest sample [ns], or the time without one; 0 before the first."""
        return self._time.stamp_ns

    def start(self) -> None:
        """Begin in preflight, with the record of an earlier flight if there is one."""
        for part in (
            self._state, self._outputs, self._actuation, self._home, self._circuits,
            self._side_inputs, self._clocks, self._requests, self._firings, self._receivers,
        ):
            part.reset()
        self._phase = self._state.phase
        if self._estimation is not None:
            self._estimation.reset()
        self._time.reset(self._host.steady_ns())
        self._report = self._estimate = None
        self._is_stuck = self._was_armed = False
        self._first_ns: int | None = None
        self._record.open()
        self._state.set_check('record', self._firings.problem)
        self._state.set_check('circuits', '')
        if self._state.is_resuming and self._is_robot:
            # If no sensor works any more, time goes on from here.
            self._time.take(self._host.now_ns(), self._host.steady_ns())
        self._announce()

    def stop(self) -> None:
        """Turn everything off; what is owed stays in the record."""
        if self._host.is_simulated:
            self.conclude()
        self._firings.cancel('the flight computer stops')
        self._actuation.turn_off()
        self._record.keep()
        self._record.close()

    def conclude(self) -> None:
        """Log what was missing: the arming, the liftoff, or what a charge needs to fire."""
        if self._report is None or not self._acts:
            return
        for line in self._state.unfired:
            self._host.log('warn', line)
        if not self._was_armed:
            launch = self._host.resolve_topic_name('~/launch')
            self._host.log('info', 'was never armed, so no event fired: ' + (
                'what was refused is above' if self._host.counts['refused']
                else f'call the service {launch} by a controller or ros2 service call'
            ))
        elif self._state.phase is Phase.LAUNCH:
            ignition = self._host.resolve_topic_name('~/ignition')
            self._host.log('info', 'was armed and saw no liftoff' + ''.join(
                f"; '{name}' waits for the service {ignition}"
                for name in self._lit_by_service if self._report.ignition is None
            ))

    def when_recorded(self, call: Callable[[], None]) -> None:
        """Have something called once no record is written any more, at once if that is so."""
        self._record.when_ended(call)

    # Inputs.

    def _take_odometry(self, message: Any) -> None:
        stamp_ns = self._clocks.time_of('odometry', message, read_odometry)
        if stamp_ns is None:
            return
        sample, problem = sample_of_odometry(stamp_ns, message)
        if problem:
            self._host.complain('refused', f'odometry without velocity: {problem}')
        self._take(sample)

    def _take_pressure(self, message: Any) -> None:
        stamp_ns = self._clocks.time_of('pressure', message, read_pressure)
        if stamp_ns is not None:
            self._take(sample_of_pressure(stamp_ns, message))

    def _take_estimate(self, state: EstimatorState) -> None:
        self._estimate = state
        sample = sample_of(state, self._params.estimator)
        if self._estimation is not None:
            sample = sample._replace(
                readings=self._estimation.readings(), pressure=self._estimation.pressure
            )
        self._take(sample)

    def _take_continuity(self, message: Any) -> None:
        try:
            measured = self._circuits.read(message.name, message.position)
        except CommandError as error:
            problem = str(error)
            self._host.complain('refused', problem)
        else:
            self._clocks.note('the pyros', message)
            is_taken = self._side_inputs.push(CONTINUITY, message, measured)
            problem = '' if is_taken else 'continuity is not of the time of the samples'
        self._state.set_check('circuits', problem)

    def _apply_side_input(self, source: str, measured_ns: int, payload: Any) -> None:
        if source == REQUEST:
            self._requests.follow(payload)
        else:
            self._circuits.take(measured_ns, payload)

    def _take(self, sample: Sample) -> None:
        """Take a sample whose altitude and position count from the sensor's datum."""
        self._requests.follow_second()
        sample = bounded(sample)
        stamp_ns = sample.stamp_ns
        if self._params.replay and self._begins_again(stamp_ns):
            self.start()
            self._requests.again()
        self._side_inputs.pass_sample(stamp_ns)
        duties = DUTIES[self._state.phase].update
        altitude, position = self._home.locate(
            sample.altitude, sample.horizontal_position,
            is_on_pad=Duty.MEASURE_PAD in duties and not self._state.may_have_left,
        )
        self._update(sample._replace(
            altitude=altitude, horizontal_position=position,
            circuits=self._circuits.known(stamp_ns),
        ))

    def _begins_again(self, stamp_ns: int) -> bool:
        """Return whether a recording is played from its first sample on again."""
        first_ns, newest_ns = self._first_ns, self.stamp_ns
        if first_ns is None:
            self._first_ns = stamp_ns
        return first_ns is not None and stamp_ns <= first_ns < newest_ns - _SHORTEST_LAP_NS

    def _steady_ns(self) -> int | None:
        """Return the steady time that bounds flight time [ns]; None where stamps alone count."""
        return self._host.steady_ns() if self._is_robot else None

    def _request_time(self) -> int:
        """Return the present time as of stamps of requests [ns]."""
        if self._report is None:
            return self._host.now_ns()
        return self._time.now_ns(self._host.steady_ns()) if self._is_robot else self.stamp_ns

    def _watch(self) -> None:
        """Check the clocks, requests that were made twice, and whether samples still come."""
        self._requests.follow_second()
        self._check_clocks()
        self._release()
        if self._params.silence_timeout and (self._report or self._state.is_resuming):
            self._watch_silence()

    def _beat(self) -> None:
        """Write a heartbeat, and check whether the record can be written."""
        self._record.beat()
        self._state.set_check('record', self._firings.problem)
        self._announce()

    def _prepare(self, name: str) -> None:
        """Run the checks that only a launch needs."""
        if name == 'launch' and not self._state.phase.is_armed:
            self._check_clocks()
            self._look_at_graph()
            self._record.probe()
            self._state.set_check('record', self._firings.problem)

    def _look_at_graph(self) -> None:
        """Check which nodes receive what is commanded; a simulation and a file have none."""
        if self._is_robot:
            steady_ns = self._host.steady_ns()
            self._receivers.note(steady_ns, {
                outlet.topic: self._host.receivers_of(outlet)
                for outlet in self._actuation.commanded
            })
            self._state.set_check('receivers', self._receivers.problem(steady_ns))

    def _is_received(self, topic: str) -> bool:
        """Return whether a driver receives a topic now."""
        self._look_at_graph()
        return not self._is_robot or self._receivers.receives(topic)

    def _check_clocks(self) -> None:
        self._state.set_check('clocks', self._clocks.problem)
        self._state.set_check('publishers', self._clocks.rivals)

    @property
    def _is_silent(self) -> bool:
        """Whether no usable sample has come for the time of `silence_timeout`."""
        silence_ns = self._time.silence_ns(self._host.steady_ns())
        return silence_ns >= round(self._params.silence_timeout * 1e9)

    def _watch_silence(self) -> None:
        """Let time go on while no sample comes, so that timed events still fire."""
        if not self._is_silent:
            return
        steady_ns = self._host.steady_ns()
        self._host.counts['silence'] += 1
        stamp_ns = self._time.now_ns(steady_ns)
        self._side_inputs.pass_sample(stamp_ns)
        self._update(
            Sample(stamp_ns, NAN, circuits=self._circuits.known(stamp_ns)), is_measured=False
        )

    # Logic and outputs.

    def _update(self, sample: Sample, *, is_measured: bool = True) -> None:
        report = self._state.update(sample, self._steady_ns(), is_silence=not is_measured)
        if not report.stamp.is_accepted:
            self._note_stuck(report)
            return
        self._report = report
        if report.stamp is Stamp.RESTARTED:
            self._home.forget()
        previous_ns = self._time.stamp_ns
        if is_measured:
            self._is_stuck = False
            self._time.take(sample.stamp_ns, self._host.steady_ns())
        else:
            self._time.go_on(sample.stamp_ns)
        if report.notice:
            self._host.log('warn', report.notice)
        self._announce(is_resumed=report.is_resumed)
        # Only here: sensors are read ahead of a sample, a recorded request acts at one. While a
        # recorded flight waits, its estimator has begun in the air.
        if self._estimation is not None and not self._state.is_resuming:
            self._estimation.set_stage(
                stage_of(self._state.phase, self._state.subphase),
                is_armed=self._state.phase.is_armed, may_repeat=self._state.repeats_height,
            )
        self._record.settle(is_resumed=report.is_resumed)
        self._firings.add(report, self._actuation.plan(report))
        self._outputs.publish_fit(self._state, report, previous_ns)
        is_beat = self._actuation.take_time(report.stamp_ns)
        self._firings.release()
        self._actuation.control(report.stamp_ns, report.controls)
        self._actuation.publish(is_beat=is_beat)
        self._record.keep()

    def _release(self) -> None:
        """Fire what has been recorded by now."""
        if self._firings.release():
            self._actuation.publish(is_beat=False)
            self._record.keep()

    def _tick(self) -> None:
        self._release()
        self._actuation.on_timer()

    def _note_stuck(self, report: FlightReport) -> None:
        """Complain once of stamps that stand still, where time must go on without them."""
        is_stuck = report.stamp is Stamp.DUPLICATE and self._is_silent
        is_watched = self._is_robot and self._params.silence_timeout > 0.0
        if is_watched and is_stuck and not self._is_stuck:
            self._is_stuck = True
            self._host.complain('stuck_stamps', (
                f'the stamps of the samples stand still at {report.stamp_ns * 1e-9:.3f} s: time '
                'goes on by the steady clock'
            ))

    def _follow_state(self) -> None:
        """Publish and record what a request changed."""
        # A record that a request dropped is not resumed, so that engines are commanded again.
        self._record.settle(is_resumed=False)
        self._announce()
        self._record.keep()

    def _announce(self, *, is_resumed: bool = False) -> None:
        self._actuation.follow(self._state.phase, arms_deployers=self._state.arms_deployers)
        self._was_armed |= self._state.phase.is_armed
        if self._state.phase is not self._phase:
            if self._state.phase.is_armed and not self._phase.is_armed:
                self._clocks.settle(is_resumed=is_resumed)
            self._phase = self._state.phase
            self._requests.drop_waiting(self._phase.value)
            why = f'the phase became {self._phase.value}'
            (self._firings.drop_ignitions if self._phase.is_armed else self._firings.cancel)(why)
        self._outputs.announce(self._state, self._report, self._time.stamp_ns, self._estimate)

    def health(self) -> Iterable[Health]:
        """Yield the health of the altitude, what was refused, and the objections to a launch."""
        yield self._altitude_health()
        objections = self._state.objections
        yield 'readiness', WARN if objections else OK, '; '.join(objections.values()) or 'ok', {
            name: objections.get(name, 'ok') for name in CHECKS
        }
        if self._estimation is not None:
            yield self._estimation.health(self._estimate)

    def _altitude_health(self) -> Health:
        report, counts = self._report, self._host.counts
        flags = (
            ' '.join(sorted(report.flags)) if report
            else self._host.absence(self._awaited, 'sample')[1]
        )
        return 'altitude', WARN if flags else OK, flags or 'ok', {
            **{stamp.value: count for stamp, count in self._state.stamp_counts.items()},
            'refused': counts['refused'], 'late_aside': self._side_inputs.late,
            'waiting': self._side_inputs.waiting, 'silence': counts['silence'],
        }
