# SPDX-License-Identifier: Apache-2.0
"""The cubesat's pilot, as numbers: momentum to be lost in one period of the jets, to torque."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from propulsion_ros.models.common.motion import Motion
from propulsion_ros.settings.quantity import FloatArray


@dataclass(frozen=True)
class CubesatTarget:
    """What to do from a time on."""

    time: float
    """[s]."""
    rpy: tuple[float, float, float] | None = None
    """Attitude to hold, roll, pitch and yaw in the world [rad]; None: only stop turning."""


@dataclass(frozen=True)
class CubesatGuidance:
    """Demands the torque that gives the wanted momentum in one period of the jets.

    What is too small for a pulse is not fired, so the momentum that is left about an axis is less
    than the impulse bit of its couple: see `momentum_bit`.
    """

    inertia: tuple[float, float, float] = (0.166714, 0.166714, 0.102190)
    """About the axes of the body [kg m^2]."""
    period: float = 0.1
    """Of the jets [s]."""
    max_torque: tuple[float, float, float] = (0.0113, 0.017, 0.0113)
    """Of the couple about each axis [N m]: more is not demanded."""
    bandwidth: float = 0.4
    """Rate of turn over the error of attitude [1/s]."""
    max_rate: float = 0.1
    """Largest rate of turn that is wanted [rad/s]."""

    def torque(self, target: CubesatTarget, motion: Motion) -> FloatArray:
        """Return the torque to command in the axes of the body [N m], (3,)."""
        wanted = self._rate(target, motion)
        missing = np.asarray(self.inertia) * (wanted - motion.angular_velocity)
        limit = np.asarray(self.max_torque)
        return np.clip(missing / self.period, -limit, limit)

    def _rate(self, target: CubesatTarget, motion: Motion) -> FloatArray:
        """Return the rate of turn that is wanted [rad/s], (3,)."""
        if target.rpy is None:
            return np.zeros(3)
        rate = self.bandwidth * attitude_error(target.rpy, motion.quaternion)
        return np.asarray(rate * min(1.0, self.max_rate / max(float(np.linalg.norm(rate)), 1e-12)))


def attitude_error(rpy: tuple[float, float, float], quaternion: FloatArray) -> FloatArray:
    """Return the turn from an attitude to a target in the axes of the body [rad], (..., 3)."""
    wanted = Rotation.from_euler('xyz', rpy)
    return np.asarray((Rotation.from_quat(quaternion).inv() * wanted).as_rotvec())


def momentum_bit(max_thrust: float, min_on_time: float, arms: FloatArray) -> FloatArray:
    """Return the smallest angular momentum that couples of two jets can give [N m s], (3,).

    ``arms`` are the distances of the jets of each couple from its axis [m], (3,). With equal delays
    of opening and closing a valve is open for as long as its order.
    """
    return np.asarray(2.0 * max_thrust * min_on_time * np.asarray(arms))
