# SPDX-License-Identifier: Apache-2.0
"""The file of a study, and its cases."""
from __future__ import annotations

import math
from pathlib import Path

import pytest

from propulsion_ros.settings.errors import SourceError
from propulsion_ros.study.kinds import files_of, named_in
from propulsion_ros.study.session import Session
from propulsion_ros.study.study import find_study, read_study

SHIPPED = sorted(Path(__file__).resolve().parents[2].glob('studies/*.yaml'))
FLIGHT = 'kind: flight\nvehicle: quadrotor\nresults:\n  top: {max: vehicle/odometry.z}\n'


@pytest.fixture
def study(tmp_path):
    def read(text, **given):
        path = tmp_path / 'study.yaml'
        path.write_text(text)
        return read_study(path, **given)
    return read


def test_a_grid_is_every_pair_so_often(study):
    found = study(
        'kind: apogee\ncases: 2\nvary:\n'
        '  apogee.minimum_height: {grid: [50.0, 100.0, 200.0]}\n'
        '  flight.seed: {counter: 0}\n'
        '  apogee.method: {grid: [robust, legacy]}\n'
    )
    assert found.size == 12
    points = [tuple(found.case(n).values.values()) for n in range(12)]
    assert points[:5] == [
        (50.0, 0, 'robust'), (50.0, 1, 'robust'), (50.0, 2, 'legacy'), (50.0, 3, 'legacy'),
        (100.0, 4, 'robust'),
    ]
    assert len(set(points)) == 12
    assert list(found.case(0).values) == [
        'apogee.minimum_height', 'flight.seed', 'apogee.method'
    ]


def test_what_is_given_wins(study):
    found = study('kind: apogee\ncases: 5\nseed: 1\n', cases=7)
    assert (found.size, found.params.seed) == (7, 1)


def test_more_cases_are_the_same_study_and_another_seed_is_not(study):
    text = 'kind: apogee\nvary: {apogee.minimum_height: {uniform: [50, 60]}}\n'
    keys = [study(text, **given).fingerprint({}) for given in (
        {}, {'cases': 9}, {'seed': 1},
    )]
    assert keys[0] == keys[1] != keys[2]
    assert study(text).fingerprint({'a': b''}) != keys[0]
    assert study(text.replace('60', '61')).fingerprint({}) != keys[0]


def test_limits_have_open_ends(study):
    found = study('kind: apogee\nlimits: {delay: [-0.5, null]}\n')
    assert found.limits == {'delay': (-0.5, math.inf)}
    assert found.failed_limits({'delay': -0.6}) == ['delay']
    assert found.failed_limits({'delay': math.nan}) == ['delay']
    assert found.failed_limits({'delay': 7.0}) == []


@pytest.mark.parametrize(('text', 'message'), [
    ('- 1', 'expected the keys of a study'),
    ('cases: 1\n', 'kind: is required: what a case is'),
    ('kind: fligt\n', ':1: kind: expected one of flight, replay, apogee, ground, identify'),
    (f'{FLIGHT}cases: 0\n', ':5: cases: 0 is below 1'),
    (f'{FLIGHT}sead: 1\n', ":5: sead: unknown, did you mean 'seed'?"),
    (f'{FLIGHT}input: a.csv\n', ':5: input: a study of kind flight has none; expected'),
    ('kind: flight\n', 'vehicle: is required in a study of kind flight, or robot'),
    ('kind: identify\nrobot: a.urdf\ninput: a.csv\n', 'fit: is required in a study of kind'),
    (f'{FLIGHT}vary: [1]\n', r':5: vary: expected names, got \[1\]'),
    (f'{FLIGHT}vary:\n  a.b: {{normal: 1}}\n', ':6: vary: a.b: normal: expected mean'),
    (f'{FLIGHT}robot: a.urdf\n', ':5: robot: is that of the vehicle; leave one of them out'),
    (f'{FLIGHT}allocate: [x]\n', ':5: allocate: is that of the vehicle'),
    (f'{FLIGHT}limits: {{top: 3}}\n', 'limits: top: expected the lowest and the highest value'),
    (f'{FLIGHT}limits: {{top: [2, 1]}}\n', 'expected the lowest value first'),
    (f'{FLIGHT}limits: {{top: [.nan, 1]}}\n', 'expected the lowest value first'),
    (f'{FLIGHT}  b: {{max: vehicle/odometry}}\n', ':5: results: b: expected TOPIC.PART'),
    (f'{FLIGHT}  b: {{maxx: vehicle/odometry.z}}\n', "got maxx, did you mean 'max'"),
    (f'{FLIGHT}  b: {{max: a/b.z, from: x}}\n', "from: expected a number, got 'x'"),
    (f'{FLIGHT}  b: {{max: a/b.z, from: 2, to: 1}}\n', 'from: expected at most to, 1 s, got 2'),
    (f'{FLIGHT}  b: {{max: a/b.z, minus: .nan}}\n', 'minus: expected a number, got nan'),
    ('kind: [\n', 'is not YAML'),
])
def test_a_wrong_file_is_one_line_that_names_the_place(study, text, message):
    with pytest.raises(SourceError, match=message) as caught:
        study(text)
    assert 'study.yaml' in str(caught.value)
    assert '\n' not in str(caught.value)


@pytest.mark.parametrize('path', SHIPPED, ids=lambda path: path.stem)
def test_a_shipped_study_is_read_with_its_files_and_its_controller_flies(path):
    found = read_study(find_study(Path(path.stem)))
    assert found.path == path
    files = files_of(found)
    assert bool(found.params.controller) == ('controller.py' in files)
    assert not found.params.controller or Session(found).row(0)['error'] == ''


def test_a_file_that_is_absent_is_named(study):
    found = study(FLIGHT + 'controller: nowhere.py\n')
    with pytest.raises(SourceError, match=r'nowhere\.py: cannot be read'):
        files_of(found)


def test_files_that_a_study_names_belong_to_it(study, tmp_path):
    """Of parameters, of the robot, of what varies, and of a vehicle of the package."""
    names = [tmp_path / f'{name}.eng' for name in ('given', 'robot', 'drawn')]
    for path in names:
        path.write_text('; a motor')
    (tmp_path / 'a.urdf').write_text(
        f'<robot name="a"><link name="base_link"/><motor_file> {names[1]} </motor_file></robot>'
    )
    (tmp_path / 'a.yaml').write_text(
        f'/**/boosters: {{ros__parameters: {{motor_file: ["", {names[0]}], names: [a, b]}}}}'
    )
    found = study(
        'kind: flight\nrobot: a.urdf\nparams: [a.yaml]\ncontroller: a.yaml\n'
        f'vary: {{boosters.motor_file: {{choice: [{names[2]}]}}}}\n'
    )
    assert sorted(named_in(found, files_of(found))) == sorted(map(str, names))
    shipped = study('kind: flight\nvehicle: rocket\nresults: {top: {max: vehicle/odometry.z}}\n')
    assert {Path(name).name for name in named_in(shipped, files_of(shipped))} == {
        'rocket.yaml', 'rocket_flight.jsonc'
    }
