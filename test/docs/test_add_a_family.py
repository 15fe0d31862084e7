# SPDX-License-Identifier: Apache-2.0
"""The tutorial "add a family", followed to the letter in a copy of the package and beside it."""
from __future__ import annotations

import csv
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml
from geometry_msgs.msg import WrenchStamped
from sensor_msgs.msg import JointState
from visualization_msgs.msg import MarkerArray

from markdown_pages import REPOSITORY, Page
from page_family import apply_diff, register_family
from propulsion_ros.messages import qos
from propulsion_ros.messages.fields import ns_to_stamp
from propulsion_ros.nodes.actuator_node import ActuatorNode
from propulsion_ros.replay.bags import BagReader
from propulsion_ros.tools import cli

PAGE = Page(REPOSITORY / 'docs/add_a_family.md')
REGISTRY = 'propulsion_ros/models/registry.py'
MODEL = 'propulsion_ros/models/waterjets.py'
MADE = {MODEL, 'config/waterjets.yaml', 'test/models/test_waterjets.py'}
MS = 1_000_000
ENTRY_POINTS = next(
    block.text for block in PAGE.blocks if block.text.startswith('entry_points')
)


@pytest.fixture(scope='module')
def tree(tmp_path_factory):
    """Return a copy of the package with what the page adds."""
    folder = tmp_path_factory.mktemp('tree')
    for name in ('benchmarks', 'config', 'fuzz', 'propulsion_ros', 'test', 'urdf'):
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
    assert len((tree / REGISTRY).read_text(encoding='utf-8').splitlines()) == len(before) + 1


