# SPDX-License-Identifier: Apache-2.0
"""Every reader and command refuses special files in one line, soon, and in little memory."""
from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from parts import amount

pytest.importorskip('rclpy')
pytest.importorskip('rosbags')
pytest.importorskip('xacro')

HERE = Path(__file__).resolve().parent
EVERY = amount('fuzz', 24, 1)
pytestmark = pytest.mark.part('fuzz')


# Kinds of files, names, and what is to be written; what texts hold; what bags hold.
LEAST = {'kinds': 250, 'texts': 170, 'bags': 60}


@pytest.mark.parametrize('groups', [[group] for group in LEAST] if EVERY == 1 else [list(LEAST)])
def test_special_files_end_in_one_line(groups, tmp_path):
    folders = [str(HERE.parent), *filter(None, [os.environ.get('PYTHONPATH')])]
    done = subprocess.run(
        [sys.executable, str(HERE / 'special_files.py'), ','.join(groups), str(tmp_path),
         str(EVERY)],
        env={**os.environ, 'PYTHONPATH': os.pathsep.join(folders)}, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, check=False, timeout=550,
    )
    assert done.returncode == 0, done.stderr
    outcomes = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(outcomes) >= sum(LEAST[group] for group in groups) // EVERY
    assert [outcome for outcome in outcomes if outcome['faults']] == []
