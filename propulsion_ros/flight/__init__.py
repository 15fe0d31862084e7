# SPDX-License-Identifier: Apache-2.0
"""Flight logic: samples and commands in; phase, apogee, events and deployments out.

Time is an argument. It imports `models.common`, `timing` and `settings`.
"""
from __future__ import annotations

from propulsion_ros.settings.imports import late

TYPE_CHECKING = False
if TYPE_CHECKING:
    from propulsion_ros.flight.apogee.detector import ApogeeDetector
    from propulsion_ros.flight.apogee.params import ApogeeParams
    from propulsion_ros.flight.detectors import make_detector
    from propulsion_ros.flight.events.variables import Sample
    from propulsion_ros.flight.flight_report import FlightReport
    from propulsion_ros.flight.flight_state import FlightState
    from propulsion_ros.flight.phases.phases import Phase

__all__ = [
    'ApogeeDetector', 'ApogeeParams', 'FlightReport', 'FlightState', 'Phase', 'Sample',
    'make_detector',
]

__getattr__, __dir__ = late(__name__, {
    'apogee.detector': 'ApogeeDetector',
    'apogee.params': 'ApogeeParams',
    'detectors': 'make_detector',
    'events.variables': 'Sample',
    'flight_report': 'FlightReport',
    'flight_state': 'FlightState',
    'phases.phases': 'Phase',
})
