# SPDX-License-Identifier: Apache-2.0
"""Numbers of a whole robot that show implausible values; `doubts` has their usual ranges."""
from __future__ import annotations

import dataclasses
import itertools
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter
from typing import Any

import numpy as np

from propulsion_ros.graph.actuator_numbers import (
    FEW,
    LEAST,
    Number,
    is_in_air,
    is_in_liquid,
    is_spun,
    stores_of,
)
from propulsion_ros.graph.robot_layout import AXES, AXES_OF, Group, RobotLayout
from propulsion_ros.models.body.hulls import Hulls
from propulsion_ros.models.body.mass import MassProperties
from propulsion_ros.models.body.rigid_body import LIQUID
from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY, density
from propulsion_ros.models.common.facts import LIFT
from propulsion_ros.models.common.rotation import matrix_of_rpy
from propulsion_ros.models.steering.steered import SteeredFamily
from propulsion_ros.settings.flat import parameters_of
from propulsion_ros.settings.quantity import FloatArray, Quantity, spec_of
from propulsion_ros.urdf.xml import path_step

EXPECTED = ('hover', *AXES_OF)
_MADE_BY = {f'force {a}': f'along {a}' for a in 'xyz'} | {
    f'torque {a}': f'along {b} and lie apart along {c}, or along {c} and apart along {b}, or have '
    'a moment_constant' for a, b, c in ('xyz', 'yzx', 'zxy')}

_ALONG = 0.99  # directions are the same if the cosine of their angle is larger
_TOUCHING = 1e-3  # actuators are in one place if they are nearer [m]
_ACROSS = 0.5  # an actuator with a smaller upward component lifts nothing
_LEAST_LAG = 2e-3  # lag of the fastest actuators in use [s]
ROD = 30.0  # a body is a rod from this ratio of its second moments along and across
_COUPLED = 0.3  # largest share of a torque that may come with other parts of the wrench
_MANY = 20  # from so many rotors on, pairs of them are not tried
_NO_PAIR = (
    'see <origin> of their joints, and each <direction>: neighbours turn against each other',
    'in an odd number two neighbours turn alike, so that yaw comes with roll or pitch',
)
"""Remedies for an even and for an odd number of rotors."""
SHEET = 0.2
"""Thickness that is assumed for a shape drawn as a sheet, over its largest size."""
NEAREST = 0.22
"""Least RMS distance of the mass of a body from its centre, over its half size; boxes have 0.58."""
ONE_SIDED = 0.03
"""Remaining torque, over the largest one, from which a body turns."""
_UP = np.array([0.0, 0.0, 1.0])
_SIDES = (
    (('front', 'fore', 'bow', 'nose'), ('rear', 'back', 'aft', 'stern', 'tail')),
    (('left', 'port'), ('right', 'starboard')), (('top', 'upper'), ('bottom', 'lower')),
)
"""Names of the positive and the negative side along each axis."""
_CURVES = ('esc_curve', 'output_values')
"""Texts with the thrusts of an actuator."""
_SIGNED = ('axis', *_CURVES)
_MAKERS = ('max_thrust or motor_constant or rotor_constant or propeller_diameter or '
           'fluid_density or max_command or names')
"""Parameters that determine a thrust."""
_MIRROR, _HALF_TURN = np.array([1.0, -1.0, 1.0]), np.array([-1.0, -1.0, 1.0])
"""Factors of a vector for its mirror image on the other side, and for half a turn about z."""
_SAME = 1e-3  # places are the same if they are nearer, over their distance from the origin
_SINKING = 0.3  # fluid that crawlers displace, over their mass
_TRIM = 0.03  # least thrust that a surplus is compared with, over the weight
_PUSHED = 0.03  # least acceleration of what propellers push, as of rule `propellers` [m/s^2]
_LEAN = math.tan(math.radians(20.0))  # largest lean of what floats in water at rest
_LEAST_HEIGHT = 1e-6  # of the centre of buoyancy above that of mass, by which it stands up [m]
LITTLE = 1e-4  # angle that is as large as its sine [rad], or a torque over the largest one


# Actuators that differ from similar ones.


