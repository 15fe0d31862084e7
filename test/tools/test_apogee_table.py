# SPDX-License-Identifier: Apache-2.0
"""The table of errors on a folder of logs with references."""
from __future__ import annotations

import argparse
import json

import numpy as np
import pytest

from propulsion_ros.tools import apogee_trials

_APOGEE = 60.0 / 9.80665


def _run(capsys, folder):
    parser = argparse.ArgumentParser()
    apogee_trials.add_arguments(parser)
    code = apogee_trials.run(parser.parse_args(['--table', str(folder)]))
    printed = capsys.readouterr()
    return code, printed.out, printed.err


@pytest.fixture
def folder(tmp_path):
    """Make a folder of two throws, one cut before its apogee."""
    references = {
        'throw': {'apogee_t': _APOGEE, 'grade': 'A', 't_uncert': 0.02},
        'cut': {'apogee_t': None, 'grade': None},
    }
    (tmp_path / 'real').mkdir()
    (tmp_path / 'synthetic').mkdir()
    (tmp_path / 'reference.json').write_text(json.dumps(references))
    (tmp_path / 'synthetic' / 'truth.json').write_text('{}')
    for name, end in (('throw', 10.0), ('cut', 5.0)):
        time = np.arange(0.0, end, 0.021)
        rows = [f'{t:.3f},{60.0 * t - 4.903325 * t * t:.3f}' for t in time]
        text = '\n'.join(['time_s,altitude_m', *rows, ''])
        (tmp_path / 'real' / f'{name}.csv').write_text(text)
    return tmp_path


def test_table(capsys, folder):
    code, out, err = _run(capsys, folder)
    rows = {line.split(' | ')[0].strip('| '): line for line in out.splitlines()}
    assert (code, err) == (0, '')
    cells = [cell.strip() for cell in rows['throw'].split('|')[1:-1]]
    assert cells[:3] == ['throw', 'A', '6.12 ± 0.02']
    assert float(cells[3]) == pytest.approx(0.05, abs=0.06)
    assert float(cells[6]) == pytest.approx(0.02, abs=0.02)
    assert cells[5] == 'fit'
    assert rows['cut'].count('none, as it should') == 2
    assert 'robust, 1 logs of grade A' in out


@pytest.mark.parametrize(
    ('spoil', 'message'),
    [
        pytest.param(lambda f: (f / 'reference.json').unlink(), 'reference.json: cannot be read',
                     id='no list'),
        pytest.param(lambda f: (f / 'reference.json').write_text('{'), 'expected JSON',
                     id='no JSON'),
        pytest.param(lambda f: (f / 'reference.json').write_text('[]'),
                     'reference.json: expected an object', id='a list'),
        pytest.param(lambda f: (f / 'reference.json').write_text('{"throw": 3}'),
                     'reference.json: throw: expected an object, got 3', id='no object'),
        pytest.param(lambda f: (f / 'reference.json').write_text('{"throw": {}}'),
                     'reference.json: throw.apogee_t: is missing', id='no apogee'),
        pytest.param(lambda f: (f / 'reference.json').write_text('{"throw": {"apogee_t": "6"}}'),
                     "throw.apogee_t: expected a number, got '6'", id='apogee in words'),
        pytest.param(
            lambda f: (f / 'reference.json').write_text(
                '{"throw": {"apogee_t": null, "should_trigger": true}}'
            ),
            'throw: should_trigger without an apogee_t', id='apogee that is not there',
        ),
        pytest.param(lambda f: (f / 'real' / 'throw.csv').unlink(), 'throw.csv: cannot be read',
                     id='no log'),
    ],
)
def test_wrong_files_are_one_line_and_code_1(capsys, folder, spoil, message):
    spoil(folder)
    code, _, err = _run(capsys, folder)
    assert code == 1
    assert err.count('\n') == 1
    assert message in err


def test_folder_without_grades_has_no_figures(capsys, folder):
    (folder / 'reference.json').write_text(json.dumps({'throw': {'apogee_t': _APOGEE}}))
    code, out, err = _run(capsys, folder)
    assert (code, err) == (0, '')
    assert '| throw | true | 6.12 |' in out
    assert 'of grade A' not in out
