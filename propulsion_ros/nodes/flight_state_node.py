"""Phase, apogee and events of a flight, from a barometer or an odometry."""
from __future__ import annotations

import functools
import hashlib
import math
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray
from nav_msgs.msg import Odometry
from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from sensor_msgs.msg import FluidPressure, JointState, Temperature
from std_srvs.srv import Trigger

from propulsion_ros.flight.detectors import make_detector
from propulsion_ros.flight.estimation.mounting import Mounting, MountingParams
from propulsion_ros.flight.estimation.pad import PadReference
from propulsion_ros.flight.estimation.state import EstimatorState, sample_of, stage_of
from propulsion_ros.flight.estimators import make_estimator
from propulsion_ros.flight.events.variables import NAN, UNKNOWN_ROTATION, Sample, bounded
from propulsion_ros.flight.flight_report import FlightReport
from propulsion_ros.flight.flight_state import FlightState
from propulsion_ros.flight.phases.phases import COMMANDS, DUTIES, Duty
from propulsion_ros.flight.readiness import CHECKS
from propulsion_ros.loops.record_file import FlightRecord
from propulsion_ros.models.common.atmosphere import altitude_of_pressure
from propulsion_ros.nodes import qos
from propulsion_ros.nodes.base import OK, WARN, PropulsionNode
from propulsion_ros.nodes.circuits import Circuits
from propulsion_ros.nodes.conversions import msg_to_motion, stamp_to_ns
from propulsion_ros.nodes.first_message import FirstMessage
from propulsion_ros.nodes.flight_actuation import FlightActuation
from propulsion_ros.nodes.flight_estimation import IMU, PRESSURE, SENSORS, FlightEstimation
from propulsion_ros.nodes.flight_outputs import FlightOutputs
from propulsion_ros.nodes.flight_record import FlightLog
from propulsion_ros.nodes.flight_state_params import FlightStateNodeParams
from propulsion_ros.nodes.spin import run
from propulsion_ros.rml.config import UNITS, FlightConfig, load_flight_config
from propulsion_ros.settings.errors import CommandError, ConfigError
from propulsion_ros.settings.flat import build, parameters_of
from propulsion_ros.timing.flight_clock import Stamp
from propulsion_ros.timing.stamped_inputs import Ordering, StampedInputs

_TEMPERATURE_AGE_NS = 10_000_000_000  # over which the air hardly changes, but for the climb
_ZERO_CELSIUS = 273.15  # [K]
_SAMPLE, _TEMPERATURE, _CONTINUITY, _REQUEST = 'sample', 'temperature', 'continuity', 'request'
_DELAYS_NS = {_TEMPERATURE: 100_000_000, _CONTINUITY: 100_000_000, _REQUEST: 1}
"""How long after its stamp an input takes effect: longer than it travels, so not late."""


