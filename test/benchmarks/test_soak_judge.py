# SPDX-License-Identifier: Apache-2.0
"""The judge of the soak finds what is wrong, and nothing where all is right."""
from __future__ import annotations

import pytest

from benchmarks.soak.judge import WrenchJudge
from benchmarks.soak.ledger import Ledger
from benchmarks.soak.link import Lane, Weather
from benchmarks.soak.members import COMMANDS, FLEET, STAMPED, make_commands
from benchmarks.soak.memory import Memory
from benchmarks.soak.oracle import ZERO, KnownWrenches, know
from benchmarks.soak.plan import KILL, STAMPS, STOP, draw_plan

MS = 1_000_000
ONE, TWO, SAFE = (1.0,) * 6, (2.0,) * 6, (0.1,) * 6
KNOWN = KnownWrenches({ONE: [0], TWO: [1]}, {ZERO, SAFE})


class Story:
    """Commands and wrenches in milliseconds, and what the judge said of the last wrench."""

    def __init__(self):
        self.judge, self.verdict = WrenchJudge(KNOWN), ''

    def tell(self, *steps):
        for what, *where in steps:
            if what == 'sent':
                number, ms = where
                self.judge.sent(number, ms * MS)
            elif what in ('jump', 'begin_life'):
                getattr(self.judge, what)()
            else:
                ms, *leaving = where
                self.verdict = self.judge.heard(ms * MS, what, *leaving)
        return self.verdict


@pytest.mark.parametrize(('steps', 'verdict'), [
    pytest.param([(SAFE, 10)], 'safe', id='safe before any command'),
    pytest.param([('sent', 0, 10), (ONE, 10)], 'commanded', id='at its stamp'),
    pytest.param([('sent', 0, 10), (ONE, 510)], 'commanded', id='just fresh'),
    pytest.param([('sent', 0, 10), (ONE, 520)], 'stale', id='too old'),
    pytest.param([('sent', 0, 20), (ONE, 10)], 'early', id='before its stamp'),
    pytest.param([(ONE, 10)], 'stale', id='never sent'),
    pytest.param([('sent', 0, 10), ((1.0, 1.0, 1.0, 1.0, 1.0, 1.0 + 2e-16), 10)], 'unknown',
                 id='one bit off'),
    pytest.param([('sent', 0, 10), ('sent', 1, 20), (TWO, 20), (ONE, 30)], 'back',
                 id='an older command again'),
    pytest.param([('sent', 0, 10), (ONE, 10), (SAFE, 20)], 'dropped', id='forgotten too soon'),
    pytest.param([('sent', 0, 10), (ONE, 10), (SAFE, 520)], 'safe', id='silent for too long'),
    pytest.param([('sent', 0, 10), (ONE, 10), (ONE, 10)], 'disorder', id='the same stamp twice'),
    pytest.param([('sent', 0, 10), (ONE, 10), (ZERO, 10, True)], 'farewell', id='farewell'),
    pytest.param([('sent', 0, 10), (ONE, 10), (ONE, 10, True)], 'disorder', id='no farewell'),
    pytest.param([('sent', 0, 10), (ONE, 10), ('begin_life',), (SAFE, 10)], 'safe',
                 id='a new process knows nothing'),
    pytest.param([('sent', 0, 5000), (ONE, 5000), ('jump',), (SAFE, 10)], 'safe',
                 id='safe after a jump back'),
    pytest.param([('sent', 0, 5000), ('sent', 1, 7000), (TWO, 7000), ('jump',), (SAFE, 4000),
                  (ONE, 5010)], 'stale', id='a command from before a jump back'),
    pytest.param([('sent', 0, 5000), ('sent', 1, 5500), (TWO, 5500), ('jump',), (SAFE, 4000),
                  (ONE, 5010)], 'crossed', id='a command on its way while time jumps back'),
    pytest.param([('sent', 0, 10), (ONE, 10), ('jump',), ('sent', 1, 90_000), (TWO, 90_000)],
                 'commanded', id='after a jump ahead'),
])
def test_wrench_is_judged(steps, verdict):
    story = Story()
    assert story.tell(*steps) == verdict
    assert story.judge.counts[verdict] >= 1


def test_steps_that_were_not_heard_of_are_counted():
    story = Story()
    story.tell((SAFE, 10), (SAFE, 20), (SAFE, 50), (SAFE, 60_050))
    assert story.judge.counts['missing'] == 2


