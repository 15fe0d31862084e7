# SPDX-License-Identifier: Apache-2.0
"""Advice on a fit: unidentifiable parameters, manoeuvres that excite them, suspicious data."""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from propulsion_ros.identify.fit import Fit, autocovariance, never_known, whiteness
from propulsion_ros.identify.prepare import factor_hint
from propulsion_ros.identify.problem import Channel, Problem
from propulsion_ros.identify.reading import IMU, STATE, Recording
from propulsion_ros.models.common.family import Allocatable, Family
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.hints import conversions
from propulsion_ros.settings.quantity import FloatArray, flatten

_LOW_SHARE = 0.6  # share of a channel that the model must explain to identify a parameter
_MOST_FROM = 0.8  # share of the information from poor channels that makes a parameter unknown
_LEVEL = 0.9  # share of a column's square in its mean, if the parameter shifts a whole channel
_UNSURE = 0.5  # relative standard deviation above which a parameter is not identified
_MOST_SHARE = 10.0  # largest relative standard deviation that is printed
_COLOURED = 0.5  # autocorrelation of residuals above which the form of the model is in doubt
_LEAST_UNEXPLAINED = 1e-3  # least unexplained share of a channel for that doubt
_TIED = 0.95  # correlation of two estimates that is worth a remark
_SAME = 0.99  # correlation of two estimates above which the data do not separate them
_ROUGH = 0.1  # relative standard deviation above which that matters
_RATIO = {'moment_constant', 'izz'}  # yaw shows only their ratio, other axes hardly more
_RATIO_ALIKE = 0.8  # correlation of these two above which the data do not separate them

_OF_SPEED = ('curve', 'motor_constant', 'rotor_constant')  # thrust over speed or throttle
_MANOEUVRES = (
    ('time_constant', 'steps of the command up and down, each held for half a second'),
    ('delay', 'sharp steps of the command, each held for half a second'),
    *((part, 'slow sweeps of the command from its smallest to its largest') for part in _OF_SPEED),
    ('moment_constant', 'steps in yaw to both sides, and izz from a pendulum or CAD'),
    ('izz', 'steps in yaw to both sides, and the torque over thrust from a test stand'),
    ('ixx', 'doublets in roll: full to one side, full to the other'),
    ('iyy', 'doublets in pitch: full forward, full back'),
    ('mass', 'none: weigh the vehicle'),
    ('drag_area', 'a fast coast without thrust, or level flight at several speeds'),
)
_OTHER = 'a flight or bench run in which it changes what is measured'
_SPEEDS = 'thrust and speed, as state.<name>.effort and .velocity, --measured state'
_UNMEASURED = {
    'motor_constant': _SPEEDS,
    'moment_constant': 'a measured torque about its axis',
}
"""What must be measured to identify a parameter that changes no channel."""


def explained(fit: Fit, of_level: bool = False) -> dict[str, float]:
    """Return the share of each channel's variance that the model explains, at most 1.

    With ``of_level`` it is the share of its mean square, which its level counts in.
    """
    problem = fit.problem
    shares = {}
    for i, (channel, cut) in enumerate(zip(problem.channels, problem.cuts, strict=True)):
        measured = problem.compared(channel, channel.value)
        measured = (measured - measured.mean() * (not of_level)) * problem.weights[i]
        total = float(measured @ measured)
        rest = float(fit.residuals[cut] @ fit.residuals[cut])
        is_none = total <= 0.0 or is_still(channel)
        shares[channel.name] = 0.0 if is_none else 1.0 - rest / total
    return shares


def is_still(channel: Channel) -> bool:
    """Return whether a channel never changes, as of a sensor that is off."""
    return bool(np.ptp(channel.value) <= _DEAD * np.abs(channel.value).max())


def has_one_sign(channel: Channel, predicted: FloatArray) -> bool:
    """Return whether a force keeps its sign although its prediction before the fit does not."""
    shares = [float(min(-low, high, key=abs) / max(-low, high, _NOTHING)) for low, high in (
        np.percentile(each, (1.0, 99.0)) for each in (predicted, channel.value))]
    return channel.unit == 'N' and shares[0] > _BOTH_WAYS > 2.0 * abs(shares[1])


