# SPDX-License-Identifier: Apache-2.0
"""Faults of one source each: pure functions of a generator, its stream and a moment."""
from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from propulsion_ros.settings.quantity import FloatArray
from propulsion_ros.study.draws import Rng, Variable
from propulsion_ros.study.ground.sensors import FIX, IMU, ODOMETRY, PRESSURE, Stream

Drawn = Mapping[str, Any]
_HEIGHTS = (PRESSURE, FIX, ODOMETRY)
_ALL = (PRESSURE, IMU, FIX, ODOMETRY)


@dataclass(frozen=True)
class Fault:
    """One kind of fault.

    Attributes
    ----------
    sources : tuple of str
        That can have it.
    spoil : callable
        ``spoil(rng, stream, at, drawn)`` returns the stream with the fault, which begins at ``at``.
    vary : tuple of Variable
        What is drawn.
    """

    sources: tuple[str, ...]
    spoil: Callable[[Rng, Stream, float, Drawn], Stream]
    vary: tuple[Variable, ...] = ()


def _since(stream: Stream, at: float, length: float = math.inf) -> FloatArray:
    """Return the time since the begin of a fault (n,) [s], NaN before it and after its end."""
    since = stream.arrival - at
    return np.where((since >= 0.0) & (since < length), since, np.nan)


def _moved(stream: Stream, by: FloatArray) -> Stream:
    """Return it with its height moved (n,) [m], where the amount is known."""
    values = stream.values.copy()
    values[:, 0] += np.nan_to_num(by)
    return stream.with_values(values)


def _step(rng: Rng, stream: Stream, at: float, drawn: Drawn) -> Stream:
    return _moved(stream, np.where(np.isfinite(_since(stream, at)), drawn['size'], 0.0))


def _ramp(rng: Rng, stream: Stream, at: float, drawn: Drawn) -> Stream:
    since = stream.arrival - at
    return _moved(stream, drawn['slope'] * np.clip(since, 0.0, drawn['length']))


def _pulse(rng: Rng, stream: Stream, at: float, drawn: Drawn) -> Stream:
    return _moved(stream, drawn['size'] + 0.0 * _since(stream, at, drawn['length']))


def _oscillation(rng: Rng, stream: Stream, at: float, drawn: Drawn) -> Stream:
    return _moved(stream, drawn['size'] * np.sin(
        math.tau * _since(stream, at) / drawn['period']
    ))


def _settling(rng: Rng, stream: Stream, at: float, drawn: Drawn) -> Stream:
    return _moved(stream, drawn['size'] * np.exp(-stream.arrival / drawn['period']))


def _held(stream: Stream, rows: FloatArray, noise: FloatArray | float = 0.0) -> Stream:
    """Return it with the value before the first of some rows in all of them."""
    at = np.flatnonzero(rows)
    if not len(at):
        return stream
    values = stream.values.copy()
    values[rows] = stream.values[max(at[0] - 1, 0)] + noise
    return stream.with_values(values)


def _stuck(rng: Rng, stream: Stream, at: float, drawn: Drawn) -> Stream:
    return _held(stream, np.isfinite(_since(stream, at, drawn['length'])))


def _blocked(rng: Rng, stream: Stream, at: float, drawn: Drawn) -> Stream:
    rows = np.isfinite(_since(stream, at, drawn['length']))
    return _held(stream, rows, rng.normal(0.0, 0.1, (int(rows.sum()), 1)))


def _silent(rng: Rng, stream: Stream, at: float, drawn: Drawn) -> Stream:
    return stream.kept(~np.isfinite(_since(stream, at, drawn['length'])))


def _patchy(rng: Rng, stream: Stream, at: float, drawn: Drawn) -> Stream:
    since = stream.arrival - at - drawn['first']
    lost = (stream.arrival >= at) & ((since < 0.0) | (
        np.mod(since, drawn['on'] + drawn['off']) >= drawn['on']
    ))
    return stream.kept(~lost)


def _noisy(rng: Rng, stream: Stream, at: float, drawn: Drawn) -> Stream:
    rows = np.isfinite(_since(stream, at, drawn['length']))
    values = stream.values.copy()
    values[rows] += rng.normal(0.0, drawn['size'], values[rows].shape)
    return stream.with_values(values)


def _spikes(rng: Rng, stream: Stream, at: float, drawn: Drawn) -> Stream:
    rows = np.isfinite(_since(stream, at)) & (rng.random(len(stream.stamp)) < drawn['share'])
    values = stream.values.copy()
    values[rows, 0] += rng.choice([-1.0, 1.0], int(rows.sum())) * drawn['size']
    return stream.with_values(values)


def _shows(rng: Rng, stream: Stream, at: float, drawn: Drawn) -> Stream:
    """Return an inertial sensor that shows a force along body z, with its noise."""
    rows = np.isfinite(_since(stream, at, drawn['length']))
    values = stream.values.copy()
    values[rows, 2] = drawn['force'] + rng.normal(0.0, 0.05, int(rows.sum()))
    return stream.with_values(values)


def _zeros_after(rng: Rng, stream: Stream, at: float, drawn: Drawn) -> Stream:
    stream = _shows(rng, stream, at, drawn)
    rows = stream.arrival >= at + drawn['length']
    values = stream.values.copy()
    values[rows] = rng.normal(0.0, 0.02, values[rows].shape)
    return stream.with_values(values)


def _swapped(rng: Rng, stream: Stream, at: float, drawn: Drawn) -> Stream:
    values = stream.values.copy()
    rows = stream.arrival >= at
    values[rows, :3] = np.roll(values[rows, :3], int(drawn['turns']), axis=1) * drawn['sign']
    return stream.with_values(values)


