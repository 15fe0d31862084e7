# SPDX-License-Identifier: Apache-2.0
"""The known values of a flight at one moment, and the flight variables of conditions."""
from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from propulsion_ros.flight.belief.feed import Readings
from propulsion_ros.flight.events.permits import ANYTHING, Permits

NAN = math.nan
_UNKNOWN = (NAN, NAN)
UNKNOWN_VECTOR = (NAN, NAN, NAN)
UNKNOWN_ROTATION = (NAN, NAN, NAN, NAN)
_DEGREES = 180.0 / math.pi
_FARTHEST = 1e6
"""No height, distance or speed is larger, in SI units."""


class Sample(NamedTuple):
    """One estimate of the vehicle's motion; NaN means unknown.

    Attributes
    ----------
    stamp_ns : int
        Message stamp [ns].
    altitude : float
        Above the pad, up positive [m].
    velocity : float
        Up positive [m/s].
    acceleration : float
        Net of gravity, up positive [m/s^2]: 0 at rest, -g in free fall.
    horizontal_position, horizontal_velocity, horizontal_acceleration : tuple of float
        (east, north) [m], [m/s], [m/s^2].
    rotation : tuple of float
        Quaternion x, y, z, w that takes base_link axes to east, north, up.
    circuits : tuple of (int, bool)
        Channels of local pyros that were measured, and whether each circuit is closed.
    faults : tuple of str
        Faults of the sensors, with the names of the estimator that made the sample.
    readings : Readings or None
        What the sensors measured that the sample was made of; None where it is itself measured.
    pressure : float
        Last one of the air [Pa].
    """

    stamp_ns: int
    altitude: float
    velocity: float = NAN
    acceleration: float = NAN
    horizontal_position: tuple[float, float] = _UNKNOWN
    horizontal_velocity: tuple[float, float] = _UNKNOWN
    horizontal_acceleration: tuple[float, float] = _UNKNOWN
    rotation: tuple[float, float, float, float] = UNKNOWN_ROTATION
    circuits: tuple[tuple[int, bool], ...] = ()
    faults: tuple[str, ...] = ()
    readings: Readings | None = None
    pressure: float = NAN


def sane(value: float) -> float:
    """Return a value in SI units, or NaN if it is too large for any vehicle."""
    # Converted, because a comparison of a numpy float gives a numpy bool.
    return float(value) if abs(value) <= _FARTHEST else NAN


def bounded(sample: Sample) -> Sample:
    """Return a sample in which values that are too large for any vehicle are unknown."""
    (east, north), (v_east, v_north) = sample.horizontal_position, sample.horizontal_velocity
    return sample._replace(
        altitude=sane(sample.altitude), velocity=sane(sample.velocity),
        acceleration=sane(sample.acceleration),
        horizontal_position=(sane(east), sane(north)),
        horizontal_velocity=(sane(v_east), sane(v_north)),
    )


def ned(horizontal: tuple[float, float], up: float) -> tuple[float, float, float]:
    """Return (north, east, down) of an (east, north) pair and an upward component."""
    east, north = horizontal
    return north, east, -up


@dataclass(frozen=True)
class Variables:
    """The values that conditions use: times of the flight clock, vectors in NED.

    Attributes
    ----------
    clock_ns : int
        Now, on the clock of `FlightTime` [ns].
    position, velocity, acceleration : tuple of float
        North, east, down; NaN where unknown.
    ignition_ns, liftoff_ns, apogee_ns : int or None
        When it happened, None before.
    time_since_event : callable
        Event id to the time [ns] since its condition last held, None where that is unknown.
    rocket_orientation, board_orientation : tuple of float
        Roll, pitch, yaw relative to north, east, down [rad]: of axes with the nose as x, and of
        base_link turned to forward, right, down.
    tilt : float
        Angle of the nose from the vertical [rad].
    continuity : callable
        Channel of a local pyro to whether its circuit is closed, None where not measured.
    words : frozenset of str
        Phase and sub-phase, for the guards of events.
    permits : Permits
        What the flight allows, also for the guards of events.
    """

    clock_ns: int
    position: tuple[float, float, float] = UNKNOWN_VECTOR
    velocity: tuple[float, float, float] = UNKNOWN_VECTOR
    acceleration: tuple[float, float, float] = UNKNOWN_VECTOR
    ignition_ns: int | None = None
    liftoff_ns: int | None = None
    apogee_ns: int | None = None
    time_since_event: Callable[[int], int | None] = lambda event_id: None
    rocket_orientation: tuple[float, float, float] = UNKNOWN_VECTOR
    board_orientation: tuple[float, float, float] = UNKNOWN_VECTOR
    tilt: float = NAN
    continuity: Callable[[int], bool | None] = lambda channel: None
    words: frozenset[str] = frozenset()
    permits: Permits = ANYTHING


