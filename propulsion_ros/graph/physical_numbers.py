# SPDX-License-Identifier: Apache-2.0
"""Engineering numbers that are comparable for robots of any size, such as a figure of merit.

`doubts` has their usual ranges with sources; `robot_numbers` has the numbers of a robot that need
no physics.
"""
from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from propulsion_ros.graph import robot_numbers as n
from propulsion_ros.graph.actuator_numbers import (
    LEAST,
    NO_LIMIT,
    Number,
    Rows,
    actuators,
    fluid_of,
    is_in_air,
    is_in_liquid,
    is_spun,
    stores_of,
)
from propulsion_ros.graph.robot_layout import Group, RobotLayout
from propulsion_ros.models.body.mass import MassProperties
from propulsion_ros.models.body.rigid_body import LIQUID, unit_axis
from propulsion_ros.models.common.atmosphere import density
from propulsion_ros.models.common.esc import esc_of
from propulsion_ros.models.common.facts import LIFT
from propulsion_ros.models.common.family import BodyState, Command
from propulsion_ros.models.common.rotation import matrix_of_rpy
from propulsion_ros.models.steering.steered import SteeredFamily
from propulsion_ros.settings.hints import by_opening
from propulsion_ros.settings.quantity import FloatArray
from propulsion_ros.urdf.xml import path_step

_USUAL_AIR, _USUAL_WATER = 0.01, 0.035
"""Usual thrust over density, disk and squared tip speed, for rotors without a radius."""
_STALL = 0.3  # angle of attack at which plates stall [rad]
_WITH_DENSITY = ('propeller', 'four_quadrant')
"""Curves of thrusters that depend on the density."""
_SPEED = 10.0  # speed of a flow for a test of stability [m/s]
_FLOW = 0.02  # angle of that flow to the side [rad]
_ASKEW = 0.5  # with a smaller component, an axis is across the mean chord
_UPRIGHT = 0.99  # a rotor with a larger upward component lifts
_STRAIGHT = 0.9  # unit vectors whose mean is longer go one way
_FLAT = 0.3  # least size of a box along any axis, over its diagonal
_ACROSS = 0.5 * math.pi  # deflection at which a force is across its first direction [rad]
_LARGEST_SWING = 0.8  # largest deflection of engines, that of verniers [rad]
_USUAL_SWING = 0.175  # usual deflection of engines in flight [rad]
_HELD_BY_FINS = 8.0  # least speed at which fins stabilize a rocket [m/s]; 15 is advised
_GAS = 8.314462618  # molar gas constant [J/(mol K)]


IN_STREAM = {
    'rotor_drag_coefficient': 1, 'inflow_coefficient': 1, 'translational_lift_coefficient': 0,
    'rolling_moment_coefficient': 1, 'flapping_moment_coefficient': 1,
}
"""Coefficients of rotors in moving air, and the power of the rotor speed in their forces."""


def _has(params: Any, *keys: str) -> bool:
    """Whether a configuration, which may be that of another package, has all of some fields."""
    return all(hasattr(params, key) for key in keys)


# Rotors and propellers.


@functools.lru_cache(maxsize=8)
def spinning(robot: RobotLayout, group: Group) -> Rows:
    """Return the numbers of rotors and propellers at their largest thrust.

    A radius that is not given follows from a usual thrust coefficient, by its fourth root: tip
    speed and figure of merit are then right within a factor of about 1.5.
    """
    params, count = group.params, len(group.layout.names)
    if not is_spun(group):
        return Rows((), None)
    in_liquid = is_in_liquid(group)
    fluid = float(np.max(getattr(params, 'fluid_density', 0.0))) if in_liquid else fluid_of(robot)
    thrust, speed = np.abs(group.layout.highest), group.speeds
    given = np.broadcast_to(np.maximum(
        np.asarray(getattr(params, 'rotor_radius', 0.0)),
        0.5 * np.asarray(getattr(params, 'propeller_diameter', 0.0)),
    ), count)
    usual = _USUAL_WATER if in_liquid else _USUAL_AIR
    with np.errstate(divide='ignore', invalid='ignore'):
        by_load = (thrust / (usual * fluid * math.pi * speed**2)) ** 0.25
        radius = np.where(given > 0.0, given, by_load)
        disk = fluid * math.pi * radius**2
        moment = np.asarray(getattr(params, 'moment_constant', 0.0)) * thrust
        ideal = thrust**1.5 / np.sqrt(2.0 * disk)
        merit = np.where(moment > 0.0, ideal / (moment * speed), np.nan)
        drawn = np.asarray(getattr(params, 'power_constant', 0.0)) * thrust**1.5
        overall = np.where(drawn > 0.0, ideal / drawn, np.nan)
        load = np.where(given > 0.0, thrust / (disk * (radius * speed) ** 2), np.nan)
        # A moment counts by its force at the tip.
        by = {f'by_{key}': np.abs(getattr(params, key, 0.0)) * speed**power / (
            radius if 'moment' in key else 1.0) for key, power in IN_STREAM.items()}
        tip = radius * speed
    # A rotor does not turn as hard as the robot.
    whole = np.fmin(10.0 * max(robot.body.moments), robot.body.mass * radius**2) if (
        robot.body.is_solid) else np.nan
    return Rows(
        group.layout.names, params, load=load, tip_in_air=np.nan if in_liquid else tip,
        tip_in_liquid=tip if in_liquid else np.nan,
        speed_in_liquid=np.where(in_liquid & (given == 0.0), speed, np.nan),
        merit=merit, overall=overall, ideal=np.where(given > 0.0, 1.0, 1.5),
        thrust=thrust, whole=whole, **by,
    )


