# SPDX-License-Identifier: Apache-2.0
"""The pad in the axes of the sensor, against which a flight is measured."""
from __future__ import annotations

import math

from propulsion_ros.flight.estimation.pad_aid import PadReference
from propulsion_ros.flight.events.variables import NAN

Position = tuple[float, float]


class Home:
    """Turns altitudes and positions in the axes of a sensor into those from the pad.

    Parameters
    ----------
    altitude : float
        Of the pad above the sensor's datum [m]; NaN where it is to be measured.

    Attributes
    ----------
    position : tuple of float
        (east, north) of the pad in the sensor's axes [m].
    """

    def __init__(self, altitude: float = NAN) -> None:
        self._pad = PadReference(altitude)
        self.reset()

    def reset(self) -> None:
        """Forget the pad and the vehicle."""
        self._vehicle: Position = (0.0, 0.0)
        self.forget()

    def forget(self) -> None:
        """Forget the pad, as of a vehicle that may stand somewhere else."""
        self._pad.reset()
        self.position: Position = (0.0, 0.0)

    @property
    def altitude(self) -> float:
        """Altitude of the pad above the sensor's datum [m]; NaN before the first reading."""
        return self._pad.altitude

    def restore(self, altitude: float, position: Position) -> None:
        """Take the pad to be where a record has it; an altitude of NaN is unknown."""
        self.position = position
        if math.isfinite(altitude):
            self._pad.set(altitude)

    def set_here(self) -> None:
        """Take the pad to be where the vehicle stands now."""
        self._pad.set_here()
        if all(math.isfinite(value) for value in self._vehicle):
            self.position = self._vehicle

    def locate(
        self, altitude: float, position: Position, *, is_on_pad: bool
    ) -> tuple[float, Position]:
        """Return altitude [m] and (east, north) [m] from the pad.

        Parameters
        ----------
        altitude, position : float, tuple of float
            In the sensor's axes [m].
        is_on_pad : bool
            Whether the altitude of the pad is measured by this one.
        """
        self._pad.is_open = is_on_pad
        self._vehicle = position
        (east, north), (east_0, north_0) = position, self.position
        return self._pad.above_pad(altitude), (east - east_0, north - north_0)
