# SPDX-License-Identifier: Apache-2.0
"""Reads one plugin block: its tags and rows, by the configuration class of its family."""
from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from propulsion_ros.models.common.facts import THRUST_AND_TORQUE
from propulsion_ros.models.common.family import Family
from propulsion_ros.models.registry import REGISTRY
from propulsion_ros.settings.errors import FIRST, ConfigError, Faults, FollowingError, SourceError
from propulsion_ros.settings.flat import meant, nearest, parameters_of
from propulsion_ros.settings.hints import ALSO_CALLED
from propulsion_ros.settings.names import as_word
from propulsion_ros.settings.quantity import Group, Quantity, names_field, spec_of
from propulsion_ros.urdf.link_tree import TURNING, Joint, LinkTree
from propulsion_ros.urdf.place import NAMES_EXPR, Place, Placer, expand
from propulsion_ros.urdf.uuv_dialect import translated
from propulsion_ros.urdf.xml import Tag, alike, numbers, quoted

_BOOLEANS = {'true': True, '1': True, 'false': False, '0': False}


@dataclass
class Rows:
    """The values of the rows of one configuration class that were read so far.

    Attributes
    ----------
    fields : dict
        Fields that have a value for each row, by key.
    roles : dict
        Those of the fields that have a role in geometry.
    defaults : dict
        Default of one row by key, MISSING if a row must have a value.
    whole : set of str
        Fields whose default is that of a whole robot, which cannot serve single rows.
    turns : bool
        Whether the rows are joints that turn actuators.
    naming : str
        Key of the field that names the rows.
    """

    cls: type
    """The class."""
    prefix: str
    """Prefix of its keys, such as ``tanks.``; '' for the family's own."""
    count: int = 0
    """Number of rows so far."""
    columns: dict[str, list[Any]] = field(default_factory=dict)
    paths: dict[str, list[str]] = field(default_factory=dict)
    """A cell for each row and its XML path, by key; a cell is None if no value is given."""

    def __post_init__(self) -> None:
        self.fields: dict[str, Quantity] = {}
        self.defaults: dict[str, Any] = {}
        self.whole: set[str] = set()
        for f in dataclasses.fields(self.cls):
            spec, default = spec_of(f), f.default
            if isinstance(spec, Quantity) and spec.per_row:
                size = math.prod(int(size) for size in spec.shape[1:])
                if isinstance(default, tuple):
                    serves = len(default) == size
                    self.whole.update([f.name] * (bool(default) and not serves))
                    default = list(default) if serves else dataclasses.MISSING
                elif default is not dataclasses.MISSING and len(spec.shape) > 1:
                    default = [default] * size
                self.fields[f.name], self.defaults[f.name] = spec, default
        self.roles = {key: spec for key, spec in self.fields.items() if spec.geometry}
        self.turns = 'steering' in {spec.geometry for spec in self.roles.values()}
        naming = names_field(self.cls)
        self.naming = naming.name if naming else ''

    def append(self, key: str, value: Any, path: str) -> None:
        """Add the cell of one row, None if no value is given."""
        self.columns.setdefault(key, []).append(value)
        self.paths.setdefault(key, []).append(path)


def parse_value(spec: Quantity, tag: Tag) -> Any:
    """Return the text of a tag as the field's type; a row of several numbers is a list."""
    text, path = tag.text, tag.path
    if tag.children:
        raise SourceError(path, f'expected a value, got <{tag.children[0].key}>')
    if spec.kind is str:
        return text.split() if spec.shape == ('*',) else text
    if spec.kind is bool:
        if text.lower() not in _BOOLEANS:
            raise SourceError(path, f'expected true or false, got {quoted(text)}')
        return _BOOLEANS[text.lower()]
    row = [int(size) for size in spec.shape if size not in ('n', '*')]
    values = numbers(text, path, meaning=spec.doc, unit=spec.unit)
    if spec.shape == ('*',):
        return values
    count = math.prod(row)
    if len(values) == 1 < count and not spec.geometry:
        values = values * count
    if len(values) != count:
        plural = 'a number' if count == 1 else f'{count} numbers'
        hint = '' if text else f'; write <{tag.key}>NUMBER</{tag.key}>'
        raise SourceError(path, f'expected {plural}, got {quoted(text)}{hint}')
    return values if row else values[0]