def odd_ones(robot: RobotLayout) -> Iterator[Number]:
    """Yield the numbers of those few actuators that differ from most others in only one number."""
    for group in robot.groups:
        names, params = group.layout.names, group.params
        columns = {
            field.name: getattr(params, field.name) for field in dataclasses.fields(params)
            if _is_of_row(field) and len(getattr(params, field.name)) == len(names)
        }
        ways, counts = np.unique(np.round(group.layout.axis, 3), axis=0, return_counts=True)
        # Find a rotor that points against all others; one across may push forwards.
        if len(names) == max(counts, default=0) + 1 and is_in_air(group):
            along = np.round(group.layout.axis @ ways[np.argmax(counts)], 2)
            columns['axis'] = np.where(along < 0.0, along, 1.0)
        # Find a thruster that points against all others along its line.
        if is_in_liquid(group):
            along = np.round(group.layout.axis @ group.layout.axis.T, 2)
            is_odd = ((along == 1.0).sum(axis=1) == 1) & ((along == -1.0).sum(axis=1) >= FEW)
            columns['axis'] = np.where(is_odd, -1.0, 1.0).tolist()
        # A curve counts by its largest thrust, which is backwards if it is turned round.
        low, high = (np.nan_to_num(end) for end in (group.layout.lowest, group.layout.highest))
        largest = np.where(-low > high, low, high).tolist()
        columns |= {key: largest for key in _CURVES if len({*columns.get(key, ())}) > 1}
        # Compare sizes: a sign is a direction, but of axes and curves it counts.
        paths = [f'robot/{path_step("link", link)}/inertial' for link in group.layout.links]
        masses = [robot.links[path].mass if path in robot.links else 0.0 for path in paths]
        if len(set(paths)) == len(paths) and all(masses):
            columns['mass'] = masses
        rows = [tuple(
            abs(column[i]) if isinstance(column[i], float) and key not in _SIGNED else column[i]
            for key, column in columns.items()
        ) for i in range(len(names))]
        for i, others, is_most in _alike(rows, group.layout.position):
            differing = [k for k, value in enumerate(rows[i]) if value != rows[others[0]][k]]
            if len(differing) == 1 and isinstance(rows[others[0]][differing[0]], float):
                (k,), key = differing, list(columns)[differing[0]]
                own, other = columns[key][i], columns[key][others[0]]
                whose = 'others have' if is_most else f'its mirror image {names[others[0]]} has'
                who = f'{key} of {names[i]} is {own:g}, where {whose} {other:g}: '
                share = rows[i][k] / max(rows[others[0]][k], LEAST)
                # A direction and a curve cannot be replaced by a number.
                usual = float(other) if key not in _SIGNED else math.nan
                index = 3 * i if key == 'axis' else i
                found = Number(key, share, who, 1.0, index, group.name, usual=usual)
                yield found if key != 'mass' else dataclasses.replace(
                    found, key=f'{paths[i]}/mass', index=None, block=''
                )


def _alike(rows: Sequence[Any], places: FloatArray) -> Iterator[tuple[int, list[int], bool]]:
    """Yield each row that differs from those that it should equal, with the indices of these.

    They are most of the others, then the flag is True, or a later one at its mirrored place.
    """
    usual, count = Counter(rows).most_common(1)[0] if rows else ((), 0)
    is_most = len(rows) > FEW and 2 * count > len(rows)
    for i, row in enumerate(rows):
        others = [k for k, other in enumerate(rows) if other == usual] if is_most else [
            k for k in _at(places, places[i] * _MIRROR) if k > i][:1]
        if others and row != rows[others[0]]:
            yield i, others, is_most


def _at(places: FloatArray, place: FloatArray) -> list[int]:
    """Return the indices of those places that are at one place."""
    apart = np.linalg.norm(places - place, axis=1)
    return list(np.flatnonzero(apart <= _SAME * np.linalg.norm(place)).tolist())


def unpaired(robot: RobotLayout) -> Iterator[Number]:
    """Yield how far one of two actuators is from the mirror image of the other [m].

    All others, of which there are four or more, are at that of one of them. A pair may be symmetric
    otherwise, as half a turn has it: its coordinates differ in their signs alone then.
    """
    for group in robot.pushing:
        names, places = group.layout.names, group.layout.position
        alone = [i for i, place in enumerate(places) if not _at(places, place * _MIRROR)]
        for i, k in [alone] if len(alone) == 2 and len(places) > FEW + 2 else ():
            apart = float(np.linalg.norm(places[i] - places[k] * _MIRROR))
            if _at(np.abs(places[[i]]), np.abs(places[k])):
                continue
            yield Number('position', apart, f'from the mirror image of {names[k]}, {names[i]} ',
                         _reach(robot), 3 * i, group.name)


def mirrored(robot: RobotLayout) -> Iterator[Number]:
    """Yield the angle of each actuator to the mirror image of the one on the other side [deg].

    Joints are at either end. In air one that pushes may instead be symmetric by half a turn.
    """
    for group in robot.groups:
        layout, family, ends = group.layout, group.steered, [group.layout.axis]
        places = layout.position
        if family:
            limits = np.clip(family.joint_limits, -math.pi, math.pi)
            ends = [family.carried(group.matrix, end)[:3].T for end in limits]
        along = layout.axis @ layout.axis.T
        alike = ((along if is_in_air(group) else np.abs(along)) > _ALONG).sum(axis=1)
        ways = [_MIRROR]
        is_half = group.has_thrusts and not is_in_liquid(group)
        if is_half and all(_at(places, place * _HALF_TURN) for place in places):
            ways.append(_HALF_TURN)
        found = list[list[Number]]()
        for way in ways:
            rows = list[Number]()
            for i, place in enumerate(places):
                k = next(iter(_at(places, place * way)), i)
                if k < i:
                    images = [end[each] * way for each in _at(places, place * way) for end in ends]
                    near = np.array([end[i] for end in ends]) @ np.array(images).T
                    # An actuator that pushes both ways may be either way round.
                    is_one_way = family or (is_in_air(group) and layout.lowest[i] >= 0.0)
                    worst = float((near if is_one_way else np.abs(near)).max(axis=1).min())
                    # Name the one that fewer others are like.
                    odd, other = (i, k) if alike[i] <= alike[k] else (k, i)
                    who = f'from the mirror image of {layout.names[other]}, {layout.names[odd]} is '
                    angle = math.degrees(math.acos(min(max(worst, -1.0), 1.0)))
                    rows.append(Number('axis or chord', angle, who, 1.0, 3 * odd, group.name))
            found.append(rows)
        yield from min(found, key=lambda rows: max((each.value for each in rows), default=0.0))


