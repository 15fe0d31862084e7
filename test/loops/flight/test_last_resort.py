# SPDX-License-Identifier: Apache-2.0
"""Whatever sensors and stamps do in the air, the backup timer fires the drogue, by steady time.

A walk is one flight whose sensor has one fault after another, from a random moment on at which the
ascent has been seen.
"""
import math

import numpy as np
import pytest
from flight_computer import APOGEE, LIFTOFF, PERIOD, Computer, altitude, odometry

from fake_host import message
from parts import amount
from propulsion_ros.models.common.atmosphere import temperature_and_pressure

WALKS = amount('walks', 2, 100)
pytestmark = pytest.mark.part('walks')

LIMIT = 16.0  # of the backup timer [s]
LATEST = LIMIT + 4.0  # after ignition: liftoff may be seen 1 s late, and stamps may lag by 1 s
FAULTS = {
    'silent': lambda rng, since, h, v: None,
    'unknown': lambda rng, since, h, v: (math.nan, math.nan),
    'wild': lambda rng, since, h, v: tuple(rng.normal(0.0, 10.0 ** rng.integers(0, 5), 2)),
    'too fast': lambda rng, since, h, v: (h, 100.0 + rng.normal()),
    'climbs': lambda rng, since, h, v: (500.0 + 60.0 * since, 60.0),
    'off': lambda rng, since, h, v: (h + 500.0, v + 60.0),
    'stuck': lambda rng, since, h, v: (500.0, 60.0),
}
PACES = {'stopped': 0.0, 'slow': 0.2, 'fast': 3.0}
LEAPS = (-1e6, -100.0, -3.0, -0.3, 0.3, 3.0, 100.0, 1e6)


def drogue_after(seed):
    """Return when the drogue is fired after ignition [s], None for never, and the faults."""
    rng = np.random.default_rng(seed)
    source = str(rng.choice(['pressure', 'odometry']))
    computer = Computer(source, on_time_clock='steady', **{'flight.max_ascent_time': LIMIT}).fly()
    t = stamp = rng.uniform(LIFTOFF + 2.0, APOGEE + 1.0)
    computer.feed(2.0, t)
    log, ends = [], 0.0
    while t < LIFTOFF + LATEST + 20.0 and not computer.fired:
        if t >= ends:
            fault = str(rng.choice([*FAULTS, *PACES, 'leaps']))
            begun, ends = t, t + rng.choice([0.3, 1.0, 3.0, 10.0, 40.0])
            stamp += rng.choice(LEAPS) if fault == 'leaps' else 0.0
            log.append((round(t - LIFTOFF, 2), fault))
        t, stamp = t + PERIOD, stamp + PERIOD * PACES.get(fault, 1.0)
        computer.wait(PERIOD)
        found = altitude(t) + rng.normal(), (altitude(t + 1e-4) - altitude(t)) / 1e-4
        if fault in FAULTS:
            found = FAULTS[fault](rng, t - begun, *found)
        if found is not None:
            computer.host.deliver(f'~/{source}', measured(source, stamp, *found))
    return (t - LIFTOFF if computer.fired else None), log


def measured(source, stamp, height, climb):
    stamp_ns = max(round(stamp * 1e9), 0)
    if source == 'odometry':
        return odometry(stamp_ns, 120.0 + height, climb)
    height = min(max(height, -2e3), 2e4)
    pressure = math.nan if math.isnan(height) else temperature_and_pressure(120.0 + height)[1]
    return message(stamp_ns, fluid_pressure=float(pressure))


@pytest.mark.parametrize('seed', range(WALKS))
def test_drogue_is_fired_by_the_backup_timer_at_the_latest(seed):
    after, log = drogue_after(seed)
    assert after is not None, log
    assert after < LATEST, log
