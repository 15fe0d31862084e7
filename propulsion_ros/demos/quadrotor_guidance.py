# SPDX-License-Identifier: Apache-2.0
"""The quadrotor's pilot, as numbers: position to thrust and tilt, tilt to torque."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY
from propulsion_ros.models.common.motion import Motion
from propulsion_ros.models.common.wrench import cross
from propulsion_ros.settings.quantity import FloatArray


@dataclass(frozen=True)
class QuadrotorTarget:
    """Where to hover from a time on."""

    time: float
    """[s]."""
    position: tuple[float, float, float]
    """In the world [m]."""
    heading: float = 0.0
    """Heading of the x axis, from east to north [rad]."""


@dataclass(frozen=True)
class QuadrotorGuidance:
    """Two loops, both proportional with damping: no integral, so an error left over is a fault."""

    mass: float = 1.5
    """[kg]."""
    inertia: tuple[float, float, float] = (0.01502212, 0.01502212, 0.02809957)
    """About the axes of the body [kg m^2]."""
    bandwidth: float = 2.5
    damping: float = 0.9
    """Bandwidth [rad/s] and damping [1] of the position."""
    max_acceleration: float = 4.0
    """Largest one that is demanded along each axis of the world [m/s^2]."""
    turn_bandwidth: tuple[float, float, float] = (11.0, 11.0, 4.0)
    """Bandwidth of the attitude about each axis of the body [rad/s]."""
    turn_damping: float = 0.8
    """Damping of the attitude [1]."""
    max_turn: float = 0.35
    """Largest attitude error that is corrected at once, as the sine of an angle [1]."""

    def wrench(self, target: QuadrotorTarget, motion: Motion) -> FloatArray:
        """Return the wrench to command in the body's axes, force first, (6,).

        Parameters
        ----------
        target : QuadrotorTarget
            Where to be.
        motion : Motion
            Where the vehicle is.
        """
        error = np.asarray(target.position) - motion.position
        acceleration = self.bandwidth**2 * error
        acceleration -= 2.0 * self.damping * self.bandwidth * motion.velocity_world
        limit = self.max_acceleration
        lift = np.clip(acceleration, -limit, limit) + np.array([0.0, 0.0, STANDARD_GRAVITY])
        # The rotors push along z alone: of the force that is wanted they give what lies there.
        thrust = self.mass * max(float(lift @ motion.rotation[:, 2]), 0.0)
        return np.array([0.0, 0.0, thrust, *self.torque(lift, target.heading, motion)])

    def torque(self, lift: FloatArray, heading: float, motion: Motion) -> FloatArray:
        """Return the torque [N m] that turns z along ``lift`` and x to a heading, (3,)."""
        z = lift / np.linalg.norm(lift)
        y = cross(z, np.array([np.cos(heading), np.sin(heading), 0.0]))
        y /= np.linalg.norm(y)
        wanted = np.column_stack((cross(y, z), y, z))
        turn = motion.rotation.T @ wanted
        skew = 0.5 * (turn - turn.T)
        error = np.array([skew[2, 1], skew[0, 2], skew[1, 0]])
        error = np.clip(error, -self.max_turn, self.max_turn)
        bandwidth = np.asarray(self.turn_bandwidth)
        spin = bandwidth**2 * error - 2.0 * self.turn_damping * bandwidth * motion.angular_velocity
        return np.asarray(np.asarray(self.inertia) * spin)
