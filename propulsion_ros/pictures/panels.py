# SPDX-License-Identifier: Apache-2.0
"""The page of an input: panels of its series, and the flight above them."""
from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

import numpy as np

from propulsion_ros.drawing.figure import (
    COLOURS,
    COMMAND,
    DECIDING,
    ESTIMATED,
    FITTED,
    FOUND,
    PREDICTED,
    PUBLISHED,
    RESIDUAL,
    ROUNDING,
    SAMPLED,
    Mark,
    Page,
    Panel,
    Span,
    Trace,
    most_moved,
    spans_where,
)
from propulsion_ros.graph.family_params import group_of
from propulsion_ros.graph.simulation import BODY
from propulsion_ros.pictures.signals import (
    DETECTED,
    LARGEST,
    OF_MOTION,
    OF_TANKS,
    QUANTITIES,
    Channel,
    Fit,
    FlightSignals,
    Rows,
    Signals,
    every,
)
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.quantity import FloatArray

_WALL_CLOCK = 1e6  # stamp above which time counts from 1970, and the page from its first one [s]
_PANELS = 60  # most panels of a page
_FITS = 30  # fits that are drawn in the phase flight
_AHEAD = 0.35  # share of that phase for which a fit is drawn ahead
_BACK = 2.0  # window of a fit [s]
_PARTS = 100  # least parts of a record of which medians are taken
_LONGEST_PART = 15  # most samples of a part, of which less than half may be a spike
_ZOOM = 3.0  # to either side of the apogee [s]
_DECISION = 'decision'
_MOTION = {'climb': 'velocity', 'lift': 'acceleration'}
_VETOES = {
    'lockout': ('lockout',),
    'fit not believed': ('shock', 'outliers', 'frozen', 'standstill', 'gap', 'no altitude'),
}
"""Reasons that kept a detector from deciding, and the words of its health for each."""
_ACTUATED = ('effort', 'velocity', 'position', 'rate')
_SHARED = ('mass', *OF_TANKS, 'voltage', 'current', 'percentage', 'climb', 'lift')
"""Quantities of which all sources are in one panel, as are those of a body's motion."""
_LISTED = 4  # most names in a title


def page_of(
    signals: Signals,
    title: str | None = None,
    begin: float = -math.inf,
    end: float = math.inf,
    *,
    compares: bool = False,
) -> Page:
    """Return the page of an input.

    ``title`` stands above the page instead of the name of the input and the apogee; ``begin`` and
    ``end`` [s] are the part of the time axis that is drawn. With ``compares``, sources with the
    same actuators share a panel, of the actuator that moves most.

    Raises
    ------
    SourceError
        If there is nothing to draw, or too much.
    """
    flight, cut = signals.flight, cut_of(signals, begin, end)
    phases = cut.spans(flight.phases)
    fits = _fits_in_flight(flight, cut, phases)
    has_flight = bool(flight.phases or flight.fits)
    panels = tuple(_panels(signals, cut, fits, has_flight, compares))
    if len(panels) > _PANELS:
        raise SourceError(
            signals.name, f'expected at most {_PANELS} panels, got {len(panels)}; choose some of '
            'the input by its namespace'
        )
    shown = _flight_panels(signals, cut, fits) if has_flight else ()
    if not panels and not shown:
        raise SourceError(
            signals.name, f'expected values between {cut.begin:g} and {cut.end:g} s, got none'
        )
    return Page(
        title=_title(signals, cut.origin) if title is None else title,
        time_label=f'time after {cut.origin} s [s]' if cut.origin else 'time [s]',
        begin=cut.begin,
        end=cut.end,
        above=shown,
        panels=panels,
        phases=phases,
        marks=tuple(mark for mark in map(cut.mark, flight.marks) if cut.has(mark.time)),
        origin=cut.origin,
    )


