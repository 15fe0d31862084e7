# SPDX-License-Identifier: Apache-2.0
"""Draws the positions and thrust directions of a robot's actuators, from three sides."""
from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

matplotlib.use('Agg')

import matplotlib.pyplot as plt
from matplotlib.path import Path as Curve
from scipy.spatial import ConvexHull

from propulsion_ros.graph.robot_layout import Group, RobotLayout
from propulsion_ros.pictures.picture import write_figure
from propulsion_ros.settings.quantity import FloatArray

_VIEWS = (('from above', 0, 1), ('from the right', 0, 2), ('from the front', 1, 2))
"""Title of each view, and which axes of base_link lie to the right and up."""
_ARROW = 0.3  # length of the longest arrow over the size of the robot
_SHORT = 0.02  # arrows that are shorter lie along the line of sight, over the longest arrow
_NEAR = 0.08  # largest distance of points that share a text, over the size of the robot
_ROOM = 0.12  # room around points, over the size of the robot
_SMALL = 1e-6  # lengths that count as 0
_FACING = 0.9  # cosine of thrust and line of sight above which a dot or cross is drawn
_FEW = 6  # most numbers in one text
_LISTED = 30  # most names in the list
_ARC: Any = Curve.arc(-210.0, 120.0)
_RING: Any = Curve(
    np.vstack([_ARC.vertices, [[-0.24, 1.32], [-0.5, 0.87], [0.02, 0.86]]]),
    np.append(_ARC.codes, [Curve.MOVETO, Curve.LINETO, Curve.LINETO]),
)
"""An arrow around a point, counterclockwise."""
_RING_SIZE, _RING_STEP = 24.0, 9.0  # diameter of the first ring, and growth of those around it [pt]


def draw_layout(robot: RobotLayout, title: str, path: Path) -> None:
    """Write a layout as a PNG; raise `SourceError` if it cannot be written."""
    write_figure(lambda: _figure_of(robot, title), path)


def _figure_of(robot: RobotLayout, title: str) -> Any:
    figure: Any = plt.figure(figsize=(16.0, 5.6), layout='constrained')
    figure.suptitle(title)
    widths = [*(1.0 for _ in _VIEWS), 0.35]
    grid = figure.add_gridspec(1, len(widths), width_ratios=widths)
    for place, view in enumerate(_VIEWS):
        _draw_view(figure.add_subplot(grid[place]), robot, *view)
    _list_names(figure.add_subplot(grid[len(_VIEWS)]), robot)
    return figure


def _draw_view(axis: Any, robot: RobotLayout, title: str, right: int, up: int) -> None:
    plane, size = [right, up], _size(robot)
    normal = np.cross(np.eye(3)[right], np.eye(3)[up])
    for shapes in robot.shapes.values():
        for _, surface in shapes:
            # QJ moves points a little, so that thin shapes have a hull too.
            hull = surface[ConvexHull(surface[:, plane], qhull_options='QJ').vertices][:, plane]
            axis.fill(*hull.T, facecolor='0.93', edgecolor='0.6', linewidth=0.8, zorder=0)
    largest = max((group.layout.largest for group in robot.groups), default=0.0) or 1.0
    for number, group in enumerate(robot.groups):
        _draw_group(axis, group, plane, size * _ARROW, largest, f'C{number}')
        _draw_ways(axis, group, plane, normal, f'C{number}')
    _number_points(axis, robot, plane, size * _NEAR)
    axis.plot(0.0, 0.0, 'k+', markersize=10, label=f'origin of {robot.base_link}')
    if robot.body.mass:
        com = robot.body.com
        axis.plot(com[right], com[up], 'kx', markersize=8, label='centre of mass')
    if (pressed := robot.params.centre_of_pressure).any():
        axis.plot(*pressed[plane], 'k^', markersize=7, fillstyle='none', label='centre of pressure')
    axis.set_title(title)
    axis.set_xlabel(f'{"xyz"[right]} [m]')
    axis.set_ylabel(f'{"xyz"[up]} [m]')
    axis.set_aspect('equal', adjustable='datalim')
    # Equal scales use up a margin.
    for side in (-_ROOM, _ROOM):
        axis.update_datalim(_points(robot)[:, plane] + side * size)
    # So few labels that a minus and three digits do not touch the next one.
    axis.locator_params(nbins=6)
    axis.grid(alpha=0.3)


