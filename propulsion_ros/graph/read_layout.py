# SPDX-License-Identifier: Apache-2.0
"""The layout of a robot, from its plugin blocks, masses and parameters, by its models."""
from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from propulsion_ros.drawing.drawn_blocks import layout_of
from propulsion_ros.graph.family_params import loop_params_of
from propulsion_ros.graph.robot_layout import Group, RobotLayout
from propulsion_ros.graph.robot_numbers import largest_speeds
from propulsion_ros.graph.simulation import BODY
from propulsion_ros.models.body.mass import MassProperties
from propulsion_ros.models.body.rigid_body import BodyParams
from propulsion_ros.models.body.simulated_body import ParachutesParams, SimulatedBody
from propulsion_ros.models.common.allocation import allocation_matrix
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
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.flat import build
from propulsion_ros.settings.quantity import FloatArray
from propulsion_ros.urdf.block import ActuatorSpec

_LAG = 'time_constant'
_PROBE = 1e-3
"""Step without a command, in which nothing is burnt [s]."""


def robot_layout(
    specs: Sequence[ActuatorSpec],
    links: Mapping[str, MassProperties],
    parameters_of_node: Callable[[str], Mapping[str, Any]] = lambda name: {},
    angles: Mapping[str, float] = MappingProxyType({}),
    corners: Mapping[str, FloatArray] = MappingProxyType({}),
) -> RobotLayout:
    """Return the layout of a robot.

    Parameters
    ----------
    specs : sequence of ActuatorSpec
        Its plugin blocks; those in another base_link than the first are left out.
    links : mapping
        Mass of each link without propellant, in the base_link of the blocks.
    parameters_of_node : callable
        Parameters of a node by its name, which win over the tags of its block.
    angles : mapping
        Largest angle of each <origin> [rad], by its path.
    corners : mapping
        Corners of the shapes of links in the base_link of the blocks, (m, 3), by its path.

    Raises
    ------
    ConfigError
        For a block that lacks or misstates something.
    """
    base_link = specs[0].base_link if specs else ''
    groups = [
        group for spec in specs if spec.base_link == base_link
        for group in groups_of(spec, parameters_of_node(spec.name))
    ]
    params = build(BodyParams, parameters_of_node(BODY), 'body.')
    return assembled(base_link, groups, links, params, angles, corners)


def assembled(
    base_link: str, groups: Sequence[Group], links: Mapping[str, MassProperties],
    params: BodyParams, angles: Mapping[str, float], corners: Mapping[str, FloatArray],
) -> RobotLayout:
    """Return the layout of a robot from its groups; see `robot_layout`."""
    dry = MassProperties.total(list(links.values()))
    body = SimulatedBody(params, ParachutesParams(), dry, ())
    # Without the mass of a link, that of the tanks is not the robot's.
    for group in groups if dry.mass else ():
        for i, tank in enumerate(_tanks_of(group)):
            body.weigh(f'{group.name}/{i}', tank)
    propellant = body.loaded.mass - dry.mass
    expects = frozenset(word for group in groups for word in group.timing.expects)
    return RobotLayout(
        base_link, groups, body.loaded, propellant, params, links, angles, corners, expects
    )


def _tanks_of(group: Group) -> Iterator[MassProperties]:
    for mass, com, inertia in zip(*(group.tanks or ()), strict=True):
        yield MassProperties(float(mass), com, inertia)


def groups_of(spec: ActuatorSpec, given: Mapping[str, Any]) -> Iterator[Group]:
    """Yield the group of a block, nothing for one without places."""
    family_type = REGISTRY[spec.family]
    if not family_type.facts.pushes:
        return
    fixed = {'names', *spec.geometry}
    values = {**spec.values, **{key: each for key, each in given.items() if key not in fixed}}
    try:
        params: Any = build(family_type.Params, values)
        family, timing = family_type(params), build(loop_params_of(spec.family), values)
        layout = layout_of(params, family)
    except ConfigError as error:
        raise spec.locate(error, given) from None
    if layout is not None:
        speeds = _in_rows(largest_speeds(family), layout)
        made = family.step(Command(), BodyState(), _PROBE, 0)
        works = effectiveness_of(family)
        if len(works) == len(layout.names):
            layout = dataclasses.replace(
                layout, lowest=layout.lowest * works, highest=layout.highest * works
            )
        yield Group(
            spec.name, layout, speeds, _lags(params, len(layout.names)),
            _matrix(family, layout, made.axes), made.tanks, family, params, timing,
        )


def _in_rows(values: FloatArray, layout: ThrustLayout) -> FloatArray:
    count = len(layout.names)
    return values if len(values) == count else np.full(count, np.nan)


def _matrix(family: Family, layout: ThrustLayout, axes: FloatArray) -> FloatArray:
    if family.facts.force == LIFT:
        return np.zeros((6, 0))
    if not isinstance(family, Allocatable):
        return allocation_matrix(layout.position, layout.axis)
    # An allocation does not know of axes that are misaligned.
    return family.allocation_matrix + allocation_matrix(layout.position, axes - layout.axis)


def _lags(params: Any, count: int) -> list[str]:
    """Return what the first-order lags of each row are, those of rise and fall apart."""
    columns = [
        np.asarray(getattr(params, key.name)) for key in dataclasses.fields(params)
        if key.name.startswith(_LAG) and not key.name.endswith('_range')
    ]
    rows = [column for column in columns if column.shape == (count,)]
    texts = [
        '/'.join(dict.fromkeys(f'{value:g}' for value in row)) for row in zip(*rows, strict=True)
    ]
    return texts or [''] * count
