"""Actuators from a robot description: plugin blocks for values, the link tree for geometry."""
from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np

from propulsion_ros.errors import ConfigError, SourceError
from propulsion_ros.link_tree import Joint, LinkTree, Pose, numbers, parse_urdf
from propulsion_ros.models import FAMILIES
from propulsion_ros.models.rigid_body import MassProperties
from propulsion_ros.quantity import Group, Quantity, names_field, spec_of
from propulsion_ros.schema import parameters_of, suggestion

FILENAME = 'propulsion_ros'
_GEOMETRY_TAGS = ('joint', 'link')


@dataclass(frozen=True)
class ActuatorSpec:
    """One plugin block, read.

    Attributes
    ----------
    name : str
        Name of the block and of its node.
    family : str
        Key of `propulsion_ros.models.FAMILIES`.
    base_link : str
        Frame that geometry and wrenches refer to.
    values : dict
        Flat parameters that the block and the link tree give.
    paths : dict
        XML path behind each value, by flat key, or key and element as ``max_thrust[1]``.
    geometry : frozenset of str
        Keys that come from the link tree.
    """

    name: str
    family: str
    base_link: str
    values: Mapping[str, Any]
    paths: Mapping[str, str]
    geometry: frozenset[str]

    def locate(self, error: ConfigError) -> ConfigError:
        """Return the error with the XML path of what is wrong, where it came from the block."""
        element = '' if error.index is None else f'{error.key}[{error.index}]'
        path = self.paths.get(element) or self.paths.get(error.key)
        return SourceError(path, error.problem) if path else error


def actuators_from_urdf(
    xml: str,
    common: type | None = None,
    base_link: str = '',
    families: Mapping[str, Any] = FAMILIES,
) -> list[ActuatorSpec]:
    """Read every ``<gazebo><plugin filename="propulsion_ros">`` block of a robot description.

    A block is named after its node and its family (or has a <family> tag). It has one child per
    actuator, named after the family's singular: ``<booster name="...">``. Inside, tags are
    parameter names; ``<joint>`` or ``<link>`` place the actuator in the link tree.

    Parameters
    ----------
    xml : str
        URDF, xacro already expanded.
    common : type, optional
        Configuration class of settings that every block may have beside its family's.
    base_link : str
        Frame of geometry and wrenches; empty: as each block says, else the root link.
    families : mapping
        Actuator families by name.

    Raises
    ------
    SourceError
        Naming the XML path, what was expected and what came.
    """
    robot = parse_urdf(xml)
    tree = LinkTree(robot)
    specs: list[ActuatorSpec] = []
    for plugin in robot.iterfind('gazebo/plugin'):
        if plugin.get('filename') != FILENAME:
            continue
        spec = _Block(plugin, tree, common, base_link, families).read()
        if spec.name in [other.name for other in specs]:
            raise SourceError(f'gazebo/plugin[name={spec.name}]', 'is named twice')
        specs.append(spec)
    return specs


def mass_from_urdf(xml: str, base_link: str = '') -> tuple[str, MassProperties]:
    """Return the base link and the mass of all links of a robot description together.

    Parameters
    ----------
    xml : str
        URDF, xacro already expanded.
    base_link : str
        Frame of the result; empty for the root link.

    Raises
    ------
    SourceError
        Naming the XML path, what was expected and what came.
    """
    tree = LinkTree(parse_urdf(xml))
    base_link = tree.require_link(base_link or tree.root, 'base_link')
    parts = [MassProperties(*inertial) for inertial in tree.inertials(base_link)]
    return base_link, MassProperties.total(parts)


def joints_of_urdf(xml: str) -> frozenset[str]:
    """Return the names of all joints of a robot description."""
    return frozenset(joint.get('name', '') for joint in parse_urdf(xml).findall('joint'))


@dataclass
class _Rows:
    """What the rows of one configuration class gave so far."""

    cls: type
    prefix: str
    count: int = 0
    columns: dict[str, list[Any]] = field(default_factory=dict)


