# SPDX-License-Identifier: Apache-2.0
"""What text files can hold that would take for ever, fill the memory, or is no text."""
from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

from special_kinds import COMMANDS, Case, holding, large, link_loop, sparse


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
    'dense list': (nodes('[' + '1,' * 130_000 + ']'), "'x': unknown", 2),
    # Only YAML 1.1 takes it for a number.
    'a number of base 60': (nodes('1' + ':59' * 80_000), "'x': unknown", 2),
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
    line = f'  {EVENT.split(" //", maxsplit=1)[0]}, // a comment /* of */ one line\n'
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
LINK = (
    '<link name="l{}"/><joint name="j{}" type="fixed"><parent link="{}"/><child link="l{}"/>'
    '</joint>'
)


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
    'many elements': (holding(robot('<a/>' * 1_000_000)), 'elements, expected at most'),
    'as many elements as may be': (holding(robot('<a b="c"/>' * 249_000)), 'no plugin block'),
    'a chain of links': (large(lambda: chain(20_000)), ''),
    'a star of links': (large(lambda: star(20_000)), 'no plugin block'),
    'one long text': (holding(robot('a' * 4_000_000)), 'no plugin block'),
    'one long attribute': (holding(f'<robot name="{"a" * 4_000_000}"/>'), ''),
    'many attributes': (large(lambda: '<robot ' + ' '.join(
        f'a{i}="1"' for i in range(200_000)) + '/>'), ''),
    'many blocks': (large(lambda: robot(''.join(
        block('<rotor name="a"/>', f'rotors{i}') for i in range(20_000)))), 'more: 50 faults', 51),
    'many actuators': (large(lambda: robot(block(
        '<rotor name="a"><link>base</link></rotor>' * 50_000))), ''),
    'a long names_expr': (large(lambda: star(9_000, block(
        f'<rotor><names_expr>{"(a|b)*" * 300_000}</names_expr></rotor>'))), ''),
    'a slow names_expr': (large(lambda: star(9_000, block(
        '<rotor><names_expr>' + '.*' * 90 + 'x</names_expr></rotor>'))), ''),
    'a long curve': (large(lambda: robot(block(''.join(
        f'<booster name="b{i}"><link>base</link><max_thrust>1</max_thrust><max_fuel_rate>1'
        f'</max_fuel_rate><thrust_curve>{"0 1 1 0" if i else CURVE}</thrust_curve></booster>'
        for i in range(900)), 'boosters'))), 'are 90000900 in all, expected at most'),
    'a long table': (large(lambda: robot(block(''.join(
        f'<thruster name="b{i}"><link>base</link><conversion>linear_interp</conversion>'
        f'<input_values>{"0 1" if i else TABLE}</input_values><output_values>'
        f'{"0 1" if i else TABLE}</output_values></thruster>' for i in range(900)), 'thrusters'))),
        'are 45000000 in all, expected at most'),
    'declared latin-1': (holding(b'<?xml version="1.0" encoding="latin-1"?><robot name="\xe9"/>'),
                         'expected UTF-8 text'),
    'no text': (holding(''), 'expected the text of a URDF'),
}
CURVE = ' '.join(f'{i} 1' for i in range(100_000)) + ' 100000 0'
TABLE = ' '.join(map(str, range(50_000)))

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
    'loads a device': (program("${xacro.load_yaml('/dev/zero')}"), 'Is a device'),
    'loads a FIFO': (including("${xacro.load_yaml('included.xacro')}", os.mkfifo), 'Is a FIFO'),
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
    'deep': (holding('<a>' * 200_000), ''),
    'an exit': (program('${python.type(0).mro()[1].__subclasses__}'), ''),
}

