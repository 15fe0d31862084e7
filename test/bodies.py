"""Rigid bodies for tests, and how to fly them."""
from __future__ import annotations

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
    return model.motion
