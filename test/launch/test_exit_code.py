# SPDX-License-Identifier: Apache-2.0
"""A launch ends with a code that is not 0 where one of its processes did."""
import os
import re
import signal

import pytest

pytest.importorskip('launch_ros', reason='launch_ros is not installed')

from launched import Launched

from propulsion_ros.graph.share import share_directory

MODEL = share_directory() / 'urdf' / 'quadrotor.urdf.xacro'


def kill_first(launched, ready):
    """Kill the first process of a launch, once another one has printed something."""
    started = launched.line_with('process started with pid')
    launched.line_with(ready)
    os.kill(int(re.search(r'pid \[(\d+)\]', started)[1]), signal.SIGKILL)


def test_wrong_setting_is_named_before_anything_starts(tmp_path):
    path = tmp_path / 'wrong.yaml'
    path.write_text('rotors:\n  ros__parameters:\n    update_rate: -1.0\n')
    code, printed = Launched('bringup', model=MODEL, simulate='1', params_file=path).end()
    assert code == 1
    assert "rotors: parameter 'update_rate': -1 is below 0.001 Hz" in printed


@pytest.mark.parametrize(('is_recorded', 'ready', 'name'), [
    (False, 'running', 'rotors'), (True, 'active', 'the recorder'),
], ids=['node', 'recorder'])
def test_what_is_killed_ends_a_simulation_with_code_1(tmp_path, is_recorded, ready, name):
    record = {'record': tmp_path / 'bag'} if is_recorded else {}
    launched = Launched('bringup', model=MODEL, simulate='1', **record)
    kill_first(launched, ready)
    code, printed = launched.end()
    assert code == 1
    assert f'{name} has exited with code -9' in printed


@pytest.mark.parametrize('shown', ['false', 'browser'])
def test_simulation_that_ends_as_it_should_has_code_0(tmp_path, monkeypatch, shown):
    """It had code 1 where a page could not be served, as without trimesh."""
    (tmp_path / 'trimesh.py').write_text('raise ModuleNotFoundError("no", name="trimesh")')
    monkeypatch.setenv('PYTHONPATH', str(tmp_path), prepend=os.pathsep)
    code, printed = Launched(
        'bringup', model=MODEL, simulate='True', duration='8', real_time_factor='1',
        visualize=shown,
    ).end()
    assert code == 0, printed
    assert ('the page has exited with code 1; all else goes on' in printed) is (shown == 'browser')


def test_node_that_is_killed_on_a_robot_shows_in_the_code_and_stops_no_other():
    with Launched('bringup', model=MODEL, allocate='rotors') as launched:
        kill_first(launched, 'active')
        launched.line_with('process has died')
        # The other one still runs, so that Ctrl-C is what ends the launch. In the very moment of
        # an exit launch itself can miss Ctrl-C.
        launched.line_with('rotors_allocator]: no command yet')
        assert launched.process.poll() is None
    assert launched.process.returncode == 1
