"""What the FAQ calls a parameter, topic or argument is one."""
from __future__ import annotations

import re

import pytest

from markdown_pages import REPOSITORY, Page
from page_launch import launch_arguments
from propulsion_ros.actuator_loop import LoopParams
from propulsion_ros.estimate_loop import EstimateParams
from propulsion_ros.models import FAMILIES
from propulsion_ros.nodes.actuator_node import ActuatorNodeParams
from propulsion_ros.nodes.flight_state_node import FlightStateNode
from propulsion_ros.nodes.flight_state_params import FlightStateNodeParams
from propulsion_ros.nodes.stack import EXECUTABLES
from propulsion_ros.nodes.vehicle_node import VehicleNodeParams
from propulsion_ros.schema import parameters_of
from propulsion_ros.wiring import VEHICLES

PAGES = [Page(REPOSITORY / 'docs' / name) for name in ('faq.md', 'quick_start.md')]
OTHERS = {
    'actuator_msgs': 'a package of messages', 'cmd_thrust': 'a topic of gz-sim',
    'rqt_plot': 'a program', 'base_link': 'a frame', 'qos_overrides.<topic>...': 'made by rclpy',
    'effort': 'of a JointState', 'velocity': 'of a JointState', 'position': 'of a JointState',
    'sensors': 'a value', 'odometry': 'a value', 'actuators': 'a value',
    'propulsion_ros': 'the package', 'propulsion_ros.models': 'a package',
}
"""Words that are nothing of ours, and what they are."""


def schema():
    """Return every parameter of every node by name."""
    classes = [
        LoopParams, EstimateParams, ActuatorNodeParams, FlightStateNodeParams, VehicleNodeParams,
        *(family.Params for family in FAMILIES.values()),
    ]
    return {p.key: p.spec for cls in classes for p in parameters_of(cls)}


SCHEMA = schema()
TOPICS = {
    topic for cls in (*EXECUTABLES.values(), FlightStateNode)
    for topic in re.findall(r'~/[\w/<>]+', '\n'.join(each.__doc__ or '' for each in cls.__mro__))
}
ARGUMENTS = launch_arguments('bringup.launch.py') | launch_arguments('rov.launch.py')
CHOICES = {choice for spec in SCHEMA.values() for choice in spec.choices}
FLAGS = ('saturated', 'dry', 'stalled', 'off_curve')
KNOWN = {
    *SCHEMA, *ARGUMENTS, *CHOICES, *FAMILIES, *VEHICLES, *EXECUTABLES, *OTHERS, *FLAGS,
    'flight_state',
}


def spans():
    """Yield each piece of code that is one word, or a key and a value."""
    for page in PAGES:
        for span in page.spans:
            if re.fullmatch(r'[a-z][\w.]*(: \S.*)?', span.text) and '_' in span.text:
                yield pytest.param(span.text, id=f'{span.place} {span.text}')


@pytest.mark.parametrize('text', spans())
def test_word_is_known(text):
    key, _, value = text.partition(': ')
    assert key in KNOWN
    if value:
        assert key in SCHEMA
        spec = SCHEMA[key]
        words = re.findall(r'\w+', value)
        assert not spec.choices or set(words) <= set(spec.choices)


@pytest.mark.parametrize('topic', sorted({
    match for page in PAGES for span in page.spans for match in re.findall(r'~/[\w/<>]+', span.text)
    if not match.startswith('~/ws')
}))
def test_topic_is_one_of_a_node(topic):
    assert topic in TOPICS


@pytest.mark.parametrize('flag', FLAGS)
def test_flag_is_one_of_a_model(flag):
    models = (REPOSITORY / 'propulsion_ros/models').glob('*.py')
    assert any(f"'{flag}'" in path.read_text(encoding='utf-8') for path in models)


@pytest.mark.parametrize(('text', 'file'), [
    ('command is stale', 'nodes/actuator_node.py'),
    ('no odometry yet, so no force', 'nodes/actuator_node.py'),
])
def test_diagnostics_say_what_the_page_quotes(text, file):
    assert f"'{text}'" in (REPOSITORY / 'propulsion_ros' / file).read_text(encoding='utf-8')
    assert any(span.text == text for page in PAGES for span in page.spans)
