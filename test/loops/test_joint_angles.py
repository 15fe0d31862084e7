# SPDX-License-Identifier: Apache-2.0
"""Measured angles of joints that turn actuators, on a host without ROS."""
import numpy as np
import pytest

from fake_host import MS, FakeHost, joints, wrench_message
from propulsion_ros.graph.family_params import AllocatorNodeParams, GroupParams
from propulsion_ros.graph.node_config import allocator_of, build_family, read_setting
from propulsion_ros.loops.actuator_ports import ActuatorPorts
from propulsion_ros.loops.allocator_loop import AllocatorLoop
from propulsion_ros.loops.ports import WARN, GivenParameters
from propulsion_ros.settings.flat import build

GIVEN = {
    'names': ['left', 'right'], 'max_thrust': [10.0], 'motor_constant': [1e-5],
    'position': [0.0, 1.0, 0.0, 0.0, -1.0, 0.0], 'step_on': 'stamp',
    'steering.joints': ['yaw', 'tilt'], 'steering.mode': ['joint_states', 'servo'],
    'steering.axis': [0.0, 0.0, 1.0, 0.0, 1.0, 0.0], 'steering.carried_by': ['', ''],
    'steering.lower': [-1.0, -2.0], 'steering.upper': [1.0, 2.0],
    'steering.actuators': ['yaw', 'tilt'], 'steering.max_age': [0.2], 'axis': [1.0, 0.0, 0.0],
}


@pytest.fixture
def host():
    host = FakeHost()
    family, params = build_family('rotors', GIVEN, None)
    host.run(ActuatorPorts(family, params, 'base_link', host))
    return host


def measure(host, ms, names=('wheel', 'yaw'), position=(9.0, 0.5), velocity=()):
    host.deliver('joint_states', joints(ms * MS, names, position, velocity))


def command(host, ms):
    host.deliver('~/command', joints(ms * MS, ['left'], effort=[4.0]))


def states(host):
    return {stamp_ns // MS: row for stamp_ns, row in host.of('~/state')}


def test_an_angle_acts_from_its_stamp_on_and_holds(host):
    command(host, 0)
    measure(host, 5, position=[9.0, 0.5], velocity=[0.0, 0.3])
    for ms in range(10, 100, 10):
        command(host, ms)
    wrenches = {stamp_ns // MS: wrench for stamp_ns, wrench in host.of('~/wrench')}
    np.testing.assert_allclose(wrenches[0][:3], [4.0, 0.0, 0.0], atol=1e-12)
    for ms in (10, 80):
        np.testing.assert_allclose(
            wrenches[ms][:3], [4.0 * np.cos(0.5), 4.0 * np.sin(0.5), 0.0], atol=1e-12
        )
    row = states(host)[80]
    assert row.position[2:].tolist() == [0.5, 0.0]
    assert row.velocity[2:].tolist() == [0.3, 0.0]
    assert not host.said('warn')


def test_what_is_lost_is_held_counted_and_said_once_and_that_it_is_back(host):
    measure(host, 0)
    for ms in range(0, 600, 10):
        command(host, ms)
    assert host.said('warn') == ['joint states of yaw ended at 0.210 s; 0.5 rad holds']
    (_, level, text, values), = host.loop.health()
    assert (level, text, values['lost_joints']) == (WARN, 'joint states are lost', 1)
    assert states(host)[590].position[2] == 0.5
    measure(host, 600, position=[0.0, -0.25])
    for ms in range(600, 700, 10):
        command(host, ms)
    assert states(host)[690].position[2] == -0.25
    assert host.said('info')[-1] == 'joint states of yaw are back at 0.600 s'
    assert next(host.loop.health())[3]['lost_joints'] == 1


def test_a_joint_that_nobody_publishes_is_said_once(host):
    for ms in range(0, 600, 10):
        command(host, ms)
        measure(host, ms, names=['wheel'], position=[0.0])
    assert host.said('warn') == ['joint states of yaw did not come until 0.210 s; 0 rad holds']


@pytest.mark.parametrize(('fields', 'line'), [
    pytest.param({'position': [0.0, 45.0]},
                 'yaw: position 45 rad is outside of its limits, -1 to 1 rad; the last angle '
                 'holds. Is it in degrees?', id='degrees'),
    pytest.param({'position': [0.0, np.nan]},
                 'yaw: position nan is not finite; the last angle holds', id='NaN'),
    pytest.param({'position': [0.1]}, 'position: expected 2 values, one per name, got 1',
                 id='count'),
    pytest.param({'velocity': [0.1]}, 'velocity: expected 2 values, one per name, got 1',
                 id='count of rates'),
    pytest.param({'names': ['yaw', 'yaw'], 'position': [0.1, 0.2]}, "'yaw' is named twice",
                 id='twice'),
])
def test_bad_angles_are_dropped_and_counted(host, fields, line):
    measure(host, 0)
    for ms in range(10, 60, 10):
        measure(host, ms, **fields)
        command(host, ms)
    assert set(host.said('warn')) == {f'joint_states refused: {line}'}
    assert host.counts['refused'] == 5
    assert states(host)[40].position[2] == 0.5


def test_an_angle_a_little_beyond_its_limit_is_taken(host):
    measure(host, 0, position=[0.0, 1.005])
    command(host, 0)
    command(host, 20)
    assert states(host)[10].position[2] == 1.005


def test_two_publishers_are_said_once(host):
    host.publishers['joint_states'] = 2
    for _ in range(2):
        list(host.loop.health())
    assert host.said('warn') == [
        '2 publishers of joint_states: an angle that several publish holds until that of another '
        'one'
    ]


def test_commands_of_a_servo_are_followed_and_cut(host):
    host.deliver('~/command', joints(0, ['tilt'], position=[5.0]))
    command(host, 20)
    assert states(host)[10].position[3] == 2.0
    assert next(host.loop.health())[3]['steering_limit'] == 1


@pytest.mark.parametrize('angle', [0.0, 0.4, -0.9])
def test_an_allocator_shares_at_the_angles_of_the_state(angle):
    """By the wrench that the group makes of the commands."""
    host, parameters = FakeHost(), GivenParameters('rotors_allocator', {
        **GIVEN, 'family': 'rotors',
    })
    own, setting = read_setting(parameters, AllocatorNodeParams, lambda own: None)
    family, allocator = allocator_of(own, setting)
    host.run(AllocatorLoop(
        family, allocator, 'base_link', host, params=build(GroupParams, {}),
    ))
    names = ['left', 'right', 'yaw', 'tilt']
    host.deliver('~/state', joints(0, names, position=[np.nan, np.nan, angle, 0.3]))
    group, _ = build_family('rotors', GIVEN, None)
    wanted = group.allocation_at(np.array([angle, 0.3])) @ [3.0, 5.0]
    host.deliver('~/wrench_command', wrench_message(10 * MS, wanted))
    (_, row), = host.of('~/command')
    np.testing.assert_allclose(row.effort, [3.0, 5.0], atol=1e-9)
    host.deliver('~/state', joints(0, ['yaw'], position=[np.inf]))
    assert host.said('warn')[-1].startswith('state refused: yaw: position inf is not finite')
