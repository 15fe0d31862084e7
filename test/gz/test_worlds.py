# SPDX-License-Identifier: Apache-2.0
"""The worlds for Gazebo: valid for its own parser, and as the simulated bodies have them."""
from __future__ import annotations

import pytest
from defusedxml import ElementTree
from gazebo_tool import needs_sdformat, sdf

from propulsion_ros.graph.share import share_directory
from propulsion_ros.graph.vehicles import VEHICLES
from propulsion_ros.gz.sdf_elements import read_body

WORLDS = sorted((share_directory() / 'worlds').glob('*.sdf'))


def read(path):
    return ElementTree.parse(path).getroot().find('world')


def systems(world):
    return {plugin.get('name').rpartition('::')[2]: plugin for plugin in world.findall('plugin')}


@needs_sdformat
@pytest.mark.parametrize('path', WORLDS, ids=lambda path: path.name)
def test_world_is_valid(path):
    done = sdf('-k', path, check=False)
    assert done.stdout.split() == ['Valid.'], done.stderr


@pytest.mark.parametrize('path', WORLDS, ids=lambda path: path.name)
def test_world_has_what_models_need(path):
    world = read(path)
    assert world.get('name') == path.stem
    # A step that Python, which sees gz-sim's time in microseconds, can follow.
    assert world.findtext('physics/max_step_size') == '0.001'
    # UserCommands makes models; without the sensors' systems they are silent.
    assert {'Physics', 'UserCommands', 'SceneBroadcaster', 'Imu', 'AirPressure'} <= set(
        systems(world)
    )


@pytest.mark.parametrize('vehicle', VEHICLES)
def test_world_of_a_vehicle_is_that_of_its_simulated_body(vehicle):
    world = read(share_directory() / 'worlds' / f'{VEHICLES[vehicle].world}.sdf')
    body = read_body([share_directory() / 'config' / f'{vehicle}.yaml'])
    gravity = [float(x) for x in world.findtext('gravity').split()]
    assert gravity == [0.0, 0.0, -body.gravity]
    buoyancy = systems(world).get('Buoyancy')
    if body.displaced_volume:
        assert float(buoyancy.findtext('uniform_fluid_density')) == body.fluid_density
        floor = float(world.findtext("model[@name='floor']/pose").split()[2])
        assert floor < body.start_position[2]
    else:
        assert buoyancy is None


def test_every_world_is_used():
    assert {path.stem for path in WORLDS} == {kit.world for kit in VEHICLES.values()}
