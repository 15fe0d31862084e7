# SPDX-License-Identifier: Apache-2.0
"""Raw sensors into estimates of the motion, in the order of their stamps."""
from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from propulsion_ros.flight.belief.feed import Readings, Vector
from propulsion_ros.flight.estimation.estimator import OLDEST, Estimator
from propulsion_ros.flight.estimation.state import UNKNOWN, EstimatorState, Stage
from propulsion_ros.flight.events.variables import sane
from propulsion_ros.flight.legacy.estimator import LegacyFeed
from propulsion_ros.loops.payloads import Kind, OdometryRow
from propulsion_ros.loops.ports import OK, WARN, Health, Host, Outlet, Port
from propulsion_ros.models.common.atmosphere import altitude_of_pressure
from propulsion_ros.models.common.rotation import matrix_of
from propulsion_ros.settings.quantity import FloatArray, quantity, validate
from propulsion_ros.timing.stamped_inputs import Ordering, StampedInputs
from propulsion_ros.timing.stamps import REANCHOR_NS, Arrival, StampJudge, StampLimits

MAGNETIC_FIELD, FIX, PRESSURE, IMU = 'magnetic_field', 'fix', 'pressure', 'imu'
_NO_FIX = -1
_RISE_NS = (400_000_000, 2_000_000_000)
"""Between altitudes of fixes whose difference is a speed: at least, at most."""
_STAMPS = StampLimits(
    behind_ns=1_000_000_000, ahead_ns=1_000_000_000, agreeing=None, drifts=True,
    lag_ns=round(OLDEST * 1e9),
)
"""Of sensors beside the inertial one: none may move the time of all."""


@dataclass(frozen=True, kw_only=True, eq=False)
class EstimationParams:
    """When estimates are made of raw sensors."""

    rate: float = quantity(
        100.0, 'Hz', doc='estimates per second, on stamps of the sensors', lo=1.0, hi=1000.0
    )
    max_lag: float = quantity(
        0.1, 's', lo=0.0, hi=10.0,
        doc='how long a sensor that is slow or silent is waited for, in stamp time',
    )
    base_link: str = quantity('base_link', doc='frame of the odometry that is published', kind=str)

    def __post_init__(self) -> None:
        validate(self)


_Values = tuple[Any, ...]
TimeOf = Callable[[str, Any, Callable[[Any], Any]], 'int | None']


def _read_imu(message: Any) -> _Values:
    rate, force = message.angular_velocity, message.linear_acceleration
    return (rate.x, rate.y, rate.z), (force.x, force.y, force.z)


def _read_pressure(message: Any) -> _Values:
    return message.fluid_pressure, message.variance


def _read_magnetic_field(message: Any) -> _Values:
    field = message.magnetic_field
    return ((field.x, field.y, field.z),)


def _read_fix(message: Any) -> _Values:
    """Return latitude, longitude, altitude and covariance; nothing without a fix."""
    if message.status.status <= _NO_FIX:
        return ()
    covariance = [float(value) for value in message.position_covariance]
    return message.latitude, message.longitude, message.altitude, covariance


_SENSORS: Mapping[str, tuple[str, Callable[[Any], _Values]]] = {
    IMU: (Kind.IMU, _read_imu),
    PRESSURE: (Kind.PRESSURE, _read_pressure),
    MAGNETIC_FIELD: ('sensor_msgs/msg/MagneticField', _read_magnetic_field),
    FIX: ('sensor_msgs/msg/NavSatFix', _read_fix),
}
"""Message type and decoder of each sensor."""


