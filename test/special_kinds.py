# SPDX-License-Identifier: Apache-2.0
"""Kinds of files that a name can stand for, strange names, and every command that reads a file."""
from __future__ import annotations

import os
import socket
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent


class Case(NamedTuple):
    """One command on one file.

    Attributes
    ----------
    id : str
        Of the case.
    make : callable
        ``make(path)`` makes the file.
    name : str or bytes
        Of the file.
    command : tuple of str
        With ``{}`` for the file; a command of `COMMANDS` without it.
    wanted : str
        Part of the line that is printed.
    code : int
        Exit code.
    lines : int
        How many are printed: each fault of a file has its own.
    """

    id: str
    make: object
    name: str | bytes
    command: tuple[str, ...]
    wanted: str
    code: int = 1
    lines: int = 1


def holding(content):
    """Return what makes a file with a text or bytes."""
    def make(path):
        Path(path).write_bytes(content.encode() if isinstance(content, str) else content)
    return make


def large(text):
    """Return what makes a file with a text that is made when it is needed."""
    def make(path):
        holding(text())(path)
    return make


def sparse(size, head=b'', tail=b''):
    """Return what makes a file that states a size, of which the disk has nearly nothing."""
    def make(path):
        with open(path, 'wb') as file:
            file.write(head)
            file.truncate(size)
            file.seek(size - len(tail))
            file.write(tail)
    return make


def link_to(target):
    return lambda path: os.symlink(target, path)


def link_loop(path):
    os.symlink(path + b'2' if isinstance(path, bytes) else f'{path}2', path)
    os.symlink(path, path + b'2' if isinstance(path, bytes) else f'{path}2')


def unix_socket(path):
    with socket.socket(socket.AF_UNIX) as server:
        here = os.getcwd()
        os.chdir(os.path.dirname(path))
        try:
            server.bind(os.path.basename(path))
        finally:
            os.chdir(here)


def unreadable(path):
    holding('a')(path)
    os.chmod(path, 0)


KINDS = {
    'fifo': (os.mkfifo, 'Is a FIFO, expected a regular file'),
    'endless device': (link_to('/dev/zero'), 'Is a device, expected a regular file'),
    'socket': (unix_socket, 'Is a socket, expected a regular file'),
    'folder': (os.mkdir, 'Is a directory'),
    'loop of links': (link_loop, 'Too many levels of symbolic links'),
    'link to nothing': (link_to('/nowhere/at/all'), 'No such file or directory'),
    'no right to read': (unreadable, 'Permission denied'),
    'no file at all': (lambda path: None, 'No such file or directory'),
}
"""What a name can stand for, and part of the line that refuses it."""

SPARSE = {
    '.yaml': 'is larger than 262144 bytes', '.urdf': 'is larger than 4194304 bytes',
    '.xacro': 'is larger than 4194304 bytes', '.jsonc': 'is larger than 1048576 bytes',
    '.eng': 'is larger than 1048576 bytes', '.json': 'is larger than 1',
    **dict.fromkeys(('.stl', '.obj', '.dae'), 'is larger than 16777216 bytes'),
    '.csv': 'NUL', '.mcap': 'File magic is invalid', '.db3': 'file is not a database',
    '.ulg': 'is larger than 1073741824 bytes',
}
"""Part of the line that refuses a file that states two gigabytes."""

SPARSE_ELSE = {'plot commands.csv': '', 'identify.csv': 'is larger than 134217728 bytes'}
"""The same for commands that have limits of their own."""
CONFIG = str(HERE.parent / 'config' / 'rotors.yaml')
ROCKET = str(HERE.parent / 'urdf' / 'rocket.urdf.xacro')
COMMANDS = {
    'check.yaml': ('check', '{}'),
    'check.urdf': ('check', '{}'),
    'check.xacro': ('check', '{}'),
    'check.jsonc': ('check', '{}'),
    'check model.urdf': ('check', CONFIG, '--model', '{}'),
    'apogee.csv': ('apogee', '{}'),
    'replay config.yaml': ('replay', '{}', 'table.csv', 'out.csv'),
    'replay.csv': ('replay', CONFIG, '{}', 'out.csv'),
    'replay.mcap': ('replay', CONFIG, '{}', 'out.csv'),
    'replay.db3': ('replay', CONFIG, '{}', 'out.csv'),
    'replay model.xacro': ('replay', CONFIG, 'table.csv', 'out.csv', '--model', '{}'),
    'plot.csv': ('plot', '{}', '--output', 'out.png'),
    'plot commands.csv': ('plot', 'table.csv', '--commands', '{}', '--output', 'out.png'),
    'plot.db3': ('plot', '{}', '--output', 'out.png'),
    'view.csv': ('view', '{}', '--html', 'out.html'),
    'view.db3': ('view', '{}', '--html', 'out.html'),
    'identify.csv': ('identify', '{}', '--model', ROCKET, '--measured', 'odometry', '--fit',
                     'body.drag_area'),
    'demo.yaml': ('demo', '--params-file', '{}', '--output', 'demo'),
    'gazebo.urdf': ('gazebo', '{}', '--output', 'gazebo'),
    'mesh.stl': ('call', 'propulsion_ros.view.robot', 'read_mesh', '{}'),
    'mesh.obj': ('call', 'propulsion_ros.view.robot', 'read_mesh', '{}'),
    'mesh.dae': ('call', 'propulsion_ros.view.robot', 'read_mesh', '{}'),
    'study.yaml': ('study', '{}', '--no-picture'),
    'motor.eng': ('call', 'propulsion_ros.graph.load', 'read_motor', '{}'),
    'record.json': ('call', 'propulsion_ros.loops.flight.record_file', 'read_state', '{}'),
    'references.json': ('references', '{}'),
    'node config.jsonc': ('node', 'config_file', '{}'),
    'node record.json': ('node', 'state_file', '{}'),
    'node settings.yaml': ('settings', '{}'),
}
"""Commands by what they read; the suffix is that of the file."""
if find_spec('pyulog'):
    COMMANDS['plot.ulg'] = 'plot', '{}', '--output', 'out.png'


