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
    mistake(
        'ros_parameters',
        'robot.yaml:4: /**/rotors/ros_parameters/names',
        "expected node names, got ['front', 'rear']",
        "'ros_parameters': did you mean 'ros__parameters'?",
        of(('ros__', 'ros_')),
    ),
    mistake(
        'flat file',
        'robot.yaml:1: /names',
        "expected node names, got ['front']",
        "write a node and 'ros__parameters' above 'names', one below the other",
        {'robot.yaml': 'names: [front]\nmax_thrust: [9.0]\n'},
    ),
    mistake(
        'parameters without ros__parameters',
        'robot.yaml:3: /**/rotors/names',
        "expected node names, got ['front', 'rear']",
        "write 'ros__parameters' below the node, and 'names' below that",
        of(('  ros__parameters:\n', '')),
    ),
    mistake(
        'key given twice',
        'robot.yaml:7: warning: /**/rotors/max_thrust',
        'is given again, and line 5 has no effect',
        'remove one',
        of(('    update', '    max_thrust: [8.0]\n    update')),
        code=0,
    ),
    mistake(
        'node given twice',
        'robot.yaml:9: warning: /**/rotors',
        'is given again, and line 2 has no effect',
        'remove one',
        {'robot.yaml': PARAMETERS + PARAMETERS},
        code=0,
    ),
    mistake(
        'sexagesimal',
        "robot.yaml:7: rotors: parameter 'update_rate'",
        "expected a number, got '1:30'",
        'write one number, in seconds for a time',
        of(('100.0', '1:30')),
    ),
    mistake(
        'number with its unit',
        "robot.yaml:5: rotors: parameter 'max_thrust[0]'",
        "expected a number, got '9 N'",
        'write 9, in N',
        of(('[9.0]', '[9 N]')),
    ),
    mistake(
        'text for a number',
        "robot.yaml:7: rotors: parameter 'update_rate'",
        "expected a number, got '100'",
        'write it without quotes',
        of(('100.0', "'100'")),
    ),
    mistake(
        'decimal comma',
        "robot.yaml:7: rotors: parameter 'update_rate'",
        "expected a number, got '100,5'",
        'write a point in a number, and a space between two',
        of(('100.0', '100,5')),
    ),
    mistake(
        'key misspelt',
        "robot.yaml:5: rotors: parameter 'max_trust'",
        'unknown',
        "did you mean 'max_thrust'?",
        of(('max_thrust', 'max_trust')),
    ),
    mistake(
        'key missing',
        "robot.yaml:2: rotors: parameter 'max_thrust'",
        'is required',
        'largest thrust [N]',
        of(('    max_thrust: [9.0]\n', '')),
    ),
    mistake(
        'unknown node',
        'robot.yaml:2: motors',
        'not a node that this knows',
        "did you mean 'rotors'?; give its family",
        of(('rotors', 'motors')),
    ),
    mistake(
        'tab',
        'robot.yaml:7',
        'is not YAML: while scanning for the next token found character that cannot start '
        'any token in line 7, column 1',
        'indent by blanks, not by tabs',
        of(('    update', '\tupdate')),
    ),
    mistake(
        'bracket not closed',
        'robot.yaml:6',
        'is not YAML: while parsing a flow sequence in line 5, column 17',
        "did not find expected ',' or ']' in line 6, column 19",
        of(('[9.0]', '[9.0')),
    ),
    mistake(
        'kinds mixed',
        'robot.yaml:5: /**/rotors/max_thrust',
        'expected values of one type, or ROS does not read them, got [9, 9.5]',
        'write 1.0 for 1',
        of(('[9.0]', '[9, 9.5]')),
    ),
    mistake(
        'count',
        "robot.yaml:5: rotors: parameter 'max_thrust'",
        'got 3',
        'expected 2 values',
        of(('[9.0]', '[9.0, 9.0, 9.0]')),
    ),
    mistake(
        'negative',
        "robot.yaml:5: rotors: parameter 'max_thrust[0]'",
        '-9',
        'is below 0 N',
        of(('[9.0]', '[-9.0]')),
    ),
    mistake(
        'second of a list',
        "robot.yaml:5: rotors: parameter 'max_thrust[1]'",
        '-9',
        'is below 0 N',
        of(('[9.0]', '[9.0, -9.0]')),
    ),
    mistake(
        'minimum above maximum',
        "robot.yaml:7: rotors: parameter 'min_thrust[0]'",
        '12 is above max_thrust 9 N',
        'are they swapped?',
        of(('    update', '    min_thrust: [12.0]\n    update')),
    ),
    mistake(
        'names twice',
        "robot.yaml:4: rotors: parameter 'names[1]'",
        "'front' is named twice",
        'rename one',
        of(('[front, rear]', '[front, front]')),
    ),
    mistake(
        'no choice',
        "robot.yaml:7: rotors: parameter 'command_interface'",
        "got 'rpm'",
        'expected one of effort, velocity, throttle',
        of(('    update', '    command_interface: rpm\n    update')),
    ),
    mistake(
        'alias',
        'robot.yaml:6',
        'is not YAML: aliases (*name) are not taken',
        'write the value again in line 6, column 21',
        of(('[9.0]', '&a [9.0]'), ('[1.0e-5]', '*a')),
    ),
    mistake(
        'empty',
        'robot.yaml: document',
        'expected node names, got None',
        'expected NODE, ros__parameters and KEY, one below the other',
        {'robot.yaml': ''},
    ),
    mistake(
        'a list',
        'robot.yaml: document',
        "expected node names, got ['a', 'b']",
        'expected NODE, ros__parameters and KEY, one below the other',
        {'robot.yaml': '- a\n- b\n'},
    ),
    mistake(
        'node of another name',
        'robot.yaml:1: rotor',
        'not a node that this knows',
        "did you mean 'rotors'?; give its family",
        with_model(('rotors', 'rotor')),
        MODEL,
    ),
    mistake(
        'geometry',
        "robot.yaml:3: rotors: parameter 'position'",
        'comes from the robot description, not from a parameter',
        'remove it',
        with_model(('    update', '    position: [0.0, 0.0, 0.1]\n    update')),
        MODEL,
    ),
    mistake(
        'no such block',
        "robot.yaml:3: rotors: parameter 'plugin'",
        "no plugin block 'rotor'",
        "did you mean 'rotors'?; found: rotors",
        with_model(('    update', '    plugin: rotor\n    update')),
        MODEL,
    ),
    mistake(
        'another family',
        "robot.yaml:3: rotors: parameter 'family'",
        "'fins', but the robot description has 'rotors'",
        'remove it',
        with_model(('    update', '    family: fins\n    update')),
        MODEL,
    ),
    mistake(
        'no such model',
        'robot.yaml',
        '--model: robt.urdf: cannot be read: No such file or directory',
        "did you mean 'robot.urdf'?",
        with_model(),
        'check robot.yaml --model robt.urdf',
    ),
    mistake(
        'no such model of a robot',
        'robot.urdf',
        '--model: robt.urdf: cannot be read: No such file or directory',
        "did you mean 'robot.urdf'?",
        with_model(),
        'check robot.urdf --model robt.urdf',
    ),
    mistake(
        'flight configuration missing',
        'robot.yaml:1: flight_state',
        'flight.jsonc: cannot be read: No such file or directory',
        '',
        {'robot.yaml': 'flight_state:\n  ros__parameters:\n    config_file: flight.jsonc\n'},
    ),
    mistake(
        'lag in milliseconds',
        "robot.yaml:7: warning: rotors: parameter 'time_constant_up[0]'",
        'a lag of 50 s',
        'expected seconds, not milliseconds',
        of(('    update', '    time_constant_up: [50.0]\n    update')),
        code=0,
    ),
    mistake(
        'parameters not indented',
        'robot.yaml:2: is not YAML',
        'a key without a value, which ROS does not take',
        'indent what is below it by two blanks more',
        with_model(('    update', '  update')),
    ),
    mistake(
        'one blank too many',
        'robot.yaml:5: is not YAML',
        'mapping values are not allowed in this context in line 5',
        'is it indented as the line before, and does that have its colon?',
        {'robot.yaml': PARAMETERS.replace('[front, rear]', 'front').replace('    max', '     max')},
    ),
    mistake(
        'one blank too few',
        'robot.yaml:7: is not YAML',
        'did not find expected key',
        'is it indented as the line before?',
        of(('    update', '   update')),
    ),
    mistake(
        'colon missing',
        'robot.yaml:4: is not YAML',
        'mapping values are not allowed in this context in line 4',
        'is it indented as the line before, and does that have its colon?',
        of(('ros__parameters:', 'ros__parameters')),
    ),
    mistake(
        'blank behind the colon missing',
        'robot.yaml:2: /**/rotors/ros__parameters',
        "expected parameters, got 'update_rate:100.0'",
        'write a blank behind the colon',
        with_model(('rate: ', 'rate:')),
    ),
    mistake(
        'value missing',
        'robot.yaml:7: is not YAML',
        'a key without a value, which ROS does not take',
        'write [] for no values',
        of((' 100.0', '')),
    ),
    mistake(
        'two documents',
        'robot.yaml:8: is not YAML',
        'found another document',
        'remove the --- between two',
        of(('100.0\n', '100.0\n---\nfins: 1\n')),
    ),
    mistake(
        'key misspelt for every node',
        "robot.yaml:3: rotors: parameter 'update_rte'",
        'unknown',
        "did you mean 'update_rate'?",
        with_model(('/**/rotors', '/**'), ('rate', 'rte')),
        MODEL,
    ),
    mistake(
        'key misspelt in a namespace',
        "robot.yaml:3: rotors: parameter 'update_rte'",
        'unknown',
        "did you mean 'update_rate'?",
        with_model(('/**/rotors', '/first/rotors'), ('rate', 'rte')),
        MODEL,
    ),
    mistake(
        'no node is named',
        'robot.yaml: warning',
        'names no node, so nothing is checked',
        'give --model ROBOT',
        with_model(('/**/rotors', '/**')),
        code=0,
    ),
    mistake(
        'unknown actuator switched off',
        "robot.yaml:4: rotors: parameter 'switched_off[0]'",
        "unknown name 'frnt'",
        'known: front',
        with_model(('100.0', '100.0\n    switched_off: [frnt]')),
        MODEL,
    ),
    mistake(
        'use_sim_time in quotes',
        "robot.yaml:4: rotors: parameter 'use_sim_time'",
        "got 'true'",
        'expected true or false',
        with_model(('100.0', "100.0\n    use_sim_time: 'true'")),
        MODEL,
    ),
    mistake(
        'degrees',
        "robot.yaml:3: warning: vehicle: parameter 'body.start_rpy[2]'",
        'an angle of 90 rad is over a full turn',
        'expected radians, not degrees',
        {'robot.yaml': 'vehicle:\n  ros__parameters:\n    body.start_rpy: [0.0, 0.0, 90.0]\n'},
        code=0,
    ),
    mistake(
        'a robot description',
        'robot.yaml',
        'expected a parameter file, got XML',
        'is it the robot description?',
        {'robot.yaml': ROBOT},
    ),
    mistake(
        'parameters for a model',
        'robot.urdf: --model: robot.yaml',
        'expected a robot description, whose name ends in .urdf or .xacro',
        'parameter files are FILEs',
        with_model(),
        'check robot.urdf --model robot.yaml',
    ),
    mistake(
        'table of no robot',
        'propulsion_ros check: --show and --picture',
        'expected one robot description, got 0',
        'give it as FILE or by --model',
        of(),
        'check robot.yaml --show',
    ),
    mistake(
        'no model given',
        "robot.yaml:1: rotors: parameter 'names'",
        'is required',
        'where a robot description has them, give --model ROBOT',
        with_model(),
    ),
]
