# SPDX-License-Identifier: Apache-2.0
"""True motions: on the ground, carried, and flown, as arrays in time."""
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY as G
from propulsion_ros.settings.quantity import FloatArray
from propulsion_ros.study.draws import Rng

STEP = 0.01
"""Time between two rows of a motion [s]."""
_IMPACT = 0.05  # duration of the impact of a landing [s]
_AIR = 8400.0  # scale height of the air [m]


@dataclass(frozen=True)
class Motion:
    """True motion of a vehicle, in rows that are `STEP` apart.

    Attributes
    ----------
    time, height, speed : array (n,)
        Time since power on [s], height above the pad [m], upward speed [m/s].
    force, rate : array (n, 3)
        Specific force and turn rate at the inertial sensor, in body axes [m/s^2], [rad/s].
    port : array (n,)
        Error of the pressure at the static ports, as an altitude [m].
    is_aloft : array (n,) of bool
        True while it flies: it neither rests, nor is carried, nor hangs.
    """

    time: FloatArray
    height: FloatArray
    speed: FloatArray
    force: FloatArray
    rate: FloatArray
    port: FloatArray
    is_aloft: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]

    @property
    def end(self) -> float:
        """Time of the last row [s]."""
        return float(self.time[-1])

    def at(self, time: float) -> int:
        """Return the row of a time."""
        return min(max(int(time / STEP + 1e-6), 0), len(self.time) - 1)

    def rested(self, time: float) -> float:
        """Return how long before a time it last flew [s]; 0 while it flies."""
        last = self.at(time)
        flown = np.flatnonzero(self.is_aloft[:last + 1])
        return (last - int(flown[-1]) if len(flown) else last + 1) * STEP

    def then(self, after: Motion) -> Motion:
        """Return this motion followed by another one, which begins at its height."""
        begin = self.end + STEP
        return Motion(
            np.concatenate([self.time, after.time + begin]),
            np.concatenate([self.height, after.height + self.height[-1]]),
            *(np.concatenate([getattr(self, name), getattr(after, name)]) for name in (
                'speed', 'force', 'rate', 'port', 'is_aloft',
            )),
        )

    def with_force(self, force: FloatArray) -> Motion:
        """Return the motion with a further specific force, (n, 3) [m/s^2]."""
        return replace(self, force=self.force + force)


def carried(
    pieces: Sequence[tuple[float, float]],
    tilts: Sequence[tuple[float, float]] = ((0.0, 0.0),),
    *,
    is_aloft: bool = False,
) -> Motion:
    """Return a motion at given speeds, with the force that carries it.

    Parameters
    ----------
    pieces : sequence of (float, float)
        Duration of each [s], and speed at its end [m/s]; it begins with 0 and changes evenly.
    tilts : sequence of (float, float)
        Time [s] and angle between body z and the vertical [rad]; it changes evenly between them.
    is_aloft : bool
        True if its own engine carries it.
    """
    ends = np.cumsum([0.0, *(length for length, _ in pieces)])
    time = STEP * np.arange(max(round(ends[-1] / STEP), 1))
    speed = np.interp(time, ends, [0.0, *(speed for _, speed in pieces)])
    height = np.concatenate([[0.0], np.cumsum(0.5 * STEP * (speed[1:] + speed[:-1]))])
    tilt = np.interp(time, *np.array(tilts).T)
    up = G + np.gradient(speed, STEP) if len(time) > 1 else np.full(1, G)
    zero = np.zeros(len(time))
    turn = np.gradient(tilt, STEP) if len(time) > 1 else zero
    return Motion(
        time, height, speed, np.stack([zero, up * np.sin(tilt), up * np.cos(tilt)], axis=1),
        np.stack([turn, zero, zero], axis=1), zero.copy(), np.full(len(time), is_aloft),
    )


def rest(seconds: float, tilt: float = 0.0) -> Motion:
    """Return a motion at rest [s]."""
    return carried([(seconds, 0.0)], [(0.0, tilt)])


