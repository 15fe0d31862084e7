"""A fixed surface with a trailing-edge flap, through stall to any angle, after PyFlyt's finlets.

Coefficients are those of Khan and Nahon, "Real-time modeling of agile fixed-wing UAV
aerodynamics" (2015): a lifting line before stall, a flat plate beyond it.
"""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from propulsion_ros.errors import ConfigError
from propulsion_ros.models.lift_drag import Loads
from propulsion_ros.quantity import BoolArray, FloatArray, names, quantity, validate


@dataclass(frozen=True, kw_only=True, eq=False)
class LiftingSurfaceParams:
    """Configuration of flapped surfaces; angles are those at flap angle 0."""

    fin: tuple[str, ...] = names('fins with this model', ())
    chord_length: FloatArray = quantity((), 'm', doc='mean chord', above=0.0, shape=('n',))
    span_length: FloatArray = quantity(
        (), 'm', doc='length of the surface along its span', above=0.0, shape=('n',)
    )
    lift_slope: FloatArray = quantity(
        2.0 * np.pi, '1/rad', above=0.0, hi=4.0 * np.pi, shape=('n',),
        doc='of the profile in plane flow; above 4 pi the drag could turn negative',
    )
    flap_to_chord: FloatArray = quantity(
        1.0, '', doc='part of the chord that is flap', lo=0.0, hi=1.0, shape=('n',)
    )
    flap_effectiveness: FloatArray = quantity(
        0.65, '', doc='lift of the flap over its ideal lift', lo=0.0, hi=1.0, shape=('n',)
    )
    zero_lift_angle: FloatArray = quantity(
        0.0, 'rad', doc='angle of attack without lift', lo=-np.pi / 2, hi=np.pi / 2,
        shape=('n',),
    )
    max_stall_angle: FloatArray = quantity(
        np.radians(15.0), 'rad', doc='stall at positive angle of attack', hi=np.pi / 2,
        shape=('n',),
    )
    min_stall_angle: FloatArray = quantity(
        -np.radians(15.0), 'rad', doc='stall at negative angle of attack', lo=-np.pi / 2,
        shape=('n',),
    )
    zero_lift_drag: FloatArray = quantity(
        0.01, '', doc='drag coefficient without lift', lo=0.0, shape=('n',)
    )
    fluid_density: FloatArray = quantity(
        1.225, 'kg/m^3', doc='air at sea level where not given', lo=0.0, shape=('n',)
    )

    def __post_init__(self) -> None:
        validate(self)
        below, above = self.min_stall_angle, self.max_stall_angle
        for i, zero in enumerate(self.zero_lift_angle.tolist()):
            if not below[i] < zero < above[i]:
                raise ConfigError(
                    'zero_lift_angle',
                    f'expected a value between min_stall_angle {below[i]:g} and max_stall_angle '
                    f'{above[i]:g} rad, got {zero:g}', i,
                )


