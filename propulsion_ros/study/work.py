# SPDX-License-Identifier: Apache-2.0
"""What a worker does, wherever it runs: cases by their numbers, each with its row."""
from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

Row = Mapping[str, Any]
"""Numbers and texts of a case by column."""


class Opened(Protocol):
    """Work in the process that does it."""

    def row(self, number: int) -> Row:
        """Return the row of a case; the same in every process."""


class Work(Protocol):
    """Many cases, as they are sent to workers."""

    @property
    def key(self) -> str:
        """What is different for any other work."""

    def ready(self) -> Opened:
        """Return it ready to be done, in the process that does it."""


_opened = threading.local()
"""The work that a thread did last: a worker of Dask may have several threads."""


def rows_of(work: Work, key: str, numbers: Sequence[int]) -> list[Row]:
    """Return the rows of some cases; the work is opened once in each thread."""
    if getattr(_opened, 'key', None) != key:
        _opened.work, _opened.key = work.ready(), key
    opened: Opened = _opened.work
    return [opened.row(number) for number in numbers]
