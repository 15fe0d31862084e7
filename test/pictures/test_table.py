# SPDX-License-Identifier: Apache-2.0
"""What is plotted of a table as `replay` writes and reads it, and of what is none."""
from __future__ import annotations

from argparse import Namespace

import numpy as np
import pytest
from plot_pages import panels, parabolas, points, predicted

from propulsion_ros.pictures.panels import page_of
from propulsion_ros.pictures.table import join_commands
from propulsion_ros.replay.ulog_reader import UNMAPPED
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.tools.plot import read_signals

WRENCH = ','.join(f'wrench.{part}.{axis}' for part in ('force', 'torque') for axis in 'xyz')
XYZ = ['x', 'y', 'z']
LEFT = ['x residual', 'y residual', 'z residual']
TOLD = ['x command', 'y command', 'z command']


@pytest.fixture
def read(tmp_path):
    """Return the signals of a table."""
    def signals(text, name='table.csv'):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_signals(Namespace(input=path, commands=None), UNMAPPED)
    return signals


def rows(header):
    """Return a table with two rows of ones."""
    return '\n'.join([header, *(','.join([stamp, *'1' * header.count(',')]) for stamp in '12')])


@pytest.mark.parametrize(('header', 'expected', 'unread'), [
    pytest.param(
        f'stamp,a.effort,g.position,a/ignition.position,t/fuel_ratio.position,{WRENCH},t.mass,'
        't.ixx,t.iyy,t.izz',
        {'thrust [N]': ['a'], 'angle [rad]': ['g'], 'applied force [N]': XYZ,
         'applied torque [N m]': XYZ, 'propellant [kg]': ['t']},
        ['a/ignition.position', 't.ixx', 't.iyy', 't.izz'],
        id='one node',
    ),
    pytest.param(
        f'stamp,a.effort,{WRENCH},main.voltage,main.current,main.percentage',
        {'thrust [N]': ['a'], 'applied force [N]': XYZ, 'applied torque [N m]': XYZ,
         'battery voltage [V]': ['main'], 'battery current [A]': ['main'],
         'battery charge, of capacity': ['main']},
        [], id='a battery',
    ),
    pytest.param(
        f'stamp,fam/n.position,{WRENCH.replace("wrench", "fam/wrench")},inverse/n.effort,'
        f'{WRENCH.replace("wrench", "inverse/wrench")},'
        f'{WRENCH.replace("wrench", "inverse/residual")},inverse/wrench_std.force.x',
        {'fam: angle [rad]': ['n'], 'fam: applied force [N]': XYZ,
         'fam: applied torque [N m]': XYZ, 'inverse: thrust [N]': ['n'],
         'inverse: estimated force [N]': XYZ + LEFT, 'inverse: estimated torque [N m]': XYZ + LEFT},
        ['inverse/wrench_std.force.x'],
        id='two nodes',
    ),
    pytest.param(
        f'stamp,{WRENCH.replace("wrench", "allocator/residual")},rotors/a.effort,'
        f'{WRENCH.replace("wrench", "rotors/wrench")}',
        {'allocator: force [N]': LEFT, 'allocator: torque [N m]': LEFT,
         'rotors: thrust [N]': ['a'], 'rotors: applied force [N]': XYZ,
         'rotors: applied torque [N m]': XYZ},
        [], id='residual alone',
    ),
    pytest.param(
        'stamp,a.effort,g.position,body.velocity.x,com.x',
        {'thrust [N]': ['a command'], 'throttle, or angle [rad]': ['g command']},
        ['body.velocity.x', 'com.x'], id='commands',
    ),
    pytest.param(
        f'stamp,{WRENCH}', {'force [N]': TOLD, 'torque [N m]': TOLD}, [], id='demanded wrench',
    ),
    pytest.param(
        ' stamp , auv/bow.velocity ', {'speed [rad/s]': ['auv/bow command']}, [],
        id='slash in a name, blanks',
    ),
])
def test_panels_follow_the_columns(read, header, expected, unread):
    signals = read(rows(header))
    assert panels(page_of(signals)) == expected
    assert signals.unread == unread


def test_an_empty_cell_is_no_value(read):
    page = page_of(read('stamp,a.effort,b.effort\n0.5,1,\n1.5,,nan\n2.5,2,3\n'))
    assert points(page, 'thrust [N]', 'a', 'command') == [(0.5, 1.0), (2.5, 2.0)]
    assert points(page, 'thrust [N]', 'b', 'command') == [(2.5, 3.0)]


@pytest.mark.parametrize('prefix', ['', 'flight_state/'])
def test_a_fit_is_drawn_as_a_flight(read, prefix):
    names = ['altitude', 'velocity', 'acceleration', 'apogee_time', 'apogee_altitude',
             'apogee_sigma']
    header = ','.join(f'{prefix}{name}.position' for name in names)
    rows = ('1,,,,,,', '2,5,10,-10,3,10,0.1', '3.5,8.75,-5,-10,3,10,0.1')
    page = page_of(read('\n'.join([f'stamp,{header}', *rows])))
    assert parabolas(page.above[0]) == pytest.approx(
        np.array([(2.0, 5.0, 10.0, -10.0), (3.5, 8.75, -5.0, -10.0)])
    )
    # The second one looks back.
    assert predicted(page.above[0]) == [(3.0, 10.0)]
    assert panels(page) == {
        'vertical speed [m/s]': ['fit'], 'vertical acceleration [m/s²]': ['fit'],
    }


def test_commands_are_drawn_beside_the_first_state_of_their_name(read):
    header = f'stamp,one/a.effort,{WRENCH.replace("wrench", "one/wrench")},two/a.effort,'
    signals = read(rows(header + WRENCH.replace('wrench', 'two/wrench')))
    join_commands(signals, read('stamp,a.effort,b.effort,com.x\n1,5,6,\n', 'commands.csv'))
    page = page_of(signals)
    assert panels(page)['one: thrust [N]'] == ['a', 'a command']
    assert panels(page)['two: thrust [N]'] == ['a']
    assert points(page, 'one: thrust [N]', 'a', 'command') == [(1.0, 5.0), (2.0, 5.0)]
    assert panels(page)['thrust [N]'] == ['b command']
    assert signals.unread == ['com.x']


@pytest.mark.parametrize(('content', 'message'), [
    pytest.param('', ":1: expected 'stamp' or time_s and altitude_m as columns, got no lines",
                 id='empty'),
    pytest.param('a,b\n1,2\n', ":1: expected 'stamp' or .*, got a,b$", id='unknown header'),
    pytest.param('a.effort,stamp\n', ":1: expected 'stamp' or", id='stamp not first'),
    pytest.param('stamp,foo\n1,2\n', ':1: expected a column such as .*, got stamp,foo$',
                 id='unknown columns'),
    pytest.param('stamp,a.effort\n-1,2\n', ":2: stamp: expected seconds, got '-1'",
                 id='stamp below 0'),
    pytest.param('time_s,foo\n1,2\n', ':1: expected a column altitude_m', id='half a log'),
    pytest.param('time_s,altitude_m\n', ': expected samples, got none', id='empty log'),
])
def test_what_is_neither_table_nor_log_is_named_in_one_line(read, tmp_path, content, message):
    with pytest.raises(SourceError, match=message) as caught:
        page_of(read(content))
    assert str(caught.value).startswith(str(tmp_path / 'table.csv'))
    assert '\n' not in str(caught.value)