def unidentified(fit: Fit) -> dict[str, str]:
    """Return the reason for each parameter that the data do not identify, by name."""
    found: dict[str, str] = {}
    moves, levels, problem = explained(fit), explained(fit, of_level=True), fit.problem
    off = dict(_other_sizes(fit))
    values, sd, never = fit.values, fit.sd, never_known(fit)
    for i, name in enumerate(problem.names):
        reason, key = '', name.rpartition('.')[2]
        shown_by = next((text for part, text in _MANOEUVRES if part in key), _OTHER)
        if name in fit.unknown:
            others = [other for other in _partners(fit, i) if other != name]
            user = problem.free_of(i).used_by
            reason = f'only together with {", ".join(others)}' if others else (
                'it changes nothing that was measured' + f'; only {user} uses it' * bool(user)
            )
            if not others:
                shown_by = _UNMEASURED.get(key, shown_by)
            elif name in never:
                reason += ', whatever the command'
                shown_by = _SPEEDS if any(
                    part in each for part in _OF_SPEED for each in (name, *others)
                ) else 'one of them from elsewhere, left out of --fit'
        elif twin := _twin(fit, i, is_rough=bool(sd[i] > _ROUGH * abs(values[i]))):
            reason = (
                f'only together with {twin}: their correlation is '
                f'{fit.correlation(i, problem.names.index(twin)):.3f}; with {twin} given it is '
                'fitted'
            )
        elif (names := [name for name, column in off.items() if column[i]]):
            reason, shown_by = f'{" and ".join(names)} has another size or sign', 'its unit'
        # A curve is known as a whole.
        elif (low := next(filter(None, (
            _poor_channels(fit, k, moves, levels) for k in range(len(values))
            if k == i or (problem.free_of(k) is problem.free_of(i) and problem.free_of(i).is_curve)
        )), '')):
            reason = f'too little excited: the model explains {low} of what moves'
        elif problem.free_of(i).is_curve:
            continue
        elif sd[i] > _UNSURE * abs(values[i]):
            share = sd[i] / max(abs(values[i]), 1e-300)
            size = f'{share:.0%} of it' if share < _MOST_SHARE else 'many times larger'
            reason = f'its standard deviation is {size}'
        if reason:
            found[name] = f'{reason}; would show it: {shown_by}'
    return found


def _other_sizes(fit: Fit) -> Iterator[tuple[str, FloatArray]]:
    """Yield channels of another unit or without a sign, and how much each parameter moves them."""
    problem, given = fit.problem, fit.problem.given
    for i, (channel, cut) in enumerate(zip(problem.channels, problem.cuts, strict=True)):
        if channel.windows is None:
            predicted = channel.value - fit.residuals[cut] / problem.weights[i]
            times, alike = _multiple(problem, channel, predicted)
            is_off = alike > _MULTIPLE and not 1.0 / _TIMES < times < _TIMES
            if is_off or has_one_sign(channel, given[i]):
                yield channel.name, np.abs(fit.jacobian[cut]).sum(axis=0)


def _twin(fit: Fit, i: int, *, is_rough: bool) -> str:
    """Return a parameter that the data do not separate from number i, '' for none."""
    problem = fit.problem
    for j, name in enumerate(problem.names):
        if problem.free_of(i) is problem.free_of(j):
            continue
        alike = abs(fit.correlation(i, j))
        is_ratio = {problem.free_of(k).keys[0] for k in (i, j)} == _RATIO
        if (is_rough and alike > _SAME) or (is_ratio and alike > _RATIO_ALIKE):
            return name
    return ''


def _poor_channels(
    fit: Fit, i: int, moves: dict[str, float], levels: dict[str, float]
) -> str:
    """Return the channels with most of the information on a parameter if the fit there is poor.

    A steady hover has no variance, but its level identifies what scales the whole thrust.
    """
    problem = fit.problem
    columns = [fit.jacobian[cut, i] for cut in problem.cuts]
    is_level = [_LEVEL * float(each @ each) < len(each) * float(each.mean())**2 for each in columns]
    shares = {
        each.name: (levels if level else moves)[each.name]
        for each, level in zip(problem.channels, is_level, strict=True)
    }
    sizes = np.array([float(np.sum(np.square(each))) for each in columns])
    if sizes.sum() <= 0.0:
        return ''
    poor = [shares[each.name] < _LOW_SHARE for each in problem.channels]
    if sizes[poor].sum() < _MOST_FROM * sizes.sum():
        return ''
    names = [
        f'{max(shares[each.name], 0.0):.0%} of {each.name}'
        for each, is_poor, size in zip(problem.channels, poor, sizes, strict=True)
        if is_poor and size > 0.1 * sizes.sum()
    ]
    return ' and '.join(names)


