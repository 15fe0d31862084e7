# SPDX-License-Identifier: Apache-2.0
"""Attitude, position and velocity from an inertial sensor, barometer, magnetometer and fixes."""
from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from propulsion_ros.flight.belief.feed import BENDS, MOVES, Feed
from propulsion_ros.flight.estimation.baro_aid import BaroAid
from propulsion_ros.flight.estimation.error_state import (
    ATTITUDE,
    FORCE_BIAS,
    GYRO_BIAS,
    PORT,
    POSITION,
    SCALE,
    VELOCITY,
    ErrorStateFilter,
)
from propulsion_ros.flight.estimation.gnss_aid import GnssAid
from propulsion_ros.flight.estimation.mounting import Mounting
from propulsion_ros.flight.estimation.pad_aid import MagneticAid, PadAid
from propulsion_ros.flight.estimation.params import EstimatorParams
from propulsion_ros.flight.estimation.sensor_health import SensorMonitor, Status
from propulsion_ros.flight.estimation.state import UNKNOWN, EstimatorState, Mode, Stage
from propulsion_ros.flight.events.variables import UNKNOWN_ROTATION
from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY
from propulsion_ros.models.common.rotation import Vector
from propulsion_ros.settings.quantity import FloatArray
from propulsion_ros.timing.stamps import REANCHOR_NS, Arrival, StampJudge, StampLimits


def no_estimate(stamp_ns: int) -> EstimatorState:
    """Return the estimate before the first message, in which everything is unknown."""
    unknown = np.full((6, 6), math.nan)
    return EstimatorState(
        stamp_ns, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN_ROTATION, UNKNOWN,
        unknown, unknown, Mode.NO_SENSOR, frozenset({'attitude_unknown'}),
    )


