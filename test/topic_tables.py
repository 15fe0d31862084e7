# SPDX-License-Identifier: Apache-2.0
"""The topics of each vehicle as its page lists them; a test holds them to the graph."""
from __future__ import annotations

from pathlib import Path

PAGES = Path(__file__).resolve().parent.parent / 'docs' / 'vehicles'


def listed_rows(vehicle):
    """Return topic, type, publishers and subscribers of each topic of a vehicle."""
    lines = (PAGES / f'{vehicle}.md').read_text(encoding='utf-8').splitlines()
    return [
        tuple(cell.strip().strip('`') for cell in line.strip('|').split('|'))
        for line in lines if line.startswith('| `/')
    ]


def topics_of(vehicle):
    """Return the types of a vehicle's topics, by topic."""
    return {topic: kind for topic, kind, *_ in listed_rows(vehicle)}
