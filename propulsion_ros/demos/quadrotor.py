# SPDX-License-Identifier: Apache-2.0
"""The quadrotor: it takes off, hovers, and follows steps of position, height and heading."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from propulsion_ros.demos.demo import (
    Demo,
    Row,
    StepResponse,
    Summary,
    number,
    settled,
    step_response,
)
from propulsion_ros.demos.pilot import (
    Command,
    Pilot,
    Recording,
    efforts,
    marks_of,
    mass,
    target_at,
)
from propulsion_ros.drawing.figure import COMMAND, PUBLISHED, Page, Panel, Trace
from propulsion_ros.loops.payloads import Kind
from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY
from propulsion_ros.models.common.motion import Motion
from propulsion_ros.models.common.rotation import rpy_of
from propulsion_ros.models.common.wrench import cross
from propulsion_ros.settings.quantity import FloatArray


@dataclass(frozen=True)
class QuadrotorTarget:
    """Target of a hover from a time on."""

    time: float
    """Time at which it begins [s]."""
    position: tuple[float, float, float]
    """Position in the world [m]."""
    heading: float = 0.0
    """Heading of the x axis, from east to north [rad]."""


@dataclass(frozen=True)
class QuadrotorGuidance:
    """Two proportional loops with damping and no integral, so that any model error shows."""

    mass: float = 1.5
    """Mass [kg]."""
    inertia: tuple[float, float, float] = (0.01502212, 0.01502212, 0.02809957)
    """Moments of inertia about the axes of the body [kg m^2]."""
    bandwidth: float = 2.5
    damping: float = 0.9
    """Bandwidth [rad/s] and damping [1] of the position loop."""
    max_acceleration: float = 4.0
    """Largest demanded acceleration along each axis of the world [m/s^2]."""
    turn_bandwidth: tuple[float, float, float] = (11.0, 11.0, 4.0)
    """Bandwidth of the attitude loop about each axis of the body [rad/s]."""
    turn_damping: float = 0.8
    """Damping of the attitude loop [1]."""
    max_turn: float = 0.35
    """Largest attitude error that is corrected at once, as the sine of an angle [1]."""

    def wrench(self, target: QuadrotorTarget, motion: Motion) -> FloatArray:
        """Return the wrench to command in the body's axes, force first, (6,)."""
        error = np.asarray(target.position) - motion.position
        acceleration = self.bandwidth**2 * error
        acceleration -= 2.0 * self.damping * self.bandwidth * motion.velocity_world
        limit = self.max_acceleration
        lift = np.clip(acceleration, -limit, limit) + np.array([0.0, 0.0, STANDARD_GRAVITY])
        # Rotors push along z only, so they give the component of the desired force there.
        thrust = self.mass * max(float(lift @ motion.rotation[:, 2]), 0.0)
        return np.array([0.0, 0.0, thrust, *self.torque(lift, target.heading, motion)])

    def torque(self, lift: FloatArray, heading: float, motion: Motion) -> FloatArray:
        """Return the torque [N m] that turns z along ``lift`` and x to a heading, (3,)."""
        z = lift / np.linalg.norm(lift)
        y = cross(z, np.array([np.cos(heading), np.sin(heading), 0.0]))
        y /= np.linalg.norm(y)
        wanted = np.column_stack((cross(y, z), y, z))
        turn = motion.rotation.T @ wanted
        skew = 0.5 * (turn - turn.T)
        error = np.array([skew[2, 1], skew[0, 2], skew[1, 0]])
        error = np.clip(error, -self.max_turn, self.max_turn)
        bandwidth = np.asarray(self.turn_bandwidth)
        spin = bandwidth**2 * error - 2.0 * self.turn_damping * bandwidth * motion.angular_velocity
        return np.asarray(np.asarray(self.inertia) * spin)


_LIMIT = 7.4  # largest thrust of a rotor [N]
_COMMAND = 'rotors_allocator/wrench_command'
_ROTORS = ('front_left', 'front_right', 'rear_left', 'rear_right')
_PLAN = {
    'on the ground': QuadrotorTarget(0.0, (0.0, 0.0, 0.0)),
    'take-off': QuadrotorTarget(0.5, (0.0, 0.0, 1.0)),
    'position': QuadrotorTarget(4.5, (2.0, -1.0, 1.0)),
    'height': QuadrotorTarget(7.5, (2.0, -1.0, 2.0)),
    'heading': QuadrotorTarget(10.5, (2.0, -1.0, 2.0), np.pi / 2),
}
_BEGIN = [target.time for target in _PLAN.values()]
_END = 14.5  # of the flight [s]
_HOVER = 3.5  # time from which on it hovers, until the step of position [s]
_TIME, _X, _Y, _Z, _ROLL, _PITCH, _YAW, _UP = range(8)


