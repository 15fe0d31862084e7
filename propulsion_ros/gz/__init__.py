# SPDX-License-Identifier: Apache-2.0
"""The loops as systems inside Gazebo, and what a world needs to start them.

It imports the modules of Gazebo lazily, and every room below.
"""
