# SPDX-License-Identifier: Apache-2.0
"""What of boxes and cylinders is below the surface of a liquid, exactly, at any attitude."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from propulsion_ros.models.body.mass import MassProperties
from propulsion_ros.models.common.rotation import matrix_of_rpy
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.quantity import FloatArray, names, per_row, quantity, validate

_AREA = {'box': 1.0, 'cylinder': np.pi / 4.0}
"""Section of a shape of size 1 across its z."""
_TINY = 1e-300
# Integrands of cylinders are trigonometric polynomials of degree 4: 20 nodes leave rounding alone.
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(20)
_HALVINGS = 60
_UP, _HEEL = np.array([0.0, 0.0, 1.0]), 1e-5


def _faces() -> FloatArray:
    """Return the triangles of a box of size 1, (12, 3 corners, 3), outside to the right."""
    square = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
    rows = []
    for axis in range(3):
        for side in (-1.0, 1.0):
            face = np.insert(square[::int(side)], 0, side, axis=1)
            corners = 0.5 * np.roll(face, axis, axis=1)
            rows += [corners[[0, 1, 2]], corners[[0, 2, 3]]]
    return np.array(rows)


_FACES = _faces()


@dataclass(frozen=True, kw_only=True, eq=False)
class HullsParams:
    """Configuration of the hulls that a body floats on."""

    names: tuple[str, ...] = names('hulls that float, with the surface at water_level', ())
    shape: tuple[str, ...] = per_row(
        'box', doc='of each hull; a cylinder lies along its z', kind=str,
        choices=('box', 'cylinder'),
    )
    size: FloatArray = quantity(
        1.0, 'm', doc='lengths along x, y and z of the hull', above=0.0, hi=1e3, shape=('n', 3)
    )
    position: FloatArray = quantity(
        0.0, 'm', doc='middle of the hull, in base_link', shape=('n', 3)
    )
    rpy: FloatArray = quantity(
        0.0, 'rad', doc='roll, pitch, yaw of the hull in base_link', shape=('n', 3)
    )

    def __post_init__(self) -> None:
        validate(self)


class Hulls:
    """Boxes and elliptic cylinders that a surface z = water level cuts.

    Each is a shape of size 1, stretched. A stretch turns planes into planes and multiplies volumes,
    so the cut is that of the shape of size 1 by the plane n . x = d with n = size (up in its axes)
    and d the depth of its middle.

    Attributes
    ----------
    volume : float
        Of all hulls [m^3].
    stiffest : float
        What no section of them by a plane is above, summed [m^2].
    reach : float
        No point of them is farther from the origin of base_link [m].
    """

    def __init__(self, params: HullsParams) -> None:
        self._rotation = np.array([matrix_of_rpy(rpy) for rpy in params.rpy]).reshape(-1, 3, 3)
        self._size, self._position = params.size, params.position
        self._is_box = [shape == 'box' for shape in params.shape]
        self._stretch = params.size.prod(axis=-1)
        self.volume = float(self._stretch @ np.array([_AREA[each] for each in params.shape]))
        sides = self._stretch[:, None] / params.size
        self.stiffest = float(np.linalg.norm(sides, axis=-1).sum())
        ends = np.linalg.norm(params.position, axis=-1) + 0.5 * np.linalg.norm(params.size, axis=-1)
        self.reach = float(ends.max(initial=0.0))

    def immersed(self, up: FloatArray, depth: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the volume below the surface [m^3] and its first moment [m^4].

        Parameters
        ----------
        up : FloatArray
            Upward normal of the surface, in base_link axes, (..., 3).
        depth : FloatArray
            Of the origin of base_link below the surface [m], (...).

        Returns
        -------
        tuple of FloatArray
            (...) and (..., 3): the moment is about the origin of base_link, in its axes.
        """
        normal = np.einsum('kji,...j->...ki', self._rotation, up) * self._size
        offset = np.asarray(depth)[..., None] - up @ self._position.T
        share, moment = np.zeros(offset.shape), np.zeros(normal.shape)
        for k, is_box in enumerate(self._is_box):
            cut = _box_below if is_box else _cylinder_below
            share[..., k], moment[..., k, :] = cut(normal[..., k, :], offset[..., k])
        volume = self._stretch * share
        local = self._stretch[:, None] * self._size * moment
        turned = np.einsum('kij,...kj->...ki', self._rotation, local)
        return volume.sum(axis=-1), (
            turned + volume[..., None] * self._position
        ).sum(axis=-2)

    def height_at_rest(self, mass: float, density: float) -> float | None:
        """Return where the origin of a level base_link floats above the surface [m].

        None where all hulls under water do not carry the mass [kg] in the density [kg/m^3].
        """
        wanted = mass / density
        if not wanted < self.volume:
            return None
        low, high = -self.reach, self.reach
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            if self.immersed(_UP, np.array(-middle))[0] > wanted:
                low = middle
            else:
                high = middle
        return 0.5 * (low + high)

    def metacentric_heights(
        self, body: MassProperties, density: float, height: float
    ) -> tuple[float, ...]:
        """Return how high metacentres are above the centre of mass at rest [m].

        GM is the righting moment of a small heel over weight and angle: the least about any axis of
        the upright plane, that in roll, and that in pitch.
        """
        def moment(up: FloatArray) -> FloatArray:
            # It turns about its centre of mass.
            volume, first = self.immersed(up, np.asarray((up - _UP) @ body.com - height))
            return np.cross(first - volume * body.com, up)

        tilted = [_UP + _HEEL * np.cross(_UP, axis) for axis in np.eye(3)[:2]]
        level, turned = moment(_UP), [moment(up / np.linalg.norm(up)) for up in tilted]
        rights = np.array([(level - moment_)[:2] for moment_ in turned])
        least = np.linalg.eigvalsh(0.5 * (rights + rights.T))[0]
        return tuple((np.append(least, np.diag(rights)) * density / (body.mass * _HEEL)).tolist())


