# SPDX-License-Identifier: Apache-2.0
"""The Monte Carlo of the example, in two processes: each case has a computer of its own."""
from __future__ import annotations

import importlib.util
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / 'examples' / 'rocketpy'
CASES = 100
pytestmark = [pytest.mark.part('flights'), pytest.mark.slow, pytest.mark.timeout(3600)]


@pytest.fixture(scope='module', autouse=True)
def rocketpy():
    for name in ('rocketpy', 'multiprocess'):
        if importlib.util.find_spec(name) is None:
            missing = f'{name} is absent, no Monte Carlo: pip install -r env/rocketpy.txt'
            warnings.warn(missing, stacklevel=1)
            pytest.skip(missing)


def test_each_case_opens_its_drogue_at_its_own_apogee(tmp_path):
    done = subprocess.run(
        [sys.executable, '-W', 'ignore', str(FOLDER / 'monte_carlo.py'), str(CASES)],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )
    assert done.returncode == 0, done.stderr[-500:]
    count, _, words = done.stdout.strip().splitlines()[-1].partition(' flights: drogue ')
    low, high = (float(each) for each in words.partition(' s after')[0].split(' to '))
    assert int(count) == CASES
    assert -0.5 < low < high < 1.0