def _is_of_row(field: dataclasses.Field[Any]) -> bool:
    spec = spec_of(field)
    if not isinstance(spec, Quantity) or field.name.startswith(('initial', 'start')):
        return False
    return spec.shape == ('n',) and spec.kind in (float, str) and not spec.geometry


def short_lags(robot: RobotLayout) -> Iterator[Number]:
    """Yield the lags of actuators [s], over the step; for a usual lag the step is to be changed."""
    for group in robot.groups:
        rate, names = group.timing.update_rate, group.layout.names
        for key in ('time_constant', 'time_constant_up', 'time_constant_down'):
            lags = np.broadcast_to(getattr(group.params, key, np.nan), len(names))
            for i, lag in enumerate(np.where(lags > 0.0, lags, np.nan).tolist()):
                found = Number(key, lag, f'{names[i]} ', 1.0 / rate, i, group.name,
                               '0 for none, or seconds?')
                yield found if not lag > _LEAST_LAG else dataclasses.replace(
                    found, key=f'update_rate or {key}', index=None,
                    remedy=f'an update_rate above {1.0 / lag:.4g} Hz, or a lag of 0 for none',
                )
        for i, kind in enumerate(getattr(group.params, 'dynamics', ()) if is_spun(group) else ()):
            if kind == 'first_order' and group.params.time_constant[i] == 0.0:
                yield Number('time_constant', 0.0, f'{names[i]}, of first_order, ', 1.0 / rate, i,
                             group.name, 'write its time_constant, or dynamics zero_order')
        damping = robot.params.angular_damping
        for k in np.flatnonzero(damping).tolist() if robot.body.is_solid else ():
            yield Number('body.angular_damping', robot.body.moments[k] / float(damping[k]), (
                f'its turn about {"xyz"[k]} '), 1.0 / rate, k, remedy='N m s/rad?')


def distances(robot: RobotLayout) -> Iterator[Number]:
    """Yield the distances of actuators that push the same way, and of tanks [m].

    Rotors in air have no place for another one, even if it is tilted against them; propellers in
    water have none for one that is not their other direction.
    """
    for is_rotor, in_water, alike in (
        (True, False, _ACROSS), (False, True, -_ALONG), (False, False, _ALONG)
    ):
        yield from _near([(
            Number('position', 0.0, layout.names[i], 1.0, 3 * i, group.name), place, layout.axis[i]
        ) for group in robot.groups
            if (is_in_air(group), is_in_liquid(group)) == (is_rotor, in_water)
            for layout in (group.layout,) for i, place in enumerate(layout.position)
        ], '' if in_water else ' acts the same way, and', alike)
    for group in robot.groups:
        # Tanks in base_link itself have no place of their own.
        yield from _near([
            (Number('tanks.com', 0.0, f'tank {name!r}', 1.0, 3 * i, group.name), stores.com[i], _UP)
            for i, name, stores, _ in stores_of(group, 'tank') if stores.com[i].any()
        ])


def _near(rows: Sequence[tuple[Number, FloatArray, FloatArray]], what: str = '',
          alike: float = _ALONG) -> Iterator[Number]:
    """Yield the distance of each row to the nearest one before it that has the same direction.

    Directions are the same if the cosine of their angle is above ``alike``.
    """
    points, ways = (np.array([row[k] for row in rows]).reshape(-1, 3) for k in (1, 2))
    for k, (number, point, way) in enumerate(rows[1:], 1):
        apart = np.linalg.norm(points - point, axis=1)
        here, apart = np.flatnonzero(apart < _TOUCHING), apart[:k]
        # Three at right angles are one nozzle that turns its jet.
        if len(here) == 3 and abs(np.linalg.det(ways[here])) > _ALONG:
            continue
        apart[ways[:k] @ way <= alike] = np.inf
        near = int(np.argmin(apart))
        who = f'of {number.who}, {rows[near][0].who}{what} '
        yield dataclasses.replace(number, value=float(apart[near]), who=who)


def sides(robot: RobotLayout) -> Iterator[Number]:
    """Yield how far actuators are on the side that their names mean [m].

    Sides count from the middle between the actuators that are named after both. If no actuator is
    on the side of its name, the axes mean something else, and nothing is yielded.
    """
    up = math.copysign(1.0, matrix_of_rpy(robot.params.start_rpy)[2, 2])
    ways = np.array([_side_of(name) for group in robot.groups for name in group.layout.names])
    places = _points(robot)
    if not len(places):
        return
    middle = [0.5 * sum(column[named == end].mean() for end in (-1.0, 1.0))
              if {-1.0, 1.0} <= {*named} else np.nan
              for column, named in zip(places.T, ways.T, strict=True)]
    along = np.where(ways, ways * [1.0, up, up] * (places - middle), np.nan)
    along[np.abs(along) < 0.1 * np.abs(places - middle).max(axis=0)] = np.nan
    names = [(group, i) for group in robot.groups for i in range(len(group.layout.names))]
    for (group, i), own, way in zip(names, along, ways, strict=True):
        k = int(np.argmin(np.where(np.isnan(own), np.inf, own)))
        if (along > 0.0).any():
            side = _SIDES[k][int(way[k] < 0.0)][0]
            yield Number('position', float(own[k]), (
                f'{group.layout.names[i]}, by name at the {side}, lies '
            ), 1.0, 3 * i, group.name)