def _draw_group(
    axis: Any, group: Group, plane: list[int], longest: float, largest: float, colour: str
) -> None:
    """Draw each actuator as a point, and its thrust as an arrow, the largest one as the longest."""
    layout, scale = group.layout, longest / largest
    # Fins, whose largest thrust is not known, have arrows of half the length.
    unknown = layout.largest or 0.5 * largest
    thrust = np.where(np.isfinite(layout.highest), layout.highest, unknown)
    tips = layout.position + layout.axis * thrust[:, None] * scale
    points, ends = layout.position[:, plane], tips[:, plane]
    axis.plot(points[:, 0], points[:, 1], 'o', color=colour, markersize=5, label=group.name)
    axis.update_datalim(ends)
    for point, end in zip(points, ends, strict=True):
        if np.linalg.norm(end - point) > _SHORT * longest:
            axis.annotate(
                '', end, point, arrowprops={'arrowstyle': '-|>', 'color': colour, 'lw': 1.5}
            )


def _draw_ways(
    axis: Any, group: Group, plane: list[int], normal: FloatArray, colour: str
) -> None:
    """Mark thrusts towards the reader by a dot, away by a cross, and the sense of rotation."""
    layout = group.layout
    turns, points = _turns(group), layout.position[:, plane]
    for i, point in enumerate(points):
        towards = float(layout.axis[i] @ normal)
        if abs(towards) < _FACING:
            continue
        marker, width = ('.', 0.0) if towards > 0.0 else ('x', 1.4)
        axis.plot(*point, 'o', color='w', markeredgecolor=colour, markersize=9)
        axis.plot(*point, marker, color=colour, markersize=5, markeredgewidth=width)
        if turns[i]:
            ring = Curve(_RING.vertices * [1.0, np.sign(turns[i] * towards)], _RING.codes)
            # Rings of coaxial actuators are around each other, in the order of their numbers.
            before = np.linalg.norm(points[:i] - point, axis=1) < _SMALL
            around = np.count_nonzero(before & (turns[:i] != 0.0))
            axis.plot(*point, marker=ring, markersize=_RING_SIZE + _RING_STEP * around,
                      color=colour, fillstyle='none', markeredgewidth=1.4)


def _turns(group: Group) -> FloatArray:
    """Return the sense of rotation about each axis, (n,): 1, -1, or 0 without a torque."""
    layout, matrix = group.layout, group.matrix
    if matrix.shape[1] != len(layout.position):
        return np.zeros(len(layout.position))
    torque = matrix[3:].T - np.cross(layout.position, matrix[:3].T)
    along = np.sum(torque * layout.axis, axis=1)
    # The torque on the body is the reaction to the rotation.
    return np.asarray(-np.sign(np.where(np.abs(along) > _SMALL, along, 0.0)))


def _number_points(axis: Any, robot: RobotLayout, plane: list[int], near: float) -> None:
    """Write the numbers of actuators beside their points, those of near ones together."""
    points = _points(robot)[:, plane]
    waiting = list(range(len(points)))
    while waiting:
        first = points[waiting[0]]
        alike = [i for i in waiting if np.linalg.norm(points[i] - first) <= near]
        waiting = [i for i in waiting if i not in alike]
        few = ', '.join(str(i + 1) for i in alike[:_FEW]) + ', ...' * (len(alike) > _FEW)
        # Beside the rightmost, so that no arrow of the others crosses it.
        beside = points[alike][:, 0].max(), first[1]
        axis.annotate(few, beside, (8, 8), textcoords='offset points', fontsize=8)


def _list_names(axis: Any, robot: RobotLayout) -> None:
    """List numbers and names, above the legend."""
    axis.axis('off')
    names = [name for group in robot.groups for name in group.layout.names]
    lines = [f'{i + 1}  {name}' for i, name in enumerate(names[:_LISTED])]
    lines += ['...'] * (len(names) > _LISTED)
    lines += ['', 'grey: shapes of the links'] * bool(robot.shapes)
    lines += ['', '\u2299 pushes towards you', '\u2297 pushes away from you']
    if any(np.any(_turns(group)) for group in robot.groups):
        lines.append('\u21ba \u21bb the way each turns')
    axis.text(0.0, 1.0, '\n'.join(lines), va='top', fontsize=8, transform=axis.transAxes)
    handles, labels = axis.figure.axes[0].get_legend_handles_labels()
    axis.legend(handles, labels, loc='lower left', fontsize=8, frameon=False, borderpad=0.0)


def _points(robot: RobotLayout) -> FloatArray:
    """Return the positions of all actuators [m], (n, 3)."""
    return np.vstack([np.zeros((0, 3)), *(group.layout.position for group in robot.groups)])


def _size(robot: RobotLayout) -> float:
    """Return the largest extent of actuators, origin and centre of mass [m], or 1."""
    whole = np.vstack([_points(robot), np.zeros(3), robot.body.com])
    return float(np.ptp(whole, axis=0).max()) or 1.0
