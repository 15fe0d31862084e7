# SPDX-License-Identifier: Apache-2.0
"""When a vehicle has left what held it."""
from __future__ import annotations

import math
from typing import NamedTuple

from propulsion_ros.flight.belief.belief import CERTAIN, LIKELY, STILL, Belief, Channel
from propulsion_ros.flight.belief.feed import Vector
from propulsion_ros.flight.belief.settling import SETTLING_TIME
from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY
from propulsion_ros.models.common.rotation import of_vector, rotate

PUSH, CLIMB, FALL = 'acceleration', 'climb', 'fall'
"""Source of a departure: a push that the accelerometer measured, or else the way it goes."""
AWAY = 15.0
"""A vehicle that was not seen to be pushed has left a level when it is so far from it [m]."""
DROP = 50.0
"""A drop so deep is past its apogee [m]: wind on a static port does not show that much."""

_LEFT = 1.0 - CERTAIN  # the vehicle has left when it is held with less than this probability
_READINGS = 2  # readings in a row that must show a departure
_LASTS_NS = 600_000_000  # dwell of a departure without a push [ns]
_PUSHED = (5.0, 5.0)  # least distance from where it was held [m], least speed [m/s], after a push
_UNPUSHED = (AWAY, 10.0)  # the same without a push, as wind on a port moves a height too
_PUSHES_NS = 25_000_000_000  # a longer push of a held vehicle is an offset of its sensor [ns]
_DATED_NS = 10_000_000_000  # a departure without a push is dated back by no more [ns]
_WEIGHT = (0.8 * STANDARD_GRAVITY, 1.2 * STANDARD_GRAVITY)  # force at rest; more is a push [m/s^2]
_GAINED = 10.0  # a push that has gained less speed ends with its force [m/s]
_THROWN = 30.0  # a push to such a speed is a departure, whatever a height shows [m/s]
_LONGEST = 0.5  # longest step of an integrated force [s]
_DRIFTS = 0.15  # fastest drift of the mean height at rest [m/s]
_DRIFT_TIME = 5.0  # time constant of that mean [s]
_SHAKES = 0.3  # time constant of a force without its shaking, which adds up to no speed [s]
_MOVED_NS = 3_000_000_000  # the vehicle still moves so long after a steady force off 1 g [ns]


class Departure(NamedTuple):
    """When the vehicle left what held it, on the flight clock [ns], and how that was found.

    ``source`` is 'acceleration' for a measured push, dated back to its beginning, else 'climb'
    or 'fall' by the way it goes.
    """

    clock_ns: int
    source: str


