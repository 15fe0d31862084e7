# SPDX-License-Identifier: Apache-2.0
"""What events move through the node: engines, boosters, valves, servos, pyros on the real clock."""
from __future__ import annotations

import json
import math
import time

import pytest
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import WrenchStamped
from nav_msgs.msg import Odometry
from requested_twice import request_twice
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool, Int32MultiArray, String
from std_srvs.srv import Trigger

from flight_flags import newest_flags
from propulsion_ros.graph.share import share_directory
from propulsion_ros.loops.decoders import stamp_to_ns
from propulsion_ros.messages import qos
from propulsion_ros.nodes.actuator_node import ActuatorNode
from propulsion_ros.nodes.flight_state_node import FlightStateNode
from ros_graph import stamped

MS = 1_000_000
PAD_MS = 400
CONFIG = share_directory() / 'config'


class Node:
    """A flight state node under test, fed with odometry at 50 Hz."""

    def __init__(self, graph, config, cli_args=None, **settings):
        self.graph, self.k = graph, 0
        self.begin_ns = 0 if settings.get('use_sim_time', True) else time.time_ns() - PAD_MS * MS
        self.node = graph.add(FlightStateNode, 'flight_state', {
            'config_file': str(config), 'reliable_inputs': True, 'silence_timeout': 0.0,
            'on_time_clock': 'stamps', 'required_checks': ['altitude'],
            # The stamps are those of a simulation, and come faster than time passes.
            'use_sim_time': True, **settings,
        }, cli_args=cli_args)
        self.deployers = graph.listen(JointState, 'flight_state/deployers', qos.COMMAND)
        self.engines = graph.listen(JointState, 'flight_state/engines', qos.COMMAND)
        self.flags = graph.listen(DiagnosticArray, 'flight_state/flags', qos.LATCHED)
        self.events = graph.listen(DiagnosticArray, 'flight_state/events', qos.LATCHED_HISTORY)
        self.sensor = graph.talk(Odometry, 'flight_state/odometry', qos.LOCKSTEP)
        graph.connected(self.node, '~/deployers', '~/engines')

    @property
    def now_ms(self):
        return 20 * (self.k - 1)

    def feed(self, until_ms, altitude=lambda t: 0.0, tilt=0.0):
        """Send samples up to a stamp, and wait until the node has taken the last."""
        while 20 * self.k <= until_ms:
            message = stamped(Odometry, self.begin_ns + 20 * self.k * MS)
            position, q = message.pose.pose.position, message.pose.pose.orientation
            position.x, position.y = 100.0, 200.0
            position.z = 50.0 + altitude(0.02 * self.k) + 1e-4 * (self.k % 2)
            q.w, q.x = math.cos(tilt / 2), math.sin(tilt / 2)
            self.sensor.publish(message)
            self.k += 1
            if self.k % 20 == 0:
                self._settle()
        self._settle()

    def _settle(self):
        self.graph.until(
            lambda: self.node.loop.stamp_ns >= self.begin_ns + self.now_ms * MS,
            f'the sample at {self.now_ms} ms',
        )

    def command(self, *names):
        for name in names:
            response = self.graph.call(Trigger, f'flight_state/{name}')
            assert response.success, response.message

    def twice(self, name):
        """Request something twice, 600 ms of samples apart, and wait until it is followed."""
        request_twice(self.graph, name, lambda: self.feed(self.now_ms + 20))

    def flag(self, key):
        """Return what the node said last, once it has come."""
        return newest_flags(self.graph, self.node, self.flags)[key]

    def rows(self, messages, field, name):
        """Return (stamp [ms], value) of a row."""
        return [
            (stamp_to_ns(m.header.stamp) // MS, getattr(m, field)[m.name.index(name)])
            for m in messages
        ]

    def changes_to(self, messages, field, name, expected):
        """Spin until the changes of a row are as expected; NaN is NaN."""
        self.graph.becomes(
            lambda: repr(changes(self.rows(messages, field, name))), repr(expected)
        )


def changes(rows):
    """Return the rows at which the value is another one."""
    kept = []
    for stamp, value in rows:
        if not kept or repr(kept[-1][1]) != repr(value):
            kept.append((stamp, value))
    return kept


@pytest.fixture
def write(tmp_path):
    """Return a writer of configurations."""
    def _write(events, **blocks):
        numbered = [{'id': i, 'cooldown': 0, **event} for i, event in enumerate(events)]
        path = tmp_path / 'rml.jsonc'
        path.write_text(json.dumps({**blocks, 'Events': numbered}))
        return path
    return _write


def test_event_lights_both_boosters(graph):
    graph.add(ActuatorNode, 'boosters', {
        'family': 'boosters', 'names': ['booster_1', 'booster_2'], 'max_thrust': [1300.0],
        'max_fuel_rate': [1.0], 'step_on': 'stamp', 'command_timeout': 1.0,
    })
    wrenches = graph.listen(WrenchStamped, 'boosters/wrench', qos.COMMAND)
    flight = Node(
        graph, CONFIG / 'rocket_flight.jsonc',
        ['--ros-args', '-r', '~/booster_command:=boosters/command'],
    )
    graph.connected(flight.node, '~/booster_command')
    flight.feed(400)
    flight.command('launch')
    flight.feed(600)
    graph.until(lambda: flight.engines, 'the engines')
    assert {effort for _, effort in flight.rows(flight.engines, 'effort', 'engine_1')} == {0.0}
    flight.command('ignition')
    flight.feed(2000)
    graph.until(lambda: wrenches and wrenches[-1].wrench.force.z == 2600.0, 'thrust')
    for name in ('engine_1', 'engine_2'):
        flight.changes_to(flight.engines, 'effort', name, [(0, 0.0), (620, 1.0)])
        flight.changes_to(flight.engines, 'effort', f'{name}/igniter', [
            (0, 0.0), (620, 1.0), (1120, 0.0),
        ])
    flight.command('abort')
    flight.feed(2200)
    graph.until(lambda: wrenches[-1].wrench.force.z == 0.0, 'the end of thrust')


def test_recovery_sounds_the_beacon_turns_the_servo_and_shuts_down(graph):
    beacon = graph.listen(Bool, 'flight_state/beacon', qos.LATCHED)
    tunes = graph.listen(String, 'flight_state/tune', qos.LATCHED)
    flight = Node(graph, CONFIG / 'thanos_flight.jsonc')
    flight.feed(400)
    flight.command('launch', 'ignition')
    flight.feed(500)
    flight.twice('liftoff_override')
    flight.feed(2700)
    flight.command('apogee_override')
    flight.feed(2900)
    graph.until(lambda: beacon and beacon[-1].data, 'the beacon')
    graph.becomes(
        lambda: [tune.data for tune in tunes], ['preflight', 'launch', 'flight', 'recovery']
    )
    flight.changes_to(flight.engines, 'effort', 'engine', [(0, 0.0), (420, 1.0), (2720, 0.0)])
    flight.changes_to(flight.deployers, 'position', 'camera door', [
        (0, math.nan), (2720, math.pi / 2),
    ])
    flight.changes_to(flight.deployers, 'effort', 'drogue', [(0, 0.0), (2720, 1.0)])
    assert all(math.isnan(row[1]) for row in flight.rows(flight.deployers, 'effort', 'camera door'))
    assert flight.flag('apogee_source') == 'override'
    late = graph.listen(Bool, 'flight_state/beacon', qos.LATCHED)
    graph.until(lambda: late and late[-1].data, 'the beacon for a late joiner')


def test_circuits_commands_and_dwell(graph, write):
    config = write(
        [
            {'condition': {'localPyroChannel': 2, 'continuity': True}, 'for_ms': 100,
             'action': {'type': 'command', 'destination': 17, 'destination_service': 2,
                        'command_id': 69, 'command_arg': -3}},
        ],
        Deployers=[{'id': 0, 'name': 'main', 'type': 'local_pyro', 'channel': 2}],
    )
    commands = graph.listen(Int32MultiArray, 'flight_state/commands', qos.COMMAND)
    flight = Node(graph, config)
    continuity = graph.talk(JointState, 'flight_state/continuity', qos.LOCKSTEP)
    flight.feed(400)
    flight.command('launch')
    flight.feed(800)
    assert not flight.events
    continuity.publish(stamped(JointState, 800 * MS, name=['main'], position=[1.0]))
    graph.until(lambda: flight.node.loop._side_inputs._inputs.newest_ns == 900 * MS, 'the circuit')
    flight.feed(1100)
    graph.until(lambda: commands, 'the command')
    assert list(commands[-1].data) == [17, 2, 69, -3]
    (array,) = graph.heard('flight_state/events')
    assert stamp_to_ns(array.header.stamp) == 1000 * MS
    assert array.status[0].message == 'circuit of pyro 2 is closed for 0.1 s'
