# SPDX-License-Identifier: Apache-2.0
"""The state of a battery as a ROS node publishes it, and as a replay writes it."""
from __future__ import annotations

import csv
import math

import pytest
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import BatteryState, JointState

from propulsion_ros.messages import qos
from propulsion_ros.messages.fields import ns_to_stamp
from propulsion_ros.nodes.actuator_node import ActuatorNode
from propulsion_ros.replay.bags import BagReader
from propulsion_ros.tools import cli

SETTINGS = {
    'names': ['a', 'b'], 'max_thrust': [10.0], 'motor_constant': [1e-5], 'step_on': 'stamp',
    'moment_constant': [0.02], 'time_constant_up': [0.05], 'battery': ['main'],
    'batteries.names': ['main'], 'batteries.capacity': [0.1],
    'batteries.open_circuit_voltage': ['0 12 1 16'], 'batteries.internal_resistance': [0.05],
    'batteries.cut_off_voltage': [12.5],
}
STAMPS = range(10, 310, 10)
THRUSTS = [2.0 + 0.2 * i for i in range(len(STAMPS))]


def replayed(folder, output):
    """Return what the same commands make of the same settings offline."""
    text = '\n    '.join(f'{key}: {value}' for key, value in SETTINGS.items())
    (folder / 'config.yaml').write_text(f'rotors:\n  ros__parameters:\n    {text}\n')
    rows = [
        f'{ms / 1000:.3f},{thrust!r},{thrust!r}'
        for ms, thrust in zip(STAMPS, THRUSTS, strict=True)
    ]
    (folder / 'in.csv').write_text('\n'.join(['stamp,a.effort,b.effort', *rows]) + '\n')
    paths = [str(folder / name) for name in ('config.yaml', 'in.csv', output)]
    assert cli.main(['replay', *paths]) == 0
    return folder / output


def test_node_publishes_what_a_replay_writes(graph, tmp_path):
    pytest.importorskip('rosbags')
    node = graph.add(ActuatorNode, 'rotors', SETTINGS)
    states = graph.listen(BatteryState, 'rotors/battery_state', qos.COMMAND)
    command = graph.talk(JointState, 'rotors/command', qos.COMMAND)
    outlet, = (out for out in node.loop.outlets if out.topic == '~/battery_state')
    graph.until(lambda: node.subscriptions_to(outlet) == 1, 'the probe')
    taken, push = [], node.loop.core.push
    node.loop.core.push = lambda *args: taken.append(push(*args)) or taken[-1]
    for i, (ms, thrust) in enumerate(zip(STAMPS, THRUSTS, strict=True)):
        message = JointState(name=['a', 'b'], effort=[thrust] * 2)
        message.header.stamp = ns_to_stamp(ms * 1_000_000)
        command.publish(message)
        graph.until(lambda: len(taken) == i + 1, 'the command')  # noqa: B023
    graph.until(lambda: len(states) >= len(STAMPS) - 1, 'the last state')

    with BagReader(replayed(tmp_path, 'out.mcap')) as bag:
        topic = '/rotors/battery_state'
        assert bag.topics[topic] == 'sensor_msgs/msg/BatteryState'
        offline = [deserialize_message(m.data, BatteryState) for m in bag.messages([topic])]
    assert [str(m) for m in states] == [str(m) for m in offline[: len(states)]]
    last = states[-1]
    assert last.power_supply_status == BatteryState.POWER_SUPPLY_STATUS_DISCHARGING
    assert last.power_supply_health == BatteryState.POWER_SUPPLY_HEALTH_UNKNOWN
    assert last.power_supply_technology == BatteryState.POWER_SUPPLY_TECHNOLOGY_UNKNOWN
    assert last.present
    assert last.current < 0.0
    assert last.voltage == pytest.approx(
        12.0 + 4.0 * last.percentage + 0.05 * last.current, abs=1e-3
    )
    assert last.charge == pytest.approx(0.1 * last.percentage, rel=1e-6)
    assert math.isnan(last.temperature)
    assert not len(last.cell_voltage)
    assert last.location == 'main'


def test_table_has_the_battery(tmp_path):
    with replayed(tmp_path, 'out.csv').open(newline='') as file:
        rows = list(csv.DictReader(file))
    voltages = [float(row['main.voltage']) for row in rows]
    assert voltages == sorted(voltages, reverse=True)
    assert all(float(row['main.current']) <= 0.0 for row in rows)
    assert 0.9 < float(rows[-1]['main.percentage']) < 1.0
