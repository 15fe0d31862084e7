# SPDX-License-Identifier: Apache-2.0
"""Efforts and angles of steered actuators for a demanded wrench, within their ranges and rates."""
from __future__ import annotations

import functools
import itertools
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from propulsion_ros.models.common.allocation import (
    Allocation,
    Allocator,
    checked_demand,
    largest_efforts,
    missed,
    row,
)
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.quantity import BoolArray, FloatArray, IntArray

_TURN = 2.0 * math.pi
_RANK, _MOST = 1e-10, 1e12
# Weights of the change against the wrench: with the first the nearest wrench is found, the second
# is small enough for one that is reached.
_FIRM, _SLIGHT = 1e-3, 1e-12
# Of the largest numbers: rounding, what is reached or may be, and an effort that is none.
_ROUNDING, _REACHED, _NEAR, _NOTHING = 1e-13, 1e-9, 1e-4, 1e-9
_COMBINATIONS = 16
_SOFT, _SOFTEST = 1.0, 1e3
_TRIES, _POLISH, _STEPS, _ROUNDS, _BENDS = 6, 6, 12, 80, 20
# What is given up of the efforts in each call, so that those that cancel fade away.
_EASE = 0.01

Direction: TypeAlias = 'tuple[int, float, float]'


class _Part(NamedTuple):
    """A convex set of forces of one actuator, whose numbers begin at an index."""

    at: int
    low: float
    high: float
    """Ends of the effort of one that is not steered, else of the angle, at most half a turn."""
    most: float = 0.0
    """Largest size of the effort of a steered actuator [N]."""
    least: float = 0.0
    """Smallest size of the effort [N]; other than 0 only where the angle is fixed."""
    sign: float = 0.0
    """Sign of the effort; 0: either, at any angle."""
    edges: tuple[float, float, float, float] | None = None
    """Forces of size 1 at both ends of the angle; None: a disc, or one that is not steered."""


@dataclass(frozen=True)
class VectoredAllocation(Allocation):
    """Efforts and angles for a demanded wrench and what they achieve."""

    angle: FloatArray
    """Angle of the joint of each actuator [rad], (n,)."""


class Vectoring:
    """Shares wrenches among a group by its efforts and by servos that turn one actuator each.

    Others push where their joints have them.

    Parameters
    ----------
    family : SteeredFamily
        The group, which can be allocated.
    lower, upper, weights, least : array_like
        As of `Allocator`.

    Attributes
    ----------
    names : tuple of str
        Joints that it turns, in the order of their actuators.
    others : IntArray
        Columns of the other joints in the angles of the group.

    Raises
    ------
    ConfigError
        Where it turns none.
    """

    def __init__(
        self, family: Any, lower: FloatArray, upper: FloatArray, weights: FloatArray,
        least: ArrayLike,
    ) -> None:
        chains = family.joints.chains().tolist() if hasattr(family, 'joints') else []
        users = Counter(joint for chain in chains for joint in chain)
        joints = []
        for chain in chains:
            servos = [joint for joint in chain if joint >= 0 and not family.is_measured[joint]]
            joints.append(servos[0] if len(servos) == 1 and users[servos[0]] == 1 else -1)
        self._columns: IntArray = np.array(joints, int)
        self._turned = np.flatnonzero(self._columns >= 0)
        if not len(self._turned):
            raise ConfigError('method', (
                "vectored needs an actuator that one joint of mode 'servo' turns, and no other "
                'actuator with it'
            ))
        self._family, self._limits = family, (lower, upper)
        self._weights, self._least = weights, least
        self._joints = self._columns[self._turned]
        self.names = tuple(family.joint_names[joint] for joint in self._joints)
        self.others = np.setdiff1d(np.arange(len(family.joint_names)), self._joints)

    def of_actuators(self, values: FloatArray) -> FloatArray:
        """Return values of the joints of the group, (k, ...), for each actuator, 0 for others."""
        rows = np.zeros((len(self._columns), *values.shape[1:]))
        rows[self._turned] = values[self._joints]
        return rows

    def of_joints(self, values: FloatArray) -> FloatArray:
        """Return values of actuators, (n,), for the joints that it turns."""
        return values[self._turned]

    def allocator(self, angles: FloatArray) -> VectoredAllocator:
        """Return what shares with all other joints at angles [rad], (k,)."""
        there = angles.copy()

        def at(angle: float) -> FloatArray:
            there[self._joints] = angle
            return np.asarray(self._family.allocation_at(there).T)

        # A turned column is a constant, a part with the cosine and one with the sine of the angle.
        ahead, aside, back = at(0.0), at(0.5 * math.pi), at(math.pi)
        constant = 0.5 * (ahead + back)
        parts = np.stack((constant, 0.5 * (ahead - back), aside - constant), axis=1)
        sizes = np.abs(parts).max(axis=(1, 2), keepdims=True, initial=0.0)
        return VectoredAllocator(
            np.where(np.abs(parts) > _ROUNDING * sizes, parts, 0.0), *self._limits,
            self.of_actuators(np.stack(self._family.joint_limits, axis=-1)),
            self.of_actuators(self._family.joint_rates), self._weights, self._least,
        )


