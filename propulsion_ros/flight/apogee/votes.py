# SPDX-License-Identifier: Apache-2.0
"""Votes on whether the apogee has passed, each on the evidence of one sample."""
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from propulsion_ros.flight.apogee.parabola import CLEAR, Parabola
from propulsion_ros.flight.apogee.params import ApogeeParams
from propulsion_ros.timing.dwell import Dwell

_SPEED = 3.0  # a velocity input with a larger upward speed contradicts a fitted descent [m/s]


@dataclass(slots=True)
class Evidence:
    """State of the flight at one sample; an unknown quantity is NaN, None or False.

    Attributes
    ----------
    params : ApogeeParams
        Limits of the detector.
    health : str
        'ok', or why a fit must not decide; see `ApogeeEstimate`.
    fit, measured : Parabola or None
        Fit of the altitude with and without gravity as a measured acceleration; None if none.
    now : float
        Time of the sample in the time of the fit [s].
    length : float
        Length of the fitted window [s].
    climbs : bool
        Whether the fit climbs by 2 sigma, and not as fast as static ports that err.
    falls : bool
        Whether the fit descends at `descent_speed` and by 5 sigma, whatever its acceleration.
    height : float
        Largest height above the pad so far [m].
    is_locked : bool
        Whether the vehicle climbs faster than the lockout speed, or did within the hold time.
    is_early : bool
        Whether the coast filter estimates the apogee clearly later than now.
    speed : float
        Velocity input less its bias, up positive [m/s]; NaN if it must not be used.
    tracked, tracked_sigma : float
        Velocity of the coast filter and its sigma [m/s]; NaN if the samples disagree with it.
    has_fallen : bool
        Whether the altitude has fallen from median to median for 3 s.
    overdue : float
        Time since the foreseen apogee, less a margin for its error [s].
    """

    params: ApogeeParams
    health: str = 'ok'
    fit: Parabola | None = None
    measured: Parabola | None = None
    now: float = math.nan
    length: float = 0.0
    climbs: bool = False
    falls: bool = False
    height: float = 0.0
    is_locked: bool = False
    is_early: bool = False
    speed: float = math.nan
    tracked: float = math.nan
    tracked_sigma: float = math.nan
    has_fallen: bool = False
    overdue: float = -math.inf

    @property
    def is_high(self) -> bool:
        """Whether the flight has reached the minimum height."""
        return self.height >= self.params.minimum_height

    def has_passed(self, significance: float) -> bool:
        """Return whether a fit in free fall descends, by so many sigma of its velocity."""
        fit, seen, params = self.fit, self.measured, self.params
        if fit is None or seen is None or self.health != 'ok':
            return False
        velocity = fit.velocity(self.now)
        return (
            velocity < 0.0
            and velocity + significance * fit.velocity_sigma(self.now) < 0.0
            and seen.acceleration + seen.acceleration_sigma < 0.0
            and params.minimum_fall < -fit.acceleration
            and self.now - fit.vertex < self.length
        )


class Vote(NamedTuple):
    """One way to detect the apogee.

    Attributes
    ----------
    holds : callable
        Returns whether the evidence of a sample shows that the apogee has passed.
    hold_time : float
        How long it must hold before it decides [s].
    reason : str
        Name of the vote, as it is published.
    """

    holds: Callable[[Evidence], bool]
    hold_time: float
    reason: str


# The votes. A comparison with an unknown value, which is NaN, is false.
def _passed_by_fit_and_input(e: Evidence) -> bool:
    return e.speed < 0.0 and e.has_passed(0.0)


def _passed_clearly(e: Evidence) -> bool:
    return not e.speed > _SPEED and e.has_passed(CLEAR)


def _passed_likely(e: Evidence) -> bool:
    return not e.speed > _SPEED and e.has_passed(0.5)


def _fit_descends(e: Evidence) -> bool:
    return e.health == 'ok' and e.falls


def _coast_descends(e: Evidence) -> bool:
    is_allowed = e.is_high and not e.is_locked and not e.is_early and not e.climbs
    return is_allowed and e.tracked + CLEAR * e.tracked_sigma < 0.0


def _has_fallen(e: Evidence) -> bool:
    return e.is_high and e.has_fallen and not e.speed > e.params.lockout_speed


def _input_descends(e: Evidence) -> bool:
    is_allowed = e.is_high and not e.is_locked and not e.is_early
    return e.fit is None and is_allowed and e.speed < -e.params.descent_speed


def _foreseen_has_passed(e: Evidence) -> bool:
    return e.is_high and e.overdue >= 0.0 and not e.speed > 0.0


VOTES: tuple[Vote, ...] = (
    Vote(_passed_by_fit_and_input, 0.0, 'fit'),
    Vote(_passed_clearly, 0.0, 'fit'),
    Vote(_passed_likely, 0.05, 'fit'),
    Vote(_fit_descends, 0.2, 'descent'),
    Vote(_coast_descends, 0.3, 'track'),
    Vote(_has_fallen, 0.0, 'fall'),
    Vote(_input_descends, 0.5, 'velocity'),
    Vote(_foreseen_has_passed, 0.0, 'foreseen'),
)
"""In order of preference: of the votes that have held for their time the first one decides."""


class Ballot:
    """Measures how long each vote has held.

    Parameters
    ----------
    votes : sequence of Vote
        In order of preference.
    """

    def __init__(self, votes: Sequence[Vote] = VOTES) -> None:
        self._votes = tuple((vote, Dwell(vote.hold_time, counts_gaps=True)) for vote in votes)

    def reset(self) -> None:
        """Start all hold times anew."""
        for _, dwell in self._votes:
            dwell.reset()

    def update(self, stamp_ns: int, evidence: Evidence) -> str:
        """Take the evidence of a sample; return the reason of the vote that decides, '' if none."""
        reason = ''
        for vote, dwell in self._votes:
            if dwell.update(stamp_ns, vote.holds(evidence)) and not reason:
                reason = vote.reason
        return reason
