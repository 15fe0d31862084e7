# SPDX-License-Identifier: Apache-2.0
"""Finds the one number in another unit that explains several doubts about a robot."""
from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from propulsion_ros.graph.actuator_numbers import Number
from propulsion_ros.graph.doubts import RULES, Doubt, in_unit, robot_doubts, value_doubts
from propulsion_ros.graph.node_config import schema_of
from propulsion_ros.graph.read_layout import Sources
from propulsion_ros.graph.simulation import BODY
from propulsion_ros.models.body.rigid_body import BodyParams
from propulsion_ros.models.body.simulated_body import ParachutesParams
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.flat import Parameter, parameters_of
from propulsion_ros.settings.hints import conversions
from propulsion_ros.settings.quantity import FloatArray, flatten
from propulsion_ros.urdf.gz_dialect import SPEED_OF_THRUST

_MANY = 1000  # with more numbers and links the search takes too long
_FEW = 4  # doubted rows or links that are tried one by one
_OFFERED = 3  # most numbers that a line offers
_FAR = 20.0  # least factor between units that usual ranges can distinguish
_FOLLOWING = {
    'same_place': ('one_sided', 'balance', 'blades', 'uncontrolled', 'mirror'),
    'fluid': ('fin_area',),
    'impulse': ('propellant', 'burnt'), 'odd_one': ('mirror',),
    'merit': ('weak_battery', 'battery'), 'lag': ('weak_battery',),
    'reach': ('airborne', 'tip_speed', 'hover'),
}
"""Rules whose doubts of a block, or of the robot, follow from a doubt by another rule."""
_NAMES = frozenset(rule.name for rule in RULES)
_CURVE = 'esc_curve'
_OF_LINK = {'mass': ('mass', 'kg'), 'inertia': ('inertia', 'kg m^2'), 'com': ('origin/@xyz', 'm')}
"""Elements and units of the mass of a link."""


@dataclass(frozen=True)
class Change:
    """A number, or one of all actuators, that is taken to be in another unit."""

    key: str
    block: str
    index: int | None
    word: str
    """Unit in which it is taken to be."""
    meant: float
    """The number in SI units."""
    made: Sources


def doubts_of(sources: Sources, silenced: Collection[str] = ()) -> Iterator[Doubt]:
    """Yield the doubts about a robot, one for all that one number in another unit explains.

    Doubts about a single tag come first; doubts that follow from it, or from a parameter of a file,
    are left out.
    """
    known = set()
    for node, schema in _schemas(sources).items():
        spec, given = sources.specs.get(node), sources.given.get(node, {})
        values = {**(spec.values if spec else {}), **given}
        widths = {each.key: math.prod(map(int, each.spec.shape[1:])) for each in schema}
        quiet = {*silenced, *flatten(values.get('silenced', ()))}
        for doubt in value_doubts(schema, values):
            key = doubt.number.key
            if doubt.rule.name != 'unread':
                known.add((node if spec else '', key))
            # Doubts about values of a file are reported with the file.
            is_of_joint = str(spec and spec.locate(ConfigError(key, '', doubt.number.index), given)
                              ).startswith('robot/joint') and doubt.number.value == 0.0
            if key not in given and doubt.rule.name not in quiet and not is_of_joint:
                number = dataclasses.replace(doubt.number, block=node)
                yield dataclasses.replace(doubt, number=number)
            sources = _corrected(sources, node, doubt, widths[key])
    doubts = {
        doubt.place: doubt for doubt in robot_doubts(sources.layout, silenced)
        if not known & {(doubt.number.block, key) for key in doubt.number.key.split(' or ')}
    }
    same = {(rule, block) for place in doubts for rule in _FOLLOWING.get(place[0], ())
            for block in (place[1], '')}
    alike, odd = sources, {each.number.key for each in doubts.values()
                           if not math.isnan(each.number.usual)}
    for doubt in doubts.values():
        alike = _made_alike(alike, doubt.number)
    kept = {each.place for each in robot_doubts(alike.layout, silenced)} if odd else doubts.keys()
    # Leave out doubts that follow from another mistake.
    doubts = {place: each for place, each in doubts.items()
              if (place in kept or odd & {*each.number.key.split(' or ')})
              and place[:2] not in same}
    fixes = [
        (change, doubts.keys() - left)
        for change in (_changes(sources, doubts.values()) if doubts else ())
        for left in _left(change, doubts, silenced)
        if any(doubts[place].rule.has_unit and doubts[place].is_far_off
               for place in doubts.keys() - left)
    ]
    while fixes and doubts:
        most = max(len(fixed & doubts.keys()) for _, fixed in fixes)
        best = [each for each in fixes if len(each[1] & doubts.keys()) == most]
        pairs = [(doubt, *each) for each in best for doubt in doubts.values()
                 if doubt.place in each[1] and _is_about(doubt, each[0])]
        # A single doubt is only explained by its own number.
        if not most or (not pairs and len({each[0] for each in best[0][1] & doubts.keys()}) == 1):
            break
        first = next(each for each in doubts.values() if each.place in best[0][1])
        doubt, _, fixed = pairs[0] if pairs else (first, *best[0])
        fixed = fixed & doubts.keys()
        yield _with_remedy(doubt, [
            change for change, own in best
            if own & doubts.keys() == fixed and (not pairs or _is_about(doubt, change))
        ])
        doubts = {place: each for place, each in doubts.items() if place not in fixed}
    yield from doubts.values()