class FlightStateNode(PropulsionNode):
    """Follows a flight and fires its events.

    ROS Parameters
    --------------
    Those of `FlightStateNodeParams`.

    Subscribers
    -----------
    ~/odometry : nav_msgs/Odometry
        With ``altitude_source: odometry``; z of the pose is up, twist in the child frame.
    ~/pressure : sensor_msgs/FluidPressure
        With ``altitude_source: pressure``.
    ~/imu, ~/pressure, ~/magnetic_field, ~/fix : sensor_msgs/Imu, FluidPressure, MagneticField, \
NavSatFix
        With ``altitude_source: sensors``; any of them may be missing.
    ~/temperature : sensor_msgs/Temperature
        Of the air, optional; the standard atmosphere's where there is none.
    ~/continuity : sensor_msgs/JointState
        Circuits of local pyros by the name of their deployer or igniter, optional: position 1
        is closed, 0 open.
    ~/request : diagnostic_msgs/DiagnosticArray
        What a service would ask, by the name of a status; takes effect after the sample of its
        stamp, on arrival where that is 0. A recording of ~/requests is replayed here.

    Publishers
    ----------
    ~/phase, ~/subphase : std_msgs/String
        Latched.
    ~/flags : diagnostic_msgs/DiagnosticArray
        Phase, moments of the flight with their source, health of the detector, why and how surely
        it found apogee, and before a launch the checks that speak against one; at each change,
        latched.
    ~/apogee : geometry_msgs/PointStamped
        Time and altitude above the pad of the vertex, latched.
    ~/predicted_apogee : geometry_msgs/PointStamped
        The same while climbing; its stamp lies in the future.
    ~/events : diagnostic_msgs/DiagnosticArray
        One message for each sample in which events fired, with the condition and what was
        measured, latched.
    ~/fit : sensor_msgs/JointState
        The fitted motion at each sample, for plots: h(t) = altitude + velocity t
        + acceleration t^2 / 2, with t in seconds since the stamp.
    ~/odometry : nav_msgs/Odometry
        The estimate, with ``altitude_source: sensors``: pose in the world frame (east, north, up
        at the pad), twist in the child frame, both with covariance.
    ~/deployers : sensor_msgs/JointState
        Effort 1 while a pyro is on, position of servos; 10 Hz, never latched.
    ~/engines : sensor_msgs/JointState
        Effort 1 of engines and igniters while they are on, position of valves; 10 Hz, never
        latched.
    ~/booster_command : sensor_msgs/JointState
        Efforts of the boosters that running engines drive, for remapping onto a boosters node.
    ~/controllers : sensor_msgs/JointState
        Input (position) and output (effort) of controllers at each of their steps.
    ~/commands : std_msgs/Int32MultiArray
        Destination, service, number and argument of commands to other computers.
    ~/beacon : std_msgs/Bool
        Whether the vehicle waits to be found, latched.
    ~/requests : diagnostic_msgs/DiagnosticArray
        Each service call that was followed, with the stamp of the sample after which it was.
    ~/tune : std_msgs/String
        What the buzzer plays, named after the phase, latched.

    Services
    --------
    ~/set_home, ~/launch, ~/ignition, ~/abort, ~/liftoff_override, ~/apogee_override, ~/reset, \
~/debug
        std_srvs/Trigger; refused with a reason in the wrong phase.
    """

    def __init__(self, name: str = 'flight_state', **kwargs: Any) -> None:
        super().__init__(name, **kwargs)

    def setup(self) -> None:
        """Read the configuration and open the topics."""
        params = build(
            FlightStateNodeParams, self.declare_rest(parameters_of(FlightStateNodeParams))
        )
        path = params.config_file
        config = load_flight_config(path, params.semantics) if path else FlightConfig((), ())
        if not path:
            self.get_logger().info('no config_file: nothing will be fired')
        else:
            unread = f'; without effect: {", ".join(config.unread)}' if config.unread else ''
            self.get_logger().info(
                f'{len(config.events)} events, {config.semantics} semantics, {UNITS}{unread}'
            )
        self._params = params
        in_simulation = bool(self.get_parameter('use_sim_time').value)
        self._state = FlightState(
            params.flight, make_detector(params.apogee), config.events, config.deployers,
            config.controllers, config.semantics, params.required_checks,
            keeps_flight=not in_simulation,
        )
        self._circuits = Circuits(config)
        flown = f'{config.fingerprint} {params.altitude_source} {params.pad_reference}'
        self._log = FlightLog(params.state_file, hashlib.sha256(flown.encode()).hexdigest())
        self._outputs = FlightOutputs(self, params.world_frame, params.reliable_inputs)
        self._actuation = FlightActuation(self, config, {
            'auto': in_simulation, 'stamps': True, 'steady': False,
        }[params.on_time_clock])
        self._open(in_simulation)
        self._estimation = self._estimate_from_sensors(config)

    def _estimate_from_sensors(self, config: FlightConfig) -> FlightEstimation | None:
        params = self._params
        if params.altitude_source != 'sensors':
            return None
        sensors = config.sensors
        board = MountingParams(axes=np.array(sensors.axes), flips=np.array(sensors.flips))
        mounting = Mounting(board, rotation=config.orientation.rotation)
        estimator = make_estimator(params.estimator, mounting)
        if estimator is None:
            raise ConfigError('estimator.method', 'expected one that makes an estimate')
        profile = qos.sensors(params.reliable_inputs)
        return FlightEstimation(
            self, estimator, params.estimation, params.world_frame, profile, self._on_estimate
        )

    def _open(self, in_simulation: bool) -> None:
        params = self._params
        profile = qos.sensors(params.reliable_inputs)
        sources: dict[str, list[tuple[Any, str, Any]]] = {
            'odometry': [(Odometry, '~/odometry', self._on_odometry)],
            'pressure': [(FluidPressure, '~/pressure', self._on_pressure)],
            'sensors': [],
        }
        samples = sources[params.altitude_source]
        # The estimation hears raw sensors, first of all these two.
        awaited = {topic: kind for kind, topic, _ in samples} or {
            f'~/{sensor}': SENSORS[sensor] for sensor in (IMU, PRESSURE)
        }
        self._first_message = FirstMessage(self, awaited, 'sample')
        self.entities.append(self.create_subscription(
            DiagnosticArray, '~/request', self._on_request, qos.COMMAND
        ))
        for kind_of, topic, on_message in (
            (Temperature, '~/temperature', self._on_temperature),
            (JointState, '~/continuity', self._on_continuity),
            *samples,
        ):
            self.entities.append(self.create_subscription(
                kind_of, topic, on_message, profile, qos_overriding_options=qos.overridable(),
            ))
        for name in COMMANDS:
            command = functools.partial(self._on_command, name)
            self.entities.append(self.create_service(Trigger, f'~/{name}', command))
        if params.silence_timeout and not in_simulation:
            steady = Clock(clock_type=ClockType.STEADY_TIME)
            self.entities.append(self.create_timer(0.1, self._on_silence, clock=steady))

    def started(self) -> None:
        """Begin in preflight, with the record of a flight before where there is one."""
        self._state.reset()
        self._outputs.reset()
        self._actuation.reset()
        self._circuits.reset()
        self._estimate: EstimatorState | None = None
        if self._estimation is not None:
            self._estimation.reset()
        # An estimate is above the pad already.
        is_above_pad = self._params.pad_reference == 'zero' or self._estimation is not None
        self._pad = PadReference(0.0 if is_above_pad else NAN)
        self._home = self._position = (0.0, 0.0)
        self._temperature = (0, NAN)
        # What comes beside the samples takes effect by its stamp, not by when it arrives.
        self._aside = StampedInputs(
            Ordering(wait_for=(_SAMPLE,), jump_back_ns=_TEMPERATURE_AGE_NS),
            (_TEMPERATURE, _CONTINUITY, _REQUEST, _SAMPLE), self._apply_aside,
            trusted=(_SAMPLE,), delays_ns=_DELAYS_NS,
        )
        self._report: FlightReport | None = None
        self._stamp_ns = self._heard_ns = 0
        self._sampled_wall = time.monotonic()
        self._record: FlightRecord | None = None
        self._open_log()
        self._announce()

    def stopping(self) -> None:
        """Turn everything off."""
        self._actuation.last_word()
        self._keep_record()
        self._log.close()

    # The record of a flight before a restart.

    def _open_log(self) -> None:
        log = self.get_logger()
        record = self._log.open(log.warning)
        if record is None or not record.snapshot.phase.is_armed:
            return
        problem = self._state.offer(record.snapshot)
        if problem:
            log.warning(f'state_file: {problem}; ignored')
            return
        self._record = record
        self._actuation.is_waiting = True
        self._home = record.home
        if math.isfinite(record.pad_altitude):
            self._pad.set(record.pad_altitude)
        log.warning(f'a flight was recorded in {record.snapshot.phase.value}, waiting for samples')

    def _settle_record(self, report: FlightReport) -> None:
        """Take up the record, or drop it, as the flight state decided."""
        record = self._record
        if record is None or self._state.is_resuming:
            return
        self._record = None
        self._actuation.is_waiting = False
        if report.phase.is_armed:
            self._actuation.resume(record.pulses)
        else:
            self._pad.reset()
            self._home = (0.0, 0.0)

    def _keep_record(self) -> None:
        if self._state.is_resuming or not self._log.is_open:
            return
        snapshot = self._state.snapshot()
        pulses = self._actuation.pulses
        altitude = self._pad.altitude

        def make() -> FlightRecord:
            return FlightRecord(self._log.config, snapshot, altitude, self._home, pulses)

        self._log.keep(make, (snapshot.essence, tuple(i for i, _ in pulses), self._home))
        if self._log.error:
            self.complain('record', self._log.error)

    # Inputs.

    def _stamp_of(self, source: str, message: Any) -> int | None:
        """Return the stamp of a message [ns], None where it is not to be taken."""
        return self.stamp_of(source, message.header.stamp) if self.is_active else None

    def _on_odometry(self, message: Odometry) -> None:
        stamp_ns = self._stamp_of('odometry', message)
        if stamp_ns is None:
            return
        position, q = message.pose.pose.position, message.pose.pose.orientation
        rotation = q.x, q.y, q.z, q.w
        try:
            motion = msg_to_motion(message, message.child_frame_id)
            east, north, up = (motion.rotation @ motion.velocity).tolist()
        except CommandError as error:
            self.complain('refused', f'odometry without velocity: {error}')
            east = north = up = NAN
            rotation = UNKNOWN_ROTATION
        self._take(Sample(
            stamp_ns, position.z, up,
            horizontal_position=(position.x, position.y), horizontal_velocity=(east, north),
            rotation=rotation,
        ))

    def _on_pressure(self, message: FluidPressure) -> None:
        stamp_ns = self._stamp_of('pressure', message)
        if stamp_ns is not None:
            altitude = float(altitude_of_pressure(message.fluid_pressure))
            self._take(Sample(stamp_ns, altitude))

    def _on_estimate(self, state: EstimatorState) -> None:
        self._estimate = state
        self._take(sample_of(state, self._params.estimator))

    def _on_temperature(self, message: Temperature) -> None:
        self._put_aside(_TEMPERATURE, message, message.temperature)

    def _on_continuity(self, message: JointState) -> None:
        if not self.is_active:
            return
        try:
            measured = self._circuits.read(message.name, message.position)
        except CommandError as error:
            self.complain('refused', str(error))
        else:
            self._put_aside(_CONTINUITY, message, measured)

    def _on_request(self, message: DiagnosticArray) -> None:
        if not self.is_active:
            return
        for status in message.status:
            if status.name not in COMMANDS:
                known = ', '.join(COMMANDS)
                self.complain('refused', f'unknown request {status.name!r}; known: {known}')
            elif stamp_to_ns(message.header.stamp):
                self._put_aside(_REQUEST, message, status.name)
            else:
                self._apply_aside(_REQUEST, self._stamp_ns, status.name)

    def _put_aside(self, source: str, message: Any, payload: Any) -> None:
        stamp_ns = self._stamp_of(source, message)
        if stamp_ns is not None and not self._aside.push(source, stamp_ns, payload):
            self.complain(
                'other_time', f'{source} not taken: stamped {stamp_ns * 1e-9:.3f} s, '
                f'but the time is {self._stamp_ns * 1e-9:.3f} s',
            )

    def _apply_aside(self, source: str, stamp_ns: int, payload: Any) -> None:
        measured_ns = stamp_ns - _DELAYS_NS[source]
        if source == _TEMPERATURE:
            self._temperature = measured_ns, payload + _ZERO_CELSIUS
            return
        if source == _CONTINUITY:
            self._circuits.take(measured_ns, payload)
            return
        try:
            self._follow(payload)
            self._outputs.publish_request(payload, self._stamp_ns)
        except CommandError as error:
            self.complain('refused', str(error))

    def _take(self, sample: Sample) -> None:
        """Take a sample whose altitude and position are above and from the sensor's datum."""
        if not self.is_active:
            return
        sample = bounded(sample)
        self._aside.push(_SAMPLE, sample.stamp_ns)
        self._aside.note(sample.stamp_ns)
        duties = DUTIES[self._state.phase].update
        self._pad.is_open = Duty.MEASURE_PAD in duties and not self._state.is_resuming
        self._position = sample.horizontal_position
        (east, north), (east_0, north_0) = self._position, self._home
        measured_ns, temperature = self._temperature
        is_recent = abs(sample.stamp_ns - measured_ns) < _TEMPERATURE_AGE_NS
        self._update(replace(
            sample,
            altitude=self._pad.above_pad(sample.altitude),
            horizontal_position=(east - east_0, north - north_0),
            temperature=temperature if is_recent else NAN,
            circuits=self._circuits.known(sample.stamp_ns),
        ))

    def _on_silence(self) -> None:
        """Let time go on while no sensor speaks, so that timed events still fire."""
        if not self.is_active or self._report is None:
            return
        silent = time.monotonic() - self._sampled_wall
        if silent < self._params.silence_timeout:
            return
        self.counts['silence'] += 1
        stamp_ns = self._heard_ns + round(silent * 1e9)
        circuits = self._circuits.known(stamp_ns)
        self._update(Sample(stamp_ns, NAN, circuits=circuits), heard=False)

    def _on_command(self, name: str, request: Any, response: Any) -> Any:
        if not self.is_active:
            response.success, response.message = False, f"'{name}' is refused: not active"
            return response
        try:
            response.success, response.message = True, self._follow(name)
        except CommandError as error:
            response.success, response.message = False, str(error)
            self.counts['refused'] += 1
            self.get_logger().warning(response.message)
        else:
            self._outputs.publish_request(name, self._stamp_ns)
        return response

    def _follow(self, name: str) -> str:
        """Follow a request and say so, or raise `CommandError` with the reason why not."""
        objections = self._state.objections
        reason = self._state.command(name, self._stamp_ns)
        if name == 'set_home' and not reason:
            self._set_home()
        self._announce()
        self._keep_record()
        if reason:
            raise CommandError(reason)
        if not (objections and self._state.phase.is_armed):
            return f"'{name}' accepted"
        text = f"'{name}' accepted, but {'; '.join(objections.values())}"
        self.get_logger().warning(text)
        return text

    def _set_home(self) -> None:
        """Take the pad to be where the vehicle stands now."""
        self._pad.set_here()
        if all(math.isfinite(value) for value in self._position):
            self._home = self._position

    # Logic and outputs.

    def _update(self, sample: Sample, heard: bool = True) -> None:
        report = self._state.update(sample)
        if not report.stamp.is_accepted:
            return
        self._report = report
        if report.stamp is Stamp.RESTARTED:
            # It may stand somewhere else.
            self._pad.reset()
            self._home = (0.0, 0.0)
        if heard:
            self._heard_ns, self._sampled_wall = sample.stamp_ns, time.monotonic()
        previous_ns, self._stamp_ns = self._stamp_ns, sample.stamp_ns
        if report.notice:
            self.get_logger().warning(report.notice)
        self._announce()
        self._settle_record(report)
        self._outputs.publish(self._state, report, previous_ns)
        self._actuation.act(report.stamp_ns, report.events, report.controls)
        self._keep_record()

    def _announce(self) -> None:
        self._actuation.follow(self._state.phase, may_deploy=self._state.may_deploy)
        if self._estimation is not None:
            self._estimation.set_stage(stage_of(self._state.phase, self._state.subphase))
        self._outputs.announce(self._state, self._report, self._stamp_ns, self._estimate)

    def health(self) -> Iterable[tuple[str, bytes, str, Mapping[str, Any]]]:
        """Yield the health of the altitude, what was refused, and what speaks against a launch."""
        report = self._report
        counts = {stamp.value: count for stamp, count in self._state.stamp_counts.items()}
        flags = ' '.join(sorted(report.flags)) if report else self._first_message.look()[1]
        yield 'altitude', WARN if flags else OK, flags or 'ok', {
            **counts, 'refused': self.counts['refused'], 'late_aside': self._aside.counts['late'],
            'waiting': self._aside.waiting, 'silence': self.counts['silence'],
        }
        objections = self._state.objections
        yield 'readiness', WARN if objections else OK, '; '.join(objections.values()) or 'ok', {
            name: objections.get(name, 'ok') for name in CHECKS
        }
        if self._estimation is not None:
            estimate = self._estimate
            mode = estimate.mode.value if estimate else 'no_sensor'
            faults = ' '.join(sorted(estimate.flags)) if estimate else ''
            yield 'estimator', WARN if faults else OK, faults or mode, {
                'mode': mode, **self._estimation.counts,
            }


def main(args: Sequence[str] | None = None) -> None:
    """Run one flight state node."""
    sys.exit(run(lambda options: [FlightStateNode()], args))


if __name__ == '__main__':
    main()