@functools.lru_cache(maxsize=8)
def ends(robot: RobotLayout, group: Group) -> Rows:
    """Return the largest thrusts of actuators both ways, and related numbers, (n,).

    ``forth`` and ``reverse`` are the thrusts, ``limit`` is the given limit of the first [N]. For a
    table ``fastest`` is its last speed, ``asked`` the largest commanded speed [rad/s], and
    ``disorder`` the number of its speeds that do not rise. ``full`` is the output of a curve at a
    throttle of 1, ``neutral`` at 0, or at 0.5 of one that pushes both ways, ``needed`` the output
    that the limit needs [N or rad/s], and ``cut`` the throttle for it, 1 if it is near. ``resting``
    is the thrust of a curve over the speed at rest [N].
    """
    layout, params = group.layout, group.params
    if not (is_spun(group) and group.has_thrusts):
        return Rows((), None)
    limits = np.asarray(getattr(params, 'max_thrust', NO_LIMIT))
    found = dict.fromkeys(('limit', 'least'), np.where(limits < NO_LIMIT, limits, np.nan))
    tables = [
        params.table(i) if kind == 'linear_interp' else None
        for i, kind in enumerate(getattr(params, 'conversion', ()))
        if _has(params, 'table', 'input_values', 'min_command', 'max_command', 'gain')
    ]
    if any(tables):
        rows = np.array([
            (np.abs(t.speeds).max(), _disorder(params.input_values[i])) if t else (np.nan,) * 2
            for i, t in enumerate(tables)
        ])
        found.update(zip(('fastest', 'disorder'), rows.T, strict=True))
        asked = np.abs(params.gain) * np.maximum(params.max_command, -params.min_command)
        # A table in kgf ends at a tenth of the limit, so tables have a higher least share.
        found['least'] = found['limit'] * np.where([*map(bool, tables)], 0.12 / 0.05, 1.0)
        found['asked'] = np.where(asked < NO_LIMIT, asked, np.nan)
    if esc := esc_of(params) if _has(params, 'esc_curve') else None:
        middle = np.where(esc.demand(np.zeros(len(layout.names))) < 0.0, 0.5, 0.0)
        # A speed at throttle 0 is that of idling.
        found['neutral'] = np.where(params.esc_gives == 'speed', 0.0, np.abs(esc.demand(middle)))
        constant = getattr(params, 'motor_constant', np.nan) if params.esc_gives == 'speed' else 1.0
        found['full'] = esc.demand(np.ones(len(layout.names)))
        found['needed'] = (found['limit'] / constant) ** (0.5 if params.esc_gives == 'speed' else 1)
        # Speeds that are thrusts make none.
        found['least'] = np.where(found['full'] < 0.1 * found['needed'], np.nan, found['least'])
        # What is beyond may be in another unit.
        cut = (found['full'] > 1.1 * found['needed']) & (found['full'] <= 2.5 * found['needed'])
        found['cut'] = np.where(cut, esc.throttle(found['needed']), 1.0)
    if _has(params, 'thrust_at'):
        found['resting'] = params.thrust_at(np.zeros(len(layout.names)))
    return Rows(
        layout.names, params, reverse=np.maximum(-layout.lowest, 0.0),
        forth=np.where(layout.highest > 0.0, layout.highest, np.nan), **found,
    )


def _disorder(text: str) -> int:
    speeds = np.array(text.replace(',', ' ').split(), dtype=float)
    return int(min((np.diff(way) <= 0.0).sum() for way in (speeds, speeds[::-1])))


# Joints, gimbals and fins.


def travels(robot: RobotLayout) -> Iterator[Number]:
    """Yield the travel of each joint that turns an actuator [deg]."""
    for number, low, high, _ in _turning(robot):
        yield dataclasses.replace(number, value=math.degrees(high - low))


def crossings(robot: RobotLayout) -> Iterator[Number]:
    """Yield how long each joint takes from one end to the other at its largest rate [s]."""
    for number, low, high, rate in _turning(robot):
        # `travels` reports a smaller travel.
        if rate > 0.0 and math.radians(2.0) < high - low < NO_LIMIT:
            key = f'{number.key.rpartition(".")[0]}.rate_limit'.lstrip('.')
            index = (number.index or 0) // (2 if key.startswith('gimbals') else 1)
            way = min(high - low, 2.0 * math.pi)
            yield dataclasses.replace(number, key=key, value=way / rate, index=index)


def deflections(robot: RobotLayout) -> Iterator[Number]:
    """Yield the largest deflection of a thrust or flow [rad], over that of its joint.

    Beyond a right angle it would push backwards, and so would its joint; engines swing by less.
    """
    groups = {group.name: group for group in robot.groups}
    for number, low, high, _ in _turning(robot):
        prefix, size, i = number.key[:number.key.rfind('.') + 1], max(-low, high), number.index or 0
        if prefix == 'steering.':
            continue
        joint = next(iter(groups[number.block].joints.get(prefix, ())[i:i + 1]), None)
        end = max(map(abs, joint.limits)) if joint and joint.limits else math.inf
        yield dataclasses.replace(
            number, value=size, of=min(end, _LARGEST_SWING if prefix == 'gimbals.' else _ACROSS),
            remedy='write the same as in <limit> of its joint' if end < size else '',
        )
        if joint and size < end < math.inf:
            yield Number(f'{joint.path}/limit/@upper', end, f'{joint.name} ', _ACROSS)


