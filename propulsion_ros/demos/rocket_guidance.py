# SPDX-License-Identifier: Apache-2.0
"""The rocket's pilot, as numbers: a launch sequence and an attitude hold by two gimbals."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from propulsion_ros.models.common.motion import Motion
from propulsion_ros.models.common.wrench import cross
from propulsion_ros.settings.quantity import FloatArray


@dataclass(frozen=True)
class RocketGuidance:
    """Holds a rocket's nose on a pitch programme, and stops its roll.

    Two equal boosters stand beside each other on the y axis. Turned together they pitch and yaw;
    turned apart about y they roll.
    """

    ignition_time: float = 2.0
    """[s]."""
    full_thrust: float = 2600.0
    cruise_thrust: float = 1700.0
    """Thrust of both boosters together, before and after ``throttle_time`` [N]."""
    throttle_time: float = 3.5
    """[s]."""
    tilt: float = 0.1
    """Lean of the nose towards east, reached ``tilt_time`` [s] after ignition [rad]."""
    tilt_time: float = 0.6
    """[s]."""
    inertia: float = 40.0
    roll_inertia: float = 0.21
    """About a transverse axis and about the long one [kg m^2]."""
    lever: float = 1.27
    """From the gimbals to the centre of mass [m]."""
    offset: float = 0.045
    """From the long axis to each booster [m]."""
    bandwidth: float = 5.0
    damping: float = 0.8
    """Bandwidth [rad/s] and damping [1] of the closed loop."""
    roll_limit: float = 0.03
    """Largest angle spent on roll [rad]."""

    def thrust(self, time: float, propellant: float = np.inf, phase: str = '') -> float:
        """Return the thrust to command of both boosters together [N].

        Parameters
        ----------
        time : float
            [s].
        propellant : float
            What the tank still has [kg]; without any, nothing is commanded any more.
        phase : str
            Of the flight software; in recovery nothing is commanded any more.
        """
        if time < self.ignition_time or propellant <= 0.0 or phase == 'recovery':
            return 0.0
        return self.full_thrust if time < self.throttle_time else self.cruise_thrust

    def lean(self, time: float) -> float:
        """Return the lean of the nose towards east to have at a time [rad]."""
        return self.tilt * float(np.clip((time - self.ignition_time) / self.tilt_time, 0.0, 1.0))

    def gimbals(
        self,
        time: float,
        motion: Motion,
        propellant: float = np.inf,
        phase: str = '',
    ) -> FloatArray:
        """Return the angles of both axes of both gimbals [rad], a row for each, (2, 2).

        They are 0 where no thrust is commanded, since nothing would turn.

        Parameters
        ----------
        time : float
            [s].
        motion : Motion
            Of base_link.
        propellant, phase : float, str
            As for `thrust`.
        """
        thrust = self.thrust(time, propellant, phase)
        if not thrust:
            return np.zeros((2, 2))
        lean = self.lean(time)
        nose_world = np.array([np.sin(lean), 0.0, np.cos(lean)])
        nose = motion.rotation.T @ nose_world
        error = cross(np.array([0.0, 0.0, 1.0]), nose)
        spin = self.bandwidth**2 * error
        spin -= 2.0 * self.damping * self.bandwidth * motion.angular_velocity
        # A small angle a about x pushes the tail along -y: torque -lever * thrust * a about x.
        together = -self.inertia * spin[:2] / (self.lever * thrust)
        # An angle a about y pushes along x: the booster at +y then turns the body about -z.
        roll = -self.roll_inertia * spin[2] / (self.offset * thrust)
        apart = np.array([0.0, np.clip(roll, -self.roll_limit, self.roll_limit)])
        return np.stack((together + apart, together - apart))
