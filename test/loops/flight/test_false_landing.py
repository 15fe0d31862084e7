# SPDX-License-Identifier: Apache-2.0
"""A sensor that stands still is no vehicle that has landed, and no landing is for ever."""
from pathlib import Path

import pytest
from flight_computer import APOGEE, CONFIG, Computer, altitude

THANOS = str(Path(CONFIG).with_name('thanos_flight.jsonc'))


@pytest.mark.parametrize('source', ['pressure', 'odometry'])
def test_charge_of_the_descent_fires_though_the_altitude_was_frozen(source):
    def frozen(t):
        return altitude(APOGEE + 3.0 if APOGEE + 3.0 < t < APOGEE + 9.5 else t)

    computer = Computer(source, config_file=THANOS)
    computer.feed(0.0, 2.0)
    computer.command('launch')
    computer.feed(2.0, 40.0, motion=frozen)
    names = [name for name, _ in computer.fired]
    assert 'drogue parachute' in names
    assert 'main parachute' in names
