# SPDX-License-Identifier: Apache-2.0
"""Rules of sense: values that are allowed, and that are likely another unit or a mistake.

Each rule is a row of `RULES`, with its limit and where that comes from; a name silences it.
"""
from __future__ import annotations

import math
import operator
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from propulsion_ros.graph.robot_layout import AXES, RPM, Group, RobotLayout
from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY, density
from propulsion_ros.models.common.facts import LIFT, THRUST_AND_TORQUE
from propulsion_ros.models.common.family import Allocatable, BodyState, Command, Family
from propulsion_ros.models.common.start import Restartable
from propulsion_ros.models.common.thrust_curve import parse_curve
from propulsion_ros.settings.errors import ConfigError, SourceError
from propulsion_ros.settings.flat import Parameter
from propulsion_ros.settings.quantity import FloatArray

_NO_LIMIT = 1e9
"""Beyond it a value stands for no limit."""
_SETTLING = 1e6
"""Longer than any lag [s]."""
_SPINNING = 1.0
"""Enough for rotors to draw what they draw [s]."""
_NEAR = 1e-3
"""Points that are nearer than this are one [m]."""
_ALONG = 0.99
"""Cosine of the angle between two directions that are one."""
_TINY = 1e-9
"""Smaller torques per thrust are rounding [m]."""
_MANY = 4
"""Actuators of a group of which one may be the odd one."""
_MOST_OF_A_TANK = 5.0
"""What motors burn over what their tank holds."""
_LEAST_IMPULSE = 25.0
"""Below 28 s, xenon as cold gas (Sutton and Biblarz, Rocket Propulsion Elements)."""
_LEAST_TURNS = 30.0
"""Large ship propellers turn faster [rpm]."""
_LIQUID = 100.0
"""Denser than any gas of a vehicle [kg/m^3]."""
_PAIR = 6
"""Numbers of the two axes of a gimbal."""

Doubt: TypeAlias = 'tuple[str, ConfigError]'
"""The block that it is about, '' for the robot, and what is doubtful and what to check."""


@dataclass(frozen=True)
class Rule:
    """What is usual."""

    name: str
    """Silences it."""
    limit: float
    unit: str
    source: str
    """Where the limit comes from."""
    of_value: Callable[[Parameter, float, float], str] | None = None
    """Returns what is wrong with the size of a number of a parameter by the limit, '' for right."""
    of_robot: Callable[[RobotLayout, float], Iterator[Doubt]] | None = None
    """Yields what is wrong with a robot by the limit."""


def value_doubts(
    parameters: Iterable[Parameter], given: Mapping[str, Any], silenced: Collection[str] = ()
) -> Iterator[ConfigError]:
    """Yield what is implausible among the values that a user gave a node, and what to check."""
    for parameter in parameters:
        if given.get(parameter.key) is None:
            continue
        for i, value in enumerate(np.ravel(np.asarray(given[parameter.key], dtype=object))):
            if not isinstance(value, int | float) or abs(value) >= _NO_LIMIT:
                continue
            for rule in RULES:
                if rule.of_value is None or rule.name in silenced:
                    continue
                doubt = rule.of_value(parameter, abs(value), rule.limit)
                if doubt:
                    yield ConfigError(parameter.key, f'{doubt} ({rule.name})', i)


def robot_doubts(robot: RobotLayout, silenced: Collection[str] = ()) -> Iterator[Doubt]:
    """Yield what is implausible about actuators and masses together, and what to check."""
    for rule in RULES:
        if rule.of_robot is None or rule.name in silenced:
            continue
        for block, error in rule.of_robot(robot, rule.limit):
            groups = [each for each in robot.groups if block in ('', each.name)]
            if not any(rule.name in each.timing.silenced for each in groups):
                text = f'{error.problem} ({rule.name})'
                yield block, type(error)(error.key, text, error.index)


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


# Single values.


