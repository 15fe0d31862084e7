# SPDX-License-Identifier: Apache-2.0
"""Attitude, position and velocity from inertial sensor, barometer, magnetometer and fixes."""
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
from propulsion_ros.models.common.atmosphere import STANDARD_GRAVITY
from propulsion_ros.models.common.rotation import Vector
from propulsion_ros.settings.quantity import FloatArray
from propulsion_ros.timing.stamps import Arrival, StampJudge, StampLimits

_UNKNOWN_ATTITUDE = (math.nan,) * 4


def no_estimate(stamp_ns: int) -> EstimatorState:
    """Return what is known before the first message: nothing."""
    unknown = np.full((6, 6), math.nan)
    return EstimatorState(
        stamp_ns, UNKNOWN, UNKNOWN, UNKNOWN, _UNKNOWN_ATTITUDE, UNKNOWN,
        unknown, unknown, Mode.NO_SENSOR, frozenset({'attitude_unknown'}),
    )


def _covariances(covariance: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return those of pose and twist, symmetric to the last bit as receivers may insist."""
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


_LONGEST_GAP = 30.0  # a stamp farther ahead is another clock [s]
_STAMPS = StampLimits(
    behind_ns=1_000_000_000, ahead_ns=round(_LONGEST_GAP * 1e9),
    agreeing=2, agree_ns=1_000_000_000,
)
OLDEST = 0.2
"""A measurement older than this against the estimate is not fused [s]."""
_GUESS_STEP = 0.1  # [s]
_WILDEST = 1e8  # no barometer knows so little, a larger variance means nothing [Pa^2]
_TIDY_STEPS = 16
_DOUBT_NS = 2_000_000_000
_LEAP_NS = 500_000_000  # that a leap of the stamps is taken to last: known by as much
# Without inertial sensor: acceleration upward, and what of it is unknown, one sigma over half a
# second [m/s^2].
_GUESS_TIME = 0.5
_GUESSES = {
    Stage.PAD: (0.0, 5.0), Stage.BOOST: (0.0, 50.0), Stage.COAST: (-STANDARD_GRAVITY, 10.0),
    Stage.DESCENT: (0.0, 10.0), Stage.LANDED: (0.0, 1.0),
}
_UNKNOWN_TURNS = 0.5  # density of the angular rate without gyroscope [rad/s/sqrt(Hz)]

_UNKNOWN_PLACE, _UNKNOWN_SPEED = 1e4, 1e3  # sigma after a restart in the air [m], [m/s]


class Estimator:
    """Error-state Kalman filter with health of every sensor, and modes for what is left of them.

    Messages are given in the order of their stamps. The inertial sensor moves the filter; the
    others correct it, carried to its time by its velocity. Where the inertial sensor is lost the
    others move the filter by a guess of the acceleration that belongs to the stage. Nothing
    raises for what a sensor says: it is refused, counted, and named in the flags.

    Parameters
    ----------
    params : EstimatorParams
        Noise, gates and times.
    mounting : Mounting
        Of the inertial sensor and of the magnetometer.
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
        """Forget the flight; the counts go on."""
        for part in (self._clock, self._imu, self._pad, self._baro, self._magnetic, self._gnss):
            part.reset()
        self._filter.reset((0.0, 0.0, 0.0, 1.0), math.pi, math.pi)
        self._scatter.reset()
        self._now_ns: int | None = None
        self._offset_ns = 0
        self._rate: Vector | None = None
        self._force: Vector = (0.0, 0.0, 0.0)
        self._since_tidy = 0
        self._is_armed = False
        self.stage = Stage.PAD

    def set_stage(
        self, stage: Stage, *, is_armed: bool = False, may_repeat: bool = False
    ) -> None:
        """Set what the vehicle does from now on; back on the pad a new flight begins.

        Once it is armed its pad stays where it was: it may be carried off it. A pressure may repeat
        itself in flight where the barometer is coarse and something likely holds the vehicle.
        """
        self._is_armed, self._baro.may_repeat = is_armed, may_repeat
        if stage is Stage.PAD and self.stage is not Stage.PAD:
            self.reset()
        if stage is Stage.DESCENT and self.stage is not Stage.DESCENT:
            # A tumbling body tells nothing of the air: what the ascent told of it stays.
            self._filter.port = 0.0
            self._filter.forget(PORT, self._params.static_port_error**2)
            self._filter.forget(SCALE, 0.0)
        self.stage = stage

    @property
    def pad_altitude(self) -> float:
        """Altitude of the pad above the standard sea level [m], as the barometer has it."""
        return self._baro.pad_altitude

    def begin_in_air(self, stage: Stage, pad_altitude: float) -> None:
        """Begin anew in the air, above a known pad, where nothing else is known.

        Parameters
        ----------
        stage : Stage
            Of the flight.
        pad_altitude : float
            What `pad_altitude` was before [m].
        """
        self.reset()
        self.stage = stage
        self._baro.set_pad(pad_altitude)
        for axis in range(3):
            self._filter.inflate(POSITION + axis, _UNKNOWN_PLACE**2)
            self._filter.inflate(VELOCITY + axis, _UNKNOWN_SPEED**2)

    @property
    def counts(self) -> dict[str, dict[str, int]]:
        """Good and refused messages of each sensor, by reason; only what happened."""
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
        """Take an inertial sample.

        Parameters
        ----------
        stamp_ns : int
            [ns].
        angular_velocity, specific_force : sequence of float
            In the axes of the sensor [rad/s], [m/s^2]; at rest the force is 1 g upward.
        """
        clock_ns = self._clock_of(stamp_ns)
        if clock_ns is None:
            return
        values = (*map(float, angular_velocity), *map(float, specific_force))
        if len(values) != 6:
            self._imu.refuse(Status.INVALID)
            return
        if self._imu.arrive(clock_ns, values) is not Status.OK:
            return
        if self._now_ns is not None and clock_ns < self._now_ns:
            # The others have moved the filter on while this one was lost.
            self._imu.refuse(Status.LATE)
            return
        if self.stage.is_flying and self._imu.is_held(clock_ns):
            # On the ground values that repeat may be right.
            self._imu.refuse(Status.FROZEN)
            return
        self._imu.use(clock_ns)
        self._take(
            clock_ns, self._mounting.to_body(values[:3]), self._mounting.to_body(values[3:])
        )

    def _take(self, stamp_ns: int, rate: Vector, force: Vector) -> None:
        if self._now_ns is None:
            self._now_ns = stamp_ns
        elapsed_ns = stamp_ns - self._now_ns
        last = self._rate
        # Of the sum of the three axes, which is on a line where the thrust rises or falls.
        self._scatter.take(stamp_ns, (sum(force),), learns=False)
        if not self._pad.is_aligned or last is None or elapsed_ns > self._imu_gap_ns:
            self._guess_until(stamp_ns)
        elif elapsed_ns > 0:
            a, b, c = last
            p, q, r = rate
            d, e, f = self._force
            x, y, z = force
            self._filter.predict(
                elapsed_ns * 1e-9,
                (0.5 * (a + p), 0.5 * (b + q), 0.5 * (c + r)),
                (0.5 * (d + x), 0.5 * (e + y), 0.5 * (f + z)),
                force_variance=self._scatter.noise / 3.0,
                rests=self._pad.is_at_rest and not self.stage.is_flying,
                tumbles=self.stage is Stage.DESCENT,
            )
            self._tidy()
        self._now_ns = stamp_ns
        self._rate, self._force = rate, force
        if self.stage not in (Stage.BOOST, Stage.COAST):
            self._pad.update(
                stamp_ns, rate, force, self._magnetic.direction, self.stage
            )

    def pressure(self, stamp_ns: int, pascal: float, variance: float = 0.0) -> None:
        """Take a static pressure [Pa] and its variance [Pa^2], 0 where unknown."""
        clock_ns = self._clock_of(stamp_ns)
        if clock_ns is None:
            return
        if self._baro.check(clock_ns, pascal) is not Status.OK:
            return
        age = self._reach(clock_ns, self._baro.monitor)
        if age is None:
            return
        is_inertial = self._pad.is_aligned and self._imu.is_good(clock_ns)
        self._baro.fuse(
            clock_ns, age, pascal, variance if 0.0 <= variance < _WILDEST else 0.0, self.stage,
            is_inertial=is_inertial, is_armed=self._is_armed,
        )

    def magnetic_field(self, stamp_ns: int, tesla: Sequence[float]) -> None:
        """Take a magnetic field in the axes of the magnetometer [T]."""
        clock_ns = self._clock_of(stamp_ns)
        if clock_ns is None:
            return
        values = tuple(map(float, tesla))
        if len(values) != 3:
            self._magnetic.monitor.refuse(Status.INVALID)
            return
        if self._magnetic.check(clock_ns, values) is not Status.OK:
            return
        if self._reach(clock_ns, self._magnetic.monitor) is None:
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
        """Take a fix: latitude and longitude [deg], altitude above the ellipsoid [m] or NaN.

        The covariance is that of east, north, up, nine numbers row by row [m^2]; where it is
        missing or none the parameter's noise is assumed.
        """
        clock_ns = self._clock_of(stamp_ns)
        if clock_ns is None:
            return
        if self._gnss.check(clock_ns, latitude, longitude, altitude) is not Status.OK:
            return
        age = self._reach(clock_ns, self._gnss.monitor)
        if age is not None:
            fix = (float(latitude), float(longitude), float(altitude))
            has_height = self._baro.monitor.is_good(clock_ns)
            self._gnss.fuse(
                clock_ns, age, fix, position_covariance, has_height=has_height,
                may_move=self.stage is Stage.PAD and not self._is_armed,
            )

    def _clock_of(self, stamp_ns: int) -> int | None:
        """Return when a message was stamped, on a clock that never leaps; None where it strays.

        What is kept with its time, such as a lock that ends, is then right after a leap too.
        """
        arrival = self._clock.take(stamp_ns)
        if arrival.is_jump:
            self._leap_to(stamp_ns)
        return None if arrival is Arrival.STRAY else stamp_ns - self._offset_ns

    def _leap_to(self, stamp_ns: int) -> None:
        """Go on from another time: what is known stays, less certain by a time that is unknown."""
        now_ns = self._now_ns if self._now_ns is not None else stamp_ns - self._offset_ns
        self._guess_until(now_ns + _LEAP_NS)
        self._now_ns = now_ns + _LEAP_NS
        self._offset_ns = stamp_ns - self._now_ns
        self._rate = None

    def _reach(self, stamp_ns: int, monitor: SensorMonitor) -> float | None:
        """Move the filter where the inertial sensor does not; return the age of a message [s]."""
        if self._now_ns is None:
            self._now_ns = stamp_ns
        elif stamp_ns - self._now_ns > self._imu_gap_ns or (
            stamp_ns > self._now_ns and not self._is_driven(stamp_ns)
        ):
            self._guess_until(stamp_ns)
            self._now_ns = stamp_ns
        age = (stamp_ns - self._now_ns) * 1e-9
        if age < -OLDEST:
            monitor.refuse(Status.LATE)
            return None
        return age

    def _is_driven(self, stamp_ns: int) -> bool:
        return self._pad.is_aligned and self._imu.is_good(stamp_ns)

    def _guess_until(self, stamp_ns: int) -> None:
        if self._now_ns is None:
            return
        for dt in _steps((stamp_ns - self._now_ns) * 1e-9):
            self._guess(self._filter, dt)
            self._tidy()

    def _guess(self, state: ErrorStateFilter, dt: float) -> None:
        up, sigma = _GUESSES[self.stage]
        state.drift(dt, (0.0, 0.0, up), sigma**2 * _GUESS_TIME, _UNKNOWN_TURNS**2)

    def _tidy(self) -> None:
        self._since_tidy += 1
        if self._since_tidy < _TIDY_STEPS:
            return
        self._since_tidy = 0
        if not self._filter.tidy():
            # Out of range is out of knowledge: begin again in this place, without an attitude.
            self._filter.reset((0.0, 0.0, 0.0, 1.0), math.pi, math.pi)
            self._filter.inflate(POSITION + 2, 1e8)
            self._filter.inflate(VELOCITY + 2, 1e6)
            self._pad.reset()

    def state(self, stamp_ns: int) -> EstimatorState:
        """Return the estimate for a stamp; asking changes nothing.

        A stamp up to 0.15 s from the estimate's is reached by its velocity, a later one by the
        guess that belongs to the stage.
        """
        now_ns, clock_ns = self._now_ns, stamp_ns - self._offset_ns
        if now_ns is None:
            return no_estimate(stamp_ns)
        if clock_ns - now_ns > self._imu_gap_ns:
            ahead = self._filter.clone()
            for dt in _steps(min((clock_ns - now_ns) * 1e-9, _LONGEST_GAP)):
                self._guess(ahead, dt)
            return self._state(ahead, clock_ns, 0.0)
        age = max((clock_ns - now_ns) * 1e-9, -OLDEST)
        return self._state(self._filter, clock_ns, age)

    def _state(self, state: ErrorStateFilter, clock_ns: int, age: float) -> EstimatorState:
        """Return the estimate of a filter, carried on for an age by its velocity."""
        east, north, up = state.velocity
        x, y, z = state.position
        # Where no inertial sensor works, neither rate nor acceleration is known.
        rate = self._rate if self._is_driven(clock_ns) else None
        p, q, r = UNKNOWN if rate is None else rate
        a, b, c = state.gyro_bias
        pose, twist = _covariances(state.covariance)
        return EstimatorState(
            clock_ns + self._offset_ns,
            position=(x + age * east, y + age * north, z + age * up),
            velocity=(east, north, up),
            acceleration=UNKNOWN if rate is None else state.acceleration,
            attitude=state.attitude if self._pad.is_aligned else _UNKNOWN_ATTITUDE,
            angular_velocity=(p - a, q - b, r - c),
            pose_covariance=pose,
            twist_covariance=twist,
            mode=self._mode(clock_ns),
            flags=self._flags(clock_ns),
        )

    def _mode(self, now_ns: int) -> Mode:
        has_baro = self._baro.monitor.is_good(now_ns)
        has_gnss = self._gnss.monitor.is_good(now_ns)
        if not self._is_driven(now_ns):
            if self._imu.is_good(now_ns) and self.stage is Stage.PAD:
                return Mode.ALIGNING
            if has_baro:
                return Mode.BARO_ONLY
            return Mode.GNSS_ONLY if has_gnss else Mode.NO_SENSOR
        if has_baro:
            return Mode.FULL
        return Mode.GNSS_INERTIAL if has_gnss else Mode.INERTIAL_ONLY

    def _flags(self, now_ns: int) -> frozenset[str]:
        found = set()
        for name, monitor in self._monitors.items():
            status = monitor.status(now_ns)
            # The magnetometer and the receiver are optional: unheard they are no fault.
            optional = name in ('magnetic_field', 'fix')
            if status is not Status.OK and not (optional and status is Status.ABSENT):
                found.add(f'{name}_{status.value}')
        if not self._pad.is_aligned:
            found.add('attitude_unknown')
        doubt, step = self._baro.imu_doubt_ns, self._baro.step_ns
        if doubt is not None and 0 <= now_ns - doubt < _DOUBT_NS:
            found.add('imu_innovation')
        if step is not None and 0 <= now_ns - step < _DOUBT_NS:
            found.add('pressure_stepped')
        return frozenset(found)


def _steps(duration: float) -> list[float]:
    """Return equal steps, none longer than `_GUESS_STEP`, that fill a duration [s]."""
    count = math.ceil(duration / _GUESS_STEP - 1e-9)
    return [duration / count] * count if count > 0 else []
