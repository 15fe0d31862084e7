# SPDX-License-Identifier: Apache-2.0
"""Flights for a detector: flown logs as their samples arrive, and seeded random flights."""
from __future__ import annotations

import json
import math
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY, density, speed_of_sound
from propulsion_ros.replay.flight_log import read_flight_log
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.files import ABSENT, kind_of, read_text
from propulsion_ros.settings.json_node import JsonNode
from propulsion_ros.settings.quantity import FloatArray, IntArray

Rows = NDArray[Any]
"""A mask of samples, or their indices."""
LISTS = ('reference.json', 'truth.json')
"""Lists of the logs of a folder, of which the first that exists is read."""
_SMOOTH = 1.0  # width of the moving mean of altitude, for a log without velocity [s]
_STEEP = 15.0  # distance from the running median at which an altitude is a dip [m]
_STEP = 0.01  # of the integration [s]
_PAD_TIME = 3.0  # rest before ignition [s]
_AFTER_APOGEE = 8.0  # flight after apogee [s]
_FAULTS = ('altitude frozen', 'altitude lost', 'velocity lost', 'velocity stuck', 'velocity offset')


@dataclass(frozen=True, eq=False)
class Log:
    """Samples in order of arrival; NaN is a missing value.

    Attributes
    ----------
    arrival, stamp : FloatArray
        Time of arrival and stamp of each sample, shape (n,) [s].
    altitude, velocity, acceleration : FloatArray
        Shape (n,) [m], [m/s], [m/s^2].
    apogee : float
        Time of the apogee by the clock of `arrival` [s]; NaN if the log ends before it.
    uncertainty : float
        Uncertainty of `apogee` [s].
    back : float
        Time from which the data is good again after a fault [s]; infinity for never.
    is_staged : bool
        True if a further stage may be lit, as the flight configuration has it.
    """

    name: str
    arrival: FloatArray
    stamp: FloatArray
    altitude: FloatArray
    velocity: FloatArray
    acceleration: FloatArray
    apogee: float
    uncertainty: float = 0.0
    back: float = -np.inf
    is_staged: bool = False

    @property
    def end(self) -> float:
        """Time of the apogee, or of the last sample if there is none [s]."""
        return float(self.arrival[-1]) if np.isnan(self.apogee) else self.apogee

    def kept(self, rows: Rows) -> Log:
        """Return the log with some of its rows: a mask, or indices in order of arrival."""
        arrays = {
            field.name: getattr(self, field.name)[rows] for field in fields(self)
            if isinstance(getattr(self, field.name), np.ndarray)
        }
        return replace(self, **arrays)

    def between(self, begin: float, end: float) -> Rows:
        """Return which samples arrive from begin to before end, shape (n,)."""
        return (self.arrival >= begin) & (self.arrival < end)

    def with_values(self, name: str, rows: Rows, values: FloatArray | float) -> Log:
        """Return the log with other values of one column in some rows, as a mask."""
        column = getattr(self, name).copy()
        column[rows] = values
        return replace(self, **{name: column})

    def until(self, end: float) -> Log:
        """Return the log with data that is good again no earlier than a time [s]."""
        return replace(self, back=max(self.back, end))


def with_velocity(log: Log) -> Log:
    """Return the log with a velocity: its own, or the slope of its altitude without dips."""
    if np.isfinite(log.velocity).any():
        return log
    grid = np.arange(log.arrival[0], log.arrival[-1], 0.1)
    known = np.isfinite(log.altitude)
    altitude = np.interp(grid, log.arrival[known], log.altitude[known])
    width = 20
    padded = np.pad(altitude, width, mode='edge')
    middle = np.median(np.lib.stride_tricks.sliding_window_view(padded, 2 * width + 1), axis=1)
    altitude = np.where(np.abs(altitude - middle) > _STEEP, middle, altitude)
    half = round(_SMOOTH / 0.2)
    smooth = np.convolve(np.pad(altitude, half, mode='edge'), np.ones(2 * half + 1), 'valid')
    speed = np.gradient(smooth / (2 * half + 1), 0.1)
    return replace(log, velocity=np.interp(log.arrival, grid, speed))