@dataclass(frozen=True)
class Rocket:
    """A rocket; forces are per mass.

    Attributes
    ----------
    burns : tuple of (float, float, float)
        Begin and end after the liftoff [s], and thrust [m/s^2].
    drag : float
        Drag per mass and squared speed at sea level [1/m].
    lean, wind : float
        Angle of the rail [rad], and wind along it [m/s].
    drogue, drogue_speed : float
        Delay of the drogue after apogee [s], infinity for none, and its sink rate [m/s].
    main_height, main_speed : float
        Height below which the main is open [m], -infinity for none, and its sink rate [m/s].
    glide : float
        Sink rate of a glide in place of the drogue [m/s]; 0 for none.
    ground : float
        Height of the place where it comes down [m].
    spin, offset : float
        Spin about the nose [rev/s], and distance of the inertial sensor from the axis [m].
    swing : float
        Amplitude of the force of swinging under a parachute [m/s^2].
    """

    burns: tuple[tuple[float, float, float], ...]
    drag: float = 3e-4
    lean: float = 0.05
    wind: float = 0.0
    drogue: float = 0.5
    drogue_speed: float = 20.0
    main_height: float = 300.0
    main_speed: float = 6.0
    glide: float = 0.0
    ground: float = 0.0
    spin: float = 0.0
    offset: float = 0.0
    swing: float = 1.5


@dataclass(frozen=True)
class Flight:
    """A motion from liftoff to touchdown, and the time of its apogee [s]."""

    motion: Motion
    apogee: float


def fly(rocket: Rocket, rng: Rng, height: float = 0.0, speed: float = 0.0) -> Flight:
    """Return a flight in a vertical plane, which ends when the ground is reached.

    Parameters
    ----------
    rng : numpy.random.Generator
        Draws the swinging under a parachute.
    height, speed : float
        Height [m] and upward speed [m/s] at the begin; without a burn it falls.
    """
    x, y, east, up = 0.0, height, 0.0, speed
    sine, cosine = math.sin(rocket.lean), math.cos(rocket.lean)
    rows: list[tuple[float, ...]] = []
    apogee, time, angle, opened = math.inf, 0.0, rocket.lean, False
    while y > rocket.ground or time < apogee or not rows:
        thrust = sum(push for a, b, push in rocket.burns if a <= time < b)
        flow_x, flow_y = east - rocket.wind, up
        air = math.hypot(flow_x, flow_y)
        drag = rocket.drag
        if time >= apogee + rocket.drogue:
            opened = True
            drag = G / (rocket.main_speed if y < rocket.main_height else rocket.drogue_speed) ** 2
        factor = min(drag * math.exp(-max(y, 0.0) / _AIR) * air, 0.5 / STEP)
        drag_x, drag_y = -factor * flow_x, -factor * flow_y
        if rocket.glide and time >= apogee + rocket.drogue:
            # Trimmed: lift and drag carry its weight at a steady sink.
            drag_x, drag_y = -0.5 * east, G - 0.5 * (up + rocket.glide)
        if air > 15.0 and not opened:
            sine, cosine = flow_x / air, flow_y / air
        force_x, force_y = thrust * sine + drag_x, thrust * cosine + drag_y
        new = math.atan2(sine, cosine)
        axial, lateral = force_x * sine + force_y * cosine, force_x * cosine - force_y * sine
        rows.append((y, up, lateral, axial, math.remainder(new - angle, math.tau) / STEP, opened))
        angle = new
        if time < apogee and up <= 0.0 and time >= max((b for _, b, _ in rocket.burns), default=0):
            apogee = time
        x, y = x + east * STEP, y + up * STEP
        if y <= 0.0 and time < apogee and force_y < G:
            y, force_x, force_y = 0.0, 0.0, G
        east, up = east + force_x * STEP, up + (force_y - G) * STEP
        time += STEP
    return Flight(_sensed(rocket, rng, np.array(rows)), apogee)


