"""The tutorial "add a family", followed to the letter in a copy of the package."""
from __future__ import annotations

import csv
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from geometry_msgs.msg import WrenchStamped
from sensor_msgs.msg import JointState

from markdown_pages import REPOSITORY, Page
from page_family import apply_diff, register_family
from propulsion_ros.graph.wiring import robot_graph
from propulsion_ros.gz.host import ActuatorHost
from propulsion_ros.messages.fields import ns_to_stamp
from propulsion_ros.nodes import qos
from propulsion_ros.nodes.actuator_node import ActuatorNode
from propulsion_ros.nodes.stack import EXECUTABLES
from propulsion_ros.replay.bags import BagReader
from propulsion_ros.tools import cli

PAGE = Page(REPOSITORY / 'docs/add_a_family.md')
REGISTRY = 'propulsion_ros/models/__init__.py'
MADE = {
    'propulsion_ros/models/jets.py', 'config/jets.yaml', 'test/models/test_jets.py',
}
MS = 1_000_000


@pytest.fixture(scope='module')
def tree(tmp_path_factory):
    """Return a copy of the package with what the page adds."""
    folder = tmp_path_factory.mktemp('tree')
    for name in ('config', 'propulsion_ros', 'test', 'urdf'):
        shutil.copytree(
            REPOSITORY / name, folder / name, ignore=shutil.ignore_patterns('__pycache__', 'data')
        )
    for name in ('package.xml', 'pyproject.toml'):
        shutil.copy(REPOSITORY / name, folder / name)
    for file in MADE:
        assert not (folder / file).exists()
        (folder / file).write_text(PAGE.files[file], encoding='utf-8')
    (diff,) = (block.text for block in PAGE.blocks if block.language == 'diff')
    registry = folder / REGISTRY
    registry.write_text(apply_diff(registry.read_text(encoding='utf-8'), diff), encoding='utf-8')
    return folder


def run(tree, *command):
    """Return what a command does in the copy."""
    return subprocess.run(
        command, cwd=tree, env={**os.environ, 'PYTHONPATH': str(tree)}, capture_output=True,
        text=True, check=False,
    )


def test_a_family_is_a_model_a_registry_line_a_yaml_and_a_test(tree):
    made = {
        str(path.relative_to(tree)) for name in ('config', 'propulsion_ros', 'test', 'urdf')
        for path in (tree / name).rglob('*')
        if path.suffix in ('.py', '.yaml') and not (REPOSITORY / path.relative_to(tree)).exists()
    }
    changed = [
        path for path in (tree / 'propulsion_ros').rglob('*.py')
        if (REPOSITORY / path.relative_to(tree)).exists()
        and path.read_bytes() != (REPOSITORY / path.relative_to(tree)).read_bytes()
    ]
    assert made == MADE
    assert changed == [tree / REGISTRY]
    before = (REPOSITORY / REGISTRY).read_text(encoding='utf-8').splitlines()
    assert len((tree / REGISTRY).read_text(encoding='utf-8').splitlines()) == len(before) + 2


