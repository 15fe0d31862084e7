"""Launch the rocket: boosters and flight_state, and its simulated body.

ros2 launch propulsion_ros rocket.launch.py
ros2 service call /flight_state/launch std_srvs/srv/Trigger
ros2 topic pub -r 20 /boosters/command sensor_msgs/msg/JointState \
        "{name: [booster], effort: [2600.0]}"
"""
from launch import LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import LaunchConfiguration

from propulsion_ros.launching import ARGUMENTS, launch_graph
from propulsion_ros.wiring import vehicle_graph


def _rocket(context: LaunchContext) -> list:
    simulated = LaunchConfiguration('use_sim_time').perform(context) == 'true'
    return launch_graph(context, vehicle_graph('rocket', simulated))


def generate_launch_description() -> LaunchDescription:
    """Return the launch description."""
    arguments = [DeclareLaunchArgument(name, **kwargs) for name, kwargs in ARGUMENTS.items()]
    return LaunchDescription([*arguments, OpaqueFunction(function=_rocket)])
