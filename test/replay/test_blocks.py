# SPDX-License-Identifier: Apache-2.0
"""Blocks of a replay: the bytes of the outputs and the warnings are those of single inputs."""
from __future__ import annotations

import itertools

import numpy as np
import pytest
import yaml
from geometry_msgs.msg import InertiaStamped
from nav_msgs.msg import Odometry
from rclpy.serialization import serialize_message
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState

from parts import few_of
from propulsion_ros.loops.decoders import stamp_to_ns
from propulsion_ros.loops.payloads import JointRow, Kind, MassRow
from propulsion_ros.loops.ports import Outlet
from propulsion_ros.messages.fields import doubles, ns_to_stamp
from propulsion_ros.replay import sources
from propulsion_ros.replay.bags import BagWriter, Recorded
from propulsion_ros.replay.plain import TickRows, Wire
from propulsion_ros.replay.robot import Published
from propulsion_ros.replay.sources import played
from propulsion_ros.replay.table_writer import TableWriter
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.names import type_name
from propulsion_ros.tools import cli
from propulsion_ros.tools import replay as command

pytest.importorskip('rosbags')

PERIOD_NS, SECOND = 10_000_000, 1_000_000_000
COUNT = 200
SEEDS = 4
PLACED = {'names': ['a', 'b', 'c'], 'position': [0.1 * i for i in range(9)], 'step_on': 'stamp'}
FAMILIES = {
    'thrusters': ('velocity', -300.0, 300.0, {
        **PLACED, 'dynamics': ['first_order', 'first_order', 'zero_order'],
        'time_constant': [0.1, 0.0, 0.0], 'conversion': ['basic', 'dead_zone', 'basic'],
        'rotor_constant': [3e-4], 'rotor_constant_right': [2e-4], 'delta_right': [500.0],
        'max_thrust': [20.0], 'command_timeout': 0.05, 'moment_constant': [0.02],
    }),
    'boosters': ('effort', 0.0, 900.0, {
        **PLACED, 'max_thrust': [800.0], 'max_fuel_rate': [0.1], 'tank': ['t', 't', ''],
        'tanks.names': ['t'], 'tanks.capacity': [2.0], 'update_rate': 60.0,
    }),
    'fins': ('position', -0.5, 0.5, {
        **PLACED, 'quadratic.fin': ['a', 'b', 'c'], 'quadratic.lift_constant': [9.0],
        'quadratic.drag_constant': [4.0], 'time_constant': [0.1], 'update_rate': 240.0,
    }),
    'rotors': ('effort', 0.0, 9.0, {
        **PLACED, 'max_thrust': [8.0], 'motor_constant': [1e-5], 'command_timeout': 0.0,
        'switched_off': ['b'], 'publish_joint_states': True,
    }),
}


def stamped(message, stamp_ns):
    message.header.stamp = ns_to_stamp(stamp_ns)
    return message


class Stream:
    """Messages for a family: steady commands, with everything that disturbs them in between."""

    def __init__(self, family, seed):
        self.rng, self.family = np.random.default_rng(seed), family
        self.field, self.low, self.high, self.config = FAMILIES[family]
        self.now_ns, self.messages = SECOND, []

    def add(self, topic, message):
        last_ns = self.messages[-1].stamp_ns if self.messages else 0
        at_ns = max(last_ns, self.now_ns) + int(self.rng.integers(1, 3_000_000))
        name = topic if topic[0] == '/' else f'/{self.family}/{topic}'
        data = bytes(serialize_message(message))
        self.messages.append(Recorded(name, type_name(type(message)), at_ns, data))

    def command(self, later_ns=0, names=('a', 'b', 'c'), first=None):
        values = self.rng.uniform(self.low, self.high, len(names))
        values[0] = values[0] if first is None else first
        message = JointState(name=names, **{self.field: doubles(values)})
        self.add('command', stamped(message, self.now_ns + later_ns))

    def odometry(self):
        message = Odometry()
        message.pose.pose.orientation.w = 1.0
        message.twist.twist.linear.x = float(self.rng.uniform(-9.0, 9.0))
        self.add('odometry', stamped(message, self.now_ns))

    def disturb(self):
        disturbances = (
            self.odometry,
            lambda: self.add('inertia', stamped(InertiaStamped(), self.now_ns)),
            lambda: self.command(names=['c', 'b']),
            lambda: self.command(names=['b', 'c', 'a']),
            lambda: self.command(first=float('nan')),
            lambda: self.command(names=['unknown']),
            lambda: self.command(later_ns=-3 * PERIOD_NS),
            lambda: self.command(later_ns=10**15),
            lambda: self.command(later_ns=-self.now_ns),
            lambda: self.move(int(self.rng.integers(1, 30)) * 500_000_000),
            lambda: self.move(-2 * SECOND),
        )
        disturbances[self.rng.integers(len(disturbances))]()

    def move(self, by_ns):
        self.now_ns = max(self.now_ns + by_ns, SECOND)

    def write(self, path, jitter, every_clock=0):
        for i in range(COUNT):
            if every_clock and i % every_clock == 0:
                self.add('/clock', Clock(clock=ns_to_stamp(self.now_ns)))
            self.move(int(self.rng.integers(1, 2 * PERIOD_NS)) if jitter else PERIOD_NS)
            if self.rng.random() < 0.03:
                self.disturb()
            self.command()
        with BagWriter(path) as writer:
            for message in self.messages:
                writer.write(message)

    def write_table(self, path, jitter):
        lines = [f'stamp,{",".join(f"{name}.{self.field}" for name in "abc")}']
        for _ in range(COUNT):
            self.move(int(self.rng.integers(0, 2 * PERIOD_NS)) if jitter else PERIOD_NS)
            if self.rng.random() < 0.01:
                self.move(12 * SECOND)
            cells = list(map(repr, self.rng.uniform(self.low, self.high, 3).tolist()))
            if self.rng.random() < 0.02:
                cells[0] = str(self.rng.choice(['', ' 0.5 ', 'inf', 'nan']))
            lines.append(','.join((f'{self.now_ns / 1e9:.9f}', *cells)))
        path.write_text('\n'.join(lines))


