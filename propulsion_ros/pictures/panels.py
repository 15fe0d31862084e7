# SPDX-License-Identifier: Apache-2.0
"""What is on a page of plots: panels with their lines, and the flight above them, as data."""
from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath

import numpy as np

from propulsion_ros.graph.family_params import group_of
from propulsion_ros.pictures.signals import (
    COMMAND,
    LARGEST,
    OF_TANKS,
    PUBLISHED,
    QUANTITIES,
    RESIDUAL,
    Channel,
    Fit,
    FlightSignals,
    Mark,
    Rows,
    Signals,
    Span,
    every,
)
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.quantity import FloatArray

_WALL_CLOCK = 1e6
"""Stamps beyond it count from 1970 [s]; the page counts from its first one."""
_PANELS = 60
"""More are no page: a picture has an end."""
_NAMED, _CHOSEN = 6, 3
"""A panel with more than so many names has colours and names for those few that move most."""
_FITS = 30  # drawn in the phase flight
_AHEAD = 0.35  # the part of that phase that a fit foresees
_FITTED = {'climb': 'velocity', 'lift': 'acceleration'}
_VETOES = {
    'lockout': ('lockout',),
    'fit not believed': ('shock', 'outliers', 'frozen', 'standstill', 'gap', 'no altitude'),
}
"""What kept a detector from deciding, and the words of its health for it."""
_ACTUATED = ('effort', 'velocity', 'position')
_SHARED = (
    'mass', *OF_TANKS, 'voltage', 'current', 'percentage', 'place', 'climb', 'lift',
)
"""Quantities of which all sources are in one panel."""


@dataclass(frozen=True)
class Line:
    """One series of a panel."""

    label: str
    """Lines of one label have one colour."""
    role: str
    """As of `Channel`."""
    time: FloatArray
    value: FloatArray
    """[s] on the time axis of the page, and the value; NaN where time goes back."""


@dataclass(frozen=True)
class Panel:
    """Lines of one quantity over time."""

    heading: str
    lines: tuple[Line, ...]
    span: tuple[float, float] | None = None
    """Part of the time that it shows [s]; None for that of the page."""
    scale: str = ''
    """What is beside its axis: a quantity with its unit, where the heading has none."""
    dashed: str = COMMAND
    """What a dashed line is that has the label of a solid one."""
    colours: Mapping[str, str] = field(default_factory=dict)
    """Of labels that have the same one in all panels."""

    @property
    def names(self) -> tuple[str, ...]:
        """Each label once."""
        return tuple(dict.fromkeys(line.label for line in self.lines))

    @property
    def named(self) -> tuple[str, ...]:
        """The labels that are shown: all of a few, of many those that move most."""
        names = self.names
        if len(names) <= _NAMED:
            return names
        moved = most_moved(self.lines)
        chosen = sorted(names, key=lambda name: -moved[name])[:_CHOSEN]
        return tuple(name for name in names if name in chosen)


def most_moved(lines: Iterable[Line]) -> dict[str, float]:
    """Return how far the lines of each label move, in their unit."""
    moved: dict[str, float] = {}
    for line in lines:
        known = line.value[np.isfinite(line.value)]
        far = float(np.ptp(known)) if known.size else 0.0
        moved[line.label] = max(moved.get(line.label, 0.0), far)
    return moved


@dataclass(frozen=True)
class FlightPanel:
    """Altitude with what the flight logic made of it."""

    lines: tuple[Line, ...]
    """Altitudes."""
    fits: tuple[Fit, ...] = ()
    """Some of the successive ones."""
    ahead: float = 0.0
    """How far each is drawn beyond its time [s]."""
    deciding: Fit | None = None
    """The last one of the last detection."""
    health: tuple[Span, ...] = ()
    """Where the detector was kept from deciding."""
    predictions: tuple[tuple[float, float], ...] = ()
    vertices: tuple[tuple[float, float], ...] = ()
    """Time and altitude of the vertex of each of `fits` while climbing, and as decided."""
    detections: tuple[float, ...] = ()
    """When apogee was decided."""


@dataclass(frozen=True)
class Page:
    """Everything that is drawn."""

    title: str
    time_label: str
    """Above the page, and below its time axes."""
    begin: float
    end: float
    """Of the time axes [s]."""
    flight: FlightPanel | None = None
    """Where there is flight logic."""
    panels: tuple[Panel, ...] = ()
    """The others."""
    phases: tuple[Span, ...] = ()
    """Behind all of them."""
    marks: tuple[Mark, ...] = ()
    """Across all of them."""
    origin: int = 0
    """What the time axis counts from, in stamps [s]."""
    beside: int = 0
    """Panels in a row; 0: by how many there are."""


