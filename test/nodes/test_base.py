# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
import rclpy
from rclpy.lifecycle import TransitionCallbackReturn
from std_msgs.msg import String

from propulsion_ros.messages import qos
from propulsion_ros.messages.rclpy_private import RCLError
from propulsion_ros.nodes import base, spin
from propulsion_ros.nodes.base import PropulsionNode
from propulsion_ros.settings.errors import ConfigError


@pytest.mark.parametrize('hook', ['setup', 'started'])
@pytest.mark.parametrize(('error', 'line'), [
    pytest.param(ConfigError('gain', 'is wrong'), "parameter 'gain': is wrong", id='configuration'),
    pytest.param(OverflowError('too\nlarge'), 'OverflowError: too large', id='anything else'),
    pytest.param(RCLError('too deep, at /src/qos.cpp:107'), 'RCLError: too deep\n',
                 id='what rcl says'),
])
def test_failure_is_said_in_one_line_and_leaves_no_zombie(graph, capfd, hook, error, line):
    def fail(self):
        raise error

    node = graph.add(type('Failing', (PropulsionNode,), {hook: fail}), 'failing')
    assert node.has_failed
    assert not node.is_active
    err = capfd.readouterr().err
    assert err.count('[ERROR]') == 1
    assert line in err
    assert 'Traceback' not in err


@pytest.mark.parametrize(('fins', 'boosters', 'line'), [
    (None, ['gimbal'], 'never commanded: gimbal, all of fins\n'),
    (None, [], 'never commanded: all of fins\n'), ([], [], ''),
    (None, None, 'never commanded: all of fins, all of boosters\n'),
], ids=['name and group', 'group', 'none', 'no controller'])
def test_what_was_never_commanded_is_named_at_the_end(graph, capfd, fins, boosters, line):
    vehicle = graph.add(type('Node', (PropulsionNode,), {}), 'vehicle')
    groups = [graph.add(type('Node', (PropulsionNode,), {'uncommanded': names}), name)
              for name, names in (('fins', fins), ('boosters', boosters))]
    assert spin._follow(vehicle, [vehicle, *groups]) == 0
    err = capfd.readouterr().err
    assert line in err
    assert bool(line) == ('never commanded' in err)
    # What has no command at all may be meant to wait.
    assert ('[WARN]' in err) is (bool(line) and (fins, boosters) != (None, None))


@pytest.mark.parametrize('transition', ['trigger_deactivate', 'trigger_shutdown'])
def test_last_word_that_fails_is_said_and_the_node_stops_all_the_same(graph, capfd, transition):
    def fail(self):
        raise OverflowError('too large')

    node = graph.add(type('Failing', (PropulsionNode,), {'stopping': fail}), 'failing')
    assert getattr(node, transition)() == TransitionCallbackReturn.SUCCESS
    assert not node.is_active
    assert 'OverflowError: too large' in capfd.readouterr().err


class Talker(PropulsionNode):
    """A node with a volatile topic and a latched one, that notes what it encodes."""

    def setup(self):
        self.encoded = []
        self.send = [self._open('~/said', qos.STATE), self._open('~/kept', qos.LATCHED)]

    def _open(self, topic, profile):
        publisher = self.create_lifecycle_publisher(String, topic, profile)
        self.entities.append(publisher)

        def encode(stamp_ns, payload):
            self.encoded.append((topic, payload))
            return String(data=payload)

        return self.sender(publisher, encode)


def test_what_cannot_be_published_is_counted_and_said_once_and_ends_nothing(graph, capfd):
    node = graph.add(Talker, 'talker')
    node.send[1](0, 'sent')
    assert not node.counts['unsent']
    rclpy.shutdown(context=graph.context)
    for _ in range(3):
        node.send[1](0, 'unsent')
    assert node.counts['unsent'] == 3
    assert capfd.readouterr().err.count('/talker/kept not published: ') == 1
    # Without its context it cannot be deactivated any more.
    graph.nodes.remove(node)
    node.destroy_node()


def test_without_subscription_only_what_is_latched_is_encoded(graph):
    node = graph.add(Talker, 'talker')
    for send in node.send:
        send(0, 'alone')
    assert node.encoded == [('~/kept', 'alone')]
    graph.listen(String, '/talker/said')
    graph.until(lambda: node.count_subscribers('/talker/said'), 'a subscription')
    graph.becomes(lambda: node.send[0](0, 'taken') or node.encoded[-1], ('~/said', 'taken'))
    assert graph.heard('/talker/said')[0].data == 'taken'
    node.trigger_deactivate()
    count = len(node.encoded)
    for send in node.send:
        send(0, 'inactive')
    assert len(node.encoded) == count


def test_middleware_that_may_not_count_subscriptions_is_given_everything(graph, monkeypatch):
    monkeypatch.setattr(base, 'get_rmw_implementation_identifier', lambda: 'rmw_zenoh_cpp')
    node = graph.add(Talker, 'talker')
    for send in node.send:
        send(0, 'alone')
    assert node.encoded == [('~/said', 'alone'), ('~/kept', 'alone')]


def test_closed_node_can_be_asked_nothing_while_somebody_holds_it(graph):
    node = graph.add(PropulsionNode, 'closed')

    def left():
        names = dict(graph.probe.get_service_names_and_types())
        return {'/closed/get_state', '/closed/change_state'} & names.keys()

    graph.until(lambda: len(left()) == 2, 'its life cycle')
    graph.executor.remove_node(node)
    graph.nodes.remove(node)
    node.close()
    graph.becomes(left, set())
    # Nor does it mind a second time.
    node.close()


def test_second_node_of_a_name_warns_and_the_first_does_not(graph, capfd):
    first = graph.add(PropulsionNode, 'twin', namespace='fleet')
    graph.until(lambda: not first._twin_checks, 'the end of its start')
    graph.add(PropulsionNode, 'twin', namespace='other')
    second = graph.add(PropulsionNode, 'twin', namespace='fleet')
    graph.until(lambda: second.counts['twin'], 'a warning')
    assert not first.counts['twin']
    printed = capfd.readouterr().err
    assert printed.count('another node /fleet/twin is running') == 1
    assert '/other/twin is running' not in printed
