# SPDX-License-Identifier: Apache-2.0
"""The apogee detector within a flight: when its word ends the ascent, and the timer behind it."""
from __future__ import annotations

import math

from propulsion_ros.flight.apogee.detector_protocol import Detector
from propulsion_ros.flight.apogee.estimate import ApogeeEstimate
from propulsion_ros.flight.events.variables import NAN, Sample, sane
from propulsion_ros.flight.phases.mark import Mark, Vertex
from propulsion_ros.flight.phases.params import FlightParams
from propulsion_ros.timing.dwell import Dwell

# The backup timer must agree with itself over several samples: one wild stamp is no apogee.
_TIMER_DWELL = 0.05
# Health of the detector under which its fit says nothing of the motion now.
_UNFIT = ('filling', 'no altitude', 'gap', 'frozen', 'standstill', 'outliers', 'shock')


class AscentWatch:
    """Says when an ascent ends, by the detector or by the backup timer.

    Parameters
    ----------
    params : FlightParams
        Of which ``min_ascent_time`` and ``max_ascent_time`` count.
    detector : Detector
        Owned by this object from now on.

    Attributes
    ----------
    estimate : ApogeeEstimate or None
        The detector's last word.
    """

    def __init__(self, params: FlightParams, detector: Detector) -> None:
        self._least_ns = params.min_ascent_time * 1e9
        self._limit_ns = round(params.max_ascent_time * 1e9)
        self._detector = detector
        self._timer = Dwell(_TIMER_DWELL)
        self.reset()

    def reset(self) -> None:
        """Forget the flight and what the detector saw."""
        self._detector.reset()
        self.estimate: ApogeeEstimate | None = None
        self.restart_timer()

    def restart_timer(self) -> None:
        """Forget how long the timer has agreed with itself."""
        self._timer.reset()

    def begin(self, liftoff: Mark | None) -> None:
        """Begin an ascent: what was detected on the pad is no apogee of this flight."""
        if self.estimate is not None and self.estimate.detected and not _is_fall(liftoff):
            self._detector.reset()
            self._withdraw()

    def see(
        self, sample: Sample, mach: float, *, is_silence: bool = False, may_light: bool = False
    ) -> Sample:
        """Run the detector on a sample, and return it with the fitted speed if none was known.

        Parameters
        ----------
        sample : Sample
            Now.
        mach : float
            Mach number of the inertial speed.
        is_silence : bool
            Whether the stamp is none of a sensor: later samples may be older.
        may_light : bool
            Whether a stage may still light.
        """
        self._detector.expect_burn(may_light)
        altitude, velocity, acceleration = map(
            sane, (sample.altitude, sample.velocity, sample.acceleration)
        )
        if is_silence:
            estimate = self._detector.wait(sample.stamp_ns)
        else:
            estimate = self._detector.update(
                sample.stamp_ns, altitude, velocity, acceleration, mach
            )
        self.estimate = estimate
        if math.isnan(velocity):
            velocity = self.fitted_velocity
        return sample._replace(altitude=altitude, velocity=velocity, acceleration=acceleration)

    @property
    def fitted_velocity(self) -> float:
        """Slope of the altitude [m/s], NaN where the fit says nothing of the motion now."""
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

    def end(self, now_ns: int, liftoff: Mark | None, *, has_ascended: bool) -> str:
        """Return what ends the ascent now: 'apogee', 'timer', or ''.

        Parameters
        ----------
        now_ns : int
            On the flight clock [ns].
        liftoff : Mark or None
            Of this flight. After one in the fall any apogee is believed at once.
        has_ascended : bool
            Whether an ascent was seen, without which there is no backup timer.
        """
        ascent_ns = 0 if liftoff is None else now_ns - liftoff.clock_ns
        if self.estimate is not None and self.estimate.detected:
            if _is_fall(liftoff) or ascent_ns >= self._least_ns:
                return 'apogee'
            self._withdraw()
        is_over = has_ascended and 0 < self._limit_ns <= ascent_ns
        return 'timer' if self._timer.update(now_ns, is_over) else ''

    def _withdraw(self) -> None:
        """Let the detector vote anew."""
        self._detector.withdraw()
        if self.estimate is not None:
            self.estimate = self.estimate._replace(detected=False, detected_ns=None, reason='')


def _is_fall(liftoff: Mark | None) -> bool:
    return liftoff is not None and liftoff.source == 'fall'
