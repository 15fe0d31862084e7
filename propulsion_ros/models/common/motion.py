# SPDX-License-Identifier: Apache-2.0
"""Where a body is and how it moves."""
from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from propulsion_ros.models.common.rotation import matrix_of
from propulsion_ros.settings.quantity import FloatArray


@dataclass(frozen=True, eq=False)
class Motion:
    """Pose of a body in the world, which is ENU, and its velocities, as in an Odometry."""

    position: FloatArray
    """Origin of the body in the world [m], (3,)."""
    quaternion: FloatArray
    """Rotation from the body to the world, x y z w, (4,)."""
    velocity: FloatArray
    """Velocity of the origin of the body, in the body's axes [m/s], (3,)."""
    angular_velocity: FloatArray
    """Rate of turn in the body's axes [rad/s], (3,)."""

    @functools.cached_property
    def rotation(self) -> FloatArray:
        """Rotation matrix from the body to the world, (3, 3)."""
        return matrix_of(self.quaternion)

    @property
    def velocity_world(self) -> FloatArray:
        """Velocity of the origin of the body in the world's axes [m/s], (3,)."""
        return np.asarray(self.rotation @ self.velocity)


class MatrixMotion(NamedTuple):
    """The same with the rotation as a matrix alone, which is all that actuators need."""

    position: FloatArray
    rotation: FloatArray
    velocity: FloatArray
    angular_velocity: FloatArray
