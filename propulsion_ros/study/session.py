# SPDX-License-Identifier: Apache-2.0
"""Runs a study from its file to its tables, with a journal from which it can be resumed."""
from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from types import TracebackType
from typing import Any

from propulsion_ros import __version__
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.files import (
    TABLE_LIMIT,
    descriptor_to_lock,
    make_folder,
    opened,
    printable,
    writing,
)
from propulsion_ros.study.kinds import OpenStudy, StudyWork, files_of, named_in
from propulsion_ros.study.pool import Cluster, Pool, run
from propulsion_ros.study.study import KINDS, Row, Study, numbers_of, rates, write_rows

_SYNC = 5.0  # longest time for which rows may not be on the disk; a loss of power loses them [s]
RESULTS, QUANTILES, JOURNAL, PICTURE = 'results.csv', 'quantiles.csv', 'journal.jsonl', 'study.png'
RATES = 'rates.csv'


class Journal:
    """A file to which rows are appended, and which is cut at the first incomplete line.

    Raises `SourceError` if it is of another study or another version of the package, or another
    process has it open.

    Parameters
    ----------
    path : Path
        The file, which is created if it is absent.
    again : bool
        True to begin anew, whatever is in the file.

    Attributes
    ----------
    rows : dict
        Rows by the number of their case.
    """

    def __init__(self, path: Path, key: str, again: bool = False) -> None:
        self._path, self._head = path, {'study': key, 'version': __version__}
        self._synced = time.monotonic()
        self.rows: dict[int, Row] = {}
        with writing(path):
            self._descriptor = descriptor_to_lock(path)
        try:
            self._begin(again)
        except BaseException:
            os.close(self._descriptor)
            raise

    def _begin(self, again: bool) -> None:
        """Lock and read the file, and continue behind its last whole line."""
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise SourceError(printable(self._path), 'another study writes it now') from None
        whole = 0 if again else self._read()
        os.ftruncate(self._descriptor, whole)
        os.lseek(self._descriptor, whole, os.SEEK_SET)
        if not whole:
            self._write([self._head])

    def _read(self) -> int:
        """Read all whole lines and return their size in bytes."""
        whole = 0
        with opened(self._path, TABLE_LIMIT) as file:
            for line in file:
                # After a loss of power a line may consist of zeros.
                if not line.endswith(b'\n') or b'\0' in line:
                    break
                entry = self._entry(line, is_head=not whole)
                if not whole:
                    self._check(entry)
                else:
                    self.rows[entry['case']] = entry
                whole += len(line)
        return whole

    def _entry(self, line: bytes, is_head: bool) -> dict[str, Any]:
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            entry = None
        if not isinstance(entry, dict) or (
            'study' not in entry if is_head
            else not (type(entry.get('case')) is int and isinstance(entry.get('error'), str))
        ):
            raise SourceError(
                printable(self._path), f'expected rows of a study, got {line[:40]!r}; remove it'
            )
        return entry

    def _check(self, head: dict[str, Any]) -> None:
        if head != self._head:
            is_other = head.get('study') != self._head['study']
            version = f'propulsion_ros {printable(str(head.get("version")))}'
            what = 'another study' if is_other else version
            raise SourceError(
                printable(self._path), f'has rows of {what}: give another --output, or '
                '--again to begin anew'
            )

    def add(self, rows: Iterable[Row]) -> None:
        """Append rows; they are in the file at once, and on the disk `_SYNC` later."""
        rows = list(rows)
        self.rows.update((row['case'], row) for row in rows)
        self._write(rows)
        if time.monotonic() - self._synced > _SYNC:
            self._sync()

    def _sync(self) -> None:
        with writing(self._path):
            os.fsync(self._descriptor)
        self._synced = time.monotonic()

    def _write(self, entries: Iterable[Any]) -> None:
        text = ''.join(json.dumps(entry) + '\n' for entry in entries).encode()
        with writing(self._path):
            while text:
                text = text[os.write(self._descriptor, text):]

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self._sync()
        finally:
            os.close(self._descriptor)


class Session(OpenStudy):
    """A study that can be flown by this process or by workers.

    Raises `ConfigError` if a file of it is wrong.
    """

    def __init__(self, study: Study) -> None:
        files = files_of(study)
        super().__init__(study, files)
        self.check()
        self._work = StudyWork(study, files, named_in(study, files))

    def fly(
        self, folder: Path, at: Callable[[int], None], *, jobs: int = 1, scheduler: str = '',
        batch: int = 1, again: bool = False,
    ) -> list[Row]:
        """Fly the cases that are not done, write the tables, and return all rows in order.

        Raises `ConfigError` if a file cannot be written or is of another study, or there is no
        scheduler; after the first case, if that lacks a result that has limits.

        Parameters
        ----------
        at : callable
            Receives the number of finished cases, repeatedly.
        jobs : int
            Number of processes of this machine.
        scheduler : str
            Address of a Dask scheduler, '' for this machine.
        batch : int
            Number of cases that a worker gets at a time.
        """
        make_folder(folder)
        size = self.study.size
        with Journal(folder / JOURNAL, self._work.key, again) as journal:
            missing = [number for number in range(size) if number not in journal.rows]
            done = size - len(missing)
            is_known = self.study.check_limits(journal.rows.values())
            at(done)
            if missing:
                work = self._work
                backend = Cluster(work, scheduler) if scheduler else Pool(work, jobs)
                with closing(backend):
                    for found in run(backend, missing, batch):
                        flown = [self._whole(*each) for each in found]
                        journal.add(flown)
                        is_known = is_known or self.study.check_limits(flown)
                        done += len(found)
                        at(done)
            rows = [journal.rows[number] for number in range(size)]
        write_rows(folder / RESULTS, rows)
        write_rows(folder / QUANTILES, [each.summary for each in numbers_of(self.study, rows)])
        if by := KINDS[self.study.params.kind].rates_by:
            write_rows(folder / RATES, rates(self.study, rows, by))
        return rows

    def _whole(self, number: int, row: Row | None, error: str) -> Row:
        """Return the row of a case, also if it killed its workers."""
        if row is not None:
            return row
        case = self.study.case(number)
        return {'case': number, 'seed': case.seed, **case.values, 'error': error}
