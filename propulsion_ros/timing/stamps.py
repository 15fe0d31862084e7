# SPDX-License-Identifier: Apache-2.0
"""Judges each stamp by the earlier stamps of the same source.

Nothing here reads a clock. Stamps are integer nanoseconds, so that no rounding can make two runs
differ. Every module that takes stamped data judges its stamps here; the modules differ in limits
alone, and in what they do with a verdict.
"""
from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

REANCHOR_NS = 500_000_000
"""A source on a robot must have a steady offset for so long before its time is followed [ns]."""
_UNBOUNDED = 2**63
INTERVALS = 2.5
"""A source is silent after so many of its own intervals: a slow sensor has no gaps."""
_STEADY_NS = 100_000_000  # a steady offset from the leading source may vary by this [ns],
_STEADY_PART = 4  # and by one part in this many of the elapsed time, as the leader may be slow


class Arrival(Enum):
    """Verdict on a stamp: each stamp that is judged has exactly one.

    Attributes
    ----------
    advances : bool
        Whether time advances to this stamp, in the present time base or in a new one.
    is_jump : bool
        Whether a new time base begins with this stamp.
    """

    FIRST = 'first'
    NEXT = 'next'
    GAP = 'gap'  # next, after a dropout
    DUPLICATE = 'duplicate'  # equal to the newest
    LATE = 'late'  # a little older than the newest
    STRAY = 'stray'  # far from the present time, and not confirmed
    JUMP_BACK = 'jump_back'  # far behind and confirmed: time was set back
    JUMP_AHEAD = 'jump_ahead'  # far ahead and confirmed: time was set ahead, or stood still
    REANCHORED = 'reanchored'  # refused for a while, but with a steady offset: now followed

    def __init__(self, word: str) -> None:
        self.advances = word not in ('duplicate', 'late', 'stray')
        self.is_jump = word in ('jump_back', 'jump_ahead', 'reanchored')


_DUPLICATE, _LATE, _STRAY = Arrival.DUPLICATE, Arrival.LATE, Arrival.STRAY
_FIRST, _NEXT, _GAP = Arrival.FIRST, Arrival.NEXT, Arrival.GAP


@dataclass(frozen=True, kw_only=True)
class StampLimits:
    """Limits of a `StampJudge`: which stamps belong to the present time."""

    behind_ns: int | None = 0
    """Largest distance of a stamp behind the newest; None for any."""
    ahead_ns: int | None = None
    """Largest distance of a stamp ahead of the newest; None for any."""
    agreeing: int | None = 2
    """Number of strays in a row that make a jump: 1 accepts each at once, None accepts none."""
    agree_ns: int | None = None
    """Largest distance of a stray after the stray before it with which it agrees; None for any."""
    gap_ns: int | None = None
    """Longest interval that is never a gap; None if there are no gaps."""
    silent_ns: int | None = None
    """Age of the newest stamp beyond which the source is silent; None if it never is."""
    drifts: bool = False
    """Whether a source that follows a leading one may also continue from its own newest stamp,
    however far the two have drifted apart."""
    lag_ns: int | None = None
    """Largest lag of a source behind a leading one that advances; None for any. With
    ``reanchor_ns`` a source that steadily lags more is anchored anew."""
    reanchor_ns: int | None = None
    """Late or stray stamps that continue each other for so long become the time of their source;
    None refuses them without end."""

    def is_near(self, newest_ns: int, stamp_ns: int) -> bool:
        """Return whether a stamp belongs to the time whose newest stamp is given."""
        return -_bound(self.behind_ns) <= stamp_ns - newest_ns <= _bound(self.ahead_ns)


