# SPDX-License-Identifier: Apache-2.0
"""Rules of sense: values that are allowed, and that are likely another unit or a mistake.

Each rule is a row of `RULES`, with its limit and where that comes from; a name silences it.
"""
from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from propulsion_ros.graph.robot_layout import RPM, Group, RobotLayout
from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY
from propulsion_ros.models.common.facts import THRUST_AND_TORQUE
from propulsion_ros.models.common.family import Allocatable, BodyState, Command, Family
from propulsion_ros.models.common.start import Restartable
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


def _over(
    text: str, unit: str = '', key: str = '', factor: float = 1.0
) -> Callable[[Parameter, float, float], str]:
    """Return a rule on values of a unit, or of keys that begin alike; ``text`` has the number."""
    def of_value(parameter: Parameter, size: float, limit: float) -> str:
        last = parameter.key.rpartition('.')[2]
        is_meant = last.startswith(key) if key else parameter.spec.unit == unit
        is_over = is_meant and parameter.spec.kind is float and size > limit
        return text.format(size, size * factor, limit) if is_over else ''

    return of_value


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
    for key in ('time_constant', 'time_constant_up', 'time_constant_down'):
        lags = np.ravel(getattr(group.params, key, ()))
        for i in np.flatnonzero((lags > 0.0) & (lags < limit * step)).tolist():
            yield ConfigError(key, (
                f'a lag of {lags[i]:g} s within one step of {step:g} s; expected 0 for none, or '
                'seconds'
            ), i)


def _impulse(group: Group, least: float, most: float) -> Iterator[ConfigError]:
    rates = getattr(group.params, 'max_fuel_rate', np.zeros(0))
    given = getattr(group.params, 'specific_impulse', np.zeros(0))
    for i, rate in enumerate(rates.tolist() or given.tolist()):
        by_rate = bool(len(rates)) and not given[i]
        if by_rate and not rate:
            continue
        impulse = group.params.max_thrust[i] / (rate * STANDARD_GRAVITY) if by_rate else given[i]
        if not least <= impulse <= most:
            key = 'max_fuel_rate' if by_rate else 'specific_impulse'
            yield ConfigError(key, (
                f'a specific impulse of {impulse:.4g} s, expected {_LEAST_IMPULSE:g} to '
                f'{_MOST_IMPULSE:g} s; kg/s, N and s?'
            ), i)


def _fast(group: Group, limit: float) -> Iterator[ConfigError]:
    for i in np.flatnonzero(group.speeds * RPM > limit).tolist():
        yield ConfigError('motor_constant', (
            f'{group.layout.names[i]} turns at {group.speeds[i] * RPM:,.0f} rpm to reach '
            'max_thrust; is the constant per (rad/s)^2, not per rpm^2?'
        ), i)


