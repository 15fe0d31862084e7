"""Lift and drag of all-moving fins: the two models of the UUV simulator.

A model sees the velocity of each fin through the fluid along the fin's own axes: chord (forward),
normal, span. The profile is symmetric fore and aft, so the angle of attack a is folded into
[-pi/2, pi/2]. Lift is perpendicular to the flow and to the span, drag opposes the flow.
"""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from propulsion_ros.quantity import BoolArray, FloatArray, names, quantity, validate


@dataclass(frozen=True)
class Loads:
    """What the fluid does to k fins, in the axes (chord, normal, span) of each.

    Attributes
    ----------
    force : FloatArray
        [N], shape (..., k, 3).
    moment : FloatArray
        About the span axis, right-handed: positive turns the chord towards the normal [N m],
        shape (..., k).
    stalled : BoolArray
        Whether the angle of attack is beyond stall, shape (..., k).
    """

    force: FloatArray
    moment: FloatArray
    stalled: BoolArray


@dataclass(frozen=True, kw_only=True, eq=False)
class QuadraticParams:
    """Configuration of fins with lift = kl a u^2 and drag = kd a^2 u^2 (Engelhardtsen 2007)."""

    fin: tuple[str, ...] = names('fins with this model', ())
    lift_constant: FloatArray = quantity(
        (), 'N s^2/(m^2 rad)', doc='kl, half of density, area and lift slope', lo=0.0,
        shape=('n',),
    )
    drag_constant: FloatArray = quantity(
        (), 'N s^2/(m^2 rad^2)', doc='kd, drag over the squares of angle and speed', lo=0.0,
        shape=('n',),
    )

    def __post_init__(self) -> None:
        validate(self)


class Quadratic:
    """Lift linear and drag quadratic in the angle of attack, without stall.

    Parameters
    ----------
    params : QuadraticParams
        Validated configuration of k fins.
    """

    def __init__(self, params: QuadraticParams) -> None:
        self._lift = params.lift_constant
        self._drag = params.drag_constant

    def loads(self, velocity: FloatArray, deflection: FloatArray) -> Loads:
        """Return the loads on fins that move at ``velocity`` [m/s], (..., k, 3).

        The axes turn with the fin, so ``deflection`` has no part in it.
        """
        alpha = angle_of_attack(velocity)
        force = _resolve(velocity, self._lift * alpha, self._drag * alpha * alpha)
        return Loads(force, np.zeros_like(alpha), np.zeros(alpha.shape, bool))


@dataclass(frozen=True, kw_only=True, eq=False)
class TwoLinesParams:
    """Configuration of fins whose coefficients are two straight lines that meet at stall."""

    fin: tuple[str, ...] = names('fins with this model', ())
    area: FloatArray = quantity((), 'm^2', doc='planform area', above=0.0, shape=('n',))
    fluid_density: FloatArray = quantity(
        1028.0, 'kg/m^3', doc='sea water where not given', lo=0.0, shape=('n',)
    )
    angle_offset: FloatArray = quantity(
        0.0, 'rad', doc='added to the angle of attack (a0)', lo=-np.pi, hi=np.pi, shape=('n',)
    )
    stall_angle: FloatArray = quantity(
        (), 'rad', doc='angle of attack at which the slopes change', lo=0.0, hi=np.pi / 2,
        shape=('n',),
    )
    lift_slope: FloatArray = quantity(
        (), '1/rad', doc='of the lift coefficient before stall (cla)', lo=0.0, shape=('n',)
    )
    stalled_lift_slope: FloatArray = quantity(
        (), '1/rad', doc='of the lift coefficient beyond stall (cla_stall)', shape=('n',)
    )
    drag_slope: FloatArray = quantity(
        (), '1/rad', doc='of the drag coefficient before stall (cda)', lo=0.0, shape=('n',)
    )
    stalled_drag_slope: FloatArray = quantity(
        (), '1/rad', doc='of the drag coefficient beyond stall (cda_stall)', shape=('n',)
    )
    zero_lift_drag: FloatArray = quantity(
        0.0, '', doc='drag coefficient at angle of attack 0', lo=0.0, shape=('n',)
    )

    def __post_init__(self) -> None:
        validate(self)


class TwoLines:
    """Lift and drag coefficients piecewise linear in the angle of attack, with stall.

    Beyond stall the lift coefficient may fall to 0 but not change sign, and drag is positive on
    both sides, as in Gazebo's own lift-drag model.

    Parameters
    ----------
    params : TwoLinesParams
        Validated configuration of k fins.
    compat : str
        'uuv' restores the original for negative angles: drag that pushes, the drag slope in
        place of the stalled lift slope, and lift of any sign beyond stall.
    """

    def __init__(self, params: TwoLinesParams, compat: str = 'none') -> None:
        self._params = params
        self._half_density_area = 0.5 * params.fluid_density * params.area
        self._original = compat == 'uuv'

    def loads(self, velocity: FloatArray, deflection: FloatArray) -> Loads:
        """Return the loads on fins that move at ``velocity`` [m/s], (..., k, 3).

        The axes turn with the fin, so ``deflection`` has no part in it.
        """
        p = self._params
        alpha = _folded(angle_of_attack(velocity) + p.angle_offset)
        attached = np.clip(alpha, -p.stall_angle, p.stall_angle)
        beyond = alpha - attached
        stalled_slope = p.stalled_lift_slope
        if self._original:
            stalled_slope = np.where(beyond < 0.0, p.stalled_drag_slope, stalled_slope)
        lift = p.lift_slope * attached + stalled_slope * beyond
        drag = p.drag_slope * attached + p.stalled_drag_slope * beyond
        if not self._original:
            lift = np.where(lift * attached > 0.0, lift, 0.0)
            drag = np.abs(drag)
        drag = drag + p.zero_lift_drag
        scale = self._half_density_area
        force = _resolve(velocity, scale * lift, scale * drag)
        return Loads(force, np.zeros_like(alpha), beyond != 0.0)


def angle_of_attack(velocity: FloatArray) -> FloatArray:
    """Return the angle from the chord line to the velocity, in [-pi/2, pi/2] [rad].

    It is positive for a fin that moves towards its normal; its lift then points the other way.
    """
    return _folded(np.arctan2(velocity[..., 1], velocity[..., 0]))


def _folded(angle: FloatArray) -> FloatArray:
    # Not a modulo: exactly +-pi/2 stays on its side, as in the original.
    turn = np.where(angle > np.pi / 2, -np.pi, np.where(angle < -np.pi / 2, np.pi, 0.0))
    return np.asarray(angle + turn)


def _resolve(velocity: FloatArray, lift: FloatArray, drag: FloatArray) -> FloatArray:
    """Return the force of lift and drag per squared speed [N s^2/m^2], each (..., k)."""
    chord, normal = velocity[..., 0], velocity[..., 1]
    planar = np.hypot(chord, normal)
    speed = np.hypot(planar, velocity[..., 2])
    per_lift = lift * (speed * speed / np.where(planar > 0.0, planar, np.inf))
    per_drag = drag * speed
    force = -per_drag[..., None] * velocity
    force[..., 0] += per_lift * normal
    force[..., 1] -= per_lift * chord
    return np.asarray(force)
