# SPDX-License-Identifier: Apache-2.0
"""A flight log as its samples arrive, with what is known of the flight."""
from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY
from propulsion_ros.settings.quantity import FloatArray

Rows = NDArray[Any]
"""A mask of samples, or their indices."""
_SMOOTH = 1.0  # of the velocity that is made for a log without one, to either side [s]
_STEEP = 15.0  # an altitude that lies this far from its running median is a dip [m]


@dataclass(frozen=True, eq=False)
class Log:
    """Samples in order of arrival; NaN is no value.

    Attributes
    ----------
    name : str
        Of the flight.
    arrival, stamp : FloatArray
        When each sample comes, and what its stamp says, shape (n,) [s].
    altitude, velocity, acceleration : FloatArray
        Shape (n,) [m], [m/s], [m/s^2].
    apogee : float
        By the clock of `arrival` [s]; NaN where the log ends before it.
    uncertainty : float
        Of `apogee` [s].
    back : float
        When the data is good again after a fault [s]; infinity for never.
    is_staged : bool
        Whether a stage may still light, as the configuration of the flight would tell.
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
        """Time of the apogee, or of the last sample where there is none [s]."""
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
        """Return the log with data that is good again at a time [s]."""
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


def coast_begin(log: Log) -> float:
    """Return a time at which the flight surely coasts: two fifths of the way to apogee [s]."""
    start = max(float(log.arrival[0]), 0.0)
    return start + 0.4 * (log.end - start)


def climb_speed(log: Log, time: float) -> float:
    """Return the speed of a free flight that is at its apogee at the end of the ascent [m/s]."""
    return STANDARD_GRAVITY * (log.end - time)
