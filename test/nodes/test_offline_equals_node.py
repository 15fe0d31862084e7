# SPDX-License-Identifier: Apache-2.0
"""The same stamped commands make the same numbers in a node and offline."""
from __future__ import annotations

import csv
import random

import numpy as np
import pytest
from geometry_msgs.msg import WrenchStamped
from sensor_msgs.msg import JointState

from propulsion_ros.loops.decoders import msg_to_wrench, stamp_to_ns
from propulsion_ros.messages import qos
from propulsion_ros.nodes.actuator_node import ActuatorNode
from propulsion_ros.tools import cli
from ros_graph import stamped

CONFIG = """
group:
  ros__parameters:
    family: {family}
    names: [a, b]
    step_on: stamp
    {settings}
"""
CASES = [
    pytest.param('rotors', 'effort', {
        'max_thrust': [10.0], 'motor_constant': [1e-5], 'time_constant_up': [0.05],
        'time_constant_down': [0.03], 'update_rate': 300.0, 'publish_rate': 100.0,
    }, 0.013, id='rotors, published more slowly'),
    pytest.param('boosters', 'effort', {
        'max_thrust': [500.0], 'max_fuel_rate': [0.5], 'time_constant': [0.1],
        'noise_ratio': [0.05], 'tank': ['t', 't'], 'tanks.names': ['t'],
        'tanks.capacity': [2.0], 'efficiency': [1.0, 0.6],
    }, 0.017, id='boosters with noise, one degraded'),
    pytest.param('jets', 'effort', {
        'max_thrust': [9.0], 'open_delay': [0.003], 'close_delay': [0.005],
        'modulation': 'pulse_frequency', 'tank': ['t', 't'], 'tanks.names': ['t'],
        'tanks.capacity': [0.02], 'tanks.propellant': ['gas'],
    }, 0.013, id='jets on one tank'),
    pytest.param('thrusters', 'velocity', {
        'rotor_constant': [1e-4], 'dynamics': ['first_order'], 'time_constant': [0.1],
        'command_timeout': 0.0, 'update_rate': 1.0,
    }, 7.0, id='thrusters, gaps that are jumps'),
    pytest.param('rotors', 'effort', {
        'max_thrust': [10.0], 'motor_constant': [1e-5], 'moment_constant': [0.02],
        'battery': ['main'], 'batteries.names': ['main'], 'batteries.capacity': [0.01],
        'batteries.open_circuit_voltage': ['0 12 1 16'], 'batteries.internal_resistance': [0.05],
    }, 0.013, id='rotors on a battery'),
]


@pytest.mark.parametrize(('family', 'field', 'settings', 'step'), CASES)
def test_same_bytes(graph, tmp_path, family, field, settings, step):
    rng = random.Random(9)
    stamps, rows = [1.000000001], []
    while len(stamps) < 40:
        stamps.append(stamps[-1] + rng.uniform(0.1, 2.0) * step)
    stamps = [round(s * 1e9) for s in stamps]
    values = [(rng.uniform(0.0, 8.0), rng.uniform(0.0, 8.0)) for _ in stamps]

    node = graph.add(ActuatorNode, 'group', {
        'family': family, 'names': ['a', 'b'], 'step_on': 'stamp', **settings
    })
    heard = graph.listen(WrenchStamped, 'group/wrench', qos.COMMAND)
    command = graph.talk(JointState, 'group/command', qos.COMMAND)
    graph.connected(node, '~/wrench')
    taken, push = [], node.loop.inputs.push
    node.loop.inputs.push = lambda *args: taken.append(push(*args)) or taken[-1]
    for stamp, pair in zip(stamps, values, strict=True):
        command.publish(stamped(JointState, stamp, name=['a', 'b'], **{field: list(pair)}))
        graph.until(lambda: len(taken) == len(rows) + 1, 'the command')
        rows.append(f'{stamp // 10**9}.{stamp % 10**9:09d},{pair[0]!r},{pair[1]!r}')
    last = node.loop.inputs.last_stamp_ns // 10_000_000 * 10_000_000
    graph.until(
        lambda: heard and stamp_to_ns(heard[-1].header.stamp) >= last - 10_000_000,
        'the last wrench',
    )

    text = '\n    '.join(f'{key}: {value}' for key, value in settings.items())
    (tmp_path / 'config.yaml').write_text(CONFIG.format(family=family, settings=text))
    (tmp_path / 'in.csv').write_text('\n'.join([f'stamp,a.{field},b.{field}', *rows]) + '\n')
    paths = [str(tmp_path / name) for name in ('config.yaml', 'in.csv', 'out.csv')]
    assert cli.main(['replay', *paths]) == 0
    with (tmp_path / 'out.csv').open(newline='') as file:
        table = list(csv.DictReader(file))
    parts = [f'wrench.{kind}.{axis}' for kind in ('force', 'torque') for axis in 'xyz']
    offline = {
        row['stamp']: np.array([float(row[part]) for part in parts]) for row in table
    }
    live = {
        f'{m.header.stamp.sec}.{m.header.stamp.nanosec:09d}': msg_to_wrench(m) for m in heard
    }
    assert list(live) == list(offline)[:len(live)]
    assert len(live) >= len(offline) - 1
    for stamp, wrench in live.items():
        np.testing.assert_array_equal(wrench, offline[stamp])
    if 'battery' in settings:
        voltages = [float(row['main.voltage']) for row in table]
        assert 16.0 > voltages[0] > voltages[-1]
        assert all(float(row['main.current']) <= 0.0 for row in table)
        assert 0.5 < float(table[-1]['main.percentage']) < 1.0
