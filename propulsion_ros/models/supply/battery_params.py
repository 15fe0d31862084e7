# SPDX-License-Identifier: Apache-2.0
"""Configuration of batteries, and of what draws from them."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from propulsion_ros.models.common.points import numbers_of, points_of
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.quantity import FloatArray, group, names, per_row, validate

_LEAST, _MOST = 1e-6, 1e6
"""Range of voltages [V], and the least distance of two points of a curve of charge."""
_LEAST_CAPACITY = 1e-9


@dataclass(frozen=True, kw_only=True, eq=False)
class BatteriesParams:
    """Configuration of m batteries."""

    names: tuple[str, ...] = names('battery names', ())
    capacity: FloatArray = per_row(
        0.0, 'A h', doc='charge when full, required', lo=0.0, hi=1e9
    )
    open_circuit_voltage: tuple[str, ...] = per_row(
        '', kind=str,
        doc="voltage at rest [V], required: one number, or points 's0 v0 s1 v1 ...' over the state "
        'of charge from 0 to 1, which must not fall',
    )
    internal_resistance: FloatArray = per_row(
        0.0, 'ohm', doc='voltage lost for each ampere', lo=0.0, hi=_MOST
    )
    nominal_voltage: FloatArray = per_row(
        0.0, 'V', lo=0.0, hi=_MOST,
        doc='voltage at which limits of speed and thrust, and esc_curve, are as configured; 0: '
        'that at rest when full',
    )
    cut_off_voltage: FloatArray = per_row(
        0.0, 'V', doc='current is limited so that the voltage stays above', lo=0.0, hi=_MOST
    )
    starting_charge: FloatArray = per_row(
        1.0, doc='state of charge at the start, 0 to 1', lo=0.0, hi=1.0, live=True
    )
    standby_power: FloatArray = per_row(
        0.0, 'W', doc='drawn all the time, by what is no actuator of the group', lo=0.0, hi=1e12
    )

    def __post_init__(self) -> None:
        validate(self)
        for i, capacity in enumerate(self.capacity.tolist()):
            if capacity < _LEAST_CAPACITY:
                raise ConfigError(
                    'capacity', f'expected at least {_LEAST_CAPACITY:g} A h, got {capacity:g}', i
                )
        full = [self.curve(i)[1][-1] for i in range(len(self.names))]
        for i, nominal in enumerate(self.nominal_voltage.tolist()):
            if 0.0 < nominal < _LEAST:
                raise ConfigError(
                    'nominal_voltage', f'expected 0 or at least {_LEAST:g} V, got {nominal:g}', i
                )
        for i in np.flatnonzero(self.cut_off_voltage >= full).tolist():
            raise ConfigError(
                'cut_off_voltage', f'expected below {full[i]:g} V, the voltage at rest when full, '
                f'got {self.cut_off_voltage[i]:g} V', i,
            )

    def curve(self, i: int) -> tuple[FloatArray, FloatArray]:
        """Return states of charge and voltages at rest [V] of battery ``i``, (k,) each.

        Raises `ConfigError` where they are no curve that rises with the charge.
        """
        key = 'open_circuit_voltage'
        values = numbers_of(key, self.open_circuit_voltage[i], i)
        if len(values) == 1:
            values = [0.0, values[0], 1.0, values[0]]
        charges, voltages = points_of(key, values, 'charge', i)
        if np.any(np.diff(charges) < _LEAST):
            raise ConfigError(key, f'expected charges at least {_LEAST:g} apart', i)
        if np.any(np.diff(voltages) < 0.0):
            raise ConfigError(key, 'falls between charge 0 and 1', i)
        if voltages[0] < _LEAST or voltages[-1] > _MOST:
            raise ConfigError(key, f'expected voltages from {_LEAST:g} to {_MOST:g} V', i)
        return charges, voltages


@dataclass(frozen=True, kw_only=True, eq=False)
class PoweredParams:
    """What n actuators that turn draw, and from which battery.

    The configuration that has it has a ``moment_constant`` too.
    """

    battery: tuple[str, ...] = per_row(
        '', kind=str, doc='battery that each draws from; empty: a supply that never sags'
    )
    drive_efficiency: FloatArray = per_row(
        1.0, doc='battery: shaft power over electric power', lo=1e-6, hi=1.0
    )
    power_constant: FloatArray = per_row(
        0.0, 'W/N^1.5', lo=0.0, hi=1e12,
        doc='battery: electric power over thrust to the power of 1.5; 0: moment_constant times '
        'thrust times speed, over drive_efficiency',
    )
    batteries: BatteriesParams = group(BatteriesParams, element='battery')


def check_supply(params: Any) -> None:
    """Raise `ConfigError` for an unknown battery, or where the power of an actuator is unknown."""
    known = params.batteries.names
    for i, battery in enumerate(params.battery):
        if battery and battery not in known:
            raise ConfigError(
                'battery', f'unknown battery {battery!r}, known: {", ".join(known) or "none"}', i
            )
        if battery and params.power_constant[i] == params.moment_constant[i] == 0.0:
            raise ConfigError(
                'power_constant', 'expected this or moment_constant above 0, the power that is '
                f'drawn from battery {battery!r} is unknown without', i,
            )