_FORM = '{"NAME": {"apogee_t": 17.3}}'


class Reference(NamedTuple):
    """Reference data of a flight."""

    path: Path
    """File of its log."""
    time: float
    """Time of the apogee [s]; NaN if the log ends before it."""
    uncertainty: float
    """Uncertainty of that time [s]; NaN if the list has none."""
    grade: str
    should_trigger: bool


def references_of(folder: Path) -> dict[str, Reference]:
    """Return the reference of each flight of a folder, by name.

    Its logs are ``real/NAME.csv``, or ``NAME.csv`` if there is no such folder. Raises
    `SourceError` if the list is missing or malformed.
    """
    path = next((folder / name for name in LISTS if kind_of(folder / name) != ABSENT),
                folder / LISTS[0])
    try:
        text = read_text(path)
    except SourceError as error:
        problem = f'{error.problem}; expected the apogee of each log, {_FORM}'
        raise SourceError(error.key, problem) from error
    try:
        references = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SourceError(str(path), f'expected JSON: {error}') from error
    if not isinstance(references, dict) or not references:
        raise SourceError(str(path), f'expected the apogee of each log, {_FORM}')
    logs = folder / 'real' if kind_of(folder / 'real') != ABSENT else folder
    try:
        return {
            name: _reference(JsonNode(reference, name), logs / f'{name}.csv')
            for name, reference in sorted(references.items())
        }
    except SourceError as error:
        raise SourceError(f'{path}: {error.key}', error.problem) from error


def _reference(node: JsonNode, path: Path) -> Reference:
    time = math.nan if node['apogee_t'].value is None else node['apogee_t'].number()
    should_trigger = node.get('should_trigger', not math.isnan(time)).flag()
    if should_trigger and math.isnan(time):
        raise node.error('should_trigger without an apogee_t')
    return Reference(
        path, time, node['t_uncert'].number() if node.has('t_uncert') else math.nan,
        node.get('grade', 'true').text(), should_trigger,
    )


def read_logs(folder: Path) -> list[Log]:
    """Return the flown logs of a folder that has references."""
    logs = []
    for name, reference in references_of(folder).items():
        rows = [sample[:4] for sample in read_flight_log(reference.path)]
        stamp_ns, altitude, velocity, force = np.array(rows, float).reshape(-1, 4).T.copy()
        time = stamp_ns * 1e-9
        uncertainty = 0.0 if math.isnan(reference.uncertainty) else reference.uncertainty
        logs.append(
            Log(name, time, time, altitude, velocity, force, reference.time, uncertainty)
        )
    return logs


@dataclass(frozen=True)
class Truth:
    """True flight: index of the apogee, and rows at even times."""

    apogee: int
    time: FloatArray
    altitude: FloatArray
    velocity: FloatArray
    acceleration: FloatArray
    mach: FloatArray


@dataclass(frozen=True)
class SimulatedFlight:
    """One flight as its sensors measured it, and the truth."""

    stamp_ns: tuple[int, ...]
    """Stamps of the samples, in order of arrival [ns]."""
    altitude: FloatArray
    velocity: FloatArray
    acceleration: FloatArray
    """Samples, NaN for a missing value, shape (n,) [m], [m/s], [m/s^2]."""
    apogee_time: float
    apogee_altitude: float
    """True time and altitude of the apogee [s], [m]."""
    sigma: float
    """Standard deviation of the altitude noise [m]."""
    fault: str
    """Sensor fault, '' for none."""
    truth: Truth

    def speed(self, time: float) -> float:
        """Return the true vertical speed at a time, up positive [m/s]."""
        return float(np.interp(time, self.truth.time, self.truth.velocity))


def simulate_flight(seed: int) -> SimulatedFlight:
    """Return the flight of a seed; the apogee lies at least 130 m above the pad."""
    rng = np.random.default_rng(seed)
    truth = _fly(rng)
    while truth.altitude[truth.apogee] < 130.0:
        truth = _fly(rng)
    return measure(rng, truth)


