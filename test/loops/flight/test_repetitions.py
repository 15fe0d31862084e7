# SPDX-License-Identifier: Apache-2.0
"""What must be requested twice is followed for a person's two, and for no program that repeats."""
import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from flight_computer import Computer, altitude, ask, launched, request

from fake_host import message
from parts import few_of
from propulsion_ros.loops.flight.requests import MOST, Repetitions
from propulsion_ros.settings.errors import CommandError

S = 1_000_000_000
RATES = [0.2, 0.21, 0.25, 0.33, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 50.0]
LAUNCHED = 2.0


def followed(times, names=None, until=60.0):
    """Return when a request made at some times [s] is followed, at a resolution of 0.01 s."""
    repetitions, times, found = Repetitions(5.0), list(times), []
    for now in np.arange(0.0, until, 0.01):
        while times and times[0] <= now:
            repetitions.take('reset', None, round(times.pop(0) * S))
        if repetitions.due(round(now * S)):
            found.append(round(float(now), 2))
    return found


@pytest.mark.parametrize('rate', RATES)
@pytest.mark.parametrize('jitter', [0.0, 0.2], ids=['steady', 'with jitter'])
def test_no_rate_of_repetition_is_followed(rate, jitter):
    rng = np.random.default_rng(round(100 * rate))
    times = np.arange(0.0, 59.0, 1.0 / rate)
    times += rng.uniform(0.0, jitter / rate, len(times))
    # The last two before it ends look like a person's, and so they are not judged alone.
    assert followed(np.sort(times), until=times[-1]) == []


@pytest.mark.parametrize(('times', 'at'), [
    ((0.0, 0.01), ()), ((0.0, 0.49), ()), ((0.0, 0.5), 1.5), ((0.0, 1.0), 2.75),
    ((0.0, 3.0), 7.75), ((0.0, 5.0), 12.75), ((0.0, 5.1), ()),
    pytest.param((0.0, 1.0, 2.0, 4.0, 5.0), (), id='a third one ends it'),
    pytest.param((0.0, 1.0, 2.0, 12.1, 13.1), 14.85, id='until all was silent for ten seconds'),
    pytest.param((0.0, 7.0, 9.0), 12.25, id='too far apart, it begins anew'),
])
def test_two_are_followed_once_no_third_one_has_come(times, at):
    assert followed(times) == pytest.approx([at] if at else [], abs=0.02)


def test_streams_of_others_keep_nobody_from_a_decision():
    repetitions = Repetitions(5.0)
    for k in range(500):
        now_ns = k * S // 50
        repetitions.take('reset', 'panel', now_ns)
        if k in (100, 150):
            due_ns = repetitions.take('reset', None, now_ns)
        assert repetitions.due(now_ns) == ('reset' if k == 238 else '')
    assert due_ns == pytest.approx(4.75 * S)


def test_two_sources_are_not_two_requests():
    repetitions = Repetitions(5.0)
    assert repetitions.take('reset', 'panel', 0) is None
    assert repetitions.take('reset', None, S) is None
    assert repetitions.due(20 * S) == ''


