# SPDX-License-Identifier: Apache-2.0
"""Physics of actuators and bodies: numpy and scipy, no ROS, no clock, no files.

A family has a room, `common` holds what families share, `registry` lists the families.
"""