@pytest.fixture
def replay(tmp_path, monkeypatch, capsys):
    """Return a replay into a file of a name, with or without blocks: all bytes, and the lines."""
    def replayed(config, source, name, in_blocks):
        with monkeypatch.context() as patch:
            taken = []
            if in_blocks:
                patch.setattr(sources, 'LONGEST', 50)
                results = sources.BlockLoop.results
                patch.setattr(sources.BlockLoop, 'results', lambda self, run, *rest: (
                    taken.append(run.count) or results(self, run, *rest)
                ))
            else:
                patch.setattr(command, 'block_loops', lambda robot, is_timed: {})
            folder = tmp_path / str(in_blocks)
            folder.mkdir(exist_ok=True)
            target = folder / name
            code = cli.main(['replay', str(config), str(source), str(target)])
        files = sorted(target.iterdir()) if target.is_dir() else [target]
        lines = capsys.readouterr().err.replace(str(folder), '')
        return [code, lines, *(file.read_bytes() for file in files)], sum(taken)

    return replayed


def config_of(tmp_path, family, **more):
    path = tmp_path / 'config.yaml'
    parameters = {'family': family, **FAMILIES[family][3], **more}
    path.write_text(yaml.safe_dump({family: {'ros__parameters': parameters}}))
    return path


@pytest.mark.parametrize(('family', 'jitter', 'seed'), few_of(
    itertools.product(FAMILIES, [False, True], range(SEEDS)), 3 * SEEDS
))
def test_blocks_change_no_byte_and_no_line(tmp_path, replay, family, jitter, seed):
    config, bag, table = config_of(tmp_path, family), tmp_path / 'in.mcap', tmp_path / 'in.csv'
    Stream(family, seed).write(bag, jitter)
    Stream(family, seed).write_table(table, jitter)
    for source, target in ((bag, 'out'), (bag, 'out.db3'), (bag, 'out.csv'), (table, 'out.csv')):
        found, count = replay(config, source, target, True)
        expected, _ = replay(config, source, target, False)
        assert found == expected, target
        assert count > 15


def test_a_group_that_steps_on_the_clock_of_a_bag_takes_no_block(tmp_path, replay):
    config, bag = config_of(tmp_path, 'thrusters', step_on='clock'), tmp_path / 'in.mcap'
    Stream('thrusters', 0).write(bag, False, every_clock=30)
    found, count = replay(config, bag, 'out', True)
    assert (found, 0) == (replay(config, bag, 'out', False)[0], count)


def test_what_is_not_finite_is_published_and_counted_tick_by_tick(tmp_path, replay, monkeypatch):
    """No family of this package makes it; one of others may."""
    from propulsion_ros.models.thrusters.thrusters import Thrusters

    step = Thrusters.step

    def broken(self, command, *rest):
        output = step(self, command, *rest)
        wrench = np.where(command.velocity[0] > 200.0, np.inf, output.wrench)
        return output._replace(wrench=wrench)

    monkeypatch.setattr(Thrusters, 'step', broken)
    monkeypatch.setattr(Thrusters, 'steps', lambda self, *rest: None)
    config, bag = config_of(tmp_path, 'thrusters'), tmp_path / 'in.mcap'
    Stream('thrusters', 0).write(bag, False)
    for target in ('out', 'out.csv'):
        found, count = replay(config, bag, target, True)
        assert count > 15
        assert found == replay(config, bag, target, False)[0]
        assert 'not finite, 0 in its place' in found[1]