def _pose_and_twist_covariance(covariance: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the covariances of pose and twist, exactly symmetric as readers may require."""
    place, velocity = slice(POSITION, VELOCITY), slice(VELOCITY, ATTITUDE)
    attitude, turning = slice(ATTITUDE, GYRO_BIAS), slice(GYRO_BIAS, FORCE_BIAS)
    pose, twist = np.empty((6, 6)), np.zeros((6, 6))
    pose[:3, :3] = covariance[place, place]
    pose[:3, 3:] = covariance[place, attitude]
    pose[3:, :3] = covariance[attitude, place]
    pose[3:, 3:] = covariance[attitude, attitude]
    twist[:3, :3] = covariance[velocity, velocity]
    twist[3:, 3:] = covariance[turning, turning]
    return 0.5 * (pose + pose.T), 0.5 * (twist + twist.T)


_LONGEST_GAP = 30.0  # a stamp further ahead is that of another clock [s]
_STAMPS = StampLimits(
    behind_ns=1_000_000_000, ahead_ns=round(_LONGEST_GAP * 1e9),
    agreeing=2, agree_ns=1_000_000_000,
)
OLDEST = 0.2
"""A measurement that is older than the estimate by more than this is not fused [s]."""
_ASSUMED_STEP = 0.1  # longest step of a prediction without inertial sensor [s]
_WILDEST = 1e8  # a larger variance of a pressure is taken for unknown [Pa^2]
_TIDY_STEPS = 16  # predictions after which the covariance is made symmetric and checked
_FLAG_NS = 2_000_000_000  # a flag of the barometer lasts so long after its cause [ns]
_ASSUMED_TIME = 0.5  # correlation time of the error of the acceleration in `_ASSUMED` [s]
# Upward acceleration without inertial sensor by stage, and its error, one sigma [m/s^2].
_ASSUMED = {
    Stage.PAD: (0.0, 5.0), Stage.BOOST: (0.0, 50.0), Stage.COAST: (-STANDARD_GRAVITY, 10.0),
    Stage.DESCENT: (0.0, 10.0), Stage.LANDED: (0.0, 1.0),
}
_UNKNOWN_TURNS = 0.5  # noise density of the attitude without gyroscope [rad/s/sqrt(Hz)]
_UNKNOWN_PLACE = 1e4  # sigma of an unknown position [m]
_UNKNOWN_SPEED = 1e3  # sigma of an unknown velocity [m/s]


class Estimator:
    """Estimates the motion by an error-state Kalman filter, and checks each sensor.

    The inertial sensor advances the filter to its stamp. The others correct the filter; the
    velocity carries the estimate to their stamps. Without inertial sensor the others advance the
    filter, with an acceleration that is assumed for the stage. A wrong message raises no error: it
    is refused and counted, and the flags name the fault.

    Parameters
    ----------
    params : EstimatorParams
        Noise, gates and times.
    mounting : Mounting
        Mounting of the inertial sensor and the magnetometer.
    """

    def __init__(self, params: EstimatorParams, mounting: Mounting) -> None:
        self._params = params
        self._mounting = mounting
        self._filter = ErrorStateFilter(params)
        self._clock = StampJudge(_STAMPS)
        self._imu = SensorMonitor(
            params.imu_timeout,
            (params.gyro_range,) * 3 + (params.accelerometer_range,) * 3,
            (params.gyro_step,) * 3 + (params.accelerometer_step,) * 3,
            params.frozen_time,
        )
        self._pad = PadAid(params, self._filter)
        self._baro = BaroAid(params, self._filter)
        self._magnetic = MagneticAid(params, self._filter)
        self._gnss = GnssAid(params, self._filter)
        self._imu_gap_ns = round(params.imu_timeout * 1e9)
        self._scatter = Feed(0, MOVES[1], BENDS[1])
        self.reset()

    def reset(self) -> None:
        """Forget the flight, but not the counts of messages."""
        for part in (self._clock, self._imu, self._pad, self._baro, self._magnetic, self._gnss):
            part.reset()
        self._filter.reset((0.0, 0.0, 0.0, 1.0), math.pi, math.pi)
        self._scatter.reset()
        self._now_ns: int | None = None
        self._offset_ns = 0  # sum of the jumps of the stamps [ns]
        self._rate: Vector | None = None  # last angular rate in body axes [rad/s]
        self._force: Vector = (0.0, 0.0, 0.0)  # last specific force in body axes [m/s^2]
        self._since_tidy = 0  # predictions since the last check of the covariance
        self._is_armed = False
        self.stage = Stage.PAD

    def set_stage(self, stage: Stage, *, is_armed: bool = False, may_repeat: bool = False) -> None:
        """Set the stage from now on; a return to PAD begins a new flight.

        While it ``is_armed`` the pad stays where it was, as the vehicle may be carried away. A
        pressure ``may_repeat`` itself in flight if the barometer is coarse and something likely
        holds the vehicle.
        """
        self._is_armed, self._baro.may_repeat = is_armed, may_repeat
        if stage is Stage.PAD and self.stage is not Stage.PAD:
            self.reset()
        if stage is Stage.DESCENT and self.stage is not Stage.DESCENT:
            # A tumbling body does not show the errors of the ports; the scale stays as estimated.
            self._filter.port = 0.0
            self._filter.forget(PORT, self._params.static_port_error**2)
            self._filter.forget(SCALE, 0.0)
        self.stage = stage

    @property
    def pad_altitude(self) -> float:
        """Pressure altitude of the pad above the standard sea level, by the barometer [m]."""
        return self._baro.pad_altitude

    def begin_in_air(self, stage: Stage, pad_altitude: float) -> None:
        """Begin anew in the air, where only the altitude of the pad is known.

        Parameters
        ----------
        stage : Stage
            Stage of the flight.
        pad_altitude : float
            The former `pad_altitude` [m].
        """
        self.reset()
        self.stage = stage
        self._baro.set_pad(pad_altitude)
        self._forget_motion()

    def _forget_motion(self) -> None:
        """Begin with an unknown position and velocity."""
        for axis in range(3):
            self._filter.inflate(POSITION + axis, _UNKNOWN_PLACE**2)
            self._filter.inflate(VELOCITY + axis, _UNKNOWN_SPEED**2)

    @property
    def counts(self) -> dict[str, dict[str, int]]:
        """Numbers of good and refused messages of each sensor, by reason, without zeros."""
        return {
            name: {status.value: n for status, n in monitor.counts.items() if n}
            for name, monitor in self._monitors.items()
        }

    @property
    def _monitors(self) -> dict[str, SensorMonitor]:
        return {
            'imu': self._imu, 'pressure': self._baro.monitor,
            'magnetic_field': self._magnetic.monitor, 'fix': self._gnss.monitor,
        }

    def imu(
        self, stamp_ns: int, angular_velocity: Sequence[float], specific_force: Sequence[float]
    ) -> None:
        """Take a sample of the inertial sensor.

        Parameters
        ----------
        stamp_ns : int
            Stamp of the sample [ns].
        angular_velocity, specific_force : sequence of float
            In axes of the sensor [rad/s], [m/s^2]; at rest the force is 1 g upward.
        """
        clock_ns = self._time_of(stamp_ns)
        if clock_ns is None:
            return
        values = (*map(float, angular_velocity), *map(float, specific_force))
        if len(values) != 6:
            self._imu.refuse(Status.INVALID)
            return
        if self._imu.arrive(clock_ns, values) is not Status.OK:
            return
        if self._now_ns is not None and clock_ns < self._now_ns:
            # The other sensors have advanced the filter while this one was lost.
            self._imu.refuse(Status.LATE)
            return
        if self.stage.is_flying and self._imu.is_held(clock_ns):
            # On the ground the true values may repeat.
            self._imu.refuse(Status.FROZEN)
            return
        self._imu.use(clock_ns)
        self._take(clock_ns, self._mounting.to_body(values[:3]), self._mounting.to_body(values[3:]))

    def _take(self, stamp_ns: int, rate: Vector, force: Vector) -> None:
        """Advance the filter by a rate and a force in body axes, and pass them to `PadAid`."""
        if self._now_ns is None:
            self._now_ns = stamp_ns
        elapsed_ns = stamp_ns - self._now_ns
        last = self._rate
        # The noise of the sum of the axes, which stays on a line while a thrust rises or falls.
        self._scatter.take(stamp_ns, (sum(force),), learns=False)
        if not self._pad.is_aligned or last is None or elapsed_ns > self._imu_gap_ns:
            self._advance_until(stamp_ns)
        elif elapsed_ns > 0:
            a, b, c = last
            p, q, r = rate
            d, e, f = self._force
            x, y, z = force
            # Under thrust even a doubted sensor knows more than a barometer.
            is_doubted = self.stage is Stage.COAST and self._baro.is_force_doubted(stamp_ns)
            self._filter.predict(
                elapsed_ns * 1e-9,
                (0.5 * (a + p), 0.5 * (b + q), 0.5 * (c + r)),
                (0.5 * (d + x), 0.5 * (e + y), 0.5 * (f + z)),
                force_variance=self._scatter.noise / 3.0,
                rests=self._pad.is_at_rest and not self.stage.is_flying,
                tumbles=self.stage is Stage.DESCENT or is_doubted,
            )
            self._tidy()
        self._now_ns = stamp_ns
        self._rate, self._force = rate, force
        if self.stage not in (Stage.BOOST, Stage.COAST):
            self._pad.update(stamp_ns, rate, force, self._magnetic.direction, self.stage)

    def pressure(self, stamp_ns: int, pascal: float, variance: float = 0.0) -> None:
        """Take a static pressure [Pa] and its variance [Pa^2], 0 if unknown."""
        clock_ns = self._time_of(stamp_ns)
        if clock_ns is None:
            return
        if self._baro.check(clock_ns, pascal) is not Status.OK:
            return
        age = self._age_of(clock_ns, self._baro.monitor)
        if age is None:
            return
        self._baro.fuse(
            clock_ns, age, pascal, variance if 0.0 <= variance < _WILDEST else 0.0, self.stage,
            is_inertial=self._has_inertial(clock_ns), is_armed=self._is_armed,
        )

    def magnetic_field(self, stamp_ns: int, tesla: Sequence[float]) -> None:
        """Take a magnetic field in axes of the magnetometer [T]."""
        clock_ns = self._time_of(stamp_ns)
        if clock_ns is None:
            return
        values = tuple(map(float, tesla))
        if len(values) != 3:
            self._magnetic.monitor.refuse(Status.INVALID)
            return
        if self._magnetic.check(clock_ns, values) is not Status.OK:
            return
        if self._age_of(clock_ns, self._magnetic.monitor) is None:
            return
        field = self._mounting.to_body(values)
        if self.stage is Stage.PAD:
            if self._pad.is_at_rest or not self._pad.is_aligned:
                self._magnetic.learn(clock_ns, field, is_aligned=self._pad.is_aligned)
        elif self._pad.is_aligned:
            self._magnetic.fuse(clock_ns, field)

    def fix(
        self, stamp_ns: int, latitude: float, longitude: float, altitude: float,
        position_covariance: Sequence[float] = (),
    ) -> None:
        """Take a fix: latitude and longitude [deg], altitude above the ellipsoid [m], else NaN.

        The covariance has nine numbers for east, north, up, row by row [m^2]; if it is no
        covariance, the noise of the parameters is assumed.
        """
        clock_ns = self._time_of(stamp_ns)
        if clock_ns is None:
            return
        if self._gnss.check(clock_ns, latitude, longitude, altitude) is not Status.OK:
            return
        age = self._age_of(clock_ns, self._gnss.monitor)
        if age is not None:
            fix = (float(latitude), float(longitude), float(altitude))
            has_height = self._baro.monitor.is_good(clock_ns)
            self._gnss.fuse(
                clock_ns, age, fix, position_covariance, has_height=has_height,
                may_move=self.stage is Stage.PAD and not self._is_armed,
            )

    def _time_of(self, stamp_ns: int) -> int | None:
        """Return the time of a stamp, without jumps [ns]; None if the stamp is refused.

        So a time that is kept, such as the end of a lock, is right after a jump of the stamps too.
        """
        arrival = self._clock.take(stamp_ns)
        if arrival.is_jump:
            self._follow_jump(stamp_ns)
        return None if arrival is Arrival.STRAY else stamp_ns - self._offset_ns

    def _follow_jump(self, stamp_ns: int) -> None:
        """Continue after a jump of the stamps, as if they had stood still for `REANCHOR_NS`."""
        now_ns = self._now_ns if self._now_ns is not None else stamp_ns - self._offset_ns
        self._advance_until(now_ns + REANCHOR_NS)
        self._now_ns = now_ns + REANCHOR_NS
        self._offset_ns = stamp_ns - self._now_ns
        self._rate = None

    def _age_of(self, stamp_ns: int, monitor: SensorMonitor) -> float | None:
        """Advance a filter without inertial sensor to a message; return its age [s], or None."""
        if self._now_ns is None:
            self._now_ns = stamp_ns
        elif stamp_ns > self._now_ns and not self._has_inertial(stamp_ns):
            self._advance_until(stamp_ns)
            self._now_ns = stamp_ns
        age = (stamp_ns - self._now_ns) * 1e-9
        if age < -OLDEST:
            monitor.refuse(Status.LATE)
            return None
        return age

    def _has_inertial(self, stamp_ns: int) -> bool:
        """Return whether the inertial sensor advances the filter."""
        return self._pad.is_aligned and self._imu.is_good(stamp_ns)

    def _advance_until(self, stamp_ns: int) -> None:
        """Advance the filter to a time without inertial sensor."""
        if self._now_ns is None:
            return
        for dt in _equal_steps((stamp_ns - self._now_ns) * 1e-9):
            self._advance(self._filter, dt)
            self._tidy()

    def _advance(self, state: ErrorStateFilter, dt: float) -> None:
        """Advance a filter over a step [s], with the acceleration assumed for the stage."""
        up, sigma = _ASSUMED[self.stage]
        state.drift(dt, (0.0, 0.0, up), sigma**2 * _ASSUMED_TIME, _UNKNOWN_TURNS**2)

    def _tidy(self) -> None:
        """Check the covariance now and then, and begin anew if it has become too large."""
        self._since_tidy += 1
        if self._since_tidy < _TIDY_STEPS:
            return
        self._since_tidy = 0
        if not self._filter.tidy():
            self._filter.reset((0.0, 0.0, 0.0, 1.0), math.pi, math.pi)
            self._forget_motion()
            self._pad.reset()

    def state(self, stamp_ns: int) -> EstimatorState:
        """Return the estimate at a stamp, and change nothing.

        The velocity carries the estimate up to ``imu_timeout`` ahead or 0.2 s back; further ahead
        the acceleration is assumed for the stage.
        """
        now_ns, clock_ns = self._now_ns, stamp_ns - self._offset_ns
        if now_ns is None:
            return no_estimate(stamp_ns)
        if clock_ns - now_ns > self._imu_gap_ns:
            ahead = self._filter.clone()
            for dt in _equal_steps(min((clock_ns - now_ns) * 1e-9, _LONGEST_GAP)):
                self._advance(ahead, dt)
            return self._state_of(ahead, clock_ns, 0.0)
        age = max((clock_ns - now_ns) * 1e-9, -OLDEST)
        return self._state_of(self._filter, clock_ns, age)

    def _state_of(self, state: ErrorStateFilter, clock_ns: int, age: float) -> EstimatorState:
        """Return the estimate of a filter, carried by its velocity over an age [s]."""
        east, north, up = state.velocity
        x, y, z = state.position
        # Without a working inertial sensor neither the rate nor the acceleration is known.
        rate = self._rate if self._has_inertial(clock_ns) else None
        p, q, r = UNKNOWN if rate is None else rate
        a, b, c = state.gyro_bias
        pose, twist = _pose_and_twist_covariance(state.covariance)
        return EstimatorState(
            clock_ns + self._offset_ns,
            position=(x + age * east, y + age * north, z + age * up),
            velocity=(east, north, up),
            acceleration=UNKNOWN if rate is None else state.acceleration,
            attitude=state.attitude if self._pad.is_aligned else UNKNOWN_ROTATION,
            angular_velocity=(p - a, q - b, r - c),
            pose_covariance=pose,
            twist_covariance=twist,
            mode=self._mode_at(clock_ns),
            flags=self._flags_at(clock_ns),
        )

    def _mode_at(self, now_ns: int) -> Mode:
        has_baro = self._baro.monitor.is_good(now_ns)
        has_gnss = self._gnss.monitor.is_good(now_ns)
        if not self._has_inertial(now_ns):
            if self._imu.is_good(now_ns) and self.stage is Stage.PAD:
                return Mode.ALIGNING
            if has_baro:
                return Mode.BARO_ONLY
            return Mode.GNSS_ONLY if has_gnss else Mode.NO_SENSOR
        if has_baro:
            return Mode.FULL
        return Mode.GNSS_INERTIAL if has_gnss else Mode.INERTIAL_ONLY

    def _flags_at(self, now_ns: int) -> frozenset[str]:
        found = set()
        for name, monitor in self._monitors.items():
            status = monitor.status(now_ns)
            # Magnetometer and receiver are optional: it is no fault if they never send.
            optional = name in ('magnetic_field', 'fix')
            if status is not Status.OK and not (optional and status is Status.ABSENT):
                found.add(f'{name}_{status.value}')
        if not self._pad.is_aligned:
            found.add('attitude_unknown')
        doubt, step = self._baro.imu_doubt_ns, self._baro.step_ns
        if doubt is not None and 0 <= now_ns - doubt < _FLAG_NS:
            found.add('imu_innovation')
        if step is not None and 0 <= now_ns - step < _FLAG_NS:
            found.add('pressure_stepped')
        return frozenset(found)


def _equal_steps(duration: float) -> list[float]:
    """Return equal steps, none longer than `_ASSUMED_STEP`, that fill a duration [s]."""
    count = math.ceil(duration / _ASSUMED_STEP - 1e-9)
    return [duration / count] * count if count > 0 else []
