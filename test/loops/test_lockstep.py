# SPDX-License-Identifier: Apache-2.0
"""When a simulation in lockstep looks, announces and gives up; the times are arguments."""
from propulsion_ros.loops.lockstep import Lockstep

MS = 1_000_000


def begun(factor=0.0, timeout=1.0):
    """Return a lockstep whose graph is complete since 0, and when it began [ns]."""
    lockstep = Lockstep(factor, timeout)
    now = 0
    while not lockstep.try_begin(now, True):
        now += 10 * MS
    return lockstep, now


def test_the_graph_is_looked_at_now_and_then():
    lockstep = Lockstep(0.0, 1.0)
    looks = [now for now in range(0, 3000, 10) if lockstep.try_look(now * MS)]
    assert 2 <= len(looks) <= 30
    assert looks[0] == looks[1] - looks[0]
    assert lockstep.try_look(100_000 * MS)


def test_a_step_comes_at_its_simulated_time_and_once():
    lockstep, now = begun(factor=2.0)
    assert not lockstep.try_announce(now + 49 * MS, 100 * MS)
    assert lockstep.try_announce(now + 50 * MS, 100 * MS)
    assert not lockstep.try_announce(now + 51 * MS, 100 * MS)
    lockstep.complete(0)
    assert lockstep.try_announce(now + 100 * MS, 200 * MS)


def test_replies_are_waited_for_until_the_limit():
    lockstep, now = begun(timeout=0.5)
    assert lockstep.try_announce(now, 0)
    assert not lockstep.is_overdue(now + 500 * MS)
    assert lockstep.is_overdue(now + 501 * MS)
