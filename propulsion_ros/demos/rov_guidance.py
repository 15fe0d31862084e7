# SPDX-License-Identifier: Apache-2.0
"""The underwater vehicle's pilot, as numbers: depth, heading and speed to a wrench and fins."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from propulsion_ros.demos.plan import roll_pitch_yaw, wrapped
from propulsion_ros.models.common.motion import Motion
from propulsion_ros.settings.quantity import FloatArray


@dataclass(frozen=True)
class RovTarget:
    """What to hold from a time on."""

    time: float
    """[s]."""
    depth: float
    """Below the surface [m]."""
    heading: float = 0.0
    """Of the x axis, from east to north [rad]."""
    speed: float = 0.0
    """Ahead [m/s]."""


@dataclass(frozen=True)
class RovGains:
    """Of two loops: errors of pose give velocities, errors of velocity a wrench."""

    inertia: tuple[float, ...] = (11.5, 11.5, 11.5, 0.2234, 0.2851, 0.4165)
    """Mass [kg] three times, then moments of inertia [kg m^2]."""
    depth_gain: float = 0.8
    turn_gain: float = 1.5
    """Velocity per error of depth and of attitude [1/s]."""
    max_heave: float = 0.4
    max_turn: float = 0.5
    """Largest velocity that is demanded [m/s], [rad/s]."""
    max_acceleration: float = 0.3
    """How fast the demanded speed ahead may change [m/s^2]."""
    gain: tuple[float, ...] = (4.0, 4.0, 4.0, 7.0, 7.0, 7.0)
    """Of the velocities [1/s], like ``inertia``; their integral has a quarter of its square."""
    fin_force: float = 1028.0 * 0.0144 * 2.5
    """Lift of both fins over angle of attack and squared speed [N s^2/(m^2 rad)]."""
    fin_lever: float = 0.3
    """From the centre of base_link back to the fins [m]."""
    max_fin: float = 0.3
    """[rad]."""
    min_fin_speed: float = 0.3
    """Speed ahead below which the fins rest [m/s]."""


@dataclass(frozen=True)
class RovCommand:
    """What thrusters and fins are commanded."""

    wrench: FloatArray
    """Of the thrusters in the axes of and about the origin of base_link, (6,)."""
    fin: float
    """Deflection of both fins [rad]; positive lifts the nose in forward motion."""


class RovGuidance:
    """Holds depth, heading and speed, upright; learns by integrals what else acts on the vehicle.

    Parameters
    ----------
    gains : RovGains
        Configuration.
    """

    def __init__(self, gains: RovGains | None = None) -> None:
        self._gains = gains or RovGains()
        self._inertia, self._gain = np.array(self._gains.inertia), np.array(self._gains.gain)
        self._integral: FloatArray = np.zeros(6)
        self._speed = 0.0

    def command(self, target: RovTarget, motion: Motion, dt: float) -> RovCommand:
        """Return what to command, ``dt`` [s] after the last time."""
        gains = self._gains
        change = gains.max_acceleration * dt
        self._speed += float(np.clip(target.speed - self._speed, -change, change))
        moving = np.concatenate((motion.velocity, motion.angular_velocity))
        error = self.velocities(target, motion) - moving
        self._integral = self._integral + error * dt
        acceleration = self._gain * error + 0.25 * self._gain**2 * self._integral
        return self._with_fins(self._inertia * acceleration, motion)

    def velocities(self, target: RovTarget, motion: Motion) -> FloatArray:
        """Return the velocity to have: linear [m/s], then angular [rad/s], body axes, (6,)."""
        gains = self._gains
        roll, pitch, yaw = roll_pitch_yaw(motion.rotation)
        heave = gains.depth_gain * (-target.depth - motion.position[2])
        heave = np.clip(heave, -gains.max_heave, gains.max_heave)
        ahead = self._speed * np.array([np.cos(yaw), np.sin(yaw), 0.0])
        turn = -gains.turn_gain * np.array([roll, pitch, wrapped(yaw - target.heading)])
        linear = motion.rotation.T @ (ahead + np.array([0.0, 0.0, heave]))
        return np.concatenate((linear, np.clip(turn, -gains.max_turn, gains.max_turn)))

    def _with_fins(self, wrench: FloatArray, motion: Motion) -> RovCommand:
        """Give the fins as much of the pitching moment as they can take at a speed ahead."""
        gains, speed = self._gains, float(motion.velocity[0])
        if speed < gains.min_fin_speed:
            return RovCommand(wrench, 0.0)
        force = gains.fin_force * speed**2
        # Where it rises the water comes from above, as if the fins were deflected.
        rise = float(motion.velocity[2]) + gains.fin_lever * float(motion.angular_velocity[1])
        fin = -wrench[4] / (force * gains.fin_lever) - rise / speed
        fin = float(np.clip(fin, -gains.max_fin, gains.max_fin))
        lift = -force * (fin + rise / speed)
        wrench[2] -= lift
        wrench[4] -= gains.fin_lever * lift
        return RovCommand(wrench, fin)
