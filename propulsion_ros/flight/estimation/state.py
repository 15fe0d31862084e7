# SPDX-License-Identifier: Apache-2.0
"""Estimate of the motion at one time, and the sample that the flight logic takes from it."""
from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np

from propulsion_ros.flight.estimation.params import EstimatorParams
from propulsion_ros.flight.events.variables import NAN, Sample
from propulsion_ros.flight.phases.phases import Phase, Subphase
from propulsion_ros.models.common.rotation import Quaternion, Vector
from propulsion_ros.settings.quantity import FloatArray

UNKNOWN: Vector = (NAN, NAN, NAN)


class Stage(str, Enum):
    """Stage of the flight, which sets the assumptions of the estimator."""

    PAD = 'pad'
    BOOST = 'boost'
    COAST = 'coast'
    DESCENT = 'descent'
    LANDED = 'landed'

    @property
    def is_flying(self) -> bool:
        """Whether the vehicle is in the air."""
        return self in (Stage.BOOST, Stage.COAST, Stage.DESCENT)


def stage_of(phase: Phase, subphase: Subphase) -> Stage:
    """Return the stage of a phase of the flight logic; before the flight that is PAD."""
    if phase is Phase.FLIGHT:
        return Stage.COAST if subphase is Subphase.COAST else Stage.BOOST
    if phase is Phase.RECOVERY:
        return Stage.LANDED if subphase is Subphase.LANDED else Stage.DESCENT
    return Stage.PAD


class Mode(str, Enum):
    """Sensors that the estimator uses now."""

    ALIGNING = 'aligning'
    FULL = 'full'
    GNSS_INERTIAL = 'gnss_inertial'
    INERTIAL_ONLY = 'inertial_only'
    BARO_ONLY = 'baro_only'
    GNSS_ONLY = 'gnss_only'
    NO_SENSOR = 'no_sensor'


@dataclass(frozen=True, eq=False)
class EstimatorState:
    """Estimate at one time; unknown values are NaN.

    Attributes
    ----------
    stamp_ns : int
        Time of the estimate [ns].
    position, velocity : tuple of float
        East, north, up from the pad [m], [m/s].
    acceleration : tuple of float
        East, north, up, net of gravity: 0 at rest [m/s^2].
    attitude : tuple of float
        Unit quaternion x, y, z, w that rotates from body axes to east, north, up.
    angular_velocity : tuple of float
        Rate of turn in body axes, less the bias of the gyroscope [rad/s].
    pose_covariance : FloatArray
        Of the position and of a small rotation about east, north, up, shape (6, 6) [m], [rad].
    twist_covariance : FloatArray
        Of the velocity east, north, up and the angular velocity about the axes of the body, shape
        (6, 6) [m/s], [rad/s].
    mode : Mode
        Sensors that the estimator uses.
    flags : frozenset of str
        Faults of the sensors, as ``<sensor>_<status>``.
    """

    stamp_ns: int
    position: Vector
    velocity: Vector
    acceleration: Vector
    attitude: Quaternion
    angular_velocity: Vector
    pose_covariance: FloatArray
    twist_covariance: FloatArray
    mode: Mode
    flags: frozenset[str]


def sample_of(state: EstimatorState, params: EstimatorParams) -> Sample:
    """Return the sample for the flight logic, with NaN for values that are too uncertain.

    A horizontal vector needs both components to be certain, so that a drifting one changes neither
    the Mach number nor the distance.
    """
    position_sigma = np.sqrt(np.diagonal(state.pose_covariance)[:3]).tolist()
    velocity_sigma = np.sqrt(np.diagonal(state.twist_covariance)[:3]).tolist()
    largest_position, largest_velocity = params.usable_altitude_sigma, params.usable_velocity_sigma
    # A speed from the barometer alone cannot confirm the altitude of that barometer.
    is_climb_known = velocity_sigma[2] < largest_velocity and state.mode is not Mode.BARO_ONLY
    is_velocity_unknown = not max(velocity_sigma[:2]) < largest_velocity
    is_place_unknown = not max(position_sigma[:2]) < largest_position
    unknown = (NAN, NAN)
    return Sample(
        state.stamp_ns,
        altitude=state.position[2] if position_sigma[2] < largest_position else NAN,
        velocity=state.velocity[2] if is_climb_known else NAN,
        acceleration=state.acceleration[2] if is_climb_known else NAN,
        horizontal_position=unknown if is_place_unknown else state.position[:2],
        horizontal_velocity=unknown if is_velocity_unknown else state.velocity[:2],
        horizontal_acceleration=unknown if is_velocity_unknown else state.acceleration[:2],
        rotation=state.attitude,
        faults=tuple(sorted(state.flags)),
    )
