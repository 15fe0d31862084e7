# SPDX-License-Identifier: Apache-2.0
"""Least squares over candidate models, and the covariance of the result."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import least_squares
from scipy.signal import fftconvolve

from propulsion_ros.identify.problem import Problem, rms
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.quantity import BoolArray, FloatArray

_STEP = 1e-3  # finite difference of the Jacobian, over the scale of a parameter
_GRID = (0.01, 0.03, 0.06, 0.12, 0.25, 0.5)
"""Time constants that a search may start from [s]."""
_FAR = 6.0  # residual beyond which the loss is linear [standard deviations]
_REFUSED = 10.0  # residuals at a place that the model refuses, over the largest so far
_MOST = 30  # most evaluations of a search
_TO_NORMAL = 1.4826  # standard deviation over median absolute deviation, of normal noise
_WEAK = 1e-7  # eigenvalue of the information without effect, over the largest one
_INSIDE = 1e-3  # distance of a start from its lower bound, over the scale of a parameter
_FINE = 1e-6  # relative change of cost or place that ends a search
_ROUGH = 1e-4  # the same with long steps of the model
_AROUND = (-40.0, -10.0, 10.0, 40.0)
"""Distances at which a lower cost is looked for after a search [standard deviations]."""
_FARTHEST = 0.3  # largest such distance, over the scale of a parameter
_TRIES = 4  # most further searches from a lower cost
_LOWER = 4.0, 1e-4
"""Least decrease of the cost that is worth a further search: absolute, and over the cost."""
_WIDE = 2.0
"""Steps of the Jacobian of the covariance, in standard deviations with all others given."""

Progress = Callable[[str], None]
"""Receives the name of each stage as it begins."""


@dataclass(frozen=True)
class Fit:
    """Result of a search."""

    problem: Problem
    place: FloatArray
    """Parameters as the search has them, (p,)."""
    covariance: FloatArray
    """Covariance of the estimates, (p, p); infinite for those that are unknown."""
    jacobian: FloatArray
    residuals: FloatArray
    """Weighted residuals at the place, (r,), and above their Jacobian, (r, p)."""
    unknown: tuple[str, ...]
    """Names of parameters that the data do not identify."""

    @property
    def values(self) -> FloatArray:
        """Estimates, (p,)."""
        return self.problem.estimates(self.place)

    @property
    def sd(self) -> FloatArray:
        """Standard deviations of the estimates, (p,)."""
        return np.asarray(np.sqrt(np.diag(self.covariance)))

    def correlation(self, i: int, j: int) -> float:
        """Return the correlation of two estimates, 0 if one of them is unknown."""
        both = self.sd[i] * self.sd[j]
        return float(self.covariance[i, j] / both) if 0.0 < both < np.inf else 0.0


class Search:
    """Computes residuals and Jacobian in one batch, and keeps those of the last place."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._at: FloatArray | None = None
        self._worst = 0.0

    def residuals(self, x: FloatArray) -> FloatArray:
        """Return the residuals at a place."""
        self._visit(x)
        return np.asarray(self._residuals)

    def jacobian(self, x: FloatArray) -> FloatArray:
        """Return the Jacobian of the residuals at a place, (r, p)."""
        self._visit(x)
        return np.asarray(self._jacobian)

    def flattest(self, x: FloatArray) -> FloatArray:
        """Return one-sided derivatives, on the side where residuals change less, (r, p).

        Steps are as wide as a parameter is uncertain: beside a kink or a jump of the cost, a
        short step, or one to the other side, would make its standard deviation too small.
        """
        problem, best = self.problem, self.jacobian(x)
        size = _WIDE / np.maximum(np.linalg.norm(best, axis=0), 1e-300)
        step = np.clip(size, _STEP * problem.scale, _FARTHEST * problem.scale)
        least, sides = np.full(len(x), np.inf), (step, -step)
        places = np.vstack([
            np.clip(x + np.diag(side), problem.lower, problem.upper) for side in sides
        ])
        halves = (np.split(each, 2) for each in (places, self.at_any(places)))
        for near, rows in zip(*halves, strict=True):
            moved = np.diag(near) - x
            slopes = (rows - self.residuals(x)).T / np.where(moved, moved, np.inf)
            change = np.linalg.norm(slopes, axis=0)
            is_less = (change < least) & (np.abs(moved) > 0.5 * step)
            best, least = np.where(is_less, slopes, best), np.where(is_less, change, least)
        return best

    def at_any(self, places: FloatArray) -> FloatArray:
        """Return the residuals at places, infinite at those that a model refuses."""
        problem = self.problem
        try:
            return problem.residuals(places)
        except ConfigError:
            rows = np.full((len(places), problem.cuts[-1].stop), np.inf)
            taken = [not problem.is_refused(place) for place in places]
            if any(taken):
                rows[taken] = problem.residuals(places[taken])
            return rows

    def at_all(self, places: FloatArray) -> list[tuple[FloatArray, FloatArray]]:
        """Return residuals and Jacobian at several places, in one batch if none is refused."""
        problem, step = self.problem, _STEP * self.problem.scale
        steps = step * np.where(places + step > problem.upper, -1.0, 1.0)
        stacks = [
            np.vstack([place, place + np.diag(each)])
            for place, each in zip(places, steps, strict=True)
        ]
        try:
            rows = np.split(problem.residuals(np.vstack(stacks)), len(places))
        except ConfigError:
            rows = [self._one_by_one(*each) for each in zip(stacks, steps, strict=True)]
        return [
            (each[0], ((each[1:] - each[0]) / step[:, None]).T)
            for each, step in zip(rows, steps, strict=True)
        ]

    def _visit(self, x: FloatArray) -> None:
        if self._at is not None and np.array_equal(x, self._at):
            return
        ((self._residuals, self._jacobian),) = self.at_all(x[None])
        self._at = x.copy()
        self._worst = max(self._worst, float(np.abs(self._residuals).max()))

    def _one_by_one(self, places: FloatArray, step: FloatArray) -> FloatArray:
        """Return residuals at a place and its steps, of which the model refuses some.

        A refused step goes to the other side; at a refused place residuals are large.
        """
        problem = self.problem
        if problem.is_refused(places[0]):
            size = problem.cuts[-1].stop
            return np.full((len(places), size), _REFUSED * max(self._worst, 1.0))
        for i in range(1, len(places)):
            if problem.is_refused(places[i]):
                places[i] = places[0] - (places[i] - places[0])
                step[i - 1] = -step[i - 1]
            if problem.is_refused(places[i]):
                places[i] = places[0]
        return problem.residuals(places)


