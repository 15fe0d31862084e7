# SPDX-License-Identifier: Apache-2.0
"""Rules of sense: values that are allowed, and that are likely another unit or a mistake.

Each rule is a row of `RULES`: a number, its usual range, where that comes from and what to write.
`graph/seen.py` computes the numbers of a robot; those of parameters are the values themselves.
"""
from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from propulsion_ros.graph import seen
from propulsion_ros.graph.robot_layout import RobotLayout
from propulsion_ros.settings.errors import ConfigError, SourceError
from propulsion_ros.settings.flat import Parameter
from propulsion_ros.settings.hints import UNITS

_NO_LIMIT = 1e9
"""Beyond it a value stands for no limit."""
_ENDLESS = math.inf


@dataclass(frozen=True)
class Rule:
    """A number of a parameter or of a robot, and what is usual for it."""

    name: str
    """Silences it."""
    what: str
    """The number in words, with {} for it and its unit, after what has it."""
    low: float
    high: float
    unit: str
    """Ends of the usual range, in the unit or as multiples of ``of``."""
    remedy: str
    """What to write or to look at."""
    source: str
    """Where the range comes from."""
    of: str = ''
    """What the range is a multiple of, '' for the unit."""
    other: str = ''
    """Unit in which the number is often written by mistake."""
    gaps: Sequence[tuple[float, float]] = ()
    """Ranges within that are not usual."""
    is_meant: Callable[[Parameter], bool] = lambda parameter: False
    """Whether it is about the size of the values of a parameter; 0 is always usual."""
    find: Callable[[RobotLayout], Iterator[seen.Seen]] = lambda robot: iter(())
    """Yields the numbers of a robot that it is about."""

    def ranges(self, of: float = 1.0) -> list[tuple[float, float]]:
        """Return the ranges that are usual, in the unit."""
        ends = [end * of for end in (self.low, *(e for gap in self.gaps for e in gap), self.high)]
        return list(zip(ends[::2], ends[1::2], strict=True))

    def usual(self, of: float = 1.0) -> str:
        """Return those ranges in words."""
        words = ' or '.join(
            f'{_short(low)} to {_short(high)}' if low > 0.0 and high < _ENDLESS
            else f'at most {_short(high)}' if high < _ENDLESS
            else f'at least {_short(low)}' if low > 1e-6 or low < 0.0 else 'above 0'
            for low, high in self.ranges(of)
        )
        return f'{words} {self.unit}'.rstrip()

    def doubt(self, number: float, of: float = 1.0, who: str = '') -> str:
        """Return what is wrong with a number and what to write, '' for right or unknown."""
        if math.isnan(number) or any(low <= number <= high for low, high in self.ranges(of)):
            return ''
        factor = UNITS.get(self.other, (0.0, ''))[0]
        meant = f'; if that is in {self.other}, write {number * factor:.6g}' if factor else ''
        rest = f'; {self.remedy}' if self.remedy else ''
        found = self.what.format(f'{_short(number)} {self.unit}'.rstrip())
        return f'{who}{found}, expected {self.usual(of)}{meant}{rest}'


def value_doubts(
    parameters: Iterable[Parameter], given: Mapping[str, Any], silenced: Collection[str] = ()
) -> Iterator[ConfigError]:
    """Yield what is implausible among the values that a user gave a node, and what to check."""
    for parameter in parameters:
        rules = [rule for rule in RULES if rule.name not in silenced and rule.is_meant(parameter)]
        if not rules or given.get(parameter.key) is None:
            continue
        values = np.asarray(given[parameter.key], dtype=object)
        for i, value in enumerate(np.ravel(values)):
            if isinstance(value, int | float) and 0.0 < abs(value) < _NO_LIMIT:
                for text, rule in ((rule.doubt(abs(value)), rule) for rule in rules):
                    if text:
                        index = i if values.ndim else None
                        yield ConfigError(parameter.key, f'{text} ({rule.name})', index)


