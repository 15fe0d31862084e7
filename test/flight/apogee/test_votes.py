# SPDX-License-Identifier: Apache-2.0
"""How apogee is voted: a vote is one entry of a list."""
import numpy as np

from propulsion_ros.flight.apogee.detector import ApogeeDetector
from propulsion_ros.flight.apogee.params import ApogeeParams
from propulsion_ros.flight.apogee.votes import VOTES, Ballot, Evidence, Vote
from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY

_SPEED = 60.0  # [m/s]


def _feed(detector, end=10.0):
    for time in np.arange(-2.0, end, 0.02).tolist():
        t = max(time, 0.0)
        altitude = _SPEED * t - 0.5 * STANDARD_GRAVITY * t * t
        estimate = detector.update(round(time * 1e9), altitude)
    return estimate


def test_a_vote_that_is_added_decides_by_its_own_reason():
    high = Vote(lambda evidence: evidence.height > 150.0, 0.1, 'high enough')
    plain, added = (_feed(ApogeeDetector(ApogeeParams(), votes)) for votes in (
        VOTES, (*VOTES, high)
    ))
    assert plain.reason == 'fit'
    assert added.reason == 'high enough'
    assert added.detected_ns < plain.detected_ns


def test_a_vote_must_hold_for_its_time_and_the_first_of_the_list_counts():
    slow = Vote(lambda evidence: evidence.has_fallen, 0.5, 'slow')
    fast = Vote(lambda evidence: evidence.has_fallen, 0.0, 'fast')
    shown = Evidence(ApogeeParams(), has_fallen=True)
    ballot = Ballot((slow, fast))
    assert ballot.update(0, shown) == 'fast'
    assert ballot.update(500_000_000, shown) == 'slow'
    assert ballot.update(600_000_000, Evidence(ApogeeParams())) == ''
    assert ballot.update(700_000_000, shown) == 'fast'
    ballot.reset()
    assert Ballot((slow,)).update(0, shown) == ''


def test_without_votes_nothing_is_decided():
    assert not _feed(ApogeeDetector(ApogeeParams(), ())).detected