class DepartureWatch:
    """Finds when a vehicle leaves what holds it.

    It has left when it is certainly not held, and has moved away from the level where it was held.
    A height that only moves back to that level is a sensor that recovers, as from a jump. While no
    level was certain, it is that of the pad, or of the start in the air, for the settling time of
    a barometer. Only a push or a drop leads into the air, and a believed accelerometer measures
    either; a flight that it shows alone, without a push, is a fault of the sensor. A push that adds
    up to a speed is a departure, even beside the constant height of a port that is taped over.

    Attributes
    ----------
    found : Departure or None
        Set while the vehicle certainly flies.
    level : float
        Height at which it was certainly held last [m].
    begins_in_air : bool
        Whether it began where the vehicle may fly, not on a pad.
    drifted : float
        Sum of the drift of its height at rest [m].
    fallen : float
        How far it has dropped since from that level [m]; 0 if it did not drop.
    """

    def __init__(self) -> None:
        self.reset()

    @property
    def is_certain(self) -> bool:
        """Whether it certainly flies: a fall counts from a depth of `DROP`."""
        found = self.found
        return found is not None and (found.source != FALL or self.fallen > DROP)

    @property
    def known_level(self) -> float:
        """Level at which it was certainly held last, else that of the pad [m]."""
        return self.level if self._is_level_known else 0.0

    def reset(
        self, *, in_air: bool = False, highest: float = math.inf, drifted: float = 0.0
    ) -> None:
        """Forget everything, and begin on a pad, or in the air, at a level up to ``highest`` [m].

        ``drifted`` is the drift of its height so far [m].
        """
        self.begins_in_air, self._highest = in_air, highest
        self._settled_ns: int | None = None
        self.level = highest if math.isfinite(highest) else 0.0
        self.drifted = drifted
        self._mean: tuple[int, float] | None = None
        self._is_level_known = self._has_settled = False
        self._forget_flight()
        self._forget_push()
        self._moved_ns = self._off_weight_ns = self._read_ns = -_MOVED_NS
        self._steady_force: Vector = (0.0, 0.0, 0.0)
        self._had_offset = self._was_likely = False

    def _forget_flight(self) -> None:
        self.found: Departure | None = None
        self.fallen = 0.0
        self._left_ns: int | None = None
        self._has_gone, self._readings, self._seen_ns = False, 0, 0

    def _forget_push(self) -> None:
        self._pushed_ns: int | None = None
        self._push = self._pushed_way = (0.0, 0.0, 0.0)
        self._rate: Vector = (math.nan, math.nan, math.nan)
        self._weight = self._gained = self._dropped = self._way = 0.0
        self._has_offset = False

    def _end_push(self, now_ns: int) -> None:
        """Forget a push of a held vehicle that rests again, or has an accelerometer offset."""
        pushed_ns = self._pushed_ns
        has_offset = pushed_ns is not None and now_ns - pushed_ns > _PUSHES_NS
        moved_ns = self._moved_ns if pushed_ns is None else max(self._moved_ns, pushed_ns)
        is_still = now_ns - moved_ns > _MOVED_NS
        if has_offset or is_still:
            self._forget_push()
            self._has_offset = has_offset
            self._had_offset = has_offset

    def feel(self, now_ns: int, force: Vector, rate: Vector = (0.0, 0.0, 0.0)) -> None:
        """Take a specific force, and note when a push began.

        Parameters
        ----------
        now_ns : int
            On the flight clock [ns].
        force, rate : tuple of float
            Specific force [m/s^2] and rate of turn [rad/s], both in axes of the body; NaN where
            unknown.
        """
        size = math.hypot(*force)
        if not math.isfinite(size):
            return
        seconds, self._read_ns = (now_ns - self._read_ns) * 1e-9, now_ns
        share = -math.expm1(-max(seconds, 0.0) / _SHAKES)
        pairs = zip(self._steady_force, force, strict=True)
        x, y, z = (last + share * (each - last) for last, each in pairs)
        self._steady_force = x, y, z
        if abs(math.hypot(x, y, z) - STANDARD_GRAVITY) > STILL:
            self._moved_ns = now_ns
        if not _WEIGHT[0] < size < _WEIGHT[1]:
            self._off_weight_ns = now_ns
        elif now_ns - self._off_weight_ns > _MOVED_NS:
            # Or an offset of the accelerometer would add up for ever.
            self._forget_push()
        self._has_offset = self._has_offset and size > _WEIGHT[1]
        if self._has_offset:
            return
        if size > _WEIGHT[1]:
            self._pushed_ns = now_ns if self._pushed_ns is None else self._pushed_ns
        elif self._gained <= _GAINED and (size < _WEIGHT[0] or self._left_ns is None):
            # A knock or shaking ends before it gains speed.
            self._forget_push()
        if self._pushed_ns is not None:
            self._add_push(force, rate, min(max(seconds, 0.0), _LONGEST))

    def _add_push(self, force: Vector, rate: Vector, seconds: float) -> None:
        """Integrate a push in axes that turn with the body: swinging on a rope gains little.

        Whatever the attitude, the speed has changed at least by the push less the weight, and the
        vehicle has moved at least by the way of that push less the way of a fall.
        """
        # A rate that repeats itself to the last bit is stuck.
        is_known = all(map(math.isfinite, rate)) and rate != self._rate
        self._rate = rate
        turn = [-each * seconds if is_known else 0.0 for each in rate]
        turns = of_vector(*turn)
        self._push = _plus(rotate(turns, self._push), force, seconds)
        self._weight += STANDARD_GRAVITY * seconds
        self._gained = max(self._gained, math.hypot(*self._push) - self._weight)
        self._pushed_way = _plus(rotate(turns, self._pushed_way), self._push, seconds)
        self._dropped += self._weight * seconds
        self._way = math.hypot(*self._pushed_way) - self._dropped

    def update(
        self, now_ns: int, belief: Belief, held: float, height: float, *, has_speed: bool,
        has_force: bool,
    ) -> None:
        """Follow the belief after it has taken readings.

        Parameters
        ----------
        now_ns : int
            On the flight clock [ns].
        belief : Belief
            After these readings.
        held : float
            Its probability that something holds the vehicle.
        height : float
            Last reading of a live height [m], NaN if there is none.
        has_speed, has_force : bool
            Whether a speed, and the accelerometer, are live.
        """
        has_height = math.isfinite(height)
        if has_height and not self._is_level_known:
            self._settle(now_ns, height)
        self._was_likely |= held >= LIKELY
        if held >= LIKELY:
            self._forget_flight()
            if held >= CERTAIN:
                self._end_push(now_ns)
                self._learn_level(now_ns, belief, has_height=has_height)
            return
        # Until it was likely held once, a vehicle that stays at its level has not left.
        stays = has_height and abs(height - self.level) <= _UNPUSHED[0]
        if self._left_ns is None or (stays and not self._was_likely):
            self._left_ns = now_ns
        if self.found is None:
            self._find(
                now_ns, belief, held, height, self._left_ns, has_speed=has_speed,
                has_force=has_force,
            )
        elif self.found.source == FALL and self._is_read(belief, height):
            # The higher of both: a reading may be a glitch, the belief may be dead reckoning.
            self.fallen = max(self.fallen, self.level - max(height, belief.flight[0]))

    def _is_read(self, belief: Belief, height: float) -> bool:
        """Return whether a height is live and believed."""
        return math.isfinite(height) and belief.believed(Channel.HEIGHT) >= LIKELY

    def _settle(self, now_ns: int, height: float) -> None:
        """Take a height while the level is unknown."""
        if self._settled_ns is None:
            self._settled_ns = now_ns + round(SETTLING_TIME * 1e9)
            if self.begins_in_air:
                self.level = min(height, self._highest)
        if now_ns >= self._settled_ns and not self._has_settled:
            # If no level was certain for so long, the vehicle began where it is now.
            self.level, self._has_settled = height, True

    def _learn_level(self, now_ns: int, belief: Belief, *, has_height: bool) -> None:
        """Learn the level at which the vehicle is certainly held."""
        if not has_height or belief.supported(height=True, speed=False) >= CERTAIN:
            self.level, self._is_level_known = belief.height, True
            self._drift(now_ns, rests=belief.rests >= LIKELY)

    def _drift(self, now_ns: int, *, rests: bool) -> None:
        """Add up slow changes of the mean level: a faster change is that of a carried vehicle."""
        then_ns, mean = self._mean or (now_ns, self.level)
        seconds = (now_ns - then_ns) * 1e-9
        change = (self.level - mean) * -math.expm1(-seconds / _DRIFT_TIME)
        self._mean = now_ns, mean + change
        if rests and abs(change) <= _DRIFTS * seconds:
            self.drifted += change

    def _find(
        self, now_ns: int, belief: Belief, held: float, height: float, left_ns: int, *,
        has_speed: bool, has_force: bool,
    ) -> None:
        """Find whether a vehicle that likely left at a time has gone, and for long enough."""
        pushed_ns = self._pushed_ns if has_force else None
        distance, slowest = _UNPUSHED if pushed_ns is None else _PUSHED
        is_thrown = pushed_ns is not None and self._gained > _THROWN
        flown, speed = belief.flight
        by_height = height - self.level
        # The belief replaces a height that drops out or is not believed. A live height near the
        # level, `is_level`, denies that the vehicle is away, believed or not.
        away = by_height if self._is_read(belief, height) else flown - self.level
        has_height = math.isfinite(by_height)
        is_level = has_height and abs(by_height) <= distance
        # A flight that an accelerometer shows alone, without a push, is a fault of the sensor.
        is_alone = has_force and not (has_height or has_speed)
        is_shown = not is_alone or pushed_ns is not None or self._had_offset
        is_away = abs(away) > distance and is_shown and not is_level
        if pushed_ns is not None and not self._is_read(belief, height):
            # The belief adds up the size of a force, which on a rope leads round in a circle, from
            # a speed that nothing has measured.
            push_time = self._weight / STANDARD_GRAVITY
            is_away &= self._way > max(AWAY, slowest * push_time)
        self._has_gone |= is_thrown or (is_away and away * speed > 0.0)
        # A push lifts the vehicle; what pushes it as it comes down is the ground.
        is_fast = (abs(speed) if pushed_ns is None else speed) > slowest
        is_seen = held < _LEFT and (is_thrown or (is_away and is_fast))
        self._readings = self._readings + 1 if is_seen else 0
        if self._readings == 1:
            self._seen_ns = now_ns
        has_lasted = pushed_ns is not None or now_ns - self._seen_ns >= _LASTS_NS
        if not (self._has_gone and has_lasted and self._readings >= _READINGS):
            return
        if has_force and self._denies(belief, left_ns):
            return
        if pushed_ns is not None:
            self.found = Departure(min(pushed_ns, left_ns), PUSH)
        else:
            way = CLIMB if speed > 0.0 else FALL
            self.found = Departure(max(left_ns, now_ns - _DATED_NS), way)

    def _denies(self, belief: Belief, left_ns: int) -> bool:
        """Return whether a believed accelerometer measured no motion before the departure."""
        is_still = left_ns - self._moved_ns > _MOVED_NS
        return is_still and self._is_level_known and belief.believed(Channel.FORCE) >= LIKELY


def _plus(vector: Vector, rate: Vector, seconds: float) -> Vector:
    x, y, z = (each + by * seconds for each, by in zip(vector, rate, strict=True))
    return x, y, z
