# SPDX-License-Identifier: Apache-2.0
"""Which columns a table has of a loop that takes commands."""
from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from propulsion_ros.loops.actuator_ports import ActuatorPorts
from propulsion_ros.loops.command_hold import FIELDS
from propulsion_ros.loops.estimate_ports import EstimatePorts
from propulsion_ros.loops.ports import Loop
from propulsion_ros.models.common.family import WRENCH_NAMES, battery_names

TANK_PARTS = ('mass', 'ixx', 'iyy', 'izz')
BATTERY_PARTS = ('voltage', 'current', 'percentage')


def wrench_columns(name: str) -> list[str]:
    """Return the columns of a wrench."""
    return [f'{name}.{part}' for part in WRENCH_NAMES]


def columns_of(loop: Loop) -> list[str]:
    """Return the columns of a loop, name by name; [] where a table has none of it."""
    if isinstance(loop, ActuatorPorts):
        return [*_of_state(loop), *wrench_columns('wrench'), *_of_tanks(loop), *_of_batteries(loop)]
    if isinstance(loop, EstimatePorts):
        return [*_of_estimate(loop)]
    return []


def _of_state(loop: ActuatorPorts) -> Iterator[str]:
    """Yield a column for each number of the state."""
    states = {field: getattr(loop.core.example, field) for field in FIELDS}
    for i, name in enumerate(loop.family.state_names):
        for field, values in states.items():
            if values is not None and not np.isnan(values[i]):
                yield f'{name}.{field}'


def _of_tanks(loop: ActuatorPorts) -> Iterator[str]:
    for tank in loop.family.tank_names:
        yield from (f'{tank}.{part}' for part in TANK_PARTS)


def _of_batteries(loop: ActuatorPorts) -> Iterator[str]:
    for battery in battery_names(loop.family):
        yield from (f'{battery}.{part}' for part in BATTERY_PARTS)


def _of_estimate(loop: EstimatePorts) -> Iterator[str]:
    nozzles = loop.family.actuator_names
    yield from (f'{name}.position' for name in nozzles)
    yield from (f'{name}.effort' for name in nozzles)
    yield from (f'{name}.velocity' for name in loop.family.command_names[len(nozzles):])
    for kind in ('wrench', 'residual', 'wrench_std'):
        yield from wrench_columns(kind)