def _partners(fit: Fit, i: int) -> list[str]:
    """Return the parameters whose Jacobian columns combine to the column of parameter i."""
    jacobian = fit.jacobian * fit.problem.scale
    sizes = np.linalg.norm(jacobian, axis=0)
    if sizes[i] == 0.0:
        return []
    unit = jacobian / np.where(sizes > 0.0, sizes, 1.0)
    others = [j for j in range(unit.shape[1]) if j != i and sizes[j] > 0.0]
    if not others:
        return []
    part, *_ = np.linalg.lstsq(unit[:, others], unit[:, i], rcond=1e-8)
    return [fit.problem.names[j] for j, share in zip(others, part, strict=True)
            if abs(share) > 0.05]


def correlations(fit: Fit) -> dict[str, dict[str, float]]:
    """Return the correlations of all pairs of known estimates."""
    sd = fit.sd
    known = [i for i in range(len(sd)) if np.isfinite(sd[i]) and sd[i] > 0.0]
    names = fit.problem.names
    return {
        names[i]: {names[j]: round(fit.correlation(i, j), 4) for j in known if j != i}
        for i in known
    }


def sizes_of(fit: Fit) -> dict[str, float]:
    """Return the reference size of each estimate, by name: its own, or the largest of its curve."""
    sizes = np.abs(fit.values)
    owners = [fit.problem.free_of(i) for i in range(len(sizes))]
    return {
        name: float(max(size for size, each in zip(sizes, owners, strict=True) if each is own)
                    if own.is_curve and not own.units else sizes[i])
        for i, (name, own) in enumerate(zip(fit.problem.names, owners, strict=True))
    }


def held_by_bounds(fit: Fit) -> dict[str, str]:
    """Return the bound that a parameter ended at, for each that did, by name."""
    problem, found = fit.problem, dict[str, str]()
    for i, name in enumerate(problem.names):
        near = 1e-3 * problem.scale[i]
        for bound, word in ((problem.lower[i], 'smallest'), (problem.upper[i], 'largest')):
            if np.isfinite(bound) and bound and abs(fit.place[i] - bound) < near:
                found[name] = f'at its {word} value, {bound:.4g}'
    return found


def remarks(fit: Fit) -> Iterator[str]:
    """Yield remarks on a result: parameters at a bound, and correlated estimates."""
    problem = fit.problem
    held = held_by_bounds(fit)
    for i, name in enumerate(problem.names):
        if name in held:
            yield f'{name}: {held[name]}: the bound holds it'
        for j in range(i):
            both = fit.correlation(i, j)
            if abs(both) > _TIED and problem.free_of(i) is not problem.free_of(j):
                yield (
                    f'{problem.names[j]} and {name}: correlated by {both:.3f}, so that an error '
                    'of one is one of the other'
                )


def form_doubts(fit: Fit, values: Mapping[str, Any], is_chosen: bool) -> Iterator[str]:
    """Yield channels that another form of model may explain, as their residuals are correlated."""
    shares, fitted = explained(fit), {key for each in fit.problem.free for key in each.keys}
    remedy = f'try {"" if is_chosen else "--choose, or "}a curve with one coefficient more'
    if values.get('esc_gives') == 'speed' and 'esc_curve' not in fitted:
        remedy = ('with a column of speeds fit esc_curve, as a table, and motor_constant, '
                  f'--measured state; else {remedy}')
    for channel, cut in zip(fit.problem.channels, fit.problem.cuts, strict=True):
        alike, _ = whiteness(fit.residuals[cut])
        is_acting = channel.axis >= 0 or channel.name.startswith(STATE)
        if is_acting and channel.windows is None and alike > _COLOURED and (
            _LEAST_UNEXPLAINED < 1.0 - shares[channel.name] < 1.0 - _LOW_SHARE
        ):
            yield (
                f'{channel.name}: its residuals are correlated by {alike:.2g}, those of a right '
                f'model hardly: is the form of the model right? {remedy}'
            )


