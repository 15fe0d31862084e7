# SPDX-License-Identifier: Apache-2.0
"""The rocket: two gimbals keep its attitude, flight_state finds its apogee, and it lands."""
from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from propulsion_ros.demos.demo import Demo, Row, Summary, moment, number
from propulsion_ros.demos.pilot import Command, Pilot, Recording, efforts, mass
from propulsion_ros.drawing.figure import COMMAND, Mark, Page, Panel, Span
from propulsion_ros.loops.payloads import Kind
from propulsion_ros.models.common.motion import Motion
from propulsion_ros.models.common.wrench import cross
from propulsion_ros.pictures.panels import apogee_panels, flight_panel
from propulsion_ros.pictures.signals import DETECTED, Fit
from propulsion_ros.settings.quantity import FloatArray


@dataclass(frozen=True)
class RocketGuidance:
    """Holds a rocket's nose on a pitch programme, and stops its roll.

    Two equal boosters stand beside each other on the y axis. Turned together they pitch and yaw;
    turned apart about y they roll.
    """

    ignition_time: float = 2.0
    """Time of ignition [s]."""
    full_thrust: float = 2600.0
    cruise_thrust: float = 1700.0
    """Thrust of both boosters together, before and after ``throttle_time`` [N]."""
    throttle_time: float = 3.5
    """Time at which the thrust is reduced [s]."""
    tilt: float = 0.1
    """Lean of the nose towards east, reached ``tilt_time`` [s] after ignition [rad]."""
    tilt_time: float = 0.6
    """Time from ignition until that lean is reached [s]."""
    inertia: float = 40.0
    roll_inertia: float = 0.21
    """Moments of inertia about a transverse axis and about the long one [kg m^2]."""
    lever: float = 1.27
    """Distance from the gimbals to the centre of mass [m]."""
    offset: float = 0.045
    """Distance from the long axis to each booster [m]."""
    bandwidth: float = 5.0
    damping: float = 0.8
    """Bandwidth [rad/s] and damping [1] of the closed loop."""
    roll_limit: float = 0.03
    """Largest gimbal angle that is used for roll [rad]."""

    def thrust(self, time: float, propellant: float, phase: str) -> float:
        """Return the thrust to command of both boosters together [N].

        It is 0 without ``propellant`` [kg], or in recovery.
        """
        if time < self.ignition_time or propellant <= 0.0 or phase == 'recovery':
            return 0.0
        return self.full_thrust if time < self.throttle_time else self.cruise_thrust

    def lean(self, time: float) -> float:
        """Return the desired lean of the nose towards east at a time [rad]."""
        return self.tilt * float(np.clip((time - self.ignition_time) / self.tilt_time, 0.0, 1.0))

    def gimbals(self, time: float, motion: Motion, thrust: float) -> FloatArray:
        """Return the angles of both axes of both gimbals [rad], a row for each, (2, 2).

        They are 0 if no thrust [N] is commanded, since they would have no effect.
        """
        if not thrust:
            return np.zeros((2, 2))
        lean = self.lean(time)
        nose_world = np.array([np.sin(lean), 0.0, np.cos(lean)])
        nose = motion.rotation.T @ nose_world
        error = cross(np.array([0.0, 0.0, 1.0]), nose)
        spin = self.bandwidth**2 * error
        spin -= 2.0 * self.damping * self.bandwidth * motion.angular_velocity
        # A small angle a about x pushes the tail along -y: torque -lever * thrust * a about x.
        together = -self.inertia * spin[:2] / (self.lever * thrust)
        # An angle a about y pushes along x: the booster at +y then turns the body about -z.
        roll = -self.roll_inertia * spin[2] / (self.offset * thrust)
        apart = np.array([0.0, np.clip(roll, -self.roll_limit, self.roll_limit)])
        return np.stack((together + apart, together - apart))


_COMMAND, _LAUNCH = 'boosters/command', 'flight_state/launch'
_BOOSTERS = ['booster_1', 'booster_2']
_GIMBALS = [f'{booster}_gimbal_{axis}' for booster in _BOOSTERS for axis in 'xy']
_ARMING = 0.5  # time at which flight_state is armed [s]
_AFTER_LANDING = 2.0  # duration of the flight after the landing [s]
AT_REST = 0.05
"""Vertical speed below which the rocket has landed [m/s]; on its parachutes it falls at 8 m/s."""


