# SPDX-License-Identifier: Apache-2.0
"""What a vehicle's demo is made of."""
from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeVar

from propulsion_ros.demos.pilot import Pilot
from propulsion_ros.demos.recording import Recording
from propulsion_ros.demos.step_response import StepResponse

Row = tuple[str, str, str]
"""Name, value with its unit, and a note."""
SummaryT = TypeVar('SummaryT')


class Demo(Protocol[SummaryT]):
    """A vehicle with its pilot, and what is told of its flight.

    The vehicle's graph is that of `wiring.vehicle_graph`, with config/<vehicle>_demo.yaml beside
    the vehicle's own settings.

    Attributes
    ----------
    title : str
        Of the picture.
    layout : sequence of sequence of str
        Names of the picture's panels, row by row; a repeated name is a wide panel.
    heights : sequence of float
        Of the rows [in].
    """

    title: str
    layout: Sequence[Sequence[str]]
    heights: Sequence[float]

    def make_pilot(self) -> Pilot:
        """Return the node that flies, once rclpy is initialised."""

    def summarise(self, recording: Recording) -> SummaryT:
        """Return the numbers of a flight, a dataclass; NaN for what was not reached."""

    def table(self, summary: SummaryT, recording: Recording) -> list[Row]:
        """Return these numbers for a reader."""

    def draw(self, axes: Mapping[str, Any], recording: Recording, summary: SummaryT) -> None:
        """Fill the panels of ``layout``, matplotlib's axes by name."""


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
        f'{name}, settled', step.settling_time, '.2f', 's',
        f'overshoot {100.0 * step.overshoot:.1f} %, final error {step.error * scale:+.4f}'
        f' of {step.size * scale:.0f} {unit}',
    )


def text_of(rows: Sequence[Row]) -> str:
    """Return rows as a table."""
    return '\n'.join(
        f'  {name:<22} {value:>12}  {note}'.rstrip() for name, value, note in rows
    )
