# SPDX-License-Identifier: Apache-2.0
"""Motion of body, joints, thrusts and parachutes on a page, at equal steps of time."""
from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from propulsion_ros.drawing.drawn_blocks import DrawnBlock
from propulsion_ros.drawing.figure import PUBLISHED, Page
from propulsion_ros.drawing.shapes import Shape, Style, ThrustState, load_colour, thrust_shapes
from propulsion_ros.graph.simulation import BODY
from propulsion_ros.models.body.simulated_body import Parachutes, ParachutesParams
from propulsion_ros.models.common.layout import ThrustLayout
from propulsion_ros.pictures.signals import Channel, Placed, Rows, Signals
from propulsion_ros.settings.flat import build
from propulsion_ros.settings.quantity import FloatArray
from propulsion_ros.view.numbers import column, flat
from propulsion_ros.view.robot import Robot

FRAMES = 1500
"""Most frames of a page; the browser interpolates between them."""
SHORTEST = 0.02
"""Shortest time between two frames [s]."""
_FARTHEST = 1e7  # largest coordinate of a body [m]
_ARROW = 0.5  # length of the longest arrow over the size of the robot
_SHAFT = 0.05  # diameter of the shaft of an arrow over the length of the longest one
_SHADES = 20  # steps of colour for loads from 0 to 1
_CANOPY = 4.0  # drag area of a parachute of unknown size over the square of the robot's size


@dataclass(frozen=True, eq=False)
class Frames:
    """The times of a page's frames."""

    step: float
    """Time between two frames [s]."""
    times: FloatArray
    """Times on the axis of the page [s]."""
    stamps: FloatArray
    """The same times as stamps of the input [s]."""

    def held(self, rows: Rows) -> FloatArray:
        """Return the newest value of a series at each frame, NaN before its first one."""
        values = np.array(rows, float)
        time, value = values[np.argsort(values[:, 0], kind='stable')].T
        places = np.searchsorted(time, self.stamps + 1e-9, side='right') - 1
        return np.where(places < 0, np.nan, value[np.maximum(places, 0)])

    def between(self, time: FloatArray, values: FloatArray) -> FloatArray:
        """Return values (n, k) at ascending times, at each frame."""
        return np.stack(
            [np.interp(self.stamps, time, column) for column in values.T], axis=-1
        )


def frames_of(page: Page) -> Frames:
    """Return the frames of a page."""
    step = max((page.end - page.begin) / FRAMES, SHORTEST)
    count = math.floor((page.end - page.begin) / step + 1e-9) + 1
    times: FloatArray = page.begin + step * np.arange(count, dtype=np.float64)
    return Frames(step, times, times + page.origin)


def moving_joints(robot: Robot, signals: Signals) -> dict[str, Rows]:
    """Return the positions of the robot's joints that the input has [rad or m]."""
    joints: dict[str, Rows] = dict(signals.joints)
    joints.update({
        channel.name: rows for channel, rows in signals.rows.items()
        if channel.quantity == 'position' and channel.role == PUBLISHED
    })
    return {name: rows for name, rows in joints.items() if name in robot.tree.joints}


def motion_of(signals: Signals, frames: Frames) -> dict[str, Any]:
    """Return the pose of the body at each frame, the origin if the input has none."""
    rows = np.array(_placed(signals), float).reshape(-1, len(Placed._fields))
    rows = rows[np.isfinite(rows).all(axis=1) & (np.abs(rows[:, 1:]) < _FARTHEST).all(axis=1)]
    rows = rows[np.linalg.norm(rows[:, 4:], axis=1) > 1e-6]
    if not len(rows):
        return {'position': [0, 0, 0], 'quaternion': [0, 0, 0, 1], 'is_known': False}
    _, first = np.unique(rows[:, 0], return_index=True)
    rows = rows[first]
    turns = rows[:, 4:] / np.linalg.norm(rows[:, 4:], axis=1, keepdims=True)
    # Of the two quaternions of an attitude, the one nearer to that before.
    flips = np.where(np.sum(turns[1:] * turns[:-1], axis=1) < 0.0, -1.0, 1.0)
    turns[1:] *= np.cumprod(flips)[:, None]
    turned = frames.between(rows[:, 0], turns)
    turned /= np.maximum(np.linalg.norm(turned, axis=1, keepdims=True), 1e-9)
    return {
        'position': flat(frames.between(rows[:, 0], rows[:, 1:4]), 6),
        'quaternion': flat(turned), 'is_known': True,
    }


def _placed(signals: Signals) -> Sequence[Placed]:
    """Return the poses of the body: simulated, else by the first odometry, else by altitude."""
    places = signals.places
    for name, rows in places.items():
        if name.rpartition('/')[2] == BODY:
            return rows
    if places:
        return next(iter(places.values()))
    for channel, altitudes in signals.rows.items():
        if channel.quantity == 'altitude':
            return [Placed(time, 0, 0, value, 0, 0, 0, 1) for time, value in altitudes]
    return []


def joints_of(joints: Mapping[str, Rows], frames: Frames) -> dict[str, Any]:
    """Return the position of each joint at each frame, 0 if it is unknown."""
    return {
        name: column(np.nan_to_num(frames.held(rows), posinf=0.0, neginf=0.0))
        for name, rows in joints.items()
    }


