# SPDX-License-Identifier: Apache-2.0
"""The shapes of a scene as flat polygons, for a picture without a graphics card."""
from __future__ import annotations

import base64
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from propulsion_ros.models.common.rotation import matrix_of
from propulsion_ros.settings.quantity import FloatArray

SIDES = 20
"""Of a cylinder."""
_FEW = 3000
"""Triangles of a mesh beyond which its box is drawn."""


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
    """Return what a profile of radius and height makes that turns about z."""
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
