# SPDX-License-Identifier: Apache-2.0
"""An allocator on a host without ROS."""
import numpy as np
import pytest

from fake_host import MS, FakeHost, joints, wrench_message
from propulsion_ros.graph.family_params import AllocatorNodeParams
from propulsion_ros.graph.node_config import allocator_of, build_family, read_setting
from propulsion_ros.loops.actuator_loop import LoopParams
from propulsion_ros.loops.actuator_ports import ActuatorPorts
from propulsion_ros.loops.allocator_loop import AllocatorLoop
from propulsion_ros.loops.ports import OK, WARN, GivenParameters
from propulsion_ros.models.common.allocation import Allocator
from propulsion_ros.models.registry import FAMILIES
from propulsion_ros.models.rotors.rotors import Rotors, RotorsParams
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.flat import build

NAMES = ('a', 'b', 'c', 'd')


@pytest.fixture
def host():
    host = FakeHost()
    family = Rotors(rotors())
    lower, upper = family.thrust_limits
    allocator = Allocator(family.allocation_matrix, lower, upper, 'bounded', np.ones(6))
    host.run(AllocatorLoop(family, allocator, 'base_link', host))
    return host


def health(host):
    (_, level, text, values), = host.loop.health()
    return level, text, values


def values(**given):
    return {'saturated': 0, 'refused': 0, 'out_of_reach': 0, 'faulty': 0, **given}


def demand(host, *wrench, ms=10):
    """Return the thrusts of a demand, and the residual."""
    host.deliver('~/wrench_command', wrench_message(ms * MS, wrench))
    return host.of('~/command')[-1][1].effort, host.of('~/residual')[-1][1]


def report(host, **parts):
    """Publish the effectiveness of some actuators."""
    host.deliver('~/effectiveness', joints(0, parts, position=parts.values()))


def test_a_demand_becomes_a_command_with_its_stamp(host):
    assert host.lines == [('info', 'active, shares a wrench among a, b, c, d')]
    assert health(host)[:2] == (WARN, 'no command')
    host.deliver('~/wrench_command', wrench_message(30 * MS, [0.0, 0.0, 20.0, 0.0, 0.0, 0.0]))
    (stamp_ns, row), = host.of('~/command')
    assert stamp_ns == 30 * MS
    np.testing.assert_allclose(row.effort, 5.0)
    assert row.position is row.velocity is None
    (stamp_ns, residual), = host.of('~/residual')
    assert stamp_ns == 30 * MS
    np.testing.assert_allclose(residual, 0.0, atol=1e-9)
    assert health(host) == (OK, 'ok', values())


def test_a_costly_axis_is_named_at_the_start():
    host, family = FakeHost(), Rotors(rotors())
    matrix = family.allocation_matrix.copy()
    matrix[0] = 0.1 * matrix[4] + 1e-3 * np.array([1.0, -1.0, -1.0, 1.0])
    host.run(AllocatorLoop(family, Allocator(matrix, 0.0, 10.0), 'base_link', host))
    assert [level for level, _ in host.lines] == ['info', 'warn']
    assert 'an exact force.x takes' in host.lines[1][1]
    host, without = FakeHost(), Allocator(matrix, 0.0, 10.0, weights=[0, 1, 1, 1, 1, 1])
    host.run(AllocatorLoop(family, without, 'base_link', host))
    assert [level for level, _ in host.lines] == ['info']


@pytest.mark.parametrize(('publishers', 'expected'), [
    (0, (WARN, 'no command')), (1, (WARN, 'no command')),
    (2, (OK, 'idle, another node commands the group')),
])
def test_group_that_another_node_commands_lacks_no_demand(host, publishers, expected):
    host.publishers['~/command'] = publishers
    assert health(host)[:2] == expected


def test_stamp_0_stays_so_for_the_group_and_is_now_for_the_residual(host):
    host.now = 70 * MS
    host.deliver('~/wrench_command', wrench_message(0, [0.0, 0.0, 20.0, 0.0, 0.0, 0.0]))
    assert host.of('~/command')[0][0] == 0
    assert host.of('~/residual')[0][0] == 70 * MS


