"""Where the actuators of a plugin block push and how hard they can, for who draws them."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from propulsion_ros.models.boosters.gimbals import Gimbals
from propulsion_ros.models.boosters.params import BoostersParams
from propulsion_ros.models.common.family import Allocatable, Family
from propulsion_ros.models.common.wrench import cross, unit_rows
from propulsion_ros.models.fam import constants as astrobee
from propulsion_ros.models.fam.curve import PolynomialCurve
from propulsion_ros.models.fam.inverse_fam import InverseFamParams
from propulsion_ros.models.fam.params import ModulesParams
from propulsion_ros.models.fam.plenum import Plenums
from propulsion_ros.models.fam.propulsion_module import PropulsionModulesParams
from propulsion_ros.models.fins.fins import FinsParams
from propulsion_ros.settings.quantity import FloatArray

_UNLIMITED = 1e9
"""A limit beyond this [N] is there for the arithmetic and says nothing of an actuator."""
_TOP_SPEED = astrobee.COUNTS * astrobee.MEASURED_SPEED_PER_COUNT
"""Of an impeller [rad/s]."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ThrustLayout:
    """n actuators that push along axes of their own, each between two thrusts.

    Attributes
    ----------
    names, links : tuple of str
        The actuators and the link that each acts on.
    position, axis : FloatArray
        Where and which way a positive thrust pushes in base_link with all joints at 0, (n, 3);
        the axes are unit vectors.
    rotation : FloatArray
        From the axes of each link to base_link with all joints at 0, (n, 3, 3).
    lowest, highest : FloatArray
        Limits of the thrust [N], (n,); NaN where they are not known.
    angle_names : tuple of str
        Joints whose position the other methods take, k of them.
    unknown_angle : float
        Stands for a position that is NaN [rad]; itself NaN where there must be one.
    plume : str
        What leaves the actuators against their thrust: 'flame', 'air', or '' for nothing to see.
    """

    names: tuple[str, ...]
    links: tuple[str, ...]
    position: FloatArray
    axis: FloatArray
    rotation: FloatArray
    lowest: FloatArray
    highest: FloatArray
    angle_names: tuple[str, ...] = ()
    unknown_angle: float = np.nan
    plume: str = ''

    @property
    def largest(self) -> float:
        """Largest thrust of any of them [N], 0 where none is known."""
        sizes = np.abs(np.concatenate((self.lowest, self.highest, [0.0])))
        return float(np.nanmax(sizes))

    def in_base(self, angles: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return positions and axes in base_link, (n, 3) each, at joint angles [rad], (k,)."""
        return self.position, self.axis

    def in_links(self, angles: FloatArray) -> FloatArray:
        """Return the axes in each actuator's link, (n, 3), at joint angles [rad], (k,)."""
        return np.asarray(np.einsum('ni,nij->nj', self.axis, self.rotation))

    def load(self, thrust: FloatArray, angles: FloatArray) -> FloatArray:
        """Return how near each actuator is to its limit: 0 at rest, 1 there, NaN unknown, (n,)."""
        limit = np.where(thrust < 0.0, -self.lowest, self.highest)
        at_once = np.where(thrust == 0.0, 0.0, 1.0)
        share = np.abs(thrust) / np.where(limit == 0.0, 1.0, limit)
        return np.asarray(np.where(limit == 0.0, at_once, share))


@dataclass(frozen=True, kw_only=True, eq=False)
class GimballedLayout(ThrustLayout):
    """Boosters, some of which gimbals turn.

    Attributes
    ----------
    gimbals : Gimbals
        g of them, with two joint angles each.
    turned : tuple of int
        The booster that each of them turns.
    """

    gimbals: Gimbals | None = None
    turned: tuple[int, ...] = ()

    def in_base(self, angles: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return positions and axes in base_link; see `ThrustLayout.in_base`."""
        if self.gimbals is None:
            return self.position, self.axis
        position, axis, at = self.position.copy(), self.axis.copy(), list(self.turned)
        self.gimbals.angles = angles.reshape(-1, 2)
        position[at], axis[at] = self.gimbals.carry(position[at], axis[at])
        return position, axis


@dataclass(frozen=True, kw_only=True, eq=False)
class FinLayout(ThrustLayout):
    """Fins, whose lift is across their chord; the deflection is what has limits.

    Attributes
    ----------
    span : FloatArray
        Unit axes of the deflection in base_link, (n, 3).
    all_moving : FloatArray
        1 where the whole fin turns with its deflection, 0 where only a flap does, (n,).
    min_deflection, max_deflection : FloatArray
        [rad], (n,).
    """

    span: FloatArray
    all_moving: FloatArray
    min_deflection: FloatArray
    max_deflection: FloatArray

    def in_base(self, angles: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return positions and axes in base_link; see `ThrustLayout.in_base`."""
        return self.position, self._turned(self.all_moving * angles)

    def in_links(self, angles: FloatArray) -> FloatArray:
        """Return the axes in each fin's link; see `ThrustLayout.in_links`."""
        # The link turns with the deflection, whatever of the fin does.
        seen = self._turned((self.all_moving - 1.0) * angles)
        return np.asarray(np.einsum('ni,nij->nj', seen, self.rotation))

    def load(self, thrust: FloatArray, angles: FloatArray) -> FloatArray:
        """Return how near each deflection is to its stop; see `ThrustLayout.load`."""
        stop = np.where(angles < 0.0, -self.min_deflection, self.max_deflection)
        at_once = np.where(angles == 0.0, 0.0, 1.0)
        share = np.abs(angles) / np.where(stop <= 0.0, 1.0, stop)
        return np.asarray(np.where(stop <= 0.0, at_once, share))

    def _turned(self, angles: FloatArray) -> FloatArray:
        """Return the axes turned right-handed about the spans, which are perpendicular to them."""
        cos, sin = np.cos(angles)[:, None], np.sin(angles)[:, None]
        return np.asarray(cos * self.axis + sin * cross(self.span, self.axis))


@dataclass(frozen=True, kw_only=True, eq=False)
class NozzleLayout(ThrustLayout):
    """Nozzles on plenums; the flap is what has limits.

    Attributes
    ----------
    plenums : Plenums
        What turns a flap angle into an open area.
    """

    plenums: Plenums

    def load(self, thrust: FloatArray, angles: FloatArray) -> FloatArray:
        """Return how far each nozzle is open; see `ThrustLayout.load`."""
        return np.asarray(self.plenums.area(angles) / self.plenums.largest_area)


def layout_of(params: Any, family: Family) -> ThrustLayout | None:
    """Return how the actuators of a family are drawn, None for one that says no thrusts.

    Parameters
    ----------
    params : object
        Configuration of the family.
    family : Family
        Built from it.
    """
    if isinstance(params, BoostersParams):
        return _of_boosters(params)
    if isinstance(params, FinsParams):
        return _of_fins(params)
    if isinstance(params, (InverseFamParams, PropulsionModulesParams)):
        return _of_nozzles(params)
    if all(hasattr(params, key) for key in ('names', 'position', 'axis', 'link', 'rotation')):
        limits = family.thrust_limits if isinstance(family, Allocatable) else (np.nan, np.nan)
        lowest, highest = (_known(limit, len(params.names)) for limit in limits)
        return ThrustLayout(**_rows(params), lowest=lowest, highest=highest)
    return None


def _rows(params: Any) -> dict[str, Any]:
    """Return the fields of a layout that a configuration of rows has."""
    return {
        'names': params.names, 'links': params.link, 'position': params.position,
        'axis': unit_rows('axis', params.axis), 'rotation': params.rotation,
    }


def _known(limit: Any, n: int) -> FloatArray:
    """Return limits, (n,), NaN where they are none."""
    limits = np.broadcast_to(limit, n)
    return np.where(np.abs(limits) < _UNLIMITED, limits, np.nan)


def _of_boosters(params: BoostersParams) -> ThrustLayout:
    gimbals = params.gimbals
    return GimballedLayout(
        **_rows(params), lowest=np.zeros(len(params.names)), highest=params.max_thrust,
        angle_names=gimbals.joints, plume='flame',
        gimbals=Gimbals(gimbals) if gimbals.booster else None,
        turned=tuple(params.names.index(booster) for booster in gimbals.booster),
    )


def _of_fins(params: FinsParams) -> ThrustLayout:
    unknown = np.full(len(params.names), np.nan)
    span = unit_rows('span', params.span)
    return FinLayout(
        names=params.names, links=params.link, position=params.position,
        axis=unit_rows('chord', cross(span, params.chord)), rotation=params.rotation,
        lowest=unknown, highest=unknown, angle_names=params.names, span=span,
        all_moving=np.array(
            [float(name not in params.lifting_surface.fin) for name in params.names]
        ),
        min_deflection=params.min_deflection, max_deflection=params.max_deflection,
    )


def _of_nozzles(params: ModulesParams) -> ThrustLayout:
    nozzles, impellers = params.nozzles, params.impellers
    plenums = Plenums(params, PolynomialCurve(impellers.zero_thrust_area))
    # A nozzle pushes hardest when it alone is open.
    area = np.diag(plenums.largest_area)
    speed = np.full(len(impellers.names), _TOP_SPEED)
    highest = np.diag(plenums.thrust(area, plenums.pressure(area, speed)))
    return NozzleLayout(
        **_rows(nozzles), lowest=np.zeros(len(nozzles.names)), highest=highest,
        angle_names=nozzles.names, unknown_angle=0.0, plume='air', plenums=plenums,
    )
