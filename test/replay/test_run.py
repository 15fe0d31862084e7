# SPDX-License-Identifier: Apache-2.0
"""Bags and tables through the loops of nodes, in every way from one to the other."""
from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import WrenchStamped
from nav_msgs.msg import Odometry
from rclpy.serialization import serialize_message
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from parts import amount
from propulsion_ros.graph.share import share_directory
from propulsion_ros.messages.fields import doubles, ns_to_stamp
from propulsion_ros.models.common.family import WRENCH_NAMES
from propulsion_ros.replay.bags import BagReader, BagWriter, Recorded
from propulsion_ros.settings.names import type_name
from propulsion_ros.tools import cli

pytest.importorskip('rosbags')

CONFIG = share_directory() / 'config'
LAPS = amount('rest', 2, 3)
ROTORS = """
rotors:
  ros__parameters:
    names: [a, b]
    max_thrust: [5.0, 5.0]
    motor_constant: [1.0e-5, 1.0e-5]
    time_constant_up: 0.05
    command_timeout: 0.0
    step_on: stamp
"""
PERIOD_NS = 10_000_000


@pytest.fixture
def config(tmp_path):
    path = tmp_path / 'config.yaml'
    path.write_text(ROTORS)
    return path


def recorded(topic, stamp_ns, message):
    """Return a message as rclpy itself serialises it."""
    return Recorded(topic, type_name(type(message)), stamp_ns, bytes(serialize_message(message)))


def stamped(message, stamp_ns):
    message.header.stamp = ns_to_stamp(stamp_ns)
    return message


def effort(names, values, stamp_ns):
    return stamped(JointState(name=names, effort=doubles(values)), stamp_ns)


def odometry(stamp_ns, frame='base_link'):
    message = stamped(Odometry(child_frame_id=frame), stamp_ns)
    message.pose.pose.orientation.w = 1.0
    return message


def launch(stamp_ns=0):
    return stamped(DiagnosticArray(status=[DiagnosticStatus(name='launch')]), stamp_ns)


def write_bag(path, messages):
    with BagWriter(path) as writer:
        for message in messages:
            writer.write(message)
    return path


def read_bag(path):
    """Return the decoded messages of each topic."""
    topics = {}
    with BagReader(path) as reader:
        for message in reader.messages():
            topics.setdefault(message.topic, []).append((message, reader.decode(message)))
    return topics


def read_table(path):
    with path.open(newline='') as file:
        return list(csv.DictReader(file))


def commands(seed=3, count=60):
    """Return stamps that lie where they like, and commands."""
    rng = np.random.default_rng(seed)
    stamps = np.cumsum(rng.integers(1, 4 * PERIOD_NS, count)).tolist()
    return stamps, rng.uniform(0.0, 5.0, (count, 2))


@pytest.fixture
def table(tmp_path):
    path = tmp_path / 'in.csv'
    stamps, values = commands()
    with path.open('w') as file:
        file.write('stamp,a.effort,b.effort\n')
        for stamp, (a, b) in zip(stamps, values.tolist(), strict=True):
            file.write(f'{stamp / 1e9:.9f},{a!r},{b!r}\n')
    return path


@pytest.fixture
def bag(tmp_path):
    stamps, values = commands()
    return write_bag(tmp_path / 'in.mcap', [
        recorded('/rotors/command', stamp, effort(['a', 'b'], value, stamp))
        for stamp, value in zip(stamps, values, strict=True)
    ])


def replay(*args):
    return cli.main(['replay', *map(str, args)])


def columns_of(rows, names):
    return np.array([[float(row[name]) for name in names] for row in rows])


STATE = ['a.velocity', 'b.velocity', 'a.effort', 'b.effort']
WRENCH = ['wrench.force.x', 'wrench.force.z', 'wrench.torque.y', 'wrench.torque.z']


def read_ticks(path):
    """Return the stamps, states and wrenches of a table or a bag."""
    if path.suffix == '.csv':
        rows = read_table(path)
        stamps = [row['stamp'] for row in rows]
        return stamps, columns_of(rows, STATE).tolist(), columns_of(rows, WRENCH).tolist()
    topics = read_bag(path)
    states, wrenches = ([m for _, m in topics[f'/rotors/{name}']] for name in ('state', 'wrench'))
    return (
        [f'{m.header.stamp.sec}.{m.header.stamp.nanosec:09d}' for m in wrenches],
        [[*m.velocity, *m.effort] for m in states],
        [[m.wrench.force.x, m.wrench.force.z, m.wrench.torque.y, m.wrench.torque.z]
         for m in wrenches],
    )


