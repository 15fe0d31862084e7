# SPDX-License-Identifier: Apache-2.0
"""Numbers of a whole robot by which people see that it makes no sense; `doubts` has the limits."""
from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from propulsion_ros.graph.robot_layout import AXES, RPM, Group, RobotLayout
from propulsion_ros.models.body.mass import MassProperties
from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY, density
from propulsion_ros.models.common.facts import LIFT, THRUST_AND_TORQUE
from propulsion_ros.models.common.family import Allocatable, BodyState, Command, Family
from propulsion_ros.models.common.start import Restartable
from propulsion_ros.models.common.thrust_curve import parse_curve
from propulsion_ros.settings.quantity import FloatArray, Quantity, spec_of

AXES_OF = {
    'force_x': 'force x', 'force_y': 'force y', 'force_z': 'force z',
    'roll': 'torque x', 'pitch': 'torque y', 'yaw': 'torque z',
}
"""What can be expected, beside ``hover``, and the part of the wrench that it needs."""
EXPECTED = ('hover', *AXES_OF)

_NO_LIMIT = 1e9
"""Thrusts beyond it are none [N]."""
_SETTLING, _SPINNING = 1e6, 1.0
"""Longer than any lag, and enough for rotors to draw what they draw [s]."""
_ALONG = 0.99
"""Cosine of the angle between two directions that are one."""
_FEW = 3
"""Actuators that are alike make a kind, from which one more may differ."""
_ROD = 30.0
"""How much farther the mass of a rod spreads along it than across, squared."""
_LIQUID = 100.0
"""Denser than any gas of a vehicle [kg/m^3]."""
_UP = np.array([0.0, 0.0, 1.0])
_NEVER = 1e-12
"""Keeps a quotient finite."""


@dataclass(frozen=True)
class Seen:
    """One number."""

    key: str
    """Parameter that makes it, or XML path in the description."""
    number: float
    who: str = ''
    """What has it, in words."""
    of: float = 1.0
    """What it is held against."""
    index: int | None = None
    """Of its element."""
    block: str = ''
    """The block that it is of, '' for the robot."""


def largest_speeds(family: Family) -> FloatArray:
    """Return the speed of each actuator at its largest thrust [rad/s], (n,), NaN where unknown."""
    unknown = np.full(len(family.actuator_names), np.nan)
    if not isinstance(family, Restartable) or 'rotor_speed' not in family.start_states:
        return unknown
    output = _at_most(family)
    return unknown if output is None or output.velocity is None else np.abs(output.velocity)


def _at_most(family: Family, settling: float = _SETTLING) -> Any:
    """Return what a family does at its largest thrusts, None where they are unknown."""
    if not isinstance(family, Allocatable) or not np.all(family.thrust_limits[1] < _NO_LIMIT):
        return None
    wanted = family.command_for(family.thrust_limits[1])
    output = family.step(Command(**{family.command_fields[0]: wanted}), BodyState(), settling, 0)
    family.reset()
    return output


def _each(find: Callable[[Group], Iterator[Seen]]) -> Callable[[RobotLayout], Iterator[Seen]]:
    """Return what a robot shows of which each group shows some."""
    return lambda robot: (
        dataclasses.replace(seen, block=group.name)
        for group in robot.groups for seen in find(group)
    )


def _rows(key: str, numbers: ArrayLike, of: ArrayLike = 1.0, who: Sequence[str] = ()
          ) -> Iterator[Seen]:
    """Yield the number of each row of a group."""
    values, ends = np.broadcast_arrays(np.ravel(numbers), of)
    for i, (value, end) in enumerate(zip(values.tolist(), ends.tolist(), strict=True)):
        yield Seen(key, value, f'{who[i]} ' if who else '', end, i)


# Actuators.


@_each
def lags(group: Group) -> Iterator[Seen]:
    """Yield the lags of a group that are not 0 [s], over its step."""
    rate = group.timing.update_rate
    # A slower rate is what is wrong.
    for key in ('time_constant', 'time_constant_up', 'time_constant_down') if rate >= 1.0 else ():
        values = np.ravel(getattr(group.params, key, ()))
        yield from _rows(key, np.where(values > 0.0, values, np.nan), 1.0 / rate)


