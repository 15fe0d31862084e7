# SPDX-License-Identifier: Apache-2.0
"""The quality of service for recordings names every topic that a replay needs or is held to."""
from __future__ import annotations

import pytest
import yaml

from propulsion_ros.graph.share import share_directory
from propulsion_ros.graph.vehicles import VEHICLES
from topic_tables import listed_rows

FILE = yaml.safe_load((share_directory() / 'qos' / 'record.yaml').read_text())
HELD_TO = ('wrench', 'state', 'fit', 'phase', 'flags', 'apogee', 'events', 'requests')
LATCHED = ('phase', 'flags', 'apogee', 'events', 'requests', 'inertia', 'effectiveness')


def last(topic):
    return topic.rsplit('/', 1)[-1]


@pytest.mark.parametrize('vehicle', VEHICLES)
def test_every_input_and_result_of_a_vehicle_is_there(vehicle):
    for topic, _, _, readers in listed_rows(vehicle):
        if readers or last(topic) in HELD_TO:
            assert topic in FILE


def test_nothing_else_is_there():
    assert set(FILE) <= {topic for vehicle in VEHICLES for topic, *_ in listed_rows(vehicle)}


@pytest.mark.parametrize('topic', FILE)
def test_nothing_is_missed(topic):
    is_latched = last(topic) in LATCHED or '/tanks/' in topic
    assert FILE[topic] == {
        'reliability': 'reliable', 'history': 'keep_last', 'depth': 10000,
        'durability': 'transient_local' if is_latched else 'volatile',
    }
