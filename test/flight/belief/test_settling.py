# SPDX-License-Identifier: Apache-2.0
import math

import numpy as np
import pytest

from propulsion_ros.flight.belief.feed import Readings
from propulsion_ros.flight.belief.motion_watch import Kept, MotionWatch
from propulsion_ros.flight.belief.settling import Settling

G = 9.80665


def settles(offset, tau, moves=lambda t: 0.0):
    """Return a height that begins off where the vehicle is, as after a lag of first order."""
    return lambda t: moves(t) + offset * math.exp(-t / tau)


def held_back(height, *, in_air, rate=20.0, noise=0.3, seconds=12.0, seed=1):
    """Return until when a height is of no use [s], and for how long in all [s]."""
    rng, settling, last, count = np.random.default_rng(seed), Settling(), 0.0, 0
    settling.begin(may_settle=True, in_air=in_air)
    for i in range(round(seconds * rate)):
        t = i / rate
        if settling.holds(10**9 + round(t * 1e9), height(t) + rng.normal(0.0, noise)):
            last, count = t, count + 1
    return last, count / rate


@pytest.mark.parametrize('rate', [10.0, 50.0])
@pytest.mark.parametrize('in_air', [True, False], ids=['in the air', 'on the pad'])
@pytest.mark.parametrize('tau', [0.2, 0.5, 1.0, 2.0])
@pytest.mark.parametrize('offset', [-1000.0, -300.0, 300.0, 1000.0])
def test_height_that_settles_is_of_no_use_until_it_is_near(offset, tau, in_air, rate):
    near = tau * math.log(abs(offset) / 5.0)
    until, in_all = held_back(settles(offset, tau), in_air=in_air, rate=rate)
    assert until == pytest.approx(min(near, 10.0), rel=0.15, abs=0.15)
    assert in_all > 0.85 * until


@pytest.mark.parametrize('moves', [
    pytest.param(lambda t: 2000.0 - 11.0 * t, id='under a drogue'),
    pytest.param(lambda t: 500.0 + 60.0 * t - 0.5 * G * t * t, id='in a coast'),
])
@pytest.mark.parametrize('offset', [-1000.0, 1000.0])
def test_height_of_what_moves_settles_as_well(offset, moves):
    until, _ = held_back(settles(offset, 0.5, moves), in_air=True, seconds=4.0)
    assert 1.8 < until < 3.6


@pytest.mark.parametrize('rate', [10.0, 50.0])
@pytest.mark.parametrize('noise', [0.1, 1.0])
@pytest.mark.parametrize('height', [
    pytest.param(lambda t: 600.0 - 60.0 * t, id='a fall'),
    pytest.param(lambda t: 300.0 + 50.0 * t - 0.5 * G * t * t, id='a coast'),
    pytest.param(lambda t: 300.0 + 30.0 * t * t, id='a push'),
    pytest.param(lambda t: 800.0 - 25.0 * t, id='under a drogue'),
    pytest.param(lambda t: 300.0 - 5.0 * t, id='under a main'),
    pytest.param(lambda t: -102.0 - 40.0 * t, id='below the pad'),
    pytest.param(lambda t: 80.0, id='level'),
])
def test_height_of_a_flight_is_of_use_within_a_second(height, noise, rate):
    in_all = [
        held_back(height, in_air=True, rate=rate, noise=noise, seconds=4.0, seed=seed)[1]
        for seed in range(5)
    ]
    assert np.median(in_all) < 0.7
    assert max(in_all) < 1.2


@pytest.mark.parametrize('in_air', [True, False], ids=['in the air', 'on the pad'])
@pytest.mark.parametrize('height', [
    pytest.param(lambda t: 0.0, id='rest'), pytest.param(lambda t: 2.0 * t, id='a lift'),
])
def test_height_that_begins_at_its_level_is_of_use_at_once(height, in_air):
    assert held_back(height, in_air=in_air)[1] == 0.0


def test_no_height_settles_for_longer_than_ten_seconds():
    until, in_all = held_back(settles(3000.0, 3.0), in_air=False, seconds=14.0)
    assert until == pytest.approx(10.0, abs=0.1)
    assert in_all == pytest.approx(10.0, abs=0.1)


@pytest.mark.parametrize('may_settle', [True, False])
def test_height_that_never_comes_or_falls_silent_keeps_nothing_waiting(may_settle):
    settling = Settling()
    settling.begin(may_settle=may_settle, in_air=True)
    assert not settling.is_on(10**9)
    assert not settling.holds(10**9, math.nan)
    for i in range(6):
        is_held = settling.holds(2 * 10**9 + i * 10**8, 1000.0 * math.exp(-0.1 * i))
    assert is_held == may_settle == settling.is_on(3 * 10**9)
    assert not settling.is_on(13 * 10**9)


def test_repeated_stamp_is_no_news():
    settling = Settling()
    settling.begin(may_settle=True, in_air=False)
    found = [settling.holds(10**9, 1000.0) for _ in range(20)]
    assert found == [True] * 20


