# SPDX-License-Identifier: Apache-2.0
"""The watch: how long it must be certain, what lives, what silence withdraws, and restarts."""
import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from flown_vehicle import wiggle
from parts import few_of
from propulsion_ros.flight.belief.belief import Channel
from propulsion_ros.flight.belief.feed import BENDS, MOVES, WINDOW_NS, Feed, Mean, Readings, Wander
from propulsion_ros.flight.belief.motion_watch import Kept, MotionWatch
from propulsion_ros.study.ground.case import Case, draw
from propulsion_ros.study.ground.motion import wandering

G = 9.80665
RESTED = Kept(is_supported=True, has_rested=True, held=1.0)
SECOND = 1_000_000_000


class Watched:
    """A watch that reads so often a second."""

    def __init__(self, per_second=20):
        self.watch, self.per_second = MotionWatch(5.0), per_second
        self.now, self.rng = 0.0, np.random.default_rng(1)

    def read(
        self, seconds, height=None, force=None, rate=None, *, noise=0.3, learns=False, flown=False
    ):
        """Have it read functions of the time since the call [s]; return when it was supported."""
        found = []
        for i in range(round(self.per_second * seconds)):
            t, self.now = i / self.per_second, self.now + 1.0 / self.per_second
            error = noise * self.rng.standard_normal()
            self.watch.update(round(self.now * SECOND), Readings(
                math.nan if height is None else height(t) + error,
                force=(math.nan,) * 3 if force is None else (0.0, 0.1 * error, force(t)),
                rate=(math.nan,) * 3 if rate is None else (rate(t), 0.0, 0.01 * error),
            ), learns=learns, has_flown=flown)
            found.append(self.watch.is_supported)
        return found

    def stand(self, seconds=10.0):
        self.read(seconds, lambda t: 0.0, lambda t: G, lambda t: 0.0, learns=True)
        return self

    def fly_low(self, shows=lambda height: height):
        """Fly to 90 m, and sink under a parachute for 12 s; a height shows what it shows."""
        self.stand()
        self.read(0.8, lambda t: 25.0 * t * t, lambda t: 50.0 + G)
        self.read(4.08, lambda t: 16.0 + 40.0 * t - 0.5 * G * t * t, lambda t: 0.3)
        # The parachute jerks.
        self.read(0.2, lambda t: 97.6, lambda t: 25.0)
        self.read(12.0, lambda t: shows(97.6 - 8.0 * t), lambda t: G, flown=True)
        assert not self.watch.is_likely
        return 97.6 - 8.0 * 12.0

    def fly_high(self, level=0.0):
        """Fly to 219.6 m; with a `level` sink to 203.6 m, and stay there for that long [s]."""
        self.stand()
        self.read(1.2, lambda t: 25.0 * t * t, lambda t: 50.0 + G)
        self.read(6.12, lambda t: 36.0 + 60.0 * t - 0.5 * G * t * t, lambda t: 0.3)
        if level:
            self.read(2.0, lambda t: 219.6 - 8.0 * t, lambda t: G, flown=True)
            self.read(level, lambda t: 203.6, lambda t: G, flown=True)
        return self


def test_support_is_certain_once_it_lasted_for_five_seconds():
    found = Watched().read(10.0, lambda t: 0.0, lambda t: G)
    assert 5.0 <= found.index(True) / 20 < 10.0


@pytest.mark.parametrize('sigma', [0.3, 0.8, 1.2, 2.0, 5.0])
@pytest.mark.parametrize('per_second', few_of([25, 10, 100], 3))
@pytest.mark.parametrize('is_alone', [True, False], ids=['barometer', 'with an accelerometer'])
def test_noise_of_a_barometer_hides_no_rest(is_alone, per_second, sigma):
    """From 0.8 m on it was a blocked port, and nothing was ever certain."""
    watched = Watched(per_second)
    force = None if is_alone else lambda t: G + watched.rng.normal(0.0, 0.05)
    found = watched.read(40.0, lambda t: 0.0, force, noise=sigma, learns=True)
    assert found[25 * per_second]
    assert all(found[25 * per_second:])


@pytest.mark.parametrize('seed', few_of(range(6), 6))
@pytest.mark.parametrize('rms', [2.0, 3.0, 5.0])
@pytest.mark.parametrize('lasts', [0.5, 1.0, 3.0], ids=lambda lasts: f'gusts of {lasts:g} s')
def test_wind_on_a_port_hides_no_likely_rest_of_a_barometer_alone(rms, lasts, seed):
    """It did for a quarter to half of the time, in which a timer fired beside who stood there."""
    watched = Watched(int(np.random.default_rng(seed).choice([10, 25, 50])))
    gust = wandering(watched.rng, rms, 1.0 / watched.per_second / lasts, 90 * watched.per_second)
    watched.read(20.0, lambda t: gust[round(t * watched.per_second)], learns=True)
    likely = []
    for i in range(20 * watched.per_second, len(gust)):
        watched.read(1.0 / watched.per_second, lambda _, i=i: gust[i])
        likely.append(watched.watch.is_likely)
    assert np.mean(likely) > 0.98


def in_wind(seed, rms, lasts):
    """Return a watch, and a minute of what gusts make of a height that stays [m]."""
    watched = Watched()
    watched.rng = np.random.default_rng(seed)
    count = 60 * watched.per_second
    return watched, wandering(watched.rng, rms, 1.0 / watched.per_second / lasts, count)


@pytest.mark.parametrize('seed', range(6))
def test_wind_is_learned_on_the_pad_however_it_looks_and_a_restart_keeps_it(seed):
    """In wind that was not known yet a rest looked like a flight, so that it was never learned."""
    watched, gust = in_wind(seed, 6.0, 2.0)
    watched.read(30.0, lambda t: gust[round(t * watched.per_second)])
    kept = watched.watch.kept
    assert kept.wander > 2.0
    watched.watch.begin(in_air=False, kept=kept, away=1.0, may_settle=True)
    assert watched.watch.kept.wander == kept.wander
    late = gust[30 * watched.per_second:]
    watched.read(25.0, lambda t: late[round(t * watched.per_second)])
    assert watched.watch.departure is None