class VectoredAllocator:
    """Distributes a wrench over n bounded actuators, some of which are steered.

    A steered actuator is a force in the plane that its joint turns it in (Johansen and Fossen,
    Control allocation - a survey, Automatica 49, 2013): a disc where the joint is free, a sector
    where range and rate leave an interval of at most half a turn, and else several sectors, of
    which one is taken at a time: another one follows where it comes nearer to the wrench. The
    wrench is linear in the force; what a thrust that passes its axis adds along it is followed in
    turn. Over sectors it is the convex problem

        min |W (B x - wrench)|^2, and of these x the one nearest to the present x0,

    solved by Newton's method for its multipliers: x(l) is the projection of x0 + B^T l onto the
    sectors, and B x(l) - wrench + e l = 0 is monotone. Where that reaches no wrench, it is repeated
    with a larger e about the last x, which ends at the nearest wrench (proximal point method).

    Parameters
    ----------
    columns : array_like
        Wrench of an effort of 1: a constant part, that with the cosine and that with the sine of
        the angle, (n, 3, 6); see `Vectoring`. One without the latter two is not steered.
    lower, upper, weights, least : array_like
        As of `Allocator`.
    angle_range : array_like
        Least and largest angle of each [rad], (n, 2) or (2,); infinite for a joint without end.
    angle_rate : array_like
        Largest rate of each [rad/s], (n,) or a scalar; infinite for none.

    Raises
    ------
    ConfigError
        For a shape, limit, range, rate or weight that cannot be used.
    """

    def __init__(
        self,
        columns: ArrayLike,
        lower: ArrayLike,
        upper: ArrayLike,
        angle_range: ArrayLike = (-np.inf, np.inf),
        angle_rate: ArrayLike = np.inf,
        weights: ArrayLike = 1.0,
        least: ArrayLike = 0.0,
    ) -> None:
        self._columns = np.array(columns, dtype=float)
        if self._columns.ndim != 3 or self._columns.shape[1:] != (3, 6):
            raise ConfigError('columns', f'expected shape (n, 3, 6), got {self._columns.shape}')
        if not np.all(np.isfinite(self._columns)):
            raise ConfigError('columns', 'expected finite numbers')
        n = len(self._columns)
        ends = np.asarray(angle_range, dtype=float)
        if ends.shape not in ((2,), (n, 2)):
            raise ConfigError('angle_range', f'expected shape (n, 2), got {ends.shape}')
        self._range = np.broadcast_to(ends, (n, 2)).tolist()
        self._rate = row('angle_rate', angle_rate, n).tolist()
        for i, (low, high) in enumerate(self._range):
            if not low <= high:
                raise ConfigError('angle_range', f'{low:g} must not be above {high:g} rad', i)
            if not self._rate[i] >= 0.0:
                raise ConfigError('angle_rate', f'{self._rate[i]:g} is below 0 rad/s', i)
        # What both kinds of allocators take is checked there.
        plain = Allocator(self._columns[:, 0].T, lower, upper, 'clipped', weights, least)
        self._lower = np.maximum(plain.lower, -_MOST).tolist()
        self._upper = np.minimum(plain.upper, _MOST).tolist()
        self._least, self._weights = plain.least, plain.weights
        self._floor = np.maximum(plain.least, self._lower).tolist()
        steered = np.any(self._columns[:, 1:] != 0.0, axis=(1, 2))
        self._is_steered = steered.tolist()
        self._bends = bool(np.any(self._columns[steered, 0]))
        self._at = np.cumsum([0, *(1 + steered)]).tolist()
        self._system = self._system_at(np.zeros((n, 2)))

    def weakened(self, effectiveness: FloatArray) -> VectoredAllocator:
        """Return an allocator for the same actuators with faults; see `Allocator.weakened`."""
        works = effectiveness > 0.0
        return VectoredAllocator(
            self._columns * effectiveness[:, None, None], np.where(works, self._lower, 0.0),
            np.where(works, self._upper, 0.0), self._range, self._rate, self._weights,
            np.where(works, self._least, 0.0),
        )

    def matrix(self, angle: FloatArray) -> FloatArray:
        """Return the allocation matrix (6, n) at angles [rad], (n,)."""
        shares = np.ones((len(angle), 1, 3))
        shares[:, 0, 1], shares[:, 0, 2] = np.cos(angle), np.sin(angle)
        return np.asarray((shares @ self._columns)[:, 0].T)

    def out_of_reach(self, wrench: FloatArray, allocation: Allocation) -> BoolArray:
        """Return which components of a demand its allocation misses; see `Allocator`."""
        angle = getattr(allocation, 'angle', np.zeros(len(self._lower)))
        return missed(self.matrix(angle), wrench, allocation, self._weights, self.reach)

    @functools.cached_property
    def reach(self) -> FloatArray:
        """Sizes that no component of a wrench exceeds at any angle; see `Allocator.reach`."""
        most = largest_efforts(np.array(self._lower), np.array(self._upper))
        return np.asarray(most @ np.abs(self._columns).sum(axis=1))

    def allocate(
        self, wrench: ArrayLike, effort: FloatArray, angle: FloatArray, dt: float = np.inf
    ) -> VectoredAllocation:
        """Return efforts and angles for one wrench (6,) about the origin of the columns.

        Parameters
        ----------
        wrench : array_like
            Demand [N] and [N m], (6,).
        effort, angle : FloatArray
            Present ones, which equally good ones are near, (n,); angles in [rad].
        dt : float
            Time in which the angles must be reached [s].

        Raises
        ------
        CommandError
            For a wrench of another shape, with NaN or infinity.
        """
        demand = checked_demand(wrench)
        present, last, dt = effort.tolist(), angle.tolist(), float(dt)
        windows = [self._window(i, last[i], dt) for i in range(len(last))]
        found, angles, is_limited, is_reached = self._best(demand, windows, present, last)
        if not is_reached and dt < np.inf:
            # What pushes nothing now turns to where it will push.
            wide = [self._window(i, last[i], np.inf) for i in range(len(last))]
            goal, later, *_ = self._best(demand, wide, present, last)
            for i, (low, high) in enumerate(windows):
                if abs(found[i]) <= _NOTHING * max(abs(goal[i]), 1e-300):
                    angles[i] = min(max(later[i], low), high)
        efforts, turned = np.array(found), np.array(angles)
        achieved = self.matrix(turned) @ efforts
        saturated = [is_limited and (
            f <= low or f >= high or (steered and not window[0] < a < window[1])
        ) for f, a, low, high, steered, window in zip(
            found, angles, self._lower, self._upper, self._is_steered, windows, strict=True
        )]
        return VectoredAllocation(
            efforts, achieved, demand - achieved, np.array(saturated, bool), turned
        )

    def _window(self, i: int, present: float, dt: float) -> tuple[float, float]:
        """Return the least and largest angle of an actuator within a time."""
        (low, high), reach = self._range[i], self._rate[i] * dt if self._rate[i] else 0.0
        inside = min(max(present, low), high)
        first, last = present - reach, present + reach
        # What is outside its range turns back to it.
        return (min(max(first, low), high), max(min(last, high), low)) if (
            first <= inside <= last
        ) else (min(max(inside, first), last),) * 2

    def _parts(self, i: int, window: tuple[float, float]) -> list[_Part]:
        """Return the convex sets that make up what an actuator can do, of which one holds."""
        at, least, most = self._at[i], self._lower[i], self._upper[i]
        if not self._is_steered[i]:
            return [_Part(at, least, most)]
        low, high = window
        if high - low >= _TURN and most - least > 0.0:
            return [_Part(at, low, high, max(-least, most))]
        count = max(1, math.ceil((high - low) / math.pi))
        ends = [low + (high - low) * k / count for k in range(count)] + [high]
        return [
            _sector(at, sign, first, last, size)
            for sign, size in ((1.0, max(most, 0.0)), (-1.0, -least))
            if size > 0.0 or sign > 0.0 for first, last in itertools.pairwise(ends)
        ]

    def _best(
        self, demand: FloatArray, windows: Sequence[tuple[float, float]], effort: list[float],
        angle: list[float],
    ) -> tuple[list[float], list[float], bool, bool]:
        """Return efforts, angles, whether a limit holds, and whether the wrench is reached."""
        options = [self._parts(i, window) for i, window in enumerate(windows)]
        ahead = [(math.cos(a), math.sin(a)) for a in angle]
        start: list[float] = []
        for f, (x, y), steered in zip(effort, ahead, self._is_steered, strict=True):
            start += (f * x, f * y) if steered else (f,)
        before, heads = np.array(start) * (1.0 - _EASE), np.zeros((len(angle), 2))
        target = self._system.target(self._weights * demand)
        state = _Search(self._system, options, before, target)
        for _ in range(_BENDS if self._bends else 0):
            angles = [self._read(i, state, angle[i])[1] for i in range(len(angle))]
            turned = np.stack((np.cos(angles), np.sin(angles)), axis=-1)
            if np.abs(turned - heads).max(initial=0.0) < _ROUNDING:
                break
            heads, system = turned, self._system_at(turned)
            state = _Search(system, options, before, system.target(self._weights * demand))
        if any(self._floor):
            self._leave_gaps(state, angle)
        found = [self._read(i, state, angle[i]) for i in range(len(angle))]
        return [f for f, _ in found], [a for _, a in found], state.is_limited, state.is_reached

    def _system_at(self, heads: FloatArray) -> _System:
        """Return the equations, with what passes its axis as at unit forces, (n, 2)."""
        columns: list[FloatArray] = []
        for i, steered in enumerate(self._is_steered):
            constant, *turning = self._columns[i]
            columns += [
                part + head * constant for part, head in zip(turning, heads[i], strict=True)
            ] if steered else [constant]
        return _System(self._weights[:, None] * np.array(columns).reshape(-1, 6).T)

    def _leave_gaps(self, state: _Search, angle: list[float]) -> None:
        """Bring efforts between 0 and the least to one of them; the others make up for it."""
        for _ in self._lower:
            gaps = []
            for i, least in enumerate(self._floor):
                f, a = self._read(i, state, angle[i])
                if (f > 0.0 or self._lower[i] > 0.0) and f < least * (1.0 - _REACHED):
                    gaps.append((min(f, least - f) / least, i, f, a))
            if not gaps:
                return
            _, i, f, a = min(gaps)
            at, least, most = self._at[i], self._floor[i], self._upper[i]
            if self._lower[i] <= 0.0 and f < 0.5 * least:
                least = most = 0.0
            state.options[i] = [
                _sector(at, 1.0, a, a, most, least) if self._is_steered[i]
                else _Part(at, least, most)
            ]
            state.solve()

    def _read(self, i: int, state: _Search, present: float) -> tuple[float, float]:
        """Return effort and angle of a force; the angle is the present one where it may be."""
        part, x = state.chosen[i], state.forces
        if not self._is_steered[i]:
            return float(x[part.at]), present
        u, v = float(x[part.at]), float(x[part.at + 1])
        size, middle = math.hypot(u, v), 0.5 * (part.low + part.high)
        if size <= _NOTHING * part.most * 1e-3:
            return part.sign * part.least, min(max(present, part.low), part.high)
        size = min(size, part.most)
        if part.edges is None:
            turns = [
                (abs(turn), sign, turn) for sign, most, way in (
                    (1.0, self._upper[i], math.atan2(v, u)),
                    (-1.0, -self._lower[i], math.atan2(-v, -u)),
                ) if size <= most for turn in (math.remainder(way - present, _TURN),)
            ]
            _, sign, turn = min(turns)
            angle = present + turn
            angle += _TURN * ((angle < part.low) - (angle > part.high))
            return sign * size, angle
        angle = middle + math.remainder(
            math.atan2(part.sign * v, part.sign * u) - middle, _TURN
        )
        return part.sign * size, min(max(angle, part.low), part.high)