def check_hulls(params: Any) -> None:
    """Raise `ConfigError` where settings of a body do not fit its hulls."""
    if not params.fluid_density:
        raise ConfigError('fluid_density', 'is required with hulls: of what they float on')
    if params.displaced_volume:
        raise ConfigError('displaced_volume', 'expected 0 with hulls, which displace the fluid')
    places = params.hulls.position.tolist()
    for i, place in enumerate(places):
        if place in places[:i]:
            raise ConfigError('hulls.position', (
                f'{params.hulls.names[i]} is at the place of '
                f'{params.hulls.names[places.index(place)]}, {place}; write x, y and z of each hull'
            ), i)
    if params.ground and params.water_level <= 0.0:
        raise ConfigError(
            'ground', f'expected false with hulls and water_level {params.water_level:g} m'
        )


def _box_below(normal: FloatArray, offset: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return volume (...) and moment (..., 3) of a box of size 1 below planes.

    From a point of the plane the box is a sum of tetrahedra over its faces, and the plane cuts
    each by its triangle alone.
    """
    most = 0.5 * np.abs(normal).sum(axis=-1)
    d = np.clip(offset, -most, most)[..., None]
    apex = normal * d / (normal * normal).sum(axis=-1, keepdims=True)
    below = d[..., None] - np.einsum('tcj,...j->...tc', _FACES, normal)
    is_wet = below > 0.0
    count = is_wet.sum(axis=-1)
    # The corner that is alone on its side comes first.
    alone = np.where(count == 1, is_wet.argmax(axis=-1), is_wet.argmin(axis=-1))
    order = (alone[..., None] + np.arange(3)) % 3
    p = np.take_along_axis(np.broadcast_to(_FACES, (*order.shape, 3)), order[..., None], axis=-2)
    h = np.take_along_axis(below, order, axis=-1)
    p = p - apex[..., None, None, :]
    volume = np.einsum('...i,...i->...', p[..., 0, :], np.cross(p[..., 1, :], p[..., 2, :])) / 6.0
    moment = 0.25 * volume[..., None] * p.sum(axis=-2)
    mixed = (count == 1) | (count == 2)
    with np.errstate(divide='ignore', invalid='ignore'):
        t = np.where(mixed[..., None], h[..., :1] / (h[..., :1] - h[..., 1:]), 0.0)[..., None]
    tip = p[..., :1, :]
    cut = tip + t * (p[..., 1:, :] - tip)
    part = volume * t[..., 0, 0] * t[..., 1, 0]
    part_moment = 0.25 * part[..., None] * (tip[..., 0, :] + cut.sum(axis=-2))
    rest = np.where(count >= 2, 1.0, 0.0)
    sign = np.where(count == 1, 1.0, np.where(count == 2, -1.0, 0.0))
    share = (rest * volume + sign * part).sum(axis=-1)
    first = (rest[..., None] * moment + sign[..., None] * part_moment).sum(axis=-2)
    return share, first + share[..., None] * apex


def _cylinder_below(normal: FloatArray, offset: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return volume (...) and moment (..., 3) of a cylinder of size 1 along z below planes.

    At the distance y = sin(t) / 2 from its middle, along the level part of the normal, a strip of
    width cos(t) is wet up to s(y) along the axis.
    """
    side = np.hypot(normal[..., 0], normal[..., 1])
    end = np.maximum(np.abs(normal[..., 2]), _TINY)
    across = np.maximum(side, _TINY)
    first, last = (
        np.arcsin(np.clip(2.0 * (offset + sign * 0.5 * end) / across, -1.0, 1.0))
        for sign in (-1.0, 1.0)
    )
    half = 0.5 * (last - first)
    t = 0.5 * (last + first)[..., None] + half[..., None] * _NODES
    y = 0.5 * np.sin(t)
    wet = np.clip((offset[..., None] - side[..., None] * y) / end[..., None], -0.5, 0.5)
    # Width times dy.
    weight = half[..., None] * _WEIGHTS * 0.5 * np.cos(t) ** 2
    volume = (weight * (wet + 0.5)).sum(axis=-1)
    volume += 0.25 * (first + np.sin(first) * np.cos(first) + 0.5 * np.pi)
    aside = (weight * y * (wet + 0.5)).sum(axis=-1) - np.cos(first) ** 3 / 12.0
    along = (weight * 0.5 * (wet * wet - 0.25)).sum(axis=-1)
    moment = np.stack((
        aside * normal[..., 0] / across, aside * normal[..., 1] / across,
        along * np.where(normal[..., 2] < 0.0, -1.0, 1.0),
    ), axis=-1)
    return volume, moment
