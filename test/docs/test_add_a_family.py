"""The tutorial "add a family", followed to the letter in a copy of the package."""
from __future__ import annotations

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
from propulsion_ros.nodes import qos
from propulsion_ros.nodes.actuator_node import ActuatorNode
from propulsion_ros.nodes.conversions import ns_to_stamp

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
        'test/models/test_jets.py', 'test/test_schema.py', 'test/test_imports.py',
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
    node = graph.add(ActuatorNode, 'jets', {**parameters, 'step_on': 'stamp'})
    assert node.is_active
    wrenches = graph.listen(WrenchStamped, 'jets/wrench', qos.COMMAND)
    graph.until(lambda: node._wrench.publisher.get_subscription_count() == 1, 'the probe')
    command = graph.talk(JointState, 'jets/command', qos.COMMAND)
    for ms in range(100, 201, 5):
        message = JointState(name=['left'], effort=[0.2])
        message.header.stamp = ns_to_stamp(ms * MS)
        command.publish(message)
    graph.until(lambda: wrenches and wrenches[-1].header.stamp == ns_to_stamp(200 * MS), '200 ms')
    wrench = wrenches[-1].wrench
    assert wrench.force.x == pytest.approx(0.2, rel=1e-4)
    assert wrench.torque.z == pytest.approx(-0.03, rel=1e-4)
