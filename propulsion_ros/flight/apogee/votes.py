# SPDX-License-Identifier: Apache-2.0
"""How apogee is voted: one list of votes on the evidence of one sample."""
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from propulsion_ros.flight.apogee.parabola import CLEAR, Parabola
from propulsion_ros.flight.apogee.params import ApogeeParams
from propulsion_ros.timing.dwell import Dwell

_SPEED = 3.0  # upward, of an input that contradicts a fall [m/s]


@dataclass(slots=True)
class Evidence:
    """What is known at one sample; NaN, None and False are what is not.

    Attributes
    ----------
    params : ApogeeParams
        Limits.
    health : str
        What keeps a fit from deciding, 'ok' for nothing.
    fit, measured : Parabola or None
        With and without what is known of free fall; None without an altitude.
    now : float
        In the time of the fit [s].
    length : float
        Of the window [s].
    climbs : bool
        Whether the fit clearly climbs, no faster than the vehicle may near its apogee.
    falls : bool
        Whether the fit is sure of a descent, whatever its curvature.
    height : float
        That the flight has reached [m].
    is_locked : bool
        Whether the vehicle is fast, or was just now.
    is_early : bool
        Whether a coast that is known cannot be over yet.
    speed : float
        Of a live velocity input that is believed, without its bias [m/s].
    tracked, tracked_sigma : float
        Velocity of the filter while samples agree with it, and its sigma [m/s].
    has_fallen : bool
        Whether the altitude has fallen sample after sample for long.
    overdue : float
        Time since the foreseen apogee and its uncertainty have passed [s].
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
        """Whether the flight has reached the least height."""
        return self.height >= self.params.minimum_height

    def has_passed(self, significance: float) -> bool:
        """Return whether the vertex of a free fall has passed, by so many sigma of velocity."""
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
    """One way to find the apogee.

    Attributes
    ----------
    holds : callable
        Whether the evidence of a sample shows it.
    hold_time : float
        For how long it must [s].
    reason : str
        What is published as the reason.
    """

    holds: Callable[[Evidence], bool]
    hold_time: float
    reason: str


def _agreed(e: Evidence) -> bool:
    return e.speed < 0.0 and e.has_passed(0.0)


def _clear(e: Evidence) -> bool:
    return not e.speed > _SPEED and e.has_passed(CLEAR)


def _likely(e: Evidence) -> bool:
    return not e.speed > _SPEED and e.has_passed(0.5)


def _descends(e: Evidence) -> bool:
    return e.health == 'ok' and e.falls


def _is_tracked(e: Evidence) -> bool:
    is_free = e.is_high and not e.is_locked and not e.is_early and not e.climbs
    return is_free and e.tracked + CLEAR * e.tracked_sigma < 0.0


def _has_fallen(e: Evidence) -> bool:
    return e.is_high and e.has_fallen and not e.speed > e.params.lockout_speed


def _velocity_falls(e: Evidence) -> bool:
    is_free = e.is_high and not e.is_locked and not e.is_early
    return e.fit is None and is_free and e.speed < -e.params.descent_speed


def _is_overdue(e: Evidence) -> bool:
    return e.is_high and e.overdue >= 0.0 and not e.speed > 0.0


VOTES: tuple[Vote, ...] = (
    Vote(_agreed, 0.0, 'fit'),
    Vote(_clear, 0.0, 'fit'),
    Vote(_likely, 0.05, 'fit'),
    Vote(_descends, 0.2, 'descent'),
    Vote(_is_tracked, 0.3, 'track'),
    Vote(_has_fallen, 0.0, 'fall'),
    Vote(_velocity_falls, 0.5, 'velocity'),
    Vote(_is_overdue, 0.0, 'foreseen'),
)
"""In order of preference: the first that has held for its time decides."""


class Ballot:
    """Counts for how long each of a list of votes has held.

    Parameters
    ----------
    votes : sequence of Vote
        In order of preference.
    """

    def __init__(self, votes: Sequence[Vote] = VOTES) -> None:
        self._votes = tuple(
            (vote, Dwell(vote.hold_time, counts_gaps=True)) for vote in votes
        )

    def reset(self) -> None:
        """Forget what has held."""
        for _, dwell in self._votes:
            dwell.reset()

    def update(self, stamp_ns: int, evidence: Evidence) -> str:
        """Take the evidence of a sample and return the reason to decide, '' for none."""
        reason = ''
        for vote, dwell in self._votes:
            if dwell.update(stamp_ns, vote.holds(evidence)) and not reason:
                reason = vote.reason
        return reason
