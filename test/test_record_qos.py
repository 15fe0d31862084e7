# SPDX-License-Identifier: Apache-2.0
"""The quality of service for recordings names every topic of the vehicles, so that none is lost."""
from __future__ import annotations

from collections import defaultdict

import pytest
import yaml

from propulsion_ros.graph.executables import LOOPS
from propulsion_ros.graph.share import share_directory
from propulsion_ros.graph.simulation import Simulation
from propulsion_ros.graph.vehicles import VEHICLES
from propulsion_ros.graph.wiring import robot_graph
from propulsion_ros.loops.ports import GivenParameters
from propulsion_ros.replay.host import Bus, LoopHost
from propulsion_ros.settings.yaml_file import settings_of

FILE = yaml.safe_load((share_directory() / 'qos' / 'record.yaml').read_text())
OF_SETTINGS = {'/rotors/battery_state', '/thrusters/battery_state'}
"""Topics that the vehicles have with other settings than those of the package."""


def classes_of(vehicle, simulation):
    """Return the classes of quality of service of each topic of a vehicle."""
    graph, classes = robot_graph(vehicle, simulation=simulation), defaultdict(set)
    for spec in graph.nodes:
        given = {**settings_of([graph.params_file], spec.name), **spec.settled([]).parameters}
        host = LoopHost(
            spec.name, '', Bus(lambda *published: None), spec.remappings, True, lambda line: None
        )
        loop = LOOPS[spec.executable](GivenParameters(spec.name, given), host)
        for each in (*loop.outlets, *loop.ports):
            classes[host.resolve_topic_name(each.topic)].add(each.qos)
    del classes['/tf']
    return classes


@pytest.fixture(scope='module')
def topics():
    found = defaultdict(set)
    for vehicle in VEHICLES:
        for settings in ({}, {'body.current': [0.3, 0.0, 0.0]}):
            for topic, classes in classes_of(vehicle, Simulation(settings=settings)).items():
                found[topic] |= classes
    return found


def test_every_topic_is_there_and_nothing_else(topics):
    assert set(FILE) == {*topics, *OF_SETTINGS}


def test_nothing_is_missed(topics):
    for topic, profile in FILE.items():
        is_latched = any(each.startswith('latched') for each in topics.get(topic, ()))
        assert profile == {
            'reliability': 'reliable', 'history': 'keep_last', 'depth': 10000,
            'durability': 'transient_local' if is_latched else 'volatile',
        }, topic
