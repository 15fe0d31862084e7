# SPDX-License-Identifier: Apache-2.0
"""What operators may request of a flight computer, by service or by a stamped message."""
from __future__ import annotations

import functools
from collections import deque
from collections.abc import Callable
from typing import Any

from propulsion_ros.flight.flight_state import FlightState
from propulsion_ros.flight.home import Home
from propulsion_ros.flight.phases.phases import COMMANDS
from propulsion_ros.loops.decoders import stamp_to_ns
from propulsion_ros.loops.flight.asides import REQUEST, FlightAsides
from propulsion_ros.loops.flight.clock_offsets import NEWEST_NS, OLDEST_NS, offset_words
from propulsion_ros.loops.ports import Host, Port, Request
from propulsion_ros.settings.errors import CommandError
from propulsion_ros.timing.sample_time import SampleTime

AT_ONCE = ('abort',)
"""Requests that are followed as they come, whatever their stamp."""
_REMEMBERED = 100
TWICE = ('liftoff_override', 'reset')
"""Requests that may be followed when they are made twice."""
_FORGOTTEN_NS = 10_000_000_000  # after which the same message is a first one again
_APART_NS = 500_000_000
"""Between two messages that count as two requests, at least [ns]."""


class FlightRequests:
    """Follows requests, or refuses them with a reason.

    A service is followed at once, a message after the sample of its stamp, at once where that
    is 0. Live requests are of now, and none outlives the phase in which it was made; an abort is
    followed once, as it comes, whatever its stamp. A replay takes recorded requests of any time.

    Parameters
    ----------
    host : Host
        Logs and complains.
    state, home : FlightState, Home
        What follows them.
    time : SampleTime
        Of the samples.
    asides : FlightAsides
        Keeps stamped requests until they are due.
    now : callable or None
        What the stamp of a request of now would be [ns]; None in a replay.
    steady_now : callable
        When a request comes, on a steady clock [ns]; None where stamps alone count.
    prepare : callable
        ``prepare(name)``, called before a request is followed.
    changed : callable
        Called when one was followed or refused by the flight state.
    followed : callable
        ``followed(name, stamp_ns)``, called after one was followed.

    Attributes
    ----------
    port : Port
        Of the messages.
    services : tuple of Request
        One for each name.
    """

    def __init__(
        self,
        host: Host,
        state: FlightState,
        home: Home,
        time: SampleTime,
        asides: FlightAsides,
        now: Callable[[], int] | None,
        steady_now: Callable[[], int | None],
        prepare: Callable[[str], None],
        changed: Callable[[], None],
        followed: Callable[[str, int], None],
    ) -> None:
        self._host, self._state, self._home = host, state, home
        self._time, self._asides = time, asides
        self._now, self._steady_now, self._prepare = now, steady_now, prepare
        self._changed, self._followed = changed, followed
        self._aborted: deque[tuple[str, int]] = deque(maxlen=_REMEMBERED)
        self._first: dict[str, tuple[int, int]] = {}
        self._followed_ns: dict[str, int] = {}
        self.port = Port(
            '~/request', 'diagnostic_msgs/msg/DiagnosticArray', self._take, 'command',
            overridable=False,
        )
        self.services = tuple(
            Request(f'~/{name}', 'std_srvs/srv/Trigger', functools.partial(self._serve, name))
            for name in COMMANDS
        )

    def _take(self, message: Any) -> None:
        """Take the requests of a message, each the name of a status."""
        for status in message.status:
            if status.name not in COMMANDS:
                known = ', '.join(COMMANDS)
                self._host.complain('refused', f'unknown request {status.name!r}; known: {known}')
            else:
                self._take_one(message, status)

    def _take_one(self, message: Any, status: Any) -> None:
        name, stamp_ns = status.name, stamp_to_ns(message.header.stamp)
        if self._now is not None and name in AT_ONCE:
            self._follow_once(name, stamp_ns)
        elif self._now is not None and self._is_repeated(name, stamp_ns):
            self._host.complain('refused', (
                f"request '{name}' is refused: it is the same message again, expected one with "
                'another stamp, or a service call'
            ))
        elif not stamp_ns:
            self.follow(name)
        elif self._now is None or self._is_of_now(message, status, stamp_ns - self._now()):
            self._asides.push(REQUEST, message, name)

    def _is_repeated(self, name: str, stamp_ns: int) -> bool:
        """Return whether a publisher repeats a message whose first one awaits a second request."""
        now_ns = self._host.steady_ns()
        if name not in TWICE:
            return False
        then_ns, first_ns = self._first.get(name, (now_ns - _FORGOTTEN_NS, 0))
        is_old = now_ns - then_ns >= _FORGOTTEN_NS
        if is_old or self._state.awaits_repetition != name:
            self._first[name] = now_ns, stamp_ns
            return False
        return stamp_ns == first_ns

    def _follow_once(self, name: str, stamp_ns: int) -> None:
        """Follow a request whatever its stamp, but not again where it is repeated."""
        if stamp_ns and (name, stamp_ns) in self._aborted:
            return
        self._aborted.append((name, stamp_ns))
        self.follow(name)

    def _is_of_now(self, message: Any, status: Any, offset_ns: int) -> bool:
        if OLDEST_NS <= offset_ns <= NEWEST_NS:
            return True
        sender = getattr(status, 'hardware_id', '') or message.header.frame_id
        of = f' of {sender!r}' if sender else ''
        self._host.complain('refused', (
            f"request '{status.name}'{of} is refused: stamped {offset_words(offset_ns)} this "
            f'flight computer, expected at most {-OLDEST_NS * 1e-9:g} s behind or '
            f'{NEWEST_NS * 1e-9:g} s ahead'
        ))
        return False

    def drop_waiting(self, phase: str) -> None:
        """Forget the requests that wait, since the phase in which they were made is over."""
        if self._now is None:
            return
        for name in self._asides.drop_requests():
            self._host.complain(
                'refused', f"request '{name}' is dropped: the phase is {phase} now"
            )

    def follow(self, name: str) -> None:
        """Follow a request that is due now, or complain."""
        now_ns = self._host.steady_ns()
        then_ns = self._followed_ns.get(name)
        is_awaited = name in TWICE and self._state.awaits_repetition == name
        if self._now is not None and is_awaited and then_ns is not None and (
            0 <= now_ns - then_ns < _APART_NS
        ):
            self._host.complain('refused', (
                f"request '{name}' is refused: made twice within {_APART_NS * 1e-9:g} s"
            ))
            return
        self._followed_ns[name] = now_ns
        try:
            self._follow(name)
        except CommandError as error:
            self._host.complain('refused', str(error))

    def _serve(self, name: str, data: bool) -> tuple[bool, str]:
        if not self._host.is_active:
            return False, f"'{name}' is refused: not active"
        try:
            return True, self._follow(name)
        except CommandError as error:
            self._host.counts['refused'] += 1
            self._host.log('warn', str(error))
            return False, str(error)

    def _follow(self, name: str) -> str:
        """Follow a request and return how, or raise `CommandError` with the reason why not."""
        self._prepare(name)
        objections = self._state.objections
        reason = self._state.command(
            name, self._time.stamp_ns, steady_ns=self._steady_now()
        )
        if name == 'set_home' and not reason:
            self._home.set_here()
        self._changed()
        if reason:
            raise CommandError(reason)
        text = f"'{name}' accepted"
        if objections and self._state.phase.is_armed:
            text = f"{text}, but {'; '.join(objections.values())}"
            self._host.log('warn', text)
        self._followed(name, self._time.stamp_ns)
        return text
