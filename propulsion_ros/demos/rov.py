# SPDX-License-Identifier: Apache-2.0
"""The underwater vehicle: depth, heading and speed by thrusters and fins, one of which fails."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from propulsion_ros.demos.demo import (
    Demo,
    Row,
    StepResponse,
    Summary,
    number,
    settled,
    step_response,
    time_until,
)
from propulsion_ros.demos.pilot import (
    Command,
    Pilot,
    Recording,
    efforts,
    marks_of,
    target_at,
    wrapped,
)
from propulsion_ros.drawing.figure import COMMAND, Mark, Page, Panel, Trace
from propulsion_ros.loops.payloads import Kind
from propulsion_ros.models.common.motion import Motion
from propulsion_ros.models.common.rotation import rpy_of
from propulsion_ros.settings.quantity import FloatArray


@dataclass(frozen=True)
class RovTarget:
    """Target to hold from a time on."""

    time: float
    """Time at which it begins [s]."""
    depth: float
    """Depth below the surface [m]."""
    heading: float = 0.0
    """Heading of the x axis, from east to north [rad]."""
    speed: float = 0.0
    """Speed ahead [m/s]."""


INERTIA = np.array([11.5, 11.5, 11.5, 0.2234, 0.2851, 0.4165])
"""Mass [kg] three times, then moments of inertia [kg m^2], (6,)."""
DEPTH_GAIN = 0.8
_TURN_GAIN = 1.5
"""Demanded velocity over the error of depth, and of attitude [1/s]."""
MAX_HEAVE, MAX_TURN = 0.4, 0.5
"""Largest demanded velocities [m/s], [rad/s]."""
_MAX_ACCELERATION = 0.3  # largest change of the demanded speed ahead [m/s^2]
_GAIN = np.array([4.0, 4.0, 4.0, 7.0, 7.0, 7.0])
"""Gains of the velocities [1/s], as in `INERTIA`; that of integrals is gain squared / 4."""
FIN_FORCE = 1028.0 * 0.0144 * 2.5
"""Lift of both fins over angle of attack and squared speed [N s^2/(m^2 rad)]."""
FIN_LEVER = 0.3
"""Distance from the centre of base_link back to the fins [m]."""
MAX_FIN = 0.3
"""Largest deflection of the fins [rad]."""
MIN_FIN_SPEED = 0.3
"""Speed ahead below which the fins rest [m/s]."""


class RovGuidance:
    """Holds depth, heading, speed and upright attitude, by two loops.

    Errors of pose give velocities, errors of velocity a wrench; integrals compensate unknown
    forces.
    """

    def __init__(self) -> None:
        self._integral: FloatArray = np.zeros(6)
        self._speed = 0.0

    def command(self, target: RovTarget, motion: Motion, dt: float) -> tuple[FloatArray, float]:
        """Return the commands of thrusters and fins, ``dt`` [s] after the previous ones.

        They are a wrench in the axes of and about the origin of base_link [N], [N m], (6,), and the
        deflection of both fins [rad], which lifts the nose in forward motion if positive.
        """
        change = _MAX_ACCELERATION * dt
        self._speed += float(np.clip(target.speed - self._speed, -change, change))
        moving = np.concatenate((motion.velocity, motion.angular_velocity))
        error = self.velocities(target, motion) - moving
        self._integral = self._integral + error * dt
        acceleration = _GAIN * error + 0.25 * _GAIN**2 * self._integral
        return _with_fins(INERTIA * acceleration, motion)

    def velocities(self, target: RovTarget, motion: Motion) -> FloatArray:
        """Return the desired velocity: linear [m/s], then angular [rad/s], body axes, (6,)."""
        roll, pitch, yaw = rpy_of(motion.rotation)
        heave = np.clip(DEPTH_GAIN * (-target.depth - motion.position[2]), -MAX_HEAVE, MAX_HEAVE)
        ahead = self._speed * np.array([np.cos(yaw), np.sin(yaw), 0.0])
        turn = -_TURN_GAIN * np.array([roll, pitch, wrapped(yaw - target.heading)])
        linear = motion.rotation.T @ (ahead + np.array([0.0, 0.0, heave]))
        return np.concatenate((linear, np.clip(turn, -MAX_TURN, MAX_TURN)))


def _with_fins(wrench: FloatArray, motion: Motion) -> tuple[FloatArray, float]:
    """Give the fins as much of the pitching moment as they can take at a speed ahead."""
    speed = float(motion.velocity[0])
    if speed < MIN_FIN_SPEED:
        return wrench, 0.0
    force = FIN_FORCE * speed**2
    # While they rise the water comes from above, as if the fins were deflected.
    rise = float(motion.velocity[2]) + FIN_LEVER * float(motion.angular_velocity[1])
    fin = -wrench[4] / (force * FIN_LEVER) - rise / speed
    fin = float(np.clip(fin, -MAX_FIN, MAX_FIN))
    lift = -force * (fin + rise / speed)
    wrench[2] -= lift
    wrench[4] -= FIN_LEVER * lift
    return wrench, fin


_HORIZONTAL = ('front_left', 'front_right', 'rear_left', 'rear_right')
_VERTICAL = tuple(f'{name}_up' for name in _HORIZONTAL)
_FINS = ('fin_port', 'fin_starboard')
_PLAN = {
    'hold': RovTarget(0.0, 5.0),
    'dive': RovTarget(3.0, 7.0),
    'turn': RovTarget(10.0, 7.0, np.pi / 2),
    'ahead': RovTarget(16.0, 7.0, np.pi / 2, 0.8),
    'rise': RovTarget(20.0, 6.0, np.pi / 2, 0.8),
}
_FAILURE = 'thrusters/set_parameters'
_PERIOD = 0.01  # step of the vehicle and its actuators [s]
_REST = 15.0  # time from which on the vehicle rests, until it moves ahead [s]
_FAULT = 28.0  # time at which a thruster fails [s]
_ABOUT_FAULT = _FAULT - 1.0, _FAULT + 2.0  # span that is drawn of that [s]
_FAILS = _HORIZONTAL[0]
_END = 35.0  # of the flight [s]
_RECOVERED = np.radians(2.0)  # heading error that counts as recovered [rad]
_TIME, _Z, _PITCH, _YAW, _AHEAD = range(5)


class RovPilot(Pilot):
    """Commands a wrench to thrusters_allocator and a deflection to the fins; fails a thruster."""

    commands: ClassVar = {
        'thrusters_allocator/wrench_command': Kind.WRENCH, 'fins/command': Kind.JOINTS,
    }
    services = (_FAILURE,)
    end = _END

    def __init__(self) -> None:
        super().__init__()
        self._guidance = RovGuidance()
        self._has_failed = False
        self.record(Kind.WRENCH, 'thrusters/wrench', 'force', lambda m: [m.wrench.force.z])
        self.record(Kind.JOINTS, 'fins/state', 'fin', lambda m: [m.position[0]])
        self.receive(Kind.JOINTS, 'thrusters/state', self._on_thrusters)

    def requests(self, time: float) -> Mapping[str, Mapping[str, Any]]:
        """Make the thruster fail when it is time."""
        if time < _FAULT - 1e-9 or self._has_failed:
            return {}
        self._has_failed = True
        return {_FAILURE: {'switched_off': [_FAILS]}}

    def steer(self, time: float, motion: Motion) -> Mapping[str, Command]:
        """Return wrench and fin angle."""
        _, pitch, yaw = rpy_of(motion.rotation)
        self.recording.add(
            'motion', time, float(motion.position[2]), pitch, yaw, float(motion.velocity[0])
        )
        self.recording.add('climb', time, float(motion.velocity_world[2]))
        _, target = target_at(_PLAN, time)
        self.recording.add('target', time, -target.depth, target.heading, target.speed)
        wrench, fin = self._guidance.command(target, motion, _PERIOD)
        return {
            'fins/command': dict.fromkeys((f'{name}.position' for name in _FINS), fin),
            'thrusters_allocator/wrench_command': wrench,
        }

    def status(self, time: float, motion: Motion) -> str:
        """Return depth, heading, speed, and the present part of the plan."""
        _, _, yaw = rpy_of(motion.rotation)
        return (
            f'{-motion.position[2]:5.2f} m deep  {np.degrees(yaw):+6.1f} deg  '
            f'{motion.velocity[0]:+5.2f} m/s  now: {target_at(_PLAN, time)[0]:<7}'
        )

    def _on_thrusters(self, stamp: float, message: Any) -> None:
        self.recording.add('thrust', stamp, *efforts(_HORIZONTAL)(message))
        self.recording.add('vertical', stamp, *efforts(_VERTICAL)(message))


def _summarise(recording: Recording) -> Summary:
    def step(
        begin: float, end: float, column: int, start: float, target: float
    ) -> StepResponse:
        rows = recording.between('motion', begin, end)
        return step_response(rows[:, (_TIME, column)], start, target)

    force = recording.between('force', _REST, 16.0)
    before, after = (
        recording.between('motion', *span) for span in ((20.0, _FAULT), (_FAULT, _END))
    )
    error = np.array([abs(wrapped(yaw - np.pi / 2)) for yaw in after[:, _YAW]])
    return {
        'dive': step(3.0, 10.0, _Z, -5.0, -7.0),
        'turn': step(10.0, 16.0, _YAW, 0.0, np.pi / 2),
        'rise': step(20.0, _FAULT, _Z, -7.0, -6.0),
        # Mean vertical force of the thrusters at rest, and the increase of vertical speed then.
        'rest_force': float(force[:, 1].mean()) if len(force) else np.nan,
        'rest_climb': recording.gain('climb', 1, _REST, 16.0),
        'speed': float(before[-1, _AHEAD]) if len(before) else np.nan,
        'max_pitch': float(np.abs(recording.series('motion')[:, _PITCH]).max()),
        'max_fin': float(np.abs(recording.series('fin')[:, 1]).max()),
        # Largest error of the heading, and the time until it stays within `_RECOVERED`.
        'fault_error': float(error.max()) if len(error) else np.nan,
        'recovery_time': time_until(after, error <= _RECOVERED),
    }


def _table(s: Summary, recording: Recording) -> list[Row]:
    return [
        settled('dive', s['dive'], 'm'),
        settled('turn', s['turn'], 'deg', 180.0 / np.pi),
        settled('rise', s['rise'], 'm'),
        number('thrust at rest', s['rest_force'], '.3f', 'N', 'downwards, against its buoyancy'),
        number('speed ahead', s['speed'], '.3f', 'm/s', 'of 0.8 m/s demanded'),
        number('largest pitch', np.degrees(s['max_pitch']), '.1f', 'deg',
               f'fins up to {np.degrees(s["max_fin"]):.1f} deg'),
        number('thruster fails', _FAULT if np.isfinite(s['fault_error']) else np.nan, '.2f', 's',
               f'then the heading is at most {np.degrees(s["fault_error"]):.1f} deg off'),
        number('heading back', s['recovery_time'], '.2f', 's', 'within 2 deg again'),
    ]


def _page(summary: Summary, recording: Recording) -> Page:
    line, degrees = recording.line, 180.0 / np.pi
    times = recording.series('motion')[[0, -1], _TIME]
    limits = (
        Trace("pilot's limit", COMMAND, times, np.full(2, limit))
        for limit in (degrees * MAX_FIN, -degrees * MAX_FIN)
    )
    return recording.page(
        'An underwater vehicle by eight thrusters and two fins', (
            Panel('Depth: it dives, and rises while it moves ahead', (
                line('height', 'motion', _Z), line('height', 'target', 1, COMMAND)
            ), scale='height [m]', dashed='target'),
            Panel('Heading: it turns, and stays when a thruster fails', (
                line('heading', 'motion', _YAW, scale=degrees),
                line('heading', 'target', 2, COMMAND, scale=degrees),
            ), scale='heading [deg]', dashed='target'),
            Panel('A thruster fails: the rear ones take over', tuple(
                line(label, 'thrust', 1 + _HORIZONTAL.index(name), span=_ABOUT_FAULT)
                for label, name in (
                    ('front left, fails', _FAILS), ('front right', 'front_right'),
                    ('rear, both', 'rear_left'),
                )
            ), _ABOUT_FAULT, 'thrust [N]'),
            Panel('Fins counter the pitch of the rise', (
                line('pitch', 'motion', _PITCH, scale=degrees),
                line('fins', 'fin', scale=degrees), *limits,
            ), scale='angle [deg]'),
        ), marks=[*marks_of(_PLAN), Mark(_FAULT, 'failure')],
    )


DEMO = Demo(RovPilot, _summarise, _table, _page, {('place', 'z'): 1, ('attitude', 'yaw'): 2})
"""A dive, a turn, a rise, and a thruster that fails."""
