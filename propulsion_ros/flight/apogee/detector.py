# SPDX-License-Identifier: Apache-2.0
"""Apogee by successive quadratic fits over a shifting window of altitudes."""
from __future__ import annotations

import math

from propulsion_ros.flight.apogee.altitude_tracker import AltitudeTracker
from propulsion_ros.flight.apogee.ascent import Ascent
from propulsion_ros.flight.apogee.estimate import ApogeeEstimate
from propulsion_ros.flight.apogee.input_mean import InputMean
from propulsion_ros.flight.apogee.lockout import Lockout
from propulsion_ros.flight.apogee.parabola import Parabola
from propulsion_ros.flight.apogee.params import ApogeeParams
from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY
from propulsion_ros.timing.dwell import Dwell
from propulsion_ros.timing.stamps import Arrival, StampJudge, StampLimits

__all__ = ['ApogeeDetector', 'ApogeeEstimate', 'ApogeeParams']

_ALTITUDE_RANGE = (-5e3, 1e6)  # what no pressure sensor reads is no altitude [m]
_MINIMUM_POINTS = 5
_MINIMUM_LENGTH = 0.25  # [s]
_SHORT = 1.0  # a window shorter than this is helped by the velocity and acceleration inputs [s]
_CLEAR = 3.0  # sigma that count as clear
_CURVED = 4.0  # sigma of curvature that show a vehicle not yet seen to move in free fall
_CERTAIN = 5.0  # sigma that need no curvature
_VOTE_HOLD = 0.05  # [s]
_CONTRADICTED_HOLD = 0.4  # [s]
_DESCENT_HOLD = 0.2  # [s]
_DROP_HOLD = 0.5  # [s]
_OLDER_BEFORE_JUMP = 3  # samples in a row that are older than the newest: the clock was set back


