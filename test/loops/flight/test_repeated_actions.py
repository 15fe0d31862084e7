# SPDX-License-Identifier: Apache-2.0
"""What a kill may have lost of a spent event, and is the same done twice, is commanded again."""
from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from flight_computer import CONFIG, Computer, altitude

THANOS = str(Path(CONFIG).with_name('thanos_flight.jsonc'))


class KilledError(Exception):
    pass


def test_servo_is_turned_again_after_a_kill_as_its_event_was_published(tmp_path):
    path = str(tmp_path / 'flight.json')
    first = Computer(config_file=THANOS, state_file=path)
    first.feed(0.0, 2.0)
    first.command('launch')
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
