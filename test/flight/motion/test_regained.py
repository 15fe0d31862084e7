# SPDX-License-Identifier: Apache-2.0
"""An altitude that was lost in the descent."""
from __future__ import annotations

import math

import numpy as np
import pytest

from propulsion_ros.flight.motion.regained import RegainedAltitude

NAN = math.nan
S = 1_000_000_000
NOISE = np.random.default_rng(7).normal(0.0, 1.0, 100_000)


def doubted(altitude, duration, rate=20.0, lost=30.0, how=NAN, descends=True):
    """Return when an altitude that returns at time 0 counts again [s], inf for never."""
    regained = RegainedAltitude(band=5.0, velocity=2.0)
    for i in range(round(-lost * rate) - 40, round(duration * rate)):
        t = i / rate
        value = altitude(t) + 0.3 * NOISE[i]
        if -lost < t < 0.0:
            value = how
        # Its apogee is a second before the loss.
        after = descends and t > -lost - 1.0
        regained.update(round((t + 1000.0) * S), value, descends=after)
        if t >= 0.0 and not regained.is_doubtful:
            return t
    return math.inf


def under_drogue(t):
    return 400.0 - 20.0 * t


@pytest.mark.parametrize('how', [NAN, 475.0], ids=['silent', 'stuck'])
@pytest.mark.parametrize('ground', [
    pytest.param(lambda t: 0.0, id='level'),
    pytest.param(lambda t: 2.0 * NOISE[round(abs(t) * 20.0)], id='noise of 2 m'),
    pytest.param(lambda t: -0.3 * t, id='carried downhill'),
    pytest.param(lambda t: -8.0 * (t > 60.0), id='a step'),
    pytest.param(lambda t: 300.0 * math.exp(-t / 0.5) if t > 0.0 else 0.0, id='settles'),
    pytest.param(lambda t: -300.0 * math.exp(-t / 0.5) if t > 0.0 else 0.0, id='settles upward'),
    pytest.param(lambda t: 15.0 * (t > 60.0), id='lifted'),
])
def test_altitude_that_comes_back_on_the_ground_never_counts(ground, how):
    assert doubted(ground, 600.0, how=how) == math.inf


@pytest.mark.parametrize('silence', [1.0, 4.0, 8.0], ids=lambda silence: f'{silence:g} s')
@pytest.mark.parametrize('error', [300.0, 30.0, -300.0], ids=lambda error: f'{error:g} m')
def test_loose_plug_on_the_ground_never_counts(error, silence):
    def at(t):
        since = t - 0.3 - silence
        if t >= 0.3 and since < 0.0:
            return NAN
        return error * math.exp(-max(since, 0.0) / 0.6) if since >= 0.0 else 0.0

    assert doubted(at, 60.0) == math.inf


def test_loss_goes_on_over_a_restart():
    regained = RegainedAltitude(band=5.0, velocity=2.0)
    regained.reset(known_ns=80 * S)
    regained.update(100 * S, 0.1, descends=True)
    assert regained.is_doubtful
    regained.reset(known_ns=95 * S)
    regained.update(100 * S, 0.1, descends=True)
    assert not regained.is_doubtful


@pytest.mark.parametrize(('rate', 'latest'), [
    pytest.param(50.0, 4.5, id='50 Hz'), pytest.param(20.0, 4.5, id='20 Hz'),
    pytest.param(2.0, 5.5, id='2 Hz'), pytest.param(1.0, 7.0, id='1 Hz'),
    pytest.param(0.5, 13.0, id='0.5 Hz'),
])
@pytest.mark.parametrize('speed', [5.0, 20.0, 80.0], ids=lambda speed: f'{speed:g} m per s')
def test_altitude_that_comes_back_in_the_air_counts_within_seconds(speed, rate, latest):
    assert doubted(lambda t: 900.0 - speed * t, 30.0, rate=rate) <= latest + 10.0 / speed


@pytest.mark.parametrize('lost', [0.6, 5.0, 9.0], ids=lambda lost: f'{lost:g} s')
def test_short_loss_is_no_doubt(lost):
    assert doubted(under_drogue, 5.0, lost=lost) == 0.0


def test_before_the_apogee_nothing_is_in_doubt():
    assert doubted(under_drogue, 5.0, descends=False) == 0.0


def test_sensor_that_drops_out_again_and_again_counts():
    regained = RegainedAltitude(band=5.0, velocity=2.0)
    doubts = []
    for i in range(400):
        t = 0.05 * i
        value = under_drogue(t) if t % 0.8 < 0.2 else NAN
        regained.update(round((t + 1000.0) * S), value, descends=t > 1.0)
        doubts.append(regained.is_doubtful)
    assert not any(doubts)