def _turning(robot: RobotLayout) -> Iterator[tuple[Number, float, float, float]]:
    """Yield each joint with its limits [rad] and its largest rate [rad/s], 0 for no limit."""
    for group in robot.groups:
        params, family, rows = group.params, group.family, list[tuple[Any, ...]]()
        if isinstance(family, SteeredFamily):
            rates = np.nan_to_num(family.joint_rates, posinf=0.0)
            rows.append(('steering.upper', family.joint_names, *family.joint_limits, rates))
        if gimbals := getattr(params, 'gimbals', None):
            axes = [f'axis {k} of the gimbal of {name}' for name in gimbals.booster for k in (1, 2)]
            high, back = gimbals.range.ravel(), gimbals.negative_range.ravel()
            low = -np.where(back < 0.0, high, back)
            rows.append(('gimbals.range', axes, low, high, np.repeat(gimbals.rate_limit, 2)))
        if _has(params, 'names', 'min_deflection', 'max_deflection', 'rate_limit'):
            rows.append(('max_deflection', params.names, params.min_deflection,
                         params.max_deflection, params.rate_limit))
        for key, names, *columns in rows:
            for i, (name, low, high, rate) in enumerate(zip(names, *columns, strict=True)):
                number = Number(key, 0.0, f'{name} ', 1.0, i, group.name)
                yield number, float(low), float(high), float(rate)


@functools.lru_cache(maxsize=8)
def sections(robot: RobotLayout, group: Group) -> Rows:
    """Return the coefficients of fins with a stall, for their planform area, (k,)."""
    lines: Any = getattr(group.params, 'two_lines', None)
    if not lines:
        return Rows((), None)
    drag = lines.zero_lift_drag + lines.drag_slope * lines.stall_angle
    lift = lines.lift_slope * lines.stall_angle
    return Rows(
        lines.fin, lines, lift=lift, drag=drag, glide=lift / np.maximum(drag, LEAST),
        broadside=drag + lines.stalled_drag_slope * (0.5 * math.pi - lines.stall_angle),
        size=max(size_of(robot), LEAST) ** 2 if size_of(robot) else np.nan,
    )


@functools.lru_cache(maxsize=8)
def plates(robot: RobotLayout, group: Group) -> Rows:
    """Return lift over drag of fins without a stall, at a usual angle of stall, (k,)."""
    fins: Any = getattr(group.params, 'quadratic', None)
    if not fins:
        return Rows((), None)
    drag = fins.drag_constant * _STALL
    return Rows(fins.fin, fins, glide=fins.lift_constant / np.maximum(drag, LEAST) if (
        drag.any() or not fins.lift_constant.all()) else np.nan)


def fluids(robot: RobotLayout) -> Iterator[Number]:
    """Yield the density of the fluid of each part [kg/m^3], over that of the robot."""
    body = robot.params
    known = body.fluid_density or (fluid_of(robot) if body.displaced_volume else 0.0)
    height = robot.afloat[0] if robot.afloat else math.inf
    for group in robot.groups:
        for key in ('', 'two_lines.', 'lifting_surface.'):
            part: Any = group.params if not key else getattr(group.params, key[:-1], None)
            densities = np.atleast_1d(getattr(part, 'fluid_density', ()))
            named = (part.fin if key else part.names) if len(densities) else ()
            for i, each in enumerate(densities):
                place = group.layout.position[group.layout.names.index(named[i])]
                # A floating robot may also have sails and rudders above the water.
                if body.hulls.names and 0.0 < float(each) < LIQUID and place[2] + height > 0.0:
                    continue
                # Other curves of thrusters have no density.
                if key or getattr(part, 'conversion', named)[i] in _WITH_DENSITY:
                    yield Number(f'{key}fluid_density', float(each), f'{named[i]} ',
                                 known or float(each) or 1.0, i, group.name)


def margins(robot: RobotLayout) -> Iterator[Number]:
    """Yield how far the lift of fins is ahead of the centre of mass [m], over the size.

    That is torque over force in a flow that comes a little from either side.
    """
    groups, ahead, found = _lifting(robot)
    most = max((force for force, *_ in found), default=0.0)
    for force, arm, k in found:
        if force > 0.1 * most and np.linalg.norm(ahead) > _STRAIGHT:
            i = int(np.argmax(groups[0].layout.position @ ahead))
            remedy = 'a chord along -x points astern; see <chord>, and rpy of the joint'
            yield Number('position', arm, f'all lift along {"xyz"[k]} together ', size_of(robot),
                         3 * i, groups[0].name, remedy if ahead[0] < -_STRAIGHT else '')


def _lifting(robot: RobotLayout) -> tuple[list[Group], FloatArray, list[tuple[float, float, int]]]:
    """Return the groups of fins, their mean chord, and their lift in a flow a little from a side.

    Of each side that is the force against it [N], how far ahead it acts [m], and the axis.
    """
    groups = [group for group in robot.groups
              if group.family.facts.force == LIFT and _has(group.params, 'chord')]
    chords = np.vstack([np.zeros((0, 3)), *(group.params.chord for group in groups)])
    found = list[tuple[float, float, int]]()
    if not robot.body.mass or not len(chords):
        return groups, np.zeros(3), found
    ahead = (chords / np.linalg.norm(chords, axis=1, keepdims=True)).mean(axis=0)
    for k in np.flatnonzero(np.abs(ahead) < _ASKEW).tolist():
        side = np.eye(3)[k]
        wrench = np.sum([way * _in_flow(group.family, ahead + way * _FLOW * side)
                         for group in groups for way in (1.0, -1.0)], axis=0)
        torque = wrench[3:] - np.cross(robot.body.com, wrench[:3])
        # A force against the flow counts as positive.
        force = float(-wrench[k])
        found.append((force, -float(torque @ np.cross(ahead, side)) / max(force, LEAST), k))
    return groups, ahead, found


