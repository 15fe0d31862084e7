# SPDX-License-Identifier: Apache-2.0
"""After an abort or an override a charge waits for its speed limit, but not for ever."""
from __future__ import annotations

import math

import pytest

from propulsion_ros.flight.events.permits import LONGEST, ClimbHold
from propulsion_ros.flight.phases.progress import Mark

NAN = math.nan
PERIOD = 0.02
LIMIT = 30.0


def boost(t, burnout=6.0):
    """Return the speed of a solid motor that burns until a time."""
    return 60.0 * min(t, burnout) - 9.8 * max(t - burnout, 0.0)


def permitted(velocity, abort, altitude=lambda t: NAN, limit=0.0, seconds=400.0):
    """Return when a charge is permitted first after an abort [s], None for never."""
    hold = ClimbHold(limit)
    for k in range(round(seconds / PERIOD)):
        t = k * PERIOD
        clock_ns = round(t * 1e9)
        apogee = Mark(0, round(abort * 1e9), 'abort') if t >= abort else None
        climb = hold.update(clock_ns, velocity(t), apogee, altitude(t), 0)
        if apogee and climb <= LIMIT:
            return t
    return None


@pytest.mark.parametrize('abort', [0.6, 1.0, 3.0, 8.0])
def test_charge_waits_while_a_solid_motor_burns_on(abort):
    t = permitted(boost, abort)
    assert boost(t) <= LIMIT
    assert boost(t - 2.0 * PERIOD) > LIMIT


@pytest.mark.parametrize('lost', [2.0, 4.0])
@pytest.mark.parametrize('is_stuck', [False, True])
def test_speed_that_is_lost_is_reckoned_by_gravity(lost, is_stuck):
    def velocity(t):
        return boost(t) if t < lost else boost(lost) if is_stuck else NAN

    expected = lost + (boost(lost) - LIMIT) / 9.8
    assert permitted(velocity, 1.0) == pytest.approx(expected, abs=0.6)


def wrong(t):
    """Return a speed that changes and never says that the climb is over."""
    return 100.0 + math.sin(t)


def test_wrong_speed_ends_with_the_backup_timer_or_the_longest_climb():
    assert permitted(wrong, 5.0, limit=25.0) == pytest.approx(25.0)
    assert permitted(wrong, 5.0) == pytest.approx(5.0 + LONGEST)


def test_wrong_speed_ends_where_the_altitude_certainly_falls():
    assert permitted(wrong, 5.0, lambda t: 500.0 + 0.3 * math.sin(40 * t)) > 300.0
    falling = permitted(wrong, 5.0, lambda t: 900.0 - 20.0 * max(t - 10.0, 0.0))
    assert 10.0 < falling < 12.5


@pytest.mark.parametrize('source', ['detected', 'timer'])
def test_apogee_that_nobody_commanded_holds_nothing(source):
    hold = ClimbHold()
    assert hold.update(0, 100.0, Mark(0, 0, source)) == -math.inf
