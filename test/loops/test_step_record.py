# SPDX-License-Identifier: Apache-2.0
"""What determined the steps of a loop is published live, and waited for in a replay."""
import numpy as np
import pytest

from fake_host import MS, FakeHost, message
from propulsion_ros.loops.step_record import BEGIN, SET, StepRecord, StepRequest
from propulsion_ros.replay.plain import plain_message
from propulsion_ros.settings.errors import CommandError
from propulsion_ros.timing.stepping import Place


class Record:
    """A record on a host, with what it had done."""

    def __init__(self, is_replay, publishers=1):
        self.host = FakeHost()
        self.host.publishers['~/requests'] = publishers
        self.adopted, self.scheduled, self.taken = [], [], []
        self.record = StepRecord(
            self.host, self.adopted.append, self.scheduled.append, is_replay
        )

    def take(self, ms):
        """Take an input."""
        self.record.guard(lambda each: self.taken.append(each.header.stamp.nanosec // MS))(
            message(ms * MS)
        )

    def request(self, name, ms, values):
        """Take a request as it is published."""
        live = Record(is_replay=False)
        live.record.note(name, Place(ms * MS), values)
        (outlet,) = live.record.outlets
        ((stamp_ns, payload),) = live.host.of('~/requests')
        self.record.ports[0].take(plain_message(outlet, stamp_ns, payload))


def test_what_is_published_is_what_is_taken():
    record = Record(is_replay=True)
    values = {'a': np.array([1.5, 2.0]), 'b': ('x',), 'c': None, 'd': np.float64(0.1)}
    record.request(SET, 20, values)
    expected = {'a': [1.5, 2.0], 'b': ['x'], 'c': None, 'd': 0.1}
    assert record.scheduled == [StepRequest(SET, Place(20 * MS), expected)]


def test_nothing_is_published_before_the_first_step():
    record = Record(is_replay=False)
    record.record.note(SET, None, {'a': 1})
    assert not record.host.of('~/requests')
    record.record.note(BEGIN, Place(0), {})
    record.record.note(SET, None, {'a': 1})
    assert [stamp_ns for stamp_ns, _ in record.host.of('~/requests')] == [0, 0]


def test_inputs_wait_for_the_beginning():
    record = Record(is_replay=True)
    record.take(0)
    record.request(SET, 10, {})
    record.take(20)
    assert not record.taken
    record.request(BEGIN, 0, {})
    record.take(30)
    assert record.taken == [0, 20, 30]
    assert len(record.adopted) == 1
    assert [request.name for request in record.scheduled[-2:]] == [SET, BEGIN]


def test_a_request_that_comes_again_is_the_same():
    record = Record(is_replay=True)
    for _ in range(2):
        record.request(BEGIN, 0, {})
    assert len(record.scheduled) == 1
    record.record.again()
    assert len(record.scheduled) == 2


@pytest.mark.parametrize(('publishers', 'stamps', 'text'), [
    pytest.param(0, [0], 'is not recorded: it is assumed', id='an older recording'),
    pytest.param(1, [500, 5600], 'has no begin at 0.500 s, which is in mid-stream', id='a part'),
])
def test_without_a_beginning_a_line_states_what_is_assumed(publishers, stamps, text):
    record = Record(True, publishers)
    for ms in stamps:
        record.record.guard(record.taken.append)(message(ms * MS))
    assert len(record.taken) == len(stamps)
    (line,) = record.host.said('warn')
    assert text in line


@pytest.mark.parametrize('status', [
    [], [message(name='other', values=[])],
    [message(name=SET, values=[message(key='a', value='{')], message='')],
])
def test_what_is_no_request_is_refused(status):
    with pytest.raises(CommandError):
        StepRequest.of(message(0, status=status))
