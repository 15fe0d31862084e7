# SPDX-License-Identifier: Apache-2.0
"""What thrust a turning propeller makes: steady curves and their inverses.

Basic, dead zone and table are those of the UUV simulator (Yoerger et al. 1990, Bessa et al.
2006); the propeller curve is that of gz-sim's Thruster, with the loss of thrust in a stream
along the axis as Fossen has it (Guidance and Control of Ocean Vehicles, 1994).
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from propulsion_ros.models.common.lag import LagRun, PiecewiseQuadratic, lag_ratio, ramp_moments
from propulsion_ros.models.thrusters.dynamics import (
    LARGEST,
    WEIGHTS,
    RotorDynamics,
    columns_by_kind,
    require_constants,
    within_reach,
)
from propulsion_ros.models.thrusters.four_quadrant import FourQuadrant, FourQuadrantParams
from propulsion_ros.models.thrusters.table import Table, ThrustTables, parse_table
from propulsion_ros.settings.quantity import (
    BoolArray,
    FloatArray,
    IntArray,
    names,
    per_row,
    validate,
)

_CONVERSIONS = {
    'basic': ('rotor_constant',),
    'dead_zone': (),
    'linear_interp': (),
    'propeller': ('thrust_coefficient', 'propeller_diameter', 'fluid_density'),
    'four_quadrant': ('propeller_diameter', 'fluid_density'),
}
"""Every curve, with the constants that it divides by."""


@dataclass(frozen=True, kw_only=True, eq=False)
class CurvesParams(FourQuadrantParams):
    """Thrust curves of n thrusters; each reads only the constants of its own curve."""

    names: tuple[str, ...] = names('thruster names, the order of all arrays')
    conversion: tuple[str, ...] = per_row(
        'basic', doc='curve of thrust over rotor speed', kind=str,
        choices=tuple(_CONVERSIONS),
    )
    rotor_constant: FloatArray = per_row(
        0.0, 'N s^2/rad^2', doc='basic: thrust for each (rad/s)^2', lo=0.0, hi=LARGEST
    )
    rotor_constant_left: FloatArray = per_row(
        0.0, 'N s^2/rad^2', doc='dead_zone: below delta_left; 0 makes no reverse thrust', lo=0.0,
        hi=LARGEST,
    )
    rotor_constant_right: FloatArray = per_row(
        0.0, 'N s^2/rad^2', doc='dead_zone: above delta_right; 0 makes no forward thrust', lo=0.0,
        hi=LARGEST,
    )
    delta_left: FloatArray = per_row(
        0.0, 'rad^2/s^2', doc='dead_zone: lower edge, as speed times its size', lo=-LARGEST, hi=0.0
    )
    delta_right: FloatArray = per_row(
        0.0, 'rad^2/s^2', doc='dead_zone: upper edge, as speed times its size', lo=0.0, hi=LARGEST
    )
    input_values: tuple[str, ...] = per_row(
        '', kind=str,
        doc='linear_interp: rotor speeds [rad/s], one text of numbers for each thruster',
    )
    output_values: tuple[str, ...] = per_row(
        '', kind=str,
        doc='linear_interp: thrusts [N] at input_values; held constant beyond the ends',
    )
    thrust_coefficient: FloatArray = per_row(
        0.0, '', lo=-LARGEST, hi=LARGEST,
        doc='propeller: Kt in T = Kt rho D^4 w |w| with w in rad/s; negative: left-handed, so that '
        'direction must be -1 where there is a moment_constant',
    )
    propeller_diameter: FloatArray = per_row(
        0.0, 'm', doc='propeller, four_quadrant, surface_loss: D', lo=0.0, hi=LARGEST
    )
    fluid_density: FloatArray = per_row(
        1000.0, 'kg/m^3', doc='propeller, four_quadrant: rho', lo=0.0, hi=LARGEST
    )
    advance_coefficient: FloatArray = per_row(
        0.0, '', lo=-LARGEST, hi=LARGEST,
        doc='propeller: change of Kt for each unit of the advance ratio; below 0 in open water',
    )
    wake_fraction: FloatArray = per_row(
        0.2, '', lo=0.0, hi=1.0,
        doc='propeller, four_quadrant: part of the stream that the hull holds back',
    )

    def __post_init__(self) -> None:
        validate(self)
        require_constants(self, self.conversion, _CONVERSIONS)
        for i, kind in enumerate(self.conversion):
            if kind == 'linear_interp':
                self.table(i)
            elif kind == 'four_quadrant':
                self.coefficients(i)

    def table(self, i: int) -> Table:
        """Return the table of thruster ``i``; raise `ConfigError` where it is none."""
        return parse_table(self.input_values[i], self.output_values[i], i)


_Curve: TypeAlias = 'DeadZone | Propeller | ThrustTables | FourQuadrant'
"""One curve for the columns of its kind: thrust, the inverse, ends, and exact quadratic pieces."""


class ThrustCurves:
    """Steady thrust of n thrusters over rotor speed, each by its own curve, and back.

    Attributes
    ----------
    min_speed, max_speed : FloatArray
        Where each curve is defined [rad/s], (n,); infinite for formulas.
    min_thrust, max_thrust : FloatArray
        What each curve can reach [N], (n,).
    takes_advance : bool
        Whether any curve depends on the speed of advance.
    four_quadrant : tuple or None
        Columns and curve of the four-quadrant propellers.
    """

    def __init__(self, params: CurvesParams) -> None:
        n = len(params.names)
        self._curves = [
            (columns, _curve(kind, params, columns))
            for kind, columns in columns_by_kind(params.conversion).items()
        ]
        self._for_all = self._curves[0][1] if len(self._curves) == 1 else None
        self.min_speed, self.max_speed = np.empty(n), np.empty(n)
        self.min_thrust, self.max_thrust = np.empty(n), np.empty(n)
        for columns, curve in self._curves:
            self.min_speed[columns] = curve.min_speed
            self.max_speed[columns] = curve.max_speed
            self.min_thrust[columns] = curve.min_thrust
            self.max_thrust[columns] = curve.max_thrust
        self._has_ends = bool(np.isfinite([self.min_speed, self.max_speed]).any())
        kinds = np.array(params.conversion)
        self.four_quadrant = next(
            ((at, curve) for at, curve in self._curves if isinstance(curve, FourQuadrant)), None
        )
        slopes = (kinds == 'propeller') & (params.advance_coefficient != 0.0)
        self.takes_advance = bool(np.any(slopes) or self.four_quadrant)

    def thrust(self, speed: FloatArray, advance: FloatArray | None = None) -> FloatArray:
        """Return the thrust [N] at rotor speeds [rad/s], both (..., n).

        ``advance`` is the speed through the fluid along the axis of each thruster [m/s], (..., n).
        """
        if self._for_all is not None:
            return self._for_all.thrust(speed, advance)
        result = np.empty(_shape(speed, advance))
        for columns, curve in self._curves:
            result[..., columns] = curve.thrust(speed[..., columns], _of(advance, columns))
        return result

    def are_left(self, speed: FloatArray) -> BoolArray:
        """Return which rotor speeds [rad/s], (..., n), lie beyond the ends of their curves."""
        if not self._has_ends:
            return np.zeros(speed.shape, bool)
        return np.asarray((speed < self.min_speed) | (speed > self.max_speed))

    def speed(self, thrust: FloatArray, advance: FloatArray | None = None) -> FloatArray:
        """Return the rotor speed [rad/s] nearest to 0 that makes a thrust [N], both (..., n).

        A thrust beyond a curve gives the speed of the nearest one on it. Raises `ConfigError` for a
        table whose thrust falls with the speed.
        """
        result = np.empty(_shape(thrust, advance))
        for columns, curve in self._curves:
            result[..., columns] = curve.speed(thrust[..., columns], _of(advance, columns))
        return result

    def pieces(self, advance: FloatArray | None = None) -> PiecewiseQuadratic:
        """Return the same curves as quadratic pieces over the speed, (..., n, k)."""
        parts = [
            (columns, curve.pieces(_of(advance, columns))) for columns, curve in self._curves
        ]
        shape = _shape(self.min_speed, advance)
        size = max(part.knots.shape[-1] for _, part in parts)
        whole = PiecewiseQuadratic(
            np.full((*shape, size), np.inf), *(np.zeros((*shape, size + 1)) for _ in range(3))
        )
        for columns, part in parts:
            for row, own in zip(whole, part, strict=True):
                row[..., columns, : own.shape[-1]] = own
        return whole


def _shape(values: FloatArray, advance: FloatArray | None) -> tuple[int, ...]:
    return values.shape if advance is None else np.broadcast_shapes(values.shape, advance.shape)


def _of(advance: FloatArray | None, columns: IntArray | slice) -> FloatArray | None:
    return None if advance is None else advance[..., columns]


def _curve(kind: str, params: CurvesParams, at: IntArray | slice) -> _Curve:
    if kind == 'basic':
        return Propeller(params.rotor_constant[at], None)
    if kind == 'dead_zone':
        return DeadZone(
            params.rotor_constant_left[at], params.rotor_constant_right[at],
            params.delta_left[at], params.delta_right[at],
        )
    if kind == 'linear_interp':
        rows = np.arange(len(params.names))[at].tolist()
        return ThrustTables([params.table(i) for i in rows])
    if kind == 'four_quadrant':
        return FourQuadrant(params, at)
    if kind != 'propeller':
        raise NotImplementedError(f'conversion {kind} has no class')
    diameter = params.propeller_diameter[at]
    mass = params.fluid_density[at] * diameter**3
    return Propeller(
        params.thrust_coefficient[at] * mass * diameter,
        params.advance_coefficient[at] * (1.0 - params.wake_fraction[at]) * mass,
    )


class _Formula:
    """A curve that is defined at every speed."""

    def __init__(self, reaches_down: BoolArray, reaches_up: BoolArray) -> None:
        self.min_speed = np.full(len(reaches_down), -np.inf)
        self.max_speed = np.full(len(reaches_up), np.inf)
        self.min_thrust = np.where(reaches_down, -np.inf, 0.0)
        self.max_thrust = np.where(reaches_up, np.inf, 0.0)


class DeadZone(_Formula):
    """T = c_left (b - delta_left) below, c_right (b - delta_right) above, b = w |w|; 0 between.

    Parameters
    ----------
    left, right : FloatArray
        c_left and c_right [N s^2/rad^2], (n,), not negative.
    delta_left, delta_right : FloatArray
        Edges of the dead zone [rad^2/s^2], (n,).
    """

    def __init__(
        self,
        left: FloatArray,
        right: FloatArray,
        delta_left: FloatArray,
        delta_right: FloatArray,
    ) -> None:
        super().__init__(left > 0.0, right > 0.0)
        self._left, self._right = left, right
        self._delta_left, self._delta_right = delta_left, delta_right

    def thrust(self, speed: FloatArray, advance: FloatArray | None = None) -> FloatArray:
        """Return the thrust [N]; the speed of advance does not matter."""
        # An infinite speed times a constant of 0 would be no number.
        speed = within_reach(speed)
        squared = speed * np.abs(speed)
        below = np.minimum(squared - self._delta_left, 0.0)
        above = np.maximum(squared - self._delta_right, 0.0)
        return np.asarray(self._left * below + self._right * above)

    def speed(self, thrust: FloatArray, advance: FloatArray | None = None) -> FloatArray:
        """Return the rotor speed [rad/s], 0 for no thrust and where there is none to be had."""
        up, down = (thrust > 0.0) & (self._right > 0.0), (thrust < 0.0) & (self._left > 0.0)
        constant = np.where(up, self._right, np.where(down, self._left, 1.0))
        edge = np.where(up, self._delta_right, self._delta_left)
        # A speed without end is what a thrust beyond all speeds needs; it is limited later.
        with np.errstate(over='ignore'):
            squared = np.where(up | down, thrust / constant + edge, 0.0)
        return np.copysign(np.sqrt(np.abs(squared)), thrust)

    def pieces(self, advance: FloatArray | None = None) -> PiecewiseQuadratic:
        """Return the curve as quadratic pieces."""
        none = np.zeros_like(self._left)
        edges = np.sqrt(-self._delta_left), np.sqrt(self._delta_right)
        return PiecewiseQuadratic(*(np.stack(columns, axis=-1) for columns in (
            (-edges[0], edges[1]),
            (-self._left * self._delta_left, none, -self._right * self._delta_right),
            (none, none, none),
            (-self._left, none, self._right),
        )))


class Propeller(_Formula):
    """T = c w |w| + e v |w|, v the speed of advance.

    With c = Kt rho D^4 and e = Ka (1 - wake_fraction) rho D^3 this is the T = K rho D^4 w |w| of
    gz-sim with K = Kt + Ka (1 - wake_fraction) v / (w D), without its division by w.

    Parameters
    ----------
    constant : FloatArray
        c [N s^2/rad^2], (n,), of either sign but not 0.
    slope : FloatArray or None
        e [N s^2/(m rad)], (n,); None for none, as of ``basic``.
    """

    def __init__(self, constant: FloatArray, slope: FloatArray | None) -> None:
        super().__init__(constant != 0.0, constant != 0.0)
        self._constant, self._slope = constant, slope
        self._size, self._hand = np.abs(constant), np.copysign(1.0, constant)

    def thrust(self, speed: FloatArray, advance: FloatArray | None = None) -> FloatArray:
        """Return the thrust [N]; ``advance`` is v [m/s], None where it is not known."""
        turning = np.abs(speed)
        if advance is None or self._slope is None:
            return self._constant * turning * speed
        speed = within_reach(speed)
        return np.asarray((self._constant * speed + self._slope * advance) * turning)

    def speed(self, thrust: FloatArray, advance: FloatArray | None = None) -> FloatArray:
        """Return the rotor speed [rad/s] that turns the way of the thrust."""
        if advance is None or self._slope is None:
            size = np.sqrt(np.abs(thrust) / self._size)
        else:
            sign = np.sign(thrust)
            loss = -0.5 * sign * self._slope * advance
            size = (loss + np.sqrt(loss * loss + self._size * np.abs(thrust))) / self._size
            size = np.where(sign == 0.0, 0.0, size)
        return np.copysign(size, thrust * self._hand)

    def pieces(self, advance: FloatArray | None = None) -> PiecewiseQuadratic:
        """Return the curve as quadratic pieces at a speed of advance [m/s]."""
        if advance is None or self._slope is None:
            return _both_ways(np.zeros_like(self._constant), self._constant)
        return _both_ways(self._slope * advance, self._constant)


def _both_ways(linear: FloatArray, square: FloatArray) -> PiecewiseQuadratic:
    """Return linear |w| + square w |w|."""
    none = np.zeros((*linear.shape, 2))
    square = np.broadcast_to(square, linear.shape)
    return PiecewiseQuadratic(
        none[..., :1], none, np.stack((-linear, linear), axis=-1),
        np.stack((-square, square), axis=-1),
    )


class MeanThrust:
    """Mean of a thrust curve over the way of the rotor speed through a step.

    It is in closed form where the speed follows with a first-order lag, and by Gauss' rule with
    four points of the exact way where drag makes it no exponential, with an error of order 8 in
    dt. A rotor that follows at once has the thrust of its end.

    Parameters
    ----------
    dynamics : RotorDynamics
        With the exact integrator.
    curves : ThrustCurves
        Thrust over speed.
    """

    def __init__(self, dynamics: RotorDynamics, curves: ThrustCurves) -> None:
        self._dynamics, self._curves = dynamics, curves
        self._lags, self._drags = bool(dynamics.lags.any()), bool(dynamics.drags.any())
        self.is_end = not (self._lags or self._drags)
        self._pieces = curves.pieces()
        self._dt, self._moments = -1.0, ramp_moments(np.zeros_like(dynamics.time_constant))

    def of(
        self, way: tuple[FloatArray, FloatArray, FloatArray], efficiency: FloatArray, dt: float,
        advance: FloatArray | None, thrust: FloatArray,
    ) -> FloatArray:
        """Return the mean thrusts [N], (..., n).

        Parameters
        ----------
        way : tuple of FloatArray
            Speeds at the start, inputs and speeds at the end of the step [rad/s], (..., n).
        efficiency : FloatArray
            Factors on the speed, (n,).
        dt : float
            Step [s], above 0.
        advance : FloatArray or None
            Speeds through the fluid [m/s], see `ThrustCurves.thrust`.
        thrust : FloatArray
            At the end of the step [N], (..., n).
        """
        start, demand, end = way
        if self._lags and np.count_nonzero(start != end):
            pieces = self._pieces if advance is None else self._curves.pieces(advance)
            shape = thrust.shape
            rows = [efficiency * row for row in way]
            # Of one robot they have the shape, and numpy takes long to find that out.
            first, goal, last = (
                row if row.shape == shape else np.broadcast_to(row, shape) for row in rows
            )
            tau = self._dynamics.time_constant
            if dt != self._dt:
                self._dt, self._moments = dt, ramp_moments(lag_ratio(tau, dt))
            mean = pieces.mean(LagRun(first, goal, last, tau, dt, self._moments))
            thrust = np.where(self._dynamics.lags, mean, thrust)
        if self._drags:
            speeds = efficiency * self._dynamics.on_the_way(start, demand, dt)
            mean = np.tensordot(WEIGHTS, self._curves.thrust(speeds, advance), 1)
            thrust = np.where(self._dynamics.drags, mean, thrust)
        return thrust
