# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math

import pytest

from propulsion_ros.flight.events.conditions import All, MoreThan
from propulsion_ros.flight.events.event_inputs import HeldValues
from propulsion_ros.flight.events.events import EventEngine, EventSpec
from propulsion_ros.flight.events.variables import Variables

NAN = math.nan
MS = 1_000_000


def test_a_value_stands_in_for_so_long_and_no_longer():
    held = HeldValues()
    held.update(Variables(0, position=(1.0, 2.0, 3.0), tilt=0.5))
    held.update(Variables(100 * MS, position=(NAN, 4.0, NAN)))
    aged = held.aged(100 * MS)
    assert (aged.position, aged.tilt, aged.clock_ns) == ((1.0, 4.0, 3.0), 0.5, 100 * MS)
    held.update(Variables(101 * MS, position=(NAN, NAN, NAN)))
    north, east, down = held.aged(100 * MS).position
    assert (math.isnan(north), east, math.isnan(down)) == (True, 4.0, True)


@pytest.mark.parametrize(('max_age_ms', 'fires'), [(0, False), (20, True), (10, False)])
def test_event_over_values_that_come_in_turns(max_age_ms, fires):
    both = All((MoreThan('Position', 2, -100.0), MoreThan('Velocity', 2, 1.0)))
    engine = EventEngine([EventSpec(0, 'low and falling', both, max_age_ns=max_age_ms * MS)])
    held = HeldValues()
    fired = []
    for i in range(5):
        variables = Variables(
            20 * i * MS,
            position=(0.0, 0.0, -50.0 if i % 2 == 0 else NAN),
            velocity=(0.0, 0.0, 5.0 if i % 2 == 1 else NAN),
        )
        held.update(variables)
        fired += engine.update(variables, 0, held.aged)
    assert bool(fired) == fires
