# SPDX-License-Identifier: Apache-2.0
"""What each actuator does in its own link adds up to the wrench of all."""
from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from propulsion_ros.models.boosters.boosters import Boosters, BoostersParams
from propulsion_ros.models.boosters.gimbals import GimbalsParams
from propulsion_ros.models.common.family import BodyState, Command
from propulsion_ros.models.common.wrench import move_wrench
from propulsion_ros.models.fam.fam import Fam, FamParams
from propulsion_ros.models.fam.inverse_fam import InverseFam, InverseFamParams
from propulsion_ros.models.fam.propulsion_module import PropulsionModules, PropulsionModulesParams
from propulsion_ros.models.fins.fins import Fins, FinsParams
from propulsion_ros.models.fins.lift_drag import TwoLinesParams

RNG = np.random.default_rng(3)
TURNS = Rotation.random(2, random_state=4).as_matrix()
POINTS = RNG.uniform(-1.0, 1.0, (2, 3))
PLACED = {'names': ['a', 'b'], 'position': POINTS, 'rotation': TURNS}
# In the axes of its own link every actuator points along z.
AXES = {'axis': TURNS @ [0.0, 0.0, 1.0]}
MOVING = BodyState(velocity=np.array([3.0, 0.4, -0.2]), angular_velocity=np.zeros(3))


def stepped(family, **command):
    output = None
    for tick in range(5):
        output = family.step(
            Command(**{k: np.array(v, float) for k, v in command.items()}), MOVING, 0.01, tick
        )
    return output


def summed(links, rotations, positions):
    """Return the wrench about base_link's origin of wrenches in links."""
    turned = np.concatenate([
        np.einsum('nij,nj->ni', rotations, part) for part in (links[:, :3], links[:, 3:])
    ], axis=1)
    return move_wrench(turned, positions).sum(axis=0)


def test_thrust_of_a_gimballed_booster_stays_along_its_link():
    """The link turns with the gimbal, so its own axes see no difference."""
    family = Boosters(BoostersParams(
        max_thrust=100.0, max_fuel_rate=0.1, **PLACED, **AXES,
        gimbals=GimbalsParams(booster=['a'], joints=['x', 'y'], range=0.2),
    ))
    output = stepped(family, effort=[50.0, 50.0, 0.0, 0.0], position=[0.0, 0.0, 0.1, -0.05])
    links = family.link_wrenches(output)
    np.testing.assert_allclose(links, [[0, 0, 50.0, 0, 0, 0]] * 2, atol=1e-12)
    moved = Rotation.from_rotvec([0.1, 0, 0]) * Rotation.from_rotvec([0, -0.05, 0])
    carried = np.stack((moved.as_matrix() @ TURNS[0], TURNS[1]))
    force = np.einsum('nij,nj->ni', carried, links[:, :3]).sum(axis=0)
    np.testing.assert_allclose(force, output.wrench[:3], atol=1e-12)


def test_links_of_fins_turn_with_them():
    family = Fins(FinsParams(
        **PLACED, chord=[1.0, 0.0, 0.0], span=[0.0, 0.0, 1.0], min_deflection=-0.5,
        max_deflection=0.5, dynamics=['zero_order'],
        two_lines=TwoLinesParams(
            fin=['a', 'b'], area=0.01, fluid_density=1000.0, stall_angle=0.4, lift_slope=4.0,
            stalled_lift_slope=-1.0, drag_slope=0.5, stalled_drag_slope=0.6, zero_lift_drag=0.01,
        ),
    ))
    angles = [0.2, -0.3]
    output = stepped(family, position=angles)
    links = family.link_wrenches(output)
    turned = Rotation.from_rotvec(np.outer(angles, [0.0, 0.0, 1.0])).as_matrix()
    assert np.abs(output.wrench[:3]).max() > 1.0
    np.testing.assert_allclose(
        summed(links, turned @ TURNS, POINTS), output.wrench, atol=1e-9
    )


@pytest.mark.parametrize('family', [
    pytest.param(Fam(FamParams()), id='fam'),
    pytest.param(InverseFam(InverseFamParams()), id='inverse_fam'),
    pytest.param(PropulsionModules(PropulsionModulesParams()), id='propulsion_modules'),
])
def test_nozzles_add_up(family):
    fam = Fam(FamParams())
    if isinstance(family, Fam):
        output = stepped(family, effort=[0.1, 0.0, 0.05, 0.001, 0.0, 0.0])
    else:
        angle, speed = fam.sent(fam.allocate(np.array([0.1, 0.0, 0.05, 0.001, 0.0, 0.0])))
        output = stepped(
            family, position=[*angle, np.nan, np.nan], velocity=[*[np.nan] * 12, *speed]
        )
    links = family.link_wrenches(output)
    identity = np.broadcast_to(np.eye(3), (12, 3, 3))
    total = summed(links, identity, FamParams().nozzles.position)
    np.testing.assert_allclose(total[:3], output.wrench[:3], atol=1e-12)
