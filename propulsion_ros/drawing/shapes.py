# SPDX-License-Identifier: Apache-2.0
"""Shapes of a picture of the actuators: arrows, plumes and text, as plain values."""
from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from propulsion_ros.models.common.layout import ThrustLayout
from propulsion_ros.models.common.rotation import Vector
from propulsion_ros.settings.errors import CommandError
from propulsion_ros.settings.quantity import FloatArray
from propulsion_ros.urdf.visuals import Colour

_AT_LIMIT = 0.999  # load that counts as 1, which a lag never quite reaches
_STRONGEST = 1e9  # largest thrust [N]
_OPACITY = 0.8
_UNKNOWN: Colour = (0.3, 0.5, 1.0, _OPACITY)
_STALE: Colour = (0.5, 0.5, 0.5, _OPACITY)
_PLUMES: dict[str, Colour] = {'flame': (1.0, 0.55, 0.1, 0.35), 'air': (0.6, 0.8, 1.0, 0.35)}
_WHITE: Colour = (1.0, 1.0, 1.0, 1.0)


@dataclass(frozen=True)
class Shape:
    """One thing to draw."""

    kind: str
    """'arrow' from its origin along its direction, 'plume' widening along it, or 'text' at it."""
    group: str
    """Group of shapes that can be shown and hidden together."""
    number: int
    """Its number in the group, the same in every picture."""
    frame: str
    """Frame of origin and direction."""
    origin: Vector
    """Position [m]."""
    direction: Vector
    """Unit vector."""
    length: float
    """Length [m], 0 for an invisible shape; of a text the height of its letters."""
    colour: Colour
    """See `Colour`."""
    width: float = 0.0
    """Diameter of an arrow's shaft [m]."""
    text: str = ''
    """The lines of a text."""


@dataclass(frozen=True, eq=False)
class ThrustState:
    """Thrusts and joint angles of n actuators."""

    thrust: FloatArray
    """Thrusts [N], (n,)."""
    angles: FloatArray
    """Positions of the joints `ThrustLayout.angle_names` [rad], (k,)."""


def read_state(
    layout: ThrustLayout,
    names: Sequence[str],
    position: Sequence[float],
    effort: Sequence[float],
) -> ThrustState:
    """Return the thrusts and angles that a layout needs of a state.

    Names that the layout does not have are ignored. Positions [rad] are needed only if it has
    joints; efforts are in [N].

    Raises
    ------
    CommandError
        For names that are missing or repeated, a wrong count, or an invalid value.
    """
    places: dict[str, int] = {}
    for i, name in enumerate(names):
        if places.setdefault(name, i) != i:
            raise CommandError(f'{name!r} is named twice')
    for name in (*layout.names, *layout.angle_names):
        if name not in places:
            raise CommandError(f'expected a state of {name!r} too')
    thrust = _picked('effort', effort, places, layout.names)
    angles = np.empty(0)
    if layout.angle_names:
        angles = _picked('position', position, places, layout.angle_names)
        angles = np.where(np.isnan(angles), layout.unknown_angle, angles)
    for field, values, wanted, bound in (
        ('effort', thrust, layout.names, _STRONGEST),
        ('position', angles, layout.angle_names, math.inf),
    ):
        wrong = ~(np.isfinite(values) & (np.abs(values) <= bound))
        if wrong.any():
            name = wanted[int(np.argmax(wrong))]
            raise CommandError(f'{name}: {field} {values[wrong][0]:g} is no state')
    return ThrustState(thrust, angles)


@dataclass(frozen=True, kw_only=True)
class Style:
    """Style of thrusts."""

    scale: float
    """Length of an arrow over its thrust [m/N]."""
    in_links: bool = False
    """True for shapes in the frames of their actuators' links, False for all in base_link."""
    shaft: float = 0.02
    """Diameter of an arrow's shaft [m]."""


def thrust_shapes(
    group: str,
    base_link: str,
    layout: ThrustLayout,
    state: ThrustState,
    style: Style,
    is_stale: bool = False,
) -> Iterator[Shape]:
    """Yield an arrow along the thrust of each actuator, and its plume, if any, against it.

    Plumes are in ``<group>/plume``. With ``is_stale``, the present efforts are unknown.
    """
    if style.in_links:
        frames, points = layout.links, np.zeros((len(layout.names), 3))
        axes = layout.in_links(state.angles)
    else:
        frames = (base_link,) * len(layout.names)
        points, axes = layout.in_base(state.angles)
    # Adding 0 turns -0 into 0.
    along = np.where(state.thrust < 0.0, -1.0, 1.0)[:, None] * axes + 0.0
    lengths = (style.scale * np.abs(state.thrust)).tolist()
    loads = layout.load(state.thrust, state.angles).tolist()
    rows = zip(frames, points.tolist(), along.tolist(), lengths, loads, strict=True)
    for i, (frame, point, direction, length, load) in enumerate(rows):
        origin = _vector(point)
        colour = _STALE if is_stale else load_colour(load)
        yield Shape(
            'arrow', group, i, frame, origin, _vector(direction), length, colour, style.shaft
        )
        if layout.plume:
            yield Shape(
                'plume', f'{group}/plume', i, frame, origin, _vector([0.0 - x for x in direction]),
                0.0 if is_stale else length, _PLUMES[layout.plume], style.shaft,
            )


def load_colour(load: float) -> Colour:
    """Return green at rest, yellow half way, red near the limit and opaque red at the limit."""
    if math.isnan(load):
        return _UNKNOWN
    if load >= _AT_LIMIT:
        return (1.0, 0.0, 0.0, 1.0)
    return (min(2.0 * load, 1.0), min(2.0 * (1.0 - load), 1.0), 0.0, _OPACITY)


@dataclass(frozen=True)
class Propellant:
    """Propellant left in a tank."""

    name: str
    """Name of the tank."""
    mass: float
    capacity: float
    """Present mass and capacity [kg]; a capacity of 0 is not known."""

    def __str__(self) -> str:
        share = f' ({self.mass / self.capacity:.0%})' if self.capacity > 0.0 else ''
        return f'{self.name} {self.mass:.2f} kg{share}'


def status_shape(
    frame: str, origin: Vector, height: float, phase: str, tanks: Sequence[Propellant]
) -> Shape:
    """Return a text with the phase of the flight and the propellant left, a line each.

    ``origin`` is the middle of the text [m], ``height`` that of its letters [m]; ``phase`` is ''
    if there is none.
    """
    lines = [*([phase] if phase else []), *map(str, tanks)]
    return Shape(
        'text', 'status', 0, frame, origin, (0.0, 0.0, 1.0), height if lines else 0.0, _WHITE,
        text='\n'.join(lines),
    )


def _picked(
    field: str, values: Sequence[float], places: Mapping[str, int], wanted: Sequence[str]
) -> FloatArray:
    if len(values) != len(places):
        raise CommandError(
            f'{field}: expected {len(places)} values, one per name, got {len(values)}'
        )
    return np.array([float(values[places[name]]) for name in wanted])


def _vector(values: Sequence[float]) -> Vector:
    x, y, z = values
    return x, y, z
