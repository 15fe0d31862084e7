# SPDX-License-Identifier: Apache-2.0
"""ROS nodes: lifecycle, parameters, QoS and message conversions around the loops.

It imports rclpy and every room below.
"""
import sys

if sys.argv[:1] == ['-m'] and any(f'{__name__}.' in word for word in sys.orig_argv):
    # Python is about to run a module of this room with -m; its imports come next.
    from propulsion_ros.nodes.start import guard_imports

    guard_imports()
