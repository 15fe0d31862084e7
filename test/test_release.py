# SPDX-License-Identifier: Apache-2.0
"""Versions, addresses and locks agree; faults are refused in one line; a release is made."""
from __future__ import annotations

import re
import shutil
import subprocess
import sys

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from env import every_command, release
from markdown_pages import REPOSITORY
from propulsion_ros.tools.cli import COMMANDS

GIT = shutil.which('git')
LOCKS = {
    'build': ['build'], 'kilted': ['kilted', 'tools'], 'jazzy': ['jazzy', 'tools'],
    'colcon': ['colcon'], 'release': ['release'],
}
IN_CLONE = pytest.mark.skipif(
    not (REPOSITORY / '.git').exists(), reason='NOT TESTED: this tree is no clone',
)
HOME = {
    'repository': 'https://code.example/us/propulsion_ros', 'email': 'us@example.org',
    'issues': 'https://code.example/us/propulsion_ros/issues', 'docs': 'https://us.example.org',
    'security': 'https://code.example/us/propulsion_ros/security',
}


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """Return a copy of the files that have versions and addresses."""
    for name in (*release.PLACES, 'env/urls.txt'):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(REPOSITORY / name, tmp_path / name)
    (tmp_path / 'CHANGELOG.rst').write_text(
        'Forthcoming\n-----------\n* new\n\n0.1.0 (2026-11-21)\n------------------\n* old\n',
        encoding='utf-8',
    )
    monkeypatch.setattr(release, 'ROOT', tmp_path)
    return tmp_path


def write_addresses(tree):
    lines = [f'{name} = {value}\n' for name, value in HOME.items()]
    (tree / 'env/urls.txt').write_text(''.join(lines), encoding='utf-8')


def test_version_date_and_addresses_are_written_everywhere(tree):
    write_addresses(tree)
    release.write_version('1.2.3', '2027-01-02')
    assert release.checked_version() == '1.2.3'
    release.check_addresses(placeholders=False)
    assert (tree / 'CHANGELOG.rst').read_text(encoding='utf-8').startswith(
        '1.2.3 (2027-01-02)\n------------------\n* new\n'
    )
    citation = yaml.safe_load((tree / 'CITATION.cff').read_text(encoding='utf-8'))
    assert citation['version'] == '1.2.3'
    assert citation['date-released'].isoformat() == '2027-01-02'
    assert citation['repository-code'] == HOME['repository']


@pytest.mark.parametrize(('file', 'old', 'new', 'message'), [
    pytest.param('env/urls.txt', 'us.example.org', 'OWNER.example.org',
                 'env/urls.txt: docs is the placeholder https://OWNER.example.org, expected the '
                 'real one', id='placeholder'),
    pytest.param('package.xml', 'us@', 'me@', 'package.xml: email: expected that of env/urls.txt, '
                 'us@example.org', id='other address'),
    pytest.param('CITATION.cff', 'version: 1.2.3', 'version: 1.2.2',
                 'versions differ: propulsion_ros/__init__.py 1.2.3, package.xml 1.2.3, '
                 'CITATION.cff 1.2.2, CHANGELOG.rst 1.2.3', id='other version'),
    pytest.param('CHANGELOG.rst', '1.2.3 (', 'Forthcoming\n-----------\n* more\n\n1.2.3 (',
                 'CHANGELOG.rst: Forthcoming has no version; run make version VERSION=1.0.0',
                 id='Forthcoming'),
])
def test_fault_is_refused_in_one_line(tree, file, old, new, message):
    write_addresses(tree)
    release.write_version('1.2.3', '2027-01-02')
    text = (tree / file).read_text(encoding='utf-8')
    assert old in text
    (tree / file).write_text(text.replace(old, new, 1), encoding='utf-8')
    with pytest.raises(SystemExit, match=re.escape(message)):
        release.build(placeholders=False)


@pytest.mark.parametrize(('version', 'message'), [
    pytest.param('', "VERSION: expected three numbers such as 1.0.0, came ''", id='none'),
    pytest.param('1.0', "VERSION: expected three numbers such as 1.0.0, came '1.0'", id='two'),
])
def test_version_of_other_form_is_refused(tree, version, message):
    with pytest.raises(SystemExit, match=re.escape(message)):
        release.write_version(version, '2027-01-02')


def test_version_without_news_is_refused(tree):
    release.write_version('1.2.3', '2027-01-02')
    with pytest.raises(SystemExit, match=r'CHANGELOG\.rst: expected a section Forthcoming'):
        release.write_version('1.2.4', '2027-01-03')


def test_nothing_is_written_where_one_file_is_wrong(tree):
    write_addresses(tree)
    (tree / 'CITATION.cff').write_text('version: new\n', encoding='utf-8')
    before = {name: (tree / name).read_bytes() for name in release.PLACES}
    with pytest.raises(SystemExit, match=r'CITATION\.cff: expected a line that fits'):
        release.write_version('1.2.3', '2027-01-02')
    assert {name: (tree / name).read_bytes() for name in release.PLACES} == before


@IN_CLONE
def test_addresses_stand_in_one_file_and_its_copies():
    release.check_addresses(placeholders=True)
    files = subprocess.run(
        [GIT, 'grep', '-l', 'OWNER/\\|OWNER@'], cwd=REPOSITORY, capture_output=True, text=True,
        check=False,
    ).stdout.split()
    assert set(files) - {'test/test_release.py'} <= {'env/urls.txt', *release.COPIES}


def test_every_command_is_tried():
    assert {line.split(maxsplit=1)[0] for line in every_command.RUNS} == set(COMMANDS)


@pytest.mark.parametrize('name', LOCKS)
def test_lock_has_every_requirement_with_hashes(name):
    lines = (REPOSITORY / 'env' / f'{name}.lock').read_text(encoding='utf-8')
    entries = lines.replace('\\\n', ' ').splitlines()
    locked = {}
    for entry in entries:
        if entry and not entry.startswith('#'):
            requirement, *hashes = entry.split('--hash=sha256:')
            assert hashes, f'{requirement} has no hash'
            requirement = Requirement(requirement)
            locked.setdefault(canonicalize_name(requirement.name), []).append(requirement)
    for file in LOCKS[name]:
        for line in (REPOSITORY / 'env' / f'{file}.txt').read_text(encoding='utf-8').splitlines():
            if line and not line.startswith('#'):
                wanted = Requirement(line)
                for each in locked.get(canonicalize_name(wanted.name), [None]):
                    assert each, f'env/{name}.lock has no {wanted.name}: run make lock'
                    version, = (pin.version for pin in each.specifier)
                    assert wanted.marker or version in wanted.specifier, f'{wanted}: run make lock'


@pytest.mark.slow
@pytest.mark.timeout(1800)
@IN_CLONE
def test_what_is_published_is_built_twice_and_every_command_runs(tmp_path):
    reached = subprocess.run(
        [sys.executable, '-m', 'pip', 'download', '-q', '--no-deps', '-d', str(tmp_path), 'wheel'],
        capture_output=True, check=False,
    )
    if reached.returncode:
        pytest.skip('NOT TESTED: no release was made, the package index cannot be reached')
    tools = release.made_tools(tmp_path)
    files = release.built_twice(tmp_path, tools)
    bill = release.tried(tmp_path, tools, files[0])
    assert '"CycloneDX"' in bill.read_text(encoding='utf-8')
