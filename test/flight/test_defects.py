# SPDX-License-Identifier: Apache-2.0
"""Safety defects of the flown software that no other test has, by what happens here instead."""
import pytest

from deployments import deployments
from flown_vehicle import DEPLOYERS, DROGUE, NAN, RATE, Motion, Vehicle, at_rest
from propulsion_ros.flight.events.conditions import MoreThan
from propulsion_ros.flight.events.events import Action, EventSpec
from propulsion_ros.flight.phases.phases import Phase

MS = 1_000_000
FALL = Motion(descent=1000.0)


@pytest.mark.parametrize('method', ['robust', 'legacy'])
def test_nothing_of_a_flight_outlives_it(method):
    vehicle = Vehicle(events=(DROGUE,), method=method)
    for start in (0.0, 100.0):
        def moved(t, start=start):
            return FALL(t - start)

        vehicle.t = start - 4.0
        vehicle.fly(start - 3.0, moved)
        assert vehicle.command('launch') == ''
        vehicle.fly(start + 1.0, moved)
        assert vehicle.state.phase is Phase.FLIGHT, 'no apogee of the flight before'
        assert vehicle.command('abort') == ''
        vehicle.fly(start + 10.0, at_rest)
        assert vehicle.command('reset') == ''
    assert vehicle.names == ['drogue', 'drogue']
    assert vehicle.command('launch') == ''
    vehicle.fly(118.0, at_rest)
    assert len(vehicle.fired) == 2, 'nothing on the pad'


def test_detection_works_a_minute_after_launch():
    vehicle = Vehicle(events=(DROGUE,)).arm()
    vehicle.fly(89.0, at_rest).fly(90.0 + FALL.apogee + 2.0, lambda t: FALL(t - 90.0))
    assert vehicle.state.apogee.source == 'detected'


def test_delays_count_from_the_decision():
    late = EventSpec(1, 'payload', MoreThan('TimeSinceApogee', 0, 10e3))
    vehicle = Vehicle(events=(DROGUE, late)).arm()
    vertex = FALL.apogee + 12.0
    # A feed that falls silent until long after the vertex that its fit predicts.
    vehicle.fly(FALL.apogee - 0.5, FALL).fly(vertex, lambda t: (NAN, NAN, NAN))
    (_, drogue), (_, payload) = vehicle.fly(vertex + 15.0, FALL).fired
    assert payload - drogue == pytest.approx(10.0, abs=0.021)


def test_every_action_keeps_its_own_parameter():
    events = tuple(
        EventSpec(i, f'{i}', MoreThan('TimeSinceLiftoff', 0, 100.0 * i),
                  (Action('deployment', 0, 100.0 + i), Action('deployment', 0, 200.0 + i)))
        for i in range(3)
    )
    vehicle = Vehicle(events=events).arm()
    on_times = []
    for i in range(-RATE, 2 * RATE):
        vehicle.fly((i + 1) / RATE, FALL)
        on_times += [command.on_time_ns // MS for command in deployments(vehicle.report, DEPLOYERS)]
    assert on_times == [100, 200, 101, 201, 102, 202]