def _beyond(
    text: str, unit: str = '', keys: tuple[str, ...] = ('',), factor: float = 1.0,
    is_wrong: Callable[[float, float], bool] = operator.gt,
) -> Callable[[Parameter, float, float], str]:
    """Return a rule on values of a unit whose keys begin like some; ``text`` has the number."""
    def of_value(parameter: Parameter, size: float, limit: float) -> str:
        spec, last = parameter.spec, parameter.key.rpartition('.')[2]
        is_meant = spec.kind is float and not spec.geometry and unit in ('', spec.unit)
        is_doubtful = is_meant and last.startswith(keys) and size > 0.0 and is_wrong(size, limit)
        return text.format(size, size * factor, limit) if is_doubtful else ''

    return of_value


def _is_no_fluid(density: float, limit: float) -> bool:
    """Return whether neither air nor a liquid is so dense; 1 is water in g/cm^3."""
    return 0.9 < density < 1.1 or 1.7 < density < limit or density > 5.0 * limit


def _far(parameter: Parameter, size: float, limit: float) -> str:
    if parameter.spec.geometry not in ('origin', 'joint_origins') or size <= limit:
        return ''
    return f'is {size:g} m from base_link, expected below {limit:g} m; metres, not millimetres?'


# Actuators.


def _each(
    find: Callable[[Group, float], Iterator[ConfigError]]
) -> Callable[[RobotLayout, float], Iterator[Doubt]]:
    """Return a rule on each group of a robot."""
    return lambda robot, limit: (
        (group.name, error) for group in robot.groups for error in find(group, limit)
    )


def _short_lag(group: Group, limit: float) -> Iterator[ConfigError]:
    step = 1.0 / group.timing.update_rate
    if step > 1.0:
        # The rate is what is wrong: it has a line of its own.
        return
    for key in ('time_constant', 'time_constant_up', 'time_constant_down'):
        lags = np.ravel(getattr(group.params, key, ()))
        for i in np.flatnonzero((lags > 0.0) & (lags < limit * step)).tolist():
            yield ConfigError(key, (
                f'a lag of {lags[i]:g} s within one step of {step:g} s; expected 0 for none, or '
                'seconds'
            ), i)


def _impulse(group: Group, limit: float) -> Iterator[ConfigError]:
    rates = _rates(group)
    with np.errstate(divide='ignore'):
        impulses = group.params.max_thrust / (rates * STANDARD_GRAVITY) if len(rates) else rates
    for i in np.flatnonzero((impulses < _LEAST_IMPULSE) | (impulses > limit)).tolist():
        key = 'specific_impulse' if group.params.specific_impulse[i] else 'max_fuel_rate'
        yield ConfigError(key, (
            f'a specific impulse of {impulses[i]:.4g} s, expected {_LEAST_IMPULSE:g} to '
            f'{limit:g} s; kg/s, N and s?'
        ), i)


def _rates(group: Group) -> FloatArray:
    """Return what actuators burn at their largest thrusts [kg/s], (n,); none where that is 0."""
    params = group.params
    rates: FloatArray = getattr(params, 'max_fuel_rate', np.zeros(0))
    if hasattr(params, 'specific_impulse') and not len(rates):
        rates = params.max_thrust / (params.specific_impulse * STANDARD_GRAVITY)
    return rates


def _propellant(group: Group, limit: float) -> Iterator[ConfigError]:
    tanks: Any = getattr(group.params, 'tanks', None)
    rates = _rates(group)
    for i, name in enumerate(tanks.names if tanks and len(rates) else ()):
        users = [k for k, tank in enumerate(group.params.tank) if tank == name]
        if not users:
            yield ConfigError('tanks.names', (
                f'nothing burns from tank {name!r}; expected an actuator with <tank>{name}</tank>'
            ), i)
            continue
        held, wanted = tanks.capacity[i] * tanks.starting_fuel_ratio[i], rates[users].sum()
        if held < limit * wanted:
            yield ConfigError('tanks.capacity', (
                f'{held:g} kg last {held / wanted:.2g} s at the largest thrust, expected above '
                f'{limit:g} s; give <capacity> in kg, and what burns in kg/s'
            ), i)
            continue
        burnt = sum(_burnt(group, k) for k in users)
        if burnt > _MOST_OF_A_TANK * held:
            yield ConfigError('thrust_curve', (
                f'burns {burnt:.4g} kg, where tank {name!r} holds {held:.4g} kg; s and N?'
            ), users[0])