def _side_of(name: str) -> list[float]:
    """Return for each axis the side of an actuator by its name, -1 or 1, or 0 for none."""
    words = re.split(r'[\W\d_]+', name.lower())
    return [next((way for way, of in zip((1.0, -1.0), ends, strict=True) if {*of} & {*words}), 0.0)
            for ends in _SIDES]


def turning_angles(robot: RobotLayout) -> Iterator[Number]:
    """Yield the angle of each joint to what it turns, and between the axes of a gimbal [deg]."""
    for group in robot.groups:
        gimbals: Any = getattr(group.params, 'gimbals', None)
        for i, booster in enumerate(gimbals.booster if gimbals else ()):
            thrust = group.layout.axis[group.layout.names.index(booster)]
            first, second = gimbals.axes[i] / np.linalg.norm(gimbals.axes[i], axis=1)[:, None]
            for a, b, other in ((first, thrust, 'its thrust'), (second, thrust, 'its thrust'),
                                (first, second, 'the other axis')):
                who = f'the angle of an axis of the gimbal of {booster!r} to {other} '
                angle = _angle(float(np.linalg.norm(np.cross(a, b))))
                yield Number('gimbals.axes', angle, who, 1.0, first.size * 2 * i, group.name)
        if (family := group.steered) is None:
            continue
        for i, joint in enumerate(family.joint_names):
            turned = family.carried(group.matrix, LITTLE * np.eye(len(family.joint_names))[i])
            # In air a folding arm may only move a rotor; in water a joint must turn the thrust.
            rows = slice(3 if is_in_liquid(group) else 6)
            sizes = LITTLE * np.linalg.norm(group.matrix[rows], axis=0)
            sine = (np.linalg.norm((turned - group.matrix)[rows], axis=0) / sizes).max()
            who = f'the angle of the axis of {joint!r} to what it turns '
            yield Number('steering.axis', _angle(float(sine)), who, 1.0, 3 * i, group.name)


def _angle(sine: float) -> float:
    return math.degrees(math.asin(min(sine, 1.0)))


def _is_carried(robot: RobotLayout) -> bool:
    """Whether wings, the fluid, or thrusts that joints turn may carry a robot."""
    return robot.params.displaced_volume > 0.0 or bool(robot.params.hulls.names) or any(
        isinstance(group.family, SteeredFamily) or is_in_liquid(group)
        or group.family.facts.force == LIFT for group in robot.groups
    )


def torques_left(robot: RobotLayout) -> Iterator[Number]:
    """Yield the torque about z that remains while rotors carry a robot [N m], over the largest.

    It is that of the thrusts within their limits that come nearest to the weight, or half of the
    largest lift, without a torque.
    """
    spun = [group for group in robot.groups if is_spun(group)]
    most, weight = np.maximum(*np.abs(robot.extremes)), robot.weight
    lift, count = robot.extremes[1][2], sum(len(group.layout.names) for group in spun)
    is_lifted = 2.0 * lift > weight > 0.0
    if not 2 <= count <= FEW or _is_carried(robot) or robot.not_counted or not (
        np.isfinite(most).all() and is_lifted and most[5] > LEAST
    ):
        return
    # Loaded late, since few robots need it.
    from scipy.optimize import lsq_linear
    lowest, highest = robot.limits
    wanted = np.array([min(weight, 0.5 * lift) / most[2], 0.0])
    # The lift has priority.
    first = np.array([1e3, 1.0])
    shares = first[:, None] * robot.matrix[[2, 5]] / most[[2, 5], None]
    made = lsq_linear(shares, first * wanted, (lowest, highest + LEAST)).x
    # Name the rotor that pushes most across, as a tail rotor does.
    group = min(spun, key=lambda each: float(np.abs(each.layout.axis[:, 2]).min()))
    i = int(np.argmin(np.abs(group.layout.axis[:, 2])))
    who = f'what carries {robot.body.mass:.4g} kg turns it about z by '
    yield Number('direction', abs(float(robot.matrix[5] @ made)), who, most[5], i, group.name)


