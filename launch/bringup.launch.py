"""Launch the actuators of any robot: one node for each plugin block of its description.

ros2 launch propulsion_ros bringup.launch.py model:=/path/to/robot.urdf.xacro
"""
from launch import LaunchContext, LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import LaunchConfiguration

from propulsion_ros.launching import ARGUMENTS, launch_graph
from propulsion_ros.wiring import robot_graph


def _robot(context: LaunchContext) -> list:
    model = LaunchConfiguration('model').perform(context)
    simulated = LaunchConfiguration('use_sim_time').perform(context) == 'true'
    return launch_graph(context, robot_graph(model, simulated))


def generate_launch_description() -> LaunchDescription:
    """Return the launch description."""
    arguments = {
        'model': {'description': 'URDF or xacro file of the robot'},
        **ARGUMENTS,
        'use_sim_time': {**ARGUMENTS['use_sim_time'], 'default_value': 'false',
                         'description': 'whether a simulation publishes /clock'},
    }
    return LaunchDescription([
        *(DeclareLaunchArgument(name, **kwargs) for name, kwargs in arguments.items()),
        OpaqueFunction(function=_robot),
    ])
