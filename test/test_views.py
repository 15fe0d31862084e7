# SPDX-License-Identifier: Apache-2.0
"""The RViz configuration and the PlotJuggler layout name what the vehicles' graphs have."""
from __future__ import annotations

import functools
import importlib
from pathlib import Path

import pytest
import yaml
from defusedxml import ElementTree

from propulsion_ros.graph.family_params import loop_params_of
from propulsion_ros.graph.share import read_description, share_directory
from propulsion_ros.graph.vehicles import VEHICLES
from propulsion_ros.loops.vehicle_params import VehicleParams
from propulsion_ros.models.registry import FAMILIES
from propulsion_ros.settings.flat import build, parameters_of
from propulsion_ros.urdf.reader import actuators_from_urdf
from topic_tables import topics_of

REPOSITORY = Path(__file__).resolve().parent.parent
ALL = {topic: kind for vehicle in VEHICLES for topic, kind in topics_of(vehicle).items()}
BESIDE = {
    '/visualizer/markers': 'visualization_msgs/MarkerArray',
    '/robot_description': 'std_msgs/String',
}
"""Topics of the visualizer and of robot_state_publisher, which the tables do not have."""
SHOWN = {
    'Wrench': 'geometry_msgs/WrenchStamped', 'MarkerArray': 'visualization_msgs/MarkerArray',
    'Odometry': 'nav_msgs/Odometry', 'RobotModel': 'std_msgs/String',
}
"""What each kind of display shows."""


@functools.cache
def families(vehicle):
    """Return the families of a vehicle by plugin block, and their base links."""
    path = share_directory() / 'urdf' / f'{vehicle}.urdf.xacro'
    specs = actuators_from_urdf(read_description(path).text, loop_params_of)
    return {
        spec.name: (FAMILIES[spec.family](build(FAMILIES[spec.family].Params, spec.values)),
                    spec.base_link)
        for spec in specs
    }


def rviz():
    text = (REPOSITORY / 'rviz' / 'propulsion.rviz').read_text(encoding='utf-8')
    return yaml.safe_load(text)['Visualization Manager']


def displays(within):
    """Yield the displays of a group and of the groups in it."""
    for display in within['Displays']:
        if display['Class'] == 'rviz_common/Group':
            yield from displays(display)
        else:
            yield display['Class'].removeprefix('rviz_default_plugins/'), display


def topic_of(display):
    topic = display.get('Topic') or display.get('Description Topic')
    return topic['Value'] if topic else ''


DISPLAYS = [(kind, display) for kind, display in displays(rviz()) if topic_of(display)]
LAYOUT = ElementTree.parse(REPOSITORY / 'plotjuggler' / 'propulsion.xml').getroot()
CURVES = [
    pytest.param(tab.get('tab_name'), curve.get('name'), id=curve.get('name'))
    for tab in LAYOUT.iter('Tab') for curve in tab.iter('curve')
]


@pytest.mark.parametrize(
    ('kind', 'display'), DISPLAYS, ids=[topic_of(display) for _, display in DISPLAYS]
)
def test_display_shows_a_topic_of_its_type(kind, display):
    assert {**ALL, **BESIDE}[topic_of(display)] == SHOWN[kind]


def test_every_kind_is_shown_and_every_wrench_that_is_applied():
    assert {kind for kind, _ in DISPLAYS} == set(SHOWN)
    shown = {topic_of(display) for kind, display in DISPLAYS if kind == 'Wrench'}
    assert shown == {topic for topic in ALL if topic.endswith('/wrench')} - {'/fam/wrench'}


def test_frames_are_those_of_the_vehicles():
    frame = rviz()['Global Options']['Fixed Frame']
    defaults = {p.key: p.default for p in parameters_of(VehicleParams)}
    assert frame == defaults['world_frame']
    bases = {base for vehicle in VEHICLES for _, base in families(vehicle).values()}
    assert rviz()['Views']['Current']['Target Frame'] in bases


def test_hidden_markers_are_of_blocks_that_exist():
    (markers,) = [display for kind, display in DISPLAYS if kind == 'MarkerArray']
    blocks = {block for vehicle in VEHICLES for block in families(vehicle)}
    assert {name.removesuffix('/plume') for name in markers['Namespaces']} <= blocks


def topic_in(name, topics):
    """Return the topic that a series is of, '' where there is none."""
    return max((t for t in topics if name.startswith(f'{t}/')), key=len, default='')


def message_class(kind):
    package, name = kind.split('/')
    return getattr(importlib.import_module(f'{package}.msg'), name)


@pytest.mark.parametrize(('vehicle', 'name'), CURVES)
def test_series_is_one_that_the_vehicle_has(vehicle, name):
    topics = topics_of(vehicle)
    topic = topic_in(name, topics)
    assert topic, f'{vehicle} has no topic of {name}'
    path = name.removeprefix(f'{topic}/').split('/')
    if topics[topic] == 'sensor_msgs/JointState':
        # PlotJuggler names these by joint, and leaves out what has no such field.
        block, side = topic.strip('/').split('/')
        family, _ = families(vehicle)[block]
        *joint, field = path
        if side == 'command':
            fields = dict(zip(family.command_names, family.command_fields, strict=True))
            assert fields['/'.join(joint)] == field
        else:
            assert '/'.join(joint) in family.state_names
            assert field in ('position', 'velocity', 'effort')
        return
    kind = topics[topic]
    for part in path:
        kind = message_class(kind).get_fields_and_field_types()[part]
    assert kind == 'double'


def test_each_vehicle_has_a_tab_and_all_that_it_needs_is_selected():
    assert [tab.get('tab_name') for tab in LAYOUT.iter('Tab')] == list(VEHICLES)
    selected = LAYOUT.find('Plugins/plugin/selected_topics').get('value').split(';')
    assert selected == sorted({topic_in(curve.get('name'), ALL) for curve in LAYOUT.iter('curve')})


def test_splitters_say_how_many_plots_they_have():
    for splitter in LAYOUT.iter('DockSplitter'):
        count = len(splitter.findall('DockArea'))
        assert int(splitter.get('count')) == len(splitter.get('sizes').split(';')) == count
