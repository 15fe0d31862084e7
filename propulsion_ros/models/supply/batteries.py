# SPDX-License-Identifier: Apache-2.0
"""Batteries that actuators share, and the speeds that their voltage allows.

A battery is an open-circuit voltage that falls with its charge, behind a resistance. What turns
draws electric power, and its greatest speed is in proportion to the voltage. Voltage, current and
speeds of a step are solved together, so that none of them is of the step before:

    V = E(charge) - R I,    V I = sum of the powers at speeds that V allows

The current of a step is constant, and V is its mean over the step: with E linear between points of
its curve, V I + R I^2 is exactly what the charge gives.
"""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from propulsion_ros.models.common.family import BatteryState, restart
from propulsion_ros.models.common.points import numbers_of, points_of
from propulsion_ros.models.common.start import Start
from propulsion_ros.models.common.wrench import product
from propulsion_ros.models.supply.tanks import draws_of
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.quantity import (
    BoolArray,
    FloatArray,
    check_known,
    group,
    names,
    per_row,
    validate,
)

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
    check_known('battery', params.battery, 'battery', params.batteries.names)
    for i, battery in enumerate(params.battery):
        if battery and params.power_constant[i] == params.moment_constant[i] == 0.0:
            raise ConfigError(
                'power_constant', 'expected this or moment_constant above 0, the power that is '
                f'drawn from battery {battery!r} is unknown without', i,
            )


_HOUR = 3600.0
_ROUNDING = 1e-12
"""What many steps leave of the charge by rounding is none."""
_NEARLY = 1e-3
"""A voltage at rest so close to the cut-off has reached it: under load it never would."""
_TOLERANCE = 1e-12
_LIMITED = 1e-9
_TRIALS = 200

Trial = Callable[[FloatArray], tuple[FloatArray, FloatArray]]
"""``trial(ratio)``: thrusts [N] and speeds [rad/s], (..., n), of a step whose largest speeds are a
ratio of the nominal ones; it advances nothing."""


class _Source(NamedTuple):
    """Batteries as a step meets them, each (..., m)."""

    voltage: FloatArray
    """Voltage without a current [V]."""
    resistance: FloatArray
    """Fall of the mean voltage of the step over the current [ohm], that of the charge included."""
    current: FloatArray
    """Largest current that it may give [A]."""
    lowest: FloatArray
    """Voltage at the largest current [V]."""

    def current_at(self, power: FloatArray) -> FloatArray:
        """Return the currents [A] at which the batteries give powers [W]."""
        root = np.sqrt(np.maximum(self.voltage**2 - 4.0 * self.resistance * power, 0.0))
        return 2.0 * power / (self.voltage + root)

    @property
    def power(self) -> FloatArray:
        """The most that it may give [W]."""
        return self.lowest * self.current


