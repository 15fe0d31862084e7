# SPDX-License-Identifier: Apache-2.0
"""The mean thrust over a step of rotors that change their speed within it."""
from __future__ import annotations

import numpy as np

from propulsion_ros.models.common.step_mean import LagRun
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
        if self._lags and not np.array_equal(start, end):
            pieces = self._pieces if advance is None else self._curves.pieces(advance)
            shape = thrust.shape
            start_, goal, end_ = (np.broadcast_to(efficiency * row, shape) for row in way)
            mean = pieces.mean(LagRun(start_, goal, end_, self._dynamics.time_constant, dt))
            thrust = np.where(self._dynamics.lags, mean, thrust)
        if self._drags:
            speeds = np.stack([
                efficiency * self._dynamics.drag_at(start, demand, 0.5 * (1.0 + node) * dt)
                for node in _NODES
            ])
            mean = np.tensordot(0.5 * _WEIGHTS, self._curves.thrust(speeds, advance), 1)
            thrust = np.where(self._dynamics.drags, mean, thrust)
        return thrust
