# SPDX-License-Identifier: Apache-2.0
"""Plausibility rules: values that are allowed, but are likely a mistake or of another unit.

Each rule is a row of `RULES`: a number of a robot, its usual range, and the source of that. The
usual range of a parameter is declared with its unit, else that of its unit in `OF_UNIT` holds.
`graph/actuator_numbers.py`, `robot_numbers.py` and `physical_numbers.py` compute the numbers,
`graph/remedies.py` looks for changes that make them usual.
"""
from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from propulsion_ros.graph import actuator_numbers as r
from propulsion_ros.graph import physical_numbers as p
from propulsion_ros.graph import robot_numbers as n
from propulsion_ros.graph.robot_layout import RPM, RobotLayout
from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY
from propulsion_ros.settings.flat import Parameter
from propulsion_ros.settings.hints import conversions
from propulsion_ros.settings.quantity import flatten

_ENDLESS, _NEAR, _OFF, _LARGE = math.inf, 20.0, 4.0, 500.0


@dataclass(frozen=True)
class Rule:
    """A number of a parameter or of a robot, and its usual range."""

    name: str
    """Name by which the rule is silenced."""
    what: str
    """The number in words, with {} for it and its unit; the subject comes before."""
    usual: tuple[float, ...]
    unit: str
    """Ends of the usual ranges, low and high in turn, in the unit or as multiples of ``of``."""
    source: str
    """Source of the ranges."""
    find: Callable[[RobotLayout], Iterator[r.Number]] = lambda robot: iter(())
    """Yields the numbers of a robot that are judged."""
    of: str = ''
    """Reference of which the ranges are multiples, '' for the unit."""
    remedy: str = ''
    """Advice, beside units."""

    @property
    def has_unit(self) -> bool:
        """Whether a number in another unit can be the cause."""
        has_size = self.source not in (_SHAPE, '') and self.unit != '%'
        return has_size and self.usual != (0.0, _ENDLESS)

    def words(self, of: float = 1.0) -> str:
        """Return the usual ranges in words."""
        ends = [end * of for end in self.usual]
        ranges = ' or '.join(
            f'{_short(low)} to {_short(high)}' if low > 0.0 and high < _ENDLESS
            else f'at most {_short(high)}' if high < _ENDLESS
            else f'at least {_short(low)}' if low > 1e-6 or low < 0.0 else 'above 0'
            for low, high in zip(ends[::2], ends[1::2], strict=True)
        )
        return f'{ranges} {self.unit}'.rstrip()

    def fits(self, number: float, of: float = 1.0) -> bool:
        """Whether a number is usual or unknown."""
        return math.isnan(number * of) or any(
            low * of <= number and (high == _ENDLESS or number <= high * of)
            for low, high in zip(self.usual[::2], self.usual[1::2], strict=True)
        )


@dataclass(frozen=True)
class Doubt:
    """A number that is not usual."""

    rule: Rule
    number: r.Number
    remedy: str = ''
    """Change that would make it usual, if that is known."""
    meant: float = math.nan
    """The number in the unit of the remedy."""
    more: int = 0
    """Number of other rows or elements with the same doubt."""

    @property
    def place(self) -> tuple[str, str, str, int | None]:
        """Rule, block, key and index, by which doubts of one robot differ."""
        return self.rule.name, self.number.block, self.number.key, self.number.index

    @property
    def is_far_off(self) -> bool:
        """Whether a length is so far from usual that its unit may be another; True for others."""
        value = self.number.value
        return self.rule.unit != 'm' or not any(
            self.rule.fits(each, self.number.of) for each in (value / _OFF, value * _OFF)
        )

    @property
    def text(self) -> str:
        """The fault, what to write, and the name of the rule."""
        rule, number = self.rule, self.number
        found = rule.what.format(f'{_short(number.value)} {rule.unit}'.rstrip())
        expected = f', expected {rule.words(number.of)}' if '{}' in rule.what else ''
        more = f'{self.more} more like it' if self.more else ''
        remedy = self.remedy or number.remedy or rule.remedy
        parts = filter(None, [f'{number.who}{found}{expected}', remedy, more])
        return f'{"; ".join(parts)} ({self.rule.name})'


def _short(number: float) -> str:
    number += 0.0  # Not -0.
    return f'{float(f"{number:.4g}"):.10g}' if 1e-3 <= abs(number) < 1e7 else f'{number:.4g}'


def merged(doubts: Iterable[Doubt]) -> Iterator[Doubt]:
    """Yield the first doubt of each rule about a parameter or links, with the number of others."""
    found: dict[tuple[Any, ...], list[Doubt]] = {}
    for doubt in doubts:
        what = doubt.text if doubt.number.key.startswith('robot/') else doubt.number.key
        found.setdefault((doubt.rule.name, doubt.number.block, what), []).append(doubt)
    for first, *others in found.values():
        yield dataclasses.replace(first, more=len(others))


