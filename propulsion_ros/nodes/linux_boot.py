"""The boot of a computer that runs Linux."""
from __future__ import annotations

import time
from pathlib import Path

from propulsion_ros.loops.flight.boot import Boot

_BOOT_ID = Path('/proc/sys/kernel/random/boot_id')


def linux_boot() -> Boot:
    """Return the boot of this computer; unknown where the system does not name it."""
    try:
        boot_id = _BOOT_ID.read_text(encoding='ascii').strip()
        time.clock_gettime_ns(time.CLOCK_BOOTTIME)
    except (OSError, AttributeError, UnicodeDecodeError):
        return Boot()
    return Boot(boot_id, lambda: time.clock_gettime_ns(time.CLOCK_BOOTTIME))
