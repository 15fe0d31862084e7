# SPDX-License-Identifier: Apache-2.0
"""Commands of the future on a robot."""
import pytest

from fake_host import MS, FakeHost, joints
from propulsion_ros.loops.actuator_loop import LoopParams
from propulsion_ros.loops.actuator_ports import ActuatorPorts
from propulsion_ros.models.boosters.boosters import Boosters, BoostersParams


class Group:
    """Two boosters on a robot's clock."""

    def __init__(self, *, is_simulated=False, **params):
        self.host = FakeHost()
        self.host.is_simulated = is_simulated
        self.host.now = 1_000_000 * MS
        family = Boosters(BoostersParams(
            names=['a', 'b'], max_thrust=100.0, max_fuel_rate=0.0, time_constant=0.05,
        ))
        self.loop = self.host.run(ActuatorPorts(
            family, LoopParams(command_timeout=0.5, **params), 'base_link', self.host
        ))

    def command(self, ahead_ms, **thrusts):
        stamp_ns = self.host.now + ahead_ms * MS
        self.host.deliver('~/command', joints(stamp_ns, thrusts, effort=thrusts.values()))

    def run(self, ms):
        for _ in range(ms // 10):
            self.host.now += 10 * MS
            if self.host.is_simulated:
                self.loop.core.inputs.push('clock', self.host.now)
            else:
                self.host.wait(0.01)

    @property
    def commanded(self):
        return self.loop.core.hold.at(self.host.now).effort.tolist()


@pytest.mark.parametrize(('ahead_ms', 'is_taken'), [
    (-100, True), (0, True), (90, True), (110, False), (3000, False), (9900, False),
])
def test_on_a_robot_no_command_is_of_the_future(ahead_ms, is_taken):
    group = Group()
    group.run(50)
    group.command(ahead_ms, a=10.0, b=10.0)
    group.run(150)
    assert (group.commanded == [10.0, 10.0]) is is_taken
    if not is_taken:
        (line,) = group.host.said('warn')
        assert line == (
            f'command refused: stamped {ahead_ms * 1e-3:.3f} s ahead of this clock, expected at '
            'most 0.1 s; was it stamped by another clock? Set use_sim_time alike, or stamp 0 for '
            'now'
        )


@pytest.mark.parametrize('params', [{'is_simulated': True}, {'step_on': 'stamp'}])
def test_in_simulation_and_replay_a_command_may_be_of_the_future(params):
    group = Group(**params)
    group.command(-10, a=1.0, b=1.0)
    group.command(3000, a=10.0, b=10.0)
    assert not group.host.counts['refused']


@pytest.mark.parametrize(('first', 'second', 'soon', 'later'), [
    pytest.param((90, 80.0, 80.0), (0, 5.0), 5.0, [5.0, 80.0],
                 id='a newer one cancels what is due later for its names alone'),
    pytest.param((0, 6.0, 6.0), (-10, 5.0, 5.0), 6.0, [6.0, 6.0],
                 id='one that was overtaken on the way cancels nothing'),
])
def test_of_two_commands(first, second, soon, later):
    group = Group()
    group.run(50)
    for ahead_ms, *thrusts in (first, second):
        group.command(ahead_ms, **dict(zip('ab', thrusts, strict=False)))
    group.run(50)
    assert group.commanded[0] == soon
    group.run(100)
    assert group.commanded == later


@pytest.mark.parametrize('is_simulated', [True, False], ids=['simulated', 'robot'])
@pytest.mark.parametrize('ahead_ms', [
    pytest.param(lambda ms: -30_000, id='an old clock'), pytest.param(lambda ms: -ms, id='fixed'),
    pytest.param(lambda ms: 60_000 + ms, id='a fast clock'),
])
def test_stamps_that_stay_wrong_are_one_line_and_counted(is_simulated, ahead_ms):
    group = Group(is_simulated=is_simulated)
    group.run(100)
    group.host.lines.clear()
    for ms in range(0, 6000, 100):
        # A good controller beside it makes no new line.
        group.command(0, a=0.0)
        group.command(ahead_ms(ms), b=0.0)
        group.run(100)
    ((level, line),) = group.host.lines
    assert (level, 'stamped' in line) == ('warn', True)
    assert group.host.counts['other_time'] + group.host.counts['refused'] > 40
