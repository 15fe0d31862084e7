# SPDX-License-Identifier: Apache-2.0
"""How well parts of a recording are predicted that were not fitted, and which model does best."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from propulsion_ros.identify.choices import choices
from propulsion_ros.identify.fit import Fit, Progress, Search, fitted_coarse
from propulsion_ros.identify.problem import Problem
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.flat import Parameter
from propulsion_ros.settings.quantity import BoolArray, FloatArray

FOLDS = 5
_STEPS = 1


def cross_validated(search: Search, place: FloatArray) -> FloatArray:
    """Return the mean square of the first channels' residuals on each part that was left out.

    Parts are spans of time; each is predicted by parameters from all others.
    """
    problem = search.problem
    parts = _parts(problem)
    places = np.tile(place, (FOLDS, 1))
    for _ in range(_STEPS if len(place) else 0):
        steps = []
        for fold, (residuals, jacobian) in enumerate(search.at_all(places)):
            steps.append(_without(parts == fold, residuals, jacobian, problem.scale))
        places = np.clip(places + np.array(steps), problem.lower, problem.upper)
    rows = [residuals for residuals, _ in search.at_all(places)]
    main = problem.main_cuts
    result = []
    for fold in range(FOLDS):
        squares, count = 0.0, 0
        for cut, weight in main:
            own = rows[fold][cut][parts[cut] == fold] / weight
            squares, count = squares + float(own @ own), count + len(own)
        result.append(squares / max(count, 1))
    return np.array(result)


def spread_by_parts(fit: Fit) -> FloatArray:
    """Return the standard deviations of estimates by how parts of a recording differ, (p,).

    They are those of the estimates from all parts but one (jackknife).
    """
    problem, parts = fit.problem, _parts(fit.problem)
    moves = [
        _without(parts == fold, fit.residuals, fit.jacobian, problem.scale)
        for fold in range(FOLDS)
    ]
    spread = np.std(np.array(moves) @ problem.to_estimates.T, axis=0)
    return np.asarray(spread * np.sqrt(FOLDS - 1.0))


def _without(
    left_out: BoolArray, residuals: FloatArray, jacobian: FloatArray, scale: FloatArray
) -> FloatArray:
    """Return the step to where the residuals that stay are least, (p,)."""
    kept = ~left_out
    move, *_ = np.linalg.lstsq(jacobian[kept] * scale, -residuals[kept], rcond=1e-8)
    return np.asarray(move * scale)


def _parts(problem: Problem) -> FloatArray:
    """Return which part each residual is in."""
    rows = []
    begin = min(float(each.time[0]) for each in problem.channels)
    end = max(float(each.time[-1]) for each in problem.channels)
    for channel in problem.channels:
        time = channel.time
        if channel.windows is not None:
            index = channel.windows[:, None].astype(int) + np.arange(channel.size)
            time = time[index].ravel()
        rows.append(np.minimum(FOLDS * (time - begin) / (end - begin + 1e-9), FOLDS - 1) // 1)
    return np.concatenate(rows)


@dataclass(frozen=True)
class Variant:
    """One model that data may choose."""

    name: str
    simplicity: int
    """Numbers that are fitted."""
    rms: float
    """Of the parts that were left out."""
    spread: float
    """How sure that is."""
    training: float
    estimates: Mapping[str, float]


def variants(
    problem: Problem, group: str, schema: list[Parameter], values: Mapping[str, Any],
    lag: float, note: Progress,
) -> list[Variant]:
    """Return the lags and forms of the thrust curve that a family has, by their errors."""
    found = []
    for name, free, fixed in choices(problem, group, schema, values):
        note(f'model: {name}')
        try:
            other = problem.with_free(free, fixed)
            search, place = fitted_coarse(other, _near(other, lag), thin=True)
            other = search.problem
        except ConfigError:
            continue
        squares = cross_validated(search, place)
        rms = float(np.sqrt(np.mean(squares)))
        spread = float(np.std(squares, ddof=1) / np.sqrt(FOLDS) / (2.0 * rms))
        found.append(Variant(
            name, len(place), rms, spread,
            other.main_rms(search.residuals(place)),
            dict(zip(other.names, other.estimates(place).tolist(), strict=True)),
        ))
    return found


def _near(problem: Problem, lag: float) -> FloatArray:
    """Return the start of a problem with its lags at one that was fitted [s]."""
    is_lag = [free.is_lag for free in problem.free for _ in free.start]
    return np.where(is_lag, lag, problem.start)


def recommended(found: list[Variant]) -> Variant:
    """Return the simplest variant that is no worse than the best by more than 2 %.

    Each is judged by parts that it was not fitted to, never by its own.
    """
    best = min(each.rms for each in found)
    return min(
        (each for each in found if each.rms <= 1.02 * best),
        key=lambda each: (each.simplicity, each.rms),
    )
