# SPDX-License-Identifier: Apache-2.0
"""Draws what the actuators of a robot do, at a limited rate, without ROS."""
from __future__ import annotations

import functools
import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from propulsion_ros.drawing.drawn_blocks import DrawnBlock
from propulsion_ros.drawing.shapes import (
    Propellant,
    Shape,
    Style,
    ThrustState,
    read_state,
    status_shape,
    thrust_shapes,
)
from propulsion_ros.loops.decoders import stamp_of
from propulsion_ros.loops.payloads import Kind
from propulsion_ros.loops.ports import OK, WARN, Health, Host, Outlet, Port, Timer
from propulsion_ros.models.common.layout import ThrustLayout
from propulsion_ros.settings.errors import CommandError, ConfigError
from propulsion_ros.settings.quantity import quantity, validate
from propulsion_ros.timing.stamps import StampJudge, StampLimits
from propulsion_ros.timing.stepping import period_from_rate

_STALE_NS = 1_000_000_000
"""A state this much older than the newest is out of date [ns]."""
_STAMPS = StampLimits(behind_ns=1_000_000_000, agreeing=1)
"""One stamp of a new time is enough: a picture is not worth waiting for a second one."""


class Pace:
    """Decides whether a picture of several sources is due: once in a period of their stamps.

    Each source is compared with its own stamps alone, since their times may differ.

    Parameters
    ----------
    period_ns : int
        Least time between two pictures.
    """

    def __init__(self, period_ns: int) -> None:
        self._period_ns = period_ns
        self.restart()

    @property
    def newest_ns(self) -> int | None:
        """Newest stamp of all sources, None before the first."""
        return max(self._newest.values(), default=None)

    def restart(self) -> None:
        """Forget the time, as before the first stamp."""
        self._judges: dict[Hashable, StampJudge] = {}
        self._newest: dict[Hashable, int] = {}
        self._drawn: dict[Hashable, int] = {}

    def take(self, source: Hashable, stamp_ns: int) -> bool:
        """Take a stamp of a source; return whether its time jumped, which restarts the pace."""
        is_new = source not in self._judges
        judge = StampJudge(_STAMPS) if is_new else self._judges[source]
        has_jumped = judge.take(stamp_ns).is_jump
        if has_jumped:
            self.restart()
        self._judges[source] = judge
        if self._drawn:
            # Other sources count from their next stamp, a new one from an earlier picture.
            first_ns = min(stamp_ns, *self._drawn.values()) if is_new else stamp_ns
            self._drawn.setdefault(source, first_ns)
        self._newest[source] = max(stamp_ns, self._newest.get(source, stamp_ns))
        return has_jumped

    def is_due(self, source: Hashable) -> bool:
        """Return whether a new picture is due by the stamps of a source."""
        drawn_ns = self._drawn.get(source)
        return drawn_ns is None or self._newest[source] >= drawn_ns + self._period_ns

    def draw(self, source: Hashable) -> None:
        """Note that a picture was drawn that was due by this source."""
        self._drawn = {source: self._newest[source]}

    def is_stale(self, stamp_ns: int) -> bool:
        """Return whether a stamp is much older than the newest."""
        newest_ns = self.newest_ns
        return newest_ns is not None and stamp_ns < newest_ns - _STALE_NS


@dataclass(frozen=True, kw_only=True, eq=False)
class VisualizerParams:
    """Parameters of a visualizer."""

    robot_description: str = quantity('', doc='URDF with plugin blocks', kind=str)
    base_link: str = quantity(
        '', doc="frame of the geometry; empty: the robot description's", kind=str
    )
    params_files: tuple[str, ...] = quantity(
        (), kind=str, shape=('*',),
        doc='parameter files of the actuator nodes, for limits that the description does not '
        'have; later ones win',
    )
    state_topics: tuple[str, ...] = quantity(
        doc='state of each plugin block, in their order; empty ones are not drawn', kind=str,
        shape=('*',),
    )
    tank_topics: tuple[str, ...] = quantity(
        (), doc="each tank, in the blocks' order; empty ones are not shown", kind=str,
        shape=('*',),
    )
    phase_topic: str = quantity('', doc='phase of the flight; empty for none', kind=str)
    rate: float = quantity(
        10.0, 'Hz', doc='most pictures per second of the stamps', lo=1e-3, hi=10.0
    )
    arrow_length: float = quantity(
        0.5, 'm', lo=1e-2, hi=1e3,
        doc='of the largest thrust that any actuator can make; the text has letters of a fifth of '
        'it, and stands so far ahead of base_link and above it',
    )
    frame: str = quantity(
        'base', kind=str, choices=('base', 'link'),
        doc='base: all in base_link; link: each in the link of its actuator, which '
        'robot_state_publisher must place',
    )

    def __post_init__(self) -> None:
        validate(self)


