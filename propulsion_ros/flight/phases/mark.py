# SPDX-License-Identifier: Apache-2.0
"""A moment of a flight."""
from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mark:
    """A moment that flight variables count from.

    Attributes
    ----------
    stamp_ns : int
        Message stamp [ns].
    clock_ns : int
        The same on the flight clock [ns].
    source : str
        How it came about: of liftoff 'acceleration', 'climb', 'fall'
        or 'override', of apogee 'detected', 'timer', 'abort' or 'override', of ignition
        'command'.
    """

    stamp_ns: int
    clock_ns: int
    source: str


@dataclass(frozen=True)
class Vertex:
    """Where a flight was highest, as the detector found it: stamp [ns], altitude [m]."""

    stamp_ns: int
    altitude: float