def page_of(
    signals: Signals,
    title: str | None = None,
    begin: float = -math.inf,
    end: float = math.inf,
    *,
    compares: bool = False,
) -> Page:
    """Return the page of what an input has.

    Parameters
    ----------
    signals : Signals
        What it has.
    title : str, optional
        Above the page instead of the name of the input and the apogee.
    begin, end : float
        Part of the time axis that is drawn, in its time [s].
    compares : bool
        Whether sources with the same actuators share a panel, of what moves most.

    Raises
    ------
    SourceError
        Where there is nothing to draw, or too much.
    """
    flight = signals.flight
    first, last = span_of(signals)
    origin = _origin(first)
    begin, end = max(begin, first - origin), min(end, last - origin)
    if not begin <= end:
        raise SourceError(
            signals.name,
            f'expected a part of {first - origin:g} to {last - origin:g} s, got none of it',
        )
    cut = _Cut(origin, begin, max(end, begin + 1e-3))
    phases = cut.spans(flight.phases)
    fits = _fits_in_flight(flight, cut, phases)
    has_flight = bool(flight.phases or flight.fits)
    panels = tuple(_panels(signals, cut, fits, has_flight, compares))
    if len(panels) > _PANELS:
        raise SourceError(
            signals.name, f'expected at most {_PANELS} panels, got {len(panels)}; choose some of '
            'the input by its namespace'
        )
    shown = _flight_panel(signals, cut, fits) if has_flight else None
    if not panels and shown is None:
        raise SourceError(
            signals.name, f'expected values between {cut.begin:g} and {cut.end:g} s, got none'
        )
    return Page(
        title=_title(signals, origin) if title is None else title,
        time_label=f'time after {origin} s [s]' if origin else 'time [s]',
        begin=cut.begin,
        end=cut.end,
        flight=shown,
        panels=panels,
        phases=phases,
        marks=tuple(mark for mark in map(cut.mark, flight.marks) if cut.has(mark.time)),
        origin=origin,
    )


def flight_page(signals: Signals) -> Page:
    """Return the page of a flight alone, from shortly before liftoff until after the apogee."""
    flight, origin = signals.flight, _origin(span_of(signals)[0])
    begin = min((mark.time - 1.0 for mark in flight.marks), default=span_of(signals)[0])
    end = min(
        (time + max(4.0, 0.3 * (time - begin)) for time in flight.detections), default=math.inf
    )
    page = page_of(signals, begin=begin - origin, end=end - origin)
    return page if page.flight is None else replace(page, panels=())


def span_of(signals: Signals) -> tuple[float, float]:
    """Return the first and the last time of an input [s]."""
    times = [row[0] for rows in signals.rows.values() for row in rows]
    # Not phases: they are latched, and may be of long before the recording.
    times += [fit.time for fit in signals.flight.fits]
    if not times:
        raise SourceError(signals.name, 'expected values to plot, got none')
    return min(times), max(times)


def _origin(first: float) -> int:
    """Return what the time axis counts from [s]."""
    return math.floor(first) if first > _WALL_CLOCK else 0