_UNKNOWN_SCALE = 0.01
"""Length of an arrow over its thrust if no thrust has a limit [m/N]."""
_SHAFT = 0.04
"""Diameter of an arrow's shaft over `VisualizerParams.arrow_length`."""
_LETTERS = 0.2
"""Height of letters over `VisualizerParams.arrow_length`."""
_LONGEST_PHASE = 60  # characters of a phase that are drawn
_LEAST_NS = 100_000_000
"""Least wall time between two pictures, whatever the stamps are [ns]."""
_SILENCE = 1.0
"""Wall time without any state after which the actuators are drawn as unknown [s]."""
_HEAVIEST = 1e9
"""A larger mass of a tank is refused [kg]."""


@dataclass(eq=False)
class _Drawn:
    """The actuators of one block, and their newest state."""

    block: DrawnBlock
    layout: ThrustLayout
    """Names and places of the actuators."""
    unread: tuple[int, Sequence[str], Sequence[float], Sequence[float]] | None = None
    """Stamp, names, positions and efforts of the newest message; None once they are read."""
    state: ThrustState | None = None
    """Newest state that was read."""
    stamp_ns: int = 0
    """Stamp of the newest state [ns]."""
    is_silent: bool = True
    """Whether no readable state has come since the last diagnosis."""


