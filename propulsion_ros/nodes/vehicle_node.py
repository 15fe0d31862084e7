# SPDX-License-Identifier: Apache-2.0
"""The simulated vehicle: a rigid body that steps in lockstep with its actuator nodes."""
from __future__ import annotations

from propulsion_ros.loops.vehicle_loop import VehicleLoop
from propulsion_ros.nodes.host_node import HostNode


class VehicleNode(HostNode):
    """Moves a rigid body by the wrenches of its actuators, in lockstep with them.

    It publishes odometry and clock of step k, then waits for the wrench stamped k on every
    wrench topic. These wrenches act from k to k + 1.

    ROS Parameters
    --------------
    Those of `VehicleParams`.

    Publishers
    ----------
    /clock : rosgraph_msgs/Clock
        Simulated time.
    ~/odometry : nav_msgs/Odometry
        Pose of base_link in the world; twist in base_link.
    ~/imu : sensor_msgs/Imu
        Specific force and angular velocity in base_link.
    ~/pressure : sensor_msgs/FluidPressure
        Static pressure of standard air at the altitude.
    ~/inertia : geometry_msgs/InertiaStamped
        Mass of the body with its tanks, centre of mass and inertia in base_link, latched.
    ~/joint_states : sensor_msgs/JointState
        Joint positions of all ``state_topics``.
    ~/current : geometry_msgs/TwistStamped
        Velocity of the fluid in the world; only if the parameter ``body.current`` is not 0.
    tf : tf2_msgs/TFMessage
        The pose of the odometry; only with the parameter ``publish_tf``.

    Subscribers
    -----------
    wrench_topics : geometry_msgs/WrenchStamped
    tank_topics : geometry_msgs/InertiaStamped
    state_topics, deployer_topic : sensor_msgs/JointState
    """

    executable = 'vehicle_node'
    loop: VehicleLoop | None

    def now_ns(self) -> int:
        """Return the simulated time, which other nodes receive on /clock."""
        return 0 if self.loop is None else self.loop.time_ns


main = VehicleNode.main


if __name__ == '__main__':
    main()
