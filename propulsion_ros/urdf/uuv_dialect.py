# SPDX-License-Identifier: Apache-2.0
"""Reads plugins and tags of the UUV simulator as groups and parameters.

Robot descriptions written for the UUV simulator, or for Plankton, need no change: each of its
plugins has one actuator, and those of a family are gathered to one group in the order of their
IDs. The same tags are allowed in this package's own blocks of these families. Tags and types are
spelt as in the originals; nowhere else is camelCase understood.
"""
from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from propulsion_ros.models.registry import REGISTRY
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.flat import known_hint, suggestion
from propulsion_ros.urdf.xml import Tag, digits, numbers, path_step, quoted, read_tag

_Types = Mapping[str, tuple[str, Mapping[str, str]]]
"""Models by the original's name: the name here, and the parameter for each constant."""

_DYNAMICS: _Types = {
    'ZeroOrder': ('zero_order', {}),
    'FirstOrder': ('first_order', {'timeConstant': 'time_constant'}),
    'Yoerger': ('yoerger', {'alpha': 'alpha', 'beta': 'beta'}),
    'Bessa': ('bessa', {
        'Jmsp': 'rotor_inertia',
        'Kv1': 'linear_damping',
        'Kv2': 'quadratic_damping',
        'Kt': 'torque_constant',
        'Rm': 'winding_resistance',
    }),
}
_CONVERSION: _Types = {
    'Basic': ('basic', {'rotorConstant': 'rotor_constant'}),
    'Bessa': ('dead_zone', {
        'rotorConstantL': 'rotor_constant_left',
        'rotorConstantR': 'rotor_constant_right',
        'deltaL': 'delta_left',
        'deltaR': 'delta_right',
    }),
    'LinearInterp': ('linear_interp', {
        'inputValues': 'input_values', 'outputValues': 'output_values',
    }),
}
_LIFT_DRAG: _Types = {
    'Quadratic': ('quadratic', {
        'lift_constant': 'lift_constant', 'drag_constant': 'drag_constant',
    }),
    'TwoLines': ('two_lines', {
        'area': 'area',
        'fluid_density': 'fluid_density',
        'a0': 'angle_offset',
        'alpha_stall': 'stall_angle',
        'cla': 'lift_slope',
        'cla_stall': 'stalled_lift_slope',
        'cda': 'drag_slope',
        'cda_stall': 'stalled_drag_slope',
    }),
}


@dataclass(frozen=True)
class _Dialect:
    """Plugins and tags of the original for one actuator of a family."""

    plugins: tuple[str, ...]
    """Names of the original's plugins, without ``lib`` and ``.so``."""
    number: str
    """Tag of its ID."""
    renamed: Mapping[str, str]
    """Other tags that have another name here."""
    models: Mapping[str, _Types]
    """Tags that hold a type and its constants."""
    required: tuple[str, ...]
    """Tags that a plugin of the original must have."""
    limits: tuple[tuple[str, str], ...] = ()
    """Tags of limits, lower and upper; 0 for both means none."""
    ignored: tuple[str, ...] = ()
    """Tags of topics without effect: here topics follow from the name of the node."""


_DIALECTS: dict[str, _Dialect] = {
    'thrusters': _Dialect(
        ('uuv_thruster_plugin', 'uuv_thruster_ros_plugin'),
        'thrusterID',
        {
            'linkName': 'link',
            'jointName': 'joint',
            'clampMin': 'min_command',
            'clampMax': 'max_command',
            'thrustMin': 'min_thrust',
            'thrustMax': 'max_thrust',
        },
        {'dynamics': _DYNAMICS, 'conversion': _CONVERSION},
        ('thrusterID', 'jointName', 'dynamics', 'conversion'),
        (('clampMin', 'clampMax'), ('thrustMin', 'thrustMax')),
    ),
    'fins': _Dialect(
        ('uuv_fin_plugin', 'uuv_fin_ros_plugin'),
        'fin_id',
        {'link_name': 'link', 'joint_name': 'joint'},
        {'dynamics': _DYNAMICS, 'liftdrag': _LIFT_DRAG},
        ('fin_id', 'joint_name', 'dynamics', 'liftdrag'),
        ignored=('input_topic', 'output_topic', 'wrench_topic', 'current_velocity_topic'),
    ),
}
"""Dialect of each family that the original has; only this table names the families."""


def family_of(filename: str) -> str:
    """Return the family that a plugin of the original belongs to, '' for any other plugin."""
    plugin = filename.removeprefix('lib').removesuffix('.so')
    return next((name for name, dialect in _DIALECTS.items() if plugin in dialect.plugins), '')


