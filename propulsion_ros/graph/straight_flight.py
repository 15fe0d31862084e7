# SPDX-License-Identifier: Apache-2.0
"""A flight straight up and down of a rocket with its flight computer, by which `check` judges both.

Lean, wind and lift are left out, so that it climbs a little higher and longer than in the air.
"""
from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from propulsion_ros.graph.robot_layout import RobotLayout
from propulsion_ros.models.body.rigid_body import Air
from propulsion_ros.models.body.simulated_body import Parachutes
from propulsion_ros.models.common.family import BodyState, Command

_STEP = 0.05  # of the climb, and half of that of the descent [s]
_WAIT, _LONGEST = 60.0, 3600.0  # longest time to the liftoff, and of a flight [s]


class StraightFlight(NamedTuple):
    """What a flight straight up and down gives."""

    apogee: float
    climb_time: float
    """Height above the pad [m], and time from liftoff to it [s]."""
    opened: dict[str, float]
    """Upward speed [m/s] at which deployers are fired before the touchdown."""
    unlit: list[str]
    """Engines that are never lit."""
    touchdown: float
    slowest: float
    """Speed at the touchdown, and that by all open canopies [m/s]."""


def straight_flight(robot: RobotLayout, config: Any, lockout: float) -> StraightFlight | None:
    """Fly a robot and its flight configuration, of which no apogee is believed in the lockout [s].

    None where the flight is not known, as with engines that are throttled or land.
    """
    from propulsion_ros.flight.events.events import EventEngine
    from propulsion_ros.flight.events.variables import Variables
    from propulsion_ros.rml.config import with_limits

    burning, params = [g for g in robot.groups if hasattr(g.params, 'max_fuel_rate')], robot.params
    lands = any(event.ignites and event.lands for event in config.events)
    is_plain = params.starts_on_ground and not (config.controllers or lands or params.fluid_density)
    if len(burning) != 1 or not (is_plain and robot.propellant and burning[0].pushes.any()):
        return None
    family, names = burning[0].family, list(burning[0].layout.names)
    if not config.engines or {each.booster for each in config.engines} - {*names}:
        return None
    family.reset()
    efforts = np.full(len(family.command_names), np.nan)
    efforts[:len(names)] = 0.0
    push = burning[0].pushes.sum(axis=0)
    area = float(params.drag_area @ np.abs(push / np.linalg.norm(push)))
    air, canopies = Air(params.temperature_offset, params.drag_over_mach), Parachutes(
        robot.parachutes)
    events, opened, lit = EventEngine(with_limits(config)), dict[str, float](), set[int]()
    time = height = climb = apogee = thrust = 0.0
    mass, liftoff, over, top = robot.body.mass, math.inf, math.inf, math.inf
    while time < _LONGEST and (height > 0.0 or climb >= 0.0):
        is_over, is_up, at = time >= over, time >= liftoff, round(1e9 * time)
        step = _STEP if time < top else 2.0 * _STEP
        words = {'recovery', 'descent'} if is_over else {'flight', 'boost' if thrust else 'coast'}
        for fired in events.update(Variables(
            at, (0.0, 0.0, -height), (0.0, 0.0, -climb), (0.0, 0.0, 0.0), 0,
            round(1e9 * liftoff) if is_up else None, round(1e9 * over) if is_over else None,
            events.time_since, tilt=0.0, continuity=lambda channel: True,
            words=frozenset(words if is_up else {'launch'}),
        ), at):
            for action in fired.actions:
                if action.kind == 'engine':
                    engine = config.engines[action.target]
                    efforts[names.index(engine.booster)] = engine.thrust * action.ignites
                    lit |= {action.target} if action.ignites else set()
                elif action.deploys:
                    name = config.deployers[action.target].name
                    opened.setdefault(name, climb)
                    if name in robot.parachutes.names:
                        canopies.fire(name, at)
        thrust = 0.0
        if not is_over:
            made = family.step(
                Command(effort=efforts), BodyState(height=np.asarray(height)), step, 0)
            thrust = float(np.linalg.norm(made.wrench[:3]))
            left = made.tanks.mass.sum() if made.tanks else 0.0
            mass = robot.body.mass - robot.propellant + float(left)
        density, sound = air.at(params.site_altitude + height)
        drag = 0.5 * density / mass * (
            area * air.factor(abs(climb) / sound) + canopies.drag_area(at))
        push_up = thrust / mass - params.gravity
        liftoff = min(liftoff, time if push_up > 0.0 else math.inf)
        if liftoff < math.inf:
            # Implicit in the drag, which a canopy that opens makes large.
            climb = (climb + step * push_up) / (1.0 + step * drag * abs(climb))
            height += step * climb
            top = min(top, time if climb <= 0.0 else math.inf)
            over = max(top, liftoff + lockout)
        elif time > _WAIT:
            break
        apogee, time = max(apogee, height), time + step
    family.reset()
    largest = 0.5 * density / mass * (area + float(robot.parachutes.drag_area.sum()))
    return StraightFlight(
        apogee, top - liftoff, opened,
        [each.name for each in config.engines if each.id not in lit], -climb,
        math.sqrt(params.gravity / largest) if largest else math.inf,
    ) if liftoff < top < math.inf else None
