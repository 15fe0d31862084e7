# SPDX-License-Identifier: Apache-2.0
"""Reads actuators from a robot description: values from plugin blocks, geometry from links."""
from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from xml.etree.ElementTree import Element

from propulsion_ros.models.body.mass import MassProperties
from propulsion_ros.models.registry import REGISTRY
from propulsion_ros.settings.errors import FIRST, Faults, SourceError
from propulsion_ros.settings.flat import meant, nearest
from propulsion_ros.urdf import gz_dialect, uuv_dialect
from propulsion_ros.urdf.block import ActuatorSpec, read_block
from propulsion_ros.urdf.link_tree import LinkTree, tree_of
from propulsion_ros.urdf.xml import Tag, numbers, parse_urdf, path_step, read_tag, steps_of

__all__ = ['FILENAME', 'ActuatorSpec', 'actuators_from_urdf', 'angles_of_urdf', 'joints_of_urdf',
           'mass_from_urdf', 'masses_from_urdf']

FILENAME = 'propulsion_ros'
_Gather = Callable[[str, Sequence[Element]], Tag]
BLOCK_LIMIT = 100
_OF_XACRO = re.compile(r'\{[^}]*\bxacro/?\}(.*)')
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


def actuators_from_urdf(
    xml: str,
    common: type | Callable[[str], type] | None = None,
    base_link: str = '',
    faults: Faults = FIRST,
) -> list[ActuatorSpec]:
    """Read every plugin block of a robot description that is a group of actuators.

    A block ``<gazebo><plugin filename="propulsion_ros" name="...">`` is named after its node and
    its family (or has a <family> tag). It has one child per actuator, named after the family's
    singular: ``<booster name="...">``. Inside, tags are parameter names; ``<joint>`` or ``<link>``
    place the actuator in the link tree. ``<names_expr>`` in place of name and joint makes one
    child stand for several actuators, see `propulsion_ros.urdf.place.expand`.

    Plugins of the UUV simulator and of gz-sim become groups too, see
    `propulsion_ros.urdf.uuv_dialect` and `propulsion_ros.urdf.gz_dialect`; they come last. Raises
    `SourceError` with the XML path, the expected and the given value.
    """
    return list(_specs(xml, common, base_link, faults))


@functools.lru_cache(maxsize=4)
def _specs(
    xml: str, common: type | Callable[[str], type] | None, base_link: str, faults: Faults
) -> tuple[ActuatorSpec, ...]:
    """Return the blocks of a description, cached for all nodes of a process."""
    robot = parse_urdf(xml)
    for element in robot.iter():
        # Any part may be missing of a description that xacro has not expanded.
        if found := _OF_XACRO.match(element.tag):
            raise SourceError('robot', (
                f'<xacro:{found[1]}> is not expanded; xacro expands files whose names end in .xacro'
            ))
    tree = tree_of(xml) if faults is FIRST else LinkTree(robot, faults)
    specs: dict[str, ActuatorSpec] = {}
    for block in _blocks(robot, faults):
        with faults.kept():
            if block.name in specs:
                raise SourceError(block.path, f'block {block.name!r} is named twice, rename one')
            if len(specs) == BLOCK_LIMIT:
                raise SourceError(block.path, f'expected at most {BLOCK_LIMIT} plugin blocks')
            specs[block.name] = read_block(block, tree, common, base_link, faults)
    _warn_of_shared_links(specs.values(), faults)
    _warn_of_strays(robot, faults)
    for path, text in _misspelt(robot, 'robot'):
        faults.warn(path, text)
    return tuple(specs.values())


def mass_from_urdf(
    xml: str, base_link: str = '', faults: Faults = FIRST
) -> tuple[str, MassProperties]:
    """Return the base link and the mass of all links of a robot description together.

    Raises `SourceError` with the XML path, the expected and the given value.

    Parameters
    ----------
    xml : str
        URDF, xacro already expanded.
    base_link : str
        Frame of the result, with or without its namespace; empty for the root link.
    """
    base_link, links = masses_from_urdf(xml, base_link, faults)
    return base_link, MassProperties.total(list(links.values()))