@_each
def impulses(group: Group) -> Iterator[Seen]:
    """Yield the specific impulse of each that burns something [s]."""
    rates = _rates(group)
    with np.errstate(divide='ignore'):
        values = group.params.max_thrust / (rates * STANDARD_GRAVITY) if len(rates) else rates
    for seen in _rows('max_fuel_rate', values):
        given = group.params.specific_impulse[seen.index]
        yield dataclasses.replace(seen, key='specific_impulse') if given else seen


def _rates(group: Group) -> FloatArray:
    """Return what actuators burn at their largest thrusts [kg/s], (n,); none where that is 0."""
    params = group.params
    rates: FloatArray = getattr(params, 'max_fuel_rate', np.zeros(0))
    if hasattr(params, 'specific_impulse') and not len(rates):
        rates = params.max_thrust / (params.specific_impulse * STANDARD_GRAVITY)
    return rates


def _stores(group: Group, kind: str) -> Iterator[tuple[int, str, Any, list[int]]]:
    """Yield each tank or battery of a group: index, name, all of them, rows that it serves."""
    stores = getattr(group.params, {'tank': 'tanks', 'battery': 'batteries'}[kind], None)
    for i, name in enumerate(stores.names if stores else ()):
        named = getattr(group.params, kind)
        yield i, name, stores, [k for k, each in enumerate(named) if each == name]


@_each
def users(group: Group) -> Iterator[Seen]:
    """Yield how many actuators each tank and battery serves, and batteries each that needs one."""
    for kind, key in (('tank', 'tanks.names'), ('battery', 'batteries.names')):
        for i, name, _, served in _stores(group, kind):
            # A group without a rate of what it burns only weighs its tanks.
            if kind == 'battery' or len(_rates(group)):
                who = f'number of actuators with <{kind}>{name}</{kind}>: '
                yield Seen(key, len(served), who, index=i)
    drawn = getattr(group.params, 'battery', ())
    for i, name in enumerate(drawn if any(drawn) else ()):
        yield Seen('battery', float(bool(name)), (
            f'number of batteries of {group.layout.names[i]}, where others have one: '
        ), index=i)


@_each
def burning_times(group: Group) -> Iterator[Seen]:
    """Yield how long what is in each tank lasts [s]."""
    rates = _rates(group)
    for i, _, tanks, served in _stores(group, 'tank') if len(rates) else ():
        held = tanks.capacity[i] * tanks.starting_fuel_ratio[i]
        if served:
            yield Seen('tanks.capacity', held / max(rates[served].sum(), _NEVER), (
                f'{held:g} kg '
            ), index=i)


@_each
def burnt(group: Group) -> Iterator[Seen]:
    """Yield what motors that follow a curve burn of each tank [kg], over what it holds."""
    curves, rates = getattr(group.params, 'thrust_curve', ()), _rates(group)
    for i, name, tanks, served in _stores(group, 'tank') if len(rates) else ():
        total = 0.0
        for k in (k for k in served if curves and curves[k]):
            times, thrusts = parse_curve(curves[k])
            impulse = float((0.5 * (thrusts[1:] + thrusts[:-1]) * np.diff(times)).sum())
            total += impulse * float(rates[k] / group.params.max_thrust[k])
        held = tanks.capacity[i] * tanks.starting_fuel_ratio[i]
        if total and held:
            who = f'of {held:.4g} kg in tank {name!r}, the curve '
            yield Seen('thrust_curve', total, who, held, served[0])


def loads(robot: RobotLayout) -> Iterator[Seen]:
    """Yield what each tank holds at most [kg], over the mass without propellant."""
    dry = robot.body.mass - robot.propellant
    for group in robot.groups if dry > 0.0 else ():
        for i, name, tanks, _ in _stores(group, 'tank'):
            yield Seen('tanks.capacity', tanks.capacity[i], f'tank {name!r} ', dry, i, group.name)


@_each
def valves(group: Group) -> Iterator[Seen]:
    """Yield how long each valve takes to open [s], over 1 s or the time of a pulse."""
    delays = getattr(group.params, 'open_delay', np.zeros(0))
    is_pulsed = getattr(group.params, 'modulation', '') == 'pulse_width'
    yield from _rows('open_delay', delays, (
        np.minimum(group.params.pulse_period, 1.0) if is_pulsed else 1.0
    ))


