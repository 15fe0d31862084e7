# SPDX-License-Identifier: Apache-2.0
"""Configuration of what the motion of the body, the ground and their inertia do to rotors."""
from __future__ import annotations

from dataclasses import dataclass

from propulsion_ros.settings.quantity import FloatArray, per_row, quantity

_LARGEST = 1e6


@dataclass(frozen=True, kw_only=True, eq=False)
class RotorAirParams:
    """What acts on n rotors beside their thrust at rest in the air; 0 everywhere: nothing."""

    rotor_drag_coefficient: FloatArray = per_row(
        0.0, 'N s^2/(m rad)', lo=0.0, hi=_LARGEST,
        doc='drag (H-force) over rotor speed and speed through the air across the axis',
    )
    rolling_moment_coefficient: FloatArray = per_row(
        0.0, 'N s^2/rad', lo=0.0, hi=_LARGEST,
        doc='moment against the speed through the air across the axis, over it and rotor speed',
    )
    flapping_moment_coefficient: FloatArray = per_row(
        0.0, 'N s^2/rad', lo=-_LARGEST, hi=_LARGEST,
        doc='moment about axis x velocity through the air, over that and rotor speed; below 0 '
        'raises the side that meets the stream, as blades do that flap back',
    )
    inflow_coefficient: FloatArray = per_row(
        0.0, 'N s^2/(m rad)', lo=0.0, hi=_LARGEST,
        doc='thrust lost over rotor speed and speed through the air along the axis',
    )
    translational_lift_coefficient: FloatArray = per_row(
        0.0, 'N s^2/m^2', lo=0.0, hi=_LARGEST,
        doc='thrust gained over the square of the speed through the air across the axis, at most '
        'the thrust at rest',
    )
    rotor_radius: FloatArray = per_row(
        0.0, 'm', doc='for the effect of the ground; 0: none', lo=0.0, hi=_LARGEST
    )
    ground_height: float = quantity(
        0.0, 'm', doc='rotor_radius: height of the ground in the world', lo=-_LARGEST, hi=_LARGEST
    )
    rotor_inertia: FloatArray = per_row(
        0.0, 'kg m^2', lo=0.0, hi=_LARGEST,
        doc='about the axis of the rotor, for the torques of speeding up and of turning the axis',
    )
