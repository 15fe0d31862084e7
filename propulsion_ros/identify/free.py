# SPDX-License-Identifier: Apache-2.0
"""What is fitted: parameters of the schema as numbers with bounds, and back."""
from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from propulsion_ros.models.common.points import numbers_of
from propulsion_ros.settings.errors import ConfigError, SourceError
from propulsion_ros.settings.flat import Parameter, suggestion
from propulsion_ros.settings.quantity import FloatArray, flatten

BODY, DELAY = 'body', 'delay'
BODY_KEYS = ('mass', 'ixx', 'iyy', 'izz', 'drag_area')
"""What of the body can be fitted: mass [kg], moments of inertia [kg m^2], drag area [m^2]."""
_CURVES = {'thrust_curve': 'thrust_curve_kind', 'esc_curve': 'esc_kind'}
_UP, _DOWN = 'time_constant_up', 'time_constant_down'
_LAG_SCALE, _SHORTEST = 0.03, 1e-4
_LONGEST = 5.0
LAGS = ('time_constant', _UP, _DOWN)
"""Keys that start from a grid."""


@dataclass(frozen=True)
class Free:
    """One parameter that is fitted, with k numbers."""

    name: str
    """As the user has it, such as 'rotors.time_constant_up'."""
    keys: tuple[str, ...]
    """Flat parameters that it sets; one of `BODY_KEYS`, or `DELAY`."""
    owner: str
    """Group of the actuators, `BODY` or `DELAY`."""
    names: tuple[str, ...]
    """Of its k estimates."""
    unit: str
    start: FloatArray
    lower: FloatArray
    upper: FloatArray
    scale: FloatArray
    """Of the search, (k,) each."""
    estimates: FloatArray
    """Matrix from what is searched to the estimates, (k, k)."""
    write: Callable[[FloatArray], Any]
    """Value of the parameters from what is searched, (k,)."""
    note: str = ''

    @property
    def is_curve(self) -> bool:
        """Whether its numbers are one curve, of which each alone may be near 0."""
        return self.keys[0] in _CURVES

    @property
    def is_lag(self) -> bool:
        """Whether its start is looked for on a grid."""
        return self.keys[0] in LAGS

    def changes(self, x: FloatArray) -> dict[str, Any]:
        """Return flat parameters for a place of the search, (k,)."""
        value = self.write(x)
        return dict.fromkeys(self.keys, value)


def free_parameters(
    fit: Sequence[str], group: str, schema: Sequence[Parameter], values: Mapping[str, Any],
    body: Mapping[str, float],
) -> list[Free]:
    """Return what is fitted.

    Parameters
    ----------
    fit : sequence of str
        '<group>.<parameter>', 'body.<key>' or 'delay'.
    group : str
        Name of the actuators.
    schema : sequence of Parameter
        Of their family.
    values : mapping
        Flat parameters where the search begins, in full.
    body : mapping
        Values of `BODY_KEYS`.

    Raises
    ------
    SourceError
        Naming what is unknown or no number.
    """
    known = {parameter.key: parameter for parameter in schema}
    found = []
    for name in dict.fromkeys(fit):
        owner, _, key = name.partition('.')
        if name == DELAY:
            found.append(delay())
        elif owner == BODY:
            found.append(_of_body(name, key, body))
        elif owner == group:
            found.append(_of_group(name, key, known, values, fit))
        else:
            near = suggestion(owner, [group, BODY])
            raise SourceError('--fit', f'{name!r}: no group {owner!r}{near}; found: {group}, body')
    if not found:
        raise SourceError('--fit', 'expected parameters, such as <group>.time_constant')
    return found


def delay() -> Free:
    """Return the time from a command until the actuator takes it."""
    return _numbers(DELAY, (DELAY,), DELAY, 's', [0.01], 0.0, 0.2, 0.005, _scalar)