def test_tests_of_the_page_and_of_the_registry_pass(tree):
    done = run(
        tree, sys.executable, '-m', 'pytest', '-p', 'no:cacheprovider',
        'test/models/test_waterjets.py', 'test/settings/test_flat.py', 'test/test_imports.py',
        'test/test_family_names.py', 'test/test_hostile_files.py', '-k', 'waterjets or itself',
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert ' passed' in done.stdout


def test_linter_finds_nothing(tree):
    ruff = Path(sys.executable).with_name('ruff')
    if not ruff.exists():
        pytest.skip('ruff is not installed beside this Python')
    done = run(tree, str(ruff), 'check', REGISTRY, *MADE - {'config/waterjets.yaml'})
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize('source', ['yaml', 'urdf'])
def test_node_runs_it(graph, tmp_path, monkeypatch, source):
    (tmp_path / MODEL).parent.mkdir(parents=True)
    (tmp_path / MODEL).write_text(PAGE.files[MODEL], encoding='utf-8')
    register_family(PAGE, tmp_path, monkeypatch)
    parameters, torque = {'robot_description': PAGE.files['robot.urdf']}, 0.0
    if source == 'yaml':
        (content,) = yaml.safe_load(PAGE.files['config/waterjets.yaml']).values()
        parameters, torque = content['ros__parameters'], -4.0
    node = graph.add(ActuatorNode, 'waterjets', {**parameters, 'step_on': 'stamp'})
    assert node.is_active
    wrenches = graph.listen(WrenchStamped, 'waterjets/wrench', qos.COMMAND)
    command = graph.talk(JointState, 'waterjets/command', qos.COMMAND)
    stamps = iter(range(100, 100_000, 10))

    def pushes():
        message = JointState(name=['left'], effort=[8.0])
        message.header.stamp = ns_to_stamp(next(stamps) * MS)
        command.publish(message)
        return wrenches and wrenches[-1].wrench.force.x == pytest.approx(8.0, rel=1e-3)

    graph.until(pushes, 'the thrust of the left jet')
    assert wrenches[-1].wrench.torque.z == pytest.approx(torque, rel=1e-3)


@pytest.fixture(scope='module')
def installed(tmp_path_factory):
    """Return a folder with what the page gives a user, and the one that his package is put into."""
    folder, site = tmp_path_factory.mktemp('user'), tmp_path_factory.mktemp('site')
    package = folder / 'my_boat/my_boat'
    package.mkdir(parents=True)
    (package / '__init__.py').touch()
    (package / 'waterjets.py').write_text(PAGE.files[MODEL], encoding='utf-8')
    (folder / 'my_boat/setup.py').write_text(
        f'from setuptools import setup\n\n{ENTRY_POINTS}\n'
        "setup(name='my_boat', packages=['my_boat'], entry_points=entry_points)\n"
    )
    for file in ('config/waterjets.yaml', 'commands.csv', 'robot.urdf'):
        (folder / file).parent.mkdir(exist_ok=True)
        (folder / file).write_text(PAGE.files[file], encoding='utf-8')
    done = run(
        folder, sys.executable, '-m', 'pip', 'install', '-q', '--no-deps', '--no-build-isolation',
        '--no-index', '--target', str(site), './my_boat',
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
    for name in ('my_boat', 'my_boat.waterjets'):
        sys.modules.pop(name, None)


@pytest.mark.parametrize('command', [
    pytest.param(['check', 'config/waterjets.yaml', 'robot.urdf'], id='check'),
    pytest.param(['check', 'config/waterjets.yaml'], id='check of parameters alone'),
    pytest.param(['gazebo', 'robot.urdf', '--output', 'gazebo'], id='gazebo'),
])
def test_commands_know_a_family_outside(outside, capsys, command):
    assert cli.main(command) == 0, capsys.readouterr()


def test_replay_of_a_family_outside_follows_its_closed_form(outside):
    assert cli.main(['replay', 'config/waterjets.yaml', 'commands.csv', 'forces.csv']) == 0
    with (outside / 'forces.csv').open(newline='') as file:
        rows = list(csv.DictReader(file))
    rise = 8.0 * (1.0 - np.exp(-0.1 * np.array([0.0, 1.0, 2.0, 3.0])))
    assert [float(row['stamp']) for row in rows] == [1.0, 1.01, 1.02]
    assert [float(row['left.effort']) for row in rows] == pytest.approx(rise[1:], rel=1e-12)
    assert [float(row['right.effort']) for row in rows] == pytest.approx([0.0, 0.0, rise[1]])


@pytest.mark.parametrize('arguments', [
    pytest.param(['config/waterjets.yaml'], id='parameters'),
    pytest.param(['settings.yaml', '--model', 'robot.urdf'], id='description'),
])
def test_bag_of_a_family_outside_has_its_wrench(outside, arguments):
    pytest.importorskip('rosbags')
    (outside / 'settings.yaml').write_text('waterjets:\n  ros__parameters: {command_timeout: 1}\n')
    (outside / 'left.csv').write_text('stamp,left.effort\n1.00,8\n1.02,4\n')
    config, *options = arguments
    bag = outside / f'{Path(config).stem}.mcap'
    assert cli.main(['replay', config, 'left.csv', str(bag), *options]) == 0
    with BagReader(bag) as reader:
        topics = [message.topic for message in reader.messages()]
    assert topics.count('/waterjets/wrench') == 3


def test_stack_runs_allocates_and_draws_a_family_outside(outside, installed, graph):
    process = subprocess.Popen(
        [sys.executable, '-m', 'propulsion_ros.nodes.stack', '--model', 'robot.urdf',
         '--allocate', 'waterjets', '--visualize'],
        env={**os.environ, 'PYTHONPATH': f'{installed[1]}:{REPOSITORY}'},
    )
    try:
        wrenches = graph.listen(WrenchStamped, 'waterjets/wrench', qos.COMMAND)
        pictures = graph.listen(MarkerArray, 'visualizer/markers', qos.COMMAND)
        demand = graph.talk_later(
            WrenchStamped, 'waterjets_allocator/wrench_command', qos.COMMAND
        )

        def pushes():
            message = WrenchStamped()
            message.header.frame_id = 'base_link'
            message.wrench.force.x = 5.0
            demand.publish(message)
            return wrenches and wrenches[-1].wrench.force.x == pytest.approx(5.0)

        graph.until(pushes, 'the demanded thrust')
        graph.until(lambda: pictures, 'a picture')
    finally:
        process.terminate()
        process.wait(60.0)
