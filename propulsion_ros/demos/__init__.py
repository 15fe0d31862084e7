# SPDX-License-Identifier: Apache-2.0
"""Vehicles that fly closed loop through real ROS nodes, each with its pilot and its picture.

It imports every room below; `demo.demo_of` imports the vehicle that flies.
"""
