# SPDX-License-Identifier: Apache-2.0
"""Flights in which everything is drawn are replayed to the last byte by their recordings alone."""
from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
import yaml
from shuffled_flight import ShuffledFlight

from parts import few_of
from propulsion_ros.graph.share import share_directory
from propulsion_ros.graph.simulation import BODY
from propulsion_ros.graph.vehicles import VEHICLES
from propulsion_ros.replay.bags import BagReader
from propulsion_ros.replay.plain import Wire
from propulsion_ros.replay.robot import Choice
from propulsion_ros.tools.replay import replay

pytest.importorskip('rosbags')

DURATION = 0.6
COMMANDS = {
    'rocket': ['boosters/command', 'fins/command'],
    'quadrotor': ['rotors_allocator/wrench_command'],
    'rov': ['thrusters_allocator/wrench_command', 'fins/command'],
    'freeflyer': ['fam/wrench_command'],
    'cubesat': ['jets_allocator/wrench_command'],
}
RATES = {'rocket': 100.0, 'quadrotor': 250.0, 'rov': 100.0, 'freeflyer': 62.5, 'cubesat': 100.0}
OF_THE_STOP = ('/flight_state/deployers', '/flight_state/engines')
"""Topics of which the flight software publishes a last message as it is stopped."""


class Draw:
    """What differs between flights."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.vehicle = list(VEHICLES)[(seed + seed // 10) % len(VEHICLES)]
        commands = COMMANDS[self.vehicle]
        # Of the free-flyer's estimator each input that comes before another one's would be late.
        is_lossy = self.vehicle == 'freeflyer'
        self.wait_for = [each for each in commands if is_lossy or self.rng.random() < 0.7]
        self.acts = defaultdict(list)

    def settings(self, path):
        """Write rates, timeouts and a current into a parameter file."""
        rate = RATES[self.vehicle]
        given = {
            topic.split('/')[0].removesuffix('_allocator'): {
                'update_rate': rate * int(self.rng.integers(1, 4)),
                'command_timeout': round(float(self.rng.uniform(0.02, 0.5)), 3),
            }
            for topic in COMMANDS[self.vehicle] if self.vehicle != 'freeflyer'
        }
        if self.rng.random() < 0.5:
            given[BODY] = {'body.current': [0.3, 0.1, 0.0]}
        path.write_text(yaml.safe_dump({
            f'/**/{node}': {'ros__parameters': values} for node, values in given.items()
        } or {'/**': {'ros__parameters': {'use_sim_time': True}}}))
        return path

    def plan(self):
        """Draw faults, changed parameters, calls of services and pauses, and return when."""
        last = round(DURATION * RATES[self.vehicle]) - 2
        for _ in range(self.rng.integers(0, 6)):
            self.acts[int(self.rng.integers(1, last))].append(self._act())
        # A paused node knows what it misses only of what it waits for.
        if self.rng.random() < 0.4 and COMMANDS[self.vehicle][0] in self.wait_for:
            begin, end = np.sort(self.rng.integers(1, last, 2))
            name = COMMANDS[self.vehicle][0].split('/')[0].removesuffix('_allocator')
            self.acts[int(begin)].append(lambda flight: flight.nodes[name].pause())
            self.acts[int(end)].append(lambda flight: flight.nodes[name].resume())
        return self.acts

    def _act(self):
        kind, pick, level = self.rng.integers(6), self.rng.random(), self.rng.random(64)

        def act(flight):
            nodes = list(flight.stepped.values())
            node = nodes[int(pick * len(nodes))]
            if kind == 0:
                node.call('reset')
            elif kind == 1:
                node.call('set_enabled', False)
            elif kind == 2:
                node.call('set_enabled', True)
            else:
                node.set(self._change(node, level))

        return act

    def _change(self, node, level):
        """Return some live parameters of a node with other values."""
        values = {parameter.key for parameter in node.live_parameters}
        names = list(node.loop.family.command_names)
        known = {
            'efficiency': [float(each) for each in level[:len(node.loop.family.actuator_names)]],
            'com': [float(each) for each in level[:3] * 0.05],
            'flight_mode': ('nominal', 'quiet', 'difficult')[int(level[0] * 3)],
            'nozzles.efficiency': [float(level[1])],
            'switched_off': [name for name, x in zip(names, level, strict=False) if x < 0.3],
        }
        found = sorted(key for key in known if key in values)
        return {key: known[key] for key in found if level[found.index(key)] < 0.7}


def read(path):
    """Return the messages of each topic as bytes without padding."""
    wire, topics = Wire(), defaultdict(list)
    with BagReader(path) as bag:
        for message in bag.messages():
            topics[message.topic].append(wire.serialise(bag.decode(message), message.type))
    return topics


@pytest.mark.parametrize('seed', few_of(range(60), 12))
def test_replay_is_the_flight(tmp_path, seed):
    draw = Draw(seed)
    settings = draw.settings(tmp_path / 'live.yaml')
    flight = ShuffledFlight(
        draw.vehicle, draw.rng, draw.wait_for, DURATION, settings, draw.plan()
    )
    flight.fly()
    flight.write(tmp_path / 'bag')
    late = {name: node.loop.inputs.counts['late'] for name, node in flight.stepped.items()}
    config = share_directory() / 'config' / f'{draw.vehicle}.yaml'
    counts = replay(Choice(config, draw.vehicle), tmp_path / 'bag', tmp_path / 'again')
    live, again = read(tmp_path / 'bag'), read(tmp_path / 'again')
    assert flight.steps
    published = {
        topic for node in flight.stepped.values() for topic in node.host.published_topics
        if topic in live and not topic.endswith('/requests')
    }
    assert published <= set(again)
    for topic in sorted(again):
        node = topic.split('/')[1]
        if late.get(node):
            continue
        expected = live[topic][:-1] if topic in OF_THE_STOP else live[topic]
        assert again[topic] == expected, (topic, late, flight.lines)
    if not any(late.values()):
        assert not [what for what in counts if what.startswith('late')]
