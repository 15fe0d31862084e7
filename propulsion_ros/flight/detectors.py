"""The apogee detectors, and the one place that chooses among them."""
from __future__ import annotations

import math
from typing import Protocol

from propulsion_ros.flight.apogee import ApogeeDetector
from propulsion_ros.flight.apogee_estimate import ApogeeEstimate
from propulsion_ros.flight.apogee_params import ApogeeParams
from propulsion_ros.flight.legacy_apogee import LegacyApogeeDetector


class Detector(Protocol):
    """What the flight state asks of an apogee detector."""

    def reset(self) -> None:
        """Forget the flight."""

    def withdraw(self) -> None:
        """Undo the detection, keeping what is known of the flight."""

    def update(
        self,
        stamp_ns: int,
        altitude: float,
        velocity: float = math.nan,
        acceleration: float = math.nan,
        mach: float = math.nan,
    ) -> ApogeeEstimate:
        """Take one sample and return what is known; see `ApogeeDetector.update`."""
        ...


def make_detector(params: ApogeeParams) -> Detector:
    """Return the detector that ``params.method`` names."""
    if params.method == 'legacy':
        return LegacyApogeeDetector(params)
    return ApogeeDetector(params)
