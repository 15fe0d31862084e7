# SPDX-License-Identifier: Apache-2.0
"""Free parameters: parameters of the schema as numbers with bounds, and back."""
from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.polynomial import Polynomial
from numpy.polynomial.polynomial import polyval

from propulsion_ros.models.common.points import numbers_of
from propulsion_ros.settings.errors import ConfigError, SourceError
from propulsion_ros.settings.flat import Parameter, known_hint, suggestion
from propulsion_ros.settings.quantity import FloatArray, flatten

BODY, DELAY = 'body', 'delay'
BODY_KEYS = ('mass', 'ixx', 'iyy', 'izz', 'drag_area')
"""Properties of the body: mass [kg], moments of inertia [kg m^2], drag area [m^2]."""
_CURVES = {'thrust_curve': 'thrust_curve_kind', 'esc_curve': 'esc_kind'}
_PLACES, _HEIGHTS = 'input_values', 'output_values'
_UP, _DOWN = 'time_constant_up', 'time_constant_down'
_LAG_SCALE = 0.03  # least scale of a lag in the search [s]
_SHORTEST, _LONGEST = 1e-4, 5.0  # bounds of a lag [s]
LAGS = ('time_constant', _UP, _DOWN)
"""Keys of time constants, which a search starts from a grid."""


@dataclass(frozen=True)
class Free:
    """One fitted parameter of k numbers."""

    name: str
    """Name that the user gives, such as 'rotors.time_constant_up'."""
    keys: tuple[str, ...]
    """Flat parameters that it sets; one of `BODY_KEYS`, or `DELAY`."""
    owner: str
    """Group of the actuators, `BODY` or `DELAY`."""
    names: tuple[str, ...]
    """Names of its k estimates."""
    unit: str
    start: FloatArray
    lower: FloatArray
    upper: FloatArray
    scale: FloatArray
    """Start, bounds and scale of the search, (k,) each."""
    estimates: FloatArray
    """Matrix from the numbers of the search to the estimates, (k, k)."""
    changes: Callable[[FloatArray], dict[str, Any]]
    """Returns flat parameters for numbers of the search, (k,)."""
    units: tuple[str, ...] = ()
    """Unit of each number if they differ."""
    note: str = ''
    used_by: str = ''
    """The choice or parameter that it belongs to, without which it has no effect; '' for none."""
    row: int = -1
    """Index of the one actuator whose value `changes` sets; -1 if it sets those of all."""

    @property
    def is_curve(self) -> bool:
        """True if its numbers are one curve, of which a single number may be near 0."""
        return self.keys[0] in (*_CURVES, _HEIGHTS)

    @property
    def is_lag(self) -> bool:
        """True if it is a time constant, which starts from a grid."""
        return is_lag(self.keys[0])


