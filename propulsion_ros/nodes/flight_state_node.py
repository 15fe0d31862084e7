"""Phase, apogee and events of a flight, from a barometer or an odometry."""
from __future__ import annotations

import functools
import math
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from geometry_msgs.msg import PointStamped
from nav_msgs.msg import Odometry
from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from sensor_msgs.msg import FluidPressure, JointState, Temperature
from std_msgs.msg import Bool, String
from std_srvs.srv import Trigger

from propulsion_ros.errors import CommandError
from propulsion_ros.flight.apogee_params import ApogeeParams
from propulsion_ros.flight.deployers import DeployerBank
from propulsion_ros.flight.detectors import make_detector
from propulsion_ros.flight.flight_params import FlightParams
from propulsion_ros.flight.flight_report import FlightReport, Mark
from propulsion_ros.flight.flight_state import FlightState
from propulsion_ros.flight.pad import PadReference
from propulsion_ros.flight.phases import COMMANDS, Phase
from propulsion_ros.flight.variables import NAN, Sample
from propulsion_ros.flight_config import FlightConfig, load_flight_config
from propulsion_ros.models.atmosphere import altitude_of_pressure
from propulsion_ros.nodes import qos
from propulsion_ros.nodes.base import OK, WARN, PropulsionNode
from propulsion_ros.nodes.conversions import doubles, msg_to_motion, ns_to_stamp, stamp_to_ns
from propulsion_ros.nodes.spin import run
from propulsion_ros.quantity import group, quantity, validate
from propulsion_ros.schema import build, parameters_of

_DEPLOYER_PERIOD_NS = 100_000_000
_TEMPERATURE_AGE_NS = 10_000_000_000  # over which the air hardly changes, but for the climb
_ZERO_CELSIUS = 273.15  # [K]
_FIT = ('altitude', 'velocity', 'acceleration', 'apogee_time', 'apogee_altitude', 'apogee_sigma')