def whiteness_of(fit: Fit) -> dict[str, dict[str, float | bool]]:
    """Return how far the residuals of each channel are from white noise."""
    result: dict[str, dict[str, float | bool]] = {}
    for channel, cut in zip(fit.problem.channels, fit.problem.cuts, strict=True):
        part: FloatArray = fit.residuals[cut]
        largest, lasts = whiteness(part)
        step = float(np.median(np.diff(channel.time))) if len(channel.time) > 1 else 0.0
        result[channel.name] = {
            'largest_autocorrelation': round(largest, 4),
            'correlation_time': round(lasts * step, 4),
            'is_white': bool(largest < 3.0 / np.sqrt(max(len(part), 1))),
        }
    return result


_STILL = 0.005  # standard deviation of a constant command, over the largest command
_BOTH_WAYS = 0.1  # least share of the larger end of a prediction that changes sign
_DEAD = 1e-6  # range of a channel whose sensor is off, over its largest value
_CLEAR = 0.3  # least share of the turning that thrusts must explain
_ALIKE = 0.6  # least similarity (cosine) of the turning to the geometry in the best order
_MORE = 0.1  # least gain of explained turning in the best order, over all that thrusts explain
_MULTIPLE = 0.8  # correlation above which a channel is a multiple of its prediction
_YAW = 5  # row of the torque about z in a wrench
_TIMES = 4.0  # factor beyond which such a multiple means another unit
_AS_IF = 2.0  # factor within which the multiple is 1 in the right unit
_OFF = 1.1  # factor after the fit beyond which the size of a channel is not explained
_OFF_ALONE = 1.03  # the same of a channel that no fitted parameter changes
_NOTHING = 1e-9  # largest prediction that counts as 0
_UNITS = {'velocity': 'rad/s', 'effort': 'N'}  # of commands by their field
_PASSES = 2.0  # factor above the model's largest command that means another unit
_DEGREE = np.pi / 180.0  # one degree [rad]
_RPM = np.pi / 30.0  # one turn a minute [rad/s]
_PERCENTILE = 99.0  # percentile of a force that stands for its largest value [%]
_ABOVE = 1.05  # factor by which that must exceed a limit
_SPIKE = 5.0  # factor above the largest prediction from which few samples are spikes:
_SPIKES = 0.03  # at most this share of those in which the model makes a part of it,
_ACTIVE = 0.1  # at least this one
_REST = 1e-3  # share of the largest predicted force that counts as no thrust
_SETTLED = 0.3  # time without thrust until the real thrust has decayed too [s]
_FEWEST = 10  # least samples without thrust
_TARE = 0.01  # share of a force's range above which its level is a tare, not drift
_SURE = 3.0  # standard deviations of its mean beyond which a level is none by noise
_GAP = 0.05  # share of the throttle range without samples that counts as a gap


def command_doubts(recording: Recording, names: Sequence[str]) -> Iterator[str]:
    """Yield actuators without a command, and commands that never change."""
    lacking = [name for name in names if name not in recording.commands]
    if lacking:
        yield f'no command of {", ".join(lacking)} was recorded: taken as none; is one misspelt?'
    largest = max(
        (float(np.max(np.abs(each.value))) for each in recording.commands.values()), default=0.0
    )
    still = []
    for name, each in recording.commands.items():
        kept = each.value[recording.is_kept(each.time)]
        if len(kept) and float(np.std(kept)) <= _STILL * max(largest, 1e-12):
            still.append(name)
    if still:
        yield f'no excitation: the command of {", ".join(still)} does not change'


def limit_doubts(recording: Recording, model: Family) -> Iterator[str]:
    """Yield commands far above the model's limits, as if they had another unit."""
    if not isinstance(model, Allocatable):
        return
    ends = np.array([model.command_for(thrust) for thrust in model.thrust_limits])
    fields = dict(zip(model.command_names, model.command_fields, strict=True))
    for name, own in zip(model.actuator_names, ends.T, strict=True):
        if name not in recording.commands or fields.get(name) not in _UNITS:
            continue
        given, unit = recording.commands[name].value, _UNITS[fields[name]]
        for top, end, word in (
            (given.max(), own.max(), 'largest'), (given.min(), own.min(), 'lowest')
        ):
            if end and top / end > _PASSES:
                column, hint = recording.columns.get(name), ''
                if unit == 'rad/s' and column and column.factor is None:
                    hint = f': in rpm? factors.{column.name}: {_RPM:.5g}'
                yield f'command of {name} reaches {top:.4g}, its {word} is {end:.4g} {unit}{hint}'
                break