def _burnt(group: Group, i: int) -> float:
    """Return what a motor burns that follows a curve [kg], 0 for another one."""
    curve = getattr(group.params, 'thrust_curve', None)
    if not (curve and curve[i]):
        return 0.0
    times, thrusts = parse_curve(curve[i])
    impulse = float((0.5 * (thrusts[1:] + thrusts[:-1]) * np.diff(times)).sum())
    return impulse * float(_rates(group)[i] / group.params.max_thrust[i])


def _valve(group: Group, limit: float) -> Iterator[ConfigError]:
    delays = getattr(group.params, 'open_delay', np.zeros(0))
    most = np.full(delays.shape, limit)
    if getattr(group.params, 'modulation', '') == 'pulse_width':
        most = np.minimum(group.params.pulse_period, limit)
    for i in np.flatnonzero(delays >= most).tolist():
        yield ConfigError('open_delay', (
            f'a valve that opens after {delays[i]:g} s, expected less than {most[i]:g} s, or '
            'pulses are too short for it; seconds, not milliseconds?'
        ), i)


def _rotor_speed(group: Group, limit: float) -> Iterator[ConfigError]:
    turns = group.speeds * RPM
    for i in np.flatnonzero((turns > limit) | (turns > 0.0) & (turns < _LEAST_TURNS)).tolist():
        yield ConfigError('motor_constant', (
            f'{group.layout.names[i]} turns at {float(f"{turns[i]:.4g}"):,g} rpm to reach '
            f'max_thrust, {group.layout.highest[i]:.4g} N, expected {_LEAST_TURNS:g} to '
            f'{limit:,g} rpm; is the constant per (rad/s)^2, not per rpm^2, and the thrust in N?'
        ), i)


def _no_end(group: Group, limit: float) -> Iterator[ConfigError]:
    if not isinstance(group.family, Allocatable):
        return
    lowest, highest = group.family.thrust_limits
    for i in np.flatnonzero((lowest <= -limit) & (highest < limit)).tolist():
        yield ConfigError('max_thrust', (
            f'{group.layout.names[i]} pushes backwards without limit; give min_thrust too, 0 '
            'for none'
        ), i)


def _battery(group: Group, limit: float) -> Iterator[ConfigError]:
    for i, _, made in _drained(group):
        capacity = group.params.batteries.capacity[i]
        seconds = 3600.0 * capacity / max(made.batteries.current[i], 1e-12)
        if seconds < limit:
            yield ConfigError('batteries.capacity', (
                f'{capacity:g} A h last {seconds:.2g} s at the largest thrust, expected above '
                f'{limit:g} s; ampere-hours, and watts per N^1.5?'
            ), i)


def _weak_battery(group: Group, limit: float) -> Iterator[ConfigError]:
    for i, name, made in _drained(group):
        users = [k for k, battery in enumerate(group.params.battery) if battery == name]
        if not users:
            yield ConfigError('batteries.names', (
                f'nothing draws from {name!r}; expected an actuator with <battery>{name}</battery>'
            ), i)
        wanted = float(np.nansum(group.layout.highest[users]))
        reached = float(made.thrusts[users].sum())
        if reached < limit * wanted:
            watts = float(made.batteries.voltage[i] * made.batteries.current[i])
            yield ConfigError('batteries.internal_resistance', (
                f'{name!r} gives {watts:.3g} W, which makes {reached:.3g} of {wanted:.4g} N; '
                'ohms, not milliohms?'
            ), i)


def _drained(group: Group) -> Iterator[tuple[int, str, Any]]:
    """Yield each battery, and what the family does with it at its largest thrusts."""
    batteries: Any = getattr(group.params, 'batteries', None)
    made = _at_most(group.family, _SPINNING) if batteries and batteries.names else None
    if made is not None and made.batteries is not None:
        for i, name in enumerate(batteries.names):
            yield i, name, made


