# SPDX-License-Identifier: Apache-2.0
"""The cubesat: it loses its tumbling by pulses of cold gas, points, and turns to a new attitude."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from geometry_msgs.msg import InertiaStamped, WrenchStamped
from scipy.spatial.transform import Rotation
from sensor_msgs.msg import JointState

from propulsion_ros.demos.demo import Demo, Row, Summary, number, page_of
from propulsion_ros.demos.freeflyer import momenta
from propulsion_ros.demos.pilot import Pilot, Recording, efforts, marks_of, target_at
from propulsion_ros.drawing.figure import PUBLISHED, Page, Panel, Trace
from propulsion_ros.loops.decoders import msg_to_inertia, msg_to_wrench
from propulsion_ros.messages import qos
from propulsion_ros.messages.fields import wrench_to_msg
from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY
from propulsion_ros.models.common.motion import Motion
from propulsion_ros.settings.quantity import BoolArray, FloatArray


@dataclass(frozen=True)
class CubesatTarget:
    """What to do from a time on."""

    time: float
    """[s]."""
    rpy: tuple[float, float, float] | None = None
    """Attitude to hold, roll, pitch and yaw in the world [rad]; None: only stop turning."""


@dataclass(frozen=True)
class CubesatGuidance:
    """Demands the torque that gives the wanted momentum in one period of the jets.

    What is too small for a pulse is not fired, so the momentum that is left about an axis is less
    than the impulse bit of its couple: see `momentum_bit`.
    """

    inertia: tuple[float, float, float] = (0.166714, 0.166714, 0.102190)
    """About the axes of the body [kg m^2]."""
    period: float = 0.1
    """Period of the pulses of the jets [s]."""
    max_torque: tuple[float, float, float] = (0.0113, 0.017, 0.0113)
    """Largest couple that is demanded about each axis [N m]."""
    bandwidth: float = 0.4
    """Rate of turn over the error of attitude [1/s]."""
    max_rate: float = 0.1
    """Largest rate of turn that is wanted [rad/s]."""

    def torque(self, target: CubesatTarget, motion: Motion) -> FloatArray:
        """Return the torque to command in the axes of the body [N m], (3,)."""
        wanted = self._rate(target, motion)
        missing = np.asarray(self.inertia) * (wanted - motion.angular_velocity)
        limit = np.asarray(self.max_torque)
        return np.clip(missing / self.period, -limit, limit)

    def _rate(self, target: CubesatTarget, motion: Motion) -> FloatArray:
        """Return the rate of turn that is wanted [rad/s], (3,)."""
        if target.rpy is None:
            return np.zeros(3)
        rate = self.bandwidth * attitude_error(target.rpy, motion.quaternion)
        return np.asarray(rate * min(1.0, self.max_rate / max(float(np.linalg.norm(rate)), 1e-12)))


def attitude_error(rpy: tuple[float, float, float], quaternion: FloatArray) -> FloatArray:
    """Return the turn from an attitude to a target in the axes of the body [rad], (..., 3)."""
    wanted = Rotation.from_euler('xyz', rpy)
    return np.asarray((Rotation.from_quat(quaternion).inv() * wanted).as_rotvec())


def momentum_bit(max_thrust: float, min_on_time: float, arms: FloatArray) -> FloatArray:
    """Return the smallest angular momentum that couples of two jets can give [N m s], (3,).

    ``arms`` are the distances of the jets of each couple from its axis [m], (3,). With equal delays
    of opening and closing a valve is open for as long as its order.
    """
    return np.asarray(2.0 * max_thrust * min_on_time * np.asarray(arms))


_THRUST, _ON_TIME, _SPECIFIC_IMPULSE = 0.05, 0.01, 70.0
_PERIOD = 0.01
"""Step of the vehicle and its actuators [s]."""
_ARMS = np.array([0.113, 0.17, 0.113])
_BIT = momentum_bit(_THRUST, _ON_TIME, _ARMS)
"""Of the couple about each axis [N m s]."""
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
_END = 84.0
_BRAKING = 62.0, 76.0
"""The turn comes to an end [s]."""
_SETTLED = 5.0
"""For so long before a target ends its attitude is judged [s]."""
_WITHIN = np.radians(1.0)
"""An attitude is reached within this [rad]."""


class CubesatPilot(Pilot):
    """Sends jets_allocator the torque that takes the momentum away."""

    end = _END

    def __init__(self) -> None:
        super().__init__()
        self._guidance = CubesatGuidance()
        self._command = self.create_publisher(
            WrenchStamped, 'jets_allocator/wrench_command', qos.COMMAND
        )
        self.receive(InertiaStamped, 'vehicle/inertia', self._on_inertia)
        self.record(WrenchStamped, 'jets/wrench', 'true', lambda m: msg_to_wrench(m).tolist())
        self.record(JointState, 'jets/state', 'thrust', efforts(_JETS))

    def steer(self, motion: Motion) -> None:
        """Send the torque."""
        self.recording.add(
            'motion', self.now, *motion.quaternion.tolist(), *motion.velocity.tolist(),
            *motion.angular_velocity.tolist(),
        )
        name, target = target_at(_PLAN, self.now)
        is_asleep = name == 'tumble'
        torque = np.zeros(3) if is_asleep else self._guidance.torque(target, motion)
        self.recording.add('demand', self.now, *torque.tolist())
        self.send(self._command, wrench_to_msg(0, 'base_link', np.array([0.0] * 3 + [*torque])))

    @property
    def status(self) -> str:
        """What is being done, and how fast it turns."""
        rows = self.recording.rows.get('motion')
        if not rows:
            return ''
        rate = np.degrees(rows[-1][-3:])
        name, _ = target_at(_PLAN, self.now)
        return f'turns by {rate[0]:+6.2f} {rate[1]:+6.2f} {rate[2]:+6.2f} deg/s  {name:<8}'

    def _on_inertia(self, stamp: float, message: InertiaStamped) -> None:
        mass, com, inertia = msg_to_inertia(message)
        self.recording.add('mass', stamp, mass, *com.tolist(), *inertia.ravel().tolist())


def _momentum(rows: FloatArray) -> FloatArray:
    """Return the angular momentum in the axes of the body at rows of the motion, (n, 3)."""
    return np.asarray(rows[:, -3:] * np.array(CubesatGuidance().inertia))


def _error(rows: FloatArray, rpy: tuple[float, float, float]) -> FloatArray:
    """Return the error of attitude at rows of the motion [rad], (n, 3)."""
    return attitude_error(rpy, rows[:, 1:5]) if len(rows) else np.zeros((0, 3))


def _since(rows: FloatArray, is_in: BoolArray) -> float:
    """Return after which time of its rows something holds for good [s], NaN where it does not."""
    out = np.flatnonzero(~is_in)
    if not len(rows) or (len(out) and out[-1] == len(rows) - 1):
        return np.nan
    return float(rows[out[-1] + 1 if len(out) else 0, 0] - rows[0, 0])


def _summarise(recording: Recording) -> Summary:
    ends = [*_BEGIN[1:], _END]
    spans = {
        name: recording.between('motion', begin, end)
        for name, begin, end in zip(_PLAN, _BEGIN, ends, strict=True)
    }
    detumble = spans['detumble']
    left = np.abs(_momentum(detumble))
    # Before the first step the tank has not been weighed.
    thrust, mass = recording.series('thrust')[:, 1:], recording.series('mass')[:, 1]
    full = float(mass[:2][-1])
    numbers: dict[str, object] = {
        'start_momentum': float(np.linalg.norm(_momentum(recording.series('motion')[:1]))),
        'detumble_time': _since(detumble, np.all(left <= _BIT, axis=1)),
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
        numbers[f'{name}_time'] = _since(rows, error <= _WITHIN)
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
    return page_of(
        'A cubesat turns by short pulses of cold gas', recording, (
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


CUBESAT = Demo(
    make_pilot=CubesatPilot, summarise=_summarise, table=_table, page=_page,
    wait_for=('jets_allocator/wrench_command',),
)
"""It loses its tumbling, points, and turns."""
