# SPDX-License-Identifier: Apache-2.0
"""Whether something holds the vehicle, and for how long that has been certain."""
from __future__ import annotations

import math
from dataclasses import dataclass

from propulsion_ros.flight.belief.belief import (
    ALIKE,
    CERTAIN,
    DOUBT,
    LIKELY,
    STILL,
    WEAK,
    Belief,
    Channel,
    Reckoned,
)
from propulsion_ros.flight.belief.departure import Departure, DepartureWatch
from propulsion_ros.flight.belief.feed import BENDS, MOVES, WINDOW_NS, Feed, Mean, Readings, Wander
from propulsion_ros.flight.belief.modes import MOTIONS, Mode
from propulsion_ros.flight.belief.settling import Settling
from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY
from propulsion_ros.timing.dwell import Dwell

_KNOCK = 0.3  # a force off 1 g for longer is no knock, but motion of the vehicle [s]
_TUMBLES_NS = 1_000_000_000  # a landing vehicle tumbles for so long at its final height [ns]
_DOUBTED = 0.1  # probability below which the accelerometer may be dead
_DEAD_TIME = 5.0  # dwell of that until it is dead [s]
_STAYS_LIKELY_NS = 30_000_000_000  # support stays likely for so long after a dropout [ns]
_LIKELY_TIME = 2.0  # dwell of likely support before it may outlast a dropout [s]
_HIGH = 100.0  # a level height above this may be that of a blocked port [m]
_LEVEL = 1.0  # speed up to which a height is level [m/s]
_OFF_LEVEL = 5.0  # a height that has moved further from its level is not blocked [m]
_LANDS = 5.0  # slowest descent from a level height until the vehicle must have landed [m/s]
_SINKS = 10.0  # faster than a car goes downhill [m/s]
_SINKS_NS = 500_000_000  # least time in which that descent is measured [ns]
CLIMBS = MOTIONS[Mode.CARRIED].widest
"""A vehicle that climbs faster is neither coming to rest nor at its apogee [m/s]."""
_LANDED = 0.002  # doubt of a flight after a restart, by the time away [1/s]
_RUNS_IN = 5.0  # after a shorter absence a steady descent is that of a filter that starts up [s]
_LEVER = 0.02  # likely distance of the accelerometer from the axis of a spin [m]
_LONGEST_NS = 100_000_000  # longest step of the belief without a reading [ns]


@dataclass(frozen=True)
class Kept:
    """What a restart keeps of the belief and of the sensors.

    Attributes
    ----------
    is_supported, has_rested : bool
        See `MotionWatch`.
    held : float
        Probability that something holds the vehicle.
    level : float
        Height at which it was certainly held last [m].
    wander : float or None
        How much wind moves its height [m^2/s], None if that was not measured; see `Wander`.
    usual_ns : tuple of int
        Longest usual time of a repeated value, by channel [ns].
    carried : float
        Probability that it is carried.
    drifted : float
        Sum of the drift of its height at rest [m].
    """

    is_supported: bool = False
    has_rested: bool = False
    held: float = 0.0
    level: float = 0.0
    wander: float | None = None
    usual_ns: tuple[int, ...] = (0,) * len(WINDOW_NS)
    carried: float = 0.0
    drifted: float = 0.0


UNKNOWN = Kept()