def moving(page: Page) -> Page:
    """Return a page without panels that are 0 all the time, which its title names.

    One panel is kept if nothing moves at all.
    """
    names = [panel.heading.partition(' [')[0] for panel in page.panels if _is_still(panel)]
    if not names:
        return page
    few = ', '.join(names[:_LISTED]) + ', ...' * (len(names) > _LISTED)
    shown = tuple(panel for panel in page.panels if not _is_still(panel))
    if not (shown or page.above):
        shown = page.panels[:1]
    return replace(page, title=f'{page.title} (0 all the time: {few})', panels=shown)


def _is_still(panel: Panel) -> bool:
    return not any(np.any(np.abs(trace.y) > ROUNDING) for trace in panel.traces)


def flight_page(signals: Signals) -> Page:
    """Return the page of a flight alone, from before liftoff until after apogee and events."""
    flight, origin = signals.flight, cut_of(signals).origin
    begin = min((mark.time - 1.0 for mark in flight.marks), default=span_of(signals)[0])
    end = min(
        (time + max(4.0, 0.3 * (time - begin)) for time, _ in flight.detections), default=math.inf
    )
    # A vehicle lands after its last event.
    end = max([end, *(time + max(4.0, 0.5 * (time - begin)) for time, _ in flight.marks)])
    page = page_of(signals, begin=begin - origin, end=end - origin)
    if (last := span_of(signals)[1]) > end:
        page = replace(page, time_label=f'{page.time_label}; the log ends at {last - origin:.1f} s')
    return replace(page, panels=()) if page.above else page


def span_of(signals: Signals) -> tuple[float, float]:
    """Return the first and the last time of an input [s]."""
    times = [row[0] for rows in signals.rows.values() for row in rows]
    # Phases do not count: they are latched, and may be much older than the recording.
    times += [fit.time for fit in signals.flight.fits]
    if not times:
        raise SourceError(signals.name, 'expected values to plot, got none')
    return min(times), max(times)


