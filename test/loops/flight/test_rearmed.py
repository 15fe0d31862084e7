# SPDX-License-Identifier: Apache-2.0
"""A flight computer that a restart armed again on its pad lights nothing that waited for that."""
import math
from pathlib import Path

import numpy as np
import pytest
from flight_computer import CONFIG, Computer

from parts import few_of
from propulsion_ros.loops.flight.recorder import Boot


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
    second = Computer('pressure', boot=boot, state_file=path, at=4.5)
    second.feed(4.5, 12.0, motion=pad)
    assert second.flags['phase'] == 'launch'
    success, text = second.call('ignition')
    assert not success
    assert 'abort and launch again' in text
    second.feed(12.0, 13.0, motion=pad)
    second.command('liftoff_override')
    second.feed(13.0, 15.0, motion=pad)
    assert second.flags['phase'] == 'flight'
    rows = [row for _, row in second.host.of('~/engines')]
    assert all(np.nanmax(np.asarray(row.effort, float), initial=0.0) == 0.0 for row in rows)
    assert not second.fired


def climb(t):
    return 15.0 * t**2


@pytest.mark.parametrize(('motion', 'commands', 'restarts'), [
    pytest.param(pad, ['liftoff_override'], 1, id='an override on the pad'),
    pytest.param(climb, [], 1, id='a climb'),
    pytest.param(climb, [], 2, id='a climb after two restarts'),
])
@pytest.mark.parametrize('is_single', few_of([True, False], 2), ids=['single', 'repeating'])
def test_event_that_waited_for_ignition_is_spent(tmp_path, motion, commands, restarts, is_single):
    """Killed between the command and the event that it triggers, it lit the engine later."""
    path, now = str(tmp_path / 'flight.json'), [100.0]
    config = tmp_path / 'rocket.jsonc'
    text = Path(CONFIG).read_text()
    single = '"single_fire": true' if is_single else '"single_fire": false'
    assert text.count('"single_fire": true') > 2
    config.write_text(text.replace('"single_fire": true', single))
    boot = Boot('boot', lambda: round(now[0] * 1e9))
    settings = {'boot': boot, 'state_file': path, 'config_file': str(config)}
    computer = Computer('pressure', **settings)
    computer.feed(0.0, 2.0, motion=pad)
    computer.command('launch')
    computer.feed(2.0, 4.0, motion=pad)
    computer.command('ignition')
    t = 4.0
    for _ in range(restarts):
        now[0] += 0.5
        computer = Computer('pressure', at=t + 0.5, **settings)
        computer.feed(t + 0.5, t + 8.0, motion=pad)
        t += 8.0
        assert computer.flags['phase'] == 'launch'
    computer.command(*commands)
    begun = computer.loop.stamp_ns * 1e-9
    computer.feed(begun + 0.02, begun + 8.0, motion=lambda t: motion(t - begun))
    assert computer.flags['phase'] == 'flight'
    assert 'ignition' not in [name for name, _ in computer.fired]
    assert not any(1.0 in list(row.effort) for row in computer.values('~/engines'))
