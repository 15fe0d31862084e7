# SPDX-License-Identifier: Apache-2.0
"""Servos and impeller motors of a propulsion module, in steps of its own control.

The difference equations of Astrobee's simulator (gnc/pmc/src/pmc_sim.cc): states are advanced by
the values of the step before, which is where the servos' dead time comes from. Servos and impellers
are motors under the same kind of control, so both are columns of the same arrays.
"""
from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from propulsion_ros.models.common.family import restart
from propulsion_ros.models.fam import constants as astrobee
from propulsion_ros.settings.quantity import FloatArray

_PERIOD = astrobee.CONTROL_PERIOD
_FLAP_PER_MOTOR = astrobee.SERVO_GEAR_RATIO / astrobee.NOZZLE_GEAR_RATIO
_HALF_PLAY = 0.5 * astrobee.BACKLASH * _FLAP_PER_MOTOR
"""Half of the play of the gearbox, as flap angle [rad]."""

_RAMP_STEP = astrobee.MAX_IMPELLER_ACCELERATION * _PERIOD


class Motor(NamedTuple):
    """Constants of a motor under proportional, integral and filtered derivative control."""

    gains: FloatArray
    """Proportional, integral and derivative gain, from the error to a voltage [V], (3,)."""
    max_voltage: float
    """Largest voltage to either side [V]; it does not stop the integral."""
    torque_constant: float
    """Torque over current [N m/A]."""
    back_voltage: float
    """Back voltage over the speed [V s]."""
    resistance: float
    """Resistance of the winding [ohm]."""
    friction: float
    """Torque over the speed [N m s]."""
    inertia: float
    """Moment of inertia at the motor [kg m^2]."""


SERVO = Motor(
    # Their error is one of the servo's angle, ours of the flap's.
    np.array(astrobee.SERVO_GAINS) * astrobee.NOZZLE_GEAR_RATIO, astrobee.SERVO_MAX_VOLTAGE,
    astrobee.SERVO_TORQUE_CONSTANT, astrobee.SERVO_TORQUE_CONSTANT, astrobee.SERVO_RESISTANCE,
    astrobee.SERVO_FRICTION, astrobee.SERVO_INERTIA,
)
IMPELLER = Motor(
    np.array(astrobee.IMPELLER_GAINS), astrobee.IMPELLER_MAX_VOLTAGE,
    astrobee.IMPELLER_TORQUE_CONSTANT, 1.0 / astrobee.IMPELLER_SPEED_CONSTANT,
    astrobee.IMPELLER_RESISTANCE, astrobee.IMPELLER_FRICTION, astrobee.IMPELLER_INERTIA,
)


class Motors:
    """Speeds of k motors under control.

    Parameters
    ----------
    motors : list of Motor
        Constants of each.
    batch : tuple of int
        Leading batch shape of the state.

    Attributes
    ----------
    speed : FloatArray
        [rad/s], (..., k).
    torque : FloatArray
        That accelerates each motor over the step [N m], (..., k).
    """

    def __init__(self, motors: list[Motor], batch: tuple[int, ...]) -> None:
        shape = (*batch, len(motors))
        gains, *constants = (np.array(column) for column in zip(*motors, strict=True))
        limit, torque_constant, back_voltage, resistance, friction, inertia = constants
        self._proportional, integral, self._derivative = gains.T.copy()
        self._integrating = _PERIOD * integral
        # A row, because numpy is slower with a number beside a few columns.
        self._filtering = np.full(len(motors), _PERIOD)
        self._lowest, self._highest = -limit, limit
        self._stall = torque_constant / resistance
        self._loss = self._stall * back_voltage + friction
        self._gain = _PERIOD / inertia
        # What both parts of the control with a memory add to the voltage.
        self._integral, self._filtered = np.zeros(shape), np.zeros(shape)
        self.speed: FloatArray = np.zeros(shape)
        self.torque: FloatArray = np.zeros(shape)

    def reset(self, indices: Any, batch: tuple[int, ...], speed: FloatArray) -> None:
        """Let the motors of some environments turn steadily [rad/s], (..., k); see `restart`."""
        none = np.zeros_like(self.speed)
        steady = speed * (self._loss / self._stall)
        restart(
            self, indices, batch, _integral=steady, _filtered=none, speed=speed, torque=none
        )

    def step(self, error: FloatArray) -> None:
        """Advance one control period under an error of what is controlled, (..., k)."""
        change = self._derivative * error - self._filtered
        voltage = self._proportional * error + self._integral + change
        self._filtered += self._filtering * change
        self._integral += self._integrating * error
        voltage = np.minimum(np.maximum(voltage, self._lowest), self._highest)
        self.torque = self._stall * voltage - self._loss * self.speed
        self.speed = self.speed + self._gain * self.torque


