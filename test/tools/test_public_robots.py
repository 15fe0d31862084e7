# SPDX-License-Identifier: Apache-2.0
"""Descriptions that were written for other simulators, as they stand."""
from __future__ import annotations

import os
import warnings
from pathlib import Path

import pytest

from propulsion_ros.graph.family_params import loop_params_of
from propulsion_ros.graph.share import read_description
from propulsion_ros.models.registry import REGISTRY
from propulsion_ros.settings.flat import build
from propulsion_ros.tools import cli
from propulsion_ros.tools.check import check_file
from propulsion_ros.urdf.reader import actuators_from_urdf

OWN = sorted((Path(__file__).parents[1] / 'data' / 'public').glob('*.urdf'))
VARIABLE = 'PROPULSION_ROS_PUBLIC_ROBOTS'
FOLDER = os.environ.get(VARIABLE, '')
ORIGINALS = sorted(
    path for path in Path(FOLDER or os.devnull).glob('*') if path.suffix in ('.urdf', '.xacro')
)


def named(path):
    return path.name


def commanded(path):
    """Return each block with the columns of a table that commands it."""
    for spec in actuators_from_urdf(read_description(path).text, loop_params_of):
        family_type = REGISTRY[spec.family]
        family = family_type(build(family_type.Params, spec.values))
        yield spec.name, [
            f'{name}.{field}' for name, field in zip(
                family.command_names, family.command_fields, strict=True
            )
        ]


def require_replay(path, folder):
    for name, columns in commanded(path):
        config, table, output = (folder / f'{name}.{end}' for end in ('yaml', 'csv', 'out.csv'))
        config.write_text(f'{name}:\n  ros__parameters: {{update_rate: 100.0}}\n')
        zeros = ','.join(['0.1'] * len(columns))
        table.write_text(f'stamp,{",".join(columns)}\n0,{zeros}\n0.2,{zeros}\n')
        words = ['replay', config, table, output, '--model', path, '--node', name]
        assert cli.main([str(word) for word in words]) == 0
        assert len(output.read_text().splitlines()) > 10


@pytest.mark.parametrize('path', OWN, ids=named)
def test_own_description_with_the_tags_of_others(path, tmp_path):
    assert check_file(path).faults == []
    require_replay(path, tmp_path)


def test_swapped_clamps_limit_nothing_and_are_warned_of():
    (path,) = (path for path in OWN if 'torpedo' in path.name)
    warning = next(line for line in check_file(path).warnings if 'clamp' in line)
    assert ':18: warning: ' in warning
    assert 'are they swapped?' in warning


@pytest.mark.parametrize(('name', 'line', 'others'), [('boat', 25, 1), ('quadrotor', 18, 3)])
def test_what_has_no_effect_in_plugins_that_are_alike_is_one_line(name, line, others):
    (path,) = (path for path in OWN if path.name.startswith(name))
    (warning,) = check_file(path).warnings
    assert warning.startswith(f'{path}:{line}: ')
    assert warning.endswith(f'; {others} more like it')


@pytest.mark.skipif(not FOLDER, reason=f'{VARIABLE} names no folder with the originals')
def test_folder_has_originals():
    assert ORIGINALS


@pytest.mark.parametrize('path', ORIGINALS, ids=named)
def test_original_as_it_stands(path, tmp_path):
    report = check_file(path)
    for warning in report.warnings:
        warnings.warn(warning, stacklevel=1)
    assert report.faults == []
    require_replay(path, tmp_path)
