# SPDX-License-Identifier: Apache-2.0
"""A fixed surface with a trailing-edge flap, through stall to any angle, after PyFlyt's finlets.

Coefficients are those of Khan and Nahon, "Real-time modeling of agile fixed-wing UAV
aerodynamics" (2015): a lifting line before stall, a flat plate beyond it.
"""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from propulsion_ros.models.fins.lift_drag import Coefficients, force_of
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.quantity import ComplexArray, FloatArray, names, per_row, validate

_SMALLEST = float(np.finfo(float).tiny)
_LARGEST_ATTACHED = np.pi / 6
"""No flow stays attached at a larger angle past zero lift [rad], wherever stall is set."""


@dataclass(frozen=True, kw_only=True, eq=False)
class LiftingSurfaceParams:
    """Configuration of flapped surfaces; angles are those at flap angle 0."""

    fin: tuple[str, ...] = names('fins with this model', ())
    chord_length: FloatArray = per_row((), 'm', doc='mean chord', lo=1e-6, hi=1e6)
    span_length: FloatArray = per_row(
        (), 'm', doc='length of the surface along its span', lo=1e-6, hi=1e6
    )
    lift_slope: FloatArray = per_row(
        2.0 * np.pi, '1/rad', above=0.0, hi=4.0 * np.pi, usual=(0.25, 4.0 * np.pi),
        doc='of the profile in plane flow; above 4 pi the drag could turn negative',
    )
    flap_to_chord: FloatArray = per_row(
        1.0, '', doc='part of the chord that is flap', lo=0.0, hi=1.0
    )
    flap_effectiveness: FloatArray = per_row(
        0.65, '', doc='lift of the flap over its ideal lift', lo=0.0, hi=1.0
    )
    zero_lift_angle: FloatArray = per_row(
        0.0, 'rad', doc='angle of attack without lift', lo=-np.pi / 2, hi=np.pi / 2
    )
    max_stall_angle: FloatArray = per_row(
        np.radians(15.0), 'rad', doc='stall at positive angle of attack', hi=np.pi / 2
    )
    min_stall_angle: FloatArray = per_row(
        -np.radians(15.0), 'rad', doc='stall at negative angle of attack', lo=-np.pi / 2
    )
    zero_lift_drag: FloatArray = per_row(
        0.01, '', doc='drag coefficient without lift', lo=0.0, usual=(0.0, 0.5)
    )
    fluid_density: FloatArray = per_row(
        1.225, 'kg/m^3', doc='air at sea level where not given', lo=0.0
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
    compat : str
        'pyflyt' restores the original: stall that a flap moves less than the angle without lift,
        so that the flow stays attached at any angle and beyond a right one gives power; the
        pitching moment with the opposite sign; moment and plate drag that differ between a
        surface and its mirror image.

    A surface stalls by its angle past zero lift, flap included, which a fixed surface without
    flap reaches at its stall angles.
    """

    def __init__(self, params: LiftingSurfaceParams, compat: str = 'none') -> None:
        self._original = compat == 'pyflyt'
        aspect = params.span_length / params.chord_length
        slope = params.lift_slope * (
            aspect / (aspect + 2.0 * (aspect + 4.0) / (aspect + 2.0))
        )
        hinge = np.arccos(2.0 * params.flap_to_chord - 1.0)
        ideal = 1.0 - (hinge - np.sin(hinge)) / np.pi
        self._slope = slope
        self._zero_lift = params.zero_lift_angle
        self._min_stall, self._max_stall = params.min_stall_angle, params.max_stall_angle
        # A flap moves the angle without lift, and with it the angles of attack that stall.
        self._flap_lift = ideal * params.flap_effectiveness
        self._flap_to_chord = params.flap_to_chord
        self._min_past = np.maximum(self._min_stall - self._zero_lift, -_LARGEST_ATTACHED)
        self._max_past = np.minimum(self._max_stall - self._zero_lift, _LARGEST_ATTACHED)
        # Of the angle past zero lift, the wake of a finite span takes a part away.
        self._induced = slope / (np.pi * aspect)
        self._attached = 1.0 - self._induced
        self._plate_edge = 0.41 * -np.expm1(-17.0 / aspect)
        self._half_density_area = (
            0.5 * params.fluid_density * params.chord_length * params.span_length
        )
        self._lift = self._half_density_area * slope
        self._drag = self._half_density_area * params.zero_lift_drag
        # How far behind the quarter chord the normal force acts, more with the angle of attack.
        sense = params.chord_length if self._original else -params.chord_length
        self._arm, self._arm_slope = 0.075 * sense, 0.35 / np.pi * sense

    def coefficients(self, flow: ComplexArray, deflection: FloatArray) -> Coefficients:
        """Return the coefficients of surfaces that move at ``flow``, flaps at ``deflection``.

        Parameters
        ----------
        flow : ComplexArray
            Along chord + i normal [m/s], shape (..., k).
        deflection : FloatArray
            [rad], positive adds lift along the normal, shape (..., k).
        """
        alpha = np.arctan2(-flow.imag, flow.real)
        past = alpha - self._zero_lift + self._flap_lift * deflection
        if self._original:
            angle, (lower, upper) = alpha, self._original_stall(deflection)
        else:
            angle, lower, upper = past, self._min_past, self._max_past
        stalled = (angle <= lower) | (angle >= upper)
        any_stalled = np.count_nonzero(stalled)
        # What is beyond half a turn is beyond stall too.
        if any_stalled and not self._original:
            angle = past = _within_turn(past)
            stalled = (angle <= lower) | (angle >= upper)
            any_stalled = np.count_nonzero(stalled)

        effective = self._attached * past
        if any_stalled:
            effective = np.where(
                stalled, self._stalled_angle(angle, past, lower, upper), effective
            )
        cos, sin = np.cos(effective), np.sin(effective)
        lift = self._lift * past
        across = lift / cos
        drag = across * sin + self._drag
        normal = across + self._drag * sin
        if any_stalled:
            tangential = 0.5 * self._drag * cos
            plate = self._plate(sin, deflection)
            lift = np.where(stalled, plate * cos - tangential * sin, lift)
            drag = np.where(stalled, plate * sin + tangential * cos, drag)
            normal = np.where(stalled, plate, normal)
        size = np.abs(effective)
        if self._original:
            size = np.where(stalled, size, effective)
        moment = normal * (self._arm + self._arm_slope * size)
        return Coefficients(force_of(lift, drag), moment, stalled)

    def _original_stall(self, deflection: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the lowest and the highest angle of attack that are stalled in the original."""
        # At exactly these angles rounding decides, so this is in the order of the original.
        added = self._slope * self._flap_lift * deflection
        zero_lift = self._zero_lift - added / self._slope
        most = self._flap_to_chord * added
        lowest = self._slope * (self._min_stall - self._zero_lift) + most
        highest = self._slope * (self._max_stall - self._zero_lift) + most
        return zero_lift + lowest / self._slope, zero_lift + highest / self._slope

    def _stalled_angle(
        self, angle: FloatArray, past: FloatArray, lower: FloatArray, upper: FloatArray
    ) -> FloatArray:
        """Return the effective angle of attack where ``angle`` is beyond the limits of stall.

        The wake's part of it is that at stall, falling to 0 at a right angle and beyond.
        """
        above = angle > 0.0 if self._original else angle >= upper
        side, edge = np.where(above, 1.0, -1.0), np.where(above, upper, lower)
        beyond = angle - edge
        room = np.maximum(np.pi / 2 - side * edge, _SMALLEST)
        left = np.minimum(np.maximum(1.0 - side * beyond / room, 0.0), 1.0)
        return np.asarray(past - self._induced * (past - beyond) * left)

    def _plate(self, sin: FloatArray, deflection: FloatArray) -> FloatArray:
        """Return the normal force of a plate that its flap widens when it bends with the flow."""
        if not self._original:
            deflection = np.where(sin < 0.0, -deflection, deflection)
        broadside = 1.98 + deflection * (0.21 - 0.0426 * deflection)
        size = np.abs(sin)
        return np.asarray(
            self._half_density_area * broadside * sin
            * (1.0 / (0.56 + 0.44 * size) - self._plate_edge)
        )


def _within_turn(angle: FloatArray) -> FloatArray:
    """Return angles of less than one and a half turns from -pi to pi."""
    outside = np.abs(angle) > np.pi
    if not np.count_nonzero(outside):
        return angle
    return np.where(outside, angle - np.copysign(2.0 * np.pi, angle), angle)
