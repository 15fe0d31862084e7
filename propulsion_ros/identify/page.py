# SPDX-License-Identifier: Apache-2.0
"""One page of pictures of a fit: measured beside before and after, and what is left."""
from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from propulsion_ros.pictures.panels import Line, Page, Panel
from propulsion_ros.pictures.signals import PUBLISHED
from propulsion_ros.settings.quantity import FloatArray

if TYPE_CHECKING:
    from propulsion_ros.identify.problem import Channel
    from propulsion_ros.identify.session import Result

_POINTS = 4000
_ZOOM = 3.0
_MOST = 3


def draw_fit(result: Result, path: Path) -> None:
    """Write the page as a PNG; raise `SourceError` where it cannot be written."""
    # It needs matplotlib, which a fit does not.
    from propulsion_ros.pictures.picture import draw

    draw(page_of_fit(result), path)


def page_of_fit(result: Result) -> Page:
    """Return what is drawn of a fit."""
    problem, report = result.fit.problem, result.report
    begin = problem.setup.recording.begin
    times = [channel.time for channel in problem.channels]
    shown = textwrap.fill('   '.join(
        f'{name.partition(".")[2]}\xa0{each["value"]:.4g}\xa0{each["unit"]}'.strip()
        for name, each in report['estimates'].items() if each['value'] is not None
    ), 100)
    return Page(
        f'{Path(problem.setup.recording.name).name}: rms {report["rms_before"]:.3g} before, '
        f'{report["rms"]:.3g} {report["unit"]} after\n{shown}', 'time [s]',
        begin + min(float(time[0]) for time in times), begin + max(float(t[-1]) for t in times),
        panels=tuple(_panels(result, begin)),
    )


def _panels(result: Result, begin: float) -> Iterator[Panel]:
    problem = result.fit.problem
    for i, channel in enumerate(problem.channels[:_MOST]):
        before, after = (
            rows[i] + _offset(channel, rows[i]) for rows in (result.before, result.after)
        )
        lines = [('measured', channel.value), ('before', before), ('after', after)]
        what = f'{channel.name} [{channel.unit}]'
        yield Panel(what, tuple(_lines(lines, channel.time, begin)))
        span = _liveliest(channel)
        inside = (channel.time >= span[0]) & (channel.time <= span[1])
        yield Panel(
            f'{what}, {_ZOOM:g} s of it', tuple(_lines(
                [(name, value[inside]) for name, value in lines], channel.time[inside], begin
            )), (span[0] + begin, span[1] + begin),
        )
        residuals = [('before', channel.value - before), ('after', channel.value - after)]
        yield Panel(
            f'{channel.name}: residual [{channel.unit}]',
            tuple(_lines(residuals, channel.time, begin)),
        )
        yield _autocorrelation(result, i)


def _offset(channel: Channel, predicted: FloatArray) -> FloatArray:
    """Return what a rate begins with in each window, which no model predicts; else 0."""
    offset = np.zeros(len(predicted))
    if channel.windows is None:
        return offset
    offset[:] = np.nan
    for first in channel.windows.astype(int):
        cut = slice(first, first + channel.size)
        line = np.polyfit(channel.time[cut], (channel.value - predicted)[cut], 1)
        offset[cut] = np.polyval(line, channel.time[cut])
    return offset


def _lines(
    rows: list[tuple[str, FloatArray]], time: FloatArray, begin: float
) -> Iterator[Line]:
    step = max(1, len(time) // _POINTS)
    gaps = np.diff(time, prepend=time[:1]) > 0.2
    for name, value in rows:
        shown = np.where(gaps, np.nan, value)
        yield Line(name, PUBLISHED, begin + time[::step], shown[::step])


def _liveliest(channel: Channel) -> tuple[float, float]:
    """Return the seconds in which most happens."""
    time, value = channel.time, channel.value
    firsts = np.arange(time[0], max(time[-1] - _ZOOM, time[0] + 1e-6), 0.5 * _ZOOM)
    spreads = []
    for first in firsts:
        inside = (time >= first) & (time <= first + _ZOOM)
        spreads.append(float(np.std(value[inside])) if np.count_nonzero(inside) > 3 else 0.0)
    first = float(firsts[int(np.argmax(spreads))])
    return first, first + _ZOOM


def _autocorrelation(result: Result, i: int) -> Panel:
    """Return how the residuals of a channel go on: white ones are 0 but at the start."""
    from propulsion_ros.identify.fit import autocovariance

    problem = result.fit.problem
    channel = problem.channels[i]
    covariances = autocovariance(result.fit.residuals[problem.cuts[i]])
    time: FloatArray = np.arange(len(covariances), dtype=float)
    time *= float(np.median(np.diff(channel.time)))
    values = covariances / max(float(covariances[0]), 1e-300)
    step = max(1, len(time) // _POINTS)
    return Panel(
        f'{channel.name}: autocorrelation of the residual over the lag [s]',
        (Line('after', PUBLISHED, time[::step], values[::step]),),
        (0.0, float(time[-1]) or 1.0),
    )
