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
"""How much older than others an input of a recording may be [ns]: topics lose their order."""
_TOPIC = '~/requests'


class StepRequest(NamedTuple):
    """One change of how a loop steps."""

    name: str
    """One of `NAMES`: the first step after a start or a reset, the last one before a stop, changed
    parameters, or a service call."""
    place: Place
    """Where it acts; of `BEGIN` its stamp is that of the first step."""
    values: Mapping[str, Any]
    """By name; of `BEGIN` what configures the steps, of `SET` the parameters."""

    def row(self) -> StatusRow:
        """Return the status that has it."""
        return StatusRow(self.name, self.place.source, [
            (key, json.dumps(value, default=_plain)) for key, value in self.values.items()
        ])

    @classmethod
    def of(cls, message: Any) -> StepRequest:
        """Return the request of a message; raise `CommandError` where it has none."""
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
    """Return what JSON has no form for as lists and numbers."""
    return np.asarray(value).tolist()


class StepRecord:
    """Publishes what determines the steps of a loop, or takes it from a recording.

    In a replay inputs are held until the recorded beginning has come, for some seconds of stamps:
    topics lose their order, and a recorder may write it behind them. Without it the node steps as
    configured.

    Parameters
    ----------
    adopt : callable
        ``adopt(request)`` takes the settings of the first beginning.

    Attributes
    ----------
    latched : str
        Quality of service of the ports of what is latched live.
    outlets, ports : list
        Of the topic: one outlet live, one port in a replay.
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
        # rosbag2 plays what was subscribed to before it was published as not latched.
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
        """Publish a request that acts behind a place; None is behind the last one published.

        Before the first beginning, which has what was requested before, nothing is published.
        """
        self._place = place or self._place
        if self._place is None or self.is_replay:
            return
        request = StepRequest(name, self._place, values)
        self._host.publish(self._outlet, self._place.stamp_ns, [request.row()])

    # In a replay.

    def guard(self, take: Callable[[Any], None]) -> Callable[[Any], None]:
        """Return what holds the messages of a port until it is known how the steps were made."""
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
        """Follow everything again, after a jump back of time."""
        for request in self._recorded:
            self._schedule(request)

    def _is_waiting(self, message: Any) -> bool:
        """Return whether the beginning is still to come; assume how it was where it does not."""
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
        """Take what is held, since nothing more comes."""
        if self._held:
            self._assume()

    def _assume(self) -> None:
        """Wait for the beginning no more, and step as configured."""
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
            # A bag that is played again has it in each lap.
            return
        self._recorded.append(request)
        if request.name != BEGIN or self._held is None:
            self._schedule(request)
            return
        self._adopt(request)
        self.again()
        self._release()
