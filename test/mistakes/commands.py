# SPDX-License-Identifier: Apache-2.0
"""Mistakes on the command line, and in tables of commands and flight logs."""
from __future__ import annotations

from mistakes import Mistake
from mistakes.parameters import PARAMETERS

CONFIG = {'robot.yaml': PARAMETERS}
REPLAY = 'replay robot.yaml in.csv out.csv'


def table(name, place, reason, remedy, text, command=REPLAY):
    return Mistake(name, place, reason, remedy, {**CONFIG, 'in.csv': text}, command)


def log(name, place, reason, remedy, text, code=1):
    return Mistake(name, place, reason, remedy, {'log.csv': text}, 'apogee log.csv', code)


MISTAKES = [
    Mistake('unknown command', '', '', '', command='chek robot.urdf', code=2),
    Mistake('no command', '', '', '', command='', code=2),
    Mistake('no file', '', '', '', command='check', code=2),
    Mistake('unknown option', '', '', '', command='check a.urdf --modle b.urdf', code=2),
    Mistake('no number', '', '', '', command='plot in.csv --from now', code=2),
    table('column misspelt', '', '', '', 'stamp,frnt.effort\n0,1\n'),
    table('field misspelt', '', '', '', 'stamp,front.thrust\n0,1\n'),
    table('field of another interface', '', '', '', 'stamp,front.velocity\n0,100\n'),
    table('no stamp', '', '', '', 'time,front.effort\n0,1\n'),
    table('unit in a cell', '', '', '', 'stamp,front.effort\n0,9 N\n'),
    table('stamps go back', '', '', '', 'stamp,front.effort\n1,1\n0.5,2\n'),
    table('cell missing', '', '', '', 'stamp,front.effort,rear.effort\n0,1\n'),
    table('semicolons', '', '', '', 'stamp;front.effort\n0;1\n'),
    table('no input', '', '', '', '', 'replay robot.yaml inn.csv out.csv'),
    table('no such node', '', '', '', 'stamp,front.effort\n0,1\n', REPLAY + ' --node rotor'),
    table('output over the input', '', '', '', 'stamp,front.effort\n0,1\n',
          'replay robot.yaml in.csv in.csv'),
    table('plot of nothing', '', '', '', 'stamp,front.effort\n', 'plot in.csv'),
    log('log without a header', '', '', '', '0,0\n0.1,1\n'),
    log('log in other units', '', '', '', 'time_ms,altitude_ft\n0,0\n'),
    log('log with a text', '', '', '', 'time_s,altitude_m\n0,0\n0.1,low\n'),
    log('log without rows', '', '', '', 'time_s,altitude_m\n', 0),
    log('log on the pad', '', '', '', 'time_s,altitude_m\n' + ''.join(
        f'{i / 20},0\n' for i in range(200)), 0),
    Mistake('rate of 0', '', '', '', command='play bag --rate 0'),
    Mistake('negative duration', '', '', '', command='record bag --duration -1'),
    Mistake('no bag', '', '', '', command='play bag'),
    Mistake('unknown vehicle', '', '', '', command='demo --vehicle drone', code=2),
]
