# SPDX-License-Identifier: Apache-2.0
"""What the body and the actuators of any robot did, and one page that shows it."""
from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from propulsion_ros.demos.pilot import Command, Pilot, Recording, roll_pitch_yaw
from propulsion_ros.drawing.figure import COMMAND, PUBLISHED, Page, Panel, Trace
from propulsion_ros.loops.payloads import Kind
from propulsion_ros.models.common.motion import Motion
from propulsion_ros.pictures.panels import are_valves

_MOTION = {
    'position [m]': 'xyz', 'velocity in the world [m/s]': 'xyz',
    'attitude [deg]': ('roll', 'pitch', 'yaw'), 'rate of turn [deg/s]': 'xyz',
}
"""Names of the columns of the motion, by the panel that shows them."""
_FIELDS = {'effort': 'thrust [N]', 'position': 'angle [rad]'}
"""Fields of an actuator's state that are shown."""
_UNITS = {'pressure': ' [Pa]', 'temperature': ' [K]'}
"""Of what a tank has beside its propellant."""
_STILL = 1e-6
"""Below it nothing turns [deg, deg/s]."""
_LINES = 12
"""A panel with more lines shows nothing."""


class FlightLog(Pilot):
    """Records the motion of a simulated body and the states of its actuators; commands nothing.

    Parameters
    ----------
    state_topics : sequence of str
        States of the groups of actuators.
    """

    def __init__(self, state_topics: Sequence[str]) -> None:
        super().__init__()
        for topic in state_topics:
            group = topic.rpartition('/')[0]
            for each, role, quality in (
                (topic, '', 'LOCKSTEP'), (f'{group}/command', COMMAND, 'LOCKSTEP_COMMAND'),
            ):
                take = functools.partial(self._on_state, group, role)
                self.receive(Kind.JOINTS, each, take, quality, each_step=False)

    def steer(self, time: float, motion: Motion) -> Mapping[str, Command]:
        """Record the motion."""
        self.recording.add(
            'motion', time, *motion.position.tolist(), *motion.velocity_world.tolist(),
            *np.degrees(roll_pitch_yaw(motion.rotation)).tolist(),
            *np.degrees(motion.angular_velocity).tolist(),
        )
        return {}

    def _on_state(self, group: str, role: str, time: float, message: Any) -> None:
        for field in _FIELDS:
            for name, value in zip(message.name, getattr(message, field), strict=False):
                if math.isfinite(value):
                    self.recording.add(f'{role}{_series(group, field, name)}', time, value)


def _series(group: str, field: str, name: str) -> str:
    tank, _, quantity = name.partition('/')
    return f'{quantity}:{tank}' if quantity else f'{group} {_FIELDS[field]}:{name}'


def motion_page(title: str, recording: Recording) -> Page:
    """Return the page of a recording that has rows of motion."""
    panels = [
        Panel(heading, tuple(
            recording.line(name, 'motion', column) for column, name in enumerate(names, first)
        )) for first, (heading, names) in zip(range(1, 13, 3), _MOTION.items(), strict=True)
    ]
    # What stays level shows nothing.
    turning = [
        panel for panel in panels[2:]
        if any(np.any(abs(each.y) > _STILL) for each in panel.traces)
    ]
    return recording.page(title, [*panels[:2], *turning, *_panels_of_actuators(recording)])


def _panels_of_actuators(recording: Recording) -> list[Panel]:
    shown: dict[str, tuple[list[Trace], list[Trace]]] = {}
    for series in recording.rows:
        role = COMMAND if series.startswith(COMMAND) else PUBLISHED
        head, is_actuator, name = series.removeprefix(COMMAND).partition(':')
        if is_actuator and head not in ('ignition', 'throttle'):
            line = recording.line(name.replace('_', ' '), series, role=role)
            title = head.replace('_', ' ') + _UNITS.get(head, '')
            shown.setdefault(title, ([], []))[role == COMMAND].append(line)
    return [
        # Where there is no room for both, the commands are left out.
        Panel(
            title.replace(_FIELDS['position'], 'valve open')
            if are_valves(line.y.tolist() for line in lines) else title,
            tuple(lines if len(lines) + len(commands) > _LINES else lines + commands),
        )
        for title, (lines, commands) in shown.items() if 0 < len(lines) <= _LINES
    ]
