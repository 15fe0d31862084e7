# SPDX-License-Identifier: Apache-2.0
"""Cross-validation of a fit, and the choice of a model by it."""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from propulsion_ros.identify.fit import Fit, Progress, Search, fitted_coarse, stepped
from propulsion_ros.identify.free import LAGS, Free, free_parameters, full_of
from propulsion_ros.identify.problem import Problem
from propulsion_ros.settings.errors import ConfigError
from propulsion_ros.settings.flat import Parameter
from propulsion_ros.settings.quantity import FloatArray, flatten

_LAG, _UP, _DOWN = LAGS
_CURVE, _ESC = 'thrust_curve', 'esc_curve'
_ONE_WAY, _BOTH_WAYS = 'rotor_constant', ('rotor_constant_left', 'rotor_constant_right')
_EDGES = 'delta_left', 'delta_right'
_TABLE = 'input_values', 'output_values'
_SIGNED = {_ONE_WAY, *_BOTH_WAYS, *_EDGES, *_TABLE}
"""Parameters of a thrust in both directions over a signed speed."""
_POINTS = 6  # of a table
_EDGE = 0.1  # speed at the edge of a dead zone where the search begins, over the largest speed


@dataclass(frozen=True)
class _Form:
    """One form of a lag or a curve."""

    fit: Sequence[str] = ()
    """Parameters that are fitted."""
    fixed: Mapping[str, Any] = field(default_factory=dict)
    """Values of other parameters that the form needs."""


def choices(
    problem: Problem, group: str, schema: Sequence[Parameter], values: Mapping[str, Any]
) -> Iterator[tuple[str, list[str], list[Free], dict[str, Any]]]:
    """Yield each model: its name, what it fits of lag and curve, what else, and fixed values.

    Only lags and a thrust curve that are fitted are varied.
    """
    fitted = {key for free in problem.free for key in free.keys}
    lags = _lags(fitted, values)
    curves, replaced = _curves(problem, fitted, {each.key for each in schema}, values)
    replaced |= {_LAG, _UP, _DOWN} if len(lags) > 1 else set()
    others = [free for free in problem.free if not replaced & set(free.keys)]
    for curve, by_curve in curves.items():
        for lag, by_lag in lags.items():
            names = [f'{group}.{key}' for key in (*by_lag.fit, *by_curve.fit)]
            if not names:
                continue
            yield (', '.join(part for part in (lag, curve) if part), names, others,
                   {**by_curve.fixed, **by_lag.fixed})


def _lags(fitted: set[str], values: Mapping[str, Any]) -> dict[str, _Form]:
    if {_UP, _DOWN} & fitted:
        return {
            'no lag': _Form((), {_UP: 0.0, _DOWN: 0.0}), 'one lag': _Form((_LAG,)),
            'two lags': _Form((_UP, _DOWN)),
        }
    if _LAG in fitted:
        return {'no lag': _Form((), {_LAG: 0.0}), 'one lag': _Form((_LAG,))}
    return {'': _Form()}


def _curves(
    problem: Problem, fitted: set[str], keys: set[str], values: Mapping[str, Any]
) -> tuple[dict[str, _Form], set[str]]:
    """Return the forms of the curve, and the parameters that they replace."""
    if 'motor_constant' in keys and {_CURVE, 'motor_constant'} & fitted:
        full = full_of(_CURVE, {**values, _CURVE: ['']})
        table = _table(full, float(flatten(values['max_thrust'])[0]), 2)
        return {
            'k w^2': _Form(('motor_constant',), {_CURVE: ['']}),
            'quadratic': _Form((_CURVE,), {_CURVE: [''], f'{_CURVE}_kind': 'polynomial'}),
            'table': _Form((_CURVE,), {_CURVE: [table], f'{_CURVE}_kind': 'table'}),
        }, {_CURVE, 'motor_constant'}
    by_speed = values.get('command_interface') == 'velocity' or values.get('esc_gives') == 'speed'
    if _SIGNED & fitted and by_speed:
        return _signed(problem, values), _SIGNED
    if _ESC in fitted:
        return _of_throttle(values), {_ESC}
    return {'': _Form()}, set()


def _of_throttle(values: Mapping[str, Any]) -> dict[str, _Form]:
    text = next(iter(flatten(values[_ESC])), '')
    numbers = [float(word) for word in str(text).split()]
    largest = (
        float(flatten(values['max_thrust'])[0]) if not numbers else
        numbers[-1] if values['esc_kind'] == 'table' else float(np.sum(numbers))
    )
    linear, kind = f'0 {largest:.6g}', 'esc_kind'
    return {
        'linear': _Form((_ESC,), {_ESC: [linear], kind: 'polynomial'}),
        'quadratic': _Form((_ESC,), {_ESC: [f'{linear} 0'], kind: 'polynomial'}),
        'table': _Form((_ESC,), {_ESC: [_table(1.0, largest, 1)], kind: 'table'}),
    }


