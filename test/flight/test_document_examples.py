# SPDX-License-Identifier: Apache-2.0
"""Both examples of the flown software's page against timelines by hand."""
from __future__ import annotations

import math

import pytest
from document_examples import MAIN_PARACHUTE, ONE_G_FOR_TWO_SECONDS

from deployments import deployments
from propulsion_ros.flight.apogee.estimate import ApogeeEstimate
from propulsion_ros.flight.events.variables import Sample
from propulsion_ros.flight.flight_state import FlightState
from propulsion_ros.flight.phases.params import FlightParams
from propulsion_ros.rml.config import read_flight_config

MS = 1_000_000


class NoDetector:
    """Never detects; apogee is commanded."""

    def expect_burn(self, may_light):
        pass

    def wait(self, stamp_ns):
        return self.update(stamp_ns)

    def reset(self):
        pass

    def withdraw(self):
        pass

    def update(self, stamp_ns, *values):
        return ApogeeEstimate(stamp_ns)


class Flown:
    """A flight through launch at 0 s, with liftoff and apogee commanded."""

    def __init__(self, text, semantics):
        config = read_flight_config(text, semantics)
        self.state = FlightState(
            FlightParams(), NoDetector(), config.events, config.deployers,
            semantics=semantics,
        )
        self.deployers, self.deployed = config.deployers, []

    def sample(self, ms, altitude, acceleration=0.0):
        # No feed repeats itself to the last digit: one that does is taken for frozen.
        report = self.state.update(
            Sample(ms * MS, altitude + 1e-6 * (ms % 7), 0.0, acceleration + 1e-7 * (ms % 11))
        )
        self.deployed += [
            (ms, command.name, command.on_time_ns // MS)
            for command in deployments(report, self.deployers)
        ]

    def command(self, name, ms):
        assert self.state.command(name, ms * MS) == ''

    def override_liftoff(self, ms):
        """Request it twice, as it must be."""
        assert 'request it again' in self.state.command('liftoff_override', ms * MS)
        self.command('liftoff_override', ms)


@pytest.mark.parametrize('semantics', ['safe', 'legacy'])
def test_main_parachute_at_500_m_after_apogee(semantics):
    flown = Flown(MAIN_PARACHUTE, semantics)
    flown.sample(0, 0.0)
    flown.command('launch', 0)
    # Below 500 m on the way up and without an apogee: nothing. Above it after apogee: nothing.
    for ms, altitude in ((100, 0.0), (200, 300.0), (300, 700.0)):
        flown.sample(ms, altitude)
    flown.override_liftoff(300)
    for ms, altitude in ((400, 900.0), (500, 499.0), (600, 1000.0)):
        flown.sample(ms, altitude)
    flown.command('apogee_override', 600)
    for ms, altitude in ((700, 900.0), (800, 500.1), (900, 500.0 - 1e-3), (1000, 300.0),
                         (1100, 299.0), (1200, 298.0)):
        flown.sample(ms, altitude)
    # In safe semantics an altitude must call for a deployment for 0.3 s.
    assert flown.deployed == [(1200 if semantics == 'safe' else 900, 'deployer_1', 10000)]


@pytest.mark.parametrize(
    ('semantics', 'boost', 'expected'),
    [
        # The condition "less than 1 g upward" last holds at 1000 ms.
        pytest.param('safe', range(1100, 4000, 100), 3000, id='safe'),
        pytest.param('legacy', range(1100, 4000, 100), 3000, id='legacy'),
        pytest.param('safe', range(1100, 3000, 100), None, id='safe, a boost of 1.9 s'),
        pytest.param('legacy', range(1100, 3000, 100), None, id='legacy, a boost of 1.9 s'),
    ],
)
def test_one_g_for_two_seconds(semantics, boost, expected):
    flown = Flown(ONE_G_FOR_TWO_SECONDS, semantics)
    flown.sample(0, 0.0)
    flown.command('launch', 0)
    flown.override_liftoff(0)
    for ms in range(100, 5000, 100):
        flown.sample(ms, 0.0, 15.0 if ms in boost else 0.0)
    assert flown.deployed == ([(expected, 'deployer_1', 10000)] if expected else [])


@pytest.mark.parametrize(('semantics', 'fires'), [('safe', False), ('legacy', True)])
def test_silence_for_two_seconds_is_a_boost_to_the_flown_software_alone(semantics, fires):
    flown = Flown(ONE_G_FOR_TWO_SECONDS, semantics)
    flown.sample(0, 0.0)
    flown.command('launch', 0)
    flown.override_liftoff(0)
    for ms in range(100, 5000, 100):
        flown.sample(ms, 0.0, 0.0 if ms < 1000 else math.nan)
    assert bool(flown.deployed) == fires
