# SPDX-License-Identifier: Apache-2.0
"""The apogee detectors, and the one place that chooses among them."""
from __future__ import annotations

from propulsion_ros.flight.apogee.detector import ApogeeDetector
from propulsion_ros.flight.apogee.estimate import Detector
from propulsion_ros.flight.apogee.params import ApogeeParams


def make_detector(params: ApogeeParams) -> Detector:
    """Return the detector that ``params.method`` names."""
    if params.method == 'legacy':
        # Its solver is slow to import.
        from propulsion_ros.flight.legacy.apogee import LegacyApogeeDetector

        return LegacyApogeeDetector(params)
    return ApogeeDetector(params)
