# SPDX-License-Identifier: Apache-2.0
"""Mistakes on the command line, and in tables of commands and flight logs."""

from __future__ import annotations

from mistakes import Mistake
from mistakes.parameters import PARAMETERS
from mistakes.robot import ROBOT

CONFIG = {'robot.yaml': PARAMETERS}
REPLAY = 'replay robot.yaml in.csv out.csv'


def table(name, place, reason, remedy, text, command=REPLAY, code=1, files=CONFIG):
    given = {**CONFIG, **files, 'in.csv': text}
    return Mistake(name, place, reason, remedy, given, command, code)


def log(name, place, reason, remedy, text, code=1, command='apogee log.csv'):
    return Mistake(name, place, reason, remedy, {'log.csv': text}, command, code)


def flown(name, place, reason, remedy, command, files=CONFIG):
    given = {**CONFIG, 'robot.urdf': ROBOT, **files}
    return Mistake(name, place, reason, remedy, given, command)


MISTAKES = [
    Mistake(
        'unknown command',
        'propulsion_ros: error',
        "argument COMMAND: invalid choice: 'chek'",
        "choose from 'apogee', 'check', 'demo', 'fly', 'gazebo', "
        "'identify', 'play', 'plot', 'record', 'replay', 'study', 'view'); "
        'see propulsion_ros --help',
        command='chek robot.urdf',
        code=2,
    ),
    Mistake(
        'no command',
        'propulsion_ros: error',
        'the following arguments are required: COMMAND',
        'see propulsion_ros --help',
        command='',
        code=2,
    ),
    Mistake(
        'no file',
        'propulsion_ros check: error',
        'the following arguments are required: FILE',
        'see propulsion_ros check --help',
        command='check',
        code=2,
    ),
    Mistake(
        'unknown option',
        'propulsion_ros check: error',
        'unrecognized arguments: --modle b.urdf',
        "did you mean '--model'?; see propulsion_ros check --help",
        command='check a.urdf --modle b.urdf',
        code=2,
    ),
    Mistake(
        'no number',
        'propulsion_ros plot: error',
        "argument --from: invalid float value: 'now'",
        'see propulsion_ros plot --help',
        command='plot in.csv --from now',
        code=2,
    ),
    table(
        'column misspelt',
        'propulsion_ros replay: in.csv:1',
        "unknown column 'frnt.effort'",
        "did you mean 'front.effort'?",
        'stamp,frnt.effort\n0,1\n',
    ),
    table(
        'field misspelt',
        'propulsion_ros replay: in.csv:1',
        "unknown column 'front.thrust'",
        "did you mean 'front.effort'?",
        'stamp,front.thrust\n0,1\n',
    ),
    table(
        'field of another interface',
        'in.csv:2: rotors',
        'command refused: front: takes effort, got velocity 100',
        'for velocity set command_interface: velocity; NaN means that a field is not meant',
        'stamp,front.velocity\n0,100\n',
        code=0,
    ),
    table(
        'no stamp',
        'propulsion_ros replay: in.csv:1',
        "got 'time'",
        "expected 'stamp' as the first column",
        'time,front.effort\n0,1\n',
    ),
    table(
        'unit in a cell',
        'propulsion_ros replay: in.csv:2: front.effort',
        "expected a number, got '9 N'",
        'write 9, in N',
        'stamp,front.effort\n0,9 N\n',
    ),
    table(
        'stamps go back',
        'propulsion_ros replay: in.csv:3: stamp',
        'got 0.5',
        'expected none before 1.000000000 s',
        'stamp,front.effort\n1,1\n0.5,2\n',
    ),
    table(
        'cell missing',
        'propulsion_ros replay: in.csv:2',
        'got 2',
        'expected 3 cells',
        'stamp,front.effort,rear.effort\n0,1\n',
    ),
    table(
        'semicolons',
        'propulsion_ros replay: in.csv:1',
        "expected 'stamp' as the first column, got 'stamp;front.effort'",
        'separate columns by commas',
        'stamp;front.effort\n0;1\n',
    ),
    table(
        'no input',
        'propulsion_ros replay: inn.csv',
        'cannot be read: No such file or directory',
        "did you mean 'in.csv'?",
        '',
        'replay robot.yaml inn.csv out.csv',
    ),
    table(
        'no such node',
        'propulsion_ros replay: robot.yaml',
        "no node 'rotor'",
        "did you mean 'rotors'?; found: rotors",
        'stamp,front.effort\n0,1\n',
        REPLAY + ' --node rotor',
    ),
    table(
        'output over the settings',
        'propulsion_ros replay: robot.yaml',
        'is read too',
        'expected another name for OUTPUT',
        'stamp,front.effort\n0,1\n',
        'replay robot.yaml in.csv robot.yaml',
    ),
    table(
        'plot of nothing',
        'propulsion_ros plot: in.csv',
        'got none',
        'expected values to plot',
        'stamp,front.effort\n',
        'plot in.csv',
    ),
    log(
        'log without a header',
        'propulsion_ros apogee: log.csv:1',
        'expected a column time_s, got the header 0,0',
        'the first line must name the columns, time_s and altitude_m among them',
        '0,0\n0.1,1\n',
    ),
    log(
        'log in other units',
        'propulsion_ros apogee: log.csv:1',
        'expected a column time_s, got the header time_ms,altitude_ft',
        'the first line must name the columns, time_s and altitude_m among them',
        'time_ms,altitude_ft\n0,0\n',
    ),
    log(
        'log with a text',
        'propulsion_ros apogee: log.csv:3: altitude_m',
        "got 'low'",
        'expected a number',
        'time_s,altitude_m\n0,0\n0.1,low\n',
    ),
    log(
        'log without rows',
        'propulsion_ros apogee: log.csv',
        'got a header alone',
        'expected rows',
        'time_s,altitude_m\n',
        0,
    ),
    log(
        'log on the pad',
        'propulsion_ros apogee: log.csv',
        'no apogee: it rises 0 m, and below 100 m none is looked for',
        '--minimum-height M sets another height',
        'time_s,altitude_m\n' + ''.join(f'{i / 20},0\n' for i in range(200)),
        0,
    ),
    Mistake(
        'rate of 0',
        'propulsion_ros play',
        'got 0, 0, 1',
        'expected finite numbers, --rate above 0, --clock at least 0, --loop at least 1',
        command='play bag --rate 0',
    ),
    Mistake(
        'negative duration',
        'propulsion_ros record',
        'got -1',
        'expected more than 0 s',
        command='record bag --duration -1',
    ),
    Mistake(
        'no bag',
        'propulsion_ros play: bag',
        'cannot be read: No such file or directory',
        '',
        command='play bag',
    ),
    Mistake(
        'unknown vehicle',
        'propulsion_ros demo: error',
        "argument --vehicle: invalid choice: 'drone'",
        "choose from 'rocket', 'quadrotor', 'rov', 'freeflyer', 'cubesat'); "
        'see propulsion_ros demo --help',
        command='demo --vehicle drone',
        code=2,
    ),
    table(
        'header alone',
        'propulsion_ros replay: in.csv',
        'got a header alone',
        'expected rows',
        'stamp,front.effort\n',
    ),
    table(
        'stamps in milliseconds',
        'propulsion_ros replay: in.csv:3: stamp',
        'expected a gap of at most 3600 s, got 5000 s',
        'stamps are in seconds',
        'stamp,front.effort\n0,1\n5000,2\n',
    ),
    table(
        'column of nothing',
        'propulsion_ros replay: in.csv:1',
        "unknown column 'throttle'",
        'actuators: front, rear',
        'stamp,throttle\n0,1\n',
    ),
    table(
        'folder of the output missing',
        'propulsion_ros replay: results/out.csv',
        "cannot be written: there is no folder 'results'",
        'make it first',
        'stamp,front.effort\n0,1\n',
        'replay robot.yaml in.csv results/out.csv',
    ),
    table(
        'folder of a plot missing',
        'propulsion_ros plot: plots/out.png',
        "cannot be written: there is no folder 'plots'",
        'make it first',
        'stamp,front.effort\n0,1\n1,2\n',
        'plot in.csv --output plots/out.png',
    ),
    table(
        'bag that exists',
        'propulsion_ros replay: bag',
        'exists already',
        'give another name, or remove it',
        'stamp,front.effort\n0,1\n',
        'replay robot.yaml in.csv bag',
        files={'bag/metadata.yaml': ''},
    ),
    log(
        'log separated by semicolons',
        'propulsion_ros apogee: log.csv:1',
        'got the header time_s;altitude_m',
        'separate columns by commas',
        'time_s;altitude_m\n0;0\n',
    ),
    log(
        'altitude downward',
        'propulsion_ros apogee: log.csv',
        'no apogee: it goes 200 m down',
        'altitude_m is positive upward',
        'time_s,altitude_m\n' + ''.join(f'{i / 20},{-i}\n' for i in range(201)),
        0,
    ),
    log(
        'unknown method',
        "propulsion_ros apogee: parameter 'method'",
        "got 'best'",
        'expected one of robust, legacy',
        'time_s,altitude_m\n0,0\n',
        command='apogee log.csv --method best',
    ),
    flown(
        'parameters for a robot',
        'propulsion_ros fly: robot.yaml: robot',
        'expected the text of a URDF',
        'does it begin with <robot>?',
        'fly robot.yaml',
    ),
    flown(
        'robot for parameters',
        'propulsion_ros fly: robot.urdf',
        'expected a parameter file, got XML',
        'is it the robot description?',
        'fly robot.urdf --params-file robot.urdf',
    ),
    flown(
        'block misspelt',
        "propulsion_ros fly: parameter 'allocate'",
        "no plugin block 'rotor'",
        "did you mean 'rotors'?",
        'fly robot.urdf --allocate rotor',
    ),
    flown(
        'topic misspelt',
        "propulsion_ros fly: parameter 'wait_for'",
        "'rotors/comand' commands no group of actuators",
        "did you mean 'rotors/command'?",
        'fly robot.urdf --wait-for rotors/comand',
    ),
    flown(
        'allocator not started',
        "propulsion_ros fly: parameter 'wait_for'",
        'is of an allocator that is not started',
        'add --allocate rotors',
        'fly robot.urdf --wait-for rotors_allocator/wrench_command',
    ),
    flown(
        'controller misspelt',
        'propulsion_ros fly: contoller.py',
        'cannot be read: No such file or directory',
        "did you mean 'controller.py'?",
        'fly robot.urdf --controller contoller.py',
        {'controller.py': ''},
    ),
    flown(
        'folder of a flight missing',
        'propulsion_ros fly: flights/a.png',
        "cannot be written: there is no folder 'flights'",
        'make it first',
        'fly robot.urdf --picture flights/a.png',
    ),
    flown(
        'wrong namespace',
        'propulsion_ros fly: namespace',
        "got 'a-b'",
        "expected names separated by '/'",
        'fly robot.urdf --namespace a-b',
    ),
    flown(
        'recorded before',
        'propulsion_ros fly: bag',
        'exists already',
        'give another name, or remove it',
        'fly robot.urdf --record bag',
        {'bag/metadata.yaml': ''},
    ),
    flown(
        'negative time of a flight',
        "propulsion_ros fly: vehicle: parameter 'duration'",
        '-1',
        'is below 0 s',
        'fly robot.urdf --duration -1',
    ),
    flown(
        'parameter of the body misspelt',
        "propulsion_ros fly: vehicle: parameter 'body.gravty'",
        'unknown',
        "did you mean 'body.gravity'?",
        'fly robot.urdf --params-file body.yaml',
        {'body.yaml': 'vehicle:\n  ros__parameters:\n    body.gravty: 1.6\n'},
    ),
    flown(
        'node misspelt',
        'propulsion_ros fly: body.yaml',
        "'/rotor' is no node here",
        "did you mean '/rotors'?",
        'fly robot.urdf --params-file body.yaml',
        {'body.yaml': 'rotor:\n  ros__parameters:\n    update_rate: 50.0\n'},
    ),
    flown(
        'rates that do not divide',
        "propulsion_ros fly: parameter 'update_rate'",
        "'rotors' publishes at 100 Hz where the body steps at 70 Hz",
        'give both the same',
        'fly robot.urdf --params-file body.yaml',
        {'body.yaml': 'vehicle:\n  ros__parameters:\n    update_rate: 70.0\n'},
    ),
    flown(
        'tag misspelt of a flown robot',
        'propulsion_ros fly: robot.urdf:19: gazebo/plugin[name=rotors]/rotor[name=front]/max_trust',
        'unknown tag',
        "did you mean 'max_thrust'?",
        'fly robot.urdf',
        {'robot.urdf': ROBOT.replace('max_thrust', 'max_trust')},
    ),
    Mistake(
        'model into a file',
        'propulsion_ros gazebo: model',
        'got a file',
        'expected a folder',
        {'robot.urdf': ROBOT, 'model': ''},
        'gazebo robot.urdf --output model',
    ),
    Mistake(
        'demo into a file',
        'propulsion_ros demo: pictures',
        'got a file',
        'expected a folder',
        {'pictures': ''},
        'demo --output pictures',
    ),
    Mistake(
        'recorded twice',
        'propulsion_ros record: bag',
        'exists already',
        'give another name, or remove it',
        {'bag/metadata.yaml': ''},
        'record bag --duration 1',
    ),
]
