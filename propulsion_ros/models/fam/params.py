# SPDX-License-Identifier: Apache-2.0
"""Configuration that the force allocation, its inverse and the simulated modules share."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from propulsion_ros.models.common import placement
from propulsion_ros.models.common.allocation import allocation_matrix
from propulsion_ros.models.common.wrench import skew, unit_rows
from propulsion_ros.models.fam import constants as astrobee
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.quantity import (
    FloatArray,
    IntArray,
    check_known,
    group,
    names,
    per_row,
    quantity,
    validate,
)


@dataclass(frozen=True, kw_only=True, eq=False)
class NozzlesParams:
    """Configuration of n nozzles; the defaults are Astrobee's twelve."""

    names: tuple[str, ...] = names(
        'nozzle names, the order of all arrays', astrobee.NOZZLE_NAMES
    )
    impeller: tuple[str, ...] = per_row(
        astrobee.NOZZLE_IMPELLERS, kind=str, doc='impeller whose plenum each nozzle opens'
    )
    width: FloatArray = per_row(
        astrobee.NOZZLE_WIDTHS, 'm', doc='width of the opening, across its two flaps', lo=1e-6,
        hi=1e3
    )
    discharge_coefficient: FloatArray = per_row(
        astrobee.DISCHARGE_COEFFICIENTS, doc='effective over open area', lo=1e-3, hi=1e3,
        usual=(0.0, 1.0),
    )
    open_stop: FloatArray = per_row(
        astrobee.MAX_ANGLE, 'rad', lo=astrobee.MIN_ANGLE, hi=np.pi / 2,
        doc='flap angle that is really reached; commands beyond it end there',
    )
    position: FloatArray = placement.position('where the thrust acts', astrobee.NOZZLE_POSITIONS)
    axis: FloatArray = placement.direction(
        'direction of the thrust, against the outflow, in the link of the nozzle',
        astrobee.NOZZLE_AXES,
    )
    link: tuple[str, ...] = placement.link()
    rotation: FloatArray = placement.rotation()

    def __post_init__(self) -> None:
        validate(self)
        unit_rows('axis', self.axis)


@dataclass(frozen=True, kw_only=True, eq=False)
class ImpellersParams:
    """Configuration of m impellers, each with a plenum of its own."""

    names: tuple[str, ...] = names(
        'impeller names, the order of all arrays', astrobee.IMPELLER_NAMES
    )
    zero_thrust_area: FloatArray = per_row(
        astrobee.ZERO_THRUST_AREAS, 'm^2', lo=0.0, hi=0.01,
        doc='leakage of the plenum; the table of the original takes that of its module 1 for both',
    )
    axis: FloatArray = quantity(
        astrobee.IMPELLER_AXES, doc='direction of the angular velocity, in base_link',
        shape=('n', 3),
    )

    def __post_init__(self) -> None:
        validate(self)
        unit_rows('axis', self.axis)


