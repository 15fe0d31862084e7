# SPDX-License-Identifier: Apache-2.0
"""A flight straight up and down of a rocket with its flight computer, by which `check` judges both.

Lean, wind and lift are left out, so that it climbs a little higher and longer than in the air.
"""
from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from propulsion_ros.flight.events.events import EventEngine, EventSpec
from propulsion_ros.flight.events.variables import Variables
from propulsion_ros.graph.robot_layout import Group, RobotLayout
from propulsion_ros.models.body.rigid_body import Air
from propulsion_ros.models.body.simulated_body import Parachutes
from propulsion_ros.models.common.family import BodyState, Command, TankState
from propulsion_ros.rml.config import FlightConfig, with_limits

_STEP = 0.05  # of the climb, and half of that of the descent [s]
_WAIT, _LONGEST = 60.0, 3600.0  # longest time to the liftoff, and of a flight [s]


class StraightFlight(NamedTuple):
    """What a flight straight up and down gives."""

    apogee: float
    climb_time: float
    """Height above the pad [m], and time from liftoff to it [s]."""
    opened: dict[str, tuple[EventSpec, float]]
    """Event that fires a deployer before the touchdown, and upward speed [m/s] at that."""
    unlit: list[str]
    """Engines that are never lit."""
    touchdown: float
    slowest: float
    """Speed at the touchdown, and that by all open canopies [m/s]."""


def straight_flight(
    robot: RobotLayout, config: FlightConfig, lockout: float
) -> StraightFlight | None:
    """Fly a robot and its flight configuration, of which no apogee is believed in the lockout [s].

    None where the flight is not known, as with engines that are throttled or land.
    """
    burning, params = robot.engines, robot.params
    lands = any(event.ignites and event.lands for event in config.events)
    is_plain = params.starts_on_ground and not (config.controllers or lands or params.fluid_density)
    if len(burning) != 1 or not (is_plain and robot.propellant and burning[0].pushes.any()):
        return None
    engines = {each.booster for each in config.engines}
    if not engines or engines - {*burning[0].layout.names}:
        return None
    return _Rocket(robot, burning[0], config, lockout).fly()


class _Rocket:
    """A rocket on its way up and down, with the engine of its events."""

    def __init__(
        self, robot: RobotLayout, boosters: Group, config: FlightConfig, lockout: float
    ) -> None:
        self._robot, self._config, self._lockout = robot, config, lockout
        self._family, self._names = boosters.family, list(boosters.layout.names)
        self._family.reset()
        self._efforts = np.full(len(self._family.command_names), np.nan)
        self._efforts[:len(self._names)] = 0.0
        push = boosters.pushes.sum(axis=0)
        params = robot.params
        self._area = float(params.drag_area @ np.abs(push / np.linalg.norm(push)))
        self._air = Air(params.temperature_offset, params.drag_over_mach)
        self._canopies = Parachutes(robot.parachutes)
        self._events = EventEngine(with_limits(config))
        self._opened, self._lit = dict[str, tuple[EventSpec, float]](), set[int]()
        self._time = self._height = self._climb = self._thrust = self._gain = 0.0
        self._mass = robot.body.mass
        # What other groups hold stays.
        self._rest = self._mass - _held(getattr(self._family, 'tank_state', None))
        # Times of the liftoff, of the top, and from which the apogee is believed.
        self._liftoff = self._top = self._over = math.inf

    def fly(self) -> StraightFlight | None:
        """Fly to the ground; return None if it never leaves it, or never stops to climb."""
        apogee = 0.0
        while self._time < _LONGEST and (self._height > 0.0 or self._climb >= 0.0):
            if self._liftoff == math.inf and self._time > _WAIT:
                break
            self._act()
            step = _STEP if self._time < self._top else 2.0 * _STEP
            if self._time < self._over:
                self._burn(step)
            else:
                self._thrust = 0.0
            self._move(step)
            apogee, self._time = max(apogee, self._height), self._time + step
        self._family.reset()
        if not self._liftoff < self._top < math.inf:
            return None
        robot = self._robot
        density, _ = self._air.at(robot.params.site_altitude + self._height)
        most = 0.5 * density / self._mass * (self._area + float(robot.parachutes.drag_area.sum()))
        return StraightFlight(
            apogee, self._top - self._liftoff, self._opened,
            [each.name for each in self._config.engines if each.id not in self._lit], -self._climb,
            math.sqrt(robot.params.gravity / most) if most else math.inf,
        )

    def _act(self) -> None:
        """Light engines and fire deployers as events demand."""
        is_up, is_over = self._time >= self._liftoff, self._time >= self._over
        words = {'launch'}
        if is_over:
            words = {'recovery', 'descent'}
        elif is_up:
            words = {'flight', 'boost' if self._thrust else 'coast'}
        now_ns = round(1e9 * self._time)
        # It comes down with its nose ahead.
        tilt = math.pi * (self._time >= self._top)
        config, variables = self._config, Variables(
            now_ns, (0.0, 0.0, -self._height), (0.0, 0.0, -self._climb), (0.0, 0.0, -self._gain), 0,
            round(1e9 * self._liftoff) if is_up else None,
            round(1e9 * self._over) if is_over else None, self._events.time_since,
            (0.0, 0.5 * math.pi - tilt, 0.0), tilt=tilt,
            continuity=lambda channel: True, words=frozenset(words),
        )
        for fired, action in ((event, each) for event in self._events.update(variables, now_ns)
                              for each in event.actions):
            if action.kind == 'engine':
                engine = config.engines[action.target]
                self._efforts[self._names.index(engine.booster)] = engine.thrust * action.ignites
                self._lit |= {action.target} if action.ignites else set()
            elif action.deploys:
                name = config.deployers[action.target].name
                self._opened.setdefault(name, (config.events[fired.id], self._climb))
                if name in self._robot.parachutes.names:
                    self._canopies.fire(name, now_ns)

    def _burn(self, step: float) -> None:
        """Step the boosters; the mass is then that of what is left."""
        made = self._family.step(
            Command(effort=self._efforts), BodyState(height=np.asarray(self._height)), step, 0)
        self._thrust = float(np.linalg.norm(made.wrench[:3]))
        self._mass = self._rest + _held(made.tanks)

    def _move(self, step: float) -> None:
        """Move up or down by thrust, weight and drag."""
        params, now = self._robot.params, self._time
        density, sound = self._air.at(params.site_altitude + self._height)
        area = self._area * self._air.factor(abs(self._climb) / sound)
        area += self._canopies.drag_area(round(1e9 * now))
        push = self._thrust / self._mass - params.gravity
        if push > 0.0:
            self._liftoff = min(self._liftoff, now)
        if self._liftoff == math.inf:
            return
        # Implicit in the drag, which a canopy that opens makes large.
        drag = 0.5 * density / self._mass * area
        before = self._climb
        self._climb = (before + step * push) / (1.0 + step * drag * abs(before))
        self._gain = (self._climb - before) / step
        self._height += step * self._climb
        if self._climb <= 0.0:
            self._top = min(self._top, now)
        self._over = max(self._top, self._liftoff + self._lockout)


def _held(tanks: TankState | None) -> float:
    return float(tanks.mass.sum()) if tanks else 0.0
