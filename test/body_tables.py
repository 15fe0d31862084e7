# SPDX-License-Identifier: Apache-2.0
"""Tables of the page on the simulated body, made from the parameters that they describe."""
from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from flight_tables import main, table
from propulsion_ros.loops.actuator_loop import LoopParams
from propulsion_ros.loops.vehicle_params import VehicleParams
from propulsion_ros.settings.flat import Parameter, parameters_of

LOCKSTEP = (
    'real_time_factor', 'duration', 'lockstep_timeout', 'start_timeout', 'wait_for_subscribers',
    'wait_for_publishers', 'update_rate',
)
"""Parameters of the body on when it steps."""
WAITS = ('step_on', 'wait_for', 'max_lag')
"""Parameters of a group of actuators on what its steps wait for."""
_PARTS = ('body.', 'parachutes.')


def _rows(parameters: Iterable[Parameter]) -> str:
    return table(
        ('parameter', 'means', 'unit', 'default'),
        (
            (f'`{each.key}`', each.spec.doc, _unit(each), _default(each))
            for each in parameters
        ),
    )


def _unit(parameter: Parameter) -> str:
    return parameter.spec.unit or ' or '.join(f'`{each}`' for each in parameter.spec.choices or ())


def _default(parameter: Parameter) -> str:
    value = parameter.default
    if parameter.required:
        return 'required'
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return ', '.join(map(str, value))
    return str(value) if isinstance(value, str) else f'{float(np.asarray(value).flat[0]):g}'


def _of_vehicle(*keys: str) -> str:
    known = {each.key: each for each in parameters_of(VehicleParams)}
    return _rows(known[key] for key in keys)


def _with_prefix(prefix: str) -> str:
    return _rows(each for each in parameters_of(VehicleParams) if each.key.startswith(prefix))


def waits() -> str:
    """Return what a group of actuators waits for."""
    known = {each.key: each for each in parameters_of(LoopParams)}
    return _rows(known[key] for key in WAITS)


def others() -> str:
    """Return the parameters of the body that no other table has."""
    return _rows(
        each for each in parameters_of(VehicleParams)
        if each.key not in LOCKSTEP and not each.key.startswith(_PARTS)
    )


SECTIONS = {
    'body': lambda: _with_prefix('body.'),
    'lockstep': lambda: _of_vehicle(*LOCKSTEP),
    'waits': waits,
    'parachutes': lambda: _with_prefix('parachutes.'),
    'others': others,
}


if __name__ == '__main__':
    main(SECTIONS)
