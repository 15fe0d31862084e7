# SPDX-License-Identifier: Apache-2.0
"""What the actuators of a robot can do together: place, thrust, speed and lag of each, and the sum.

For people who check a description; nodes do not need it.
"""
from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from propulsion_ros.drawing.drawn_blocks import layout_of
from propulsion_ros.graph.doubts import RPM, largest_speeds
from propulsion_ros.models.body.mass import MassProperties
from propulsion_ros.models.common.facts import LIFT
from propulsion_ros.models.common.family import Allocatable, Family
from propulsion_ros.models.common.layout import ThrustLayout
from propulsion_ros.models.registry import REGISTRY
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.flat import build
from propulsion_ros.settings.quantity import FloatArray
from propulsion_ros.urdf.block import ActuatorSpec

GRAVITY = 9.81
AXES = ('force x', 'force y', 'force z', 'torque x', 'torque y', 'torque z')
_LAG = 'time_constant'
_HEADER = ('block', 'actuator', 'place [m]', 'axis', 'newtons', 'rpm', 'lag [s]')
_SMALL, _NOISE = 1e-6, 1e-8


@dataclass(frozen=True, eq=False)
class Group:
    """One plugin block, n actuators."""

    name: str
    layout: ThrustLayout
    speeds: FloatArray
    """At the largest thrust [rad/s], (n,), NaN where unknown."""
    lags: Sequence[str]
    """First-order lags of each [s], '' where it has none of its own."""
    matrix: FloatArray
    """Wrench about the origin of base_link per thrust, (6, n); no columns for what only lifts."""


@dataclass(frozen=True, eq=False)
class RobotLayout:
    """All actuators of a robot that have a place, and its mass."""

    base_link: str
    groups: Sequence[Group]
    body: MassProperties
    """Of all links, 0 kg where no link has a mass."""

    @property
    def matrix(self) -> FloatArray:
        """Wrench about the centre of mass per thrust, (6, n)."""
        columns = [np.zeros((6, 0)), *(group.matrix for group in self.groups)]
        whole: FloatArray = np.hstack(columns)
        moved: FloatArray = whole.copy()
        moved[3:] -= np.cross(self.body.com, whole[:3].T).T
        return moved

    @property
    def limits(self) -> tuple[FloatArray, FloatArray]:
        """Lowest and highest thrust of each column of the matrix [N], NaN where unknown."""
        with_columns = [group.layout for group in self.groups if group.matrix.shape[1]]
        return (
            np.concatenate([each.lowest for each in with_columns] or [np.empty(0)]),
            np.concatenate([each.highest for each in with_columns] or [np.empty(0)]),
        )

    @property
    def extremes(self) -> tuple[FloatArray, FloatArray]:
        """Least and largest of each part of the wrench, of all actuators together, (6,) each."""
        matrix = self.matrix
        # What is left of a difference that is 0 counts as 0, also times an unknown thrust.
        matrix[np.abs(matrix) <= _NOISE * np.abs(matrix).max(initial=0.0)] = 0.0
        lowest, highest = (np.where(matrix, matrix * limit, 0.0) for limit in self.limits)
        return (
            np.where(matrix > 0.0, lowest, highest).sum(axis=1),
            np.where(matrix > 0.0, highest, lowest).sum(axis=1),
        )

    @property
    def thrust_to_weight(self) -> float:
        """Largest force along z of base_link over the weight, NaN where either is unknown."""
        weight = self.body.mass * GRAVITY
        return float(self.extremes[1][2] / weight) if weight else np.nan

    @property
    def controlled(self) -> list[str]:
        """Parts of the wrench that some thrusts make without any other part."""
        matrix = self._scaled
        wanted = np.eye(6)
        made = matrix @ (np.linalg.pinv(matrix, rcond=_SMALL) @ wanted)
        return [axis for i, axis in enumerate(AXES) if np.allclose(made[i], wanted[i], atol=1e-4)]

    @property
    def rank_and_condition(self) -> tuple[int, float]:
        """Rank of the allocation, and how much worse its weakest direction is than its best."""
        values = np.linalg.svd(self._scaled, compute_uv=False)
        kept = values[values > _SMALL * max(values.max(initial=0.0), _SMALL)]
        return len(kept), float(kept[0] / kept[-1]) if len(kept) else np.nan

    @property
    def not_counted(self) -> str:
        """What comes on top of all that, as a phrase, '' for nothing."""
        joints = [name for group in self.groups for name in group.layout.angle_names]
        lifting = [group.name for group in self.groups if not group.matrix.shape[1]]
        return '; '.join([
            *([f'joints {", ".join(joints)}, taken at 0'] if joints else []),
            *([f'lift of {", ".join(lifting)}'] if lifting else []),
        ])

    @property
    def _scaled(self) -> FloatArray:
        """Return the matrix with torques over the longest arm, so that all are forces."""
        matrix = self.matrix
        arm = float(np.abs(matrix[3:]).max(initial=0.0)) or 1.0
        return np.vstack((matrix[:3], matrix[3:] / arm))


