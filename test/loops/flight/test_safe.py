# SPDX-License-Identifier: Apache-2.0
"""`~/safe`, requested twice, disarms in every phase, fires nothing and outlives a restart."""
import itertools
import math
from pathlib import Path

import numpy as np
import pytest
from flight_computer import (
    APOGEE,
    CONFIG,
    MAIN,
    Computer,
    altitude,
    interrupted,
    launched,
    request,
    rested,
)

from propulsion_ros.loops.flight.record_file import read_state


def to_flight(computer):
    computer.command('launch')
    computer.feed(2.0, 8.0)


def to_recovery(computer):
    computer.command('launch')
    computer.feed(2.0, APOGEE + 4.0)
    assert [name for name, _ in computer.fired] == ['drogue parachute']


def to_debug_flight(computer):
    computer.command('debug', 'liftoff_override')
    computer.feed(2.0, 2.1)


PHASES = [
    pytest.param('preflight', lambda computer: None, id='preflight'),
    pytest.param('launch', lambda computer: computer.command('launch'), id='launch'),
    pytest.param('flight', to_flight, id='flight'),
    pytest.param('recovery', to_recovery, id='recovery'),
    pytest.param('debug', lambda computer: computer.command('debug'), id='debug'),
    pytest.param('flight', to_debug_flight, id='flight of the bench'),
]


def lit(computer):
    """Return whether any engine or igniter was ever on."""
    rows = computer.values('~/engines')
    return any(np.nanmax(np.asarray(row.effort, float), initial=0.0) > 0.0 for row in rows)


@pytest.mark.parametrize('is_simulated', [False, True], ids=['robot', 'simulation'])
@pytest.mark.parametrize(('phase', 'prepare'), PHASES)
def test_two_requests_disarm_and_nothing_fires_any_more(tmp_path, phase, prepare, is_simulated):
    path = tmp_path / 'flight.json'
    computer = Computer(is_simulated=is_simulated, state_file=str(path))
    computer.feed(0.0, 2.0)
    prepare(computer)
    assert computer.flags['phase'] == phase
    fired, t = list(computer.fired), computer.loop.stamp_ns * 1e-9 + 0.02
    success, text = computer.call('safe')
    assert not success
    assert text.startswith("'safe' is not done yet: it disarms, and every charge")
    assert text.endswith('is given up: request it again within 5 s')
    computer.feed(t, t + 0.6)
    assert computer.flags['phase'] == phase, 'one request changes nothing'
    assert computer.call('safe')[0]
    computer.feed(t + 0.6, t + 2.0)
    assert computer.flags['phase'] == 'preflight'
    assert not read_state(path).snapshot.phase.is_armed
    end = MAIN + 1.0 if phase == 'recovery' else APOGEE + 3.0
    computer.feed(t + 2.0, end)
    assert computer.fired == fired
    assert not lit(computer)
    restarted = Computer(is_simulated=is_simulated, state_file=str(path), at=end)
    restarted.feed(end, end + 3.0)
    assert restarted.flags['phase'] == 'preflight'
    assert not restarted.fired


def test_pulse_is_cut_and_nothing_of_it_is_owed(tmp_path):
    path = tmp_path / 'flight.json'
    config = tmp_path / 'rocket.jsonc'
    config.write_text(Path(CONFIG).read_text().replace('"param": 1000', '"param": 9000'))
    computer = Computer(config_file=str(config), state_file=str(path)).fly(APOGEE + 1.0)
    assert computer.on('drogue')
    assert read_state(path).pulses
    computer.command('safe')
    cut = computer.loop.stamp_ns * 1e-9
    computer.feed(cut + 0.02, cut + 1.0)
    assert computer.on('drogue')[-1] <= cut
    assert read_state(path).pulses == ()
    assert "the pulse of 'drogue' that event 0 owes is void: the phase is preflight" in (
        computer.warnings
    )


def test_flight_that_waits_to_be_resumed_is_given_up_for_good(tmp_path):
    path = tmp_path / 'flight.json'
    interrupted(path, APOGEE + 3.0)
    waiting = Computer(state_file=str(path))
    waiting.command('safe')
    assert 'resuming' not in waiting.flags['flags']
    waiting.feed(APOGEE + 4.0, MAIN + 3.0)
    again = Computer(state_file=str(path), at=MAIN)
    again.feed(APOGEE + 4.0, MAIN + 3.0)
    for computer in (waiting, again):
        assert computer.flags['phase'] == 'preflight'
        assert not computer.fired
        assert not computer.on('drogue')


def test_flight_that_waits_to_be_resumed_is_not_given_up_by_a_program(tmp_path):
    """It may be in the air, where a stream of requests cost every charge that was still due."""
    path = tmp_path / 'flight.json'
    interrupted(path, APOGEE + 3.0)
    waiting = Computer(state_file=str(path))
    for _ in range(4):
        assert not waiting.call('safe')[0]
    waiting.feed(APOGEE + 4.0, MAIN + 3.0)
    assert waiting.flags['phase'] == 'recovery'
    assert waiting.on('main')


