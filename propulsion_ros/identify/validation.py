# SPDX-License-Identifier: Apache-2.0
"""How well parts of a recording are predicted that were not fitted, and which model does best."""
from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from propulsion_ros.identify.fit import Progress, Search, fitted_coarse
from propulsion_ros.identify.free import Free, free_parameters, full_of
from propulsion_ros.identify.problem import Problem
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.flat import Parameter
from propulsion_ros.settings.quantity import FloatArray, flatten

FOLDS = 5
_STEPS = 1
_UP, _DOWN, _CURVE = 'time_constant_up', 'time_constant_down', 'thrust_curve'
_POINTS = 6


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
            kept = parts != fold
            scaled = jacobian[kept] * problem.scale
            move, *_ = np.linalg.lstsq(scaled, -residuals[kept], rcond=1e-8)
            steps.append(move * problem.scale)
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
    """Return one lag or two with each form of the thrust curve, by their errors.

    Families without these parameters have one variant.
    """
    found = []
    for name, free, fixed in _choices(problem, group, schema, values):
        note(f'model: {name}')
        try:
            other = problem.with_free(free, fixed)
            search, place = fitted_coarse(other, _near(other, lag), thin=True)
            other = search.problem
        except ConfigError:
            continue
        squares = cross_validated(search, place)
        training = [search.residuals(place)[cut] / weight for cut, weight in other.main_cuts]
        rms = float(np.sqrt(np.mean(squares)))
        spread = float(np.std(squares, ddof=1) / np.sqrt(FOLDS) / (2.0 * rms))
        found.append(Variant(
            name, len(place), rms, spread,
            float(np.sqrt(np.mean(np.square(np.concatenate(training))))),
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


def _choices(
    problem: Problem, group: str, schema: list[Parameter], values: Mapping[str, Any]
) -> Iterator[tuple[str, list[Free], dict[str, Any]]]:
    keys = {parameter.key for parameter in schema}
    fitted = {key for free in problem.free for key in free.keys}
    others = [
        free for free in problem.free
        if not {_UP, _DOWN, _CURVE, 'motor_constant'} & set(free.keys)
    ]
    none: dict[str, Any] = {}
    lags: dict[str, tuple[list[str], dict[str, Any]]] = {'': ([], none)}
    if {_UP, _DOWN} & fitted:
        lags = {
            'no lag': ([], {_UP: 0.0, _DOWN: 0.0}), 'one lag': ([f'{group}.time_constant'], none),
            'two lags': ([f'{group}.{_UP}', f'{group}.{_DOWN}'], none),
        }
    if _CURVE not in keys or 'motor_constant' not in keys or not (
        {_CURVE, 'motor_constant'} & fitted
    ):
        curves: dict[str, tuple[list[str], dict[str, Any]]] = {'': ([], {})}
    else:
        n = len(flatten(values['motor_constant']))
        curves = {
            'k w^2': ([f'{group}.motor_constant'], {_CURVE: [''] * n}),
            'quadratic': ([f'{group}.{_CURVE}'], {
                _CURVE: [''] * n, f'{_CURVE}_kind': 'polynomial',
            }),
            'table': ([f'{group}.{_CURVE}'], {
                _CURVE: [_even_table(values)] * n, f'{_CURVE}_kind': 'table',
            }),
        }
    for curve, (of_curve, by_curve) in curves.items():
        for lag, (of_lag, by_lag) in lags.items():
            names, fixed = [*of_lag, *of_curve], {**by_curve, **by_lag}
            if not names:
                continue
            own = free_parameters(names, group, schema, {**values, **fixed}, {})
            label = ', '.join(part for part in (lag, curve) if part)
            yield label, [*own, *others], fixed


def _even_table(values: Mapping[str, Any]) -> str:
    full = full_of(_CURVE, {**values, _CURVE: ['']})
    thrust = float(flatten(values['max_thrust'])[0])
    parts = np.linspace(0.0, 1.0, _POINTS)
    return ' '.join(f'{part * full:.6g} {part**2 * thrust:.6g}' for part in parts)
