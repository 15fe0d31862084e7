# SPDX-License-Identifier: Apache-2.0
"""What each source file begins with; ruff and mypy run by `make lint`."""
from __future__ import annotations

from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent


SOURCES = [
    REPOSITORY / 'setup.py', REPOSITORY / 'Makefile', *(REPOSITORY / 'scripts').iterdir(),
    *(REPOSITORY / 'env').glob('*.sh'),
    *(
        path for folder in ('propulsion_ros', 'test', 'launch', 'benchmarks', 'fuzz', 'docs')
        for path in (REPOSITORY / folder).rglob('*.py')
    ),
]


def test_each_source_file_names_its_licence_once():
    assert len(SOURCES) > 300
    assert [
        str(path.relative_to(REPOSITORY)) for path in SOURCES
        if path.read_text().splitlines()[:2].count('# SPDX-License-Identifier: Apache-2.0') != 1
    ] == []
