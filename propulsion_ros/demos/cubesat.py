# SPDX-License-Identifier: Apache-2.0
"""The cubesat: it stops its tumbling by pulses of cold gas, points, and turns to a new attitude."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.spatial.transform import Rotation

from propulsion_ros.demos.demo import Demo, Row, Summary, number, time_until
from propulsion_ros.demos.freeflyer import mass_numbers, momenta, motion_numbers
from propulsion_ros.demos.pilot import Command, Pilot, Recording, efforts, marks_of, target_at
from propulsion_ros.drawing.figure import PUBLISHED, Page, Panel, Trace
from propulsion_ros.loops.decoders import msg_to_wrench
from propulsion_ros.loops.payloads import Kind
from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY
from propulsion_ros.models.common.motion import Motion
from propulsion_ros.settings.quantity import FloatArray


@dataclass(frozen=True)
class CubesatTarget:
    """Target from a time on."""

    time: float
    """Time at which it begins [s]."""
    rpy: tuple[float, float, float] | None = None
    """Attitude to hold, roll, pitch and yaw in the world [rad]; None: only stop turning."""


INERTIA = np.array([0.166714, 0.166714, 0.102190])
"""Moments of inertia about the axes of the body [kg m^2], (3,)."""
PULSE_PERIOD = 0.1
"""Period of the pulses of the jets [s]."""
MAX_RATE = 0.1
"""Largest desired rate of turn [rad/s]."""
BANDWIDTH = 0.4
"""Desired rate of turn over the error of attitude [1/s]."""
_MAX_TORQUE = np.array([0.0113, 0.017, 0.0113])  # largest couple about each axis [N m]


def torque_of(target: CubesatTarget, motion: Motion) -> FloatArray:
    """Return the torque that gives the desired momentum in one period of the jets [N m], (3,).

    It is in the axes of the body. A torque that is too small for a pulse is not fired, so the
    momentum left about an axis is less than the smallest that its couple can give.
    """
    rate: FloatArray = np.zeros(3)
    if target.rpy is not None:
        rate = BANDWIDTH * attitude_error(target.rpy, motion.quaternion)
        rate = rate * min(1.0, MAX_RATE / max(float(np.linalg.norm(rate)), 1e-12))
    missing = INERTIA * (rate - motion.angular_velocity)
    return np.clip(missing / PULSE_PERIOD, -_MAX_TORQUE, _MAX_TORQUE)


def attitude_error(rpy: tuple[float, float, float], quaternion: FloatArray) -> FloatArray:
    """Return the turn from an attitude to a target in the axes of the body [rad], (..., 3)."""
    wanted = Rotation.from_euler('xyz', rpy)
    return np.asarray((Rotation.from_quat(quaternion).inv() * wanted).as_rotvec())


_COMMAND = 'jets_allocator/wrench_command'
_THRUST = 0.05  # of a jet [N]
_ON_TIME = 0.01  # of the shortest pulse [s]
_SPECIFIC_IMPULSE = 70.0  # [s]
_PERIOD = 0.01  # step of the vehicle and its actuators [s]
_ARMS = np.array([0.113, 0.17, 0.113])  # lever arm of the jets about each axis [m]
_BIT = 2.0 * _THRUST * _ON_TIME * _ARMS
"""Smallest angular momentum that the two jets about each axis can give [N m s], (3,)."""
_JETS = (
    'left_up', 'left_down', 'right_up', 'right_down', 'top_front', 'top_back', 'bottom_front',
    'bottom_back', 'front_left', 'front_right', 'back_left', 'back_right',
)
_PLAN = {
    'tumble': CubesatTarget(0.0),
    'detumble': CubesatTarget(2.0),
    'point': CubesatTarget(14.0, (0.0, 0.0, 0.0)),
    'turn': CubesatTarget(49.0, (0.0, 0.0, np.pi / 2)),
}
_BEGIN = [target.time for target in _PLAN.values()]
_END = 84.0  # of the flight [s]
_BRAKING = 62.0, 76.0  # span in which the turn comes to an end [s]
_SETTLED = 5.0  # time before the end of a target in which its attitude is judged [s]
_WITHIN = np.radians(1.0)  # error within which an attitude is reached [rad]


class CubesatPilot(Pilot):
    """Commands to jets_allocator the torque that removes the momentum."""

    commands: ClassVar = {_COMMAND: Kind.WRENCH}
    end = _END

    def __init__(self) -> None:
        super().__init__()
        self.record(Kind.INERTIA, 'vehicle/inertia', 'mass', mass_numbers)
        self.record(Kind.WRENCH, 'jets/wrench', 'true', lambda m: msg_to_wrench(m).tolist())
        self.record(Kind.JOINTS, 'jets/state', 'thrust', efforts(_JETS))

    def steer(self, time: float, motion: Motion) -> Mapping[str, Command]:
        """Return the torque."""
        self.recording.add('motion', time, *motion_numbers(motion))
        name, target = target_at(_PLAN, time)
        torque = np.zeros(3) if name == 'tumble' else torque_of(target, motion)
        self.recording.add('demand', time, *torque.tolist())
        return {_COMMAND: [0.0, 0.0, 0.0, *torque]}

    def status(self, time: float, motion: Motion) -> str:
        """Return the present target, and the rate of turn."""
        rate = np.degrees(motion.angular_velocity)
        name, _ = target_at(_PLAN, time)
        return f'turns by {rate[0]:+6.2f} {rate[1]:+6.2f} {rate[2]:+6.2f} deg/s  now: {name:<8}'


def _momentum(rows: FloatArray) -> FloatArray:
    """Return the angular momentum in the axes of the body at rows of the motion, (n, 3)."""
    return np.asarray(rows[:, -3:] * INERTIA)


def _error(rows: FloatArray, rpy: tuple[float, float, float]) -> FloatArray:
    """Return the error of attitude at rows of the motion [rad], (n, 3)."""
    return attitude_error(rpy, rows[:, 1:5]) if len(rows) else np.zeros((0, 3))


def _summarise(recording: Recording) -> Summary:
    ends = [*_BEGIN[1:], _END]
    spans = {
        name: recording.between('motion', begin, end)
        for name, begin, end in zip(_PLAN, _BEGIN, ends, strict=True)
    }
    detumble = spans['detumble']
    left = np.abs(_momentum(detumble))
    # The mass before the first step is not that of the tank yet.
    thrust, mass = recording.series('thrust')[:, 1:], recording.series('mass')[:, 1]
    full = float(mass[:2][-1])
    numbers: dict[str, object] = {
        'start_momentum': float(np.linalg.norm(_momentum(recording.series('motion')[:1]))),
        'detumble_time': time_until(detumble, np.all(left <= _BIT, axis=1)),
        'momentum_left': tuple(left[-1].tolist()) if len(left) else (np.nan,) * 3,
        'momentum_bit': tuple(_BIT.tolist()),
        'impulse': float(_PERIOD * thrust.sum()),
        'propellant': full - float(mass[-1]),
        'angular_momentum_error': momenta(recording)[1][1],
    }
    for name in ('point', 'turn'):
        rows, target = spans[name], _PLAN[name].rpy
        error = np.linalg.norm(_error(rows, target or (0.0, 0.0, 0.0)), axis=1)
        begin = ends[list(_PLAN).index(name)] - _SETTLED
        late = error[rows[:, 0] > begin] if len(rows) else error
        numbers[f'{name}_time'] = time_until(rows, error <= _WITHIN)
        numbers[f'{name}_error'] = float(late.max()) if len(late) else np.nan
    return numbers


def _table(s: Summary, recording: Recording) -> list[Row]:
    def reached(title: str, name: str) -> Row:
        return number(
            f'{title}, within 1 deg', s[f'{name}_time'], '.2f', 's',
            f'then at most {np.degrees(s[f"{name}_error"]):.3f} deg off',
        )

    left, bit = (1e6 * np.array(s[key]) for key in ('momentum_left', 'momentum_bit'))
    return [
        number('tumbling at the start', 1e3 * s['start_momentum'], '.2f', 'mN m s'),
        number('tumbling stopped', s['detumble_time'], '.2f', 's',
               'from then on less is left than one pulse changes'),
        *(
            number(f'left about {axis}', left[i], '.1f', 'uN m s',
                   f'one pulse changes {bit[i]:.1f} uN m s')
            for i, axis in enumerate('xyz')
        ),
        reached('pointing', 'point'),
        reached('turning', 'turn'),
        number('gas used', 1e3 * s['propellant'], '.3f', 'g',
               f'as {s["impulse"]:.3f} N s at a specific impulse of {_SPECIFIC_IMPULSE:g} s need: '
               f'{1e3 * s["impulse"] / (_SPECIFIC_IMPULSE * STANDARD_GRAVITY):.3f} g'),
        number('change of momentum', s['angular_momentum_error'], '.0e', 'off',
               'as a part of it, from the torque summed over time'),
    ]


def _page(summary: Summary, recording: Recording) -> Page:
    motion = recording.series('motion')
    rate = np.degrees(np.linalg.norm(motion[:, -3:], axis=1))
    pointed = motion[motion[:, 0] >= _BEGIN[2]]
    goals = [target_at(_PLAN, time)[1].rpy or (0.0, 0.0, 0.0) for time in pointed[:, 0]]
    off = np.array([
        np.degrees(np.linalg.norm(attitude_error(goal, row[1:5])))
        for goal, row in zip(goals, pointed, strict=True)
    ])
    mass = recording.series('mass')
    used = 1e3 * (mass[:2, 1][-1] - mass[1:, 1])
    return recording.page(
        'A cubesat turns by short pulses of cold gas', (
            Panel('How fast it turns', (
                Trace('about any axis', PUBLISHED, motion[:, 0], rate),
            ), scale='turning rate [deg/s]'),
            Panel('How far its attitude is off', (
                Trace('angle', PUBLISHED, pointed[:, 0], off),
            ), scale='off the target [deg]'),
            Panel('It stops the turn by fewer and fewer pulses', (
                recording.line('about z', 'true', 6, scale=1e3, span=_BRAKING),
            ), _BRAKING, 'torque [mN m]'),
            Panel('Gas used', (
                Trace('nitrogen', PUBLISHED, mass[1:, 0], used),
            ), scale='gas used [g]'),
        ), marks=marks_of(_PLAN),
    )


DEMO = Demo(CubesatPilot, _summarise, _table, _page)
"""A flight that stops the tumbling, points, and turns."""
