# SPDX-License-Identifier: Apache-2.0
"""Many cases on a backend: none is lost where a worker dies, and one that kills it is a row."""
from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from itertools import islice
from queue import Empty, SimpleQueue
from typing import Any, Protocol

from propulsion_ros.study.pool import DiedError, Pool
from propulsion_ros.study.work import Row, Work

_AHEAD = 3
"""Batches for each worker that are under way, so that none waits for the next."""
_MOST_DEATHS = 3
"""A case that was under way so often when a worker died is a row with that error."""
_LOOK = 0.5
"""How often it is looked whether more has been done [s]."""


class Backend(Protocol):
    """Where cases are flown: `Pool` or `Cluster`."""

    @property
    def workers(self) -> int:
        """How many cases are flown at a time."""

    def submit(self, numbers: Sequence[int]) -> Any:
        """Begin some cases and return their future."""

    def result(self, future: Any) -> list[Row]:
        """Return the rows of a future that is done, or raise `DiedError`."""


@dataclass(frozen=True)
class _Batch:
    """Cases that are flown one after the other."""

    numbers: tuple[int, ...]
    deaths: int = 0
    """How often it was under way when a worker died."""


def run(
    backend: Backend, numbers: Iterable[int], batch: int = 1
) -> Iterator[list[tuple[int, Row | None, str]]]:
    """Yield what is done as it is done: number, row, and '' or why there is no row.

    It yields an empty list now and then while nothing is done.

    Parameters
    ----------
    backend : Backend
        Where the cases are flown.
    numbers : iterable of int
        Of the cases.
    batch : int
        How many a worker gets at a time.
    """
    waiting, again = iter(numbers), deque[_Batch]()
    running: dict[Any, _Batch] = {}
    done: SimpleQueue[Any] = SimpleQueue()
    while True:
        # Cases that may have killed a worker are flown alone, so that the guilty one is known.
        flown = (*running.values(), *islice(again, 1))
        suspect = any(each.deaths > 1 for each in flown)
        most = 1 if suspect else _AHEAD * backend.workers
        while len(running) < most:
            given = again.popleft() if again else _Batch(tuple(islice(waiting, batch)))
            if not given.numbers:
                break
            future = backend.submit(given.numbers)
            running[future] = given
            future.add_done_callback(done.put)
        if not running:
            return
        found: list[tuple[int, Row | None, str]] = []
        for future in _taken(done):
            given = running.pop(future)
            try:
                rows = backend.result(future)
                found += [(n, row, '') for n, row in zip(given.numbers, rows, strict=True)]
            except DiedError as error:
                deaths = given.deaths + 1
                if deaths >= _MOST_DEATHS and len(given.numbers) == 1:
                    found.append((given.numbers[0], None, f'{error}, {deaths} times'))
                else:
                    put = again.extendleft if deaths > 1 else again.extend
                    put(_Batch((n,), deaths) for n in given.numbers)
        yield found


def _taken(done: SimpleQueue[Any]) -> Iterator[Any]:
    """Yield what is done by now, after a while in which nothing may be."""
    with suppress(Empty):
        yield done.get(timeout=_LOOK)
        while True:
            yield done.get_nowait()


def rows_in_order(work: Work, count: int, jobs: int = 1) -> Iterator[Row]:
    """Yield the rows of all cases of some work in their order, by processes where there are more.

    Raises `DiedError` where a case kills its process.
    """
    if jobs <= 1:
        opened = work.ready()
        yield from (opened.row(number) for number in range(count))
        return
    early: dict[int, Row] = {}
    following = 0
    with closing(Pool(work, jobs)) as pool:
        for found in run(pool, range(count)):
            for number, row, error in found:
                if row is None:
                    raise DiedError(error)
                early[number] = row
            while following in early:
                yield early.pop(following)
                following += 1
