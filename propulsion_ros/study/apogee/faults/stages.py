# SPDX-License-Identifier: Apache-2.0
"""Two stages: the second lights in the coast of the first, seen by the sensors or not."""
from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY
from propulsion_ros.study.apogee.faults.log import Fault, Faults, Log, climb_speed

_DRAG = 3e-4  # of the second stage [1/m]
_STEP = 0.01  # [s]
_DESCENT = -25.0  # under its drogue [m/s]


def two_stages(before: float, silence: float, columns: tuple[str, ...]) -> Fault:
    """Return a second burn some seconds before the first apogee, with a silence about it [s]."""
    def spoil(rng: np.random.Generator, log: Log) -> Log:
        light = log.end - before
        known = np.isfinite(log.altitude)
        begun = float(np.interp(light, log.arrival[known], log.altitude[known]))
        net, burn = rng.uniform(20.0, 80.0), rng.uniform(1.5, 4.0)
        time, altitude, speed, force = _fly(begun, climb_speed(log, light), net, burn)
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
        if silence == 0.0:
            return spoilt
        for name in columns:
            spoilt = spoilt.with_values(name, quiet, np.nan)
        return spoilt
    return spoil


def _fly(altitude: float, speed: float, net: float, burn: float) -> tuple[np.ndarray, ...]:
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


_ALL = ('altitude', 'velocity', 'acceleration')
FAULTS: Faults = {
    'second stage 5 s before apogee': two_stages(5.0, 0.0, ()),
    'second stage 1.5 s before apogee': two_stages(1.5, 0.0, ()),
    'second stage, altitude lost': two_stages(4.0, 4.0, ('altitude',)),
    'second stage, all lost': two_stages(4.0, 6.0, _ALL),
}
