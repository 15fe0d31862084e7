# SPDX-License-Identifier: Apache-2.0
"""Each runnable thing without ROS: its ports, its inputs in order, its outputs.

It imports `flight`, `rml`, `models`, `timing` and `settings`.
"""
