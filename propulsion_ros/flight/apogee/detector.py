# SPDX-License-Identifier: Apache-2.0
"""Apogee by successive quadratic fits over a shifting window of altitudes."""
from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from propulsion_ros.flight.apogee.altitude_tracker import AltitudeTracker
from propulsion_ros.flight.apogee.coast import CoastFilter
from propulsion_ros.flight.apogee.estimate import ApogeeEstimate
from propulsion_ros.flight.apogee.inputs import SpeedInput
from propulsion_ros.flight.apogee.parabola import CLEAR, Parabola, fit_parabola
from propulsion_ros.flight.apogee.params import ApogeeParams
from propulsion_ros.flight.apogee.vetoes import SURE, LastingFall, Standstill
from propulsion_ros.flight.apogee.votes import VOTES, Ballot, Evidence, Vote
from propulsion_ros.flight.events.signs import INTERVALS
from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY
from propulsion_ros.timing.stamps import Arrival, StampJudge, StampLimits

__all__ = ['ApogeeDetector', 'ApogeeEstimate', 'ApogeeParams']

_SHORT = 1.0  # a window shorter than this shows neither a coast nor a wrong input [s]
_CERTAIN = 5.0  # sigma that need no curvature
_OLDER_BEFORE_JUMP = 3  # samples in a row that are older than the newest: the clock was set back
_FOLLOW_NS = 95_000_000  # between two altitudes that the coast is followed by
_FEWEST_MEDIANS = 4  # that show a coast
_MEDIAN_NOISE = 1.0  # one sigma [m]
_COASTING = -0.5 * STANDARD_GRAVITY  # acceleration, at most, of a coast
_NEAR_APOGEE = 0.7  # time to go below which the fit knows the vertex better [s]
_EARLY = 0.2  # beyond 3 sigma, by which an apogee must lie ahead to keep a vote back [s]
_LEAST_WAIT = 1.0  # after a foreseen apogee [s]
_NOWHERE = None, math.nan, math.nan