def _fly(rng: np.random.Generator) -> Truth:
    """Integrate a point mass in a vertical plane: boosts, coast, drogue."""
    mass = 10.0 ** rng.uniform(0.0, 2.0)
    net = rng.uniform(2.0, 12.0) * STANDARD_GRAVITY
    burn = rng.uniform(0.6, 5.0)
    if rng.random() < 0.1:  # a weak engine that burns long
        net, burn = rng.uniform(0.3, 1.5) * STANDARD_GRAVITY, rng.uniform(3.0, 8.0)
    thrust = net + STANDARD_GRAVITY
    second = burn + rng.uniform(2.0, 6.0) if rng.random() < 0.1 else np.inf
    ballistic = rng.uniform(2e-5, 4e-4) * (10.0 / mass) ** 0.2  # drag area over mass, Cd A / 2 m
    wind = rng.normal(0.0, 5.0)
    angle = np.deg2rad(rng.uniform(0.0, 8.0))
    drogue = rng.uniform(0.0, 2.0) if rng.random() < 0.8 else np.inf
    drogue_ratio = rng.uniform(20.0, 200.0)
    altitudes = np.arange(0.0, 60e3, 100.0)
    densities, sounds = density(altitudes), speed_of_sound(altitudes)
    position = np.zeros(2)
    velocity = np.zeros(2)
    rows: list[tuple[float, ...]] = []
    apogee = -1
    time = -_PAD_TIME
    while apogee < 0 or time < rows[apogee][0] + _AFTER_APOGEE:
        level = min(int(max(position[1], 0.0) / 100.0), len(densities) - 1)
        flow: FloatArray = velocity - np.array([wind, 0.0])
        speed = float(np.hypot(flow[0], flow[1]))
        mach = speed / sounds[level]
        area = ballistic * (1.0 + 1.2 * np.exp(-(((mach - 1.1) / 0.25) ** 2)))
        if apogee >= 0 and time > rows[apogee][0] + drogue:
            area *= drogue_ratio
        drag = min(area * densities[level] * speed, 0.5 / _STEP)
        push = 0.0
        if time >= second and apogee >= 0:
            second = np.inf  # never lit once falling
        if 0.0 <= time < burn or second <= time < second + 0.5 * burn:
            push = thrust * min(1.0, (time if time < burn else time - second) / 0.1)
        heading = np.array([np.sin(angle), np.cos(angle)])
        if np.hypot(*velocity) > 20.0:
            heading = velocity / np.hypot(*velocity)
        acceleration = push * heading - drag * flow - np.array([0.0, STANDARD_GRAVITY])
        if position[1] <= 0.0 and acceleration[1] < 0.0 and apogee < 0:
            acceleration = np.zeros(2)
        rows.append((time, position[1], velocity[1], acceleration[1], mach))
        if apogee < 0 and position[1] > 1.0 and velocity[1] <= 0.0:
            apogee = len(rows) - 1
        position = position + velocity * _STEP + 0.5 * acceleration * _STEP**2
        velocity = velocity + acceleration * _STEP
        time += _STEP
    return Truth(apogee, *np.array(rows).T)


