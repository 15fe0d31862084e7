# SPDX-License-Identifier: Apache-2.0
"""Propellant tanks whose mass and inertia fall with what is drawn from them."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from propulsion_ros.models.common import placement
from propulsion_ros.models.common.family import TankState, restart
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.quantity import (
    BoolArray,
    FloatArray,
    IntArray,
    names,
    per_row,
    quantity,
    validate,
)

THINNEST = 1e-6
"""Least wall and length of a grain over its radius."""
_POINTS = 400
_LARGEST = 1e6


@dataclass(frozen=True, kw_only=True, eq=False)
class GrainsParams:
    """Solid propellant in m tanks.

    A motor holds a stack of equal cylinders with a bore (BATES grains), which burn on the wall of
    the bore and on both ends at one rate, and not on the outside.
    """

    grain_outer_radius: FloatArray = per_row(
        0.0, 'm', lo=0.0, hi=_LARGEST,
        doc='solid propellant in cylinders along z of the link, whose bores and ends burn: its '
        'inertia is theirs; 0: the inertia is in proportion to the mass',
    )
    grain_inner_radius: FloatArray = per_row(
        0.0, 'm', doc='grains: radius of the bore at the start', lo=0.0, hi=_LARGEST
    )
    grain_length: FloatArray = per_row(
        0.0, 'm', doc='grains: length of one at the start', lo=0.0, hi=_LARGEST
    )
    grain_count: IntArray = per_row(1, doc='grains: how many in a stack', kind=int, lo=1, hi=1000)
    grain_separation: FloatArray = per_row(
        0.0, 'm', doc='grains: between two of them at the start', lo=0.0, hi=_LARGEST
    )


def burnt_shapes(
    outer: float, inner: float, length: float, count: int, gap: float
) -> tuple[FloatArray, FloatArray]:
    """Return what is left of the mass, rising from 0 to 1, and the inertia over mass then.

    Parameters
    ----------
    outer, inner : float
        Radii of the cylinder and of its bore at the start [m].
    length : float
        Of one grain at the start [m].
    count : int
        Grains in the stack.
    gap : float
        Between two grains at the start [m].

    Returns
    -------
    tuple of FloatArray
        Ratios (k,), and moments over mass across, across and along the axis [m^2], (k, 3).
    """
    depth = np.linspace(min(outer - inner, 0.5 * length), 0.0, _POINTS)
    bore, high = inner + depth, length - 2.0 * depth
    volume = (outer - bore) * (outer + bore) * high
    square = outer**2 + bore**2
    place = (np.arange(count) - 0.5 * (count - 1)) * (length + gap)
    across = square / 4.0 + high**2 / 12.0 + np.mean(place**2)
    return volume / volume[-1], np.stack((across, across, square / 2.0), axis=-1)


_ROUNDING = 1e-12


@dataclass(frozen=True, kw_only=True, eq=False)
class VesselsParams:
    """Configuration of m propellant tanks whose inertia is in proportion to their mass."""

    names: tuple[str, ...] = names('tank names', ())
    capacity: FloatArray = per_row(0.0, 'kg', doc='propellant when full', lo=0.0)
    inertia: FloatArray = quantity(
        (0.0, 0.0, 0.0), 'kg m^2', lo=0.0, shape=('n', 3),
        doc='principal moments of the full tank about its centre of mass, axes of its link',
    )
    starting_fuel_ratio: FloatArray = per_row(
        1.0, '', doc='propellant at the start over capacity', lo=0.0, hi=1.0, live=True
    )
    com: FloatArray = quantity(
        (0.0, 0.0, 0.0), 'm', doc='centre of mass of the full tank in base_link', shape=('n', 3),
        geometry='origin',
    )
    com_empty: FloatArray = quantity(
        (0.0, 0.0, 0.0), 'm', shape=('n', 3),
        doc='way of the centre of mass from full to empty, axes of its link',
    )
    rotation: FloatArray = placement.rotation()

    def __post_init__(self) -> None:
        validate(self)


@dataclass(frozen=True, kw_only=True, eq=False)
class TanksParams(VesselsParams, GrainsParams):
    """Configuration of m propellant tanks, some of which may hold solid propellant."""

    def __post_init__(self) -> None:
        VesselsParams.__post_init__(self)
        for i in np.flatnonzero(self.grain_outer_radius).tolist():
            outer, inner = self.grain_outer_radius[i], self.grain_inner_radius[i]
            if inner > (1.0 - THINNEST) * outer:
                raise ConfigError(
                    'grain_inner_radius', f'expected less than grain_outer_radius, {outer:g} m, '
                    f'got {inner:g} m', i,
                )
            if self.grain_length[i] < THINNEST * outer:
                raise ConfigError(
                    'grain_length', f'expected at least {THINNEST:g} of grain_outer_radius, '
                    f'{outer:g} m, got {self.grain_length[i]:g} m', i,
                )
            if self.inertia[i].any():
                raise ConfigError(
                    'inertia', 'expected none with grain_outer_radius, which gives it', 3 * i
                )


def draws_of(sources: Sequence[str], known: Sequence[str]) -> tuple[FloatArray, FloatArray]:
    """Return 1 for each of n in the column of its source, (n, m), and where it has none, (n,).

    What has none, '', draws from an endless one behind the last.
    """
    m = len(known)
    draws = np.eye(m + 1)[[known.index(name) if name else m for name in sources]]
    return draws[:, :m], draws[:, m]


class Tanks:
    """m tanks: mass and inertia are proportional to what is left.

    The centre of mass moves along a line, in proportion to what is gone.

    Attributes
    ----------
    propellant : FloatArray
        What is left [kg], shape (..., m).
    fuel_ratio : FloatArray
        What is left over capacity, shape (..., m).
    is_dry : BoolArray
        Whether each tank is empty, shape (..., m).
    starting_fuel_ratio : FloatArray
        What `reset` fills to, over capacity, shape (..., m).
    """

    propellant: FloatArray

    def __init__(self, params: VesselsParams, batch: tuple[int, ...] = ()) -> None:
        self._capacity = params.capacity
        # A tank without capacity holds 0 of anything.
        self._whole = np.maximum(params.capacity, np.finfo(float).tiny)
        # What a burn of many steps leaves by rounding is no propellant.
        self._rest = _ROUNDING * params.capacity
        self._shape = (*batch, len(params.names))
        self._full_com = np.broadcast_to(params.com, (*batch, *params.com.shape))
        empty = params.rotation @ params.com_empty[..., None]
        self._way = empty[..., 0] if np.any(params.com_empty) else None
        principal = params.rotation * params.inertia[:, None, :]
        self._full_inertia = principal @ np.swapaxes(params.rotation, -1, -2)
        is_solid = isinstance(params, TanksParams) and params.grain_outer_radius.any()
        self._grains = _Grains(params) if is_solid else None
        self.retune(params)
        self.reset()

    def retune(self, params: VesselsParams) -> None:
        """Take the `starting_fuel_ratio` of a configuration, for the next `reset`."""
        self.starting_fuel_ratio = np.broadcast_to(params.starting_fuel_ratio, self._shape)

    def reset(self, indices: Any = None, ratio: FloatArray | None = None) -> None:
        """Fill to a ratio of the capacity, (..., m), or to the usual one; see `restart`."""
        filled = (self.starting_fuel_ratio if ratio is None else ratio) * self._capacity
        restart(self, indices, self._shape[:-1], propellant=filled)
        self._hold(self.propellant)

    def draw(self, wanted: FloatArray) -> FloatArray | None:
        """Take what is wanted [kg], (..., m), as far as there is any.

        Returns
        -------
        FloatArray or None
            What was got over what was wanted, (..., m); None where that is 1 for all.
        """
        short, share = wanted > self.propellant, None
        if np.count_nonzero(short):
            share = np.ones(short.shape)
            np.divide(self.propellant, wanted, out=share, where=short)
        # The explicit step of the original can overshoot below 0 and refill a tank to its brim.
        left = np.maximum(self.propellant - wanted, 0.0)
        self._hold(np.minimum(left, self._capacity))
        return share

    def _hold(self, propellant: FloatArray) -> None:
        self.propellant = propellant
        self.fuel_ratio: FloatArray = propellant / self._whole
        self.is_dry: BoolArray = propellant <= self._rest

    def state(self) -> TankState:
        """Return mass, centre of mass and inertia of what is left."""
        ratio = self.fuel_ratio
        com = self._full_com
        if self._way is not None:
            com = com + (1.0 - ratio)[..., None] * self._way
        inertia = ratio[..., None, None] * self._full_inertia
        if self._grains:
            inertia = inertia + self._grains.inertia(self.propellant, ratio)
        return TankState(self.propellant, com, inertia)


class FuelledFamily:
    """Base of a family whose actuators may draw from tanks, ``_tanks``."""

    _tanks: Tanks | None
    batch: tuple[int, ...]

    @property
    def propellant(self) -> FloatArray:
        """Propellant left in each tank [kg], (..., m)."""
        return self._tanks.propellant if self._tanks else np.empty((*self.batch, 0))

    @property
    def fuel_ratio(self) -> FloatArray:
        """Propellant left in each tank over its capacity, (..., m)."""
        return self._tanks.fuel_ratio if self._tanks else np.empty((*self.batch, 0))

    @property
    def tank_state(self) -> TankState | None:
        """What is in the tanks now, None without any."""
        return self._tanks.state() if self._tanks else None


class _Grains:
    """Inertia of the tanks that hold solid propellant, 0 of the others."""

    def __init__(self, params: Any) -> None:
        self._rotation = params.rotation
        self._shapes = [
            (i, *burnt_shapes(
                params.grain_outer_radius[i], params.grain_inner_radius[i],
                params.grain_length[i], int(params.grain_count[i]), params.grain_separation[i],
            )) for i in np.flatnonzero(params.grain_outer_radius).tolist()
        ]

    def inertia(self, mass: FloatArray, ratio: FloatArray) -> FloatArray:
        """Return it for what is left [kg] and that over the capacity, (..., m, 3, 3)."""
        inertia = np.zeros((*mass.shape, 3, 3))
        for i, ratios, shapes in self._shapes:
            across, along = (np.interp(ratio[..., i], ratios, shapes[:, k]) for k in (0, 2))
            axis = self._rotation[i, :, 2]
            own = np.multiply.outer(along - across, np.outer(axis, axis))
            own = own + np.multiply.outer(across, np.eye(3))
            inertia[..., i, :, :] = mass[..., i, None, None] * own
        return inertia
