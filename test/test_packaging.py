# SPDX-License-Identifier: Apache-2.0
"""What is installed: everything that `ros2 run` and launch look for, and what it depends on."""
from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import zipfile
from email import message_from_string
from pathlib import Path
from xml.etree import ElementTree

import pytest

import propulsion_ros
from env import release
from installed import DATA, copied_tree, installed
from propulsion_ros.tools.cli import COMMANDS

REPOSITORY = Path(__file__).resolve().parent.parent
MANIFEST = ElementTree.parse(REPOSITORY / 'package.xml').getroot()  # noqa: S314  our own file
PYTHON_KEYS = {
    'numpy': 'python3-numpy', 'scipy': 'python3-scipy', 'json5': 'python3-json5',
    'defusedxml': 'python3-defusedxml', 'yaml': 'python3-yaml', 'matplotlib': 'python3-matplotlib',
    'pytest': 'python3-pytest', 'hypothesis': 'python3-hypothesis',
}
# What rosbags unpacks with is installed with it.
OPTIONAL = {
    'actuator_msgs', 'backports', 'compression', 'lz4', 'matplotlib', 'rosbags', 'tf2_msgs',
    # PIL comes with matplotlib.
    'PIL', 'pyulog', 'rocketpy', 'trimesh',
}


@pytest.fixture(scope='module')
def wheel(wheel_file):
    """Return the entries of the wheel."""
    with zipfile.ZipFile(wheel_file) as archive:
        return {DATA.sub('', info.filename): info for info in archive.infolist()}


@pytest.fixture(scope='module')
def site(wheel_file, tmp_path_factory):
    """Return the folder of modules of a prefix with the wheel in it."""
    return installed(wheel_file, tmp_path_factory.mktemp('prefix'))


@pytest.mark.parametrize('name', [path.name for path in sorted((REPOSITORY / 'scripts').iterdir())])
def test_starter_is_installed_executable(wheel, name):
    info = wheel[f'lib/propulsion_ros/{name}']
    assert (info.external_attr >> 16) & 0o111 == 0o111


def test_every_command_has_a_starter():
    assert {path.name for path in (REPOSITORY / 'scripts').iterdir()} >= set(COMMANDS)


@pytest.mark.parametrize(
    'folder',
    ['launch', 'config', 'urdf', 'rviz', 'plotjuggler', 'policies', 'qos', 'worlds', 'studies'],
)
def test_every_shared_file_is_installed(wheel, folder):
    for path in (REPOSITORY / folder).iterdir():
        if path.is_file():
            assert f'share/propulsion_ros/{folder}/{path.name}' in wheel


def test_what_pages_are_made_of_is_installed(wheel):
    for path in (REPOSITORY / 'propulsion_ros' / 'view').iterdir():
        if path.is_file() and path.suffix != '.pyc':
            assert f'propulsion_ros/view/{path.name}' in wheel


def test_ament_index_finds_it(wheel):
    assert 'share/ament_index/resource_index/packages/propulsion_ros' in wheel
    assert 'share/propulsion_ros/package.xml' in wheel
    assert 'propulsion_ros/py.typed' in wheel


@pytest.mark.parametrize('index', [None, 'empty'])
def test_installed_package_finds_its_files_without_an_ament_index(site, tmp_path, index):
    environment = {**os.environ, 'PYTHONPATH': str(site)}
    # Beside the wheels of ROS 2 no set-up file has named any prefix.
    environment.pop('AMENT_PREFIX_PATH', None)
    if index:
        environment['AMENT_PREFIX_PATH'] = str(tmp_path)
    line = 'from propulsion_ros.graph import wiring; print(wiring.robot_graph("rov").params_file)'
    done = subprocess.run(
        [sys.executable, '-c', line], capture_output=True, text=True, check=False,
        env=environment, cwd=tmp_path,
    )
    assert (done.returncode, done.stderr) == (0, '')
    assert Path(done.stdout.strip()) == site.parents[2] / 'share/propulsion_ros/config/rov.yaml'


