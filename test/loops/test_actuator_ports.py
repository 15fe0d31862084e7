# SPDX-License-Identifier: Apache-2.0
"""An actuator group with its topics, on a host without ROS."""
import re

import numpy as np
import pytest
from actuators import fin, pods

from fake_host import MS, FakeHost, joints, message, wrench_message, xyz
from propulsion_ros.loops.actuator_loop import LoopParams
from propulsion_ros.loops.actuator_ports import ActuatorPorts
from propulsion_ros.loops.payloads import JointRow
from propulsion_ros.loops.ports import ERROR, OK, WARN
from propulsion_ros.models.common.motion import Motion
from propulsion_ros.models.fam.fam import Fam, FamParams
from propulsion_ros.models.rotors.params import RotorsParams
from propulsion_ros.models.rotors.rotors import Rotors
from propulsion_ros.models.thrusters.thrusters import Thrusters, ThrustersParams
from propulsion_ros.settings.errors import ConfigError

POSE = {'position': xyz(), 'orientation': {**xyz(), 'w': 1.0}}


class Group:
    """A group on a host that keeps what it publishes."""

    def __init__(self, family=None, host=None, **values):
        self.host = host or FakeHost()
        params = {
            key: values.pop(key) for key in ('update_rate', 'step_on', 'hold_back', 'publish_rate')
            if key in values
        }
        family = family or pods()
        self.loop = ActuatorPorts(
            family, LoopParams(**{'step_on': 'stamp', **params}), 'base_link', self.host, **values
        )

    def run(self):
        self.host.run(self.loop)
        return self

    def command(self, ms, name=('a', 'b'), **fields):
        self.host.deliver('~/command', joints(ms * MS, name, **fields))

    def forces(self):
        return [(stamp_ns / MS, wrench[0]) for stamp_ns, wrench in self.host.of('~/wrench')]

    def health(self):
        (_, level, text, _), = self.loop.health()
        return level, text


def topics(items):
    return [item.topic for item in items]


def clock(ms):
    sec, nanosec = divmod(ms * MS, 1000 * MS)
    return message(0, clock={'sec': sec, 'nanosec': nanosec})


def odometry(stamp_ns, speed, frame='odom', child_frame='base_link'):
    return message(
        stamp_ns, frame, child_frame_id=child_frame, pose={'pose': POSE},
        twist={'twist': {'linear': xyz(speed), 'angular': xyz()}},
    )


def test_commands_at_their_stamps_become_wrenches():
    group = Group().run()
    for ms in (10, 20):
        group.command(ms, velocity=[10.0, 20.0])
    # The command of a tick is known once time has passed it.
    assert group.forces()[-1] == (20.0, pytest.approx(5.0))
    stamp_ns, state = group.host.of('~/state')[-1]
    assert stamp_ns == 20 * MS
    assert isinstance(state, JointRow)
    assert state.velocity.tolist() == [10.0, 20.0]
    assert group.host.counts['taken'] == 2
    assert group.health() == (OK, 'ok')


def test_names_without_a_command_are_told_apart_from_a_group_without():
    group = Group().run()
    assert group.loop.uncommanded is None
    group.command(10, name=['b'], velocity=[1.0])
    assert group.loop.uncommanded == ['a']
    group.command(20, velocity=[1.0, 1.0])
    assert group.loop.uncommanded == []


def rotors(**given):
    return Rotors(RotorsParams(names=['a', 'b'], max_thrust=[8.0], motor_constant=[1e-5], **given))


def square(**given):
    return Thrusters(ThrustersParams(**{'names': ['a', 'b'], 'rotor_constant': 4e-4, **given}))


def table(interface):
    """Return thrusters with curves, which take shares or speeds."""
    return square(
        conversion='linear_interp', input_values='-380 0 380', output_values='-40 0 51',
        command_interface=interface, esc_kind='table', esc_curve='0 -40 0.5 0 1 51',
    )


FAR = 'every last command is far beyond its limits and clamped, such as a '
ASTERN = 'which is full astern, and 0.5 is rest; of -1 to 1 send 0.5 + 0.5 x'
LIMITED = {'min_command': -350.0, 'max_command': 350.0}
FAST = {'rotor_constant': 1e-4, 'max_command': 600.0, 'dynamics': ['zero_order']}


