# SPDX-License-Identifier: Apache-2.0
"""The flight computer that launch files start keeps a record, unless a parameter file has one."""
from pathlib import Path

import pytest

pytest.importorskip('launch_ros', reason='launch_ros is not installed')

import launch.logging

from propulsion_ros.graph.launch_actions import record_of
from propulsion_ros.graph.wiring import vehicle_graph

GIVEN = {'replay': 'false', 'params_file': '', 'namespace': '', 'use_sim_time': 'false'}


def computer():
    (spec,) = [
        spec for spec in vehicle_graph('rocket').nodes if spec.executable == 'flight_state_node'
    ]
    return spec


@pytest.mark.parametrize('namespace', ['', 'fleet/one'])
def test_flight_computer_keeps_a_record_by_default(tmp_path, monkeypatch, namespace):
    monkeypatch.setenv('ROS_HOME', str(tmp_path))
    path = record_of(computer(), {**GIVEN, 'namespace': namespace})['state_file']
    assert path.startswith(str(tmp_path / 'propulsion_ros' / namespace))
    assert path.endswith('.json')


def test_record_of_a_simulated_flight_ends_with_its_launch(tmp_path, monkeypatch):
    # Made where it is first asked for, so before the folder that must stay empty.
    logs = launch.logging.launch_config.log_dir
    monkeypatch.setenv('ROS_HOME', str(tmp_path))
    path = Path(record_of(computer(), {**GIVEN, 'use_sim_time': 'true'})['state_file'])
    assert path.is_relative_to(logs)
    assert not list(tmp_path.iterdir())


def test_replay_keeps_none_and_a_parameter_file_names_its_own(tmp_path):
    assert record_of(computer(), {**GIVEN, 'replay': 'true'}) == {}
    own = tmp_path / 'own.yaml'
    own.write_text("flight_state:\n  ros__parameters:\n    state_file: ''\n")
    assert record_of(computer(), {**GIVEN, 'params_file': str(own)}) == {}