ROW_LIMIT = 1000
"""Most rows of one kind in a block."""

_OF_BLOCK = ('family', 'base_link')
_PLACING = ('joint', 'link')
_MISSING = 'is missing: each of its kind needs one'


@dataclass(frozen=True)
class ActuatorSpec:
    """The content of one plugin block."""

    name: str
    """Name of the block and of its node."""
    family: str
    """Key of `propulsion_ros.models.registry.REGISTRY`."""
    base_link: str
    """Reference frame of geometry and wrenches."""
    values: Mapping[str, Any]
    """Flat parameters that the block and the link tree give."""
    paths: Mapping[str, str]
    """XML path of each value, by flat key, or key and element as ``max_thrust[1]``; if a row has
    no value, the path at which it would be."""
    geometry: frozenset[str]
    """Keys that come from the link tree."""
    notes: tuple[str, ...] = ()
    """Parts of the block without effect, and assumptions, a line each."""
    stays: tuple[str, ...] = ()
    """Those notes that do not apply if actuators follow their links."""
    masses: Mapping[str, str] = field(default_factory=dict)
    """XML path of each part that has a mass of its own, such as a tank, by its link."""
    joints: Mapping[str, Sequence[Joint | None]] = field(default_factory=dict)
    """Joints that the rows of a class name, None for none, by the prefix of its keys."""
    faulty: frozenset[str] = frozenset()
    """Keys whose tags have a fault, if all faults are collected."""

    def locate(self, error: ConfigError, overridden: Collection[str] = ()) -> ConfigError:
        """Return the error with the XML path of the wrong value, if that is in the block.

        Parameters
        ----------
        error : ConfigError
            Error of the configuration class.
        overridden : collection of str
            Keys for which parameters replace the block.
        """
        if error.key in overridden:
            return error
        element = '' if error.index is None else f'{error.key}[{error.index}]'
        path = self.paths.get(element) or self.paths.get(error.key)
        return SourceError(path, error.problem) if path else error


def read_block(
    block: Tag,
    tree: LinkTree,
    common: type | Callable[[str], type] | None,
    base_link: str,
    faults: Faults = FIRST,
) -> ActuatorSpec:
    """Return the configuration in a plugin block.

    Raises `SourceError` with the XML path, the expected and the given value.

    Parameters
    ----------
    common : type, callable or None
        Configuration class of settings that a block may have beside those of its family: one for
        every family, or a function of the family's name.
    """
    if not block.name:
        raise SourceError(block.path, 'expected a name attribute, got none: it names the node')
    if as_word(block.name) != block.name:
        raise SourceError(
            f'{block.path}/@name', f'{block.name!r} cannot be the name of a node; write '
            f'{as_word(block.name)!r}, and the family in <family>'
        )
    tag, frame = (block.one(key) for key in _OF_BLOCK)
    family = tag.text if tag else block.name
    try:
        family_type = REGISTRY.require(family)
    except ConfigError as error:
        # A block without a <family> is named after its family.
        remedy = '' if tag else '; give it a <family>'
        raise SourceError(tag.path if tag else block.path, error.problem + remedy) from error
    named = base_link or (frame.text if frame else '') or tree.root
    path = 'base_link' if base_link else frame.path if frame else block.path
    base_link = tree.root
    with faults.kept():
        base_link = tree.require_link(named, path)
    beside = common if common is None or isinstance(common, type) else common(family)
    reader = _Reader(family, family_type, beside, Placer(tree, base_link), faults)
    return reader.read(block)