class RocketPilot(Pilot):
    """Arms flight_state, and flies the launch sequence."""

    commands: ClassVar = {_COMMAND: Kind.JOINTS}
    services = (_LAUNCH,)
    # This topic shows that flight_state has taken the sample of the step that waits.
    arrives_first = 'flight_state/deployers'

    def __init__(self, guidance: RocketGuidance | None = None) -> None:
        super().__init__()
        self._guidance = guidance or RocketGuidance()
        self._propellant = np.inf
        self._last_event = ''
        self._is_armed = False
        self._landed = np.inf
        self.record(Kind.INERTIA, 'vehicle/inertia', 'mass', mass)
        self.receive(Kind.JOINTS, 'boosters/state', self._on_state)
        self.receive(Kind.INERTIA, 'boosters/tanks/main_tank', self._on_tank)
        for kind, topic, take, quality in (
            (Kind.JOINTS, self.arrives_first, lambda stamp, message: None, 'LOCKSTEP'),
            (Kind.JOINTS, 'flight_state/fit', self._on_fit, 'LOCKSTEP'),
            (Kind.POINT, 'flight_state/apogee', self._on_apogee, 'LATCHED'),
            (Kind.STATUSES, 'flight_state/flags', self._on_flags, 'LATCHED'),
            (Kind.STATUSES, 'flight_state/events', self._on_events, 'LATCHED_HISTORY'),
        ):
            self.receive(kind, topic, take, quality, each_step=False)

    def requests(self, time: float) -> Mapping[str, Mapping[str, Any]]:
        """Arm flight_state when it is time."""
        if self._is_armed or time < _ARMING:
            return {}
        self._is_armed = True
        return {_LAUNCH: {}}

    def steer(self, time: float, motion: Motion) -> Mapping[str, Command] | None:
        """Return thrust and gimbal angles; None a while after the landing."""
        if time > self._landed + _AFTER_LANDING:
            return None
        up = float(motion.velocity_world[2])
        self.recording.add(
            'motion', time, float(motion.position[2]), up, float(np.linalg.norm(motion.velocity))
        )
        if self._last_event.startswith('main') and abs(up) < AT_REST:
            self._landed = min(self._landed, time)
        total = self._guidance.thrust(time, self._propellant, self._phase)
        gimbals = self._guidance.gimbals(time, motion, total).ravel().tolist()
        # Direction of the nose, which points up on the ground.
        east, north, height = motion.rotation[:, 2].tolist()
        self.recording.add(
            'lean', time, np.arctan2(east, height), np.arctan2(north, height),
            self._guidance.lean(time) if total else np.nan,
        )
        self.recording.add('command', time, total, *gimbals)
        return {_COMMAND: {
            **{f'{name}.effort': total / len(_BOOSTERS) for name in _BOOSTERS},
            **{
                f'{name}.position': angle
                for name, angle in zip(_GIMBALS, gimbals, strict=True)
            },
        }}

    def status(self, time: float, motion: Motion) -> str:
        """Return height, vertical speed, phase and the last event."""
        return (
            f'{motion.position[2]:7.1f} m  {motion.velocity_world[2]:+7.1f} m/s  '
            f'{self._phase:<10} {self._last_event:<8}'
        )

    @property
    def _phase(self) -> str:
        """The phase that flight_state published last, '' before the first."""
        return self.recording.phases[-1][1] if self.recording.phases else ''

    def _on_state(self, stamp: float, message: Any) -> None:
        position = dict(zip(message.name, message.position, strict=True))
        # The sum of magnitudes: that of vectors is less if the gimbals turn apart.
        self.recording.add('thrust', stamp, sum(efforts(_BOOSTERS)(message)))
        mean = np.reshape([position[joint] for joint in _GIMBALS], (-1, 2)).mean(axis=0)
        self.recording.add('gimbal', stamp, *mean.tolist())

    def _on_tank(self, stamp: float, message: Any) -> None:
        self._propellant = message.inertia.m
        self.recording.add('propellant', stamp, self._propellant)

    def _on_fit(self, stamp: float, message: Any) -> None:
        fit = dict(zip(message.name, message.position, strict=True))
        self.recording.add('fit', stamp, fit['altitude'], fit['velocity'], fit['acceleration'])
        self.recording.add('predicted', fit['apogee_time'], fit['apogee_altitude'], stamp)

    def _on_apogee(self, stamp: float, message: Any) -> None:
        self.recording.add('apogee', stamp, message.point.z)

    def _on_flags(self, stamp: float, message: Any) -> None:
        phase = message.status[0].message
        phases = self.recording.phases
        if not phases or phases[-1][1] != phase:
            phases.append((stamp, phase))

    def _on_events(self, stamp: float, message: Any) -> None:
        for status in message.status:
            self.recording.marks.append((stamp, status.name))
            self._last_event = status.name


