# SPDX-License-Identifier: Apache-2.0
"""The system in a real gz-sim, where there is one with Python: Newton's second law."""
from __future__ import annotations

import importlib
from importlib.util import find_spec

import pytest
from std_msgs.msg import Float64MultiArray

from propulsion_ros.graph.share import share_directory
from propulsion_ros.gz.model import gazebo_robot
from propulsion_ros.messages import qos


def simulator():
    """Return gz.sim under the name that it has in the release that is installed."""
    names = ('gz.sim', 'gz.sim9', 'gz.sim8') if find_spec('gz') else ()
    return next((importlib.import_module(name) for name in names if find_spec(name)), None)


SIM = simulator()

pytestmark = pytest.mark.skipif(
    SIM is None, reason='NOT RUN in a real Gazebo: no gz.sim with Python here (Harmonic or later)'
)

WORLD = """<sdf version="1.9"><world name="void">
  <physics name="1ms" type="dart"><max_step_size>0.001</max_step_size></physics>
  <gravity>0 0 0</gravity>
  <plugin filename="gz-sim-physics-system" name="gz::sim::systems::Physics"/>
  <include><uri>{model}</uri></include></world></sdf>"""
SETTINGS = """/**/rotors:
  ros__parameters:
    command_timeout: 0.0
    adapters: [float64_multi_array]
"""


def test_four_rotors_lift_their_mass(tmp_path, graph):
    settings, model, world = (tmp_path / name for name in ('s.yaml', 'm.urdf', 'w.sdf'))
    settings.write_text(SETTINGS)
    model.write_text(gazebo_robot(
        share_directory() / 'urdf' / 'quadrotor.urdf.xacro', params_files=[settings]
    ).description)
    world.write_text(WORLD.format(model=model))
    fixture = SIM.TestFixture(str(world))
    speeds = []

    def look(info, ecm):
        vehicle = SIM.Model(SIM.World(SIM.world_entity(ecm)).model_by_name(ecm, 'quadrotor'))
        link = SIM.Link(vehicle.link_by_name(ecm, 'base_link'))
        link.enable_velocity_checks(ecm)
        speed = link.world_linear_velocity(ecm)
        speeds.append(0.0 if speed is None else speed.z())

    fixture.on_pre_update(look)
    fixture.finalize()
    fixture.server().run(True, 1, False)
    command = graph.talk(Float64MultiArray, 'rotors/command_array', qos.COMMAND)
    command.publish(Float64MultiArray(data=[3.0] * 4))

    def lifted():
        fixture.server().run(True, 1, False)
        return speeds[-1] > 0.0
    graph.until(lifted, 'a motion')
    # Half a second settles motors of 50 ms; then 12 N move 1.5 kg.
    fixture.server().run(True, 500, False)
    before = speeds[-1]
    fixture.server().run(True, 500, False)
    assert (speeds[-1] - before) / 0.5 == pytest.approx(12.0 / 1.5, rel=1e-3)