def robot_doubts(
    robot: RobotLayout, silenced: Collection[str] = ()
) -> Iterator[tuple[str, ConfigError]]:
    """Yield what is implausible about actuators and masses together, and what to check.

    Each with the block that it is about, '' for the robot.
    """
    for rule in RULES:
        for each in rule.find(robot) if rule.name not in silenced else ():
            quiet = [group.timing.silenced for group in robot.groups
                     if each.block in ('', group.name)]
            text = rule.doubt(each.number, each.of, each.who)
            if text and not any(rule.name in names for names in quiet):
                text = f'{text} ({rule.name})'
                is_path = each.key.startswith('robot')
                yield each.block, (
                    SourceError(each.key, text) if is_path
                    else ConfigError(each.key, text, each.index)
                )


def _short(number: float) -> str:
    number += 0.0  # Not -0.
    return f'{float(f"{number:.4g}"):.10g}' if 1e-3 <= abs(number) < 1e7 else f'{number:.4g}'


def _keys(*keys: str, unit: str | None = None) -> Callable[[Parameter], bool]:
    """Return whether a parameter is a number whose key begins like some, in a unit."""
    def is_meant(parameter: Parameter) -> bool:
        spec, last = parameter.spec, parameter.key.rpartition('.')[2]
        is_number = spec.kind is float and not spec.geometry
        return is_number and last.startswith(keys or '') and unit in (None, spec.unit)

    return is_meant


def _is_place(parameter: Parameter) -> bool:
    return parameter.spec.geometry in ('origin', 'joint_origins')


_ARBIT = '542 s, the best chemical engine fired (Arbit, Clapp and Nagai 1970)'
_UNIT, _SIZE, _USE, _SHAPE = 'another unit', 'sizes of robots', 'of no use otherwise', 'geometry'
_SEE = 'see axes, places, thrusts and masses in check --show'

