# SPDX-License-Identifier: Apache-2.0
"""What the flight state requires of an apogee detector."""
from __future__ import annotations

import math
from typing import Protocol

from propulsion_ros.flight.apogee.estimate import ApogeeEstimate


class Detector(Protocol):
    """An apogee detector, as the flight state calls it."""

    def reset(self) -> None:
        """Forget the flight."""

    def withdraw(self) -> None:
        """Undo the detection, keeping what is known of the flight."""

    def expect_burn(self, may_light: bool) -> None:
        """Take whether a stage may still light."""

    def wait(self, stamp_ns: int) -> ApogeeEstimate:
        """Let time go on to a stamp that no sample has."""
        ...

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
