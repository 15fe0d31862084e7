# SPDX-License-Identifier: Apache-2.0
"""Parameters of the flight logic beside the apogee detector's own."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.quantity import FloatArray, quantity, validate

_ASCENT = (0.0, 1000.0)
"""Usual time of an ascent [s]; the highest sounding rockets climb for 900 s."""


@dataclass(frozen=True, kw_only=True, eq=False)
class FlightParams:
    """Limits of the flight logic, for rest, apogee, requests and a resumption."""

    stand_down_time: float = quantity(
        5.0, 's', above=0.0,
        doc='for how long something must certainly hold the vehicle, as after a landing',
    )
    min_ascent_time: float = quantity(
        0.0, 's', lo=0.0, usual=_ASCENT,
        doc='time after liftoff before which no apogee is believed; 0 means off',
    )
    max_ascent_time: float = quantity(
        0.0, 's', lo=0.0, usual=_ASCENT,
        doc='time after liftoff at which apogee is assumed; 0 means never',
    )
    home_tolerance: float = quantity(
        20.0, 'm', above=0.0, doc='distance from home, up, down or aside, that is no longer home'
    )
    frozen_time: float = quantity(
        0.5, 's', above=0.0, doc='a feed that has not changed for this long is unknown'
    )
    reset_time: float = quantity(
        600.0, 's', above=0.0,
        doc='time since motion was last seen after which silent sensors refuse no reset',
    )
    ask_again_time: float = quantity(
        5.0, 's', above=0.0, usual=(1.0, 2500.0),
        doc='within which a request of consequence must be made twice',
    )
    sample_timeout: float = quantity(
        1.0, 's', above=0.0, usual=(0.1, 500.0),
        doc='age beyond which the last sample no longer shows the vehicle',
    )
    longest_step: float = quantity(
        2.0, 's', above=0.0, usual=(0.1, 1000.0),
        doc='no gap between two stamps counts for more than this',
    )
    nose: FloatArray = quantity(
        (0.0, 0.0, 1.0), '', shape=(3,),
        doc='direction of the nose in base_link axes, for tilt and the orientation of the rocket',
    )
    resume_age: float = quantity(
        600.0, 's', lo=0.0,
        doc='age of a recorded flight beyond which it is not resumed after a restart',
    )
    resume_velocity: float = quantity(
        2.0, 'm/s', above=0.0, doc='upward speed above which an event may light an engine in flight'
    )
    resume_time: float = quantity(
        2.0, 's', above=0.0,
        doc='after which a recorded flight goes on where hardly anything holds the vehicle, and '
        'is over where something certainly does',
    )
    resume_heartbeat: float = quantity(
        5.0, 's', lo=0.0, doc='absence of the process, by the clock since boot, that is short'
    )

    def __post_init__(self) -> None:
        validate(self)
        if not np.linalg.norm(self.nose) > 1e-6:
            raise ConfigError('nose', 'expected a direction, got 0')
        if 0.0 < self.max_ascent_time < self.min_ascent_time:
            raise ConfigError(
                'min_ascent_time',
                f'{self.min_ascent_time:g} s is above max_ascent_time, {self.max_ascent_time:g} s',
            )