class VisualizerLoop:
    """Draws thrusts, limits, plumes, propellant and phase.

    Pictures are due by the stamps of the states; wall time only limits their rate, and shows which
    actuators are silent: these are grey. States are read only for a picture. Everything drawn comes
    from topics, so the loop may be restarted at any time. Raises `ConfigError` unless each block
    has a topic.
    """

    def __init__(
        self, params: VisualizerParams, blocks: Sequence[DrawnBlock], host: Host
    ) -> None:
        self._params, self._host, self._base_link = params, host, blocks[0].base_link
        tanks = [(tank, capacity) for block in blocks for tank, capacity in block.tanks.items()]
        _check_count('state_topics', params.state_topics, [block.name for block in blocks])
        _check_count('tank_topics', params.tank_topics, [name for name, _ in tanks])
        self._pace = Pace(period_from_rate(params.rate))
        self._phase = ''
        self._tanks: dict[str, Propellant] = {}
        self._markers = Outlet(
            '~/markers', Kind.MARKERS, 'picture', overridable=False
        )
        self._drawn: list[_Drawn] = []
        self._next_ns: float
        self.ports = (*self._state_ports(blocks), *self._tank_ports(tanks), *self._phase_ports())
        self.outlets, self.requests = (self._markers,), ()
        # The timer detects that all states have stopped.
        self.timers = (Timer(_SILENCE, self._find_silence),)
        self._forget()
        self._style = Style(
            scale=self._scale(), in_links=params.frame == 'link',
            shaft=_SHAFT * params.arrow_length,
        )

    def _state_ports(self, blocks: Sequence[DrawnBlock]) -> Iterator[Port]:
        for block, topic in zip(blocks, self._params.state_topics, strict=True):
            if block.layout is None:
                self._host.log('info', f'{block.name}: not drawn, its state has no thrusts')
            elif topic:
                drawn = _Drawn(block, block.layout)
                self._drawn.append(drawn)
                take = functools.partial(self._take_state, drawn)
                yield Port(topic, Kind.JOINTS, take, 'glance', overridable=False)

    def _tank_ports(self, tanks: Sequence[tuple[str, float]]) -> Iterator[Port]:
        for (tank, capacity), topic in zip(tanks, self._params.tank_topics, strict=True):
            if topic:
                take = functools.partial(self._take_tank, topic, tank, capacity)
                yield _latched(topic, Kind.INERTIA, take)

    def _phase_ports(self) -> Iterator[Port]:
        if self._params.phase_topic:
            yield _latched(self._params.phase_topic, Kind.STRING, self._take_phase)

    def _scale(self) -> float:
        """Return the length of an arrow over its thrust [m/N]."""
        largest = max((drawn.layout.largest for drawn in self._drawn), default=0.0)
        if largest:
            return float(self._params.arrow_length / largest)
        self._host.log('info', f'no thrust has a known limit: arrows of {_UNKNOWN_SCALE:g} m/N')
        return _UNKNOWN_SCALE

    # Called by the host.

    def start(self) -> None:
        """Begin without any earlier state."""
        self._forget()
        names = ', '.join(drawn.block.name for drawn in self._drawn)
        self._host.log('info', f'active, draws {names or "nothing"}')

    def stop(self) -> None:
        """Remove the picture."""
        if self._is_watched:
            self._host.publish(self._markers, 0, ())

    def health(self) -> Iterator[Health]:
        """Yield the names of silent blocks, and the number of refused inputs."""
        silent = [drawn.block.name for drawn in self._drawn if drawn.is_silent]
        for drawn in self._drawn:
            drawn.is_silent = True
        level, text = (WARN, f'no state of {", ".join(silent)}') if silent else (OK, 'ok')
        yield 'markers', level, text, {
            'watched': self._is_watched, 'refused': self._host.counts['refused'],
        }

    # Inputs.

    def _take_state(self, drawn: _Drawn, message: Any) -> None:
        source = drawn.block.name
        stamp_ns = stamp_of(self._host, source, message)
        if stamp_ns is None:
            return
        if self._pace.take(source, stamp_ns):
            # Simulated time was restarted.
            self._forget_states()
        drawn.unread = (
            stamp_ns, tuple(message.name), tuple(message.position), tuple(message.effort)
        )
        drawn.is_silent, self._has_news = False, True
        if self._pace.is_due(source) and self._host.steady_ns() >= self._next_ns and self._draw():
            self._pace.draw(source)
            self._next_ns = self._host.steady_ns() + _LEAST_NS

    def _find_silence(self) -> None:
        """Draw the last states grey, once, if no state has come for a while."""
        has_news, self._has_news = self._has_news, False
        if has_news:
            self._is_grey = False
        elif not self._is_grey:
            self._is_grey = self._draw(is_silent=True)

    def _take_tank(self, topic: str, tank: str, capacity: float, message: Any) -> None:
        mass = message.inertia.m
        if 0.0 <= mass <= _HEAVIEST:
            self._tanks[topic] = Propellant(tank, mass, capacity)
        else:
            self._host.complain('refused', f'{topic}: {mass} kg is no mass')

    def _take_phase(self, message: Any) -> None:
        self._phase = message.data[:_LONGEST_PHASE]

    def _forget(self) -> None:
        self._pace.restart()
        self._next_ns = -math.inf
        self._has_news = self._is_grey = False
        self._forget_states()

    def _forget_states(self) -> None:
        for drawn in self._drawn:
            drawn.unread = drawn.state = None

    # Pictures.

    @property
    def _is_watched(self) -> bool:
        """Whether the pictures have a subscription."""
        return self._host.subscriptions_to(self._markers) > 0

    def _draw(self, is_silent: bool = False) -> bool:
        """Publish a picture if it is watched and there is a state; return whether it was."""
        now_ns = self._pace.newest_ns
        if now_ns is None or not self._is_watched:
            return False
        for drawn in self._drawn:
            self._read(drawn)
        if all(drawn.state is None for drawn in self._drawn):
            return False
        self._host.publish(self._markers, now_ns, tuple(self._picture(now_ns, is_silent)))
        return True

    def _read(self, drawn: _Drawn) -> None:
        """Read the newest message of a block, unless it was read already."""
        unread, drawn.unread = drawn.unread, None
        if unread is None:
            return
        stamp_ns, names, position, effort = unread
        try:
            state = read_state(drawn.layout, names, position, effort)
        except CommandError as error:
            drawn.is_silent = True
            self._host.complain('refused', f'{drawn.block.name}: state refused: {error}')
            return
        drawn.state, drawn.stamp_ns = state, stamp_ns

    def _picture(self, now_ns: int, is_silent: bool) -> Iterator[tuple[int, Shape]]:
        """Yield every shape with its stamp."""
        for drawn in self._drawn:
            if drawn.state is not None:
                block, stamp_ns = drawn.block, drawn.stamp_ns
                is_stale = is_silent or self._pace.is_stale(stamp_ns)
                for shape in thrust_shapes(
                    block.name, block.base_link, drawn.layout, drawn.state, self._style, is_stale
                ):
                    yield stamp_ns, shape
        away = self._params.arrow_length
        yield now_ns, status_shape(
            self._base_link, (away, 0.0, away), _LETTERS * away, self._phase,
            [self._tanks[topic] for topic in self._params.tank_topics if topic in self._tanks],
        )


def _latched(topic: str, kind: str, take: Any) -> Port:
    return Port(topic, kind, take, 'latched', while_inactive=True, overridable=False)


def _check_count(key: str, topics: Sequence[str], names: Sequence[str]) -> None:
    if len(topics) != len(names):
        raise ConfigError(
            key, f'expected one for each of {", ".join(names) or "nothing"}, got {len(topics)}'
        )
