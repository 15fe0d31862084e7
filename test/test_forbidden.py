"""No pickle, no eval, no shell, no unsafe parser: the linter's rules cover them, none is waived."""
from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent
WAIVED = {
    'propulsion_ros/settings/yaml_file.py': ['S506'],  # a subclass of the safe loader
    'propulsion_ros/graph/share.py': ['S603'],  # a list of words, no shell
    'propulsion_ros/demos/flight.py': ['S603'],  # a list of words, no shell
}
"""Rules of the linter on security that a line of the package switches off."""


@pytest.mark.parametrize(('code', 'rule'), [
    pytest.param('import pickle', 'TID251', id='pickle'),
    pytest.param('import marshal', 'TID251', id='marshal'),
    pytest.param('import numpy as np\nnp.load("x", allow_pickle=True)', 'TID251', id='numpy'),
    pytest.param('eval("1")', 'S307', id='eval'),
    pytest.param('exec("1")', 'S102', id='exec'),
    pytest.param('import yaml\nyaml.load("x", yaml.Loader)', 'S506', id='yaml'),
    pytest.param('import os\nos.system("ls")', 'S605', id='os.system'),
    pytest.param('import subprocess\nsubprocess.run("ls", shell=True)', 'S602', id='shell'),
    pytest.param('from xml.etree import ElementTree\nElementTree.fromstring("x")', 'TID251',
                 id='fromstring'),
    pytest.param('from xml.etree.ElementTree import parse', 'TID251', id='parse'),
    pytest.param('from xml.dom import minidom', 'TID251', id='minidom'),
    pytest.param('from rosbags.highlevel import AnyReader', 'TID251', id='AnyReader'),
    pytest.param('import tempfile\ntempfile.mktemp()', 'S306', id='mktemp'),
])
def test_linter_refuses(code, rule):
    program = shutil.which('ruff', path=str(Path(sys.executable).parent))
    if program is None:
        pytest.skip('ruff is not installed beside this Python')
    result = subprocess.run(
        [program, 'check', '--no-cache', '--output-format', 'concise',
         '--stdin-filename', 'propulsion_ros/any.py', '-'],
        input=f'{code}\n', cwd=REPOSITORY, capture_output=True, text=True, check=False,
    )
    assert f' {rule} ' in result.stdout, result.stdout + result.stderr


def test_no_rule_is_waived_but_these():
    waived = {}
    for path in sorted((REPOSITORY / 'propulsion_ros').rglob('*.py')):
        found = re.findall(r'# noqa: .*?\b(S\d+|TID\d+)', path.read_text(encoding='utf-8'))
        if found:
            waived[path.relative_to(REPOSITORY).as_posix()] = found
    assert waived == WAIVED
