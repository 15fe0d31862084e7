# SPDX-License-Identifier: Apache-2.0
"""When a vehicle has left what held it."""
from __future__ import annotations

import math
from typing import NamedTuple

from propulsion_ros.flight.belief.belief import CERTAIN, LIKELY, STILL, Belief, Channel
from propulsion_ros.flight.belief.feed import Vector
from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY
from propulsion_ros.models.common.rotation import of_vector, rotate

PUSH, CLIMB, FALL = 'acceleration', 'climb', 'fall'
"""Sources of a departure: a push that the accelerometer has felt, or else where it goes."""
DROP = 50.0
"""A drop that has fallen so far is past its apogee [m]: no wind on a port does that."""

_LEFT = 1.0 - CERTAIN  # probability down to which it has left what held it
_READINGS, _LASTS_NS = 2, 600_000_000  # readings in a row show that, without a push for so long
_PUSHED, _UNPUSHED = (5.0, 5.0), (15.0, 10.0)
# It is at least so far from where it was held [m], and so fast [m/s], where a push was felt or not:
# wind on a port moves a height as well.
_SETTLE_NS = 10_000_000_000  # for so long a barometer settles after its first reading
_PUSHES_NS = 25_000_000_000  # no push of what is held lasts longer; its accelerometer is off
_DATED_NS = 10_000_000_000  # so long before it is found a departure without a push is at most
_WEIGHT = (0.8 * STANDARD_GRAVITY, 1.2 * STANDARD_GRAVITY)  # of what rests; more pushes [m/s^2]
_GAINED = 10.0  # a push that adds up to less is over where it ends [m/s]
_THROWN = 30.0  # what was pushed to such a speed has gone, whatever a height shows [m/s]
_LONGEST = 0.5  # between two readings of a force that adds up [s]
_DRIFTS, _DRIFT_TIME = 0.15, 5.0  # The height of what rests drifts no faster [m/s], as a mean [s].
_MOVED_NS = 3_000_000_000  # so long before it seems to leave a move of it was felt


class Departure(NamedTuple):
    """When it left on the flight clock [ns], and how that was seen.

    ``source`` is 'acceleration' where a push was felt, dated back to its beginning, else 'climb'
    or 'fall' by where it goes.
    """

    clock_ns: int
    source: str


