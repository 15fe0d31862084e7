# SPDX-License-Identifier: Apache-2.0
"""Where files of the package are; a xacro file is expanded in a process of its own."""
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from propulsion_ros.graph import share
from propulsion_ros.graph.expand_xacro import expand
from propulsion_ros.graph.share import read_description, share_directory
from propulsion_ros.graph.vehicles import VEHICLES
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.urdf.xml import SIZE_LIMIT

xacro = pytest.importorskip('xacro')

ROBOT = '<robot name="a" xmlns:xacro="http://www.ros.org/wiki/xacro">{}</robot>'


def test_source_tree_has_its_own_files():
    assert (share.share_directory() / 'config' / 'rocket.yaml').is_file()


def test_package_without_its_files_is_refused_in_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr(share, '__file__', str(tmp_path / 'propulsion_ros' / 'graph' / 'share.py'))
    monkeypatch.delenv('AMENT_PREFIX_PATH', raising=False)
    with pytest.raises(SourceError) as error:
        share.share_directory()
    assert str(error.value) == (
        'share/propulsion_ros: found neither in the ament index nor in a folder above '
        f'{tmp_path}'
    )


@pytest.mark.parametrize('address', ['package://', 'package:///a.urdf', 'package://a b/c.urdf'])
def test_an_address_without_the_name_of_a_package_is_refused_in_one_line(address):
    with pytest.raises(SourceError, match='is not installed'):
        share.located(address)


@pytest.fixture
def written(tmp_path):
    def write(text, name='robot.xacro'):
        path = tmp_path / name
        path.write_text(ROBOT.format(text), encoding='utf-8')
        return path
    return write


@pytest.mark.parametrize('vehicle', VEHICLES)
def test_expansion_is_that_of_the_library(vehicle):
    path = share_directory() / 'urdf' / f'{vehicle}.urdf.xacro'
    text = read_description(path).text
    assert text == expand(str(path), SIZE_LIMIT)[1]
    assert text == xacro.process_file(str(path)).toxml()


def test_the_macros_are_found_without_ros(written, monkeypatch):
    """Nothing of another package is; the environment of ROS has both."""
    monkeypatch.delenv('AMENT_PREFIX_PATH', raising=False)
    text = '<xacro:include filename="$(find {})/urdf/actuators.xacro"/><link name="b"/>'
    assert '<link name="b"/>' in read_description(written(text.format('propulsion_ros'))).text
    with pytest.raises(SourceError, match=r"xacro:1: .* package 'other' is not installed; .*AMENT"):
        read_description(written(text.format('other')))


def test_an_optional_file_may_be_absent(written):
    text = '<xacro:include filename="nowhere.xacro" optional="true"/><link name="b"/>'
    assert '<link name="b"/>' in read_description(written(text)).text


def test_arguments_and_properties_and_settings(written, tmp_path):
    (tmp_path / 'settings.yaml').write_text('length: {arm: 0.25}\n')
    text = (
        '<xacro:arg name="size" default="2"/><xacro:property name="s" '
        'value="${xacro.load_yaml(\'settings.yaml\')}"/>'
        '<link name="l_$(arg size)_${s.length.arm * 2}"/>'
    )
    assert '<link name="l_2_0.5"/>' in read_description(written(text)).text


def test_warnings_come_through(written, capfd):
    read_description(written('<xacro:property name="pi" value="3"/>'))
    assert 'redefining global symbol: pi' in capfd.readouterr().err


def test_what_a_macro_makes_is_placed_at_its_outermost_call_too(written):
    path = written(
        '<xacro:macro name="inner" params="n"><link name="${n}"/></xacro:macro>\n'
        '<xacro:macro name="outer" params="n *b"><xacro:inner n="${n}"/>\n'
        '<xacro:insert_block name="b"/></xacro:macro>\n'
        '<xacro:outer n="made">\n<link name="given"/></xacro:outer>\n<link name="own"/>'
    )
    description = read_description(path)
    places = [description.place_of(f'robot/link[name={name}]') for name in ('made', 'given', 'own')]
    assert places == [f'{path}:1: called at {path}:4', f'{path}:5', f'{path}:6']


@pytest.mark.parametrize('name', [b'a b', b'a\x01\nb', b'-c', b'\xff'])
def test_any_name_will_do(written, name):
    path = written('<link name="b"/>', 'plain.xacro')
    path = path.rename(path.with_name(os.fsdecode(name + b'.xacro')))
    assert '<link name="b"/>' in read_description(path).text


def test_a_disk_that_does_not_reply_is_not_waited_for(written, monkeypatch):
    path = written('${python.sum(python.range(10**12))}')
    monkeypatch.setattr(share, '_WAIT', 0.5)
    begun = time.monotonic()
    with pytest.raises(SourceError, match=r'takes more than 0\.5 s to expand'):
        read_description(path)
    assert time.monotonic() - begun < 20.0


def test_own_python_is_found_inside_a_simulator(monkeypatch, tmp_path):
    """Not what is called python3 on the path: it may be a shim, or of another version."""
    (tmp_path / 'python3').write_text('#!/bin/sh\nexit 1\n')
    (tmp_path / 'python3').chmod(0o755)
    monkeypatch.setenv('PATH', str(tmp_path))
    for name in ('gz-sim-server', 'python3'):
        monkeypatch.setattr('sys.executable', str(tmp_path / name))
        assert share._python().endswith('bin/python{}.{}'.format(*sys.version_info[:2]))


def test_expansion_whose_reader_has_ended_ends_quietly():
    read, write = os.pipe()
    os.close(read)
    path = next(iter(sorted((share_directory() / 'urdf').glob('*.xacro'))))
    line = f'from propulsion_ros.graph.expand_xacro import main; main({str(path)!r}, {SIZE_LIMIT})'
    process = subprocess.run(
        [sys.executable, '-c', line], stdout=write, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(write)
    assert process.stderr == ''


def test_ctrl_c_during_an_expansion_prints_nothing_of_it(written):
    path = written('${python.sum(python.range(10**12))}')
    line = (
        'import signal, sys; signal.signal(signal.SIGINT, lambda *_: sys.exit(7)); '
        'print(flush=True); from propulsion_ros.graph.share import read_description; '
        f'read_description({str(path)!r})'
    )
    process = subprocess.Popen(
        [sys.executable, '-c', line], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )
    process.stdout.readline()
    children = f'/proc/{process.pid}/task/{process.pid}/children'
    while not Path(children).read_text():
        time.sleep(0.01)
    time.sleep(0.3)
    os.killpg(process.pid, signal.SIGINT)
    _, printed = process.communicate(timeout=30)
    assert (process.returncode, printed) == (7, '')