OF_BAGS = {'folder': 'expected a bag, got a folder without metadata.yaml'}
"""The same for bags, where it differs."""
FOLDERS_OF_BAGS = tuple(
    ('folder', f'{name}.csv') for name in ('apogee', 'replay', 'plot', 'view', 'identify')
)
"""Folders are bags for commands that read both."""

FEW = ('fifo', 'endless device', 'socket', 'folder')
"""Kinds of files for what takes long to start."""


def kinds():
    """Yield every kind of file for every command."""
    for what, command in COMMANDS.items():
        suffix = '.' + what.rpartition('.')[2]
        is_node = command[0] in ('node', 'settings', 'demo')
        for kind, (make, wanted) in KINDS.items():
            if is_node and kind not in (FEW[:2] if command[0] == 'demo' else FEW):
                continue
            if kind == 'no right to read' and os.geteuid() == 0:
                continue
            if what == 'record.json' and 'No such file' in wanted:
                # Of no flight there is no record.
                continue
            is_bag = suffix in ('.mcap', '.db3') or (kind, what) in FOLDERS_OF_BAGS
            expected = OF_BAGS.get(kind, wanted) if is_bag else wanted
            if what == 'node record.json':
                expected = wanted.split(',')[0][3:].replace('directory', 'folder')
            yield Case(f'{what}: {kind}', make, f'a{suffix}', command, expected)
        if not is_node:
            expected = SPARSE_ELSE.get(what, SPARSE[suffix])
            yield Case(f'{what}: sparse', sparse(2 << 30), f'a{suffix}', command, expected)


NAMES = {
    'line end': 'a\nb{}', 'escape sequence': 'a\x1b[2J{}', 'not UTF-8': b'a\xff\xfe{}',
    'direction mark': 'a\u202egpj{}', 'long': 'n' * 240 + '{}', 'space': ' a b {}',
    'percent': '100%41{}', 'question': 'what?{}', 'hash': '#1{}', 'quotes': '\'"$(x)`{}',
}
"""Names that a terminal, a log or a library could take for something else."""

NAMED = (
    'check.yaml', 'check.urdf', 'check.xacro', 'check.jsonc', 'replay config.yaml', 'apogee.csv',
    'plot.csv', 'plot.db3', 'record.json',
)
"""Commands that read every format once; the others get a line end in the name alone."""


def names():
    """Yield files of strange names whose content is wrong for every command."""
    for what, command in COMMANDS.items():
        suffix = '.' + what.rpartition('.')[2]
        for kind, name in NAMES.items():
            # A node starts without a record that is broken.
            if what == 'node record.json' or (what not in NAMED and kind != 'line end'):
                continue
            full = name.replace(b'{}', suffix.encode()) if isinstance(name, bytes) \
                else name.replace('{}', suffix)
            yield Case(f'{what}: {kind} in its name', holding('\x01'), full, command, '')


def targets():
    """Yield what is no file where one is to be written."""
    for kind in FEW:
        make, wanted = KINDS[kind]
        wanted = wanted.split(',')[0]
        for name, command in (
            ('replay', ('replay', CONFIG, 'table.csv', '{}')),
            ('replay of a vehicle', ('replay', str(HERE.parent / 'config' / 'quadrotor.yaml'),
                                     'table.csv', '{}', '--vehicle', 'quadrotor')),
            ('plot', ('plot', 'table.csv', '--output', '{}')),
            ('view', ('view', 'table.csv', '--html', '{}')),
            ('apogee', ('apogee', 'log.csv', '--picture', '{}')),
        ):
            # For replay a folder is a bag that is there.
            is_bag = kind == 'folder' and 'replay' in name
            yield Case(f'{name} to {kind}', make, 'out.csv', command,
                       'exists already' if is_bag else wanted)
        yield Case(f'replay beside {kind}', make, 'out.csv.unfinished',
                   ('replay', CONFIG, 'table.csv', 'out.csv'), wanted)
