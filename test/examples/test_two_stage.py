# SPDX-License-Identifier: Apache-2.0
"""A rocket of one's own whose flight computer lights its stages and opens its parachutes."""
from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

from propulsion_ros.graph.simulation import Simulation
from propulsion_ros.graph.wiring import robot_graph
from propulsion_ros.replay.robot import Choice, Inputs, Robot
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.study.closed_loop import ClosedLoop
from propulsion_ros.tools import cli

FOLDER = Path(__file__).parents[2] / 'examples' / 'two_stage'
MODEL, SETTINGS = FOLDER / 'two_stage.urdf', FOLDER / 'two_stage.yaml'
TOPIC = '/**/vehicle: {ros__parameters: {deployer_topic: pyros, parachutes.names: [main]}}\n'


class Pilot:
    """Arms, commands the ignition, and ends the flight below the main parachute, or at a time."""

    def __init__(self, end):
        self.due = {3.0: 'flight_state/launch', 5.0: 'flight_state/ignition'}
        self.end = end

    def requests(self, time):
        return [self.due.pop(at) for at in list(self.due) if time >= at]

    def steer(self, time, motion):
        # Below the main parachute nothing more is due.
        is_over = time >= 20.0 and motion.position[2] <= 270.0
        return None if is_over or time >= self.end else {}


def graph_of(*files):
    return robot_graph(model=MODEL, simulation=Simulation(
        (), {'real_time_factor': 0.0, 'publish_tf': False}, files,
    ))


def node_of(graph, name):
    return {spec.name: spec for spec in graph.nodes}.get(name)


def fly(*files, end=math.inf):
    """Return the names of the events in their order, the highest place, and what was logged."""
    fired, heights = [], []

    def take(topic, _, message):
        if topic == '/flight_state/events':
            fired.extend(status.name.rpartition(': ')[2] for status in message.status)
        if topic == '/vehicle/odometry':
            heights.append(message.pose.pose.position.z)

    flight = ClosedLoop(graph_of(*files), files, Pilot(end), take)
    flight.fly()
    return fired, max(heights), flight.lines


def test_flight_computer_of_the_parameter_file_flies_both_stages(monkeypatch):
    monkeypatch.chdir(FOLDER)
    fired, highest, lines = fly(SETTINGS)
    assert fired == ['lower ignition', 'upper ignition', 'drogue parachute', 'main parachute']
    assert highest == pytest.approx(2240.0, abs=20.0)
    assert lines == []


@pytest.mark.parametrize(('source', 'topic'), [
    ('altitude_source: sensors', '/vehicle/imu'),
    ('altitude_source: odometry', '/vehicle/odometry'), ('', '/vehicle/odometry'),
], ids=['sensors', 'odometry', 'by default'])
def test_what_it_measures_is_that_of_the_body_also_in_a_replay(
    monkeypatch, tmp_path, source, topic
):
    monkeypatch.chdir(FOLDER)
    settings = tmp_path / 'settings.yaml'
    settings.write_text(SETTINGS.read_text().replace('altitude_source: sensors', source))
    live = node_of(graph_of(settings), 'flight_state').remappings
    assert (live.get('~/odometry') == 'vehicle/odometry') is (topic == '/vehicle/odometry')
    robot = Robot(Choice(settings, model=MODEL), Inputs(['/clock', '/vehicle/odometry']))
    (flown,) = [host for host in robot.hosts if host.name == 'flight_state']
    assert topic in {flown.resolve_topic_name(port.topic) for port in flown.loop.ports}


def test_stage_whose_tilt_no_sensor_measures_is_named_and_stays_dark(monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(FOLDER)
    settings = tmp_path / 'pressure.yaml'
    settings.write_text(SETTINGS.read_text().replace('source: sensors', 'source: pressure'))
    problem = "event 'upper ignition' can never light its engine: tilt is unknown with"
    assert cli.main(['check', str(settings), '--model', str(MODEL)]) == 0
    assert problem in capsys.readouterr().err
    # The first stage alone is past its apogee by then.
    fired, highest, (line, *_) = fly(settings, end=25.0)
    assert problem in line
    assert 'upper ignition' not in fired
    assert highest < 1200.0


def test_file_without_a_configuration_starts_no_flight_computer(tmp_path):
    settings = tmp_path / 'vehicle.yaml'
    settings.write_text(TOPIC)
    graph = graph_of(settings)
    assert node_of(graph, 'flight_state') is None
    assert node_of(graph, 'vehicle').parameters['deployer_topic'] == 'pyros'
    settings.write_text(TOPIC.replace('deployer_topic: pyros, ', ''))
    with pytest.raises(ConfigError, match='a config_file of flight_state'):
        ClosedLoop(graph_of(settings), [settings], None, lambda *message: None)


MOTOR = 'H1 29 194 0 0.9 1.4 Nobody\n0.1 900\n1.9 800\n2.0 0\n'


def test_one_stage_is_made_by_what_the_page_removes(tmp_path, monkeypatch, capsys):
    model, config = (FOLDER.joinpath(name).read_text('utf-8') for name in (
        'two_stage.urdf', 'flight.jsonc'
    ))
    for part in (
        r'<tank name="upper.*?</tank>', r'<booster name="upper.*?</booster>',
        r'<link name="upper_link"/>', r'<joint name="upper_joint.*?</joint>',
        r'<capacity>2</capacity>', r'<reignitable>false</reignitable>',
        r'<max_thrust>1400</max_thrust> <specific_impulse>200</specific_impulse>',
    ):
        model = re.sub(part, '', model, count=1, flags=re.DOTALL)
    model = model.replace('<time_constant>0.05</time_constant>', '<motor_file>h.eng</motor_file>')
    for part in (r',\s*\{\s*"id": 1, "name": "upper".*?\n    \}', r',\s*\{\s*"id": 3.*?\n    \}'):
        config, count = re.subn(part, '', config, flags=re.DOTALL)
        assert count == 1
    settings = SETTINGS.read_text('utf-8').replace('min_ascent_time: 9.0', 'min_ascent_time: 3.0')
    config = config.replace('1400', '900').replace('-300', '-100')
    for name, text in (('m.urdf', model), ('flight.jsonc', config), ('m.yaml', settings),
                       ('h.eng', MOTOR)):
        (tmp_path / name).write_text(text, encoding='utf-8')
    monkeypatch.chdir(tmp_path)
    assert cli.main(['check', 'm.yaml', '--model', 'm.urdf', '--show']) == 0
    # The configuration that was read is named, since its path is from where the command starts.
    read = tmp_path / 'flight.jsonc'
    assert capsys.readouterr().err == f'no faults in 1 file; config_file is {read}\n'