@pytest.mark.parametrize(('measured', 'is_windy', 'calm', 'begins', 'later'), [
    (None, True, True, 5.0, (0.0, 0.5)), (None, True, False, 5.0, (5.0, 5.0)),
    (None, False, False, 0.0, (0.0, 0.0)), (0.0, True, True, 0.0, (0.0, 0.0)),
    (3.0, True, True, 3.0, (3.0, 3.0)),
], ids=['calm', 'wind', 'no restart', 'calm before', 'wind before'])
def test_wind_may_be_strong_where_a_restart_came_before_it_was_measured(
    measured, is_windy, calm, begins, later
):
    """Restarted within 17 s of a boot, what rested left its pad in a third of the winds."""
    wander = Wander()
    wander.reset(measured, is_windy=is_windy)
    assert wander.growth == begins
    for i in range(8 * 20):
        height = 0.05 * wiggle(i) if calm else 6.0 * math.sin(0.1 * i)
        wander.take(i * SECOND // 20, Mean(height, 0.05, 0.0, 0.0))
    assert later[0] <= wander.growth <= later[1]
    assert wander.measured == measured


@pytest.mark.parametrize('seed', range(8))
def test_wind_that_was_learned_on_the_pad_makes_no_descent_one_that_is_carried(seed):
    """It moved the height of what is held alone, so that a wake spoke against a parachute."""
    watched, gust = in_wind(seed, 3.5, 0.5)
    watched.watch.begin(in_air=True, kept=Kept(wander=15.0))
    watched.read(3.0, lambda t: 600.0 - 0.5 * G * t * t, flown=True)
    held = []
    for i in range(40 * watched.per_second):
        t = i / watched.per_second
        watched.read(1 / watched.per_second, lambda _, t=t, i=i: 555.0 - 11.0 * t + gust[i],
                     flown=True)
        held.append(watched.watch.held >= 0.5)
    assert not any(held)


def test_where_there_is_no_wind_a_restart_takes_a_few_seconds_longer():
    watched = Watched().stand()
    watched.watch.begin(in_air=False, kept=Kept(), away=1.0, may_settle=True, is_windy=True)
    found = watched.read(20.0, lambda t: 0.0)
    assert 5.0 < found.index(True) / watched.per_second < 12.0
    assert all(found[12 * watched.per_second:])


def test_a_restart_keeps_that_it_is_carried():
    watched = Watched().stand()
    watched.read(40.0, lambda t: 9.0 * t, lambda t: G)
    kept = watched.watch.kept
    assert kept.carried > 0.9
    watched.watch.begin(in_air=False, kept=kept, away=0.5, may_settle=True)
    assert watched.watch.kept.carried > 0.8


def test_a_restart_keeps_how_far_the_height_has_drifted():
    watched = Watched().stand()
    watched.read(100.0, lambda t: 0.1 * t)
    kept = watched.watch.kept
    assert kept.drifted == pytest.approx(10.0, abs=2.5)
    watched.watch.begin(in_air=False, kept=kept, away=1.0, may_settle=True)
    watched.read(30.0, lambda t: 10.0)
    assert watched.watch.pad == pytest.approx(10.0, abs=2.5)


@pytest.mark.parametrize(('how', 'ends'), [
    ({'lands': True}, None), ({}, 10.0), ({'climbs': True}, 0.5),
    ({'lands': True, 'climbs': True}, 0.5),
], ids=['after a flight', 'before one', 'climbing', 'climbing in a flight'])
def test_a_value_may_repeat_itself_for_ever_only_where_it_came_to_rest_after_a_flight(how, ends):
    """A height that was stuck at its pad from the liftoff on was a rest for all of the flight."""
    feed, step = Feed(WINDOW_NS[0], MOVES[0], BENDS[0]), SECOND // 20
    for i in range(20 * 20):
        feed.take(i * step, (0.0,), learns=True)
    begun = 20 * 20
    for i in range(begun, begun + 60 * 20):
        feed.take(i * step, (1.0,), learns=False, **how)
        since = (i - begun) / 20
        if ends is None or since < ends:
            assert feed.is_live(i * step)
        elif since > ends + 2.5:
            assert not feed.is_live(i * step)


def fly_coarse(stuck=math.inf):
    """Return what flew to 93 m and sank to the ground in 19 s, by steps of 2 m, once stuck."""
    watched = Watched()
    marks = {'height': 0.0}

    def read(seconds, height, **how):
        def shown(t):
            if height(t) < stuck:
                marks['height'] = 2.0 * round(0.5 * height(t))
            return marks['height']
        watched.read(seconds, shown, noise=0.0, **how)

    read(12.0, lambda t: 0.3, learns=True)
    read(0.8, lambda t: 25.0 * t * t)
    read(4.0, lambda t: 16.0 + 40.0 * t - 0.5 * G * t * t, flown=True)
    if stuck == math.inf:
        read(12.0, lambda t: 97.5 - 8.0 * t, flown=True)
    return watched, read


def test_what_landed_beside_a_coarse_height_is_held_for_ever():
    """A charge that was due 45 to 90 s after the landing fired."""
    watched, read = fly_coarse()
    read(15.0, lambda t: 0.3, flown=True)
    for _ in range(100):
        read(1.0, lambda t: 0.3, flown=True)
        assert watched.watch.is_likely


@pytest.mark.parametrize('stuck', [30.0, 60.0, 80.0])
def test_a_coarse_height_that_is_stuck_in_the_climb_shows_no_rest(stuck):
    """It kept back the timer until half a minute after the impact."""
    watched, read = fly_coarse(stuck)
    for _ in range(30):
        read(0.5, lambda t: stuck, flown=True)
        assert not watched.watch.is_likely


def test_a_restart_keeps_for_how_long_a_coarse_height_repeats_itself():
    watched = Watched()
    watched.read(20.0, lambda t: round(0.3 * math.sin(0.5 * t)), lambda t: G, noise=0.0,
                 learns=True)
    kept = watched.watch.kept
    assert kept.usual_ns[Channel.HEIGHT] > SECOND
    watched.watch.begin(in_air=False, kept=kept)
    assert watched.watch.kept.usual_ns == kept.usual_ns
    watched.read(3.0, lambda t: 0.0, lambda t: G, noise=0.0)
    assert watched.watch.repeats_height


@pytest.mark.parametrize('noise', [0.1, 1.0])
@pytest.mark.parametrize(('growth', 'speed', 'found'), [
    (0.0, 0.0, (0.0, 0.3)), (0.0, 10.0, (0.0, 0.3)), (1.0, 0.0, (0.4, 2.5)),
    (10.0, 3.0, (4.0, 20.0)),
])
def test_wind_is_what_moves_a_height_off_its_line_in_seconds(growth, speed, found, noise):
    rng, wander = np.random.default_rng(5), Wander()
    height = np.cumsum(rng.normal(speed * 0.1, math.sqrt(growth * 0.1), 300))
    height += rng.normal(0.0, noise, len(height))
    for i, each in enumerate(height.tolist()):
        wander.take(i * SECOND // 10, Mean(each, 0.1, noise**2, noise**2))
    assert found[0] <= wander.growth <= found[1] + noise**2


@pytest.mark.parametrize('share', [0.01, 0.05, 0.08])
@pytest.mark.parametrize('size', [20.0, 200.0, 2000.0])
def test_spikes_are_no_wind(size, share):
    """They hid for what is carried that its height moves as steadily as under a parachute."""
    rng, wander = np.random.default_rng(5), Wander()
    for i in range(1500):
        height = -0.05 * i + rng.normal(0.0, 0.3) + size * (rng.random() < share)
        wander.take(i * SECOND // 50, Mean(height, 0.02, 0.09, 0.09))
        assert wander.growth < 1.0


def test_a_launch_withdraws_it():
    watched = Watched().stand()
    assert watched.watch.is_supported
    watched.read(1.5, lambda t: 30.0 * t * t, lambda t: 60.0 + G)
    assert not watched.watch.is_supported
    assert not watched.watch.is_likely


@pytest.mark.parametrize('turns', [25.0, 0.0], ids=['spin', 'no turn'])
def test_the_1_g_of_a_sensor_off_the_axis_of_a_spin_is_no_rest_at_the_apogee(turns):
    flown = Watched().stand()
    flown.read(0.8, lambda t: 25.0 * t * t, lambda t: 50.0 + G)
    held = []
    for begin in np.arange(0.0, 5.0, 0.1):
        flown.read(0.1, lambda t, begin=begin: (
            16.0 + 40.0 * (begin + t) - 0.5 * G * (begin + t) ** 2
        ), lambda t: G, lambda t: turns, flown=True)
        held.append(flown.watch.held)
    assert max(held) < 0.1 if turns else max(held) > 0.9


def test_silence_withdraws_nothing_and_doubt_ends():
    watched = Watched().stand()
    watched.read(60.0)
    assert watched.watch.is_supported
    assert not watched.watch.is_likely


def test_a_force_alone_makes_nothing_certain():
    assert not any(Watched().read(60.0, force=lambda t: G, rate=lambda t: 0.0))


def test_a_height_that_repeats_itself_makes_nothing_certain():
    assert not any(Watched().read(20.0, lambda t: 0.0, noise=0.0))


@pytest.mark.parametrize('step', few_of([0.1, 0.5, 0.85], 2))
def test_a_coarse_height_that_repeats_itself_beside_1_g_has_landed(step):
    """On the pad it lay between two steps, so that it seldom repeated itself."""
    watched = Watched(50)
    coarse = lambda height: step * round(height / step)  # noqa: E731
    low = watched.fly_low(coarse)
    watched.read(0.2, lambda t: coarse(low), lambda t: 90.0, noise=0.0, flown=True)
    found = watched.read(20.0, lambda t: coarse(low), lambda t: G + 0.01 * t, noise=0.0, flown=True)
    assert found.index(True) / 50 < 9.0
    assert all(found[450:])
    assert watched.watch.is_certain
    assert watched.watch.is_likely


@pytest.mark.parametrize('since', ['ignition', 'coast'])
def test_a_height_that_was_stuck_in_flight_is_no_rest_beside_1_g(since):
    watched = Watched()
    watched.stand()
    stuck = 0.1 if since == 'ignition' else 30.0
    watched.read(2.0, lambda t: stuck, lambda t: 50.0 + G, noise=0.0)
    watched.read(10.0, lambda t: stuck, lambda t: 0.3 + 0.01 * t, noise=0.0)
    # A small error of the force, or it repeats itself as well.
    found = watched.read(60.0, lambda t: stuck, lambda t: G + 1e-3 * t, noise=0.0, flown=True)
    assert not any(found)
    assert not watched.watch.is_likely


@pytest.mark.parametrize('seed', range(4))
def test_spikes_of_a_height_do_not_keep_it_in_the_air(seed):
    watched = Watched(100)
    watched.rng = rng = np.random.default_rng(seed)
    spiked = lambda height: height + 130.0 * rng.choice(  # noqa: E731
        [-1.0, 0.0, 1.0], p=[0.04, 0.92, 0.04]
    )
    low = watched.fly_low(spiked)
    found = watched.read(10.0, lambda t: spiked(low), lambda t: G, flown=True)
    assert found.index(True) / 100 < 9.0


@pytest.mark.parametrize(('step', 'lands'), [(200.0, True), (0.0, False)])
def test_a_step_of_a_height_on_its_way_is_no_height(step, lands):
    """A level height far above the pad may be a blocked port; one that stepped there may not."""
    watched, above = Watched().fly_high(), 0.0 if step else 200.0
    watched.read(0.2, lambda t: 219.6, lambda t: 25.0)
    way = (219.6 - above) / 8.0
    watched.read(0.5 * way, lambda t: 219.6 - 8.0 * t, lambda t: G, flown=True)
    middle = 219.6 - 4.0 * way
    watched.read(0.5 * way, lambda t: step + middle - 8.0 * t, lambda t: G, flown=True)
    found = watched.read(12.0, lambda t: step + above, lambda t: G, flown=True)
    assert any(found) is lands
    assert watched.watch.is_likely is lands


def test_a_blocked_port_in_a_fall_is_no_support():
    """The height stays, with its own noise, while the force says coast, and then parachute."""
    watched = Watched().stand()
    watched.read(1.5, lambda t: 30.0 * t * t, lambda t: 60.0 + G, lambda t: 0.5)
    drag = lambda t: 3e-4 * (90.0 - G * t) ** 2  # noqa: E731
    watched.read(4.0, lambda t: 67.0 + 90.0 * t - 0.5 * G * t * t, drag, lambda t: 0.5)
    top = 67.0 + 360.0 - 8.0 * G
    coast = watched.read(8.0, lambda t: top, lambda t: 0.2 + drag(t + 4.0), lambda t: 0.8)
    fall = watched.read(100.0, lambda t: top, lambda t: G, lambda t: 0.1, flown=True)
    assert not any(coast)
    # It ends when even a slow parachute would have landed.
    assert fall.index(True) / 20 == pytest.approx(top / 5.0 + 5.0, abs=5.0)


@pytest.mark.parametrize(('to', 'speed', 'is_likely'), [
    pytest.param(0.0, 0.0, True, id='an odometry that begins anew'),
    pytest.param(400.0, 0.0, True, id='a step of a port'),
    pytest.param(60.0, 0.0, True, id='a port that opens on the ground'),
    pytest.param(140.0, -15.0, False, id='a port that opens under a drogue'),
    pytest.param(140.0, -40.0, False, id='a port that opens in a fall'),
])
def test_a_level_height_that_jumps_is_held_unless_it_falls_on(to, speed, is_likely):
    """It could still be that of a blocked port: the main fired into what lay on a hill."""
    watched = Watched().fly_high(level=10.0)
    assert not watched.watch.is_likely
    watched.read(2.0, lambda t: to + speed * t, lambda t: G, flown=True)
    assert watched.watch.is_likely is is_likely


@pytest.mark.parametrize('lasts', [0.3, 0.5])
def test_a_level_height_that_is_back_after_a_transient_may_be_that_of_a_blocked_port(lasts):
    """Another charge blew into the bay: it was a jump for ever, and a charge was lost."""
    watched = Watched().fly_high(level=6.0)
    watched.read(4.0, lambda t: 203.6 - 150.0 * math.exp(-t / lasts), lambda t: G, flown=True)
    watched.read(4.0, lambda t: 203.6, lambda t: G, flown=True)
    assert not watched.watch.is_likely


@pytest.mark.parametrize(('speed', 'drag'), [(50.0, 2.0), (70.0, 2.0), (25.0, 6.0)])
def test_a_port_that_blocks_in_the_climb_holds_no_charge_under_the_parachute(speed, drag):
    """What the force added up moved its level, or its speed: charges waited for 15 to 30 s."""
    watched, slows = Watched().stand(), G + drag
    watched.read(2.0, lambda t: 25.0 * t * t, lambda t: 50.0 + G, lambda t: 0.1)
    coast = (100.0 - speed) / slows
    height = lambda t: 100.0 + 100.0 * t - 0.5 * slows * t * t  # noqa: E731
    watched.read(coast, height, lambda t: drag, lambda t: 0.1, flown=True)
    top = height(coast)
    watched.read(speed / slows + 1.0, lambda t: top,
                 lambda t: max(drag * (1.0 - 0.15 * t), 0.3), lambda t: 0.1, noise=0.1, flown=True)
    watched.read(0.2, lambda t: top, lambda t: 60.0, lambda t: 0.1, noise=0.1, flown=True)
    for _ in range(20):
        watched.read(1.0, lambda t: top, lambda t: G, lambda t: 0.1, noise=0.1, flown=True)
        assert not watched.watch.is_likely


@pytest.mark.parametrize('force', [G, None], ids=['accelerometer', 'barometer alone'])
def test_who_carries_a_landed_rocket_up_and_down_on_a_hill_is_held(force):
    """Each time it came back to where it landed, charges might act, for most of a minute."""
    shows = None if force is None else lambda t: force
    watched = Watched(50).fly_high(level=8.0)
    may_act = 0
    for i in range(40 * 50):
        phase = i / 50 / 22.0 % 1.0
        away = 5.5 * (1.0 - abs(4.0 * ((phase + 0.25) % 1.0) - 2.0))
        watched.read(0.02, lambda _, z=away: 203.6 + z, shows, flown=True)
        may_act += not (watched.watch.is_likely or watched.watch.is_supported)
    assert may_act < 10 * 50


@pytest.mark.parametrize('force', [G, None], ids=['accelerometer', 'barometer alone'])
@pytest.mark.parametrize('speed', [12.0, 15.0, 18.0])
@pytest.mark.parametrize('was_flown', [False, True], ids=['first flight', 'second flight'])
def test_a_height_that_runs_down_on_the_pad_is_no_fall(force, speed, was_flown):
    """A bay under pressure looked like a fall into a valley, and both charges fired."""
    watched = Watched().stand()
    if was_flown:
        watched.watch.update(round(watched.now * SECOND), Readings(), learns=False, has_flown=True)
    watched.read(
        120.0 / speed, lambda t: -speed * t, None if force is None else lambda t: force
    )
    watched.read(5.0, lambda t: -120.0, None if force is None else lambda t: force)
    assert watched.watch.departure is None


@pytest.mark.parametrize('speed', [0.0, 9.0, -9.0, -4.0])
@pytest.mark.parametrize(('push', 'lasts'), [
    pytest.param(0.0, 0.0, id='zeros'), pytest.param(60.0, 0.5, id='a burst, then zeros'),
    pytest.param(157.0, 0.2, id='16 g, then zeros'), pytest.param(157.0, 1.0, id='1 s, then zeros'),
])
def test_zeros_beside_a_height_without_a_fall_are_a_dead_accelerometer(speed, push, lasts):
    """They were a free fall, whose height failed and healed again and again at its own speed."""
    watched = Watched().stand()
    watched.read(5.0, lambda t: speed * t, lambda t: G)
    watched.read(lasts, lambda t: speed * (t + 5.0), lambda t: push + G)
    held = []
    for k in range(20):
        begin = 5.0 + lasts + 0.5 * k
        watched.read(0.5, lambda t: speed * (t + begin), lambda t: 0.0)  # noqa: B023
        held.append(watched.watch.held)
    assert min(held[6:]) > 0.9


def test_a_force_that_is_off_beside_a_steady_climb_is_no_fall_that_heals_again_and_again():
    """Each time its height was believed anew, at the speed of the lift."""
    watched = Watched().stand()
    watched.read(5.0, lambda t: 9.0 * t, lambda t: G)
    watched.read(3.0, lambda t: 9.0 * (t + 5.0), lambda t: 2.0)
    held = []
    for k in range(18):
        watched.read(0.5, lambda t: 9.0 * (t + 8.0 + 0.5 * k), lambda t: 2.0)  # noqa: B023
        held.append(watched.watch.held)
    assert min(held) > 0.5


@pytest.mark.parametrize('share', few_of([0.1, 0.15, 0.25, 0.33], 2))
@pytest.mark.parametrize('per_second', [2, 5, 10])
def test_a_lift_beside_an_accelerometer_of_a_wrong_range_is_no_flight(share, per_second):
    """Its force reads as the drag of a coast, but does not change as drag does."""
    watched = Watched(50)
    every = 50 // per_second
    shows = lambda height: (  # noqa: E731
        lambda t: height(t) if round(50 * t) % every == 0 else math.nan
    )
    watched.read(10.0, shows(lambda t: 0.0), lambda t: G, lambda t: 0.0, learns=True)
    for _ in range(2):
        watched.read(4.0, shows(lambda t: 0.0), lambda t: share * G)
        watched.read(20.0, shows(lambda t: 3.0 * t), lambda t: share * G)
        assert watched.watch.departure is None
        watched.read(20.0, shows(lambda t: 60.0 - 3.0 * t), lambda t: share * G)
        assert watched.watch.departure is None


def test_an_accelerometer_that_is_known_to_be_dead_heals_with_a_force_alone():
    """A height that falls silent beside it makes no free fall of its zeros."""
    watched = Watched().stand()
    watched.read(1.0, lambda t: 0.0, lambda t: 40.0)
    watched.read(15.0, lambda t: 1.0 * t, lambda t: 0.0, flown=True)
    held = []
    for _ in range(20):
        watched.read(1.0, None, lambda t: 0.0, flown=True)
        held.append(watched.watch.held)
    assert min(held) > 0.9
    watched.read(2.0, lambda t: 15.0, lambda t: G, flown=True)
    watched.read(2.0, lambda t: 15.0 + 30.0 * t * t, lambda t: 60.0 + G, flown=True)
    assert watched.watch.held < 0.1


@pytest.mark.parametrize('height', [
    pytest.param(None, id='silent'), pytest.param(lambda t: 0.0, id='repeats itself'),
])
@pytest.mark.parametrize('push', [0.0, 30.0])
def test_a_fall_that_no_height_shows_is_none(height, push):
    """Both charges fired beside a barometer so coarse that it repeated itself."""
    watched = Watched()
    watched.read(40.0, lambda t: 0.0, lambda t: G, noise=0.0, learns=True)
    watched.read(0.2, height, lambda t: push + G, noise=0.0)
    watched.read(10.0, height, lambda t: 0.02, noise=0.0)
    assert watched.watch.departure is None


@pytest.mark.parametrize('begin', range(6))
def test_a_lift_that_slows_down_under_an_oscillating_height_is_no_fall(begin):
    """It had been let go, for 0.2 g less, and a drogue fired where it was carried."""
    watched = Watched().stand()

    def height(t):
        return 14.0 * t + 55.0 * math.sin(0.9 * t)

    watched.read(30.0 + begin, height, lambda t: G)
    for k in range(120):
        now = 30.0 + begin + 0.05 * k
        watched.read(0.05, lambda t: height(now), lambda t: 0.81 * G)  # noqa: B023
        assert watched.watch.departure is None


@pytest.mark.parametrize('speed', [10.0, 30.0, 100.0])
@pytest.mark.parametrize('offset', [0.0, 0.3])
def test_a_height_that_falls_freely_is_no_rest_beside_zeros(speed, offset):
    """What coasts is not held, however well its accelerometer is calibrated."""
    watched = Watched().stand()
    burn = speed / 40.0
    watched.read(burn, lambda t: 20.0 * t * t, lambda t: 40.0 + G)
    begin = 20.0 * burn * burn
    watched.read(1.0, lambda t: begin + speed * t - 0.5 * G * t * t, lambda t: offset)
    held = []
    for k in range(round(20 * (2.0 * speed / G - 1.0))):
        now = 1.0 + 0.05 * k
        height = begin + speed * now - 0.5 * G * now * now
        watched.read(0.05, lambda t: height, lambda t: offset)  # noqa: B023
        held.append(watched.watch.held)
    assert max(held) < 0.5


def test_a_port_that_blocks_late_counts_as_landed_no_sooner_than_it_can_have_landed():
    """It counted from the climb, so that a port that blocked after a long descent was a landing."""
    watched = Watched().stand()
    push, burn = 60.0, 2.0
    top = 0.5 * push * burn**2 + 0.5 * (push * burn) ** 2 / G
    apogee = burn + push * burn / G
    watched.read(apogee, lambda t: (
        0.5 * push * t * t if t < burn else top - 0.5 * G * (apogee - t) ** 2
    ), lambda t: push + G if t < burn else 0.3, flown=True)
    watched.read(25.0, lambda t: top - 0.5 * G * t * t if t < 2.0 else top - 20.0 * (t - 1.0),
                 lambda t: 0.3 if t < 2.0 else G, flown=True)
    level = top - 480.0
    found = watched.read(level / 5.0 + 20.0, lambda t: level, lambda t: G, flown=True)
    assert found.index(True) / 20 == pytest.approx(level / 5.0 + 5.0, abs=4.0)


@pytest.mark.parametrize(('force', 'speed'), few_of([
    (force, speed) for speed in (0.8, 1.5, 3.0) for force in (lambda t: G, None)
], 3))
def test_what_is_carried_down_from_a_hill_is_likely_held_once_it_has_moved_by_5_m(force, speed):
    """A slow walk was the level height of a blocked port, and the main fired in the hands."""
    watched = Watched().stand()
    watched.read(2.0, lambda t: 30.0 * t * t, force and (lambda t: 60.0 + G), flown=True)
    watched.read(24.0, lambda t: 120.0 + 120.0 * t - 0.5 * G * t * t,
                 force and (lambda t: 0.3), flown=True)
    top = 120.0 + 120.0 * 24.0 - 0.5 * G * 24.0**2
    descent = (top - 480.0) / 20.0
    watched.read(descent, lambda t: top - 20.0 * t, force, flown=True)
    watched.read(30.0, lambda t: 480.0, force, flown=True)
    watched.read(8.0 / speed, lambda t: 480.0 - speed * t, force, flown=True)
    for walked in range(8, 40, 2):
        watched.read(
            2.0 / speed, lambda t, walked=walked: 480.0 - walked - speed * t, force, flown=True
        )
        assert watched.watch.is_likely, walked


def test_what_has_landed_may_be_carried_within_a_minute_of_its_ignition():
    """What was lit is not carried, but after a landing it is; the main fired in the hands."""
    watched = Watched().stand()
    watched.watch.light()
    watched.read(2.0, lambda t: 20.0 * t * t)
    watched.read(8.0, lambda t: 80.0 + 80.0 * t - 0.5 * G * t * t, flown=True)
    watched.read(5.0, lambda t: 406.0 - 20.0 * t, flown=True)
    watched.read(20.0, lambda t: 306.0, flown=True)
    watched.read(4.0, lambda t: 306.0 - 3.0 * t, flown=True)
    for walked in range(12, 60, 3):
        watched.read(1.0, lambda t, walked=walked: 306.0 - walked - 3.0 * t, flown=True)
        assert watched.watch.is_likely, walked


@pytest.mark.parametrize(('rate', 'latest'), [(1.0, 7.0), (2.0, 5.0), (5.0, 3.0)])
def test_a_climb_is_found_by_a_height_whose_values_are_held(rate, latest):
    """Each repeated value was a height that stays: no liftoff was found at all."""
    watched, errors = Watched(), np.random.default_rng(3).normal(0.0, 0.4, 200)

    def held(height, begin):
        return lambda t: height(math.floor(t * rate) / rate) + errors[begin + int(t * rate)]

    def climb(t):
        coast = max(t - 2.0, 0.0)
        return 20.0 * min(t, 2.0) ** 2 + 80.0 * coast - 0.5 * G * coast * coast

    watched.read(20.0, held(lambda t: 0.0, 0), noise=0.0, learns=True)
    watched.read(latest, held(climb, 100), noise=0.0)
    assert watched.watch.departure is not None
    assert watched.watch.departure.source == 'climb'


def test_a_restart_keeps_what_was_certain_and_begins_in_doubt_in_the_air():
    watched = Watched()
    watched.watch.begin(in_air=True, kept=RESTED)
    watched.read(1.0, lambda t: 2.0, lambda t: G)
    assert watched.watch.is_supported
    watched = Watched()
    watched.watch.begin(in_air=True)
    watched.read(3.0, lambda t: 700.0 - 20.0 * t, lambda t: G)
    assert not watched.watch.is_supported
    assert not watched.watch.is_likely


@pytest.mark.parametrize('held', [0.3, 0.9])
def test_what_was_likely_before_a_restart_counts_without_a_height_too(held):
    """A charge fired into what had been at rest, because only a height made doubt last."""
    watched = Watched()
    watched.watch.begin(in_air=True, kept=Kept(held=held))
    watched.read(20.0, force=lambda t: G)
    assert watched.watch.is_likely == (held > 0.5)
    watched.read(15.0, force=lambda t: G)
    assert not watched.watch.is_likely


def test_the_same_readings_give_the_same_belief():
    probabilities = []
    for _ in range(2):
        watched = Watched().stand(3.0)
        watched.read(3.0, lambda t: 20.0 * t, lambda t: 20.0)
        probabilities.append(watched.watch.probability)
    assert probabilities[0] == probabilities[1]


def test_what_has_rested_has_done_so_until_it_flies_again():
    watched = Watched()
    low = watched.fly_low()
    watched.read(20.0, lambda t: low, lambda t: G, flown=True)
    assert watched.watch.has_rested
    watched.read(0.9, lambda t: low - 0.5 * G * t * t, lambda t: 0.2, flown=True)
    assert watched.watch.held < 0.5
    assert watched.watch.has_rested
    watched.read(10.0, lambda t: low - 4.0, lambda t: G, flown=True)
    watched.read(1.5, lambda t: low - 4.0 + 30.0 * t * t, lambda t: 60.0 + G, flown=True)
    assert not watched.watch.has_rested


def test_a_taped_port_beside_a_free_fall_is_no_rest_that_only_a_far_fall_ends():
    """The height lives and stays, so that its zeros are those of a dead accelerometer."""
    watched = Watched().stand()
    watched.read(1.5, lambda t: 0.0, lambda t: 60.0 + G)
    found = watched.read(12.0, lambda t: 0.0, lambda t: 0.0, flown=True)
    assert any(found)
    assert not watched.watch.has_rested


@pytest.mark.parametrize('in_air', [False, True])
def test_a_restart_keeps_that_it_has_rested(in_air):
    watch = MotionWatch(5.0)
    watch.begin(in_air=in_air, kept=RESTED)
    assert watch.has_rested is in_air


@pytest.mark.parametrize('height', [120.0, 400.0, 1500.0])
def test_rest_ends_after_a_restart_wherever_it_falls_from(height):
    """Its fall was counted from the pad, so that a false landing high up held charges for good."""
    watched = Watched()
    watched.watch.begin(in_air=True, kept=replace(RESTED, level=height + 30.0))
    watched.read(2.0, lambda t: height - 20.0 * t, lambda t: G, lambda t: 0.3, flown=True)
    assert watched.watch.has_rested
    watched.read(1.5, lambda t: height - 40.0 - 20.0 * t, lambda t: G, lambda t: 0.3, flown=True)
    assert not watched.watch.has_rested


@pytest.mark.parametrize('level', [0.0, 200.0])
@pytest.mark.parametrize('above', [70.0, 150.0, 300.0])
def test_a_height_that_runs_in_after_a_restart_ends_no_rest(level, above):
    watched = Watched()
    watched.watch.begin(in_air=True, kept=replace(RESTED, level=level), away=1.0)
    watched.read(15.0, lambda t: level + above * math.exp(-t / 1.5), lambda t: G, flown=True)
    assert watched.watch.has_rested


@pytest.mark.parametrize('force', [50.0, 100.0])
def test_an_accelerometer_that_never_changed_since_a_boot_pushes_nothing(force):
    """Stuck at 5 g before a restart, its first half second added up to a liftoff."""
    watched = Watched()
    watched.read(3.0, lambda t: 0.1 * math.sin(20.0 * t), lambda t: force, noise=0.0)
    assert watched.watch.departure is None
    assert watched.watch.held > 0.5


@pytest.mark.parametrize('force', [G, None], ids=['accelerometer', 'barometer alone'])
@pytest.mark.parametrize('lowered', [0.0, 80.0, 140.0])
def test_what_was_armed_aloft_and_lowered_falls_once_it_is_dropped(lowered, force):
    """Depth counted from where it was armed, so that no fall was believed, or no parachute."""
    watched = Watched().stand()
    watched.read(lowered / 4.0, lambda t: -4.0 * t, force and (lambda t: G))
    for i in range(80):
        # A flight begins with the departure, and then the ground may be below.
        watched.read(0.05, lambda _: -lowered - 0.5 * G * (0.05 * i) ** 2,  # noqa: B023
                     force and (lambda _: 0.1), lambda t: 0.3,
                     flown=watched.watch.departure is not None)
    found = watched.watch.departure
    assert found is not None
    assert found.source == 'fall'
    below = lowered + 8.0 * G
    watched.read(
        10.0, lambda t: -below - 20.0 * t, force and (lambda t: G), lambda t: 0.3, flown=True
    )
    assert watched.watch.held < 0.05


def test_what_began_in_the_air_may_come_down_into_a_valley():
    """Its record, or its log, need not say how high the ground is."""
    watched = Watched()
    watched.watch.begin(in_air=True)
    for begin in range(15):
        watched.read(1.0, lambda t: 20.0 - 20.0 * (begin + t), lambda t: G,  # noqa: B023
                     lambda t: 0.3)
        assert watched.watch.held < 0.05


def test_rates_of_readings_are_put_together():
    """A hundred readings of a second are no hundred witnesses, and cost no hundred updates."""
    watched = MotionWatch(5.0)
    steps = itertools.count()
    watched._belief.advance = lambda seconds: next(steps)
    for i in range(1000):
        force = (0.0, 0.0, G + 0.001 * (i % 7))
        watched.update(i * SECOND // 1000, Readings(force=force), learns=False)
    assert next(steps) <= 11


@pytest.mark.parametrize('sigma', few_of([30.0, 3.0, 10.0], 3))
def test_noise_of_an_accelerometer_moves_nothing(sigma):
    """Noise adds to the size of a force, so that a coast explained it, and fired at rest."""
    watched = Watched().stand()
    rng, held = np.random.default_rng(2), []
    for _ in range(600):
        watched.read(0.1, lambda t: 0.3 * math.sin(watched.now), lambda t: (
            G + sigma * rng.standard_normal()
        ))
        held.append(watched.watch.held)
    assert min(held) > 0.5
    assert np.mean(held) > 0.95


@pytest.mark.parametrize('speed', [12.0, 14.0, 16.0])
@pytest.mark.parametrize(('is_lit', 'is_held'), [(True, False), (False, True)])
def test_what_was_lit_is_not_carried(speed, is_lit, is_held):
    """By a barometer alone a hopper that climbs steadily is as a lift, but for its ignition."""
    watched = Watched().stand()
    if is_lit:
        watched.watch.light()
    ramp = speed / 6.0
    watched.read(ramp, lambda t: 3.0 * t * t)
    watched.read(10.0, lambda t: 0.5 * speed * ramp + speed * t)
    assert (watched.watch.held > 0.5) == is_held


@pytest.mark.parametrize(('push', 'speed', 'per_second'), few_of([
    (6.0, 17.0, 100), (4.0, 20.0, 25), (5.0, 15.0, 50), (6.0, 12.0, 10), (6.0, 30.0, 25),
    (8.0, 25.0, 50), (6.0, 14.0, 25),
], 3))
def test_a_weak_push_into_a_steady_climb_is_no_lift(push, speed, per_second):
    """A push of less than 1 g was that of a lift, which then climbs as steadily as a hopper."""
    watched, ramp = Watched(per_second).stand(), speed / push
    begun = watched.now
    watched.read(ramp, lambda t: 0.5 * push * t * t, lambda t: push + G, lambda t: 0.0)
    for k in range(6):
        watched.read(
            1.0, lambda t: 0.5 * speed * ramp + speed * (t + k), lambda t: G, lambda t: 0.0  # noqa: B023
        )
        assert watched.watch.held < 0.5
    departure = watched.watch.departure
    assert departure.source == 'acceleration'
    assert departure.clock_ns / SECOND == pytest.approx(begun, abs=0.2)


@pytest.mark.parametrize(
    ('rate', 'push'), few_of(itertools.product([0.0, 0.5], [4.0, 5.0, 6.0, 7.0]), 3)
)
def test_a_slow_climb_that_was_lit_is_seen_as_soon_as_another(push, rate):
    """What was lit was on its pad through its whole burn, while an accelerometer felt the push."""
    ends = []
    for is_lit in (True, False):
        watched = Watched().stand()
        if is_lit:
            watched.watch.light()
        found = watched.read(
            12.0, lambda t: 0.5 * push * t * t, lambda t: push + G, lambda t: rate
        )
        ends.append(found.index(False) / 20)
    assert ends[0] <= ends[1] + 0.5
    assert ends[0] < 6.5


def test_one_reading_far_off_makes_no_force_uncertain():
    """The noise of a second was taken from the size of a force that had none any more."""
    watched = Watched().stand()
    watched.read(0.05, lambda t: 0.0, lambda t: 1500.0)
    watched.read(0.2, lambda t: 0.0, lambda t: G)
    found = watched.read(1.5, lambda t: 30.0 * t * t, lambda t: 60.0 + G)
    assert not found[-1]


@pytest.mark.parametrize(('speed', 'bias', 'per_second'), few_of([
    (1.4, -0.4, 50), (2.6, -0.8, 20), (2.6, 0.0, 20), (1.4, -0.4, 10), (2.6, 0.8, 20),
    (1.7, 0.0, 10), (4.0, -0.3, 50),
], 3))
def test_what_is_carried_downhill_long_after_a_flight_is_held(speed, bias, per_second):
    """Rest explained a part of the way, so that a parachute came to be more likely."""
    watch, now = MotionWatch(5.0), 0.0
    rng = np.random.default_rng(3)

    def read(seconds, height, rate, flown=True):
        nonlocal now
        for i in range(round(per_second * seconds)):
            t, now = i / per_second, now + 1.0 / per_second
            watch.update(round(now * SECOND), Readings(
                height(t) + 0.1 * rng.standard_normal(),
                rate(t) + bias + 0.1 * rng.standard_normal(),
            ), learns=False, has_flown=flown)

    read(10.0, lambda t: 0.0, lambda t: 0.0, flown=False)
    read(2.0, lambda t: 35.0 * t * t, lambda t: 70.0 * t)
    read(14.2, lambda t: 140.0 + 140.0 * t - 0.5 * G * t * t, lambda t: 140.0 - G * t)
    top = 140.0 + 140.0 * 14.2 - 0.5 * G * 14.2**2
    read(30.0, lambda t: top - 20.0 * t, lambda t: -20.0)
    hill = top - 600.0
    read(40.0, lambda t: hill, lambda t: 0.0)
    held = []
    for k in range(40):
        read(1.0, lambda t: hill - speed * (t + k), lambda t: -speed)  # noqa: B023
        held.append(watch.held)
    assert min(held) > 0.5


def glide(watched, sink, seconds, noise=0.3):
    """Have it read a flight that glides soon after its apogee; return how held it was by second."""
    for is_pushed, force, speed, height in itertools.islice(
        rocket(60.0, 2.4, 1e-3, 14.0), 0, None, max(50 // watched.per_second, 1)
    ):
        watched.read(1.0 / min(watched.per_second, 50), lambda t: height + speed * t,  # noqa: B023
                     lambda t: force, lambda t: 0.0)  # noqa: B023
        if not is_pushed and speed < -4.0:
            break
    more, held = speed + sink, []
    for k in range(seconds):
        watched.read(
            1.0, lambda t: height - sink * (t + k) - 2.0 * more * math.expm1(-(t + k) / 2.0),  # noqa: B023
            lambda t: G - 0.5 * more * math.exp(-(t + k) / 2.0), lambda t: 0.0,  # noqa: B023
            noise=noise, flown=True,
        )
        held.append(watched.watch.held)
    return held


@pytest.mark.parametrize(('sink', 'per_second'), few_of([(2.0, 25), (3.0, 50), (2.0, 100)], 3))
def test_a_glide_that_never_turns_is_not_carried(sink, per_second):
    """Each three seconds without a turn counted anew for what is held."""
    assert max(glide(Watched(per_second).stand(), sink, 60)) < 0.5


@pytest.mark.parametrize('seed', few_of(range(8), 8))
@pytest.mark.parametrize('noise', [0.3, 0.9])
@pytest.mark.parametrize('sink', [1.7, 2.0, 3.0])
def test_a_long_slow_glide_is_not_carried(sink, noise, seed):
    """Each reading of each sensor found a speed near the slowest of a parachute less likely."""
    watched = Watched(25).stand()
    watched.rng = np.random.default_rng(seed)
    assert max(glide(watched, sink, 200, noise=noise)) < 0.5


def watched(drawn, end):
    """Yield time and watch at each reading of a drawn case's sensors until then [s]."""
    watch = MotionWatch(5.0)
    imu, pressure = (
        zip(stream.arrival.tolist(), stream.values.tolist(), strict=True)
        for stream in (drawn.streams['imu'], drawn.streams['pressure'])
    )
    for at, reading in sorted([
        *((at, Readings(force=tuple(row[:3]), rate=tuple(row[3:]))) for at, row in imu),
        *((at, Readings(height=row[0])) for at, row in pressure),
    ]):
        if at > end:
            return
        watch.update(round(at * SECOND), reading, learns=at < 7.0, has_flown=at > 8.5)
        yield at, watch


@pytest.mark.parametrize(('seed', 'sink'), [(7100221, 1.8664), (7100234, 2.2187)])
def test_a_glide_that_begins_as_it_is_felt_is_not_carried(seed, sink):
    """A broad begin, merged anew at every reading, was never steady: what pushed went on."""
    drawn = draw(Case('glide', 'sensors', seed, pins={'sink': sink}))
    apogee = drawn.scene.apogee
    held = [watch.held for at, watch in watched(drawn, apogee + 40.0) if at > apogee]
    assert max(held) < 0.5


@pytest.mark.parametrize('seed', [50201509, 50201511])
def test_a_thrust_below_the_weight_is_no_coast(seed):
    """A hopper that slowed down fell, by its force, and its drogue fired before it hung."""
    drawn = draw(Case('hopper', 'sensors', seed))
    apogee, motion = drawn.scene.apogee, drawn.scene.motion
    doubted = [
        at for at, watch in watched(drawn, apogee)
        if motion.speed[motion.at(at)] > 3.0 and watch.reckoned and watch.reckoned.speed < 0.0
    ]
    assert not doubted


def rocket(push, burn, drag, coast, air=math.inf):
    """Yield at 50 Hz whether it is pushed, its force, speed and height, up to a time of coast.

    The air thins to 1/e in a height of ``air`` [m].
    """
    height = speed = 0.0
    for i in range(round(50 * (burn + coast))):
        is_pushed = i < 50 * burn
        slows = drag * speed * abs(speed) * math.exp(-height / air)
        # A force that stays the same for 2 s is that of a stuck accelerometer.
        pushes = push * (1.15 - 0.3 * i / (50 * burn))
        speed += 0.02 * (pushes if is_pushed else -G - slows)
        height += 0.02 * speed
        yield is_pushed, pushes + G if is_pushed else slows, speed, height


@pytest.mark.parametrize(('push', 'burn', 'drag'), few_of([
    # Drag over the square of the speed [1/m]: at burnout from 0.1 g to 1 g, which rest shows too.
    pytest.param(50.0, 2.0, 1e-4, id='100 m per s, little drag'),
    pytest.param(60.0, 1.5, 8e-4, id='90 m per s, much drag'),
    pytest.param(90.0, 2.0, 3e-4, id='180 m per s, drag of 1 g'),
    pytest.param(40.0, 1.5, 4e-4, id='60 m per s'),
], 3))
def test_a_flight_beside_a_port_that_stays_at_its_pad_is_reckoned(push, burn, drag):
    """It was taken for rest within half a second, and forgotten with its speed."""
    watched, reckoned = Watched(50).stand(), []
    for is_pushed, force, speed, _ in rocket(push, burn, drag, 0.9 * push * burn / G):
        watched.read(0.02, lambda t: 0.0, lambda t: force + 0.2)  # noqa: B023
        found = watched.watch.reckoned
        if is_pushed:
            assert watched.watch.departure is None
        elif 5.0 < speed < 15.0:
            reckoned.append(math.inf if found is None else found.speed - speed)
    assert reckoned
    assert max(map(abs, reckoned)) < 8.0


def test_nothing_is_reckoned_where_a_height_shows_the_flight():
    watched = Watched().stand()
    watched.read(2.0, lambda t: 20.0 * t * t, lambda t: 40.0 + G)
    watched.read(4.0, lambda t: 80.0 + 80.0 * t - 0.5 * G * t * t, lambda t: 0.4)
    assert watched.watch.departure is not None
    assert watched.watch.reckoned is None


def test_steps_of_a_force_are_no_noise():
    """What was learned from the end of a burn let rest explain the coast."""
    feed = Feed(100_000_000, 3.0, None)
    for i in range(200):
        force = 60.0 if i % 100 < 50 else 3.0
        mean = feed.take(i * 20_000_000, (force + wiggle(i), 0.0, 0.0), learns=False)
        assert mean is None or mean.noise < 0.01


@pytest.mark.parametrize(('rate', 'speed', 'sigma', 'least', 'most'), [
    pytest.param(50, 400.0, 0.3, 0.0, 0.1, id='a fast climb is no noise'),
    pytest.param(20, 0.0, 8.0, 20.0, 100.0, id='noise of single readings'),
    pytest.param(50, 100.0, 8.0, 10.0, 50.0, id='noise of pairs in a climb'),
    pytest.param(5, 60.0, 8.0, 15.0, 100.0, id='noise of slow readings'),
])
def test_noise_of_a_height_is_what_leaves_its_line(rate, speed, sigma, least, most):
    """A barometer at 20 Hz with 8 m of noise was one with 1 m; a climb at 400 m/s was noise."""
    feed, rng, found = Feed(40_000_000, 3.0, 50.0), np.random.default_rng(5), []
    for i in range(20 * rate):
        height = speed * i / rate + sigma * rng.standard_normal()
        mean = feed.take(round(i * SECOND / rate), (height,), learns=False)
        found += [mean.noise] if mean is not None and i > 5 * rate else []
    assert least <= np.median(found) < most


@pytest.mark.parametrize(('share', 'most'), [(0.1, 2.0), (0.25, 25.0)])
def test_spikes_of_single_readings_are_hardly_noise(share, most):
    """Beside one of four, noise grew without end, and a sound height was a broken one."""
    feed, rng, found = Feed(40_000_000, 3.0, 50.0), np.random.default_rng(5), []
    for i in range(800):
        spike = 200.0 * rng.choice([-1.0, 1.0]) if rng.random() < share else 0.0
        mean = feed.take(i * 50_000_000, (spike + 0.3 * rng.standard_normal(),), learns=False)
        found += [] if mean is None else [mean.noise]
    assert np.mean(found) < most


def test_what_was_read_before_a_gap_is_in_no_mean_after_it():
    """The first mean of a rocket that was 28 m higher after a gap of 1.2 s was 9 m."""
    feed = Feed(40_000_000, 3.0, 50.0)
    for i in range(6):
        feed.take(i * 10_000_000, (0.1 * i,), learns=False)
    mean = feed.take(1_250_000_000, (28.0,), learns=False)
    assert mean.size == 28.0


@pytest.mark.parametrize('per_second', [25, 50])
@pytest.mark.parametrize('drag', [1e-4, 1.3e-4, 2e-4])
def test_a_flight_beside_such_a_port_is_no_rest_at_its_apogee(drag, per_second):
    """Its height healed from where the force reckoned the vehicle onto the pad, and landed."""
    watched = Watched(per_second).stand()
    for is_pushed, force, speed, height in itertools.islice(
        rocket(64.0, 2.0, drag, 14.0), 0, None, 50 // per_second
    ):
        if not is_pushed and speed < -8.0:
            break
        watched.read(1.0 / per_second, lambda t: 0.0, lambda t: force + 0.05)  # noqa: B023
        assert is_pushed or speed > 100.0 or watched.watch.held < 0.5, height


def wrong_seconds(push, burn, drag, port, sigma=0.3, per_second=50):
    """Return for how long an ascent without a fault was taken for rest or for a broken height.

    The error of its static port is a share of the dynamic pressure, as a height.
    """
    watched, held, doubted = Watched(per_second).stand(), 0.0, 0.0
    for is_pushed, force, speed, height in rocket(push, burn, drag, 60.0):
        if speed < 10.0 and not is_pushed:
            break
        off = height + port * speed * speed / (2.0 * G)
        watched.read(0.02, lambda t: off, lambda t: force, noise=sigma)  # noqa: B023
        if not is_pushed:
            held += 0.02 * (watched.watch.held >= 0.5)
            doubted += 0.02 * (watched.watch._belief.believed(Channel.HEIGHT) < 0.5)
    return held, doubted


@pytest.mark.parametrize(('push', 'burn', 'drag', 'port'), [
    pytest.param(130.0, 2.5, 2e-4, 0.0, id='310 m per s'),
    pytest.param(90.0, 2.0, 3e-4, 0.0, id='170 m per s'),
    pytest.param(130.0, 2.5, 1e-4, 0.0, id='310 m per s with little drag'),
    pytest.param(160.0, 3.0, 1e-4, 0.01, id='450 m per s with an error of 100 m'),
    pytest.param(60.0, 7.0, 1.5e-4, -0.02, id='350 m per s with one of -125 m'),
])
def test_a_sound_height_is_believed_where_drag_passes_1_g(push, burn, drag, port):
    """The belief took a fast flight for rest, with a broken barometer, until its drag was small."""
    held, doubted = wrong_seconds(push, burn, drag, port)
    assert held == 0.0
    assert doubted < 0.5


@pytest.mark.parametrize(('push', 'burn', 'drag'), [
    pytest.param(120.0, 10.0, 5e-5, id='to 45 km'),
    pytest.param(120.0, 8.0, 7e-5, id='to 30 km'),
    pytest.param(100.0, 12.0, 6e-5, id='to 40 km'),
])
def test_a_fast_coast_above_the_range_of_its_barometer_is_no_rest(push, burn, drag):
    """It was where drag passes 1 g, and its speed was forgotten: a drogue fired at 680 m/s."""
    watched = Watched(50).stand()
    for is_pushed, force, speed, height in rocket(push, burn, drag, 40.0, 8400.0):
        if speed < 300.0 and not is_pushed:
            break
        shows = (lambda t: height) if height < 9160.0 else None  # noqa: B023
        watched.read(0.02, shows, lambda t: force)  # noqa: B023
        assert is_pushed or watched.watch.held < 0.5, height


@pytest.mark.slow
def test_hardly_a_flight_of_any_speed_is_taken_for_rest():
    """Before, one of ten was, for seconds."""
    rng, wrong = np.random.default_rng(11), 0
    for _ in range(60):
        speed, push = 10.0 ** rng.uniform(1.8, 2.7), 10.0 ** rng.uniform(1.5, 2.3)
        drag = 10.0 ** rng.uniform(-4.3, -3.3)
        held, _ = wrong_seconds(
            push, speed / push, drag, rng.normal(0.0, 0.02), rng.choice([0.1, 0.3, 1.0]),
        )
        wrong += held > 0.3
    assert wrong <= 2


@pytest.mark.parametrize('force', [20.0, 30.0, 60.0])
@pytest.mark.parametrize('seed', [1, 2])
def test_force_that_is_strong_from_its_first_reading_on_is_no_departure(force, seed):
    rng, watch = np.random.default_rng(seed), MotionWatch(5.0)
    for i in range(750):
        felt = (0.0, 0.0, force + rng.normal(0.0, 0.3)) if i >= 125 else (math.nan,) * 3
        watch.update(
            10**9 + i * 40_000_000, Readings(rng.normal(0.0, 0.3), force=felt), learns=False
        )
        assert watch.departure is None
    assert watch.held > 0.5


@pytest.mark.parametrize('force', [20.0, 45.0, 80.0])
@pytest.mark.parametrize('per_second', [1, 2, 4, 20])
def test_force_that_gets_stuck_on_the_pad_is_no_departure(force, per_second):
    """Below 5 Hz it was: each reading counted as 0.1 s, however long it had stayed."""
    watched = Watched(per_second).stand(30.0)
    for _ in range(40):
        watched.read(1.0, lambda t: 0.0, lambda t: force)
        assert watched.watch.departure is None
    assert watched.watch.held > 0.5


@pytest.mark.parametrize(('height', 'pad'), [
    pytest.param(lambda t: 0.0, 0.0, id='rests'),
    pytest.param(lambda t: 200.0 * (t > 5.0), 200.0, id='a step up'),
    pytest.param(lambda t: -80.0 * (t > 5.0), -80.0, id='a step down'),
    pytest.param(lambda t: -min(t, 40.0), -40.0, id='the weather'),
    pytest.param(lambda t: 0.1 * t, 6.0, id='the weather, upward'),
    pytest.param(lambda t: min(0.5 * t, 25.0), 0.0, id='stairs'),
    pytest.param(lambda t: min(3.0 * t, 90.0), 0.0, id='carried up'),
    pytest.param(lambda t: max(90.0 - 3.0 * abs(t - 30.0), 0.0), 0.0, id='carried up and down'),
])
def test_the_pad_goes_with_a_drift_and_a_jump_but_not_with_what_is_carried_up(height, pad):
    """Behind a step of the barometer a false climb was high enough for an apogee, on the pad."""
    watched = Watched().stand()
    watched.read(60.0, height)
    assert watched.watch.pad == pytest.approx(pad, abs=2.5)