def gathered(family: str, plugins: Sequence[Element]) -> Tag:
    """Return one plugin block of this package for the original's plugins of one family.

    Raises `SourceError` with the XML path of a missing tag.
    """
    dialect, element = _DIALECTS[family], _element(family)
    rows: dict[int, Tag] = {}
    for plugin in plugins:
        path = f'gazebo/{path_step("plugin", plugin.get("name"))}'
        row = dataclasses.replace(read_tag(plugin, path), key=element, name='')
        for key in dialect.required:
            if not row.all(key):
                raise SourceError(f'{path}/{key}', f'is missing, each of the {family} needs it')
        number = digits(row.one(dialect.number), row.path, 'an ID')
        if number in rows:
            raise SourceError(f'{path}/{dialect.number}', 'is that of another; give it its own')
        rows[number] = row
    path = f'gazebo/plugin[filename={plugins[0].get("filename")}]'
    # As in the original, the thrust of a step is that at its end.
    value = Tag('step_value', 'end', path)
    return Tag('plugin', '', path, family, (value, *(rows[number] for number in sorted(rows))))


def translated(row: Tag, family: str, notes: list[str]) -> Tag:
    """Return an actuator with its tags as this package calls them.

    Raises `SourceError` with the XML path of an unknown type, or of a missing constant.

    Parameters
    ----------
    row : Tag
        The actuator; tags of this package are left as they are.
    family : str
        Its family; those without an original in the UUV simulator are left alone.
    notes : list of str
        Gets a line for each tag that has no effect.
    """
    dialect = _DIALECTS.get(family)
    if dialect is None or row.key != _element(family):
        return row
    name = row.name
    without = _absent_limits(row, dialect, notes)
    children: list[Tag] = []
    for tag in row.children:
        if tag.key == dialect.number:
            name = name or f'{row.key}_{digits(row.one(tag.key), row.path, "an ID")}'
        elif tag.key in dialect.ignored:
            notes.append(f'{tag.path} has no effect: topics are named after the node')
        elif tag.key in dialect.models and tag.children:
            children.extend(_model(tag, dialect.models[tag.key], notes))
        elif tag.key not in without:
            key = dialect.renamed.get(tag.key, tag.key)
            children.append(dataclasses.replace(tag, key=key))
    return dataclasses.replace(row, name=name, children=tuple(children))


def _element(family: str) -> str:
    """Return the tag of one actuator of a family in this package."""
    return REGISTRY[family].facts.tag


def _absent_limits(row: Tag, dialect: _Dialect, notes: list[str]) -> set[str]:
    """Return the tags of limits that the original ignores, as the lower is not below the upper."""
    absent: set[str] = set()
    for pair in dialect.limits:
        ends = [row.one(key) for key in pair]
        values = [numbers(end.text, end.path) for end in ends if end]
        if len(values) < len(pair) or values[0] < values[1]:
            continue
        absent.update(pair)
        if values[0] == values[1] == [0.0]:
            notes.append(f'{row.path}: {pair[0]} and {pair[1]} of 0 mean no limit')
        else:
            low, high = (end.text for end in ends if end)
            notes.append(
                f'{row.path}: {pair[0]} {low} is not below {pair[1]} {high}, which means no limit '
                'as in the original; are they swapped?'
            )
    return absent


def _model(tag: Tag, types: _Types, notes: list[str]) -> list[Tag]:
    """Return the tags of a model and its constants; lift and drag are one tag with children."""
    kind = tag.one('type')
    if kind is None:
        raise SourceError(f'{tag.path}/type', 'is missing')
    if kind.text not in types:
        raise SourceError(
            kind.path, f'unknown type {quoted(kind.text)}{known_hint(kind.text, types)}'
        )
    name, constants = types[kind.text]
    of_others = {key for _, keys in types.values() for key in keys} - set(constants)
    given = []
    for child in tag.children:
        if child.key in constants:
            given.append(dataclasses.replace(child, key=constants[child.key]))
        elif child.key in of_others:
            notes.append(f'{child.path} has no effect: {kind.text} does not use it')
        elif child is not kind:
            raise SourceError(child.path, f'unknown tag{suggestion(child.key, constants)}')
    for key in constants:
        if not tag.all(key):
            raise SourceError(f'{tag.path}/{key}', f'is missing, {kind.text} needs it')
    if types is _LIFT_DRAG:
        return [Tag(name, '', tag.path, children=tuple(given))]
    return [Tag(tag.key, name, kind.path), *given]
