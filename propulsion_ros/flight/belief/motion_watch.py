# SPDX-License-Identifier: Apache-2.0
"""Whether something holds the vehicle, and for how long that has been certain."""
from __future__ import annotations

import math
from typing import NamedTuple

from propulsion_ros.flight.belief.belief import ALIKE, Belief, Channel
from propulsion_ros.flight.belief.departure import CERTAIN, LIKELY, STILL, Departure, DepartureWatch
from propulsion_ros.flight.belief.readings import Readings
from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY
from propulsion_ros.timing.dwell import Dwell

_LIVE_NS = (300_000_000, 2_000_000_000)  # after so long without a reading a channel shows nothing:
_INTERVALS = 2.5  # within these bounds, so many of its own intervals
_REPEATS_NS = (500_000_000, 10_000_000_000)  # for how long a channel may repeat itself: at least,
# and at most, where half as long was usual on the pad
_MOVES = (3.0, 3.0, 3.0, math.inf)  # a change of height [m], speed [m/s], force [m/s^2] by more
# moves on until the next one: a value that repeats itself between such changes is only held,
_KNOCK = 0.3  # what is off 1 g for longer is no knock, and moves it [s],
_TUMBLES_NS = 1_000_000_000  # as what lands does for so long
_HELD = 1.5  # for so many times the time between them
_ZERO, _DOUBTED = 0.5, 0.1  # what a dead accelerometer shows at most [m/s^2], and is believed
_STALE_NS = 2_500_000_000  # one that has repeated itself for longer makes nothing certain
_STAYS_LIKELY_NS = 30_000_000_000  # for so long after its last sign it stays likely
_HIGH, _LEVEL = 100.0, 1.0  # a level height so far up may be that of a blocked port [m], [m/s]
_OFF_LEVEL = 5.0  # but not one that moves so far [m]
_LANDS = 5.0  # the slowest descent from there [m/s]
_LIKELY_TIME = 2.0  # where it was likely for so long [s]
_WINDOW_NS = (40_000_000, 100_000_000, 100_000_000, 100_000_000)
# Readings of height, speed, force and rate are put together for so long.
_SCATTER_TIME = 1.0  # over which the noise of a channel is measured [s]
_GLITCH = 10.0  # times its variance, of what is no noise
_FAR_OFF = 25.0  # times that of one reading, of what is a glitch
_LONGEST_NS = 100_000_000  # after which time passes without a reading


class _Mean(NamedTuple):
    """A mean of readings: the value, or the size of a vector, over a time [s], and its variance."""

    size: float
    seconds: float
    variance: float


