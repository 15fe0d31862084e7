# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C while launch starts processes: it is an event of launch, and breaks into nothing."""
import asyncio
import signal

import pytest

pytest.importorskip('launch_ros', reason='launch_ros is not installed')

from launch import LaunchContext

from propulsion_ros.graph.launch_actions import until_interrupted


@pytest.fixture
def loop():
    before, loop = signal.getsignal(signal.SIGINT), asyncio.new_event_loop()
    yield loop
    signal.signal(signal.SIGINT, before)
    loop.close()


@pytest.mark.parametrize(('number', 'started'), [
    (signal.SIGINT, []), (signal.SIGCHLD, ['action']),
], ids=['interrupted', 'not'])
def test_interrupt_breaks_into_nothing_of_launch_and_starts_nothing(loop, number, started):
    context = LaunchContext()
    context._set_asyncio_loop(loop)
    signal.signal(signal.SIGINT, signal.default_int_handler)

    def start():
        signal.raise_signal(number)
        return ['action']

    async def visit():
        actions = until_interrupted(context, start)
        signal.raise_signal(number)
        return actions

    assert loop.run_until_complete(visit()) == started
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_what_others_do_with_an_interrupt_stays(loop):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    assert until_interrupted(LaunchContext(), lambda: ['action']) == ['action']
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
