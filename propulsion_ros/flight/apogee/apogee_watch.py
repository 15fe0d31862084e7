# SPDX-License-Identifier: Apache-2.0
"""Decides when an ascent ends: by the apogee detector, a deep fall, or the backup timer."""
from __future__ import annotations

import math

from propulsion_ros.flight.apogee.estimate import ApogeeEstimate, Detector
from propulsion_ros.flight.belief.departure import DROP, FALL
from propulsion_ros.flight.belief.motion_watch import CLIMBS, MotionWatch
from propulsion_ros.flight.events.variables import NAN, Sample, sane
from propulsion_ros.flight.phases.params import FlightParams
from propulsion_ros.flight.phases.progress import Mark, Vertex
from propulsion_ros.timing.dwell import Dwell

_TIMER_DWELL = 0.05  # dwell of the backup timer, so that one wrong stamp does not end it [s]
_FALL_DWELL = 0.3  # dwell of a downward speed by dead reckoning before it is the apogee [s]
# With these values of `ApogeeEstimate.health` the fit does not show the present motion.
_UNFIT = ('filling', 'no altitude', 'gap', 'frozen', 'standstill', 'outliers', 'shock')


class ApogeeWatch:
    """Runs the detector on each sample, and decides whether the ascent ends.

    Parameters
    ----------
    params : FlightParams
        Only ``min_ascent_time`` and ``max_ascent_time`` are used.
    detector : Detector
        Used by this object alone.

    Attributes
    ----------
    estimate : ApogeeEstimate or None
        Last estimate of the detector.
    """

    def __init__(self, params: FlightParams, detector: Detector) -> None:
        self._least_ns = params.min_ascent_time * 1e9
        self._limit_ns = round(params.max_ascent_time * 1e9)
        self._detector = detector
        self._timer, self._falling = Dwell(_TIMER_DWELL), Dwell(_FALL_DWELL)
        self.reset()

    def reset(self) -> None:
        """Forget the flight, also in the detector."""
        self._detector.reset()
        self.estimate: ApogeeEstimate | None = None
        self.restart_timer()

    def restart_timer(self) -> None:
        """Restart the dwells of the timer and of dead reckoning."""
        self._timer.reset()
        self._falling.reset()

    def see(
        self, sample: Sample, *, flies: bool, pad: float = 0.0, is_silence: bool = False,
        may_light: bool = False,
    ) -> Sample:
        """Run the detector on a sample; return that sample, with the fitted speed if it has none.

        Parameters
        ----------
        sample : Sample
            Present sample.
        flies : bool
            Whether the vehicle has left what held it; nothing is detected before.
        pad : float
            Altitude from which it left [m].
        is_silence : bool
            Whether no sensor measured at this stamp; later samples may have older stamps.
        may_light : bool
            Whether a stage may still light.
        """
        self._detector.expect(flies=flies, may_light=may_light, pad=pad)
        altitude, velocity, acceleration = map(
            sane, (sample.altitude, sample.velocity, sample.acceleration)
        )
        if is_silence:
            estimate = self._detector.wait(sample.stamp_ns)
        else:
            estimate = self._detector.update(sample.stamp_ns, altitude, velocity, acceleration)
        self.estimate = estimate
        if math.isnan(velocity):
            velocity = self.fitted_velocity
        return sample._replace(altitude=altitude, velocity=velocity, acceleration=acceleration)

    @property
    def fitted_velocity(self) -> float:
        """Upward speed of the fit [m/s], NaN if that does not show the present motion."""
        estimate = self.estimate
        return NAN if estimate is None or estimate.health in _UNFIT else estimate.velocity

    def filtered(self, sample: Sample) -> Sample:
        """Return the sample with the altitude of the fit, if there is one."""
        if self.estimate is None or not math.isfinite(sample.altitude):
            return sample
        fitted = self.estimate.altitude
        return sample._replace(altitude=fitted) if math.isfinite(fitted) else sample

    @property
    def fitted_acceleration(self) -> float:
        """Upward acceleration of the fit [m/s^2], NaN if there is none."""
        return NAN if self.estimate is None else self.estimate.acceleration

    @property
    def vertex(self) -> Vertex | None:
        """Time and altitude of the apogee; None if it is not detected, or these are unknown."""
        estimate = self.estimate
        if estimate is None or not estimate.detected:
            return None
        if estimate.apogee_ns is None or not math.isfinite(estimate.apogee_altitude):
            return None
        return Vertex(estimate.apogee_ns, estimate.apogee_altitude)

    def end(self, now_ns: int, liftoff: Mark | None, motion: MotionWatch) -> str:
        """Return what ends the ascent now: 'apogee', 'fall', 'timer', or ''.

        Parameters
        ----------
        now_ns : int
            Time on the flight clock [ns].
        liftoff : Mark or None
            Liftoff of this flight; after a liftoff by a fall the apogee has no least time.
        motion : MotionWatch
            What the sensors show. A detection is undone while a believed height certainly climbs
            fast, or where none is believed while dead reckoning climbs; if that falls, it is the
            apogee.
        """
        reckoned = motion.reckoned
        ascent_ns = 0 if liftoff is None else now_ns - liftoff.clock_ns
        may_end = _began_by_fall(liftoff) or ascent_ns >= self._least_ns
        falls = False
        # Dead reckoning below the pad has drifted too far to be used.
        if reckoned is not None and reckoned.height > 0.0:
            falls = reckoned.speed < -reckoned.speed_sigma
            may_end &= reckoned.speed <= reckoned.speed_sigma
        if self._falling.update(now_ns, falls) and may_end:
            self._mark_as_reckoned()
            return 'apogee'
        if self.estimate is not None and self.estimate.detected:
            if may_end and motion.climb <= CLIMBS:
                return 'apogee'
            self._withdraw()
        if motion.fallen > DROP:
            return FALL
        is_over = 0 < self._limit_ns <= ascent_ns
        return 'timer' if self._timer.update(now_ns, is_over) else ''

    def _mark_as_reckoned(self) -> None:
        """Mark the estimate as detected by dead reckoning, without time and altitude."""
        if self.estimate is not None and not self.estimate.detected:
            self.estimate = self.estimate._replace(
                detected=True, detected_ns=self.estimate.stamp_ns, apogee_ns=None,
                apogee_altitude=math.nan, reason='reckoned',
            )

    def _withdraw(self) -> None:
        """Undo the detection, so that the votes must hold again."""
        self._detector.withdraw()
        if self.estimate is not None:
            self.estimate = self.estimate._replace(detected=False, detected_ns=None, reason='')


def _began_by_fall(liftoff: Mark | None) -> bool:
    return liftoff is not None and liftoff.source == FALL