def _gimbal(group: Group, limit: float) -> Iterator[ConfigError]:
    gimbals: Any = getattr(group.params, 'gimbals', None)
    for i, booster in enumerate(gimbals.booster if gimbals else ()):
        thrust = group.layout.axis[group.layout.names.index(booster)]
        first, second = gimbals.axes[i] / np.linalg.norm(gimbals.axes[i], axis=1)[:, None]
        if max(abs(first @ thrust), abs(second @ thrust)) > limit:
            problem = 'lies along its thrust, and turns nothing; expected one across it'
        elif abs(first @ second) > limit:
            problem = 'is parallel to the other; expected one across both'
        else:
            continue
        yield ConfigError('gimbals.axes', (
            f'an axis of the gimbal of {booster!r} {problem}: see <axis> of the joint'
        ), _PAIR * i)


def _upside_down(group: Group, limit: float) -> Iterator[ConfigError]:
    if not group.matrix.shape[1] or group.family.facts.force != THRUST_AND_TORQUE:
        return
    cosines = group.layout.axis @ group.layout.axis.T
    against, along = (cosines < -limit).sum(axis=1), (cosines > limit).sum(axis=1)
    for i in np.flatnonzero((along == 1) & (against >= 3)).tolist():
        yield ConfigError('axis', (
            f'{group.layout.names[i]} pushes against the {against[i]} others; is it upside down?'
        ), 3 * i)


# The robot.


def _alike(robot: RobotLayout, limit: float) -> Iterator[Doubt]:
    rows = [
        (group, i) for group in robot.groups if group.matrix.shape[1]
        for i in range(len(group.layout.names))
    ]
    points = np.array([group.layout.position[i] for group, i in rows]).reshape(-1, 3)
    axes = np.array([group.layout.axis[i] for group, i in rows]).reshape(-1, 3)
    yield from _tanks_alike(robot, limit)
    for k, (group, i) in enumerate(rows):
        is_near = np.linalg.norm(points[:k] - points[k], axis=1) < limit
        for j in np.flatnonzero(is_near & (axes[:k] @ axes[k] > _ALONG))[:1].tolist():
            other = rows[j][0].layout.names[rows[j][1]]
            yield group.name, ConfigError('position', (
                f'{group.layout.names[i]} pushes at the same point and the same way as {other}; '
                'is a joint or link named twice?'
            ), 3 * i)


def _tanks_alike(robot: RobotLayout, limit: float) -> Iterator[Doubt]:
    for group in robot.groups:
        tanks: Any = getattr(group.params, 'tanks', None)
        for i in range(1, len(tanks.names) if tanks else 0):
            # Tanks in base_link itself have no place of their own.
            is_near = np.linalg.norm(tanks.com[:i] - tanks.com[i], axis=1) < limit
            for j in np.flatnonzero(is_near & tanks.com[i].any())[:1].tolist():
                yield group.name, ConfigError('tanks.com', (
                    f'tank {tanks.names[i]!r} is where {tanks.names[j]!r} is; is a link named '
                    'twice?'
                ), 3 * i)


def _odd_arm(robot: RobotLayout, limit: float) -> Iterator[Doubt]:
    for group in robot.groups:
        places = group.layout.position
        if len(places) < _MANY:
            continue
        arms = np.linalg.norm(places - np.median(places, axis=0), axis=1)
        *_, last, longest = np.argsort(arms).tolist()
        if arms[longest] > limit * max(arms[last], _NEAR):
            yield group.name, ConfigError('position', (
                f'{group.layout.names[longest]} is {arms[longest]:.3g} m from the middle of the '
                f'others, which are within {arms[last]:.3g} m; see <origin> of its joint'
            ), 3 * longest)


