# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C while launch starts processes: it is an event of launch, and breaks into nothing."""
from __future__ import annotations

import asyncio
import signal

import pytest

pytest.importorskip('launch_ros', reason='launch_ros is not installed')

from launch import LaunchContext

from propulsion_ros.graph.launch_actions import leave_interrupts


@pytest.fixture
def loop():
    before, loop = signal.getsignal(signal.SIGINT), asyncio.new_event_loop()
    yield loop
    signal.signal(signal.SIGINT, before)
    loop.close()


async def _interrupted():
    signal.raise_signal(signal.SIGINT)
    return True


def test_interrupt_breaks_into_no_task_of_launch(loop):
    context = LaunchContext()
    context._set_asyncio_loop(loop)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    leave_interrupts(context)
    assert loop.run_until_complete(_interrupted())
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_what_others_do_with_an_interrupt_stays(loop):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    leave_interrupts(LaunchContext())
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
