# SPDX-License-Identifier: Apache-2.0
"""The linters are tests, so that a green run means a clean tree."""
from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

NUMPY_OF_MYPY = '2.4.'
REPOSITORY = Path(__file__).resolve().parent.parent


@pytest.mark.parametrize('command', [
    pytest.param(['ruff', 'check', '.'], id='ruff'),
    pytest.param(['mypy'], id='mypy'),
])
def test_linter_finds_nothing(command):
    if command == ['mypy'] and not np.__version__.startswith(NUMPY_OF_MYPY):
        pytest.skip(f"numpy's types differ by version: checked with {NUMPY_OF_MYPY}, "
                    f'this is {np.__version__}')
    program = shutil.which(command[0], path=str(Path(sys.executable).parent))
    if program is None:
        pytest.skip(f'{command[0]} is not installed beside this Python')
    result = subprocess.run(
        [program, *command[1:]], cwd=REPOSITORY, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr


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
