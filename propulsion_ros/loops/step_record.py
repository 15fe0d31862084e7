# SPDX-License-Identifier: Apache-2.0
"""The topic ``~/requests`` of a loop that steps: published live, followed in a replay."""
from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from propulsion_ros.loops.decoders import checked_stamp, stamp_to_ns
from propulsion_ros.loops.payloads import Kind, StatusRow
from propulsion_ros.loops.ports import Host, Outlet, Port
from propulsion_ros.settings.errors import CommandError
from propulsion_ros.timing.stamped_inputs import QUEUE_LIMIT
from propulsion_ros.timing.stepping import Place

BEGIN, END, SET, RESET, ENABLE, DISABLE = 'begin', 'end', 'set', 'reset', 'enable', 'disable'
NAMES = (BEGIN, END, SET, RESET, ENABLE, DISABLE)
LAG_NS = 5_000_000_000
"""Largest lag of an input of a recording behind others [ns], as topics are out of order."""
_TOPIC = '~/requests'


class StepRequest(NamedTuple):
    """One request that changes the steps of a loop."""

    name: str
    """One of `NAMES`: the first step after a start or a reset, the last one before a stop, changed
    parameters, or a service call."""
    place: Place
    """Place at which it acts; the stamp of a `BEGIN` is that of the first step."""
    values: Mapping[str, Any]
    """Values by name: of a `BEGIN` the settings of the steps, of a `SET` the parameters."""

    def row(self) -> StatusRow:
        """Return the status that carries the request."""
        return StatusRow(self.name, self.place.source, [
            (key, json.dumps(value, default=_plain)) for key, value in self.values.items()
        ])

    @classmethod
    def of(cls, message: Any) -> StepRequest:
        """Return the request of a message; raise `CommandError` if it has none."""
        status = message.status[0] if len(message.status) == 1 else None
        if status is None or status.name not in NAMES:
            raise CommandError(f'expected one status, one of {", ".join(NAMES)}')
        try:
            values = {each.key: json.loads(each.value) for each in status.values}
        except ValueError as error:
            raise CommandError(f'{status.name}: expected values as JSON, {error}') from None
        return cls(status.name, Place(checked_stamp(message.header.stamp), status.message), values)


def is_of_steps(message: Any) -> bool:
    """Return whether a message of a recording is the request of a loop that steps."""
    # A reset of the flight software has no values.
    return any(status.name in NAMES and status.values for status in message.status)


def _plain(value: Any) -> Any:
    """Return a value for which JSON has no form, such as an array, as lists and numbers."""
    return np.asarray(value).tolist()


class StepRecord:
    """Publishes the requests that determine the steps of a loop, or takes them from a recording.

    A replay holds inputs until the recorded beginning has come, but for at most some seconds of
    stamps: a recorder may write the beginning later than the inputs, as topics are out of order.
    Without a beginning the node steps as configured.

    Parameters
    ----------
    adopt : callable
        ``adopt(request)`` takes the settings of the first beginning.

    Attributes
    ----------
    latched : str
        Quality of service of ports whose topics are latched live.
    outlets, ports : list
        One outlet of the topic live, one port in a replay.
    """

    def __init__(
        self,
        host: Host,
        adopt: Callable[[StepRequest], None],
        schedule: Callable[[StepRequest], None],
        is_replay: bool,
    ) -> None:
        self._host, self._adopt, self._schedule = host, adopt, schedule
        self.is_replay = is_replay
        # rosbag2 plays a topic as not latched if it was subscribed to before it was published.
        self.latched = 'command' if is_replay else 'latched'
        self._outlet = Outlet(_TOPIC, Kind.STATUSES, 'latched_history', overridable=False)
        self.outlets = [] if is_replay else [self._outlet]
        port = Port(
            _TOPIC, Kind.STATUSES, self._take, self.latched, lossless=True, while_inactive=True,
            overridable=False,
        )
        self.ports = [port] if is_replay else []
        self._place: Place | None = None
        self._oldest_ns = self._newest_ns = 0
        self._recorded: list[StepRequest] = []
        self._held: list[tuple[Callable[[Any], None], Any]] | None = [] if is_replay else None

    # Live.

    def note(self, name: str, place: Place | None, values: Mapping[str, Any]) -> None:
        """Publish a request that acts after a place; None is after the last one published.

        Nothing is published before the first beginning, which includes all earlier requests.
        """
        self._place = place or self._place
        if self._place is None or self.is_replay:
            return
        request = StepRequest(name, self._place, values)
        self._host.publish(self._outlet, self._place.stamp_ns, [request.row()])

    # In a replay.

    def guard(self, take: Callable[[Any], None]) -> Callable[[Any], None]:
        """Return a callback that holds the messages of a port until the beginning has come."""
        if not self.is_replay:
            return take

        def hold(message: Any) -> None:
            if self._is_waiting(message):
                # A reader may use the same object for the next message.
                self._held.append((take, copy.deepcopy(message)))  # type: ignore[union-attr]
            else:
                take(message)

        return hold

    def is_first(self, request: StepRequest) -> bool:
        """Return whether nothing was recorded before a request."""
        return request is self._recorded[0]

    def again(self) -> None:
        """Schedule all requests again, after a jump back of time."""
        for request in self._recorded:
            self._schedule(request)

    def _is_waiting(self, message: Any) -> bool:
        """Return whether the beginning may still come; assume one after a timeout."""
        if self._held is None:
            return False
        if hasattr(message, 'header'):
            self._newest_ns = stamp_to_ns(message.header.stamp)
            self._oldest_ns = self._oldest_ns or self._newest_ns
        is_long = self._newest_ns - self._oldest_ns > LAG_NS or len(self._held) >= QUEUE_LIMIT
        if self._host.publishers_of(_TOPIC) and not is_long:
            return True
        self._assume()
        return False

    def finish(self) -> None:
        """Take the messages that are held, since no more come."""
        if self._held:
            self._assume()

    def _assume(self) -> None:
        """Stop waiting for the beginning, and step as configured."""
        topic, why = self._host.resolve_topic_name(_TOPIC), 'is not recorded'
        if self._host.publishers_of(_TOPIC):
            why = f'has no begin at {self._oldest_ns * 1e-9:.3f} s, which is in mid-stream'
        self._host.log('warn', (
            f'{topic} {why}: it is assumed that this node stepped as it is configured here, with '
            'the parameters that it has now'
        ))
        self._release()

    def _release(self) -> None:
        held, self._held = self._held or [], None
        for take, message in held:
            take(message)

    def _take(self, message: Any) -> None:
        try:
            request = StepRequest.of(message)
        except CommandError as error:
            self._host.complain('refused', f'requests refused: {error}')
            return
        if request in self._recorded:
            # A bag that is played again repeats its requests in each lap.
            return
        self._recorded.append(request)
        if request.name != BEGIN or self._held is None:
            self._schedule(request)
            return
        self._adopt(request)
        self.again()
        self._release()
