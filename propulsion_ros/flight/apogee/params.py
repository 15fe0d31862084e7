# SPDX-License-Identifier: Apache-2.0
"""Parameters of the apogee detector."""
from __future__ import annotations

from dataclasses import dataclass

from propulsion_ros.settings.quantity import quantity, validate


@dataclass(frozen=True, kw_only=True)
class ApogeeParams:
    """Window, noise and limits of the detector.

    Window, capacity, minimum height and lockout speed are by default those of Pickle Rick.
    """

    method: str = quantity(
        'robust', kind=str, choices=('robust', 'legacy'),
        doc='how apogee is detected; legacy is the detector of Pickle Rick, in double precision',
    )
    window: float = quantity(2.0, 's', above=0.0, doc='length of the window of the fit')
    capacity: int = quantity(
        100, kind=int, lo=5, hi=10_000,
        doc='points in the window; faster samples are averaged',
    )
    minimum_height: float = quantity(
        100.0, 'm', lo=0.0, usual=(0.0, 3000.0),
        doc='rise above the pad before which nothing is detected',
    )
    lockout_speed: float = quantity(
        30.0, 'm/s', above=0.0, doc='upward speed at which detection is locked'
    )
    lockout_hold: float = quantity(
        1.0, 's', lo=0.0, doc='how long the lock lasts after the last such speed'
    )
    maximum_gap: float = quantity(
        1.5, 's', above=0.0, doc='a longer gap begins the votes anew, unless the sensor is as slow'
    )
    frozen_after: float = quantity(
        0.5, 's', above=0.0, doc='a value that repeats for so long while the fit moves on is frozen'
    )
    noise: float = quantity(
        0.5, 'm', above=0.0, doc='altitude noise assumed before the scatter is known, one sigma'
    )
    acceleration_sigma: float = quantity(
        2.0, 'm/s^2', above=0.0,
        doc='one sigma of the acceleration input, used while the window is short'
    )
    minimum_fall: float = quantity(
        3.0, 'm/s^2', lo=0.0, doc='least downward acceleration of a flight at its apogee'
    )
    descent_speed: float = quantity(
        4.0, 'm/s', above=0.0, doc='downward speed that is a descent at any curvature'
    )

    def __post_init__(self) -> None:
        validate(self)
