# SPDX-License-Identifier: Apache-2.0
"""Which tests `make test` runs, and which of them belong to a part of `make test-all`.

Two marks divide the tests. ``part('walks')`` puts a test into that part; what has no such mark
belongs to the part ``rest``. ``slow`` keeps a test out of `make test`. The environment variable
PART names the part that runs; `make test` sets none.
"""
from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, TypeVar

import pytest

PARTS = ('walks', 'kills', 'floods', 'flights', 'fits', 'fuzz', 'rest')
PART = os.environ.get('PART', '')
N = TypeVar('N', int, float)


def amount(part: str, few: N, many: N) -> N:
    """Return how many cases, or seconds, run: few in `make test`, many in their part."""
    return many if part == PART else few


def is_run(part: str | None, is_slow: bool) -> bool:
    """Return whether a test with these marks belongs to what runs now."""
    return (part or 'rest') == PART if PART else not is_slow


def few_of(rows: Iterable[Any], every: int) -> list[Any]:
    """Return the rows of a table as parameters; `make test` runs one in `every` of them."""
    return [row if i % every == 0 else _slow(row) for i, row in enumerate(rows)]


def _slow(row):
    if hasattr(row, 'marks'):
        return pytest.param(*row.values, id=row.id, marks=(*row.marks, pytest.mark.slow))
    return pytest.param(*(row if isinstance(row, tuple) else (row,)), marks=pytest.mark.slow)
