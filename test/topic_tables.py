"""The topics of each vehicle as the README lists them; a test holds them to the graph."""
from __future__ import annotations

import re
from pathlib import Path

README = (Path(__file__).resolve().parent.parent / 'README.md').read_text(encoding='utf-8')


def readme_rows(vehicle):
    """Return topic, type, publishers and subscribers of each topic of a vehicle."""
    section = re.search(rf'\n#### {vehicle}\n(.*?)\n#+ ', README, re.DOTALL)
    assert section, f'README.md has no section {vehicle}'
    cells = [
        [cell.strip().strip('`') for cell in line.strip('|').split('|')]
        for line in section[1].splitlines() if line.startswith('| `/')
    ]
    return [tuple(row) for row in cells]


def topics_of(vehicle):
    """Return the types of a vehicle's topics, by topic."""
    return {topic: kind for topic, kind, *_ in readme_rows(vehicle)}
