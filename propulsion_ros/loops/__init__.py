# SPDX-License-Identifier: Apache-2.0
"""Loops: each runnable part without ROS, with its ports, ordered inputs and outputs.

It imports `flight`, `rml`, `models`, `timing` and `settings`.
"""
