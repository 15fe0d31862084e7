"""What is installed: everything that `ros2 run` and launch look for, and what it depends on."""
from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import pytest

from propulsion_ros.tools.cli import COMMANDS

REPOSITORY = Path(__file__).resolve().parent.parent
MANIFEST = ElementTree.parse(REPOSITORY / 'package.xml').getroot()  # noqa: S314  our own file
PYTHON_KEYS = {
    'numpy': 'python3-numpy', 'scipy': 'python3-scipy', 'json5': 'python3-json5',
    'defusedxml': 'python3-defusedxml', 'yaml': 'python3-yaml', 'matplotlib': 'python3-matplotlib',
    'pytest': 'python3-pytest', 'hypothesis': 'python3-hypothesis',
}
OPTIONAL = {'actuator_msgs', 'matplotlib', 'rosbags', 'tf2_msgs'}


@pytest.fixture(scope='module')
def wheel(tmp_path_factory):
    """Return the entries of a wheel that is built from a copy of the tree."""
    source = tmp_path_factory.mktemp('source') / 'propulsion_ros'
    # Hidden ones change meanwhile: other tests make and remove files in .hypothesis.
    shutil.copytree(REPOSITORY, source, ignore=shutil.ignore_patterns(
        '.*', 'build', '*.egg-info', '__pycache__', 'test',
    ))
    folder = tmp_path_factory.mktemp('wheel')
    command = [sys.executable, '-m', 'pip', 'wheel', '-q', '--no-deps', '--no-build-isolation',
               '--no-index', '-w', str(folder), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(next(folder.glob('*.whl'))) as archive:
        entries = {}
        for info in archive.infolist():
            entries[re.sub(r'^propulsion_ros-[^/]*\.data/data/', '', info.filename)] = info
        return entries


@pytest.mark.parametrize('name', [path.name for path in sorted((REPOSITORY / 'scripts').iterdir())])
def test_starter_is_installed_executable(wheel, name):
    info = wheel[f'lib/propulsion_ros/{name}']
    assert (info.external_attr >> 16) & 0o111 == 0o111


def test_every_command_has_a_starter():
    assert {path.name for path in (REPOSITORY / 'scripts').iterdir()} >= set(COMMANDS)


@pytest.mark.parametrize(
    'folder', ['launch', 'config', 'urdf', 'rviz', 'plotjuggler', 'policies', 'qos']
)
def test_every_shared_file_is_installed(wheel, folder):
    for path in (REPOSITORY / folder).iterdir():
        if path.is_file():
            assert f'share/propulsion_ros/{folder}/{path.name}' in wheel


def test_ament_index_finds_it(wheel):
    assert 'share/ament_index/resource_index/packages/propulsion_ros' in wheel
    assert 'share/propulsion_ros/package.xml' in wheel
    assert 'propulsion_ros/py.typed' in wheel


def test_versions_agree():
    setup = (REPOSITORY / 'setup.py').read_text(encoding='utf-8')
    assert f"version='{MANIFEST.findtext('version')}'" in setup


def imported(folder):
    """Return the names of all packages that a folder imports."""
    names = set()
    for path in (REPOSITORY / folder).rglob('*.py'):
        for node in ast.walk(ast.parse(path.read_text(encoding='utf-8'))):
            if isinstance(node, ast.Import):
                names |= {alias.name.split('.')[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                names.add(node.module.split('.')[0])
    return names - set(sys.stdlib_module_names) - {'propulsion_ros'}


def test_manifest_names_every_import():
    declared = {element.text for element in MANIFEST.iter('exec_depend')}
    for name in imported('propulsion_ros') | imported('launch'):
        if name not in OPTIONAL:
            assert PYTHON_KEYS.get(name, name) in declared


def test_manifest_names_nothing_that_is_not_imported():
    used = {PYTHON_KEYS.get(name, name) for name in imported('propulsion_ros') | imported('launch')}
    declared = {element.text for element in MANIFEST.iter('exec_depend')}
    assert declared <= used
