# SPDX-License-Identifier: Apache-2.0
"""PyFlyt's own boosters, gimbals and lifting surfaces, on a body in pybullet."""
from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pybullet
from pybullet_utils.bullet_client import BulletClient
from PyFlyt.core.abstractions.boosters import Boosters
from PyFlyt.core.abstractions.gimbals import Gimbals
from PyFlyt.core.abstractions.lifting_surfaces import LiftingSurface, LiftingSurfaces


class World:
    """A body with links, or nothing but the calls to one.

    Parameters
    ----------
    links : int
        Number of links.
    stubbed : bool
        Whether calls do nothing, so that the model alone is measured.
    """

    def __init__(self, links: int, *, stubbed: bool) -> None:
        self.client: Any = _stub() if stubbed else BulletClient(pybullet.DIRECT)
        self.body = 0 if stubbed else _body(self.client, links)


def boosters(n: int, world: World, settings: dict[str, Any], dt: float) -> list[Boosters]:
    """Return n boosters of one each, because the original raises for more than one."""
    made = []
    for i in range(n):
        booster = Boosters(
            world.client, dt, np.random.default_rng(0), world.body, [2 * i], [2 * i + 1],
            np.array([settings['time_constant']]), np.array([settings['capacity']]),
            np.array([settings['max_fuel_rate']]), np.array([settings['inertia']]),
            np.array([settings['min_thrust']]), np.array([settings['max_thrust']]),
            np.array([[0.0, 0.0, 1.0]]), [True], np.array([settings['noise_ratio']]),
        )
        booster.reset()
        made.append(booster)
    return made


def boosters_step(made: list[Boosters], throttles: np.ndarray) -> Callable[[], None]:
    """Return a step of all boosters at throttles that take turns, (k, n)."""
    lit = np.ones(1)
    commands = [[np.array([value]) for value in row] for row in throttles]
    turn = _turns(commands)

    def step() -> None:
        for booster, throttle in zip(made, next(turn), strict=True):
            booster.physics_update(lit, throttle)

    return step


def gimballed_step(
    booster: Boosters, world: World, settings: dict[str, Any], dt: float
) -> Callable[[], None]:
    """Return a step of one booster on a gimbal."""
    gimbals = Gimbals(
        world.client, dt, np.random.default_rng(0), np.array([[1.0, 0.0, 0.0]]),
        np.array([[0.0, 1.0, 0.0]]), np.array([settings['time_constant']]),
        np.array([[5.0, 5.0]]),
    )
    gimbals.reset()
    lit, throttle = np.ones(1), np.array([0.5])
    turn = _turns([np.array([[value, -value]]) for value in (0.3, 0.5, -0.2)])

    def step() -> None:
        booster.physics_update(lit, throttle, gimbals.compute_rotation(next(turn)))

    return step


def surfaces_step(
    n: int, world: World, settings: dict[str, float], dt: float
) -> Callable[[], None]:
    """Return a step of n lifting surfaces in a steady flow."""
    made = []
    for i in range(n):
        surface = LiftingSurface(
            world.client, dt, np.random.default_rng(0), world.body, i,
            np.array([0.0, 1.0, 0.0]), np.array([1.0, 0.0, 0.0]),
            settings['lift_slope'], settings['chord'], settings['span'],
            settings['flap_to_chord'], settings['flap_efficiency'], 0.0,
            float(np.rad2deg(settings['stall_angle'])), -float(np.rad2deg(settings['stall_angle'])),
            settings['zero_lift_drag'], float(np.rad2deg(settings['deflection'])),
            settings['time_constant'],
        )
        surface.reset()
        surface.state_update(np.array([30.0, -1.0, 0.0]))
        made.append(surface)
    surfaces = LiftingSurfaces(made)
    turn = _turns([np.full(n, value) for value in (0.3, 0.5, -0.2)])

    def step() -> None:
        surfaces.physics_update(next(turn))

    return step


def _turns(values: list[Any]) -> Any:
    while True:
        yield from values


def _stub() -> SimpleNamespace:
    def nothing(*args: object, **kwargs: object) -> None:
        pass

    return SimpleNamespace(
        LINK_FRAME=1, applyExternalForce=nothing, applyExternalTorque=nothing,
        changeDynamics=nothing,
    )


def _body(client: Any, links: int) -> int:
    zeros, upright = [[0.0, 0.0, 0.0]] * links, [[0.0, 0.0, 0.0, 1.0]] * links
    body: int = client.createMultiBody(
        baseMass=100.0,
        linkMasses=[1.0] * links,
        linkCollisionShapeIndices=[-1] * links,
        linkVisualShapeIndices=[-1] * links,
        linkPositions=zeros,
        linkOrientations=upright,
        linkInertialFramePositions=zeros,
        linkInertialFrameOrientations=upright,
        linkParentIndices=[0] * links,
        linkJointTypes=[pybullet.JOINT_FIXED] * links,
        linkJointAxis=[[0.0, 0.0, 1.0]] * links,
    )
    return body
