# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest

from propulsion_ros.graph.load import read_motor
from propulsion_ros.settings.errors import SourceError

FILE = Path(__file__).resolve().parents[1] / 'data' / 'motors.eng'
HEADER = 'M1 18 70 0 0.02 0.05 Nobody\n'


def test_a_motor_of_a_file():
    assert read_motor(FILE, 'T11').max_thrust == 20.0


def test_the_only_motor_needs_no_name(tmp_path):
    file = tmp_path / 'one.eng'
    file.write_text('\ufeff' + HEADER + '0.0 5\n1 5\n1.5 0\n', encoding='utf-8')
    motor = read_motor(file)
    assert (motor.name, motor.total_impulse) == ('M1', 6.25)


def test_comments_may_be_in_any_encoding(tmp_path):
    file = tmp_path / 'one.eng'
    file.write_bytes(b'; caf\xe9\n' + HEADER.encode() + b'0.0 5\n1 5\n1.5 0\n')
    assert read_motor(file).name == 'M1'


@pytest.mark.parametrize(('name', 'problem'), [
    pytest.param('', 'motors.eng: expected one motor, no name was given', id='two'),
    pytest.param('X1', "motors.eng: expected one motor, 0 motors named 'X1'", id='other'),
])
def test_which_motor_must_be_clear(name, problem):
    with pytest.raises(SourceError, match=problem):
        read_motor(FILE, name)


def test_a_file_that_is_not_there():
    with pytest.raises(SourceError, match=r'^none\.eng: cannot be read: No such file'):
        read_motor('none.eng')
