# SPDX-License-Identifier: Apache-2.0
"""How apogee is voted, and what ends an ascent or keeps it from ending."""
import math
from types import SimpleNamespace

import numpy as np
import pytest

from propulsion_ros.flight.apogee.apogee_watch import ApogeeWatch
from propulsion_ros.flight.apogee.detector import ApogeeDetector
from propulsion_ros.flight.apogee.estimate import ApogeeEstimate
from propulsion_ros.flight.apogee.params import ApogeeParams
from propulsion_ros.flight.apogee.votes import VOTES, Ballot, Evidence, Vote
from propulsion_ros.flight.belief.belief import Reckoned
from propulsion_ros.flight.events.variables import Sample
from propulsion_ros.flight.phases.params import FlightParams
from propulsion_ros.flight.phases.progress import Mark
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


# What ends an ascent, and what keeps it from ending.


CLIMB, TURN = Reckoned(500.0, 60.0, 4.0), Reckoned(500.0, 1.0, 4.0)
NONE = -math.inf
FALL, BELOW = Reckoned(500.0, -9.0, 4.0), Reckoned(-30.0, -40.0, 4.0)


@pytest.mark.parametrize(('reckoned', 'climb', 'has_detected', 'ends'), [
    pytest.param(FALL, NONE, False, 'apogee', id='falls'),
    pytest.param(TURN, NONE, False, '', id='turns'),
    pytest.param(BELOW, NONE, False, '', id='lost below its pad'),
    pytest.param(CLIMB, NONE, True, '', id='detected while it climbs'),
    pytest.param(TURN, NONE, True, 'apogee', id='detected where it turns'),
    pytest.param(None, NONE, True, 'apogee', id='no height is believed'),
    pytest.param(None, 10.0, True, 'apogee', id='a height turns'),
    pytest.param(None, 40.0, True, '', id='a height climbs'),
])
def test_what_the_motion_shows_ends_an_ascent_or_keeps_it_from_ending(
    reckoned, climb, has_detected, ends
):
    class Decided:
        """A detector that has decided, or has not."""

        def update(self, stamp_ns, *_):
            return ApogeeEstimate(stamp_ns, detected=has_detected, reason='fit' * has_detected)

        def expect(self, *, flies, may_light, pad):
            pass

        reset = withdraw = lambda self: None

    watch = ApogeeWatch(FlightParams(), Decided())
    found = []
    for i in range(30):
        watch.see(Sample(i * 100_000_000, 0.0, 0.0), flies=True)
        found.append(watch.end(
            i * 100_000_000, Mark(0, -60_000_000_000, 'acceleration'),
            SimpleNamespace(fallen=0.0, reckoned=reckoned, climb=climb),
        ))
    assert found[-1] == ends
    assert watch.estimate.reason == ('' if not ends else 'fit' if has_detected else 'reckoned')
