# SPDX-License-Identifier: Apache-2.0
"""What a flight allows, in every case; a speed limit holds a charge, but not for ever."""
import itertools
import math

import pytest

from propulsion_ros.flight.events.conditions import MoreThan
from propulsion_ros.flight.events.events import Action, EventSpec
from propulsion_ros.flight.events.permits import LONGEST, ClimbHold, Permits, Standing, permits_of
from propulsion_ros.flight.phases.phases import Phase
from propulsion_ros.flight.phases.progress import Mark

FLIES = {'phase': Phase.FLIGHT, 'has_lifted_off': True}
FALLS = {'phase': Phase.RECOVERY, 'has_lifted_off': True}
ON_THE_PAD = {'phase': Phase.LAUNCH, 'is_commanded': True, 'is_rearmed': False, 'is_first': True}
MAY_STAGE = [{'is_commanded': True}, {'is_rearmed': False}]
NO_REST = [{'is_free': True}, {'hovers': True}]
ALLOWED = {
    'deploy': [{**in_air, 'is_free': True} for in_air in (FLIES, FALLS)],
    'first': [ON_THE_PAD],
    'ascent': [
        {**FLIES, **free, **may, 'is_ascending': True} for free in NO_REST for may in MAY_STAGE
    ],
    'is_over': [{'phase': Phase.RECOVERY}],
    'landing': [{**in_air, **free} for in_air in (FLIES, FALLS) for free in NO_REST],
}
"""Each permit, and where it is given: what is not named in a row may be anything."""
STANDINGS = [
    Standing(*each)
    for each in itertools.product(Phase, *[(False, True)] * (len(Standing._fields) - 1))
]


@pytest.mark.parametrize('permit', ALLOWED)
def test_what_may_act_is_what_the_table_allows_and_nothing_else(permit):
    for standing in STANDINGS:
        is_allowed = any(
            all(getattr(standing, name) == value for name, value in row.items())
            for row in ALLOWED[permit]
        )
        assert getattr(permits_of(standing), permit) is is_allowed, standing


def test_nothing_acts_into_what_is_held_but_the_first_engine_and_a_hover():
    for standing in STANDINGS:
        if not standing.is_free and not standing.hovers:
            allowed = permits_of(standing)
            acts = {name for name, given in allowed._asdict().items() if given is True}
            assert acts <= {'is_over', 'first'}, standing
            assert 'first' not in acts or standing.phase is Phase.LAUNCH


EVENTS = {
    'deploys': (['deployment'], 'Position', False),
    'lights': (['engine'], 'Position', False),
    'follows ignition': (['engine'], 'TimeSinceIgnition', False),
    'lands': (['engine'], 'Position', True),
    'deploys and lights': (['deployment', 'engine'], 'Position', False),
    'steers': (['controller'], 'Position', False),
}
NOTHING = Permits(deploy=False, first=False, ascent=False, landing=False)


@pytest.mark.parametrize(('given', 'permitted'), [
    ('', ['steers']),
    ('deploy', ['deploys', 'steers']),
    ('first', ['follows ignition', 'steers']),
    ('ascent', ['lights', 'follows ignition', 'lands', 'steers']),
    ('landing', ['lands', 'steers']),
    ('deploy ascent', ['deploys', 'lights', 'follows ignition', 'lands', 'deploys and lights',
                       'steers']),
    ('deploy landing', ['deploys', 'lands', 'steers']),
    ('deploy landing is_over', ['deploys', 'lands', 'deploys and lights', 'steers']),
])
def test_event_needs_the_permit_of_what_it_does(given, permitted):
    permits = NOTHING._replace(**dict.fromkeys(given.split(), True))
    for name, (kinds, variable, lands) in EVENTS.items():
        condition = MoreThan(variable, 0 if variable == 'TimeSinceIgnition' else 2, 1.0)
        actions = tuple(Action(kind, 0, 1.0) for kind in kinds)
        event = EventSpec(0, name, condition, actions, lands=lands)
        assert event.is_permitted(permits) is (name in permitted), name


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