def couplings(robot: RobotLayout) -> Iterator[Number]:
    """Yield the share of the torque about z of rotors that comes with thrust, roll or pitch.

    It is the part of its row of the allocation matrix that lies in the space of their rows or, if
    larger, the sum of torques over that of drag torques alone: a tilt may hide what all turn alike.
    """
    for group in robot.pushing:
        names, up = group.layout.names, group.layout.axis[:, 2] > _ACROSS
        if up.sum() > FEW and is_in_air(group) and not getattr(
            group.family, 'joint_names', ()
        ):
            arms = np.cross(group.layout.position, group.layout.axis).T
            share, rows = _coupled(group.matrix[:, up], arms[2, up]), np.flatnonzero(up).tolist()
            ways, i, remedy = list[Sequence[int]](), 0, _NO_PAIR[len(rows) % 2]
            for count in (1, 2) if share > _COUPLED and len(rows) < _MANY else ():
                for way in itertools.combinations(rows, count) if not ways else ():
                    matrix = group.matrix.copy()
                    matrix[3:, way] = 2.0 * arms[:, way] - matrix[3:, way]
                    is_free = _coupled(matrix[:, up], arms[2, up]) < 0.1 * _COUPLED
                    ways += [way] if is_free else []
            if ways:
                i = ways[0][0]
                which = ', or '.join(' and '.join(names[k] for k in way) for way in ways[:FEW])
                senses = [group.matrix[5, k] - arms[2, k] for k in ways[0]]
                remedy = f'turn the <direction> of {which} round' + (
                    ', or exchange their places' if min(senses) < 0.0 < max(senses) else '')
            yield Number('direction', share, 'of what pushes up, ', 1.0, i, group.name, remedy)


def _coupled(matrix: FloatArray, by_arms: FloatArray) -> float:
    others, torque = matrix[2:5].T, matrix[5]
    size, drags = (float(np.linalg.norm(each)) for each in (torque, torque - by_arms))
    along = others @ np.linalg.lstsq(others, torque, rcond=None)[0]
    left = abs(float(torque.sum())) / (drags * len(torque)**0.5) if drags > LEAST else 0.0
    return max(float(np.linalg.norm(along)) / size, left) if size > LEAST else math.nan


# The body, and its actuators against it.


def angles(robot: RobotLayout) -> Iterator[Number]:
    """Yield the largest angle of each <origin> [rad]."""
    for path, angle in robot.angles.items():
        yield Number(path, angle)


def of_links(
    element: str, value: Callable[[MassProperties], float],
    of: Callable[[MassProperties], float] = lambda link: 1.0, who: str = '',
) -> Callable[[RobotLayout], Iterator[Number]]:
    """Return a function that yields a number of each link, of an element of its <inertial>."""
    return lambda robot: (
        Number(f'{path}/{element}', value(link), who, of(link))
        for path, link in robot.links.items() if link.inertia.any()
    )


def moments(link: MassProperties) -> list[float]:
    """Return the principal moments of a link [kg m^2], the largest last."""
    return list(np.linalg.eigvalsh(link.inertia).tolist())


def radius_of_gyration(body: MassProperties) -> float:
    """Return the radius of gyration [m], 0 without a mass."""
    return math.sqrt(float(np.linalg.eigvalsh(body.inertia)[-1]) / body.mass) if body.mass else 0.0


def second_moments(body: MassProperties) -> FloatArray:
    """Return the second moment of mass along each axis about its centre, over mass [m^2], (3,)."""
    own: FloatArray = np.diag(body.inertia)
    return np.asarray(0.5 * own.sum() - own) / body.mass


def _points(robot: RobotLayout) -> FloatArray:
    return np.vstack([np.zeros((0, 3)), *(group.layout.position for group in robot.groups)])


def outline(robot: RobotLayout) -> FloatArray:
    """Return the corners of all shapes, and the places of actuators [m], (m, 3)."""
    return np.vstack([_points(robot), *robot.corners.values()])


def _reach(robot: RobotLayout) -> float:
    """Return the largest distance of an actuator from the centre of mass [m]."""
    return float(np.linalg.norm(_points(robot) - robot.body.com, axis=1).max(initial=0.0))


def heaviest(robot: RobotLayout) -> tuple[str, MassProperties]:
    """Return the path and the mass of the heaviest link, of which there must be one."""
    return max(robot.links.items(), key=lambda each: each[1].mass)


def is_unsteered(robot: RobotLayout) -> bool:
    """Return whether all actuators are engines without gimbals."""
    return bool(robot.groups) and all(
        group.burns and not group.layout.angle_names for group in robot.groups)


def beside(robot: RobotLayout, on_rail: bool = False) -> Iterator[Number]:
    """Yield the distance of the thrust that carries a robot to the centre of mass [m].

    With ``on_rail`` only of what nothing steers behind its rail.
    """
    groups = [group for group in robot.pushing if not is_in_liquid(group)]
    is_held = bool(robot.params.rail_length) and is_unsteered(robot)
    if not robot.body.mass or not groups or is_held != on_rail:
        return
    forces = np.vstack([group.pushes for group in groups])
    most = np.linalg.norm(forces, axis=1)
    arms_of = np.vstack([group.layout.position for group in groups]) - robot.body.com
    total = forces.sum(axis=0)[2]
    # Thrusts that cancel are for turning, and thrusts along the ground carry nothing.
    if total > 0.5 * max(most.sum(), robot.body.mass * STANDARD_GRAVITY):
        past = float(np.linalg.norm(np.cross(arms_of, forces).sum(axis=0)) / total)
        yield Number('position', past, 'all together ', _reach(robot), 0, groups[0].name)
        if on_rail and robot.params.centre_of_pressure.any():
            way = forces.sum(axis=0) / np.linalg.norm(forces.sum(axis=0))
            away = np.cross(robot.params.centre_of_pressure - robot.body.com, way)
            yield Number('body.centre_of_pressure', float(np.linalg.norm(away)), 'the drag would ',
                         _reach(robot))