class FlightEstimation:
    """Runs an estimator on raw sensors, and publishes what it finds.

    An input is used when the inertial sensor has passed its stamp, or after ``max_lag``.

    Parameters
    ----------
    emit : callable
        Receives each `EstimatorState`.
    time_of : callable
        ``time_of(source, message, read)`` returns the stamp that a message counts by [ns], None
        where it is not taken.
    reanchors : bool
        Whether a sensor that is steadily ahead or behind is moved to the time of the others.

    Attributes
    ----------
    pressure : float
        Last one [Pa], NaN before.
    """

    def __init__(
        self,
        host: Host,
        estimator: Estimator | LegacyFeed,
        params: EstimationParams,
        world_frame: str,
        lossless: bool,
        emit: Callable[[EstimatorState], None],
        time_of: TimeOf,
        reanchors: bool,
    ) -> None:
        self._host, self._estimator, self._emit = host, estimator, emit
        self._time_of = time_of
        self._period_ns = round(1e9 / params.rate)
        self._inputs = StampedInputs(
            Ordering(wait_for=(IMU,), max_lag_ns=round(params.max_lag * 1e9)),
            # The inertial sensor comes last, so that an estimate knows all of its own stamp.
            (MAGNETIC_FIELD, FIX, PRESSURE, IMU), self._apply,
            on_jump=self._on_jump, passed=self._estimate,
        )
        self._feeds: dict[str, Callable[..., None]] = {
            IMU: estimator.imu, PRESSURE: estimator.pressure,
            MAGNETIC_FIELD: estimator.magnetic_field, FIX: estimator.fix,
        }
        self.ports = tuple(
            Port(f'~/{source}', kind, self._taker(source, read), 'sensor', lossless=lossless)
            for source, (kind, read) in _SENSORS.items()
        )
        self.outlet = Outlet('~/odometry', Kind.ODOMETRY, 'state', world_frame)
        self._base_link = params.base_link
        limits = replace(_STAMPS, reanchor_ns=REANCHOR_NS) if reanchors else _STAMPS
        self._judges = {source: StampJudge(limits) for source in _SENSORS if source != IMU}
        self.reset()

    def reset(self) -> None:
        """Forget the flight and the time."""
        self._inputs.restart()
        self._estimator.reset()
        self._forget_time()

    def _forget_time(self) -> None:
        for judge in self._judges.values():
            judge.reset()
        self._raw: dict[str, list[_Values]] = {IMU: [], PRESSURE: []}
        self.pressure = math.nan
        self._rise = _Rise()
        self._imu_ns: int | None = None
        self._estimated_ns: int | None = None

    @property
    def awaited(self) -> tuple[Port, ...]:
        """Ports without which there is no estimate."""
        return tuple(port for port in self.ports if port.topic in (f'~/{IMU}', f'~/{PRESSURE}'))

    @property
    def pad_altitude(self) -> float:
        """Altitude of the pad that estimates are above [m]; NaN where it is not known."""
        return self._estimator.pad_altitude if isinstance(self._estimator, Estimator) else math.nan

    def begin_in_air(self, stage: Stage, pad_altitude: float) -> None:
        """Begin anew above a pad that a record has."""
        if isinstance(self._estimator, Estimator) and math.isfinite(pad_altitude):
            self._estimator.begin_in_air(stage, pad_altitude)

    def set_stage(self, stage: Stage, *, is_armed: bool, may_repeat: bool) -> None:
        """Set what the vehicle does, whether it is armed, and whether its height may repeat."""
        self._estimator.set_stage(stage, is_armed=is_armed, may_repeat=may_repeat)

    @property
    def counts(self) -> dict[str, int]:
        """What was not taken as it came, by sensor and reason."""
        found = {key: count for key, count in self._inputs.counts.items() if count}
        if isinstance(self._estimator, Estimator):
            for sensor, reasons in self._estimator.counts.items():
                found.update({
                    f'{sensor} {reason}': count for reason, count in reasons.items()
                    if reason != 'ok'
                })
        return found

    # Inputs.

    def _taker(self, source: str, read: Callable[[Any], _Values]) -> Callable[[Any], None]:
        def take(message: Any) -> None:
            stamp_ns = self._time_of(source, message, read)
            if stamp_ns is not None and self._is_of_this_time(source, stamp_ns):
                offset_ns = 0 if source == IMU else self._judges[source].offset_ns
                self._inputs.push(source, stamp_ns - offset_ns, read(message))
        return take

    def _is_of_this_time(self, source: str, stamp_ns: int) -> bool:
        """Return whether a stamp goes on from its sensor's last one, or fits the inertial one's.

        So no other sensor can move the time of all, and one with a clock of its own is left out.
        """
        if source == IMU:
            self._imu_ns = stamp_ns
            return True
        judge, leader_ns = self._judges[source], self._imu_ns
        if leader_ns is None:
            # Before the first inertial measurement, what the others have reached is the measure.
            others = [other.newest_ns for other in self._judges.values() if other is not judge]
            leader_ns = max((ns for ns in others if ns is not None), default=None)
        if leader_ns is None:
            # A sensor that is alone moves nobody's time but its own.
            judge.begin(stamp_ns)
            return True
        newest_ns = leader_ns if judge.newest_ns is None else max(leader_ns, judge.newest_ns)
        arrival = judge.follow(stamp_ns, leader_ns)
        if arrival is Arrival.REANCHORED:
            self._host.complain('reanchored', (
                f'{source} is steadily {judge.offset_ns * 1e-9:+.3f} s from the inertial sensor, '
                'and is taken to be of the same time'
            ))
        if arrival is not Arrival.STRAY:
            return True
        self._host.complain(
            'other_time', f'{source} not taken: stamped {stamp_ns * 1e-9:.3f} s, '
            f'but the time is {newest_ns * 1e-9:.3f} s',
        )
        return False

    def _on_jump(self, from_ns: int, to_ns: int) -> None:
        self._forget_time()
        seconds = (to_ns - from_ns) * 1e-9
        self._host.complain('jumps', f'time of the sensors jumped by {seconds:.3f} s')

    def _apply(self, source: str, stamp_ns: int, values: _Values) -> None:
        # A fix without a position has no values, only a time.
        if values:
            self._feeds[source](stamp_ns, *values)
            if source in self._raw:
                self._raw[source].append(values)
                self.pressure = values[0] if source == PRESSURE else self.pressure
            elif source == FIX:
                self._rise.take(stamp_ns, values[2])

    def readings(self) -> Readings:
        """Return what was measured since the last call: means of each sensor."""
        raw, self._raw = self._raw, {IMU: [], PRESSURE: []}
        height = math.nan
        if raw[PRESSURE]:
            pascal = sum(values[0] for values in raw[PRESSURE]) / len(raw[PRESSURE])
            height = sane(float(altitude_of_pressure(pascal)) - self.pad_altitude)
        speed, self._rise.speed = self._rise.speed, math.nan
        if not raw[IMU]:
            return Readings(height, speed)
        rates, forces = zip(*raw[IMU], strict=True)
        return Readings(height, speed, _mean(forces), _mean(rates))

    # Outputs.

    def health(self, estimate: EstimatorState | None) -> Health:
        """Return the health of the sensors at an estimate, None before the first."""
        mode = estimate.mode.value if estimate else 'no_sensor'
        faults = ' '.join(sorted(estimate.flags)) if estimate else ''
        return 'estimator', WARN if faults else OK, faults or mode, {'mode': mode, **self.counts}

    def _estimate(self, stamp_ns: int) -> None:
        """Publish where the vehicle is, unless that was published just before."""
        last = self._estimated_ns
        if last is not None and stamp_ns // self._period_ns <= last // self._period_ns:
            return
        self._estimated_ns = stamp_ns
        state = self._estimator.state(stamp_ns)
        self._host.publish(self.outlet, state.stamp_ns, _row_of(state, self._base_link))
        self._emit(state)