class LiftingSurface:
    """Lift, drag and pitching moment of k flapped surfaces that do not turn themselves.

    Parameters
    ----------
    params : LiftingSurfaceParams
        Validated configuration.
    compat : str
        'pyflyt' restores the original: the pitching moment with the opposite sign, and moment
        and plate drag that differ between a surface and its mirror image.
    """

    def __init__(self, params: LiftingSurfaceParams, compat: str = 'none') -> None:
        self._original = compat == 'pyflyt'
        aspect = params.span_length / params.chord_length
        slope = params.lift_slope * (
            aspect / (aspect + 2.0 * (aspect + 4.0) / (aspect + 2.0))
        )
        hinge = np.arccos(2.0 * params.flap_to_chord - 1.0)
        self._slope = slope
        # Of the angle past zero lift, the wake of a finite span takes this part away.
        self._induced = slope / (np.pi * aspect)
        ideal = 1.0 - (hinge - np.sin(hinge)) / np.pi
        self._flap_lift = slope * ideal * params.flap_effectiveness
        self._flap_to_chord = params.flap_to_chord
        self._zero_lift = params.zero_lift_angle
        self._max_lift = slope * (params.max_stall_angle - params.zero_lift_angle)
        self._min_lift = slope * (params.min_stall_angle - params.zero_lift_angle)
        self._drag = params.zero_lift_drag
        self._plate_edge = 0.41 * -np.expm1(-17.0 / aspect)
        self._half_density_area = (
            0.5 * params.fluid_density * params.chord_length * params.span_length
        )
        self._chord_length = params.chord_length

    def loads(self, velocity: FloatArray, deflection: FloatArray) -> Loads:
        """Return the loads on surfaces that move at ``velocity``, flaps at ``deflection``.

        Parameters
        ----------
        velocity : FloatArray
            Along chord, normal and span [m/s], shape (..., k, 3).
        deflection : FloatArray
            [rad], positive adds lift along the normal, shape (..., k).
        """
        alpha = np.arctan2(-velocity[..., 1], velocity[..., 0])
        squared = np.einsum('...i,...i->...', velocity, velocity)
        added = self._flap_lift * deflection
        zero_lift = self._zero_lift - added / self._slope
        above = zero_lift + (self._max_lift + self._flap_to_chord * added) / self._slope
        below = zero_lift + (self._min_lift + self._flap_to_chord * added) / self._slope
        stalled = (alpha <= below) | (alpha >= above)

        edge = np.clip(alpha, below, above)
        upper = alpha >= above
        if self._original:
            upper = alpha > 0.0
            edge = np.where(stalled, np.where(upper, above, below), edge)
        induced = self._induced * (edge - zero_lift) * _fading(alpha, edge, upper)
        effective = alpha - zero_lift - induced
        sin, cos = np.sin(effective), np.cos(effective)
        side = np.ones_like(alpha) if self._original else np.where(sin < 0.0, -1.0, 1.0)
        plate = self._plate(sin, deflection * side)
        lift_before = self._slope * (edge - zero_lift)
        tangential = np.where(stalled, 0.5, 1.0) * self._drag * cos
        with np.errstate(divide='ignore', invalid='ignore'):
            normal = np.where(stalled, plate, (lift_before + tangential * sin) / cos)
        lift = np.where(stalled, normal * cos - tangential * sin, lift_before)
        drag = normal * sin + tangential * cos
        moment = self._moment(normal, effective, stalled)

        pressure = self._half_density_area * squared
        sin_alpha, cos_alpha = np.sin(alpha), np.cos(alpha)
        force = np.stack(
            (
                pressure * (lift * sin_alpha - drag * cos_alpha),
                pressure * (lift * cos_alpha + drag * sin_alpha),
                np.zeros_like(pressure),
            ),
            axis=-1,
        )
        return Loads(force, pressure * self._chord_length * moment, stalled)

    def _plate(self, sin: FloatArray, deflection: FloatArray) -> FloatArray:
        """Return the normal force coefficient of a plate whose flap widens it when positive."""
        broadside = 1.98 + deflection * (0.21 - 0.0426 * deflection)
        return np.asarray(broadside * sin * (1.0 / (0.56 + 0.44 * np.abs(sin)) - self._plate_edge))

    def _moment(
        self, normal: FloatArray, effective: FloatArray, stalled: BoolArray
    ) -> FloatArray:
        """Return the moment coefficient about the quarter chord, positive nose to normal."""
        angle = np.abs(effective)
        if self._original:
            angle = np.where(stalled, angle, effective)
        centre = 0.25 - 0.175 * (1.0 - 2.0 * angle / np.pi)
        return np.asarray(normal * centre if self._original else -normal * centre)


def _fading(alpha: FloatArray, edge: FloatArray, upper: BoolArray) -> FloatArray:
    """Return 1 up to the stall angle ``edge``, falling to 0 at a right angle and beyond."""
    beyond = np.where(upper, alpha - edge, edge - alpha)
    room = np.where(upper, np.pi / 2 - edge, np.pi / 2 + edge)
    return np.clip(1.0 - beyond / np.maximum(room, np.finfo(float).tiny), 0.0, 1.0)