class _Leap:
    """Whether a level height has jumped, and sinks from where it jumped to.

    Parameters
    ----------
    now_ns : int
        When the height was level [ns].
    level, jumped : float
        Its level, and the sum of its jumps until then [m].
    """

    def __init__(self, now_ns: int = 0, level: float = 0.0, jumped: float = 0.0) -> None:
        self._level, self._jumped = level, jumped
        self._is_elsewhere = False
        # Two heights with their times, at least `_SINKS_NS` apart.
        self._older = self._newer = now_ns, level

    def follow(self, now_ns: int, height: float, jumped: float) -> bool:
        """Take a height; return whether a jump took it to another level, where it still is."""
        is_back = abs(height - self._level) <= _OFF_LEVEL
        if is_back:
            self._jumped = jumped
        is_elsewhere = not is_back and abs(jumped - self._jumped) > _OFF_LEVEL
        if is_elsewhere is not self._is_elsewhere:
            self._is_elsewhere = is_elsewhere
            self._older = self._newer = now_ns, height
        elif now_ns - self._newer[0] > _SINKS_NS:
            self._older, self._newer = self._newer, (now_ns, height)
        return is_elsewhere

    def sinks(self, now_ns: int, height: float) -> bool:
        """Return whether the height falls on, as when a blocked port opens in a descent."""
        then_ns, above = self._older
        return above - height > max(_OFF_LEVEL, _SINKS * (now_ns - then_ns) * 1e-9)