def clip_doubts(
    problem: Problem, after: Sequence[FloatArray], values: Mapping[str, Any]
) -> Iterator[str]:
    """Yield measured forces that the model cannot reach because a thrust limit clips it."""
    model, fitted = problem.model, {key for each in problem.free for key in each.keys}
    if not isinstance(model, Allocatable):
        return
    for channel, predicted in zip(problem.channels, after, strict=True):
        row = model.allocation_matrix[channel.axis] if channel.axis >= 0 else np.array([
            channel.name == f'{STATE}{name}.effort' for name in model.actuator_names
        ], float)
        acting = np.abs(row) > _NOTHING
        for key in ('max_thrust', 'min_thrust'):
            is_limit = key in values and key not in fitted
            # Actuators that push against each other have no largest force in common.
            if not is_limit or channel.axis > 2 or len(set(np.sign(row[acting]))) != 1:
                continue
            limit = float(row @ np.broadcast_to(flatten(values[key]), row.shape))
            way = np.sign(limit)
            top = float(np.percentile(way * channel.value, _PERCENTILE))
            if top > _ABOVE * abs(limit) > 0.0 and np.max(way * predicted) < _ABOVE * abs(limit):
                own = np.array(model.actuator_names)[acting]
                yield (
                    f'{channel.name} is up to {way * top:.3g} N, above {key} of {limit:.3g} N of '
                    f'{", ".join(own)}, which clips the model'
                )


def scale_doubts(problem: Problem, before: Sequence[FloatArray]) -> Iterator[str]:
    """Yield channels that are a multiple of their prediction before the fit."""
    if not any(np.abs(predicted).max() > _NOTHING for predicted in before):
        names = ', '.join(channel.name for channel in problem.channels)
        yield f'the commands make nothing of what was measured, {names}; is its axis wrong?'
    for channel, predicted in zip(problem.channels, before, strict=True):
        times, alike = _multiple(problem, channel, predicted)
        # Rates about x and y are judged by their geometry.
        is_off = not 1.0 / _TIMES < times < _TIMES if channel.windows is None else (
            channel.axis == _YAW and times < 0.0
        )
        if is_off and alike > _MULTIPLE:
            column = problem.setup.recording.columns.get(channel.name)
            # The multiple in the unit of the column, without the factor that was given.
            own = times / ((column and column.factor) or 1.0)
            units = {
                word: f'{meant / own:.6g}'
                for word, meant in [(channel.unit, abs(own)), *conversions(abs(own), channel.unit)]
                if 1.0 / _AS_IF < meant < _AS_IF
            }
            factor = (column and column.factor) or 0.0
            if channel.unit == 'rad/s' and factor and (pairs := round(times)) > 1:
                # The field turns once for each pair of poles.
                units = {f'electrical rad/s of {pairs} pole pairs': f'{factor / pairs:.6g}'}
            question = (
                f'is its sign wrong{", or each direction" * (channel.axis == _YAW)}?'
            ) if times < 0.0 else f'is it in {" or ".join(units) or channel.unit or "SI units"}?'
            if units and column:
                question += f' factors.{column.name}: {" or ".join(units.values())}'
            yield (
                f'{channel.name} is {times:.3g} times what the model makes of the commands before '
                f'the fit; {question}'
            )