@pytest.mark.parametrize(('source', 'target'), [
    pytest.param('bag', 'out.mcap', id='bag to bag'),
    pytest.param('bag', 'out.csv', id='bag to table'),
    pytest.param('table', 'out.mcap', id='table to bag'),
    pytest.param('bag', 'out.db3', id='to sqlite3'),
    pytest.param('bag', 'out', id='to a new folder'),
])
def test_every_way_gives_the_same_numbers(config, request, tmp_path, source, target):
    assert replay(config, request.getfixturevalue('table'), tmp_path / 'loop.csv') == 0
    assert replay(config, request.getfixturevalue(source), tmp_path / target) == 0
    stamps, *numbers = read_ticks(tmp_path / 'loop.csv')
    assert len(stamps) > 60
    assert [stamps, *numbers] == [*read_ticks(tmp_path / target)]


def test_values_of_further_files_win_in_their_order(config, tmp_path, table):
    """Of a flight with two files one was replayed, and every number was another."""
    files = [tmp_path / f'{name}.yaml' for name in ('whole', 'first', 'second')]
    values = ROTORS.replace('0.05', '0.2').replace('[5.0, 5.0]', '[9.0, 9.0]')
    for file, text in zip(files, [
        values,
        'rotors:\n  ros__parameters: {max_thrust: [7.0, 7.0], time_constant_up: 0.2}\n',
        'rotors:\n  ros__parameters: {max_thrust: [9.0, 9.0]}\n',
    ], strict=True):
        file.write_text(text)
    assert replay(files[0], table, tmp_path / 'one.csv') == 0
    more = ['--params-file', files[1], '--params-file', files[2]]
    assert replay(config, table, tmp_path / 'three.csv', *more) == 0
    assert (tmp_path / 'three.csv').read_bytes() == (tmp_path / 'one.csv').read_bytes()


def test_late_and_refused_messages_are_counted(config, tmp_path, capsys):
    messages = [
        recorded('/rotors/command', 0, effort(['a'], [1.0], 1_000_000_000)),
        recorded('/rotors/command', 1, effort(['a'], [2.0], 1_100_000_000)),
        recorded('/rotors/command', 2, effort(['a'], [3.0], 1_050_000_000)),
        recorded('/rotors/command', 3, effort(['c'], [3.0], 1_100_000_000)),
    ]
    assert replay(config, write_bag(tmp_path / 'in.mcap', messages), tmp_path / 'out.mcap') == 0
    err = capsys.readouterr().err
    assert '4 messages' in err
    assert '1 late by rotors' in err
    assert '1 refused by rotors' in err


def test_recorded_clock_steps_nodes_that_step_on_it(tmp_path):
    path = tmp_path / 'config.yaml'
    path.write_text(ROTORS.replace('step_on: stamp', 'step_on: clock'))
    messages = [recorded('/rotors/command', 0, effort(['a', 'b'], [1.0, 2.0], 5_000_000))]
    messages += [
        recorded('/clock', k, Clock(clock=ns_to_stamp(k * PERIOD_NS))) for k in range(1, 31)
    ]
    assert replay(path, write_bag(tmp_path / 'in.mcap', messages), tmp_path / 'out.mcap') == 0
    assert len(read_bag(tmp_path / 'out.mcap')['/rotors/wrench']) == 30


def test_nodes_hear_each_other_on_topics_that_the_bag_does_not_have(tmp_path, capsys):
    messages = []
    for k in range(40):
        demand = stamped(WrenchStamped(), k * 16_000_000)
        demand.header.frame_id = 'body'
        demand.wrench.force.x = 0.1
        for topic, message in (
            ('/vehicle/odometry', odometry(k * 16_000_000, 'body')), ('/fam/wrench_command', demand)
        ):
            messages.append(recorded(topic, k * 16_000_000 + len(messages) % 2, message))
    path = write_bag(tmp_path / 'in.mcap', messages)
    empty = tmp_path / 'none.yaml'
    empty.write_text('{}')
    assert replay(empty, path, tmp_path / 'out.mcap', '--vehicle', 'freeflyer') == 0
    topics = read_bag(tmp_path / 'out.mcap')
    assert len(topics['/fam/state']) == 40
    assert len(topics['/inverse_fam/wrench']) == 40
    assert len(topics['/propulsion_modules/wrench']) == 40
    assert topics['/inverse_fam/wrench'][-1][1].wrench.force.x == pytest.approx(0.1, abs=0.02)
    # Once it is recorded what one says, that is what the other hears.
    other = tmp_path / 'both.mcap'
    said = [m for m, _ in topics['/fam/state']]
    write_bag(other, sorted([*messages, *said[:20]], key=lambda m: m.stamp_ns))
    assert replay(empty, other, tmp_path / 'half.mcap', '--vehicle', 'freeflyer') == 0
    topics = read_bag(tmp_path / 'half.mcap')
    assert len(topics['/fam/state']) == 40
    assert len(topics['/inverse_fam/wrench']) == 20


