# SPDX-License-Identifier: Apache-2.0
"""What operators may request of a flight computer, by service or by a stamped message."""
from __future__ import annotations

import functools
from collections import deque
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from propulsion_ros.flight.flight_state import FlightState
from propulsion_ros.flight.home import Home
from propulsion_ros.flight.phases.phases import COMMANDS
from propulsion_ros.loops.decoders import stamp_to_ns
from propulsion_ros.loops.flight.inputs import REQUEST, SideInputs
from propulsion_ros.loops.flight.sensor_clocks import NEWEST_NS, OLDEST_NS, offset_words
from propulsion_ros.loops.payloads import Kind
from propulsion_ros.loops.ports import Host, Port, Request
from propulsion_ros.settings.errors import CommandError
from propulsion_ros.timing.flight_clock import SampleTime

LEAST_NS = 500_000_000
"""Least time between two requests; a program repeats them faster [ns]."""
_PART = 1.5  # wait for a third request, over the time between the first two
_MARGIN_NS = 250_000_000  # added to that wait [ns]
MOST = 64
"""Most chains at a time, so that requests of ever new sources cannot fill memory."""


@dataclass
class _Chain:
    """Requests of one name and one source, each shortly after the one before."""

    last_ns: int
    count: int = 1
    is_stream: bool = False
    due_ns: int | None = None


class Repetitions:
    """Waits after the second request for a third one, which only a program that repeats makes.

    Two requests of the same name and source, at least `LEAST_NS` and at most ``within`` apart,
    are a decision once no third one has come for 1.5 times as long and 0.25 s. A third one, or a
    second one that comes earlier, is a stream: all of it is refused, until it has been silent for
    twice ``within``. So no rate of repetition is ever followed, and no stream of one source keeps
    the two requests of another one from being followed.

    Parameters
    ----------
    within : float
        How far apart the two may be [s].
    """

    def __init__(self, within: float) -> None:
        self._within_ns = round(within * 1e9)
        self.reset()

    def reset(self) -> None:
        """Forget every request."""
        self._chains: dict[tuple[str, Hashable], _Chain] = {}

    def take(
        self, name: str, source: Hashable, now_ns: int, *, may_repeat: bool = False
    ) -> int | None:
        """Take a request and return when it is followed [ns]; None where it is not.

        Raises `CommandError` if too many other sources have requested just before, unless the
        source is None.

        Parameters
        ----------
        source : hashable
            What distinguishes one sender from another.
        now_ns : int
            Time of a steady clock [ns].
        may_repeat : bool
            Whether each but the first is followed at once, however often it comes.
        """
        chain = self._chains.get((name, source))
        if chain is None or self._is_over(chain, now_ns):
            self._begin(name, source, now_ns)
            return None
        if may_repeat:
            del self._chains[name, source]
            return now_ns
        gap_ns, chain.last_ns = now_ns - chain.last_ns, now_ns
        chain.count += 1
        is_second = chain.count == 2 and gap_ns >= LEAST_NS
        chain.is_stream = chain.is_stream or not is_second
        chain.due_ns = None
        if not chain.is_stream:
            chain.due_ns = now_ns + round(_PART * gap_ns) + _MARGIN_NS
        return chain.due_ns

    def _begin(self, name: str, source: Hashable, now_ns: int) -> None:
        """Begin a chain, and forget those that are over."""
        self._chains = {
            key: chain for key, chain in self._chains.items() if not self._is_over(chain, now_ns)
        }
        if source is not None and len(self._chains) >= MOST:
            raise CommandError(
                f"'{name}' is refused: {MOST} requests of other senders are waited for, which is "
                'the limit'
            )
        self._chains[name, source] = _Chain(now_ns)

    def is_stream(self, name: str, source: Hashable) -> bool:
        """Return whether a source repeats a request as only a program does."""
        chain = self._chains.get((name, source))
        return chain is not None and chain.is_stream

    def due(self, now_ns: int) -> str:
        """Return the request that is to be followed now, '' for none, and forget it."""
        for (name, source), chain in self._chains.items():
            if chain.due_ns is not None and now_ns >= chain.due_ns:
                del self._chains[name, source]
                return name
        return ''

    def drop(self, kept: str = '') -> list[str]:
        """Forget all but the streams and one name; return what was to be followed."""
        waiting = [
            name for (name, _), chain in self._chains.items()
            if chain.due_ns is not None and name != kept
        ]
        self._chains = {
            key: chain for key, chain in self._chains.items() if chain.is_stream or key[0] == kept
        }
        return waiting

    def _is_over(self, chain: _Chain, now_ns: int) -> bool:
        """Return whether a chain is over, so that a request now begins a new one."""
        longest_ns = 2 * self._within_ns if chain.is_stream else self._within_ns
        return chain.due_ns is None and now_ns - chain.last_ns > longest_ns


