# SPDX-License-Identifier: Apache-2.0
"""Methods of an apogee detector that the flight state calls, and the estimate they return."""
from __future__ import annotations

import math
from typing import NamedTuple, Protocol


class ApogeeEstimate(NamedTuple):
    """Estimate of a detector after one sample; altitudes are above the pad, up is positive.

    Attributes
    ----------
    stamp_ns : int
        Stamp of the sample [ns].
    detected : bool
        Whether the apogee has been detected; stays true until `reset` or `withdraw`.
    detected_ns : int or None
        Stamp of the sample at which it was detected [ns].
    apogee_ns : int or None
        Time of the apogee [ns]: predicted during the climb, final once detected.
    apogee_altitude : float
        Altitude of the apogee [m]; NaN if unknown.
    sigma : float
        Standard deviation of ``apogee_ns`` [s]; NaN if unknown.
    altitude, velocity, acceleration : float
        Of the fitted parabola at the stamp [m], [m/s], [m/s^2]; NaN if there is no fit.
    reason : str
        Vote that detected it: 'fit', 'descent', 'track', 'fall', 'velocity', 'foreseen', or
        'reckoned' by `ApogeeWatch`; '' before.
    health : str
        'ok', or why the detector cannot decide now: 'filling', 'no altitude', 'late', 'gap',
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
    """Methods that the flight state calls, of any apogee detector."""

    def reset(self) -> None:
        """Forget all samples and the detection."""

    def withdraw(self) -> None:
        """Undo the detection, but keep the fit and the coast of the flight."""

    def expect(self, *, flies: bool, may_light: bool, pad: float = 0.0) -> None:
        """Set whether the vehicle has left what held it, and whether a stage may still light.

        Nothing is detected until it ``flies``. It has left from the altitude ``pad`` [m]. Without
        this call the detector assumes that it has left from 0 m.
        """

    def wait(self, stamp_ns: int) -> ApogeeEstimate:
        """Advance to a stamp [ns] at which nothing was measured, and return the estimate."""
        ...

    def update(
        self, stamp_ns: int, altitude: float, velocity: float = math.nan,
        acceleration: float = math.nan,
    ) -> ApogeeEstimate:
        """Take one sample and return the estimate; see `ApogeeDetector.update`."""
        ...
