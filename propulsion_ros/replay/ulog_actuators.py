# SPDX-License-Identifier: Apache-2.0
"""Motors and servos in a log of PX4: which output has which, and what it got, in parts."""
from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from propulsion_ros.loops.autopilot import is_stopped, reversible_of, signal_of_thrust
from propulsion_ros.replay.ulog import Dataset, Log
from propulsion_ros.settings.quantity import FloatArray

_MOTOR, _SERVO, _MOST = 100, 200, 16
"""PX4's output functions are 101 for motor 1, 201 for servo 1."""
_FUNCTION = re.compile(r'(\w+)_FUNC(\d+)')
_DSHOT, _RAW_CAN = 1999.0, 8191.0
"""Largest values for ESCs over DShot, and over UAVCAN in PX4 before 1.13."""
_CAN_OF_ESCS = 3.0
"""UAVCAN_ENABLE from which on it commands ESCs."""
_MOTORS_OF_TYPE = {2: 4, 3: 1, 13: 6, 14: 8, 15: 3}
"""By MAV_TYPE; those before 1.13 have no functions of outputs."""
_FITS, _NEAR = 0.99, 0.02
"""The least share of an output within its limits; the largest distance from what was wanted."""


class Channel(NamedTuple):
    """What one motor or servo got."""

    name: str
    """Such as motor_1 or servo_1."""
    dataset: Dataset
    values: FloatArray
    """0 to 1 for motors, -1 to 1 for servos and motors that turn both ways, (t,)."""
    source: str
    """Where it is from, for people."""


class _Output(NamedTuple):
    """An output with its limits."""

    name: str
    place: int
    low: float
    high: float
    disarmed: float
    is_reversed: bool


def channels_of(log: Log) -> list[Channel]:
    """Return the motors and servos of a log, from the nearest to the ESC that it has.

    Outputs are what ESCs and servos got, with the limits of the log's parameters; where these do
    not fit, it is what PX4 wanted of motors and servos, with the curve THR_MDL_FAC.
    """
    wanted = {each.name: each for each in _wanted(log)}
    found: dict[str, Channel] = {}
    for channel in _output(log):
        other = wanted.get(channel.name)
        if other is None or _agree(channel, other):
            found.setdefault(channel.name, channel)
    order = {name: i for i, name in enumerate(_names())}
    return sorted({**wanted, **found}.values(), key=lambda each: order[each.name])


def _agree(output: Channel, wanted: Channel) -> bool:
    """Return whether an output is as dense as what was wanted of it, and the same."""
    begin = int(wanted.dataset.stamps[0])
    there = np.interp(
        output.dataset.stamps - begin, wanted.dataset.stamps - begin, wanted.values
    )
    is_same = float(np.median(np.abs(output.values - there))) < _NEAR
    return is_same and len(output.values) >= len(wanted.values)


def _names() -> list[str]:
    return [f'{kind}_{i + 1}' for kind in ('motor', 'servo') for i in range(_MOST)]


def _wanted(log: Log) -> Iterator[Channel]:
    """Yield what PX4 wanted of its motors and servos (1.13 and later)."""
    factor = log.parameters.get('THR_MDL_FAC', 0.0)
    for kind in ('motor', 'servo'):
        dataset = log.first(f'actuator_{kind}s')
        for i in range(_MOST if dataset else 0):
            values = dataset.column(f'control[{i}]') if dataset else np.empty(0)
            if dataset is None or np.isnan(values).all():
                continue
            source = f'actuator_{kind}s'
            if kind == 'motor':
                values = _throttle(dataset, i, signal_of_thrust(values, factor))
                source += f', THR_MDL_FAC {factor:g}' * (factor > 0.0)
            yield Channel(f'{kind}_{i + 1}', dataset, np.nan_to_num(values), source)


def _throttle(motors: Dataset, i: int, signal: FloatArray) -> FloatArray:
    """Return the signals of a motor, 0 where it stands still."""
    reversible = np.full(len(signal), _is_reversible(motors, i))
    return np.where(is_stopped(signal, reversible), 0.0, signal)


