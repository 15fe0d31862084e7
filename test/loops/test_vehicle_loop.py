# SPDX-License-Identifier: Apache-2.0
import math
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest

from fake_host import MS, FakeHost, joints, message, wrench_message, xyz
from propulsion_ros.loops.lockstep import Lockstep
from propulsion_ros.loops.vehicle_loop import VehicleLoop
from propulsion_ros.loops.vehicle_params import VehicleParams
from propulsion_ros.models.common.atmosphere import altitude_of_pressure, temperature_and_pressure
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.flat import build
from refusals import refusal

URDF = """
<robot name="block"><link name="base_link"><inertial><origin xyz="0 0 0.5"/>
  <mass value="2"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>
</inertial></link>
<joint name="hinge" type="continuous"><parent link="base_link"/><child link="flap"/></joint>
<link name="flap"/></robot>
"""
SETTINGS = {
    'robot_description': URDF, 'wrench_topics': ['a/wrench', 'b/wrench'],
    'real_time_factor': 0.0, 'wait_for_subscribers': ['odometry'], 'body.gravity': 10.0,
}
STEP = 10 * MS


class Vehicle:
    """A vehicle under test, in a graph that is complete, pushed by hand."""

    def __init__(self, with_tf=False, **settings):
        self.host = FakeHost()
        self.params = build(VehicleParams, {**SETTINGS, **settings})
        topics = ('/clock', *self.params.awaited_topics, 'pyros')
        self.host.publishers.update(dict.fromkeys(topics, 1))
        self.host.subscriptions.update({'~/odometry': 1})
        self.loop = self.host.run(VehicleLoop(self.params, self.host, with_tf))

    def begin(self):
        self.host.wait(0.4)
        return self

    def push(self, topic, tick, up=0.0, frame='base_link'):
        wrench = (0.0, 0.0, up, 0.0, 0.0, 0.0)
        self.host.deliver(topic, wrench_message(round(tick * STEP), wrench, frame))

    def push_all(self, tick, up=0.0):
        for topic in self.params.wrench_topics:
            self.push(topic, tick, up)

    def run(self, end, up=0.0, begin=0):
        """Push at each of some steps."""
        for tick in range(begin, end):
            self.push_all(tick, up)
        return self

    @property
    def poses(self):
        return self.host.of('~/odometry')

    @property
    def ticks(self):
        return [stamp_ns // STEP for stamp_ns, _ in self.poses]

    @property
    def speed(self):
        return self.poses[-1][1].velocity[2]


# Steps.


def test_each_step_waits_for_the_wrench_of_every_topic():
    vehicle = Vehicle().begin()
    vehicle.push('a/wrench', 0, 15.0)
    assert vehicle.ticks == [0]
    vehicle.push('b/wrench', 0, 15.0)
    assert vehicle.ticks == [0, 1]
    # 30 N on 2 kg under 10 m/s^2: 5 m/s^2 up for 0.01 s.
    pose = vehicle.poses[-1][1]
    assert pose.velocity[2] == pytest.approx(0.05, rel=1e-6)
    assert pose.position[2] == pytest.approx(0.5 * 5.0 * 0.01**2, rel=1e-6)
    assert pose.child_frame == 'base_link'


def test_everything_of_a_step_has_its_stamp_and_odometry_comes_last():
    vehicle = Vehicle(with_tf=True)
    vehicle.host.subscriptions['tf'] = 1
    vehicle.begin().push_all(0)
    topics = [topic for topic, stamp_ns, _ in vehicle.host.published if stamp_ns == STEP]
    assert topics == ['/clock', '~/pressure', '~/imu', '~/inertia', '~/odometry', 'tf']
    assert vehicle.host.of('tf') == vehicle.poses


@pytest.mark.parametrize(('with_tf', 'publish_tf', 'watched', 'expected'), [
    pytest.param(True, True, True, ['tf'], id='watched'),
    pytest.param(True, True, False, [], id='not watched'),
    pytest.param(True, False, True, [], id='not wanted'),
    pytest.param(False, True, True, [], id='not installed'),
])
def test_tf_is_published_where_it_can_be_and_is_watched(with_tf, publish_tf, watched, expected):
    vehicle = Vehicle(with_tf, publish_tf=publish_tf)
    vehicle.host.subscriptions['tf'] = int(watched)
    vehicle.begin()
    assert [topic for topic, *_ in vehicle.host.published if topic == 'tf'] == expected
    has_outlet = 'tf' in [outlet.topic for outlet in vehicle.loop.outlets]
    assert has_outlet == (with_tf and publish_tf)


def test_sensors_measure_what_the_body_does():
    vehicle = Vehicle(**{'body.site_altitude': 500.0}).begin()
    vehicle.push_all(0, 15.0)
    (_, rest), (_, pushed) = vehicle.host.of('~/imu')
    assert rest.specific_force[2] == pytest.approx(10.0)
    assert pushed.specific_force[2] == pytest.approx(15.0, rel=1e-6)
    _, air = vehicle.host.of('~/pressure')[0]
    assert altitude_of_pressure(air.pressure) == pytest.approx(500.0)
    assert air.variance == 0.0
    warm = Vehicle(**{'body.site_altitude': 2000.0, 'body.temperature_offset': 20.0}).begin()
    _, air = warm.host.of('~/pressure')[0]
    assert air.pressure == float(temperature_and_pressure(2000.0, 20.0)[1])


def test_the_pressure_lags_and_has_a_rate_of_its_own():
    """At rest it is that of the air; it follows at each step, and is published at every other."""
    air, followed = Vehicle(), Vehicle(pressure_rate=50.0, pressure_lag=0.3)
    for vehicle in (air, followed):
        vehicle.begin()
        vehicle.run(20, 400.0)
    samples = {stamp_ns: row.pressure for stamp_ns, row in followed.host.of('~/pressure')}
    assert list(samples) == [2 * i * STEP for i in range(11)]
    expected = None
    for stamp_ns, row in air.host.of('~/pressure'):
        expected = row.pressure if expected is None else (
            expected + (1.0 - math.exp(-0.01 / 0.3)) * (row.pressure - expected)
        )
        assert samples.get(stamp_ns, expected) == pytest.approx(expected, abs=1e-9)
    assert samples[20 * STEP] - row.pressure > 1.0


@pytest.mark.parametrize(('settings', 'text'), [
    pytest.param({'pressure_rate': 30.0}, '30 Hz does not divide 100 Hz', id='no whole steps'),
    pytest.param({'pressure_rate': 4.0}, '4 Hz is too slow for .* of 0.3 s, .* and 0.1 s within',
                 id='no step would wait so long'),
    pytest.param({'pressure_rate': 5.0}, '', id='just fast enough'),
])
def test_a_rate_of_the_pressure_that_cannot_be(settings, text):
    chutes = {'parachutes.names': ['main'], 'parachutes.drag_area': [1.0],
              'parachutes.deployment_delay': [0.3], 'deployer_topic': 'deployers'}
    with pytest.raises(ConfigError, match=text) if text else nullcontext():
        Vehicle(**chutes, **settings)


def test_states_are_merged_and_joints_of_others_left_out():
    vehicle = Vehicle(state_topics=['a/state']).begin()
    assert vehicle.host.of('~/joint_states') == []
    vehicle.host.deliver('a/state', message(
        name=['hinge', 'a_motor', 'hinge'], position=[0.5, 1.0, np.nan]
    ))
    vehicle.push_all(0)
    ((_, row),) = vehicle.host.of('~/joint_states')
    assert (list(row.names), list(row.position)) == (['hinge'], [0.5])


def tank_message(mass, **inertia):
    fields = {'ixx': 0.0, 'ixy': 0.0, 'ixz': 0.0, 'iyy': 0.0, 'iyz': 0.0, 'izz': 0.0, **inertia}
    return message(0, 'base_link', inertia={
        'm': mass, 'com': xyz(), **fields
    })


def test_step_waits_for_a_tank_which_weighs():
    vehicle = Vehicle(tank_topics=['a/tank']).begin()
    vehicle.push_all(0, 30.0)
    assert vehicle.ticks == [0]
    vehicle.host.deliver('a/tank', tank_message(1.0))
    assert vehicle.speed == pytest.approx((60.0 / 3.0 - 10.0) * 0.01)
    assert vehicle.host.of('~/inertia')[-1][1].mass == pytest.approx(3.0)


@pytest.mark.parametrize('tank', [
    pytest.param(tank_message(-5.0), id='mass'),
    pytest.param(tank_message(1.0, ixx=-5.0), id='inertia'),
    pytest.param(tank_message(np.inf), id='infinite'),
])
def test_tank_that_is_no_mass_is_refused(tank):
    vehicle = Vehicle(tank_topics=['a/tank']).begin()
    vehicle.host.deliver('a/tank', tank)
    assert vehicle.host.counts['refused'] == 1
    assert 'with this inertia is no mass' in vehicle.host.said('warn')[0]


@pytest.mark.parametrize('size', [1e6, 1e9, 1e15, 1e200, -1e15])
@pytest.mark.parametrize('drag', [0.0, 0.5])
def test_one_wrench_that_is_too_large_is_refused_and_the_flight_goes_on(size, drag):
    if abs(size) < 1e9:
        drag = max(drag, 5.0)
    vehicle = Vehicle(**{
        'body.drag_area': [drag] * 3, 'body.fluid_density': 1000.0, 'body.gravity': 0.0,
    }).begin()
    vehicle.push('b/wrench', 0)
    vehicle.push('a/wrench', 0, size)
    assert vehicle.ticks == [0]
    assert vehicle.host.counts['refused'] == 1
    (line,) = vehicle.host.said('warn')
    assert line.startswith('a/wrench: the wrench is too large, expected one that the body can')
    # The same source sends the right one for the same step, and the vehicle goes on.
    vehicle.push('a/wrench', 0, 1.0)
    vehicle.run(50, 1.0, begin=1)
    assert vehicle.host.is_active
    assert vehicle.ticks[-1] == 50
    assert 0.0 < vehicle.speed < 1.0


def test_a_strong_wrench_in_air_is_followed():
    up, vehicle = 1e5, Vehicle(**{'body.drag_area': [0.01] * 3}).begin()
    vehicle.push_all(0, up)
    assert vehicle.host.counts['refused'] == 0
    assert vehicle.speed == pytest.approx(2.0 * up / 2.0 * 0.01, rel=0.5)


# Parachutes.


def fired(tick, effort=1.0):
    return joints(tick * STEP, ['main'], effort=[effort])


PARACHUTE = {
    'deployer_topic': 'pyros', 'parachutes.names': ['main'], 'parachutes.drag_area': [1.0],
    'parachutes.deployment_delay': [0.1], 'parachutes.inflation_time': [0.0],
    'body.start_position': [0.0, 0.0, 1000.0], 'body.fluid_density': 1.0,
}


@pytest.mark.parametrize('is_fired', [True, False])
def test_parachute_opens_after_its_delay(is_fired):
    vehicle = Vehicle(**PARACHUTE).begin()
    speeds = []
    for tick in range(40):
        if tick % 10 == 0:
            vehicle.host.deliver('pyros', fired(tick, float(is_fired and tick == 10)))
        vehicle.push_all(tick)
        speeds.append(vehicle.speed)
    falling = -10.0 * 0.01 * np.arange(1, 41)
    np.testing.assert_allclose(speeds[:20], falling[:20], rtol=1e-9)
    brakes = speeds[25] > falling[25] + 1e-3
    assert brakes == is_fired


@pytest.mark.parametrize(('climb', 'level'), [(-2.2, 'info'), (60.0, 'warn')])
def test_speed_at_which_a_parachute_is_fired_is_logged_once(climb, level):
    """A backup timer that is too short fired the drogue at 250 m/s without a word."""
    vehicle = Vehicle(**PARACHUTE, **{'body.start_velocity': [0.0, 0.0, climb]}).begin()
    for tick in range(20):
        vehicle.host.deliver('pyros', fired(tick))
        vehicle.push_all(tick)
    (line,) = [line for line in vehicle.host.said(level) if 'fired' in line]
    now, height = 0.1, 1000.0 + 0.1 * climb - 0.05
    assert line == (
        f'main was fired at 0.000 s; at {now:.3f} s {height:.4g} m up, {climb - 1.0:+.3g} m/s'
    )


@pytest.mark.parametrize(('names', 'lines'), [
    pytest.param(['drogue', 'mian'], [
        "parachutes.names: 'main' never opens: pyros has drogue, mian, did you mean 'mian'?"
    ], id='another name'),
    pytest.param(['drogue', 'main'], [], id='one that is no parachute'),
    pytest.param(['main'], [], id='all'),
])
def test_parachute_that_no_deployer_frees_is_named(names, lines):
    """It fell to the ground without a word."""
    vehicle = Vehicle(**PARACHUTE).begin()
    for tick in range(2):
        message = fired(tick, 0.0)
        message.name, message.effort = names, [0.0] * len(names)
        vehicle.host.deliver('pyros', message)
        vehicle.push_all(tick)
    assert vehicle.host.said('warn') == lines


@pytest.mark.parametrize(('effort', 'angle', 'opens'), [
    pytest.param(np.nan, 1.57, True, id='turned'),
    pytest.param(np.nan, np.nan, False, id='not turned yet'),
    pytest.param(0.0, 0.0, False, id='a pyro that has an angle'),
])
def test_servo_frees_a_parachute_where_it_is_turned(effort, angle, opens):
    """Its canopy never opened, though events and `check` had it open."""
    vehicle = Vehicle(**PARACHUTE).begin()
    for tick in range(20):
        vehicle.host.deliver('pyros', joints(tick * STEP, ['main'], [angle], effort=[effort]))
        vehicle.push_all(tick)
    assert any('main was fired' in line for line in vehicle.host.said('info')) is opens


def test_pyro_that_fired_long_ago_frees_nothing():
    vehicle = Vehicle(**PARACHUTE).begin()
    for tick in range(31):
        if tick % 10 == 0:
            vehicle.host.deliver('pyros', fired(tick, 0.0))
        vehicle.push_all(tick)
    vehicle.host.deliver('pyros', fired(1))
    assert vehicle.host.said('warn') == [
        'deployers main: stamped 0.010 s, too old to fire'
    ]


# Stamps and frames.


@pytest.mark.parametrize(('up', 'frame', 'line'), [
    pytest.param(1.0, 'map', "expected the frame 'base_link', got 'map'", id='another frame'),
    pytest.param(np.nan, 'base_link', 'the wrench is not finite', id='not finite'),
])
def test_wrench_that_is_none_is_refused(up, frame, line):
    vehicle = Vehicle().begin()
    vehicle.push('a/wrench', 0, up, frame)
    vehicle.push_all(0, 50.0)
    assert vehicle.speed == pytest.approx(0.4, rel=1e-6)
    assert vehicle.host.said('warn') == [f'a/wrench: {line}']


@pytest.mark.parametrize(('tick', 'hint'), [
    (-3, ''), (2, ''), (900, ''), (170_000_000_000, "; is that of its command another clock's? "
                                   'Copy the stamp of the odometry'),
])
def test_wrench_of_another_step_is_refused(tick, hint):
    vehicle = Vehicle().begin()
    vehicle.push_all(0)
    vehicle.push('a/wrench', tick, 100.0)
    vehicle.push_all(1, 15.0)
    assert vehicle.ticks == [0, 1, 2]
    assert vehicle.host.counts == {'out_of_step': 1}
    assert vehicle.host.said('warn') == [
        f'a/wrench: expected the stamp 0.010 s, got {tick * 0.01:.3f} s{hint}'
    ]


def test_last_word_of_an_actuator_that_stops_is_no_fault():
    vehicle = Vehicle().begin()
    vehicle.push_all(0, 10.0)
    vehicle.push('a/wrench', 0)
    assert vehicle.host.counts.total() == 0
    # Another publisher that pushes too is one.
    vehicle.push('a/wrench', 0, 10.0)
    assert vehicle.host.counts == {'out_of_step': 1}
    assert vehicle.ticks == [0, 1]


# Wall time.


def test_first_step_waits_until_the_graph_is_complete_and_has_settled():
    vehicle = Vehicle()
    vehicle.host.publishers['b/wrench'] = 0
    vehicle.host.wait(2.0)
    assert vehicle.ticks == []
    vehicle.host.publishers['b/wrench'] = 1
    vehicle.host.wait(0.2)
    assert vehicle.ticks == []
    vehicle.host.wait(0.2)
    assert vehicle.ticks == [0]
    assert vehicle.host.said('info') == ['active, waits for a/wrench, b/wrench', 'running']


def test_step_is_announced_again_until_it_has_its_replies():
    vehicle = Vehicle().begin()
    vehicle.push_all(0)
    vehicle.host.wait(1.2)
    assert vehicle.ticks == [0, 1, 1]
    vehicle.host.wait(1.0)
    assert vehicle.ticks == [0, 1, 1, 1]
    vehicle.push_all(1)
    assert vehicle.ticks[-1] == 2


def test_steps_keep_the_pace_of_the_wall():
    vehicle = Vehicle(real_time_factor=0.5)
    walls = []
    for tick in range(10):
        while vehicle.ticks[-1:] != [tick]:
            vehicle.host.wait(0.001)
        walls.append(vehicle.host.steady)
        vehicle.push_all(tick)
    # A step of 10 ms at half the speed.
    np.testing.assert_array_equal(np.diff(walls), 20 * MS)


@pytest.mark.parametrize(('given', 'awaited', 'seconds', 'line'), [
    pytest.param({'a/wrench': 0}, 'odometry', 0.5, 'no publisher of a/wrench within 0.5 s',
                 id='no publisher'),
    pytest.param({'/clock': 2}, 'odometry', 0.5, '/clock has another publisher; stop the other '
                 'simulation, or give one of them another clock topic or ROS_DOMAIN_ID',
                 id='rival clock'),
    pytest.param({}, 'odometry', 0.2, 'the graph was not complete for long enough within 0.2 s',
                 id='too late'),
    pytest.param({}, 'imu', 0.2, 'no subscription to imu within 0.2 s', id='no subscription'),
])
def test_graph_that_is_never_complete_ends_the_wait_with_one_clear_error(
    given, awaited, seconds, line
):
    vehicle = Vehicle(lockstep_timeout=seconds, wait_for_subscribers=[awaited])
    for topic, count in given.items():
        vehicle.host.publishers[topic] = count
    vehicle.host.wait(seconds + 0.1)
    assert not vehicle.host.is_active
    assert vehicle.host.said('error') == [f'stopped: {line}']
    assert vehicle.ticks == []


@pytest.mark.parametrize(('receivers', 'begins'), [
    pytest.param(['/flight_state'], False, id='another node'),
    pytest.param(['/flight_state', '/robot/flight_log'], True, id='the node'),
])
def test_first_step_waits_for_one_observer_among_other_subscriptions(receivers, begins):
    """A flight computer that takes raw sensors let the flight begin before its picture did."""
    vehicle = Vehicle(observer='flight_log')
    vehicle.host.receivers['~/imu'] = receivers
    vehicle.host.wait(6.0)
    assert bool(vehicle.host.published) is begins
    waits = 'waits: no subscription of flight_log to imu'
    assert (waits in vehicle.host.said('info')) is not begins


def test_first_step_waits_until_every_topic_is_recorded():
    vehicle = Vehicle(recorder='rosbag2_recorder')
    vehicle.host.unrecorded = ['/boosters/wrench']
    vehicle.host.wait(6.0)
    assert not vehicle.host.published
    assert vehicle.host.said('info')[-1] == (
        'waits: rosbag2_recorder does not record /boosters/wrench yet'
    )
    vehicle.host.unrecorded = []
    vehicle.host.wait(1.9)
    # Others may not have discovered the recorder yet.
    assert not vehicle.host.published
    vehicle.host.wait(0.3)
    assert vehicle.host.published


@pytest.mark.parametrize('is_paused', [True, False])
def test_actuator_that_is_silent_counts_as_no_force_until_it_publishes_again(is_paused):
    vehicle = Vehicle(lockstep_timeout=0.8, **{'body.ground': False}).begin()
    vehicle.push_all(0, 15.0)
    if is_paused:
        vehicle.push('b/wrench', 0)  # the last of what is paused
    vehicle.push('a/wrench', 1, 10.0)
    assert vehicle.ticks == [0, 1]
    vehicle.host.wait(1.0)
    assert vehicle.host.said('warn') == [
        'b/wrench: nothing stamped 0.010 s within 0.8 s, so it counts as no force until it '
        'publishes again'
    ]
    for tick in range(2, 10):
        vehicle.push('a/wrench', tick, 10.0)
    assert vehicle.ticks[-1] == 10
    # Half of the weight for nine steps, after 5 m/s^2 up for one.
    assert vehicle.speed == pytest.approx(0.05 - 9 * 5.0 * 0.01)
    ((_, level, text, _),) = vehicle.loop.health()
    assert (level, text) == ('warn', 'goes on without b/wrench')
    # It comes back a step late, and from the next step on it is waited for.
    vehicle.push('b/wrench', 9)
    vehicle.push('a/wrench', 10, 10.0)
    vehicle.push('a/wrench', 11, 10.0)
    assert vehicle.ticks[-1] == 11
    vehicle.push('b/wrench', 11, 10.0)
    assert vehicle.ticks[-1] == 12
    assert 'b/wrench: publishes again, so each step waits for it' in vehicle.host.said('info')
    assert vehicle.host.counts.total() == 0


def test_only_actuator_may_be_paused_and_taken_up_again():
    vehicle = Vehicle(
        lockstep_timeout=0.8, wrench_topics=['a/wrench'], **{'body.ground': False}
    ).begin()
    vehicle.push('a/wrench', 0, 40.0)
    vehicle.push('a/wrench', 0)  # the last of what is paused
    vehicle.host.wait(2.0)
    assert vehicle.host.is_active
    fallen = vehicle.ticks[-1]
    assert fallen > 10
    assert vehicle.speed == pytest.approx(0.1 - (fallen - 1) * 0.1)
    vehicle.push('a/wrench', fallen, 1.0)
    vehicle.host.wait(0.5)
    assert vehicle.ticks[-1] == fallen + 1
    vehicle.push('a/wrench', fallen + 1, 1.0)
    assert vehicle.ticks[-1] == fallen + 2
    assert vehicle.host.counts.total() == 0


def test_paused_booster_keeps_its_mass():
    vehicle = Vehicle(lockstep_timeout=0.8, tank_topics=['a/tank']).begin()
    vehicle.host.deliver('a/tank', tank_message(1.0))
    vehicle.push_all(0, 15.0)
    vehicle.push('a/wrench', 0)  # the last of what is paused
    vehicle.push('b/wrench', 1, 30.0)
    vehicle.host.wait(1.0)
    assert vehicle.ticks[-1] == 2
    assert vehicle.host.of('~/inertia')[-1][1].mass == pytest.approx(3.0)
    assert len(vehicle.host.said('warn')) == 2


def test_body_goes_on_without_a_flight_computer_and_takes_it_up_again():
    vehicle = Vehicle(lockstep_timeout=0.8, **PARACHUTE).begin()
    vehicle.host.deliver('pyros', fired(0, 0.0))
    vehicle.run(11)
    assert vehicle.ticks[-1] == 11
    vehicle.push_all(11)
    vehicle.host.publishers['pyros'] = 0
    vehicle.host.wait(1.0)
    assert vehicle.ticks[-1] == 12
    assert vehicle.host.said('warn')[-1].startswith('pyros: nothing stamped 0.110 s within 0.8 s,')
    vehicle.run(30, begin=12)
    assert vehicle.ticks[-1] == 30
    vehicle.host.deliver('pyros', fired(29, 1.0))
    assert 'pyros: publishes again' in vehicle.host.said('info')
    speeds = []
    for tick in range(30, 45):
        vehicle.push_all(tick)
        speeds.append(vehicle.speed)
    assert speeds[-1] > -10.0 * 0.45 + 0.1, 'the parachute brakes'


ONE = {'wrench_topics': ['a/wrench']}


@pytest.mark.parametrize(('settings', 'replies', 'vanished', 'line'), [
    pytest.param({}, [], [], 'nothing stamped 0.000 s from a/wrench, b/wrench within 0.8 s',
                 id='all silent'),
    pytest.param({}, [('a/wrench', 0, 0.0)], ['b/wrench'],
                 'no publisher of b/wrench within 0.8 s', id='one vanished'),
    pytest.param({**ONE, 'wait_for_publishers': ['a/command']}, [], [],
                 'nothing stamped 0.000 s from a/wrench within 0.8 s; a controller must reply to '
                 'each odometry on a/command, with its stamp', id='no reply of a controller'),
    pytest.param(ONE, [('a/wrench', 0, 0.0), ('a/wrench', 1.4, 1.0), ('a/wrench', 1.8, 1.0)], [],
                 'nothing stamped 0.010 s from a/wrench, which publishes at 250 Hz where this body '
                 'steps at 100 Hz within 0.8 s; give both the same update_rate', id='other rate'),
    pytest.param(ONE, [('a/wrench', 0, 1e30)], [], 'nothing stamped 0.000 s from a/wrench within '
                 '0.8 s; messages of it were refused, see above', id='refused reply'),
])
def test_step_that_lacks_replies_stops_the_vehicle_with_one_clear_error(
    settings, replies, vanished, line
):
    vehicle = Vehicle(lockstep_timeout=0.8, **settings)
    vehicle.host.publishers['a/command'] = 1
    vehicle.begin()
    for topic in vanished:
        vehicle.host.publishers[topic] = 0
    for reply in replies:
        vehicle.push(*reply)
    vehicle.host.wait(1.0)
    assert not vehicle.host.is_active
    assert vehicle.host.has_failed
    assert vehicle.host.said('error') == [f'stopped: {line}']


@pytest.mark.parametrize(('delay', 'skipped'), [
    pytest.param(0.01, 3, id='a reply to the repetition alone'),
    pytest.param(0.5, 0, id='a busy machine'),
])
def test_reply_that_is_slow_is_none_that_a_controller_has_skipped(delay, skipped):
    """A flight was said to have failed, which was bit-identical."""
    vehicle = Vehicle(wrench_topics=['a/wrench'], wait_for_publishers=['a/command'])
    vehicle.host.publishers['a/command'] = 1
    vehicle.begin()
    for tick in range(3):
        while vehicle.ticks.count(tick) < 2:
            vehicle.host.wait(0.01)
        vehicle.host.wait(delay)
        vehicle.push('a/wrench', tick)
    assert vehicle.host.counts['skipped'] == skipped
    assert 'a controller must reply' in vehicle.host.said('warn')[0]
    # A host logs the same line once.
    assert len(vehicle.host.said('warn')) == 3
    assert len({*vehicle.host.said('warn')}) == 1


def test_controller_of_another_group_is_not_named():
    vehicle = Vehicle(lockstep_timeout=2.0, wait_for_publishers=['a_allocator/wrench_command'])
    vehicle.host.publishers['a_allocator/wrench_command'] = 1
    vehicle.begin()
    vehicle.push('a/wrench', 0)
    vehicle.host.wait(1.5)
    assert vehicle.host.said('warn') == []
    vehicle.host.wait(1.0)
    assert vehicle.host.said('warn')[0].startswith('b/wrench: nothing stamped 0.000 s within 2 s')


def test_the_graph_is_looked_at_once_a_second():
    lockstep = Lockstep(0.0, 1.0, 0.0, 0.3)
    assert [ms for ms in range(0, 3000, 10) if lockstep.try_look(ms * MS)] == [1010, 2020]


def test_each_step_waits_for_what_records_it():
    """A recorder that was slow lacked hundreds of steps, of queues that were full."""
    vehicle = Vehicle(recorded_topic='recorder/recorded', lockstep_timeout=2.0).begin()
    assert vehicle.ticks == [], 'a recorder that is not there yet'
    vehicle.host.publishers['recorder/recorded'] = 1
    vehicle.begin()

    def record(tick):
        vehicle.host.deliver('recorder/recorded', message(clock=SimpleNamespace(
            sec=0, nanosec=tick * STEP
        )))

    vehicle.push_all(0)
    assert vehicle.ticks == [0]
    record(0)
    assert vehicle.ticks == [0, 1]
    record(1)
    vehicle.push_all(1)
    assert vehicle.ticks == [0, 1, 2]
    vehicle.push_all(2)
    vehicle.host.wait(2.5)
    assert vehicle.ticks[-1] == 3
    assert vehicle.host.said('warn') == [
        'recorder/recorded: nothing stamped 0.020 s within 2 s, so what is recorded may lack steps '
        'until it publishes again'
    ]
    record(2)
    for tick in (3, 4):
        vehicle.push_all(tick)
    assert vehicle.ticks[-1] == 4
    record(4)
    assert vehicle.ticks[-1] == 5


def test_step_that_is_not_due_yet_is_no_reason_to_stop():
    vehicle = Vehicle(lockstep_timeout=0.5, real_time_factor=0.005).begin()
    vehicle.push_all(0)
    vehicle.host.wait(1.0)
    assert vehicle.host.is_active


# Start and end.


def test_first_step_waits_for_a_controller_and_logs_that():
    vehicle = Vehicle(wait_for_publishers=['command'], start_timeout=60.0)
    vehicle.host.wait(30.0)
    assert vehicle.host.is_active
    assert vehicle.ticks == []
    assert vehicle.host.said('info')[1] == 'waits: no publisher of command'
    assert 2 <= len(vehicle.host.said('info')) <= 8
    vehicle.host.publishers['command'] = 1
    vehicle.host.wait(0.5)
    assert vehicle.ticks == [0]


def test_body_stops_after_its_duration_and_that_is_no_failure():
    vehicle = Vehicle(duration=0.05).begin().run(5)
    assert vehicle.ticks[-1] == 5
    assert not vehicle.host.is_active
    assert not vehicle.host.has_failed
    assert vehicle.host.said('info')[-1] == 'has run for 0.050 s, its duration'


def test_body_starts_with_a_velocity_and_a_spin():
    vehicle = Vehicle(**{
        'body.start_position': [0.0, 0.0, 50.0], 'body.start_velocity': [3.0, 0.0, 0.0],
        'body.start_rpy': [0.0, 0.0, np.pi / 2], 'body.start_angular_velocity': [0.0, 0.0, 0.5],
    }).begin()
    pose = vehicle.poses[0][1]
    np.testing.assert_allclose(pose.velocity, [0.0, -3.0, 0.0], atol=1e-12)
    assert pose.angular_velocity[2] == 0.5


def test_current_is_published_and_carries_the_body():
    vehicle = Vehicle(**{
        'body.current': [0.5, 0.0, 0.0], 'body.drag_area': [1.0] * 3, 'body.gravity': 0.0,
        'body.fluid_density': 1000.0, 'body.ground': False,
        'body.centre_of_pressure': [0.0, 0.0, 0.5],
    }).begin().run(300)
    # dv/dt = 250 (0.5 - v)^2 from rest.
    assert vehicle.poses[-1][1].velocity[0] == pytest.approx(0.5 - 0.5 / 376.0, rel=1e-5)
    stamp_ns, velocity = vehicle.host.of('~/current')[-1]
    assert (stamp_ns, list(velocity)) == (300 * STEP, [0.5, 0.0, 0.0])
    assert not Vehicle().begin().host.of('~/current'), 'still fluid needs no topic'


@pytest.mark.parametrize(('density', 'level', 'count'), [
    pytest.param(1000.0, 0.0, 1, id='water'), pytest.param(1.2, 0.0, 0, id='air'),
    pytest.param(1000.0, 5.0, 0, id='water up to 5 m'),
])
def test_a_body_that_leaves_the_water_is_reported_once(density, level, count):
    vehicle = Vehicle(**{
        'body.fluid_density': density, 'body.displaced_volume': 0.001, 'body.ground': False,
        'body.water_level': level,
        'body.start_position': [0.0, 0.0, -0.05], 'body.start_velocity': [0.0, 0.0, 10.0],
    }).begin().run(20)
    lines = [line for line in vehicle.host.said('warn') if 'has no surface' in line]
    assert len(lines) == count


@pytest.mark.parametrize(('along', 'said'), [
    pytest.param([0.3, 0.4, 0.0], '0.5', id='fast'),
    pytest.param([-2e-8, 0.0, 0.0], '2e-08', id='slow'),
    pytest.param([6e-13, 0.0, 0.0], '0', id='left by rounding'),
])
def test_touchdown_is_reported_with_its_speed(along, said):
    vehicle = Vehicle(**{
        'body.start_position': [0.0, 0.0, 1.0], 'body.start_velocity': along,
    }).begin().run(100)
    (line,) = [line for line in vehicle.host.said('info') if 'touchdown' in line]
    # 1 m under 10 m/s^2.
    assert line == f'touchdown at 0.450 s: 4.5 m/s down, {said} m/s along the ground'
    ((*_, values),) = vehicle.loop.health()
    assert values['touchdown'] == f'4.5 m/s down, {said} m/s along the ground'


@pytest.mark.parametrize(('length', 'said'), [
    # 30 N on 2 kg under 10 m/s^2: after 0.64 s 1.024 m up, with 3.2 m/s.
    pytest.param(1.02, ['leaves the rail at 0.640 s with 3.2 m/s'], id='off it'),
    pytest.param(9.0, [], id='still on it'), pytest.param(0.0, [], id='no rail'),
])
def test_speed_at_the_end_of_the_rail_is_reported(length, said):
    vehicle = Vehicle(**{'body.rail_length': length}).begin().run(100, 15.0)
    assert [line for line in vehicle.host.said('info') if 'rail' in line] == said


def test_clock_that_gets_a_rival_in_flight_stops_the_vehicle():
    vehicle = Vehicle().begin()
    vehicle.push_all(0)
    vehicle.host.publishers['/clock'] = 2
    vehicle.host.wait(1.2)
    assert not vehicle.host.is_active
    (line,) = vehicle.host.said('error')
    assert line.startswith('stopped: /clock has another publisher')


def test_vehicle_that_is_started_again_begins_at_the_start():
    vehicle = Vehicle(state_topics=['a/state']).begin()
    vehicle.host.deliver('a/state', message(name=['hinge'], position=[0.5]))
    vehicle.push_all(0, 50.0)
    vehicle.host.published.clear()
    vehicle.host.run(vehicle.loop)
    vehicle.begin()
    (_, pose), = vehicle.poses
    assert vehicle.ticks == [0]
    assert list(pose.velocity) == [0.0, 0.0, 0.0]
    assert vehicle.host.of('~/joint_states') == []


# Configuration and health.


def test_health_has_the_time_and_what_was_refused():
    vehicle = Vehicle().begin()
    vehicle.push_all(0)
    vehicle.push('a/wrench', 7)
    assert list(vehicle.loop.health()) == [
        ('body', 'ok', 'ok', {'time': '0.010', 'refused': 0, 'out_of_step': 1, 'late': 0})
    ]


@pytest.mark.parametrize(('given', 'text'), [
    pytest.param({'robot_description': ''}, "'robot_description': is required", id='no URDF'),
    pytest.param({'robot_description': '<robot name="r"><link name="l"/></robot>'},
                 'expected links with mass and positive inertia, got 0 kg in all', id='no mass'),
    pytest.param({'base_link': 'bse_link'}, "unknown link 'bse_link'", id='unknown link'),
    pytest.param({'wrench_topics': []}, 'expected at least one topic', id='no topic'),
    pytest.param({'tank_topics': ['a/tank', 'a//tank']}, "'tank_topics[1]': 'a//tank' is no topic",
                 id='no topic name'),
    pytest.param({'deployer_topic': '/'}, "'deployer_topic': '/' is no topic name",
                 id='no topic of deployers'),
    pytest.param({'tank_topics': ['a/wrench']}, "'a/wrench' is waited for twice", id='twice'),
    pytest.param({'parachutes.names': ['main']}, "'deployer_topic': is required with parachutes",
                 id='no deployers'),
])
def test_wrong_configuration_is_refused(given, text):
    assert text in refusal(Vehicle, **given)