@_each
def turns(group: Group) -> Iterator[Seen]:
    """Yield how fast each turns at its largest thrust [rpm]."""
    speeds = np.where(group.speeds > 0.0, group.speeds * RPM, np.nan)
    yield from _rows('motor_constant', speeds, who=group.layout.names)


@_each
def reverse_thrusts(group: Group) -> Iterator[Seen]:
    """Yield the lowest thrust of each that has a highest one [N]."""
    if isinstance(group.family, Allocatable):
        lowest, highest = group.family.thrust_limits
        is_bound = highest < _NO_LIMIT
        yield from _rows('max_thrust', np.where(is_bound, lowest, 0.0), who=group.layout.names)


def _drained(group: Group) -> Iterator[tuple[int, str, Any, list[int], Any]]:
    """Yield each battery, as `_stores`, and what the family does at its largest thrusts."""
    stores = list(_stores(group, 'battery'))
    made = _at_most(group.family, _SPINNING) if stores else None
    for store in stores if made is not None and made.batteries is not None else ():
        yield *store, made


@_each
def discharges(group: Group) -> Iterator[Seen]:
    """Yield how long each battery lasts at the largest thrust [s]."""
    for i, _, batteries, _, made in _drained(group):
        capacity = batteries.capacity[i]
        seconds = 3600.0 * capacity / max(made.batteries.current[i], _NEVER)
        yield Seen('batteries.capacity', seconds, f'{capacity:g} A h ', index=i)


@_each
def powers(group: Group) -> Iterator[Seen]:
    """Yield the thrust that each battery can make [N], over the largest one."""
    for i, name, _, served, made in _drained(group):
        watts = float(made.batteries.voltage[i] * made.batteries.current[i])
        yield Seen('batteries.internal_resistance', float(made.thrusts[served].sum()), (
            f'{name!r} gives {watts:.3g} W, which '
        ), float(np.nansum(group.layout.highest[served])), i)


@_each
def voltages(group: Group) -> Iterator[Seen]:
    """Yield the voltages of each battery that are not 0 [V], over that of the full one."""
    for i, _, batteries, _ in _stores(group, 'battery'):
        full = float(batteries.curve(i)[1][-1])
        for key in ('nominal_voltage', 'cut_off_voltage'):
            value = getattr(batteries, key)[i]
            if value:
                yield Seen(f'batteries.{key}', value, of=full, index=i)


def energies(robot: RobotLayout) -> Iterator[Seen]:
    """Yield what each battery holds [W h], over the mass of the robot."""
    for group in robot.groups if robot.body.mass else ():
        for i, _, batteries, _ in _stores(group, 'battery'):
            capacity = batteries.capacity[i]
            yield Seen('batteries.capacity', capacity * batteries.curve(i)[1][-1], (
                f'{capacity:g} A h: a battery '
            ), robot.body.mass, i, group.name)


@_each
def gimbal_angles(group: Group) -> Iterator[Seen]:
    """Yield the least angle of each gimbal between an axis and its thrust, or its axes [deg]."""
    gimbals: Any = getattr(group.params, 'gimbals', None)
    for i, booster in enumerate(gimbals.booster if gimbals else ()):
        thrust = group.layout.axis[group.layout.names.index(booster)]
        first, second = gimbals.axes[i] / np.linalg.norm(gimbals.axes[i], axis=1)[:, None]
        for a, b, other in ((first, thrust, 'its thrust'), (second, thrust, 'its thrust'),
                            (first, second, 'the other axis')):
            angle = math.degrees(math.acos(min(abs(float(a @ b)), 1.0)))
            yield Seen('gimbals.axes', angle, (
                f'the angle of an axis of the gimbal of {booster!r} to {other} '
            ), index=first.size * 2 * i)


