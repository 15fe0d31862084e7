# SPDX-License-Identifier: Apache-2.0
"""Configuration of jets."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from propulsion_ros.models.common import placement
from propulsion_ros.models.common.efficiency import live_factor
from propulsion_ros.models.jets.supply import SupplyParams
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.hints import accepted
from propulsion_ros.settings.quantity import (
    BoolArray,
    FloatArray,
    check_known,
    group,
    names,
    per_row,
    quantity,
    validate,
)

SHORTEST = 1e-3
"""Shortest time from one pulse to the next [s]."""


@dataclass(frozen=True, kw_only=True, eq=False)
class JetsParams:
    """Configuration of n jets and their tanks."""

    names: tuple[str, ...] = names('jet names, the order of all arrays')
    command_interface: str = quantity(
        'effort', kind=str, choices=('effort', 'throttle'),
        doc='what is commanded: the mean thrust as effort [N], or throttle, the duty cycle from 0 '
        'to 1 in position',
    )
    modulation: str = quantity(
        'pulse_width', kind=str, choices=('pulse_width', 'pulse_frequency', 'on_off'),
        doc='how a valve that is open or closed makes a mean thrust: pulse_width: one pulse in '
        'each pulse_period; pulse_frequency: a filter and a Schmitt trigger (PWPF); on_off: it '
        'is open from on_level on',
    )
    max_thrust: FloatArray = per_row(
        unit='N', doc='thrust of the open jet at the reference pressure of its tank', above=0.0
    )
    specific_impulse: FloatArray = per_row(
        70.0, 's', doc='impulse per weight of propellant', lo=1.0, hi=1e6,
        usual=(25.0, 545.0, 1000.0, 1e4),  # Of gas and what burns, or electric.
    )
    open_delay: FloatArray = per_row(
        0.0, 's', lo=0.0, hi=10.0,
        doc='how long a valve must be powered until it opens; a shorter pulse does not open it',
    )
    close_delay: FloatArray = per_row(
        0.0, 's', lo=0.0, hi=10.0,
        doc='how long a valve must be without power until it closes',
    )
    min_on_time: FloatArray = per_row(
        0.0, 's', doc='shortest pulse that is commanded: the impulse bit', lo=0.0, hi=10.0
    )
    min_off_time: FloatArray = per_row(
        0.0, 's', doc='shortest time between two pulses', lo=0.0, hi=10.0
    )
    pulse_period: FloatArray = per_row(
        0.1, 's', doc='pulse_width: from one pulse to the next', lo=SHORTEST, hi=100.0
    )
    keep_remainder: BoolArray = per_row(
        True, kind=bool,
        doc='pulse_width: time that was too short for a pulse, or for a pause, goes to the next '
        'period, so that the mean thrust is right; false: it is lost',
    )
    on_level: FloatArray = per_row(
        0.45, doc='pulse_frequency, on_off: where the trigger opens', lo=1e-6, hi=1.0
    )
    off_level: FloatArray = per_row(
        0.15, doc='pulse_frequency, on_off: where the trigger closes', lo=0.0, hi=1.0
    )
    filter_gain: FloatArray = per_row(4.5, doc='pulse_frequency: of the filter', lo=1e-3, hi=1e6)
    filter_time_constant: FloatArray = per_row(
        0.15, 's', doc='pulse_frequency: of the filter', lo=1e-6, hi=100.0
    )
    efficiency: FloatArray = live_factor('factor on the thrust for the same propellant')
    valve: tuple[str, ...] = per_row(
        'works', kind=str, choices=('works', 'stuck_open', 'stuck_closed'), live=True,
        doc='whether the valve follows its orders',
    )
    tank: tuple[str, ...] = per_row(
        '', doc='tank that feeds each jet; empty: propellant without end', kind=str
    )
    position: FloatArray = placement.position('where the thrust acts')
    axis: FloatArray = placement.direction(
        'direction of the thrust, in the link of the jet', (0.0, 0.0, 1.0)
    )
    link: tuple[str, ...] = placement.link()
    rotation: FloatArray = placement.rotation()
    tanks: SupplyParams = group(SupplyParams, element='tank')

    def __post_init__(self) -> None:
        validate(self)
        check_known('tank', self.tank, 'tank', self.tanks.names)
        if self.modulation == 'pulse_width':
            _check_periods(self)
        else:
            _check_levels(self)

    @property
    def shortest_cycle(self) -> FloatArray:
        """Shortest time from one pulse to the next [s], (n,); 0 where a command decides it."""
        if self.modulation == 'pulse_width':
            return self.pulse_period
        if self.modulation == 'on_off':
            return np.zeros(len(self.names))
        band, gain = self.on_level - self.off_level, self.filter_gain
        # The filter falls fastest at no demand, and rises fastest at the largest one.
        on = np.log1p(band / (gain + self.off_level))
        off = -np.log1p(-np.minimum(band / np.maximum(gain - self.off_level, band), 1.0))
        tau = self.filter_time_constant
        return np.asarray(
            np.maximum(tau * on, self.min_on_time) + np.maximum(tau * off, self.min_off_time)
        )


def _check_periods(params: JetsParams) -> None:
    needed = params.min_on_time + params.min_off_time
    for i in np.flatnonzero(needed > params.pulse_period).tolist():
        key = max(('min_on_time', 'min_off_time'), key=lambda key: getattr(params, key)[i])
        longest, period = float(getattr(params, key)[i]), float(params.pulse_period[i])
        raise ConfigError(key, (
            f'min_on_time and min_off_time, {needed[i]:g} s, have no room in pulse_period '
            f'{period:g} s{accepted(longest, "s", 0.0, period, 0.0)}'
        ), i)


def _check_levels(params: JetsParams) -> None:
    for i in np.flatnonzero(params.off_level >= params.on_level).tolist():
        raise ConfigError(
            'off_level', f'{params.off_level[i]:g} must be below on_level, {params.on_level[i]:g}',
            i,
        )
    if params.modulation == 'on_off':
        return
    for i in np.flatnonzero(params.filter_gain <= params.on_level).tolist():
        raise ConfigError(
            'filter_gain', f'{params.filter_gain[i]:g} must be above on_level, '
            f'{params.on_level[i]:g}: no demand opens the valve', i,
        )
    cycle = params.shortest_cycle
    for i in np.flatnonzero(cycle < SHORTEST).tolist():
        raise ConfigError(
            'filter_time_constant', f'gives pulses every {cycle[i]:g} s, expected at least '
            f'{SHORTEST:g} s; raise it, on_level - off_level, min_on_time or min_off_time', i,
        )
