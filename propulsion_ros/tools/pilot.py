"""The demo's pilot: a node that flies the launch sequence and records what it hears."""
from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import InertiaStamped, PointStamped
from nav_msgs.msg import Odometry
from rclpy.node import Node
from sensor_msgs.msg import Imu, JointState
from std_srvs.srv import Trigger

from propulsion_ros.nodes import qos
from propulsion_ros.nodes.conversions import doubles, stamp_to_ns
from propulsion_ros.nodes.spin import make_executor
from propulsion_ros.tools.guidance import Guidance
from propulsion_ros.tools.recording import Recording

PERIOD = 0.01
"""Step of the vehicle and its actuators [s]."""
EXHAUST_VELOCITY = 1300.0 / 0.6025
"""max_thrust over max_fuel_rate of the rocket's boosters [m/s]."""
_BOOSTERS = ['booster_1', 'booster_2']
_GIMBALS = [f'{booster}_gimbal_{axis}' for booster in _BOOSTERS for axis in 'xy']
_ARMING_NS = 500_000_000
"""Stamp at which flight_state is armed; the flight waits there for its answer."""
_AFTER_MAIN = 8.0
"""How long the flight goes on after the main parachute's event [s]."""


class Pilot(Node):
    """Answers every odometry with a command of the same stamp, and arms flight_state."""

    def __init__(self) -> None:
        super().__init__('pilot')
        self.recording = Recording()
        self.guidance = Guidance()
        self.now = 0.0
        self.last_event = ''
        self.refusal = ''
        self._is_armed = False
        self._held: JointState | None = None
        self._flown_ns = -1
        self._command = self.create_publisher(JointState, 'boosters/command', qos.COMMAND)
        self._arm: Any = self.create_client(Trigger, 'flight_state/launch')
        for kind, topic, callback, profile in (
            (Odometry, 'vehicle/odometry', self._on_odometry, qos.LOCKSTEP),
            (InertiaStamped, 'vehicle/inertia', self._on_inertia, qos.LOCKSTEP),
            (JointState, 'boosters/state', self._on_state, qos.LOCKSTEP),
            # No other node takes it: the vehicle sees by it that the pilot is there.
            (Imu, 'vehicle/imu', lambda message: None, qos.LOCKSTEP),
            (InertiaStamped, 'boosters/tanks/main_tank', self._on_tank, qos.LOCKSTEP),
            (JointState, 'flight_state/deployers', self._on_deployers, qos.LOCKSTEP),
            (JointState, 'flight_state/fit', self._on_fit, qos.LOCKSTEP),
            (PointStamped, 'flight_state/apogee', self._on_apogee, qos.LATCHED),
            (DiagnosticArray, 'flight_state/flags', self._on_flags, qos.LATCHED),
            (DiagnosticArray, 'flight_state/events', self._on_events, qos.LATCHED_HISTORY),
        ):
            self.create_subscription(kind, topic, callback, profile)

    def _on_odometry(self, message: Odometry) -> None:
        stamp_ns = stamp_to_ns(message.header.stamp)
        self.now = stamp_ns * 1e-9
        pose, twist = message.pose.pose, message.twist.twist
        q, w, v = pose.orientation, twist.angular, twist.linear
        quaternion = np.array([q.x, q.y, q.z, q.w])
        gimbals = self.guidance.gimbals(self.now, quaternion, np.array([w.x, w.y, w.z]))
        thrust = self.guidance.thrust(self.now) / len(_BOOSTERS)
        command = JointState()
        command.header.stamp = message.header.stamp
        command.name = [*_BOOSTERS, *_GIMBALS]
        command.position = doubles([np.nan] * len(_BOOSTERS) + gimbals.ravel().tolist())
        command.effort = doubles([thrust] * len(_BOOSTERS) + [np.nan] * len(_GIMBALS))
        # Third row of the rotation matrix: the vertical part of a vector in base_link axes.
        up = (
            2.0 * (q.x * q.z - q.w * q.y) * v.x
            + 2.0 * (q.y * q.z + q.w * q.x) * v.y
            + (1.0 - 2.0 * (q.x**2 + q.y**2)) * v.z
        )
        speed = float(np.sqrt(v.x**2 + v.y**2 + v.z**2))
        self.recording.add('motion', self.now, pose.position.z, up, speed)
        if stamp_ns < _ARMING_NS or self._is_armed:
            self._command.publish(command)
        else:
            self._held = command
            self._arm_if_ready()

    def _on_deployers(self, message: JointState) -> None:
        self._flown_ns = stamp_to_ns(message.header.stamp)
        self._arm_if_ready()

    def _arm_if_ready(self) -> None:
        """Arm once flight_state has seen the very sample at which the flight is held."""
        if self._held is None or self._is_armed or self._flown_ns < _ARMING_NS:
            return
        self._is_armed = True
        self._arm.call_async(Trigger.Request()).add_done_callback(self._on_armed)

    def _on_armed(self, future: Any) -> None:
        response = future.result()
        if not response.success:
            self.refusal = response.message
        elif self._held is not None:
            self._command.publish(self._held)

    def _on_state(self, message: JointState) -> None:
        position = dict(zip(message.name, message.position, strict=True))
        effort = dict(zip(message.name, message.effort, strict=True))
        stamp = stamp_to_ns(message.header.stamp) * 1e-9
        # Of each booster apart: their sum as a vector is less where they turn apart.
        self.recording.add('thrust', stamp, sum(effort[booster] for booster in _BOOSTERS))
        mean = np.reshape([position[joint] for joint in _GIMBALS], (-1, 2)).mean(axis=0)
        self.recording.add('gimbal', stamp, *mean.tolist())

    def _on_tank(self, message: InertiaStamped) -> None:
        self.recording.add(
            'propellant', stamp_to_ns(message.header.stamp) * 1e-9, message.inertia.m
        )

    def _on_inertia(self, message: InertiaStamped) -> None:
        self.recording.add('mass', stamp_to_ns(message.header.stamp) * 1e-9, message.inertia.m)

    def _on_fit(self, message: JointState) -> None:
        stamp = stamp_to_ns(message.header.stamp) * 1e-9
        fit = dict(zip(message.name, message.position, strict=True))
        self.recording.add('fit', stamp, fit['altitude'], fit['velocity'], fit['acceleration'])
        self.recording.add('predicted', fit['apogee_time'], fit['apogee_altitude'], stamp)

    def _on_apogee(self, message: PointStamped) -> None:
        vertex = stamp_to_ns(message.header.stamp) * 1e-9
        self.recording.add('apogee', vertex, message.point.z)

    def _on_flags(self, message: DiagnosticArray) -> None:
        stamp = stamp_to_ns(message.header.stamp) * 1e-9
        phase = message.status[0].message
        phases = self.recording.phases
        if not phases or phases[-1][1] != phase:
            phases.append((stamp, phase))

    def _on_events(self, message: DiagnosticArray) -> None:
        stamp = stamp_to_ns(message.header.stamp) * 1e-9
        for status in message.status:
            self.recording.marks.append((stamp, status.name))
            self.last_event = status.name

    @property
    def is_down(self) -> bool:
        """Whether the main parachute has been open for a while."""
        main = [stamp for stamp, name in self.recording.marks if name.startswith('main')]
        return bool(main) and self.now > main[0] + _AFTER_MAIN