def value_doubts(
    parameters: Iterable[Parameter], given: Mapping[str, Any], silenced: Collection[str] = (),
    described: Mapping[str, Any] | None = None,
) -> Iterator[Doubt]:
    """Yield doubts about the values that a user gave a node.

    ``described`` are the values of its description, which count if these have none.
    """
    parameters = list(parameters)
    if _UNREAD.name not in silenced:
        yield from _unread(parameters, given, described or {})
    for parameter in parameters:
        rule = rule_of(parameter)
        if rule is None or rule.name in silenced or given.get(parameter.key) is None:
            continue
        values = np.asarray(given[parameter.key], dtype=object)
        usual = flatten(None if parameter.required else parameter.default)
        # Some simulators give the torque over speed squared instead of thrust.
        is_torque = parameter.key == 'moment_constant'
        by_speed = flatten(given.get('motor_constant') if is_torque else 0.0) or [0.0]
        for i, value in enumerate(np.ravel(values)):
            # 0, no limit and the default are usual.
            if isinstance(value, int | float) and 0.0 < abs(value) < r.NO_LIMIT and (
                not rule.fits(abs(value)) and value not in usual
            ):
                index, who = i if values.ndim else None, parameter.key.rpartition('.')[2]
                number = r.Number(parameter.key, abs(value), f'{who} of ', index=index)
                meant = _in_other_units(rule, value, per=by_speed[i % len(by_speed)])
                yield Doubt(rule, number, *(meant or (f'{parameter.description}?', math.nan)))


def _unread(
    parameters: Sequence[Parameter], given: Mapping[str, Any], described: Mapping[str, Any]
) -> Iterator[Doubt]:
    """Yield values that only another choice reads; their documentation begins with that choice."""
    def rows_of(one: Parameter, i: int, count: int) -> list[Any]:
        """Return the values of another parameter for a row: its own one, or else all of them."""
        made = flatten(given.get(one.key, described.get(one.key, one.default)))
        return made[i:i + 1] if len(made) == count else made

    for parameter in parameters:
        values, (group, _, last) = flatten(given.get(parameter.key)), parameter.key.rpartition('.')
        words = parameter.spec.users if values else ()
        usual = flatten(None if parameter.required else parameter.default)
        alike = [each for each in parameters if words and each is not parameter
                 and each.key.rpartition('.')[0] == group]
        switches = [each for each in alike
                    if each.spec.kind is bool and each.key.rpartition('.')[2] in words]
        for chooser in alike:
            if chooser.spec.shape == ('*',) or not {*words} & {*chooser.spec.choices}:
                continue
            for i, value in enumerate(values):
                own = rows_of(chooser, i, len(values))
                is_read = bool({*words} & {*own}) or any(
                    any(rows_of(each, i, len(values))) for each in switches)
                if own and value not in usual and not is_read:
                    by, index = chooser.key.rpartition('.')[2], i if len(values) > 1 else None
                    yield Doubt(_UNREAD, r.Number(parameter.key, 0, (
                        f'{last} is for {by} {" or ".join(words)}, and {by} is {own[0]}: '
                    ), index=index), f'write <{by}>{words[0]}</{by}>, or leave it out')


def _in_other_units(
    rule: Rule, number: float, of: float = 1.0, per: float = 0.0
) -> tuple[str, float] | tuple[()]:
    """Return what to write, in words and as a number, if another unit makes a number usual."""
    known = [*([('N m s^2', number / per)] if per else []), *conversions(number, rule.unit)]
    meant = [each for each in known if rule.fits(abs(each[1]), of)]
    if rule.unit == 'rad' and meant and float(f'{number:.5g}') != number:
        # So many digits come from an expression, which may have added degrees to radians.
        return 'is a part of it in degrees?', math.nan
    # Units that are near each other cannot be told apart.
    near = [each for each in meant if max(a := abs(each[1] / meant[0][1]), 1.0 / a) < _NEAR]
    words = [in_unit('that', *each) for each in near[:3]]
    return (f'if {", or if ".join(words)}', meant[0][1]) if meant else ()


def in_unit(what: str, word: str, meant: float) -> str:
    """Return a phrase that something is in another unit, with what to write."""
    return f'{what} is in {word}, write {meant:.6g}'


def rule_of(parameter: Parameter) -> Rule | None:
    """Return the rule for the size of a parameter, None if any is usual."""
    spec, rule = parameter.spec, OF_UNIT.get(parameter.spec.unit)
    if rule is None or spec.kind is not float:
        return None
    # Times, lengths and pressures have usual ranges only for actuators.
    is_known = spec.per_row or spec.unit in ('rad', 'rad/s', 'm^2', 'kg/m^3')
    usual = spec.usual or (rule.usual if is_known else ())
    if not usual and spec.unit == 's' and not (spec.shape or parameter.required):
        # A time in ms is a thousand times too large; if its default is 0, nothing is known.
        usual = (0.0, _LARGE * parameter.default) if parameter.default else ()
    return dataclasses.replace(rule, usual=usual) if usual else None