def lifts(robot: RobotLayout) -> Iterator[Number]:
    """Yield the lift of the fins of a submerged robot to each side [N], over its drag.

    Where they lift hardly, it counts only if nothing else turns the robot about that axis.
    """
    groups, ahead, found = _lifting(robot)
    area, made = float(robot.params.drag_area @ np.abs(ahead)), robot.largest
    least, most = made[:3].max() * size_of(robot), max((force for force, *_ in found), default=0.0)
    # More drag along itself than across is another mistake.
    is_meant = 0.0 < area <= robot.params.drag_area.min() and _is_submerged(robot)
    for force, _, k in found if is_meant else ():
        turn = made[3:] @ np.abs(np.cross(ahead, np.eye(3)[k]))
        if force > 0.1 * most or turn < 0.05 * least:
            yield Number('two_lines.area or lifting_surface.span_length or quadratic.lift_constant',
                         0.5 * _STALL / _FLOW * force,
                         f'along {"xyz"[k]}, at {_SPEED:g} m/s, {groups[0].name} ',
                         0.5 * robot.params.fluid_density * _SPEED**2 * area, 0, groups[0].name)


def pressed(robot: RobotLayout) -> Iterator[Number]:
    """Yield how far the drag is ahead of the centre of mass, for engines without a gimbal.

    Without drag across its way, no side force acts there.
    """
    params, way, side = robot.params, *_climb(robot)
    if side and params.centre_of_pressure.any():
        arm = (params.centre_of_pressure - robot.body.com) @ way
        yield Number('body.centre_of_pressure', float(arm), 'the centre of pressure ',
                     size_of(robot), int(np.argmax(np.abs(way))),
                     remedy='it turns round; is that of the mass right?')


def restoring(robot: RobotLayout) -> Iterator[Number]:
    """Yield 0 for a rocket whose side force is not given, or not where that acts."""
    params, way, side = robot.params, *_climb(robot)
    is_placed = bool(params.centre_of_pressure.any())
    # Of a rocket without any drag, `undragged` has the line.
    is_meant = params.drag_area.any() if params.rail_length else is_placed
    if way.any() and is_meant and not (side and is_placed):
        what = 'body.centre_of_pressure' if side else 'body.drag_area'
        yield Number(what, 0.0, f'without {what}{"" if side else " across its way"} it ')


def _climb(robot: RobotLayout) -> tuple[FloatArray, float]:
    """Return where engines alone, without gimbals, push from the ground, and the drag area across.

    The direction is 0 for other robots; that area [m^2] is the slope of the side force.
    """
    if not (robot.body.mass and n.is_unsteered(robot) and robot.params.starts_on_ground):
        return np.zeros(3), 0.0
    way = np.vstack([each.pushes for each in robot.groups]).sum(axis=0)
    across = np.delete(robot.params.drag_area, np.argmax(np.abs(way))).min()
    return way / max(np.linalg.norm(way), LEAST), float(across)


def flight_rows(robot: RobotLayout) -> Iterator[tuple[str, str]]:
    """Yield static margin, impulse and burn time of what engines push, in words."""
    engines = robot.engines
    way = np.sum([np.zeros(3), *(group.pushes.sum(axis=0) for group in engines)], axis=0)
    if not way.any():
        return
    way /= np.linalg.norm(way)
    shapes = _shown(robot)[2].reshape(-1, 8, 3) if robot.links else np.zeros((0, 8, 3))
    longest = max(shapes, key=lambda shape: np.ptp(shape @ way), default=np.zeros((1, 3)))
    across = np.ptp(longest - np.outer(longest @ way, way), axis=0)
    wide = float(np.sort(across)[1])
    unit = f'calibers of {wide:.3g} m' if wide else 'm'
    dry = dataclasses.replace(robot, body=MassProperties.total(list(robot.links.values())))
    margin = ', '.join(
        f'{-max(arms) / (wide or 1.0):.3g} {unit} {state}'
        for state, each in (('full', robot), *([('empty', dry)] * bool(robot.propellant)))
        if (arms := [number.value for number in (*pressed(each), *margins(each))])
    )
    if margin:
        is_all = len(engines) == len(robot.groups)
        yield 'static margin', margin + ('' if is_all else ', of its surfaces alone')
    for group in engines:
        rows = actuators(robot, group)
        burnt = np.where(np.isnan(rows.burns), rows.lasts * rows.rate, rows.burns)
        for name, impulse, lasts in zip(
            rows.names, burnt / rows.rate * group.layout.highest, rows.lasts, strict=True
        ):
            if np.isfinite(impulse):
                yield f'impulse of {name}', f'{impulse:.4g} N s, burns for {lasts:.3g} s'


def _in_flow(family: Any, velocity: FloatArray) -> FloatArray:
    """Return the wrench of a family at rest in a flow, (6,)."""
    wrench: FloatArray = family.step(Command(), BodyState(_SPEED * velocity), 1e-3, 0).wrench
    family.reset()
    return wrench


