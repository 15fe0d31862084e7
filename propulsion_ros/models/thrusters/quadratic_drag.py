# SPDX-License-Identifier: Apache-2.0
"""A rotor that a motor drives against linear and quadratic drag, exact for any step."""
from __future__ import annotations

import numpy as np

from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.quantity import BoolArray, FloatArray


class QuadraticDrag:
    """w' = gain * u - linear * w - quadratic * w |w|, exact for constant u.

    Mirrored so that the drive g = gain * u is not negative, the equation is Riccati's,
    x' = g - b x - a x^2 while x >= 0. It is a Moebius map of the start: with h = b / 2,
    q^2 = h^2 + a g and s = tanh(q t) / q,

        x(t) = (x (1 - h s) + g s) / (1 + h s + a x s).

    While x < 0 the sign of a is the other one, so q^2 may be negative and tanh become tan.

    Parameters
    ----------
    gain, linear, quadratic : FloatArray
        [rad/s^2 per unit of u], [1/s], [1/rad], (n,); none negative.
    """

    def __init__(self, gain: FloatArray, linear: FloatArray, quadratic: FloatArray) -> None:
        self._gain = gain
        self._half = 0.5 * linear
        self._linear = linear
        self._quadratic = quadratic

    def set_step(self, dt: float) -> None:
        """Prepare for steps of ``dt`` [s]: nothing is kept, the rate depends on the input."""

    def step(
        self, speed: FloatArray, demand: FloatArray, dt: FloatArray | float
    ) -> FloatArray:
        """Return the speed after ``dt`` [s], (..., n)."""
        drive = self._gain * demand
        mirror = np.copysign(1.0, drive)
        drive = np.abs(drive)
        x = mirror * speed
        against = x < 0.0
        if against.any():
            return mirror * self._turned(x, against, drive, dt)
        return np.asarray(mirror * self._driven(x, drive, dt))

    def _driven(self, x: FloatArray, drive: FloatArray, time: FloatArray | float) -> FloatArray:
        """Return x >= 0 after ``time``, each its own."""
        # At rest without drive or linear drag q is 0; the floor keeps the limit s = time.
        q = np.maximum(np.sqrt(self._half * self._half + self._quadratic * drive), 1e-150)
        s = np.tanh(q * time) / q
        hs = self._half * s
        return np.asarray((x * (1.0 - hs) + drive * s) / (1.0 + hs + self._quadratic * x * s))

    def _turned(
        self, x: FloatArray, against: BoolArray, drive: FloatArray,
        dt: FloatArray | float,
    ) -> FloatArray:
        """Return x after dt where some turn against the drive, down to rest or through it."""
        x, drive = np.broadcast_arrays(x, drive)
        backward = np.where(against, -x, 0.0)
        square = self._half * self._half - self._quadratic * drive
        q = np.maximum(np.sqrt(np.abs(square)), 1e-150)
        circular = square < 0.0
        with np.errstate(divide='ignore', invalid='ignore'):
            # The tangent (or its hyperbolic twin) of q times the time to rest.
            at_rest = q * backward / (drive + self._half * backward)
            to_rest = np.where(
                circular, np.arctan(at_rest), np.arctanh(np.minimum(at_rest, 1.0))
            ) / q
        # Without drive and linear drag the rotor never comes to rest.
        to_rest = np.where(drive > 0.0, to_rest, np.where(against, np.inf, 0.0))
        still = against & (to_rest >= dt)
        ahead = self._driven(np.where(against, 0.0, x), drive, np.where(still, 0.0, dt - to_rest))
        s = np.where(circular, np.tan(q * dt), np.tanh(q * dt)) / q
        hs = self._half * s
        with np.errstate(divide='ignore', invalid='ignore'):
            back = (drive * s - backward * (1.0 - hs)) / (1.0 + hs + self._quadratic * backward * s)
        return np.where(still, back, ahead)

    def steady_input(self, speed: FloatArray) -> FloatArray:
        """Return the input that holds a speed, (..., n)."""
        return np.asarray(
            (self._linear * speed + self._quadratic * speed * np.abs(speed)) / self._gain
        )

    def steady_speed(self, demand: FloatArray) -> FloatArray:
        """Return the speed that an input settles at, (..., n)."""
        drive = self._gain * demand
        root = np.sqrt(self._half * self._half + self._quadratic * np.abs(drive))
        below = self._half + root
        return np.divide(drive, below, out=np.zeros_like(drive), where=below > 0.0)


class EulerDrag(QuadraticDrag):
    """The same equation by the explicit Euler step of the original, with the true elapsed time.

    Parameters
    ----------
    gain, linear, quadratic : FloatArray
        See `QuadraticDrag`.
    input_limit : FloatArray
        Largest size of the input, (n,).
    """

    def __init__(
        self,
        gain: FloatArray,
        linear: FloatArray,
        quadratic: FloatArray,
        input_limit: FloatArray,
    ) -> None:
        super().__init__(gain, linear, quadratic)
        fastest = self.steady_speed(input_limit)
        self._rate = linear + 2.0 * quadratic * fastest

    def set_step(self, dt: float) -> None:
        """Prepare for steps of ``dt`` [s].

        Raises `ConfigError` where a step could overshoot the speed of the largest input.
        """
        rate = float(np.max(self._rate))
        if not dt * rate <= 1.0:
            raise ConfigError(
                'integrator',
                f'euler may overshoot with a step of {dt:g} s where the drag acts at up to '
                f'{rate:g} 1/s; expected at most {1.0 / rate:g} s, tighter min_command and '
                'max_command, or the exact integrator',
            )

    def step(
        self, speed: FloatArray, demand: FloatArray, dt: FloatArray | float
    ) -> FloatArray:
        """Return the speed after ``dt`` [s], (..., n)."""
        drag = self._linear * speed + self._quadratic * speed * np.abs(speed)
        return np.asarray(speed + dt * (self._gain * demand - drag))
