# SPDX-License-Identifier: Apache-2.0
"""The underwater vehicle: depth, heading and speed by thrusters and fins, one of which fails."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from geometry_msgs.msg import WrenchStamped
from rcl_interfaces.srv import SetParameters
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState

from propulsion_ros.demos import ink
from propulsion_ros.demos.angles import roll_pitch_yaw, wrapped
from propulsion_ros.demos.demo import Row, number, settled
from propulsion_ros.demos.pilot import Pilot
from propulsion_ros.demos.plan import target_at
from propulsion_ros.demos.recording import Recording
from propulsion_ros.demos.rov_guidance import RovGains, RovGuidance, RovTarget
from propulsion_ros.demos.step_response import StepResponse, step_response
from propulsion_ros.drawing.style import Mark, draw_marks
from propulsion_ros.loops.decoders import msg_to_wrench
from propulsion_ros.messages import qos
from propulsion_ros.messages.fields import doubles, wrench_to_msg
from propulsion_ros.models.common.motion import Motion

_HORIZONTAL = ('front_left', 'front_right', 'rear_left', 'rear_right')
_VERTICAL = tuple(f'{name}_up' for name in _HORIZONTAL)
_FINS = ('fin_port', 'fin_starboard')
_PLAN = (
    RovTarget(0.0, 5.0),
    RovTarget(3.0, 7.0),
    RovTarget(10.0, 7.0, np.pi / 2),
    RovTarget(16.0, 7.0, np.pi / 2, 0.8),
    RovTarget(20.0, 6.0, np.pi / 2, 0.8),
)
_NAMES = ('hold', 'dive', 'turn', 'ahead', 'rise under way')
_PERIOD = 0.01
_REST = 15.0
"""The vehicle rests from here until it moves ahead [s]."""
_FAULT = 28.0
"""When a thruster fails [s]."""
_FAILS = _HORIZONTAL[0]
_END = 35.0
_RECOVERED = np.radians(2.0)
"""Heading error that counts as recovered [rad]."""
_TIME, _Z, _PITCH, _YAW, _AHEAD = range(5)


@dataclass(frozen=True)
class RovSummary:
    """The numbers of a dive.

    Attributes
    ----------
    dive, turn, rise : StepResponse
        Of height [m], of the heading [rad], and of height [m] while moving ahead.
    rest_force : float
        Mean vertical force of the thrusters at rest [N].
    rest_climb : float
        Gain of vertical speed during that rest [m/s].
    speed : float
        Speed ahead when the thruster fails [m/s].
    max_pitch, max_fin : float
        Largest of the dive [rad].
    fault_error : float
        Largest error of the heading after the failure [rad].
    recovery_time : float
        From the failure until the heading stays within 2 degrees [s]; NaN where it does not.
    """

    dive: StepResponse
    turn: StepResponse
    rise: StepResponse
    rest_force: float
    rest_climb: float
    speed: float
    max_pitch: float
    max_fin: float
    fault_error: float
    recovery_time: float


class RovPilot(Pilot):
    """Commands a wrench to thrusters_allocator and a deflection to the fins; fails a thruster."""

    def __init__(self) -> None:
        super().__init__()
        self._guidance = RovGuidance()
        self._has_failed = False
        self._command = self.create_publisher(
            WrenchStamped, 'thrusters_allocator/wrench_command', qos.COMMAND
        )
        self._fins = self.create_publisher(JointState, 'fins/command', qos.COMMAND)
        self._parameters: Any = self.create_client(SetParameters, 'thrusters/set_parameters')
        self.hear(WrenchStamped, 'thrusters/wrench', self._on_wrench)
        self.hear(JointState, 'thrusters/state', self._on_thrusters)
        self.hear(JointState, 'fins/state', self._on_fins)

    def steer(self, motion: Motion) -> None:
        """Send wrench and fin angle."""
        _, pitch, yaw = roll_pitch_yaw(motion.rotation)
        self.recording.add(
            'motion', self.now, float(motion.position[2]), pitch, yaw, float(motion.velocity[0])
        )
        self.recording.add('climb', self.now, float(motion.velocity_world[2]))
        command = self._guidance.command(target_at(_PLAN, self.now), motion, _PERIOD)
        fins = JointState(name=list(_FINS), position=doubles([command.fin] * len(_FINS)))
        self.send(self._fins, fins)
        self.send(self._command, wrench_to_msg(0, 'base_link', command.wrench))

    def prepare(self) -> None:
        """Make the thruster fail when it is time."""
        if self.now < _FAULT - 1e-9 or self._has_failed:
            return
        self._has_failed = True
        value = Parameter('switched_off', value=[_FAILS]).to_parameter_msg()
        self.ask(
            self._parameters, SetParameters.Request(parameters=[value]),
            lambda response: '' if response.results[0].successful else response.results[0].reason,
        )

    @property
    def is_done(self) -> bool:
        """Whether the plan has ended."""
        return self.now >= _END

    @property
    def status(self) -> str:
        """Depth, heading, speed, and the present part of the plan."""
        rows = self.recording.rows.get('motion')
        if not rows:
            return ''
        _, z, _, yaw, ahead = rows[-1]
        return (
            f'{-z:5.2f} m deep  {np.degrees(yaw):+6.1f} deg  {ahead:+5.2f} m/s  '
            f'{_NAMES[_PLAN.index(target_at(_PLAN, self.now))]:<14}'
        )

    def _on_wrench(self, stamp: float, message: WrenchStamped) -> None:
        self.recording.add('force', stamp, float(msg_to_wrench(message)[2]))

    def _on_thrusters(self, stamp: float, message: JointState) -> None:
        effort = dict(zip(message.name, message.effort, strict=True))
        self.recording.add('thrust', stamp, *(effort[name] for name in _HORIZONTAL))
        self.recording.add('vertical', stamp, *(effort[name] for name in _VERTICAL))

    def _on_fins(self, stamp: float, message: JointState) -> None:
        self.recording.add('fin', stamp, message.position[0])


class RovDemo:
    """A dive, a turn, a rise under way, and a thruster that fails."""

    title = 'ROV demo: thrusters, their allocator, fins and vehicle over ROS 2'
    layout: Sequence[Sequence[str]] = (
        ('depth', 'depth'), ('heading', 'speed'), ('thrust', 'vertical'), ('pitch', 'pitch'),
    )
    heights: Sequence[float] = (2.6, 2.2, 2.4, 2.1)

    def make_pilot(self) -> RovPilot:
        """Return the node that dives."""
        return RovPilot()

    def summarise(self, recording: Recording) -> RovSummary:
        """Return the numbers of a dive."""
        def step(
            begin: float, end: float, column: int, start: float, target: float
        ) -> StepResponse:
            rows = recording.between('motion', begin, end)
            return step_response(rows[:, (_TIME, column)], start, target)

        motion, fin = recording.series('motion'), recording.series('fin')
        force, climb = (recording.between(name, _REST, 16.0) for name in ('force', 'climb'))
        before, after = (
            recording.between('motion', *span) for span in ((20.0, _FAULT), (_FAULT, _END))
        )
        error = np.array([abs(wrapped(yaw - np.pi / 2)) for yaw in after[:, _YAW]])
        wrong = np.flatnonzero(error > _RECOVERED)
        first = int(wrong[-1]) + 1 if len(wrong) else 0
        return RovSummary(
            dive=step(3.0, 10.0, _Z, -5.0, -7.0),
            turn=step(10.0, 16.0, _YAW, 0.0, np.pi / 2),
            rise=step(20.0, _FAULT, _Z, -7.0, -6.0),
            rest_force=float(force[:, 1].mean()) if len(force) else np.nan,
            rest_climb=float(climb[-1, 1] - climb[0, 1]) if len(climb) else np.nan,
            speed=float(before[-1, _AHEAD]) if len(before) else np.nan,
            max_pitch=float(np.abs(motion[:, _PITCH]).max()),
            max_fin=float(np.abs(fin[:, 1]).max()),
            fault_error=float(error.max()) if len(error) else np.nan,
            recovery_time=float(after[first, _TIME] - _FAULT) if first < len(after) else np.nan,
        )

    def table(self, summary: RovSummary, recording: Recording) -> list[Row]:
        """Return these numbers for a reader."""
        s = summary
        return [
            settled('dive', s.dive, 'm'),
            settled('turn', s.turn, 'deg', 180.0 / np.pi),
            settled('rise', s.rise, 'm'),
            number('thrust at rest', s.rest_force, '.3f', 'N', 'balances its buoyancy'),
            number('speed ahead', s.speed, '.3f', 'm/s', 'of 0.8 m/s'),
            number('largest pitch', np.degrees(s.max_pitch), '.1f', 'deg',
                   f'fins up to {np.degrees(s.max_fin):.1f} deg'),
            number('thruster lost', _FAULT if np.isfinite(s.fault_error) else np.nan, '.2f', 's',
                   f'heading error up to {np.degrees(s.fault_error):.1f} deg'),
            number('heading back', s.recovery_time, '.2f', 's', 'within 2 deg again'),
        ]

    def draw(self, axes: Mapping[str, Any], recording: Recording, summary: RovSummary) -> None:
        """Draw depth, heading and speed with their targets, thrusts, pitch and fins."""
        motion, fin = recording.series('motion'), recording.series('fin')
        time, end = motion[:, _TIME], float(motion[-1, _TIME])
        targets = [target_at(_PLAN, at) for at in time]
        for name, label, unit, value, target, colour in (
            ('depth', 'depth', 'm', -motion[:, _Z], [at.depth for at in targets], ink.BLUE),
            ('heading', 'heading', 'deg', np.degrees(motion[:, _YAW]),
             np.degrees([at.heading for at in targets]), ink.GREEN),
            ('speed', 'speed ahead', 'm/s', motion[:, _AHEAD], [at.speed for at in targets],
             ink.ORANGE),
        ):
            axes[name].plot(time, value, color=colour, label=label)
            axes[name].plot(time, target, ':', color=ink.GREY, label='target')
            ink.over_time(axes[name], f'{label} [{unit}]', 0.0, end)
        for name, thrusters in (('thrust', _HORIZONTAL), ('vertical', _VERTICAL)):
            ink.draw_alike(axes[name], recording.series(name), thrusters)
        ink.over_time(axes['thrust'], 'horizontal thrusters [N]', 0.0, end)
        ink.over_time(axes['vertical'], 'vertical thrusters [N]', 0.0, end)
        pitch = axes['pitch']
        pitch.plot(time, np.degrees(motion[:, _PITCH]), color=ink.SLATE, label='pitch')
        pitch.plot(fin[:, 0], np.degrees(fin[:, 1]), color=ink.GOLD, label='fins')
        for i, sign in enumerate((1.0, -1.0)):
            pitch.axhline(
                np.degrees(sign * RovGains.max_fin), color=ink.GOLD, linestyle='--',
                linewidth=1.0, label=None if i else 'limit of the fins',
            )
        ink.over_time(pitch, 'angle [deg]', 0.0, end)
        for axis in axes.values():
            ink.legend_above(axis)
        axes['depth'].set_ylim(7.4, 4.4)
        axes['heading'].set_ylim(-15.0, 115.0)
        marks = [Mark(target.time, name) for target, name in zip(_PLAN, _NAMES, strict=True)]
        marks = [*marks[1:], Mark(_FAULT, f'{_FAILS.replace("_", " ")} thruster fails')]
        for name, axis in axes.items():
            draw_marks(axis, marks, has_names=name == 'depth')