def planforms(robot: RobotLayout) -> Iterator[Number]:
    """Yield chord and span of lifting surfaces, and sizes of hulls [m], over shapes of links."""
    names, corners = robot.params.hulls.names, _shown(robot)[2]
    if len(names) == 1 and len(corners) and not robot.params.hulls.rpy.any():
        for k, size in enumerate(robot.params.hulls.size[0].tolist()):
            yield Number('body.hulls.size', size, f'along {"xyz"[k]} the hull ',
                         float(np.ptp(corners[:, k])), k,
                         remedy='are two lengths swapped, or is body.hulls.rpy missing?')
    for group in robot.groups:
        surface: Any = getattr(group.params, 'lifting_surface', None)
        for i, fin in enumerate(surface.fin if surface else ()):
            k = group.params.names.index(fin)
            path = f'robot/{path_step("link", group.params.link[k])}/inertial'
            corners = robot.corners.get(path, np.zeros((8, 3)))
            ways = np.stack([group.params.chord[k], group.params.span[k]])
            ways /= np.linalg.norm(ways, axis=1, keepdims=True)
            shape = np.ptp(corners @ np.vstack([ways, np.cross(*ways)]).T, axis=0)
            # Only a thin shape is that of a wing, and not, say, that of a hull.
            for key, size in zip(('chord_length', 'span_length'), shape, strict=False):
                if shape[2] < 0.3 * min(shape[:2]):
                    yield Number(f'lifting_surface.{key}', float(getattr(surface, key)[i]),
                                 f'{key} of {fin} ', float(size), i, group.name)


def headings(robot: RobotLayout) -> Iterator[Number]:
    """Yield the angle of the chord of each fin to the thrust that drives the robot [deg].

    Only a thrust counts that is mostly in one direction, and not upwards: fins of a robot that
    lands on its engine meet the flow from behind. Joints may turn the thrust. A thrust along -x
    alone is itself the wrong way round, unless fins are too.
    """
    drives = [way for share in (0.0, 0.25, 0.5, 0.75, 1.0) if (way := _drive(robot, share)).any()]
    found = list[Number]()
    for group in robot.groups if drives else ():
        chords = getattr(group.params, 'chord', np.zeros((0, 3)))
        for i, chord in enumerate(chords / np.linalg.norm(chords, axis=1, keepdims=True)):
            angle = math.degrees(math.acos(np.clip((drives @ chord).max(), -1.0, 1.0)))
            who = f'the leading edge of {group.layout.names[i]} '
            found.append(Number('chord', angle, who, 1.0, 3 * i, group.name))
    is_astern = max((way[0] for way in drives), default=0.0) < -_STRAIGHT
    if is_astern and all(each.value > 90.0 for each in found):
        group = min(robot.pushing, key=lambda each: float(each.matrix[0].min()))
        found = [Number('axis', 180.0, 'x, which is ahead, ', 1.0,
                        3 * int(np.argmin(group.matrix[0])), group.name,
                        'turn <axis> of what pushes, or of its joint, round')]
    yield from found


def _drive(robot: RobotLayout, share: float) -> FloatArray:
    """Return the direction that drives a robot, with joints at a share of their range, (3,).

    0 if the thrusts go several ways, or up. Rotors that lift beside others do not drive.
    """
    forces, lifts = np.zeros((0, 3)), list[bool]()
    for group in robot.pushing:
        matrix = group.matrix
        if family := group.steered:
            low, high = np.clip(family.joint_limits, -math.pi, math.pi)
            matrix = family.carried(matrix, low + share * (high - low))
        high, low = (np.nan_to_num(end) for end in (group.layout.highest, group.layout.lowest))
        push = np.maximum(high, 0.0) - np.maximum(-low, 0.0)
        forces = np.vstack([forces, (push * matrix[:3]).T])
        lifts += (is_in_air(group) & (np.abs(matrix[2]) > _UPRIGHT)).tolist()
    forces = forces[~np.array(lifts)] if lifts and not all(lifts) else forces
    total = forces.sum(axis=0)
    size = float(np.linalg.norm(total))
    is_one = size > 0.9 * float(np.linalg.norm(forces, axis=1).sum())
    return total / size if is_one and size and abs(total[2]) <= 0.5 * size else np.zeros(3)


# Tanks and engines.


@functools.lru_cache(maxsize=8)
def contents(robot: RobotLayout, group: Group) -> Rows:
    """Return the numbers of propellants, from the ellipsoid with their mass and inertia, (m,).

    ``molar`` is the molar mass of a gas with that density at its pressure and temperature
    [kg/mol], ``density`` that of a liquid or solid [kg/m^3]. ``largest`` is the largest moment and
    ``others`` the sum of the others [kg m^2].
    """
    tanks: Any = getattr(group.params, 'tanks', None)
    if not (tanks and _has(tanks, 'inertia', 'capacity')):
        return Rows((), None)
    own = tanks.inertia
    with np.errstate(divide='ignore', invalid='ignore'):
        squares = 2.5 * (own.sum(axis=1, keepdims=True) - 2.0 * own) / tanks.capacity[:, None]
        volume = 4.0 / 3.0 * math.pi * np.sqrt(np.maximum(squares, 0.0)).prod(axis=1)
        dense = np.where(volume > 0.0, tanks.capacity / volume, np.nan)
    kinds = getattr(tanks, 'propellant', ('',) * len(tanks.names))
    is_gas = np.array([kind == 'gas' for kind in kinds], dtype=bool)
    radii, bores, tall, count = (np.asarray(getattr(tanks, f'grain_{key}', np.nan)) for key in (
        'outer_radius', 'inner_radius', 'length', 'count'))
    grains = np.maximum(count * tall * math.pi * (radii**2 - bores**2), LEAST)
    cast = np.where(radii > 0.0, tanks.capacity / grains, np.nan)
    molar = dense * _GAS * getattr(tanks, 'temperature', np.nan) / getattr(
        tanks, 'pressure', np.nan)
    return Rows(
        [f'tank {name!r}' for name in tanks.names], tanks, density=np.where(is_gas, np.nan, dense),
        molar=np.where(is_gas, molar, np.nan), cast=cast, largest=own.max(axis=1, initial=0.0),
        others=np.where(own.any(axis=1), own.sum(axis=1) - own.max(axis=1, initial=0.0), np.nan),
    )


