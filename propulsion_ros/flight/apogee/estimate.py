# SPDX-License-Identifier: Apache-2.0
"""What an apogee detector is to the flight state, and what it knows after one sample."""
from __future__ import annotations

import math
from typing import NamedTuple, Protocol


class ApogeeEstimate(NamedTuple):
    """What is known after one sample; altitudes above the pad, up positive.

    Attributes
    ----------
    stamp_ns : int
        Stamp of the sample.
    detected : bool
        Whether apogee has been detected; latched until `ApogeeDetector.reset`.
    detected_ns : int or None
        Stamp of the sample that decided it.
    apogee_ns : int or None
        Time of the vertex: predicted while climbing, final once detected.
    apogee_altitude : float
        Altitude of the vertex [m]; NaN where unknown.
    sigma : float
        One sigma of the time of the vertex [s]; NaN where unknown.
    altitude, velocity, acceleration : float
        Fitted at the stamp [m], [m/s], [m/s^2]; NaN where there is no fit.
    reason : str
        Why apogee was decided: 'fit', 'descent', 'track', 'fall', 'velocity', 'foreseen',
        or 'reckoned' by the belief; '' before.
    health : str
        'ok', or what keeps the detector from deciding: 'filling', 'no altitude', 'late', 'gap',
        'frozen', 'standstill', 'outliers', 'shock', 'lockout', 'early', 'below minimum height'.
    """

    stamp_ns: int
    detected: bool = False
    detected_ns: int | None = None
    apogee_ns: int | None = None
    apogee_altitude: float = math.nan
    sigma: float = math.nan
    altitude: float = math.nan
    velocity: float = math.nan
    acceleration: float = math.nan
    reason: str = ''
    health: str = 'filling'


class Detector(Protocol):
    """An apogee detector, as the flight state calls it."""

    def reset(self) -> None:
        """Forget the flight."""

    def withdraw(self) -> None:
        """Undo the detection, keeping what is known of the flight."""

    def expect(self, *, flies: bool, may_light: bool, pad: float = 0.0) -> None:
        """Take whether the vehicle has left what held it, and whether a stage may still light.

        Nothing is detected before it has left, from an altitude ``pad`` [m]; without this call it
        has, from 0.
        """

    def wait(self, stamp_ns: int) -> ApogeeEstimate:
        """Let time go on to a stamp that no sample has."""
        ...

    def update(
        self,
        stamp_ns: int,
        altitude: float,
        velocity: float = math.nan,
        acceleration: float = math.nan,
    ) -> ApogeeEstimate:
        """Take one sample and return what is known; see `ApogeeDetector.update`."""
        ...
