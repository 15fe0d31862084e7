# SPDX-License-Identifier: Apache-2.0
"""Damaged files end in something sound or in one line, soon, in little memory: each reader."""
from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec

import pytest

pytest.importorskip('rosbags')
pytest.importorskip('rclpy')

from fuzz.mutation import deep
from fuzz.target import REPOSITORY, outcome
from fuzz.targets import TARGETS
from parts import PART, amount
from propulsion_ros.graph.node_config import family_of
from propulsion_ros.loops.actuator_loop import LoopParams
from propulsion_ros.models.registry import FAMILIES
from propulsion_ros.settings.yaml_file import ParameterFile
from propulsion_ros.urdf.reader import actuators_from_urdf

pytestmark = pytest.mark.part('fuzz')
CASES = int(os.environ.get('FUZZ_CASES', amount('fuzz', 6, 2000)))
"""For each reader."""
NEEDED = {
    'mesh_dae': 'collada', 'mesh_obj': 'trimesh', 'mesh_stl': 'trimesh', 'ulog': 'pyulog',
    'xacro': 'xacro',
}
NAMES = [name for name in TARGETS if name not in NEEDED or find_spec(NEEDED[name])]
REASONS = 5
"""What each reader must refuse for at least, in 2,000 cases that do not all damage the same."""


@pytest.mark.parametrize('names', [[name] for name in NAMES] if PART == 'fuzz' else [NAMES])
def test_damaged_files_end_in_one_line(names):
    done = subprocess.run(
        [sys.executable, '-m', 'fuzz.cases', '--count', str(CASES), *names], cwd=REPOSITORY,
        capture_output=True, text=True, check=False, timeout=3000,
    )
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row['target'] for row in found] == names, done.stderr
    assert [fault for row in found for fault in row['faults']] == []
    for row in found if CASES >= 2000 else ():
        # Nor may every case be fatal, or harmless.
        assert 0.02 * CASES < row['sound'] < 0.98 * CASES, row
        assert row['reasons'] >= REASONS, row


@pytest.mark.parametrize('name', NAMES)
def test_a_file_that_is_not_damaged_is_sound(name):
    target = TARGETS[name]
    seeds = sorted(set(target.seeds()))
    outcomes = [outcome(target, seed) for seed in seeds]
    assert '' in outcomes
    if target.form is None:
        return
    for seed, expected in zip(seeds, outcomes, strict=True):
        with deep():
            again = target.form.write(target.form.parse(seed))
        assert (outcome(target, again) == '') == (expected == '')


def test_one_description_has_every_kind_of_block():
    text = (REPOSITORY / 'test' / 'data' / 'every_family.urdf').read_text()
    specs = actuators_from_urdf(text, LoopParams)
    assert [(spec.name, spec.family) for spec in specs] == [
        ('boosters', 'boosters'), ('rotors', 'rotors'), ('bow', 'thrusters'), ('rudder', 'fins'),
        ('propulsion_modules', 'propulsion_modules'), ('inverse_fam', 'inverse_fam'),
        ('thrusters', 'thrusters'), ('fins', 'fins'),
    ]
    assert outcome(TARGETS['urdf'], text.encode()) == ''


def files_by_family():
    """Return the shipped parameter file that has a family; boosters are in the descriptions."""
    found = {}
    for path in sorted((REPOSITORY / 'config').glob('*.yaml')):
        file = ParameterFile(path)
        for name, space in file.nodes_and_namespaces:
            found.setdefault(family_of(file.of(name, space), None, name), path)
    return found


@pytest.mark.parametrize('family', FAMILIES)
def test_the_parameters_that_ship_work(family):
    path = files_by_family()[family]
    reason = outcome(TARGETS['parameter_file'], path.read_bytes())
    assert reason == '' or (family == 'boosters' and '--model ROBOT' in reason)
