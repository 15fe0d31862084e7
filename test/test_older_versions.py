# SPDX-License-Identifier: Apache-2.0
"""What older versions wrote is read, or refused by name.

`test/data/written_by_0_1` is from the code of 0.1.0: its parameter files, a table of commands with
the results that its `replay` wrote, the begin of a bag that its `demo` recorded, and the record of
its rocket in flight. The journal is of the first `study`, which called itself 0.1.0 too.
"""
from __future__ import annotations

import csv
import shutil

import pytest

from markdown_pages import REPOSITORY
from propulsion_ros.loops.flight.record_file import read_state
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.tools import cli

WRITTEN = REPOSITORY / 'test/data/written_by_0_1'
VEHICLES = ('quadrotor', 'rocket', 'rov', 'freeflyer')


def model_of(path):
    """Return the arguments with the description that a parameter file belongs to."""
    vehicle = path.stem.removesuffix('_demo')
    if vehicle in VEHICLES and path.suffix == '.yaml':
        return ['--model', vehicle]
    return []


@pytest.mark.parametrize('path', sorted((WRITTEN / 'config').iterdir()), ids=lambda path: path.name)
def test_parameter_file_is_valid(path, capsys):
    assert cli.main(['check', str(path), *model_of(path)]) == 0
    assert 'no faults in 1 file\n' in ''.join(capsys.readouterr())


def replayed(given, output):
    settings = WRITTEN / 'config/rotors.yaml'
    assert cli.main(['replay', str(settings), str(given), str(output)]) == 0
    with output.open(encoding='utf-8') as file:
        return list(csv.DictReader(file))


def test_bag_is_replayed(tmp_path):
    pytest.importorskip('rosbags')
    rows = replayed(WRITTEN / 'quadrotor_bag', tmp_path / 'out.csv')
    # Twelve commands, at which the node steps: the rotors start to turn.
    assert len(rows) == 12
    assert float(rows[-1]['wrench.force.z']) > 10.0 * float(rows[0]['wrench.force.z']) > 0.0


def test_table_of_commands_gives_the_columns_that_it_gave(tmp_path):
    rows = replayed(WRITTEN / 'commands.csv', tmp_path / 'out.csv')
    with (WRITTEN / 'results.csv').open(encoding='utf-8') as file:
        before = list(csv.DictReader(file))
    assert [row['stamp'] for row in rows] == [row['stamp'] for row in before]
    assert set(rows[0]) >= set(before[0])


@pytest.mark.parametrize('name', ['quadrotor_bag', 'results.csv'])
def test_recording_is_drawn(name, tmp_path):
    pytest.importorskip('matplotlib')
    assert cli.main(['plot', str(WRITTEN / name), '--output', str(tmp_path / 'page.png')]) == 0


def test_flight_record_is_refused_by_its_name():
    path = WRITTEN / 'flight_record.json'
    with pytest.raises(SourceError) as raised:
        read_state(path)
    assert str(raised.value) == (
        f"{path}: format: 'propulsion_ros flight record 1' is of an older version and is not "
        'resumed'
    )


def test_study_is_read_and_the_journal_of_another_version_refused(tmp_path, capsys):
    study = shutil.copytree(WRITTEN / 'study', tmp_path / 'study') / 'apogee.yaml'
    words = ['study', str(study), '--cases', '1', '--jobs', '1', '--no-picture', '--output']
    assert cli.main([*words, str(tmp_path / 'new')]) == 0
    assert cli.main([*words, str(tmp_path / 'study')]) == 1
    assert 'study/journal.jsonl: has rows of propulsion_ros 0.1.0: give' in capsys.readouterr().err