@pytest.mark.parametrize('place', [100, 110])
def test_flight_is_followed_with_what_was_asked_of_it(tmp_path, place):
    """The request is in the recording with the stamp of the sample after which it was."""
    path = tmp_path / 'config.yaml'
    path.write_text(
        'flight_state:\n  ros__parameters:\n    altitude_source: odometry\n'
        '    required_checks: [altitude]\n'
    )
    messages = []
    for k in range(200):
        sample = odometry((k + 1) * 20_000_000)
        messages.append(recorded('/flight_state/odometry', k * 20_000_000, sample))
        # A recorder may write it behind samples that came later.
        if k == place:
            request = launch(101 * 20_000_000)
            messages.append(recorded('/flight_state/requests', k * 20_000_000 + 1, request))
    bag = write_bag(tmp_path / 'in.mcap', messages)
    assert replay(path, bag, tmp_path / 'out.mcap', '--keep-inputs') == 0
    topics = read_bag(tmp_path / 'out.mcap')
    assert [m.data for _, m in topics['/flight_state/phase']] == ['preflight', 'launch']
    assert len(topics['/flight_state/odometry']) == 200
    change, _ = topics['/flight_state/phase'][1]
    assert change.stamp_ns == 101 * 20_000_000
    # Early, so that nodes which the new bag is played into have it at its stamp.
    (request, _), = topics['/flight_state/requests']
    assert request.stamp_ns - place * 20_000_000 == 1 - 2_000_000_000


@pytest.mark.parametrize(('target', 'arguments', 'reason'), [
    ('out.mcap', ['--model', 'nowhere.urdf'], 'nowhere.urdf'),
    ('out.mcap', ['--vehicle', 'rocket', '--node', 'rotors'], "no node 'rotors'"),
    ('out.mcap', ['--namespace', 'a b'], 'namespace'),
    ('out.csv.gz', [], 'out.csv.gz: a table is written unpacked'),
    ('out.csv', ['--keep-inputs'], 'expected to read a bag and to write one'),
], ids=['model', 'not of it', 'namespace', 'packed table', 'inputs of a table'])
def test_what_is_asked_wrongly_is_said_in_one_line(
    config, bag, tmp_path, capsys, target, arguments, reason
):
    assert replay(config, bag, tmp_path / target, *arguments) == 1
    err = capsys.readouterr().err
    assert reason in err
    assert 'Traceback' not in err
    assert not (tmp_path / target).exists()


def test_allocator_of_the_file_has_given_its_commands_already(tmp_path, bag):
    path = tmp_path / 'config.yaml'
    allocator = ROTORS.replace('rotors:', 'rotors_allocator:') + '    family: rotors\n'
    path.write_text(ROTORS + allocator)
    assert replay(path, bag, tmp_path / 'out.mcap') == 0
    assert not [topic for topic in read_bag(tmp_path / 'out.mcap') if 'allocator' in topic]


def test_other_namespace_is_another_robot(config, bag, tmp_path, capsys):
    config.write_text(ROTORS.replace('rotors:', '/**/rotors:'))
    assert replay(config, bag, tmp_path / 'out.mcap', '--namespace', 'other') == 1
    wanted = 'has none of the topics that are wanted: /other/rotors/command'
    assert wanted in capsys.readouterr().err
    moved = write_bag(tmp_path / 'moved.mcap', [
        Recorded('/other/rotors/command', message.type, message.stamp_ns, message.data)
        for message, _ in read_bag(bag)['/rotors/command']
    ])
    assert replay(config, moved, tmp_path / 'out2.mcap', '--namespace', 'other') == 0
    assert len(read_bag(tmp_path / 'out2.mcap')['/other/rotors/wrench']) > 60


