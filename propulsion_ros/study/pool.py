# SPDX-License-Identifier: Apache-2.0
"""Processes of this machine that do work, and are replaced when one dies."""
from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait

from propulsion_ros.study.work import Row, Work, rows_of

_THREADS = {'OMP_NUM_THREADS': '1', 'OPENBLAS_NUM_THREADS': '1', 'MKL_NUM_THREADS': '1'}
"""Each process has one core; threads of the libraries would only wait for each other."""


class DiedError(RuntimeError):
    """A worker died before it had finished what it was given."""


class Pool:
    """Worker processes, as a backend of `run`; each receives its work once.

    Parameters
    ----------
    work : Work
        What they do.
    jobs : int
        How many there are.
    """

    def __init__(self, work: Work, jobs: int) -> None:
        self._work, self.workers = work, jobs
        self._pool = self._made()
        self._pool_of: dict[Future[list[Row]], ProcessPoolExecutor] = {}

    def _made(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(
            self.workers, get_context('spawn'), initializer=_begin, initargs=(self._work,)
        )

    def submit(self, numbers: Sequence[int]) -> Future[list[Row]]:
        """Begin some cases; the processes start with the first ones."""
        with _for_workers():
            try:
                future = self._pool.submit(_rows, numbers)
            except BrokenProcessPool:
                self._renew()
                future = self._pool.submit(_rows, numbers)
        self._pool_of[future] = self._pool
        return future

    def result(self, future: Future[list[Row]]) -> list[Row]:
        """Return the rows of a future that is done; raise `DiedError` where its worker died."""
        pool = self._pool_of.pop(future)
        try:
            return future.result()
        except (BrokenProcessPool, CancelledError):
            # One process that died ends the others of its pool too.
            if pool is self._pool:
                self._renew()
            raise DiedError('its process died') from None

    def _renew(self) -> None:
        """Replace the processes."""
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._pool = self._made()

    def close(self) -> None:
        """End the processes, also in the midst of a case."""
        processes = list((getattr(self._pool, '_processes', None) or {}).values())
        self._pool.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.terminate()
        for process in processes:
            process.join()


@contextmanager
def _for_workers() -> Iterator[None]:
    """Let processes that start meanwhile have one thread each, and not see Ctrl-C."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    own: Mapping[str, str | None] = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(_THREADS)
    try:
        yield
    finally:
        for name, value in own.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_given: list[Work] = []
"""The work of this process, once it is a worker."""


def _begin(work: Work) -> None:
    """Begin to be a worker, which ends with its parent."""
    _given[:] = [work]
    parent = parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()


def _end_with(sentinel: int) -> None:
    wait([sentinel])
    os._exit(1)


def _rows(numbers: Sequence[int]) -> list[Row]:
    (work,) = _given
    return rows_of(work, '', numbers)