class _Rise:
    """How fast a receiver of satellites rises: its height has an offset of its own.

    Attributes
    ----------
    speed : float
        Mean between the last two fixes, upward [m/s]; NaN where there are none.
    """

    def __init__(self) -> None:
        self._last: tuple[int, float] | None = None
        self.speed = math.nan

    def take(self, stamp_ns: int, altitude: float) -> None:
        """Take an altitude [m]; one that repeats itself to the last bit is no new fix."""
        last, (least_ns, most_ns) = self._last, _RISE_NS
        if not math.isfinite(sane(altitude)) or (last is not None and altitude == last[1]):
            return
        if last is not None:
            elapsed_ns = stamp_ns - last[0]
            if 0 <= elapsed_ns < least_ns:
                return
            if least_ns <= elapsed_ns <= most_ns:
                self.speed = (altitude - last[1]) / (elapsed_ns * 1e-9)
        self._last = stamp_ns, altitude


def _mean(vectors: Sequence[Vector]) -> Vector:
    x, y, z = (sane(sum(axis) / len(vectors)) for axis in zip(*vectors, strict=True))
    return x, y, z


def _row_of(state: EstimatorState, base_link: str) -> OdometryRow:
    velocity, twist = UNKNOWN, np.full((6, 6), np.nan)
    if np.isfinite(state.attitude).all():
        # The twist of an Odometry is in the axes of its child frame.
        to_body = matrix_of(state.attitude).T
        velocity = (to_body @ state.velocity).tolist()
        twist = _rotated(state.twist_covariance, to_body)
    return OdometryRow(
        base_link, state.position, state.attitude, velocity, state.angular_velocity,
        state.pose_covariance.ravel(), twist.ravel(),
    )


def _rotated(covariance: FloatArray, to_body: FloatArray) -> FloatArray:
    """Return the covariance (6, 6) of a twist whose linear part is turned; angular is in body."""
    turn = np.eye(6)
    turn[:3, :3] = to_body
    return np.asarray(turn @ covariance @ turn.T)
