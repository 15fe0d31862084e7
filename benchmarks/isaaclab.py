# SPDX-License-Identifier: Apache-2.0
"""The arithmetic of Isaac Lab's Thruster (isaaclab_contrib 0.0.2) in torch, float32.

Written anew from its equations, the wrong sign of its Runge-Kutta stages included. The original
does these operations and some bookkeeping beside them, so it is not faster than this.
"""
from __future__ import annotations

import torch


class Thruster:
    """Thrusters of shape (environments, motors), mixing factor 1 / (dt + tau).

    Parameters
    ----------
    motor_constant, time_constant_up, time_constant_down : torch.Tensor
        Per thruster, (environments, motors).
    thrust_range : tuple of float
        [N].
    max_rate : float
        Limit of the rate of the rotor speed [rad/s^2].
    dt : float
        [s].
    scheme : {'rk4', 'euler'}
        The original's default is 'rk4'.
    """

    def __init__(
        self,
        motor_constant: torch.Tensor,
        time_constant_up: torch.Tensor,
        time_constant_down: torch.Tensor,
        thrust_range: tuple[float, float],
        max_rate: float,
        dt: float,
        scheme: str,
    ) -> None:
        self._constant = motor_constant
        self._up, self._down = time_constant_up, time_constant_down
        self._range, self._max_rate, self._dt = thrust_range, max_rate, dt
        self._mean_rate = self._rk4 if scheme == 'rk4' else self._rate
        self.thrust = torch.zeros_like(motor_constant)

    def compute(self, command: torch.Tensor) -> torch.Tensor:
        """Return the applied thrust after one step [N]."""
        demand = torch.clamp(command, *self._range)
        falling = torch.sign(self.thrust) * torch.sign(demand - self.thrust) < 0
        mixing = 1.0 / (self._dt + torch.where(falling, self._down, self._up))
        speed = torch.sqrt(torch.clamp(self.thrust / self._constant, min=0.0))
        error = torch.sqrt(torch.clamp(demand / self._constant, min=0.0)) - speed
        speed = speed + self._dt * self._mean_rate(mixing, error)
        self.thrust = self._constant * speed**2
        return torch.clamp(self.thrust, *self._range)

    def _rate(self, mixing: torch.Tensor, error: torch.Tensor) -> torch.Tensor:
        return torch.clamp(mixing * error, -self._max_rate, self._max_rate)

    def _rk4(self, mixing: torch.Tensor, error: torch.Tensor) -> torch.Tensor:
        k1 = self._rate(mixing, error)
        k2 = self._rate(mixing, error + 0.5 * self._dt * k1)
        k3 = self._rate(mixing, error + 0.5 * self._dt * k2)
        k4 = self._rate(mixing, error + self._dt * k3)
        return (k1 + 2.0 * k2 + 2.0 * k3 + k4) / 6.0
