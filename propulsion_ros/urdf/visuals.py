# SPDX-License-Identifier: Apache-2.0
"""Shapes and colours of the links of a robot description."""
from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from xml.etree.ElementTree import Element

import numpy as np

from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.quantity import FloatArray
from propulsion_ros.urdf.link_tree import Pose, origin_of, tree_of
from propulsion_ros.urdf.xml import name_of, numbers, parse_urdf, path_step, quoted

Colour = tuple[float, float, float, float]
"""Red, green, blue and opacity, 0 to 1."""

PLAIN: Colour = (0.72, 0.74, 0.77, 1.0)
"""Colour of a shape without one."""
_LARGEST = 1e6
_CORNERS = np.array(list(itertools.product((-1.0, 1.0), repeat=3)))
_ANGLES = np.linspace(0.0, 2.0 * np.pi, 36, endpoint=False)
_CIRCLE = np.stack([np.cos(_ANGLES), np.sin(_ANGLES), np.ones(36)], axis=-1)
_SIZES = {'box': ('size', 3), 'cylinder': ('radius length', 1), 'sphere': ('radius', 1)}
"""Attributes of a primitive, and the count of numbers in each."""


@dataclass(frozen=True, eq=False)
class Visual:
    """One shape of a link."""

    link: str
    pose: Pose
    """Pose in the link."""
    kind: str
    """'box', 'cylinder', 'sphere' or 'mesh'."""
    size: tuple[float, ...]
    """Edges of a box, radius and length of a cylinder, radius of a sphere [m]; scale of a mesh."""
    colour: Colour
    path: str
    """XML path in the description."""
    mesh: str = ''
    """File of a mesh, as in the description."""

    @property
    def half_edges(self) -> FloatArray:
        """Half of the edges of the box around the shape [m], (3,)."""
        size = np.array(self.size)
        if self.kind == 'cylinder':
            return np.array([size[0], size[0], 0.5 * size[1]])
        return size.repeat(3) if self.kind == 'sphere' else 0.5 * size

    @property
    def surface(self) -> FloatArray:
        """Points in the link [m], (m, 3), around which the shape is the smallest hull."""
        unit = _CORNERS
        if self.kind == 'cylinder':
            unit = np.vstack([_CIRCLE, -_CIRCLE])
        elif self.kind == 'sphere':
            # Circles of latitude.
            unit = np.vstack([
                _CIRCLE * [np.cos(a), np.cos(a), np.sin(a)] for a in 0.5 * _ANGLES - 0.5 * np.pi
            ])
        return self.pose.at(self.half_edges * unit)


def visuals_of(robot: Element) -> Iterator[Visual]:
    """Yield the shapes of every link; those of collisions if no link has a <visual>.

    Raises `SourceError` for a shape without a geometry, or with a wrong size or colour.
    """
    materials = _materials(robot)
    tag = 'visual' if robot.find('link/visual') is not None else 'collision'
    for link in robot.findall('link'):
        name = name_of(link, 'robot/link')
        for element in link.findall(tag):
            yield _visual(name, element, f'robot/{path_step("link", name)}/{tag}', materials)


def shapes_of_urdf(xml: str, base_link: str) -> dict[str, list[tuple[FloatArray, FloatArray]]]:
    """Return the shapes of links, by the path of their <inertial>.

    Of each the corners of a box around it, (8, 3), and points of its `Visual.surface`, (m, 3), in
    ``base_link``; links with a mesh, or with a shape that is wrong, are left out.
    """
    robot, found = parse_urdf(xml), {}
    tree = tree_of(xml)
    for link in robot.findall('link'):
        name, path = link.get('name', ''), f'robot/{path_step("link", link.get("name"))}'
        try:
            shapes = [_visual(name, shape, path, {}) for tag in ('visual', 'collision')
                      for shape in link.findall(tag)]
        except SourceError:
            # Commands that draw the link report the fault.
            continue
        if shapes and not any(shape.mesh for shape in shapes):
            pose = tree.pose(name, base_link)
            found[f'{path}/inertial'] = [
                (pose.at(shape.pose.at(shape.half_edges * _CORNERS)), pose.at(shape.surface))
                for shape in shapes
            ]
    return found


def _visual(link: str, element: Element, path: str, materials: Mapping[str, Colour]) -> Visual:
    geometry = element.find('geometry')
    shape = next(iter(geometry), None) if geometry is not None else None
    if shape is None or shape.tag not in (*_SIZES, 'mesh'):
        found = 'nothing' if shape is None else quoted(shape.tag)
        raise SourceError(
            f'{path}/geometry', f'expected box, cylinder, sphere or mesh, got {found}'
        )
    pose, colour = origin_of(element, path), _colour(element, path, materials)
    inside = f'{path}/geometry/{shape.tag}'
    if shape.tag == 'mesh':
        file = shape.get('filename', '')
        if not file:
            raise SourceError(f'{inside}/@filename', 'expected a file')
        scale = numbers(shape.get('scale', '1 1 1'), f'{inside}/@scale', 3, _LARGEST)
        return Visual(link, pose, 'mesh', tuple(scale), colour, inside, file)
    keys, count = _SIZES[shape.tag]
    size = [
        value for key in keys.split()
        for value in numbers(shape.get(key), f'{inside}/@{key}', count, _LARGEST)
    ]
    if min(size) <= 0.0:
        raise SourceError(inside, f'expected sizes above 0, got {min(size):g}')
    return Visual(link, pose, shape.tag, tuple(size), colour, inside)


def _materials(robot: Element) -> dict[str, Colour]:
    """Return the materials with a colour; the first of a name counts."""
    found: dict[str, Colour] = {}
    for material in robot.iter('material'):
        name = material.get('name', '')
        if material.find('color') is not None and name not in found:
            found[name] = _rgba(material, path_step('material', name))
    return found


def _colour(element: Element, path: str, materials: Mapping[str, Colour]) -> Colour:
    material = element.find('material')
    if material is None:
        return PLAIN
    if material.find('color') is not None:
        return _rgba(material, f'{path}/material')
    return materials.get(material.get('name', ''), PLAIN)


def _rgba(material: Element, path: str) -> Colour:
    color = material.find('color')
    text = None if color is None else color.get('rgba')
    given = numbers(text, f'{path}/color/@rgba', 4, _LARGEST)
    r, g, b, a = (min(max(value, 0.0), 1.0) for value in given)
    return r, g, b, a
