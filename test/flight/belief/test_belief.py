# SPDX-License-Identifier: Apache-2.0
"""The belief: what profiles of height, speed and force show, and that its numbers stay sound."""
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from propulsion_ros.flight.belief.belief import Belief, Channel
from propulsion_ros.flight.belief.modes import MEAN_TIMES, SUPPORTED, Mode
from propulsion_ros.flight.belief.track import Track

G = 9.80665
HEIGHT, SPEED, FORCE = Channel


def follow(belief, time, channels, rate=10.0):
    """Have a belief read functions of time; return the probability of support at each step."""
    found = []
    for now in np.arange(0.0, time, 1.0 / rate):
        belief.advance(1.0 / rate)
        for channel, value in channels.items():
            belief.read(channel, value(now), min(10.0 / rate, 1.0))
        found.append(belief.supported(height=True, speed=True))
    return np.array(found)


def noise(seed, size):
    rng = np.random.default_rng(seed)
    return lambda now: size * rng.standard_normal()


def at(rest, seed, size):
    """Return a reading of a value at rest, with noise."""
    error = noise(seed, size)
    return lambda now: rest + error(now)


def flown(push=60.0, burn=1.5, wait=10.0):
    """Return height and force of a push, a coast without drag and a fall, after a rest."""
    top = push * burn

    def height(now):
        t = now - wait
        if t <= 0.0:
            return 0.0
        if t < burn:
            return 0.5 * push * t * t
        return 0.5 * push * burn**2 + top * (t - burn) - 0.5 * G * (t - burn) ** 2

    def force(now):
        t = now - wait
        return G if t <= 0.0 else push + G if t < burn else 0.0

    return height, force


@pytest.mark.parametrize('channels', [
    {HEIGHT: at(0.0, 1, 0.3)},
    {HEIGHT: at(0.0, 1, 0.3), FORCE: at(G, 2, 0.1)},
    {HEIGHT: at(0.0, 1, 0.3), SPEED: at(0.0, 2, 0.2)},
], ids=['height', 'height and force', 'height and speed'])
def test_what_stands_is_held(channels):
    assert (follow(Belief(), 10.0, channels)[50:] > 0.995).all()


@pytest.mark.parametrize(('push', 'burn'), [(60.0, 1.5), (12.0, 4.0), (150.0, 0.8)])
@pytest.mark.parametrize('sources', [('height',), ('height', 'force')], ids=len)
def test_a_launch_flies_within_seconds(push, burn, sources):
    height, force = flown(push, burn)
    error = noise(3, 0.3)
    channels = {HEIGHT: lambda now: height(now) + error(now), FORCE: force}
    channels = {HEIGHT: channels[HEIGHT], **({FORCE: force} if 'force' in sources else {})}
    found = follow(Belief(), 22.0, channels)
    assert (found[125:] < 0.5).all()
    assert found[-1] < 1e-3


@pytest.mark.parametrize('speed', [-2.5, 2.5, 8.0])
def test_who_is_carried_is_held(speed):
    """A lift and a car: the force stays that of gravity, whatever the height does."""
    height = at(0.0, 4, 0.3)
    channels = {
        HEIGHT: lambda now: height(now) + speed * (
            max(now - 10.0, 0.0) ** 2 / 4.0 if now < 12.0 else now - 11.0
        ),
        FORCE: at(G, 5, 0.3),
    }
    found = follow(Belief(), 60.0, channels)[50:]
    assert found.min() > 0.5
    assert found[-1] > 0.995


def test_a_ramp_of_the_height_beside_a_force_at_rest_is_a_fault():
    channels = {
        HEIGHT: lambda now: 12.0 * min(max(now - 10.0, 0.0), 8.0), FORCE: at(G, 6, 0.1),
    }
    assert follow(Belief(), 30.0, channels).min() > 0.9


