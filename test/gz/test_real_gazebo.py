# SPDX-License-Identifier: Apache-2.0
"""The system in the server of a real gz-sim, where there is one with Python."""
from __future__ import annotations

import json
import os
import signal
import subprocess
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from gazebo_tool import COMMAND
from std_msgs.msg import Float64MultiArray

from propulsion_ros.graph.share import share_directory
from propulsion_ros.gz.model import gazebo_robot
from propulsion_ros.messages import qos

# Looked for, never imported: two of its interpreters in one process end it.
HAS_PYTHON = find_spec('gz') is not None and any(
    find_spec(name) for name in ('gz.sim', 'gz.sim8', 'gz.sim9')
)

pytestmark = pytest.mark.skipif(
    COMMAND is None or not HAS_PYTHON,
    reason="NOT RUN in a real Gazebo: no 'gz' with its Python here (Harmonic or later)",
)

WORLD = """<sdf version="1.9"><world name="void">
  <physics name="1ms" type="dart"><max_step_size>0.001</max_step_size></physics>
  <gravity>0 0 -2</gravity>
  <plugin filename="gz-sim-physics-system" name="gz::sim::systems::Physics"/>
  <include><uri>{model}</uri></include></world></sdf>"""
PROBE = """<gazebo><plugin filename="gz-sim-python-system-loader-system"
  name="gz::sim::systems::PythonSystemLoader"><module_name>newton_probe</module_name></plugin>
  </gazebo></robot>"""
SETTINGS = """/**/rotors:
  ros__parameters:
    command_timeout: 0.0
    adapters: [float64_multi_array]
"""
MASS = 1.5


@pytest.fixture
def server(tmp_path):
    """Run a server with a quadrotor and a probe; return the process and the file of the probe."""
    settings, model, world = (tmp_path / name for name in ('s.yaml', 'm.urdf', 'w.sdf'))
    settings.write_text(SETTINGS)
    made = gazebo_robot(
        share_directory() / 'urdf' / 'quadrotor.urdf.xacro', params_files=[settings]
    )
    model.write_text(made.description.replace('</robot>', PROBE))
    world.write_text(WORLD.format(model=model))
    written = tmp_path / 'probe.jsonl'
    here = Path(__file__).parent
    paths = [str(here), str(share_directory()), os.environ.get('PYTHONPATH', '')]
    with open(tmp_path / 'server.log', 'w') as log:
        process = subprocess.Popen(
            [COMMAND, 'sim', '-s', '-r', str(world)], stdout=log, stderr=log,
            env={
                **os.environ, 'PYTHONPATH': os.pathsep.join(paths), 'GZ_IP': '127.0.0.1',
                'GZ_PARTITION': tmp_path.name, 'NEWTON_PROBE': str(written),
            },
        )
    yield process, written
    if process.poll() is None:
        process.kill()
    process.wait()


def rows_of(path):
    """Return what the probe has written as whole lines."""
    lines = path.read_text().splitlines(keepends=True) if path.exists() else []
    return np.array([json.loads(line) for line in lines if line.endswith('\n')])


def test_four_rotors_lift_their_mass_as_newton_says(server, graph):
    """Each step changes the velocity by force over mass, and the server ends with 0."""
    process, written = server
    graph.talk(Float64MultiArray, 'rotors/command_array', qos.COMMAND).publish(
        Float64MultiArray(data=[5.0] * 4)
    )

    def pushed():
        assert process.poll() is None, 'the server has ended'
        rows = rows_of(written)
        return len(rows) > 1000 and rows[-1000:, 6].all()
    graph.until(pushed, 'a second of thrust')
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=20.0) == 0
    rows = rows_of(written)
    gained = np.diff(rows[:, 1:4], axis=0) / 0.001
    expected = rows[1:, 4:7] / MASS + [0.0, 0.0, -2.0]
    np.testing.assert_allclose(gained, expected, rtol=0.0, atol=1e-9)
    # Motors of 50 ms have settled: 20 N.
    assert rows[-1, 6] == pytest.approx(20.0, rel=1e-6)
