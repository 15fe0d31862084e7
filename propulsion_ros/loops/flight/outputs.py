# SPDX-License-Identifier: Apache-2.0
"""What a flight computer publishes of its flight: phase, moments, events, the fitted motion."""
from __future__ import annotations

import functools
import math

from propulsion_ros.flight.estimation.state import EstimatorState
from propulsion_ros.flight.events.variables import NAN
from propulsion_ros.flight.flight_report import FlightReport
from propulsion_ros.flight.flight_state import FlightState
from propulsion_ros.flight.phases.phases import DUTIES, Duty, Phase
from propulsion_ros.flight.phases.progress import Mark, Vertex
from propulsion_ros.flight.pyros.deployers import PERIOD_NS
from propulsion_ros.loops.payloads import JointRow, Kind, StatusRow
from propulsion_ros.loops.ports import Host, Outlet

_FIT = ('altitude', 'velocity', 'acceleration', 'apogee_time', 'apogee_altitude', 'apogee_sigma')


def is_due(stamp_ns: int, previous_ns: int) -> bool:
    """Return whether a multiple of 0.1 s lies in (previous, stamp]; the first sample counts."""
    return stamp_ns // PERIOD_NS != previous_ns // PERIOD_NS or stamp_ns == 0


class FlightOutputs:
    """Publishes the flight, at changes and at samples.

    Parameters
    ----------
    lossless : bool
        Whether a slow subscriber must receive all of it.

    Attributes
    ----------
    flags : dict of str
        What was published last on ~/flags, empty before.
    """

    def __init__(self, host: Host, world_frame: str, lossless: bool) -> None:
        self._host = host
        outlet = functools.partial(Outlet, overridable=False)
        latched = functools.partial(outlet, qos='latched', lossless=lossless)
        self._phase = latched('~/phase', Kind.STRING)
        self._subphase = latched('~/subphase', Kind.STRING)
        self._tune = latched('~/tune', Kind.STRING)
        self._beacon = latched('~/beacon', Kind.BOOL)
        self._flags = latched('~/flags', Kind.STATUSES)
        self._apogee = latched('~/apogee', Kind.POINT, frame=world_frame)
        self._prediction = outlet(
            '~/predicted_apogee', Kind.POINT, 'result', world_frame, lossless=lossless
        )
        self._events = outlet('~/events', Kind.STATUSES, 'latched_history')
        self._requests = outlet('~/requests', Kind.STATUSES, 'latched_history')
        self._commands = outlet('~/commands', Kind.INTEGERS, 'command')
        self._fit = outlet('~/fit', Kind.JOINTS, 'command', names=_FIT, lossless=lossless)
        self.outlets = (
            self._phase, self._subphase, self._tune, self._beacon, self._flags, self._apogee,
            self._prediction, self._events, self._requests, self._commands, self._fit,
        )
        self.reset()

    def reset(self) -> None:
        """Publish everything anew."""
        self.flags: dict[str, str] = {}

    def publish_request(self, name: str, stamp_ns: int) -> None:
        """Publish a request that was followed after the sample of a stamp."""
        self._host.publish(self._requests, stamp_ns, [StatusRow(name)])

    def announce(
        self,
        state: FlightState,
        report: FlightReport | None,
        stamp_ns: int,
        estimate: EstimatorState | None = None,
    ) -> None:
        """Publish phase, sub-phase, tune, beacon, flags and apogee where they changed."""
        values = _flags(state, report, estimate)
        if values == self.flags:
            return
        before, self.flags = self.flags, values
        if values['phase'] != before.get('phase'):
            self._publish_phase(state.phase, stamp_ns)
        if values['subphase'] != before.get('subphase'):
            self._host.publish(self._subphase, stamp_ns, values['subphase'])
        if values['apogee'] and values['apogee'] != before.get('apogee') and state.apogee:
            self._publish_apogee(state.apogee, report, state.vertex)
        status = StatusRow('flight', values['phase'], tuple(values.items()))
        self._host.publish(self._flags, stamp_ns, [status])

    def publish_events(self, report: FlightReport) -> None:
        """Publish what fired."""
        for event in report.events:
            at = f'{report.stamp_ns * 1e-9:.2f} s'
            self._host.log('info', f'event {event.name} at {at}: {event.why}')
            for action in event.actions:
                if action.kind == 'command':
                    self._host.publish(self._commands, report.stamp_ns, [
                        action.target, action.service, action.command, int(action.param),
                    ])
        if report.events:
            self._host.publish(self._events, report.stamp_ns, [
                StatusRow(event.name, event.why, (
                    ('id', str(event.id)), ('count', str(event.count)),
                    *(('action', str(action)) for action in event.actions), *event.measured,
                )) for event in report.events
            ])

    def _publish_phase(self, phase: Phase, stamp_ns: int) -> None:
        host, duties = self._host, DUTIES[phase]
        host.log('info', f'phase {phase.value} at {stamp_ns * 1e-9:.2f} s')
        host.publish(self._phase, stamp_ns, phase.value)
        host.publish(self._tune, stamp_ns, duties.tune)
        host.publish(self._beacon, stamp_ns, Duty.SOUND_BEACON in duties.entry)

    def _publish_apogee(
        self, apogee: Mark, report: FlightReport | None, vertex: Vertex | None
    ) -> None:
        estimate = report.estimate if report else None
        known = estimate if estimate and estimate.detected else None
        vertex_ns, altitude = apogee.stamp_ns, NAN
        if vertex:
            # Also that of before a restart: a detector that begins on the way down knows none.
            vertex_ns, altitude = vertex.stamp_ns, vertex.altitude
        elif known:
            vertex_ns, altitude = known.apogee_ns or vertex_ns, known.apogee_altitude
        self._host.publish(self._apogee, vertex_ns, (0.0, 0.0, altitude))
        height = f' {altitude:.1f} m' if math.isfinite(altitude) else ', its altitude unknown,'
        self._host.log('info', f'apogee{height} at {vertex_ns * 1e-9:.2f} s ({apogee.source})')

    def publish_fit(self, state: FlightState, report: FlightReport, previous_ns: int) -> None:
        """Publish the fitted motion and the prediction."""
        estimate = report.estimate
        if estimate is None or not state.phase.is_armed:
            return
        vertex_ns = estimate.apogee_ns
        self._host.publish(self._fit, report.stamp_ns, JointRow(position=[
            estimate.altitude, estimate.velocity, estimate.acceleration,
            math.nan if vertex_ns is None else vertex_ns * 1e-9,
            estimate.apogee_altitude, estimate.sigma,
        ]))
        is_climbing = state.phase is Phase.FLIGHT
        if is_climbing and vertex_ns is not None and is_due(report.stamp_ns, previous_ns):
            vertex = (0.0, 0.0, estimate.apogee_altitude)
            self._host.publish(self._prediction, vertex_ns, vertex)


def _flags(
    state: FlightState, report: FlightReport | None, estimator: EstimatorState | None
) -> dict[str, str]:
    """Return everything that ~/flags has."""
    values = {'phase': state.phase.value, 'subphase': state.subphase.value}
    marks = {'ignition': state.ignition, 'liftoff': state.liftoff, 'apogee': state.apogee}
    for name, mark in marks.items():
        values[name] = f'{mark.stamp_ns * 1e-9:.9f}' if mark else ''
        values[f'{name}_source'] = mark.source if mark else ''
    estimate, flags = (report.estimate, report.flags) if report else (None, frozenset[str]())
    is_decided = estimate is not None and estimate.detected
    sigma = estimate.sigma if estimate and is_decided else math.nan
    values['health'] = estimate.health if estimate else ''
    values['reason'] = estimate.reason if estimate and is_decided else ''
    values['sigma'] = f'{sigma:.6g}' if math.isfinite(sigma) else ''
    values['flags'] = ' '.join(sorted(flags | estimator.flags if estimator else flags))
    values['estimator'] = estimator.mode.value if estimator else ''
    values['not_ready'] = ' '.join(state.objections)
    return values
