# SPDX-License-Identifier: Apache-2.0
"""An altitude that stops in fast flight, or to which the vehicle was carried, is no apogee."""
import math
from typing import NamedTuple

import numpy as np
import pytest

from propulsion_ros.flight.apogee.detector import ApogeeDetector, ApogeeParams
from propulsion_ros.flight.events.variables import Sample
from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY
from propulsion_ros.replay.flight_log import fly_live

_DENSITY_HEIGHT = 8000.0  # [m]
_STEP = 0.01  # [s]
_SLOWING = 0.5  # before a hover [m/s^2]


class Motion(NamedTuple):
    """A vertical flight: time, altitude, velocity, acceleration, and its apogee [s]."""

    time: np.ndarray
    altitude: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray
    apogee: float


def _fly(push, drag, rest=5.0, height=0.0, speed=0.0, after=60.0):
    """Return a flight whose acceleration by the engine is a function of time [m/s^2]."""
    rows = [(-rest + _STEP * i, height, speed, 0.0) for i in range(round(rest / _STEP))]
    t, apogee = 0.0, math.inf
    while height >= 0.0 and t < apogee + after:
        thin = math.exp(-height / _DENSITY_HEIGHT)
        pull = push(t) - drag * thin * speed * abs(speed)
        rows.append((t, height, speed, pull))
        height, speed = height + (speed + 0.5 * pull * _STEP) * _STEP, speed + pull * _STEP
        t += _STEP
        if speed < 0.0 and t > 0.5 and math.isinf(apogee):
            apogee = t
    return Motion(*np.array(rows).T, apogee)


def _boost(push, burn, drag):
    """Return a flight with an acceleration net of gravity [m/s^2] for a time [s]."""
    return _fly(lambda t: push if t < burn else -STANDARD_GRAVITY, drag)


def _spoilt(motion, clogs=math.inf, ceiling=math.inf, noise=0.3, rate=25, inputs='', seed=3):
    """Return what the sensors read: stamps, altitude, and the inputs 'v' and 'a' where asked."""
    every = slice(None, None, round(1.0 / rate / _STEP))
    time, altitude, velocity, acceleration = (values[every].copy() for values in motion[:4])
    rng = np.random.default_rng(seed)
    altitude[time >= clogs] = altitude[np.searchsorted(time, clogs) - 1] if clogs < 1e9 else 0.0
    altitude = np.minimum(altitude, ceiling) + rng.normal(0.0, noise, len(time))
    velocity += rng.normal(0.0, 0.2, len(time)) if 'v' in inputs else math.nan
    acceleration += rng.normal(0.0, 0.1, len(time)) if 'a' in inputs else math.nan
    return time, altitude, velocity, acceleration


def _decide_in_flight(sensors):
    """Return when the flight logic decides apogee [s]; infinity for never."""
    samples = (
        (round(t * 1e9), Sample(round(t * 1e9), *values))
        for t, *values in zip(*(part.tolist() for part in sensors), strict=True)
    )
    return next((
        stamp_ns * 1e-9 for stamp_ns, report in fly_live(samples, ApogeeParams()) if report.apogee
    ), math.inf)


def _decide(sensors):
    """Return when apogee is detected [s] and why; infinity for never."""
    detector = ApogeeDetector(ApogeeParams())
    for t, *values in zip(*(part.tolist() for part in sensors), strict=True):
        estimate = detector.update(round(t * 1e9), *values)
        if estimate.detected:
            return t, estimate.reason
    return math.inf, ''


_CLOGS = {
    'boost, 292 m/s, altitude alone': (100.0, 4.0, 3.0, '', ''),
    'boost, 292 m/s, acceleration': (100.0, 4.0, 3.0, 'a', ''),
    'boost, 292 m/s, velocity': (100.0, 4.0, 3.0, 'v', 'velocity'),
    'boost, 292 m/s, both': (100.0, 4.0, 3.0, 'va', 'velocity'),
    'coast, 221 m/s, both': (80.0, 3.0, 4.0, 'va', ''),
    'coast, 248 m/s, both': (90.0, 3.0, 4.0, 'va', 'velocity'),
    'coast, 141 m/s, altitude alone': (60.0, 3.0, 6.0, '', 'foreseen'),
    'coast, 141 m/s, both': (60.0, 3.0, 6.0, 'va', 'velocity'),
}


@pytest.mark.parametrize(
    ('push', 'burn', 'clogs', 'inputs', 'reason'), _CLOGS.values(), ids=_CLOGS
)
def test_an_altitude_that_stops_in_flight_is_no_apogee(push, burn, clogs, inputs, reason):
    motion = _boost(push, burn, 1e-4)
    found, why = _decide(_spoilt(motion, clogs, inputs=inputs))
    assert found > motion.apogee - 0.5
    if reason:
        assert why == reason
        assert found < motion.apogee + 4.0


