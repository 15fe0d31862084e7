# SPDX-License-Identifier: Apache-2.0
"""Tanks that feed jets, and the pressure that falls while they do, in closed form.

A jet at the reference pressure of its tank gives its max_thrust. Thrust follows the pressure at
the jet, and the flow follows thrust over specific impulse. With x the fuel ratio, p the pressure
at the jet over the reference, and h the temperature over that of the full tank:

========= ========================================================== ======================
constant  p = 1, h = 1                                               until nothing is left
gas       p = p_full x^k / x_0^(k - 1), h = (x / x_0)^(k - 1)        thrust p, flow p / sqrt(h)
liquid    p = p_full (u_full / u)^k, u = 1 - (1 - u_full) x, h = 1   thrust p, flow p
========= ========================================================== ======================

k is the polytropic exponent, x_0 the fuel ratio at the start, u the part of the tank that
pressurant fills. A regulator holds p at 1 while the tank has more. Each law integrates to a closed
form over the flow that open valves would draw at the reference, so that what is drawn in a time
does not depend on the step.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from propulsion_ros.models.common.family import restart
from propulsion_ros.models.supply.tanks import Tanks, VesselsParams
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.quantity import FloatArray, per_row

_LEAST = 1e-12
"""Fuel ratios below this are rounding."""
_FAINT = 1e-30
"""Pressures below this part of that of the full tank make no difference."""
_FLOW = 1e30
"""Parts of a tank in one step beyond which nothing is left of it."""


@dataclass(frozen=True, kw_only=True, eq=False)
class SupplyParams(VesselsParams):
    """Configuration of m tanks under pressure."""

    propellant: tuple[str, ...] = per_row(
        'constant', kind=str, choices=('constant', 'gas', 'liquid'),
        doc='gas: cold gas, whose own pressure falls; liquid: monopropellant that a gas drives out '
        '(blow-down); constant: the pressure stays until nothing is left',
    )
    pressure: FloatArray = per_row(1e6, 'Pa', doc='gas, liquid: of the full tank', lo=1.0, hi=1e10)
    regulated_pressure: FloatArray = per_row(
        0.0, 'Pa', lo=0.0, hi=1e10,
        doc='gas, liquid: that a regulator gives the jets while the tank has more, and that of '
        'max_thrust; 0: no regulator, max_thrust is that at the pressure of the full tank',
    )
    min_pressure: FloatArray = per_row(
        0.0, 'Pa', doc='gas, liquid: of the tank; below it the jets get nothing', lo=0.0, hi=1e10
    )
    temperature: FloatArray = per_row(
        293.15, 'K', doc='gas, liquid: at the start', lo=1.0, hi=1e4, usual=(150.0, 600.0)
    )
    polytropic_exponent: FloatArray = per_row(
        1.0, lo=1.0, hi=2.0,
        doc='gas, liquid: of the gas: 1, the walls keep its temperature (isothermal); its ratio '
        'of specific heats, no heat gets in (adiabatic); between them, some does',
    )
    ullage: FloatArray = per_row(
        0.3, doc='liquid: part of the tank that gas fills when it is full', lo=0.01, hi=0.99
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        faint = (self.regulated_pressure > 0.0) & (self.regulated_pressure < 1.0)
        for i in np.flatnonzero(faint).tolist():
            raise ConfigError(
                'regulated_pressure', 'expected 0 or at least 1 Pa, got '
                f'{self.regulated_pressure[i]:g} Pa', i,
            )
        for key in ('regulated_pressure', 'min_pressure'):
            least = getattr(self, key)
            for i in np.flatnonzero(least > self.pressure).tolist():
                raise ConfigError(
                    key, f'{least[i]:g} is above the pressure of the full tank, '
                    f'{self.pressure[i]:g} Pa; are both in Pa, not bar?', i,
                )


class Supply(Tanks):
    """m tanks under pressure; what is below `min_pressure` gives nothing any more, and is dry."""

    _start: FloatArray
    """Fuel ratios at the start, (..., m)."""

    def __init__(self, params: SupplyParams, batch: tuple[int, ...] = ()) -> None:
        kind = np.array(params.propellant)
        self._gas, self._liquid = kind == 'gas', kind == 'liquid'
        constant = kind == 'constant'
        regulated = params.regulated_pressure > 0.0
        self._reference = np.where(regulated, params.regulated_pressure, params.pressure)
        self._regulated = regulated | constant
        self._full = params.pressure / self._reference
        self._exponent = np.where(constant, 1.0, params.polytropic_exponent)
        # The gas of a liquid tank heats no jet: its exponent acts on the pressure alone.
        self._cooling = np.where(self._gas, self._exponent - 1.0, 0.0)
        self._power = 1.0 + 0.5 * self._cooling
        self._has_gas, self._has_liquid = bool(self._gas.any()), bool(self._liquid.any())
        self._cools = bool(self._cooling.any())
        self._ullage = np.where(self._liquid, params.ullage, 0.5)
        self._temperature = params.temperature
        self._least = np.where(constant, 0.0, params.min_pressure / self._reference)
        self._constant = constant
        self._end: FloatArray = np.zeros(len(kind))
        super().__init__(params, batch)

    def reset(self, indices: Any = None, ratio: FloatArray | None = None) -> None:
        """Fill to a ratio of the capacity, (..., m), or to the usual one; see `restart`."""
        super().reset(indices, ratio)
        start = np.maximum(self.fuel_ratio, _LEAST)
        restart(self, indices, self._shape[:-1], _start=start)
        # 0 for a constant pressure, which is held to the end.
        self._turns = np.where(self._regulated, self._ratio_at(np.ones_like(start)), np.inf)
        self._end = np.where(self._least > 0.0, self._ratio_at(self._least), 0.0)
        self._hold(self.propellant)

    def _hold(self, propellant: FloatArray) -> None:
        super()._hold(propellant)
        self.is_dry |= self.fuel_ratio <= self._end + _LEAST * (self._end > 0.0)

    @property
    def pressure(self) -> FloatArray:
        """Pressure in each tank [Pa], (..., m)."""
        return np.asarray(self._reference * self._pressure_at(self.fuel_ratio))

    @property
    def temperature(self) -> FloatArray:
        """Temperature in each tank [K], (..., m); that of a liquid stays."""
        return np.asarray(self._temperature * self._heat_at(self.fuel_ratio))

    def draw(self, wanted: FloatArray) -> FloatArray:
        """Take what open valves would draw at the reference pressure [kg], (..., m).

        Returns
        -------
        FloatArray
            Mean pressure at the jets over the reference while they were open, (..., m).
        """
        if not np.count_nonzero(wanted):
            return self._now()
        with np.errstate(over='ignore', divide='ignore', invalid='ignore', under='ignore'):
            flow = np.where(self.is_dry, 0.0, wanted / self._whole)
            gone, impulse = self._run(self.fuel_ratio, np.minimum(flow, _FLOW))
            flows = flow > 0.0
            share = impulse / np.where(flows, flow, 1.0)
            if not np.all(flows):
                share = np.where(flows, share, self._now())
        super().draw(gone * self._capacity)
        return np.asarray(share)

    def _now(self) -> FloatArray:
        """Return the pressure at the jets over the reference."""
        pressure = self._pressure_at(self.fuel_ratio)
        held = np.where(self._regulated, np.minimum(pressure, 1.0), pressure)
        return np.where(self.is_dry, 0.0, held)

    def _heat_at(self, x: FloatArray) -> FloatArray:
        """Return temperatures over that at the start at fuel ratios."""
        if not self._cools:
            return np.ones_like(x)
        return np.asarray((np.maximum(x, _LEAST) / self._start) ** self._cooling)

    def _filled(self, x: FloatArray) -> FloatArray:
        """Return the part of a liquid's tank that gas fills at fuel ratios."""
        return np.asarray(1.0 - (1.0 - self._ullage) * x)

    def _pressure_at(self, x: FloatArray) -> FloatArray:
        """Return pressures of the tanks over the reference at fuel ratios."""
        pressure = np.where(x > 0.0, 1.0, 0.0)
        if self._has_gas:
            pressure = np.where(self._gas, x * self._heat_at(x), pressure)
        if self._has_liquid:
            blown = (self._ullage / self._filled(x)) ** self._exponent
            pressure = np.where(self._liquid, blown, pressure)
        return np.asarray(self._full * pressure)

    def _ratio_at(self, pressure: FloatArray) -> FloatArray:
        """Return the fuel ratios at which tanks have pressures above 0 over the reference."""
        part = np.maximum(pressure / self._full, _FAINT)
        of_gas = (part * self._start**self._cooling) ** (1.0 / self._exponent)
        filled = self._ullage * part ** (-1.0 / self._exponent)
        of_liquid = np.maximum((1.0 - filled) / (1.0 - self._ullage), 0.0)
        return np.where(self._gas, of_gas, np.where(self._liquid, of_liquid, 0.0))

    def _run(self, x: FloatArray, flow: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return what leaves at fuel ratios for flows at the reference, and its impulse.

        Both are in parts of a full tank; the impulse is that at the temperature of the start.
        """
        gone, impulse = self._run_held(x, flow)
        rest = flow - impulse
        if np.count_nonzero(rest):
            low, falling = self._run_down(np.maximum(x - gone, 0.0), rest)
            gone, impulse = gone + low, impulse + falling
        beyond = x - gone < self._end
        if not np.count_nonzero(beyond):
            return gone, impulse
        gone = np.where(beyond, np.maximum(x - self._end, 0.0), gone)
        return gone, np.where(beyond, self._impulse(x, gone), impulse)

    def _impulse(self, x: FloatArray, gone: FloatArray) -> FloatArray:
        """Return the impulse of what leaves from fuel ratios on."""
        part = np.log1p(-np.minimum(gone / np.maximum(x, _LEAST), 1.0))
        return np.asarray(-np.sqrt(self._heat_at(x)) * x * np.expm1(self._power * part)
                          / self._power)

    def _run_held(self, x: FloatArray, flow: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return what leaves while a regulator holds the pressure, and its impulse."""
        above = x > self._turns
        safe, power = np.maximum(x, _LEAST), self._power
        heat = np.sqrt(self._heat_at(safe))
        turns = np.where(above, self._turns, 0.0)
        most = np.where(above, heat * safe * (1.0 - (turns / safe) ** power) / power, 0.0)
        held = np.minimum(flow, most)
        rest = np.maximum(-power * held / (heat * safe), -1.0)
        return np.where(above, -safe * np.expm1(np.log1p(rest) / power), 0.0), held

    def _run_down(self, x: FloatArray, flow: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return what leaves while the pressure falls, and its impulse."""
        safe = np.maximum(x, _LEAST)
        thrust = self._pressure_at(safe) * flow
        gone, impulse = self._gas_runs(safe, thrust) if self._has_gas else (thrust, thrust)
        if self._has_liquid:
            liquid = self._liquid_runs(safe, thrust)
            gone = np.where(self._liquid, liquid, gone)
            impulse = np.where(self._liquid, liquid, impulse)
        falls = (flow > 0.0) & (x > 0.0) & ~self._constant
        return np.where(falls, gone, 0.0), np.where(falls, impulse, 0.0)

    def _gas_runs(self, x: FloatArray, thrust: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return what leaves of a gas, and its impulse, for thrusts as at the beginning."""
        heat, slow = np.sqrt(self._heat_at(x)), 0.5 * self._cooling
        part = thrust / (heat * x)
        cooled = np.log1p(slow * part) / np.where(slow > 0.0, slow, 1.0)
        left = -np.where(slow > 0.0, cooled, part)
        return -x * np.expm1(left), -heat * x * np.expm1(self._power * left) / self._power

    def _liquid_runs(self, x: FloatArray, thrust: FloatArray) -> FloatArray:
        """Return what leaves of a liquid, and is its impulse, for thrusts as at the beginning."""
        filled, filling, power = self._filled(x), 1.0 - self._ullage, self._exponent + 1.0
        grown = np.log1p(power * filling * thrust / filled) / power
        return np.minimum(filled * np.expm1(grown) / filling, x)