@pytest.mark.parametrize(('message', 'reason'), [
    pytest.param(
        recorded('/rotors/command', 0, Clock()),
        '/rotors/command: expected sensor_msgs/msg/JointState, got rosgraph_msgs/msg/Clock',
        id='type',
    ),
    pytest.param(
        Recorded('/rotors/command', 'sensor_msgs/msg/JointState', 0, b'\x00\x01\x00\x00\xff'),
        'sensor_msgs/msg/JointState: not such a message', id='cut off',
    ),
    pytest.param(
        Recorded('/rotors/command', 'sensor_msgs/msg/JointState', 0, b'PL_CDR and more'),
        'expected plain CDR', id='no CDR',
    ),
    pytest.param(
        Recorded(
            '/rotors/command', 'sensor_msgs/msg/JointState', 0,
            bytes(serialize_message(JointState())) + bytes(500),
        ), 'bytes too long', id='too long',
    ),
])
def test_message_that_is_not_what_it_says_stops_in_one_line(
    config, tmp_path, capsys, message, reason
):
    path = write_bag(tmp_path / 'in.mcap', [message])
    assert replay(config, path, tmp_path / 'out.mcap') == 1
    err = capsys.readouterr().err
    assert reason in err
    assert 'Traceback' not in err
    assert not (tmp_path / 'out.mcap').exists()


def test_laps_of_a_loop_are_rows_one_after_the_other(config, tmp_path):
    lap = [
        recorded('/rotors/command', k, effort(['a', 'b'], [1.0, 2.0], 10_000_000 * k + 10_000_000))
        for k in range(300)
    ]
    again = [Recorded(m.topic, m.type, m.stamp_ns + 1000, m.data) for m in lap]
    path = write_bag(tmp_path / 'in.mcap', [*lap, *again])
    assert replay(config, path, tmp_path / 'out.mcap') == 0
    assert replay(config, path, tmp_path / 'out.csv') == 0
    count = len(read_bag(tmp_path / 'out.mcap')['/rotors/wrench'])
    rows = read_table(tmp_path / 'out.csv')
    assert len(rows) == count == 600
    stamps = [float(row['stamp']) for row in rows]
    assert stamps[:300] == stamps[300:] == sorted(stamps[:300])


def late_bag(path, begin, *more, clock=0):
    """Write a bag of simulated time whose odometry, and whose clock, begin at a step."""
    messages = [recorded('/clock', 1, Clock(clock=ns_to_stamp(clock * 20_000_000)))]
    for k in range(begin, begin + 20):
        messages.append(recorded('/flight_state/odometry', k + 2, odometry(k * 20_000_000)))
    return write_bag(path, [*messages, *more])


def flight_config(path):
    path.write_text('flight_state:\n  ros__parameters:\n    altitude_source: odometry\n')
    return path


@pytest.mark.parametrize(('is_launched', 'code'), [(True, 0), (False, 1)])
def test_a_bag_of_a_simulated_body_asks_for_its_model(tmp_path, capsys, is_launched, code):
    """The launch alone was read, and the replay looked as if it had worked."""
    path = flight_config(tmp_path / 'config.yaml')
    bag = write_bag(tmp_path / 'in.mcap', [
        recorded('/vehicle/odometry', 1, Odometry()),
        *[recorded('/flight_state/requests', 2, launch())] * is_launched,
    ])
    assert replay(path, bag, tmp_path / 'out.mcap') == code
    hint = 'it has what is wanted as of a body, /flight_state/odometry as /vehicle/odometry: add '
    assert hint + '--model' in capsys.readouterr().err


@pytest.mark.parametrize(('begin', 'clock', 'asked', 'printed', 'absent'), [
    (50, 50, (), ('nothing is in it of /flight_state/requests', 'it begins at 1.000 s of simulated '
                  'time'), ()),
    # That nobody called before is no gap.
    (0, 0, (launch(200_000_000),), (), ('nothing is in it', 'it begins at', 'at first nothing')),
    (50, 0, (), ('at first nothing of /flight_state/odometry for 1.000 s; anything sent',),
     ('it begins at',)),
], ids=['from its middle on', 'whole', 'behind the clock'])
def test_what_a_bag_lacks_at_its_beginning_is_printed(
    tmp_path, capsys, begin, clock, asked, printed, absent
):
    path = flight_config(tmp_path / 'config.yaml')
    requests = [recorded('/flight_state/requests', 100, each) for each in asked]
    bag = late_bag(tmp_path / 'in.mcap', begin, *requests, clock=clock)
    assert replay(path, bag, tmp_path / 'out.mcap') == 0
    err = capsys.readouterr().err
    assert all(line in err for line in printed)
    assert not any(line in err for line in absent)