class _Reader:
    """Reads one block of a known family."""

    def __init__(
        self, family: str, family_type: type[Family], common: type | None, placer: Placer,
        faults: Faults,
    ) -> None:
        params = family_type.Params
        self._faults, self._faulty = faults, set[str]()
        self._family, self._facts = family, family_type.facts
        self._placer = placer
        self._scalars = {
            parameter.key: parameter.spec
            for cls in (params, common) if cls
            for parameter in parameters_of(cls)
            if not (parameter.spec.per_row or parameter.spec.geometry)
            and parameter.spec.shape != ('names',)
        }
        self._element = self._facts.tag
        self._rows = {self._element: Rows(params, '')} if self._element else {}
        for f in (f for cls in (params, common) if cls for f in dataclasses.fields(cls)):
            group = spec_of(f)
            if isinstance(group, Group):
                self._rows[group.element] = Rows(group.cls, f'{f.name}.')
        self._chains: list[list[str]] = []
        self._values: dict[str, Any] = {}
        self._paths: dict[str, str] = {}
        self._geometry: set[str] = set()
        self._notes: list[str] = []
        self._masses: dict[str, str] = {}
        self._joints: dict[str, list[Joint | None]] = {}

    def read(self, block: Tag) -> ActuatorSpec:
        """Return the content of the block."""
        self._notes.extend(block.unread_notes())
        for child in block.children:
            if child.key in self._rows:
                with self._faults.kept():
                    self._expanded(child)
            elif child.key not in _OF_BLOCK:
                with self._keeping(child.key):
                    self._scalar(child)
        given = any(child.key == self._element for child in block.children)
        if self._element and not given:
            near = nearest(self._element, (child.key for child in block.children))
            if near not in self._faulty:
                self._faults.add(SourceError(
                    block.path, f'expected at least one <{self._element}>, got none'
                ))
            self._faulty.add(self._rows[self._element].naming)
        for rows in self._rows.values():
            if rows.turns and rows.columns:
                with self._faults.kept():
                    self._join(rows)
            self._finish(rows)
        stays = alike(self._placer.stays())
        return ActuatorSpec(
            block.name, self._family, self._placer.base_link, MappingProxyType(self._values),
            MappingProxyType(self._paths), frozenset(self._geometry),
            (*alike([*self._notes, *self._placer.slides]), *stays), stays,
            MappingProxyType(self._masses), MappingProxyType(self._joints),
            frozenset(self._faulty),
        )

    def _expanded(self, child: Tag) -> None:
        """Take an actuator, or all actuators that its expression selects."""
        rows = self._rows[child.key]
        # Until the row was read, the number of rows is unknown.
        self._faulty.add(rows.prefix + rows.naming)
        for row in expand(translated(child, self._family, self._notes), self._placer.tree):
            if not row.name:
                raise SourceError(row.path, 'expected a name attribute, got none')
            self._row(rows, row, row.name)
        self._faulty.discard(rows.prefix + rows.naming)

    @contextmanager
    def _keeping(self, key: str) -> Iterator[None]:
        """Keep the fault of a tag, and note that its key has no value."""
        try:
            yield
        except ConfigError as error:
            self._faulty.add(key)
            self._faults.add(error)

    def _scalar(self, tag: Tag) -> None:
        if tag.key not in self._scalars:
            raise self._unknown(tag, [*self._scalars, *self._rows, *_OF_BLOCK])
        if tag.key in self._values:
            raise SourceError(tag.path, 'is given twice, remove one')
        self._values[tag.key] = parse_value(self._scalars[tag.key], tag)
        self._paths[tag.key] = tag.path

    def _row(self, rows: Rows, row: Tag, name: str) -> None:
        """Take one actuator, or a part nested in one."""
        rows.count += 1
        if rows.count > ROW_LIMIT:
            raise SourceError(row.path, f'expected at most {ROW_LIMIT} of <{row.key}>')
        given: dict[str, tuple[Any, str]] = {rows.naming: (name, row.path)}
        for tag in row.children:
            with self._keeping(rows.prefix + tag.key):
                self._cell(rows, tag, name, given)
        if rows.turns:
            # Tags must not replace values of the joint.
            given.update({
                key: cell for key, cell in self._placer.steer(row).items()
                if key in rows.roles or key == rows.naming or key not in given
            })
        elif rows.roles:
            with self._faults.kept():
                self._place(rows, row, given)
        for key in (rows.naming, *rows.fields):
            rows.append(key, *given.get(key, (None, f'{row.path}/{key}')))

    def _cell(
        self, rows: Rows, tag: Tag, name: str, given: dict[str, tuple[Any, str]]
    ) -> None:
        """Take one tag of an actuator."""
        part = self._rows.get(tag.key)
        if rows.roles and tag.key in _PLACING:
            return
        if tag.key in rows.fields:
            if tag.key in given:
                raise SourceError(tag.path, 'is given twice, remove one')
            if tag.key in rows.roles and rows.roles[tag.key].geometry != 'direction':
                raise SourceError(tag.path, 'comes from the link tree, expected no tag for it; see '
                                  '<origin> and <axis> of the joint of its <link>')
            given[tag.key] = parse_value(rows.fields[tag.key], tag), tag.path
        elif part and not rows.prefix and part.prefix:
            self._row(part, tag, name)
        else:
            places = (*_PLACING, NAMES_EXPR) if rows.roles else ()
            parts = () if rows.prefix else self._rows
            raise self._unknown(tag, [*rows.fields, *places, *parts], rows.prefix)

    def _unknown(self, tag: Tag, known: Collection[str], prefix: str = '') -> SourceError:
        """Return the error of an unknown tag; the key that it may mean is not called missing."""
        parts = [key for key in known if key.rpartition('_')[0] == tag.key]
        if len(parts) > 1:
            self._faulty.update(prefix + key for key in parts)
            return SourceError(tag.path, f'unknown tag; write {" and ".join(parts)}')
        home = self._home_of(tag.key)
        other = ALSO_CALLED.get(tag.key, '')
        near = tag.key if home else other if other in known else nearest(tag.key, known)
        self._faulty.add(prefix + near)
        return SourceError(tag.path, f'unknown tag{home or meant(near)}')

    def _home_of(self, key: str) -> str:
        """Return, as the end of an error, where a tag that is unknown here belongs."""
        if key in self._scalars:
            return '; write it in the block itself, one for all'
        for element, rows in self._rows.items():
            if key in rows.fields:
                return f'; write it inside of each <{element}>'
        for family, family_type in REGISTRY.items():
            groups = [spec_of(f) for f in dataclasses.fields(family_type.Params)]
            elements = [group.element for group in groups if isinstance(group, Group)]
            if key in (family_type.facts.tag, *elements):
                return f'; blocks of {family} have it: see <family>, or the name of the block'
        return ''

    def _place(self, rows: Rows, row: Tag, given: dict[str, tuple[Any, str]]) -> None:
        """Add the values that the link tree gives a row."""
        try:
            place = self._placer.place(row, rows.roles)
        except ConfigError:
            # Without a place, geometry has no value.
            self._faulty.update(rows.prefix + key for key in rows.roles)
            raise
        if not rows.prefix:
            self._note_axis(rows, row, place, given)
            given.update(
                (key, cell) for key, cell in place.from_joint(self._facts).items()
                if key not in given
            )
            own = [joint.name for joint in place.joints]
            chain = self._placer.chain(place.link)
            self._chains.append([joint for joint in chain if joint not in own])
            turning = [tag for part in row.children if part.key in self._rows
                       for tag in part.all('joint')]
            self._notes.extend(
                f'{tag.path}: joint {tag.text!r} does not carry {place.link!r}, whose thrust it '
                'turns; see <link> or <joint> of the actuator, and <parent> of its joint'
                for tag in turning if self._placer.tree.joint(tag.text, tag.path).name not in chain
            )
        self._joints.setdefault(rows.prefix, []).extend(place.joints or [None])
        if any(spec.unit == 'kg' for spec in rows.fields.values()):
            self._masses[place.link] = row.path
        for key, spec in rows.roles.items():
            own, path = given.get(key, (rows.defaults[key], f'{row.path}/{key}'))
            if own is dataclasses.MISSING and spec.geometry == 'direction':
                raise SourceError(path, _MISSING)
            given[key] = place.role(spec.geometry, own), path
            self._geometry.add(rows.prefix + key)

    def _note_axis(
        self, rows: Rows, row: Tag, place: Place, given: dict[str, tuple[Any, str]]
    ) -> None:
        """Note a direction across the axis of its joint, and a limited joint of a rotor."""
        joint = place.joints[0] if len(place.joints) == 1 else None
        if joint is None or joint.kind not in (*TURNING, 'fixed'):
            return
        spins, (low, high) = self._facts.force == THRUST_AND_TORQUE, joint.limits or (0.0, math.inf)
        key = self._facts.joint_axis or 'axis' * spins
        own, path = given.get(key, (rows.defaults.get(key), row.path))
        is_own, axis = key in given or not self._facts.joint_axis, joint.axis
        if spins and joint.turns and high - low < 4.0 * math.pi:
            self._notes.append(
                f'{joint.path}: turns by {high - low:.4g} rad from end to end, and {row.name!r} '
                'spins on it; write type="continuous", or another <joint>'
            )
        # With a joint that turns the tag may be wrong; with a fixed one it may be missing.
        elif key and joint.turns == is_own and own is not dataclasses.MISSING and (
            abs(np.dot(own, axis)) < 0.5 * np.linalg.norm(own)
        ):
            way, other = (' '.join(f'{x:g}' for x in vector) for vector in (own, axis))
            self._notes.append(
                f'{path}: {key} {way} is across the <axis> of {joint.kind} joint '
                f'{joint.name!r}; if the joint is right, write <{key}>{other}</{key}>'
            )

    def _join(self, rows: Rows) -> None:
        """Note which joint carries each actuator, and each joint itself."""
        joints, paths = rows.columns[rows.naming], rows.paths[rows.naming]
        key = f'{rows.prefix}actuators'
        self._faulty.add(key)
        hung = dict.fromkeys(joint for chain in self._chains for joint in chain)
        others = ' or '.join(repr(joint) for joint in hung if joint not in joints)
        for joint, path in zip(joints, paths, strict=True):
            if joint not in hung:
                remedy = 'that is the <joint> of one: give it <link> alone, or name one before it'
                if joint not in self._placer.actuated:
                    remedy = 'none hangs on it: ' + f'name {others}, or ' * bool(others)
                    remedy += "see <parent> of an actuator's joint"
                raise SourceError(
                    path, f'joint {joint!r} turns no actuator of this block; {remedy}'
                )
        self._faulty.discard(key)

        def nearest(chain: list[str]) -> str:
            return next((joint for joint in reversed(chain) if joint in joints), '')

        for i, joint in enumerate(joints):
            chain = self._placer.chain(self._placer.tree.joints[joint].parent)
            rows.columns['carried_by'][i] = nearest(chain)
        self._values[key] = [nearest(chain) for chain in self._chains]
        self._paths[key] = paths[0]
        self._geometry.update(rows.prefix + each for each in (*rows.roles, rows.naming))
        self._geometry.add(key)

    def _finish(self, rows: Rows) -> None:
        """Convert the columns of a class to flat values; empty cells take the default."""
        for key, cells in rows.columns.items():
            whole, paths = rows.prefix + key, rows.paths[key]
            self._paths[whole] = paths[0]
            self._paths.update((f'{whole}[{i}]', path) for i, path in enumerate(paths))
            if all(cell is None for cell in cells) and key not in rows.whole:
                # The block gives no value, so a parameter or the default counts.
                continue
            spec, flat = rows.fields.get(key), list[Any]()
            files = rows.columns.get(spec.file) if spec else None
            for i, (given, path) in enumerate(zip(cells, paths, strict=True)):
                cell = given
                if given is None:
                    cell = 0.0 if files and files[i] else rows.defaults[key]
                if cell is dataclasses.MISSING:
                    with self._faults.kept():
                        if whole in self._faulty:
                            raise FollowingError(path, 'has a fault')
                        self._faulty.add(whole)
                        raise SourceError(path, _MISSING)
                    continue
                elements = cell if isinstance(cell, list) else [cell]
                # All elements of a parameter have one type, and numbers of tags are floats.
                if spec and spec.kind is int and given is None:
                    elements = [float(element) for element in elements]
                for at in range(len(flat), len(flat) + len(elements)):
                    self._paths[f'{whole}[{at}]'] = path
                flat.extend(elements)
            if whole not in self._faulty:
                self._values[whole] = flat
