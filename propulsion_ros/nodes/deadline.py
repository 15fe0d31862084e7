# SPDX-License-Identifier: Apache-2.0
"""A deadline for what may hang as a process ends: Fast DDS did so once in some hundred exits."""
from __future__ import annotations

import ctypes
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

LIMIT = 5.0
"""Wall time for the middleware to end [s]."""
_LINE = (
    f'the middleware did not end within {LIMIT:g} s, so this process ends without it; what it '
    'leaves in /dev/shm is removed by: fastdds shm clean'
).encode()
_CLOCK_MONOTONIC, _SIGEV_THREAD = 1, 2
_AFTER_LINE = 0.2
"""From the line to the end [s]."""


@contextmanager
def deadline(code: int, limit: float = LIMIT) -> Iterator[None]:
    """End the process with a code, after one line, where the context lasts longer than a limit.

    The timers are those of C: a thread of Python waits for ever where the middleware hangs, since
    rclpy keeps the lock of the interpreter then. Where C has none there is no deadline.
    """
    libc = ctypes.CDLL(None)
    if not hasattr(libc, 'timer_create'):
        yield
        return
    line = ctypes.c_char_p(_LINE)
    timers = (
        _timer(libc, libc.warnx, ctypes.cast(line, ctypes.c_void_p).value, limit),
        _timer(libc, libc._exit, code, limit + _AFTER_LINE),
    )
    try:
        yield
    finally:
        for timer in filter(None, timers):
            libc.timer_delete(timer)


def _timer(libc: ctypes.CDLL, function: Any, value: int | None, delay: float) -> ctypes.c_void_p:
    """Return what calls a function of C once, with a value, after some seconds; 0 for nothing."""
    timer, address = ctypes.c_void_p(), ctypes.cast(function, ctypes.c_void_p).value
    event = struct.pack('PiiPP32x', value, 0, _SIGEV_THREAD, address, 0)
    seconds, part = divmod(delay, 1.0)
    times = struct.pack('4l', 0, 0, int(seconds), int(part * 1e9))
    if libc.timer_create(_CLOCK_MONOTONIC, event, ctypes.byref(timer)) == 0:
        libc.timer_settime(timer, 0, times, None)
    return timer