def robot_doubts(robot: RobotLayout, silenced: Collection[str] = ()) -> Iterator[Doubt]:
    """Yield doubts about actuators and masses together."""
    for rule in RULES:
        for number in rule.find(robot) if rule.name not in silenced else ():
            quiet = [group.timing.silenced for group in robot.groups
                     if number.block in ('', group.name)]
            if rule.fits(number.value, number.of) or any(rule.name in each for each in quiet):
                continue
            is_alone = rule.unit and not (rule.remedy or number.remedy)
            meant = is_alone and _in_other_units(rule, number.value, number.of)
            yield Doubt(rule, number, meant[0] if meant else '')


OF_UNIT = {rule.unit: rule for rule in (
    Rule('degrees', '{}', (0.0, 2.0 * math.pi), 'rad', 'one turn'),
    Rule('rpm', '{}', (0.0, 6283.2), 'rad/s', '60,000 rpm, the fastest small motors'),
    Rule('area', '{}', (0.0, 10.0), 'm^2', 'sizes of robots'),
    Rule('length', '{}', (0.0, 50.0), 'm', 'sizes of robots'),
    Rule('time', '{}', (0.0, 10.0), 's', 'actuators in use'),
    Rule('speed', '{}', (), 'm/s', 'storms'),
    Rule('rate', '{}', (), 'Hz', 'no actuator is controlled so slowly'),
    Rule('gravity', '{}', (), 'm/s^2', 'moons to Jupiter'),
    Rule('temperature', '{}', (150.0, 1e4), 'K', 'boiling oxygen has 90 K'),
    Rule('pressure', '{}', (1000.0, 1.2e8), 'Pa', 'vessels of hydrogen have 7e7 Pa'),
    # In g/cm^3, water has 1.00, that of the sea 1.03, air 0.0012; air has so little above 2000 m.
    Rule('density', '{}', (0.005, 0.99, 1.035, 1.7, 400.0, 2000.0), 'kg/m^3',
         'gases of vehicles, and liquids from methane on'),
    Rule('slope', '{}', (0.0, 4.0 * math.pi), '1/rad', 'twice that of a thin plate'),
    Rule('share', '{}', (), '', 'what flows out is not wider than its opening; hollow hemispheres'
         ' have a drag of 1.4'),
)}
"""Rules of parameters by unit, each with the usual range of a parameter without its own."""

_USE, _SHAPE, _SIZE = 'of no use otherwise', 'geometry', 'sizes of robots'
_UNITS = 'N, kg, and rad/s for speeds?'
_SEE = 'see axes, places, thrusts and masses in check --show'

_OF_SPEED = ('motor_constant or rotor_constant or input_values or thrust_coefficient or '
             'max_command')

_UNREAD = Rule('unread', 'nothing reads it', (1.0, _ENDLESS), '', _USE)