@pytest.mark.parametrize(('family', 'field', 'sent', 'words'), [
    pytest.param(rotors(), 'effort', [-3.0, -3.0], 'nothing pushes, as every last command is '
                 'beyond its limits; is their sign wrong?', id='below'),
    pytest.param(rotors(), 'effort', [-3.0, 3.0], '', id='one below'),
    pytest.param(rotors(), 'effort', [30.0, 30.0], '', id='above'),
    pytest.param(rotors(), 'effort', [0.0, 0.0], 'every command was 0, so nothing pushed',
                 id='zeros'),
    pytest.param(rotors(), 'effort', [1500.0, 1600.0], FAR + '1500 of at most 8 N; is it in N?',
                 id='pulses'),
    pytest.param(rotors(), 'effort', [0.4, 0.9],
                 'no thrust was above 0.9 of 8 N; is effort in N?', id='shares'),
    pytest.param(rotors(), 'effort', [0.4, 1.3], '', id='little'),
    pytest.param(rotors(time_constant_up=[1.0]), 'effort', [5.0, 5.0], '', id='not reached'),
    pytest.param(table('throttle'), 'position', [0.6, 0.7], '', id='throttles'),
    pytest.param(table('throttle'), 'position', [1.2, 1.3], '', id='throttles a little beyond'),
    pytest.param(table('throttle'), 'position', [1500.0, 1600.0],
                 FAR + '1500 of at most 1; is it a throttle of 0 to 1, not N, % or us?',
                 id='pulses as throttles'),
    pytest.param(rotors(command_interface='throttle'), 'position', [5.2, 2.1],
                 FAR + '5.2 of at most 1; is it a throttle of 0 to 1, not N, % or us?',
                 id='newtons as throttles'),
    pytest.param(table('throttle'), 'position', [np.nan, 1600.0],
                 FAR[:-2] + 'b 1600 of at most 1; is it a throttle of 0 to 1, not N, % or us?',
                 id='a pulse alone'),
    pytest.param(table('throttle'), 'position', [0.3, -0.2], 'every command below 0 is clamped to '
                 f'0, such as -0.2 of b, {ASTERN}', id='throttles of -1 to 1'),
    pytest.param(table('throttle'), 'position', [0.0, 0.0], f'every command was 0, {ASTERN}',
                 id='throttles of -1 to 1 at rest'),
    pytest.param(rotors(command_interface='throttle'), 'position', [0.3, -0.2], '',
                 id='a throttle below 0 that is rest'),
    pytest.param(table('velocity'), 'velocity', [1700.0, 1800.0],
                 FAR + '1700 of at most 380 rad/s; is it in rad/s?', id='pulses as speeds'),
    pytest.param(table('velocity'), 'velocity', [300.0, 1800.0], '', id='one speed'),
    pytest.param(square(**LIMITED), 'velocity', [0.9, 0.0],
                 'no thrust was above 0.000324 of 49 N; is velocity in rad/s?', id='speed shares'),
    pytest.param(square(**LIMITED), 'velocity', [20.0, 0.0], '', id='little speed'),
    pytest.param(square(**LIMITED), 'velocity', [0.02, 0.0], '', id='nearly no speed'),
    pytest.param(square(**FAST), 'velocity', [3000.0, 20.0],
                 'a did 0.2 of what was sent; is that in rad/s, not rpm?', id='rpm'),
    pytest.param(square(**FAST), 'velocity', [900.0, 20.0], '', id='speeds a little beyond'),
])
def test_commands_of_another_unit_or_sign_are_told_apart(family, field, sent, words):
    group = Group(family).run()
    assert not group.loop.mistake
    for ms in (10, 20, 30):
        names = [name for name, each in zip('ab', sent, strict=True) if each == each]
        group.command(ms, name=names, **{field: [each for each in sent if each == each]})
    assert group.loop.mistake == words
    assert group.host.said('warn') == [words] * words.startswith(('every last', 'every command b'))


