# SPDX-License-Identifier: Apache-2.0
"""The quadrotor: it takes off, hovers, and follows steps of position, height and heading."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from geometry_msgs.msg import InertiaStamped, WrenchStamped
from sensor_msgs.msg import JointState

from propulsion_ros.demos import ink
from propulsion_ros.demos.angles import roll_pitch_yaw
from propulsion_ros.demos.demo import Row, number, settled
from propulsion_ros.demos.pilot import Pilot
from propulsion_ros.demos.plan import target_at
from propulsion_ros.demos.quadrotor_guidance import QuadrotorGuidance, QuadrotorTarget
from propulsion_ros.demos.recording import Recording
from propulsion_ros.demos.step_response import StepResponse, step_response
from propulsion_ros.drawing.style import Mark, draw_marks
from propulsion_ros.messages import qos
from propulsion_ros.messages.fields import wrench_to_msg
from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY
from propulsion_ros.models.common.motion import Motion

_LIMIT = 7.4
"""Largest thrust of a rotor [N]."""
_ROTORS = ('front_left', 'front_right', 'rear_left', 'rear_right')
_PLAN = (
    QuadrotorTarget(0.0, (0.0, 0.0, 0.0)),
    QuadrotorTarget(0.5, (0.0, 0.0, 1.0)),
    QuadrotorTarget(4.5, (2.0, -1.0, 1.0)),
    QuadrotorTarget(7.5, (2.0, -1.0, 2.0)),
    QuadrotorTarget(10.5, (2.0, -1.0, 2.0), np.pi / 2),
)
_NAMES = ('on the ground', 'take-off', 'position', 'height', 'heading')
_END = 14.5
_HOVER = 3.5
"""From here until the step of position it hovers [s]."""
_TIME, _X, _Y, _Z, _ROLL, _PITCH, _YAW, _UP = range(8)


@dataclass(frozen=True)
class QuadrotorSummary:
    """The numbers of a flight.

    Attributes
    ----------
    take_off, position, height, heading : StepResponse
        Of height [m], of the place along x [m], of height [m] and of the heading [rad].
    hover_thrust, weight : float
        Mean of the four rotors together while it hovers, and what they carry [N].
    hover_climb : float
        What the vertical speed gains while it hovers [m/s].
    sag : float
        Height lost in the step of position [m].
    max_tilt : float
        Largest angle between its z axis and the vertical [rad].
    max_thrust : float
        Largest of one rotor [N].
    """

    take_off: StepResponse
    position: StepResponse
    height: StepResponse
    heading: StepResponse
    hover_thrust: float
    weight: float
    hover_climb: float
    sag: float
    max_tilt: float
    max_thrust: float


class QuadrotorPilot(Pilot):
    """Asks rotors_allocator for the wrench of a cascaded controller."""

    def __init__(self) -> None:
        super().__init__()
        self._guidance = QuadrotorGuidance()
        self._command = self.create_publisher(
            WrenchStamped, 'rotors_allocator/wrench_command', qos.COMMAND
        )
        self.hear(InertiaStamped, 'vehicle/inertia', self._on_inertia)
        self.hear(JointState, 'rotors/state', self._on_state)

    def steer(self, motion: Motion) -> None:
        """Send the wrench."""
        self.recording.add(
            'motion', self.now, *motion.position.tolist(), *roll_pitch_yaw(motion.rotation),
            float(motion.velocity_world[2]),
        )
        target = target_at(_PLAN, self.now)
        # On the ground the rotors idle.
        is_up = target is not _PLAN[0]
        wrench = self._guidance.wrench(target, motion) if is_up else np.zeros(6)
        self.send(self._command, wrench_to_msg(0, 'base_link', wrench))

    @property
    def is_done(self) -> bool:
        """Whether the plan has ended."""
        return self.now >= _END

    @property
    def status(self) -> str:
        """Place and what is being done."""
        rows = self.recording.rows.get('motion')
        if not rows:
            return ''
        _, x, y, z, *_ = rows[-1]
        doing = _NAMES[_PLAN.index(target_at(_PLAN, self.now))]
        return f'x {x:+5.2f}  y {y:+5.2f}  z {z:+5.2f} m  {doing:<13}'

    def _on_inertia(self, stamp: float, message: InertiaStamped) -> None:
        self.recording.add('mass', stamp, message.inertia.m)

    def _on_state(self, stamp: float, message: JointState) -> None:
        effort = dict(zip(message.name, message.effort, strict=True))
        self.recording.add('thrust', stamp, *(effort[rotor] for rotor in _ROTORS))


class QuadrotorDemo:
    """Take-off, hover, and three steps."""

    title = 'Quadrotor demo: rotors, their allocator and vehicle over ROS 2'
    layout: Sequence[Sequence[str]] = (('position',) * 2, ('attitude', 'thrust'))
    heights: Sequence[float] = (4.3, 3.7)

    def make_pilot(self) -> QuadrotorPilot:
        """Return the node that flies."""
        return QuadrotorPilot()

    def summarise(self, recording: Recording) -> QuadrotorSummary:
        """Return the numbers of a flight."""
        ends = [*(target.time for target in _PLAN[1:]), _END]

        def step(index: int, column: int, start: float, target: float) -> StepResponse:
            rows = recording.between('motion', _PLAN[index].time, ends[index])
            return step_response(rows[:, (_TIME, column)], start, target)

        motion = recording.series('motion')
        hover, thrust = (recording.between(name, _HOVER, ends[1]) for name in ('motion', 'thrust'))
        moved = recording.between('motion', ends[1], ends[2])
        tilt = np.arccos(np.cos(motion[:, _ROLL]) * np.cos(motion[:, _PITCH]))
        return QuadrotorSummary(
            take_off=step(1, _Z, 0.0, 1.0),
            position=step(2, _X, 0.0, 2.0),
            height=step(3, _Z, 1.0, 2.0),
            heading=step(4, _YAW, 0.0, np.pi / 2),
            hover_thrust=float(thrust[:, 1:].sum(axis=1).mean()) if len(thrust) else np.nan,
            weight=float(recording.series('mass')[-1, 1] * STANDARD_GRAVITY),
            hover_climb=float(hover[-1, _UP] - hover[0, _UP]) if len(hover) else np.nan,
            sag=float(1.0 - moved[:, _Z].min()) if len(moved) else np.nan,
            max_tilt=float(tilt.max()),
            max_thrust=float(recording.series('thrust')[:, 1:].max()),
        )

    def table(self, summary: QuadrotorSummary, recording: Recording) -> list[Row]:
        """Return these numbers for a reader."""
        s = summary
        return [
            settled('take-off', s.take_off, 'm'),
            settled('position', s.position, 'm'),
            settled('height', s.height, 'm'),
            settled('heading', s.heading, 'deg', 180.0 / np.pi),
            number('thrust at hover', s.hover_thrust, '.4f', 'N', f'weight {s.weight:.4f} N'),
            number('largest tilt', np.degrees(s.max_tilt), '.1f', 'deg'),
            number('height lost by tilting', 1000.0 * s.sag, '.0f', 'mm'),
            number('largest thrust', s.max_thrust, '.2f', 'N',
                   f'of {_LIMIT:g} N that a rotor can give'),
        ]

    def draw(
        self, axes: Mapping[str, Any], recording: Recording, summary: QuadrotorSummary
    ) -> None:
        """Draw place and attitude with their targets, and the thrust of each rotor."""
        motion, thrust = recording.series('motion'), recording.series('thrust')
        time, end = motion[:, _TIME], float(motion[-1, _TIME])
        targets = [target_at(_PLAN, at) for at in time]
        places = np.array([target.position for target in targets])
        degrees = np.degrees(motion)
        for axis, colour in zip(range(3), (ink.SLATE, ink.GOLD, ink.GREEN), strict=True):
            name = 'xyz'[axis]
            axes['position'].plot(time, motion[:, _X + axis], color=colour, label=name)
            axes['position'].plot(
                time, places[:, axis], ':', color=colour, linewidth=1.2, label=f'{name}, target'
            )
        headings = np.degrees([target.heading for target in targets])
        for column, name, colour in (
            (_ROLL, 'roll', ink.GOLD), (_PITCH, 'pitch', ink.SLATE), (_YAW, 'heading', ink.GREEN)
        ):
            axes['attitude'].plot(time, degrees[:, column], color=colour, label=name)
        axes['attitude'].plot(
            time, headings, ':', color=ink.GREEN, linewidth=1.2, label='heading, target'
        )
        ink.draw_alike(axes['thrust'], thrust, _ROTORS)
        axes['thrust'].axhline(
            summary.weight / 4.0, color=ink.GREY, linestyle=':', label='weight / 4'
        )
        for name, label in (
            ('position', 'position [m]'), ('attitude', 'angle [deg]'), ('thrust', 'thrust [N]')
        ):
            ink.over_time(axes[name], label, 0.0, end)
            ink.legend_above(axes[name])
        axes['position'].set_ylim(-1.3, 2.7)
        marks = [Mark(target.time, name) for target, name in zip(_PLAN, _NAMES, strict=True)]
        draw_marks(axes['position'], marks[1:])
