# SPDX-License-Identifier: Apache-2.0
"""The apogee detectors, and the one place that chooses among them."""
from __future__ import annotations

from propulsion_ros.flight.apogee.detector import ApogeeDetector
from propulsion_ros.flight.apogee.detector_protocol import Detector
from propulsion_ros.flight.apogee.params import ApogeeParams
from propulsion_ros.flight.legacy.apogee import LegacyApogeeDetector


def make_detector(params: ApogeeParams) -> Detector:
    """Return the detector that ``params.method`` names."""
    if params.method == 'legacy':
        return LegacyApogeeDetector(params)
    return ApogeeDetector(params)