@dataclass(frozen=True, kw_only=True, eq=False)
class FlightStateNodeParams:
    """What a flight state node is made from."""

    config_file: str = quantity(
        '', doc='flight configuration (RML, .jsonc) with events and deployers', kind=str
    )
    altitude_source: str = quantity(
        'odometry', doc='which input gives the altitude', kind=str,
        choices=('odometry', 'pressure'),
    )
    pad_reference: str = quantity(
        'measured', doc='altitude of the pad: the mean before launch, or 0 as in a flight log',
        kind=str, choices=('measured', 'zero'),
    )
    reliable_inputs: bool = quantity(
        False, doc='lose no sample: for simulation in lockstep, and for replay', kind=bool
    )
    silence_timeout: float = quantity(
        0.5, 's', lo=0.0,
        doc='silence after which time goes on without samples, off in simulation; 0 never',
    )
    world_frame: str = quantity('map', doc='frame of the apogee', kind=str)
    flight: FlightParams = group(FlightParams, element='flight')
    apogee: ApogeeParams = group(ApogeeParams, element='apogee')

    def __post_init__(self) -> None:
        validate(self)


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
    ~/temperature : sensor_msgs/Temperature
        Of the air, optional; the standard atmosphere's where there is none.

    Publishers
    ----------
    ~/phase, ~/subphase : std_msgs/String
        Latched.
    ~/flags : diagnostic_msgs/DiagnosticArray
        Phase, moments of the flight with their source, health of the detector, and why and how
        surely it found apogee; at each change, latched.
    ~/apogee : geometry_msgs/PointStamped
        Time and altitude above the pad of the vertex, latched.
    ~/predicted_apogee : geometry_msgs/PointStamped
        The same while climbing; its stamp lies in the future.
    ~/events : diagnostic_msgs/DiagnosticArray
        One message for each sample in which events fired, latched.
    ~/fit : sensor_msgs/JointState
        The fitted motion at each sample, for plots: h(t) = altitude + velocity t
        + acceleration t^2 / 2, with t in seconds since the stamp.
    ~/deployers : sensor_msgs/JointState
        Effort 1 while a deployer is on; 10 Hz, never latched.
    ~/beacon : std_msgs/Bool
        Whether the vehicle waits to be found, latched.

    Services
    --------
    ~/launch, ~/ignition, ~/abort, ~/liftoff_override, ~/apogee_override, ~/reset, ~/debug
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
        config = load_flight_config(path) if path else FlightConfig((), ())
        self._params = params
        self._state = FlightState(
            params.flight, make_detector(params.apogee), config.events, config.deployers
        )
        self._deployer_names = [deployer.name for deployer in config.deployers]
        self._open()

    def _open(self) -> None:
        publish, options = self.create_lifecycle_publisher, qos.overridable()
        self._phase_pub = publish(String, '~/phase', qos.LATCHED)
        self._subphase_pub = publish(String, '~/subphase', qos.LATCHED)
        self._flags_pub = publish(DiagnosticArray, '~/flags', qos.LATCHED)
        self._apogee_pub = publish(PointStamped, '~/apogee', qos.LATCHED)
        self._prediction_pub = publish(PointStamped, '~/predicted_apogee', qos.STATE)
        self._events_pub = publish(DiagnosticArray, '~/events', qos.LATCHED_HISTORY)
        self._fit_pub = publish(JointState, '~/fit', qos.COMMAND)
        self._deployers_pub = publish(JointState, '~/deployers', qos.COMMAND)
        self._beacon_pub = publish(Bool, '~/beacon', qos.LATCHED)
        self.entities += [
            self._phase_pub, self._subphase_pub, self._flags_pub, self._apogee_pub,
            self._prediction_pub, self._events_pub, self._fit_pub, self._deployers_pub,
            self._beacon_pub,
        ]
        profile = qos.LOCKSTEP if self._params.reliable_inputs else qos.SENSOR
        kind: Any = Odometry
        callback: Any = self._on_odometry
        if self._params.altitude_source == 'pressure':
            kind, callback = FluidPressure, self._on_pressure
        self.entities.append(self.create_subscription(
            kind, f'~/{self._params.altitude_source}', callback, profile,
            qos_overriding_options=options,
        ))
        self.entities.append(self.create_subscription(
            Temperature, '~/temperature', self._on_temperature, profile,
            qos_overriding_options=options,
        ))
        for name in COMMANDS:
            command = functools.partial(self._on_command, name)
            self.entities.append(self.create_service(Trigger, f'~/{name}', command))
        if self._params.silence_timeout and not self.get_parameter('use_sim_time').value:
            steady = Clock(clock_type=ClockType.STEADY_TIME)
            self.entities.append(self.create_timer(0.1, self._on_silence, clock=steady))

    def started(self) -> None:
        """Begin in preflight."""
        self._state.reset()
        self._pad = PadReference(0.0 if self._params.pad_reference == 'zero' else NAN)
        self._temperature = (0, NAN)
        self._bank = DeployerBank(self._deployer_names)
        self._report: FlightReport | None = None
        self._said: dict[str, str] = {}
        self._stamp_ns = self._heard_ns = 0
        self._sampled_wall = time.monotonic()
        self._announce()

    def stopping(self) -> None:
        """Turn every deployer off."""
        self._bank.arm(False)
        if self._deployer_names:
            self._publish_efforts(self._stamp_ns)

    # Inputs.

    def _on_odometry(self, message: Odometry) -> None:
        position = message.pose.pose.position
        try:
            motion = msg_to_motion(message, message.child_frame_id)
            east, north, up = (motion.rotation @ motion.velocity).tolist()
        except CommandError as error:
            self.complain('refused', f'odometry without velocity: {error}')
            east = north = up = NAN
        self._take(
            stamp_to_ns(message.header.stamp), position.z, up, (position.x, position.y),
            (east, north),
        )

    def _on_pressure(self, message: FluidPressure) -> None:
        altitude = float(altitude_of_pressure(message.fluid_pressure))
        self._take(stamp_to_ns(message.header.stamp), altitude)

    def _on_temperature(self, message: Temperature) -> None:
        self._temperature = (
            stamp_to_ns(message.header.stamp), message.temperature + _ZERO_CELSIUS
        )

    def _take(
        self,
        stamp_ns: int,
        altitude: float,
        velocity: float = NAN,
        position: tuple[float, float] = (NAN, NAN),
        horizontal_velocity: tuple[float, float] = (NAN, NAN),
    ) -> None:
        if not self.is_active:
            return
        self._sampled_wall = time.monotonic()
        self._pad.is_open = self._state.phase in (Phase.SETUP, Phase.PREFLIGHT)
        above = self._pad.above_pad(altitude)
        measured_ns, temperature = self._temperature
        self._update(Sample(
            stamp_ns, above, velocity,
            horizontal_position=position, horizontal_velocity=horizontal_velocity,
            temperature=temperature if abs(stamp_ns - measured_ns) < _TEMPERATURE_AGE_NS else NAN,
        ))

    def _on_silence(self) -> None:
        """Let time go on while no sensor speaks, so that timed events still fire."""
        silent = time.monotonic() - self._sampled_wall
        if not self.is_active or self._report is None or silent < self._params.silence_timeout:
            return
        stamp_ns = self._heard_ns + round(silent * 1e9)
        self._update(Sample(stamp_ns, NAN), heard=False)

    def _on_command(self, name: str, request: Any, response: Any) -> Any:
        if not self.is_active:
            response.success, response.message = False, f"'{name}' is refused: not active"
            return response
        reason = self._state.command(name, self._stamp_ns)
        response.success, response.message = not reason, reason or f"'{name}' accepted"
        if reason:
            self.counts['refused'] += 1
            self.get_logger().warning(reason)
        self._announce()
        return response

    # Logic and outputs.

    def _update(self, sample: Sample, heard: bool = True) -> None:
        report = self._state.update(sample)
        self._report = report
        if not report.stamp.is_accepted:
            return
        if heard:
            self._heard_ns = sample.stamp_ns
        previous_ns, self._stamp_ns = self._stamp_ns, sample.stamp_ns
        self._announce()
        self._publish_fit(report, previous_ns)
        self._publish_events(report)
        self._publish_deployers(report, previous_ns)

    def _announce(self) -> None:
        """Publish phase, sub-phase, flags, beacon and apogee where they changed."""
        state, report = self._state, self._report
        self._bank.arm(state.phase.is_armed)
        values = {'phase': state.phase.value, 'subphase': state.subphase.value}
        for name in ('ignition', 'liftoff', 'apogee'):
            mark: Mark | None = getattr(state, name)
            values[name] = f'{mark.stamp_ns * 1e-9:.9f}' if mark else ''
            values[f'{name}_source'] = mark.source if mark else ''
        estimate = report.estimate if report else None
        values['health'] = estimate.health if estimate else ''
        found = estimate if estimate and estimate.detected else None
        values['reason'] = found.reason if found else ''
        values['sigma'] = f'{found.sigma:.6g}' if found and math.isfinite(found.sigma) else ''
        values['flags'] = ' '.join(sorted(report.flags)) if report else ''
        if values == self._said:
            return
        said, self._said = self._said, values
        if values['phase'] != said.get('phase'):
            self.get_logger().info(f'phase {values["phase"]} at {self._stamp_ns * 1e-9:.2f} s')
            self._phase_pub.publish(String(data=values['phase']))
            self._beacon_pub.publish(Bool(data=state.phase is Phase.RECOVERY))
        if values['subphase'] != said.get('subphase'):
            self._subphase_pub.publish(String(data=values['subphase']))
        if values['apogee'] and values['apogee'] != said.get('apogee') and state.apogee:
            known = estimate if estimate and estimate.detected else None
            vertex_ns = known.apogee_ns if known and known.apogee_ns else state.apogee.stamp_ns
            altitude = known.apogee_altitude if known else NAN
            self._apogee_pub.publish(self._point(vertex_ns, altitude))
            self.get_logger().info(
                f'apogee {altitude:.1f} m at {vertex_ns * 1e-9:.2f} s ({state.apogee.source})'
            )
        self._flags_pub.publish(self._array([
            DiagnosticStatus(
                name='flight', level=OK, message=values['phase'],
                values=[KeyValue(key=key, value=value) for key, value in values.items()],
            )
        ]))

    def _publish_fit(self, report: FlightReport, previous_ns: int) -> None:
        estimate = report.estimate
        if estimate is None or not self._state.phase.is_armed:
            return
        vertex_ns = estimate.apogee_ns
        message = JointState()
        message.header.stamp = ns_to_stamp(report.stamp_ns)
        message.name = list(_FIT)
        message.position = doubles([
            estimate.altitude, estimate.velocity, estimate.acceleration,
            math.nan if vertex_ns is None else vertex_ns * 1e-9,
            estimate.apogee_altitude, estimate.sigma,
        ])
        self._fit_pub.publish(message)
        is_climbing = self._state.phase is Phase.FLIGHT and vertex_ns is not None
        if is_climbing and vertex_ns is not None and self._is_due(report.stamp_ns, previous_ns):
            self._prediction_pub.publish(self._point(vertex_ns, estimate.apogee_altitude))

    def _publish_events(self, report: FlightReport) -> None:
        for command in report.deployers:
            try:
                self._bank.fire(command.id, command.stamp_ns, command.on_time_ns)
            except CommandError as error:
                self.complain('refused', str(error))
        for event in report.events:
            self.get_logger().info(f'event {event.name}: {event.why}')
        if report.events:
            self._events_pub.publish(self._array([
                DiagnosticStatus(
                    name=event.name, level=OK, message=event.why,
                    values=[
                        KeyValue(key='id', value=str(event.id)),
                        KeyValue(key='count', value=str(event.count)),
                        *(
                            KeyValue(
                                key='action',
                                value=f'{action.kind} {action.target} {action.param:g}',
                            )
                            for action in event.actions
                        ),
                    ],
                )
                for event in report.events
            ]))

    def _publish_deployers(self, report: FlightReport, previous_ns: int) -> None:
        """Publish at 10 Hz, and at once where a deployer goes on or off."""
        if not self._deployer_names:
            return
        efforts = self._bank.due(report.stamp_ns)
        if efforts is None and not self._is_due(report.stamp_ns, previous_ns):
            return
        self._publish_efforts(report.stamp_ns)

    def _publish_efforts(self, stamp_ns: int) -> None:
        message = JointState()
        message.header.stamp = ns_to_stamp(stamp_ns)
        message.name = list(self._deployer_names)
        message.effort = doubles(self._bank.efforts(stamp_ns))
        self._deployers_pub.publish(message)

    @staticmethod
    def _is_due(stamp_ns: int, previous_ns: int) -> bool:
        """Whether a multiple of 0.1 s lies in (previous, stamp]; the first sample counts."""
        period = _DEPLOYER_PERIOD_NS
        return stamp_ns // period != previous_ns // period or stamp_ns == 0

    def _array(self, statuses: list[DiagnosticStatus]) -> DiagnosticArray:
        message = DiagnosticArray()
        message.header.stamp = ns_to_stamp(self._stamp_ns)
        message.status = statuses
        return message

    def _point(self, stamp_ns: int, altitude: float) -> PointStamped:
        message = PointStamped()
        message.header.stamp = ns_to_stamp(stamp_ns)
        message.header.frame_id = self._params.world_frame
        message.point.z = float(altitude)
        return message

    def health(self) -> Iterable[tuple[str, bytes, str, Mapping[str, Any]]]:
        """Yield the health of the altitude and what was refused."""
        report = self._report
        counts = {stamp.value: count for stamp, count in self._state.stamp_counts.items()}
        flags = ' '.join(sorted(report.flags)) if report else 'no sample yet'
        yield 'altitude', WARN if flags else OK, flags or 'ok', {
            **counts, 'refused': self.counts['refused'],
        }


def main(args: Sequence[str] | None = None) -> None:
    """Run one flight state node."""
    sys.exit(run(lambda options: [FlightStateNode()], args))


if __name__ == '__main__':
    main()