@functools.lru_cache(maxsize=8)
def nozzles(robot: RobotLayout, group: Group) -> Rows:
    """Return the numbers of engines: thrust over the area of their exit [Pa], (n,)."""
    params, area = group.params, np.asarray(getattr(group.params, 'exit_area', np.nan))
    with np.errstate(divide='ignore', invalid='ignore'):
        flow = np.where(area > 0.0, group.layout.highest / area, np.nan)
    burns = _has(params, 'max_fuel_rate', 'min_thrust') and not any(
        getattr(params, 'thrust_curve', ())
    )
    return Rows(group.layout.names, params, flow=flow,
                lowest=params.min_thrust if burns else np.nan)


def liftoffs(robot: RobotLayout) -> Iterator[Number]:
    """Yield the largest upward force of engines that alone drive a robot, over its weight.

    The robot starts on the ground. With a rail but no gimbals, the engines must also accelerate it
    on the rail to the speed at which fins stabilize it.
    """
    weight, rail, remedy = robot.weight, robot.params.rail_length, ''
    driving = robot.pushing
    is_burning = all(group.burns for group in driving)
    if not (weight and driving and is_burning and robot.params.starts_on_ground):
        return
    pushes = np.vstack([group.pushes for group in driving])
    total, most = pushes.sum(axis=0), float(np.linalg.norm(pushes, axis=1).sum())
    up = float(total @ matrix_of_rpy(robot.params.start_rpy)[2])
    if rail and (along := float(total @ unit_axis(robot.params.rail_axis))) < 0.5 * most:
        yield Number('body.rail_axis', along, 'along its rail its engines push by ', weight,
                     remedy='give body.rail_axis along its nose')
        return
    if rail and not any(group.layout.angle_names for group in driving):
        weight += 0.5 * robot.body.mass * _HELD_BY_FINS**2 / rail
        remedy = f'N, kg and m? With less, it leaves its rail below {_HELD_BY_FINS:g} m/s'
    if up > 0.9 * most:
        yield Number('max_thrust', up, 'from the ground its engines push it up by ', weight, 0,
                     driving[0].name, remedy)


def leans(robot: RobotLayout) -> Iterator[Number]:
    """Yield the angle of a rail to the vertical [deg]."""
    axis, rpy = unit_axis(robot.params.rail_axis), robot.params.start_rpy.tolist()

    def lean(*rpy: float) -> float:
        return math.degrees(math.acos(min(matrix_of_rpy(np.array(rpy))[2] @ axis, 1.0)))

    if robot.params.rail_length:
        i = int(np.argmax(np.abs(rpy[:2])))
        turned = [math.radians(angle) if k == i else angle for k, angle in enumerate(rpy)]
        meant = f'if that is in degrees, write {turned[i]:.3g}'
        yield Number('body.start_rpy', lean(*rpy), f'start_rpy of {rpy[i]:.4g} rad ', index=i,
                     remedy=meant if lean(*turned) < lean(*rpy) else '')


# The body.


def size_of(robot: RobotLayout) -> float:
    """Return the reach of shapes, actuators and mass from the centre of mass [m]."""
    return float(np.linalg.norm(half_of(robot)))


@functools.lru_cache(maxsize=8)
def half_of(robot: RobotLayout) -> FloatArray:
    """Return the reach of shapes and actuators along each axis from the centre of mass [m]."""
    reach = np.abs(n.outline(robot) - robot.body.com).max(axis=0, initial=0.0)
    # A robot without shapes is as large as a box with its inertia, and none is a sheet.
    body = robot.body
    box = np.sqrt(3.0 * np.maximum(n.second_moments(body), 0.0)) if body.mass else np.zeros(3)
    least = max(n.radius_of_gyration(body), 0.1 * float(reach.max()))
    return np.asarray(np.maximum(np.maximum(reach, box), least))


def bulks(robot: RobotLayout) -> Iterator[Number]:
    """Yield the mass of the heaviest link over the volume of the boxes around its shapes [kg/m^3].

    The heaviest link may have the mass of other links too.
    """
    path, link, corners = _shown(robot)
    volume = sum(map(_volume, corners.reshape(-1, 8, 3)))
    if volume:
        yield Number(f'{path}/mass', link.mass / volume, 'its shapes hold ')


def off_shapes(robot: RobotLayout) -> Iterator[Number]:
    """Yield how far each centre of mass is outside of the box around its link's shapes [m].

    A point of the whole robot is compared with all shapes and actuators. The heaviest link may
    have shapes for only half of it, such as the float of an underwater vehicle.
    """
    body, half, largest = robot.params, half_of(robot), _shown(robot)[0]
    for path, link in robot.links.items():
        own = robot.corners.get(path, np.zeros((0, 3)))
        if link.mass and len(own):
            yield from _outside(Number(f'{path}/origin/@xyz', 0.0, 'the centre of mass '), link.com,
                                own, 2.0 * n.outline(robot) if path == largest else own)
    points = [
        *((Number(f'body.{key}', 0.0, f'the {key.replace("_", " ")} '), getattr(body, key))
          for key in ('centre_of_pressure', 'centre_of_buoyancy') if getattr(body, key).any()),
        *((Number('parachutes.attachment', 0.0, 'the attachment '), robot.parachutes.attachment)
          for _ in robot.parachutes.names[:1]),
        *((Number(f'tanks.{key}', 0.0, f'tank {name!r} {what}', 1.0, 3 * i, group.name), point)
          for group in robot.groups for i, name, tanks, _ in stores_of(group, 'tank')
          for key, what, point in (('com', '', tanks.com[i]), (
              'com_empty', 'as it runs dry ', tanks.com[i] + tanks.com_empty[i]))),
    ]
    for number, point in points if robot.body.mass and half.all() else ():
        around = robot.body.com + np.outer((-1.0, 1.0), half)
        yield from _outside(number, point, around, around)


