# SPDX-License-Identifier: Apache-2.0
"""The mean thrust over a step of rotors that change their speed within it."""
from __future__ import annotations

import numpy as np

from propulsion_ros.models.common.lag import lag_ratio
from propulsion_ros.models.common.step_mean import LagRun, ramp_moments
from propulsion_ros.models.thrusters.curves import ThrustCurves
from propulsion_ros.models.thrusters.dynamics import RotorDynamics
from propulsion_ros.settings.quantity import FloatArray

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(4)


class MeanThrust:
    """Mean of a thrust curve over the way of the rotor speed through a step.

    It is in closed form where the speed follows with a first-order lag, and by Gauss' rule with
    four points of the exact way where drag makes it no exponential, with an error of order 8 in
    dt. A rotor that follows at once has the thrust of its end.

    Parameters
    ----------
    dynamics : RotorDynamics
        With the exact integrator.
    curves : ThrustCurves
        Thrust over speed.
    """

    def __init__(self, dynamics: RotorDynamics, curves: ThrustCurves) -> None:
        self._dynamics, self._curves = dynamics, curves
        self._lags, self._drags = bool(dynamics.lags.any()), bool(dynamics.drags.any())
        self.is_end = not (self._lags or self._drags)
        self._pieces = curves.pieces()
        self._dt, self._moments = -1.0, ramp_moments(np.zeros_like(dynamics.time_constant))

    def of(
        self, way: tuple[FloatArray, FloatArray, FloatArray], efficiency: FloatArray, dt: float,
        advance: FloatArray | None, thrust: FloatArray,
    ) -> FloatArray:
        """Return the mean thrusts [N], (..., n).

        Parameters
        ----------
        way : tuple of FloatArray
            Speeds at the start, inputs and speeds at the end of the step [rad/s], (..., n).
        efficiency : FloatArray
            Factors on the speed, (n,).
        dt : float
            Step [s], above 0.
        advance : FloatArray or None
            Speeds through the fluid [m/s], see `ThrustCurves.thrust`.
        thrust : FloatArray
            At the end of the step [N], (..., n).
        """
        start, demand, end = way
        if self._lags and np.count_nonzero(start != end):
            pieces = self._pieces if advance is None else self._curves.pieces(advance)
            shape = thrust.shape
            rows = [efficiency * row for row in way]
            # Of one robot they have the shape, and numpy takes long to find that out.
            first, goal, last = (
                row if row.shape == shape else np.broadcast_to(row, shape) for row in rows
            )
            tau = self._dynamics.time_constant
            if dt != self._dt:
                self._dt, self._moments = dt, ramp_moments(lag_ratio(tau, dt))
            mean = pieces.mean(LagRun(first, goal, last, tau, dt, self._moments))
            thrust = np.where(self._dynamics.lags, mean, thrust)
        if self._drags:
            times = (0.5 * dt * (1.0 + _NODES)).reshape(-1, *(1,) * start.ndim)
            speeds = efficiency * self._dynamics.drag_at(start, demand, times)
            mean = np.tensordot(0.5 * _WEIGHTS, self._curves.thrust(speeds, advance), 1)
            thrust = np.where(self._dynamics.drags, mean, thrust)
        return thrust