def test_a_script_beside_a_clone_finds_the_package(tmp_path):
    """It found the clone's folder of the same name, as a package without content."""
    tree, site = copied_tree(tmp_path), tmp_path / 'site'
    make = f'from setuptools import build_meta as b; b.build_editable({str(tmp_path)!r})'
    subprocess.run([sys.executable, '-W', 'ignore', '-c', make], cwd=tree, check=True,
                   capture_output=True)
    with zipfile.ZipFile(next(tmp_path.glob('*.whl'))) as archive:
        archive.extractall(site)
    (tmp_path / 'mine.py').write_text(
        f'import site\nsite.addsitedir({str(site)!r})\n'
        'import propulsion_ros\nprint(propulsion_ros.load)\n'
    )
    line = [sys.executable, '-S', '-E', str(tmp_path / 'mine.py')]
    done = subprocess.run(line, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.stdout[:15], done.stderr) == ('<function load ', '')


def test_versions_agree(wheel_file):
    assert {release.found(name, pattern) for name, pattern in release.PLACES.items()} == {
        propulsion_ros.__version__
    }
    assert wheel_file.name.split('-')[1] == propulsion_ros.__version__


@pytest.fixture(scope='module')
def metadata(wheel_file):
    """Return what a package index reads."""
    with zipfile.ZipFile(wheel_file) as archive:
        name, = (each for each in archive.namelist() if each.endswith('.dist-info/METADATA'))
        return message_from_string(archive.read(name).decode())


def test_package_does_not_require_what_builds_it(metadata):
    required = [line for line in metadata.get_all('Requires-Dist') if 'extra' not in line]
    names = {re.match(r'[\w-]+', line)[0] for line in required}
    assert names == {'numpy', 'scipy', 'json5', 'defusedxml', 'PyYAML'}
    extras = metadata.get_all('Provides-Extra')
    assert {'ros', 'plot', 'bag', 'xacro', 'view', 'study'} <= set(extras)


def links_of(metadata):
    """Return each link of the description, and whether it is a picture."""
    links = re.findall(r'(!?)\[[^]]*\]\(([^)#]+)[^)]*\)', metadata.get_payload())
    assert len(links) > 20
    return links


def test_metadata_have_no_address_while_none_is_given(metadata):
    if not release.addresses():
        people = {'Author', 'Author-email', 'Maintainer', 'Maintainer-email'}
        assert not {'Home-page', 'Project-URL', *people} & set(metadata)
        assert all((REPOSITORY / link).exists() for _, link in links_of(metadata))


def test_metadata_have_every_address_that_is_given(tmp_path):
    home = 'https://code.example/us/propulsion_ros'
    given = {
        name: f'{home}/{name}' for name in ('issues', 'docs', 'security')
    } | {'repository': home, 'author': 'A & B', 'email': 'us@example.org'}
    tree = copied_tree(tmp_path)
    (tree / 'env/urls.txt').write_text(
        ''.join(f'{name} = {value}\n' for name, value in given.items()), encoding='utf-8',
    )
    make = 'from setuptools import build_meta as b; b.prepare_metadata_for_build_wheel(".")'
    subprocess.run([sys.executable, '-c', make], cwd=tree, check=True, capture_output=True)
    file, = tree.glob('*.dist-info/METADATA')
    metadata = message_from_string(file.read_text(encoding='utf-8'))
    assert (metadata['Author'], metadata['Maintainer-email']) == ('A & B', 'us@example.org')
    urls = dict(line.split(', ') for line in metadata.get_all('Project-URL'))
    assert urls.items() >= {
        'Documentation': given['docs'], 'Issues': given['issues'], 'Security': given['security'],
    }.items()
    for picture, link in links_of(metadata):
        start = f'{home}/{"raw" if picture else "blob"}/{propulsion_ros.__version__}/'
        assert link.startswith(start)
        assert (REPOSITORY / link.removeprefix(start)).exists()


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


def test_manifest_names_every_import_and_nothing_else():
    names = imported('propulsion_ros') | imported('launch')
    declared = {element.text for element in MANIFEST.iter('exec_depend')}
    assert {PYTHON_KEYS.get(name, name) for name in names - OPTIONAL} <= declared
    assert declared <= {PYTHON_KEYS.get(name, name) for name in names}