@dataclass(frozen=True)
class Cut:
    """The part of the time axis that is drawn, and the stamp from which it counts [s]."""

    origin: int
    begin: float
    end: float

    def has(self, time: float) -> bool:
        """Return whether a time of the axis [s] is drawn."""
        return self.begin <= time <= self.end

    def mark(self, mark: Mark) -> Mark:
        """Return a mark at its time on the axis."""
        return Mark(mark.time - self.origin, mark.name)

    def points(self, points: Iterable[tuple[float, float]]) -> tuple[tuple[float, float], ...]:
        """Return the points that are drawn, at their times on the axis [s]."""
        shifted = ((time - self.origin, value) for time, value in points)
        return tuple(point for point in shifted if self.has(point[0]) and abs(point[1]) < LARGEST)

    def trace(self, label: str, role: str, rows: Rows, turn: float = math.inf) -> Trace:
        """Return a trace, broken where time goes back; a command holds until the next.

        It is broken too where it jumps by more than half a ``turn``, in its unit.
        """
        time, value = np.array(rows).T
        time = time - self.origin
        value = np.where(np.abs(value) < LARGEST, value, np.nan)
        if role == COMMAND:
            time, value = self._held(time, value)
        inside = (time >= self.begin) & (time <= self.end)
        time, value = time[inside], value[inside]
        jumps = (np.diff(time) < 0.0) | (np.abs(np.diff(value)) > 0.5 * turn)
        at = np.flatnonzero(jumps) + 1
        return Trace(label, role, np.insert(time, at, np.nan), np.insert(value, at, np.nan))

    def _held(self, time: FloatArray, value: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return commands, with those that hold at the beginning and the end of the part."""
        following = np.append(time[1:], math.inf)
        is_carried = (time < self.begin) & (following > self.begin)
        last = np.flatnonzero((time < self.end) & (following > self.end))
        time = np.where(is_carried, self.begin, time)
        return np.insert(time, last + 1, self.end), np.insert(value, last + 1, value[last])

    def spans(self, changes: Sequence[Mark]) -> tuple[Span, ...]:
        """Return the spans of each name, without the parts that are not drawn."""
        spans: list[Span] = []
        shifted = [self.mark(change) for change in changes]
        for i, (time, name) in enumerate(shifted):
            until = shifted[i + 1].time if i + 1 < len(shifted) else self.end
            begin, end = max(time, self.begin), min(until, self.end)
            if spans and spans[-1].name == name and spans[-1].end == begin:
                spans[-1] = Span(spans[-1].begin, max(end, begin), name)
            elif begin < end:
                spans.append(Span(begin, end, name))
        return tuple(spans)


def cut_of(signals: Signals, begin: float = -math.inf, end: float = math.inf) -> Cut:
    """Return the part of an input from ``begin`` to ``end`` [s] of the time axis of its page.

    Raises `SourceError` if the input has none of it.
    """
    first, last = span_of(signals)
    origin = math.floor(first) if first > _WALL_CLOCK else 0
    begin, end = max(begin, first - origin), min(end, last - origin)
    if not begin <= end:
        raise SourceError(
            signals.name,
            f'expected a part of {first - origin:g} to {last - origin:g} s, got none of it',
        )
    return Cut(origin, begin, max(end, begin + 1e-3))


def _title(signals: Signals, origin: int) -> str:
    """Return the name of the input, and the last apogee if there is one."""
    words = []
    for time, altitude in signals.flight.vertices[-1:]:
        height = f' {altitude:.1f} m' if abs(altitude) < LARGEST else ''
        words.append(f'apogee{height} at {time - origin:.2f} s')
    for time, source in signals.flight.detections[-1:]:
        if source == DETECTED:
            words.append(f'detected at {time - origin:.2f} s')
        else:
            words = [f'no apogee detected, {source} at {time - origin:.2f} s']
    name = PurePath(signals.name).stem
    return f'{name}: {", ".join(words)}' if words else name


def _fits_in_flight(flight: FlightSignals, cut: Cut, phases: Sequence[Span]) -> list[Fit]:
    """Return the fits in the phase flight, or all of them if phases are not known."""
    spans = [span for span in phases if span.name == 'flight']
    fits = (fit._replace(time=fit.time - cut.origin) for fit in flight.fits)
    return [
        fit for fit in fits
        if cut.has(fit.time) and (
            not phases or any(span.begin <= fit.time <= span.end for span in spans)
        )
    ]


def _panels(
    signals: Signals, cut: Cut, fits: Sequence[Fit], has_flight: bool, compares: bool
) -> Iterable[Panel]:
    """Yield a panel for each quantity of each source, ordered by source."""
    rows = _with_rates(_beside_the_bodies(_beside_the_allocated(signals.rows)))
    estimates = _estimating(signals.rows)
    for alike, quantity in _comparisons(rows) if compares else ():
        shown, panel = _comparison(rows, alike, quantity, estimates, cut)
        rows = {channel: values for channel, values in rows.items() if channel not in shown}
        yield panel
    ordered = sorted(rows, key=lambda channel: channel.role != PUBLISHED)
    sources = sorted({channel.source for channel in rows})
    groups: list[tuple[str | None, str]] = [(None, quantity) for quantity in OF_MOTION]
    groups += [
        (source, quantity) for source in sources for quantity in QUANTITIES
        if quantity not in (*OF_MOTION, *_SHARED)
    ]
    groups += [(None, quantity) for quantity in _SHARED]
    has_mass = any(channel.quantity == 'mass' for channel in rows)
    for source, quantity in groups:
        is_elsewhere = has_flight and quantity in ('altitude', 'place')
        if is_elsewhere or (quantity == 'fuel_ratio' and has_mass):
            continue
        channels = [
            c for c in ordered if c.quantity == quantity and source in (None, c.source)
        ]
        turn = 360.0 if quantity == 'attitude' else math.inf
        traces = [cut.trace(_label(c, channels), c.role, rows[c], turn) for c in channels]
        if fits and quantity in _MOTION:
            fitted = [(fit.time + cut.origin, getattr(fit, _MOTION[quantity])) for fit in fits]
            traces.append(cut.trace('fit', PUBLISHED, fitted))
        traces = [trace for trace in traces if trace.x.size]
        if traces:
            heading = _heading(source, quantity, channels, rows)
            if source in estimates:
                heading = heading.replace(': applied ', ': estimated ')
            dashed = 'target' if quantity in OF_MOTION else COMMAND
            yield Panel(heading, tuple(traces), dashed=dashed)


def _comparisons(rows: Iterable[Channel]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield sources that have the same actuators, and a quantity that several of them publish."""
    known = [channel for channel in rows if channel.role == PUBLISHED]
    actuators: dict[str, set[str]] = {}
    for channel in known:
        if channel.quantity in _ACTUATED:
            actuators.setdefault(channel.source, set()).add(channel.name)
    alike: dict[tuple[str, frozenset[str]], list[str]] = {}
    for source, names in actuators.items():
        # Actuators of two vehicles are different, whatever their names.
        alike.setdefault((source.rpartition('/')[0], frozenset(names)), []).append(source)
    for sources in alike.values():
        for quantity in (*_ACTUATED, 'force', 'torque'):
            having = {c.source for c in known if c.source in sources and c.quantity == quantity}
            if len(having) > 1:
                yield tuple(sorted(having)), quantity


def _comparison(
    rows: Mapping[Channel, Rows], sources: Sequence[str], quantity: str, estimates: set[str],
    cut: Cut,
) -> tuple[set[Channel], Panel]:
    """Return the compared channels, and a panel of the name that moves most, by source."""
    compared = {c for c in rows if c.source in sources and c.quantity == quantity}
    moved = most_moved(
        cut.trace(c.name, c.role, rows[c]) for c in sorted(compared) if c.role == PUBLISHED
    )
    name = max(moved, key=lambda name: moved[name])
    traces = tuple(
        cut.trace(f'{c.source}, estimated' if c.source in estimates else c.source, c.role, rows[c])
        for c in sorted(compared, key=lambda c: (c.role != PUBLISHED, c.source)) if c.name == name
    )
    words = QUANTITIES[quantity].removeprefix('applied ')
    of = 'of' if quantity in _ACTUATED else 'along'
    vehicle, (what, bracket, unit) = sources[0].rpartition('/')[0], words.partition(' [')
    return compared, Panel(
        f'{vehicle}{": " if vehicle else ""}{what} {of} {name}{bracket}{unit}, which moves most of '
        f'{len(moved)}', tuple(trace for trace in traces if trace.x.size),
    )


def _estimating(rows: Iterable[Channel]) -> set[str]:
    """Return the sources that publish a wrench and a residual, which are estimators."""
    wrenches, missing = (
        {c.source for c in rows if c.quantity == 'force' and c.role == role}
        for role in (PUBLISHED, RESIDUAL)
    )
    return wrenches & missing


def _beside_the_allocated(rows: Mapping[Channel, Rows]) -> dict[Channel, Rows]:
    """Return the series, with those of an allocator under the group that it commands."""
    sources = {channel.source for channel in rows}
    groups = {
        source: group for source in sources
        if (group := group_of(source)) != source and group in sources
    }
    return {
        channel._replace(source=groups.get(channel.source, channel.source)): values
        for channel, values in rows.items()
    }


def _beside_the_bodies(rows: Mapping[Channel, Rows]) -> dict[Channel, Rows]:
    """Return the series, with a motion that another node estimates under the body that moves."""
    found: dict[Channel, Rows] = {}
    for channel, values in rows.items():
        body = channel._replace(source=f'{channel.source.rpartition("/")[0]}/{BODY}'.lstrip('/'))
        estimated = body._replace(role=ESTIMATED)
        is_estimated = channel.quantity in OF_MOTION and channel != body and body in rows
        found[estimated if is_estimated and estimated not in found else channel] = values
    return found


def _with_rates(rows: Mapping[Channel, Rows]) -> dict[Channel, Rows]:
    """Return the series, with the speed of what has an angle, and is slow, as its rate."""
    return {
        c._replace(quantity='rate') if c.quantity == 'velocity'
        and c._replace(quantity='position') in rows else c: values for c, values in rows.items()
    }


def _label(channel: Channel, beside: Sequence[Channel]) -> str:
    """Return the name of a trace, with its source if the panel has several sources."""
    is_alone = len({c.source for c in beside}) == 1
    return channel.name if is_alone else f'{channel.source} {channel.name}'


def _heading(
    source: str | None, quantity: str, channels: Sequence[Channel], present: Mapping[Channel, Rows]
) -> str:
    words = QUANTITIES[quantity]
    if quantity == 'effort':
        own = {(c.source, c.name) for c in channels}
        angles = [c for c in present if c.quantity == 'position' and c.role == PUBLISHED
                  and (c.source, c.name) in own]
        # An actuator that turns may produce lift, which is no thrust.
        if angles and not _are_valves(angles, present):
            words = 'effort [N]'
    if quantity == 'position' and _are_valves(channels, present):
        words = 'valve open'
    elif quantity == 'position' and all(c.role == COMMAND for c in channels):
        # What moves publishes its angle, so that a command of what only pushes is a throttle.
        pushing = {(c.source, c.name) for c in present
                   if c.quantity == 'effort' and c.role == PUBLISHED}
        if pushing >= {(c.source, c.name) for c in channels}:
            words = 'throttle'
        elif all(not (value < 0.0 or value > 1.0) for c in channels for _, value in present[c]):
            words = 'throttle, or angle [rad]'
    if all(c.role != PUBLISHED for c in channels):
        words = words.removeprefix('applied ')
    return f'{source}: {words}' if source else words


def _are_valves(channels: Iterable[Channel], present: Mapping[Channel, Rows]) -> bool:
    """Return whether positions are of valves: each is 0 or 1, and one of them takes both values."""
    values = [{value for _, value in present[c]} for c in channels]
    return {0.0, 1.0} in values and all(each <= {0.0, 1.0} for each in values)


def _flight_panels(signals: Signals, cut: Cut, fits: Sequence[Fit]) -> tuple[Panel, ...]:
    """Return the panels of a flight, none without an altitude."""
    flight = signals.flight
    altitudes = [
        cut.trace(channel.source or channel.name, PUBLISHED, rows)
        for channel, rows in signals.rows.items()
        if channel.quantity == 'altitude' or channel[1:3] == ('place', 'z')
    ]
    if not altitudes and fits:
        fitted = [(fit.time + cut.origin, fit.altitude) for fit in fits]
        altitudes = [cut.trace('fit', PUBLISHED, fitted)]
    altitudes = [trace for trace in altitudes if trace.x.size]
    if not altitudes:
        return ()
    length = max(fits[-1].time - fits[0].time, 1.0) if fits else 1.0
    chosen = every(fits, length / _FITS)
    times = {fit.time for fit in chosen}
    panel = flight_panel(
        altitudes,
        [mark for mark in map(cut.mark, flight.detections) if cut.has(mark.time)],
        cut.points(flight.vertices),
    )
    bands = _health_spans([cut.mark(mark) for mark in flight.health], cut.end)
    # The detector itself does not believe what it predicts in a band.
    times -= {time for time in times if any(band.begin <= time < band.end for band in bands)}
    predictions = cut.points(
        (time, altitude) for made, time, altitude in flight.predictions
        if made - cut.origin in times and time > made
    )
    ahead = max(_AHEAD * length, 2.0)
    traces = (
        *(_parabola(fit, ahead) for fit in chosen), *altitudes,
        *_points('apogee predicted', PREDICTED, predictions), *panel.of(FOUND),
    )
    has_legend = bool(chosen or bands or len(altitudes) > 1)
    whole = replace(
        panel, traces=traces, bands=tuple(bands), legend='beside' if has_legend else ''
    )
    return (whole, *apogee_panels(panel, fits))


def flight_panel(
    altitudes: Sequence[Trace], detections: Sequence[Mark],
    vertices: Sequence[tuple[float, float]],
) -> Panel:
    """Return the panel of altitudes, with the decisions on apogee and the vertices."""
    known = np.concatenate([_without_spikes(trace.y[np.isfinite(trace.y)]) for trace in altitudes])
    limits = (0.0, 1.0)
    if known.size:
        low, high = float(known.min()), float(known.max())
        span = max(high - min(low, 0.0), 10.0)
        limits = min(low, 0.0) - 0.08 * span, min(low, 0.0) + 1.3 * span
    return Panel(
        'altitude [m]', (*altitudes, *_points('apogee found', FOUND, vertices)), limits=limits,
        events=tuple(
            Mark(time, _DECISION if source == DETECTED else f'{_DECISION} by {source}')
            for time, source in detections
        ),
        colours={altitudes[0].label: COLOURS['altitude']},
    )


def _without_spikes(values: FloatArray) -> FloatArray:
    """Return the medians of short parts, so that a spike does not set the scale."""
    size = min(len(values) // _PARTS, _LONGEST_PART) | 1
    parts = values[:len(values) // size * size].reshape(-1, size)
    return np.asarray(np.median(parts, axis=1))


def apogee_panels(flight: Panel, fits: Sequence[Fit]) -> tuple[Panel, ...]:
    """Return the altitude about the last decision with the fit that decided, () without one."""
    if not flight.events:
        return ()
    centre, decision = flight.events[-1]
    sampled, values = [], []
    for trace in flight.series:
        inside = (np.abs(trace.x - centre) <= _ZOOM) & np.isfinite(trace.y)
        sampled.append(Trace(trace.label, SAMPLED, trace.x[inside], trace.y[inside]))
        values.append(trace.y[inside & (trace.x <= centre + 1.0)])
    known, limits = np.concatenate(values), None
    if known.size:
        low, high = np.percentile(known, (2.0, 98.0))
        margin = 0.4 * max(high - low, 1.0)
        limits = low - margin, high + margin
    is_found = decision == _DECISION
    deciding = next((fit for fit in reversed(every(fits, 0.0)) if fit.time <= centre), None)
    parabola = () if deciding is None or not is_found else (
        replace(_parabola(deciding, 1.0), label='parabola that decided', role=DECIDING),
    )
    return (replace(
        flight, heading=f'altitude [m] about the {"apogee" if is_found else decision}',
        limits=limits, legend='inside',
        traces=(*sampled, *parabola, *flight.of(FOUND)), span=(centre - _ZOOM, centre + _ZOOM),
    ),)


def _parabola(fit: Fit, ahead: float) -> Trace:
    """Return a fit from its window on to ``ahead`` after its time [s]."""
    t = np.linspace(-_BACK, ahead, 80)
    altitude = fit.altitude + fit.velocity * t + 0.5 * fit.acceleration * t**2
    return Trace('parabolas fitted to it', FITTED, fit.time + t, altitude)


def _points(label: str, role: str, points: Sequence[tuple[float, float]]) -> Iterator[Trace]:
    if points:
        yield Trace(label, role, *np.transpose(points))


def _health_spans(states: Sequence[Mark], end: float) -> list[Span]:
    """Return the spans in which the health of a detector, a mark a sample, prevented a decision."""
    time, words = np.array([state.time for state in states]), [state.name for state in states]
    return [
        span for name, vetoes in _VETOES.items()
        for span in spans_where(np.array([word in vetoes for word in words], bool), time, name, end)
    ]
