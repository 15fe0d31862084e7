# SPDX-License-Identifier: Apache-2.0
"""Flown logs as raw sensors of a flight computer: barometer, and an inertial sensor that ends."""
from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from flight_computer import Computer, xyz

from fake_host import message
from parts import amount
from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY, temperature_and_pressure
from propulsion_ros.replay.flight_log import read_flight_log
from propulsion_ros.study.apogee_flights import references_of

SITE = 120.0
PAD = 4.0
"""How long the vehicle stands on its pad before the log begins [s]."""
START = 100.0
"""Stamp at which the log's time is 0 [s]."""
NEVER = math.inf
MAIN_HEIGHT = 450.0
"""At which the shipped configuration fires the main parachute [m]."""
_DESCENT = 20.0  # with which logs go on to the ground that end in the air [m/s]


@dataclass
class Flown:
    """One flight as sensors measure it: times [s], pressures [Pa], forces and rates."""

    name: str
    time: np.ndarray
    pressure: np.ndarray
    altitude: np.ndarray
    inertial_time: np.ndarray
    force: np.ndarray
    rate: np.ndarray
    apogee: float
    uncertainty: float

    @property
    def main_due(self):
        """When the barometer first reads the height of the main for good after apogee [s]."""
        low = (self.time > self.apogee) & (self.altitude > MAIN_HEIGHT)
        return float(self.time[np.flatnonzero(low)[-1]])


def flown_logs(folder):
    """Return every flown log with an apogee; those that have no accelerometer have no forces."""
    found = []
    for name, reference in references_of(folder).items():
        if reference.should_trigger:
            found.append(_of_log(folder, name, reference))
    return found


def hedy(folder):
    """Return the one flight whose raw inertial sensor was logged."""
    flown = next(f for f in flown_logs(folder) if f.name == 'hedy_2025_baro')
    rows = np.genfromtxt(folder / 'real' / 'hedy_2025_imu.csv', delimiter=',', skip_header=1)
    # The sensor's y axis points down the rocket: body z, the nose, is -y.
    force = np.stack([rows[:, 1], rows[:, 3], -rows[:, 2]], axis=1)
    rate = np.radians(np.stack([rows[:, 4], rows[:, 6], -rows[:, 5]], axis=1))
    # Axes x, z, -y are a rotation of x, y, z.
    flown.inertial_time, flown.force, flown.rate = _stood(rows[:, 0], force, rate)
    return flown


def _of_log(folder, name, reference):
    samples = list(read_flight_log(folder / 'real' / f'{name}.csv'))
    time = np.array([sample.stamp_ns for sample in samples]) * 1e-9
    altitude = np.array([sample.altitude for sample in samples])
    acceleration = np.array([sample.acceleration for sample in samples])
    rng = np.random.default_rng(len(name))
    step = max(float(np.median(np.diff(time))), 0.01)
    pad = np.arange(time[0] - PAD, time[0], step)
    rows = np.isfinite(altitude)
    near = time[rows] > time[rows][-1] - 0.5
    last = float(np.median(altitude[rows][near]))
    fall = np.arange(step, max(last, 0.0) / _DESCENT + 5.0, step)
    ground = np.maximum(last - _DESCENT * fall, 0.0) + rng.normal(0.0, 0.3, len(fall))
    heights = np.concatenate([rng.normal(0.0, 0.3, len(pad)), altitude[rows], ground])
    times = np.concatenate([pad, time[rows], time[rows][-1] + fall])
    inertial, force = np.zeros(0), np.zeros((0, 3))
    known = np.isfinite(acceleration)
    if known.sum() > 0.5 * len(known):
        inertial = time[known]
        force = np.zeros((len(inertial), 3))
        force[:, 2] = acceleration[known] + STANDARD_GRAVITY
        force += rng.normal(0.0, 0.05, force.shape)
    rate = rng.normal(0.0, 0.002, force.shape)
    if len(inertial):
        inertial, force, rate = _stood(inertial, force, rate)
    return Flown(
        name, times, temperature_and_pressure(heights + SITE)[1],
        heights, inertial, force, rate, reference.time, reference.uncertainty,
    )