def fly(
    until: float, start_limit: float, wall_limit: float, is_alive: Callable[[], bool]
) -> Recording:
    """Arm, fly until the rocket hangs on its main parachute, and return the recording.

    Parameters
    ----------
    until : float
        Simulated time at which to stop in any case [s].
    start_limit, wall_limit : float
        Wall time for the start and for the flight [s].
    is_alive : callable
        Whether the other nodes still run.

    Raises
    ------
    TimeoutError
        Where the nodes do not start or the flight does not end.
    RuntimeError
        Where the other nodes died or refused to arm.
    """
    rclpy.init(args=[])
    try:
        pilot = Pilot()
        executor = make_executor('events')
        executor.add_node(pilot)
        begun = shown = time.monotonic()
        while pilot.now < until and not pilot.is_down:
            executor.spin_once(timeout_sec=0.5)
            wall = time.monotonic() - begun
            if not is_alive():
                raise RuntimeError('the other nodes stopped, see above')
            if pilot.refusal:
                raise RuntimeError(f'flight_state did not arm: {pilot.refusal}')
            if wall > (wall_limit if pilot.now else start_limit):
                what = f'the flight did not end within {wall_limit:g} s'
                raise TimeoutError(
                    what if pilot.now else f'the nodes did not start within {start_limit:g} s'
                )
            if begun + wall - shown > 0.25:
                shown = begun + wall
                _show(pilot, wall)
        _show(pilot, time.monotonic() - begun, end='\n')
        return pilot.recording
    finally:
        rclpy.try_shutdown()


def _show(pilot: Pilot, wall: float, end: str = '') -> None:
    motion = pilot.recording.rows.get('motion')
    if not motion or (not sys.stdout.isatty() and not end):
        return
    _, altitude, up, _ = motion[-1]
    phase = pilot.recording.phases[-1][1] if pilot.recording.phases else ''
    rate = pilot.now / wall if wall > 0.0 else 0.0
    start = '\r' if sys.stdout.isatty() else ''
    print(
        f'{start}  T {pilot.now:6.1f} s  {altitude:7.1f} m  {up:+7.1f} m/s  {phase:<10}'
        f' {pilot.last_event:<8} {rate:4.1f} x real time ', end=end, flush=True,
    )
