# SPDX-License-Identifier: Apache-2.0
"""Position, velocity and attitude from raw sensors.

It imports `flight.{apogee,belief,events,phases}`, `models.common`, `timing` and `settings`.
"""
