# SPDX-License-Identifier: Apache-2.0
"""Actuator loops as a system inside Gazebo, and launch of a vehicle there.

It imports the modules of Gazebo lazily, and every room below.
"""