class StampJudge:
    """Gives each stamp of one source one verdict.

    The rules, in this order, about the newest stamp of the source's present time:

    1. The first stamp is FIRST; if other sources show the present time, only if it fits that.
    2. A stamp equal to the newest is a DUPLICATE. It changes nothing.
    3. Up to ``behind_ns`` older is LATE. The present time goes on: earlier strays are forgotten.
    4. Up to ``ahead_ns`` newer is NEXT, or GAP where the interval is longer than ``gap_ns`` and
       than 2.5 times the one before. Earlier strays are forgotten.
    5. Any other is a STRAY. The last of ``agreeing`` strays in a row, each equal to the one
       before it or up to ``agree_ns`` newer, is a JUMP_BACK or JUMP_AHEAD: time goes on from it.
    6. With ``reanchor_ns``, late and stray stamps that continue each other for that long end in
       REANCHORED, if their offset from the leading source is steady or that source is silent.
       So do stamps that fit, but lag more than ``lag_ns`` behind that source while it advances.

    A source that follows a leading one, such as a clock, is compared with the newest stamp of the
    leader by rules 3 to 5: it cannot jump alone, but a stamp that fits the leader is accepted at
    once. With ``drifts`` it is compared with its own newest stamp as well, and may fit either.

    So no single stamp moves time unless ``agreeing`` is 1; accepted stamps go backwards only in a
    jump; and after any disturbance a steady source is accepted again, within ``agreeing`` stamps
    if they are strays, or within ``behind_ns`` of stamps if they are late.

    Attributes
    ----------
    newest_ns : int or None
        Newest stamp of the present time, None before the first.
    interval_ns : int
        Time between the newest stamp and the one before it; 0 before there are two.
    from_ns, to_ns : int
        Newest stamp of the old time and first one of the new time, of the latest jump.
    shift_ns : int
        What to add to stamps of the old time to continue in the new one without a loss of time.
    offset_ns : int
        Steady offset from the leading source at which this one was anchored; 0 for none.
    """

    def __init__(self, limits: StampLimits) -> None:
        self._limits = limits
        self._behind_ns = _bound(limits.behind_ns)
        self._ahead_ns = _bound(limits.ahead_ns)
        self._agreeing = _bound(limits.agreeing)
        self._agree_ns = _bound(limits.agree_ns)
        self._gap_ns = _bound(limits.gap_ns)
        self._silent_ns = _bound(limits.silent_ns)
        self._lag_ns = _bound(limits.lag_ns)
        self._reanchor_ns = limits.reanchor_ns
        self.newest_ns: int | None
        self.reset()

    def reset(self) -> None:
        """Forget the time, as before the first stamp."""
        self.newest_ns = None
        self.interval_ns = self.from_ns = self.to_ns = self.shift_ns = self.offset_ns = 0
        self.forget_strays()

    def begin(self, stamp_ns: int) -> None:
        """Begin anew at a stamp that was judged elsewhere."""
        self.reset()
        self.newest_ns = stamp_ns

    def let_drift(self) -> None:
        """Judge with ``drifts`` from now on."""
        self._limits = replace(self._limits, drifts=True)

    def forget_strays(self) -> None:
        """Forget earlier strays, so that later ones do not agree with them."""
        self._run = self._run_first_ns = self._run_last_ns = self._run_base_ns = 0
        self._lag_first: tuple[int, int] | None = None

    def is_silent(self, now_ns: int) -> bool:
        """Return whether the source is known, and its newest stamp older than ``silent_ns``."""
        return self.newest_ns is not None and now_ns - self.newest_ns > self._silent_ns

    def take(self, stamp_ns: int, present_ns: int | None = None) -> Arrival:
        """Judge a stamp by those before it.

        ``present_ns`` is the time by other sources, which counts while this one has no stamp [ns].
        """
        newest_ns = self.newest_ns
        if newest_ns is None:
            if present_ns is None or self._limits.is_near(present_ns, stamp_ns):
                return self._begin(stamp_ns)
            return self._refuse(_STRAY, stamp_ns, present_ns)
        step_ns = stamp_ns - newest_ns
        if 0 < step_ns <= self._ahead_ns:
            if step_ns > self._gap_ns:
                return self._advance(stamp_ns, step_ns)
            # Almost every stamp ends here; a function call would take 20 % longer.
            self._run = 0
            self.newest_ns, self.interval_ns = stamp_ns, step_ns
            return _NEXT
        if -self._behind_ns <= step_ns <= 0:
            return self._repeat(stamp_ns, step_ns, newest_ns)
        return self._refuse(_STRAY, stamp_ns, newest_ns)

    def follow(self, stamp_ns: int, leader_ns: int) -> Arrival:
        """Judge a stamp by ``leader_ns``, the newest one of a leading source; see the class."""
        newest_ns = self.newest_ns
        if not -self._behind_ns <= stamp_ns - leader_ns - self.offset_ns <= self._ahead_ns:
            is_near = self._limits.is_near
            if self.offset_ns and is_near(leader_ns, stamp_ns):
                return self._reanchor(stamp_ns, 0)
            if newest_ns is None or not self._limits.drifts or not is_near(newest_ns, stamp_ns):
                return self._refuse(_STRAY, stamp_ns, leader_ns, is_led=True)
        if newest_ns is None:
            return self._begin(stamp_ns)
        step_ns = stamp_ns - newest_ns
        if step_ns > 0:
            if self._lags(stamp_ns, leader_ns):
                distance_ns = stamp_ns - leader_ns
                return self._reanchor(
                    stamp_ns, 0 if abs(distance_ns) <= self._lag_ns else distance_ns
                )
            return self._advance(stamp_ns, step_ns)
        if -self._behind_ns <= step_ns:
            return self._repeat(stamp_ns, step_ns, leader_ns, is_led=True)
        self._run_first_ns = stamp_ns
        return self._jump(stamp_ns, newest_ns)

    def _lags(self, stamp_ns: int, leader_ns: int) -> bool:
        """Return whether a source is steadily too far behind its leader, or off its anchor."""
        off_ns = stamp_ns - leader_ns - self.offset_ns
        is_off = off_ns < -self._lag_ns or (self.offset_ns != 0 and off_ns > self._lag_ns)
        if self._reanchor_ns is None or not is_off:
            self._lag_first = None
            return False
        if self._lag_first is None:
            self._lag_first = stamp_ns, leader_ns
        first_ns, base_ns = self._lag_first
        elapsed_ns, led_ns = stamp_ns - first_ns, leader_ns - base_ns
        if elapsed_ns < self._reanchor_ns:
            return False
        if led_ns and _is_steady(elapsed_ns, led_ns):
            return True
        self._lag_first = stamp_ns, leader_ns
        return False

    def take_next(self, last_but_one_ns: int, last_ns: int) -> None:
        """Take stamps that were each NEXT, given the last two of them."""
        self._run = 0
        self.newest_ns, self.interval_ns = last_ns, last_ns - last_but_one_ns

    def _begin(self, stamp_ns: int) -> Arrival:
        """Take the first stamp of the present time."""
        self.newest_ns = stamp_ns
        self._run = 0
        return _FIRST

    def _advance(self, stamp_ns: int, step_ns: int) -> Arrival:
        """Advance to a stamp: after a gap, if the interval is long and the one before was not."""
        known_ns, self.interval_ns = self.interval_ns, step_ns
        self._run = 0
        self.newest_ns = stamp_ns
        is_gap = step_ns > self._gap_ns and known_ns and step_ns > INTERVALS * known_ns
        return _GAP if is_gap else _NEXT

    def _repeat(
        self, stamp_ns: int, step_ns: int, base_ns: int, is_led: bool = False
    ) -> Arrival:
        """Refuse a stamp of the present time that is not new."""
        if step_ns == 0:
            return _DUPLICATE
        if self._reanchor_ns is not None:
            return self._refuse(_LATE, stamp_ns, base_ns, is_led)
        self._run = 0
        return _LATE

    def _refuse(
        self, arrival: Arrival, stamp_ns: int, base_ns: int, is_led: bool = False
    ) -> Arrival:
        """Refuse a stamp, unless it agrees on a new time with those refused just before it."""
        if self._run and 0 <= stamp_ns - self._run_last_ns <= self._agree_ns:
            self._run += 1
        else:
            self._begin_run(stamp_ns, base_ns)
        self._run_last_ns = stamp_ns
        if arrival is _STRAY and not is_led and self._run >= self._agreeing:
            return self._jump(stamp_ns, base_ns)
        elapsed_ns = stamp_ns - self._run_first_ns
        if self._reanchor_ns is not None and elapsed_ns >= self._reanchor_ns:
            if not is_led or _is_steady(elapsed_ns, base_ns - self._run_base_ns):
                return self._reanchor(stamp_ns, stamp_ns - base_ns if is_led else 0)
            self._begin_run(stamp_ns, base_ns)
        return arrival

    def _begin_run(self, stamp_ns: int, base_ns: int) -> None:
        """Begin to count refused stamps that agree with one another."""
        self._run, self._run_first_ns, self._run_base_ns = 1, stamp_ns, base_ns

    def _jump(self, stamp_ns: int, from_ns: int) -> Arrival:
        """Continue from a stamp of a new time."""
        arrival = Arrival.JUMP_BACK if stamp_ns < from_ns else Arrival.JUMP_AHEAD
        return self._begin_time(stamp_ns, from_ns, arrival)

    def _reanchor(self, stamp_ns: int, offset_ns: int) -> Arrival:
        """Continue from a stamp, at another offset from the leading source."""
        from_ns = stamp_ns if self.newest_ns is None else self.newest_ns
        self.offset_ns = offset_ns
        if not self._run:
            self._run_first_ns = stamp_ns
        return self._begin_time(stamp_ns, from_ns, Arrival.REANCHORED)

    def _begin_time(self, stamp_ns: int, from_ns: int, arrival: Arrival) -> Arrival:
        self.from_ns, self.to_ns = from_ns, self._run_first_ns
        self.shift_ns = stamp_ns - from_ns - self._run * self.interval_ns
        self.newest_ns = stamp_ns
        self.forget_strays()
        return arrival


def _is_steady(elapsed_ns: int, leader_ns: int) -> bool:
    """Return whether a leading source has advanced as far as another one, or is silent."""
    tolerance_ns = _STEADY_NS + elapsed_ns // _STEADY_PART
    return leader_ns == 0 or abs(elapsed_ns - leader_ns) <= tolerance_ns


def _bound(limit: int | None) -> int:
    return _UNBOUNDED if limit is None else limit
