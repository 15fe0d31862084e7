# SPDX-License-Identifier: Apache-2.0
"""Detects and predicts the apogee by parabolas through the latest altitudes."""
from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from propulsion_ros.flight.apogee.altitude_tracker import AltitudeTracker
from propulsion_ros.flight.apogee.coast import LONGEST_GAP, CoastFilter
from propulsion_ros.flight.apogee.estimate import ApogeeEstimate
from propulsion_ros.flight.apogee.inputs import SpeedInput
from propulsion_ros.flight.apogee.parabola import CLEAR, Parabola, fit_parabola
from propulsion_ros.flight.apogee.params import ApogeeParams
from propulsion_ros.flight.apogee.vetoes import LONGEST_DIP, SURE, LastingFall, Lockout, Standstill
from propulsion_ros.flight.apogee.votes import VOTES, Ballot, Evidence, Vote
from propulsion_ros.flight.events.signs import longest_silence_ns
from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY
from propulsion_ros.timing.stamps import Arrival, StampJudge, StampLimits

__all__ = ['ApogeeDetector', 'ApogeeEstimate', 'ApogeeParams']

_ALTITUDE_RANGE = (-5e3, 1e6)  # an altitude outside is ignored: no pressure sensor reads it [m]
_MINIMUM_LENGTH = 0.25  # a shorter window detects nothing: its fit is too uncertain [s]
_SHORT = 1.0  # a shorter window is uncertain: acceleration corrects it, it begins no coast [s]
_CERTAIN = 5.0  # a velocity downward by so many sigma is a descent at any acceleration
_OLDER_BEFORE_JUMP = 3  # after so many older stamps in a row the clock was set back
_FOLLOW_NS = 95_000_000  # the coast filter takes an altitude at most every 0.1 s [ns]
_FEWEST_MEDIANS = 4  # medians that show a coast: one more than a parabola needs
_MEDIAN_NOISE = 1.0  # least noise of a median, one sigma [m]
_BRIEF = 0.8  # a coast may show in this last part of the window before it shows in all [s]
_COAST_SIGMA = 8.0  # least sigma of the velocity with which a coast begins [m/s]
_COASTING = -0.5 * STANDARD_GRAVITY  # largest upward acceleration of a coast [m/s^2]
_NEAR_APOGEE = 0.7  # so shortly before the apogee the fit knows its time better [s]
_EARLY = 0.2  # an apogee that is ahead by this and 3 sigma prevents a detection [s]
_KEPT_SPANS = 2.0  # the window is kept over a gap of up to so many windows
_LEAPING = 60.0  # a fit climbs faster near the apogee only if static ports err [m/s]
_LEAST_WAIT = 1.0  # least time after a foreseen apogee before it decides [s]
_NOWHERE = None, math.nan, math.nan  # time, altitude and sigma of an unknown apogee