@_each
def opposed(group: Group) -> Iterator[Seen]:
    """Yield how many of those that spin each pushes against, where no other pushes its way."""
    if group.matrix.shape[1] and group.family.facts.force == THRUST_AND_TORQUE:
        cosines = group.layout.axis @ group.layout.axis.T
        against, along = (cosines < -_ALONG).sum(axis=1), (cosines > _ALONG).sum(axis=1)
        for i in np.flatnonzero(along == 1).tolist():
            yield Seen('axis', against[i], f'{group.layout.names[i]} ', index=3 * i)


def distances(robot: RobotLayout) -> Iterator[Seen]:
    """Yield the distance of each to the next one that pushes the same way, and of tanks [m]."""
    yield from _near([
        (Seen('position', 0.0, layout.names[i], 1.0, 3 * i, group.name), place, layout.axis[i])
        for group in robot.groups if group.matrix.shape[1]
        for layout in (group.layout,) for i, place in enumerate(layout.position)
    ], ' pushes the same way, and')
    for group in robot.groups:
        # Tanks in base_link itself have no place of their own.
        yield from _near([
            (Seen('tanks.com', 0.0, f'tank {name!r}', 1.0, 3 * i, group.name), tanks.com[i], _UP)
            for i, name, tanks, _ in _stores(group, 'tank') if tanks.com[i].any()
        ])


def _near(rows: Sequence[tuple[Seen, FloatArray, FloatArray]], alike: str = '') -> Iterator[Seen]:
    """Yield the distance of each row to the nearest one before it; those of one way alone."""
    points, ways = (np.array([row[k] for row in rows]).reshape(-1, 3) for k in (1, 2))
    for k, (seen, point, way) in enumerate(rows[1:], 1):
        apart = np.linalg.norm(points[:k] - point, axis=1)
        apart[ways[:k] @ way <= _ALONG] = np.inf
        near = int(np.argmin(apart))
        who = f'of {seen.who}, {rows[near][0].who}{alike} '
        yield dataclasses.replace(seen, number=float(apart[near]), who=who)


@_each
def arms(group: Group) -> Iterator[Seen]:
    """Yield the longest arm of some actuators from their middle [m], over the next longest."""
    places = group.layout.position
    if len(places) > _FEW:
        lengths = np.linalg.norm(places - np.median(places, axis=0), axis=1)
        *_, last, longest = np.argsort(lengths).tolist()
        yield Seen('position', lengths[longest], f'{group.layout.names[longest]} ',
                   max(lengths[last], 1e-3), 3 * longest)


@_each
def slips(group: Group) -> Iterator[Seen]:
    """Yield the number of the one actuator that differs from all others in that alone."""
    names, columns = group.layout.names, {
        field.name: getattr(group.params, field.name)
        for field in dataclasses.fields(group.params) if _is_of_row(field)
    }
    columns = {key: column for key, column in columns.items() if len(column) == len(names)}
    # A sign is a direction.
    rows = [{
        key: np.abs(column[i]).tolist() if isinstance(column, np.ndarray) else column[i]
        for key, column in columns.items()
    } for i in range(len(names))]
    for i, row in enumerate(rows if len(rows) > _FEW else ()):
        usual, *others = rows[:i] + rows[i + 1:]
        differing = [key for key in row if row[key] != usual[key]]
        if len(differing) == 1 and all(other == usual for other in others):
            key, value = differing[0], usual[differing[0]]
            if isinstance(value, float) and value:
                who = f'{key} of {names[i]}, where all others have {value:g}, '
                yield Seen(key, row[key], who, value, i)


def _is_of_row(field: dataclasses.Field[Any]) -> bool:
    spec = spec_of(field)
    if not isinstance(spec, Quantity) or field.name.startswith(('initial', 'start')):
        return False
    return spec.per_row and spec.kind in (float, str) and not spec.geometry


def reactions(robot: RobotLayout) -> Iterator[Seen]:
    """Yield the weaker way of each torque of what spins, where all of it turns one way [N m]."""
    spun = [group for group in robot.groups if group.family.facts.force == THRUST_AND_TORQUE]
    is_winged = any(group.family.facts.force == LIFT for group in robot.groups)
    if is_winged or sum(len(group.layout.names) for group in spun) < _FEW:
        return
    own = np.vstack([
        group.matrix[3:].T - np.cross(group.layout.position, group.matrix[:3].T) for group in spun
    ])
    for k, (least, most) in enumerate(zip(*(end[3:] for end in robot.extremes), strict=True)):
        # Of arms alone it says nothing of directions.
        signs = np.sign(np.round(own[:, k], 9))
        turns_one_way = signs.any() and signs.min() * signs.max() >= 0.0
        if turns_one_way and max(-least, most) > 0.0:
            yield Seen('direction', min(-least, most), (
                f'the torque about {"xyz"[k]} goes from {least:.3g} to {most:.3g} N m: '
            ), 1.0, 0, spun[0].name)


