# SPDX-License-Identifier: Apache-2.0
"""Every case is flown once, whatever becomes of the processes."""
from __future__ import annotations

import tempfile
from collections import Counter
from concurrent.futures import Future
from contextlib import closing

import pytest
from study_works import Squares

from propulsion_ros.study import pool as running
from propulsion_ros.study.pool import DiedError, Pool, run


def _flown(work, jobs=2, count=20, batch=1):
    with closing(Pool(work, jobs)) as pool:
        found = [each for some in run(pool, range(count), batch) for each in some]
    assert sorted(number for number, _, _ in found) == list(range(count))
    return {number: (row, error) for number, row, error in found}


def test_a_killed_process_loses_nothing_and_leaves_nothing(tmp_path, monkeypatch):
    (temporary := tmp_path / 'temporary').mkdir()
    monkeypatch.setattr(tempfile, 'tempdir', str(temporary))
    (folder := tmp_path / 'flags').mkdir()
    found = _flown(Squares(folder, once=(3, 11)), batch=2)
    assert not list(temporary.iterdir())
    assert all(row['square'] == n**2 and not error for n, (row, error) in found.items())
    assert {path.name for path in folder.iterdir()} == {'died_3', 'died_11'}


def test_a_case_that_kills_each_time_is_named_and_takes_none_with_it(tmp_path):
    found = _flown(Squares(tmp_path, always=(5,)), count=8)
    assert found.pop(5) == (None, 'its process died, 3 times')
    assert all(row['square'] == n**2 for n, (row, _) in found.items())


class Ticked:
    """Two workers, each of which goes on by a tick; a guilty case kills all that is under way."""

    workers = 2

    def __init__(self, guilty, slow):
        self._guilty, self._ticks = guilty, dict.fromkeys(slow, 9)
        self._under_way, self._died = {}, set()
        self.deaths, self.beside_suspects = Counter(), []

    def submit(self, numbers):
        self._under_way[future := Future()] = list(numbers)
        cases = [n for under_way in self._under_way.values() for n in under_way]
        if len(self._under_way) > 1 and any(self.deaths[n] > 1 for n in cases):
            self.beside_suspects.append(cases)
        return future

    def result(self, future):
        if future in self._died:
            raise DiedError('killed')
        return [{'case': n} for n in future.numbers]

    def tick(self):
        for future, numbers in list(self._under_way.items())[:self.workers]:
            future.numbers, future.ticks = numbers, getattr(future, 'ticks', 0) + 1
            if self._guilty & {*numbers} and future.ticks == 2:
                self._die()
                return
            if future.ticks > max(self._ticks.get(n, 1) for n in numbers):
                del self._under_way[future]
                future.set_result(None)

    def _die(self):
        gone, self._under_way = self._under_way, {}
        self.deaths.update(n for numbers in gone.values() for n in numbers)
        self._died |= {*gone}
        for future in gone:
            future.set_result(None)


@pytest.mark.parametrize('batch', [1, 3])
@pytest.mark.parametrize(('guilty', 'slow'), [
    ((0, 8), (7,)), ((0, 1), (2, 3)), ((13,), ()), ((0, 6, 7), (1, 5, 8)),
])
def test_what_flew_beside_a_killer_is_not_counted_dead(monkeypatch, guilty, slow, batch):
    """A case that was under way at two deaths is flown with nothing beside it."""
    monkeypatch.setattr(running, '_LOOK', 0.0)
    workers, found = Ticked({*guilty}, slow), {}
    for done in run(workers, range(14), batch):
        found.update((number, error) for number, _, error in done)
        workers.tick()
    assert found == {n: 'killed, 3 times' if n in guilty else '' for n in range(14)}
    assert workers.beside_suspects == []
    assert all(workers.deaths[n] <= 3 for n in range(14))