class Drives:
    """n flaps behind a gearbox with backlash and m impellers, each with its motor.

    Parameters
    ----------
    travel : float
        Of a flap from stop to stop [rad].
    battery_voltage : float
        Limit of the impellers' voltage.
    n, m : int
        Number of flaps and of impellers.
    batch : tuple of int
        Leading batch shape of the state.

    Attributes
    ----------
    opening : FloatArray
        Flap angle from the closed stop [rad], (..., n).
    """

    def __init__(
        self, travel: float, battery_voltage: float, n: int, m: int, batch: tuple[int, ...]
    ) -> None:
        limit = min(battery_voltage, IMPELLER.max_voltage)
        self._motors = Motors([SERVO] * n + [IMPELLER._replace(max_voltage=limit)] * m, batch)
        self._n = n
        self._half_play, self._ramp_step = np.full(n, _HALF_PLAY), np.full(m, _RAMP_STEP)
        self._shut, self._open = np.zeros(n), np.full(n, travel)
        self._flap_per_speed = np.full(n, _FLAP_PER_MOTOR * _PERIOD)
        # Where the motor drives the flap, which stays while that moves inside the play.
        self._driven = np.zeros((*batch, n))
        self._ramp = np.zeros((*batch, m))
        self.opening: FloatArray = np.zeros((*batch, n))

    def reset(
        self, indices: Any, batch: tuple[int, ...], opening: FloatArray, speed: FloatArray
    ) -> None:
        """Return the drives of some environments to angles and speeds; see `restart`.

        They are as in `step`; the motors of the flaps stand.
        """
        speeds = np.concatenate((np.zeros_like(opening), speed), axis=-1)
        self._motors.reset(indices, batch, speeds)
        restart(self, indices, batch, _driven=opening, opening=opening, _ramp=speed)

    @property
    def impeller_speed(self) -> FloatArray:
        """Speed of each impeller [rad/s], (..., m)."""
        return self._motors.speed[..., self._n:]

    @property
    def impeller_torque(self) -> FloatArray:
        """Torque that accelerates each impeller over the step [N m], (..., m)."""
        return self._motors.torque[..., self._n:]

    def step(self, opening: FloatArray, speed: FloatArray) -> None:
        """Advance one control period.

        Parameters
        ----------
        opening : FloatArray
            Commanded flap angles from the closed stop [rad], (..., n).
        speed : FloatArray
            Commanded speeds of the impellers [rad/s], (..., m).
        """
        n = self._n
        self.opening = _within(self.opening, self._driven, self._half_play)
        self._ramp = _within(speed, self._ramp, self._ramp_step)
        error = np.empty(self._motors.speed.shape)
        np.subtract(opening, self.opening, out=error[..., :n])
        np.subtract(self._ramp, self.impeller_speed, out=error[..., n:])
        driven = self._driven + self._flap_per_speed * self._motors.speed[..., :n]
        self._driven = np.minimum(np.maximum(driven, self._shut), self._open)
        self._motors.step(error)


def _within(value: FloatArray, middle: FloatArray, reach: FloatArray) -> FloatArray:
    """Return values no further than ``reach`` from ``middle``."""
    return np.minimum(np.maximum(value, middle - reach), middle + reach)