@pytest.mark.parametrize(('efforts', 'lines'), [
    pytest.param([[-3.0, -3.0]] * 4, 1, id='all the time'),
    pytest.param([[-3.0, -3.0], [2.0, 2.0], [-3.0, -3.0], [-3.0, -3.0]], 0, id='after a push'),
    pytest.param([[-3.0, -3.0], [0.0, 0.0], [-3.0, -3.0], [0.0, 0.0]], 0, id='in between'),
])
def test_thrusts_below_0_that_last_are_a_wrong_sign(efforts, lines):
    """They pushed nothing without a line, where a controller counts down as positive."""
    group = Group(rotors()).run()
    for ms, each in zip((10, 410, 810, 1210), efforts, strict=True):
        group.command(ms, effort=each)
    assert len(group.host.said('warn')) == lines
    assert all(line.endswith('is their sign wrong?') for line in group.host.said('warn'))


def test_what_is_asked_for_in_the_end_may_be_less():
    group = Group(rotors()).run()
    for ms, efforts in ((10, [0.4, 1.3]), (20, [0.2, 0.65])):
        group.command(ms, effort=efforts)
    assert not group.loop.mistake


@pytest.mark.parametrize(('make', 'ports'), [
    pytest.param(pods, ['~/command'], id='joints'),
    pytest.param(lambda: Fam(FamParams()), ['~/wrench_command', '~/inertia'], id='a wrench'),
    pytest.param(fin, ['~/command', '~/odometry', '~/current'], id='in a flow'),
])
def test_ports_are_those_of_the_family(make, ports):
    group = Group(make())
    assert topics(group.loop.ports) == ports
    followed = ['~/effectiveness'] if hasattr(group.loop.family, 'command_for') else []
    assert topics(group.loop.outlets) == ['~/wrench', '~/state', *followed, '~/requests']
    assert topics(group.loop.requests) == ['~/reset', '~/set_enabled']
    assert not group.loop.timers


def test_a_clock_is_a_port_in_simulation_and_a_timer_on_a_robot():
    robot, host = Group(step_on='clock', update_rate=50.0), FakeHost()
    assert [timer.period for timer in robot.loop.timers] == [0.02]
    host.is_simulated = True
    simulated = Group(host=host, step_on='clock')
    assert topics(simulated.loop.ports) == ['~/command', '/clock']
    assert not simulated.loop.timers


@pytest.mark.parametrize('hold_back', [0.0, 0.02])
def test_simulated_time_steps_it(hold_back):
    host = FakeHost()
    host.is_simulated = True
    group = Group(host=host, step_on='clock', hold_back=hold_back).run()
    group.command(0, velocity=[10.0, 10.0])
    for ms in (0, 10, 20):
        host.deliver('/clock', clock(ms))
    assert group.forces()[-1] == (20.0 - 1e3 * hold_back, pytest.approx(2.0))
    host.deliver('/clock', message(0, clock={'sec': -1, 'nanosec': 0}))
    assert host.said('warn') == ['clock refused: -1 s is before 0']


def test_stamp_0_takes_effect_in_the_next_step():
    group = Group(step_on='clock').run()
    group.host.now = 5000 * MS
    group.host.wait(0.01)
    group.command(0, velocity=[10.0, 0.0])
    assert group.loop.inputs.waiting == 1
    group.host.now = 5010 * MS
    group.host.wait(0.01)
    assert group.forces()[-1] == (5010.0, pytest.approx(1.0))


def test_command_of_stamp_0_is_held_as_long_at_the_beginning_of_simulated_time():
    """It counted from 0 for the first second, so that its thrust ended too soon."""
    host = FakeHost()
    host.is_simulated = True
    group = Group(step_on='clock', host=host).run()
    for ms in range(0, 1000, 10):
        host.now = ms * MS
        host.deliver('/clock', clock(ms))
        if ms == 300:
            group.command(0, velocity=[10.0, 0.0])
    pushed = [ms for ms, force in group.forces() if force > 0.0]
    assert pushed[0] == 310.0
    assert 790.0 <= pushed[-1] <= 810.0


@pytest.mark.parametrize(('fields', 'line'), [
    pytest.param({'velocity': [1.0]}, 'velocity: expected 2 values', id='count'),
    pytest.param({'name': ['a', 'c'], 'velocity': [1.0, 1.0]}, "unknown name 'c'", id='name'),
    pytest.param({'velocity': [np.inf, 1.0]}, 'a: velocity is infinite', id='infinity'),
])
def test_refused_commands_are_counted_and_complained_of(fields, line):
    group = Group().run()
    group.command(10, **fields)
    assert group.host.counts == {'refused': 1}
    assert re.search(f'command refused: {line}', group.host.said('warn')[0])
    assert not group.forces()