def refuse_degrees(problem: Problem) -> None:
    """Raise `SourceError` for a gyroscope in degrees/s: the body turns faster than thrusts can."""
    turning, moments = problem.turning(problem.start), np.diag(problem.setup.body.inertia)[:2]
    if turning is None or not moments.all():
        return
    rates, columns, geometry, _ = turning
    predicted = (columns @ (geometry / moments[:, None]).T).ravel()
    size, cross = float(predicted @ predicted), float(predicted @ rates.ravel())
    times, alike = cross / max(size, 1e-300), cross / max(size**0.5 * np.linalg.norm(rates), 1e-300)
    if alike > _MULTIPLE and 1.0 / _AS_IF < times * _DEGREE < _AS_IF:
        recording = problem.setup.recording
        raise SourceError(recording.name, (
            f'gyro: the body turns {times:.3g} times as fast as the thrusts make it; it looks like '
            f'degrees/s: multiply by 0.0174533{factor_hint(recording, IMU[3:], _DEGREE)}; or are '
            'ixx and iyy wrong?'
        ))


def without_spikes(problem: Problem) -> tuple[Problem, list[str]]:
    """Return the comparison without the few samples far above all that the model can make.

    They would be taken for the noise of their channel. Many such samples have another unit.
    """
    recording, spans, found = problem.setup.recording, list[tuple[float, float, str]](), []
    for channel, predicted in zip(problem.channels, problem.given, strict=True):
        most = float(np.abs(predicted).max())
        far = np.abs(channel.value) > _SPIKE * most
        if channel.windows is None and most > _NOTHING and far.any() and (
            far.sum() <= _SPIKES * (np.abs(predicted) > _ACTIVE * most).sum()
        ):
            spans += [(time, time, '') for time in channel.time[far].tolist()]
            found.append(
                f'{channel.name}: {far.sum()} of {len(far)} values are above {_SPIKE * most:.4g} '
                f'{channel.unit}, {_SPIKE:g} times what the model makes at most, the first at '
                f'{recording.begin + spans[-far.sum()][0]:.3f} s: left out'
            )
    recording = replace(recording, skipped=(*recording.skipped, *spans))
    return (Problem(replace(problem.setup, recording=recording)) if spans else problem), found


def tare_doubts(
    problem: Problem, before: Sequence[FloatArray], fit: Fit | None = None
) -> Iterator[str]:
    """Yield forces that are not 0 while the model before the fit predicts none.

    After a fit: what it leaves of them, if no noise explains it and it moves an estimate.
    """
    for i, (channel, predicted) in enumerate(zip(problem.channels, before, strict=True)):
        is_pushed = np.abs(predicted) >= _REST * np.abs(predicted).max()
        last = np.maximum.accumulate(np.where(is_pushed, channel.time, -np.inf))
        is_rest = channel.time - last > _SETTLED
        is_load = channel.axis >= 0 or channel.unit == 'N'
        if not is_load or problem.setup.kind == 'imu' or is_rest.sum() < _FEWEST:
            continue
        left = fit.residuals[problem.cuts[i]] / problem.weights[i] if fit else channel.value
        level = float(np.median(left[is_rest]))
        spread = float(np.median(np.abs(left[is_rest] - level)))
        moved = _moved_by(fit, i, level, left[is_rest] - level) if fit else ''
        if moved or (not fit and abs(level) > max(_TARE * float(np.ptp(left)), spread)):
            column = problem.setup.recording.columns.get(channel.name)
            hint = f' zeros.{column.name}: {column.raw(level):.5g}' if column else ''
            yield (
                f'{channel.name} is {level:.4g} {channel.unit} where the commands make none; is '
                f'that the tare?{hint}{moved}'
            )


def _moved_by(fit: Fit, i: int, level: float, noise: FloatArray) -> str:
    """Return which estimates an offset of channel i moves by more than their error, '' for none."""
    problem, kernel = fit.problem, autocovariance(noise)
    error = np.sqrt(max(2.0 * kernel.sum() - kernel[0], kernel[0]) / len(noise))
    move = np.linalg.pinv(fit.jacobian * problem.scale, 1e-8)[:, problem.cuts[i]].sum(axis=1)
    moves = np.abs(level * problem.weights[i] * problem.estimates(move * problem.scale))
    names = ', '.join(np.array(problem.names)[moves > fit.sd])
    is_sure = bool(names and abs(level) > _SURE * error)
    return f'; it moves {names} by more than the standard deviation' * is_sure


