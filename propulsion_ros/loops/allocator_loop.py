# SPDX-License-Identifier: Apache-2.0
"""From a demanded wrench to the commands of a group of actuators, without ROS."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from propulsion_ros.loops.decoders import checked_stamp, checked_wrench
from propulsion_ros.loops.payloads import JointRow, Kind
from propulsion_ros.loops.ports import OK, WARN, Health, Host, Outlet, Port, Request, Timer
from propulsion_ros.models.common.allocation import Allocation, Allocator
from propulsion_ros.models.common.family import Allocatable
from propulsion_ros.settings.errors import CommandError


class AllocatorLoop:
    """Shares each demanded wrench among the actuators of one group, within their limits.

    Parameters
    ----------
    family : Allocatable
        The group.
    allocator : Allocator
        What shares.
    frame : str
        Of the demand.
    host : Host
        What connects the ports.
    lossless : bool
        Whether no message may be lost.

    Attributes
    ----------
    ports, outlets, requests, timers
        As of a `Loop`.
    """

    def __init__(
        self,
        family: Allocatable,
        allocator: Allocator,
        frame: str,
        host: Host,
        *,
        lossless: bool = False,
    ) -> None:
        self._family, self._allocator, self._frame, self._host = family, allocator, frame, host
        self._field = family.command_fields[0]
        self._newest: Allocation | None = None
        self._command = Outlet(
            '~/command', Kind.JOINTS, 'result', frame, tuple(family.command_names), lossless
        )
        self._residual = Outlet(
            '~/residual', Kind.WRENCH, 'result', frame, (), lossless, overridable=False
        )
        self.outlets = (self._command, self._residual)
        self.ports = (Port('~/wrench_command', Kind.WRENCH, self._take, 'command', lossless),)
        self.requests: Sequence[Request] = ()
        self.timers: Sequence[Timer] = ()

    def _take(self, message: Any) -> None:
        try:
            demand = checked_wrench(message, self._frame)
            stamp_ns = checked_stamp(message.header.stamp)
        except CommandError as error:
            self._host.complain('refused', f'wrench_command refused: {error}')
            return
        allocation = self._newest = self._allocator.allocate(demand)
        values: dict[str, Any] = {self._field: self._family.command_for(allocation.effort)}
        self._host.publish(self._command, stamp_ns, JointRow(**values))
        # A stamp of 0 means now, for the group as for what reads the residual.
        self._host.publish(self._residual, stamp_ns or self._host.now_ns(), allocation.residual)

    def start(self) -> None:
        """Begin; nothing is remembered."""

    def stop(self) -> None:
        """Publish nothing more: a group without commands becomes safe by itself."""

    def health(self) -> Iterator[Health]:
        """Yield which actuators are at their limits, and what was refused."""
        saturated = 0 if self._newest is None else int(np.count_nonzero(self._newest.saturated))
        level, text = (WARN, 'saturated') if saturated else (OK, 'ok')
        if self._newest is None:
            level, text = self._host.absence(self.ports, 'command')
        yield 'allocation', level, text, {
            'saturated': saturated, 'refused': self._host.counts['refused'],
        }
