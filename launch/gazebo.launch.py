# SPDX-License-Identifier: Apache-2.0
"""Launch a vehicle in Gazebo: the world, the model, the bridges, and its nodes.

ros2 launch propulsion_ros gazebo.launch.py vehicle:=quadrotor
ros2 topic pub -r 20 /rotors_allocator/wrench_command geometry_msgs/msg/WrenchStamped \
        "{wrench: {force: {z: 16.0}}}"
"""
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction

from propulsion_ros.graph.launch_actions import ARGUMENTS, BOOLEANS, until_interrupted
from propulsion_ros.gz.launching import gazebo_actions


def generate_launch_description() -> LaunchDescription:
    """Return the launch description."""
    return LaunchDescription([
        DeclareLaunchArgument(
            'vehicle', default_value='rocket',
            choices=['rocket', 'quadrotor', 'rov', 'freeflyer', 'cubesat'],
            description='vehicle of the package',
        ),
        DeclareLaunchArgument(
            'route', default_value='system', choices=['system', 'bridge'],
            description='system: the models run inside gz-sim; bridge: as nodes beside it, which '
            'command its Thruster and JointPositionController',
        ),
        DeclareLaunchArgument(
            'fortress', default_value='false', choices=BOOLEANS,
            description="type names of Fortress, Humble's Gazebo; with route:=bridge",
        ),
        DeclareLaunchArgument(
            'model', default_value='',
            description='URDF or xacro in place of the one that comes with the package',
        ),
        DeclareLaunchArgument(
            'world', default_value='', description='SDF file in place of the world for this vehicle'
        ),
        DeclareLaunchArgument(
            'join', default_value='false', choices=BOOLEANS,
            description='put the vehicle into the world of a launch that runs already; each '
            'vehicle needs its own namespace',
        ),
        DeclareLaunchArgument(
            'x', default_value='0.0', description='how far from its start along x [m]'
        ),
        DeclareLaunchArgument(
            'y', default_value='0.0', description='how far from its start along y [m]'
        ),
        DeclareLaunchArgument(
            'gui', default_value='true', choices=BOOLEANS,
            description="open Gazebo's window",
        ),
        *(
            DeclareLaunchArgument(name, **ARGUMENTS[name])
            for name in ('namespace', 'params_file', 'autostart', 'visualize', 'log_level')
        ),
        OpaqueFunction(
            function=lambda context: until_interrupted(context, lambda: gazebo_actions(context))
        ),
    ])