@pytest.mark.parametrize('in_air', [True, False], ids=['in the air', 'on the pad'])
@pytest.mark.parametrize('tau', [0.5, 1.0])
@pytest.mark.parametrize('offset', [-1000.0, 60.0, 1000.0])
def test_what_settles_while_it_rests_is_never_seen_to_fly(offset, tau, in_air):
    rng, watch = np.random.default_rng(1), MotionWatch(5.0)
    watch.begin(in_air=in_air, may_settle=True)
    held = []
    for t in np.arange(0.0, 10.0, 0.05):
        height = settles(offset, tau)(t) + rng.normal(0.0, 0.3)
        watch.update(round((1.0 + t) * 1e9), Readings(height), learns=False)
        held.append(watch.held)
    assert held[-1] > 0.9
    if not in_air:
        # It is read from 5 m before its end on, so it seems to move for a moment.
        assert min(held) > 0.8


@pytest.mark.parametrize('away', [-1.0, 0.0, 0.3, 30.0, math.inf])
def test_what_flew_and_rests_is_held_however_short_ago_it_flew(away):
    rng, watch = np.random.default_rng(1), MotionWatch(5.0)
    watch.begin(in_air=True, away=away)
    assert watch.held <= 0.021
    for i in range(120):
        watch.update(10**9 + i * 50_000_000, Readings(rng.normal(0.0, 0.3)), learns=False)
    assert watch.held > 0.99


@pytest.mark.parametrize('force', [math.nan, G], ids=['height alone', 'beside a force'])
@pytest.mark.parametrize('seconds', [2.0, 5.0, 9.0])
@pytest.mark.parametrize('offset', [-700.0, 100.0, 300.0, 700.0])
def test_mean_that_began_elsewhere_is_no_descent_to_the_pad(offset, seconds, force):
    """A barometer ran in along a line after a restart on the armed pad: both charges fired."""
    rng, watch = np.random.default_rng(1), MotionWatch(5.0)
    watch.begin(in_air=False, kept=Kept(held=1.0), away=2.0, may_settle=True)
    doubted = []
    for t in np.arange(0.0, 15.0, 0.05):
        height = offset * max(1.0 - t / seconds, 0.0) + rng.normal(0.0, 0.3)
        readings = Readings(height, force=(0.0, 0.0, force + rng.normal(0.0, 0.05)))
        watch.update(round((1.0 + t) * 1e9), readings, learns=False)
        if watch.unsettled <= 0.05 and watch.held < 0.5:
            doubted.append(t)
    assert watch.held > 0.99
    assert not doubted


@pytest.mark.parametrize('force', [math.nan, G], ids=['height alone', 'beside a force'])
@pytest.mark.parametrize('sink', [20.0, 60.0])
@pytest.mark.parametrize('away', [6.0, math.inf], ids=['6 s', 'a boot'])
def test_descent_after_a_longer_absence_is_believed(away, sink, force):
    rng, watch = np.random.default_rng(1), MotionWatch(5.0)
    watch.begin(in_air=False, kept=Kept(held=1.0), away=away, may_settle=True)
    for t in np.arange(0.0, 13.0, 0.05):
        readings = Readings(
            40.0 * sink - sink * t + rng.normal(0.0, 0.3),
            force=(0.0, 0.0, force + rng.normal(0.0, 0.05)),
        )
        watch.update(round((1.0 + t) * 1e9), readings, learns=False)
    assert watch.held < 0.05


@pytest.mark.parametrize('tau', [0.5, 0.75])
@pytest.mark.parametrize('offset', [-500.0, 500.0])
def test_speed_of_an_estimate_settles_with_its_height(offset, tau):
    """The speed alone looked like a coast that ends at the pad."""
    rng, watch = np.random.default_rng(1), MotionWatch(5.0)
    watch.begin(in_air=False, kept=Kept(held=1.0), away=2.0, may_settle=True)
    held = []
    for t in np.arange(0.0, 8.0, 0.02):
        height = offset * math.exp(-t / tau)
        watch.update(round((1.0 + t) * 1e9), Readings(
            height + rng.normal(0.0, 0.01), -height / tau + rng.normal(0.0, 0.01), is_estimate=True
        ), learns=False)
        held.append(watch.held)
        assert not watch.is_seen or abs(height) < 10.0
    assert watch.is_seen
    assert min(held) > 0.5


@pytest.mark.parametrize(('force', 'is_felt'), [(0.0, True), (G, False)], ids=['a coast', '1 g'])
def test_constant_force_of_a_simulated_coast_counts_at_once_after_a_boot(force, is_felt):
    """A flight was resumed up to 3 s later, once its height had settled."""
    watch = MotionWatch(5.0)
    watch.begin(in_air=True, may_settle=True)
    for t in np.arange(0.0, 0.5, 0.02):
        watch.update(
            round((1.0 + t) * 1e9), Readings(800.0 * math.exp(-t), force=(0.0, 0.0, force)),
            learns=False,
        )
    assert (watch.unsettled == 0.0) is is_felt