class Batteries:
    """m batteries that n actuators draw from, each from one or none.

    Attributes
    ----------
    names : tuple of str
        Of the batteries.
    capacity : FloatArray
        [A h], (m,).
    charge : FloatArray
        What is left [A s], (..., m).
    voltage, current : FloatArray
        Of the last step, the means over it [V], [A], (..., m); the current is at least 0.
    flags : dict of str to BoolArray
        'low_voltage': the battery gives less than is demanded; 'empty': it gives nothing any more.
    measured : FloatArray or None
        Voltages that hold in place of those of the charge, as in a log [V], (..., m).
    """

    measured: FloatArray | None = None

    def __init__(self, params: Any, batch: tuple[int, ...] = ()) -> None:
        own: BatteriesParams = params.batteries
        m = len(own.names)
        self.names, self.capacity, self._batch = own.names, own.capacity, batch
        self._whole, self._standby = own.capacity * _HOUR, own.standby_power
        self._resistance, self._cut_off = own.internal_resistance, own.cut_off_voltage
        self._voltage = _Curves([own.curve(i) for i in range(m)])
        full = self._voltage.at(np.ones(m))[0]
        self._nominal = np.where(own.nominal_voltage > 0.0, own.nominal_voltage, full)
        self._draws, self._endless = draws_of(params.battery, own.names)
        self._moment = params.moment_constant / params.drive_efficiency
        self._per_thrust = params.power_constant
        self._ratio: FloatArray
        self._slope: FloatArray
        self.retune(params)
        self.reset()

    def retune(self, params: Any) -> None:
        """Take the `starting_charge` of a configuration, for the next `reset`."""
        start = params.batteries.starting_charge
        self.starting_charge = np.broadcast_to(start, (*self._batch, len(self.names)))

    def reset(self, indices: Any = None, charge: FloatArray | None = None) -> None:
        """Charge to `starting_charge`, or to other parts of the capacity; see `restart`."""
        begun = (self.starting_charge if charge is None else charge) * self._whole
        still, voltage = np.zeros_like(begun), self._at_rest(begun)
        restart(
            self, indices, self._batch, charge=begun, current=still, voltage=voltage,
            # Where the next step looks first for its solution.
            _ratio=voltage / self._nominal, _slope=still - self._nominal,
        )
        self.flags = self._flags(np.zeros(self.charge.shape, bool))

    def rest(self) -> None:
        """Give no current; the charge stays as it is."""
        self.current: FloatArray = np.zeros_like(self.charge)
        self.voltage: FloatArray = self._at_rest(self.charge)
        self.flags = self._flags(np.zeros(self.charge.shape, bool))

    def supply(self, trial: Trial, dt: float) -> FloatArray:
        """Discharge for ``dt`` [s] by what a step draws.

        Returns
        -------
        FloatArray
            Speeds that the voltage allows over those at nominal voltage, (..., n), 1 for what has
            no battery: the step is that of ``trial`` at this ratio.
        """
        if self.measured is not None:
            return self._per_actuator(self.measured / self._nominal)
        source = self._source(dt)

        def demand(ratio: FloatArray) -> FloatArray:
            power = self._power(*trial(self._per_actuator(ratio)))
            return product(power, self._draws) + self._standby

        ratio, power = self._solve(demand, source)
        current = source.current_at(np.minimum(power, source.power))
        voltage = source.voltage - source.resistance * current
        self.charge: FloatArray = np.maximum(self.charge - current * dt, 0.0)
        self.current, self.voltage = current, voltage
        self.flags = self._flags(ratio * self._nominal < (1.0 - _LIMITED) * voltage)
        return self._per_actuator(ratio)

    def state(self) -> BatteryState:
        """Return what the last step did to the batteries."""
        return BatteryState(self.voltage, self.current, self.charge / self._whole)

    def _source(self, dt: float) -> _Source:
        """Return the batteries as a step of ``dt`` [s] meets them."""
        voltage, slope = self._voltage.at(self.charge / self._whole)
        # The current lowers the voltage through the step, by half of that in the mean.
        resistance = self._resistance + 0.5 * dt * slope / self._whole
        with np.errstate(divide='ignore', invalid='ignore'):
            # No source gives more power than at half its voltage.
            drop = np.minimum(voltage - self._cut_off, 0.5 * voltage)
            most = np.where(resistance > 0.0, drop / resistance, np.inf)
            most = np.minimum(most, self.charge / dt if dt > 0.0 else np.inf)
        most = np.where(self._is_empty(voltage), 0.0, most)
        with np.errstate(invalid='ignore'):
            lowest = np.where(resistance > 0.0, voltage - resistance * most, voltage)
        return _Source(voltage, resistance, most, lowest)

    def _solve(
        self, demand: Callable[[FloatArray], FloatArray], source: _Source
    ) -> tuple[FloatArray, FloatArray]:
        """Return the largest ratio of speeds that the batteries can feed, and the power there.

        More speed takes more power, which leaves less voltage for speed: there is one solution.
        """
        top = np.where(source.current > 0.0, source.voltage / self._nominal, 0.0)
        search = FallingRoot(np.minimum(self._ratio, top), self._slope, top)
        for _ in range(_TRIALS):
            tried = search.place
            power = demand(tried)
            error = self._error(tried, power, source)
            if search.ends(error, _TOLERANCE * source.voltage):
                break
        found = self._ratio = search.found
        self._slope = search.slope
        return found, power if np.array_equal(found, tried) else demand(found)

    def _error(self, ratio: FloatArray, power: FloatArray, source: _Source) -> FloatArray:
        """Return how much voltage is left beyond that of a ratio [V], which falls with it."""
        needed = ratio * self._nominal
        left = source.voltage - source.resistance * source.current_at(power) - needed
        with np.errstate(divide='ignore', invalid='ignore', over='ignore'):
            spare = np.where(power > 0.0, source.power / power - 1.0, 1.0)
        # The battery holds its lowest voltage while the speeds come down to what it gives.
        held = source.lowest * np.minimum(spare, 1.0)
        return np.where(needed >= source.lowest, left, held)

    def _power(self, thrust: FloatArray, speed: FloatArray) -> FloatArray:
        """Return electric powers [W] at thrusts [N] and speeds [rad/s], (..., n)."""
        size = np.abs(thrust)
        power = np.where(
            self._per_thrust > 0.0, self._per_thrust * np.sqrt(size), self._moment * np.abs(speed)
        )
        return np.asarray(power * size)

    def _per_actuator(self, ratio: FloatArray) -> FloatArray:
        return np.asarray(product(ratio, self._draws.T) + self._endless)

    def _at_rest(self, charge: FloatArray) -> FloatArray:
        return self._voltage.at(charge / self._whole)[0]

    def _is_empty(self, voltage: FloatArray) -> BoolArray:
        """Return which batteries give nothing any more, by their voltages at rest [V]."""
        spent = self.charge <= _ROUNDING * self._whole
        return np.asarray(spent | (voltage <= (1.0 + _NEARLY) * self._cut_off))

    def _flags(self, limited: BoolArray) -> dict[str, BoolArray]:
        empty = self._is_empty(self._at_rest(self.charge))
        return {'low_voltage': limited, 'empty': empty}


