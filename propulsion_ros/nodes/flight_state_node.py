# SPDX-License-Identifier: Apache-2.0
"""Phase, apogee and events of a flight, from a barometer, an odometry or raw sensors."""
from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from propulsion_ros.loops.flight.flight_loop import FlightLoop, make_flight_loop
from propulsion_ros.loops.flight.params import read_params
from propulsion_ros.loops.flight.record_file import RecordLock
from propulsion_ros.loops.flight.recorder import Boot
from propulsion_ros.nodes.host_node import HostNode
from propulsion_ros.settings.errors import SourceError
from propulsion_ros.settings.files import read_text

_BOOT_ID = Path('/proc/sys/kernel/random/boot_id')
_LONGEST = 1000


def linux_boot() -> Boot:
    """Return the boot of this computer; an unknown one if the system does not name it."""
    try:
        boot_id = read_text(_BOOT_ID, _LONGEST).strip()
        time.clock_gettime_ns(time.CLOCK_BOOTTIME)
    except (SourceError, OSError, AttributeError):
        return Boot()
    return Boot(boot_id, lambda: time.clock_gettime_ns(time.CLOCK_BOOTTIME))


class FlightStateNode(HostNode):
    """Follows a flight and fires its events.

    ROS Parameters
    --------------
    Those of `FlightLoopParams`.

    Subscribers
    -----------
    ~/odometry : nav_msgs/Odometry
        With ``altitude_source: odometry``; z of the pose is up, twist in the child frame.
    ~/pressure : sensor_msgs/FluidPressure
        With ``altitude_source: pressure``.
    ~/imu, ~/pressure, ~/magnetic_field, ~/fix : sensor_msgs/Imu, FluidPressure, MagneticField, \
NavSatFix
        With ``altitude_source: sensors``; any of them may be missing.
    ~/continuity : sensor_msgs/JointState
        Circuits of local pyros by the name of their deployer or igniter, optional: position 1
        is closed, 0 open.
    ~/request : diagnostic_msgs/DiagnosticArray
        A request as by a service, by the name of a status; takes effect after the sample of its
        stamp. One without a stamp is refused, except an abort, which takes effect on arrival, and
        in a replay. A recording of ~/requests is replayed here.

    Publishers
    ----------
    ~/phase, ~/subphase : std_msgs/String
        Latched.
    ~/flags : diagnostic_msgs/DiagnosticArray
        Phase, moments of the flight with their source, health of the detector, why and how surely
        it found apogee, and before a launch the checks that forbid one; at each change,
        latched.
    ~/apogee : geometry_msgs/PointStamped
        Time and altitude above the pad of the vertex, latched.
    ~/predicted_apogee : geometry_msgs/PointStamped
        The same while climbing; its stamp lies in the future.
    ~/events : diagnostic_msgs/DiagnosticArray
        One message for each sample in which events fired, with the condition and the measured
        values, latched.
    ~/fit : sensor_msgs/JointState
        The fitted motion at each sample, for plots: h(t) = altitude + velocity t
        + acceleration t^2 / 2, with t in seconds since the stamp.
    ~/odometry : nav_msgs/Odometry
        The estimate, with ``altitude_source: sensors``: pose in the world frame (east, north, up
        at the pad), twist in the child frame, both with covariance.
    ~/deployers : sensor_msgs/JointState
        Effort 1 while a pyro is on, position of servos; 10 Hz, never latched.
    ~/engines : sensor_msgs/JointState
        Effort 1 of engines and igniters while they are on, position of valves; 10 Hz, never
        latched.
    ~/booster_command : sensor_msgs/JointState
        Efforts of the boosters that running engines drive, for remapping onto a boosters node.
    ~/controllers : sensor_msgs/JointState
        Input (position) and output (effort) of controllers at each of their steps.
    ~/commands : std_msgs/Int32MultiArray
        Destination, service, number and argument of commands to other computers.
    ~/beacon : std_msgs/Bool
        Whether the vehicle waits to be found, latched.
    ~/requests : diagnostic_msgs/DiagnosticArray
        Each service call that was followed, with the stamp of the sample after which it acted.
    ~/tune : std_msgs/String
        Tune of the buzzer, named after the phase, latched.

    Services
    --------
    ~/set_home, ~/launch, ~/ignition, ~/abort, ~/liftoff_override, ~/apogee_override, ~/reset, \
~/debug, ~/safe
        std_srvs/Trigger; refused with a reason in the wrong phase.
    """

    executable = 'flight_state_node'

    def __init__(self, name: str = '', **kwargs: Any) -> None:
        self._lock: RecordLock | None = None
        super().__init__(name, **kwargs)

    def make_loop(self) -> FlightLoop:
        """Return the flight computer that the parameters describe, the only one of its record."""
        # Unlike other hosts, a node knows the boot of its computer.
        params = read_params(self)
        if params.state_file and not params.replay:
            self._lock = RecordLock(params.state_file)
            if self._lock.problem:
                self.log('warn', self._lock.problem)
        return make_flight_loop(params, self, linux_boot())

    def teardown(self) -> None:
        """Close the topics, and let another flight computer have the record once it is written."""
        loop, lock = self.loop, self._lock
        super().teardown()
        self._lock = None
        if lock is not None and isinstance(loop, FlightLoop):
            loop.when_recorded(lock.release)
        elif lock is not None:
            lock.release()


main = FlightStateNode.main


if __name__ == '__main__':
    main()