def _sector(
    at: int, sign: float, low: float, high: float, most: float, least: float = 0.0
) -> _Part:
    return _Part(at, low, high, most, least, sign, (
        sign * math.cos(low), sign * math.sin(low), sign * math.cos(high), sign * math.sin(high),
    ))


class _System:
    """Equations B x = wrench, in coordinates in which the rows of B are orthonormal."""

    def __init__(self, matrix: FloatArray) -> None:
        left, sizes, rows = np.linalg.svd(matrix, full_matrices=False)
        rank = int(np.count_nonzero(sizes > _RANK * sizes.max(initial=0.0)))
        self.sizes, self.rows = sizes[:rank], np.ascontiguousarray(rows[:rank])
        self._left = left[:, :rank].T / self.sizes[:, None]
        base = (self.sizes.max(initial=0.0) / self.sizes) ** 2
        self.base = base / math.sqrt(base.max(initial=1.0))
        self.slight = np.full(rank, _SLIGHT)

    def target(self, wrench: FloatArray) -> FloatArray:
        """Return a wrench in these coordinates."""
        return np.asarray(self._left @ wrench)


class _Search:
    """The forces, one part of each actuator, that come nearest to a wrench."""

    chosen: list[_Part]
    forces: FloatArray
    is_limited: bool
    is_reached: bool
    _left: float

    def __init__(
        self, system: _System, options: list[list[_Part]], start: FloatArray, target: FloatArray
    ) -> None:
        self._system, self.options, self._start, self._target = system, options, start, target
        self._scale = max(
            float(np.abs(target).max(initial=0.0)), float(np.abs(start).max(initial=0.0)), 1e-300
        )
        self.solve()

    def solve(self) -> None:
        """Find forces and parts by the options."""
        self.chosen = [self._fitting(parts) for parts in self.options]
        self._nearest()
        if self.is_reached or all(len(parts) == 1 for parts in self.options):
            return
        if math.prod(map(len, self.options)) <= _COMBINATIONS:
            for chosen in itertools.product(*self.options):
                self._improves(list(chosen))
            return
        # Else one after the other, as long as one comes nearer.
        while any(
            self._improves([*self.chosen[:i], part, *self.chosen[i + 1:]])
            for i, parts in enumerate(self.options) for part in parts
        ):
            pass

    def _improves(self, parts: list[_Part]) -> bool:
        """Take other parts where they come nearer."""
        before = self.chosen, self.forces, self._left, self.is_limited
        self.chosen = parts
        self._nearest()
        if self._left < before[2] * (1.0 - _REACHED):
            return True
        self.chosen, self.forces, self._left, self.is_limited = before
        return False

    def _fitting(self, parts: list[_Part]) -> _Part:
        """Return the part that is nearest to the present force."""
        at, start = parts[0].at, self._start.tolist()
        return min(parts, key=lambda part: math.dist(
            _projected(part, start)[0], start[at:at + 2]
        )) if len(parts) > 1 else parts[0]

    def _nearest(self) -> None:
        """Find the forces of the chosen parts."""
        system, start, target = self._system, self._start, self._target
        forces = start + (target - system.rows @ start) @ system.rows
        inside, directions = _all_projected(self.chosen, forces.tolist())
        self.is_limited = len(directions) < len(inside)
        if self.is_limited:
            forces = self._limited()
        self.forces = forces
        self._left = float(np.linalg.norm(system.sizes * (target - system.rows @ forces)))
        self.is_reached = self._error(forces) <= _REACHED * self._scale

    def _limited(self) -> FloatArray:
        zero = np.zeros(len(self._target))
        forces = self._exact(self._start, zero)
        if forces is not None:
            return forces
        nearer, weight = self._start, _SOFT
        for _ in range(_ROUNDS):
            centre, spring = nearer, weight * self._system.base
            # At the nearest wrench, what is missing is weight times multipliers.
            left = (self._target - self._system.rows @ centre) / spring
            _, nearer, error = self._newton(centre, spring, zero, (left, zero), _STEPS)
            if error > _REACHED * self._scale and weight < _SOFTEST:
                nearer, weight = centre, 8.0 * weight
                continue
            moved = float(np.abs(nearer - centre).max())
            if moved <= _REACHED * self._scale and weight <= _FIRM:
                break
            weight = max(0.2 * weight, _FIRM)
        if self._error(nearer) > _NEAR * self._scale:
            return nearer
        forces = self._exact(nearer, zero)
        return nearer if forces is None else forces

    def _error(self, forces: FloatArray) -> float:
        return float(np.abs(self._target - self._system.rows @ forces).max(initial=0.0))

    def _exact(self, centre: FloatArray, multipliers: FloatArray) -> FloatArray | None:
        """Return the forces that make the wrench, None where none are found from multipliers."""
        about, weight = np.zeros(len(multipliers)), self._system.slight
        for _ in range(_POLISH):
            multipliers, forces, error = self._newton(
                centre, weight, about, (multipliers,), _TRIES
            )
            if error > _REACHED * self._scale:
                return None
            if self._error(forces) <= 10.0 * _ROUNDING * self._scale:
                return forces
            about = multipliers
        return None

    def _newton(
        self, centre: FloatArray, weight: FloatArray, about: FloatArray,
        starts: Sequence[FloatArray], steps: int,
    ) -> tuple[FloatArray, FloatArray, float]:
        """Return multipliers, forces and error of the equations with a weight of the change.

        They are the gradient of a convex function, along which the steps go down.
        """
        rows, target = self._system.rows, self._target
        close = _ROUNDING * self._scale

        def at(values: FloatArray) -> tuple[FloatArray, list[Direction], float, FloatArray, float]:
            found, directions = _all_projected(self.chosen, (centre + values @ rows).tolist())
            forces, moved = np.array(found), values - about
            left, change, spring = rows @ forces - target, forces - centre, weight * moved
            merit = 0.5 * float(spring @ moved) + float(values @ left)
            gradient = left + spring
            return forces, directions, merit - 0.5 * float(change @ change), gradient, math.sqrt(
                gradient @ gradient
            )

        first, multipliers = min(
            ((at(start), start) for start in starts), key=lambda each: each[0][2]
        )
        forces, directions, merit, gradient, error = first
        for _ in range(steps):
            if error <= close:
                break
            free = np.zeros((len(forces), len(directions)))
            for k, (i, x, y) in enumerate(directions):
                free[i, k] = x
                if y:
                    free[i + 1, k] = y
            free = rows @ free
            curvature = free @ free.T
            curvature.flat[::len(target) + 1] += weight
            step = np.linalg.solve(curvature, gradient)
            slope, share = float(gradient @ step), 1.0
            while True:
                trial = at(multipliers - share * step)
                if trial[2] <= merit - 1e-4 * share * slope or trial[4] <= 0.5 * error:
                    break
                share *= 0.5
                if share < 1e-9:
                    return multipliers, forces, error
            multipliers = multipliers - share * step
            forces, directions, merit, gradient, error = trial
        return multipliers, forces, error


