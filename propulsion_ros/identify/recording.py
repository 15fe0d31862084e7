# SPDX-License-Identifier: Apache-2.0
"""What was commanded and measured, by name over time."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from propulsion_ros.settings.quantity import BoolArray, FloatArray

IMU = tuple(f'{what}_{axis}' for what in ('accel', 'gyro') for axis in 'xyz')
"""Specific force [m/s^2] and rate of turn [rad/s] of an IMU, in its axes."""
STATE = 'state.'
"""Prefix of the state of an actuator, such as ``state.rotor_1.velocity``."""
PRESSURE = 'pressure.'
"""Prefix of a pressure, such as ``pressure.main`` of a tank, ``pressure.motor`` of a chamber."""
WRENCH = 'wrench.'
"""Prefix of a measured wrench, such as ``wrench.force.z``."""
ALTITUDE, CLIMB = 'altitude_m', 'vz_mps'
"""Height above the start [m] and vertical speed [m/s], as flight logs have them."""
FLOW = tuple(f'body.{what}.{axis}' for what in ('velocity', 'angular_velocity') for axis in 'xyz')
"""Motion of base_link through the fluid in its axes [m/s], [rad/s]."""


@dataclass(frozen=True)
class Series:
    """One quantity over time; NaN is no value."""

    time: FloatArray
    value: FloatArray
    """(k,) each; time [s] rises."""


@dataclass(frozen=True)
class Recording:
    """Series of one flight or bench run, with times from the first stamp on."""

    name: str
    begin: float
    """The first stamp [s]; times of series are after it."""
    commands: Mapping[str, Series]
    """By actuator; in the field that its family takes."""
    measured: Mapping[str, Series]
    notes: tuple[str, ...] = ()
    """What was wrong with the input, one line each."""
    skipped: tuple[tuple[float, float, str], ...] = field(default=())
    """Spans that are left out, from, to [s] and why."""

    @property
    def end(self) -> float:
        """The last time [s]."""
        return max(
            (float(each.time[-1]) for each in (*self.commands.values(), *self.measured.values())
             if len(each.time)), default=0.0,
        )

    def is_kept(self, time: FloatArray) -> BoolArray:
        """Return which times [s] are not left out."""
        kept = np.ones(time.shape, bool)
        for begin, end, _ in self.skipped:
            kept &= (time < begin) | (time > end)
        return kept