class ApogeeDetector:
    """Detect the apogee of a flight from its altitude, and predict it on the way up.

    Successive parabolas are fitted to the last two seconds (`AltitudeTracker`), and a filter
    follows the coast where they cannot (`CoastFilter`). Both are evidence for a list of votes; the
    first vote that has held for its time decides. None decides below the minimum height, nor while
    a velocity input that is believed climbs fast. Without `expect` the vehicle is in the air.

    An error e of the fitted velocity moves the decision by e / g only, so the velocity needs
    little significance; that the flight is in free fall at all is what must be certain.

    Parameters
    ----------
    params : ApogeeParams
        Gates and window.
    votes : sequence of Vote
        In order of preference.
    """

    def __init__(self, params: ApogeeParams, votes: Sequence[Vote] = VOTES) -> None:
        self._params = params
        self._tracker = AltitudeTracker(params.window, params.capacity, params.noise)
        self._stamps = StampJudge(StampLimits(
            agreeing=_OLDER_BEFORE_JUMP, gap_ns=round(params.maximum_gap * 1e9)
        ))
        self._coast = CoastFilter()
        self._fall = LastingFall()
        self._standstill = Standstill()
        self._ballot = Ballot(votes)
        self._velocity = SpeedInput()
        self.reset()

    def reset(self) -> None:
        """Forget the flight."""
        self._stamps.reset()
        self._velocity.reset()
        self._restart()
        self._coast.reset()
        self._fall.reset()
        self._standstill.reset()
        self._offset_ns = 0
        self._flies, self._may_light, self._pad = True, False, 0.0
        self._altitude_ns: int | None = None
        self._followed_ns: int | None = None
        self._detected_ns: int | None = None
        self._reason = ''
        self._foreseen: tuple[int, float, float] | None = None
        self._apogee: tuple[int | None, float, float] = _NOWHERE

    def withdraw(self) -> None:
        """Undo the detection, keeping what is known of the flight; it must be voted anew."""
        self._detected_ns = None
        self._reason = ''
        self._ballot.reset()

    def expect(self, *, flies: bool, may_light: bool, pad: float = 0.0) -> None:
        """Take whether the vehicle has left what held it, and whether a stage may still light.

        Nothing is decided of what is held, and nothing foreseen of a coast before a burn.
        """
        if self._may_light and not may_light:
            self._coast.reset()
        if flies and not self._flies:
            self._fall.restart()
        self._flies, self._may_light, self._pad = flies, may_light, pad

    def wait(self, stamp_ns: int) -> ApogeeEstimate:
        """Let time go on to a stamp that no sample has; later samples may be older than it."""
        now_ns = stamp_ns - self._offset_ns
        if self._age(now_ns) > self._patience:
            self._health = 'no altitude'
            self._vote_without_altitude(now_ns)
        return self._estimate(now_ns, self._health)

    def update(
        self, stamp_ns: int, altitude: float, velocity: float = math.nan
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
        """
        arrival = self._stamps.take(stamp_ns)
        if not arrival.advances:
            return self._estimate(stamp_ns - self._offset_ns, 'late')
        if arrival is Arrival.GAP:
            self._restart()
        elif arrival.is_jump:
            self._offset_ns += self._stamps.shift_ns
        now_ns = stamp_ns - self._offset_ns
        self._take(now_ns, altitude, velocity)
        return self._estimate(now_ns, self._health)

    def _take(self, stamp_ns: int, altitude: float, velocity: float) -> None:
        """Take a sample at a time that never jumps."""
        self._velocity.add(stamp_ns, velocity)
        is_altitude = math.isfinite(altitude)
        speed = self._coast.velocity if self._coast.begun_ns is not None else math.nan
        fit = self._tracker.add(stamp_ns, altitude, speed) if is_altitude else None
        is_news = is_altitude and self._tracker.is_news
        if is_news:
            self._follow(stamp_ns, altitude)
        if fit is not None:
            self._judge(stamp_ns, fit)
        elif is_news and self._tracker.fit is None:
            self._vote_without_fit(stamp_ns)
        elif not is_news and self._age(stamp_ns) > self._patience:
            self._health = 'frozen' if is_altitude else 'no altitude'
            self._vote_without_altitude(stamp_ns)

    def _restart(self) -> None:
        """Empty the window, keeping what is known of the flight."""
        self._tracker.restart()
        self._velocity.restart()
        self._fit: Parabola | None = None
        self._ballot.reset()
        self._health = 'filling'

    def _vote_without_fit(self, stamp_ns: int) -> None:
        """Let the filter decide where the samples are too few for a fit."""
        self._altitude_ns = stamp_ns
        if self._detected_ns is None:
            self._decide(stamp_ns, self._ballot.update(stamp_ns, self._known(stamp_ns)))

    def _follow(self, stamp_ns: int, altitude: float) -> None:
        """Let filter and fall take a new altitude."""
        if self._fall.add(stamp_ns, altitude) and self._coast.begun_ns is None:
            self._begin_coast_by_medians()
        if self._followed_ns is None or stamp_ns - self._followed_ns >= _FOLLOW_NS:
            self._followed_ns = stamp_ns
            self._coast.take(stamp_ns, altitude, self._tracker.noise)

    def _age(self, stamp_ns: int) -> float:
        """Return the time since the last fit [s]."""
        return math.inf if self._altitude_ns is None else (stamp_ns - self._altitude_ns) * 1e-9

    @property
    def _patience(self) -> float:
        """Time without an altitude after which a sensor is lost [s]."""
        interval_ns = max(self._stamps.interval_ns, self._tracker.interval_ns)
        return max(self._params.frozen_after, min(INTERVALS * interval_ns * 1e-9, 5.0))

    def _judge(self, stamp_ns: int, fit: Parabola) -> None:
        """Weigh a new fit."""
        now = self._tracker.seconds(stamp_ns)
        if self._detected_ns is None and self._stands_still(stamp_ns, fit, now):
            self._health = 'standstill'
            self._vote_without_altitude(stamp_ns)
            return
        self._fit, self._altitude_ns = fit, stamp_ns
        if self._detected_ns is not None:
            self._health = 'ok'
            return
        if self._tracker.agrees:
            self._fall.reach(stamp_ns, fit.altitude(now) - fit.altitude_sigma(now))
        if self._tracker.agrees and self._tracker.length >= _SHORT:
            self._compare_input(stamp_ns, fit.velocity(now), fit.velocity_sigma(now))
            self._begin_coast(stamp_ns, fit, now)
        evidence = self._known(stamp_ns)
        evidence.health = self._health = self._obstacle(evidence)
        self._weigh(stamp_ns, fit, now, evidence)
        self._decide(stamp_ns, self._ballot.update(stamp_ns, evidence))

    def _weigh(self, stamp_ns: int, fit: Parabola, now: float, evidence: Evidence) -> None:
        """Add what a fit shows to the evidence."""
        velocity, sigma = fit.velocity(now), fit.velocity_sigma(now)
        if self._flies:
            # What pulls near the apogee is gravity, within the drag.
            fit = fit.with_acceleration(-STANDARD_GRAVITY, self._params.acceleration_sigma)
        self._predict(stamp_ns, fit, now)
        evidence.falls = self._is_falling(fit, velocity)
        evidence.fit, evidence.measured, evidence.now = fit, self._fit, now
        evidence.climbs = 2.0 * sigma < velocity
        evidence.length = self._tracker.length

    def _stands_still(self, stamp_ns: int, fit: Parabola, now: float) -> bool:
        """Return whether the altitude has stopped in a way that no vehicle can."""
        standstill, tracker, coast = self._standstill, self._tracker, self._coast
        was_found = standstill.is_found
        if coast.begun_ns is not None and standstill.is_too_slow(
            stamp_ns, coast.velocity, coast.velocity_sigma
        ):
            # It was begun while the altitude stopped, and follows what stands still.
            coast.reset()
        if coast.agrees and coast.velocity_sigma < SURE:
            standstill.trust(stamp_ns, coast.velocity, coast.velocity_sigma)
        elif tracker.agrees and tracker.length >= _SHORT:
            velocity, sigma = fit.velocity(now), fit.velocity_sigma(now)
            is_over = standstill.is_found and standstill.is_over(stamp_ns)
            if is_over and self._is_falling(fit, velocity):
                standstill.trust(stamp_ns, velocity, sigma)
            else:
                is_known = coast.begun_ns is not None
                fastest = coast.velocity + CLEAR * coast.velocity_sigma if is_known else math.inf
                standstill.follow(stamp_ns, velocity, sigma, fastest)
        if standstill.is_found and not was_found:
            self._distrust_altitude()
        return standstill.is_found

    def _distrust_altitude(self) -> None:
        """Keep of the prediction only what the coast foresaw before the altitude stopped."""
        if self._coast.begun_ns is not None and self._standstill.is_since(self._coast.begun_ns):
            self._coast.reset()
        self._foreseen = self._coast.foresight
        self._apogee = self._foreseen or _NOWHERE

    def _compare_input(self, stamp_ns: int, velocity: float, sigma: float) -> None:
        """Compare the velocity input with the coast, or with a fit, which lags behind an engine."""
        coast = self._coast
        if coast.agrees:
            velocity, sigma = coast.velocity, coast.velocity_sigma
        if sigma < SURE:
            self._velocity.compare(stamp_ns, velocity, learns=coast.agrees)

    def _known(self, stamp_ns: int) -> Evidence:
        """Return what is known without a fit."""
        coast = self._coast
        evidence = Evidence(
            self._params, height=self._height,
            is_early=coast.is_early(stamp_ns, _EARLY),
            speed=self._velocity.at(stamp_ns), has_fallen=self._fall.has_lasted,
        )
        if coast.agrees:
            evidence.tracked, evidence.tracked_sigma = coast.velocity, coast.velocity_sigma
        return evidence

    @property
    def _height(self) -> float:
        """Height that the flight has reached above its pad [m]."""
        peak, coast = self._fall.peak, self._coast
        return (max(peak, coast.altitude) if coast.begun_ns is not None else peak) - self._pad

    def _begin_coast(self, stamp_ns: int, fit: Parabola, now: float) -> None:
        """Begin to follow a coast where a fit shows one."""
        if not self._flies or self._coast.begun_ns is not None:
            return
        if fit.acceleration + fit.acceleration_sigma < _COASTING:
            velocity, sigma = fit.velocity(now), fit.velocity_sigma(now)
            self._coast.begin(stamp_ns, fit.altitude(now), velocity, max(3.0 * sigma, 8.0))

    def _begin_coast_by_medians(self) -> None:
        """Begin to follow a coast that is seen in glimpses, too short for a fit each."""
        medians = self._fall.medians
        if len(medians) < _FEWEST_MEDIANS:
            return
        last_ns = medians[-1][0]
        time = np.array([(stamp_ns - last_ns) * 1e-9 for stamp_ns, _ in medians])
        fitted = fit_parabola(time, np.array([altitude for _, altitude in medians]))
        if fitted is None:
            return
        noise = max(_MEDIAN_NOISE, math.sqrt(float(fitted[1].dot(fitted[1]))))
        seen = fitted[0].with_noise(noise)
        velocity, sigma = seen.velocity(0.0), seen.velocity_sigma(0.0)
        if seen.acceleration + CLEAR * seen.acceleration_sigma < _COASTING:
            self._coast.begin(last_ns, seen.altitude(0.0), velocity, max(3.0 * sigma, 8.0))

    def _predict(self, stamp_ns: int, fit: Parabola, now: float) -> None:
        """Keep the apogee that the coast foresees, or the vertex of a fit near it."""
        foreseen = self._coast.foresight if self._coast.agrees else None
        if foreseen is not None and foreseen.apogee_ns - stamp_ns > _NEAR_APOGEE * 1e9:
            self._apogee = self._foreseen = foreseen
            return
        if self._coast.begun_ns is None and fit.velocity(now) > self._params.lockout_speed:
            # What pulls now may not pull on the way: nothing is foreseen of a burn.
            self._apogee = _NOWHERE
            return
        if fit.acceleration + CLEAR * fit.acceleration_sigma >= 0.0 or not self._tracker.agrees:
            return
        vertex = fit.vertex
        sigma = fit.velocity_sigma(vertex) / -fit.acceleration
        self._apogee = found = self._tracker.stamp(vertex), fit.altitude(vertex), sigma
        if vertex > now and self._tracker.length >= _SHORT:
            self._foreseen = found

    def _is_falling(self, fit: Parabola, velocity: float) -> bool:
        """Return whether the descent is certain, by the mean velocity over the window."""
        is_certain = fit.slope + _CERTAIN / math.sqrt(fit.slope_info) < 0.0
        return velocity < 0.0 and fit.slope < -self._params.descent_speed and is_certain

    def _obstacle(self, evidence: Evidence) -> str:
        if not self._tracker.agrees:
            return 'outliers'
        if evidence.is_locked:
            return 'lockout'
        if evidence.is_early:
            return 'early'
        if evidence.height < self._params.minimum_height:
            return 'below minimum height'
        return 'ok'

    def _vote_without_altitude(self, stamp_ns: int) -> None:
        """Let a live velocity input or what was foreseen decide once the altitude is lost."""
        if self._detected_ns is not None:
            return
        speed, coast = self._velocity, self._coast
        is_live = speed.is_live(stamp_ns)
        if is_live and self._fit is not None and self._altitude_ns is not None:
            last = self._fit.altitude(self._tracker.seconds(self._altitude_ns))
            self._fall.reckon(stamp_ns, self._altitude_ns, last, speed.latest)
        evidence = self._known(stamp_ns)
        evidence.tracked = math.nan
        foreseen = self._foreseen if self._standstill.is_found else None
        if coast.agrees and not self._standstill.is_found:
            foreseen = coast.foresight
        if foreseen is not None and not self._may_light:
            apogee_ns, _, sigma = foreseen
            evidence.overdue = (stamp_ns - apogee_ns) * 1e-9 - max(_LEAST_WAIT, 3.0 * sigma)
        self._decide(stamp_ns, self._ballot.update(stamp_ns, evidence))

    def _decide(self, stamp_ns: int, reason: str) -> None:
        if not (reason and self._flies):
            return
        self._detected_ns = stamp_ns
        self._reason = reason
        if reason == 'fit':
            return
        # Without a vertex of its own a descent takes the last one that was foreseen.
        foreseen = self._coast.foresight if self._coast.begun_ns is not None else self._foreseen
        if foreseen is not None and foreseen[0] <= stamp_ns:
            self._apogee = foreseen
        else:
            self._apogee = self._fall.peak_ns, self._fall.peak, math.nan

    def _estimate(self, stamp_ns: int, health: str) -> ApogeeEstimate:
        """Return what is known now, in stamps again."""
        offset_ns, detected = self._offset_ns, self._detected_ns is not None
        detected_ns = None if self._detected_ns is None else self._detected_ns + offset_ns
        apogee_ns, apogee_altitude, sigma = self._apogee
        estimate = ApogeeEstimate(
            stamp_ns + offset_ns, detected, detected_ns,
            None if apogee_ns is None else apogee_ns + offset_ns, apogee_altitude, sigma,
            reason=self._reason, health=health,
        )
        fit = self._fit
        if fit is None or self._age(stamp_ns) > self._params.window:
            return estimate
        now = self._tracker.seconds(stamp_ns)
        return estimate._replace(
            altitude=fit.altitude(now), velocity=fit.velocity(now), acceleration=fit.acceleration,
        )