# The body.


def angles(robot: RobotLayout) -> Iterator[Seen]:
    """Yield the largest angle of each <origin> [rad], 0 within two turns."""
    for path, angle in robot.angles.items():
        yield Seen(path, abs(angle) if abs(angle) > 4.0 * math.pi else 0.0)


def moments(robot: RobotLayout) -> Iterator[Seen]:
    """Yield the largest principal moment of each link [kg m^2], over the sum of the others."""
    for path, link in robot.links.items():
        a, b, c = np.linalg.eigvalsh(link.inertia)
        yield Seen(f'{path}/inertia', c, f'beside moments of {a:.3g} and {b:.3g} ', a + b)


def masses(robot: RobotLayout) -> Iterator[Seen]:
    """Yield the mass of each link with an inertia [kg]."""
    for path, link in robot.links.items():
        if link.inertia.any():
            yield Seen(f'{path}/mass', link.mass)


def _radius(body: MassProperties) -> float:
    return math.sqrt(float(np.linalg.eigvalsh(body.inertia)[-1]) / body.mass)


def _second_moments(body: MassProperties) -> FloatArray:
    """Return the mean square of the place of mass along each axis about its centre [m^2], (3,)."""
    moments: FloatArray = np.diag(body.inertia)
    return np.asarray(0.5 * moments.sum() - moments) / body.mass


def _heaviest(robot: RobotLayout) -> tuple[str, MassProperties, FloatArray]:
    """Return the heaviest link with its path, and all places of actuators."""
    path, link = max(robot.links.items(), key=lambda each: each[1].mass)
    points = [group.layout.position for group in robot.groups]
    return path, link, np.vstack([np.zeros((0, 3)), *points])


def spreads(robot: RobotLayout) -> Iterator[Seen]:
    """Yield how far mass lies from its centre [m], over the reach of the actuators."""
    if not robot.body.mass:
        return
    path, link, points = _heaviest(robot)
    reach = float(np.linalg.norm(points - robot.body.com, axis=1).max(initial=0.0))
    if reach > 1e-3:
        # One of several links may be small.
        of_link = [(link, reach * 20.0**-0.5)] if _radius(link) < reach else []
        for body, far in ((robot.body, reach), *of_link):
            yield Seen(f'{path}/inertia', _radius(body), f'{body.mass:.4g} kg with this inertia ',
                       far)


def centres(robot: RobotLayout) -> Iterator[Seen]:
    """Yield how far the centres of mass and of buoyancy are [m], over the radius of gyration."""
    if not robot.body.mass:
        return
    path, link, points = _heaviest(robot)
    wide = np.linalg.norm(points - points.mean(axis=0), axis=1).max() if len(points) else 0.0
    size, away = max(_radius(link), float(wide)), np.linalg.norm(points - link.com, axis=1)
    if len(points) and size:
        yield Seen(f'{path}/origin/@xyz', float(away.min()), (
            'from the nearest actuator the centre of mass '
        ), size)
    if robot.params.displaced_volume and size:
        off = float(np.linalg.norm(robot.params.centre_of_buoyancy - robot.body.com))
        yield Seen('body.centre_of_buoyancy', off, 'from the centre of mass it ', size)


def rods(robot: RobotLayout) -> Iterator[Seen]:
    """Yield how far actuators reach along a body that is a rod [m], over how far they reach."""
    if not robot.body.mass:
        return
    path, link, points = _heaviest(robot)
    spread, reach = _second_moments(link), np.abs(points - link.com).max(axis=0, initial=0.0)
    if np.sort(spread)[2] > _ROD * np.sort(spread)[1]:
        along, widest = int(np.argmax(spread)), int(np.argmax(reach))
        yield Seen(f'{path}/inertia', reach[along], (
            f'the mass lies along {"xyz"[along]}, and not {"xyz"[widest]}, where '
        ), reach[widest])


