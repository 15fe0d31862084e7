# SPDX-License-Identifier: Apache-2.0
"""Safety defects of the flown software that no other test has, by what happens here instead."""
from __future__ import annotations

import math

import pytest

from deployments import deployments
from propulsion_ros.flight.apogee.detector import ApogeeDetector
from propulsion_ros.flight.apogee.params import ApogeeParams
from propulsion_ros.flight.detectors import make_detector
from propulsion_ros.flight.events.conditions import MoreThan
from propulsion_ros.flight.events.events import Action, EventSpec
from propulsion_ros.flight.events.variables import Sample
from propulsion_ros.flight.flight_state import FlightState
from propulsion_ros.flight.phases.params import FlightParams
from propulsion_ros.flight.phases.phases import Phase
from propulsion_ros.flight.pyros.deployers import DeployerSpec

NAN = math.nan
S, MS = 1_000_000_000, 1_000_000
RATE, G = 50, 9.80665
BURN, NET = 3.0, 30.0
BURNOUT_SPEED, BURNOUT = NET * BURN, 0.5 * NET * BURN**2
APOGEE = BURN + BURNOUT_SPEED / G
PYRO = DeployerSpec(0, 'drogue')
DROGUE = EventSpec(
    0, 'drogue', MoreThan('TimeSinceApogee', 0, 0.0), (Action('deployment', 0, 1000.0),)
)


def motion(t):
    """Return altitude, velocity and acceleration t seconds after liftoff; the fall is free."""
    if t < 0.0:
        return 0.0, 0.0, 0.0
    if t < BURN:
        return 0.5 * NET * t * t, NET * t, NET
    s = t - BURN
    return BURNOUT + BURNOUT_SPEED * s - 0.5 * G * s * s, BURNOUT_SPEED - G * s, -G


class Flight:
    """A flight state fed at 50 Hz, time in seconds after liftoff."""

    def __init__(self, events=(DROGUE,), detector=None, begin=-3.0, **params):
        detector = detector or ApogeeDetector(ApogeeParams())
        self.state = FlightState(FlightParams(**params), detector, events, (PYRO,))
        self.events, self.begin, self.report = events, begin, None
        self.fired = []

    def feed(self, start, stop, at=motion):
        for i in range(round(start * RATE), round(stop * RATE)):
            values = [value + 1e-4 * (-1) ** i for value in at(i / RATE)]
            self.sample(i / RATE, *values)
        return self

    def sample(self, t, *values, **more):
        self.report = self.state.update(Sample(round((t + 1000.0) * S), *values, **more))
        self.fired += [(event.name, t) for event in self.report.events]

    def command(self, name, t):
        return self.state.command(name, round((t + 1000.0) * S))

    def armed(self):
        self.feed(self.begin - 1.0, self.begin)
        assert self.command('launch', self.begin) == ''
        return self.feed(self.begin, 0.0)


@pytest.mark.parametrize('method', ['robust', 'legacy'])
def test_nothing_of_a_flight_outlives_it(method):
    flight = Flight(detector=make_detector(ApogeeParams(method=method)))
    for start in (0.0, 100.0):
        def moved(t, start=start):
            return motion(t - start)

        flight.feed(start - 4.0, start - 3.0, moved)
        assert flight.command('launch', start - 3.0) == ''
        flight.feed(start - 3.0, start + 1.0, moved)
        assert flight.state.phase is Phase.FLIGHT, 'no apogee of the flight before'
        assert flight.command('abort', start + 1.0) == ''
        flight.feed(start + 1.0, start + 10.0, lambda t: (0.0, 0.0, 0.0))
        assert flight.command('reset', start + 10.0) == ''
    assert [name for name, _ in flight.fired] == ['drogue', 'drogue']
    assert flight.command('launch', 110.0) == ''
    flight.feed(110.0, 118.0, lambda t: (0.0, 0.0, 0.0))
    assert len(flight.fired) == 2, 'nothing on the pad'


def test_detection_works_a_minute_after_launch():
    flight = Flight(begin=-90.0).armed().feed(0.0, APOGEE + 2.0)
    assert flight.state.apogee.source == 'detected'


def test_delays_count_from_the_decision():
    late = EventSpec(1, 'payload', MoreThan('TimeSinceApogee', 0, 10e3))
    flight = Flight(events=(DROGUE, late))
    vertex = APOGEE + 12.0
    flight.armed()
    # A feed that falls silent until long after the vertex that its fit predicts.
    flight.feed(0.0, APOGEE - 0.5)
    flight.feed(APOGEE - 0.5, vertex, lambda t: (NAN, NAN, NAN))
    flight.feed(vertex, vertex + 15.0)
    (_, drogue), (_, payload) = flight.fired
    assert payload - drogue == pytest.approx(10.0, abs=0.021)


def test_every_action_keeps_its_own_parameter():
    events = tuple(
        EventSpec(i, f'{i}', MoreThan('TimeSinceLiftoff', 0, 100.0 * i),
                  (Action('deployment', 0, 100.0 + i), Action('deployment', 0, 200.0 + i)))
        for i in range(3)
    )
    flight = Flight(events=events).armed()
    on_times = []
    for i in range(100):
        flight.feed(i / RATE, (i + 1) / RATE)
        on_times += [
            command.on_time_ns // MS for command in deployments(flight.report, (PYRO,))
        ]
    assert on_times == [100, 200, 101, 201, 102, 202]
