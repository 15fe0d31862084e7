"""Raw sensors into estimates of the motion, in the order of their stamps."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from nav_msgs.msg import Odometry
from scipy.spatial.transform import Rotation
from sensor_msgs.msg import FluidPressure, Imu, MagneticField, NavSatFix

from propulsion_ros.flight.estimation.estimator import Estimator
from propulsion_ros.flight.estimation.state import EstimatorState, Stage
from propulsion_ros.flight.legacy.estimator import LegacyFeed
from propulsion_ros.nodes import qos
from propulsion_ros.nodes.base import PropulsionNode
from propulsion_ros.nodes.conversions import doubles, set_stamp, vector
from propulsion_ros.settings.quantity import FloatArray, quantity, validate
from propulsion_ros.timing.stamped_inputs import Ordering, StampedInputs

MAGNETIC_FIELD, FIX, PRESSURE, IMU = 'magnetic_field', 'fix', 'pressure', 'imu'
SENSORS = {IMU: Imu, PRESSURE: FluidPressure, MAGNETIC_FIELD: MagneticField, FIX: NavSatFix}
_NO_FIX = -1
_NEAR_NS = 1_000_000_000


@dataclass(frozen=True, kw_only=True, eq=False)
class EstimationParams:
    """When estimates are made of raw sensors."""

    rate: float = quantity(
        100.0, 'Hz', doc='estimates per second, on stamps of the sensors', lo=1.0, hi=1000.0
    )
    max_lag: float = quantity(
        0.1, 's', lo=0.0, hi=10.0,
        doc='how long a sensor that speaks slowly or no more is waited for, in stamp time',
    )
    base_link: str = quantity('base_link', doc='frame of the odometry that is published', kind=str)

    def __post_init__(self) -> None:
        validate(self)


class FlightEstimation:
    """Subscribes to raw sensors, runs an estimator on them, and publishes what it finds.

    An input is used when the inertial sensor has passed its stamp, or after ``max_lag``.

    Parameters
    ----------
    node : PropulsionNode
        Whose topics these are.
    estimator : Estimator or LegacyFeed
        What they are given to.
    params : EstimationParams
        When estimates are made.
    world_frame : str
        East, north, up at the pad.
    profile : QoSProfile
        Of the subscriptions.
    emit : callable
        Receives each `EstimatorState`.
    """

    def __init__(
        self,
        node: PropulsionNode,
        estimator: Estimator | LegacyFeed,
        params: EstimationParams,
        world_frame: str,
        profile: Any,
        emit: Callable[[EstimatorState], None],
    ) -> None:
        self._node, self._estimator, self._emit = node, estimator, emit
        self._period_ns = round(1e9 / params.rate)
        self._inputs = StampedInputs(
            Ordering(wait_for=(IMU,), max_lag_ns=round(params.max_lag * 1e9)),
            # The inertial sensor comes last, so that an estimate knows all of its own stamp.
            (MAGNETIC_FIELD, FIX, PRESSURE, IMU), self._apply,
            on_jump=self._on_jump, passed=self._estimate,
        )
        self._feeds: dict[str, Callable[[int, Any], None]] = {
            IMU: self._feed_imu, PRESSURE: self._feed_pressure,
            MAGNETIC_FIELD: self._feed_magnetic_field, FIX: self._feed_fix,
        }
        self._odometry = Odometry()
        self._odometry.header.frame_id = world_frame
        self._odometry.child_frame_id = params.base_link
        self._publisher = node.create_lifecycle_publisher(
            Odometry, '~/odometry', qos.STATE, qos_overriding_options=qos.overridable()
        )
        node.entities.append(self._publisher)
        for source, kind in SENSORS.items():
            node.entities.append(node.create_subscription(
                kind, f'~/{source}', self._receiver(source), profile,
                qos_overriding_options=qos.overridable(),
            ))
        self.reset()

    def reset(self) -> None:
        """Forget the flight and the time."""
        self._inputs.restart()
        self._estimator.reset()
        self._newest: dict[str, int] = {}
        self._estimated_ns: int | None = None

    def set_stage(self, stage: Stage) -> None:
        """Say what the vehicle does from now on."""
        self._estimator.set_stage(stage)

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

    def _receiver(self, source: str) -> Callable[[Any], None]:
        def receive(message: Any) -> None:
            if not self._node.is_active:
                return
            stamp_ns = self._node.stamp_of(source, message.header.stamp)
            if stamp_ns is not None and self._is_of_this_time(source, stamp_ns):
                self._newest[source] = stamp_ns
                self._inputs.push(source, stamp_ns, message)
        return receive

    def _is_of_this_time(self, source: str, stamp_ns: int) -> bool:
        """Return whether a stamp goes on from its sensor's last one, or fits the inertial one's.

        So no other sensor can move the time of all, and one with a clock of its own is left out.
        """
        if source == IMU or not self._newest:
            return True
        near = [self._newest[s] for s in (source, IMU) if s in self._newest]
        # Before the inertial sensor speaks, what spoke first is the measure.
        near = near or [max(self._newest.values())]
        if any(abs(stamp_ns - newest_ns) <= _NEAR_NS for newest_ns in near):
            return True
        self._node.complain(
            'other_time', f'{source} not taken: stamped {stamp_ns * 1e-9:.3f} s, '
            f'but the time is {max(near) * 1e-9:.3f} s',
        )
        return False

    def _on_jump(self, from_ns: int, to_ns: int) -> None:
        self._newest.clear()
        self._estimated_ns = None
        seconds = (to_ns - from_ns) * 1e-9
        self._node.complain('jumps', f'time of the sensors jumped by {seconds:.3f} s')

    def _apply(self, source: str, stamp_ns: int, message: Any) -> None:
        self._feeds[source](stamp_ns, message)

    def _feed_imu(self, stamp_ns: int, message: Imu) -> None:
        rate, force = message.angular_velocity, message.linear_acceleration
        self._estimator.imu(stamp_ns, (rate.x, rate.y, rate.z), (force.x, force.y, force.z))

    def _feed_pressure(self, stamp_ns: int, message: FluidPressure) -> None:
        self._estimator.pressure(stamp_ns, message.fluid_pressure, message.variance)

    def _feed_magnetic_field(self, stamp_ns: int, message: MagneticField) -> None:
        self._estimator.magnetic_field(stamp_ns, vector(message.magnetic_field).tolist())

    def _feed_fix(self, stamp_ns: int, message: NavSatFix) -> None:
        if message.status.status <= _NO_FIX:
            return
        self._estimator.fix(
            stamp_ns, message.latitude, message.longitude, message.altitude,
            message.position_covariance.tolist(),
        )

    # Outputs.

    def _estimate(self, stamp_ns: int) -> None:
        """Say where the vehicle is, if that was not said just before."""
        last = self._estimated_ns
        if last is not None and stamp_ns // self._period_ns <= last // self._period_ns:
            return
        self._estimated_ns = stamp_ns
        state = self._estimator.state(stamp_ns)
        self._publish(state)
        self._emit(state)

    def _publish(self, state: EstimatorState) -> None:
        message = self._odometry
        set_stamp(message.header.stamp, state.stamp_ns)
        position, turn = message.pose.pose.position, message.pose.pose.orientation
        position.x, position.y, position.z = state.position
        turn.x, turn.y, turn.z, turn.w = state.attitude
        linear, angular = message.twist.twist.linear, message.twist.twist.angular
        linear.x, linear.y, linear.z = (np.nan,) * 3
        twist = np.full((6, 6), np.nan)
        if np.isfinite(state.attitude).all():
            # The twist of an Odometry is in the axes of its child frame.
            to_body = Rotation.from_quat(state.attitude).as_matrix().T
            linear.x, linear.y, linear.z = (to_body @ state.velocity).tolist()
            twist = _rotated(state.twist_covariance, to_body)
        angular.x, angular.y, angular.z = state.angular_velocity
        message.pose.covariance = doubles(state.pose_covariance.ravel())
        message.twist.covariance = doubles(twist.ravel())
        self._publisher.publish(message)


def _rotated(covariance: FloatArray, to_body: FloatArray) -> FloatArray:
    """Return the covariance (6, 6) of a twist whose linear part is turned; angular is in body."""
    turn = np.eye(6)
    turn[:3, :3] = to_body
    return np.asarray(turn @ covariance @ turn.T)