def free_parameters(
    fit: Sequence[str], group: str, schema: Sequence[Parameter], values: Mapping[str, Any],
    body: Mapping[str, float],
) -> list[Free]:
    """Return the free parameters of a fit.

    ``fit`` has '<group>.<parameter>', 'body.<key>' or 'delay'; ``values`` are the flat parameters
    where the search begins, in full, ``body`` those of `BODY_KEYS`.

    Raises
    ------
    SourceError
        If a name is unknown, or its parameter has no number to begin with.
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
            found += _of_group(name, key, known, values, fit)
        else:
            hint = known_hint(owner, [group, BODY], 'found')
            raise SourceError('--fit', f'{name!r}: no group {owner!r}{hint}')
    if not found:
        raise SourceError('--fit', 'expected parameters, such as <group>.time_constant')
    return found


def is_lag(key: str) -> bool:
    """Return whether a flat parameter is the lag of an actuator, or of the servo of a joint."""
    return key.rpartition('.')[2] in LAGS


def delay() -> Free:
    """Return the time from a command until the actuator takes it, as a free parameter."""
    return numbers(DELAY, (DELAY,), DELAY, 's', [0.01], 0.0, 0.2, 0.005)


def _of_body(name: str, key: str, body: Mapping[str, float]) -> Free:
    if key not in BODY_KEYS:
        raise SourceError('--fit', f'{name!r}: no such property{known_hint(key, BODY_KEYS)}')
    unit = {'mass': 'kg', 'drag_area': 'm^2'}.get(key, 'kg m^2')
    start = body.get(key) or (0.01 if key == 'drag_area' else 0.0)
    if start <= 0.0:
        raise SourceError('--fit', f'{name!r}: the robot description has none to begin with')
    return numbers(name, (key,), BODY, unit, [start], 1e-3 * start, 1e3 * start, start)


def _of_group(
    name: str, key: str, known: Mapping[str, Parameter], values: Mapping[str, Any],
    fit: Sequence[str],
) -> list[Free]:
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
            numbers_of_it = [
                own for own, each in known.items()
                if each.spec.kind is float or own in (*_CURVES, _HEIGHTS)
            ]
            raise SourceError(
                '--fit', f'{name!r}: unknown{suggestion(key, known)}; known: '
                f'{", ".join(numbers_of_it)}'
            )
    parameter = known[keys[0]]
    if keys[0] in _CURVES and _CURVES[keys[0]] in values:
        return _curves(name, keys[0], values, index)
    if keys[0] in (*_CURVES, _HEIGHTS):
        if index:
            raise SourceError('--fit', f'{name!r}: expected {name.partition("[")[0]}, one for all')
        return [_signed_table(name, values) if keys[0] == _HEIGHTS else _burn(name, values)]
    if parameter.spec.kind is not float:
        raise SourceError('--fit', f'{name!r}: is no number')
    return [dataclasses.replace(
        _plain(name, keys, parameter, values, index), note=note,
        used_by=next(iter(parameter.spec.users), ''),
    )]


def _is_one_lag(name: str, values: Mapping[str, Any], fit: Sequence[str]) -> bool:
    """Return whether rise and fall share a time constant: one is fitted, and both were equal."""
    if _DOWN not in values or name.replace(_UP, _DOWN) in fit:
        return False
    return flatten(values[_UP]) == flatten(values[_DOWN])


def _indexed(name: str, key: str) -> tuple[str, str]:
    """Return a key and its index in brackets: a number, * or ''."""
    if not key.endswith(']'):
        return key, ''
    key, _, index = key[:-1].partition('[')
    if index != '*' and not index.isdigit():
        raise SourceError('--fit', f'{name!r}: expected a number or * in brackets')
    return key, index


def _plain(
    name: str, keys: tuple[str, ...], parameter: Parameter, values: Mapping[str, Any], index: str
) -> Free:
    """Return a parameter with one number for all rows, one for each row, or that of one row."""
    spec, own = parameter.spec, np.array(flatten(values[keys[0]]), dtype=float)
    if not len(own):
        raise SourceError('--fit', f'{name!r}: has no value to begin with')
    if index and index != '*' and int(index) >= len(own):
        raise SourceError('--fit', f'{name!r}: there are {len(own)} values')
    chosen = own if index == '*' else own[[int(index)]] if index else own[:1]
    if not index and not np.all(own == own[0]):
        chosen = own.mean(keepdims=True)
    slow = is_lag(keys[0])
    above = spec.above if np.isfinite(spec.above) else -np.inf
    low = max(spec.lo, np.nextafter(above, np.inf) if np.isfinite(above) else -np.inf)
    if slow:
        low, high = max(low, _SHORTEST), min(spec.hi, _LONGEST)
    else:
        high = spec.hi
    scale = np.where(chosen, np.abs(chosen), _LAG_SCALE if slow else 1.0)
    scale = np.maximum(scale, _LAG_SCALE) if slow else scale

    def changes(x: FloatArray) -> dict[str, Any]:
        rows = own.copy()
        rows[int(index) if index.isdigit() else slice(None)] = x if index == '*' else x[0]
        return dict.fromkeys(keys, float(rows[0]) if spec.shape == () else rows.tolist())

    stem, count = name.partition('[')[0], len(chosen) if index == '*' else 0
    free = numbers(
        name, keys, name.partition('.')[0], spec.unit, np.clip(chosen, low, high), low, high,
        scale, changes, tuple(f'{stem}[{i}]' for i in range(count)),
    )
    return dataclasses.replace(free, row=int(index)) if index.isdigit() else free


def numbers(
    name: str, keys: tuple[str, ...], owner: str, unit: str, start: Any, low: Any, high: Any,
    scale: Any, changes: Callable[[FloatArray], dict[str, Any]] = lambda x: {},
    names: tuple[str, ...] = (), estimates: FloatArray | None = None,
) -> Free:
    """Return a parameter whose estimates, by default, are the numbers of the search themselves."""
    begin = np.array(start, dtype=float)
    k = len(begin)
    return Free(
        name, keys, owner, names or (name,), unit, begin, np.full(k, low, float),
        np.full(k, high, float), np.full(k, scale, float),
        np.eye(k) if estimates is None else estimates, changes,
    )


# Curves, which flat parameters hold as texts.


def full_of(key: str, values: Mapping[str, Any]) -> float:
    """Return the largest argument of a curve: throttle 1, or the rotor speed there [rad/s]."""
    if key == 'esc_curve':
        return 1.0
    if values.get('command_interface') == 'throttle' and values.get('esc_gives') == 'speed':
        curve = _speeds(values)
        return curve[-1] if values.get('esc_kind') == 'table' else float(polyval(1.0, curve))
    thrust, constant = (float(flatten(values[key])[0]) for key in ('max_thrust', 'motor_constant'))
    return float(np.sqrt(thrust / constant))


def over_throttle(values: Mapping[str, Any], row: int = 0) -> list[float] | None:
    """Return the coefficients of one thrust curve over the throttle [N], None if it has none."""
    kinds = [values.get(key) for key in ('thrust_curve_kind', 'esc_kind', 'esc_gives')]
    if values.get('command_interface') != 'throttle' or kinds != [*['polynomial'] * 2, 'speed']:
        return None
    texts = flatten(values['thrust_curve'])
    thrust = numbers_of('thrust_curve', str(texts[row % len(texts)]))
    return [float(c) for c in Polynomial(thrust)(Polynomial(_speeds(values, row))).coef]


def _speeds(values: Mapping[str, Any], row: int = 0) -> list[float]:
    texts = flatten(values['esc_curve'])
    return numbers_of('esc_curve', str(texts[row % len(texts)]))


def _curves(name: str, key: str, values: Mapping[str, Any], index: str) -> list[Free]:
    """Return one curve for all actuators, one for each, or that of one actuator."""
    if not index:
        _check_alike(name, flatten(values[key]), f'for one each fit {name}[*]')
        return [_curve(name, key, values)]
    count, stem = len(flatten(values['names'])), name.partition('[')[0]
    if index != '*' and int(index) >= count:
        raise SourceError('--fit', f'{name!r}: there are {count} values')
    rows = {each: flatten(values.get(each)) for each in (*_CURVES, 'max_thrust', 'motor_constant')}
    curves = [
        _curve(f'{stem}[{i}]', key, {**values, **{
            each: [own[i if len(own) == count else 0]] for each, own in rows.items() if own
        }}) for i in range(count)
    ]
    texts = [text for each in curves for text in each.changes(each.start)[key]]

    def changed(i: int) -> Callable[[FloatArray], dict[str, Any]]:
        return lambda x: {key: [*texts[:i], *curves[i].changes(x)[key], *texts[i + 1:]]}

    return [
        dataclasses.replace(each, changes=changed(i), row=i) for i, each in enumerate(curves)
        if index in ('*', str(i))
    ]


def _curve(name: str, key: str, values: Mapping[str, Any]) -> Free:
    """Return the numbers of a curve: coefficients, or the heights of its points."""
    texts = [str(text) for text in flatten(values.get(key))]
    unit = 'rad/s' if key == 'esc_curve' and values.get('esc_gives') == 'speed' else 'N'
    # Only the curve of a thruster may begin below 0.
    least = -np.inf if 'conversion' in values else 0.0
    if values.get(_CURVES[key]) == 'table':
        return _rising_table(name, key, texts[0], unit, least)
    full = full_of(key, values)
    factors = numbers_of(key, texts[0] if texts else '')
    if not factors:
        # Without a curve, the model is this one.
        is_esc = key == 'esc_curve'
        known = float(flatten(values['max_thrust' if is_esc else 'motor_constant'])[0])
        factors = [0.0, known, 0.0] if is_esc else [0.0, 0.0, known]
    scale = full ** np.arange(len(factors), dtype=float)
    start = np.array(factors) * scale
    over_speed = ('N', 'N s/rad', *(f'N s^{i}/rad^{i}' for i in range(2, len(start))))
    free = _of_curve(
        name, (key,), unit, start, np.diag(1.0 / scale), np.abs(start).max(),
        lambda x: {key: [' '.join(f'{value:.10g}' for value in x / scale)]},
        [least, *[-np.inf] * (len(start) - 1)],
    )
    if key == 'thrust_curve':
        free = dataclasses.replace(free, units=over_speed[:len(start)])
    return free


def _rising_table(name: str, key: str, text: str, unit: str, least: float) -> Free:
    """Return the heights of a table that must not fall, searched as first height and steps."""
    places, heights = _points(name, text)
    sums = np.tril(np.ones((len(heights),) * 2))
    lower = np.array([least] + [0.0] * (len(heights) - 1))
    return _of_curve(
        name, (key,), unit, np.maximum(np.linalg.solve(sums, heights), lower), sums,
        np.abs(heights).max() / len(heights), lambda x: {key: [_text(places, sums @ x)]}, lower,
    )


def _burn(name: str, values: Mapping[str, Any]) -> Free:
    """Return the thrusts of the curve of solid motors; its peak becomes their `max_thrust`."""
    key, texts = 'thrust_curve', [str(text) for text in flatten(values.get('thrust_curve'))]
    is_solid = np.array([bool(text) for text in texts])
    _check_alike(name, texts)
    places, heights = _points(name, next((text for text in texts if text), ''))
    largest, rate = (
        np.array(flatten(values[each]), dtype=float)
        for each in ('max_thrust', 'max_fuel_rate')
    )
    files = [str(each) for each in flatten(values['motor_file'])]

    def changes(x: FloatArray) -> dict[str, Any]:
        curve, peak = _text(places, x), float(x.max())
        # The specific impulse stays.
        flow = np.where(is_solid & (rate > 0.0), rate * peak / largest, rate)
        return {
            key: [curve if text else '' for text in texts],
            'max_thrust': np.where(is_solid, peak, largest).tolist(),
            # No rate changes if all motors have a specific impulse instead.
            **({'max_fuel_rate': flow.tolist()} if np.any(flow != rate) else {}),
            'motor_file': ['' if text else file for text, file in zip(texts, files, strict=True)],
        }

    count = len(heights)
    return _of_curve(
        name, (key, 'max_thrust', 'max_fuel_rate', 'motor_file'), 'N', heights, np.eye(count),
        np.abs(heights).max() / count, changes, 0.0,
    )


def _check_alike(
    name: str, texts: Sequence[Any],
    remedy: str = 'fit a recording of one of them with a description of it alone',
) -> None:
    """Raise `SourceError` if one fitted curve would replace several that differ."""
    curves = {str(text) for text in texts if text}
    if len(curves) > 1:
        raise SourceError(
            '--fit', f'{name!r}: expected the same curve for each actuator that has one, got '
            f'{len(curves)}; {remedy}'
        )


def _signed_table(name: str, values: Mapping[str, Any]) -> Free:
    """Return the thrusts of a table over the speed, except that at rest, which is 0."""
    for key in (_PLACES, _HEIGHTS):
        _check_alike(name, flatten(values[key]))
    speeds, thrusts = (
        np.array(numbers_of(key, str(flatten(values[key])[0]))) for key in (_PLACES, _HEIGHTS)
    )
    moves = np.flatnonzero(speeds)
    if len(moves) + 1 != len(speeds) or len(speeds) != len(thrusts):
        raise SourceError('--fit', f'{name!r}: expected {_PLACES} to begin with, with one 0')

    def changes(x: FloatArray) -> dict[str, Any]:
        heights = np.zeros(len(speeds))
        heights[moves] = x
        return {_HEIGHTS: [' '.join(f'{height:.10g}' for height in heights)]}

    start = thrusts[moves]
    return _of_curve(
        name, (_HEIGHTS,), 'N', start, np.eye(len(start)), np.abs(start).max() / len(start), changes
    )


def _points(name: str, text: str) -> tuple[FloatArray, FloatArray]:
    values = numbers_of(name, text)
    if len(values) < 4 or len(values) % 2:
        raise SourceError('--fit', f'{name!r}: expected points of a table to begin with')
    return np.array(values[::2]), np.array(values[1::2])


def _text(places: FloatArray, heights: FloatArray) -> str:
    return ' '.join(
        f'{place:.10g} {height:.10g}' for place, height in zip(places, heights, strict=True)
    )


def _of_curve(
    name: str, keys: tuple[str, ...], unit: str, start: FloatArray, estimates: FloatArray,
    scale: float, changes: Callable[[FloatArray], dict[str, Any]], lower: Any = -np.inf,
) -> Free:
    return numbers(
        name, keys, name.partition('.')[0], unit, start, lower, np.inf, max(float(scale), 1e-9),
        changes, tuple(f'{name}[{i}]' for i in range(len(start))), estimates,
    )


def check_start(values: Mapping[str, Any], free: Sequence[Free]) -> None:
    """Raise `ConfigError` if a fitted parameter is drawn at random from a range."""
    for each in free:
        for key in each.keys:
            if np.any(np.array(flatten(values.get(f'{key}_range')) or [0.0]) > 0.0):
                raise ConfigError(f'{key}_range', 'is drawn from a range; remove it to fit it')