def _one_sided(robot: RobotLayout, limit: float) -> Iterator[Doubt]:
    spun = [group for group in robot.groups if group.family.facts.force == THRUST_AND_TORQUE]
    is_winged = any(group.family.facts.force == LIFT for group in robot.groups)
    if is_winged or sum(len(group.layout.names) for group in spun) < limit:
        return
    reaction = np.vstack([
        group.matrix[3:].T - np.cross(group.layout.position, group.matrix[:3].T) for group in spun
    ])
    for k, (least, most) in enumerate(zip(*(end[3:] for end in robot.extremes), strict=True)):
        own = reaction[:, k]
        # Of arms alone it says nothing of directions.
        turns_one_way = own.any() and (np.all(own >= -_TINY) or np.all(own <= _TINY))
        if turns_one_way and (least >= 0.0) != (most <= 0.0):
            yield spun[0].name, ConfigError('direction', (
                f'the torque about {"xyz"[k]} goes from {least:.3g} to {most:.3g} N m, never the '
                'other way; does all that spins turn one way, expected some 1 and some -1?'
            ), 0)


def _turned(robot: RobotLayout, limit: float) -> Iterator[Doubt]:
    for path, angle in robot.angles.items():
        if abs(angle) > 2.0 * limit:
            yield '', SourceError(path, (
                f'an angle of {angle:g} rad is over two turns; expected radians, not degrees: '
                f'write {math.radians(angle):.6g}'
            ))


def _triangle(robot: RobotLayout, limit: float) -> Iterator[Doubt]:
    for path, link in robot.links.items():
        a, b, c = np.linalg.eigvalsh(link.inertia)
        if c > (a + b) * limit:
            yield '', SourceError(f'{path}/inertia', (
                f'its principal moments are {a:.3g}, {b:.3g} and {c:.3g} kg m^2, which no body has:'
                ' none is above the sum of the others'
            ))


def _massless(robot: RobotLayout, limit: float) -> Iterator[Doubt]:
    for path, link in robot.links.items():
        if link.mass <= limit and link.inertia.any():
            yield '', SourceError(f'{path}/mass', '0 kg with an inertia; give its mass in kg')


def _spread(robot: RobotLayout, limit: float) -> Iterator[Doubt]:
    points = [group.layout.position for group in robot.groups]
    if not robot.body.mass or not points:
        return
    reach = float(np.linalg.norm(np.vstack(points) - robot.body.com, axis=1).max())
    path, heaviest = max(robot.links.items(), key=lambda each: each[1].mass)
    for body, least, place in (
        (robot.body, reach / limit, f'{path}/inertia'),
        (heaviest, reach / limit**1.5, f'{path}/inertia'),
    ):
        radius = math.sqrt(float(np.linalg.eigvalsh(body.inertia)[-1]) / body.mass)
        if reach > _NEAR and not least <= radius <= reach * limit:
            yield '', SourceError(place, (
                f'{body.mass:.4g} kg with this inertia lie about {radius:.3g} m from their '
                f'centre, where actuators are up to {reach:.3g} m from it; kg m^2, kg and m?'
            ))
            return


def _hard(
    is_meant: Callable[[Group], bool]
) -> Callable[[RobotLayout, float], Iterator[Doubt]]:
    def of_robot(robot: RobotLayout, limit: float) -> Iterator[Doubt]:
        groups = [group for group in robot.groups if is_meant(group) and group.matrix.shape[1]]
        force = sum(_largest_force(group) for group in groups)
        if robot.body.mass and force > limit * robot.body.mass:
            yield groups[0].name, ConfigError('names', (
                f'{force:.4g} N push {robot.body.mass:.4g} kg, {force / robot.body.mass:.3g} '
                f'm/s^2, expected below {limit:g} m/s^2; N, kg, and rad/s for speeds?'
            ), 0)

    return of_robot


def _largest_force(group: Group) -> float:
    most = np.maximum(np.abs(group.layout.lowest), np.abs(group.layout.highest))
    return float(np.linalg.norm(group.layout.axis.T @ np.nan_to_num(most)))


def _buoyant(robot: RobotLayout, limit: float) -> Iterator[Doubt]:
    body = robot.params
    lifted = (body.fluid_density or float(density(body.site_altitude))) * body.displaced_volume
    if robot.body.mass and lifted > limit * robot.body.mass:
        yield '', ConfigError('body.displaced_volume', (
            f'{body.displaced_volume:g} m^3 lift {lifted:.4g} kg, where the robot has '
            f'{robot.body.mass:.4g} kg; cubic metres, not litres?'
        ))


