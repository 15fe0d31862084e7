# SPDX-License-Identifier: Apache-2.0
"""A short loop of a flight as a GIF, drawn without a browser and a graphics card."""
from __future__ import annotations

import base64
import io
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

from propulsion_ros.models.common.rotation import matrix_of
from propulsion_ros.settings.quantity import FloatArray

matplotlib.use('Agg')

import matplotlib.pyplot as plt
from matplotlib.collections import LineCollection, PolyCollection
from PIL import Image

from propulsion_ros.drawing.figure import Page, Panel
from propulsion_ros.pictures.picture import draw_panel
from propulsion_ros.settings.files import opened_to_write, writing

PICTURES = 80
"""Number of pictures of a loop."""
_INTERVAL = 90  # time between two pictures [ms]
_INCHES, _DOTS = (7.2, 3.8), 100  # size of a picture [in], and its resolution [1/in]
_SCENE = (0.0, 0.0, 0.56, 0.93)  # left, bottom, width and height of the robot in the picture
_COLOURS = 96  # in the palette
_CAMERA = np.array([0.9, -1.0, 0.5])  # direction from the robot to the camera
_LIGHT = np.array([0.35, -0.55, 0.75])  # direction from the robot to the light
_REACH = 1.25  # half the height of the picture over the size of the robot
_EDGE = 0.995  # right end of the names beside plots, over the width of the picture
_SEEN = 3  # most plots beside the robot

Faces = list[tuple[FloatArray, FloatArray]]
"""Corners (k, 3) and colour (4,) of each face."""


