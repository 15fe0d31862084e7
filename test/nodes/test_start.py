# SPDX-License-Identifier: Apache-2.0
"""Executables and commands that are stopped before their imports are done, or lack ROS 2."""
from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from parts import few_of

REPOSITORY = Path(__file__).resolve().parents[2]
MODULES = [
    f'propulsion_ros.nodes.{name}' for name in (
        'actuator_node', 'allocator_node', 'flight_state_node', 'inverse_fam_node', 'stack',
        'vehicle_node', 'visualizer_node',
    )
]
NODES = [
    *(pytest.param(['-m', module], id=module) for module in MODULES),
    *(
        pytest.param([str(REPOSITORY / 'scripts' / name)], id=f'script {name}')
        for name in (module.rsplit('.', 1)[1] for module in MODULES)
    ),
]
COMMANDS = [
    pytest.param(['-m', 'propulsion_ros.tools.cli', 'apogee'], 'propulsion_ros apogee', id='cli'),
    pytest.param(['-m', 'propulsion_ros', 'apogee'], 'propulsion_ros apogee', id='package'),
    pytest.param([str(REPOSITORY / 'scripts' / 'apogee')], 'propulsion_ros apogee', id='script'),
]

SLOW = """
import signal

print('imports', flush=True)
signal.pause()
"""


@pytest.mark.parametrize('number', few_of([signal.SIGTERM, signal.SIGINT], 2))
def test_signal_while_a_node_is_imported_ends_it_quietly(tmp_path, number):
    (tmp_path / 'slow_node.py').write_text(SLOW)
    line = (
        f'import sys; sys.path.append({str(tmp_path)!r}); '
        "from propulsion_ros.nodes.start import start_node; start_node('slow_node')"
    )
    process = subprocess.Popen(
        [sys.executable, '-c', line], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == 'imports\n'
    process.send_signal(number)
    assert process.communicate(timeout=40.0) == ('', '')
    assert process.returncode == 0


def test_main_is_called_and_ends_as_it_likes(tmp_path):
    (tmp_path / 'failing_node.py').write_text('import sys\ndef main():\n    sys.exit(3)\n')
    line = (
        f'import sys; sys.path.append({str(tmp_path)!r}); '
        "from propulsion_ros.nodes.start import start_node; start_node('failing_node')"
    )
    assert subprocess.run([sys.executable, '-c', line], check=False).returncode == 3


def start(arguments, path):
    """Start Python with a folder whose modules come before those that are installed."""
    return subprocess.Popen(
        [sys.executable, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, 'PYTHONPATH': os.pathsep.join((str(path), str(REPOSITORY)))},
    )


def interrupted(arguments, path, number):
    """Return code, output and error of what gets a signal in the middle of its imports."""
    process = start(arguments, path)
    assert process.stdout.readline() == 'imports\n'
    process.send_signal(number)
    out, err = process.communicate(timeout=40.0)
    return process.returncode, out, err


@pytest.mark.parametrize('arguments', few_of(NODES, 5))
@pytest.mark.parametrize('number', few_of([signal.SIGTERM, signal.SIGINT], 2))
def test_node_that_is_stopped_in_its_imports_ends_quietly(tmp_path, arguments, number):
    (tmp_path / 'rclpy.py').write_text(SLOW)
    assert interrupted(arguments, tmp_path, number) == (0, '', '')


@pytest.mark.parametrize(('arguments', 'name'), COMMANDS)
def test_command_that_is_stopped_in_its_imports_ends_with_one_line(tmp_path, arguments, name):
    (tmp_path / 'numpy.py').write_text(SLOW)
    code, out, err = interrupted(arguments, tmp_path, signal.SIGINT)
    assert (code, out) == (130, '')
    assert err == f'\n{name}: stopped\n'


@pytest.mark.parametrize('words', [
    pytest.param(['record', 'bag'], id='record'),
    pytest.param(['view', '--live', '--model', 'quadrotor'], id='view'),
])
@pytest.mark.parametrize('module', few_of(['rclpy', 'numpy'], 2))
def test_what_ends_by_a_signal_does_so_from_its_start(tmp_path, words, module):
    (tmp_path / f'{module}.py').write_text(SLOW)
    arguments = ['-m', 'propulsion_ros.tools.cli', *words]
    code, _, err = interrupted(arguments, tmp_path, signal.SIGINT)
    assert (code, err) == (0, f'\npropulsion_ros {words[0]}: stopped\n')


ABSENT = 'raise ModuleNotFoundError("No module named {0!r}", name={0!r})\n'


@pytest.mark.parametrize('arguments', [
    *few_of(NODES, 5),
    pytest.param(['-m', 'propulsion_ros.tools.cli', 'record', 'bag'], id='record'),
    pytest.param(['-m', 'propulsion_ros.tools.cli', 'play', 'bag'], id='play'),
    pytest.param(['-m', 'propulsion_ros.tools.cli', 'demo'], id='demo'),
])
def test_without_ros_it_ends_with_code_1_and_one_line_with_the_remedy(tmp_path, arguments):
    (tmp_path / 'rclpy.py').write_text(ABSENT.format('rclpy'))
    process = start(arguments, tmp_path)
    out, err = process.communicate(timeout=40.0)
    assert (process.returncode, out) == (1, '')
    assert err.count('\n') == 1
    assert "needs ROS 2: No module named 'rclpy'; source its setup file, or pip install" in err


def test_missing_messages_are_named_with_their_wheel(tmp_path):
    (tmp_path / 'diagnostic_msgs').mkdir()
    (tmp_path / 'diagnostic_msgs' / '__init__.py').write_text(ABSENT.format('diagnostic_msgs.msg'))
    process = start(['-m', 'propulsion_ros.nodes.vehicle_node'], tmp_path)
    _, err = process.communicate(timeout=40.0)
    assert process.returncode == 1
    assert err == (
        "vehicle_node: needs ROS 2: No module named 'diagnostic_msgs.msg'; source its setup file, "
        'or pip install ros-diagnostic-msgs, or apt install ros-$ROS_DISTRO-diagnostic-msgs\n'
    )


def test_fault_of_the_package_itself_is_not_taken_for_missing_ros(tmp_path):
    (tmp_path / 'rclpy.py').write_text(ABSENT.format('propulsion_ros.nodes.typo'))
    process = start(['-m', 'propulsion_ros.nodes.vehicle_node'], tmp_path)
    _, err = process.communicate(timeout=40.0)
    assert process.returncode == 1
    assert 'Traceback' in err
