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

_KNOCK = 0.3  # what is off 1 g for longer is no knock, and moves it [s],
_TUMBLES_NS = 1_000_000_000  # as what lands does for so long
_DOUBTED, _DEAD_TIME = 0.1, 5.0  # an accelerometer believed no more for so long is dead [s]
_STAYS_LIKELY_NS = 30_000_000_000  # for so long after its last sign it stays likely
_HIGH, _LEVEL = 100.0, 1.0  # a level height so far up may be that of a blocked port [m], [m/s]
_CLIMBS = MOTIONS[Mode.CARRIED].widest  # what climbs so fast comes to no rest [m/s]
_OFF_LEVEL = 5.0  # but not one that moves so far [m]
_LANDS = 5.0  # the slowest descent from there [m/s]
_SINKS, _SINKS_NS = 10.0, 500_000_000  # so fast no car goes downhill [m/s], over so long at least
_LIKELY_TIME = 2.0  # where it was likely for so long [s]
_LANDED = 0.002  # doubt after a restart by the time away [1/s]
_RUNS_IN = 5.0  # after so short an absence a steady descent is that of a filter [s]
_LONGEST_NS = 100_000_000  # after which time passes without a reading


@dataclass(frozen=True)
class Kept:
    """What a restart keeps of what is believed, and of what the sensors are like.

    Attributes
    ----------
    is_supported, has_rested : bool
        See `MotionWatch`.
    held : float
        Probability that something holds the vehicle.
    level : float
        Where it was certainly held last [m].
    wander : float or None
        How much wind moves its height, as far as it was measured; see `Wander`.
    usual_ns : tuple of int
        For how long each channel repeats itself at most [ns].
    carried : float
        Probability that it is carried.
    drifted : float
        How far its height has drifted while it rested [m].
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
    """How a height that was level has jumped since, and whether it sinks from there.

    Parameters
    ----------
    now_ns : int
        When it was level [ns].
    level, jumped : float
        Where, and by how much it had jumped in all until then [m].
    """

    def __init__(self, now_ns: int = 0, level: float = 0.0, jumped: float = 0.0) -> None:
        self._level, self._jumped = level, jumped
        self._is_elsewhere = False
        # Two heights with their times, the newer one in the place of the older in turn.
        self._older = self._newer = now_ns, level

    def follow(self, now_ns: int, height: float, jumped: float) -> bool:
        """Take a height; return whether a jump took it to another level, and it is not back."""
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
        """Return whether it falls on, as of a port that opens on its way."""
        then_ns, above = self._older
        return above - height > max(_OFF_LEVEL, _SINKS * (now_ns - then_ns) * 1e-9)


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
        That something holds the vehicle, and a height or a speed shows it that lives and is
        believed.
    is_certain : bool
        Whether that is certain now, by a height or a speed that changes.
    is_supported : bool
        Whether that has been certain for long enough, and the vehicle was not seen to fly since:
        silence withdraws nothing.
    is_likely : bool
        Whether it is likely, or was until a height or a speed died at most 30 s ago.
    has_rested : bool
        Whether it was supported after its flight, and has certainly not left since.
    held : float
        Probability that something holds the vehicle, by whatever shows it, a force of 1 g alone
        too; never below ``probability``.
    likely : float
        ``held`` while a height lives, believed or not, else ``probability``; 0 where a level
        height may be that of a blocked port.
    is_seen, is_believed : bool
        Whether a height or a speed lives; whether one of them is believed too.
    flown_ns : int or None
        When a live sensor last showed that nothing holds it [ns]; None where none did.
    """

    def __init__(self, lasts: float, *, begins_anywhere: bool = False) -> None:
        self._begins_anywhere = begins_anywhere
        self._belief, self._settling, self._wander = Belief(), Settling(), Wander()
        self._feeds = [Feed(*each) for each in zip(WINDOW_NS, MOVES, BENDS, strict=True)]
        self._channels = self._feeds[:len(Channel)]
        self._certain, self._likely, self._stands = Dwell(lasts), Dwell(_LIKELY_TIME), Dwell(lasts)
        self._rests = Dwell(lasts)
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

        What was certain before a restart stays so, and what was likely stays as likely: that it
        was counts for as long as after the last sign of it. What was ``away`` for seconds [s] has
        hardly landed since. A height may settle whose sensor was switched on, and wind that was
        not measured yet may be strong.
        """
        is_supported, held = kept.is_supported, kept.held
        self.has_rested = in_air and kept.has_rested
        # What it falls from is no higher than where it rested: a height that runs in falls too.
        self._departure.reset(
            in_air=in_air, highest=kept.level if is_supported else math.inf, drifted=kept.drifted
        )
        in_air = in_air and not is_supported
        self._belief.reset(
            in_air=in_air, held=held, doubt=min(_LANDED * away, DOUBT), carried=kept.carried
        )
        # Within seconds of a rest nothing comes down steadily: that is a filter that runs in.
        self._settling.begin(may_settle=may_settle, in_air=in_air, runs_in=away < _RUNS_IN)
        for feed, usual_ns in zip(self._feeds, kept.usual_ns, strict=True):
            feed.reset(usual_ns)
        self._wander.reset(kept.wander, is_windy=is_windy)
        self._belief.wander = self._wander.growth
        self._certain.reset()
        self._likely.reset()
        self._stands.reset()
        self._rests.reset()
        self._clock_ns: int | None = None
        self._likely_ns, self._was_likely = -_STAYS_LIKELY_NS, held >= LIKELY
        self._level_ns: int | None = None
        self._level, self._has_moved = 0.0, False
        self._leap = _Leap()
        self._height = math.nan
        self._pushed, self._fallen, self._moved_ns, self._dead_time = 0.0, 0.0, 0, 0.0
        self.flown_ns: int | None = None
        self.probability, self.held = 0.0, self._belief.held
        self.likely, self.is_seen, self.is_believed = self.held, False, False
        self.is_supported, self.is_likely, self.is_certain = is_supported, False, False

    def withdraw(self) -> None:
        """Forget that something certainly held it, until that is certain anew."""
        self.is_supported = self.is_likely = self.has_rested = False
        self._likely_ns = -_STAYS_LIKELY_NS
        self._certain.reset()

    def light(self) -> None:
        """Know that an engine is being lit by a command."""
        self._belief.light()

    def douse(self) -> None:
        """Know that no engine is lit any more by that command."""
        self._belief.douse()

    @property
    def kept(self) -> Kept:
        """What a restart is to keep of it."""
        return Kept(
            self.is_supported, self.has_rested, self.held, self._departure.level,
            self._wander.measured, tuple(feed.usual_ns for feed in self._feeds),
            max(self.held - self._belief.rests, 0.0), self._departure.drifted,
        )

    @property
    def unsettled(self) -> float:
        """Probability that a height still settles, and no live force shows a free fall."""
        if self._clock_ns is None:
            return 0.0
        falls = self._fallen > _KNOCK and self._channels[Channel.FORCE].is_live(self._clock_ns)
        return 0.0 if falls else self._settling.share(self._clock_ns)

    @property
    def repeats_height(self) -> bool:
        """Whether a height that repeats itself is right: it is coarse, and something holds it."""
        return self.held >= LIKELY and self._channels[Channel.HEIGHT].is_coarse

    @property
    def departure(self) -> Departure | None:
        """When it left what held it, where it certainly flies now."""
        return self._departure.found

    @property
    def fallen(self) -> float:
        """How far it has dropped from where it was held [m]; 0 where it has not."""
        return self._departure.fallen

    @property
    def pad(self) -> float:
        """Altitude of its pad: where it was certainly held last, but not where it was carried [m].

        A height that jumps, or drifts while it rests, takes the pad along.
        """
        return min(self._departure.level, max(self._belief.jumped, self._departure.drifted))

    @property
    def height(self) -> float:
        """Where it is if something holds it [m]."""
        return self._belief.height

    @property
    def reckoned(self) -> Reckoned | None:
        """How it flies by its force alone, where no height is believed; None elsewhere."""
        likely, reckoned = self._belief.reckoned
        is_felt = self._channels[Channel.FORCE].is_live(self._clock_ns or 0) and not self._is_dead
        return reckoned if is_felt and likely >= LIKELY else None

    def update(
        self, now_ns: int, readings: Readings, *, learns: bool, has_flown: bool = False,
        has_risen: bool = False, hovers: bool = False,
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
        has_risen : bool
            Whether it left its pad upward, so that the ground may be below that.
        hovers : bool
            Whether its own engine may be what holds it, which is no rest.
        """
        self._belief.has_risen = has_risen
        self._departure.feel(now_ns, readings.force, readings.rate)
        values = (readings.height,), (readings.speed,), readings.force, readings.rate
        # A coarse height stays where it is, and a force that lives agrees.
        is_felt = self._feeds[Channel.FORCE].is_fresh(now_ns) and not self._is_dead
        unmoved_ns = (self._moved_ns if is_felt else None), None, None, None
        climbs = self.held < LIKELY and self._belief.flight[1] > _CLIMBS
        moves = climbs, climbs, False, False
        lands = has_flown and not climbs, False, False, False
        due = [
            feed.take(now_ns, value, learns=learns, since_ns=since, climbs=moved, lands=landed)
            for feed, value, since, moved, landed
            in zip(self._feeds, values, unmoved_ns, moves, lands, strict=True)
        ]
        if self._settling.holds(now_ns, readings.height, self._channels[Channel.HEIGHT].noise):
            due[Channel.HEIGHT] = None
        since_ns = now_ns if self._clock_ns is None else self._clock_ns
        if self._clock_ns is None and self._was_likely:
            self._likely_ns = now_ns
        if self._clock_ns is None or any(due) or now_ns - since_ns > _LONGEST_NS:
            self._clock_ns = now_ns
            if now_ns > since_ns:
                self._belief.advance((now_ns - since_ns) * 1e-9)
            self._read(now_ns, due)
            height = due[Channel.HEIGHT]
            # Wind is what makes a rest improbable until it is known.
            waits = (not has_flown or self.held >= LIKELY) and self.departure is None
            if waits and height is not None and math.isfinite(self._channels[Channel.HEIGHT].noise):
                self._belief.wander = self._wander.take(now_ns, height)
            self._judge(now_ns, has_flown=has_flown, hovers=hovers)

    @property
    def _is_dead(self) -> bool:
        """Whether an accelerometer that was certainly dead for long still shows as little.

        It heals with something else, not because a height falls silent beside it.
        """
        return self._dead_time >= _DEAD_TIME

    def _follow_death(self, force: Mean) -> None:
        if force.size > WEAK or self.held < LIKELY:
            self._dead_time = 0.0
        elif not self._is_dead:
            is_known = self.is_certain and self._belief.believed(Channel.FORCE) < _DOUBTED
            self._dead_time = self._dead_time + force.seconds if is_known else 0.0

    def _feel(self, now_ns: int, force: Mean) -> None:
        """Take a force: what is off 1 g for longer than a knock moves the vehicle."""
        is_still = abs(force.size - STANDARD_GRAVITY) <= STILL
        self._pushed = 0.0 if is_still else self._pushed + force.seconds
        self._fallen = self._fallen + force.seconds if force.size < WEAK else 0.0
        if self._pushed > _KNOCK:
            self._moved_ns = now_ns - _TUMBLES_NS

    def _read(self, now_ns: int, due: list[Mean | None]) -> None:
        for channel, found in zip(Channel, due, strict=False):
            if found is not None:
                if channel is Channel.FORCE:
                    self._follow_death(found)
                    if self._is_dead:
                        continue
                spacing = found.seconds / ALIKE[channel]
                self._belief.read(channel, found.size, spacing, found.variance, found.noise)
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
            self._leap = _Leap(now_ns, self._height, self._belief.jumped)
        # What has moved from where it was level is no blocked port: someone carries it.
        self._has_moved |= abs(height - self._level) > _OFF_LEVEL
        may_fall = (now_ns - self._level_ns) * 1e-9 < height / _LANDS
        if self._leap.follow(now_ns, self._height, self._belief.jumped):
            return may_fall and self._leap.sinks(now_ns, self._height)
        return may_fall and is_level and not self._has_moved

    def _judge(self, now_ns: int, *, has_flown: bool, hovers: bool) -> None:
        belief = self._belief
        held = self.held = belief.held
        live = [feed.is_live(now_ns) for feed in self._channels]
        # What settles shows nothing.
        live[Channel.HEIGHT] &= not self._settling.is_on(now_ns)
        fresh = [
            lives and feed.is_fresh(now_ns)
            for lives, feed in zip(live, self._channels, strict=True)
        ]
        if fresh[Channel.FORCE] and not self._is_dead:
            # A coarse height that repeats itself as it did on the pad, beside a force that lives.
            fresh = live
        self.probability = belief.supported(height=live[Channel.HEIGHT], speed=live[Channel.SPEED])
        may_be_blocked = has_flown and self._may_be_blocked(now_ns)
        # A height that comes back, as after a landing, need not be believed yet.
        likely = held if live[Channel.HEIGHT] else self.probability
        self.likely = 0.0 if may_be_blocked else likely
        seen = [channel for channel in (Channel.HEIGHT, Channel.SPEED) if live[channel]]
        self.is_seen = bool(seen)
        self.is_believed = any(belief.believed(channel) >= LIKELY for channel in seen)
        is_likely = self.likely >= LIKELY
        if self._likely.update(now_ns, is_likely):
            self._likely_ns = now_ns
        is_recent = now_ns - self._likely_ns < _STAYS_LIKELY_NS
        self.is_likely = is_likely or (is_recent and held >= LIKELY)
        shown = belief.supported(height=fresh[Channel.HEIGHT], speed=fresh[Channel.SPEED])
        self.is_certain = shown >= CERTAIN
        if has_flown and self._stands.update(now_ns, self.is_certain):
            # It has landed: from now on it may be carried, however short ago it was lit.
            belief.douse()
        is_shown = self.is_certain and not may_be_blocked
        has_lasted = self._certain.update(now_ns, is_shown)
        rests = self._rests.update(now_ns, is_shown and has_flown and not hovers)
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
            # Beside a force that is not believed, the height may be that of a port taped over.
            self.has_rested |= belief.believed(Channel.FORCE) >= LIKELY
