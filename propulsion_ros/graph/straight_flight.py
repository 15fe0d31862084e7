# SPDX-License-Identifier: Apache-2.0
"""A flight straight up and down of a rocket with its flight computer, by which `check` judges both.

Lean, wind and lift are left out, so that it climbs a little higher and longer than in the air.
"""
from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from propulsion_ros.graph.actuator_numbers import LEAST, actuators
from propulsion_ros.graph.robot_layout import RobotLayout
from propulsion_ros.models.body.rigid_body import Air
from propulsion_ros.models.body.simulated_body import Parachutes
from propulsion_ros.models.common.thrust_curve import parse_curve

_STEP = 0.05  # of the climb, and half of that of the descent [s]
_WAIT, _LONGEST = 60.0, 3600.0  # longest time to the liftoff, and of a flight [s]


@dataclass(frozen=True)
class StraightFlight:
    """What a flight straight up and down gives.

    Attributes
    ----------
    apogee : float
        Height above the pad [m].
    climb_time : float
        From liftoff to apogee [s].
    opened : mapping
        Parachutes that are fired before the touchdown.
    unlit : tuple of str
        Engines with a booster that are never lit.
    touchdown, slowest : float
        Speed at the touchdown, and that by all open canopies [m/s].
    """

    apogee: float
    climb_time: float
    opened: frozenset[str]
    unlit: tuple[str, ...]
    touchdown: float
    slowest: float


class _Burn:
    """Thrust and propellant of one booster."""

    def __init__(self, curve: str, most: float, rate: float, held: float, delay: float) -> None:
        self._curve = parse_curve(curve) if curve else None
        self.most, self.held, self._rate, self._delay = most, held, rate, delay
        self.lit_at = math.inf
        self.burnt = 0.0

    def thrust(self, time: float, step: float) -> float:
        """Return the thrust at a time [N], and burn what a step takes of the propellant."""
        since = time - self.lit_at - self._delay
        is_burning = since >= 0.0 and self.burnt < self.held
        thrust = self.most if is_burning else 0.0
        if is_burning and self._curve is not None:
            thrust = float(np.interp(since, *self._curve, right=0.0))
        self.burnt += step * self._rate * thrust / max(self.most, LEAST)
        return thrust


def straight_flight(
    robot: RobotLayout, config: Any, lockout: float
) -> StraightFlight | None:
    """Fly a robot and its flight configuration, of which no apogee is believed in the lockout [s].

    None where the flight is not known, as with engines that are throttled or land.
    """
    from propulsion_ros.flight.events.events import EventEngine
    from propulsion_ros.flight.events.variables import Variables
    from propulsion_ros.rml.config import with_limits

    burns = dict[str, _Burn]()
    for group in robot.groups:
        rows = actuators(robot, group)
        curves = getattr(group.params, 'thrust_curve', None) or [''] * len(rows.names)
        burns |= {name: _Burn(curves[i], float(group.layout.highest[i]), float(rows.rate[i]), (
            math.inf if curves[i] else float(rows.lasts[i] * rows.rate[i])
        ), float(np.nan_to_num(rows.ignition_delay)[i])) for i, name in enumerate(rows.names)}
    engines = [burns[each.booster] for each in config.engines if each.booster in burns]
    params, numbers = robot.params, [burn.held + burn.most for burn in burns.values()]
    way = np.sum([np.zeros(3), *(group.pushes.sum(axis=0) for group in robot.groups)], axis=0)
    lands = any(event.ignites and event.lands for event in config.events)
    is_plain = params.starts_on_ground and not (config.controllers or lands or params.fluid_density)
    is_known = len(engines) == len(config.engines) and not np.isnan(numbers).any()
    if not (is_plain and is_known and way.any()):
        return None
    area = float(params.drag_area @ np.abs(way / np.linalg.norm(way)))
    air, canopies = Air(params.temperature_offset, params.drag_over_mach), Parachutes(
        robot.parachutes)
    events, opened = EventEngine(with_limits(config)), set[str]()
    time = height = climb = apogee = 0.0
    liftoff = over = top = math.inf
    while time < _LONGEST and (height > 0.0 or climb >= 0.0):
        is_over, is_up = time >= over, time >= liftoff
        step, at = (_STEP, 2.0 * _STEP)[top < time], round(1e9 * time)
        thrust = sum(burn.thrust(time, step) for burn in burns.values())
        words = {'recovery', 'descent'} if is_over else {'flight', 'boost' if thrust else 'coast'}
        for fired in events.update(Variables(
            at, (0.0, 0.0, -height), (0.0, 0.0, -climb), (0.0, 0.0, 0.0), 0,
            round(1e9 * liftoff) if is_up else None, round(1e9 * over) if is_over else None,
            events.time_since, tilt=0.0, continuity=lambda channel: True,
            words=frozenset(words if is_up else {'launch'}),
        ), at):
            for action in fired.actions:
                if action.kind == 'engine':
                    burn = engines[action.target]
                    burn.lit_at = min(burn.lit_at, time if action.ignites else math.inf)
                    burn.held = burn.held if action.ignites else min(burn.held, burn.burnt)
                elif action.deploys:
                    name = config.deployers[action.target].name
                    opened |= {name}
                    if name in robot.parachutes.names:
                        canopies.fire(name, at)
        density, sound = air.at(params.site_altitude + height)
        mass = robot.body.mass - sum(burn.burnt for burn in burns.values())
        drag = area * air.factor(abs(climb) / sound) + canopies.drag_area(at)
        push = thrust / mass - params.gravity
        liftoff = min(liftoff, time if push > 0.0 else math.inf)
        if liftoff < math.inf:
            # Implicit in the drag, which a canopy that opens makes large.
            drop = 1.0 + step * 0.5 * density * drag / mass * abs(climb)
            climb = (climb + step * push) / drop
            height += step * climb
            top = min(top, time if climb <= 0.0 else math.inf)
            over = max(top, liftoff + lockout)
        elif time > _WAIT:
            return None
        apogee, time = max(apogee, height), time + step
    steady = 0.5 * density * max(area + float(robot.parachutes.drag_area.sum()), LEAST)
    return StraightFlight(
        apogee, top - liftoff, frozenset(opened),
        tuple(each.name for each, burn in zip(config.engines, engines, strict=True)
              if burn.lit_at == math.inf), -climb,
        math.sqrt(mass * params.gravity / steady),
    )
