# SPDX-License-Identifier: Apache-2.0
"""Loops on a bus: names of topics, the order of messages, and what a loop requires of its host."""
from __future__ import annotations

from types import SimpleNamespace

import pytest

from propulsion_ros.loops.ports import Outlet, Port
from propulsion_ros.replay.host import Bus, LoopHost
from propulsion_ros.replay.plain import clock_message
from propulsion_ros.settings.errors import SourceError

TEXT = 'std_msgs/msg/String'


class Relay:
    """Publishes what it takes, with a letter of its own, as often as it is told."""

    requests = timers = ()

    def __init__(self, host, letter, taken, topics, to='~/out', times=1):
        self.host, self.letter, self.taken, self.times = host, letter, taken, times
        self.outlets = (Outlet(to, TEXT, 'result'),) if to else ()
        self.ports = [Port(topic, TEXT, self.take, 'command') for topic in topics]

    def take(self, message):
        text = getattr(message, 'data', 'tick')
        self.taken.append((self.letter, text))
        for i in range(self.times if self.outlets else 0):
            self.host.publish(self.outlets[0], 0, f'{text}{self.letter}{i}')

    def start(self):
        if self.outlets:
            self.host.publish(self.outlets[0], 0, f'start {self.letter}')

    def stop(self):
        self.taken.append((self.letter, 'stop'))


class Net:
    """Some relays on one bus."""

    def __init__(self, **kwargs):
        self.published, self.taken, self.lines = [], [], []
        self.bus = Bus(lambda *what: self.published.append(what), **kwargs)

    def add(self, letter, topics, namespace='', remappings=None, **kwargs):
        host = LoopHost(
            letter, namespace, self.bus, remappings or {}, True, self.lines.append
        )
        host.run(Relay(host, letter, self.taken, topics, **kwargs))
        return host

    def feed(self, topic, text='x'):
        self.taken.clear()
        self.bus.feed([(topic, SimpleNamespace(data=text))], 5)
        return [f'{letter}:{text}' for letter, text in self.taken]


def test_names_are_those_of_ros():
    net = Net()
    net.add('a', ['~/in', 'in', '/in'], 'robot/one', {'~/out': 'there', '~/in': '/here'})
    assert set(net.bus.kinds) == {'/here', '/robot/one/in', '/in'}
    assert net.published[0][:2] == ('/robot/one/there', TEXT)


@pytest.mark.parametrize(('name', 'namespace', 'reason'), [
    pytest.param('a-b', '', "node name: expected letters, digits and _, no digit first, got 'a-b'",
                 id='name'),
    pytest.param('a', 'x/1y', "namespace: .* got '1y'", id='namespace'),
])
def test_a_name_that_ros_refuses_is_refused(name, namespace, reason):
    with pytest.raises(SourceError, match=reason):
        Net().add(name, [], namespace)


def test_the_next_loop_knows_what_the_one_before_has_published():
    net = Net()
    net.add('a', ['/in'])
    net.add('b', ['/in', '/a/out'], to='')
    assert net.feed('/in') == ['b:start a', 'a:x', 'b:xa0', 'b:x'][1:]


def test_what_starts_before_others_listen_is_delivered_with_the_first_message():
    net = Net()
    net.add('b', ['/a/out'], to='')
    net.add('a', ['/in'])
    assert net.feed('/in') == ['a:x', 'b:start a', 'b:xa0']


def test_together_all_loops_take_the_messages_before_what_follows_of_them():
    net = Net()
    net.add('a', ['/in'])
    net.add('b', ['/in', '/a/out'], to='')
    net.bus.feed([('/in', SimpleNamespace(data='x'))], 5, together=True)
    assert [f'{letter}:{text}' for letter, text in net.taken] == ['a:x', 'b:x', 'b:xa0']


@pytest.mark.parametrize(('depth_first', 'order'), [
    pytest.param(False, ['b:xa0', 'c:xa0', 'b:xa1', 'c:xa1'], id='in order'),
    pytest.param(True, ['b:xa0', 'b:xa1', 'c:xa1', 'c:xa0'], id='depth first'),
])
def test_several_messages_at_once(depth_first, order):
    net = Net(depth_first=depth_first)
    net.add('a', ['/in'], times=2)
    net.feed('/in', 'before')
    for letter in 'bc':
        net.add(letter, ['/a/out'], to='')
    assert net.feed('/in') == ['a:x', *order]


def test_a_given_topic_is_not_joined():
    net = Net(given=['/in', '/a/out'])
    net.add('a', ['/in'])
    net.add('b', ['/a/out'], to='')
    assert net.feed('/in') == ['a:x']
    assert net.feed('/a/out', 'recorded') == ['b:recorded']


def test_time_is_that_of_the_clock_where_it_is_given():
    net = Net(given=['/clock'])
    host = net.add('a', ['/in', '/clock'], to='')
    net.bus.feed([('/in', SimpleNamespace(data='x'))], 5)
    assert host.now_ns() == 0
    net.bus.feed([('/clock', clock_message(30))], 6)
    net.bus.feed([('/clock', clock_message(20))], 7)
    assert (host.now_ns(), host.steady_ns()) == (20, 30)


def test_time_is_that_of_the_recording_where_no_clock_is_given():
    net = Net()
    host = net.add('a', ['/in'], to='')
    net.feed('/in')
    assert host.now_ns() == host.steady_ns() == 5


def test_another_type_is_refused():
    net = Net()
    net.add('a', ['/in'])
    net.bus.check('/elsewhere', 'std_msgs/msg/Bool')
    with pytest.raises(SourceError, match=f'/in: expected {TEXT}, got std_msgs/msg/Bool'):
        net.bus.check('/in', 'std_msgs/msg/Bool')


def test_a_loop_that_gives_up_takes_and_publishes_nothing_more():
    net = Net()
    host = net.add('a', ['/in'])
    host.deactivate()
    assert net.taken == [('a', 'stop')]
    count = len(net.published)
    assert net.feed('/in') == []
    host.publish(host.loop.outlets[0], 0, 'late')
    assert len(net.published) == count


def test_complaints_are_counted_and_warned_of_once():
    net = Net()
    host = net.add('a', ['/in'])
    for _ in range(3):
        host.complain('refused', 'wrong')
    host.log('info', 'usual')
    assert host.counts['refused'] == 3
    assert net.lines == ['a: wrong']
    assert host.absence(host.loop.ports, 'command') == ('ok', 'no command yet')
    assert host.publishers_of('/in') == 0
    assert host.subscriptions_to(host.loop.outlets[0]) == 1
