# SPDX-License-Identifier: Apache-2.0
"""What a kill may have lost of a spent event, and is the same done twice, is commanded again."""
from pathlib import Path

import numpy as np
import pytest
from flight_computer import APOGEE, CONFIG, Computer, altitude

THANOS = str(Path(CONFIG).with_name('thanos_flight.jsonc'))


class KilledError(Exception):
    pass


def test_servo_is_turned_again_after_a_kill_as_its_event_was_published(tmp_path):
    path = str(tmp_path / 'flight.json')
    first = Computer(config_file=THANOS, state_file=path).fly()
    publish = first.host.publish

    def kill(outlet, stamp_ns, payload):
        if outlet.topic == '~/events' and any('drogue' in row.name for row in payload):
            raise KilledError
        publish(outlet, stamp_ns, payload)

    first.host.publish = kill
    with pytest.raises(KilledError):
        first.feed(2.0, 40.0)
    second = Computer(config_file=THANOS, state_file=path)
    second.feed(17.0, 20.0, motion=altitude)
    positions = [row.position for row in second.values('~/deployers')]
    assert any(np.isfinite(np.asarray(row, float)).any() for row in positions)


@pytest.mark.parametrize(('away', 'until'), [
    pytest.param(0.0, 1.0, id='connected'),
    pytest.param(0.7, 1.7, id='soon'),
    pytest.param(3.9, 4.9, id='late'),
    pytest.param(9.0, 5.0, id='never'),
])
def test_pulse_is_given_whole_to_a_driver_that_is_connected_late(away, until):
    """After a restart a driver received the end of a pulse, or nothing of it."""
    computer = Computer(on_time_clock='steady')
    driver = computer.host.receivers.pop('~/deployers')
    if away == 0.0:
        computer.host.receivers['~/deployers'] = driver
    computer.feed(0.0, 2.0)
    computer.command('launch')
    publish, received = computer.host.publish, []

    def see(outlet, stamp_ns, payload):
        if outlet.topic == '~/deployers' and payload.effort[0] == 1.0:
            received.append(computer.host.steady * 1e-9)
            if received[-1] - received[0] >= away:
                computer.host.receivers['~/deployers'] = driver
        publish(outlet, stamp_ns, payload)

    computer.host.publish = see
    computer.feed(2.0, APOGEE + 8.0)
    assert received[-1] - received[0] == pytest.approx(until, abs=0.15)


@pytest.mark.parametrize('period', [0.3, 0.8])
def test_driver_that_comes_and_goes_does_not_prolong_a_pulse_for_as_long(period):
    computer = Computer(on_time_clock='steady').fly()
    driver, on = computer.host.receivers['~/deployers'], []
    publish = computer.host.publish

    def see(outlet, stamp_ns, payload):
        now = computer.host.steady * 1e-9
        if outlet.topic == '~/deployers' and payload.effort[0] == 1.0:
            on.append(now)
        if on and int((now - on[0]) / period) % 2:
            computer.host.receivers.pop('~/deployers', None)
        else:
            computer.host.receivers['~/deployers'] = driver
        publish(outlet, stamp_ns, payload)

    computer.host.publish = see
    computer.feed(2.0, APOGEE + 20.0)
    # Four seconds from its begin, and one whole pulse of 1 s.
    assert 1.0 - 0.15 < on[-1] - on[0] < 5.15
