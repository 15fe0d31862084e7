# SPDX-License-Identifier: Apache-2.0
"""A study from its file to its tables."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from propulsion_ros.settings.files import make_folder
from propulsion_ros.study.journal import Journal
from propulsion_ros.study.kinds import OpenStudy, StudyWork, files_of, named_in
from propulsion_ros.study.pool import Cluster, Pool, run
from propulsion_ros.study.study import KINDS, Row, Study
from propulsion_ros.study.table import numbers_of, rates, write_rows

RESULTS, QUANTILES, JOURNAL, PICTURE = 'results.csv', 'quantiles.csv', 'journal.jsonl', 'study.png'
RATES = 'rates.csv'


@dataclass(frozen=True)
class Where:
    """Where the cases of a study are flown."""

    jobs: int = 1
    """Processes of this machine."""
    scheduler: str = ''
    """Address of a Dask scheduler, '' for this machine."""
    batch: int = 1
    """Cases that a worker gets at a time."""


class Session(OpenStudy):
    """A study that can be flown, here or by others.

    Parameters
    ----------
    study : Study
        As read.

    Raises
    ------
    ConfigError
        Where a file of it is wrong.
    """

    def __init__(self, study: Study) -> None:
        files = files_of(study)
        super().__init__(study, files)
        self.check()
        self._work = StudyWork(study, files, named_in(study, files))

    def fly(
        self, folder: Path, where: Where, at: Callable[[int], None], again: bool = False
    ) -> list[Row]:
        """Fly the cases that are not done, and write all of them; return their rows in order.

        Parameters
        ----------
        folder : Path
            For the results; what is done already is in its journal.
        where : Where
            What flies them.
        at : callable
            Receives how many are done, again and again.
        again : bool
            Whether to fly all of them anew.

        Raises
        ------
        ConfigError
            Where a file cannot be written, is of another study, or there is no scheduler.
        """
        make_folder(folder)
        size = self.study.size
        with Journal(folder / JOURNAL, self._work.key, again) as journal:
            missing = [number for number in range(size) if number not in journal.rows]
            done = size - len(missing)
            at(done)
            if missing:
                with _backend(self._work, where) as backend:
                    for found in run(backend, missing, where.batch):
                        journal.add(self._whole(*each) for each in found)
                        done += len(found)
                        at(done)
            rows = [journal.rows[number] for number in range(size)]
        write_rows(folder / RESULTS, rows)
        write_rows(folder / QUANTILES, [each.summary for each in numbers_of(self.study, rows)])
        if by := KINDS[self.study.params.kind].rates_by:
            write_rows(folder / RATES, rates(self.study, rows, by))
        return rows

    def _whole(self, number: int, row: Row | None, error: str) -> Row:
        """Return the row of a case, also where its worker died of it."""
        if row is not None:
            return row
        case = self.study.case(number)
        return {'case': number, 'seed': case.seed, **case.values, 'error': error}


@contextmanager
def _backend(work: Any, where: Where) -> Iterator[Any]:
    """Give what flies, and end it."""
    with ExitStack() as stack:
        backend = Cluster(work, where.scheduler) if where.scheduler else Pool(work, where.jobs)
        yield stack.enter_context(closing(backend))
