# SPDX-License-Identifier: Apache-2.0
"""Whether something holds the vehicle, and for how long that has been certain."""
from __future__ import annotations

import math
from statistics import median
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from propulsion_ros.flight.belief.belief import ALIKE, Belief, Channel
from propulsion_ros.flight.belief.modes import Mode
from propulsion_ros.flight.belief.readings import Readings
from propulsion_ros.timing.dwell import Dwell

SETTLING = 15.0
"""For how long after its start a barometer may settle [s]."""
CERTAIN, DOUBTFUL = 0.995, 0.5
"""Probabilities from which it is certain, and likely, that something holds the vehicle."""
_FLIES, _FLIES_TIME = 0.01, 0.3  # it has left what held it below that, for so long [s]
_LEFT = 10.0  # and so far from there [m]
_SHOWN, _SHOWN_TIME = 0.9, 1.0  # likewise, as a height or a speed that lives shows [s]
_FALLEN = 10.0  # after which a flight climbs no more [m]
_CLIMB = 20.0  # what has risen so far has not just been let fall [m]
_DATED_NS = 10_000_000_000  # no departure is dated back by more
_LIVE_NS = (300_000_000, 15_000_000_000)  # after so long without a reading a channel shows nothing:
_INTERVALS = 2.5  # within these bounds, so many of the shorter one of its last two intervals
_REPEATS_NS = (0, 10_000_000_000)  # for how long a channel may repeat itself: at least,
# and at most, where half as long was usual on the pad
_STALE_NS = 2_500_000_000  # one that has repeated itself for longer makes nothing certain
_DOUBT_NS = 30_000_000_000  # for so long after its last sign it is doubtful that it flies
_HIGH, _LEVEL = 100.0, 1.0  # a level height so far up may be that of a blocked port [m], [m/s]
_LANDS = 5.0  # the slowest descent from there [m/s]
_SETTLED_NS = 1_000_000_000  # certain for so long, a barometer has settled
_LIKELY = 2.0  # where it was likely for so long [s]
_WINDOW_NS = (40_000_000, 100_000_000, 100_000_000, 100_000_000)
# Readings of height, speed, force and rate are put together for so long.
_LONGEST_NS = 100_000_000  # after which time passes without a reading


class Departure(NamedTuple):
    """When the vehicle left what had held it, on the flight clock [ns], and how that was seen.

    ``source`` is 'acceleration' where an accelerometer felt it, 'climb', or 'fall' where it sank.
    """

    clock_ns: int
    source: str


class _Mean(NamedTuple):
    """Of several readings: the middle one, or the size of the mean vector; over which time [s]."""

    size: float
    seconds: float


class _Feed:
    """Puts the readings of one channel together, and knows whether it lives."""

    def __init__(self, window_ns: int) -> None:
        self._window_ns = window_ns
        self.reset()

    def reset(self) -> None:
        self._last: tuple[float, ...] = ()
        self._usual_ns = self._interval_ns = 0
        self._elapsed_ns: int | None = None
        self.new_ns = self._read_ns = -_LIVE_NS[1]
        self._sum: list[tuple[float, ...]] = []

    def take(
        self, now_ns: int, values: tuple[float, ...], *, learns: bool
    ) -> _Mean | None:
        """Take a reading; return the mean of several where it is time."""
        if not all(map(math.isfinite, values)):
            return None
        if values != self._last:
            self._last, self.new_ns = values, now_ns
        elif learns:
            self._usual_ns = max(self._usual_ns, now_ns - self.new_ns)
        least_ns, most_ns = _REPEATS_NS
        longest_ns = min(max(least_ns, 2 * self._usual_ns), most_ns)
        if now_ns - self.new_ns > longest_ns:
            self._sum.clear()
            return None
        self._sum.append(values)
        elapsed_ns = now_ns - self._read_ns
        if elapsed_ns < self._window_ns:
            return None
        columns = list(zip(*self._sum, strict=True))
        # A vector shakes, and what is one number has wild readings.
        size = (
            median(columns[0]) if len(columns) == 1
            else math.hypot(*(math.fsum(each) / len(each) for each in columns))
        )
        self._sum.clear()
        self._read_ns = now_ns
        # Of the first reading nothing is known, and a gap is no interval.
        self._interval_ns = 0 if self._elapsed_ns is None else min(elapsed_ns, self._elapsed_ns)
        self._elapsed_ns = elapsed_ns
        return _Mean(size, elapsed_ns * 1e-9)

    def is_live(self, now_ns: int) -> bool:
        """Return whether it was read lately."""
        least_ns, most_ns = _LIVE_NS
        return now_ns - self._read_ns < min(max(_INTERVALS * self._interval_ns, least_ns), most_ns)

    def is_fresh(self, now_ns: int) -> bool:
        """Return whether it changed lately too."""
        return now_ns - self.new_ns < _STALE_NS and self.is_live(now_ns)


