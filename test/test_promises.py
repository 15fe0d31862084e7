# SPDX-License-Identifier: Apache-2.0
"""What docs/stability.md calls stable is what a built wheel has; a break is named."""
from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys

import pytest

from installed import built_wheel, copied_tree, installed
from markdown_pages import REPOSITORY
from promises import SECTIONS, TABLE, breaks, of_section

HOW = (
    '\nto test/data/promises.txt, in the order of the letters, or write all of it anew:'
    '\n  .venv/bin/python test/promises.py > test/data/promises.txt'
    '\nWhat is promised already changes as docs/stability.md states.'
)


@pytest.fixture(scope='module')
def prefix(tmp_path_factory):
    """Return a prefix with a wheel of this tree in it."""
    folder = tmp_path_factory.mktemp('wheel')
    prefix = folder / 'prefix'
    installed(built_wheel(copied_tree(folder), folder), prefix)
    return prefix


def found(prefix, *sections):
    """Return the lines of what is installed in a prefix."""
    site = prefix / 'lib/python3/site-packages'
    environment = {**os.environ, 'PYTHONPATH': str(site)}
    # Beside the wheels of ROS 2 no set-up file has named any prefix.
    environment.pop('AMENT_PREFIX_PATH', None)
    done = subprocess.run(
        [sys.executable, str(REPOSITORY / 'test/promises.py'), *sections], text=True,
        capture_output=True, check=False, env=environment, cwd=prefix,
    )
    assert done.returncode == 0, done.stderr
    assert f'promises of {site}/propulsion_ros\n' in done.stderr
    return done.stdout.splitlines()


def table():
    return TABLE.read_text(encoding='utf-8').splitlines()


def test_every_promise_is_kept_by_the_wheel(prefix):
    broken = breaks(table(), found(prefix))
    assert not broken, '\n'.join((*broken, HOW))


def seed(prefix, pattern, old, new):
    """Replace a text in the files of a prefix."""
    count = 0
    files = (path for path in prefix.rglob(pattern) if path.suffix in ('.py', '.yaml'))
    for path in files:
        text = path.read_text(encoding='utf-8')
        changed, here = re.subn(old, new, text)
        if here:
            path.write_text(changed, encoding='utf-8')
            count += here
    assert count, f'nothing to break: {old}'


RARE = pytest.mark.slow
SEEDS = [
    pytest.param('nodes', 'flight/outputs.py', "'~/subphase'", "'~/sub_phase'",
                 'publisher ~/subphase', id='topic'),
    pytest.param('nodes', '*', r'\bsilence_timeout\b', 'quiet_timeout',
                 'parameter silence_timeout', id='parameter'),
    pytest.param('codes', 'tools/check.py', 'return 1', 'return 0',
                 'exit code of check with a fault', id='exit code'),
    pytest.param('functions', 'propulsion_ros/__init__.py', r'parameters: (.*), batch',
                 r'settings: \1, batch', 'function propulsion_ros.load', id='function'),
    pytest.param('keys', 'rml/devices.py', "key\\('max_climb'", "key('climb_limit'",
                 'key flight configuration, Deployers (each) max_climb', id='key of a flight'),
    pytest.param('nodes', 'actuator_ports.py', "'~/set_enabled', 'std_srvs/srv/SetBool'",
                 "'~/set_enabled', 'std_srvs/srv/Trigger'", 'service ~/set_enabled', id='type',
                 marks=RARE),
    pytest.param('keys', 'study/study.py', r'\bwait_for\b', 'awaited', 'key study wait_for',
                 id='key of a study', marks=RARE),
    pytest.param('tags', 'uuv_dialect.py', "'rotorConstantL'", "'left'",
                 'uuv_1]/conversion/left', id='tag', marks=RARE),
    pytest.param('columns', 'table_columns.py', "'ixx'", "'xx'",
                 'column of replay nitrogen.ixx', id='column', marks=RARE),
    pytest.param('commands', 'tools/record.py', "'--duration'", "'--time'", 'option --duration',
                 id='option', marks=RARE),
    pytest.param('json', 'tools/apogee.py', "'sigma'", "'deviation'", 'JSON of apogee sigma',
                 id='JSON', marks=RARE),
    pytest.param('launch', 'launch_actions.py', "'composed'", "'in_one'",
                 'launch argument composed', id='launch argument', marks=RARE),
]


@pytest.mark.parametrize(('section', 'pattern', 'old', 'new', 'name'), SEEDS)
def test_seeded_break_is_named(prefix, tmp_path, section, pattern, old, new, name):
    broken = shutil.copytree(prefix, tmp_path / 'prefix')
    seed(broken, pattern, old, new)
    texts = breaks(of_section(table(), section), found(broken, section))
    assert any(name in text.splitlines()[0] for text in texts), texts


def test_every_line_belongs_to_a_section():
    known = [line for section in SECTIONS for line in of_section(table(), section)]
    assert sorted(known) == sorted(table()) == table()


def test_breaks_name_what_is_changed_gone_and_new():
    promised = ['option --a: int; fly', 'option --b: flag; fly', 'option --c: str; fly']
    assert breaks(promised, promised) == []
    now = ['option --a: int; fly, play', 'option --c: str; fly', 'option --d: str; fly']
    assert breaks(promised, now) == [
        'option --a: is promised as\n  option --a: int; fly\n'
        'and is now\n  option --a: int; fly, play',
        'option --b: is promised as\n  option --b: flag; fly\nand is now\n  not there',
        'option --d: is new, add the line\n  option --d: str; fly',
    ]


def test_section_that_cannot_be_read_is_one_text():
    texts = breaks(['option --a: int; fly', 'key study a: int'],
                   ['section commands: cannot be read: KeyError: a', 'key study a: int'])
    assert texts == ['section commands: cannot be read: KeyError: a']
