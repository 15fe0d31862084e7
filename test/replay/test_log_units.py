# SPDX-License-Identifier: Apache-2.0
"""The units and signs of a log, judged by physics: each wrong one is named, and no right one."""
from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from propulsion_ros.flight.events.variables import Sample
from propulsion_ros.replay.flight_log import samples_of_log
from propulsion_ros.replay.log_units import LogUnits
from propulsion_ros.study.apogee_flights import simulate_flight

REAL = Path(__file__).resolve().parents[3] / 'shared' / 'flights' / 'real'
G, FOOT = 9.80665, 0.3048


def doubts_of(samples):
    units = LogUnits()
    for _ in units.taken(samples):
        pass
    return units.doubts()


def flight(rate=20.0, noise=0.4):
    """A rocket of 2 kg to 210 m, 4 s after the log begins."""
    rng, samples, height, speed = np.random.default_rng(4), [], 0.0, 0.0
    for k in range(round(14.0 * rate)):
        time, push = k / rate, 0.0
        for _ in range(10):
            push = 76.0 * (4.0 <= time < 5.0) - G - 8e-4 * speed * abs(speed)
            push = max(push, 0.0) if height <= 0.0 else push
            speed += 0.1 * push / rate
            height += 0.1 * speed / rate
        seen = height + noise * rng.normal()
        samples.append(Sample(round(time * 1e9), seen, speed + rng.normal(), push))
    return samples


WRONG = {
    'ft': (lambda s: s._replace(altitude=s.altitude / FOOT), 'if it is in ft, times 0.3048'),
    'cm': (lambda s: s._replace(altitude=s.altitude * 100.0), 'if it is in cm, times 0.01'),
    'downward': (lambda s: s._replace(altitude=-s.altitude), 'downward, write -altitude_m'),
    'hPa': (lambda s: s._replace(altitude=965.0 * (1.0 - s.altitude / 44330.8)**5.2559),
            'if it is a pressure in hPa, write 44330.8 * (1 - (p / 96'),
    'Pa': (lambda s: s._replace(altitude=96500.0 * (1.0 - s.altitude / 44330.8)**5.2559),
           'if it is a pressure in Pa, write 44330.8 * (1 - (p / 96'),
    'g': (lambda s: s._replace(acceleration=s.acceleration / G), 'in g, write 9.80665 * az_mps2'),
    'g at rest': (lambda s: s._replace(acceleration=s.acceleration / G + 1.0),
                  'in g with gravity, write 9.80665 * (az_mps2 - 1)'),
    'with gravity': (lambda s: s._replace(acceleration=s.acceleration + G),
                     'in m/s^2 with gravity, write (az_mps2 - 9.80665)'),
    'turned over': (lambda s: s._replace(acceleration=-s.acceleration - G),
                    'positive downward with gravity, write -1 * (az_mps2 + 9.80665)'),
    'km/h': (lambda s: s._replace(velocity=3.6 * s.velocity), 'km/h, write 0.277778 * vz_mps'),
    'ft/s': (lambda s: s._replace(velocity=s.velocity / FOOT), 'ft/s, write 0.3048 * vz_mps'),
}


@pytest.mark.parametrize('rate', [10.0, 50.0, 1000.0])
@pytest.mark.parametrize(('change', 'line'), WRONG.values(), ids=WRONG)
def test_a_wrong_unit_is_named_with_what_to_write(change, line, rate):
    column = line.rpartition('write ')[2]
    found = doubts_of(map(change, flight(rate)))
    assert any(line in each for each in found), found
    if 'mps' in column:
        assert len(found) == 1


@pytest.mark.parametrize('rate', [2.0, 10.0, 50.0, 1000.0])
def test_a_right_log_has_no_doubt(rate):
    assert doubts_of(flight(rate)) == []


def test_two_columns_are_judged_at_once():
    """The altitude was named first, and the acceleration only once that was right."""
    first, second = doubts_of(WRONG['g'][0](WRONG['ft'][0](s)) for s in flight())
    assert first.startswith('altitude_m falls with 3')
    assert 'az_mps2 is off' in second
    assert 'in g, write' in second


def test_a_unit_that_explains_nothing_is_not_named():
    """Centimetres a second were told to be kilometres an hour."""
    (found,) = doubts_of(s._replace(velocity=100.0 * s.velocity) for s in flight())
    assert found.startswith('vz_mps is off')
    assert 'in no unit it is near; is it of another column?' in found


def test_times_that_repeat_are_counted():
    whole = [s._replace(stamp_ns=s.stamp_ns // 10**9 * 10**9) for s in flight()]
    assert any('time_s repeats that of the row before in 266 of 280 rows' in each
               for each in doubts_of(whole))


@pytest.mark.parametrize(('change', 'share'), [
    (lambda s: s[::-1], '279 of 280'),
    (lambda s: [each._replace(stamp_ns=round(each.altitude * 1e9)) for each in s], '101 of 280'),
], ids=['reversed', 'altitudes as times'])
def test_times_that_go_back_are_counted(change, share):
    line = f'time_s goes back in {share} rows; write them in the order of their times, and see that'
    (found,) = doubts_of(change(flight()))
    assert found.startswith(line)


def test_random_flights_have_no_doubt():
    for seed in range(40):
        one = simulate_flight(seed)
        rows = zip(one.stamp_ns, one.altitude, one.velocity, one.acceleration, strict=True)
        assert doubts_of(Sample(t, *map(float, row)) for t, *row in rows) == [], seed


@pytest.mark.skipif(not REAL.is_dir(), reason='the recorded flights are not here')
def test_real_flights_have_no_doubt_and_in_feet_most_have():
    logs = [list(samples_of_log(path)) for path in REAL.glob('*.csv')
            if path.read_text(encoding='utf-8').startswith('time_s')]
    assert [doubts_of(log) for log in logs] == [[]] * len(logs)
    named = [any('0.3048' in line for line in doubts_of(map(WRONG['ft'][0], log))) for log in logs]
    assert sum(named) >= 9