def write_gif(path: Path, data: Mapping[str, Any], page: Page) -> None:
    """Write the loop of a page for the browser, with panels of a page from its beginning on.

    Raises `SourceError` if it cannot be written.
    """
    with plt.style.context(['default', {'text.parse_math': False, 'font.size': 8}]):
        pictures = list(_Loop(data, page).pictures())
    # One palette for all, so that still parts are the same in every picture.
    samples = pictures[:: max(len(pictures) // 6, 1)]
    whole = Image.new('RGB', (samples[0].width, samples[0].height * len(samples)))
    for i, sample in enumerate(samples):
        whole.paste(sample, (0, i * sample.height))
    palette = whole.quantize(_COLOURS)
    frames = [each.quantize(palette=palette, dither=Image.Dither.NONE) for each in pictures]
    content = io.BytesIO()
    frames[0].save(
        content, 'GIF', save_all=True, append_images=frames[1:], duration=_INTERVAL, loop=0,
        optimize=False,
    )
    with writing(path), opened_to_write(path) as file:
        file.write(content.getvalue())


def chosen_frames(data: Mapping[str, Any], first: float) -> list[int]:
    """Return the frames from a time on that are drawn: each phase of a flight has an equal share.

    ``first`` is the time at which motion begins [s], ``data`` that of a page for the browser.
    """
    begin, end, step = data['begin'], data['end'], data['step']
    edges = [first, end]
    if data['phases']:
        moments = [time for time, _ in data['events']] + [span[0] for span in data['phases']]
        first = min([time for time, _ in data['events']], default=begin) - 0.5
        inner = sorted(time for time in moments if first < time < end)
        edges = [max(first, begin), *(t for k, t in enumerate(inner)
                                      if k == 0 or t - inner[k - 1] > 0.02 * (end - begin)), end]
    shares = np.linspace(0.0, len(edges) - 1.0, PICTURES)
    times = np.interp(shares, np.arange(len(edges)), edges)
    rows = np.floor((times - begin) / step + 1e-6).astype(int)
    return [int(row) for row in np.clip(rows, 0, data['count'] - 1)]


class _Loop:
    """Draws the pictures of a loop into one figure."""

    def __init__(self, data: Mapping[str, Any], page: Page) -> None:
        self._page = replace(page, phases=(), marks=(), end=data['end'])
        self._data, self._size = data, float(data['robot']['size'])
        robot = data['robot']
        self._shapes = [
            (shape['frame'], np.array(shape['colour'], float),
             polygons_of(shape, robot['meshes'])) for shape in robot['shapes']
        ]
        forward = -_CAMERA / np.linalg.norm(_CAMERA)
        right = np.cross(forward, [0.0, 0.0, 1.0])
        right /= np.linalg.norm(right)
        self._view = np.array([right, np.cross(right, forward), forward])
        self._path = np.array(data['motion']['position'], float).reshape(-1, 3)
        self._turns = np.array(data['motion']['quaternion'], float).reshape(-1, 4)
        self._climbs = float(np.ptp(self._path[:, 2])) > self._size
        low = float(self._path[:, 2].min())
        self._floor = low - 0.8 * self._size if low < -0.05 * self._size else 0.0

    def pictures(self) -> Iterator[Image.Image]:
        """Yield each picture."""
        shown = (*self._page.above[:1], *self._page.panels)
        panels = [_beside_robot(panel) for panel in shown[:_SEEN]]
        figure: Any = plt.figure(figsize=_INCHES, dpi=_DOTS)
        try:
            scene = figure.add_axes(_SCENE)
            height = 0.9 / max(len(panels), 1)
            cursors = [
                self._plot(figure.add_axes((0.61, 0.1 + i * height, 0.27, height - 0.12)), panel)
                for i, panel in enumerate(reversed(panels))
            ]
            cursors[0].axes.set_xlabel('time [s]', fontsize=7, labelpad=1)
            # A second line would lie behind the plots.
            title = self._data['title'].partition('\n')[0]
            figure.text(0.5, 0.985, title, fontsize=9, ha='center', va='top')
            scene.set_visible(False)
            figure.canvas.draw()
            _make_room([cursor.axes for cursor in cursors])
            figure.canvas.draw()
            # The plots are drawn once, the robot and the cursors for each picture.
            behind = figure.canvas.copy_from_bbox(figure.bbox)
            scene.set_visible(True)
            for i in chosen_frames(self._data, self._page.begin):
                figure.canvas.restore_region(behind)
                self._draw(scene, i)
                figure.draw_artist(scene)
                for cursor in cursors:
                    cursor.set_xdata([self._time(i)] * 2)
                    cursor.axes.draw_artist(cursor)
                yield Image.fromarray(np.asarray(figure.canvas.buffer_rgba())).convert('RGB')
        finally:
            plt.close(figure)

    def _time(self, i: int) -> float:
        return float(self._data['begin'] + i * self._data['step'])

    def _plot(self, axis: Any, panel: Panel) -> Any:
        draw_panel(axis, self._page, panel, has_names=False)
        axis.set_title(panel.heading, loc='left', fontsize=8)
        axis.set(xlabel='', ylabel='')
        axis.tick_params(labelsize=7)
        return axis.axvline(self._data['begin'], color='#e0218a', linewidth=1.4, animated=True)

    # The robot.

    def _draw(self, axis: Any, i: int) -> None:
        axis.clear()
        axis.set_facecolor('#dce8f3')
        axis.set(xticks=[], yticks=[])
        data = self._data
        turn, at = matrix_of(_row(self._turns, i)), _row(self._path, i)
        centre = turn @ np.array(data['robot']['centre'], float) + at
        reach = _REACH * self._size
        if data['canopies']:
            # Leave room for parachutes above the robot.
            reach, centre = 1.3 * reach, centre + np.array([0.0, 0.0, 0.35 * self._size])

        def flat(points: FloatArray) -> Any:
            return (points - centre) @ self._view.T

        self._draw_ground(axis, flat, centre, reach)
        path = flat(self._path[: i + 1] if len(self._path) > 1 else self._path)
        axis.plot(path[:, 0], path[:, 1], color='#1f5fbf', linewidth=1.0)
        hull, glow, lines = self._faces(i, turn, at)
        for faces, is_lit in ((hull, True), (glow, False)):
            self._draw_faces(axis, flat, faces, is_lit)
        if lines:
            axis.add_collection(LineCollection(
                [flat(line)[:, :2] for line in lines], colors='#39424d', linewidths=0.6))
        wide = reach * _INCHES[0] * _SCENE[2] / (_INCHES[1] * _SCENE[3])
        axis.set_xlim(-wide, wide)
        axis.set_ylim(-reach, reach)
        phase = next((n for b, e, n in data['phases'] if b <= self._time(i) <= e), '')
        text = [f'{self._time(i):.1f} s', phase, f'height {at[2]:.1f} m' if self._climbs else '']
        axis.text(0.02, 0.97, '\n'.join(filter(None, text)), transform=axis.transAxes, va='top',
                  fontsize=10, color='#1d2733')

    def _faces(
        self, i: int, turn: FloatArray, at: FloatArray
    ) -> tuple[Faces, Faces, list[FloatArray]]:
        """Return the faces of the robot, those of arrows, plumes and canopies, and lines."""
        frames = self._frames(i, turn, at)
        hull: Faces = [
            (face @ frames[frame][0].T + frames[frame][1], colour)
            for frame, colour, faces in self._shapes for face in faces
        ]
        glow: Faces = []
        for each in self._data['arrows']:
            length = _at(each['length'], i)
            if length <= 0.01 * self._size:
                continue
            origin = turn @ np.array([_at(part, i) for part in each['origin']]) + at
            along = turn @ np.array([_at(part, i) for part in each['direction']])
            shade = _rgba(self._data['palette'][round(_at(each['shade'], i))], 0.95)
            if each['plume']:
                solid = plume(origin, -along, length, each['flame'])
                glow += [(face, _rgba(each['plume'], 0.35)) for face in solid]
            glow += [(face, shade) for face in arrow(origin, along, length, each['shaft'])]
        lines = self._draw_canopies(i, turn, at, hull)
        return hull, glow, lines

    def _draw_canopies(
        self, i: int, turn: FloatArray, at: FloatArray, hull: Faces
    ) -> list[FloatArray]:
        before, after = _row(self._path, i - 1), _row(self._path, i + 1)
        up = before - after
        if float(np.linalg.norm(up)) < 0.3 * self._data['step']:
            up = np.array([0.0, 0.0, 1.0])
        lines: list[FloatArray] = []
        up = up / float(np.linalg.norm(up))
        stretch = 0.0
        for each in self._data['canopies']:
            radius = _at(each['radius'], i)
            if radius < 1e-3:
                continue
            # Limited to what fits the picture: a parachute is larger than the robot under it.
            radius = min(radius, 0.25 * self._size)
            tie = turn @ np.array(each['attachment'], float) + at
            faces = [face + stretch * up for face in canopy(tie, up, radius)]
            # Several parachutes are drawn above each other.
            stretch += 1.6 * radius
            hull += [
                (face, _rgba('#ee5a22' if k % 4 < 2 else '#faf8f0', 1.0))
                for k, face in enumerate(faces)
            ]
            lines += [np.array([tie, face[0]]) for face in faces[:16:2]]
        return lines

    def _frames(
        self, i: int, turn: FloatArray, at: FloatArray
    ) -> list[tuple[FloatArray, FloatArray]]:
        found = [(turn, at)]
        for row in self._data['robot']['frames'][1:]:
            above, origin = found[row['parent']]
            rest, place = matrix_of(row['quaternion']), np.array(row['position'], float)
            value, axis = _at(self._data['joints'][row['joint']], i), np.array(row['axis'], float)
            if row['turns']:
                half = 0.5 * value
                rest = rest @ matrix_of([*(np.sin(half) * axis), np.cos(half)])
            else:
                place = place + rest @ axis * value
            found.append((above @ rest, above @ place + origin))
        return found

    def _draw_faces(self, axis: Any, flat: Any, faces: Faces, is_lit: bool) -> None:
        drawn = [(flat(face), self._shaded(face, colour) if is_lit else colour)
                 for face, colour in faces]
        # The farthest faces are drawn first.
        drawn.sort(key=lambda each: -float(each[0][:, 2].mean()))
        axis.add_collection(PolyCollection(
            [face[:, :2] for face, _ in drawn], facecolors=[colour for _, colour in drawn],
            edgecolors=[(*(0.55 * colour[:3]), 0.5) if is_lit else (0.0, 0.0, 0.0, 0.0)
                        for _, colour in drawn],
            linewidths=0.3, zorder=3.0 if is_lit else 4.0,
        ))

    def _shaded(self, face: FloatArray, colour: FloatArray) -> FloatArray:
        normal = np.cross(face[1] - face[0], face[2] - face[0])
        length = float(np.linalg.norm(normal))
        lit = abs(float(normal @ _LIGHT)) / length if length else 1.0
        return np.array([*(colour[:3] * (0.65 + 0.35 * min(lit, 1.0))), colour[3]])

    def _draw_ground(self, axis: Any, flat: Any, centre: FloatArray, reach: float) -> None:
        # The ground is not visible from far above.
        if centre[2] - self._floor > 6.0 * reach:
            return
        cell = 0.5 * reach
        across = cell * np.arange(-12, 13)
        middle = cell * np.round(centre / cell)
        ends = across[[0, -1]]
        lines = []
        for value in across:
            for x, y in (([value] * 2, ends), (ends, [value] * 2)):
                line = np.column_stack([x + middle[0], y + middle[1], [self._floor] * 2])
                lines.append(flat(line)[:, :2])
        axis.add_collection(LineCollection(lines, colors='#b3bfcc', linewidths=0.6, zorder=0.5))


def _beside_robot(panel: Panel) -> Panel:
    """Return a panel reduced to a short heading and its series."""
    return replace(
        panel, heading=panel.scale or panel.heading, scale='', traces=panel.series, bands=(),
        events=(), legend='',
    )


def _make_room(plots: Sequence[Any]) -> None:
    """Narrow the plots if a name beside one would leave the picture."""
    whole = _INCHES[0] * _DOTS
    over = max(each.get_tightbbox().x1 for each in plots) / whole - _EDGE
    for each in plots if over > 0.0 else ():
        left, low, right, high = each.get_position().extents
        each.set_position((left, low, right - left - over, high - low))


def _row(rows: FloatArray, i: int) -> FloatArray:
    row: FloatArray = rows[min(max(i, 0), len(rows) - 1)]
    return row


def _at(column: Sequence[float], i: int) -> float:
    return column[0] if len(column) == 1 else column[min(i, len(column) - 1)]


def _rgba(text: str, opacity: float) -> FloatArray:
    return np.array([*(int(text[k:k + 2], 16) / 255.0 for k in (1, 3, 5)), opacity])


SIDES = 20
"""Number of sides of a cylinder."""
_FEW = 3000  # triangles of a mesh above which its box is drawn instead


def polygons_of(shape: Mapping[str, Any], meshes: Sequence[Mapping[str, str]]) -> list[FloatArray]:
    """Return the faces of a shape in its frame, each (k, 3)."""
    size = np.array(shape['size'], float)
    faces = _KINDS[shape['kind']](size) if shape['kind'] in _KINDS else (
        _mesh(size, meshes[shape['mesh']]))
    turn, at = matrix_of(shape['quaternion']), np.array(shape['position'], float)
    return [face @ turn.T + at for face in faces]


def _box(size: FloatArray) -> list[FloatArray]:
    faces = []
    for axis in range(3):
        for side in (-0.5, 0.5):
            face = np.zeros((4, 3))
            face[:, axis] = side
            face[:, (axis + 1) % 3] = [-0.5, 0.5, 0.5, -0.5]
            face[:, (axis + 2) % 3] = [-0.5, -0.5, 0.5, 0.5]
            faces.append(face * size)
    return faces


def _cylinder(size: FloatArray) -> list[FloatArray]:
    return _turned([(size[0], -0.5 * size[1]), (size[0], 0.5 * size[1])], caps=True)


def _sphere(size: FloatArray) -> list[FloatArray]:
    angles = np.linspace(-0.5 * np.pi, 0.5 * np.pi, 9)
    rows = np.column_stack([np.cos(angles), np.sin(angles)]) * size[0]
    return _turned([(float(r), float(z)) for r, z in rows])


def _turned(profile: Sequence[tuple[float, float]], caps: bool = False) -> list[FloatArray]:
    """Return the faces of a solid of revolution about z, by its profile of radius and height."""
    angles = np.linspace(0.0, 2.0 * np.pi, SIDES + 1)
    rings = [np.column_stack([r * np.cos(angles), r * np.sin(angles), np.full(SIDES + 1, z)])
             for r, z in profile]
    faces = [
        np.array([low[i], low[i + 1], high[i + 1], high[i]])
        for low, high in itertools.pairwise(rings) for i in range(SIDES)
    ]
    return faces + [ring[:-1] for ring in (rings[0], rings[-1])] * caps


def _mesh(scale: FloatArray, packed: Mapping[str, str]) -> list[FloatArray]:
    points = np.frombuffer(base64.b64decode(packed['points']), '<f4').reshape(-1, 3) * scale
    faces = np.frombuffer(base64.b64decode(packed['faces']), '<u4').reshape(-1, 3)
    if len(faces) <= _FEW:
        return list(points[faces])
    low, high = points.min(axis=0), points.max(axis=0)
    return [face + 0.5 * (low + high) for face in _box(high - low)]


_KINDS: dict[str, Callable[[FloatArray], list[FloatArray]]] = {
    'box': _box, 'cylinder': _cylinder, 'sphere': _sphere,
}


def arrow(origin: FloatArray, along: FloatArray, length: float, width: float) -> list[FloatArray]:
    """Return an arrow as a solid."""
    width = min(width, 0.25 * length)
    head = min(3.2 * width, 0.5 * length)
    profile = [(0.5 * width, 0.0), (0.5 * width, length - head), (1.25 * width, length - head),
               (0.0, length)]
    return along_axis(_turned(profile), origin, along)


def plume(origin: FloatArray, along: FloatArray, length: float, flame: bool) -> list[FloatArray]:
    """Return a flame, or a jet that widens, along a direction."""
    profile = [(0.06, 0.0), (0.11, 0.12), (0.09, 0.45), (0.0, 1.0)] if flame else [
        (0.01, 0.0), (0.16, 1.0)]
    return along_axis(_turned([(r * length, z * length) for r, z in profile]), origin, along)


def canopy(origin: FloatArray, up: FloatArray, radius: float) -> list[FloatArray]:
    """Return the dome of a parachute, whose rim is two radii above where its lines are tied."""
    angles = np.linspace(0.0, 0.5 * np.pi, 5)
    profile = [(radius * float(np.cos(a)), radius * (2.0 + float(np.sin(a)))) for a in angles]
    return along_axis(_turned(profile), origin, up)


def along_axis(faces: Sequence[FloatArray], origin: FloatArray, up: FloatArray) -> list[FloatArray]:
    """Return faces with their z along a direction and their origin at a point."""
    up = up / max(float(np.linalg.norm(up)), 1e-12)
    side = np.cross([0.0, 1.0, 0.0] if abs(up[1]) < 0.9 else [1.0, 0.0, 0.0], up)
    side = side / np.linalg.norm(side)
    turn = np.column_stack([side, np.cross(up, side), up])
    return [face @ turn.T + origin for face in faces]
