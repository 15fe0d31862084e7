# SPDX-License-Identifier: Apache-2.0
"""From actuator forces to a wrench and back: the allocation matrix and its bounded inverse."""
from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import ArrayLike

from propulsion_ros.models.common.family import WRENCH_NAMES, numbers_of
from propulsion_ros.models.common.wrench import cross
from propulsion_ros.settings.errors import CommandError, ConfigError
from propulsion_ros.settings.quantity import BoolArray, FloatArray

METHODS = ('bounded', 'scaled', 'clipped')
VECTORED = 'vectored'
"""Method that also steers; see `vectored`."""
# Weight of the efforts against the wrench: picks the least effort among equally good solutions.
_EFFORT_WEIGHT = 1e-5
# What is no miss: of the largest part of a demand, and of all that the efforts add up to.
_MISS, _ROUNDING = 1e-3, 1e-6
_NO_LIMIT = 1e12  # efforts from here on are not limited
_COSTLY = 10.0
"""How many times the effort is far more."""


def allocation_matrix(
    positions: ArrayLike, axes: ArrayLike, moment_constants: ArrayLike = 0.0
) -> FloatArray:
    """Return the matrix that turns n efforts into their wrench about the origin.

    Parameters
    ----------
    positions : array_like
        Where the forces act [m], shape (n, 3).
    axes : array_like
        Force for an effort of 1, in the same axes, shape (n, 3); unit vectors for efforts in N.
    moment_constants : array_like
        Torque about its axis over the force of each actuator [m], shape (n,) or a scalar;
        positive turns right-handed about the axis.

    Returns
    -------
    FloatArray
        Shape (6, n): a column is (axis, position x axis + moment_constant axis).

    Raises
    ------
    ConfigError
        For what are no numbers, or another shape.
    """
    along = numbers_of(axes, partial(ConfigError, 'axes'))
    if along.ndim != 2 or along.shape[1] != 3:
        raise ConfigError('axes', f'expected shape (n, 3), got {along.shape}')
    points = _fitting('positions', positions, along.shape)
    moments = _fitting('moment_constants', moment_constants, along.shape[:1])[:, None] * along
    return np.asarray(np.concatenate((along, cross(points, along) + moments), axis=-1).T)


@dataclass(frozen=True)
class Allocation:
    """Efforts for a demanded wrench and what they achieve.

    The ``effort`` of each actuator is inside its limits [N], (..., n); ``wrench`` is that of the
    efforts [N] and [N m], (..., 6), in the axes of the matrix, and ``residual`` the demand minus
    it. ``saturated`` are those, (..., n), whose limit forbids the least effort for the demand.
    """

    effort: FloatArray
    wrench: FloatArray
    residual: FloatArray
    saturated: BoolArray


