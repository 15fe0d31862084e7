# SPDX-License-Identifier: Apache-2.0
"""Pilots that steer a simulated body in lockstep, in a graph or a study, and their recordings."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar

import numpy as np

from propulsion_ros.drawing.figure import PUBLISHED, Mark, Page, Panel, Span, Trace
from propulsion_ros.loops.decoders import stamp_to_ns
from propulsion_ros.loops.payloads import JointRow
from propulsion_ros.models.common.family import FIELDS
from propulsion_ros.models.common.motion import Motion
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.quantity import FloatArray

Command = Mapping[str, float] | Sequence[float] | np.ndarray[Any, np.dtype[np.float64]]
"""A wrench, force [N] first, then torque [N m], or numbers by ``<name>.<field>``."""


class Controller(Protocol):
    """Steers a simulated body: it replies to each of its steps."""

    def steer(self, time: float, motion: Motion) -> Mapping[str, Command] | None:
        """Return the commands of a step by topic; None ends the flight."""


def payload_of(topic: str, command: Command) -> FloatArray | JointRow:
    """Return a command as the payload of an outlet; raise `SourceError` if it is invalid."""
    place = f'steer(): {topic}'
    if not isinstance(command, Mapping):
        try:
            wrench = np.asarray(command, float)
        except (TypeError, ValueError):
            wrench = np.zeros(0)
        wrong = wrench[~np.isfinite(wrench)]
        if wrench.shape != (6,) or len(wrong):
            raise SourceError(place, 'expected 6 numbers, or numbers by <name>.<field>, got ' + (
                f'{wrong[0]:g}' if len(wrong) else repr(command)
            ))
        return wrench
    names = list(dict.fromkeys(key.rpartition('.')[0] for key in command))
    columns: dict[str, Any] = {}
    for key, value in command.items():
        name, _, field = key.rpartition('.')
        if field not in FIELDS:
            known = ', '.join(FIELDS)
            raise SourceError(place, f'expected <name>.<field>, a field of {known}, got {key!r}')
        try:
            columns.setdefault(field, np.full(len(names), np.nan))[names.index(name)] = value
        except (TypeError, ValueError):
            raise SourceError(place, f'{key}: expected a number, got {value!r}') from None
    return JointRow(names=names, **columns)


@dataclass
class Recording:
    """Series by name, each a list of rows that begin with the time [s]."""

    rows: dict[str, list[tuple[float, ...]]] = field(default_factory=dict)
    marks: list[tuple[float, str]] = field(default_factory=list)
    phases: list[tuple[float, str]] = field(default_factory=list)

    def add(self, name: str, *row: float) -> None:
        """Append a row to a series."""
        self.rows.setdefault(name, []).append(row)

    def series(self, name: str) -> FloatArray:
        """Return a series as (rows, columns)."""
        return np.array(self.rows[name])

    def between(self, name: str, begin: float, end: float) -> FloatArray:
        """Return the rows of a series from a time on to before another [s]."""
        rows = self.series(name)
        return rows[(rows[:, 0] >= begin - 1e-9) & (rows[:, 0] < end - 1e-9)]

    def gain(self, name: str, column: int, begin: float, end: float) -> float:
        """Return the increase of a column between two times [s]; NaN without rows."""
        rows = self.between(name, begin, end)
        return float(rows[-1, column] - rows[0, column]) if len(rows) else np.nan

    def line(
        self,
        label: str,
        series: str,
        column: int = 1,
        role: str = PUBLISHED,
        *,
        scale: float = 1.0,
        span: tuple[float, float] = (-np.inf, np.inf),
    ) -> Trace:
        """Return a column of a series as a line of a picture.

        Column 0 has the times; ``scale`` converts the unit of the recording to that of the
        picture; ``span`` [s] is the part that is shown.
        """
        rows = self.between(series, *span)
        return Trace(label, role, rows[:, 0], scale * rows[:, column])

    def page(
        self,
        title: str,
        panels: Iterable[Panel],
        *,
        begin: float = 0.0,
        above: tuple[Panel, ...] = (),
        phases: Iterable[Span] = (),
        marks: Iterable[Mark] = (),
    ) -> Page:
        """Return the page of the flight from a time [s] to its end; for the rest see `Page`."""
        end = max(float(self.rows['motion'][-1][0]), begin + 1e-3)
        return Page(
            title, 'time [s]', begin, end, above, tuple(panels), tuple(phases), tuple(marks)
        )


class Received(NamedTuple):
    """Subscription of a pilot to a topic of stamped messages."""

    kind: str
    """Type of the messages; see `Kind`."""
    take: Callable[[float, Any], None]
    """``take(stamp [s], message)``."""
    quality: str
    """Name of a profile of `messages.qos`."""
    each_step: bool
    """True if a message comes with each step, so that the next step waits for it."""


class Pilot:
    """A `Controller` that records; a subclass gives `steer`, and calls `receive` or `record`.

    Attributes
    ----------
    recording : Recording
        Received messages and commands.
    topics : dict of str to Received
        Subscriptions by topic.
    """

    commands: ClassVar[Mapping[str, str]] = {}
    """Type of each topic that every step waits for."""
    services: ClassVar[Sequence[str]] = ()
    """Names of the services of `requests`."""
    arrives_first: ClassVar[str] = ''
    """Topic whose message of a step is received before a request of that step is sent."""
    end: float = np.inf
    """Stamp of the first step without a reply [s]."""

    def __init__(self) -> None:
        self.recording = Recording()
        self.topics: dict[str, Received] = {}

    def receive(
        self, kind: str, topic: str, take: Callable[[float, Any], None],
        quality: str = 'LOCKSTEP', each_step: bool = True,
    ) -> None:
        """Receive a topic; see `Received`."""
        self.topics[topic] = Received(kind, take, quality, each_step)

    def record(
        self, kind: str, topic: str, series: str, numbers: Callable[[Any], Iterable[float]]
    ) -> None:
        """Record ``numbers(message)`` of each step of a topic as rows of a series."""
        self.receive(
            kind, topic,
            lambda stamp, message: self.recording.add(series, stamp, *numbers(message)),
        )

    def take(self, topic: str, message: Any) -> None:
        """Take a message of `topics`."""
        self.topics[topic].take(stamp_to_ns(message.header.stamp) * 1e-9, message)

    def requests(self, time: float) -> Mapping[str, Mapping[str, Any]]:
        """Return the services to call at a step, before its reply; each with parameters to set."""
        return {}

    def steer(self, time: float, motion: Motion) -> Mapping[str, Command] | None:
        """Return the commands of a step by topic; None ends the flight."""
        raise NotImplementedError

    def status(self, time: float, motion: Motion) -> str:
        """Return the status of the flight in a few words."""
        return ''


class _Timed(Protocol):

    @property
    def time(self) -> float: ...


TargetT = TypeVar('TargetT', bound=_Timed)


def target_at(plan: Mapping[str, TargetT], time: float) -> tuple[str, TargetT]:
    """Return the last target of a plan that begins no later than a time [s], with its name."""
    return [(name, each) for name, each in plan.items() if each.time <= time + 1e-9][-1]


def marks_of(plan: Mapping[str, TargetT]) -> list[Mark]:
    """Return the beginnings of all targets of a plan but the first."""
    return [Mark(target.time, name) for name, target in plan.items()][1:]


def wrapped(angle: float) -> float:
    """Return an angle [rad] wrapped to [-pi, pi)."""
    return float((angle + np.pi) % (2.0 * np.pi) - np.pi)


def efforts(names: Sequence[str]) -> Callable[[Any], Iterable[float]]:
    """Return a function that returns the efforts of some names of a JointState [N]."""
    def take(message: Any) -> Iterable[float]:
        effort = dict(zip(message.name, message.effort, strict=True))
        return [effort[name] for name in names]

    return take


def mass(message: Any) -> Iterable[float]:
    """Return the mass of an InertiaStamped [kg]."""
    return [message.inertia.m]
