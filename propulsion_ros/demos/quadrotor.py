# SPDX-License-Identifier: Apache-2.0
"""The quadrotor: it takes off, hovers, and follows steps of position, height and heading."""
from __future__ import annotations

import numpy as np
from geometry_msgs.msg import InertiaStamped, WrenchStamped
from sensor_msgs.msg import JointState

from propulsion_ros.demos.demo import (
    Demo,
    Row,
    StepResponse,
    Summary,
    number,
    page_of,
    settled,
    step_response,
)
from propulsion_ros.demos.pilot import (
    Pilot,
    Recording,
    efforts,
    marks_of,
    mass,
    roll_pitch_yaw,
    target_at,
)
from propulsion_ros.demos.quadrotor_guidance import QuadrotorGuidance, QuadrotorTarget
from propulsion_ros.drawing.figure import COMMAND, PUBLISHED, Page, Panel, Trace
from propulsion_ros.messages import qos
from propulsion_ros.messages.fields import wrench_to_msg
from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY
from propulsion_ros.models.common.motion import Motion

_LIMIT = 7.4
"""Largest thrust of a rotor [N]."""
_ROTORS = ('front_left', 'front_right', 'rear_left', 'rear_right')
_PLAN = {
    'on the ground': QuadrotorTarget(0.0, (0.0, 0.0, 0.0)),
    'take-off': QuadrotorTarget(0.5, (0.0, 0.0, 1.0)),
    'position': QuadrotorTarget(4.5, (2.0, -1.0, 1.0)),
    'height': QuadrotorTarget(7.5, (2.0, -1.0, 2.0)),
    'heading': QuadrotorTarget(10.5, (2.0, -1.0, 2.0), np.pi / 2),
}
_BEGIN = [target.time for target in _PLAN.values()]
_END = 14.5
_HOVER = 3.5
"""From here until the step of position it hovers [s]."""
_TIME, _X, _Y, _Z, _ROLL, _PITCH, _YAW, _UP = range(8)


class QuadrotorPilot(Pilot):
    """Sends rotors_allocator the wrench of a cascaded controller."""

    end = _END

    def __init__(self) -> None:
        super().__init__()
        self._guidance = QuadrotorGuidance()
        self._command = self.create_publisher(
            WrenchStamped, 'rotors_allocator/wrench_command', qos.COMMAND
        )
        self.record(InertiaStamped, 'vehicle/inertia', 'mass', mass)
        self.record(JointState, 'rotors/state', 'thrust', efforts(_ROTORS))

    def steer(self, motion: Motion) -> None:
        """Send the wrench."""
        self.recording.add(
            'motion', self.now, *motion.position.tolist(), *roll_pitch_yaw(motion.rotation),
            float(motion.velocity_world[2]),
        )
        name, target = target_at(_PLAN, self.now)
        self.recording.add('target', self.now, *target.position, target.heading)
        # On the ground the rotors idle.
        is_up = name != 'on the ground'
        wrench = self._guidance.wrench(target, motion) if is_up else np.zeros(6)
        self.send(self._command, wrench_to_msg(0, 'base_link', wrench))

    @property
    def status(self) -> str:
        """Place and what is being done."""
        rows = self.recording.rows.get('motion')
        if not rows:
            return ''
        _, x, y, z, *_ = rows[-1]
        name, _ = target_at(_PLAN, self.now)
        return f'x {x:+5.2f}  y {y:+5.2f}  z {z:+5.2f} m  {name:<13}'


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
        # Mean of the four rotors together, and what the vertical speed gains meanwhile.
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
    return page_of(
        'A quadrotor takes off, and follows steps of its target', recording, (
            *(
                # Two targets of 2 m would lie one on the other.
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


QUADROTOR = Demo(
    make_pilot=QuadrotorPilot, summarise=_summarise, table=_table, page=_page,
    wait_for=('rotors_allocator/wrench_command',),
)
"""Take-off, hover, and three steps."""
