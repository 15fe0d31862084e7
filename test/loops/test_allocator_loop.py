# SPDX-License-Identifier: Apache-2.0
"""An allocator on a host without ROS."""
from __future__ import annotations

import numpy as np
import pytest

from fake_host import MS, FakeHost, wrench_message
from propulsion_ros.loops.allocator_loop import AllocatorLoop
from propulsion_ros.loops.ports import OK, WARN
from propulsion_ros.models.common.allocation import Allocator
from propulsion_ros.models.rotors.rotors import Rotors, RotorsParams

NAMES = ('a', 'b', 'c', 'd')


@pytest.fixture
def host():
    host = FakeHost()
    rotors = Rotors(RotorsParams(
        names=NAMES, max_thrust=[10.0], motor_constant=[1e-5],
        position=[[0.2, 0.2, 0.0], [0.2, -0.2, 0.0], [-0.2, 0.2, 0.0], [-0.2, -0.2, 0.0]],
    ))
    lower, upper = rotors.thrust_limits
    allocator = Allocator(rotors.allocation_matrix, lower, upper, 'bounded', np.ones(6))
    host.run(AllocatorLoop(rotors, allocator, 'base_link', host))
    return host


def health(host):
    (_, level, text, values), = host.loop.health()
    return level, text, values


def test_a_demand_becomes_a_command_with_its_stamp(host):
    assert health(host)[:2] == (WARN, 'no command')
    host.deliver('~/wrench_command', wrench_message(30 * MS, [0.0, 0.0, 20.0, 0.0, 0.0, 0.0]))
    (stamp_ns, row), = host.of('~/command')
    assert stamp_ns == 30 * MS
    np.testing.assert_allclose(row.effort, 5.0)
    assert row.position is row.velocity is None
    (stamp_ns, residual), = host.of('~/residual')
    assert stamp_ns == 30 * MS
    np.testing.assert_allclose(residual, 0.0, atol=1e-9)
    assert health(host) == (OK, 'ok', {'saturated': 0, 'refused': 0})


def test_stamp_0_stays_so_for_the_group_and_is_now_for_the_residual(host):
    host.now = 70 * MS
    host.deliver('~/wrench_command', wrench_message(0, [0.0, 0.0, 20.0, 0.0, 0.0, 0.0]))
    assert host.of('~/command')[0][0] == 0
    assert host.of('~/residual')[0][0] == 70 * MS


def test_what_the_limits_leave_undone_is_the_residual(host):
    host.deliver('~/wrench_command', wrench_message(10 * MS, [0.0, 0.0, 50.0, 0.0, 0.0, 0.0]))
    assert host.of('~/residual')[0][1][2] == pytest.approx(10.0)
    assert health(host) == (WARN, 'saturated', {'saturated': 4, 'refused': 0})


@pytest.mark.parametrize(('wrench', 'frame', 'line'), [
    ([np.nan] + [0.0] * 5, 'base_link', 'force.x is not finite'),
    ([0.0] * 6, 'map', "expected the frame 'base_link', got 'map'"),
])
def test_refused_demands_command_nothing(host, wrench, frame, line):
    host.deliver('~/wrench_command', wrench_message(10 * MS, wrench, frame))
    assert host.said('warn') == [f'wrench_command refused: {line}']
    assert not host.published
    assert host.counts['refused'] == 1


def test_it_has_one_port_and_no_service(host):
    loop = host.loop
    assert [port.topic for port in loop.ports] == ['~/wrench_command']
    assert [outlet.topic for outlet in loop.outlets] == ['~/command', '~/residual']
    assert loop.outlets[0].names == NAMES
    assert not loop.requests
    assert not loop.timers
    loop.stop()
    assert not host.published
