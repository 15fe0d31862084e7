# SPDX-License-Identifier: Apache-2.0
"""What ends an ascent: the apogee detector, a deep fall, or the backup timer."""
from __future__ import annotations

import math

from propulsion_ros.flight.apogee.estimate import ApogeeEstimate, Detector
from propulsion_ros.flight.belief.belief import Reckoned
from propulsion_ros.flight.belief.departure import DROP, FALL
from propulsion_ros.flight.events.variables import NAN, Sample, sane
from propulsion_ros.flight.phases.params import FlightParams
from propulsion_ros.flight.phases.progress import Mark, Vertex
from propulsion_ros.timing.dwell import Dwell

_TIMER_DWELL = 0.05  # dwell of the backup timer, as one wild stamp is no apogee [s]
_TURN_DWELL = 0.3  # dwell of a fall by dead reckoning until it is the apogee [s]
# Health of the detector in which its fit does not show the present motion.
_UNFIT = ('filling', 'no altitude', 'gap', 'frozen', 'standstill', 'outliers', 'shock')


class ApogeeWatch:
    """Decides when an ascent ends: by the detector, a deep fall, or the backup timer.

    Parameters
    ----------
    params : FlightParams
        Only ``min_ascent_time`` and ``max_ascent_time`` are used.
    detector : Detector
        Owned by this object from now on.

    Attributes
    ----------
    estimate : ApogeeEstimate or None
        Last estimate of the detector.
    """

    def __init__(self, params: FlightParams, detector: Detector) -> None:
        self._least_ns = params.min_ascent_time * 1e9
        self._limit_ns = round(params.max_ascent_time * 1e9)
        self._detector = detector
        self._timer, self._turn = Dwell(_TIMER_DWELL), Dwell(_TURN_DWELL)
        self.reset()

    def reset(self) -> None:
        """Forget the flight and what the detector saw."""
        self._detector.reset()
        self.estimate: ApogeeEstimate | None = None
        self.restart_timer()

    def restart_timer(self) -> None:
        """Restart the dwells of the timer and of dead reckoning."""
        self._timer.reset()
        self._turn.reset()

    def see(
        self, sample: Sample, *, flies: bool, pad: float = 0.0, is_silence: bool = False,
        may_light: bool = False,
    ) -> Sample:
        """Run the detector on a sample, and return it with the fitted speed if none was known.

        Parameters
        ----------
        sample : Sample
            Present sample.
        flies : bool
            Whether the vehicle has left what held it; else nothing is detected.
        pad : float
            Altitude from which it left [m].
        is_silence : bool
            Whether the stamp is not from a sensor, so that later samples may be older.
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
        """Slope of the altitude [m/s], NaN if the fit does not show the present motion."""
        estimate = self.estimate
        return NAN if estimate is None or estimate.health in _UNFIT else estimate.velocity

    def filtered(self, sample: Sample) -> Sample:
        """Return a sample with the altitude of the fit where there is one."""
        if self.estimate is None or not math.isfinite(sample.altitude):
            return sample
        fitted = self.estimate.altitude
        return sample._replace(altitude=fitted) if math.isfinite(fitted) else sample

    @property
    def fitted_acceleration(self) -> float:
        """Curvature of the altitude [m/s^2], NaN where there is no fit."""
        return NAN if self.estimate is None else self.estimate.acceleration

    @property
    def vertex(self) -> Vertex | None:
        """Where the flight was highest, None where the detector has not decided."""
        estimate = self.estimate
        if estimate is None or not estimate.detected:
            return None
        if estimate.apogee_ns is None or not math.isfinite(estimate.apogee_altitude):
            return None
        return Vertex(estimate.apogee_ns, estimate.apogee_altitude)

    def end(
        self, now_ns: int, liftoff: Mark | None, fallen: float, reckoned: Reckoned | None
    ) -> str:
        """Return what ends the ascent now: 'apogee', 'fall', 'timer', or ''.

        Parameters
        ----------
        now_ns : int
            On the flight clock [ns].
        liftoff : Mark or None
            Liftoff of this flight; after one by a fall any apogee is believed at once.
        fallen : float
            How far the vehicle has dropped from where it was held [m]; 0 if it has not.
        reckoned : Reckoned or None
            Dead reckoning while no height is believed: a climb vetoes the detector, which relies
            on that height, and a fall is the apogee.
        """
        ascent_ns = 0 if liftoff is None else now_ns - liftoff.clock_ns
        may_end = _is_fall(liftoff) or ascent_ns >= self._least_ns
        falls = False
        # Dead reckoning that is below the pad has drifted too far to be used.
        if reckoned is not None and reckoned.height > 0.0:
            falls = reckoned.speed < -reckoned.speed_sigma
            may_end &= reckoned.speed <= reckoned.speed_sigma
        if self._turn.update(now_ns, falls) and may_end:
            self._note_turn()
            return 'apogee'
        if self.estimate is not None and self.estimate.detected:
            if may_end:
                return 'apogee'
            self._withdraw()
        if fallen > DROP:
            return FALL
        is_over = 0 < self._limit_ns <= ascent_ns
        return 'timer' if self._timer.update(now_ns, is_over) else ''

    def _note_turn(self) -> None:
        """Note an apogee by dead reckoning, of which no height shows where and when."""
        if self.estimate is not None and not self.estimate.detected:
            self.estimate = self.estimate._replace(
                detected=True, detected_ns=self.estimate.stamp_ns, apogee_ns=None,
                apogee_altitude=math.nan, reason='reckoned',
            )

    def _withdraw(self) -> None:
        """Let the detector vote anew."""
        self._detector.withdraw()
        if self.estimate is not None:
            self.estimate = self.estimate._replace(detected=False, detected_ns=None, reason='')


def _is_fall(liftoff: Mark | None) -> bool:
    return liftoff is not None and liftoff.source == FALL