def _left(
    change: Change, doubts: Mapping[Any, Doubt], silenced: Collection[str]
) -> Iterator[set[Any]]:
    """Yield the doubts that a change leaves, if it removes some and adds none."""
    asked = {doubt.rule.name for doubt in doubts.values()}
    try:
        layout = change.made.layout
        # The other rules only where these find less: most changes explain nothing.
        left = {each.place for each in robot_doubts(layout, {*silenced, *_NAMES - asked})}
        if left < doubts.keys() and not any(robot_doubts(layout, {*silenced, *asked})):
            yield left
    except ConfigError:
        # The change gives a value that is not allowed.
        return


def _schemas(sources: Sources) -> dict[str, list[Parameter]]:
    """Return the parameters of each node, the body's last."""
    schemas = {name: [*schema_of(spec.family)] for name, spec in sources.specs.items()}
    chutes = parameters_of(ParachutesParams, 'parachutes.')
    return {**schemas, BODY: [*parameters_of(BodyParams, 'body.'), *chutes]}


def _corrected(sources: Sources, node: str, doubt: Doubt, width: int) -> Sources:
    """Return a robot with the row of a number in the unit that was meant, if that is known."""
    if math.isnan(doubt.meant):
        return sources
    value, index = sources.value(node, doubt.number.key), doubt.number.index or 0
    numbers = np.array(flatten(value), dtype=float)
    # The row may already be corrected for another of its numbers.
    if abs(numbers[index]) != doubt.number.value:
        return sources
    row = slice(index // width * width, (index // width + 1) * width)
    return sources.times(node, doubt.number.key, row, abs(doubt.meant) / doubt.number.value)


def _made_alike(sources: Sources, number: Number) -> Sources:
    """Return a robot in which a number that differs from those of others is the same as theirs."""
    if math.isnan(number.usual):
        return sources
    if not number.block:
        path, _, key = number.key.rpartition('/')
        return sources.scaled([path], key, 1.0 / number.value)
    values = np.array(flatten(sources.value(number.block, number.key)), dtype=float)
    values[number.index] = number.usual
    return sources.changed(number.block, number.key, values.tolist())


def _is_about(doubt: Doubt, change: Change) -> bool:
    return change.key in doubt.number.key.split(' or ') and change.block == doubt.number.block


def _with_remedy(doubt: Doubt, changes: Sequence[Change]) -> Doubt:
    first, number = changes[0], doubt.number
    if {change.key for change in changes} == {first.key}:
        number = dataclasses.replace(number, key=first.key, block=first.block, index=first.index)
    parts = dict.fromkeys(in_unit(
        'that' if change.key == number.key else change.key.rpartition('/')[2],
        change.word, change.meant,
    ) for change in changes)
    remedy = f'if {", or if ".join([*parts][:_OFFERED])}'
    return dataclasses.replace(doubt, number=number, remedy=remedy)


def _changes(sources: Sources, doubts: Collection[Doubt]) -> Iterator[Change]:
    """Yield changes of unit: of all numbers of a parameter, and of each actuator in doubt."""
    sizes = [np.size(value) for each in sources.specs.values() for value in each.values.values()]
    if len(sources.links) + sum(sizes) > _MANY:
        return
    for node, schema in _schemas(sources).items():
        for parameter in schema:
            if parameter.spec.kind is float and parameter.spec.unit:
                yield from _changes_of_parameter(sources, doubts, node, parameter)
        ends = [row[-1] for row in _curves(sources, node) if row][:1]
        for word, meant, factor in _far(np.array(ends), 'N', _FAR):
            if curve := _with_curve(sources, node, factor):
                yield Change(_CURVE, _block(node), 0, f'{word}, its end', meant, curve)
    yield from _changes_of_links(sources, doubts)


def _block(node: str) -> str:
    """Return the block of a node; the body has none."""
    return node if node != BODY else ''


def _changes_of_parameter(
    sources: Sources, doubts: Collection[Doubt], node: str, parameter: Parameter
) -> Iterator[Change]:
    key, spec = parameter.key, parameter.spec
    value = sources.value(node, key)
    if value is None:
        return
    numbers = np.array(flatten(value), dtype=float)
    written, unit, power = numbers, spec.unit, 1
    # A tag of another simulator from which the value follows may have another unit.
    tags = sources.specs[node].paths if node in sources.specs else {}
    tag = tags.get(key, key).rpartition('/')[2]
    if tag == SPEED_OF_THRUST:
        constants = np.array(flatten(sources.value(node, 'motor_constant')), dtype=float)
        written, unit, power = np.sqrt(np.abs(numbers / constants)), 'rad/s', 2
    elif tag != tag.lower() and sorted(tag.lower()) != sorted(key.replace('_', '')):
        return
    least = math.sqrt(_FAR) if 'max_command' in key or power > 1 else _FAR
    for part in _parts(parameter, _block(node), doubts, len(numbers)):
        index = (part.start or 0) if spec.shape else None
        for word, meant, ratio in _far(written[part], unit, least):
            factor = ratio**power
            if any(value_doubts([parameter], {key: numbers[part] * factor})):
                continue
            made = _in_unit_of(sources, node, parameter, part, factor)
            yield Change(key, _block(node), index, word, meant, made)
            if key == 'max_thrust' and (both := _with_curve(made, node, factor)):
                words = f'{word}, as {_CURVE} is'
                yield Change(key, _block(node), part.start or 0, words, meant, both)


def _parts(
    parameter: Parameter, block: str, doubts: Collection[Doubt], size: int
) -> Iterator[slice]:
    """Yield all numbers of a parameter, then each row in doubt if these are few of many."""
    yield slice(None)
    width = math.prod(int(each) for each in parameter.spec.shape[1:])
    rows = {
        (doubt.number.index or 0) // width * width for doubt in doubts
        if (doubt.number.key, doubt.number.block) == (parameter.key, block)
    } if parameter.spec.per_row else set()
    if len(rows) <= _FEW and len(rows) * width < size:
        yield from (slice(row, row + width) for row in sorted(rows))


def _in_unit_of(
    sources: Sources, node: str, parameter: Parameter, part: slice, factor: float
) -> Sources:
    """Return a robot with some numbers of a parameter, and what goes with them, times a factor."""
    key = parameter.key
    made = sources.times(node, key, part, factor)
    # Both limits are in the same unit.
    low = key.replace('max_', 'min_')
    if low != key and sources.value(node, low) is not None:
        made = made.times(node, low, part, factor)
    if parameter.spec.geometry == 'origin' and part.start is None:
        # The links of actuators move with them.
        made = made.scaled(list(sources.links), 'com', factor)
    return made


def _changes_of_links(sources: Sources, doubts: Collection[Doubt]) -> Iterator[Change]:
    """Yield changes of unit of the masses of all links, and of each link in doubt."""
    doubted = [path for path in sources.links
               if any(doubt.number.key.startswith(f'{path}/') for doubt in doubts)][:_FEW]
    for key, (element, unit) in _OF_LINK.items():
        for paths in (list(sources.links), *([path] for path in doubted)):
            first = getattr(sources.links[paths[0]], key) if paths else np.zeros(1)
            for word, meant, factor in _far(np.ravel(first), unit, _FAR):
                made = sources.scaled(paths, key, factor)
                yield Change(f'{paths[0]}/{element}', '', None, word, meant, made)


def _curves(sources: Sources, node: str) -> list[list[float]]:
    """Return the numbers of each throttle curve."""
    texts = flatten(sources.value(node, _CURVE))
    return [[float(word) for word in text.replace(',', ' ').split()] for text in texts]


def _with_curve(sources: Sources, node: str, factor: float) -> Sources | None:
    """Return a robot whose throttle curves are in another unit too, None without any."""
    rows = _curves(sources, node)
    if not any(rows) or sources.value(node, 'esc_gives') == 'speed':
        return None
    # Every second number of a table is a throttle.
    is_table = sources.value(node, 'esc_kind') == 'table'
    return sources.changed(node, _CURVE, [' '.join(
        f'{number if is_table and i % 2 == 0 else number * factor:.10g}'
        for i, number in enumerate(row)
    ) for row in rows])


def _far(numbers: FloatArray, unit: str, least: float) -> Iterator[tuple[str, float, float]]:
    """Yield other units that differ by a large factor, as usual ranges do not show a small one.

    Each comes with the value of the first number in it, and the factor.
    """
    for number in numbers[np.flatnonzero(numbers)[:1]].tolist():
        for word, meant in conversions(number, unit):
            if max(abs(meant / number), abs(number / meant)) > least:
                yield word, meant, meant / number