def test_inputs_are_the_topics_that_nodes_take_and_do_not_publish(tmp_path, bag, config, capsys):
    flown = late_bag(
        tmp_path / 'flown.mcap', 0, recorded('/flight_state/requests', 100, launch()),
        recorded('/flight_state/phase', 101, String(data='launch')),
    )
    path = flight_config(tmp_path / 'flight.yaml')
    assert replay(path, flown, '--inputs') == 0
    assert capsys.readouterr().out == '/flight_state/odometry /flight_state/requests\n'
    assert replay(path, flown) == 1
    assert 'expected either OUTPUT or --inputs' in capsys.readouterr().err
    assert replay(config, tmp_path / 'in.csv', '--inputs') == 1
    assert '--inputs: expected a bag' in capsys.readouterr().err


def test_request_that_waits_for_a_sample_is_counted(tmp_path, capsys):
    path = flight_config(tmp_path / 'config.yaml')
    bag = write_bag(tmp_path / 'in.mcap', [
        recorded('/flight_state/odometry', 1, odometry(5_000_000_000)),
        recorded('/flight_state/requests', 2, launch(5_000_000_000)),
    ])
    assert replay(path, bag, tmp_path / 'out.mcap') == 0
    assert '1 waiting by flight_state' in capsys.readouterr().err


def test_table_of_the_whole_chain_is_the_same_to_a_bag(tmp_path):
    """Allocation, modules and estimate, joined by their families in the file alone."""
    table = tmp_path / 'in.csv'
    names = ','.join(f'wrench.{part}' for part in WRENCH_NAMES)
    rows = [f'{k * 0.016:.3f},0.1,0.02,-0.05,0.004,0.002,-0.003' for k in range(1, 40)]
    table.write_text(f'stamp,{names}\n' + '\n'.join(rows) + '\n')
    config = CONFIG / 'fam.yaml'
    assert replay(config, table, tmp_path / 'loop.csv') == 0
    assert replay(config, table, tmp_path / 'out.mcap') == 0
    loop = read_table(tmp_path / 'loop.csv')
    topics = read_bag(tmp_path / 'out.mcap')
    for node in ('fam', 'propulsion_modules', 'inverse_fam'):
        bare = [
            [float(row[f'{node}/wrench.{part}']) for part in ('force.x', 'torque.z')]
            for row in loop if row[f'{node}/wrench.force.x']
        ]
        joined = [
            [m.wrench.force.x, m.wrench.torque.z] for _, m in topics[f'/{node}/wrench']
        ]
        assert len(joined) > 30
        assert joined == bare


@pytest.mark.parametrize(('header', 'row', 'reason'), [
    pytest.param('stamp,body.velocity.x,body.velocity.y,body.velocity.z', '0.0,1,0,0',
                 "no node takes column 'body.velocity.x'", id='nobody feels the flow'),
    pytest.param('stamp,wrench.force.x', '0.0,1', "no node takes column 'wrench.force.x', and no "
                 'allocator is replayed', id='nobody takes a wrench'),
])
def test_column_that_no_node_hears_is_named(config, tmp_path, capsys, header, row, reason):
    table = tmp_path / 'in.csv'
    table.write_text(f'{header}\n{row}\n')
    assert replay(config, table, tmp_path / 'out.mcap') == 1
    assert reason in capsys.readouterr().err
    # Results of a replay, which have the wrench too, may be commands of the next one.
    assert replay(config, table, tmp_path / 'out.csv') == 0
    assert reason in capsys.readouterr().err