RULES = (
    _UNREAD,
    Rule('degrees', 'an angle of {}', (-4.0 * math.pi, 4.0 * math.pi), 'rad', 'two turns',
         n.angles),
    # Actuators.
    Rule('short_lag', 'has a lag of {}', (1.0, _ENDLESS), 's', '', n.short_lags,
         'the step'),
    Rule('impulse', 'burns {} at its largest thrust', (1.0 / 545.0, 1.0 / 60.0), 'kg/s', 'black '
         'powder has an impulse of 80 s, the best chemical engine fired 542 s (Arbit, Clapp and '
         'Nagai 1970)',
         r.of_rows(r.actuators, 'max_fuel_rate or specific_impulse', 'max_fuel_rate',
                   lambda a: a.max_thrust / STANDARD_GRAVITY), 'thrust over g',
         'that is a specific impulse of 60 to 545 s, and electric engines alone have more; kg/s, '
         'N and s?'),
    Rule('impulse', 'makes a stream of {}', (0.0, 100.0), 'W', 'electric propulsion',
         r.of_rows(r.actuators, 'specific_impulse', 'power', 'robot'), 'the mass', 'is it in m/s?'),
    Rule('propellant', 'lasts {} at the largest thrust', (0.1, _ENDLESS), 's', _USE,
         r.of_rows(r.tanks, 'tanks.capacity or max_thrust or max_fuel_rate or specific_impulse',
                   lambda t: t.held / t.rate),
         remedy='give <capacity> in kg or a <motor_file>, thrusts in N, and what burns in kg/s'),
    Rule('burnt', 'burns {} along its curve', (0.75, 1.25), 'kg', _USE,
         r.of_rows(r.actuators, 'thrust_curve', 'burns', 'stored'),
         'what its tank holds', 's, N, kg/s in max_fuel_rate, kg in capacity?'),
    Rule('tank', 'holds {}', (0.0, 1.0), 'kg', '25 times the mass without propellant, rockets have '
         'up to 20; once of gas, whose vessels weigh more',
         r.of_rows(r.tanks, 'tanks.capacity', 'capacity', lambda t: t.most * t.dry),
         'what such a robot can hold', 'kg?'),
    *(Rule('unused', 'serves {} actuators', (1.0, _ENDLESS), '', _USE,
           r.of_rows(rows, key, 'users'), remedy=f'is a <{tag}> missing?')
      for rows, key, tag in (
          (r.tanks, 'tanks.names', 'tank'), (r.batteries, 'batteries.names', 'battery'))),
    Rule('unused', 'draws from {} batteries, where others have one', (1.0, _ENDLESS), '', _USE,
         r.of_rows(r.actuators, 'battery', 'batteries'), remedy='is it missing?'),
    *(Rule('opening_time', f'has a valve that {does} after {{}}', (0.0, 1.0), 's', 'valves in use',
           r.of_rows(r.actuators, key, key, 'pulse'),
           'a pulse, or 1 s,', 'a pulse must be longer')
      for key, does in (('open_delay', 'opens'), ('close_delay', 'closes'))),
    Rule('rotor_speed', 'turns at {} to reach max_thrust', (30.0, 90_000.0), 'rpm',
         'large ship propellers to motors of quadrotors of 25 g; see tip_speed',
         r.of_rows(r.actuators, _OF_SPEED, lambda a: a.speed * RPM),
         remedy='is the constant per (rad/s)^2, and the thrust in N?'),
    Rule('rotor_speed', 'turns at {} in water to reach max_thrust', (0.0, 10_000.0), 'rpm',
         'the small ones of ROVs have 4000',
         r.of_rows(p.spinning, _OF_SPEED, lambda s: s.speed_in_liquid * RPM),
         remedy='is the constant per (rad/s)^2, and its command in rad/s?'),
    Rule('blades', 'makes {} of density x speed^2 x radius^4', (4e-4, 0.2), '', 'propellers have '
         '0.01 to 0.06; the radius is half of the way to the next one, of a given one see load',
         r.of_rows(r.actuators, 'motor_constant', 'blades'),
         remedy='is the constant in N s^2/rad^2, and the distance between them in m?'),
    Rule('backwards', 'pushes backwards without limit, {}', (-r.NO_LIMIT, _ENDLESS), 'N',
         'no limit', r.of_rows(r.actuators, 'max_thrust', 'lowest'),
         remedy='give min_thrust too, 0 for none'),
    Rule('battery', 'lasts {} at the largest thrust', (20.0, _ENDLESS), 's', _USE,
         r.of_rows(r.batteries, 'batteries.capacity', lambda b: 3600.0 * b.capacity / b.current),
         remedy='ampere-hours, and watts per N^1.5?'),
    Rule('weak_battery', 'can make {}', (0.2, _ENDLESS), 'N', _USE,
         r.of_rows(r.batteries, 'batteries.starting_charge or batteries.standby_power or '
                   'batteries.internal_resistance', 'made', 'wanted'),
         'the largest thrust', 'ohms, and volts of the pack?'),
    *(Rule('voltage', 'has a voltage of {}', (0.5, 1.5), 'V', _USE,
           r.of_rows(r.batteries, f'batteries.{key}', key, 'full'),
           'the full battery', 'of the pack, not of a cell?')
      for key in ('nominal_voltage', 'cut_off_voltage')),
    Rule('energy', 'holds {}', (0.0, 350.0), 'W h', 'good cells have 300 W h/kg',
         r.of_rows(r.batteries, 'batteries.capacity', lambda b: b.capacity * b.full, 'robot'),
         'the mass', 'A h?'),
    Rule('gimbal_axis', 'is {}', (8.0, _ENDLESS), 'deg', _SHAPE, n.turning_angles,
         remedy='it turns nothing; see <axis> of the joints'),
    Rule('same_place', 'is {} away', (1e-3, _ENDLESS), 'm', _SHAPE, n.distances,
         remedy='is a joint, link, axis or place that of another one, or a sign wrong?'),
    Rule('side', '{} on that side', (0.0, _ENDLESS), 'm', _SHAPE, n.sides,
         remedy='is its <joint> or <link> that of another one, or a sign in its <origin> wrong?'),
    Rule('mirror', 'turned by {}', (0.0, 2.0), 'deg', _SHAPE, n.mirrored,
         remedy='is a sign in its rpy, its <axis> or <limit>, or those of its joint wrong?'),
    Rule('mirror', 'is {} away', (0.0, 0.05), 'm', _SHAPE, n.unpaired, 'the reach of actuators',
         'is a number in its <origin> wrong?'),
    Rule('odd_one', '{} times that', (0.25, 4.0), '', '', n.odd_ones, remedy='is that a slip?'),
    Rule('one_sided', '{} that nothing takes away', (0.0, n.ONE_SIDED), 'N m',
         'a body that only turns one way', n.torques_left, 'the largest torque',
         'turn one <direction> or <axis> round; else what pushes across has too short an arm, see '
         '<origin> of its joint, or too little thrust'),
    Rule('one_sided', 'a share of {} of the torque about z comes with thrust, roll or pitch',
         (0.0, 0.3), '', _SHAPE, n.couplings),
    # The body.
    Rule('triangle', 'moment of inertia of {}', (0.0, 1.25), 'kg m^2',
         'any body has 1; descriptions in use 1.21', n.of_links(
             'inertia', lambda link: n.moments(link)[2], lambda link: sum(n.moments(link)[:2]),
             'largest ',
         ), 'the two others', 'no body has one above the sum of the others'),
    Rule('massless', '{} with an inertia', (1e-12, _ENDLESS), 'kg', 'any body',
         n.of_links('mass', lambda link: link.mass), remedy='give its mass in kg'),
    *(Rule('balance', 'push {} beside the centre of mass', (0.0, most), 'm', _SHAPE, partial(
        n.beside, on_rail=on_rail), 'the reach of actuators', 'see <origin> of their joints, and '
        'of the <inertial>') for most, on_rail in ((0.15, False), (0.02, True))),
    Rule('capsizes', 'is {} above the centre of mass', (1.0, _ENDLESS), 'm', _SHAPE,
         n.float_heights, 'how far it is beside it, over tan 20 deg,'),
    Rule('part', 'is {}', (0.0, 3.0), 'm', _SIZE, n.parts, 'the size of the robot', 'metres, and '
         'see <origin> of its joint?'),
    *(Rule('extent', 'lies {} from its centre', (least, 1.5), 'm', 'boxes have 0.58', find,
           'its shapes', 'are ixx, iyy and izz in kg m^2, of this mass, and in this order?')
      for least, find in ((n.NEAREST, n.outside), (0.0, partial(n.outside, is_main=False)))),
    Rule('aspect', 'is {} times as long as its chord', (0.3, 60.0), '', _SHAPE, r.of_rows(
        r.surfaces, 'lifting_surface.span_length or lifting_surface.chord_length',
        lambda s: s.span_length / s.chord_length,
    ), remedy='are chord_length and span_length swapped, or is one not in m?'),
    Rule('aspect', 'is {}', (0.5, 2.0), 'm', _SHAPE, p.planforms, 'the shape of its link',
         'are two lengths swapped?'),
    Rule('acceleration', 'are pushed by {}', (1e-6, 3000.0), 'N', 'm/s^2: ion engines to '
         'what no gun launches', n.any_forces, 'the mass', _UNITS),
    Rule('propellers', 'are pushed by {} in water', (0.03, 100.0), 'N', 'm/s^2: slow gliders to '
         'five times torpedoes, along one axis', n.forces_in_water, 'the mass', _UNITS),
    Rule('airborne', 'are pushed by {} in air', (0.1, 400.0), 'N', 'm/s^2: airships to twice '
         'racing drones', n.forces_in_air, 'the mass', _UNITS),
    Rule('airborne', 'are pushed by {} and carried by wings', (1.0, 400.0), 'N', 'm/s^2: motor '
         'gliders have a tenth of their weight', n.forces_on_wings, 'the mass', 'N, not '
         'kgf, and kg? What gas carries has a body.displaced_volume'),
    Rule('spin', 'are turned by {}', (0.0, 5000.0), 'N m', 'rad/s^2: five times quadrotors of 30 g',
         n.spins, 'the moment of inertia', 'kg m^2, N and m?'),
    Rule('buoyancy', '{}', (0.0, 0.35), 'N', _USE, n.surpluses, 'its largest force, or 0.03 of its '
         'weight,',
         'give its mass, body.displaced_volume and body.fluid_density'),
    Rule('buoyancy', 'lifts {}', (0.3, 10.0), 'kg', 'what swims has 1, crawlers of steel 0.3; what '
         'floats at least 1', n.lifted, 'the mass, of hulls over 0.3,', 'give the volume of water '
         'that it takes, in m^3, or the size of hulls in m'),
    # Rotors and propellers.
    Rule('tip_speed', 'has tips at {}', (15.0, 340.0), 'm/s', 'blades lose their lift at the speed '
         'of sound (Leishman, Principles of Helicopter Aerodynamics, 2006); airships have 50',
         r.of_rows(p.spinning, _OF_SPEED, 'tip_in_air'),
         remedy='N, and speeds in rad/s?'),
    Rule('tip_speed', 'has tips at {}', (4.0, 50.0), 'm/s', 'beyond it water cavitates (Carlton, '
         'Marine Propellers and Propulsion, 2018)',
         r.of_rows(p.spinning, _OF_SPEED, 'tip_in_liquid'),
         remedy='N, and speeds in rad/s?'),
    Rule('merit', 'has a figure of merit of {}', (0.15, 1.3), '', 'the ideal one has 1, in a '
         'duct 1.41; good ones 0.8, small ones 0.4 (Leishman 2006)',
         r.of_rows(p.spinning, 'moment_constant or motor_constant', 'merit', 'ideal'),
         '1, without a radius 1.5,', 'is moment_constant in m, N m over N?'),
    Rule('merit', 'has a figure of merit of {} with its motor', (0.03, 1.3), '',
         'motors lose up to four fifths',
         r.of_rows(p.spinning, 'power_constant', 'overall', 'ideal'),
         '1, without a radius 1.5,', 'is power_constant in W over N^1.5?'),
    Rule('load', 'has a thrust coefficient of {}', (0.002, 0.35), '', 'thrust over density, disk '
         'and tip speed^2: helicopters 0.004 to 0.012, propellers 0.01 to 0.05, in nozzles 0.1 '
         '(Leishman 2006; Carlton 2018), fans of model aircraft 0.3',
         r.of_rows(p.spinning, 'thrust_coefficient or rotor_radius or propeller_diameter', 'load'),
         remedy='is it of speeds in rad/s, not turns/s; metres, and N?'),
    Rule('load', 'pushes no more at an advance ratio of {}', (0.2, 5.0), '', 'pitch over diameter: '
         '0.5 to 1.5', r.of_rows(r.actuators, 'advance_coefficient', lambda a: np.where(
             a.advance_coefficient, -2.0 * math.pi * a.thrust_coefficient / (
                 a.advance_coefficient * (1.0 - a.wake_fraction)), np.nan,
         )), remedy='is its sign wrong, or that of thrust_coefficient, or is it per turn?'),
    Rule('spin', 'has an inertia of {}', (0.0, 0.1), 'kg m^2', _USE,
         r.of_rows(p.spinning, 'rotor_inertia', 'rotor_inertia', 'whole'),
         'the mass at its tips'),
    *(Rule('drag', 'is changed by {} at 1 m/s', (0.0, 0.3), 'N', _USE,
           r.of_rows(p.spinning, key, f'by_{key}', 'thrust'),
           'its thrust', 'of speeds in rad/s and m/s?') for key in p.IN_STREAM),
    Rule('reach', 'has no largest thrust', (0.0, 0.0), '', _USE, n.endless,
         remedy='give max_command or max_thrust'),
    Rule('reach', 'gets {} by its table', (0.4, 2.5), 'rad/s', _USE,
         r.of_rows(p.ends, 'input_values or max_command', 'fastest', 'asked'),
         'what is asked for at most', 'are both in rad/s?'),
    Rule('reach', 'gets {} by its curve', (0.05, _ENDLESS), 'N', _USE,
         r.of_rows(p.ends, 'output_values or rotor_constant or max_command or max_thrust', 'forth',
                   'least'), 'max_thrust, of a table over 0.12,',
         'is the constant in N s^2/rad^2, the table in N, not kgf, and the command in rad/s?'),
    Rule('reach', 'gets {} by its curve at full throttle', (0.4, 2.5), 'N or rad/s', _USE,
         r.of_rows(p.ends, 'esc_curve', 'full', 'needed'),
         'what max_thrust takes', 'in N, or with esc_gives speed in rad/s?'),
    Rule('reach', 'gets {} by its curve in neutral', (0.0, 0.05), 'N', _USE,
         r.of_rows(p.ends, 'esc_curve', 'neutral', 'full'),
         'that at full throttle', 'neutral is throttle 0, or 0.5 with reverse'),
    Rule('reach', 'gets {} by its curve at rest', (0.0, 0.25), 'N', _USE,
         r.of_rows(p.ends, 'thrust_curve', 'resting', 'forth'),
         'its largest thrust', 'N over rad/s; is thrust_curve_kind table missing?'),
    Rule('reach', 'pushes only beyond {}', (0.0, 0.25), 'N', _USE,
         r.of_rows(p.ends, 'thrust_deadband', 'thrust_deadband', 'forth'), 'its largest thrust'),
    Rule('reach', 'is cut by max_thrust at throttle {}', (1.0, _ENDLESS), '', _USE,
         r.of_rows(p.ends, 'max_thrust', 'cut'),
         remedy='is that the largest thrust, as esc_curve has it?'),
    Rule('reverse', 'pushes backwards by {}', (0.0, 0.0, 0.05, 2.5), 'N', 'propellers give a third '
         'to all of it (Carlton 2018)',
         r.of_rows(p.ends, 'min_command or min_thrust', 'reverse', 'forth'),
         'the largest thrust', 'are both limits in one unit?'),
    Rule('falls', 'has {} input_values out of order', (0.0, 0.0), '', _USE,
         r.of_rows(p.ends, 'input_values', 'disorder'),
         remedy='is one swapped, or its sign wrong?'),
    Rule('lag', 'turns by {} at the largest torque', (0.0, 2.0 * math.pi), 'rad', 'what turns '
         'over before its thrusts follow is not controlled', p.lags,
         remedy='seconds, rad/s, and kg m^2?'),
    # Joints and fins.
    Rule('travel', 'moves by {}', (2.0, _ENDLESS), 'deg', 'engines have 4 to 20 (Sutton and '
         'Biblarz, Rocket Propulsion Elements, 2017)', p.travels,
         remedy='write the lowest angle below 0 and the highest above, in rad'),
    Rule('travel', 'turns to {}', (0.0, 1.01), 'rad', 'beyond its joint, or across, is of no use',
         p.deflections, 'the largest angle of its joint, or across'),
    Rule('crossing', 'takes {} from end to end', (0.01, 60.0), 's', 'servos in use', p.crossings,
         remedy='rad/s?'),
    *(Rule('stall', f'has a {what} of {{}}', usual, '', source,
           r.of_rows(p.sections, keys, key), remedy='per rad, and in rad; is a sign wrong?')
      for what, key, usual, source, keys in (
        ('lift coefficient at stall', 'lift', (0.15, 3.0), 'Hoerner, Fluid-Dynamic Lift, 1985',
         'two_lines.lift_slope or two_lines.stall_angle'),
        ('lift at stall over its drag', 'glide', (1.0, 60.0), 'the best gliders have 60',
         'two_lines.drag_slope or two_lines.zero_lift_drag'),
        ('drag coefficient broadside', 'broadside', (0.4, 2.5), 'plates have 1.2 to 2 (Hoerner, '
         'Fluid-Dynamic Drag, 1965)', 'two_lines.stalled_drag_slope or two_lines.drag_slope'),
    )),
    Rule('stall', 'has a lift slope beyond its stall of {}', (-_ENDLESS, 0.0), '',
         'lift falls there',
         r.of_rows(p.sections, 'two_lines.stalled_lift_slope', 'stalled_lift_slope'),
         remedy='is a sign wrong?'),
    Rule('stall', 'has a lift over drag of {} at 0.3 rad', (1.0, 60.0), '',
         'the best gliders have 60',
         r.of_rows(p.plates, 'quadratic.lift_constant or quadratic.drag_constant', 'glide'),
         remedy='see both constants'),
    *(Rule('unstable', 'is {} ahead of the centre of mass', (-_ENDLESS, most), 'm', _SHAPE,
           find, 'the size of the robot', 'move them back, see <origin> of their joints '
           'and of the <inertial>: is a sign wrong?')
      for most, find in ((0.05, p.margins), (0.0, p.pressed))),
    Rule('unstable', 'has no known restoring moment', (1.0, _ENDLESS), '', _SHAPE, p.restoring,
         remedy='across, give the slope of its normal force per rad times its cross-section, in '
         'm^2, and the centre_of_pressure, where that acts'),
    Rule('heading', 'is {} from where the robot is pushed', (0.0, 80.0), 'deg', _SHAPE, p.headings,
         remedy='see <chord>, <span>, and the <axis> of what pushes'),
    Rule('fluid', 'is in {}', (0.8, 1.25), 'kg/m^3', 'one robot is in one fluid', p.fluids,
         'that of the robot', 'see body.fluid_density and fluid_density'),
    Rule('fin_area', 'has {}', (2e-4, 4.0), 'm^2', _SIZE,
         r.of_rows(p.sections, 'two_lines.area', 'area', 'size'),
         'the square of the size of the robot', 'square metres?'),
    Rule('fin_area', 'lift {} at 0.3 rad', (0.02, 50.0), 'N', 'wings of gliders have 20', p.lifts,
         'its drag', 'square metres, with the density of water? See <axis> of their joints'),
    # Tanks and engines.
    Rule('contents', 'holds a gas of {} by its inertia', (0.0015, 0.3), 'kg/mol', 'hydrogen has '
         '0.002, xenon 0.131', r.of_rows(p.contents, 'tanks.inertia or tanks.capacity or '
                                         'tanks.pressure or tanks.temperature', 'molar'),
         remedy='kg m^2 of the full tank, kg, Pa and K?'),
    Rule('contents', 'holds {} by its inertia', (30.0, 8000.0), 'kg/m^3', 'liquid hydrogen has 71, '
         'mercury 13,500, and tanks are no ellipsoids',
         r.of_rows(p.contents, 'tanks.inertia or tanks.capacity', 'density'),
         remedy='kg m^2 of the full tank, and kg?'),
    Rule('contents', 'holds {} in its grains', (800.0, 3000.0), 'kg/m^3', 'solid propellants have '
         '900 to 1900', r.of_rows(p.contents, 'tanks.grain_length or tanks.capacity or '
                                  'tanks.grain_outer_radius', 'cast'),
         remedy='radii and lengths in m, capacity in kg, and the number of grains?'),
    Rule('triangle', 'has a largest moment of inertia of {}', (0.0, 1.25), 'kg m^2', 'any body has '
         '1', r.of_rows(p.contents, 'tanks.inertia', 'largest', 'others'),
         'the two others', 'no body has one above the sum of the others'),
    Rule('throttle', 'goes down to {}', (0.0, 0.0, 0.05, 1.0), 'N', 'the deepest flown are 0.1 '
         '(Casiano, Hulka and Yang 2010)',
         r.of_rows(p.nozzles, 'min_thrust or max_thrust', 'lowest', 'max_thrust'),
         'max_thrust', 'are both in N?'),
    Rule('nozzle', 'pushes by {} on its exit', (5e3, 2e7), 'Pa', 'cold gas to the largest chamber '
         'pressures (Sutton and Biblarz 2017)',
         r.of_rows(p.nozzles, 'exit_area or max_thrust', 'flow'), remedy='square metres, and N?'),
    Rule('liftoff', '{}', (1.0, 100.0), 'N', 'what flies up, to the fastest missiles', p.liftoffs,
         'the weight, or more on a rail,',
         'N and kg? In orbit, give body.gravity 0 and body.ground false'),
    Rule('lean', 'leans its rail by {}', (0.0, 30.0), 'deg', _SHAPE, p.leans, remedy='see '
         'body.start_rpy, which stands it up, and body.rail_axis, along its nose'),
    Rule('gravity', '{}', (9.7, 9.9), 'm/s^2', 'standard air is that of Earth', p.gravities,
         remedy='elsewhere give body.fluid_density'),
    Rule('descent', '{}', (1.5, 60.0), 'm/s', 'drogues of rockets to landings of people',
         p.descents, remedy='square metres?'),
    Rule('descent', '{}', (0.0, 1.0), 'm^2', _SHAPE, p.openings, 'that of the one that opens later',
         'are two names swapped?'),
    # The body.
    Rule('bulk', '{}', (0.3, 2e4), 'kg/m^3', 'airships to the densest metals', p.bulks,
         remedy='kg, and metres in its <geometry>?'),
    Rule('extent', 'is {} outside of its shapes', (0.0, 0.2), 'm', 'all is inside', p.off_shapes,
         'their size', 'see its <origin>; is a sign wrong, or is it in metres?'),
    Rule('drag', 'has {}', (0.0, 2.5), 'm^2', 'plates have 1.2 to 2 (Hoerner 1965)', p.drags,
         'the area of the box around the robot', 'square metres?'),
    Rule('drag', 'has {}', (0.0, 2.0), 'm^5', 'a plate on a long arm has 0.6', p.dampings,
         'the size of the robot^5', 'm^5, without the density?'),
    Rule('drag', 'has {}', (0.0, 1.0), 'm^2', _SHAPE, p.lengthwise,
         'that across', 'are axes swapped, or is that a coefficient, without its area?'),
    *(Rule('drag', 'has only {}', (least, _ENDLESS), unit, 'the best hulls', find,
           'that of its volume', 'give body.drag_area, and body.angular_drag')
      for least, unit, find in (
          (0.01, 'm^2', p.undragged), (0.05, 'm^5', partial(p.undragged, is_angular=True)))),
    Rule('speed', '{}', (0.0, 1.0), 'm/s', 'faster it cannot go',
         p.currents, 'the speed of its largest force against its drag, of a start twice that'),
    Rule('dry', 'is {} above the water', (-_ENDLESS, 0.0), 'm', 'propellers push water',
         p.dry_propellers, remedy='is a sign in its <origin> wrong?'),
    Rule('start', '{} from where it floats', (0.0, 0.5), 'm', 'it falls, or is thrown up',
         p.starts, 'the height of its hulls', 'see afloat in check --show'),
    Rule('start', '{} below ground_height', (-_ENDLESS, 1.0), 'm', _SHAPE, p.buried,
         'the size of the robot', 'is it a height in the world, in m?'),
    Rule('start', '{} above the water', (-_ENDLESS, 1.0), 'm', _SHAPE,
         p.submerged_starts, 'the size of the robot', 'z is up: write it below 0'),
    Rule('start', '{} above the ground', (-_ENDLESS, 1.0), 'm', _SHAPE, p.rail_starts,
         'the size of the robot', 'the pad is at 0; its height is body.site_altitude'),
    # Abilities, which count if they are expected.
    Rule('hover', 'push along z by {}', (1.0, _ENDLESS), 'N', 'weight; where hover is expected',
         n.lifts, 'the weight', f'is it in N? 1 kgf is 9.80665 N; {_SEE}'),
    Rule('uncontrolled', '{} of it can be made alone', (99.99, _ENDLESS), '%',
         'allocation; where an axis is expected', n.made_alone, remedy=_SEE),
    Rule('one_way', 'the other way {}', (1e-9, _ENDLESS), '',
         'both signs; where an axis is expected', n.weaker_ways, remedy=_SEE),
)
"""Rules of robots."""

NAMES = tuple(dict.fromkeys([
    'body', *(rule.name for rule in (*OF_UNIT.values(), *RULES)), 'centre',
    'gyration', 'odd_arm', 'pressure_centre', 'sinks', 'spread', 'turned', 'upside_down',
]))
"""Names that can be silenced: refusals of the simulated body, rules, and names of former rules."""
