# SPDX-License-Identifier: Apache-2.0
"""Runs cases on processes of this machine or on a Dask cluster; none is lost if a worker dies.

A process that dies is replaced; a case that kills it each time becomes a row with that error.

Only this module imports `distributed`, and only if it is used.
"""
from __future__ import annotations

import importlib
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
"""The study that each thread has open, as a worker of Dask may have several threads."""


def rows_of(work: StudyWork, key: str, numbers: Sequence[int]) -> list[Row]:
    """Return the rows of some cases; the study is opened once in each thread."""
    if getattr(_opened, 'key', None) != key:
        _opened.work, _opened.key = work.ready(), key
    return [_opened.work.row(number) for number in numbers]


_THREADS = {'OMP_NUM_THREADS': '1', 'OPENBLAS_NUM_THREADS': '1', 'MKL_NUM_THREADS': '1'}
"""One thread for each process: more threads than cores would only wait for each other."""


class DiedError(RuntimeError):
    """Raised if a worker died before it had finished its cases."""


class Pool:
    """Worker processes as a backend of `run`; each receives the study once."""

    def __init__(self, work: StudyWork, jobs: int) -> None:
        self._work, self.workers = work, jobs
        # Terminated processes leave their files behind; `close` removes this folder of all.
        self._folder = tempfile.TemporaryDirectory(prefix='study_')
        self._pool = self._made()
        self._pool_of: dict[Future[list[Row]], ProcessPoolExecutor] = {}

    def _made(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(
            self.workers, get_context('spawn'), initializer=_begin,
            initargs=(self._work, self._folder.name),
        )

    def submit(self, numbers: Sequence[int]) -> Future[list[Row]]:
        """Submit some cases; the processes are started by the first ones."""
        with _for_workers():
            try:
                future = self._pool.submit(_rows, numbers)
            except BrokenProcessPool:
                self._renew()
                future = self._pool.submit(_rows, numbers)
        self._pool_of[future] = self._pool
        return future

    def result(self, future: Future[list[Row]]) -> list[Row]:
        """Return the rows of a future that is done; raise `DiedError` if its worker died."""
        pool = self._pool_of.pop(future)
        try:
            return future.result()
        except (BrokenProcessPool, CancelledError):
            # A process that dies breaks its whole pool.
            if pool is self._pool:
                self._renew()
            raise DiedError('its process died') from None

    def _renew(self) -> None:
        """Replace the processes."""
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._pool = self._made()

    def close(self) -> None:
        """Terminate the processes, also in the middle of a case."""
        processes = list((getattr(self._pool, '_processes', None) or {}).values())
        self._pool.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.terminate()
        for process in processes:
            process.join()
        self._folder.cleanup()


@contextmanager
def _for_workers() -> Iterator[None]:
    """Have processes that start meanwhile use one thread each and ignore Ctrl-C."""
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
"""The study of this process if it is a worker."""


def _begin(work: StudyWork, folder: str) -> None:
    """Initialise a worker, which ends with its parent and has its files in the parent's folder."""
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
_PATIENCE = 10.0  # longest wait for a reply of the scheduler, and for a first worker [s]
_GONE = 'what is done is kept; it no longer replies'


class Cluster:
    """A Dask cluster as a backend of `run`; its scheduler distributes cases to workers.

    Raises `SourceError` if there is no scheduler, or it has no worker.

    Parameters
    ----------
    work : StudyWork
        The study, which is sent to each worker once.
    address : str
        Address of the scheduler, such as ``tcp://10.0.0.1:8786`` or ``tls://...``.
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
        """Current number of threads of all workers."""
        with _replying(_GONE):
            return max(sum(map(int, self._client.nthreads().values())), 1)

    def _send(self) -> Any:
        with _replying(_GONE):
            return self._client.scatter(self._work, broadcast=True, hash=False)

    def submit(self, numbers: Sequence[int]) -> Any:
        """Submit some cases."""
        return self._client.submit(rows_of, self._sent, self._key, numbers, pure=False)

    def result(self, future: Any) -> list[Row]:
        """Return the rows of a future that is done; raise `DiedError` if its workers died."""
        if future.status == 'finished':
            with _replying(_GONE):
                rows: list[Row] = future.result()
                return rows
        if future.status in ('cancelled', 'lost'):
            # The workers that had the study may be gone.
            self._sent = self._send()
            raise DiedError('the scheduler lost it')
        error = future.exception()
        if isinstance(error, self._dask.KilledWorker):
            raise DiedError('its worker died')
        raise SourceError('--scheduler', f'a worker cannot fly: {type(error).__name__}: {error}')

    def close(self) -> None:
        """Disconnect from the cluster, which cancels unfinished cases."""
        self._client.close()


@contextmanager
def _replying(what: str) -> Iterator[None]:
    """Raise `SourceError` in place of the errors of a connection."""
    try:
        yield
    except (OSError, ValueError, TimeoutError, TypeError) as error:
        # A TypeError is raised if TLS is not configured.
        reason = ' '.join(str(error).split()) or type(error).__name__
        raise SourceError('--scheduler', f'{what}: {reason}') from None


def _distributed() -> Any:
    try:
        module = importlib.import_module('distributed')
    except ImportError as error:
        raise SourceError(
            '--scheduler', f"needs distributed, {how_to_get('distributed')}: {error}"
        ) from None
    # Tracebacks for a lost scheduler are not logged: an error of one line replaces them.
    logging.getLogger('distributed.client').setLevel(logging.CRITICAL)
    return module


_AHEAD = 3  # batches that are submitted for each worker, so that none runs out of work
_MOST_DEATHS = 3
"""Deaths of a worker after which the case that was under way becomes a row with that error."""
_LOOK = 0.5  # longest wait for a finished batch [s]


@dataclass(frozen=True)
class _Batch:
    """Cases that one worker flies one after the other."""

    numbers: tuple[int, ...]
    deaths: int = 0
    """Number of times that a worker died with this batch under way."""


def run(
    backend: Pool | Cluster, numbers: Iterable[int], batch: int = 1
) -> Iterator[list[tuple[int, Row | None, str]]]:
    """Yield the cases that have finished: number, row, and '' or why there is no row.

    An empty list is yielded now and then while none has finished.

    Parameters
    ----------
    batch : int
        Number of cases that a worker gets at a time.
    """
    waiting, again = iter(numbers), deque[_Batch]()
    running: dict[Any, _Batch] = {}
    done: SimpleQueue[Any] = SimpleQueue()
    while True:
        # Suspects of having killed a worker are flown alone, so that the right one is found.
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
    """Yield the futures that are done, waiting up to `_LOOK` for a first one."""
    with suppress(Empty):
        yield done.get(timeout=_LOOK)
        while True:
            yield done.get_nowait()
