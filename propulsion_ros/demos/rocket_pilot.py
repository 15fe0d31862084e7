# SPDX-License-Identifier: Apache-2.0
"""The rocket's pilot: two gimbals keep its attitude, flight_state finds its apogee."""
from __future__ import annotations

from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import InertiaStamped, PointStamped
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

from propulsion_ros.demos.pilot import Pilot, efforts, mass
from propulsion_ros.demos.rocket_guidance import RocketGuidance
from propulsion_ros.messages import qos
from propulsion_ros.messages.fields import doubles
from propulsion_ros.models.common.motion import Motion

_BOOSTERS = ['booster_1', 'booster_2']
_GIMBALS = [f'{booster}_gimbal_{axis}' for booster in _BOOSTERS for axis in 'xy']
_ARMING = 0.5
"""Time at which flight_state is armed [s]."""
_AFTER_LANDING = 2.0
"""How long the flight goes on after the landing [s]."""
AT_REST = 0.05
"""Vertical speed below which the rocket has landed [m/s]; on its parachutes it falls at 8 m/s."""


class RocketPilot(Pilot):
    """Arms flight_state, and flies the launch sequence."""

    def __init__(self) -> None:
        super().__init__()
        self._guidance = RocketGuidance()
        self._climb: tuple[float, float] = (0.0, 0.0)
        self._propellant = np.inf
        self._last_event = ''
        self._is_armed = False
        self._landed = np.inf
        self._command = self.create_publisher(JointState, 'boosters/command', qos.COMMAND)
        self._arm: Any = self.create_client(Trigger, 'flight_state/launch')
        self.record(InertiaStamped, 'vehicle/inertia', 'mass', mass)
        self.receive(JointState, 'boosters/state', self._on_state)
        self.receive(InertiaStamped, 'boosters/tanks/main_tank', self._on_tank)
        for kind, topic, callback, profile in (
            (JointState, 'flight_state/deployers', self._on_deployers, qos.LOCKSTEP),
            (JointState, 'flight_state/fit', self._on_fit, qos.LOCKSTEP),
            (PointStamped, 'flight_state/apogee', self._on_apogee, qos.LATCHED),
            (DiagnosticArray, 'flight_state/flags', self._on_flags, qos.LATCHED),
            (DiagnosticArray, 'flight_state/events', self._on_events, qos.LATCHED_HISTORY),
        ):
            self.receive(kind, topic, callback, profile, each_step=False)

    def steer(self, motion: Motion) -> None:
        """Send thrust and gimbal angles."""
        up, speed = float(motion.velocity_world[2]), float(np.linalg.norm(motion.velocity))
        self._climb = float(motion.position[2]), up
        self.recording.add('motion', self.now, *self._climb, speed)
        if self._main_fired and abs(up) < AT_REST:
            self._landed = min(self._landed, self.now)
        fuel = self._propellant, self._phase
        gimbals = self._guidance.gimbals(self.now, motion, *fuel)
        total = self._guidance.thrust(self.now, *fuel)
        # Of the nose, which stands upright on the ground.
        east, north, height = motion.rotation[:, 2].tolist()
        self.recording.add(
            'lean', self.now, np.arctan2(east, height), np.arctan2(north, height),
            self._guidance.lean(self.now) if total else np.nan,
        )
        self.recording.add('command', self.now, total, *gimbals.ravel().tolist())
        thrust = total / len(_BOOSTERS)
        command = JointState(name=[*_BOOSTERS, *_GIMBALS])
        command.position = doubles([np.nan] * len(_BOOSTERS) + gimbals.ravel().tolist())
        command.effort = doubles([thrust] * len(_BOOSTERS) + [np.nan] * len(_GIMBALS))
        self.send(self._command, command)

    @property
    def is_ready(self) -> bool:
        """Whether flight_state is armed, once it is time."""
        return self.now < _ARMING or self._is_armed

    @property
    def is_done(self) -> bool:
        """Whether the rocket has landed a while ago."""
        return self.now > self._landed + _AFTER_LANDING

    @property
    def status(self) -> str:
        """Height, vertical speed, phase and the last event."""
        altitude, up = self._climb
        return f'{altitude:7.1f} m  {up:+7.1f} m/s  {self._phase:<10} {self._last_event:<8}'

    @property
    def _main_fired(self) -> bool:
        return self._last_event.startswith('main')

    @property
    def _phase(self) -> str:
        """The phase that flight_state published last, '' before the first."""
        return self.recording.phases[-1][1] if self.recording.phases else ''

    def _on_deployers(self, stamp: float, message: JointState) -> None:
        # By this message flight_state has seen the very sample at which the flight is held.
        if stamp >= _ARMING and not self._is_armed:
            self._is_armed = True
            self.call(
                self._arm, Trigger.Request(),
                lambda response: '' if response.success else response.message,
            )

    def _on_state(self, stamp: float, message: JointState) -> None:
        position = dict(zip(message.name, message.position, strict=True))
        # Of each booster apart: their sum as a vector is less where they turn apart.
        self.recording.add('thrust', stamp, sum(efforts(_BOOSTERS)(message)))
        mean = np.reshape([position[joint] for joint in _GIMBALS], (-1, 2)).mean(axis=0)
        self.recording.add('gimbal', stamp, *mean.tolist())

    def _on_tank(self, stamp: float, message: InertiaStamped) -> None:
        self._propellant = message.inertia.m
        self.recording.add('propellant', stamp, self._propellant)

    def _on_fit(self, stamp: float, message: JointState) -> None:
        fit = dict(zip(message.name, message.position, strict=True))
        self.recording.add('fit', stamp, fit['altitude'], fit['velocity'], fit['acceleration'])
        self.recording.add('predicted', fit['apogee_time'], fit['apogee_altitude'], stamp)

    def _on_apogee(self, stamp: float, message: PointStamped) -> None:
        self.recording.add('apogee', stamp, message.point.z)

    def _on_flags(self, stamp: float, message: DiagnosticArray) -> None:
        phase = message.status[0].message
        phases = self.recording.phases
        if not phases or phases[-1][1] != phase:
            phases.append((stamp, phase))

    def _on_events(self, stamp: float, message: DiagnosticArray) -> None:
        for status in message.status:
            self.recording.marks.append((stamp, status.name))
            self._last_event = status.name