def _stood(time, force, rate):
    """Return inertial rows with a rest on the pad before them."""
    rng = np.random.default_rng(7)
    pad = np.arange(time[0] - PAD, time[0] - 0.005, 0.01)
    still = force[time < max(time[0] + 0.3, -0.3)].mean(axis=0)
    level = still * STANDARD_GRAVITY / np.linalg.norm(still)
    level = level + rng.normal(0.0, 0.05, (len(pad), 3))
    return (
        np.concatenate([pad, time]), np.concatenate([level, force]),
        np.concatenate([rng.normal(0.0, 0.002, level.shape), rate]),
    )


class Outcome:
    """What a flight computer made of a flight."""

    def __init__(self, flown, computer):
        self.computer = computer
        apogees = computer.host.of('~/apogee')
        self.fired = {name: t - START for name, t in computer.fired}
        self.drogue = self.fired.get('drogue parachute', NEVER)
        self.main = self.fired.get('main parachute', NEVER)
        self.apogee_altitude = math.nan
        if apogees:
            payload = apogees[-1][1]
            self.apogee_altitude = payload[2]
        self.altitude_error = self.apogee_altitude - smooth_at(flown, flown.apogee)
        self.main_delay = self.main - flown.main_due


def smooth_at(flown, time):
    """Return the median of the barometer's altitude within a second of a time [m]."""
    near = np.abs(flown.time - time) < max(0.5, 1.1 * float(np.median(np.diff(flown.time))))
    return float(np.median(flown.altitude[near])) if near.any() else math.nan


def fly_pressure(flown, stall=(NEVER, NEVER), latency=0.0, end=None, **settings):
    """Fly a log's pressures: none from begin to end of a stall, all late after it, on a robot."""
    is_simulated = stall[0] == NEVER
    computer = Computer('pressure', is_simulated=is_simulated, **settings)
    is_launched, now = False, flown.time[0]
    for t, pascal in zip(flown.time, flown.pressure, strict=True):
        if end is not None and t > end:
            break
        if stall[0] <= t < stall[1]:
            continue
        arrival = t + (latency if t >= stall[1] else 0.0)
        if not is_simulated:
            computer.wait(arrival - now)
        now += 0.01 * round((arrival - now) / 0.01)
        if not is_launched and t > flown.time[0] + PAD - 1.0:
            computer.command('launch')
            is_launched = True
        computer.host.deliver('~/pressure', message(
            round((t + START) * 1e9), fluid_pressure=float(pascal)
        ))
    return Outcome(flown, computer)


def _thinned(few, time, *columns):
    """Return rows of a sensor, one of some where it is fast."""
    is_fast = len(time) > 1 and float(np.median(np.diff(time))) < 0.015
    every = amount('flights', few, 1) if is_fast else 1
    return zip(*(each[::every] for each in (time, *columns)), strict=True)


def fly_sensors(flown, outages=(), end=None, **settings):
    """Fly a log on its raw sensors; the inertial one is silent from begin to end of each outage.

    `make test` takes every fourth pressure and every second inertial sample of what has 100 a
    second, estimates half as often, and ends 5 s after the main is due.
    """
    computer = Computer('sensors', is_simulated=True, **{
        'estimation.rate': amount('flights', 25.0, 50.0), **settings,
    })
    end = amount('flights', flown.main_due + 5.0, NEVER) if end is None else end
    rows = [(t, 0, p) for t, p in _thinned(4, flown.time, flown.pressure)]
    rows += [
        (t, 1, (f, w)) for t, f, w in _thinned(2, flown.inertial_time, flown.force, flown.rate)
        if not any(a <= t < b for a, b in outages)
    ]
    rows.sort(key=lambda row: row[:2])
    is_launched = False
    for t, kind, values in rows:
        if t > end:
            break
        if not is_launched and t > flown.time[0] + PAD - 1.0:
            computer.command('launch')
            is_launched = True
        stamp = round((t + START) * 1e9)
        if kind == 0:
            computer.host.deliver('~/pressure', message(
                stamp, fluid_pressure=float(values), variance=0.0
            ))
        else:
            force, rate = values
            computer.host.deliver('~/imu', message(
                stamp, angular_velocity=xyz(*map(float, rate)),
                linear_acceleration=xyz(*map(float, force)),
            ))
    return Outcome(flown, computer)
