# SPDX-License-Identifier: Apache-2.0
"""Configuration of fins."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from propulsion_ros.models.common import placement
from propulsion_ros.models.common.efficiency import live_factor
from propulsion_ros.models.common.servo import ServoParams, check_servos
from propulsion_ros.models.common.step_mean import step_value
from propulsion_ros.models.fins.lift_drag import QuadraticParams, TwoLinesParams
from propulsion_ros.models.fins.lifting_surface import LiftingSurfaceParams
from propulsion_ros.models.thrusters.dynamics import DynamicsParams
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.quantity import (
    FloatArray,
    check_order,
    group,
    names,
    per_row,
    quantity,
)


@dataclass(frozen=True, kw_only=True, eq=False)
class FinsParams(DynamicsParams, ServoParams):
    """Configuration of n fins; each is listed under one of the lift models."""

    names: tuple[str, ...] = names('fin names, the order of all arrays')
    min_deflection: FloatArray = per_row(
        -np.pi / 2, 'rad', doc='lowest deflection', lo=-np.pi, hi=np.pi
    )
    max_deflection: FloatArray = per_row(
        np.pi / 2, 'rad', doc='highest deflection', lo=-np.pi, hi=np.pi
    )
    dynamics: tuple[str, ...] = per_row(
        'first_order', doc='how the deflection follows its command', kind=str,
        choices=('zero_order', 'first_order', 'yoerger', 'bessa'),
    )
    time_constant: FloatArray = per_row(
        0.0, 's', doc='first_order: lag of the deflection; 0 follows at once', lo=0.0
    )
    rate_limit: FloatArray = per_row(
        0.0, 'rad/s', doc='largest rate of the deflection; 0 means no limit', lo=0.0
    )
    efficiency: FloatArray = live_factor(
        'factor on lift, drag and moment at the same deflection, as if surface was lost'
    )
    integrator: str = quantity(
        'exact', doc='exact, or the explicit step of the originals', kind=str,
        choices=('exact', 'euler'),
    )
    step_value: str = step_value()
    compat: str = quantity(
        'none', doc='original whose errors are reproduced: uuv for two_lines, pyflyt for '
        'lifting_surface', kind=str, choices=('none', 'uuv', 'pyflyt'),
    )
    position: FloatArray = placement.position('where the force acts')
    chord: FloatArray = placement.direction(
        'direction of the leading edge at deflection 0, in the link of the fin; its part along '
        'the span has no effect', (1.0, 0.0, 0.0),
    )
    span: FloatArray = placement.direction(
        'axis of the deflection, in the link of the fin', (0.0, 0.0, 1.0)
    )
    link: tuple[str, ...] = placement.link('force')
    rotation: FloatArray = placement.rotation()
    quadratic: QuadraticParams = group(QuadraticParams, element='quadratic')
    two_lines: TwoLinesParams = group(TwoLinesParams, element='two_lines')
    lifting_surface: LiftingSurfaceParams = group(
        LiftingSurfaceParams, element='lifting_surface'
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        check_servos(self)
        for key, kinds in (
            ('natural_frequency', ('first_order',)), ('backlash', ('first_order', 'zero_order'))
        ):
            for i, kind in enumerate(self.dynamics):
                if getattr(self, key)[i] > 0.0 and kind not in kinds:
                    raise ConfigError(
                        key, f'expected 0 with dynamics {kind}, got {getattr(self, key)[i]:g}', i
                    )
        check_order(self, 'min_deflection', 'max_deflection', 'rad')
        self._check_models()
        largest = np.maximum(np.abs(self.min_deflection), np.abs(self.max_deflection))
        for fin in self.lifting_surface.fin:
            i = self.names.index(fin)
            if largest[i] > np.pi / 2:
                raise ConfigError(
                    'max_deflection',
                    f'a flap turns by at most {np.pi / 2:g} rad, got {largest[i]:g}', i,
                )

    def _check_models(self) -> None:
        """Raise unless every fin has exactly one lift model."""
        model_of: dict[str, str] = {}
        for key in ('quadratic', 'two_lines', 'lifting_surface'):
            for i, fin in enumerate(getattr(self, key).fin):
                if fin not in self.names:
                    known = ', '.join(self.names)
                    raise ConfigError(f'{key}.fin', f'unknown fin {fin!r}, known: {known}', i)
                if fin in model_of:
                    raise ConfigError(f'{key}.fin', f'{fin!r} is also in {model_of[fin]}', i)
                model_of[fin] = key
        for i, fin in enumerate(self.names):
            if fin not in model_of:
                raise ConfigError(
                    'names',
                    f'{fin!r} has no lift model, expected it in quadratic.fin, two_lines.fin or '
                    'lifting_surface.fin, in a URDF <quadratic>, <two_lines> or <lifting_surface>',
                    i,
                )
