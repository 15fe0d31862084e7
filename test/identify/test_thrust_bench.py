# SPDX-License-Identifier: Apache-2.0
"""The examples of benches give what their page has."""
from __future__ import annotations

import json
import runpy
import shutil
from pathlib import Path

import numpy as np
import pytest

from propulsion_ros.settings.yaml_file import ParameterFile
from propulsion_ros.tools import cli

ROOT = Path(__file__).resolve().parents[2]
WHOLE = (ROOT / 'docs' / 'identify.md').read_text()
PAGE = WHOLE.partition('## A thrust bench')[2]
SCALE = WHOLE.partition("**An ROV's thruster on a scale.**")[2]


def words_of(page):
    """Return the first command of a part of the page, without what it writes."""
    return page.partition('propulsion_ros ')[2].partition(' --output')[0].replace('\\', '').split()


@pytest.mark.slow
def test_the_page_has_what_the_example_gives(tmp_path, monkeypatch, capsys):
    shutil.copytree(ROOT / 'examples' / 'thrust_bench', tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    runpy.run_path('record.py', run_name='__main__')
    recorded = Path('bench.csv').read_text()
    for rows in PAGE.partition('```text\n')[2].partition('```')[0].split('...\n'):
        assert rows in recorded
    assert cli.main([*words_of(PAGE), '--output', 'fitted.yaml']) == 0
    printed = capsys.readouterr()
    report = json.loads(printed.out)
    assert report['warnings'] == []
    assert f'{report["rms_before"]:.3f} to {report["rms"]:.3f} N' in PAGE.replace('\n', ' ')
    assert f'left out it is {report["cross_validation_rms"]:.3f} N' in PAGE
    Path('page.yaml').write_text(PAGE.partition('```yaml\n')[2].partition('```')[0])
    on_page, fitted = (
        ParameterFile(Path(f'{name}.yaml')).of('rotors') for name in ('page', 'fitted')
    )
    assert on_page.keys() == fitted.keys()
    for key, value in fitted.items():
        numbers = [[float(word) for word in str(each[0]).split()] for each in (value, on_page[key])]
        assert numbers[0] == pytest.approx(numbers[1], rel=1e-4)
    for each, (scale, digits) in zip(
        report['estimates'].values(), ((1, 4), (1, 4), (1, 3), (1e4, 2), (1e5, 3)), strict=True
    ):
        assert f'{scale * each["value"]:.{digits}f}' in PAGE
        assert f'± {scale * each["sd"]:.{digits}f}' in PAGE


@pytest.mark.slow
def test_a_thruster_on_a_scale_is_found(tmp_path, monkeypatch, capsys):
    shutil.copytree(ROOT / 'examples' / 'thruster_scale', tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    kept = Path('scale.csv').read_text()
    runpy.run_path('record.py', run_name='__main__')
    # Another numpy may round the last digit otherwise.
    assert np.loadtxt(kept.splitlines()[1:], delimiter=',') == pytest.approx(
        np.loadtxt('scale.csv', delimiter=',', skiprows=1), abs=0.011)
    assert cli.main([*words_of(SCALE), '--output', 'fitted.yaml']) == 0
    report = json.loads(capsys.readouterr().out)
    assert report['warnings'] == []
    true = ParameterFile(Path('true.yaml')).of('thrusters')
    for name, found in report['estimates'].items():
        (value,) = true[name.removeprefix('thrusters.')]
        assert found['value'] == pytest.approx(value, abs=3.0 * found['sd'])
    lag, astern, ahead = report['estimates'].values()
    assert f'{lag["value"]:.4f} ± {lag["sd"]:.4f} s, {1e4 * astern["value"]:.3f}e-4' in SCALE
    assert f'{1e4 * ahead["value"]:.3f}e-4 ahead' in SCALE