def test_what_the_limits_leave_undone_is_the_residual(host):
    host.deliver('~/wrench_command', wrench_message(10 * MS, [0.0, 0.0, 50.0, 0.0, 0.0, 0.0]))
    assert host.of('~/residual')[0][1][2] == pytest.approx(10.0)
    text = 'force.z: 50 N wanted, 40 N allocated'
    assert health(host) == (WARN, text, values(saturated=4, out_of_reach=1))


@pytest.mark.parametrize(('wrench', 'frame', 'line'), [
    ([np.nan] + [0.0] * 5, 'base_link', 'force.x is not finite'),
    ([0.0] * 6, 'map', "expected the frame 'base_link', got 'map'"),
])
def test_refused_demands_command_nothing(host, wrench, frame, line):
    host.deliver('~/wrench_command', wrench_message(10 * MS, wrench, frame))
    assert host.said('warn') == [f'wrench_command refused: {line}']
    assert not host.published
    assert host.counts['refused'] == 1


def test_an_axis_that_no_actuator_reaches_is_reported_once_an_episode(host):
    sideways = (0.0, 50.0, 10.0, 0.0, 0.0, 0.0)
    line = 'wrench_command is out of reach: force.y: 50 N wanted, 0 N allocated'
    for ms in (10, 20, 30):
        demand(host, *sideways, ms=ms)
    assert host.said('warn') == [line]
    assert health(host) == (
        WARN, 'force.y: 50 N wanted, 0 N allocated', values(out_of_reach=3)
    )
    demand(host, 0.0, 0.0, 10.0, 0.0, 0.0, 0.0, ms=40)
    assert health(host) == (OK, 'ok', values(out_of_reach=3))
    demand(host, *sideways, ms=50)
    assert host.said('warn') == [line] * 2
    assert host.counts['out_of_reach'] == 2


def test_several_axes_are_reported_together(host):
    demand(host, -3.0, 0.0, 100.0, 0.0, 0.0, 0.25)
    assert health(host)[1] == (
        'force.x: -3 N wanted, 0 N allocated; force.z: 100 N wanted, 40 N allocated; '
        'torque.z: 0.25 N m wanted, 0 N m allocated'
    )


@pytest.mark.parametrize(('force', 'asks'), [(60.0, False), (400.0, True)], ids=['near', 'far'])
def test_a_demand_in_another_unit_is_asked_for(host, force, asks):
    demand(host, 0.0, 0.0, force, 0.0, 0.0, 0.0)
    assert health(host)[1].endswith('; is it in N and N m?') == asks


