# SPDX-License-Identifier: Apache-2.0
"""What an estimator knows at one moment, and what the flight logic takes of it."""
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
    """What the vehicle does, as far as the estimator must know."""

    PAD = 'pad'
    BOOST = 'boost'
    COAST = 'coast'
    DESCENT = 'descent'
    LANDED = 'landed'

    @property
    def is_flying(self) -> bool:
        """Whether the vehicle moves."""
        return self in (Stage.BOOST, Stage.COAST, Stage.DESCENT)


def stage_of(phase: Phase, subphase: Subphase) -> Stage:
    """Return the stage of a phase of the flight logic; before the flight it is the pad."""
    if phase is Phase.FLIGHT:
        return Stage.COAST if subphase is Subphase.COAST else Stage.BOOST
    if phase is Phase.RECOVERY:
        return Stage.LANDED if subphase is Subphase.LANDED else Stage.DESCENT
    return Stage.PAD


class Mode(str, Enum):
    """With what the estimator works now."""

    ALIGNING = 'aligning'
    FULL = 'full'
    GNSS_INERTIAL = 'gnss_inertial'
    INERTIAL_ONLY = 'inertial_only'
    BARO_ONLY = 'baro_only'
    GNSS_ONLY = 'gnss_only'
    NO_SENSOR = 'no_sensor'


@dataclass(frozen=True, eq=False)
class EstimatorState:
    """One estimate; what is unknown is NaN.

    Attributes
    ----------
    stamp_ns : int
        For which it holds [ns].
    position, velocity : tuple of float
        East, north, up, relative to the pad [m], [m/s].
    acceleration : tuple of float
        East, north, up, net of gravity [m/s^2].
    attitude : tuple of float
        Unit quaternion x, y, z, w that turns body axes into east, north, up.
    angular_velocity : tuple of float
        In body axes, less its bias [rad/s].
    pose_covariance : FloatArray
        Of east, north, up, and of a small rotation about each, shape (6, 6) [m], [rad].
    twist_covariance : FloatArray
        Of the velocity east, north, up and of the angular velocity about x, y, z of the body,
        shape (6, 6) [m/s], [rad/s].
    mode : Mode
        With what the estimator works.
    flags : frozenset of str
        Faults, ``<sensor>_<status>``.
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
    """Return what the flight logic is to be fed: NaN for what is too uncertain to be used.

    A horizontal pair is handed on only where both components are certain, so that a drifting
    speed neither counts as a Mach number nor as a distance.
    """
    position_sigma = np.sqrt(np.diagonal(state.pose_covariance)[:3]).tolist()
    velocity_sigma = np.sqrt(np.diagonal(state.twist_covariance)[:3]).tolist()
    far, fast = params.usable_altitude_sigma, params.usable_velocity_sigma
    # A speed that comes from the barometer alone is no second witness beside its altitude.
    moves = velocity_sigma[2] < fast and state.mode is not Mode.BARO_ONLY
    drifts = not max(velocity_sigma[:2]) < fast
    strays = not max(position_sigma[:2]) < far
    unknown = (NAN, NAN)
    return Sample(
        state.stamp_ns,
        altitude=state.position[2] if position_sigma[2] < far else NAN,
        velocity=state.velocity[2] if moves else NAN,
        acceleration=state.acceleration[2] if moves else NAN,
        horizontal_position=unknown if strays else state.position[:2],
        horizontal_velocity=unknown if drifts else state.velocity[:2],
        horizontal_acceleration=unknown if drifts else state.acceleration[:2],
        rotation=state.attitude,
        faults=tuple(sorted(state.flags)),
    )