def palette() -> list[str]:
    """Return the colours of arrows for loads from 0 to 1, and last for an unknown load."""
    colours = [load_colour(i / _SHADES) for i in range(_SHADES + 1)]
    return [_hex(colour) for colour in (*colours, load_colour(math.nan))]


class Scale:
    """Scales arrows: the largest thrust so far is half as long as the robot.

    Limits do not count, as all thrusts of a flight may be a hundredth of them.
    """

    def __init__(self, size: float) -> None:
        self._longest = _ARROW * size
        self.largest = 0.0

    def of(self, states: Iterable[Sequence[ThrustState]]) -> Style:
        """Return the style of thrusts, with these states included."""
        self.largest = max([self.largest, *(
            float(np.abs(state.thrust).max(initial=0.0)) for block in states for state in block
        )])
        return Style(scale=self._longest / (self.largest or 1.0), shaft=_SHAFT * self._longest)


def arrows_of(
    robot: Robot, scale: Scale, signals: Signals, frames: Frames, draws_all: bool = False
) -> Iterator[dict[str, Any]]:
    """Yield the arrow of each actuator, and its plume, at each frame.

    A block without a state in the input is noted; with ``draws_all`` it is drawn at rest.
    """
    known = [
        (block, block.layout, _states_of(block.name, block.layout, signals, frames))
        for block in robot.blocks if block.layout is not None
    ]
    style = scale.of(states for *_, states in known)
    for block, layout, states in known:
        if states or draws_all:
            yield from _arrow_rows(block, layout, states, style)
        else:
            robot.notes.append(f'{block.name}: not drawn, the input has no state of it')


def _states_of(
    block: str, layout: ThrustLayout, signals: Signals, frames: Frames
) -> list[ThrustState]:
    """Return the state of a block at each frame, [] if the input has none."""
    def series(quantity: str, name: str) -> FloatArray | None:
        for source in (block, ''):
            rows = signals.rows.get(Channel(source, quantity, name, PUBLISHED))
            if rows:
                return frames.held(rows)
        return None

    thrusts = [series('effort', name) for name in layout.names]
    if any(thrust is None for thrust in thrusts):
        return []
    thrust = np.nan_to_num(np.array(thrusts, float), posinf=0.0, neginf=0.0).T
    angles = np.zeros((len(frames.times), len(layout.angle_names)))
    for i, name in enumerate(layout.angle_names):
        found = series('position', name)
        if found is not None:
            angles[:, i] = np.nan_to_num(found, posinf=0.0, neginf=0.0)
    return [ThrustState(*state) for state in zip(thrust, angles, strict=True)]


def _arrow_rows(
    block: DrawnBlock, layout: ThrustLayout, states: Sequence[ThrustState], style: Style
) -> Iterator[dict[str, Any]]:
    """Yield the arrow of each actuator of a block in each state; at rest if there is none."""
    count = len(layout.names)
    states = states or [ThrustState(np.zeros(count), np.zeros(len(layout.angle_names)))]
    rows: list[list[Shape]] = [[] for _ in range(count)]
    loads = np.empty((len(states), count))
    plumes: dict[int, Shape] = {}
    for k, state in enumerate(states):
        loads[k] = layout.load(state.thrust, state.angles)
        for shape in thrust_shapes(block.name, block.base_link, layout, state, style):
            if shape.kind == 'arrow':
                rows[shape.number].append(shape)
            else:
                plumes.setdefault(shape.number, shape)
    shades = np.where(
        np.isnan(loads), _SHADES + 1, np.clip(np.round(loads * _SHADES), 0, _SHADES)
    )
    for i, (name, shapes) in enumerate(zip(layout.names, rows, strict=True)):
        plume = plumes.get(i)
        yield {
            'name': name, 'group': block.name, 'shaft': flat(style.shaft)[0],
            'plume': None if plume is None else _hex(plume.colour),
            'flame': layout.plume == 'flame',
            'origin': [column(part) for part in np.array([s.origin for s in shapes]).T],
            'direction': [column(part) for part in np.array([s.direction for s in shapes]).T],
            'length': column(np.array([shape.length for shape in shapes])),
            'shade': column(shades[:, i]),
        }


def parachutes_of(robot: Robot) -> ParachutesParams:
    """Return the parachutes of a robot's simulated body."""
    return build(ParachutesParams, robot.settings_of(BODY), 'parachutes.')


def canopies_of(
    known: ParachutesParams, size: float, signals: Signals, frames: Frames
) -> Iterator[dict[str, Any]]:
    """Yield the radius [m] of each parachute that fired, at each frame."""
    for name, time in signals.flight.fired.items():
        given: dict[str, Any] = {'drag_area': np.array([_CANOPY * size**2])}
        if name in known.names:
            i = known.names.index(name)
            given = {
                key: getattr(known, key)[i:i + 1]
                for key in ('drag_area', 'deployment_delay', 'inflation_time')
            }
        chute = Parachutes(ParachutesParams(names=(name,), **given))
        chute.fire(name, round(time * 1e9))
        areas = np.array([chute.drag_area(round(stamp * 1e9)) for stamp in frames.stamps])
        yield {
            'name': name, 'attachment': flat(known.attachment),
            'radius': column(np.sqrt(areas / np.pi)),
        }


def _hex(colour: Sequence[float]) -> str:
    return '#' + ''.join(f'{round(255 * part):02x}' for part in colour[:3])