@pytest.mark.parametrize('inputs', ['a', 'va'], ids=['acceleration', 'both'])
@pytest.mark.parametrize(('push', 'burn', 'drag', 'clogs'), [
    (100.0, 4.0, 1e-4, 3.0), (80.0, 3.0, 1e-4, 4.0), (90.0, 3.0, 1e-4, 4.0), (60.0, 3.0, 1e-4, 6.0),
    (70.0, 2.6, 4.4e-4, 4.2), (60.0, 3.0, 2.3e-4, 3.0),
])
def test_a_flight_beside_a_port_that_clogs_on_its_way_is_reckoned(push, burn, drag, clogs, inputs):
    """Where drag was 1 g it rested at that level, and fell from there: up to 19 s too early."""
    motion = _boost(push, burn, drag)
    found = _decide_in_flight(_spoilt(motion, clogs, inputs=inputs))
    assert motion.apogee - 1.0 < found
    assert inputs == 'a' or found < motion.apogee + 3.0


_CEILINGS = {
    '596 m/s, altitude alone': (80.0, 13.0, 2e-5, ''),
    '354 m/s, altitude alone': (75.0, 12.0, 2e-5, ''),
    '589 m/s, velocity': (80.0, 13.0, 2e-5, 'v'),
    '812 m/s, acceleration': (80.0, 14.5, 1.5e-5, 'a'),
}


@pytest.mark.parametrize(('push', 'burn', 'drag', 'inputs'), _CEILINGS.values(), ids=_CEILINGS)
def test_an_altitude_that_saturates_is_no_apogee(push, burn, drag, inputs):
    motion = _boost(push, burn, drag)
    found, _ = _decide(_spoilt(motion, ceiling=31000.0, rate=10, inputs=inputs))
    assert found > motion.apogee - 0.5


def test_a_fall_that_lasts_ends_a_standstill():
    motion = _boost(100.0, 4.0, 1e-4)
    time, altitude, *inputs = _spoilt(motion, 3.0)
    falls = np.maximum(time - motion.apogee, 0.0)
    found, reason = _decide((time, altitude - 20.0 * falls, *inputs))
    assert motion.apogee < found < motion.apogee + 4.0
    assert reason in ('fit', 'descent', 'fall')


@pytest.mark.parametrize(('begin', 'length'), [(5.0, 1.0), (6.0, 3.0), (8.0, 5.0)], ids=str)
def test_an_altitude_that_moves_again_is_used_again(begin, length):
    motion = _boost(60.0, 3.0, 1e-4)
    sensors = _spoilt(motion)
    time, altitude = sensors[:2]
    stopped = (time >= begin) & (time < begin + length)
    rng = np.random.default_rng(5)
    stands = altitude[np.searchsorted(time, begin)]
    altitude[stopped] = stands + rng.normal(0.0, 0.3, np.count_nonzero(stopped))
    assert _decide(sensors)[0] == pytest.approx(motion.apogee, abs=0.3)


def _carried(speed, top, hover, push, burn):
    """Return a flight that is carried up, slows down, hovers, and is released with its motor."""
    up = speed * np.arange(0.0, top / speed, _STEP)
    slow = np.arange(0.0, speed / _SLOWING if hover else 0.0, _STEP)
    level = top + 0.5 * speed * speed / _SLOWING if hover else top
    free = _fly(
        lambda t: push - STANDARD_GRAVITY if t < burn else -STANDARD_GRAVITY,
        2e-4, 0.0, level, 0.0 if hover else speed,
    )
    carried = np.concatenate([
        np.zeros(1000), up, top + speed * slow - 0.5 * _SLOWING * slow * slow,
        np.full(round(hover / _STEP), level),
    ])
    altitude = np.concatenate([carried, free.altitude])
    time = np.arange(len(altitude)) * _STEP
    nothing = np.full(len(time), math.nan)
    apogee = float(time[np.argmax(altitude)])
    return Motion(time, altitude, nothing, nothing, apogee), len(carried) * _STEP


_CARRIED = {
    'drone to 150 m, hovers, motor': (3.0, 150.0, 15.0, 30.0, 1.2, 50),
    'balloon to 600 m, 10 Hz': (5.0, 600.0, 0.0, 0.0, 0.0, 10),
    'balloon to 600 m, rests, 10 Hz': (5.0, 600.0, 20.0, 0.0, 0.0, 10),
}


@pytest.mark.parametrize(
    ('speed', 'top', 'hover', 'push', 'burn', 'rate'), _CARRIED.values(), ids=_CARRIED
)
def test_a_level_to_which_it_was_carried_is_no_apogee(speed, top, hover, push, burn, rate):
    motion, begin = _carried(speed, top, hover, push, burn)
    found = _decide_in_flight(_spoilt(motion, noise=0.5, rate=rate))
    assert begin - 0.5 < found < max(begin, motion.apogee) + 7.0