def robot_layout(
    specs: Sequence[ActuatorSpec],
    body: MassProperties,
    parameters_of_node: Callable[[str], Mapping[str, Any]] = lambda name: {},
) -> RobotLayout:
    """Return the layout of a robot.

    Parameters
    ----------
    specs : sequence of ActuatorSpec
        Its plugin blocks; those in another base_link than the first are left out.
    body : MassProperties
        Of all links, in the base_link of the blocks.
    parameters_of_node : callable
        Parameters of a block's node, which win over its tags.

    Raises
    ------
    ConfigError
        For a block that lacks or misstates something.
    """
    base_link = specs[0].base_link if specs else ''
    groups = [
        group for spec in specs if spec.base_link == base_link
        for group in _groups(spec, parameters_of_node(spec.name))
    ]
    return RobotLayout(base_link, groups, body)


def lines_of(robot: RobotLayout) -> Iterator[str]:
    """Yield a table of the actuators, and one of what they do together."""
    actuators: list[Sequence[str]] = [_HEADER]
    actuators.extend(row for group in robot.groups for row in _rows(group))
    yield from _table(actuators)
    yield ''
    least, most = robot.extremes
    yield from _table([
        ('together', 'least', 'most'),
        *((axis, _number(low), _number(high)) for axis, low, high in zip(
            AXES, least, most, strict=True
        )),
    ])
    yield ''
    rank, condition = robot.rank_and_condition
    mass = f'{robot.body.mass:.4g} kg' if robot.body.mass else 'unknown, no link has an <inertial>'
    rows = [
        ('mass', mass),
        ('thrust to weight', f'{_number(robot.thrust_to_weight)} along z of {robot.base_link}'),
        ('can be controlled', ', '.join(robot.controlled) or 'nothing'),
        ('allocation', f'rank {rank} of 6, condition number {_number(condition)}'),
    ]
    if robot.not_counted:
        rows.append(('not counted', robot.not_counted))
    yield from _table(rows)


def _groups(spec: ActuatorSpec, given: Mapping[str, Any]) -> Iterator[Group]:
    """Yield the group of a block, nothing for one without places."""
    family_type = REGISTRY[spec.family]
    if not family_type.facts.pushes:
        return
    fixed = {'names', *spec.geometry}
    values = {**spec.values, **{key: each for key, each in given.items() if key not in fixed}}
    try:
        params: Any = build(family_type.Params, values)
        family = family_type(params)
        layout = layout_of(params, family)
    except ConfigError as error:
        raise spec.locate(error, given) from None
    if layout is not None:
        yield Group(
            spec.name, layout, _in_rows(largest_speeds(family), layout),
            _lags(params, len(layout.names)), _matrix(family, layout),
        )


def _in_rows(values: FloatArray, layout: ThrustLayout) -> FloatArray:
    count = len(layout.names)
    return values if len(values) == count else np.full(count, np.nan)


def _matrix(family: Family, layout: ThrustLayout) -> FloatArray:
    if family.facts.force == LIFT:
        return np.zeros((6, 0))
    if isinstance(family, Allocatable):
        return family.allocation_matrix
    return np.vstack((layout.axis.T, np.cross(layout.position, layout.axis).T))


def _lags(params: Any, count: int) -> list[str]:
    """Return what the first-order lags of each row are, those of rise and fall apart."""
    columns = [
        np.asarray(getattr(params, key.name)) for key in dataclasses.fields(params)
        if key.name.startswith(_LAG) and not key.name.endswith('_range')
    ]
    rows = [column for column in columns if column.shape == (count,)]
    texts = [
        '/'.join(dict.fromkeys(f'{value:g}' for value in row)) for row in zip(*rows, strict=True)
    ]
    return texts or [''] * count


def _rows(group: Group) -> Iterator[tuple[str, ...]]:
    layout = group.layout
    for i, name in enumerate(layout.names):
        yield (
            group.name, name, _vector(layout.position[i]), _vector(layout.axis[i]),
            _number(float(layout.highest[i])), _number(float(group.speeds[i]) * RPM),
            group.lags[i] or '-',
        )


def _vector(values: FloatArray) -> str:
    return ' '.join(f'{value:.4g}' for value in np.round(values, 4) + 0.0)


def _number(value: float) -> str:
    return f'{value + 0.0:.4g}' if np.isfinite(value) else '-'


def _table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield '  '.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
