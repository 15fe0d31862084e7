"""Servos and impeller motors of a propulsion module, in steps of its own control.

The difference equations of Astrobee's simulator (gnc/pmc/src/pmc_sim.cc): states are advanced by
the values of the step before, which is where the servos' dead time comes from.
"""
from __future__ import annotations

import numpy as np

from propulsion_ros.models import fam_constants as astrobee
from propulsion_ros.quantity import FloatArray

_PERIOD = astrobee.CONTROL_PERIOD


class Control:
    """Proportional, integral and filtered derivative control with a limited output.

    Parameters
    ----------
    gains : tuple of float
        Proportional, integral, derivative.
    limit : float
        Largest output to either side; the integral does not know of it.
    shape : tuple of int
        Of the state.
    """

    def __init__(
        self, gains: tuple[float, float, float], limit: float, shape: tuple[int, ...]
    ) -> None:
        self._proportional, self._integrating, self._derivative = gains
        self._limit = limit
        self._integral = np.zeros(shape)
        self._filtered = np.zeros(shape)

    def step(self, error: FloatArray) -> FloatArray:
        """Return the output for an error, both of the shape of the state."""
        change = self._derivative * error - self._filtered
        output = self._proportional * error + self._integrating * self._integral + change
        self._filtered = self._filtered + change * _PERIOD
        self._integral = self._integral + error * _PERIOD
        return np.asarray(np.minimum(np.maximum(output, -self._limit), self._limit))


class Servos:
    """Flap angles that follow their commands through a motor, a gearbox and its backlash.

    Parameters
    ----------
    travel : float
        Of a flap from stop to stop [rad].
    shape : tuple of int
        Of the state, (..., n).

    Attributes
    ----------
    opening : FloatArray
        Flap angle from the closed stop [rad], (..., n).
    """

    def __init__(self, travel: float, shape: tuple[int, ...]) -> None:
        self._motor_travel = travel * astrobee.NOZZLE_GEAR_RATIO / astrobee.SERVO_GEAR_RATIO
        self._control = Control(astrobee.SERVO_GAINS, astrobee.SERVO_MAX_VOLTAGE, shape)
        self._speed = np.zeros(shape)
        self._motor = np.zeros(shape)
        self._output = np.zeros(shape)
        self.opening: FloatArray = np.zeros(shape)

    def step(self, command: FloatArray) -> None:
        """Advance one control period towards commanded openings [rad], (..., n)."""
        half = 0.5 * astrobee.BACKLASH
        # The gearbox's output stays while the motor moves inside the play.
        self._output = np.minimum(np.maximum(self._output, self._motor - half), self._motor + half)
        error = command * astrobee.NOZZLE_GEAR_RATIO - self._output * astrobee.SERVO_GEAR_RATIO
        voltage = self._control.step(error)
        constant = astrobee.SERVO_TORQUE_CONSTANT
        current = (voltage - constant * self._speed) / astrobee.SERVO_RESISTANCE
        torque = constant * current - astrobee.SERVO_FRICTION * self._speed
        motor = self._motor + _PERIOD * self._speed
        self._motor = np.minimum(np.maximum(motor, 0.0), self._motor_travel)
        self._speed = self._speed + _PERIOD / astrobee.SERVO_INERTIA * torque
        self.opening = self._output * (astrobee.SERVO_GEAR_RATIO / astrobee.NOZZLE_GEAR_RATIO)


class ImpellerMotors:
    """Impeller speeds that follow a ramp of their commands.

    Parameters
    ----------
    battery_voltage : float
        Limit of the motor's voltage.
    shape : tuple of int
        Of the state, (..., m).

    Attributes
    ----------
    speed : FloatArray
        [rad/s], (..., m).
    torque : FloatArray
        That accelerates each impeller over the step [N m], (..., m).
    """

    def __init__(self, battery_voltage: float, shape: tuple[int, ...]) -> None:
        limit = min(battery_voltage, astrobee.IMPELLER_MAX_VOLTAGE)
        self._control = Control(astrobee.IMPELLER_GAINS, limit, shape)
        self._ramp = np.zeros(shape)
        self.speed: FloatArray = np.zeros(shape)
        self.torque: FloatArray = np.zeros(shape)

    def step(self, command: FloatArray) -> None:
        """Advance one control period towards commanded speeds [rad/s], (..., m)."""
        change = astrobee.MAX_IMPELLER_ACCELERATION * _PERIOD
        self._ramp = np.minimum(np.maximum(command, self._ramp - change), self._ramp + change)
        voltage = self._control.step(self._ramp - self.speed)
        back = self.speed / astrobee.IMPELLER_SPEED_CONSTANT
        current = (voltage - back) / astrobee.IMPELLER_RESISTANCE
        self.torque = (
            current * astrobee.IMPELLER_TORQUE_CONSTANT - astrobee.IMPELLER_FRICTION * self.speed
        )
        self.speed = self.speed + _PERIOD / astrobee.IMPELLER_INERTIA * self.torque
