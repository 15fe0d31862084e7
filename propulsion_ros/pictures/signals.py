# SPDX-License-Identifier: Apache-2.0
"""Signals of an input that can be plotted: series by quantity, and the data of a flight."""
from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from propulsion_ros.drawing.figure import PUBLISHED, Mark
from propulsion_ros.settings.quantity import FloatArray

DETECTED = 'detected'
"""Source of an apogee that the detector found; other sources, such as a timer, found none."""
LARGEST = 1e100
"""Largest value that is drawn, as limits and ticks of an axis would overflow."""

Rows = Sequence[tuple[float, float]]
"""Time [s] and value."""


_POWERS = str.maketrans('0123456789-', '\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077'
                        '\u2078\u2079\u207b')


def with_unit(text: str, unit: str, around: str = '[]') -> str:
    """Return a text and its unit, such as ``m/s^2`` with a raised 2, in brackets by default."""
    if not unit:
        return text
    printed = re.sub(r'\^(-?\d+)', lambda found: found[1].translate(_POWERS), unit)
    return f'{text} {around[:1]}{printed}{around[1:]}'


class Fit(NamedTuple):
    """A parabola: h = altitude + velocity t + acceleration t^2 / 2, t since its time [s]."""

    time: float
    altitude: float
    velocity: float
    acceleration: float


def every(fits: Iterable[Fit], interval: float) -> list[Fit]:
    """Return fits without missing values, at least an interval [s] apart."""
    chosen: list[Fit] = []
    for fit in fits:
        is_next = not chosen or fit.time >= chosen[-1].time + interval
        if is_next and all(abs(value) < LARGEST for value in fit[1:]):
            chosen.append(fit)
    return chosen


class Placed(NamedTuple):
    """Pose of a body: time [s], position [m], and attitude as a quaternion."""

    time: float
    x: float
    y: float
    z: float
    qx: float
    qy: float
    qz: float
    qw: float


class Channel(NamedTuple):
    """Source, quantity and name of a series."""

    source: str
    """Node that publishes or receives it, '' if it is unknown."""
    quantity: str
    """A key of `QUANTITIES`."""
    name: str
    """Actuator, tank, battery or axis."""
    role: str = PUBLISHED
    """A role of series."""


QUANTITIES = {
    'place': 'position [m]',
    'world_velocity': 'velocity in the world [m/s]',
    'attitude': 'attitude [deg]',
    'turn_rate': 'rate of turn [deg/s]',
    'effort': 'thrust [N]',
    'velocity': 'speed [rad/s]',
    'position': 'angle [rad]',
    'rate': 'rate of the angle [rad/s]',
    'force': 'applied force [N]',
    'torque': 'applied torque [N m]',
    'mass': 'propellant [kg]',
    'fuel_ratio': 'propellant, of capacity',
    'pressure': 'tank pressure [Pa]',
    'temperature': 'tank temperature [K]',
    'voltage': 'battery voltage [V]',
    'current': 'battery current [A]',
    'percentage': 'battery charge, of capacity',
    'altitude': 'altitude [m]',
    'climb': 'vertical speed [m/s]',
    'lift': 'vertical acceleration [m/s²]',
}
"""Quantities of series with their headings, in the order of the page."""

OF_MOTION = ('place', 'world_velocity', 'attitude', 'turn_rate')
"""Quantities of a body, from its odometry."""
OF_TANKS = ('fuel_ratio', 'pressure', 'temperature')
"""Quantities that a state has as the position of ``<tank>/<quantity>``."""


@dataclass
class FlightSignals:
    """Messages of flight logic; times in seconds."""

    phases: list[Mark] = field(default_factory=list)
    health: list[Mark] = field(default_factory=list)
    """Phase, and health of the detector, from each time on."""
    marks: list[Mark] = field(default_factory=list)
    """Liftoff and events."""
    fits: list[Fit] = field(default_factory=list)
    """The parabola fitted at each sample."""
    predictions: list[tuple[float, float, float]] = field(default_factory=list)
    """Time of publication, and time and altitude [m] of the vertex."""
    detections: list[Mark] = field(default_factory=list)
    """Time of each decision on apogee, and its source, such as `DETECTED`."""
    vertices: list[tuple[float, float]] = field(default_factory=list)
    """Time and altitude [m] of each vertex that was decided on."""
    fired: dict[str, float] = field(default_factory=dict)
    """Time at which each deployer fired first."""


class Pairs(Sequence[tuple[float, float]]):
    """A sequence of times [s] and values in a tenth of the memory of a list of pairs."""

    def __init__(self) -> None:
        self._numbers = array('d')

    def add(self, time: float, value: float) -> None:
        """Append a pair."""
        self._numbers.extend((time, value))

    def __len__(self) -> int:
        return len(self._numbers) // 2

    def __iter__(self) -> Iterator[tuple[float, float]]:
        return zip(self._numbers[::2], self._numbers[1::2], strict=True)

    def __getitem__(self, index: Any) -> Any:
        at = 2 * range(len(self))[index]
        return self._numbers[at], self._numbers[at + 1]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> FloatArray:
        """Return a copy, (t, 2)."""
        return np.array(self._numbers, dtype).reshape(-1, 2)


@dataclass
class Signals:
    """Series and flight of one input."""

    name: str
    """Path of the input."""
    rows: dict[Channel, Pairs] = field(default_factory=dict)
    """Time [s] and value by channel, in the order of the input."""
    flight: FlightSignals = field(default_factory=FlightSignals)
    """Flight, empty without flight logic."""
    places: dict[str, list[Placed]] = field(default_factory=dict)
    """Poses of the body by the node that published them."""
    joints: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    """Time [s] and position [rad or m] of joints that belong to no group of actuators."""
    robot_description: str = ''
    """URDF, '' if the input has none."""
    com: dict[str, FloatArray] = field(default_factory=dict)
    """Newest centre of mass in base_link [m] of each robot, by its namespace."""
    unread: list[str] = field(default_factory=list)
    """Names of columns of the input that are not plotted."""

    def add(self, channel: Channel, time: float, value: float) -> None:
        """Append to a series; NaN is a missing value and is not added."""
        if value == value:
            self.rows.setdefault(channel, Pairs()).add(time, value)
