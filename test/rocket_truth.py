# SPDX-License-Identifier: Apache-2.0
"""Flights with known truth, many at once, and what imperfect sensors make of them."""
from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY, temperature_and_pressure

PAD_TIME = 2.0
NORTH = np.array([0.0, 0.45, -0.89])  # of the magnetic field, east, north, up
FIELD = 48e-6  # [T]
FINE = 500.0  # steps of the truth a second
SITE = (47.0, 11.0, 600.0)


@dataclass(frozen=True)
class Truth:
    """Runs of a flight: arrays of shape (samples, runs, ...), east north up, that are read only."""

    stamp_ns: tuple[int, ...]
    position: np.ndarray
    velocity: np.ndarray
    attitude: np.ndarray  # x, y, z, w
    rate: np.ndarray
    force: np.ndarray


def product(first, second):
    """Return the product of quaternions x, y, z, w."""
    a, b, c, d = np.moveaxis(first, -1, 0)
    x, y, z, w = np.moveaxis(second, -1, 0)
    return np.stack([
        d * x + a * w + b * z - c * y, d * y - a * z + b * w + c * x,
        d * z + a * y - b * x + c * w, d * w - a * x - b * y - c * z,
    ], axis=-1)


def of_rotation(vector):
    """Return quaternions of rotation vectors."""
    angle = np.linalg.norm(vector, axis=-1, keepdims=True)
    return np.concatenate([0.5 * vector * np.sinc(angle / (2.0 * np.pi)), np.cos(angle / 2)], -1)


def turn(attitude, vector):
    """Return vectors turned by quaternions."""
    axis, scalar = attitude[..., :3], attitude[..., 3:]
    cross = 2.0 * np.cross(axis, vector)
    return vector + scalar * cross + np.cross(axis, cross)


@cache
def fly(seed, runs, rate=100.0, burn=2.0, push=60.0, duration=14.0, drag=5e-4, chute=8.0):
    """Return a boost, a coast and a descent under a parachute, integrated finely."""
    rng = np.random.default_rng(seed)
    lean = rng.normal(0.0, 0.05, (runs, 3))
    lean[:, 2] = rng.uniform(-np.pi, np.pi, runs)
    upright = lean * [1.0, 1.0, 0.0]
    attitude = product(of_rotation(lean * [0.0, 0.0, 1.0]), of_rotation(upright))
    position, velocity = np.zeros((runs, 3)), np.zeros((runs, 3))
    gravity = np.array([0.0, 0.0, -STANDARD_GRAVITY])
    amplitude = rng.normal(0.0, [0.03, 0.03, 0.8], (runs, 3))
    phase = rng.uniform(0.0, 2.0 * np.pi, (runs, 3))
    every, dt = round(FINE / rate), 1.0 / FINE
    rows = {key: [] for key in ('p', 'v', 'q', 'w', 'f')}
    falls = np.zeros(runs, bool)
    backward = product(attitude * [-1, -1, -1, 1], np.broadcast_to([0, 0, 0, 1.0], (runs, 4)))
    rest = turn(backward, -gravity * np.ones((runs, 1)))
    for i in range(round((PAD_TIME + duration) * FINE)):
        t = i * dt - PAD_TIME
        if t < 0.0:
            omega, force = np.zeros((runs, 3)), rest
        else:
            omega = amplitude * np.sin(2.0 * t + phase) * min(t / 0.5, 1.0)
            inverse = attitude * [-1, -1, -1, 1]
            flow = turn(inverse, velocity)
            speed = np.linalg.norm(velocity, axis=1, keepdims=True)
            factor = np.where(falls[:, None], 100.0 * drag, drag)
            force = -np.minimum(factor * speed, 5.0) * flow
            # No edge of thrust: a sampled sensor cannot tell where between two samples it lay.
            force[:, 2] += push * np.clip(min(t / 0.2, (burn + 0.2 - t) / 0.2), 0.0, 1.0)
        if i % every == 0:
            now = (position, velocity, attitude, omega, force)
            for key, value in zip('pvqwf', now, strict=True):
                rows[key].append(value.copy())
        attitude = product(attitude, of_rotation(omega * dt))
        # Midpoint rule, so that the truth is one order better than what is tested.
        world = turn(attitude, force) + gravity if t >= 0.0 else np.zeros((runs, 3))
        position = position + velocity * dt + 0.5 * world * dt**2
        velocity = velocity + world * dt
        falls |= (velocity[:, 2] < -chute) & (t > burn)
    columns = [np.array(rows[key]) for key in 'pvqwf']
    for column in columns:
        column.flags.writeable = False
    return Truth(tuple(round(k * 1e9 / rate) for k in range(len(columns[0]))), *columns)


def pressure_of(altitude):
    """Return the standard atmosphere's pressure at altitudes above the site [Pa]."""
    return temperature_and_pressure(np.asarray(altitude) + SITE[2])[1]