def test_a_command_of_another_time_is_not_taken():
    host = FakeHost()
    host.is_simulated = True
    group = Group(host=host, step_on='clock').run()
    host.deliver('/clock', clock(10_000))
    group.command(500_000, velocity=[1.0, 1.0])
    assert host.said('warn') == [
        'command not taken: stamped 500.000 s, but the time is 10.000 s; was it stamped by '
        'another clock? Set use_sim_time alike, or stamp 0 for now'
    ]
    assert group.health() == (WARN, 'inputs of another time were not taken')


def test_a_command_of_another_time_is_held_where_the_next_one_may_confirm_it():
    group = Group().run()
    group.command(10, velocity=[1.0, 1.0])
    group.command(500_000, velocity=[2.0, 2.0])
    assert group.host.said('warn') == [
        'command held until the next one confirms its time: stamped 500.000 s, but the time is '
        '0.010 s; was it stamped by another clock? Set use_sim_time alike, or stamp 0 for now'
    ]
    group.command(500_010, velocity=[3.0, 3.0])
    stamps = [stamp_ns // MS for stamp_ns, _ in group.host.of('~/wrench')]
    assert 500_000 in stamps


def test_a_clock_on_wall_time_beside_a_simulated_recording_is_reported_once_and_resets_nothing():
    host = FakeHost()
    host.is_simulated, host.now = True, 1_700_000_000_000 * MS
    group = Group(host=host, lossless=True).run()
    for ms in (0, 10, 20, 30):
        group.command(ms, velocity=[1.0, 1.0])
    assert host.said('warn') == [
        '/clock shows 1700000000.000 s, but the inputs are stamped 0.000 s; the stamps count, so '
        'play the recording without --clock'
    ]
    assert not host.counts['jumps']
    assert not host.counts['other_time']
    assert [stamp_ns // MS for stamp_ns, _ in host.of('~/wrench')] == [0, 10, 20, 30]


@pytest.mark.parametrize(('publishers', 'lines'), [(0, 1), (1, 0)])
def test_inputs_that_wait_for_a_clock_that_nothing_publishes_are_one_line(publishers, lines):
    host = FakeHost()
    host.is_simulated, host.publishers['/clock'] = True, publishers
    group = Group(host=host, step_on='clock').run()
    group.command(0, velocity=[1.0, 1.0])
    assert group.health() == (WARN, 'inputs wait for a clock that has not come yet')
    assert host.said('warn') == lines * [
        'inputs wait for time: /clock has no publisher; start the simulation, or set use_sim_time '
        'false'
    ]


def test_two_publishers_of_the_motion_are_one_line():
    group = Group(fin()).run()
    group.host.publishers['~/odometry'] = 2
    for _ in range(2):
        group.health()
    assert group.host.said('warn') == [
        '2 publishers of ~/odometry: each message holds until that of another one; stop all but one'
    ]


def test_a_jump_back_resets_in_simulation_and_keeps_the_state_on_a_robot():
    for is_simulated, what in ((True, 'actuators reset'), (False, 'actuators keep their state')):
        host = FakeHost()
        host.is_simulated = is_simulated
        Group(host=host, step_on='clock').run()
        for now in (20_000 * MS, 1000 * MS):
            host.now = now
            if is_simulated:
                host.deliver('/clock', clock(now // MS))
            else:
                host.wait(0.01)
        assert host.said('warn') == [f'time jumped by -19.000 s, {what}']
        assert host.counts['jumps'] == 1


def test_numbers_and_links_are_published_where_they_are_asked_for():
    links = ('link_a', 'link_b')
    family = Thrusters(ThrustersParams(
        names=['a', 'b'], rotor_constant=[1e-2], dynamics=['zero_order'], link=links,
    ))
    group = Group(family, publish_each=True, publish_numbers=True).run()
    assert topics(group.loop.outlets) == [
        '~/wrench', '~/state', '~/wrenches/a', '~/wrenches/b', '~/thrusts/a', '~/thrusts/b',
        '~/effectiveness', '~/requests',
    ]
    assert [outlet.frame for outlet in group.loop.outlets[2:4]] == list(links)
    group.command(10, velocity=[10.0, 20.0])
    assert group.host.of('~/thrusts/b') == [(10 * MS, pytest.approx(4.0))]
    group.loop.stop()
    assert group.host.of('~/thrusts/b')[-1] == (10 * MS, 0.0)
    assert not group.host.of('~/wrenches/a')[-1][1].any()


def test_the_number_of_a_fin_is_the_size_of_its_force():
    group = Group(fin(), publish_numbers=True).run()
    group.host.deliver('~/odometry', odometry(5 * MS, 2.0))
    group.command(10, ['f'], position=[0.2])
    wrench = group.host.of('~/wrench')[-1][1]
    thrust = group.host.of('~/thrusts/f')[-1][1]
    assert thrust == pytest.approx(np.linalg.norm(wrench[:3]))
    assert thrust > 1.5
    assert group.host.of('~/positions/f')[-1][1] == pytest.approx(0.2)


def test_at_the_end_a_lack_of_motion_is_named_where_nothing_pushed_for_it():
    rotor = Rotors(RotorsParams(
        names=['f'], max_thrust=8.0, motor_constant=1e-5, rotor_drag_coefficient=1e-5
    ))
    for family, command, lines in (
        (rotor, {'effort': [5.0]}, []),
        (fin(), {'position': [0.2]}, ['no odometry, body.velocity of a table, so no force']),
    ):
        group = Group(family).run()
        group.command(10, ['f'], **command)
        group.loop.conclude()
        assert group.loop.core.lacks_motion
        assert group.host.said('warn') == lines
        # Of what pushes without a flow no diagnosis names the lack of force.
        assert group.health()[1].endswith('so no force' if lines else 'so as at rest')


def test_a_family_in_a_flow_complains_until_there_is_some():
    group = Group(fin()).run()
    group.command(10, ['f'], position=[0.2])
    assert group.health() == (WARN, 'no odometry yet, so no force')
    # What is refused does not define the frame of the world.
    group.host.deliver('~/odometry', odometry(20 * MS, 2.0, 'map', child_frame='arm'))
    assert group.host.said('warn') == [
        "odometry refused: expected the twist of 'base_link', got 'arm'"
    ]
    group.host.deliver('~/odometry', odometry(30 * MS, 2.0))
    group.host.deliver('~/current', message(
        40 * MS, 'map', twist={'linear': xyz(1.0), 'angular': xyz()}
    ))
    assert group.host.said('warn')[-1] == "current refused: expected the frame 'odom', got 'map'"


def test_adapters_are_further_commands():
    group = Group(adapters=('float64_multi_array', 'actuators')).run()
    assert topics(group.loop.ports) == ['~/command', '~/command_array', '~/command_actuators']
    group.host.now = 10 * MS
    group.host.deliver('~/command_array', message(data=[10.0, 0.0]))
    group.host.deliver('~/command_actuators', message(20 * MS, velocity=[10.0, 10.0]))
    assert group.forces() == [(10.0, pytest.approx(1.0)), (20.0, pytest.approx(2.0))]


@pytest.mark.parametrize(('family', 'options', 'text'), [
    pytest.param(pods, {'publish_each': True},
                 "'publish_each': expected a link for each actuator", id='no links'),
    pytest.param(lambda: Thrusters(ThrustersParams(names=['a b'], rotor_constant=[1.0])),
                 {'publish_numbers': True}, "'a b' cannot be part of a topic name", id='name'),
    pytest.param(lambda: Fam(FamParams()), {'adapters': ('actuators',)},
                 'actuators carry velocity or position, not effort', id='field'),
])
def test_what_does_not_go_together_is_refused(family, options, text):
    with pytest.raises(ConfigError, match=text):
        Group(family(), **options)


@pytest.mark.parametrize(('publishers', 'readers', 'name', 'lines'), [
    pytest.param((2, 0), 0, ['a', 'b'], 1, id='of all actuators'),
    pytest.param((2, 0), 1, ['a', 'b'], 0, id='an idle allocator beside'),
    pytest.param((2, 1), 0, ['a', 'b'], 0, id='a flight computer beside'),
    pytest.param((2, 0), 0, ['a'], 0, id='of one each'),
    pytest.param((1, 0), 0, ['a', 'b'], 0, id='one'),
])
def test_several_publishers_of_the_same_commands_are_one_line(publishers, readers, name, lines):
    group = Group().run()
    group.host.publishers.update({'~/command': publishers[0], 'engines': publishers[1]})
    group.host.subscriptions['~/effectiveness'] = readers
    group.command(0, name, velocity=[10.0] * len(name))
    for _ in range(3):
        group.health()
    assert group.host.said('warn') == lines * [
        '2 publishers of ~/command: each command holds until that of another one; stop all but one'
    ]


def test_disabled_actuators_push_nothing_until_enabled():
    group = Group().run()
    group.command(10, velocity=[10.0, 10.0])
    serve = group.loop.requests[1].serve
    assert serve(False) == (True, 'disabled')
    assert group.forces()[-1] == (10.0, 0.0)
    group.command(20, velocity=[10.0, 10.0])
    assert group.forces()[-1] == (20.0, 0.0)
    assert group.health() == (WARN, 'disabled')
    assert serve(True) == (True, 'enabled')
    group.command(30, velocity=[10.0, 10.0])
    assert group.forces()[-1] == (30.0, pytest.approx(2.0))


def test_reset_and_stop():
    group = Group().run()
    group.command(10, velocity=[10.0, 10.0])
    assert group.loop.requests[0].serve(True) == (True, 'reset')
    assert group.loop.inputs.last_stamp_ns is None
    group.host.now = 70 * MS
    group.loop.stop()
    assert group.forces()[-1] == (70.0, 0.0)
    assert group.host.said('info') == ['active, takes commands for a, b']


def test_centre_of_mass_is_taken_before_activation_too():
    group = Group(Fam(FamParams()))
    port = next(port for port in group.loop.ports if port.topic == '~/inertia')
    assert port.while_inactive
    port.take(message(0, 'map', inertia={'com': xyz(0.1)}))
    assert group.host.said('warn') == ["com refused: expected the frame 'base_link', got 'map'"]
    port.take(message(0, 'base_link', inertia={'com': xyz(0.1)}))
    assert group.loop.core.com.value.tolist() == [0.1, 0.0, 0.0]
    wanted, moved = np.full(6, 0.01), Fam(FamParams(com=[0.1, 0.0, 0.0]))
    for start_over in (group.run, group.loop.reset):
        start_over()
        np.testing.assert_array_equal(
            group.loop.family.allocate(wanted).thrust, moved.allocate(wanted).thrust
        )
    group.host.deliver('~/wrench_command', wrench_message(10 * MS, [0.1, 0, 0, 0, 0, 0]))
    group.host.deliver('~/inertia', message(20 * MS, 'base_link', inertia={'com': xyz()}))
    group.host.deliver('~/wrench_command', wrench_message(30 * MS, [0.1, 0, 0, 0, 0, 0]))
    assert group.loop.core.com.value.tolist() == [0.0, 0.0, 0.0]


def test_a_wrench_that_is_not_finite_is_published_as_zero(monkeypatch):
    group = Group().run()
    step = group.loop.family.step
    monkeypatch.setattr(group.loop.family, 'step', lambda *args: step(*args)._replace(
        wrench=np.full(6, np.nan)
    ))
    group.command(10, velocity=[10.0, 10.0])
    assert group.forces() == [(10.0, 0.0)]
    assert group.health() == (ERROR, 'the wrench was not finite')


def test_a_host_with_time_and_motion_of_its_own_steps_it():
    group = Group(fin(), step_on='clock').run()
    motion = Motion(
        np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0]), np.array([2.0, 0.0, 0.0]), np.zeros(3)
    )
    group.command(0, ['f'], position=[0.2])
    output = group.loop.step(10 * MS, motion)
    assert np.linalg.norm(output.wrench) > 1.0
    assert group.host.of('~/wrench')[-1][0] == 10 * MS
    # Between two ticks nothing runs.
    assert group.loop.step(15 * MS, motion) is None
    group.loop.reset()
    assert group.loop.core.lacks_motion


def test_absence_of_commands_is_asked_of_the_host():
    assert Group().run().health() == (WARN, 'no command')
