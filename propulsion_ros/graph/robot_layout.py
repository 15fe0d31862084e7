# SPDX-License-Identifier: Apache-2.0
"""Layout of a robot: place, thrust, speed and lag of each actuator, and their joint wrench.

It is for people who check a description; nodes do not need it.
"""
from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from propulsion_ros.models.body.hulls import Hulls
from propulsion_ros.models.body.mass import MassProperties
from propulsion_ros.models.body.rigid_body import BodyParams
from propulsion_ros.models.body.simulated_body import ParachutesParams
from propulsion_ros.models.common.allocation import cost_doubt
from propulsion_ros.models.common.family import Family, TankState
from propulsion_ros.models.common.layout import ThrustLayout
from propulsion_ros.models.steering.steered import SteeredFamily
from propulsion_ros.settings.quantity import FloatArray
from propulsion_ros.urdf.link_tree import Joint

RPM = 60.0 / (2.0 * math.pi)
"""Revolutions per minute of one rad/s."""

AXES = ('force x', 'force y', 'force z', 'torque x', 'torque y', 'torque z')
AXES_OF = {
    'force_x': 'force x', 'force_y': 'force y', 'force_z': 'force z',
    'roll': 'torque x', 'pitch': 'torque y', 'yaw': 'torque z',
}
"""Words for ``expects``, beside ``hover``, and the part of the wrench that each needs."""
_HEADER = ('block', 'actuator', 'place [m]', 'axis', 'newtons', 'rpm', 'lag [s]')
_SMALL, _NOISE = 1e-6, 1e-8  # share of the largest number below which another one counts as 0
_PART = 1e-4
"""Share of another part of the wrench from which it comes with the one that is made."""
_SUPPORTED = (2, 3, 4)
"""Heave, roll and pitch, in which water supports a floating body."""
_ANGLES = 5
"""Number of angles of a joint, from its lowest to its highest."""


@dataclass(frozen=True, eq=False)
class Group:
    """One plugin block with n actuators."""

    name: str
    layout: ThrustLayout
    speeds: FloatArray
    """Speeds at the largest thrust [rad/s], (n,), NaN where unknown."""
    lags: Sequence[str]
    """First-order lags of each actuator [s], '' where it has none of its own."""
    matrix: FloatArray
    """Wrench about the origin of base_link per thrust, (6, n); fins that only lift have none."""
    tanks: TankState | None
    """Content of its tanks at the start."""
    family: Family
    params: Any
    timing: Any
    """The family, and the configurations of the family and of its timing."""
    joints: Mapping[str, Sequence[Joint | None]]
    """Joints as `ActuatorSpec` has them."""

    @property
    def has_thrusts(self) -> bool:
        """Whether its actuators push; those of fins only lift."""
        return bool(self.matrix.size)

    @property
    def burns(self) -> bool:
        """Whether its actuators are engines, which burn fuel."""
        return hasattr(self.params, 'max_fuel_rate')

    @property
    def pushes(self) -> FloatArray:
        """Largest thrust of each actuator along its axis [N], (n, 3), 0 where it is unknown."""
        return np.asarray(np.nan_to_num(self.layout.highest)[:, None] * self.layout.axis)

    @property
    def steered(self) -> SteeredFamily | None:
        """The family if joints turn its thrusts, else None."""
        is_steered = isinstance(self.family, SteeredFamily) and self.has_thrusts
        return self.family if is_steered else None  # type: ignore[return-value]

    def turned(self) -> dict[str, list[tuple[float, Group]]]:
        """Return the group at some angles [rad] of each joint that turns its actuators."""
        family, found = self.steered, dict[str, list[tuple[float, Group]]]()
        if family is None:
            return found
        for i, joint in enumerate(family.joint_names):
            low, high = (float(ends[i]) for ends in family.joint_limits)
            if high - low > 2.0 * math.pi:
                low, high = -math.pi, math.pi
            for angle in np.linspace(low, high, _ANGLES).tolist():
                angles = family.angles.copy()
                angles[i] = angle
                turned = dataclasses.replace(self, matrix=family.carried(self.matrix, angles))
                found.setdefault(joint, []).append((angle, turned))
        return found


