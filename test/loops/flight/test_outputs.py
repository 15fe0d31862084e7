# SPDX-License-Identifier: Apache-2.0
"""What a flight computer publishes of its estimates, and in which phase."""
import pytest
from flight_computer import APOGEE, LIFTOFF, MAIN, TOP, launched, rested


def test_the_apogee_is_predicted_while_the_vehicle_climbs_and_not_after():
    computer = launched(LIFTOFF)
    assert not computer.values('~/predicted_apogee')
    computer.feed(LIFTOFF, APOGEE + 1.0)
    assert computer.values('~/phase')[-1] == 'recovery'
    predictions = computer.host.of('~/predicted_apogee')
    assert len(predictions) > 10
    stamp_ns, (_, _, height) = predictions[-1]
    assert stamp_ns * 1e-9 == pytest.approx(APOGEE, abs=0.1)
    assert height == pytest.approx(TOP, abs=2.0)
    fits = len(computer.values('~/fit'))
    computer.feed(APOGEE + 1.0, APOGEE + 4.0)
    assert len(computer.values('~/fit')) > fits
    assert computer.host.of('~/predicted_apogee') == predictions


def test_an_apogee_by_the_timer_is_logged_without_an_altitude():
    """The log had an apogee of nan m."""
    computer = launched(APOGEE, **{'flight.max_ascent_time': 5.0})
    (line,) = [line for line in computer.host.said('info') if line.startswith('apogee')]
    assert line.startswith('apogee, its altitude unknown, at ')
    assert line.endswith(' s (timer)')


@pytest.mark.parametrize(('until', 'lines'), [
    pytest.param(LIFTOFF - 1.0, (), id='on the pad'),
    pytest.param(LIFTOFF + 2.0, (
        "'drogue' never fired: 'drogue parachute' needs time since apogee >= 0 s; last time since "
        'apogee unknown', "'main' never fired: ",
    ), id='in the ascent'),
    pytest.param(MAIN - 2.0, (
        "'main' never fired: 'main parachute' needs (altitude <= 450 m and time since apogee >= "
        '0 s) for 0.3 s; last altitude 48',
    ), id='before the main'),
    pytest.param(MAIN + 1.0, (), id='all fired'),
])
def test_charges_that_never_fired_are_named_with_their_last_values(until, lines):
    computer = launched(until)
    computer.loop.conclude()
    found = [line for line in computer.warnings if 'never fired' in line]
    assert len(found) == len(lines)
    assert all(map(str.startswith, found, lines)), found


UNARMED = 'was never armed, so no event fired: {}'.format


@pytest.mark.parametrize(('settings', 'commands', 'until', 'line'), [
    pytest.param({}, [], 3.0, UNARMED('call the service ~/launch by a controller or ros2 service '
                                      'call'), id='never armed'),
    pytest.param({}, ['ignition'], 3.0, UNARMED('what was refused is above'), id='refused'),
    pytest.param({'config_file': ''}, [], 3.0, '', id='without events'),
    pytest.param({'is_simulated': False}, [], 3.0, '', id='robot that is switched off'),
    pytest.param({}, ['launch'], 3.0, "was armed and saw no liftoff; 'ignition' waits for the "
                 'service ~/ignition', id='not lit'),
    pytest.param({}, ['launch', 'ignition'], 3.0, 'was armed and saw no liftoff', id='lit'),
    pytest.param({}, ['launch', 'abort'], 3.0, '', id='aborted'),
    pytest.param({}, ['launch'], LIFTOFF + 2.0, '', id='lifted off'),
])
def test_a_simulated_flight_without_a_liftoff_ends_with_a_line(settings, commands, until, line):
    """A service that a pilot misspelt left the rocket on the pad, and nothing told why."""
    computer = rested(**{'is_simulated': True, **settings})
    for command in commands:
        computer.call(command)
        computer.feed(2.0, 2.5)
    computer.feed(2.5, until)
    computer.loop.stop()
    found = [text for text in computer.host.said('info') if ' armed' in text]
    assert found == [line] * bool(line)


def test_the_sub_phase_is_published_where_it_changes():
    computer = launched(APOGEE + 1.0)
    assert computer.values('~/subphase') == ['', 'boost', 'coast', 'descent']
