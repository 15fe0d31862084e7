# SPDX-License-Identifier: Apache-2.0
"""Which tests `make test` runs, and which of them belong to a part of `make test-all`.

Two marks divide the tests. ``part('walks')`` puts a test into that part; what has no such mark
belongs to the part ``rest``. ``slow`` keeps a test out of `make test`. The environment variable
PART names the part that runs; `make test` sets none.
"""
from __future__ import annotations

import os

PARTS = ('walks', 'kills', 'floods', 'flights', 'fuzz', 'rest')
PART = os.environ.get('PART', '')


def amount(part: str, few: int, many: int) -> int:
    """Return how many cases of a library run: few in `make test`, many in its part."""
    return many if part == PART else few


def is_run(part: str | None, is_slow: bool) -> bool:
    """Return whether a test with these marks belongs to what runs now."""
    return (part or 'rest') == PART if PART else not is_slow
