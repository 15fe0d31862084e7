# SPDX-License-Identifier: Apache-2.0
import math

import pytest

from propulsion_ros.flight.pyros.deployers import DeployerBank, DeployerSpec, on_time_of
from propulsion_ros.settings.errors import CommandError

MS = 1_000_000
DROGUE, MAIN = DeployerSpec(0, 'drogue'), DeployerSpec(1, 'main')


@pytest.fixture
def bank():
    bank = DeployerBank([DROGUE, MAIN])
    bank.arm(True)
    return bank


def test_it_is_published_at_once_at_10_hz_and_once_as_off(bank):
    assert bank.due(0) is None
    bank.fire(0, 1000 * MS, 250 * MS)
    published = [
        (t, efforts.tolist())
        for t in range(1000, 2000, 10)
        if (efforts := bank.due(t * MS)) is not None
    ]
    on, off = [1.0, 0.0], [0.0, 0.0]
    assert published == [(1000, on), (1100, on), (1200, on), (1250, off)]


def test_a_second_deployer_is_not_kept_waiting_for_the_next_publication(bank):
    bank.fire(0, 0, 1000 * MS)
    bank.due(0)
    assert bank.due(20 * MS) is None
    bank.fire(1, 20 * MS, 1000 * MS)
    assert bank.due(20 * MS).tolist() == [1.0, 1.0]


def test_disarming_turns_off_and_arming_does_not_turn_on(bank):
    bank.fire(0, 0, 1000 * MS)
    assert bank.due(10 * MS).tolist() == [1.0, 0.0]
    bank.arm(False)
    assert bank.due(20 * MS).tolist() == [0.0, 0.0]
    assert bank.due(30 * MS) is None
    bank.arm(True)
    assert bank.efforts(40 * MS).tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ('deployer', 'armed', 'reason'),
    [
        pytest.param(2, True, 'deployer 2 is unknown, there are 2', id='unknown'),
        pytest.param(-1, True, 'deployer -1 is unknown, there are 2', id='negative id'),
        pytest.param(0, False, "'drogue' is refused: not in flight or recovery", id='safe'),
    ],
)
def test_refusals(bank, deployer, armed, reason):
    bank.arm(armed)
    with pytest.raises(CommandError, match=reason):
        bank.execute(deployer, 1.0, 0)
    assert not bank.efforts(0).any()


@pytest.mark.parametrize('on_time_ns', [0, -MS])
def test_a_pulse_has_an_on_time(bank, on_time_ns):
    with pytest.raises(CommandError, match='ns is not above 0'):
        bank.fire(0, 0, on_time_ns)
    assert not bank.efforts(0).any()


def test_a_bank_begins_disarmed():
    with pytest.raises(CommandError, match='not in flight or recovery'):
        DeployerBank([DROGUE]).fire(0, 0, MS)


def test_servo_stands_where_it_was_turned_whatever_the_phase():
    bank = DeployerBank([DROGUE, DeployerSpec(1, 'door', actuator='servo')])
    assert repr(bank.positions().tolist()) == '[nan, nan]'
    bank.arm(True)
    bank.execute(1, 90.0, 0)
    assert repr(bank.due(0).tolist()) == '[0.0, nan]', 'published at once'
    assert bank.due(10 * MS) is None
    bank.arm(False)
    assert repr(bank.positions().tolist()) == f'[nan, {math.pi / 2}]'
    with pytest.raises(CommandError, match="'door' is refused: not in flight or recovery"):
        bank.execute(1, 0.0, 0)


def test_without_servos_there_are_no_positions(bank):
    assert bank.positions().size == 0


def test_what_is_on_can_be_told_for_a_restart(bank):
    bank.fire(1, 0, 1000 * MS)
    assert bank.pending(400 * MS) == ((1, 600 * MS),)
    assert bank.pending(1000 * MS) == ()


@pytest.mark.parametrize(('param', 'on_time_ns'), [(90.0, 90 * MS), (0.0, 1), (1e-9, 1)])
def test_on_time_is_in_ms_and_never_none(param, on_time_ns):
    assert on_time_of(param) == on_time_ns
