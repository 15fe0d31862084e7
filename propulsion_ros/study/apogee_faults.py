# SPDX-License-Identifier: Apache-2.0
"""Faults of sensors, links and clocks: functions of a generator, a log and numbers."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY
from propulsion_ros.settings.quantity import FloatArray
from propulsion_ros.study.apogee_flights import Log, Rows, with_velocity
from propulsion_ros.study.draws import Rng

Fault = Callable[[Rng, Log], Log]
_SHAPES: Mapping[str, Callable[[FloatArray], FloatArray]] = {
    'square': np.ones_like,
    'bell': lambda share: np.sin(np.pi * share) ** 2,
    # A sudden fall and a slow return, as of a port that refills; the other as of a passing shock.
    'saw': lambda share: 1.0 - share,
    'ramp': lambda share: share,
}
"""Shapes of dips: the part of the depth by the share of the length that has passed."""
_COLUMNS = ('altitude', 'velocity', 'acceleration')
_DRAG = 3e-4  # of a second stage [1/m]
_STEP = 0.01  # of the integration of a second stage [s]
_DESCENT = -25.0  # its speed under a drogue [m/s]


def gap(rng: Rng, log: Log, length: float, earliest: float, latest: float) -> Log:
    """Make a gap of a length that begins at a random time relative to apogee [s]."""
    begin = log.end + rng.uniform(earliest, latest)
    return log.kept(~log.between(begin, begin + length)).until(begin + length)


def gaps(rng: Rng, log: Log, count: int, shortest: float, longest: float) -> Log:
    """Make gaps of random lengths [s] anywhere until 1 s after apogee."""
    for _ in range(count):
        length = rng.uniform(shortest, longest)
        begin = rng.uniform(log.arrival[0], log.end + 1.0)
        log = log.kept(~log.between(begin, begin + length))
        if begin < log.end < begin + length:
            log = log.until(begin + length)
    return log


def link_bursts(rng: Rng, log: Log, on: float, off: float) -> Log:
    """Make a link that is on and off in turn [s], with a random phase."""
    phase = (log.arrival + rng.uniform(0.0, on + off)) % (on + off)
    spoilt = log.kept(phase < on)
    after = spoilt.arrival[spoilt.arrival >= log.end]
    return spoilt.until(float(after[0]) if len(after) else np.inf)


def losses(rng: Rng, log: Log, share: float) -> Log:
    """Make a link that loses a share of the samples."""
    return log.kept(rng.random(len(log.arrival)) >= share)


def stall(rng: Rng, log: Log, length: float, latency: float, earliest: float, latest: float) -> Log:
    """Make a stall in which samples are lost, after which all arrive late by a latency [s]."""
    begin = log.end + rng.uniform(earliest, latest)
    log = log.kept(~log.between(begin, begin + length))
    late = log.arrival >= begin
    log = log.with_values('arrival', late, log.arrival[late] + latency)
    return log.until(begin + length + latency).until(log.end + latency)


def backlog(rng: Rng, log: Log, length: float, earliest: float, latest: float) -> Log:
    """Make a stall whose samples all come at its end [s]."""
    begin = log.end + rng.uniform(earliest, latest)
    rows = log.between(begin, begin + length)
    burst = begin + length + 1e-3 * np.arange(rows.sum()) / max(rows.sum(), 1)
    return log.with_values('arrival', rows, burst).until(begin + length)


def latency(rng: Rng, log: Log, mean: float, spread: float) -> Log:
    """Make samples that arrive late by a varying latency [s], in their order."""
    late = log.arrival + mean + spread * rng.random(len(log.arrival))
    late = np.maximum.accumulate(late)
    return replace(log, arrival=late).until(log.end + mean + spread)


def slow_sensor(rng: Rng, log: Log, period: float, columns: tuple[str, ...] = ('altitude',)) -> Log:
    """Make a sensor that measures once a period [s] and is published as fast as before."""
    slot = np.floor((log.arrival + rng.uniform(0.0, period)) / period)
    first = np.searchsorted(slot, slot)
    for name in columns:
        log = log.with_values(name, np.full(len(slot), True), getattr(log, name)[first])
    return log.until(log.end + period)


def frozen(
    rng: Rng, log: Log, earliest: float, latest: float, length: float,
    columns: tuple[str, ...] = ('altitude',),
) -> Log:
    """Make columns that keep their value from a random time relative to apogee on [s]."""
    begin = log.end + rng.uniform(earliest, latest)
    rows = log.between(begin, begin + length)
    for name in columns:
        log = log.with_values(name, rows, _first(getattr(log, name), rows))
    return log.until(begin + length)


def _first(column: FloatArray, rows: Rows) -> float:
    found = column[rows]
    known = found[np.isfinite(found)]
    return float(known[0]) if len(known) else np.nan


def lost(rng: Rng, log: Log, earliest: float, latest: float, columns: tuple[str, ...]) -> Log:
    """Make columns that are unknown from a random time relative to apogee on [s]."""
    rows = log.between(log.end + rng.uniform(earliest, latest), np.inf)
    for name in columns:
        log = log.with_values(name, rows, np.nan)
    return log.until(np.inf)


def velocity_only(rng: Rng, log: Log, earliest: float, latest: float) -> Log:
    """Lose the altitude while a velocity continues."""
    return lost(rng, with_velocity(log), earliest, latest, ('altitude',))


def spikes(rng: Rng, log: Log, share: float, least: float, most: float) -> Log:
    """Make spikes in a share of the samples, of sizes between two powers of ten [m]."""
    rows = rng.random(len(log.arrival)) < share
    size = rng.choice([-1.0, 1.0], rows.sum()) * 10.0 ** rng.uniform(least, most, rows.sum())
    return log.with_values('altitude', rows, log.altitude[rows] + size)


def spike_bursts(rng: Rng, log: Log, count: int, length: float, size: float) -> Log:
    """Make bursts of a length [s] with random altitudes of a size [m], at random times."""
    for _ in range(count):
        begin = rng.uniform(max(log.arrival[0], 0.0), log.end)
        rows = log.between(begin, begin + length)
        wild = rng.normal(0.0, size, rows.sum())
        log = log.with_values('altitude', rows, log.altitude[rows] + wild)
    return log


def absurd(rng: Rng, log: Log) -> Log:
    """Return a log in which 5 % of the samples have values that no sensor reads."""
    rows = rng.random(len(log.arrival)) < 0.05
    values = rng.choice([np.nan, np.inf, -np.inf, 1e9, -1e5, 0.0], rows.sum())
    return log.with_values('altitude', rows, values)


def dip(rng: Rng, log: Log, shape: str, depth: float, length: float) -> Log:
    """Make a dip of a shape, a depth [m] and a length [s] that begins anywhere in the ascent."""
    # Two draws, so that half of the dips lie within the last seconds before apogee.
    first = float(rng.choice([0.3, log.end - 5.0]))
    begin = rng.uniform(max(first, log.arrival[0]), log.end - 0.2)
    share = (log.arrival - begin) / length
    moved = np.where((share > 0.0) & (share < 1.0), -depth * _SHAPES[shape](share), 0.0)
    log = replace(log, altitude=log.altitude + moved)
    return log.until(begin + length if begin + length > log.end else -np.inf)


def pulse(rng: Rng, log: Log, size: float, decay: float, earliest: float, latest: float) -> Log:
    """Make a pulse [m] that decays exponentially [s], at a time relative to apogee [s]."""
    begin = log.end + rng.uniform(earliest, latest)
    since = log.arrival - begin
    moved = np.where(since >= 0.0, size * np.exp(-np.maximum(since, 0.0) / decay), 0.0)
    return replace(log, altitude=log.altitude + moved)


def noise(rng: Rng, log: Log, sigma: float) -> Log:
    """Make independent noise of the altitude, one sigma [m]."""
    return replace(log, altitude=log.altitude + rng.normal(0.0, sigma, len(log.arrival)))


def gusts(rng: Rng, log: Log, sigma: float, period: float) -> Log:
    """Make slow noise of a sigma [m] and a period [s], as of wind over the ports."""
    grid = np.arange(log.arrival[0] - period, log.arrival[-1] + 2.0 * period, period)
    wave = np.interp(log.arrival, grid, rng.normal(0.0, sigma, len(grid)))
    return replace(log, altitude=log.altitude + wave)


def steps(rng: Rng, log: Log, quantum: float) -> Log:
    """Make an altitude in coarse steps [m]."""
    return replace(log, altitude=np.round(log.altitude / quantum) * quantum)


def pad_drift(rng: Rng, log: Log) -> Log:
    """Return a log after two minutes on a pad whose pressure drifts by up to 150 m."""
    time = np.arange(log.arrival[0] - 120.0, log.arrival[0], 0.1)
    offset = rng.choice([-1.0, 1.0]) * rng.uniform(50.0, 150.0)
    pad = offset * (log.arrival[0] - time) / 120.0 + rng.normal(0.0, 0.5, len(time))
    return _after(log, time, pad)


def wrong_pad(rng: Rng, log: Log) -> Log:
    """Return a log after half a minute on the pad, with an offset of 100 to 130 m throughout."""
    offset = rng.choice([-1.0, 1.0]) * rng.uniform(100.0, 130.0)
    time = np.arange(log.arrival[0] - 30.0, log.arrival[0], 0.05)
    log = _after(log, time, rng.normal(0.0, 0.5, len(time)))
    return replace(log, altitude=log.altitude + offset)


def _after(log: Log, time: FloatArray, altitude: FloatArray) -> Log:
    """Return a log after some time on the pad, during which only the altitude is known."""
    nothing = np.full(len(time), np.nan)
    before = {
        'arrival': time, 'stamp': time, 'altitude': altitude, 'velocity': nothing,
        'acceleration': nothing,
    }
    joined: dict[str, Any] = {
        name: np.concatenate([rows, getattr(log, name)]) for name, rows in before.items()
    }
    return replace(log, **joined)


def start(rng: Rng, log: Log, earliest: float, latest: float) -> Log:
    """Make a log that begins at a random time relative to apogee [s]."""
    begin = log.end + rng.uniform(earliest, latest)
    return log.kept(log.arrival >= begin).until(begin)


def in_coast(rng: Rng, log: Log) -> Log:
    """Return a log that begins in the coast, at two fifths of the ascent."""
    begin = max(float(log.arrival[0]), 0.0)
    return log.kept(log.arrival >= begin + 0.4 * (log.end - begin))


def clock_step(rng: Rng, log: Log, size: float, earliest: float, latest: float) -> Log:
    """Make a step of the clock at a random time relative to apogee [s]."""
    rows = log.between(log.end + rng.uniform(earliest, latest), np.inf)
    return log.with_values('stamp', rows, log.stamp[rows] + size)


def jitter(rng: Rng, log: Log, sigma: float, rate: float = np.inf) -> Log:
    """Make stamps with jitter [s], of a sensor that is no faster than a rate [Hz]."""
    log = log.kept(_thinned(log, rate))
    log = replace(log, stamp=log.stamp + rng.uniform(-sigma, sigma, len(log.stamp)))
    return log.until(log.end + 1.0 / rate)


def swapped(rng: Rng, log: Log) -> Log:
    """Return a log in which every tenth sample, at random, is swapped with the next one."""
    order = np.arange(len(log.arrival))
    for i in np.flatnonzero(rng.random(len(order) - 1) < 0.1):
        order[i], order[i + 1] = order[i + 1], order[i]
    return replace(log.kept(order), arrival=log.arrival)


def _thinned(log: Log, hertz: float) -> Rows:
    if hertz == np.inf:
        return np.full(len(log.arrival), True)
    slot = np.floor(log.arrival * hertz)
    return np.diff(slot, prepend=slot[0] - 1.0) > 0.0


def late_velocity(rng: Rng, log: Log, lag: float) -> Log:
    """Make a velocity that lags behind [s]."""
    log = with_velocity(log)
    known = np.isfinite(log.velocity)
    late = np.interp(log.arrival - lag, log.arrival[known], log.velocity[known])
    return replace(log, velocity=late)


def changed_velocity(rng: Rng, log: Log, scale: float, offset: float, noise: float) -> Log:
    """Make a velocity with a wrong scale, an offset and noise [m/s] from a random moment on."""
    log = with_velocity(log)
    rows = log.between(rng.uniform(0.2, 0.9) * log.end, np.inf)
    wrong = scale * log.velocity[rows] + offset + rng.normal(0.0, noise, rows.sum())
    return log.with_values('velocity', rows, wrong)


def stuck_velocity(
    rng: Rng, log: Log, earliest: float, latest: float, value: float = np.nan
) -> Log:
    """Make a velocity that is stuck from a share of the ascent on, by default at its value then."""
    log = with_velocity(log)
    rows = log.between(rng.uniform(earliest, latest) * log.end, np.inf)
    found = log.velocity[rows]
    held = float(found[np.isfinite(found)][0]) if np.isnan(value) else value
    return log.with_values('velocity', rows, held)


def inertial_outage(rng: Rng, log: Log, length: float, drift: float) -> Log:
    """Make a velocity that is constant in an outage [s], and is off by a drift [m/s^2]."""
    log = with_velocity(log)
    begin = rng.uniform(0.1, 0.9) * log.end
    since = np.clip(log.arrival - begin, 0.0, length)
    begun = float(np.interp(begin, log.arrival, log.velocity))
    inside = (since > 0.0) & (since < length)
    kept = np.where(inside, begun, log.velocity)
    return replace(log, velocity=kept + drift * rng.choice([-1.0, 1.0]) * since
                   + 1e-3 * rng.normal(size=len(since)))


def fast_for_ever(rng: Rng, log: Log) -> Log:
    """Return a velocity that stays at its largest value, with noise, as if its sensor was lost."""
    log = with_velocity(log)
    rows = log.between(rng.uniform(0.1, 0.4) * log.end, np.inf)
    value = max(float(np.nanmax(log.velocity)), 100.0)
    return log.with_values('velocity', rows, value + rng.normal(0.0, 0.5, rows.sum()))


def two_stages(rng: Rng, log: Log, before: float, silence: float, columns: tuple[str, ...]) -> Log:
    """Make a second burn some seconds before the first apogee; columns are lost about it [s]."""
    light = log.end - before
    known = np.isfinite(log.altitude)
    begun = float(np.interp(light, log.arrival[known], log.altitude[known]))
    net, burn = rng.uniform(20.0, 80.0), rng.uniform(1.5, 4.0)
    # In free flight the speed is by the time to the first apogee.
    climb = STANDARD_GRAVITY * (log.end - light)
    time, altitude, speed, force = _two_burns(begun, climb, net, burn)
    apogee = light + float(time[np.argmax(altitude)])
    kept = log.arrival < light
    rows = np.arange(light, apogee + 30.0, max(float(np.median(np.diff(log.arrival))), 0.01))
    joined: dict[str, Any] = {
        name: np.concatenate([getattr(log, name)[kept], np.interp(rows - light, time, column)])
        for name, column in (
            ('altitude', altitude), ('velocity', speed), ('acceleration', force)
        )
    }
    arrival = np.concatenate([log.arrival[kept], rows])
    noise = np.where(arrival >= light, rng.normal(0.0, 0.5, len(arrival)), 0.0)
    joined['altitude'] = joined['altitude'] + noise
    for name in ('velocity', 'acceleration'):
        if not np.isfinite(getattr(log, name)).any():
            joined[name] = np.full(len(arrival), np.nan)
    spoilt = replace(
        log, arrival=arrival, stamp=arrival, apogee=apogee, is_staged=True, **joined
    )
    quiet = spoilt.between(light - 0.5 * silence, light + 0.5 * silence + burn)
    for name in columns:
        spoilt = spoilt.with_values(name, quiet, np.nan)
    return spoilt


def _two_burns(altitude: float, speed: float, net: float, burn: float) -> tuple[np.ndarray, ...]:
    rows, time, fell = [], 0.0, 0.0
    while fell < 30.0:
        drag = _DRAG * abs(speed) * speed
        force = net if time < burn else -STANDARD_GRAVITY - drag
        if fell > 1.0:
            force, speed = 0.0, max(speed, _DESCENT)
        rows.append((time, altitude, speed, force))
        altitude += speed * _STEP
        speed = max(speed + force * _STEP, _DESCENT)
        time += _STEP
        fell = fell + _STEP if speed < 0.0 else 0.0
    return tuple(np.array(rows).T)


def _fault(spoil: Callable[..., Log], *numbers: Any) -> Fault:
    """Return a fault by its function and the numbers of that."""
    return lambda rng, log: spoil(rng, log, *numbers)


FAULTS: Mapping[str, Fault] = {
    'none': lambda rng, log: log,
    # Gaps: nothing arrives for a while.
    'gap of 0.6 s about apogee': _fault(gap, 0.6, -0.6, 0.3),
    'gap of 1.2 s about apogee': _fault(gap, 1.2, -1.2, 0.3),
    'gap of 1.6 s before apogee': _fault(gap, 1.6, -4.0, -1.8),
    'gap of 2 s about apogee': _fault(gap, 2.0, -2.0, 0.3),
    'gap of 2 s before apogee': _fault(gap, 2.0, -5.0, -2.2),
    'gap of 4 s about apogee': _fault(gap, 4.0, -4.0, 0.3),
    'gap of 9 s over apogee': _fault(gap, 9.0, -7.0, -3.0),
    'gaps, many': _fault(gaps, 12, 0.3, 3.0),
    # Links that lose samples, one by one or in bursts.
    'link 0.5 s on, 2.2 s off': _fault(link_bursts, 0.5, 2.2),
    'link 0.3 s on, 1.2 s off': _fault(link_bursts, 0.3, 1.2),
    'link 1 s on, 4 s off': _fault(link_bursts, 1.0, 4.0),
    'link 0.1 s on, 0.9 s off': _fault(link_bursts, 0.1, 0.9),
    'link loses half': _fault(losses, 0.5),
    'link loses nine of ten': _fault(losses, 0.9),
    # Stalls: samples are held up, and those that follow are late.
    'stall of 0.8 s, then 0.15 s late': _fault(stall, 0.8, 0.15, -6.0, 0.0),
    'stall of 0.8 s, then 0.35 s late': _fault(stall, 0.8, 0.35, -6.0, 0.0),
    'stall of 3 s, then 0.35 s late': _fault(stall, 3.0, 0.35, -6.0, 0.0),
    'backlog of 1 s': _fault(backlog, 1.0, -3.0, 0.0),
    'backlog of 3 s': _fault(backlog, 3.0, -4.0, 0.0),
    'latency of 0.1 to 0.5 s': _fault(latency, 0.1, 0.4),
    # Sensors that hold their value: slow ones, and stuck ones.
    'held at 1 Hz': _fault(slow_sensor, 1.0),
    'held at 2 Hz': _fault(slow_sensor, 0.5),
    'held at 5 Hz': _fault(slow_sensor, 0.2),
    'held at 1 Hz, every input': _fault(slow_sensor, 1.0, _COLUMNS),
    'frozen for 1 s in coast': _fault(frozen, -6.0, -1.0, 1.0),
    'frozen for 3 s in coast': _fault(frozen, -8.0, -3.2, 3.0),
    'frozen for 3 s over apogee': _fault(frozen, -3.0, 0.0, 3.0),
    'frozen for 6 s over apogee': _fault(frozen, -6.0, 0.0, 6.0),
    'stuck for ever before apogee': _fault(frozen, -5.0, -0.5, np.inf),
    'stuck for ever in coast': _fault(frozen, -9.0, -5.0, np.inf),
    'stuck for ever, every input': _fault(frozen, -5.0, -0.5, np.inf, _COLUMNS),
    # Values that are lost for ever while samples continue.
    'lost for ever before apogee': _fault(lost, -4.0, -0.2, _COLUMNS),
    'lost for ever in coast': _fault(lost, -10.0, -4.0, _COLUMNS),
    'altitude lost, velocity goes on': _fault(velocity_only, -8.0, 0.0),
    # Spikes: single samples and short bursts that are far off.
    'spikes in 1 %': _fault(spikes, 0.01, 1.0, 4.0),
    'spikes in 10 %': _fault(spikes, 0.10, 1.0, 4.0),
    'spikes in 25 %': _fault(spikes, 0.25, 1.0, 3.0),
    'bursts of 0.2 s': _fault(spike_bursts, 8, 0.2, 200.0),
    'bursts of 0.6 s': _fault(spike_bursts, 5, 0.6, 300.0),
    'absurd values': absurd,
    # Dips: the altitude of static ports near Mach 1, at any moment of the ascent.
    'dip of 800 m, 2.5 s, square': _fault(dip, 'square', 800.0, 2.5),
    'dip of 800 m, 2.5 s, bell': _fault(dip, 'bell', 800.0, 2.5),
    'dip of 800 m, 2.5 s, saw': _fault(dip, 'saw', 800.0, 2.5),
    'dip of 800 m, 2.5 s, ramp': _fault(dip, 'ramp', 800.0, 2.5),
    'dip of 150 m, 1.5 s, bell': _fault(dip, 'bell', 150.0, 1.5),
    'dip of 40 m, 2.5 s, ramp': _fault(dip, 'ramp', 40.0, 2.5),
    'dip of 30 m, 1 s, bell': _fault(dip, 'bell', 30.0, 1.0),
    'hump of 200 m, 2 s, bell': _fault(dip, 'bell', -200.0, 2.0),
    # Ejection charges: pressure pulses about apogee.
    'charge of -763 m': _fault(pulse, -763.0, 0.15, -2.0, 1.0),
    'charge of -763 m, slow': _fault(pulse, -763.0, 0.5, -2.0, 1.0),
    'charge of -100 m': _fault(pulse, -100.0, 0.2, -3.0, 1.0),
    'charge of +100 m': _fault(pulse, 100.0, 0.2, -2.0, 1.0),
    # Noise, coarse steps, and slow errors of the altitude.
    'noise of 3 m': _fault(noise, 3.0),
    'noise of 8 m': _fault(noise, 8.0),
    'gusts of 3 m': _fault(gusts, 3.0, 1.0),
    'steps of 1 m': _fault(steps, 1.0),
    'steps of 5 m': _fault(steps, 5.0),
    'drift on the pad': pad_drift,
    'wrong pad': wrong_pad,
    # Feeds that begin in the air.
    'begins in coast': in_coast,
    'begins 5 s before apogee': _fault(start, -6.0, -4.0),
    'begins 2 s before apogee': _fault(start, -2.5, -1.5),
    'begins at apogee': _fault(start, -0.5, 1.0),
    # Clocks that are set, and stamps with jitter.
    'clock set back by 3 s': _fault(clock_step, -3.0, -8.0, -0.5),
    'clock set back by 0.3 s': _fault(clock_step, -0.3, -8.0, -0.5),
    'clock set ahead by 1 s': _fault(clock_step, 1.0, -8.0, -0.5),
    'clock set ahead by 5 s': _fault(clock_step, 5.0, -8.0, -0.5),
    'clock set ahead by an hour': _fault(clock_step, 3600.0, -8.0, -0.5),
    'jitter of 20 ms': _fault(jitter, 0.02),
    '1 Hz with jitter of 0.1 s': _fault(jitter, 0.1, 1.0),
    '1 Hz': _fault(jitter, 0.0, 1.0),
    '2 Hz': _fault(jitter, 0.0, 2.0),
    '5 Hz': _fault(jitter, 0.0, 5.0),
    'swapped samples': swapped,
    # Velocity inputs that are wrong, and outages of the inertial sensor that makes them.
    'velocity 0.5 s late': _fault(late_velocity, 0.5),
    'velocity 1.5 s late': _fault(late_velocity, 1.5),
    'velocity +20 m/s': _fault(changed_velocity, 1.0, 20.0, 0.5),
    'velocity +60 m/s': _fault(changed_velocity, 1.0, 60.0, 0.5),
    'velocity -20 m/s': _fault(changed_velocity, 1.0, -20.0, 0.5),
    'velocity -60 m/s': _fault(changed_velocity, 1.0, -60.0, 0.5),
    'velocity wild': _fault(changed_velocity, 1.0, 0.0, 30.0),
    'velocity downward': _fault(changed_velocity, -1.0, 0.0, 0.5),
    'velocity stuck': _fault(stuck_velocity, 0.3, 0.95),
    'velocity 0 for ever': _fault(stuck_velocity, 0.1, 0.9, 0.0),
    'velocity fast for ever': fast_for_ever,
    'inertial outage of 3 s': _fault(inertial_outage, 3.0, 5.0),
    'inertial outage, drift': _fault(inertial_outage, 15.0, 8.0),
    # Two stages: the second lights in the coast of the first, seen by the sensors or not.
    'second stage 5 s before apogee': _fault(two_stages, 5.0, 0.0, ()),
    'second stage 1.5 s before apogee': _fault(two_stages, 1.5, 0.0, ()),
    'second stage, altitude lost': _fault(two_stages, 4.0, 4.0, ('altitude',)),
    'second stage, all lost': _fault(two_stages, 4.0, 6.0, _COLUMNS),
}
"""All faults by name, 'none' first."""
