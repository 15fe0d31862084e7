"""Files that hang, never end, or are not what their name says; run in processes with limits.

``python test/special_files.py GROUP FOLDER`` makes the files of a group in a folder, gives each to
its commands, and prints one JSON object for each case.
"""
from __future__ import annotations

import gzip
import importlib
import json
import os
import resource
import signal
import socket
import sqlite3
import struct
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
CPU_LIMIT, MEMORY_LIMIT = 5.0, 300.0
"""Of a case [s], [MB]."""

MIB = 1024 * 1024


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
    said : str
        Part of the line that is printed.
    code : int
        Exit code.
    """

    id: str
    make: object
    name: str | bytes
    command: tuple[str, ...]
    said: str
    code: int = 1


# Kinds of files.


def holding(content):
    """Return what makes a file with a text or bytes."""
    def make(path):
        Path(path).write_bytes(content.encode() if isinstance(content, str) else content)
    return make


def large(text):
    """Return what makes a file with a text that is made when it is needed."""
    return lambda path: holding(text())(path)


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
    'null device': (link_to('/dev/null'), 'Is a device, expected a regular file'),
    'socket': (unix_socket, 'Is a socket, expected a regular file'),
    'folder': (os.mkdir, 'Is a directory'),
    'loop of links': (link_loop, 'Too many levels of symbolic links'),
    'link to nothing': (link_to('/nowhere/at/all'), 'No such file or directory'),
    'no right to read': (unreadable, 'Permission denied'),
    'no file at all': (lambda path: None, 'No such file or directory'),
}
"""What a name can stand for, and what is said of it."""

SPARSE = {
    '.yaml': 'is larger than 262144 bytes', '.urdf': 'is larger than 4194304 bytes',
    '.xacro': 'is larger than 4194304 bytes', '.jsonc': 'is larger than 1048576 bytes',
    '.eng': 'is larger than 1048576 bytes', '.json': 'is larger than 1',
    '.csv': 'NUL', '.mcap': 'File magic is invalid', '.db3': 'file is not a database',
}
"""What is said of a file that states two gigabytes."""

CONFIG = str(HERE.parent / 'config' / 'rotors.yaml')
THRUST = 'stamp,rotor_0.effort\n0,1\n'

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
    'demo.yaml': ('demo', '--params-file', '{}', '--output', 'demo'),
    'gazebo.urdf': ('gazebo', '{}', '--output', 'gazebo'),
    'motor.eng': ('call', 'propulsion_ros.graph.motor_file', 'read_motor', '{}'),
    'record.json': ('call', 'propulsion_ros.loops.record_file', 'read_state', '{}'),
    'references.json': ('references', '{}'),
    'node config.jsonc': ('node', 'config_file', '{}'),
    'node record.json': ('node', 'state_file', '{}'),
    'node settings.yaml': ('settings', '{}'),
}
"""Commands by what they read; the suffix is that of the file."""


OF_BAGS = {
    'folder': 'Expected metadata file', 'link to nothing': 'does not exist',
    'no file at all': 'does not exist',
}
"""What is said of bags in place of that."""

FEW = ('fifo', 'endless device', 'socket', 'folder')
"""Kinds of files for what takes long to start."""


def kinds():
    """Yield every kind of file for every command."""
    for what, command in COMMANDS.items():
        suffix = '.' + what.rpartition('.')[2]
        is_node = command[0] in ('node', 'settings', 'demo')
        for kind, (make, said) in KINDS.items():
            if (kind == 'no right to read' and os.geteuid() == 0) or (is_node and kind not in FEW):
                continue
            if what == 'record.json' and 'No such file' in said:
                # Of no flight there is no record.
                continue
            if suffix in ('.mcap', '.db3') or (kind, what) in (
                ('folder', 'replay.csv'), ('folder', 'plot.csv'),
            ):
                said = OF_BAGS.get(kind, said)
            if what == 'node record.json':
                said = said.split(',')[0][3:].replace('directory', 'folder')
            yield Case(f'{what}: {kind}', make, f'a{suffix}', command, said)
        if not is_node:
            said = '' if what == 'plot commands.csv' else SPARSE[suffix]
            yield Case(f'{what}: sparse', sparse(2 << 30), f'a{suffix}', command, said)


NAMES = {
    'line end': 'a\nb{}', 'escape sequence': 'a\x1b[2J{}', 'not UTF-8': b'a\xff\xfe{}',
    'direction mark': 'a\u202egpj{}', 'long': 'n' * 240 + '{}', 'space': ' a b {}',
    'percent': '100%41{}', 'question': 'what?{}', 'hash': '#1{}', 'quotes': '\'"$(x)`{}',
}
"""Names that a terminal, a log or a library could take for something else."""


def names():
    """Yield files of strange names whose content is wrong for every command."""
    for what, command in COMMANDS.items():
        suffix = '.' + what.rpartition('.')[2]
        if command[0] in ('node', 'settings', 'demo', 'gazebo'):
            continue
        for kind, name in NAMES.items():
            full = name.replace(b'{}', suffix.encode()) if isinstance(name, bytes) \
                else name.replace('{}', suffix)
            yield Case(f'{what}: {kind} in its name', holding('\x01'), full, command, '')


# What the formats can hold.


def nodes(text):
    return f'rotors:\n  ros__parameters:\n    x: {text}\n'


ALIASES = 'a0: &a0 [1, 1]\n' + ''.join(
    f'a{i}: &a{i} [{", ".join([f"*a{i - 1}"] * 9)}]\n' for i in range(1, 12)
)
YAML = {
    'aliases that expand': (ALIASES, 'aliases'),
    'deep lists': ('[' * 100_000, 'nested too deeply'),
    'deep maps': ('{a: ' * 50_000, 'nested too deeply'),
    'deep blocks': ('- ' * 100_000, 'nested too deeply'),
    'dense list': (nodes('[' + '1,' * 130_000 + ']'), ''),
    'a number of base 60': (nodes('1' + ':59' * 80_000), 'a number of'),
    'a number of base 16': (nodes('0x' + 'f' * 200_000), 'a number of'),
    'a long number': (nodes('1' * 200_000), 'a number of'),
    'an object': ('x: !!python/object/apply:os.system [ls]', 'is not YAML'),
    'endless text': (nodes('"' + 'a' * 260_000), 'is not YAML'),
    'long keys': (f'{"k" * 250_000}: 1', ''),
    'many documents': ('---\n' * 60_000, 'is not YAML'),
    'merge of itself': ('a: &a {<<: *a}', 'aliases'),
    'nothing': ('', 'expected node names'),
}

EVENT = (
    '{"condition": {"flightVar": "TimeSinceApogee", "operator": "MORETHAN", "threshold": 0}, '
    '"action": []} // comment'
)


def commented(size, end=''):
    """Return a configuration of many lines of comments, with commas at the end."""
    line = f'  {EVENT.split(" //")[0]}, // a comment /* of */ one line\n'
    return '{\n"Events": [\n' + line * (size // len(line)) + f'  /* end */ {end}]\n}}\n'


JSONC = {
    'comments': (large(lambda: commented(200_000, '{"operator": 1},')), 'Events['),
    'a megabyte of events': (large(lambda: commented(1_000_000, '7,')), 'Events['),
    'error after comments': (large(lambda: commented(900_000, '7 8')), 'is not JSON'),
    'comment without end': (holding('/*' * 500_000), 'is not JSON'),
    'comments without end': (holding('[' + '/* ' * 300_000), 'is not JSON'),
    'text without end': (holding('["' + '\\"' * 500_000), 'is not JSON'),
    'JSON5': (holding("{'Events': [" + '+1,' * 10_500 + ']}'), 'Events'),
    'much JSON5': (holding("{'Events': [" + '+1,' * 330_000 + ']}'), 'is not JSON'),
    'deep': (holding('[' * 500_000), 'nested too deeply'),
    'deep objects': (holding('{"a":' * 150_000), 'nested too deeply'),
    'a long number': (holding('{"Events": ' + '1' * 1_000_000 + '}'), 'is not JSON'),
    'a number of base 16': (holding('{"Events": 0x' + 'f' * 30_000 + '}'), 'is not JSON'),
    'one key many times': (holding('{' + '"Events":1,' * 90_000 + '}'), 'is not JSON'),
    'commas': (holding('[' + ',' * 1_000_000), 'is not JSON'),
    'spaces': (holding(' ' * 1_000_000), 'is not JSON'),
    'many keys': (large(lambda: json.dumps({f'Event{i}': 1 for i in range(50_000)})), 'unknown'),
    'deep conditions': (large(lambda: json.dumps({'Events': [{'condition': nested(190)}]})), ''),
}


def nested(depth):
    value = 1
    for _ in range(depth // 2):
        value = {'operator': 'NOT', 'condition': [value]}
    return value


ENTITIES = '<!DOCTYPE robot [<!ENTITY a0 "ha">' + ''.join(
    f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, 12)
) + ']><robot name="a">&a11;</robot>'
LINK = '<link name="l{}"/><joint name="j{}" type="fixed"><parent link="{}"/><child link="l{}"/></joint>'


def robot(text):
    return f'<robot name="a"><link name="base"/>{text}</robot>'


def chain(count):
    """Return a robot whose links hang on each other."""
    return robot(''.join(
        LINK.format(i, i, f'l{i - 1}' if i else 'base', i) for i in range(count)
    ))


def star(count, text=''):
    """Return a robot whose links hang on the first one."""
    return robot(''.join(LINK.format(i, i, 'base', i) for i in range(count)) + text)


def block(text, name='rotors'):
    return f'<gazebo><plugin filename="propulsion_ros" name="{name}">{text}</plugin></gazebo>'


URDF = {
    'entities that expand': (holding(ENTITIES), 'DTDs and entities are refused'),
    'entity of a file': (holding('<!DOCTYPE r [<!ENTITY a SYSTEM "file:///dev/zero">]><robot>&a;'
                                 '</robot>'), 'DTDs and entities are refused'),
    'deep': (holding('<robot>' + '<a>' * 200_000), 'not well-formed'),
    'deep and whole': (holding('<robot>' + '<a>' * 100_000 + '</a>' * 100_000 + '</robot>'),
                       'nested deeper'),
    'many tags': (holding(robot('<a/>' * 1_000_000)), 'tags, expected at most'),
    'a chain of links': (large(lambda: chain(30_000)), ''),
    'a star of links': (large(lambda: star(30_000)), 'no plugin block'),
    'one long text': (holding(robot('a' * 4_000_000)), 'no plugin block'),
    'one long attribute': (holding(f'<robot name="{"a" * 4_000_000}"/>'), ''),
    'many attributes': (large(lambda: '<robot ' + ' '.join(
        f'a{i}="1"' for i in range(300_000)) + '/>'), ''),
    'many blocks': (large(lambda: robot(''.join(
        block('<rotor name="a"/>', f'rotors{i}') for i in range(40_000)))), ''),
    'many actuators': (large(lambda: robot(block('<rotor name="a"/>' * 200_000))), ''),
    'a long names_expr': (large(lambda: star(20_000, block(
        f'<rotor><names_expr>{"(a|b)*" * 300_000}</names_expr></rotor>'))), ''),
    'a slow names_expr': (large(lambda: star(20_000, block(
        '<rotor><names_expr>' + '.*' * 90 + 'x</names_expr></rotor>'))), ''),
    'a long curve': (large(lambda: robot(block(
        '<tank name="t"><capacity>1</capacity></tank>' + ''.join(
            f'<booster name="b{i}"><link>base</link><max_thrust>1</max_thrust>'
            f'<thrust_curve>{CURVE if i == 0 else "0 1 1 0"}</thrust_curve></booster>'
            for i in range(900)), 'boosters'))), ''),
    'declared latin-1': (holding(b'<?xml version="1.0" encoding="latin-1"?><robot name="\xe9"/>'),
                         'expected UTF-8 text'),
    'no text': (holding(''), 'expected the text of a URDF'),
}
CURVE = ' '.join(f'{i} 1' for i in range(250_000)) + ' 250000 0'

XACRO = 'xmlns:xacro="http://www.ros.org/wiki/xacro"'


def program(text):
    return holding(f'<robot name="a" {XACRO}>{text}</robot>')


def including(target, kind=None):
    """Return what makes a xacro file that includes another of some kind."""
    def make(path):
        beside = Path(path).with_name('included.xacro')
        if kind is not None:
            kind(str(beside))
        program(f'<xacro:include filename="{target or Path(path).name}"/>')(path)
    return make


def doubling(count):
    """Return macros each of which calls the one before twice."""
    return ''.join(
        f'<xacro:macro name="m{i}"><a>' + (f'<xacro:m{i - 1}/>' * 2 if i else 'x')
        + '</a></xacro:macro>' for i in range(count)
    ) + f'<xacro:m{count - 1}/>'


PROGRAMS = {
    'includes a device': (including('/dev/zero'), 'Is a device'),
    'includes a FIFO': (including('included.xacro', os.mkfifo), 'Is a FIFO'),
    'includes two gigabytes': (including('included.xacro', sparse(2 << 30)), 'is larger than'),
    'includes itself': (including(''), 'includes deep'),
    'includes a loop of links': (including('included.xacro', link_loop), 'Too many levels'),
    'includes nothing': (including('nowhere.xacro'), 'No such file'),
    'includes a folder': (including('included.xacro', os.mkdir), 'Is a directory'),
    'includes all': (program('<xacro:include filename="/**/*/*/*/*"/>'), ''),
    'loads a device': (program("${xacro.load_yaml('/dev/zero')}"), 'Is a device'),
    'loads a FIFO': (including("${xacro.load_yaml('included.xacro')}", os.mkfifo), 'Is a FIFO'),
    'loads aliases that expand': (including(
        "${str(xacro.load_yaml('included.xacro'))}", holding(ALIASES)), ''),
    'a large power': (program('${9**9**9**9}'), 'CPU time'),
    'a large text': (program("${'a' * 10**10}"), 'bytes to expand'),
    'a large list': (program('${[0] * 10**9}'), 'bytes to expand'),
    'a large width': (program("${'%1000000000d' % 1}"), 'bytes to expand'),
    'a large result': (program("${'a' * 10**7}"), 'expands to more than'),
    'macros that double': (program(doubling(40)), ''),
    'a macro that calls itself': (program(
        '<xacro:macro name="m"><xacro:m/></xacro:macro><xacro:m/>'), 'recursion'),
    'a property of itself': (program(
        '<xacro:property name="a" value="${a}"/>${a}'), 'circular'),
    'entities that expand': (holding(ENTITIES), ''),
    'deep': (holding('<a>' * 1_000_000), ''),
    'an exit': (program("${python.type(0).mro()[1].__subclasses__}"), ''),
}

LOG = 'time_s,altitude_m\n'
TEXTS = {
    'gzip': (gzip.compress(LOG.encode() * 100), 'expected UTF-8 text, got byte 0x8b at offset 1'),
    'zstd': (b'\x28\xb5\x2f\xfd\x00', '(zstd?)'),
    'UTF-16': ('\ufeff'.encode('utf-16-le') + LOG.encode('utf-16-le'), '(UTF-16?)'),
    'UTF-16 without a mark': (LOG.encode('utf-16-le'), 'NUL'),
    'latin-1': (LOG.encode() + b'1,\xe9\n', 'expected UTF-8 text, got byte 0xe9'),
    'a NUL': (b'time_s,\0\n', 'NUL'),
    'random bytes': (bytes(range(256)) * 100, 'expected UTF-8 text'),
    'NULs': (bytes(3_000_000), ''),
}
"""What is no text, for all who read one."""

TABLES = {
    'one line': ('a' * 3_000_000, 'a line of more than 1048576 characters'),
    'open quotes': ('"a\n' * 1_000_000, ''),
    'a row of many lines': ('"a\n",' * 600_000, 'a row of more than 1048576 characters'),
    'commas': (',' * 1_000_000 + '\nx', ''),
    'many columns': (','.join(f'a{i}.effort' for i in range(80_000)), ''),
    'many stamps': ('stamp,' + ','.join(['stamp'] * 100_000), ''),
    'many wrenches': ('stamp,' + ','.join(f'{i}/wrench.force.x' for i in range(40_000)), ''),
    'many fits': ('stamp,' + ','.join(f'{i}apogee_time.position' for i in range(30_000)), ''),
    'a large cell': ('stamp,rotor_0.effort\n0,' + '1' * 1_000_000, ''),
    'carriage returns': ('\r' * 200_000 + 'x', ''),
    'nothing': ('', 'no lines'),
    'a small exponent': ('stamp,rotor_0.effort\n1e-999999999,1\n1e-999999999,x', ''),
    'a large exponent': ('stamp,rotor_0.effort\n1e999999999,1\n', ''),
    'a large number': ('time_s,altitude_m\n1e999,1\n', ''),
}

RECORDS = {
    'deep': ('[' * 900_000, 'is not JSON'),
    'deep and whole': ('{"format": "propulsion_ros flight record 1", "sha256": "", "flight": '
                       + '[' * 900 + ']' * 900 + '}', ''),
    'a long number': ('1' * 900_000, 'is not JSON'),
    'many keys': (json.dumps({f'k{i}': 1 for i in range(60_000)}), 'unknown key'),
}


def contents():
    """Yield what each text format can hold."""
    for what, table in (('check.yaml', YAML), ('check.urdf', URDF), ('check.jsonc', JSONC),
                        ('check.xacro', PROGRAMS), ('record.json', RECORDS)):
        for kind, (make, said) in table.items():
            make = make if callable(make) else holding(make)
            yield Case(f'{what}: {kind}', make, f'a.{what.rpartition(".")[2]}', COMMANDS[what], said)
    for what in ('apogee.csv', 'replay.csv', 'plot.csv'):
        for kind, (content, said) in TABLES.items():
            yield Case(f'{what}: {kind}', holding(content), 'a.csv', COMMANDS[what], said)
    for what in ('check.yaml', 'check.urdf', 'check.xacro', 'check.jsonc', 'apogee.csv',
                 'replay.csv', 'plot.csv', 'plot commands.csv', 'references.json'):
        for kind, (content, said) in TEXTS.items():
            # Where the size comes first, it is said first.
            said = '' if 'NULs' in kind else said
            yield Case(
                f'{what}: {kind}', holding(content), f'a.{what.rpartition(".")[2]}',
                COMMANDS[what], said,
            )


# Bags.

STATE = 'sensor_msgs/msg/JointState'
QOS = 'offered_qos_profiles'
DENSE = '[' + '1,' * 2_000_000 + ']'
DEEP = '[' * 200_000


def database(messages='', topics='', schema='', rows=()):
    """Return what makes a sqlite3 bag of some tables."""
    def make(path):
        with closing(sqlite3.connect(path)) as db:
            db.execute(topics or f'CREATE TABLE topics(id INTEGER, name, type, '
                       f'serialization_format, {QOS})')
            db.execute(messages or 'CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id, '
                       'timestamp, data)')
            if schema:
                db.execute(schema)
            if not topics:
                db.execute('INSERT INTO topics VALUES(1, ?, ?, ?, ?)',
                           ('/rotors/state', STATE, 'cdr', ''))
            for statement, values in rows:
                db.execute(statement, values)
            db.commit()
    return make


def message(stamp, data):
    return ('INSERT INTO messages(topic_id, timestamp, data) VALUES(1, ?, ?)', (stamp, data))


COUNTING = 'WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)'
QOS_ROW = f'UPDATE topics SET {QOS} = ?'
DATABASES = {
    'text as data': (database(rows=[message(1, 'text')]), 'expected bytes as data'),
    'a number as data': (database(rows=[message(1, 1_500_000_000)]), 'expected bytes as data'),
    'a fraction as data': (database(rows=[message(1, 1.5)]), 'expected bytes as data'),
    'nothing as data': (database(rows=[message(1, None)]), 'expected bytes as data'),
    'text as time': (database(rows=[message('soon', b'a')]), 'is not a readable bag'),
    'a fraction as time': (database(rows=[message(1.5, b'a')]), 'expected whole nanoseconds'),
    'nothing as time': (database(rows=[message(None, b'a')]), 'is not a readable bag'),
    'a number as topic': (database(rows=[('UPDATE topics SET name = 7', ())]), 'names and types'),
    'bytes as type': (database(rows=[("UPDATE topics SET type = x'00'", ())]), 'names and types'),
    'computed data': (database(
        messages='CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id, timestamp, '
        'data AS (zeroblob(900000000)))',
        rows=[('INSERT INTO messages(topic_id, timestamp) VALUES(1, 1)', ())]), 'computed'),
    'endless messages': (database(
        messages=f"CREATE VIEW messages AS {COUNTING} SELECT x AS id, 1 AS topic_id, "
        "x AS timestamp, x'00' AS data FROM c"), 'no plain table'),
    'endless schema': (database(
        schema=f'CREATE VIEW schema AS {COUNTING} SELECT max(x) AS schema_version FROM c'),
        'no plain table'),
    'dense quality of service': (database(rows=[(QOS_ROW, (DENSE,))]), 'more YAML'),
    'deep quality of service': (database(rows=[(QOS_ROW, (DEEP,))]), 'nested too deeply'),
    'expanding quality of service': (database(rows=[(QOS_ROW, (ALIASES,))]), 'more YAML'),
    'no tables': (lambda path: sqlite3.connect(path).execute('CREATE TABLE a(b)').close(), ''),
    'a number as quality of service': (database(rows=[(QOS_ROW, (7,))]), ''),
    'a damaged table': (lambda path: (database(rows=[message(i, b'a' * 99) for i in range(999)])(path),
                                      overwrite(path, 4096, b'\xff' * 8192)), ''),
    'a head alone': (holding(b'SQLite format 3\0' + bytes(84)), ''),
    'a hole': (sparse(2 << 30, b'SQLite format 3\0'), ''),
}


def overwrite(path, at, content):
    with open(path, 'r+b') as file:
        file.seek(at)
        file.write(content)


def record(kind, content, length=None):
    return struct.pack('<BQ', kind, len(content) if length is None else length) + content


def text(value):
    value = value.encode()
    return struct.pack('<I', len(value)) + value


MAGIC = b'\x89MCAP0\r\n'
HEAD = MAGIC + record(0x01, text('ros2') + text('test'))
PACKED_SIZE = 60 * MIB


def foot(index):
    return record(0x02, struct.pack('<QQI', index, 0, 0)) + MAGIC


def channel(qos=''):
    pairs = text(QOS) + text(qos)
    return record(0x04, struct.pack('<HH', 1, 1) + text('/rotors/state') + text('cdr')
                  + struct.pack('<I', len(pairs)) + pairs)


SCHEMA = record(0x03, struct.pack('<H', 1) + text(STATE) + text('ros2msg') + text(''))


def statistics(count):
    return record(0x0B, struct.pack('<QHIIIIQQ', count, 1, 1, 0, 0, count, 1, 9)
                  + struct.pack('<IHQ', 10, 1, count))


def chunk(data, size, kind='zstd'):
    return record(0x06, struct.pack('<QQQI', 1, 9, size, 0) + text(kind)
                  + struct.pack('<Q', len(data)) + data)


def chunk_index(at, whole, data, size, kind='zstd'):
    return record(0x08, struct.pack('<QQQQ', 1, 9, at, len(whole)) + struct.pack('<IHQ', 10, 1, at)
                  + struct.pack('<Q', 47) + text(kind) + struct.pack('<QQ', len(data), size))


def recording(chunks, qos='', counts=True):
    """Return an indexed MCAP file of packed chunks, each with the size that it states."""
    body, index = HEAD, b''
    for data, size in chunks:
        whole = chunk(data, size)
        index += chunk_index(len(body), whole, data, size)
        body += whole
    return body + SCHEMA + channel(qos) + index + (statistics(len(chunks)) if counts else b'') \
        + foot(len(body))


def packed(size, head=b''):
    """Return zeros packed, after a head."""
    zstd = importlib.import_module('propulsion_ros.replay.bag_formats').zstd()
    return zstd.compress(head + bytes(size - len(head)))


def hole(index):
    """Return what makes a file of a head, a hole of two gigabytes and a foot."""
    return sparse(2 << 30, HEAD, foot(index))


MCAPS = {
    'cut off': (large(lambda: recording([(packed(MIB), MIB)])[:-50]), 'is not a readable bag'),
    'cut in its chunk': (large(lambda: recording([(packed(MIB)[:-9], MIB)])), 'is not a readable'),
    'a head alone': (holding(HEAD), 'is not a readable bag'),
    'a foot alone': (holding(foot(0)), 'is not a readable bag'),
    'a hole without an index': (hole(0), 'no record at offset'),
    'a hole for an index': (hole(len(HEAD) + 1000), 'no record at offset'),
    'a head of a hole': (sparse(2 << 30, MAGIC + record(0x01, b'', 2_000_000_000), foot(0)),
                         'has a header of'),
    'a schema of a hole': (sparse(2 << 30, HEAD + record(0x03, b'', 2_000_000_000), foot(len(HEAD))),
                           'a record of'),
    'a length beyond the end': (holding(HEAD + record(0x04, b'', 2**63) + foot(len(HEAD))), ''),
    'a chunk that expands': (large(lambda: recording([(packed(500 * MIB), 500 * MIB)])),
                             'chunk of more than'),
    'a chunk that lies': (large(lambda: recording([(packed(500 * MIB), 1000)])), 'unpacked to more'),
    'chunks of one time': (large(lambda: recording([(packed(PACKED_SIZE), PACKED_SIZE)] * 50)),
                           'for one time'),
    'a chunk of nothing': (large(lambda: recording([(packed(PACKED_SIZE), PACKED_SIZE)])),
                           'no record at offset'),
    'a chunk of nothing after a schema': (large(lambda: recording(
        [(packed(PACKED_SIZE, SCHEMA), PACKED_SIZE)])), 'no record at offset'),
    'such a chunk without an index': (large(
        lambda: HEAD + chunk(packed(PACKED_SIZE, SCHEMA), PACKED_SIZE) + foot(0)), 'no record at'),
    'such a chunk in an empty index': (large(
        lambda: HEAD + chunk(packed(PACKED_SIZE, SCHEMA), PACKED_SIZE) + foot(
            len(HEAD + chunk(packed(PACKED_SIZE, SCHEMA), PACKED_SIZE)))), 'no record at'),
    'a chunk in a chunk': (large(lambda: recording([(packed(900, chunk(b'', 0)), 900)])), ''),
    'dense quality of service': (large(lambda: recording([], DENSE)), 'more YAML'),
    'deep quality of service': (large(lambda: recording([], DEEP)), 'nested too deeply'),
    'deep quality of service in a chunk': (large(lambda: HEAD + chunk(packed(
        len(channel(DEEP)), channel(DEEP)), len(channel(DEEP))) + foot(0)), 'nested too deeply'),
    'an unknown packing': (large(lambda: HEAD + chunk(b'abc', 3, 'rar') + foot(0)), ''),
    'another program': (holding(MAGIC + record(0x01, text('ros1') + text('')) + foot(0)), 'ros2'),
}


def metadata(**changes):
    """Return the metadata of a bag of one file, with some of them changed."""
    information = {
        'version': 9, 'storage_identifier': 'sqlite3', 'duration': {'nanoseconds': 1},
        'starting_time': {'nanoseconds_since_epoch': 1}, 'message_count': 1,
        'compression_format': '', 'compression_mode': '', 'relative_file_paths': ['a.db3'],
        'topics_with_message_count': [{'message_count': 1, 'topic_metadata': {
            'name': '/rotors/state', 'type': STATE, 'serialization_format': 'cdr', QOS: '',
            'type_description_hash': '',
        }}], **changes,
    }
    return json.dumps({'rosbag2_bagfile_information': information})


def bag(content, kind=None):
    """Return what makes a folder with metadata, and a file of some kind beside it."""
    def make(path):
        os.mkdir(path)
        content_kind = content if callable(content) else holding(content)
        content_kind(os.path.join(path, 'metadata.yaml'))
        (kind or database(rows=[message(1, b'\0\1\0\0')]))(os.path.join(path, 'a.db3'))
    return make


def zstd_of(kind):
    """Return what packs a file of some kind."""
    def make(path):
        kind(path)
        content = Path(path).read_bytes()
        zstd = importlib.import_module('propulsion_ros.replay.bag_formats').zstd()
        Path(path).write_bytes(zstd.compress(content))
    return make


def zstd_zeros(path):
    Path(path).write_bytes(packed(700 * MIB))


PACKED_FILES = metadata(compression_mode='FILE', compression_format='zstd')
PACKED_MESSAGES = metadata(compression_mode='MESSAGE', compression_format='zstd')
FOLDERS = {
    'metadata of aliases': (bag(ALIASES), 'more YAML'),
    'deep metadata': (bag(DEEP), 'nested too deeply'),
    'dense metadata': (bag('[' + '1,' * 400_000 + ']'), 'more YAML'),
    'much metadata': (bag('#' * 2 * MIB), 'is larger than'),
    'metadata of itself': (bag('a: &a [*a]'), 'more YAML'),
    'metadata that are a FIFO': (bag(os.mkfifo), 'Is a FIFO'),
    'metadata that are a device': (bag(link_to('/dev/zero')), 'Is a device'),
    'metadata that are no text': (bag(b'\xff'), 'expected UTF-8 text'),
    'a file that is a FIFO': (bag(metadata(), os.mkfifo), 'Is a FIFO'),
    'a file that is a device': (bag(metadata(), link_to('/dev/zero')), 'Is a device'),
    'a file that is a folder': (bag(metadata(), os.mkdir), 'Is a directory'),
    'a file that is a loop': (bag(metadata(), link_loop), 'Too many levels'),
    'a file elsewhere': (bag(metadata(relative_file_paths=['/dev/zero'])), 'missing'),
    'no file': (bag(metadata(relative_file_paths=[])), ''),
    'files that are numbers': (bag(metadata(relative_file_paths=[1, None, {}])), ''),
    'deep quality of service': (bag(metadata(topics_with_message_count=[{
        'message_count': 1, 'topic_metadata': {QOS: DEEP}}])), 'nested too deeply'),
    'a packed file that expands': (bag(PACKED_FILES, zstd_zeros), 'times its size'),
    'a packed file that is a FIFO': (bag(PACKED_FILES, os.mkfifo), 'Is a FIFO'),
    'a packed file that is none': (bag(PACKED_FILES), 'cannot be unpacked'),
    'a packed file of text as data': (bag(PACKED_FILES, zstd_of(
        database(rows=[message(1, 'text')]))), 'expected bytes as data'),
    'a packed message that expands': (bag(PACKED_MESSAGES, lambda path: database(
        rows=[message(1, packed(700 * MIB))])(path)), 'unpacked to more than'),
    'a packed message that is none': (bag(PACKED_MESSAGES), 'is not a readable bag'),
    'a message that is cut off': (bag(metadata()), ''),
}


def bags():
    """Yield what bags can hold."""
    for suffix, table in (('.db3', DATABASES), ('.mcap', MCAPS), ('', FOLDERS)):
        for kind, (make, said) in table.items():
            yield Case(f'plot{suffix or " bag"}: {kind}', make, f'a{suffix}',
                       ('plot', '{}', '--output', 'out.png'), said)


def targets():
    """Yield what is no file where one is to be written."""
    for kind in FEW:
        make, said = KINDS[kind]
        said = said.split(',')[0]
        for name, command in (
            ('replay', ('replay', CONFIG, 'table.csv', '{}')),
            ('replay of a vehicle', ('replay', str(HERE.parent / 'config' / 'quadrotor.yaml'),
                                     'table.csv', '{}', '--vehicle', 'quadrotor')),
            ('plot', ('plot', 'table.csv', '--output', '{}')),
            ('apogee', ('apogee', 'log.csv', '--picture', '{}')),
        ):
            # For replay a folder is a bag that is there.
            is_bag = kind == 'folder' and 'replay' in name
            yield Case(f'{name} to {kind}', make, 'out.csv', command,
                       'exists already' if is_bag else said)
        yield Case(f'replay beside {kind}', make, 'out.csv.unfinished',
                   ('replay', CONFIG, 'table.csv', 'out.csv'), said)


GROUPS = {'kinds': kinds, 'names': names, 'contents': contents, 'bags': bags, 'targets': targets}


# Running.


def run(case, path):
    """Run the command of a case in this process; return its exit code."""
    kind, *words = (path if word == '{}' else word for word in case.command)
    if kind == 'node':
        node = importlib.import_module('propulsion_ros.nodes.flight_state_node')
        return node.main(['node', '--ros-args', '-p', f'{words[0]}:={words[1]}'])
    if kind == 'settings':
        node = importlib.import_module('propulsion_ros.nodes.actuator_node')
        return node.main(['node', '--ros-args', '--params-file', *words])
    if kind in ('call', 'references'):
        from propulsion_ros.settings.errors import ConfigError

        try:
            if kind == 'references':
                from propulsion_ros.tools.apogee_table import error_table

                os.symlink(path, 'reference.json')
                list(error_table(Path()))
            else:
                getattr(importlib.import_module(words[0]), words[1])(Path(words[2]))
        except ConfigError as error:
            print(error)
            return 1
        return 0
    from propulsion_ros.tools.cli import main

    return main([kind, *words])


def forked(case, folder):
    """Return what a case costs, prints and exits with, in a process of its own."""
    os.mkdir(folder)
    path = os.path.join(os.fsencode(folder), os.fsencode(case.name))
    case.make(os.fsdecode(path))
    Path(folder, 'table.csv').write_text(THRUST)
    Path(folder, 'log.csv').write_text('time_s,altitude_m\n0,0\n1,1\n')
    printed = Path(folder, 'printed')
    begun = time.monotonic()
    child = os.fork()
    if not child:
        code = 99
        try:
            os.setpgid(0, 0)
            os.chdir(folder)
            resource.setrlimit(resource.RLIMIT_CPU, (30, 30))
            resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
            file = os.open(printed, os.O_WRONLY | os.O_CREAT)
            os.dup2(file, 1)
            os.dup2(file, 2)
            try:
                code = run(case, os.fsdecode(path))
            except SystemExit as error:
                code = error.code
            except BaseException:
                import traceback

                traceback.print_exc()
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(code if isinstance(code, int) else 98)
    while True:
        pid, status, usage = os.wait4(child, os.WNOHANG)
        if pid:
            break
        if time.monotonic() - begun > 90.0:
            os.killpg(child, signal.SIGKILL)
        time.sleep(0.002)
    code = os.waitstatus_to_exitcode(status)
    said = printed.read_text(errors='backslashreplace') if printed.exists() else ''
    return {
        'id': case.id, 'code': code, 'said': said[:2000], 'cpu': usage.ru_utime + usage.ru_stime,
        'peak': usage.ru_maxrss / 1000.0, 'wall': time.monotonic() - begun,
        'faults': list(faults(case, code, said, usage)),
    }


def faults(case, code, said, usage):
    """Yield what is wrong with the outcome of a case."""
    if code != case.code:
        yield f'code {code}'
    line = said.removesuffix('\n')
    if not line.isprintable() or not 0 < len(line) <= 1200:
        yield f'{len(line.splitlines())} lines of {len(line)} characters'
    if case.said not in line:
        yield f'nothing of {case.said!r}'
    cpu, peak = usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000.0
    if cpu > CPU_LIMIT:
        yield f'{cpu:.1f} s'
    if peak > MEMORY_LIMIT:
        yield f'{peak:.0f} MB'


def main(group, folder, *wanted):
    for name in ('tools.check', 'tools.apogee', 'tools.replay', 'tools.plot', 'tools.demo',
                 'tools.gazebo', 'replay.bag_run', 'nodes.flight_state_node', 'nodes.actuator_node'):
        importlib.import_module(f'propulsion_ros.{name}')
    for i, case in enumerate(GROUPS[group]()):
        if all(word in case.id for word in wanted):
            print(json.dumps(forked(case, os.path.join(folder, str(i)))), flush=True)


if __name__ == '__main__':
    main(*sys.argv[1:])