def test_requests_of_ever_new_sources_are_limited():
    """Each one was remembered for ever, and looked at with every sample."""
    repetitions = Repetitions(5.0)
    for k in range(MOST):
        assert repetitions.take('reset', f'panel {k}', k * S // 1000) is None
    for k in range(MOST, 500):
        with pytest.raises(CommandError, match="'reset' is refused: 64 requests of other senders"):
            repetitions.take('reset', f'panel {k}', k * S // 1000)
    assert len(repetitions._chains) == MOST
    assert repetitions.take('reset', None, 2 * S) is None
    assert repetitions.take('reset', None, 3 * S) == pytest.approx(4.75 * S), 'of a service'
    assert repetitions.take('reset', 'a person', 8 * S) is None
    assert len(repetitions._chains) <= 2, 'those that are over are forgotten'


# The flight computer.


def by_message(computer, sender='panel', stamp_ns=None):
    ask(computer, 'liftoff_override', stamp_ns, sender)


def by_service(computer):
    computer.call('liftoff_override')


TRANSPORTS = pytest.mark.parametrize('send', [
    pytest.param(by_message, id='messages'), pytest.param(by_service, id='services'),
])


def armed(**settings):
    return launched(LAUNCHED, **{'flight.max_ascent_time': 3.0, **settings})


def rest(computer, seconds):
    """Let some time pass on the pad."""
    begin = computer.loop.stamp_ns / S + 0.02
    computer.feed(begin, begin + seconds, motion=lambda t: 0.0)


@pytest.mark.parametrize(('send', 'is_simulated', 'rate'), few_of(itertools.product(
    [by_message, by_service], [False, True], [0.2, 0.3, 0.5, 1.0, 2.0, 5.0, 50.0],
), 5))
def test_program_that_repeats_an_override_fires_nothing_on_the_pad(send, rate, is_simulated):
    """A publisher of 1 Hz, each message with a stamp of its own, was two requests."""
    computer = armed(is_simulated=is_simulated)
    for _ in range(max(round(12.0 * rate), 4)):
        send(computer)
        rest(computer, 1.0 / rate)
    send(computer)
    assert computer.values('~/phase')[-1] == 'launch'
    assert not computer.fired
    if rate > 0.2:
        assert any('repeated as by a program' in line for line in computer.warnings)


@pytest.mark.parametrize(('send', 'is_simulated', 'apart'), few_of(itertools.product(
    [by_message, by_service], [False, True], [0.5, 1.0, 4.9],
), 2))
def test_two_requests_of_a_person_are_followed(send, apart, is_simulated):
    computer = armed(is_simulated=is_simulated)
    send(computer)
    rest(computer, apart)
    send(computer)
    rest(computer, 1.5 * apart + 0.2)
    assert computer.flags['phase'] == 'launch'
    rest(computer, 0.1)
    assert computer.flags['phase'] == 'flight'
    assert computer.flags['liftoff_source'] == 'override'


def test_reply_to_the_second_service_says_when_it_is_followed():
    computer = armed()
    success, text = computer.call('liftoff_override')
    assert not success
    assert 'request it again within' in text
    rest(computer, 1.0)
    assert computer.call('liftoff_override') == (
        True, "'liftoff_override' is followed in 1.75 s unless requested again"
    )


@pytest.mark.parametrize('late', [0.0, 0.15])
def test_message_that_is_delivered_twice_is_one_request(late):
    computer = armed()
    for _ in range(2):
        stamp_ns = computer.loop._request_time() - round(late * S)
        by_message(computer, stamp_ns=stamp_ns)
        rest(computer, 0.04)
        by_message(computer, stamp_ns=stamp_ns)
        rest(computer, 1.0)
    rest(computer, 2.0)
    assert computer.flags['phase'] == 'flight'


def test_one_message_is_no_two_requests_however_often_it_comes():
    computer = armed()
    stamp_ns = computer.loop._request_time()
    for apart in (0.05, 0.6, 1.0, 4.0, 4.0):
        by_message(computer, stamp_ns=stamp_ns)
        rest(computer, apart)
    assert computer.flags['phase'] == 'launch'
    computer.host.deliver('~/request', message(
        computer.loop._request_time(), status=[SimpleNamespace(name='liftoff_override')] * 2
    ))
    rest(computer, 12.0)
    assert computer.flags['phase'] == 'launch'


@TRANSPORTS
@pytest.mark.parametrize('name', ['abort', 'ignition'])
def test_another_request_between_ends_it(send, name):
    computer = armed()
    send(computer)
    rest(computer, 1.0)
    send(computer)
    rest(computer, 1.0)
    computer.command(name)
    rest(computer, 4.0)
    assert computer.flags['phase'] == ('launch' if name == 'ignition' else 'preflight')


def test_reset_is_followed_at_once_at_rest_however_often_it_was_requested_before():
    computer = Computer()
    computer.feed(0.0, LAUNCHED)
    computer.command('launch')
    computer.feed(2.0, 60.0)
    for t in range(60, 80):
        computer.feed(float(t), t + 1.0, motion=lambda t: 0.02 * (round(50.0 * t) % 2))
        text = computer.call('reset')[1]
        if text == "'reset' accepted":
            break
    assert t < 67, 'five seconds of rest'
    assert computer.flags['phase'] == 'preflight'


@pytest.mark.parametrize(('name', 'reason'), [
    pytest.param('abort', 'the phase is preflight now', id='by the change of phase'),
    pytest.param('ignition', "'ignition' accepted", id='in the same phase'),
])
def test_request_that_waits_is_reported_once_where_another_one_drops_it(name, reason):
    computer = armed(is_simulated=True)
    by_service(computer)
    computer.feed(2.0, 3.0)
    by_service(computer)
    assert computer.call(name)[1].startswith(f"'{name}' accepted")
    reports = [line for line in computer.warnings if 'is dropped' in line]
    assert reports == [f"request 'liftoff_override' is dropped: {reason}"]


def test_override_that_was_made_twice_is_recorded_so_that_it_replays():
    """It is recorded once, when it is followed; a replay takes it as such."""
    live = armed(is_simulated=True)
    by_service(live)
    live.feed(2.0, 3.0)
    by_service(live)
    live.feed(3.0, 30.0, motion=altitude)
    assert live.flags['liftoff_source'] == 'override'
    recorded = [(stamp_ns, status.name) for stamp_ns, (status,) in live.host.of('~/requests')]
    assert [name for _, name in recorded] == ['launch', 'liftoff_override']
    replayed = Computer(replay=True, **{'flight.max_ascent_time': 3.0})
    for stamp_ns, name in recorded:
        replayed.host.deliver('~/request', request(stamp_ns, name))
    replayed.feed(0.0, 30.0, motion=altitude)
    assert replayed.fired == live.fired != []
    for topic in ('~/phase', '~/flags', '~/events', '~/requests'):
        assert repr(replayed.host.of(topic)) == repr(live.host.of(topic)), topic


def test_flood_of_senders_keeps_no_person_from_the_service_and_no_abort_from_its_effect():
    computer = armed()
    for k in range(300):
        by_message(computer, sender=f'x{k}' + 'y' * 1000)
        if k in (100, 200):
            by_service(computer)
        rest(computer, 0.02)
    chains = computer.loop._requests._repetitions._chains
    assert len(chains) <= MOST + 1
    assert all(len(source or '') <= 64 for _, source in chains)
    assert any('senders are waited for' in line for line in computer.warnings)
    assert max(len(line) for line in computer.warnings) < 400
    rest(computer, 2.0)
    assert computer.flags['phase'] == 'flight'
    by_message(computer, sender='y' * 1000)
    computer.host.deliver('~/request', message(0, status=[
        SimpleNamespace(name='abort', hardware_id='z' * 1000), SimpleNamespace(name='u' * 1000),
    ]))
    assert computer.flags['phase'] != 'flight'
    assert len(computer.warnings[-1]) < 400
