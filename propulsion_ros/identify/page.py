# SPDX-License-Identifier: Apache-2.0
"""A page of plots of a fit: measured, predicted before and after it, and residuals."""
from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from propulsion_ros.drawing.figure import PUBLISHED, Page, Panel, Trace
from propulsion_ros.identify.reading import STATE, WRENCH
from propulsion_ros.pictures.signals import with_unit
from propulsion_ros.settings.quantity import FloatArray

if TYPE_CHECKING:
    from propulsion_ros.identify.problem import Channel
    from propulsion_ros.identify.session import Result

_POINTS = 4000  # least points of a line that is thinned
_ZOOM = 3.0  # length of the span that is drawn once more, larger [s]
_MOST = 3  # most channels that are drawn
_FLAT = 0.01  # spread of a prediction that is not drawn, over the largest in its unit
_TINY = 1e-6  # the same, over the spread of its channel
_WIDE = 125  # width of the title [characters]
_COLOURS = {'measured': '#9aa3ab', 'before': '#e08a1e', 'after': '#1f5fa8'}
_WORDS = {
    'thrust': 'thrust along', 'force': 'force along', 'torque': 'torque about',
    'gyro': 'rate of turn about',
}


def page_of_fit(result: Result) -> Page:
    """Return the page of a fit."""
    problem = result.fit.problem
    begin = problem.setup.recording.begin
    times = [channel.time for channel in problem.channels]
    return Page(
        '\n'.join(textwrap.fill(line, _WIDE) for line in _title(result)), 'time [s]',
        begin + min(float(time[0]) for time in times), begin + max(float(t[-1]) for t in times),
        panels=tuple(_panels(result, begin)), beside=2,
    )


def _title(result: Result) -> Iterator[str]:
    """Yield lines of the title: robot and estimates, errors, and channels that are not drawn."""
    report, problem = result.report, result.fit.problem
    curves, found = report['curves'], []
    for name, each in report['estimates'].items():
        if each['value'] is not None and name.partition('[')[0] not in curves:
            found.append(with_unit(
                f'{name.partition(".")[2] or name} = {each["value"]:.4g} \u00b1 {each["sd"]:.2g}',
                each['unit'], '',
            ))
    for name, curve in curves.items():
        found.append(
            f'{name.partition(".")[2]} = {_polynomial(curve["coefficients"])} {curve["unit"]} '
            f'over the {curve["over"]} x'
        )
    of = f'{result.robot}: ' if result.robot else ''
    # A number and its unit stay on one line.
    yield of + (', '.join(each.replace(' ', '\xa0') for each in found) or 'nothing is identified')
    errors = [
        ('before the fit', 'rms_before'), ('after', 'rms'),
        ('on parts left out', 'cross_validation_rms'),
    ]
    yield f'{Path(problem.setup.recording.name).name}: error (rms) ' + ', '.join(
        f'{report[key]:.3g} {report["unit"]} {when}' for when, key in errors
        if report[key] is not None
    )
    drawn = _drawn(result)
    rest: dict[tuple[str, str], list[tuple[str, float]]] = {}
    for i, channel in enumerate(problem.channels):
        if i not in drawn:
            stem, _, axis = _words(channel.name).rpartition(' ')
            rest.setdefault((stem, channel.unit), []).append((axis, float(np.std(channel.value))))
    if rest:
        yield 'not drawn (standard deviations): ' + ', '.join(
            with_unit(f'{stem} {" ".join(axes)} {max(sizes):.2g}'.strip(), unit, '')
            for (stem, unit), each in rest.items() for axes, sizes in [zip(*each, strict=True)]
        )


def _drawn(result: Result) -> list[int]:
    """Return the indices of the first few channels that the model moves at all."""
    channels = result.fit.problem.channels
    moved = [
        max(float(np.std(rows[i])) for rows in (result.before, result.after))
        for i in range(len(channels))
    ]
    largest: dict[str, float] = {}
    for channel, size in zip(channels, moved, strict=True):
        largest[channel.unit] = max(largest.get(channel.unit, 0.0), size)
    lively = [
        i for i, channel in enumerate(channels)
        if moved[i] > max(_FLAT * largest[channel.unit], _TINY * float(np.std(channel.value)))
    ]
    return (lively or [0])[:_MOST]


def _polynomial(factors: Sequence[float]) -> str:
    powers = ('', ' x', ' x\u00b2', ' x\u00b3')
    terms = [
        f'{"-" if factor < 0.0 else "+"} {abs(factor):.4g}{powers[k] if k < 4 else f" x^{k}"}'
        for k, factor in enumerate(factors)
    ]
    return ' '.join(terms).removeprefix('+ ')


def _panels(result: Result, begin: float) -> Iterator[Panel]:
    """Yield for each channel its values and predictions, and below them the residuals."""
    for i in _drawn(result):
        channel = result.fit.problem.channels[i]
        before, after = (
            rows[i] + _offset(channel, rows[i]) for rows in (result.before, result.after)
        )
        shown = [('measured', channel.value), ('before', before), ('after', after)]
        left = [('before', channel.value - before), ('after', channel.value - after)]
        first, last = _liveliest(channel)
        span, what = (first + begin, last + begin), _words(channel.name)
        inside = (channel.time >= first) & (channel.time <= last)
        for heading, rows in ((what, shown), (f'{what}: measured less predicted', left)):
            near = [(name, value[inside]) for name, value in rows]
            scale = with_unit('', channel.unit).strip()
            yield Panel(
                heading, tuple(_lines(rows, channel.time, begin)), scale=scale, colours=_COLOURS
            )
            yield Panel(
                f'{heading}, {_ZOOM:g} s of it',
                tuple(_lines(near, channel.time[inside], begin)), span, scale, colours=_COLOURS,
            )


def _words(name: str) -> str:
    """Return the name of a channel in words."""
    stem, _, axis = name.removeprefix(WRENCH).replace('_', '.').rpartition('.')
    if stem in _WORDS:
        return f'{_WORDS[stem]} {axis}'
    owner, _, field = name.removeprefix(STATE).rpartition('.')
    return f'{field} of {owner}' if owner else {'climb': 'vertical speed'}.get(name, name)


def _offset(channel: Channel, predicted: FloatArray) -> FloatArray:
    """Return offset and drift of a rate in each window, which no model predicts; else 0."""
    offset = np.zeros(len(predicted))
    if channel.windows is None:
        return offset
    offset[:] = np.nan
    for cut in channel.windows:
        line = np.polyfit(channel.time[cut], (channel.value - predicted)[cut], 1)
        offset[cut] = np.polyval(line, channel.time[cut])
    return offset


def _lines(
    rows: list[tuple[str, FloatArray]], time: FloatArray, begin: float
) -> Iterator[Trace]:
    step = max(1, len(time) // _POINTS)
    gaps = np.diff(time, prepend=time[:1]) > 0.2
    for name, value in rows:
        shown = np.where(gaps, np.nan, value)
        yield Trace(name, PUBLISHED, begin + time[::step], shown[::step])


def _liveliest(channel: Channel) -> tuple[float, float]:
    """Return begin and end of the span in which a channel varies most [s]."""
    time, value = channel.time, channel.value
    firsts = np.arange(time[0], max(time[-1] - _ZOOM, time[0] + 1e-6), 0.5 * _ZOOM)
    spreads = []
    for first in firsts:
        inside = (time >= first) & (time <= first + _ZOOM)
        spreads.append(float(np.std(value[inside])) if np.count_nonzero(inside) > 3 else 0.0)
    first = float(firsts[int(np.argmax(spreads))])
    return first, first + _ZOOM
