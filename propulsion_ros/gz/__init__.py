"""Gazebo as a host: the models inside gz-sim, and what the bridge to it needs."""