@dataclass(frozen=True, kw_only=True, eq=False)
class ModulesParams:
    """Nozzles and impellers, with what turns their state into thrust."""

    nozzles: NozzlesParams = group(NozzlesParams, element='nozzle')
    impellers: ImpellersParams = group(ImpellersParams, element='impeller')
    min_angle: float = quantity(
        astrobee.MIN_ANGLE, 'rad', doc='flap angle that count 0 commands', above=0.0, hi=np.pi / 2
    )
    max_angle: float = quantity(
        astrobee.MAX_ANGLE, 'rad', doc='flap angle that count 255 commands', above=0.0,
        hi=np.pi / 2,
    )
    air_density: float = quantity(
        astrobee.AIR_DENSITY, 'kg/m^3', doc='of the cabin; thrust is proportional to it', lo=1e-9,
        hi=1e6
    )
    thrust_scale: float = quantity(
        1.0, lo=1e-6, hi=1e6, usual=(0.3, 3.0),
        doc="thrust over what the equations give; Astrobee's simulator has 1.25",
    )

    def __post_init__(self) -> None:
        validate(self)
        if self.min_angle >= self.max_angle:
            raise ConfigError(
                'min_angle', f'{self.min_angle:g} is not below max_angle {self.max_angle:g} rad'
            )
        for i in np.flatnonzero(self.nozzles.open_stop <= self.min_angle).tolist():
            raise ConfigError(
                'nozzles.open_stop', f'{self.nozzles.open_stop[i]:g} is not above min_angle '
                f'{self.min_angle:g} rad', i,
            )
        known = self.impellers.names
        if not self.nozzles.names:
            raise ConfigError('nozzles.names', 'expected at least one nozzle')
        check_known('nozzles.impeller', self.nozzles.impeller, 'impeller', known)
        for i, name in enumerate(known):
            if name in self.nozzles.names:
                raise ConfigError('impellers.names', f'{name!r} is a nozzle too', i)

    @property
    def plenum_of(self) -> IntArray:
        """Column of the impeller that feeds each nozzle, shape (n,)."""
        return np.array([self.impellers.names.index(name) for name in self.nozzles.impeller], int)

    @property
    def allocation_matrix(self) -> FloatArray:
        """Wrench about base_link's origin per thrust, shape (6, n)."""
        axis = unit_rows('nozzles.axis', self.nozzles.axis)
        return np.ascontiguousarray(allocation_matrix(self.nozzles.position, axis))

    @property
    def lines(self) -> list[IntArray]:
        """Nozzles that push along the same direction, in either sense."""
        axis = unit_rows('nozzles.axis', self.nozzles.axis)
        first = np.argmax(np.abs(axis) > 1e-6, axis=1)
        sense = np.sign(axis[np.arange(len(axis)), first])
        # Adding 0 turns -0 into 0.
        direction = np.round(axis * sense[:, None], 6) + 0.0
        _, line_of = np.unique(direction, axis=0, return_inverse=True)
        return [np.flatnonzero(line_of.ravel() == i) for i in range(int(line_of.max()) + 1)]


@dataclass(frozen=True, kw_only=True, eq=False)
class WrenchParams(ModulesParams):
    """The same, with the point that torques are about."""

    com: FloatArray = quantity(
        (0.0, 0.0, 0.0), 'm', doc='centre of mass in base_link, until one is received', shape=(3,),
        live=True,
    )
    torque_about: str = quantity(
        'com', kind=str, choices=('com', 'origin'),
        doc="point of the demanded torque: the centre of mass, or base_link's origin",
    )

    def torque_point(self, com: FloatArray) -> FloatArray:
        """Return the point [m], (3,), that torques are about, with a centre of mass."""
        return np.zeros(3) if self.torque_about == 'origin' else np.asarray(com, dtype=float)


def torque_shift(com: FloatArray) -> FloatArray:
    """Return the matrix that moves a wrench about base_link's origin to one about ``com``.

    Returns
    -------
    FloatArray
        Shape (6, 6): the force stays, the torque loses com x force.
    """
    shift = np.eye(6)
    shift[3:, :3] = skew(-np.asarray(com))
    return shift


def angle_from_count(count: FloatArray | IntArray, params: ModulesParams) -> FloatArray:
    """Return the flap angle [rad] of a servo command of 0 to 255, any shape."""
    step = (params.max_angle - params.min_angle) / astrobee.COUNTS
    return np.asarray(params.min_angle + step * np.asarray(count, dtype=float))


def speed_from_count(count: FloatArray | IntArray) -> FloatArray:
    """Return the impeller speed [rad/s] of a motor command of 0 to 255, any shape."""
    return np.asarray(np.asarray(count, dtype=float) / astrobee.COUNTS_PER_SPEED)


def count_from_speed(speed: FloatArray) -> FloatArray:
    """Return the motor command for an impeller speed [rad/s], rounded, any shape."""
    count = np.floor(astrobee.COUNTS_PER_SPEED * np.asarray(speed) + 0.5)
    return np.asarray(np.clip(count, 0.0, astrobee.COUNTS))
