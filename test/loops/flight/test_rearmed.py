# SPDX-License-Identifier: Apache-2.0
"""A flight computer that a restart armed again on its pad lights nothing."""
from __future__ import annotations

import math

import numpy as np
from flight_computer import Computer

from propulsion_ros.loops.flight.boot import Boot


def pad(t):
    return 0.05 * math.sin(37.0 * t)


def test_rearmed_it_refuses_ignition_and_an_override_lights_no_engine(tmp_path):
    path, now = str(tmp_path / 'flight.json'), [100.0]
    boot = Boot('boot', lambda: round(now[0] * 1e9))
    first = Computer('pressure', boot=boot, state_file=path)
    first.feed(0.0, 2.0, motion=pad)
    first.command('launch')
    first.feed(2.0, 4.0, motion=pad)
    now[0] += 0.5
    second = Computer('pressure', boot=boot, state_file=path)
    second.feed(4.5, 9.0, motion=pad)
    assert second.flags['phase'] == 'launch'
    success, text = second.call('ignition')
    assert not success
    assert 'abort and launch again' in text
    second.feed(9.0, 10.0, motion=pad)
    second.command('liftoff_override')
    second.feed(10.0, 12.0, motion=pad)
    assert second.flags['phase'] == 'flight'
    rows = [row for _, row in second.host.of('~/engines')]
    assert all(np.nanmax(np.asarray(row.effort, float), initial=0.0) == 0.0 for row in rows)
    assert not second.fired
