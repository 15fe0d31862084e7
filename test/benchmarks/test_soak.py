# SPDX-License-Identifier: Apache-2.0
"""The soak itself, for a few seconds: two nodes, one of them killed, and a dead one found."""
from __future__ import annotations

import json
import signal
import subprocess
import sys

import pytest
from conftest import REPOSITORY

from benchmarks.soak.fleet import Fleet
from benchmarks.soak.members import FLEET
from benchmarks.soak.report import tables

DOCS = REPOSITORY / 'docs'


@pytest.mark.slow
def test_two_nodes_one_of_them_killed_and_nothing_found(tmp_path):
    result = subprocess.run(
        [sys.executable, '-m', 'benchmarks.soak', '--no-link', '--minutes', '0.05', '--seed', '4',
         '--kill-every', '1', '--nodes', 'boosters_1', 'rotors_3', '--json', tmp_path / 'out.json'],
        cwd=REPOSITORY, capture_output=True, text=True, check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    found = json.loads((tmp_path / 'out.json').read_text())
    assert found['faults'] == []
    assert found['ends']['kill'] == 1
    killed = found['nodes']['rotors_3']
    assert killed['lives'] == 2
    assert killed['wrenches']['commanded'] > 0
    assert killed['messages']['refused'] > 0


@pytest.mark.slow
def test_node_that_dies_by_itself_is_found(tmp_path):
    fleet = Fleet(FLEET[:1], tmp_path)
    (tmp_path / 'settings.yaml').write_text('a: [')
    fleet.start('boosters_1')
    fleet.running['boosters_1'].popen.wait()
    assert fleet.poll() == ['boosters_1']
    assert fleet.faults == ['boosters_1: ended by itself with code 1']


@pytest.mark.slow
def test_node_that_does_not_end_as_told_is_found(tmp_path):
    fleet = Fleet(FLEET[:1], tmp_path)
    fleet.start('boosters_1')
    process = fleet.running['boosters_1']
    process.ending = 'stop'
    process.popen.send_signal(signal.SIGKILL)
    process.popen.wait()
    assert fleet.poll() == ['boosters_1']
    assert fleet.faults == ['boosters_1: ended after stop with code -9']


def test_tables_of_the_page_are_those_of_its_json():
    found = json.loads((DOCS / 'reliability.json').read_text())
    assert found['faults'] == []
    assert tables(found) in (DOCS / 'reliability.md').read_text()