@pytest.mark.parametrize('member', FLEET[::3], ids=lambda member: member.name)
def test_each_command_of_a_family_is_told_by_its_wrench(member):
    known = know(member, make_commands(member, seed=1))
    assert sorted(n for numbers in known.numbers.values() for n in numbers) == [*range(COMMANDS)]
    assert not known.safe & known.numbers.keys()


def ledger_of(*steps):
    """Return a ledger after good and hostile messages and diagnostics."""
    ledger = Ledger()
    ledger.begin()
    for what in steps:
        if isinstance(what, dict):
            ledger.told(what)
        else:
            ledger.sent(is_hostile=what == 'hostile')
    return ledger


@pytest.mark.parametrize(('steps', 'account'), [
    pytest.param(['good'] * 3, {'starting': 3}, id='never said anything'),
    pytest.param(['good', {'taken': 0}, 'good', 'hostile', {'taken': 1, 'refused': 1}, 'good'],
                 {'starting': 1, 'taken': 1, 'refused': 1, 'hostile': 1, 'unsaid': 1},
                 id='all heard'),
    pytest.param(['good', {'taken': 1}, 'good', 'good', {'taken': 2}],
                 {'taken': 2, 'lost': 1}, id='one lost'),
    pytest.param(['good', 'good', {'taken': 1}, {'taken': 2}], {'taken': 2}, id='one on its way'),
])
def test_what_was_sent_is_accounted_for(steps, account):
    ledger = ledger_of(*steps)
    sent = sum(isinstance(step, str) for step in steps)
    assert +ledger.account() == {'sent': sent, **account}
    assert ledger.faults == []


@pytest.mark.parametrize(('steps', 'fault'), [
    pytest.param(['good', {'taken': 2}], 'life 1: heard 1 more than was sent', id='too many'),
    pytest.param(['good', {'refused': 1}], 'life 1: refused 1 of 0 hostile messages', id='a good'),
    pytest.param(['hostile', {'taken': 1}], 'life 1: took 1 of 0 good messages', id='a hostile'),
    pytest.param(['good', {'taken': 1}, {'taken': 0}], 'life 1: taken fell from 1 to 0', id='fell'),
])
def test_counts_that_cannot_be_are_found(steps, fault):
    assert fault in ledger_of(*steps).faults


@pytest.mark.parametrize(('size', 'grows'), [
    pytest.param(lambda t: 60.0, False, id='flat'),
    pytest.param(lambda t: 60.0 + min(t, 200.0) / 20.0, False, id='grows at the start alone'),
    pytest.param(lambda t: 60.0 + 0.5 * (t % 20.0 < 10.0), False, id='up and down'),
    pytest.param(lambda t: 60.0 + t / 60.0, True, id='1 MB a minute'),
])
def test_growing_memory_is_found(size, grows):
    memory = Memory()
    for t in range(0, 600, 5):
        memory.sample(float(t), size(float(t)))
    assert memory.grows(Memory()) is grows
    assert not memory.grows(memory)


def test_a_short_life_says_nothing_of_growth():
    memory = Memory([0.0, 60.0], [60.0, 90.0])
    assert memory.slope is None
    assert not memory.grows(Memory())


def test_plan_is_that_of_its_seed_and_spares_whom_it_should():
    plan = draw_plan(FLEET, 600.0, seed=1)
    assert plan == draw_plan(FLEET, 600.0, seed=1) != draw_plan(FLEET, 600.0, seed=2)
    members = {m.name: m for m in FLEET}
    ends = [e for e in plan if e.action in (KILL, STOP)]
    assert 80 < len(ends) < 120
    assert not [e for e in ends if members[e.member].is_spared]
    assert {members[e.member].time for e in plan if e.action == STAMPS} == {STAMPED}
    assert max(e.time for e in plan) < 585.0


def test_lane_loses_delays_and_queues():
    lane = Lane(Weather(loss=0.0, delay=0.02, rate=8000.0, queue=0.2), 'seed')
    # 100 octets take 0.1 s at 8000 bit/s.
    assert [lane.arrival(0.0, 100) for _ in range(4)] == [
        pytest.approx(0.12), pytest.approx(0.22), pytest.approx(0.32), None,
    ]
    assert lane.counts == {'sent': 4, 'octets': 400, 'dropped': 1}
    lossy = Lane(Weather(loss=0.05, rate=1e9), 'seed')
    arrived = [lossy.arrival(float(t), 100) for t in range(10_000)]
    assert arrived.count(None) == lossy.counts['lost'] == pytest.approx(500, abs=100)
