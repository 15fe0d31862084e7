# SPDX-License-Identifier: Apache-2.0
"""Many cases on processes of this machine, or on a Dask cluster: none is lost where a worker dies.

A process that dies is replaced, and a case that kills it each time is a row with that error.

`distributed` is imported here alone, and only when it is used.
"""
from __future__ import annotations

import importlib
import importlib.util
import logging
import os
import shutil
import signal
import tempfile
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait
from queue import Empty, SimpleQueue
from typing import Any

from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.imports import how_to_get
from propulsion_ros.study.kinds import StudyWork
from propulsion_ros.study.study import Row

_opened = threading.local()
"""The work that a thread did last: a worker of Dask may have several threads."""


def rows_of(work: StudyWork, key: str, numbers: Sequence[int]) -> list[Row]:
    """Return the rows of some cases; the work is opened once in each thread."""
    if getattr(_opened, 'key', None) != key:
        _opened.work, _opened.key = work.ready(), key
    return [_opened.work.row(number) for number in numbers]


_THREADS = {'OMP_NUM_THREADS': '1', 'OPENBLAS_NUM_THREADS': '1', 'MKL_NUM_THREADS': '1'}
"""Each process has one core; threads of the libraries would only wait for each other."""


class DiedError(RuntimeError):
    """A worker died before it had finished what it was given."""


class Pool:
    """Worker processes, as a backend of `run`; each receives its work once."""

    def __init__(self, work: StudyWork, jobs: int) -> None:
        self._work, self.workers = work, jobs
        # A process that is ended removes no file of its own.
        self._folder = tempfile.TemporaryDirectory(prefix='study_')
        self._pool = self._made()
        self._pool_of: dict[Future[list[Row]], ProcessPoolExecutor] = {}

    def _made(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(
            self.workers, get_context('spawn'), initializer=_begin,
            initargs=(self._work, self._folder.name),
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
        self._folder.cleanup()


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


_given: list[StudyWork] = []
"""The work of this process, once it is a worker."""


def _begin(work: StudyWork, folder: str) -> None:
    """Begin to be a worker, which ends with its parent and has its files in a folder of it."""
    _given[:], tempfile.tempdir = [work], folder
    parent = parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.sentinel, folder), daemon=True).start()


def _end_with(sentinel: int, folder: str) -> None:
    wait([sentinel])
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(1)


def _rows(numbers: Sequence[int]) -> list[Row]:
    (work,) = _given
    return rows_of(work, '', numbers)


_SCHEMES = ('tcp://', 'tls://')
_PATIENCE = 10.0
"""Wall time for the scheduler to reply, and for a first worker [s]."""
_GONE = 'what is done is kept; it no longer replies'


class Cluster:
    """A Dask cluster as a backend of `run`: the scheduler gives cases to its workers.

    Raises `SourceError` where there is no scheduler, or it has no worker.

    Parameters
    ----------
    work : StudyWork
        What they do; it is sent to each worker once.
    address : str
        Of the scheduler, such as ``tcp://10.0.0.1:8786`` or ``tls://...``.
    """

    def __init__(self, work: StudyWork, address: str) -> None:
        self._dask = _distributed()
        if not address.startswith(_SCHEMES):
            raise SourceError(
                '--scheduler', f'expected tcp://HOST:PORT or tls://HOST:PORT, got {address!r}'
            )
        self._work, self._key = work, work.key
        with _replying(f'{address}: no scheduler replies'):
            self._client = self._dask.Client(
                address, timeout=_PATIENCE, set_as_default=False, name='propulsion_ros'
            )
        try:
            self._client.wait_for_workers(1, timeout=_PATIENCE)
        except TimeoutError:
            self._client.close()
            raise SourceError('--scheduler', f'{address}: the scheduler has no worker') from None
        self._sent = self._send()

    @property
    def workers(self) -> int:
        """How many threads the workers have by now."""
        with _replying(_GONE):
            return max(sum(map(int, self._client.nthreads().values())), 1)

    def _send(self) -> Any:
        with _replying(_GONE):
            return self._client.scatter(self._work, broadcast=True, hash=False)

    def submit(self, numbers: Sequence[int]) -> Any:
        """Begin some cases."""
        return self._client.submit(rows_of, self._sent, self._key, numbers, pure=False)

    def result(self, future: Any) -> list[Row]:
        """Return the rows of a future that is done; raise `DiedError` where its workers died."""
        if future.status == 'finished':
            with _replying(_GONE):
                rows: list[Row] = future.result()
                return rows
        if future.status in ('cancelled', 'lost'):
            # The workers that had the work may be gone.
            self._sent = self._send()
            raise DiedError('the scheduler lost it')
        error = future.exception()
        if isinstance(error, self._dask.KilledWorker):
            raise DiedError('its worker died')
        raise SourceError('--scheduler', f'a worker cannot fly: {type(error).__name__}: {error}')

    def close(self) -> None:
        """Leave the cluster; what was begun is cancelled there."""
        self._client.close()


@contextmanager
def _replying(what: str) -> Iterator[None]:
    """Raise `SourceError` in place of the errors of a connection."""
    try:
        yield
    except (OSError, ValueError, TimeoutError, TypeError) as error:
        # It is a TypeError where TLS is not configured.
        reason = ' '.join(str(error).split()) or type(error).__name__
        raise SourceError('--scheduler', f'{what}: {reason}') from None


def is_installed() -> bool:
    """Return whether `distributed` can be imported."""
    return importlib.util.find_spec('distributed') is not None


def _distributed() -> Any:
    try:
        module = importlib.import_module('distributed')
    except ImportError as error:
        raise SourceError(
            '--scheduler', f"needs distributed, {how_to_get('distributed')}: {error}"
        ) from None
    # It logs tracebacks of a scheduler that is gone, which is one line here.
    logging.getLogger('distributed.client').setLevel(logging.CRITICAL)
    return module


_AHEAD = 3
"""Batches for each worker that are under way, so that none waits for the next."""
_MOST_DEATHS = 3
"""A case that was under way so often when a worker died is a row with that error."""
_LOOK = 0.5
"""How often it is looked whether more has been done [s]."""


@dataclass(frozen=True)
class _Batch:
    """Cases that are flown one after the other."""

    numbers: tuple[int, ...]
    deaths: int = 0
    """How often it was under way when a worker died."""


def run(
    backend: Pool | Cluster, numbers: Iterable[int], batch: int = 1
) -> Iterator[list[tuple[int, Row | None, str]]]:
    """Yield what is done as it is done: number, row, and '' or why there is no row.

    It yields an empty list now and then while nothing is done.

    Parameters
    ----------
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