def outside(robot: RobotLayout) -> Iterator[Seen]:
    """Yield how far the mass of each link lies along each axis [m], over its shapes."""
    for path, link in robot.links.items():
        corners = robot.corners.get(path)
        if corners is None or not link.mass:
            continue
        far = np.sqrt(np.maximum(_second_moments(link), 0.0))
        ends = np.abs(corners - link.com).max(axis=0)
        k = int(np.argmax(far / np.maximum(ends, _NEVER)))
        yield Seen(f'{path}/inertia', far[k], f'mass along {"xyz"[k]} of {robot.base_link} ',
                   ends[k])


def _forces(robot: RobotLayout, is_meant: Callable[[Group], bool]) -> Iterator[Seen]:
    groups = [group for group in robot.groups if is_meant(group) and group.matrix.shape[1]]
    total = 0.0
    for group in groups:
        most = np.maximum(np.abs(group.layout.lowest), np.abs(group.layout.highest))
        total += float(np.linalg.norm(group.layout.axis.T @ np.nan_to_num(most)))
    if robot.body.mass and groups:
        yield Seen('names', total, f'{robot.body.mass:.4g} kg ', robot.body.mass, 0, groups[0].name)


def forces(robot: RobotLayout) -> Iterator[Seen]:
    """Yield the largest force of all [N], over the mass."""
    return _forces(robot, lambda group: True)


def forces_in_water(robot: RobotLayout) -> Iterator[Seen]:
    """Yield the largest force of propellers in water [N], over the mass."""
    return _forces(robot, lambda group: bool(
        np.any(getattr(group.params, 'fluid_density', 0.0) > _LIQUID)
    ))


def lifted(robot: RobotLayout) -> Iterator[Seen]:
    """Yield what the displaced volume lifts [kg], over the mass."""
    params = robot.params
    fluid = params.fluid_density or float(density(params.site_altitude))
    if robot.body.mass:
        volume = params.displaced_volume
        yield Seen('body.displaced_volume', fluid * volume, f'{volume:g} m^3 ', robot.body.mass)


def lifted_in_liquid(robot: RobotLayout) -> Iterator[Seen]:
    """Yield that of a robot in a liquid."""
    return lifted(robot) if robot.params.fluid_density > _LIQUID else iter(())


# What is expected.


def lifts(robot: RobotLayout) -> Iterator[Seen]:
    """Yield the largest force along z of a robot that shall hover [N], over its weight."""
    if 'hover' in robot.expects:
        yield Seen('robot', robot.extremes[1][2], (
            f'hover is expected, with a thrust to weight of {robot.thrust_to_weight:.3g}: all '
        ), robot.body.mass * robot.params.gravity)


def made_alone(robot: RobotLayout) -> Iterator[Seen]:
    """Yield what share of each expected part of the wrench comes without the others."""
    parts = {**AXES_OF, 'hover': AXES_OF['force_z']}
    # What deflects the flow or the thrust comes on top.
    words = [word for word in parts if word in robot.expects and not robot.not_counted]
    made = robot.made([AXES.index(parts[word]) for word in words])
    for i, word in enumerate(words):
        tied = [words[k] for k in np.flatnonzero(np.abs(made[:, i]) > 1e-4).tolist() if k != i]
        how = f'comes only with {" and ".join(tied)}' if tied else f'nothing makes {parts[word]}'
        if word != 'hover':
            yield Seen('robot', made[i, i], f'{word} is expected, and {how}: ')


def weaker_ways(robot: RobotLayout) -> Iterator[Seen]:
    """Yield the weaker way of each expected part of the wrench that has one [N or N m]."""
    for word, part in AXES_OF.items():
        least, most = (float(end[AXES.index(part)]) for end in robot.extremes)
        if word in robot.expects and not robot.not_counted and max(-least, most) > 0.0:
            yield Seen('robot', min(-least, most), (
                f'{word} is expected both ways, and {part} goes from {least:.3g} to {most:.3g}: '
            ))
