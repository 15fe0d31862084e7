# SPDX-License-Identifier: Apache-2.0
"""Parameters of a file are read as those of a node."""
from __future__ import annotations

import pytest

from propulsion_ros.graph.family_params import ActuatorNodeParams
from propulsion_ros.loops.actuator_loop import LoopParams
from propulsion_ros.loops.given_parameters import GivenParameters
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.flat import build, parameters_of


def loop_params(given, defaults=None):
    parameters = GivenParameters('rotors', given)
    return build(LoopParams, parameters.declare_rest(parameters_of(LoopParams), defaults))


def test_what_is_given_wins_over_the_description_and_that_over_the_schema():
    params = loop_params({'update_rate': 50}, {'update_rate': 20.0, 'command_timeout': 2.0})
    assert (params.update_rate, params.command_timeout, params.hold_back) == (50.0, 2.0, 0.0)


def test_an_empty_list_is_none():
    params = loop_params({'wait_for': []}, {'wait_for': ['clock']})
    assert params.wait_for == ('clock',)


def test_an_unknown_key_is_refused_with_what_all_declared():
    parameters = GivenParameters('rotors', {
        'update_rat': 1.0, 'publish_each': True, 'autostart': False, 'use_sim_time': True,
    })
    own = build(ActuatorNodeParams, parameters.declare_some(parameters_of(ActuatorNodeParams)))
    assert own.publish_each
    with pytest.raises(ConfigError, match="'update_rat': unknown, did you mean 'update_rate'"):
        parameters.declare_rest(parameters_of(LoopParams))


def test_there_is_no_graph():
    parameters = GivenParameters('rotors', {})
    with pytest.raises(ConfigError, match='/robot_description needs a ROS graph'):
        parameters.latched_text('/robot_description', 1.0)
    assert parameters.has_type('actuator_msgs/msg/Actuators')
    parameters.follow_live((), {}, print, print)
