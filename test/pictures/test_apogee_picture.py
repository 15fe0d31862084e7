# SPDX-License-Identifier: Apache-2.0
"""The picture of a flight log."""
from __future__ import annotations

import json
import struct

import numpy as np
import pytest

from propulsion_ros.tools import cli

pytest.importorskip('matplotlib')

_SIGNATURE = b'\x89PNG\r\n\x1a\n'


def _throw(altitudes=None):
    time = np.arange(-1.0, 10.0, 0.05)
    rising = np.maximum(time, 0.0)
    altitudes = 60.0 * rising - 4.903325 * rising**2 if altitudes is None else altitudes
    rows = [f'{t:.2f},{h:.3f}' for t, h in zip(time, altitudes, strict=False)]
    return '\n'.join(['time_s,altitude_m', *rows, ''])


@pytest.fixture
def draw(tmp_path, capsys):
    """Run the command with a picture; return exit code, output, error and the picture's path."""
    def run(content, picture='flight.png'):
        log = tmp_path / 'log.csv'
        log.write_text(content)
        code = cli.main(['apogee', str(log), '--picture', str(tmp_path / picture)])
        printed = capsys.readouterr()
        return code, printed.out, printed.err, tmp_path / picture
    return run


@pytest.mark.parametrize(
    'content',
    [
        pytest.param(_throw(), id='a flight'),
        pytest.param(_throw(np.linspace(0.0, 900.0, 220)), id='no apogee'),
        pytest.param(_throw(np.full(220, 3.0)), id='on the pad'),
        pytest.param('time_s,altitude_m\n0,0\n', id='one row'),
        pytest.param('time_s,altitude_m\n1,0\n0,5\n0.02,5\n0.04,6\n', id='stamps back'),
    ],
)
def test_picture_is_written_beside_the_answer_and_marks_the_detection(draw, content):
    from matplotlib.image import imread

    code, out, err, picture = draw(content)
    assert code == 0
    is_found = json.loads(out)['detected_time'] is not None
    assert [': no apogee: ' in line for line in err.splitlines()] == [True] * (not is_found)
    assert set(json.loads(out)) >= {'detected_time', 'reason'}
    data = picture.read_bytes()
    assert data.startswith(_SIGNATURE)
    assert struct.unpack('>II', data[16:24]) == (1080, 439)
    assert len(data) < 120_000
    # The line of the detection is the only thing in its colour.
    image = imread(picture)[:, :, :3]
    green = (np.abs(image - np.array([0x2e, 0x8b, 0x57]) / 255.0) < 0.01).all(axis=2).sum()
    assert green > 300 if is_found else green == 0


@pytest.mark.parametrize(
    ('content', 'picture', 'message'),
    [
        pytest.param('time_s,altitude_m\n', 'x.png', 'log: expected samples, got none',
                     id='no rows'),
        pytest.param(_throw(np.full(220, np.nan)), 'x.png', 'log: expected values between',
                     id='no altitude'),
        pytest.param(
            _throw(), 'none/x.png', 'cannot be written: there is no folder', id='no folder'
        ),
    ],
)
def test_what_cannot_be_drawn_is_one_line_and_code_1(draw, content, picture, message):
    code, out, err, _ = draw(content, picture)
    assert (code, out, err.count('\n')) == (1, '', 1)
    assert message in err
