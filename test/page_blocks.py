# SPDX-License-Identifier: Apache-2.0
"""The blocks of a page that are no commands: descriptions, parameter files, programs."""
from __future__ import annotations

import contextlib
import io
import re
import tempfile
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement, tostring

import json5
import yaml
from defusedxml.ElementTree import ParseError, fromstring

from page_graphs import PageError
from policy_form import read_policy
from propulsion_ros.graph.family_params import loop_params_of
from propulsion_ros.graph.node_config import build_family
from propulsion_ros.graph.share import share_directory
from propulsion_ros.graph.vehicles import VEHICLES
from propulsion_ros.gz.sdf_elements import system_plugin
from propulsion_ros.models.registry import FAMILIES
from propulsion_ros.rml.config import read_flight_config
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.study.study import read_study
from propulsion_ros.tools.check import check_file
from propulsion_ros.urdf.reader import actuators_from_urdf

LANGUAGES = ('', 'csv', 'diff', 'json', 'jsonc', 'python', 'sh', 'text', 'xml', 'yaml')
"""Languages that a fence may have; each but the plain ones is checked."""

FOREIGN_YAML = {
    'booster_params': 'a model of PyFlyt; test_from_other_simulators.py turns it into ours',
}
"""First keys of YAML that is no parameter file, and what it is."""

_JOINTS = ('joint', 'jointName', 'joint_name')
_LINKS = ('link', 'linkName', 'link_name')


def check_block(block, run):
    """Raise `PageError` where a block is not what its fence says.

    Parameters
    ----------
    block : Block
        The block.
    run : dict
        Names that the programs of the page have made so far.
    """
    if block.language not in LANGUAGES:
        raise PageError(f'a fence may be one of {", ".join(LANGUAGES)}, not {block.language!r}')
    if block.language == 'xml' and block.text.lstrip().startswith('<policy'):
        read_policy(block.text)
    elif block.language == 'xml':
        _check_xml(block.text)
    elif block.language == 'yaml':
        _check_yaml(block.text)
    elif block.language in ('json', 'jsonc'):
        _check_json(block.text)
    elif block.language == 'python' and not block.file:
        _run(block, run)


def _check_json(text):
    document = json5.loads(text)
    if any(key[:1].isupper() for key in document):
        try:
            read_flight_config(text)
        except ConfigError as error:
            raise PageError(str(error)) from None


def _run(block, names):
    """Run a program; what it prints must be what the page shows."""
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said):
            exec(compile(block.text, block.place, 'exec'), names)  # noqa: S102  our own page
    except Exception as error:
        raise PageError(f'{type(error).__name__}: {error}') from error
    if block.shows is not None and said.getvalue() != block.shows:
        raise PageError(f'prints\n{said.getvalue()}')


def _check_study(text):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / 'study.yaml'
        path.write_text(text, encoding='utf-8')
        try:
            read_study(path)
        except ConfigError as error:
            raise PageError(str(error)) from None


def _check_yaml(text):
    document = yaml.safe_load(text)
    if 'kind' in document:
        _check_study(text)
        return
    if not isinstance(document, dict):
        raise PageError(f'expected keys, got {document!r}')
    if next(iter(document)) in FOREIGN_YAML:
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / 'page.yaml'
        path.write_text(text, encoding='utf-8')
        models = [None, *(share_directory() / 'urdf' / f'{name}.urdf.xacro' for name in VEHICLES)]
        # A page that speaks of one robot need not repeat what its description says.
        said = []
        for model in models:
            faults = check_file(path, model).faults
            if not faults:
                return
            said += [fault.removeprefix(f'{path}: ') for fault in faults]
    # Of a robot without the node, or without what places it, another fault is not known.
    raise PageError(min(said, key=lambda each: 'is required' in each or 'not a node' in each))


