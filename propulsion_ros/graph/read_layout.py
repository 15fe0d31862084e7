# SPDX-License-Identifier: Apache-2.0
"""Computes the layout of a robot from its plugin blocks, masses and parameters."""
from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from propulsion_ros.drawing.drawn_blocks import layout_of
from propulsion_ros.graph.actuator_numbers import largest_speeds
from propulsion_ros.graph.family_params import allocator_named, loop_params_of
from propulsion_ros.graph.robot_layout import Group, RobotLayout
from propulsion_ros.graph.simulation import BODY
from propulsion_ros.models.body.mass import MassProperties
from propulsion_ros.models.body.rigid_body import BodyParams
from propulsion_ros.models.body.simulated_body import ParachutesParams, SimulatedBody
from propulsion_ros.models.common.allocation import VECTORED, allocation_matrix
from propulsion_ros.models.common.facts import LIFT
from propulsion_ros.models.common.family import (
    Allocatable,
    BodyState,
    Command,
    Family,
    effectiveness_of,
)
from propulsion_ros.models.common.layout import ThrustLayout
from propulsion_ros.models.registry import REGISTRY
from propulsion_ros.models.steering.steered import made_family
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.flat import build
from propulsion_ros.settings.quantity import FloatArray, flatten
from propulsion_ros.urdf.block import ActuatorSpec
from propulsion_ros.urdf.reader import angles_of_urdf, masses_from_urdf
from propulsion_ros.urdf.visuals import shapes_of_urdf

_LAG = 'time_constant'
_PROBE = 1e-3
"""Length of a step without a command, which burns nothing [s]."""