class MotionWatch:
    """Follows the belief at each sample; support means that something holds the vehicle.

    Parameters
    ----------
    lasts : float
        Dwell after which support is certain [s].
    begins_anywhere : bool
        Whether it may begin in the air, as a log does; else it begins on a pad.

    Attributes
    ----------
    probability : float
        That something holds the vehicle, as a live and believed height or speed shows.
    is_certain : bool
        Whether that is certain now, by a height or a speed that changes.
    is_supported : bool
        Latch: true once that was certain for ``lasts``, until the vehicle is seen to fly; a
        dropout does not clear it.
    is_likely : bool
        Whether support is likely, or was before a dropout of height and speed, up to 30 s ago.
    has_rested : bool
        Latch: true once the vehicle was supported after its flight, until it certainly leaves.
    held : float
        Probability that something holds the vehicle, whichever sensors show it, even a force of
        1 g alone; never below ``probability``.
    likely : float
        ``held`` while a height is live, believed or not, else ``probability``; 0 where a level
        height may be that of a blocked port.
    is_seen, is_believed : bool
        Whether a height or a speed is live; whether a live one is believed.
    flown_ns : int or None
        When a live sensor last showed that nothing holds it [ns]; None where none did.
    """

    def __init__(self, lasts: float, *, begins_anywhere: bool = False) -> None:
        self._begins_anywhere = begins_anywhere
        self._belief, self._settling, self._wander = Belief(), Settling(), Wander()
        self._feeds = [Feed(*each) for each in zip(WINDOW_NS, MOVES, BENDS, strict=True)]
        self._channels = self._feeds[:len(Channel)]
        self._certain_dwell, self._likely_dwell = Dwell(lasts), Dwell(_LIKELY_TIME)
        self._landed_dwell, self._rest_dwell = Dwell(lasts), Dwell(lasts)
        self._departure = DepartureWatch()
        self.reset()

    def reset(self) -> None:
        """Forget everything."""
        self.begin(in_air=self._begins_anywhere)

    def begin(
        self, *, in_air: bool, kept: Kept = UNKNOWN, away: float = math.inf,
        may_settle: bool = False, is_windy: bool = False,
    ) -> None:
        """Begin anew, on the pad or where the vehicle may fly.

        Support that was certain before a restart stays certain; likely support stays likely for as
        long as after a dropout. A vehicle that was ``away`` for seconds [s] has hardly landed
        since. The height of a sensor that was switched on ``may_settle``, and where it
        ``is_windy`` the wind may be strong until it is measured.
        """
        is_supported, held = kept.is_supported, kept.held
        self.has_rested = in_air and kept.has_rested
        # A fall begins no higher than where it rested, as a height that settles falls too.
        self._departure.reset(
            in_air=in_air, highest=kept.level if is_supported else math.inf, drifted=kept.drifted
        )
        in_air = in_air and not is_supported
        self._belief.reset(
            in_air=in_air, held=held, doubt=min(_LANDED * away, DOUBT), carried=kept.carried
        )
        # Within seconds of a rest a steady descent is that of a sensor's filter that starts up.
        self._settling.begin(may_settle=may_settle, in_air=in_air, runs_in=away < _RUNS_IN)
        for feed, usual_ns in zip(self._feeds, kept.usual_ns, strict=True):
            # In the air an exact zero is that of a simulated coast, and every second counts.
            feed.reset(usual_ns, has_changed=in_air)
        self._wander.reset(kept.wander, is_windy=is_windy)
        self._belief.wander = self._wander.growth
        self._certain_dwell.reset()
        self._likely_dwell.reset()
        self._landed_dwell.reset()
        self._rest_dwell.reset()
        self._clock_ns: int | None = None
        self._likely_ns, self._was_likely = -_STAYS_LIKELY_NS, held >= LIKELY
        self._level_ns: int | None = None
        self._level, self._has_moved = 0.0, False
        self._leap = _Leap()
        self._height, self._is_estimate, self._spin = math.nan, False, 0.0
        self._off_time, self._fall_time, self._moved_ns, self._dead_time = 0.0, 0.0, 0, 0.0
        self.flown_ns: int | None = None
        self.probability, self.held = 0.0, self._belief.held
        self.likely, self.is_seen, self.is_believed = self.held, False, False
        self.is_supported, self.is_likely, self.is_certain = is_supported, False, False

    def withdraw(self) -> None:
        """Clear the latches of support and rest, until support is certain anew."""
        self.is_supported = self.is_likely = self.has_rested = False
        self._likely_ns = -_STAYS_LIKELY_NS
        self._certain_dwell.reset()

    def light(self) -> None:
        """Take note that a command lights an engine."""
        self._belief.light()

    def douse(self) -> None:
        """Take note that no engine is being lit any more by that command."""
        self._belief.douse()

    @property
    def kept(self) -> Kept:
        """What a restart is to keep."""
        return Kept(
            self.is_supported, self.has_rested, self.held, self._departure.level,
            self._wander.measured, tuple(feed.usual_ns for feed in self._feeds),
            max(self.held - self._belief.rests, 0.0), self._departure.drifted,
        )

    @property
    def unsettled(self) -> float:
        """Probability that a height still settles; 0 if a live force shows a free fall."""
        if self._clock_ns is None:
            return 0.0
        falls = self._fall_time > _KNOCK and self._channels[Channel.FORCE].is_live(self._clock_ns)
        return 0.0 if falls else self._settling.share(self._clock_ns)

    @property
    def repeats_height(self) -> bool:
        """Whether a repeated height is valid: its sensor is coarse, the vehicle likely held."""
        return self.held >= LIKELY and self._channels[Channel.HEIGHT].is_coarse

    @property
    def departure(self) -> Departure | None:
        """When the vehicle left what held it; None unless it certainly flies."""
        return self._departure.found

    @property
    def fallen(self) -> float:
        """How far the vehicle has dropped from where it was held [m]; 0 if it has not."""
        return self._departure.fallen

    @property
    def pad(self) -> float:
        """Altitude of the pad: where it was certainly held last, but not where it was carried [m].

        The pad follows jumps of the height, and its drift at rest.
        """
        return min(self._departure.level, max(self._belief.jumped, self._departure.drifted))

    @property
    def height(self) -> float:
        """Mean height of a held vehicle [m]."""
        return self._belief.height

    @property
    def reckoned(self) -> Reckoned | None:
        """Dead reckoning by the force alone; None unless it likely flies without a sound height."""
        likely, reckoned = self._belief.reckoned
        is_felt = self._channels[Channel.FORCE].is_live(self._clock_ns or 0) and not self._is_dead
        return reckoned if is_felt and likely >= LIKELY else None

    @property
    def climb(self) -> float:
        """Least upward speed in the air by a believed height [m/s]; -inf where none is believed."""
        flies = self.is_believed and self.held < LIKELY
        return self._belief.climb if flies else -math.inf

    def update(
        self, now_ns: int, readings: Readings, *, learns: bool, has_flown: bool = False,
        hovers: bool = False,
    ) -> None:
        """Take readings.

        Parameters
        ----------
        now_ns : int
            On the flight clock [ns].
        readings : Readings
            Since the last call.
        learns : bool
            Whether the vehicle waits on the pad, so that repetitions of its sensors are usual.
        has_flown : bool
            Whether a liftoff was seen: the ground may be below, and a level height far up may be
            that of a blocked port.
        hovers : bool
            Whether its own engine may hold it, which is no rest.
        """
        self._is_estimate |= readings.is_estimate
        self._belief.has_flown = has_flown or self._departure.begins_in_air
        self._belief.level = self._departure.known_level
        self._departure.feel(now_ns, readings.force, readings.rate)
        values = (readings.height,), (readings.speed,), readings.force, readings.rate
        # A coarse height may repeat itself while a live force shows no motion.
        is_felt = self._feeds[Channel.FORCE].is_fresh(now_ns) and not self._is_dead
        unmoved_ns = (self._moved_ns if is_felt else None), None, None, None
        climbs = self.held < LIKELY and self._belief.flight[1] > CLIMBS
        moves = climbs, climbs, False, False
        lands = has_flown and not climbs, False, False, False
        due = [
            feed.take(now_ns, value, learns=learns, since_ns=since, climbs=moved, lands=landed)
            for feed, value, since, moved, landed
            in zip(self._feeds, values, unmoved_ns, moves, lands, strict=True)
        ]
        if self._settling.holds(now_ns, readings.height, self._channels[Channel.HEIGHT].noise):
            due[Channel.HEIGHT] = None
            if readings.is_estimate:
                due[Channel.SPEED] = None
        since_ns = now_ns if self._clock_ns is None else self._clock_ns
        if self._clock_ns is None and self._was_likely:
            self._likely_ns = now_ns
        if self._clock_ns is None or any(due) or now_ns - since_ns > _LONGEST_NS:
            self._clock_ns = now_ns
            if now_ns > since_ns:
                self._belief.advance((now_ns - since_ns) * 1e-9)
            self._read(now_ns, due)
            height = due[Channel.HEIGHT]
            # Wind is learned on the pad even if a rest seems improbable: unknown wind does that.
            waits = (not has_flown or self.held >= LIKELY) and self.departure is None
            if waits and height is not None and math.isfinite(self._channels[Channel.HEIGHT].noise):
                self._belief.wander = self._wander.take(now_ns, height)
            self._judge(now_ns, has_flown=has_flown, hovers=hovers)

    @property
    def _is_dead(self) -> bool:
        """Whether the accelerometer was dead for long, and has read only weak forces since.

        A stronger force or a likely flight clears that; the dropout of a height does not.
        """
        return self._dead_time >= _DEAD_TIME

    def _detect_dead(self, force: Mean) -> None:
        if force.size > WEAK or self.held < LIKELY:
            self._dead_time = 0.0
        elif not self._is_dead:
            is_known = self.is_certain and self._belief.believed(Channel.FORCE) < _DOUBTED
            self._dead_time = self._dead_time + force.seconds if is_known else 0.0

    def _feel(self, now_ns: int, force: Mean) -> None:
        """Take a force: one that is off 1 g for longer than a knock moves the vehicle."""
        is_still = abs(force.size - STANDARD_GRAVITY) <= STILL
        self._off_time = 0.0 if is_still else self._off_time + force.seconds
        self._fall_time = self._fall_time + force.seconds if force.size < WEAK else 0.0
        if self._off_time > _KNOCK:
            self._moved_ns = now_ns - _TUMBLES_NS

    def _read(self, now_ns: int, due: list[Mean | None]) -> None:
        turn = due[-1]
        if turn is not None:
            self._spin = turn.size
            self._belief.read_spin(turn.size, turn.seconds)
        elif not self._feeds[-1].is_live(now_ns):
            self._spin = 0.0
        for channel, found in zip(Channel, due, strict=False):
            if found is None:
                continue
            variance = found.variance
            if channel is Channel.FORCE:
                self._detect_dead(found)
                if self._is_dead:
                    continue
                self._feel(now_ns, found)
                # A spin adds a force of unknown size, so that 1 g may be that of a coast.
                variance += (_LEVER * self._spin**2) ** 2
            elif channel is Channel.HEIGHT:
                self._height = found.size
            spacing = found.seconds / ALIKE[channel]
            self._belief.read(channel, found.size, spacing, variance, found.noise)

    def _may_be_blocked(self, now_ns: int) -> bool:
        """Return whether it may still fall behind a blocked port: until it must have landed."""
        # A height that is at the pad but for its jumps is that of a landed vehicle.
        height = min(self._belief.height, abs(self._belief.height - self._belief.jumped))
        flies = self.held < LIKELY
        if flies or height < _HIGH:
            self._level_ns = None
            return False
        if self._level_ns is None:
            if abs(self._belief.speed) > _LEVEL:
                return False
            self._level_ns, self._level, self._has_moved = now_ns, self._belief.tracked, False
            self._leap = _Leap(now_ns, self._height, self._belief.jumped)
        may_fall = (now_ns - self._level_ns) * 1e-9 < height / _LANDS
        if self._leap.follow(now_ns, self._height, self._belief.jumped):
            return may_fall and self._leap.sinks(now_ns, self._height)
        # A height that moved from its level, without a jump, is not blocked: someone carries it.
        self._has_moved |= abs(self._belief.tracked - self._level) > _OFF_LEVEL
        return may_fall and not self._has_moved

    def _judge(self, now_ns: int, *, has_flown: bool, hovers: bool) -> None:
        belief = self._belief
        held = self.held = belief.held
        live = [feed.is_live(now_ns) for feed in self._channels]
        # A height that still settles shows nothing.
        if self._settling.is_on(now_ns):
            live[Channel.HEIGHT] = False
            live[Channel.SPEED] &= not self._is_estimate
        fresh = [
            lives and feed.is_fresh(now_ns)
            for lives, feed in zip(live, self._channels, strict=True)
        ]
        if fresh[Channel.FORCE] and not self._is_dead:
            # Beside a fresh force a coarse height may repeat itself, as it did on the pad.
            fresh = live
        self.probability = belief.supported(height=live[Channel.HEIGHT], speed=live[Channel.SPEED])
        may_be_blocked = has_flown and self._may_be_blocked(now_ns)
        # A height that comes back after a dropout need not be believed yet.
        likely = held if live[Channel.HEIGHT] else self.probability
        self.likely = 0.0 if may_be_blocked else likely
        seen = [channel for channel in (Channel.HEIGHT, Channel.SPEED) if live[channel]]
        self.is_seen = bool(seen)
        self.is_believed = any(belief.believed(channel) >= LIKELY for channel in seen)
        is_likely = self.likely >= LIKELY
        if self._likely_dwell.update(now_ns, is_likely):
            self._likely_ns = now_ns
        is_recent = now_ns - self._likely_ns < _STAYS_LIKELY_NS
        self.is_likely = is_likely or (is_recent and held >= LIKELY)
        shown = belief.supported(height=fresh[Channel.HEIGHT], speed=fresh[Channel.SPEED])
        self.is_certain = shown >= CERTAIN
        if has_flown and self._landed_dwell.update(now_ns, self.is_certain):
            # The vehicle has landed: it may be carried, however recently an engine was lit.
            belief.douse()
        is_shown = self.is_certain and not may_be_blocked
        has_lasted = self._certain_dwell.update(now_ns, is_shown)
        rests = self._rest_dwell.update(now_ns, is_shown and has_flown and not hovers)
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
        if self._departure.is_certain:
            self.has_rested = False
        elif rests and not self._is_dead:
            # Without a believed force the height may be that of a port that is taped over.
            self.has_rested |= belief.believed(Channel.FORCE) >= LIKELY
