"""How a vehicle moves, as its pilot sees it."""
from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from propulsion_ros.settings.quantity import FloatArray


@dataclass(frozen=True)
class Motion:
    """Pose in the world, which is ENU, and velocities.

    Attributes
    ----------
    position : FloatArray
        Origin of the body in the world [m], (3,).
    quaternion : FloatArray
        Rotation from the body to the world, x y z w, (4,).
    velocity : FloatArray
        Of the origin of the body, in the body's axes [m/s], (3,).
    rate : FloatArray
        Angular velocity in the body's axes [rad/s], (3,).
    """

    position: FloatArray
    quaternion: FloatArray
    velocity: FloatArray
    rate: FloatArray

    @functools.cached_property
    def rotation(self) -> FloatArray:
        """Rotation matrix from the body to the world, (3, 3)."""
        return np.asarray(Rotation.from_quat(self.quaternion).as_matrix())

    @property
    def velocity_world(self) -> FloatArray:
        """Velocity in the world's axes [m/s], (3,)."""
        return np.asarray(self.rotation @ self.velocity)

    @property
    def roll_pitch_yaw(self) -> tuple[float, float, float]:
        """Turns about x, then y, then z of the world that give the orientation [rad]."""
        r = self.rotation
        return (
            float(np.arctan2(r[2, 1], r[2, 2])),
            float(-np.arcsin(np.clip(r[2, 0], -1.0, 1.0))),
            float(np.arctan2(r[1, 0], r[0, 0])),
        )


def wrapped(angle: float) -> float:
    """Return an angle [rad] as the same one from -pi up to, but without, pi."""
    return float((angle + np.pi) % (2.0 * np.pi) - np.pi)