def _of_body(name: str, key: str, body: Mapping[str, float]) -> Free:
    if key not in BODY_KEYS:
        raise SourceError(
            '--fit', f'{name!r}: no such property{suggestion(key, BODY_KEYS)}; known: '
            f'{", ".join(BODY_KEYS)}'
        )
    unit = {'mass': 'kg', 'drag_area': 'm^2'}.get(key, 'kg m^2')
    start = body.get(key) or (0.01 if key == 'drag_area' else 0.0)
    if start <= 0.0:
        raise SourceError('--fit', f'{name!r}: the robot description has none to begin with')
    return _numbers(name, (key,), BODY, unit, [start], 1e-3 * start, 1e3 * start, start, _scalar)


def _of_group(
    name: str, key: str, known: Mapping[str, Parameter], values: Mapping[str, Any],
    fit: Sequence[str],
) -> Free:
    key, index = _indexed(name, key)
    keys: tuple[str, ...] = (key,)
    note = ''
    if key == 'time_constant' and key not in known and _UP in known:
        keys = _UP, _DOWN
    elif key == _UP and _is_one_lag(name, values, fit):
        keys, note = (_UP, _DOWN), f'one lag: {_DOWN} follows {_UP}'
    if key == 'thrust_curve' and key not in known and 'esc_curve' in known:
        keys = ('esc_curve',)
    for each in keys:
        if each not in known:
            raise SourceError('--fit', f'{name!r}: unknown{suggestion(key, known)}')
    parameter = known[keys[0]]
    if keys[0] in _CURVES:
        return _curve(name, keys[0], values)
    if parameter.spec.kind is not float:
        raise SourceError('--fit', f'{name!r}: is no number')
    return dataclasses.replace(_plain(name, keys, parameter, values, index), note=note)


def _is_one_lag(name: str, values: Mapping[str, Any], fit: Sequence[str]) -> bool:
    """Whether rise and fall have one time constant: only one is fitted, and both were equal."""
    if _DOWN not in values or name.replace(_UP, _DOWN) in fit:
        return False
    return flatten(values[_UP]) == flatten(values[_DOWN])


def _indexed(name: str, key: str) -> tuple[str, str]:
    """Return a key and what stands in brackets behind it: a number, * or nothing."""
    if not key.endswith(']'):
        return key, ''
    key, _, index = key[:-1].partition('[')
    if index != '*' and not index.isdigit():
        raise SourceError('--fit', f'{name!r}: expected a number or * in brackets')
    return key, index


def _plain(
    name: str, keys: tuple[str, ...], parameter: Parameter, values: Mapping[str, Any], index: str
) -> Free:
    """Return a number that serves all rows, or one for each, or that of one row."""
    spec, own = parameter.spec, np.array(flatten(values[keys[0]]), dtype=float)
    if not len(own):
        raise SourceError('--fit', f'{name!r}: has no value to begin with')
    if index and index != '*' and int(index) >= len(own):
        raise SourceError('--fit', f'{name!r}: there are {len(own)} values')
    chosen = own if index == '*' else own[[int(index)]] if index else own[:1]
    if not index and not np.all(own == own[0]):
        chosen = own.mean(keepdims=True)
    is_lag = keys[0] in LAGS
    above = spec.above if np.isfinite(spec.above) else -np.inf
    low = max(spec.lo, np.nextafter(above, np.inf) if np.isfinite(above) else -np.inf)
    if is_lag:
        low, high = max(low, _SHORTEST), min(spec.hi, _LONGEST)
    else:
        high = spec.hi
    scale = np.where(chosen, np.abs(chosen), _LAG_SCALE if is_lag else 1.0)
    scale = np.maximum(scale, _LAG_SCALE) if is_lag else scale

    def write(x: FloatArray) -> Any:
        if index == '*':
            return x.tolist()
        if index:
            rows = own.copy()
            rows[int(index)] = x[0]
            return rows.tolist()
        return float(x[0]) if spec.shape == () else [float(x[0])] * len(own)

    free = _numbers(
        name, keys, name.partition('.')[0], spec.unit, np.clip(chosen, low, high), low, high,
        scale, write,
    )
    if index == '*':
        stem = name.partition('[')[0]
        free = dataclasses.replace(free, names=tuple(f'{stem}[{i}]' for i in range(len(chosen))))
    return free


