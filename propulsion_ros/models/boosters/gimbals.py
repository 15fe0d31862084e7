# SPDX-License-Identifier: Apache-2.0
"""Two-axis gimbals that turn a booster's thrust.

Each axis is a first-order lag of the commanded angle inside its range, after PyFlyt's Gimbals, or
a `Servo`. Axis 1 is the outer one and carries axis 2, so the thrust axis u points along R1 R2 u.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from propulsion_ros.models.common.family import restart
from propulsion_ros.models.common.lag import Lag
from propulsion_ros.models.common.servo import Follower, Servo, ServoParams, check_servos
from propulsion_ros.models.common.wrench import cross, move_wrench, unit_rows
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.quantity import (
    BoolArray,
    FloatArray,
    names,
    per_row,
    quantity,
    validate,
)

_HERE = np.eye(4)
_AS_RANGE = -1.0


@dataclass(frozen=True, kw_only=True, eq=False)
class GimbalsParams(ServoParams):
    """Configuration of g gimbals, each with two axes."""

    booster: tuple[str, ...] = names('booster that each gimbal turns', ())
    joints: tuple[str, ...] = quantity(
        '', doc='joints of the outer and the inner axis', kind=str, shape=('n', 2),
        geometry='joints',
    )
    range: FloatArray = quantity(
        0.0873, 'rad', doc='largest angle to either side, per axis', lo=0.0, hi=np.pi,
        shape=('n', 2),
    )
    negative_range: FloatArray = quantity(
        _AS_RANGE, 'rad', doc='largest angle to the negative side, per axis; -1: that of range',
        lo=_AS_RANGE, hi=np.pi, shape=('n', 2),
    )
    time_constant: FloatArray = per_row(0.0, 's', doc='first-order lag of the angle', lo=0.0)
    rate_limit: FloatArray = per_row(
        0.0, 'rad/s', doc='largest rate of the angle; 0 means no limit', lo=0.0
    )
    axes: FloatArray = quantity(
        (1.0, 0.0, 0.0, 0.0, 1.0, 0.0), doc='unit axes of rotation in base_link',
        shape=('n', 2, 3), geometry='joint_axes',
    )
    pivots: FloatArray = quantity(
        (0.0,) * 6, 'm', doc='points in base_link that the axes pass through',
        shape=('n', 2, 3), geometry='joint_origins',
    )
    integrator: str = quantity(
        'exact', doc='exact, or the explicit step of the original', kind=str,
        choices=('exact', 'euler'),
    )

    def __post_init__(self) -> None:
        validate(self)
        check_servos(self)
        for i, angle in enumerate(self.negative_range.ravel().tolist()):
            if _AS_RANGE < angle < 0.0:
                raise ConfigError(
                    'negative_range', f'expected a size, or -1 for that of range, got {angle:g}', i
                )
        owners = [booster for booster in self.booster for _ in range(2)]
        joints = tuple(
            joint or f'{owner}_gimbal_{i % 2 + 1}'
            for i, (owner, joint) in enumerate(zip(owners, self.joints, strict=True))
        )
        object.__setattr__(self, 'joints', joints)


class Gimbals:
    """Angles and rotations of g gimbals.

    Parameters
    ----------
    params : GimbalsParams
        Validated configuration.
    batch : tuple of int
        Leading batch shape of the state.
    step_value : {'end', 'mean'}
        Of the angles, what turns the force of a step.

    Attributes
    ----------
    angles : FloatArray
        [rad], shape (..., g, 2).
    """

    angles: FloatArray

    def __init__(
        self, params: GimbalsParams, batch: tuple[int, ...] = (), step_value: str = 'end'
    ) -> None:
        g = len(params.booster)
        negative = params.negative_range
        self._lower = -np.where(negative == _AS_RANGE, params.range, negative)
        self._upper = params.range
        lag = Lag(
            np.broadcast_to(params.time_constant[:, None], (g, 2)),
            np.broadcast_to(params.rate_limit[:, None], (g, 2)),
            params.integrator,
            step_value,
        )
        needs = params.natural_frequency.any() or params.backlash.any()
        self._servo = Servo(
            params, lag, self._lower, self._upper, batch, step_value
        ) if needs else None
        self._follower: Follower = self._servo or lag
        self._axes, self._pivots = unit_rows('gimbals.axes', params.axes), params.pivots
        turn = _cross_matrices(self._axes)
        self._by_sine = _about(turn, params.pivots)
        self._by_versine = _about(turn @ turn, params.pivots)
        self._shape = (*batch, g, 2)
        self.reset()

    def reset(self, indices: Any = None, angles: FloatArray | None = None) -> None:
        """Return to angles (..., g, 2), or to 0, in some environments; see `restart`."""
        start = np.zeros(self._shape) if angles is None else angles
        restart(self, indices, self._shape[:-2], angles=start)
        self._applied = self.angles
        if self._servo:
            self._servo.reset(indices, start)

    @property
    def range(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Angles at the start, and the lowest and highest ones [rad], (..., g, 2)."""
        return np.zeros(self._shape), self._lower, self._upper

    def step(self, command: FloatArray, dt: float) -> BoolArray:
        """Follow the commanded angles for dt [s].

        Parameters
        ----------
        command : FloatArray
            [rad], shape (..., g, 2); clipped to the range.
        dt : float
            [s].

        Returns
        -------
        BoolArray
            Whether each command was outside the range, shape (..., g, 2).
        """
        demand = np.minimum(np.maximum(command, self._lower), self._upper)
        self.angles, self._applied = self._follower.advance(self.angles, demand, dt)
        return np.asarray(demand != command)

    def hold(self) -> None:
        """Keep the angles for one step."""
        self._applied = self.angles
        if self._servo:
            self._servo.stop()

    def rotations(self) -> tuple[FloatArray, FloatArray]:
        """Return the outer rotation R1 and the whole rotation R1 R2, each (..., g, 3, 3)."""
        outer, whole = self._motions()
        return outer[..., :3, :3], whole[..., :3, :3]

    def _motions(self) -> tuple[FloatArray, FloatArray]:
        """Return what the outer axis and both do, as 4 x 4 matrices about the pivots."""
        parts = _parts(self.angles)[..., None, None]
        each = _HERE + parts[..., 1, :, :] * self._by_sine + parts[..., 2, :, :] * self._by_versine
        outer = each[..., 0, :, :]
        return outer, outer @ each[..., 1, :, :]

    def carry(
        self, points: FloatArray, axes: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return points and axes (g, 3) of base_link as the present angles move them, (..., g, 3).

        The points turn about the pivots, the axes do not.
        """
        _, whole = self._motions()
        # Points carry a 1 below, which takes up the shift; directions a 0.
        columns = np.zeros((*np.shape(points)[:-1], 4, 2))
        columns[..., :3, 0], columns[..., :3, 1] = points, axes
        columns[..., 3, 0] = 1.0
        moved = whole @ columns
        return moved[..., :3, 0], moved[..., :3, 1]

    def wrench_table(self, points: FloatArray, axes: FloatArray) -> FloatArray:
        """Return what `wrenches` needs of forces along axes (g, 3) at points, (g, 9, 6)."""
        wrench = np.concatenate((axes, cross(points, axes)), axis=-1)
        inner = _turned_parts(wrench, self._axes[:, 1], self._pivots[:, 1])
        both = _turned_parts(inner, self._axes[:, :1], self._pivots[:, :1])
        return both.reshape(-1, 9, 6)

    def wrenches(self, table: FloatArray) -> FloatArray:
        """Return the wrench per force of each gimbal over the last step, (..., g, 6)."""
        parts = _parts(self._applied)
        # Both rotations together are the sum over all products of their parts.
        products = parts[..., 1, :, None] * parts[..., 0, None, :]
        weights = products.reshape(*products.shape[:-2], 1, 9)
        return np.asarray((weights @ table)[..., 0, :])


def _parts(angles: FloatArray) -> FloatArray:
    """Return 1, sine and 1 - cosine of each angle, of which a rotation is a sum, (..., 3)."""
    parts = np.empty((*angles.shape, 3))
    parts[..., 0] = 1.0
    np.sin(angles, out=parts[..., 1])
    np.subtract(1.0, np.cos(angles), out=parts[..., 2])
    return parts


def _turned_parts(wrench: FloatArray, axis: FloatArray, pivot: FloatArray) -> FloatArray:
    """Return what each part of a rotation makes of wrenches (..., 6), (..., 3, 6)."""
    here = move_wrench(wrench, -pivot)
    pair = here.reshape(*here.shape[:-1], 2, 3)
    once = cross(axis[..., None, :], pair)
    twice = cross(axis[..., None, :], once)
    turned = np.stack((pair, once, twice), axis=-3)
    return move_wrench(turned.reshape(*here.shape[:-1], 3, 6), pivot[..., None, :])


def _about(turn: FloatArray, pivots: FloatArray) -> FloatArray:
    """Return 4 x 4 matrices that do to p - pivot what ``turn`` does, (..., 4, 4)."""
    matrix = np.zeros((*turn.shape[:-2], 4, 4))
    matrix[..., :3, :3] = turn
    matrix[..., :3, 3] = -(turn @ pivots[..., None])[..., 0]
    return matrix


def _cross_matrices(axes: FloatArray) -> FloatArray:
    x, y, z = axes[..., 0], axes[..., 1], axes[..., 2]
    zero = np.zeros_like(x)
    rows = ((zero, -z, y), (z, zero, -x), (-y, x, zero))
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)
