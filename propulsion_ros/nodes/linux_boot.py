# SPDX-License-Identifier: Apache-2.0
"""The boot of a computer that runs Linux."""
from __future__ import annotations

import time
from pathlib import Path

from propulsion_ros.loops.flight.boot import Boot
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.files import read_text

_BOOT_ID = Path('/proc/sys/kernel/random/boot_id')
_LONGEST = 1000


def linux_boot() -> Boot:
    """Return the boot of this computer; unknown where the system does not name it."""
    try:
        boot_id = read_text(_BOOT_ID, _LONGEST).strip()
        time.clock_gettime_ns(time.CLOCK_BOOTTIME)
    except (SourceError, OSError, AttributeError):
        return Boot()
    return Boot(boot_id, lambda: time.clock_gettime_ns(time.CLOCK_BOOTTIME))