def masses_from_urdf(
    xml: str, base_link: str = '', faults: Faults = FIRST
) -> tuple[str, Mapping[str, MassProperties]]:
    """Return the base link and the mass of each link by its path; see `mass_from_urdf`."""
    tree = tree_of(xml)
    base_link = tree.require_link(base_link or tree.root, 'base_link')
    return base_link, dict(tree.inertials(base_link, faults))


def angles_of_urdf(xml: str) -> dict[str, float]:
    """Return the largest angle of each <origin> of a robot description [rad], by its path."""
    robot, found = parse_urdf(xml), {}
    for element in (*robot.findall('joint'), *robot.findall('link')):
        path = f'robot/{path_step(element.tag, element.get("name"))}'
        inside = 'inertial/origin' if element.tag == 'link' else 'origin'
        origin = element.find(inside)
        if origin is not None:
            path = f'{path}/{inside}/@rpy'
            found[path] = max(numbers(origin.get('rpy', '0 0 0'), path, 3), key=abs)
    return found


def joints_of_urdf(xml: str) -> frozenset[str]:
    """Return the names of all joints of a robot description."""
    return frozenset(joint.get('name', '') for joint in parse_urdf(xml).findall('joint'))


def _warn_of_shared_links(specs: Iterable[ActuatorSpec], faults: Faults) -> None:
    """Warn of a link with tanks of two blocks: each publishes its own mass there."""
    owners: dict[str, ActuatorSpec] = {}
    for spec in specs:
        for link, path in spec.masses.items():
            owner = owners.setdefault(link, spec)
            if owner.name != spec.name:
                both = ', or one block for both' if owner.family == spec.family else ''
                faults.warn(path, (
                    f'link {link!r} already has the mass of a part of block {owner.name!r}; '
                    f'expected a link for each{both}'
                ))


def _warn_of_strays(robot: Element, faults: Faults) -> None:
    """Warn of plugins that are almost blocks of this package, as they have no effect."""
    read = {id(plugin) for plugin in robot.iterfind('gazebo/plugin')}
    for plugin in robot.iter('plugin'):
        filename, name = plugin.get('filename', ''), plugin.get('name', '')
        path = f'gazebo/{path_step("plugin", name)}'
        bare = filename.removeprefix('lib').removesuffix('.so').replace('-', '_')
        if filename == FILENAME:
            if id(plugin) not in read:
                path = path.removeprefix('gazebo/')
                faults.warn(path, 'has no effect: expected inside of <gazebo>')
        elif nearest(bare, [FILENAME]) or name in REGISTRY:
            faults.warn(f'{path}/@filename', (
                f'{filename!r} is no plugin of this package, did you mean {FILENAME!r}?'
            ))


def _blocks(robot: Element, faults: Faults) -> list[Tag]:
    """Return the plugin blocks of this package, then those gathered from plugins of others."""
    own: list[Tag] = []
    others: dict[tuple[_Gather, str], list[Element]] = {}
    for plugin in robot.iterfind('gazebo/plugin'):
        filename = plugin.get('filename', '')
        foreign = _foreign(filename)
        if filename == FILENAME:
            own.append(read_tag(plugin, f'gazebo/{path_step("plugin", plugin.get("name"))}'))
        elif foreign:
            others.setdefault(foreign, []).append(plugin)
    named = {block.name for block in own}
    for (gather, family), plugins in others.items():
        if gather is gz_dialect.gathered and family in named:
            # The block of this package replaces these, which Gazebo may run.
            path = f'gazebo/plugin[filename={plugins[0].get("filename")}]'
            faults.warn(path, f'has no effect here: block {family!r} stands for it')
            continue
        with faults.kept():
            own.append(gather(family, plugins))
    return own


def family_of(filename: str) -> str:
    """Return the family that a plugin of another simulator is read as, '' for none."""
    foreign = _foreign(filename)
    return foreign[1] if foreign else ''


def _foreign(filename: str) -> tuple[_Gather, str] | None:
    """Return the reader and the family for a plugin of another simulator; None for others."""
    for dialect in (uuv_dialect, gz_dialect):
        family = dialect.family_of(filename)
        if family:
            return dialect.gathered, family
    return None


def _misspelt(element: Element, path: str) -> Iterator[tuple[str, str]]:
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
            yield from _misspelt(child, f'{path}/{step}')
        elif homes and known:
            yield f'{path}/{step}', f'has no effect here: URDF has it in <{homes[0]}>'