class _Curves:
    """Voltages at rest of m batteries over their states of charge."""

    def __init__(self, curves: list[tuple[FloatArray, FloatArray]]) -> None:
        shape = len(curves), max(len(charges) for charges, _ in curves) - 1
        self._battery = np.arange(shape[0])
        self._from = np.full(shape, np.inf)
        self._voltage, self._slope = np.zeros((2, *shape))
        for i, (charges, voltages) in enumerate(curves):
            size = len(charges) - 1
            self._from[i, :size], self._voltage[i, :size] = charges[:-1], voltages[:-1]
            self._slope[i, :size] = np.diff(voltages) / np.diff(charges)

    def at(self, charge: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return voltages [V] and what they lose for all of the charge [V] below, (..., m)."""
        # On a point the line below holds, since a battery is discharged.
        passed = np.count_nonzero(charge[..., None] > self._from, axis=-1)
        place = self._battery, np.maximum(passed - 1, 0)
        slope = self._slope[place]
        return self._voltage[place] + slope * (charge - self._from[place]), slope


class PoweredFamily:
    """Base of a family whose actuators may draw from batteries; see `Powered`.

    Without a battery ``_batteries`` is None, and a step is as if there were none.
    """

    _batteries: Batteries | None
    battery_names: tuple[str, ...]
    battery_capacity: FloatArray

    def _take_supply(self, params: Any, batch: tuple[int, ...]) -> None:
        """Take the batteries of a `PoweredParams`."""
        own = params.batteries
        self.battery_names, self.battery_capacity = own.names, own.capacity
        self._batteries = Batteries(params, batch) if own.names else None

    def _retune_supply(self, params: Any) -> None:
        if self._batteries:
            self._batteries.retune(params)

    @property
    def _supply_states(self) -> tuple[str, ...]:
        """Names of the states that `_charge` takes."""
        return ('charge',) if self._batteries else ()

    def _charge(self, indices: Any, start: Start) -> None:
        """Charge to `starting_charge`, or the ``charge`` of a state, 1 when full."""
        if self._batteries:
            charge = start.of('charge', self._batteries.starting_charge, 0.0, 1.0)
            self._batteries.reset(indices, charge)

    def measure_supply(self, voltage: FloatArray) -> None:
        """Take voltages in place of those of the charge [V], (..., m), from now on."""
        if self._batteries:
            self._batteries.measured = voltage

    def _rest_supply(self) -> None:
        if self._batteries:
            self._batteries.rest()


_ROOT_TOLERANCE = 1e-12
"""Width of a bracket, over the largest argument, that is none."""


class FallingRoot:
    """Looks for where m falling functions are 0, by secants that a bracket keeps from going astray.

    Parameters
    ----------
    place, slope : FloatArray
        Where to look first, and what slope to expect there, below 0.
    top : FloatArray
        The largest argument; 0 is the smallest.

    Attributes
    ----------
    place : FloatArray
        Where to look next.
    slope : FloatArray
        Between the last two places.
    found : FloatArray
        The best place so far where no function is below 0 by more than the tolerance.
    """

    def __init__(self, place: FloatArray, slope: FloatArray, top: FloatArray) -> None:
        self.place, self.slope = place, slope
        self._low, self._high, self._top = np.zeros_like(top), top, top
        self.found: FloatArray = self._low
        self._before: tuple[FloatArray, FloatArray] | None = None

    def ends(self, error: FloatArray, tolerance: FloatArray) -> bool:
        """Take the values at `place`; return whether all are found, else move on."""
        self._low = np.where(error >= 0.0, self.place, self._low)
        self._high = np.where(error <= 0.0, self.place, self._high)
        good = np.abs(error) <= tolerance
        done = good | (self._high - self._low <= _ROOT_TOLERANCE * self._top)
        self.found = np.where(good, self.place, self._low)
        if done.all():
            return True
        guess, is_better = self._secant(error)
        inside = is_better & (guess >= self._low) & (guess <= self._high)
        self._before = self.place, error
        middle = 0.5 * (self._low + self._high)
        self.place = np.where(done, self.place, np.where(inside, guess, middle))
        return False

    def _secant(self, error: FloatArray) -> tuple[FloatArray, BoolArray]:
        """Return the next places by secants, and where the last ones have halved the error."""
        is_better = np.ones(error.shape, bool)
        if self._before is not None:
            way, rise = self.place - self._before[0], error - self._before[1]
            falls = way * rise < 0.0
            self.slope = np.where(falls, rise / np.where(falls, way, 1.0), self.slope)
            is_better = np.abs(error) <= 0.5 * np.abs(self._before[1])
        return self.place - error / self.slope, is_better
