"""What a flight state node says: phase, moments, events and the fitted motion."""
from __future__ import annotations

import math

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from geometry_msgs.msg import PointStamped
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool, Int32MultiArray, String

from propulsion_ros.flight.estimation.state import EstimatorState
from propulsion_ros.flight.events.variables import NAN
from propulsion_ros.flight.flight_report import FlightReport
from propulsion_ros.flight.flight_state import FlightState
from propulsion_ros.flight.phases.mark import Mark
from propulsion_ros.flight.phases.phases import DUTIES, Duty, Phase
from propulsion_ros.flight.pyros.deployers import PERIOD_NS
from propulsion_ros.nodes import qos
from propulsion_ros.nodes.base import OK, PropulsionNode
from propulsion_ros.nodes.conversions import doubles, ns_to_stamp

_FIT = ('altitude', 'velocity', 'acceleration', 'apogee_time', 'apogee_altitude', 'apogee_sigma')


def is_due(stamp_ns: int, previous_ns: int) -> bool:
    """Return whether a multiple of 0.1 s lies in (previous, stamp]; the first sample counts."""
    return stamp_ns // PERIOD_NS != previous_ns // PERIOD_NS or stamp_ns == 0


class FlightOutputs:
    """Publishes what a flight state says, at changes and at samples.

    Parameters
    ----------
    node : PropulsionNode
        Gets the publishers.
    world_frame : str
        Frame of the apogee.
    lose_none : bool
        Whether a slow listener must hear all of it.
    """

    def __init__(self, node: PropulsionNode, world_frame: str, lose_none: bool) -> None:
        self._node, self._frame = node, world_frame
        publish, latched = node.create_lifecycle_publisher, qos.latched(lose_none)
        self._phase = publish(String, '~/phase', latched)
        self._subphase = publish(String, '~/subphase', latched)
        self._tune = publish(String, '~/tune', latched)
        self._beacon = publish(Bool, '~/beacon', latched)
        self._flags = publish(DiagnosticArray, '~/flags', latched)
        self._apogee = publish(PointStamped, '~/apogee', latched)
        self._prediction = publish(PointStamped, '~/predicted_apogee', qos.results(lose_none))
        self._events = publish(DiagnosticArray, '~/events', qos.LATCHED_HISTORY)
        self._requests = publish(DiagnosticArray, '~/requests', qos.LATCHED_HISTORY)
        self._commands = publish(Int32MultiArray, '~/commands', qos.COMMAND)
        self.fit = publish(JointState, '~/fit', qos.commands(lose_none))
        node.entities += [
            self._phase, self._subphase, self._tune, self._beacon, self._flags, self._apogee,
            self._prediction, self._events, self._requests, self._commands,
            self.fit,
        ]
        self._said: dict[str, str] = {}

    def reset(self) -> None:
        """Say everything anew."""
        self._said = {}

    def publish_request(self, name: str, stamp_ns: int) -> None:
        """Publish a request that was followed after the sample of a stamp."""
        self._requests.publish(self._array(stamp_ns, [DiagnosticStatus(level=OK, name=name)]))

    def announce(
        self,
        state: FlightState,
        report: FlightReport | None,
        stamp_ns: int,
        estimate: EstimatorState | None = None,
    ) -> None:
        """Publish phase, sub-phase, tune, beacon, flags and apogee where they changed."""
        values = _flags(state, report, estimate)
        if values == self._said:
            return
        said, self._said = self._said, values
        log = self._node.get_logger()
        if values['phase'] != said.get('phase'):
            log.info(f'phase {values["phase"]} at {stamp_ns * 1e-9:.2f} s')
            duties = DUTIES[state.phase]
            self._phase.publish(String(data=values['phase']))
            self._tune.publish(String(data=duties.tune))
            self._beacon.publish(Bool(data=Duty.SOUND_BEACON in duties.entry))
        if values['subphase'] != said.get('subphase'):
            self._subphase.publish(String(data=values['subphase']))
        if values['apogee'] and values['apogee'] != said.get('apogee') and state.apogee:
            self._publish_apogee(state.apogee, report)
        self._flags.publish(self._array(stamp_ns, [
            DiagnosticStatus(
                name='flight', level=OK, message=values['phase'],
                values=[KeyValue(key=key, value=value) for key, value in values.items()],
            )
        ]))

    def publish(self, state: FlightState, report: FlightReport, previous_ns: int) -> None:
        """Publish the fitted motion, the prediction and what fired."""
        self._publish_fit(state, report, previous_ns)
        for event in report.events:
            self._node.get_logger().info(f'event {event.name}: {event.why}')
            for action in event.actions:
                if action.kind == 'command':
                    self._commands.publish(Int32MultiArray(data=[
                        action.target, action.service, action.command, int(action.param),
                    ]))
        if report.events:
            self._events.publish(self._array(report.stamp_ns, [
                DiagnosticStatus(
                    name=event.name, level=OK, message=event.why,
                    values=[
                        KeyValue(key='id', value=str(event.id)),
                        KeyValue(key='count', value=str(event.count)),
                        *(KeyValue(key='action', value=str(action)) for action in event.actions),
                        *(KeyValue(key=name, value=value) for name, value in event.measured),
                    ],
                )
                for event in report.events
            ]))

    def _publish_apogee(self, apogee: Mark, report: FlightReport | None) -> None:
        estimate = report.estimate if report else None
        known = estimate if estimate and estimate.detected else None
        vertex_ns = known.apogee_ns if known and known.apogee_ns else apogee.stamp_ns
        altitude = known.apogee_altitude if known else NAN
        self._apogee.publish(self._point(vertex_ns, altitude))
        self._node.get_logger().info(
            f'apogee {altitude:.1f} m at {vertex_ns * 1e-9:.2f} s ({apogee.source})'
        )

    def _publish_fit(self, state: FlightState, report: FlightReport, previous_ns: int) -> None:
        estimate = report.estimate
        if estimate is None or not state.phase.is_armed:
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
        self.fit.publish(message)
        is_climbing = state.phase is Phase.FLIGHT and vertex_ns is not None
        if is_climbing and vertex_ns is not None and is_due(report.stamp_ns, previous_ns):
            self._prediction.publish(self._point(vertex_ns, estimate.apogee_altitude))

    @staticmethod
    def _array(stamp_ns: int, statuses: list[DiagnosticStatus]) -> DiagnosticArray:
        message = DiagnosticArray()
        message.header.stamp = ns_to_stamp(stamp_ns)
        message.status = statuses
        return message

    def _point(self, stamp_ns: int, altitude: float) -> PointStamped:
        message = PointStamped()
        message.header.stamp = ns_to_stamp(stamp_ns)
        message.header.frame_id = self._frame
        message.point.z = float(altitude)
        return message


def _flags(
    state: FlightState, report: FlightReport | None, estimator: EstimatorState | None
) -> dict[str, str]:
    """Return everything that ~/flags says."""
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
    flags = report.flags if report else frozenset()
    values['flags'] = ' '.join(sorted(flags | estimator.flags if estimator else flags))
    values['estimator'] = estimator.mode.value if estimator else ''
    values['not_ready'] = ' '.join(state.objections)
    return values
