# SPDX-License-Identifier: Apache-2.0
"""No pickle, no eval, no shell, no unsafe parser: the linter finds them, and nothing is waived.

Files are opened in one place.
"""
from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent
WAIVED = {
    'propulsion_ros/graph/share.py': ['S603'],  # a list of words, no shell
    'propulsion_ros/demos/flight.py': ['S603'],  # a list of words, no shell
}
"""Rules of the linter on security that a line of the package switches off."""


FORBIDDEN = {
    'import pickle': 'TID251', 'import marshal': 'TID251',
    'numpy.load("x", allow_pickle=True)': 'TID251', 'eval("1")': 'S307', 'exec("1")': 'S102',
    'yaml.load("x", yaml.Loader)': 'S506', 'os.system("ls")': 'S605',
    'subprocess.run("ls", shell=True)': 'S602', 'ElementTree.fromstring("x")': 'TID251',
    'from xml.etree.ElementTree import parse': 'TID251', 'from xml.dom import minidom': 'TID251',
    'from rosbags.highlevel import AnyReader': 'TID251', 'tempfile.mktemp()': 'S306',
}
IMPORTS = 'import os, subprocess, tempfile, numpy, yaml; from xml.etree import ElementTree'


def test_linter_refuses():
    program = shutil.which('ruff', path=str(Path(sys.executable).parent))
    if program is None:
        pytest.skip('ruff is not installed beside this Python')
    result = subprocess.run(
        [program, 'check', '--no-cache', '--output-format', 'concise',
         '--stdin-filename', 'propulsion_ros/any.py', '-'],
        input='\n'.join([IMPORTS, *FORBIDDEN, '']), cwd=REPOSITORY, capture_output=True, text=True,
        check=False,
    )
    found = re.findall(r'any.py:(\d+):\d+: (\w+) ', result.stdout)
    for number, (code, rule) in enumerate(FORBIDDEN.items(), 2):
        assert (str(number), rule) in found, code


def test_no_rule_is_waived_but_these():
    waived = {}
    for path in sorted((REPOSITORY / 'propulsion_ros').rglob('*.py')):
        found = re.findall(r'# noqa: .*?\b(S\d+|TID\d+)', path.read_text(encoding='utf-8'))
        if found:
            waived[path.relative_to(REPOSITORY).as_posix()] = found
    assert waived == WAIVED


DOOR = 'propulsion_ros/settings/files.py'
OPENERS = {
    'open', 'io.open', 'io.open_code', 'io.FileIO', 'os.open', 'os.fdopen', 'os.popen',
    'codecs.open', 'gzip.open', 'bz2.open', 'lzma.open', 'tarfile.open', 'zipfile.ZipFile',
    'mmap.mmap', 'shutil.copy', 'shutil.copy2', 'shutil.copyfile', 'shutil.move', 'tempfile.mktemp',
    'np.load', 'np.loadtxt', 'np.genfromtxt', 'np.fromfile', 'np.memmap', 'np.save', 'np.savetxt',
    'np.savez', 'fileinput.input', 'linecache.getlines', 'plt.savefig', 'plt.imread',
}
"""Functions that open a file, by the names under which they are imported here."""

METHODS = {'read_text', 'read_bytes', 'write_text', 'write_bytes', 'tofile', 'savefig', 'touch'}
"""Methods of paths, arrays and figures that do."""

OTHERS = {
    ('propulsion_ros/tools/cli.py', 'os.open'),  # the null device, where nothing reads on
    # The database of a bag, whose file has been checked.
    ('propulsion_ros/replay/bag_formats.py', 'sqlite3.connect'),
    # Pages and figures are written into files that the door has opened.
    ('propulsion_ros/pictures/picture.py', 'figure.savefig'),
    # Begins a record, whose file is opened by the door.
    ('propulsion_ros/loops/flight/flight_loop.py', 'self._record.open'),
    # Streams, not files.
    ('propulsion_ros/replay/bags.py', 'zstd().open'),
    # Bytes of an installed library, which the door has read.
    ('propulsion_ros/view/page.py', 'zipfile.ZipFile'),
}
"""What is none of these by its arguments."""


def name_of(function):
    return ast.unparse(function)


def opens(call):
    """Return whether a call opens a file, as far as names tell."""
    name = name_of(call.func)
    if name in OPENERS or name == 'sqlite3.connect':
        return True
    if not isinstance(call.func, ast.Attribute):
        return False
    if call.func.attr == 'open':
        # A path's has a mode, an encoding or nothing at all; other things are opened otherwise.
        modes = [arg.value for arg in call.args if isinstance(arg, ast.Constant)]
        return not call.args or any(isinstance(mode, str) for mode in modes)
    return call.func.attr in METHODS


@pytest.mark.parametrize('code', [
    'open(path)', 'path.open()', "path.open('rb')", "path.open(encoding='utf-8')",
    'path.read_text()', 'Path(x).write_bytes(b"")', 'os.open(path, 0)', 'np.loadtxt(path)',
    'array.tofile(path)', 'figure.savefig(path)', 'sqlite3.connect(path)',
])
def test_rule_finds_what_opens_a_file(code):
    assert opens(ast.parse(code, mode='eval').body)


@pytest.mark.parametrize('code', ['self._log.open(warn)', 'read_text(path, 9)', 'opened(path, 9)'])
def test_rule_finds_nothing_else(code):
    assert not opens(ast.parse(code, mode='eval').body)


def test_nothing_but_the_door_opens_files():
    """Kind, size and encoding are checked there, and nowhere else."""
    found = set()
    for path in sorted((REPOSITORY / 'propulsion_ros').rglob('*.py')):
        place = path.relative_to(REPOSITORY).as_posix()
        for node in ast.walk(ast.parse(path.read_text(encoding='utf-8'))):
            if place != DOOR and isinstance(node, ast.Call) and opens(node):
                found.add((place, name_of(node.func)))
    assert found == OTHERS
