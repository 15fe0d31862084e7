# SPDX-License-Identifier: Apache-2.0
"""Gimbals of boosters: two joints each, whose servos follow commands; see `Steering`.

The lag is that of PyFlyt's Gimbals, and the thrust axis u points along R1 R2 u.
"""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from propulsion_ros.models.common.servo import ServoParams, check_servos
from propulsion_ros.models.common.wrench import unit_rows
from propulsion_ros.models.steering.steering import Steering
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.quantity import FloatArray, names, per_row, quantity, validate

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


def gimbals_of(
    params: GimbalsParams, batch: tuple[int, ...] = (), step_value: str = 'end'
) -> Steering:
    """Return gimbals, whose angles are (..., g, 2); see `Steering`."""
    negative = params.negative_range
    lower = -np.where(negative == _AS_RANGE, params.range, negative)
    axes = unit_rows('gimbals.axes', params.axes)
    return Steering(params, axes, params.pivots, (lower, params.range), batch, step_value)