class ApogeeDetector:
    """Detect the apogee of a flight from its altitude, and predict it on the way up.

    Successive parabolas are fitted to the last two seconds (`AltitudeTracker`). Apogee is
    decided by a vote, never under the lockout nor below the minimum height:

    * the fit: its vertex has passed, its acceleration is that of a free fall and its downward
      velocity is significant;
    * the sign of the velocity input, where there is a live one: agreement makes the fit's word
      enough at once, contradiction makes it wait until it is clear and has lasted;
    * the backup: a certain descent, or a loss of height below the peak, whatever the curvature;
      or a falling velocity input where the altitude has been lost.

    An error e of the fitted velocity moves the decision by e / g only, so the velocity needs
    little significance; that the flight is in free fall at all is what must be certain.

    Parameters
    ----------
    params : ApogeeParams
        Gates and window.
    """

    def __init__(self, params: ApogeeParams) -> None:
        self._params = params
        self._tracker = AltitudeTracker(params.window, params.capacity, params.noise)
        self._stamps = StampJudge(StampLimits(
            agreeing=_OLDER_BEFORE_JUMP, gap_ns=round(params.maximum_gap * 1e9)
        ))
        self._lockout = Lockout(params)
        self._ascent = Ascent()
        self._voted = Dwell(_VOTE_HOLD, counts_gaps=True)
        self._descended = Dwell(_DESCENT_HOLD, counts_gaps=True)
        self._dropped = Dwell(_DROP_HOLD, counts_gaps=True)
        self._fell_without = Dwell(_DROP_HOLD, counts_gaps=True)
        self._velocity = InputMean()
        self._acceleration = InputMean()
        self.reset()

    def reset(self) -> None:
        """Forget the flight."""
        self._stamps.reset()
        self._lockout.reset()
        self._restart()
        self._ascent.reset()
        self._altitude_ns: int | None = None
        self._detected_ns: int | None = None
        self._reason = ''
        self._foreseen: tuple[int, float, float] | None = None
        self._apogee_ns: int | None = None
        self._apogee_altitude = math.nan
        self._sigma = math.nan

    def withdraw(self) -> None:
        """Undo the detection, keeping what is known of the flight; it must be voted anew."""
        self._detected_ns = None
        self._reason = ''
        self._forget_votes()

    def update(
        self,
        stamp_ns: int,
        altitude: float,
        velocity: float = math.nan,
        acceleration: float = math.nan,
        mach: float = math.nan,
    ) -> ApogeeEstimate:
        """Take one sample; a NaN, infinite or absurd value is a missing one.

        Parameters
        ----------
        stamp_ns : int
            Message stamp [ns]. Repeated and single older stamps are ignored.
        altitude : float
            Above the pad, up positive [m].
        velocity : float
            Vertical velocity from another source, up positive [m/s].
        acceleration : float
            Vertical acceleration net of gravity, up positive [m/s^2].
        mach : float
            Mach number of the inertial speed.
        """
        arrival = self._stamps.take(stamp_ns)
        if not arrival.advances:
            return self._estimate(stamp_ns, 'late')
        if arrival is Arrival.GAP:
            self._restart()
            self._health = 'gap'
        elif arrival.is_jump:
            self._restart()
            self._shift(self._stamps.shift_ns)
        self._velocity.add(stamp_ns, velocity)
        self._acceleration.add(stamp_ns, acceleration)
        self._lockout.take_input(stamp_ns, self._velocity, mach)
        is_altitude = _ALTITUDE_RANGE[0] < altitude < _ALTITUDE_RANGE[1]
        fit = self._tracker.add(stamp_ns, altitude) if is_altitude else None
        if fit is not None:
            self._altitude_ns = stamp_ns
            self._judge(stamp_ns, fit)
        elif self._is_without(is_altitude) and self._age(stamp_ns) > self._params.frozen_after:
            self._health = 'frozen' if is_altitude else 'no altitude'
            self._vote_without_altitude(stamp_ns)
        return self._estimate(stamp_ns, self._health)

    def _restart(self) -> None:
        """Empty the window, keeping what is known of the flight."""
        self._tracker.restart()
        self._velocity.restart()
        self._acceleration.restart()
        self._fit: Parabola | None = None
        self._forget_votes()
        self._health = 'filling'

    def _forget_votes(self) -> None:
        for vote in (self._voted, self._descended, self._dropped, self._fell_without):
            vote.reset()

    def _shift(self, shift_ns: int) -> None:
        """Move what is not yet decided to a clock that was set back."""
        self._lockout.shift(shift_ns)
        self._ascent.shift(shift_ns)
        if self._altitude_ns is not None:
            self._altitude_ns += shift_ns
        if self._apogee_ns is not None and self._detected_ns is None:
            self._apogee_ns += shift_ns
        if self._foreseen is not None:
            self._foreseen = (self._foreseen[0] + shift_ns, *self._foreseen[1:])

    def _is_without(self, is_altitude: bool) -> bool:
        return self._tracker.is_held or not is_altitude

    def _age(self, stamp_ns: int) -> float:
        """Return the time since the last fit [s]."""
        return math.inf if self._altitude_ns is None else (stamp_ns - self._altitude_ns) * 1e-9

    def _judge(self, stamp_ns: int, fit: Parabola) -> None:
        """Weigh a new fit."""
        fit = self._informed(fit)
        self._fit = fit
        self._fell_without.reset()
        now = self._tracker.seconds(stamp_ns)
        velocity, sigma = fit.velocity(now), fit.velocity_sigma(now)
        if self._detected_ns is not None:
            self._health = 'ok'
            return
        if self._tracker.count < _MINIMUM_POINTS or self._tracker.length < _MINIMUM_LENGTH:
            self._health = 'filling'
            return
        settled = self._tracker.varies and self._tracker.length >= 0.9 * self._params.window
        self._ascent.follow(stamp_ns, fit, now, agrees=self._tracker.agrees, settled=settled)
        self._lockout.take_fit(stamp_ns, velocity, sigma)
        if self._ascent.has_moved and velocity < self._params.lockout_speed:
            # In the air and no longer fast: what pulls is gravity, within the drag.
            fit = fit.with_acceleration(-STANDARD_GRAVITY, self._params.acceleration_sigma)
        self._predict(fit, now)
        is_falling = self._is_falling(fit, velocity, sigma)
        self._health = self._obstacle(stamp_ns, velocity, sigma, is_falling)
        if self._health != 'ok':
            for vote in (self._voted, self._descended, self._dropped):
                vote.reset()
            return
        self._vote(stamp_ns, fit, now)
        self._vote_backup(stamp_ns, fit, now, is_falling)

    def _informed(self, fit: Parabola) -> Parabola:
        """Return the fit, helped by the other inputs while the window is short."""
        if self._tracker.length < _SHORT:
            params = self._params
            if self._velocity.count:
                fit = fit.with_slope(self._velocity.mean, params.velocity_sigma)
            if self._acceleration.count:
                fit = fit.with_acceleration(self._acceleration.mean, params.acceleration_sigma)
        return fit

    def _predict(self, fit: Parabola, now: float) -> None:
        """Keep the vertex of a fit that is clearly curved downward."""
        if fit.acceleration + _CLEAR * fit.acceleration_sigma >= 0.0 or not self._tracker.agrees:
            return
        vertex = fit.vertex
        self._apogee_ns = self._tracker.stamp(vertex)
        self._apogee_altitude = fit.altitude(vertex)
        self._sigma = fit.velocity_sigma(vertex) / -fit.acceleration
        if vertex > now and self._tracker.length >= _SHORT:
            self._foreseen = (self._apogee_ns, self._apogee_altitude, self._sigma)

    def _is_falling(self, fit: Parabola, velocity: float, sigma: float) -> bool:
        """Return whether the descent is certain, by the velocity now or over the window."""
        limit = -self._params.descent_speed
        now = velocity < limit and velocity + _CERTAIN * sigma < 0.0
        mean_sigma = 1.0 / math.sqrt(fit.slope_info)
        mean = velocity < 0.0 and fit.slope < limit and fit.slope + _CERTAIN * mean_sigma < 0.0
        return now or mean

    def _obstacle(
        self, stamp_ns: int, velocity: float, sigma: float, is_falling: bool
    ) -> str:
        if not self._tracker.agrees:
            return 'outliers'
        if not self._ascent.is_physical(stamp_ns, velocity, sigma):
            return 'shock'
        if self._lockout.is_locked(stamp_ns, is_falling):
            return 'lockout'
        if self._ascent.rise < self._params.minimum_height:
            return 'below minimum height'
        return 'ok'

    def _vote(self, stamp_ns: int, fit: Parabola, now: float) -> None:
        params = self._params
        velocity, sigma = fit.velocity(now), fit.velocity_sigma(now)
        significance, hold = self._demand(velocity, sigma, stamp_ns)
        seen = self._fit if self._fit is not None else fit
        curved = 1.0 if self._ascent.has_moved else _CURVED
        passed = (
            velocity + significance * sigma < 0.0
            and seen.acceleration + curved * seen.acceleration_sigma < 0.0
            and params.minimum_fall < -fit.acceleration < params.maximum_fall
            and now - fit.vertex < self._tracker.length
        )
        self._voted.update(stamp_ns, passed)
        if self._voted.has_lasted(hold):
            self._decide(stamp_ns, 'fit')

    def _demand(self, velocity: float, sigma: float, stamp_ns: int) -> tuple[float, float]:
        """Return the significance [sigma] and the time [s] that the fit must show."""
        if self._velocity.is_live(stamp_ns):
            if self._velocity.latest < 0.0:
                return 0.0, 0.0
            if self._velocity.latest > _CLEAR:
                return _CLEAR, _CONTRADICTED_HOLD
        return 0.5, 0.0 if velocity + _CLEAR * sigma < 0.0 else _VOTE_HOLD

    def _vote_backup(self, stamp_ns: int, fit: Parabola, now: float, is_falling: bool) -> None:
        if self._detected_ns is not None:
            return
        has_descended = self._descended.update(stamp_ns, is_falling)
        lost = self._ascent.peak - fit.altitude(now)
        is_low = lost > self._params.drop and fit.velocity(now) < 0.0
        has_dropped = self._dropped.update(stamp_ns, is_low)
        if has_descended:
            self._decide(stamp_ns, 'descent')
        elif has_dropped:
            self._decide(stamp_ns, 'drop')

    def _vote_without_altitude(self, stamp_ns: int) -> None:
        """Let a live velocity input decide alone once the altitude has been lost in flight."""
        is_live = self._velocity.is_live(stamp_ns)
        if is_live and self._fit is not None and self._altitude_ns is not None:
            last = self._fit.altitude(self._tracker.seconds(self._altitude_ns))
            self._ascent.reckon(stamp_ns, self._altitude_ns, last, self._velocity.latest)
        falls = (
            is_live
            and self._velocity.latest < -self._params.descent_speed
            and self._ascent.has_moved
            and self._ascent.rise >= self._params.minimum_height
            and not self._lockout.is_locked(stamp_ns, False)
        )
        has_fallen = self._fell_without.update(stamp_ns, falls)
        if self._detected_ns is None and has_fallen:
            self._decide(stamp_ns, 'velocity')

    def _decide(self, stamp_ns: int, reason: str) -> None:
        self._detected_ns = stamp_ns
        self._reason = reason
        if reason == 'fit':
            return
        # Without a vertex of its own a descent takes the last one that was foreseen.
        if self._foreseen is not None and self._foreseen[0] <= stamp_ns:
            self._apogee_ns, self._apogee_altitude, self._sigma = self._foreseen
        else:
            self._apogee_ns, self._apogee_altitude = self._ascent.peak_ns, self._ascent.peak
            self._sigma = math.nan

    def _estimate(self, stamp_ns: int, health: str) -> ApogeeEstimate:
        detected = self._detected_ns is not None
        fit = self._fit
        if fit is None or self._age(stamp_ns) > self._params.window:
            return ApogeeEstimate(
                stamp_ns, detected, self._detected_ns, self._apogee_ns, self._apogee_altitude,
                self._sigma, reason=self._reason, health=health,
            )
        now = self._tracker.seconds(stamp_ns)
        altitude, velocity = fit.altitude(now), fit.velocity(now)
        return ApogeeEstimate(
            stamp_ns, detected, self._detected_ns, self._apogee_ns, self._apogee_altitude,
            self._sigma, altitude, velocity, fit.acceleration,
            (altitude, velocity, fit.curve), self._reason, health,
        )