@pytest.mark.parametrize('seed', range(SEEDS))
@pytest.mark.parametrize('is_known', [True, False])
def test_a_table_of_many_ticks_is_that_of_each(tmp_path, is_known, seed):
    """Numbers may be missing, columns may begin, and where they are not known time jumps back."""
    rng = np.random.default_rng(seed)
    outlets = [
        Outlet('/n/state', Kind.JOINTS, 'state', names=('a', 'b')),
        Outlet('/n/tanks/t', Kind.INERTIA, 'state'), Outlet('/n/wrench', Kind.WRENCH, 'wrench'),
        Outlet('/n/other', Kind.WRENCH, 'wrench'),
    ]
    names = {'n': ['a.effort', 't.izz', 'wrench.force.z', 'b.position', 'absent']}
    blocks, now_ns = [], SECOND
    for count, part in ((1, 1.0), (4, 1.0), (5, 0.5), (40, 0.0), (3, 0.5), (1, 0.5), (30, 1.0)):
        stamps = now_ns + np.arange(count) * PERIOD_NS
        now_ns = int(stamps[-1]) + PERIOD_NS if is_known or rng.random() < 0.7 else SECOND
        position, effort = (
            np.where(rng.random((count, 2)) < part, np.nan, rng.normal(size=(count, 2)))
            for _ in range(2)
        )
        tank = MassRow(*(rng.normal(size=(count, *shape)) for shape in ((), (3,), (3, 3))))
        payloads = [JointRow(position, None, effort), tank, *rng.normal(size=(2, count, 6))]
        blocks.append([
            TickRows(outlet.topic, outlet, stamps, payload)
            for outlet, payload in zip(outlets, payloads, strict=True)
        ])
    many, one = tmp_path / 'many.csv', tmp_path / 'one.csv'
    known = names if is_known else None
    with TableWriter(many, False, known) as table, TableWriter(one, False, known) as expected:
        for block in blocks:
            table.write_rows(block)
            for i in range(len(block[0].stamps)):
                for each in block:
                    expected.write(Published(each.topic, each.outlet.kind, each.message(i)))
    assert many.read_bytes() == one.read_bytes()
    assert table.count == expected.count
    assert len(one.read_text().splitlines()) == table.count + 1


def test_padding_between_the_parts_of_a_message_means_nothing():
    wire, rng = Wire(), np.random.default_rng(1)
    message = stamped(JointState(name=['a', 'bcd'], velocity=doubles([1.0, 2.0])), 5 * SECOND + 7)
    clean = bytes(serialize_message(message))
    whole = wire.read_commands([clean, clean])
    assert (whole.stamps.tolist(), list(whole.names)) == ([5 * SECOND + 7] * 2, ['a', 'bcd'])
    assert {key: value.tolist() for key, value in whole.fields.items()} == {
        'velocity': [[1.0, 2.0]] * 2
    }
    alike = 0
    for at in range(len(clean)):
        other = bytearray(clean)
        other[at] ^= int(rng.integers(1, 256))
        rows = wire.read_commands([clean, bytes(other)])
        if len(rows.stamps) == 2:
            alike += 1
            same = wire.read(bytes(other), 'sensor_msgs/msg/JointState')
            assert (list(same.name), same.header.frame_id) == (['a', 'bcd'], '')
            assert rows.fields['velocity'][1].tobytes() == same.velocity.tobytes()
            assert rows.stamps[1] == stamp_to_ns(same.header.stamp)
    stamp, numbers, padding = 8, 16, 3 + 2
    assert alike >= stamp + numbers + padding


def test_all_that_came_before_an_error_is_played():
    def numbers():
        yield from range(40)
        raise SourceError('file', 'is damaged')

    taken = []
    with pytest.raises(SourceError, match='is damaged'):
        for each in played(numbers(), lambda i: [i], lambda some: (len(some) - 1, some[1:]), int):
            taken.append(each)
    assert taken == list(range(40))


def test_blocks_that_are_refused_are_tried_ever_more_rarely():
    tried = []

    def many(some):
        tried.append(len(some))
        return 0, ()

    assert list(played(range(3000), lambda i: [i], many, lambda i: 1)) == list(range(3000))
    assert tried[:4] == [1024, 512, 256, 128]
    assert len(tried) < 3000 / 16 + 10


def test_large_inputs_are_not_read_far_ahead():
    read = []

    def inputs():
        for i in range(50):
            read.append(i)
            yield i

    for played_count, _ in enumerate(played(
        inputs(), lambda i: [i], lambda some: (0, ()), lambda i: 3 * 1024**2
    )):
        assert len(read) - played_count <= 2
