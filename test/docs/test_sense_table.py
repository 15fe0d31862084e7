# SPDX-License-Identifier: Apache-2.0
"""The page on descriptions has every rule of sense."""
from __future__ import annotations

from pathlib import Path

from sense_tables import SECTIONS

from flight_tables import fill

PAGE = Path(__file__).parents[2] / 'docs' / 'urdf.md'
TEXT = PAGE.read_text(encoding='utf-8')


def test_table_is_that_of_the_rules():
    assert fill(TEXT, SECTIONS) == TEXT, 'run: python test/sense_tables.py docs/urdf.md'
