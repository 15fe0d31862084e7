# SPDX-License-Identifier: Apache-2.0
"""Mistakes in parameter files."""
from __future__ import annotations

from mistakes import Mistake, replaced
from mistakes.robot import ROBOT

PARAMETERS = """# Of a drone.
/**/rotors:
  ros__parameters:
    names: [front, rear]
    max_thrust: [9.0]
    motor_constant: [1.0e-5]
    update_rate: 100.0
"""
OF_MODEL = """/**/rotors:
  ros__parameters:
    update_rate: 100.0
"""
MODEL = 'check robot.yaml --model robot.urdf'


def of(*changes):
    return {'robot.yaml': replaced(PARAMETERS, changes)}


def with_model(*changes):
    return {'robot.yaml': replaced(OF_MODEL, changes), 'robot.urdf': ROBOT}


def mistake(name, place, reason, remedy, files, command='check robot.yaml', code=1):
    return Mistake(name, place, reason, remedy, files, command, code)


MISTAKES = [
    mistake('ros_parameters', '', '', '', of(('ros__', 'ros_'))),
    mistake('flat file', '', '', '', {'robot.yaml': 'names: [front]\nmax_thrust: [9.0]\n'}),
    mistake('parameters without ros__parameters', '', '', '', of(('  ros__parameters:\n', ''))),
    mistake('key given twice', '', '', '', of(
        ('    update', '    max_thrust: [8.0]\n    update'))),
    mistake('node given twice', '', '', '', {'robot.yaml': PARAMETERS + PARAMETERS}),
    mistake('sexagesimal', '', '', '', of(('100.0', '1:30'))),
    mistake('number with its unit', '', '', '', of(('[9.0]', '[9 N]'))),
    mistake('text for a number', '', '', '', of(('100.0', "'100'"))),
    mistake('decimal comma', '', '', '', of(('100.0', '100,5'))),
    mistake('key misspelt', '', '', '', of(('max_thrust', 'max_trust'))),
    mistake('key missing', '', '', '', of(('    max_thrust: [9.0]\n', ''))),
    mistake('unknown node', '', '', '', of(('rotors', 'motors'))),
    mistake('tab', '', '', '', of(('    update', '\tupdate'))),
    mistake('bracket not closed', '', '', '', of(('[9.0]', '[9.0'))),
    mistake('kinds mixed', '', '', '', of(('[9.0]', '[9, 9.5]'))),
    mistake('count', '', '', '', of(('[9.0]', '[9.0, 9.0, 9.0]'))),
    mistake('negative', '', '', '', of(('[9.0]', '[-9.0]'))),
    mistake('second of a list', '', '', '', of(('[9.0]', '[9.0, -9.0]'))),
    mistake('minimum above maximum', '', '', '', of(
        ('    update', '    min_thrust: [12.0]\n    update'))),
    mistake('names twice', '', '', '', of(('[front, rear]', '[front, front]'))),
    mistake('no choice', '', '', '', of(('    update', '    command_interface: rpm\n    update'))),
    mistake('alias', '', '', '', of(('[9.0]', '&a [9.0]'), ('[1.0e-5]', '*a'))),
    mistake('empty', '', '', '', {'robot.yaml': ''}),
    mistake('a list', '', '', '', {'robot.yaml': '- a\n- b\n'}),
    mistake('node of another name', '', '', '', with_model(('rotors', 'rotor')), MODEL),
    mistake('geometry', '', '', '', with_model(
        ('    update', '    position: [0.0, 0.0, 0.1]\n    update')), MODEL),
    mistake('no such block', '', '', '', with_model(
        ('    update', '    plugin: rotor\n    update')), MODEL),
    mistake('another family', '', '', '', with_model(
        ('    update', '    family: fins\n    update')), MODEL),
    mistake('no such model', '', '', '', with_model(), 'check robot.yaml --model robt.urdf'),
    mistake('no such model of a robot', '', '', '', with_model(),
            'check robot.urdf --model robt.urdf'),
    mistake('flight configuration missing', '', '', '', {
        'robot.yaml': 'flight_state:\n  ros__parameters:\n    config_file: flight.jsonc\n'}),
    mistake('lag in milliseconds', '', '', '', of(
        ('    update', '    time_constant_up: [50.0]\n    update'))),
]
