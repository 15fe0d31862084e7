# SPDX-License-Identifier: Apache-2.0
"""Elements of SDF in a robot description: gz-sim's systems."""
from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, SubElement

from propulsion_ros.graph.share import located


def plugin(library: str, name: str, **tags: Any) -> Element:
    """Return the element of a system with one child for each tag.

    Parameters
    ----------
    library : str
        Its library without 'gz-sim-' and '-system', such as 'thruster'.
    name : str
        Its class.
    **tags
        Text of each child.
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

    Parameters
    ----------
    model : str or Path
        Robot description that it reads, .urdf or .xacro, or its ``package://`` address.
    params_files : sequence of str or Path
        Settings of its nodes.
    namespace : str
        Of its nodes.
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
