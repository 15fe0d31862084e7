# SPDX-License-Identifier: Apache-2.0
"""Requests of consequence, which a flight computer follows only where they are made twice."""
from __future__ import annotations

from std_srvs.srv import Trigger

APART = 0.6
"""How long after the first request the second one is made [s]."""
PERIOD = 0.02
FOLLOWED = 1.5 * APART + 0.5
"""How long after the second request it is followed, where no third one comes [s]."""


def request_twice(graph, name, send):
    """Request something, let time pass, and request it again.

    ``send()`` publishes the next sample; samples 20 ms apart let the time of a simulation pass as
    fast as that of the computer.
    """
    first = graph.call(Trigger, f'flight_state/{name}')
    assert not first.success, f'{name} was followed at once'
    assert 'request it again' in first.message
    for _ in range(round(APART / PERIOD)):
        send()
        graph.let_pass(PERIOD)
    second = graph.call(Trigger, f'flight_state/{name}')
    assert second.success, second.message
    for _ in range(round(FOLLOWED / PERIOD)):
        send()
        graph.let_pass(PERIOD)