@pytest.mark.parametrize('top', [
    pytest.param(800.0, id='above the pad'), pytest.param(200.0, id='into a valley'),
])
def test_a_parachute_is_no_support(top):
    """It falls with 1 g too, and only the height differs."""
    belief = Belief()
    belief.reset(in_air=True)
    belief.has_flown = True
    error = noise(7, 0.3)
    channels = {HEIGHT: lambda now: top - 20.0 * now + error(now), FORCE: at(G, 8, 0.3)}
    assert (follow(belief, 30.0, channels)[20:] < 0.01).all()


def test_by_its_force_alone_it_is_no_nearer_to_the_ground_far_below_where_it_was_armed():
    """Launched 200 m below, it was as likely landed as what is reckoned below the ground."""
    found = []
    for level in (0.0, -200.0):
        belief = Belief()
        belief.level = level
        follow(belief, 10.0, {HEIGHT: lambda now: -200.0, FORCE: lambda now: G})
        found.append(follow(belief, 6.0, {FORCE: lambda now: 40.0 if now < 1.0 else 0.5})[-1])
    assert found[1] < 0.5 * found[0]


def test_a_force_alone_shows_no_support():
    assert follow(Belief(), 20.0, {FORCE: at(G, 9, 0.1)}).max() > 0.99
    belief = Belief()
    belief.read(FORCE, G)
    assert belief.supported(height=False, speed=False) == 0.0


@pytest.mark.parametrize('rate', [10.0, 20.0, 50.0])
def test_a_higher_rate_is_no_further_evidence(rate):
    """The price of a fault is per time: a ramp by a height alone is believed at the same time."""
    channels = {HEIGHT: lambda now: 40.0 * max(now - 5.0, 0.0)}
    found = follow(Belief(), 10.0, channels, rate)
    gone = np.argmax(found < 0.5) / rate
    assert 5.0 < gone < 7.0


def test_a_gap_counts_the_same_in_steps_and_at_once():
    whole, parts = Belief(), Belief()
    for belief in (whole, parts):
        follow(belief, 5.0, {HEIGHT: at(0.0, 10, 0.3)})
    whole.advance(8.0)
    for _ in range(32):
        parts.advance(0.25)
    assert whole.modes == pytest.approx(parts.modes, rel=1e-6)


@given(st.lists(st.tuples(
    st.sampled_from(Channel), st.floats(-1e6, 1e6), st.floats(0.0, 100.0), st.floats(1e-3, 1.0),
), max_size=30))
def test_any_readings_leave_sound_numbers(rows):
    belief = Belief()
    for channel, value, seconds, weight in rows:
        belief.advance(seconds)
        belief.read(channel, abs(value) if channel is FORCE else value, weight)
        belief.read_spin(abs(value), seconds)
    modes = belief.modes
    assert np.isfinite(modes).all()
    assert modes.sum() == pytest.approx(1.0, abs=1e-9)
    assert math.isfinite(belief.height)
    assert (np.linalg.eigvalsh(belief._covariance)[:, 0] > -1e-6 * np.abs(
        belief._covariance).max(axis=(1, 2))).all()


def test_only_a_push_or_a_drop_leads_into_the_air():
    into = {target for (source, target) in MEAN_TIMES if source in SUPPORTED}
    assert into - set(SUPPORTED) == {Mode.PUSHED, Mode.COAST}
    assert {source for (source, target) in MEAN_TIMES if target is Mode.CARRIED} == {Mode.REST}


def test_a_track_follows_and_begins_anew_where_it_jumps():
    track = Track()
    for i in range(30):
        track.advance(0.1)
        far = track.take(2.0 * i, 1.0)
    assert track.is_proven
    assert far < 1.0
    assert track.state[1] == pytest.approx(20.0, rel=0.1)
    track.advance(0.1)
    assert track.take(1000.0, 1.0) > 900.0
    track.advance(0.1)
    assert track.take(62.0, 1.0) < 5.0
    assert track.is_proven
    assert track.jumped == 0.0
    for i in range(2):
        track.advance(0.1)
        assert track.take(1000.0 + 2.0 * i, 1.0) > 900.0
    assert not track.is_proven
    assert track.jumped == pytest.approx(936.0, abs=5.0)