def test_engines_that_a_process_before_has_lit_are_commanded_off_though_no_sample_comes(tmp_path):
    config = str(Path(CONFIG).with_name('thanos_flight.jsonc'))
    path = tmp_path / 'flight.json'
    first = Computer('pressure', config_file=config, state_file=str(path), on_time_clock='steady')
    first.feed(0.0, 2.0)
    first.command('launch')
    first.feed(2.0, 8.0)
    assert read_state(path).snapshot.phase.value == 'flight'
    second = Computer('pressure', config_file=config, state_file=str(path), on_time_clock='steady')
    second.wait(0.5)
    assert not second.values('~/engines'), 'how they stand is unknown'
    second.command('safe')
    second.wait(0.2)
    row = second.values('~/engines')[-1]
    on = [effort for effort in row.effort if not math.isnan(effort)]
    assert on == [0.0] * len(on)
    assert on


def test_requests_that_wait_are_dropped_and_older_ones_are_refused():
    computer = rested()
    computer.call('safe')
    computer.wait(0.6)
    stamp_ns = computer.loop._request_time() + 90_000_000
    computer.host.deliver('~/request', request(stamp_ns, 'launch'))
    assert computer.call('safe')[0]
    computer.wait(0.1)
    assert "request 'launch' is dropped: 'safe' came" in computer.warnings
    ended_ns = computer.loop._request_time()
    computer.host.deliver('~/request', request(ended_ns - 150_000_000, 'debug'))
    assert "request 'debug' is refused: stamped before 'safe'" in computer.warnings
    computer.feed(2.0, 3.0, motion=lambda t: 0.0)
    assert computer.flags['phase'] == 'preflight'


def test_no_change_of_phase_takes_it_back():
    computer = launched(APOGEE - 1.0)
    assert not computer.call('safe')[0]
    computer.feed(APOGEE - 1.0, APOGEE - 0.4)
    assert computer.call('safe')[0]
    computer.feed(APOGEE - 0.4, APOGEE + 4.0)
    phases = [phase for phase, _ in itertools.groupby(computer.values('~/phase'))]
    assert phases[-2:] == ['recovery', 'preflight']
    computer.feed(APOGEE + 4.0, MAIN + 1.0)
    assert 'main parachute' not in [name for name, _ in computer.fired]


def test_no_refused_abort_takes_it_back():
    computer = rested()
    to_recovery(computer)
    t = APOGEE + 4.0
    computer.call('safe')
    computer.feed(t, t + 0.6)
    assert computer.call('safe')[0]
    assert not computer.call('abort')[0]
    computer.feed(t + 0.6, t + 2.0)
    assert computer.flags['phase'] == 'preflight'


@pytest.mark.parametrize('prepare', [
    pytest.param(lambda computer: computer.command('launch'), id='launch'),
    pytest.param(lambda computer: computer.command('debug'), id='debug'),
])
def test_on_the_ground_it_is_followed_however_often_and_fast_it_is_pressed(prepare):
    """Who presses it in a hurry was taken for a program."""
    computer = rested()
    prepare(computer)
    replies = []
    for i in range(4):
        computer.feed(2.0 + 0.1 * i, 2.1 + 0.1 * i)
        replies.append(computer.call('safe')[0])
    assert replies[:2] == [False, True]
    assert computer.flags['phase'] == 'preflight'


def test_after_a_mistaken_override_it_is_followed_as_fast():
    """Requests in a hurry were refused as a stream, and both charges fired at the timer."""
    def rests(t):
        return 0.2 * math.sin(40.0 * t)

    computer = Computer(**{'flight.max_ascent_time': 10.0})
    computer.feed(0.0, 12.0, motion=rests)
    computer.command('launch')
    computer.call('liftoff_override')
    computer.feed(12.0, 13.0, motion=rests)
    assert computer.call('liftoff_override')[0]
    computer.feed(13.0, 16.0, motion=rests)
    assert computer.flags['phase'] == 'flight'
    replies = []
    for i in range(4):
        computer.feed(16.0 + 0.1 * i, 16.1 + 0.1 * i, motion=rests)
        replies.append(computer.call('safe')[0])
    assert replies[:2] == [False, True]
    computer.feed(16.4, 40.0, motion=rests)
    assert computer.flags['phase'] == 'preflight'
    assert not computer.fired


@pytest.mark.parametrize('motion', [
    pytest.param(lambda t: 0.0, id='rest'), pytest.param(altitude, id='climb'),
])
def test_after_a_restart_on_the_pad_it_is_followed_as_fast_where_it_rests(tmp_path, motion):
    """It was taken for a program there, and armed itself again."""
    path = tmp_path / 'flight.json'
    before = Computer(state_file=str(path))
    before.feed(0.0, 2.0, motion=lambda t: 0.0)
    before.command('launch')
    before.feed(2.0, 5.0, motion=lambda t: 0.0)
    waiting = Computer(state_file=str(path), at=7.0)
    waiting.feed(7.0, 7.6, motion=motion)
    rests = motion(7.0) == 0.0
    replies = []
    for i in range(3):
        replies.append(waiting.call('safe')[0])
        waiting.feed(7.6 + 0.1 * i, 7.7 + 0.1 * i, motion=motion)
    assert any(replies) == rests
    waiting.feed(8.0, 18.0, motion=motion)
    assert waiting.flags['phase'] == 'preflight' or not rests


def test_in_the_air_it_must_be_made_slowly():
    computer = rested()
    to_flight(computer)
    t = computer.loop.stamp_ns * 1e-9 + 0.02
    for i in range(4):
        computer.feed(t + 0.1 * i, t + 0.1 * (i + 1))
        assert not computer.call('safe')[0]
    computer.feed(t + 0.4, t + 3.0)
    assert computer.flags['phase'] == 'flight'