def float_heights(robot: RobotLayout) -> Iterator[Number]:
    """Yield the height of the centre of buoyancy above that of mass, if buoyancy carries [m]."""
    for number in lifted(robot):
        if number.value > 0.5 * number.of and not robot.params.hulls.names:
            x, y, height = (robot.params.centre_of_buoyancy - robot.body.com).tolist()
            beside = math.hypot(x, y)
            is_beside = beside > abs(height) * _LEAN
            i = int(np.argmax(np.abs((x, y)))) if is_beside else 2
            yield Number(
                'body.centre_of_buoyancy', height, 'the centre of buoyancy ',
                max(beside / _LEAN, _LEAST_HEIGHT), i, remedy=f'write {"xyz"[i]} '
                f'{"near" if is_beside else "above"} {robot.body.com[i]:.4g}, or see <origin> of '
                'the <inertial>: is a sign wrong?' + is_beside *
                f' It leans by {math.degrees(math.atan2(beside, height)):.3g} deg at rest')
    if robot.afloat:
        yield Number('body.hulls.size', robot.afloat[1], 'the metacentre ', _LEAST_HEIGHT,
                     remedy='wider hulls, or a lower <origin> of the <inertial>')


def surpluses(robot: RobotLayout) -> Iterator[Number]:
    """Yield by how much buoyancy and weight of a submerged robot differ [N], over its thrust.

    That is the largest force along any axis, as fins turn what pushes ahead, or at least a part of
    the weight, as gliders that hardly push are trimmed to a hundredth of that.
    """
    most, params = float(robot.largest[:3].max()), robot.params
    is_free = params.fluid_density and not params.hulls.names
    for number in lifted(robot) if is_free and most > _PUSHED * robot.body.mass else ():
        net = (number.value - number.of) * params.gravity
        if net > 0.0 or not params.ground:
            who = f'at rest it {"rises" if net > 0.0 else "sinks"} by '
            yield Number('body.displaced_volume', abs(net), who, max(
                most, _TRIM * number.of * params.gravity))


def parts(robot: RobotLayout) -> Iterator[Number]:
    """Yield lengths of parts, and distances of actuators to the centre of mass [m], over sizes.

    The sizes are the reach of actuators, their distance from their middle, and half of the body.
    """
    if not robot.body.mass:
        return
    size = max(_reach(robot), radius_of_gyration(robot.body))
    for group in robot.groups:
        for each in parameters_of(type(group.params)):
            if (each.spec.unit, each.spec.shape, each.spec.geometry) == ('m', ('n',), ''):
                who = f'{each.key.rpartition(".")[2]} '
                for i, value in enumerate(attrgetter(each.key)(group.params).tolist()):
                    yield Number(each.key, value, who, size, i, group.name)
    (path, link), points = heaviest(robot), _points(robot)
    own = robot.corners.get(path, points)
    wide = max(radius_of_gyration(link), *(
        float(np.linalg.norm(each - each.mean(axis=0), axis=1).max()) for each in (points, own)
    )) if len(points) else 0.0
    if wide:
        yield Number(f'{path}/origin/@xyz', float(np.linalg.norm(points - link.com, axis=1).min()),
                     'the way from the nearest actuator to the centre of mass ', 4.0 / 3.0 * wide)
    shapes = np.vstack([robot.body.com, *(
        corners for path, corners in robot.corners.items() if path in robot.links
    )])
    half = float(np.linalg.norm(np.abs(shapes - robot.body.com).max(axis=0)))
    half = max(half, 2.0 * radius_of_gyration(robot.body))
    for group in robot.groups if half else ():
        away = np.linalg.norm(group.layout.position - robot.body.com, axis=1)
        i = int(np.argmax(away))
        yield Number('position or nozzles.position', float(away[i]), (
            f'the way from the centre of mass to {group.layout.names[i]} '
        ), 5.0 / 3.0 * half, 3 * i, group.name)


