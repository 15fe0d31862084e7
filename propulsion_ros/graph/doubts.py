# SPDX-License-Identifier: Apache-2.0
"""Values that a family takes, and that are likely in another unit than the user thinks."""
from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from propulsion_ros.models.common.family import Allocatable, BodyState, Command, Family
from propulsion_ros.models.common.start import Restartable
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.flat import Parameter
from propulsion_ros.settings.quantity import FloatArray

RPM = 60.0 / (2.0 * math.pi)
"""Turns a minute of one rad/s."""

_MOST_RPM = 60_000.0
_LONGEST_LAG = 10.0
_NO_LIMIT = 1e9
"""Beyond it a value stands for no limit."""
_SETTLING = 1e6
"""Longer than any lag [s]."""


def doubts_of(
    parameters: Iterable[Parameter], given: Mapping[str, Any]
) -> Iterator[ConfigError]:
    """Yield what is implausible among the values that a user gave a node, and what to check."""
    for parameter in parameters:
        if given.get(parameter.key) is None:
            continue
        for i, value in enumerate(np.ravel(np.asarray(given[parameter.key], dtype=object))):
            is_number = isinstance(value, int | float) and abs(value) < _NO_LIMIT
            doubt = _doubt(parameter, abs(value)) if is_number else ''
            if doubt:
                yield ConfigError(parameter.key, doubt, i)


def speed_doubts(names: tuple[str, ...], speeds: FloatArray) -> Iterator[ConfigError]:
    """Yield which actuators turn implausibly fast [rad/s] at their largest thrust, (n,)."""
    for i in np.flatnonzero(speeds * RPM > _MOST_RPM).tolist():
        yield ConfigError('motor_constant', (
            f'{names[i]} turns at {speeds[i] * RPM:,.0f} rpm to reach max_thrust; is the constant '
            'per (rad/s)^2, not per rpm^2?'
        ), i)


def reverse_doubts(family: Family) -> Iterator[ConfigError]:
    """Yield which actuators have a limit ahead and none backwards."""
    if not isinstance(family, Allocatable):
        return
    lowest, highest = family.thrust_limits
    for i in np.flatnonzero((lowest <= -_NO_LIMIT) & (highest < _NO_LIMIT)).tolist():
        yield ConfigError('max_thrust', (
            f'{family.actuator_names[i]} pushes backwards without limit; give min_thrust too, 0 '
            'for none'
        ), i)


def largest_speeds(family: Family) -> FloatArray:
    """Return the speed of each actuator at its largest thrust [rad/s], (n,), NaN where unknown."""
    unknown = np.full(len(family.actuator_names), np.nan)
    if not isinstance(family, Allocatable) or not isinstance(family, Restartable):
        return unknown
    if 'rotor_speed' not in family.start_states:
        return unknown
    largest = family.thrust_limits[1]
    if not np.all(largest < _NO_LIMIT):
        return unknown
    wanted = Command(**{family.command_fields[0]: family.command_for(largest)})
    output = family.step(wanted, BodyState(), _SETTLING, 0)
    family.reset()
    return unknown if output.velocity is None else np.abs(output.velocity)


def _doubt(parameter: Parameter, size: float) -> str:
    unit, key = parameter.spec.unit, parameter.key.rpartition('.')[2]
    if key.startswith('time_constant') and size > _LONGEST_LAG:
        return f'a lag of {size:g} s; expected seconds, not milliseconds'
    if unit == 'rad' and size > 2.0 * math.pi:
        return f'an angle of {size:g} rad is over a full turn; expected radians, not degrees'
    if unit == 'rad/s' and size * RPM > _MOST_RPM:
        return f'{size:g} rad/s are {size * RPM:,.0f} rpm; expected rad/s, not rpm'
    return ''
