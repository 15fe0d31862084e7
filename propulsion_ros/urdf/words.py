# SPDX-License-Identifier: Apache-2.0
"""Finds misspelt tags and attributes of URDF, which its parsers ignore without an error."""
from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from xml.etree.ElementTree import Element

from propulsion_ros.settings.flat import meant, nearest
from propulsion_ros.urdf.xml import steps_of

_OF_SHAPES = 'name origin geometry material'
_KNOWN = {tag: words.split() for tag, words in {
    'robot': 'name version link joint material gazebo transmission sensor',
    'link': 'name type inertial visual collision',
    'inertial': 'origin mass inertia', 'mass': 'value', 'inertia': 'ixx ixy ixz iyy iyz izz',
    'visual': _OF_SHAPES, 'collision': _OF_SHAPES, 'origin': 'xyz rpy quat_xyzw',
    'geometry': 'box cylinder sphere capsule mesh', 'box': 'size', 'cylinder': 'radius length',
    'sphere': 'radius', 'joint':
    'name type origin parent child axis limit dynamics mimic calibration safety_controller',
    'parent': 'link', 'child': 'link', 'axis': 'xyz', 'limit': 'lower upper effort velocity',
    'mimic': 'joint multiplier offset',
}.items()}
"""Attributes and children of an element, as urdfdom reads them."""
_OTHERWISE = {'pose': 'origin', 'position': 'xyz', 'rotation': 'rpy', 'orientation': 'rpy'}
"""Names in other formats, with the name in URDF."""
_MOST = 1000
"""Most attributes of an element that are checked."""


def misspelt(element: Element, path: str) -> Iterator[tuple[str, str]]:
    """Yield the XML path of each tag and attribute that is almost one of URDF, with a warning."""
    known = _KNOWN.get(element.tag, [])
    children = list(element) if known else []
    for key, step, child in (
        *((key, f'@{key}', None) for key in islice(element.keys(), _MOST)),
        *((each.tag, step, each) for step, each in zip(steps_of(children), children, strict=True)),
    ):
        other = _OTHERWISE.get(key, '')
        near = '' if key in known else nearest(key, known) or (other if other in known else '')
        homes = [tag for tag, words in _KNOWN.items() if key in words and child is not None]
        if near:
            yield f'{path}/{step}', f'has no effect: unknown in URDF{meant(near)}'
        elif key in known and child is not None:
            yield from misspelt(child, f'{path}/{step}')
        elif homes and known:
            yield f'{path}/{step}', f'has no effect here: URDF has it in <{homes[0]}>'