def _numbers(
    name: str, keys: tuple[str, ...], owner: str, unit: str, start: Any, low: Any, high: Any,
    scale: Any, write: Callable[[FloatArray], Any],
) -> Free:
    begin = np.array(start, dtype=float)
    k = len(begin)
    return Free(
        name, keys, owner, (name,) * k, unit, begin, np.full(k, low, float),
        np.full(k, high, float), np.full(k, 1.0) * scale, np.eye(k), write,
    )


def _scalar(x: FloatArray) -> float:
    return float(x[0])


# Curves that are texts.


def full_of(key: str, values: Mapping[str, Any]) -> float:
    """Return the largest argument of a curve: throttle 1, or the rotor speed there [rad/s]."""
    if key == 'esc_curve':
        return 1.0
    if values.get('command_interface') == 'throttle' and values.get('esc_gives') == 'speed':
        curve = numbers_of('esc_curve', str(flatten(values['esc_curve'])[0]))
        if values.get('esc_kind') == 'table':
            return curve[-1]
        return float(np.polynomial.polynomial.polyval(1.0, curve))
    thrust, constant = (float(flatten(values[key])[0]) for key in ('max_thrust', 'motor_constant'))
    return float(np.sqrt(thrust / constant))


def _curve(name: str, key: str, values: Mapping[str, Any]) -> Free:
    """Return the numbers of a curve: coefficients, or the heights of its points."""
    texts = flatten(values.get(key))
    text = str(texts[0]) if texts else ''
    is_timed = _CURVES[key] not in values
    if is_timed:
        return _points(name, key, numbers_of(key, text), may_fall=True)
    if values.get(_CURVES[key]) == 'table':
        return _points(name, key, numbers_of(key, text), may_fall=False)
    full = full_of(key, values)
    factors = numbers_of(key, text)
    if not factors:
        largest = float(flatten(values['max_thrust'])[0])
        factors = [0.0, 0.0, largest / full**2]
    scale = full ** np.arange(len(factors), dtype=float)
    start = np.array(factors) * scale

    def write(x: FloatArray) -> list[str]:
        return [' '.join(f'{value:.10g}' for value in x / scale)]

    owner, k = name.partition('.')[0], len(factors)
    return Free(
        name, (key,), owner, tuple(f'{name}[{i}]' for i in range(k)), '', start,
        np.full(k, -np.inf), np.full(k, np.inf),
        np.full(k, max(float(np.abs(start).max()), 1e-9)), np.diag(1.0 / scale), write,
    )


def _points(name: str, key: str, values: Sequence[float], *, may_fall: bool) -> Free:
    places, heights = np.array(values[::2]), np.array(values[1::2])
    if len(values) < 4 or len(values) % 2:
        raise SourceError('--fit', f'{name!r}: expected points of a table to begin with')
    k = len(heights)
    sums = np.eye(k) if may_fall else np.tril(np.ones((k, k)))
    start = np.maximum(np.linalg.solve(sums, heights), 0.0)

    def write(x: FloatArray) -> list[str]:
        return [' '.join(
            f'{place:.10g} {height:.10g}' for place, height in zip(places, sums @ x, strict=True)
        )]

    return Free(
        name, (key,), name.partition('.')[0], tuple(f'{name}[{i}]' for i in range(k)), 'N', start,
        np.zeros(k), np.full(k, np.inf),
        np.full(k, max(float(np.abs(heights).max()) / k, 1e-9)), sums, write,
    )


def check_start(values: Mapping[str, Any], free: Sequence[Free]) -> None:
    """Raise `ConfigError` where a parameter that is fitted is drawn from a range."""
    for each in free:
        for key in each.keys:
            if np.any(np.array(flatten(values.get(f'{key}_range')) or [0.0]) > 0.0):
                raise ConfigError(f'{key}_range', 'is drawn from a range; remove it to fit it')