def _stored(robot: RobotLayout, limit: float) -> Iterator[Doubt]:
    for group in robot.groups:
        batteries: Any = getattr(group.params, 'batteries', None)
        for i in range(len(batteries.names) if batteries else 0):
            energy = batteries.capacity[i] * batteries.curve(i)[1][-1]
            if robot.body.mass and energy > limit * robot.body.mass:
                yield group.name, ConfigError('batteries.capacity', (
                    f'{batteries.capacity[i]:g} A h hold {energy:.3g} W h, more than '
                    f'{robot.body.mass:.4g} kg of any battery; A h, not mA h?'
                ), i)


def _hover(robot: RobotLayout, limit: float) -> Iterator[Doubt]:
    if 'hover' in robot.expects and robot.thrust_to_weight < limit:
        weight = robot.body.mass * robot.params.gravity
        yield '', SourceError('robot', (
            f'hover is expected, with at most {robot.extremes[1][2]:.4g} N along z of '
            f'{robot.base_link} for a weight of {weight:.4g} N, a thrust to weight of '
            f'{robot.thrust_to_weight:.3g}; see axes, thrusts and masses'
        ))


AXES_OF = {
    'x': 'force x', 'y': 'force y', 'z': 'force z',
    'roll': 'torque x', 'pitch': 'torque y', 'yaw': 'torque z',
}
"""What can be expected, beside ``hover``, and the part of the wrench that it needs."""


def _uncontrolled(robot: RobotLayout, limit: float) -> Iterator[Doubt]:
    parts = {**AXES_OF, 'hover': AXES_OF['z']}
    words = [word for word in parts if word in robot.expects]
    made = robot.made([AXES.index(parts[word]) for word in words])
    for i, word in enumerate(words):
        # Whether it can hover has a rule of its own.
        if made[i, i] > 1.0 - limit or word == 'hover':
            continue
        tied = [words[k] for k in np.flatnonzero(np.abs(made[:, i]) > limit).tolist() if k != i]
        how = f'comes only with {" and ".join(tied)}' if tied else f'nothing makes {parts[word]}'
        yield '', SourceError('robot', (
            f'{word} is expected, and {how}; see axes, places and directions in check --show'
        ))


def _spins_in_water(group: Group) -> bool:
    return bool(np.any(getattr(group.params, 'fluid_density', 0.0) > _LIQUID))


_ARBIT = '542 s, the best chemical engine fired (Arbit, Clapp and Nagai 1970)'
_UNIT, _SIZE, _USE = 'another unit', 'sizes of robots', 'of no use otherwise'
_SIZES = ('chord_length', 'span_length', 'width', 'propeller_diameter', 'rotor_radius', 'grain_')

