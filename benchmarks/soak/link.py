# SPDX-License-Identifier: Apache-2.0
"""A lossy and slow link between two hosts: frames of two TAP devices, carried by a thread.

It needs no netem in the kernel, and what it loses is drawn from a seed.
"""
from __future__ import annotations

import fcntl
import heapq
import os
import random
import select
import struct
import threading
import time
from collections import Counter
from dataclasses import dataclass

_TUNSETIFF, _IFF_TAP, _IFF_NO_PI = 0x400454CA, 0x0002, 0x1000
_LONGEST_FRAME = 2048
_WAKE = 0.1


@dataclass(frozen=True)
class Weather:
    """How bad the link is, each way.

    Attributes
    ----------
    loss : float
        Share of the frames that are lost.
    delay : float
        On the way [s].
    rate : float
        [bit/s].
    queue : float
        Longest wait for the rate [s]; what would wait longer is dropped.
    """

    loss: float = 0.05
    delay: float = 0.02
    rate: float = 1e6
    queue: float = 0.2


def open_tap(name: str) -> int:
    """Make a TAP device and return its file descriptor, with which it lives and dies."""
    tap = os.open('/dev/net/tun', os.O_RDWR | os.O_NONBLOCK)
    request = struct.pack('16sH22x', name.encode(), _IFF_TAP | _IFF_NO_PI)
    fcntl.ioctl(tap, _TUNSETIFF, request)
    return tap


class Lane:
    """One direction: which frames arrive, and when.

    Parameters
    ----------
    weather : Weather
        How bad it is.
    seed : str
        Of the losses.

    Attributes
    ----------
    counts : collections.Counter
        Frames 'sent', 'lost' by the lot, 'dropped' by the full queue, and 'octets' sent.
    """

    def __init__(self, weather: Weather, seed: str) -> None:
        self._weather = weather
        self._rng = random.Random(seed)  # noqa: S311  no secret
        self._free_at = 0.0
        self.counts: Counter[str] = Counter()

    def arrival(self, now: float, size: int) -> float | None:
        """Return when a frame of so many octets that is sent now arrives, None for never."""
        weather = self._weather
        self.counts.update(sent=1, octets=size)
        # A frame lost on the way has taken its time on the line too.
        begun = max(now, self._free_at)
        if begun - now > weather.queue:
            self.counts['dropped'] += 1
            return None
        self._free_at = begun + 8.0 * size / weather.rate
        if self._rng.random() < weather.loss:
            self.counts['lost'] += 1
            return None
        return self._free_at + weather.delay


class Link:
    """Carries frames between two TAP devices until it is closed.

    Parameters
    ----------
    taps : tuple of int
        File descriptors of both.
    weather : Weather
        Of both directions.
    seed : int
        Of the losses.

    Attributes
    ----------
    lanes : tuple of Lane
        From the first to the second, and back.
    """

    def __init__(self, taps: tuple[int, int], weather: Weather, seed: int) -> None:
        self._taps = taps
        self.lanes = (Lane(weather, f'{seed} there'), Lane(weather, f'{seed} back'))
        self._on_way: list[tuple[float, int, int, bytes]] = []
        self._order = 0
        self._is_open = True
        self._thread = threading.Thread(target=self._carry, daemon=True)
        self._thread.start()

    def _carry(self) -> None:
        while self._is_open:
            now = time.monotonic()
            while self._on_way and self._on_way[0][0] <= now:
                *_, target, frame = heapq.heappop(self._on_way)
                self._deliver(target, frame)
            wait = min(_WAKE, self._on_way[0][0] - now) if self._on_way else _WAKE
            readable, *_ = select.select(self._taps, [], [], wait)
            for tap in readable:
                self._take(tap)

    def _take(self, tap: int) -> None:
        side = self._taps.index(tap)
        frame = os.read(tap, _LONGEST_FRAME)
        arrival = self.lanes[side].arrival(time.monotonic(), len(frame))
        if arrival is not None:
            self._order += 1
            heapq.heappush(self._on_way, (arrival, self._order, self._taps[1 - side], frame))

    @staticmethod
    def _deliver(tap: int, frame: bytes) -> None:
        # A device that is down takes nothing, as a cable that is pulled out.
        try:
            os.write(tap, frame)
        except OSError:
            return

    def close(self) -> None:
        """End the thread and the devices."""
        self._is_open = False
        self._thread.join()
        for tap in self._taps:
            os.close(tap)