class MotionWatch:
    """Follows the belief about the motion at each sample.

    Parameters
    ----------
    lasts : float
        For how long it must be certain [s].
    settles : bool
        Whether a barometer that has just started settles.

    Attributes
    ----------
    probability : float
        That something holds the vehicle, and a live sensor shows it.
    is_certain : bool
        Whether that has been certain for a second, by sensors that change.
    is_supported : bool
        Whether that has been certain for long enough, and the vehicle was not seen to fly since:
        silence withdraws nothing.
    is_doubtful : bool
        Whether it is likely, or was until a height or a speed died at most 30 s ago.
    flies : bool
        Whether likely nothing holds it, as a live height or speed shows.
    flown_ns : int or None
        When a sensor last lived while likely nothing held it [ns]; None where none did.
    departure : Departure or None
        The first one since the last call of `await_departure`.
    is_shown : bool
        Whether a live height or speed has shown for a second that nothing holds it.
    fallen : float
        How far it is below where it was highest since nothing holds it, as far as the pad, as a
        live height or speed shows [m]; 0 where it does not sink.
    has_fallen : bool
        Whether it has fallen by more than 10 m since the last call of `await_departure`.
    """

    def __init__(self, lasts: float, *, settles: bool = True) -> None:
        self._settles = settles
        self._belief = Belief()
        self._feeds = [_Feed(window_ns) for window_ns in _WINDOW_NS]
        self._channels = self._feeds[:len(Channel)]
        self._certain, self._likely = Dwell(lasts), Dwell(_LIKELY)
        self._leaves, self._shown = Dwell(_FLIES_TIME), Dwell(_SHOWN_TIME)
        self.reset()

    def reset(self) -> None:
        """Forget everything, and begin on the pad."""
        self.begin(in_air=False, settling=SETTLING)

    def begin(
        self, *, in_air: bool, is_supported: bool = False, held: float = 0.0,
        settling: float = 0.0,
    ) -> None:
        """Begin anew, on the pad or where the vehicle may fly.

        What was certain before a restart stays so, and what was likely stays as likely. A barometer
        that has just started may settle for a while [s].
        """
        self._belief.reset(
            in_air=in_air and not is_supported, held=held,
            settling=settling if self._settles else 0.0,
        )
        for feed in self._feeds:
            feed.reset()
        self._certain.reset()
        self._likely.reset()
        self._shown.reset()
        self._clock_ns: int | None = None
        self._held_ns: int | None = None
        self._rested_ns: int | None = None
        self._begin: float | None = None
        self._highest = -math.inf
        self.is_shown, self.fallen = False, 0.0
        self.await_departure()
        self._doubtful_ns = -_DOUBT_NS
        self._level_ns: int | None = None
        self.flies = False
        self.flown_ns: int | None = None
        self.probability = 0.0
        self.is_supported, self.is_doubtful, self.is_certain = is_supported, False, False

    def await_departure(self) -> None:
        """Forget what left before, as at arming."""
        self._leaves.reset()
        self.departure: Departure | None = None
        self.has_fallen = False

    @property
    def news_ns(self) -> int:
        """When a height, a speed or a force last gave something new [ns]."""
        return max(feed.new_ns for feed in self._channels)

    @property
    def held(self) -> float:
        """Probability that something holds the vehicle, by whatever shows it."""
        return self._belief.held

    @property
    def height(self) -> float:
        """Where it is if something holds it [m]."""
        return self._belief.height

    def update(
        self, now_ns: int, readings: Readings, *, learns: bool, has_flown: bool = False,
        is_lit: bool = False,
    ) -> None:
        """Take readings.

        Parameters
        ----------
        now_ns : int
            On the flight clock [ns].
        readings : Readings
            Since the last call.
        learns : bool
            Whether the vehicle waits on the pad: how long its sensors repeat themselves is usual.
        has_flown : bool
            Whether it has lifted off, so that a level height far up may be that of a blocked port.
        is_lit : bool
            Whether an engine was lit just before.
        """
        values = (readings.height,), (readings.speed,), readings.force, readings.rate
        due = [
            feed.take(now_ns, value, learns=learns)
            for feed, value in zip(self._feeds, values, strict=True)
        ]
        since_ns = now_ns if self._clock_ns is None else self._clock_ns
        if self._clock_ns is None or any(due) or now_ns - since_ns > _LONGEST_NS:
            self._clock_ns = now_ns
            if now_ns > since_ns:
                self._belief.advance((now_ns - since_ns) * 1e-9, is_lit=is_lit)
            self._read(due)
            self._judge(now_ns, has_flown=has_flown)

    def _read(self, due: list[_Mean | None]) -> None:
        for channel, found in zip(Channel, due, strict=False):
            if found is not None:
                weight = min(found.seconds / ALIKE[channel], 1.0)
                self._belief.read(channel, found.size, weight)
        if due[-1] is not None:
            self._belief.read_spin(due[-1].size, due[-1].seconds)

    def _may_be_blocked(self, now_ns: int) -> bool:
        """Return whether it may still fall beside a level height: until it must have landed."""
        height, flies = self._belief.height, self._belief.held < DOUBTFUL
        if flies or height < _HIGH or abs(self._belief.speed) > _LEVEL:
            self._level_ns = None
            return False
        if self._level_ns is None:
            self._level_ns = now_ns
        return (now_ns - self._level_ns) * 1e-9 < height / _LANDS

    def _judge(self, now_ns: int, *, has_flown: bool) -> None:
        belief = self._belief
        live = np.array([feed.is_live(now_ns) for feed in self._channels])
        self._judge_flight(now_ns, live)
        fresh = np.array([feed.is_fresh(now_ns) for feed in self._channels])
        if fresh[Channel.FORCE]:
            # A coarse height that repeats itself as it did on the pad, beside a force that lives.
            fresh = live
        self.probability = belief.supported(live)
        may_be_blocked = has_flown and self._may_be_blocked(now_ns)
        # A height that comes back, as after a landing, need not be believed yet.
        likely = belief.held if live[Channel.HEIGHT] else self.probability
        is_likely = likely >= DOUBTFUL and not may_be_blocked
        if self._likely.update(now_ns, is_likely):
            self._doubtful_ns = now_ns
        is_recent = now_ns - self._doubtful_ns < _DOUBT_NS
        self.is_doubtful = is_likely or (is_recent and belief.held >= DOUBTFUL)
        is_certain = belief.supported(fresh) >= CERTAIN and not may_be_blocked
        has_lasted = self._certain.update(now_ns, is_certain)
        begun_ns = self._certain.start_ns
        self.is_certain = begun_ns is not None and now_ns - begun_ns > _SETTLED_NS
        if self.is_certain:
            belief.settle()
        if belief.held < DOUBTFUL:
            self.is_supported, self._doubtful_ns = False, -_DOUBT_NS
            if live.any():
                self.flown_ns = now_ns
        elif has_lasted:
            self.is_supported = True

    def _judge_flight(self, now_ns: int, live: NDArray[np.bool_]) -> None:
        """Find out whether it has left what held it, and how far it has fallen."""
        belief = self._belief
        agreed = belief.flies(live)
        self.flies = bool(live.any()) and agreed >= DOUBTFUL
        if not live.any():
            return
        self.is_shown = self._shown.update(now_ns, agreed >= _SHOWN)
        height, speed = belief.flight
        sinks = agreed >= DOUBTFUL and speed < 0.0 and bool(live[:Channel.FORCE].any())
        if belief.rests(live) >= _SHOWN:
            self._rested_ns = now_ns
        if belief.held >= CERTAIN:
            self._held_ns, self._begin = now_ns, belief.height
        elif self._begin is None:
            self._begin = height
        if belief.held >= DOUBTFUL:
            self._highest = -math.inf
        elif live[Channel.HEIGHT]:
            self._highest = max(self._highest, height)
        self.fallen = self._highest - max(height, 0.0) if sinks else 0.0
        self.has_fallen = self.has_fallen or self.fallen > _FALLEN
        source = 'acceleration' if live[Channel.FORCE] else 'climb'
        falls = sinks and self._highest - self._begin < _CLIMB
        is_away = abs(height - self._begin) > _LEFT
        if self._leaves.update(now_ns, belief.held < _FLIES) and is_away and self.departure is None:
            self.departure = Departure(
                now_ns - self._elapsed_ns(now_ns, height - self._begin, speed, source),
                'fall' if falls else source,
            )

    def _elapsed_ns(self, now_ns: int, height: float, speed: float, source: str) -> int:
        """Return how long ago it left, at a height [m] and a speed [m/s] now [ns].

        An accelerometer that is believed now was right when it was not. A steady push from rest
        brings it to half of what the speed would have brought it to.
        """
        since_ns = self._leaves.start_ns if self._held_ns is None else self._held_ns
        if source == 'acceleration' and self._rested_ns is not None and since_ns is not None:
            since_ns = min(since_ns, self._rested_ns)
        elapsed_ns = 0 if since_ns is None else now_ns - since_ns
        if height > 0.0 and speed > 0.0 and self._belief.modes[Mode.PUSHED] > DOUBTFUL:
            elapsed_ns = max(elapsed_ns, round(2.0 * height / speed * 1e9))
        return min(elapsed_ns, _DATED_NS)
