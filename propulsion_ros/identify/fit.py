# SPDX-License-Identifier: Apache-2.0
"""Least squares over candidate models, and how sure the result is."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import least_squares
from scipy.signal import fftconvolve

from propulsion_ros.identify.problem import Problem, rms
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.quantity import BoolArray, FloatArray

_STEP = 1e-3
_GRID = (0.01, 0.03, 0.06, 0.12, 0.25, 0.5)
"""Starts of lags [s]."""
_FAR = 6.0
"""A residual counts fully up to so many standard deviations."""
_REFUSED = 10.0
_MOST = 30
_TO_NORMAL = 1.4826
_WEAK = 1e-7
_INSIDE = 1e-3
"""How far above its lower bounds a search begins, over the scale of a parameter."""
_FINE, _ROUGH = 1e-6, 1e-4
"""Change of the cost that ends a search, over the cost."""
_AROUND = (-40.0, -10.0, 10.0, 40.0)
"""Where a lower cost is looked for once more, in standard deviations."""
_FARTHEST = 0.3
"""The same at most, over the scale of a parameter."""
_TRIES = 4
_LOWER = 4.0, 1e-4
"""By how much a cost is lower at least that is worth a search: in itself, and over the cost."""
_WIDE = 2.0
"""Steps that judge a result, in standard deviations of a parameter with all others given."""

Progress = Callable[[str], None]
"""Receives what begins."""


def silent(what: str) -> None:
    """Do nothing."""


@dataclass(frozen=True)
class Fit:
    """A result of the search."""

    problem: Problem
    place: FloatArray
    """(p,)."""
    covariance: FloatArray
    """Covariance of the estimates, (p, p); infinite where nothing is known."""
    jacobian: FloatArray
    residuals: FloatArray
    """Weighted, at the place."""
    unknown: tuple[str, ...]
    """Estimates that the data do not fix."""

    @property
    def values(self) -> FloatArray:
        """Estimates, (p,)."""
        return self.problem.estimates(self.place)

    @property
    def sd(self) -> FloatArray:
        """Their standard deviations, (p,)."""
        return np.asarray(np.sqrt(np.diag(self.covariance)))

    def correlation(self, i: int, j: int) -> float:
        """Return the correlation of two estimates, 0 where one of them is not known."""
        both = self.sd[i] * self.sd[j]
        return float(self.covariance[i, j] / both) if 0.0 < both < np.inf else 0.0


class Search:
    """Residuals and Jacobian from one run of a batch, kept for the place of the last call."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._at: FloatArray | None = None
        self._worst = 0.0

    def residuals(self, x: FloatArray) -> FloatArray:
        """Return the residuals at a place."""
        self._visit(x)
        return np.asarray(self._residuals)

    def jacobian(self, x: FloatArray) -> FloatArray:
        """Return their derivatives, (r, p)."""
        self._visit(x)
        return np.asarray(self._jacobian)

    def flattest(self, x: FloatArray) -> FloatArray:
        """Return derivatives to the side on which a parameter changes less, (r, p).

        Steps are as wide as the data are unsure: beside a kink or a jump, short ones or those to
        the other side would make an estimate surer than it is.
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
        """Return residuals and Jacobian at several places, of one run where none is refused."""
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
        return [(each[0], _slopes(each, step)) for each, step in zip(rows, steps, strict=True)]

    def _visit(self, x: FloatArray) -> None:
        if self._at is not None and np.array_equal(x, self._at):
            return
        ((self._residuals, self._jacobian),) = self.at_all(x[None])
        self._at = x.copy()
        self._worst = max(self._worst, float(np.abs(self._residuals).max()))

    def _one_by_one(self, places: FloatArray, step: FloatArray) -> FloatArray:
        """Return residuals where a model refuses some of the places."""
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
    """Return the place to which one step leads, within the bounds and what a model takes, (p,)."""
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


def _slopes(rows: FloatArray, step: FloatArray) -> FloatArray:
    return np.asarray(((rows[1:] - rows[0]) / step[:, None]).T.reshape(rows.shape[1], len(step)))


def fitted(problem: Problem, start: FloatArray | None = None, note: Progress = silent) -> Fit:
    """Return the parameters that predict best.

    The search begins with long steps of the model, lags at the best place of a grid unless a start
    is given, and ends with short ones and a loss that far residuals do not rule.

    Raises `ConfigError` where the model refuses its own start.
    """
    coarse, x = fitted_coarse(problem, start, note)
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


def fitted_coarse(
    problem: Problem, start: FloatArray | None = None, note: Progress = silent, *,
    thin: bool = False,
) -> tuple[Search, FloatArray]:
    """Return the parameters that predict best with long steps of the model; see `fitted`."""
    coarse = Search(problem.coarse(thin=thin))
    note('fit: starts')
    x: FloatArray = gridded(coarse) if start is None else start
    note('fit: long steps')
    # A search that begins at a bound takes steps that are too small to leave it.
    x = np.clip(x, problem.lower + _INSIDE * problem.scale, problem.upper)
    return coarse, _solved(coarse, x, 'linear', _ROUGH)


def gridded(search: Search) -> FloatArray:
    """Return the start, with each lag at the best of some."""
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
        if plain.shape[1]:
            # One step in all that is no lag.
            step, *_ = np.linalg.lstsq(plain, residuals, rcond=1e-10)
            costs.append(float(np.sum(np.square(residuals - plain @ step))))
        else:
            costs.append(float(residuals @ residuals))
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
    """Return a place with a lower cost some standard deviations away, None where there is none.

    Delays and limits make kinks and jumps, at which slopes lead no further.
    """
    problem = search.problem
    _, inverse = _inverse(search.jacobian(x) * problem.scale)
    sd = np.sqrt(np.maximum(np.diag(inverse), 1e-300))
    # One parameter is moved, and the others to where they then are best.
    moves = np.concatenate([far * inverse / sd for far in _AROUND], axis=1).T
    moves *= np.minimum(1.0, _FARTHEST / np.maximum(np.abs(moves).max(axis=1), 1e-300))[:, None]
    places = np.clip(x + moves * problem.scale, problem.lower, problem.upper)
    costs = [_cost(row) for row in search.at_any(places)]
    best = int(np.argmin(costs))
    now, (least, part) = _cost(search.residuals(x)), _LOWER
    return places[best] if now - costs[best] > max(least, part * now) else None


def _cost(residuals: FloatArray) -> float:
    """Return the sum of squares, in which far residuals count as their size."""
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
    """Return a result with its covariance, in which residuals need not be white."""
    problem = search.problem
    residuals, jacobian = search.residuals(x), search.flattest(x)
    scale = problem.scale
    scaled = jacobian * scale
    n = len(x)
    covariance = np.full((n, n), 0.0)
    if not n:
        return Fit(problem, x, covariance, jacobian, residuals, ())
    known, inverse = _inverse(scaled)
    middle = _noise(problem, scaled, residuals)
    inner = inverse @ middle @ inverse
    to = problem.to_estimates * scale
    covariance = to @ inner @ to.T
    unknown = tuple(
        name for name, is_known in zip(problem.names, known, strict=True) if not is_known
    )
    for i, is_known in enumerate(known):
        if not is_known:
            covariance[i, :] = covariance[:, i] = 0.0
            covariance[i, i] = np.inf
    return Fit(problem, x, covariance, jacobian, residuals, unknown)


def _inverse(jacobian: FloatArray) -> tuple[BoolArray, FloatArray]:
    """Return which parameters the data fix, and the inverse of the information."""
    sizes = np.linalg.norm(jacobian, axis=0)
    unit = jacobian / np.where(sizes > 0.0, sizes, 1.0)
    _, values, vectors = np.linalg.svd(unit, full_matrices=False)
    # All are 0 where nothing that is fitted changes what was measured.
    weak = values <= _WEAK**0.5 * values[0]
    # A direction that changes nothing hits each parameter that has a part in it.
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
    """Return the autocovariance of residuals, up to where it is lost in noise."""
    n = len(residuals)
    centred = residuals
    size = 1 << int(np.ceil(np.log2(2 * n)))
    power = np.abs(np.fft.rfft(centred, size)) ** 2
    whole = np.fft.irfft(power, size)[:n] / n
    if whole[0] <= 0.0:
        return np.zeros(1)
    small = np.abs(whole[1:max(2, n // 8)]) < 2.0 / np.sqrt(n) * whole[0]
    first = int(np.argmax(small)) + 1 if small.any() else max(1, n // 8)
    # Twice as far as where it is first lost, against what swings.
    return np.asarray(whole[: max(1, min(2 * first, n // 8))])


def whiteness(residuals: FloatArray) -> tuple[float, int]:
    """Return the largest autocorrelation but that at 0, and how many samples it lasts."""
    covariances = autocovariance(residuals)
    if len(covariances) < 2:
        return 0.0, 1
    return float(np.abs(covariances[1:]).max() / covariances[0]), len(covariances) // 2