def _sensed(rocket: Rocket, rng: Rng, rows: FloatArray) -> Motion:
    """Return the motion with force and turn rate at the inertial sensor, and the impact."""
    height, speed, lateral, axial, turn, opened = rows.T
    count = len(rows)
    time = np.arange(0.0, count) * STEP
    force = np.stack([lateral, np.zeros(count), axial], axis=1)
    rate = np.stack([np.zeros(count), turn, np.zeros(count)], axis=1)
    hangs = opened > 0.0
    if rocket.swing and hangs.any() and not rocket.glide:
        # Under a parachute it swings as a pendulum of some metres.
        period, phase = rng.uniform(2.0, 5.0), rng.uniform(0.0, math.tau)
        wave = np.sin(math.tau * time / period + phase)
        force[hangs, 1] += rocket.swing * wave[hangs]
        rate[hangs, 0] += 0.5 * rocket.swing * np.cos(math.tau * time / period + phase)[hangs]
    omega = math.tau * rocket.spin
    if omega:
        grown = omega * np.minimum(time, 1.0)
        free = ~hangs
        rate[free, 2] += grown[free]
        force[free, 0] += -rocket.offset * grown[free] ** 2
    impact = carried([(_IMPACT, 0.0)])
    impact.force[:, 2] += abs(float(speed[-1])) / _IMPACT
    flown = Motion(time, height, speed, force, rate, np.zeros(count), np.full(count, True))
    return flown.then(replace(impact, height=impact.height + rocket.ground - height[-1]))


def gusts(rng: Rng, time: FloatArray, mean: float, intensity: float, cp: float) -> FloatArray:
    """Return the altitude error of static ports in wind (n,) [m].

    Longitudinal gusts of the Dryden spectrum at a height of 3 m (MIL-F-8785C: a length of
    h / (0.177 + 0.000823 h)^1.2 with h in feet, 23 m), of which the ports feel cp rho u^2 / 2.

    Parameters
    ----------
    time : array (n,)
        Evenly spaced times [s].
    mean, intensity : float
        Mean wind [m/s], and standard deviation of the gusts over that.
    cp : float
        Pressure coefficient: 1 facing the wind, -1.2 abeam of a cylinder.
    """
    step, constant = float(time[1] - time[0]), 23.0 / max(mean, 0.5)
    speed = mean + wandering(rng, intensity * mean, step / constant, len(time))
    # A metre of air of 1.2 kg/m^3 is a difference of 1.2 G Pa.
    error = -cp * 0.5 * speed * np.abs(speed) / G
    return np.asarray(error - error[0])


def wandering(rng: Rng, sigma: float, step: float, count: int) -> FloatArray:
    """Return first-order Gauss-Markov noise of a standard deviation, (count,).

    ``step`` is the time between two values over the correlation time.
    """
    from scipy.signal import lfilter

    stay = math.exp(-step)
    noise = rng.normal(0.0, sigma * math.sqrt(1.0 - stay * stay), count)
    noise[:1] = rng.normal(0.0, sigma)
    return np.asarray(lfilter([1.0], [1.0, -stay], noise))


def rattle(rng: Rng, time: FloatArray, size: float, share: float = 1.0) -> FloatArray:
    """Return the force of a rail or a vehicle that shakes in bursts (n, 3) [m/s^2].

    Parameters
    ----------
    size : float
        Standard deviation within a burst [m/s^2].
    share : float
        Share of the time that has bursts, which last 1 s.
    """
    frequency = rng.uniform(3.0, 30.0, 3)
    phase = math.tau * time[:, None] * frequency + rng.uniform(0.0, math.tau, 3)
    burst = rng.random(int(time[-1]) + 2) < share
    size = size * burst[(time - time[0]).astype(int)][:, None]
    return np.asarray(size * (np.sin(phase) + 0.5 * rng.normal(size=(len(time), 3))))
