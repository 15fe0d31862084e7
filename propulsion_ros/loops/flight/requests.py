"""What operators may request of a flight computer, by service or by a stamped message."""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from propulsion_ros.flight.flight_state import FlightState
from propulsion_ros.flight.home import Home
from propulsion_ros.flight.phases.phases import COMMANDS
from propulsion_ros.loops.decoders import stamp_to_ns
from propulsion_ros.loops.flight.asides import REQUEST, FlightAsides
from propulsion_ros.loops.ports import Host, Port, Request
from propulsion_ros.settings.errors import CommandError
from propulsion_ros.timing.sample_time import SampleTime


class FlightRequests:
    """Follows requests, or refuses them with a reason.

    A service is followed at once, a message after the sample of its stamp, at once where that
    is 0.

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
        changed: Callable[[], None],
        followed: Callable[[str, int], None],
    ) -> None:
        self._host, self._state, self._home = host, state, home
        self._time, self._asides = time, asides
        self._changed, self._followed = changed, followed
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
            elif stamp_to_ns(message.header.stamp):
                self._asides.push(REQUEST, message, status.name)
            else:
                self.follow(status.name)

    def follow(self, name: str) -> None:
        """Follow a request that is due now, or complain."""
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
        objections = self._state.objections
        reason = self._state.command(name, self._time.stamp_ns)
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
