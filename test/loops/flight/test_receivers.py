# SPDX-License-Identifier: Apache-2.0
"""A robot is not armed where no node receives its charges; one that is fired then is an error."""
import pytest
from flight_computer import APOGEE, Computer

from parts import few_of
from propulsion_ros.loops.flight.actuation import Receivers, is_recorder
from propulsion_ros.loops.flight.params import FlightLoopParams
from propulsion_ros.replay.recorder import RECORDER
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.flat import build

S = 10**9
PYROS, ENGINES = '~/deployers', '~/engines'


@pytest.mark.parametrize(('node', 'expected'), [
    ('/rosbag2_recorder', True), ('/fleet/one/rosbag2_recorder', True), ('/recorder', True),
    ('/rosbag2_recorder_2', True), ('/_ros2cli_4711', True), ('/live_view', True),
    (f'/{RECORDER}', True),
    ('/pyro_driver', False), ('/recorder/driver', False), ('/recorders', False),
    ('/_CREATED_BY_BARE_DDS_APP_', False),
])
def test_recorders_are_known_by_their_names(node, expected):
    assert is_recorder(node) is expected


@pytest.mark.parametrize(('required', 'pyros', 'engines', 'problem'), [
    pytest.param((), ['/a'], ['/b'], '', id='any node'),
    pytest.param((), ['/rosbag2_recorder', '/a'], ['/b'], '', id='beside a recorder'),
    pytest.param((), [], ['/b'], 'no node but recorders receives ~/deployers', id='nobody'),
    pytest.param((), ['/rosbag2_recorder'], ['/x/recorder'],
                 'no node but recorders receives ~/deployers; '
                 'no node but recorders receives ~/engines', id='recorders alone'),
    pytest.param(('a',), ['/fleet/a'], ['/a'], '', id='by name in any namespace'),
    pytest.param(('/one/a',), ['/one/a'], ['/one/a'], '', id='by full name'),
    pytest.param(('a', 'b'), ['/a'], ['/b'], '', id='each drives one of them'),
    pytest.param(('recorder',), ['/recorder'], ['/recorder'], '', id='a driver of such a name'),
    pytest.param(('/one/a',), ['/two/a'], ['/two/a'],
                 "node '/one/a' receives none of ~/deployers, ~/engines; "
                 'no node of receivers receives ~/deployers; '
                 'no node of receivers receives ~/engines', id='of another vehicle'),
    pytest.param(('a', 'b'), ['/a'], ['/a'], "node 'b' receives none of ~/deployers, ~/engines",
                 id='one is missing'),
    pytest.param(('a',), ['/a'], ['/b'], 'no node of receivers receives ~/engines',
                 id='another node'),
])
def test_what_is_missing_is_named(required, pyros, engines, problem):
    receivers = Receivers(required, (PYROS, ENGINES))
    receivers.note(S, {PYROS: pyros, ENGINES: engines})
    assert receivers.problem(S) == problem


def test_graph_that_was_not_looked_at_for_long_is_unknown():
    receivers = Receivers((), (PYROS,))
    assert receivers.problem(S) == 'which nodes receive what is commanded is unknown'
    receivers.note(S, {PYROS: ['/a']})
    assert receivers.problem(4 * S) == ''
    assert 'unknown' in receivers.problem(4 * S + 1)
    assert Receivers((), ()).problem(S) == ''


@pytest.mark.parametrize('name', ['', 'a b', '/a/', '~/a', 'one/a'])
def test_name_of_no_node_is_refused(name):
    with pytest.raises(ConfigError, match="'receivers': expected names of nodes, got"):
        build(FlightLoopParams, {'receivers': ('/one/b', 'c', name)})


def rested(nodes=(), **settings):
    computer = Computer(**{'required_checks': ('altitude', 'receivers'), **settings})
    computer.host.receivers = {'~/deployers': nodes, '~/engines': ['/driver']}
    computer.feed(0.0, 2.0)
    return computer


@pytest.mark.parametrize(('settings', 'is_refused'), [
    pytest.param({}, True, id='robot'),
    pytest.param({'nodes': ['/rosbag2_recorder']}, True, id='robot with a recorder'),
    pytest.param({'nodes': ['/driver']}, False, id='robot with a driver'),
    pytest.param({'nodes': ['/driver'], 'receivers': ('pyros',)}, True, id='of another name'),
    pytest.param({'required_checks': ('altitude',)}, False, id='taken off'),
    pytest.param({'is_simulated': True}, False, id='simulation'),
    pytest.param({'replay': True}, False, id='replay'),
])
def test_launch_is_refused_where_a_receiver_is_missing(settings, is_refused):
    computer = rested(**settings)
    success, text = computer.call('launch')
    assert success is not is_refused
    if is_refused:
        assert 'receives ~/deployers' in text
        assert 'receivers' in computer.flags['not_ready'].split()


def test_driver_that_comes_makes_the_robot_ready_within_a_second():
    computer = rested()
    computer.host.receivers['~/deployers'] = ['/driver']
    computer.feed(2.0, 3.1)
    assert 'receivers' not in computer.flags['not_ready'].split()
    computer.command('launch')


@pytest.mark.parametrize('clock', few_of(['steady', 'stamps'], 2))
@pytest.mark.parametrize(('settings', 'is_error'), [
    pytest.param({}, True, id='robot'),
    pytest.param({'nodes': ['/rosbag2_recorder']}, True, id='recorder'),
    pytest.param({'nodes': ['/driver']}, False, id='driver'),
    pytest.param({'is_simulated': True}, False, id='simulation'),
    pytest.param({'replay': True}, False, id='replay'),
])
def test_charge_that_is_fired_without_a_receiver_is_an_error(settings, is_error, clock):
    computer = rested(required_checks=('altitude',), on_time_clock=clock, **settings)
    computer.command('launch')
    computer.feed(2.0, APOGEE + 1.0)
    assert computer.on('drogue')
    line = "'drogue' is fired while no driver receives ~/deployers"
    assert computer.host.said('error') == [line] * is_error