def _all_projected(
    parts: Sequence[_Part], values: list[float]
) -> tuple[list[float], list[Direction]]:
    """Return the nearest point of all parts, and the directions in which it follows the values."""
    found: list[float] = []
    free: list[Direction] = []
    for part in parts:
        near, directions = _projected(part, values)
        found += near
        free += directions
    return found, free


def _projected(
    part: _Part, values: list[float]
) -> tuple[tuple[float, ...], tuple[Direction, ...]]:
    at, low, high, most, least, _, edges = part
    if edges is None and not most:
        value = values[at]
        if low < value < high:
            return (value,), ((at, 1.0, 0.0),)
        return (low if value <= low else high,), ()
    x, y = values[at], values[at + 1]
    if edges is not None:
        ax, ay, bx, by = edges
        if low == high or ax * y < ay * x or x * by < y * bx:
            along, beside = ax * x + ay * y, bx * x + by * y
            if beside > along:
                ax, ay, along = bx, by, beside
            if least < along < most:
                return (along * ax, along * ay), ((at, ax, ay),)
            size = least if along <= least else most
            return (size * ax, size * ay), ()
    size = math.hypot(x, y)
    if size < most:
        return (x, y), ((at, 1.0, 0.0), (at, 0.0, 1.0))
    share = most / size if size else 0.0
    turn = math.sqrt(share) / size if size else 0.0
    return (share * x, share * y), ((at, -turn * y, turn * x),) if turn else ()