def stepped(
    problem: Problem, place: FloatArray, residuals: FloatArray, jacobian: FloatArray
) -> FloatArray:
    """Return the place after one Gauss-Newton step that bounds and model accept, (p,)."""
    slopes, free = jacobian * problem.scale, np.ones(len(place), bool)
    least, most = ((edge - place) / problem.scale for edge in (problem.lower, problem.upper))
    move = np.zeros(len(place))
    while free.any():
        rest = residuals + slopes[:, ~free] @ move[~free]
        move[free], *_ = np.linalg.lstsq(slopes[:, free], -rest, rcond=1e-8)
        beyond = free & ((move < least) | (move > most))
        if not beyond.any():
            break
        move = np.clip(move, least, most)
        free &= ~beyond
    return problem.moved(place, move * problem.scale)


def fitted(problem: Problem, note: Progress, start: FloatArray | None = None) -> Fit:
    """Return the parameters that predict best.

    The search begins with long time steps of the model, with lags from a grid unless a start is
    given, and ends with short time steps and a Huber loss, which limits outliers.

    Raises `ConfigError` if the model refuses its own start.
    """
    coarse = Search(problem.coarse())
    note('fit: starts')
    x = gridded(coarse) if start is None else start
    note('fit: long steps')
    x = _solved_roughly(coarse, x)
    _reweigh(coarse, x)
    note('fit: short steps')
    fine = Search(problem)
    x = _solved(fine, x, 'huber')
    for _ in range(_TRIES if len(x) else 0):
        note('fit: places around')
        better = _lower_around(fine, x)
        if better is None:
            break
        x = _solved(fine, better, 'huber')
    return judged(fine, x)