class QuadrotorPilot(Pilot):
    """Commands the wrench of a cascaded controller to rotors_allocator."""

    commands: ClassVar = {_COMMAND: Kind.WRENCH}
    end = _END

    def __init__(self) -> None:
        super().__init__()
        self._guidance = QuadrotorGuidance()
        self.record(Kind.INERTIA, 'vehicle/inertia', 'mass', mass)
        self.record(Kind.JOINTS, 'rotors/state', 'thrust', efforts(_ROTORS))

    def steer(self, time: float, motion: Motion) -> Mapping[str, Command]:
        """Return the wrench."""
        self.recording.add(
            'motion', time, *motion.position.tolist(), *rpy_of(motion.rotation),
            float(motion.velocity_world[2]),
        )
        name, target = target_at(_PLAN, time)
        self.recording.add('target', time, *target.position, target.heading)
        # On the ground the rotors idle.
        is_up = name != 'on the ground'
        return {_COMMAND: self._guidance.wrench(target, motion) if is_up else np.zeros(6)}

    def status(self, time: float, motion: Motion) -> str:
        """Return the position and the present target."""
        x, y, z = motion.position
        return f'x {x:+5.2f}  y {y:+5.2f}  z {z:+5.2f} m  now: {target_at(_PLAN, time)[0]:<8}'


def _summarise(recording: Recording) -> Summary:
    def step(index: int, column: int, start: float, target: float) -> StepResponse:
        rows = recording.between('motion', _BEGIN[index], [*_BEGIN, _END][index + 1])
        return step_response(rows[:, (_TIME, column)], start, target)

    motion, thrust = recording.series('motion'), recording.between('thrust', _HOVER, _BEGIN[2])
    moved = recording.between('motion', _BEGIN[2], _BEGIN[3])
    tilt = np.arccos(np.cos(motion[:, _ROLL]) * np.cos(motion[:, _PITCH]))
    return {
        'take_off': step(1, _Z, 0.0, 1.0),
        'position': step(2, _X, 0.0, 2.0),
        'height': step(3, _Z, 1.0, 2.0),
        'heading': step(4, _YAW, 0.0, np.pi / 2),
        # Mean sum of the four thrusts, and the increase of vertical speed in that time.
        'hover_thrust': float(thrust[:, 1:].sum(axis=1).mean()) if len(thrust) else np.nan,
        'weight': float(recording.series('mass')[-1, 1] * STANDARD_GRAVITY),
        'hover_climb': recording.gain('motion', _UP, _HOVER, _BEGIN[2]),
        # Height lost in the step of position.
        'sag': float(1.0 - moved[:, _Z].min()) if len(moved) else np.nan,
        'max_tilt': float(tilt.max()),
        'max_thrust': float(recording.series('thrust')[:, 1:].max()),
    }


def _table(s: Summary, recording: Recording) -> list[Row]:
    return [
        settled('take-off', s['take_off'], 'm'),
        settled('position', s['position'], 'm'),
        settled('height', s['height'], 'm'),
        settled('heading', s['heading'], 'deg', 180.0 / np.pi),
        number('thrust at hover', s['hover_thrust'], '.4f', 'N', f'weight {s["weight"]:.4f} N'),
        number('largest tilt', np.degrees(s['max_tilt']), '.1f', 'deg'),
        number('height lost by tilting', 1000.0 * s['sag'], '.0f', 'mm'),
        number('largest thrust', s['max_thrust'], '.2f', 'N',
               f'of {_LIMIT:g} N that a rotor can give'),
    ]


def _page(summary: Summary, recording: Recording) -> Page:
    line, degrees = recording.line, 180.0 / np.pi
    thrust = recording.series('thrust')
    quarter = np.full(2, summary['weight'] / 4.0)
    return recording.page(
        'A quadrotor takes off, and follows steps of its target', (
            *(
                # Height has a panel of its own, as two targets of 2 m would coincide.
                Panel(name, tuple(
                    line(label, series, i, role) for i, label in labels.items()
                    for series, role in (('motion', PUBLISHED), ('target', COMMAND))
                ), scale=scale, dashed='target')
                for name, labels, scale in (
                    ('Position', {_X: 'x', _Y: 'y'}, 'position [m]'),
                    ('Height', {_Z: 'height'}, 'height [m]'),
                )
            ),
            Panel('It tilts to move, and turns to a new heading', (
                line('roll', 'motion', _ROLL, scale=degrees),
                line('pitch', 'motion', _PITCH, scale=degrees),
                line('heading', 'motion', _YAW, scale=degrees),
                line('heading', 'target', 4, COMMAND, scale=degrees),
            ), scale='angle [deg]', dashed='target'),
            Panel('The four rotors: which pushes most, and which least', (
                Trace('most', PUBLISHED, thrust[:, 0], thrust[:, 1:].max(axis=1)),
                Trace('least', PUBLISHED, thrust[:, 0], thrust[:, 1:].min(axis=1)),
                Trace('weight / 4', COMMAND, thrust[[0, -1], 0], quarter),
            ), scale='thrust [N]'),
        ), marks=marks_of(_PLAN),
    )


DEMO = Demo(QuadrotorPilot, _summarise, _table, _page, {
    ('place', 'x'): 1, ('place', 'y'): 2, ('place', 'z'): 3, ('attitude', 'yaw'): 4,
})
"""A flight with take-off, hover, and three steps."""
