# SPDX-License-Identifier: Apache-2.0
"""Parameters of a file are read as those of a node."""
import pytest

from propulsion_ros.graph.family_params import ActuatorNodeParams
from propulsion_ros.loops.actuator_loop import LoopParams
from propulsion_ros.loops.ports import NONE, Complaints, GivenParameters
from propulsion_ros.models.boosters.params import BoostersParams
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.flat import build, parameters_of


def loop_params(given, defaults=NONE):
    parameters = GivenParameters('rotors', given)
    return build(LoopParams, parameters.declare(parameters_of(LoopParams), defaults))


def test_what_is_given_wins_over_the_description_and_that_over_the_schema():
    params = loop_params({'update_rate': 50}, {'update_rate': 20.0, 'command_timeout': 2.0})
    assert (params.update_rate, params.command_timeout, params.hold_back) == (50.0, 2.0, 0.0)
    # An empty list is none.
    assert loop_params({'wait_for': []}, {'wait_for': ['clock']}).wait_for == ('clock',)


def test_what_is_not_given_is_as_a_node_declares_it():
    """What a node refused of its own defaults, check took."""
    values = GivenParameters('boosters', {}).declare(parameters_of(BoostersParams))
    assert values['max_fuel_rate'] == -1.0
    assert values['max_thrust'] is None


def test_an_unknown_key_is_refused_with_what_all_declared():
    parameters = GivenParameters('rotors', {
        'update_rat': 1.0, 'publish_each': True, 'autostart': False, 'use_sim_time': True,
    })
    values = parameters.declare(parameters_of(ActuatorNodeParams), more=True)
    own = build(ActuatorNodeParams, values)
    assert own.publish_each
    with pytest.raises(ConfigError, match="'update_rat': unknown, did you mean 'update_rate'"):
        parameters.declare(parameters_of(LoopParams))


def test_there_is_no_graph():
    parameters = GivenParameters('rotors', {})
    with pytest.raises(ConfigError, match='/robot_description needs a ROS graph'):
        parameters.latched_text('/robot_description', 1.0)
    assert parameters.has_type('actuator_msgs/msg/Actuators')
    parameters.follow_live((), {}, None)


S = 1_000_000_000


class Log:
    """Complaints with a clock that a test sets, and the lines that they logged."""

    def __init__(self):
        self.now, self.lines = 0, []
        self.complaints = Complaints(self.lines.append, lambda: self.now)

    def add(self, key, *texts):
        for text in texts:
            self.complaints.add(key, text)


def test_the_same_line_is_logged_once_and_counted_each_time():
    log = Log()
    log.add('refused', 'no  such\nname', 'no such name', 'no such name')
    assert log.lines == ['no such name']
    assert log.complaints.counts['refused'] == 3


def test_different_lines_of_a_kind_are_logged_five_times_in_five_seconds():
    log = Log()
    log.add('refused', *map(str, range(9)))
    log.add('other_time', 'late')
    assert log.lines == ['0', '1', '2', '3', '4', 'late']
    log.now = 5 * S
    log.add('refused', '9')
    assert log.lines[-1] == '9'
    assert log.complaints.counts == {'refused': 10, 'other_time': 1}


def test_a_line_is_cut_and_moves_no_cursor():
    log = Log()
    log.add('refused', 'x' * 10_000, '\x1b[2J')
    assert len(log.lines[0]) <= 1005
    assert log.lines[1] == '\\x1b[2J'