@dataclass(frozen=True)
class Sources:
    """Data from which the layout of a robot is computed."""

    specs: Mapping[str, ActuatorSpec]
    """Plugin blocks, by name."""
    links: Mapping[str, MassProperties]
    """Mass of each link without propellant, in the base_link of the blocks, by its path."""
    given: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Parameters from files, by node, which win over the tags of a block."""
    angles: Mapping[str, float] = field(default_factory=dict)
    """Largest angle of each <origin> [rad], by its path."""
    shapes: Mapping[str, Sequence[tuple[FloatArray, FloatArray]]] = field(default_factory=dict)
    """Shapes of links in the base_link of the blocks, as of `shapes_of_urdf`."""
    built: dict[str, list[Group]] = field(default_factory=dict)
    """Groups of blocks that have not changed, as a cache."""

    @property
    def layout(self) -> RobotLayout:
        """Layout of the robot, with the blocks whose base_link is that of the first one.

        Raises `ConfigError` for a block in which a value is missing or wrong.
        """
        base_link = next((spec.base_link for spec in self.specs.values()), '')
        for name, spec in self.specs.items():
            if name not in self.built and spec.base_link == base_link:
                self.built[name] = list(_groups_of(spec, self.given.get(name, {})))
        groups = [group for name in self.specs for group in self.built.get(name, ())]
        params = build(BodyParams, self.given.get(BODY, {}), 'body.')
        dry = MassProperties.total(list(self.links.values()))
        parachutes = build(ParachutesParams, self.given.get(BODY, {}), 'parachutes.')
        body = SimulatedBody(params, parachutes, dry, ())
        # If no link has a mass, tanks alone do not give the robot's.
        for group in groups if dry.mass else ():
            for i, tank in enumerate(_tanks_of(group)):
                body.weigh(f'{group.name}/{i}', tank)
        propellant = body.loaded.mass - dry.mass
        expects = frozenset(word for group in groups for word in group.timing.expects)
        allocators = [self.given.get(allocator_named(name), {}) for name in self.specs]
        weights = [np.array(flatten(own.get('weights')), float) for own in allocators]
        counted = np.ones(6)
        for each in weights:
            counted *= each > 0.0 if len(each) == 6 else 1.0
        return RobotLayout(
            base_link, groups, body.loaded, propellant, params, parachutes, self.links,
            self.angles, self.shapes, expects, counted,
            any(own.get('method') == VECTORED for own in allocators),
        )

    def has_file(self, node: str, key: str) -> bool:
        """Whether a file, and not the block, gives a parameter."""
        spec = self.specs.get(node)
        return key in self.given.get(node, {}) and not (spec and key in spec.geometry)

    def value(self, node: str, key: str) -> Any:
        """Return the value of a parameter, None if neither a file nor a block gives it."""
        spec = self.specs.get(node)
        given = self.given[node] if self.has_file(node, key) else spec.values if spec else {}
        return given.get(key)

    def changed(self, node: str, key: str, value: Any) -> Sources:
        """Return a copy with another value of a parameter."""
        built = {name: groups for name, groups in self.built.items() if name != node}
        if self.has_file(node, key):
            given = {**self.given, node: {**self.given[node], key: value}}
            return dataclasses.replace(self, given=given, built=built)
        spec = self.specs[node]
        spec = dataclasses.replace(spec, values={**spec.values, key: value})
        return dataclasses.replace(self, specs={**self.specs, node: spec}, built=built)

    def times(self, node: str, key: str, part: slice, factor: float) -> Sources:
        """Return a copy with some of the numbers of a parameter times a factor."""
        value = self.value(node, key)
        numbers = np.array(flatten(value), dtype=float)
        numbers[part] *= factor
        return self.changed(node, key, numbers.tolist() if np.ndim(value) else float(numbers[0]))

    def scaled(self, paths: Collection[str], key: str, factor: float) -> Sources:
        """Return a copy with mass, inertia or centre of some links times a factor."""
        links = {
            path: dataclasses.replace(link, **{key: getattr(link, key) * factor})
            if path in paths else link for path, link in self.links.items()
        }
        return dataclasses.replace(self, links=links)


def sources_of(
    xml: str, specs: Sequence[ActuatorSpec], given: Callable[[str], Mapping[str, Any]]
) -> Sources:
    """Return the data from which the layout of a robot is computed.

    Raises `ConfigError` for links without sound masses, angles or shapes.

    Parameters
    ----------
    specs : sequence of ActuatorSpec
        Its plugin blocks, at least one.
    given : callable
        Returns the parameters that files give a node of a name.
    """
    base_link, links = masses_from_urdf(xml, specs[0].base_link)
    blocks = {spec.name: spec for spec in specs}
    nodes = *blocks, *map(allocator_named, blocks), BODY
    return Sources(
        blocks, links, {name: given(name) for name in nodes},
        angles_of_urdf(xml), shapes_of_urdf(xml, base_link),
    )


def _tanks_of(group: Group) -> Iterator[MassProperties]:
    for mass, com, inertia in zip(*(group.tanks or ()), strict=True):
        yield MassProperties(float(mass), com, inertia)


def _groups_of(spec: ActuatorSpec, given: Mapping[str, Any]) -> Iterator[Group]:
    """Yield the group of a block, none for a block without places."""
    family_type = REGISTRY[spec.family]
    if not family_type.facts.pushes:
        return
    fixed = {'names', *spec.geometry}
    values = {**spec.values, **{key: each for key, each in given.items() if key not in fixed}}
    try:
        params: Any = build(family_type.Params, values)
        timing = build(loop_params_of(spec.family), values)
        family = made_family(family_type, params, values)
        layout = layout_of(params, family)
    except ConfigError as error:
        raise spec.locate(error, given) from None
    if layout is not None:
        # Without batteries, which would be empty before speeds have settled.
        plain = {key: each for key, each in values.items() if not key.startswith('batter')}
        speeds = _in_rows(largest_speeds(
            made_family(family_type, build(family_type.Params, plain), plain)
        ), layout)
        made = family.step(Command(), BodyState(), _PROBE, 0)
        works = effectiveness_of(family)
        if len(works) == len(layout.names):
            layout = dataclasses.replace(
                layout, lowest=layout.lowest * works, highest=layout.highest * works
            )
        yield Group(
            spec.name, layout, speeds, _lags(params, len(layout.names)),
            _matrix(family, layout, made.axes), made.tanks, family, params, timing, spec.joints,
        )


def _in_rows(values: FloatArray, layout: ThrustLayout) -> FloatArray:
    count = len(layout.names)
    return values if len(values) == count else np.full(count, np.nan)


def _matrix(family: Family, layout: ThrustLayout, axes: FloatArray) -> FloatArray:
    if family.facts.force == LIFT:
        return np.zeros((6, 0))
    if not isinstance(family, Allocatable):
        return allocation_matrix(layout.position, layout.axis)
    # An allocation matrix does not include the misalignment of axes.
    return family.allocation_matrix + allocation_matrix(layout.position, axes - layout.axis)


def _lags(params: Any, count: int) -> list[str]:
    """Return the first-order lags of each row as text, with different ones of rise and fall."""
    columns = [
        np.asarray(getattr(params, key.name)) for key in dataclasses.fields(params)
        if key.name.startswith(_LAG) and not key.name.endswith('_range')
    ]
    rows = [column for column in columns if column.shape == (count,)]
    texts = [
        '/'.join(dict.fromkeys(f'{value:g}' for value in row)) for row in zip(*rows, strict=True)
    ]
    return texts or [''] * count
