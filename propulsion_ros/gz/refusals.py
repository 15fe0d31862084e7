# SPDX-License-Identifier: Apache-2.0
"""What Gazebo's reader of URDF refuses, found before it does so without a name."""
from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree.ElementTree import Element

import numpy as np

from propulsion_ros.gz.joint_drives import rigid_root
from propulsion_ros.models.body.mass import MassProperties
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.urdf.link_tree import LinkTree
from propulsion_ros.urdf.xml import path_step

_RESERVED = re.compile(r'__.*__|world')
_LIMITED = ('revolute', 'prismatic')
_BOUNDS = ('effort', 'velocity')
_INERTIAL = (
    '<inertial><mass value="..."/><inertia ixx="..." iyy="..." izz="..." ixy="0" ixz="0" '
    'iyz="0"/></inertial>'
)


def refusals(root: Element) -> Iterator[SourceError]:
    """Yield what libsdformat refuses of a robot description, by XML path and with a remedy.

    Parameters
    ----------
    root : Element
        The description as Gazebo gets it.
    """
    tree = LinkTree(root)
    yield from _of_names(root, tree)
    yield from _of_joints(root)
    masses: dict[str, list[MassProperties]] = {}
    massive = [each for each in root.findall('link') if each.find('inertial') is not None]
    for link, (_, mass) in zip(massive, tree.inertials(tree.root), strict=True):
        masses.setdefault(rigid_root(tree, link.get('name', '')), []).append(mass)
    for name in {tree.root: None, **masses}:
        path, total = f'robot/{path_step("link", name)}', MassProperties.total(masses.get(name, []))
        if total.mass <= 0.0 and name == tree.root:
            yield SourceError(path, (
                'neither it nor a link that is fixed to it has a mass, and Gazebo refuses such a '
                f'robot; write {_INERTIAL}'
            ))
        moments = np.linalg.eigvalsh(total.inertia).tolist()
        if moments[0] + moments[1] < moments[2] * (1.0 - 1e-9):
            shown = ', '.join(f'{moment:.4g}' for moment in moments)
            yield SourceError(f'{path}/inertial', (
                f'its principal moments, with all that is fixed to it, are {shown} kg m^2: Gazebo '
                'refuses a largest one above the sum of the others, which no body has; correct '
                '<inertia>'
            ))


def _of_names(root: Element, tree: LinkTree) -> Iterator[SourceError]:
    for element in (root, *root.findall('link'), *root.findall('joint')):
        name = element.get('name', '')
        is_world = name == 'world' and element.tag == 'link' and name == tree.root
        if _RESERVED.fullmatch(name) and not is_world:
            path = f'robot/{path_step(element.tag, name)}' if element is not root else 'robot/@name'
            yield SourceError(path, f'Gazebo keeps the name {name!r} for itself, rename it')
    links = {link.get('name') for link in root.findall('link')}
    for joint in root.findall('joint'):
        if joint.get('type') != 'fixed' and joint.get('name') in links:
            yield SourceError(f'robot/{path_step("joint", joint.get("name"))}', (
                'Gazebo refuses a joint that has the name of a link, rename one'
            ))


def _of_joints(root: Element) -> Iterator[SourceError]:
    for joint in root.findall('joint'):
        path, kind, limit = (
            f'robot/{path_step("joint", joint.get("name"))}', joint.get('type'), joint.find('limit')
        )
        if kind == 'planar':
            yield SourceError(f'{path}/@type', 'Gazebo has no planar joints; expected another type')
        missing = [key for key in _BOUNDS if limit is None or limit.get(key) is None]
        if kind in _LIMITED and missing:
            yield SourceError(f'{path}/limit', (
                f'Gazebo refuses a {kind} joint without {" and ".join(missing)} in its <limit>; '
                'write <limit lower="..." upper="..." effort="..." velocity="..."/>'
            ))