def test_tests_of_the_page_and_of_the_registry_pass(tree):
    done = run(
        tree, sys.executable, '-m', 'pytest', '-p', 'no:cacheprovider',
        'test/models/test_jets.py', 'test/settings/test_flat.py', 'test/test_imports.py',
        'test/test_hostile_files.py', '-k', 'jets or imports',
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert ' passed' in done.stdout


def test_linter_finds_nothing(tree):
    ruff = Path(sys.executable).with_name('ruff')
    if not ruff.exists():
        pytest.skip('ruff is not installed beside this Python')
    done = run(tree, str(ruff), 'check', REGISTRY, *MADE - {'config/jets.yaml'})
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize('source', ['yaml', 'urdf'])
def test_node_runs_it(graph, tmp_path, monkeypatch, source):
    file = 'propulsion_ros/models/jets.py'
    (tmp_path / file).parent.mkdir(parents=True)
    (tmp_path / file).write_text(PAGE.files[file], encoding='utf-8')
    register_family(PAGE, tmp_path, monkeypatch)
    parameters = {'robot_description': PAGE.files['robot.urdf']}
    if source == 'yaml':
        (content,) = yaml.safe_load(PAGE.files['config/jets.yaml']).values()
        parameters = content['ros__parameters']
    require_it_pushes(graph, ActuatorNode, 'jets', {**parameters, 'step_on': 'stamp'})


def require_it_pushes(graph, cls, name, parameters):
    """Start a node, let the left jet fire, and compare its wrench."""
    node = graph.add(cls, name, parameters)
    assert node.is_active
    wrenches = graph.listen(WrenchStamped, 'jets/wrench', qos.COMMAND)
    graph.until(lambda: node.subscriptions_to(node.loop._wrench) == 1, 'the probe')
    command = graph.talk(JointState, 'jets/command', qos.COMMAND)
    for ms in range(100, 201, 5):
        message = JointState(name=['left'], effort=[0.2])
        message.header.stamp = ns_to_stamp(ms * MS)
        command.publish(message)
    graph.until(lambda: wrenches and wrenches[-1].header.stamp == ns_to_stamp(200 * MS), '200 ms')
    wrench = wrenches[-1].wrench
    assert wrench.force.x == pytest.approx(0.2, rel=1e-4)
    assert wrench.torque.z == pytest.approx(-0.03, rel=1e-4)


@pytest.fixture(scope='module')
def installed(tmp_path_factory):
    """Return a folder with what the page gives a user, and the one that his package is put into."""
    folder, site = tmp_path_factory.mktemp('user'), tmp_path_factory.mktemp('site')
    module = folder / 'my_jets/my_jets/jets.py'
    module.parent.mkdir(parents=True)
    module.with_name('__init__.py').touch()
    module.write_text(PAGE.files['propulsion_ros/models/jets.py'], encoding='utf-8')
    for file in ('my_jets/setup.py', 'config/jets.yaml', 'commands.csv', 'robot.urdf'):
        (folder / file).parent.mkdir(exist_ok=True)
        (folder / file).write_text(PAGE.files[file], encoding='utf-8')
    done = run(
        folder, sys.executable, '-m', 'pip', 'install', '-q', '--no-deps', '--no-build-isolation',
        '--no-index', '--target', str(site), './my_jets',
    )
    assert done.returncode == 0, done.stderr
    return folder, site


@pytest.fixture
def outside(installed, monkeypatch):
    """Return a folder with the files of the page, where its family comes from a user's package."""
    folder, site = installed
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(site)
    yield folder
    for name in ('my_jets', 'my_jets.jets'):
        sys.modules.pop(name, None)


@pytest.mark.parametrize('command', [
    pytest.param(['check', 'config/jets.yaml', 'robot.urdf'], id='check'),
    pytest.param(['check', 'config/jets.yaml'], id='check of parameters alone'),
    pytest.param(['policy', '--model', 'robot.urdf', '--visualize'], id='policy, visualizer'),
    pytest.param(['gazebo', 'robot.urdf', '--output', 'gazebo'], id='gazebo'),
])
def test_commands_know_a_family_outside(outside, capsys, command):
    assert cli.main(command) == 0, capsys.readouterr()


def test_replay_of_a_family_outside_is_what_the_page_shows(outside):
    (shown,) = (block.shows for block in PAGE.blocks if block.text.endswith('-f1-4,9 forces.csv\n'))
    expected = list(csv.DictReader(shown.splitlines()[1:]))
    assert cli.main(['replay', 'config/jets.yaml', 'commands.csv', 'forces.csv']) == 0
    with (outside / 'forces.csv').open(newline='') as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(expected) == 5
    for row, numbers in zip(rows, expected, strict=True):
        assert {key: float(row[key]) for key in numbers} == pytest.approx(
            {key: float(value) for key, value in numbers.items()}, rel=1e-12
        )


def test_a_family_outside_runs_inside_gazebo(outside):
    host = ActuatorHost(PAGE.files['robot.urdf'], lambda link: True)
    host.start(5 * MS)
    try:
        (node,) = host.nodes
        assert node.is_active
        assert host.links == ('base_link', 'left_jet', 'right_jet')
    finally:
        host.close()


@pytest.mark.parametrize('arguments', [
    pytest.param(['config/jets.yaml'], id='parameters'),
    pytest.param(['settings.yaml', '--model', 'robot.urdf'], id='description'),
])
def test_bag_of_a_family_outside_has_its_wrench(outside, arguments):
    pytest.importorskip('rosbags')
    (outside / 'settings.yaml').write_text('jets:\n  ros__parameters: {command_timeout: 0.5}\n')
    config, *options = arguments
    bag = outside / f'{Path(config).stem}.mcap'
    assert cli.main(['replay', config, 'commands.csv', str(bag), *options]) == 0
    with BagReader(bag) as reader:
        topics = [message.topic for message in reader.messages()]
    assert topics.count('/jets/wrench') == 5


def test_launch_files_start_a_family_outside(outside, graph):
    (spec,) = robot_graph('robot.urdf').nodes
    assert (spec.executable, spec.name) == ('actuator_node', 'jets')
    require_it_pushes(
        graph, EXECUTABLES[spec.executable], spec.name, {**spec.parameters, 'step_on': 'stamp'}
    )
