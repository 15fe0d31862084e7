# SPDX-License-Identifier: Apache-2.0
"""The flight computer without ROS: samples, requests, the record, and what it moves.

It imports `loops`, `flight`, `rml` and every room below.
"""