class ApogeeDetector:
    """Detects the apogee of a flight from its altitude, and predicts it during the climb.

    `AltitudeTracker` fits parabolas to the last two seconds. `CoastFilter` follows the coast, also
    through gaps. Both are evidence for a list of votes; the first vote that has held for its time
    decides. No vote decides below the minimum height, and under the lockout only a lasting fall
    does. Without `expect` the vehicle is assumed to be in the air.

    An error e of the fitted velocity moves the decision by e / g only, so few sigma of velocity are
    enough. It must be certain, however, that the vehicle falls freely.

    Parameters
    ----------
    params : ApogeeParams
        Window, noise and limits.
    votes : sequence of Vote
        In order of preference.
    """

    def __init__(self, params: ApogeeParams, votes: Sequence[Vote] = VOTES) -> None:
        self._params = params
        self._tracker = AltitudeTracker(params.window, params.capacity, params.noise)
        self._stamps = StampJudge(StampLimits(
            agreeing=_OLDER_BEFORE_JUMP, gap_ns=round(params.maximum_gap * 1e9)
        ))
        self._lockout = Lockout(params)
        self._coast = CoastFilter()
        self._fall = LastingFall()
        self._standstill = Standstill()
        self._ballot = Ballot(votes)
        self._velocity = SpeedInput()
        self.reset()

    def reset(self) -> None:
        """Forget all samples and the detection."""
        self._stamps.reset()
        self._lockout.reset()
        self._velocity.reset()
        self._restart()
        self._coast.reset()
        self._fall.reset()
        self._standstill.reset()
        self._offset_ns = 0  # sum of the jumps of the stamps [ns]
        self._flies, self._may_light, self._pad = True, False, 0.0
        self._altitude_ns: int | None = None  # time of the last altitude that was used
        self._followed_ns: int | None = None  # time of the last altitude of the coast filter
        self._detected_ns: int | None = None
        self._reason = ''
        self._foreseen: tuple[int, float, float] | None = None  # apogee predicted in the climb
        self._apogee: tuple[int | None, float, float] = _NOWHERE  # apogee of the estimate

    def withdraw(self) -> None:
        """Undo the detection, but keep fit and coast; the votes must hold again."""
        self._detected_ns = None
        self._reason = ''
        self._ballot.reset()

    def expect(self, *, flies: bool, may_light: bool, pad: float = 0.0) -> None:
        """Set whether the vehicle has left what held it, and whether a stage may still light.

        Nothing is detected until it ``flies``, from the altitude ``pad`` [m]. While a stage may
        still light, the foreseen apogee of the coast does not decide.
        """
        if self._may_light and not may_light:
            self._coast.reset()
        if flies and not self._flies:
            self._fall.restart()
        self._flies, self._may_light, self._pad = flies, may_light, pad

    def wait(self, stamp_ns: int) -> ApogeeEstimate:
        """Advance to a stamp at which nothing was measured; later samples may have older stamps."""
        now_ns = stamp_ns - self._offset_ns
        if self._silence(now_ns) > self._longest_silence:
            self._health = 'no altitude'
            self._vote_without_altitude(now_ns)
        return self._estimate_at(now_ns, self._health)

    def update(
        self, stamp_ns: int, altitude: float, velocity: float = math.nan,
        acceleration: float = math.nan,
    ) -> ApogeeEstimate:
        """Take one sample, and return the estimate; NaN, infinite or absurd values are ignored.

        Parameters
        ----------
        stamp_ns : int
            Stamp of the message [ns]; repeated and single older stamps are ignored.
        altitude : float
            Altitude above the pad [m].
        velocity : float
            Vertical velocity from another sensor, up positive [m/s].
        acceleration : float
            Vertical acceleration net of gravity, up positive [m/s^2].
        """
        arrival = self._stamps.take(stamp_ns)
        if not arrival.advances:
            return self._estimate_at(stamp_ns - self._offset_ns, 'late')
        if arrival is Arrival.GAP:
            self._pass_gap()
        elif arrival.is_jump:
            self._restart()
            self._offset_ns += self._stamps.shift_ns
        now_ns = stamp_ns - self._offset_ns
        self._take(now_ns, altitude, velocity, acceleration)
        return self._estimate_at(now_ns, self._health)

    def _take(self, stamp_ns: int, altitude: float, velocity: float, acceleration: float) -> None:
        """Take a sample at a time without jumps [ns]."""
        self._velocity.add(stamp_ns, velocity)
        if math.isfinite(acceleration):
            self._acceleration = acceleration
        self._lockout.take_input(stamp_ns, self._velocity)
        is_altitude = _ALTITUDE_RANGE[0] < altitude < _ALTITUDE_RANGE[1]
        speed = self._coast.velocity if self._coast.is_trusted else math.nan
        fit = self._tracker.add(stamp_ns, altitude, speed) if is_altitude else None
        is_news = is_altitude and self._tracker.is_news
        if is_news:
            self._follow_altitude(stamp_ns, altitude)
        if fit is not None:
            self._judge(stamp_ns, fit, altitude)
        elif is_news and self._tracker.fit is None:
            self._vote_without_fit(stamp_ns)
        elif self._lacks_altitude(is_altitude) and self._silence(stamp_ns) > self._longest_silence:
            self._health = 'frozen' if is_altitude else 'no altitude'
            self._vote_without_altitude(stamp_ns)

    def _restart(self) -> None:
        """Empty the window and start the votes anew, but keep the coast and the peak."""
        self._tracker.restart()
        self._velocity.restart()
        self._acceleration = math.nan
        self._fit: Parabola | None = None
        self._ballot.reset()
        self._health = 'filling'

    def _pass_gap(self) -> None:
        """Start the votes anew after a gap, and empty the window if the gap was long."""
        if self._stamps.interval_ns * 1e-9 > _KEPT_SPANS * self._params.window:
            self._restart()
        self._ballot.reset()
        self._health = 'gap'

    def _vote_without_fit(self, stamp_ns: int) -> None:
        """Vote by the coast filter, as the samples are too few for a fit."""
        self._altitude_ns = stamp_ns
        if self._detected_ns is None:
            self._decide(stamp_ns, self._ballot.update(stamp_ns, self._evidence_at(stamp_ns)))

    def _follow_altitude(self, stamp_ns: int, altitude: float) -> None:
        """Pass a new altitude to the coast filter and to the medians."""
        if self._fall.add(stamp_ns, altitude) and self._may_begin_coast:
            self._begin_coast_by_medians()
        if self._followed_ns is not None and stamp_ns - self._followed_ns < _FOLLOW_NS:
            return
        self._followed_ns = stamp_ns
        self._coast.take(stamp_ns, altitude, self._tracker.noise)
        if not self._standstill.is_found and self._is_coast_refuted(stamp_ns):
            self._coast.reset()

    def _is_coast_refuted(self, stamp_ns: int) -> bool:
        """Return whether the altitude has contradicted the coast for longer than any dip lasts."""
        since_ns = self._coast.disagreed_ns
        return since_ns is not None and stamp_ns - since_ns > LONGEST_DIP * 1e9

    def _lacks_altitude(self, is_altitude: bool) -> bool:
        """Return whether there is no altitude, or the sensor holds its output."""
        return self._tracker.is_held or not is_altitude

    def _silence(self, stamp_ns: int) -> float:
        """Return the time since the last altitude that was used [s]."""
        return math.inf if self._altitude_ns is None else (stamp_ns - self._altitude_ns) * 1e-9

    @property
    def _longest_silence(self) -> float:
        """Time without an altitude after which it is lost [s]."""
        interval_ns = max(self._stamps.interval_ns, self._tracker.interval_ns)
        return longest_silence_ns(round(self._params.frozen_after * 1e9), interval_ns) * 1e-9

    def _judge(self, stamp_ns: int, fit: Parabola, altitude: float) -> None:
        """Learn from a new fit, and vote."""
        now = self._tracker.seconds(stamp_ns)
        if self._detected_ns is None and self._stands_still(stamp_ns, fit, now):
            self._health = 'standstill'
            self._vote_without_altitude(stamp_ns)
            return
        fit = self._with_acceleration_input(fit)
        self._fit, self._altitude_ns = fit, stamp_ns
        if self._detected_ns is not None:
            self._health = 'ok'
            return
        is_filled = self._tracker.length >= _MINIMUM_LENGTH
        if is_filled:
            self._learn(stamp_ns, fit, now, altitude)
        evidence = self._evidence_at(stamp_ns)
        evidence.health = self._health = self._health_of(evidence) if is_filled else 'filling'
        if is_filled:
            self._weigh(stamp_ns, fit, now, evidence)
        self._decide(stamp_ns, self._ballot.update(stamp_ns, evidence))

    def _learn(self, stamp_ns: int, fit: Parabola, now: float, altitude: float) -> None:
        """Update peak, lockout, velocity input and coast by a fit."""
        tracker, coast, limit = self._tracker, self._coast, self._params.lockout_speed
        velocity, sigma = fit.velocity(now), fit.velocity_sigma(now)
        if tracker.agrees:
            # The fit runs on above an altitude that stopped, so the lower of both was reached.
            self._fall.reach(stamp_ns, min(fit.altitude(now) - fit.altitude_sigma(now), altitude))
        if not (coast.agrees and coast.velocity + CLEAR * coast.velocity_sigma < limit):
            self._lockout.take_fit(stamp_ns, velocity, sigma)
        if tracker.agrees and tracker.length >= _SHORT:
            self._compare_input(stamp_ns, velocity, sigma)
            self._begin_coast_by_fit(stamp_ns, fit, now)

    def _weigh(self, stamp_ns: int, fit: Parabola, now: float, evidence: Evidence) -> None:
        """Add a fit to the evidence, and predict the apogee by it."""
        velocity, sigma = fit.velocity(now), fit.velocity_sigma(now)
        if self._flies and velocity < self._params.lockout_speed:
            # A slow vehicle in the air is accelerated by gravity alone, but for a little drag.
            fit = fit.with_acceleration(-STANDARD_GRAVITY, self._params.acceleration_sigma)
        self._update_apogee(stamp_ns, fit, now)
        evidence.falls = self._is_falling(fit, velocity, sigma)
        evidence.fit, evidence.measured, evidence.now = fit, self._fit, now
        evidence.climbs = 2.0 * sigma < velocity < _LEAPING and self._tracker.agrees
        evidence.length = self._tracker.length

    def _stands_still(self, stamp_ns: int, fit: Parabola, now: float) -> bool:
        """Return whether the altitude has stopped as no vehicle can."""
        standstill, tracker, coast = self._standstill, self._tracker, self._coast
        was_found = standstill.is_found
        if coast.begun_ns is not None and standstill.is_too_slow(
            stamp_ns, coast.velocity, coast.velocity_sigma
        ):
            # The coast was begun while the altitude stopped, and follows the still altitude.
            coast.reset()
            standstill.is_odd = True
        if coast.agrees and standstill.is_news(stamp_ns, coast.velocity, coast.velocity_sigma):
            standstill.trust(stamp_ns, coast.velocity, coast.velocity_sigma)
        elif tracker.agrees and tracker.length >= _SHORT:
            self._follow_standstill(stamp_ns, fit, now)
        if standstill.is_found and not was_found:
            self._distrust_altitude()
        return standstill.is_found

    def _follow_standstill(self, stamp_ns: int, fit: Parabola, now: float) -> None:
        """Compare the fitted speed with the least possible one, and find a new motion."""
        standstill, coast = self._standstill, self._coast
        velocity, sigma = fit.velocity(now), fit.velocity_sigma(now)
        is_over = standstill.is_found and standstill.is_over(stamp_ns)
        if is_over and self._is_falling(fit, velocity, sigma):
            standstill.trust(stamp_ns, velocity, sigma)
            return
        fastest = math.inf
        if coast.is_trusted:
            fastest = coast.velocity + CLEAR * coast.velocity_sigma
        standstill.follow(stamp_ns, velocity, sigma, fastest)

    def _distrust_altitude(self) -> None:
        """Keep only the apogee that the coast foresaw before the altitude stopped."""
        coast = self._coast
        if coast.begun_ns is not None and self._standstill.is_since(coast.begun_ns):
            coast.reset()
        self._foreseen = coast.foresight if coast.is_trusted else None
        self._apogee = self._foreseen or _NOWHERE

    def _compare_input(self, stamp_ns: int, velocity: float, sigma: float) -> None:
        """Compare the velocity input with the coast, else with the fit; only a coast shows bias."""
        coast = self._coast
        if coast.agrees:
            velocity, sigma = coast.velocity_at(stamp_ns), coast.velocity_sigma
        if sigma < SURE:
            self._velocity.compare(stamp_ns, velocity, sigma, learns=coast.agrees)

    def _evidence_at(self, stamp_ns: int) -> Evidence:
        """Return the evidence at a time, without a fit."""
        coast = self._coast
        evidence = Evidence(
            self._params, height=self._height_reached,
            is_locked=self._lockout.is_locked(stamp_ns),
            is_early=coast.is_early(stamp_ns, _EARLY),
            speed=self._velocity.at(stamp_ns), has_fallen=self._fall.has_lasted,
        )
        if coast.agrees:
            evidence.tracked, evidence.tracked_sigma = coast.velocity, coast.velocity_sigma
        return evidence

    @property
    def _height_reached(self) -> float:
        """Largest height above the pad so far [m]."""
        peak, coast = self._fall.peak, self._coast
        return (max(peak, coast.altitude) if coast.is_trusted else peak) - self._pad

    @property
    def _may_begin_coast(self) -> bool:
        """Whether no coast has begun, and the altitude does not slow down impossibly."""
        return self._coast.begun_ns is None and not self._standstill.is_odd

    def _begin_coast_by_fit(self, stamp_ns: int, fit: Parabola, now: float) -> None:
        """Begin a coast if the end of the window, or all of it, has the acceleration of a coast."""
        if not (self._flies and self._may_begin_coast):
            return
        for seen in (self._tracker.fit_of_last(_BRIEF), fit):
            if seen is None or seen.acceleration + seen.acceleration_sigma >= _COASTING:
                continue
            self._begin_coast(stamp_ns, seen, now)
            return

    def _begin_coast(self, stamp_ns: int, seen: Parabola, now: float) -> None:
        """Begin a coast with the altitude and the velocity of a fit at a time [s]."""
        velocity, sigma = seen.velocity(now), seen.velocity_sigma(now)
        self._coast.begin(stamp_ns, seen.altitude(now), velocity, max(CLEAR * sigma, _COAST_SIGMA))

    def _with_acceleration_input(self, fit: Parabola) -> Parabola:
        """Return the fit, corrected by the acceleration input while the window is short."""
        if self._tracker.length >= _SHORT or math.isnan(self._acceleration):
            return fit
        return fit.with_acceleration(self._acceleration, self._params.acceleration_sigma)

    def _begin_coast_by_medians(self) -> None:
        """Begin a coast by medians, if samples come in groups that are too short for a fit.

        Also before it flies: a computer that begins in the air is late without these medians.
        """
        last_ns = self._fall.medians[-1][0]
        medians = [each for each in self._fall.medians if last_ns - each[0] < LONGEST_GAP * 1e9]
        if len(medians) < _FEWEST_MEDIANS:
            return
        time = np.array([(stamp_ns - last_ns) * 1e-9 for stamp_ns, _ in medians])
        fitted = fit_parabola(time, np.array([altitude for _, altitude in medians]))
        if fitted is None:
            return
        noise = max(_MEDIAN_NOISE, math.sqrt(float(fitted[1].dot(fitted[1]))))
        seen = fitted[0].with_noise(noise)
        if seen.acceleration + CLEAR * seen.acceleration_sigma < _COASTING:
            self._begin_coast(last_ns, seen, 0.0)

    def _update_apogee(self, stamp_ns: int, fit: Parabola, now: float) -> None:
        """Set the apogee by the coast, or shortly before the apogee by the vertex of the fit."""
        foreseen = self._coast.foresight if self._coast.agrees else None
        if foreseen is not None and foreseen.apogee_ns - stamp_ns > _NEAR_APOGEE * 1e9:
            self._apogee = self._foreseen = foreseen
            return
        if self._coast.begun_ns is None and fit.velocity(now) > self._params.lockout_speed:
            # The acceleration of a burn does not last until the apogee.
            self._apogee = _NOWHERE
            return
        if fit.acceleration + CLEAR * fit.acceleration_sigma >= 0.0 or not self._tracker.agrees:
            return
        vertex = fit.vertex
        sigma = fit.velocity_sigma(vertex) / -fit.acceleration
        self._apogee = found = self._tracker.stamp(vertex), fit.altitude(vertex), sigma
        if vertex > now and self._tracker.length >= _SHORT:
            self._foreseen = found

    def _is_falling(self, fit: Parabola, velocity: float, sigma: float) -> bool:
        """Return whether the fit surely descends, by its velocity now or over the window."""
        limit = -self._params.descent_speed
        now = velocity < limit and velocity + _CERTAIN * sigma < 0.0
        mean_sigma = 1.0 / math.sqrt(fit.slope_info)
        mean = velocity < 0.0 and fit.slope < limit and fit.slope + _CERTAIN * mean_sigma < 0.0
        return now or mean

    def _health_of(self, evidence: Evidence) -> str:
        """Return the reason why the fit must not decide, 'ok' if it may."""
        if not self._tracker.agrees:
            return 'outliers'
        if self._standstill.is_odd:
            return 'shock'
        if evidence.is_locked:
            return 'lockout'
        if evidence.is_early:
            return 'early'
        if evidence.height < self._params.minimum_height:
            return 'below minimum height'
        return 'ok'

    def _vote_without_altitude(self, stamp_ns: int) -> None:
        """Vote by the velocity input and the foreseen apogee, as the altitude is lost."""
        if self._detected_ns is not None:
            return
        coast, speed = self._coast, self._velocity.at(stamp_ns)
        if math.isfinite(speed) and self._fit is not None and self._altitude_ns is not None:
            last = self._fit.altitude(self._tracker.seconds(self._altitude_ns))
            self._fall.reckon(stamp_ns, self._altitude_ns, last, speed)
        evidence = self._evidence_at(stamp_ns)
        evidence.tracked = math.nan
        foreseen = self._foreseen if self._standstill.is_found else None
        if coast.agrees and not self._standstill.is_found:
            foreseen = coast.foresight
        if foreseen is not None and not self._may_light:
            apogee_ns, _, sigma = foreseen
            evidence.overdue = (stamp_ns - apogee_ns) * 1e-9 - max(_LEAST_WAIT, CLEAR * sigma)
        self._decide(stamp_ns, self._ballot.update(stamp_ns, evidence))

    def _decide(self, stamp_ns: int, reason: str) -> None:
        """Detect the apogee if a vote decides; `_update_apogee` has set the vertex of a fit."""
        if not (reason and self._flies):
            return
        self._detected_ns = stamp_ns
        self._reason = reason
        if reason == 'fit':
            return
        # The other votes have no vertex: take the last foreseen apogee if it has passed.
        foreseen = self._coast.foresight if self._coast.is_trusted else self._foreseen
        if foreseen is not None and foreseen[0] <= stamp_ns:
            self._apogee = foreseen
        else:
            self._apogee = self._fall.peak_ns, self._fall.peak, math.nan

    def _estimate_at(self, stamp_ns: int, health: str) -> ApogeeEstimate:
        """Return the estimate at a time, with stamps of the samples' clock."""
        offset_ns, detected = self._offset_ns, self._detected_ns is not None
        detected_ns = None if self._detected_ns is None else self._detected_ns + offset_ns
        apogee_ns, apogee_altitude, sigma = self._apogee
        estimate = ApogeeEstimate(
            stamp_ns + offset_ns, detected, detected_ns,
            None if apogee_ns is None else apogee_ns + offset_ns, apogee_altitude, sigma,
            reason=self._reason, health=health,
        )
        fit = self._fit
        if fit is None or self._silence(stamp_ns) > self._params.window:
            return estimate
        now = self._tracker.seconds(stamp_ns)
        return estimate._replace(
            altitude=fit.altitude(now), velocity=fit.velocity(now), acceleration=fit.acceleration,
        )