def _check_xml(text):
    """Read every plugin block; what a piece of a description leaves out is put around it."""
    if text.lstrip().startswith('<plugin filename="gz-sim'):
        text = _blocks_of_system(fromstring(text))
    if text.lstrip().startswith(('<ros2_control', '<steering')):
        # test_ros2_control.py compares it with the quadrotor, test_urdf_doc.py reads it.
        fromstring(text)
        return
    for xml in _robots(text):
        try:
            blocks = actuators_from_urdf(xml, loop_params_of)
            if not blocks:
                raise PageError('no plugin block of actuators')
            for block in blocks:
                build_family(block.family, {}, block)
        except ConfigError as error:
            raise PageError(str(error)) from None


def _blocks_of_system(plugin):
    """Return the blocks in a plugin for Gazebo, which is compared with the one that is written."""
    ours = system_plugin('model')
    if (plugin.attrib, plugin[0].text) != (ours.attrib, ours[0].text):
        raise PageError(f'expected {tostring(ours, "unicode")}')
    blocks = plugin.findall('actuators')
    for block in blocks:
        block.tag = 'plugin'
        block.set('filename', 'propulsion_ros')
    return ''.join(tostring(block, 'unicode') for block in blocks)


def _robots(text):
    """Return the whole descriptions that a piece of XML stands for."""
    try:
        root = fromstring(f'<page>{re.sub(r"<[?]xml[^>]*[?]>", "", text)}</page>')
    except ParseError as error:
        raise PageError(f'is not XML: {error}') from None
    if root[0].tag == 'robot':
        return [tostring(robot, 'unicode') for robot in root]
    robot = Element('robot', name='page')
    if root[0].tag in ('gazebo', 'link', 'joint'):
        robot.extend(root)
    elif root[0].tag == 'plugin':
        SubElement(robot, 'gazebo').extend(root)
    else:
        plugin = SubElement(SubElement(robot, 'gazebo'), 'plugin', filename='propulsion_ros')
        plugin.set('name', _family_of(root))
        plugin.extend(root)
    _complete(robot)
    return [tostring(robot, 'unicode')]


def _family_of(elements):
    for element in elements:
        if f'{element.tag}s' in FAMILIES:
            return f'{element.tag}s'
    raise PageError(f'<{elements[0].tag}> is no robot, plugin block or actuator')


def _complete(robot):
    """Add the links and joints that a piece of a description speaks of."""
    links = {link.get('name') for link in robot.findall('link')}
    joints = {joint.get('name') for joint in robot.findall('joint')}
    children = {
        child.get('link') for joint in robot.findall('joint') for child in joint.findall('child')
    }
    base = next((tag.text.strip() for tag in robot.iter('base_link')), 'base_link')
    named = {}
    for element in robot.findall('gazebo/plugin//*'):
        for tag in element:
            text = (tag.text or '').strip()
            if tag.tag == 'names_expr':
                named[re.sub(r'\\d[+*]?', '0', text)] = ''
            elif tag.tag in _JOINTS and not len(tag):
                named[text] = next(
                    (each.text.strip() for each in element if each.tag in _LINKS), ''
                )
            elif tag.tag in _LINKS and not any(each.tag in _JOINTS for each in element):
                named.setdefault(f'{text}_joint', text)
    for plugin in robot.findall('gazebo/plugin'):
        joint = plugin.findtext('jointName') or plugin.findtext('joint_name')
        if joint:
            named[joint] = plugin.findtext('linkName') or plugin.findtext('link_name') or ''
    for link in {base} - links:
        SubElement(robot, 'link', name=link)
    for name, link in named.items():
        child = link or f'{name}_child'
        if name in joints or child in children:
            continue
        if child not in links:
            SubElement(robot, 'link', name=child)
        joint = SubElement(robot, 'joint', name=name, type='revolute')
        SubElement(joint, 'parent', link=base)
        SubElement(joint, 'child', link=child)
        SubElement(joint, 'axis', xyz='1 0 0')
        SubElement(joint, 'limit', lower='-1', upper='1', effort='1', velocity='1')