def fitted_coarse(problem: Problem, start: FloatArray) -> tuple[Search, FloatArray]:
    """Return a search with long time steps and averaged samples, and its result."""
    coarse = Search(problem.coarse(thin=True))
    return coarse, _solved_roughly(coarse, start)


def _solved_roughly(search: Search, x: FloatArray) -> FloatArray:
    problem = search.problem
    # A search that begins at a bound takes steps that are too small to leave it.
    x = np.clip(x, problem.lower + _INSIDE * problem.scale, problem.upper)
    return _solved(search, x, 'linear', _ROUGH)


def gridded(search: Search) -> FloatArray:
    """Return the start, with its lags at the best value of a grid."""
    problem = search.problem
    is_lag = np.array([free.is_lag for free in problem.free for _ in free.start], dtype=bool)
    x: FloatArray = problem.start.copy()
    if not is_lag.any():
        return x
    places = np.tile(x, (len(_GRID) + 1, 1))
    for row, lag in enumerate(_GRID, start=1):
        places[row, is_lag] = np.clip(lag, problem.lower[is_lag], problem.upper[is_lag])
    costs = []
    for residuals, jacobian in search.at_all(places):
        plain = jacobian[:, ~is_lag]
        # All other parameters take one Gauss-Newton step.
        step, *_ = np.linalg.lstsq(plain, residuals, rcond=1e-10)
        costs.append(float(np.sum(np.square(residuals - plain @ step))))
    return np.asarray(places[int(np.argmin(costs))])


def _solved(
    search: Search, x: FloatArray, loss: str, tolerance: float = _FINE
) -> FloatArray:
    if not len(x):
        return x
    problem = search.problem
    inside = np.clip(x, problem.lower + 1e-12 * problem.scale, problem.upper)
    result = least_squares(
        search.residuals, inside, search.jacobian, bounds=(problem.lower, problem.upper),
        x_scale=problem.scale, loss=loss, f_scale=_FAR if loss != 'linear' else 1.0,
        max_nfev=_MOST, xtol=tolerance, ftol=tolerance, gtol=1e-10,
    )
    return np.asarray(result.x)


def _lower_around(search: Search, x: FloatArray) -> FloatArray | None:
    """Return a place with a lower cost some standard deviations away, None if there is none.

    Delays and limits make kinks and jumps of the cost, at which a search by derivatives stops.
    """
    problem = search.problem
    _, inverse = _inverse(search.jacobian(x) * problem.scale)
    sd = np.sqrt(np.maximum(np.diag(inverse), 1e-300))
    # Each move shifts one parameter, and the others to their optimum beside it.
    moves = np.concatenate([far * inverse / sd for far in _AROUND], axis=1).T
    moves *= np.minimum(1.0, _FARTHEST / np.maximum(np.abs(moves).max(axis=1), 1e-300))[:, None]
    places = np.clip(x + moves * problem.scale, problem.lower, problem.upper)
    costs = [_cost(row) for row in search.at_any(places)]
    best = int(np.argmin(costs))
    now, (least, part) = _cost(search.residuals(x)), _LOWER
    return places[best] if now - costs[best] > max(least, part * now) else None


def _cost(residuals: FloatArray) -> float:
    """Return the sum of squares, which is linear in residuals beyond `_FAR` (Huber)."""
    size = np.abs(residuals)
    return float(np.sum(np.where(size <= _FAR, size**2, _FAR * (2.0 * size - _FAR))))


def _reweigh(search: Search, x: FloatArray) -> None:
    """Weigh each channel by the spread of its residuals."""
    problem, residuals = search.problem, search.residuals(x)
    for i, (cut, weight) in enumerate(zip(problem.cuts, problem.weights, strict=True)):
        part = residuals[cut] / weight
        spread = _TO_NORMAL * float(np.median(np.abs(part - np.median(part))))
        spread = max(spread, 0.2 * rms(part), 1e-12)
        problem.weights[i] = 1.0 / spread


