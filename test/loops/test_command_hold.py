# SPDX-License-Identifier: Apache-2.0
import numpy as np

from propulsion_ros.loops.command_hold import CommandHold, CommandUpdate

FIELDS = ('effort', 'effort', 'position')


def update(columns, values):
    return CommandUpdate(np.array(columns), np.array(values, float))


def hold(timeout_ns=100):
    return CommandHold(FIELDS, np.array([0.0, 0.0, 0.5]), timeout_ns)


def test_each_name_stands_in_its_own_field_only():
    held = hold()
    held.apply(0, update([0, 2], [5.0, 0.1]))
    command = held.at(0)
    np.testing.assert_array_equal(command.effort, [5.0, np.nan, np.nan])
    np.testing.assert_array_equal(command.position, [np.nan, np.nan, 0.1])
    assert command.velocity is None


def test_each_name_goes_stale_on_its_own():
    held = hold()
    held.apply(0, update([0, 2], [5.0, 0.1]))
    held.apply(60, update([0], [6.0]))
    assert not held.stale.any()
    held.at(100)
    assert not held.stale.any(), 'as old as the timeout is not yet stale'
    command = held.at(101)
    np.testing.assert_array_equal(held.stale, [False, False, True])
    assert command.effort[0] == 6.0
    assert command.position[2] == 0.5, 'the safe command'


def test_next_to_go_stale_is_the_oldest_that_is_fresh():
    held = hold()
    assert held.next_stale_ns() is None
    held.apply(0, update([0, 2], [5.0, 0.1]))
    held.apply(60, update([0], [6.0]))
    assert held.next_stale_ns() == 101
    for now_ns, next_ns in ((60, 101), (100, 101), (101, 161), (160, 161), (161, None)):
        held.at(now_ns)
        assert held.next_stale_ns() == next_ns
    held.apply(200, update([0, 1, 2], [1.0, 2.0, 0.3]))
    held.at(200)
    assert held.next_stale_ns() == 301


def test_without_a_timeout_it_holds_for_ever_until_it_is_cleared():
    held = hold(timeout_ns=0)
    held.apply(0, update([0], [5.0]))
    assert held.at(10**18).effort[0] == 5.0
    held.clear()
    assert np.isnan(held.at(0).effort).all()


def test_a_name_never_commanded_is_not_stale():
    held = hold()
    held.at(10**18)
    assert not held.stale.any()