class _Block:
    """Reads one plugin element."""

    def __init__(
        self,
        plugin: Element,
        tree: LinkTree,
        common: type | None,
        base_link: str,
        families: Mapping[str, Any],
    ) -> None:
        self._plugin = plugin
        self._tree = tree
        self._name = plugin.get('name') or ''
        self._path = f'gazebo/plugin[name={self._name}]'
        if not self._name:
            raise SourceError('gazebo/plugin', 'expected a name attribute')
        self._family = self._text('family') or self._name
        if self._family not in families:
            raise SourceError(
                self._path,
                f'unknown family {self._family!r}{suggestion(self._family, families)}; '
                f'known: {", ".join(sorted(families))}',
            )
        self._params: type = families[self._family].Params
        self._scalars = {
            parameter.key: parameter.spec
            for cls in (self._params, common) if cls
            for parameter in parameters_of(cls)
            if not parameter.spec.per_row and parameter.spec.shape != ('names',)
        }
        frame = base_link or self._text('base_link') or tree.root
        self._base_link = tree.require_link(frame, f'{self._path}/base_link')
        self._values: dict[str, Any] = {}
        self._paths: dict[str, str] = {}
        self._row_paths: dict[tuple[str, int], str] = {}
        self._geometry: set[str] = set()

    def _text(self, tag: str) -> str:
        return (self._plugin.findtext(tag) or '').strip()

    def read(self) -> ActuatorSpec:
        """Return what the block says."""
        element_of_family = self._family.removesuffix('s')
        rows = {element_of_family: _Rows(self._params, '')}
        for name, sub in _groups(self._params):
            rows[sub.element] = _Rows(sub.cls, f'{name}.')
        for child in self._plugin:
            if child.tag in ('family', 'base_link'):
                continue
            if child.tag in rows:
                path = f'{self._path}/{child.tag}[name={child.get("name", "")}]'
                if not child.get('name'):
                    raise SourceError(path, 'expected a name attribute')
                self._row(rows[child.tag], child, path, child.get('name', ''), rows)
            else:
                self._scalar(child, [*rows, 'family', 'base_link'])
        if not rows[element_of_family].count:
            raise SourceError(self._path, f'expected at least one <{element_of_family}>')
        for block in rows.values():
            self._finish(block)
        return ActuatorSpec(
            self._name, self._family, self._base_link, self._values, self._paths,
            frozenset(self._geometry),
        )

    def _scalar(self, child: Element, others: Iterable[str]) -> None:
        path = f'{self._path}/{child.tag}'
        if child.tag not in self._scalars:
            near = suggestion(child.tag, [*self._scalars, *others])
            raise SourceError(path, f'unknown tag{near}')
        if child.tag in self._values:
            raise SourceError(path, 'is given twice')
        self._values[child.tag] = _parse(self._scalars[child.tag], child, path)
        self._paths[child.tag] = path

    def _row(
        self, rows: _Rows, element: Element, path: str, name: str, all_rows: Mapping[str, _Rows]
    ) -> None:
        """Take one actuator, or a part nested in one."""
        index = rows.count
        rows.count += 1
        naming = names_field(rows.cls)
        fields = {f.name: spec_of(f) for f in dataclasses.fields(rows.cls)}
        tags: dict[str, Any] = {} if naming is None else {naming.name: name}
        for child in element:
            child_path = f'{path}/{child.tag}'
            spec = fields.get(child.tag)
            nested = all_rows.get(child.tag)
            if child.tag in _GEOMETRY_TAGS:
                continue
            if isinstance(spec, Quantity) and spec.per_row:
                if child.tag in tags:
                    raise SourceError(child_path, 'is given twice')
                tags[child.tag] = _parse(spec, child, child_path)
                self._row_paths[rows.prefix + child.tag, index] = child_path
            elif nested and not rows.prefix and nested.cls is not rows.cls:
                self._row(nested, child, child_path, name, all_rows)
            else:
                known = [key for key, s in fields.items() if isinstance(s, Quantity) and s.per_row]
                near = suggestion(child.tag, [*known, *_GEOMETRY_TAGS, *all_rows])
                raise SourceError(child_path, f'unknown tag{near}')
        tags.update(self._place(rows, element, path, tags))
        for key, spec in fields.items():
            if isinstance(spec, Quantity) and (spec.per_row or spec.shape == ('names',)):
                rows.columns.setdefault(key, []).append(tags.get(key))
                self._row_paths.setdefault((rows.prefix + key, index), f'{path}/{key}')

    def _place(
        self, rows: _Rows, element: Element, path: str, tags: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return the geometry fields of one row, from its <joint> and <link>."""
        roles = {
            f.name: s for f in dataclasses.fields(rows.cls)
            if isinstance(s := spec_of(f), Quantity) and s.geometry
        }
        if not roles:
            return {}
        joints = [
            self._tree.joint((joint.text or '').strip(), f'{path}/joint')
            for joint in element.findall('joint')
        ]
        link = (element.findtext('link') or '').strip()
        if link:
            self._tree.require_link(link, f'{path}/link')
        elif joints:
            link = joints[-1].child
        else:
            raise SourceError(path, 'expected a <joint> or a <link>')
        place = _Place(
            link,
            self._tree.pose(link, self._base_link),
            joints,
            [self._tree.pose(joint.child, self._base_link) for joint in joints],
        )
        found: dict[str, Any] = {}
        for key, spec in roles.items():
            if spec.geometry.startswith('joint') and len(joints) != spec.shape[1]:
                problem = f'expected {spec.shape[1]} joints, got {len(joints)}'
                raise SourceError(f'{path}/joint', problem)
            own = tags.get(key)
            found[key] = place.role(spec.geometry, _default(rows.cls, key) if own is None else own)
            self._geometry.add(rows.prefix + key)
        return found

    def _finish(self, rows: _Rows) -> None:
        """Turn the columns of a class into flat values; absent cells take the default."""
        for key, cells in rows.columns.items():
            if all(cell is None for cell in cells):
                continue
            default = _default(rows.cls, key)
            flat: list[Any] = []
            for row, given in enumerate(cells):
                cell = default if given is None else given
                path = self._row_paths[rows.prefix + key, row]
                if cell is dataclasses.MISSING:
                    raise SourceError(path, 'is missing')
                elements = cell if isinstance(cell, list) else [cell]
                for i in range(len(flat), len(flat) + len(elements)):
                    self._paths[f'{rows.prefix}{key}[{i}]'] = path
                flat.extend(elements)
            self._values[rows.prefix + key] = flat


@dataclass(frozen=True)
class _Place:
    """Where one row of a plugin block is in the link tree."""

    link: str
    pose: Pose
    joints: list[Joint]
    joint_poses: list[Pose]

    def role(self, role: str, own: Any) -> Any:
        """Return the value of a field with this geometry role; ``own`` is its tag or default."""
        if role == 'origin':
            return self.pose.position.tolist()
        if role == 'rotation':
            return self.pose.rotation.ravel().tolist()
        if role == 'direction':
            return (self.pose.rotation @ np.asarray(own)).tolist()
        if role == 'link':
            return self.link
        if role == 'joints':
            return [joint.name for joint in self.joints]
        if role == 'joint_origins':
            return [x for pose in self.joint_poses for x in pose.position.tolist()]
        if role == 'joint_axes':
            pairs = zip(self.joint_poses, self.joints, strict=True)
            return [x for pose, joint in pairs for x in (pose.rotation @ joint.axis).tolist()]
        raise ValueError(f'unknown geometry role {role!r}')


def _groups(cls: type) -> list[tuple[str, Group]]:
    found = [(f.name, spec_of(f)) for f in dataclasses.fields(cls)]
    return [(name, spec) for name, spec in found if isinstance(spec, Group)]


def _default(cls: type, key: str) -> Any:
    """Return the default of one row, MISSING where it is required."""
    field_of_key = next(f for f in dataclasses.fields(cls) if f.name == key)
    spec, default = spec_of(field_of_key), field_of_key.default
    if isinstance(default, tuple):
        # No rows by default, so a row that exists must say it.
        return list(default) if default else dataclasses.MISSING
    if isinstance(spec, Quantity) and default is not dataclasses.MISSING and len(spec.shape) > 1:
        return [default] * math.prod(int(size) for size in spec.shape[1:])
    return default


def _parse(spec: Quantity, element: Element, path: str) -> Any:
    """Return the text of a tag as the field's type; a row of several numbers is a list."""
    text = (element.text or '').strip()
    if len(element):
        raise SourceError(path, f'expected a value, got <{element[0].tag}>')
    if spec.kind is str:
        return text.split() if spec.shape == ('*',) else text
    if spec.kind is bool:
        words = {'true': True, '1': True, 'false': False, '0': False}
        if text.lower() not in words:
            raise SourceError(path, f'expected true or false, got {text!r}')
        return words[text.lower()]
    row = [int(size) for size in spec.shape if size not in ('n', '*')]
    count = None if spec.shape == ('*',) else math.prod(row)
    values = numbers(text, path)
    if count is not None and len(values) == 1 < count:
        values = values * count
    if count is not None and len(values) != count:
        plural = 'a number' if count == 1 else f'{count} numbers'
        raise SourceError(path, f'expected {plural}, got {text!r}')
    return values if row or spec.shape == ('*',) else values[0]