LOG = 'time_s,altitude_m\n'
TEXTS = {
    'gzip': (gzip.compress(LOG.encode() * 100), 'expected UTF-8 text, got byte 0x8b at offset 1'),
    'zstd': (b'\x28\xb5\x2f\xfd\x00', '(zstd?)'),
    'UTF-16': ('\ufeff'.encode('utf-16-le') + LOG.encode('utf-16-le'), '(UTF-16?)'),
    'UTF-16 without a mark': (LOG.encode('utf-16-le'), 'NUL'),
    'latin-1': (LOG.encode() + b'1,\xe9\n', 'expected UTF-8 text, got byte 0xe9'),
    'a NUL': (b'time_s,\0\n', 'NUL'),
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


def archive(size, head=b'', row=b'\n'):
    """Return what makes an archive of a table: a head, and a row as often as the size has it."""
    def make(path):
        with gzip.open(path, 'wb', 1) as file:
            file.write(head)
            part = row * (2**20 // len(row))
            for _ in range(size // len(part)):
                file.write(part)
    return make


ARCHIVES = {
    'empty rows': (archive(2**29), 'characters of empty rows'),
    'rows of commas': (archive(2**29, LOG.encode(), b',\n'), 'characters of empty rows'),
    'blanks': (archive(2**29, LOG.encode(), b' ' * 900 + b'\n'), 'characters of empty rows'),
    'one line': (archive(2**29, LOG.encode(), b'1'), 'is a line of more than'),
    'one row': (archive(2**29, LOG.encode() + b'"', b'1\n'), 'expected comma-separated values'),
    'one time': (archive(2**22, LOG.encode(), b'1,1\n'), 'is the same in more than 10000 rows'),
    'comments': (archive(2**26, LOG.encode(), b'1,1' + b',a' * 60_000 + b'\n'),
                 'over 100 times its size'),
    'NULs': (archive(2**29, b'', b'\0'), ''),
    'parts of nothing': (holding(gzip.compress(b'') * 50_000), ''),
    'an archive of an archive': (holding(gzip.compress(gzip.compress(LOG.encode()))), 'UTF-8'),
    'cut off': (holding(gzip.compress(LOG.encode() * 9)[:-9]), 'cannot be read'),
    'another sum': (holding(gzip.compress(LOG.encode())[:-8] + bytes(8)), 'cannot be read'),
    'no archive': (holding(LOG), 'cannot be read'),
    'nothing': (holding(''), 'no lines'),
}

RECORDS = {
    'deep': ('[' * 900_000, 'is not JSON'),
    'deep and whole': ('{"format": "propulsion_ros flight record 4", "sha256": "", "flight": '
                       + '[' * 900 + ']' * 900 + '}', ''),
    'a long number': ('1' * 900_000, 'is not JSON'),
    'many keys': (json.dumps({f'k{i}': 1 for i in range(60_000)}), 'unknown key'),
}


def contents():
    """Yield what each text format can hold."""
    for what, table in (('check.yaml', YAML), ('check.urdf', URDF), ('check.jsonc', JSONC),
                        ('check.xacro', PROGRAMS), ('record.json', RECORDS)):
        for kind, (content, wanted, *lines) in table.items():
            make = content if callable(content) else holding(content)
            suffix = what.rpartition('.')[2]
            yield Case(
                f'{what}: {kind}', make, f'a.{suffix}', COMMANDS[what], wanted, 1, *lines
            )
    for kind, (make, wanted) in ARCHIVES.items():
        yield Case(f'apogee.csv.gz: {kind}', make, 'a.csv.gz', ('apogee', '{}'), wanted)
    for what in ('apogee.csv', 'replay.csv', 'plot.csv'):
        for kind, (content, wanted) in TABLES.items():
            yield Case(f'{what}: {kind}', holding(content), 'a.csv', COMMANDS[what], wanted)
    for what in ('check.yaml', 'check.urdf', 'check.xacro', 'check.jsonc', 'apogee.csv',
                 'replay.csv', 'plot.csv', 'plot commands.csv', 'references.json'):
        for kind, (content, wanted) in TEXTS.items():
            suffix = what.rpartition('.')[2]
            yield Case(f'{what}: {kind}', holding(content), f'a.{suffix}', COMMANDS[what], wanted)