def outside(robot: RobotLayout, is_main: bool = True) -> Iterator[Number]:
    """Yield the RMS distance of the mass of links from their centres [m], over their half sizes.

    That is of the heaviest link, which may have the mass of others too, or of all others. Without a
    shape it is as long as the actuators reach, if it is a rod or rotors around carry it, else five
    times as long, as they may all be near the middle; others are not much longer than that reach,
    or than it. With a shape a least distance is known, along the axis that is neither best nor
    worst: parts without mass may stick out. Three equal moments are those of a cube.
    """
    points, reach = _points(robot), _reach(robot)
    largest, main = heaviest(robot) if robot.body.mass else ('', robot.body)
    is_carried = not _is_carried(robot) and sum(int(
        (group.layout.axis[:, 2] > _ALONG).sum()) for group in robot.groups if is_in_air(group)
    ) > FEW
    for path, link in robot.links.items():
        is_known = link.mass and (reach > 1e-3 or path in robot.corners)
        if not is_known or (path == largest) is not is_main:
            continue
        squares = np.maximum(second_moments(link), 0.0)
        far = float(np.linalg.norm(points - link.com, axis=1).max(initial=0.0))
        own = np.abs(robot.corners.get(path, link.com[None]) - link.com).max(axis=0)
        if path in robot.corners:
            least = 0.0
        elif path != largest:
            least = 2.0 * max(reach, radius_of_gyration(main))
        elif is_carried:
            least = 0.4 * far
        else:
            least = far / 3.0 if max(squares) > ROD * np.sort(squares)[1] else 16.0 / 3.0 * reach
        around = np.abs(outline(robot) - link.com).max(axis=0) if path == largest else own
        ends = np.maximum(np.maximum(own, around), least)
        ends = np.maximum(ends, SHEET * ends.max())
        near = NEAREST if squares.max() > (0.01 * reach)**2 else 0.0
        found = [(int(np.argmax(squares / np.maximum(ends, LEAST)**2)), squares, ends, near)]
        if path == largest and path in robot.corners and link.inertia.any():
            both = np.minimum(np.maximum(squares, second_moments(robot.body)), own**2)
            order = np.argsort(both / own**2)
            found.append((int(order[int(np.ptp(np.diag(link.inertia)) > LEAST)]), both, own, 0.0))
        for k, each, end, share in found:
            who = f'mass along {"xyz"[k]} of {robot.base_link} '
            lies = max(math.sqrt(each[k]), share * end[k])
            yield Number(f'{path}/inertia', lies, who, float(end[k]))


def forces(
    is_meant: Callable[[Group], bool], size: Callable[[FloatArray], Any] = np.linalg.norm
) -> Callable[[RobotLayout], Iterator[Number]]:
    """Return a function that yields the largest force of some groups [N], over the mass.

    ``size`` computes the force from those along each axis, (3,).
    """
    def find(robot: RobotLayout) -> Iterator[Number]:
        groups = [group for group in robot.pushing if is_meant(group)]
        if any(True for _ in endless(robot)):
            return
        total = 0.0
        for group in groups:
            most = np.maximum(np.abs(group.layout.lowest), np.abs(group.layout.highest))
            total += float(size(np.abs(group.layout.axis).T @ np.nan_to_num(most)))
        if robot.body.mass and groups:
            who, name = f'{robot.body.mass:.4g} kg ', groups[0].name
            # Above a tonne, a ship at the same Froude number needs less of its weight.
            of = min(robot.body.mass, 10.0 * robot.body.mass**(2.0 / 3.0))
            yield Number(_MAKERS, total, who, of, 0, name)

    return find


def endless(robot: RobotLayout) -> Iterator[Number]:
    """Yield 1 for each actuator whose commands have no limit, so that it has no largest thrust."""
    for group in robot.pushing:
        is_meant = hasattr(group.params, 'max_command')
        for i, most in enumerate(group.layout.highest):
            if is_meant and not math.isfinite(most):
                yield Number('max_command', 1.0, f'{group.layout.names[i]} ', 1.0, i, group.name)


any_forces = forces(lambda group: True)
forces_in_water = forces(is_in_liquid, np.max)
forces_in_air = forces(is_in_air)


def forces_on_wings(robot: RobotLayout) -> Iterator[Number]:
    """Yield the largest force of the rotors of a robot that wings carry in air, over mass [N]."""
    wings = [getattr(group.params, key, None) for group in robot.groups
             if group.family.facts.force == LIFT for key in ('two_lines', 'lifting_surface')]
    in_air = [wing for wing in wings if wing and wing.fin and wing.fluid_density[0] < LIQUID]
    if in_air and not (robot.params.displaced_volume or robot.params.hulls.names):
        yield from forces_in_air(robot)


def spins(robot: RobotLayout) -> Iterator[Number]:
    """Yield the largest torque about each axis [N m], over the moment of inertia."""
    if robot.body.is_solid:
        sizes = robot.largest[3:]
        k = int(np.argmax(sizes / robot.body.moments))
        who, path = f'{robot.body.moments[k]:.3g} kg m^2 about {"xyz"[k]} ', heaviest(robot)[0]
        yield Number(f'{path}/inertia', sizes[k], who, robot.body.moments[k])


def lifted(robot: RobotLayout) -> Iterator[Number]:
    """Yield the mass that the displaced volume lifts [kg], over the mass; in air only if larger."""
    params, mass, key = robot.params, robot.body.mass, 'body.displaced_volume'
    volume, of = params.displaced_volume, mass
    if params.hulls.names:
        # Hulls must lift all of the mass.
        volume, of, key = Hulls(params.hulls).volume, mass / _SINKING, 'body.hulls.size'
    found = volume * (params.fluid_density or float(density(params.site_altitude)))
    in_liquid = params.fluid_density > LIQUID
    # The robot has propellers for water, and a volume or no ground, but is in air.
    is_meant = volume > 0.0 or not params.ground
    lacks = is_meant and not in_liquid and any(map(is_in_liquid, robot.groups))
    # Without gravity nothing sinks.
    if mass and params.gravity and (in_liquid or lacks or found > mass):
        yield Number(key, found, f'{volume:g} m^3 ' + 'of air ' * lacks, of, remedy=(
            'give body.fluid_density, 1000 or 1025 in water' if lacks else ''
        ))


