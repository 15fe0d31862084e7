# SPDX-License-Identifier: Apache-2.0
"""Lift and drag of all-moving fins: the two models of the UUV simulator.

A model sees the velocity of each fin through the fluid in the plane of the fin's own chord
(forward) and normal, as the complex number chord + i normal. The profile is symmetric fore and aft,
so the angle of attack a is folded into [-pi/2, pi/2]. Lift is perpendicular to the flow and to the
span, drag opposes the flow.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from propulsion_ros.settings.quantity import (
    BoolArray,
    ComplexArray,
    FloatArray,
    names,
    per_row,
    validate,
)


class Coefficients(NamedTuple):
    """What the fluid does to k fins, over the square of the speed."""

    force: ComplexArray
    """As if the motion were along the real axis [N s^2/m^2]: minus drag + i times what pushes to
    its left, which is where the normal lies from the chord, shape (..., k)."""
    moment: FloatArray
    """About the span axis, right-handed: positive turns the chord towards the normal [N s^2/m],
    shape (..., k)."""
    stalled: BoolArray
    """Whether the angle of attack is beyond stall, shape (..., k)."""

    def loads(self, flow: ComplexArray) -> tuple[ComplexArray, FloatArray]:
        """Return force [N], along chord + i normal, and moment [N m] in a flow, (..., k)."""
        speed = np.abs(flow)
        return speed * flow * self.force, speed * speed * self.moment


@dataclass(frozen=True, kw_only=True, eq=False)
class QuadraticParams:
    """Configuration of fins with lift = kl a u^2 and drag = kd a^2 u^2 (Engelhardtsen 2007)."""

    fin: tuple[str, ...] = names('fins with this model', ())
    lift_constant: FloatArray = per_row(
        (), 'N s^2/(m^2 rad)', doc='kl, half of density, area and lift slope', lo=0.0
    )
    drag_constant: FloatArray = per_row(
        (), 'N s^2/(m^2 rad^2)', doc='kd, drag over the squares of angle and speed', lo=0.0
    )

    def __post_init__(self) -> None:
        validate(self)


class Quadratic:
    """Lift linear and drag quadratic in the angle of attack, without stall."""

    def __init__(self, params: QuadraticParams) -> None:
        self._lift = params.lift_constant
        self._drag = params.drag_constant

    def coefficients(self, flow: ComplexArray, deflection: FloatArray) -> Coefficients:
        """Return the coefficients of fins that move at ``flow`` [m/s], (..., k).

        The axes turn with the fin, so ``deflection`` has no part in it.
        """
        alpha = angle_of_attack(flow)
        force = force_of(-self._lift * alpha, self._drag * alpha * alpha)
        return Coefficients(force, np.zeros(alpha.shape), np.zeros(alpha.shape, bool))


@dataclass(frozen=True, kw_only=True, eq=False)
class TwoLinesParams:
    """Configuration of fins whose coefficients are two straight lines that meet at stall."""

    fin: tuple[str, ...] = names('fins with this model', ())
    area: FloatArray = per_row((), 'm^2', doc='planform area', above=0.0)
    fluid_density: FloatArray = per_row(1028.0, 'kg/m^3', doc='sea water where not given', lo=0.0)
    angle_offset: FloatArray = per_row(
        0.0, 'rad', lo=-np.pi, hi=np.pi,
        doc='added to the angle from the chord to the velocity; positive pushes away from the '
        "normal, as UUV's a0 does and Gazebo's with the opposite sign",
    )
    stall_angle: FloatArray = per_row(
        (), 'rad', doc='angle of attack at which the slopes change', lo=0.0, hi=np.pi / 2
    )
    lift_slope: FloatArray = per_row(
        (), '1/rad', doc='of the lift coefficient before stall (cla)', lo=0.0,
        usual=(0.25, 4.0 * np.pi),
    )
    stalled_lift_slope: FloatArray = per_row(
        (), '1/rad', doc='of the lift coefficient beyond stall (cla_stall)'
    )
    drag_slope: FloatArray = per_row(
        (), '1/rad', doc='of the drag coefficient before stall (cda)', lo=0.0
    )
    stalled_drag_slope: FloatArray = per_row(
        (), '1/rad', doc='of the drag coefficient beyond stall (cda_stall)'
    )
    zero_lift_drag: FloatArray = per_row(
        0.0, '', doc='drag coefficient at angle of attack 0', lo=0.0, usual=(0.0, 0.5)
    )

    def __post_init__(self) -> None:
        validate(self)


class TwoLines:
    """Lift and drag coefficients piecewise linear in the angle of attack, with stall.

    Beyond stall the lift coefficient may fall to 0 but not change sign, and drag is positive on
    both sides, as in Gazebo's own lift-drag model.

    Parameters
    ----------
    compat : str
        'uuv' restores the original for negative angles: drag that pushes, the drag slope in
        place of the stalled lift slope, and lift of any sign beyond stall.
    """

    def __init__(self, params: TwoLinesParams, compat: str = 'none') -> None:
        scale = 0.5 * params.fluid_density * params.area
        self._offset = params.angle_offset if np.any(params.angle_offset) else None
        self._min_stall, self._max_stall = -params.stall_angle, params.stall_angle
        self._lift_slope, self._stalled_lift_slope = (
            scale * params.lift_slope, scale * params.stalled_lift_slope
        )
        self._drag_slope, self._stalled_drag_slope = (
            scale * params.drag_slope, scale * params.stalled_drag_slope
        )
        self._zero_lift_drag = scale * params.zero_lift_drag
        self._original = compat == 'uuv'

    def coefficients(self, flow: ComplexArray, deflection: FloatArray) -> Coefficients:
        """Return the coefficients of fins that move at ``flow`` [m/s], (..., k).

        The axes turn with the fin, so ``deflection`` has no part in it.
        """
        alpha = angle_of_attack(flow)
        if self._offset is not None:
            alpha = _folded(alpha + self._offset)
        attached = np.minimum(np.maximum(alpha, self._min_stall), self._max_stall)
        stalled = attached != alpha
        lift, drag = self._lift_slope * attached, self._drag_slope * attached
        if np.count_nonzero(stalled):
            lift, drag = self._beyond_stall(alpha - attached, attached, lift, drag)
        if not self._original:
            drag = np.abs(drag)
        force = force_of(-lift, drag + self._zero_lift_drag)
        return Coefficients(force, np.zeros(alpha.shape), stalled)

    def _beyond_stall(
        self, beyond: FloatArray, attached: FloatArray, lift: FloatArray, drag: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return lift and signed drag at angles ``beyond`` stall, from those at stall."""
        slope = self._stalled_lift_slope
        if self._original:
            slope = np.where(beyond < 0.0, self._stalled_drag_slope, slope)
        lift = lift + slope * beyond
        if not self._original:
            lift = np.where(lift * attached > 0.0, lift, 0.0)
        return lift, drag + self._stalled_drag_slope * beyond


def force_of(left: FloatArray, drag: FloatArray) -> ComplexArray:
    """Return the force of `Coefficients` that pushes to the left and brakes, (..., k)."""
    force = np.empty(left.shape, complex)
    force.real, force.imag = -drag, left
    return force


def angle_of_attack(flow: ComplexArray) -> FloatArray:
    """Return the angle from the chord line to the velocity, in [-pi/2, pi/2] [rad].

    It is positive for a fin that moves towards its normal; its lift then points the other way.
    """
    return _folded(np.arctan2(flow.imag, flow.real))


def _folded(angle: FloatArray) -> FloatArray:
    # Not a modulo: exactly +-pi/2 stays on its side, as in the original.
    backward = np.abs(angle) > np.pi / 2
    if not np.count_nonzero(backward):
        return angle
    return np.where(backward, angle - np.copysign(np.pi, angle), angle)
