# SPDX-License-Identifier: Apache-2.0
"""What a family is that runs as an estimate at the stamp of each command."""
from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from propulsion_ros.models.common.family import Command, Family
from propulsion_ros.settings.quantity import FloatArray


class Estimated(Protocol):
    """What is applied."""

    @property
    def wrench(self) -> FloatArray:
        """Force [N] and torque [N m] about the point that torques are about, (..., 6)."""

    @property
    def thrust(self) -> FloatArray:
        """Thrust of each actuator [N], (..., n)."""


@runtime_checkable
class Estimator(Family, Protocol):
    """A family without state that estimates what n actuators, fed by m drives, apply by command.

    Its commands are an angle of each actuator (position), then a speed of each drive (velocity).
    """

    @property
    def to_origin(self) -> FloatArray:
        """Moves a wrench about the point that torques are about to base_link's origin, (6, 6)."""

    @property
    def knows_errors(self) -> bool:
        """Whether there is a covariance."""

    def retune(self, params: Any) -> None:
        """Take the live values of a configuration."""

    def set_com(self, com: FloatArray) -> None:
        """Take the centre of mass [m], (3,), in base_link, that torques are about."""

    def set_measured_speed(self, speed: FloatArray | None) -> None:
        """Take measured speeds of the drives [rad/s], (m,); None or NaN where unknown."""

    def commanded(self, command: Command) -> tuple[FloatArray, FloatArray]:
        """Return angles [rad], (..., n), and speeds [rad/s], (..., m), of a command."""

    def estimate(self, angle: FloatArray, speed: FloatArray) -> Estimated:
        """Return what angles and speeds apply."""

    def covariance(self, angle: FloatArray, speed: FloatArray) -> FloatArray:
        """Return the covariance of the wrench of `estimate`, (..., 6, 6)."""
