# SPDX-License-Identifier: Apache-2.0
"""Rows of a table as the messages that loops take."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from propulsion_ros.loops.payloads import JointRow, Kind, MassRow, OdometryRow
from propulsion_ros.loops.ports import Outlet
from propulsion_ros.models.common.family import WRENCH_NAMES
from propulsion_ros.replay.command_table import Row
from propulsion_ros.replay.host import LoopHost
from propulsion_ros.replay.plain import maker_of

KINDS = {
    'command': Kind.JOINTS,
    'wrench_command': Kind.WRENCH,
    'inertia': Kind.INERTIA,
    'odometry': Kind.ODOMETRY,
}
"""Type of each topic of a node that a table can give."""
_Key = tuple[str, str]
_STILL, _LEVEL = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0)


class RowMessages:
    """Makes messages for one loop out of rows.

    Parameters
    ----------
    host : LoopHost
        Of the loop, which has commands.

    Attributes
    ----------
    names : sequence of str
        What can be commanded.
    """

    def __init__(self, host: LoopHost) -> None:
        loop: Any = host.loop
        self.names = frozenset(loop.family.command_names)
        # A frame without a name is taken for that of the loop.
        self._outlets = {
            name: Outlet(host.resolve_topic_name(f'~/{name}'), kind, 'command')
            for name, kind in KINDS.items()
        }
        self._velocity: Sequence[float] = _STILL
        self._angular_velocity: Sequence[float] = _STILL

    def of(self, stamp_ns: int, row: Row) -> Iterator[tuple[str, Any]]:
        """Yield the topics and messages of a row."""
        if row.com is not None:
            yield self._message('inertia', stamp_ns, MassRow(1.0, row.com, np.zeros((3, 3))))
        if row.velocity is not None or row.angular_velocity is not None:
            yield self._message('odometry', stamp_ns, self._motion(row))
        if row.wrench:
            # A part without a number is not commanded.
            parts = [row.wrench.get(name) for name in WRENCH_NAMES]
            yield self._message('wrench_command', stamp_ns, parts)
        if row.commands:
            joints = self._joints(row.commands)
            if joints is not None:
                yield self._message('command', stamp_ns, joints)

    def _joints(self, commands: dict[_Key, float]) -> JointRow | None:
        """Return the commands of the loop, NaN where a name has another field; None for none."""
        keys = [key for key in commands if key[0] in self.names]
        names = list(dict.fromkeys(name for name, _ in keys))
        return JointRow(names=names, **{
            field: [commands.get((name, field), np.nan) for name in names]
            for field in {field for _, field in keys}
        }) if keys else None

    def _motion(self, row: Row) -> OdometryRow:
        if row.velocity is not None:
            self._velocity = row.velocity.tolist()
        if row.angular_velocity is not None:
            self._angular_velocity = row.angular_velocity.tolist()
        return OdometryRow('', _STILL, _LEVEL, self._velocity, self._angular_velocity)

    def _message(self, name: str, stamp_ns: int, payload: Any) -> tuple[str, Any]:
        outlet = self._outlets[name]
        return outlet.topic, maker_of(outlet)(outlet, stamp_ns, payload)