def _signed(problem: Problem, values: Mapping[str, Any]) -> dict[str, _Form]:
    """Return the forms of a thrust in both directions, which begin with the given one."""
    full = _fastest(problem, values)
    constant = max(
        (float(value) for key in (_ONE_WAY, *_BOTH_WAYS) for value in flatten(values[key])),
        default=0.0,
    ) or _largest(values) / full**2
    same = dict.fromkeys(_BOTH_WAYS, constant)
    left, right = _EDGES
    edge = (_EDGE * full) ** 2
    half = np.linspace(0.0, full, _POINTS // 2 + 1)
    # The middle of linspace(-full, full, n) may be 1e-14.
    speeds = np.concatenate((-half[:0:-1], half))
    thrusts = constant * speeds * np.abs(speeds)
    zone = {'conversion': 'dead_zone', **same}
    return {
        'k w|w|': _Form((_ONE_WAY,), {'conversion': 'basic', _ONE_WAY: constant}),
        'k w|w| each way': _Form(_BOTH_WAYS, {**zone, left: 0.0, right: 0.0}),
        'k w|w| each way, dead zone': _Form(
            (*_BOTH_WAYS, *_EDGES), {**zone, left: -edge, right: edge}
        ),
        'table': _Form((_TABLE[1],), {
            'conversion': 'linear_interp', _TABLE[0]: [_words(speeds)],
            _TABLE[1]: [_words(thrusts)],
        }),
    }


def _fastest(problem: Problem, values: Mapping[str, Any]) -> float:
    """Return the largest commanded speed [rad/s]."""
    if values.get('command_interface') == 'throttle':
        return full_of(_CURVE, values)
    commands = problem.setup.recording.commands.values()
    gain = float(np.max(np.abs(flatten(values['gain']))))
    return gain * max(float(np.max(np.abs(each.value))) for each in commands)


def _largest(values: Mapping[str, Any]) -> float:
    texts = [text for text in flatten(values[_TABLE[1]]) if text]
    return max((abs(float(word)) for text in texts for word in str(text).split()), default=1.0)


def _table(full: float, value: float, power: int) -> str:
    parts = np.linspace(0.0, 1.0, _POINTS)
    return _words(np.ravel(np.stack((parts * full, parts**power * value), axis=1)))


def _words(numbers: FloatArray) -> str:
    return ' '.join(f'{number:.6g}' for number in numbers)


FOLDS = 5  # parts of a recording
_STEPS = 1  # Gauss-Newton steps of a fit without one part


def cross_validated(search: Search, place: FloatArray) -> FloatArray:
    """Return the mean square of the main channels' residuals on each part that was left out.

    Parts are spans of time; each is predicted with parameters fitted to all others.
    """
    problem = search.problem
    parts = _parts(problem)
    places = np.tile(place, (FOLDS, 1))
    for _ in range(_STEPS if len(place) else 0):
        places = np.array([
            stepped(problem, place, residuals[parts != fold], jacobian[parts != fold])
            for fold, (residuals, jacobian) in enumerate(search.at_all(places))
        ])
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
    """Return jackknife standard deviations of the estimates, (p,).

    They are by the spread of estimates from all parts of a recording but one.
    """
    problem, parts = fit.problem, _parts(fit.problem)
    moves = []
    for fold in range(FOLDS):
        kept = parts != fold
        slopes = fit.jacobian[kept] * problem.scale
        move, *_ = np.linalg.lstsq(slopes, -fit.residuals[kept], rcond=1e-8)
        moves.append(move * problem.scale)
    spread = np.std(np.array(moves) @ problem.to_estimates.T, axis=0)
    return np.asarray(spread * np.sqrt(FOLDS - 1.0))


def _parts(problem: Problem) -> FloatArray:
    """Return the number of the part that each residual is in."""
    rows = []
    begin = min(float(each.time[0]) for each in problem.channels)
    end = max(float(each.time[-1]) for each in problem.channels)
    for channel in problem.channels:
        time = channel.time
        if channel.windows is not None:
            time = time[channel.windows].ravel()
        rows.append(np.minimum(FOLDS * (time - begin) / (end - begin + 1e-9), FOLDS - 1) // 1)
    return np.concatenate(rows)


@dataclass(frozen=True)
class Variant:
    """One model of those that are compared."""

    name: str
    rms: float
    """Root mean square error on left-out parts of the recording."""
    training: float
    problem: Problem
    place: FloatArray
    """Result of its search with long time steps of the model, (p,)."""
    fixed: Mapping[str, Any]
    """Flat parameters of this model besides the fitted ones."""

    @property
    def estimates(self) -> dict[str, float]:
        """Fitted estimates, by name."""
        values = self.problem.estimates(self.place).tolist()
        return dict(zip(self.problem.names, values, strict=True))

    @property
    def parameters(self) -> dict[str, Any]:
        """Flat parameters of this model, fitted and fixed."""
        return {**self.fixed, **self.problem.changes(self.place)}


def variants(
    problem: Problem, group: str, schema: list[Parameter], values: Mapping[str, Any],
    lag: float, note: Progress, left_out: list[str],
) -> list[Variant]:
    """Return each combination of lag and form of thrust curve, with its errors.

    A model that cannot be fitted is reported in ``left_out``, one line each.
    """
    found = []
    for name, names, others, fixed in choices(problem, group, schema, values):
        note(f'model: {name}')
        try:
            own = free_parameters(names, group, schema, {**values, **fixed}, {})
            other = problem.with_free([*own, *others], fixed)
            is_lag = [each.is_lag for each in other.free for _ in each.start]
            search, place = fitted_coarse(other, np.where(is_lag, lag, other.start))
        except ConfigError as error:
            left_out.append(f'--choose: {name} is left out: {error}')
            continue
        rms = float(np.sqrt(np.mean(cross_validated(search, place))))
        training = search.problem.main_rms(search.residuals(place))
        found.append(Variant(name, rms, training, other, place, fixed))
    return found


def recommended(found: list[Variant]) -> Variant:
    """Return the simplest variant whose error is at most 2 % above the smallest.

    Errors are those on left-out parts, to which a variant was not fitted.
    """
    best = min(each.rms for each in found)
    return min(
        (each for each in found if each.rms <= 1.02 * best),
        key=lambda each: (len(each.place), each.rms),
    )