_EXHAUST_VELOCITY = 1300.0 / 0.6025  # max_thrust over max_fuel_rate of the boosters [m/s]
_LEAD = 5.0  # time before apogee at which the prediction of the summary was made [s]
_SETTLED = 2.0  # time after the decision on apogee from which on it falls [s]


def _summarise(recording: Recording) -> Summary:
    motion, thrust, propellant, mass = map(
        recording.series, ('motion', 'thrust', 'propellant', 'mass')
    )
    dt = float(np.ptp(thrust[:2, 0]))
    flying = motion[motion[:, 1] > motion[0, 1] + 1e-3]
    burning = thrust[thrust[:, 1] > 0.0]
    has_burnt_out = len(burning) and thrust[-1, 1] == 0.0
    fastest = motion[np.argmax(motion[:, 3])]
    true_apogee, true_altitude = _vertex(motion)
    nothing = (math.nan,) * 3
    # The vertex that flight_state publishes, and its last prediction `_LEAD` before that.
    apogee, altitude, *_ = recording.rows.get('apogee', [nothing])[-1]
    decided = [stamp for stamp, phase in recording.phases if phase == 'recovery']
    predicted, predicted_altitude, predicted_at = [nothing, *(
        row for row in recording.rows.get('predicted', [])
        if row[2] <= true_apogee - _LEAD and np.isfinite(row[0])
    )][-1]
    landing, landing_speed = _landing(motion, decided)
    start, left = float(propellant[0, 1]), float(propellant[-1, 1])
    return {
        'liftoff': float(flying[0, 0]) if len(flying) else math.nan,
        'burnout': float(burning[-1, 0] + dt) if has_burnt_out else math.nan,
        'max_speed': float(fastest[3]),
        'max_speed_time': float(fastest[0]),
        'true_apogee': true_apogee,
        'true_altitude': true_altitude,
        'apogee': apogee,
        'altitude': altitude,
        'detected': decided[0] if decided else math.nan,
        'predicted': predicted,
        'predicted_altitude': predicted_altitude,
        'predicted_at': predicted_at,
        'landing': landing,
        'landing_speed': landing_speed,
        'propellant_start': start,
        'propellant_left': left,
        'mass_lost': float(np.max(mass[:, 1]) - mass[-1, 1]),
        'impulse': float(np.sum(thrust[:, 1]) * dt),
        'impulse_of_propellant': (start - left) * _EXHAUST_VELOCITY,
    }


def _vertex(motion: FloatArray) -> tuple[float, float]:
    """Return time [s] and altitude [m] of the end of the climb; NaN if it never ends."""
    top = int(np.argmax(motion[:, 1]))
    for i in (top - 1, top):
        if 0 <= i < len(motion) - 1:
            (t0, h0, v0), (t1, _, v1) = motion[i, :3], motion[i + 1, :3]
            if v0 >= 0.0 > v1:
                share = v0 / (v0 - v1)
                step = float(t1 - t0)
                return float(t0 + share * step), float(h0 + 0.5 * v0 * share * step)
    return math.nan, math.nan


