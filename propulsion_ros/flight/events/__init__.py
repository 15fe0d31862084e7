# SPDX-License-Identifier: Apache-2.0
"""Conditions, events and controllers, and the variables that they read.

It imports `flight.phases`, `timing` and `settings`.
"""