# Expected abilities.


def lifts(robot: RobotLayout) -> Iterator[Number]:
    """Yield the largest upward force of a robot that must hover [N], over its weight.

    Without ``expects`` it must if all actuators are rotors whose joint thrust is along z, or if
    they push it down strongly enough to lift it. Where wings, or thrusts that joints turn, may
    carry it, only rotors along z count, three or more of them.
    """
    weight, upwards = robot.weight, matrix_of_rpy(robot.params.start_rpy)
    pushes = np.nan_to_num(robot.limits[1]) * robot.matrix[:3]
    is_lifter = np.abs(upwards[2] @ pushes) > _ALONG * np.linalg.norm(pushes, axis=0)
    if is_lifted := _is_carried(robot) and is_lifter.sum() >= FEW and all(
        is_in_air(group) or group.family.facts.force == LIFT for group in robot.groups
    ):
        pushes = pushes[:, is_lifter]
    most = float(np.linalg.norm(pushes, axis=0).sum())
    up = float(upwards[2] @ pushes.sum(axis=1))
    # Thrusts to the side do not count: they compensate a torque, as that of a tail rotor does.
    ahead = float(np.linalg.norm(pushes[[0, 2]].sum(axis=1)))
    is_along = abs(up) > max(_ALONG * ahead, 0.1 * most)
    is_expected = 'hover' in robot.expects
    is_free = robot.body.mass and (is_lifted or not _is_carried(robot))
    if up < -_ACROSS * most and is_along and most > weight and (is_expected or is_free):
        yield Number('axis', up, 'its actuators alone ', weight, 0, robot.groups[0].name,
                     'all push down; turn <axis>, or rpy in <origin> of their joints')
    elif is_expected:
        yield Number('robot', robot.extremes[1][2], (
            f'hover is expected, with a thrust to weight of {robot.thrust_to_weight:.3g}: all '
        ), weight)
    elif is_free and is_along and up > 0.0 and (is_lifted or all(map(is_in_air, robot.groups))):
        across = ' and '.join(name for group in robot.groups for name, axis in zip(
            group.layout.names, group.layout.axis, strict=True
        ) if abs(axis[2]) < _ACROSS and not is_lifted)
        yield Number(
            _MAKERS, up, 'its actuators alone ', weight, 0, robot.groups[0].name,
            across and f'what pushes across is {across}: turn <axis>, or rpy in its <origin>',
        )


def made_alone(robot: RobotLayout) -> Iterator[Number]:
    """Yield the share of each expected part of the wrench that comes without the others [%]."""
    parts = {**AXES_OF, 'hover': AXES_OF['force_z']}
    # Actuators that deflect the flow or the thrust are not counted.
    is_deflected = any(
        group.family.facts.force == LIFT
        or {*group.layout.angle_names}.difference(getattr(group.family, 'joint_names', ()))
        for group in robot.groups
    )
    known = {'yaw'} if any(each.value > _COUPLED for each in couplings(robot)) else set()
    expected = [word for word in parts if word in robot.expects - known]
    # The thrusters of a robot in water seldom push obliquely.
    words = expected or ['force_x', 'force_y'] * any(map(is_in_liquid, robot.groups)) or (
        ['yaw'] * _never_yaws(robot))
    made = robot.made([AXES.index(parts[word]) for word in words])
    for i, word in enumerate(words if not is_deflected else ()):
        part, rows = parts[word], np.flatnonzero(np.abs(made[:, i]) > 1e-4).tolist()
        tied = ' and '.join(parts[words[k]] for k in rows if k != i)
        how = f'{part} comes only with {tied}' if tied else f'nothing makes {part}'
        if word != 'hover' and (expected or word == 'yaw' or (tied and made[i, i] < 0.9)):
            who = f'{word} is expected, but {how}: ' if expected else f'{how}: '
            yield Number('robot', 100.0 * made[i, i], who, remedy=(
                f'some actuators must push {_MADE_BY[part]}; else leave {word} out of <expects>'
            ) if expected else 'give each a moment_constant' * (word == 'yaw'))


def _never_yaws(robot: RobotLayout) -> bool:
    """Whether rotors that all push up carry a robot, and nothing turns it about z."""
    up = [way for group in robot.pushing for way in group.layout.axis[:, 2] > _ACROSS]
    return len(up) > FEW and all(up) and not _is_carried(robot) and all(
        map(is_in_air, robot.groups)
    ) and float(np.abs(robot.matrix[5]).max()) <= LITTLE * float(np.abs(robot.matrix[3:5]).max())


def weaker_ways(robot: RobotLayout) -> Iterator[Number]:
    """Yield the weaker direction of each expected part of the wrench [N or N m]."""
    for word, part in AXES_OF.items():
        least, most = (float(end[AXES.index(part)]) for end in robot.extremes)
        if word in robot.expects and not robot.not_counted and max(-least, most) > 0.0:
            yield Number('robot', min(-least, most), (
                f'{word} is expected both ways, and {part} goes from {least:.3g} to {most:.3g}: '
            ))