class Label(NamedTuple):
    """How a value is written in text: its name, and the unit after scaling."""

    name: str
    unit: str
    scale: float = 1.0


@dataclass(frozen=True)
class FlightVariable:
    """One flight variable of the event configuration.

    Attributes
    ----------
    read : callable
        (variables, component) to the value in the configuration's units (NED metres and
        seconds, times in milliseconds, angles in radians), NaN where unknown.
    unit : str
        Of the configuration.
    labels : mapping of int to Label
        One per allowed component; a variable without components has only 0.
    has_component : bool
        Whether the configuration must name a component.
    is_event_id : bool
        Whether the component is the id of an event, so that any id is allowed.
    """

    read: Callable[[Variables, int], float]
    unit: str
    labels: Mapping[int, Label]
    has_component: bool = True
    is_event_id: bool = False

    def label(self, component: int) -> Label:
        """Return the label of a component; event ids are appended to the name."""
        if not self.is_event_id:
            return self.labels[component]
        name, unit, scale = self.labels[0]
        return Label(f'{name} {component}', unit, scale)


def _component(vector: tuple[float, float, float], component: int) -> float:
    if component >= 0:
        return vector[component]
    return math.sqrt(sum(value * value for value in vector))


def _since(now_ns: int, then_ns: int | None) -> float:
    # A moment in the future has not happened, so the time since it is unknown, not negative.
    return NAN if then_ns is None or then_ns > now_ns else (now_ns - then_ns) / 1e6


def _since_event(variables: Variables, event_id: int) -> float:
    elapsed_ns = variables.time_since_event(event_id)
    return NAN if elapsed_ns is None else elapsed_ns / 1e6


def _elapsed(name: str, read: Callable[[Variables, int], float]) -> FlightVariable:
    labels = {0: Label(f'time since {name}', 's', 1e-3)}
    return FlightVariable(read, 'ms', labels, has_component=False)


def _angles(
    whose: str, read: Callable[[Variables], tuple[float, float, float]]
) -> FlightVariable:
    return FlightVariable(
        lambda variables, component: read(variables)[component], 'rad',
        {
            i: Label(f'{angle} of the {whose}', 'deg', _DEGREES)
            for i, angle in enumerate(('roll', 'pitch', 'yaw'))
        },
    )


VARIABLES: Mapping[str, FlightVariable] = {
    'TimeSinceIgnition': _elapsed('ignition', lambda v, _: _since(v.clock_ns, v.ignition_ns)),
    'TimeSinceLiftoff': _elapsed('liftoff', lambda v, _: _since(v.clock_ns, v.liftoff_ns)),
    'TimeSinceApogee': _elapsed('apogee', lambda v, _: _since(v.clock_ns, v.apogee_ns)),
    'TimeSinceEvent': FlightVariable(
        _since_event, 'ms', {0: Label('time since event', 's', 1e-3)}, is_event_id=True
    ),
    'Position': FlightVariable(
        lambda v, component: _component(v.position, component), 'm',
        {
            0: Label('distance north', 'm'),
            1: Label('distance east', 'm'),
            2: Label('altitude', 'm', -1.0),
            -1: Label('distance from the pad', 'm'),
        },
    ),
    'Velocity': FlightVariable(
        lambda v, component: _component(v.velocity, component), 'm/s',
        {
            0: Label('velocity north', 'm/s'),
            1: Label('velocity east', 'm/s'),
            2: Label('upward velocity', 'm/s', -1.0),
            -1: Label('speed', 'm/s'),
        },
    ),
    'Acceleration': FlightVariable(
        lambda v, component: _component(v.acceleration, component), 'm/s^2',
        {
            0: Label('acceleration north', 'm/s^2'),
            1: Label('acceleration east', 'm/s^2'),
            2: Label('upward acceleration', 'm/s^2', -1.0),
            -1: Label('magnitude of acceleration', 'm/s^2'),
        },
    ),
    'RocketOrientation': _angles('rocket', lambda v: v.rocket_orientation),
    'BoardOrientation': _angles('board', lambda v: v.board_orientation),
    'Tilt': FlightVariable(
        lambda v, _: v.tilt, 'rad', {0: Label('tilt', 'deg', _DEGREES)}, has_component=False
    ),
}
"""Every flight variable of the event configuration, by its name there."""