def still_doubts(problem: Problem, before: Sequence[FloatArray]) -> Iterator[str]:
    """Yield channels that never change, or change sign, although their prediction does."""
    for channel, predicted in zip(problem.channels, before, strict=True):
        if has_one_sign(channel, predicted):
            side = 'below' if channel.value.mean() > 0.0 else 'above'
            yield (
                f'{channel.name} is never {side} 0, though the commands push both ways; does its '
                'sensor show only the size?'
            )
        if is_still(channel) and np.ptp(predicted) > _NOTHING:
            level = f'{channel.value[0]:.4g} {channel.unit}'
            yield f'{channel.name} never changes: it is {level} throughout; is its sensor on?'


def span_doubts(problem: Problem) -> Iterator[str]:
    """Yield that a throttle curve is fitted beyond the throttles that were commanded."""
    recording = problem.setup.recording
    if any('esc_curve' in each.keys for each in problem.free) and recording.commands:
        throttles = np.concatenate([
            each.value[recording.is_kept(each.time)] for each in recording.commands.values()
        ])
        low, high = float(throttles.min()), float(throttles.max())
        if low > _GAP or high < 1.0 - _GAP:
            yield f'commands span {low:.3g} to {high:.3g}: beyond them esc_curve is extrapolated'


def ratio_doubts(fit: Fit, after: Sequence[FloatArray]) -> Iterator[str]:
    """Yield channels that are a multiple of their prediction after the fit."""
    problem = fit.problem
    for channel, cut, predicted in zip(problem.channels, problem.cuts, after, strict=True):
        times, alike = _multiple(problem, channel, predicted)
        off = _OFF if fit.jacobian[cut].any() else _OFF_ALONE
        if channel.windows is None and alike > _MULTIPLE and not 1.0 / off < times < off:
            yield (
                f'{channel.name} is {times:.3g} times what the model makes of it after the fit: '
                'no fitted parameter explains its size, and others may be wrong by it; fit one '
                'that does, or leave its column out'
            )


def _multiple(problem: Problem, channel: Channel, predicted: FloatArray) -> tuple[float, float]:
    """Return a channel as a multiple of its prediction, and their correlation, at most 1."""
    value, predicted = (problem.compared(channel, each) for each in (channel.value, predicted))
    size, cross = float(predicted @ predicted), float(predicted @ value)
    alike = abs(cross) / max(np.sqrt(size * float(value @ value)), 1e-300)
    return cross / max(size, 1e-300), alike


def geometry_doubts(fit: Fit) -> Iterator[str]:
    """Yield actuators that seem swapped: each turns the body as another one would."""
    turning = fit.problem.turning(fit.place)
    if turning is None:
        return
    rates, columns, geometry, names = turning
    if len(rates) < 50 * len(names) or len(names) < 2:
        return
    effect, *_ = np.linalg.lstsq(columns, rates, rcond=1e-6)
    residuals = rates - columns @ effect
    clear = 1.0 - np.square(residuals).sum() / max(float(np.square(rates).sum()), 1e-300)
    alike = _unit(effect.T).T @ _unit(geometry)
    rows, order = linear_sum_assignment(-alike)
    best = float(alike[rows, order].sum()) / len(names)
    # Any order of actuators at one place, or with the same commands, explains as much.
    more = _explained(rates, columns, geometry[:, order]) - _explained(rates, columns, geometry)
    if clear > _CLEAR and best > _ALIKE and more > _MORE * clear:
        pairs = [f'{names[i]} as {names[j]}' for i, j in enumerate(order.tolist()) if i != j]
        yield (
            f'swapped? the body turns as if {", ".join(pairs)}: compare columns, names and '
            'positions'
        )


def _explained(rates: FloatArray, columns: FloatArray, geometry: FloatArray) -> float:
    """Return the share of rates, (r, 2), that thrusts explain by a geometry, (2, n)."""
    predicted = columns @ geometry.T
    scale = (predicted * rates).sum(axis=0) / np.maximum(np.square(predicted).sum(axis=0), 1e-300)
    residuals = np.square(rates - predicted * np.maximum(scale, 0.0)).sum()
    return float(1.0 - residuals / max(float(np.square(rates).sum()), 1e-300))


def _unit(rows: FloatArray) -> FloatArray:
    """Scale each axis by its largest value, then each column to length 1."""
    scaled = rows / np.maximum(np.abs(rows).max(axis=1, keepdims=True), 1e-300)
    return np.asarray(scaled / np.maximum(np.linalg.norm(scaled, axis=0), 1e-300))