@dataclass(frozen=True, eq=False)
class RobotLayout:
    """All actuators of a robot that have a place, and its mass."""

    base_link: str
    groups: Sequence[Group]
    body: MassProperties
    """Mass of all links with propellant at the start; 0 kg if no link has a mass."""
    propellant: float
    """Part of the mass that is in the tanks [kg]."""
    params: BodyParams
    """Configuration of the simulated body."""
    parachutes: ParachutesParams
    """Configuration of its parachutes."""
    links: Mapping[str, MassProperties]
    """Mass of each link that has one, by its path."""
    angles: Mapping[str, float]
    """Largest angle of each <origin> [rad], by its path."""
    shapes: Mapping[str, Sequence[tuple[FloatArray, FloatArray]]]
    """Shapes of links whose shapes have known sizes, as of `shapes_of_urdf`."""
    expects: frozenset[str]
    """Abilities that the robot must have, see `GroupParams`."""
    counted: FloatArray
    """1 for each part of the wrench that its allocators make exactly, 0 for others, (6,)."""
    is_vectored: bool
    """Whether an allocator turns joints for the wrench."""

    @property
    def engines(self) -> list[Group]:
        """Groups of engines, which burn fuel."""
        return [group for group in self.groups if group.burns]

    @property
    def pushing(self) -> list[Group]:
        """Groups whose actuators push."""
        return [group for group in self.groups if group.has_thrusts]

    @functools.cached_property
    def corners(self) -> Mapping[str, FloatArray]:
        """Corners of boxes around the shapes of each link, (m, 3), by its path."""
        return {path: np.vstack([box for box, _ in each]) for path, each in self.shapes.items()}

    @functools.cached_property
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
        layouts = [group.layout for group in self.pushing]
        return (
            np.concatenate([each.lowest for each in layouts] or [np.empty(0)]),
            np.concatenate([each.highest for each in layouts] or [np.empty(0)]),
        )

    @functools.cached_property
    def extremes(self) -> tuple[FloatArray, FloatArray]:
        """Least and largest value of each part of the wrench of all actuators together, (6,)."""
        matrix = self.matrix.copy()
        # A rounding error counts as 0, also times an unknown thrust.
        matrix[np.abs(matrix) <= _NOISE * np.abs(matrix).max(initial=0.0)] = 0.0
        lowest, highest = (np.where(matrix, matrix * limit, 0.0) for limit in self.limits)
        return (
            np.where(matrix > 0.0, lowest, highest).sum(axis=1),
            np.where(matrix > 0.0, highest, lowest).sum(axis=1),
        )

    @functools.cached_property
    def largest(self) -> FloatArray:
        """Largest size of each part of the wrench of all actuators together, 0 if unknown, (6,)."""
        return np.asarray(np.maximum(*np.nan_to_num(np.abs(self.extremes))))

    @property
    def weight(self) -> float:
        """Weight [N]; 0 if no link has a mass, or without gravity."""
        return self.body.mass * self.params.gravity

    @functools.cached_property
    def thrust_to_weight(self) -> float:
        """Largest force along z of base_link over the weight, NaN where either is unknown."""
        return float(self.extremes[1][2] / self.weight) if self.weight else np.nan

    @functools.cached_property
    def afloat(self) -> tuple[float, ...] | None:
        """Height of base_link above the water, and of the metacentres above the mass [m].

        None for a robot without hulls, or with hulls that do not carry it.
        """
        density, hulls = self.params.fluid_density, Hulls(self.params.hulls)
        height = hulls.height_at_rest(self.body.mass, density) if density and hulls.volume else None
        if height is None or not self.body.mass:
            return None
        return height, *hulls.metacentric_heights(self.body, density, height)

    @property
    def buoyancy(self) -> tuple[float, float] | None:
        """Mass of displaced fluid [kg], and height of its centre above that of the mass [m].

        None for a robot that displaces none, or has hulls: their share depends on how they float.
        """
        displaced = self.params.fluid_density * self.params.displaced_volume
        if not displaced:
            return None
        return displaced, float(self.params.centre_of_buoyancy[2] - self.body.com[2])

    @property
    def lifting(self) -> list[str]:
        """Names of groups whose actuators only lift, as fins."""
        return [group.name for group in self.groups if not group.has_thrusts]

    @property
    def controlled(self) -> list[str]:
        """Parts of the wrench that the actuators can make without any other part."""
        return [parts[0] for parts in self.together if len(parts) == 1]

    @functools.cached_property
    def together(self) -> list[list[str]]:
        """Parts of the wrench that the actuators can make, each with those that come with it."""
        # Water holds a floating robot in heave, roll and pitch.
        parts = [k for k in range(len(AXES)) if not (self.afloat and k in _SUPPORTED)]
        made = np.abs(self.made(parts)) > _PART
        found: list[list[str]] = []
        for i in np.flatnonzero(np.diag(made)):
            reached = made[i]
            while not np.array_equal(more := made[reached].any(axis=0), reached):
                reached = more
            names = [AXES[parts[j]] for j in np.flatnonzero(reached)]
            if names not in found:
                found.append(names)
        return found

    def made(self, parts: Sequence[int]) -> FloatArray:
        """Return the least-squares fit to each of some unit parts of the wrench, (k, k).

        The parts are indices of `AXES`; all other parts are free, and so are the angles of joints
        that turn actuators.
        """
        matrix = self._scaled_over_angles
        matrix[np.abs(matrix) < _SMALL * np.abs(matrix).max(initial=0.0)] = 0.0
        chosen = matrix[list(parts)]
        return np.asarray(chosen @ np.linalg.pinv(chosen, rcond=_SMALL))

    @property
    def rank_and_condition(self) -> tuple[int, float]:
        """Rank and condition number of the allocation, which may turn joints."""
        matrix = self._scaled_over_angles if self.is_vectored else self._scaled
        values = np.linalg.svd(matrix, compute_uv=False)
        kept = values[values > _SMALL * max(values.max(initial=0.0), _SMALL)]
        return len(kept), float(kept[0] / kept[-1]) if len(kept) else np.nan

    @property
    def not_counted(self) -> str:
        """Description of what the wrench leaves out, '' for nothing."""
        joints = {but: ', '.join(
            name for group in self.groups if (group.steered is None) == (not but)
            for name in group.layout.angle_names
        ) for but in (', but at any angle for what can be controlled', '')}
        off = [name for group in self.groups for name in group.timing.switched_off]
        return '; '.join([
            *(f'joints {names}, taken at 0{but}' for but, names in joints.items() if names),
            *([f'lift of {", ".join(self.lifting)}'] if self.lifting else []),
            *([f'that {", ".join(off)} is switched off (efficiency is counted)'] if off else []),
        ])

    @property
    def _scaled_over_angles(self) -> FloatArray:
        """The scaled matrix with columns at further angles of the joints that turn actuators."""
        return dataclasses.replace(self, groups=[
            dataclasses.replace(group, matrix=np.hstack([group.matrix, *(
                turned.matrix for rows in group.turned().values() for _, turned in rows
            )])) for group in self.groups
        ])._scaled

    @property
    def _scaled(self) -> FloatArray:
        """The matrix with torques divided by the longest arm, so that all are forces."""
        matrix = self.matrix
        arm = float(np.abs(matrix[3:]).max(initial=0.0)) or 1.0
        return np.vstack((matrix[:3], matrix[3:] / arm))