class DepartureWatch:
    """Follows from the belief when a vehicle leaves what holds it.

    It has left where that something holds it is as improbable as it must be probable to be
    certain, and it has gone from where it was held. What moves back to there and was not seen to
    go is a sensor that comes back, as from a jump. A level that was never certain is that of the
    pad, or where it began in the air, for the time in which a barometer settles. Only a push or a
    drop leads from where it was held into the air, and an accelerometer that is believed feels
    either; what it shows alone without a push is a fault of it. A push that adds up to a speed
    shows by itself that it has gone, also beside a height that stays, as of a port that is taped
    over.

    Attributes
    ----------
    found : Departure or None
        Where it certainly flies now.
    level : float
        Where it was certainly held last [m].
    drifted : float
        How far its height has drifted while it rested [m].
    fallen : float
        How far it has dropped since from where it was held [m]; 0 where it did not drop.
    """

    def __init__(self) -> None:
        self.reset()

    @property
    def is_certain(self) -> bool:
        """Whether it certainly flies: what fell has fallen far, and was not only dropped."""
        found = self.found
        return found is not None and (found.source != FALL or self.fallen > DROP)

    def reset(
        self, *, in_air: bool = False, highest: float = math.inf, drifted: float = 0.0
    ) -> None:
        """Forget everything, and begin on a pad, or anywhere, at a level up to ``highest`` [m].

        Its height has ``drifted`` so far [m].
        """
        self._begins_in_air, self._highest = in_air, highest
        self._settled_ns: int | None = None
        self.level = highest if math.isfinite(highest) else 0.0
        self.drifted = drifted
        self._mean: tuple[int, float] | None = None
        self._is_level_known = self._has_settled = False
        self._forget_flight()
        self._forget_push()
        self._moved_ns = self._pressed_ns = -_MOVED_NS
        self._read_ns = 0
        self._was_off = self._was_likely = False

    def _forget_flight(self) -> None:
        self.found: Departure | None = None
        self.fallen = 0.0
        self._left_ns: int | None = None
        self._has_gone, self._readings, self._seen_ns = False, 0, 0

    def _forget_push(self) -> None:
        self._pushed_ns: int | None = None
        self._push: Vector = (0.0, 0.0, 0.0)
        self._rate: Vector = (math.nan, math.nan, math.nan)
        self._weight = self._gained = 0.0
        self._is_off = False

    def _end_push(self, now_ns: int) -> None:
        """Forget a push of what is certainly held: it rests again, or its accelerometer is off."""
        is_off = self._pushed_ns is not None and now_ns - self._pushed_ns > _PUSHES_NS
        is_still = now_ns - self._moved_ns > _MOVED_NS
        if is_off or is_still:
            self._forget_push()
            self._is_off = is_off
            self._was_off = is_off

    def feel(self, now_ns: int, force: Vector, rate: Vector = (0.0, 0.0, 0.0)) -> None:
        """Take a specific force, and note since when it is a push.

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
        if abs(size - STANDARD_GRAVITY) > STILL:
            self._moved_ns = now_ns
        if not _WEIGHT[0] < size < _WEIGHT[1]:
            self._pressed_ns = now_ns
        elif now_ns - self._pressed_ns > _MOVED_NS:
            # An offset of the accelerometer would add up for ever.
            self._forget_push()
        seconds, self._read_ns = (now_ns - self._read_ns) * 1e-9, now_ns
        self._is_off = self._is_off and size > _WEIGHT[1]
        if self._is_off:
            return
        if size > _WEIGHT[1]:
            self._pushed_ns = now_ns if self._pushed_ns is None else self._pushed_ns
        elif self._gained <= _GAINED and (size < _WEIGHT[0] or self._left_ns is None):
            # A blow or a shake ends before it adds up.
            self._forget_push()
        if self._pushed_ns is not None:
            self._add_push(force, rate, min(max(seconds, 0.0), _LONGEST))

    def _add_push(self, force: Vector, rate: Vector, seconds: float) -> None:
        """Add to a push what a force gave it: one that turns, as of what is swung, is little.

        Whatever the attitude is, the speed has changed by what was pushed less what the weight took
        at most.
        """
        # One that repeats itself to the last bit is stuck.
        is_known = all(map(math.isfinite, rate)) and rate != self._rate
        self._rate = rate
        turn = [-each * seconds if is_known else 0.0 for each in rate]
        before = rotate(of_vector(*turn), self._push)
        x, y, z = (each + of * seconds for each, of in zip(before, force, strict=True))
        self._push = x, y, z
        self._weight += STANDARD_GRAVITY * seconds
        self._gained = max(self._gained, math.hypot(x, y, z) - self._weight)

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
            Now.
        held : float
            Its probability that something holds the vehicle.
        height : float
            Last reading of a height that lives [m], NaN where none does.
        has_speed, has_force : bool
            Whether a speed, and the accelerometer, live.
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
        # Before it is likely that something holds it, what stays has not left.
        stays = has_height and abs(height - self.level) <= _UNPUSHED[0]
        if self._left_ns is None or (stays and not self._was_likely):
            self._left_ns = now_ns
        if self.found is None:
            self._look(
                now_ns, belief, held, height, self._left_ns, has_speed=has_speed,
                has_force=has_force,
            )
        elif self.found.source == FALL and self._is_read(belief, height):
            # One reading may be a glitch, and the belief may run on without the height.
            self.fallen = max(self.fallen, self.level - max(height, belief.flight[0]))

    def _is_read(self, belief: Belief, height: float) -> bool:
        """Return whether a height lives and is believed."""
        return math.isfinite(height) and belief.believed(Channel.HEIGHT) >= LIKELY

    def _settle(self, now_ns: int, height: float) -> None:
        """Take a height while the level is not known."""
        if self._settled_ns is None:
            self._settled_ns = now_ns + _SETTLE_NS
            if self._begins_in_air:
                self.level = min(height, self._highest)
        if now_ns >= self._settled_ns and not self._has_settled:
            # What was not certain for so long began where it is now.
            self.level, self._has_settled = height, True

    def _learn_level(self, now_ns: int, belief: Belief, *, has_height: bool) -> None:
        """Learn where it is certainly held."""
        if not has_height or belief.supported(height=True, speed=False) >= CERTAIN:
            self.level, self._is_level_known = belief.height, True
            self._drift(now_ns, rests=belief.rests >= LIKELY)

    def _drift(self, now_ns: int, *, rests: bool) -> None:
        """Follow the mean of the level where it changes slowly: what is faster is carried."""
        then_ns, mean = self._mean or (now_ns, self.level)
        seconds = (now_ns - then_ns) * 1e-9
        change = (self.level - mean) * -math.expm1(-seconds / _DRIFT_TIME)
        self._mean = now_ns, mean + change
        if rests and abs(change) <= _DRIFTS * seconds:
            self.drifted += change

    def _look(
        self, now_ns: int, belief: Belief, held: float, height: float, left_ns: int, *,
        has_speed: bool, has_force: bool,
    ) -> None:
        """Look whether what has likely left since a moment has gone, and has gone for long."""
        pushed_ns = self._pushed_ns if has_force else None
        distance, slowest = _UNPUSHED if pushed_ns is None else _PUSHED
        is_thrown = pushed_ns is not None and self._gained > _THROWN
        flown, speed = belief.flight
        by_height = height - self.level
        # The belief runs on where a height stops or is not believed; beside a live one that stays
        # near the level, `is_level`, nothing is away.
        away = by_height if self._is_read(belief, height) else flown - self.level
        has_height = math.isfinite(by_height)
        is_level = has_height and abs(by_height) <= distance
        # What an accelerometer shows alone, and no push began, is a fault of it.
        is_alone = has_force and not (has_height or has_speed)
        is_shown = not is_alone or pushed_ns is not None or self._was_off
        is_away = abs(away) > distance and is_shown and not is_level
        self._has_gone |= is_thrown or (is_away and away * speed > 0.0)
        # What pushes it up lifts it; what pushes it as it comes down is the ground.
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
        """Return whether an accelerometer that is believed felt nothing before it left."""
        is_still = left_ns - self._moved_ns > _MOVED_NS
        return is_still and self._is_level_known and belief.believed(Channel.FORCE) >= LIKELY
