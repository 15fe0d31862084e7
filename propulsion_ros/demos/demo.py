# SPDX-License-Identifier: Apache-2.0
"""Parts of a vehicle's demo, and a log of the flight of any robot."""
from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from propulsion_ros.demos.pilot import Command, Pilot, Recording
from propulsion_ros.drawing.figure import COMMAND, Page
from propulsion_ros.graph.simulation import BODY
from propulsion_ros.loops.payloads import Kind
from propulsion_ros.models.common.motion import Motion
from propulsion_ros.pictures.bag import Sorter, add_motion, readings_of
from propulsion_ros.pictures.signals import Channel, Placed, Signals
from propulsion_ros.settings.quantity import BoolArray, FloatArray

Row = tuple[str, str, str]
"""Name, value with its unit, and a note."""
Summary = Mapping[str, Any]
"""Numbers of a flight by name, in SI units; NaN if not reached."""


@dataclass(frozen=True)
class Demo:
    """A vehicle with its pilot, and the table and page of its flight.

    The vehicle's graph is that of `wiring.robot_graph`, with config/<vehicle>_demo.yaml beside
    the vehicle's own settings.
    """

    make_pilot: Callable[[], Pilot]
    """Makes the pilot of one flight."""
    summarise: Callable[[Recording], Summary]
    """``summarise(recording)`` returns the numbers of a flight."""
    table: Callable[[Summary, Recording], list[Row]]
    """``table(summary, recording)`` returns these numbers as rows of text."""
    page: Callable[[Summary, Recording], Page]
    """``page(summary, recording)`` returns the page of the picture."""
    targets: Mapping[tuple[str, str], int] = field(default_factory=dict)
    """Column of the series ``target`` by quantity and name of the body's motion; angles in rad."""

    def add_targets(self, signals: Signals, recording: Recording) -> None:
        """Add the targets of a flight beside the motion of its body."""
        for (quantity, name), column in self.targets.items():
            scale = 180.0 / np.pi if quantity == 'attitude' else 1.0
            for time, value in recording.series('target')[:, (0, column)].tolist():
                signals.add(Channel(BODY, quantity, name, COMMAND), time, scale * value)


def demo_of(vehicle: str) -> Demo:
    """Return the demo of one of `vehicles.VEHICLES`."""
    demo: Demo = import_module(f'propulsion_ros.demos.{vehicle}').DEMO
    return demo


def moment(name: str, stamp: float, note: str = '') -> Row:
    """Return the row of an event at a time [s], NaN if it did not happen."""
    return number(name, stamp, '.2f', 's', note)


def number(name: str, value: float, spec: str, unit: str, note: str = '') -> Row:
    """Return the row of a value in a unit, by its format; NaN is 'not reached'."""
    if not math.isfinite(value):
        return name, 'not reached', ''
    return name, f'{value:{spec}} {unit}', note


def settled(name: str, step: StepResponse, unit: str, scale: float = 1.0) -> Row:
    """Return the row of a step response in a unit; ``scale`` converts the value to it."""
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
"""Share of the step within which a value has settled."""


@dataclass(frozen=True)
class StepResponse:
    """The usual figures of a step response; NaN if the step was not reached."""

    size: float
    """Size of the step, in the unit of the value."""
    settling_time: float
    """Time from the step until the value stays within `BAND` [s]; NaN if it does not."""
    overshoot: float
    """Largest excess over the target, over the size of the step."""
    error: float
    """Final value minus target, in the unit of the value."""


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
    """Return the time from the first row until a condition holds for good [s], NaN if it does not.

    ``rows`` begin with times [s], (n, k); ``is_in``, (n,), is true where the condition holds.
    """
    first = int(np.append(-1, np.flatnonzero(~is_in))[-1]) + 1
    return float(rows[first, 0] - rows[0, 0]) if first < len(rows) else np.nan


_COMPUTER = {
    'flight_state/fit': (Kind.JOINTS, 'LOCKSTEP'),
    'flight_state/flags': (Kind.STATUSES, 'LATCHED'),
    'flight_state/events': (Kind.STATUSES, 'LATCHED_HISTORY'),
    'flight_state/apogee': (Kind.POINT, 'LATCHED'),
}
"""Topics of a flight computer that are drawn, with kind and quality."""


class FlightLog(Pilot):
    """Records the motion of a simulated body, its actuators and its computer; commands nothing.

    Attributes
    ----------
    signals : Signals
        Signals as from a bag of the flight.
    """

    def __init__(
        self, name: str = '', state_topics: Sequence[str] = (), has_computer: bool = False,
        battery_topics: Sequence[str] = (),
    ) -> None:
        super().__init__()
        topics = {
            **dict.fromkeys(state_topics, (Kind.JOINTS, 'LOCKSTEP')),
            **dict.fromkeys(battery_topics, (Kind.BATTERY, 'LOCKSTEP')),
            **{f'{topic.rpartition("/")[0]}/command': (Kind.JOINTS, 'LOCKSTEP_COMMAND')
               for topic in state_topics},
            **(_COMPUTER if has_computer else {}),
        }
        kinds = {topic: kind for topic, (kind, _) in topics.items()}
        sorter = Sorter(name, '', readings_of(Path(name), kinds, '') if kinds else {})
        self.signals = sorter.signals
        for topic, (kind, quality) in topics.items():
            take = functools.partial(sorter.take, topic)
            self.receive(kind, topic, take, quality, each_step=False)

    def steer(self, time: float, motion: Motion) -> Mapping[str, Command]:
        """Record the motion."""
        placed, velocity, turns = motion.position, motion.velocity, motion.angular_velocity
        add_motion(
            self.signals, BODY, Placed(time, *placed.tolist(), *motion.quaternion.tolist()),
            velocity.tolist(), turns.tolist(),
        )
        return {}