def judged(search: Search, x: FloatArray) -> Fit:
    """Return a result with a covariance that also holds for coloured residuals."""
    problem = search.problem
    residuals, jacobian = search.residuals(x), search.flattest(x)
    if not len(x):
        return Fit(problem, x, np.zeros((0, 0)), jacobian, residuals, ())
    scaled = jacobian * problem.scale
    known, inverse = _inverse(scaled)
    inner = inverse @ _noise(problem, scaled, residuals) @ inverse
    to = problem.to_estimates * problem.scale
    covariance = to @ inner @ to.T
    unknown = tuple(
        name for name, is_known in zip(problem.names, known, strict=True) if not is_known
    )
    for i, is_known in enumerate(known):
        if not is_known:
            covariance[i, :] = covariance[:, i] = 0.0
            covariance[i, i] = np.inf
    return Fit(problem, x, covariance, jacobian, residuals, unknown)


def never_known(fit: Fit) -> set[str]:
    """Return the parameters that no commands identify: not even sweeps of each with jumps."""
    problem = fit.problem
    if not fit.unknown or problem.setup.candidates is None:
        return set()
    known, _ = _inverse(Search(problem.swept()).jacobian(fit.place) * problem.scale)
    return {name for name, is_known in zip(problem.names, known, strict=True) if not is_known}


def _inverse(jacobian: FloatArray) -> tuple[BoolArray, FloatArray]:
    """Return which parameters the data identify, and the pseudo-inverse of the information."""
    sizes = np.linalg.norm(jacobian, axis=0)
    unit = jacobian / np.where(sizes > 0.0, sizes, 1.0)
    _, values, vectors = np.linalg.svd(unit, full_matrices=False)
    # All singular values are 0 if no free parameter changes a channel.
    weak = values <= _WEAK**0.5 * values[0]
    # A direction without effect makes each parameter unknown that has a part in it.
    share = np.square(vectors[weak]).sum(axis=0) if weak.any() else np.zeros(len(sizes))
    known = (share < 0.01) & (sizes > 0.0)
    inverse = (vectors[~weak].T / np.square(values[~weak])) @ vectors[~weak]
    scale = 1.0 / np.where(sizes > 0.0, sizes, np.inf)
    return known, inverse * np.outer(scale, scale)


def _noise(problem: Problem, jacobian: FloatArray, residuals: FloatArray) -> FloatArray:
    """Return the covariance of the gradient under coloured residuals (Bartlett's window)."""
    total = np.zeros((jacobian.shape[1],) * 2)
    for cut in problem.cuts:
        part, rows = residuals[cut], jacobian[cut]
        covariances = autocovariance(part)
        degrees = max(len(part) - jacobian.shape[1], 1)
        window = 1.0 - np.arange(len(covariances)) / len(covariances)
        kernel = covariances * window * (len(part) / degrees)
        both = np.concatenate((kernel[:0:-1], kernel))
        total += rows.T @ fftconvolve(rows, both[:, None], 'same', axes=0)
    values, vectors = np.linalg.eigh(0.5 * (total + total.T))
    floor = 1e-3 * np.abs(values).max()
    return np.asarray((vectors * np.maximum(values, floor * 1e-9)) @ vectors.T)


def autocovariance(residuals: FloatArray) -> FloatArray:
    """Return the autocovariance of residuals, up to the lag at which noise hides it."""
    n = len(residuals)
    size = 1 << int(np.ceil(np.log2(2 * n)))
    power = np.abs(np.fft.rfft(residuals, size)) ** 2
    whole = np.fft.irfft(power, size)[:n] / n
    if whole[0] <= 0.0:
        return np.zeros(1)
    small = np.abs(whole[1:max(2, n // 8)]) < 2.0 / np.sqrt(n) * whole[0]
    first = int(np.argmax(small)) + 1 if small.any() else max(1, n // 8)
    # Twice the lag at which noise first hides it, as it may oscillate.
    return np.asarray(whole[: max(1, min(2 * first, n // 8))])


def whiteness(residuals: FloatArray) -> tuple[float, int]:
    """Return the largest autocorrelation beyond lag 0, and the samples that it lasts."""
    covariances = autocovariance(residuals)
    if len(covariances) < 2:
        return 0.0, 1
    return float(np.abs(covariances[1:]).max() / covariances[0]), len(covariances) // 2
