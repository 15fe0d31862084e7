# SPDX-License-Identifier: Apache-2.0
"""An accelerometer of RocketPy that measures specific force, as a real one does."""
from __future__ import annotations

from typing import Any

from propulsion_ros.settings.imports import how_to_get

try:
    from rocketpy import Accelerometer
    from rocketpy.mathutils.vector_matrix import Matrix, Vector
except ImportError as error:
    raise ImportError(f'SpecificForce is a sensor of RocketPy: {how_to_get("rocketpy")}') from error


class SpecificForce(Accelerometer):  # type: ignore[misc]
    """An accelerometer that measures 1 g upward at rest, and 0 in free fall.

    RocketPy's own measures the acceleration, at rest 0; with ``consider_gravity`` 1 g downward,
    which no real sensor does. Noise, range and resolution are those of RocketPy's.

    Attributes
    ----------
    at_rest : tuple of float
        Measurement before the flight, without noise [m/s^2], as the first reading of a flight may
        already include the motor's thrust; () before a flight.
    """

    at_rest: tuple[float, ...] = ()

    def measure(self, time: float, **kwargs: Any) -> None:
        """Measure f = a - g, where RocketPy gives a; see `rocketpy.Accelerometer.measure`."""
        gravity, state = kwargs['environment'].gravity, kwargs['u']
        if not self.measured_data:
            to_sensor = self._total_rotation_sensor_to_body @ (
                Matrix.transformation(state[6:10]).transpose
            )
            weight = Vector([0.0, 0.0, gravity.get_value_opt(state[2])])
            self.at_rest = (*(to_sensor @ weight + self.constant_bias),)
        rates = [*kwargs['u_dot']]
        rates[5] += gravity.get_value_opt(state[2])
        if self.consider_gravity:
            # RocketPy subtracts this again, with gravity at the height that it uses.
            rates[5] += gravity.get_value_opt(state[3])
        super().measure(time, **{**kwargs, 'u_dot': rates})