def measure(rng: np.random.Generator, truth: Truth) -> SimulatedFlight:
    """Sample a flight at a random rate with noise, shocks, losses and perhaps a fault."""
    rate = float(rng.choice([5.0, 10.0, 20.0, 50.0, 100.0, 200.0]))
    start, end = truth.time[0], truth.time[-1]
    time = np.arange(start, end, 1.0 / rate)
    time = time + rng.uniform(-0.2, 0.2) / rate * rng.random(len(time))
    apogee_time = float(truth.time[truth.apogee])
    sigma = float(10.0 ** rng.uniform(-0.7, 0.4))
    altitude = np.interp(time, truth.time, truth.altitude)
    altitude += rng.normal(0.0, sigma, len(time))
    altitude += _coloured(rng, time, 0.3 * sigma, rng.uniform(0.2, 1.5))
    altitude += _port_shock(rng, time, truth)
    altitude += _charge(rng, time, apogee_time)
    if rng.random() < 0.3:
        quantum = rng.choice([0.3, 1.0])
        altitude = np.round(altitude / quantum) * quantum
    spikes = rng.random(len(time)) < (0.003 if rng.random() < 0.3 else 0.0)
    count = int(spikes.sum())
    altitude[spikes] += rng.choice([-1.0, 1.0], count) * 10.0 ** rng.uniform(1.0, 5.0, count)
    velocity = np.full(len(time), np.nan)
    acceleration = np.full(len(time), np.nan)
    has_velocity = rng.random() < 0.5
    if has_velocity:
        lag = rng.uniform(0.0, 0.2)
        velocity = np.interp(time - lag, truth.time, truth.velocity)
        velocity += rng.normal(0.0, 0.7, len(time)) + rng.normal(0.0, 1.0)
    if rng.random() < 0.5:
        acceleration = np.interp(time, truth.time, truth.acceleration)
        acceleration += rng.normal(0.0, 0.3, len(time))
    fault = str(rng.choice(_FAULTS)) if has_velocity and rng.random() < 0.2 else ''
    _spoil(rng, fault, time, altitude, velocity, apogee_time)
    kept = _kept(rng, time, apogee_time)
    altitude[rng.random(len(time)) < 0.01] = np.nan
    return SimulatedFlight(
        tuple(round(t * 1e9) for t in time[kept].tolist()),
        altitude[kept], velocity[kept], acceleration[kept],
        apogee_time, float(truth.altitude[truth.apogee]), sigma, fault, truth,
    )


def _coloured(
    rng: np.random.Generator, time: FloatArray, sigma: float, period: float
) -> FloatArray:
    """Return slow pressure noise, such as wind over the static ports [m]."""
    grid = np.arange(time[0] - period, time[-1] + 2.0 * period, 0.5 * period)
    return np.interp(time, grid, rng.normal(0.0, sigma, len(grid)))


def _port_shock(rng: np.random.Generator, time: FloatArray, truth: Truth) -> FloatArray:
    """Return the altitude error of static ports near Mach 1 in the ascent [m]."""
    depth = rng.uniform(50.0, 800.0)
    mach = np.interp(time, truth.time, truth.mach)
    climbs = np.interp(time, truth.time, truth.velocity) > 0.0
    return np.where(climbs, -depth * np.exp(-(((mach - 1.0) / 0.05) ** 2)), 0.0)


def _charge(rng: np.random.Generator, time: FloatArray, apogee_time: float) -> FloatArray:
    """Return the pressure pulse of an ejection charge near apogee in a third of flights [m]."""
    if rng.random() > 1.0 / 3.0:
        return np.zeros(len(time))
    since = time - (apogee_time + rng.uniform(-0.5, 2.0))
    size = rng.choice([-1.0, -1.0, 1.0]) * 10 ** rng.uniform(1.0, 2.5)
    decay = np.exp(-np.maximum(since, 0.0) / rng.uniform(0.03, 0.2))
    pulse: FloatArray = np.where(since >= 0.0, size * decay, 0.0)
    return pulse


def _spoil(
    rng: np.random.Generator,
    fault: str,
    time: FloatArray,
    altitude: FloatArray,
    velocity: FloatArray,
    apogee_time: float,
) -> None:
    """Let one sensor fail at a random time of the flight, in place."""
    begin = int(np.searchsorted(time, rng.uniform(0.3, 0.95) * apogee_time))
    if fault == 'altitude frozen':
        altitude[begin:] = altitude[begin]
    elif fault == 'altitude lost':
        altitude[begin:] = np.nan
    elif fault == 'velocity lost':
        velocity[begin:] = np.nan
    elif fault == 'velocity stuck':
        velocity[begin:] = velocity[begin]
    elif fault == 'velocity offset':
        velocity[begin:] += rng.choice([-1.0, 1.0]) * rng.uniform(5.0, 60.0)


def _kept(rng: np.random.Generator, time: FloatArray, apogee_time: float) -> IntArray:
    """Return the indices of the samples that arrive."""
    lost = rng.random(len(time)) < rng.choice([0.0, 0.02, 0.2])
    for _ in range(rng.integers(0, 4)):
        begin = rng.uniform(0.0, apogee_time + 2.0)
        lost |= (time > begin) & (time < begin + rng.uniform(0.1, 0.9))
    kept: IntArray = np.flatnonzero(~lost)
    return kept
