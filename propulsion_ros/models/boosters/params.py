# SPDX-License-Identifier: Apache-2.0
"""Configuration of boosters."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from propulsion_ros.models.boosters.gimbals import GimbalsParams
from propulsion_ros.models.common import placement
from propulsion_ros.models.common.efficiency import live_factor
from propulsion_ros.models.common.esc import EscParams, esc_of
from propulsion_ros.models.common.step_mean import step_value
from propulsion_ros.models.common.thrust_curve import parse_curve
from propulsion_ros.models.supply.tanks import TanksParams
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.quantity import (
    BoolArray,
    FloatArray,
    IntArray,
    check_order,
    group,
    names,
    per_row,
    quantity,
    validate,
)


@dataclass(frozen=True, kw_only=True, eq=False)
class BoostersParams(EscParams):
    """Configuration of n boosters, their tanks and gimbals."""

    names: tuple[str, ...] = names('booster names, the order of all arrays')
    command_interface: str = quantity(
        'effort', kind=str, choices=('effort', 'throttle'),
        doc='what is commanded: effort [N], or throttle, 0 to 1 in position, through esc_curve',
    )
    max_thrust: FloatArray = per_row(unit='N', doc='thrust at throttle 1', above=0.0)
    min_thrust: FloatArray = per_row(0.0, 'N', doc='lowest thrust of a lit booster', lo=0.0)
    max_fuel_rate: FloatArray = per_row(unit='kg/s', doc='propellant burnt at throttle 1', lo=0.0)
    time_constant: FloatArray = per_row(0.0, 's', doc='first-order lag of the throttle', lo=0.0)
    reignitable: BoolArray = per_row(
        True, doc='false: once lit it burns until its tank is empty', kind=bool
    )
    noise_ratio: FloatArray = per_row(
        0.0, '', lo=0.0, hi=1.0,
        doc='standard deviation of the thrust over the thrust; noise is cut at 0 and twice the '
        'thrust, so that its mean is 0',
    )
    noise_seed: IntArray = per_row(
        0, doc='seed of the noise; equal seeds give equal noise', kind=int, lo=0
    )
    efficiency: FloatArray = live_factor('factor on the thrust for the same propellant')
    thrust_curve: tuple[str, ...] = per_row(
        '', kind=str,
        doc="solid motor: time since ignition [s] and thrust [N], 't0 f0 t1 f1 ...', peaking at "
        'max_thrust; min_thrust, time_constant and reignitable have no meaning then; '
        'empty: throttled',
    )
    tank: tuple[str, ...] = per_row(
        '', doc='tank that each booster burns from; empty: propellant without end', kind=str
    )
    position: FloatArray = placement.position('where the thrust acts')
    axis: FloatArray = placement.direction(
        'direction of the thrust, in the link of the booster', (0.0, 0.0, 1.0)
    )
    link: tuple[str, ...] = placement.link()
    rotation: FloatArray = placement.rotation()
    integrator: str = quantity(
        'exact', doc='exact, or the explicit step of the original', kind=str,
        choices=('exact', 'euler'),
    )
    step_value: str = step_value()
    exact_final_step: bool = quantity(
        True, kind=bool,
        doc='scale the thrust of the step that empties a tank to the propellant left',
    )
    tanks: TanksParams = group(TanksParams, element='tank')
    gimbals: GimbalsParams = group(GimbalsParams, element='gimbal')

    def __post_init__(self) -> None:
        validate(self)
        check_order(self, 'min_thrust', 'max_thrust', 'N')
        for i, tank in enumerate(self.tank):
            if tank and tank not in self.tanks.names:
                known = ', '.join(self.tanks.names) or 'none'
                raise ConfigError('tank', f'unknown tank {tank!r}, known: {known}', i)
        for i, booster in enumerate(self.gimbals.booster):
            if booster not in self.names:
                raise ConfigError(
                    'gimbals.booster',
                    f'unknown booster {booster!r}, known: {", ".join(self.names)}', i,
                )
        for i, text in enumerate(self.thrust_curve):
            if text:
                peak = float(np.max(parse_curve(text, i)[1]))
                if not np.isclose(peak, self.max_thrust[i], rtol=1e-6, atol=0.0):
                    raise ConfigError(
                        'thrust_curve',
                        f'peaks at {peak:g} N, expected max_thrust, {self.max_thrust[i]:g} N', i,
                    )
        if self.esc_gives == 'speed':
            raise ConfigError('esc_gives', 'expected thrust, a booster has no speed, got speed')
        esc_of(self, lowest=0.0)
        commanded = (*self.names, *self.gimbals.joints)
        for i, joint in enumerate(self.gimbals.joints):
            if joint in commanded[: len(self.names) + i]:
                raise ConfigError('gimbals.joints', f'{joint!r} is named twice', i)
