# SPDX-License-Identifier: Apache-2.0
"""The Mach number against the standard atmosphere's printed table."""
from __future__ import annotations

import math

import pytest

from propulsion_ros.flight.apogee.apogee_watch import ApogeeWatch, MachMeter
from propulsion_ros.flight.apogee.estimate import ApogeeEstimate
from propulsion_ros.flight.belief.belief import Reckoned
from propulsion_ros.flight.events.variables import Sample
from propulsion_ros.flight.phases.params import FlightParams
from propulsion_ros.flight.phases.progress import Mark

NAN = math.nan


def _mach(velocity, altitude=0.0, site=0.0, **more):
    return MachMeter(site).update(Sample(0, altitude, velocity, **more))


@pytest.mark.parametrize(
    ('altitude', 'site', 'sound'),
    # US Standard Atmosphere 1976, table I.
    [(0.0, 0.0, 340.294), (1000.0, 0.0, 336.434), (0.0, 1000.0, 336.434), (5000.0, 0.0, 320.545),
     (3000.0, 2000.0, 320.545), (11e3, 0.0, 295.154), (20e3, 0.0, 295.069),
     (NAN, 1000.0, 336.434), (1e9, 0.0, 340.294)],
)
def test_standard_atmosphere_where_no_temperature_is_measured(altitude, site, sound):
    assert _mach(sound, altitude, site) == pytest.approx(1.0, rel=2e-5)


@pytest.mark.parametrize('altitude', [0.0, 9000.0, NAN])
def test_measured_temperature_wins(altitude):
    # sqrt(1.4 * 287.053 * 250) m/s
    assert _mach(316.967, altitude, temperature=250.0) == pytest.approx(1.0, rel=1e-5)


@pytest.mark.parametrize('temperature', [NAN, 0.0, -20.0, 20.0, 1e4, math.inf])
def test_what_is_no_temperature_is_not_used(temperature):
    assert _mach(340.294, temperature=temperature) == pytest.approx(1.0, rel=1e-5)


@pytest.mark.parametrize(
    ('velocity', 'horizontal', 'speed'),
    [(200.0, (NAN, NAN), 200.0), (-200.0, (NAN, NAN), 200.0), (200.0, (100.0, 200.0), 300.0),
     (NAN, (60.0, 80.0), 100.0), (NAN, (NAN, 80.0), 80.0), (NAN, (NAN, NAN), NAN),
     (math.inf, (60.0, 80.0), 100.0)],
)
def test_speed_is_the_norm_of_what_is_known(velocity, horizontal, speed):
    mach = _mach(velocity, horizontal_velocity=horizontal)
    assert mach == pytest.approx(speed / 340.294, rel=1e-5, nan_ok=True)


def test_velocity_that_does_not_change_is_not_believed():
    meter = MachMeter(0.0)
    machs = [meter.update(Sample(i * 100_000_000, 10.0 * i, 300.0)) for i in range(40)]
    known = [math.isfinite(mach) for mach in machs]
    assert known == [True] * 16 + [False] * 24
    assert math.isfinite(meter.update(Sample(5_000_000_000, 0.0, 301.0)))


CLIMB, TURN = Reckoned(500.0, 60.0, 4.0), Reckoned(500.0, 1.0, 4.0)
FALL, BELOW = Reckoned(500.0, -9.0, 4.0), Reckoned(-30.0, -40.0, 4.0)


@pytest.mark.parametrize(('reckoned', 'has_detected', 'ends'), [
    pytest.param(FALL, False, 'apogee', id='falls'),
    pytest.param(TURN, False, '', id='turns'),
    pytest.param(BELOW, False, '', id='lost below its pad'),
    pytest.param(CLIMB, True, '', id='detected while it climbs'),
    pytest.param(TURN, True, 'apogee', id='detected where it turns'),
    pytest.param(None, True, 'apogee', id='detected beside a height'),
])
def test_what_is_reckoned_ends_an_ascent_or_keeps_it_from_ending(reckoned, has_detected, ends):
    class Decided:
        """A detector that has decided, or has not."""

        def update(self, stamp_ns, *_):
            return ApogeeEstimate(stamp_ns, detected=has_detected, reason='fit' * has_detected)

        def expect_burn(self, may_light):
            pass

        reset = withdraw = lambda self: None

    watch = ApogeeWatch(FlightParams(), Decided())
    found = []
    for i in range(30):
        watch.see(Sample(i * 100_000_000, 0.0, 0.0))
        found.append(watch.end(
            i * 100_000_000, Mark(0, -60_000_000_000, 'acceleration'), 0.0, reckoned
        ))
    assert found[-1] == ends
    assert watch.estimate.reason == ('' if not ends else 'fit' if has_detected else 'reckoned')
