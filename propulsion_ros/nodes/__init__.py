"""ROS nodes: lifecycle, parameters, QoS and message conversions around the loops.

It imports rclpy and every room below.
"""