RULES = (
    Rule('degrees', 2.0 * math.pi, 'rad', _UNIT, _beyond(
        'an angle of {0:g} rad is over a full turn; expected radians, not degrees', 'rad'
    ), of_robot=_turned),
    Rule('rpm', 6283.2, 'rad/s', '60,000 rpm, the fastest small motors', _beyond(
        '{0:g} rad/s are {1:,.0f} rpm; expected rad/s, not rpm', 'rad/s', factor=RPM)),
    Rule('milliseconds', 10.0, 's', _UNIT, _beyond(
        'a lag of {0:g} s; expected seconds, not milliseconds',
        keys=('time_constant', 'ignition_delay', 'close_delay'))),
    Rule('period', 1.0, 'Hz', 'no actuator is controlled so slowly', _beyond(
        '{0:g} Hz, expected at least {2:g} Hz; a rate in Hz, not a period in s?',
        keys=('update_rate',), is_wrong=operator.lt)),
    Rule('area', 10.0, 'm^2', _SIZE, _beyond(
        'an area of {0:g} m^2, expected below {2:g} m^2; square metres, not cm^2?', 'm^2')),
    Rule('length', 50.0, 'm', _SIZE, _beyond(
        'a length of {0:g} m, expected below {2:g} m; metres, not millimetres?', keys=_SIZES)),
    Rule('lever', 50.0, 'm', _SIZE, _far),
    Rule('moment_constant', 1.0, 'm', 'propellers have 0.005 to 0.1 m', _beyond(
        'a torque of {0:g} m times the thrust, expected 0.0002 to {2:g} m; torque over thrust, in '
        'm?', keys=('moment_constant',), is_wrong=lambda size, limit: not 2e-4 <= size <= limit)),
    Rule('lift_slope', 4.0 * math.pi, '1/rad', 'twice that of a thin plate', _beyond(
        'a slope of {0:g} per rad, expected 0.25 to {2:.3g}; per rad, not per degree?',
        keys=('lift_slope',), is_wrong=lambda size, limit: not 0.25 <= size <= limit)),
    Rule('density', 400.0, 'kg/m^3', 'liquid methane, the lightest fluid of vehicles', _beyond(
        'a density of {0:g} kg/m^3, where air has 1.2 and water 1000; kg/m^3, not g/cm^3?',
        keys=('fluid_density', 'air_density'), is_wrong=_is_no_fluid)),
    Rule('celsius', 150.0, 'K', 'boiling oxygen is warmer than half of that', _beyond(
        'a temperature of {0:g} K, expected above {2:g} K; kelvin, not degrees Celsius?',
        keys=('temperature',), unit='K', is_wrong=operator.lt)),
    Rule('noise', 0.5, '', 'noise that is cut has another mean', _beyond(
        'noise of {0:g} of the thrust, expected below {2:g}; a share, not percent?',
        keys=('noise_ratio',))),
    Rule('short_lag', 1.0, 'steps', _UNIT, of_robot=_each(_short_lag)),
    Rule('impulse', 545.0, 's', _ARBIT, of_robot=_each(_impulse)),
    Rule('propellant', 0.1, 's', _USE, of_robot=_each(_propellant)),
    Rule('opening_time', 1.0, 's', 'valves in use', of_robot=_each(_valve)),
    Rule('rotor_speed', 60_000.0, 'rpm', 'the fastest small motors', of_robot=_each(_rotor_speed)),
    Rule('backwards', _NO_LIMIT, 'N', 'no limit', of_robot=_each(_no_end)),
    Rule('battery', 20.0, 's', _USE, of_robot=_each(_battery)),
    Rule('weak_battery', 0.2, '', _USE, of_robot=_each(_weak_battery)),
    Rule('energy', 700.0, 'W h/kg', 'the best cells of 2023 have 711', of_robot=_stored),
    Rule('gimbal_axis', _ALONG, '', 'geometry', of_robot=_each(_gimbal)),
    Rule('upside_down', _ALONG, '', 'geometry', of_robot=_each(_upside_down)),
    Rule('same_place', _NEAR, 'm', 'geometry', of_robot=_alike),
    Rule('odd_arm', 8.0, '', 'one of many actuators that is elsewhere', of_robot=_odd_arm),
    Rule('one_sided', 3.0, 'spinning', 'a body that only turns one way', of_robot=_one_sided),
    Rule('triangle', 1.25, '', 'any body has 1; descriptions in use 1.21', of_robot=_triangle),
    Rule('massless', 0.0, 'kg', 'any body', of_robot=_massless),
    Rule('spread', 20.0, '', _SIZE, of_robot=_spread),
    Rule('acceleration', 3000.0, 'm/s^2', 'gun-launched bodies apart', of_robot=_hard(
        lambda group: True)),
    Rule('propellers', 100.0, 'm/s^2', 'five times that of torpedoes', of_robot=_hard(
        _spins_in_water)),
    Rule('buoyancy', 10.0, '', 'balloons of air apart', of_robot=_buoyant),
    Rule('hover', 1.0, '', 'weight; where hover is expected', of_robot=_hover),
    Rule('uncontrolled', 1e-4, '', 'allocation; where an axis is expected', of_robot=_uncontrolled),
)
"""Every rule."""

NAMES = tuple(rule.name for rule in RULES)
EXPECTED = ('hover', *AXES_OF)