def _slow(group: Group, limit: float) -> Iterator[ConfigError]:
    for i in np.flatnonzero((group.speeds > 0.0) & (group.speeds * RPM < limit)).tolist():
        yield ConfigError('motor_constant', (
            f'{group.layout.names[i]} reaches max_thrust at {group.speeds[i] * RPM:.3g} rpm, '
            f'expected above {limit:g} rpm; is the constant in N per (rad/s)^2?'
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
    batteries: Any = getattr(group.params, 'batteries', None)
    made = _at_most(group.family, _SPINNING) if batteries else None
    if made is None or made.batteries is None:
        return
    seconds = 3600.0 * batteries.capacity / np.maximum(made.batteries.current, 1e-12)
    for i in np.flatnonzero(seconds < limit).tolist():
        yield ConfigError('batteries.capacity', (
            f'{batteries.capacity[i]:g} A h last {seconds[i]:.2g} s at the largest thrust, '
            f'expected above {limit:g} s; ampere-hours, and watts per N^1.5?'
        ), i)


def _gimbal(group: Group, limit: float) -> Iterator[ConfigError]:
    gimbals: Any = getattr(group.params, 'gimbals', None)
    for i, booster in enumerate(gimbals.booster if gimbals else ()):
        thrust = group.layout.axis[group.layout.names.index(booster)]
        for axis in gimbals.axes[i]:
            if abs(axis @ thrust) > limit * np.linalg.norm(axis):
                yield ConfigError('gimbals.axes', (
                    f'an axis of the gimbal of {booster!r} lies along its thrust, and turns '
                    'nothing; expected one across it: see <axis> of the joint'
                ), i)


def _upside_down(group: Group, limit: float) -> Iterator[ConfigError]:
    if not group.matrix.shape[1] or group.family.facts.force != THRUST_AND_TORQUE:
        return
    cosines = group.layout.axis @ group.layout.axis.T
    against, along = (cosines < -limit).sum(axis=1), (cosines > limit).sum(axis=1)
    for i in np.flatnonzero((along == 1) & (against >= 3)).tolist():
        yield ConfigError('axis', (
            f'{group.layout.names[i]} pushes against the {against[i]} others; is it upside down?'
        ), i)


# The robot.


def _alike(robot: RobotLayout, limit: float) -> Iterator[Doubt]:
    rows = [
        (group, i) for group in robot.groups if group.matrix.shape[1]
        for i in range(len(group.layout.names))
    ]
    points = np.array([group.layout.position[i] for group, i in rows]).reshape(-1, 3)
    axes = np.array([group.layout.axis[i] for group, i in rows]).reshape(-1, 3)
    for k, (group, i) in enumerate(rows):
        is_near = np.linalg.norm(points[:k] - points[k], axis=1) < limit
        for j in np.flatnonzero(is_near & (axes[:k] @ axes[k] > _ALONG))[:1].tolist():
            other = rows[j][0].layout.names[rows[j][1]]
            yield group.name, ConfigError('position', (
                f'{group.layout.names[i]} pushes at the same point and the same way as {other}; '
                'is a joint or link named twice?'
            ), i)


def _one_sided(robot: RobotLayout, limit: float) -> Iterator[Doubt]:
    spun = [group for group in robot.groups if group.family.facts.force == THRUST_AND_TORQUE]
    if sum(len(group.layout.names) for group in spun) < limit:
        return
    for axis, least, most in zip('xyz', *(end[3:] for end in robot.extremes), strict=True):
        if (least >= 0.0) != (most <= 0.0):
            yield spun[0].name, ConfigError('direction', (
                f'the torque about {axis} goes from {least:.3g} to {most:.3g} N m, never the other '
                'way; does all that spins turn one way, expected some 1 and some -1?'
            ), 0)


def _triangle(robot: RobotLayout, limit: float) -> Iterator[Doubt]:
    for path, link in robot.links.items():
        a, b, c = np.linalg.eigvalsh(link.inertia)
        if c > (a + b) * limit:
            yield '', SourceError(f'{path}/inertia', (
                f'its principal moments are {a:.3g}, {b:.3g} and {c:.3g} kg m^2, which no body has:'
                ' none is above the sum of the others'
            ))


def _spread(robot: RobotLayout, limit: float) -> Iterator[Doubt]:
    points = [group.layout.position for group in robot.groups]
    if not robot.body.mass or not points:
        return
    reach = float(np.linalg.norm(np.vstack(points) - robot.body.com, axis=1).max())
    radius = math.sqrt(float(np.linalg.eigvalsh(robot.body.inertia)[-1]) / robot.body.mass)
    if radius and reach > _NEAR and not reach / limit <= radius <= reach * limit:
        yield '', SourceError('robot/link/inertial/inertia', (
            f'{robot.body.mass:.4g} kg with this inertia lie about {radius:.3g} m from their '
            f'centre, where actuators are up to {reach:.3g} m from it; kg m^2 and kg?'
        ))


def _hard(robot: RobotLayout, limit: float) -> Iterator[Doubt]:
    force = float(np.nanmax(np.abs(robot.extremes)[:, :3], initial=0.0))
    if robot.body.mass and force > limit * robot.body.mass:
        yield '', SourceError('robot/link/inertial/mass', (
            f'{force:.4g} N push {robot.body.mass:.4g} kg, {force / robot.body.mass:.3g} m/s^2, '
            f'expected below {limit:g} m/s^2; N and kg?'
        ))


def _hover(robot: RobotLayout, limit: float) -> Iterator[Doubt]:
    if 'hover' in robot.expects and robot.thrust_to_weight < limit:
        yield '', SourceError('robot', (
            f'hover is expected, with a thrust to weight of {robot.thrust_to_weight:.3g} along z '
            f'of {robot.base_link}, expected above {limit:g}'
        ))


AXES_OF = {
    'x': 'force x', 'y': 'force y', 'z': 'force z',
    'roll': 'torque x', 'pitch': 'torque y', 'yaw': 'torque z',
}
"""What can be expected, beside ``hover``, and the part of the wrench that it needs."""


def _uncontrolled(robot: RobotLayout, limit: float) -> Iterator[Doubt]:
    for word in sorted(robot.expects & set(AXES_OF)):
        if AXES_OF[word] not in robot.controlled:
            yield '', SourceError('robot', (
                f'{word} is expected, and no thrusts make {AXES_OF[word]} alone; see check --show'
            ))


_LEAST_IMPULSE, _MOST_IMPULSE = 10.0, 545.0
_SUTTON = 'Sutton and Biblarz, Rocket Propulsion Elements'
_ARBIT = '542 s, the best chemical engine fired (Arbit, Clapp and Nagai 1970)'
_UNIT, _SIZE, _USE = 'another unit', 'sizes of robots', 'of no use otherwise'

RULES = (
    Rule('degrees', 2.0 * math.pi, 'rad', _UNIT, _over(
        'an angle of {0:g} rad is over a full turn; expected radians, not degrees', 'rad')),
    Rule('rpm', 6283.2, 'rad/s', '60,000 rpm, the fastest small motors', _over(
        '{0:g} rad/s are {1:,.0f} rpm; expected rad/s, not rpm', 'rad/s', factor=RPM)),
    Rule('milliseconds', 10.0, 's', _UNIT, _over(
        'a lag of {0:g} s; expected seconds, not milliseconds', key='time_constant')),
    Rule('long_delay', 10.0, 's', _UNIT, _over(
        'a delay of {0:g} s, expected below {2:g} s; seconds, not milliseconds?',
        key='ignition_delay')),
    Rule('opening_time', 1.0, 's', 'valves in use', _over(
        'a valve that takes {0:g} s, expected below {2:g} s; seconds, not milliseconds?',
        key='valve_')),
    Rule('area', 10.0, 'm^2', _SIZE, _over(
        'an area of {0:g} m^2, expected below {2:g} m^2; square metres, not cm^2?', 'm^2')),
    Rule('lever', 50.0, 'm', _SIZE, _far),
    Rule('moment_constant', 1.0, 'm', 'propellers have 0.005 to 0.1 m', _over(
        'a torque of {0:g} m times the thrust, expected below {2:g} m; m, not cm or mm?',
        key='moment_constant')),
    Rule('lift_slope', 4.0 * math.pi, '1/rad', 'twice that of a thin plate', _over(
        'a slope of {0:g} per rad, expected below {2:.3g}; per rad, not per degree?', '1/rad')),
    Rule('capacity', 1e4, 'kg or A h', _SIZE, _over(
        'a capacity of {0:g}, expected below {2:g}; kg, or A h and not mA h?', key='capacity')),
    Rule('noise', 0.5, '', 'noise that is cut has another mean', _over(
        'noise of {0:g} of the thrust, expected below {2:g}; a share, not percent?',
        key='noise_ratio')),
    Rule('short_lag', 1.0, 'steps', _UNIT, of_robot=_each(_short_lag)),
    Rule('high_impulse', _MOST_IMPULSE, 's', _ARBIT, of_robot=_each(
        lambda group, limit: _impulse(group, 0.0, limit))),
    Rule('low_impulse', _LEAST_IMPULSE, 's', _SUTTON, of_robot=_each(
        lambda group, limit: _impulse(group, limit, math.inf))),
    Rule('fast_rotor', 60_000.0, 'rpm', 'the fastest small motors', of_robot=_each(_fast)),
    Rule('slow_rotor', 30.0, 'rpm', 'large ship propellers', of_robot=_each(_slow)),
    Rule('backwards', _NO_LIMIT, 'N', 'no limit', of_robot=_each(_no_end)),
    Rule('battery', 20.0, 's', _USE, of_robot=_each(_battery)),
    Rule('gimbal_axis', _ALONG, '', 'geometry', of_robot=_each(_gimbal)),
    Rule('upside_down', _ALONG, '', 'geometry', of_robot=_each(_upside_down)),
    Rule('same_place', _NEAR, 'm', 'geometry', of_robot=_alike),
    Rule('one_sided', 3.0, 'spinning', 'a body that only turns one way', of_robot=_one_sided),
    Rule('triangle', 1.25, '', 'any body has 1; descriptions in use 1.21', of_robot=_triangle),
    Rule('spread', 20.0, '', _SIZE, of_robot=_spread),
    Rule('acceleration', 3000.0, 'm/s^2', 'gun-launched bodies apart', of_robot=_hard),
    Rule('hover', 1.0, '', 'weight; where hover is expected', of_robot=_hover),
    Rule('uncontrolled', 0.0, '', 'allocation; where an axis is expected', of_robot=_uncontrolled),
)
"""Every rule."""

NAMES = tuple(rule.name for rule in RULES)
EXPECTED = ('hover', *AXES_OF)
