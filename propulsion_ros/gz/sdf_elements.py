# SPDX-License-Identifier: Apache-2.0
"""Elements of SDF in a robot description: gz-sim's systems, and effects on the simulated body."""
from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, SubElement

import numpy as np

from propulsion_ros.graph.share import located
from propulsion_ros.models.body.rigid_body import Air, BodyParams
from propulsion_ros.models.common.atmosphere import density
from propulsion_ros.settings.flat import build
from propulsion_ros.settings.quantity import FloatArray
from propulsion_ros.settings.yaml_file import settings_of
from propulsion_ros.urdf.link_tree import LinkTree, origin_of
from propulsion_ros.urdf.xml import numbers


def plugin(library: str, name: str, **tags: Any) -> Element:
    """Return the element of a system with one child for each tag.

    ``library`` is without 'gz-sim-' and '-system', such as 'thruster'.
    """
    element = Element(
        'plugin', filename=f'gz-sim-{library}-system', name=f'gz::sim::systems::{name}'
    )
    for tag, value in tags.items():
        SubElement(element, tag).text = str(value)
    return element


def system_plugin(
    model: str | Path, params_files: Sequence[str | Path] = (), namespace: str = ''
) -> Element:
    """Return the element of `propulsion_ros.gz.system`.

    The system reads ``model``, a .urdf or .xacro file, or its ``package://`` address.
    """
    element = plugin(
        'python-system-loader', 'PythonSystemLoader',
        module_name='propulsion_ros.gz.system', urdf_file=located(model).resolve(),
    )
    for path in params_files:
        SubElement(element, 'params_file').text = str(located(path).resolve())
    if namespace:
        SubElement(element, 'namespace').text = namespace
    return element


def insert(root: Element, element: Element, link: str = '') -> None:
    """Add an element of SDF to the model of a description, or to one of its links."""
    attributes = {'reference': link} if link else {}
    SubElement(root, 'gazebo', attributes).append(element)


def read_body(params_files: Sequence[str | Path], namespace: str = '') -> BodyParams:
    """Return the simulated body of parameter files, as the node ``vehicle`` would have it.

    Raises `ConfigError` for any fault.
    """
    return build(BodyParams, settings_of(params_files, 'vehicle', namespace), 'body.')


def add_body(root: Element, tree: LinkTree, base_link: str, params: BodyParams) -> list[str]:
    """Add drag and collision shapes to a description; return a line for each feature left out.

    The description is changed; ``base_link`` is the frame of the settings.
    """
    _add_shapes(root, base_link, params)
    notes = ['no launch rail: body.rail_length'] if params.rail_length else []
    if params.hulls.names:
        notes.append('no buoyancy of body.hulls, and drag as under water')
    coefficients = drag_coefficients(params)
    if not coefficients:
        return notes
    if base_link != tree.root:
        return [*notes, f'no drag: base_link {base_link!r} is not the root link {tree.root!r}']
    if params.drag_over_mach:
        notes.append('drag as at rest, at any speed: body.drag_over_mach')
    system = plugin('hydrodynamics', 'Hydrodynamics', link_name=base_link)
    for tag, value in coefficients.items():
        SubElement(system, tag).text = repr(value)
    insert(root, system)
    return notes


def drag_coefficients(params: BodyParams) -> dict[str, float]:
    """Return drag and damping for gz-sim's Hydrodynamics, without zeros.

    The name of a coefficient is that of the force or torque (x y z k m n) and the velocity that it
    opposes (U V W P Q R); a quadratic one has 'abs' and that velocity again. gz-sim's drag depends
    on the speed along each axis, that of the simulated body on the total speed; they agree for
    motion along an axis.
    """
    rho = params.fluid_density or float(
        density(params.site_altitude, params.temperature_offset)
    )
    areas = Air(0.0, params.drag_over_mach).factor(0.0) * params.drag_area
    found: dict[str, float] = {}
    turning = zip(('kP', 'mQ', 'nR'), params.angular_drag, params.angular_damping, strict=True)
    for axis, velocity, area, (own, drag, damping) in zip(
        np.eye(3), 'UVW', areas, turning, strict=True
    ):
        force = -0.5 * rho * area * axis
        torque: FloatArray = np.cross(params.centre_of_pressure, force)
        wrench = np.concatenate((force, torque))
        for letter, value in zip('xyzkmn', wrench.tolist(), strict=True):
            if value:
                found[f'{letter}{velocity}abs{velocity}'] = value
        if drag:
            found[f'{own}abs{own[1]}'] = -rho * float(drag)
        if damping:
            found[own] = -float(damping)
    return found


def clearance(root: Element, tree: LinkTree, base_link: str) -> float:
    """Return the height of base_link above the lowest point of the collision shapes [m].

    It is at least 0; meshes, whose size is not in a description, count as points.
    """
    lowest = 0.0
    for link in root.findall('link'):
        for shape in link.findall('collision'):
            origin = origin_of(shape, 'robot/link/collision')
            place = tree.pose(link.get('name', ''), base_link) @ origin
            lowest = min(lowest, float(place.position[2]) - _reach(shape, place.rotation[2]))
    return -lowest


def _reach(shape: Element, down: FloatArray) -> float:
    """Return the reach of a shape from its middle along a direction, in its own axes [m]."""
    found = shape.find('geometry')
    for solid in () if found is None else found:
        path = f'robot/link/collision/geometry/{solid.tag}'
        if solid.tag == 'box':
            size = numbers(solid.get('size', ''), f'{path}/@size', 3)
            return 0.5 * float(np.abs(down) @ np.array(size))
        if solid.tag in ('cylinder', 'sphere'):
            radius = numbers(solid.get('radius', ''), f'{path}/@radius', 1)[0]
            if solid.tag == 'sphere':
                return radius
            length = numbers(solid.get('length', ''), f'{path}/@length', 1)[0]
            return radius * math.hypot(*down[:2].tolist()) + 0.5 * length * abs(float(down[2]))
    return 0.0


def _add_shapes(root: Element, base_link: str, params: BodyParams) -> None:
    """Add collision shapes to a robot without any: its visual ones, or its displaced volume.

    The buoyancy in gz-sim is that of the volume of the collision shapes.
    """
    if root.find('link/collision') is not None:
        return
    if params.displaced_volume:
        link = root.find(f"link[@name='{base_link}']")
        if link is None:
            return
        collision = SubElement(link, 'collision')
        SubElement(collision, 'origin', xyz=' '.join(
            map(repr, params.centre_of_buoyancy.tolist())
        ))
        edge = repr(params.displaced_volume ** (1.0 / 3.0))
        SubElement(SubElement(collision, 'geometry'), 'box', size=f'{edge} {edge} {edge}')
        return
    for link in root.findall('link'):
        for visual in link.findall('visual'):
            collision = SubElement(link, 'collision')
            collision.extend(copy.deepcopy(
                [child for child in visual if child.tag in ('origin', 'geometry')]
            ))
