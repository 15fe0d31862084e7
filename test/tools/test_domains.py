# SPDX-License-Identifier: Apache-2.0
"""Domains of the network that are held by one at a time."""
from __future__ import annotations

import os
import subprocess
import sys
from contextlib import ExitStack

import pytest

from propulsion_ros.tools import demo
from propulsion_ros.tools.demo import own_network, reserved_domain

HOLD = """
import sys
from propulsion_ros.tools import demo
demo._FIRST_PORT = int(sys.argv[1])
demo._DOMAINS = [int(sys.argv[2])]
with demo.reserved_domain() as domain:
    print(domain, flush=True)
    input()
"""
NAMES = ('ROS_AUTOMATIC_DISCOVERY_RANGE', 'ROS_DOMAIN_ID')


@pytest.fixture
def two(monkeypatch):
    """Leave two domains that nobody else takes: their ports are others than those of everyone."""
    with reserved_domain() as one, reserved_domain() as other:
        # Only who holds a domain may do so; the system lends none below the first.
        port = demo._FIRST_PORT - len(demo._DOMAINS) - 1
        monkeypatch.setattr(demo, '_FIRST_PORT', port)
        monkeypatch.setattr(demo, '_DOMAINS', (one, other))
        yield {one, other}


def test_domain_is_held_by_one_at_a_time(two):
    with reserved_domain() as one, reserved_domain() as other:
        assert {one, other} == two
        with pytest.raises(RuntimeError, match=r'all ROS domains from \d+ to \d+ are held'):
            reserved_domain().__enter__()


@pytest.mark.parametrize('error', [None, ValueError], ids=['end', 'exception'])
def test_domain_is_free_after(two, error):
    for _ in range(3):
        with ExitStack() as stack:
            if error is not None:
                stack.enter_context(pytest.raises(error))
            held = {stack.enter_context(reserved_domain()) for _ in two}
            assert held == two
            if error is not None:
                raise error


def test_domain_of_a_killed_process_is_free(two):
    held = min(two)
    process = subprocess.Popen(
        [sys.executable, '-c', HOLD, str(demo._FIRST_PORT), str(held)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )
    with process:
        assert int(process.stdout.readline()) == held
        with reserved_domain() as domain:
            assert domain != held
        process.kill()
        process.wait()
    with reserved_domain() as one, reserved_domain() as other:
        assert {one, other} == two


@pytest.mark.parametrize('given', [
    {}, {'ROS_DOMAIN_ID': '7'}, {'ROS_AUTOMATIC_DISCOVERY_RANGE': 'SUBNET'},
], ids=['nothing', 'domain', 'range'])
def test_own_network_keeps_what_is_given(monkeypatch, given):
    for name in NAMES:
        monkeypatch.delenv(name)
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    with own_network():
        inside = {name: os.environ[name] for name in NAMES}
        with own_network():
            assert {name: os.environ[name] for name in NAMES} == inside
    assert {name: os.environ[name] for name in NAMES if name in os.environ} == given
    assert 1 <= int(inside['ROS_DOMAIN_ID']) <= 100
    assert inside == {**inside, 'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST', **given}
