# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import argparse
import subprocess
import sys

import pytest
from conftest import REPOSITORY

import propulsion_ros
from parts import few_of
from propulsion_ros.tools import cli


def test_version(capsys):
    with pytest.raises(SystemExit) as end:
        cli.main(['--version'])
    assert end.value.code == 0
    assert capsys.readouterr().out == f'propulsion_ros {propulsion_ros.__version__}\n'


@pytest.mark.parametrize('command', cli.COMMANDS)
def test_help_of_each_command_has_an_example_that_is_right(command, capsys):
    module = cli.module_of(command)
    parser = argparse.ArgumentParser()
    module.add_arguments(parser)
    parser.parse_args(module.EXAMPLE.split())
    with pytest.raises(SystemExit):
        cli.main([command, '--help'])
    text = ' '.join(capsys.readouterr().out.split())
    assert f'example: propulsion_ros {command} {module.EXAMPLE}' in text


def test_files_behind_the_options_are_refused_with_what_to_do(capsys):
    with pytest.raises(SystemExit):
        cli.main(['check', 'a.yaml', '--model', 'a.urdf', 'flight.jsonc'])
    assert 'flight.jsonc; put every FILE before the options; ' in capsys.readouterr().err


@pytest.mark.parametrize(('words', 'heavy'), [
    pytest.param('--help', ['numpy', 'scipy', 'yaml', 'rclpy', 'matplotlib'], id='help'),
    pytest.param('--version', ['numpy', 'scipy', 'yaml', 'rclpy', 'matplotlib'], id='version'),
    pytest.param(
        'check urdf/quadrotor.urdf.xacro', ['scipy', 'json5', 'rclpy', 'matplotlib', 'rosbags'],
        id='check',
    ),
])
def test_command_imports_no_more_than_it_needs(words, heavy):
    assert not imported_by(words, heavy)


def imported_by(words, heavy):
    """Return which of some packages a command imports."""
    code = (
        'import sys\nfrom propulsion_ros.tools import cli\ntry:\n'
        f'    cli.main({words.split()!r})\nexcept SystemExit:\n    pass\n'
        f'print(*[name for name in {heavy!r} if name in sys.modules])'
    )
    run = subprocess.run(
        [sys.executable, '-c', code], cwd=REPOSITORY, capture_output=True, text=True, check=True,
    )
    return run.stdout.splitlines()[-1].split()


STARTS = {
    'apogee': ['json5'], 'check': ['defusedxml'], 'demo': ['defusedxml'], 'fly': ['defusedxml'],
    'gazebo': ['defusedxml'], 'identify': ['scipy', 'defusedxml'], 'play': [],
    'plot': ['json5'], 'record': [], 'replay': ['defusedxml'], 'study': ['defusedxml'],
    'view': ['json5', 'defusedxml'],
}
"""What each command may import before it begins, beside numpy and yaml."""
PACKAGES = [
    'scipy', 'json5', 'defusedxml', 'rclpy', 'matplotlib', 'rosbags', 'xacro', 'launch', 'dask',
    'distributed', 'plotly', 'trimesh',
]


def test_no_loop_or_family_imports_scipy_before_it_needs_it():
    code = (
        'import sys\n'
        'from propulsion_ros.models.registry import REGISTRY\n'
        'from propulsion_ros.loops import allocator_loop, estimate_loop, vehicle_loop\n'
        'from propulsion_ros.loops.flight import flight_loop\n'
        'families = [REGISTRY[name] for name in REGISTRY]\n'
        'print(len(families), "scipy" in sys.modules)'
    )
    run = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, check=True)
    families, is_imported = run.stdout.split()
    assert int(families) >= 7
    assert is_imported == 'False'


def test_every_command_has_its_list_of_imports():
    assert set(STARTS) == set(cli.COMMANDS)


@pytest.mark.parametrize('command', few_of(sorted(STARTS), len(STARTS)))
def test_start_of_a_command_imports_no_more_than_listed(command):
    assert set(imported_by(f'{command} --help', PACKAGES)) <= set(STARTS[command])


def test_what_every_command_needs_and_is_missing_is_one_line():
    code = (
        "import sys; sys.modules['defusedxml'] = None; from propulsion_ros.tools import cli; "
        "sys.exit(cli.main(['check', 'robot.urdf']))"
    )
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith('propulsion_ros check: ')
    assert "pip install 'defusedxml>=0.7'" in done.stderr
    assert done.stderr.count('\n') == 1