def lines_of(robot: RobotLayout, more: Iterable[tuple[str, str]] = ()) -> Iterator[str]:
    """Yield the lines of a table of the actuators, and of one of their joint wrench.

    ``more`` are further rows, each a name and a text.
    """
    actuators: list[Sequence[str]] = [_HEADER]
    actuators.extend(row for group in robot.groups for row in _rows(group))
    yield from aligned(actuators)
    yield ''
    least, most = robot.extremes
    yield from aligned([
        ('together [N, N m]', 'least', 'most'),
        *((axis, _number(low), _number(high)) for axis, low, high in zip(
            AXES, least, most, strict=True
        )),
    ])
    yield ''
    for turning in _over_angles(robot):
        yield from aligned(turning)
        yield ''
    rank, condition = robot.rank_and_condition
    mass = f'{robot.body.mass:.4g} kg' if robot.body.mass else 'unknown, no link has an <inertial>'
    mass += f', {robot.propellant:.4g} kg of it propellant' if robot.propellant else ''
    rows = [('mass', mass)]
    if robot.body.mass:
        rows += [
            ('centre of mass', f'{_vector(robot.body.com)} m'),
            ('inertia about it', f'{_vector(np.diag(robot.body.inertia))} kg m^2'),
        ]
    coupled = [', '.join(parts) for parts in robot.together if len(parts) > 1]
    more_by = f'; more by the lift of {", ".join(robot.lifting)}'
    rows += [
        # What pushes nothing along z is carried by water, or by nothing.
        *([('thrust to weight', f'{_number(robot.thrust_to_weight)} along z of {robot.base_link}')]
          if least[2] or most[2] else []),
        ('can be controlled',
         (', '.join(robot.controlled) or 'nothing alone') + more_by * bool(robot.lifting)),
        *([('only together', '; '.join(coupled))] if coupled else []),
        ('allocation', f'rank {rank} of 6, condition number {_number(condition)}'),
        *([('costly', doubt)] if (doubt := _cost_doubt(robot)) else []),
    ]
    if robot.afloat:
        height, _, roll, pitch = map(_number, robot.afloat)
        rows.append((
            'afloat', f'{robot.base_link} {height} m above the water, metacentre above the centre '
            f'of mass by {roll} m in roll, {pitch} m in pitch',
        ))
    if robot.buoyancy:
        displaced, above = robot.buoyancy
        lift = (displaced - robot.body.mass) * robot.params.gravity
        rows.append((
            'buoyancy', f'displaces {_number(displaced)} kg, its centre {_number(above)} m above '
            f'the centre of mass; it {"sinks" if lift < 0.0 else "rises"} with '
            f'{_number(abs(lift))} N',
        ))
    rows += more
    if robot.not_counted:
        rows.append(('not counted', robot.not_counted))
    yield from aligned(rows)


def _cost_doubt(robot: RobotLayout) -> str:
    """Return which parts of the wrench cost an allocator far more effort alone, '' for none."""
    if robot.is_vectored:
        return ''
    # Hovering needs all torques.
    needed = {*AXES[2:]} if 'hover' in robot.expects else set()
    needed |= {AXES_OF[word] for word in robot.expects - {'hover'}}
    return cost_doubt(robot.matrix * robot.counted[:, None], [*map(AXES.index, needed)])


def _over_angles(robot: RobotLayout) -> Iterator[list[Sequence[str]]]:
    """Yield, for each joint that turns actuators, a table of the wrench at some of its angles."""
    for group in robot.groups:
        for joint, turned in group.turned().items():
            rows: list[Sequence[str]] = [(f'{joint} [deg]', *AXES)]
            for angle, each in turned:
                least, most = dataclasses.replace(
                    robot, groups=[each if other is group else other for other in robot.groups]
                ).extremes
                rows.append((_number(math.degrees(angle)), *(
                    f'{_number(a)} .. {_number(b)}' for a, b in zip(least, most, strict=True)
                )))
            yield rows


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


def aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield '  '.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
