# SPDX-License-Identifier: Apache-2.0
"""Rigid bodies for tests, and how to fly them."""
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from propulsion_ros.models.body.mass import MassProperties
from propulsion_ros.models.body.rigid_body import BodyParams, RigidBody
from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY

G = STANDARD_GRAVITY
DT = 0.01
REST = np.zeros(6)


def part(mass=2.0, com=(0.0, 0.0, 0.0), inertia=(1.0, 2.0, 2.5)) -> MassProperties:
    return MassProperties(mass, np.array(com, float), np.diag(inertia))


def body(height: float = 1000.0, **kwargs) -> RigidBody:
    return RigidBody(BodyParams(**{'start_position': [0.0, 0.0, height], **kwargs}))


def floating(**kwargs) -> RigidBody:
    return body(gravity=0.0, **kwargs)


def run(model: RigidBody, steps: int, wrench=REST, mass=None, dt: float = DT, drag=None):
    mass = mass or part()
    for _ in range(steps):
        model.step(np.array(wrench, float), mass, mass, dt, drag)
    return seen(model)


class Seen(NamedTuple):
    """What tests look at of a body: velocity in the world, the others as of the body."""

    position: np.ndarray
    quaternion: np.ndarray
    velocity: np.ndarray
    velocity_body: np.ndarray
    angular_velocity: np.ndarray
    specific_force: np.ndarray
    on_ground: bool


def seen(model: RigidBody) -> Seen:
    """Return the state of a body now."""
    motion = model.motion
    return Seen(
        motion.position, motion.quaternion, model.velocity, motion.velocity,
        motion.angular_velocity, model.specific_force, model.on_ground,
    )
