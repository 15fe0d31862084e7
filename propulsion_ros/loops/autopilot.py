# SPDX-License-Identifier: Apache-2.0
"""Converts the signals of autopilots for motors and servos to commands of actuators."""
from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace as Plain
from typing import Any

import numpy as np

from propulsion_ros.loops.command_reader import NamedCommand
from propulsion_ros.loops.payloads import Kind
from propulsion_ros.models.common.family import FIELDS, Family
from propulsion_ros.settings.errors import CommandError, ConfigError
from propulsion_ros.settings.flat import known_hint
from propulsion_ros.settings.quantity import (
    FloatArray,
    IntArray,
    names,
    per_row,
    quantity,
    validate,
)

_LEAST = 1e-7  # PX4 takes smaller controls as 0
_UNUSED = 65535.0  # pulse of an output that is not used
_OFF = 0.01  # an output is off if it is this share of its range below its lowest pulse


def signal_of_thrust(thrust: FloatArray, factor: float) -> FloatArray:
    """Return the signals that PX4 sends to speed controllers for shares of the largest thrust.

    PX4 takes ``thrust = factor x^2 + (1 - factor) x`` of a signal x (THR_MDL_FAC; its
    FunctionMotors.hpp); a negative thrust is that of the opposite signal.

    Parameters
    ----------
    thrust : FloatArray
        Share of the largest thrust, -1 to 1, NaN for motors that are stopped.
    factor : float
        THR_MDL_FAC, 0 to 1.
    """
    if not _LEAST < factor <= 1.0:
        return thrust
    half = (1.0 - factor) / (2.0 * factor)
    signal = np.sqrt(half * half + np.abs(thrust) / factor) - half
    return np.where(np.abs(thrust) > _LEAST, np.copysign(signal, thrust), thrust)


@dataclass(frozen=True, kw_only=True, eq=False)
class AutopilotParams:
    """Assignment of an autopilot's channels to actuators, for the adapters of autopilots."""

    names: tuple[str, ...] = names('of the actuators that it commands, required with it', ())
    channels: IntArray = per_row(
        0, kind=int, lo=0, hi=64, doc='number of its motor, servo or output, from 1; 0: in order'
    )
    low: FloatArray = per_row(
        0.0, doc='command where a motor gets 0, a servo -1, an output pulse_low', lo=-1e9, hi=1e9
    )
    high: FloatArray = per_row(
        1.0, doc='command where a motor or servo gets 1, an output pulse_high; motors that turn '
        'both ways take the opposite at -1', lo=-1e9, hi=1e9
    )
    pulse_low: FloatArray = per_row(1000.0, 'us', doc='of mavros_rc_out', lo=0.0, hi=65534.0)
    pulse_high: FloatArray = per_row(2000.0, 'us', doc='of mavros_rc_out', lo=0.0, hi=65534.0)
    thrust_factor: float = quantity(0.0, doc="PX4's THR_MDL_FAC", lo=0.0, hi=1.0)
    clock_offset: float = quantity(
        0.0, 's', lo=-1e10, hi=1e10,
        doc="what is added to PX4's time; 0 where it sends that of this machine "
        '(UXRCE_DDS_SYNCT, the default)',
    )

    def __post_init__(self) -> None:
        validate(self)
        for i in np.flatnonzero(self.pulse_low == self.pulse_high).tolist():
            raise ConfigError('pulse_high', 'expected another one than pulse_low', i)


class Autopilot:
    """Turns messages of an autopilot into commands of actuators.

    For NaN, or a negative signal to a motor that cannot turn both ways, an actuator gets its safe
    command. Raises `ConfigError` for names that the family does not have, or missing limits.

    Attributes
    ----------
    reads : mapping
        Reader of each type of message, which raises `CommandError` for a wrong one.
    """

    def __init__(self, params: AutopilotParams, family: Family) -> None:
        self._params, known = params, list(family.command_names)
        if not params.names:
            raise ConfigError(
                'autopilot.names', 'is required: which actuator each channel commands, some of '
                f'{", ".join(known)}'
            )
        for i, name in enumerate(params.names):
            if name not in known:
                hint = known_hint(name, known, 'found')
                raise ConfigError('autopilot.names', f'{name!r} is no actuator{hint}', i)
        places = [known.index(name) for name in params.names]
        fields = [family.command_fields[i] for i in places]
        for i, field in enumerate(fields):
            if field != 'position' and (params.low[i], params.high[i]) == (0.0, 1.0):
                raise ConfigError(
                    'autopilot.high', f'{params.names[i]} takes {field}: expected its value where '
                    'the autopilot sends 1, or command_interface: throttle', i,
                )
        self._takes = {
            field: np.array([own == field for own in fields]) for field in set(fields)
        }
        self._safe = np.asarray(family.safe_command, dtype=float)[places]
        given = np.asarray(params.channels)
        self._at = np.where(given > 0, given - 1, np.arange(len(places)))
        self.reads = {
            Kind.PX4_MOTORS: self.motors, Kind.PX4_SERVOS: self.servos, Kind.RC_OUT: self.pulses,
        }

    def motors(self, message: Any) -> NamedCommand:
        """Return the commands of a px4_msgs/ActuatorMotors; raise `CommandError` if wrong."""
        params = self._params
        signal = signal_of_thrust(self._values(message.control), params.thrust_factor)
        is_reversible = (int(message.reversible_flags) >> self._at & 1).astype(bool)
        size = params.low + (params.high - params.low) * np.abs(signal)
        backward = np.where(is_reversible, -size, np.nan)
        return self._named(np.where(signal < 0.0, backward, size))

    def servos(self, message: Any) -> NamedCommand:
        """Return the commands of a px4_msgs/ActuatorServos; raise `CommandError` if wrong."""
        return self._scaled((self._values(message.control) + 1.0) / 2.0)

    def pulses(self, message: Any) -> NamedCommand:
        """Return the commands of a mavros_msgs/RCOut; raise `CommandError` if wrong."""
        pulses, params = self._values(message.channels), self._params
        # In MAVLink both values mean that an output is not used.
        pulses = np.where((pulses == 0.0) | (pulses == _UNUSED), np.nan, pulses)
        part = (pulses - params.pulse_low) / (params.pulse_high - params.pulse_low)
        # A pulse below the lowest one disarms.
        return self._scaled(np.where(part < -_OFF, np.nan, np.clip(part, 0.0, 1.0)))

    def stamp(self, message: Any) -> Any:
        """Return the stamp of a message, None if a message of PX4 has none."""
        if hasattr(message, 'header'):
            return message.header.stamp
        if not message.timestamp:
            return None
        microseconds = int(message.timestamp) + round(self._params.clock_offset * 1e6)
        sec, rest = divmod(microseconds, 1_000_000)
        return Plain(sec=sec, nanosec=rest * 1000)

    def _values(self, given: Any) -> FloatArray:
        """Return the values of the channels of all names, (n,)."""
        values = np.asarray(given, dtype=float)
        if len(values) <= self._at.max():
            raise CommandError(f'expected channel {self._at.max() + 1}, got {len(values)} channels')
        return np.asarray(values[self._at])

    def _scaled(self, part: FloatArray) -> NamedCommand:
        params = self._params
        return self._named(params.low + (params.high - params.low) * part)

    def _named(self, values: FloatArray) -> NamedCommand:
        """Return values by name, each in its field."""
        values = np.where(np.isnan(values), self._safe, values)
        return Plain(name=self._params.names, **{
            field: np.where(self._takes[field], values, np.nan) if field in self._takes else ()
            for field in FIELDS
        })