def _landing(motion: FloatArray, decided: Sequence[float]) -> tuple[float, float]:
    """Return the time of the landing [s], and the speed just before it [m/s]."""
    falling = motion[motion[:, 0] > (decided[0] + _SETTLED if decided else math.inf)]
    at_rest = np.flatnonzero(np.abs(falling[:, 2]) < AT_REST)
    if not at_rest.size:
        return math.nan, math.nan
    return float(falling[at_rest[0], 0]), float(falling[max(at_rest[0] - 1, 0), 3])


def _table(s: Summary, recording: Recording) -> list[Row]:
    burnt = s['impulse_of_propellant']
    error = ''
    if burnt:
        off = abs(s['impulse'] / burnt - 1.0)
        error = f'differs from that of the propellant burnt by {off:.1e} of it'
    return [
        moment('liftoff', s['liftoff']),
        moment('burnout', s['burnout']),
        moment('maximum speed', s['max_speed_time'], f'{s["max_speed"]:.1f} m/s'),
        moment('apogee, predicted', s['predicted'],
               f'{s["predicted_altitude"]:.1f} m (predicted at {s["predicted_at"]:.2f} s)'),
        moment('apogee, true', s['true_apogee'], f'{s["true_altitude"]:.1f} m'),
        moment('apogee, found', s['apogee'],
               f'{s["altitude"]:.1f} m (decided at {s["detected"]:.2f} s)'),
        number('apogee error', s['apogee'] - s['true_apogee'], '+.2f', 's',
               f'{s["altitude"] - s["true_altitude"]:+.1f} m, found minus true'),
        *(moment(f'{name} fired', stamp) for stamp, name in recording.marks),
        moment('landing', s['landing'], f'{s["landing_speed"]:.1f} m/s'),
        ('propellant left', f'{s["propellant_left"]:.3f} kg', f'of {s["propellant_start"]:.3f} kg'),
        ('total impulse', f'{s["impulse"]:.1f} N s', error),
    ]


def _page(summary: Summary, recording: Recording) -> Page:
    degrees, end = 180.0 / np.pi, float(recording.series('motion')[-1, 0])
    # The powered part of the flight.
    burnout = summary['burnout'] if np.isfinite(summary['burnout']) else end
    span = float(np.nan_to_num(summary['liftoff'])) - 1.0, burnout + 1.0
    line = functools.partial(recording.line, span=span)
    stamps = [*(max(stamp, 0.0) for stamp, _ in recording.phases), end]
    return recording.page(
        'A rocket flies, finds its apogee, and lands on two parachutes', (
            Panel('Thrust lags behind its command', (
                line('thrust', 'thrust', scale=1e-3),
                line('thrust', 'command', 1, COMMAND, scale=1e-3),
            ), span, 'thrust [kN]'),
            Panel('Gimbals lean it to the east', (
                line('lean', 'lean', 1, scale=degrees),
                line('lean', 'lean', 3, COMMAND, scale=degrees),
            ), span, 'lean [deg]', 'target'),
            Panel('Propellant', (line('propellant', 'propellant'),), span, 'mass [kg]'),
        ), above=_flight(summary, recording),
        phases=[
            Span(stamps[i], stamps[i + 1], phase) for i, (_, phase) in enumerate(recording.phases)
            if stamps[i + 1] > stamps[i]
        ],
        marks=[
            Mark(summary['liftoff'], 'liftoff'), Mark(summary['burnout'], 'burnout'),
            Mark(summary['true_apogee'], 'apogee'), Mark(summary['landing'], 'landing'),
            *(Mark(*mark) for mark in recording.marks),
        ],
    )


def _flight(summary: Summary, recording: Recording) -> tuple[Panel, ...]:
    """Return the panels of the altitude, and of the apogee."""
    found = summary['apogee'], summary['altitude']
    panel = flight_panel(
        [recording.line('altitude', 'motion')],
        [Mark(summary['detected'], DETECTED)] if math.isfinite(summary['detected']) else [],
        [found] if math.isfinite(found[0]) else [],
    )
    fits = [Fit(*row) for row in recording.rows.get('fit', [])]
    return panel, *apogee_panels(panel, fits)


DEMO = Demo(RocketPilot, _summarise, _table, _page)
"""A flight to its landing."""
