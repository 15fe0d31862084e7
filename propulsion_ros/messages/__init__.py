# SPDX-License-Identifier: Apache-2.0
"""ROS messages as objects and bytes, their quality of service, and rclpy's private names.

It imports `loops`, `drawing`, message packages and rclpy; it knows no node.
"""
