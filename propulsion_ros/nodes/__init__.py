"""The border to ROS 2: topics, lifecycle, parameters."""