def _late(rng: Rng, stream: Stream, at: float, drawn: Drawn) -> Stream:
    """Return what queues for a while, and then comes all at once."""
    end = at + drawn['length']
    waits = (stream.arrival >= at) & (stream.arrival < end)
    return Stream(stream.stamp, np.where(waits, end, stream.arrival), stream.values)


def _clock(rng: Rng, stream: Stream, at: float, drawn: Drawn) -> Stream:
    moved = np.where(stream.arrival >= at, drawn['size'], 0.0)
    return Stream(stream.stamp + moved, stream.arrival, stream.values)


def _brownout(rng: Rng, stream: Stream, at: float, drawn: Drawn) -> Stream:
    """Return a sensor that is away, and settles when it comes back."""
    back = at + drawn['length']
    stream = stream.kept((stream.arrival < at) | (stream.arrival >= back))
    since = stream.arrival - back
    values = stream.values.copy()
    rows = since >= 0.0
    values[rows, 0] += drawn['size'] * np.exp(-since[rows] / 0.5)
    return stream.with_values(values)


def _interleaved(rng: Rng, stream: Stream, at: float, drawn: Drawn) -> Stream:
    """Return the stream with that of another one between, which is stuck at the pad."""
    step = float(np.median(np.diff(stream.stamp)))
    other = Stream(
        stream.stamp + 0.5 * step, stream.arrival + 0.5 * step,
        np.tile(stream.values[:1], (len(stream.stamp), 1)),
    )
    rows = np.argsort(np.concatenate([stream.arrival, other.arrival]), kind='stable')
    return Stream(*(
        np.concatenate([getattr(stream, name), getattr(other, name)])[rows]
        for name in ('stamp', 'arrival', 'values')
    ))


def _speed_stuck(rng: Rng, stream: Stream, at: float, drawn: Drawn) -> Stream:
    values = stream.values.copy()
    values[stream.arrival >= at, 1] = drawn['size']
    return stream.with_values(values)


def _drift(rng: Rng, stream: Stream, at: float, drawn: Drawn) -> Stream:
    """Return an odometry whose height drifts while its own speed stays as it is."""
    since = np.clip((stream.arrival - at) / drawn['length'], 0.0, 1.0)
    return _moved(stream, drawn['size'] * since)


def _u(name: str, low: float, high: float) -> Variable:
    return Variable(name, 'uniform', [low, high])


def _log(name: str, low: float, high: float) -> Variable:
    return Variable(name, 'loguniform', [low, high])


def _either(name: str, *values: float) -> Variable:
    return Variable(name, 'choice', list(values))


FAULTS: Mapping[str, Fault] = {
    # A bit of a bus that flips, a cover that is taken off, a port that a hand covers.
    'glitch': Fault(_HEIGHTS, _pulse, (
        _either('size', -3000.0, -300.0, -30.0, 30.0, 300.0, 3000.0), _log('length', 0.01, 0.5),
    )),
    'spikes': Fault(_HEIGHTS, _spikes, (_log('size', 20.0, 5000.0), _log('share', 0.001, 0.1))),
    'step': Fault(_HEIGHTS, _step, (_either('size', -100.0, -30.0, 15.0, 30.0, 60.0, 200.0),)),
    'ramp': Fault(_HEIGHTS, _ramp, (_u('slope', -20.0, 20.0), _u('length', 3.0, 30.0))),
    'oscillation': Fault(_HEIGHTS, _oscillation, (
        _log('size', 2.0, 100.0), _log('period', 0.5, 20.0),
    )),
    'settling': Fault(_HEIGHTS, _settling, (_u('size', -50.0, 50.0), _log('period', 2.0, 15.0))),
    'pulse': Fault(_HEIGHTS, _pulse, (_u('size', -200.0, 200.0), _log('length', 0.5, 20.0))),
    'noisy': Fault(_ALL, _noisy, (_log('size', 1.0, 20.0), _log('length', 1.0, 300.0))),
    'stuck': Fault(_ALL, _stuck, (_either('length', 1.0, 5.0, 30.0, math.inf),)),
    'blocked': Fault((PRESSURE,), _blocked, (_either('length', 5.0, 30.0, math.inf),)),
    'silent': Fault(_ALL, _silent, (_either('length', 0.3, 2.0, 10.0, math.inf),)),
    'patchy': Fault(_ALL, _patchy, (
        _u('first', 0.0, 15.0), _u('on', 0.2, 3.0), _u('off', 0.5, 6.0),
    )),
    'late': Fault(_ALL, _late, (_log('length', 0.1, 3.0),)),
    'clock': Fault(_ALL, _clock, (_either('size', -3600.0, -5.0, -0.3, 0.3, 1.0, 3600.0),)),
    'brown-out': Fault(_ALL, _brownout, (_u('length', 0.3, 3.0), _u('size', -30.0, 30.0))),
    'interleaved': Fault((PRESSURE,), _interleaved),
    'shows a force': Fault((IMU,), _shows, (_u('force', -160.0, 157.0), _log('length', 0.02, 2.0))),
    'zeros after a force': Fault((IMU,), _zeros_after, (
        _u('force', 20.0, 157.0), _u('length', 0.1, 1.0),
    )),
    'zeros': Fault((IMU,), _zeros_after, (_either('force', 9.81), _either('length', 0.0))),
    'swapped axes': Fault((IMU,), _swapped, (
        _either('turns', 0, 1, 2), _either('sign', -1.0, 1.0),
    )),
    'drift': Fault((ODOMETRY,), _drift, (_u('size', -60.0, 60.0), _log('length', 5.0, 300.0))),
    'speed stuck': Fault((ODOMETRY,), _speed_stuck, (_either('size', 0.0, 5.0, 15.0, 40.0),)),
}
"""Every kind of fault by name."""