def _outside(
    number: Number, point: FloatArray, corners: FloatArray, around: FloatArray
) -> Iterator[Number]:
    """Yield how far a point is outside of the box around corners [m], over the size ``around``."""
    low, high, sides = corners.min(axis=0), corners.max(axis=0), np.ptp(around, axis=0)
    past = np.maximum(np.maximum(low - point, point - high), 0.0)
    of = np.maximum(sides, _FLAT * np.linalg.norm(sides))
    k = int(np.argmax(past / np.maximum(of, LEAST)))
    yield dataclasses.replace(number, value=float(past[k]), of=float(of[k]))


def _shown(robot: RobotLayout) -> tuple[str, MassProperties, FloatArray]:
    """Return path, mass and corners of the heaviest link; no corners if it has no shapes."""
    path, link = n.heaviest(robot) if robot.body.mass else ('', robot.body)
    return path, link, robot.corners.get(path, np.zeros((0, 3)))


def _volume(corners: FloatArray) -> float:
    sides = np.linalg.norm(corners[[1, 2, 4]] - corners[0], axis=1)
    return float(np.maximum(sides, n.SHEET * sides.max()).prod())


def drags(robot: RobotLayout) -> Iterator[Number]:
    """Yield the drag area along each axis [m^2], over that of the box around the robot."""
    half = half_of(robot)
    for i, area in enumerate(robot.params.drag_area.tolist() if half.all() else ()):
        across = 4.0 * float(np.delete(half, i).prod())
        yield Number('body.drag_area', area, f'along {"xyz"[i]} it ', across, i)


def lengthwise(robot: RobotLayout) -> Iterator[Number]:
    """Yield the drag area of a rod along itself [m^2], over the least one across it."""
    squares = n.second_moments(robot.body) if robot.body.mass else np.zeros(3)
    k = int(np.argmax(squares))
    across = np.delete(robot.params.drag_area, k)
    if squares[k] > n.ROD * np.delete(squares, k).max() and across.all():
        yield Number('body.drag_area', float(robot.params.drag_area[k]),
                     f'along {"xyz"[k]}, its length, it ', float(across.min()), k)


def undragged(robot: RobotLayout, is_angular: bool = False) -> Iterator[Number]:
    """Yield the drag areas of a robot that is driven under water [m^2], over that of its volume.

    That is V^(2/3), V what its mass displaces; of angular drags [m^5], times the cube of the radius
    of gyration. Up a rail it is the area along it.
    """
    params, body = robot.params, robot.body
    key, way = ('angular_drag', 'about') if is_angular else ('drag_area', 'along')
    if _is_submerged(robot) and any(map(is_in_liquid, robot.pushing)) and body.is_solid:
        arms = np.sqrt(np.asarray(body.moments) / body.mass)**(3 * is_angular)
        of = (body.mass / params.fluid_density)**(2.0 / 3.0) * arms
        # What nothing turns, as a body of revolution, needs no drag about that axis.
        turned = robot.largest[3:]
        is_still = (turned < n.LITTLE * turned.max()) & (not _lifting(robot)[0])
        is_known = is_angular & (is_still | (params.angular_damping > 0.0))
        for i in np.flatnonzero(~is_known).tolist():
            yield Number(f'body.{key}', float(getattr(params, key)[i]),
                         f'in water, {way} {"xyz"[i]}, it ', float(of[i]), i)
    elif params.rail_length and robot.pushing and not is_angular and not _lifting(robot)[0]:
        along = float(params.drag_area @ np.abs(unit_axis(params.rail_axis)))
        yield Number('body.drag_area', along, 'along its rail it ', LEAST)


def submerged_starts(robot: RobotLayout) -> Iterator[Number]:
    """Yield the height above the water at which a submerged robot starts [m]."""
    if _is_submerged(robot):
        height = float(robot.params.start_position[2]) - robot.params.water_level
        yield Number('body.start_position', height, 'it starts ', size_of(robot), 2)


def rail_starts(robot: RobotLayout) -> Iterator[Number]:
    """Yield the height above the ground at which a rail begins [m], over the size."""
    if robot.params.rail_length and robot.params.ground and robot.body.mass:
        yield Number('body.start_position', float(robot.params.start_position[2]),
                     'its rail begins ', size_of(robot), 2)


def gravities(robot: RobotLayout) -> Iterator[Number]:
    """Yield the gravity of what flies up a rail in standard air [m/s^2]."""
    if robot.params.rail_length and not robot.params.fluid_density:
        yield Number('body.gravity', robot.params.gravity, 'gravity is ')


def buried(robot: RobotLayout) -> Iterator[Number]:
    """Yield how far a robot starts below the ground that its rotors feel [m], over the size."""
    for group in robot.groups:
        ground = getattr(group.params, 'ground_height', 0.0)
        if ground and np.any(getattr(group.params, 'rotor_radius', 0.0)):
            depth = ground - float(robot.params.start_position[2])
            yield Number('ground_height', depth, 'it starts ', size_of(robot), None, group.name)


def _is_submerged(robot: RobotLayout) -> bool:
    params = robot.params
    return params.fluid_density > LIQUID and params.displaced_volume > 0.0


def dampings(robot: RobotLayout) -> Iterator[Number]:
    """Yield the angular drag about each axis [m^5], over the fifth power of the size."""
    size = size_of(robot)
    for i, drag in enumerate(robot.params.angular_drag.tolist() if size else ()):
        yield Number('body.angular_drag', drag, f'about {"xyz"[i]} it ', size**5, i)


