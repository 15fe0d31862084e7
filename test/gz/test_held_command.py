# SPDX-License-Identifier: Apache-2.0
"""What reaches Gazebo's physics of thrusts published at 100 Hz, by how gz-sim treats messages.

The rules are those of gz-sim's sources: Thruster keeps the last value (Thruster.cc), a wrench of
ApplyLinkWrench acts for one step, and a persistent one is added to those before it
(ApplyLinkWrench.cc).
"""
from __future__ import annotations

import numpy as np
import pytest

from propulsion_ros.loops.actuator_loop import CLOCK, COMMAND, ActuatorLoop, LoopParams
from propulsion_ros.loops.command_hold import CommandUpdate
from propulsion_ros.models.boosters.boosters import Boosters, BoostersParams
from propulsion_ros.models.supply.tanks import TanksParams

MS = 1_000_000
STEPS = 1000
"""Of 1 ms: one second of physics."""
SPECIFIC_IMPULSE = 2000.0
"""[N s/kg]."""


def held(messages):
    """Thruster: the last thrust acts until the next."""
    now = 0.0
    for step in range(STEPS):
        now = messages.get(step, now)
        yield now


def for_one_step(messages):
    """ApplyLinkWrench: a wrench acts for one step."""
    return (messages.get(step, 0.0) for step in range(STEPS))


def persistent(messages):
    """Add up ApplyLinkWrench's persistent wrenches: each is added to those before."""
    total = 0.0
    for step in range(STEPS):
        total += messages.get(step, 0.0)
        yield total


def flown(thrust_at):
    """Return the thrusts of a booster by the physics step that they arrive at, and what burnt."""
    family = Boosters(BoostersParams(
        names=['b'], max_thrust=200.0, max_fuel_rate=0.1, time_constant=0.05, tank=['t'],
        tanks=TanksParams(names=['t'], capacity=5.0),
    ))
    reports = []
    loop = ActuatorLoop(family, LoopParams(update_rate=100.0), reports.append)
    for ms in range(0, STEPS, 10):
        loop.push(COMMAND, ms * MS, CommandUpdate(np.array([0]), np.array([thrust_at(ms)])))
        loop.push(CLOCK, ms * MS)
    messages = {r.stamp_ns // MS: float(r.output.thrusts[0]) for r in reports}
    return messages, 5.0 - float(reports[-1].output.tanks.mass[0])


@pytest.mark.parametrize(('rule', 'ratio'), [
    pytest.param(held, 1.0, id='Thruster'),
    pytest.param(for_one_step, 0.1, id='ApplyLinkWrench'),
])
@pytest.mark.parametrize('thrust_at', [
    pytest.param(lambda ms: 150.0, id='constant'),
    pytest.param(lambda ms: 100.0 + 80.0 * np.sin(ms * 0.02), id='wave'),
])
def test_impulse_of_messages_at_100_hz(rule, ratio, thrust_at):
    messages, burnt = flown(thrust_at)
    impulse = sum(rule(messages)) * 1e-3
    assert impulse == pytest.approx(ratio * burnt * SPECIFIC_IMPULSE, rel=1e-9)


def test_persistent_wrenches_add_up():
    """One message each 10 ms for a second: 50.5 times the impulse."""
    messages = dict.fromkeys(range(0, STEPS, 10), 150.0)
    assert sum(persistent(messages)) * 1e-3 == pytest.approx(50.5 * 150.0)
