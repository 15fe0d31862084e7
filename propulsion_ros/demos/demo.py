# SPDX-License-Identifier: Apache-2.0
"""What a vehicle's demo is made of; what any robot did, and one page that shows it."""
from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from propulsion_ros.demos.pilot import Command, Pilot, Recording, roll_pitch_yaw
from propulsion_ros.drawing.figure import COMMAND, PUBLISHED, Page, Panel, Trace
from propulsion_ros.loops.payloads import Kind
from propulsion_ros.models.common.motion import Motion
from propulsion_ros.pictures.panels import are_valves
from propulsion_ros.settings.quantity import BoolArray, FloatArray

Row = tuple[str, str, str]
"""Name, value with its unit, and a note."""
Summary = Mapping[str, Any]
"""The numbers of a flight by name, in SI units; NaN for what was not reached."""
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
"""Less than it is 0, in the unit of a panel."""
_LINES = 12
"""A panel with more lines shows nothing."""


@dataclass(frozen=True)
class Demo:
    """A vehicle with its pilot, and what is shown of its flight.

    The vehicle's graph is that of `wiring.vehicle_graph`, with config/<vehicle>_demo.yaml beside
    the vehicle's own settings.
    """

    make_pilot: Callable[[], Pilot]
    """Makes what flies it once."""
    summarise: Callable[[Recording], Summary]
    """``summarise(recording)`` returns the numbers of a flight."""
    table: Callable[[Summary, Recording], list[Row]]
    """``table(summary, recording)`` returns these numbers as rows of text."""
    page: Callable[[Summary, Recording], Page]
    """``page(summary, recording)`` returns what the picture shows of them."""


def demo_of(vehicle: str) -> Demo:
    """Return the demo of one of `vehicles.VEHICLES`."""
    demo: Demo = import_module(f'propulsion_ros.demos.{vehicle}').DEMO
    return demo


def moment(name: str, stamp: float, note: str = '') -> Row:
    """Return the row of something that happens at a time [s], NaN where it did not."""
    return number(name, stamp, '.2f', 's', note)


def number(name: str, value: float, spec: str, unit: str, note: str = '') -> Row:
    """Return the row of a value in a unit, by its format; NaN is 'not reached'."""
    if not math.isfinite(value):
        return name, 'not reached', ''
    return name, f'{value:{spec}} {unit}', note


def settled(name: str, step: StepResponse, unit: str, scale: float = 1.0) -> Row:
    """Return the row of a step response in a unit, ``scale`` of it for one of the value."""
    return number(
        f'{name} by {abs(step.size) * scale:.0f} {unit}', step.settling_time, '.2f', 's',
        f'until it stays within {100.0 * BAND:.0f} %; overshoot {100.0 * step.overshoot:.1f} %, '
        f'off at the end {100.0 * abs(step.error / step.size):.1f} %',
    )


def text_of(rows: Sequence[Row]) -> str:
    """Return rows as a table."""
    return '\n'.join(
        f'  {name:<22} {value:>12}  {note}'.rstrip() for name, value, note in rows
    )


BAND = 0.02
"""Part of the step within which a value has settled."""


@dataclass(frozen=True)
class StepResponse:
    """The usual figures of a step response; NaN where the step was not reached."""

    size: float
    """Size of the step, in the unit of the value."""
    settling_time: float
    """From the step until the value stays within `BAND` [s]; NaN where it does not."""
    overshoot: float
    """Largest excess over the target, as a part of the step."""
    error: float
    """Value minus target at the end, in the unit of the value."""


def step_response(rows: FloatArray, start: float, target: float) -> StepResponse:
    """Return the figures of the response to a step from ``start`` to ``target``.

    ``rows`` are times [s] from the step on and values, (n, 2).
    """
    size = target - start
    if not len(rows):
        return StepResponse(size, np.nan, np.nan, np.nan)
    progress = (rows[:, 1] - start) / size
    settling_time = time_until(rows, np.abs(progress - 1.0) <= BAND)
    overshoot = max(float(progress.max()) - 1.0, 0.0)
    return StepResponse(size, settling_time, overshoot, float(rows[-1, 1] - target))


def time_until(rows: FloatArray, is_in: BoolArray) -> float:
    """Return after which time of its rows something holds for good [s], NaN where it does not.

    ``rows`` begin with times [s], (n, k); ``is_in``, (n,), says whether it holds.
    """
    first = int(np.append(-1, np.flatnonzero(~is_in))[-1]) + 1
    return float(rows[first, 0] - rows[0, 0]) if first < len(rows) else np.nan


class FlightLog(Pilot):
    """Records the motion of a simulated body and the states of its actuators; commands nothing."""

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
    panels += _panels_of_actuators(recording)
    # What is always 0 shows nothing, but that nothing moved shows something.
    left_out = ', '.join(panel.heading.partition(' [')[0] for panel in panels if _is_still(panel))
    shown = [panel for panel in panels if not _is_still(panel)] or panels[:1]
    return recording.page(f'{title} (0 all the time: {left_out})' if left_out else title, shown)


def _is_still(panel: Panel) -> bool:
    return not any(np.any(np.abs(each.y) > _STILL) for each in panel.traces)


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