RULES = (
    # Numbers of parameters.
    Rule('degrees', 'an angle of {}', 0.0, 2.0 * math.pi, 'rad', '', _UNIT, other='degrees',
         is_meant=_keys(unit='rad'), find=seen.angles),
    Rule('rpm', 'a speed of {}', 0.0, 6283.2, 'rad/s', '', '60,000 rpm, the fastest small motors',
         other='rpm', is_meant=_keys(unit='rad/s')),
    Rule('milliseconds', 'a time of {}', 0.0, 10.0, 's', '', _UNIT, other='ms', is_meant=_keys(
        'time_constant', 'ignition_delay', 'close_delay', 'command_timeout')),
    Rule('period', 'a rate of {}', 1.0, _ENDLESS, 'Hz', 'a rate in Hz, not a period in s?',
         'no actuator is controlled so slowly', is_meant=_keys('update_rate')),
    Rule('area', 'an area of {}', 0.0, 10.0, 'm^2', '', _SIZE, other='cm^2',
         is_meant=_keys(unit='m^2')),
    Rule('length', 'a length of {}', 0.0, 50.0, 'm', '', _SIZE, other='mm', is_meant=_keys(
        'chord_length', 'span_length', 'width', 'propeller_diameter', 'rotor_radius', 'grain_')),
    Rule('lever', 'is {} from base_link', 0.0, 50.0, 'm', '', _SIZE, other='mm',
         is_meant=_is_place),
    Rule('moment_constant', 'a torque over thrust of {}', 2e-4, 1.0, 'm',
         'torque over thrust, in m?', 'propellers have 0.005 to 0.1 m',
         is_meant=_keys('moment_constant')),
    Rule('lift_slope', 'a slope of {}', 0.25, 4.0 * math.pi, '1/rad', 'per rad, not per degree?',
         'twice that of a thin plate', is_meant=_keys('lift_slope')),
    Rule('drag', 'a drag coefficient of {}', 0.0, 3.0, '', 'drag over dynamic pressure and area?',
         'a hollow hemisphere has 1.4', is_meant=_keys('zero_lift_drag')),
    Rule('discharge', 'a discharge coefficient of {}', 0.0, 1.0, '', '',
         'no stream is wider than its opening', other='%', is_meant=_keys('discharge_coefficient')),
    Rule('celsius', 'a temperature of {}', 150.0, _ENDLESS, 'K', 'kelvin, not degrees Celsius?',
         'boiling oxygen is warmer than half of that', is_meant=_keys('temperature', unit='K')),
    Rule('pressure', 'a pressure of {}', 1000.0, _ENDLESS, 'Pa', '', _USE, other='bar',
         is_meant=lambda each: each.key in ('tanks.pressure', 'tanks.regulated_pressure')),
    Rule('noise', 'noise of {}', 0.0, 0.5, 'of the thrust', 'a share, not percent?',
         'noise that is cut has another mean', is_meant=_keys('noise_ratio')),
    # In g/cm^3, water has 1.00 and that of the sea 1.03; air has so little above 2000 m.
    Rule('density', 'a density of {}', 0.0, 2000.0, 'kg/m^3', 'kg/m^3, not g/cm^3?',
         'gases of vehicles, and liquids from methane on', gaps=((0.99, 1.035), (1.7, 400.0)),
         is_meant=_keys('fluid_density', 'air_density')),
    # Numbers of actuators.
    Rule('short_lag', 'a lag of {}', 1.0, _ENDLESS, 's', '0 for none, or seconds?', _UNIT,
         of='the step', find=seen.lags),
    Rule('impulse', 'a specific impulse of {}', 25.0, 545.0, 's', 'kg/s, N and s?',
         f'28 s, xenon as cold gas (Sutton and Biblarz), to {_ARBIT}', find=seen.impulses),
    Rule('propellant', 'lasts {} at the largest thrust', 0.1, _ENDLESS, 's',
         'give <capacity> in kg, and what burns in kg/s', _USE, find=seen.burning_times),
    Rule('burnt', 'burns {}', 0.0, 5.0, 'kg', 's and N?', _USE, of='what its tank holds',
         find=seen.burnt),
    Rule('tank', 'holds {}', 0.0, 25.0, 'kg', 'kg, not g?', 'tanks of rockets hold up to 20',
         of='the mass without propellant', find=seen.loads),
    Rule('unused', '{}', 1.0, _ENDLESS, '', 'is a tag missing?', _USE, find=seen.users),
    Rule('opening_time', 'a valve that opens after {}', 0.0, 1.0, 's', 'a pulse must be longer; '
         'seconds, not milliseconds?', 'valves in use', of='a pulse, or 1 s,', find=seen.valves),
    Rule('rotor_speed', 'turns at {} to reach max_thrust', 30.0, 60_000.0, 'rpm', 'is the '
         'constant per (rad/s)^2, not per rpm^2, and the thrust in N?',
         'large ship propellers to the fastest small motors', find=seen.turns),
    Rule('backwards', 'pushes backwards without limit, {}', -_NO_LIMIT, _ENDLESS, 'N',
         'give min_thrust too, 0 for none', 'no limit', find=seen.reverse_thrusts),
    Rule('battery', 'lasts {} at the largest thrust', 20.0, _ENDLESS, 's',
         'ampere-hours, and watts per N^1.5?', _USE, find=seen.discharges),
    Rule('weak_battery', 'makes {}', 0.2, _ENDLESS, 'N', 'ohms, not milliohms?', _USE,
         of='the largest thrust', find=seen.powers),
    Rule('voltage', 'a voltage of {}', 0.5, 1.5, 'V', 'of the pack, not of a cell?', _USE,
         of='the full battery', find=seen.voltages),
    Rule('energy', 'holds {}', 0.0, 700.0, 'W h', 'A h, not mA h?', 'the best cells of 2023 have '
         '711 W h/kg', of='the mass', find=seen.energies),
    Rule('gimbal_axis', 'is {}', 8.0, _ENDLESS, 'deg',
         'it turns nothing; see <axis> of the joints', _SHAPE, find=seen.gimbal_angles),
    Rule('upside_down', 'pushes against {} others', 0.0, 2.0, '',
         'is it upside down?', _SHAPE, find=seen.opposed),
    Rule('same_place', 'is {} away', 1e-3, _ENDLESS, 'm', 'is a joint or link named twice?', _SHAPE,
         find=seen.distances),
    Rule('odd_arm', 'is {} from the middle of the others', 0.0, 8.0, 'm',
         'see <origin> of its joint', _SIZE, of='the next longest arm', find=seen.arms),
    Rule('odd_one', 'is {}', 0.25, 4.0, '', 'is that a slip?', _USE,
         of='that of all others', find=seen.slips),
    Rule('one_sided', 'the other way {}', 1e-9, _ENDLESS, 'N m',
         'does all that spins turn one way, expected some 1 and some -1?',
         'a body that only turns one way', find=seen.reactions),
    # Numbers of the body.
    Rule('triangle', 'one is {}', 0.0, 1.25, 'kg m^2', 'no body has one above the sum of the '
         'others', 'any body has 1; descriptions in use 1.21', of='the two others',
         find=seen.moments),
    Rule('massless', '{} with an inertia', 1e-12, _ENDLESS, 'kg', 'give its mass in kg', 'any body',
         find=seen.masses),
    Rule('spread', 'lie {} from their centre', 0.05, 20.0, 'm', 'kg m^2, kg and m?', _SIZE,
         of='the reach of actuators', find=seen.spreads),
    Rule('centre', 'is {} away', 0.0, 10.0, 'm', 'metres, not millimetres?', _SIZE,
         of='the radius of gyration, or of the actuators', find=seen.centres),
    Rule('turned', 'actuators reach {}', 1 / 3, _ENDLESS, 'm', 'are ixx, iyy and izz swapped?',
         _SHAPE, of='the widest actuators', find=seen.rods),
    Rule('extent', 'lies {} from its centre', 0.0, 1.5, 'm', 'are ixx, iyy and izz swapped, or in '
         'kg m^2?', 'all mass is inside', of='its shapes', find=seen.outside),
    Rule('acceleration', 'are pushed by {}', 0.0, 3000.0, 'N', 'N, kg, and rad/s for speeds?',
         'm/s^2, gun-launched bodies apart', of='the mass', find=seen.forces),
    Rule('propellers', 'are pushed by {} in water', 0.0, 100.0, 'N', 'N, kg, and rad/s for speeds?',
         'm/s^2, five times that of torpedoes', of='the mass', find=seen.forces_in_water),
    Rule('buoyancy', 'lifts {}', 0.0, 10.0, 'kg', 'cubic metres, not litres?',
         'balloons of air apart', of='the mass', find=seen.lifted),
    Rule('sinks', 'lifts {}', 0.04, _ENDLESS, 'kg',
         'give the volume of water that it takes, in m^3', 'the heaviest metal', of='the mass',
         find=seen.lifted_in_liquid),
    # Numbers that count where something is expected.
    Rule('hover', 'push along z by {}', 1.0, _ENDLESS, 'N', _SEE, 'weight; where hover is expected',
         of='the weight', find=seen.lifts),
    Rule('uncontrolled', 'its share alone is {}', 1.0 - 1e-4, _ENDLESS, '', _SEE,
         'allocation; where an axis is expected', find=seen.made_alone),
    Rule('one_way', 'the other way {}', 1e-9, _ENDLESS, '', _SEE,
         'both signs; where an axis is expected', find=seen.weaker_ways),
)
"""Every rule."""

NAMES = ('body', *(rule.name for rule in RULES))
"""What can be silenced: each rule, and what the simulated body refuses."""
