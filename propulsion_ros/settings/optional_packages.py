# SPDX-License-Identifier: Apache-2.0
"""How to get packages that only some commands need."""
from __future__ import annotations

_ROS_SUFFIXES = ('_msgs', '_srvs', '_interfaces')
_PACKAGES = {
    'matplotlib': ("'propulsion_ros[plot]'", 'python3-matplotlib'),
    'rosbags': ("'propulsion_ros[bag]'", ''),
    'meshcat': ("'propulsion_ros[view]'", ''),
    'plotly': ("'propulsion_ros[view]'", ''),
    'trimesh': ("'propulsion_ros[view]'", ''),
    'collada': ("'propulsion_ros[view]'", ''),
    'distributed': ("'propulsion_ros[study]'", 'python3-distributed'),
    'xacro': ("'propulsion_ros[xacro]'", 'ros-$ROS_DISTRO-xacro'),
    'rclpy': ("'ros-rclpy[fastrtps]'", 'ros-$ROS_DISTRO-rclpy'),
}
"""Names for pip and for apt; '' where a package is not in it."""


def how_to_get(module: str) -> str:
    """Return the words that install the package of a module, by pip and, if it is there, by apt."""
    package = module.partition('.')[0]
    dashed = package.replace('_', '-')
    is_of_ros = package.endswith(_ROS_SUFFIXES)
    own = (f'ros-{dashed}', f'ros-$ROS_DISTRO-{dashed}') if is_of_ros else (package, '')
    pip, apt = _PACKAGES.get(package, own)
    return f'pip install {pip}' + f', or apt install {apt}' * bool(apt)
