# SPDX-License-Identifier: Apache-2.0
"""Readers of robot descriptions."""
from __future__ import annotations

import functools
import sys
from collections.abc import Iterator
from xml.etree.ElementTree import Element, SubElement, tostring

import numpy as np
from defusedxml.ElementTree import fromstring

from fuzz.target import REPOSITORY, Target, require, shipped, text_of, written
from fuzz.text_formats import XACRO, XML
from propulsion_ros.drawing.drawn_blocks import drawn_blocks
from propulsion_ros.graph import expand_xacro
from propulsion_ros.graph.family_params import loop_params_of
from propulsion_ros.graph.node_config import build_family
from propulsion_ros.graph.share import read_description
from propulsion_ros.graph.vehicles import VEHICLES
from propulsion_ros.models.common.family import BodyState, Command, Family
from propulsion_ros.urdf.link_tree import LinkTree
from propulsion_ros.urdf.place import NAMES_EXPR, expand
from propulsion_ros.urdf.reader import (
    FILENAME,
    actuators_from_urdf,
    joints_of_urdf,
    mass_from_urdf,
)
from propulsion_ros.urdf.visuals import visuals_of
from propulsion_ros.urdf.xml import SIZE_LIMIT, Tag, parse_urdf

_MOVING = BodyState(velocity=np.ones(3), angular_velocity=np.ones(3))


def _urdf(data: bytes) -> None:
    _read(text_of(data))


def _read(xml: str) -> None:
    """Make every actuator of a description, and let it run a moment."""
    mass_from_urdf(xml)
    joints_of_urdf(xml)
    list(visuals_of(parse_urdf(xml)))
    blocks = actuators_from_urdf(xml, loop_params_of)
    for block in blocks:
        take_step(build_family(block.family, {}, block)[0])
    drawn_blocks(blocks, lambda name: {})


def take_step(family: Family) -> None:
    """Let the actuators of a family run a moment."""
    output = family.step(Command(), _MOVING, 0.01, 0)
    require(bool(np.isfinite(output.wrench).all()), f'{family.actuator_names}: {output.wrench}')


def _xacro(data: bytes) -> None:
    # What the shipped ones include must lie beside.
    written('actuators.xacro', _macros())
    path = written('robot.urdf.xacro', data)
    if 'atheris' in sys.modules:
        # In this process, where the library is instrumented.
        _read(expand_xacro.expand(str(path), SIZE_LIMIT)[1])
    else:
        _read(read_description(path).text)


@functools.cache
def _macros() -> bytes:
    return (REPOSITORY / 'urdf' / 'actuators.xacro').read_bytes()


def _block(data: bytes) -> None:
    _read(outlined(data))


def outlined(data: bytes) -> str:
    """Return the description of an outline, which is well-formed XML whatever it is.

    The first byte picks the robot whose plugin blocks it replaces; each line after it is
    ``depth tag name=text``.
    """
    vehicles = list(VEHICLES)
    robot = fromstring(description(vehicles[data[0] % len(vehicles) if data else 0]))
    for old in robot.findall('gazebo'):
        robot.remove(old)
    path = [SubElement(robot, 'gazebo')]
    for line in text_of(data[1:]).split('\n'):
        head, _, text = line.partition('=')
        depth, tag, name = (*head.split(' '), '', '')[:3]
        del path[1 + min(int(depth) if depth.isdecimal() else 0, len(path) - 1):]
        path.append(SubElement(path[-1], tag if tag.isidentifier() else 'tag'))
        path[-1].text = ''.join(c for c in text if c.isprintable())
        if len(path) == 2:
            path[-1].set('filename', FILENAME)
        if name:
            path[-1].set('name', ''.join(c for c in name if c.isprintable()))
    return str(tostring(robot, encoding='unicode'))


def outlines() -> list[bytes]:
    """Return the plugin blocks of the shipped vehicles as outlines."""
    return [
        bytes([i]) + '\n'.join(_outline(plugin, 0)).encode()
        for i, vehicle in enumerate(VEHICLES)
        for plugin in fromstring(description(vehicle)).iterfind('gazebo/plugin')
        if plugin.get('filename') == FILENAME
    ]


def _outline(element: Element, depth: int) -> Iterator[str]:
    text = (element.text or '').strip()
    yield f'{depth} {element.tag} {element.get("name", "")}={text}'
    for child in element:
        yield from _outline(child, depth + 1)


@functools.cache
def description(vehicle: str) -> str:
    """Return a shipped description as its nodes get it."""
    return read_description(REPOSITORY / 'urdf' / f'{vehicle}.urdf.xacro').text


@functools.cache
def _tree() -> LinkTree:
    return LinkTree(parse_urdf(description('rov')))


def _names_expr(data: bytes) -> None:
    selector = Tag(NAMES_EXPR, text_of(data), 'gazebo/plugin/thruster')
    rows = expand(Tag('thruster', '', 'gazebo/plugin/thruster', children=(selector,)), _tree())
    require(all(row.name for row in rows), 'an actuator has no name')


URDF_WORDS = (
    '<gazebo><plugin filename="propulsion_ros" name="', '<!DOCTYPE', '<!ENTITY', '&#0;',
    'libuuv_thruster_ros_plugin.so', '<names_expr>', 'xyz="', 'nan', '1e308', '-1',
)
OUTLINE_WORDS = (
    'names_expr', 'base_link', 'family', 'integrator', 'thrust_curve', 'gimbal', 'nan', 'inf',
    '1e308', '1e-320', '-1', 'true',
)

TARGETS = (
    Target(
        'urdf', _urdf,
        lambda: [*(description(vehicle).encode() for vehicle in VEHICLES),
                 *shipped('test/data/every_family.urdf') * len(VEHICLES)],
        words=URDF_WORDS, form=XML,
    ),
    Target(
        'plugin_block', _block, outlines,
        words=OUTLINE_WORDS,
    ),
    Target(
        'xacro', _xacro, lambda: shipped('urdf/*.urdf.xacro'),
        words=('${', '$(', 'xacro:macro', 'xacro:include', 'xacro:if', 'xacro:property'),
        form=XACRO,
    ),
    Target(
        'names_expr', _names_expr, lambda: [rb'(?:front|rear)_[^c]{1,9}\w*|\d', b'.*'],
        words=('(?:', r'\d', '[^', '{1,', '|', '*', '+?', ')', r'\x', r'\N{', '(?P<'),
    ),
)