def _is_reversible(motors: Dataset | None, i: int) -> bool:
    flags = motors.column('reversible_flags') if motors else np.empty(0)
    known = flags[np.isfinite(flags)]
    return bool(len(known) and reversible_of(int(known.max()), _MOST)[i])


def _output(log: Log) -> Iterator[Channel]:
    """Yield what outputs had, of those whose limits are known and hold."""
    motors = log.first('actuator_motors')
    taken: set[int] = set()
    for unit, prefix, outputs in _drivers(log.parameters):
        for dataset in log.of('actuator_outputs'):
            if dataset.instance in taken or not all(_fits(dataset, each) for each in outputs):
                continue
            taken.add(dataset.instance)
            for each in outputs:
                values = dataset.column(f'output[{each.place}]')
                part = np.clip((values - each.low) / (each.high - each.low), 0.0, 1.0)
                part = 1.0 - part if each.is_reversed else part
                number = int(each.name.rpartition('_')[2]) - 1
                if each.name.startswith('servo') or _is_reversible(motors, number):
                    part = 2.0 * part - 1.0
                off = values == each.disarmed
                yield Channel(each.name, dataset, np.where(off, 0.0, part), (
                    f'actuator_outputs[{each.place}] of {prefix}, {each.low:g} to {each.high:g}'
                    f'{unit}'
                ))
            break


def _drivers(parameters: Mapping[str, float]) -> Iterator[tuple[str, str, list[_Output]]]:
    """Yield unit, name and outputs of each driver, for each kind of limits that it may have."""
    functions: dict[str, list[tuple[str, int]]] = {}
    for key, value in parameters.items():
        match = _FUNCTION.fullmatch(key)
        for kind, first in (('motor', _MOTOR), ('servo', _SERVO)):
            if match and 1 <= value - first <= _MOST:
                name = f'{kind}_{int(value) - first}'
                functions.setdefault(match[1], []).append((name, int(match[2]) - 1))
    for prefix, given in sorted(functions.items()):
        mask = int(parameters.get(f'{prefix}_REV', 0))

        def limit(what: str, index: int, prefix: str = prefix) -> float:
            return parameters.get(f'{prefix}_{what}{index + 1}', np.nan)

        unit = ' us' if prefix.startswith('PWM') else ''
        yield unit, prefix, [
            _Output(
                name, i, limit('MIN', i), limit('MAX', i), limit('DIS', i), bool(mask >> i & 1)
            ) for name, i in given
        ]
        least = int(parameters.get('DSHOT_MIN', 0.0) * _DSHOT)
        # Protocols of its timers below 0 are DShot.
        if any(parameters.get(f'{prefix}_TIM{i}', 0.0) < 0.0 for i in range(_MOST)):
            yield ' of DShot', prefix, [
                _Output(name, i, least, _DSHOT, 0.0, bool(mask >> i & 1)) for name, i in given
            ]
    if not functions:
        names = [f'motor_{i + 1}' for i in range(
            _MOTORS_OF_TYPE.get(int(parameters.get('MAV_TYPE', 0)), 0)
        )]
        low, high = (
            parameters.get(f'PWM_MAIN_{what}', parameters.get(f'PWM_{what}', np.nan))
            for what in ('MIN', 'MAX')
        )
        if names:
            yield ' us', 'PWM', [_Output(name, i, low, high, 900.0, False)
                                 for i, name in enumerate(names)]
        if names and parameters.get('UAVCAN_ENABLE', 0.0) >= _CAN_OF_ESCS:
            yield ' of UAVCAN', 'UAVCAN', [_Output(name, i, 0.0, _RAW_CAN, 0.0, False)
                                           for i, name in enumerate(names)]


def _fits(dataset: Dataset, output: _Output) -> bool:
    """Return whether an output moved, and within its limits but where it was disarmed."""
    values, width = dataset.column(f'output[{output.place}]'), output.high - output.low
    if not width > 0.0:
        return False
    inside = (values > output.low - 1.0) & (values < output.high + 1.0)
    off = (values == output.disarmed) | (values == 0.0)
    return bool((inside | off).mean() >= _FITS and (inside & ~off).any())