class _Feed:
    """Puts the readings of one channel together, and knows whether it lives."""

    def __init__(self, window_ns: int, moves: float) -> None:
        self._window_ns, self._moves = window_ns, moves
        self.reset()

    def reset(self) -> None:
        self._last: tuple[float, ...] = ()
        self._usual_ns = self._interval_ns = self._held_ns = 0
        self._variance = 0.0
        self._new_ns = self._read_ns = -_LIVE_NS[1]
        self._sum: list[tuple[float, ...]] = []

    def take(
        self, now_ns: int, values: tuple[float, ...], *, learns: bool, since_ns: int | None = None
    ) -> _Mean | None:
        """Take a reading; return the mean of several where it is time.

        What repeats itself for longer than it did where it ``learns`` is no reading, but where
        another sensor shows that nothing has moved it since a moment.
        """
        if not all(map(math.isfinite, values)):
            return None
        repeats_ns = now_ns - self._new_ns
        if values != self._last:
            is_move = bool(self._last) and math.dist(values, self._last) > self._moves
            self._held_ns = round(_HELD * repeats_ns) if is_move else 0
            self._last, self._new_ns = values, now_ns
        elif repeats_ns < self._held_ns:
            return None
        elif learns:
            self._usual_ns = max(self._usual_ns, repeats_ns)
        least_ns, most_ns = _REPEATS_NS
        longest_ns = min(max(least_ns, 2 * self._usual_ns), most_ns)
        is_explained = since_ns is not None and self._new_ns >= since_ns
        if now_ns - self._new_ns > longest_ns and not is_explained:
            self._sum.clear()
            return None
        self._sum.append(values)
        elapsed_ns = now_ns - self._read_ns
        if elapsed_ns < self._window_ns:
            return None
        mean, noise = self._put_together(elapsed_ns * 1e-9)
        self._read_ns, self._interval_ns = now_ns, elapsed_ns
        size = mean[0] if len(mean) == 1 else math.sqrt(
            # Noise adds to the size of a vector.
            max(math.fsum(each * each for each in mean) - noise, 0.0)
        )
        return _Mean(size, elapsed_ns * 1e-9, self._variance)

    def _put_together(self, seconds: float) -> tuple[list[float], float]:
        """Return the mean of the readings and its variance; learn how certain such means are."""
        if len(self._sum[0]) == 1:
            self._drop_glitch()
        count = len(self._sum)
        mean = [math.fsum(each) / count for each in zip(*self._sum, strict=True)]
        noise = 0.0
        if count > 1:
            squares = math.fsum(math.dist(each, mean) ** 2 for each in self._sum)
            # One reading that is far off is no noise.
            noise = min(squares / (count * (count - 1)), _GLITCH * (self._variance + 1.0))
            news = -math.expm1(-min(seconds / _SCATTER_TIME, 1.0))
            self._variance += news * (noise - self._variance)
        self._sum.clear()
        return mean, noise

    def _drop_glitch(self) -> None:
        """Drop the farthest of at least three readings where that is no noise."""
        count = len(self._sum)
        if count < 3:
            return
        middle = sorted(self._sum)[count // 2]
        farthest = max(self._sum, key=lambda each: math.dist(each, middle))
        if math.dist(farthest, middle) ** 2 > _FAR_OFF * (1.0 + count * self._variance):
            self._sum.remove(farthest)

    def is_live(self, now_ns: int) -> bool:
        """Return whether it was read lately."""
        least_ns, most_ns = _LIVE_NS
        return now_ns - self._read_ns < min(max(_INTERVALS * self._interval_ns, least_ns), most_ns)

    def is_fresh(self, now_ns: int) -> bool:
        """Return whether it changed lately too."""
        return now_ns - self._new_ns < _STALE_NS and self.is_live(now_ns)


class MotionWatch:
    """Follows the belief about the motion at each sample.

    Parameters
    ----------
    lasts : float
        For how long it must be certain [s].
    begins_anywhere : bool
        Whether it may begin in the air, as a log does; else it begins on a pad.

    Attributes
    ----------
    probability : float
        That something holds the vehicle, and a live sensor shows it.
    is_certain : bool
        Whether that is certain now, by sensors that change.
    is_supported : bool
        Whether that has been certain for long enough, and the vehicle was not seen to fly since:
        silence withdraws nothing.
    is_likely : bool
        Whether it is likely, or was until a height or a speed died at most 30 s ago.
    held : float
        Probability that something holds the vehicle, by whatever shows it.
    flown_ns : int or None
        When a live sensor last showed that nothing holds it [ns]; None where none did.
    """

    def __init__(self, lasts: float, *, begins_anywhere: bool = False) -> None:
        self._begins_anywhere = begins_anywhere
        self._belief = Belief()
        self._feeds = [_Feed(*each) for each in zip(_WINDOW_NS, _MOVES, strict=True)]
        self._channels = self._feeds[:len(Channel)]
        self._certain, self._likely, self._stands = Dwell(lasts), Dwell(_LIKELY_TIME), Dwell(lasts)
        self._departure = DepartureWatch()
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        self.begin(in_air=self._begins_anywhere)

    def begin(self, *, in_air: bool, is_supported: bool = False, held: float = 0.0) -> None:
        """Begin anew, on the pad or where the vehicle may fly.

        What was certain before a restart stays so, and what was likely stays as likely: that it
        was counts for as long as after the last sign of it.
        """
        in_air = in_air and not is_supported
        self._belief.reset(in_air=in_air, held=held)
        self._departure.reset(in_air=in_air)
        for feed in self._feeds:
            feed.reset()
        self._certain.reset()
        self._likely.reset()
        self._stands.reset()
        self._clock_ns: int | None = None
        self._likely_ns, self._was_likely = -_STAYS_LIKELY_NS, held >= LIKELY
        self._level_ns: int | None = None
        self._level, self._has_moved = 0.0, False
        self._height = math.nan
        self._pushed, self._moved_ns, self._is_dead = 0.0, 0, False
        self.flown_ns: int | None = None
        self.probability, self.held = 0.0, self._belief.held
        self.is_supported, self.is_likely, self.is_certain = is_supported, False, False

    def light(self) -> None:
        """Know that an engine is being lit by a command."""
        self._belief.light()

    def douse(self) -> None:
        """Know that no engine is lit any more by that command."""
        self._belief.douse()

    @property
    def departure(self) -> Departure | None:
        """When it left what held it, where it certainly flies now."""
        return self._departure.found

    @property
    def fallen(self) -> float:
        """How far it has dropped from where it was held [m]; 0 where it has not."""
        return self._departure.fallen

    @property
    def height(self) -> float:
        """Where it is if something holds it [m]."""
        return self._belief.height

    def update(
        self, now_ns: int, readings: Readings, *, learns: bool, has_flown: bool = False
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
            Whether a liftoff was seen, so that a level height far up may be that of a blocked port.
        """
        self._departure.feel(now_ns, readings.force)
        values = (readings.height,), (readings.speed,), readings.force, readings.rate
        # A coarse height stays where it is, and a force that lives agrees.
        is_felt = self._feeds[Channel.FORCE].is_fresh(now_ns) and not self._is_dead
        unmoved_ns = (self._moved_ns if is_felt else None), None, None, None
        due = [
            feed.take(now_ns, value, learns=learns, since_ns=since)
            for feed, value, since in zip(self._feeds, values, unmoved_ns, strict=True)
        ]
        since_ns = now_ns if self._clock_ns is None else self._clock_ns
        if self._clock_ns is None and self._was_likely:
            self._likely_ns = now_ns
        if self._clock_ns is None or any(due) or now_ns - since_ns > _LONGEST_NS:
            self._clock_ns = now_ns
            if now_ns > since_ns:
                self._belief.advance((now_ns - since_ns) * 1e-9)
            self._read(now_ns, due)
            self._judge(now_ns, has_flown=has_flown)

    def _stays_dead(self, force: float) -> bool:
        """Return whether an accelerometer that was certainly dead still shows zeros [m/s^2].

        It heals with something else, not because a height falls silent beside it.
        """
        is_known = self.is_supported and self._belief.believed(Channel.FORCE) < _DOUBTED
        may_be = force < _ZERO and self.held >= LIKELY
        self._is_dead = may_be and (self._is_dead or is_known)
        return self._is_dead

    def _feel(self, now_ns: int, force: _Mean) -> None:
        """Take a force: what is off 1 g for longer than a knock moves the vehicle."""
        is_still = abs(force.size - STANDARD_GRAVITY) <= STILL
        self._pushed = 0.0 if is_still else self._pushed + force.seconds
        if self._pushed > _KNOCK:
            self._moved_ns = now_ns - _TUMBLES_NS

    def _read(self, now_ns: int, due: list[_Mean | None]) -> None:
        for channel, found in zip(Channel, due, strict=False):
            if found is not None:
                if channel is Channel.FORCE and self._stays_dead(found.size):
                    continue
                spacing = found.seconds / ALIKE[channel]
                self._belief.read(channel, found.size, spacing, found.variance)
                if channel is Channel.HEIGHT:
                    self._height = found.size
                elif channel is Channel.FORCE:
                    self._feel(now_ns, found)
        if due[-1] is not None:
            self._belief.read_spin(due[-1].size, due[-1].seconds)

    def _may_be_blocked(self, now_ns: int) -> bool:
        """Return whether it may still fall beside a level height: until it must have landed."""
        # What jumped up on its way, and is level where the pad would be without that, has landed.
        height = min(self._belief.height, abs(self._belief.height - self._belief.jumped))
        flies = self.held < LIKELY
        if flies or height < _HIGH:
            self._level_ns = None
            return False
        is_level = abs(self._belief.speed) <= _LEVEL
        if self._level_ns is None:
            if not is_level:
                return False
            self._level_ns, self._level, self._has_moved = now_ns, height, False
        # What has moved from where it was level is no blocked port: someone carries it.
        self._has_moved |= abs(height - self._level) > _OFF_LEVEL
        may_fall = (now_ns - self._level_ns) * 1e-9 < height / _LANDS
        return is_level and may_fall and not self._has_moved

    def _judge(self, now_ns: int, *, has_flown: bool) -> None:
        belief = self._belief
        held = self.held = belief.held
        live = [feed.is_live(now_ns) for feed in self._channels]
        fresh = [feed.is_fresh(now_ns) for feed in self._channels]
        if fresh[Channel.FORCE] and not self._is_dead:
            # A coarse height that repeats itself as it did on the pad, beside a force that lives.
            fresh = live
        self.probability = belief.supported(height=live[Channel.HEIGHT], speed=live[Channel.SPEED])
        may_be_blocked = has_flown and self._may_be_blocked(now_ns)
        # A height that comes back, as after a landing, need not be believed yet.
        likely = held if live[Channel.HEIGHT] else self.probability
        is_likely = likely >= LIKELY and not may_be_blocked
        if self._likely.update(now_ns, is_likely):
            self._likely_ns = now_ns
        is_recent = now_ns - self._likely_ns < _STAYS_LIKELY_NS
        self.is_likely = is_likely or (is_recent and held >= LIKELY)
        shown = belief.supported(height=fresh[Channel.HEIGHT], speed=fresh[Channel.SPEED])
        self.is_certain = shown >= CERTAIN
        if has_flown and self._stands.update(now_ns, self.is_certain):
            # It has landed: from now on it may be carried, however short ago it was lit.
            belief.douse()
        has_lasted = self._certain.update(now_ns, self.is_certain and not may_be_blocked)
        if held < LIKELY:
            self.is_supported, self._likely_ns = False, -_STAYS_LIKELY_NS
            if any(live):
                self.flown_ns = now_ns
        elif has_lasted:
            self.is_supported = True
        height = self._height if live[Channel.HEIGHT] else math.nan
        self._departure.update(
            now_ns, belief, held, height, has_speed=live[Channel.SPEED],
            has_force=live[Channel.FORCE],
        )
