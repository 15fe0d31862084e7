# SPDX-License-Identifier: Apache-2.0
"""Stamps of messages, checked, with a complaint where one is no time."""
from __future__ import annotations

from typing import Any

from propulsion_ros.loops.decoders import checked_stamp
from propulsion_ros.loops.ports import Host
from propulsion_ros.settings.errors import CommandError


def stamp_of(host: Host, source: str, message: Any) -> int | None:
    """Return the stamp of a message [ns]; complain and return None for one that is no time."""
    try:
        return checked_stamp(message.header.stamp)
    except CommandError as error:
        host.complain('refused', f'{source} refused: {error}')
        return None