def test_a_torque_of_0_that_costs_the_force_is_named():
    """Propellers below the origin push with a torque."""
    host, family = FakeHost(), Rotors(rotors(
        position=[[-1.0, 0.5, -0.5], [-1.0, -0.5, -0.5]] * 2, axis=[1.0, 0.0, 0.0],
    ))
    host.run(AllocatorLoop(family, Allocator(
        family.allocation_matrix, *family.thrust_limits, 'bounded', np.ones(6)
    ), 'base_link', host))
    hint = '; 0 of torque.y is at the cost of the rest: give it a weight of 0?'
    demand(host, 30.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    assert health(host)[1].endswith(f'torque.y: 0 N m wanted, -12 N m allocated{hint}')
    demand(host, 30.0, 0.0, 0.0, 0.0, -15.0, 0.0)
    assert health(host)[:2] == (OK, 'ok')
    # Of what is short alone nothing is gained.
    demand(host, 60.0, 0.0, 0.0, 0.0, -30.0, 0.0)
    assert 'at the cost' not in health(host)[1]


def test_a_small_miss_beside_a_large_demand_is_none(host):
    demand(host, 0.005, 0.0, 10.0, 0.0, 0.0, 0.0)
    assert health(host)[:2] == (OK, 'ok')


def test_a_failed_actuator_gets_no_thrust_and_the_others_make_up_for_it(host):
    report(host, a=0.0)
    thrusts, residual = demand(host, 0.0, 0.0, 8.0, 0.0, 0.0, 0.0)
    assert thrusts[0] == 0.0
    # b and c alone balance, d would turn the body.
    np.testing.assert_allclose(thrusts, [0.0, 4.0, 4.0, 0.0], atol=1e-9)
    np.testing.assert_allclose(residual, 0.0, atol=1e-9)
    assert health(host) == (OK, 'ok', values(faulty=1))
    report(host, a=1.0)
    np.testing.assert_allclose(demand(host, 0.0, 0.0, 8.0, 0.0, 0.0, 0.0)[0], 2.0)
    assert health(host) == (OK, 'ok', values())


def test_a_derated_actuator_is_commanded_more(host):
    report(host, b=0.5, c=0.8)
    thrusts, residual = demand(host, 0.0, 0.0, 8.0, 0.0, 0.0, 0.0)
    given = thrusts * [1.0, 0.5, 0.8, 1.0]
    assert given.sum() == pytest.approx(8.0)
    np.testing.assert_allclose(residual, 0.0, atol=1e-9)
    # The residual is that of what they will give.
    _, residual = demand(host, 0.0, 0.0, 40.0, 0.0, 0.0, 0.0)
    assert residual[2] > 6.9


@pytest.mark.parametrize(('names', 'position', 'line'), [
    (['e'], [0.5], "unknown name 'e', known: a, b, c, d"),
    (['a'], [1.5], 'a: position 1.5 is not in 0..1'),
    (['a'], [np.nan], 'a: position nan is not in 0..1'),
    (['a', 'a'], [0.5, 0.5], "'a' is named twice"),
    (['a'], [], 'position: expected 1 values, one per name, got 0'),
])
def test_a_wrong_effectiveness_is_refused_and_changes_nothing(host, names, position, line):
    host.deliver('~/effectiveness', joints(0, names, position))
    assert host.said('warn') == [f'effectiveness refused: {line}']
    np.testing.assert_allclose(demand(host, 0.0, 0.0, 8.0, 0.0, 0.0, 0.0)[0], 2.0)


def test_faults_are_received_before_activation(host):
    host.is_active = False
    report(host, a=0.0)
    host.is_active = True
    assert demand(host, 0.0, 0.0, 8.0, 0.0, 0.0, 0.0)[0][0] == 0.0


def rotors(**given):
    given = {'position': [
        [0.2, 0.2, 0.0], [0.2, -0.2, 0.0], [-0.2, 0.2, 0.0], [-0.2, -0.2, 0.0],
    ], **given}
    return RotorsParams(names=NAMES, max_thrust=[10.0], motor_constant=[1e-5], **given)


def test_what_is_switched_off_here_gets_no_thrust_whatever_is_published(host):
    host.loop.retune(('switched_off',), LoopParams(switched_off=('d',)), rotors())
    report(host, d=1.0)
    assert demand(host, 0.0, 0.0, 8.0, 0.0, 0.0, 0.0)[0][3] == 0.0
    with pytest.raises(ConfigError, match="unknown name 'e', known: a, b, c, d"):
        host.loop.check(LoopParams(switched_off=('e',)), rotors())


def test_of_the_effectiveness_the_newest_holds(host):
    report(host, a=0.0)
    host.loop.retune(
        ('efficiency',), LoopParams(), rotors(efficiency=[0.5, 1.0, 1.0, 1.0])
    )
    assert demand(host, 0.0, 0.0, 8.0, 0.0, 0.0, 0.0)[0][0] > 0.0
    report(host, a=0.0)
    host.loop.retune(
        ('switched_off',), LoopParams(), rotors(efficiency=[0.5, 1.0, 1.0, 1.0])
    )
    assert demand(host, 0.0, 0.0, 8.0, 0.0, 0.0, 0.0)[0][0] == 0.0


# Joined to its group.


GROUPS = {
    'rotors': {
        'names': list(NAMES), 'max_thrust': [10.0], 'motor_constant': [1e-5],
        'position': [0.2, 0.2, 0.0, 0.2, -0.2, 0.0, -0.2, 0.2, 0.0, -0.2, -0.2, 0.0],
    },
    'boosters': {
        'names': ['a', 'b', 'c'], 'max_thrust': [100.0], 'min_thrust': [10.0],
        'max_fuel_rate': [0.1],
        'position': [1.0, 0.0, 0.0, -0.5, 0.8, 0.0, -0.5, -0.8, 0.0],
    },
}


class Robot:
    """A group and its allocator, each on its host, joined as a launch file joins them."""

    def __init__(self, family, **faults):
        self.family, self.group, self.ms = family, FakeHost(), 0
        self.given = {'step_on': 'stamp', 'command_timeout': 0.0, **GROUPS[family], **faults}
        self.group.run(ActuatorPorts(
            *build_family(family, self.given, None), 'base_link', self.group
        ))
        self.host = allocated({'family': family, **GROUPS[family]})

    def set(self, **changed):
        """Change live settings of the group, which sends them to its allocator."""
        self.given.update(changed)
        classes = LoopParams, FAMILIES[self.family].Params
        self.group.loop.retune(changed, *(build(cls, self.given) for cls in classes))

    def make(self, *wrench):
        """Return the thrusts that are commanded for a demand, and the wrench that they make."""
        outlets = {outlet.topic: outlet for outlet in self.group.loop.outlets}
        assert outlets['~/effectiveness'].qos == 'latched'
        _, row = self.group.of('~/effectiveness')[-1]
        names = outlets['~/effectiveness'].names
        self.host.deliver('~/effectiveness', joints(0, names, position=row.position))
        self.ms += 100
        thrusts, _ = demand(self.host, *wrench, ms=self.ms)
        self.group.deliver('~/command', joints(self.ms * MS, names, effort=thrusts))
        return thrusts, self.group.of('~/wrench')[-1][1]


@pytest.mark.parametrize('is_running', [False, True], ids=['from the start', 'while it runs'])
@pytest.mark.parametrize(('family', 'lift', 'fault', 'thrusts'), [
    pytest.param('rotors', 12.0, {'efficiency': [0.0, 1.0, 1.0, 1.0]}, [0.0, 6.0, 6.0, 0.0],
                 id='failed rotor'),
    pytest.param('rotors', 12.0, {'switched_off': ['a']}, [0.0, 6.0, 6.0, 0.0],
                 id='rotor switched off'),
    pytest.param('boosters', 60.0, {'efficiency': [1.0, 0.8, 0.8]}, None, id='derated boosters'),
])
def test_faults_of_the_group_are_reckoned_with(family, lift, fault, thrusts, is_running):
    robot = Robot(family, **({} if is_running else fault))
    wanted = [0.0, 0.0, lift, 0.0, 0.0, 0.0]
    if is_running:
        _, made = robot.make(*wanted)
        np.testing.assert_allclose(made, wanted, atol=1e-9)
        robot.set(**fault)
    given, made = robot.make(*wanted)
    np.testing.assert_allclose(made, wanted, atol=1e-9)
    assert health(robot.host)[2]['faulty'] == (1 if thrusts else 2)
    if thrusts:
        np.testing.assert_allclose(given, thrusts, atol=1e-9)
    n = len(given)
    robot.set(efficiency=[1.0] * n, switched_off=[])
    given, made = robot.make(*wanted)
    np.testing.assert_allclose(made, wanted, atol=1e-9)
    np.testing.assert_allclose(given, lift / n, atol=1e-9)


def allocated(given):
    """Return a host with the allocator that a node with these parameters has."""
    host, parameters = FakeHost(), GivenParameters('group_allocator', given)
    family, allocator = allocator_of(
        *read_setting(parameters, AllocatorNodeParams, lambda own: None)
    )
    host.run(AllocatorLoop(family, allocator, 'base_link', host))
    return host


def boosters_loop(**given):
    """Return a host with an allocator of two boosters side by side."""
    return allocated({
        'family': 'boosters', 'names': ['left', 'right'], 'max_thrust': [100.0],
        'max_fuel_rate': [1.0], 'position': [0.0, 1.0, 0.0, 0.0, -1.0, 0.0], **given,
    })


@pytest.mark.parametrize(('given', 'force', 'torque', 'thrusts', 'text'), [
    pytest.param({'min_thrust': [0.0]}, 120.0, 40.0, [80.0, 40.0], 'ok', id='unequal'),
    pytest.param({'min_thrust': [0.0]}, -50.0, 0.0, [0.0, 0.0],
                 'force.z: -50 N wanted, 0 N allocated', id='they push one way only'),
    pytest.param({'min_thrust': [30.0]}, 10.0, 0.0, [0.0, 0.0],
                 'force.z: 10 N wanted, 0 N allocated', id='too little for any'),
    pytest.param({'min_thrust': [30.0]}, 120.0, 0.0, [60.0, 60.0], 'ok', id='enough for both'),
    pytest.param({'min_thrust': [30.0]}, 40.0, 0.0, [30.0, 30.0],
                 'force.z: 40 N wanted, 60 N allocated', id='nearer to the least'),
])
def test_boosters_push_between_their_limits(given, force, torque, thrusts, text):
    host = boosters_loop(**given)
    found, _ = demand(host, 0.0, 0.0, force, torque, 0.0, 0.0)
    np.testing.assert_allclose(found, thrusts)
    assert health(host)[1].startswith(text)


def test_gimbals_are_left_to_others():
    host = boosters_loop(**{'gimbals.booster': ['left'], 'command_interface': 'throttle'})
    demand(host, 0.0, 0.0, 50.0, 0.0, 0.0, 0.0)
    row = host.of('~/command')[-1][1]
    assert host.loop.outlets[0].names == ('left', 'right')
    np.testing.assert_allclose(row.position, [0.25, 0.25])


def test_a_solid_motor_is_never_lit():
    host = boosters_loop(**{'thrust_curve': ['0 0 0.3 100 2 0', '']})
    thrusts, _ = demand(host, 0.0, 0.0, 60.0, 0.0, 0.0, 0.0)
    assert thrusts[0] == 0.0
    assert thrusts[1] > 0.0


STEERED = {
    'family': 'rotors', 'names': ['left', 'right', 'fan'], 'max_thrust': [10.0],
    'motor_constant': [1e-5], 'axis': [1.0, 0.0, 0.0],
    'position': [0.0, 1.0, 0.0, 0.0, -1.0, 0.0, -2.0, 0.0, 0.0],
    'steering.joints': ['left_azimuth', 'yaw', 'right_azimuth'],
    'steering.mode': ['servo', 'joint_states', 'servo'], 'steering.rate_limit': [2.0],
    'steering.pivot': [0.0, 1.0, 0.0, -2.0, 0.0, 0.0, 0.0, -1.0, 0.0],
    'steering.carried_by': ['', '', ''],
    'steering.actuators': ['left_azimuth', 'right_azimuth', 'yaw'],
}


def vectored(**given):
    """Return a host with an allocator that steers two of three rotors, and their group."""
    given = {**STEERED, **given}
    return allocated({**given, 'method': 'vectored'}), build_family('rotors', given, None)[0]


def steered(host, *wrench, ms):
    demand(host, *wrench, ms=ms)
    _, row = host.of('~/command')[-1]
    return row


@pytest.mark.parametrize('yaw', [0.0, 0.8])
def test_vectored_commands_make_the_wrench_where_the_joints_are_sent(yaw):
    host, group = vectored()
    names = ['left_azimuth', 'yaw', 'right_azimuth']
    host.deliver('~/state', joints(0, names, position=[0.3, yaw, -0.2]))
    wanted = group.allocation_at(np.array([0.3, yaw, -0.2])) @ [3.0, 5.0, 2.0]
    last = np.array([0.3, -0.2])
    for ms in range(10, 600, 20):
        row = steered(host, *wanted, ms=ms)
        left, right = row.position[3:]
        made = group.allocation_at(np.array([left, yaw, right])) @ row.effort[:3]
        np.testing.assert_allclose(made, wanted, atol=1e-9)
        # No faster than its rate: 0.04 rad in 20 ms, of a demand as of one period at first.
        assert np.all(np.abs(row.position[3:] - last) <= 0.04 + 1e-12)
        last = row.position[3:]
    assert np.isnan(row.position[:3]).all()
    assert np.isnan(row.effort[3:]).all()


def test_vectored_turns_round_to_what_is_behind_and_says_what_is_missing_meanwhile():
    host, _ = vectored()
    rows = [steered(host, -12.0, 0.0, 0.0, 0.0, 0.0, 0.0, ms=ms) for ms in range(10, 3000, 50)]
    angles = np.array([row.position[3:] for row in rows])
    assert np.all(np.abs(np.diff(angles, axis=0)) <= 0.1 + 1e-12)
    np.testing.assert_allclose(np.cos(angles[-1]), -1.0, atol=1e-6)
    np.testing.assert_allclose(host.of('~/residual')[-1][1], 0.0, atol=1e-8)
    assert host.counts['out_of_reach'] == 1
    # The fan that points ahead cannot help.
    assert health(host)[:2] == (WARN, 'saturated')
    # After a pause a servo has not turned farther than in half a second.
    row = steered(host, 12.0, 0.0, 0.0, 0.0, 0.0, 0.0, ms=90000)
    assert np.all(np.abs(row.position[3:] - angles[-1]) <= 1.0 + 1e-12)


@pytest.mark.parametrize(('force', 'text'), [
    (0.01, 'saturated'), (19.0, '19 N wanted'), (500.0, 'is it in N and N m?'),
], ids=['next to nothing', 'within reach', 'another unit'])
def test_vectored_asks_for_the_unit_of_what_no_angles_can_make(force, text):
    """The boat of the examples was asked for it at its own commands, while its pods turned."""
    host, _ = vectored()
    steered(host, 0.0, force, 0.0, 0.0, 0.0, 0.0, ms=10)
    assert text in health(host)[1]
    assert ('is it in' in health(host)[1]) == (force > 100.0)


def test_vectored_reckons_with_faults_and_begins_anew_where_the_group_is():
    host, _ = vectored()
    steered(host, 0.0, 8.0, 0.0, 0.0, 0.0, 0.0, ms=10)
    report(host, left=0.0)
    row = steered(host, 0.0, 8.0, 0.0, 0.0, 0.0, 0.0, ms=30)
    assert row.effort[0] == 0.0
    host.loop.stop()
    host.loop.start()
    host.deliver('~/state', joints(0, ['left_azimuth', 'right_azimuth'], position=[1.0, 1.5]))
    row = steered(host, 0.0, 8.0, 0.0, 0.0, 0.0, 0.0, ms=50)
    np.testing.assert_allclose(row.position[3:], [1.0, 1.5], atol=0.02 + 1e-12)


@pytest.mark.parametrize('change', [
    {'steering.mode': ['joint_states']},
    {'steering.actuators': ['left_azimuth', 'left_azimuth', 'yaw']},
    {'steering.carried_by': ['', 'left_azimuth', ''],
     'steering.actuators': ['left_azimuth', 'yaw', 'yaw']},
], ids=['measured', 'one joint of two', 'carries another one'])
def test_vectored_needs_a_servo_of_one_actuator(change):
    with pytest.raises(ConfigError, match="'method': vectored needs an actuator that one joint"):
        vectored(**change)