def test_part_of_a_wrench_is_demanded_alone(tmp_path):
    """The other parts keep their last demand, each until it is stale."""
    table = tmp_path / 'in.csv'
    names = [f'wrench.{part}' for part in WRENCH_NAMES]
    table.write_text('\n'.join((
        f'stamp,{",".join(names)}', '0.016,0.1,0.05,0.02,0.001,0.001,0.001',
        *(f'{k * 0.016:.3f},{0.1 - 0.001 * k:.3f},,,,,' for k in range(2, 40)),
    )))
    config = CONFIG / 'fam.yaml'
    only = ('--node', 'fam')
    assert replay(config, table, tmp_path / 'loop.csv', *only) == 0
    assert replay(config, table, tmp_path / 'out.mcap', *only) == 0
    loop = columns_of(read_table(tmp_path / 'loop.csv'), names)
    wrenches = [m.wrench for _, m in read_bag(tmp_path / 'out.mcap')['/fam/wrench']]
    assert [[w.force.x, w.force.y, w.torque.z] for w in wrenches] == loop[:, [0, 1, 5]].tolist()
    assert loop[10, 1] == pytest.approx(0.05, abs=0.01)
    # The demand of y became stale, that of x did not.
    assert abs(loop[-1, 1]) < 0.01 < loop[-1, 0]


def test_flow_and_centre_of_mass_reach_the_nodes_of_a_vehicle(tmp_path):
    table = tmp_path / 'in.csv'
    table.write_text(
        'stamp,body.velocity.x,body.velocity.y,body.velocity.z\n'
        + ''.join(f'{k * 0.01:.2f},0,5,50\n' for k in range(1, 30))
    )
    empty = tmp_path / 'none.yaml'
    empty.write_text('{}')
    assert replay(empty, table, tmp_path / 'v.mcap', '--vehicle', 'rocket', '--node', 'fins') == 0
    forces = [m.wrench.force.y for _, m in read_bag(tmp_path / 'v.mcap')['/fins/wrench']]
    assert forces[-1] < -1.0


def test_old_result_stays_where_the_new_one_fails(config, tmp_path, bag, capsys):
    out = tmp_path / 'out.csv'
    out.write_text('kept')
    damaged = Recorded('/rotors/command', 'sensor_msgs/msg/JointState', 10**18, b'rubbish')
    path = write_bag(tmp_path / 'bad.mcap', [*(m for m, _ in read_bag(bag)['/rotors/command']),
                                             damaged])
    assert replay(config, path, out) == 1
    assert out.read_text() == 'kept'
    assert not list(tmp_path.glob('*.unfinished'))
    assert replay(config, bag, tmp_path / 'nowhere' / 'out.csv') == 1
    assert 'make it first' in capsys.readouterr().err


def test_rows_without_a_command_tell_the_time_to_a_bag_too(tmp_path):
    config = tmp_path / 'config.yaml'
    config.write_text(ROTORS.replace('    step_on: stamp\n', ''))
    table = tmp_path / 'in.csv'
    table.write_text('stamp,a.effort,b.effort\n0.01,1.0,2.0\n0.5,,\n3.0,,\n')
    assert replay(config, table, tmp_path / 'loop.csv') == 0
    assert replay(config, table, tmp_path / 'out.mcap') == 0
    loop = read_table(tmp_path / 'loop.csv')
    states = read_bag(tmp_path / 'out.mcap')['/rotors/state']
    assert len(loop) == 300
    assert columns_of(loop, STATE).tolist() == [[*m.velocity, *m.effort] for _, m in states]


def test_every_lap_of_a_flight_is_flown(tmp_path, capsys):
    """As `bag play --loop` plays an ordered bag: each lap has its requests, and begins at 0."""
    demo = Path(__file__).resolve().parent.parent / 'data/demo_bag'
    config = CONFIG / 'rocket.yaml'
    once, laps = tmp_path / 'once', tmp_path / 'laps'
    choice = ['--vehicle', 'rocket', '--node', 'flight_state']
    assert replay(config, demo, once, '--keep-inputs', *choice) == 0
    printed = capsys.readouterr().err
    for line in ('phase recovery at ', 'apogee ', 'event drogue parachute at '):
        assert f'flight_state: {line}' in printed
    with BagReader(once) as bag, BagWriter(laps) as writer:
        messages = list(bag.for_nodes(bag.topics))
        length = messages[-1].stamp_ns + 1
        for lap in range(LAPS):
            for message in messages:
                writer.write(message._replace(stamp_ns=message.stamp_ns + lap * length))
    assert replay(config, laps, tmp_path / 'all', *choice) == 0
    first, flights = read_bag(once), read_bag(tmp_path / 'all')
    for topic in ('events', 'apogee', 'phase', 'fit'):
        flown = [repr(m) for _, m in first[f'/flight_state/{topic}']]
        assert flown
        assert [repr(m) for _, m in flights[f'/flight_state/{topic}']] == LAPS * flown, topic