class Allocator:
    """Distributes a wrench over n bounded actuators.

    A demand whose least-effort solution (the pseudo-inverse) lies inside the limits gets that.
    Any other is a matter of the method:

    ========= =====================================================================
    bounded   the smallest weighted residual that the limits allow, and among equal
              ones the least effort; other actuators make up for the saturated ones
    scaled    the least effort times the largest factor up to 1 that fits, so that
              the direction of the wrench stays
    clipped   each effort clipped apart, as the UUV thruster manager does; cheap,
              but the wrench changes direction
    ========= =====================================================================

    Parameters
    ----------
    matrix : array_like
        Allocation matrix, shape (6, n).
    lower, upper : array_like
        Limits of the efforts, shape (n,) or scalars; infinite for none, equal for a fixed one.
    method : str
        One of `METHODS`.
    weights : array_like
        Cost of a residual in each wrench component, shape (6,) or a scalar; one with 0 may be
        anything.
    least : array_like
        Effort of each actuator below which there is only 0, shape (n,) or a scalar; 0 for none. One
        that lies between is brought to the nearer of them, and the others make up for it.

    Raises
    ------
    ConfigError
        For a shape, limit, weight or method that cannot be used.
    """

    def __init__(
        self,
        matrix: ArrayLike,
        lower: ArrayLike,
        upper: ArrayLike,
        method: str = 'bounded',
        weights: ArrayLike = 1.0,
        least: ArrayLike = 0.0,
    ) -> None:
        self.matrix = numbers_of(matrix, partial(ConfigError, 'matrix')).copy()
        if self.matrix.ndim != 2 or self.matrix.shape[0] != 6:
            raise ConfigError('matrix', f'expected shape (6, n), got {self.matrix.shape}')
        if not np.all(np.isfinite(self.matrix)):
            raise ConfigError('matrix', 'expected finite numbers')
        n = self.matrix.shape[1]
        self.lower = row('lower', lower, n)
        self.upper = row('upper', upper, n)
        self.weights = row('weights', weights, 6)
        self.least = row('least', least, n)
        _check_limits(self.lower, self.upper)
        _check_least(self.least, self.lower, self.upper, method)
        for i in np.flatnonzero(~(np.isfinite(self.weights) & (self.weights >= 0.0))).tolist():
            raise ConfigError('weights', f'{self.weights[i]:g} must be finite and at least 0', i)
        if not self.weights.any():
            raise ConfigError('weights', 'expected one above 0')
        if method not in METHODS:
            raise ConfigError('method', f'expected one of {", ".join(METHODS)}, got {method!r}')
        if method == 'scaled':
            for i in np.flatnonzero((self.lower > 0.0) | (self.upper < 0.0)).tolist():
                raise ConfigError(
                    'method',
                    'scaled needs 0 inside the limits, '
                    f'got [{self.lower[i]:g}, {self.upper[i]:g}]', i,
                )
        if method == 'bounded':
            # Loading it costs a third of the start time and memory of a node, so only if needed.
            from scipy.optimize import lsq_linear

            self._lsq_linear = lsq_linear
        self._method = method
        # A fixed actuator is a constant wrench, and the solver takes no empty interval.
        self._free = np.flatnonzero(self.lower < self.upper)
        self._rest = np.where(self.lower < self.upper, 0.0, self.lower)
        self._constant = self.matrix @ self._rest
        self._free_matrix = self.weights[:, None] * self.matrix[:, self._free]
        self._inverse = np.linalg.pinv(self._free_matrix)
        size = np.linalg.norm(self._free_matrix, 2) if self._free.size else 0.0
        self._regular = np.vstack(
            (self._free_matrix, _EFFORT_WEIGHT * size * np.eye(self._free.size))
        )

    def turned(self, matrix: FloatArray) -> Allocator:
        """Return an allocator for the same actuators where they push otherwise, (6, n)."""
        return Allocator(
            matrix, self.lower, self.upper, self._method, self.weights, self.least
        )

    def weakened(self, effectiveness: FloatArray) -> Allocator:
        """Return an allocator for the same actuators with faults.

        Parameters
        ----------
        effectiveness : FloatArray
            What an effort of 1 gives of each actuator, (n,); one with 0 gets no effort.
        """
        effectiveness = row('effectiveness', effectiveness, len(self.lower))
        works = effectiveness > 0.0
        return Allocator(
            self.matrix * effectiveness, np.where(works, self.lower, 0.0),
            np.where(works, self.upper, 0.0), self._method, self.weights,
            np.where(works, self.least, 0.0),
        )

    def out_of_reach(self, wrench: FloatArray, allocation: Allocation) -> BoolArray:
        """Return which components of a demand (..., 6) its allocation misses, (..., 6).

        A miss is more than a thousandth of the largest force, or torque, that is demanded, and of
        what the actuators can make of that component.
        """
        return missed(self.matrix, wrench, allocation, self.weights, self.reach)

    @cached_property
    def reach(self) -> FloatArray:
        """Sizes that no component of a wrench exceeds, without unlimited actuators, (6,)."""
        return np.asarray(np.abs(self.matrix) @ largest_efforts(self.lower, self.upper))

    def allocate(self, wrench: ArrayLike) -> Allocation:
        """Return the efforts for a wrench (..., 6) about the origin of the matrix.

        Raises `CommandError` for a wrench of another shape, with NaN or infinity.
        """
        demand = checked_demand(wrench)
        shared = self._share(demand)
        rows = np.argwhere(np.any(self._in_gap(shared.effort), axis=-1))
        for at in map(tuple, rows):
            self._leave_gap(demand[at], shared, at)
        return shared

    def _in_gap(self, effort: FloatArray) -> BoolArray:
        return np.asarray((effort > 0.0) & (effort < self.least))

    def _leave_gap(self, demand: FloatArray, shared: Allocation, at: tuple[int, ...]) -> None:
        """Replace one row of an allocation by one without efforts between 0 and the least."""
        lower, upper, effort = self.lower.copy(), self.upper.copy(), shared.effort[at]
        fixed = np.zeros(len(effort), bool)
        while np.any(gap := self._in_gap(effort) & ~fixed):
            part = np.where(gap, effort, 0.0) / np.where(gap, self.least, 1.0)
            # The one that is nearest to an end is decided first.
            i = int(np.argmin(np.where(gap, np.minimum(part, 1.0 - part), np.inf)))
            fixed[i] = True
            if part[i] < 0.5:
                upper[i] = 0.0
            else:
                lower[i] = self.least[i]
            decided = Allocator(self.matrix, lower, upper, self._method, self.weights)
            row = decided._share(demand)
            effort = row.effort
        shared.effort[at], shared.wrench[at], shared.residual[at] = effort, row.wrench, row.residual
        shared.saturated[at] = row.saturated | fixed

    def _share(self, demand: FloatArray) -> Allocation:
        """Return the allocation of demands (..., 6) by the limits alone."""
        target = self.weights * (demand - self._constant)
        low, high = self.lower[self._free], self.upper[self._free]
        ideal = target @ self._inverse.T
        limited = np.any((ideal < low) | (ideal > high), axis=-1)
        free = np.clip(ideal, low, high)
        if self._method == 'scaled':
            free = _scaled(ideal, low, high)
        elif self._method == 'bounded':
            for at in np.argwhere(limited):
                free[tuple(at)] = self._solve(target[tuple(at)], low, high)
        effort = np.broadcast_to(self._rest, (*demand.shape[:-1], len(self._rest))).copy()
        effort[..., self._free] = free
        saturated = np.zeros(effort.shape, bool)
        saturated[..., self._free] = limited[..., None] & ((free <= low) | (free >= high))
        achieved = effort @ self.matrix.T
        return Allocation(effort, achieved, demand - achieved, saturated)

    def _solve(self, target: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
        """Return the bounded least-squares efforts of the free actuators, (k,)."""
        n = low.size
        padded = np.concatenate((target, np.zeros(n)))
        found = self._lsq_linear(
            self._regular, padded, (low, high), method='bvls', tol=1e-12, max_iter=10 * n + 100
        )
        inside = found.active_mask == 0
        effort = np.where(inside, found.x, np.where(found.active_mask > 0, high, low))
        # With the limits that hold now known, the rest is free of the weight on effort.
        left = target - self._free_matrix[:, ~inside] @ effort[~inside]
        exact = np.linalg.lstsq(self._free_matrix[:, inside], left, rcond=None)[0]
        if np.all((exact >= low[inside]) & (exact <= high[inside])):
            effort[inside] = exact
        return np.clip(effort, low, high)


def checked_demand(wrench: ArrayLike) -> FloatArray:
    """Return demanded wrenches (..., 6); raise `CommandError` where they are none."""
    demand = numbers_of(wrench, lambda problem: CommandError(f'wrench: {problem}'))
    if demand.shape[-1:] != (6,):
        raise CommandError(f'wrench: expected shape (..., 6), got {demand.shape}')
    if not np.all(np.isfinite(demand)):
        raise CommandError(f'wrench: expected finite numbers, got {demand.tolist()}')
    return demand


def missed(
    matrix: FloatArray, wrench: FloatArray, allocation: Allocation, weights: FloatArray,
    reach: FloatArray,
) -> BoolArray:
    """Return which components of a demand are missed; see `Allocator.out_of_reach`."""
    counts = weights > 0.0
    given = np.abs(allocation.effort) @ np.abs(matrix).T
    # Of an axis on which nothing acts the rounding of the others is left.
    allowed = _MISS * np.maximum(_largest(wrench * counts), reach)
    allowed += _ROUNDING * _largest(given)
    return np.asarray(counts & (np.abs(allocation.residual) > allowed))


def cost_doubt(matrix: FloatArray, wanted: Collection[int] = ()) -> str:
    """Return which parts of a wrench take far more effort without some other, '' for none.

    What actuators make of both is then nearly in proportion, as of canted arms. ``wanted`` are the
    parts that are needed, where that is known: a pair of them costs what it costs.
    """
    sizes = np.linalg.norm(matrix, axis=1)
    rows = matrix / np.where(sizes > 0.0, sizes, 1.0)[:, None]
    inverse = np.linalg.pinv(rows, rcond=_EFFORT_WEIGHT)
    # Others come only together.
    alone = np.flatnonzero(np.abs(np.diag(rows @ inverse) - 1.0) < _MISS)
    efforts = inverse[:, alone] / np.linalg.norm(inverse[:, alone], axis=0)
    alike = efforts.T @ efforts
    times = 1.0 / np.sqrt(np.maximum(1.0 - alike**2, _EFFORT_WEIGHT**2))
    pairs = [
        pair for pair in np.argwhere(np.triu(times > _COSTLY, 1)).tolist()
        if not {*alone[pair].tolist()} <= {*wanted}
    ]
    texts = [f'an exact {WRENCH_NAMES[alone[i]]} takes {times[i, k]:.2g} times the thrust for '
             f'{WRENCH_NAMES[alone[k]]}' for i, k in pairs]
    ways = list[str]()
    # A boat needs the forces, a rotorcraft the torques.
    for end in (1, 0):
        free = [alone[pair[end - (alone[pair[end]] in wanted)]] for pair in pairs]
        weights, names = np.ones(6), ' or '.join(dict.fromkeys(WRENCH_NAMES[i] for i in free))
        weights[free] = 0.0
        ways.append(
            f'; where no controller asks for {names}, give the allocator weights: '
            f'{weights.tolist()}'
        )
    return ', '.join(texts) + ''.join(dict.fromkeys(ways)) if pairs else ''


def _scaled(ideal: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """Return each solution (..., k) times the largest factor in [0, 1] that brings it inside."""
    bound = np.where(ideal < 0.0, low, high)
    over = (ideal < low) | (ideal > high)
    ratio = np.divide(bound, ideal, out=np.ones_like(ideal), where=over)
    factor = np.min(ratio, axis=-1, keepdims=True, initial=1.0)
    # Those that set the factor get their limit to the last bit.
    return np.where(over & (ratio <= factor), bound, np.clip(ideal * factor, low, high))


def row(key: str, value: ArrayLike, n: int) -> FloatArray:
    """Return a value for each of n, (n,); raise `ConfigError` for another shape."""
    array = numbers_of(value, partial(ConfigError, key))
    if array.shape not in ((), (n,)):
        raise ConfigError(key, f'expected a number or {n} values, got shape {array.shape}')
    return np.array(np.broadcast_to(array, (n,)))


def _fitting(key: str, value: ArrayLike, shape: tuple[int, ...]) -> FloatArray:
    """Return numbers of a shape; raise `ConfigError` for what does not fit it."""
    array = numbers_of(value, partial(ConfigError, key))
    try:
        return np.broadcast_to(array, shape)
    except ValueError:
        raise ConfigError(key, f'expected shape {shape}, got {array.shape}') from None


def _check_least(
    least: FloatArray, lower: FloatArray, upper: FloatArray, method: str
) -> None:
    for i in np.flatnonzero(least != 0.0).tolist():
        if not 0.0 <= least[i] <= upper[i] or lower[i] != 0.0:
            raise ConfigError(
                'least', f'expected it in limits that begin at 0, got {least[i]:g} in '
                f'[{lower[i]:g}, {upper[i]:g}]', i,
            )
        if method == 'scaled':
            raise ConfigError(
                'method', 'scaled needs efforts down to 0, got one that is 0 or at least '
                f'{least[i]:g}', i,
            )


def _check_limits(lower: FloatArray, upper: FloatArray) -> None:
    for i, (low, high) in enumerate(zip(lower.tolist(), upper.tolist(), strict=True)):
        if not low <= high or low == np.inf or high == -np.inf:
            raise ConfigError('lower', f'{low:g} must not be above upper {high:g}', i)


def largest_efforts(lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Return the largest size of each effort, 0 where it has no limit."""
    sizes = np.maximum(-lower, upper)
    return np.where(sizes < _NO_LIMIT, sizes, 0.0)


def _largest(wrench: FloatArray) -> FloatArray:
    """Return the largest force in place of each, and the largest torque, (..., 6)."""
    pair = np.abs(wrench).reshape(*wrench.shape[:-1], 2, 3)
    return np.repeat(pair.max(axis=-1), 3, axis=-1)