@dataclass(frozen=True)
class _Cut:
    """The part of the time axis that is drawn, and what it counts from [s]."""

    origin: int
    begin: float
    end: float

    def has(self, time: float) -> bool:
        return self.begin <= time <= self.end

    def mark(self, mark: Mark) -> Mark:
        return Mark(mark.time - self.origin, mark.name)

    def points(self, points: Iterable[tuple[float, float]]) -> tuple[tuple[float, float], ...]:
        shifted = ((time - self.origin, value) for time, value in points)
        return tuple(point for point in shifted if self.has(point[0]) and abs(point[1]) < LARGEST)

    def line(self, label: str, role: str, rows: Rows) -> Line:
        """Return a line, broken where time goes back; a command holds until the next."""
        time, value = np.array(rows).T
        time = time - self.origin
        value = np.where(np.abs(value) < LARGEST, value, np.nan)
        if role == COMMAND:
            time, value = self._held(time, value)
        inside = (time >= self.begin) & (time <= self.end)
        time, value = time[inside], value[inside]
        back = np.flatnonzero(np.diff(time) < 0.0) + 1
        return Line(label, role, np.insert(time, back, np.nan), np.insert(value, back, np.nan))

    def _held(self, time: FloatArray, value: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return commands, with what held at the beginning and at the end of the part."""
        following = np.append(time[1:], math.inf)
        is_carried = (time < self.begin) & (following > self.begin)
        last = np.flatnonzero((time < self.end) & (following > self.end))
        time = np.where(is_carried, self.begin, time)
        return np.insert(time, last + 1, self.end), np.insert(value, last + 1, value[last])

    def spans(self, changes: Sequence[Mark]) -> tuple[Span, ...]:
        """Return how long each name held, without the parts that are not drawn."""
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


def _title(signals: Signals, origin: int) -> str:
    """Return the name of the input, and the last apogee where there is one."""
    words = []
    for time, altitude in signals.flight.vertices[-1:]:
        height = f' {altitude:.1f} m' if abs(altitude) < LARGEST else ''
        words.append(f'apogee{height} at {time - origin:.2f} s')
    for time in signals.flight.detections[-1:]:
        words.append(f'detected at {time - origin:.2f} s')
    name = PurePath(signals.name).stem
    return f'{name}: {", ".join(words)}' if words else name


def _fits_in_flight(flight: FlightSignals, cut: _Cut, phases: Sequence[Span]) -> list[Fit]:
    """Return the fits of the phase flight, of all phases where there are none."""
    spans = [span for span in phases if span.name == 'flight']
    fits = (fit._replace(time=fit.time - cut.origin) for fit in flight.fits)
    return [
        fit for fit in fits
        if cut.has(fit.time) and (
            not phases or any(span.begin <= fit.time <= span.end for span in spans)
        )
    ]


def _panels(
    signals: Signals, cut: _Cut, fits: Sequence[Fit], has_flight: bool, compares: bool
) -> Iterable[Panel]:
    """Yield a panel for each quantity of each source, those of one source together."""
    rows = _beside_the_allocated(signals.rows)
    estimates = _estimating(signals.rows)
    for alike, quantity in _comparisons(rows) if compares else ():
        shown, panel = _comparison(rows, alike, quantity, estimates, cut)
        rows = {channel: values for channel, values in rows.items() if channel not in shown}
        yield panel
    ordered = sorted(rows, key=lambda channel: channel.role != PUBLISHED)
    sources = sorted({channel.source for channel in rows})
    groups: list[tuple[str | None, str]] = [
        (source, quantity) for source in sources for quantity in QUANTITIES
        if quantity not in _SHARED
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
        lines = [cut.line(_label(c, channels), c.role, rows[c]) for c in channels]
        if fits and quantity in _FITTED:
            fitted = [(fit.time + cut.origin, getattr(fit, _FITTED[quantity])) for fit in fits]
            lines.append(cut.line('fit', PUBLISHED, fitted))
        lines = [line for line in lines if line.time.size]
        if lines:
            heading = _heading(source, quantity, channels, rows)
            if source in estimates:
                heading = heading.replace(': applied ', ': estimated ')
            yield Panel(heading, tuple(lines))


def _comparisons(rows: Iterable[Channel]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield sources that have the same actuators, and a quantity that several of them publish."""
    known = [channel for channel in rows if channel.role == PUBLISHED]
    actuators: dict[str, set[str]] = {}
    for channel in known:
        if channel.quantity in _ACTUATED:
            actuators.setdefault(channel.source, set()).add(channel.name)
    alike: dict[tuple[str, frozenset[str]], list[str]] = {}
    for source, names in actuators.items():
        # Those of two vehicles are different actuators, whatever their names.
        alike.setdefault((source.rpartition('/')[0], frozenset(names)), []).append(source)
    for sources in alike.values():
        for quantity in (*_ACTUATED, 'force', 'torque'):
            having = {c.source for c in known if c.source in sources and c.quantity == quantity}
            if len(having) > 1:
                yield tuple(sorted(having)), quantity


def _comparison(
    rows: Mapping[Channel, Rows], sources: Sequence[str], quantity: str, estimates: set[str],
    cut: _Cut,
) -> tuple[set[Channel], Panel]:
    """Return what is compared, and a panel of the name that moves most, with a line a source."""
    compared = {c for c in rows if c.source in sources and c.quantity == quantity}
    moved = most_moved(
        cut.line(c.name, c.role, rows[c]) for c in sorted(compared) if c.role == PUBLISHED
    )
    name = max(moved, key=lambda name: moved[name])
    lines = tuple(
        cut.line(f'{c.source}, estimated' if c.source in estimates else c.source, c.role, rows[c])
        for c in sorted(compared, key=lambda c: (c.role != PUBLISHED, c.source)) if c.name == name
    )
    words = QUANTITIES[quantity].removeprefix('applied ')
    of = 'of' if quantity in _ACTUATED else 'along'
    vehicle, (what, bracket, unit) = sources[0].rpartition('/')[0], words.partition(' [')
    return compared, Panel(
        f'{vehicle}{": " if vehicle else ""}{what} {of} {name}{bracket}{unit}, which moves most of '
        f'{len(moved)}', tuple(line for line in lines if line.time.size),
    )


def _estimating(rows: Iterable[Channel]) -> set[str]:
    """Return the sources that publish a wrench and what is missing of it: they estimate it."""
    wrenches, missing = (
        {c.source for c in rows if c.quantity == 'force' and c.role == role}
        for role in (PUBLISHED, RESIDUAL)
    )
    return wrenches & missing


def _beside_the_allocated(rows: Mapping[Channel, Rows]) -> dict[Channel, Rows]:
    """Return series with those of an allocator given to the group that it commands."""
    sources = {channel.source for channel in rows}
    groups = {
        source: group for source in sources
        if (group := group_of(source)) != source and group in sources
    }
    return {
        channel._replace(source=groups.get(channel.source, channel.source)): values
        for channel, values in rows.items()
    }


def _label(channel: Channel, beside: Sequence[Channel]) -> str:
    """Return the name of a line, with its source where another source has lines here too."""
    is_alone = len({c.source for c in beside}) == 1
    return channel.name if is_alone else f'{channel.source} {channel.name}'


def _heading(
    source: str | None, quantity: str, channels: Sequence[Channel], present: Mapping[Channel, Rows]
) -> str:
    words = QUANTITIES[quantity]
    if quantity == 'effort':
        angles = {(c.source, c.name) for c in present if c.quantity == 'position'}
        # What turns as it pushes may make lift, which is no thrust.
        if any((c.source, c.name) in angles for c in channels):
            words = 'effort [N]'
    if quantity == 'position' and _are_valves(present[c] for c in channels):
        words = 'valve open'
    if all(c.role != PUBLISHED for c in channels):
        words = words.removeprefix('applied ')
    return f'{source}: {words}' if source else words


def _are_valves(series: Iterable[Rows]) -> bool:
    """Return whether positions are those of valves, each open or shut, and one of them both."""
    values = [{value for _, value in rows} for rows in series]
    return {0.0, 1.0} in values and all(each <= {0.0, 1.0} for each in values)


def _flight_panel(signals: Signals, cut: _Cut, fits: Sequence[Fit]) -> FlightPanel | None:
    """Return the panel of a flight, None where nothing has an altitude."""
    flight = signals.flight
    lines = [
        cut.line(channel.source or channel.name, PUBLISHED, rows)
        for channel, rows in signals.rows.items()
        if channel.quantity == 'altitude' or channel[1:3] == ('place', 'z')
    ]
    if not lines and fits:
        altitudes = [(fit.time + cut.origin, fit.altitude) for fit in fits]
        lines = [cut.line('fit', PUBLISHED, altitudes)]
    lines = [line for line in lines if line.time.size]
    if not lines:
        return None
    length = max(fits[-1].time - fits[0].time, 1.0) if fits else 1.0
    detections = [time - cut.origin for time in flight.detections]
    shown = tuple(time for time in detections if cut.has(time))
    known = every(fits, 0.0)
    chosen = every(fits, length / _FITS)
    times = {fit.time for fit in chosen}
    return FlightPanel(
        lines=tuple(lines),
        fits=tuple(chosen),
        ahead=max(_AHEAD * length, 2.0),
        deciding=next(
            (fit for fit in reversed(known) if shown and fit.time <= shown[-1]), None
        ),
        health=tuple(_health_spans([cut.mark(mark) for mark in flight.health], cut.end)),
        predictions=cut.points(
            (time, altitude) for made, time, altitude in flight.predictions
            if made - cut.origin in times and time > made
        ),
        vertices=cut.points(flight.vertices),
        detections=shown,
    )


def _health_spans(states: Sequence[tuple[float, str]], end: float) -> list[Span]:
    """Return where the health of a detector, (time, word) a sample, kept it from deciding."""
    spans = []
    for name, words in _VETOES.items():
        first = 0
        for is_in, run in itertools.groupby(states, key=lambda state: state[1] in words):
            count = len(list(run))
            last = min(first + count, len(states) - 1)
            if is_in:
                spans.append(Span(states[first][0], min(states[last][0], end), name))
            first += count
    return spans