AT_ONCE = ('abort',)
"""Requests that are followed as they come, whatever their stamp."""
_REMEMBERED = 100  # latest requests that are not taken again
_STOPPED_NS = 1_000_000_000  # with a longer pause this process was stopped [ns]
_WAITED_NS = 3_500_000_000  # calls that waited come so long after it: DDS repeats in 3 s [ns]
_LONGEST_NAME = 64
"""Longest name or sender that is kept of a message [characters]."""
SAFE = 'safe'
"""Request that ends everything that is due, also other requests."""
TWICE = ('liftoff_override', 'reset', SAFE)
"""Requests that may be followed when they are made twice."""


class _Message(NamedTuple):
    """A request that came as a message."""

    name: str
    sender: str


class FlightRequests:
    """Follows requests, or refuses them with a reason.

    A service is followed at once, a message after the sample of its stamp. The stamp of a live
    message must be of now; a call has none, so that those that may have waited while the process
    was stopped are refused. A request ends with the phase in which it was made. An abort is
    followed once, as it comes, whatever its stamp, and drops requests that wait or are older; so
    does `SAFE` when it is followed. Requests that must be made twice follow the rule of
    `Repetitions`, services and messages alike. A replay takes recorded requests of any time, at
    once if their stamp is 0.

    Parameters
    ----------
    side_inputs : SideInputs
        Keeps stamped requests until they are due.
    now : callable or None
        Returns the present time as of stamps [ns]; None in a replay.
    steady_now : callable
        Returns the time of a steady clock [ns], or None where stamps alone count.
    prepare : callable
        ``prepare(name)``, called before a request is followed.
    changed : callable
        Called when one was followed or refused by the flight state.
    followed : callable
        ``followed(name, stamp_ns)``, called after one was followed.
    within : float
        Longest time between two requests of which the second is followed [s].
    """

    def __init__(
        self,
        host: Host,
        state: FlightState,
        home: Home,
        time: SampleTime,
        side_inputs: SideInputs,
        now: Callable[[], int] | None,
        steady_now: Callable[[], int | None],
        prepare: Callable[[str], None],
        changed: Callable[[], None],
        followed: Callable[[str, int], None],
        within: float,
    ) -> None:
        self._host, self._state, self._home = host, state, home
        self._time, self._side_inputs = time, side_inputs
        self._now, self._steady_now, self._prepare = now, steady_now, prepare
        self._changed, self._followed = changed, followed
        self._within, self._repetitions = within, Repetitions(within)
        self._recorded: dict[tuple[_Message, int], Any] = {}
        self.reset()
        self.port = Port(
            '~/request', Kind.STATUSES, self._take, 'command', overridable=False
        )
        self.services = tuple(
            Request(f'~/{name}', 'std_srvs/srv/Trigger', functools.partial(self._serve, name))
            for name in COMMANDS
        )

    def reset(self) -> None:
        """Forget every request."""
        self._known: deque[tuple[str, str, int]] = deque(maxlen=_REMEMBERED)
        self._repetitions.reset()
        self._ended: tuple[str, int] | None = None
        self._ran_ns = self._steady_now()
        self._refuses_until_ns, self._pause = 0, ''

    def _note_pause(self) -> None:
        """Drop the requests that waited if this process was stopped since the last call."""
        now_ns = self._steady_now()
        if now_ns is None or self._ran_ns is None:
            return
        pause_ns, self._ran_ns = now_ns - self._ran_ns, now_ns
        if pause_ns > _STOPPED_NS:
            self._refuses_until_ns = now_ns + _WAITED_NS
            self._pause = f'this process was stopped for {pause_ns * 1e-9:.1f} s'
            self._drop(self._pause)

    def _take(self, message: Any) -> None:
        """Take the requests of a message, each the name of a status."""
        for status in message.status:
            if status.name not in COMMANDS:
                known = ', '.join(COMMANDS)
                name = status.name[:_LONGEST_NAME]
                self._host.complain('refused', f'unknown request {name!r}; known: {known}')
            else:
                self._take_one(message, status)

    def _take_one(self, message: Any, status: Any) -> None:
        name, stamp_ns = status.name, stamp_to_ns(message.header.stamp)
        sender = getattr(status, 'hardware_id', '') or message.header.frame_id
        sender = sender[:_LONGEST_NAME]
        request = _Message(name, sender)
        is_live = self._now is not None
        if not is_live and stamp_ns:
            # It came before where the recording is played again.
            if (request, stamp_ns) in self._recorded:
                return
            self._recorded[request, stamp_ns] = message
        if is_live and name in (*AT_ONCE, *TWICE) and self._is_known(request, stamp_ns):
            if name in TWICE:
                self._host.complain('refused', f"request '{name}' came before: not taken again")
        elif is_live and name in AT_ONCE:
            self.follow(request)
            self._drop_before(name, stamp_ns)
        elif not (is_live or stamp_ns):
            self.follow(request)
        elif self._is_of_now(name, sender, stamp_ns):
            self._side_inputs.push(REQUEST, message, request)

    def again(self) -> None:
        """Wait for all requests of a recording again, which begins anew."""
        for (request, _), message in self._recorded.items():
            self._side_inputs.push(REQUEST, message, request)

    def _is_known(self, request: _Message, stamp_ns: int) -> bool:
        """Return whether a stamped request is one that came before, delivered again."""
        key = request.name, request.sender, stamp_ns
        if key in self._known:
            return True
        if stamp_ns:
            self._known.append(key)
        return False

    def _is_of_now(self, name: str, sender: str, stamp_ns: int) -> bool:
        if self._now is None:
            return True
        of = f' of {sender!r}' if sender else ''
        if not stamp_ns:
            self._host.complain('refused', (
                f"request '{name}'{of} is refused: it has no stamp, as one of a recording may; "
                f'give it a stamp of now, or call the service ~/{name}'
            ))
            return False
        now_ns = self._now()
        offset_ns = stamp_ns - now_ns
        if OLDEST_NS <= offset_ns <= NEWEST_NS:
            return not self._is_ended(f"'{name}'{of}", stamp_ns, now_ns)
        self._host.complain('refused', (
            f"request '{name}'{of} is refused: stamped {offset_words(offset_ns)} this "
            f'flight computer, expected at most {-OLDEST_NS * 1e-9:g} s behind or '
            f'{NEWEST_NS * 1e-9:g} s ahead'
        ))
        return False

    def _is_ended(self, request: str, stamp_ns: int, now_ns: int) -> bool:
        """Return whether a request of now is older than the last abort or `SAFE`."""
        if self._ended is None:
            return False
        name, ended_ns = self._ended
        # If that end is farther ahead, the clock was set back since then.
        if not stamp_ns < ended_ns <= now_ns + NEWEST_NS:
            return False
        self._host.complain('refused', f"request {request} is refused: stamped before '{name}'")
        return True

    def _drop_before(self, name: str, stamp_ns: int = 0) -> None:
        """Drop requests that wait when an abort or `SAFE` comes, and refuse older ones from now."""
        if self._now is None:
            return
        now_ns = self._now()
        self._ended = name, min(max(stamp_ns, now_ns), now_ns + NEWEST_NS)
        self._drop(f"'{name}' came", is_safe=name == SAFE)

    def drop_waiting(self, phase: str) -> None:
        """Drop the requests that wait, since their phase is over; `SAFE` belongs to every phase."""
        if self._now is not None:
            self._drop(f'the phase is {phase} now')

    def _drop(self, reason: str, *, is_safe: bool = False) -> None:
        """Drop the requests that wait, but not a `SAFE` that was not followed yet."""
        kept = '' if is_safe else SAFE
        dropped = self._side_inputs.drop_requests()
        names = (request.name for request in dropped if request.name != kept)
        self._report_dropped((*names, *self._repetitions.drop(kept)), reason)
        for request in dropped:
            if request.name == kept:
                self.follow(request)

    def _report_dropped(self, names: Iterable[str], reason: str) -> None:
        for name in names:
            self._host.complain('refused', f"request '{name}' is dropped: {reason}")

    def follow(self, request: _Message) -> None:
        """Follow a request that is due now, or complain."""
        try:
            self._consider(request.name, request.sender)
        except CommandError as error:
            self._host.complain('refused', str(error))

    def follow_second(self) -> None:
        """Follow a request that was made twice, once it is certain that it is not repeated.

        To be called at each sample, and ten times a second.
        """
        self._note_pause()
        name = self._repetitions.due(self._host.steady_ns())
        if not name:
            return
        try:
            self._follow(name, is_second=True)
        except CommandError as error:
            self._host.complain('refused', str(error))

    def _serve(self, name: str, data: bool) -> tuple[bool, str]:
        if not self._host.is_active:
            return False, f"'{name}' is refused: not active"
        try:
            self._check_recent(name)
            return True, self._consider(name, None)
        except CommandError as error:
            self._host.counts['refused'] += 1
            self._host.log('warn', str(error))
            return False, str(error)
        finally:
            if name in AT_ONCE:
                self._drop_before(name)

    def _check_recent(self, name: str) -> None:
        """Raise `CommandError` for a call that may have waited; none is too late to be safe."""
        self._note_pause()
        if name not in (*AT_ONCE, SAFE) and (self._ran_ns or 0) < self._refuses_until_ns:
            raise CommandError(
                f"'{name}' is refused: {self._pause}, and the call may be as old; call again"
            )

    def _consider(self, name: str, source: str | None) -> str:
        """Return how a request is followed, or raise `CommandError` with the reason why not.

        ``source`` is the sender of a message, None for a service.
        """
        if self._now is None and source is not None:
            # In a replay: the request was followed when it was recorded.
            return self._follow(name, is_second=True)
        try:
            return self._follow(name)
        except CommandError:
            # Refused as the first of two; as the second it may be accepted.
            stamp_ns = self._time.stamp_ns
            if name not in TWICE or self._state.refusal(name, stamp_ns, is_second=True):
                raise
            now_ns = self._host.steady_ns()
            # If no charge can be lost by it, `SAFE` may be repeated fast, as in a hurry.
            may_repeat = name == SAFE and not self._state.may_lose
            due_ns = self._repetitions.take(name, source, now_ns, may_repeat=may_repeat)
            if due_ns is None and not self._repetitions.is_stream(name, source):
                raise
        if due_ns is None:
            raise CommandError(self._repeated(name))
        if may_repeat:
            return self._follow(name, is_second=True)
        return f"'{name}' is followed in {(due_ns - now_ns) * 1e-9:.2f} s unless requested again"

    def _repeated(self, name: str) -> str:
        within = self._within
        return (
            f"'{name}' is refused: it is repeated as by a program; make two requests, each with a "
            f'stamp of its own, {LEAST_NS * 1e-9:g} to {within:g} s apart, after {2.0 * within:g} '
            's without one'
        )

    def _follow(self, name: str, *, is_second: bool = False) -> str:
        """Follow a request and return how, or raise `CommandError` with the reason why not."""
        self._prepare(name)
        objections = self._state.objections
        reason = self._state.command(
            name, self._time.stamp_ns, steady_ns=self._steady_now(), is_second=is_second
        )
        if name == 'set_home' and not reason:
            self._home.set_here()
        self._changed()
        if reason:
            raise CommandError(reason)
        text = f"'{name}' accepted"
        self._report_dropped(self._repetitions.drop(), text)
        if name == SAFE:
            self._drop_before(name)
        if objections and self._state.phase.is_armed:
            text = f"{text}, but {'; '.join(objections.values())}"
            self._host.log('warn', text)
        self._followed(name, self._time.stamp_ns)
        return text