def currents(robot: RobotLayout) -> Iterator[Number]:
    """Yield the speed of the fluid [m/s], over that at which drag equals the largest force.

    Under water, that of a start too, and of its ends as it turns.
    """
    params, push = robot.params, float(robot.largest[:3].max())
    area, speed = params.drag_area[params.drag_area > 0.0], float(np.linalg.norm(params.current))
    if len(area) and push:
        # Only a part of floating hulls is in the water.
        fluid = (params.fluid_density or fluid_of(robot)) * (0.25 if params.hulls.names else 1.0)
        own = math.sqrt(2.0 * push / (fluid * float(area.min())))
        i = int(np.argmax(np.abs(params.current)))
        yield Number('body.current', speed, 'the fluid carries it away at ', own, i)
        start, turn = params.start_velocity, params.start_angular_velocity
        for key, value, who, of in (
            # What is dropped or launched is faster than it drives.
            ('velocity', start - params.current * start.any(), 'it starts at ', 2.0 * own),
            ('angular_velocity', turn * size_of(robot), 'it starts to turn, its ends at ', own),
        ) if _is_submerged(robot) else ():
            i = int(np.argmax(np.abs(value)))
            yield Number(f'body.start_{key}', float(np.linalg.norm(value)), who, of, i)


def starts(robot: RobotLayout) -> Iterator[Number]:
    """Yield how far a robot starts from its floating height [m], over the height of its hulls."""
    params = robot.params
    if robot.afloat:
        apart = abs(float(params.start_position[2]) - params.water_level - robot.afloat[0])
        tall = max(float(np.abs(matrix_of_rpy(rpy))[2] @ size) for rpy, size in zip(
            params.hulls.rpy, params.hulls.size, strict=True))
        yield Number('body.start_position', apart, 'it starts ', tall, 2)


def dry_propellers(robot: RobotLayout) -> Iterator[Number]:
    """Yield the height of propellers above the water on floating hulls [m]."""
    height = robot.afloat[0] if robot.afloat else np.nan
    for group in robot.groups:
        if is_spun(group) and not _has(group.params, 'motor_constant'):
            for i, place in enumerate(group.layout.position):
                yield Number('position', float(place[2]) + height, f'{group.layout.names[i]} ', 1.0,
                             3 * i, group.name)


def descents(robot: RobotLayout) -> Iterator[Number]:
    """Yield the speed at which each parachute lets the empty robot down, and all together [m/s]."""
    params, chutes, air = robot.params, robot.parachutes, float(density(robot.params.site_altitude))
    weight = (robot.body.mass - robot.propellant) * params.gravity
    rows = [*zip(chutes.names, chutes.drag_area.tolist(), strict=True)]
    # All parachutes together may be slower.
    for i, (name, area) in enumerate([*rows, ('all parachutes', float(chutes.drag_area.sum()))]):
        if weight and not params.fluid_density and (area or i < len(rows)):
            speed = math.sqrt(2.0 * weight / (air * area)) if area else math.inf
            who, of = f'by {name} it comes down at ', 1.0 if i < len(rows) else 0.25
            yield Number('parachutes.drag_area', speed, who, of, i if i < len(rows) else None,
                         remedy='' if area else f'give the drag area of {name}')


def openings(robot: RobotLayout) -> Iterator[Number]:
    """Yield the area of each parachute [m^2], over that of the one that opens after it by name."""
    areas, names = robot.parachutes.drag_area.tolist(), robot.parachutes.names
    for i, k in itertools.pairwise(map(names.index, by_opening(names))):
        yield Number('parachutes.drag_area', areas[i], f'{names[i]} has ', areas[k], i)


def lags(robot: RobotLayout) -> Iterator[Number]:
    """Yield how far a robot turns within the lag of its steering, at the largest torque [rad].

    That is the lag of rotors in air, by a limit the time for a tenth of the way, or the time of
    gimbals to their end or to 10 degrees.
    """
    if not robot.body.is_solid:
        return
    rate = float((robot.largest[3:5] / robot.body.moments[:2]).max())
    for group in robot.groups:
        names, params = group.layout.names, group.params
        for key in ('time_constant_up', 'time_constant_down', 'time_constant'):
            for i, lag in enumerate(getattr(params, key, ()) if is_in_air(group) else ()):
                who = f'within the lag of {names[i]} it '
                yield Number(key, rate * float(lag)**2, who, 1.0, i, group.name)
        for key, most in (('max_rotor_acceleration', group.speeds),
                          ('max_thrust_rate', group.layout.highest)):
            for i, limit in enumerate(getattr(params, key, ()) if is_in_air(group) else ()):
                lag = 0.1 * float(most[i]) / (limit or math.inf)
                who = f'while {names[i]} speeds up it '
                yield Number(key, rate * lag**2, who, 1.0, i, group.name)
        for i, booster in enumerate(params.gimbals.booster if _has(params, 'gimbals') else ()):
            k, end = names.index(booster), min(float(params.gimbals.range[i].max()), _USUAL_SWING)
            fastest = float(params.gimbals.rate_limit[i]) or math.inf
            lag = max(end / fastest, float(params.gimbals.time_constant[i]))
            arm = np.linalg.norm(group.layout.position[k] - robot.body.com)
            torque = end * arm * np.nan_to_num(group.layout.highest)[k]
            yield Number(
                'gimbals.rate_limit or gimbals.time_constant',
                float(torque / max(robot.body.moments)) * lag**2,
                f'while the gimbal of {booster} swings out, it ', 1.0, i, group.name,
            )
